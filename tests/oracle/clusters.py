"""CLUSTER: the same random changes of slots and nodes at a node of each server bring the same replies, and leave the
same slots. Both begin with the same nodes.conf, in which other nodes stand that nobody has started.

Intended differences: a slot is not opened for the node itself, which Redis allows; a reference of Redis has no ids of
shards in SHARDS; fields of INFO that it lacks, and messages to other nodes; the state and the size, which follow a
timer there.
"""
import re
import tempfile
from pathlib import Path

from resp import Link, value_of
from servers import free_port, start_packlist, start_reference

ROUNDS = 6
COMMANDS = 150
MYSELF, OTHER, REPLICA, NOBODY = (c * 40 for c in "abcf")
OPTIONS = ["--cluster-enabled", "yes", "--cluster-node-timeout", "600000", "--cluster-announce-ip", "127.0.0.1",
           "--cluster-announce-port", "7", "--cluster-announce-bus-port", "8", "--cluster-require-full-coverage", "no"]
IDS = [MYSELF, OTHER, REPLICA, NOBODY, "x"]
NUMBERS = ["0", "1", "16383", "16384", "-1", "x", ""]


def slot(rng):
    return rng.choice([str(rng.randrange(4990, 5010)), str(rng.randrange(7990, 8010)), rng.choice(NUMBERS)])


def slots(rng):
    return [slot(rng) for _ in range(rng.randint(1, 4))]


def setslot(rng):
    """Not for the node itself, but to give it a slot."""
    word = rng.choice(["MIGRATING", "IMPORTING", "NODE", "STABLE", "nosuch"])
    ids = IDS if word == "NODE" else IDS[1:]
    return ["SETSLOT", slot(rng), word] + ([] if rng.random() < 0.2 or word == "STABLE" else [rng.choice(ids)])


def command(rng):
    return ["CLUSTER", *rng.choice([
        lambda: [rng.choice(["ADDSLOTS", "DELSLOTS"]), *slots(rng)],
        lambda: [rng.choice(["ADDSLOTSRANGE", "DELSLOTSRANGE"]), *slots(rng)],
        lambda: setslot(rng),
        lambda: setslot(rng),
        lambda: ["COUNTKEYSINSLOT", slot(rng)],
        lambda: ["GETKEYSINSLOT", slot(rng), rng.choice(["0", "1", "-1", "x"])],
        lambda: ["KEYSLOT", rng.choice(["", "a", "{a}b", "{}a", "a{b", "{{a}b}"])],
        lambda: [rng.choice(["NODES", "SLOTS", "SHARDS", "INFO", "MYID", "BUMPEPOCH", "LINKS", "NOSUCH",
                             "SAVECONFIG"])],
        lambda: [rng.choice(["REPLICAS", "SLAVES", "COUNT-FAILURE-REPORTS"]), rng.choice(IDS)],
        lambda: ["SET-CONFIG-EPOCH", rng.choice(["1", "x", "-1"])],
        lambda: [rng.choice(["RESET", "FORGET", "KEYSLOT", "SETSLOT", "INFO"]), *["x"] * rng.randint(0, 3)],
        lambda: rng.choice([["FLUSHSLOTS"], ["RESET"], ["FORGET", rng.choice(IDS)]]
                           if rng.random() < 0.1 else [["MYID"]]),
    ])()]


def nodes_file(reference):
    """Redis 7.0 has no shard ids in the file; Redis 7.2 shows no shards without them."""
    first, second = (f",,tls-port=0,shard-id={n * 40}" if reference >= (7, 2) else "" for n in "12")
    return f"""{MYSELF} 127.0.0.1:1@2{first} myself,master - 0 0 1 connected 0-5000
{OTHER} 127.0.0.1:3@4{second} master - 0 0 2 connected 8000-16383
{REPLICA} 127.0.0.1:5@6{first} slave {MYSELF} 0 0 1 connected
vars currentEpoch 2 lastVoteEpoch 0
"""


def shard_of(shard):
    """Without its id, which only newer servers show; nodes have no order."""
    fields = dict(zip(shard[::2], shard[1::2])) if isinstance(shard, list) else dict(shard)
    nodes = [sorted(map(str, node.items() if isinstance(node, dict) else zip(node[::2], node[1::2])))
             for node in fields[b"nodes"]]
    return str((fields[b"slots"], sorted(nodes)))


def without_links(line):
    """Without the times of pings, and whether there is a connection."""
    return re.sub(rb"((?:slave|master) \S+) \d+ \d+ (\d+) (?:dis)?connected", rb"\1 \2", line)


def comparable(argv, reply, shown):
    """`shown`: the names of INFO's fields that both servers have."""
    word = argv[1] if len(argv) == 2 else ""
    if reply.startswith(b"-") or word not in ("NODES", "SHARDS", "INFO"):
        return without_links(re.sub(rb"\$\d+\r\n", b"", reply))
    value = value_of(reply)
    if word == "NODES":
        return sorted(map(without_links, value.splitlines()))
    if word == "SHARDS":
        return sorted(map(shard_of, value))
    fields = dict(line.split(b":") for line in value.split())
    return {name: fields[name] for name in shown}


def info_fields(links):
    """Those that both have, but for messages and for what follows a timer."""
    both = [{line.split(b":")[0] for line in value_of(link.call("CLUSTER", "INFO")).split()} for link in links]
    return [name for name in sorted(both[0] & both[1]) if not re.search(rb"state|stats|links|size", name)]


def one_round(rng, servers, protocol):
    """Returns None, or the command at which the replies differ, with these."""
    links = [Link(server) for server in servers]
    for link in links:
        link.call("HELLO", protocol)
    shown = info_fields(links)
    history = []
    try:
        for _ in range(COMMANDS):
            argv = command(rng)
            for asked in argv, ["CLUSTER", "NODES"]:
                history.append(asked)
                replies = [comparable(asked, link.call(*asked), shown) for link in links]
                if replies[0] != replies[1]:
                    return history, replies
    finally:
        for link in links:
            link.close()
    return None


def check_clusters(rng, reference):
    """Returns (passed, failed) rounds."""
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "nodes.conf").write_text(nodes_file(reference), encoding="ascii")
        for number in range(ROUNDS):
            servers = [start([*OPTIONS, "--cluster-port", str(free_port())], folder)
                       for start in (start_packlist, start_reference)]
            found = one_round(rng, servers, 2 + number % 2)
            ended = all([server.stop() for server in servers])
            if found:
                print(f"DIFFERENCE between nodes of clusters: {' '.join(found[0][-2])!r}, {' '.join(found[0][-1])!r}\n"
                      f"  packlist:  {found[1][0]!r:.2000}\n  reference: {found[1][1]!r:.2000}", flush=True)
            passed, failed = passed + (ended and not found), failed + bool(found or not ended)
    return passed, failed
