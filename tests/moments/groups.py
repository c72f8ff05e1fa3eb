"""Groups: each is a process with some of the values, their writers and their readers; Python runs one thread at a time.

    group = Group(kinds, ...)       starts the process and fills the values
    group.start(what, ...)          "run" for some seconds, or "rest": check everything while nobody writes
    group.finish()                  waits for it; how many checks that were, or Trouble"""
import multiprocessing
import random
import signal
import sys
import threading
import time
import traceback

from cells import Hash, List, Sets, Text, Zset
from events import check_values
from links import PATIENCE_SECONDS, Link, Trouble
from pools import ListPool, Names, SetPool, ZsetPool
from readers import Reader
from resp import Address

KINDS = {"hash": Hash, "names": Names, "setpool": SetPool, "sets": Sets, "zset": Zset, "zsetpool": ZsetPool,
         "list": List, "text": Text, "listpool": ListPool}
READERS = 3


class WriterLink(Link):
    """A connection that is opened again when it broke."""

    def __init__(self, server, database):
        self.database = database
        self.open(server)

    def open(self, server):
        super().__init__(server)
        if self.database:
            self.raw("SELECT", self.database)

    def again(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self.close()
                self.open(self.server)
                return
            except (OSError, EOFError) as error:
                if time.monotonic() > deadline:
                    raise Trouble(f"{self.server.name} does not answer: {error!r}") from error


class Work:
    """What the process does."""

    def __init__(self, kinds, primary, replica, seed, cells):
        self.seed, self.primary = seed, primary
        self.models = [KINDS[kind](cells) for kind in kinds]
        self.readers = [Reader(f"{kinds[0]}{number}", self.models, primary, replica,
                               random.Random(f"{seed} {kinds} reader {number}")) for number in range(READERS)]
        self.troubles, self.deadline = [], 0
        for model in self.models:
            with WriterLink(primary, model.database) as link:
                model.fill(link)

    def is_over(self):
        return self.troubles or time.monotonic() > self.deadline

    def guarded(self, function, *arguments):
        """A thread that remembers what went wrong in it."""
        def body():
            try:
                function(*arguments)
            except Exception as trouble:  # pylint: disable=broad-except
                if not isinstance(trouble, Trouble):
                    traceback.print_exc()
                self.troubles.append(trouble)
        thread = threading.Thread(target=body, daemon=True)
        thread.start()
        return thread

    def write(self, model, turn, rng):
        with WriterLink(self.primary, model.database) as link:
            while not self.is_over():
                try:
                    model.write(link, rng, turn)
                except (OSError, EOFError):
                    link.again()
                time.sleep(rng.choice([0, 0, 0.001, 0.005]))

    def run(self, number, seconds):
        """Writes and reads; returns how many replies were checked."""
        before = sum(reader.checks for reader in self.readers)
        self.deadline = time.monotonic() + seconds
        for reader in self.readers:
            reader.favourite = self.models[number % len(self.models)]
        threads = [self.guarded(self.write, model, turn, random.Random(f"{self.seed} {number} {index} {turn}"))
                   for index, model in enumerate(self.models) for turn in range(model.writers)]
        threads += [self.guarded(reader.run, self.is_over) for reader in self.readers]
        for thread in threads:
            thread.join()
        if self.troubles:
            raise self.troubles[0]
        return sum(reader.checks for reader in self.readers) - before

    def rest(self):
        """Checks the values and replies that were left."""
        count = sum(reader.finish_late() for reader in self.readers)
        return count + sum(check_values(self.primary, model) for model in self.models)


def serve(pipe, arguments):
    """The process: does what it is asked for until nobody asks any more."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.setswitchinterval(0.001)
    work = None
    try:
        while True:
            try:
                if work is None:
                    work = Work(*arguments)
                    pipe.send(0)
                name, *more = pipe.recv()
                pipe.send(getattr(work, name)(*more))
            except Trouble as trouble:
                pipe.send(trouble)
    except (EOFError, OSError, KeyboardInterrupt):
        pass


class Group:
    def __init__(self, kinds, primary, replica, seed, cells):
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        places = [Address(server.port, name=server.name) for server in (primary, replica)]
        self.process = context.Process(target=serve, args=(other, (kinds, *places, seed, cells)), daemon=True)
        self.process.start()
        other.close()

    def start(self, *what):
        self.pipe.send(what)

    def finish(self):
        try:
            result = self.pipe.recv()
        except EOFError as error:
            raise Trouble("a process of this test has ended") from error
        if isinstance(result, Trouble):
            raise result
        return result
