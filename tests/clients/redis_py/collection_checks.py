"""Sorted sets, hashes and sets by redis-py: everything in RESP2 and RESP3."""
import redis

from checks import PATIENCE, PORT, Checks, equal, in_thread, raises, wait_blocked, wait_until

check = Checks()


def connect(protocol):
    return redis.Redis(port=PORT, protocol=protocol, decode_responses=True)


def pairs(scored):
    """Members with scores as tuples: RESP3 gives lists."""
    return [tuple(pair) for pair in scored]


@check("sorted sets are changed and read with every option")
def _(protocol):
    with connect(protocol) as r:
        equal((r.zadd("z", {"a": 1, "b": 2.5, "c": 3}), r.zadd("z", {"a": 0, "d": 4}, nx=True)), (3, 1))
        equal((r.zadd("z", {"a": 2}, xx=True, gt=True, ch=True), r.zadd("z", {"a": 3}, incr=True)), (1, 5.0))
        equal((r.zscore("z", "a"), r.zscore("z", "nosuch"), r.zmscore("z", ["b", "nosuch"])), (5.0, None, [2.5, None]))
        equal((r.zincrby("z", 0.5, "b"), r.zcard("z"), r.zcount("z", "(3", "+inf")), (3.0, 4, 2))
        equal((r.zrank("z", "b"), r.zrevrank("z", "a"), r.zrank("z", "nosuch")), (0, 0, None))
        equal(pairs(r.zrange("z", 0, 1, withscores=True)), [("b", 3.0), ("c", 3.0)])
        equal(r.zrange("z", "(3", "+inf", byscore=True, offset=0, num=1), ["d"])
        equal(pairs(r.zrevrangebyscore("z", "inf", 4, withscores=True)), [("a", 5.0), ("d", 4.0)])
        equal((r.zrem("z", "a"), r.zremrangebyscore("z", 4, 4), r.zremrangebyrank("z", 0, 0)), (1, 1, 1))
        equal((r.zrangestore("y", "z", 0, -1), r.zrange("y", 0, -1)), (1, ["c"]))
        r.zadd("lex", dict.fromkeys("abcde", 0))
        equal((r.zrangebylex("lex", "[b", "(d"), r.zlexcount("lex", "-", "[c"), r.zremrangebylex("lex", "[d", "+")),
              (["b", "c"], 3, 2))
        raises(redis.ResponseError, "WRONGTYPE", r.lpush, "lex", "x")


@check("sorted sets are combined and popped from")
def _(protocol):
    with connect(protocol) as r:
        r.zadd("a", {"x": 1, "y": 2})
        r.zadd("b", {"y": 3, "z": 4})
        equal(pairs(r.zunion({"a": 2, "b": 1}, withscores=True)), [("x", 2.0), ("z", 4.0), ("y", 7.0)])
        equal((pairs(r.zinter(["a", "b"], aggregate="MAX", withscores=True)), r.zintercard(2, ["a", "b"])),
              ([("y", 3.0)], 1))
        equal((r.zdiff(["a", "b"]), r.zunionstore("u", ["a", "b"]), r.zinterstore("i", ["a", "b"])), (["x"], 3, 1))
        equal((pairs(r.zpopmin("u", 1)), pairs(r.zpopmax("u", 5))), ([("x", 1.0)], [("y", 5.0), ("z", 4.0)]))
        equal((r.zmpop(2, ["u", "a"], max=True)[0], r.zrandmember("a"), r.zrandmember("nosuch")), ("a", "x", None))


@check("a blocking pop waits for a member of a sorted set, or in vain")
def _(protocol):
    with connect(protocol) as r, connect(protocol) as pusher:
        equal((r.bzpopmin("q", timeout=0.05), r.bzmpop(0.05, 1, ["q"], min=True)), (None, None))
        for call in (lambda: r.bzpopmin(["p", "q"]), lambda: r.bzpopmax("q", timeout=PATIENCE)):
            join = in_thread(call)
            wait_blocked(pusher, 1)
            pusher.zadd("q", {"job": 1.5})
            equal(tuple(join()), ("q", "job", 1.5))
        join = in_thread(r.bzmpop, PATIENCE, 2, ["p", "q"], min=True, count=2)
        wait_blocked(pusher, 1)
        pusher.zadd("q", {"a": 1, "b": 2})
        equal(join()[0], "q")
        equal(pusher.exists("q"), 0)


@check("hashes are changed and read with every option")
def _(protocol):
    with connect(protocol) as r:
        equal((r.hset("h", "name", "Anna"), r.hset("h", mapping={"age": 30, "town": "Basel"})), (1, 2))
        equal((r.hsetnx("h", "age", 1), r.hget("h", "age"), r.hget("h", "nosuch")), (0, "30", None))
        equal(r.hgetall("h"), {"name": "Anna", "age": "30", "town": "Basel"})
        equal((r.hgetall("nosuch"), r.hmget("h", ["name", "nosuch"]), r.hlen("h")), ({}, ["Anna", None], 3))
        equal((r.hincrby("h", "age", 2), r.hincrbyfloat("h", "age", 0.5), r.hstrlen("h", "town")), (32, 32.5, 5))
        equal((sorted(r.hkeys("h")), sorted(r.hvals("h"))), (["age", "name", "town"], ["32.5", "Anna", "Basel"]))
        equal((r.hexists("h", "town"), r.hdel("h", "town", "nosuch"), r.hexists("h", "town")), (True, 1, False))
        equal(sorted(r.hrandfield("h", 5)), ["age", "name"])
        raises(redis.ResponseError, "hash value is not an integer", r.hincrby, "h", "name")


@check("fields of hashes expire by themselves")
def _(protocol):
    with connect(protocol) as r:
        r.hset("h", mapping={"soon": 1, "later": 2, "ever": 3})
        equal((r.hexpire("h", 100, "later"), r.hexpire("h", 100, "nosuch"), r.hexpire("h", 5, "later", gt=True)),
              ([1], [-2], [0]))
        later, ever = r.httl("h", "later", "ever")
        assert 90 < later <= 100 and ever == -1
        assert r.hpttl("h", "later")[0] > 90000 and r.hexpiretime("h", "later")[0] > 1e9
        equal((r.hpersist("h", "later", "ever"), r.hpexpire("h", 30, "soon")), ([1, -1], [1]))
        wait_until(lambda: r.hlen("h") == 2)
        equal(r.hgetall("h"), {"later": "2", "ever": "3"})
        equal((r.hsetex("h", "new", "x", ex=100), r.hgetex("h", "new", persist=True), r.httl("h", "new")),
              (1, ["x"], [-1]))
        equal((r.hgetdel("h", "new", "later", "ever"), r.exists("h")), (["x", "2", "3"], 0))


@check("sets are changed, combined and read")
def _(protocol):
    with connect(protocol) as r:
        equal((r.sadd("s", "a", "b", "c"), r.sadd("s", "a", "d"), r.scard("s"), r.srem("s", "d", "x")), (3, 1, 4, 1))
        equal((r.smembers("s"), r.smembers("nosuch")), ({"a", "b", "c"}, set()))
        equal((r.sismember("s", "a"), r.smismember("s", ["a", "x"]), r.smove("s", "t", "a")), (1, [1, 0], True))
        r.sadd("t", "b")
        equal((set(r.sunion("s", "t")), set(r.sinter("s", "t")), set(r.sdiff("s", "t"))),
              ({"a", "b", "c"}, {"b"}, {"c"}))
        equal((r.sunionstore("u", "s", "t"), r.sinterstore("i", "s", "t"), r.sdiffstore("d", "s", "t"),
               r.sintercard(2, ["s", "t"])), (3, 1, 1, 1))
        equal((r.srandmember("i"), set(r.srandmember("u", 9)), r.spop("i"), r.exists("i")),
              ("b", {"a", "b", "c"}, "b", 0))
        equal(set(r.spop("u", 9)), {"a", "b", "c"})
        equal((r.sadd("numbers", 3, 1, 2), r.object("encoding", "numbers"), r.sort("numbers")),
              (3, "intset", ["1", "2", "3"]))


@check("scans visit all members and fields")
def _(protocol):
    with connect(protocol) as r:
        names = {f"m:{i}" for i in range(1000)}
        r.sadd("s", *names)
        r.zadd("z", {name: 1.5 for name in names})
        r.hset("h", mapping={name: "v" for name in names})
        equal(set(r.sscan_iter("s", count=50)), names)
        equal(set(pairs(r.zscan_iter("z"))), {(name, 1.5) for name in names})
        equal(dict(r.hscan_iter("h", count=7)), dict.fromkeys(names, "v"))
        equal(set(r.hscan_iter("h", no_values=True)), names)
        equal(set(r.sscan_iter("s", match="m:99?")), {f"m:99{i}" for i in range(10)})
        equal(sorted(r.scan_iter(_type="zset")), ["z"])


@check("a pipeline changes values of all types")
def _(protocol):
    with connect(protocol) as r, r.pipeline() as pipe:
        pipe.zadd("z", {"a": 1}).hset("h", "f", "v").sadd("s", "m").zrange("z", 0, -1).hgetall("h").smembers("s")
        equal(pipe.execute(), [1, 1, 1, ["a"], {"f": "v"}, {"m"}])
