"""The worker of utils/functions, and a producer that adds scheduled jobs when their time has come."""
import json
import time

import job
import worker
from redis import Redis

LEASE_MS = 3000  # so long does a killed worker's job wait


def do(text):
    line = json.loads(text)
    job.do(line["n"], line["kind"])


def work():
    worker.work(Redis(port=job.PORT), ["jobs"], do, LEASE_MS, 10)


def produce():
    redis, begun = Redis(port=job.PORT), time.time()
    for line in sorted(job.jobs(), key=lambda line: line["delay"]):
        time.sleep(max(0, begun + line["delay"] - time.time()))
        redis.rpush("jobs", json.dumps(line))
