# Steps of the wall clock: they do not change how long timeouts and delays last; expiries move with the clock.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join [file dirname [file normalize [info script]]] lib faults.tcl]

set day 86400

proc server_seconds {} {
    return [expr {[info_field server_time_usec] / 1000000}]
}

# Steps the server's clock, and waits until the server uses it.
proc step_clock {seconds} {
    faults "clock $seconds *"
    assert {abs([server_seconds] - [clock seconds] - $seconds) < 1000}
}

proc client_field {name field} {
    if {![regexp "id=\\d+ \[^\n\]*name=$name \[^\n\]*$field=(\\d+)" [$::current_server control CLIENT LIST] _ value]} {
        error "no client is named $name"
    }
    return $value
}

# Runs the body in a server of its own, for either direction of the step.
proc with_steps {directives body} {
    foreach ::step [list $::day -$::day] {
        with_faulty_server $directives {
            uplevel 1 $body
        }
    }
}

server_start

check_in 2 "CLIENT PAUSE ends in time" {
    with_steps {} {
        set admin [client_open]
        $admin call CLIENT PAUSE 100000 WRITE
        set held [client_open]
        $held send SET k x
        wait_blocked 1
        step_clock $step
        assert {[$held is_silent 300]}
        $admin call CLIENT UNPAUSE
        $held read
        $admin call CLIENT PAUSE 500 WRITE
        step_clock 0
        step_clock $step
        $held call SET k y
    }
}
check_in 2 "a soft output limit counts seconds that have passed" {
    with_steps {} {
        set admin [client_open]
        $admin call SET big [string repeat x 1000000]
        foreach {seconds is_closed} {1000 0 1 1} {
            $admin call CONFIG SET client-output-buffer-limit "normal 0 5mb $seconds"
            set closed [info_field client_output_buffer_limit_disconnections]
            set slow [client_open]
            $slow write [string repeat [request {GET big}] 30]
            wait_until {[regexp {omem=\d{8} } [$::current_server control CLIENT LIST]]}
            step_clock $step
            if {$is_closed} {
                wait_until {[info_field client_output_buffer_limit_disconnections] > $closed}
            } else {
                $admin is_silent 300
                assert_equal [info_field client_output_buffer_limit_disconnections] $closed
            }
            step_clock 0
            $slow close
        }
    }
}
check_in 2 "commands are counted per second" {
    with_steps {} {
        set c [client_open]
        step_clock $step
        set is_busy {[llength [$c pipeline [lrepeat 5000 PING]]] == 5000 &&
                     [info_field instantaneous_ops_per_sec] > 1000}
        wait_until $is_busy
        step_clock 0
        wait_until {![$c is_silent 50] || [info_field instantaneous_ops_per_sec] < 500}
        wait_until $is_busy
    }
}
check_in 2 "ages, idle times and the uptime do not leap, and no client times out" {
    with_steps {timeout 1000} {
        set c [client_open]
        $c call CLIENT SETNAME quiet
        $c call SET k x
        step_clock $step
        $c is_silent 300
        foreach field {age idle} {
            assert {[client_field quiet $field] < 1000}
        }
        assert {[info_field uptime_in_seconds] < 1000}
        assert {[$c call OBJECT IDLETIME k] < 1000}
        assert_equal [$c call CLIENT KILL MAXAGE 1000 SKIPME no] 0
        $c call SET after x
        step_clock 0
        assert {[$c call OBJECT IDLETIME after] < 1000}
    }
}
check_in 2 "save points count seconds that have passed" {
    with_steps {save {"1000 1"}} {
        set c [client_open]
        $c call SET k x
        step_clock $step
        $c is_silent 300
        assert_equal [info_field rdb_saves] 0
        $c call CONFIG SET save "1 1"
        wait_until {[info_field rdb_saves] > 0 && [info_field rdb_bgsave_in_progress] == 0}
        set seconds [info_field rdb_last_bgsave_time_sec]
        assert {$seconds >= 0 && $seconds < 1000}
    }
}
check_in 2 "a blocked client waits for as long as it wanted" {
    with_steps {} {
        set c [client_open]
        $c send BLPOP l 1000
        wait_blocked 1
        step_clock $step
        assert {[$c is_silent 300]}
        [client_open] call RPUSH l x
        assert_equal [$c read] {l x}
        $c send BLPOP l 0.5
        step_clock 0
        assert_equal [$c read] (nil)
    }
}
check_in 2 "keys expire by the wall clock" {
    with_faulty_server {} {
        set c [client_open]
        $c call SET k x EX 1000
        $c call SET later x EX 100000
        step_clock $day
        list [$c call GET k] [$c call GET later]
    }
} {(nil) x}

finish
