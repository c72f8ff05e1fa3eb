# Sorted sets as values of keys: encodings, copies, payloads, reloading, SORT, DEBUG, WATCH.
source [file join [file dirname [file normalize [info script]]] lib zsets.tcl]
source $library/aof.tcl

server_start {appendonly yes appendfsync no}

set many [numbered_pairs 1 300]

check_zsets "a sorted set is copied, renamed, moved and restored as it is" {
    make_zset k {a 1.5 b -inf c 7}
    r COPY k copy
    r RENAME k renamed
    r RESTORE restored 0 [r DUMP renamed]
    r MOVE renamed 1
    foreach key {copy restored} {
        assert_equal [zset_of $key] {b -inf a 1.5 c 7}
        assert_equal [r OBJECT ENCODING $key] $storage
    }
    assert_equal [r EXISTS k renamed] 0
    r SELECT 1
    zset_of renamed
} {b -inf a 1.5 c 7}
check_zsets "sorted sets survive a snapshot and the append-only file" {
    make_zset k {a 1.5 b -inf c 7}
    r ZADD large {*}[lreverse $many]
    r ZREM large m0100
    set digest [r DEBUG DIGEST]
    r DEBUG RELOAD
    assert_equal [r DEBUG DIGEST] $digest
    r BGREWRITEAOF
    wait_rewritten
    r ZINCRBY k 2 a
    r ZPOPMAX large
    set digest [r DEBUG DIGEST]
    r DEBUG LOADAOF
    assert_equal [r DEBUG DIGEST] $digest
    list [zset_of k] [r ZCARD large] [r OBJECT ENCODING large]
} {{b -inf a 3.5 c 7} 298 skiplist}
check "a sorted set becomes a skiplist when it exceeds a limit, and stays one" {
    with_config {zset-max-listpack-entries 3 zset-max-listpack-value 5} {
        r ZADD k 1 a 2 b 3 c
        r ZADD long 1 12345
        set before [list [r OBJECT ENCODING k] [r OBJECT ENCODING long]]
        r ZADD k 4 d
        r ZADD long 2 123456
        r ZADD at-once 1 a 2 b 3 c 4 d
        set after [list [r OBJECT ENCODING k] [r OBJECT ENCODING long] [r OBJECT ENCODING at-once]]
        r ZREM k a b c
        list $before $after [r OBJECT ENCODING k] [zset_of k]
    }
} {{listpack listpack} {skiplist skiplist skiplist} skiplist {d 4}}
check_zsets "SORT sorts the members" {
    make_zset k {10 1 9 2 -5 3 2 4}
    list [r SORT k] [r SORT k DESC LIMIT 1 2] [r SORT k ALPHA] [r SORT k STORE l] [r LRANGE l 0 -1]
} {{-5 2 9 10} {9 2} {-5 10 2 9} 4 {-5 2 9 10}}
check_zsets "SORT BY nosort keeps the order of the scores" {
    make_zset k {c 1 b 2 a 3 x 4}
    list [r SORT k BY nosort] [r SORT k BY nosort DESC] [r SORT k BY nosort LIMIT 1 2] \
        [r SORT k BY nosort DESC LIMIT 1 2]
} {{c b a x} {x a b c} {b a} {a b}}
check_zsets "TYPE, SCAN TYPE and OBJECT know sorted sets" {
    make_zset k {a-member 1}
    r SET s x
    list [typed TYPE k] [r SCAN 0 COUNT 100 TYPE zset] [r OBJECT REFCOUNT k] [expr {[r MEMORY USAGE k] > 20}] \
        [string match "*encoding:$storage*" [r DEBUG OBJECT k]]
} {{simple zset} {0 k} 1 1 1}
check "DEBUG LISTPACK shows members and scores" {
    r ZADD k 1.5 a 7 b
    lrange [split [string trim [r DEBUG LISTPACK k]] \n] 1 end
} [list {0: offset 6, size 3, string 1: "a"} {1: offset 9, size 5, string 3: "1.5"} \
    {2: offset 14, size 3, string 1: "b"} {3: offset 17, size 2, integer: 7}]
check_zsets "a transaction fails when a watched sorted set was changed" {
    foreach {change fails} {{ZADD k 2 a} 1 {ZADD k 2 a} 0 {ZREM k x} 0 {ZREM k b} 1 {ZPOPMIN k} 1 {ZRANGE k 0 -1} 0} {
        r DEL k
        r ZADD k 1 b 2 c [expr {$fails ? 9 : 2}] a
        r WATCH k
        r {*}$change
        r MULTI
        r PING
        assert_equal [expr {[r EXEC] eq "(nil)"}] $fails
    }
}
check_zsets "INFO keysizes counts sorted sets by their members" {
    r ZADD k 1 a 2 b 3 c
    r ZADD j 1 a
    r ZREM k a
    regexp -inline {db0_distrib_zsets_items:\S+} [r INFO keysizes]
} {db0_distrib_zsets_items:1=1,2=1}

finish
