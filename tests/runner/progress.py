"""Shows how far the tests are, what fails, and how long the rest may take.

On a terminal the last line says what runs, and is renewed each second. Elsewhere such a line comes once a minute. What
fails or is skipped is shown at once, and each suite when it is through. At the end comes what took longest.
"""
import json
import re
import shutil
import sys
import threading
import time
from pathlib import Path

from programs import Result

SHOWN_LINES = 30  # of a failure
SLOWEST = 10
# Where the first failure begins: in what tests/server, C programs, Python programs, sanitizers and the runner print.
FAILURE = re.compile(r"^(FAILED: |not ok |DIFFERENCE|Traceback |==\d+==ERROR: |.*runtime error: |.*: Assertion )")
TYPICAL = Path(__file__).resolve().with_name("times.json")


def spell(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class Times:
    """How long each program took when it passed last: seconds of the clock and of CPU time, kept in a file. What no
    earlier run has measured is taken from the repository's own file, which has typical ones of suites and of long
    programs."""

    def __init__(self, path, typical=TYPICAL):
        self.path = path
        self.typical = json.loads(typical.read_text())
        try:
            self.measured = json.loads(path.read_text())
        except (OSError, ValueError):
            self.measured = {}

    def expected(self, job):
        return self.measured.get(job.name) or self.typical.get(job.name) or self.typical[job.kind]

    def expected_seconds(self, job):
        return self.expected(job)[0]

    def expected_load(self, job):
        """How much of a processor it uses."""
        seconds, cpu_seconds = self.expected(job)
        return cpu_seconds / max(seconds, 0.1)

    def note(self, job, seconds, cpu_seconds):
        self.measured[job.name] = [round(seconds, 1), round(cpu_seconds, 1)]

    def save(self):
        self.path.write_text(json.dumps(self.measured, indent=0, sort_keys=True))


def excerpt(output, log):
    """What matters most of a program that failed: from its first failure on, else its last lines."""
    lines = output.rstrip().splitlines()
    first = next((number for number, line in enumerate(lines) if FAILURE.match(line)), None)
    begin = max(len(lines) - SHOWN_LINES, 0) if first is None else first
    shown = lines[begin:begin + SHOWN_LINES]
    left_out = len(lines) - len(shown)
    return [*shown, *([f"({left_out} more lines in {log})"] if left_out else [f"({log})"])]


class Progress:
    """Is notified when each of `jobs` starts and ends; prints all lines that stay."""

    def __init__(self, jobs, workers, times, show_all):
        self.jobs, self.workers, self.times, self.show_all = jobs, workers, times, show_all
        self.expected = {job: times.expected_seconds(job) for job in jobs}
        self.running, self.results = {}, {}  # since when; what came of it
        self.seconds, self.retried = {}, []
        self.builds = {}  # CPU seconds
        self.done_expected = self.done_seconds = 0.0
        self.lock = threading.RLock()
        self.terminal = sys.stdout.isatty()
        self.stopped = threading.Event()
        self.ticker = threading.Thread(target=self.tick, daemon=True)
        self.ticker.start()

    def started(self, job):
        with self.lock:
            self.running[job] = time.monotonic()

    def built(self, variant, cpu_seconds):
        """May be called several times for a variant."""
        with self.lock:
            self.builds[str(variant.folder)] = self.builds.get(str(variant.folder), 0) + cpu_seconds

    def ended(self, job, result):
        with self.lock:
            seconds = self.seconds[job] = time.monotonic() - self.running.pop(job)
            self.done_seconds += seconds
            self.done_expected += self.expected[job]
            self.results[job] = result
            if not result.failed and not result.skipped:
                self.times.note(job, seconds, result.cpu_seconds)
            summary = f"{job.name}: {result.counts()} ({spell(seconds)}, {result.cpu_seconds:.1f} s of CPU time)"
            job.log.write_text(f"{result.output.rstrip()}\n{summary}\n")
            self.show(job, result, summary)
            self.show_suite(job.suite)

    def ended_again(self, job, result):
        """A second run's result takes the place of the first one's."""
        with self.lock:
            self.retried.append(job)
            self.ended(job, result)

    def failed_jobs(self):
        return [job for job, result in self.results.items() if result.failed]

    def show(self, job, result, summary):
        if self.show_all(job):
            text = [f"======== {summary}", *result.output.rstrip().splitlines(), ""]
        elif result.failed or result.skipped:
            text = [f"======== {summary}", *excerpt(result.output, job.log), ""]
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

    def finish(self, seconds):
        """The sum of all; says what took how long, and names those that failed again."""
        self.stopped.set()
        self.times.save()
        with self.lock:
            if self.terminal:
                print("\r\033[K", end="")
            self.show_times(seconds)
            if self.retried:
                print("retried:", ", ".join(job.name for job in self.retried))
            for job in self.failed_jobs():
                print(f"failed: {job.name} ({job.log})")
        return sum_of(self.results.values())

    def show_times(self, seconds):
        """Seconds of the clock, added up over programs that ran beside each other, and of CPU time, for each suite."""
        if len(self.jobs) <= SLOWEST:
            return
        print(f"\n{'suite':24} programs  seconds  CPU seconds")
        for suite in dict.fromkeys(job.suite for job in self.jobs):
            done = [job for job in self.results if job.suite == suite]
            print(f"{suite:24} {len(done):8} {sum(self.seconds[job] for job in done):8.0f} "
                  f"{sum_of(self.results[job] for job in done).cpu_seconds:12.0f}")
        for folder, cpu_seconds in self.builds.items():
            print(f"{folder:41} {cpu_seconds:12.0f}")
        slowest = sorted(self.results, key=lambda job: -self.seconds[job])[:SLOWEST]
        print("slowest:", ", ".join(f"{job.name} {self.seconds[job]:.0f} s" for job in slowest))
        dearest = sorted(self.results, key=lambda job: -self.results[job].cpu_seconds)[:SLOWEST]
        print("most CPU time:", ", ".join(f"{job.name} {self.results[job].cpu_seconds:.0f} s" for job in dearest))
        tests, builds = sum_of(self.results.values()).cpu_seconds, sum(self.builds.values())
        print(f"all: {spell(seconds)}, {tests + builds:.0f} s of CPU time: {tests:.0f} in tests, {builds:.0f} in "
              "builds")


def sum_of(results):
    total = Result()
    for result in results:
        total.add(result)
    return total
