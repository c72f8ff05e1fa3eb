"""What the commands of one connection do to its own keys, and what they answer.

Keys are lists (b"l…"), strings (b"s…", and integers b"n…"), sets (b"m…"), hashes (b"h…") and sorted sets (b"z…"), and
what streams.py, hyperloglog.py and geo.py have; an expiry is far away. Libraries of functions are noted like keys
(b"f…"), with their versions. `shared` and `queue` belong to several connections: of these only the elements are noted
that this connection has added.
"""
import time

from geo import GeoModel
from hyperloglog import HyperLogLogModel
from replies import NO_KEY, OK
from streams import StreamModel

SHARED = (b"shared", b"queue")
FAR_MS = 10 ** 9  # expiries are multiples of it: absolute ones since 1970, relative ones since now


def library_of(key):
    """The name of the library that is noted under this key; its function that pushes has the same name."""
    return key.replace(b".", b"_").replace(b"-", b"_")


def library_code(name, version):
    """A library with two functions: one pushes an element and the version, the other returns the version."""
    return (b"#!lua name=%s\nlocal version = '%s'\n"
            b"redis.register_function('%s', function(keys, args)\n"
            b"    redis.call('RPUSH', keys[1], args[1])\n"
            b"    redis.call('RPUSH', keys[1], version)\n"
            b"    return version\nend)\n"
            b"redis.register_function{function_name = '%s_version', flags = {'no-writes'},\n"
            b"    callback = function() return version end}\n") % (name, version, name, name)


TWO_KEYS = {b"LMOVE", b"BLMOVE", b"LMOVEM", b"BLPOP", b"DEL", b"RENAME", b"COPY"}


def comparable_expiry(at_ms):
    """PEXPIRETIME's answer: alike for what was set at different times by the same command."""
    if at_ms < 0 or at_ms % FAR_MS == 0:
        return at_ms
    return -10 - round((at_ms - time.time() * 1000) / FAR_MS)


def keys_of(argv):
    """The keys that the command may change."""
    if argv[0] == b"XREADGROUP":
        return argv[-2:-1]
    if argv[0] == b"XGROUP":
        return argv[2:3]
    return argv[1:3] if argv[0] in TWO_KEYS else argv[1:2]


def copy_of(value):
    """A list is a list, a string bytes. Of members a dictionary: a set's to b"", a hash's fields to (value, expiry or
    None), a sorted set's to scores."""
    return value if isinstance(value, bytes) else value.copy()


def content_of(value):
    """Something that can be hashed; the members of a dictionary have no order."""
    return frozenset(value.items()) if isinstance(value, dict) else tuple(value) if isinstance(value, list) else value


class Model(StreamModel, HyperLogLogModel, GeoModel):
    def __init__(self):
        self.values = {}  # see copy_of
        self.expiries = {}
        self.added = {key: [] for key in SHARED}
        self.prints = {}  # of each key
        self.print = 0  # of all, by which states are compared quickly

    def copy(self):
        copy = Model()
        copy.added = {key: elements[:] for key, elements in self.added.items()}
        for key, value in self.values.items():
            copy.put(key, copy_of(value), self.expiries.get(key))
        return copy

    def put(self, key, value, expiry=None):
        self.values[key] = value
        if expiry is not None:
            self.expiries[key] = expiry
        self.note(key)

    def run(self, argv):
        """The reply, or ... where it depends on other connections."""
        key = argv[1]
        if key in SHARED:
            self.added[key] += argv[2:]
            return ...
        reply = getattr(self, argv[0].decode())(*argv[1:])
        if argv[0] in (b"FUNCTION", b"FCALL"):
            return reply
        for name in keys_of(argv):
            self.note(name)
        return reply

    def note(self, key):
        value = self.values.get(key)
        if value is None or value in ([], {}):
            self.values.pop(key, None)
            self.expiries.pop(key, None)
            now = 0
        else:
            now = hash((key, content_of(value), self.expiries.get(key, -1)))
        self.print ^= self.prints.get(key, 0) ^ now
        self.prints[key] = now

    def list(self, key):
        return self.values.setdefault(key, [])

    # --- lists ---

    def RPUSH(self, key, *elements):
        self.list(key).extend(elements)
        return len(self.list(key))

    def LPUSH(self, key, *elements):
        self.list(key)[:0] = elements[::-1]
        return len(self.list(key))

    def RPUSHBOUND(self, key, most, *elements):
        self.list(key).extend(elements)
        del self.list(key)[:-int(most)]
        return len(self.list(key))

    def LPOP(self, key, count=None):
        return self.pop(key, count, 0)

    def RPOP(self, key, count=None):
        return self.pop(key, count, -1)

    def pop(self, key, count, end):
        items = self.values.get(key)
        if not items:
            return None if count is None else None
        if count is None:
            return items.pop(end)
        return [items.pop(end) for _ in range(min(int(count), len(items)))]

    def LMOVE(self, source, target, out, into):
        items = self.values.get(source)
        if not items:
            return None
        element = items.pop(0 if out == b"LEFT" else -1)
        if not items and source != target:
            self.note(source)  # its expiry ends with it
        targets = self.list(target)
        targets.insert(0 if into == b"LEFT" else len(targets), element)
        return element

    def LMOVEM(self, source, target, out, into, _mode, count, order):
        items = self.values.get(source)
        if not items:
            return None
        count = min(int(count), len(items))
        block = slice(0, count) if out == b"LEFT" else slice(len(items) - count, len(items))
        moved = items[block]
        del items[block]
        if not items and source != target:
            self.note(source)  # its expiry ends with it
        if order == b"OBO" and out == into and source != target:
            moved.reverse()
        targets = self.list(target)
        at = 0 if into == b"LEFT" else len(targets)
        targets[at:at] = moved
        return moved

    def BLMOVE(self, source, target, out, into, _timeout):
        return self.LMOVE(source, target, out, into)

    def BLPOP(self, *arguments):
        for key in arguments[:-1]:
            if self.values.get(key):
                return [key, self.values[key].pop(0)]
        return None

    def LREM(self, key, count, element):
        items, count = self.values.get(key, []), int(count)
        found = [at for at, item in enumerate(items) if item == element]
        gone = found[:count] if count > 0 else found[count:] if count < 0 else found
        for at in reversed(gone):
            del items[at]
        return len(gone)

    def LINSERT(self, key, where, pivot, element):
        items = self.values.get(key)
        if not items:
            return 0
        if pivot not in items:
            return -1
        items.insert(items.index(pivot) + (where == b"AFTER"), element)
        return len(items)

    def LTRIM(self, key, first, last):
        items = self.values.get(key, [])
        first, last = int(first), int(last)
        items[:] = items[first if first >= 0 else max(len(items) + first, 0):(last + 1) or None]
        return OK

    def LSET(self, key, index, element):
        items, index = self.values.get(key), int(index)
        if not items:
            return NO_KEY
        if not -len(items) <= index < len(items):
            return (b"-ERR index out of range",)
        items[index] = element
        return OK

    # --- strings ---

    def SET(self, key, text):
        self.values[key] = text
        self.expiries.pop(key, None)
        return OK

    def APPEND(self, key, text):
        self.values[key] = self.values.get(key, b"") + text
        return len(self.values[key])

    def SETRANGE(self, key, offset, text):
        old, offset = self.values.get(key, b""), int(offset)
        self.values[key] = old[:offset].ljust(offset, b"\0") + text + old[offset + len(text):]
        return len(self.values[key])

    def INCRBY(self, key, step):
        self.values[key] = b"%d" % (int(self.values.get(key, b"0")) + int(step))
        return int(self.values[key])

    # --- sets ---

    def members(self, key):
        return self.values.setdefault(key, {})

    def remove(self, key, members):
        there = self.values.get(key, {})
        return sum(there.pop(member, None) is not None for member in members)

    def SADD(self, key, *members):
        there = self.members(key)
        before = len(there)
        there.update(dict.fromkeys(members, b""))
        return len(there) - before

    def SREM(self, key, *members):
        return self.remove(key, members)

    def SPOP(self, key, count=None):
        """Members come in any order; a single one is chosen at random: the next command adds all again."""
        if count is not None:
            self.values.pop(key, None)
        return ...

    # --- hashes ---

    def HSET(self, key, *parts):
        there = self.members(key)
        before = len(there)
        there.update((field, (value, None)) for field, value in zip(parts[::2], parts[1::2]))
        return len(there) - before

    def HDEL(self, key, *fields):
        return self.remove(key, fields)

    def HINCRBY(self, key, field, step):
        value, expiry = self.members(key).get(field, (b"0", None))
        self.values[key][field] = b"%d" % (int(value) + int(step)), expiry
        return int(value) + int(step)

    def HINCRBYFLOAT(self, key, field, step):
        """Steps are halves, as -3.5."""
        value, expiry = self.members(key).get(field, (b"0", None))
        text = (b"%.1f" % (float(value) + float(step) + 0.0)).removesuffix(b".0")
        self.values[key][field] = text, expiry
        return text

    def HPEXPIREAT(self, key, at_ms, _fields, _one, field):
        value = self.values.get(key, {}).get(field)
        if value is None:
            return [-2]
        self.values[key][field] = value[0], int(at_ms)
        return [1]

    def HPERSIST(self, key, _fields, _one, field):
        value = self.values.get(key, {}).get(field)
        if value is None or value[1] is None:
            return [-2 if value is None else -1]
        self.values[key][field] = value[0], None
        return [1]

    # --- sorted sets ---

    def ZADD(self, key, *parts):
        there = self.members(key)
        before = len(there)
        there.update((member, int(score)) for score, member in zip(parts[::2], parts[1::2]))
        return len(there) - before

    def ZINCRBY(self, key, step, member):
        there = self.members(key)
        there[member] = there.get(member, 0) + int(step)
        return b"%d" % there[member]

    def ZREM(self, key, *members):
        return self.remove(key, members)

    def in_order(self, key):
        return sorted(self.values.get(key, {}).items(), key=lambda pair: (pair[1], pair[0]))

    def ZREMRANGEBYRANK(self, key, first, last):
        return self.remove(key, [member for member, _ in self.in_order(key)[int(first):int(last) + 1]])

    def pop_scored(self, key, pairs):
        self.remove(key, [member for member, _ in pairs])
        return [part for member, score in pairs for part in (member, b"%d" % score)]

    def ZPOPMIN(self, key, count):
        return self.pop_scored(key, self.in_order(key)[:int(count)])

    def ZPOPMAX(self, key, count):
        return self.pop_scored(key, self.in_order(key)[::-1][:int(count)])

    def BZPOPMIN(self, key, _timeout):
        return [key, *self.ZPOPMIN(key, b"1")] if self.values.get(key) else None

    # --- libraries of functions: the name of one has no dot, that of what is noted has ---

    def library_key(self, name):
        return next((key for key in self.values if key[:1] == b"f" and library_of(key) == name), None)

    def FUNCTION(self, what, *arguments):
        if what == b"LOAD":
            head, version = arguments[-1].split(b"\n")[:2]
            name = head.split(b"=")[1]
            self.put(b"f" + name[1:2] + b"." + name[3:], version.split(b"'")[1])
            return name
        key = self.library_key(arguments[0])
        if key is None:
            return (b"-ERR Library not found",)
        self.drop(key)
        self.note(key)
        return OK

    def FCALL(self, name, _one, key, element):
        library = self.library_key(name)
        if library is None:
            return (b"-ERR Function not found",)
        self.list(key).extend((element, self.values[library]))
        self.note(key)
        return self.values[library]

    # --- any ---

    def DEL(self, *keys):
        return sum(self.drop(key) for key in keys)

    def drop(self, key):
        self.expiries.pop(key, None)
        return self.values.pop(key, None) is not None

    def RENAME(self, key, other):
        if key not in self.values:
            return NO_KEY
        if key != other:
            value, expiry = self.values.pop(key), self.expiries.pop(key, None)
            self.drop(other)
            self.values[other] = value
            if expiry is not None:
                self.expiries[other] = expiry
        return OK

    def COPY(self, key, other, _replace):
        if key not in self.values:
            return 0
        value = self.values[key]
        self.drop(other)
        self.values[other] = copy_of(value)
        if key in self.expiries:
            self.expiries[other] = self.expiries[key]
        return 1

    def PEXPIREAT(self, key, at_ms):
        return self.expire(key, int(at_ms))

    def EXPIRE(self, key, seconds):
        return self.expire(key, -10 - int(seconds) * 1000 // FAR_MS)

    def expire(self, key, at):
        if key not in self.values:
            return 0
        self.expiries[key] = at
        return 1

    def PERSIST(self, key):
        return int(self.expiries.pop(key, None) is not None)
