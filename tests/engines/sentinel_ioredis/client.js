// A writer and a worker of ioredis that find the primary through Sentinel.
'use strict';

const { setTimeout: sleep } = require('node:timers/promises');
const { Redis } = require('ioredis');

const sentinels = process.env.SENTINEL_PORTS.split(',').map((port) => ({ host: '127.0.0.1', port: Number(port) }));
const primary = new Redis({ sentinels, name: 'packlist', password: process.env.PASSWORD });

function report(error) {
  console.log(`error ${error.message}`);
}

async function write() {
  for (let n = 1; ; n++) {
    try {
      const [[failed], [, replicas]] = await primary.pipeline().rpush('written', n).call('WAIT', 1, 1000).exec();
      if (failed) throw failed;
      if (replicas >= 1) console.log(`written ${n}`);
    } catch (error) {
      report(error);
      await sleep(100);
    }
    await sleep(10);
  }
}

async function take() {
  for (;;) {
    try {
      const [, job] = await primary.blpop('queue', 0);
      console.log(`took ${job}`);
    } catch (error) {
      report(error);
      await sleep(100);
    }
  }
}

primary.on('error', report);
({ write, take })[process.argv[2]]();
