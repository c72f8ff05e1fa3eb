"""The list of tests: which programs there are, on which variant each runs, and what must be built for it.

Files are found by their names, so that a new test needs no entry here.
"""
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from fuzzing import fuzzer
from programs import run_c_client, run_client, run_closing_line, run_cmocka, run_engine, run_status
from seeds import SOAK_SEED, seeds_of
from variants import Variant, fuzz_variant, variant

# A program that has used so much CPU time hangs: some ten times what the longest of the suite takes.
LIMIT_CPU_SECONDS = {"oracle": 900, "exchange": 600, "replication": 600, "crash": 600, "moments": 600,
                     "instructions": 600,
                     "benchmarks": 300, "clients": 300, "queues": 600, "engines": 300, "server": 600, "unit": 300,
                     "tiny": 300, "runner": 300, "packaging": 1800, "lint": 600}
SLOWDOWN = 3  # how much more a sanitized program may use
SOAK_LIMIT_CPU_SECONDS = 4 * 3600
FUZZ_SECONDS = int(os.environ.get("FUZZ_SECONDS", "5"))
FUZZ_INPUTS = None if "FUZZ_SECONDS" in os.environ else 100_000

# What one run of a random program tries: a run of `make test` with one seed, and a soak.
AMOUNTS = {"oracle": (["--commands", "100000"], ["--commands", "5000000"]),
           "exchange": (["--datasets", "50"], ["--datasets", "1000"]),
           "crash": (["--rounds", "5"], ["--rounds", "200"]),
           "moments": (["--seconds", "20"], ["--seconds", "1800"]),
           "replication": (["--rounds", "4"], ["--rounds", "100"])}
# Without names, a soak runs these: what is random, and what is too long or too special for each change.
SOAK_ONLY = ["server/list_model", "server/random_scan", "server/save_model", "server/script_attacks"]
SOAK = [*AMOUNTS, "fuzz", "queues", "engines/sentinel", "engines/upgrade", "server/faults", "server/protocol",
        "server/script_effects", "server/large_text", "unit/script_cache", *SOAK_ONLY]
# Those of other projects: what they do depends on clocks of their own, so one that fails is run once more.
FOREIGN = ("clients", "queues", "engines")
FOREIGN_FUNCTIONS = {run_client, run_engine}  # tests/clients/install fetches what these run
WHAT_USERS_GET = ("instructions", "benchmarks", "packaging")  # they look at the build with link-time optimisation
PROGRAMS = ("oracle", "exchange", "replication", "crash", "moments", "instructions", "benchmarks", "runner",
            "packaging")
ALL = (*PROGRAMS, "clients", "queues", "engines", "server", "unit")
# The sanitizers look at our server: suites that try other programs, files and builds more than it are left out.
SANITIZED = ("oracle", "replication", "crash", "moments", "server", "unit")
# And so are those of the server tests that try redis-cli and redis-benchmark, compare tables of the source, or count
# what CHECKED=1 counts after every command of all tests.
NOT_SANITIZED = ("server/tools", "server/command_facts", "server/commands_page", "server/keysizes")
# A soak runs these once more with I/O threads that have all clients, but for tests of directives, of the threads
# themselves, and of memory to the kilobyte, as threads keep blocks for later; and before a change is taken, some of
# them run so.
THREADED_SOAK = ("server", "clients", "oracle", "replication", "crash", "moments")
NOT_THREADED = ("server/config", "server/directives", "server/io_threads", "server/list_memory", "server/startup",
                "server/standalone")
THREADED = ["oracle", "server/acl_attacks", "server/client", "server/fail_closed", "server/list_block",
            "server/monitor", "server/multi", "server/output", "server/pipeline_large", "server/protocol",
            "server/pubsub", "server/script_busy", "server/secrets", "server/shutdown", "server/tls_limits",
            "server/tracking", "server/unauthenticated"]
# Unit tests that run with sanitizers on the constants of users, too, before a change is taken: those of code for one
# kind of processor, which PLAIN=1 leaves out, and those that leave checks out with TINY=1 or do not run there. All
# others run with sanitizers on small constants, and without them on those of users.
SANITIZED_UNITS = ["unit/bits", "unit/clock", "unit/command_files", "unit/conn_shared", "unit/crc64", "unit/hashtable",
                   "unit/hyperloglog", "unit/keysizes", "unit/pendinglist", "unit/skiplist"]
NOT_TINY = ("command_files", "keysizes")  # not_tiny of the Makefile
NEEDS_SERVER = frozenset({"all", "faults"})


@dataclass(frozen=True, eq=False)
class Job:
    """A program to run. `function` is one of those of programs.py."""
    suite: str  # with the variant's label
    name: str  # suite/program, or the suite's name where it has but one; with label and seed
    kind: str  # the suite without a label
    function: Callable
    command: list
    log: Path
    variant: Variant
    goals: frozenset  # what of the variant must be built before
    environment: dict = field(default_factory=dict)
    limit_cpu_seconds: int = 300

    def is_one_of(self, beginnings):
        return any(self.name.startswith(one) for one in beginnings)

    @property
    def is_foreign(self):
        return self.kind in FOREIGN

    @property
    def is_installed(self):
        return self.function in FOREIGN_FUNCTIONS


class JobList:
    """Collects jobs; those whose names begin with one of `what`. With `turn`, (i, n), of n variants that take the seeds
    of a program in AMOUNTS in turn this is number i: each seed is tried once, and each variant has one."""

    def __init__(self, what, soak, turn=(0, 1)):
        self.what, self.soak, self.turn, self.jobs = what, soak, turn, []

    def add(self, suite, program, function, command, build, goals):
        name = f"{suite}/{program}" if program else suite
        first, step = self.turn if suite in AMOUNTS else (0, 1)
        seeds = seeds_of(name)
        for seed in [SOAK_SEED] if self.soak else seeds[first::step] or seeds[-1:]:
            self.add_with_seed(suite, name, function, command, build, goals, seed)

    def add_with_seed(self, suite, name, function, command, build, goals, seed):
        label = f" ({build.label})" if build.label else ""
        full = f"{name}{f'@{seed.value}' if seed.is_one_of_several else ''}{label}"
        wanted = any(name.startswith(what) or full == what for what in self.what)
        if not wanted or build.has_threads and name.startswith(NOT_THREADED):
            return
        limit = SOAK_LIMIT_CPU_SECONDS + FUZZ_SECONDS if self.soak else \
            LIMIT_CPU_SECONDS.get(suite, 2 * FUZZ_SECONDS + 300) * (SLOWDOWN if build.is_sanitized else 1)
        environment = build.environment()
        if self.soak:
            environment["PACKLIST_SOAK"] = "1"
        else:
            environment.setdefault("PACKLIST_SEED", str(seed.value))  # one that is set already wins
        log = build.folder / "tests" / "logs" / f"{re.sub('[^-a-z0-9_@]', '.', full)}.log"
        self.jobs.append(Job(suite + label, full, suite, function, command, log, build, frozenset(goals), environment,
                             limit))

    def add_sources(self, suite, pattern, function, build, more_goals=()):
        """C programs, each built from a source of its own."""
        for source in sorted(Path(".").glob(pattern)):
            goal = str(source.with_suffix(""))
            if suite == "tiny" and source.stem.removesuffix("_test") in NOT_TINY:
                continue
            self.add(suite, re.sub(r"(_test|_fuzz)$", "", source.stem), function, [f"{build.folder}/{goal}"], build,
                     {goal, *more_goals})

    def add_suites(self, suites, build):
        for suite in suites:
            if suite in PROGRAMS and os.path.exists(f"tests/{suite}/run"):
                amount = AMOUNTS.get(suite, ([], []))[self.soak]
                more = {"benchmarks"} if suite == "benchmarks" else set()
                self.add(suite, "", run_closing_line, [f"tests/{suite}/run", *amount], build, NEEDS_SERVER | more)
        if "clients" in suites:
            self.add_sources("clients", "tests/clients/*_test.c", run_c_client, build, NEEDS_SERVER)
        for suite in set(suites) & set(FOREIGN):
            for program in sorted(Path("tests", suite).glob("*/run")):
                self.add(suite, program.parent.name, run_engine if suite == "engines" else run_client, [str(program)],
                         build, NEEDS_SERVER)
        if "server" in suites:
            self.add_server_tests(build)
        if "unit" in suites:
            self.add_sources("unit", "tests/unit/*_test.c", run_cmocka, build)

    def add_server_tests(self, build):
        for source in sorted(Path("tests/server").glob("*.test.tcl")):
            program = source.name.removesuffix(".test.tcl")
            if self.soak or f"server/{program}" not in SOAK_ONLY or f"server/{program}" in self.what:
                self.add("server", program, run_closing_line, ["tclsh", str(source)], build, NEEDS_SERVER)

    def add_threaded(self, build, what):
        """Suites with I/O threads: of what is wanted, that whose name begins with one of `what`."""
        jobs = JobList(what, self.soak, self.turn)
        jobs.add_suites(THREADED_SOAK, build.with_threads())
        self.jobs += [job for job in jobs.jobs if job.is_one_of(self.what)]

    def add_tiny(self, build):
        self.add_sources("tiny", "tests/unit/*_test.c", run_cmocka, build)

    def add_fuzzers(self, build):
        self.add_sources("fuzz", "tests/fuzz/*_fuzz.c", fuzzer(FUZZ_SECONDS, FUZZ_INPUTS), build)


def jobs_of_one_variant(variables, what, soak):
    """What `make test` and `make soak` run: a variant, its tiny form and, unless it is sanitized, fuzzers. With
    THREADED=1 only what has I/O threads."""
    jobs = JobList(what or (SOAK if soak else [""]), soak)
    main = variant(variables)
    main = variant(variables, protocol=3 if main.is_sanitized else 2)
    # A few tests shall not wait for link-time optimisation, which takes longer than all compiling.
    quick = variant(variables, "FAST=1") if what and not soak and not main.is_sanitized else main
    if "THREADED=1" in variables:
        return threaded(quick, what or ([""] if soak else THREADED), soak)
    jobs.add_suites([suite for suite in ALL if suite not in WHAT_USERS_GET], quick)
    jobs.add_suites([suite for suite in WHAT_USERS_GET if not (suite == "packaging" and main.is_sanitized)], main)
    jobs.add_tiny(variant(variables, "TINY=1"))
    if not main.is_sanitized:
        jobs.add_fuzzers(fuzz_variant(variables))
    return jobs.jobs + (threaded(quick, what or [""], soak) if soak else [])


def threaded(build, what, soak):
    jobs = JobList(what, soak)
    jobs.add_threaded(build, THREADED_SOAK)
    return jobs.jobs


def jobs_of_all_variants(variables, what):
    """What is run before a change is taken: the rules, everything on what users get, and what tries the server itself
    on a build with sanitizers and the checks of CHECKED=1. One more build, for unit tests, has the small constants of
    TINY=1 and the code of PLAIN=1, too. Some tests run on the sanitized build once more, with I/O threads. Where a
    random test has several seeds, these variants share them."""
    what = what or [""]
    release = variant(variables)
    sanitized = variant(variables, "SANITIZE=address,undefined", "CHECKED=1", label="sanitized", protocol=3)
    jobs = JobList(what, soak=False, turn=(0, 3))
    jobs.add("lint", "", run_status,
             ["bash", "-c", f"utils/lint {release.folder} && utils/commit-message --branch"], release, {"objects"})
    jobs.add_suites(ALL, release)
    jobs.add_tiny(variant(variables, "SANITIZE=address,undefined", "CHECKED=1", "TINY=1", "PLAIN=1"))
    jobs.add_fuzzers(fuzz_variant(variables))
    again = JobList(what, soak=False, turn=(1, 3))
    again.add_suites([suite for suite in SANITIZED if suite != "unit"], sanitized)
    units = JobList(SANITIZED_UNITS, soak=False, turn=(1, 3))
    units.add_suites(["unit"], sanitized)
    again.jobs = [job for job in again.jobs if not job.is_one_of(NOT_SANITIZED)]
    again.jobs += [job for job in units.jobs if job.is_one_of(what)]
    with_threads = JobList(what, soak=False, turn=(2, 3))
    with_threads.add_threaded(sanitized, THREADED)
    return jobs.jobs + again.jobs + with_threads.jobs
