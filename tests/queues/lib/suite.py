"""Runs the tests that a package brings along for a server. All must pass but those of which `main` is given the reason
why they fail; these must fail, so that a reason which no longer holds is noticed.

The tests come from the package's source distribution, which tests/clients/install unpacks into
build/clients/<name>/<package>-<version>. pytest runs them there; they find the server's port in PACKLIST_PORT.

Many of these tests measure time. One that fails is tried again, alone, up to TRIES times: a busy machine makes it fail
now and then, a wrong server each time.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from harness import Server  # noqa: E402

TRIES = 5
OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR) (\S+)", flags=re.M)


class Suite:
    def __init__(self, name, environment):
        self.name = name
        venv = Path("build/clients", name).resolve()
        self.python = venv / "bin/python"
        self.folder, = (path for path in venv.glob("*-*/") if (path / "PKG-INFO").exists())
        self.environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}

    def run(self, *arguments):
        """Runs tests with pytest. Returns a dict of their names and outcomes, and what pytest printed."""
        command = [self.python, "-m", "pytest", "-rA", "--tb=short", "-p", "no:cacheprovider", *arguments]
        output = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode(
                                    errors="replace")
        return {test: outcome for outcome, test in OUTCOME.findall(output)}, output

    def try_again(self, test):
        """Whether it passes when nothing else runs; what it printed last."""
        for _ in range(TRIES):
            outcomes, output = self.run(test)
            if outcomes.get(test) == "PASSED":
                return True, output
        return False, output


def main(name, tests, together=(), expected=None, environment=None):
    """`tests` are arguments of pytest that name them, `together` more of its arguments for the run of all of them.
    `expected` maps the name of a test that fails to the reason."""
    expected = expected or {}
    suite, server = Suite(name, environment or {}), Server()
    server.call("FLUSHALL")
    outcomes, output = suite.run(*tests, *together)
    unknown = expected.keys() - outcomes.keys()
    failed = [f"{test} is expected to fail, but there is no such test" for test in unknown]
    if not outcomes:
        failed.append(f"pytest ran no test:\n{output}")
    again = 0
    for test, outcome in outcomes.items():
        if test in expected:
            if outcome == "PASSED":
                failed.append(f"{test} passes, although it should fail: {expected[test]}")
        elif outcome != "PASSED":
            again += 1
            passed, why = suite.try_again(test)
            if not passed:
                failed.append(f"{test}\n{why}")
    for text in failed:
        print("FAILED:", text)
    print(f"note: queues/{name}: {len(outcomes)} tests of {suite.folder.name} on {server.version}, "
          f"{again} of them tried again, {len(expected)} expected to fail")
    print(f"{len(outcomes) + len(unknown) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)
