"""The requests that are counted: what each needs in the keyspace, and how they are sent."""
import hashlib
from collections import namedtuple

from resp import encode

# `prepare` runs before each count, on an empty keyspace; `requests` go out `pipeline` at a time, over a unix socket or
# TLS.
Case = namedtuple("Case", "prepare requests pipeline by_tls", defaults=[16, False])
COUNT = 1600


def request(*words):
    return encode(words)


def key(number):
    return "key:%06d" % number


def element(number):
    return "element-%06d" % number


def strings(keys):
    return [request("SET", key(i), element(i)) for i in keys]


def a_list(length):
    """Requests that fill the key `list`, 100 elements at a time."""
    return [request("RPUSH", "list", *map(element, range(i, min(i + 100, length))))
            for i in range(0, length, 100)]


def pushes(command):
    return [request(command, "list", element(i)) for i in range(COUNT)]


def a_zset(members):
    """Requests that fill the key `zset`, 100 members at a time; scores differ."""
    return [request("ZADD", "zset", *[part for j in range(i, min(i + 100, members)) for part in (j, element(j))])
            for i in range(0, members, 100)]


def a_hyperloglog(elements):
    """Requests that fill the key `hll`."""
    return [request("PFADD", "hll", *map(element, range(elements)))]


def place(number):
    """A longitude and a latitude, one of many in a region of some 100 x 100 km."""
    return 13 + number * 7919 % 10_007 / 7000, 52 + number * 104_729 % 10_009 / 11_000


def places(members):
    """Requests that fill the key `places`, 100 members at a time."""
    return [request("GEOADD", "places", *[part for j in range(i, min(i + 100, members))
                                          for part in (*place(j), element(j))]) for i in range(0, members, 100)]


def a_set(members, name="set"):
    """Requests that fill a set, 100 members at a time."""
    return [request("SADD", name, *map(element, range(i, min(i + 100, members)))) for i in range(0, members, 100)]


def a_hash(fields):
    """Requests that fill the key `hash`, 100 fields at a time."""
    return [request("HSET", "hash", *[part for j in range(i, min(i + 100, fields)) for part in (element(j), j)])
            for i in range(0, fields, 100)]


def a_stream(length):
    """Requests that fill the key `stream`; the ids are 1-0, 2-0 …"""
    return [request("XADD", "stream", f"{i}-0", "field", element(i)) for i in range(1, length + 1)]


def a_group(length, pending=0):
    """Requests that fill the key `stream`, of which a group then has read the first entries."""
    read = [read_new("first", pending)] if pending else []
    return [*a_stream(length), request("XGROUP", "CREATE", "stream", "group", 0), *read]


def read_new(consumer, count):
    return request("XREADGROUP", "GROUP", "group", consumer, "COUNT", count, "STREAMS", "stream", ">")


def eval_of(script, *arguments):
    return request("EVAL", script, *arguments)


def evalsha_of(script, *arguments):
    return request("EVALSHA", hashlib.sha1(script.encode()).hexdigest(), *arguments)


def as_user(*prepare):
    """Requests that end as a user who may use only some keys."""
    return [*prepare, request("ACL", "SETUSER", "app", "reset", "on", "nopass", "~app:*", "+@all"),
            request("AUTH", "app", "any")]


def as_tracker(*prepare):
    """Requests that end as a client that tracks keys, and is told of their changes."""
    return [*prepare, request("HELLO", 3), request("CLIENT", "TRACKING", "ON")]


def all_cases():
    """{name: Case}; the names stand in the file of figures."""
    getting = "return redis.call('GET', KEYS[1])"
    reading = "redis.setresp(3) return redis.call('HGETALL', KEYS[1])"
    pushing = "for i = 1, 30 do redis.call('RPUSH', KEYS[1], ARGV[1]) end"
    library = f"#!lua name=a\nredis.register_function('a', function(KEYS) {getting} end)"
    big, middle = a_list(100_000), range(50_000, 50_000 + COUNT)
    return {
        "PING, one at a time": Case([], [request("PING")] * 400, 1),
        "PING": Case([], [request("PING")] * COUNT),
        "SET": Case(strings([1]), strings([1]) * COUNT),
        "SET, 10000 keys": Case(strings(range(10_000)), strings(range(0, 10_000, 5))),
        "GET": Case(strings([1]), [request("GET", key(1))] * COUNT),
        "GET, 10000 keys": Case(strings(range(10_000)), [request("GET", key(i)) for i in range(0, 10_000, 5)]),
        "GET, user with ~app:*": Case(as_user(request("SET", "app:000001", element(1))),
                                      [request("GET", "app:000001")] * COUNT),
        "SET, user with ~app:*": Case(as_user(), [request("SET", "app:000001", element(1))] * COUNT),
        "LPUSH, user with ~app:*": Case(as_user(), [request("LPUSH", "app:list", element(i)) for i in range(COUNT)]),
        "GET over TLS, one at a time": Case(strings([1]), [request("GET", key(1))] * 400, 1, by_tls=True),
        "GET over TLS": Case(strings([1]), [request("GET", key(1))] * COUNT, by_tls=True),
        "INCR": Case([], [request("INCR", "number")] * COUNT),
        "LPUSH": Case([], pushes("LPUSH")),
        "RPUSH": Case([], pushes("RPUSH")),
        "LPUSH, 6000 new keys": Case([], [request("LPUSH", key(i), element(i)) for i in range(6000)]),
        "LPOP": Case(a_list(2 * COUNT), [request("LPOP", "list")] * COUNT),
        "RPOP": Case(a_list(2 * COUNT), [request("RPOP", "list")] * COUNT),
        "LLEN": Case(a_list(300), [request("LLEN", "list")] * COUNT),
        "LRANGE, 100 of a listpack": Case(a_list(100), [request("LRANGE", "list", 0, -1)] * 160),
        "LRANGE, 300 of a quicklist": Case(a_list(3000), [request("LRANGE", "list", 1000, 1299)] * 160, 4),
        "LINDEX, middle of 100000": Case(big, [request("LINDEX", "list", i) for i in middle]),
        "LSET, middle of 100000": Case(big, [request("LSET", "list", i, element(-i)) for i in middle]),
        "LINSERT, behind the 50th": Case(a_list(100), [
            request("LINSERT", "list", "AFTER", element(49), element(i)) for i in range(160)]),
        "LPOS, last of 100": Case(a_list(100), [request("LPOS", "list", element(99))] * 160),
        "LMOVE": Case(a_list(COUNT), [request("LMOVE", "list", "list", "RIGHT", "LEFT")] * COUNT),
        "LMOVEM, 10 of 100": Case(a_list(100), [
            request("LMOVEM", "list" if i % 20 < 10 else "other", "other" if i % 20 < 10 else "list", "LEFT", "RIGHT",
                    "COUNT", 10, "BULK") for i in range(COUNT)]),
        "RPUSHBOUND, of 100": Case(a_list(100), [request("RPUSHBOUND", "list", 100, element(i)) for i in range(COUNT)]),
        "LTRIM by one": Case(a_list(2 * COUNT), [request("LTRIM", "list", 1, -1)] * COUNT),
        "ZADD": Case([], [request("ZADD", "zset", i * 7919 % COUNT, element(i)) for i in range(COUNT)]),
        "ZADD, another score": Case(a_zset(10_000), [
            request("ZADD", "zset", i * 7919 % 10_000, element(i)) for i in range(COUNT)]),
        "ZSCORE, of 100": Case(a_zset(100), [request("ZSCORE", "zset", element(i % 100)) for i in range(COUNT)]),
        "ZSCORE, of 10000": Case(a_zset(10_000), [
            request("ZSCORE", "zset", element(i * 7919 % 10_000)) for i in range(COUNT)]),
        "ZRANK, of 10000": Case(a_zset(10_000), [
            request("ZRANK", "zset", element(i * 7919 % 10_000)) for i in range(COUNT)]),
        "ZRANGE, first of 129": Case(a_zset(129), [request("ZRANGE", "zset", 0, 0)] * COUNT),
        "ZRANGE, 100 of 10000": Case(a_zset(10_000), [request("ZRANGE", "zset", 5000, 5099)] * 160),
        "ZPOPMIN": Case(a_zset(2 * COUNT), [request("ZPOPMIN", "zset")] * COUNT),
        "ZRANGE WITHSCORES, 10 of 100": Case(a_zset(100), [request("ZRANGE", "zset", 50, 59, "WITHSCORES")] * COUNT),
        "ZRANGEBYSCORE LIMIT, 10 of 10000": Case(a_zset(10_000), [
            request("ZRANGEBYSCORE", "zset", i * 7919 % 9000, "+inf", "LIMIT", 0, 10) for i in range(COUNT)]),
        "ZINCRBY, of 10000": Case(a_zset(10_000), [
            request("ZINCRBY", "zset", 1, element(i * 7919 % 10_000)) for i in range(COUNT)]),
        "GEOADD": Case([], [request("GEOADD", "places", *place(i), element(i)) for i in range(COUNT)]),
        "GEOSEARCH, 10 ANY of 10000": Case(places(10_000), [
            request("GEOSEARCH", "places", "FROMLONLAT", *place(i), "BYRADIUS", 10, "km", "COUNT", 10, "ANY")
            for i in range(160)]),
        "GEOSEARCH, 10 nearest of 10000": Case(places(10_000), [
            request("GEOSEARCH", "places", "FROMLONLAT", *place(i), "BYRADIUS", 10, "km", "COUNT", 10, "ASC")
            for i in range(160)]),
        "HSET": Case([], [request("HSET", "hash", element(i), i) for i in range(COUNT)]),
        "HGET, of 10": Case(a_hash(10), [request("HGET", "hash", element(i % 10)) for i in range(COUNT)]),
        "HGET, of 10000": Case(a_hash(10_000), [
            request("HGET", "hash", element(i * 7919 % 10_000)) for i in range(COUNT)]),
        "HGETALL, of 10": Case(a_hash(10), [request("HGETALL", "hash")] * COUNT),
        "HINCRBY": Case(a_hash(10), [request("HINCRBY", "hash", element(5), 1)] * COUNT),
        "SADD": Case([], [request("SADD", "set", element(i)) for i in range(COUNT)]),
        "SISMEMBER, of 10000": Case(a_set(10_000), [
            request("SISMEMBER", "set", element(i * 7919 % 10_000)) for i in range(COUNT)]),
        "SPOP": Case(a_set(2 * COUNT), [request("SPOP", "set")] * COUNT),
        "SMEMBERS, of 100": Case(a_set(100), [request("SMEMBERS", "set")] * 160),
        "SINTER, of two of 100": Case(a_set(100) + a_set(100, "other"), [request("SINTER", "set", "other")] * 160),
        "EVALSHA of a GET": Case([*strings([1]), request("SCRIPT", "LOAD", getting)],
                                 [evalsha_of(getting, 1, key(1))] * COUNT),
        "EVALSHA of an HGETALL in RESP3": Case([*a_hash(10), request("SCRIPT", "LOAD", reading)],
                                               [evalsha_of(reading, 1, "hash")] * COUNT),
        "EVAL of 30 RPUSHes": Case([], [eval_of(pushing, 1, "list", element(1))] * 160),
        "FCALL of a GET": Case([*strings([1]), request("FUNCTION", "LOAD", "REPLACE", library)],
                               [request("FCALL", "a", 1, key(1))] * COUNT),
        "PFADD, dense": Case([*a_hyperloglog(1000), request("PFDEBUG", "TODENSE", "hll")], [
            request("PFADD", "hll", element(i)) for i in range(COUNT)]),
        "PFADD, sparse of 500": Case(a_hyperloglog(500), [
            request("PFADD", "hll", element(i % 500)) for i in range(COUNT)]),
        "PFCOUNT, up to date": Case([*a_hyperloglog(500), request("PFCOUNT", "hll")], [
            request("PFCOUNT", "hll")] * COUNT),
        "PFADD and PFCOUNT, sparse": Case(a_hyperloglog(500), [
            part for i in range(COUNT // 2) for part in (request("PFADD", "hll", i), request("PFCOUNT", "hll"))]),
        "XADD": Case([], [request("XADD", "stream", "*", "field", element(i)) for i in range(COUNT)]),
        "XADD with MAXLEN ~ 1000": Case(a_stream(2000), [
            request("XADD", "stream", "MAXLEN", "~", 1000, "*", "field", element(i)) for i in range(COUNT)]),
        "XRANGE, 100 of 2000": Case(a_stream(2000), [request("XRANGE", "stream", 1000, "+", "COUNT", 100)] * 160),
        "XREAD, the last one": Case(a_stream(2000), [request("XREAD", "STREAMS", "stream", "1999-0")] * COUNT),
        "XREADGROUP, one new": Case(a_group(2 * COUNT), [read_new("first", 1)] * COUNT),
        "XREADGROUP, ten new": Case(a_group(2 * COUNT), [read_new("first", 10)] * 160),
        "XACK, the oldest": Case(a_group(COUNT, COUNT), [request("XACK", "stream", "group", f"{i}-0") for i in
                                                         range(1, COUNT + 1)]),
        "XAUTOCLAIM, ten of 1600": Case(a_group(COUNT, COUNT), [
            request("XAUTOCLAIM", "stream", "group", "second", 0, 10 * i, "COUNT", 10) for i in range(160)]),
        "BLPOP without waiting": Case(a_list(2 * COUNT), [request("BLPOP", "list", 0)] * COUNT),
        # The last ones: a connection that has tracked keys is looked at more closely from then on.
        "GET, tracked": Case(as_tracker(*strings([1])), [request("GET", key(1))] * COUNT),
        "GET, 10000 keys, tracked": Case(as_tracker(*strings(range(10_000))), [
            request("GET", key(i)) for i in range(0, 10_000, 5)]),
        "GET and SET of a key, tracked": Case(as_tracker(), [
            request("GET", key(1)), request("SET", key(1), element(1))] * (COUNT // 2)),
    }
