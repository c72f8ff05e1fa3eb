"""Values made of cells: each has the version of the change that set it last (history.py).

A hash has a field for each cell, a sorted set a member with the version as its score, a set and a list an element
CELL=VERSION, a string so many bytes. Each change is one command or transaction; between changes the value is also
renamed, moved from one set to another, and grows and shrinks by elements that are no cells."""
from history import History
from links import Trouble, run_as_one
from reads import of_hash, of_list, of_set, of_text, of_zset, positions
from resp import value_of

AT_ONCE = 30  # cells that a change sets, at most
EXTRA = b"extra:"
BATCH = 5000
CELL_BYTES = 128
INVERTED = bytes(byte ^ 255 for byte in range(256))
LIST_PADDING = b"=" + b"x" * 220
UNCHANGED = 5  # the first cells of a list


class Cells:
    """`writers` have the cells by turns."""
    database = 0
    unchanged = frozenset()  # elements of which no history tells
    is_flat = True  # elements are texts, else texts with something else
    is_copied = False  # events copy it to other databases
    keys = ()

    def __init__(self, count, writers=2):
        self.count, self.writers = count, writers
        self.histories = [History(range(turn, count, writers), self.element) for turn in range(writers)]
        self.has_extra = False

    # --- What is the same for all

    def fill(self, link):
        for at in range(0, self.count, BATCH):
            run_as_one(link, self.setting({cell: (0, 0) for cell in range(at, min(at + BATCH, self.count))}))

    def mark(self):
        return [history.mark() for history in self.histories]

    def settled(self):
        return [history.settled for history in self.histories]

    def last(self):
        return [history.sent for history in self.histories]

    def settle(self):
        for history in self.histories:
            history.settle()

    def check(self, read, reply, mark, last):
        """Raises Trouble unless the reply is the value of a moment between the mark and what was sent last."""
        found = read.elements(reply)
        if read.constant:
            if found != read.constant(self.count):
                raise Trouble(f"{found[:5]} instead of {read.constant(self.count)}")
        elif read.position_of is not None:
            self.check_position(read.position_of, found, mark, last)
        else:
            self.check_elements(found, mark, last, read.is_part)
            if read.is_ordered:
                self.check_order(found)

    def check_elements(self, elements, mark, last, is_part=False):
        found, expected = set(elements), set().union(self.unchanged, *(one.elements for one in mark))
        if len(found) != len(elements) and not is_part:
            raise Trouble(f"{len(elements)} elements, {len(found)} different ones")
        new = found - expected
        extra = {element for element in new if (element if self.is_flat else element[0]).startswith(EXTRA)}
        cells = [self.cell_of(element) for element in new - extra]
        for turn, (history, one, end) in enumerate(zip(self.histories, mark, last)):
            newest = max((version for cell, version in cells if cell % self.writers == turn), default=one.version)
            if is_part:  # what is newer than all that is there was perhaps not chosen
                newest = max(newest, one.version)
            if not one.version <= newest <= end:
                raise Trouble(f"version {newest} is there, and only {one.version} to {end} may be")
            removed, added = history.between(one.version, newest)
            expected = (expected - removed) | added
        wrong, missing = list(found - extra - expected), [] if is_part else list(expected - found)
        if wrong or missing:
            raise Trouble(f"the value is of no moment: {len(wrong)} cells are wrong, {len(missing)} are missing: "
                          f"{wrong[:5]}, {missing[:5]}; certain were {[one.version for one in mark]}, sent {last}")

    @staticmethod
    def element(cell, version):
        return b"%d=%d" % (cell, version)

    @staticmethod
    def cell_of(element):
        """(cell, version)"""
        cell, version = element.split(b"=")[:2]
        return int(cell), int(version)

    def write(self, link, rng, turn):
        """One change, or something that changes no cell."""
        roll = rng.random()
        if roll < 0.9:
            self.change(link, rng, self.histories[turn])
        elif roll < 0.97:
            self.stir(link, rng, self.histories[turn])
        elif turn == 0:
            self.has_extra = not self.has_extra
            self.change_extra(link)

    def change(self, link, rng, history):
        own = list(history.versions)
        cells = rng.sample(own, min(rng.randint(1, AT_ONCE), len(own)))
        version = history.begin(tuple(cells))
        while True:
            try:
                if not self.has(link, version):
                    run_as_one(link, self.setting({cell: (history.versions[cell], version) for cell in cells}))
                break
            except (OSError, EOFError):
                link.again()
        history.end()

    def has(self, link, version):
        """Whether this change was done before the connection broke, where it must not be done twice."""
        return False

    def stir(self, link, rng, history):
        """Renames a value there and back."""
        key, other = rng.choice(self.keys), b"other:" + self.keys[0]
        run_as_one(link, [[b"RENAME", key, other], [b"RENAME", other, key]])

    def change_extra(self, link):
        """Adds the elements that are no cells, or removes them."""


class Pairs(Cells):
    """Elements are two texts."""
    is_flat = False

    @staticmethod
    def element(cell, version):
        return b"%d" % cell, b"%d" % version

    @staticmethod
    def cell_of(element):
        return int(element[0]), int(element[1])


class Hash(Pairs):
    keys = (b"hash",)
    reads = of_hash(keys)

    def setting(self, cells):
        return [[b"HSET", b"hash", *(word for cell, (_, version) in cells.items()
                                     for word in (b"%d" % cell, b"%d" % version))]]

    def change_extra(self, link):
        names = [EXTRA + b"%d" % number for number in range(self.count // 4)]
        run_as_one(link, [[b"HSET", b"hash", *(word for name in names for word in (name, b"0"))]
                          if self.has_extra else [b"HDEL", b"hash", *names]])


class Zset(Pairs):
    """As a version is a small number, it is a place, too: far in the south-west."""
    keys = (b"zset",)
    reads = of_zset(keys)

    def setting(self, cells):
        return [[b"ZADD", b"zset", *(word for cell, (_, version) in cells.items()
                                     for word in (b"%d" % version, b"%d" % cell))]]

    def change_extra(self, link):
        names = [EXTRA + b"%d" % number for number in range(self.count // 4)]
        run_as_one(link, [[b"ZADD", b"zset", *(word for name in names for word in (b"7", name))]
                          if self.has_extra else [b"ZREM", b"zset", *names]])


class Sets(Cells):
    """Each cell is in one of two sets."""
    is_copied = True
    keys = (b"set:a", b"set:b")
    reads = of_set(keys)

    def setting(self, cells):
        old = [b"%d=%d" % (cell, was) for cell, (was, _) in cells.items()]
        new = [b"%d=%d" % (cell, version) for cell, (_, version) in cells.items()]
        middle = len(new) // 2
        parts = [[b"SADD", key, *members] for key, members in zip(self.keys, (new[:middle], new[middle:])) if members]
        return [*([b"SREM", key, *old] for key in self.keys), *parts]

    def stir(self, link, rng, history):
        """Moves members from one set to the other."""
        for cell in rng.sample(list(history.versions), min(20, len(history.versions))):
            keys = rng.sample(self.keys, 2)
            run_as_one(link, [[b"SMOVE", *keys, b"%d=%d" % (cell, history.versions[cell])]])

    def change_extra(self, link):
        names = [EXTRA + b"%d" % number for number in range(self.count // 4)]
        run_as_one(link, [[b"SADD" if self.has_extra else b"SREM", b"set:a", *names]])


class List(Cells):
    """Each change also rotates it by one: the cell that comes first tells the version."""
    keys = (b"list",)

    def __init__(self, count):
        super().__init__(count, 1)
        first = {cell: self.element(cell, 0) for cell in range(UNCHANGED)}
        self.unchanged = frozenset(first.values())
        self.histories = [History(range(UNCHANGED, count), self.element)]
        self.reads = of_list(self.keys) + positions(b"list", first.items())

    @staticmethod
    def element(cell, version):
        return b"%d=%d" % (cell, version) + LIST_PADDING

    def fill(self, link):
        for at in range(0, self.count, BATCH):
            run_as_one(link, [[b"RPUSH", b"list", *(self.element(cell, 0)
                                                    for cell in range(at, min(at + BATCH, self.count)))]])

    def setting(self, cells):
        version = next(iter(cells.values()))[1]
        return [[b"LMOVE", b"list", b"list", b"LEFT", b"RIGHT"],
                *([b"LSET", b"list", b"%d" % ((cell - version) % self.count), self.element(cell, version)]
                  for cell in cells)]

    def first(self, element):
        return int(element.split(b"=")[0])

    def has(self, link, version):
        return self.first(value_of(link.raw(b"LINDEX", b"list", b"0"))) == version % self.count

    def stir(self, link, rng, history):
        """One element more, and one less, where no cell is between."""
        link_free = EXTRA + LIST_PADDING
        run_as_one(link, [[b"RPUSH", b"list", link_free], [b"LREM", b"list", b"-1", link_free]])

    def check_order(self, elements):
        cells = [self.first(element) for element in elements]
        version = max(self.cell_of(element)[1] for element in elements)
        begin = version % self.count
        if cells != [*range(begin, self.count), *range(begin)]:
            raise Trouble(f"at version {version} cell {begin} is to be the first one; order: {cells[:10]}…")

    def check_position(self, cell, found, mark, last):
        """The position, alone or in a list."""
        position, first, last = int(found[0]), mark[0].version, last[0]
        rotated = (cell - position) % self.count
        if len(found) != 1 or (rotated - first) % self.count > last - first:
            raise Trouble(f"cell {cell} is at {found}: rotated by {rotated}, not by {first} to {last}")


class Text(Cells):
    """A cell is its version and the same inverted, so that as many bits are set always, and then nothing."""
    keys = (b"text",)
    is_flat = False

    def __init__(self, count):
        super().__init__(count)
        self.reads = of_text(self.keys, self.take_apart)

    def setting(self, cells):
        return [[b"SETRANGE", b"text", b"%d" % (cell * CELL_BYTES), self.bytes_of(version)]
                for cell, (_, version) in cells.items()]

    @staticmethod
    def bytes_of(version):
        number = version.to_bytes(8, "big")
        return number + number.translate(INVERTED)

    @classmethod
    def element(cls, cell, version):
        return cls.bytes_of(version), cell

    @staticmethod
    def cell_of(element):
        return element[1], int.from_bytes(element[0][:8], "big")

    @staticmethod
    def take_apart(text, is_inverted):
        if is_inverted:
            text = text.translate(INVERTED)
        return [(text[at:at + 16], at // CELL_BYTES) for at in range(0, len(text), CELL_BYTES)]
