"""HyperLogLogs (keys b"p…"): what commands do to their registers, random commands, and what a server has."""
from functools import lru_cache

from replies import OK

REGISTERS, INDEX_BITS = 1 << 14, 14
SEED, FACTOR, ROTATION = 0xADC83B19, 0xC6A4A7935BD1E995, 47
WORD = (1 << 64) - 1
HEADER_BYTES = 16
ONES = int.from_bytes(b"\1" * REGISTERS, "little")


def murmur(text):
    """MurmurHash64A."""
    sum = SEED ^ len(text) * FACTOR & WORD
    for at in range(0, len(text) - 7, 8):
        word = int.from_bytes(text[at:at + 8], "little") * FACTOR & WORD
        word = (word ^ word >> ROTATION) * FACTOR & WORD
        sum = (sum ^ word) * FACTOR & WORD
    rest = text[len(text) & ~7:]
    if rest:
        sum = (sum ^ int.from_bytes(rest, "little")) * FACTOR & WORD
    sum = (sum ^ sum >> ROTATION) * FACTOR & WORD
    return sum ^ sum >> ROTATION


@lru_cache(1 << 16)
def register_of(text):
    """Which register an element belongs to, and what that is at least."""
    sum = murmur(text)
    rest = sum >> INDEX_BITS | 1 << 64 - INDEX_BITS
    return sum % REGISTERS, (rest & -rest).bit_length()


def merged(one, other):
    """The greater of each two bytes, all at once: they are below 128."""
    one, other = int.from_bytes(one, "little"), int.from_bytes(other, "little")
    is_less = 255 * ((one | 128 * ONES) - other >> 7 & ONES) ^ 255 * ONES
    return (one & ~is_less | other & is_less).to_bytes(REGISTERS, "little")


class HyperLogLogModel:
    """The model of model.py provides values. A HyperLogLog is its registers, one byte each."""

    def PFADD(self, key, *elements):
        registers = bytearray(self.values.get(key, bytes(REGISTERS)))
        is_changed = key not in self.values
        for index, value in map(register_of, elements):
            is_changed |= registers[index] < value
            registers[index] = max(registers[index], value)
        self.values[key] = bytes(registers)
        return int(is_changed)

    def PFMERGE(self, target, source):
        empty = bytes(REGISTERS)
        self.values[target] = merged(self.values.get(target, empty), self.values.get(source, empty))
        return OK

    def PFCOUNT(self, *_keys):
        """May store the count in the value, which is not a change of what it says."""
        return ...


class HyperLogLogGenerator:
    """The generator of commands.py provides chance, key, fresh, number_text."""

    def count_elements(self):
        key = self.key(b"p")
        elements = [self.chance.choice((self.fresh(), self.number_text(0, 10 ** 6)))
                    for _ in range(self.chance.choice((0, 1, 1, 5, 60)))]
        return self.chance.choice((
            [b"PFADD", key, *elements],
            [b"PFADD", key, *elements],
            [b"PFMERGE", key, self.key(b"p")],
            [b"PFCOUNT", key]))


def dense_registers(body):
    """Four of six bits each in three bytes."""
    for at in range(0, len(body), 3):
        four = int.from_bytes(body[at:at + 3], "little")
        yield from (four & 63, four >> 6 & 63, four >> 12 & 63, four >> 18)


def registers_of(value):
    """Of what GET replies."""
    body = value[HEADER_BYTES:]
    if value[4] == 0:
        return bytes(dense_registers(body))
    registers, at = bytearray(), 0
    while at < len(body):
        byte = body[at]
        if byte & 0x80:
            registers += bytes([(byte >> 2 & 31) + 1]) * ((byte & 3) + 1)
        elif byte & 0x40:
            at += 1
            registers += bytes(((byte & 63) << 8 | body[at]) + 1)
        else:
            registers += bytes((byte & 63) + 1)
        at += 1
    return bytes(registers)
