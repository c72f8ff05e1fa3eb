// Named checks of the JavaScript clients: each runs on an empty server; the sum is printed last.
'use strict';

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { setTimeout: sleep } = require('node:timers/promises');

const port = Number(process.env.PACKLIST_PORT);
const patience = process.env.PACKLIST_SLOW ? 60000 : 20000;
const found = [];

function check(name, run) {
  found.push({ name, run });
}

async function waitUntil(condition, limit = patience) {
  for (const deadline = Date.now() + limit; !(await condition()); await sleep(5)) {
    if (Date.now() > deadline) throw new Error('waited in vain');
  }
}

/** For clients over TLS: the port, and the options of node's TLS for these certificates of tests/tls/serve. */
const tlsPort = Number(process.env.PACKLIST_TLS_PORT);

function tlsOptions(certificate, authority = 'ca') {
  const file = (name) => readFileSync(`${process.env.PACKLIST_TLS}/${name}`);
  return { ca: file(`${authority}.crt`),
    ...(certificate && { cert: file(`${certificate}.crt`), key: file(`${certificate}.key`) }) };
}

/** Runs all checks, each after `prepare` and for at most `limit` milliseconds, calls `finish` and ends the process;
 *  connections that a failure left open shall not hold it. */
async function runChecks(prepare, { limit = patience, finish = () => {} } = {}) {
  let failed = 0;
  for (const { name, run } of found) {
    try {
      await prepare();
      await Promise.race([run(), sleep(limit, null, { ref: false }).then(() => { throw new Error('too slow'); })]);
    } catch (error) {
      failed++;
      console.log(`FAILED: ${name}: ${error.stack}`);
    }
  }
  await finish();
  console.log(`${found.length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

module.exports = { assert, check, patience, port, runChecks, sleep, tlsOptions, tlsPort, waitUntil };
