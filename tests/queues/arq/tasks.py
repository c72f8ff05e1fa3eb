"""arq: tasks, the worker's settings, and the producer."""
import asyncio

import job
from arq import Retry, create_pool, func
from arq.connections import RedisSettings

SETTINGS = RedisSettings(host="127.0.0.1", port=job.PORT)


async def do(context, n, kind):
    try:
        await job.do_async(n, kind)
    except job.Failure as failure:
        raise Retry(defer=0.2) from failure


class WorkerSettings:
    functions = [func(do, timeout=10)]  # another worker takes a job ten seconds after its time is over
    redis_settings = SETTINGS
    max_jobs = job.CONCURRENCY
    poll_delay = 0.1
    max_tries = 10
    keep_result = 60


async def enqueue():
    queue = await create_pool(SETTINGS)
    for line in job.jobs():
        await queue.enqueue_job("do", line["n"], line["kind"], _defer_by=line["delay"] or None)
    await queue.aclose()


def produce():
    asyncio.run(enqueue())
