"""A server under callgrind, which counts the instructions of what it is sent.

Only the server's own binary is counted, not the C library, libuv or jemalloc: their versions differ from
system to system, and how long they wait differs from run to run. What is given to them shows as calls.
"""
import os
import shutil
import ssl
import subprocess
import tempfile
import time
from collections import namedtuple
from pathlib import Path

from cases import request
from libraries import build_library
from resp import Address, Link, split_replies
from servers import free_port

START_SECONDS = 60
KNOWN_RANDOM = Path(__file__).resolve().parent / "known_random.c"
MARK_FUNCTION = "echo_command"  # entering it ends a count: Link.batch ends with an ECHO
SETTINGS = ["--port", "0", "--save", "", "--hz", "1", "--slowlog-log-slower-than", "-1"]

Count = namedtuple("Count", "instructions calls")


class CountingError(Exception):
    """Nothing could be counted; the text says why."""


def count_of(dump, binary):
    """The instructions of `binary` in callgrind's file, and the calls from it into other objects.

    The format's lines, after `ob=` or `fn=` has named their owner: "0 COST", or, after `cob=` where the callee's
    object is another one, "calls=COUNT 0" and then "0 COST" of all that the callee did."""
    instructions = calls = 0
    owner = callee = ""
    of_callee = False
    for line in dump.splitlines():
        word, _, value = line.partition("=")
        if word == "ob":
            owner = callee = value
        elif word == "cob":
            callee = value
        elif word == "calls":
            if owner == binary and callee != binary:
                calls += int(value.split()[0])
            callee, of_callee = owner, True
        elif line[:1].isdigit():
            if owner == binary and not of_callee:
                instructions += int(line.split()[1])
            of_callee = False
    return Count(instructions, calls)


class Server:
    """Packlist under callgrind, on a unix socket in a folder of its own, and on a port for TLS. What it does at random
    is the same in every run."""

    def __init__(self, binary):
        self.name, self.binary, self.dumps = "packlist-server", os.path.realpath(binary), 0
        self.folder, self.tls_port = tempfile.mkdtemp(prefix="packlist-instructions."), free_port()
        subprocess.run(["tests/tls/make-certificates", self.folder], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        tls = ["--tls-port", str(self.tls_port), "--tls-auth-clients", "no"]
        for what, name in (("cert", "server.crt"), ("key", "server.key"), ("ca-cert", "ca.crt")):
            tls += [f"--tls-{what}-file", f"{self.folder}/{name}"]
        self.dump_file = f"{self.folder}/count"
        env = {**os.environ, "LD_PRELOAD": str(build_library(KNOWN_RANDOM, self.folder))}
        env.pop("VALGRIND_OPTS", None)
        with open(f"{self.folder}/log", "wb") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", "valgrind", "--tool=callgrind",
                 f"--callgrind-out-file={self.dump_file}", f"--dump-before={MARK_FUNCTION}",
                 "--dump-line=no", "--compress-strings=no", "--compress-pos=no",
                 self.binary, *SETTINGS, *tls, "--unixsocket", f"{self.folder}/socket"],
                cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def connect(self):
        deadline = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                return Address(f"{self.folder}/socket").connect()
            except OSError:
                time.sleep(0.05)
        raise CountingError(f"the server does not start under callgrind:\n{self.log_text()}")

    def over_tls(self):
        """What a Link connects to."""
        address, context = Address(self.tls_port), ssl.create_default_context(cafile=f"{self.folder}/ca.crt")
        plain = address.connect
        address.connect = lambda: context.wrap_socket(plain(), server_hostname="127.0.0.1")
        return address

    def log_text(self):
        return Path(self.folder, "log").read_text(errors="replace")

    def next_dump(self):
        """What callgrind wrote when the mark ran; it is complete before the mark is answered."""
        self.dumps += 1
        path = Path(f"{self.dump_file}.{self.dumps}")
        if not path.exists():
            raise CountingError(f"callgrind did not see {MARK_FUNCTION}, which marks where a count ends")
        text = path.read_text(errors="replace")
        path.unlink()
        return text

    def stop(self):
        """Raises when it had died, or does not end in order."""
        alive = self.process.poll() is None
        self.process.terminate()
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        log = self.log_text()
        shutil.rmtree(self.folder)
        if not alive or status != 0:
            raise CountingError(f"the server ended with status {status}:\n{log[-4000:]}")


def reply_without_messages(link):
    """The next reply; a message of RESP3 is none."""
    while (reply := link.reply()).startswith(b">"):
        pass
    return reply


class Counter:
    """Runs requests over one connection, and counts what they cost."""

    def __init__(self, server):
        self.server, self.link = server, Link(server)
        self.tls_link = Link(server.over_tls())
        self.tls_link.batch(b"")  # the handshake is not counted
        server.next_dump()

    def run_before_count(self, requests):
        """Runs them in any pieces; the count begins at their end."""
        for reply in split_replies(self.link.batch(b"".join(requests))):
            self.check(reply)
        self.server.next_dump()

    def run_pipelines(self, link, requests, size):
        """Each pipeline is one write, and the next one waits for all replies: so each is one read, too."""
        for begin in range(0, len(requests), size):
            pipeline = requests[begin:begin + size]
            link.send(b"".join(pipeline))
            for _ in pipeline:
                self.check(reply_without_messages(link))

    def check(self, reply):
        if reply.startswith(b"-"):
            raise CountingError(f"the server answers {reply!r}")

    def count(self, case):
        """The cost of all requests of the case."""
        self.run_before_count([request("RESET"), request("FLUSHALL", "SYNC"), *case.prepare])
        self.run_pipelines(self.tls_link if case.by_tls else self.link, case.requests, case.pipeline)
        self.link.batch(b"")
        return count_of(self.server.next_dump(), self.server.binary)
