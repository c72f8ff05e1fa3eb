"""Client tracking: two clients that track keys, and random commands of theirs and of another client. Both servers must
tell the same clients of the same keys, between the same replies."""
from resp import Link, elements, encode, split_replies, text_of
from users import shortest

ROUNDS, STEPS = 16, 200
TRACKERS = (b"one", b"two")
OPTIONS = [[], [], [], [b"OPTIN"], [b"OPTOUT"], [b"NOLOOP"], [b"BCAST"], [b"BCAST", b"NOLOOP"],
           [b"BCAST", b"PREFIX", b"a", b"PREFIX", b"l", b"PREFIX", b"z"]]
CHANNEL, END = b"__redis__:invalidate", b"--end--"
# Not asked, nor in scripts. The servers tell of whole databases in another order, or one of them does not
# (docs/differences.md); RESET ends it all; the reference tells nobody of XSETID, nor of a string that BITFIELD with
# OVERFLOW FAIL makes longer, nor of PFDEBUG TODENSE.
LEFT_OUT = {b"FLUSHALL", b"FLUSHDB", b"SWAPDB", b"RESET", b"DEBUG", b"HELLO", b"XSETID", b"FAIL", b"PFDEBUG"}


def is_message(reply):
    return reply.startswith(b">")


def keys_in(message):
    return [text_of(key) for key in elements(elements(message)[-1])]


class Scene:
    """Clients of one server: one that only writes, and two that track keys with these options. In RESP2 each of these
    has another connection, which listens."""

    def __init__(self, server, protocol, options):
        self.options, self.listeners = options, {}
        self.links = {who: Link(server) for who in (b"writer", *TRACKERS)}
        self.links[b"writer"].call(b"FLUSHALL")
        for link in self.links.values():
            link.call(b"HELLO", b"%d" % protocol)
        for who in TRACKERS:
            redirect = self.listen(server, who) if protocol == 2 else []
            self.links[who].call(b"CLIENT", b"TRACKING", b"ON", *redirect, *options[who])

    def listen(self, server, who):
        self.listeners[who] = listener = Link(server)
        number = listener.call(b"CLIENT", b"ID")[1:-2]
        listener.call(b"SUBSCRIBE", CHANNEL)
        return [b"REDIRECT", number]

    def rest(self, link):
        """All that has come, up to the answer to a PING."""
        link.send(encode([b"PING", END]))
        return split_replies(link.until(END + b"\r\n") + END + b"\r\n")[:-1]

    def told(self, who, replies):
        """The keys in these replies of a tracker: a list for each reply that is no message, of those before it, and
        one of those after the last. Keys that are told together are in no order; with BCAST they come once in a loop
        iteration, so the number of times depends on how the requests arrived."""
        parts = [[]]
        for reply in replies:
            if is_message(reply):
                parts[-1] += keys_in(reply)
            else:
                parts.append([])
        if b"BCAST" in self.options[who]:
            return [sorted({key for part in parts for key in part})]
        return [sorted(part) for part in parts]

    def run(self, who, commands):
        """Runs them. What the trackers are told: name -> lists of keys."""
        link, replies = self.links[who], []
        link.send(b"".join(map(encode, commands)))
        while sum(not is_message(reply) for reply in replies) < len(commands):
            replies.append(link.reply())
        seen = {}
        for name in TRACKERS:
            own = replies if name == who else []
            seen[name] = self.told(name, own + self.rest(self.links[name]))
            if name in self.listeners:
                messages = self.rest(self.listeners[name])
                seen[name] = sorted(key for message in messages for key in keys_in(message))
                if b"BCAST" in self.options[name]:
                    seen[name] = sorted(set(seen[name]))
        return seen

    def close(self):
        for link in (*self.links.values(), *self.listeners.values()):
            link.close()


def is_comparable(generator, options, commands):
    """Redis 7.0 does not note what scripts read, and the reference tells a client with BCAST and NOLOOP what
    its own scripts change."""
    words = {word.upper() for argv in commands for word in argv}
    has_script = any(argv[0].upper().startswith(b"EVAL") for argv in commands)
    may_have_script = generator.reference >= (8, 0) and options != [b"BCAST", b"NOLOOP"]
    return words.isdisjoint(LEFT_OUT) and (may_have_script or not has_script)


def step(rng, generator, options):
    """(who, commands that belong together)."""
    who = rng.choice([b"writer", *TRACKERS])
    commands = generator.sequence()
    while not is_comparable(generator, options.get(who, ()), commands):
        commands = generator.sequence()
    for option, answer in ((b"OPTIN", b"YES"), (b"OPTOUT", b"NO")):
        if option in options.get(who, ()) and rng.random() < 0.6:
            commands = [[b"CLIENT", b"CACHING", answer], *commands]
    return who, commands


def first_difference(servers, protocol, options, history):
    """Runs the steps from an empty state; what both servers tell where that differs first, or None."""
    scenes = [Scene(server, protocol, options) for server in servers]
    try:
        for who, commands in history:
            mine, theirs = (scene.run(who, commands) for scene in scenes)
            if mine != theirs:
                return mine, theirs
        return None
    finally:
        for scene in scenes:
            scene.close()


def report(servers, protocol, options, history, found):
    print(f"DIFFERENCE in what is told in RESP{protocol}, after CLIENT TRACKING ON with {options}, and:")
    short = shortest(history, lambda some: first_difference(servers, protocol, options, some))
    again = first_difference(servers, protocol, options, short)
    for who, commands in short if again else [(b"(not again)", [])]:
        for argv in commands:
            print(f"    {who.decode()}:", " ".join(ascii(word)[1:] for word in argv)[:400])
    mine, theirs = again or found
    print(f"  packlist:  {mine!r:.400}\n  reference: {theirs!r:.400}", flush=True)


def check_tracking(servers, rng, generator):
    """Returns (passed, failed) rounds."""
    passed = failed = 0
    for at in range(ROUNDS):
        if failed == 3:
            break
        protocol = generator.protocol = 2 + at % 2
        options = {who: rng.choice(OPTIONS) for who in TRACKERS}
        history = [step(rng, generator, options) for _ in range(STEPS)]
        found = first_difference(servers, protocol, options, history)
        passed, failed = passed + (not found), failed + bool(found)
        if found:
            report(servers, protocol, options, history, found)
    return passed, failed
