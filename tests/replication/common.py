"""What the tests of replication ask servers, wait for and write."""
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE.parent / "oracle")]
from commands import Generator  # noqa: E402
from digests import is_packlist, shared_contents, shared_digests  # noqa: E402
from resp import Link, info, value_of  # noqa: E402
from strings import is_silent_in_redis  # noqa: E402

PATIENCE_SECONDS = 300


class Trouble(Exception):
    """What is wrong."""


class Writes(Generator):
    """Commands for a primary: without those that are about connections, or that other servers answer differently, or
    that change the encodings at the primary only."""

    LEFT_OUT = (b"SELECT", b"CONFIG", b"HELLO", b"CLIENT", b"DEBUG", b"FLUSHDB", b"OBJECT", b"COMMAND", b"ECHO",
                b"PING", b"SCAN")

    def score(self):
        """Not in hexadecimal, which Valkey 9.1 refuses: as a replica it would not have the change."""
        return super().score().replace(b"0x10", b"16")

    def expiring(self):
        return self.random.choice([
            lambda: [b"SET", b"e%d" % self.random.randint(0, 5), self.element(), b"PX",
                     b"%d" % self.random.choice([1, 5, 50, 100000])],
            lambda: [b"PEXPIRE", self.key(), b"%d" % self.random.choice([1, 20, 1000000])],
        ])()

    def script(self):
        return self.random.choice([
            [b"EVAL", b"redis.call('RPUSH', KEYS[1], ARGV[1], redis.call('TIME')[1]) "
                      b"return redis.call('INCR', 'counter')", b"1", b"scripted", self.element()],
            [b"EVAL", b"for i = 1, 10 do redis.call('HSET', KEYS[1], i, ARGV[1]) end", b"1", b"scripted:hash",
             self.element()],
        ])

    def library(self):
        name = b"lib%d" % self.random.randint(0, 2)
        code = b"#!lua name=" + name + b"\nredis.register_function('f" + name + \
               b"', function(keys, args) return redis.call('INCRBY', keys[1], args[1]) end)"
        return self.random.choice([
            [b"FUNCTION", b"LOAD", b"REPLACE", code],
            [b"FUNCTION", b"DELETE", name],
            [b"FCALL", b"f" + name, b"1", b"by:function", b"3"],
        ])

    def large(self):
        return [b"SET", b"large", b"%d" % self.random.randint(0, 9) * self.random.choice([100000, 3000000])]

    def sequence(self):
        roll = self.random.random()
        if roll < 0.03:
            return [self.expiring()]
        if roll < 0.05:
            return [self.script()]
        if roll < 0.06:
            return [self.library()]
        if roll < 0.062:
            return [self.large()]
        if roll < 0.066:
            return [[b"SELECT", b"%d" % self.random.randint(0, 3)]]
        if roll < 0.067:
            return [[b"FLUSHDB"]]
        return [argv for argv in super().sequence()
                if argv[0].upper() not in self.LEFT_OUT and not is_silent_in_redis(argv) and not reads_history(argv)]


def reads_history(argv):
    """Whether it may raise counts of deliveries, which is not propagated."""
    words = argv[argv.index(b"STREAMS") + 1:] if b"STREAMS" in argv else []
    return argv[0].upper() == b"XREADGROUP" and any(word != b">" for word in words[len(words) // 2:])


def field(server, section, name):
    with Link(server) as link:
        return info(link, section).get(name)


def call(server, *argv):
    with Link(server) as link:
        return link.call(*argv)


def contents(server, keys=(), shared=False):
    """What two servers must have in common: everything, or the libraries and the values of these keys; `shared`:
    without consumer groups, of which only Packlist's digests tell."""
    if not shared:
        digest = call(server, b"DEBUG", b"DIGEST-VALUE", *keys) if keys else call(server, b"DEBUG", b"DIGEST")
    elif keys:
        with Link(server) as link:
            digest = shared_digests(link, keys)
    else:
        digest = shared_contents(server)
    return digest, sorted(call(server, b"FUNCTION", b"LIST", b"WITHCODE").split(b"\r\n"))


def wait_for(what, condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            if condition():
                return
        except (OSError, EOFError):
            pass
        if time.monotonic() > deadline:
            raise Trouble(what)
        time.sleep(0.05)


def port_for_servers(server):
    """The port to which other servers go."""
    return getattr(server, "tls_port", server.port)


def follow(replica, primary):
    assert call(replica, b"REPLICAOF", b"127.0.0.1", b"%d" % port_for_servers(primary)).startswith(b"+OK")


def is_in_step(primary, replica):
    return field(replica, b"replication", "master_link_status") == "up" and \
        field(primary, b"replication", "master_repl_offset") == field(replica, b"replication", "slave_repl_offset")


def check_same(primary, replica, keys=()):
    """Waits until both have the same; expired keys go at any time, the primary's own."""
    shared = not (is_packlist(primary) and is_packlist(replica))

    def same():
        for link in (primary, replica):
            call(link, b"PING")
        return is_in_step(primary, replica) and contents(primary, keys, shared) == contents(replica, keys, shared)
    try:
        wait_for("", same)
    except Trouble:
        raise Trouble(f"{replica.name} does not get what {primary.name} has: "
                      f"{describe(primary)} / {describe(replica)}; {differences(primary, replica)}") from None


def differences(primary, replica):
    """Some keys that differ: the database, the name, and the types in both."""
    found = []
    for database in range(4):
        links = [Link(primary), Link(replica)]
        for link in links:
            link.call(b"SELECT", b"%d" % database)
        names = {name for link in links for name in value_of(link.call(b"KEYS", b"*"))}
        for name in sorted(names):
            if len({link.call(b"DEBUG", b"DIGEST-VALUE", name) for link in links}) > 1:
                found.append((database, name, *[link.call(b"TYPE", name).strip() for link in links]))
        for link in links:
            link.close()
    return f"{len(found)} keys differ: {found[:5]}"


def describe(server):
    names = ("role", "master_repl_offset", "slave_repl_offset", "master_link_status", "slave0")
    digest, libraries = contents(server)
    return ", ".join([*(f"{name}={field(server, b'replication', name)}" for name in names),
                      f"digest={digest.strip().decode()}", f"{len(libraries)} lines of libraries"])
