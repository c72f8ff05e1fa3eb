"""Huey: tasks, the producer, and checks of results, locks and pipelines."""
import os

import job
from huey import PriorityRedisHuey, RedisHuey
from huey.exceptions import TaskLockedException

KIND = {"plain": RedisHuey, "priority": PriorityRedisHuey}[os.environ["QUEUE_STORAGE"]]
huey = KIND("jobs", host="127.0.0.1", port=job.PORT)


@huey.task(retries=3)
def do(n, kind):
    job.do(n, kind)


@huey.task()
def add(a, b):
    return a + b


@huey.task()
def fail():
    raise job.Failure


def produce():
    for line in job.jobs():
        task = do.s(line["n"], line["kind"], **({"priority": line["priority"]} if KIND is PriorityRedisHuey else {}))
        if line["delay"]:
            task = do.s(line["n"], line["kind"], delay=line["delay"])
        huey.enqueue(task)


def check():
    job.verdict("a result is returned", add(1, 2).get(blocking=True, timeout=60) == 3)
    chain = huey.enqueue(add.s(1, 2).then(add, 3).then(add, 4))
    job.verdict("a pipeline hands results on", chain.get(blocking=True, timeout=60) == [3, 6, 10])
    later = add.schedule((5, 6), delay=1)
    job.verdict("a scheduled task has no result at once", later.get() is None)
    job.verdict("a scheduled task has its result later", later.get(blocking=True, timeout=60) == 11)
    never = add.schedule((1, 1), delay=3600)
    never.revoke()
    job.verdict("a task can be revoked", never.is_revoked() and never.restore() and not never.is_revoked())
    many = add.map([(n, n) for n in range(50)])
    job.verdict("results of many tasks are returned", many.get(blocking=True, timeout=60) == [2 * n for n in range(50)])
    with huey.lock_task("lock"):
        try:
            with huey.lock_task("lock"):
                held_twice = True
        except TaskLockedException:
            held_twice = False
    job.verdict("a lock is held once", not held_twice)
