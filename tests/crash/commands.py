"""Random commands of one connection, in units: what is between MULTI and EXEC happens whole, and so does what a script
does."""
from dataclasses import dataclass

from geo import GeoGenerator
from hyperloglog import HyperLogLogGenerator
from model import FAR_MS, library_code, library_of
from streams import StreamGenerator

ENDS = (b"LEFT", b"RIGHT")
KINDS = (b"l", b"s", b"n", b"m", b"h", b"z", b"x", b"i", b"p", b"g")
LIBRARIES = 2  # of each connection
MOST = b"1000000"

# Runs the commands that its arguments contain, each after the number of its words, and returns their replies.
SCRIPT = b"""
local replies, i = {}, 1
while i <= #ARGV do
    local words = tonumber(ARGV[i])
    replies[#replies + 1] = redis.pcall(unpack(ARGV, i + 1, i + words))
    i = i + words + 1
end
return replies
"""


@dataclass
class Unit:
    commands: list
    how: str = ""  # "multi": as a transaction; "script": by a script
    sent: float = 0.0  # monotonic seconds
    acknowledged: float = 0.0  # 0: it was not
    reply: bytes = b""

    def requests(self):
        if self.how == "multi":
            return [[b"MULTI"], *self.commands, [b"EXEC"]]
        if self.how == "script":
            return [[b"EVAL", SCRIPT, b"0", *[part for argv in self.commands for part in (b"%d" % len(argv), *argv)]]]
        return self.commands


class Generator(StreamGenerator, HyperLogLogGenerator, GeoGenerator):
    """`name` is the connection's, `number` the round's: no element that is added to a shared key comes twice."""

    def __init__(self, chance, name, number):
        super().__init__()
        self.chance, self.name, self.number, self.count = chance, name, number, 0
        self.makers = [make for make, weight in (
            (self.push, 20), (self.pop, 8), (self.move, 8), (self.move_many, 3), (self.edit_list, 14), (self.trim, 6),
            (self.text, 14), (self.integer, 8), (self.rename, 4), (self.delete, 3), (self.expiry, 5),
            (self.blocking, 4), (self.share, 12), (self.edit_set, 8), (self.edit_hash, 12), (self.edit_zset, 10),
            (self.pop_members, 4), (self.library, 3), (self.call_function, 6), (self.add_entry, 18),
            (self.edit_stream, 6), (self.use_group, 26), (self.produce, 6), (self.count_elements, 6),
            (self.add_places, 6)) for _ in range(weight)]

    def unit(self):
        roll = self.chance.random()
        if roll < 0.02:
            return Unit(self.random_pop(), self.chance.choice(("multi", "script")))
        if roll < 0.1:
            return Unit([self.command() for _ in range(self.chance.randint(1, 12))], "multi")
        if roll < 0.18:
            return Unit([self.command_for_script() for _ in range(self.chance.randint(1, 12))], "script")
        return Unit([self.command()])

    def command(self):
        return self.chance.choice(self.makers)()

    def command_for_script(self):
        """Scripts may not change or call functions."""
        while (argv := self.command())[0] in (b"FUNCTION", b"FCALL"):
            pass
        return argv

    def key(self, kind):
        return b"%s%d.%s" % (kind, self.chance.randrange(4), self.name)

    def keys(self):
        """All of them; libraries of functions count as keys."""
        libraries = [b"f%d.%s" % (number, self.name) for number in range(LIBRARIES)]
        return [b"%s%d.%s" % (kind, number, self.name) for kind in KINDS for number in range(4)] + libraries

    def fresh(self):
        self.count += 1
        return b"%s.%d.%d" % (self.name, self.number, self.count)

    def element(self):
        """Few, so that they are found; unique; long and compressible; random bytes."""
        kind = self.chance.randrange(12)
        if kind < 5:
            return b"%d" % self.chance.randrange(6)
        if kind < 10:
            return self.fresh()
        if kind < 11:
            return self.fresh() * self.chance.randrange(1, 200)
        return self.chance.randbytes(self.chance.choice((1, 20, 500, 9000)))

    def number_text(self, low, high):
        return b"%d" % self.chance.randint(low, high)

    def push(self):
        count = self.chance.choice((1, 1, 2, 5, 30))
        if self.chance.random() < 0.1:
            return [b"RPUSHBOUND", self.key(b"l"), self.number_text(1, 60), *[self.element() for _ in range(count)]]
        return [self.chance.choice((b"LPUSH", b"RPUSH")), self.key(b"l"), *[self.element() for _ in range(count)]]

    def pop(self):
        count = [] if self.chance.random() < 0.6 else [self.number_text(1, 20)]
        return [self.chance.choice((b"LPOP", b"RPOP")), self.key(b"l"), *count]

    def move(self):
        return [b"LMOVE", self.key(b"l"), self.key(b"l"), self.chance.choice(ENDS), self.chance.choice(ENDS)]

    def move_many(self):
        return [b"LMOVEM", self.key(b"l"), self.key(b"l"), self.chance.choice(ENDS), self.chance.choice(ENDS),
                b"COUNT", self.number_text(1, 9), self.chance.choice((b"OBO", b"BULK"))]

    def edit_list(self):
        key, small = self.key(b"l"), self.number_text(0, 5)
        return self.chance.choice((
            [b"LREM", key, self.number_text(-3, 3), small],
            [b"LINSERT", key, self.chance.choice((b"BEFORE", b"AFTER")), small, self.element()],
            [b"LSET", key, self.number_text(-20, 20), self.element()]))

    def trim(self):
        keep = self.chance.choice((10, 60, 200))
        return [b"LTRIM", self.key(b"l"), *self.chance.choice(((b"0", b"%d" % keep), (b"-%d" % keep, b"-1")))]

    def text(self):
        key = self.key(b"s")
        return self.chance.choice((
            [b"SET", key, self.element()],
            [b"APPEND", key, self.fresh()],
            [b"SETRANGE", key, self.number_text(0, 300), self.fresh()]))

    def integer(self):
        return [b"INCRBY", self.key(b"n"), self.number_text(-1000, 1000)]

    # --- sets, hashes, sorted sets ---

    def member(self):
        """Few, so that they are found: integers, then texts; sometimes a fresh one or a long one."""
        if self.chance.random() < 0.1:
            return self.element()
        return self.chance.choice((b"%d", b"%d", b"m%d")) % self.chance.randrange(40)

    def members(self):
        return [self.member() for _ in range(self.chance.choice((1, 1, 2, 8, 40)))]

    def edit_set(self):
        return [self.chance.choice((b"SADD", b"SADD", b"SREM")), self.key(b"m"), *self.members()]

    def edit_hash(self):
        key, field = self.key(b"h"), self.member()
        return self.chance.choice((
            [b"HSET", key, *[part for name in self.members() for part in (name, self.element())]],
            [b"HSET", key, b"count", b"1"],
            [b"HINCRBY", key, b"count", self.number_text(-9, 9)],
            [b"HINCRBYFLOAT", key, b"float", b"%d.5" % self.chance.randint(-9, 9)],
            [b"HDEL", key, *self.members()],
            [b"HPEXPIREAT", key, b"%d" % (self.chance.randint(3000, 9000) * FAR_MS), b"FIELDS", b"1", field],
            [b"HPERSIST", key, b"FIELDS", b"1", field]))

    def edit_zset(self):
        key = self.key(b"z")
        return self.chance.choice((
            [b"ZADD", key, *[part for name in self.members() for part in (self.number_text(-9, 9), name)]],
            [b"ZINCRBY", key, self.number_text(-9, 9), self.member()],
            [b"ZREM", key, *self.members()],
            [b"ZREMRANGEBYRANK", key, b"0", self.number_text(0, 5)]))

    def pop_members(self):
        zset = self.key(b"z")
        return self.chance.choice((
            [self.chance.choice((b"ZPOPMIN", b"ZPOPMAX")), zset, self.number_text(1, 5)],
            [b"BZPOPMIN", zset, b"0.002"],
            [b"SPOP", self.key(b"m"), MOST]))

    def random_pop(self):
        """Commands whose effect is known though a member is chosen at random."""
        key, members = self.key(b"m"), self.members()
        return [[b"DEL", key], [b"SADD", key, *members], [b"SPOP", key], [b"SADD", key, *members]]

    def rename(self):
        kind = self.chance.choice(KINDS)
        if self.chance.random() < 0.5:
            return [b"RENAME", self.key(kind), self.key(kind)]
        return [b"COPY", b"%s0.%s" % (kind, self.name), b"%s1.%s" % (kind, self.name), b"REPLACE"]

    def delete(self):
        return [b"DEL", self.key(self.chance.choice((b"l", b"m", b"h", b"z", b"x", b"i", b"p", b"g"))), self.key(b"s")]

    def expiry(self):
        key = self.key(self.chance.choice(KINDS))
        return self.chance.choice((
            [b"PEXPIREAT", key, b"%d" % (self.chance.randint(3000, 9000) * FAR_MS)],
            [b"EXPIRE", key, b"%d" % (self.chance.randint(1, 9) * FAR_MS // 1000)],
            [b"PERSIST", key]))

    def blocking(self):
        if self.chance.random() < 0.5:
            return [b"BLPOP", self.key(b"l"), self.key(b"l"), b"0.002"]
        return [b"BLMOVE", self.key(b"l"), self.key(b"l"), self.chance.choice(ENDS), self.chance.choice(ENDS),
                b"0.002"]

    # --- libraries of functions ---

    def library_name(self):
        return library_of(b"f%d.%s" % (self.chance.randrange(LIBRARIES), self.name))

    def library(self):
        name = self.library_name()
        if self.chance.random() < 0.3:
            return [b"FUNCTION", b"DELETE", name]
        return [b"FUNCTION", b"LOAD", b"REPLACE", library_code(name, self.fresh())]

    def call_function(self):
        return [b"FCALL", self.library_name(), b"1", self.key(b"l"), self.element()]

    def share(self):
        return [b"RPUSH", self.chance.choice((b"shared", b"queue")), self.fresh()]
