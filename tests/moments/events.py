"""What happens to the servers meanwhile, and what must hold when all rests."""
import time

from links import PATIENCE_SECONDS, Link, Reading, Trouble
from readers import COPIES
from resp import info, value_of

DESTINATIONS = [f"to:{name}{number}" for name in ("hash", "sets", "list") for number in range(3)]
LIST_SIZES = (b"-1", b"-2", b"-5", b"16", b"128")


def wait_for(what, condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            if condition():
                return
        except (OSError, EOFError):
            pass
        if time.monotonic() > deadline:
            raise Trouble(f"waited in vain: {what}")
        time.sleep(0.02)


def ask(server, *words, database=0):
    with Link(server) as link:
        if database:
            link.raw("SELECT", database)
        return link.raw(*words)


def is_in_step(primary, replica):
    with Link(primary) as one, Link(replica) as other:
        mine, its = info(one, "replication"), info(other, "replication")
    return its.get("master_link_status") == "up" and mine["master_repl_offset"] == its["slave_repl_offset"]


class Events:
    """Something every now and then, on a connection that is not killed."""

    def __init__(self, primary, replica, rng):
        self.primary, self.replica, self.rng = primary, replica, rng
        self.done = {}
        self.kinds = [(self.kill_client, 8), (self.pause_threads, 6), (self.look_at_destinations, 8),
                      (self.copy_sets, 4), (self.change_copies, 4), (self.change_settings, 4), (self.background, 2),
                      (self.cut_replica, 1), (self.attach_replica, 3), (self.load, 1)]

    def run(self, is_over):
        functions, weights = zip(*self.kinds)
        with Link(self.primary) as self.link:
            while not is_over():
                function = self.rng.choices(functions, weights)[0]
                self.done[function.__name__] = self.done.get(function.__name__, 0) + 1
                function()
                time.sleep(self.rng.uniform(0, 0.15))

    def run_here(self, *words):
        return self.link.raw(*words)

    def kill_client(self):
        own = value_of(self.run_here("CLIENT", "ID"))
        lines = value_of(self.run_here("CLIENT", "LIST"), in_text=True).splitlines()
        numbers = [int(line.split()[0].removeprefix("id=")) for line in lines if line]
        victim = self.rng.choice(numbers)
        if victim != own:
            self.run_here("CLIENT", "KILL", "ID", victim)

    def pause_threads(self):
        self.run_here("DEBUG", "PAUSE-THREADS", "1")
        time.sleep(self.rng.uniform(0.005, 0.1))
        self.run_here("DEBUG", "PAUSE-THREADS", "0")

    def look_at_destinations(self):
        """Whoever looks at a key that is being stored or changed makes that end first."""
        key = self.rng.choice([*DESTINATIONS, "pool:set", "pool:zset", "pool:list"])
        look = self.rng.choice([["EXISTS", key], ["TYPE", key], ["DBSIZE"], ["SCAN", "0"], ["RANDOMKEY"],
                                ["EVAL", "return redis.call('EXISTS', KEYS[1])", "1", key]])
        if self.rng.random() < 0.3:
            self.run_here("MULTI")
            self.run_here(*look)
            self.run_here("EXEC")
        else:
            self.run_here(*look)

    def copy_sets(self):
        """Another database gets both sets, of one moment."""
        self.run_here("MULTI")
        for key in ("set:a", "set:b"):
            self.run_here("COPY", key, key, "DB", COPIES[0], "REPLACE")
        self.run_here("EXEC")

    def change_copies(self):
        self.run_here("SWAPDB", *COPIES)
        if self.rng.random() < 0.3:
            self.run_here("SELECT", self.rng.choice(COPIES))
            self.run_here("FLUSHDB", self.rng.choice(["SYNC", "ASYNC"]))
            self.run_here("SELECT", 0)

    def change_settings(self):
        name, values = self.rng.choice([("list-compress-depth", (b"0", b"1", b"2")),
                                        ("list-max-listpack-size", LIST_SIZES),
                                        ("activerehashing", (b"yes", b"no")),
                                        ("rdbcompression", (b"yes", b"no")),
                                        ("repl-diskless-sync", (b"yes", b"no")),
                                        ("hash-max-listpack-entries", (b"0", b"128", b"100000"))])
        self.run_here("CONFIG", "SET", name, self.rng.choice(values))

    def background(self):
        self.run_here(*self.rng.choice([["BGSAVE"], ["BGREWRITEAOF"], ["SAVE"]]))

    def cut_replica(self):
        if self.rng.random() < 0.5:
            self.run_here("CLIENT", "KILL", "TYPE", "replica")
        else:
            ask(self.replica, "REPLICAOF", "NO", "ONE")

    def attach_replica(self):
        attach(self.primary, self.replica)

    def load(self):
        self.run_here("DEBUG", self.rng.choice(["RELOAD", "LOADAOF"]))


def attach(primary, replica):
    """Whether the replica follows from now on; not while it loads."""
    reply = ask(replica, "REPLICAOF", "127.0.0.1", primary.port)
    if not reply.startswith((b"+OK", b"-LOADING")):
        raise Trouble(f"REPLICAOF: {reply}")
    return reply.startswith(b"+OK")


def digests(primary, replica):
    return ask(primary, "DEBUG", "DIGEST"), ask(replica, "DEBUG", "DIGEST")


def check_servers_at_rest(primary, replica):
    """Nobody writes any more: both servers have the same, and it survives being loaded. Returns how many checks that
    were."""
    for number in COPIES:
        ask(primary, "FLUSHDB", database=number)
    wait_for("works that end", lambda: all(waiting_for_threads(server) == 0 for server in (primary, replica)))
    wait_for("a replica that loads", lambda: attach(primary, replica))
    wait_for("equal digests", lambda: is_in_step(primary, replica) and len(set(digests(primary, replica))) == 1)
    ask(primary, "BGREWRITEAOF")
    wait_for("the rewrite", lambda: rewrites_nothing(primary))
    before = ask(primary, "DEBUG", "DIGEST")
    for way in ("RELOAD", "LOADAOF"):
        reply = ask(primary, "DEBUG", way)
        after = ask(primary, "DEBUG", "DIGEST")
        if not reply.startswith(b"+OK") or before != after:
            raise Trouble(f"DEBUG {way}: {reply[:100]}, digest {before} before and {after} after")
    return 4


def check_values(primary, model):
    """Nobody writes any more: each command shows the value as it must be. Returns how many there were."""
    pure = [read for read in model.reads if read.is_pure]
    with Reading(primary, model.database, 2, False) as link:
        for read in pure:
            check_one(model, read, link.raw(*read.steps[0]))
    model.settle()
    return len(pure)


def check_one(model, read, reply):
    try:
        model.check(read, reply, model.mark(), model.last())
    except Trouble as trouble:
        raise Trouble(f"at rest: {read}: {trouble}") from trouble


def rewrites_nothing(server):
    with Link(server) as link:
        fields = info(link, "persistence")
    return all(fields[name] == "0" for name in ("aof_rewrite_in_progress", "aof_rewrite_scheduled",
                                                "rdb_bgsave_in_progress"))


def waiting_for_threads(server):
    with Link(server) as link:
        return int(info(link, "clients")["clients_waiting_for_threads"])
