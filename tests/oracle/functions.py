"""Libraries of functions: the same FUNCTION and FCALL commands at both servers. Payloads of FUNCTION DUMP are brought
from each server to the other. The order in which a server lists libraries, functions and flags is its own.
"""
from commands import Generator
from scripts import IN_RESP3, RUN, value, words_of_commands
from resp import Link, elements, text_of

ROUNDS = 1500
LIBRARIES = [b"one", b"two", b"THREE", b"four_4"]
FUNCTIONS = [b"f", b"g", b"H", b"with_a_longer_name", b"f2", b"g2"]
ERRORS = [b"'text'", b"'MY text', 0", b"5", b"{err = 'MY text'}"]  # Redis 7.0 crashes when a table has no err
FLAGS = [b"no-writes", b"allow-oom", b"allow-stale", b"no-cluster", b"allow-cross-slot-keys"]


def without_order(reply):
    """Of FUNCTION LIST: libraries, functions and flags in the order of their bytes. An aggregate is (kind, [values])
    then."""
    kind = reply[:1]
    if kind not in b"*~%" or reply[1:3] == b"-1":
        return reply
    values = [without_order(one) for one in elements(reply)]
    is_map = kind == b"%" or values[:1] in ([b"$12\r\nlibrary_name\r\n"], [b"$4\r\nname\r\n"])
    return kind, values if is_map else sorted(values, key=repr)


class Scene:
    """Both servers without functions and keys."""

    def __init__(self, servers, rng, protocol):
        self.links, self.random = [Link(server) for server in servers], rng
        self.generator = Generator(rng, servers[1].redis_version())
        for link in self.links:
            link.call(b"HELLO", b"%d" % protocol)
            link.call(b"FLUSHALL")
            link.call(b"FUNCTION", b"FLUSH")

    def close(self):
        for link in self.links:
            link.call(b"FUNCTION", b"FLUSH")
            link.close()

    # --- Code ---

    def body(self):
        """(body, whether it takes commands as arguments)"""
        rng = self.random
        setting = rng.choice([b"", IN_RESP3])
        return rng.choice([
            lambda: (setting + RUN % {b"arguments": b"args"}, True),
            lambda: (setting + RUN % {b"arguments": b"args"}, True),
            lambda: (setting + b" return " + value(rng), False),
            lambda: (b"return {#keys, #args, keys[1] or false, args[#args] or false}", False),
            lambda: (b"return redis.call(unpack(args))", False),
            lambda: (b"calls = calls + 1 return calls", False),
            lambda: (rng.choice([b"error(%s)" % rng.choice(ERRORS), b"local x = nil return x.y", b"return nosuch",
                                 b"x = 1",
                                 b"return KEYS", b"redis.register_function('z', print)"]), False),
        ])()

    def registration(self, may_fail, name):
        rng, mistake = self.random, ""
        body, _ = self.body()
        function = b"function(keys, args)\n%s\nend" % body
        if rng.random() < 0.4:
            return b"redis.register_function('%s', %s)\n" % (name, function)
        parts = [b"function_name = '%s'" % name, b"callback = %s" % function]
        if may_fail and rng.random() < 0.08:
            mistake = rng.choice(["flag", "description", "missing"])  # one, or the servers might report different ones
        if rng.random() < 0.6 or mistake == "flag":
            flags = rng.sample(FLAGS, rng.randrange(4)) + [b"nosuch"] * (mistake == "flag")
            parts.append(b"flags = {%s}" % b", ".join(b"'%s'" % flag for flag in flags))
        if rng.random() < 0.3 or mistake == "description":
            parts.append(b"description = %s" % (b"{}" if mistake == "description" else
                                                rng.choice([b"'what it does'", b"''", b"5"])))
        if mistake == "missing":
            parts.pop(rng.randrange(2))
        rng.shuffle(parts)
        return b"redis.register_function{%s}\n" % b", ".join(parts)

    def code(self, may_fail):
        """A library. Unless it may fail, no error is raised while its code runs."""
        rng = self.random
        if may_fail and rng.random() < 0.1:
            return rng.choice([b"", b"return 1", b"#!lua\n", b"#!lua name=a.b\n", b"#!js name=one\n", b"#!lua name=one",
                               b"#!lua name=one\nfoo(", b"#!lua name=one\nredis.nosuch()", b"#!lua name=one x=1\n",
                               b"#!lua name=one\n", b"#!lua name=one\nredis.log(redis.LOG_DEBUG, 'x')",
                               b"#!LUA NAME=one\nx=1"])
        library = rng.choice(LIBRARIES)
        if may_fail:
            names = [rng.choice(FUNCTIONS) for _ in range(rng.randint(1, 3))]
        else:  # no other library has them
            names = [b"%s_%s" % (name, library) for name in rng.sample(FUNCTIONS, rng.randint(1, 3))]
        functions = b"".join(self.registration(may_fail, name) for name in names)
        return b"#!lua name=%s\nlocal calls = 0\n%s" % (library, functions)

    # --- Commands ---

    def load(self):
        """Redis 7.0 and 8.0 have crashed when code that replaces a library raises an error."""
        if self.random.random() < 0.5:
            return [b"FUNCTION", b"LOAD", self.code(True)]
        return [b"FUNCTION", b"LOAD", self.random.choice([b"REPLACE", b"replace"]), self.code(False)]

    def call(self):
        rng = self.random
        keys = rng.choice([[b"0"], [b"0"], [b"0"], [b"1", b"l1"], [b"2", b"l1", b"s1"], [b"-1"], [b"x"], [b"99"]])
        arguments = rng.choice([lambda: words_of_commands(self.generator), lambda: self.generator.list_read(),
                                lambda: self.generator.list_write(), lambda: []])()
        name = rng.choice(FUNCTIONS + [b"nosuch"]) + rng.choice([b"", b"_" + rng.choice(LIBRARIES)])
        return [rng.choice([b"FCALL", b"FCALL", b"FCALL", b"FCALL_RO"]),
                rng.choice([name, name.upper(), name.lower()]), *keys, *arguments]

    def listing(self):
        rng = self.random
        return [b"FUNCTION", b"LIST", *rng.choice([
            [], [b"WITHCODE"], [b"LIBRARYNAME", rng.choice([b"*", b"t*", b"[ot]*", b"THREE", b"", b"\\"])],
            [b"withcode", b"libraryname", b"f*"], [b"LIBRARYNAME"], [b"X"]])]

    def other(self):
        rng = self.random
        return [b"FUNCTION", *rng.choice([
            lambda: [b"DELETE", rng.choice(LIBRARIES + [b"nosuch"])],
            lambda: [b"FLUSH", *rng.choice([[], [b"SYNC"], [b"ASYNC"], [b"X"]])] if rng.random() < 0.1 else [b"STATS"],
            lambda: [b"STATS"],
            lambda: [b"KILL"],
            lambda: [b"RESTORE", rng.choice([b"", b"x" * 20, b"\x0a\x00\x5d\x9b\\@\x0f\x7f\xa2\xda"]),
                     *rng.choice([[], [b"X"], [b"APPEND"]])],
            lambda: [rng.choice([b"NOSUCH", b"DUMP"]), b"x"],
        ])()]

    def argv(self):
        return self.random.choices([self.load, self.call, self.listing, self.other], [4, 10, 2, 2])[0]()

    # --- Comparing ---

    def comparable(self, argv, reply):
        """Of several libraries or functions that exist already, each server names another one."""
        if reply.startswith((b"-ERR Function ", b"-ERR Library ")) and reply.endswith(b" already exists\r\n"):
            return reply.split()[1]
        return without_order(reply) if argv[1] == b"LIST" else reply

    def differs(self, argv):
        replies = [link.call(*argv) for link in self.links]
        if self.comparable(argv, replies[0]) == self.comparable(argv, replies[1]):
            return False
        print(f"DIFFERENCE after {b' '.join(argv)!r}\n"
              f"  packlist:  {replies[0]!r:.600}\n  reference: {replies[1]!r:.600}")
        return True

    def exchange(self):
        """Brings what one server dumps to both, in the place of what they have or beside it."""
        giver = self.random.choice(self.links)
        reply = giver.call(b"FUNCTION", b"DUMP")
        payload = text_of(reply)
        if self.random.random() < 0.3:
            self.differs([b"FUNCTION", b"DELETE", self.random.choice(LIBRARIES)])
        policy = self.random.choice([b"FLUSH", b"REPLACE", b"APPEND"])
        return (self.differs([b"FUNCTION", b"RESTORE", payload, policy])
                or self.differs([b"FUNCTION", b"LIST", b"WITHCODE"]))


def check_functions(servers, rng):
    passed = failed = 0
    for protocol in (2, 3):
        scene = Scene(servers, rng, protocol)
        for _ in range(ROUNDS):
            bad = scene.exchange() if rng.random() < 0.02 else scene.differs(scene.argv())
            failed += bad
            if bad:
                break
        else:
            passed += 1
        scene.close()
    return passed, failed
