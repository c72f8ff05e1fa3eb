"""Scripts: a few commands of the generator, which a script runs. It returns all their replies."""

SCRIPT = b"""
local replies, i = {}, 1
while i <= #ARGV do
    local count = tonumber(ARGV[i])
    replies[#replies + 1] = redis.pcall(unpack(ARGV, i + 1, i + count))
    i = i + count + 1
end
return replies
"""
IN_RESP3 = b"redis.setresp(3)" + SCRIPT
# What comparable() in ./run has rules for cannot stand inside another reply.
APART = (b"KEYS", b"RANDOMKEY", b"DUMP", b"OBJECT", b"COMMAND", b"TTL", b"PTTL", b"EXPIRETIME", b"PEXPIRETIME",
         b"HELLO", b"SMEMBERS", b"SINTER", b"SUNION", b"SDIFF", b"SPOP", b"SRANDMEMBER", b"HGETALL", b"HKEYS", b"HVALS",
         b"HRANDFIELD", b"SCAN", b"SSCAN", b"HSCAN", b"ZSCAN", b"ZRANDMEMBER", b"TIME", b"SORT", b"SORT_RO")


def script(generator):
    """EVAL of one to four commands."""
    arguments = []
    for _ in range(generator.random.randrange(1, 5)):
        argv = generator.command()
        # Redis 7.0 refuses a script commands that block, newer ones do not.
        if argv[0].upper() not in APART and argv[0][:2].upper() not in (b"BL", b"BR", b"BZ"):
            arguments += [b"%d" % len(argv), *argv]
    return [b"EVAL", generator.random.choice([SCRIPT, IN_RESP3]), b"0", *arguments]
