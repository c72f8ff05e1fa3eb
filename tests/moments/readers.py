"""Readers: each asks for a value in some way, at once or slowly, from the primary, its replica or another database, and
checks that the reply is the value of one moment between its sending and its coming."""
import time
from dataclasses import dataclass

from links import Reading, Trouble, transaction
from reads import PAYLOAD, TO
from resp import elements, encode, text_of

COPIES = 5, 6  # databases that get copies of the sets, and are swapped and emptied
AWAY = (b"-LOADING", b"-MASTERDOWN")  # a replica that has no data at the moment
ONE_BY_SCRIPT = b"return redis.call(unpack(ARGV))"
KEEPS = 3  # replies that a reader reads later, at most


class Away(Exception):
    """There is no reply to check."""


@dataclass(eq=False)
class Late:
    """A reply that has begun to come and is read later."""
    link: Reading
    model: object
    read: object
    way: str
    mark: object
    last: object
    is_exact: bool
    has_rested: bool = False

    def finish(self):
        """Reads and checks it."""
        try:
            reply = unwrapped(self.link.reply(), self.way)
        except (OSError, EOFError, Away):
            return
        finally:
            self.link.close()
        if self.is_exact or has_value(reply):
            checked(self.model, self.read, reply, self.mark, self.last, f"{self.way}, read late")


def has_value(reply):
    return reply[:3] not in (b"*0\r", b"~0\r", b"%0\r", b"$-1", b"_\r\n", b"$0\r")


def checked(model, read, reply, mark, last, how):
    try:
        model.check(read, reply, mark, last)
    except (Trouble, ValueError, KeyError, IndexError, TypeError) as trouble:
        raise Trouble(f"{read} ({how or 'alone'}): {trouble!r}; reply: {len(reply)} bytes, {reply[:100]}") from trouble


def unwrapped(reply, way):
    """The reply of the command, which may stand in that of EXEC. Away for those of a server that has no data."""
    if reply.startswith(AWAY):
        raise Away
    if way == "EXEC" and reply.startswith(b"*"):
        reply = elements(reply)[0]
    if reply.startswith(b"-"):
        raise Trouble(f"{reply[:200]}")
    return reply


class Reader:
    def __init__(self, name, models, primary, replica, rng):
        self.name, self.models, self.primary, self.replica, self.rng = name, models, primary, replica, rng
        self.links, self.late = {}, []
        self.favourite = models[0]  # which it asks for most often
        self.checks = 0
        self.now = ""  # what it does, for a report

    def link_to(self, server, database):
        """A connection; the one from before or a new one."""
        place = server.port, database
        if place in self.links and self.links[place].was_slow:
            self.forget(self.links[place])
        if place not in self.links:
            self.links[place] = Reading(server, database, self.rng.choice([2, 3]), self.rng.random() < 0.15)
        return self.links[place]

    def forget(self, link):
        """It is closed, or nobody knows what is still to come."""
        link.close()
        self.links = {place: other for place, other in self.links.items() if other is not link}

    def run(self, is_over):
        while not is_over():
            self.read_once()
        for link in self.links.values():
            link.close()
        self.links.clear()

    def read_once(self):
        rng = self.rng
        model = self.favourite if rng.random() < 0.6 else rng.choice(self.models)
        server, database, roll = self.primary, model.database, rng.random()
        if roll < 0.15:
            server = self.replica
        elif roll < 0.3 and model.is_copied:
            database = rng.choice(COPIES)
        reads = [read for read in model.reads if read.is_for_replicas] if server is self.replica else model.reads
        read = rng.choice(reads)
        link = None
        try:
            link = self.link_to(server, database)
            self.ask(link, model, read, is_exact=server is self.primary and database == model.database)
            self.checks += 1
        except Away:
            self.forget(link)  # replies to what was sent together with it may still come
            time.sleep(0.01)
        except Trouble as trouble:
            raise Trouble(f"{read} on {server.name}, database {database}: {trouble}") from trouble
        except (OSError, EOFError):
            if link:
                self.forget(link)
            else:
                time.sleep(0.01)
        while len(self.late) > KEEPS or self.late and rng.random() < 0.1:
            self.late.pop(rng.randrange(len(self.late))).finish()

    def finish_late(self):
        """All rests. Checks what was left for later, but for one reply of this round; how many that were."""
        keeps = next((reply for reply in self.late if not reply.has_rested), None)
        late = [reply for reply in self.late if reply is not keeps]
        for reply in late:
            reply.finish()
        self.late = [keeps] if keeps else []
        for reply in self.late:
            reply.has_rested = True
        return len(late)

    # --- One read

    def steps_of(self, read):
        own = f"to:{self.name}".encode()
        return [[word.replace(TO, own) for word in step] for step in read.steps]

    def first_step(self, step):
        """(how it is run, its bytes, how many replies come before its own)"""
        way = self.rng.choice(["", "", "", "", "EXEC", "EVAL"])
        if way == "EXEC":
            payload, count = transaction([step, [b"PING"]])
            return way, payload, count - 1
        if way == "EVAL":
            return way, encode([b"EVAL", ONE_BY_SCRIPT, b"0", *step]), 0
        return way, encode(step), 0

    def prepare(self, link, steps):
        """The destination is missing, or has what it had, or expires soon."""
        to = next(word for step in steps for word in step if word.startswith(b"to:"))
        link.raw(*self.rng.choice([[b"UNLINK", to], [b"EXISTS", to], [b"SET", to, b"x", b"PX", b"3"]]))

    def ask(self, link, model, read, is_exact):
        """Asks and checks. `is_exact`: the value is as new as the server's; else it may be as old as the last time
        when all rested, and missing where it was copied."""
        steps = self.steps_of(read)
        if not read.is_pure:
            self.prepare(link, steps)
        way, payload, before = self.first_step(steps[0])
        mark = model.mark() if is_exact else model.settled()
        if not (read.is_pure or read.has_payload) and self.rng.random() < 0.1:
            self.ask_and_leave(link, model, read, steps, payload, mark, is_exact)
            return
        follow = [] if read.has_payload else steps[1:]
        together = self.rng.random() < 0.5
        link.send(payload + (b"".join(map(encode, follow)) if together else b""))
        for _ in range(before):
            if link.reply().startswith(AWAY):
                raise Away
        link.wait_for_first_byte()
        last = model.last()
        if len(steps) == 1 and self.leaves(link, Late(link, model, read, way, mark, last, is_exact)):
            return
        reply = unwrapped(link.reply(), way)
        for step in steps[1:]:
            if not (together and follow):
                link.send(encode([text_of(reply) if word == PAYLOAD else word for word in step]))
            reply = self.result_of(link, step, is_exact)
        if is_exact or has_value(reply):
            checked(model, read, reply, mark, last, way)
        if not read.is_pure and self.rng.random() < 0.8:
            link.raw(b"UNLINK", *{word for step in steps for word in step if word.startswith(b"to:")})

    def ask_and_leave(self, link, model, read, steps, payload, mark, is_exact):
        """The client goes before the reply comes: what it has sent is done nevertheless, unless its connection was
        killed before all of it came."""
        number, sign = b"%d" % self.rng.randrange(1 << 60), f"sign:{self.name}".encode()
        link.send(encode([b"SET", sign, number]) + payload)
        place = next(place for place, other in self.links.items() if other is link)
        self.forget(link)
        link = self.links[place] = Reading(link.server, place[1], 2, False)
        time.sleep(self.rng.choice([0, 0.01]))
        has_come = text_of(link.raw(b"GET", sign)) == number
        last = model.last()
        for step in steps[1:]:
            reply = link.raw(*step)
        if has_come and is_exact or not reply.startswith(b"-") and has_value(reply):
            checked(model, read, reply, mark, last, "sent by a client that has gone")

    @staticmethod
    def result_of(link, step, is_exact):
        reply = link.reply()
        if reply.startswith(b"-"):
            if not is_exact:
                raise Away
            raise Trouble(f"{step[:2]}: {reply[:200]}")
        return reply

    def leaves(self, link, late):
        """Whether the rest of the reply is read later, or not at all."""
        roll = self.rng.random()
        if roll > 0.12:
            return False
        self.links = {place: other for place, other in self.links.items() if other is not link}
        if roll < 0.04:
            link.close()
        else:
            self.late.append(late)
        return True
