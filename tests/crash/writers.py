"""The connections that write until the server is gone, each in a thread, and what they know of what they did."""
import random
import threading
import time
from dataclasses import dataclass

from commands import Generator
from resp import Link, encode

BATCHES = (1, 1, 3, 10, 50)


class Trouble(Exception):
    """Something that must not happen has."""


class Client(threading.Thread):
    """A connection that works until it breaks. Anything but a broken connection is kept as its error."""

    def __init__(self, name, database):
        super().__init__(daemon=True)
        self.client_name, self.database, self.error = name, database, None

    def begin(self, server):
        self.link = Link(server)
        self.link.call(b"SELECT", b"%d" % self.database)
        self.start()

    def run(self):
        try:
            while True:
                self.work()
        except (OSError, EOFError):
            pass
        except Exception as error:  # reported by the thread that checks
            self.error = error
        self.link.close()


class Writer(Client):
    """Sends pipelines of random units, and awaits their replies."""

    def __init__(self, name, database, model, seed, number):
        super().__init__(name, database)
        self.model, self.units, self.chance = model, [], random.Random(seed)
        self.generator = Generator(self.chance, name, number)

    def work(self):
        units = [self.generator.unit() for _ in range(self.chance.choice(BATCHES))]
        payload = b"".join(encode(argv) for unit in units for argv in unit.requests())
        now = time.monotonic()
        for unit in units:
            unit.sent = now
        self.units += units
        self.link.send(payload)
        for unit in units:
            unit.reply = b"".join(self.link.reply() for _ in unit.requests())
            unit.acknowledged = time.monotonic()


@dataclass
class Took:
    """What the consumer has taken from the queue."""
    sent: float
    acknowledged: float = 0.0
    kept: bool = False  # in the list `taken`
    element: bytes = None


class Consumer(Client):
    """Waits for what the writers of its database put into the queue."""

    def __init__(self, name, database, seed):
        super().__init__(name, database)
        self.chance, self.taken = random.Random(seed), []

    def work(self):
        took = Took(time.monotonic(), kept=self.chance.random() < 0.5)
        self.taken.append(took)
        if took.kept:
            reply = self.link.call(b"BLMOVE", b"queue", b"taken", b"LEFT", b"RIGHT", b"0.1")
        else:
            reply = self.link.call(b"BLPOP", b"queue", b"0.1")
        if reply[1:3] == b"-1":
            self.taken.pop()
            return
        if reply[:1] not in b"$*":
            raise Trouble(f"the consumer was answered {reply!r}")
        took.element = reply.split(b"\r\n")[-2]
        took.acknowledged = time.monotonic()
