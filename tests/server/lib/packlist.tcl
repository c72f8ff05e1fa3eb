# The framework of the server tests; tests/server/README.md explains how to write one. A test file sources this first,
# starts a server, makes its checks and ends with `finish`.
#
#   check name body ?expected? ?-match glob|regexp?
#       Runs the body twice, in RESP2 and in RESP3, each time on an empty keyspace with a fresh connection, and
#       compares its result; without `expected` it only must not throw. Connections opened meanwhile are closed.
#       With PACKLIST_PROTOCOL only in that one, unless the body looks at the protocol.
#   check_in protocols name body ?expected? …       the same in the protocols of the list only
#   check_error name body text                      the body must end in exactly this error reply
#
#   r LPUSH k a b                   in a check: the plain value of a reply, see client.tcl; errors throw
#   typed LPUSH k a b               the same with its type
#   client_open ?protocol?          another connection
#   client_blocked BLPOP k 0        another connection that sent this and waits; then `$c read`
#   wait_blocked count              until so many clients wait
#   clients_in_order                two connections whose requests reach the loop in the order in which they are sent
#   wait_until {condition} ?ms?     until an expression holds; throws when it does not in time
#   info_field name                 a field of INFO
#   at_once body                    the server does not run meanwhile; then all that was sent to it is there at once
#   with_config {name value …} body CONFIG SETs for the body, and back
#   assert_equal actual expected    and assert {condition}, assert_match pattern actual: for checks of several steps
#   error_of body                   the text of the error that a body ends in
#   elapsed_ms body                 how long it takes
#   time_ms reply                   a reply of TIME, in milliseconds
#   cli arguments …                 the output of redis-cli
#
#   is_threaded, spare_blocks       variables: whether the server has I/O threads (PACKLIST_THREADED), and how many
#                                   bytes these may keep for later use, beyond what a test measures
#
# Environment: CHECK=glob runs only the checks whose name matches, VERBOSE=1 names those that pass. PACKLIST_SEED is the
# seed of rand().
if {[info exists library]} return ;# another file in lib/ has sourced it
package require Tcl 8.6
package require tcltest 2.3

set library [file dirname [file normalize [info script]]]
source $library/client.tcl
source $library/server.tcl

# tcltest compares and counts; what it prints of a failure is replaced by show_failure.
tcltest::configure -verbose {} -outfile /dev/null
if {[info exists env(CHECK)]} {
    tcltest::configure -match [list $env(CHECK)]
}
set seed [expr {[info exists env(PACKLIST_SEED)] ? $env(PACKLIST_SEED) : [clock microseconds] ^ [pid]}]
expr {srand($seed)}
# Each of two threads, and the loop for each, keeps up to 256 blocks of 1 KB and 17 of 16 KB.
set is_threaded [info exists env(PACKLIST_THREADED)]
set spare_blocks [expr {$is_threaded ? 2 * 2 * (256 + 17 * 16) * 1024 : 0}]

set protocol 2
set default_client ""

proc check {name body args} {
    set chosen [expr {[info exists ::env(PACKLIST_PROTOCOL)] && ![looks_at_protocol $body]
        ? $::env(PACKLIST_PROTOCOL) : {2 3}}]
    uplevel 1 [list check_in $chosen $name $body {*}$args]
}

# Whether a body, or a procedure that it may call, distinguishes the protocols. Words of a body that are no calls only
# cost a run more.
proc looks_at_protocol {body} {
    if {[regexp {\mtyped\M|protocol|HELLO|client_open [23]} $body]} {
        return 1
    }
    foreach word [lsort -unique [regexp -all -inline {\w+} $body]] {
        if {[llength [info procs ::$word]] && $word ni {r default_client client_open looks_at_protocol}} {
            if {![info exists ::looks_cache($word)]} {
                set ::looks_cache($word) 0 ;# while it is being found out, for recursion
                set ::looks_cache($word) [looks_at_protocol [info body ::$word]]
            }
            if {$::looks_cache($word)} {
                return 1
            }
        }
    }
    return 0
}

proc check_in {protocols name body args} {
    set options {-match exact}
    if {[llength $args] % 2 == 1} {
        set args [lassign $args expected]
        set body_to_run [list run_check $body]
    } else {
        set expected ""
        set body_to_run "[list run_check $body]; set _ {}"
    }
    foreach ::protocol $protocols {
        run_test "$name (RESP$::protocol)" $body_to_run $expected {*}$options {*}$args
        if {![$::current_server is_running]} {
            puts "==== the server died in: $name (RESP$::protocol)"
            finish
        }
    }
}

proc run_test {name body expected args} {
    set before $::tcltest::numTests(Failed)
    set passed $::tcltest::numTests(Passed)
    set ::outcome {}
    tcltest::test $name "" -body [list note_outcome $body] -result $expected {*}$args
    if {$::tcltest::numTests(Failed) > $before} {
        show_failure $name $expected {*}$::outcome
    } elseif {[info exists ::env(VERBOSE)] && $::tcltest::numTests(Passed) > $passed} {
        puts "passed: $name"
    }
}

# Runs the body and keeps its result, or its error's text and trace, for show_failure.
proc note_outcome {body} {
    set status [catch {uplevel #0 $body} result options]
    set ::outcome [list $status $result [expr {$status == 1 ? [dict get $options -errorinfo] : ""}]]
    return -options $options $result
}

# What was expected and what came, how it came to an error, and where the check stands. The trace ends where it would
# show what runs every check.
proc show_failure {name expected status result trace} {
    puts "FAILED: $name"
    puts "expected: [printable $expected]"
    puts "got[expr {$status == 1 ? " an error" : ""}]: [printable $result]"
    if {$status == 1} {
        set calls [string range $trace [string length $result]+1 end]
        puts [regsub {\n    \((?:"uplevel" body|procedure "run_check") line.*} $calls ""]
    }
    puts "in [file tail [info script]]"
}

proc check_error {name body text} {
    check $name [list error_of $body] $text
}

# The body in global scope, between an empty keyspace and no connection left.
proc run_check {body} {
    $::current_server control FLUSHALL
    set ::default_client ""
    try {
        set result [uplevel #0 $body]
    } on error {message options} {
        return -options $options $message
    } finally {
        close_connections
    }
    if {![wait_while {[info_field connected_clients] > 1}]} {
        error "the server still counts connections that were closed"
    }
    return $result
}

proc close_connections {} {
    set kept [lmap server [info class instances server] {$server control_client}]
    foreach connection [info class instances client] {
        if {$connection ni $kept} {
            $connection close
        }
    }
}

proc client_open {{version ""}} {
    return [client new 127.0.0.1 [$::current_server port] [expr {$version eq "" ? $::protocol : $version}]]
}

proc default_client {} {
    if {$::default_client eq ""} {
        set ::default_client [client_open]
    }
    return $::default_client
}

proc r {args} {
    return [[default_client] call {*}$args]
}

proc typed {args} {
    return [[default_client] typed {*}$args]
}

proc client_blocked {args} {
    set connection [client_open]
    set waiting [info_field blocked_clients]
    $connection send {*}$args
    wait_blocked [expr {$waiting + 1}]
    return $connection
}

# I/O threads keep no order among each other: the two are with the same one.
proc clients_in_order {} {
    set of_thread {}
    foreach _ {1 2 3} {
        set connection [client_open]
        wait_until {
            [regexp {io-thread=(\d+)} [$connection call CLIENT INFO] _ thread] && ($thread > 0) == $::is_threaded
        }
        if {[dict exists $of_thread $thread]} {
            return [list [dict get $of_thread $thread] $connection]
        }
        dict set of_thread $thread $connection
    }
    error "more than two threads have clients"
}

proc wait_blocked {count} {
    wait_until {[info_field blocked_clients] == $count}
}

proc wait_until {condition {limit_ms ""}} {
    if {![uplevel 1 [list wait_while "!($condition)" $limit_ms]]} {
        error "not in time: $condition"
    }
}

# Fields are asked for again and again by what waits. All sections take ten times as long as one, so that of a field is
# noted; it may have been another server's.
proc info_field {name} {
    if {[info exists ::section_of($name)]} {
        set text [$::current_server control INFO $::section_of($name)]
        if {[regexp -line "^$name:(\[^\r\]*)" $text _ value]} {
            return $value
        }
    }
    set text [$::current_server control INFO everything]
    if {![regexp -line -indices "^$name:(\[^\r\]*)" $text _ place]} {
        error "INFO has no field $name"
    }
    set before [string range $text 0 [lindex $place 0]]
    set ::section_of($name) [lindex [regexp -all -inline -line {^# (\w+)\r$} $before] end]
    return [string range $text {*}$place]
}

proc with_config {settings body} {
    set before {}
    foreach {name _} $settings {
        lappend before {*}[$::current_server control CONFIG GET $name]
    }
    $::current_server control CONFIG SET {*}$settings
    try {
        uplevel 1 $body
    } finally {
        $::current_server control CONFIG SET {*}$before
    }
}

proc assert_equal {actual expected} {
    if {$actual ne $expected} {
        error "got [printable $actual]\nnot [printable $expected]"
    }
}

proc assert {condition} {
    if {![uplevel 1 [list expr $condition]]} {
        error "does not hold: $condition"
    }
}

proc assert_match {pattern text} {
    if {![string match $pattern $text]} {
        error "got [printable $text]\nnot [printable $pattern]"
    }
}

proc error_of {body} {
    if {![catch {uplevel 1 $body} result options]} {
        error "no error, but: [printable $result]"
    }
    if {[dict get $options -errorcode] ne {REPLY ERROR}} {
        return -options $options $result
    }
    return $result
}

proc at_once {body} {
    exec kill -STOP [$::current_server pid]
    try {
        uplevel 1 $body
    } finally {
        exec kill -CONT [$::current_server pid]
    }
}

# Milliseconds since the epoch, of a reply of TIME.
proc time_ms {reply} {
    lassign $reply seconds us
    return [expr {$seconds * 1000 + $us / 1000}]
}

proc elapsed_ms {body} {
    set start [clock milliseconds]
    uplevel 1 $body
    return [expr {[clock milliseconds] - $start}]
}

proc cli {args} {
    return [exec redis-cli -p [$::current_server port] {*}$args 2>@1]
}

# Stops the server, prints the closing line and ends the process.
proc finish {} {
    if {$::current_server ne ""} {
        set log [$::current_server log]
        server_stop
        if {$::tcltest::numTests(Failed) > 0 && [llength $::all_problems] == 0} {
            puts "---- the server's log ends with:\n[last_lines $log 30]"
        }
    }
    set failed [expr {$::tcltest::numTests(Failed) + [llength $::all_problems]}]
    if {$failed} {
        puts "PACKLIST_SEED=$::seed"
    }
    puts "$::tcltest::numTests(Passed) passed, $failed failed"
    exit [expr {$failed > 0}]
}
