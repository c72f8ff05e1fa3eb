"""The servers that get measured: finding them, starting them on a core of their own, talking to them.

The client is that of the tests: tests/lib knows nothing of benchmarks. Servers are started here, as tests neither pin
theirs to a core nor read their CPU time.
"""
import ctypes
import functools
import os
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/lib"))
import peers  # noqa: E402
import resp  # noqa: E402

START_SECONDS = 10
IDLE_SECONDS = 30  # freeing ten million keys in the background takes some
IDLE_SAMPLE, IDLE_SAMPLES, IDLE_SHARE = 0.01, 2, 0.1  # idle: so many samples of so many seconds with less CPU than that


@functools.cache  # as we give up all but one of them later
def cores():
    """(core of the server, core of the load): the first two that we may use, or the only one twice."""
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[min(1, len(usable) - 1)]


def take_core(core):
    """Keeps this process and its children to a core (None: to any), with priority over other programs where that is
    allowed."""
    os.sched_setaffinity(0, {core} if core is not None else set(cores()))
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except PermissionError:
        pass


class ServerError(Exception):
    """An error reply, or a server that does not start or stops answering."""


class TlsAddress(resp.Address):
    """A port that speaks TLS. `authority` is the file with the certificate to trust."""

    def __init__(self, port, authority):
        super().__init__(port)
        self.context = ssl.create_default_context(cafile=authority)

    def connect(self):
        return self.context.wrap_socket(super().connect(), server_hostname="127.0.0.1")


class Client(resp.Client):
    """A connection to a port or an address; an error reply or a connection that was closed is a ServerError."""

    def __init__(self, place):
        super().__init__(resp.Address(place) if isinstance(place, int) else place, timeout=None)

    def more(self):
        try:
            super().more()
        except EOFError as error:
            raise ServerError(str(error)) from None

    def answer(self):
        try:
            return super().answer()
        except resp.ReplyError as error:
            raise ServerError(str(error)) from None


class Process:
    """A program on the servers' core, or with `is_spread` on any, that listens on a port."""

    def __init__(self, command, port, stdin=subprocess.DEVNULL, is_spread=False, **how):
        self.port = port
        core = None if is_spread else cores()[0]
        self.process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: take_core(core), **how)
        clock = ctypes.c_int()  # of all its threads, to the nanosecond; also of those that have ended
        if ctypes.CDLL(None).clock_getcpuclockid(self.process.pid, ctypes.byref(clock)):
            self.stop()
            raise ServerError("this system has no clock of another process's CPU time")
        self.clock = clock.value

    def connect(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                return Client(self.port)
            except OSError:
                time.sleep(0.05)
        raise ServerError(f"does not answer on port {self.port}")

    def cpu_seconds(self):
        """User and system time."""
        return time.clock_gettime(self.clock)

    def main_thread_seconds(self):
        """The same of the thread that runs commands."""
        pid = self.process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9

    def wait_until_idle(self):
        """Waits until nothing goes on in it, such as freeing what FLUSHALL left."""
        deadline, idle, before = time.monotonic() + IDLE_SECONDS, 0, self.cpu_seconds()
        while idle < IDLE_SAMPLES and time.monotonic() < deadline:
            time.sleep(IDLE_SAMPLE)
            now = self.cpu_seconds()
            idle = idle + 1 if now - before < IDLE_SHARE * IDLE_SAMPLE else 0
            before = now

    def stop(self):
        self.process.kill()
        self.process.wait()


class Floor(Process):
    """floor.c: answers every `request_len` bytes with `reply`, which goes to all connections where it is `to_all`."""

    def __init__(self, path, port, request_len, reply, to_all):
        super().__init__([path, str(port), str(request_len)] + ["all"] * to_all, port, subprocess.PIPE)
        try:
            with self.process.stdin as pipe:
                pipe.write(reply)
            self.connect().close()
        except BaseException:
            self.stop()
            raise


class Floors:
    """Starts floors one after the other on a port, as long as they start at all."""

    def __init__(self, path, port):
        self.path, self.port, self.reason = path, port, None

    def start(self, request_len, reply, to_all=False):
        """A Floor, or None; then `reason` says why."""
        if self.reason is None:
            try:
                return Floor(self.path, self.port, request_len, reply, to_all)
            except (ServerError, OSError) as error:
                self.reason = str(error)
        return None


class Server(Process):
    """A running server. `holds` names the data that it was last filled with (see measure.prepare). With `tls_port` it
    listens there, too, with certificates that it finds in `authority`'s folder; otherwise that is None. It gets the
    variables of `environment` beside ours."""

    def __init__(self, name, path, port, argv0=None, options=(), tls_port=None, environment=None, is_spread=False):
        self.holds, self.tls_port, self.program = None, tls_port, (name, path, argv0)
        self.folder = tempfile.TemporaryDirectory(prefix="packlist-bench-")
        self.authority = os.path.join(self.folder.name, "ca.crt")
        if tls_port:
            options = [*options, *self.make_certificates()]
        self.unix_socket = os.path.join(self.folder.name, "socket")
        super().__init__([argv0 or path, "--port", str(port), "--bind", "127.0.0.1", "--unixsocket", self.unix_socket,
                          "--save", "", *options], port, executable=path, cwd=self.folder.name, is_spread=is_spread,
                         env={**os.environ, **(environment or {})})
        try:
            self.client = self.connect()
            self.label = self.name_and_version(name)
        except BaseException:
            self.stop()
            raise

    def make_certificates(self):
        """The options of a server that uses those it makes."""
        folder = self.folder.name
        subprocess.run([ROOT / "tests/tls/make-certificates", folder], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return ["--tls-port", str(self.tls_port), "--tls-auth-clients", "no", "--tls-ca-cert-file", self.authority,
                "--tls-cert-file", f"{folder}/server.crt", "--tls-key-file", f"{folder}/server.key"]

    def info(self, section):
        return resp.info(self.client, section)

    def used_memory(self):
        return int(self.info("memory")["used_memory"])

    def resident_memory(self):
        return int(self.info("memory")["used_memory_rss"])

    def name_and_version(self, name):
        info = self.info("server")
        if int(info.get("process_id", self.process.pid)) != self.process.pid:
            raise ServerError(f"another server answers on port {self.port}")
        return peers.label(name, info)

    def another(self, port, environment):
        """Another server of the same program, with default options."""
        name, path, argv0 = self.program
        return Server(name, path, port, argv0, environment=environment)

    def stop(self):
        super().stop()
        self.folder.cleanup()

    close = stop  # for contextlib.closing


def start(name, path, port, argv0=None):
    """A server that allows DEBUG and speaks TLS on the port behind `port`, where it knows the directives for that."""
    for options, tls_port in ((("--enable-debug-command", "local"), port + 1), ((), port + 1),
                              (("--enable-debug-command", "local"), None)):
        try:
            return Server(name, path, port, argv0, options, tls_port)
        except ServerError:
            pass
    return Server(name, path, port, argv0)


def start_all(packlist, given, first_port, with_peers=True):
    """Packlist first, then the peers that start: those given, else those that this machine has. Says which do not."""
    servers = []
    found = (peers.named(given) or peers.find_peers(())) if with_peers else ()
    try:
        servers.append(start(None, packlist, first_port))
        for number, (name, path, argv0) in enumerate(found, 1):
            try:
                servers.append(start(name, path, first_port + 2 * number, argv0))
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
