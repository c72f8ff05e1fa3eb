# TIME and SHUTDOWN.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

check "TIME is the wall clock in seconds and microseconds" {
    set before [clock seconds]
    lassign [r TIME] seconds microseconds
    assert {$seconds >= $before && $seconds <= [clock seconds]}
    expr {$microseconds >= 0 && $microseconds < 1000000}
} 1
check "TIME answers an array of two bulk strings" {
    lassign [typed TIME] type members
    list $type [lmap member $members {lindex $member 0}]
} {array {bulk bulk}}
check "TIME goes on within a pipeline" {
    set c [client_open]
    lassign [$c pipeline {TIME TIME}] first second
    expr {[lindex $second 0] * 1000000 + [lindex $second 1] >= [lindex $first 0] * 1000000 + [lindex $first 1]}
} 1
check_error "TIME takes no argument" {r TIME x} "ERR wrong number of arguments for 'time' command"

check "SHUTDOWN refuses options that make no sense and goes on" {
    foreach arguments {foo {NOSAVE SAVE} {ABORT NOW} {NOSAVE ABORT} {NOW NOSAVE x}} {
        assert_equal [error_of {r SHUTDOWN {*}$arguments}] "ERR syntax error"
    }
    r PING
} PONG
check_error "SHUTDOWN ABORT finds nothing to abort" {r SHUTDOWN ABORT} "ERR No shutdown in progress."
foreach arguments {{} NOSAVE {NOW NOSAVE} {save force} FORCE} {
    check "SHUTDOWN $arguments ends the server in order and the connection with it" [string map [list @ $arguments] {
        with_server {} {
            set c [client_open]
            $c send SHUTDOWN @
            list [$c is_closed] [$current_server wait_exit]
        }
    }] {1 0}
}
check "replies before SHUTDOWN in a pipeline arrive, and nothing after it is run" {
    with_server {} {
        set c [client_open]
        $c write "ECHO before\r\nSHUTDOWN NOSAVE\r\nECHO after\r\n"
        list [$c read] [$c is_closed] [$current_server wait_exit]
    }
} {before 1 0}

finish
