"""FastStream: the worker's subscribers, the producer, and checks of batches, replies and reading without a group."""
import asyncio
import os

import job
from faststream import AckPolicy, FastStream
from faststream.redis import RedisBroker, StreamSub
from redis.asyncio import Redis
from redis.exceptions import ResponseError

IDLE = 5000  # another worker takes a message that is not acknowledged after so many milliseconds
PATIENCE = 250  # seconds until a reply must have come
broker = RedisBroker(f"redis://127.0.0.1:{job.PORT}")
app = FastStream(broker)


def of_group(**more):
    return StreamSub("jobs", group="workers", consumer=f"{os.getpid()}", max_records=5, **more)


def subscriber(stream):
    # A message whose job fails is not acknowledged, but remains pending.
    return broker.subscriber(stream=stream, ack_policy=AckPolicy.NACK_ON_ERROR, max_workers=job.CONCURRENCY)


async def do(n: int, kind: str):
    await job.do_async(n, kind)


if os.environ["QUEUE_WAY"] == "claim":
    subscriber(of_group(claim_min_idle_time=IDLE))(do)
else:
    subscriber(of_group())(do)
    subscriber(of_group(min_idle_time=IDLE))(do)


@broker.subscriber(stream=StreamSub("sums", group="workers", consumer="adder"))
async def total(numbers: list[int]) -> int:
    return sum(numbers)


async def declare(stream):
    """Creates the group, so that it gets all messages from the first one on."""
    async with Redis(port=job.PORT) as client:
        try:
            await client.xgroup_create(stream, "workers", id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise


async def enqueue():
    await declare("jobs")
    await broker.connect()
    for line in job.jobs():
        await broker.publish({"n": line["n"], "kind": line["kind"]}, stream="jobs")
    await broker.stop()


async def take(broker, stream):
    """The next message of a stream."""
    subscriber = broker.subscriber(stream=stream)
    await subscriber.start()
    return await subscriber.get_one(timeout=PATIENCE)


async def check_more():
    await declare("sums")
    async with RedisBroker(f"redis://127.0.0.1:{job.PORT}") as own:
        reply = await own.request([1, 2, 3], stream="sums", timeout=PATIENCE)
        job.verdict("a reply is returned", await reply.decode() == 6)
        await own.publish("text", stream="notes", headers={"kind": "note"})
        first = await take(own, StreamSub("notes", last_id="0"))
        job.verdict("a message is read without a group",
                    (await first.decode(), first.headers["kind"]) == ("text", "note"))
        await declare("notes")
        await take(own, StreamSub("notes", group="workers", consumer="first"))
        claimed = await take(own, StreamSub("notes", group="workers", consumer="second", claim_min_idle_time=100))
        job.verdict("a message that was not acknowledged is claimed",
                    (await claimed.decode(), claimed.raw_message["delivery_counts"]) == ("text", [1]))
        await claimed.ack()
        async with Redis(port=job.PORT) as client:
            pending = await client.xpending("notes", "workers")
        job.verdict("whoever claimed it can acknowledge it", pending["pending"] == 0)


def produce():
    asyncio.run(enqueue())


def check():
    asyncio.run(check_more())
