"""The lock of redis-py: a holder that counts, and checks of its other steps."""
import time

import job
import redis
from redis.exceptions import LockError, LockNotOwnedError

client = redis.Redis(port=job.PORT)


def work():
    more = True
    while more:
        with client.lock("lock", timeout=10, sleep=0.01):
            more = job.count()


def raises(error, function, *arguments, **options):
    try:
        function(*arguments, **options)
        return False
    except error:
        return True


def check():
    first, second = client.lock("mine", timeout=60), client.lock("mine", timeout=60)
    job.verdict("a free lock is acquired", first.acquire())
    job.verdict("a held lock is not acquired", not second.acquire(blocking=False))
    job.verdict("a held lock is waited for as long as asked", not second.acquire(blocking_timeout=0.2))
    job.verdict("another cannot release it", raises(LockError, second.release))
    first.extend(60)
    job.verdict("a lock can be extended", 60 < client.ttl("mine") <= 120)
    first.reacquire()
    job.verdict("a lock can be acquired again by its holder", client.ttl("mine") <= 60)
    first.release()
    job.verdict("a released lock is free", not first.locked() and second.acquire(blocking=False))
    second.release()
    brief = client.lock("brief", timeout=0.1)
    brief.acquire()
    while client.exists("brief"):
        time.sleep(0.02)
    job.verdict("a holder learns that its lock expired",
                raises(LockNotOwnedError, brief.extend, 1) and raises(LockNotOwnedError, brief.release))
