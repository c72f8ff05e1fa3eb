"""Pools: values from which one writer takes many elements, and gives back exactly these. Nothing may be lost or
doubled: at any moment all of it is there, or all but what is being taken."""
from collections import Counter

from links import Trouble, pairs, run_as_one, tokens
from reads import Read, of_list, of_set, of_zset

BATCH = 5000
PADDING = b"=" + b"y" * 220
MARK = b"mark" + PADDING
MORE = b"more" + PADDING
DIFFERENT = 24  # elements of the list


def difference(all_elements, found):
    """{(element, how many of it are missing; less than 0: there are too many)}"""
    different = set(found)
    if len(different) == len(found) and different <= all_elements.keys() and max(all_elements.values()) == 1:
        return frozenset((element, 1) for element in all_elements.keys() - different)
    counts = Counter(all_elements)
    counts.subtract(Counter(found))
    return frozenset((element, count) for element, count in counts.items() if count)


class Pool:
    """`taken` has for each change what it takes, as a difference, or how many until the reply tells."""
    database, writers, is_copied = 0, 1, False

    def __init__(self, count):
        self.all_elements = Counter(self.make_elements(count))
        self.count = sum(self.all_elements.values())
        self.reads = [read for read in self.all_reads() if not read.constant and not read.is_part]
        self.taken = {}
        self.sent = self.acknowledged = self.settled_at = 0

    def fill(self, link):
        elements = list(self.all_elements.elements())
        for at in range(0, len(elements), BATCH):
            self.add(link, elements[at:at + BATCH])

    def mark(self):
        return self.acknowledged

    def settled(self):
        return self.settled_at

    def last(self):
        return self.sent

    def settle(self):
        oldest, self.settled_at = self.settled_at, self.acknowledged
        self.taken = {change: taken for change, taken in self.taken.items() if change > oldest}

    def check(self, read, reply, mark, last):
        self.check_missing(difference(self.all_elements, read.elements(reply)), mark, last)

    def check_missing(self, missing, mark, last):
        if not missing:
            return
        possible = [self.taken[change] for change in range(mark + 1, last + 1)]
        count = sum(count for _, count in missing)
        is_less = all(one > 0 for _, one in missing)
        if not any(missing == taken or is_less and count == taken for taken in possible):
            known = [len(taken) if isinstance(taken, frozenset) else taken for taken in possible]
            raise Trouble(f"{len(missing)} kinds of elements differ, {count} are missing: "
                          f"{str(list(missing)[:5])[:200]}; how many may be taken: {known}")

    # --- The writer

    def write(self, link, rng, _turn):
        try:
            self.give(link, self.take(link, rng))
        except (OSError, EOFError):
            link.again()
            self.recover(link)
        self.acknowledged = self.sent

    def recover(self, link):
        """The connection broke: what was taken, if anything, is given back."""
        while True:
            try:
                found = self.look.elements(link.raw(*self.look.steps[0]))
                missing = difference(self.all_elements, found)
                self.check_missing(missing, self.acknowledged, self.sent)
                self.give(link, missing)
                return
            except (OSError, EOFError):
                link.again()

    def begin(self, taken):
        self.taken[self.sent + 1] = taken
        self.sent += 1

    def give(self, link, missing):
        added = [element for element, count in missing for _ in range(count)]
        removed = [element for element, count in missing if count < 0]
        if added:
            self.add(link, added)
        for element in removed:
            self.expect(link, 1, [b"LREM", self.key, b"1", element])

    @staticmethod
    def expect(link, count, command):
        reply = run_as_one(link, [command])
        if reply != b":%d\r\n" % count:
            raise Trouble(f"{command[0]}: {reply[:100]} instead of {count}")


class SetPool(Pool):
    key = b"pool:set"
    look = Read(([b"SMEMBERS", key],), tokens)

    @staticmethod
    def make_elements(count):
        return [b"p:%d" % number for number in range(count)]

    def all_reads(self):
        return of_set([self.key])

    def add(self, link, elements):
        self.expect(link, len(elements), [b"SADD", self.key, *elements])

    def take(self, link, rng):
        count = rng.randint(1, self.count // 3)
        self.begin(count)
        found = tokens(run_as_one(link, [[b"SPOP", self.key, b"%d" % count]]))
        if len(set(found)) != count or len(found) != count:
            raise Trouble(f"SPOP {count} replies {len(found)} members, {len(set(found))} different ones")
        taken = frozenset((element, 1) for element in found)
        self.taken[self.sent] = taken
        return taken


class ZsetPool(Pool):
    """The score of each member is its number."""
    key = b"pool:zset"
    look = Read((b"ZRANGE pool:zset 0 -1 WITHSCORES".split(),), pairs)

    @staticmethod
    def make_elements(count):
        return [(b"%d" % number, b"%d" % number) for number in range(count)]

    def all_reads(self):
        return of_zset([self.key])

    def add(self, link, elements):
        self.expect(link, len(elements), [b"ZADD", self.key, *(word for element in elements for word in element)])

    def take(self, link, rng):
        count = rng.randint(1, self.count // 3)
        way = rng.choice([b"ZPOPMIN", b"ZPOPMAX", b"ZMPOP MIN", b"BZMPOP MAX", b"ZREMRANGEBYRANK", b"ZREMRANGEBYSCORE"])
        is_pop = not way.startswith(b"ZREM")
        first = rng.randint(0, self.count - count)
        if is_pop:
            first = 0 if way.endswith(b"MIN") else self.count - count
        numbers = range(first, first + count)
        taken = frozenset(((b"%d" % number, b"%d" % number), 1) for number in numbers)
        self.begin(taken)
        if not is_pop:
            self.expect(link, count, [way, self.key, b"%d" % numbers[0], b"%d" % numbers[-1]])
            return taken
        found = self.pop(link, way, count)
        order = numbers if way.endswith(b"MIN") else reversed(numbers)
        if found != [(b"%d" % number, b"%d" % number) for number in order]:
            raise Trouble(f"{way} {count} replies {len(found)} members: {found[:3]} … {found[-3:]}")
        return taken

    def pop(self, link, way, count):
        if b" " not in way:
            return pairs(run_as_one(link, [[way, self.key, b"%d" % count]]))
        command, end = way.split()
        timeout = [b"0"] if command.startswith(b"B") else []
        reply = run_as_one(link, [[command, *timeout, b"2", b"nosuch", self.key, end, b"COUNT", b"%d" % count]])
        found = tokens(reply)  # the first one is the key
        return list(zip(found[1::2], found[2::2]))


class ListPool(Pool):
    """A few elements, each there many times; and one that marks a place."""
    key = b"pool:list"
    look = Read((b"LRANGE pool:list 0 -1".split(),), tokens)

    @staticmethod
    def make_elements(count):
        return [MARK, *(b"%d" % (number % DIFFERENT) + PADDING for number in range(count))]

    def all_reads(self):
        return of_list([self.key])

    def add(self, link, elements):
        run_as_one(link, [[b"RPUSH", self.key, *elements]])

    def take(self, link, rng):
        way = rng.choice([self.remove, self.insert, self.pop])
        return way(link, rng)

    def remove(self, link, rng):
        element = b"%d" % rng.randrange(DIFFERENT) + PADDING
        count = self.all_elements[element]
        taken = frozenset([(element, count)])
        self.begin(taken)
        self.expect(link, count, [b"LREM", self.key, rng.choice([b"0", b"%d" % count, b"-%d" % count]), element])
        return taken

    def insert(self, link, rng):
        taken = frozenset([(MORE, -1)])
        self.begin(taken)
        self.expect(link, self.count + 1, [b"LINSERT", self.key, rng.choice([b"BEFORE", b"AFTER"]), MARK, MORE])
        return taken

    def pop(self, link, rng):
        """Only the reply tells which elements these were."""
        count = rng.randint(1, self.count // 10)
        self.begin(count)
        end = rng.choice([b"LPOP", b"RPOP"])
        found = Counter(tokens(run_as_one(link, [[end, self.key, b"%d" % count]])))
        taken = frozenset(found.items())
        self.taken[self.sent] = taken
        return taken


class Names:
    """A database with many keys: some stay, others come and go, are renamed and expire."""
    database, writers, is_copied = 7, 1, False
    reads = [Read((b"KEYS stay:*".split(),)), Read((b"KEYS *".split(),))]

    def __init__(self, count):
        self.staying = {b"stay:%d" % number for number in range(count)}

    def fill(self, link):
        staying = list(self.staying)
        for at in range(0, len(staying), BATCH):
            run_as_one(link, [[b"MSET", *(word for key in staying[at:at + BATCH] for word in (key, b"1"))]])

    def mark(self):
        return None

    settled = last = settle = mark

    def check(self, read, reply, _mark, _last):
        found = tokens(reply)
        staying = [name for name in found if name.startswith(b"stay:")]
        if len(set(found)) != len(found) or set(staying) != self.staying:
            raise Trouble(f"{len(found)} names, {len(set(found))} different ones, {len(set(staying))} of "
                          f"{len(self.staying)} that stay")

    def write(self, link, rng, _turn):
        names = [b"go:%d" % rng.randrange(len(self.staying)) for _ in range(100)]
        run_as_one(link, rng.choice([
            [[b"MSET", *(word for name in names for word in (name, b"1"))]], [[b"UNLINK", *names]],
            [[b"SET", name, b"1", b"PX", b"20"] for name in names],
            [[b"SET", names[0], b"1"], [b"RENAME", names[0], names[1]]]]))
