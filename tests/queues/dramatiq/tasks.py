"""Dramatiq: actors, the producer, and checks of results, groups, pipelines and rate limiters."""

import dramatiq
import job
from dramatiq.brokers.redis import RedisBroker
from dramatiq.rate_limits import Barrier, BucketRateLimiter, ConcurrentRateLimiter, WindowRateLimiter
from dramatiq.rate_limits.backends import RedisBackend as LimitBackend
from dramatiq.results import ResultFailure, Results
from dramatiq.results.backends import RedisBackend as ResultBackend

PATIENCE_MS = 250_000  # until a result must have come
ADDRESS = {"host": "127.0.0.1", "port": job.PORT}
# What a dead worker had taken is given to another after a heartbeat_timeout, by any worker, now and then.
broker = RedisBroker(**ADDRESS, heartbeat_timeout=5000, maintenance_chance=20_000)
broker.add_middleware(Results(backend=ResultBackend(**ADDRESS)))
dramatiq.set_broker(broker)


@dramatiq.actor(min_backoff=200, max_backoff=1000)
def do(n, kind):
    job.do(n, kind)


@dramatiq.actor(store_results=True)
def add(a, b):
    return a + b


@dramatiq.actor(store_results=True, max_retries=0)
def fail():
    raise job.Failure


def produce():
    for line in job.jobs():
        message = do.message(line["n"], line["kind"])
        broker.enqueue(message, delay=int(line["delay"] * 1000) or None)


def check_results():
    job.verdict("a result is returned", add.send(1, 2).get_result(block=True, timeout=PATIENCE_MS) == 3)
    group = dramatiq.group(add.message(n, n) for n in range(50)).run()
    results = list(group.get_results(block=True, timeout=PATIENCE_MS))
    job.verdict("results of a group are returned", results == [2 * n for n in range(50)])
    pipe = (add.message(1, 2) | add.message(3) | add.message(4)).run()
    job.verdict("a pipeline hands results on", pipe.get_result(block=True, timeout=PATIENCE_MS) == 10)
    try:
        fail.send().get_result(block=True, timeout=PATIENCE_MS)
        failed = False
    except ResultFailure as failure:
        failed = failure.orig_exc_type == "Failure"
    job.verdict("an error is returned", failed)


def count_acquired(limiter, times):
    acquired = 0
    for _ in range(times):
        with limiter.acquire(raise_on_failure=False) as got:
            acquired += bool(got)
    return acquired


def check_limits():
    backend = LimitBackend(**ADDRESS)
    mutex = ConcurrentRateLimiter(backend, "mutex", limit=1)
    with mutex.acquire(raise_on_failure=False) as first, mutex.acquire(raise_on_failure=False) as second:
        job.verdict("a concurrent limiter lets one in", first and not second)
    with mutex.acquire(raise_on_failure=False) as again:
        job.verdict("a concurrent limiter lets the next one in", again)
    bucket = BucketRateLimiter(backend, "bucket", limit=3, bucket=3_600_000)
    job.verdict("a bucket limiter lets as many in as it may", count_acquired(bucket, 10) == 3)
    window = WindowRateLimiter(backend, "window", limit=3, window=600)
    job.verdict("a window limiter lets as many in as it may", count_acquired(window, 10) == 3)
    barrier = Barrier(backend, "barrier", ttl=60_000)
    barrier.create(parties=2)
    job.verdict("a barrier holds the first one", not barrier.wait(block=False))
    job.verdict("a barrier opens for the last one", barrier.wait(block=False))


def check():
    check_results()
    check_limits()
