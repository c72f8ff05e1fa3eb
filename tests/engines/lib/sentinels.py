"""Three data servers and three Sentinels, with the files of utils/deploy/sentinel/; and clients that write."""
import bisect
import contextlib
import re
import shutil
import threading
import time

from deployed import (PASSWORD, Connection, Address, Deployed, Trouble, call, deploy_file, edited, info, in_step,
                      start_data_server, wait_for)

NAME = "packlist"
DOWN_AFTER_MS = 3000
BOUND_SECONDS = 2 * DOWN_AFTER_MS / 1000 + 2


def find_sentinel():
    """(path, argv[0]) of a server in Sentinel mode, or None. Debian's redis-sentinel is a link to redis-check-rdb."""
    for program in ("redis-sentinel", "valkey-sentinel", "redis-check-rdb"):
        if path := shutil.which(program):
            return path, "redis-sentinel"
    return None


def data_config(primary_port):
    """The configuration of a server, a replica if there is a primary."""
    def make(port):
        text = edited(deploy_file("sentinel/packlist.conf"), {
            r"^bind .*": "bind 127.0.0.1", r"^port 6379$": f"port {port}",
            r"^# replicaof .*": f"replicaof 127.0.0.1 {primary_port}" if primary_port else ""})
        return text + "repl-diskless-sync-delay 0\nenable-debug-command local\nsave \"\"\n"
    return make


def sentinel_config(primary_port):
    def make(port):
        return edited(deploy_file("sentinel/sentinel.conf"), {
            r"^port 26379$": f"port {port}\nbind 127.0.0.1", r"10\.0\.0\.1 6379": f"127.0.0.1 {primary_port}",
            r"(down-after-milliseconds packlist) \d+": rf"\1 {DOWN_AFTER_MS}"})
    return make


class Plain:
    """How the servers are started, and how clients come to them: with a password, over TCP."""
    prefix = ""  # of the keys that clients may use

    def start_data_server(self, kind, name, primary_port):
        return start_data_server(kind, name, data_config(primary_port))

    def start_sentinel(self, name, primary_port):
        path, argv0 = find_sentinel()
        return Deployed(name, argv0, path, sentinel_config(primary_port), arguments=["--sentinel"])

    def address(self, port):
        return Address(port, PASSWORD)


class Group:
    """`kinds`: of the data servers; the first begins as the primary."""

    def __init__(self, kinds=("packlist",) * 3, world=None):
        self.world = world = world or Plain()
        first = world.start_data_server(kinds[0], f"{kinds[0]} 0", None)
        self.servers = [first] + [world.start_data_server(kind, f"{kind} {i}", first.port)
                                  for i, kind in enumerate(kinds[1:], 1)]
        wait_for("both replicas are in step", lambda: all(in_step(first, other) for other in self.servers[1:]))
        self.sentinels = [world.start_sentinel(f"Sentinel {i}", first.port) for i in range(3)]
        wait_for("the Sentinels know each other and the replicas", self.is_known)

    def facts(self, sentinel):
        """What a Sentinel knows of the primary."""
        flat = call(sentinel, "SENTINEL", "MASTER", NAME)
        return dict(zip(flat[::2], flat[1::2]))

    def is_known(self):
        for sentinel in self.sentinels:
            facts = self.facts(sentinel)
            if (facts["num-slaves"], facts["num-other-sentinels"], facts["flags"]) != ("2", "2", "master"):
                return False
            replicas = call(sentinel, "SENTINEL", "REPLICAS", NAME)
            if any("down" in flags or "disconnected" in flags
                   for flags in (dict(zip(r[::2], r[1::2]))["flags"] for r in replicas)):
                return False
        return True

    def primary_port(self):
        """What a client finds: the answer of the first Sentinel that answers."""
        for sentinel in self.sentinels:
            with contextlib.suppress(OSError, EOFError, Trouble):
                return int(call(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME, timeout=5)[1])
        raise Trouble("no Sentinel answers")

    def by_port(self, port):
        return next(server for server in self.servers if server.port == port)

    def primary(self):
        return self.by_port(self.primary_port())

    def agree(self, other_than=None):
        """Whether all Sentinels name one primary, which is one; another one than `other_than`."""
        ports = {int(call(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)[1]) for sentinel in self.sentinels}
        if len(ports) != 1 or other_than and other_than.port in ports:
            return False
        return info(self.by_port(ports.pop()))["role"] == "master"

    def is_whole(self):
        """Whether two replicas are in step with the primary, and the Sentinels see all of it."""
        primary = self.primary()
        others = [server for server in self.servers if server is not primary]
        return self.agree() and all(in_step_soon(primary, other) for other in others) and self.is_known()

    def events(self, name, since):
        """(seconds, line) of the events of this name in all Sentinels' logs since a time."""
        found = []
        for sentinel in self.sentinels:
            for line in sentinel.log_text().splitlines():
                if f"# {name} " in line or f"* {name} " in line or line.endswith(f"# {name}"):
                    when = log_seconds(line)
                    if when and when >= since:
                        found.append((when, line))
        return sorted(found)

    def stop(self):
        return all([server.stop() for server in [*self.sentinels, *self.servers]])


def in_step_soon(primary, replica):
    """The offsets of a primary that is written to move on: a replica of it that applies them is in step, too."""
    here = info(replica)
    return here.get("master_link_status") == "up" and here.get("master_port") == str(primary.port)


def log_seconds(line):
    """When a line was logged, in seconds since the epoch."""
    match = re.match(r"\d+:X (\d+ \w+ \d+ [\d:]+)\.(\d+) ", line)
    return match and time.mktime(time.strptime(match[1], "%d %b %Y %H:%M:%S")) + int(match[2]) / 1000


class Writer(threading.Thread):
    """Pushes numbers to a list of its own. A push is acknowledged when WAIT says that a replica has it."""

    def __init__(self, group, number):
        super().__init__(daemon=True)
        self.group, self.key, self.n = group, f"{group.world.prefix}written:{number}", 0
        self.acknowledged, self.times, self.errors = [], [], set()
        self.ends = threading.Event()

    def run(self):
        while not self.ends.is_set():
            try:
                connection = Connection(self.group.world.address(self.group.primary_port()), timeout=5)
            except (OSError, EOFError, Trouble):
                time.sleep(0.02)
                continue
            with contextlib.suppress(OSError, EOFError), contextlib.closing(connection):
                self.write(connection)
            time.sleep(0.02)

    def write(self, connection):
        """Until an error."""
        while not self.ends.is_set():
            self.n += 1
            try:
                connection.call("RPUSH", self.key, self.n)
                if connection.call("WAIT", 1, 1000) >= 1:
                    self.acknowledged.append(self.n)
                    self.times.append(time.time())
            except Trouble as trouble:
                self.errors.add(str(trouble).split()[0])
                break

    def first_since(self, when):
        """When the first write was acknowledged since `when`; None: none."""
        at = bisect.bisect_left(self.times, when)
        return self.times[at] if at < len(self.times) else None

    def end(self):
        self.ends.set()
        self.join()

    def lost(self, server):
        """Acknowledged numbers that are not there; or those that are there twice or out of order."""
        there = [int(n) for n in call(server, "LRANGE", self.key, 0, -1, timeout=60)]
        if there != sorted(set(there)):
            return ["out of order"]
        return sorted(set(self.acknowledged) - set(there))


def all_write(writers, since):
    """Whether each has had an acknowledgement since a time."""
    return all(writer.first_since(since) for writer in writers)
