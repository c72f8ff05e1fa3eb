"""Huey: tasks, the producer, and checks of results, locks and pipelines."""
import os
import time

import job
from huey import PriorityRedisHuey, RedisHuey
from huey.exceptions import TaskLockedException

PATIENCE = 250  # seconds until a result must have come
KIND = {"plain": RedisHuey, "priority": PriorityRedisHuey}[os.environ["QUEUE_STORAGE"]]
huey = KIND("jobs", host="127.0.0.1", port=job.PORT)


@huey.task(retries=3)
def do(n, kind):
    job.do(n, kind)


@huey.task()
def add(a, b):
    return a + b


@huey.task()
def now():
    return time.time()


def produce():
    for line in job.jobs():
        task = do.s(line["n"], line["kind"], **({"priority": line["priority"]} if KIND is PriorityRedisHuey else {}))
        if line["delay"]:
            task = do.s(line["n"], line["kind"], delay=line["delay"])
        huey.enqueue(task)


def check():
    job.verdict("a result is returned", add(1, 2).get(blocking=True, timeout=PATIENCE) == 3)
    chain = huey.enqueue(add.s(1, 2).then(add, 3).then(add, 4))
    job.verdict("a pipeline hands results on", chain.get(blocking=True, timeout=PATIENCE) == [3, 6, 10])
    begun = time.time()
    later = now.schedule(delay=3).get(blocking=True, timeout=PATIENCE)
    job.verdict("a scheduled task runs when its time has come", later >= begun + 2)  # Huey looks once a second
    never = add.schedule((1, 1), delay=3600)
    never.revoke()
    job.verdict("a task can be revoked", never.is_revoked() and never.restore() and not never.is_revoked())
    many = add.map([(n, n) for n in range(50)]).get(blocking=True, timeout=PATIENCE)
    job.verdict("results of many tasks are returned", many == [2 * n for n in range(50)])
    with huey.lock_task("lock"):
        try:
            with huey.lock_task("lock"):
                held_twice = True
        except TaskLockedException:
            held_twice = False
    job.verdict("a lock is held once", not held_twice)
