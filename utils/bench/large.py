"""Large commands: how long one holds the event loop, so that all others wait; what it costs in all; the memory of a
reply that nobody reads; how others fare meanwhile."""
import itertools
import threading
import time

from bench_servers import Client, Server, ServerError
from data import fill
from measure import prepare, prepare_all, steady_memory
from repeat import medians, until_sure
from saving import BEFORE_SECONDS, WARM_UP_SECONDS, Load, resident

HEAD_START_SECONDS = 0.0005  # of the large command, so that it is read before the PING
UNREAD_SECONDS = 1          # until the memory of a reply that nobody reads is measured
BESIDE_SECONDS, BESIDE_CLIENTS, BESIDE_RATE = 10, 4, 2_000
HELD, IN_ALL, UNREAD, IDLE, BESIDE = "held", "in all", "unread", "idle", "beside"


def turn(server, row):
    """Milliseconds of CPU: of the thread that runs commands, from the command until another client's PING is answered,
    and of the whole process until the reply has been read."""
    for command in row.before:
        server.client.call(*command)
    server.wait_until_idle()
    with Client(server.port) as asker:
        main, process = server.main_thread_seconds(), server.cpu_seconds()
        asker.post(*row.command)
        time.sleep(HEAD_START_SECONDS)
        server.client.call("PING")
        held = seconds_since(server, main)
        refuse_errors(asker.batch(b""))
        server.wait_until_idle()  # what was replaced is being freed
        return held * 1000, (server.cpu_seconds() - process) * 1000


def seconds_since(server, before):
    """The kernel adds to the clock of a thread that goes on running only now and then."""
    while (now := server.main_thread_seconds()) == before:
        pass
    return now - before


def refuse_errors(replies):
    if replies.startswith(b"-"):
        raise ServerError(replies.partition(b"\r\n")[0].decode())


def run_large(servers, row, rounds, progress):
    """"held" or "in all" -> label -> median milliseconds of CPU; None where a server refuses the command."""
    found = {what: {server.label: [] for server in servers} for what in (HELD, IN_ALL)}
    prepare_all(servers, row.data, {})
    for number in until_sure(rounds, found[IN_ALL]):
        for server in servers:
            progress(f"{row.name}: round {number + 1}, {server.label}")
            try:
                prepare(server, row.data, {})
                for what, figure in zip((HELD, IN_ALL), turn(server, row)):
                    found[what][server.label].append(figure)
            except ServerError as error:
                progress(f"{row.name}: {server.label}: {error}", keep=True)
    return {what: medians(figures) for what, figures in found.items()}


def run_unread(servers, row, progress):
    """label -> megabytes by which the resident memory grows while a client reads nothing of a reply."""
    figures = {}
    for server in servers:
        progress(f"{row.name}: {server.label}")
        prepare(server, row.data, {})
        server.client.call("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
        with Client(server.port) as asker:
            asker.call("PING")
            before = steady_memory(lambda pid=server.process.pid: resident(pid))
            asker.post(*row.command)
            time.sleep(UNREAD_SECONDS)
            server.client.call("PING")
            figures[server.label] = (resident(server.process.pid) - before) / 1e6
        server.wait_until_idle()
    return figures


class Sender:
    """A client that sends commands one after the other, in a thread of its own, until it is stopped."""

    def __init__(self, port, commands):
        self.client, self.commands, self.is_over = Client(port), commands, False
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()
        self.client.close()

    def run(self):
        for command in itertools.cycle(self.commands):
            if self.is_over:
                return
            self.client.call(*command)


def latencies(server, row, pace):
    """p99.9 of GETs of four clients, in ms: before, and beside a client that sends large commands."""
    server.wait_until_idle()
    with Load(pace, server.port, BESIDE_RATE, [["GET", "small"]], BESIDE_CLIENTS) as load:
        time.sleep(WARM_UP_SECONDS)
        load.begin_phase()
        time.sleep(BESIDE_SECONDS)
        load.begin_phase()
        with Sender(server.port, row.commands):
            time.sleep(BESIDE_SECONDS)
            load.begin_phase()
        _, idle, beside, _ = load.phases()
    return idle["p99.9"] / 1000, beside["p99.9"] / 1000


def run_beside(servers, row, pace, progress):
    """"idle" or "beside" -> label -> milliseconds. Servers of their own, on all cores: commands in other threads need
    one."""
    figures = {IDLE: {}, BESIDE: {}}
    for server in servers:
        progress(f"{row.name}: {server.label}")
        name, path, argv0 = server.program
        another = Server(name, path, max(other.port for other in servers) + 3, argv0, is_spread=True)
        try:
            fill(another.client, row.data)
            another.client.call("SET", "small", "v" * 16)
            for what, figure in zip((IDLE, BESIDE), latencies(another, row, pace)):
                figures[what][server.label] = figure
        finally:
            another.stop()
    return figures
