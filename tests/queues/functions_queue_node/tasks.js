// The worker of utils/functions, what it does with a job (lib/harness.py), and a producer that adds scheduled jobs when
// their time has come.
'use strict';

const fs = require('fs');
const Redis = require('ioredis');
const { work } = require('../../../utils/functions/worker.js');

const LEASE_MS = 3000; // so long does a killed worker's job wait
const FOREVER_MS = 3600000;
const MOMENT_MS = 2;
const folder = process.env.QUEUE_FOLDER;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function note(word, n) {
  fs.appendFileSync(`${folder}/ledger`, `${word} ${n} ${process.pid} ${Date.now() / 1000}\n`);
}

function isFirstAttempt(n) {
  try {
    fs.closeSync(fs.openSync(`${folder}/attempt.${n}`, 'wx'));
    return true;
  } catch (error) {
    return false;
  }
}

async function perform(text) {
  const { n, kind } = JSON.parse(text);
  note('began', n);
  const first = kind !== 'plain' && isFirstAttempt(n);
  if (first && kind === 'fails') throw new Error('Failure');
  await sleep(first ? FOREVER_MS : MOMENT_MS);
  note('done', n);
}

async function produce(redis) {
  const jobs = fs.readFileSync(0, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const begun = Date.now();
  for (const job of jobs.sort((a, b) => a.delay - b.delay)) {
    await sleep(Math.max(0, begun + job.delay * 1000 - Date.now()));
    await redis.rpush('jobs', JSON.stringify(job));
  }
  await redis.quit();
}

const redis = new Redis(Number(process.env.PACKLIST_PORT), '127.0.0.1');
if (process.argv[2] === 'work') work(redis, ['jobs'], perform, { leaseMs: LEASE_MS, maxTries: 10 });
else produce(redis);
