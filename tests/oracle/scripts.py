"""Scripts: a few commands of the generator, which a script runs and whose replies it returns; and random values of Lua,
which it returns."""

# Runs the commands that the arguments contain, each after the number of its words.
RUN = b"""
local replies, i = {}, 1
while i <= #%(arguments)s do
    local words = tonumber(%(arguments)s[i])
    replies[#replies + 1] = redis.pcall(unpack(%(arguments)s, i + 1, i + words))
    i = i + words + 1
end
return replies
"""
IN_RESP3 = b"redis.setresp(3)"
# What comparable() in ./run has rules for cannot stand inside another reply.
APART = (b"KEYS", b"RANDOMKEY", b"DUMP", b"OBJECT", b"COMMAND", b"TTL", b"PTTL", b"EXPIRETIME", b"PEXPIRETIME",
         b"HELLO", b"SMEMBERS", b"SINTER", b"SUNION", b"SDIFF", b"SPOP", b"SRANDMEMBER", b"HGETALL", b"HKEYS", b"HVALS",
         b"HRANDFIELD", b"SCAN", b"SSCAN", b"HSCAN", b"ZSCAN", b"ZRANDMEMBER", b"TIME", b"SORT", b"SORT_RO", b"XINFO",
         b"XREAD")  # in RESP3 a map, which in Lua has no order
TEXTS = [b"''", b"'text'", b"'a\\r\\nb'", b"'\\0\\255'", b"'-ERR x'", b"('x'):rep(70)"]
NUMBERS = [b"0", b"-0.0", b"1.99", b"-1.99", b"2^53", b"1e300", b"-1e300", b"0/0", b"1/0", b"9007199254740993"]
# No others: Redis 7.0 writes 17 digits of them, newer ones the shortest that mean the same.
DOUBLES = [b"3.25", b"-7", b"1.5e10", b"1/0", b"-1/0", b"0", b"'3'", b"true", b"{}", b"tostring"]


def words_of_commands(generator):
    """One to four commands, as RUN takes them."""
    words = []
    for _ in range(generator.random.randrange(1, 5)):
        argv = generator.command()
        # Redis 7.0 refuses a script commands that block, newer ones do not.
        if argv[0].upper() not in APART and argv[0][:2].upper() not in (b"BL", b"BR", b"BZ") and b"BLOCK" not in argv:
            words += [b"%d" % len(argv), *argv]
    return words


def value(rng, depth=3):
    """An expression. What has no order has one member."""
    def nested():
        return value(rng, depth - 1)

    def key():
        return b"[%s]" % rng.choice([b"'k'", b"7", b"2.5", b"true", b"{1, 2}", b"{ok = 'x'}"])

    kinds = [lambda: rng.choice(TEXTS), lambda: rng.choice(NUMBERS), lambda: rng.choice([b"true", b"false", b"nil"]),
             lambda: b"tostring"]
    if depth > 0:
        kinds += [
            lambda: b"{%s}" % b", ".join(nested() for _ in range(rng.randrange(5))),
            lambda: b"{%s}" % b", ".join(nested() for _ in range(rng.randrange(5))),
            lambda: b"{1, 2, x = %s}" % nested(),
            lambda: b"{ok = %s}" % nested(),
            lambda: b"{err = %s}" % nested(),
            lambda: b"{err = %s, ignore_error_stats_update = %s}" % (nested(), nested()),
            lambda: b"{double = %s}" % rng.choice(DOUBLES),
            lambda: b"{map = {%s = %s}}" % (key(), nested()),
            lambda: b"{map = %s}" % nested(),
            lambda: b"{set = {%s = %s}}" % (key(), nested()),
            lambda: b"{set = %s}" % rng.choice([b"{}", b"5", b"{'one'}"]),
            lambda: b"{big_number = %s}" % rng.choice([b"'123'", b"'1\\r\\n2'", b"''", nested()]),
            lambda: b"{verbatim_string = {string = %s, format = %s}}" % (nested(), rng.choice(TEXTS)),
            lambda: b"{verbatim_string = %s}" % nested(),
            lambda: b"redis.error_reply(%s)" % nested(),
            lambda: b"redis.status_reply(%s)" % nested(),
        ]
    return rng.choice(kinds)()


def script(generator):
    """An EVAL."""
    rng = generator.random
    setting = rng.choice([b"", IN_RESP3])
    if rng.random() < 0.3:
        return [b"EVAL", setting + b" return " + value(rng), b"0"]
    return [b"EVAL", setting + RUN % {b"arguments": b"ARGV"}, b"0", *words_of_commands(generator)]
