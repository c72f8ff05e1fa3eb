"""Random datasets: keys of several databases, each as the commands that make it."""
from dataclasses import dataclass, replace

FILLS = [-5, -4, -3, -2, -1, 1, 2, 3, 5, 16, 128, 1000]
DEPTHS = [0, 0, 1, 2, 3, 10]
TEXT_SIZES = [0, 1, 2, 19, 20, 21, 22, 31, 32, 43, 44, 45, 63, 64, 65, 127, 128, 253, 254, 255, 256, 1000]
LONG_SIZES = [4000, 4095, 4096, 8191, 8192, 8193, 16383, 16384, 20000, 65535, 65536, 100000]
# Of strings that a snapshot captures instead of copying (from 256 KB on), and of some that are a little too short.
LARGE_SIZES = [256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 300_000, 1 << 20, 2_500_000]
WORDS = [b"list", b"node", b"packed", b"\r\n", b"key", b"0", b"-1", b"element", b"quick", b" "]
POLICIES = [b"noeviction", b"noeviction", b"allkeys-lru", b"allkeys-lfu", b"volatile-ttl"]
FAR_MS = 33177117420000


@dataclass(frozen=True)
class Key:
    """A key and how it comes into being. Shorter lists of commands make valid keys, too."""
    database: int
    name: bytes
    fill: int
    depth: int
    commands: tuple
    expires_ms: int = 0  # since the epoch; 0: never
    used: int = -1       # idle seconds or frequency, as the policy has it; -1: as it comes

    def settings(self):
        return [(b"list-max-listpack-size", self.fill), (b"list-compress-depth", self.depth)]


@dataclass(frozen=True)
class Dataset:
    keys: tuple
    policy: bytes
    compress: bool   # rdbcompression of the server that saves
    fill: int        # of the server that loads
    depth: int

    def with_keys(self, keys):
        return replace(self, keys=tuple(keys))

    def databases(self):
        return sorted({key.database for key in self.keys})

    def large_strings(self):
        return [key for key in self.keys if key.commands[0][0] == b"SET" and len(key.commands[0][2]) >= LARGE_SIZES[0]]

    def usage(self):
        """The option of RESTORE that says how a key was used, where the policy keeps that."""
        if b"lfu" in self.policy:
            return b"FREQ"
        return b"IDLETIME" if b"lru" in self.policy else None


class Maker:
    def __init__(self, random, now_ms):
        self.random, self.now_ms = random, now_ms

    # --- texts ---

    def integer(self):
        bits = self.random.choice([3, 6, 7, 8, 12, 13, 15, 16, 23, 24, 31, 32, 63, 64])
        number = self.random.choice([1, -1]) * (1 << bits) + self.random.randint(-2, 2)
        text = b"%d" % number
        return self.random.choice([text] * 6 + [b"+" + text, b"0" + text, text + b" ", b"-0"])

    def text(self, size):
        roll = self.random.random()
        if roll < 0.3:
            return self.random.choice([b"x", b"\0", b"\xff", b"7"]) * size
        if roll < 0.5:
            return self.random.randbytes(size)
        if roll < 0.7:
            return b"%0*d" % (size, self.random.getrandbits(60)) if size else b""
        words = b"".join(self.random.choices(WORDS, k=size // 2 + 1))
        return words[:size]

    def short_text(self):
        roll = self.random.random()
        if roll < 0.3:
            return self.integer()
        return self.text(self.random.choice(TEXT_SIZES) if roll < 0.6 else self.random.randint(0, 40))

    def long_text(self):
        return self.text(self.random.choice(LONG_SIZES) + self.random.randint(-8, 8))

    # --- strings ---

    def string_commands(self, name):
        roll = self.random.random()
        if roll < 0.04:
            return [[b"SETBIT", name, b"%d" % self.random.randint(0, 100000), b"1"]]
        if roll < 0.05:
            return [[b"SET", name, self.text(self.random.randint(1, 3_000_000))]]
        text = self.long_text() if roll < 0.15 else self.short_text()
        commands = [[b"SET", name, text]]
        if self.random.random() < 0.2:
            commands.append(self.random.choice([
                [b"APPEND", name, self.short_text()],
                [b"SETRANGE", name, b"%d" % self.random.randint(0, 300), self.short_text()],
                [b"INCR", name],
                [b"INCRBYFLOAT", name, b"0.25"],
            ]))
        return commands

    # --- lists ---

    def element_maker(self):
        """Elements of one kind, or of all kinds."""
        return self.random.choice([
            lambda: b"%d" % self.random.randint(-3, 200),
            self.integer,
            lambda: self.text(self.random.randint(5, 15)),
            self.short_text,
            self.short_text,
            lambda: self.long_text() if self.random.random() < 0.1 else self.short_text(),
            lambda: b"same",
        ])

    def length(self):
        return self.random.choice([self.random.randint(1, 4), self.random.randint(1, 40),
                                   self.random.randint(1, 400), self.random.randint(1, 3000)])

    def list_commands(self, name):
        element = self.element_maker()
        if self.random.random() < 0.04:
            element, count = self.long_text, self.random.randint(1, 20)
        else:
            count = self.length()
        commands = []
        while count > 0:
            size = min(count, self.random.choice([1, 10, 100, 1000]))
            commands.append([self.random.choice([b"RPUSH", b"RPUSH", b"LPUSH"]), name,
                             *[element() for _ in range(size)]])
            count -= size
        edits = self.random.choice([0, 0, 1, 5, 20])
        return commands + [self.list_edit(name, element) for _ in range(edits)]

    def list_edit(self, name, element):
        index = b"%d" % self.random.choice([0, 1, -1, -2, self.random.randint(-400, 400)])
        return self.random.choice([
            lambda: [b"LSET", name, index, element()],
            lambda: [b"LSET", name, index, self.long_text()],
            lambda: [b"LINSERT", name, self.random.choice([b"BEFORE", b"AFTER"]), element(), element()],
            lambda: [b"LREM", name, b"%d" % self.random.randint(-3, 3), element()],
            lambda: [b"LTRIM", name, b"%d" % self.random.randint(0, 3), b"%d" % self.random.randint(-4, -1)],
            lambda: [b"LPOP", name, b"%d" % self.random.randint(1, 5)],
            lambda: [b"RPOP", name, b"%d" % self.random.randint(1, 5)],
            lambda: [b"LMOVE", name, name, b"LEFT", b"RIGHT"],
            lambda: [self.random.choice([b"LPUSH", b"RPUSH"]), name, element(), element()],
        ])()

    # --- sorted sets ---

    def score(self):
        """Only scores that all servers write alike, because DEBUG DIGEST is calculated from their texts."""
        return self.random.choice([b"%d" % self.random.randint(-999, 999), b"%d" % self.random.randint(1, 7), b"1.5",
                                   b"-0.25", b"inf", b"-inf"])

    def zset_pairs(self, count):
        member = self.random.choice([self.integer, self.short_text, lambda: b"m%d" % self.random.randint(1, 5000)])
        return [part for _ in range(count) for part in (self.score(), member())]

    def zset_commands(self, name):
        count = self.length()
        commands = []
        while count > 0:
            size = min(count, self.random.choice([1, 10, 100, 1000]))
            commands.append([b"ZADD", name, *self.zset_pairs(size)])
            count -= size
        return commands + [self.zset_edit(name) for _ in range(self.random.choice([0, 0, 1, 5, 20]))]

    def zset_edit(self, name):
        rank = self.random.randint(-400, 400)
        return self.random.choice([
            lambda: [b"ZADD", name, *self.zset_pairs(self.random.randint(1, 4))],
            lambda: [b"ZADD", name, b"0", self.long_text()],
            lambda: [b"ZREMRANGEBYRANK", name, b"%d" % rank, b"%d" % (rank + 3)],
            lambda: [b"ZREMRANGEBYSCORE", name, b"(3", b"4"],
            lambda: [b"ZPOPMIN", name, b"%d" % self.random.randint(1, 5)],
            lambda: [b"ZPOPMAX", name],
        ])()

    # --- keys ---

    def name(self, number):
        """Different for each number."""
        return self.random.choice([
            b"key:%d" % number,
            b"%d" % number,
            b"%d" % (number << 33),
            b"\x00\xff\r\n%d" % number,
            self.random.randbytes(self.random.randint(0, 30)) + b"#%d" % number,
            b"long" * self.random.randint(5, 500) + b"#%d" % number,
        ]) if number else b""

    def expiry(self):
        if self.random.random() < 0.7:
            return 0
        return self.random.choice([self.now_ms + 10_000_000, self.now_ms + 10_000_000_000, FAR_MS, 1 << 62])

    def key(self, number, databases, is_small):
        name = self.name(number)
        if is_small:
            commands = [[b"SET", name, self.short_text()]]
        elif (roll := self.random.random()) < 0.3:
            commands = self.string_commands(name)
        elif roll < 0.6:
            commands = self.zset_commands(name)
        else:
            commands = self.list_commands(name)
        return Key(self.random.choice(databases), name, self.random.choice(FILLS), self.random.choice(DEPTHS),
                   tuple(commands), self.expiry(), self.random.choice([-1, self.random.randint(0, 255)]))

    def dataset(self):
        databases = self.random.sample(range(16), self.random.choice([1, 1, 2, 5]))
        roll = self.random.random()
        count = 0 if roll < 0.01 else self.random.randint(1, 12) if roll < 0.8 else self.random.randint(12, 60)
        keys = [self.key(number, databases, False) for number in range(count)]
        if self.random.random() < 0.05:
            keys += [self.key(number, databases, True) for number in range(count, 3000)]
        elif self.random.random() < 0.2:
            keys += [self.large_string(3000 + number, databases) for number in range(self.random.randint(1, 3))]
        return Dataset(tuple(keys), self.random.choice(POLICIES), self.random.random() < 0.8,
                       self.random.choice(FILLS), self.random.choice(DEPTHS))

    def large_string(self, number, databases):
        name = self.name(number)
        text = self.text(self.random.choice(LARGE_SIZES))
        return Key(self.random.choice(databases), name, -2, 0, ([b"SET", name, text],), self.expiry())

    def later_edits(self, key):
        """What happens to a key after it has moved."""
        if key.commands[0][0] in (b"RPUSH", b"LPUSH"):
            return [self.list_edit(key.name, self.element_maker()) for _ in range(6)]
        if key.commands[0][0] == b"ZADD":
            return [self.zset_edit(key.name) for _ in range(6)]
        return [[b"APPEND", key.name, self.short_text()], [b"SETRANGE", key.name, b"3", self.short_text()]]
