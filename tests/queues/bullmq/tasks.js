// BullMQ: the workers, the producer, and checks of results, events, states, schedulers, flows and limits.
"use strict";
const { FlowProducer, Queue, QueueEvents, UnrecoverableError, Worker } = require("bullmq");
const { Redis } = require("ioredis");
const job = require("job.js");

const connection = job.address;
// A job whose worker has not renewed its lock for five seconds is given to another.
const settings = { connection, lockDuration: 5000, stalledInterval: 2000, maxStalledCount: 10 };
const hour = 3_600_000;

async function sum(one) {
    if (one.name === "total") return Object.values(await one.getChildrenValues()).reduce((a, b) => a + b, 0);
    await one.updateProgress(50);
    if (one.data.fails) throw new UnrecoverableError("as it should");
    return one.data.a + one.data.b;
}

async function work() {
    new Worker("jobs", ({ data }) => job.perform(data), { ...settings, concurrency: job.concurrency });
    new Worker("sums", sum, settings);
    new Worker("limited", async () => Date.now(), { ...settings, limiter: { max: 2, duration: 1000 } });
}

async function produce() {
    const queue = new Queue("jobs", { connection });
    await queue.addBulk(job.jobs().map(({ n, kind, delay, priority }) => ({
        name: kind,
        data: { n, kind },
        opts: { delay: delay * 1000, priority: 3 - priority, attempts: 5, backoff: 200, removeOnComplete: true },
    })));
    await queue.close();
}

// Events from the first one on: by default those are lost that come before the first XREAD.
async function listen(name) {
    const events = new QueueEvents(name, { connection, lastEventId: "0-0" });
    await events.waitUntilReady();
    return events;
}

async function checkResults(queue, events, finished) {
    const seen = new Set();
    for (const event of ["progress", "failed"]) events.on(event, ({ jobId }) => seen.add(`${event} ${jobId}`));
    const first = await queue.add("sum", { a: 1, b: 2 });
    job.verdict("a result is returned", await finished(first) === 3);
    await job.until(() => seen.has(`progress ${first.id}`));
    job.verdict("events of workers reach others", seen.size === 1);
    const numbers = [...Array(50).keys()];
    const many = await queue.addBulk(numbers.map((n) => ({ name: "sum", data: { a: n, b: n } })));
    const results = await Promise.all(many.map(finished));
    job.verdict("results of many jobs are returned", results.every((result, n) => result === 2 * n));
    const failing = await queue.add("sum", { fails: true });
    const error = await finished(failing).catch((reason) => reason.message);
    job.verdict("an error is returned", error === "as it should");
    const counts = await queue.getJobCounts("completed", "failed");
    job.verdict("jobs are counted by their states", counts.completed === 51 && counts.failed === 1);
    await job.until(() => seen.has(`failed ${failing.id}`)); // or it would come while the next attempt is awaited
    const failed = await queue.getJob(failing.id);
    await failed.updateData({ a: 3, b: 4 });
    await failed.retry();
    job.verdict("a failed job can be tried again", await finished(failed) === 7);
}

async function checkStates(queue, finished) {
    await queue.pause();
    const waiting = await queue.add("sum", { a: 1, b: 1 });
    job.verdict("a paused queue keeps its jobs", ["waiting", "paused"].includes(await waiting.getState()));
    await queue.resume();
    job.verdict("a resumed queue goes on", await finished(waiting) === 2);
    const later = await queue.add("sum", { a: 2, b: 2 }, { delay: hour });
    job.verdict("a job can be delayed", await later.getState() === "delayed");
    await later.promote();
    job.verdict("a delayed job can be promoted", await finished(later) === 4);
    const once = await queue.add("sum", { a: 0, b: 0 }, { delay: hour, deduplication: { id: "once" } });
    const again = await queue.add("sum", { a: 0, b: 0 }, { delay: hour, deduplication: { id: "once" } });
    job.verdict("a second job for the same purpose is left out", once.id === again.id);
    await once.remove();
    job.verdict("a job can be removed", await queue.getJob(once.id) === undefined);
}

async function checkMore(queue, finished) {
    const done = await queue.getCompletedCount();
    await queue.upsertJobScheduler("often", { every: 300 }, { name: "sum", data: { a: 0, b: 0 } });
    await job.until(async () => await queue.getCompletedCount() >= done + 3);
    job.verdict("a job is repeated", await queue.removeJobScheduler("often"));
    const flows = new FlowProducer({ connection });
    const children = [1, 2, 3].map((n) => ({ name: "sum", queueName: "sums", data: { a: n, b: 10 } }));
    const flow = await flows.add({ name: "total", queueName: "sums", children });
    job.verdict("a job runs when those that it depends on are done", await finished(flow.job) === 36);
    await flows.close();
    let cleaned = 0;
    await job.until(async () => {
        cleaned += (await queue.clean(0, 1000, "completed")).length;
        return await queue.getCompletedCount() === 0;
    });
    job.verdict("completed jobs can be cleaned", cleaned >= 51);
    const client = new Redis(connection);
    const length = () => client.xlen(queue.toKey("events"));
    const before = await length();
    await queue.trimEvents(10);
    job.verdict("the stream of events can be trimmed", before > 200 && await length() <= 110);
    client.disconnect();
}

async function checkLimit() {
    const queue = new Queue("limited", { connection });
    const events = await listen("limited");
    const many = await queue.addBulk([...Array(6).keys()].map((n) => ({ name: "now", data: { n } })));
    const times = await Promise.all(many.map((one) => one.waitUntilFinished(events)));
    job.verdict("a limiter spreads jobs over time", Math.max(...times) - Math.min(...times) >= 1000);
    await events.close();
    await queue.close();
}

async function check() {
    const queue = new Queue("sums", { connection });
    const events = await listen("sums");
    const finished = (one) => one.waitUntilFinished(events);
    await checkResults(queue, events, finished);
    await checkStates(queue, finished);
    await checkMore(queue, finished);
    await checkLimit();
    const workers = await queue.getWorkers();
    job.verdict("a worker is shown", workers.length === 1);
    await events.close();
    await queue.obliterate({ force: true });
    const counts = Object.values(await queue.getJobCounts());
    job.verdict("a queue can be obliterated", counts.every((count) => count === 0));
    await queue.close();
}

job.run({ work, produce, check });
