"""What is measured: each row is one workload, dataset or curve. Only data here; measure.py runs it."""
from dataclasses import dataclass, field

from data import documents

DEFAULTS = {"list-max-listpack-size": "-2", "list-compress-depth": "0", "slowlog-log-slower-than": "10000",
            "slowlog-max-len": "128"}
TEXT = (
    "A list keeps what arrived first. It is pushed at one end, popped at the other, and read from anywhere in "
    "between: a queue, a stack, a log of the last thousand messages, the newest comments of a page. Short lists "
    "lie packed in one piece of memory; long lists are a sequence of such pieces, found by position, and the "
    "pieces that nobody has touched for a while may be compressed. Whoever writes much and reads little then "
    "pays for the bytes only once, which is what this text, repeated often enough, is going to show in figures.")
MESSAGES = (31, 39, 115, 495)


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
    writes: bool = True            # it must be filled again afterwards
    config: dict = field(default_factory=dict)
    by_unix_socket: bool = False   # instead of TCP over the loopback device; there is no floor to that


@dataclass
class Dataset:
    """Data whose growth of used_memory is measured."""
    name: str
    group: str
    data: tuple
    config: dict = field(default_factory=dict)


@dataclass
class Connections:
    """Idle connections, each after one PING, and what they add to used_memory."""
    name: str
    count: int


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
class Curve:
    """A command on a list of growing length; `command` is made from that length."""
    name: str
    command: object
    scans: bool                    # it reads the whole list
    undo: tuple = ()               # a command, not measured, that takes back what the calls have changed


def message(size):
    return TEXT[:size].ljust(size, ".")


def pipelined(pipeline):
    return f"pipeline {pipeline}" if pipeline > 1 else "no pipeline"


def command_rows(scale):
    for pipeline, count in ((1, 100_000), (16, 1_000_000)):
        requests = int(count * scale)
        full = ("list", "list", requests + requests // 10, "hellohello")
        some = ("list", "list", 1000, "hellohello")
        strings = ("strings", 100_000)

        def row(name, *command, requests=requests, pipeline=pipeline, **more):
            return Row(f"{name}.P{pipeline}", pipelined(pipeline), list(command), requests, pipeline, **more)
        yield row("ping", "PING", writes=False)
        yield row("get", "GET", "key:__rand_int__", random_keys=100_000, data=strings, writes=False)
        yield row("set", "SET", "key:__rand_int__", "xxx", random_keys=100_000, data=strings, writes=False)
        yield row("append", "APPEND", "key:__rand_int__", "abc", random_keys=100_000, data=strings)
        yield row("llen", "LLEN", "list", data=some, writes=False)
        yield row("lmove", "LMOVE", "list", "list", "LEFT", "RIGHT", data=some, writes=False)
        yield row("lpush", "LPUSH", "list", "hellohello")
        yield row("rpush", "RPUSH", "list", "hellohello")
        yield row("lpop", "LPOP", "list", data=full)
        yield row("rpop", "RPOP", "list", data=full)
        yield row("lpush-many", "LPUSH", "list:__rand_int__", "hellohello", random_keys=100_000)
        if pipeline > 1:
            yield row("lpush-1KB", "LPUSH", "list", message(1024), requests=int(400_000 * scale))


def unix_rows(scale):
    """Rows of command_rows again, but over a unix socket."""
    for pipeline, count in ((1, 100_000), (16, 1_000_000)):
        def row(name, *command, count=count, pipeline=pipeline, **more):
            return Row(f"unix-{name}.P{pipeline}", f"unix socket, {pipelined(pipeline)}", list(command),
                       int(count * scale), pipeline, by_unix_socket=True, **more)
        yield row("ping", "PING", writes=False)
        yield row("get", "GET", "key:__rand_int__", random_keys=100_000, data=("strings", 100_000), writes=False)
        yield row("lpush", "LPUSH", "list", "hellohello")


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


def workloads(scale, with_fills):
    yield from command_rows(scale)
    yield from unix_rows(scale)
    yield from middle_rows(scale)
    yield from lrange_rows(scale)
    yield from message_rows(scale)
    if with_fills:
        yield from fill_rows(scale)


def datasets(scale):
    million, lists, long = int(1_000_000 * scale), int(300 * scale), int(500_000 * scale)
    documents = ("documents", lists, 800, 2500)

    def dataset(name, what, *data, **config):
        return Dataset(f"memory-{name} ({what})", "datasets", data, {key.replace("_", "-"): value for key, value
                                                                     in config.items()})
    yield dataset("lists", f"{million:,} of 5 x 10 bytes", "lists", million, 5, "hellohello")
    yield dataset("strings", f"{10 * million:,} of some 10 bytes", "populate", 10 * million)
    yield dataset("integers", f"20 lists of {million:,}", "integers", 20, million)
    yield dataset("documents", f"{lists} lists of 800 x 2.5 KB of JSON", *documents)
    yield dataset("documents-depth-1", "the same, compressed", *documents, list_compress_depth="1")
    yield dataset("1KB", f"{long:,} x 1 KB in a list", "list", "list", long, message(1024))
    for depth in (0, 2):
        for size in MESSAGES:
            count = int(100_000 * scale)
            yield Dataset(f"memory-message-{size}-depth-{depth} ({count:,} in a list)",
                          f"messages, list-compress-depth {depth}", ("list", "list", count, message(size)),
                          {"list-compress-depth": str(depth)})


def connections(scale):
    yield Connections(f"connections-idle, bytes each of {int(4000 * scale):,}", int(4000 * scale))


def stalls(scale):
    requests = int(6_000_000 * scale)
    yield Stalls(f"stalls ({requests:,} random keys)", Row(
        "stalls", "", ["SET", "key:__rand_int__", "xxx"], requests, 16, random_keys=1_000_000_000), 300)


def snapshots(scale):
    def snapshot(what, *data):
        return Snapshot(f"snapshot-{what}", data)
    many, some = int(10_000_000 * scale), int(1_000_000 * scale)
    yield snapshot(f"list of {many:,} elements of 40 bytes", "numbers", "list", many, ELEMENT)
    yield snapshot(f"{some:,} lists of 5 x 10 bytes", "lists", some, 5, "hellohello")
    yield snapshot(f"{many:,} strings", "populate", many)


def savings(scale):
    strings, lists, long = int(10_000_000 * scale), int(1_000_000 * scale), int(300 * scale)
    size = 2500
    yield Saving("saving-strings", f"{strings:,} strings, SET", ("populate", strings),
                 [["SET", f"key:{{{strings}}}", f"value:{{{strings}}}"]])
    yield Saving("saving-lists", f"{lists:,} lists of 5 x 10 bytes, LPUSH and RPOP", ("lists", lists, 5, "hellohello"),
                 [["LPUSH", f"key:{{{lists}}}", "hellohello"], ["RPOP", f"key:{{{lists}}}"]])
    yield Saving("saving-documents", f"{long} lists of 800 x 2.5 KB of JSON, LSET", ("documents", long, 800, size),
                 [["LSET", f"documents:{{{long}}}", "{800}", document] for document in documents(size)[:100]])


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
