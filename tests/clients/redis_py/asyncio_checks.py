"""redis-py's asyncio interface."""
import asyncio
import time

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff

from checks import PATIENCE, PORT, Checks, equal

check = Checks()


def connect(protocol, **options):
    options = {"port": PORT, "protocol": protocol, "decode_responses": True, **options}
    return redis.Redis(**options)


async def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not await condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.005)


async def wait_blocked(admin, count):
    async def are_blocked():
        return (await admin.info("clients"))["blocked_clients"] == count
    await wait_until(are_blocked)


async def one_message(subscription):
    message = await subscription.get_message(timeout=PATIENCE)
    assert message, "no message came"
    return message["type"], message["channel"], message["data"]


@check("asyncio: two hundred tasks share a pool of ten connections")
async def _(protocol):
    pool = redis.BlockingConnectionPool(port=PORT, protocol=protocol, max_connections=10, timeout=PATIENCE)
    async with redis.Redis(connection_pool=pool) as r:
        async def work(i):
            await r.set(f"k:{i}", i)
            return await r.incr("n"), int(await r.get(f"k:{i}")), await r.client_id()
        results = await asyncio.gather(*(work(i) for i in range(200)))
        equal(sorted(n for n, _, _ in results), list(range(1, 201)))
        equal([i for _, i, _ in results], list(range(200)))
        assert len({client for _, _, client in results}) <= 10
    await pool.aclose()


@check("asyncio: pipelines answer in order, with and without a transaction")
async def _(protocol):
    async with connect(protocol) as r:
        for transaction in (False, True):
            await r.flushall()
            async with r.pipeline(transaction=transaction) as pipe:
                for i in range(1000):
                    pipe.rpush("l", i)
                equal(await pipe.lpop("l").llen("l").execute(), [*range(1, 1001), "0", 999])
                error = (await pipe.incr("l").get("n").execute(raise_on_error=False))[0]
                equal((type(error), str(error)[:9]), (redis.ResponseError, "WRONGTYPE"))


@check("asyncio: a watched key that changed stops the transaction")
async def _(protocol):
    async with connect(protocol) as r:
        async def bump(pipe):
            value = int(await pipe.get("n") or 0)
            pipe.multi()
            pipe.set("n", value + 1)
        await asyncio.gather(*(r.transaction(bump, "n") for _ in range(20)))
        equal(await r.get("n"), "20")
        async with r.pipeline() as pipe:
            await pipe.watch("n")
            await r.incr("n")
            pipe.multi()
            pipe.set("n", 0)
            try:
                got = await pipe.execute()
                raise AssertionError(f"got {got}")
            except redis.WatchError:
                pass


@check("asyncio: blocking pops are served in the order in which they came")
async def _(protocol):
    async with connect(protocol) as r:
        equal(await r.blpop("q", timeout=0.05), None)
        waiting = []
        for i in range(10):
            waiting.append(asyncio.create_task(r.blpop(["q", f"own:{i}"])))
            await wait_blocked(r, i + 1)
        await r.rpush("q", *range(10))
        equal([(await task)[1] for task in waiting], [str(i) for i in range(10)])


@check("asyncio: a pop that is cancelled takes nothing")
async def _(protocol):
    async with connect(protocol) as r:
        task = asyncio.create_task(r.blpop("q"))
        await wait_blocked(r, 1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await wait_blocked(r, 0)
        equal((await r.rpush("q", "job"), await r.lpop("q")), (1, "job"))


@check("asyncio: messages reach channels, patterns and shard channels")
async def _(protocol):
    async with connect(protocol) as r, r.pubsub() as subscription:
        await subscription.subscribe("news")
        await subscription.psubscribe("n*")
        await subscription.ssubscribe("shard")
        equal([await one_message(subscription) for _ in range(3)],
              [("subscribe", "news", 1), ("psubscribe", "n*", 2), ("ssubscribe", "shard", 1)])
        equal((await r.publish("news", "hello"), await r.execute_command("SPUBLISH", "shard", "s")), (2, 1))
        equal([await one_message(subscription) for _ in range(3)],
              [("message", "news", "hello"), ("pmessage", "news", "hello"), ("smessage", "shard", "s")])
        for i in range(2000):
            await r.publish("news", i)
        got = [await one_message(subscription) for _ in range(4000)]
        equal([data for kind, _, data in got if kind == "message"], [str(i) for i in range(2000)])


@check("asyncio: a connection that was cut off is opened again and the command retried")
async def _(protocol):
    retry = Retry(ExponentialBackoff(cap=0.1, base=0.01), 3)
    async with connect(protocol, retry=retry, single_connection_client=True) as r, connect(protocol) as admin:
        before = await r.client_id()
        equal(await admin.client_kill_filter(_id=before), 1)
        equal(await r.set("k", "v"), True)
        assert await r.client_id() != before


@check("asyncio: a lock is held by one until it runs out")
async def _(protocol):
    async with connect(protocol) as r:
        first, second = r.lock("lock", timeout=3600, sleep=0.01), r.lock("lock", timeout=3600, sleep=0.01)
        assert await first.acquire()
        assert not await second.acquire(blocking=False)
        await r.pexpire("lock", 50)
        assert await second.acquire(blocking_timeout=PATIENCE)
        equal((await first.owned(), await second.owned(), await second.locked()), (False, True, True))


@check("asyncio: keys are scanned and a list is read in slices")
async def _(protocol):
    async with connect(protocol) as r:
        await r.mset({f"key:{i}": i for i in range(1000)})
        equal(len({key async for key in r.scan_iter(match="key:*", count=100)}), 1000)
        await r.rpush("l", *range(1000))
        slices = await asyncio.gather(*(r.lrange("l", i, i + 9) for i in range(0, 1000, 10)))
        equal([int(element) for part in slices for element in part], list(range(1000)))
