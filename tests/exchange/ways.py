"""Ways by which a dataset gets from one server to another, and whether it has arrived."""
import re
import shutil
import time
from dataclasses import dataclass

from resp import Link, elements, encode, info, run, text_of

NO_DATA = b"+" + b"0" * 40 + b"\r\n"
MIGRATE_AT_ONCE = 200
TOLERANCE_MS = 300000  # of expiries that are sent as the time that is left
TOLERANCE_USED = 30   # seconds
SYNC_SECONDS = 120


class Trouble(Exception):
    """The dataset did not arrive, or not as it was; the text says what differs."""


def run_well(link, commands):
    """The replies to commands that are sent at once and must not fail."""
    commands = list(commands)
    replies = run(link, commands)
    for argv, reply in zip(commands, replies):
        if reply.startswith(b"-"):
            raise Trouble(f"{link.server.name} answers {reply!r:.200} to {shown(argv)}")
    return replies


def shown(argv):
    return " ".join(ascii(a)[1:] if len(a) < 60 else f"'{ascii(a[:12])[2:-1]}…' of {len(a)}" for a in argv)


def in_databases(dataset, command_of):
    """command_of(key) for each key, with SELECTs before; and how many commands there are before each."""
    database, commands, places = None, [], []
    for key in dataset.keys:
        if key.database != database:
            database = key.database
            commands.append([b"SELECT", b"%d" % database])
        places.append(len(commands))
        commands.append(command_of(key))
    return commands, places


def ask_each(link, dataset, command_of):
    """The reply to command_of(key) for each key."""
    commands, places = in_databases(dataset, command_of)
    replies = run_well(link, commands)
    return [replies[place] for place in places]


def config_set(name, value):
    return [b"CONFIG", b"SET", name, value if isinstance(value, bytes) else b"%d" % value]


def clear(link, dataset, limits):
    run_well(link, [[b"FLUSHALL"], [b"FUNCTION", b"FLUSH"], config_set(b"maxmemory-policy", dataset.policy),
                    config_set(b"lfu-decay-time", 0),  # the usage does not change meanwhile
                    config_set(b"list-max-listpack-size", dataset.fill),
                    config_set(b"list-compress-depth", dataset.depth),
                    config_set(b"rdbcompression", b"yes" if dataset.compress else b"no")])
    # Valkey 9.1 has no sanitize-dump-payload, Redis 7.0 no listpacks of sets.
    run(link, [config_set(b"sanitize-dump-payload", b"yes"), *[config_set(*setting) for setting in limits.settings()]])


def make(link, dataset):
    """Fills a server. Single commands may fail, as an LSET of a place that is not there."""
    clear(link, dataset, dataset.made)
    requests, settings = [], None
    for key in dataset.keys:
        if key.settings() != settings:
            settings = key.settings()
            requests += [encode(config_set(name, value)) for name, value in settings]
        requests += [encode([b"SELECT", b"%d" % key.database]), key.requests]
        if key.expires_ms:
            requests.append(encode([b"PEXPIREAT", key.name, b"%d" % key.expires_ms]))
    link.batch(b"".join(requests))
    usage = dataset.usage()
    used = dataset.with_keys(key for key in dataset.keys if usage and key.used >= 0)
    put_payloads(link, used, payloads(link, used), lambda key: [usage, b"%d" % key.used])


def payloads(link, dataset):
    """(DUMP payload or None, PEXPIRETIME) of each key."""
    dumps = map(text_of, ask_each(link, dataset, lambda key: [b"DUMP", key.name]))
    times = ask_each(link, dataset, lambda key: [b"PEXPIRETIME", key.name])
    return [(dump, max(int(at[1:]), 0)) for dump, at in zip(dumps, times)]


def put_payloads(link, dataset, payloads_of_keys, options_of):
    waiting = iter(payloads_of_keys)

    def command(key):
        payload, expires_ms = next(waiting)
        if payload is None:
            return [b"EXISTS", key.name]
        return [b"RESTORE", key.name, b"%d" % expires_ms, payload, b"REPLACE", b"ABSTTL", *options_of(key)]
    ask_each(link, dataset, command)


# --- Ways: each fills `target` with what is in `source`; returns a connection to it ---


def change_of(key, random):
    """A change that does not fail, whatever was done to the key before."""
    number = b"%d" % random.randint(-100, 5000)
    changes = {
        "string": [[b"SETRANGE", key.name, b"%d" % random.randint(0, 300_000), b"changed"],
                    [b"SETBIT", key.name, b"%d" % random.randint(0, 2_000_000), b"1"],
                    [b"APPEND", key.name, b"more"],
                    [b"SET", key.name, b"another"]],
        "set": [[b"SADD", key.name, number], [b"SREM", key.name, number], [b"SPOP", key.name]],
        "zset": [[b"ZADD", key.name, number, b"m" + number], [b"GEOADD", key.name, b"2.5", b"48.5", b"m" + number],
                 [b"ZREM", key.name, number], [b"ZPOPMIN", key.name]],
        "hash": [[b"HSET", key.name, number, b"changed"], [b"HDEL", key.name, number]],
        "stream": [[b"XADD", key.name, b"*", number, b"changed"], [b"XDEL", key.name, b"%d" % random.randint(1, 5000)],
                   [b"XTRIM", key.name, b"MAXLEN", b"%d" % random.randint(0, 300)],
                   [b"XACK", key.name, b"group 0", b"%d-0" % random.randint(1, 300)],
                   [b"XACK", key.name, b"group 0", *[b"%d-0" % number for number in range(1, 300, 3)]]],
    }[key.type]
    return [[b"SELECT", b"%d" % key.database], random.choice([*changes, [b"DEL", key.name]])]


def save_beside_changes(link, changed, random):
    """BGSAVE. The keys are changed at once after its moment, and while it writes."""
    def changes():
        return [command for key in changed for command in change_of(key, random)]
    run_well(link, [config_set(b"rdb-key-save-delay", 2000 if changed else 0)])
    run_well(link, [[b"BGSAVE"], *changes()])
    while b"rdb_bgsave_in_progress:1" in link.call(b"INFO", b"persistence"):
        run_well(link, changes())
        time.sleep(0.005)
    run_well(link, [config_set(b"rdb-key-save-delay", 0)])


def by_file(source, target, dataset, random):
    here, there = Link(source), Link(target)
    clear(there, dataset, dataset.loaded)
    large = dataset.large_values()
    if random.random() < (0.7 if large else 0.2):
        save_beside_changes(here, large, random)
        if b"rdb_last_bgsave_status:ok" not in here.call(b"INFO", b"persistence"):
            raise Trouble(f"{source.name}: BGSAVE failed:\n{source.log_text()[-1000:]}")
    else:
        run_well(here, [[b"SAVE"]])
    here.close()
    shutil.copyfile(f"{source.folder}/dump.rdb", f"{target.folder}/dump.rdb")
    if random.random() < 0.1:
        there.close()
        target.restart("--maxmemory-policy", dataset.policy.decode())
        there = Link(target)
    else:
        run_well(there, [[b"DEBUG", b"RELOAD", b"NOSAVE"]])
    return there


def rewrite_as_commands(link):
    """Makes an append-only file of what the server holds."""
    run_well(link, [config_set(b"aof-use-rdb-preamble", b"no"), config_set(b"appendonly", b"yes")])
    busy = (b"aof_rewrite_in_progress:1", b"aof_rewrite_scheduled:1")
    while any(word in (text := link.call(b"INFO", b"persistence")) for word in busy):
        time.sleep(0.005)
    if b"aof_last_bgrewrite_status:ok" not in text:
        raise Trouble(f"{link.server.name}: the append-only file was not written:\n{link.server.log_text()[-1000:]}")


def by_appended(source, target, dataset, random):
    """An append-only file of commands."""
    here, folders = Link(source), [f"{server.folder}/appendonlydir" for server in (source, target)]
    shutil.rmtree(folders[0], ignore_errors=True)
    rewrite_as_commands(here)
    run_well(here, [config_set(b"appendonly", b"no")])
    here.close()
    shutil.rmtree(folders[1], ignore_errors=True)
    shutil.copytree(*folders)
    target.restart("--appendonly", "yes", "--maxmemory-policy", dataset.policy.decode(), "--list-max-listpack-size",
                   str(dataset.fill), "--list-compress-depth", str(dataset.depth))
    there = Link(target)
    run_well(there, [config_set(b"appendonly", b"no")])
    return there


def by_payload(source, target, dataset, random):
    here, there = Link(source), Link(target)
    clear(there, dataset, dataset.loaded)
    put_payloads(there, dataset, payloads(here, dataset), lambda key: [])
    here.close()
    return there


def by_migrate(source, target, dataset, random):
    here, there = Link(source), Link(target)
    clear(there, dataset, dataset.loaded)
    copy, overwrite = random.random() < 0.5, random.random() < 0.5
    if overwrite:
        ask_each(there, dataset, lambda key: random.choice([[b"SET", key.name, b"old"],
                                                            [b"RPUSH", key.name, b"old"]]))
        empty = iter(ask_each(here, dataset, lambda key: [b"EXISTS", key.name]))
        ask_each(there, dataset, lambda key: [b"DEL" if next(empty) == b":0\r\n" else b"TYPE", key.name])
    for database in dataset.databases():
        names = [key.name for key in dataset.keys if key.database == database]
        run_well(here, [[b"SELECT", b"%d" % database]])
        while names:
            size = random.choice([1, MIGRATE_AT_ONCE])
            some, names = names[:size], names[size:]
            run_well(here, [migrate_command(target, database, some, copy, overwrite)])
    if not copy and (left := here.call(b"DEBUG", b"DIGEST")) != NO_DATA:
        raise Trouble(f"MIGRATE has left keys behind: {left!r}")
    here.close()
    return there


def migrate_command(target, database, names, copy, overwrite):
    options = [b"COPY"] * copy + [b"REPLACE"] * overwrite
    one = len(names) == 1 and names[0] != b""
    return [b"MIGRATE", b"127.0.0.1", b"%d" % target.port, names[0] if one else b"", b"%d" % database, b"60000",
            *options, *([] if one else [b"KEYS", *names])]


def wait_until_replicated(here, there):
    """Until the replica has all of its primary's stream."""
    deadline = time.monotonic() + SYNC_SECONDS
    while True:
        replica, end = info(there, "replication"), info(here, "replication")["master_repl_offset"]
        if replica.get("master_link_status") == "up" and replica["slave_repl_offset"] == end:
            return
        if time.monotonic() > deadline:
            logs = "\n".join(link.server.log_text()[-1500:] for link in (here, there))
            raise Trouble(f"{there.server.name} does not get the stream of {here.server.name} up to {end!r}: "
                          f"{replica!r}\n{logs}")
        time.sleep(0.005)


def change_while_it_is_sent(here, there, dataset, libraries, random):
    """Replicas get what changes during the synchronization, too. Then the source is made as it was."""
    while info(there, "replication").get("master_link_status") != "up":
        run_well(here, [command for key in dataset.large_values() for command in change_of(key, random)])
        time.sleep(0.005)
    run_well(here, [config_set(b"rdb-key-save-delay", 0)])
    wait_until_replicated(here, there)
    both = (here.server, there.server)
    compare_digests(dataset, *[Digest.of(link, dataset, both) for link in (here, there)])
    make(here, dataset)
    load_libraries(here, libraries)


def by_replication(source, target, dataset, random, libraries=()):
    """The target becomes a replica of the source, and stays one."""
    here, there = Link(source), Link(target)
    clear(there, dataset, dataset.loaded)
    changes = bool(dataset.large_values()) and random.random() < 0.5
    run_well(here, [config_set(b"repl-diskless-sync-delay", 0),
                    config_set(b"repl-backlog-size", 256 << 20),  # more than a dataset takes, see replicate_changes
                    config_set(b"repl-diskless-sync", random.choice([b"yes", b"no"])),
                    config_set(b"rdb-key-save-delay", 2000 if changes else 0)])
    run_well(there, [config_set(b"replica-read-only", b"no"),
                     config_set(b"repl-diskless-load", random.choice([b"disabled", b"swapdb"])),
                     [b"REPLICAOF", b"127.0.0.1", b"%d" % source.port]])
    if changes:
        change_while_it_is_sent(here, there, dataset, libraries, random)
    wait_until_replicated(here, there)
    here.close()
    return there


def replicate_changes(here, there, dataset, edits, random):
    """The dataset made anew and the edits reach the replica through the stream alone, or the part of it that it has
    missed."""
    syncs = info(here, "stats")["sync_full"]
    make(here, dataset)
    if random.random() < 0.3:
        run_well(here, [[b"CLIENT", b"KILL", b"TYPE", b"replica"]])
    ask_all(here, dataset, edits)
    wait_until_replicated(here, there)
    if info(here, "stats")["sync_full"] != syncs:
        raise Trouble(f"{there.server.name} was synchronized anew: {there.server.log_text()[-1500:]}")


# --- Libraries of functions ---

LIBRARY_WAYS = ("RDB file", "DUMP and RESTORE", "append-only file", "replication")


def some_libraries(random):
    """The code of each by its name; its function of the same name returns that."""
    return {b"l%d" % number: b"#!lua name=l%d\nredis.register_function('l%d', function() return 'l%d' end)\n-- %s" % (
        number, number, number, random.choice([b"", b"x" * 300, random.randbytes(200), b"a comment " * 5000])
        .translate(None, b"\n\r\0")) for number in range(random.choice([0, 0, 1, 2, 5]))}


def load_libraries(link, libraries):
    run_well(link, [[b"FUNCTION", b"FLUSH"], *[[b"FUNCTION", b"LOAD", code] for code in libraries.values()]])


def compare_libraries(link, libraries):
    found = link.call(b"FUNCTION", b"LIST")
    if not found.startswith(b"*%d\r\n" % len(libraries)):
        raise Trouble(f"there are not {len(libraries)} libraries of functions: {found!r:.300}")
    for name, code in libraries.items():
        if encode([code])[4:] not in link.call(b"FUNCTION", b"LIST", b"LIBRARYNAME", name, b"WITHCODE"):
            raise Trouble(f"the library {name.decode()} has not its code")
        if text_of(answer := link.call(b"FCALL", name, b"0")) != name:
            raise Trouble(f"the function {name.decode()} answers {answer!r:.200}")


def restore_libraries(source, there):
    """By FUNCTION DUMP and RESTORE."""
    here = Link(source)
    payload = text_of(here.call(b"FUNCTION", b"DUMP"))
    here.close()
    run_well(there, [[b"FUNCTION", b"RESTORE", payload, b"FLUSH"]])


WAYS = {"RDB file": by_file, "DUMP and RESTORE": by_payload, "MIGRATE": by_migrate,
        "append-only file": by_appended, "replication": by_replication}


def is_valkey(server):
    return "Valkey" in server.name


def reads_field_expiries(server, way):
    """Whether fields may expire in what this way brings from Packlist to the server. Valkey does not read Redis's form
    of such hashes, which Packlist writes except for a replica of Valkey."""
    return not is_valkey(server) or way in ("append-only file", "replication")


def has_field_expiries(server):
    link = Link(server)
    knows = b"hpexpireat" in link.call(b"COMMAND", b"INFO", b"HPEXPIREAT")
    link.close()
    return knows


def reads_consumers(server):
    """Whether the server reads the form of streams with consumers that Packlist writes."""
    return server.redis_version() >= (7, 2)


# --- What is compared ---


def lives_and_usage(link, dataset, way):
    """Expiry of each key, and how it was used where the way keeps that."""
    lives = [int(at[1:]) for at in ask_each(link, dataset, lambda key: [b"PEXPIRETIME", key.name])]
    usage = dataset.usage() if way == "RDB file" else None
    if not usage:
        return [(at, None) for at in lives]
    word = b"FREQ" if usage == b"FREQ" else b"IDLETIME"
    used = ask_each(link, dataset, lambda key: [b"OBJECT", word, key.name])
    # Small integers may be one object that many keys of a peer share, with one usage.
    owners = ask_each(link, dataset, lambda key: [b"OBJECT", b"REFCOUNT", key.name])
    return [(at, int(reply[1:]) if own == b":1\r\n" else None) for at, reply, own in zip(lives, used, owners)]


def compare_lives(dataset, way, before, after):
    tolerance_ms = TOLERANCE_MS if way == "MIGRATE" else 0
    tolerance_used = 1 if dataset.usage() == b"FREQ" else TOLERANCE_USED
    for key, (at, used), (new_at, new_used) in zip(dataset.keys, before, after):
        if (at < 0 or new_at < 0) and at != new_at or abs(at - new_at) > tolerance_ms:
            raise Trouble(f"{shown([key.name])}: PEXPIRETIME was {at}, is {new_at}")
        if used is not None and new_used is not None and abs(used - new_used) > tolerance_used:
            raise Trouble(f"{shown([key.name])}: {dataset.usage().decode()} was {used}, is {new_used}")


def field_lives(link, dataset):
    """The expiries of the fields of each hash; the order of the fields is each server's own."""
    hashes = dataset.with_keys(key for key in dataset.keys if key.has_field_expiries())
    names = [sorted(map(text_of, elements(reply)))
             for reply in ask_each(link, hashes, lambda key: [b"HKEYS", key.name])]
    waiting = iter(names)

    def command(key):
        fields = next(waiting) or [b"none"]
        return [b"HPEXPIRETIME", key.name, b"FIELDS", b"%d" % len(fields), *fields]
    return {(key.database, key.name): (fields, reply)
            for key, fields, reply in zip(hashes.keys, names, ask_each(link, hashes, command))}


def compare_field_lives(before, after):
    for (database, name), lives in before.items():
        if lives != after[database, name]:
            raise Trouble(f"{shown([name])}: the fields expire at other times: {lives!r:.300}, "
                          f"now {after[database, name]!r:.300}")


def fields_and_values(link, dataset):
    replies = ask_each(link, dataset, lambda key: [b"HGETALL", key.name])
    parts = [elements(reply) for reply in replies]
    return [sorted(zip(some[::2], some[1::2])) for some in parts]


UNCOMPARED_OF_GROUPS = re.compile(rb"(seen-time|active-time|lag)\r\n(:-?\d+|\$-1)\r\n")


def groups_of(link, dataset, servers):
    """The consumer groups of each stream, of which the peers' digests know nothing. When consumers were seen is not
    kept by each way, and Valkey has rules of its own for the lag. Where usage is compared and one of the servers cannot
    look without using a key (look_only), nothing is looked at."""
    may_look = not dataset.usage() or all(server.redis_version() >= (7, 2) for server in servers)
    streams = dataset.with_keys(key for key in dataset.keys if key.type == "stream" and may_look)
    commands, places = in_databases(streams, lambda key: [b"XINFO", b"STREAM", key.name, b"FULL", b"COUNT", b"0"])
    replies = run(link, commands)  # an error where a change has deleted the key
    groups = [UNCOMPARED_OF_GROUPS.sub(b"", reply[reply.find(b"$6\r\ngroups\r\n"):])
              for reply in (replies[place] for place in places)]
    waiting = iter(groups)
    return [next(waiting) if key.type == "stream" and may_look else b"" for key in dataset.keys]


@dataclass
class Digest:
    """What is compared of two servers: the digest of all that they hold and of each key. Valkey's digest does not tell
    that a field expires: where it is compared with another server's, hashes are compared by their fields. Nor do the
    peers' digests tell of consumer groups: such streams are compared by their entries, and groups_of()."""
    whole: bytes
    keys: list

    @classmethod
    def of(cls, link, dataset, servers):
        keys = ask_each(link, dataset, lambda key: [b"XRANGE", key.name, b"-", b"+"] if key.has_groups()
                        else [b"DEBUG", b"DIGEST-VALUE", key.name])
        keys = [(one, groups) for one, groups in zip(keys, groups_of(link, dataset, servers))]
        by_fields = dataset.has_field_expiries() and any(map(is_valkey, servers))
        if not by_fields and not dataset.has_groups():
            return cls(link.call(b"DEBUG", b"DIGEST"), keys)
        if by_fields:
            hashes = iter(fields_and_values(link, dataset.with_keys(k for k in dataset.keys if k.has_field_expiries())))
            keys = [next(hashes) if k.has_field_expiries() else d for k, d in zip(dataset.keys, keys)]
        sizes = [run_well(link, [[b"SELECT", b"%d" % number], [b"DBSIZE"]])[1] for number in dataset.databases()]
        return cls(b"".join(sizes), keys)


def compare_digests(dataset, before, after):
    if before == after:
        return
    wrong = [key for key, old, new in zip(dataset.keys, before.keys, after.keys) if old != new]
    names = ", ".join(shown([key.name]) for key in wrong[:3]) or "something else"
    raise Trouble(f"DEBUG DIGEST was {before.whole!r}, is {after.whole!r}: {len(wrong)} keys differ, {names}")


def look_only(link):
    """What reads the fields of hashes must not count as their use. Redis 7.0 does not know this, nor such fields."""
    run(link, [[b"CLIENT", b"NO-TOUCH", b"ON"]])


def travel(way, source, target, dataset, random, edits):
    """Makes the dataset at the source and brings it to the target; raises Trouble unless it is the same there.
    Then `edits`, the same at the target and at what made the dataset anew, must have the same effect."""
    here, both = Link(source), (source, target)
    for server in both:
        link = Link(server)
        run_well(link, [[b"REPLICAOF", b"NO", b"ONE"]])
        link.close()
    make(here, dataset)
    libraries = some_libraries(random)
    load_libraries(here, libraries)
    look_only(here)
    lives, digest = lives_and_usage(here, dataset, way), Digest.of(here, dataset, both)
    fields = field_lives(here, dataset)
    more = [libraries] if way == "replication" else []
    there = WAYS[way](source, target, dataset, random, *more)
    look_only(there)
    if way == "DUMP and RESTORE":
        restore_libraries(source, there)
    if way in LIBRARY_WAYS:
        compare_libraries(there, libraries)
    compare_digests(dataset, digest, Digest.of(there, dataset, both))
    compare_lives(dataset, way, lives, lives_and_usage(there, dataset, way))
    compare_field_lives(fields, field_lives(there, dataset))
    if edits:
        if way == "replication":
            replicate_changes(here, there, dataset, edits, random)
        else:
            make(here, dataset)
            for link in (here, there):
                ask_all(link, dataset, edits)
        compare_digests(dataset, *[Digest.of(link, dataset, both) for link in (here, there)])
        compare_field_lives(*[field_lives(link, dataset) for link in (here, there)])
    here.close()
    there.close()


def ask_all(link, dataset, edits):
    commands = []
    for key in dataset.keys:
        commands += [[b"SELECT", b"%d" % key.database], *edits.get((key.database, key.name), ())]
    run(link, commands)


def describe(key):
    """The commands that make the key, to repeat it by hand."""
    yield f"SELECT {key.database}; " + "; ".join(f"{name.decode()} {value}" for name, value in key.settings())
    for argv in key.commands:
        many = [shown(argv[:8]) + (f" … and {len(argv) - 8} more" if len(argv) > 8 else "")]
        yield "  " + re.sub(r"^'(\w+)'", r"\1", many[0])
    if key.expires_ms:
        yield f"  PEXPIREAT {key.expires_ms}"
    if key.used >= 0:
        yield f"  used: {key.used}"
