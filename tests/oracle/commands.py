"""Random commands over a few keys: mostly sensible, sometimes wrong in every way a client can be wrong."""
from collections_commands import CollectionGenerator
from geo import DISTANCES, GeoGenerator
from hyperloglog import HyperLogLogGenerator
from payloads import PayloadGenerator
from streams import KEYS as STREAMS, StreamGenerator
from scripts import script
from strings import StringGenerator, is_silent_in_redis
from zsets import ZsetGenerator

KEYS = [b"a", b"b", b"c", b"list:4", b"\x00binary\r\n\xff", b""]
STRING_KEY = b"text"
SIZES = [0, 1, 5, 31, 63, 64, 65, 200, 4095, 4096]


class Generator(StringGenerator, StreamGenerator, ZsetGenerator, GeoGenerator, PayloadGenerator, CollectionGenerator,
                HyperLogLogGenerator):
    LONGER = (b"EXEC", b"MOVE", b"SISMEMBER")  # may have more arguments than in the reference
    # An argument changed at random would ask for another server's cursor, for seconds that pass, or for memory.
    FIXED = (b"SCAN", b"SETBIT", b"SETRANGE", b"SETEX", b"PSETEX", b"SET", b"GETEX", b"EXPIRE", b"PEXPIRE", b"RESTORE",
             b"BITCOUNT", b"BITPOS", b"BITFIELD", b"SPOP", b"SRANDMEMBER", b"HRANDFIELD", b"SSCAN", b"HSCAN")

    def __init__(self, random, reference):
        self.random = random
        self.reference = reference  # its version, as (major, minor)
        self.protocol = 2

    # --- parts -------------------------------------------------------------------------------------

    def key(self):
        return STRING_KEY if self.random.random() < 0.03 else self.random.choice(KEYS)

    def element(self):
        roll = self.random.random()
        if roll < 0.35:
            return b"%d" % self.random.randint(-3, 12)
        if roll < 0.5:
            return self.integer_text()
        if roll < 0.9:
            return self.random.choice([b"x", b"y", b"hello", b"hellohello", b"", b"0x1", b"1.5"])
        size = self.random.choice(SIZES if roll < 0.995 else [8192, 20000, 70000])
        # No NUL, at which the reference's SORT ALPHA stops comparing.
        return bytes([self.random.choice(b"ab\r\n\x01\xff")]) * size

    def integer_text(self):
        bits = self.random.choice([6, 7, 8, 12, 13, 15, 16, 23, 24, 31, 32, 63])
        near = self.random.choice([1 << bits, -(1 << bits)]) + self.random.randint(-2, 2)
        text = b"%d" % near
        return self.random.choice([text, text, text, b"+" + text, b"0" + text, text + b" "])

    def index(self):
        roll = self.random.random()
        if roll < 0.8:
            return b"%d" % self.random.randint(-12, 12)
        if roll < 0.9:
            return b"%d" % self.random.randint(-300, 300)
        return self.random.choice([b"9223372036854775807", b"-9223372036854775808",
                                   b"9223372036854775808", b"-9223372036854775807", b"abc", b"",
                                   b"1.0", b" 1", b"4294967296", b"-0"])

    def negatable_index(self):
        """Newer servers, and Packlist, refuse the one index whose sign cannot be turned."""
        index = self.index()
        return b"-1" if index == b"-9223372036854775808" else index

    def lset_index(self):
        """Redis 8 looks at the low 32 bits only, where the list is a listpack."""
        index = self.index()
        is_long = index.lstrip(b"-").isdigit() and len(index) > 9
        return b"-1" if is_long and self.reference >= (8, 0) else index

    def count(self):
        roll = self.random.random()
        return b"%d" % self.random.randint(0, 6) if roll < 0.85 else self.index()

    def side(self):
        roll = self.random.random()
        return self.random.choice([b"LEFT", b"RIGHT", b"left", b"Right"]) if roll < 0.96 else b"up"

    def elements(self):
        many = self.random.random() < 0.03
        return [self.element() for _ in range(self.random.randint(1, 40 if many else 4))]

    def numkeys_and_keys(self):
        keys = [self.key() for _ in range(self.random.randint(1, 3))]
        number = b"%d" % len(keys) if self.random.random() < 0.93 else self.index()
        return [number, *keys]

    def spelled(self, word):
        return self.random.choice([word, word.lower(), word.title()])

    def options(self, *choices):
        """Some of the optional arguments, in any order."""
        chosen = [c for c in choices if self.random.random() < 0.4]
        self.random.shuffle(chosen)
        return [part for choice in chosen for part in choice]

    # --- commands ----------------------------------------------------------------------------------

    def list_write(self):
        pick = self.random.random()
        if pick < 0.55:
            name = self.random.choice([b"LPUSH", b"RPUSH", b"LPUSH", b"RPUSH", b"LPUSHX", b"RPUSHX"])
            return [name, self.key(), *self.elements()]
        return self.random.choice([
            lambda: [b"LPOP", self.key()],
            lambda: [b"RPOP", self.key()],
            lambda: [b"LPOP", self.key(), self.count()],
            lambda: [b"RPOP", self.key(), self.count()],
            lambda: [b"LSET", self.key(), self.lset_index(), self.element()],
            lambda: [b"LINSERT", self.key(), self.random.choice([b"BEFORE", b"after", b"AT"]),
                     self.element(), self.element()],
            lambda: [b"LREM", self.key(), self.negatable_index(), self.element()],
            lambda: [b"LTRIM", self.key(), self.index(), self.index()],
            lambda: [b"LMOVE", self.key(), self.key(), self.side(), self.side()],
            lambda: [b"RPOPLPUSH", self.key(), self.key()],
            lambda: [b"LMPOP", *self.numkeys_and_keys(), self.side(),
                     *self.options([b"COUNT", self.count()])],
        ])()

    def list_read(self):
        return self.random.choice([
            lambda: [b"LLEN", self.key()],
            lambda: [b"LRANGE", self.key(), self.index(), self.index()],
            lambda: [b"LRANGE", self.key(), b"0", b"-1"],
            lambda: [b"LINDEX", self.key(), self.index()],
            lambda: [b"LPOS", self.key(), self.element(), *self.options(
                [b"RANK", self.negatable_index()], [b"COUNT", self.count()], [b"MAXLEN", self.count()])],
        ])()

    def served_at_once(self):
        """Blocking commands that find an element in the reserve, or soon give up."""
        reserve = b"reserve"
        return self.random.choice([
            lambda: [b"BLPOP", self.key(), reserve, b"0.01"],
            lambda: [b"BRPOP", reserve, b"0.01"],
            lambda: [b"BLMOVE", reserve, self.key(), self.side(), self.side(), b"0.01"],
            lambda: [b"BRPOPLPUSH", reserve, self.key(), b"0.01"],
            lambda: [b"BLMPOP", b"0.01", b"2", self.key(), reserve, self.side(),
                     *self.options([b"COUNT", self.count()])],
            lambda: [b"BLPOP", self.key(), self.random.choice([b"-1", b"abc", b"1e5000", b"nan"])],
        ])()

    def key_command(self):
        return self.random.choice([
            lambda: [b"DEL", *[self.key() for _ in range(self.random.randint(1, 2))]],
            lambda: [b"UNLINK", self.key()],
            lambda: [b"EXISTS", *[self.key() for _ in range(self.random.randint(1, 4))]],
            lambda: [b"TYPE", self.key()],
            lambda: [b"KEYS", self.random.choice([b"*", b"?", b"[a-c]", b"l*", b"\\a", b"[^b]", b""])],
            lambda: [b"SCAN", b"0", b"COUNT", b"100000", *self.options(
                [b"MATCH", self.random.choice([b"*", b"?", b"l*"])],
                [b"TYPE", self.random.choice([b"list", b"string", b"nosuch"])])],
            lambda: [b"SCAN", self.random.choice([b"abc", b"-", b"1.0"])],
            lambda: [b"SCAN", b"0", self.random.choice([b"COUNT", b"FOO"]),
                     self.random.choice([b"0", b"-1", b"x"])],
            lambda: [b"DBSIZE"],
            lambda: [b"RANDOMKEY"],
            lambda: [b"SET", self.random.choice([STRING_KEY, self.key()]), self.element()],
            lambda: [b"GET", self.random.choice([STRING_KEY, self.key()])],
            lambda: [b"OBJECT", b"REFCOUNT", self.key()],
            lambda: [b"OBJECT", b"IDLETIME", self.key()],
            lambda: [b"OBJECT", b"FREQ", self.key()],
            lambda: [b"OBJECT", b"ENCODING", STRING_KEY],
            lambda: [b"DEBUG", b"DIGEST"],
            lambda: [b"DEBUG", b"DIGEST-VALUE", STRING_KEY, self.key(), self.key()],
        ])()

    def connection_command(self):
        return self.random.choice([
            lambda: [b"PING"],
            lambda: [b"PING", self.element()],
            lambda: [b"ECHO", self.element()],
            lambda: [b"SELECT", self.random.choice([b"0", b"1", b"15", b"16", b"-1", b"x"])],
            lambda: [b"CLIENT", b"GETNAME"],
            lambda: [b"CLIENT", b"SETNAME", self.random.choice([b"name", b"", b"a b", b"\xff"])],
            lambda: [b"HELLO", self.random.choice([b"4", b"1", b"x"])],
            lambda: [b"DEBUG", b"PROTOCOL", self.random.choice(
                [b"string", b"integer", b"double", b"null", b"array", b"set", b"map", b"true",
                 b"false", b"bignum", b"verbatim", b"nosuch"])],
            lambda: [b"COMMAND", b"GETKEYS", b"LMOVE", self.key(), self.key(), b"LEFT", b"LEFT"],
            lambda: [b"COMMAND", b"GETKEYS", b"RPUSH", self.key(), *self.elements()],
            lambda: [b"COMMAND", b"GETKEYS", b"LMPOP", b"2", self.key(), self.key(), b"LEFT"],
            lambda: [b"OBJECT", b"NOSUCH", self.key()],
            lambda: [b"FLUSHDB"],
        ])()

    def moving_command(self):
        """Commands that carry values from key to key."""
        return self.random.choice([
            lambda: [b"RENAME", self.key(), self.key()],
            lambda: [b"RENAMENX", self.key(), self.key()],
            lambda: [b"COPY", self.key(), self.key(), *self.options(
                [b"DB", self.random.choice([b"0", b"1", b"2", b"99", b"x"])], [b"REPLACE"])],
            lambda: [b"MOVE", self.key(), self.random.choice([b"0", b"1", b"2", b"16", b"x"])],
            lambda: [b"SWAPDB", self.random.choice([b"0", b"1"]), self.random.choice([b"1", b"2", b"x"])],
            lambda: [b"TOUCH", self.key(), self.key()],
            lambda: [self.random.choice([b"SORT", b"SORT_RO"]), self.key(), *self.sort_options()],
            lambda: [b"SORT", self.key(), *self.sort_options(), b"STORE", self.key()],
        ])()

    def sort_options(self):
        """By text or not at all: of equal weights the order is each server's own, and whether a text that is no
        number is an error depends in the reference on what failed before."""
        return self.options(
            [b"LIMIT", b"%d" % self.random.randint(-1, 5), b"%d" % self.random.randint(-1, 5)],
            [b"GET", self.random.choice([b"#", b"w*", b"x*->y"])],
            [self.random.choice([b"ASC", b"DESC"])]) + self.random.choice([[b"ALPHA"], [b"BY", b"nosort"]])

    def transaction(self):
        """MULTI … EXEC of commands whose replies are the same to the byte, with or without a WATCH that fails."""
        queued = [self.random.choice([self.list_write, self.list_read, self.string_command, self.zset_write])()
                  for _ in range(self.random.randint(0, 5))]
        # Encodings are compared with allowances, which reach no reply inside EXEC's.
        queued = [argv for argv in queued if argv[0] != b"OBJECT"]
        if self.random.random() < 0.1:
            queued.append(self.random.choice([[b"NOSUCH"], [b"LPOP"], [b"MULTI"], [b"WATCH", b"a"]]))
        watched = [[b"WATCH", self.key(), self.key()]] if self.random.random() < 0.4 else []
        if watched and self.random.random() < 0.5:
            change = self.random.choice([self.list_write, self.string_command])()
            watched += [] if is_silent_in_redis(change) else [change]
        if watched and self.random.random() < 0.2:
            watched.append([b"UNWATCH"])
        end = self.random.choice([b"EXEC", b"EXEC", b"EXEC", b"DISCARD"])
        return [*watched, [b"MULTI"], *queued, [end]]

    def passing_away(self):
        """A key that expires while the server sleeps for a moment, and is then looked for: the oracle must not
        depend on when the servers delete it."""
        key = self.key()
        other = b"a" if key == b"b" else b"b"
        born = self.random.choice([[[b"SET", key, b"v", b"PX", b"1"]],
                                   [[b"RPUSH", key, b"v"], [b"PEXPIRE", key, b"1"]]])
        return [*born, [b"DEBUG", b"SLEEP", b"0.004"],
                self.random.choice([[b"EXISTS", key], [b"LRANGE", key, b"0", b"-1"], [b"TYPE", key],
                                    [b"LPUSHX", key, b"x"], [b"APPEND", key, b"x"], [b"DEL", key],
                                    [b"PTTL", key], [b"COPY", key, other, b"REPLACE"]])]

    def sequence(self):
        """Commands that belong together; mostly one."""
        roll = self.random.random()
        if roll < 0.03:
            return self.transaction()
        if roll < 0.035:
            return self.passing_away()
        if roll < 0.06:
            return [script(self)]
        argv = self.command()
        # Scores that are distances may differ in their last digit, as the servers' libraries compute them.
        # Digests of streams with groups are Packlist's own.
        unlike = [DISTANCES, *(STREAMS if self.reference >= (8, 0) else [])]
        return [[b"DEL", *unlike], argv] if [word.upper() for word in argv] == [b"DEBUG", b"DIGEST"] else [argv]

    def mangled(self, argv):
        """A command with random mistakes."""
        argv = list(argv)
        roll = self.random.random()
        if argv[0] in (b"SORT", b"SORT_RO"):
            roll = 0.6  # only another name: the option that makes it sort by text must stay, see sort_options
        if roll < 0.3:
            argv.pop()
        elif roll < 0.6 and argv[0] not in self.LONGER:
            argv.append(self.element())
        elif roll < 0.75:
            argv[0] = self.random.choice([b"NOSUCH", b"lpus", b"lpushh", b"\x00", b"get\r\n", b"x" * 200])
        elif len(argv) > 1 and argv[0] not in (b"LREM", b"LPOS"):
            argv[self.random.randrange(1, len(argv))] = self.element()
        return argv or [b"PING"]

    def command(self):
        if self.random.random() < 0.25:
            kinds = [self.set_command, self.hash_command]
            if self.reference >= (8, 0):
                kinds.append(self.field_expiry_command)
            argv = self.random.choice(kinds)()
            return self.mangled(argv) if self.random.random() < 0.04 and argv[0] not in self.FIXED else argv
        if self.random.random() < 0.12:
            return self.stream_command()  # streams stay in keys of their own
        if self.random.random() < 0.08:
            return self.hyperloglog_command()
        if self.random.random() < 0.05 and self.reference >= (8, 0):
            return self.geo_command()  # so do places
        roll = self.random.random()
        if roll < 0.25:
            argv = self.list_write()
        elif roll < 0.35:
            argv = self.list_read()
        elif roll < 0.53:
            argv = self.zset_command()
        elif roll < 0.75:
            argv = self.string_command()
        elif roll < 0.79:
            argv = self.payload_command()
        elif roll < 0.82:
            argv = self.expiry_command()
        elif roll < 0.87:
            argv = self.moving_command()
        elif roll < 0.9:
            argv = self.served_at_once()
        elif roll < 0.97:
            argv = self.key_command()
        else:
            argv = self.connection_command()
        # Another number in these would make a blocking command wait or choose a cursor of the other server.
        # Sorted sets stay in keys of their own.
        # COMMAND GETKEYS reads a count like 1.5 as 1 there, and refuses it here, as the command itself does.
        fixed = (argv[0].startswith(b"B") or argv[0] in self.FIXED or argv[1:3] == [b"GETKEYS", b"LMPOP"]
                 or argv[0].startswith(b"Z"))
        if self.random.random() < 0.04 and not fixed:
            argv = self.mangled(argv)
        if self.random.random() < 0.2:
            argv[0] = self.spelled(argv[0])
        return argv
