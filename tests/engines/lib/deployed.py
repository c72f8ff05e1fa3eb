"""Processes that run with the files of utils/deploy/, and what tests of engines ask and judge.

Only addresses, passwords that tests need not hide and times of those files are replaced: `edited` fails when what it
replaces is not in the file, so that a test cannot lose touch with what users are told to write.
"""
import contextlib
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests" / "lib"))
import peers  # noqa: E402
from resp import Address, Client, ReplyError, fields_of  # noqa: E402,F401
from servers import Server, end_servers_with_this_program, free_port, running  # noqa: E402,F401

SOAK = "PACKLIST_SOAK" in os.environ
PASSWORD = "a-long-random-password"  # of the files in utils/deploy/
PATIENCE_SECONDS = 250  # the runner takes a program for hung after 300 s


class Trouble(Exception):
    """What is wrong."""


# --- Configurations

def deploy_file(name):
    return (TOP / "utils" / "deploy" / name).read_text()


def edited(text, replacements):
    """The text with regular expressions replaced; each must be found."""
    for pattern, new in replacements.items():
        text, count = re.subn(pattern, new, text, flags=re.M)
        if not count:
            raise Trouble(f"{pattern!r} is not in the file of utils/deploy/:\n{text}")
    return text


# --- Processes

class Deployed(Server):
    """A process that is started with a configuration file alone; it may write to that file. `make_config(port)` gives
    its text."""

    def __init__(self, name, argv0, binary, make_config, password=None, arguments=(), ready=b"PING"):
        self.make_config, self.password, self.arguments, self.ready = make_config, password, arguments, ready
        super().__init__(name, argv0, os.path.abspath(binary))

    def begin(self, *_):
        config = Path(self.folder, "config")
        if not config.exists():
            config.write_text(self.make_config(self.port))
        self.process = subprocess.Popen(
            [self.argv0, str(config), *self.arguments], executable=self.binary, cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        running.add(self)

    def is_ready(self):
        with contextlib.suppress(OSError, EOFError, Trouble):
            return call(self, self.ready) == "PONG"
        return False

    def kill(self):
        self.process.kill()
        self.process.wait()


class Program:
    """A program that speaks another protocol: its output is in `log_text`. Ends with this program."""

    count = 0

    def __init__(self, command, folder, environment=None):
        Program.count += 1
        self.folder, self.log = folder, Path(folder, f"program.{Program.count}.log")
        with self.log.open("xb") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command], cwd=folder, stdout=log, stderr=log,
                stdin=subprocess.PIPE, env={**os.environ, **(environment or {})})

    def log_text(self):
        return self.log.read_text(errors="replace")

    def numbers(self, word):
        """Those of the lines "word N" that it has printed; the last line may not be complete yet."""
        return [int(n) for n in re.findall(rf"^{word} (\d+)\n", self.log_text(), flags=re.M)]

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait()


def start_data_server(kind, name, config):
    """A server of `kind`, Packlist or redis, with the configuration `config(port)`."""
    if kind == "packlist":
        mine = os.environ.get("PACKLIST_SERVER", "build/release/packlist-server")
        return Deployed(name, "packlist-server", mine, config, PASSWORD)
    path, argv0 = redis_binary()
    return Deployed(name, argv0, path, config, PASSWORD)


def redis_binary():
    """(path, argv[0]) of a server of another kind, or None."""
    for _, path, argv0 in peers.find_peers([]):
        return path, argv0 or path
    return None


# --- Requests

class Connection(Client):
    """Replies as Python values in text, errors as Trouble; it gives the server's password first, or its user and
    password if that is a pair."""

    def __init__(self, server, timeout=10):
        super().__init__(server, timeout, in_text=True)
        if server.password:
            self.call("AUTH", *(server.password if isinstance(server.password, tuple) else [server.password]))

    def answer(self):
        try:
            return super().answer()
        except ReplyError as error:
            raise Trouble(str(error)) from None


def call(server, *argv, timeout=10):
    """One request on a connection of its own."""
    with Connection(server, timeout) as connection:
        return connection.call(*argv)


def info(server, section="replication"):
    return fields_of(call(server, "INFO", section))


def wait_for(what, condition, patience=PATIENCE_SECONDS):
    """Until the condition holds. Servers may be away meanwhile."""
    deadline = time.monotonic() + patience
    while True:
        last = "it is not so"
        try:
            if value := condition():
                return value
        except (OSError, EOFError, Trouble) as trouble:
            last = repr(trouble)
        if time.monotonic() > deadline:
            raise Trouble(f"this does not happen: {what}: {last}")
        time.sleep(0.05)


def in_step(primary, replica):
    there, here = info(primary), info(replica)
    return here.get("master_link_status") == "up" and here["slave_repl_offset"] == there["master_repl_offset"]


# --- How slow the machine is

class Slowness:
    """Measures, in a process of its own, how many naps of 50 ms fit into a time."""
    NAP_SECONDS = 0.05

    def __init__(self):
        self.naps = multiprocessing.Value("L", 0)
        self.process = multiprocessing.Process(target=self.nap, daemon=True)
        self.process.start()
        self.start()

    def nap(self):
        parent = os.getppid()
        while os.getppid() == parent:
            time.sleep(self.NAP_SECONDS)
            self.naps.value += 1

    def start(self):
        self.begun, self.counted = time.monotonic(), self.naps.value

    def factor(self):
        """By how much the time since start() was stretched; 1 on an idle machine."""
        napped = (self.naps.value - self.counted) * self.NAP_SECONDS
        return max((time.monotonic() - self.begun) / max(napped, self.NAP_SECONDS), 1.0)


# --- Verdicts

CHECKS = []


def check(name, holds, *details):
    CHECKS.append(bool(holds))
    if not holds:
        print(f"FAILED: {name}", *details, sep="\n", flush=True)
    return holds


def finish(skipped=0):
    """The runner's last line. Returns the status of the program."""
    failed = CHECKS.count(False)
    print(f"{len(CHECKS) - failed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return int(failed > 0)


def run_tests(*tests):
    """Calls each test; what it raises fails it. Ends the program."""
    end_servers_with_this_program()
    for test in tests:
        try:
            test()
        except (Trouble, OSError, EOFError, SystemExit) as trouble:
            check(test.__doc__ or test.__name__, False, repr(trouble))
            for server in list(running):
                print(f"--- the log of {server.name} ends:", *server.log_text().splitlines()[-25:], sep="\n")
        finally:
            for server in list(running):
                server.process.kill()
                server.process.wait()
                shutil.rmtree(server.folder, ignore_errors=True)
                running.discard(server)
    sys.exit(finish())
