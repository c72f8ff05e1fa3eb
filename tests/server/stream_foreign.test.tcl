# Streams as Redis and Valkey leave them after unusual commands: payloads that they wrote, and append-only files.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join [file dirname [file normalize [info script]]] lib aof.tcl]

server_start {}

# XADD k 1-1 f v; XADD k 20-1 f v; XDEL k 20-1; XTRIM k MINID 10
foreach {peer payload} {
    "Redis 7.0.15" {
        1301100000000000000001000000000000000128280000000f00000102010101816602000103010001000181760204010301
        130100018176020401ff0014010000140102000a000783362dbec293ca
    }
    "Redis 8.0.6" {
        1501100000000000000001000000000000000128280000000f00000102010101816602000103010001000181760204010301
        130100018176020401ff0014010000140102000c0053780c36c9c79823
    }
    "Redis 8.6.3" {
        1a01100000000000000001000000000000000128280000000f00000102010101816602000103010001000181760204010301
        130100018176020401ff001401000014010200406440640000000d00cb6fd7923b5e9c60
    }
    "Valkey 9.1.2" {
        1501100000000000000001000000000000000128280000000f00000102010101816602000103010001000181760204010301
        130100018176020401ff00140100001401020050005724f167adbf619e
    }
} {
    set payload [binary decode hex [join $payload ""]]
    check "a node without an entry that $peer has left is restored" {
        r RESTORE k 0 $payload
        set info [r XINFO STREAM k]
        assert_equal [lmap name {length last-generated-id max-deleted-entry-id entries-added} {dict get $info $name}] \
            {0 20-1 20-1 2}
        r XADD k 21-1 f v
        r DEBUG RELOAD
        r XRANGE k - +
    } {{21-1 {f v}}}
}

# Entries added, entries read and deliveries beyond 2^63 - 1, which these servers show as negative numbers.
foreach {peer payload} {
    "Redis 7.0.15" {
        130210000000000000000100000000000000011d1d0000000a0001010001010181660200010201000100018176020401ff10
        000000000000000600000000000000011d1d0000000a0001010001010181660200010201000100018176020401ff02060101
        0100008180000000000000000201670101010100000000000000010000000000000001e80300000000000081800000000000
        00010101630663fc22a2010000010000000000000001000000000000000101680601818000000000000000000101630a63fc
        22a2010000000a009b0c8fc06308ab33
    }
    "Redis 8.6.3" {
        1a0210000000000000000100000000000000011d1d0000000a0001010001010181660200010201000100018176020401ff10
        000000000000000600000000000000011d1d0000000a0001010001010181660200010201000100018176020401ff02060101
        0100008180000000000000000201670101010100000000000000010000000000000001e80300000000000081800000000000
        00010101637064fc22a20100007064fc22a20100000100000000000000010000000000000001016806018180000000000000
        00000101637164fc22a2010000ffffffffffffffff00406440640000000d007eb2d4ed2157d097
    }
    "Valkey 9.1.2" {
        150210000000000000000100000000000000011d1d0000000a0001010001010181660200010201000100018176020401ff10
        000000000000000600000000000000011d1d0000000a0001010001010181660200010201000100018176020401ff02060101
        0100008180000000000000000201670101010100000000000000010000000000000001e80300000000000081800000000000
        00010101631365fc22a20100001365fc22a20100000100000000000000010000000000000001016806018180000000000000
        00000101631365fc22a2010000ffffffffffffffff005000fdd213488bddf386
    }
} {
    set payload [binary decode hex [join $payload ""]]
    check "counters that have overflowed on $peer are read as the greatest number" {
        r RESTORE k 0 $payload
        r DEBUG RELOAD
        list [dict get [r XINFO STREAM k] entries-added] [lindex [r XPENDING k g - + 1] 0 3] \
            [dict get [lindex [r XINFO GROUPS k] 1] entries-read]
    } {9223372036854775807 9223372036854775807 9223372036854775807}
}

# XADD of 1-1, 2-1 and 3-1; groups at 0-0, 1-1, 2-1, 3-1 and 5-0.
check "what groups have read is computed as in Redis where a file before RDB version 10 does not say it" {
    set payload [binary decode hex [join {
        0f011000000000000000010000000000000001c32a3311330000001400030100010101816602000102200a05000181760204
        200a0001e0010a401740150101ff030301050161000000000162010100000163020100000164030100000165050000000900
        d0127b281d9b11e1
    } ""]]
    r RESTORE k 0 $payload
    lmap group [r XINFO GROUPS k] {list [dict get $group entries-read] [dict get $group lag]}
} {{0 3} {1 2} {(nil) (nil)} {3 0} {(nil) (nil)}}

# Redis and Valkey append these numbers to their files and send them to their replicas.
with_aof {aof-use-rdb-preamble no} {
    check "overflowed counters in an append-only file are read as the greatest number" {
        set bytes ""
        foreach command {
            {SELECT 0} {XADD k 1-1 f v} {XGROUP CREATE k g 0}
            {XGROUP SETID k g 1-1 ENTRIESREAD -9223372036854775808}
            {XSETID k 5-1 ENTRIESADDED -9223372036854775808 MAXDELETEDID 0-0}
        } {append bytes [request $command]}
        r PING
        break_file $::current_server $bytes
        server_again crash
        list [dict get [r XINFO STREAM k] entries-added] [dict get [lindex [r XINFO GROUPS k] 0] entries-read]
    } {9223372036854775807 9223372036854775807}
    check "an XSETID of Redis 7.0 with an id below the greatest one deleted is loaded" {
        set bytes ""
        foreach command {
            {SELECT 0} {FLUSHALL} {XADD k 5-1 f v} {XADD k 9-1 f v} {XDEL k 9-1} {XSETID k 6-1} {XADD k 7-1 f v}
        } {append bytes [request $command]}
        r PING
        break_file $::current_server $bytes
        server_again crash
        rewrite_aof
        server_again crash
        set info [r XINFO STREAM k]
        list [r XRANGE k - +] [dict get $info last-generated-id]
    } {{{5-1 {f v}} {7-1 {f v}}} 7-1}
    check_error "clients still cannot set them" {
        r XADD k 1-1 f v
        r XSETID k 5-1 ENTRIESADDED -1
    } "ERR entries_added must be positive"
    check_error "clients cannot set an id below the greatest one deleted" {
        r XADD k 9-1 f v
        r XDEL k 9-1
        r XSETID k 6-1
    } "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id"
}

finish
