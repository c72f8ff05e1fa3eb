"""Channels: the same subscriptions and messages at both servers must bring the same bytes to the same clients."""
from resp import Link, encode, split_replies

ROUNDS = 400
CHANNELS = [b"news", b"news.art", b"n", b"", b"\x00\xff"]
PATTERNS = [b"*", b"news*", b"n?", b"[mn]*", b"x"]
LISTENERS = 3
END = b"--end--"


class Scene:
    """A publisher and several listeners at one server."""

    def __init__(self, server, protocol):
        self.publisher = Link(server)
        self.listeners = [Link(server) for _ in range(LISTENERS)]
        for link in (self.publisher, *self.listeners):
            link.call(b"HELLO", b"%d" % protocol)

    def everything(self, which):
        """All that has come to a listener: up to the answer to a PING, which is allowed in every state."""
        link = self.listeners[which]
        link.send(encode([b"PING", END]))
        return link.until(END + b"\r\n") + END + b"\r\n"

    def close(self):
        for link in (self.publisher, *self.listeners):
            link.close()


def listening_command(rng):
    some = lambda names: [rng.choice(names) for _ in range(rng.randint(1, 3))]  # noqa: E731
    return rng.choice([
        lambda: [b"SUBSCRIBE", *some(CHANNELS)],
        lambda: [b"PSUBSCRIBE", *some(PATTERNS)],
        lambda: [b"SSUBSCRIBE", *some(CHANNELS)],
        lambda: [b"UNSUBSCRIBE", *some(CHANNELS)],
        lambda: [b"PUNSUBSCRIBE", *some(PATTERNS)],
        lambda: [b"SUNSUBSCRIBE", *some(CHANNELS)],
        lambda: [b"PING"],
        lambda: [b"GET", b"text"],
        lambda: [b"SUBSCRIBE"],
    ])()


def publishing_command(rng):
    return rng.choice([
        lambda: [b"PUBLISH", rng.choice(CHANNELS), rng.choice([b"hello", b"", b"\r\n\x00"])],
        lambda: [b"PUBLISH", rng.choice(CHANNELS), b"x" * rng.choice([10, 70000])],
        lambda: [b"SPUBLISH", rng.choice(CHANNELS), b"hello"],
        lambda: [b"PUBSUB", b"NUMSUB", *CHANNELS],
        lambda: [b"PUBSUB", b"SHARDNUMSUB", *CHANNELS],
        lambda: [b"PUBSUB", b"NUMPAT"],
        lambda: [b"PUBSUB", b"CHANNELS", b"[x]"],
        lambda: [b"PUBSUB", b"NOSUCH"],
        lambda: [b"PUBLISH", b"news"],
    ])()


def comparable(seen):
    """Servers differ in the order in which a client gets a message through several of its patterns."""
    return [sorted(split_replies(answer)) for answer in seen]


def check_messages(servers, rng):
    passed = failed = 0
    for protocol in (2, 3):
        scenes = [Scene(server, protocol) for server in servers]
        for _ in range(ROUNDS):
            if rng.random() < 0.5:
                which, argv = rng.randrange(LISTENERS), listening_command(rng)
                for scene in scenes:
                    scene.listeners[which].send(encode(argv))
                seen = [[scene.everything(which)] for scene in scenes]
            else:
                argv = publishing_command(rng)
                seen = [[scene.publisher.call(*argv), *map(scene.everything, range(LISTENERS))]
                        for scene in scenes]
            if comparable(seen[0]) == comparable(seen[1]):
                passed += 1
                continue
            failed += 1
            print(f"DIFFERENCE between listening clients after {argv!r} in RESP{protocol}\n"
                  f"  packlist:  {seen[0]!r:.600}\n  reference: {seen[1]!r:.600}")
            break
        for scene in scenes:
            scene.close()
    return passed, failed
