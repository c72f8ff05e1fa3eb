"""Connections that read at their own pace, and what their replies are made of."""
import socket
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib")]
import resp  # noqa: E402
from resp import Address, encode, skip  # noqa: E402

NARROW_BYTES, WIDE_BYTES, SLOW_BYTES = 4096, 1 << 20, 200_000
MANY = 1000  # elements
PATIENCE_SECONDS = 300
SIP_BYTES, SIP_SECONDS = 32768, 0.001
FRAMES = frozenset(b"*$%~")


class Trouble(Exception):
    """What is wrong."""


class Link(resp.Link):
    """A connection with patience: a server with sanitizers that loads all data answers late."""

    def __init__(self, server):
        super().__init__(server, PATIENCE_SECONDS)


class Narrow(Address):
    """The system keeps little of what comes, so that the server keeps the rest of a large reply."""

    def connect(self):
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, NARROW_BYTES)
        link.connect(("127.0.0.1", self.place))
        return link


class Reading(Link):
    """A connection that may read slowly, for so many bytes; then it hurries."""

    def __init__(self, server, database, protocol, is_slow):
        super().__init__((Narrow if is_slow else Address)(server.port, name=server.name))
        self.is_slow = self.was_slow = is_slow
        if protocol == 3:
            self.raw("HELLO", 3)
        if database:
            self.raw("SELECT", database)

    def more(self):
        if not self.is_slow:
            super().more()
            return
        time.sleep(SIP_SECONDS)
        data = self.socket.recv(SIP_BYTES)
        if not data:
            raise EOFError(f"{self.server.name} closed the connection")
        self.buffer += data
        if len(self.buffer) > SLOW_BYTES:
            self.is_slow = False
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WIDE_BYTES)

    def reply(self):
        """As of any Link; quicker where many elements have as many lines each, and nothing follows."""
        self.wait_for_first_byte()
        while b"\r\n" not in self.buffer:
            self.more()
        count = int(self.buffer[1:self.buffer.index(b"\r\n")]) if self.buffer[0] in b"*~%" else 0
        if count < MANY:
            return super().reply()
        begin = self.buffer.index(b"\r\n") + 2
        end, missing = skip(self.buffer, begin, 1)
        while missing:
            self.more()
            end, missing = skip(self.buffer, begin, 1)
        each = self.buffer.count(b"\r\n", begin, end) * (2 if self.buffer[0] == b"%"[0] else 1)
        lines, at = 1, begin
        while lines < 1 + count * each:
            if at == len(self.buffer):
                self.more()
            end = len(self.buffer) - (self.buffer[-1:] == b"\r")
            lines += self.buffer.count(b"\r\n", at, end)
            at = end
            if end < len(self.buffer) and lines < 1 + count * each:
                self.more()
        return super().reply() if lines > 1 + count * each else self.take(at)

    def wait_for_first_byte(self):
        while not self.buffer:
            self.more()


def transaction(commands):
    """The bytes of commands that run as one, and how many replies come."""
    if len(commands) == 1:
        return encode(commands[0]), 1
    return b"".join(map(encode, [[b"MULTI"], *commands, [b"EXEC"]])), len(commands) + 2


def run_as_one(link, commands):
    """Runs the commands as one; the last reply. An error raises Trouble."""
    payload, count = transaction(commands)
    link.send(payload)
    for _ in range(count):
        reply = link.reply()
        if reply.startswith(b"-") or b"\r\n-ERR" in reply:
            raise Trouble(f"{commands[0][:2]}: {reply[:200]}")
    return reply


def tokens(reply):
    """The texts and numbers in a reply whose texts have no line ends, whatever arrays they stand in."""
    lines = reply.split(b"\r\n")
    lines.pop()
    if reply[:1] in (b"*", b"~", b"%") and len(lines) == 1 + 2 * int(lines[0][1:]) * (1 + (reply[:1] == b"%")):
        return lines[2::2]
    return [line.lstrip(b":,") for line in lines if line and line[0] not in FRAMES]


def pairs(reply):
    """The same, two at a time."""
    found = tokens(reply)
    return list(zip(found[::2], found[1::2]))
