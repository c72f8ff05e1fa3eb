"""Random histories: what a peer has written after its strangest commands is read here, whatever it looks like.

The peer gets random commands of every type on a few keys, most with arguments at the borders of what it accepts, under
settings that change meanwhile. What it then has must be read by Packlist, with the same contents: from DUMP
payloads, an RDB file, an append-only file, and by a replica of it that follows from the beginning.

Left out is what the peer's own replicas do not have as it does: BITFIELD with OVERFLOW FAIL, which lengthens a string
in silence; XTRIM with `~` and DELREF of Redis 8.6; and hashes of Valkey 9.1 of which fields have expired: it takes
them as missing until they are deleted, and sends HSETNX and HPEXPIREAT as they came to replicas, which still have them.

Excused is a payload that the peer itself refuses. COPY of a hash of Valkey 9.1, all fields of which have expired, makes
one without fields. A small stream-node-max-bytes makes a stream's node in Redis and Valkey now and then that lacks the
end of an entry; XRANGE of such a stream ends or hangs the server. A peer that ends or hangs while it runs commands is
excused, too, and started again."""
import random
import re
import shutil
import time

from resp import Link, elements, run, text_of, value_of
from ways import Trouble, config_set, is_valkey, rewrite_as_commands, run_well, wait_until_replicated

KINDS = ("string", "list", "set", "zset", "hash", "stream", "stream", "stream")
KEYS_OF_KIND = 3
EXPIRY_SECONDS = 10
CHUNKS, COMMANDS = 6, 12  # of a history: after each chunk of so many commands per key, each key is dumped
INT_MAX, UINT_MAX = (1 << 63) - 1, (1 << 64) - 1
SIZES = [0, 1, 5, 11, 12, 20, 21, 63, 64, 65, 253, 254, 255, 256, 4095, 4096, 16377, 16378, 16379, 20000]
NUMBERS = [0, 1, -1, 12, 13, 63, 127, 128, -128, 255, 4095, 4096, -4096, -4097, 32767, 32768, -32769, 1 << 23,
    -(1 << 23),
           (1 << 31) - 1, 1 << 31, -(1 << 31) - 1, INT_MAX, -INT_MAX, -INT_MAX - 1]
SCORES = [b"0", b"-0", b"1", b"-1", b"0.1", b"inf", b"-inf", b"+inf", b"5e-324", b"-5e-324", b"1.7976931348623157e308",
          b"2.2250738585072014e-308", b"9007199254740993", b"-9223372036854775808", b"9223372036854775807", b"1e17",
          b"3.0000000000000004", b"0x10", b"1e-7", b"123456789012345680"]
SETTINGS = {
    b"list-max-listpack-size": [-5, -2, -1, 1, 2, 3, 128],
    b"list-compress-depth": [0, 0, 1, 3],
    b"hash-max-listpack-entries": [0, 2, 512],
    b"hash-max-listpack-value": [0, 20, 64, 100000],
    b"zset-max-listpack-entries": [0, 2, 128],
    b"zset-max-listpack-value": [0, 64, 100000],
    b"set-max-intset-entries": [0, 3, 512],
    b"set-max-listpack-entries": [0, 3, 128],
    b"set-max-listpack-value": [0, 64],
    b"stream-node-max-entries": [0, 1, 2, 3, 5, 100],
    b"stream-node-max-bytes": [0, 1, 100, 4096],
    b"hll-sparse-max-bytes": [0, 100, 3000],
    b"rdbcompression": [b"yes", b"no"],
}


class History:
    """Makes commands. All is chosen by `chance`."""

    def __init__(self, chance):
        self.chance = chance
        self.ms = chance.choice([0, 1, 1, 1000, 1 << 42, UINT_MAX - 40])
        self.fields_expire = True  # after a time

    def one(self, *of):
        return self.chance.choice(of)

    def sometimes(self, *words, odds=0.3):
        return list(words) if self.chance.random() < odds else []

    def text(self):
        roll = self.chance.random()
        if roll < 0.3:
            return b"%d" % (self.chance.choice(NUMBERS) + self.chance.randint(-1, 1))
        if roll < 0.6:
            return b"m%d" % self.chance.randint(0, 9)
        if roll < 0.7:
            return self.one(b"", b"-0", b"+1", b"01", b" 1", b"1 ", b"inf", b"nan", b"1e5", b"\xff\x00\r\n")
        size = self.chance.choice(SIZES if roll < 0.8 else SIZES[:12])
        return self.one(b"x" * size, self.chance.randbytes(size))

    def texts(self, most=6):
        return [self.text() for _ in range(self.chance.randint(1, most))]

    def number(self):
        return b"%d" % self.chance.choice(NUMBERS)

    def small(self):
        return b"%d" % self.chance.randint(-4, 12)

    def count(self):
        return b"%d" % self.chance.choice([0, 1, 1, 2, 3, 10, 100, INT_MAX])

    def far_ms(self):
        return b"%d" % (int(time.time() * 1000) + self.chance.choice([10 ** 6, 10 ** 9, 10 ** 12]))

    def key(self, kind):
        return b"%s:%d" % (kind.encode(), self.chance.randrange(KEYS_OF_KIND))

    # --- one command on a key of each type ---

    def string_command(self, key):
        other, at = self.key("string"), b"%d" % self.chance.choice([0, 1, 7, 8, 63, 100, 4100])
        return self.one(
            lambda: [b"SET", key, self.text(), *self.sometimes(self.one(b"NX", b"XX", b"KEEPTTL")),
                     *self.sometimes(b"GET")],
            lambda: [b"SET", key, self.text()],
            lambda: [b"APPEND", key, self.text()],
            lambda: [b"SETRANGE", key, at, self.text()],
            lambda: [b"SETBIT", key, at, self.one(b"0", b"1")],
            lambda: [b"BITFIELD", key, b"OVERFLOW", self.one(b"WRAP", b"SAT"), self.one(b"SET", b"INCRBY"),
                     self.one(b"u8", b"i64", b"u63", b"i5"), self.one(b"#1", b"3", b"#7"), self.number()],
            lambda: [b"BITOP", self.one(b"AND", b"OR", b"XOR"), key, other, self.key("string")],
            lambda: [b"BITOP", b"NOT", key, other],
            lambda: [b"INCRBY", key, self.number()],
            lambda: [b"INCRBYFLOAT", key, self.one(b"0.1", b"1e17", b"-3.5e-10", b"1e300")],
            lambda: [b"GETSET", key, self.text()],
            lambda: [b"GETEX", key, self.one([b"PERSIST"], [b"PXAT", self.far_ms()])[0]],
            lambda: [b"GETDEL", key],
            lambda: [b"PFADD", b"hll", *self.texts()],
            lambda: [b"PFADD", b"hll2", *[b"%d" % self.chance.getrandbits(40) for _ in range(self.one(5, 500))]],
            lambda: [b"PFMERGE", b"hll", b"hll2"],
            lambda: [b"PFCOUNT", self.one(b"hll", b"hll2")],
            lambda: [b"PFDEBUG", b"TODENSE", self.one(b"hll", b"hll2")],
            lambda: [b"COPY", other, key, b"REPLACE"],
            lambda: [b"SORT", self.key("list"), b"ALPHA", b"STORE", b"sorted"],
        )()

    def list_command(self, key):
        side = lambda: self.one(b"LEFT", b"RIGHT")  # noqa: E731
        return self.one(
            lambda: [self.one(b"LPUSH", b"RPUSH"), key, *self.texts(20)],
            lambda: [self.one(b"LPUSH", b"RPUSH", b"LPUSHX"), key, self.text()],
            lambda: [b"LINSERT", key, self.one(b"BEFORE", b"AFTER"), self.text(), self.text()],
            lambda: [b"LSET", key, self.small(), self.text()],
            lambda: [b"LREM", key, self.small(), self.text()],
            lambda: [b"LTRIM", key, self.small(), self.small()],
            lambda: [b"LTRIM", key, b"1", b"-1"],
            lambda: [self.one(b"LPOP", b"RPOP"), key, self.one(b"0", b"1", b"3")],
            lambda: [b"LMOVE", key, self.key("list"), side(), side()],
            lambda: [b"LMPOP", b"2", key, self.key("list"), side(), b"COUNT", b"2"],
            lambda: [b"DEBUG", b"QUICKLIST-PACKED-THRESHOLD", self.one(b"10b", b"100b", b"4kb", b"1gb")],
        )()

    def set_command(self, key):
        other = self.key("set")
        return self.one(
            lambda: [b"SADD", key, *self.texts()],
            lambda: [b"SADD", key, *[self.number() for _ in range(4)]],
            lambda: [b"SREM", key, *self.texts()],
            lambda: [b"SPOP", key, self.one(b"0", b"1", b"2")],
            lambda: [b"SMOVE", key, other, self.text()],
            lambda: [self.one(b"SUNIONSTORE", b"SINTERSTORE", b"SDIFFSTORE"), key, other, self.key("set")],
        )()

    def zset_command(self, key):
        other, score = self.key("zset"), lambda: self.chance.choice(SCORES)
        return self.one(
            lambda: [b"ZADD", key, *[part for text in self.texts() for part in (score(), text)]],
            lambda: [b"ZADD", key, *self.sometimes(self.one(b"NX", b"XX", b"GT", b"LT")), *self.sometimes(b"CH"),
                     score(),
                     self.text()],
            lambda: [b"ZINCRBY", key, score(), self.text()],
            lambda: [b"ZUNIONSTORE", key, b"2", other, self.key("zset"), b"WEIGHTS", score(), score(), b"AGGREGATE",
                     self.one(b"SUM", b"MIN", b"MAX")],
            lambda: [b"ZINTERSTORE", key, b"2", other, self.key("set")],
            lambda: [b"ZDIFFSTORE", key, b"2", other, self.key("zset")],
            lambda: [b"ZRANGESTORE", key, other, b"-inf", b"+inf", b"BYSCORE", b"LIMIT", b"0", b"3"],
            lambda: [b"ZREMRANGEBYRANK", key, self.small(), self.small()],
            lambda: [b"ZREM", key, *self.texts()],
            lambda: [self.one(b"ZPOPMIN", b"ZPOPMAX"), key, b"2"],
            lambda: [b"GEOADD", key, b"%.6f" % self.chance.uniform(-180, 180), b"%.6f" % self.chance.uniform(-85, 85),
                     self.text()],
            lambda: [b"GEOSEARCHSTORE", key, other, b"FROMLONLAT", b"0", b"0", b"BYRADIUS", b"9000", b"km",
                     *self.sometimes(b"STOREDIST")],
        )()

    def hash_command(self, key):
        fields = self.texts(3)
        some = [b"FIELDS", b"%d" % len(fields), *fields]
        pairs = [part for field in fields for part in (field, self.text())]
        with_values = [b"FIELDS", b"1", *pairs[:2]]  # of a field that is given twice Redis 8.6 dies
        return self.one(
            lambda: [b"HSET", key, *pairs],
            lambda: [b"HSET", key, *pairs],
            lambda: [b"HSETNX", key, *pairs[:2]],
            lambda: [b"HINCRBY", key, fields[0], self.number()],
            lambda: [b"HINCRBYFLOAT", key, fields[0], self.one(b"0.1", b"1e17", b"-1e-10")],
            lambda: [b"HDEL", key, *fields],
            lambda: [b"HPEXPIREAT", key, self.far_ms(), *self.sometimes(self.one(b"NX", b"GT", b"LT")), *some],
            lambda: [b"HPEXPIREAT", key, b"%d" % ((1 << 46) - 2), *some],
            lambda: [b"HPEXPIRE", key, self.one(b"0", b"1") if self.fields_expire else b"100000000", *some],
            lambda: [b"HPEXPIREAT", key, b"1", *some],
            lambda: [b"HPERSIST", key, *some],
            lambda: [b"HGETEX", key, self.one(b"PERSIST", b"PERSIST"), *some],
            lambda: [b"HGETDEL", key, *some],
            lambda: [b"HSETEX", key, *self.sometimes(self.one(b"FNX", b"FXX")), b"PX",
                     b"1" if self.fields_expire else b"100000000", *with_values],
            lambda: [b"HSETEX", key, b"PXAT", self.far_ms(), *with_values],
            lambda: [b"COPY", self.key("hash"), key, b"REPLACE"],
        )()

    # --- streams ---

    def new_id(self):
        roll = self.chance.random()
        if roll < 0.7:
            self.ms = min(self.ms + self.one(0, 1, 1, 1, 5), UINT_MAX)
            return b"%d-*" % self.ms
        if roll < 0.76:
            return b"%d-%d" % (self.ms, self.one(0, 5, 1 << 32, INT_MAX, 1 << 63, UINT_MAX))
        if roll < 0.765:
            self.ms = self.one(INT_MAX, 1 << 63, UINT_MAX - 5)
        return b"%d-%d" % (self.ms, self.chance.randint(0, 30))

    def old_id(self):
        return b"%d-%d" % (max(self.ms - self.chance.randint(0, 12), 0), self.chance.choice([0, 0, 0, 1, 2, UINT_MAX]))

    def ids(self):
        return [self.old_id() for _ in range(self.chance.randint(1, 6))]

    def large(self):
        return b"%d" % self.chance.choice([0, 1, 5, 1000, INT_MAX - 1, INT_MAX])

    def trimming(self):
        how = self.one(b"=", b"~")
        return [*self.one([b"MAXLEN", how, self.one(b"0", b"1", b"2", b"5")], [b"MINID", how, self.old_id()]),
                *(self.sometimes(b"LIMIT", self.one(b"0", b"1", b"3")) if how == b"~" else [])]

    def add_command(self, key):
        pairs = [part for _ in range(self.one(1, 1, 2, 3)) for part in (self.one(b"f", b"f", b"g", self.text()),
            self.text())]
        return [b"XADD", key, *self.sometimes(*self.trimming(), odds=0.1), self.new_id(), *pairs]

    def stream_command(self, key):
        policy = lambda: self.sometimes(self.one(b"KEEPREF", b"DELREF", b"ACKED"))  # noqa: E731
        return self.one(
            *[lambda: self.add_command(key)] * 6,
            *[lambda: self.group_command(key)] * 10,
            lambda: [b"XDEL", key, *self.ids()],
            lambda: [b"XDEL", key, *self.ids()],
            lambda: [b"XTRIM", key, *self.trimming()],
            lambda: [b"XTRIM", key, b"MAXLEN", b"=", self.one(b"0", b"2", b"5"), *policy()],
            lambda: [b"XDELEX", key, *policy(), b"IDS", b"1", self.old_id()],
            lambda: [b"XSETID", key, b"%d" % (self.ms + self.one(0, 1)), *self.sometimes(
                b"ENTRIESADDED", self.large(), b"MAXDELETEDID", self.old_id())],
            lambda: [b"COPY", self.key("stream"), key, b"REPLACE"],
            lambda: [b"XADD", key, self.one(b"IDMP", b"IDMP"), self.one(b"p", b"q"), self.small(), b"*", b"f", b"v"],
            lambda: [b"XCFGSET", key, b"IDMP-DURATION", self.one(b"1", b"86400"), b"IDMP-MAXSIZE", self.one(b"1",
                     b"10000")],
            lambda: [b"DEL", key] if self.chance.random() < 0.2 else [b"XLEN", key],
        )()

    def group_command(self, key):
        group, consumer = self.one(b"g", b"g", b"h", b""), self.one(b"c", b"d", b"e", b"")
        minimum = self.one(b"0", b"0", b"1", b"-1", b"100000")
        return self.one(
            lambda: [b"XGROUP", b"CREATE", key, group, self.one(b"0", b"$", self.old_id()),
                     *self.sometimes(b"MKSTREAM"),
                     *self.sometimes(b"ENTRIESREAD", self.large())],
            lambda: [b"XGROUP", b"SETID", key, group, self.one(b"0", b"$", self.old_id()),
                     *self.sometimes(b"ENTRIESREAD", self.large())],
            lambda: [b"XGROUP", self.one(b"CREATECONSUMER", b"CREATECONSUMER", b"DELCONSUMER"), key, group, consumer],
            lambda: [b"XREADGROUP", b"GROUP", group, consumer, *self.sometimes(b"COUNT", self.count()),
                     *self.sometimes(b"NOACK", odds=0.1), b"STREAMS", key, b">"],
            lambda: [b"XREADGROUP", b"GROUP", group, consumer, *self.sometimes(b"COUNT", self.count()), b"STREAMS",
                     key, b">"],
            lambda: [b"XREADGROUP", b"GROUP", group, consumer, b"STREAMS", key, self.one(b"0", self.old_id())],
            lambda: [b"XREADGROUP", b"GROUP", group, consumer, b"CLAIM", b"0", b"STREAMS", key, b">"],
            lambda: [b"XCLAIM", key, group, consumer, minimum, *self.ids(), *self.sometimes(b"IDLE", self.large()),
                     *self.sometimes(b"TIME", self.one(self.large(), b"-1")), *self.sometimes(b"RETRYCOUNT",
                     self.large()),
                     *self.sometimes(b"FORCE"), *self.sometimes(b"JUSTID"), *self.sometimes(b"LASTID", self.old_id(),
                     odds=0.1)],
            lambda: [b"XAUTOCLAIM", key, group, consumer, minimum, b"0", *self.sometimes(b"COUNT", self.one(b"1",
                     b"9")),
                     *self.sometimes(b"JUSTID")],
            lambda: [b"XACK", key, group, *self.ids()],
            lambda: [b"XACKDEL", key, group, *self.sometimes(self.one(b"KEEPREF", b"DELREF", b"ACKED")), b"IDS", b"1",
                     self.old_id()],
            lambda: [b"XGROUP", b"DESTROY", key, group] if self.chance.random() < 0.2 else [b"XINFO", b"GROUPS", key],
        )()

    def chunk(self):
        """Commands on every key, among them settings."""
        commands = []
        for kind in KINDS:
            make = getattr(self, kind + "_command")
            commands += [make(self.key(kind)) for _ in range(COMMANDS)]
            commands += self.sometimes([b"PEXPIREAT", self.key(kind), self.far_ms()])
        settings = [config_set(name,
            self.chance.choice(SETTINGS[name])) for name in self.chance.sample(sorted(SETTINGS), 4)]
        commands += settings
        self.chance.shuffle(commands)
        return commands


# --- What is compared ---

CONSUMER = re.compile(rb"\*\d+\r\n(?=\$4\r\nname\r\n)")  # Redis 7.0 does not tell when one was active
OVERFLOWED = re.compile(rb":-(?!1\r)\d+\r\n")  # counters that have passed 2^63 - 1 at the peer, and stop there here
UNCOMPARED = re.compile(rb"\$\d+\r\n(seen-time|active-time|lag|radix-tree-keys|radix-tree-nodes|idmp-duration|"
                        rb"idmp-maxsize|pids-tracked|iids-tracked|iids-added|iids-duplicates)\r\n(:-?\d+|\$-1)\r\n")
LAST_DELETED = re.compile(rb"\$20\r\nmax-deleted-entry-id\r\n\$\d+\r\n[-\d]+\r\n")  # ACKED: docs/differences.md
READS = {"string": [b"GET"], "list": [b"LRANGE", 0, -1], "set": [b"SMEMBERS"], "zset": [b"ZRANGE", 0, -1,
    b"WITHSCORES"],
         "hash": [b"HGETALL"], "stream": [b"XINFO", b"STREAM", b"FULL", b"COUNT", 0]}


def reading(kind, key):
    words = READS[kind]
    at = 2 if kind == "stream" else 1
    return [*words[:at], key, *(word if isinstance(word, bytes) else b"%d" % word for word in words[at:])]


def contents(kind, reply, followed):
    """What is alike on all servers that hold the same value. What followed the peer's commands does not know all of
    groups:
    peers do not propagate reads of the history, nor all new consumers."""
    if kind in ("string", "list") or reply.startswith(b"-"):
        return reply
    if kind == "stream":
        text = OVERFLOWED.sub(b":%d\r\n" % INT_MAX, CONSUMER.sub(b"", UNCOMPARED.sub(b"", reply)))
        text = text[text.index(b"\r\n") + 2:]
        return LAST_DELETED.sub(b"", text[:text.index(b"$6\r\ngroups\r\n")]) if followed else text
    parts = list(map(text_of, elements(reply)))
    if kind == "set":
        return sorted(parts)
    pairs = list(zip(parts[::2], parts[1::2]))
    return sorted((member, float(score)) for member, score in pairs) if kind == "zset" else sorted(pairs)


def kinds_of(link):
    """{key: type} of all keys."""
    keys = sorted(value_of(link.call(b"KEYS", b"*")))
    return {key: value_of(reply) for key, reply in zip(keys, run_well(link, [[b"TYPE", key] for key in keys]))}


def compare(peer, mine, kinds, followed=False, unlike=()):
    """The values of these keys, and when the keys expire. How a HyperLogLog is stored depends on a setting of the
    server that followed. A hash without a field that is alive is none here. Keys of the kinds `unlike` are left out."""
    kinds = {key: kind for key, kind in kinds.items() if kind in READS and kind not in unlike
             and not (followed and key.startswith(b"hll"))}
    requests = [reading(kind, key) for key, kind in kinds.items()] + [[b"PEXPIRETIME", key] for key in kinds]
    theirs, ours = run(peer, requests), run(mine, requests)
    for at, (key, kind) in enumerate(kinds.items()):
        before, after = [contents(kind, replies[at], followed) for replies in (theirs, ours)]
        if before != after:
            raise Trouble(f"{key.decode()} is {after!r:.1500} on {mine.server.name}"
                          f"{', which has followed' if followed else ''},\n"
                          f"but on {peer.server.name} {before!r:.1500}")
        times = [replies[len(kinds) + at] for replies in (theirs, ours)]
        if times[0] != times[1] and not (kind == "hash" and not before):
            raise Trouble(f"{key.decode()} expires at {times[1]!r} on {mine.server.name}, "
                          f"on {peer.server.name} at {times[0]!r}")


# --- Ways ---

class Damaged(Exception):
    """The peer has damaged what it holds."""


def refuses_itself(peer, dump):
    """Whether the peer refuses to load this payload, too."""
    replies = run(peer, [[b"RESTORE", b"again", b"0", dump, b"REPLACE"], [b"DEL", b"again"]])
    return replies[0] == b"-ERR Bad data format\r\n"


def load_payloads(peer, mine, kinds):
    """DUMP of each key, RESTORE here; how many there were."""
    dumps = dict(zip(kinds, map(text_of, run_well(peer, [[b"DUMP", key] for key in kinds]))))
    times = [value_of(reply) for reply in run_well(peer, [[b"PEXPIRETIME", key] for key in kinds])]
    kept = {key: (dump, max(at, 0)) for (key, dump), at in zip(dumps.items(), times) if dump is not None}
    replies = run(mine, [[b"FLUSHALL"], *[[b"RESTORE", key, b"%d" % at, dump, b"ABSTTL"] for key, (dump,
        at) in kept.items()]])
    for (key, (dump, _)), reply in zip(kept.items(), replies[1:]):
        if reply != b"+OK\r\n" and refuses_itself(peer, dump):
            raise Damaged(f"{peer.server.name} refuses its own payload of {key.decode()}: {dump.hex():.1500}")
        if reply != b"+OK\r\n":
            raise Trouble(f"the payload of {key.decode()} is refused: {reply!r}: {dump.hex()}")
    time.sleep(0.003)  # what expires at once has expired then
    compare(peer, mine, {key: kinds[key] for key in kept})
    return len(kept)


def save(peer):
    """SAVE, after the snapshot that its replica may be waiting for."""
    while (reply := peer.call(b"SAVE")).startswith(b"-ERR Background save already in progress"):
        time.sleep(0.01)
    if reply != b"+OK\r\n":
        raise Trouble(f"{peer.server.name} answers {reply!r} to SAVE")


def delete_expired_fields(peer):
    """Until the peer has deleted the fields that have expired. HPERSIST goes to replicas as it came, and there it keeps
    a field that has expired at the primary meanwhile, until this deletes it there, too."""
    hashes = [key for key, kind in kinds_of(peer).items() if kind == "hash"]
    deadline = time.monotonic() + EXPIRY_SECONDS
    while True:
        replies = run_well(peer, [request for key in hashes for request in ([b"HLEN", key], [b"HKEYS", key])])
        if all(value_of(size) == len(elements(fields)) for size, fields in zip(replies[::2], replies[1::2])):
            break
        if time.monotonic() > deadline:
            raise Trouble(f"{peer.server.name} does not delete the fields that have expired")
        run_well(peer, [[b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1"]])
        time.sleep(0.02)
    run_well(peer, [[b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0"]])


def load_file(peer, mine, kinds):
    save(peer)
    shutil.copyfile(f"{peer.server.folder}/dump.rdb", f"{mine.server.folder}/dump.rdb")
    reply = mine.call(b"DEBUG", b"RELOAD", b"NOSAVE")
    if reply != b"+OK\r\n":
        raise Trouble(f"the RDB file is refused: {reply!r}\n{mine.server.log_text()[-1500:]}")
    compare(peer, mine, kinds)


def load_appended(peer, mine, kinds, unlike):
    """The append-only file that has been written since the history began."""
    target = mine.server
    shutil.rmtree(f"{target.folder}/appendonlydir", ignore_errors=True)
    shutil.copytree(f"{peer.server.folder}/appendonlydir", f"{target.folder}/appendonlydir")
    mine.close()
    target.restart("--appendonly", "yes")
    with Link(target) as link:
        run_well(link, [config_set(b"appendonly", b"no")])
        compare(peer, link, kinds, True, unlike)


class Reader:
    """A peer, and two servers of Packlist that read what it writes: one by payloads and files, the other as its
    replica."""

    def __init__(self, peer, mine, replica):
        self.peer, self.mine, self.replica = peer, mine, replica
        self.payloads = 0

    def prepare(self, peer, replica, appended):
        run(peer, [[b"CONFIG", b"SET", b"appendonly", b"no"], [b"FLUSHALL"], config_set(b"repl-diskless-sync-delay", 0),
                   [b"DEBUG", b"QUICKLIST-PACKED-THRESHOLD", b"1gb"], [b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0"],
                   [b"CLIENT", b"NO-TOUCH", b"ON"]])
        if appended:
            shutil.rmtree(f"{peer.server.folder}/appendonlydir", ignore_errors=True)
            rewrite_as_commands(peer)
        run_well(replica, [[b"REPLICAOF", b"127.0.0.1", b"%d" % self.peer.port]])

    def history(self, seed):
        """All ways of one history; raises Trouble with what went wrong, and Damaged when the peer itself has."""
        try:
            self.whole_history(seed)
        except (OSError, EOFError) as broken:
            time.sleep(0.2)
            silent = isinstance(broken, TimeoutError) and self.peer.name in str(broken)
            if self.peer.is_running() and not silent:
                raise
            raise Damaged(f"{self.peer.name} has ended, or hangs, by itself ({broken})") from broken

    def whole_history(self, seed):
        chance = random.Random(seed)
        maker, appended = History(chance), chance.random() < 0.15
        unlike = ()
        if is_valkey(self.peer):  # for the reason see above
            maker.fields_expire = chance.random() < 0.5
            unlike = ("hash",) if maker.fields_expire else ()
        with Link(self.peer) as peer, Link(self.mine) as mine, Link(self.replica) as replica:
            self.prepare(peer, replica, appended)
            for _ in range(CHUNKS):
                run(peer, maker.chunk())
                kinds = kinds_of(peer)
                self.payloads += load_payloads(peer, mine, kinds)
            if chance.random() < 0.3:
                load_file(peer, mine, kinds)
            if not unlike:
                delete_expired_fields(peer)
            wait_until_replicated(peer, replica)
            compare(peer, replica, kinds_of(peer), True, unlike)
            if appended:
                run_well(peer, [[b"CONFIG", b"SET", b"appendonly", b"no"]])
                load_appended(peer, mine, kinds_of(peer), unlike)
