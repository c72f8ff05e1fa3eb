import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.args.SortedSetOption;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.ZAddParams;
import redis.clients.jedis.params.ZParams;
import redis.clients.jedis.params.ZRangeParams;
import redis.clients.jedis.resps.ScanResult;
import redis.clients.jedis.resps.Tuple;

/** Sorted sets, hashes and sets by Jedis. */
final class CollectionChecks {
    private CollectionChecks() {}

    static void addTo(Checks<RedisProtocol> checks) {
        checks.add("sorted sets", CollectionChecks::sortedSets);
        checks.add("hashes and their fields, which may expire", CollectionChecks::hashes);
        checks.add("sets", CollectionChecks::sets);
        checks.add("members and fields are scanned", CollectionChecks::membersAreScanned);
        checks.add("blocking pops wait for a member of a sorted set", CollectionChecks::blockingPops);
    }

    private static void sortedSets(RedisProtocol protocol) {
        try (Jedis jedis = JedisTest.connect(protocol)) {
            Checks.equal(jedis.zadd("z", Map.of("a", 1.0, "b", 2.5, "c", 3.0)), 3L);
            Checks.equal(jedis.zadd("z", 2, "a", ZAddParams.zAddParams().xx().gt().ch()), 1L);
            Checks.equal(jedis.zincrby("z", 0.5, "b"), 3.0);
            Checks.equal(jedis.zscore("z", "nosuch"), null);
            Checks.equal(jedis.zmscore("z", "a", "b"), List.of(2.0, 3.0));
            Checks.equal(jedis.zrangeWithScores("z", 0, 1), List.of(new Tuple("a", 2.0), new Tuple("b", 3.0)));
            Checks.equal(jedis.zrange("z", ZRangeParams.zrangeByScoreParams(3, 2).rev().limit(0, 1)), List.of("c"));
            Checks.equal(List.of(jedis.zrank("z", "c"), jedis.zcount("z", "-inf", "(3")), List.of(2L, 1L));
            Checks.equal(jedis.zpopmin("z"), new Tuple("a", 2.0));
            jedis.zadd("y", Map.of("c", 1.0, "d", 1.0));
            Checks.equal(jedis.zunionWithScores(new ZParams().weights(2, 1), "y", "z"),
                List.of(new Tuple("d", 2.0), new Tuple("b", 3.0), new Tuple("c", 5.0)));
            Checks.equal(List.of(jedis.zinterstore("x", "y", "z"), jedis.zdiff("y", "z")), List.of(1L, List.of("d")));
            Checks.equal(jedis.zmpop(SortedSetOption.MAX, 5, "nosuch", "y").getValue().size(), 2);
        }
    }

    private static void hashes(RedisProtocol protocol) throws Exception {
        try (Jedis jedis = JedisTest.connect(protocol)) {
            Checks.equal(jedis.hset("h", Map.of("name", "Anna", "age", "30")), 2L);
            Checks.equal(jedis.hgetAll("h"), Map.of("name", "Anna", "age", "30"));
            Checks.equal(List.of(jedis.hgetAll("nosuch"), jedis.hmget("h", "age", "name")),
                List.of(Map.of(), List.of("30", "Anna")));
            Checks.equal(jedis.hget("h", "nosuch"), null);
            Checks.equal(jedis.hincrBy("h", "age", 2), 32L);
            Checks.equal(jedis.hincrByFloat("h", "age", 0.5), 32.5);
            Checks.fails(JedisDataException.class, "hash value is not an integer", () -> jedis.hincrBy("h", "name", 1));
            Checks.equal(jedis.hexpire("h", 100, "name", "nosuch"), List.of(1L, -2L));
            Checks.equal(jedis.hpersist("h", "name"), List.of(1L));
            jedis.hpexpire("h", 20, "age");
            Checks.waitUntil(() -> jedis.hlen("h") == 1);
            Checks.equal(List.of(jedis.hkeys("h"), jedis.hdel("h", "name"), jedis.exists("h")),
                List.of(Set.of("name"), 1L, false));
        }
    }

    private static void sets(RedisProtocol protocol) {
        try (Jedis jedis = JedisTest.connect(protocol)) {
            Checks.equal(jedis.sadd("s", "a", "b", "c"), 3L);
            jedis.sadd("t", "b", "d");
            Checks.equal(jedis.smismember("s", "a", "x"), List.of(true, false));
            Checks.equal(List.of(jedis.sismember("s", "a"), jedis.smove("s", "t", "a")), List.of(true, 1L));
            Checks.equal(jedis.sunion("s", "t"), Set.of("a", "b", "c", "d"));
            Checks.equal(List.of(jedis.sinter("s", "t"), jedis.sdiff("s", "t"), jedis.sintercard("s", "t")),
                List.of(Set.of("b"), Set.of("c"), 1L));
            Checks.equal(jedis.smembers("s"), Set.of("b", "c"));
            Checks.equal(List.of(jedis.spop("t", 9), jedis.exists("t")), List.of(Set.of("a", "b", "d"), false));
        }
    }

    private static void membersAreScanned(RedisProtocol protocol) {
        Set<String> names = IntStream.range(0, 1000).mapToObj(i -> "m:" + i).collect(Collectors.toSet());
        try (Jedis jedis = JedisTest.connect(protocol); Pipeline pipeline = jedis.pipelined()) {
            for (String name : names) {
                pipeline.sadd("s", name);
                pipeline.zadd("z", 1, name);
                pipeline.hset("h", name, "1");
            }
            pipeline.sync();
            Set<String> members = new HashSet<>();
            Set<String> scored = new HashSet<>();
            Set<String> fields = new HashSet<>();
            ScanParams parameters = new ScanParams().count(50);
            String cursor = ScanParams.SCAN_POINTER_START;
            do {
                ScanResult<String> page = jedis.sscan("s", cursor, parameters);
                members.addAll(page.getResult());
                cursor = page.getCursor();
            } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
            do {
                ScanResult<Tuple> page = jedis.zscan("z", cursor, parameters);
                page.getResult().forEach(tuple -> scored.add(tuple.getElement()));
                cursor = page.getCursor();
            } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
            do {
                ScanResult<Map.Entry<String, String>> page = jedis.hscan("h", cursor, parameters);
                page.getResult().forEach(entry -> fields.add(entry.getKey()));
                cursor = page.getCursor();
            } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
            Checks.equal(List.of(members, scored, fields), List.of(names, names, names));
        }
    }

    private static void blockingPops(RedisProtocol protocol) throws Exception {
        try (Jedis jedis = JedisTest.connect(protocol)) {
            Checks.equal(jedis.bzpopmin(0.05, "q"), null);
            List<Callable<Tuple>> pops = List.of(
                () -> jedis.bzpopmin(0, "p", "q").getValue(),
                () -> jedis.bzpopmax(Checks.PATIENCE_SECONDS, "q").getValue(),
                () -> jedis.bzmpop(0, SortedSetOption.MIN, 5, "p", "q").getValue().get(0));
            for (Callable<Tuple> pop : pops) {
                CompletableFuture<Tuple> answer = Checks.start(pop);
                JedisTest.waitBlocked(1);
                try (Jedis other = JedisTest.connect(protocol)) {
                    other.zadd("q", 1.5, "job");
                }
                Checks.equal(Checks.resultOf(answer), new Tuple("job", 1.5));
            }
        }
    }
}
