"""Streams with consumer groups (keys b"x…"), and streams of producers, whose entries are added once (b"i…"): what
commands do to them, random commands, and what a server has.

A connection chooses the ids of its entries, each greater than all before. Only those of producers' entries are the
server's: they are not known. Nor are times: nothing is claimed because it has been idle for so and so long. A consumer
never reads its history, which counts as a delivery, but is not propagated.
"""
from replies import NO_KEY, OK

GROUPS, CONSUMERS, PRODUCERS = (b"g", b"h"), (b"a", b"b", b"c"), (b"p", b"q")
NOBODY = b""  # has what was given back
REFERENCES = (b"KEEPREF", b"DELREF", b"ACKED")
DELIVERIES_MAX = 2 ** 63 - 1
LEAST = (0, 0)  # before all ids
UNKNOWN = -1  # how many entries a group has read
REMEMBERED = 30  # ids of each stream, by who makes random commands
IIDS_REMEMBERED = 100  # of a producer, unless XCFGSET says another number
NO_STREAM = (b"-ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the "
             b"MKSTREAM option to create an empty stream automatically.",)


def id_of(text):
    ms, _, seq = text.partition(b"-")
    return int(ms), int(seq or b"0")


def id_text(entry_id):
    return b"%d-%d" % entry_id


def ids_after(word, arguments):
    """The ids of `IDS count id …`, for which the word stands."""
    at = arguments.index(word)
    return [id_of(text) for text in arguments[at + 2:at + 2 + int(arguments[at + 1])]]


# --- What there is ---

class Group:
    def __init__(self, last, read=UNKNOWN):
        self.last, self.read, self.consumers = last, read, set()
        self.pending = {}  # ids to (consumer, deliveries)

    def copy(self):
        copy = Group(self.last, self.read)
        copy.consumers, copy.pending = self.consumers.copy(), self.pending.copy()
        return copy

    def content(self):
        return self.last, self.read, frozenset(self.consumers), frozenset(self.pending.items())

    def deliver(self, entry_id, consumer, deliveries=None):
        """Once more, or as often as that."""
        if deliveries is None:
            deliveries = min(self.pending[entry_id][1] + 1, DELIVERIES_MAX)
        self.pending[entry_id] = consumer, deliveries

    def acknowledge(self, entry_id):
        return self.pending.pop(entry_id, None) is not None


class Content:
    """Is what its content() is."""

    def __eq__(self, other):
        return isinstance(other, Content) and self.content() == other.content()

    def __hash__(self):
        return hash(self.content())

    def __repr__(self):
        return repr(self.content())


class Stream(Content):
    def __init__(self):
        self.entries = {}  # ids, in order, to fields and values
        self.last, self.deleted, self.added, self.groups = LEAST, LEAST, 0, {}

    def copy(self):
        copy = Stream()
        copy.entries, copy.last, copy.deleted, copy.added = self.entries.copy(), self.last, self.deleted, self.added
        copy.groups = {name: group.copy() for name, group in self.groups.items()}
        return copy

    def content(self):
        groups = frozenset((name, group.content()) for name, group in self.groups.items())
        return tuple(self.entries.items()), self.last, self.deleted, self.added, groups

    def reply(self, entry_id):
        return [id_text(entry_id), list(self.entries[entry_id])]

    def is_acknowledged(self, entry_id):
        """By all groups."""
        return all(group.last >= entry_id and entry_id not in group.pending for group in self.groups.values())

    def drop_references(self, entry_ids):
        for group in self.groups.values():
            for entry_id in entry_ids:
                group.acknowledge(entry_id)

    def first(self):
        return next(iter(self.entries), LEAST)

    def entries_up_to(self, entry_id):
        """How many there ever were, if that can be known: Redis's rules."""
        if self.added == 0 or not self.entries and entry_id <= self.last or entry_id == self.last:
            return self.added
        has_gap = self.deleted != LEAST and self.deleted >= self.first()
        if has_gap or LEAST != entry_id < self.deleted or entry_id > self.last or entry_id > self.first():
            return UNKNOWN
        return self.added - len(self.entries) + (entry_id == self.first())

    def advance(self, group, entry_id):
        """The group is given an entry."""
        has_gap = self.deleted != LEAST and self.deleted >= max(self.first(), group.last)
        if group.read != UNKNOWN and group.last >= self.first() and not has_gap:
            group.read += 1
        else:
            group.read = self.entries_up_to(entry_id)
        group.last = entry_id

    def remove(self, entry_id):
        existed = self.entries.pop(entry_id, None) is not None
        if existed:
            self.deleted = max(self.deleted, entry_id)
        return existed

    def trim(self, length, references):
        excess = max(len(self.entries) - length, 0)
        gone = list(self.entries)
        if references == b"ACKED":
            gone = list(filter(self.is_acknowledged, gone))
        gone = gone[:excess]
        for entry_id in gone:
            if references == b"ACKED" and self.groups:
                self.remove(entry_id)
            else:
                del self.entries[entry_id]
        if references == b"DELREF":
            self.drop_references(gone)
        return len(gone)

    def delete(self, entry_id, references, is_acknowledged):
        """The reply of XDELEX; of XACKDEL, if the entry was just acknowledged."""
        if references == b"ACKED" and not self.is_acknowledged(entry_id):
            return 2
        existed = self.remove(entry_id)
        if references == b"DELREF":
            self.drop_references([entry_id])
        return 1 if existed or is_acknowledged else -1


class Produced(Content):
    """A stream of producers: the texts of its entries, and which iids are known of whom."""

    def __init__(self):
        self.texts, self.iids, self.limit = [], {}, IIDS_REMEMBERED

    def copy(self):
        copy = Produced()
        copy.texts, copy.limit = self.texts[:], self.limit
        copy.iids = {name: iids[:] for name, iids in self.iids.items()}
        return copy

    def content(self):
        return tuple(self.texts), self.limit, len(self.iids), sum(map(len, self.iids.values()))

    def add(self, name, iid, text):
        iids = self.iids.setdefault(name, [])
        if iid not in iids:
            self.texts.append(text)
            iids.append(iid)
            del iids[:-self.limit]

    def set_limit(self, limit):
        if limit != self.limit:
            self.limit, self.iids = limit, {}


# --- What commands do ---

class StreamModel:
    """The model of model.py provides values and note."""

    def group(self, key, name):
        stream = self.values.get(key)
        return stream, stream.groups.get(name) if stream else None

    def XADD(self, key, *arguments):
        if arguments[0] == b"IDMP":
            self.values.setdefault(key, Produced()).add(arguments[1], arguments[2], arguments[-1])
            return ...
        stream = self.values.setdefault(key, Stream())
        references, length = None, None
        if arguments[0] in REFERENCES:
            references, *arguments = arguments
        if arguments[0] == b"MAXLEN":
            length, arguments = int(arguments[1]), arguments[2:]
        stream.last = id_of(arguments[0])
        stream.entries[stream.last] = tuple(arguments[1:])
        stream.added += 1
        if length is not None:
            stream.trim(length, references)
        return arguments[0]

    def XTRIM(self, key, _maxlen, length, references=None):
        stream = self.values.get(key)
        if isinstance(stream, Produced):
            before = len(stream.texts)
            del stream.texts[:-int(length)]
            return before - len(stream.texts)
        return stream.trim(int(length), references) if stream else 0

    def XDEL(self, key, *ids):
        stream = self.values.get(key)
        return sum(stream.remove(id_of(text)) for text in ids) if stream else 0

    def XDELEX(self, key, references, *arguments):
        stream, ids = self.values.get(key), ids_after(b"IDS", arguments)
        return [stream.delete(entry_id, references, False) if stream else -1 for entry_id in ids]

    def XACKDEL(self, key, name, references, *arguments):
        stream, group = self.group(key, name)
        return [stream.delete(entry_id, references, True) if group and group.acknowledge(entry_id) else -1
                for entry_id in ids_after(b"IDS", arguments)]

    def XSETID(self, key, last):
        if key not in self.values:
            return NO_KEY
        self.values[key].last = id_of(last)
        return OK

    def XCFGSET(self, key, _maxsize, limit):
        if key not in self.values:
            return NO_KEY
        self.values[key].set_limit(int(limit))
        return OK

    # --- groups ---

    def XGROUP(self, what, key, name, *arguments):
        stream, group = self.group(key, name)
        if what == b"CREATE":
            if group:
                return (b"-BUSYGROUP Consumer Group name already exists",)
            stream = self.values.setdefault(key, Stream())
            stream.groups[name] = Group(LEAST)
            return self.SETID(stream, stream.groups[name], *arguments)
        if not stream:
            return NO_STREAM
        if what == b"DESTROY":
            return int(stream.groups.pop(name, None) is not None)
        if not group:
            return (b"-NOGROUP No such consumer group '%s' for key name '%s'" % (name, key),)
        return getattr(self, what.decode())(stream, group, *arguments)

    def SETID(self, stream, group, last, *arguments):
        group.last = stream.last if last == b"$" else id_of(last)
        group.read = min(int(arguments[-1]), stream.added) if b"ENTRIESREAD" in arguments else UNKNOWN
        return OK

    def CREATECONSUMER(self, _stream, group, consumer):
        is_new = consumer not in group.consumers
        group.consumers.add(consumer)
        return int(is_new)

    def DELCONSUMER(self, _stream, group, consumer):
        gone = [entry_id for entry_id, (owner, _) in group.pending.items() if owner == consumer]
        for entry_id in gone:
            group.acknowledge(entry_id)
        group.consumers.discard(consumer)
        return len(gone)

    def XREADGROUP(self, _group, name, consumer, *arguments):
        key = arguments[-2]
        stream, group = self.group(key, name)
        if not group:
            return no_group(key, name, b" in XREADGROUP with GROUP option")
        group.consumers.add(consumer)
        if b"CLAIM" in arguments:
            self.claim_all(stream, group, consumer)
        new = [entry_id for entry_id in stream.entries if entry_id > group.last]
        if b"COUNT" in arguments:
            new = new[:int(arguments[arguments.index(b"COUNT") + 1])]
        for entry_id in new:
            stream.advance(group, entry_id)
            if b"NOACK" not in arguments:
                group.deliver(entry_id, consumer, 1)
        if b"CLAIM" in arguments:
            return ...  # by the times of delivery
        return [[key, [stream.reply(entry_id) for entry_id in new]]] if new else None

    def claim_all(self, stream, group, consumer):
        for entry_id in list(group.pending):
            if entry_id in stream.entries:
                group.deliver(entry_id, consumer)
            else:
                group.acknowledge(entry_id)

    def XACK(self, key, name, *ids):
        _, group = self.group(key, name)
        return sum(group.acknowledge(id_of(text)) for text in ids) if group else 0

    def XCLAIM(self, key, name, consumer, _idle, *arguments):
        stream, group = self.group(key, name)
        if not group:
            return no_group(key, name)
        group.consumers.add(consumer)
        just_ids, forces = b"JUSTID" in arguments, b"FORCE" in arguments
        claimed = []
        for entry_id in (id_of(text) for text in arguments if text[:1].isdigit() and b"-" in text):
            if entry_id not in stream.entries:
                group.acknowledge(entry_id)
            elif entry_id in group.pending or forces:
                group.pending.setdefault(entry_id, (consumer, 1))
                count = group.pending[entry_id][1] if just_ids else None
                if b"RETRYCOUNT" in arguments:
                    count = int(arguments[arguments.index(b"RETRYCOUNT") + 1])
                group.deliver(entry_id, consumer, count)
                claimed.append(id_text(entry_id) if just_ids else stream.reply(entry_id))
        return claimed

    def XAUTOCLAIM(self, key, name, consumer, _idle, start, _count, count):
        stream, group = self.group(key, name)
        if not group:
            return no_group(key, name)
        group.consumers.add(consumer)
        found = sorted(entry_id for entry_id in group.pending if entry_id >= id_of(start))
        found, rest = found[:int(count)], found[int(count):]
        claimed = [entry_id for entry_id in found if entry_id in stream.entries]
        lost = [entry_id for entry_id in found if entry_id not in stream.entries]
        for entry_id in claimed:
            group.deliver(entry_id, consumer)
        for entry_id in lost:
            group.acknowledge(entry_id)
        return [id_text(rest[0] if rest else LEAST), list(map(stream.reply, claimed)), list(map(id_text, lost))]

    def XNACK(self, key, name, mode, *arguments):
        _, group = self.group(key, name)
        if not group:
            return no_group(key, name)
        count = 0
        for entry_id in ids_after(b"IDS", arguments):
            if entry_id in group.pending:
                before = group.pending[entry_id][1]
                after = {b"SILENT": max(before - 1, 0), b"FAIL": before, b"FATAL": DELIVERIES_MAX}[mode]
                group.deliver(entry_id, NOBODY, after)
                count += 1
        return count


def no_group(key, name, where=b""):
    return (b"-NOGROUP No such key '%s' or consumer group '%s'%s" % (key, name, where),)


# --- Random commands ---

class StreamGenerator:
    """The generator of commands.py provides chance, number, key, fresh, element, number_text."""

    def __init__(self):
        self.ids, self.given = 0, {}

    def new_id(self):
        self.ids += self.chance.choice((1, 1, 1, 40))
        return b"%d-%d" % (self.number + 1, self.ids)

    def new_entry_id(self, key):
        """Is remembered as one that may be in this stream: in this round, if nothing was renamed to it."""
        new = self.new_id()
        self.given[key] = [*self.given.get(key, [])[1 - REMEMBERED:], new]
        return new

    def old_ids(self, key):
        given = self.given.get(key) or [self.new_id()]
        first, count = self.chance.randrange(len(given)), self.chance.choice((1, 4, 12, 30))
        return given[max(first - count, 0):first + 1]

    def counted_ids(self, key):
        ids = self.old_ids(key)
        return [b"IDS", b"%d" % len(ids), *ids]

    def fields(self):
        return [part for name in (b"field", b"other")[:self.chance.randint(1, 2)] for part in (name, self.element())]

    def trimming(self):
        references = self.chance.choice((None, *REFERENCES))
        return [b"MAXLEN", self.number_text(3, 40)], [references] if references else []

    def add_entry(self):
        """Streams stay short."""
        trimming, references = self.trimming() if self.chance.random() < 0.3 else ([], [])
        key = self.key(b"x")
        return [b"XADD", key, *references, *trimming, self.new_entry_id(key), *self.fields()]

    def edit_stream(self):
        key, references = self.key(b"x"), self.chance.choice(REFERENCES)
        trimming, trim_references = self.trimming()
        return self.chance.choice((
            [b"XTRIM", key, *trimming, *trim_references],
            [b"XTRIM", key, *trimming, *trim_references],
            [b"XDEL", key, *self.old_ids(key)[:3]],
            [b"XDELEX", key, references, *self.counted_ids(key)],
            [b"XACKDEL", key, self.chance.choice(GROUPS), references, *self.counted_ids(key)],
            [b"XSETID", key, self.new_id()]))

    def produce(self):
        """Mostly what is new, or was added just before, perhaps before a restart."""
        key = self.key(b"i")
        if self.chance.random() < 0.05:
            return [b"XTRIM", key, b"MAXLEN", b"30"]
        if self.chance.random() < 0.02:
            return [b"XCFGSET", key, b"IDMP-MAXSIZE", self.chance.choice((b"5", b"%d" % IIDS_REMEMBERED))]
        iid = self.number_text(0, 300)
        return [b"XADD", key, b"IDMP", self.chance.choice(PRODUCERS), iid, b"*", b"iid", iid]

    def use_group(self):
        key, name, consumer = self.key(b"x"), self.chance.choice(GROUPS), self.chance.choice(CONSUMERS)
        from_id = self.chance.choice((b"0", b"$", self.old_ids(key)[0]))
        count = self.chance.choice(([], [b"COUNT", self.number_text(1, 9)]))
        how = self.chance.choice(([], [], [], [b"NOACK"], [b"BLOCK", b"2"]))
        read = self.chance.choice(([], [b"ENTRIESREAD", self.number_text(0, 9)]))
        roll = self.chance.random()
        if roll < 0.12:
            return [b"XGROUP", b"CREATE", key, name, from_id, b"MKSTREAM", *read]
        if roll < 0.17:
            return [b"XGROUP", *self.chance.choice((
                [b"SETID", key, name, from_id, *read], [b"SETID", key, name, from_id],
                [b"CREATECONSUMER", key, name, consumer], [b"DELCONSUMER", key, name, consumer],
                [b"DESTROY", key, name]))]
        if roll < 0.5:
            return [b"XREADGROUP", b"GROUP", name, consumer, *count, *how, b"STREAMS", key, b">"]
        return self.chance.choice((
            [b"XACK", key, name, *self.old_ids(key)],
            [b"XACK", key, name, *self.old_ids(key)],
            [b"XREADGROUP", b"GROUP", name, consumer, b"CLAIM", b"0", b"STREAMS", key, b">"],
            [b"XCLAIM", key, name, consumer, b"0", *self.old_ids(key),
             *self.chance.choice(([], [b"JUSTID"], [b"FORCE"], [b"RETRYCOUNT", self.number_text(0, 9)]))],
            [b"XAUTOCLAIM", key, name, consumer, b"0", self.chance.choice((b"0-0", self.old_ids(key)[0])), b"COUNT",
             self.number_text(1, 9)],
            [b"XNACK", key, name, self.chance.choice((b"SILENT", b"FAIL", b"FATAL")), *self.counted_ids(key)]))


# --- What a server has ---

def by_name(parts):
    return dict(zip(parts[::2], parts[1::2]))


def stream_of(facts):
    """The stream that XINFO STREAM FULL COUNT 0 describes; None if what groups and consumers have does not agree."""
    facts, stream = by_name(facts), Stream()
    stream.entries = {id_of(entry_id): tuple(fields) for entry_id, fields in facts[b"entries"]}
    stream.last, stream.deleted = id_of(facts[b"last-generated-id"]), id_of(facts[b"max-deleted-entry-id"])
    stream.added = facts[b"entries-added"]
    for parts in map(by_name, facts[b"groups"]):
        read = parts[b"entries-read"]
        group = Group(id_of(parts[b"last-delivered-id"]), UNKNOWN if read is None else read)
        stream.groups[parts[b"name"]] = group
        group.pending = {id_of(entry_id): (owner, count) for entry_id, owner, _, count in parts[b"pending"]}
        theirs = {entry_id: content for entry_id, content in group.pending.items() if content[0] == NOBODY}
        for consumer in map(by_name, parts[b"consumers"]):
            group.consumers.add(consumer[b"name"])
            theirs.update((id_of(entry_id), (consumer[b"name"], count)) for entry_id, _, count in consumer[b"pending"])
        if theirs != group.pending or parts[b"pel-count"] != len(theirs):
            return None
    return stream


def produced_of(facts):
    """As content() of Produced has it, for a model."""
    facts, produced = by_name(facts), Produced()
    produced.texts = [fields[-1] for _, fields in facts[b"entries"]]
    produced.limit = facts[b"idmp-maxsize"]
    # Whose they are, no command says: later duplicates show it.
    names = [b"%d" % number for number in range(facts[b"pids-tracked"])]
    produced.iids = {name: [] for name in names}
    if names:
        produced.iids[names[0]] = [b""] * facts[b"iids-tracked"]
    return produced
