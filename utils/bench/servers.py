"""The servers that get measured: finding them, starting them on a core of their own, talking to them."""
import os
import shutil
import socket
import subprocess
import tempfile
import time

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
START_SECONDS = 10


def cores():
    """(core of the server, core of the load): the first two that we may use, or the only one twice."""
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[min(1, len(usable) - 1)]


def encode(*words):
    """A request in RESP; words are bytes, text or numbers."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        if not isinstance(word, bytes):
            word = str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


class ServerError(Exception):
    """An error reply, or a server that does not start or stops answering."""


class Client:
    """One connection; replies of RESP2."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")

    def read(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        raise ServerError(rest.decode() or "the connection was closed")

    def call(self, *words):
        self.socket.sendall(encode(*words))
        return self.read()

    def pipeline(self, requests):
        """Sends encoded requests at once. For small replies only: it reads after having sent all."""
        self.socket.sendall(b"".join(requests))
        for _ in requests:
            self.read()

    def close(self):
        self.file.close()
        self.socket.close()


class Server:
    """A running server. `holds` names the data that it was last filled with (see measure.prepare)."""

    def __init__(self, name, path, port, argv0=None):
        self.port, self.holds = port, None
        self.folder = tempfile.TemporaryDirectory(prefix="packlist-bench-")
        core, _ = cores()
        self.process = subprocess.Popen(
            [argv0 or path, "--port", str(port), "--bind", "127.0.0.1", "--save", ""], executable=path,
            cwd=self.folder.name, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        try:
            self.client = self.connect()
            self.label = self.name_and_version(name)
        except BaseException:
            self.stop()
            raise

    def connect(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                return Client(self.port)
            except OSError:
                time.sleep(0.05)
        raise ServerError(f"does not answer on port {self.port}")

    def info(self, section):
        lines = self.client.call("INFO", section).decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def name_and_version(self, name):
        info = self.info("server")
        if int(info.get("process_id", self.process.pid)) != self.process.pid:
            raise ServerError(f"another server answers on port {self.port}")
        for product in ("packlist", "valkey", "redis"):
            version = info.get(product + "_version")
            if version:
                return f"{name or product.capitalize()} {version}"
        return name

    def cpu_seconds(self):
        """User and system time of all its threads."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND

    def settle(self):
        """Waits until nothing goes on in it, such as freeing what FLUSHALL left; 3 seconds at most."""
        for _ in range(60):
            before = self.cpu_seconds()
            time.sleep(0.05)
            if self.cpu_seconds() - before < 0.015:
                return

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def find_peers(given):
    """(name or None, path, argv[0] or None) of each peer: those given as NAME=PATH, then what is on PATH.

    Debian's redis-tools holds the server too: redis-check-rdb, which is one when called redis-server."""
    found = []
    for item in given:
        name, _, path = item.rpartition("=")
        found.append((name or None, os.path.abspath(path), None))
    for program, argv0 in (("redis-server", None), ("valkey-server", None), ("redis-check-rdb", "redis-server")):
        path = shutil.which(program)
        if path and os.path.realpath(path) not in (os.path.realpath(known) for _, known, _ in found):
            found.append((None, path, argv0))
    return found


def start_all(packlist, given, first_port):
    """Packlist first, then the peers that start; says which do not."""
    servers = []
    try:
        servers.append(Server(None, packlist, first_port))
        for number, (name, path, argv0) in enumerate(find_peers(given), 1):
            try:
                servers.append(Server(name, path, first_port + number, argv0))
            except (ServerError, OSError) as error:
                print(f"{path}: {error}; left out")
        for number, server in enumerate(servers):
            if server.label in [other.label for other in servers[:number]]:
                server.label += f" ({number})"
    except BaseException:
        stop_all(servers)
        raise
    return servers


def stop_all(servers):
    for server in servers:
        server.stop()
