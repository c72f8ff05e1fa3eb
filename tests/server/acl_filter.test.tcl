# acl-filter-keys: KEYS, SCAN and RANDOMKEY tell a user only of keys that it may read.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join [file dirname [file normalize [info script]]] lib users.tcl]

server_start {acl-filter-keys yes}

# All keys that the scan tells.
proc scanned {connection args} {
    set found {}
    set cursor 0
    while 1 {
        lassign [$connection call SCAN $cursor {*}$args] cursor keys
        lappend found {*}$keys
        if {$cursor == 0} {
            return [lsort $found]
        }
    }
}

proc fill {prefix count} {
    set commands {}
    for {set i 0} {$i < $count} {incr i} {
        lappend commands [list SET $prefix$i v]
    }
    [default_client] pipeline $commands
}

check "a user sees the keys that it may read" {
    r MSET app:1 v app:2 v other v
    r RPUSH app:list v
    set c [as a ~app:* %W~other +@all]
    list [lsort [$c call KEYS *]] [lsort [$c call KEYS *2]] [$c call KEYS other] [scanned $c] \
        [scanned $c MATCH *1 COUNT 1] [scanned $c TYPE list] [string match app:* [$c call RANDOMKEY]] \
        [$c call DBSIZE] [lsort [r KEYS *]]
} {{app:1 app:2 app:list} app:2 {} {app:1 app:2 app:list} app:1 app:list 1 4 {app:1 app:2 app:list other}}
check "by any selector, and pattern" {
    r MSET a v b v c v d v
    set c [as a %R~a %W~b +keys "(~c)" "(%RW~b)"]
    lsort [$c call KEYS *]
} {a b c}
check "with no, all keys are shown" {
    r MSET a v b v
    set c [as a ~a +@all]
    with_config {acl-filter-keys no} {
        list [lsort [$c call KEYS *]] [scanned $c]
    }
} {{a b} {a b}}
check "a user without patterns sees no keys, and one with all keys sees all" {
    r MSET a v b v
    set none [as n +@all]
    set all [as b ~* +@all -set]
    list [$none call KEYS *] [scanned $none] [$none call RANDOMKEY] [lsort [$all call KEYS *]]
} {{} {} (nil) {a b}}
check "scripts and functions see what their caller sees" {
    r MSET app:1 v other v
    r FUNCTION LOAD REPLACE "#!lua name=l\nredis.register_function('f', function() return redis.call('KEYS', '*') end)"
    set c [as a ~app:* +@all]
    set script {return {redis.call('KEYS', '*'), redis.call('SCAN', 0)[2], redis.call('RANDOMKEY')}}
    list [$c call EVAL $script 0] [$c call FCALL f 0] [llength [r FCALL f 0]]
} {{app:1 app:1 app:1} app:1 2}
check "in a transaction" {
    r MSET app:1 v other v
    set c [as a ~app:* +@all]
    $c pipeline {MULTI {KEYS *} {SCAN 0}}
    $c call EXEC
} {app:1 {0 app:1}}
check "a selector shows keys of its databases only" {
    r MSET a v b v
    set c [as a resetdbs db=0 ~a +@all "(db=1 ~b +@all)"]
    r SELECT 1
    r MSET a v b v
    set first [list [$c call KEYS *] [scanned $c] [$c call RANDOMKEY]]
    $c call SELECT 1
    lappend first [$c call KEYS *] [scanned $c] [$c call RANDOMKEY]
} {a a a b b b}
check "rights that change count for the next command" {
    r MSET a v b v
    set c [as a ~a +@all]
    set before [$c call KEYS *]
    r ACL SETUSER a resetkeys ~b
    list $before [$c call KEYS *]
} {a b}
check "RANDOMKEY finds the one key of a small database, and gives up in a large one" {
    fill other: 900
    r SET app:1 v
    set c [as a ~app:* +@all]
    set found [$c call RANDOMKEY]
    fill other: 20000
    r DEL app:1
    list $found [$c call RANDOMKEY]
} {app:1 (nil)}
check "an expired key that is hidden is deleted, as another" {
    r SET other v PX 1
    after 5
    set c [as a ~app:* +@all]
    list [scanned $c] [r EXISTS other]
} {{} 0}

finish
