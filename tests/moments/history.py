"""History: all that one writer has sent and what was acknowledged, so that a value can be said to be that of a moment.

Each change has a number, its version, which stands in all cells that it sets. A value of one moment has the cells of
all changes up to a version, and of none after it."""
import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """What was certain at a moment."""
    version: int
    elements: set


class History:
    """`element(cell, version)` is what a value has for a cell."""

    def __init__(self, cells, element):
        self.lock, self.element = threading.Lock(), element
        self.versions = dict.fromkeys(cells, 0)  # of the cells, after what was acknowledged
        self.elements = {element(cell, 0) for cell in cells}
        self.changes = {}  # version: {cell: the version that it had before}
        self.sent = self.acknowledged = 0
        self.settled = self.mark()

    def begin(self, cells):
        """A change of these cells is about to be sent; its version."""
        with self.lock:
            self.changes[self.sent + 1] = {cell: self.versions[cell] for cell in cells}
            self.sent += 1
            return self.sent

    def end(self):
        """It was acknowledged."""
        with self.lock:
            old, new = self.between(self.acknowledged, self.sent)
            self.elements -= old
            self.elements |= new
            self.versions.update(dict.fromkeys(self.changes[self.sent], self.sent))
            self.acknowledged = self.sent

    def mark(self):
        with self.lock:
            return Mark(self.acknowledged, self.elements.copy())

    def settle(self):
        """All rests. What is older than the last time that this was called is forgotten."""
        oldest, self.settled = self.settled.version, self.mark()
        self.changes = {version: cells for version, cells in self.changes.items() if version > oldest}

    def between(self, first, last):
        """The elements that the changes after `first` up to `last` remove, and those that they add."""
        old, new = {}, {}
        for version in range(first + 1, last + 1):
            for cell, before in self.changes[version].items():
                old.setdefault(cell, before)
                new[cell] = version
        return ({self.element(cell, version) for cell, version in old.items()},
                {self.element(cell, version) for cell, version in new.items()})
