// Bee-Queue: the worker, the producer, and checks of results, progress and health.
"use strict";
const Queue = require("bee-queue");
const job = require("job.js");

// A job whose worker has given no sign for five seconds is given to another.
const open = (name, more) => new Queue(name, { redis: job.address, stallInterval: 5000, ...more });
const asWorker = { activateDelayedJobs: true, removeOnSuccess: true };
const asProducer = { isWorker: false, getEvents: false };

async function work() {
    const queue = open("jobs", asWorker);
    queue.process(job.concurrency, ({ data }) => job.perform(data));
    queue.checkStalledJobs(2000);
    open("sums").process(async (sum) => {
        sum.reportProgress({ half: true });
        if (sum.data.fails) throw new Error("as it should");
        return sum.data.a + sum.data.b;
    });
}

async function produce() {
    const queue = open("jobs", asProducer);
    const jobs = job.jobs().map(({ n, kind, delay }) => {
        const one = queue.createJob({ n, kind }).retries(5).backoff("fixed", 200);
        return delay ? one.delayUntil(Date.now() + delay * 1000) : one;
    });
    await queue.saveAll(jobs);
    await queue.close();
}

// Saves a job and returns its outcome: its result or its error, and how often it reported progress. A job's own events
// may come before it is saved, and then they are lost; those of the queue are not.
function outcomes(queue) {
    const seen = new Map();
    const get = (id) => seen.get(id) || seen.set(id, { progress: 0, end: [] }).get(id);
    const end = (id, outcome) => {
        Object.assign(get(id), outcome, { ended: true });
        get(id).end.forEach((resolve) => resolve());
    };
    queue.on("job progress", (id) => ++get(id).progress);
    queue.on("job succeeded", (id, result) => end(id, { result }));
    queue.on("job failed", (id, error) => end(id, { error: error.message }));
    return async (one) => {
        const { id } = await one.save();
        if (!get(id).ended) await new Promise((resolve) => get(id).end.push(resolve));
        return get(id);
    };
}

async function check() {
    const queue = open("sums", { isWorker: false });
    await queue.ready();
    const outcome = outcomes(queue);
    const { result, progress } = await outcome(queue.createJob({ a: 1, b: 2 }));
    job.verdict("a result is returned", result === 3);
    job.verdict("progress is reported", progress === 1);
    const numbers = [...Array(50).keys()];
    const many = await Promise.all(numbers.map((n) => outcome(queue.createJob({ a: n, b: n }))));
    job.verdict("results of many jobs are returned", many.every((one, n) => one.result === 2 * n));
    const { error } = await outcome(queue.createJob({ fails: true }));
    job.verdict("an error is returned", error === "as it should");
    const health = await queue.checkHealth();
    job.verdict("jobs are counted by their states",
        health.succeeded === 51 && health.failed === 1 && health.waiting === 0);
    const kept = await queue.createJob({ a: 1, b: 1 }).setId("mine").delayUntil(Date.now() + 3_600_000).save();
    job.verdict("a job is found by its name", (await queue.getJob("mine")).data.a === 1);
    await kept.remove();
    job.verdict("a job can be removed", await queue.getJob("mine") === null);
    await queue.destroy();
    await queue.close();
}

job.run({ work, produce, check });
