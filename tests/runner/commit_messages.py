"""Tests of utils/commit-message, in repositories of their own."""
import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKS = []
GOOD = "store: count values by size\n\nINFO shows them.\n"


def check(function):
    CHECKS.append(function)
    return function


def run(folder, *command):
    """The status and what is printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull, HOME=str(folder),
                       GIT_CEILING_DIRECTORIES=str(Path(folder).parent))
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return ended.returncode, ended.stdout + ended.stderr


def git(folder, *arguments):
    status, text = run(folder, "git", "-c", "user.name=a", "-c", "user.email=a@localhost", *arguments)
    return status, text


def must(ended):
    assert ended[0] == 0, ended[1]


@contextlib.contextmanager
def sources():
    """A folder with the checker and its hook, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "utils" / "hooks", Path(folder, "utils", "hooks"))
        shutil.copy(ROOT / "utils" / "commit-message", Path(folder, "utils"))
        yield folder


@contextlib.contextmanager
def repository():
    """The same with git, one commit on main, and the branch `change` checked out."""
    with sources() as folder:
        must(git(folder, "init", "--quiet"))
        must(git(folder, "symbolic-ref", "HEAD", "refs/heads/main"))
        must(commit(folder, "what was there before is not looked at"))
        must(git(folder, "checkout", "--quiet", "-b", "change"))
        yield folder


def commit(folder, message, *options):
    return git(folder, "commit", "--quiet", "--allow-empty", *options, "-m", message)


def check_message(folder, message):
    path = Path(folder, "message")
    path.write_text(message)
    return run(folder, "utils/commit-message", str(path))


@check
def good_commit_messages_pass():
    with sources() as folder:
        for message in (GOOD, "a, b-2, c/d.h: do it\n\nWhy.", "tests: pass a list\n\nx", "net: bring bytes\n\nx",
                        "x" * 8 + ": " + "y" * 62 + "\n\nThe subject has 72 columns.",
                        "# a comment\n" + GOOD + "# another\n# ---- >8 ----\ndiff --git a b\n",
                        "fixup! what it was", "\n# Only comments: git ends this commit.\n"):
            assert check_message(folder, message) == (0, ""), message


@check
def bad_commit_messages_are_refused_with_the_reason():
    with sources() as folder:
        for message, reason in {
                "x" * 8 + ": " + "y" * 63 + "\n\nWhy.": "73 columns, at most 72",
                "no module\n\nWhy.": "'module: what changes'",
                "Store: count values\n\nWhy.": "'module: what changes'",
                "store:count values\n\nWhy.": "'module: what changes'",
                "store: count values.\n\nWhy.": "full stop",
                "store: counted values\n\nWhy.": "'counted' is none",
                "store: counting values\n\nWhy.": "'counting' is none",
                "store: counts values\n\nWhy.": "'counts' is none",
                "store: the values are counted\n\nWhy.": "'the' is none",
                "store: count values\nWhy.": "must be empty",
                "store: count values\n": "gives the reason",
                "store: count values\n\n# a comment\n": "gives the reason"}.items():
            status, text = check_message(folder, message)
            assert status == 1 and reason in text, (message, text)


@check
def the_commits_of_the_branch_are_checked_and_no_others():
    with repository() as folder:
        must(commit(folder, GOOD))
        status, text = run(folder, "utils/commit-message", "--branch")
        assert (status, text) == (0, "commit-message: 1 commits since main, 0 findings\n"), text
        must(commit(folder, "store: counted\n\nWhy."))
        must(commit(folder, "fixup! store: count values by size"))
        status, text = run(folder, "utils/commit-message", "--branch")
        assert status == 1 and text.count("commit ") == 3 and "'counted'" in text, text


@check
def merges_are_not_checked():
    with repository() as folder:
        must(commit(folder, GOOD))
        must(git(folder, "checkout", "--quiet", "-b", "other", "main"))
        must(commit(folder, GOOD))
        must(git(folder, "merge", "--quiet", "--no-edit", "change"))
        must(run(folder, "utils/commit-message", "--branch"))


@check
def where_there_is_nothing_to_compare_with_a_note_says_so():
    with sources() as folder:
        status, text = run(folder, "utils/commit-message", "--branch")
        assert status == 0 and "note: " in text and "no git repository" in text, text
        must(git(folder, "init", "--quiet"))
        must(git(folder, "symbolic-ref", "HEAD", "refs/heads/somewhere"))
        must(commit(folder, "no module"))
        status, text = run(folder, "utils/commit-message", "--branch")
        assert status == 0 and "note: " in text and "no upstream" in text, text


@check
def the_hook_refuses_bad_commits_and_replaces_no_other():
    with repository() as folder:
        for _ in range(2):
            must(run(folder, "utils/commit-message", "--install"))
        must(commit(folder, GOOD))
        status, text = commit(folder, "store: counted\n\nWhy.")
        assert status != 0 and "'counted'" in text, text
        hook = Path(folder, ".git", "hooks", "commit-msg")
        hook.write_text("#!/bin/sh\n")
        status, text = run(folder, "utils/commit-message", "--install")
        assert status == 1 and "exists" in text and hook.read_text() == "#!/bin/sh\n", text


@check
def the_hook_takes_every_message_where_there_is_no_checker():
    with repository() as folder:
        must(run(folder, "utils/commit-message", "--install"))
        Path(folder, "utils", "commit-message").unlink()
        must(commit(folder, "no module"))
