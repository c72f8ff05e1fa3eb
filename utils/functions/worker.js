// A worker for queue.lua, with ioredis: work(new Redis(), ['mails'], sendMail)
'use strict';

// Calls perform(job) for one job of the queues after the other, for ever. A job for which it throws is tried again.
async function work(redis, queues, perform, { leaseMs = 30000, maxTries = 5 } = {}) {
  const waiting = redis.duplicate(); // a connection that may block
  for (;;) {
    const taken = await redis.fcall('queue_take', queues.length, ...queues, 1, leaseMs, maxTries);
    if (taken === null) { // wait until the first queue has a job: the leftmost one moves to where it is
      await waiting.blmove(queues[0], queues[0], 'LEFT', 'LEFT', 1);
      continue;
    }
    const [queue, [lease, job]] = taken;
    // Keeps the lease while the job is worked on. If this process dies, the lease ends, and another takes the job.
    const renewal = setInterval(() => {
      redis.fcall('queue_renew', 1, queue, leaseMs, lease).catch(console.error);
    }, leaseMs / 3);
    let outcome = 'queue_ack';
    try {
      await perform(job);
    } catch (error) {
      console.error('the job failed:', error);
      outcome = 'queue_return';
    }
    clearInterval(renewal);
    await redis.fcall(outcome, 1, queue, lease);
  }
}

module.exports = { work };
