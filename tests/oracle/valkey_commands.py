"""Commands that Valkey 9 has and no Redis that is compared with: SET with IFEQ, DELIFEQ, MSETEX, the filters of CLIENT
LIST, COMMANDLOG, HSETEX with NX and XX, ZSCAN with NOSCORES, RESTORE-ASKING, BGSAVE CANCEL, words of SHUTDOWN, and keys
that expire in import-mode. They are compared with a valkey-server, if PATH has one.

Not asked: CLIENT LIST ID with wrong numbers, for which Packlist has Redis's errors; COMMAND GETKEYS of an MSETEX
without its last value, of which Valkey names keys that are none; which of two errors in one CLIENT LIST comes first, if
one is an unknown user; how many commands were slow."""
import os
import re

from peers import find_peers
from resp import Link, text_of
from servers import Server

KEYS = [b"a", b"b", b"c", b"", b"\x00\xff\r\n"]
OTHER_TYPE = b"list"
VALUES = [b"1", b"2", b"x", b"", b"01", b"9223372036854775807", b"y" * 70, b"\x00\r\n", b"get", b"ifeq"]
# Times that the two servers need not agree about to the millisecond.
TIMES = [[b"EXAT", b"33177117420"], [b"PXAT", b"33177117420000"], [b"PXAT", b"33177117420001"], [b"KEEPTTL"],
         [b"EXAT", b"1"], [b"EX", b"0"], [b"PX", b"x"], [b"EX", b"9223372036854775807"], [b"EXAT"]]
COUNTS = [b"0", b"-1", b"x", b"", b"1.5", b"9223372036854775807", b"9223372036854775808", b"4611686018427387905"]
NAMES = [b"one", b"two", b"three"]
HASHES = [b"h", b"i", OTHER_TYPE]
FIELDS = [b"f", b"g", b"x"]
HASH_TIMES = [[b"EXAT", b"33177117420"], [b"PXAT", b"33177117420001"], [b"KEEPTTL"]]
PAYLOAD = b"\x00\x01v\n\x00\x91\x08\xce\xb2\x198\x8a\xce"  # the string v, as RDB version 10 has it
COMMANDS = 3000
NAME = re.compile(rb" name=(\S*) ")


def find_valkey():
    """A Valkey that has been started, or None."""
    for name, path, argv0 in find_peers([]):
        if os.path.basename(path) == "valkey-server":
            return Server(name or "valkey", argv0 or path, path)
    return None


def key(rng):
    return OTHER_TYPE if rng.random() < 0.06 else rng.choice(KEYS)


def options(rng, *choices):
    """Some of them, in any order."""
    chosen = [choice for choice in choices if rng.random() < 0.35]
    rng.shuffle(chosen)
    return [word for choice in chosen for word in choice]


def msetex(rng, right_counts):
    """With this part of all counts being right ones."""
    pairs = [word for _ in range(rng.randint(1, 3)) for word in (key(rng), rng.choice(VALUES))]
    count = b"%d" % (len(pairs) // 2) if rng.random() < right_counts else rng.choice([b"1", b"2", b"4", *COUNTS])
    return [b"MSETEX", count, *pairs, *options(rng, [rng.choice([b"NX", b"XX"])], [b"nx"], rng.choice(TIMES))]


def clients(rng):
    filters = [[b"NAME", rng.choice(NAMES)], [b"DB", rng.choice([b"0", b"3", b"15", b"16", b"-1", b"x"])],
               [b"FLAGS", rng.choice([b"N", b"x", b"P", b"NP", b"Q", b"", b"tB"])],
               [b"CAPA", rng.choice([b"r", b"", b"q", b"rr"])], [b"LIB-NAME", rng.choice([b"lib", b"x"])],
               [b"LIB-VER", rng.choice([b"1.2", b""])], [b"USER", b"default"],
               [b"TYPE", rng.choice([b"normal", b"PubSub", b"master", b"nosuch"])],
               [b"IP", rng.choice([b"127.0.0.1", b"127.0.0.2"])], [b"ADDR", b"127.0.0.1:1"], [b"LADDR", b"x"]]
    words = []
    for words_of_one in rng.sample(filters, rng.randint(1, 3)):
        name = words_of_one[0]
        words += [b"NOT-" + name if rng.random() < 0.4 else name, *words_of_one[1:]]
    words += options(rng, [b"SKIPME", rng.choice([b"yes", b"no", b"x"])],
                     [rng.choice([b"IDLE", b"MAXAGE"]), rng.choice([b"0", b"x", b"1000000", b"-1"])])
    return [b"CLIENT", b"LIST", *(words if rng.random() < 0.95 else words[:-1])]


def hsetex(rng):
    """Well-formed: errors are Redis's."""
    pairs = [word for field in rng.sample(FIELDS, rng.randint(1, 3)) for word in (field, rng.choice(VALUES))]
    return [b"HSETEX", rng.choice(HASHES), *options(
        rng, [rng.choice([b"NX", b"XX"])], [rng.choice([b"nx", b"XX"])], [rng.choice([b"FNX", b"FXX"])],
        rng.choice(HASH_TIMES)), b"FIELDS", b"%d" % (len(pairs) // 2), *pairs]


def scan(rng):
    return [*rng.choice([[b"ZSCAN", b"zset"]] * 5 + [[b"ZSCAN", b"a"], [b"ZSCAN", OTHER_TYPE], [b"HSCAN", b"none"],
                                                     [b"SSCAN", b"none"]]),
            b"0", *options(rng, [rng.choice([b"NOSCORES", b"noscores", b"NOVALUES"])], [b"NOSCORES"],
                           [b"MATCH", rng.choice([b"m*", b"m1", b"*"])], [b"COUNT", b"100"][:rng.randint(1, 2)])]


def command(rng):
    return rng.choice([
        lambda: hsetex(rng),
        lambda: hsetex(rng),
        lambda: [b"HMGET", rng.choice(HASHES), *FIELDS],
        lambda: [b"HPEXPIRETIME", rng.choice(HASHES), b"FIELDS", b"3", *FIELDS],
        lambda: [b"EXISTS", rng.choice(HASHES)],
        lambda: [b"DEL", rng.choice(HASHES[:2])],
        lambda: scan(rng),
        lambda: [b"RESTORE-ASKING", rng.choice(KEYS), rng.choice([b"0", b"1", b"-1", b"33177117420000"]), PAYLOAD,
                 *options(rng, [b"REPLACE"], [rng.choice([b"x", b"IDLETIME"])]), b"ABSTTL"],
        lambda: [b"BGSAVE", *rng.choice([[b"cancel"], [b"x"], [b"CANCEL", b"x"], [b"SCHEDULE", b"CANCEL"]])],
        lambda: [b"SHUTDOWN", *options(rng, [b"NOSAVE"], [b"SAFE"], [b"now"], [b"x"], [b"ABORT"]), b"FAILOVER"],
        lambda: [b"SHUTDOWN", b"SAFE", b"ABORT"],
        lambda: [b"CLIENT", b"IMPORT-SOURCE", rng.choice([b"ON", b"ON", b"off", b"x"])],
        lambda: [b"EXPIREAT", rng.choice(KEYS), rng.choice([b"1", b"33177117420"])],
        lambda: [b"INCR", key(rng)],
        lambda: [b"TTL", b"none"],
        lambda: [b"SET", key(rng), rng.choice(VALUES), *options(
            rng, [b"IFEQ", rng.choice(VALUES)], [b"ifeq", rng.choice(VALUES)][:rng.randint(0, 2)],
            [b"GET"], [rng.choice([b"NX", b"XX"])], rng.choice(TIMES))],
        lambda: [b"SET", key(rng), rng.choice(VALUES), b"IFEQ", rng.choice(VALUES), *options(rng, [b"GET"])],
        lambda: [b"SET", rng.choice(KEYS), rng.choice(VALUES)],
        lambda: [b"DELIFEQ", key(rng), rng.choice(VALUES), *[b"x"] * (rng.random() < 0.05)],
        lambda: msetex(rng, 0.8),
        lambda: [b"COMMAND", b"GETKEYS", *msetex(rng, 1)],
        lambda: [b"PEXPIRETIME", key(rng)],
        lambda: [b"MGET", *KEYS],
        lambda: clients(rng),
        lambda: [b"COMMANDLOG", b"LEN", rng.choice([b"Large-Request", b"large-reply", b"x"])],
        lambda: [b"COMMANDLOG", b"GET", rng.choice([b"0", b"-1", *COUNTS]), rng.choice([b"large-request", b"x"])],
        lambda: [b"COMMANDLOG", b"RESET", rng.choice([b"large-reply", b""])],
        lambda: [b"SCRIPT", b"SHOW", rng.choice(VALUES)],
        lambda: [b"CLIENT", b"CAPA", rng.choice(VALUES)],
    ])()


def comparable(argv, reply):
    """Of clients their names."""
    if argv[:2] != [b"CLIENT", b"LIST"] or reply.startswith(b"-"):
        return reply
    return NAME.findall(text_of(reply))


def prepare(server, protocol, import_mode):
    """A link with an empty database, and other clients that differ in what filters ask for."""
    links = [Link(server) for _ in range(4)]
    for link, name in zip(links, [b"me", *NAMES]):
        link.call(b"HELLO", b"%d" % protocol, b"SETNAME", name)
    links[0].call(b"FLUSHALL")
    links[0].call(b"CONFIG", b"SET", b"import-mode", import_mode)
    links[0].call(b"RPUSH", OTHER_TYPE, b"x")
    links[0].call(b"ZADD", b"zset", b"1", b"m1", b"2.5", b"m2", b"inf", b"n")
    for kind in (b"large-request", b"large-reply"):
        links[0].call(b"COMMANDLOG", b"RESET", kind)
    for words in ([b"SELECT", b"3"], [b"CLIENT", b"CAPA", b"redirect"]):
        links[1].call(*words)
    for words in ([b"CLIENT", b"SETINFO", b"LIB-NAME", b"lib"], [b"CLIENT", b"SETINFO", b"LIB-VER", b"1.2"]):
        links[2].call(*words)
    links[3].call(b"MULTI")
    return links


def compare(servers, rng, protocol, import_mode):
    links = [prepare(server, protocol, import_mode) for server in servers]
    try:
        for _ in range(COMMANDS):
            argv = command(rng)
            mine, theirs = (comparable(argv, of_server[0].call(*argv)) for of_server in links)
            if mine != theirs:
                print(f"DIFFERENCE after {argv!r}\n  packlist: {mine!r:.500}\n  valkey:   {theirs!r:.500}")
                return False
        return True
    finally:
        for of_server in links:
            for link in of_server:
                link.close()


def check_valkey(servers, rng):
    """Returns (passed, failed)."""
    peer = find_valkey()
    if not peer:
        print("no valkey-server on PATH: what only Valkey has was not compared")
        return 0, 0
    passed = [compare([servers[0], peer], rng, protocol, import_mode)
              for protocol in (2, 3) for import_mode in (b"no", b"yes")]
    passed.append(peer.stop())
    return sum(passed), len(passed) - sum(passed)
