"""Shows some of a report's figures and one of its plots in README.md, between two markers."""
import os
import sys
from pathlib import Path

import report

sys.path.append(str(Path(__file__).resolve().parents[1]))
import sections  # noqa: E402 (utils/sections.py)

BEGIN = "<!-- bench: made by `make bench BENCH=--publish` -->"
END = "<!-- end of bench -->"
FIGURES = (  # section, group and row of the results, and what README.md calls it
    ("cpu", "pipeline 16", "set.P16", "server CPU per SET, 16 requests on the way, µs"),
    ("cpu", "middle of 1,000,000 elements", "lindex-middle.P16",
     "the same per LINDEX, in the middle of a list of 1,000,000 elements, µs"),
    ("saving", "5,000,000 strings, SET", "saving-strings: extra memory at 20,000/s, MB",
     "extra memory while a snapshot of 5,000,000 strings is written, MB"),
)
PLOT = "cpu-pipeline-16.svg", "Server CPU per request, 50 clients, 16 requests on the way"


class PublishError(Exception):
    """A report that README.md should not show."""


def lines_of(folder, results):
    """`folder`: of the report, as seen from the README."""
    labels, facts = results["labels"], results["machine"]
    yield from report.table(["", *labels], (
        [title, *(report.number(results[section][group][row][label]) for label in labels)]
        for section, group, row, title in FIGURES))
    yield f"![{PLOT[1]}]({folder}/{PLOT[0]})\n"
    yield f"*{PLOT[1]}; less is better. {facts['machine']}.*"
    yield f"*[All figures, and how they were made]({folder}/report.md).*"


def shown(readme, folder, results):
    """(text of the README, that text with these results). ValueError if it does not have the markers."""
    return sections.replaced(readme, BEGIN, END, lines_of(os.path.relpath(folder, readme.parent), results))


def write(readme, folder, results):
    """PublishError unless it was a whole run beside peers that nothing disturbed, with plots, into a folder of the
    repository."""
    if not results["whole"] or len(results["labels"]) < 2:
        raise PublishError("README.md shows whole runs beside peers only")
    if results.get("disturbed"):
        raise PublishError("disturbed: " + ", ".join(results["disturbed"])
                           + "; --again --set NAME,… measures these again, on a quiet machine")
    if os.path.relpath(folder, readme.parent).startswith(".."):
        raise PublishError(f"{folder} is not in the repository")
    if PLOT[0] not in results["plots"]:
        raise PublishError(f"no plot {PLOT[0]}")
    try:
        _, made = shown(readme, folder, results)
    except ValueError as error:
        raise PublishError(str(error)) from error
    readme.write_text(made, encoding="utf-8")
