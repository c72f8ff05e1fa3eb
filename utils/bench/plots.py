"""Plots of a report: SVG, made by gnuplot."""
import os
import re
import shutil
import subprocess

COLOURS = ("#c0392b", "#2c6fbb", "#3d9970", "#8e6bb0", "#b8860b", "#5f9ea0")
FLOOR_COLOUR = "#b8b8b8"


def quoted(text):
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def short(row):
    """A row's name as it stands under its bars: without the size of the data and the kind of measurement."""
    return re.sub(r" \(.*|\.P\d+$|^memory-|^work-(queues-)?|^lrange-|^fill-\w+-\w+-depth-\d-", "", row)


def curve(column, label):
    """What gnuplot plots of one column of the data; column 2 holds the first server's figures."""
    colour = FLOOR_COLOUR if label == "floor" else COLOURS[(column - 2) % len(COLOURS)]
    return f"{column} title {quoted(label)} lc rgb '{colour}'"


class Plots:
    """Makes SVG files in a folder; without gnuplot it makes none."""

    def __init__(self, folder):
        self.folder, self.gnuplot, self.drawn = folder, shutil.which("gnuplot"), []

    def draw(self, name, width, title, settings, data, plots):
        """Returns the markdown that shows the plot. `data` is one block of lines, as $data."""
        if not self.gnuplot:
            return ""
        script = [f"set terminal svg size {width},420 background 'white' font 'sans-serif,12' noenhanced",
                  f"set output {quoted(os.path.join(self.folder, name))}", f"set title {quoted(title)}",
                  "set grid ytics lt 1 lw 1 lc rgb '#dddddd'", "set key outside top center horizontal",
                  "set border 3", "set tics nomirror", *settings,
                  "$data << END", *data, "END", "plot " + ", ".join(plots)]
        subprocess.run([self.gnuplot], input="\n".join(script) + "\n", text=True, check=True)
        self.drawn.append(name)
        return f"![{title}]({name})\n"

    def bars(self, name, title, unit, rows, labels):
        """A cluster of bars per row, one bar per server."""
        data = [" ".join([quoted(short(row)), *("NaN" if figures.get(label) is None else str(figures[label])
                                                for label in labels)])
                for row, figures in rows.items()]
        longest = max(len(short(row)) for row in rows)  # the labels lean down to the right
        settings = [f"set bmargin {2 + 0.28 * longest:.0f}", f"set rmargin {2 + 0.5 * longest:.0f}",
                    "set style data histograms", "set style histogram clustered gap 1",
                    "set style fill solid noborder", "set yrange [0:*]", f"set ylabel {quoted(unit)}",
                    "set xtics rotate by -35 scale 0"]
        columns = [f"$data using {curve(column, label)}" for column, label in enumerate(labels, 2)]
        columns[0] = columns[0].replace("using 2", "using 2:xtic(1)")
        return self.draw(name, max(640, 75 * len(rows) + 160), title, settings, data, columns)

    def lines(self, name, title, unit, points, labels):
        """A line per server over list lengths, both axes logarithmic."""
        lengths = [length for length, _ in points[labels[0]]]
        data = [" ".join([str(length), *(str(points[label][at][1] or "NaN") for label in labels)])
                for at, length in enumerate(lengths)]
        settings = ["set logscale xy", f"set xrange [{lengths[0]}:{lengths[-1]}]",
                    "set format x '%.0s%c'", "set xlabel 'elements in the list'",
                    f"set ylabel {quoted(unit)}", "set style data linespoints"]
        columns = [f"$data using 1:{curve(column, label)} lw 2 pt 7" for column, label in enumerate(labels, 2)]
        return self.draw(name, 640, title, settings, data, columns)
