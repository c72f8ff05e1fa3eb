# MONITOR: a client that receives all commands.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-debug-command yes}

# A connection that monitors.
proc monitor_open {} {
    set c [client_open]
    assert_equal [$c call MONITOR] OK
    return $c
}

# The next `count` lines without their times: {[db address] "command" …} each, the address of a TCP client as "-".
# The framework's own commands are left out: INFO, and HELLO 3 of a new connection.
proc lines_of {monitor count} {
    set lines {}
    while {[llength $lines] < $count} {
        set typed [$monitor read_typed]
        assert_equal [lindex $typed 0] simple
        if {![regexp {^\d{10,}\.\d{6} (\[.*)$} [lindex $typed 1] _ line]} {
            error "not a line of MONITOR: $typed"
        }
        if {![regexp {\] "(INFO" "\w+"|HELLO" "3")$} $line]} {
            lappend lines [regsub {127\.0\.0\.1:\d+\]} $line "-\]"]
        }
    }
    return $lines
}

# The lines that commands of another connection give.
proc lines_for {args} {
    set monitor [monitor_open]
    set c [client_open 2]
    foreach command $args {
        $c typed {*}$command
    }
    $c typed ECHO end
    set lines {}
    while {[set line [lindex [lines_of $monitor 1] 0]] ne {[0 -] "ECHO" "end"}} {
        lappend lines $line
    }
    return $lines
}

check "each command is one line with its time, database and client" {
    set monitor [monitor_open]
    set before [clock seconds]
    set c [client_open 2]
    $c call SET a 1
    regexp {addr=(\S+)} [$c call CLIENT INFO] _ address
    regexp {^\+(\d+)\.\d{6} (.*)$} [$monitor read_line] _ seconds line
    assert {$seconds >= $before && $seconds <= [clock seconds]}
    expr {$line eq "\[0 $address\] \"SET\" \"a\" \"1\""}
} 1
check "arguments are quoted" {
    lines_for [list echo "a\"b\\c\x00\xff\n\r\t\a\b'"] [list ECHO ""]
} {{[0 -] "echo" "a\"b\\c\x00\xff\n\r\t\a\b'"} {[0 -] "ECHO" ""}}
check "the database is the one after the command" {
    lines_for {SELECT 3} {GET a} {SELECT 0}
} {{[3 -] "SELECT" "3"} {[3 -] "GET" "a"} {[0 -] "SELECT" "0"}}
check "commands that fail are shown, requests that name no command or do not fit it are not" {
    lines_for {SET s 1} {LPUSH s a} FOO GET {LPUSH l}
} {{[0 -] "SET" "s" "1"} {[0 -] "LPUSH" "s" "a"}}
check "commands of administrators are not shown" {
    lines_for {CONFIG GET port} {DEBUG SLEEP 0} {CLIENT LIST} {CLIENT KILL ID 0} {CLIENT PAUSE 0} {SHUTDOWN FOO} \
        {CLIENT ID}
} {{[0 -] "CLIENT" "ID"}}
check "commands that are unknown or used wrongly are not shown" {
    lines_for {NOSUCH a} {CONFIG NOSUCH} {GET} {GET a}
} {{[0 -] "GET" "a"}}
check "passwords are not shown" {
    lines_for {AUTH secret} {AUTH default secret} {HELLO 3 SETNAME me AUTH default secret} {HELLO 2}
} {{[0 -] "AUTH" "(redacted)"} {[0 -] "AUTH" "(redacted)" "(redacted)"}\
    {[0 -] "HELLO" "3" "SETNAME" "me" "AUTH" "(redacted)" "(redacted)"} {[0 -] "HELLO" "2"}}
check "a transaction is shown when it is run, EXEC behind its commands" {
    lines_for MULTI {SET a 1} {AUTH secret} EXEC MULTI PING DISCARD {WATCH a} EXEC
} {{[0 -] "MULTI"} {[0 -] "SET" "a" "1"} {[0 -] "AUTH" "(redacted)"} {[0 -] "EXEC"} {[0 -] "MULTI"} {[0 -] "DISCARD"}\
    {[0 -] "WATCH" "a"} {[0 -] "EXEC"}}
check "a blocking command is shown when it begins to wait, and only then" {
    set monitor [monitor_open]
    set waiting [client_open 2]
    $waiting send BLPOP l 0
    assert_equal [lines_of $monitor 1] {{[0 -] "BLPOP" "l" "0"}}
    set c [client_open 2]
    $c call RPUSH l a
    $waiting read
    $c call PING
    lines_of $monitor 2
} {{[0 -] "RPUSH" "l" "a"} {[0 -] "PING"}}
check "a command that CLIENT PAUSE holds back is shown when it is run" {
    set monitor [monitor_open]
    set c [client_open 2]
    $current_server control CLIENT PAUSE 100000 WRITE
    $c send SET a 1
    assert {[$monitor is_silent]}
    $current_server control CLIENT UNPAUSE
    lines_of $monitor 1
} {{[0 -] "SET" "a" "1"}}
check "a pipeline is shown in its order, to several monitors" {
    set monitors [list [monitor_open] [monitor_open] [monitor_open]]
    set commands {}
    for {set i 0} {$i < 2000} {incr i} {
        lappend commands [list ECHO $i]
    }
    [client_open 2] pipeline $commands
    set first [lines_of [lindex $monitors 0] 2000]
    assert_equal [lindex $first 1999] {[0 -] "ECHO" "1999"}
    foreach monitor [lrange $monitors 1 end] {
        assert {[lines_of $monitor 2000] eq $first}
    }
}

# --- The monitor itself

check "its own commands are answered, then shown" {
    set monitor [monitor_open]
    assert_equal [$monitor call ECHO me] me
    assert_equal [lines_of $monitor 1] {{[0 -] "ECHO" "me"}}
    $monitor write "MULTI\r\nPING\r\nEXEC\r\n"
    set replies {}
    for {set i 0} {$i < 7} {incr i} {
        set line [$monitor read_line]
        lappend replies [regsub {^\+\d+\.\d+ \[.*\] } $line "+shown "]
    }
    set replies
} {+OK {+shown "MULTI"} +QUEUED *1 +PONG {+shown "PING"} {+shown "EXEC"}}
check "it must not touch keys" {
    set monitor [monitor_open]
    foreach command {{GET a} {SET a 1} {KEYS *} DBSIZE FLUSHALL {BLPOP l 0} {SCAN 0}} {
        assert_equal [$monitor typed {*}$command] {error {ERR Replica can't interact with the keyspace}}
    }
    $monitor call SELECT 1
} OK
check "a second MONITOR has no answer" {
    set monitor [monitor_open]
    $monitor send MONITOR
    $monitor call ECHO next
} next
check "MONITOR cannot be part of a transaction" {
    r MULTI
    assert_equal [r MONITOR] QUEUED
    typed EXEC
} {array {{error {ERR MONITOR isn't allowed for DENY BLOCKING client}}}}
check "MONITOR needs the password" {
    r CONFIG SET requirepass secret
    try {
        [client new 127.0.0.1 [$current_server port] 2] typed MONITOR
    } finally {
        r CONFIG SET requirepass ""
    }
} {error {NOAUTH Authentication required.}}
check "RESET ends it" {
    set monitor [monitor_open]
    assert_equal [$monitor call RESET] RESET
    r PING
    assert {[$monitor is_silent]}
    list [$monitor call SET a 1] [$monitor call GET a]
} {OK 1}
check "QUIT ends it" {
    set monitor [monitor_open]
    assert_equal [$monitor call QUIT] OK
    assert {[$monitor is_closed]}
    r PING
} PONG
check "a monitor among others leaves, and the others go on" {
    set first [monitor_open]
    set second [monitor_open]
    set third [monitor_open]
    $first close
    wait_until {[info_field connected_clients] == 3}
    set c [client_open 2]
    $c call PING
    list [lindex [lines_of $second 1] end] [lindex [lines_of $third 1] end]
} {{[0 -] "PING"} {[0 -] "PING"}}
check "CLIENT LIST marks it" {
    set monitor [monitor_open]
    $monitor call CLIENT SETNAME watcher
    set line [lsearch -inline [split [r CLIENT LIST] \n] "*name=watcher*"]
    regexp -inline {flags=\S+} $line
} flags=O
check "CLIENT KILL ends it" {
    r PING
    set monitor [monitor_open]
    r CLIENT KILL ID [$monitor call CLIENT ID]
    lines_of $monitor 1
    $monitor is_closed
} 1
check "CLIENT REPLY OFF silences it" {
    set monitor [monitor_open]
    $monitor send CLIENT REPLY OFF
    assert {[$monitor is_silent]}
    [client_open 2] call PING
    assert {[$monitor is_silent]}
    $monitor call CLIENT REPLY ON
} OK
check_in 2 "timeout does not end it, as it only listens" {
    with_config {timeout 2} {
        set monitor [monitor_open]
        set idle [client_open]
        set start [clock milliseconds]
        while {[clock milliseconds] - $start < 3500} {
            info_field uptime_in_seconds
            after 100
        }
        assert {[$idle is_closed]}
        [client_open 2] call ECHO here
        lines_of $monitor 1
    }
} {{[0 -] "ECHO" "here"}}
check "a monitor that does not read is closed at its output limit" {
    with_config {client-output-buffer-limit "normal 1mb 0 0"} {
        set monitor [monitor_open]
        set reader [monitor_open]
        set c [client_open 2]
        set text [string repeat x 100000]
        set closed [info_field client_output_buffer_limit_disconnections]
        for {set i 0} {$i < 200 && [info_field client_output_buffer_limit_disconnections] == $closed} {incr i} {
            $c call ECHO $text
            lines_of $reader 1
        }
        assert {$i < 200}
        $c call PING
        lines_of $reader 1
    }
} {{[0 -] "PING"}}

# --- Unix sockets

check "a client of the unix socket is shown with the socket's path" {
    set path /tmp/packlist-monitor-[pid].sock
    with_server [list unixsocket $path] {
        set monitor [monitor_open]
        exec redis-cli -s $path ECHO here
        set lines {}
        while {[lindex $lines end] ne "\[0 unix:$path\] \"ECHO\" \"here\""} {
            lappend lines [lindex [lines_of $monitor 1] 0]
        }
    }
}

finish
