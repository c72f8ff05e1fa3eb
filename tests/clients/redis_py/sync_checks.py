"""redis-py's synchronous interface."""
import time

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.cache import CacheConfig
from redis.retry import Retry

from checks import PATIENCE, PORT, Checks, equal, in_thread, raises, wait_blocked, wait_until

check = Checks()


def connect(protocol, **options):
    options = {"port": PORT, "protocol": protocol, "decode_responses": True, **options}
    return redis.Redis(**options)


def one_message(subscription):
    message = subscription.get_message(timeout=PATIENCE)
    assert message, "no message came"
    return message["type"], message["channel"], message["data"]


def kill(admin, client):
    """Cuts the one connection of a client off, as an operator would."""
    equal(admin.client_kill_filter(_id=client.client_id()), 1)


# --- Connecting ---

@check("a connection names itself and its library")
def _(protocol):
    with connect(protocol, client_name="worker") as r:
        info = r.client_info()
        equal((info["name"], info["lib-name"], info["resp"]), ("worker", "redis-py", str(protocol)))
        equal(info["lib-ver"], redis.__version__)
        equal(r.client_getname(), "worker")


@check("a URL chooses the database")
def _(protocol):
    with redis.from_url(f"redis://127.0.0.1:{PORT}/5?protocol={protocol}") as r, connect(protocol) as other:
        r.set("k", "v")
        equal((int(r.client_info()["db"]), r.dbsize(), other.dbsize()), (5, 1, 0))


@check("a URL leads to a unix socket")
def _(protocol):
    with connect(protocol) as other:
        path = other.config_get("unixsocket")["unixsocket"]
        with redis.from_url(f"unix://{path}?db=5&protocol={protocol}", decode_responses=True) as r:
            r.set("k", "v")
            info = r.client_info()
            equal((info["addr"], int(info["db"]), r.get("k")), (f"{path}:0", 5, "v"))
            equal((r.dbsize(), other.dbsize()), (1, 0))


@check("what is sent comes back, byte for byte")
def _(protocol):
    everything = bytes(range(256)) * 1000
    with connect(protocol, decode_responses=False) as r:
        r.set(b"\x00\r\n\xff", everything)
        equal(r.get(b"\x00\r\n\xff"), everything)
        equal(r.echo(everything), everything)
    with connect(protocol) as r:
        r.rpush("l", "Grüße", 17, 1.5)
        equal(r.lrange("l", 0, -1), ["Grüße", "17", "1.5"])


@check("errors become the exceptions of their kind")
def _(protocol):
    with connect(protocol) as r:
        r.set("s", "text")
        raises(redis.ResponseError, "WRONGTYPE", r.rpush, "s", "x")
        raises(redis.ResponseError, "value is not an integer or out of range", r.incr, "s")
        raises(redis.ResponseError, "unknown command 'NOSUCH'", r.execute_command, "NOSUCH", "k")
        raises(redis.ResponseError, "no such key", r.rename, "nosuch", "k")
        equal(r.get("s"), "text")


# --- Values ---

@check("strings are set, read and counted with every option")
def _(protocol):
    with connect(protocol) as r:
        equal((r.set("k", "1", nx=True), r.set("k", "2", nx=True), r.set("k", "3", xx=True, get=True)),
              (True, None, "1"))
        equal((r.incr("k"), r.incrby("k", 10), r.decr("k"), r.incrbyfloat("k", 0.5)), (4, 14, 13, 13.5))
        equal((r.append("k", "!"), r.strlen("k"), r.getrange("k", 1, -2), r.setrange("k", 0, "9")),
              (5, 5, "3.5", 5))
        equal((r.getdel("k"), r.get("k")), ("93.5!", None))
        equal((r.mset({"a": "1", "b": "2"}), r.mget("a", "nosuch", "b")), (True, ["1", None, "2"]))
        equal((r.msetnx({"a": "3", "c": "3"}), r.exists("a", "b", "c")), (False, 2))
        equal((r.setbit("bits", 7, 1), r.getbit("bits", 7), r.bitcount("bits"), r.bitpos("bits", 1)),
              (0, 1, 1, 7))
        equal(r.bitfield("bits").set("u8", 8, 200).incrby("u8", 8, 100).execute(), [0, 44])


@check("keys expire, and TTL shows when")
def _(protocol):
    with connect(protocol) as r:
        r.set("soon", "v", px=30)
        r.set("later", "v", ex=100)
        assert 90 < r.ttl("later") <= 100
        equal((r.ttl("nosuch"), r.persist("later"), r.ttl("later")), (-2, True, -1))
        equal((r.expire("later", 50, nx=True), r.expire("later", 10, gt=True), r.pexpire("later", 9000, lt=True)),
              (True, False, True))
        assert 1000 < r.pttl("later") <= 9000
        assert abs(r.expiretime("later") - time.time()) < 15
        equal((r.getex("later", persist=True), r.ttl("later")), ("v", -1))
        wait_until(lambda: not r.exists("soon"))
        equal((r.get("soon"), r.dbsize()), (None, 1))


@check("lists do all that the client knows of them")
def _(protocol):
    with connect(protocol) as r:
        equal((r.rpush("l", *"abcde"), r.lpush("l", "z"), r.llen("l"), r.lindex("l", 1)), (5, 6, 6, "a"))
        equal((r.lpop("l"), r.rpop("l", 2), r.lpop("nosuch"), r.lpop("nosuch", 3)), ("z", ["e", "d"], None, None))
        equal((r.linsert("l", "BEFORE", "b", "x"), r.lset("l", 0, "A"), r.lrem("l", 0, "x")), (4, True, 1))
        equal((r.lpos("l", "b"), r.lpos("l", "c", count=0), r.lpos("l", "nosuch")), (1, [2], None))
        equal((r.lmove("l", "m", "LEFT", "RIGHT"), r.rpoplpush("l", "m"), r.lrange("m", 0, -1)),
              ("A", "c", ["c", "A"]))
        equal((r.lmpop(2, "nosuch", "m", direction="RIGHT", count=5), r.exists("m")), (["m", ["A", "c"]], 0))
        equal((r.rpush("l", *range(10)), r.ltrim("l", -3, -1), r.lrange("l", 0, -1)), (11, True, ["7", "8", "9"]))


@check("keys are looked up, moved, copied and sorted")
def _(protocol):
    with connect(protocol) as r:
        for i in range(500):
            r.rpush(f"key:{i}", "x")
        equal(len(set(r.scan_iter(match="key:4*", count=50))), 111)
        equal((r.type("key:1"), r.object("encoding", "key:1"), r.unlink("key:1", "key:2")), ("list", "listpack", 2))
        equal((r.rename("key:3", "new"), r.renamenx("key:4", "key:5"), r.copy("new", "copy")), (True, False, True))
        equal((r.move("copy", 1), r.exists("copy"), r.touch("new", "copy")), (True, 0, 1))
        r.rpush("numbers", 3, 1, 2)
        equal((r.sort("numbers", desc=True), r.sort("numbers", start=0, num=2, store="sorted")), (["3", "2", "1"], 2))
        r.mset({"name:1": "one", "name:2": "two", "name:3": "three"})
        equal(r.sort("numbers", get=["#", "name:*"], groups=True), [("1", "one"), ("2", "two"), ("3", "three")])


# --- Blocking ---

@check("a blocking pop waits for an element, or in vain")
def _(protocol):
    with connect(protocol) as r, connect(protocol) as pusher:
        start = time.monotonic()
        equal(r.blpop("q", timeout=0.05), None)
        assert time.monotonic() - start >= 0.05
        for call, wanted in ((lambda: r.blpop(["p", "q"]), ["q", "job"]),
                             (lambda: r.brpop("q", timeout=PATIENCE), ["q", "job"]),
                             (lambda: r.blmove("q", "done", PATIENCE), "job"),
                             (lambda: r.brpoplpush("q", "done", PATIENCE), "job"),
                             (lambda: r.blmpop(PATIENCE, 2, "p", "q", direction="LEFT"), ["q", ["job"]])):
            join = in_thread(call)
            wait_blocked(pusher, 1)
            pusher.rpush("q", "job")
            got = join()
            equal(list(got) if isinstance(got, tuple) else got, wanted)
        equal(r.lrange("done", 0, -1), ["job", "job"])


@check("workers of a pool share a queue's jobs among them")
def _(protocol):
    with connect(protocol, max_connections=10) as r:
        def work():
            done = []
            while (item := r.blpop("jobs", timeout=PATIENCE)) and item[1] != "stop":
                done.append(item[1])
            return done
        workers = [in_thread(work) for _ in range(5)]
        wait_blocked(r, 5)
        jobs = [f"job:{i}" for i in range(1000)]
        for job in jobs:
            r.rpush("jobs", job)
        r.rpush("jobs", *["stop"] * 5)
        equal(sorted(job for join in workers for job in join()), sorted(jobs))


# --- Pools and retries ---

@check("a pool reuses its connections and keeps to its maximum")
def _(protocol):
    pool = redis.ConnectionPool(port=PORT, protocol=protocol, max_connections=2)
    r = redis.Redis(connection_pool=pool)
    ids = {r.client_id() for _ in range(20)}
    equal(len(ids), 1)
    held = [pool.get_connection(), pool.get_connection()]
    raises(redis.ConnectionError, "Too many connections", r.ping)
    for connection in held:
        pool.release(connection)
    equal(r.ping(), True)
    pool.disconnect()


@check("a blocking pool makes twenty threads wait for four connections")
def _(protocol):
    pool = redis.BlockingConnectionPool(port=PORT, protocol=protocol, max_connections=4, timeout=PATIENCE)
    r = redis.Redis(connection_pool=pool)
    joins = [in_thread(lambda: {(r.incr("n"), r.client_id())[1] for _ in range(50)}) for _ in range(20)]
    ids = set().union(*(join() for join in joins))
    assert len(ids) <= 4, ids
    equal(r.get("n"), b"1000")
    pool.disconnect()


@check("a connection that was cut off is opened again and the command retried")
def _(protocol):
    retry = Retry(ExponentialBackoff(cap=0.1, base=0.01), 3)
    with connect(protocol, retry=retry, health_check_interval=1) as r, connect(protocol) as admin:
        for _ in range(3):
            before = r.client_id()
            kill(admin, r)
            equal(r.set("k", "v"), True)
            assert r.client_id() != before


@check("without retries the cut is an error, and the next command opens a connection")
def _(protocol):
    with connect(protocol, retry=Retry(NoBackoff(), 0)) as r, connect(protocol) as admin:
        with r.pipeline(transaction=False) as pipe:
            pipe.watch("k")
            equal(admin.client_kill_filter(_id=int(pipe.client_id())), 1)
            raises(redis.WatchError, "ConnectionError", pipe.get, "k")
        equal(r.ping(), True)


@check("a subscription survives the loss of its connection")
def _(protocol):
    with connect(protocol) as r, r.pubsub() as subscription:
        subscription.subscribe("news")
        equal(one_message(subscription), ("subscribe", "news", 1))
        equal(r.client_kill_filter(_type="pubsub"), 1)
        equal(one_message(subscription), ("subscribe", "news", 1))
        wait_until(lambda: r.publish("news", "still there") == 1)
        equal(one_message(subscription), ("message", "news", "still there"))


# --- Pipelines and transactions ---

@check("pipelines answer in order, with and without a transaction")
def _(protocol):
    with connect(protocol) as r:
        for transaction in (False, True):
            r.flushall()
            with r.pipeline(transaction=transaction) as pipe:
                for i in range(5000):
                    pipe.rpush("l", i)
                pipe.lrange("l", 0, 2).llen("l").set("k", "v").get("k")
                equal(pipe.execute(), [*range(1, 5001), ["0", "1", "2"], 5000, True, "v"])
                equal(pipe.execute(), [])


@check("an error in a pipeline stands in its place")
def _(protocol):
    with connect(protocol) as r:
        for transaction in (False, True):
            r.set("s", "text")
            with r.pipeline(transaction=transaction) as pipe:
                first, error, last = pipe.get("s").rpush("s", "x").strlen("s").execute(raise_on_error=False)
                equal((first, last, type(error)), ("text", 4, redis.ResponseError))
                raises(redis.ResponseError, "Command # 2 (LPOP s) of pipeline caused error: WRONGTYPE",
                       pipe.get("s").lpop("s").execute)


@check("a transaction with a command that can't be queued does nothing")
def _(protocol):
    with connect(protocol) as r, r.pipeline() as pipe:
        raises(redis.ResponseError, "unknown command", pipe.set("k", "v").execute_command("NOSUCH").execute)
        equal(r.exists("k"), 0)


@check("a watched key that changed stops the transaction")
def _(protocol):
    with connect(protocol) as r, r.pipeline() as pipe:
        pipe.watch("k")
        r.set("k", "other")
        pipe.multi()
        raises(redis.WatchError, "", pipe.set("k", "mine").execute)
        pipe.watch("k")
        equal(pipe.get("k"), "other")
        pipe.multi()
        equal(pipe.set("k", "mine").get("k").execute(), [True, "mine"])


@check("ten threads count through optimistic transactions without a loss")
def _(protocol):
    with connect(protocol) as r:
        def bump(pipe):
            value = int(pipe.get("n") or 0)
            pipe.multi()
            pipe.set("n", value + 1)
        for join in [in_thread(lambda: [r.transaction(bump, "n") for _ in range(10)]) for _ in range(10)]:
            equal(join(), [[True]] * 10)
        equal(r.get("n"), "100")


@check("a blocking command in a transaction does not block")
def _(protocol):
    with connect(protocol) as r, r.pipeline() as pipe:
        equal(pipe.blpop("nosuch", 0).rpush("l", "a").brpop("l", 0).execute(), [None, 1, ["l", "a"]]
              if protocol == 3 else [None, 1, ("l", "a")])


# --- Locks ---

@check("a lock is held by one until it runs out")
def _(protocol):
    with connect(protocol) as r:
        first, second = r.lock("lock", timeout=3600, sleep=0.01), r.lock("lock", timeout=3600, sleep=0.01)
        assert first.acquire()
        assert not second.acquire(blocking=False)
        equal((first.owned(), second.owned(), second.locked()), (True, False, True))
        r.pexpire("lock", 50)
        assert second.acquire(blocking_timeout=PATIENCE), "the lock did not run out"
        equal((first.owned(), second.owned()), (False, True))
        assert 0 < r.pttl("lock") <= 3600000


# --- Pub/sub ---

@check("messages reach channels, patterns and handlers")
def _(protocol):
    with connect(protocol) as r, r.pubsub() as subscription:
        handled = []
        subscription.subscribe("news", sport=handled.append)
        subscription.psubscribe("n?ws")
        equal([one_message(subscription) for _ in range(3)],
              [("subscribe", "news", 1), ("subscribe", "sport", 2), ("psubscribe", "n?ws", 3)])
        equal((r.publish("news", "hello"), r.publish("sport", "2:1"), r.publish("none", "x")), (2, 1, 0))
        equal([one_message(subscription) for _ in range(2)],
              [("message", "news", "hello"), ("pmessage", "news", "hello")])
        wait_until(lambda: subscription.get_message(timeout=0.01) or handled)
        equal(handled[0]["data"], "2:1")
        equal((sorted(r.pubsub_channels()), r.pubsub_numpat(), dict(r.pubsub_numsub("news", "none"))),
              (["news", "sport"], 1, {"news": 1, "none": 0}))
        if protocol == 2:  # in RESP3 the client takes the reply for a message
            subscription.ping("still here")
            equal(one_message(subscription)[0::2], ("pong", "still here"))
        subscription.unsubscribe()
        subscription.punsubscribe("n?ws")
        gone = [one_message(subscription) for _ in range(3)]
        equal((sorted(channel for _, channel, _ in gone), [left for _, _, left in gone]),
              (["n?ws", "news", "sport"], [2, 1, 0]))


@check("shard channels are channels of their own")
def _(protocol):
    with connect(protocol) as r, r.pubsub() as subscription:
        subscription.ssubscribe("news")
        equal(one_message(subscription), ("ssubscribe", "news", 1))
        equal((r.publish("news", "x"), r.execute_command("SPUBLISH", "news", "hello")), (0, 1))
        equal(one_message(subscription), ("smessage", "news", "hello"))
        equal((r.pubsub_shardchannels(), r.pubsub_channels()), (["news"], []))


@check("a thread of listeners hears of keys that change and expire")
def _(protocol):
    with connect(protocol) as r, r.pubsub(ignore_subscribe_messages=True) as subscription:
        heard = []
        r.config_set("notify-keyspace-events", "KEA")
        subscription.psubscribe(**{"__key*@0__:*": lambda message: heard.append((message["channel"], message["data"]))})
        wait_until(lambda: r.pubsub_numpat() == 1)
        thread = subscription.run_in_thread(sleep_time=0.01)
        try:
            r.rpush("l", "x")
            r.set("k", "v", px=20)
            wait_until(lambda: ("__keyevent@0__:expired", "k") in heard)
        finally:
            thread.stop()
            thread.join()
            r.config_set("notify-keyspace-events", "")
        equal(heard[:2], [("__keyspace@0__:l", "rpush"), ("__keyevent@0__:rpush", "l")])
        assert ("__keyspace@0__:k", "expire") in heard, heard


# --- What operators look at ---

@check("MONITOR shows commands with their arguments")
def _(protocol):
    with connect(protocol) as r, r.monitor() as monitor:
        r.set("k", 'a "quoted" value\n')
        shown = next(command for command in monitor.listen() if command["command"].startswith("SET"))
        equal((shown["db"], shown["command"]), (0, 'SET k a "quoted" value\\n'))


@check("the figures and switches of operators are understood")
def _(protocol):
    with connect(protocol) as r:
        r.rpush("l", *range(100))
        info = r.info()
        equal((info["db0"]["keys"], info["loading"], info["role"]), (1, 0, "master"))
        assert info["used_memory"] > 0 and r.info("commandstats")["cmdstat_rpush"]["calls"] > 0
        equal((r.config_set("maxmemory-policy", "allkeys-lru"), r.config_get("maxmemory-p*")),
              (True, {"maxmemory-policy": "allkeys-lru"}))
        equal(r.config_set("maxmemory-policy", "noeviction"), True)
        assert r.memory_usage("l") > 100 and r.memory_stats()["keys.count"] == 1
        assert abs(r.time()[0] - time.time()) < 100 and r.command_count() > 100
        equal(r.command_getkeys("MGET", "a", "b"), ["a", "b"])
        r.config_set("slowlog-log-slower-than", 0)
        r.get("l2")
        r.config_set("slowlog-log-slower-than", 10000)
        assert any(entry["command"] in (b"GET l2", "GET l2") for entry in r.slowlog_get()), r.slowlog_get()
        equal((r.slowlog_reset(), r.slowlog_len(), r.latency_latest()), (True, 0, []))
        equal([client["lib-name"] for client in r.client_list(_type="normal")].count("redis-py") > 0, True)
        equal((r.client_pause(1), r.client_unpause(), r.client_no_evict("ON")), (True, "OK", "OK"))
        equal(r.client_setname("me") and r.client_getname(), "me")


# --- Its cache ---

@check("a cached read needs no server, another client's write is seen, a lost connection empties the cache")
def _(protocol):
    if protocol == 2:
        return  # the cache needs RESP3

    def gets():
        return admin.info("commandstats")["cmdstat_get"]["calls"]

    with connect(2) as admin, connect(3, cache_config=CacheConfig()) as r:
        admin.set("k", "1")
        equal(r.get("k"), "1")
        before = gets()
        equal({r.get("k") for _ in range(10)}, {"1"})
        equal(gets(), before)
        admin.set("k", "2")
        wait_until(lambda: r.get("k") == "2")
        admin.flushall()
        wait_until(lambda: r.get("k") is None)
        admin.set("k", "3")
        wait_until(lambda: r.get("k") == "3")
        admin.client_kill_filter(_type="normal", skipme=True)
        admin.set("k", "4")
        wait_until(lambda: r.get("k") == "4")
