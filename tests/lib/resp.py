"""A client of the Redis protocol, RESP2 and RESP3: what all tests and benchmarks in Python speak to servers with.

    encode(words)           a request; words are bytes, texts or numbers
    Link(server)            a connection whose replies are the bytes that came: to compare them, or to wait for them
    Client(server)          a Link whose call() gives Python values, and raises ReplyError for an error reply
    Address(place)          what either connects to, when it is not a server that this program has started
    split_replies(data), elements(reply), text_of(reply), value_of(reply)
                            take apart the bytes of replies

Sending and reading are apart: send() or post() as many requests as you like, then reply() or answer() for each.
It imports nothing of the tests, so that utils/bench can use it, too.
"""
import socket

TIMEOUT_SECONDS = 60
RECEIVE_BYTES = 1 << 20
WITH_LENGTH, AGGREGATES, PAIRS, ATTRIBUTE = b"$=!", b"*~>", b"%|", b"|"[0]


class ReplyError(Exception):
    """An error reply; its text."""


# --- Requests

def bulk(word):
    """One word of a request."""
    if not isinstance(word, bytes):
        word = str(word).encode()
    return b"$%d\r\n%s\r\n" % (len(word), word)


def encode(words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        if not isinstance(word, bytes):
            word = str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


# --- The bytes of replies

def skip(data, at, count):
    """Goes over `count` values from `at` on, as far as they are complete. Where it came to, and how many values are
    missing from there on: whoever has got more bytes goes on with these two."""
    while count:
        line_end = data.find(b"\r\n", at)
        if line_end < 0:
            break
        kind = data[at]
        if kind in WITH_LENGTH:
            size = int(data[at + 1:line_end])
            end = line_end + 4 + size if size >= 0 else line_end + 2
            if end > len(data):
                break
            at = end
        else:
            if kind in AGGREGATES:
                count += max(int(data[at + 1:line_end]), 0)
            elif kind in PAIRS:
                count += 2 * int(data[at + 1:line_end]) + (kind == ATTRIBUTE)  # the value itself follows it
            at = line_end + 2
        count -= 1
    return at, count


def reply_end(data, at):
    """Where the reply that begins at `at` ends, or None while it is incomplete."""
    end, missing = skip(data, at, 1)
    return None if missing else end


def split_replies(data):
    """The replies in these bytes; the last one may be incomplete."""
    replies, at = [], 0
    while at < len(data):
        end = reply_end(data, at)
        replies.append(data[at:end])
        if end is None:
            break
        at = end
    return replies


def elements(reply):
    """The replies that an array, set or map is made of."""
    return split_replies(reply[reply.index(b"\r\n") + 2:])


def text_of(reply):
    """The bytes in a bulk reply, or None for null."""
    return None if reply[:2] in (b"$-", b"_\r") else reply[reply.index(b"\r\n") + 2:-2]


# --- Values of replies

def value_at(data, at, in_text):
    """(the value that begins at `at`, where it ends)"""
    line_end = data.index(b"\r\n", at)
    kind, rest, at = data[at:at + 1], data[at + 1:line_end], line_end + 2
    if kind == b"+":
        return rest.decode(), at
    if kind == b"-":
        return ReplyError(rest.decode("utf-8", "replace")), at
    if kind in b":(":
        return int(rest), at
    if kind == b",":
        return float(rest), at
    if kind == b"#":
        return rest == b"t", at
    if kind == b"_":
        return None, at
    count = int(rest)
    if count < 0:
        return None, at
    if kind in b"$=!":
        found, at = data[at:at + count], at + count + 2
        if kind == b"!":
            return ReplyError(found.decode("utf-8", "replace")), at
        found = found[4:] if kind == b"=" else found  # without its format
        return found.decode("utf-8", "replace") if in_text else found, at
    values = []
    for _ in range(count * (2 if kind in b"%|" else 1)):
        value, at = value_at(data, at, in_text)
        values.append(value)
    return value_at(data, at, in_text) if kind == b"|" else (values, at)


def value_of(reply, in_text=False):
    """The reply as a value: a line is a str, a bulk bytes, or with `in_text` a str, null None, an error reply a
    ReplyError that is not raised; an array, set or map is a list, of a map with its keys and values in turn."""
    return value_at(reply, 0, in_text)[0]


# --- Connections

class Address:
    """A port of 127.0.0.1, or the path of a unix socket."""

    def __init__(self, place, password=None, name=None):
        self.port = self.place = place
        self.password, self.name = password, name or f"port {place}"

    def connect(self):
        if isinstance(self.place, int):
            link = socket.create_connection(("127.0.0.1", self.place))
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return link
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(str(self.place))
        except OSError:
            link.close()
            raise
        return link


class Link:
    """A connection to a server, which has a name and connect(). Replies are kept as the bytes that came.

    EOFError when the server closes, TimeoutError when nothing comes for `timeout` seconds; what has come until then is
    kept, and the next call goes on with it."""

    def __init__(self, server, timeout=TIMEOUT_SECONDS):
        self.server, self.timeout = server, timeout
        self.socket = server.connect()
        self.socket.settimeout(timeout)
        self.buffer = bytearray()

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, payload):
        self.socket.sendall(payload)

    def post(self, *words):
        """Sends one request."""
        self.socket.sendall(encode(words))

    def more(self):
        data = self.socket.recv(RECEIVE_BYTES)
        if not data:
            raise EOFError(f"{self.server.name} closed the connection")
        self.buffer += data

    def take(self, size):
        """So many bytes of those that have come."""
        taken = bytes(self.buffer[:size])
        del self.buffer[:size]
        return taken

    def reply(self):
        """The bytes of the next reply."""
        at, missing = skip(self.buffer, 0, 1)
        while missing:
            self.more()
            at, missing = skip(self.buffer, at, missing)
        return self.take(at)

    def reply_within(self, seconds):
        """The next reply, or None when it does not come so soon."""
        self.socket.settimeout(seconds)
        try:
            return self.reply()
        except TimeoutError:
            return None
        finally:
            self.socket.settimeout(self.timeout)

    def raw(self, *words):
        """One request; the bytes of its reply."""
        self.send(encode(words))
        return self.reply()

    call = raw

    def until(self, ending):
        """All that comes until the bytes that came end so, without these."""
        while not self.buffer.endswith(ending):
            try:
                self.more()
            except TimeoutError as error:
                raise TimeoutError(
                    f"{self.server.name} does not answer; last: {bytes(self.buffer[-200:])!r}") from error
        answer = self.take(len(self.buffer) - len(ending))
        self.buffer.clear()
        return answer

    MARKER = b"--end of batch--"
    MARKER_REQUEST, MARKER_REPLY = encode([b"ECHO", MARKER]), bulk(MARKER)

    def batch(self, payload):
        """Sends requests and a marker; the bytes of all that was answered before the marker."""
        self.send(payload + self.MARKER_REQUEST)
        return self.until(self.MARKER_REPLY)

    def until_closed(self, quiet_seconds):
        """All bytes that come until the server closes or stays quiet; and whether it closed."""
        self.socket.settimeout(quiet_seconds)
        closed = False
        try:
            while True:
                self.more()
        except TimeoutError:
            pass
        except (EOFError, ConnectionResetError):
            closed = True
        self.socket.settimeout(self.timeout)
        return self.take(len(self.buffer)), closed


class Client(Link):
    """Replies as value_of() gives them; an error reply is raised."""

    def __init__(self, server, timeout=TIMEOUT_SECONDS, in_text=False):
        super().__init__(server, timeout)
        self.in_text = in_text

    def call(self, *words):
        self.send(encode(words))
        return self.answer()

    def answer(self):
        """The value of the next reply."""
        value = value_of(self.reply(), self.in_text)
        if isinstance(value, ReplyError):
            raise value
        return value

    def pipeline(self, requests):
        """Sends encoded requests at once; fails when one of them does. For small replies only: it reads after having
        sent all."""
        self.send(b"".join(requests))
        for _ in requests:
            self.answer()


def run(link, commands):
    """The replies to commands that are sent at once."""
    return split_replies(link.batch(b"".join(map(encode, commands))))


def fields_of(text):
    """{name: value} of what INFO answers, as text."""
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def info(link, section):
    """The fields of a section of INFO."""
    return fields_of(text_of(link.raw("INFO", section)).decode())
