// What a worker written in JavaScript does with a job; lib/harness.py describes it.
"use strict";
const fs = require("fs");

const folder = process.env.QUEUE_FOLDER;
const moment = 2; // ms

exports.address = { host: "127.0.0.1", port: Number(process.env.PACKLIST_PORT) };
exports.concurrency = Number(process.env.QUEUE_CONCURRENCY);

// The jobs to enqueue.
exports.jobs = () => fs.readFileSync(0, "utf8").trim().split("\n").map((line) => JSON.parse(line));

function note(word, n) {
    fs.appendFileSync(`${folder}/ledger`, `${word} ${n} ${process.pid} ${Date.now() / 1000}\n`);
}

function isFirstAttempt(n) {
    try {
        fs.closeSync(fs.openSync(`${folder}/attempt.${n}`, "wx"));
        return true;
    } catch (error) {
        return false;
    }
}

async function perform({ n, kind }, beforeDone = () => {}) {
    note("began", n);
    if (kind !== "plain" && isFirstAttempt(n)) {
        if (kind === "fails") throw new Error("the first attempt");
        await new Promise(() => setInterval(() => {}, 1000)); // a timer keeps the process alive
    }
    await new Promise((resolve) => setTimeout(resolve, moment));
    beforeDone();
    note("done", n);
}
exports.perform = perform;

// What the holder of a lock does. Returns false when there is nothing left to count.
exports.count = async () => {
    const counter = `${folder}/counter`;
    const n = fs.existsSync(counter) ? Number(fs.readFileSync(counter, "utf8")) : 0;
    if (n === Number(process.env.QUEUE_END)) return false;
    await perform({ n, kind: n === Number(process.env.QUEUE_HANGS) ? "hangs" : "plain" },
        () => fs.writeFileSync(counter, String(n + 1)));
    return true;
};

// Waits until the condition, which may be asynchronous, holds. Time is no measure: the runner ends a program that waits
// for ever.
exports.until = async (condition) => {
    while (!await condition()) await new Promise((resolve) => setTimeout(resolve, 20));
};

// One line of a program that checks more of its library.
exports.verdict = (name, holds) => console.log(`${holds ? "ok" : "not ok"} - ${name}`);

// Calls the function that the command line names; an error ends the program.
exports.run = (functions) => {
    functions[process.argv[2]]().catch((error) => {
        console.error(error);
        process.exit(1);
    });
};
