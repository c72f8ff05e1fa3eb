"""Random datasets: keys of several databases, each as the commands that make it."""
from dataclasses import dataclass, replace
from functools import cached_property

from resp import encode

FILLS = [-5, -4, -3, -2, -1, 1, 2, 3, 5, 16, 128, 1000]
DEPTHS = [0, 0, 1, 2, 3, 10]
TEXT_SIZES = [0, 1, 2, 19, 20, 21, 22, 31, 32, 43, 44, 45, 63, 64, 65, 127, 128, 253, 254, 255, 256, 1000]
LONG_SIZES = [4000, 4095, 4096, 8191, 8192, 8193, 16383, 16384, 20000, 65535, 65536, 100000]
# Of strings that a snapshot captures instead of copying (from 256 KB on), and of some that are a little too short.
LARGE_SIZES = [256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 300_000, 1 << 20, 2_500_000]
WORDS = [b"list", b"node", b"packed", b"\r\n", b"key", b"0", b"-1", b"element", b"quick", b" "]
PART_WORDS = 64  # in a part of a long text; such a text repeats two parts
# The greatest numbers of elements and sizes of elements in a listpack, and of elements in an intset.
ENTRIES = [0, 1, 16, 128, 128, 512, 5000]
VALUES = [0, 20, 64, 64, 1000]
POLICIES = [b"noeviction", b"noeviction", b"allkeys-lru", b"allkeys-lfu", b"volatile-ttl"]
FAR_MS = 33177117420000
LISTPACK_TYPES = ("set", "hash", "zset")
LARGE_STREAM = 2500  # entries; as LARGE_COLLECTION
LARGE_COLLECTION = 1000  # members: so many that a snapshot captures the value instead of copying it


@dataclass(frozen=True)
class Key:
    """A key and how it comes into being. Shorter lists of commands make valid keys, too."""
    database: int
    name: bytes
    type: str
    fill: int
    depth: int
    commands: tuple
    expires_ms: int = 0  # since the epoch; 0: never
    used: int = -1       # idle seconds or frequency, as the policy has it; -1: as it comes

    @cached_property
    def requests(self):
        """The commands as they are sent: a key is made many times, on each way."""
        return b"".join(map(encode, self.commands))

    def settings(self):
        return [(b"list-max-listpack-size", self.fill), (b"list-compress-depth", self.depth)]

    def is_large(self):
        if self.type == "string":
            return self.commands[0][0] == b"SET" and len(self.commands[0][2]) >= LARGE_SIZES[0]
        if self.type == "stream":
            return len(self.commands) >= LARGE_STREAM
        return self.type in LISTPACK_TYPES and sum(len(argv) - 2 for argv in self.commands) >= LARGE_COLLECTION

    def has_field_expiries(self):
        return any(argv[0] == FIELD_EXPIRY for argv in self.commands)

    def has_groups(self):
        return any(argv[0] in OF_GROUPS for argv in self.commands)

    def without_groups(self):
        return replace(self, commands=tuple(argv for argv in self.commands if argv[0] not in OF_GROUPS))

    def without_field_expiries(self):
        return replace(self, commands=tuple(argv for argv in self.commands if argv[0] != FIELD_EXPIRY))


FIELD_EXPIRY = b"HPEXPIREAT"
OF_GROUPS = (b"XGROUP", b"XCLAIM")
COUNTED = b"PFADD"  # the first command of a HyperLogLog


@dataclass(frozen=True)
class Limits:
    """Up to which a value is a listpack or an intset."""
    entries: int
    value: int
    intset: int

    def settings(self):
        yield b"set-max-intset-entries", self.intset
        for kind in LISTPACK_TYPES:
            yield b"%s-max-listpack-entries" % kind.encode(), self.entries
            yield b"%s-max-listpack-value" % kind.encode(), self.value


@dataclass(frozen=True)
class Dataset:
    keys: tuple
    policy: bytes
    compress: bool   # rdbcompression of the server that saves
    fill: int        # of the server that loads
    depth: int
    made: Limits     # of the server that makes the dataset
    loaded: Limits   # of the server that loads it

    def with_keys(self, keys):
        return replace(self, keys=tuple(keys))

    def has_groups(self):
        return any(key.has_groups() for key in self.keys)

    def without_groups(self):
        return self.with_keys(key.without_groups() for key in self.keys)

    def without_field_expiries(self):
        return self.with_keys(key.without_field_expiries() for key in self.keys)

    def has_field_expiries(self):
        return any(key.has_field_expiries() for key in self.keys)

    def databases(self):
        return sorted({key.database for key in self.keys})

    def large_values(self):
        return [key for key in self.keys if key.is_large()]

    def usage(self):
        """The option of RESTORE that says how a key was used, where the policy keeps that."""
        if b"lfu" in self.policy:
            return b"FREQ"
        return b"IDLETIME" if b"lru" in self.policy else None


def undisputed(text):
    """The text, or all but its last byte: a text of these lengths makes the same listpack of Redis and of Valkey, from
    9.1 on, differ, and each rejects the other's. For streams there is no other form to write."""
    return text[:-1] if len(text) in (16378, 2097146) else text


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
        if size <= PART_WORDS:
            return self.words(size // 2 + 1)[:size]
        parts = [self.words(PART_WORDS) for _ in range(2)]
        return b"".join(self.random.choices(parts, k=size // PART_WORDS + 1))[:size]

    def words(self, count):
        return b"".join(self.random.choices(WORDS, k=count))

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
        if self.random.random() < 0.1:
            return self.hyperloglog_commands(name)
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

    # --- HyperLogLogs ---

    def hyperloglog_commands(self, name):
        """Sparse or dense, with a count that is up to date or not."""
        member = self.member_maker()
        commands = [*self.in_commands(COUNTED, name, lambda: [member()], self.length())]
        if self.random.random() < 0.5:
            commands.append([b"PFCOUNT", name])
        return commands + [self.hyperloglog_edit(name, member) for _ in range(self.random.choice([0, 0, 1, 5]))]

    def hyperloglog_edit(self, name, member):
        return self.random.choice([
            lambda: [COUNTED, name, *[member() for _ in range(self.random.randint(0, 9))]],
            lambda: [b"PFMERGE", name, name],
            lambda: [b"PFCOUNT", name],
        ])()

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

    def place(self):
        """A longitude and a latitude."""
        return b"%.9f" % self.random.uniform(-180, 180), b"%.9f" % self.random.uniform(-85, 85)

    def zset_pairs(self, count):
        member = self.member_maker()
        return [part for _ in range(count) for part in (self.score(), member())]

    def zset_commands(self, name):
        member = self.member_maker()
        if self.random.random() < 0.2:
            commands = list(self.in_commands(b"GEOADD", name, lambda: [*self.place(), member()], self.length()))
        else:
            commands = list(self.in_commands(b"ZADD", name, lambda: [self.score(), member()], self.length()))
        return commands + [self.zset_edit(name) for _ in range(self.random.choice([0, 0, 1, 5, 20]))]

    def zset_edit(self, name):
        rank = self.random.randint(-400, 400)
        return self.random.choice([
            lambda: [b"ZADD", name, *self.zset_pairs(self.random.randint(1, 4))],
            lambda: [b"ZADD", name, b"0", self.long_text()],
            lambda: [b"GEOADD", name, b"CH", *self.place(), self.short_text()],
            lambda: [b"ZREMRANGEBYRANK", name, b"%d" % rank, b"%d" % (rank + 3)],
            lambda: [b"ZREMRANGEBYSCORE", name, b"(3", b"4"],
            lambda: [b"ZPOPMIN", name, b"%d" % self.random.randint(1, 5)],
            lambda: [b"ZPOPMAX", name],
        ])()

    # --- sets ---

    def member_maker(self):
        return self.random.choice([
            lambda: b"%d" % self.random.randint(-100, 100),
            lambda: b"%d" % self.random.randint(-40_000, 40_000),
            self.integer,
            self.short_text,
            lambda: b"m%d" % self.random.randint(1, 5000),
            lambda: self.long_text() if self.random.random() < 0.05 else self.short_text(),
        ])

    def in_commands(self, command, name, element, count):
        """Commands that give so many elements to a key, some at a time."""
        while count > 0:
            size = min(count, self.random.choice([1, 10, 100, 1000]))
            yield [command, name, *[part for _ in range(size) for part in element()]]
            count -= size

    def set_commands(self, name):
        member = self.member_maker()
        edits = self.random.choice([0, 0, 1, 5, 20])
        return [*self.in_commands(b"SADD", name, lambda: [member()], self.length()),
                *[self.set_edit(name, member) for _ in range(edits)]]

    def set_edit(self, name, member):
        return self.random.choice([
            lambda: [b"SADD", name, *[member() for _ in range(self.random.randint(1, 4))]],
            lambda: [b"SADD", name, self.short_text()],
            lambda: [b"SADD", name, b"%d" % self.random.getrandbits(self.random.choice([7, 15, 31, 63]))],
            lambda: [b"SREM", name, *[member() for _ in range(self.random.randint(1, 8))]],
            lambda: [b"SINTERSTORE", name, name],
        ])()

    # --- hashes ---

    def hash_commands(self, name):
        field, value = self.member_maker(), self.element_maker()
        edits = self.random.choice([0, 0, 1, 5, 20])
        commands = [*self.in_commands(b"HSET", name, lambda: [field(), value()], self.length()),
                    *[self.hash_edit(name, field, value) for _ in range(edits)]]
        if self.random.random() < 0.4:
            fields = self.random.sample(*self.some_fields(commands))
            commands += [self.field_expiry(name, fields[at:at + 50]) for at in range(0, len(fields), 50)]
            commands += [self.hash_edit(name, field, value) for _ in range(edits)]
        return commands

    def some_fields(self, commands):
        """All fields that the commands set, and a number of them."""
        fields = sorted({field for argv in commands if argv[0] == b"HSET" for field in argv[2::2]})
        return fields, self.random.choice([1, min(len(fields), 3), len(fields)])

    def field_expiry(self, name, fields):
        at = self.random.choice([self.now_ms + 10_000_000, self.now_ms + 10_000_000_000, FAR_MS, (1 << 46) - 2])
        return [FIELD_EXPIRY, name, b"%d" % at, b"FIELDS", b"%d" % len(fields), *fields]

    def hash_edit(self, name, field, value):
        return self.random.choice([
            lambda: [b"HSET", name, field(), value()],
            lambda: [b"HSET", name, field(), self.short_text(), self.short_text(), value()],
            lambda: [b"HDEL", name, *[field() for _ in range(self.random.randint(1, 8))]],
            lambda: [b"HINCRBY", name, field(), b"7"],
            lambda: [b"HSETNX", name, field(), self.long_text()],
        ])()

    # --- streams ---

    def stream_commands(self, name):
        """With explicit ids, so that all servers have the same."""
        field, value, ms = self.member_maker(), self.element_maker(), self.random.choice([1, self.now_ms])
        usual = [field() for _ in range(self.random.randint(1, 3))]
        commands, trimmed = [], self.random.choice([0, 0, 0, 0.01])
        for _ in range(self.length()):
            ms += self.random.choice([0, 1, 1, 1, 1000])
            fields = usual if self.random.random() < 0.9 else [field() for _ in range(self.random.randint(1, 4))]
            pairs = [part for one in fields for part in (one, value())]
            commands.append([b"XADD", name, b"%d-*" % ms, *[undisputed(part) for part in pairs]])
            if self.random.random() < trimmed:
                commands.append([b"XTRIM", name, b"MAXLEN", self.random.choice([b"=", b"~"]), b"100"])
        ids = [argv[2].replace(b"*", b"0") for argv in commands if argv[0] == b"XADD"]
        if self.random.random() < 0.5:
            commands.append([b"XDEL", name, *self.random.sample(ids, self.random.randint(1, len(ids)))])
        if self.random.random() < 0.2:
            commands.append([b"XTRIM", name, b"MAXLEN", self.random.choice([b"0", b"1", b"50"])])
        if self.random.random() < 0.2:
            commands.append([b"XSETID", name, b"%d" % (ms + 1000), b"ENTRIESADDED", b"1000000", b"MAXDELETEDID",
                             b"%d" % ms])
        return commands + self.group_commands(name, ids)

    def group_commands(self, name, ids):
        """Consumer groups. XCLAIM FORCE makes pending only what is in the stream, so each way brings all of it."""
        commands = []
        for number in range(self.random.choice([0, 0, 1, 1, 2, 5])):
            group = b"group %d" % number
            commands.append([b"XGROUP", b"CREATE", name, group, self.random.choice([b"0", b"$", *ids[:3]]),
                             b"MKSTREAM", *self.random.choice([[], [b"ENTRIESREAD", b"%d" % min(len(ids), 3)]])])
            for consumer in range(self.random.choice([0, 1, 1, 3, 20])):
                who = self.random.choice([b"consumer %d" % consumer, b"%d" % consumer])
                commands.append([b"XGROUP", b"CREATECONSUMER", name, group, who])
                pending = self.random.sample(ids, self.random.randint(0, min(len(ids), 300)))
                if pending:
                    commands.append([b"XCLAIM", name, group, who, b"0", *pending, b"TIME",
                                     b"%d" % (self.now_ms - self.random.randint(0, 1 << 20)), b"RETRYCOUNT",
                                     b"%d" % self.random.choice([0, 1, 1, 2, 300]), b"FORCE", b"JUSTID"])
        return commands

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
        kind = self.random.choice(["string", "list", "list", "zset", "set", "set", "hash", "hash", "stream"])
        if is_small:
            kind, commands = "string", [[b"SET", name, self.short_text()]]
        else:
            commands = getattr(self, kind + "_commands")(name)
        return Key(self.random.choice(databases), name, kind, self.random.choice(FILLS), self.random.choice(DEPTHS),
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
                       self.random.choice(FILLS), self.random.choice(DEPTHS), self.limits(), self.limits())

    def limits(self):
        return Limits(self.random.choice(ENTRIES), self.random.choice(VALUES), self.random.choice(ENTRIES))

    def large_string(self, number, databases):
        name = self.name(number)
        text = self.text(self.random.choice(LARGE_SIZES))
        return Key(self.random.choice(databases), name, "string", -2, 0, ([b"SET", name, text],), self.expiry())

    def later_edits(self, key):
        """What happens to a key after it has moved."""
        edit = {
            "list": lambda: self.list_edit(key.name, self.element_maker()),
            "zset": lambda: self.zset_edit(key.name),
            "set": lambda: self.set_edit(key.name, self.member_maker()),
            "hash": lambda: self.hash_edit(key.name, self.member_maker(), self.element_maker()),
        }.get(key.type)
        if key.commands[0][0] == COUNTED:
            return [self.hyperloglog_edit(key.name, self.member_maker()) for _ in range(6)]
        if edit:
            return [edit() for _ in range(6)]
        return [[b"APPEND", key.name, self.short_text()], [b"SETRANGE", key.name, b"3", self.short_text()]]
