"""A worker for queue.lua, with redis-py: work(Redis(), ["mails"], send_mail)"""
import logging
import threading


def work(redis, queues, do, lease_ms=30_000, max_tries=5):
    """Calls do(job) for one job of the queues after the other, for ever. A job for which it raises is tried again."""
    while True:
        taken = redis.fcall("queue_take", len(queues), *queues, 1, lease_ms, max_tries)
        if taken is None:  # wait until the first queue has a job: the leftmost one moves to where it is
            redis.blmove(queues[0], queues[0], 1, "LEFT", "LEFT")
            continue
        queue, (lease, job, _try) = taken
        ended = threading.Event()
        threading.Thread(target=renew, args=(redis, queue, lease, lease_ms, ended), daemon=True).start()
        try:
            do(job)
            outcome = "queue_ack"
        except Exception:
            logging.exception("the job failed")
            outcome = "queue_return"
        ended.set()
        redis.fcall(outcome, 1, queue, lease)


def renew(redis, queue, lease, lease_ms, ended):
    """Keeps the lease while the job is worked on. If this process dies, the lease ends, and another takes the job."""
    while not ended.wait(lease_ms / 3000):
        redis.fcall("queue_renew", 1, queue, lease_ms, lease)
