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


def do(n, kind):
    time.sleep(begin(n, kind))
    note("done", n)


async def do_async(n, kind):
    await asyncio.sleep(begin(n, kind))
    note("done", n)


def verdict(name, holds):
    """One line of a program that checks more of its library."""
    print(f"{'ok' if holds else 'not ok'} - {name}", flush=True)
