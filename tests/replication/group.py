"""A primary with ten replicas, while clients write, and while either side is killed.

Clients push numbers to lists, each followed by WAIT. Meanwhile the primary or a replica is killed at a random moment,
often while data is on its way to all replicas; or a replica stops reading until it is beyond its output limit. In the
end the primary is killed for good, and the history is checked:

- each replica has the beginning of one history: no list has a number twice, out of order, or after a gap that another
  replica does not have;
- what WAIT has found on n replicas is on n of them at least (on those that were not restarted since);
- the replica that has most becomes the primary: it has everything that was acknowledged, and the others get the same.
"""
import random
import shutil
import signal
import threading
import time

from common import Trouble, Writes, call, check_same, field, follow, wait_for
from resp import Link, encode, value_of
from servers import running, start_packlist

REPLICAS, WRITERS, KEYS, HARMS = 10, 4, 20000, 4
DATABASE = b"5"  # of the lists: random commands do not get there
PRIMARY_OPTIONS = ["--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0"]


def random_of(rng):
    """For another thread."""
    return random.Random(rng.getrandbits(64))


class Pusher(threading.Thread):
    """Pushes 1, 2, … to a list of its own; `acknowledged` has (number, how many replicas have it by WAIT)."""

    def __init__(self, primary, number, rng):
        super().__init__(daemon=True)
        self.primary, self.key, self.rng, self.n = primary, b"pushed:%d" % number, rng, 0
        self.acknowledged, self.ends = [], threading.Event()

    def run(self):
        while not self.ends.is_set():
            try:
                link = Link(self.primary)
                link.call(b"SELECT", DATABASE)
                while not self.ends.is_set():
                    self.push(link)
            except (OSError, EOFError):
                time.sleep(0.02)

    def push(self, link):
        self.n += 1
        if not link.call(b"RPUSH", self.key, b"%d" % self.n).startswith(b":"):
            time.sleep(0.02)  # it loads
            return
        count = int(link.call(b"WAIT", b"%d" % self.rng.randint(1, 6), b"1000")[1:])
        self.acknowledged.append((self.n, count))

    def end(self):
        self.ends.set()
        self.join()

    def numbers(self, server):
        """Those that a server has."""
        link = Link(server)
        link.call(b"SELECT", DATABASE)
        reply = link.call(b"LRANGE", self.key, b"0", b"-1")
        link.close()
        return [int(word) for word in value_of(reply)]


class Noise(threading.Thread):
    """Random commands on keys of all types."""

    def __init__(self, primary, rng):
        super().__init__(daemon=True)
        self.primary, self.generator, self.ends = primary, Writes(rng, primary.redis_version()), threading.Event()

    def run(self):
        while not self.ends.is_set():
            try:
                link = Link(self.primary)
                while not self.ends.is_set():
                    link.batch(b"".join(map(encode, [*self.generator.sequence(), [b"DISCARD"]])))
                    time.sleep(0.002)
            except (OSError, EOFError):
                time.sleep(0.02)

    def end(self):
        self.ends.set()
        self.join()


class Group:
    def __init__(self, rng):
        self.rng = rng
        self.primary = start_packlist(PRIMARY_OPTIONS)
        self.primary.name = "the primary"
        self.replicas = [start_packlist() for _ in range(REPLICAS)]
        for i, replica in enumerate(self.replicas):
            replica.name = f"replica {i}"
        call(self.primary, b"DEBUG", b"POPULATE", b"%d" % KEYS, b"key", b"100")
        call(self.primary, b"BGREWRITEAOF")  # these keys are in no file yet
        wait_for("the rewrite", lambda: field(self.primary, b"persistence", "aof_current_size") != "0" and
                 field(self.primary, b"persistence", "aof_rewrite_in_progress") == "0")
        for replica in self.replicas:  # all at once
            follow(replica, self.primary)
        self.wait_for_links()

    def wait_for_links(self):
        for replica in self.replicas:
            wait_for(f"{replica.name} is connected", lambda:
                     field(replica, b"replication", "master_link_status") == "up")
        wait_for("the primary sees all replicas", lambda:
                 int(field(self.primary, b"replication", "connected_slaves")) == REPLICAS)

    # --- What happens

    def nap(self):
        time.sleep(self.rng.random() * self.rng.choice([0.001, 0.01, 0.1, 1]))

    def sync_again(self):
        """All replicas get all data, or what they have missed."""
        if self.rng.random() < 0.6:
            call(self.primary, b"DEBUG", b"CHANGE-REPL-ID")
        call(self.primary, b"CLIENT", b"KILL", b"TYPE", b"replica")

    def kill(self, server, *options):
        server.process.kill()
        server.process.wait()
        server.begin(*options)
        wait_for(f"{server.name} starts", server.is_ready)

    def kill_replica(self):
        replica = self.rng.choice(self.replicas)
        self.kill(replica, "--replicaof", f"127.0.0.1 {self.primary.port}")

    def kill_primary(self):
        self.kill(self.primary, *PRIMARY_OPTIONS)

    def stop_reading(self):
        """A replica that reads nothing is disconnected at the limit, and comes back."""
        replica = self.rng.choice(self.replicas)

        def limit(backlog, most):
            call(self.primary, b"CONFIG", b"SET", b"repl-backlog-size", backlog, b"client-output-buffer-limit",
                 b"replica " + most)
        limit(b"16384", b"1mb 0 0")
        before = int(field(self.primary, b"stats", "client_output_buffer_limit_disconnections"))
        replica.process.send_signal(signal.SIGSTOP)
        try:
            def is_cut_off():
                call(self.primary, b"SET", b"filler", b"x" * 300000)
                return int(field(self.primary, b"stats", "client_output_buffer_limit_disconnections")) > before
            wait_for("the replica that does not read is disconnected", is_cut_off)
        finally:
            replica.process.send_signal(signal.SIGCONT)
        limit(b"1mb", b"256mb 64mb 60")

    def suffer(self):
        happening = self.rng.choice([self.kill_replica, self.kill_primary, self.kill_replica, self.kill_primary,
                                     self.stop_reading])
        if happening != self.stop_reading and self.rng.random() < 0.8:
            self.sync_again()
            self.nap()
        happening()
        self.wait_for_links()

    # --- The history

    def wait_for_all(self):
        """Until the replicas have what the primary has now."""
        offset = int(field(self.primary, b"replication", "master_repl_offset"))
        for replica in self.replicas:
            wait_for(f"{replica.name} has the history so far", lambda:
                     int(field(replica, b"replication", "slave_repl_offset")) >= offset)

    def check_history(self, pushers, since):
        """Since each pusher's number `since`, no replica was restarted; the primary is dead. Returns the replica that
        has most."""
        for replica in self.replicas:
            wait_for(f"{replica.name} has read everything", lambda:
                     field(replica, b"replication", "master_link_status") == "down")
        newest = max(self.replicas, key=lambda r: int(field(r, b"replication", "slave_repl_offset")))
        for pusher, begin in zip(pushers, since):
            lists = [pusher.numbers(replica) for replica in self.replicas]
            most = pusher.numbers(newest)
            if most != sorted(set(most)):
                raise Trouble(f"{pusher.key} is out of order")
            for replica, numbers in zip(self.replicas, lists):
                if numbers != most[:len(numbers)]:
                    raise Trouble(f"{pusher.key} of {replica.name} is no part of the history")
            lengths = sorted(map(len, lists), reverse=True)
            places = {number: place for place, number in enumerate(most)}
            for number, count in pusher.acknowledged:
                if number not in places and (number < begin or count > 0):
                    raise Trouble(f"{pusher.key}: {number} was acknowledged and is lost")
                if number > begin and count > 0 and lengths[count - 1] <= places[number]:
                    raise Trouble(f"{pusher.key}: {number} was acknowledged by {count} replicas, and is on fewer")
        return newest

    def end(self):
        """Whether all end in order."""
        return all([replica.stop() for replica in self.replicas])


def run_group(rng):
    """Returns what it has seen, in words."""
    others = set(running)
    try:
        return suffer_and_check(rng)
    finally:
        for server in running - others:
            server.process.kill()
            server.process.wait()
            shutil.rmtree(server.folder, ignore_errors=True)
            running.discard(server)


def suffer_and_check(rng):
    group = Group(rng)
    pushers = [Pusher(group.primary, i, random_of(rng)) for i in range(WRITERS)]
    noise = Noise(group.primary, random_of(rng))
    for thread in [*pushers, noise]:
        thread.start()
    for _ in range(HARMS):
        group.suffer()
    since = [pusher.n for pusher in pushers]
    group.wait_for_all()
    wait_for("more pushes are acknowledged", lambda: all(
        pusher.acknowledged and pusher.acknowledged[-1][0] > begin + 20 for pusher, begin in zip(pushers, since)))
    group.nap()
    group.primary.process.kill()
    group.primary.process.wait()
    for thread in [*pushers, noise]:
        thread.end()
    newest = group.check_history(pushers, since)
    call(newest, b"REPLICAOF", b"NO", b"ONE")
    others = [replica for replica in group.replicas if replica is not newest]
    for replica in others:
        follow(replica, newest)
    for replica in others:
        check_same(newest, replica)
    partial = field(newest, b"stats", "sync_partial_ok")
    acknowledged = sum(len(pusher.acknowledged) for pusher in pushers)
    if not group.end():
        raise Trouble("not all servers end in order")
    return f"{acknowledged:,} acknowledged pushes, {partial} of {len(others)} replicas went on without all data"
