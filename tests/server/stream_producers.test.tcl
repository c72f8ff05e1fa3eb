# Producers that may send an entry twice: XADD with IDMP and IDMPAUTO, XCFGSET, XIDMPRECORD.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]
source $library/aof.tcl
source $library/replica.tcl
source $library/primary.tcl

server_start

set auto_only "ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs"
set twice "ERR syntax error, IDMP/IDMPAUTO specified multiple times"
set duration_range "ERR IDMP-DURATION must be between 1 and 86400 seconds"
set size_range "ERR IDMP-MAXSIZE must be between 1 and 10000 entries"

# The six fields: seconds, iids that are kept, producers and iids that are known, iids ever added, duplicates.
proc known {{key k}} {
    set info [r XINFO STREAM $key]
    return [lmap name {idmp-duration idmp-maxsize pids-tracked iids-tracked iids-added iids-duplicates} {
        dict get $info $name
    }]
}
proc add {producer iid args} {
    return [r XADD k {*}$args IDMP $producer $iid * f v]
}

check_in 2 "XADD with IDMP, XCFGSET and XIDMPRECORD check their arguments" {
    assert_replies [subst -nocommands {
        {SET s v} OK
        {XCFGSET k} {ERR no such key}
        {XCFGSET k FOO} {ERR no such key}
        {XCFGSET s FOO} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XADD k 1-1 f v} 1-1
        {XCFGSET k} {ERR At least one parameter must be specified}
        {XCFGSET k IDMP-DURATION} {ERR syntax error}
        {XCFGSET k FOO 1} {ERR syntax error}
        {XCFGSET k IDMP-DURATION 0} {$duration_range}
        {XCFGSET k IDMP-DURATION 86401} {$duration_range}
        {XCFGSET k IDMP-DURATION a} {ERR value is not an integer or out of range}
        {XCFGSET k IDMP-MAXSIZE 0} {$size_range}
        {XCFGSET k IDMP-MAXSIZE 10001} {$size_range}
        {XCFGSET k IDMP-DURATION 50 IDMP-DURATION 60} {ERR IDMP-DURATION specified multiple times}
        {XCFGSET k IDMP-MAXSIZE 50 idmp-maxsize 60} {ERR IDMP-MAXSIZE specified multiple times}
        {XADD k IDMP p i 5-5 f v} {$auto_only}
        {XADD k IDMP p i 5-* f v} {$auto_only}
        {XADD k IDMP p i 0-0 f v} {$auto_only}
        {XADD s IDMPAUTO p 5-5 f v} {$auto_only}
        {XADD k IDMP p i bad f v} {ERR Invalid stream ID specified as stream command argument}
        {XADD k IDMP p i *} {ERR wrong number of arguments for 'xadd' command}
        {XADD k IDMPAUTO p * f} {ERR wrong number of arguments for 'xadd' command}
        {XADD k IDMP p i IDMPAUTO p * f v} {$twice}
        {XADD k IDMP p i IDMP p i * f v} {$twice}
        {XADD k IDMP {} i * f v} {ERR syntax error, IDMP requires a non-empty producer ID}
        {XADD k IDMP p {} * f v} {ERR syntax error, IDMP requires a non-empty idempotent ID}
        {XADD k IDMPAUTO {} * f v} {ERR syntax error, IDMPAUTO requires a non-empty producer ID}
        {XADD s IDMP p i * f v} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XADD none NOMKSTREAM IDMP p i * f v} (nil)
        {XIDMPRECORD none p i x} {ERR Invalid stream ID specified as stream command argument}
        {XIDMPRECORD none p i 1-1} {ERR no such key}
        {XIDMPRECORD s p i 1-1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XIDMPRECORD k {} i 1-1} {ERR producer ID must be non-empty}
        {XIDMPRECORD k p {} 1-1} {ERR idempotent ID must be non-empty}
        {XIDMPRECORD k p i 2-1} {ERR No such message in stream}
        {XINFO STREAM k} {length 1 radix-tree-keys 1 radix-tree-nodes 2 last-generated-id 1-1 max-deleted-entry-id 0-0\
            entries-added 1 recorded-first-entry-id 1-1 idmp-duration 100 idmp-maxsize 100 pids-tracked 0\
            iids-tracked 0 iids-added 0 iids-duplicates 0 groups 0 first-entry {1-1 {f v}} last-entry {1-1 {f v}}}
    }]
}
check "a producer that sends an entry again gets the id that it has" {
    set id [add p i]
    assert_equal [add p i] $id
    assert_equal [r XADD k NOMKSTREAM MAXLEN 0 IDMP p i * other text] $id
    set next [add p j]
    assert {$next ne $id}
    assert_equal [add p i KEEPREF] $id
    assert {[add q i] ni [list $id $next]}
    list [r XLEN k] [known]
} {3 {100 100 2 3 3 3}}
check "words of options may be names" {
    set id [r XADD k IDMP * IDMP * f v]
    assert_equal [r XADD k IDMP * IDMP * f v] $id
    r XADD k MAXLEN = 1 IDMP p * * f v
    r XLEN k
} 1
check "IDMPAUTO knows an entry by its fields and values, in any order" {
    set id [r XADD k IDMPAUTO p * f v g w]
    foreach same {{f v g w} {g w f v}} { assert_equal [r XADD k IDMPAUTO p * {*}$same] $id }
    foreach other {{f v} {f w g v} {v f w g} {f v g w f v} {fv {} g w} {f v g w h {}}} {
        set new [r XADD k IDMPAUTO p * {*}$other]
        assert {$new ne $id}
        assert_equal [r XADD k IDMPAUTO p * {*}$other] $new
    }
    assert {[r XADD k IDMPAUTO q * f v g w] ne $id}
    set long [string repeat x 100000]
    assert_equal [r XADD k IDMPAUTO p * f $long] [r XADD k IDMPAUTO p * f $long]
    known
} {100 100 2 9 9 9}
check "an entry is remembered though it was deleted" {
    set id [add p i]
    r XDEL k $id
    r XTRIM k MAXLEN 0
    list [expr {[add p i] eq $id}] [r XLEN k]
} {1 0}
check "as many entries of each producer are remembered as IDMP-MAXSIZE says" {
    r XADD k 1-1 f v
    r XCFGSET k IDMP-MAXSIZE 3
    foreach producer {p q} {
        foreach iid {a b c d} { dict set ids $producer$iid [add $producer $iid] }
    }
    assert_equal [known] {100 3 2 6 8 0}
    foreach iid {b c d} { assert_equal [add p $iid] [dict get $ids p$iid] }
    assert {[add p a] ne [dict get $ids pa]}
    assert_equal [add q b] [dict get $ids qb]
    assert {[add p b] ne [dict get $ids pb]}
    known
} {100 3 2 6 10 4}
check "entries are remembered as long as IDMP-DURATION says" {
    r XADD k 1-1 f v
    r XCFGSET k IDMP-DURATION 1
    set id [add p i]
    wait_until {[lindex [known] 3] == 0}
    assert {[add p i] ne $id}
    r XIDMPRECORD k p old 1-1
    assert {[add p old] ne "1-1"}
}
check "XCFGSET forgets all entries, if it changes anything" {
    r XADD k 1-1 f v
    r XCFGSET k IDMP-DURATION 50 IDMP-MAXSIZE 20
    set id [add p i]
    r XCFGSET k IDMP-DURATION 50
    assert_equal [add p i] $id
    r XCFGSET k IDMP-DURATION 51
    assert_equal [known] {51 20 0 0 1 1}
    expr {[add p i] ne $id}
} 1
check "a stream takes the directives when IDMP is used in it for the first time" {
    r CONFIG SET stream-idmp-duration 7 stream-idmp-maxsize 8
    r XADD k 1-1 f v
    assert_equal [known] {7 8 0 0 0 0}
    add p i
    r CONFIG SET stream-idmp-duration 100 stream-idmp-maxsize 100
    r XADD other 1-1 f v
    list [known] [known other]
} {{7 8 1 1 1 0} {100 100 0 0 0 0}}
check "XIDMPRECORD notes what there is, once" {
    set id [r XADD k * f v]
    set other [r XADD k * f v]
    assert_equal [r XIDMPRECORD k p i $id] OK
    assert_equal [r XIDMPRECORD k p i $id] OK
    assert_equal [catch {r XIDMPRECORD k p i $other} error] 1
    assert_equal $error "ERR IID already exists for this producer with a different stream ID"
    assert_equal [add p i] $id
    known
} {100 100 1 1 1 1}
check "a duplicate touches nothing" {
    add p i
    set before [changes {r XADD k IDMP p new * f v}]
    list $before [changes {r XADD k IDMP p new * f v}]
} {1 0}
check "in a transaction and in a script XADD with IDMP is as outside" {
    r MULTI
    add p i
    add p i
    lassign [r EXEC] first second
    assert_equal $second $first
    expr {[r EVAL {return redis.call('XADD', KEYS[1], 'IDMP', 'p', 'i', '*', 'f', 'w')} 1 k] eq $first}
} 1
check "producers are copied, dumped, restored, moved and saved" {
    r XADD k 1-1 f v
    r XCFGSET k IDMP-DURATION 5000 IDMP-MAXSIZE 200
    for {set i 0} {$i < 300} {incr i} { dict set ids $i [add p $i] }
    add q 5
    add q 5
    set expected [known]
    assert_equal $expected {5000 200 2 201 301 1}
    r COPY k copy
    r RESTORE restored 0 [r DUMP k]
    r RENAME k moved
    r DEBUG RELOAD
    foreach key {copy restored moved} {
        r RENAME $key k
        assert_equal [known] $expected
        assert_equal [add p 150] [dict get $ids 150]
    }
    r XADD k * f v
    expr {[add p 1] ne [dict get $ids 1]}
} 1

# --- What is propagated

with_aof {} {
    check_in 2 "entries are propagated as XADD and XIDMPRECORD, duplicates not at all" {
        r XADD k 1-1 f v
        set commands [propagated {{XADD k IDMP p i MAXLEN = 1 * f v}}]
        set id [lindex [r XRANGE k - +] 0 0]
        assert_equal $commands [list MULTI "XADD k MAXLEN = 1 $id f v" "XIDMPRECORD k p i $id" EXEC]
        foreach {request expected} [list \
            {XADD k IDMP p i * f v} {} \
            "XIDMPRECORD k p i $id" {} \
            "XIDMPRECORD k p j $id" [list "XIDMPRECORD k p j $id"] \
            {XCFGSET k IDMP-MAXSIZE 100} {} \
            {XCFGSET k IDMP-MAXSIZE 5} {{XCFGSET k IDMP-MAXSIZE 5}} \
        ] {
            assert_equal [propagated [list $request]] $expected
        }
    }
    check "what is known of producers survives a restart from the append-only file, and a rewrite of it" {
        r XADD k 1-1 f v
        r XCFGSET k IDMP-DURATION 86400 IDMP-MAXSIZE 30
        for {set i 0} {$i < 50} {incr i} { dict set ids $i [add p $i] }
        r XADD k IDMPAUTO p * f v
        set gone [add q gone]
        r XDEL k $gone
        set expected [lrange [known] 0 3]
        assert_equal $expected {86400 30 2 31}
        foreach preamble {yes no} {
            r CONFIG SET aof-use-rdb-preamble $preamble
            foreach step {{} rewrite_aof} {
                {*}$step
                server_again crash
                assert_equal [lrange [known] 0 3] $expected
                assert_equal [add p 40] [dict get $ids 40]
                assert_equal [add q gone] $gone
            }
        }
    }
    check "a replica knows the same producers" {
        with_replica_of_this {
            set first [add p i]
            set second [r XADD k IDMPAUTO p * f v]
            r XIDMPRECORD k q i $first
            wait_same $replica
            assert_equal [$replica control XRANGE k - +] [r XRANGE k - +]
            set info [$replica control XINFO STREAM k]
            assert_equal [list [dict get $info pids-tracked] [dict get $info iids-tracked]] {2 3}
            $replica control REPLICAOF NO ONE
            assert_equal [$replica control XADD k IDMP p i * f v] $first
            assert_equal [$replica control XADD k IDMPAUTO p * f v] $second
        }
    }
}
check_in 2 "what a primary says is done as it says" {
    with_replica {} {
        set link [link_begin]
        set far 99999999999999
        foreach command [list {SELECT 0} "XADD k IDMP p i $far-1 f v" {XADD k IDMP p i * f v} \
            {XADD k IDMP p other * f v} "XADD k IDMP p i $far-2 f w" {XADD k IDMPAUTO p * f v} \
            {XIDMPRECORD k q gone 3-1} {XADD none IDMP p i * f v}] {
            $link feed {*}$command
        }
        applied $link
        assert_equal [r XRANGE k - +] [list [list $far-1 {f v}] [list $far-2 {f w}]]
        assert_equal [r EXISTS none] 0
        list [dict get [r XINFO STREAM k] iids-added] [dict get [r XINFO STREAM k] iids-duplicates]
    }
} {3 1}

finish
