# Scripts: what they return to the client, what commands give to them, and how they pass arguments. The replies
# expected are those of Redis 8.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/scripts.tcl

server_start

# --- What a script returns

check "return 1" {typed EVAL {return 1} 0} {int 1}
check "return 3.7" {typed EVAL {return 3.7} 0} {int 3}
check "return -1.99" {typed EVAL {return -1.99} 0} {int -1}
check "return 1e300" {typed EVAL {return 1e300} 0} {int -9223372036854775808}
check "return -1e300" {typed EVAL {return -1e300} 0} {int -9223372036854775808}
check "return 0/0" {typed EVAL {return 0/0} 0} {int -9223372036854775808}
check "return 9007199254740993" {typed EVAL {return 9007199254740993} 0} {int 9007199254740992}
check "return 'text'" {typed EVAL {return 'text'} 0} {bulk text}
check "return ''" {typed EVAL {return ''} 0} {bulk {}}
check "return true" {typed EVAL {return true} 0} {int 1}
check_in 2 "return false" {typed EVAL {return false} 0} nil
check_in 3 "return false" {typed EVAL {return false} 0} null
check_in 2 "return nil" {typed EVAL {return nil} 0} nil
check_in 3 "return nil" {typed EVAL {return nil} 0} null
check_in 2 "return" {typed EVAL {return} 0} nil
check_in 3 "return" {typed EVAL {return} 0} null
check_in 2 "local a = 1" {typed EVAL {local a = 1} 0} nil
check_in 3 "local a = 1" {typed EVAL {local a = 1} 0} null
check "return 1, 2" {typed EVAL {return 1, 2} 0} {int 1}
check "return " {typed EVAL {return {}} 0} {array {}}
check "return 1, 2, nil, 3" {typed EVAL {return {1, 2, nil, 3}} 0} {array {{int 1} {int 2}}}
check "constructors of any length, with constants that are no names" {
    foreach items {25500 25549 25550 25551 25599 25600 25850 25900 26000 40000} {
        foreach item {0 1e300 'x'} {
            set script "local t = {[string repeat "$item," $items]} return #t + #tostring(string.len('abc'))"
            assert_equal [r EVAL $script 0] [expr {$items + 1}]
        }
    }
}
check_in 2 "return 1.99, '1.5', true, false, 2, 3" {
    typed EVAL {return {1.99, '1.5', true, false, {2, {3}}}} 0
} {array {{int 1} {bulk 1.5} {int 1} nil {array {{int 2} {array {{int 3}}}}}}}
check_in 3 "return 1.99, '1.5', true, false, 2, 3" {
    typed EVAL {return {1.99, '1.5', true, false, {2, {3}}}} 0
} {array {{int 1} {bulk 1.5} {int 1} null {array {{int 2} {array {{int 3}}}}}}}
check "return 1, 2, x = 3" {typed EVAL {return {1, 2, x = 3}} 0} {array {{int 1} {int 2}}}
check_in 2 "return tostring" {typed EVAL {return tostring} 0} nil
check_in 3 "return tostring" {typed EVAL {return tostring} 0} null
check_in 2 "return tostring, 1" {typed EVAL {return {tostring, 1}} 0} {array {nil {int 1}}}
check_in 3 "return tostring, 1" {typed EVAL {return {tostring, 1}} 0} {array {null {int 1}}}
check_in 2 "return coroutine.create(function() end)" {typed EVAL {return coroutine.create(function() end)} 0} nil
check_in 3 "return coroutine.create(function() end)" {typed EVAL {return coroutine.create(function() end)} 0} null
check "return setmetatable(, __index = function() return 'meta' end)" {
    typed EVAL {return setmetatable({}, {__index = function() return 'meta' end})} 0
} {array {}}
check "return ok = 'fine'" {typed EVAL {return {ok = 'fine'}} 0} {simple fine}
check "return ok = 'arnb'" {typed EVAL {return {ok = 'a\r\nb'}} 0} {simple {a  b}}
check "return ok = 5" {typed EVAL {return {ok = 5}} 0} {array {}}
check "return err = 'MY fault'" {typed EVAL {return {err = 'MY fault'}} 0} {error {MY fault}}
check "return err = 'arn-b'" {typed EVAL {return {err = 'a\r\n-b'}} 0} {error {a  -b}}
check "return err = 5" {typed EVAL {return {err = 5}} 0} {array {}}
check "return ok = 'x', err = 'y'" {typed EVAL {return {{ok = 'x'}, {err = 'y'}}} 0} {array {{simple x} {error y}}}
check_in 2 "return double = 3.5" {typed EVAL {return {double = 3.5}} 0} {bulk 3.5}
check_in 3 "return double = 3.5" {typed EVAL {return {double = 3.5}} 0} {double 3.5}
check_in 2 "return double = 3" {typed EVAL {return {double = 3}} 0} {bulk 3}
check_in 3 "return double = 3" {typed EVAL {return {double = 3}} 0} {double 3}
check_in 2 "return double = 1e20" {typed EVAL {return {double = 1e20}} 0} {bulk 1e+20}
check_in 3 "return double = 1e20" {typed EVAL {return {double = 1e20}} 0} {double 1e+20}
check_in 2 "return double = 1/0" {typed EVAL {return {double = 1/0}} 0} {bulk inf}
check_in 3 "return double = 1/0" {typed EVAL {return {double = 1/0}} 0} {double inf}
check "return double = 'x'" {typed EVAL {return {double = 'x'}} 0} {array {}}
check_in 2 "return map = a = 1" {typed EVAL {return {map = {a = 1}}} 0} {array {{bulk a} {int 1}}}
check_in 3 "return map = a = 1" {typed EVAL {return {map = {a = 1}}} 0} {map {{bulk a} {int 1}}}
check_in 2 "return map = " {typed EVAL {return {map = {}}} 0} {array {}}
check_in 3 "return map = " {typed EVAL {return {map = {}}} 0} {map {}}
check_in 2 "return map = a = set = x = true" {
    typed EVAL {return {map = {a = {set = {x = true}}}}} 0
} {array {{bulk a} {array {{bulk x}}}}}
check_in 3 "return map = a = set = x = true" {
    typed EVAL {return {map = {a = {set = {x = true}}}}} 0
} {map {{bulk a} {set {{bulk x}}}}}
check_in 2 "return map = 1 = false" {typed EVAL {return {map = {[1] = false}}} 0} {array {{int 1} nil}}
check_in 3 "return map = 1 = false" {typed EVAL {return {map = {[1] = false}}} 0} {map {{int 1} null}}
check "return map = 5" {typed EVAL {return {map = 5}} 0} {array {}}
check_in 2 "return set = a = true" {typed EVAL {return {set = {a = true}}} 0} {array {{bulk a}}}
check_in 3 "return set = a = true" {typed EVAL {return {set = {a = true}}} 0} {set {{bulk a}}}
check_in 2 "return set = " {typed EVAL {return {set = {}}} 0} {array {}}
check_in 3 "return set = " {typed EVAL {return {set = {}}} 0} {set {}}
check_in 2 "return big_number = '123456789012345678901234567890'" {
    typed EVAL {return {big_number = '123456789012345678901234567890'}} 0
} {bulk 123456789012345678901234567890}
check_in 3 "return big_number = '123456789012345678901234567890'" {
    typed EVAL {return {big_number = '123456789012345678901234567890'}} 0
} {bignum 123456789012345678901234567890}
check_in 2 "return big_number = '1rn2'" {typed EVAL {return {big_number = '1\r\n2'}} 0} {bulk {1  2}}
check_in 3 "return big_number = '1rn2'" {typed EVAL {return {big_number = '1\r\n2'}} 0} {bignum {1  2}}
check "return big_number = 12" {typed EVAL {return {big_number = 12}} 0} {array {}}
check_in 2 "return verbatim_string = format = 'txt', string = 'abc'" {
    typed EVAL {return {verbatim_string = {format = 'txt', string = 'abc'}}} 0
} {bulk abc}
check_in 3 "return verbatim_string = format = 'txt', string = 'abc'" {
    typed EVAL {return {verbatim_string = {format = 'txt', string = 'abc'}}} 0
} {verbatim {txt abc}}
check_in 2 "return verbatim_string = format = 'text', string = 'abc'" {
    typed EVAL {return {verbatim_string = {format = 'text', string = 'abc'}}} 0
} {bulk abc}
check_in 3 "return verbatim_string = format = 'text', string = 'abc'" {
    typed EVAL {return {verbatim_string = {format = 'text', string = 'abc'}}} 0
} {verbatim {tex abc}}
check_in 2 "return verbatim_string = format = 't', string = 'abc'" {
    typed EVAL {return {verbatim_string = {format = 't', string = 'abc'}}} 0
} {bulk abc}
check_in 3 "return verbatim_string = format = 't', string = 'abc'" {
    typed EVAL {return {verbatim_string = {format = 't', string = 'abc'}}} 0
} {verbatim {{t  } abc}}
check "return verbatim_string = 'x'" {typed EVAL {return {verbatim_string = 'x'}} 0} {array {}}
check_in 2 "redis.setresp(3) return true" {typed EVAL {redis.setresp(3) return true} 0} {int 1}
check_in 3 "redis.setresp(3) return true" {typed EVAL {redis.setresp(3) return true} 0} {bool t}
check_in 2 "redis.setresp(3) return false" {typed EVAL {redis.setresp(3) return false} 0} {int 0}
check_in 3 "redis.setresp(3) return false" {typed EVAL {redis.setresp(3) return false} 0} {bool f}
check_in 2 "redis.setresp(3) return nil" {typed EVAL {redis.setresp(3) return nil} 0} nil
check_in 3 "redis.setresp(3) return nil" {typed EVAL {redis.setresp(3) return nil} 0} null
check_in 2 "redis.setresp(3) return true, false, 'x'" {
    typed EVAL {redis.setresp(3) return {true, false, 'x'}} 0
} {array {{int 1} {int 0} {bulk x}}}
check_in 3 "redis.setresp(3) return true, false, 'x'" {
    typed EVAL {redis.setresp(3) return {true, false, 'x'}} 0
} {array {{bool t} {bool f} {bulk x}}}
check "return KEYS1, ARGV1, #KEYS, #ARGV 1 k a b" {
    typed EVAL {return {KEYS[1], ARGV[1], #KEYS, #ARGV}} 1 k a b
} {array {{bulk k} {bulk a} {int 1} {int 2}}}

# --- What a command gives a script

check "return redis.call('SET', 'k', 'v').ok" {typed EVAL {return redis.call('SET', 'k', 'v').ok} 0} {bulk OK}
check "return redis.call('INCR', 'k') + 1" {typed EVAL {return redis.call('INCR', 'k') + 1} 0} {int 2}
check "return redis.call('GET', 'k') == false" {typed EVAL {return redis.call('GET', 'k') == false} 0} {int 1}
check_in 2 "redis.setresp(3) return redis.call('GET', 'k') == nil" {
    typed EVAL {redis.setresp(3) return redis.call('GET', 'k') == nil} 0
} {int 1}
check_in 3 "redis.setresp(3) return redis.call('GET', 'k') == nil" {
    typed EVAL {redis.setresp(3) return redis.call('GET', 'k') == nil} 0
} {bool t}
check "return type(redis.call('GET', 'k'))" {
    r SET k v; typed EVAL {return type(redis.call('GET', 'k'))} 0
} {bulk string}
check "return redis.call('BLPOP', 'k', 0) == false" {
    typed EVAL {return redis.call('BLPOP', 'k', 0) == false} 0
} {int 1}
check_in 2 "redis.setresp(3) return redis.call('BLPOP', 'k', 0) == nil" {
    typed EVAL {redis.setresp(3) return redis.call('BLPOP', 'k', 0) == nil} 0
} {int 1}
check_in 3 "redis.setresp(3) return redis.call('BLPOP', 'k', 0) == nil" {
    typed EVAL {redis.setresp(3) return redis.call('BLPOP', 'k', 0) == nil} 0
} {bool t}
check_in 2 "return redis.call('BLMOVE', 'k', 'l', 'LEFT', 'LEFT', 0)" {
    typed EVAL {return redis.call('BLMOVE', 'k', 'l', 'LEFT', 'LEFT', 0)} 0
} nil
check_in 3 "return redis.call('BLMOVE', 'k', 'l', 'LEFT', 'LEFT', 0)" {
    typed EVAL {return redis.call('BLMOVE', 'k', 'l', 'LEFT', 'LEFT', 0)} 0
} null
check_in 2 "return redis.call('BZPOPMIN', 'k', 0)" {typed EVAL {return redis.call('BZPOPMIN', 'k', 0)} 0} nil
check_in 3 "return redis.call('BZPOPMIN', 'k', 0)" {typed EVAL {return redis.call('BZPOPMIN', 'k', 0)} 0} null
check "return redis.call('HGETALL', 'h')" {
    r HSET h a 1; typed EVAL {return redis.call('HGETALL', 'h')} 0
} {array {{bulk a} {bulk 1}}}
check_in 2 "redis.setresp(3) return redis.call('HGETALL', 'h')" {
    r HSET h a 1; typed EVAL {redis.setresp(3) return redis.call('HGETALL', 'h')} 0
} {array {{bulk a} {bulk 1}}}
check_in 3 "redis.setresp(3) return redis.call('HGETALL', 'h')" {
    r HSET h a 1; typed EVAL {redis.setresp(3) return redis.call('HGETALL', 'h')} 0
} {map {{bulk a} {bulk 1}}}
check "redis.setresp(3) return redis.call('HGETALL', 'h').map.a" {
    r HSET h a 1; typed EVAL {redis.setresp(3) return redis.call('HGETALL', 'h').map.a} 0
} {bulk 1}
check "return redis.call('HSCAN', 'h', 0)" {
    r HSET h a 1; typed EVAL {return redis.call('HSCAN', 'h', 0)} 0
} {array {{bulk 0} {array {{bulk a} {bulk 1}}}}}
check "return redis.call('ZSCORE', 'z', 'm')" {
    r ZADD z 1.5 m; typed EVAL {return redis.call('ZSCORE', 'z', 'm')} 0
} {bulk 1.5}
check_in 2 "redis.setresp(3) return redis.call('ZSCORE', 'z', 'm')" {
    r ZADD z 1.5 m; typed EVAL {redis.setresp(3) return redis.call('ZSCORE', 'z', 'm')} 0
} {bulk 1.5}
check_in 3 "redis.setresp(3) return redis.call('ZSCORE', 'z', 'm')" {
    r ZADD z 1.5 m; typed EVAL {redis.setresp(3) return redis.call('ZSCORE', 'z', 'm')} 0
} {double 1.5}
check_in 2 "redis.setresp(3) return redis.call('ZSCORE', 'z', 'm').double == 1.5" {
    r ZADD z 1.5 m; typed EVAL {redis.setresp(3) return redis.call('ZSCORE', 'z', 'm').double == 1.5} 0
} {int 1}
check_in 3 "redis.setresp(3) return redis.call('ZSCORE', 'z', 'm').double == 1.5" {
    r ZADD z 1.5 m; typed EVAL {redis.setresp(3) return redis.call('ZSCORE', 'z', 'm').double == 1.5} 0
} {bool t}
check "return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')" {
    r ZADD z 1.5 m; typed EVAL {return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')} 0
} {array {{bulk m} {bulk 1.5}}}
check_in 2 "redis.setresp(3) return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')" {
    r ZADD z 1.5 m; typed EVAL {redis.setresp(3) return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')} 0
} {array {{array {{bulk m} {bulk 1.5}}}}}
check_in 3 "redis.setresp(3) return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')" {
    r ZADD z 1.5 m; typed EVAL {redis.setresp(3) return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')} 0
} {array {{array {{bulk m} {double 1.5}}}}}
check "return redis.call('ZSCAN', 'z', 0)" {
    r ZADD z 1.5 m; typed EVAL {return redis.call('ZSCAN', 'z', 0)} 0
} {array {{bulk 0} {array {{bulk m} {bulk 1.5}}}}}
check_in 2 "redis.setresp(3) return redis.call('SMEMBERS', 's')" {
    r SADD s a; typed EVAL {redis.setresp(3) return redis.call('SMEMBERS', 's')} 0
} {array {{bulk a}}}
check_in 3 "redis.setresp(3) return redis.call('SMEMBERS', 's')" {
    r SADD s a; typed EVAL {redis.setresp(3) return redis.call('SMEMBERS', 's')} 0
} {set {{bulk a}}}
check_in 2 "redis.setresp(3) return redis.call('SINTER', 's', 's').set.a" {
    r SADD s a; typed EVAL {redis.setresp(3) return redis.call('SINTER', 's', 's').set.a} 0
} {int 1}
check_in 3 "redis.setresp(3) return redis.call('SINTER', 's', 's').set.a" {
    r SADD s a; typed EVAL {redis.setresp(3) return redis.call('SINTER', 's', 's').set.a} 0
} {bool t}
check "return redis.call('SINTER', 's', 's')" {
    r SADD s a; typed EVAL {return redis.call('SINTER', 's', 's')} 0
} {array {{bulk a}}}
check "return redis.call('SRANDMEMBER', 's', -3)" {
    r SADD s a; typed EVAL {return redis.call('SRANDMEMBER', 's', -3)} 0
} {array {{bulk a} {bulk a} {bulk a}}}
check "return redis.call('SSCAN', 's', 0)" {
    r SADD s 1 2 3; typed EVAL {return redis.call('SSCAN', 's', 0)} 0
} {array {{bulk 0} {array {{bulk 1} {bulk 2} {bulk 3}}}}}
check "return redis.call('LRANGE', 'l', 0, -1)" {
    r RPUSH l a 2 -70000; typed EVAL {return redis.call('LRANGE', 'l', 0, -1)} 0
} {array {{bulk a} {bulk 2} {bulk -70000}}}
check "return redis.call('LPOS', 'l', 'a', 'COUNT', 0)" {
    r RPUSH l a b a; typed EVAL {return redis.call('LPOS', 'l', 'a', 'COUNT', 0)} 0
} {array {{int 0} {int 2}}}
check_in 2 "return redis.call('MGET', 'a', 'c', 'b')" {
    r MSET a 1 b 2; typed EVAL {return redis.call('MGET', 'a', 'c', 'b')} 0
} {array {{bulk 1} nil {bulk 2}}}
check_in 3 "return redis.call('MGET', 'a', 'c', 'b')" {
    r MSET a 1 b 2; typed EVAL {return redis.call('MGET', 'a', 'c', 'b')} 0
} {array {{bulk 1} null {bulk 2}}}
check "return redis.call('SCAN', 0)" {
    r SET a 1; typed EVAL {return redis.call('SCAN', 0)} 0
} {array {{bulk 0} {array {{bulk a}}}}}
check "return redis.call('KEYS', '*')" {r SET a 1; typed EVAL {return redis.call('KEYS', '*')} 0} {array {{bulk a}}}
check_in 2 "redis.setresp(3) return redis.call('LCS', 'a', 'b', 'IDX')" {
    r MSET a xyz b y; typed EVAL {redis.setresp(3) return redis.call('LCS', 'a', 'b', 'IDX')} 0
} {array {{bulk len} {int 1} {bulk matches} {array {{array {{array {{int 1} {int 1}}} {array {{int 0} {int 0}}}}}}}}}
check_in 3 "redis.setresp(3) return redis.call('LCS', 'a', 'b', 'IDX')" {
    r MSET a xyz b y; typed EVAL {redis.setresp(3) return redis.call('LCS', 'a', 'b', 'IDX')} 0
} {map {{bulk len} {int 1} {bulk matches} {array {{array {{array {{int 1} {int 1}}} {array {{int 0} {int 0}}}}}}}}}
check "return redis.call('LCS', 'a', 'b', 'IDX')" {
    r MSET a xyz b y; typed EVAL {return redis.call('LCS', 'a', 'b', 'IDX')} 0
} {array {{bulk matches} {array {{array {{array {{int 1} {int 1}}} {array {{int 0} {int 0}}}}}}} {bulk len} {int 1}}}
check "return redis.call('PING')" {typed EVAL {return redis.call('PING')} 0} {simple PONG}
check "return redis.call('ECHO', 'hi')" {typed EVAL {return redis.call('ECHO', 'hi')} 0} {bulk hi}
check "return redis.call('TYPE', 'k')" {typed EVAL {return redis.call('TYPE', 'k')} 0} {simple none}
check "redis.setresp(3) return redis.call('PUBSUB', 'NUMSUB', 'x')" {
    typed EVAL {redis.setresp(3) return redis.call('PUBSUB', 'NUMSUB', 'x')} 0
} {array {{bulk x} {int 0}}}
check "return redis.call('TIME')1 == redis.call('TIME')1" {
    typed EVAL {return redis.call('TIME')[1] == redis.call('TIME')[1]} 0
} {int 1}
check "return redis.call('WAIT', 0, 0)" {typed EVAL {return redis.call('WAIT', 0, 0)} 0} {int 0}

# --- Arguments

check "return redis.call('ECHO', 3)" {typed EVAL {return redis.call('ECHO', 3)} 0} {bulk 3}
check "return redis.call('ECHO', -0.0)" {typed EVAL {return redis.call('ECHO', -0.0)} 0} {bulk 0}
check "return redis.call('ECHO', 0.1)" {typed EVAL {return redis.call('ECHO', 0.1)} 0} {bulk 0.1}
check "return redis.call('ECHO', 3.14159265358979)" {
    typed EVAL {return redis.call('ECHO', 3.14159265358979)} 0
} {bulk 3.14159265358979}
check "return redis.call('ECHO', 1e15)" {typed EVAL {return redis.call('ECHO', 1e15)} 0} {bulk 1000000000000000}
check "return redis.call('ECHO', 1e18)" {typed EVAL {return redis.call('ECHO', 1e18)} 0} {bulk 1000000000000000000}
check "return redis.call('ECHO', 1e20)" {typed EVAL {return redis.call('ECHO', 1e20)} 0} {bulk 1e+20}
check "return redis.call('ECHO', 1e-7)" {typed EVAL {return redis.call('ECHO', 1e-7)} 0} {bulk 1e-7}
check "return redis.call('ECHO', -1e300)" {typed EVAL {return redis.call('ECHO', -1e300)} 0} {bulk -1e+300}
check "return redis.call('ECHO', 123456789012345678)" {
    typed EVAL {return redis.call('ECHO', 123456789012345678)} 0
} {bulk 123456789012345680}
check "return redis.call('ECHO', 1/0)" {typed EVAL {return redis.call('ECHO', 1/0)} 0} {bulk inf}
check "redis.call('ECHO') of NaN, unpacked, as the sign of 0/0 depends on the processor" {
    typed EVAL {return redis.call('ECHO', (struct.unpack('>d', '\255\248\0\0\0\0\0\0')))} 0
} {bulk -nan}
check "return redis.call('ECHO', '')" {typed EVAL {return redis.call('ECHO', '')} 0} {bulk {}}
check "return redis.call('ECHO', 'a0b') == 'a0b'" {typed EVAL {return redis.call('ECHO', 'a\0b') == 'a\0b'} 0} {int 1}
check "return redis.call()" {
    typed EVAL {return redis.call()} 0
} [raised 1 0a907e1429221a4d85516cab7fd219a82a9439d8 \
    {ERR Please specify at least one argument for this redis lib call}]
check "return redis.call('GET', )" {
    typed EVAL {return redis.call('GET', {})} 0
} [raised 1 1343dc154e60f8f7264d986cb42bf48ba973e527 \
    {ERR Lua redis lib command arguments must be strings or integers}]
check "return redis.call('GET', nil)" {
    typed EVAL {return redis.call('GET', nil)} 0
} [raised 1 9887209b70df6e756d4cc687c4cd21c1ba051e35 \
    {ERR Lua redis lib command arguments must be strings or integers}]
check "return redis.call('GET', true)" {
    typed EVAL {return redis.call('GET', true)} 0
} [raised 1 7af16faf65f6874e42bfc74fd79e22610b158d05 \
    {ERR Lua redis lib command arguments must be strings or integers}]
check "return redis.call()" {
    typed EVAL {return redis.call({})} 0
} [raised 1 80747816df1f4411f7c442b928fce6a814214839 \
    {ERR Lua redis lib command arguments must be strings or integers}]
check "local t =  for i = 1, 7990 do ti = i end return redis.call('RPUSH', 'l', unpack(t))" {
    typed EVAL {local t = {} for i = 1, 7990 do t[i] = i end return redis.call('RPUSH', 'l', unpack(t))} 0
} {int 7990}

# --- Nesting

check "a table that contains itself ends in an error" {
    set bytes [reply_bytes {local a = {} a[1] = a return a}]
    list [expr {[regexp -all {\*1\r\n} $bytes] > 5000}] [regexp -all -- {-ERR reached lua stack limit\r\n} $bytes]
} {1 1}
check "a map that contains itself ends in an error" {
    regexp -- {-ERR reached lua stack limit\r\n} [reply_bytes {local a = {map = {}} a.map.x = a return a}]
} 1
check "tables may be nested to a depth of 7000" {
    set bytes [reply_bytes {
        local a = {} local t = a
        for i = 1, 7000 do local n = {} t[1] = n t = n end
        return a
    }]
    regexp -all {\*1\r\n} $bytes
} 7000

finish
