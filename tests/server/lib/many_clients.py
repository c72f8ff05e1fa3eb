#!/usr/bin/env python3
"""Many clients of one server, of every kind: for io_threads_many.test.tcl.

    many_clients.py PORT COUNT SECONDS SEED

Keeps COUNT connections to 127.0.0.1 open, and goes on for so long once they are. Each sends pipelines and compares what
comes back byte by byte; some flood the server with requests and read nothing meanwhile. They end in all ways: QUIT,
half-closed with replies outstanding, closed while replies come, reset, killed by CLIENT KILL. Then another one takes
the place. Prints "N connections, N requests" at the end, or what was wrong, with status 1."""
import random
import resource
import selectors
import socket
import struct
import sys
import time

PORT, COUNT, SECONDS, SEED = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
PATIENCE_S = 300  # for the last replies, on a machine that has much else to do
rng = random.Random(SEED)
selector = selectors.DefaultSelector()
totals = {"connections": 0, "requests": 0}
killable = {}  # id of a client: its connection


def request(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def bulk(text):
    return b"$%d\r\n%s\r\n" % (len(text), text)


PING, MULTI, EXEC = request(b"PING"), request(b"MULTI"), request(b"EXEC")


class Connection:
    def __init__(self, number):
        self.number, self.id = number, None
        self.key = b"key:%d" % number
        self.get = request(b"GET", self.key)
        self.value = b""
        self.to_send, self.expected, self.received = bytearray(), bytearray(), bytearray()
        self.rounds = rng.randrange(1, 5)
        self.is_flooding = self.ends = self.may_break = False
        self.resumes_at = 0
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex(("127.0.0.1", PORT))
        self.to_send += request(b"CLIENT", b"ID") + request(b"DEL", self.key)
        self.events = selectors.EVENT_READ | selectors.EVENT_WRITE
        selector.register(self.socket, self.events, self)
        totals["connections"] += 1

    def fail(self, what):
        raise SystemExit(f"client {self.number}, id {self.id}: {what}; expected {bytes(self.expected[:80])}, "
                         f"received {bytes(self.received[:80])}")

    # --- What it asks

    def add_request(self):
        kind = rng.randrange(5)
        totals["requests"] += 1
        if kind == 0:
            self.value = bytes([rng.randrange(65, 91)]) * rng.choice([1, 10, 100, 1000, 3000, 20000])
            self.ask(request(b"SET", self.key, self.value), b"+OK\r\n")
        elif kind == 1:
            self.ask_value(1)
        elif kind == 2:
            self.ask(PING, b"+PONG\r\n")
        elif kind == 3:
            text = b"x" * rng.randrange(1, 200)
            self.ask(request(b"ECHO", text), bulk(text))
        else:
            self.ask(MULTI + request(b"STRLEN", self.key) + EXEC,
                     b"+OK\r\n+QUEUED\r\n*1\r\n:%d\r\n" % len(self.value))

    def ask(self, bytes_, reply):
        self.to_send += bytes_
        self.expected += reply

    def ask_value(self, times):
        self.ask(self.get * times, (bulk(self.value) if self.value else b"$-1\r\n") * times)

    def next_round(self):
        self.rounds -= 1
        if self.rounds <= 0:
            self.begin_end()
            return
        for _ in range(rng.choice([1, 1, 1, 2, 10, 50])):
            self.add_request()
        if self.value and rng.randrange(40) == 0:  # does not read for a while, however much comes
            times = rng.randrange(1, 1 + 2000000 // (len(self.value) + 100)) if rng.randrange(4) == 0 else 100
            self.ask_value(times)
            self.is_flooding, self.resumes_at = True, time.monotonic() + rng.random()
        self.poll()

    def begin_end(self):
        how = rng.randrange(5)
        if how == 0:
            self.ask(request(b"QUIT"), b"+OK\r\n")
            self.ends = True
        elif how == 1:
            for _ in range(20):
                self.add_request()
            self.ends = True  # half-closed once all is sent
        elif how == 2:  # closes while replies come
            self.ask_value(50)
            try:
                self.socket.send(self.to_send)
            except (BlockingIOError, ConnectionError):
                pass
            self.replace()
            return
        elif how == 3:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.replace()
            return
        else:  # waits for its end
            killable[self.id] = self
            return
        self.half_closes = how == 1
        self.poll()

    # --- What comes

    def poll(self):
        events = 0 if self.is_flooding else selectors.EVENT_READ
        if self.to_send:
            events |= selectors.EVENT_WRITE
        if events == self.events:
            return
        if not self.events:
            selector.register(self.socket, events, self)
        elif events:
            selector.modify(self.socket, events, self)
        else:
            selector.unregister(self.socket)
        self.events = events

    def send(self):
        sent = self.socket.send(self.to_send[:1 << 16])
        del self.to_send[:sent]
        if not self.to_send and self.ends and self.half_closes:
            self.socket.shutdown(socket.SHUT_WR)
        self.poll()

    def receive(self):
        got = self.socket.recv(1 << 16)
        if not got:
            if self.may_break or (self.ends and not self.expected and not self.received):
                self.replace()
                return
            self.fail("the server closed")
        self.received += got
        if self.id is None:
            self.receive_first()
        self.compare()

    def receive_first(self):
        lines = bytes(self.received).split(b"\r\n")
        if len(lines) < 3:
            return
        self.id = int(lines[0][1:])
        self.received = self.received[len(lines[0]) + len(lines[1]) + 4:]

    def compare(self):
        if self.id is None:
            return
        have = len(self.received)
        if self.expected[:have] != self.received:
            self.fail("a wrong reply")
        del self.expected[:have]
        self.received.clear()
        if not self.expected and not self.to_send and not self.ends:
            self.next_round()

    def replace(self):
        killable.pop(self.id, None)
        if self.events:
            selector.unregister(self.socket)
        self.socket.close()
        if time.monotonic() < end:
            connections[self.number] = Connection(self.number)
        else:
            del connections[self.number]

    def handle(self, events):
        try:
            if events & selectors.EVENT_WRITE:
                self.send()
            if events & selectors.EVENT_READ:
                self.receive()
        except BlockingIOError:
            pass
        except ConnectionError as error:
            if not self.may_break:
                self.fail(str(error))
            self.replace()


def kill_some(control):
    """Half of them while a flood is on the way."""
    for id_ in rng.sample(sorted(killable), min(len(killable), 20)):
        connection = killable.pop(id_)
        connection.may_break = True
        if rng.randrange(2):
            for _ in range(30):
                connection.add_request()
            connection.poll()
        control.sendall(request(b"CLIENT", b"KILL", b"ID", b"%d" % id_))
        if not control.recv(64).startswith(b":"):
            raise SystemExit("CLIENT KILL was refused")


def turn(control):
    for key, events in selector.select(0.05):
        if connections.get(key.data.number) is key.data:
            key.data.handle(events)
    now = time.monotonic()
    for connection in [one for one in connections.values() if one.is_flooding and one.resumes_at <= now]:
        connection.is_flooding = False
        connection.poll()
    kill_some(control)


limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
end = float("inf")
connections = {}
killer = socket.create_connection(("127.0.0.1", PORT))
for new in range(COUNT):
    connections[new] = Connection(new)
    if new % 20 == 0:
        turn(killer)
end = time.monotonic() + SECONDS
while time.monotonic() < end:
    turn(killer)
for last in list(connections.values()):
    last.rounds = 0
    if last.id in killable:
        last.replace()
while connections:
    if time.monotonic() > end + PATIENCE_S:
        next(iter(connections.values())).fail("no reply")
    turn(killer)
print(f"{totals['connections']} connections, {totals['requests']} requests")
