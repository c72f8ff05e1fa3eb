"""Writes the report's folder: report.md with tables and plots, and figures.json."""
import json
import math
import os
import platform
import re
import subprocess
import time

import goals
import quiet
from goals import EXACT
from plots import Plots

# growth and sds look different
SECTIONS = ("cpu", "work", "calls", "memory", "members", "connections", "stalls", "large", "snapshots", "saving",
            "replication", "tracking", "threads")
AGAIN = ("run", "date", "commit", "busy with other things before the run")  # what is said of rows measured again
EXTRAS = ("floor",)  # of figures, beside the servers' labels; no peers


class ReportError(Exception):
    """Figures that cannot stand in one report."""


def machine(root):
    """Lines that say where the figures come from. `root` is the repository."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = re.findall(r"^model name\s*:\s*(.*)$", file.read(), flags=re.M)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=root, capture_output=True, text=True,
                            check=False).stdout.strip()
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "machine": f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores",
        "kernel": f"{platform.system()} {platform.release()}",
        "commit": commit or "unknown",
        "busy with other things before the run": f"{quiet.share_now():.0%}",
    }


def number(value, digits=3):
    """That many digits, or all before the point."""
    if value is None:
        return "–"
    places = 0 if value == 0 else max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}"


def ratio(figures, labels):
    """The first server's figure over the best of the others', as text."""
    found = goals.ratio(figures, labels)
    return "–" if found is None else f"**{found:.2f}**"


def above_floor(figures, labels):
    """The same of what lies above the floor, where that means anything."""
    found = goals.above_floor(figures, labels)
    return "–" if found is None else f"{found:.2f}"


def table(head, lines):
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    for line in lines:
        yield "| " + " | ".join(line) + " |"
    yield ""


def columns(rows, labels):
    """The labels, and those of EXTRAS that were measured in these rows."""
    return [*labels, *(extra for extra in EXTRAS if any(figures.get(extra) for figures in rows.values()))]


def comparison(what, rows, labels, digits=3):
    """Table of name -> label -> figure, with ratios."""
    shown = columns(rows, labels)
    with_floor = "floor" in shown
    return table([what, *shown, "ratio"] + ["above floor"] * with_floor,
                 ([name, *(number(figures.get(label), digits) for label in shown), ratio(figures, labels)]
                  + [above_floor(figures, labels)] * with_floor for name, figures in rows.items()))


def file_name(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") + ".svg"


def cpu_section(results, labels, plots):
    for group, rows in results["cpu"].items():
        yield f"### {group}\n"
        yield plots.bars(file_name("cpu " + group), f"Server CPU per request: {group}", "µs", rows,
                         columns(rows, labels))
        yield from comparison("row", rows, labels)


def left(figures, label):
    """What lies above the floor in this server's figure, as text."""
    ours, floor = figures.get(label), figures.get("floor")
    return "–" if None in (ours, floor) else number(max(0, ours - floor))


def work_section(results, labels, plots):
    groups = results.get("work", {})
    if not groups:
        return
    yield ("Requests are sent one at a time, as applications mostly do: each client waits for a reply before it sends "
           "the next request. **Left**: what Packlist costs beside the floor.\n")
    yield from goals.summary([figures for rows in groups.values() for figures in rows.values()], labels)
    for group, rows in groups.items():
        shown = columns(rows, labels)
        yield f"### {group}\n"
        yield plots.bars(file_name("work " + group), f"Server CPU per operation: {group}", "µs", rows, shown)
        yield from table(["row", *shown, "left", "ratio", "above floor", "goals"],
                         ([name, *(number(figures.get(label)) for label in shown), left(figures, labels[0]),
                           ratio(figures, labels), above_floor(figures, labels), goals.verdict(figures, labels)]
                          for name, figures in rows.items()))


def calls_section(results, labels, plots):
    for group, rows in results.get("calls", {}).items():
        yield f"### {group}\n"
        yield plots.bars(file_name("calls " + group), f"Server CPU per call: {group}", "ms", rows, labels)
        yield from comparison("call", rows, labels)


def memory_section(results, labels, plots):
    for group, rows in results["memory"].items():
        yield f"### {group}\n"
        yield plots.bars(file_name("memory " + group), f"Memory: {group}", "MB", rows, labels)
        yield from comparison("dataset", rows, labels, 4)


def plain_section(results, labels, section):
    for rows in results.get(section, {}).values():
        yield from comparison("", rows, labels)


def explained_section(groups, labels, explanation):
    """Tables of groups whose names stand behind the row's, after what explains them."""
    if groups:
        yield explanation
    for group, rows in groups.items():
        yield f"### {group}\n"
        yield from comparison("", {name.split(": ")[1]: figures for name, figures in rows.items()}, labels)


def large_section(results, labels):
    groups = results.get("large", {})
    if groups:
        yield ("Commands on large values, or with many arguments. **Held**: CPU of the thread that runs commands, from "
               "the command until the PING of another client is answered. **In all**: CPU of the whole process until "
               "the reply has been read. **Unread**: by how much resident memory grows while nobody reads the reply. "
               "**GETs**: before, and beside a client that sends large commands one after the other, on all cores.\n")
    for group, rows in groups.items():
        yield f"### {group[0].upper()}{group[1:]}\n"
        yield from comparison("", {name.removeprefix("large-"): figures for name, figures in rows.items()}, labels)


def saving_section(results, labels):
    yield from explained_section(results.get("saving", {}), labels, (
        "How BGSAVE delays clients. Each server holds the data, and a snapshot of it that the next one "
        "replaces; clients send the named commands for random keys. **At a rate** requests come due evenly, and "
        "latency is the time from then to the reply, of those that came due during the save. **Throughput** is "
        "that of clients that send as soon as they have their replies, before the save over during it. **Extra "
        "memory**: by how much the memory of the process, with the private memory of its child, grew at most, "
        "as the kernel counts it. All threads and the child share the server's core. The best round of each figure; "
        "less is better.\n"))


def replication_section(results, labels):
    yield from explained_section(results.get("replication", {}), labels, (
        "**A primary** sends the changes to replicas that only read them; the floor is that of a server without "
        "replicas. **A replica** gets 1,000,000 changes from a primary that sends all of them at once. **A full sync** "
        "to replicas that only read (repl-diskless-sync, no delay), while clients send the named command for random "
        "keys at a rate: latency and memory as above. The best round of each figure; less is better.\n"))


def tracking_section(results, labels):
    rows = {name: figures for found in results.get("tracking", {}).values() for name, figures in found.items()}
    if rows:
        yield ("Clients have read keys of 16 bytes with CLIENT TRACKING. **Memory**: bytes of `used_memory` per key, "
               "whatever the number of clients. **Stall**: the longest time for which a PING of another client waits "
               "when that happens, and in the 3 seconds after it, and the CPU time of the event loop's longest "
               "iteration when only that happens, in ms; the best round.\n")
        yield from comparison("", rows, labels)


def threads_section(results, labels):
    rows = {name: figures for found in results.get("threads", {}).values() for name, figures in found.items()}
    if rows:
        yield ("Servers with `io-threads 2` on all cores; 100 clients, which threads have all the time: CPU per "
               "request of the thread that runs commands, and of the whole process, in µs. Less is better.\n")
        yield from comparison("", rows, labels)


def growth_section(results, labels, plots):
    for curve, points in results["growth"].items():
        command, how = curve.removeprefix("growth-").split(",", 1)
        title = f"{command.upper()},{how}"
        yield f"### {title}\n"
        yield plots.lines(file_name("growth " + command), title, "µs per call", points, labels)
        rows = {f"{length:,}": {label: points[label][at][1] for label in labels}
                for at, (length, _) in enumerate(points[labels[0]])}
        yield from comparison("elements", rows, labels)


def sds_section(results):
    if results["sds"]:
        yield f"200 x \"abc\" to an empty string: {results['sds']}\n"


def introduction(results):
    yield "# Packlist and its peers, measured\n"
    yield ("For readers who compare servers, or want to know what a command costs. utils/bench/README.md says how it "
           "is measured.\n")
    yield from (f"- {name}: {value}" for name, value in results["machine"].items())
    yield f"- servers: {', '.join(results['labels'])}"
    yield f"- run: {results['options']}"
    if results.get("seconds"):
        yield (f"- took {sum(results['seconds'].values()) / 60:.0f} minutes: "
               + ", ".join(f"{kind} {seconds / 60:.1f}" for kind, seconds in results["seconds"].items()))
    if results.get("disturbed"):
        yield ("- **disturbed, so do not trust their times** (share of the machine that other programs used): "
               + ", ".join(f"{name} ({share:.0%})" for name, share in results["disturbed"].items()))
    for again in results.get("again", []):
        yield f"- measured again: {again['rows']}; " + "; ".join(f"{key}: {again[key]}" for key in AGAIN)
    yield ""
    yield ("Times are medians over rounds in which the servers took turns, each on a core of its own with the load on "
           "another. **Ratio**: Packlist's figure over the best peer's, so less than 1 is better than all of them. "
           "**Floor**: what the kernel alone costs, measured with a server that parses nothing and sends constant "
           "bytes; it took its turn with the others. **Above floor**: the ratio of what lies above that, where "
           f"both lie more than {EXACT:.0%} above it. `–` means refused, absent or without meaning.\n")


def read(folder):
    """The results of the report that lies there."""
    with open(os.path.join(folder, "figures.json"), encoding="utf-8") as file:
        return json.load(file)


def replaced(results, newer, rows):
    """`results` with all figures of `newer`, a run of these `rows` by the same servers on the same machine, in their
    place; the report says so. ReportError when the servers or machines differ."""
    if newer["labels"] != results["labels"] or newer["machine"]["machine"] != results["machine"]["machine"]:
        raise ReportError("--again needs the servers and the machine of the report that it changes")
    for section in SECTIONS:
        for group, found in newer[section].items():
            results.setdefault(section, {}).setdefault(group, {}).update(found)
    results["growth"].update(newer["growth"])
    results["sds"] = newer["sds"] or results["sds"]
    still = {name: share for name, share in results.get("disturbed", {}).items()
             if not name.startswith(tuple(rows.split(",")))}
    results["disturbed"] = {**still, **newer["disturbed"]}
    results.setdefault("again", []).append(
        {"rows": rows, "run": newer["options"], **{key: newer["machine"][key] for key in AGAIN if key != "run"}})
    return results


def remove_old_plots(folder, drawn):
    """Removes those of the report that lay there before, and nothing else."""
    try:
        old = read(folder)["plots"]
    except (OSError, ValueError, KeyError):
        return
    for name in set(map(os.path.basename, old)) - set(drawn):
        if name.endswith(".svg") and os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))


def write(folder, results):
    """results: {"labels": of the servers, ours first, "machine": name -> text, "options": text,
    "cpu", "work" (µs), "calls" (ms), "memory" (MB), "members" (B), "connections" (B), "stalls", "snapshots" (ms),
     "large", "saving", "replication", "tracking", "threads": group -> name -> label (or one of EXTRAS) -> figure,
    "growth": curve -> label -> [(length, µs)], "sds": text or None, "whole": whether nothing was left out,
    "seconds": kind of rows -> how long they took,
    "disturbed": name of a row -> share of the machine that other programs used meanwhile, where it was too much,
    "again": what was replaced since (see replaced)}.
    Adds "plots", the names of the files. False when there is no gnuplot to draw them."""
    os.makedirs(folder, exist_ok=True)
    plots, labels = Plots(folder), results["labels"]
    lines = list(introduction(results))
    for title, section in (
            ("Server CPU, µs per request", cpu_section(results, labels, plots)),
            ("Real work, server CPU in µs per operation", work_section(results, labels, plots)),
            ("Server CPU, ms per call", calls_section(results, labels, plots)),
            ("Memory, MB of `used_memory` per dataset", memory_section(results, labels, plots)),
            ("Memory, bytes of `used_memory` per member or field", plain_section(results, labels, "members")),
            ("Idle connections, bytes of `used_memory`", plain_section(results, labels, "connections")),
            ("Growth, server CPU in µs per call on one list of 40-byte elements",
             growth_section(results, labels, plots)),
            ("Stalls", plain_section(results, labels, "stalls")),
            ("Large commands", large_section(results, labels)),
            ("Saving and loading, ms", plain_section(results, labels, "snapshots")),
            ("Clients while a snapshot is being written", saving_section(results, labels)),
            ("Replication", replication_section(results, labels)),
            ("Client tracking", tracking_section(results, labels)),
            ("I/O threads", threads_section(results, labels)),
            ("Appending to sds strings", sds_section(results))):
        section = list(section)
        lines += [f"## {title}\n", *section] if section else []
    remove_old_plots(folder, plots.drawn)
    results["plots"] = plots.drawn
    with open(os.path.join(folder, "report.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip() + "\n")
    with open(os.path.join(folder, "figures.json"), "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    return plots.gnuplot is not None
