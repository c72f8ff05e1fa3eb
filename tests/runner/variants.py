"""The variants of the build that tests run on, and how make builds them.

A variant is a choice of the Makefile's variables: CC, SANITIZE, TINY, … The Makefile gives each choice a folder of its
own.
"""
import os
import shlex
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

# What decides about the folder; other variables of the command line (ONLY, V) don't matter to a build.
NAMES = ("CC", "SANITIZE", "TINY", "CHECKED", "LZF", "PLAIN", "FAST", "CFLAGS", "CPPFLAGS", "LDFLAGS", "WERROR", "V")


class BuildError(Exception):
    """make has failed; what it printed was shown."""


def make(arguments, **options):
    """Starts make as if from the shell: what an outer make has put into the environment would limit it to one job."""
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.Popen(["make", *arguments], env=env, stdin=subprocess.DEVNULL, text=True, **options)


@dataclass(frozen=True)
class Variant:
    """`label` tells its tests from those of another variant in the same run; the main one has none. `protocol` is the
    one in which server tests run those checks that do not look at it. With `has_threads`, servers have I/O threads that
    serve all clients."""
    variables: tuple  # ("SANITIZE=address", …)
    folder: Path
    label: str = ""
    protocol: int = 2
    has_threads: bool = False

    def has(self, name):
        """Whether a variable of make is set to more than nothing."""
        return any(variable.startswith(f"{name}=") and variable != f"{name}=" for variable in self.variables)

    @property
    def is_sanitized(self):
        return self.has("SANITIZE")

    def environment(self):
        """What programs find in the environment; see tests/runner/README.md."""
        env = dict(os.environ)
        env.setdefault("PACKLIST_SERVER", str(self.folder.resolve() / "packlist-server"))
        if self.has_threads:
            env["PACKLIST_THREADED"] = env["PACKLIST_SERVER"]
            env["PACKLIST_SERVER"] = str(Path(__file__).resolve().parent / "threaded_server")
        env["PACKLIST_BUILD"] = str(self.folder.resolve())
        env.setdefault("PACKLIST_PROTOCOL", str(self.protocol))
        env.setdefault("ASAN_OPTIONS", "detect_leaks=1:allocator_may_return_null=1")
        env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
        if self.is_sanitized:
            env["PACKLIST_SLOW"] = "1"
        if self.has("CHECKED"):
            env["PACKLIST_CHECKED"] = "1"
        return env

    def with_threads(self):
        """The same build, whose servers have I/O threads."""
        label = f"{self.label}, threads" if self.label else "threads"
        return replace(self, label=label, has_threads=True)

    def build(self, goals):
        """Builds files of its folder, and the Makefile's targets that have no slash. Fails with BuildError.
        Returns the CPU seconds."""
        paths = [str(self.folder / goal) if "/" in goal else goal for goal in sorted(goals)]
        process = make([*self.variables, *paths])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise BuildError(f"make {shlex.join(self.variables)} has failed")
        return usage.ru_utime + usage.ru_stime


def variant(variables, *more, label="", protocol=2):
    """The variant of a list of variables of make, of which later ones win, and of these only the ones that matter."""
    chosen = {}
    for name, _, value in (variable.partition("=") for variable in [*variables, *more]):
        if name in NAMES:
            chosen[name] = value
    settings = tuple(f"{name}={value}" for name, value in chosen.items())
    folder = make(["-s", *settings, "folder"], stdout=subprocess.PIPE).communicate()[0].strip()
    return Variant(settings, Path(folder), label, protocol)


def fuzz_variant(variables):
    """The fuzzers' one: they need clang, and find more with sanitizers."""
    suffix = subprocess.run(["deps/llvm"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    others = ("TINY=", "CHECKED=", "LZF=", "PLAIN=", "FAST=")
    kept = [variable for variable in variables if not variable.startswith(others)]
    return variant(kept, f"CC=clang{suffix}", "SANITIZE=fuzzer-no-link,address,undefined")
