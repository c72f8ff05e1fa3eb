"""What is measured: each row is one workload, dataset or curve. Only data here; measure.py runs it."""
import hashlib
import json
from dataclasses import dataclass, field

from data import documents
from resp import encode

DEFAULTS = {"list-max-listpack-size": "-2", "list-compress-depth": "0", "slowlog-log-slower-than": "10000",
            "slowlog-max-len": "128", "maxmemory-policy": "noeviction", "maxmemory": "0"}
TEXT = (
    "A list keeps what arrived first. It is pushed at one end, popped at the other, and read from anywhere in "
    "between: a queue, a stack, a log of the last thousand messages, the newest comments of a page. Short lists "
    "lie packed in one piece of memory; long lists are a sequence of such pieces, found by position, and the "
    "pieces that nobody has touched for a while may be compressed. Whoever writes much and reads little then "
    "pays for the bytes only once, which is what this text, repeated often enough, is going to show in figures.")
MESSAGES = (31, 39, 115, 495)
# Patterns of members, fields and values of 20 bytes, and of scores that are as long as times in milliseconds; then the
# same for redis-benchmark, which puts 12 random digits in the place of __rand_int__.
MEMBER, SCORE, FIELD, VALUE = "member:%013d", "1%012d", "field:%014d", "value:%014d"
RANDOM_MEMBER, RANDOM_SCORE = "member:0__rand_int__", "1__rand_int__"
RANDOM_FIELD, RANDOM_VALUE = "field:00__rand_int__", "value:00__rand_int__"
ZADD_RANDOM = ("ZADD", "zset", RANDOM_SCORE, RANDOM_MEMBER)
HSET_RANDOM = ("HSET", "hash", RANDOM_FIELD, RANDOM_VALUE)
SADD_RANDOM = ("SADD", "set", RANDOM_MEMBER)
# Scripts, as they are sent.
PUSH_30 = 'for i=1,ARGV[2],1 do redis.call("rpush", "lst:"..ARGV[1], "hellohello") end'
GET = "return redis.call('get', KEYS[1])"
GET_FUNCTION = "#!lua name=bench\nredis.register_function('get', function(keys) return redis.call('get', keys[1]) end)"
ROUND_TRIP = "return cjson.encode(cjson.decode(ARGV[1]))"
JOB = json.dumps({  # 1 KB
    "id": 4711, "name": "resize", "priority": 2, "delay": 0, "attempts": 3, "timestamp": 1700000000123,
    "progress": 0.25, "removed": False, "parent": None, "tags": ["image", "thumbnail", "nightly"],
    "options": {"backoff": {"type": "exponential", "delay": 500}, "keep": {"age": 3600, "count": 1000}},
    "steps": [{"kind": kind, "width": width, "height": width * 3 // 4, "quality": 85, "target": f"out/{kind}/4711.webp"}
              for kind, width in (("small", 160), ("medium", 640), ("large", 1280))],
    "trace": ["at resize (worker.js:120:17)", "at run (queue.js:88:5)"], "text": TEXT[:345]})
UNLIMITED = 1_000_000_000      # range of random numbers that hardly ever repeat
TURNS = 8                      # into so many are the requests of a row parted


@dataclass
class Row:
    """A workload for redis-benchmark, measured as server CPU per request. Requests have the same length
    every time and replies too, but for a counter's digits: so there is a floor to it (see floor.c)."""
    name: str
    group: str
    command: list
    requests: int
    pipeline: int = 1
    random_keys: int = 0           # range of __rand_int__ in the command
    data: tuple = ()               # what the server holds before: see data.fill
    writes: bool = True            # the server must be filled again after each round
    uses_up: bool = False          # after the last round only: there is enough for all of them
    config: dict = field(default_factory=dict)
    by_unix_socket: bool = False   # instead of TCP over the loopback device; there is no floor to that
    by_tls: bool = False           # TLS 1.3 with the default cipher over TCP; there is no floor to that
    clients: int = 0               # 0: measure.CLIENTS
    section: str = "cpu"           # of the report

    @property
    def requests_of_turn(self):
        """How many requests a round sends: a part of `requests`, so that the figures of a few rounds suffice where they
        scatter little. All of them where filling the server again takes longer, or where they make the data grow."""
        grows = self.writes and (self.data or self.random_keys == UNLIMITED)
        return self.requests if grows else max(1, self.requests // TURNS)


@dataclass
class Member:
    """Connections of exchange.c, alike: what each of them sends once, and in each round, and what it gets."""
    count: int
    request: bytes = b""
    reply: bytes = b""             # only its length counts, but for that of the floor
    first: bytes = b""
    first_reply: bytes = b""


@dataclass
class Exchange:
    """Connections that work together, measured as server CPU per round of a group. `floor`: what they are when the
    floor takes the place of the server. It answers requests as long as the first one with the reply of that, to all
    connections where the last ones send nothing."""
    name: str
    group: str
    groups: int                    # which work beside each other
    rounds: int                    # of each group
    members: list
    floor: list
    data: tuple = ()
    random_keys: int = 1           # range of __rand_int__ in requests
    section: str = "work"


@dataclass
class Queue:
    """A queue library of tests/queues, measured as server CPU per job."""
    name: str
    group: str
    library: str
    jobs: int
    section: str = "work"


@dataclass
class Threaded:
    """A workload for redis-benchmark with 100 clients on servers with I/O threads: CPU per request of the thread that
    runs commands, and of the whole process."""
    name: str
    command: list
    requests: int
    data: tuple = ()
    pipeline: int = 1
    io_threads: int = 2


@dataclass
class Call:
    """A command that works for milliseconds, measured as server CPU per call, one call after the other."""
    name: str
    group: str
    command: list
    calls: int
    data: tuple


@dataclass
class Dataset:
    """Data whose growth of used_memory is measured, also per member where their number is given."""
    name: str
    group: str
    data: tuple
    config: dict = field(default_factory=dict)
    members: int = 0               # or fields, or pending entries
    own_bytes: int = 0             # of a member, or of a field with its value, where all are equally long
    before: tuple = ()             # what the server holds before, which does not count


@dataclass
class Connections:
    """Idle connections, each after one PING, and what they add to used_memory."""
    name: str
    count: int
    by_tls: bool = False


@dataclass
class NewConnections:
    """TLS connections that are made one after the other, `at_once` at a time, each for one PING: server CPU per
    connection, with full handshakes or with a session that is resumed. Or how long a PING of another client waits."""
    name: str
    how: str                       # full or resumed
    count: int
    at_once: int
    with_pings: bool = False


@dataclass
class Stalls:
    """How often and how long a load makes the server stand still: commands that SLOWLOG keeps."""
    name: str
    load: Row
    slower_than: int               # µs


@dataclass
class Snapshot:
    """Data that is saved, and loaded again."""
    name: str
    data: tuple


@dataclass
class Saving:
    """Data that is saved beside the requests of clients: those take turns, and {N} in them is a random number
    below N. They leave the data about as large as it is."""
    name: str
    group: str
    data: tuple
    requests: list
    rate: int = 20_000             # requests per second, where they come due evenly


@dataclass
class ReplicatedWrites:
    """A row of writes, beside replicas that only read."""
    name: str
    group: str
    row: Row


@dataclass
class FullSync:
    """Data that replicas get, beside the requests of clients as in Saving."""
    name: str
    group: str
    data: tuple
    requests: list
    rate: int


@dataclass
class Applying:
    """A replica applies a primary's changes: RPUSH of 10 bytes to so many lists in turn."""
    name: str
    group: str
    lists: int
    pushes_of_each: int


REPLICATION = (ReplicatedWrites, FullSync, Applying)


@dataclass
class TrackedMemory:
    """Keys of 16 bytes that each of so many clients has read, all of which track keys: growth of used_memory per
    key."""
    name: str
    trackers: int
    keys: int


MEMORY = (Dataset, Connections, TrackedMemory)  # to which other programs add nothing


@dataclass
class TrackedStall:
    """How long a PING waits at most, and how long a loop iteration of the server takes at most, when something happens
    to what is tracked. `event`: the limit of keys becomes 1 (limit), all keys are deleted (flush), all trackers close
    (close), 100 keys are written (write). Where they are `slow`, the trackers do not read what they are told."""
    name: str
    event: str
    trackers: int
    keys: int = 0                  # that each of them has read
    prefixes: int = 0              # that each of them tracks in place of keys
    slow: bool = False


@dataclass
class CommandStall:
    """How long a PING waits at most while a client sends these commands one after the other."""
    name: str
    data: tuple                    # what the server holds, in all rounds and rows of it
    before: tuple                  # what is added before each round
    commands: list


@dataclass
class Large:
    """A command that works on a large value, or has many arguments: how long it holds the event loop, and what it
    costs in all."""
    name: str
    command: list
    data: tuple                    # what the server holds, in all rounds and rows of it
    before: tuple = ()             # commands that come before each time


@dataclass
class Unread:
    """A command whose reply nobody reads: by how much resident memory grows."""
    name: str
    command: list
    data: tuple


@dataclass
class Beside:
    """p99.9 of GETs of four clients, alone and beside a client that sends these commands one after the other."""
    name: str
    commands: list
    data: tuple


@dataclass
class Curve:
    """A command on a list of growing length; `command` is made from that length."""
    name: str
    command: object
    scans: bool                    # it reads the whole list
    undo: tuple = ()               # a command, not measured, that takes back what the calls have changed


QUEUE_LIBRARIES = ("arq", "asynq", "bee_queue", "bull", "bullmq", "celery", "dramatiq", "faststream",
                   "functions_queue_node", "functions_queue_python", "huey", "node_resque", "php", "rq", "saq",
                   "sidekiq", "taskiq", "watermill")


def message(size):
    return TEXT[:size].ljust(size, ".")


def pipelined(pipeline):
    return f"pipeline {pipeline}" if pipeline > 1 else "no pipeline"


def command_rows(scale):
    for pipeline, count in ((1, 100_000), (16, 1_000_000)):
        requests = int(count * scale)
        some = ("list", "list", 1000, "hellohello")
        few = requests // TURNS  # as many as a round of other rows sends
        popped = {"requests": few, "data": ("list", "list", few + few // 10, "hellohello")}
        strings = ("strings", 100_000)

        def row(name, *command, requests=requests, pipeline=pipeline, **more):
            return Row(f"{name}.P{pipeline}", pipelined(pipeline), list(command), requests, pipeline, **more)
        yield row("ping", "PING", writes=False)
        yield row("get", "GET", "key:__rand_int__", random_keys=100_000, data=strings, writes=False)
        yield row("set", "SET", "key:__rand_int__", "xxx", random_keys=100_000, data=strings, writes=False)
        yield row("append", "APPEND", "key:__rand_int__", "abc", random_keys=100_000, data=strings, writes=False,
                  uses_up=True)
        yield row("llen", "LLEN", "list", data=some, writes=False)
        yield row("lmove", "LMOVE", "list", "list", "LEFT", "RIGHT", data=some, writes=False)
        yield row("lpush", "LPUSH", "list", "hellohello")
        yield row("rpush", "RPUSH", "list", "hellohello")
        yield row("lpop", "LPOP", "list", **popped)
        yield row("rpop", "RPOP", "list", **popped)
        yield row("lpush-many", "LPUSH", "list:__rand_int__", "hellohello", random_keys=100_000)
        if pipeline > 1:
            yield row("lpush-1KB", "LPUSH", "list", message(1024), requests=int(400_000 * scale))
            for size in (10, 40, 100):  # KB: what leaves in few pieces, or by reference
                yield row(f"get-{size}KB", "GET", "text", requests=int(400_000 * scale) // size, writes=False,
                          data=("text", "text", size * 1000))


def unix_rows(scale):
    """Rows of command_rows again, but over a unix socket."""
    for pipeline, count in ((1, 100_000), (16, 1_000_000)):
        def row(name, *command, count=count, pipeline=pipeline, **more):
            return Row(f"unix-{name}.P{pipeline}", f"unix socket, {pipelined(pipeline)}", list(command),
                       int(count * scale), pipeline, by_unix_socket=True, **more)
        yield row("ping", "PING", writes=False)
        yield row("get", "GET", "key:__rand_int__", random_keys=100_000, data=("strings", 100_000), writes=False)
        yield row("lpush", "LPUSH", "list", "hellohello")


def tls_rows(scale):
    """Rows of command_rows again, but over TLS."""
    for pipeline, count in ((1, 100_000), (16, 1_000_000)):
        for name, *command in (("get", "GET", "key:__rand_int__"), ("set", "SET", "key:__rand_int__", "xxx")):
            yield Row(f"tls-{name}.P{pipeline}", f"TLS, {pipelined(pipeline)}", command, int(count * scale), pipeline,
                      random_keys=100_000, data=("strings", 100_000), writes=False, by_tls=True)


def new_connections(scale):
    for how in ("full", "resumed"):
        yield NewConnections(f"tls-connections-{how}", how, int(1000 * scale), 10)
        yield NewConnections(f"tls-connections-{how}-500-at-once", how, 500, 500, with_pings=True)


def middle_rows(scale):
    length = int(1_000_000 * scale)
    data = ("list", "list", length, "hello")
    for pipeline, count in ((1, 80_000), (16, 200_000)):
        for name, *command in (("lindex", "LINDEX", "list", length // 2),
                               ("lset", "LSET", "list", length // 2, "world")):
            yield Row(f"{name}-middle.P{pipeline}", f"middle of {length:,} elements", list(map(str, command)),
                      int(count * scale), pipeline, data=data, writes=False)


def lrange_rows(scale):
    lists = {"listpack": ("list", "list", 600, "hellohello"), "quicklist": ("list", "list", 100_000, "hello")}
    for pipeline, requests in ((1, (60_000, 40_000)), (10, (150_000, 80_000))):
        for encoding, data in lists.items():
            for count in (100, 300, 500, 600):
                yield Row(f"lrange-{count}-{encoding}.P{pipeline}", f"LRANGE, {pipelined(pipeline)}",
                          ["LRANGE", "list", "0", str(count - 1)], int(requests[count > 100] * scale), pipeline,
                          data=data, writes=False)


def message_rows(scale):
    for depth in (0, 2):
        for size in MESSAGES:
            yield Row(f"message-{size}-depth-{depth}", "messages, pipeline 16", ["LPUSH", "list", message(size)],
                      int(500_000 * scale), 16, config={"list-compress-depth": str(depth)})


def fill_rows(scale):
    fills = [*range(-5, 0), *(2 ** power for power in range(10))]
    requests = int(200_000 * scale)
    for size in (40, 1024):
        value = message(size)
        for depth in (0, 1, 2):
            for fill in fills:
                config = {"list-max-listpack-size": str(fill), "list-compress-depth": str(depth)}
                for name in ("LPUSH", "RPUSH", "LPOP", "RPOP"):
                    pops = name.endswith("POP")
                    yield Row(f"fill-{name.lower()}-{size}B-depth-{depth}-fill{fill:+d}",
                              f"fills, {name} of {size} bytes, depth {depth}",
                              [name, "list"] + ([] if pops else [value]), requests, 16, config=config,
                              data=("list", "list", requests + 1000, value) if pops else ())


def collection_row(kind, pipeline, requests):
    """A function that makes a row of this kind of values."""
    def row(name, *command, requests=requests, random_keys=0, writes=False, **more):
        return Row(f"{name}.P{pipeline}", f"{kind}, {pipelined(pipeline)}", list(command), requests, pipeline,
                   random_keys=random_keys, writes=writes, **more)
    return row


def zset_rows(scale):
    """Rows of the same data follow each other, so that the servers are filled with it once."""
    million = int(1_000_000 * scale)
    one = {"data": ("zset", "zset", million, MEMBER, SCORE), "random_keys": million}
    single, row = (collection_row("sorted sets", pipeline, int(count * scale))
                   for pipeline, count in ((1, 100_000), (16, 1_000_000)))
    for each in (single, row):
        yield zrange_first(each, int(10_000 * scale))
    yield zrange_first(row, int(50_000 * scale))
    for each in (single, row):
        yield each("zscore", "ZSCORE", "zset", RANDOM_MEMBER, **one)
        yield each("zrank", "ZRANK", "zset", RANDOM_MEMBER, **one)
        yield each("zrange-byscore", "ZRANGE", "zset", RANDOM_SCORE, "+inf", "BYSCORE", "LIMIT", "0", "10", **one)
    yield row("zincrby", "ZINCRBY", "zset", "1", RANDOM_MEMBER, **one)
    yield row("zrem", "ZREM", "zset", RANDOM_MEMBER, requests=million // 2, uses_up=True, **one)
    some = million // 2
    yield row("zpopmin", "ZPOPMIN", "zset", requests=some // 2, uses_up=True,
              data=("zset", "zset", some, MEMBER, SCORE))
    yield row("zadd-random", *ZADD_RANDOM, random_keys=UNLIMITED, writes=True, requests=some // 2)


def zrange_first(row, count, **more):
    return row(f"zrange-first-of-{count}", "ZRANGE", "zset:__rand_int__", "0", "0", random_keys=count,
               data=("zsets", count, 129), **more)


def place_rows(scale):
    many = int(200_000 * scale)
    row = collection_row("places", 16, many)
    one = {"data": ("places", "places", many, MEMBER), "random_keys": many}
    near = ("GEOSEARCH", "places", "FROMMEMBER", RANDOM_MEMBER, "BYRADIUS", "10", "km")
    yield row("geosearch-10km-count-10-any", *near, "COUNT", "10", "ANY", **one)
    yield row("geosearch-10km-count-10-asc", *near, "COUNT", "10", "ASC", requests=int(20_000 * scale), **one)
    yield row("geodist", "GEODIST", "places", RANDOM_MEMBER, RANDOM_MEMBER, **one)


def zset_rows_of_much_memory(scale):
    """They let only one server hold its data at a time."""
    million = int(1_000_000 * scale)
    yield zrange_first(collection_row("sorted sets", 16, million), million, writes=True)


def hash_rows(scale):
    many = int(100_000 * scale)
    keys = {"data": ("hashes", many, 5, VALUE % 0), "random_keys": many}
    for pipeline, count in ((1, 100_000), (16, 1_000_000)):
        row = collection_row("hashes", pipeline, int(count * scale))
        yield row("hget-many", "HGET", "hash:__rand_int__", "field:2", **keys)
        yield row("hset-many", "HSET", "hash:__rand_int__", "field:2", RANDOM_VALUE, **keys)
    for length in (10, 1000):
        one = {"data": ("hash", "hash", length, FIELD, VALUE), "random_keys": length}
        yield row(f"hget-{length}", "HGET", "hash", RANDOM_FIELD, **one)
        yield row(f"hset-{length}", "HSET", "hash", RANDOM_FIELD, RANDOM_VALUE, **one)
    yield row("hincrby", "HINCRBY", "hash:__rand_int__", "field:2", "1", random_keys=many,
              data=("hashes", many, 5, SCORE % 0))


def set_rows(scale):
    million = int(1_000_000 * scale)
    one = {"data": ("set", "set", million, MEMBER), "random_keys": million}
    for pipeline, count in ((1, 100_000), (16, 1_000_000)):
        row = collection_row("sets", pipeline, int(count * scale))
        yield row("sismember", "SISMEMBER", "set", RANDOM_MEMBER, **one)
    yield row("srandmember", "SRANDMEMBER", "set", **one)
    yield row("spop", "SPOP", "set", requests=million // 2, uses_up=True, data=("set", "set", million, MEMBER))
    yield row("sadd-random", *SADD_RANDOM, random_keys=UNLIMITED, writes=True, requests=million // 2)


def whole_rows(scale):
    row = collection_row("whole hashes and sets", 16, int(100_000 * scale))
    for length, requests in ((10, 500_000), (1000, 20_000)):
        yield row(f"hgetall-{length}", "HGETALL", "hash", requests=int(requests * scale),
                  data=("hash", "hash", length, FIELD, VALUE))
    yield row("smembers-100", "SMEMBERS", "set", data=("set", "set", 100, MEMBER))


def stream_rows(scale):
    row = collection_row("streams", 16, int(1_000_000 * scale))
    entries = int(100_000 * scale)
    yield row("xadd", "XADD", "stream", "*", "field", "hellohello", writes=True)
    yield row("xadd-maxlen", "XADD", "stream", "MAXLEN", "~", "1000", "*", "field", "hellohello", writes=True)
    yield row("xrange-10", "XRANGE", "stream", "__rand_int__", "+", "COUNT", "10", random_keys=entries - 10,
              requests=int(500_000 * scale), data=("stream", "stream", entries, "field", "hellohello"))


def group_rows(scale):
    """The first two have no more requests, in all rounds, than the stream has entries for."""
    million = int(1_000_000 * scale)
    row = collection_row("consumer groups", 16, million // 2)
    stream = ("stream", "stream", million + 1000, "field", "hellohello")
    unread = {"data": ("several", stream, ("groups", "stream", 1)), "uses_up": True}
    pending = {"data": ("several", stream, ("pending", "stream", million)), "random_keys": million,
               "requests": million // 5}
    read, claim = ("XREADGROUP", "GROUP", "group:0", "consumer"), ("XAUTOCLAIM", "stream", "pending", "consumer")
    yield row("xreadgroup-1", *read, "COUNT", "1", "STREAMS", "stream", ">", **unread)
    yield row("xreadgroup-10", *read, "COUNT", "10", "STREAMS", "stream", ">", **{**unread, "requests": million // 20})
    yield row("xreadgroup-pending-10", "XREADGROUP", "GROUP", "pending", "consumer:0", "COUNT", "10", "STREAMS",
              "stream", "__rand_int__-0", **pending)
    yield row("xautoclaim-10", *claim, "0", "__rand_int__-0", "COUNT", "10", **pending)
    yield row("xautoclaim-none", *claim, "3600000", "__rand_int__-0", "COUNT", "10",
              **{**pending, "requests": million // 20})
    yield row("xadd-with-groups", "XADD", "stream", "*", "field", "hellohello", **{**pending, "requests": million})
    yield row("xack", "XACK", "stream", "pending", "__rand_int__-1",
              **{**pending, "requests": million // 2, "uses_up": True})


def hyperloglog_rows(scale):
    """Of a PFCOUNT without a count that is up to date two keys are asked for: no count is stored then."""
    row = collection_row("HyperLogLogs", 16, int(100_000 * scale))
    sparse, dense = ("hyperloglogs", 10, 500), ("hyperloglogs", 10, 100_000)
    ten = [f"hll:{number:012d}" for number in range(10)]
    add = ("PFADD", "hll:__rand_int__", "element")
    yield row("pfadd-sparse", *add, random_keys=10, data=sparse)
    yield row("pfcount-2-sparse", "PFCOUNT", ten[0], ten[1], data=sparse)
    yield row("pfmerge-3-sparse", "PFMERGE", "stored", *ten[:3], data=sparse, requests=int(6_000 * scale))
    yield row("pfmerge-3-small", "PFMERGE", "stored", *ten[:3], data=("hyperloglogs", 10, 10))
    yield row("pfadd-dense", *add, random_keys=10, data=dense)
    yield row("pfcount-cached", "PFCOUNT", ten[0], data=dense)
    yield row("pfcount-2-dense", "PFCOUNT", ten[0], ten[1], data=dense)
    yield row("pfmerge-10-dense", "PFMERGE", "stored", *ten, data=dense)


def script_rows(scale):
    def sha(text):
        return hashlib.sha1(text.encode()).hexdigest()
    row = collection_row("scripts", 16, int(500_000 * scale))
    strings = ("strings", 100_000)
    yield row("eval-30-rpush", "EVAL", PUSH_30, "0", "__rand_int__", "30", random_keys=10_000_000,
              requests=int(100_000 * scale), writes=True)
    yield row("evalsha-get", "EVALSHA", sha(GET), "1", "key:__rand_int__", random_keys=100_000,
              data=("several", strings, ("script", GET)))
    yield row("fcall-get", "FCALL", "get", "1", "key:__rand_int__", random_keys=100_000,
              data=("several", strings, ("function", GET_FUNCTION)))
    yield row("evalsha-cjson", "EVALSHA", sha(ROUND_TRIP), "0", JOB, requests=int(100_000 * scale),
              data=("script", ROUND_TRIP))


def work_rows(scale):
    """What applications do: one request at a time."""
    many, group = int(100_000 * scale), "one request at a time"

    def row(name, *command, requests=many, random_keys=many, writes=False, **more):
        return Row(f"work-{name}", group, list(command), requests, random_keys=random_keys, writes=writes,
                   section="work", **more)
    key = "key:__rand_int__"
    strings = ("strings", many)
    yield row("get", "GET", key, data=strings)
    yield row("set", "SET", key, "xxx", data=strings)
    yield row("get-1000-connections", "GET", key, data=strings, clients=1000)
    yield row("mget-100", "MGET", *[key] * 100, requests=many // 5, data=strings)
    yield row("mset-100", "MSET", *[key, "xxx"] * 100, requests=many // 5, data=strings)
    yield row("evalsha", "EVALSHA", hashlib.sha1(GET.encode()).hexdigest(), "1", key,
              data=("several", strings, ("script", GET)))
    yield transactions(group, many, strings)
    yield row("hset", "HSET", "hash:__rand_int__", "field:2", RANDOM_VALUE, data=("hashes", many, 5, VALUE % 0))
    yield row("zadd", *ZADD_RANDOM, data=("zset", "zset", many, MEMBER, SCORE))
    yield row("lpush", "LPUSH", "list", "hellohello", writes=True)
    yield row("get-10KB", "GET", key, random_keys=many // 10, data=("values", many // 10, 10 * 1024))
    # There is as much data after it as before.
    yield row("set-evicting", "SET", key, "x" * 1000, random_keys=UNLIMITED,
              data=("values", many * 6 // 5, 1000),
              config={"maxmemory-policy": "allkeys-lru", "maxmemory": str(1000 * many)})
    yield row(f"get-of-{50 * many}", "GET", key, requests=3 * many, random_keys=50 * many,
              data=("scripted-strings", 50 * many))
    yield hand_over(group, many)
    yield subscribers(group, many)


def transactions(group, many, strings):
    commands = (("MULTI",), ("SET", "key:__rand_int__", "xxx"), ("GET", "key:__rand_int__"),
                ("EXPIRE", "key:__rand_int__", "1000"), ("EXEC",))
    replies = b"+OK\r\n" + b"+QUEUED\r\n" * 3 + b"*3\r\n+OK\r\n$3\r\nxxx\r\n:1\r\n"
    members = [Member(1, b"".join(map(encode, commands)), replies)]
    return Exchange("work-transaction-of-3", group, 50, many // 150, members, members, strings, many)


def hand_over(group, many):
    """A worker waits for a job, which a producer adds. As two connections exchange a request and a reply each, the
    floor is that of two requests."""
    queue, job = "queue:__group_id__", message(100)
    pop = Member(1, encode(["BLPOP", queue, "0"]), encode([queue, job]))
    push = Member(1, encode(["LPUSH", queue, job]), b":1\r\n")
    return Exchange("work-blpop-of-jobs", group, 25, many // 75, [pop, push], [Member(2, pop.request, pop.reply)])


def subscribers(group, many):
    """The floor sends the message to the publisher, too."""
    count, channel, text = 100, "channel", message(100)
    published, told = encode(["PUBLISH", channel, text]), encode(["message", channel, text])
    subscribed = b"*3\r\n$9\r\nsubscribe\r\n$7\r\nchannel\r\n:1\r\n"
    return Exchange(f"work-publish-to-{count}", group, 1, many // 30, [
        Member(1, published, b":%d\r\n" % count),
        Member(count, reply=told, first=encode(["SUBSCRIBE", channel]), first_reply=subscribed)],
        [Member(1, published, told), Member(count, reply=told)])


def queue_rows(scale):
    for library in QUEUE_LIBRARIES:
        yield Queue(f"work-queues-{library}", "queue libraries, per job", library, int(2000 * scale))


def workloads(scale, with_all):
    yield from command_rows(scale)
    yield from unix_rows(scale)
    yield from tls_rows(scale)
    yield from middle_rows(scale)
    yield from lrange_rows(scale)
    yield from message_rows(scale)
    yield from zset_rows(scale)
    yield from place_rows(scale)
    yield from hash_rows(scale)
    yield from set_rows(scale)
    yield from whole_rows(scale)
    yield from stream_rows(scale)
    yield from group_rows(scale)
    yield from hyperloglog_rows(scale)
    yield from script_rows(scale)
    yield from work_rows(scale)
    if with_all:
        yield from fill_rows(scale)
        yield from zset_rows_of_much_memory(scale)


def calls(scale):
    size = int(100_000 * scale)
    zsets = ("several", *(("zset", f"zset:{number}", size, MEMBER, SCORE, number * (size // 2)) for number in range(2)))
    sets = ("several", *(("set", f"set:{number}", size, MEMBER, number * (size // 20)) for number in range(10)))

    def call(what, data, *command):
        return Call(f"{command[0].lower()} ({what})", "sorted sets and sets that are combined", list(command), 10, data)
    for command in ("ZINTERSTORE", "ZUNIONSTORE"):
        yield call(f"2 x {size:,}, half of them in both", zsets, command, "stored", "2", "zset:0", "zset:1")
    yield call(f"10 x {size:,}, 55% of them in all", sets, "SINTER", *(f"set:{number}" for number in range(10)))


def datasets(scale):
    million, lists, long = int(1_000_000 * scale), int(300 * scale), int(500_000 * scale)
    documents = ("documents", lists, 800, 2500)

    def dataset(name, what, *data, **config):
        return Dataset(f"memory-{name} ({what})", "datasets", data, {key.replace("_", "-"): value for key, value
                                                                     in config.items()})
    yield dataset("lists", f"{million // 2:,} of 5 x 10 bytes", "lists", million // 2, 5, "hellohello")
    yield dataset("strings", f"{10 * million:,} of some 10 bytes", "populate", 10 * million)
    yield dataset("integers", f"20 lists of {million // 5:,}", "integers", 20, million // 5)
    yield dataset("documents", f"{lists} lists of 800 x 2.5 KB of JSON", *documents)
    yield dataset("documents-depth-1", "the same, compressed", *documents, list_compress_depth="1")
    yield dataset("1KB", f"{long:,} x 1 KB in a list", "list", "list", long, message(1024))
    for depth in (0, 2):
        for size in MESSAGES:
            count = int(100_000 * scale)
            yield Dataset(f"memory-message-{size}-depth-{depth} ({count:,} in a list)",
                          f"messages, list-compress-depth {depth}", ("list", "list", count, message(size)),
                          {"list-compress-depth": str(depth)})


def collection_datasets(scale):
    million, some = int(1_000_000 * scale), int(20_000 * scale)
    many, few = some * 10, some // 4

    def dataset(name, what, members, *data, own_bytes=0):
        return Dataset(f"memory-{name} ({what})", "sorted sets, hashes and sets", data, members=members,
                       own_bytes=own_bytes)
    yield dataset("zsets", f"{some:,} of 129 x member:N", some * 129, "zsets", some, 129)
    yield dataset("zset", f"one of {million:,} x 20 bytes in random order", million, "zset", "zset", million, MEMBER,
                  SCORE, own_bytes=20)
    yield dataset("zset-integers", f"one of {million:,} integers in random order", million, "zset", "zset", million,
                  "%d", SCORE)
    yield dataset("hashes", f"{many:,} of 5 x field:N and 10 bytes", 5 * many, "hashes", many, 5, "hellohello")
    yield dataset("hash", f"one of {million:,} x 20 and 20 bytes in random order", million, "hash", "hash", million,
                  FIELD, VALUE, own_bytes=40)
    yield dataset("set", f"one of {million:,} x 20 bytes in random order", million, "set", "set", million, MEMBER,
                  own_bytes=20)
    yield dataset("sets-integers", f"{few:,} of 500 integers", few * 500, "sets", few, 500, "%d")
    yield dataset("sets-small", f"{some:,} of 100 x member:N", some * 100, "sets", some, 100, "member:%d")


def pending_datasets(scale):
    million = int(1_000_000 * scale)
    for name, what, pattern, consumers in (
            ("pending", "1 ms apart", "%d-1", 1), ("pending-of-one-ms", "all of one ms", "1-%d", 1),
            ("pending-of-100-consumers", "1 ms apart, each has ten in a row", "%d-1", 100)):
        yield Dataset(f"memory-{name} ({million:,}, {what})", "pending entries",
                      ("pending", "stream", million, consumers), members=million,
                      before=("stream", "stream", million, "field", "hellohello", pattern))


def connections(scale):
    many, few = int(4000 * scale), int(1000 * scale)
    yield Connections(f"connections-idle, bytes each of {many:,}", many)
    yield Connections(f"tls-connections-idle, bytes each of {few:,}", few, by_tls=True)


def stalls(scale):
    many, long = int(2_500_000 * scale), int(1_250_000 * scale)

    def stall(name, requests, what, *command):
        return Stalls(f"{name} ({requests:,} random {what})",
                      Row(name, "", list(command), requests, 16, random_keys=UNLIMITED), 300)
    yield stall("stalls", many, "keys", "SET", "key:__rand_int__", "xxx")
    yield stall("stalls-zset", long, "members", *ZADD_RANDOM)
    yield stall("stalls-hash", long, "fields", *HSET_RANDOM)
    yield stall("stalls-set", long, "members", *SADD_RANDOM)


def snapshots_and_savings(scale):
    """A row that saves some data, followed by that which saves it beside clients, so that the servers are filled with
    it once."""
    many, some, long, few = (int(count * scale) for count in (5_000_000, 500_000, 1_000_000, 150))
    size = 2500  # of a document

    def snapshot(what, *data):
        return Snapshot(f"snapshot-{what}", data)

    def saving(name, what, data, *requests):
        return Saving(f"saving-{name}", what, data, list(requests))
    yield snapshot(f"list of {some:,} elements of 40 bytes", "numbers", "list", some, ELEMENT)
    lists = ("lists", some, 5, "hellohello")
    yield snapshot(f"{some:,} lists of 5 x 10 bytes", *lists)
    yield saving("lists", f"{some:,} lists of 5 x 10 bytes, LPUSH and RPOP", lists,
                 ["LPUSH", f"key:{{{some}}}", "hellohello"], ["RPOP", f"key:{{{some}}}"])
    strings = ("populate", many)
    yield snapshot(f"{many:,} strings", *strings)
    yield saving("strings", f"{many:,} strings, SET", strings, ["SET", f"key:{{{many}}}", f"value:{{{many}}}"])
    zset = ("zset", "zset", long, "member:%d", "%d")
    yield snapshot(f"sorted set of {long:,} members", *zset)
    yield saving("zset", f"a sorted set of {long:,} members, ZADD", zset,
                 ["ZADD", "zset", f"{{{long}}}", f"member:{{{long}}}"])
    one = ("hash", "hash", long, "field:%d", "value:%d")
    yield snapshot(f"hash of {long:,} fields", *one)
    yield saving("hash", f"a hash of {long:,} fields, HSET", one,
                 ["HSET", "hash", f"field:{{{long}}}", f"value:{{{long}}}"])
    members = ("set", "set", long, "member:%d")
    yield snapshot(f"set of {long:,} members", *members)
    yield saving("set", f"a set of {long:,} members, SADD and SREM", members,
                 *([command, "set", f"member:{{{2 * long}}}"] for command in ("SADD", "SREM")))
    yield saving("documents", f"{few} lists of 800 x 2.5 KB of JSON, LSET", ("documents", few, 800, size),
                 *(["LSET", f"documents:{{{few}}}", "{800}", document] for document in documents(size)[:100]))


def replications(scale):
    strings, lists = int(5_000_000 * scale), int(10_000 * scale)
    row = Row("", "", ["SET", "key:__rand_int__", "v" * 32], int(1_000_000 * scale), 16, random_keys=100_000)
    yield ReplicatedWrites("replication-writes", "a primary, CPU per SET of 32 bytes at pipeline 16", row)
    yield Applying("replication-applying", "a replica, CPU per RPUSH of 10 bytes", lists, 100)
    yield FullSync("replication-sync", f"a full sync of {strings:,} strings to 3 replicas at once, SET",
                   ("populate", strings), [["SET", f"key:{{{strings}}}", f"value:{{{strings}}}"]], 5_000)


def threaded(scale):
    """More threads than this machine has cores would measure nothing."""
    requests = int(75_000 * scale)
    for name, command, data in (
            ("get", ["GET", "key:__rand_int__"], ("strings", 1000)),
            ("set", ["SET", "key:__rand_int__", "v" * 16], ()),
            ("lpush", ["LPUSH", "list", "v" * 16], ()),
            ("lpop", ["LPOP", "list"], ("list", "list", requests * 2, "v" * 16)),
            ("hget", ["HGET", "hash", FIELD % 500], ("hash", "hash", 1000, FIELD, VALUE)),
            ("lrange-300", ["LRANGE", "list", "0", "299"], ("list", "list", 300, "v" * 16)),
            ("get-10k", ["GET", "large"], ("text", "large", 10_000))):
        share = 2 if name in ("lrange-300", "get-10k") else 1
        yield Threaded(f"threads-{name}", command, requests // share, data)
    yield Threaded("threads-get.P16", ["GET", "key:__rand_int__"], requests * 4, ("strings", 1000), 16)
    yield Threaded("threads-set.P16", ["SET", "key:__rand_int__", "v" * 16], requests * 4, (), 16)


def trackings(scale):
    some, many, prefixes = (int(count * scale) for count in (20_000, 50_000, 50_000))
    for trackers in (1, 4, 16):
        yield TrackedMemory(f"tracking-memory ({some:,} keys, clients: {trackers})", trackers, some)
    for event, what in (("limit", "tracking-table-max-keys becomes 1"), ("flush", "FLUSHALL"),
                        ("close", "all 4 close")):
        yield TrackedStall(f"tracking-stall-{event} ({many:,} keys, clients: 4; {what})", event, 4, many)
    yield TrackedStall(f"tracking-stall-prefixes (one client, {prefixes:,} prefixes; 100 keys are written)", "write", 1,
                       prefixes=prefixes)
    yield TrackedStall(f"tracking-stall-slow ({many:,} keys, clients: 4 that do not read; the limit becomes 1, then "
                       "all close)", "slow", 4, many, slow=True)


def group_stalls(scale):
    half, consumers, groups, some = int(500_000 * scale), int(10_000 * scale), int(1000 * scale), 100
    data = ("several", ("stream", "stream", 2 * half, "field", "hellohello"), ("groups", "stream", groups))
    ids = [f"{half - number}-1" for number in range(some)]
    place, claim = ("stream", "pending"), ("XAUTOCLAIM", "stream", "pending", "another")
    requests = [
        ["XREADGROUP", "GROUP", "pending", "consumer:1", "COUNT", some, "STREAMS", "stream", ">"],
        ["XREADGROUP", "GROUP", "pending", "consumer:1", "COUNT", some, "STREAMS", "stream", 0],
        [*claim, 0, 0, "COUNT", some], [*claim, 3_600_000, 0, "COUNT", some], ["XCLAIM", *place, "another", 0, *ids],
        ["XACK", *place, *ids], ["XPENDING", *place], ["XPENDING", *place, "IDLE", 3_600_000, "-", "+", some],
        ["XINFO", "GROUPS", "stream"], ["XINFO", "CONSUMERS", *place], ["XGROUP", "CREATECONSUMER", *place, "new"],
        ["XGROUP", "DELCONSUMER", *place, "new"]]
    many, one = ("pending", "stream", half, consumers), ("pending", "stream", half)
    for name, before, commands in (
            ("requests", many, requests * 10), ("delconsumer", one, [["XGROUP", "DELCONSUMER", *place, "consumer:0"]]),
            ("destroy", one, [["XGROUP", "DESTROY", *place]])):
        who = f"{consumers:,} consumers" if before is many else "one consumer"
        yield CommandStall(f"groups-stall-{name} ({2 * half:,} entries, {groups:,} groups, {half:,} pending of "
                           f"{who})", data, before, commands)


def large_of_lists(members):
    half, some = members // 2, 10
    data, numbers = ("numbers", "list", members, "element:%09d"), ("numbers", "numbers", members, "%d")
    for name, command in (
            ("lrange", ["LRANGE", "list", 0, -1]), ("lpos", ["LPOS", "list", "absent"]),
            ("lrem", ["LREM", "list", 0, "absent"]), ("linsert", ["LINSERT", "list", "BEFORE", "absent", "new"]),
            ("lpop", ["LPOP", "copy", half]), ("ltrim", ["LTRIM", "copy", half // 2, half]), ("dump", ["DUMP", "list"]),
            ("copy-list", ["COPY", "list", "new"]), ("sort-alpha", ["SORT", "list", "ALPHA", "LIMIT", 0, some])):
        yield name, command, data
    yield "sort", ["SORT", "numbers"], numbers
    yield "sort-store", ["SORT", "numbers", "STORE", "new"], numbers


def large_of_hashes(members):
    data = ("hash", "hash", members, "field:%09d", "value:%09d")
    for name, command in (
            ("hgetall", ["HGETALL", "hash"]), ("hkeys", ["HKEYS", "hash"]),
            ("hrandfield", ["HRANDFIELD", "hash", members // 10]), ("hscan", ["HSCAN", "hash", 0, "COUNT", members]),
            ("copy-hash", ["COPY", "hash", "new"])):
        yield name, command, data


def large_of_sets(members):
    half, two = members // 2, ["set", "other"]
    data = ("several", ("set", "set", members, "member:%09d"), ("set", "other", members, "member:%09d", half))
    for name, command in (
            ("smembers", ["SMEMBERS", "set"]), ("sinter", ["SINTER", *two]), ("sintercard", ["SINTERCARD", 2, *two]),
            ("sunionstore", ["SUNIONSTORE", "new", *two]), ("sdiffstore", ["SDIFFSTORE", "new", *two]),
            ("spop", ["SPOP", "copy", half]), ("srandmember", ["SRANDMEMBER", "set", -members // 10]),
            ("copy-set", ["COPY", "set", "new"])):
        yield name, command, data


def large_of_sorted_sets(members):
    half, two = members // 2, [2, "zset", "other"]
    data = ("several", ("zset", "zset", members, "member:%09d", "%d"),
            ("zset", "other", members, "member:%09d", "%d", half))
    for name, command in (
            ("zrange", ["ZRANGE", "zset", 0, -1, "WITHSCORES"]), ("zunionstore", ["ZUNIONSTORE", "new", *two]),
            ("zinterstore", ["ZINTERSTORE", "new", *two]), ("zdiffstore", ["ZDIFFSTORE", "new", *two]),
            ("zrangestore", ["ZRANGESTORE", "new", "zset", 0, -1]), ("zpopmin", ["ZPOPMIN", "copy", half]),
            ("zremrangebyrank", ["ZREMRANGEBYRANK", "copy", 0, half]),
            ("zrandmember", ["ZRANDMEMBER", "zset", -members // 10]), ("copy-zset", ["COPY", "zset", "new"])):
        yield name, command, data


def large_of_others(members):
    data, places = ("stream", "stream", members, "field", "hellohello"), ("places", "places", members, "place:%09d")
    everywhere = ["places", "FROMLONLAT", 10, 50, "BYRADIUS", 20_000, "km"]
    for name, command in (
            ("xrange", ["XRANGE", "stream", "-", "+"]), ("xtrim", ["XTRIM", "copy", "MAXLEN", members // 2]),
            ("copy-stream", ["COPY", "stream", "new"])):
        yield name, command, data
    yield "geosearch", ["GEOSEARCH", *everywhere, "ASC", "COUNT", 10], places
    yield "geosearchstore", ["GEOSEARCHSTORE", "new", *everywhere], places


def large_of_strings(members):
    text, some = ("text", "text", 100 * members), 1000
    for name, command in (
            ("get", ["GET", "text"]), ("bitcount", ["BITCOUNT", "text"]),
            ("bitop-not", ["BITOP", "NOT", "new", "text"]), ("copy-string", ["COPY", "text", "new"]),
            ("dump-string", ["DUMP", "text"])):
        yield name, command, text
    names = [f"hll:{number:012d}" for number in range(some)]
    for name, command in (("pfcount", ["PFCOUNT", *names]), ("pfmerge", ["PFMERGE", "new", *names])):
        yield name, command, ("hyperloglogs", some, 5000)


def large_of_keys(members):
    names = [f"key:{number}" for number in range(members // 10)]
    for name, command in (
            ("keys-none", ["KEYS", "absent*"]), ("keys-all", ["KEYS", "*"]), ("scan", ["SCAN", 0, "COUNT", members]),
            ("mget-many", ["MGET", *names]), ("exists-many", ["EXISTS", *names])):
        yield name, command, ("populate", members)


def large_commands(scale):
    """Commands on values of so many members; what they change is a copy, and what they make goes."""
    members = int(1_000_000 * scale)
    for family in (large_of_lists, large_of_hashes, large_of_sets, large_of_sorted_sets, large_of_others,
                   large_of_strings, large_of_keys):
        for name, command, data in family(members):
            original = first_key(data)
            before = [["DEL", "new", "copy"]] + [["COPY", original, "copy"]] * (command[1] == "copy")
            yield Large(f"large-{name}", command, data, before)
    text, some = ("text", "text", 100 * members), ("numbers", "list", members, "%0100d")
    for name, command, data in (("get", ["GET", "text"], text), ("lrange", ["LRANGE", "list", 0, -1], some)):
        yield Unread(f"large-unread-{name} ({members // 10_000} MB)", command, data)
    sets = ("several", ("set", "set", members, "member:%09d"), ("set", "other", members, "member:%09d"),
            ("numbers", "list", members, "element:%09d"))
    yield Beside("large-beside", [["SINTERSTORE", "new", "set", "other"], ["LREM", "list", 0, "absent"],
                                  ["SUNIONSTORE", "new", "set", "other"], ["SINTERCARD", 2, "set", "other"]], sets)


def first_key(data):
    return first_key(data[1]) if data[0] == "several" else data[1]


ELEMENT = "%040d"
LENGTHS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
CURVES = (
    Curve("growth-lindex, in the middle", lambda length: ("LINDEX", "list", length // 2), False),
    Curve("growth-lrem, of an absent value", lambda length: ("LREM", "list", 0, "absent"), True),
    Curve("growth-lpos, of the last element", lambda length: ("LPOS", "list", ELEMENT % (length - 1)), True),
    Curve("growth-linsert, before the middle element",
          lambda length: ("LINSERT", "list", "BEFORE", ELEMENT % (length // 2), "inserted"), True,
          ("LREM", "list", 0, "inserted")),
)
