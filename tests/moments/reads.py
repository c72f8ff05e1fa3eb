"""What is asked of the values: for each type the commands that show all of it, and those whose reply is always the
same.

A read is steps on one connection: the first one is what is tried, the last one shows the elements. TO stands for a key
of the reader's own, PAYLOAD for the reply to the step before."""
from dataclasses import dataclass
from typing import Callable

from links import pairs, tokens
from resp import text_of

TO, PAYLOAD = b"<to>", b"<payload>"


@dataclass(frozen=True)
class Read:
    steps: tuple
    elements: Callable = tokens  # the elements in the last reply
    is_ordered: bool = False  # a list's elements are in its order
    is_part: bool = False  # only some of the elements are in the reply, and perhaps more than once
    position_of: int | None = None  # the reply is the position of this cell in a list
    constant: Callable | None = None  # the reply, as `elements` gives it, is what this returns of the number of cells

    def __str__(self):
        return "; ".join(b" ".join(step).decode("latin-1")[:80] for step in self.steps)

    @property
    def is_pure(self):
        return not any(TO in step for step in self.steps)

    @property
    def is_for_replicas(self):
        """SORT counts as a command that writes."""
        return self.is_pure and self.steps[0][0] != b"SORT"

    @property
    def has_payload(self):
        return any(PAYLOAD in step for step in self.steps)


def words(line, *keys):
    """A command: {0} stands for the first key, and so on."""
    return [word.format(*(key.decode() for key in keys)).encode() for word in line.split()]


def reads(keys, elements, lines, look=None, **more):
    """A read for each line; `look` shows what those that store have stored."""
    after = (look,) if look else ()
    return [Read((words(line, *keys), *after), elements, **more) for line in lines]


def copies(key, elements, look, **more):
    return [Read(([b"COPY", key, TO, b"REPLACE"], look), elements, **more),
            Read(([b"DUMP", key], [b"RESTORE", TO, b"0", PAYLOAD, b"REPLACE"], look), elements, **more)]


def renamed(read):
    """The destination is read under another name."""
    other = TO + b":2"
    steps = [[other if word == TO else word for word in step] for step in read.steps[1:]]
    return Read((read.steps[0], [b"RENAME", TO, other], *steps), read.elements, read.is_ordered)


def of_hash(keys):
    look = [b"HGETALL", TO]
    return [*reads(keys, pairs, ["HGETALL {0}", "HRANDFIELD {0} 10000000 WITHVALUES"]),
            *reads(keys, pairs, ["HRANDFIELD {0} 5000 WITHVALUES", "HRANDFIELD {0} -20000 WITHVALUES"], is_part=True),
            *copies(keys[0], pairs, look)]


def of_zset(keys):
    look = words("ZRANGE <to> 0 -1 WITHSCORES")
    stores = reads(keys, pairs, [
        "ZUNIONSTORE <to> 1 {0}", "ZINTERSTORE <to> 2 {0} {0} AGGREGATE MAX", "ZDIFFSTORE <to> 2 {0} none",
        "ZRANGESTORE <to> {0} 0 -1", "GEOSEARCHSTORE <to> {0} FROMLONLAT 0 0 BYRADIUS 30000 km"], look)
    return [*reads(keys, pairs, [
        "ZRANGE {0} 0 -1 WITHSCORES", "ZRANGE {0} 0 -1 REV WITHSCORES", "ZRANGE {0} -inf +inf BYSCORE WITHSCORES",
        "ZRANDMEMBER {0} 10000000 WITHSCORES", "ZUNION 1 {0} WITHSCORES", "ZINTER 2 {0} {0} AGGREGATE MIN WITHSCORES",
        "ZDIFF 2 {0} none WITHSCORES", "GEOSEARCH {0} FROMLONLAT 0 0 BYRADIUS 30000 km WITHHASH"]),
        *reads(keys, pairs, ["ZRANDMEMBER {0} 5000 WITHSCORES", "ZRANDMEMBER {0} -20000 WITHSCORES"], is_part=True),
        *stores, renamed(stores[0]), *copies(keys[0], pairs, look)]


def of_set(keys):
    """Of one set, or of two that have their members by turns, and none in common."""
    look = [b"SMEMBERS", TO]
    both = keys if len(keys) == 2 else keys * 2
    stores = reads(both, tokens, ["SUNIONSTORE <to> {0} {1}"], look)
    found = [*reads(both, tokens, ["SUNION {0} {1}", "ZUNION 2 {0} {1}"]), *stores, renamed(stores[0]),
             *reads(both, tokens, ["ZUNIONSTORE <to> 2 {0} {1}"], words("ZRANGE <to> 0 -1"))]
    if len(keys) == 1:
        return [*found, *copies(keys[0], tokens, look), *reads(keys, tokens, [
            "SMEMBERS {0}", "SRANDMEMBER {0} 10000000", "SDIFF {0} none", "SORT {0} ALPHA", "SORT_RO {0} BY nosort"]),
            *reads(keys, tokens, ["SRANDMEMBER {0} 5000", "SRANDMEMBER {0} -20000"], is_part=True),
            *reads(keys, tokens, ["SINTERSTORE <to> {0} {0}", "SDIFFSTORE <to> {0} none"], look),
            *reads(keys, tokens, ["SORT {0} ALPHA STORE <to>"], words("LRANGE <to> 0 -1"))]
    return [*found,
            *reads(both, tokens, ["SINTER {0} {1}", "ZINTER 2 {0} {1}"], constant=lambda count: []),
            *reads(both, tokens, ["SINTERSTORE <to> {0} {1}"], [b"EXISTS", TO], constant=lambda count: [b"0"]),
            *reads(both, tokens, ["SINTERCARD 2 {0} {1}", "ZINTERCARD 2 {0} {1}"], constant=lambda count: [b"0"])]


def of_list(keys):
    look = words("LRANGE <to> 0 -1")
    return [*reads(keys, tokens, ["LRANGE {0} 0 -1", "SORT_RO {0} BY nosort"], is_ordered=True),
            *reads(keys, tokens, ["SORT {0} ALPHA", "SORT_RO {0} ALPHA DESC"]),
            *reads(keys, tokens, ["SORT {0} ALPHA STORE <to>"], look),
            *copies(keys[0], tokens, look, is_ordered=True)]


def positions(key, cells):
    """Where cells that never change stand in a list."""
    found = []
    for cell, element in cells:
        for more in ([], [b"COUNT", b"0"], [b"RANK", b"-1"]):
            found.append(Read(([b"LPOS", key, element, *more],), tokens, position_of=cell))
    return found


def of_text(keys, cells_of):
    """`cells_of(text, is_inverted)` takes a text apart."""
    def plain(reply):
        return cells_of(text_of(reply), False)

    def inverted(reply):
        return cells_of(text_of(reply), True)
    look = [b"GETRANGE", TO, b"0", b"-1"]
    return [*reads(keys, plain, ["GET {0}", "GETRANGE {0} 0 -1"]),
            *reads(keys, plain, ["BITOP OR <to> {0} {0}", "BITOP AND <to> {0} {0}", "BITOP XOR <to> {0} none"], look),
            *reads(keys, inverted, ["BITOP NOT <to> {0}"], look), *copies(keys[0], plain, look),
            *reads(keys, tokens, ["BITCOUNT {0}"], constant=lambda count: [b"%d" % (64 * count)]),
            *reads(keys, tokens, ["BITOP XOR <to> {0} {0}"], [b"BITCOUNT", TO], constant=lambda count: [b"0"])]
