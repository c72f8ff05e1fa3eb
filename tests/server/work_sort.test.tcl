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
    r LTRIM list 7 2000
    r LSET list 0 -5
    r DEL set texts
    r ZREMRANGEBYRANK zset 100 9000
    r ZADD zset 1 12345678
}

check_works list make_sortable change_sortable {
    {SORT list} {SORT list DESC LIMIT 100 20000} {SORT list ALPHA LIMIT 0 10} {SORT_RO list LIMIT 50000 10}
    {SORT list BY nosort LIMIT 10 29000} {SORT list BY nosort DESC} {SORT set} {SORT set ALPHA DESC} {SORT zset}
    {SORT_RO zset BY nosort DESC} {SORT zset ALPHA LIMIT 0 0} {SORT texts ALPHA}
}
check "SORT that looks at other keys, or stores, runs at once" {
    make_sortable
    set before [total_works]
    r SORT list BY weight*
    r SORT list GET #
    r SORT list STORE destination
    r SORT list BY nosort GET value*
    expr {[total_works] - $before}
} 0
check "SORT of what is no number says so" {
    make_sortable
    set before [total_works]
    set replied [lindex [list [catch {r SORT texts} error] $error] 1]
    list $replied [expr {[total_works] - $before}]
} {{ERR One or more scores can't be converted into double} 1}

finish
