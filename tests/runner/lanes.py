"""Runs the jobs: builds what they need, while those whose build is there run already, in two lanes.

Most programs wait: for a server, a timer, a child. Many of them can run at once, while programs that compute would only
slow each other down. So each kind has a lane of its own with as many workers as suit it.
"""
import os
import queue
import subprocess
import threading

from programs import Result
from servers import PORTS
from variants import BuildError

PROCESSORS = os.cpu_count()
WORKERS = {"wait": min(4 * PROCESSORS, 32), "compute": PROCESSORS}
WAITS_BELOW = 0.3  # a program that uses less of a processor than this waits most of its time


def share_ports(ports, count):
    """Ranges for so many programs that run at the same time: what one finds free no other takes before it does."""
    first, last = map(int, ports.split("-"))
    size = (last - first + 1) // count
    shares = queue.SimpleQueue()
    for i in range(count):
        shares.put(f"{first + i * size}-{first + (i + 1) * size - 1}")
    return shares


def build_steps(jobs):
    """Calls of make, as pairs of a variant and goals, in the order in which they are made: what tests of servers need
    comes first, because these wait most."""
    first, second = {}, {}
    for job in jobs:
        for goal in job.goals:
            (first if goal in ("all", "faults") else second).setdefault(job.variant, set()).add(goal)
    return [*first.items(), *second.items()]


class Runner:
    """Runs all jobs, each once; `times` estimates how long each takes, `progress` shows what happens."""

    def __init__(self, jobs, times, progress):
        self.progress = progress
        self.shares = share_ports(os.environ.get("PACKLIST_PORTS", PORTS), sum(WORKERS.values()))
        self.changed = threading.Condition()
        self.built, self.is_installed, self.trouble = set(), False, None
        self.steps = build_steps(jobs)
        self.to_install = [job.command[0].split("/")[2] for job in jobs if job.is_installed]
        self.lanes = {lane: [] for lane in WORKERS}
        for job in sorted(jobs, key=lambda job: -times.expected_seconds(job)):
            self.lanes["wait" if times.expected_load(job) < WAITS_BELOW else "compute"].append(job)

    def run(self):
        """Ends when all have run. A build or an installer that fails ends it sooner, by its exception."""
        threads = [threading.Thread(target=self.build, daemon=True), threading.Thread(target=self.install, daemon=True)]
        threads += [threading.Thread(target=self.work, args=[self.lanes[lane]], daemon=True)
                    for lane, count in WORKERS.items() for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.trouble:
            raise self.trouble

    def build(self):
        for variant, goals in self.steps:
            try:
                self.progress.built(variant, variant.build(goals))
            except BuildError as error:
                self.give_up(error)
                return
            with self.changed:
                self.built |= {(variant, goal) for goal in goals}
                self.changed.notify_all()

    def install(self):
        """Fetches what programs of other projects need, while other tests run."""
        if self.to_install and subprocess.run(["tests/clients/install", *self.to_install], check=False,
                                              stdin=subprocess.DEVNULL).returncode != 0:
            self.give_up(OSError("tests/clients/install has failed"))
            return
        with self.changed:
            self.is_installed = True
            self.changed.notify_all()

    def give_up(self, error):
        with self.changed:
            self.trouble = self.trouble or error
            self.changed.notify_all()

    def is_ready(self, job):
        return {(job.variant, goal) for goal in job.goals} <= self.built and (self.is_installed or not job.is_installed)

    def next_job(self, lane):
        """The longest one that can run, as soon as there is one; None when none is left."""
        with self.changed:
            while lane and not self.trouble:
                for job in lane:
                    if self.is_ready(job):
                        lane.remove(job)
                        return job
                self.changed.wait()
        return None

    def work(self, lane):
        while job := self.next_job(lane):
            self.progress.started(job)
            self.progress.ended(job, self.run_job(job))
            with self.changed:
                self.changed.notify_all()

    def run_job(self, job):
        ports = self.shares.get()
        try:
            with open(job.log, "w+b") as log:
                return job.function(job.command, job.limit_cpu_seconds, {**job.environment, "PACKLIST_PORTS": ports},
                                    log)
        except (OSError, RuntimeError) as error:
            return Result(failed=1, output=f"{error}\n")
        finally:
            self.shares.put(ports)

    def run_again(self, job):
        """Once more, alone, after all others."""
        self.progress.started(job)
        self.progress.ended_again(job, self.run_job(job))
