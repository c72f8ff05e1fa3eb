// ioredis against the server.
'use strict';

const { Redis } = require('ioredis');
const { once } = require('node:events');
const { assert, check, patience, port, runChecks, tlsOptions, tlsPort, waitUntil } = require('../checks.js');

const admin = new Redis(port);

/** Runs `use` with clients of its own. */
async function withClients(count, use, options = {}) {
  const clients = Array.from({ length: count }, () => new Redis({ port, ...options }));
  try {
    return await use(...clients);
  } finally {
    for (const client of clients) client.disconnect();
  }
}

async function waitBlocked(count) {
  await waitUntil(async () => (await admin.info('clients')).includes(`blocked_clients:${count}\r\n`));
}

check('a client becomes ready, names itself and chooses its database', () => withClients(1, async (client) => {
  await once(client, 'ready');
  assert.equal(client.status, 'ready');
  assert.match(await client.client('INFO'), / name=worker .*db=3 .*lib-name=ioredis/);
  await client.set('k', 'v');
  assert.deepEqual([await client.dbsize(), await admin.dbsize()], [1, 0]);
}, { connectionName: 'worker', db: 3 }));

check('a URL leads to a unix socket', async () => {
  const [, path] = await admin.config('GET', 'unixsocket');
  const client = new Redis(`unix://${path}?db=5`);
  try {
    await client.set('k', 'v');
    const info = await client.client('INFO');
    assert.ok(info.includes(` addr=${path}:0 `) && info.includes(' db=5 '), info);
    assert.deepEqual([await client.get('k'), await client.dbsize(), await admin.dbsize()], ['v', 1, 0]);
  } finally {
    client.disconnect();
  }
});

check('what is sent comes back, byte for byte', () => withClients(1, async (client) => {
  const bytes = Buffer.from(Array.from({ length: 100000 }, (_, i) => i & 255));
  await client.set(Buffer.from([0, 13, 10, 255]), bytes);
  assert.deepEqual(await client.getBuffer(Buffer.from([0, 13, 10, 255])), bytes);
  await client.rpush('l', 'Grüße', 17);
  assert.deepEqual(await client.lrange('l', 0, -1), ['Grüße', '17']);
}));

check('strings, keys and their expiry', () => withClients(1, async (client) => {
  assert.equal(await client.set('k', '1', 'EX', 100, 'NX'), 'OK');
  assert.equal(await client.set('k', '2', 'NX'), null);
  assert.equal(await client.incr('k'), 2);
  const seconds = await client.ttl('k');
  assert.ok(seconds > 90 && seconds <= 100, `${seconds}`);
  assert.equal(await client.persist('k'), 1);
  assert.equal(await client.mset({ a: 1, b: 2 }), 'OK');
  assert.deepEqual(await client.mget('a', 'nosuch', 'b'), ['1', null, '2']);
  assert.deepEqual([await client.rename('a', 'c'), await client.copy('c', 'd'), await client.del('b', 'c')],
    ['OK', 1, 2]);
  await client.psetex('soon', 20, 'v');
  await waitUntil(async () => await client.get('soon') === null);
  await assert.rejects(client.rpush('k', 'x'), { message: /^WRONGTYPE/ });
  await assert.rejects(client.call('NOSUCH', 'k'), { message: /unknown command 'NOSUCH'/ });
}));

check('lists', () => withClients(1, async (client) => {
  assert.equal(await client.rpush('l', 'a', 'b', 'c', 'd'), 4);
  assert.deepEqual([await client.lpop('l'), await client.rpop('l', 2), await client.lpop('nosuch', 2)],
    ['a', ['d', 'c'], null]);
  assert.deepEqual([await client.linsert('l', 'AFTER', 'b', 'x'), await client.lpos('l', 'x')], [2, 1]);
  assert.deepEqual([await client.lmove('l', 'm', 'LEFT', 'RIGHT'), await client.lmpop(2, 'nosuch', 'm', 'LEFT')],
    ['b', ['m', ['b']]]);
}));

check('sorted sets', () => withClients(1, async (client) => {
  assert.equal(await client.zadd('z', 1, 'a', 2.5, 'b', 3, 'c'), 3);
  assert.deepEqual([await client.zadd('z', 'XX', 'GT', 'CH', 2, 'a'), await client.zincrby('z', 0.5, 'b')], [1, '3']);
  assert.deepEqual([await client.zscore('z', 'b'), await client.zscore('z', 'nosuch'),
    await client.zmscore('z', 'a', 'x')], ['3', null, ['2', null]]);
  assert.deepEqual(await client.zrange('z', 0, -1, 'WITHSCORES'), ['a', '2', 'b', '3', 'c', '3']);
  assert.deepEqual(await client.zrange('z', '+inf', '(2', 'BYSCORE', 'REV', 'LIMIT', 0, 1), ['c']);
  assert.deepEqual([await client.zrank('z', 'c'), await client.zcount('z', '-inf', '(3'), await client.zpopmin('z')],
    [2, 1, ['a', '2']]);
  await client.zadd('y', 1, 'c', 1, 'd');
  assert.deepEqual(await client.zunion(2, 'y', 'z', 'WITHSCORES'), ['d', '1', 'b', '3', 'c', '4']);
  assert.deepEqual([await client.zinterstore('x', 2, 'y', 'z'), await client.zdiff(2, 'y', 'z')], [1, ['d']]);
}));

check('hashes and their fields, which may expire', () => withClients(1, async (client) => {
  assert.equal(await client.hset('h', { name: 'Anna', age: 30 }), 2);
  assert.deepEqual(await client.hgetall('h'), { name: 'Anna', age: '30' });
  assert.deepEqual([await client.hget('h', 'name'), await client.hmget('h', 'age', 'nosuch'),
    await client.hgetall('nosuch')], ['Anna', ['30', null], {}]);
  assert.deepEqual([await client.hincrby('h', 'age', 2), await client.hincrbyfloat('h', 'age', 0.5),
    await client.hsetnx('h', 'age', 1)], [32, '32.5', 0]);
  assert.deepEqual([await client.hexpire('h', 100, 'FIELDS', 1, 'name'),
    await client.hpersist('h', 'FIELDS', 1, 'name')], [[1], [1]]);
  await client.hpexpire('h', 20, 'FIELDS', 1, 'age');
  await waitUntil(async () => await client.hlen('h') === 1);
  assert.deepEqual([await client.hkeys('h'), await client.hdel('h', 'name'), await client.exists('h')],
    [['name'], 1, 0]);
}));

check('sets', () => withClients(1, async (client) => {
  assert.equal(await client.sadd('s', 'a', 'b', 'c'), 3);
  await client.sadd('t', 'b', 'd');
  assert.deepEqual([await client.sismember('s', 'a'), await client.smismember('s', 'a', 'x'),
    await client.smove('s', 't', 'a')], [1, [1, 0], 1]);
  assert.deepEqual((await client.sunion('s', 't')).sort(), ['a', 'b', 'c', 'd']);
  assert.deepEqual([await client.sinter('s', 't'), await client.sdiff('s', 't'), await client.sintercard(2, 's', 't')],
    [['b'], ['c'], 1]);
  assert.deepEqual([(await client.spop('t', 9)).sort(), await client.exists('t')], [['a', 'b', 'd'], 0]);
  assert.equal(await client.sadd('n', 1, 2, 3), 3);
  assert.equal(await client.object('ENCODING', 'n'), 'intset');
}));

check('members and fields are scanned as streams', () => withClients(1, async (client) => {
  const names = Array.from({ length: 1000 }, (_, i) => `m:${i}`);
  await client.sadd('s', names);
  await client.zadd('z', names.flatMap((name) => [1, name]));
  await client.hset('h', Object.fromEntries(names.map((name) => [name, 1])));
  for (const stream of [client.sscanStream('s'), client.zscanStream('z', { count: 50 }), client.hscanStream('h')]) {
    const found = new Set();
    for await (const some of stream) some.forEach((item) => found.add(item));
    found.delete('1');
    assert.deepEqual([...found].sort(), names.slice().sort());
  }
}));

check('commands that were not awaited are pipelined and answered in order', () => withClients(1, async (client) => {
  const answers = await Promise.all(Array.from({ length: 5000 }, (_, i) => client.rpush('l', i)));
  assert.deepEqual(answers, Array.from({ length: 5000 }, (_, i) => i + 1));
}));

check('automatic pipelining', () => withClients(1, async (client) => {
  await Promise.all(Array.from({ length: 1000 }, (_, i) => client.set(`k:${i}`, i)));
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => client.get(`k:${i}`)));
  assert.deepEqual(answers, Array.from({ length: 1000 }, (_, i) => String(i)));
}, { enableAutoPipelining: true }));

check('a pipeline gives each answer or error', () => withClients(1, async (client) => {
  const [set, wrong, length] = await client.pipeline().set('s', 'text').lpush('s', 'x').strlen('s').exec();
  assert.deepEqual([set, length], [[null, 'OK'], [null, 4]]);
  assert.match(wrong[0].message, /^WRONGTYPE/);
}));

check('a transaction runs as one', () => withClients(1, async (client) => {
  assert.deepEqual(await client.multi().set('n', 1).incr('n').lrange('nosuch', 0, -1).get('n').exec(),
    [[null, 'OK'], [null, 2], [null, []], [null, '2']]);
  await client.multi({ pipeline: false });
  assert.equal(await client.rpush('l', 'x'), 'QUEUED');
  assert.deepEqual(await client.exec(), [[null, 1]]);
  await assert.rejects(client.multi().set('k', 'v').call('NOSUCH').exec(), { message: /^EXECABORT/ });
  assert.equal(await client.exists('k'), 0);
}));

check('a watched key that changed stops the transaction', () => withClients(1, async (client) => {
  await client.watch('k');
  await admin.set('k', 'other');
  assert.equal(await client.multi().set('k', 'mine').exec(), null);
  await client.watch('k');
  await client.unwatch();
  await admin.set('k', 'again');
  assert.deepEqual(await client.multi().get('k').exec(), [[null, 'again']]);
}));

check('blocking pops wait for an element, or in vain', () => withClients(1, async (client) => {
  assert.equal(await client.blpop('q', 0.05), null);
  for (const [start, wanted] of [
    [() => client.blpop('p', 'q', 0), ['q', 'job']],
    [() => client.brpop('q', patience / 1000), ['q', 'job']],
    [() => client.blmove('q', 'done', 'LEFT', 'RIGHT', 0), 'job'],
    [() => client.brpoplpush('q', 'done', 0), 'job'],
    [() => client.blmpop(0, 2, 'p', 'q', 'LEFT', 'COUNT', 10), ['q', ['job']]],
  ]) {
    const answer = start();
    await waitBlocked(1);
    await admin.rpush('q', 'job');
    assert.deepEqual(await answer, wanted);
  }
}));

check('blocking pops wait for a member of a sorted set', () => withClients(1, async (client) => {
  assert.equal(await client.bzpopmin('q', 0.05), null);
  for (const [start, wanted] of [
    [() => client.bzpopmin('p', 'q', 0), ['q', 'job', '1.5']],
    [() => client.bzpopmax('q', patience / 1000), ['q', 'job', '1.5']],
    [() => client.bzmpop(0, 2, 'p', 'q', 'MIN'), ['q', [['job', '1.5']]]],
  ]) {
    const answer = start();
    await waitBlocked(1);
    await admin.zadd('q', 1.5, 'job');
    assert.deepEqual(await answer, wanted);
  }
}));

check('blocked workers share the jobs', () => withClients(5, async (...workers) => {
  const done = [];
  const work = workers.map(async (worker) => {
    for (let item; (item = await worker.blpop('jobs', 0))[1] !== 'stop';) done.push(Number(item[1]));
  });
  for (let i = 0; i < 500; i++) admin.rpush('jobs', i);
  admin.rpush('jobs', ...workers.map(() => 'stop'));
  await Promise.all(work);
  assert.deepEqual(done.sort((a, b) => a - b), Array.from({ length: 500 }, (_, i) => i));
}));

check('messages reach channels, patterns and shard channels', () => withClients(1, async (client) => {
  const heard = [];
  client.on('message', (channel, message) => heard.push(['message', channel, message]));
  client.on('pmessage', (pattern, channel, message) => heard.push(['pmessage', pattern, channel, message]));
  client.on('smessage', (channel, message) => heard.push(['smessage', channel, message]));
  assert.equal(await client.subscribe('news', 'sport'), 2);
  assert.equal(await client.psubscribe('n*'), 3);
  assert.equal(await client.ssubscribe('shard'), 1);
  assert.equal(await admin.publish('news', 'hello'), 2);
  assert.equal(await admin.spublish('shard', 's'), 1);
  await waitUntil(() => heard.length === 3);
  assert.deepEqual(heard,
    [['message', 'news', 'hello'], ['pmessage', 'n*', 'news', 'hello'], ['smessage', 'shard', 's']]);
  assert.deepEqual((await admin.pubsub('CHANNELS')).sort(), ['news', 'sport']);
  assert.equal(await client.unsubscribe('news', 'sport'), 1);
  assert.equal(await client.punsubscribe(), 0);
  await client.sunsubscribe();
  assert.equal(await client.set('k', 'v'), 'OK');
}));

check('keyspace events', () => withClients(1, async (client) => {
  await admin.config('SET', 'notify-keyspace-events', 'Ex');
  await client.subscribe('__keyevent@0__:expired');
  const event = once(client, 'message');
  await admin.set('k', 'v', 'PX', 20);
  assert.deepEqual(await event, ['__keyevent@0__:expired', 'k']);
  await admin.config('SET', 'notify-keyspace-events', '');
}));

check('clients that were cut off subscribe and wait again', () => withClients(2, async (client, listener) => {
  const heard = [];
  listener.on('message', (_, message) => heard.push(message));
  await listener.subscribe('news');
  const answer = client.blpop('q', 0);
  await waitBlocked(1);
  const waiting = [...(await admin.client('LIST')).matchAll(/^id=(\d+) .* cmd=(blpop|subscribe) /gm)];
  assert.equal(waiting.length, 2);
  for (const [, id] of waiting) assert.equal(await admin.client('KILL', 'ID', id), 1);
  await waitBlocked(1);
  await admin.rpush('q', 'job');
  assert.deepEqual(await answer, ['q', 'job']);
  await waitUntil(() => admin.publish('news', 'again'));
  await waitUntil(() => heard.includes('again'));
}));

check('keys are scanned as a stream', () => withClients(1, async (client) => {
  await client.mset(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key:${i}`, i])));
  const keys = new Set();
  for await (const some of client.scanStream({ match: 'key:*', count: 100 })) some.forEach((key) => keys.add(key));
  assert.equal(keys.size, 1000);
}));

check('MONITOR shows the commands of others', () => withClients(1, async (client) => {
  const monitor = await client.monitor();
  const shown = once(monitor, 'monitor');
  await admin.set('k', 'a value');
  assert.deepEqual((await shown)[1], ['set', 'k', 'a value']);
  monitor.disconnect();
}));

// --- TLS

/** Runs `use` with a client over TLS, which does not reconnect. */
async function withTls(tls, use, user = '') {
  const client = new Redis(`rediss://${user}localhost:${tlsPort}/5`,
    { tls, retryStrategy: null, maxRetriesPerRequest: 0 }).on('error', () => {});
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

const refused = (tls) => withTls(tls, (client) => assert.rejects(client.ping()));

async function whileAsking(which, use) {
  await admin.config('SET', 'tls-auth-clients', which);
  try {
    await use();
  } finally {
    await admin.config('SET', 'tls-auth-clients', 'no');
  }
}

check('a URL leads to the port for TLS, and all comes back', () => withTls(tlsOptions(), async (client) => {
  const bytes = Buffer.from(Array.from({ length: 1000000 }, (_, i) => i & 255));
  await client.set('k', bytes);
  assert.deepEqual(await client.getBuffer('k'), bytes);
  assert.deepEqual([await client.dbsize(), await admin.dbsize()], [1, 0]);
  const answers = await Promise.all(Array.from({ length: 5000 }, (_, i) => client.rpush('l', i)));
  assert.deepEqual(answers, Array.from({ length: 5000 }, (_, i) => i + 1));
}));

check('a server whose authority is not trusted is refused', () => refused(tlsOptions(null, 'other-ca')));

check('clients are asked for certificates', async () => {
  const good = () => withTls(tlsOptions('client'), async (client) => assert.equal(await client.ping(), 'PONG'));
  await whileAsking('yes', async () => {
    await good();
    await refused(tlsOptions());
    await refused(tlsOptions('stranger'));
  });
  await whileAsking('optional', async () => {
    await good();
    await withTls(tlsOptions(), async (client) => assert.equal(await client.ping(), 'PONG'));
    await refused(tlsOptions('stranger'));
  });
});

check('a URL over TLS names a user and its password', async () => {
  await withTls(tlsOptions(), async (client) => assert.equal(await client.acl('WHOAMI'), 'tls-user'),
    'tls-user:secret@');
  await withTls(tlsOptions(), (client) => assert.rejects(client.ping()), 'tls-user:wrong@');
});

runChecks(async () => {
  await admin.flushall();
});
