"""RQ: tasks, the scheduler, the producer, and checks of results, dependencies, registries, repeats and limits."""
import time
from datetime import timedelta

import job
from redis import Redis
from rq import Queue, Repeat, Retry, Worker
from rq.exceptions import DuplicateJobError
from rq.rate_limit import RateLimit
from rq.scheduler import RQScheduler

PATIENCE = 250  # seconds
PRIORITIES = ["low", "middle", "high"]
connection = Redis(port=job.PORT)


def do(n, kind):
    job.do(n, kind)


def add(a, b):
    return a + b


def total(*jobs):
    return sum(Queue("low", connection=connection).fetch_job(one).return_value() for one in jobs)


def fail():
    raise job.Failure("as it should")


def now():
    return time.time()


def schedule():
    scheduler = RQScheduler(PRIORITIES, connection, logging_level="WARNING")
    scheduler.acquire_locks()
    scheduler.work()


def produce():
    queues = [Queue(name, connection=connection, default_timeout=5) for name in PRIORITIES]
    for line in job.jobs():
        queue, retry = queues[line["priority"]], Retry(max=10, interval=1)
        if line["delay"]:
            queue.enqueue_in(timedelta(seconds=line["delay"]), do, line["n"], line["kind"], retry=retry)
        else:
            queue.enqueue(do, line["n"], line["kind"], retry=retry)


def wait_until(condition):
    """Time is no measure: the runner ends a program that waits for ever."""
    while not condition():
        time.sleep(0.05)


def check_results(queue):
    job.verdict("a result is returned", queue.enqueue(add, 1, 2).latest_result(PATIENCE).return_value == 3)
    many = [queue.enqueue(add, n, n) for n in range(50)]
    results = [one.latest_result(PATIENCE).return_value for one in many]
    job.verdict("results of many jobs are returned", results == [2 * n for n in range(50)])
    parts = [queue.enqueue(add, n, 1) for n in range(3)]
    whole = queue.enqueue(total, *(part.id for part in parts), depends_on=parts)
    job.verdict("a job runs when those that it depends on are done", whole.latest_result(PATIENCE).return_value == 6)
    failed = queue.enqueue(fail)
    job.verdict("an error is returned", "as it should" in failed.latest_result(PATIENCE).exc_string)
    wait_until(lambda: failed.id in queue.failed_job_registry.get_job_ids())
    job.verdict("a failed job can be tried again", queue.failed_job_registry.requeue(failed.id).id == failed.id)
    wait_until(lambda: len(failed.results()) == 2)
    job.verdict("each attempt has its result", failed.is_failed)


def check_schedule(queue):
    begun = time.time()
    later = queue.enqueue_in(timedelta(seconds=2), now)
    job.verdict("a scheduled job runs when its time has come",
                later.latest_result(PATIENCE).return_value >= begun + 1)  # RQ counts whole seconds
    never = queue.enqueue_in(timedelta(hours=1), now)
    job.verdict("a scheduled job is counted", queue.scheduled_job_registry.count == 1)
    never.cancel()
    job.verdict("a scheduled job can be canceled", queue.scheduled_job_registry.count == 0 and never.is_canceled)
    often = queue.enqueue(now, repeat=Repeat(times=2, interval=1))
    wait_until(lambda: len(often.results()) == 3)
    times = sorted(result.return_value for result in often.results())
    job.verdict("a job is repeated", times[2] - times[0] >= 1)


def check_more(queue):
    queue.enqueue_in(timedelta(hours=1), now, job_id="mine", unique=True)
    try:
        queue.enqueue_in(timedelta(hours=1), now, job_id="mine", unique=True)
        twice = True
    except DuplicateJobError:
        twice = False
    job.verdict("a second job of the same name is refused", not twice)
    limited = [queue.enqueue(add, n, 1, rate_limit=RateLimit("one at a time", 1)) for n in range(5)]
    results = [one.latest_result(PATIENCE).return_value for one in limited]
    job.verdict("jobs under a limit are all done", results == [1, 2, 3, 4, 5])
    workers = Worker.all(connection=connection)
    job.verdict("a worker is shown", len(workers) == 1 and workers[0].queue_names() == PRIORITIES[::-1])
    job.verdict("a worker knows its address", workers[0].ip_address.startswith("127.0.0.1:"))
    queue.fetch_job("mine").delete()
    job.verdict("a job can be deleted", queue.fetch_job("mine") is None)


def check():
    queue = Queue("low", connection=connection)
    check_results(queue)
    check_schedule(queue)
    check_more(queue)
