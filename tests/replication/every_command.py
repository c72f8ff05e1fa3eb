"""Every command with which a server of another kind changes data: it runs there, and a replica here, and a server that
is started with the append-only file, must then have the same.

The commands are those that the server itself names as writing (COMMAND), so that a new one is noticed: it needs a line
in SAMPLES. Commands of types that Packlist does not have are in LACKING: they make a replica ask for all data again."""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib")]
from common import Trouble, call, check_same, contents, field, follow, is_in_step, wait_for  # noqa: E402
from digests import is_packlist  # noqa: E402
from resp import Link, value_of  # noqa: E402
from servers import Server, start_packlist  # noqa: E402

FAR_S, FAR_MS = b"33177117420", b"33177117420000"
CODE = b"#!lua name=%s\nredis.register_function('%s', function(keys, args) " \
       b"return redis.call('SET', keys[1], args[1]) end)"

# What is run for each command, "; " between the requests, of which the last ones must be the command itself; "|" begins
# a form that not every server knows. Of these words: @… is a key of this line, and $… is one of VALUES.
SAMPLES = """
append: SET @k a; APPEND @k b; APPEND @new c
bitfield: BITFIELD @k SET u8 0 200 OVERFLOW SAT INCRBY i4 8 9
bitop: MSET @a abc @b xy; BITOP AND @d @a @b; BITOP XOR @e @a @b; BITOP NOT @f @a
    | BITOP DIFF @g @a @b | BITOP DIFF1 @h @a @b | BITOP ANDOR @i @a @b | BITOP ONE @j @a @b
blmove: RPUSH @a 1 2 3; BLMOVE @a @b LEFT RIGHT 0
blmovem: RPUSH @a 1 2 3; BLMOVEM @a @b LEFT RIGHT 0 EXACTLY 2 BULK
blmpop: RPUSH @a 1 2 3; BLMPOP 0 2 @none @a RIGHT COUNT 2
blpop: RPUSH @a 1 2; BLPOP @none @a 0
brpop: RPUSH @a 1 2; BRPOP @none @a 0
brpoplpush: RPUSH @a 1 2; BRPOPLPUSH @a @b 0
bzmpop: ZADD @a 1 a 2 b 3 c; BZMPOP 0 1 @a MIN COUNT 2
bzpopmax: ZADD @a 1 a 2 b; BZPOPMAX @a 0
bzpopmin: ZADD @a 1 a 2 b; BZPOPMIN @a 0
copy: SET @a 1 EX 10000; COPY @a @b; COPY @a @b DB 2 REPLACE
decr: DECR @k
decrby: DECRBY @k 5
del: MSET @a 1 @b 2; DEL @a @none
delex: MSET @a 1 @b 1 @c 1; DELEX @a; DELEX @b IFEQ 1; DELEX @c IFNE 1
delifeq: MSET @a 1 @b 1; DELIFEQ @a 1; DELIFEQ @b 2
eval: EVAL $script 2 @a @b 1 2
evalsha: EVAL $script 2 @a @b 1 2; EVALSHA $sha 2 @c @d 3 4
expire: MSET @a 1 @b 1 @c 1; EXPIRE @a 10000; EXPIRE @b -1; EXPIRE @c 10000 NX
expireat: SET @a 1; EXPIREAT @a $far_s GT; EXPIREAT @a $far_s LT
fcall: FUNCTION LOAD REPLACE $called; FCALL called 1 @a 1
flushall: SET @a 1; FLUSHALL; FLUSHALL ASYNC
flushdb: SET @a 1; FLUSHDB SYNC; FLUSHDB
function|delete: FUNCTION LOAD $deleted; FUNCTION DELETE deleted
function|flush: FUNCTION LOAD $flushed; FUNCTION FLUSH
function|load: FUNCTION LOAD $loaded; FUNCTION LOAD REPLACE $loaded
function|restore: FUNCTION RESTORE $libraries REPLACE; FUNCTION RESTORE $libraries FLUSH
geoadd: GEOADD @a 13.361389 38.115556 Palermo; GEOADD @a NX CH 15.087269 37.502669 Catania
georadius: GEOADD @a 13.4 38.1 x; GEORADIUS @a 13 38 200 km STORE @d; GEORADIUS @a 13 38 200 km STOREDIST @e
georadiusbymember: GEOADD @a 13.4 38.1 x; GEORADIUSBYMEMBER @a x 200 km STORE @d
geosearchstore: GEOADD @a 13.4 38.1 x; GEOSEARCHSTORE @d @a FROMLONLAT 13 38 BYRADIUS 200 km
    | GEOSEARCHSTORE @e @a BYPOLYGON 3 10 30 20 30 15 50
getdel: SET @a 1; GETDEL @a
getex: SET @a 1; GETEX @a EX 10000; SET @b 1 EX 10000; GETEX @b PERSIST
getset: GETSET @a 1; GETSET @a 2
hdel: HSET @a f 1 g 2; HDEL @a f none
hexpire: HSET @ttl f 1 g 2; HEXPIRE @ttl 10000 FIELDS 1 f; HEXPIRE @ttl 0 FIELDS 1 g
hexpireat: HSET @ttl f 1; HEXPIREAT @ttl $far_s NX FIELDS 1 f
hgetdel: HSET @a f 1 g 2; HGETDEL @a FIELDS 2 f none
hgetex: HSET @ttl f 1 g 2; HGETEX @ttl EX 10000 FIELDS 1 f; HGETEX @ttl EX 10000 FIELDS 1 g;
    HGETEX @ttl PERSIST FIELDS 1 g
himport|set: HIMPORT PREPARE f a b; HIMPORT SET @a f 1 2; HIMPORT SET @a f 3 4
hincrby: HINCRBY @a f 5
hincrbyfloat: HINCRBYFLOAT @a f 0.1; HINCRBYFLOAT @a f 1e3
hmset: HMSET @a f 1 g 2
hpersist: HSET @a f 1; HEXPIRE @a 10000 FIELDS 1 f; HPERSIST @a FIELDS 1 f
hpexpire: HSET @ttl f 1; HPEXPIRE @ttl 10000000 FIELDS 1 f
hpexpireat: HSET @ttl f 1 g 1; HPEXPIREAT @ttl $far_ms FIELDS 1 f; HPEXPIREAT @ttl 1 FIELDS 1 g
hset: HSET @a f 1 g 2; HSET @a f 3
hsetex: HSETEX @ttl EX 10000 FIELDS 2 f 1 g 2; HSETEX @ttl FNX KEEPTTL FIELDS 1 h 1;
    HSETEX @ttl FXX KEEPTTL FIELDS 1 f 2
hsetnx: HSETNX @a f 1; HSETNX @a f 2
incr: INCR @k
incrby: INCRBY @k 5
incrbyfloat: INCRBYFLOAT @k 0.1; INCRBYFLOAT @k 5e3
increx: INCREX @a BYINT 5 UBOUND 100 EX 10000 ENX; INCREX @a UBOUND 5; INCREX @b BYFLOAT 0.5;
    INCREX @c BYINT 9 UBOUND 5 SATURATE
linsert: RPUSH @a 1 2; LINSERT @a BEFORE 2 x
lmove: RPUSH @a 1 2; LMOVE @a @b LEFT LEFT
lmovem: RPUSH @a 1 2 3 4 5; LMOVEM @a @b LEFT LEFT COUNT 2 OBO; LMOVEM @a @b RIGHT LEFT COUNT 2 BULK
lmpop: RPUSH @a 1 2 3; LMPOP 1 @a LEFT COUNT 2
lpop: RPUSH @a 1 2 3; LPOP @a; LPOP @a 1
lpush: LPUSH @a 1 2 3
lpushbound: LPUSHBOUND @a 2 1 2 3; LPUSHBOUND @a 4 REJECT 4
lpushx: LPUSHX @none 1; RPUSH @a 1; LPUSHX @a 2
lrem: RPUSH @a 1 2 1; LREM @a -1 1
lset: RPUSH @a 1 2; LSET @a 0 x
ltrim: RPUSH @a 1 2 3; LTRIM @a 1 -1
migrate: MIGRATE 127.0.0.1 1 @none 0 1000
move: MSET @a 1 @b 1; MOVE @a 3; SET @a 2 | MOVE @a 3 REPLACE; MOVE @b 3
mset: MSET @a 1 @b 2 @a 3
msetex: SET @c 1 EX 10000; MSETEX 2 @a 1 @b 2; MSETEX 2 @a 1 @b 2 XX EX 10000; MSETEX 1 @d 1 NX PXAT $far_ms;
    MSETEX 1 @c 2 KEEPTTL
msetnx: MSETNX @a 1 @b 2; MSETNX @b 1 @c 2
persist: SET @a 1 EX 10000; PERSIST @a
pexpire: SET @a 1; PEXPIRE @a 10000000
pexpireat: SET @a 1; PEXPIREAT @a $far_ms; PEXPIREAT @a 1
pfadd: PFADD @a 1 2 3
pfcount: PFADD @a 1; PFADD @b 2; PFMERGE @d @a @b; PFADD @a 9; PFCOUNT @a
pfdebug: PFADD @a 1; PFDEBUG TODENSE @a
pfmerge: PFADD @a 1; PFADD @b 2; PFMERGE @d @a @b
psetex: PSETEX @a 10000000 1
publish: PUBLISH channel message
rename: SET @a 1; RENAME @a @b
renamenx: SET @a 1; RENAMENX @a @b
restore: RESTORE @a 0 $payload; RESTORE @a 10000000 $payload REPLACE IDLETIME 5; RESTORE @b $far_ms $payload ABSTTL
restore-asking: RESTORE-ASKING @a 0 $payload
rpop: RPUSH @a 1 2 3; RPOP @a; RPOP @a 1
rpoplpush: RPUSH @a 1 2; RPOPLPUSH @a @b
rpush: RPUSH @a 1 2 3
rpushbound: RPUSHBOUND @a 2 EVICT 1 2 3
rpushx: RPUSH @a 1; RPUSHX @a 2
sadd: SADD @a 1 2 3; SADD @a x
sdiffstore: SADD @a 1 2; SADD @b 2 3; SDIFFSTORE @d @a @b
set: SET @a 1; SET @b 1 EX 10000; SET @a 2 XX GET; SET @c 1 NX PXAT $far_ms; SET @b 2 KEEPTTL
    | SET @a 3 IFEQ 2 | SET @a 4 IFEQ none | SET @a 5 IFEQ 3 GET EX 10000 | SET @a 6 IFNE 1 | SET @new 1 IFNE 1
    | SET @a 7 IFDNE 0000000000000000
setbit: SETBIT @a 7 1; SETBIT @a 70 1
setex: SETEX @a 10000 1
setnx: SETNX @a 1; SETNX @a 2
setrange: SETRANGE @a 5 abc
sinterstore: SADD @a 1 2; SADD @b 2 3; SINTERSTORE @d @a @b
smove: SADD @a 1 2; SMOVE @a @b 1
sort: RPUSH @a 3 1 2; SORT @a STORE @d; SORT @a LIMIT 0 2 DESC ALPHA STORE @d
spop: SADD @a 1 2 3 4 5; SPOP @a; SPOP @a 2; SADD @b 1 2; SPOP @b 9
spublish: SPUBLISH channel message
srem: SADD @a 1 2; SREM @a 1 9
sunionstore: SADD @a 1 2; SADD @b 2 3; SUNIONSTORE @d @a @b
swapdb: SET @a 1; SWAPDB 4 5; SWAPDB 0 6; SWAPDB 6 0
unlink: MSET @a 1 @b 1; UNLINK @a
xack: XADD @a 1-1 f 1; XGROUP CREATE @a g 0; XREADGROUP GROUP g c STREAMS @a >; XACK @a g 1-1 9-9
xackdel: XADD @a 1-1 f 1; XADD @a 2-1 f 2; XGROUP CREATE @a g 0; XGROUP CREATE @a h 0;
    XREADGROUP GROUP g c STREAMS @a >; XACKDEL @a g IDS 1 1-1; XACKDEL @a g ACKED IDS 1 2-1
xadd: XADD @a * f 1; XADD @a NOMKSTREAM MAXLEN ~ 100 * f 2; XADD @a MAXLEN 2 9999999999999-1 f 3;
    XADD @a MINID = 2-0 9999999999999-* f 4
    | XADD @a KEEPREF MAXLEN 2 * f 5 | XADD @a DELREF MAXLEN = 2 * f 6 | XADD @a ACKED MAXLEN ~ 2 * f 7
    | XADD @b IDMP p i * f 8 | XADD @b IDMPAUTO p * f 9
xautoclaim: XADD @a 1-1 f 1; XADD @a 2-1 f 2; XGROUP CREATE @a g 0; XREADGROUP GROUP g c STREAMS @a >; XDEL @a 1-1;
    XAUTOCLAIM @a g d 0 0; XAUTOCLAIM @a g e 0 0 JUSTID
xcfgset: XADD @a 1-1 f 1; XCFGSET @a IDMP-DURATION 50
xclaim: XADD @a 1-1 f 1; XGROUP CREATE @a g 0; XREADGROUP GROUP g c STREAMS @a >; XCLAIM @a g d 0 1-1;
    XCLAIM @a g e 0 1-1 IDLE 5 RETRYCOUNT 3 JUSTID; XCLAIM @a g f 0 9-9 LASTID 9-9; XDEL @a 1-1; XCLAIM @a g c 0 1-1
xdel: XADD @a 1-1 f 1; XADD @a 2-1 f 2; XDEL @a 1-1 9-9
xdelex: XADD @a 1-1 f 1; XADD @a 2-1 f 2; XADD @a 3-1 f 3; XDELEX @a IDS 1 1-1; XDELEX @a ACKED IDS 1 2-1
xgroup|create: XADD @a 1-1 f 1; XGROUP CREATE @a g $ ENTRIESREAD 1; XGROUP CREATE @b g 0 MKSTREAM
xgroup|createconsumer: XGROUP CREATE @a g 0 MKSTREAM; XGROUP CREATECONSUMER @a g c
xgroup|delconsumer: XADD @a 1-1 f 1; XGROUP CREATE @a g 0; XREADGROUP GROUP g c STREAMS @a >; XGROUP DELCONSUMER @a g c
xgroup|destroy: XGROUP CREATE @a g 0 MKSTREAM; XGROUP DESTROY @a g
xgroup|setid: XADD @a 1-1 f 1; XGROUP CREATE @a g 0; XGROUP SETID @a g $ ENTRIESREAD 1
xidmprecord: XADD @a 1-1 f 1; XIDMPRECORD @a p i 1-1
xnack: XADD @a 1-1 f 1; XGROUP CREATE @a g 0; XREADGROUP GROUP g c STREAMS @a >; XNACK @a g FAIL IDS 1 1-1
xreadgroup: XADD @a 1-1 f 1; XADD @a 2-1 f 2; XGROUP CREATE @a g 0; XREADGROUP GROUP g c COUNT 1 STREAMS @a >;
    XREADGROUP GROUP g c STREAMS @a 0; XCLAIM @a g c 0 1-1; XREADGROUP GROUP g d NOACK STREAMS @a >;
    XREADGROUP GROUP g e STREAMS @a >
xsetid: XADD @a 1-1 f 1; XSETID @a 5-1 ENTRIESADDED 9 MAXDELETEDID 2-0
xtrim: XADD @a 1-1 f 1; XADD @a 2-1 f 2; XADD @a 3-1 f 3; XTRIM @a MAXLEN = 2; XTRIM @a MINID 3-0
    | XTRIM @a MAXLEN = 0 DELREF
zadd: ZADD @a 1 a 2 b; ZADD @a GT CH 3 a 1 b; ZADD @a INCR 0.5 b
zdiffstore: ZADD @a 1 a 2 b; ZADD @b 1 a; ZDIFFSTORE @d 2 @a @b
zincrby: ZINCRBY @a 1.5 a
zinterstore: ZADD @a 1 a 2 b; ZADD @b 1 a; ZINTERSTORE @d 2 @a @b WEIGHTS 2 3 AGGREGATE MAX
    | ZINTERSTORE @d 2 @a @b AGGREGATE COUNT
zmpop: ZADD @a 1 a 2 b 3 c; ZMPOP 1 @a MAX COUNT 2
zpopmax: ZADD @a 1 a 2 b; ZPOPMAX @a
zpopmin: ZADD @a 1 a 2 b 3 c; ZPOPMIN @a 2
zrangestore: ZADD @a 1 a 2 b 3 c; ZRANGESTORE @d @a 0 1; ZRANGESTORE @d @a 3 1 BYSCORE REV LIMIT 0 2
zrem: ZADD @a 1 a 2 b; ZREM @a a x
zremrangebylex: ZADD @a 0 a 0 b; ZREMRANGEBYLEX @a [a (b
zremrangebyrank: ZADD @a 1 a 2 b; ZREMRANGEBYRANK @a 0 0
zremrangebyscore: ZADD @a 1 a 2 b; ZREMRANGEBYSCORE @a (1 +inf
zunionstore: ZADD @a 1 a 2 b; ZADD @b 1 a; ZUNIONSTORE @d 2 @a @b WEIGHTS 2 3 | ZUNIONSTORE @d 2 @a @b AGGREGATE COUNT
"""

# What Packlist has no type for: {family: its commands}. The first requests that change something are refused by the
# replica; all of them run, and then their keys are deleted.
LACKING = {
    "vectors": """
vadd: VADD @a VALUES 2 1 2 x
vrem: VADD @a VALUES 2 1 2 x; VREM @a x
vsetattr: VADD @a VALUES 2 1 2 x; VSETATTR @a x {}
""",
}

# They need a server of another kind of its own, or work on the server's memory: {command: why it is not run}.
NOT_RUN = {"cluster|flushslot": "it needs a cluster", "pfselftest": "it changes no data"}

# COMMAND does not say that these change data, or are sent to replicas.
UNNAMED = {"eval", "evalsha", "fcall", "pfcount", "publish", "spublish"}


def parsed_samples(text):
    """{command: [request, …]}; those behind a bar are marked as (request,)."""
    samples = {}
    for line in text.replace("\n    ", " ").strip().splitlines():
        name, _, forms = line.partition(": ")
        first, *others = forms.split(" | ")
        samples[name] = [request.split() for request in first.split("; ")] + \
            [(request.split(),) for form in others for request in form.split("; ")]
    return samples


def known_commands(server):
    """{command: its flags}, subcommands as container|name."""
    found = {}
    link = Link(server)
    rows = value_of(link.call(b"COMMAND"), in_text=True)
    link.close()

    def note(row):
        subcommands = row[9] if len(row) > 9 else []
        for one in subcommands:
            note(one)
        if not subcommands:
            found[row[0].lower()] = set(row[2])
    for row in rows:
        note(row)
    return found


def bulk(reply):
    return reply.split(b"\r\n", 1)[1][:-2]


class Script:
    """The samples on a server."""

    def __init__(self, server, commands):
        self.server, self.commands, self.link = server, commands, Link(server)
        self.values = {"far_s": FAR_S, "far_ms": FAR_MS, "script":
                       b"for i, key in ipairs(KEYS) do redis.call('RPUSH', key, ARGV[i]) end "
                       b"redis.call('INCR', KEYS[1] .. 'n')"}
        for name in (b"called", b"deleted", b"flushed", b"loaded"):
            self.values[name.decode()] = CODE % (name, name)
        self.values["sha"] = bulk(self.link.call(b"SCRIPT", b"LOAD", self.values["script"]))
        self.link.call(b"SET", b"dumped", b"text")
        self.values["payload"] = bulk(self.link.call(b"DUMP", b"dumped"))
        self.link.call(b"FUNCTION", b"LOAD", b"REPLACE", CODE % (b"kept", b"kept"))
        self.values["libraries"] = bulk(self.link.call(b"FUNCTION", b"DUMP"))

    def word(self, name, word):
        if word.startswith("@"):
            return f"{name}:{word[1:]}".encode()
        return self.values[word[1:]] if word.startswith("$") and len(word) > 1 else word.encode()

    def run(self, name, requests):
        """Runs one command's sample. A form of which the server does not know an option does nothing there."""
        for request in requests:
            is_optional = isinstance(request, tuple)
            argv = [self.word(name, word) for word in (request[0] if is_optional else request)]
            reply = self.link.call(*argv)
            if reply.startswith(b"-") and not is_optional:
                raise Trouble(f"{self.server.name}: {argv}: {reply}")

    def run_all(self, samples):
        # What flushes comes first, so that it leaves the others' keys.
        for name in sorted(samples, key=lambda name: (not name.startswith(("flush", "function|")), name)):
            if name in self.commands:
                self.run(name, samples[name])


def check_is_covered(server, commands):
    """Every command that changes data has its sample."""
    samples = set(parsed_samples(SAMPLES)).union(*map(parsed_samples, LACKING.values()), NOT_RUN)
    missing = sorted(name for name, flags in commands.items() if "write" in flags and name not in samples)
    if missing:
        raise Trouble(f"{server.name} has commands that write, of which every_command.py does not know: {missing}")


def check_fields(primary, replica):
    """The digest of Valkey does not tell that fields expire, so they are compared apart; then the hashes are deleted,
    on both servers in case that the second is no replica."""
    for name in parsed_samples(SAMPLES):
        key = f"{name}:ttl".encode()
        asked = [b"HPEXPIRETIME", key, b"FIELDS", b"3", b"f", b"g", b"h"]
        answers = [(call(server, *asked), sorted(value_of(call(server, b"HGETALL", key))))
                   for server in (primary, replica)]
        if answers[0][1] and answers[0] != answers[1]:
            raise Trouble(f"{key} differs on {replica.name}: {answers}")
        for server in (primary, replica):
            call(server, b"DEL", key)


def full_syncs(server):
    return int(field(server, b"stats", "sync_full"))


def check_stream(primary, replica, commands):
    """A replica has all changes, through the stream alone."""
    script = Script(primary, commands)
    check_same(primary, replica)
    before = full_syncs(primary)
    script.run_all(parsed_samples(SAMPLES))
    wait_for(f"{replica.name} has all", lambda: full_syncs(primary) != before or is_in_step(primary, replica))
    if full_syncs(primary) == before:
        check_fields(primary, replica)
        check_same(primary, replica)
    if full_syncs(primary) != before:
        raise Trouble(f"{replica.name} has asked for all data, because of "
                      f"{field(replica, b'replication', 'master_last_refused_command')}")


def check_lacking(primary, replica, commands):
    """A command that is not here makes a replica ask for all data once, and INFO names it."""
    script = Script(primary, commands)
    here = known_commands(replica)
    for family, text in LACKING.items():
        known = [name for name in parsed_samples(text) if name in here]
        if known:
            raise Trouble(f"{replica.name} has these commands now, so that they belong to SAMPLES: {known}")
        samples = {name: requests for name, requests in parsed_samples(text).items() if name in commands}
        if not samples:
            continue
        follow_anew(primary, replica)
        check_same(primary, replica)
        before = full_syncs(primary)
        script.run_all(samples)
        wait_for(f"{replica.name} refuses {family}",
                 lambda: field(replica, b"replication", "master_last_refused_command") is not None)
        refused = field(replica, b"replication", "master_last_refused_command")
        if refused not in {name.split("|")[0] for name in samples} | {"xclaim"}:
            raise Trouble(f"{replica.name} refuses {refused} of {family}")
        keys = {script.word(name, word) for name, requests in samples.items() for request in requests
                for word in (request[0] if isinstance(request, tuple) else request) if word.startswith("@")}
        script.link.call(b"DEL", *keys)
        check_same(primary, replica)
        if full_syncs(primary) > before + 3:
            raise Trouble(f"{replica.name} has asked {full_syncs(primary) - before} times for all data after {family}")


def follow_anew(primary, replica):
    call(replica, b"REPLICAOF", b"NO", b"ONE")
    follow(replica, primary)


def check_file(primary, commands):
    """A server that starts with the append-only file has all data."""
    options = ["--appendonly", "yes", "--auto-aof-rewrite-percentage", "0"]
    writer = Server(primary.name, primary.argv0, primary.binary,
                    [*options, "--aof-use-rdb-preamble", "no"])
    reader = None
    try:
        Script(writer, commands).run_all(parsed_samples(SAMPLES))
        # What was acknowledged is not in the file as long as an fsync keeps the disk busy.
        wait_for(f"{writer.name} does not write its file",
                 lambda: field(writer, b"persistence", "aof_buffer_length") == "0")
        reader = start_packlist(options, files=writer.folder)
        reader.name = "the server with the file"
        check_fields(writer, reader)
        found = [contents(server, (), not is_packlist(writer))[0] for server in (writer, reader)]
        if found[0] != found[1]:
            raise Trouble(f"{reader.name} of {writer.name} has other data: {found!r:.1500}")
    finally:
        clean = all([server.stop() for server in (writer, reader) if server])
    if not clean:
        raise Trouble("a server has not ended as it should")


def check_every_command(primary, replica):
    """Raises Trouble when something is wrong. `replica` follows `primary` afterwards."""
    commands = known_commands(primary)
    check_is_covered(primary, commands)
    follow(replica, primary)
    check_stream(primary, replica, commands)
    check_lacking(primary, replica, commands)
    check_file(primary, commands)
