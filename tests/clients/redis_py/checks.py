"""Named checks: each runs on an empty server; the sum is printed last."""
import asyncio
import inspect
import os
import threading
import time
import traceback

import redis

PORT = int(os.environ["PACKLIST_PORT"])
FOLDER = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 120 if "PACKLIST_SLOW" in os.environ else 60


def equal(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def raises(kind, text, function, *arguments, **options):
    try:
        got = function(*arguments, **options)
    except kind as error:
        assert text in str(error), f"got the error {error!r}, wanted {text!r}"
    else:
        raise AssertionError(f"got {got!r}, wanted {kind.__name__}")


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def wait_blocked(admin, count):
    wait_until(lambda: admin.info("clients")["blocked_clients"] == count)


def in_thread(function, *arguments, **options):
    """Starts a call; the function that is returned waits for its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function(*arguments, **options)), daemon=True)
    thread.start()

    def join():
        thread.join(PATIENCE)
        assert results, "the call has not come back"
        return results[0]
    return join


class Checks:
    """Collects functions by a decorator and runs them, in RESP2 and in RESP3."""

    def __init__(self):
        self.found = []

    def __call__(self, name):
        def add(function):
            self.found.append((name, function))
            return function
        return add

    def run(self):
        """(passed, failed)"""
        passed = failed = 0
        with redis.Redis(port=PORT) as admin:
            for protocol in (2, 3):
                for name, function in self.found:
                    admin.flushall()
                    try:
                        result = function(protocol)
                        if inspect.iscoroutine(result):
                            asyncio.run(asyncio.wait_for(result, PATIENCE))
                        passed += 1
                    except Exception as error:
                        failed += 1
                        line = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                                if os.path.dirname(frame.filename) == FOLDER and frame.name == "_"]
                        print(f"FAILED: {name} (RESP{protocol}), line {line}: {error!r}", flush=True)
        return passed, failed
