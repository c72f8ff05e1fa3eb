"""What replication costs: a primary its replicas, and a replica its primary's changes."""
import contextlib
import multiprocessing
import socket
import time

from bench_servers import ServerError
from measure import empty, example, load, prepare
from repeat import Least, until_settled
from resp import Address, Link, encode, value_of
from rows import FullSync, ReplicatedWrites
from saving import Load, memory

SECONDS = 60                  # for a replica to be online, or to have applied all
WARM_UP_SECONDS, POLL_SECONDS = 0.5, 0.05
REPLICAS_OF_SYNC = 3
NO_DATA = b"REDIS0009\xff" + bytes(8)  # an RDB file of no keys; a checksum of 0 is none
DEFAULTS = (("repl-diskless-sync", "yes"), ("repl-diskless-sync-delay", "0"))


def wait_until(what, holds):
    deadline = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise ServerError(f"{what} took more than {SECONDS} s")
        time.sleep(POLL_SECONDS)


# --- Replicas that only read ---

def read_all(port):
    """A replica that throws away what it gets, and confirms each second as replicas do."""
    with Address(port).connect() as link:
        for words in (("REPLCONF", "capa", "eof", "capa", "psync2"), ("PSYNC", "?", "-1")):
            link.sendall(encode(words))
            link.recv(4096)
        link.settimeout(1)
        room, confirmed = bytearray(1 << 20), time.monotonic()
        while True:
            with contextlib.suppress(socket.timeout):
                if link.recv_into(room) == 0:
                    return
            if time.monotonic() - confirmed >= 1:
                confirmed = time.monotonic()
                link.sendall(encode(["REPLCONF", "ACK", "0"]))


@contextlib.contextmanager
def readers(server, count):
    """As many processes of read_all; gives a function that says whether all have got the data."""
    processes = [multiprocessing.Process(target=read_all, args=(server.port,), daemon=True) for _ in range(count)]
    for process in processes:
        process.start()

    def are_online():
        info = server.info("replication")
        return all("state=online" in info.get(f"slave{number}", "") for number in range(count))
    try:
        yield are_online
    finally:
        for process in processes:
            process.kill()
            process.join()
        wait_until("the end of connections", lambda: server.info("replication")["connected_slaves"] == "0")


def configure(server):
    for name, value in DEFAULTS:
        server.client.call("CONFIG", "SET", name, value)


def cpu_of_all(server, row):
    """CPU per request of a row, with that of what the server sends its replicas later."""
    server.wait_until_idle()
    before = server.cpu_seconds()
    load(server, row)
    server.wait_until_idle()
    return (server.cpu_seconds() - before) / row.requests * 1e6


def measure_writes(server, item):
    """CPU per request of a row of writes without replicas, with one and with three."""
    figures = {}
    configure(server)
    for count in (0, 1, 3):
        prepare(server, (), {})
        with readers(server, count) as are_online:
            wait_until("a replica's first data", are_online)
            load(server, item.row)  # whatever the first writes have to make
            figures[f"with {count} replica{'s' * (count != 1)}, µs"] = cpu_of_all(server, item.row)
        empty(server)
    return figures


# --- Full sync ---

def measure_sync(server, item, pace):
    """How clients fare while replicas get all data, and the memory that it takes."""
    configure(server)
    prepare(server, item.data, {})
    server.wait_until_idle()
    samples = [memory(server)]
    with Load(pace, server.port, item.rate, item.requests) as clients:
        time.sleep(WARM_UP_SECONDS)
        clients.begin_phase()
        with readers(server, REPLICAS_OF_SYNC) as are_online:
            while not are_online():
                samples.append(memory(server))
                time.sleep(POLL_SECONDS)
            clients.begin_phase()
        _, during, _ = clients.phases()  # when the readers have ended, which share the pipe that ends it
    rate = f"at {item.rate:,}/s"
    return {f"longest latency {rate}, ms": during["longest"] / 1e3, f"p99.9 of latency {rate}, ms":
            during["p99.9"] / 1e3, "duration, s": during["seconds"],
            f"extra memory {rate}, MB": (max(samples) - samples[0]) / 1e6}


# --- A replica ---

class Replica:
    """The one that connects to a listener. A request has the form of a reply, so a Link reads what it asks for."""
    name = "the replica"

    def __init__(self, listener):
        self.connect = lambda: listener.accept()[0]


def be_primary(listener, stream):
    """A primary of no keys, which sends the stream to the replica that asks, and reads what that confirms."""
    with Link(Replica(listener), timeout=None) as link, contextlib.suppress(EOFError):
        while (command := value_of(link.reply())[0].upper()) != b"PSYNC":
            link.send(b"+PONG\r\n" if command == b"PING" else b"+OK\r\n")
        link.send(b"+FULLRESYNC %s 0\r\n$%d\r\n%s" % (b"0" * 40, len(NO_DATA), NO_DATA))
        link.reply()  # its first confirmation: it has loaded the data
        link.send(stream)
        while True:
            link.reply()


def measure_applying(server, item):
    """CPU per command of a stream that a primary sends without a pause."""
    pushes = b"".join(encode(["RPUSH", "key:%012d" % (number * 7919 % item.lists), "hellohello"])
                      for number in range(item.lists))
    stream = encode(["SELECT", "0"]) + pushes * item.pushes_of_each
    empty(server)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        primary = multiprocessing.Process(target=be_primary, args=(listener, stream), daemon=True)
        primary.start()
        try:
            before = server.cpu_seconds()
            server.client.call("REPLICAOF", "127.0.0.1", listener.getsockname()[1])
            wait_until("the stream", lambda: applied(server) >= len(stream))
            spent = server.cpu_seconds() - before
        finally:
            server.client.call("REPLICAOF", "NO", "ONE")
            primary.kill()
            primary.join()
    empty(server)
    return {"CPU, µs": spent / (item.lists * item.pushes_of_each) * 1e6}


def applied(server):
    """How many bytes of its primary's stream a replica has applied."""
    info = server.info("replication")
    return int(info["slave_repl_offset"]) if info.get("master_link_status") == "up" else 0


# --- All of it ---

def measure_floor(floors, row):
    """What the kernel alone costs for a row of SET, without replicas; None where there is no floor."""
    floor = floors.start(len(encode(example(row))), b"+OK\r\n")
    if not floor:
        return None
    try:
        return load(floor, row)
    finally:
        floor.stop()


def one_round(server, item, pace):
    """Name of a figure -> the figure."""
    if isinstance(item, ReplicatedWrites):
        return measure_writes(server, item)
    if isinstance(item, FullSync):
        return measure_sync(server, item, pace)
    return measure_applying(server, item)


def run_replication(servers, item, rounds, pace, floors, progress):
    """Name of a figure -> label, or "floor" -> the figure in the best round, as what else goes on in the machine
    only adds."""
    found = Least(servers)
    for number in until_settled(rounds, found.lists):
        for server in servers:
            progress(f"{item.name}: round {number + 1} of {rounds}, {server.label}")
            try:
                found.add(server, one_round(server, item, pace))
            except (OSError, ServerError) as error:
                progress(f"{item.name}: {server.label}: {error}", keep=True)
    best = found.figures()
    if isinstance(item, ReplicatedWrites) and (floor := measure_floor(floors, item.row)):
        for figures in best.values():
            figures["floor"] = floor
    for server in servers:
        empty(server)
    return best
