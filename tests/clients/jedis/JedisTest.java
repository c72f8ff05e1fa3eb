import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.args.ListDirection;
import redis.clients.jedis.args.ListPosition;
import redis.clients.jedis.csc.CacheConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.params.SortingParams;
import redis.clients.jedis.resps.ScanResult;

/** Jedis against the server: single connections, and the client with a pool. */
final class JedisTest {
    private static final HostAndPort ADDRESS = new HostAndPort("127.0.0.1", Checks.PORT);
    private static final Jedis ADMIN = new Jedis(ADDRESS);

    private static JedisClientConfig config(RedisProtocol protocol, int database) {
        return DefaultJedisClientConfig.builder().protocol(protocol).database(database).clientName("worker")
            .socketTimeoutMillis(Checks.PATIENCE_SECONDS * 1000).build();
    }

    static Jedis connect(RedisProtocol protocol) {
        return new Jedis(ADDRESS, config(protocol, 0));
    }

    private static RedisClient pooled(RedisProtocol protocol, int connections) {
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(connections);
        return RedisClient.builder().hostAndPort(ADDRESS).clientConfig(config(protocol, 0)).poolConfig(pool).build();
    }

    static void waitBlocked(int count) throws Exception {
        Checks.waitUntil(() -> ADMIN.info("clients").contains("blocked_clients:" + count + "\r\n"));
    }

    private static void aClientNamesItself(RedisProtocol protocol) {
        try (Jedis jedis = new Jedis(ADDRESS, config(protocol, 3))) {
            String info = jedis.clientInfo();
            Checks.equal(info.contains(" name=worker "), true);
            Checks.equal(info.contains(" lib-name=jedis"), true);
            Checks.equal(info.contains(" resp=" + protocol.version()), true);
            jedis.set("k", "v");
            Checks.equal(List.of(jedis.dbSize(), ADMIN.dbSize()), List.of(1L, 0L));
        }
    }

    private static void bytesComeBack(RedisProtocol protocol) {
        byte[] bytes = new byte[100_000];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        try (Jedis jedis = connect(protocol)) {
            byte[] key = {0, 13, 10, -1};
            jedis.set(key, bytes);
            Checks.equal(Arrays.equals(jedis.get(key), bytes), true);
            jedis.rpush("l", "Grüße");
            Checks.equal(jedis.lrange("l", 0, -1), List.of("Grüße"));
        }
    }

    private static void stringsAndExpiry(RedisProtocol protocol) throws Exception {
        try (Jedis jedis = connect(protocol)) {
            Checks.equal(jedis.set("k", "1", SetParams.setParams().nx().ex(100)), "OK");
            Checks.equal(jedis.set("k", "2", SetParams.setParams().nx()), null);
            Checks.equal(jedis.incr("k"), 2L);
            Checks.equal(jedis.incrByFloat("k", 0.5), 2.5);
            long seconds = jedis.ttl("k");
            Checks.equal(seconds > 90 && seconds <= 100, true);
            Checks.equal(List.of(jedis.persist("k"), jedis.ttl("k")), List.of(1L, -1L));
            Checks.equal(jedis.mset("a", "1", "b", "2"), "OK");
            Checks.equal(jedis.mget("a", "nosuch", "b"), Arrays.asList("1", null, "2"));
            Checks.equal(jedis.rename("a", "c"), "OK");
            Checks.equal(List.of(jedis.copy("c", "d", false), jedis.del("b", "c")), List.of(true, 2L));
            jedis.set("soon", "v", SetParams.setParams().px(20));
            Checks.waitUntil(() -> !jedis.exists("soon"));
            Checks.equal(jedis.get("soon"), null);
            Checks.fails(JedisDataException.class, "WRONGTYPE", () -> jedis.rpush("k", "x"));
            Checks.fails(JedisDataException.class, "unknown command 'NOSUCH'",
                () -> jedis.sendCommand(() -> "NOSUCH".getBytes(), "k"));
        }
    }

    private static void lists(RedisProtocol protocol) {
        try (Jedis jedis = connect(protocol)) {
            Checks.equal(jedis.rpush("l", "a", "b", "c", "d"), 4L);
            Checks.equal(jedis.lpop("l"), "a");
            Checks.equal(jedis.rpop("l", 2), List.of("d", "c"));
            Checks.equal(jedis.lpop("nosuch", 2), null);
            Checks.equal(jedis.linsert("l", ListPosition.AFTER, "b", "x"), 2L);
            Checks.equal(jedis.lpos("l", "x"), 1L);
            Checks.equal(jedis.lmove("l", "m", ListDirection.LEFT, ListDirection.RIGHT), "b");
            Checks.equal(jedis.lmpop(ListDirection.LEFT, 5, "nosuch", "m").getValue(), List.of("b"));
            jedis.rpush("numbers", "3", "1", "2");
            Checks.equal(jedis.sort("numbers", new SortingParams().desc()), List.of("3", "2", "1"));
            Checks.equal(jedis.objectEncoding("numbers"), "listpack");
        }
    }

    private static void aPipelineAnswersInOrder(RedisProtocol protocol) {
        try (Jedis jedis = connect(protocol); Pipeline pipeline = jedis.pipelined()) {
            for (int i = 0; i < 5000; i++) {
                pipeline.rpush("l", String.valueOf(i));
            }
            Response<Long> wrong = pipeline.incr("l");
            Response<List<String>> last = pipeline.lrange("l", -2, -1);
            List<Object> answers = pipeline.syncAndReturnAll();
            Checks.equal(answers.size(), 5002);
            Checks.equal(IntStream.range(0, 5000).allMatch(i -> answers.get(i).equals(i + 1L)), true);
            Checks.fails(JedisDataException.class, "WRONGTYPE", wrong::get);
            Checks.equal(last.get(), List.of("4998", "4999"));
        }
    }

    private static void aTransactionRunsAsOne(RedisProtocol protocol) {
        try (RedisClient client = pooled(protocol, 2)) {
            try (AbstractTransaction transaction = client.multi()) {
                Response<String> set = transaction.set("n", "1");
                Response<Long> incremented = transaction.incr("n");
                transaction.lrange("nosuch", 0, -1);
                Checks.equal(transaction.exec(), List.of("OK", 2L, List.of()));
                Checks.equal(set.get() + incremented.get(), "OK2");
            }
            try (AbstractTransaction transaction = client.multi()) {
                transaction.set("n", "17");
                transaction.discard();
            }
            Checks.equal(client.get("n"), "2");
        }
    }

    private static void aWatchedKeyStopsTheTransaction(RedisProtocol protocol) {
        try (Jedis jedis = connect(protocol)) {
            jedis.watch("k");
            ADMIN.set("k", "other");
            try (Transaction transaction = jedis.multi()) {
                transaction.set("k", "mine");
                Checks.equal(transaction.exec(), null);
            }
            jedis.watch("k");
            jedis.unwatch();
            ADMIN.set("k", "again");
            try (Transaction transaction = jedis.multi()) {
                transaction.get("k");
                Checks.equal(transaction.exec(), List.of("again"));
            }
        }
    }

    private static void blockingPops(RedisProtocol protocol) throws Exception {
        try (Jedis jedis = connect(protocol)) {
            Checks.equal(jedis.blpop(0.05, "q"), null);
            List<Callable<Object>> pops = List.of(
                () -> jedis.blpop(0, "p", "q").get(1),
                () -> jedis.brpop(Checks.PATIENCE_SECONDS, "q").get(1),
                () -> jedis.blmove("q", "done", ListDirection.LEFT, ListDirection.RIGHT, 0),
                () -> jedis.blmpop(0, ListDirection.LEFT, 5, "p", "q").getValue().get(0));
            for (Callable<Object> pop : pops) {
                CompletableFuture<Object> answer = Checks.start(pop);
                waitBlocked(1);
                ADMIN.rpush("q", "job");
                Checks.equal(Checks.resultOf(answer), "job");
            }
        }
    }

    private static void workersShareTheJobs(RedisProtocol protocol) throws Exception {
        try (RedisClient client = pooled(protocol, 6)) {
            List<CompletableFuture<List<Integer>>> workers = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                workers.add(Checks.start(() -> {
                    List<Integer> done = new ArrayList<>();
                    for (String job; !(job = client.blpop(0, "jobs").get(1)).equals("stop");) {
                        done.add(Integer.valueOf(job));
                    }
                    return done;
                }));
            }
            for (int i = 0; i < 500; i++) {
                client.rpush("jobs", String.valueOf(i));
            }
            client.rpush("jobs", "stop", "stop", "stop", "stop", "stop");
            List<Integer> done = new ArrayList<>();
            for (CompletableFuture<List<Integer>> worker : workers) {
                done.addAll(Checks.resultOf(worker));
            }
            Collections.sort(done);
            Checks.equal(done, IntStream.range(0, 500).boxed().toList());
        }
    }

    private static void aSmallPoolServesManyThreads(RedisProtocol protocol) throws Exception {
        try (RedisClient client = pooled(protocol, 3)) {
            List<CompletableFuture<Long>> calls = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                calls.add(Checks.start(() -> client.incr("n")));
            }
            Set<Long> answers = new HashSet<>();
            for (CompletableFuture<Long> call : calls) {
                answers.add(Checks.resultOf(call));
            }
            Checks.equal(answers.size(), 30);
            Checks.equal(client.getPool().getCreatedCount() <= 3, true);
        }
    }

    private static void aConnectionThatWasCutOff(RedisProtocol protocol) {
        try (Jedis jedis = connect(protocol)) {
            Checks.equal(ADMIN.clientKill(new ClientKillParams().id(String.valueOf(jedis.clientId()))), 1L);
            Checks.fails(JedisConnectionException.class, "", () -> jedis.get("k"));
        }
        try (Jedis jedis = connect(protocol)) {
            Checks.equal(jedis.ping(), "PONG");
        }
    }

    /** Notes what it hears; `heard` is a synchronized list. */
    private static final class Listener extends JedisPubSub {
        final List<String> heard = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void onSubscribe(String channel, int count) {
            heard.add("subscribe " + channel + " " + count);
        }

        @Override
        public void onPSubscribe(String pattern, int count) {
            heard.add("psubscribe " + pattern + " " + count);
        }

        @Override
        public void onMessage(String channel, String message) {
            heard.add("message " + channel + " " + message);
        }

        @Override
        public void onPMessage(String pattern, String channel, String message) {
            heard.add("pmessage " + pattern + " " + channel + " " + message);
        }

        void waitFor(String... words) throws Exception {
            Checks.waitUntil(() -> heard.size() >= words.length);
            Checks.equal(List.copyOf(heard), List.of(words));
            heard.clear();
        }
    }

    private static void messagesReach(RedisProtocol protocol) throws Exception {
        Listener listener = new Listener();
        try (Jedis jedis = connect(protocol)) {
            CompletableFuture<Object> listening = Checks.start(() -> {
                jedis.subscribe(listener, "news");
                return null;
            });
            listener.waitFor("subscribe news 1");
            listener.psubscribe("n*");
            listener.waitFor("psubscribe n* 2");
            Checks.equal(ADMIN.publish("news", "hello"), 2L);
            listener.waitFor("message news hello", "pmessage n* news hello");
            Checks.equal(ADMIN.pubsubChannels(), List.of("news"));
            Checks.equal(ADMIN.pubsubNumPat(), 1L);
            Checks.equal(ADMIN.pubsubNumSub("news", "none"), Map.of("news", 1L, "none", 0L));
            listener.unsubscribe();
            listener.punsubscribe();
            Checks.resultOf(listening);
            Checks.equal(jedis.set("k", "v"), "OK");
        }
    }

    private static void keyspaceEvents(RedisProtocol protocol) throws Exception {
        Listener listener = new Listener();
        ADMIN.configSet("notify-keyspace-events", "Ex");
        try (RedisClient client = pooled(protocol, 2)) {
            CompletableFuture<Object> listening = Checks.start(() -> {
                client.psubscribe(listener, "__keyevent@0__:*");
                return null;
            });
            listener.waitFor("psubscribe __keyevent@0__:* 1");
            client.set("k", "v", SetParams.setParams().px(20));
            listener.waitFor("pmessage __keyevent@0__:* __keyevent@0__:expired k");
            listener.punsubscribe();
            Checks.resultOf(listening);
        } finally {
            ADMIN.configSet("notify-keyspace-events", "");
        }
    }

    private static void aSubscriptionThatWasCutOff(RedisProtocol protocol) throws Exception {
        Listener listener = new Listener();
        try (Jedis jedis = connect(protocol)) {
            CompletableFuture<Object> listening = Checks.start(() -> {
                jedis.subscribe(listener, "news");
                return null;
            });
            listener.waitFor("subscribe news 1");
            Checks.equal(ADMIN.clientKill(new ClientKillParams().type(ClientType.PUBSUB)), 1L);
            Checks.fails(Exception.class, "JedisConnectionException", () -> Checks.resultOf(listening));
        }
    }

    private static void keysAreScanned(RedisProtocol protocol) {
        try (Jedis jedis = connect(protocol)) {
            for (int i = 0; i < 1000; i++) {
                jedis.set("key:" + i, "v");
            }
            Set<String> found = new HashSet<>();
            ScanParams parameters = new ScanParams().match("key:*").count(100);
            String cursor = ScanParams.SCAN_POINTER_START;
            do {
                ScanResult<String> page = jedis.scan(cursor, parameters);
                found.addAll(page.getResult());
                cursor = page.getCursor();
            } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
            Checks.equal(found.size(), 1000);
        }
    }

    private static void operators(RedisProtocol protocol) {
        try (Jedis jedis = connect(protocol)) {
            jedis.rpush("l", "a");
            Checks.equal(jedis.info().contains("\r\nloading:0\r\n"), true);
            Checks.equal(jedis.configGet("list-max-listpack-*"), Map.of("list-max-listpack-size", "-2"));
            Checks.equal(jedis.memoryUsage("l") > 0, true);
            Checks.equal(jedis.clientList().contains(" name=worker "), true);
            jedis.configSet("slowlog-log-slower-than", "0");
            jedis.llen("l");
            jedis.configSet("slowlog-log-slower-than", "10000");
            Checks.equal(jedis.slowlogGet().isEmpty(), false);
            Checks.equal(jedis.slowlogReset(), "OK");
        }
    }

    /** How many GETs the server has run. */
    private static String gets() {
        return ADMIN.info("commandstats").replaceAll("(?s).*cmdstat_get:calls=(\\d+).*", "$1");
    }

    private static void itsCache(RedisProtocol protocol) throws Exception {
        if (protocol == RedisProtocol.RESP2) {
            return; // the cache needs RESP3
        }
        try (RedisClient client = RedisClient.builder().hostAndPort(ADDRESS).clientConfig(config(protocol, 0))
                .cacheConfig(CacheConfig.builder().maxSize(100).build()).build()) {
            ADMIN.set("k", "1");
            Checks.equal(client.get("k"), "1");
            String before = gets();
            for (int i = 0; i < 10; i++) {
                Checks.equal(client.get("k"), "1");
            }
            Checks.equal(gets(), before);
            ADMIN.set("k", "2");
            Checks.waitUntil(() -> "2".equals(client.get("k")));
            ADMIN.flushAll();
            Checks.waitUntil(() -> client.get("k") == null);
        }
    }

    public static void main(String[] arguments) {
        Checks<RedisProtocol> checks = new Checks<>(List.of(RedisProtocol.RESP2, RedisProtocol.RESP3));
        checks.add("a client names itself and chooses its database", JedisTest::aClientNamesItself);
        checks.add("what is sent comes back, byte for byte", JedisTest::bytesComeBack);
        checks.add("strings, keys and their expiry", JedisTest::stringsAndExpiry);
        checks.add("lists", JedisTest::lists);
        checks.add("a pipeline answers in order", JedisTest::aPipelineAnswersInOrder);
        checks.add("a transaction runs as one", JedisTest::aTransactionRunsAsOne);
        checks.add("a watched key that changed stops the transaction", JedisTest::aWatchedKeyStopsTheTransaction);
        checks.add("blocking pops wait for an element, or in vain", JedisTest::blockingPops);
        checks.add("blocked workers share the jobs", JedisTest::workersShareTheJobs);
        checks.add("a small pool serves many threads", JedisTest::aSmallPoolServesManyThreads);
        checks.add("a connection that was cut off is an error", JedisTest::aConnectionThatWasCutOff);
        checks.add("messages reach channels and patterns", JedisTest::messagesReach);
        checks.add("keyspace events", JedisTest::keyspaceEvents);
        checks.add("a subscription that was cut off is an error", JedisTest::aSubscriptionThatWasCutOff);
        checks.add("keys are scanned", JedisTest::keysAreScanned);
        checks.add("the figures and switches of operators are understood", JedisTest::operators);
        checks.add("a cached read needs no server, and the writes of others are seen", JedisTest::itsCache);
        CollectionChecks.addTo(checks);
        TlsChecks.addTo(checks);
        checks.run(ADMIN::flushAll);
    }
}
