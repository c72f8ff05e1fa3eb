"""Celery: the application, the producer, and checks of results, groups, chains, chords, revoking and remote control."""
import time

import job
from celery import Celery, chain, chord, group
from celery.utils import uuid

PATIENCE = 250  # seconds until a result must have come
ANSWERED = {"reply": True, "timeout": PATIENCE, "limit": 1}  # wait until the worker has obeyed
URL = f"redis://127.0.0.1:{job.PORT}/0"
app = Celery("tasks", broker=URL, backend=URL)
app.conf.update(
    task_acks_late=True, task_reject_on_worker_lost=True, worker_prefetch_multiplier=1, result_expires=3600,
    task_routes={"tasks.other": {"queue": "other"}},
    # What a killed worker had taken is given to others ten seconds later. It may be killed while it holds the mutex of
    # those who look for such jobs.
    broker_transport_options={"visibility_timeout": 10, "unacked_mutex_expire": 10, "unacked_restore_interval": 1,
                              "unacked_restore_throttle": 1, "queue_order_strategy": "priority",
                              "priority_steps": [0, 3, 6, 9]})


@app.task(bind=True, max_retries=10)
def do(self, n, kind):
    try:
        job.do(n, kind)
    except job.Failure as failure:
        raise self.retry(exc=failure, countdown=0.2)


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def now():
    return time.time()


@app.task
def fail():
    raise job.Failure("as it should")


@app.task(bind=True, autoretry_for=(job.Failure,), retry_backoff=False, default_retry_delay=0.1, max_retries=3)
def fail_twice(self):
    if self.request.retries < 2:
        raise job.Failure
    return self.request.retries


def produce():
    for line in job.jobs():
        # In Redis, Celery's lowest number comes first.
        do.apply_async((line["n"], line["kind"]), countdown=line["delay"] or None, priority=9 - 3 * line["priority"])


def check_canvas():
    numbers = list(range(20))
    job.verdict("a result is returned", add.delay(1, 2).get(timeout=PATIENCE) == 3)
    results = group(add.s(n, n) for n in numbers)().get(timeout=PATIENCE)
    job.verdict("results of a group are returned in order", results == [2 * n for n in numbers])
    job.verdict("a chain hands results on", chain(add.s(1, 2), add.s(3), add.s(4))().get(timeout=PATIENCE) == 10)
    job.verdict("a chord runs its callback with all results",
                chord((add.s(n, 1) for n in numbers), total.s())().get(timeout=PATIENCE) == sum(numbers) + len(numbers))
    nested = chain(group(add.s(n, 1) for n in numbers) | total.s(), add.s(1000))
    job.verdict("a chain goes on after a chord", nested().get(timeout=PATIENCE) == sum(numbers) + len(numbers) + 1000)
    failing = chord([add.s(1, 1), fail.s()], total.s())()
    job.verdict("a chord whose task fails hands on the error",
                "as it should" in str(failing.get(propagate=False, timeout=PATIENCE)))


def check_tasks():
    failed = fail.delay()
    job.verdict("an error is returned", isinstance(failed.get(propagate=False, timeout=PATIENCE), Exception))
    job.verdict("the state of a failed task is kept", failed.state == "FAILURE")
    job.verdict("a task that fails is retried by itself", fail_twice.delay().get(timeout=PATIENCE) == 2)
    begun = time.time()
    job.verdict("a task with an ETA waits", now.apply_async(countdown=2).get(timeout=PATIENCE) >= begun + 2)
    never = uuid()
    app.control.revoke(never, **ANSWERED)
    revoked = add.apply_async((1, 1), task_id=never).get(propagate=False, timeout=PATIENCE)
    job.verdict("a task can be revoked", type(revoked).__name__ == "TaskRevokedError")
    kept = add.delay(2, 2)
    kept.get(timeout=PATIENCE)
    kept.forget()
    job.verdict("a result can be forgotten", app.AsyncResult(kept.id).state == "PENDING")
    answer, = app.control.ping(timeout=PATIENCE, limit=1)
    job.verdict("a worker answers remote control", list(answer.values()) == [{"ok": "pong"}])
    stats = app.control.inspect(timeout=PATIENCE, limit=1).registered()
    job.verdict("a worker lists its tasks", "tasks.add" in next(iter(stats.values())))


def check():
    check_canvas()
    check_tasks()
