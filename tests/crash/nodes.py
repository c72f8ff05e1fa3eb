"""Rounds with a node of a cluster: a connection gives it slots, takes some back and changes its hostname, one command
after the other, until the server is killed at a random moment or before a call that writes its file, perhaps with the
power. Started again, it has its name and knows what was acknowledged, or that and the command that was under way."""
import random
import shutil
import threading
import time

from disk import Disk
from resp import Link
from servers import start_packlist
from writers import Trouble

SLOTS = 16384
# A change creates a file, writes it, brings it to the disk, gives it its name, and brings that to the disk.
CALLS = (("open", "nodes.conf-*"), ("write", "nodes.conf-*"), ("sync", "nodes.conf-*"), ("rename", "nodes.conf"),
         ("sync", "."))
OPTIONS = ("--cluster-enabled", "yes", "--cluster-announce-port", "7000", "--cluster-announce-bus-port", "17000")


def some_range(chance, slots):
    """The ends of a range of slots of the kind that `slots` are, or None."""
    if not slots:
        return None
    first = last = chance.choice(sorted(slots))
    while last + 1 in slots and last - first < 2000 and chance.random() < 0.995:
        last += 1
    return first, last


class Node:
    """What the server should know: which slots it serves, and its hostname."""

    def __init__(self):
        self.name, self.slots, self.hostname = None, frozenset(), b""

    def draw(self, chance):
        """A command, and what is known after it."""
        kind = chance.randrange(10)
        mine = kind < 4
        ends = some_range(chance, self.slots if mine else frozenset(range(SLOTS)) - self.slots)
        if kind == 9 or ends is None:
            hostname = b"h%d" % chance.randrange(1000)
            return (b"CONFIG", b"SET", b"cluster-announce-hostname", hostname), (self.slots, hostname)
        touched = frozenset(range(ends[0], ends[1] + 1))
        slots = self.slots - touched if mine else self.slots | touched
        if chance.random() < 0.3:
            verb, words = b"SLOTS", [b"%d" % slot for slot in touched]
        else:
            verb, words = b"SLOTSRANGE", [b"%d" % end for end in ends]
        return (b"CLUSTER", (b"DEL" if mine else b"ADD") + verb, *words), (slots, self.hostname)

    def state(self):
        return self.slots, self.hostname


def read_state(server):
    """(name, (slots, hostname)) as the server tells them."""
    with Link(server) as link:
        reply = link.call(b"CLUSTER", b"NODES")
    lines = reply.split(b"\r\n", 1)[1].strip().split(b"\n")
    if len(lines) != 1 or b" myself,master - " not in lines[0]:
        raise Trouble(f"CLUSTER NODES is {reply!r}")
    fields, slots = lines[0].split(b" "), set()
    for word in fields[8:]:
        first, _, last = word.partition(b"-")
        slots.update(range(int(first), int(last or first) + 1))
    return fields[0], (frozenset(slots), fields[1].partition(b",")[2])


def change_until_end(server, node, chance):
    """Sends commands until the server ends; returns how many it has acknowledged, and what would be known after the
    last one, which got no reply."""
    count = 0
    with Link(server) as link:
        while True:
            command, after = node.draw(chance)
            try:
                reply = link.call(*command)
            except (OSError, EOFError):
                return count, after
            if reply != b"+OK\r\n":
                raise Trouble(f"{b' '.join(command[:4])!r} was answered {reply!r}")
            node.slots, node.hostname = after
            count += 1


def options_of(node):
    return (*OPTIONS, "--cluster-announce-hostname", node.hostname.decode())


def run_round(server, disk, node, number, seed):
    """Returns (how many changes were acknowledged, what was done)."""
    chance = random.Random(f"{seed}/{number}/nodes")
    did = []
    if chance.random() < 0.6:
        call, glob = chance.choice(CALLS)
        disk.kill_before(call, chance.randint(1, 20), glob)
        did.append(f"killed before a {call} of {glob}")
        timer = threading.Timer(20, server.process.kill)
    else:
        timer = threading.Timer(chance.uniform(0.001, 0.2), server.process.kill)
    timer.start()
    acknowledged, pending = change_until_end(server, node, chance)
    timer.cancel()
    server.process.wait()
    disk.forget_kill()
    shutil.rmtree(f"{server.folder}.killed", ignore_errors=True)
    shutil.copytree(server.folder, f"{server.folder}.killed")
    if chance.random() < 0.5:
        did += ["power cut", *disk.cut(server.folder, chance)]
    # The hostname that the file has is replaced by that of the directive, so it is compared before.
    with open(f"{server.folder}/nodes.conf", "rb") as file:
        hostname = file.read().split(b"\n")[0].split(b" ")[1].split(b",")[1]
    server.launch(*options_of(node))
    name, (slots, _) = read_state(server)
    if name != node.name:
        raise Trouble(f"the node has another name, {name!r}")
    if (slots, hostname) not in (node.state(), pending):
        raise Trouble(f"{len(slots)} slots and hostname {hostname!r}; expected {len(node.slots)} and {node.hostname!r},"
                      f" or {len(pending[0])} and {pending[1]!r}")
    node.slots = slots
    return acknowledged, did


def run_node_rounds(libraries, rounds, seed):
    """Returns (rounds that passed, rounds that failed)."""
    disk, node = Disk(libraries), Node()
    server = start_packlist(OPTIONS, environment=disk.environment)
    node.name, _ = read_state(server)
    started, changes = time.monotonic(), 0
    for number in range(rounds):
        try:
            acknowledged, did = run_round(server, disk, node, number, seed)
        except (Trouble, OSError, EOFError, SystemExit) as trouble:
            print(f"FAILED: round {number} of nodes: {type(trouble).__name__}: {trouble}\n"
                  f"files after the kill: {server.folder}.killed; now: {server.folder}")
            server.process.kill()
            server.process.wait()
            disk.remove()
            return number, 1
        changes += acknowledged
        if did:
            print(f"round {number} of nodes: {acknowledged} changes ({'; '.join(did)})", flush=True)
    print(f"{rounds} rounds of nodes with {changes} changes in {time.monotonic() - started:.0f} s")
    shutil.rmtree(f"{server.folder}.killed", ignore_errors=True)
    clean = server.stop()
    disk.remove()
    return rounds + clean, int(not clean)
