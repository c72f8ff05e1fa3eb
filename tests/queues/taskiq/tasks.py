"""taskiq: the broker, tasks, the scheduler, the producer, and checks of results and schedules."""
import asyncio
import datetime

import job
from taskiq import SimpleRetryMiddleware, TaskiqScheduler
from taskiq_redis import ListRedisScheduleSource, RedisAsyncResultBackend, RedisStreamBroker

PATIENCE = 250  # seconds until a result must have come
URL = f"redis://127.0.0.1:{job.PORT}"
broker = RedisStreamBroker(
    URL, queue_name="jobs", xread_count=job.CONCURRENCY, xread_block=500,
    idle_timeout=8000,  # another worker takes a task that is not acknowledged after so many milliseconds
    unacknowledged_lock_timeout=5,  # a worker may be killed while it looks for such tasks
).with_result_backend(RedisAsyncResultBackend(URL, prefix_str="result", result_ex_time=3600)).with_middlewares(
    SimpleRetryMiddleware(default_retry_count=10))
schedules = ListRedisScheduleSource(URL)
scheduler = TaskiqScheduler(broker, [schedules])


@broker.task(retry_on_error=True)
async def do(n, kind):
    await job.do_async(n, kind)


@broker.task
async def beat():
    """A worker looks for what others have left only when it has been given a new task."""


@broker.task
async def add(a, b):
    return a + b


@broker.task
async def fail():
    raise job.Failure("as it should")


def later(seconds):
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)


async def enqueue():
    await broker.startup()
    await beat.schedule_by_interval(schedules, 1)
    for line in job.jobs():
        if line["delay"]:
            await do.schedule_by_time(schedules, later(line["delay"]), line["n"], line["kind"])
        else:
            await do.kiq(line["n"], line["kind"])
    await broker.shutdown()


async def check_more():
    await broker.startup()
    task = await add.kiq(1, 2)
    job.verdict("a result is returned", (await task.wait_result(timeout=PATIENCE)).return_value == 3)
    tasks = [await add.kiq(n, n) for n in range(50)]
    results = await asyncio.gather(*[one.wait_result(timeout=PATIENCE) for one in tasks])
    sums = [one.return_value for one in results]
    job.verdict("results of many tasks are returned", sums == [2 * n for n in range(50)])
    result = await (await fail.kiq()).wait_result(timeout=PATIENCE)
    job.verdict("an error is returned", result.is_err and "as it should" in str(result.error))
    withdrawn = await add.kicker().with_task_id("withdrawn").schedule_by_time(schedules, later(5), 1, 1)
    await withdrawn.unschedule()
    await add.kicker().with_task_id("scheduled").schedule_by_time(schedules, later(6), 3, 4)
    while not await broker.result_backend.is_result_ready("scheduled"):
        await asyncio.sleep(0.1)
    result = await broker.result_backend.get_result("scheduled")
    job.verdict("a scheduled task is done", result.return_value == 7)
    job.verdict("one that was withdrawn is not", not await broker.result_backend.is_result_ready("withdrawn"))
    await broker.shutdown()


def produce():
    asyncio.run(enqueue())


def check():
    asyncio.run(check_more())
