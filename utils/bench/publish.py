"""Shows a report's main plots in README.md, between two markers."""
import os
import sys
from pathlib import Path

import report

sys.path.append(str(Path(__file__).resolve().parents[1]))
import sections  # noqa: E402 (utils/sections.py)

BEGIN = "<!-- bench: made by `make bench BENCH=--publish` -->"
END = "<!-- end of bench -->"
PLOTS = (  # of report.write, and what stands above them
    ("cpu-pipeline-16.svg", "Server CPU per request, 50 clients, 16 requests on the way"),
    ("cpu-lrange-pipeline-10.svg", "Server CPU per LRANGE of the first elements of a list"),
    ("cpu-sorted-sets-pipeline-16.svg", "Server CPU per request to sorted sets, as above"),
    ("cpu-hashes-pipeline-16.svg", "Server CPU per request to hashes"),
    ("cpu-sets-pipeline-16.svg", "Server CPU per request to sets"),
    ("memory-datasets.svg", "Growth of used_memory per dataset"),
    ("memory-sorted-sets-hashes-and-sets.svg", "Growth of used_memory per dataset of sorted sets, hashes and sets"),
    ("growth-lindex.svg", "Server CPU per LINDEX in the middle of a list"),
)


class PublishError(Exception):
    """A report that README.md should not show."""


def lines_of(folder, results):
    """`folder`: of the report, as seen from the README."""
    facts, servers = results["machine"], ", ".join(results["labels"][1:])
    yield (f"Packlist beside {servers}, on {facts['machine']}, {facts['kernel']}; {facts['date']}, commit "
           f"{facts['commit']}. The servers took turns; less is better. All figures, and how they were made: "
           f"[{folder}/report.md]({folder}/report.md).")
    for file, title in PLOTS:
        yield f"\n{title}:\n\n![{title}]({folder}/{file})"
        for group, rows in results["memory"].items():
            if file == report.file_name("memory " + group):
                names = "; ".join(name.removeprefix("memory-") for name in rows)
                yield "\n" + names.replace(" (", ": ").replace(")", "") + "."
    yield ""


def write(readme, folder, results):
    """PublishError unless it was a whole run beside peers, with plots, into a folder of the repository."""
    relative = os.path.relpath(folder, readme.parent)
    if not results["whole"] or len(results["labels"]) < 2:
        raise PublishError("README.md shows whole runs beside peers only")
    if relative.startswith(".."):
        raise PublishError(f"{folder} is not in the repository")
    missing = [file for file, _ in PLOTS if file not in results["plots"]]
    if missing:
        raise PublishError(f"no plot {', '.join(missing)}")
    try:
        _, made = sections.replaced(readme, BEGIN, END, lines_of(relative, results))
    except ValueError as error:
        raise PublishError(str(error)) from error
    readme.write_text(made, encoding="utf-8")
