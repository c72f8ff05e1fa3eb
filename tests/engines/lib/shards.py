"""Four servers of Packlist behind a proxy that shards, and what every such proxy must do."""
import contextlib

from carried import UNKNOWN, cases, comparable, tagged
from deployed import Connection, Trouble, call, check, wait_for
from resp import text_of
from servers import start_packlist

SHARDS = 4


def start_shards():
    """The shards, and a server that gets the same requests without a proxy."""
    servers = [start_packlist() for _ in range(SHARDS + 1)]
    for i, server in enumerate(servers):
        server.name, server.password = f"shard {i}" if i < SHARDS else "the server alone", None
    return servers[:SHARDS], servers[SHARDS]


def ask(address, argv):
    """The reply, or the error as text. The proxy may close the connection for what it does not carry."""
    try:
        return call(address, *argv)
    except Trouble as trouble:
        return f"error: {trouble}"
    except (EOFError, ConnectionError):
        return "closed"


def replies(address, requests):
    """Of requests on one connection."""
    connection, got = Connection(address), []
    with contextlib.closing(connection):
        for argv in requests:
            try:
                got.append(connection.call(*argv))
            except Trouble as trouble:
                got.append(f"error: {trouble}")
            except (EOFError, ConnectionError):
                got.append("closed")
                break
    return got


def check_carried(what, proxy, alone, carried, own):
    """Each command of `carried` has the replies of the server alone. `own`: those that the proxy answers itself, or
    sends to all shards, which are tested apart."""
    known = cases()
    missing = sorted(name for name in carried
                     if name not in known and name not in own | {"restore"} and not UNKNOWN.match(name))
    check(f"{what}: there is a test for each command that it carries", not missing, missing)
    check_restore(what, proxy, alone)
    for name in sorted((set(carried) & set(known)) - own):
        requests = [tagged(argv, name) for argv in known[name]]
        through, direct = ([comparable(name, value) for value in replies(server, requests)]
                           for server in (proxy, alone))
        check(f"{what}: {name.upper()} has the replies of a server", through == direct, requests, through, direct)
    for name in sorted(name for name in carried if UNKNOWN.match(name)):
        reply = ask(proxy, [name, "{a}b", "1", "2", "3"])
        check(f"{what}: {name.upper()}, which Packlist does not have, is refused",
              str(reply).startswith("error: "), reply)


def check_restore(what, proxy, alone):
    """RESTORE of what DUMP gives."""
    call(alone, "RPUSH", "dumped", "a", "b")
    connection = Connection(alone)
    with contextlib.closing(connection):
        payload = text_of(connection.raw("DUMP", "dumped"))
    check(f"{what}: RESTORE has the replies of a server", [ask(proxy, argv) for argv in (
        ["RESTORE", "restored", "0", payload], ["LRANGE", "restored", "0", "-1"])] == ["OK", ["a", "b"]])


def check_spread(what, proxy, shards):
    """Keys of every type are on all shards, each on one."""
    for n in range(200):
        for argv in (["RPUSH", f"list:{n}", "a"], ["SET", f"string:{n}", "a"], ["SADD", f"set:{n}", "a"],
                     ["HSET", f"hash:{n}", "f", "v"], ["ZADD", f"zset:{n}", "1", "a"]):
            call(proxy, *argv)
    for kind, name in (("list", "lists"), ("string", "strings"), ("set", "sets"), ("hash", "hashes"),
                       ("zset", "sorted sets")):
        counts = [len(call(shard, "KEYS", f"{kind}:*")) for shard in shards]
        check(f"{what}: keys of {name} are spread over all shards", sum(counts) == 200 and min(counts) > 10, counts)


def check_not_carried(what, proxy, requests):
    for argv in requests:
        reply = ask(proxy, argv)
        check(f"{what}: {argv[0]} is not carried", str(reply).startswith("error: ") or reply == "closed", reply)


def check_ejected(what, proxy, shards):
    """When a shard dies, all keys can be written after a while, on the others; and on it when it is back."""
    shards[0].process.kill()
    shards[0].process.wait()

    def all_written():
        for n in range(100):
            call(proxy, "RPUSH", f"ejected:{n}", "a")
        return True
    wait_for(f"{what}: all keys are written although a shard is dead", all_written)
    # On a busy machine a proxy may miss a living shard for a moment, so that a key gets to two of them.
    there = {key for shard in shards[1:] for key in call(shard, "KEYS", "ejected:*")}
    check(f"{what}: the other shards take the keys of a dead one", len(there) == 100, len(there))
    shards[0].launch()

    def is_back():
        for n in range(100):
            call(proxy, "SET", f"back:{n}", "a")
        return len(call(shards[0], "KEYS", "back:*")) > 5
    wait_for(f"{what}: a shard that is back gets its keys", is_back)
    check(f"{what}: a shard that is back gets its keys", True)

