"""The two servers that are compared, and connections to them that read raw replies."""
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


PORTS = "21000-31999"


def free_port(ports=None):
    """Below those that the system gives to clients, so that a server that restarts finds it free again. Begins at a
    random one: others look for ports in the same range. Fails when all of them are taken."""
    ports = ports or os.environ.get("PACKLIST_PORTS", PORTS)
    first, last = map(int, ports.split("-"))
    count, begin = last - first + 1, random.randrange(last - first + 1)
    for step in range(count):
        port = first + (begin + step) % count
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError(f"all ports of {ports} (PACKLIST_PORTS) are taken")


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
        self.folder = tempfile.mkdtemp(prefix="packlist-oracle.")
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
            link = Link(self)
        except OSError:
            return False
        try:
            return link.call(b"EXISTS", b"k").startswith(b":")
        except (OSError, EOFError):
            return False
        finally:
            link.close()

    def is_running(self):
        return self.process.poll() is None

    def restart(self, *options):
        """Ends the process, unless it has ended, and starts another one on the same port and folder."""
        self.process.terminate()
        self.process.wait(timeout=60)
        self.launch(*options)

    def redis_version(self):
        """The version of Redis that it reports, as (major, minor)."""
        link = Link(self)
        text = link.call(b"INFO", b"server").decode()
        link.close()
        return tuple(map(int, text.split("redis_version:")[1].split(".")[:2]))

    def connect(self):
        link = socket.create_connection(("127.0.0.1", self.port))
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link

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


def encode(argv):
    parts = [b"*%d\r\n" % len(argv)]
    for argument in argv:
        parts.append(b"$%d\r\n%s\r\n" % (len(argument), argument))
    return b"".join(parts)


MARKER = b"--end of batch--"
MARKER_REQUEST = encode([b"ECHO", MARKER])
MARKER_REPLY = b"$%d\r\n%s\r\n" % (len(MARKER), MARKER)


class Link:
    """A connection to a server, which has a name and connects. Replies are kept as the bytes that came."""

    def __init__(self, server):
        self.server = server
        self.socket = server.connect()
        self.socket.settimeout(60)
        self.buffer = b""

    def close(self):
        self.socket.close()

    def send(self, payload):
        self.socket.sendall(payload)

    def more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError(f"{self.server.name} closed the connection")
        self.buffer += data

    def batch(self, payload):
        """Sends requests and a marker; returns all that was answered before the marker."""
        self.send(payload + MARKER_REQUEST)
        while not self.buffer.endswith(MARKER_REPLY):
            try:
                self.more()
            except TimeoutError as error:
                raise TimeoutError(f"{self.server.name} does not answer; last: {self.buffer[-200:]!r}") from error
        answer, self.buffer = self.buffer[:-len(MARKER_REPLY)], b""
        return answer

    def call(self, *argv):
        """One request; its raw reply."""
        self.send(encode(list(argv)))
        return self.reply()

    def reply(self):
        while (size := reply_size(self.buffer, 0)) is None:
            self.more()
        answer, self.buffer = self.buffer[:size], self.buffer[size:]
        return answer

    def until_closed(self, quiet_seconds):
        """All bytes that come until the server closes or stays quiet; and whether it closed."""
        self.socket.settimeout(quiet_seconds)
        closed = False
        try:
            while True:
                self.more()
        except EOFError:
            closed = True
        except (TimeoutError, socket.timeout):
            pass
        except ConnectionResetError:
            closed = True
        self.socket.settimeout(60)
        answer, self.buffer = self.buffer, b""
        return answer, closed


def reply_size(data, at):
    """Where the reply that begins at `at` ends, or None while it is incomplete."""
    line_end = data.find(b"\r\n", at)
    if line_end < 0:
        return None
    kind, rest, at = data[at:at + 1], data[at + 1:line_end], line_end + 2
    if kind in (b"$", b"="):
        size = int(rest)
        if size < 0:
            return at
        return at + size + 2 if len(data) >= at + size + 2 else None
    if kind in (b"*", b"~", b">", b"%"):
        for _ in range(max(int(rest), 0) * (2 if kind == b"%" else 1)):
            at = reply_size(data, at)
            if at is None:
                return None
    return at


def split_replies(data):
    replies, at = [], 0
    while at < len(data):
        end = reply_size(data, at)
        if end is None:
            replies.append(data[at:])
            break
        replies.append(data[at:end])
        at = end
    return replies
