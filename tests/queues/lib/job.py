"""What a worker written in Python does with a job; lib/harness.py describes it."""
import asyncio
import json
import os
import sys
import time

PORT = int(os.environ["PACKLIST_PORT"])
FOLDER = os.environ["QUEUE_FOLDER"]
CONCURRENCY = int(os.environ["QUEUE_CONCURRENCY"])
MOMENT = 0.002
FOREVER = 3600


class Failure(Exception):
    """What a failing job ends with at its first attempt."""


def jobs():
    """The jobs to enqueue."""
    return map(json.loads, sys.stdin)


def note(word, n):
    with open(f"{FOLDER}/ledger", "a") as ledger:
        ledger.write(f"{word} {n} {os.getpid()} {time.time()}\n")


def is_first_attempt(n):
    try:
        os.close(os.open(f"{FOLDER}/attempt.{n}", os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def begin(n, kind):
    """Returns how long the job takes, in seconds."""
    note("began", n)
    if kind != "plain" and is_first_attempt(n):
        if kind == "fails":
            raise Failure
        return FOREVER
    return MOMENT


def do(n, kind, before_done=lambda: None):
    time.sleep(begin(n, kind))
    before_done()
    note("done", n)


async def do_async(n, kind):
    await asyncio.sleep(begin(n, kind))
    note("done", n)


def count():
    """What the holder of a lock does. Returns False when there is nothing left to count."""
    counter = f"{FOLDER}/counter"
    n = 0
    if os.path.exists(counter):
        with open(counter) as file:
            n = int(file.read())
    if n == int(os.environ["QUEUE_END"]):
        return False
    do(n, "hangs" if n == int(os.environ["QUEUE_HANGS"]) else "plain", before_done=lambda: write(counter, n + 1))
    return True


def write(path, number):
    with open(path, "w") as file:
        file.write(str(number))


def verdict(name, holds):
    """One line of a program that checks more of its library."""
    print(f"{'ok' if holds else 'not ok'} - {name}", flush=True)
