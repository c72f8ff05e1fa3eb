"""Random commands over a few sets and hashes. What is random in their replies is left out."""

SETS = [b"set:1", b"set:2", b"set:3"]
HASHES = [b"hash:1", b"hash:2"]

# Members and fields come in no order.
UNORDERED = (b"SMEMBERS", b"SINTER", b"SUNION", b"SDIFF", b"SPOP", b"SRANDMEMBER", b"HGETALL", b"HKEYS", b"HVALS",
             b"HRANDFIELD")
SCANS = (b"SCAN", b"SSCAN", b"HSCAN")


class CollectionGenerator:
    def set_key(self):
        """Sometimes a key of another type, but none of the keys that SORT reads: the order in which it gives the
        members of a set BY nosort is each server's own."""
        return self.random.choice(HASHES if self.random.random() < 0.03 else SETS)

    def hash_key(self):
        return self.key() if self.random.random() < 0.03 else self.random.choice(HASHES)

    def set_keys(self):
        return [self.set_key() for _ in range(self.random.randint(1, 4))]

    def set_command(self):
        many = b"1000000"  # all: which members are chosen is random
        return self.random.choice([
            lambda: [b"SADD", self.set_key(), *self.elements()],
            lambda: [b"SADD", self.set_key(), *[b"%d" % self.random.randint(0, 900)
                                                for _ in range(self.random.randint(1, 60))]],
            lambda: [b"SREM", self.set_key(), *self.elements()],
            lambda: [b"SMOVE", self.set_key(), self.set_key(), self.element()],
            lambda: [b"SISMEMBER", self.set_key(), self.element()],
            lambda: [b"SMISMEMBER", self.set_key(), *self.elements()],
            lambda: [b"SCARD", self.set_key()],
            lambda: [b"SMEMBERS", self.set_key()],
            lambda: [b"SPOP", self.set_key(), self.random.choice([many, b"0", b"-1", b"x"])],
            lambda: [b"SRANDMEMBER", self.set_key(), self.random.choice([many, b"0", b"x"])],
            lambda: [self.random.choice([b"SINTER", b"SUNION", b"SDIFF"]), *self.set_keys()],
            lambda: [self.random.choice([b"SINTERSTORE", b"SUNIONSTORE", b"SDIFFSTORE"]), self.set_key(),
                     *self.set_keys()],
            lambda: [b"SINTERCARD", b"2", self.set_key(), self.set_key(), *self.options([b"LIMIT", self.count()])],
            lambda: [b"SSCAN", self.set_key(), b"0", b"COUNT", b"100000",
                     *self.options([b"MATCH", self.random.choice([b"*", b"1*", b"?"])])],
        ])()

    def fields(self):
        fields = self.elements()
        return [b"FIELDS", b"%d" % len(fields), *fields]

    def field_expiry(self):
        """In the far future, so that no field expires meanwhile; at times one that is not valid, or has passed."""
        if self.random.random() < 0.7:
            return b"41024448%05d" % self.random.randint(0, 5)
        return self.random.choice([b"1", b"-1", b"x", b"99999999999999999"])

    def field_expiry_command(self):
        """For Redis 8."""
        key, expiry = self.hash_key(), self.field_expiry()
        pairs = self.pairs()
        times = [[b"PXAT", expiry], [b"PXAT", expiry], []]
        condition = self.random.choice([[b"FNX"], [b"FXX"], [], []])
        return self.random.choice([
            lambda: [b"HPEXPIREAT", key, expiry,
                     *self.around(self.fields(), self.options([self.random.choice([b"NX", b"XX", b"GT", b"LT"])]))],
            lambda: [self.random.choice([b"HPEXPIRETIME", b"HEXPIRETIME", b"HPERSIST", b"HGETDEL"]), key,
                     *self.fields()],
            lambda: [b"HGETEX", key, *self.around(self.fields(), self.random.choice([*times, [b"PERSIST"]]))],
            lambda: [b"HSETEX", key, *condition,
                     *self.around([b"FIELDS", b"%d" % (len(pairs) // 2), *pairs],
                                  self.random.choice([*times, [b"KEEPTTL"], [b"PERSIST"]]))],
        ])()

    def around(self, fields, options):
        """The options before the fields or, as from Redis 8.6 on, behind them."""
        if self.reference >= (8, 6) and self.random.random() < 0.5:
            return [*fields, *options]
        return [*options, *fields]

    def pairs(self):
        return [part for field in self.elements() for part in (field, self.element())]

    def hash_command(self):
        return self.random.choice([
            lambda: [b"HSET", self.hash_key(), *self.pairs()],
            lambda: [b"HMSET", self.hash_key(), *self.pairs()],
            lambda: [b"HSETNX", self.hash_key(), self.element(), self.element()],
            lambda: [b"HDEL", self.hash_key(), *self.elements()],
            lambda: [b"HINCRBY", self.hash_key(), self.element(), self.index()],
            lambda: [b"HINCRBYFLOAT", self.hash_key(), self.element(),
                     self.random.choice([b"1", b"-0.5", b"3e3", b"x", b"0.1"])],
            lambda: [b"HGET", self.hash_key(), self.element()],
            lambda: [b"HMGET", self.hash_key(), *self.elements()],
            lambda: [b"HEXISTS", self.hash_key(), self.element()],
            lambda: [b"HSTRLEN", self.hash_key(), self.element()],
            lambda: [b"HLEN", self.hash_key()],
            lambda: [self.random.choice([b"HGETALL", b"HKEYS", b"HVALS"]), self.hash_key()],
            lambda: [b"HRANDFIELD", self.hash_key(), self.random.choice([b"1000000", b"0", b"x"])],
            lambda: [b"HSCAN", self.hash_key(), b"0", b"COUNT", b"100000",
                     *self.options([b"MATCH", self.random.choice([b"*", b"h*", b"?"])])],
            lambda: [b"DEBUG", b"DIGEST-VALUE", self.hash_key(), self.set_key()],
            lambda: [b"DEL", self.random.choice([self.hash_key(), self.set_key()])],
        ])()
