# What is propagated for each command: commands that make the same change again.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl

server_start {appendonly yes appendfsync no}

# The requests, made in this order on one connection → the commands that stand in the file.
foreach {name requests expected} {
    "SET is propagated unchanged"
    {{SET a 1} {SET a 2 KEEPTTL} {SET b 1 NX} {SET b 2 XX}}
    {{SET a 1} {SET a 2 KEEPTTL} {SET b 1 NX} {SET b 2 XX}}

    "SET with an expiry is propagated with the time at which it ends"
    {{SET a 1 EX 100} {SET a 1 PX 100000 NX} {SET a 1 XX PX 100000} {SET a 1 EXAT 99999999999}
     {SET a 1 PXAT 99999999999999}}
    {{SET a 1 PXAT TIME} {SET a 1 PXAT TIME} {SET a 1 PXAT 99999999999000} {SET a 1 PXAT 99999999999999}}

    "SET with GET is propagated without it"
    {{SET a 1 GET} {SET a 2 get XX} {SET a 3 KEEPTTL GET} {SET a 4 GET EX 100}}
    {{SET a 1} {SET a 2 XX} {SET a 3 KEEPTTL} {SET a 4 PXAT TIME}}

    "SET that does nothing is not propagated"
    {{SET a 1} {SET a 2 NX} {SET b 2 XX} {SETNX a 2} {MSETNX b 1 a 1}}
    {{SET a 1}}

    "SET with a condition is propagated without it, and only when it was met"
    {{SET a 1} {SET a 2 IFEQ 1} {SET a 3 IFEQ 1} {SET a 4 IFNE 1 GET KEEPTTL} {SET a 5 IFEQ 4 PX 100000}
     {SET a get IFDNE 0000000000000000 GET} {SET b ifeq IFNE x}}
    {{SET a 1} {SET a 2} {SET a 4 KEEPTTL} {SET a 5 PXAT TIME} {SET a get} {SET b ifeq}}

    "MSETEX is propagated as MSET, or as SETs with the expiry"
    {{MSETEX 2 a 1 b 2} {MSETEX 2 a 1 c 2 NX} {MSETEX 2 a 3 b 4 XX EX 100} {MSETEX 1 a 5 PXAT 99999999999999}
     {MSETEX 2 a 6 c 7 KEEPTTL} {MSETEX 2 a 6 a 7}}
    {{MSET a 1 b 2} MULTI {SET a 3 PXAT TIME} {SET b 4 PXAT TIME} EXEC {SET a 5 PXAT 99999999999999}
     MULTI {SET a 6 KEEPTTL} {SET c 7 KEEPTTL} EXEC {MSET a 6 a 7}}

    "DELEX and DELIFEQ are propagated as DEL"
    {{MSET a 1 b 2 c 3} {DELEX a IFEQ 2} {DELEX a IFEQ 1} {DELEX b} {DELEX b} {DELIFEQ c 2} {DELIFEQ c 3}}
    {{MSET a 1 b 2 c 3} {DEL a} {DEL b} {DEL c}}

    "INCREX is propagated as the SET or DEL that it comes down to"
    {{INCREX a} {INCREX a UBOUND 1} {INCREX a UBOUND 1 SATURATE} {INCREX a EX 100 ENX} {INCREX a EX 900 ENX}
     {INCREX a PERSIST} {INCREX a BYFLOAT 0.5} {INCREX b BYINT 5 PXAT 99999999999999} {INCREX a BYFLOAT 1 EXAT 1}
     {INCREX b PXAT 1 ENX}}
    {{SET a 1 KEEPTTL} {SET a 1 KEEPTTL} {SET a 2 PXAT TIME} {SET a 3 KEEPTTL} {SET a 4} {SET a 4.5 KEEPTTL}
     {SET b 5 PXAT 99999999999999} {DEL a} {SET b 6 KEEPTTL}}

    "MOVE with REPLACE is propagated as COPY and DEL where it replaces a key"
    {{SET a 1} {MOVE a 3 REPLACE} {SET a 2} {MOVE a 3 REPLACE}}
    {{SET a 1} {MOVE a 3} {SET a 2} MULTI {COPY a a DB 3 REPLACE} {DEL a} EXEC}

    "SETEX, PSETEX, GETSET, SETNX"
    {{SETEX a 100 v} {PSETEX a 100000 v} {GETSET a 2} {SETNX b 1}}
    {{SET a v PXAT TIME} {SET a v PXAT TIME} {SET a 2} {SETNX b 1}}

    "GETEX is propagated as the expiry that it sets or removes"
    {{SET a 1} {GETEX a} {GETEX a EX 100} {GETEX a PX 100000} {GETEX a EXAT 99999999999} {GETEX a PERSIST}
     {GETEX a PERSIST}}
    {{SET a 1} {PEXPIREAT a TIME} {PEXPIREAT a TIME} {PEXPIREAT a 99999999999000} {PERSIST a}}

    "GETEX with a time that has passed, and GETDEL, are propagated as DEL"
    {{MSET a 1 b 2} {GETEX a PXAT 1} {GETDEL a} {GETDEL b}}
    {{MSET a 1 b 2} {DEL a} {DEL b}}

    "INCRBYFLOAT is propagated as its result"
    {{SET a 1 EX 100} {INCRBYFLOAT a 1.5} {INCRBYFLOAT a 3.0e3}}
    {{SET a 1 PXAT TIME} {SET a 2.5 KEEPTTL} {SET a 3002.5 KEEPTTL}}

    "counters and parts of strings"
    {{INCR a} {DECR a} {INCRBY a 5} {DECRBY a 2} {APPEND a 1} {SETRANGE a 1 9} {SETRANGE a 1 ""}
     {SETBIT a 3 0} {SETBIT a 3 0} {MSET b 1 c 2}}
    {{INCR a} {DECR a} {INCRBY a 5} {DECRBY a 2} {APPEND a 1} {SETRANGE a 1 9} {SETBIT a 3 0} {MSET b 1 c 2}}

    "PFADD and PFMERGE are propagated as they came, and PFCOUNT where it stores the count"
    {{PFADD a} {PFADD a} {PFADD a 1} {PFADD a 1} {PFCOUNT a} {PFCOUNT a} {PFADD b 2} {PFCOUNT a b} {PFCOUNT none}
     {PFMERGE d a b} {PFMERGE d none} {PFCOUNT d none} {pfcount d} {PFDEBUG ENCODING d} {PFDEBUG TODENSE d}
     {PFDEBUG TODENSE d} {PFDEBUG GETREG a} {PFDEBUG GETREG a} {PFDEBUG SIMD ON}}
    {{PFADD a} {PFADD a 1} {PFCOUNT a} {PFADD b 2} {PFMERGE d a b} {PFMERGE d none} {pfcount d} {PFDEBUG TODENSE d}
     {PFDEBUG GETREG a}}

    "members of sets are propagated as what was added and removed"
    {{SADD a 1 2 3} {SADD a 1} {SREM a 9} {SREM a 1 9} {SMOVE a b 2} {SMOVE a b 2} {SPOP a} {SADD c 5 6} {SPOP c 5}
     {SRANDMEMBER b} {SINTERSTORE d b b} {SUNIONSTORE d none}}
    {{SADD a 1 2 3} {SREM a 1 9} {SMOVE a b 2} {SREM a 3} {SADD c 5 6} {DEL c} {SINTERSTORE d b b}
     {SUNIONSTORE d none}}

    "fields of hashes are propagated as what was set and deleted"
    {{HSET a f 1 g 2} {HMSET a h 3} {HSETNX a f 9} {HSETNX a i 4} {HDEL a i j} {HDEL a i} {HINCRBY a f 5}
     {HINCRBYFLOAT a f 1.5} {HRANDFIELD a} {HGETDEL a FIELDS 2 h none}}
    {{HSET a f 1 g 2} {HMSET a h 3} {HSETNX a i 4} {HDEL a i j} {HINCRBY a f 5} {HSET a f 7.5} {HDEL a h}}

    "expiries of fields are propagated as a time, and expired fields as HDEL"
    {{HSET a f 1 g 2 h 3} {HPEXPIREAT a 4102444800123 NX FIELDS 2 f none} {HPEXPIREAT a 4102444800123 NX FIELDS 1 f}
     {HINCRBYFLOAT a f 1} {HGETEX a EXAT 4102444800 FIELDS 1 g} {HGETEX a PERSIST FIELDS 2 g h} {HGETEX a FIELDS 1 f}
     {HPERSIST a FIELDS 1 f} {HEXPIRE a 0 FIELDS 1 f} {HGETEX a EX 0 FIELDS 1 g} {HSETEX a KEEPTTL FIELDS 1 h 4}
     {HSETEX a FXX FIELDS 1 none 4}}
    {{HSET a f 1 g 2 h 3} {HPEXPIREAT a 4102444800123 FIELDS 1 f} {HSETEX a KEEPTTL FIELDS 1 f 2}
     {HPEXPIREAT a 4102444800000 FIELDS 1 g} {HPERSIST a FIELDS 1 g} {HPERSIST a FIELDS 1 f} {HDEL a f} {HDEL a g}
     {HSETEX a KEEPTTL FIELDS 1 h 4}}

    "bits"
    {{SET a 5} {BITOP NOT x a} {BITOP AND x none} {BITOP AND x none} {BITFIELD a INCRBY u8 0 1}
     {BITFIELD a GET u8 0} {BITFIELD a SET u8 0 5 GET u8 0} {BITFIELD a SET u8 0 5}}
    {{SET a 5} {BITOP NOT x a} {BITOP AND x none} {BITFIELD a INCRBY u8 0 1} {BITFIELD a SET u8 0 5 GET u8 0}}

    "BITFIELD that makes a string longer, although no operation fits"
    {{SET a 5} {BITFIELD a OVERFLOW FAIL INCRBY u8 8 300} {BITFIELD a OVERFLOW FAIL INCRBY u8 8 300}
     {BITFIELD b OVERFLOW FAIL SET u8 0 300}}
    {{SET a 5} {BITFIELD a OVERFLOW FAIL INCRBY u8 8 300} {BITFIELD b OVERFLOW FAIL SET u8 0 300}}

    "expiries are propagated as PEXPIREAT"
    {{SET a 1} {EXPIRE a 100} {PEXPIRE a 100000} {EXPIREAT a 99999999999} {PEXPIREAT a 99999999999999}
     {EXPIRE a 100 GT} {EXPIRE a 100 xx lt} {EXPIRE a 100 NX} {PERSIST a} {PERSIST a}}
    {{SET a 1} {PEXPIREAT a TIME} {PEXPIREAT a TIME} {PEXPIREAT a 99999999999000}
     {PEXPIREAT a 99999999999999} {PEXPIREAT a TIME xx lt} {PERSIST a}}

    "expiries that have passed are propagated as DEL"
    {{MSET a 1 b 1} {EXPIRE a -1} {PEXPIREAT b 1} {EXPIRE none 10}}
    {{MSET a 1 b 1} {DEL a} {DEL b}}

    "pushes and pops"
    {{RPUSH l a b c d e f} {LPUSH l z} {LPUSHX l y} {RPUSHX none y} {LPOP l} {RPOP l} {LPOP l 2} {RPOP l 9}
     {LPOP l} {LPOP l 0}}
    {{RPUSH l a b c d e f} {LPUSH l z} {LPUSHX l y} {LPOP l} {RPOP l} {LPOP l 2} {RPOP l 9}}

    "sorted sets: what changes nothing is not propagated, the rest as it came"
    {{ZADD a 1 x 2 y} {ZADD a 1 x} {ZADD a NX 3 x} {ZADD a XX CH 7 y} {ZADD a INCR 2 x} {ZADD a NX INCR 2 x}
     {ZINCRBY a 1.5 x} {ZINCRBY a 0 x} {ZREM a none} {ZREM a x none} {ZPOPMIN a 0} {ZPOPMAX a 100} {ZPOPMIN a}}
    {{ZADD a 1 x 2 y} {ZADD a XX CH 7 y} {ZADD a INCR 2 x} {ZINCRBY a 1.5 x} {ZREM a x none} {ZPOPMAX a 100}}

    "ZMPOP, BZMPOP, BZPOPMIN and BZPOPMAX are propagated as the pop that they made"
    {{ZADD a 1 u 2 v 3 w 4 x 5 y 6 z} {ZMPOP 2 none a MIN COUNT 2} {ZMPOP 1 a MAX} {BZPOPMIN none a 0} {BZPOPMAX a 0}
     {BZMPOP 0 1 a MIN COUNT 9} {ZMPOP 1 a MIN}}
    {{ZADD a 1 u 2 v 3 w 4 x 5 y 6 z} {ZPOPMIN a 2} {ZPOPMAX a 1} {ZPOPMIN a} {ZPOPMAX a} {ZPOPMIN a 1}}

    "ranges and combinations of sorted sets"
    {{ZADD a 1 u 2 v 3 w 4 x} {ZREMRANGEBYRANK a 0 0} {ZREMRANGEBYRANK a 9 9} {ZREMRANGEBYSCORE a 2 2}
     {ZREMRANGEBYLEX a [w [w} {ZUNIONSTORE c 2 a b} {ZINTERSTORE c 2 a none} {ZINTERSTORE c 2 a none}
     {ZDIFFSTORE c 2 a b} {ZRANGESTORE d a 0 -1} {ZRANGESTORE d a 9 10} {ZRANGESTORE d a 9 10}}
    {{ZADD a 1 u 2 v 3 w 4 x} {ZREMRANGEBYRANK a 0 0} {ZREMRANGEBYSCORE a 2 2} {ZREMRANGEBYLEX a {[w} {[w}}
     {ZUNIONSTORE c 2 a b} {ZINTERSTORE c 2 a none} {ZDIFFSTORE c 2 a b} {ZRANGESTORE d a 0 -1} {ZRANGESTORE d a 9 10}}

    "GEOADD is propagated as ZADD; searches only if they store"
    {{GEOADD a 13.361389 38.115556 x 15.087269 37.502669 y} {GEOADD a 13.361389 38.115556 x} {GEOADD a NX CH 1 2 x}
     {geoadd a XX ch 15.087269 37.502669 x} {GEOADD a NX 1 2 x 180 -85.05112878 z} {GEORADIUS a 13 38 200 km}
     {GEORADIUS a 13 38 200 km STORE b} {GEOSEARCHSTORE c a FROMMEMBER y BYRADIUS 9 m}
     {GEOSEARCHSTORE d a FROMLONLAT 1 2 BYRADIUS 9 m} {GEOSEARCHSTORE c a FROMLONLAT 1 2 BYRADIUS 9 m}}
    {{ZADD a 3479099956230698 x 3479447370796909 y} {ZADD a XX 3479447370796909 x}
     {ZADD a NX 3378080408407459 x 9007199254740992 z}
     {GEORADIUS a 13 38 200 km STORE b} {GEOSEARCHSTORE c a FROMMEMBER y BYRADIUS 9 m}
     {GEOSEARCHSTORE c a FROMLONLAT 1 2 BYRADIUS 9 m}}

    "LMPOP and BLMPOP are propagated as the pop that they made"
    {{RPUSH l a b c d e f} {LMPOP 2 none l LEFT} {LMPOP 2 none l RIGHT COUNT 2}
     {BLMPOP 0 2 none l LEFT COUNT 2} {BLMPOP 0 1 l RIGHT COUNT 10} {LMPOP 1 l LEFT}}
    {{RPUSH l a b c d e f} {LPOP l 1} {RPOP l 2} {LPOP l 2} {RPOP l 1}}

    "commands that need not block are propagated as their variants that do not"
    {{RPUSH l a b c d e} {BLPOP l 0} {BRPOP none l 0} {BLMOVE l m LEFT RIGHT 0} {BRPOPLPUSH l m 0}
     {blmove l m right left 0}}
    {{RPUSH l a b c d e} {LPOP l} {RPOP l} {LMOVE l m LEFT RIGHT} {RPOPLPUSH l m} {LMOVE l m right left}}

    "LMOVE and RPOPLPUSH"
    {{RPUSH l a b c} {LMOVE l m LEFT RIGHT} {LMOVE l l LEFT RIGHT} {RPOPLPUSH l l} {RPOPLPUSH none l}}
    {{RPUSH l a b c} {LMOVE l m LEFT RIGHT} {LMOVE l l LEFT RIGHT} {RPOPLPUSH l l}}

    "changes inside a list, if they are any"
    {{RPUSH l a b c} {LSET l 0 q} {LINSERT l BEFORE q p} {LINSERT l BEFORE none p} {LREM l 0 p} {LREM l 0 p}
     {LTRIM l 0 1} {LTRIM l 0 1} {LTRIM l 5 1} {LTRIM l 5 1}}
    {{RPUSH l a b c} {LSET l 0 q} {LINSERT l BEFORE q p} {LREM l 0 p} {LTRIM l 0 1} {LTRIM l 5 1}}

    "SORT only when it stores"
    {{RPUSH l 3 1 2} {SORT l} {SORT l STORE s} {SORT l DESC LIMIT 0 2 STORE s} {SORT none STORE s}
     {SORT none STORE s}}
    {{RPUSH l 3 1 2} {SORT l STORE s} {SORT l DESC LIMIT 0 2 STORE s} {SORT none STORE s}}

    "keys that move"
    {{RPUSH l 1} {COPY l m} {COPY l m} {COPY l m REPLACE} {COPY l m DB 3} {MOVE l 5} {MOVE l 5} {RENAME m n}
     {RENAME n n} {RENAMENX n o} {SET p 1} {RENAMENX o p} {TOUCH o}}
    {{RPUSH l 1} {COPY l m} {COPY l m REPLACE} {COPY l m DB 3} {MOVE l 5} {RENAME m n} {RENAMENX n o}
     {SET p 1}}

    "keys that are deleted"
    {{MSET a 1 b 2 c 3} {DEL a none b} {DEL a} {UNLINK c none} {UNLINK c}}
    {{MSET a 1 b 2 c 3} {DEL a none b} {UNLINK c none}}

    "SELECT is propagated when the database differs"
    {{SET a 1} {SELECT 2} {GET a} {SET b 1} {SET b 2} {SELECT 0} {SET c 1}}
    {{SET a 1} {SELECT 2} {SET b 1} {SET b 2} {SELECT 0} {SET c 1}}

    "whole databases"
    {{SET a 1} {SWAPDB 0 2} {SWAPDB 1 1} {SELECT 2} {FLUSHDB} {FLUSHDB} {SET a 1} {FLUSHDB ASYNC} {FLUSHALL}
     {FLUSHALL SYNC}}
    {{SET a 1} {SWAPDB 0 2} {SWAPDB 1 1} {SELECT 2} FLUSHDB FLUSHDB {SET a 1} {FLUSHDB ASYNC} FLUSHALL
     {FLUSHALL SYNC}}

    "a flush of an empty database, because replicas may have other keys"
    {FLUSHDB {FLUSHDB SYNC} {FLUSHALL ASYNC} {EVAL "return redis.call('FLUSHDB')" 0} {SELECT 3} {FLUSHDB ASYNC}
     {SELECT 0} MULTI FLUSHDB {SET a 1} FLUSHDB EXEC}
    {FLUSHDB {FLUSHDB SYNC} {FLUSHALL ASYNC} FLUSHDB {SELECT 3} {FLUSHDB ASYNC} MULTI {SELECT 0} FLUSHDB {SET a 1}
     FLUSHDB EXEC}

    "a transaction is propagated as one unit of its changes"
    {MULTI {SET q 1} {GET q} {INCR q} EXEC}
    {MULTI {SET q 1} {INCR q} EXEC}

    "a transaction that changes one thing needs no MULTI, and one that changes nothing is not propagated"
    {MULTI {SET q 1} {GET q} EXEC MULTI {GET q} EXEC MULTI EXEC MULTI {SET q 2} DISCARD}
    {{SET q 1}}

    "a transaction in several databases"
    {{SET a 1} MULTI {SET q 2} {SELECT 3} {SET w 2} EXEC {SELECT 0} {SET a 2}}
    {{SET a 1} MULTI {SET q 2} {SELECT 3} {SET w 2} EXEC {SELECT 0} {SET a 2}}

    "commands that may wait do not in a transaction"
    {MULTI {BLPOP l 0} {RPUSH l 1} {BLPOP l 0} EXEC}
    {MULTI {RPUSH l 1} {LPOP l} EXEC}
} {
    check $name [list propagated $requests] [list {*}$expected]
}

check "RESTORE is propagated with the time at which the key ends" {
    r SET a 1
    set payload [r DUMP a]
    set propagated [propagated_by {
        r RESTORE b 0 $payload
        r RESTORE b 100000 $payload REPLACE
        r RESTORE b 99999999999999 $payload REPLACE ABSTTL
        r RESTORE b 1 $payload REPLACE ABSTTL
        r RESTORE b 1 $payload ABSTTL
    }]
    string map [list $payload PAYLOAD] $propagated
} {{RESTORE b 0 {PAYLOAD}} {RESTORE b TIME {PAYLOAD} REPLACE ABSTTL}\
    {RESTORE b 99999999999999 {PAYLOAD} REPLACE ABSTTL}\
    {DEL b}}

check "MIGRATE is propagated as the deletion of its keys" {
    set target [server new {}]
    try {
        r MSET a 1 b 2 c 3 d 4
        propagated_by {
            r MIGRATE 127.0.0.1 [$target port] a 0 5000
            r MIGRATE 127.0.0.1 [$target port] "" 0 5000 KEYS b none c
            r MIGRATE 127.0.0.1 [$target port] "" 0 5000 COPY KEYS d
            r MIGRATE 127.0.0.1 [$target port] none 0 5000
        }
    } finally {
        $target destroy
    }
} {{DEL a} {DEL b c}}

check "commands that fail are not propagated" {
    propagated_by {
        r SET a text
        foreach request {{LPUSH a 1} {INCR a} {LSET none 0 1} {BLPOP a 0} {LMOVE a b LEFT LEFT} {COPY a a}} {
            error_of {r {*}$request}
        }
    }
} {{SET a text}}

check "commands that change no data are not propagated" {
    propagated_by {
        r PUBLISH channel text
        r CONFIG SET hz 10
        r KEYS *
        r LRANGE none 0 -1
        r DEBUG SLEEP 0
    }
} {}

check "a blocked command is propagated after the one that served it, as its variant that does not block" {
    set client [client_blocked BLPOP l 0]
    propagated_by {
        r RPUSH l x y
        $client read
    }
} {{RPUSH l x y} {LPOP l}}

check "several blocked commands are propagated in their order, each in a unit of its own" {
    set first [client_blocked BLPOP l 0]
    set second [client_blocked BRPOP l 0]
    set third [client_blocked BLMPOP 0 2 none l LEFT COUNT 2]
    propagated_by {
        r RPUSH l 1 2 3 4 5
        $third read
    }
} {{RPUSH l 1 2 3 4 5} {LPOP l} {RPOP l} {LPOP l 2}}

check "a command blocked on a list that another one moves is propagated after that one" {
    set first [client_blocked BLMOVE l m LEFT RIGHT 0]
    set second [client_blocked BRPOPLPUSH m n 0]
    propagated_by {
        r RPUSH l x y
        $second read
    }
} {{RPUSH l x y} {LMOVE l m LEFT RIGHT} {RPOPLPUSH m n}}

check "a command that a transaction served is propagated after it" {
    set client [client_blocked BLPOP l 0]
    propagated_by {
        foreach request {MULTI {RPUSH l x y} {SET a 1} EXEC} {r {*}$request}
        $client read
    }
} {MULTI {RPUSH l x y} {SET a 1} EXEC {LPOP l}}

check "a key that expired during a transaction is propagated as deleted, not as popped by the blocked client" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    set client [client_blocked BLMOVE l m LEFT LEFT 0]
    try {
        propagated_by {
            foreach request {MULTI {RPUSH l x} {PEXPIRE l 20} {DEBUG SLEEP 0.05} EXEC} {r {*}$request}
            r RPUSH l y
            $client read
        }
    } finally {
        r DEBUG SET-ACTIVE-EXPIRE 1
    }
} {MULTI {RPUSH l x} {PEXPIREAT l TIME} EXEC {DEL l} {RPUSH l y} {LMOVE l m LEFT LEFT}}

check "a blocked command of another database is propagated with its SELECT" {
    set client [client_open]
    $client call SELECT 3
    $client send BLPOP l 0
    wait_blocked 1
    propagated_by {
        r RPUSH l 1
        r MOVE l 3
        $client read
        r SET a 1
    }
} {{RPUSH l 1} {MOVE l 3} {SELECT 3} {LPOP l} {SELECT 0} {SET a 1}}

check "an expired key is propagated as deleted, in one unit with the command that found it" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    r SET q 1 PX 1
    after 5
    try {
        propagated {{LPUSH q 2}}
    } finally {
        r DEBUG SET-ACTIVE-EXPIRE 1
    }
} {MULTI {DEL q} {LPUSH q 2} EXEC}

check "expired keys that a command found are propagated even if it changes nothing" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    r SET a 1 PX 1
    r SET b 1 PX 1
    after 5
    try {
        propagated {{GET a} {MGET a b}}
    } finally {
        r DEBUG SET-ACTIVE-EXPIRE 1
    }
} {{DEL a} {DEL b}}

# The body runs with keys a, b and c that have expired and that nobody has looked for.
proc with_expired_keys {body} {
    r DEBUG SET-ACTIVE-EXPIRE 0
    try {
        foreach key {a b c} {
            r SET $key 1 PX 1
        }
        after 5
        uplevel 1 $body
    } finally {
        r DEBUG SET-ACTIVE-EXPIRE 1
    }
}
foreach request {{MGET a b c} {EXISTS a b c} {SCAN 0 COUNT 1000} {SINTER a b c} {ZUNION 3 a b c}} {
    check "expired keys that $request found are no unit" {
        with_expired_keys {
            lsort [propagated [list $request]]
        }
    } {{DEL a} {DEL b} {DEL c}}
}
check "expired keys that a transaction or a script found are one unit" {
    concat [with_expired_keys {propagated {MULTI {MGET a b c} EXEC}}] \
        [with_expired_keys {propagated {{EVAL {return redis.call('MGET', 'a', 'b', 'c')} 0}}}]
} {MULTI {DEL a} {DEL b} {DEL c} EXEC MULTI {DEL a} {DEL b} {DEL c} EXEC}
check "expired keys that no command found are propagated one by one" {
    propagated_by {
        # The server reads both requests in one iteration of its loop.
        set client [default_client]
        at_once {
            $client send SET a 1 PX 1
            $client send SET b 1 PX 1
        }
        assert_equal [list [$client read] [$client read]] {OK OK}
        wait_until {[r DBSIZE] == 0}
    }
} {{SET a 1 PXAT TIME} {SET b 1 PXAT TIME} {DEL [ab]} {DEL [ab]}} -match glob

check "with lazyfree-lazy-expire, expired keys are propagated as UNLINK" {
    with_config {lazyfree-lazy-expire yes} {
        propagated_by {
            r SET a 1 PX 1
            wait_until {[r DBSIZE] == 0}
        }
    }
} {{SET a 1 PXAT TIME} {UNLINK a}}

# What is propagated where a command deletes the key.
set deletions {{EXPIRE a -1} {PEXPIREAT b 1} {GETEX c PXAT 1} {SPOP s 9} {SPOP t 1} {GETDEL d} {DEL e} {UNLINK f}}
foreach {directive expected} {
    lazyfree-lazy-expire {UNLINK UNLINK UNLINK DEL DEL DEL DEL UNLINK DEL}
    lazyfree-lazy-server-del {DEL DEL DEL UNLINK UNLINK DEL DEL UNLINK UNLINK}
    lazyfree-lazy-user-del {DEL DEL DEL DEL DEL DEL DEL UNLINK DEL}
    lazyfree-lazy-eviction {DEL DEL DEL DEL DEL DEL DEL UNLINK DEL}
} {
    check "with $directive, the deletions that it governs are propagated as UNLINK" {
        r MSET a 1 b 1 c 1 d 1 e 1 f 1 g 1
        r SADD s x y
        r SADD t x
        set payload [r DUMP g]
        with_config [list $directive yes] {
            lmap command [propagated [list {*}$deletions [list RESTORE g 1 $payload REPLACE ABSTTL]]] {
                assert_equal [llength $command] 2
                lindex $command 0
            }
        }
    } $expected
}

check "SPOP of many members is propagated as a few SREMs" {
    set members {}
    for {set i 0} {$i < 4000} {incr i} {
        lappend members m$i
    }
    r SADD s {*}$members
    set commands [propagated {{SPOP s 3000}}]
    assert_equal [list [lindex $commands 0] [lindex $commands end]] {MULTI EXEC}
    lmap command [lrange $commands 1 end-1] {list {*}[lrange $command 0 1] [llength [lrange $command 2 end]]}
} {{SREM s 1024} {SREM s 1024} {SREM s 952}}
check "SPOP of large members is propagated as more SREMs" {
    r SADD s 1[string repeat x 700000] 2[string repeat x 700000] 3[string repeat x 700000] 4 5
    r SREM s 4 5
    r SADD s 4[string repeat x 700000]
    set commands [propagated {{SPOP s 3}}]
    lmap command $commands {llength $command}
} {1 4 3 1}

check "evicted keys are propagated before the command that needs their memory" {
    r SET a [string repeat x 100000] EX 1000
    with_config {maxmemory-policy volatile-random} {
        r CONFIG SET maxmemory [expr {[info_field used_memory] - [info_field mem_not_counted_for_evict] + 20000}]
        try {
            lmap command [propagated {{SETRANGE b 60000 x} {SETRANGE c 60000 x}}] {lrange $command 0 1}
        } finally {
            r CONFIG SET maxmemory 0
        }
    }
} {*{DEL a}*{SETRANGE c}} -match glob

check "a transaction is propagated with the key that expired inside it" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    r SET q 1 PX 1
    after 5
    try {
        propagated {MULTI {LPUSH q 2} {RENAME q q2} EXEC}
    } finally {
        r DEBUG SET-ACTIVE-EXPIRE 1
    }
} {MULTI {DEL q} {LPUSH q 2} {RENAME q q2} EXEC}

check "a large command before others of its transaction is propagated completely" {
    set text [string repeat "ab\r\n" 100000]
    set commands [propagated_by {
        r MULTI
        r SET a $text
        r SET b 1
        r EXEC
    }]
    assert_equal [lindex $commands 1 2] $text
    lmap command $commands {lindex $command 0}
} {MULTI SET SET EXEC}

check "times are noted once a second with aof-timestamp-enabled" {
    with_config {aof-timestamp-enabled yes} {
        set commands [propagated_by {
            r SET a 1
            r SET a 2
            after 1100
            r SET a 3
        }]
        list [lsearch -all -inline -not -exact $commands TS] [lindex $commands end-1] \
            [expr {[llength [lsearch -all -exact $commands TS]] <= 3}]
    }
} {{{SET a 1} {SET a 2} {SET a 3}} TS 1}

# The result of the body, which is run in one second of the clock: again, when it did not end in that in which it began.
proc within_second {body} {
    while {1} {
        after [expr {1020 - [clock milliseconds] % 1000}]
        set second [clock seconds]
        set result [uplevel 1 $body]
        if {[clock seconds] == $second} {
            return $result
        }
    }
}

check "aof-timestamp-enabled turned on and off within a second: one time, before the next command" {
    within_second {
        set commands [propagated_by {
            foreach request {{SET a 1} {CONFIG SET aof-timestamp-enabled yes} {SET a 2} {SET a 3}
                             {CONFIG SET aof-timestamp-enabled no} {SET a 4} {CONFIG SET aof-timestamp-enabled yes}
                             {SET a 5}} {
                r {*}$request
            }
        }]
        r CONFIG SET aof-timestamp-enabled no
        set commands
    }
} {{SET a 1} TS {SET a 2} {SET a 3} {SET a 4} {SET a 5}}

check "times are noted within requests that come at once, where their second begins" {
    with_config {aof-timestamp-enabled yes} {
        set c [client_open]
        $c call SET a 0
        propagated_by {
            $c pipeline {{DEBUG SLEEP 1.1} {SET a 1} {DEBUG SLEEP 1.1} {SET a 2}}
        }
    }
} {TS {SET a 1} TS {SET a 2}}

check "a time precedes SELECT and MULTI" {
    with_config {aof-timestamp-enabled yes} {
        r SET a 1
        set commands [within_second {
            r SELECT 0
            set second [clock seconds]
            set before [string length [aof_bytes]]
            propagated_by {
                foreach request {{SELECT 2} MULTI {SET a 1} {SELECT 3} {SET b 1} EXEC {SET b 2}} {
                    r {*}$request
                }
            }
        }]
    }
    assert {[regexp {\A#TS:(\d+)\r\n} [string range [aof_bytes] $before end] _ noted]}
    assert_equal $noted $second
    set commands
} {TS MULTI {SELECT 2} {SET a 1} {SELECT 3} {SET b 1} EXEC {SET b 2}}

finish
