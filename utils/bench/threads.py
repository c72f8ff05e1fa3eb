"""Servers with I/O threads (io-threads): CPU per request of the thread that runs commands, and of the whole process."""
import contextlib
import subprocess

from bench_servers import Server, ServerError, take_core
from data import fill
from measure import empty
from repeat import medians

CLIENTS = 100
MAIN, PROCESS = "main thread", "whole process"


class ThreadedServer(Server):
    """A server of its own, with so many I/O threads, on all cores: `like` says which."""

    def __init__(self, like, io_threads, port, options=()):
        name, path, argv0 = like.program
        super().__init__(name, path, port, argv0, ["--io-threads", str(io_threads), *options], is_spread=True)


def start(like, io_threads, port):
    """Its threads have all clients all the time, if that can be configured."""
    try:
        return ThreadedServer(like, io_threads, port, ["--io-threads-always-active", "yes"])
    except ServerError:
        return ThreadedServer(like, io_threads, port)


def load(server, row, requests):
    """On all cores and with two threads, as otherwise redis-benchmark is slower than a server with two: then that finds
    few clients ready at a time."""
    command = ["redis-benchmark", "-p", str(server.port), "-n", str(requests), "-P", str(row.pipeline),
               "-c", str(CLIENTS), "--threads", "2", "-r", "1000", "-q", *row.command]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   preexec_fn=lambda: take_core(None))


def turn(server, row):
    """(main thread, process), CPU microseconds per request. The first run lets servers that give clients to threads
    under load alone do so."""
    empty(server)
    fill(server.client, row.data)
    load(server, row, row.requests // 4)
    main, process = server.main_thread_seconds(), server.cpu_seconds()
    load(server, row, row.requests)
    return tuple((after - before) / row.requests * 1e6 for before, after in
                 ((main, server.main_thread_seconds()), (process, server.cpu_seconds())))


def started(servers, row, stack, progress):
    """Yields (label, a server like that one, with I/O threads) for each that has such threads; they stop with the
    stack."""
    first_port = max(server.port for server in servers) + 4
    for number, like in enumerate(servers):
        progress(f"{row.name}: starts {like.label}")
        try:
            server = start(like, row.io_threads, first_port + number)
        except ServerError as error:
            progress(f"{row.name}: {like.label}: {error}", keep=True)
            continue
        stack.callback(server.stop)
        yield like.label, server


def run_row(servers, row, rounds, progress):
    """"main thread" or "whole process" -> label -> median CPU microseconds per request. The servers stay for all
    rounds."""
    found = {server.label: [] for server in servers}
    with contextlib.ExitStack() as stack:
        threaded = list(started(servers, row, stack, progress))
        for number in range(rounds):
            for label, server in threaded:
                progress(f"{row.name}: round {number + 1} of {rounds}, {label}")
                found[label].append(turn(server, row))
    return {what: medians({label: [pair[at] for pair in pairs] for label, pairs in found.items()})
            for at, what in enumerate((MAIN, PROCESS))}
