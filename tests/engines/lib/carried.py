"""Commands that proxies carry: for each of them requests whose replies must be those of one server without a proxy.

In a request, `k` and names that begin with `k:` are keys: they get a hash tag, so that a request stays on one shard.
The requests of a command are sent in order, under a tag of their own; so all commands together go to all shards.
"""
import re

# One command a line: requests apart by ` ; `. What a command needs may stand before it.
CASES = """
append: APPEND k ab ; APPEND k cd ; GET k
bitcount: SET k foobar ; BITCOUNT k ; BITCOUNT k 1 1
bitfield: BITFIELD k INCRBY i5 100 1 GET u4 0
bitfield_ro: SET k abc ; BITFIELD_RO k GET u8 8
bitop: SET k:1 abc ; SET k:2 abd ; BITOP AND k:3 k:1 k:2 ; GET k:3
bitpos: SET k abc ; BITPOS k 1
copy: SET k v ; COPY k k:2 ; GET k:2
decr: DECR k ; DECR k
decrby: DECRBY k 7
del: SET k v ; DEL k ; DEL k ; EXISTS k
discard: MULTI ; SET k v ; DISCARD
dump: SET k v ; DUMP k
eval: EVAL return{KEYS[1],ARGV[1],redis.call('RPUSH',KEYS[1],ARGV[1])} 1 k v
evalsha: EVAL return{KEYS[1]} 1 k ; EVALSHA 890233c94faee9801fb9b69aef7c7dd33a24aaa1 1 k
exec: MULTI ; RPUSH k a ; EXEC
exists: EXISTS k ; SET k v ; EXISTS k
expire: SET k v ; EXPIRE k 1000 ; EXPIRE k:2 1000
expireat: SET k v ; EXPIREAT k 4000000000
geoadd: GEOADD k 1 2 a ; GEOADD k NX 3 4 a 5 6 b
geodist: GEOADD k 1 2 a 3 4 b ; GEODIST k a b km
geohash: GEOADD k 1 2 a ; GEOHASH k a
geopos: GEOADD k 1 2 a ; GEOPOS k a
georadius: GEOADD k 1 2 a ; GEORADIUS k 1 2 9 km WITHDIST
georadius_ro: GEOADD k 1 2 a ; GEORADIUS_RO k 1 2 9 km WITHDIST
georadiusbymember: GEOADD k 1 2 a ; GEORADIUSBYMEMBER k a 9 km
georadiusbymember_ro: GEOADD k 1 2 a ; GEORADIUSBYMEMBER_RO k a 9 km
geosearch: GEOADD k 1 2 a ; GEOSEARCH k FROMLONLAT 1 2 BYRADIUS 9 km
geosearchstore: GEOADD k 1 2 a ; GEOSEARCHSTORE k:2 k FROMLONLAT 1 2 BYRADIUS 9 km ; ZRANGE k:2 0 -1
get: GET k ; SET k v ; GET k
getbit: SETBIT k 7 1 ; GETBIT k 7
getdel: SET k v ; GETDEL k ; GET k
getex: SET k v ; GETEX k EX 1000 ; GETEX k PERSIST ; TTL k
getrange: SET k abcdef ; GETRANGE k 1 -2
getset: SET k a ; GETSET k b ; GET k
hdel: HSET k f v ; HDEL k f g
hexists: HSET k f v ; HEXISTS k f ; HEXISTS k g
hexpire: HSET k f v ; HEXPIRE k 1000 FIELDS 2 f g
hexpireat: HSET k f v ; HEXPIREAT k 4000000000 FIELDS 1 f
hexpiretime: HSET k f v ; HEXPIREAT k 4000000000 FIELDS 1 f ; HEXPIRETIME k FIELDS 1 f
hget: HSET k f v ; HGET k f ; HGET k g
hgetall: HSET k f v g w ; HGETALL k
hincrby: HINCRBY k f 3 ; HINCRBY k f -1
hincrbyfloat: HINCRBYFLOAT k f 1.5
hkeys: HSET k f v g w ; HKEYS k
hlen: HSET k f v g w ; HLEN k
hmget: HSET k f v ; HMGET k f g
hmset: HMSET k f v g w ; HGETALL k
hpersist: HSET k f v ; HEXPIRE k 1000 FIELDS 1 f ; HPERSIST k FIELDS 1 f
hpexpire: HSET k f v ; HPEXPIRE k 1000000 FIELDS 1 f
hpexpireat: HSET k f v ; HPEXPIREAT k 4000000000000 FIELDS 1 f
hpexpiretime: HSET k f v ; HPEXPIREAT k 4000000000000 FIELDS 1 f ; HPEXPIRETIME k FIELDS 1 f
hpttl: HSET k f v ; HPTTL k FIELDS 1 f
hrandfield: HSET k f v ; HRANDFIELD k ; HRANDFIELD k 5 WITHVALUES
hscan: HSET k f v g w ; HSCAN k 0 MATCH f* COUNT 100
hset: HSET k f v ; HSET k f w g x ; HSET k
hsetnx: HSETNX k f v ; HSETNX k f w
hstrlen: HSET k f value ; HSTRLEN k f
httl: HSET k f v ; HTTL k FIELDS 1 f
hvals: HSET k f v g w ; HVALS k
incr: INCR k ; INCR k ; SET k text ; INCR k
incrby: INCRBY k 10 ; INCRBY k -3
incrbyfloat: INCRBYFLOAT k 1.25
lindex: RPUSH k a b c ; LINDEX k 1 ; LINDEX k -1 ; LINDEX k 7
linsert: RPUSH k a c ; LINSERT k BEFORE c b ; LRANGE k 0 -1
llen: RPUSH k a b ; LLEN k ; LLEN k:2
lmove: RPUSH k a b c ; LMOVE k k:2 LEFT RIGHT ; LRANGE k:2 0 -1
lpop: RPUSH k a b c ; LPOP k ; LPOP k 5 ; LPOP k
lpos: RPUSH k a b a ; LPOS k a RANK -1 ; LPOS k a COUNT 0
lpush: LPUSH k a ; LPUSH k b c ; LRANGE k 0 -1
lpushx: LPUSHX k a ; LPUSH k a ; LPUSHX k b
lrange: RPUSH k a b c d ; LRANGE k 1 2 ; LRANGE k 5 6
lrem: RPUSH k a b a ; LREM k 1 a ; LRANGE k 0 -1
lset: RPUSH k a b ; LSET k 1 c ; LSET k 9 d ; LRANGE k 0 -1
ltrim: RPUSH k a b c d ; LTRIM k 1 2 ; LRANGE k 0 -1
mget: SET k:1 a ; SET k:2 b ; MGET k:1 k:2 k:3
move: SET k v ; MOVE k 1 ; EXISTS k
mset: MSET k:1 a k:2 b ; GET k:1 ; GET k:2
msetnx: MSETNX k:1 a k:2 b ; MSETNX k:2 c k:3 d ; EXISTS k:3
multi: MULTI ; SET k v ; EXEC
object: RPUSH k a ; OBJECT ENCODING k
persist: SET k v EX 1000 ; PERSIST k ; TTL k
pexpire: SET k v ; PEXPIRE k 1000000
pexpireat: SET k v ; PEXPIREAT k 4000000000000
psetex: PSETEX k 1000000 v ; GET k
pttl: PTTL k ; SET k v ; PTTL k
pfadd: PFADD k a b ; PFADD k a
pfcount: PFADD k a b ; PFCOUNT k
pfmerge: PFADD k:1 a ; PFADD k:2 b ; PFMERGE k:3 k:1 k:2 ; PFCOUNT k:3
publish: PUBLISH k message
rename: SET k v ; RENAME k k:2 ; GET k:2
renamenx: SET k v ; RENAMENX k k:2 ; GET k:2
rpop: RPUSH k a b c ; RPOP k ; RPOP k 2
rpoplpush: RPUSH k a b ; RPOPLPUSH k k:2 ; LRANGE k:2 0 -1
rpush: RPUSH k a b ; RPUSH k c ; SET k:2 v ; RPUSH k:2 c
rpushx: RPUSHX k a ; RPUSH k a ; RPUSHX k b c
sadd: SADD k a b a ; SADD k c
scard: SADD k a b ; SCARD k
sdiff: SADD k:1 a b ; SADD k:2 b ; SDIFF k:1 k:2
sdiffstore: SADD k:1 a b ; SADD k:2 b ; SDIFFSTORE k:3 k:1 k:2
set: SET k v ; SET k w NX ; SET k w GET ; GET k
setbit: SETBIT k 100 1 ; SETBIT k 100 0 ; STRLEN k
setex: SETEX k 1000 v ; GET k
setnx: SETNX k v ; SETNX k w
setrange: SET k abcdef ; SETRANGE k 2 XY ; GET k
sinter: SADD k:1 a b ; SADD k:2 b c ; SINTER k:1 k:2
sinterstore: SADD k:1 a b ; SADD k:2 b c ; SINTERSTORE k:3 k:1 k:2
sismember: SADD k a ; SISMEMBER k a ; SISMEMBER k b
smembers: SADD k a b ; SMEMBERS k
smismember: SADD k a ; SMISMEMBER k a b
smove: SADD k a ; SMOVE k k:2 a ; SMEMBERS k:2
sort: RPUSH k 3 1 2 ; SORT k DESC ; SORT k STORE k:2
sort_ro: RPUSH k 3 1 2 ; SORT_RO k
spop: SADD k a ; SPOP k ; SPOP k
srandmember: SADD k a ; SRANDMEMBER k ; SRANDMEMBER k 3
srem: SADD k a b ; SREM k a c
sscan: SADD k a b ; SSCAN k 0 COUNT 100
strlen: SET k hello ; STRLEN k
substr: SET k abcdef ; SUBSTR k 1 2
sunion: SADD k:1 a ; SADD k:2 b ; SUNION k:1 k:2
sunionstore: SADD k:1 a ; SADD k:2 b ; SUNIONSTORE k:3 k:1 k:2
touch: SET k v ; TOUCH k
ttl: TTL k ; SET k v ; TTL k
type: RPUSH k a ; TYPE k ; TYPE k:2
unlink: SET k v ; UNLINK k ; EXISTS k
xack: XADD k 1-1 f v ; XACK k g 1-1
xadd: XADD k 1-1 f v ; XADD k 1-1 f v
xautoclaim: XADD k 1-1 f v ; XAUTOCLAIM k g c 0 0
xclaim: XADD k 1-1 f v ; XCLAIM k g c 0 1-1
xdel: XADD k 1-1 f v ; XDEL k 1-1
xlen: XADD k 1-1 f v ; XLEN k
xpending: XADD k 1-1 f v ; XPENDING k g
xrange: XADD k 1-1 f v ; XADD k 2-1 f w ; XRANGE k - +
xrevrange: XADD k 1-1 f v ; XADD k 2-1 f w ; XREVRANGE k + -
xtrim: XADD k 1-1 f v ; XADD k 2-1 f w ; XTRIM k MAXLEN 1
zadd: ZADD k 1 a 2 b ; ZADD k XX CH 3 a ; ZADD k x a
zcard: ZADD k 1 a 2 b ; ZCARD k
zcount: ZADD k 1 a 2 b ; ZCOUNT k (1 +inf
zdiff: ZADD k:1 1 a 2 b ; ZADD k:2 1 a ; ZDIFF 2 k:1 k:2 WITHSCORES
zdiffstore: ZADD k:1 1 a 2 b ; ZADD k:2 1 a ; ZDIFFSTORE k:3 2 k:1 k:2
zincrby: ZINCRBY k 2.5 a ; ZINCRBY k -1 a
zinter: ZADD k:1 1 a 2 b ; ZADD k:2 1 a ; ZINTER 2 k:1 k:2 WITHSCORES
zinterstore: ZADD k:1 1 a 2 b ; ZADD k:2 1 a ; ZINTERSTORE k:3 2 k:1 k:2
zlexcount: ZADD k 0 a 0 b ; ZLEXCOUNT k - [a
zmscore: ZADD k 1 a ; ZMSCORE k a b
zpopmax: ZADD k 1 a 2 b ; ZPOPMAX k ; ZPOPMAX k 5
zpopmin: ZADD k 1 a 2 b ; ZPOPMIN k ; ZPOPMIN k 5
zrandmember: ZADD k 1 a ; ZRANDMEMBER k ; ZRANDMEMBER k 2 WITHSCORES
zrange: ZADD k 1 a 2 b ; ZRANGE k 0 -1 REV WITHSCORES
zrangebylex: ZADD k 0 a 0 b ; ZRANGEBYLEX k - +
zrangebyscore: ZADD k 1 a 2 b ; ZRANGEBYSCORE k -inf +inf LIMIT 1 1
zrangestore: ZADD k 1 a 2 b ; ZRANGESTORE k:2 k 0 0 ; ZRANGE k:2 0 -1
zrank: ZADD k 1 a 2 b ; ZRANK k b ; ZRANK k c
zrem: ZADD k 1 a 2 b ; ZREM k a c
zremrangebylex: ZADD k 0 a 0 b ; ZREMRANGEBYLEX k - [a
zremrangebyrank: ZADD k 1 a 2 b ; ZREMRANGEBYRANK k 0 0
zremrangebyscore: ZADD k 1 a 2 b ; ZREMRANGEBYSCORE k 2 2
zrevrange: ZADD k 1 a 2 b ; ZREVRANGE k 0 -1 WITHSCORES
zrevrangebylex: ZADD k 0 a 0 b ; ZREVRANGEBYLEX k + -
zrevrangebyscore: ZADD k 1 a 2 b ; ZREVRANGEBYSCORE k +inf -inf
zrevrank: ZADD k 1 a 2 b ; ZREVRANK k b
zscan: ZADD k 1 a 2 b ; ZSCAN k 0 COUNT 100
zscore: ZADD k 1 a ; ZSCORE k a ; ZSCORE k b
zunion: ZADD k:1 1 a ; ZADD k:2 2 a ; ZUNION 2 k:1 k:2 WITHSCORES
zunionstore: ZADD k:1 1 a ; ZADD k:2 2 a ; ZUNIONSTORE k:3 2 k:1 k:2
"""
# Packlist has no such commands: it refuses them, through a proxy as well.
UNKNOWN = re.compile(r"bf\.")
# Which of several equal elements comes first is chosen at random by each server.
UNORDERED = {"hgetall", "hkeys", "hvals", "sdiff", "sinter", "smembers", "sunion", "keys"}


def cases():
    """{command: [request, …]}; a request is a list of arguments."""
    found = {}
    for line in CASES.strip().splitlines():
        name, requests = line.split(": ", 1)
        found[name] = [request.split() for request in requests.split(" ; ")]
    return found


def tagged(argv, tag):
    """The request with its keys under the tag."""
    return [re.sub(r"^k(?=$|:)", "{%s}k" % tag, part) for part in argv]


def comparable(name, value):
    """What two servers' replies must have in common."""
    return sorted(map(str, value)) if name in UNORDERED and isinstance(value, list) else value
