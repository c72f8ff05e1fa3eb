"""Append-only files: for the same requests both servers must write the same commands, and either must make the same
data of the other's files.

Intended differences, and how they are compared:
    SELECT          stands in front of MULTI or behind it: each command is compared with its database
    expired keys    those that MGET and other commands that read have found are propagated without MULTI here, and
                    those of SCAN in another order: deletions that follow each other are compared as a set
    words           a command that waited is propagated by Redis 7.0 with LEFT and RIGHT in lower case: in any case.
                    SET with an expiry is propagated by Redis 8 with its condition, which held: left out
    PEXPIRE k 1     is propagated by Redis as a deletion when more than a millisecond passes within the command: left
                    out in front of the deletion, where it made no difference
    XADD, XTRIM     are propagated with the trimming that they did: Packlist names the length that is left, or nothing
                    when nothing was trimmed. Left out here: what the files make is compared
    XREADGROUP      propagates in newer servers, and here, a consumer that it makes where there is nothing to read: that
                    consumers are made is left out
    GEOADD          is propagated by Redis as ZADD with CH, if that was given: left out
    HSETEX          is propagated by Redis 8 as it is, here as HSET and HPEXPIREAT, which older servers know: not asked.
                    HINCRBYFLOAT becomes HSETEX with KEEPTTL there, here only if the field has an expiry: as HSET
"""
from pathlib import Path

from blocking import check_blocking
from commands import Generator
from digests import shared_contents
from resp import Link, encode, split_replies, value_of
from servers import start_packlist, start_pair, start_reference
from strings import is_silent_in_redis

BATCHES = 100
SEQUENCES = 40
OPTIONS = ["--appendonly", "yes", "--appendfsync", "no"]
DELETIONS = (b"DEL", b"UNLINK")
CONDITIONS = (b"NX", b"XX", b"GET")
# Redis writes the fields of HGETEX that are not in the hash, too.
WRITTEN_OTHERWISE = (b"HSETEX", b"HGETEX")


def parse(data):
    """The commands in the bytes of a file, which stand there as requests."""
    return map(value_of, split_replies(data))


def comparable_word(word):
    """A time in milliseconds passes between the servers."""
    return b"TIME" if len(word) == 13 and word.isdigit() and word.startswith((b"1", b"2")) else word


def whole_id(text):
    """Redis leaves ids as the client gave them, perhaps without their second part."""
    return b"-".join(b"%d" % int(part) for part in (text + b"-0").split(b"-")[:2])


def without_trimming(words):
    """XADD or XTRIM without the options before the id, which is written in full."""
    at = 2
    while at < len(words) and words[at].upper() in (b"NOMKSTREAM", b"MAXLEN", b"MINID", b"LIMIT"):
        at += 1 if words[at].upper() == b"NOMKSTREAM" else 3 if words[at + 1] in (b"=", b"~") else 2
    if words[0] == b"XADD":
        words[at] = whole_id(words[at])
    return words[:2] + words[at:]


def units(commands):
    """What happens whole: lists of (database, argv)."""
    database, unit = 0, None
    for argv in commands:
        name = argv[0].upper()
        if name == b"SELECT":
            database = int(argv[1])
        elif name == b"MULTI":
            unit = []
        elif name == b"EXEC":
            yield unit
            unit = None
        elif name == b"XGROUP" and argv[1].upper() == b"CREATECONSUMER":
            pass
        else:
            words = [name, *map(comparable_word, argv[1:])]
            if name == b"LMOVE":
                words[3:] = [word.upper() for word in words[3:]]
            if name == b"SET":
                words[3:] = [word for word in words[3:] if word.upper() not in CONDITIONS]
            if name == b"HSETEX":
                words = [b"HSET", words[1], *words[words.index(b"FIELDS") + 2:]]
            if name == b"ZADD":  # the reference keeps the word in that of a GEOADD
                words = [word for word in words if word.upper() != b"CH"]
            if name == b"XCLAIM":
                words[5] = whole_id(words[5])
            if name in (b"XADD", b"XTRIM"):
                words = without_trimming(words)
            if unit is None:
                yield [(database, words)]
            else:
                unit.append((database, words))


def is_expiry_of(unit, deleted):
    """Whether it only lets a key expire that is deleted next."""
    if not isinstance(unit, list) or len(unit) != 1:
        return False
    database, argv = unit[0]
    return argv[0] == b"PEXPIREAT" and argv[2:] == [b"TIME"] and (database, argv[1]) in deleted


def comparable(data):
    """The units, with deletions that follow each other as one set."""
    result = []
    for unit in units(parse(data)):
        if not all(argv[0] in DELETIONS for _, argv in unit):
            result.append(unit)
        elif unit:
            deleted = {(database, key) for database, argv in unit for key in argv[1:]}
            while result and is_expiry_of(result[-1], deleted):
                result.pop()
            if result and isinstance(result[-1], set):
                result[-1] |= deleted
            else:
                result.append(deleted)
    return result


class AppendedGenerator(Generator):
    """Replies are not compared here: a transaction may hold any command."""

    def queued(self):
        return self.random.choice([
            self.list_write, self.string_command, self.expiry_command, self.moving_command, self.payload_command,
            self.served_at_once, self.list_read, self.set_command, self.hash_command, self.zset_write,
            lambda: [b"SELECT", self.random.choice([b"0", b"1", b"2", b"x"])],
            lambda: [b"DEL", self.key(), self.key()], lambda: [b"FLUSHALL"],
            lambda: self.mangled(self.list_write())])()

    def transaction(self):
        watched = [[b"WATCH", self.key(), self.key()]] if self.random.random() < 0.3 else []
        if watched and self.random.random() < 0.3:
            watched.append(self.list_write())
        queued = [self.queued() for _ in range(self.random.randint(0, 8))]
        return [*watched, [b"MULTI"], *queued, [b"DISCARD" if self.random.random() < 0.1 else b"EXEC"]]

    def sequence(self):
        commands = self.transaction() if self.random.random() < 0.15 else super().sequence()
        return [argv for argv in commands if not is_silent_in_redis(argv)
                and not any(word.upper() in WRITTEN_OTHERWISE for word in argv)]  # nor in a script


class Written:
    """A server with an append-only file."""

    def __init__(self, server):
        self.server = server
        self.link = Link(server)
        self.link.call(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")

    def units(self):
        return comparable(max(Path(self.server.folder, "appendonlydir").glob("*.incr.aof")).read_bytes())

    def contents(self):
        return shared_contents(self.server)


def check_written(pair, rng):
    generator = AppendedGenerator(rng, pair[1].server.redis_version())
    for _ in range(BATCHES):
        commands = [argv for _ in range(SEQUENCES) for argv in generator.sequence()]
        for written in pair:
            written.link.batch(b"".join(map(encode, commands)) + encode([b"DISCARD"]) + encode([b"RESET"]))
    return same_units(pair)


def check_waited(pair, rng):
    """What is propagated for clients that waited for it."""
    passed, failed = check_blocking([written.server for written in pair], rng)
    return failed == 0 and passed > 0 and same_units(pair)


def same_units(pair):
    mine, theirs = (written.units() for written in pair)
    if mine == theirs and len(mine) > BATCHES:
        return True
    index = next((i for i, (a, b) in enumerate(zip(mine, theirs)) if a != b), min(len(mine), len(theirs)))
    print(f"DIFFERENCE in unit {index} of what is appended:")
    print(f"  packlist:  {mine[max(index - 2, 0):index + 3]!r:.1000}")
    print(f"  reference: {theirs[max(index - 2, 0):index + 3]!r:.1000}")
    return False


def check_exchanged(written, start_other):
    """Another server makes the same data of the files."""
    contents = written.contents()
    other = start_other(OPTIONS, written.server.folder)
    found = shared_contents(other)
    same = found == contents
    if not same:
        differing = {key: (contents.get(key), found.get(key)) for key in contents | found
                     if contents.get(key) != found.get(key)}
        print(f"{other.name} made other values of the files of {written.server.name}: {differing!r:.1500}")
    return same & other.stop()


def rewrite(written):
    written.link.call(b"BGREWRITEAOF")
    while b"aof_rewrite_in_progress:1" in written.link.call(b"INFO", b"persistence"):
        pass


def check_appended(_servers, rng):
    pair = [Written(server) for server in start_pair(OPTIONS)]
    passed = [check_written(pair, rng), check_waited(pair, rng)]
    for _ in range(2):
        passed.append(check_exchanged(pair[0], start_reference))
        passed.append(check_exchanged(pair[1], start_packlist))
        passed.append(check_exchanged(pair[0], start_packlist))
        for written in pair:
            rewrite(written)
            written.link.batch(encode([b"RPUSH", b"after", b"rewrite"]) * 3)
    passed += [written.server.stop() for written in pair]
    return sum(passed), len(passed) - sum(passed)
