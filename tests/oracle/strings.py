"""Random commands on strings, bits and expiries."""

FAR_SECONDS, FAR_MS = b"33177117420", b"33177117420000"


def is_silent_in_redis(argv):
    """Whether Redis may make a string longer by it, but propagate nothing and tell WATCH nothing: a BITFIELD none of
    whose operations fits, also in a script."""
    return b"FAIL" in argv and any(b"BITFIELD" in word.upper() for word in argv)


class StringGenerator:
    """The generator of commands.py provides random, key, element, integer_text, index, options."""

    def string_key(self):
        return b"text" if self.random.random() < 0.5 else self.key()

    def number(self):
        return self.random.choice([b"1", b"-1", b"10", b"0", b"-3", b"1.5", b"x", b"9223372036854775807",
                                   b"-9223372036854775808", self.integer_text()])

    def float_number(self):
        return self.random.choice([b"1.5", b"-0.25", b"3", b"1e3", b"0.1", b"x", b"nan", b"inf", b"1e400"])

    def bit_offset(self):
        return self.random.choice([b"0", b"1", b"7", b"8", b"100", b"1023", b"-1", b"4294967296", b"x"])

    def place(self):
        """A valid index: of a missing key newer servers, and Packlist, refuse what older ones do not read."""
        return b"%d" % self.random.randint(-40, 40)

    def lifetime(self):
        """Options that give a life so long that it does not matter, or a wrong one."""
        return self.random.choice([[b"EXAT", FAR_SECONDS], [b"PXAT", FAR_MS], [b"EX", b"1000000"],
                                   [b"PX", b"1000000000"], [b"EX", b"0"], [b"PX", b"-5"], [b"EX", b"x"],
                                   [b"EX", b"9223372036854775807"], [b"KEEPTTL"]])

    def field_number(self):
        """Not near -2^63, where the reference's own arithmetic overflows and saturates to the wrong side."""
        return b"%d" % self.random.choice([0, 1, -1, 7, -17, 200, 1 << 31, -(1 << 40), (1 << 62) - 1])

    def bit_field(self):
        kind = self.random.choice([b"u8", b"i8", b"u1", b"i64", b"u63", b"i5", b"u64", b"x"])
        place = self.random.choice([b"0", b"#1", b"3", b"#3", b"-1", b"100"])
        return self.random.choice([
            [b"GET", kind, place],
            [b"SET", kind, place, self.field_number()],
            [b"OVERFLOW", self.random.choice([b"WRAP", b"SAT", b"FAIL", b"up"]), b"INCRBY", kind, place,
             self.field_number()],
        ])

    def string_command(self):
        key = self.string_key
        return self.random.choice([
            lambda: [b"SET", key(), self.element(), *self.options(
                [self.random.choice([b"NX", b"XX"])], [b"GET"], self.lifetime())],
            lambda: [b"SET", key(), self.element()],
            lambda: [b"GET", key()],
            lambda: [b"GETSET", key(), self.element()],
            lambda: [b"GETDEL", key()],
            lambda: [b"GETEX", key(), *self.random.choice([[], self.lifetime(), [b"PERSIST"]])],
            lambda: [b"MGET", key(), key(), key()],
            lambda: [b"MSET", key(), self.element(), key(), self.element()],
            lambda: [b"MSETNX", key(), self.element(), key(), self.element()],
            lambda: [b"SETNX", key(), self.element()],
            lambda: [b"SETEX", key(), self.random.choice([b"1000000", b"0", b"-1", b"x"]), self.element()],
            lambda: [b"PSETEX", key(), self.random.choice([b"1000000000", b"0", b"x"]), self.element()],
            lambda: [b"APPEND", key(), self.element()],
            lambda: [b"STRLEN", key()],
            lambda: [self.random.choice([b"GETRANGE", b"SUBSTR"]), key(), self.index(), self.index()],
            lambda: [b"SETRANGE", key(), self.random.choice([b"0", b"3", b"100", b"-1", b"536870912", b"x"]),
                     self.element()],
            lambda: [self.random.choice([b"INCR", b"DECR"]), key()],
            lambda: [self.random.choice([b"INCRBY", b"DECRBY"]), key(), self.number()],
            lambda: [b"INCRBYFLOAT", key(), self.float_number()],
            lambda: [b"LCS", key(), key(), *self.options([b"LEN"], [b"IDX"], [b"MINMATCHLEN", b"2"],
                                                         [b"WITHMATCHLEN"])],
            lambda: [b"OBJECT", b"ENCODING", key()],
            lambda: [b"SETBIT", key(), self.bit_offset(), self.random.choice([b"0", b"1", b"2"])],
            lambda: [b"GETBIT", key(), self.bit_offset()],
            lambda: [b"BITCOUNT", key(), *self.random.choice(
                [[], [self.place(), self.place()], [self.place(), self.place(), b"BIT"]])],
            lambda: [b"BITPOS", key(), self.random.choice([b"0", b"1"]), *self.random.choice(
                [[], [self.place()], [self.place(), self.place()], [self.place(), self.place(), b"BIT"]])],
            lambda: [b"BITOP", self.random.choice([b"AND", b"OR", b"XOR", b"NOT", b"NO"]), key(), key(),
                     *self.random.choice([[], [key()]])],
            lambda: [b"BITFIELD", key(), *self.bit_field(), *self.bit_field()],
            lambda: [b"BITFIELD_RO", key(), *self.bit_field()],
        ])()

    def expiry_command(self):
        key = self.string_key
        condition = self.options([self.random.choice([b"NX", b"XX", b"GT", b"LT", b"YY"])])
        # Which of two equal lives is longer depends on the moment of each server's clock.
        timeless = [word for word in condition if word not in (b"GT", b"LT")]
        return self.random.choice([
            lambda: [b"EXPIREAT", key(), self.random.choice([FAR_SECONDS, b"1", b"x", b"99999999999999999"]),
                     *condition],
            lambda: [b"PEXPIREAT", key(), self.random.choice([FAR_MS, b"33177117421000", b"-1"]), *condition],
            lambda: [b"EXPIRE", key(), self.random.choice([b"1000000", b"-1", b"0", b"x"]), *timeless],
            lambda: [b"PEXPIRE", key(), self.random.choice([b"1000000000", b"0"]), *timeless],
            lambda: [self.random.choice([b"TTL", b"PTTL"]), key()],
            lambda: [self.random.choice([b"EXPIRETIME", b"PEXPIRETIME"]), key()],
            lambda: [b"PERSIST", key()],
        ])()
