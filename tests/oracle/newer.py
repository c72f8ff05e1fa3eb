"""Commands that no reference has: LMOVEM and BLMOVEM, LPUSHBOUND and RPUSHBOUND. The reference makes the same change by
a transaction of older commands. Replies, lists and append-only files must be the same.
"""
from appended import OPTIONS, Written, same_units
from servers import start_pair

KEYS = [b"p", b"q", b"s", b"text"]
SIDES = [b"LEFT", b"RIGHT"]
COMMANDS = 1500
WRONG_TYPE = b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
FILLS = [b"-2", b"1", b"5", b"128"]


class Reference:
    """Makes each change by older commands, and returns the reply that is expected."""

    def __init__(self, link, protocol):
        self.call = link.call
        self.null = b"*-1\r\n" if protocol == 2 else b"_\r\n"

    def length(self, key):
        reply = self.call(b"LLEN", key)
        return None if reply.startswith(b"-") else int(reply[1:-2])

    def transaction(self, commands):
        self.call(b"MULTI")
        for argv in commands:
            self.call(*argv)
        assert b"-" not in self.call(b"EXEC").split(b"\r\n")[0]

    def move(self, source, destination, out, into, mode=b"COUNT", count=b"1", order=b"OBO"):
        length, count = self.length(source), int(count)
        if length is None:
            return WRONG_TYPE
        if length == 0 or (mode == b"EXACTLY" and length < count):
            return self.null
        if self.length(destination) is None:
            return WRONG_TYPE
        count = min(count, length)
        detour = order == b"BULK" and out == into
        end = SIDES[into == b"LEFT"] if detour else into
        self.transaction([[b"LMOVE", source, destination, out, end]] * count
                         + [[b"LMOVE", destination, destination, end, into]] * (count if detour else 0))
        block = (b"0", b"%d" % (count - 1)) if into == b"LEFT" else (b"-%d" % count, b"-1")
        return self.call(b"LRANGE", destination, *block)

    def push(self, end, key, most, option, elements):
        length, most = self.length(key), int(most)
        if length is None:
            return WRONG_TYPE
        misfits = min(len(elements), max(0, length + len(elements) - most))
        if option == b"REJECT" and misfits:
            return b":-%d\r\n" % misfits
        kept = elements[-most:]
        trim = [b"0", b"%d" % (most - 1)] if end == b"LPUSH" else [b"-%d" % most, b"-1"]
        commands = [[end, key, *kept]]
        if length + len(kept) > most:
            commands.append([b"LTRIM", key, *trim])
        self.transaction(commands)
        return self.call(b"LLEN", key)


def random_move(rng):
    """LMOVEM or BLMOVEM, and what the reference is to do."""
    ends = [rng.choice(KEYS), rng.choice(KEYS), rng.choice(SIDES), rng.choice(SIDES)]
    several = [] if rng.random() < 0.1 else [
        rng.choice([b"COUNT", b"EXACTLY"]), b"%d" % rng.randint(1, 12), rng.choice([b"OBO", b"BULK"])]
    name, timeout = rng.choice([(b"LMOVEM", []), (b"BLMOVEM", [b"0.001"])])
    return [name, *ends, *timeout, *several], lambda reference: reference.move(*ends, *several)


def random_push(rng):
    end, key, most = rng.choice([b"LPUSH", b"RPUSH"]), rng.choice(KEYS), b"%d" % rng.randint(1, 20)
    option = rng.choice([[], [b"EVICT"], [b"REJECT"]])
    elements = [b"%d" % rng.randint(0, 9999) if rng.random() < 0.5 else b"e" * rng.choice([0, 1, 60, 700])
                for _ in range(rng.randint(1, 25))]
    return ([end + b"BOUND", key, most, *option, *elements],
            lambda reference: reference.push(end, key, most, b"".join(option), elements))


def lists_of(link):
    return [link.call(b"LRANGE", key, b"0", b"-1") for key in KEYS]


def check_protocol(pair, rng, protocol):
    for written in pair:
        written.link.call(b"HELLO", b"%d" % protocol)
        written.link.call(b"FLUSHALL")
        written.link.call(b"SET", b"text", b"no list")
    mine, theirs = (written.link for written in pair)
    reference = Reference(theirs, protocol)
    for _ in range(COMMANDS):
        if rng.random() < 0.02:
            fill = rng.choice(FILLS)
            for link in (mine, theirs):
                link.call(b"CONFIG", b"SET", b"list-max-listpack-size", fill)
        argv, model = rng.choice([random_move, random_push])(rng)
        found, expected = [mine.call(*argv), lists_of(mine)], [model(reference), lists_of(theirs)]
        if found != expected:
            print(f"DIFFERENCE after {argv!r}\n  packlist:  {found!r:.1000}\n  reference: {expected!r:.1000}")
            return False
    return True


def check_newer(_servers, rng):
    pair = [Written(server) for server in start_pair(OPTIONS)]
    passed = [check_protocol(pair, rng, protocol) for protocol in (2, 3)]
    passed.append(same_units(pair))
    passed += [written.server.stop() for written in pair]
    return sum(passed), len(passed) - sum(passed)
