"""How often a measurement is repeated: until its median, or its least figure, is known well enough."""
import math
import statistics
import time

WANTED = 0.02       # the interval of confidence of a median reaches this share of it to either side, or less;
                    # two figures that differ by less agree
MORE = 3            # at most so many times the rounds that are asked for
EXTRA_SECONDS = 60   # of the whole run, for rounds beyond those that are always made
# Student's t for an interval that holds the true value in 95 of 100 cases, by number of figures.
STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31}
STUDENT_OF_MANY = 2.26
MEDIAN_TO_MEAN = 1.2533  # the standard error of a median over that of a mean, of figures that scatter normally


class Extra:
    """What is left of EXTRA_SECONDS."""
    seconds_left = EXTRA_SECONDS


extra = Extra()


def uncertainty(figures):
    """Half of the interval of confidence of their median, as a share of it; infinite for a single figure."""
    if len(figures) < 2:
        return math.inf
    error = MEDIAN_TO_MEAN * statistics.stdev(figures) / math.sqrt(len(figures))
    return STUDENT.get(len(figures), STUDENT_OF_MANY) * error / statistics.median(figures)


def until_sure(rounds, found):
    """Numbers of rounds from 0 on, for a loop that adds the figures of each round to the lists in `found`, a
    dictionary: at least `rounds`, then until the medians of all lists are sure, but not more than MORE times as many,
    nor when this program has spent EXTRA_SECONDS on such rounds. One round stays one: nothing can be said of its
    figures."""
    yield from range(rounds)
    for number in range(rounds, rounds if rounds == 1 else MORE * rounds):
        are_sure = all(uncertainty(figures) <= WANTED for figures in found.values() if figures)
        if are_sure or extra.seconds_left <= 0:
            return
        yield from timed(number)


def timed(number):
    """Yields the number of a round that takes from what is left of EXTRA_SECONDS."""
    began = time.monotonic()
    yield number
    extra.seconds_left -= time.monotonic() - began


def settled(figures, within=WANTED):
    """Whether the two least of them agree: of what others on the machine only add to, another round would hardly give
    less."""
    least = sorted(figures)[:2]
    return len(least) == 2 and least[1] <= least[0] * (1 + within)


def until_settled(rounds, lists, within=WANTED):
    """Numbers of rounds from 0 on, for a loop of which the least figures count: two, then up to `rounds` until those in
    each of `lists()` are settled, as long as this program has not spent EXTRA_SECONDS on such rounds."""
    yield from range(min(rounds, 2))
    for number in range(2, rounds):
        if extra.seconds_left <= 0 or all(settled(figures, within) for figures in lists() if figures):
            return
        yield from timed(number)


def columns(found):
    """The lists that until_settled wants, where each of the lists in `found`, a dictionary, holds tuples of figures."""
    return [column for rounds in found.values() for column in zip(*rounds)]


def medians(found):
    """label -> the median of its figures, or None where there are none."""
    return {label: statistics.median(figures) if figures else None for label, figures in found.items()}


class Least:
    """Figures of several names from all rounds of some servers, of which the least count."""

    def __init__(self, servers):
        self.labels, self.found = [server.label for server in servers], {}

    def add(self, server, figures):
        """Name -> figure of a round."""
        for name, figure in figures.items():
            self.found.setdefault(name, {label: [] for label in self.labels})[server.label].append(figure)

    def lists(self):
        return [figures for by_label in self.found.values() for figures in by_label.values()]

    def figures(self):
        """Name -> label -> the least figure, None where there is none."""
        return {name: {label: min(figures, default=None) for label, figures in by_label.items()}
                for name, by_label in self.found.items()}
