"""Random commands on sorted sets."""

from collections_commands import SETS

KEYS = [b"za", b"zb", b"zc", b"zd"]
LEX_KEY = b"zlex"  # all of its members have the score 0: only then are ranges of members defined


class ZsetGenerator:
    """The generator of commands.py provides random, reference, key, count, index, numkeys_and_keys, options."""

    def zkey(self):
        """Keys of their own: what other commands do with any key, such as SORT, is asked of other types only."""
        return self.random.choice(KEYS)

    def zkeys(self):
        """Sets are sources of the commands that combine sorted sets."""
        keys = [self.random.choice(SETS) if self.random.random() < 0.1 else self.zkey()
                for _ in range(self.random.randint(1, 3))]
        number = b"%d" % len(keys) if self.random.random() < 0.95 else self.random.choice([b"0", b"-1", b"x", b"9"])
        return [number, *keys]

    def member(self):
        roll = self.random.random()
        if roll < 0.5:
            return b"m%d" % self.random.randint(0, 30)
        if roll < 0.8:
            return b"%d" % self.random.randint(-5, 20)
        if roll < 0.97:
            return self.random.choice([b"", b"\0", b"\xff\r\n", b"a", b"ab", b"b"])
        return b"l" * self.random.choice([63, 64, 65, 300, 5000])

    def score(self):
        """Digests of older servers are made of 17 digits: they are asked only for scores where that is the same."""
        roll = self.random.random()
        if roll < 0.7:
            return b"%d" % self.random.randint(-4, 9)
        if roll < 0.8:
            return self.random.choice([b"1.5", b"-0.25", b"inf", b"-inf", b"+2", b"0x10"])
        if roll < 0.97:
            newer = [b"0.1", b"3.3", b"1e-7", b"1e3", b"1e15", b"1e21", b"12345678901234567", b"0.30000000000000004",
                     b"-1e300", b"5e-324"]
            return self.random.choice(newer if self.reference >= (8, 0) else [b"5", b"0.5"])
        return self.random.choice([b"nan", b"x", b"", b" 1", b"1 ", b"1x"])

    def score_bound(self):
        """Redis 8 refuses hexadecimal bounds and blanks before a bound, as Packlist does; older servers do not."""
        if self.random.random() < 0.2:
            return self.random.choice([b"-inf", b"+inf", b"(", b"((1", b"1e400"])
        text = self.score().strip().replace(b"0x10", b"16")
        return b"(" + text if self.random.random() < 0.3 else text

    def member_bound(self):
        if self.random.random() < 0.3:
            return self.random.choice([b"-", b"+", b"-", b"+", b"", b"a", b"--"])
        return self.random.choice([b"[", b"("]) + self.member()

    def limit(self):
        """Redis 8 counts a negative offset from the other end in a skiplist only: it is not asked."""
        return [b"LIMIT", b"%d" % self.random.randint(0, 6), b"%d" % self.random.randint(-2, 6)]

    def pairs(self):
        many = self.random.random() < 0.05
        count = self.random.randint(1, 150 if many else 4)
        return [part for _ in range(count) for part in (self.score(), self.member())]

    def weights(self, keys, stores=False):
        """What is stored must not be made -0, which the reference keeps in a skiplist."""
        plain = [b"1", b"2", b"1e3", b"inf", b"nan", b"x"] if stores else [b"-1", b"0", b"1", b"x"]
        weight = self.score if self.reference >= (8, 0) and not stores else lambda: self.random.choice(plain)
        return self.options([b"WEIGHTS", *[weight() for _ in keys[1:]]],
                            [b"AGGREGATE", self.random.choice([b"SUM", b"MIN", b"max", b"AVG"])])

    def zset_write(self):
        keys = self.zkeys()
        return self.random.choice([
            lambda: [b"ZADD", self.zkey(), *self.pairs()],
            lambda: [b"ZADD", self.zkey(), *self.pairs()],
            lambda: [b"ZADD", self.zkey(), *self.options([b"NX"], [b"XX"], [b"GT"], [b"LT"], [b"CH"]), *self.pairs()],
            lambda: [b"ZADD", self.zkey(), b"INCR", *self.options([b"NX"], [b"XX"], [b"GT"], [b"LT"]),
                     self.score(), self.member()],
            lambda: [b"ZADD", LEX_KEY, *[part for _ in range(self.random.randint(1, 5))
                                         for part in (b"0", self.member())]],
            lambda: [b"ZREMRANGEBYLEX", LEX_KEY, self.member_bound(), self.member_bound()],
            lambda: [b"ZREM", LEX_KEY, self.member()],
            lambda: [b"ZINCRBY", self.zkey(), self.score(), self.member()],
            lambda: [b"ZREM", self.zkey(), *[self.member() for _ in range(self.random.randint(1, 8))]],
            lambda: [b"ZREMRANGEBYRANK", self.zkey(), self.index(), self.index()],
            lambda: [b"ZREMRANGEBYSCORE", self.zkey(), self.score_bound(), self.score_bound()],
            lambda: [self.random.choice([b"ZPOPMIN", b"ZPOPMAX"]), self.zkey(), *self.options([self.count()])],
            lambda: [b"ZMPOP", *keys, self.random.choice([b"MIN", b"max", b"LEFT"]),
                     *self.options([b"COUNT", self.count()])],
            lambda: [self.random.choice([b"ZUNIONSTORE", b"ZINTERSTORE"]), self.random.choice(KEYS), *keys,
                     *self.weights(keys, stores=True)],
            lambda: [b"ZDIFFSTORE", self.random.choice(KEYS), *keys],
            lambda: [b"ZRANGESTORE", self.random.choice(KEYS), self.zkey(), *self.zrange_arguments()],
            lambda: [self.random.choice([b"DEL", b"UNLINK"]), self.random.choice([*KEYS, LEX_KEY])],
            lambda: [b"RENAME", *self.random.sample(KEYS, 2)],
            lambda: [b"COPY", *self.random.sample(KEYS, 2), *self.options([b"REPLACE"])],
        ])()

    def zrange_arguments(self):
        pick = self.random.random()
        if pick < 0.5:
            return [self.index(), self.index(), *self.options([b"REV"])]
        return [self.score_bound(), self.score_bound(), b"BYSCORE", *self.options([b"REV"], self.limit())]

    def zset_read(self):
        keys, with_scores = self.zkeys(), self.options([b"WITHSCORES"])
        with_score = self.options([b"WITHSCORE"]) if self.reference >= (7, 2) else []
        return self.random.choice([
            lambda: [b"ZCARD", self.zkey()],
            lambda: [b"ZSCORE", self.zkey(), self.member()],
            lambda: [b"ZMSCORE", self.zkey(), self.member(), self.member()],
            lambda: [self.random.choice([b"ZRANK", b"ZREVRANK"]), self.zkey(), self.member(), *with_score],
            lambda: [b"ZCOUNT", self.zkey(), self.score_bound(), self.score_bound()],
            lambda: [b"ZLEXCOUNT", LEX_KEY, self.member_bound(), self.member_bound()],
            lambda: [b"ZRANGE", self.zkey(), *self.zrange_arguments(), *with_scores],
            lambda: [b"ZRANGE", self.zkey(), b"0", b"-1", b"WITHSCORES"],
            lambda: [b"ZRANGE", LEX_KEY, self.member_bound(), self.member_bound(), b"BYLEX",
                     *self.options([b"REV"], self.limit(), [b"WITHSCORES"])],
            lambda: [b"ZREVRANGE", self.zkey(), self.index(), self.index(), *with_scores],
            lambda: [self.random.choice([b"ZRANGEBYSCORE", b"ZREVRANGEBYSCORE"]), self.zkey(), self.score_bound(),
                     self.score_bound(), *self.options([b"WITHSCORES"], self.limit())],
            lambda: [self.random.choice([b"ZRANGEBYLEX", b"ZREVRANGEBYLEX"]), LEX_KEY, self.member_bound(),
                     self.member_bound(), *self.options(self.limit())],
            lambda: [self.random.choice([b"ZUNION", b"ZINTER"]), *keys, *self.weights(keys), *with_scores],
            lambda: [b"ZDIFF", *keys, *with_scores],
            lambda: [b"ZINTERCARD", *keys, *self.options([b"LIMIT", self.count()])],
            lambda: [b"ZRANDMEMBER", self.zkey(), self.random.choice([b"1000", b"x", b"0"]),
                     *self.options([b"WITHSCORES"])],
            lambda: [b"ZSCAN", self.zkey(), b"0", b"COUNT", b"100000", *self.options([b"MATCH", b"m*"])],
            lambda: [b"ZSCAN", self.zkey(), b"x"],
            lambda: [b"OBJECT", b"ENCODING", self.random.choice(KEYS)] if self.reference >= (8, 0) else [b"PING"],
            lambda: [b"TYPE", self.zkey()],
            lambda: [b"DEBUG", b"DIGEST-VALUE", *KEYS, LEX_KEY],
            lambda: [self.random.choice([b"BZPOPMIN", b"BZPOPMAX"]), self.zkey(), self.zkey(), b"0.001"],
            lambda: [b"BZMPOP", b"0.001", *keys, b"MIN", *self.options([b"COUNT", self.count()])],
        ])()

    def zset_wrong_type(self):
        """The key `reserve` is always a list."""
        return self.random.choice([[b"ZCARD"], [b"ZSCORE"], [b"ZRANGE"], [b"ZREVRANGEBYSCORE"], [b"ZSCAN"],
                                   [b"ZUNION", b"1"], [b"ZDIFF", b"2", b"za"], [b"ZINTERCARD", b"1"]]) + [
            b"reserve", *self.random.choice([[], [b"0"], [b"0", b"1"], [b"x"]])]

    def zset_command(self):
        if self.random.random() < 0.03:
            return self.zset_wrong_type()

        return self.zset_write() if self.random.random() < 0.6 else self.zset_read()
