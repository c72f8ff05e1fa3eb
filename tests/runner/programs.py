"""Runs one test program within limits and counts what it says.

A busy machine makes a program slow, not wrong; so the limits are no times of the clock. A program hangs when it and
its children have used more CPU time than their suite's limit, or next to none for IDLE_SECONDS.
"""
import contextlib
import glob
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
from servers import free_port, wait_until_listening  # noqa: E402

IDLE_SECONDS, IDLE_CPU_SECONDS = 300, 3  # so little CPU time in so long: it waits for something that never happens
POLL_SECONDS = 2
LAST_WORDS_SECONDS = 5
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
BAD_SIGNS = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error: |: Assertion ")


class Result:
    def __init__(self, passed=0, failed=0, skipped=0, output="", cpu_seconds=0.0):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.output, self.cpu_seconds = output, cpu_seconds

    def counts(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.cpu_seconds += other.cpu_seconds


class Ended:
    """How a program ended: its exit status, None when it was killed because it hung; why; what it printed."""

    def __init__(self, status, why, output, cpu_seconds):
        self.status, self.why, self.output, self.cpu_seconds = status, why, output, cpu_seconds


def processes_of(session):
    """The processes of a session: (pid, fields of its stat)."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # After the name, which stands in brackets: state, parent, group, session …
            fields = Path(path).read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == session:
                yield int(path.split("/")[2]), fields


def session_cpu_seconds(session):
    """CPU time of the processes of a session and of those of their children that have ended."""
    return sum(sum(map(int, fields[11:15])) for _, fields in processes_of(session)) / CLOCK_TICKS


def end_session(session, ended):
    """Kills the processes of a session; the first one last, as it may say where it has waited for the others."""
    for pid, _ in processes_of(session):
        if pid != session:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    select.select([ended], [], [], LAST_WORDS_SECONDS)
    os.killpg(session, signal.SIGKILL)


class Watch:
    """Finds out whether the processes of a session hang."""

    def __init__(self, session, limit_cpu_seconds):
        self.session, self.limit = session, limit_cpu_seconds
        self.cpu_seconds, self.marked_cpu, self.marked_at = 0.0, 0.0, time.monotonic()

    def trouble(self):
        """Why they are to be killed, or None."""
        self.cpu_seconds = max(self.cpu_seconds, session_cpu_seconds(self.session))
        now = time.monotonic()
        if self.cpu_seconds > self.limit:
            return f"still running after {self.limit} s of CPU time: killed"
        if self.cpu_seconds - self.marked_cpu >= IDLE_CPU_SECONDS:
            self.marked_cpu, self.marked_at = self.cpu_seconds, now
        elif now - self.marked_at > IDLE_SECONDS:
            return f"it has used less than {IDLE_CPU_SECONDS} s of CPU time in {IDLE_SECONDS} s: killed"
        return None


def run_program(command, limit_cpu_seconds, env, log):
    """Runs it to its end, or until it hangs; its whole process group dies with it. `log` is a file open for reading and
    writing, which what it prints is added to."""
    begin = log.seek(0, os.SEEK_END)
    process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *command], env=env, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    watch = Watch(process.pid, limit_cpu_seconds)
    why = None
    ended = os.pidfd_open(process.pid)
    while why is None and not select.select([ended], [], [], POLL_SECONDS)[0]:
        why = watch.trouble()
    if why:
        end_session(process.pid, ended)
    os.close(ended)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    log.seek(begin)
    output = log.read().decode("utf-8", "replace")
    cpu_seconds = max(watch.cpu_seconds, usage.ru_utime + usage.ru_stime)
    return Ended(None if why else process.returncode, why, output, cpu_seconds)


def with_verdict(ended, passed, failed, skipped=0):
    """The counts, with a failure added when the program did not end well but blamed no test."""
    counted = passed + failed + skipped > 0
    output = ended.output
    if ended.why:
        output += f"\n{ended.why}\n"
    elif ended.status < 0:
        output += f"\nkilled by {signal.Signals(-ended.status).name}\n"
    elif not counted:
        output += "\nit counted no test\n"
    ended_well = ended.status == 0 and counted and not BAD_SIGNS.search(output)
    return Result(passed, failed if ended_well else max(failed, 1), skipped, output, ended.cpu_seconds)


def run_status(command, limit, env, log):
    """A program that counts nothing; its exit status tells whether all is well."""
    ended = run_program(command, limit, env, log)
    return with_verdict(ended, int(ended.status == 0), int(ended.status != 0))


def run_closing_line(command, limit, env, log):
    """A program that prints "N passed, N failed[, N skipped]" last."""
    ended = run_program(command, limit, env, log)
    counts = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", ended.output, flags=re.M)
    passed, failed, skipped = (int(count or 0) for count in counts[-1]) if counts else (0, 0, 0)
    return with_verdict(ended, passed, failed, skipped)


def run_cmocka(command, limit, env, log):
    """A program of cmocka's, counted by its TAP lines."""
    ended = run_program(command, limit, {**env, "CMOCKA_MESSAGE_OUTPUT": "tap"}, log)
    skipped = len(re.findall(r"^(?:not )?ok \d+ # SKIP", ended.output, flags=re.M))
    passed = len(re.findall(r"^ok \d+(?! # SKIP)\b", ended.output, flags=re.M))
    failed = len(re.findall(r"^not ok \d+(?! # SKIP)\b", ended.output, flags=re.M))
    planned = sum(map(int, re.findall(r"^1\.\.(\d+)", ended.output, flags=re.M)))
    return with_verdict(ended, passed, max(failed, planned - passed - skipped), skipped)


def run_beside_server(run, command, limit, env, log):
    """A program beside a server of its own, whose end is judged, too."""
    folder = tempfile.mkdtemp(prefix="packlist-test.")
    port = free_port(env["PACKLIST_PORTS"])
    config = f"port {port}\nbind 127.0.0.1\nunixsocket {folder}/socket\ndir {folder}\nsave \"\"\n" \
        "enable-debug-command yes\n"
    Path(folder, "packlist.conf").write_text(config)
    with open(f"{folder}/log", "wb") as server_log:
        server = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", env["PACKLIST_SERVER"],
                                   f"{folder}/packlist.conf"], env=env, stdin=subprocess.DEVNULL,
                                  stdout=server_log, stderr=server_log)
    try:
        if wait_until_listening(port, server, IDLE_SECONDS):
            result = run(command, limit, {**env, "PACKLIST_PORT": str(port)}, log)
        else:
            result = Result(failed=1, output="the server does not listen\n")
        server.terminate()
        try:
            server.wait(IDLE_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        log_text = Path(folder, "log").read_text(errors="replace")
        if server.returncode != 0 or BAD_SIGNS.search(log_text):
            result.failed += 1
            result.output += f"\nthe server exited with {server.returncode}; its log:\n{log_text}\n"
        return result
    finally:
        server.kill()
        shutil.rmtree(folder)


def run_c_client(command, limit, env, log):
    return run_beside_server(run_cmocka, command, limit, env, log)


def unless_skipped(run, command, limit, env, log):
    """Runs it, unless tests/clients/install could not get what it needs."""
    why = Path("build/clients", Path(command[0]).parent.name + ".skipped")
    if why.exists():
        return Result(skipped=1, output=why.read_text(errors="replace"))
    return run(command, limit, env, log)


def run_client(command, limit, env, log):
    """The program of a client library beside a server."""
    def run(*arguments):
        return run_beside_server(run_closing_line, *arguments)
    return unless_skipped(run, command, limit, env, log)


def run_engine(command, limit, env, log):
    """A program that starts its servers itself."""
    return unless_skipped(run_closing_line, command, limit, env, log)
