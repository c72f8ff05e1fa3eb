# Replies of large strings: they refer to the string, which goes on changing, instead of copying it.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-debug-command yes}

# More than sockets take, so that most of the reply waits in the server. No piece of it is like another: of each 8,000
# bytes the first say which these are, and the others do not repeat. They are bytes for Tcl, which compares them faster.
set size 24000000
set words {}
for {set i 1} {$i < 1000} {incr i} {
    lappend words [format %08x $i]
}
set rest [join $words {}]
set text {}
for {set i 0} {$i < $size / 8000} {incr i} {
    lappend text [format %08x [expr {100000 + $i}]]
}
set text [binary format a* [join [lmap first $text {string cat $first $rest}] {}]]
unset words rest

proc bulk {bytes} {
    return [binary format a* "\$[string length $bytes]\r\n$bytes\r\n"]
}

proc assert_reads {client expected} {
    assert {[$client read_bytes [string length $expected]] eq $expected}
}

# The field of the newest connection of that name.
proc client_field {client_name field} {
    foreach line [lreverse [split [r CLIENT LIST] \n]] {
        if {[string match "* name=$client_name *" $line] && [regexp "(?:^| )$field=(\\d+)" $line _ value]} {
            return $value
        }
    }
    error "no connection is named $client_name"
}

# A connection that has sent the requests and reads nothing yet; returns when their last reply, or a part of it, waits.
proc stalled {requests {least 10000000}} {
    set c [client_open 2]
    $c call CLIENT SETNAME stalled
    $c write [join [lmap one $requests {request $one}] {}]
    wait_until {[client_field stalled omem] > $least}
    return $c
}

# --- Memory

check_in 2 "a reply takes no memory besides the string's, but counts as the client's output" {
    r SET k $::text
    set before [info_field used_memory]
    set c [stalled {{GET k} {GET k} {GETRANGE k 10 -1}} [expr {2 * $::size}]]
    assert {[info_field used_memory] - $before < 1000000}
    assert {[info_field mem_clients_normal] < 1000000}
    assert {[client_field stalled tot-mem] > 2 * $::size}
    assert_reads $c [bulk $::text][bulk $::text][bulk [string range $::text 10 end]]
    wait_until {[client_field stalled omem] == 0}
    assert {[client_field stalled tot-mem] < 1000000}
    $c call PING
} PONG
check_in 2 "a write costs the pieces that it changes, however many replies refer to the string" {
    r SET k $::text
    set c [stalled {{GET k} {GET k} {GET k}}]
    set before [info_field used_memory]
    r SETRANGE k [expr {$::size - 100000}] changed
    r SETBIT k [expr {8 * ($::size - 200000)}] 0
    assert {[info_field used_memory] - $before < 1000000}
    assert_reads $c [string repeat [bulk $::text] 3]
    wait_until {[info_field used_memory] - $before < 100000}
}
foreach {what requests} {
    "is deleted"          {{DEL k}}
    "is unlinked"         {{UNLINK k}}
    "is replaced"         {{SET k x}}
    "expires"             {{PEXPIRE k 1} {GET k}}
    "is flushed"          {FLUSHALL}
    "is flushed by another thread" {{FLUSHALL ASYNC}}
} {
    check_in 2 "the memory of a string that $what is freed when its reply is sent, or the client is gone" \
            [string map [list @requests $requests] {
        set before [info_field used_memory]
        foreach end {read close kill} {
            r SET k $::text
            set c [stalled {{GET k}}]
            foreach one {@requests} {
                r {*}$one
            }
            wait_until {[r EXISTS k] == 0 || [r STRLEN k] < 10}
            assert {[info_field used_memory] - $before > $::size}
            switch $end {
                read {assert_reads $c [bulk $::text]}
                close {$c close}
                kill {r CLIENT KILL ID [client_field stalled id]}
            }
            wait_until {[info_field used_memory] - $before < 1000000}
            r FLUSHALL
        }
    }]
}

# --- The bytes

foreach {what requests} {
    "is overwritten in part"  {{SETRANGE k 0 changed} {SETRANGE k 12000000 changed} {SETRANGE k 23999993 changed}}
    "has bits set"            {{SETBIT k 190000000 1} {BITFIELD k SET u8 180000000 1 INCRBY u8 9000000 5}}
    "is appended to"          {{APPEND k more} {APPEND k @large}}
    "is extended"             {{SETRANGE k 30000000 more} {SETRANGE k 60000000 more}}
    "is replaced"             {{SET k @large} {SET k x}}
    "is renamed"              {{RENAME k other} {SETRANGE other 23000000 changed}}
    "is copied"               {{COPY k other} {SETRANGE other 23000000 changed} {DEL k}}
    "is deleted and set anew" {{DEL k} {SET k @large}}
} {
    check "a reply has the string as it was, though it $what meanwhile" [string map [list @requests $requests] {
        r SET k $::text
        set c [stalled {{GET k}}]
        foreach one {@requests} {
            r {*}[string map [list @large [string repeat L 9000000]] $one]
        }
        assert_reads $c [bulk $::text]
        r FLUSHALL
    }]
}
check_in 2 "each reply has the string of its moment" {
    r SET k $::text
    set expected {}
    set requests {}
    set now $::text
    for {set i 0} {$i < 6} {incr i} {
        set at [expr {20000000 + 8 * $i}]
        lappend requests {GET k} "SETRANGE k $at change-$i" {APPEND k more}
        append expected [bulk $now]
        set now [string replace $now $at $at+7 change-$i]
        append expected ":[string length $now]\r\n"
        append now more
        append expected ":[string length $now]\r\n"
    }
    set c [stalled $requests 100000000]
    r SETRANGE k 0 [string repeat z 23000000]
    assert_reads $c $expected
}
check_in 2 "a snapshot and replies of the same string disturb each other not" {
    r SET k $::text
    r CONFIG SET rdb-key-save-delay 0
    set c [stalled {{GET k}}]
    r BGSAVE
    assert {[r GET k] eq $::text}
    r SETRANGE k 21000000 changed
    r SETRANGE k 10 changed
    wait_until {[info_field rdb_bgsave_in_progress] == 0}
    assert_equal [info_field rdb_last_bgsave_status] ok
    assert_reads $c [bulk $::text]
    set last [r GET k]
    r DEBUG RELOAD
    assert {[r GET k] eq $last}
}

# --- Among other replies

check_in 2 "replies keep their order" {
    r SET k $::text
    r SET small 1
    r RPUSH l a
    set c [client_open 2]
    $c write [join [lmap one {PING {GET k} {GET small} {MGET small k nokey k l} {GETRANGE k 5 100000} {LRANGE l 0 -1}
        {GETDEL k} {GET k} PING} {request $one}] {}]
    set large [bulk $::text]
    set part [bulk [string range $::text 5 100000]]
    assert_reads $c "+PONG\r\n$large\$1\r\n1\r\n*5\r\n\$1\r\n1\r\n$large\$-1\r\n$large\$-1\r\n"
    assert_reads $c "$part*1\r\n\$1\r\na\r\n$large\$-1\r\n+PONG\r\n"
}
check "every command that replies a string does so" {
    foreach request {{GET k} {GETEX k EX 100} {GETSET k x} {SET k x GET} {SET k x XX GET EX 100} {GETDEL k}
            {GETRANGE k 0 -1} {SUBSTR k 0 -1}} {
        r SET k $::text
        assert {[r {*}$request] eq $::text}
    }
}
check_in 2 "a transaction replies each string as it was when its command ran" {
    r SET k $::text
    set c [client_open 2]
    foreach one {MULTI {GET k} {SETRANGE k 100 changed} {GET k} {DEL k} {GET k}} {
        $c write [request $one]
    }
    $c write [request EXEC]
    assert_reads $c "+OK\r\n[string repeat "+QUEUED\r\n" 5]"
    assert_reads $c "*5\r\n[bulk $::text]:$::size\r\n[bulk [string replace $::text 100 106 changed]]:1\r\n\$-1\r\n"
}
check_in 2 "an unwanted reply is dropped" {
    r SET k $::text
    set before [info_field used_memory]
    set c [client_open 2]
    foreach one {{CLIENT REPLY SKIP} {GET k} PING {CLIENT REPLY OFF} {GET k} {CLIENT REPLY ON} {STRLEN k}} {
        $c write [request $one]
    }
    assert_reads $c "+PONG\r\n+OK\r\n:$::size\r\n"
    r DEL k
    wait_until {[info_field used_memory] < $before - $::size / 2}
}

# --- Limits

check_in 2 "a reply over the hard limit is not sent: the connection is closed" {
    r SET k $::text
    with_config {client-output-buffer-limit "normal 10mb 0 0"} {
        foreach request {{GET k} {GETRANGE k 1 -1} {MGET k k}} {
            set before [info_field client_output_buffer_limit_disconnections]
            set c [client_open 2]
            $c write [request $request]
            assert_equal [$c read_all] ""
            assert_equal [info_field client_output_buffer_limit_disconnections] [expr {$before + 1}]
        }
        set c [client_open 2]
        foreach one {MULTI {GETRANGE k 0 6000000} {GETRANGE k 0 6000000}} {
            $c call {*}$one
        }
        $c write [request EXEC]
        assert_equal [$c read_all] ""
        string length [r GETRANGE k 0 6000000]
    }
} 6000001
check_in 2 "a reply over the soft limit closes the connection in time" {
    r SET k $::text
    set before [info_field client_output_buffer_limit_disconnections]
    with_config {client-output-buffer-limit "normal 0 1mb 1"} {
        set c [stalled {{GET k}}]
        wait_until {[info_field client_output_buffer_limit_disconnections] == $before + 1}
    }
}
check_in 2 "maxmemory-clients counts replies as if they were copied" {
    r SET k $::text
    set before [info_field evicted_clients]
    set c [stalled {{GET k} {GET k}} $::size]
    with_config {maxmemory-clients 20mb} {
        wait_until {[info_field evicted_clients] == $before + 1}
        r PING
    }
} PONG

# --- The append-only file

with_server {appendonly yes appendfsync always} {
    check_in 2 "a large reply waits until the changes before it are safe" {
        r SET k $::text
        set c [client_open 2]
        foreach one {{APPEND k x} {GET k} {GETDEL k} {SET k y GET} {GETSET k z}} {
            $c write [request $one]
        }
        set longer [bulk ${::text}x]
        assert_reads $c ":[expr {$::size + 1}]\r\n$longer$longer\$-1\r\n\$1\r\ny\r\n"
    }
    # They are held with short replies until the changes are safe, as a copy is.
    check "so does one of 40 KB, as it was when the command ran" {
        set values {}
        set requests {}
        foreach size {20000 40000 60000 40000} {
            lappend values [string range $::text $size [expr {2 * $size - 1}]]
        }
        set c [client_open 2]
        set expected {}
        foreach value $values {
            append requests [request [list SET k $value]] [request {GET k}] [request {GETRANGE k 1 -1}] \
                [request {SETRANGE k 0 changed}] [request {GET k}]
            append expected +OK\r\n [bulk $value] [bulk [string range $value 1 end]] \
                :[string length $value]\r\n [bulk changed[string range $value 7 end]]
        }
        $c write $requests
        assert_reads $c $expected
        $c call PING
    } PONG
}

finish
