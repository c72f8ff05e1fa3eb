# DEBUG DIGEST and DIGEST-VALUE of streams with consumer groups.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/replica.tcl

server_start {appendonly yes appendfsync no repl-diskless-sync-delay 0}

proc digests {} {
    return [list [r DEBUG DIGEST] [r DEBUG DIGEST-VALUE k]]
}

# Groups with all that they can have.
proc make_groups {} {
    foreach request {
        {XADD k 1-1 f v} {XADD k 2-1 f v} {XADD k 3-1 f v} {XADD k 4-1 f v} {XADD k 5-1 f v}
        {XGROUP CREATE k g 0} {XGROUP CREATE k h 1-1} {XGROUP CREATE k "" 3-1 ENTRIESREAD 2} {XGROUP CREATE k i 0}
        {XREADGROUP GROUP g c COUNT 3 STREAMS k >} {XREADGROUP GROUP g d STREAMS k >}
        {XREADGROUP GROUP h c NOACK STREAMS k >} {XREADGROUP GROUP h idle STREAMS k >} {XGROUP CREATECONSUMER k h new}
        {XREADGROUP GROUP i "" COUNT 1 STREAMS k >} {XREADGROUP GROUP i a COUNT 2 STREAMS k >}
        {XCLAIM k g e 0 2-1} {XCLAIM k g e 0 3-1 RETRYCOUNT 9223372036854775807} {XACK k g 5-1} {XDEL k 1-1}
        {XNACK k g FAIL IDS 1 4-1} {XNACK k i FATAL IDS 1 2-1} {XGROUP SETID k i 2-1 ENTRIESREAD 4}
        {XAUTOCLAIM k g e 0 0 COUNT 2} {XREADGROUP GROUP g f CLAIM 0 COUNT 1 STREAMS k >}
        {XGROUP DELCONSUMER k g d}
    } {
        r {*}$request
    }
}

check "whatever changes of a group changes the digests" {
    r XADD k 1-1 f v
    r XADD k 2-1 f v
    set seen [list [digests]]
    foreach request {
        {XGROUP CREATE k g 0} {XGROUP CREATE k h 0} {XGROUP SETID k h 1-1} {XGROUP SETID k h 1-1 ENTRIESREAD 2}
        {XGROUP CREATECONSUMER k g c} {XREADGROUP GROUP g c COUNT 1 STREAMS k >} {XREADGROUP GROUP g c STREAMS k 0}
        {XCLAIM k g d 0 1-1 JUSTID} {XCLAIM k g d 0 1-1 RETRYCOUNT 9} {XGROUP CREATECONSUMER k h c}
        {XREADGROUP GROUP g d STREAMS k >} {XACK k g 2-1} {XGROUP DELCONSUMER k g d} {XGROUP DESTROY k h}
    } {
        r {*}$request
        lappend seen [digests]
    }
    assert_equal [llength [lsort -unique [lmap both $seen {lindex $both 0}]]] [llength $seen]
    llength [lsort -unique [lmap both $seen {lindex $both 1}]]
} 15
check "when something was delivered, and when a consumer was seen, does not matter" {
    r XADD k 1-1 f v
    r XGROUP CREATE k g 0
    r XREADGROUP GROUP g c STREAMS k >
    set before [digests]
    r XCLAIM k g c 0 1-1 TIME 1000 RETRYCOUNT 1 JUSTID
    r XREADGROUP GROUP g c STREAMS k >
    expr {[digests] eq $before}
} 1
check "a stream without groups has the digest that it has in Redis and Valkey" {
    r XADD k 1-1 f v g w
    r XGROUP CREATE k g 0
    r XGROUP DESTROY k g
    r DEBUG DIGEST-VALUE k
} 02a6cc6f9620c93c4a87ca6697dad2078434368e
check "files, payloads and copies keep the digest" {
    make_groups
    set before [digests]
    r DEBUG RELOAD
    assert_equal [digests] $before
    r DEBUG LOADAOF
    assert_equal [digests] $before
    foreach preamble {yes no} {
        r CONFIG SET aof-use-rdb-preamble $preamble
        rewrite_aof
        r DEBUG LOADAOF
        assert_equal [digests] $before
    }
    r COPY k copy
    r RESTORE restored 0 [r DUMP k]
    llength [lsort -unique [r DEBUG DIGEST-VALUE k copy restored]]
} 1
check "a replica has the same digest, by the payload and by the stream" {
    make_groups
    with_replica_of_this {
        assert_equal [$replica control DEBUG DIGEST] [r DEBUG DIGEST]
        r DEL k
        make_groups
        r WAIT 1 0
        assert_equal [$replica control DEBUG DIGEST] [r DEBUG DIGEST]
        # What reading the history counts is on the primary alone, until the next claim.
        r XREADGROUP GROUP g e STREAMS k 0
        r WAIT 1 0
        set after_history [expr {[$replica control DEBUG DIGEST] eq [r DEBUG DIGEST]}]
        r XAUTOCLAIM k g e 0 0
        r WAIT 1 0
        list $after_history [expr {[$replica control DEBUG DIGEST] eq [r DEBUG DIGEST]}]
    }
} {0 1}

finish
