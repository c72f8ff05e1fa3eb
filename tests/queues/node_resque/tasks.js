// node-resque: the worker, the scheduler, the producer, and checks of delays, failures, locks and statistics.
"use strict";
const { Queue, Scheduler, Worker } = require("node-resque");
const job = require("job.js");

const QUEUES = ["urgent", "usual", "late"]; // by their priority: a worker looks into them in this order
const SECOND = 1000;
const timeout = SECOND / 4; // how often a worker and the scheduler look for something to do
const own = (name) => ({ connection: { ...job.address, options: {} }, name });

const retry = { plugins: ["Retry"], pluginOptions: { Retry: { retryLimit: 5, retryDelay: 200 } } };
const jobs = {
    do: { ...retry, perform: (n, kind) => job.perform({ n, kind }) },
    breaks: { perform: () => { throw new Error("as it should"); } },
    once: { plugins: ["QueueLock"], perform: () => {} },
};

function complain(emitter) {
    emitter.on("error", (error) => console.error(error));
    return emitter;
}

async function work() {
    for (let i = 0; i < job.concurrency; ++i) {
        const worker = complain(new Worker({ ...own(`worker:${process.pid}+${i}`), queues: QUEUES, timeout }, jobs));
        await worker.connect();
        await worker.start();
    }
}

// A worker that has given no sign for five seconds is dead.
async function schedule() {
    const scheduler = complain(new Scheduler(
        { ...own("scheduler"), timeout, stuckWorkerTimeout: 5 * SECOND, retryStuckJobs: true }, jobs));
    await scheduler.connect();
    await scheduler.start();
}

async function open() {
    const queue = complain(new Queue(own(), jobs));
    await queue.connect();
    return queue;
}

async function produce() {
    const queue = await open();
    await Promise.all(job.jobs().map(({ n, kind, delay, priority }) => {
        const where = QUEUES[2 - priority];
        return delay ? queue.enqueueIn(delay * SECOND, where, "do", [n, kind]) : queue.enqueue(where, "do", [n, kind]);
    }));
    await queue.end();
}

async function check() {
    const queue = await open();
    await job.until(async () => Object.keys(await queue.workers()).length === job.concurrency);
    await queue.enqueue("usual", "breaks");
    await job.until(() => queue.failedCount());
    const [failed] = await queue.failed(0, -1);
    job.verdict("a job that fails is kept with its error", failed.error === "as it should");
    job.verdict("it can be removed", await queue.removeFailed(failed) === 1 && await queue.failedCount() === 0);
    const { failed: failures } = await queue.stats();
    job.verdict("failures are counted", failures === "1");
    const later = Date.now() + 3600 * SECOND;
    await queue.enqueueAt(later, "usual", "do", [1, "plain"]);
    const times = await queue.scheduledAt("usual", "do", [1, "plain"]);
    job.verdict("it is known for when a job is scheduled", times.join() === String(Math.round(later / SECOND)));
    const removed = await queue.delDelayed("usual", "do", [1, "plain"]);
    job.verdict("a scheduled job can be removed", removed.join() === times.join());
    const both = [await queue.enqueue("nobody", "once", [1]), await queue.enqueue("nobody", "once", [1])];
    job.verdict("a lock keeps a job from being in a queue twice", both.join() === "true,false");
    await queue.enqueue("nobody", "do", [2, "plain"]);
    const waiting = await queue.queued("nobody", 0, -1);
    job.verdict("waiting jobs are listed", waiting.map((one) => one.class).join() === "once,do");
    await queue.del("nobody", "do", [2, "plain"]);
    job.verdict("a waiting job can be removed", await queue.length("nobody") === 1);
    await queue.delQueue("nobody");
    job.verdict("a queue can be removed", (await queue.queues()).indexOf("nobody") === -1);
    await queue.end();
}

job.run({ work, schedule, produce, check });
