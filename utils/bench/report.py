"""Writes the report's folder: report.md with tables and plots, SVG by gnuplot, and figures.json."""
import json
import os
import platform
import re
import shutil
import subprocess
import time

COLOURS = ("#c0392b", "#2c6fbb", "#3d9970", "#8e6bb0", "#b8860b", "#707070")


def machine():
    """Lines that tell where the figures come from."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = re.findall(r"^model name\s*:\s*(.*)$", file.read(), flags=re.M)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                            check=False).stdout.strip()
    load = os.getloadavg()[0]
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "machine": f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores",
        "kernel": f"{platform.system()} {platform.release()}",
        "commit": commit or "unknown",
        "load before the run": f"{load:.2f}" + (": others were at work, so do not trust the times" if load > 0.5
                                               else ""),
    }


def number(value):
    """Three digits, or all before the point."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def ratio(figures, labels):
    """The first server's figure over the best of the others', as text."""
    ours, peers = figures[labels[0]], [figures[label] for label in labels[1:] if figures[label]]
    return f"**{ours / min(peers):.2f}**" if ours is not None and peers else "–"


def table(head, lines):
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    for line in lines:
        yield "| " + " | ".join(line) + " |"
    yield ""


def comparison(what, rows, labels):
    """Table of name -> label -> figure, with ratios."""
    return table([what, *labels, "ratio"],
                 ([name, *(number(figures[label]) for label in labels), ratio(figures, labels)]
                  for name, figures in rows.items()))


def quoted(text):
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def short(row):
    """A row's name as it stands under its bars: without the size of the data and the kind of measurement."""
    return re.sub(r" \(.*|\.P\d+$|^memory-|^fill-\w+-\w+-depth-\d-", "", row)


class Plots:
    """Makes SVG files in a folder; without gnuplot it makes none."""

    def __init__(self, folder):
        self.folder, self.gnuplot = folder, shutil.which("gnuplot")

    def draw(self, name, width, title, settings, data, plots):
        """Returns the markdown that shows the plot. `data` is one block of lines, as $data."""
        if not self.gnuplot:
            return ""
        script = [f"set terminal svg size {width},420 background 'white' font 'sans-serif,12' noenhanced",
                  f"set output {quoted(os.path.join(self.folder, name))}", f"set title {quoted(title)}",
                  "set grid ytics lt 1 lw 1 lc rgb '#dddddd'", "set key outside top center horizontal", *settings,
                  "$data << END", *data, "END", "plot " + ", ".join(plots)]
        subprocess.run([self.gnuplot], input="\n".join(script) + "\n", text=True, check=True)
        return f"![{title}]({name})\n"

    def bars(self, name, title, unit, rows, labels):
        """A cluster of bars per row, one bar per server."""
        data = [" ".join([quoted(short(row)), *("NaN" if figures[label] is None else str(figures[label])
                                                for label in labels)])
                for row, figures in rows.items()]
        longest = max(len(short(row)) for row in rows)  # the labels lean down to the right
        settings = [f"set bmargin {2 + 0.28 * longest:.0f}", f"set rmargin {2 + 0.5 * longest:.0f}",
                    "set style data histograms", "set style histogram clustered gap 1",
                    "set style fill solid noborder", "set yrange [0:*]", f"set ylabel {quoted(unit)}",
                    "set xtics rotate by -35 nomirror scale 0"]
        plots = [f"$data using {column}{':xtic(1)' if column == 2 else ''} title {quoted(label)} "
                 f"lc rgb '{COLOURS[(column - 2) % len(COLOURS)]}'" for column, label in enumerate(labels, 2)]
        return self.draw(name, max(640, 90 * len(rows) + 160), title, settings, data, plots)

    def lines(self, name, title, unit, points, labels):
        """A line per server over list lengths, both axes logarithmic."""
        lengths = [length for length, _ in points[labels[0]]]
        data = [" ".join([str(length), *(str(points[label][at][1] or "NaN") for label in labels)])
                for at, length in enumerate(lengths)]
        settings = ["set logscale xy", f"set xrange [{lengths[0]}:{lengths[-1]}]",
                    "set format x '10^%T'", "set xlabel 'elements in the list'",
                    f"set ylabel {quoted(unit)}", "set style data linespoints"]
        plots = [f"$data using 1:{column} title {quoted(label)} lw 2 pt 7 "
                 f"lc rgb '{COLOURS[(column - 2) % len(COLOURS)]}'" for column, label in enumerate(labels, 2)]
        return self.draw(name, 640, title, settings, data, plots)


def file_name(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") + ".svg"


def cpu_section(results, labels, plots):
    if not results["rows"]:
        return
    yield "## Server CPU, µs per request\n"
    for group, rows in results["rows"].items():
        yield f"### {group}\n"
        yield plots.bars(file_name("cpu " + group), f"Server CPU per request: {group}", "µs", rows, labels)
        yield from comparison("row", rows, labels)


def memory_section(results, labels, plots):
    if not results["memory"]:
        return
    yield "## Memory, KB of `used_memory` per dataset\n"
    for ending, title in (("lists", "small lists"), ("depth-0", "one list of messages, not compressed"),
                          ("depth-2", "one list of messages, list-compress-depth 2")):
        shown = {row: figures for row, figures in results["memory"].items() if row.split(" (")[0].endswith(ending)}
        if shown:
            yield plots.bars(file_name("memory " + ending), f"Memory: {title}", "KB", shown, labels)
    yield from comparison("dataset", results["memory"], labels)


def growth_section(results, labels, plots):
    if not results["growth"]:
        return
    yield "## Growth, server CPU in µs per call on one list of 40-byte elements\n"
    for curve, points in results["growth"].items():
        yield f"### {curve}\n"
        yield plots.lines(file_name(curve.split(",")[0]), curve, "µs", points, labels)
        rows = {f"{length:,}": {label: points[label][at][1] for label in labels}
                for at, (length, _) in enumerate(points[labels[0]])}
        yield from comparison("elements", rows, labels)


def write(folder, results, labels):
    """results: {"machine": …, "options": text, "rows": group -> name -> label -> µs,
    "memory": name -> label -> KB, "growth": curve -> label -> [(length, µs)], "sds": text or None}"""
    os.makedirs(folder, exist_ok=True)
    plots = Plots(folder)
    lines = ["# Packlist and its peers, measured\n"]
    lines += [f"- {name}: {value}" for name, value in results["machine"].items()]
    lines += [f"- servers: {', '.join(labels)}", f"- run: {results['options']}", "",
              "Figures are medians over rounds in which the servers took turns, each on a core of its own with the "
              "load on another. Ratio: Packlist's figure over the best peer's, so less than 1 is better than all "
              "of them. Times count in steps of 10 ms of CPU per run; `–` means refused or absent.\n"]
    for section in (cpu_section, memory_section, growth_section):
        lines += section(results, labels, plots)
    if results["sds"]:
        lines += ["## Appending to sds strings\n", f"200 x \"abc\" to an empty string: {results['sds']}\n"]
    with open(os.path.join(folder, "report.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip() + "\n")
    with open(os.path.join(folder, "figures.json"), "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    return plots.gnuplot is not None
