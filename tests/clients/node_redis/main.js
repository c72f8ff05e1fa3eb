// node-redis against the server, in RESP2 and RESP3.
'use strict';

const { RESP_TYPES, WatchError, createClient, createClientPool } = require('redis');
const { assert, check, patience, port, runChecks, tlsOptions, tlsPort, waitUntil } = require('../checks.js');

let admin;

/** Runs `use` with connected clients of its own. */
async function withClients(RESP, count, use, options = {}) {
  const clients = Array.from({ length: count }, () =>
    createClient({ RESP, ...options, socket: { port, reconnectStrategy: 10 } }).on('error', () => {}));
  try {
    await Promise.all(clients.map((client) => client.connect()));
    return await use(...clients);
  } finally {
    for (const client of clients) if (client.isOpen) client.destroy();
  }
}

async function waitBlocked(count) {
  await waitUntil(async () => (await admin.info('clients')).includes(`blocked_clients:${count}\r\n`));
}

function checkBoth(name, use, count = 1, options = {}) {
  for (const RESP of [2, 3]) {
    check(`${name} (RESP${RESP})`, () => withClients(RESP, count, (...clients) => use(...clients, RESP), options));
  }
}

checkBoth('a client names itself and chooses its database', async (client, RESP) => {
  const info = await client.clientInfo();
  assert.deepEqual([info.name, info.db, info.resp, info.libName], ['worker', 3, RESP, 'node-redis']);
  assert.equal(await client.set('k', 'v'), 'OK');
  assert.deepEqual([await client.dbSize(), await admin.dbSize()], [1, 0]);
}, 1, { name: 'worker', database: 3 });

checkBoth('a path leads to a unix socket', async (other, RESP) => {
  const path = (await other.configGet('unixsocket')).unixsocket;
  const client = createClient({ RESP, database: 5, socket: { path } });
  await client.connect();
  try {
    await client.set('k', 'v');
    const info = await client.clientInfo();
    assert.deepEqual([info.addr, info.db, await client.get('k')], [`${path}:0`, 5, 'v']);
  } finally {
    client.destroy();
  }
});

checkBoth('what is sent comes back, byte for byte', async (client) => {
  const bytes = Buffer.from(Array.from({ length: 100000 }, (_, i) => i & 255));
  const buffers = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  await client.set(Buffer.from([0, 13, 10, 255]), bytes);
  assert.deepEqual(await buffers.get(Buffer.from([0, 13, 10, 255])), bytes);
});

checkBoth('strings, keys and their expiry', async (client) => {
  assert.equal(await client.set('k', '1', { expiration: { type: 'EX', value: 100 }, condition: 'NX' }), 'OK');
  assert.equal(await client.set('k', '2', { condition: 'NX' }), null);
  assert.equal(await client.incr('k'), 2);
  const seconds = await client.ttl('k');
  assert.ok(seconds > 90 && seconds <= 100, `${seconds}`);
  assert.equal(await client.persist('k'), 1);
  assert.equal(await client.incrByFloat('k', 0.5), '2.5');
  await client.mSet({ a: '1', b: '2' });
  assert.deepEqual(await client.mGet(['a', 'nosuch', 'b']), ['1', null, '2']);
  assert.deepEqual([await client.rename('a', 'c'), await client.copy('c', 'd'), await client.del(['b', 'c'])],
    ['OK', 1, 2]);
  assert.equal(await client.lcs('d', 'd'), '1');
  await client.pSetEx('soon', 20, 'v');
  await waitUntil(async () => await client.get('soon') === null);
  await assert.rejects(client.rPush('k', 'x'), { message: /^WRONGTYPE/ });
  await assert.rejects(client.sendCommand(['NOSUCH', 'k']), { message: /unknown command 'NOSUCH'/ });
});

checkBoth('lists', async (client) => {
  assert.equal(await client.rPush('l', ['a', 'b', 'c', 'd']), 4);
  assert.deepEqual([await client.lPop('l'), await client.rPopCount('l', 2), await client.lPopCount('nosuch', 2)],
    ['a', ['d', 'c'], null]);
  assert.equal(await client.lInsert('l', 'AFTER', 'b', 'x'), 2);
  assert.deepEqual([await client.lPos('l', 'x'), await client.lPosCount('l', 'b', 0)], [1, [0]]);
  assert.deepEqual([await client.lMove('l', 'm', 'LEFT', 'RIGHT'), await client.lmPop(['nosuch', 'm'], 'LEFT')],
    ['b', ['m', ['b']]]);
});

const plain = (value) => JSON.parse(JSON.stringify(value)); // without the prototypes of the client's objects

checkBoth('sorted sets', async (client) => {
  const members = [{ score: 1, value: 'a' }, { score: 2.5, value: 'b' }, { score: 3, value: 'c' }];
  assert.equal(await client.zAdd('z', members), 3);
  assert.deepEqual([await client.zAdd('z', { score: 2, value: 'a' }, { condition: 'XX', comparison: 'GT', CH: true }),
    await client.zIncrBy('z', 0.5, 'b')], [1, 3]);
  assert.deepEqual([await client.zScore('z', 'b'), await client.zScore('z', 'nosuch'),
    await client.zmScore('z', ['a', 'x'])], [3, null, [2, null]]);
  assert.deepEqual(plain(await client.zRangeWithScores('z', 0, -1)),
    [{ value: 'a', score: 2 }, { value: 'b', score: 3 }, { value: 'c', score: 3 }]);
  const best = { BY: 'SCORE', REV: true, LIMIT: { offset: 0, count: 1 } };
  assert.deepEqual(await client.zRange('z', '+inf', '(2', best), ['c']);
  assert.deepEqual([await client.zRank('z', 'c'), await client.zCount('z', '-inf', '(3'),
    plain(await client.zPopMin('z'))], [2, 1, { value: 'a', score: 2 }]);
  await client.zAdd('y', [{ score: 1, value: 'c' }, { score: 1, value: 'd' }]);
  assert.deepEqual(plain(await client.zUnionWithScores(['y', 'z'])),
    [{ value: 'd', score: 1 }, { value: 'b', score: 3 }, { value: 'c', score: 4 }]);
  assert.deepEqual([await client.zInterStore('x', ['y', 'z']), await client.zDiff(['y', 'z'])], [1, ['d']]);
});

checkBoth('hashes and their fields, which may expire', async (client) => {
  assert.equal(await client.hSet('h', { name: 'Anna', age: 30 }), 2);
  assert.deepEqual(plain(await client.hGetAll('h')), { name: 'Anna', age: '30' });
  assert.deepEqual([await client.hGet('h', 'name'), await client.hmGet('h', ['age', 'nosuch']),
    plain(await client.hGetAll('nosuch'))], ['Anna', ['30', null], {}]);
  assert.deepEqual([await client.hIncrBy('h', 'age', 2), await client.hIncrByFloat('h', 'age', 0.5),
    await client.hSetNX('h', 'age', '1')], [32, '32.5', 0]);
  assert.deepEqual([await client.hExpire('h', 'name', 100), await client.hPersist('h', 'name')], [[1], [1]]);
  await client.hpExpire('h', 'age', 20);
  await waitUntil(async () => await client.hLen('h') === 1);
  assert.equal(await client.hSetEx('h', { town: 'Basel' }, { expiration: { type: 'EX', value: 100 } }), 1);
  assert.deepEqual([await client.hGetDel('h', ['town', 'name']), await client.exists('h')], [['Basel', 'Anna'], 0]);
});

checkBoth('sets', async (client) => {
  assert.equal(await client.sAdd('s', ['a', 'b', 'c']), 3);
  await client.sAdd('t', ['b', 'd']);
  assert.deepEqual([await client.sIsMember('s', 'a'), await client.smIsMember('s', ['a', 'x']),
    await client.sMove('s', 't', 'a')], [1, [1, 0], 1]);
  assert.deepEqual([...await client.sUnion(['s', 't'])].sort(), ['a', 'b', 'c', 'd']);
  assert.deepEqual([[...await client.sInter(['s', 't'])], [...await client.sDiff(['s', 't'])],
    await client.sInterCard(['s', 't'])], [['b'], ['c'], 1]);
  assert.deepEqual([...await client.sMembers('t')].sort(), ['a', 'b', 'd']);
  assert.deepEqual([(await client.sPopCount('t', 9)).sort(), await client.exists('t')], [['a', 'b', 'd'], 0]);
});

checkBoth('members and fields are scanned', async (client) => {
  const names = Array.from({ length: 1000 }, (_, i) => `m:${i}`);
  await client.sAdd('s', names);
  await client.zAdd('z', names.map((value) => ({ score: 1, value })));
  await client.hSet('h', Object.fromEntries(names.map((name) => [name, 1])));
  const iterators = [client.sScanIterator('s'), client.zScanIterator('z', { COUNT: 50 }), client.hScanIterator('h')];
  for (const iterator of iterators) {
    const found = new Set();
    for await (const some of iterator) some.forEach((item) => found.add(item.field ?? item.value ?? item));
    assert.deepEqual([...found].sort(), names.slice().sort());
  }
});

checkBoth('commands that were not awaited are pipelined and answered in order', async (client) => {
  const answers = await Promise.all(Array.from({ length: 5000 }, (_, i) => client.rPush('l', String(i))));
  assert.deepEqual(answers, Array.from({ length: 5000 }, (_, i) => i + 1));
});

checkBoth('a pipeline without a transaction', async (client) => {
  assert.deepEqual(await client.multi().set('n', '1').incr('n').get('n').execAsPipeline(), ['OK', 2, '2']);
});

checkBoth('a transaction runs as one', async (client) => {
  assert.deepEqual(await client.multi().set('n', '1').incr('n').lRange('nosuch', 0, -1).get('n').exec(),
    ['OK', 2, [], '2']);
  await assert.rejects(client.multi().set('k', 'v').addCommand(['NOSUCH']).exec(), { message: /unknown command/ });
  assert.equal(await client.exists('k'), 0);
  await assert.rejects(client.multi().set('s', 'text').lPush('s', 'x').exec(), (error) =>
    error.replies[0] === 'OK' && /^WRONGTYPE/.test(error.replies[1].message));
});

checkBoth('a watched key that changed stops the transaction', async (client) => {
  await client.watch('k');
  await admin.set('k', 'other');
  await assert.rejects(client.multi().set('k', 'mine').exec(), WatchError);
  await client.watch('k');
  assert.deepEqual(await client.multi().get('k').exec(), ['other']);
});

checkBoth('blocking pops wait for an element, or in vain', async (client) => {
  assert.equal(await client.blPop('q', 0.05), null);
  for (const [start, wanted] of [
    [() => client.blPop(['p', 'q'], 0), { key: 'q', element: 'job' }],
    [() => client.brPop('q', patience / 1000), { key: 'q', element: 'job' }],
    [() => client.blMove('q', 'done', 'LEFT', 'RIGHT', 0), 'job'],
    [() => client.brPopLPush('q', 'done', 0), 'job'],
    [() => client.blmPop(0, ['p', 'q'], 'LEFT', { COUNT: 10 }), ['q', ['job']]],
  ]) {
    const answer = start();
    await waitBlocked(1);
    await admin.rPush('q', 'job');
    assert.equal(JSON.stringify(await answer), JSON.stringify(wanted));
  }
});

checkBoth('blocking pops wait for a member of a sorted set', async (client) => {
  assert.equal(await client.bzPopMin('q', 0.05), null);
  const job = { value: 'job', score: 1.5 };
  for (const [start, wanted] of [
    [() => client.bzPopMin(['p', 'q'], 0), { key: 'q', ...job }],
    [() => client.bzPopMax('q', patience / 1000), { key: 'q', ...job }],
    [() => client.bzmPop(0, ['p', 'q'], 'MIN'), { key: 'q', members: [job] }],
  ]) {
    const answer = start();
    await waitBlocked(1);
    await admin.zAdd('q', { score: 1.5, value: 'job' });
    assert.deepEqual(plain(await answer), wanted);
  }
});

checkBoth('messages reach channels, patterns and shard channels', async (client) => {
  const heard = [];
  const hear = (message, channel) => heard.push([message, channel]);
  await client.subscribe(['news', 'sport'], hear);
  await client.pSubscribe('n*', hear);
  await client.sSubscribe('shard', hear);
  assert.equal(await admin.publish('news', 'hello'), 2);
  assert.equal(await admin.sPublish('shard', 's'), 1);
  await waitUntil(() => heard.length === 3);
  assert.deepEqual(heard, [['hello', 'news'], ['hello', 'news'], ['s', 'shard']]);
  assert.deepEqual((await admin.pubSubChannels()).sort(), ['news', 'sport']);
  assert.equal(await admin.pubSubNumPat(), 1);
  await client.unsubscribe();
  await client.pUnsubscribe();
  await client.sUnsubscribe();
  assert.equal(await client.incr('n'), 1);
});

check('commands and messages share a connection in RESP3', () => withClients(3, 1, async (client) => {
  const heard = [];
  await client.subscribe('news', (message) => heard.push(message));
  assert.equal(await client.incr('n'), 1);
  assert.equal(await client.publish('news', 'to myself'), 1);
  assert.deepEqual(await client.multi().incr('n').publish('news', 'in a transaction').exec(), [2, 1]);
  await waitUntil(() => heard.length === 2);
  assert.deepEqual(heard, ['to myself', 'in a transaction']);
}));

checkBoth('keyspace events', async (client) => {
  const heard = [];
  await admin.configSet('notify-keyspace-events', 'Ex');
  await client.subscribe('__keyevent@0__:expired', (key) => heard.push(key));
  await admin.pSetEx('k', 20, 'v');
  await waitUntil(() => heard.length === 1);
  assert.deepEqual(heard, ['k']);
  await admin.configSet('notify-keyspace-events', '');
});

checkBoth('a client that was cut off reconnects and subscribes again', async (client, listener) => {
  const heard = [];
  await listener.subscribe('news', (message) => heard.push(message));
  const id = await client.clientId();
  assert.equal(await admin.clientKill({ filter: 'ID', id }), 1);
  assert.equal(await admin.clientKill({ filter: 'TYPE', type: 'pubsub' }), 1);
  await waitUntil(async () => await client.clientId().catch(() => id) !== id);
  await waitUntil(() => admin.publish('news', 'again'));
  await waitUntil(() => heard.includes('again'));
}, 2);

checkBoth('keys are scanned', async (client) => {
  await client.mSet(Array.from({ length: 1000 }, (_, i) => [`key:${i}`, String(i)]));
  const found = new Set();
  for await (const keys of client.scanIterator({ MATCH: 'key:*', COUNT: 100 })) keys.forEach((key) => found.add(key));
  assert.equal(found.size, 1000);
});

checkBoth('the figures and switches of operators are understood', async (client) => {
  await client.rPush('l', ['a', 'b']);
  assert.match(await client.info(), /^loading:0\r$/m);
  assert.deepEqual({ ...await client.configGet('list-max-listpack-*') }, { 'list-max-listpack-size': '-2' });
  assert.ok(await client.memoryUsage('l') > 0);
  assert.equal(await client.objectEncoding('l'), 'listpack');
  assert.ok((await client.clientList()).some((one) => one.libName === 'node-redis'));
  assert.equal((await client.commandInfo(['lpush']))[0].arity, -3);
});

for (const RESP of [2, 3]) {
  check(`a pool serves many at once (RESP${RESP})`, async () => {
    const pool = createClientPool({ RESP, socket: { port } }, { minimum: 2, maximum: 5 });
    await pool.connect();
    const answers = await Promise.all(Array.from({ length: 200 }, () => pool.incr('n')));
    assert.deepEqual(answers.sort((a, b) => a - b), Array.from({ length: 200 }, (_, i) => i + 1));
    const popped = pool.blPop('q', 0);
    await waitBlocked(1);
    await pool.rPush('q', 'job');
    assert.equal((await popped).element, 'job');
    await pool.close();
  });
}

check('a cached read needs no server, and the writes of other clients are seen', async () => {
  const client = createClient({ RESP: 3, socket: { port, reconnectStrategy: 10 },
    clientSideCache: { ttl: 0, maxEntries: 0, evictPolicy: 'LRU' } }).on('error', () => {});
  const gets = async () => /cmdstat_get:calls=(\d+)/.exec(await admin.info('commandstats'))[1];
  const reads = (value) => waitUntil(async () => await client.get('k').catch(() => 'cut off') === value);
  await client.connect();
  try {
    const id = await client.clientId();
    await admin.set('k', '1');
    assert.equal(await client.get('k'), '1');
    const before = await gets();
    for (let i = 0; i < 10; i++) assert.equal(await client.get('k'), '1');
    assert.equal(await gets(), before);
    await admin.set('k', '2');
    await reads('2');
    await admin.flushAll();
    await reads(null);
    await admin.sendCommand(['CLIENT', 'KILL', 'ID', String(id)]);
    await admin.set('k', '3');
    await reads('3');
  } finally {
    client.destroy();
  }
});

// --- TLS

/** Runs `use` with a client over TLS that has connected; fails when it cannot. */
async function withTls(RESP, tls, use, user = '') {
  const client = createClient({ RESP, url: `rediss://${user}localhost:${tlsPort}/5`,
    socket: { ...tls, reconnectStrategy: false } }).on('error', () => {});
  try {
    await client.connect();
    await use(client);
  } finally {
    if (client.isOpen) client.destroy();
  }
}

async function whileAsking(which, use) {
  await admin.configSet('tls-auth-clients', which);
  try {
    await use();
  } finally {
    await admin.configSet('tls-auth-clients', 'no');
  }
}

for (const RESP of [2, 3]) {
  const pings = async (client) => assert.equal(await client.ping(), 'PONG');
  const refused = (tls) => assert.rejects(withTls(RESP, tls, pings));

  check(`a URL leads to the port for TLS, and all comes back (RESP${RESP})`, () =>
    withTls(RESP, tlsOptions(), async (client) => {
      const text = 'abcdefghij'.repeat(100000);
      await client.set('k', text);
      assert.equal(await client.get('k'), text);
      assert.deepEqual([await client.dbSize(), await admin.dbSize()], [1, 0]);
      const answers = await Promise.all(Array.from({ length: 5000 }, (_, i) => client.rPush('l', String(i))));
      assert.deepEqual(answers, Array.from({ length: 5000 }, (_, i) => i + 1));
    }));

  check(`a server whose authority is not trusted is refused (RESP${RESP})`, () =>
    refused(tlsOptions(null, 'other-ca')));

  check(`clients are asked for certificates (RESP${RESP})`, async () => {
    await whileAsking('yes', async () => {
      await withTls(RESP, tlsOptions('client'), pings);
      await refused(tlsOptions());
      await refused(tlsOptions('stranger'));
    });
    await whileAsking('optional', async () => {
      await withTls(RESP, tlsOptions('client'), pings);
      await withTls(RESP, tlsOptions(), pings);
      await refused(tlsOptions('stranger'));
    });
  });

  check(`a URL over TLS names a user and its password (RESP${RESP})`, async () => {
    await withTls(RESP, tlsOptions(), async (client) => assert.equal(await client.aclWhoAmI(), 'tls-user'),
      'tls-user:secret@');
    await assert.rejects(withTls(RESP, tlsOptions(), pings, 'tls-user:wrong@'), { message: /WRONGPASS/ });
  });
}

runChecks(async () => {
  admin ??= await createClient({ socket: { port } }).connect();
  await admin.flushAll();
});
