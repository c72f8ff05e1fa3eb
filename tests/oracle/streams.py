"""Random commands on streams."""
from groups import GroupGenerator

KEYS = [b"xa", b"xb", b"xc"]
LAST = b"18446744073709551615"


class StreamGenerator(GroupGenerator):
    """The generator of commands.py provides random, reference, element, count, options."""

    def xkey(self):
        """Keys of their own; `reserve` is always a list."""
        return b"reserve" if self.random.random() < 0.01 else self.random.choice(KEYS)

    def new_id(self):
        """Never *, which depends on the time. Most ids are greater than those before."""
        self.stream_ms = getattr(self, "stream_ms", 1) + self.random.choice([0, 0, 0, 1, 1, 2, 200, 70000])
        roll = self.random.random()
        if roll < 0.5:
            return b"%d-*" % self.stream_ms
        if roll < 0.9:
            self.stream_seq = getattr(self, "stream_seq", 0) + self.random.choice([1, 1, 2, 300])
            return b"%d-%d" % (self.stream_ms, self.stream_seq)
        if roll < 0.97:
            return b"%d" % (self.stream_ms + 1)
        return self.random.choice([b"0-0", b"0-*", b"x", b"1-x", b"-", b"+", b"1-1-1", b"", b"007-+3", b"1-" + LAST])

    def old_id(self):
        """An id that may be in a stream."""
        ms = getattr(self, "stream_ms", 1) - self.random.choice([0, 0, 1, 2, 5, 200])
        if self.random.random() < 0.5:
            return b"%d-%d" % (max(ms, 0), self.random.randint(0, 5))
        if self.random.random() < 0.5:
            return b"%d-%d" % (max(ms, 0), getattr(self, "stream_seq", 0) - self.random.randint(0, 3) if ms else 1)
        if self.random.random() < 0.05:
            return self.random.choice([b"x", b"-", b"$", b"+", b"", b"1-", LAST, b"18446744073709551616"])
        return b"%d" % max(ms, 0)

    def bound(self):
        roll = self.random.random()
        if roll < 0.5:
            return self.random.choice([b"-", b"+"])
        return self.random.choice([b"", b"("]) + (self.old_id() if roll < 0.97 else
                                                   self.random.choice([b"0-0", LAST + b"-" + LAST]))

    def xpairs(self):
        roll = self.random.random()
        if roll < 0.6:
            return [b"f", self.element(), b"12", self.element()]
        names = [self.random.choice([b"f", b"12", b"g", b"-7", b"long name of a field"])
                 for _ in range(self.random.randint(1, 3))]
        pairs = [part for name in names for part in (name, self.element())]
        return pairs if roll < 0.98 else pairs[:-1]

    def deletes(self):
        """Whether this run deletes entries, or trims by id: Redis keeps a node without entries when one at its end that
        was deleted has an id that stays. Packlist frees it."""
        self.may_delete = getattr(self, "may_delete", None)
        if self.may_delete is None:
            self.may_delete = self.random.random() < 0.5
        return self.may_delete

    def trimming(self):
        how = self.random.choice([[], [b"="], [b"~"], [b"~"]])
        if self.deletes() or self.random.random() < 0.5:
            threshold = [b"MAXLEN", *how, self.random.choice([b"0", b"1", b"5", b"20", b"100", b"-1", b"x"])]
        else:
            threshold = [b"MINID", *how, self.old_id()]
        return [*threshold, *(self.options([b"LIMIT", self.random.choice([b"0", b"1", b"10", b"100", b"-1", b"x"])])
                              if b"~" in threshold or self.random.random() < 0.1 else [])]

    def stream_write(self):
        return self.random.choice([
            lambda: [b"XADD", self.xkey(), self.new_id(), *self.xpairs()],
            lambda: [b"XADD", self.xkey(), self.new_id(), *self.xpairs()],
            lambda: [b"XADD", self.xkey(), self.new_id(), *self.xpairs()],
            lambda: [b"XADD", self.xkey(), self.new_id(), b"f", self.element()],
            lambda: [b"XADD", self.xkey(), *self.options([b"NOMKSTREAM"], self.trimming()), self.new_id(),
                     *self.xpairs()],
            lambda: [b"XTRIM", self.xkey(), *self.trimming(), *self.options([b"FOO"])[:self.random.random() < 0.1]],
            lambda: [b"XDEL", self.xkey() if self.deletes() else b"none",
                     *[self.old_id() for _ in range(self.random.randint(1, 6))]],
            lambda: self.random_deletion(),
            lambda: [b"XSETID", self.xkey(), self.last_id(), *self.options(
                [b"ENTRIESADDED", self.random.choice([b"0", b"1000", b"-1", b"x"])],
                [b"MAXDELETEDID", self.old_id()])][:self.random.choice([3, 3, 3, 9])],
            lambda: [b"RENAME", *self.random.sample(KEYS, 2)],
            lambda: [b"COPY", *self.random.sample(KEYS, 2), *self.options([b"REPLACE"])],
            lambda: [b"DEL", self.xkey()] if self.random.random() < 0.3 else [b"XLEN", self.xkey()],
        ])()

    def last_id(self):
        """Redis 7.0 does not compare it with the greatest deleted id: it is asked only for greater ones."""
        return self.new_id() if self.reference >= (7, 2) else b"%d" % (getattr(self, "stream_ms", 1) + 5)

    def random_deletion(self):
        """Ids as ms-* makes them."""
        ms = getattr(self, "stream_ms", 1)
        if not self.deletes():
            return [b"XLEN", self.xkey()]
        return [b"XDEL", self.random.choice(KEYS),
                *[b"%d-%d" % (max(ms - self.random.randint(0, 30), 0), n) for n in range(self.random.randint(1, 4))]]

    def xread_ids(self, keys):
        ids = [b"$", b"0", b"0-0", *([b"+"] if self.reference >= (7, 4) else [])]
        chosen = [self.random.choice(ids) if self.random.random() < 0.4 else self.old_id() for _ in keys]
        return [b"0" if one == b"+" and self.reference < (7, 4) else one for one in chosen]

    def xread(self):
        keys = [self.xkey() for _ in range(self.random.randint(1, 3))]
        return [b"XREAD", *self.options([b"COUNT", self.count()], [b"BLOCK", self.random.choice([b"1", b"-1", b"x"])]),
                b"STREAMS", *keys, *self.xread_ids(keys)]

    def stream_read(self):
        return self.random.choice([
            lambda: [b"XLEN", self.xkey()],
            lambda: [b"XRANGE", self.xkey(), self.bound(), self.bound(), *self.options([b"COUNT", self.count()])],
            lambda: [b"XREVRANGE", self.xkey(), self.bound(), self.bound(), *self.options([b"COUNT", self.count()])],
            lambda: [b"XRANGE", self.xkey(), b"-", b"+"],
            lambda: [b"XREVRANGE", self.xkey(), b"+", b"-"],
            lambda: self.xread(),
            lambda: [b"XINFO", b"STREAM", self.xkey(), *self.options([b"FULL"])],
            lambda: [b"XINFO", b"STREAM", self.xkey(), b"FULL", b"COUNT", self.count()],
            lambda: [b"XINFO", b"GROUPS", self.xkey()],
            lambda: [b"DEBUG", b"DIGEST-VALUE", *KEYS] if self.reference < (8, 0) else [b"PING"],  # without groups
            lambda: [b"OBJECT", b"ENCODING", self.random.choice(KEYS)],
            lambda: [b"TYPE", self.xkey()],
        ])()

    def stream_command(self):
        if self.reference >= (8, 0) and self.random.random() < 0.5:
            return self.group_command()
        return self.stream_write() if self.random.random() < 0.65 else self.stream_read()
