"""Checks the data of a server after a kill against what its clients know."""
import os
import subprocess
from pathlib import Path

from hyperloglog import registers_of
from model import Model, comparable_expiry, library_of
from replies import comparable_reply, encode
from resp import text_of, value_of
from streams import produced_of, stream_of
from writers import Trouble


def check_snapshot(folder):
    """Whatever happens to the server: the file with its snapshot is whole."""
    checker = Path(os.environ.get("PACKLIST_BUILD", "build/release"), "packlist-check")
    snapshot = Path(folder, "dump.rdb")
    if snapshot.exists():
        done = subprocess.run([checker, snapshot], capture_output=True, text=True)
        if done.returncode:
            raise Trouble(f"packlist-check says of the snapshot:\n{done.stdout}{done.stderr}")


def check_state(link, writers, consumers, floor):
    """All that was acknowledged before the floor must be there. The writers' models become what is there. Returns after
    how many of its units each writer's data was that."""
    spans = []
    for consumer in consumers:
        link.call(b"SELECT", b"%d" % consumer.database)
        shared, queue, taken = (read_list(link, key) for key in (b"shared", b"queue", b"taken"))
        mine = [writer for writer in writers if writer.database == consumer.database]
        found = [find_span(link, writer, shared, floor) for writer in mine]
        check_shared(mine, shared)
        check_queue(mine, consumer, queue, taken, floor)
        spans += found
    check_one_moment(list(zip(writers, spans)))
    return [last for _, last in spans]


# --- What is there ---

def read_array(link, *argv):
    """The elements of an array: bytes, or integers."""
    reply = link.call(*argv)
    if reply[:1] != b"*":
        raise Trouble(f"{argv!r:.200} is answered {reply[:100]!r}")
    return value_of(reply)


def read_list(link, key):
    return read_array(link, b"LRANGE", key, b"0", b"-1")


def read_set(link, key):
    return dict.fromkeys(read_array(link, b"SMEMBERS", key), b"")


def read_hash(link, key):
    parts = read_array(link, b"HGETALL", key)
    fields = parts[::2]
    if not fields:
        return {}
    expiries = read_array(link, b"HPEXPIRETIME", key, b"FIELDS", b"%d" % len(fields), *fields)
    return {field: (value, None if at == -1 else at) for field, value, at in zip(fields, parts[1::2], expiries)}


def read_zset(link, key):
    parts = read_array(link, b"ZRANGE", key, b"0", b"-1", b"WITHSCORES")
    return {member: int(score) for member, score in zip(parts[::2], parts[1::2])}


def read_string(link, key):
    reply = link.call(b"GET", key)
    if reply[:1] != b"$":
        raise Trouble(f"GET {key!r} is answered {reply[:100]!r}")
    return text_of(reply)


def read_stream_facts(link, key):
    if link.call(b"EXISTS", key) == b":0\r\n":
        return None
    return read_array(link, b"XINFO", b"STREAM", key, b"FULL", b"COUNT", b"0")


def read_stream(link, key):
    facts = read_stream_facts(link, key)
    stream = facts and stream_of(facts)
    if facts and not stream:
        raise Trouble(f"the groups and consumers of {key!r} do not have the same: {facts!r}")
    return stream


def read_produced(link, key):
    facts = read_stream_facts(link, key)
    return facts and produced_of(facts)


def read_registers(link, key):
    value = read_string(link, key)
    return value and registers_of(value)


def read_library(link, key):
    reply = link.call(b"FCALL_RO", library_of(key) + b"_version", b"0")
    return None if reply[:1] == b"-" else text_of(reply)


READERS = {b"f": read_library, b"l": read_list, b"s": read_string, b"n": read_string, b"m": read_set, b"h": read_hash,
           b"z": read_zset, b"x": read_stream, b"i": read_produced, b"p": read_registers, b"g": read_zset}


def read_model(link, keys):
    found = Model()
    for key in keys:
        value = READERS[key[:1]](link, key)
        if key[:1] == b"f" and value is not None:
            found.put(key, value)
        elif value is not None and value not in ([], {}):
            expiry = comparable_expiry(int(link.call(b"PEXPIRETIME", key)[1:]))
            found.put(key, value, None if expiry == -1 else expiry)
    return found


# --- One connection ---

def find_span(link, writer, shared, floor):
    """After how many of its units, at least and at most, the connection's data was what it is now."""
    found = read_model(link, writer.generator.keys())
    here = sum(element.startswith(writer.client_name + b".") for element in shared)
    before, matches = writer.model.copy(), []
    certain_queue = 0
    for index in range(len(writer.units) + 1):
        if writer.model.print == found.print and len(writer.model.added[b"shared"]) == here:
            certain_queue = certain_queue if matches else len(writer.model.added[b"queue"])
            matches.append(index)
        if index < len(writer.units):
            run_unit(writer.model, writer.units[index])
    needed = sum(0 < unit.acknowledged <= floor for unit in writer.units)
    if not matches or matches[-1] < needed:
        raise Trouble(describe_lost(writer, before, found, here, matches, needed))
    for unit in writer.units[:matches[-1]]:
        run_unit(before, unit)
    writer.model, writer.certain_queue = before, certain_queue
    return matches[0], matches[-1]


def run_unit(model, unit):
    """In the model; the reply must be the same, if it has come."""
    replies = [model.run(argv) for argv in unit.commands]
    if not unit.acknowledged or ... in replies and unit.reply[:1] != b"-":
        return
    if unit.how == "multi":
        expected = b"+OK\r\n" + b"+QUEUED\r\n" * len(replies) + encode(replies)
    else:
        expected = encode(replies if unit.how == "script" else replies[0])
    if comparable_reply(unit.reply) != comparable_reply(expected):
        raise Trouble(f"{unit.requests()!r:.500} was answered {unit.reply!r:.300}, not {expected!r:.300}")


def around_difference(*values):
    """The values as text, from shortly before the place where they differ."""
    texts = [repr(value) for value in values]
    begin = max(0, len(os.path.commonprefix(texts)) - 60)
    return [("…" if begin else "") + text[begin:begin + 200] for text in texts]


def describe_lost(writer, before, found, here, matches, needed):
    for unit in writer.units[:needed]:
        run_unit(before, unit)
    there = f"the first {matches[-1]}" if matches else "not the first ones, however many"
    lines = [f"connection {writer.client_name.decode()} sent {len(writer.units)} units, of which the first {needed} "
             f"must be there; what is there are {there}",
             f"of {len(before.added[b'shared'])} elements that must be in `shared`, or more, there are {here}"]
    for key in sorted(before.values.keys() | found.values.keys()):
        old, new = ((model.values.get(key), model.expiries.get(key)) for model in (before, found))
        if old != new:
            expected, seen = around_difference(old, new)
            lines.append(f"    {key.decode()} must be, or become, {expected}\n        and is {seen}")
    return "\n".join(lines)


# --- Several connections ---

def check_shared(writers, shared):
    """What they have pushed is there once, in order, and nothing else."""
    for writer in writers:
        mine = [element for element in shared if element.startswith(writer.client_name + b".")]
        if mine != writer.model.added[b"shared"]:
            raise Trouble(f"`shared` does not have what {writer.client_name!r} has pushed, in this order")
    if len(shared) != sum(len(writer.model.added[b"shared"]) for writer in writers):
        raise Trouble("`shared` has elements that no client has pushed")


def is_subsequence(some, all_of_them):
    rest = iter(all_of_them)
    return all(element in rest for element in some)


def check_queue(writers, consumer, queue, taken, floor):
    """Each element is in the queue, or was taken from its head, once."""
    popped = {took.element for took in consumer.taken if took.acknowledged and not took.kept}
    here = taken + queue
    if len(set(here)) < len(here) or popped & set(taken):
        raise Trouble("an element was taken from the queue twice")
    gone = []
    for writer in writers:
        added = writer.model.added[b"queue"]
        mine = [element for element in here if element.startswith(writer.client_name + b".")]
        if not is_subsequence(mine, added):
            raise Trouble(f"what {writer.client_name!r} has queued is not there in this order")
        gone += set(added[:writer.certain_queue]) - set(mine) - popped
    in_flight = sum(not took.acknowledged and not took.kept for took in consumer.taken)
    if len(gone) > in_flight:
        raise Trouble(f"no client has taken {gone!r:.300} from the queue")
    for took in consumer.taken:
        if 0 < took.acknowledged <= floor and (took.element in queue or took.kept and took.element not in here):
            raise Trouble(f"{took.element!r} was taken from the queue, and is there again")


def check_one_moment(spans):
    """A command that was sent after another one was acknowledged cannot have run before it."""
    sent = [writer.units[first - 1].sent for writer, (first, _) in spans if first > 0]
    missing = [writer.units[last].acknowledged for writer, (_, last) in spans
               if last < len(writer.units) and writer.units[last].acknowledged]
    if sent and missing and min(missing) < max(sent):
        raise Trouble(f"a command is missing though one is there that was sent {max(sent) - min(missing):.6f} s after "
                      "the first was acknowledged")
