# Fields of hashes that expire: HEXPIRE HPEXPIRE HEXPIREAT HPEXPIREAT HTTL HPTTL HEXPIRETIME HPEXPIRETIME HPERSIST
# HGETEX HSETEX HGETDEL.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]
source [file join $library aof.tcl]

server_start

# --- Requests in this order, with their replies

check_hashes "expiries are set, read and taken away" {
    assert_replies {
        {HSET h a 1 b 2 c 3 d 4} 4
        {HEXPIRE h 1000 FIELDS 2 a none} {1 -2}
        {HEXPIRE h 1000 NX FIELDS 2 a b} {0 1}
        {HEXPIRE h 500 XX FIELDS 2 a c} {1 0}
        {HEXPIRE h 400 GT FIELDS 2 a c} {0 0}
        {HEXPIRE h 600 GT FIELDS 1 a} {1}
        {HEXPIRE h 700 LT FIELDS 2 a c} {0 1}
        {HEXPIRE none 100 FIELDS 2 a b} {-2 -2}
        {HPEXPIREAT h 4102444800123 FIELDS 2 a b} {1 1}
        {HPEXPIRETIME h FIELDS 4 a b d none} {4102444800123 4102444800123 -1 -2}
        {HEXPIRETIME h FIELDS 4 a b d none} {4102444801 4102444801 -1 -2}
        {HEXPIREAT h 4102444800 FIELDS 1 a} {1}
        {HPEXPIRETIME h FIELDS 1 a} {4102444800000}
        {HTTL h FIELDS 2 d none} {-1 -2}
        {HPTTL h FIELDS 2 d none} {-1 -2}
        {HTTL none FIELDS 1 a} {-2}
        {HPERSIST h FIELDS 3 a d none} {1 -1 -2}
        {HPERSIST none FIELDS 1 a} {-2}
        {HTTL h FIELDS 1 a} {-1}
        {HEXPIRE h 0 FIELDS 2 a none} {2 -2}
        {HEXISTS h a} 0
        {HPEXPIREAT h 1 FIELDS 3 b c d} {2 2 2}
        {EXISTS h} 0
    }
}

check_hashes "what is wrong with an expiry is said as by Redis" {
    assert_replies {
        {HSET h c 1} 1
        {HEXPIRE h 100 FIELDS 2 c} {ERR wrong number of arguments}
        {HEXPIRE h 100 FIELDS 1 c d} {ERR unknown argument: d}
        {HEXPIRE h 100 FIELDS 0 c} {ERR Parameter `numFields` should be greater than 0}
        {HEXPIRE h 100 FIELDS x c} {ERR Parameter `numFields` should be greater than 0}
        {HEXPIRE h 100 FOO 1 c} {ERR unknown argument: FOO}
        {HEXPIRE h 100 NX XX FIELDS 1 c} {ERR Multiple condition flags specified}
        {HEXPIRE h 100 FIELDS 1 c GT LT} {ERR Multiple condition flags specified}
        {HEXPIRE h 100 FIELDS 1 c FIELDS 1 d} {ERR FIELDS keyword specified multiple times}
        {HEXPIRE h 100 FIELDS 1 c FIELDS} {ERR FIELDS keyword specified multiple times}
        {HEXPIRE h 100 NX NX XX} {ERR missing FIELDS argument}
        {HEXPIRE h 100 NX FIELDS 1} {ERR FIELDS requires at least numfields and one field argument}
        {HPEXPIREAT h 100 GT FIELDS 0} {ERR FIELDS requires at least numfields and one field argument}
        {HEXPIRE h 100 LT FIELDS x} {ERR FIELDS requires at least numfields and one field argument}
        {HEXPIRE h 100 FIELDS 2147483648 c} {ERR Parameter `numFields` should be greater than 0}
        {HEXPIRE h 100 LT FOO 1} {ERR unknown argument: FOO}
        {HEXPIRE h x FIELDS 1 c} {ERR value is not an integer or out of range}
        {HEXPIRE h -1 FIELDS 1 c} {ERR invalid expire time, must be >= 0}
        {HEXPIRE h 99999999999999999 FIELDS 1 c} {ERR invalid expire time in 'hexpire' command}
        {HPEXPIRE h 70368744177664 FIELDS 1 c} {ERR invalid expire time in 'hpexpire' command}
        {HPEXPIREAT h 70368744177664 FIELDS 1 c} {ERR invalid expire time in 'hpexpireat' command}
        {HPEXPIREAT h 70368744177663 FIELDS 1 c} {1}
        {HEXPIREAT h 70368744178 FIELDS 1 c} {ERR invalid expire time in 'hexpireat' command}
        {HEXPIRE none -100 FIELDS 1 c} {ERR invalid expire time, must be >= 0}
        {HTTL h FIELDS 2 n} {ERR The `numfields` parameter must match the number of arguments}
        {HTTL h FIELDS 0 n} {ERR Number of fields must be a positive integer}
        {HTTL h FIELDS x n} {ERR Number of fields must be a positive integer}
        {HTTL h FOO 1 n} {ERR Mandatory argument FIELDS is missing or not at the right position}
        {HTTL none FOO 1 n} {ERR Mandatory argument FIELDS is missing or not at the right position}
        {HPERSIST h FIELDS 2 n} {ERR The `numfields` parameter must match the number of arguments}
        {HPERSIST h FOO 1 n} {ERR Mandatory argument FIELDS is missing or not at the right position}
    }
}

check_hashes "HGETEX and HGETDEL read and change" {
    assert_replies {
        {HSET h c 5 d 6 e 7} 3
        {HGETEX h FIELDS 2 c none} {5 (nil)}
        {HGETEX h PXAT 4102444800123 FIELDS 2 c none} {5 (nil)}
        {HPEXPIRETIME h FIELDS 2 c d} {4102444800123 -1}
        {HGETEX h FIELDS 1 c} {5}
        {HPEXPIRETIME h FIELDS 1 c} {4102444800123}
        {HGETEX h PERSIST FIELDS 2 c d} {5 6}
        {HTTL h FIELDS 1 c} {-1}
        {HGETEX h EXAT 1 FIELDS 1 c} {5}
        {HGETEX h EX 0 FIELDS 2 c d} {(nil) 6}
        {HLEN h} 1
        {HGETEX none EX 10 FIELDS 2 c d} {(nil) (nil)}
        {HGETEX h EX -1 FIELDS 1 e} {ERR invalid expire time, must be >= 0}
        {HGETEX h EX x FIELDS 1 e} {ERR value is not an integer or out of range}
        {HGETEX h PX 99999999999999999 FIELDS 1 e} {ERR invalid expire time in 'hgetex' command}
        {HGETEX h PERSIST EX 10 FIELDS 1 e} {ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified}
        {HGETEX h FIELDS 1 e PERSIST PERSIST} {ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified}
        {HGETEX h FIELDS 1 e FIELDS 1 e} {ERR FIELDS keyword specified multiple times}
        {HGETEX h FIELDS 1 e EX} {ERR missing expire time}
        {HGETEX h FIELDS 1 e EX -1} {ERR invalid expire time, must be >= 0}
        {HGETEX h FIELDS 3 c d} {ERR wrong number of arguments}
        {HGETEX h FIELDS 0 c} {ERR invalid number of fields}
        {HGETEX h KEEPTTL FIELDS 1 c} {ERR unknown argument: KEEPTTL}
        {HGETEX h EX 10 FIELDS 1} {ERR wrong number of arguments}
        {HGETEX h PERSIST FIELDS 0} {ERR invalid number of fields}
        {HGETEX h PX 10 FIELDS} {ERR wrong number of arguments for 'hgetex' command}
        {HGETEX h PX 10 c} {ERR unknown argument: c}
        {HGETEX h EX 10 c d e} {ERR unknown argument: c}
        {HGETDEL h FIELDS 2 e none} {7 (nil)}
        {EXISTS h} 0
        {HGETDEL h FIELDS 2 e} {ERR The `numfields` parameter must match the number of arguments}
        {HGETDEL h FIELDS x e} {ERR Number of fields must be a positive integer}
        {HGETDEL h FOO 1 e} {ERR Mandatory argument FIELDS is missing or not at the right position}
    }
}

check_hashes "HSETEX sets values with an expiry" {
    assert_replies {
        {HSETEX h FIELDS 1 c 5} 1
        {HSETEX h FNX FIELDS 2 c 6 d 6} 0
        {HSETEX h FXX FIELDS 2 c 6 d 6} 0
        {HSETEX h FNX PXAT 4102444800123 FIELDS 2 d 6 e 7} 1
        {HPEXPIRETIME h FIELDS 3 c d e} {-1 4102444800123 4102444800123}
        {HSETEX h FXX KEEPTTL FIELDS 2 d 8 c 8} 1
        {HPEXPIRETIME h FIELDS 2 c d} {-1 4102444800123}
        {HMGET h c d e} {8 8 7}
        {HSETEX h FIELDS 1 d 8} 1
        {HTTL h FIELDS 1 d} {-1}
        {HSETEX h PXAT 1 FIELDS 2 c 1 x 1} 1
        {HMGET h c x} {(nil) (nil)}
        {HSETEX n FXX FIELDS 1 c 5} 0
        {HSETEX n PXAT 1 FIELDS 1 c 5} 1
        {EXISTS n} 0
        {HSETEX h FIELDS 2 c 5} {ERR wrong number of arguments}
        {HSETEX h FIELDS 1 c 5 d} {ERR unknown argument: d}
        {HSETEX h FIELDS 1 c 5 FIELDS 1 d 5} {ERR FIELDS keyword specified multiple times}
        {HSETEX h FIELDS 1 c 5 EX} {ERR missing expire time}
        {HSETEX h FIELDS 1 c 5 KEEPTTL EX 10} {ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified}
        {HSETEX h FIELDS 0 c 5} {ERR invalid number of fields}
        {HSETEX h FIELDS x c 5} {ERR invalid number of fields}
        {HSETEX h FNX FXX FIELDS 1 c 5} {ERR Only one of FXX or FNX arguments can be specified}
        {HSETEX h EX 10 KEEPTTL FIELDS 1 c 5} {ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified}
        {HSETEX h EX 10 PX abc FIELDS 1 c 5} {ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified}
        {HSETEX h FNX EX 10 PX} {ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified}
        {HSETEX h FNX KEEPTTL FXX EX abc FIELDS 1 c 5} {ERR Only one of FXX or FNX arguments can be specified}
        {HSETEX h EX 10 FIELDS 0} {ERR invalid number of fields}
        {HSETEX h EX 10 FIELDS 1} {ERR wrong number of arguments}
        {HSETEX h FNX EX 10 FIELDS 0} {ERR invalid number of fields}
        {HSETEX h FNX EX 10 FIELDS 1} {ERR wrong number of arguments}
        {HSETEX h EX 10 FIELDS x c} {ERR invalid number of fields}
        {HSETEX h FIELDS 0 c 5 d} {ERR invalid number of fields}
        {HSETEX h FIELDS 2147483647 c 5} {ERR wrong number of arguments}
        {HSETEX h FIELDS 2147483648 c 5} {ERR invalid number of fields}
        {HSETEX h EX 0 FIELDS 1 c 5} 1
        {HSETEX h EX x FIELDS 1 c 5} {ERR value is not an integer or out of range}
        {HSETEX h EX -1 FIELDS 1 c 5} {ERR invalid expire time, must be >= 0}
        {HSETEX h PX 99999999999999999 FIELDS 1 c 5} {ERR invalid expire time in 'hsetex' command}
        {HSETEX h PERSIST FIELDS 1 c 5} {ERR unknown argument: PERSIST}
        {HSETEX h EX 10 FNX a b} {ERR unknown argument: a}
        {HSETEX h EX 10 FNX FIELDS} {ERR wrong number of arguments for 'hsetex' command}
    }
}

check_hashes "HEXPIRE, HGETEX and HSETEX take options before and behind their fields" {
    assert_replies {
        {HSET h c 1 d 2 NX 3 FIELDS 4} 4
        {HPEXPIREAT h 4102444800123 FIELDS 2 c d NX} {1 1}
        {HPEXPIREAT h 4102444800456 FIELDS 1 c NX} 0
        {HPEXPIREAT h 4102444800456 GT FIELDS 1 c GT} 1
        {HPEXPIREAT h 4102444800123 FIELDS 3 NX FIELDS none NX} {1 1 -2}
        {HPEXPIRETIME h FIELDS 4 c d NX FIELDS} {4102444800456 4102444800123 4102444800123 4102444800123}
        {HGETEX h FIELDS 2 c NX PERSIST} {1 3}
        {HGETEX h FIELDS 1 c PXAT 4102444800789} 1
        {HSETEX h FIELDS 1 d 5 KEEPTTL FXX} 1
        {HPEXPIRETIME h FIELDS 4 c d NX FIELDS} {4102444800789 4102444800123 -1 4102444800123}
        {HSETEX h FIELDS 1 d 6 FNX} 0
        {HSETEX h FXX FIELDS 2 d 7 FIELDS 8 PXAT 4102444800999} 1
        {HSETEX h FIELDS 2 EX 10 PX 20} 1
        {HPEXPIRETIME h FIELDS 4 c d EX FIELDS} {4102444800789 4102444800999 -1 4102444800999}
        {HMGET h c d EX PX} {1 7 10 20}
        {HSETEX h FIELDS 1 d 8 NX} 0
        {HGETEX h FIELDS 2 c d EXAT 1} {1 7}
        {HMGET h c d} {(nil) (nil)}
    }
}

check_hashes "HSETEX NX sets fields of no hash but a new one, XX of no other" {
    assert_replies {
        {HSETEX h NX FIELDS 1 c 5} 1
        {HSETEX h NX FIELDS 1 c 6} 0
        {HSETEX n XX FIELDS 1 c 5} 0
        {EXISTS n} 0
        {HSETEX n NX EX 100000 FIELDS 1 c 5} 1
        {HTTL n FIELDS 1 c} 100000
        {HSETEX n XX KEEPTTL FIELDS 2 c 6 d 7} 1
        {HTTL n FIELDS 2 c d} {100000 -1}
        {HSETEX n XX FNX FIELDS 2 d 8 e 8} 0
        {HSETEX n FXX xx XX FIELDS 2 c 8 d 8} 1
        {HMGET n c d e} {8 8 (nil)}
        {HSETEX m NX FXX FIELDS 1 c 5} 0
        {HSETEX m nx FNX NX FIELDS 1 c 5} 1
        {HSETEX m XX PXAT 1 FIELDS 1 c 5} 1
        {EXISTS m} 0
        {HSETEX m NX XX FIELDS 1 c 5} {ERR syntax error}
        {HSETEX m XX FNX NX FIELDS 1 c 5} {ERR syntax error}
        {HSETEX m FIELDS 1 c 5 NX} 1
        {SET s x} OK
        {HSETEX s NX FIELDS 1 c 5} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {EVAL {return redis.call('HSETEX', KEYS[1], 'XX', 'FIELDS', 1, 'c', 5)} 1 none} 0
    }
}

check "a hash is new to HSETEX NX when all of its fields have expired" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    foreach key {h n last} {
        r HSETEX $key PX 1 FIELDS 1 f old
    }
    wait_until {[r HGET last f] eq "(nil)"}
    set found [list [r HSETEX n XX FIELDS 1 f new] [r EXISTS n] [r HSETEX h NX FIELDS 1 f new] [r HGETALL h]]
    r DEBUG SET-ACTIVE-EXPIRE 1
    set found
} {0 0 1 {f new}}

# --- As time goes by

check_hashes "a field that has expired is not there any more" {
    r HSET k a 1 b 2 c 3
    r HPEXPIRE k 1 FIELDS 2 a b
    wait_until {[r HEXISTS k a] == 0 && [r HEXISTS k b] == 0}
    list [r HGET k a] [r HMGET k a c] [r HGETALL k] [r HKEYS k] [r HRANDFIELD k 5] [r HLEN k] [r HSETNX k a 5] \
        [r HTTL k FIELDS 2 a b] [llength [lindex [r HSCAN k 0 NOVALUES] 1]]
} {(nil) {(nil) 3} {c 3} c c 1 1 {-1 -2} 2}
check_hashes "the key goes with its last field" {
    r HSET k a 1 b 2
    r HPEXPIRE k 1 FIELDS 2 a b
    wait_until {[is_null HGET k a]}
    list [r EXISTS k] [r HSET k c 1] [r HGETALL k]
} {0 1 {c 1}}
check_hashes "HSET takes the expiry away, HINCRBY and HINCRBYFLOAT keep it" {
    r HSET k a 1 b 2 c 3
    r HEXPIRE k 1000 FIELDS 3 a b c
    r HSET k a 5
    r HINCRBY k b 5
    r HINCRBYFLOAT k c 5
    lmap ttl [r HTTL k FIELDS 3 a b c] {expr {$ttl > 0}}
} {0 1 1}
check_hashes "expiries survive COPY, RENAME, DUMP, RESTORE and a reload" {
    r HSET k a 1 b 2
    r HPEXPIREAT k 4102444800123 FIELDS 1 a
    r COPY k copy
    r RESTORE restored 0 [r DUMP k]
    r RENAME k renamed
    r DEBUG RELOAD
    foreach key {copy restored renamed} {
        assert_equal [r HPEXPIRETIME $key FIELDS 2 a b] {4102444800123 -1}
        assert_equal [lsort -stride 2 [r HGETALL $key]] {a 1 b 2}
    }
}
# {f 1 g 2}, where f expires at 2^63 - 1, from Valkey.
set late_payload [binary decode hex 160201660131ffffffffffffff7f01670132ffffffffffffffff50001e078e22f6bd2956]
check_hashes "an expiry later than any of Redis becomes the latest one, and stays it" {
    with_aof {aof-use-rdb-preamble no} {
        set latest {{70368744177663 -1} {70368744178 -1}}
        set found {}
        r RESTORE h 0 $::late_payload
        foreach step {{} {r DEBUG RELOAD} {r RESTORE h 0 [r DUMP h] REPLACE} server_again rewrite_aof server_again} {
            eval $step
            lappend found [expr {[list [r HPEXPIRETIME h FIELDS 2 f g] [r HEXPIRETIME h FIELDS 2 f g]] eq $latest}]
        }
        lappend found [expr {[r HPTTL h FIELDS 1 f] > 0}]
    }
} {1 1 1 1 1 1 1}
check "a listpack with expiries is a listpackex" {
    r HSET k a 1
    r HEXPIRE k 100 FIELDS 1 a
    r OBJECT ENCODING k
} listpackex

finish
