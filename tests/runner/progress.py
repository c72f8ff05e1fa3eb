"""Shows how far the tests are, what fails, and how long the rest may take.

On a terminal the last line says what runs, and is renewed each second. Elsewhere such a line comes once a minute. What
fails or is skipped is shown at once, and each suite when it is through.
"""
import json
import re
import shutil
import sys
import threading
import time

from programs import Result

TAIL_LINES = 20
# What a program of a suite takes, in seconds on a quiet machine; for those that no earlier run has measured.
TYPICAL_SECONDS = {"oracle": 60, "exchange": 60, "replication": 60, "crash": 60, "instructions": 60, "benchmarks": 1,
                   "fuzz": 20, "runner": 10, "server": 6, "packaging": 120, "clients": 5, "queues": 60, "engines": 120,
                   "unit": 0.5, "tiny": 0.5}


def spell(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class Times:
    """How long each program took when it passed last; kept in a file of the build."""

    def __init__(self, path):
        self.path = path
        try:
            self.seconds = json.loads(path.read_text())
        except (OSError, ValueError):
            self.seconds = {}

    def expected(self, job):
        return self.seconds.get(job.name, TYPICAL_SECONDS[job.suite])

    def save(self):
        self.path.write_text(json.dumps(self.seconds, indent=0, sort_keys=True))


class Progress:
    """Is notified when each of `jobs` starts and ends; prints all lines that stay."""

    def __init__(self, jobs, workers, times, show_all):
        self.jobs, self.workers, self.times, self.show_all = jobs, workers, times, show_all
        self.expected = {job: times.expected(job) for job in jobs}
        self.running, self.results = {}, {}  # since when; what came of it
        self.done_expected = self.done_seconds = 0.0
        self.lock = threading.RLock()
        self.terminal = sys.stdout.isatty()
        self.stopped = threading.Event()
        self.ticker = threading.Thread(target=self.tick, daemon=True)
        self.ticker.start()

    def started(self, job):
        with self.lock:
            self.running[job] = time.monotonic()

    def ended(self, job, result):
        with self.lock:
            seconds = time.monotonic() - self.running.pop(job)
            self.done_seconds += seconds
            self.done_expected += self.expected[job]
            self.results[job] = result
            if not result.failed and not result.skipped:
                self.times.seconds[job.name] = round(seconds, 1)
            summary = f"{job.name}: {result.counts()} ({spell(seconds)}, {result.cpu_seconds:.1f} s of CPU time)"
            job.log.write_text(f"{result.output.rstrip()}\n{summary}\n")
            self.show(job, result, summary)
            self.show_suite(job.suite)

    def show(self, job, result, summary):
        lines = result.output.rstrip().splitlines()
        if result.failed or result.skipped or self.show_all(job):
            cut = [] if self.show_all(job) else lines[:-TAIL_LINES]
            text = [f"======== {summary}", *([f"({len(cut)} lines before these are in {job.log})"] if cut else []),
                    *lines[len(cut):], ""]
        else:
            text = re.findall(r"^note: .*", result.output, flags=re.M)
        self.print(*text)

    def show_suite(self, suite):
        jobs = [job for job in self.jobs if job.suite == suite]
        results = [self.results[job] for job in jobs if job in self.results]
        if len(results) == len(jobs):
            total = sum_of(results)
            self.print(f"{suite}: {total.counts()} ({total.cpu_seconds:.0f} s of CPU time)")

    def print(self, *lines):
        with self.lock:
            if lines:
                print(("\r\033[K" if self.terminal else "") + "\n".join(lines), flush=True)
            if self.terminal:
                self.renew()

    def seconds_left(self):
        """By what the others took beside what was expected of them, as the machine may be busier than last time."""
        now = time.monotonic()
        pace = self.done_seconds / self.done_expected if self.done_expected > 5 else 1
        rest = {job: self.expected[job] * pace for job in self.jobs if job not in self.results}
        for job, since in self.running.items():
            rest[job] = max(rest[job] - (now - since), 1)
        return max(sum(rest.values()) / self.workers, *rest.values()) if rest else 0

    def status(self):
        now = time.monotonic()
        oldest = sorted(self.running.items(), key=lambda item: item[1])
        names = ", ".join(f"{job.name} {spell(now - since)}" for job, since in oldest)
        failed = sum(result.failed for result in self.results.values())
        return f"{len(self.results)} of {len(self.jobs)} done{f', {failed} FAILED' if failed else ''}; " \
               f"about {spell(self.seconds_left())} left; running: {names}"

    def renew(self):
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\033[K{self.status()[:width]}", end="", flush=True)

    def tick(self):
        while not self.stopped.wait(1 if self.terminal else 60):
            with self.lock:
                if self.running:
                    self.print(*([] if self.terminal else [self.status()]))

    def finish(self):
        """The sum of all; the names of those that failed are shown again."""
        self.stopped.set()
        self.times.save()
        with self.lock:
            if self.terminal:
                print("\r\033[K", end="")
            for job, result in self.results.items():
                if result.failed:
                    print(f"failed: {job.name} ({job.log})")
        return sum_of(self.results.values())


def sum_of(results):
    total = Result()
    for result in results:
        total.add(result)
    return total
