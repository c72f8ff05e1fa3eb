// redlock: a holder that counts, and checks of its other steps.
"use strict";
const Redis = require("ioredis").Redis;
const Redlock = require("redlock");
const job = require("job.js");

async function connect(settings) {
    const client = new Redis(job.address);
    return { client, locks: new Redlock([client], settings) };
}

async function work() {
    const { client, locks } = await connect({ retryCount: -1, retryDelay: 10, retryJitter: 10 });
    for (let more = true; more;) {
        const lock = await locks.lock("lock", 10_000);
        more = await job.count();
        await lock.unlock();
    }
    client.disconnect();
}

const fails = (promise) => promise.then(() => false, (error) => error instanceof Redlock.LockError);

async function check() {
    const { client, locks } = await connect({ retryCount: 0 });
    const lock = await locks.lock("mine", 60_000);
    job.verdict("a held lock is not acquired", await fails(locks.lock("mine", 60_000)));
    const refused = await fails(locks.lock(["other", "mine"], 60_000));
    job.verdict("one of several resources that is held refuses all", refused);
    job.verdict("a refused lock leaves nothing", await client.exists("other") === 0);
    const longer = await lock.extend(120_000);
    job.verdict("a lock can be extended", await client.pttl("mine") > 60_000);
    await longer.unlock();
    job.verdict("a released lock is free", await client.exists("mine") === 0);
    const several = await locks.lock(["one", "two"], 60_000);
    job.verdict("several resources are locked together", await client.exists("one", "two") === 2);
    await several.unlock();
    job.verdict("several resources are released together", await client.exists("one", "two") === 0);
    const brief = await locks.lock("brief", 100);
    while (await client.exists("brief")) await new Promise((resolve) => setTimeout(resolve, 20));
    job.verdict("a holder cannot extend a lock that expired", await fails(brief.extend(1000)));
    client.disconnect();
}

job.run({ work, check });
