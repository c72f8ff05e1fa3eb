"""Runs a job-queue library beside a server and checks that it loses no job.

A library's folder holds `run`, which describes the library to `main` below, and a program of the library's language
that enqueues jobs, works on them or checks more of the library. The harness decides which jobs there are, starts
several workers, kills one of them with SIGKILL while it works on a job, starts another in its place, and waits until
every job is done and the library has removed its keys, or left streams in which nothing waits.

The producer reads jobs from standard input, one JSON object a line:
    {"n": 17, "kind": "plain", "delay": 0, "priority": 0}
and enqueues each: `delay` is in seconds; a higher priority comes first. The worker does a job as lib/job.py does:
    plain    appends to the ledger that it began, works a moment, appends that it is done
    fails    the same, but the first attempt ends in an error, and the library must retry the job
    hangs    the same, but the first attempt never ends: its worker is the one that is killed
A program that holds a lock does so until it has counted to QUEUE_END in the file "counter": it reads n, appends that n
began, hangs if n is QUEUE_HANGS and this is the first attempt, writes n + 1 and appends that n is done.
The ledger is a file of lines "began N PID TIME" and "done N PID TIME". Programs find in the environment:
    PACKLIST_PORT       the server's port on 127.0.0.1
    QUEUE_FOLDER        a folder for the ledger and for files that mark first attempts
    QUEUE_CONCURRENCY   how many jobs a worker does at once, where the library lets the worker choose

With QUEUE_MEASURE=N it checks nothing: workers do N plain jobs, and a line of JSON gives the server's CPU time per job
in microseconds, as {"cpu_us_per_job": 123.4}.
"""
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from resp import Address, Client, ReplyError, info  # noqa: E402

SOAK = "PACKLIST_SOAK" in os.environ
JOBS = 10_000 if SOAK else 300
WORKERS = 3
CONCURRENCY = 4
PATIENCE = 250  # seconds without any progress; the runner takes a program for hung after 300
ERRORS = r"\bERR |WRONGTYPE|NOSCRIPT No matching|[Uu]nknown (?:Redis )?command|BUSYKEY|LOADING Redis|MISCONF"
WARM_UP_JOBS = 50


@dataclass
class Library:
    """How a library is run. Commands are lists of arguments; the first may be a path from the repository's top. Without
    `produce` it is a lock: `work` holds it again and again."""
    name: str
    produce: list
    work: list
    check: list = None  # a program that prints "ok - NAME" or "not ok - NAME"; it runs beside one worker
    beside: list = None  # a program that runs beside the workers and is not killed
    left: str = "(?!)"  # the names of keys that may remain when all jobs are done: a regular expression
    acknowledges: bool = True  # whether a job that a killed worker had taken is done by another
    takes: int = CONCURRENCY  # how many jobs a worker may have taken at once
    moves_due: bool = False  # whether a worker takes all due jobs off the schedule before it enqueues the first
    on_the_way: int = 0  # how many jobs are lost when a worker is killed before it notes that it was given them
    retries: bool = True
    schedules: bool = True
    has_priorities: bool = False
    early: float = 0.05  # seconds that a scheduled job may come too soon, where the library counts whole seconds
    known_errors: str = "(?!)"  # what workers print although all is well
    may_restart: object = None  # called with the server when nothing else is left: whether a worker may start again
    environment: dict = field(default_factory=dict)


def python_library(name, work, has_check=True, environment=None, **more):
    """A library in a virtual environment, whose programs `work` finds on PATH. The library's tasks.py defines its
    tasks, produce() and check()."""

    def call(function):
        return ["python", "-c", f"import tasks; tasks.{function}()"]
    paths = {"PATH": f"{os.path.abspath(f'build/clients/{name}/bin')}:{os.environ['PATH']}",
             "PYTHONPATH": f"tests/queues/{name}:tests/queues/lib", "PYTHONDONTWRITEBYTECODE": "1"}
    return Library(name, call("produce"), work, call("check") if has_check else None,
                   environment={**paths, **(environment or {})}, **more)


def node_library(name, **more):
    """A library for Node.js. Its tasks.js defines work(), produce() and check()."""
    def call(function):
        return ["node", f"tests/queues/{name}/tasks.js", function]
    paths = {"NODE_PATH": f"build/clients/{name}/node_modules:tests/queues/lib"}
    return Library(name, call("produce"), call("work"), call("check"), environment=paths, **more)


def in_text(value):
    """A reply whose numbers are texts, too: whether a script gives a number or a text makes no difference to jobs."""
    if isinstance(value, list):
        return [in_text(one) for one in value]
    return str(value) if isinstance(value, int) else value


class Server:
    """What the harness asks of the server under test."""

    def __init__(self):
        self.client = Client(Address(int(os.environ["PACKLIST_PORT"])), timeout=None, in_text=True)
        found = info(self.client, "server")
        self.pid = int(found["process_id"])
        self.version = f"{Path(os.environ.get('PACKLIST_SERVER', 'the server')).name} {found['redis_version']}"

    def call(self, *arguments):
        """An error reply ends the program."""
        try:
            return in_text(self.client.call(*arguments))
        except ReplyError as error:
            raise SystemExit(f"the server replied {error}") from None

    def cpu_seconds(self):
        """User and system time of all its threads, to the nanosecond."""
        clock = ctypes.c_int()
        if ctypes.CDLL(None).clock_getcpuclockid(self.pid, ctypes.byref(clock)):
            raise SystemExit("this system has no clock of another process's CPU time")
        return time.clock_gettime(clock.value)


class Program:
    """A producer or a worker in a process group of its own, so that its children die with it."""

    def __init__(self, command, run, lines=(), **environment):
        """It reads the lines from standard input."""
        self.log, source = (Path(run.folder, f"{name}.{len(run.programs)}") for name in ("log", "input"))
        source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        run.programs.append(self)
        with source.open("rb") as stdin, self.log.open("wb") as output:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command], stdin=stdin, stdout=output,
                stderr=output, preexec_fn=os.setpgrp,
                env={**os.environ, **run.library.environment, "QUEUE_FOLDER": run.folder,
                     "QUEUE_CONCURRENCY": str(CONCURRENCY), **environment})

    def text(self):
        return self.log.read_text(errors="replace")

    def ended_well(self):
        """Waits for its end. A program that exits with another status than 0 ends the test."""
        if self.process.wait() != 0:
            raise SystemExit(f"a program ended with {self.process.returncode}")

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ends it as a service manager would; its children go with it."""
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        self.kill()


class Ledger:
    """What the workers wrote down: (number of the job, pid, time) of each job that began, and of each that is done."""

    def __init__(self, folder):
        self.path = Path(folder, "ledger")
        self.path.touch()
        self.file = self.path.open("rb")
        self.incomplete = b""
        self.entries = {"began": [], "done": []}

    def read(self):
        *lines, self.incomplete = (self.incomplete + self.file.read()).split(b"\n")
        for line in lines:
            word, n, pid, when = line.decode().split()
            self.entries[word].append((int(n), int(pid), float(when)))
        return self

    def began(self):
        return self.read().entries["began"]

    def done(self):
        return self.read().entries["done"]


class Run:
    """One set of jobs, from an empty server until all are done."""

    def __init__(self, library, server, jobs=()):
        self.library, self.server, self.jobs = library, server, jobs
        self.folder = tempfile.mkdtemp(prefix="packlist-queue.")
        self.ledger = Ledger(self.folder)
        self.programs = []
        server.call("FLUSHALL")

    def __enter__(self):
        if self.library.beside:
            Program(self.library.beside, self)
        return self

    def __exit__(self, kind, *_):
        for program in self.programs:
            program.kill()
        if kind:
            print("jobs that are not done:", *[job for job in self.jobs if job["n"] not in self.done()][:20], sep="\n")
            for program in self.programs:
                print(f"---- {program.process.args[4:]} printed:", program.text()[-3000:], sep="\n")
        shutil.rmtree(self.folder)

    def done(self):
        return {n for n, _, _ in self.ledger.done()}

    def hangs(self, n):
        """Whether a worker hangs in this job: it marks the first attempt after it has noted that it began."""
        return n in {began for began, _, _ in self.ledger.began()} and Path(self.folder, f"attempt.{n}").exists()

    def start_producer(self, jobs):
        return Program(self.library.produce, self, map(json.dumps, jobs))

    def start_worker(self, **environment):
        return Program(self.library.work, self, **environment)

    def wait_until(self, condition, what):
        """As long as the ledger grows or there are fewer keys than before."""
        seen, since, fewest = None, time.monotonic(), sys.maxsize
        while not condition():
            for program in self.programs:
                if program.process.poll() not in (None, 0, -signal.SIGKILL, -signal.SIGTERM):
                    raise SystemExit(f"a program ended with {program.process.returncode}")
            fewest = min(fewest, int(self.server.call("DBSIZE")))
            now = (self.ledger.path.stat().st_size, fewest)
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                raise SystemExit(f"nothing happens while waiting until {what}")
            time.sleep(0.05)

    def keys(self):
        """The keys that must not remain."""
        return sorted(key for key in self.server.call("KEYS", "*")
                      if not re.fullmatch(self.library.left, key) and not self.is_drained(key))

    def is_drained(self, key):
        """Whether this is a stream whose groups have been given all entries and have acknowledged all."""
        if self.server.call("TYPE", key) != "stream":
            return False
        groups = [dict(zip(fields[::2], fields[1::2])) for fields in self.server.call("XINFO", "GROUPS", key)]
        return bool(groups) and all((group["pending"], group["lag"]) == ("0", "0") for group in groups)

    def wait_until_empty(self):
        """Returns the keys that remain although nothing happens any more."""
        with contextlib.suppress(SystemExit):
            self.wait_until(lambda: not self.keys(), "the queue is empty")
            return []
        return self.keys()

    def errors(self):
        """Lines in which a program names an error of the server."""
        return [line for program in self.programs for line in program.text().splitlines()
                if re.search(ERRORS, line) and not re.search(self.library.known_errors, line)]


CHECKS = []


def check(name, holds, *details):
    CHECKS.append(bool(holds))
    if not holds:
        print(f"FAILED: {name}", *details, sep="\n")


def make_jobs(library):
    """A tenth of the jobs fail once, a tenth is scheduled, one hangs; three priorities."""
    def kind_of(n):
        if n == JOBS // 3:
            return "hangs"
        return "fails" if library.retries and n % 10 == 3 else "plain"

    def delay_of(n):
        return 1.5 + n % 20 / 10 if library.schedules and n % 10 == 5 else 0
    return [{"n": n, "kind": kind_of(n), "delay": delay_of(n), "priority": n % 3} for n in range(JOBS)]


def run_jobs(library, server):
    """All kinds of jobs, with a worker that is killed."""
    jobs = make_jobs(library)
    may_lose = library.on_the_way if library.acknowledges else library.takes
    hanging = next(job["n"] for job in jobs if job["kind"] == "hangs")
    everything = {job["n"] for job in jobs}
    with Run(library, server, jobs) as run:
        cpu_before = server.cpu_seconds()
        workers = [run.start_worker() for _ in range(WORKERS)]
        started = time.time()
        producer = run.start_producer(jobs)
        run.wait_until(lambda: run.hangs(hanging), "a worker hangs")
        pid = next(pid for n, pid, _ in run.ledger.began() if n == hanging)
        victim = next(w for w in workers if w.process.pid == os.getpgid(pid))
        victim.kill()
        due = {job["n"] for job in jobs if job["delay"] and started + job["delay"] < time.time()}

        def lost_from_schedule():
            """Jobs that the killed worker took off the schedule and did not enqueue: no other worker can begin them."""
            if not library.moves_due or run.keys():
                return set()
            return due - {n for n, _, _ in run.ledger.began()}
        if not library.may_restart:
            workers.append(run.start_worker())
        producer.ended_well()
        run.wait_until(lambda: len(everything - run.done() - lost_from_schedule()) <= library.takes,
                       "all jobs but a few are done")
        cpu, seconds = server.cpu_seconds() - cpu_before, time.time() - started
        if library.may_restart:
            run.wait_until(lambda: library.may_restart(server), "a worker may start again")
            workers.append(run.start_worker())
        if library.acknowledges:
            run.wait_until(lambda: hanging in run.done() and len(everything - run.done()) <= may_lose,
                           "the killed worker's jobs are done")
        remaining = run.wait_until_empty()
        check("the queue ends empty", not remaining, *remaining[:20])
        for worker in workers:
            worker.stop()
        judge(run, jobs, started, may_lose, lost_from_schedule())
        again = len(run.ledger.done()) - len(run.done())
        lost = len(everything - run.done())
        print(f"note: queues/{library.name}: {JOBS:,} jobs on {server.version}: "
              f"{cpu / JOBS * 1e6:.0f} µs of the server's CPU time each, {seconds:.0f} s; "
              f"{again} done twice, {lost} lost with the killed worker")


def judge(run, jobs, started, may_lose, lost_from_schedule):
    done = run.ledger.done()
    begun = Counter(n for n, _, _ in run.ledger.began())
    missing = {job["n"] for job in jobs} - {n for n, _, _ in done} - lost_from_schedule
    failing = {job["n"] for job in jobs if job["kind"] == "fails"}
    if run.library.acknowledges:
        # Each new attempt of a job that fails is a message of its own, which can be on its way.
        lost = missing & set(begun) - (failing if run.library.on_the_way else set())
        check("no job that began is lost", not lost, f"missing: {lost}")
    check("every job is done" if not may_lose else "no job is lost but what the killed worker had taken",
          len(missing) <= may_lose, f"missing: {sorted(missing)[:20]}")
    failing -= missing
    if run.library.retries:
        check("jobs that fail are tried again", failing and all(begun[n] >= 2 for n in failing))
    scheduled = {job["n"]: started + job["delay"] for job in jobs if job["delay"]}
    early = [(n, scheduled[n] - when) for n, _, when in done if n in scheduled
             and when < scheduled[n] - run.library.early]
    if run.library.schedules:
        check("no scheduled job is done too soon", scheduled and not early, f"(job, seconds): {early[:10]}")
    check("no program names an error of the server", not run.errors(), *run.errors()[:20])


def run_priorities(library, server):
    """Jobs wait until there is a worker, which takes those with the highest priority first."""
    jobs = [{"n": n, "kind": "plain", "delay": 0, "priority": n // 20} for n in range(60)]
    with Run(library, server) as run:
        run.start_producer(jobs).ended_well()
        worker = run.start_worker(QUEUE_CONCURRENCY="1")
        run.wait_until(lambda: len(run.done()) == len(jobs), "all jobs are done")
        worker.stop()
        order = [jobs[n]["priority"] for n, _, _ in run.ledger.began()]
        check("jobs with a higher priority are done first", order == sorted(order, reverse=True), f"order: {order}")


def run_lock(library, server):
    """Several holders of one lock count in a file, a number each time; one is killed while it holds the lock."""
    with Run(library, server) as run:
        started, cpu_before = time.time(), server.cpu_seconds()
        holders = [run.start_worker(QUEUE_HANGS=str(JOBS // 3), QUEUE_END=str(JOBS)) for _ in range(WORKERS)]
        run.wait_until(lambda: run.hangs(JOBS // 3), "a holder hangs")
        pid = run.ledger.began()[-1][1]
        next(holder for holder in holders if holder.process.pid == pid).kill()
        run.wait_until(lambda: JOBS - 1 in run.done(), "the last number is counted")
        order = [n for n, _, _ in run.ledger.began()]
        hung = order.pop(JOBS // 3)
        cpu = server.cpu_seconds() - cpu_before
        check("the lock is held by one at a time", (order, hung) == ([*range(JOBS)], JOBS // 3), order)
        check("each holder finished before the next", [n for n, _, _ in run.ledger.done()] == order)
        remaining = run.wait_until_empty()
        check("no lock remains", not remaining, *remaining)
        check("no program names an error of the server", not run.errors(), *run.errors()[:20])
        print(f"note: queues/{library.name}: held {JOBS:,} times on {server.version}: "
              f"{cpu / JOBS * 1e6:.0f} µs of the server's CPU time each, {time.time() - started:.0f} s")


def run_check(library, server):
    """What the library's own program checks, beside a worker if there are any."""
    with Run(library, server) as run:
        if library.produce:
            run.start_worker()
        program = Program(library.check, run)
        status = program.process.wait()
        text = program.text()
        for verdict, name in re.findall(r"^(ok|not ok) - (.*)", text, flags=re.M):
            check(name, verdict == "ok")
        check("the program that checks more ends well", status == 0 and re.search("^ok - ", text, flags=re.M), text)
        check("no program names an error of the server", not run.errors(), *run.errors()[:20])


def measure_jobs(library, server, count):
    """Server CPU microseconds per job, of jobs that follow a few which make the workers ready."""
    def plain_jobs(first, count):
        return [{"n": n, "kind": "plain", "delay": 0, "priority": n % 3} for n in range(first, first + count)]
    with Run(library, server) as run:
        workers = [run.start_worker() for _ in range(WORKERS)]
        run.start_producer(plain_jobs(0, WARM_UP_JOBS)).ended_well()
        run.wait_until(lambda: len(run.done()) == WARM_UP_JOBS, "the workers are ready")
        before = server.cpu_seconds()
        producer = run.start_producer(plain_jobs(WARM_UP_JOBS, count))
        run.wait_until(lambda: len(run.done()) == WARM_UP_JOBS + count, "all jobs are done")
        spent = server.cpu_seconds() - before
        producer.ended_well()
        for worker in workers:
            worker.stop()
    return spent / count * 1e6


def main(*libraries):
    server = Server()
    if count := int(os.environ.get("QUEUE_MEASURE", "0")):
        figures = [measure_jobs(library, server, count) for library in libraries if library.produce]
        print(json.dumps({"cpu_us_per_job": sum(figures) / len(figures)}))
        return
    for library in libraries:
        if library.produce:
            run_jobs(library, server)
        elif library.work:
            run_lock(library, server)
        if library.has_priorities:
            run_priorities(library, server)
        if library.check:
            run_check(library, server)
    failed = CHECKS.count(False)
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
