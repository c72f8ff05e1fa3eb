"""Clients that track keys (CLIENT TRACKING): the memory of what they have read, and how that delays other clients."""
import contextlib
import selectors
import sys
import tempfile
import threading
import time
from pathlib import Path

from bench_servers import Client, ServerError
from libraries import build_library
from measure import prepare, steady_memory
from pings import AFTER_SECONDS, longest_wait, shortest_of_rounds
from resp import encode

KEYS_AT_ONCE, REQUESTS_AT_ONCE = 100, 20
LIMIT = "tracking-table-max-keys"
WRITES = 100
LOOP_TIME = Path(__file__).parent / "preload/loop_time.c"


def key(number):
    return "key:%012d" % number


def prefix(number):
    return "prefix:%09d" % number


class Trackers:
    """Clients that have read the same keys. Once they read no more, a thread takes what they are told."""

    def __init__(self, server, count):
        self.clients = [Client(server.port) for _ in range(count)]
        self.selector, self.is_over, self.thread = selectors.DefaultSelector(), False, None
        for client in self.clients:
            client.call("HELLO", "3")
            client.call("CLIENT", "TRACKING", "ON")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop_listening()
        self.close()
        self.selector.close()

    def read(self, keys):
        requests = [encode(["MGET", *map(key, range(start, min(start + KEYS_AT_ONCE, keys)))])
                    for start in range(0, keys, KEYS_AT_ONCE)]
        for start in range(0, len(requests), REQUESTS_AT_ONCE):
            for client in self.clients:
                replies = client.batch(b"".join(requests[start:start + REQUESTS_AT_ONCE]))
                if replies.startswith(b"-"):
                    raise ServerError(replies.partition(b"\r\n")[0].decode())

    def listen(self):
        for client in self.clients:
            self.selector.register(client.socket, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.take_messages)
        self.thread.start()

    def stop_listening(self):
        self.is_over = True
        if self.thread:
            self.thread.join()

    def take_messages(self):
        while not self.is_over:
            for ready, _ in self.selector.select(0.05):
                if not ready.fileobj.recv(1 << 20):
                    self.selector.unregister(ready.fileobj)

    def close(self):
        for client in self.clients:
            client.close()


def bytes_per_key(server, row):
    with Trackers(server, row.trackers) as trackers:
        trackers.read(1)
        before = steady_memory(server.used_memory)
        trackers.read(row.keys)
        return (steady_memory(server.used_memory) - before) / row.keys


def run_memory(servers, row, progress):
    """label -> bytes of used_memory per key."""
    figures = {}
    for server in servers:
        progress(f"{row.name}: {server.label}")
        prepare(server, (), {})
        figures[server.label] = bytes_per_key(server, row)
        server.client.call("FLUSHALL")  # other servers forget only then
        server.wait_until_idle()
    return figures


# --- What delays others

def lower_limit(server, _):
    server.client.call("CONFIG", "SET", LIMIT, 1)


def flush(server, _):
    server.client.call("FLUSHALL")


def close_all(_, trackers):
    trackers.stop_listening()
    trackers.close()


def lower_limit_and_close(server, trackers):
    lower_limit(server, trackers)
    time.sleep(AFTER_SECONDS)
    trackers.close()


def write(server, _):
    for number in range(WRITES):
        server.client.call("SET", f"{prefix(number)}x", "1")


EVENTS = {"limit": lower_limit, "flush": flush, "close": close_all, "write": write, "slow": lower_limit_and_close}


class LoopTime:
    """preload/loop_time.c, built for these runs: what it measures in a server that has its `environment`."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="packlist-bench-")
        self.path = f"{self.folder.name}/longest"
        try:
            library = build_library(LOOP_TIME, self.folder.name)
        except OSError as error:
            raise ServerError(str(error)) from None
        self.environment = {"LD_PRELOAD": str(library), "LOOP_TIME_FILE": self.path}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def begin(self):
        with open(self.path, "r+b") as file:
            file.write(bytes(8))

    def longest(self):
        """The CPU time of the server's longest loop iteration since begin(), in ms; None: it does not use epoll."""
        with open(self.path, "rb") as file:
            return int.from_bytes(file.read(8), sys.byteorder) / 1e6 or None


def begin_tracking(server, row):
    """The row's clients, which have read its keys or track its prefixes."""
    server.client.call("CONFIG", "SET", LIMIT, 0)
    trackers = Trackers(server, row.trackers)
    trackers.read(row.keys)
    for client in trackers.clients if row.prefixes else ():
        words = [word for number in range(row.prefixes) for word in ("PREFIX", prefix(number))]
        client.call("CLIENT", "TRACKING", "OFF")
        client.call("CLIENT", "TRACKING", "ON", "BCAST", *words)
    if not row.slow:
        trackers.listen()
    server.wait_until_idle()
    return trackers


def wait_beside(server, row, pace):
    """The longest wait of a PING, in ms, while the row's event happens and after it."""
    with begin_tracking(server, row) as trackers:
        return longest_wait(server, pace, lambda: EVENTS[row.event](server, trackers))


def longest_iteration(server, row, loop_time):
    """CPU time of a loop iteration, in ms, without other clients: how many an iteration serves depends on the rest of
    the machine."""
    with begin_tracking(server, row) as trackers:
        loop_time.begin()
        EVENTS[row.event](server, trackers)
        time.sleep(AFTER_SECONDS)
        return loop_time.longest()


def run_stall(servers, row, rounds, pace, progress):
    """Name of a figure -> label -> ms."""
    port = max(server.port for server in servers) + 3

    def best(measure, environment, rounds):
        def measure_another(server):
            with contextlib.closing(server.another(port, environment)) as other:
                return measure(other)
        return shortest_of_rounds(servers, row, rounds, measure_another, progress)

    with LoopTime() as loop_time:
        return {
            "longest wait of a PING": best(lambda server: wait_beside(server, row, pace), {}, rounds),
            "CPU of the longest loop iteration": best(lambda server: longest_iteration(server, row, loop_time),
                                                      loop_time.environment, 1),
        }
