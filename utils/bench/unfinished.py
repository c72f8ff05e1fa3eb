"""Keeps what a run has measured so far, so that one that was cut off can be continued."""
import json
import os

FILE = "unfinished.json"  # in the folder of the report, until the run is over
SAME = ("labels", "options", "selected")  # of both runs, and the machine and the commit


class DiffersError(Exception):
    """What is there belongs to another run."""


def identity(results):
    return [results[key] for key in SAME] + [results["machine"][key] for key in ("machine", "commit")]


def begin(folder, fresh, continues):
    """`fresh`, the results of a run that has measured nothing yet; or, if it `continues` another one, the results of
    that. Both have "done", a list for the names of what is measured. DiffersError, OSError: there is nothing that it
    could continue."""
    fresh["done"] = []
    if not continues:
        return fresh
    with open(os.path.join(folder, FILE), encoding="utf-8") as file:
        results = json.load(file)
    if identity(results) != identity(fresh):
        raise DiffersError(f"{folder}/{FILE} is from other servers, rows, rounds, or another machine or commit")
    return results


def save(folder, results, name):
    """Notes that `name` is measured, and keeps all results."""
    results["done"].append(name)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, FILE)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(results, file)
    os.replace(path + ".new", path)


def end(folder):
    """The run is over, and its report is written."""
    if os.path.exists(os.path.join(folder, FILE)):
        os.remove(os.path.join(folder, FILE))
