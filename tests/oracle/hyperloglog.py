"""Random commands on HyperLogLogs, in keys of their own: their bytes and estimates must be the same.

Not asked, as the reference reads beyond the end of a value there, or counts what no elements can make: values that end
within a run, and dense ones whose registers are larger than 51. PFADD to a corrupt value that begins well may add some
of the elements there, without propagating that; here it adds none: such values stay in a key to which nothing is added.
PFDEBUG SIMD with a wrong word is answered twice there. Of servers before 8.0 no corrupt value is asked: they read and
write beyond its end.
"""
HEADER = b"HYLL\x01" + bytes(10) + b"\x80"
WHOLE, TOO_FEW = b"\x7f\xff", b"\x00"
CORRUPT = [WHOLE + b"\x80", WHOLE + WHOLE, b"\x7f\xfe", b"\x80" * 16385, b"\x00" * 255]


class HyperLogLogGenerator:
    """The generator of commands.py provides random, key, spelled, reference."""

    def counted_key(self):
        roll = self.random.random()
        return self.random.choice([b"h1", b"h2", b"h3", b"h4"]) if roll < 0.97 else self.key()

    def source_key(self):
        return b"corrupt" if self.random.random() < 0.05 else self.counted_key()

    def counted_keys(self, most):
        return [self.source_key() for _ in range(self.random.randint(0, most))]

    def counted_elements(self):
        most = 400 if self.random.random() < 0.1 else 5
        beyond = self.random.choice([10, 1000, 1 << 40])
        return [b"%d" % self.random.randrange(beyond) for _ in range(self.random.randint(0, most))]

    def crafted(self):
        """A value that someone has set: with a count that may be wrong, of runs that may be."""
        if self.random.random() < 0.5:
            values = bytes(self.random.randrange(0x80, 0x90) for _ in range(self.random.randint(1, 40)))
            length = sum((byte & 3) + 1 for byte in values)
            rest = 16384 - length - 1
            runs = values + bytes([0x40 | rest >> 8, rest & 255])
        else:
            runs = self.random.choice([WHOLE, TOO_FEW, b""]) if self.reference >= (8, 0) else WHOLE
        stored = self.random.choice([HEADER, HEADER[:8] + b"\x05" + bytes(7), HEADER[:5] + b"abc" + HEADER[8:],
                                     b"HYLL\x02" + HEADER[5:], b"HYLL\x00" + HEADER[5:]])
        return stored + runs if self.random.random() < 0.95 else HEADER[:15]

    def hyperloglog_command(self):
        key = self.counted_key
        return self.random.choice([
            lambda: [b"PFADD", key(), *self.counted_elements()],
            lambda: [b"PFADD", key(), *self.counted_elements()],
            lambda: [b"PFADD", key(), *self.counted_elements()],
            lambda: [b"PFCOUNT", self.source_key()],
            lambda: [b"PFCOUNT", self.source_key(), *self.counted_keys(3)],
            lambda: [b"PFMERGE", key(), *self.counted_keys(3)],
            lambda: [b"PFDEBUG", self.spelled(b"DECODE"), self.source_key()],
            lambda: [b"PFDEBUG", self.spelled(b"ENCODING"), key()],
            lambda: [b"PFDEBUG", self.random.choice([b"GETREG", b"TODENSE", b"TODENSE", b"FOO"]),
                     self.source_key()],
            lambda: [b"PFDEBUG", *([b"SIMD", self.random.choice([b"ON", b"off"])] if self.reference >= (8, 0)
                                   else [b"ENCODING", key()])],
            lambda: [b"CONFIG", b"SET", b"hll-sparse-max-bytes",
                     self.random.choice([b"0", b"30", b"60", b"400", b"3000", b"3000", b"16000"])],
            lambda: [b"GET", key()],
            lambda: [b"GET", key()],
            lambda: [b"STRLEN", key()],
            lambda: [b"DEL", key()],
            lambda: [b"COPY", key(), key(), b"REPLACE"],
            lambda: [b"SET", key(), self.crafted()],
            lambda: [b"SET", b"corrupt", HEADER + self.random.choice(CORRUPT if self.reference >= (8, 0) else [WHOLE])],
            lambda: [b"SETRANGE", key(), b"15", b"\x80"],
        ])()
