# SORT of many elements runs in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

# Elements that are sorted. The scores of the sorted set and the order of the list are others.
proc make_sortable {} {
    set numbers {}
    for {set i 1} {$i <= 12000} {incr i} {
        lappend numbers [expr {$i * 7919 % 1000003}]
    }
    r DEL list zset texts
    r RPUSH list {*}$numbers
    fill_set set [lrange $numbers 0 11000]
    set pairs {}
    foreach number [lrange $numbers 0 10500] {
        lappend pairs [expr {$number % 1009}] $number
    }
    r ZADD zset {*}$pairs
    r RPUSH texts x {*}$numbers 5 {*}[lrepeat 20 [string repeat long 5000]]
}
proc change_sortable {} {
    r LPOP list 7
    r RPOP list 9992
    r LSET list 0 -5
    r DEL set texts
    remove_ranks zset 100 3000
    r ZADD zset 1 12345678
}

check_works list make_sortable change_sortable {
    {SORT list} {SORT list DESC LIMIT 100 20000} {SORT list ALPHA LIMIT 0 10} {SORT_RO list LIMIT 50000 10}
    {SORT list BY nosort LIMIT 10 29000} {SORT list BY nosort DESC} {SORT set} {SORT set ALPHA DESC} {SORT zset}
    {SORT_RO zset BY nosort DESC} {SORT zset ALPHA LIMIT 0 0} {SORT texts ALPHA}
}
check_stores make_sortable change_sortable {
    {SORT list ALPHA STORE to} {SORT list BY nosort DESC STORE to} {SORT set BY nosort STORE to}
    {SORT zset BY nosort DESC LIMIT 100 9000 STORE to} {SORT texts ALPHA LIMIT 11990 100 STORE to}
    {SORT list ALPHA LIMIT 0 0 STORE to} {SORT list STORE to} {SORT set DESC LIMIT 5 10000 STORE to}
    {SORT zset STORE to} {SORT list LIMIT 0 0 STORE to}
}
check "what SORT stores has the encoding and counts the changes that it has at once" {
    make_sortable
    foreach last {3 50 700 1500 1900} {
        set command [list SORT list ALPHA LIMIT 0 $last STORE to]
        set seen {}
        foreach at_once {1 0} {
            r SET to old
            set before [total_works]
            lappend seen [changes {
                if {$at_once} {
                    r EVAL {return redis.call(unpack(ARGV))} 0 {*}$command
                } else {
                    r {*}$command
                }
            }] [r OBJECT ENCODING to] [digest to]
            assert_equal [total_works] [expr {$before + !$at_once}]
        }
        assert_equal [lrange $seen 0 2] [lrange $seen 3 5]
        lappend encodings [lindex $seen 1]
    }
    list [lindex $encodings 0] [lindex $encodings end]
} {listpack quicklist}
foreach order {ALPHA ASC} {
    check "SORT $order STORE to the list itself stores what was there" {
        set expected [stored_at_once make_sortable [list SORT list $order STORE to]]
        make_sortable
        paused {
            set c [send_work [list SORT list $order STORE list]]
        }
        set reply [$c read]
        expr {[list $reply [digest list]] eq $expected}
    } 1
}

# Commands that look at the list which is sorted, or change it.
foreach {name look} {read {LRANGE list 0 2} push {LPUSH list -1} delete {DEL list} transaction {MULTI}} {
    check "SORT STORE of numbers is done before others use its list: $name" {
        lassign [stored_at_once make_sortable {SORT list STORE to}] reply stored
        make_sortable
        paused {
            set c [send_work {SORT list STORE to}]
            if {$look eq "MULTI"} {
                r MULTI
                r LPUSH list -1
                r EXEC
            } else {
                r {*}$look
            }
            assert_equal [$c read] $reply ;# although no thread runs it
        }
        expr {[digest to] eq $stored}
    } 1
}
check "SORT STORE of numbers goes to the append-only file when it is done, and not if it fails" {
    with_server {appendonly yes enable-debug-command yes aof-use-rdb-preamble no} {
        make_sortable
        r PEXPIRE set 20
        r SET to old PX 1000000
        r SET expiring old PX 20
        paused {
            set failed [send_work {SORT texts STORE to}]
            set sorted [client_open]
            $sorted send SORT list STORE sorted
            wait_for_works 2
            set expires [client_open]
            $expires send SORT set STORE expiring
            r RPUSH other 1
            after 30
        }
        catch {$failed read} error
        assert_equal $error {ERR One or more scores can't be converted into double}
        assert_equal [$sorted read] 12000
        assert_equal [r GET to] old
        assert {[r PTTL to] > 900000}
        assert {[$expires read] in {11001 0}} ;# 0 on a slow machine: the set had expired before
        assert_equal [list [r EXISTS set] [r PTTL sorted]] {0 -1}
        set before [r DEBUG DIGEST]
        r DEBUG LOADAOF
        assert_equal [r DEBUG DIGEST] $before
    }
}
check "SORT that looks at other keys, or only takes some elements out, runs at once" {
    make_sortable
    set before [total_works]
    r SORT list BY weight*
    r SORT list GET #
    r SORT list GET # STORE destination
    r SORT list BY nosort GET value*
    r SORT list BY nosort LIMIT 5000 10
    expr {[total_works] - $before}
} 0
check "SORT of what is no number says so" {
    make_sortable
    set before [total_works]
    set replied [lindex [list [catch {r SORT texts} error] $error] 1]
    list $replied [expr {[total_works] - $before}]
} {{ERR One or more scores can't be converted into double} 1}

finish
