"""Clients that wait: the same waits and pushes at both servers must wake the same clients with the same replies.

Intended difference: a client that waits for several keys is served from the key that woke it. Redis from 7.2 on
executes its command again, which takes the first of its keys that has an element by then. With such a reference each
client waits for one key.
"""
from resp import Link, encode, info

WAITERS = 6
ROUNDS = 60
KEYS = [b"p", b"q", b"s"]
ZKEYS = [b"zp", b"zq"]
XKEYS = [b"xp", b"xq"]  # never of another type: an error of one key would answer for all
GKEYS = [b"xg", b"xh"]  # streams with a consumer group, now and then


class Scene:
    """A driver and several waiters at one server."""

    def __init__(self, server, protocol):
        self.driver = Link(server)
        self.waiters = [Link(server) for _ in range(WAITERS)]
        for link in (self.driver, *self.waiters):
            link.call(b"HELLO", b"%d" % protocol)
        self.driver.call(b"FLUSHALL")
        self.ids = [link.call(b"CLIENT", b"ID") for link in self.waiters]

    def blocked(self):
        return int(info(self.driver, "clients")["blocked_clients"])

    def wait(self, which, argv, expected_blocked):
        """Sends a blocking command; its reply when it was answered at once, else b"" once it waits."""
        link = self.waiters[which]
        link.send(encode(argv))
        while True:
            if (reply := link.reply_within(0.002)) is not None:
                return reply
            if self.blocked() >= expected_blocked:
                return b""

    def close(self):
        for link in (self.driver, *self.waiters):
            link.close()


def waiting_command(rng, keys_max):
    keys = [rng.choice(KEYS) for _ in range(rng.randint(1, keys_max))]
    side = rng.choice([b"LEFT", b"RIGHT"])
    # A key may hold a sorted set while clients wait there for a list, and the other way round.
    zkeys = [rng.choice(ZKEYS if rng.random() < 0.9 else KEYS) for _ in keys]
    # Redis 7.0 serves a client from the first of its keys that is ready, newer servers and Packlist from all.
    xkeys = [rng.choice(XKEYS)]
    # Redis 7.0 answers otherwise where a group is gone.
    if keys_max == 1 and rng.random() < 0.2:
        return [b"XREADGROUP", b"GROUP", b"g", b"c%d" % rng.randint(1, 3), b"COUNT", b"%d" % rng.randint(1, 3),
                b"BLOCK", b"0", b"STREAMS", rng.choice(GKEYS), b">"]
    return rng.choice([
        [b"XREAD", b"COUNT", b"%d" % rng.randint(1, 3), b"BLOCK", b"0", b"STREAMS", *xkeys,
         *[rng.choice([b"$", b"0", b"5", b"50"]) for _ in xkeys]],
        [rng.choice([b"BZPOPMIN", b"BZPOPMAX"]), *zkeys, b"0"],
        [b"BZMPOP", b"0", b"%d" % len(zkeys), *zkeys, rng.choice([b"MIN", b"MAX"]), b"COUNT",
         b"%d" % rng.randint(1, 3)],
        [b"BLPOP", *keys, b"0"],
        [b"BRPOP", *keys, b"0"],
        [b"BLMOVE", keys[0], rng.choice(KEYS), side, rng.choice([b"LEFT", b"RIGHT"]), b"0"],
        [b"BRPOPLPUSH", keys[0], rng.choice(KEYS + [b"text"]), b"0"],
        [b"BLMPOP", b"0", b"%d" % len(keys), *keys, side, b"COUNT", b"%d" % rng.randint(1, 3)],
    ])


def group_command(rng):
    key, free = rng.choice(GKEYS), b"xfree"
    return rng.choice([[b"XGROUP", b"CREATE", key, b"g", rng.choice([b"0", b"$"]), b"MKSTREAM"],
                       [b"XGROUP", b"CREATE", key, b"g", b"0", b"MKSTREAM"],
                       [b"XADD", key, b"%d-*" % rng.randint(1, 90), b"f", b"v"],
                       [b"XADD", key, b"%d-*" % rng.randint(1, 90), b"f", b"v"],
                       [b"XGROUP", b"SETID", key, b"g", rng.choice([b"0", b"$"])],
                       [b"XGROUP", b"DELCONSUMER", key, b"g", b"c1"],
                       [b"XGROUP", b"DESTROY", key, b"g"], [b"DEL", key], [b"SET", key, b"v"], [b"RENAME", key, free],
                       [b"RENAME", free, key], [b"COPY", free, key, b"REPLACE"], [b"XPENDING", key, b"g"]])


def driving_command(rng, keys_max):
    if keys_max == 1 and rng.random() < 0.2:
        return group_command(rng)
    values = [b"%d" % rng.randint(0, 99) for _ in range(rng.randint(1, 3))]
    pairs = [part for value in values for part in (b"%d" % rng.randint(-3, 3), value)]
    if rng.random() < 0.25:
        key = rng.choice(XKEYS)
        return rng.choice([[b"XADD", key, b"NOMKSTREAM", b"%d-*" % rng.randint(1, 90), b"f", *values[:1]],
                           [b"XADD", key, b"%d-*" % rng.randint(1, 90), b"f", *values[:1]],
                           [b"XADD", key, b"MAXLEN", b"2", b"%d-*" % rng.randint(1, 90), b"f", *values[:1]],
                           [b"XDEL", key, b"%d-0" % rng.randint(1, 90)],
                           [b"DEL", key]])
    return rng.choice([
        [b"ZADD", rng.choice(ZKEYS), *pairs],
        [b"ZADD", rng.choice(ZKEYS + [b"zspare"]), *pairs],
        [b"ZINCRBY", rng.choice(ZKEYS), *pairs[:2]],
        [b"ZUNIONSTORE", rng.choice(ZKEYS), b"2", b"zspare", rng.choice(ZKEYS)],
        [b"RENAME", b"zspare", rng.choice(ZKEYS)],
        [b"DEL", rng.choice(ZKEYS)],
        [b"LPUSH", rng.choice(KEYS), *values],
        [b"RPUSH", rng.choice(KEYS), *values],
        [b"RPOPLPUSH", b"spare", rng.choice(KEYS)],
        [b"LMOVE", b"spare", rng.choice(KEYS), b"LEFT", b"LEFT"],
        [b"RPUSH", b"spare", *values],
        [b"RENAME", b"spare", rng.choice(KEYS)],
        [b"COPY", b"spare", rng.choice(KEYS), b"REPLACE"],
        [b"DEL", rng.choice(KEYS)],
    ])


def run_round(scenes, rng, keys_max):
    """One scenario on both; the differing observations, or None."""
    idle, waiting = list(range(WAITERS)), []
    for scene in scenes:
        scene.driver.call(b"SET", b"text", b"not a list")
    for _ in range(35):
        if idle and rng.random() < 0.6:
            which = idle.pop(rng.randrange(len(idle)))
            argv = waiting_command(rng, keys_max)
            seen = [scene.wait(which, argv, len(waiting) + 1) for scene in scenes]
            if seen[0] == b"":
                waiting.append(which)
            else:
                idle.append(which)
        else:
            argv = driving_command(rng, keys_max)
            seen = [scene.driver.call(*argv) for scene in scenes]
        if seen[0] != seen[1]:
            return argv, seen
        left = [scene.blocked() for scene in scenes]
        if left[0] != left[1]:
            return argv, left
        woken = [collect(scene, waiting, left[0]) for scene in scenes]
        if woken[0] != woken[1]:
            return argv, woken
        for which in woken[0]:
            waiting.remove(which)
            idle.append(which)
    for scene in scenes:
        release(scene, waiting)
    return None


def collect(scene, waiting, left):
    """The replies of those that were woken, by waiter."""
    woken = {}
    while len(woken) < len(waiting) - left:
        for which in waiting:
            if which in woken:
                continue
            if (reply := scene.waiters[which].reply_within(0.005)) is not None:
                woken[which] = reply
    return woken


def release(scene, waiting):
    for which in waiting:
        scene.driver.call(b"CLIENT", b"UNBLOCK", scene.ids[which][1:-2])
        scene.waiters[which].reply()
    scene.driver.call(b"FLUSHALL")


def check_blocking(servers, rng):
    passed = failed = 0
    keys_max = 1 if any(server.redis_version() >= (7, 2) and server.name != "packlist" for server in servers) else 3
    for protocol in (2, 3):
        scenes = [Scene(server, protocol) for server in servers]
        for _ in range(ROUNDS):
            found = run_round(scenes, rng, keys_max)
            if not found:
                passed += 1
                continue
            failed += 1
            print(f"DIFFERENCE between waiting clients after {found[0]!r}\n"
                  f"  packlist:  {found[1][0]!r}\n  reference: {found[1][1]!r}")
            break
        for scene in scenes:
            scene.close()
    return passed, failed
