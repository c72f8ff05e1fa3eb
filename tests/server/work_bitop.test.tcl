# Long strings are combined in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

set len 3000000

# The key `short` is copied, the others are captured; `digits` is an integer.
proc make_sources {} {
    r SET a [string repeat "\x00\x01\x7f\xff\x55" [expr {$::len / 5}]]
    r SET b [string repeat "\xf0\x0f\x33" [expr {$::len / 5}]]
    r SET c [string repeat "\x11\xee\x77\x01\x02\x03\x04" [expr {$::len / 7}]]
    r SET short [string repeat "\xab\xcd" 100]
    r SET digits 1234567890
    r DEL none away
}
proc change_sources {} {
    r SETRANGE a 100 [string repeat "\x01" 20000]
    r SETBIT a [expr {8 * $::len - 1}] 0
    r APPEND b [string repeat "\xff" 4000000]
    r RENAME b away
    r SET c [string repeat "\xff" 4000000]
    r DEL c
    r SETRANGE short 3 xyz
    r INCR digits
    r SET none something
}

check_stores make_sources change_sources {
    {BITOP AND to a b c} {BITOP OR to short a digits none b} {BITOP XOR to a b a c a b} {BITOP NOT to a}
    {BITOP DIFF to a b c short} {BITOP DIFF to short a b} {BITOP DIFF1 to b a a none c} {BITOP ANDOR to a c b a}
    {BITOP ONE to a b b c digits} {BITOP ONE to none a short}
}

# The destination has the length of the result: it is written in place, unless that is captured, or a source that
# must be read again.
foreach {name command} {
    "another string" {BITOP OR to a b} "the source" {BITOP NOT to to} "one of the sources" {BITOP XOR to a b to}
    "two of the sources" {BITOP XOR to to a to b} "the first source" {BITOP DIFF to to b c}
    "not the first source" {BITOP DIFF to a to b} "a source of ONE" {BITOP ONE to a to to c}
} {
    check "the destination is $name: $command" {
        proc make_all {} {
            make_sources
            r SET to [string repeat "\x5a\x01\x99" [expr {$::len / 3}]]
        }
        make_all
        r MULTI
        r {*}$command
        assert_equal [r EXEC] $len
        set stored [digest to]
        foreach captured {0 1} {
            make_all
            r PEXPIRE to 60000
            set reader [client_open]
            paused {
                if {$captured} {
                    $reader send BITCOUNT to
                    wait_for_works 1
                }
                set c [client_open]
                $c send {*}$command
                wait_for_works [expr {1 + $captured}]
                change_sources
            }
            assert_equal [$c read] $len
            assert_equal [digest to] $stored
            assert_equal [r PTTL to] -1
            if {$captured} {
                assert_equal [$reader read] [expr {$len / 3 * 9}]
            }
        }
    }
}

# The events of the command, which `at_once` has a transaction run.
proc events_of {at_once command} {
    if {$at_once} {
        r MULTI
        r {*}$command
        r EXEC
    } else {
        r {*}$command
    }
    r PUBLISH __keyevent@0__:end {}
    set events {}
    while {[set event [lindex [$::listener read] 2]] ne "__keyevent@0__:end"} {
        lappend events $event
    }
    return $events
}

check "events and encoding are those of a command that runs at once" {
    make_sources
    r CONFIG SET notify-keyspace-events KEAoc
    set listener [client_open]
    $listener call PSUBSCRIBE __keyevent@*
    set all {}
    foreach old {{DEL to} {RPUSH to x} {SET to x} {SETRANGE to 2999999 x}} {
        foreach at_once {1 0} {
            r CONFIG SET notify-keyspace-events ""
            r DEL to
            r {*}$old
            r CONFIG SET notify-keyspace-events KEAoc
            lappend all [list [events_of $at_once {BITOP AND to a b}] [r OBJECT ENCODING to]]
        }
    }
    r CONFIG SET notify-keyspace-events ""
    foreach {expected now} $all {
        assert_equal $now $expected
    }
    lindex $all 2
} {{__keyevent@0__:overwritten __keyevent@0__:type_changed __keyevent@0__:set} raw}

check "short strings take no thread" {
    set before [total_works]
    r SET small [string repeat x 2000]
    r BITOP AND to small small
    r BITOP ONE to small digits small
    expr {[total_works] - $before}
} 0

finish
