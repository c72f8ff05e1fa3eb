"""Pieces of RDB files and payloads, for the programs here; layouts: src/persist/rdb_format.h and rdb_body.c."""
import struct
import sys
from pathlib import Path

STRING, LIST, LIST_ZIPLIST, LIST_QUICKLIST, LIST_QUICKLIST_2 = 0, 1, 10, 14, 18
PLAIN, PACKED = 1, 2

CRC_TABLE = []
for index in range(256):
    for _ in range(8):
        index = index >> 1 ^ (0x95AC9329AC4BC9B5 if index & 1 else 0)
    CRC_TABLE.append(index)


def crc64(data):
    crc = 0
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return struct.pack("<Q", crc)


def length(n):
    if n < 64:
        return bytes([n])
    if n < 1 << 14:
        return struct.pack(">H", n | 0x4000)
    return b"\x80" + struct.pack(">I", n) if n < 1 << 32 else b"\x81" + struct.pack(">Q", n)


def lzf(text):
    """The LZF stream: each copy is the last place where the next three bytes stood."""
    out, literals, places, at = bytearray(), bytearray(), {}, 0

    def flush():
        for start in range(0, len(literals), 32):
            run = literals[start:start + 32]
            out.append(len(run) - 1)
            out.extend(run)
        literals.clear()

    while at < len(text):
        found = places.get(text[at:at + 3], -1) if at + 3 <= len(text) else -1
        places[text[at:at + 3]] = at
        if found < 0 or at - found > 8192:
            literals.append(text[at])
            at += 1
            continue
        n = 3
        while n < 264 and at + n < len(text) and text[found + n] == text[at + n]:
            n += 1
        flush()
        distance = at - found - 1
        out += bytes([n - 2 << 5 | distance >> 8] if n < 9 else [7 << 5 | distance >> 8, n - 9])
        out.append(distance & 255)
        at += n
    flush()
    return bytes(out)


def raw(text):
    return length(len(text)) + text


def packed(text):
    stream = lzf(text)
    return b"\xC3" + length(len(stream)) + length(len(text)) + stream


def integer(value):
    for code, form in ((0, "b"), (1, "<h"), (2, "<i")):
        try:
            return bytes([0xC0 | code]) + struct.pack(form, value)
        except struct.error:
            pass
    return raw(str(value).encode())


def listpack_element(value):
    if isinstance(value, bytes):
        n = len(value)
        if n < 64:
            head = bytes([0x80 | n])
        else:
            head = struct.pack(">H", 0xE000 | n) if n < 4096 else b"\xF0" + struct.pack("<I", n)
        data = head + value
    elif 0 <= value < 128:
        data = bytes([value])
    elif -4096 <= value < 4096:
        data = struct.pack(">H", 0xC000 | value & 8191)
    else:
        code, size = next((c, s) for c, s in ((0xF1, 2), (0xF2, 3), (0xF3, 4), (0xF4, 8))
                          if -1 << 8 * s - 1 <= value < 1 << 8 * s - 1)
        data = bytes([code]) + value.to_bytes(size, "little", signed=True)
    n, back = len(data), b""
    width = 1 if n < 128 else 2 if n < 16383 else 3
    for place in range(width):
        back += bytes([n >> 7 * (width - 1 - place) & 127 | (128 if place else 0)])
    return data + back


def listpack_of(body, count):
    return struct.pack("<IH", len(body) + 7, count) + body + b"\xFF"


def listpack(values):
    return listpack_of(b"".join(map(listpack_element, values)), len(values))


def ziplist_data(value):
    if isinstance(value, bytes):
        n = len(value)
        if n < 64:
            return bytes([n]) + value
        return (struct.pack(">H", 0x4000 | n) if n < 1 << 14 else b"\x80" + struct.pack(">I", n)) + value
    if 0 <= value <= 12:
        return bytes([0xF1 + value])
    code, size = next((c, s) for c, s in ((0xFE, 1), (0xC0, 2), (0xF0, 3), (0xD0, 4), (0xE0, 8))
                      if -1 << 8 * s - 1 <= value < 1 << 8 * s - 1)
    return bytes([code]) + value.to_bytes(size, "little", signed=True)


def ziplist(values):
    entries, before, last = b"", 0, 10
    for value in values:
        prefix = bytes([before]) if before < 254 else b"\xFE" + struct.pack("<I", before)
        entry = prefix + ziplist_data(value)
        last = 10 + len(entries)
        before = len(entry)
        entries += entry
    return struct.pack("<IIH", 10 + len(entries) + 1, last, len(values)) + entries + b"\xFF"


def quicklist(*nodes):
    """Ziplists, stored as they are or compressed."""
    return length(len(nodes)) + b"".join(nodes)


def quicklist_2(*nodes):
    """(container, stored string) …"""
    return length(len(nodes)) + b"".join(length(container) + string for container, string in nodes)


INTEGERS = [0, 12, 13, 127, 128, -1, -129, 4095, -4096, 32767, -32768, 40000, 8388607, 1 << 30, -1 << 31, 1 << 40,
            -1 << 63]
JOBS = [b"job:%05d" % i for i in range(20)]
LONG = b"0123456789" * 30

# Values of lists: name, type, bytes.
LISTS = [
    ("elements", LIST, length(5) + raw(b"a") + integer(-77) + raw(b"") + packed(LONG) + integer(100000)),
    ("ziplist", LIST_ZIPLIST, raw(ziplist([b"a", 5, b"", b"x" * 70, *INTEGERS]))),
    ("ziplist_packed", LIST_ZIPLIST, packed(ziplist([LONG, LONG, 1, b"tail"]))),
    ("quicklist", LIST_QUICKLIST, quicklist(*[raw(ziplist(JOBS[i:i + 4])) for i in range(0, 20, 4)])),
    ("quicklist_packed", LIST_QUICKLIST,
     quicklist(packed(ziplist(JOBS)), packed(ziplist([b"x" * 300, 7, 7])), raw(ziplist([1])))),
    ("listpack", LIST_QUICKLIST_2, quicklist_2((PACKED, raw(listpack([b"a", 5, b"", b"x" * 70, *INTEGERS]))))),
    ("listpacks", LIST_QUICKLIST_2,
     quicklist_2(*[(PACKED, raw(listpack(JOBS[i:i + 4]))) for i in range(0, 20, 4)])),
    ("listpacks_packed", LIST_QUICKLIST_2, quicklist_2(*[(PACKED, packed(listpack(JOBS)))] * 6)),
    ("plain", LIST_QUICKLIST_2, quicklist_2((PLAIN, raw(b"alone")), (PACKED, packed(listpack([LONG, LONG]))),
                                            (PLAIN, packed(LONG)), (PLAIN, integer(1234567)))),
    ("not_canonical", LIST_QUICKLIST_2, quicklist_2((PACKED, raw(listpack_of(
        b"\x815\x02" b"\xF1\x07\x00\x03" b"\xE0\x02ab\x04" b"\xC0\x01\x02" b"\xF0\x01\0\0\0z\x06", 5))))),
    ("bad_count", LIST_QUICKLIST_2, b"\x81" + b"\x7F" * 8 + b"\x02" + raw(listpack([1]))),
    ("empty", LIST_QUICKLIST_2, quicklist_2((PACKED, raw(listpack([]))))),
]
SCORES = b"".join(raw(member) + struct.pack("<d", score) for member, score in
                  ((b"a", -0.0), (b"b", 1.5), (b"", float("-inf")), (b"x" * 600, 1e300), (b"c", 0.1), (b"17", 2.0**53)))

# Values of sorted sets.
ZSETS = [
    ("zset_texts", 3, length(3) + raw(b"x") + raw(b"1.5") + integer(7) + b"\xFE" + raw(b"") + raw(b"-1e-9")),
    ("zset_doubles", 5, length(6) + SCORES),
    ("zset_not_a_number", 5, length(1) + raw(b"x") + b"\xFF" * 8),
    ("zset_twice", 5, length(2) + (raw(b"x") + b"\0" * 8) * 2),
    ("zset_ziplist", 12, raw(ziplist([b"member", 1, b"member2", b"1.5", 77, 3]))),
    ("zset_listpack", 17, raw(listpack([b"a", b"-inf", b"b", 0, b"c", 0, 5, b"0.1", b"d", 4000]))),
    ("zset_packed", 17, packed(listpack([v for i, job in enumerate(JOBS) for v in (job, i)]))),
]


def intset(size, *members):
    return struct.pack("<II", size, len(members)) + b"".join(m.to_bytes(size, "little", signed=True) for m in members)


def zipmap_text(text, unused=None):
    head = bytes([len(text)]) if len(text) < 254 else b"\xFE" + struct.pack("<I", len(text))
    return head + (b"" if unused is None else bytes([unused])) + text + b"." * (unused or 0)


def zipmap(stated, *pairs):
    """Pairs of a field and a value; every third value has unused bytes behind it."""
    return bytes([stated]) + b"".join(zipmap_text(field) + zipmap_text(value, 0 if i % 3 else 2)
                                      for i, (field, value) in enumerate(pairs)) + b"\xFF"


# Values of sets.
SETS = [
    ("set_texts", 2, length(5) + raw(b"x") + integer(5) + raw(b"") + packed(LONG) + integer(-70000)),
    ("set_twice", 2, length(2) + raw(b"x") * 2),
    ("set_bad_count", 2, b"\x81" + b"\x7F" * 8 + raw(b"x")),
    ("intset_16", 11, raw(intset(2, -7, 0, 5, 300))),
    ("intset_32", 11, raw(intset(4, -70000, -7, 1 << 20))),
    ("intset_64", 11, raw(intset(8, -1 << 63, 0, 1 << 40))),
    ("intset_packed", 11, packed(intset(4, *range(1 << 20, (1 << 20) + 60)))),
    ("intset_out_of_order", 11, raw(intset(2, 5, 4))),
    ("intset_too_wide", 11, raw(intset(8, 1, 2))),
    ("intset_empty", 11, raw(intset(2))),
    ("set_listpack", 20, raw(listpack([b"a", 5, b"", b"x" * 70, *INTEGERS]))),
    ("set_listpack_packed", 20, packed(listpack(JOBS))),
    ("set_listpack_twice", 20, raw(listpack([b"a", 5, b"a"]))),
]

TEXTS = [part for i, job in enumerate(JOBS) for part in (job, i * 1000)]
MOMENT = struct.pack("<Q", 33177117420000)
NEVER = b"\xFF" * 8

# Values of hashes.
HASHES = [
    ("hash", 4, length(3) + raw(b"f") + raw(b"v") + integer(7) + packed(LONG) + raw(b"") + raw(b"")),
    ("hash_twice", 4, length(2) + (raw(b"f") + raw(b"v")) * 2),
    ("hash_zipmap", 9, raw(zipmap(3, (b"f", b"v"), (b"", b""), (b"x" * 300, b"y" * 260)))),
    ("hash_zipmap_many", 9, packed(zipmap(254, *[(job, b"v") for job in JOBS]))),
    ("hash_zipmap_short", 9, raw(zipmap(1, (b"f", b"v"))[:-3] + b"\xFF")),
    ("hash_ziplist", 13, raw(ziplist([b"f", 1, b"g", b"v", 77, b"x" * 300]))),
    ("hash_ziplist_packed", 13, packed(ziplist(TEXTS))),
    ("hash_listpack", 16, raw(listpack([b"f", 1, b"g", b"", 77, b"x" * 300]))),
    ("hash_listpack_packed", 16, packed(listpack(TEXTS))),
    ("hash_listpack_odd", 16, raw(listpack([b"f", 1, b"g"]))),
    ("hash_valkey", 22, length(3) + raw(b"f") + raw(b"v") + NEVER + integer(7) + integer(8) + MOMENT + raw(b"g") +
     packed(LONG) + MOMENT),
    ("hash_listpack_ex_old", 23, raw(listpack([b"g", b"w", 33177117420000, b"f", b"v", 0]))),
    ("hash_metadata", 24, MOMENT + length(3) + length(1) + raw(b"f") + raw(b"v") + length(0) + integer(7) + integer(8) +
     length(1 << 20) + raw(b"g") + packed(LONG)),
    ("hash_metadata_far", 24, b"\xFF" * 7 + b"\x7F" + length(1) + length(5) + raw(b"f") + raw(b"v")),
    ("hash_listpack_ex", 25, MOMENT + raw(listpack([b"g", 5, 33177117420000, b"h", 6, 33177117420001, b"f", b"v", 0]))),
    ("hash_listpack_ex_bad", 25, MOMENT + raw(listpack([b"g", 5, b"soon"]))),
]


def stream_node(ms, seq, fields, *entries, deleted=0):
    """A base id and a listpack; entries are (flags, ms, seq, elements before the last one)."""
    elements = [len(entries) - deleted, deleted, len(fields), *fields, 0]
    for flags, ms_more, seq_more, *rest in entries:
        elements += [flags, ms_more, seq_more, *rest, len(rest) + 3]
    return raw(struct.pack(">QQ", ms, seq)) + raw(listpack(elements))


def stream_rest(count, *ids):
    """The number of entries, the two halves of ids, the number ever added, no group."""
    return length(count) + b"".join(map(length, ids)) + length(count) + length(0)


STREAM_NODES = [
    stream_node(5, 1, [b"f"], (2, 0, 0, b"v"), (3, 0, 1, 7), (2, 300, -1, LONG), deleted=1),
    stream_node(1 << 40, 9, [b"f", 12], (2, 0, 0, 1, 2), (0, 1, 0, 1, b"g", 1 << 40), (0, 2, 0, 2, b"g", 1, b"h", -7)),
]
GROUP = raw(b"g") + length(5) + length(1) + length(1) + length(1) + struct.pack(">QQ", 5, 1) + MOMENT + length(1) + \
    length(1) + raw(b"c") + MOMENT * 2 + length(1) + struct.pack(">QQ", 5, 1)

# Two pending entries, of which the second one is nobody's.
GROUP_OF_NOBODY = raw(b"n") + length(5) + length(1) + length(1) + length(2) + struct.pack(">QQ", 5, 1) + MOMENT + \
    length(1) + struct.pack(">QQ", 6, 0) + b"\0" * 8 + length(2) + length(1) + raw(b"c") + MOMENT * 2 + length(1) + \
    struct.pack(">QQ", 5, 1) + length(1) + struct.pack(">QQ", 6, 0)
PRODUCERS = length(1000) + length(3) + length(2) + raw(b"p") + length(2) + raw(b"i") + length(5) + length(1) + \
    raw(b"j") + length(6) + length(2) + raw(b"q") + length(1) + raw(b"i") + length(1 << 41) + length(0) + length(9) + \
    length(1)

# Values of streams.
STREAMS = [
    ("stream_old", 15, length(1) + STREAM_NODES[0] + length(2) + length(400) + length(0) + length(0)),
    ("stream", 19, length(2) + b"".join(STREAM_NODES) + stream_rest(5, 1 << 41, 0, 5, 1, 5, 2)),
    ("stream_new", 21, length(2) + b"".join(STREAM_NODES) + stream_rest(5, 1 << 41, 0, 5, 1, 0, 0)),
    ("stream_empty", 21, length(0) + stream_rest(0, 7, 7, 0, 0, 0, 0)),
    ("stream_group", 21, length(1) + STREAM_NODES[0] + stream_rest(2, 400, 0, 5, 1, 0, 0)[:-1] + length(1) + GROUP),
    ("stream_producers", 26, length(1) + STREAM_NODES[0] + stream_rest(2, 400, 0, 5, 1, 0, 0)[:-1] + length(1) + GROUP +
     PRODUCERS),
    ("stream_nobody", 27, length(0) + stream_rest(0, 7, 7, 0, 0, 0, 0)[:-1] + length(1) + GROUP_OF_NOBODY + PRODUCERS),
    ("stream_order", 19, length(2) + STREAM_NODES[1] + STREAM_NODES[0] + stream_rest(5, 1 << 41, 0, 5, 1, 0, 0)),
    ("stream_bad_count", 19, b"\x81" + b"\x7F" * 8 + STREAM_NODES[0]),
]
STRINGS = [
    ("text", STRING, raw(b"hello")),
    ("nothing", STRING, raw(b"")),
    ("integers", STRING, integer(-128)),
    ("packed", STRING, packed(LONG)),
    ("long", STRING, raw(bytes(range(256)) * 2)),
    ("wide_length", STRING, b"\x81" + struct.pack(">Q", 5) + b"hello"),
    ("huge_length", STRING, b"\x81" + struct.pack(">Q", 1 << 62) + b"hello"),
    ("huge_packed", STRING, b"\xC3\x04\x80" + struct.pack(">I", 1 << 31) + b"\x00a\x20\x00"),
]


def write_seeds(seeds):
    """Writes {name: bytes} to the folder that the program was given."""
    for name, data in seeds.items():
        Path(sys.argv[1], name).write_bytes(data)
