"""A producer and a worker of queues over several servers, with utils/deploy/rings/shards.py."""
import os
import sys
import time
from collections import deque

import redis
from shards import Shards

QUEUES = 16
shards = Shards([f"redis://127.0.0.1:{port}" for port in os.environ["SHARD_PORTS"].split(",")], decode_responses=True)


def attempt(command):
    """The result; None after an error."""
    try:
        return command()
    except redis.RedisError as error:
        print("error", error, flush=True)
        time.sleep(0.01)
        return None


def produce():
    waiting = deque(range(int(os.environ["JOBS"])))
    while waiting:
        job = waiting.popleft()
        queue = f"queue:{job % QUEUES}"
        if attempt(lambda: shards.of(queue).rpush(queue, job)):
            print("pushed", job, flush=True)
        else:
            waiting.append(job)
    time.sleep(600)


def work(queue):
    while True:
        taken = attempt(lambda: shards.of(queue).blpop(queue, 5))
        if taken:
            print("took", taken[1], flush=True)


produce() if sys.argv[1] == "produce" else work(f"queue:{sys.argv[2]}")
