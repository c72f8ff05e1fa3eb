"""One round: connections write, the server is killed, perhaps with the power, and started again; what it then has is
compared with what its clients know.

What must be there is all that was acknowledged before the round's floor (a time):

    killed      no, always              never: all of it
                everysec                2 s before the kill, and as long before that as the slowest fsync took
    power cut   always                  never
                everysec                the same
                no                      the round's begin
    either      rdb                     when the last BGSAVE was asked for that has ended well

A busy machine runs the server later than its timers say, so everysec has as much more time as the machine was late.

And whatever is there: it is what the data was at one moment, and what was there before the round.
"""
import math
import os
import random
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from lateness import Lateness
from resp import Link
from verdict import check_snapshot, check_state
from writers import Consumer, Trouble, Writer

DATABASES = (0, 1)
WRITERS = 3  # in each database
BALLAST_DATABASE, BALLAST_KEYS = 2, 1500
EVERYSEC_SECONDS = 2.0
# What the machine may run late, one after the other: the server's loop, its thread that calls fsync, the thread here
# that sees the end of the server; and one more.
LATE_TIMES = 4
SAFE_AFTER_SECONDS = {"always": 0.0, "everysec": EVERYSEC_SECONDS}  # from the power cut, by promise
SECONDS_MAX = {"always": 1.5, "everysec": 3.6, "no": 1.5, "rdb": 3.2}  # that a long round writes
SHARED_MAX = 20_000  # elements by one connection
POLICIES = ("always", "everysec", "always", "everysec", "rdb", "always", "no", "everysec", "rdb", "always")
# The calls that bring files to the disk and put them in their place; a rewrite makes several of most of them.
MOMENTS = {
    b"BGREWRITEAOF": (("sync", "appendonlydir"),) * 3 + (("sync", "*.manifest"),
                      ("sync", "*.incr.aof"), ("sync", "temp-rewriteaof*"), ("rename", "*.manifest"),
                      ("rename", "*.base.*"), ("unlink", "*")),
    b"BGSAVE": (("sync", "."), ("sync", "temp-*"), ("rename", "dump.rdb"), ("write", "temp-*")),
}
WHICH_CALL = (1, 1, 1, 2, 3, 4, 5)
# What every server is started with: what producers have added is remembered over all rounds.
ALWAYS = ["--stream-idmp-duration", "86400"]
SLOW = 3 if os.environ.get("PACKLIST_SLOW") else 1


@dataclass
class Plan:
    number: int
    policy: str
    power: bool  # it is cut, too
    seed: str

    def __str__(self):
        return f"{self.policy}, {'power cut' if self.power else 'kill'}"


@dataclass
class Outcome:
    commands: int = 0
    acknowledged: int = 0
    missing: int = 0  # that were acknowledged
    missing_seconds: float = 0.0  # between the first of them and the kill


def plan_round(number, seed):
    chance = random.Random(f"{seed}/{number}/plan")
    return Plan(number, POLICIES[number % len(POLICIES)], chance.random() < 0.5, f"{seed}/{number}")


def ask(link, *argv):
    reply = link.call(*argv)
    if reply[:1] == b"-":
        raise Trouble(f"{b' '.join(argv[:4])!r} was answered {reply!r}")
    return reply


def configure(link, **directives):
    for name, value in directives.items():
        ask(link, b"CONFIG", b"SET", name.replace("_", "-").encode(), str(value).encode())


def wait_for(link, *lines):
    """Until INFO persistence has all of these lines."""
    deadline = time.monotonic() + 60
    while not all(b"\r\n" + line + b"\r\n" in ask(link, b"INFO", b"persistence") for line in lines):
        if time.monotonic() > deadline:
            raise Trouble(f"INFO does not come to have {lines!r}")
        time.sleep(0.005)


def lay_ballast(link):
    """Data that stays, so that it takes a while to save and load all."""
    ask(link, b"SELECT", b"%d" % BALLAST_DATABASE)
    ask(link, b"DEBUG", b"POPULATE", b"%d" % BALLAST_KEYS, b"ballast", b"100")
    for number in range(20):
        ask(link, b"RPUSH", b"list", *[b"element %d of the ballast" % (number * 1000 + i) for i in range(1000)])
    ask(link, b"SELECT", b"0")


def ballast_digest(link):
    ask(link, b"SELECT", b"%d" % BALLAST_DATABASE)
    keys = [b"ballast:%d" % number for number in range(BALLAST_KEYS)]
    digest = ask(link, b"DBSIZE"), ask(link, b"DEBUG", b"DIGEST-VALUE", b"list", *keys)
    ask(link, b"SELECT", b"0")
    return digest


class Round:
    def __init__(self, server, disk, plan, models):
        self.server, self.disk, self.plan, self.models = server, disk, plan, models
        self.chance = random.Random(plan.seed)
        # How often one is asked depends on time or on what is found: none may shift another.
        self.end_chance, self.back_chance, self.cut_chance, self.restart_chance = (
            random.Random(f"{plan.seed}/{part}") for part in ("end", "back", "cut", "restart"))
        self.did = []
        self.killed = 0.0
        self.saved_floor = 0.0  # when the last snapshot was asked for that was seen to end well
        self.digest = None  # of what must be there, if that is known
        self.lateness = Lateness()

    # --- Before ---

    def prepare(self):
        """Puts the policy in force. All that was there before is on the disk afterwards."""
        link = Link(self.server)
        self.ballast = ballast_digest(link)
        if self.plan.policy == "rdb":
            configure(link, appendonly="no")
            self.reset_shared(link)
            wait_for(link, b"rdb_bgsave_in_progress:0", b"aof_rewrite_in_progress:0")
            ask(link, b"SAVE")
            configure(link, save=self.chance.choice(("", "1 1")))
        else:
            configure(link, save="", appendonly="yes", appendfsync="always")
            wait_for(link, b"aof_enabled:1", b"aof_rewrite_in_progress:0", b"aof_rewrite_scheduled:0",
                     b"aof_last_bgrewrite_status:ok")
            self.reset_shared(link)
            ask(link, b"SET", b"round", b"%d" % self.plan.number)  # brings to the disk what was not yet there
            configure(link, auto_aof_rewrite_percentage=self.chance.choice((0, 10, 60)),
                      auto_aof_rewrite_min_size=self.chance.choice((1000, 300_000)),
                      aof_use_rdb_preamble=self.chance.choice(("yes", "yes", "no")),
                      aof_timestamp_enabled=self.chance.choice(("yes", "no")),
                      appendfsync=self.plan.policy)
        configure(link, rdb_key_save_delay=self.chance.choice((0, 0, 20, 100)),
                  list_max_listpack_size=self.chance.choice((-2, 5, 128)),
                  set_max_intset_entries=self.chance.choice((4, 512)),
                  **{f"{kind}_max_listpack_entries": self.chance.choice((4, 128)) for kind in ("set", "hash", "zset")},
                  list_compress_depth=self.chance.choice((0, 1)),
                  stream_node_max_entries=self.chance.choice((3, 100)),
                  hll_sparse_max_bytes=self.chance.choice((30, 3000)))
        link.close()

    def reset_shared(self, link):
        """The queues begin anew in each round; `shared` grows over some."""
        names = [b"queue", b"taken"]
        if any(len(model.added[b"shared"]) > SHARED_MAX for model in self.models.values()):
            names.append(b"shared")
        for database in DATABASES:
            ask(link, b"SELECT", b"%d" % database)
            ask(link, b"DEL", *names)
        ask(link, b"SELECT", b"0")
        for model in self.models.values():
            for name in model.added.keys() & names:
                model.added[name] = []

    # --- Meanwhile ---

    def options(self):
        if self.plan.policy == "rdb":
            return [*ALWAYS, "--appendonly", "no"]
        return [*ALWAYS, "--appendonly", "yes", "--appendfsync", self.plan.policy]

    def write(self):
        self.writers = [Writer(name, database, self.models[name], f"{self.plan.seed}/{name}", self.plan.number)
                        for database in DATABASES for name in writer_names(database)]
        self.consumers = [Consumer(b"c%d" % database, database, f"{self.plan.seed}/c{database}")
                          for database in DATABASES]
        clients = [*self.writers, *self.consumers]
        self.lateness.start()
        for client in clients:
            client.begin(self.server)
        self.disturb()
        self.kill()
        for client in clients:
            client.join(60)
            if client.error or client.is_alive():
                raise Trouble(f"connection {client.client_name!r}: {client.error!r}")
        self.lateness.stop()

    def disturb(self):
        """Until the moment of the kill, which often is just after a snapshot was begun."""
        link = Link(self.server)
        is_long = self.chance.random() < 0.3
        until = time.monotonic() + self.chance.uniform(0.2, SECONDS_MAX[self.plan.policy] if is_long else 1.0)
        request = b"BGSAVE" if self.plan.policy == "rdb" else b"BGREWRITEAOF"
        asked = None
        while time.monotonic() < until:
            if asked is None and self.chance.random() < 0.3:
                asked = self.begin_snapshot(link, request)
            time.sleep(self.chance.uniform(0.005, 0.08))
            if asked is not None and self.has_ended(link, request):
                self.saved_floor, asked = asked, None
        how = self.end_chance.random()
        if how < 0.3:
            other = self.end_chance.choice((request, request, b"BGSAVE"))
            self.begin_snapshot(link, other)
            self.did.append(f"killed just after {other.decode()}")
            time.sleep(self.end_chance.choice((0.0, 0.005, 0.02, 0.1)) * self.end_chance.random())
        elif how < 0.7:
            self.die_at_moment(link, request)
        link.close()

    def die_at_moment(self, link, request):
        """The server is killed when it puts files in their place, if it comes to that."""
        call, glob = self.end_chance.choice(MOMENTS[request])
        number = self.end_chance.choice(WHICH_CALL)
        self.disk.kill_before(call, number, glob)
        try:
            self.begin_snapshot(link, request)
        except (OSError, EOFError):
            pass  # that was it
        until = time.monotonic() + 1.5 * SLOW
        while self.server.is_running() and time.monotonic() < until:
            time.sleep(0.002)
        if self.disk.has_killed():
            self.killed = time.monotonic()
            self.did.append(f"killed before {call} {number} of {glob}")

    def begin_snapshot(self, link, request):
        """When it was asked for; None when another one was being written already."""
        now = time.monotonic()
        return None if link.call(request)[:1] == b"-" else now

    def has_ended(self, link, request):
        figures = ask(link, b"INFO", b"persistence")
        if request == b"BGREWRITEAOF":
            return True
        if b"rdb_last_bgsave_status:ok" not in figures:
            raise Trouble("a snapshot failed")
        return b"rdb_bgsave_in_progress:0" in figures

    def kill(self):
        if self.plan.power and self.end_chance.random() < (0.7 if self.killed else 0.25):
            self.come_back()
        self.killed = self.killed or time.monotonic()
        self.stop_at_once()
        self.disk.read_notes()
        self.keep_files()
        self.cut()

    def stop_at_once(self):
        """Unless it was killed."""
        if not self.server.is_running() and not self.disk.has_killed():
            raise Trouble("the server has ended by itself")
        self.server.process.kill()
        self.server.process.wait()
        self.disk.forget_kill()

    def come_back(self):
        """The next server syncs what a killed one has left to the system, before changes build on it."""
        if self.plan.policy not in SAFE_AFTER_SECONDS:
            return
        self.killed = self.killed or time.monotonic()
        self.stop_at_once()
        self.server.launch(*self.options())
        link = Link(self.server)
        if self.back_chance.random() < 0.8:
            ask(link, b"SET", b"round", b"%d, after a kill" % self.plan.number)
        time.sleep(SAFE_AFTER_SECONDS[self.plan.policy] * SLOW)
        time.sleep(LATE_TIMES * self.lateness.worst_seconds)
        wait_for(link, b"aof_pending_bio_fsync:0")
        self.digest = ask(link, b"DEBUG", b"DIGEST")
        link.close()
        self.did.append("killed and started before")

    def keep_files(self):
        """As they were after the kill, should something be wrong with them."""
        self.kept = Path(f"{self.server.folder}.killed")
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.server.folder, self.kept)

    def cut(self):
        if self.plan.power:
            self.did += self.disk.cut(self.server.folder, self.cut_chance)

    def restart(self):
        """Some servers are killed while they load."""
        if self.restart_chance.random() < 0.3:
            for _ in range(self.restart_chance.randint(1, 3)):
                self.server.begin(*self.options(), "--key-load-delay", "50")
                time.sleep(self.restart_chance.uniform(0.0, 0.12) * SLOW)
                if not self.server.is_running():
                    raise Trouble("the server ended while it loaded")
                self.server.process.kill()
                self.server.process.wait()
                self.cut()
            self.did.append("killed while loading")
        self.server.launch(*self.options())

    # --- Afterwards ---

    def floor_time(self):
        if self.plan.policy == "rdb":
            return self.saved_floor
        if self.plan.policy == "always" or not self.plan.power and self.plan.policy == "no":
            return math.inf
        if self.plan.policy == "no":
            return 0.0
        late_seconds = LATE_TIMES * self.lateness.worst_seconds
        return self.killed - EVERYSEC_SECONDS - self.disk.slowest_seconds - late_seconds

    def check(self):
        check_snapshot(self.server.folder)
        link = Link(self.server)
        lasts = check_state(link, self.writers, self.consumers, self.floor_time())
        if self.digest and ask(link, b"DEBUG", b"DIGEST") != self.digest:
            raise Trouble("what the server had to keep when the power was cut is not there")
        if ballast_digest(link) != self.ballast:
            raise Trouble("data that no client has changed is not what it was")
        link.close()
        outcome = Outcome()
        for writer, last in zip(self.writers, lasts):
            self.count(outcome, writer, last)
        return outcome

    def count(self, outcome, writer, last):
        outcome.commands += sum(len(unit.commands) for unit in writer.units)
        outcome.acknowledged += sum(len(unit.commands) for unit in writer.units if unit.acknowledged)
        lost = [unit for unit in writer.units[last:] if unit.acknowledged]
        if lost:
            outcome.missing += sum(len(unit.commands) for unit in lost)
            outcome.missing_seconds = max(outcome.missing_seconds, self.killed - lost[0].acknowledged)


def writer_names(database):
    return [b"w%d%d" % (database, number) for number in range(WRITERS)]
