"""Servers for tests: free ports, starting them, ending them in order, and ending all that were left."""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from resp import Address, Link, info

PORTS = "21000-31999"
ports_given = set()  # by free_port: who has one may listen there only later


def free_port(ports=None):
    """Below those that the system gives to clients, so that a server that restarts finds it free again. Begins at a
    random one: others look for ports in the same range. Gives none twice while there are others. Fails when all of them
    are taken."""
    ports = ports or os.environ.get("PACKLIST_PORTS", PORTS)
    first, last = map(int, ports.split("-"))
    count, begin = last - first + 1, random.randrange(last - first + 1)
    if len(ports_given) > count // 2:
        ports_given.clear()
    for step in range(count):
        port = first + (begin + step) % count
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports_given:
            ports_given.add(port)
            return port
    raise RuntimeError(f"all ports of {ports} (PACKLIST_PORTS) are taken")


def wait_until_listening(port, process, seconds):
    """Whether something accepts connections there before the process ends, or so many seconds have passed."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False


running = set()  # the servers that were launched and not stopped


def end_servers_with_this_program():
    """From now on SIGTERM ends all servers before it ends this program; their folders go, too."""
    def end(number, _frame):
        for server in list(running):
            server.process.kill()
            server.process.wait()
            shutil.rmtree(server.folder, ignore_errors=True)
        sys.exit(128 + number)
    signal.signal(signal.SIGTERM, end)


class Server:
    """One server process on a port of its own, in a folder of its own: without persistence, unless `options` ask
    for it. `files` are copied there before, from the folder of another server."""

    def __init__(self, name, argv0, binary, options=(), files=None, environment=None):
        self.name, self.argv0, self.binary, self.environment = name, argv0, binary, environment
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix="packlist-server.")
        if files:
            shutil.copytree(files, self.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("log"))
        self.log = open(f"{self.folder}/log", "wb")
        self.launch(*options)

    def begin(self, *options):
        """Starts the process."""
        self.process = subprocess.Popen(
            [self.argv0, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--enable-debug-command", "yes", *options],
            executable=self.binary, cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, env=self.environment)
        running.add(self)

    def launch(self, *options):
        """Starts the process and waits until it has loaded what lies in its folder."""
        self.begin(*options)
        deadline = time.monotonic() + 60
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{self.name} does not start:\n{self.log_text()}")
            time.sleep(0.02)

    def is_ready(self):
        try:
            with Link(self) as link:
                # A node of a cluster serves no key until it has slots.
                return link.call("EXISTS", "k").startswith((b":", b"-CLUSTERDOWN", b"-MOVED"))
        except (OSError, EOFError):
            return False

    def is_running(self):
        return self.process.poll() is None

    def restart(self, *options):
        """Ends the process, unless it has ended, and starts another one on the same port and folder."""
        self.process.terminate()
        self.process.wait(timeout=60)
        self.launch(*options)

    def redis_version(self):
        """The version of Redis that it reports, as (major, minor)."""
        with Link(self) as link:
            return tuple(map(int, info(link, "server")["redis_version"].split(".")[:2]))

    def connect(self):
        return Address(self.port).connect()

    def log_text(self):
        return Path(self.folder, "log").read_text(errors="replace")

    def stop(self):
        """True when it was still alive and ended in order."""
        alive = self.process.poll() is None
        self.process.terminate()
        status = self.process.wait(timeout=60)
        self.log.close()
        text = self.log_text()
        shutil.rmtree(self.folder)
        running.discard(self)
        clean = alive and status == 0 and "Sanitizer" not in text and "runtime error" not in text
        if not clean:
            print(f"{self.name} ended with status {status}:\n{text[-4000:]}")
        return clean


def start_packlist(options=(), files=None, environment=None):
    mine = os.environ.get("PACKLIST_SERVER", "build/release/packlist-server")
    return Server("packlist", "packlist-server", os.path.abspath(mine), options, files, environment)


def start_reference(options=(), files=None):
    """Debian's redis-tools holds the server's binary under another name."""
    reference = os.environ.get("PACKLIST_ORACLE", "/usr/bin/redis-check-rdb")
    return Server("reference", "redis-server", reference, options, files)


def start_pair(options=()):
    return start_packlist(options), start_reference(options)
