"""DUMP payloads made by hand, in every form that a redis-server 7.0 reads, and commands that restore them."""

VERSION = 10
VERSIONS = (10, 11, 12)  # Redis 7.0, 7.2, 8.0: strings and lists look alike in all of them
STRING, LIST, LIST_ZIPLIST, LIST_QUICKLIST, LIST_QUICKLIST_2 = 0, 1, 10, 14, 18
# Every form of the other types that the reference writes: DEBUG DIGEST compares their members.
COLLECTIONS = {**dict.fromkeys((2, 11, 20), "set"), **dict.fromkeys((3, 5, 12, 17), "zset"),
               **dict.fromkeys((4, 13, 16, 24, 25), "hash"), **dict.fromkeys((15, 19, 21), "stream")}
PLAIN, PACKED = 1, 2
POLYNOMIAL = 0x95AC9329AC4BC9B5  # Jones', bits reflected


def crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
        yield byte


CRC_TABLE = list(crc_table())


def crc64(data):
    crc = 0
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc


def payload(kind, value, version=VERSION):
    data = bytes([kind]) + value + version.to_bytes(2, "little")
    return data + crc64(data).to_bytes(8, "little")


def length(number):
    if number < 64:
        return bytes([number])
    if number < 1 << 14:
        return (0x4000 | number).to_bytes(2, "big")
    if number < 1 << 32:
        return b"\x80" + number.to_bytes(4, "big")
    return b"\x81" + number.to_bytes(8, "big")


def integer_of(text):
    """The number that `text` is the decimal form of, or None."""
    return int(text) if text.isascii() and text.lstrip(b"-").isdigit() and b"%d" % int(text) == text else None


def string(text):
    number = integer_of(text)
    for code, size in enumerate((1, 2, 4)):
        if number is not None and -(1 << 8 * size - 1) <= number < 1 << 8 * size - 1:
            return bytes([0xC0 | code]) + number.to_bytes(size, "little", signed=True)
    if len(text) > 20 and len(set(text)) == 1:
        return packed(text)
    return length(len(text)) + text


def packed(text):
    """LZF of a repeated byte: one literal, then copies of it."""
    stream, left = b"\x00" + text[:1], len(text) - 1
    while left > 2:
        size = min(left, 264)
        stream += (bytes([(size - 2) << 5]) if size < 9 else bytes([7 << 5, size - 9])) + b"\x00"
        left -= size
    if left:
        stream += bytes([left - 1]) + text[:left]
    return b"\xc3" + length(len(stream)) + length(len(text)) + stream


def listpack_element(text):
    number = integer_of(text)
    if number is not None and 0 <= number < 128:
        body = bytes([number])
    elif number is not None and -4096 <= number < 4096:
        body = (0xC000 | number & 0x1FFF).to_bytes(2, "big")
    else:
        body = wide_integer(number, ((0xF1, 2), (0xF2, 3), (0xF3, 4), (0xF4, 8)))
    if body is None and len(text) < 64:
        body = bytes([0x80 | len(text)]) + text
    elif body is None and len(text) < 4096:
        body = (0xE000 | len(text)).to_bytes(2, "big") + text
    elif body is None:
        body = b"\xf0" + len(text).to_bytes(4, "little") + text
    return body + back_length(len(body))


def back_length(size):
    groups = [size & 0x7F]
    while size := size >> 7:
        groups.append(size & 0x7F)
    return bytes([groups[-1], *[group | 0x80 for group in reversed(groups[:-1])]])


def wide_integer(number, forms):
    for code, size in forms:
        if number is not None and -(1 << 8 * size - 1) <= number < 1 << 8 * size - 1:
            return bytes([code]) + number.to_bytes(size, "little", signed=True)
    return None


def listpack(elements):
    body = b"".join(map(listpack_element, elements))
    return (len(body) + 7).to_bytes(4, "little") + len(elements).to_bytes(2, "little") + body + b"\xff"


def ziplist_entry(text):
    number = integer_of(text)
    if number is not None and 0 <= number < 13:
        return bytes([0xF1 + number])
    body = wide_integer(number, ((0xFE, 1), (0xC0, 2), (0xF0, 3), (0xD0, 4), (0xE0, 8)))
    if body is not None:
        return body
    if len(text) < 64:
        return bytes([len(text)]) + text
    if len(text) < 1 << 14:
        return (0x4000 | len(text)).to_bytes(2, "big") + text
    return b"\x80" + len(text).to_bytes(4, "big") + text


def ziplist(elements):
    body, before, tail = b"", 0, 10
    for entry in map(ziplist_entry, elements):
        tail = 10 + len(body)
        before_field = bytes([before]) if before < 254 else b"\xfe" + before.to_bytes(4, "little")
        before = len(before_field) + len(entry)
        body += before_field + entry
    sizes = ((10 + len(body) + 1, 4), (tail, 4), (len(elements), 2))
    return b"".join(number.to_bytes(size, "little") for number, size in sizes) + body + b"\xff"


def unpacked(stream):
    """The text of an LZF stream."""
    text, at = bytearray(), 0
    while at < len(stream):
        control, at = stream[at], at + 1
        if control < 32:
            text += stream[at:at + control + 1]
            at += control + 1
            continue
        size, at = (control >> 5, at) if control < 7 << 5 else (7 + stream[at], at + 1)
        distance, at = ((control & 31) << 8 | stream[at]) + 1, at + 1
        for _ in range(size + 2):
            text.append(text[-distance])
    return bytes(text)


def read_length(data, at):
    first, form = data[at], data[at] >> 6
    if form == 0:
        return first & 63, at + 1
    if form == 1:
        return int.from_bytes(data[at:at + 2], "big") & 0x3FFF, at + 2
    size = {0x80: 4, 0x81: 8}[first]
    return int.from_bytes(data[at + 1:at + 1 + size], "big"), at + 1 + size


def read_string(data, at):
    first = data[at]
    if first >> 6 < 3:
        size, at = read_length(data, at)
        return data[at:at + size], at + size
    if first < 0xC3:
        size = 1 << (first & 3)
        return b"%d" % int.from_bytes(data[at + 1:at + 1 + size], "little", signed=True), at + 1 + size
    size, at = read_length(data, at + 1)
    whole, at = read_length(data, at)
    text = unpacked(data[at:at + size])
    if len(text) != whole:
        raise ValueError("a packed text is not as long as it says")
    return text, at + size


def contents(data):
    """The value of a payload of VERSIONS: its type, and the text or all elements in listpack form, however they are
    compressed and wherever nodes end. Any other payload as it is."""
    if int.from_bytes(data[-10:-8], "little") not in VERSIONS or crc64(data[:-8]).to_bytes(8, "little") != data[-8:]:
        return data
    if data[0] == STRING:
        text, end = read_string(data, 1)
        return (STRING, text) if end == len(data) - 10 else data
    if data[0] in COLLECTIONS:
        return COLLECTIONS[data[0]]
    count, at = read_length(data, 1)
    elements = b""
    for _ in range(count):
        container, at = read_length(data, at)
        text, at = read_string(data, at)
        elements += text[6:-1] if container == PACKED else listpack_element(text)
    return (data[0], elements) if at == len(data) - 10 else data


class PayloadGenerator:
    """The generator of commands.py provides random, key, element, elements, options."""

    def nodes(self, elements):
        at = 0
        while at < len(elements):
            size = self.random.randint(1, 5)
            yield elements[at:at + size]
            at += size

    def list_payload(self, elements):
        kind = self.random.choice([LIST, LIST_ZIPLIST, LIST_QUICKLIST, LIST_QUICKLIST_2])
        if kind == LIST:
            return payload(kind, length(len(elements)) + b"".join(map(string, elements)))
        if kind == LIST_ZIPLIST:
            return payload(kind, string(ziplist(elements)))
        nodes = list(self.nodes(elements))
        if kind == LIST_QUICKLIST:
            return payload(kind, length(len(nodes)) + b"".join(string(ziplist(node)) for node in nodes))
        return payload(kind, length(len(nodes)) + b"".join(map(self.new_node, nodes)))

    def new_node(self, elements):
        if len(elements) == 1 and elements[0] and self.random.random() < 0.3:
            return length(PLAIN) + string(elements[0])
        return length(PACKED) + string(listpack(elements))

    def some_payload(self):
        data = payload(STRING, string(self.element())) if self.random.random() < 0.3 \
            else self.list_payload([self.element() for _ in range(self.random.randint(1, 20))])
        roll = self.random.random()
        if roll < 0.03:
            return data[:self.random.randrange(len(data))]
        if roll < 0.06:
            at = self.random.randrange(len(data))
            return data[:at] + bytes([data[at] ^ 1 << self.random.randrange(8)]) + data[at + 1:]
        if roll < 0.08:
            return payload(self.random.choice([LIST, LIST_QUICKLIST, LIST_QUICKLIST_2]), length(0))
        if roll < 0.09:
            return payload(STRING, string(b"x"), self.random.choice([0, 9, 16, 255]))
        return data

    def restore_command(self):
        lifetime = self.random.choice([b"0", b"0", b"0", b"1000000000", b"-1", b"x"])
        return [b"RESTORE", self.key(), lifetime, self.some_payload(), *self.options(
            [b"REPLACE"], [b"ABSTTL"], [b"IDLETIME", self.random.choice([b"0", b"1000", b"-1", b"x"])],
            [b"FREQ", self.random.choice([b"0", b"255", b"256", b"x"])], [b"FOO"])]

    def payload_command(self):
        if self.random.random() < 0.5:
            return [b"RESTORE", self.key(), b"0", self.some_payload(), b"REPLACE"]
        return self.random.choice([self.restore_command, lambda: [b"DUMP", self.key()]])()
