"""Users: two whose random rights are the same at both servers run random commands: what is denied there is denied here,
with the same text. Their rights change meanwhile, also between MULTI and EXEC."""
import re

from resp import Link, encode

USERS = (b"anna", b"bert")
SEGMENTS = 60  # in a round
SEGMENT = 12  # about so many commands
# Redis 7.0 has other texts of denials.
DENIALS = re.compile(rb"(NOPERM|ERR ACL failure in script:|ERR The user executing the script can't) [^\r]*")

KEY_PATTERNS = [b"a", b"b", b"c", b"[a-c]", b"?", b"list:4", b"l*", b"*:*", b"text", b"t*", b"z*", b"za", b"z[bc]",
                b"x*", b"xa", b"*", b"**", b"?b*", b"", b"s*", b"h*", b"[^a]*", b"reserve"]
CHANNELS = [b"news", b"news.art", b"n"]
COMMAND_RULES = [b"+@all", b"-@all", b"+@read", b"-@read", b"+@write", b"-@write", b"+@list", b"-@list",
                 b"+@string", b"-@string", b"+@sortedset", b"+@fast", b"-@slow", b"-@dangerous", b"+@keyspace",
                 b"+@stream", b"+@hash", b"-@hash", b"+@set", b"-@set", b"+@scripting", b"-@scripting",
                 b"+@transaction", b"+@connection", b"-@connection", b"+@blocking", b"-@blocking", b"+@bitmap",
                 b"-@admin", b"+get", b"-get", b"+set", b"-set", b"+lpush", b"-rpush", b"+object", b"-object",
                 b"+object|encoding", b"-object|encoding", b"+select|0", b"+select", b"-select", b"+eval", b"-eval",
                 b"+sort", b"+xread", b"-multi", b"+multi", b"-exec", b"+copy", b"+client|getname",
                 b"+command|getkeys", b"+debug|digest", b"+swapdb", b"-flushdb", b"+keys"]
# RESET would log out; payloads of hashes whose fields expire are not compared. Also left out is DEBUG SLEEP, after
# which a key has expired only if it was allowed.
LEFT_OUT = (b"RESET", b"DUMP")
# With a number of keys that is none the reference checks as many keys as the beginning of the text says; the command
# refuses it then in both servers.
COUNTED = {b"LMPOP": 1, b"ZMPOP": 1, b"BLMPOP": 2, b"BZMPOP": 2, b"EVAL": 2, b"EVALSHA": 2, b"EVAL_RO": 2, b"ZUNION": 1,
           b"ZINTER": 1, b"ZDIFF": 1, b"ZINTERCARD": 1, b"SINTERCARD": 1, b"ZUNIONSTORE": 2, b"ZINTERSTORE": 2,
           b"ZDIFFSTORE": 2}


def random_rules(rng, most):
    """Rules of a selector, or of a user."""
    rules = []
    for _ in range(rng.randint(0, most)):
        kind = rng.random()
        if kind < 0.4:
            pattern = rng.choice(KEY_PATTERNS)
            # %RW~* is here what it is when it was saved and loaded, allkeys: there it is a pattern before that.
            kinds = [b"~", b"%R~"] if pattern == b"*" else [b"~", b"~", b"~", b"%R~", b"%W~", b"%RW~"]
            rules.append(rng.choice(kinds) + pattern)
        elif kind < 0.5:
            rules.append(b"&" + rng.choice(CHANNELS))
        else:
            rules.append(rng.choice(COMMAND_RULES))
    # Behind allkeys a pattern is an error.
    return [b"resetkeys", b"resetchannels", *rules] if rng.random() < 0.1 else rules


def random_user(rng):
    """ACL SETUSER: all of it anew, or a change."""
    rules = [b"reset", b"on", b"nopass"] if rng.random() < 0.5 else []
    if rules and rng.random() < 0.9:
        rules += [rng.choice([b"+@all", b"+@all", b"+@all", b"+@read", b"+@write"])]
        rules += rng.choice([[b"~**"], [b"~**"], [b"~[a-c]", b"~[zxsh]*", b"~list:*"], []])
    rules += random_rules(rng, 6)
    if rng.random() < 0.3:
        rules.append(b"(" + b" ".join([b"+@all", *random_rules(rng, 4)]) + b")")
    if rng.random() < 0.1:
        rules.append(b"clearselectors")
    return [b"ACL", b"SETUSER", rng.choice(USERS), *rules]


def is_in_script(argv, *words):
    """Whether the words stand in the arguments of a script, as a count of words and a command do."""
    return argv[0].upper() == b"EVAL" and words in zip(argv, map(bytes.upper, argv[1:]))


def is_comparable(argv):
    name = argv[0].upper()
    at = COUNTED.get(name)
    if name == b"PFMERGE" and len(argv) == 2 or is_in_script(argv, b"2", b"PFMERGE"):
        return False  # the reference checks no key, not even the one that it writes
    if name in LEFT_OUT or (name == b"DEBUG" and argv[1:2] in ([b"PROTOCOL"], [b"SLEEP"])):
        return False
    return at is None or at >= len(argv) or (argv[at].isdigit() and argv[at] == b"%d" % int(argv[at]))


def own_command(rng, key):
    """Commands about users, channels and connections."""
    return rng.choice([
        lambda: [b"ACL", b"WHOAMI"],
        lambda: [b"PUBLISH", rng.choice(CHANNELS), b"hello"],
        lambda: [b"SPUBLISH", rng.choice(CHANNELS), b"hello"],
        lambda: [b"WATCH", key(), key()],
        lambda: [b"UNWATCH"],
        lambda: [b"EVAL", b"return redis.pcall('GET', ARGV[1])", b"0", key()],
        lambda: [b"EVAL", b"return {redis.acl_check_cmd('GET', ARGV[1]), redis.acl_check_cmd('LPUSH', ARGV[1], 'x')}",
                 b"0", key()],
        lambda: [b"SORT", key(), b"BY", b"w*", b"ALPHA"],
        lambda: [b"SORT", key(), b"ALPHA", b"GET", b"#"],
    ])()


def segments(rng, generator):
    """A list of (who, commands): by one of the users, or by the default user, who is not restricted."""
    change = (b"default", [random_user(rng)])
    if rng.random() < 0.2:
        return [change]
    if rng.random() < 0.05:  # alone: Redis 8.0 loses the reply of one that fails behind another command
        return [(rng.choice(USERS), [[b"AUTH", rng.choice([*USERS, b"nobody"]), b"any"]])]
    commands = []
    while len(commands) < rng.randint(1, SEGMENT):
        made = [own_command(rng, generator.key)] if rng.random() < 0.1 else generator.sequence()
        if all(map(is_comparable, made)):
            commands += made
    who = rng.choice([*USERS, *USERS, b"default"])
    cut = rng.randrange(len(commands) + 1)
    return [(who, commands[:cut]), change, (who, commands[cut:])] if rng.random() < 0.2 else [(who, commands)]


def without_text(reply):
    return DENIALS.sub(b"denied", reply)


class Sides:
    """Connections of the users to both servers, in the same state."""

    def __init__(self, servers, protocol):
        self.links = {who: [Link(server) for server in servers] for who in (b"default", *USERS)}
        for link in self.links[b"default"]:
            link.call(b"FLUSHALL")
            for user in USERS:
                link.call(b"ACL", b"SETUSER", user, b"reset", b"on", b"nopass", b"+@all", b"~**")
        for who, links in self.links.items():
            for link in links:
                link.call(b"HELLO", b"%d" % protocol, b"AUTH", who, b"any")

    def run(self, who, commands):
        """The replies of both servers."""
        for link in self.links[who]:
            link.send(b"".join(map(encode, commands)))
        return [[link.reply() for _ in commands] for link in self.links[who]]

    def close(self):
        for links in self.links.values():
            for link in links:
                link.close()


def first_difference(servers, protocol, history, comparable):
    """Runs the segments from an empty state; (command, both replies) of the first difference, or None."""
    sides = Sides(servers, protocol)
    try:
        for who, commands in history:
            mine, theirs = sides.run(who, commands)
            for argv, *pair in zip(commands, mine, theirs):
                if comparable(argv, pair[0]) != comparable(argv, pair[1]):
                    return argv, pair
        return None
    finally:
        sides.close()


def shortest(history, differs):
    """Drops parts without which the history still `differs`, halves first."""
    chunk = len(history) // 2
    while chunk >= 1:
        at = 0
        while at < len(history):
            candidate = history[:at] + history[at + chunk:]
            if differs(candidate):
                history = candidate
            else:
                at += chunk
        chunk //= 2
    return history


def report(servers, protocol, history, comparable, found):
    """`found`: what first_difference has returned."""
    print(f"DIFFERENCE between users in RESP{protocol}, after:")
    single = [(who, [argv]) for who, commands in history for argv in commands]
    short = shortest(single, lambda some: first_difference(servers, protocol, some, comparable))
    again = first_difference(servers, protocol, short, comparable)
    for who, commands in short if again else [(b"(not again)", [found[0]])]:
        print(f"    {who.decode()}:", " ".join(ascii(word)[1:] for word in commands[0])[:400])
    mine, theirs = (again or found)[1]
    print(f"  packlist:  {mine!r:.400}\n  reference: {theirs!r:.400}", flush=True)


def check_users(servers, rng, generator, comparable, count):
    """About `count` commands, in rounds that begin anew. Returns (passed, failed) rounds."""
    passed = failed = run = 0
    if generator.reference < (7, 2):
        with_texts = comparable
        comparable = lambda argv, reply: with_texts(argv, without_text(reply))  # noqa: E731
    while run < count and failed < 3:
        protocol = generator.protocol = rng.choice([2, 3])
        history = [part for _ in range(SEGMENTS) for part in segments(rng, generator)]
        run += sum(len(commands) for _, commands in history)
        found = first_difference(servers, protocol, history, comparable)
        passed, failed = passed + (not found), failed + bool(found)
        if found:
            report(servers, protocol, history, comparable, found)
    for server in servers:
        with Link(server) as link:
            link.call(b"ACL", b"DELUSER", *USERS)
    return passed, failed
