"""What is measured: each row is one workload, dataset or curve. Only data here; measure.py runs it."""
from dataclasses import dataclass, field

DEFAULTS = {"list-max-listpack-size": "-2", "list-compress-depth": "0"}
TEXT = (
    "A list keeps what arrived first. It is pushed at one end, popped at the other, and read from anywhere in "
    "between: a queue, a stack, a log of the last thousand messages, the newest comments of a page. Short lists "
    "lie packed in one piece of memory; long lists are a sequence of such pieces, found by position, and the "
    "pieces that nobody has touched for a while may be compressed. Whoever writes much and reads little then "
    "pays for the bytes only once, which is what this text, repeated often enough, is going to show in figures.")
MESSAGES = (31, 39, 115, 495)


@dataclass
class Row:
    """A workload for redis-benchmark, measured as server CPU per request."""
    name: str
    group: str
    command: list
    requests: int
    pipeline: int = 1
    random_keys: int = 0           # range of __rand_int__ in the command
    data: tuple = ()               # what the server holds before: see measure.fill
    writes: bool = True            # it changes the data
    config: dict = field(default_factory=dict)


@dataclass
class Dataset:
    """Data whose growth of used_memory is measured."""
    name: str
    data: tuple
    config: dict = field(default_factory=dict)


@dataclass
class Curve:
    """A command on a list of growing length; `command` is made from that length."""
    name: str
    command: object
    scans: bool                    # it reads the whole list


def message(size):
    return TEXT[:size].ljust(size, ".")


def command_rows(scale):
    for pipeline, count in ((1, 100_000), (16, 1_000_000)):
        requests = int(count * scale)
        full = ("list", "list", requests + requests // 10, "hellohello")

        def row(name, *command, **more):
            return Row(f"{name}.P{pipeline}", f"pipeline {pipeline}" if pipeline > 1 else "no pipeline",
                       list(command), requests, pipeline, **more)
        yield row("ping", "PING", writes=False)
        yield row("set", "SET", "key:__rand_int__", "xxx", random_keys=100_000)
        yield row("get", "GET", "key:__rand_int__", random_keys=100_000, data=("strings", 100_000), writes=False)
        yield row("lpush", "LPUSH", "list", "hellohello")
        yield row("rpush", "RPUSH", "list", "hellohello")
        yield row("lpop", "LPOP", "list", data=full)
        yield row("rpop", "RPOP", "list", data=full)
        yield row("lpush-many", "LPUSH", "list:__rand_int__", "hellohello", random_keys=100_000)


def lrange_rows(scale):
    lists = {"listpack": ("list", "list", 600, "hellohello"), "quicklist": ("list", "list", 100_000, "hello")}
    for pipeline in (1, 10):
        for encoding, data in lists.items():
            for count in (100, 300, 500, 600):
                yield Row(f"lrange-{count}-{encoding}.P{pipeline}",
                          f"LRANGE, {f'pipeline {pipeline}' if pipeline > 1 else 'no pipeline'}",
                          ["LRANGE", "list", "0", str(count - 1)], int((100_000 if pipeline > 1 else 50_000) * scale),
                          pipeline, data=data, writes=False)


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


def all_rows(scale, with_fills):
    yield from command_rows(scale)
    yield from lrange_rows(scale)
    yield from message_rows(scale)
    if with_fills:
        yield from fill_rows(scale)


def datasets(scale):
    lists = int(1_000_000 * scale)
    yield Dataset(f"memory-lists ({lists:,} of 5 x 10 bytes)", ("lists", lists, 5, "hellohello"))
    for depth in (0, 2):
        for size in MESSAGES:
            count = int(100_000 * scale)
            yield Dataset(f"memory-message-{size}-depth-{depth} ({count:,} in a list)",
                          ("list", "list", count, message(size)), {"list-compress-depth": str(depth)})


ELEMENT = "%040d"
LENGTHS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
CURVES = (
    Curve("growth-lindex, in the middle", lambda length: ("LINDEX", "list", length // 2), False),
    Curve("growth-lrem, of an absent value", lambda length: ("LREM", "list", 0, "absent"), True),
    Curve("growth-lpos, of the last element", lambda length: ("LPOS", "list", ELEMENT % (length - 1)), True),
)
