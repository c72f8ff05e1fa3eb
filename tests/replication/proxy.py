"""A proxy between a primary and its replica that harms what passes: only on 127.0.0.1, only for tests.

`harm` is what happens to connections that begin from then on, one of HARMS. After a harm that a replica can notice
(`is_noticed`) it must get the right data by itself. A changed byte within an argument of a command can be noticed by
nobody: the stream has no checksum.
"""
import contextlib
import re
import socket
import threading
import time

from servers import free_port

PIECE = 16384


class Harm:
    """Changes one connection. `to_replica` and `to_primary` get the bytes that pass and return those that are sent on;
    they raise Cut to close the connection."""
    is_noticed = True

    def __init__(self, rng, proxy):
        self.rng, self.proxy = rng, proxy
        self.left = int(10 ** rng.uniform(0, 5))  # bytes until it happens
        self.is_done = False

    def to_replica(self, data):
        if self.is_done or self.left >= len(data):
            self.left -= len(data)
            return data
        self.is_done = True
        at, self.left = max(self.left, 0), 0
        self.proxy.harmed += 1
        return self.harm(data, at)

    def to_primary(self, data):
        return data

    def harm(self, data, at):
        return data


class Cut(Exception):
    """The bytes that are sent before the connection is closed."""


class CutOff(Harm):
    """Closes the connection, mostly within a command."""

    def harm(self, data, at):
        raise Cut(data[:at])


class Stall(Harm):
    """Sends no more, until the proxy ends all connections."""

    def to_replica(self, data):
        data = super().to_replica(data)
        if self.is_done:
            self.proxy.healed.wait()
            raise Cut(b"")
        return data


class Dribble(Harm):
    """Sends a few bytes at a time, then closes."""

    def harm(self, data, at):
        self.proxy.send_piece(self, data[:at])
        for i in range(at, min(at + 300, len(data)), 3):
            self.proxy.send_piece(self, data[i:i + 3])
        raise Cut(b"")


class Delay(Harm):
    """Sends everything late, and in pieces of other sizes."""

    def to_replica(self, data):
        self.proxy.harmed += 1
        at = self.rng.randrange(len(data) + 1)
        self.proxy.send_piece(self, data[:at], self.rng.random() / 50)
        return data[at:]


class Duplicate(Harm):
    """Says everything to the primary on a second connection, too, and drops what is answered there."""

    def __init__(self, rng, proxy):
        super().__init__(rng, proxy)
        self.second = proxy.connect()
        proxy.links.add(self.second)
        threading.Thread(target=self.drop_answers, daemon=True).start()
        proxy.harmed += 1

    def drop_answers(self):
        with contextlib.suppress(OSError):
            while self.second.recv(PIECE):
                pass

    def to_primary(self, data):
        with contextlib.suppress(OSError):
            self.second.sendall(data)
        return data


class ChangePayload(Harm):
    """Changes a bit of the snapshot, which has a checksum; never of the stream behind it, which has none."""
    HEADER = re.compile(rb"\$(?:EOF:([0-9a-f]{40})|(\d+))\r\n(?=REDIS0|VALKEY0)")
    SHORTEST = 100  # bytes of a snapshot without keys, at least

    def __init__(self, rng, proxy):
        super().__init__(rng, proxy)
        self.left = None
        self.seen = b""

    def to_replica(self, data):
        if self.left is None:
            self.seen = self.seen[-200:] + data
            header = self.HEADER.search(self.seen)
            if not header:
                return data
            begin = header.end() - len(self.seen)  # from the end of the data
            self.left = len(data) + begin + self.rng.randrange(9, self.length(self.seen[begin:], *header.groups()))
        return super().to_replica(data)

    def length(self, piece, mark, length):
        """How many bytes of the piece, which begins with the snapshot, surely belong to it."""
        length = piece.find(mark) if mark else min(int(length), len(piece))
        return min(max(len(piece) if length < 0 else length, self.SHORTEST), 3000)

    def harm(self, data, at):
        return data[:at] + bytes([data[at] ^ 1 << self.rng.randrange(8)]) + data[at + 1:]


class ChangeByte(Harm):
    """Changes any byte."""
    is_noticed = False

    def harm(self, data, at):
        return data[:at] + bytes([self.rng.randrange(256)]) + data[at + 1:]


class Drop(Harm):
    """Leaves bytes out."""
    is_noticed = False

    def harm(self, data, at):
        return data[:at] + data[at + self.rng.randint(1, 200):]


class Repeat(Harm):
    """Sends bytes twice."""
    is_noticed = False

    def harm(self, data, at):
        return data[:at] + data[max(at - self.rng.randint(1, 2000), 0):]


class Rubbish(Harm):
    """Puts random bytes between."""
    is_noticed = False

    def harm(self, data, at):
        return data[:at] + self.rng.randbytes(self.rng.randint(1, 2000)) + data[at:]


class LieAboutStart(Harm):
    """Names another offset or history when a synchronization begins."""
    is_noticed = False

    def to_replica(self, data):
        found = re.search(rb"\+(?:FULLRESYNC [0-9a-f]{40} \d+|CONTINUE(?: [0-9a-f]{40})?)\r\n", data)
        if self.is_done or not found:
            return data
        self.is_done = True
        self.proxy.harmed += 1
        lie = self.rng.choice([
            b"+FULLRESYNC %040x %d\r\n" % (self.rng.getrandbits(160), self.rng.choice([0, 1, 10 ** 12, 2 ** 63 - 1])),
            b"+FULLRESYNC %040x 99999999999999999999999\r\n" % self.rng.getrandbits(160),
            b"+FULLRESYNC %040x -5\r\n" % self.rng.getrandbits(160), b"+FULLRESYNC abc 5\r\n", b"+FULLRESYNC\r\n",
            b"+CONTINUE %040x\r\n" % self.rng.getrandbits(160), b"+CONTINUE short\r\n", b"+CONTINUE\r\n",
            b"+" + b"x" * self.rng.choice([10, 100000]) + b"\r\n"])
        return data[:found.start()] + lie + data[found.end():]


class LieAboutAcks(Harm):
    """Tells the primary another offset than the replica has."""
    is_noticed = False

    def to_primary(self, data):
        def lie(match):
            offset = int(match[1])
            digits = b"%d" % self.rng.choice([0, offset + 1, offset * 1000, 2 ** 63 - 1, 2 ** 63, 10 ** 30])
            self.proxy.harmed += 1
            return b"\r\n$3\r\nACK\r\n$%d\r\n%s\r\n" % (len(digits), digits)
        return re.sub(rb"\r\n\$3\r\nACK\r\n\$\d+\r\n(\d+)\r\n", lie, data)

    def harm(self, data, at):
        return data


class HarmRequests(Harm):
    """Changes what the replica says."""
    is_noticed = False

    def to_primary(self, data):
        if self.is_done or self.rng.random() < 0.5:
            return data
        self.is_done = True
        self.proxy.harmed += 1
        at = self.rng.randrange(len(data))
        return data[:at] + self.rng.randbytes(self.rng.randint(0, 20)) + data[at + self.rng.randint(0, 20):]


HARMS = [CutOff, Stall, Dribble, Delay, Duplicate, ChangePayload, ChangeByte, Drop, Repeat, Rubbish, LieAboutStart,
         LieAboutAcks, HarmRequests]


class Proxy:
    """Listens on a port of its own for connections to `primary`."""

    def __init__(self, primary, rng):
        self.primary, self.rng, self.harm = primary, rng, None
        self.harmed = 0  # how often something was done
        self.healed, self.links = threading.Event(), set()
        self.lock = threading.Lock()
        self.port = free_port()
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                replica, _ = self.listener.accept()
            except OSError:
                return
            try:
                primary = self.connect()
                harm = self.add_connection(replica, primary)
            except OSError:
                replica.close()
                continue
            for source, target, change in ((primary, replica, harm and harm.to_replica),
                                           (replica, primary, harm and harm.to_primary)):
                threading.Thread(target=self.forward, args=(source, target, change), daemon=True).start()

    def connect(self):
        """A connection to the primary."""
        primary = socket.create_connection(("127.0.0.1", self.primary.port), 10)
        primary.settimeout(None)
        return primary

    def add_connection(self, replica, primary):
        """Returns the harm that is done to it, or None. After heal() there is no harmed connection any more."""
        with self.lock:
            harm = self.harm and self.harm(self.rng, self)
            if harm:
                harm.link = replica
            self.links |= {replica, primary}
            return harm

    def forward(self, source, target, change):
        try:
            while data := source.recv(PIECE):
                target.sendall(change(data) if change else data)
        except Cut as cut:
            try:
                target.sendall(cut.args[0])
            except OSError:
                pass
        except OSError:
            pass
        for link in (source, target):
            self.close(link)

    def send_piece(self, harm, data, seconds=0.0005):
        try:
            harm.link.sendall(data)
        except OSError:
            pass
        time.sleep(seconds)

    def close(self, link):
        try:
            link.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def begin_harm(self, harm):
        """Ends all connections; the next ones are harmed."""
        with self.lock:
            self.harm, self.harmed = harm, 0
            self.healed.clear()
            self.end_connections()

    def heal(self):
        """Ends all connections; the next ones are not harmed."""
        with self.lock:
            self.harm = None
            self.healed.set()
            self.end_connections()

    def end_connections(self):
        links, self.links = self.links, set()
        for link in links:
            self.close(link)

    def stop(self):
        self.heal()
        self.close(self.listener)  # ends accept(), which would keep the port
        self.listener.close()
