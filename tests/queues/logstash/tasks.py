"""The way of log shippers: one that appends events to a list, and one that takes them in batches by a script, which is
sent by its digest and loaded when the server does not know it."""
import json

import job
import redis

BATCH = 5
TAKE = """
local batch = tonumber(ARGV[1])
local items = redis.call('lrange', KEYS[1], 0, batch - 1)
redis.call('ltrim', KEYS[1], batch, -1)
return items
"""
client = redis.Redis(port=job.PORT)


def produce():
    """A shipper: batches of events, each a JSON text, by RPUSH."""
    events = [json.dumps(line) for line in job.jobs()]
    for first in range(0, len(events), 50):
        client.rpush("events", *events[first:first + 50])


def take(digest, key="events"):
    """One event that BLPOP waits for, and what else is there."""
    first = client.blpop(key, timeout=1)
    if first is None:
        return []
    try:
        more = client.evalsha(digest, 1, key, BATCH - 1)
    except redis.exceptions.NoScriptError:
        client.script_load(TAKE)
        more = client.evalsha(digest, 1, key, BATCH - 1)
    return [json.loads(event) for event in (first[1], *more)]


def work():
    digest = client.script_load(TAKE)
    while True:
        for event in take(digest):
            job.do(event["n"], event["kind"])


def check():
    digest = client.script_load(TAKE)
    client.rpush("some", *range(12))
    batches = [client.evalsha(digest, 1, "some", 5) for _ in range(4)]
    job.verdict("batches are taken in order", [list(map(int, batch)) for batch in batches]
                == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11], []])
    client.script_flush()
    client.rpush("others", *(json.dumps({"n": n}) for n in range(3)))
    taken = [event["n"] for event in take(digest, "others")]
    job.verdict("a script that was forgotten is loaded again", taken == [0, 1, 2])
