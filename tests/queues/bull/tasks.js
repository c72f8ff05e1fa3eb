// Bull: the worker, the producer, and checks of results, events, counts, pausing, limits and repeated jobs.
"use strict";
const Bull = require("bull");
const job = require("job.js");

// A job whose worker has not renewed its lock for five seconds is given to another.
const settings = { lockDuration: 5000, stalledInterval: 2000, maxStalledCount: 10 };
const open = (name, more = {}) => new Bull(name, { redis: job.address, settings, ...more });

async function work() {
    open("jobs").process(job.concurrency, ({ data }) => job.perform(data));
    open("sums").process(async ({ data }) => {
        if (data.fails) throw new Error("as it should");
        return data.a + data.b;
    });
    open("limited", { limiter: { max: 2, duration: 1000 } }).process(async () => Date.now());
}

async function produce() {
    const queue = open("jobs");
    await queue.addBulk(job.jobs().map(({ n, kind, delay, priority }) => ({
        data: { n, kind },
        opts: { delay: delay * 1000, priority: 3 - priority, attempts: 5, backoff: 200, removeOnComplete: true },
    })));
    await queue.close();
}

async function checkResults(queue) {
    job.verdict("a result is returned", await (await queue.add({ a: 1, b: 2 })).finished() === 3);
    const numbers = [...Array(50).keys()];
    const many = await queue.addBulk(numbers.map((n) => ({ data: { a: n, b: n } })));
    const results = await Promise.all(many.map((one) => one.finished()));
    job.verdict("results of many jobs are returned", results.every((result, n) => result === 2 * n));
    const error = await (await queue.add({ fails: true })).finished().catch((reason) => reason.message);
    job.verdict("an error is returned", error === "as it should");
    const counts = await queue.getJobCounts();
    job.verdict("jobs are counted by their states", counts.completed === 51 && counts.failed === 1);
    const completed = new Promise((resolve) => queue.on("global:completed", (id, result) => resolve(result)));
    await queue.add({ a: 20, b: 1 });
    job.verdict("events of workers reach others", await completed === "21");
    // clean() takes jobs that ended before the present millisecond.
    await new Promise((resolve) => setTimeout(resolve, 10));
    const cleaned = await queue.clean(0, "completed");
    job.verdict("completed jobs can be cleaned", cleaned.length >= 51 && await queue.getCompletedCount() === 0);
}

async function checkStates(queue) {
    await queue.pause();
    const waiting = await queue.add({ a: 1, b: 1 });
    job.verdict("a paused queue keeps its jobs", await waiting.getState() === "paused");
    await queue.resume();
    job.verdict("a resumed queue goes on", await waiting.finished() === 2);
    const later = await queue.add({ a: 2, b: 2 }, { delay: 3_600_000 });
    job.verdict("a job can be delayed", await later.getState() === "delayed");
    await later.promote();
    job.verdict("a delayed job can be promoted", await later.finished() === 4);
    const repeated = new Promise((resolve) => {
        let times = 0;
        queue.on("global:completed", (id) => id.startsWith("repeat:") && ++times === 2 && resolve(true));
    });
    await queue.add({ a: 0, b: 0 }, { repeat: { every: 300, limit: 2 } });
    job.verdict("a job is repeated", await repeated);
    await queue.removeRepeatable({ every: 300, limit: 2 });
    const failed = (await queue.getFailed())[0];
    await failed.update({ a: 3, b: 4 });
    await failed.retry();
    job.verdict("a failed job can be tried again", await failed.finished() === 7);
}

async function checkLimit() {
    const queue = open("limited", { limiter: { max: 2, duration: 1000 } });
    const many = await queue.addBulk([...Array(6).keys()].map((n) => ({ data: { n } })));
    const times = await Promise.all(many.map((one) => one.finished()));
    job.verdict("a limiter spreads jobs over time", Math.max(...times) - Math.min(...times) >= 1000);
    await queue.close();
}

async function check() {
    const queue = open("sums");
    await checkResults(queue);
    await checkStates(queue);
    await checkLimit();
    await queue.obliterate({ force: true });
    job.verdict("a queue can be obliterated", Object.values(await queue.getJobCounts()).every((count) => count === 0));
    await queue.close();
}

job.run({ work, produce, check });
