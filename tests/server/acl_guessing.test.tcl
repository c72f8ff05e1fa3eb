# Passwords that are guessed: what fails from one address is answered later and later, what is right at once.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set wrong "WRONGPASS invalid username-password pair or user is disabled."

proc refusal {connection args} {
    return [error_of {$connection call {*}$args}]
}

# So many logins fail, on connections of their own, or on the one given.
proc fail {count {connection ""}} {
    for {set i 0} {$i < $count} {incr i} {
        set c [expr {$connection eq "" ? [client_open] : $connection}]
        assert_equal [refusal $c AUTH nosuch x] $::wrong
    }
}

# The milliseconds by the server's clock from the first to the last of so many logins, all sent at once, that fail.
proc failures_ms {count} {
    set replies [[client_open] pipeline [list TIME {*}[lrepeat $count {AUTH nosuch x}] TIME]]
    assert_equal [lsort -unique [lrange $replies 1 end-1]] [list "(error) $::wrong"]
    return [expr {[time_ms [lindex $replies end]] - [time_ms [lindex $replies 0]]}]
}

# Failures are not forgotten within a test: each check has a server of its own.
proc check_anew {name body args} {
    uplevel 1 [list check $name [list with_server {} $body] {*}$args]
}

check_anew "after ten failures the next takes longer, and the next still longer" {
    set ten [failures_ms 10]
    set first [elapsed_ms {fail 1}]
    set second [elapsed_ms {refusal [client_open] HELLO 2 AUTH nosuch x}]
    list [expr {$first >= 100}] [expr {$second >= 200}] [expr {$ten < 1000}]
} {1 1 1}
check_anew "a login that succeeds, as the guesser's own user, does not begin the count anew" {
    r ACL SETUSER own reset on >mine
    fail 10
    set c [client_open]
    $c call AUTH own mine
    r AUTH default any
    expr {[elapsed_ms {refusal $c AUTH default2 guess}] >= 100}
} 1
check_anew "meanwhile others are served, and a right password is answered at once" {
    r ACL SETUSER a reset on >right +ping
    fail 13
    set waiting [client_open]
    $waiting send AUTH a wrong
    wait_until {[info_field blocked_clients] == 1}
    set good [client_open]
    set answers [list [$good call AUTH a right] [$good call PING] [$waiting is_silent 20]]
    lappend answers [error_of {$waiting read}]
} [list OK PONG 1 $wrong]
check_anew "what the client sends behind it waits, and runs as the user that it was" {
    r ACL SETUSER a reset on >right +acl|whoami
    fail 10
    set c [client_open]
    $c call AUTH a right
    fail 11
    set ms [elapsed_ms {
        $c send AUTH default2 x
        $c send ACL WHOAMI
        assert_equal [error_of {$c read}] $wrong
        set who [$c read]
    }]
    list $who [expr {$ms >= 200}]
} {a 1}
check_anew "a client that waits can be closed, and may leave" {
    fail 14
    set killed [client_open]
    $killed call CLIENT SETNAME victim
    $killed send AUTH nosuch x
    set leaving [client_open]
    $leaving send AUTH nosuch x
    wait_until {[info_field blocked_clients] == 2}
    regexp {id=(\d+) [^\n]*name=victim} [r CLIENT LIST] line id
    assert_equal [r CLIENT UNBLOCK $id] 0 ;# the wait cannot be cut short
    $leaving close
    r CLIENT KILL ID $id
    wait_until {[info_field blocked_clients] == 0}
    $killed is_closed
} 1
check_anew "a transaction tries no passwords then" {
    r ACL SETUSER a reset on >right +ping
    fail 10
    set c [client_open]
    set ms [elapsed_ms {
        $c pipeline [concat MULTI [lrepeat 100 {AUTH a guess}] {{AUTH a right}}]
        set answers [lsort -unique [$c call EXEC]]
    }]
    set answers
} {{(error) ERR Too many logins from this address have failed to log in within a transaction}}
check_anew "before that it does" {
    r ACL SETUSER a reset on >right +ping
    set c [client_open]
    $c pipeline {MULTI {AUTH a guess} {AUTH a right}}
    $c call EXEC
} {{(error) WRONGPASS invalid username-password pair or user is disabled.} OK}
check_anew "the password does not lie in the slow log, nor is it told of the waiting client" {
    fail 13
    with_config {slowlog-log-slower-than 0} {
        set c [client_open]
        $c send AUTH nosuch topsecret
        wait_until {[info_field blocked_clients] == 1}
        set list [r CLIENT LIST]
        error_of {$c read}
        set log [r SLOWLOG GET 100]
    }
    string match *topsecret* $list$log
} 0
check_in 2 "clients of a Unix socket count as one address, others are not slowed by them" {
    set path [$current_server folder]/guess.sock
    with_server [list unixsocket $path] {
        set command [list redis-cli -s $path]
        for {set i 0} {$i < 13} {incr i} {
            exec {*}$command AUTH nosuch x 2>@1
        }
        set over [elapsed_ms {exec {*}$command AUTH nosuch x 2>@1}]
        set tcp [failures_ms 5]
        list [expr {$over >= 800}] [expr {$tcp < 500}]
    }
} {1 1}

finish
