"""SAQ: the worker's settings, the producer, and checks of results."""
import asyncio
import time

import job
from saq import Queue
from saq.queue import JobError

queue = Queue.from_url(f"redis://127.0.0.1:{job.PORT}", name="jobs")


async def do(context, *, n, kind):
    await job.do_async(n, kind)


async def add(context, *, a, b):
    return a + b


async def fail(context):
    raise job.Failure


settings = {"queue": queue, "functions": [do, add, fail], "concurrency": job.CONCURRENCY, "timers": {"sweep": 2}}


async def enqueue():
    await queue.connect()
    for line in job.jobs():
        await queue.enqueue("do", n=line["n"], kind=line["kind"], retries=10, timeout=10,
                            scheduled=int(time.time() + line["delay"]) if line["delay"] else 0)
    await queue.disconnect()


async def check_more():
    await queue.connect()
    # A sweep also takes a job that a worker has just fetched, and such a job must have a try left.
    job.verdict("a result is returned", await queue.apply("add", a=1, b=2, retries=10) == 3)
    results = await queue.map("add", [{"a": n, "b": n} for n in range(50)], retries=10)
    job.verdict("results of many jobs are returned", results == [2 * n for n in range(50)])
    error = "swept"
    while error == "swept":
        try:
            error = str(await queue.apply("fail"))
        except JobError as failure:
            error = failure.job.error
    job.verdict("an error is returned", "Failure" in error)
    later = await queue.enqueue("add", a=1, b=2, scheduled=int(time.time()) + 3600)
    info = await queue.info(jobs=True)
    job.verdict("a scheduled job is counted", info["scheduled"] == 1)
    await later.abort("not needed")
    info = await queue.info(jobs=True)
    job.verdict("a job can be aborted", info["scheduled"] == 0)
    await queue.disconnect()


def produce():
    asyncio.run(enqueue())


def check():
    asyncio.run(check_more())
