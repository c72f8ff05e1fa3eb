# The output of clients: slow readers, and the limits of output buffers.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set megabyte [string repeat 0123456789abcdef 65536]
set megabyte_reply "\$1048576\r\n$megabyte\r\n"

proc pending_output {name} {
    if {![regexp " name=$name .* omem=(\\d+)" [$::current_server control CLIENT LIST] _ bytes]} {
        error "no connection is named $name"
    }
    return $bytes
}

# A connection that asked for `count` megabytes and reads nothing; returns when they are waiting for it.
proc slow_reader {count {one {GET big}}} {
    set c [client_open 2]
    $c call CLIENT SETNAME slow
    $c write [string repeat [request $one] $count]
    return $c
}

check "a slow reader delays no other client and gets everything in the end" {
    r SET big $megabyte
    set slow [slow_reader 40]
    wait_until {[pending_output slow] > 20000000}
    for {set i 0} {$i < 200} {incr i} {
        r PING
    }
    for {set i 0} {$i < 40} {incr i} {
        assert {[$slow read_bytes [string length $megabyte_reply]] eq $megabyte_reply}
    }
    wait_until {[pending_output slow] == 0}
    $slow call PING
} PONG
check_in 2 "a slow reader of a deep pipeline gets every small reply" {
    set c [client_open]
    set word [string repeat w 90]
    r SET word $word
    for {set i 0} {$i < 15} {incr i} {
        $c write [string repeat [request {GET word}] 10000]
        r PING
    }
    set part [string repeat "\$90\r\n$word\r\n" 10000]
    for {set i 0} {$i < 15} {incr i} {
        assert {[$c read_bytes [string length $part]] eq $part}
    }
    $c is_silent 20
} 1
check_in 2 "the replies that wait are sent although the client goes on asking" {
    r SET big $megabyte
    set slow [slow_reader 10]
    for {set i 0} {$i < 10} {incr i} {
        $slow write [request {GET big}][request PING]
        assert {[$slow read_bytes [string length $megabyte_reply]] eq $megabyte_reply}
    }
    for {set i 0} {$i < 10} {incr i} {
        assert {[$slow read_bytes [expr {[string length $megabyte_reply] + 7}]] eq "$megabyte_reply+PONG\r\n"}
    }
}
check_in 2 "one reply of 50 MB arrives whole" {
    r RPUSH l {*}[lrepeat 50 $megabyte]
    set c [client_open]
    set expected "*50\r\n[string repeat $megabyte_reply 50]"
    $c write [request {LRANGE l 0 -1}][request PING]
    assert {[$c read_bytes [string length $expected]] eq $expected}
    $c read
} PONG
check_in 2 "what waits for a slow reader counts as memory until it is sent or the client is gone" {
    r RPUSH l $megabyte
    set before [info_field used_memory]
    set slow [slow_reader 30 {LINDEX l 0}]
    wait_until {[pending_output slow] > 15000000}
    assert {[info_field used_memory] - $before > 15000000}
    $slow close
    wait_until {[info_field used_memory] - $before < 3000000 + $spare_blocks}
}
check_in 2 "a client that is killed while replies wait for it is gone" {
    r SET big $megabyte
    set slow [slow_reader 30]
    wait_until {[pending_output slow] > 15000000}
    regexp -line {^id=(\d+) .* name=slow } [r CLIENT LIST] _ id
    assert_equal [r CLIENT KILL ID $id] 1
    wait_until {![string match "* name=slow *" [r CLIENT LIST]]}
}

# --- client-output-buffer-limit

check_in 2 "the hard limit closes a slow reader at once" {
    r SET big $megabyte
    set before [info_field client_output_buffer_limit_disconnections]
    with_config {client-output-buffer-limit "normal 10mb 0 0"} {
        set c [client_open 2]
        catch {$c write [string repeat [request {GET big}] 60]}
        wait_until {[info_field client_output_buffer_limit_disconnections] == $before + 1}
        # Whatever was sent are whole bytes of the first replies; then comes the end.
        if {![catch {$c read_all} bytes]} {
            assert {[string length $bytes] < 60 * 1048576}
            assert {[string equal -length [string length $bytes] $bytes [string repeat $megabyte_reply 60]]}
        }
        r PING
    }
} PONG
check_in 2 "below the hard limit nothing is lost" {
    r SET big $megabyte
    with_config {client-output-buffer-limit "normal 30mb 0 0"} {
        set slow [slow_reader 20]
        r PING
        for {set i 0} {$i < 20} {incr i} {
            assert {[$slow read_bytes [string length $megabyte_reply]] eq $megabyte_reply}
        }
        $slow call PING
    }
} PONG
check_in 2 "a reply over the hard limit is not sent: the connection is closed" {
    r HSET h f $megabyte
    r RPUSH l $megabyte
    with_config {client-output-buffer-limit "normal 100000 0 0"} {
        foreach reply_to {{HMGET h f f f} {LINDEX l 0} {HGET h f}} {
            set before [info_field client_output_buffer_limit_disconnections]
            set c [client_open]
            $c write [request $reply_to]
            assert_equal [$c read_all] ""
            assert_equal [info_field client_output_buffer_limit_disconnections] [expr {$before + 1}]
        }
    }
}
check_in 2 "the replies to a pipeline count together as far as it is read at once" {
    r SET word [string repeat w 4096]
    set length [string length "\$4096\r\n[r GET word]\r\n"]
    with_config {client-output-buffer-limit "normal 100000 0 0"} {
        # 20 replies are below the limit, 100 are far above it, though the client reads all the time.
        set c [client_open]
        $c write [string repeat [request {GET word}] 20]
        assert_equal [string length [$c read_bytes [expr {20 * $length}]]] [expr {20 * $length}]
        $c write [string repeat [request {GET word}] 100]
        assert {[string length [$c read_all]] < 100000}
        # Pauses between the requests let their replies leave.
        set c [client_open]
        for {set i 0} {$i < 100} {incr i} {
            $c write [request {GET word}]
            $c read_bytes $length
        }
        # However many requests there are, small replies to them are below the limit.
        $c write [string repeat "PING\r\n" 40000]
        assert {[$c read_bytes 280000] eq [string repeat "+PONG\r\n" 40000]}
    }
}
check_in 2 "messages that a client has not asked for are below the hard limit, or close the connection" {
    with_config {client-output-buffer-limit "normal 100000 0 0 pubsub 100000 0 0"} {
        set waiting [client_blocked BLPOP q 0]
        r RPUSH q [string repeat x 200000]
        assert {[$waiting is_closed]}
        set listener [client_open]
        $listener call SUBSCRIBE a
        r PUBLISH a [string repeat x 50000]
        assert_equal [string length [lindex [$listener read] 2]] 50000
        r PUBLISH a [string repeat x 200000]
        assert {[$listener is_closed]}
        set monitor [client_open]
        $monitor call MONITOR
        r SET k [string repeat x 200000]
        $monitor is_closed
    }
} 1
# A list whose LRANGE is answered with 100 MB, in far less memory.
proc make_list_of_100_mb {} {
    with_config {list-compress-depth 1} {
        for {set i 0} {$i < 20} {incr i} {
            r RPUSH list {*}[lrepeat 5000 [string repeat x 1000]]
        }
    }
}

# The most memory that the server has had so far, in KB.
proc memory_peak {} {
    regexp {VmHWM:\s+(\d+)} [read_file /proc/[$::current_server pid]/status] _ kilobytes
    return $kilobytes
}

check "a reply over the hard limit is not kept while it is made" {
    with_server {} {
        r SET k [string repeat x 25000]
        set mget [list MGET {*}[lrepeat 4000 k]]
        set before [memory_peak]
        set closed [info_field client_output_buffer_limit_disconnections]
        r CONFIG SET client-output-buffer-limit "normal 1mb 0 0"
        foreach requests [list [list $mget] [list MULTI $mget PING $mget EXEC] [list $mget PING]] {
            set c [client_open]
            foreach request $requests {
                $c send {*}$request
            }
            catch {while {1} {$c read}} error
            incr closed
            assert_equal [info_field client_output_buffer_limit_disconnections] $closed
        }
        assert {[memory_peak] - $before < 20000}
    }
}
check "a reply arrives whole up to the hard limit, and not beyond" {
    r SET k [string repeat x 1000]
    # Redis does not count its buffer of 16 KB.
    set size [expr {[string length "*9000\r\n"] + 9000 * [string length "\$1000\r\n[string repeat x 1000]\r\n"]}]
    with_config [list client-output-buffer-limit "normal [expr {$size - 16384 + 1}] 0 0"] {
        assert_equal [llength [r MGET {*}[lrepeat 9000 k]]] 9000
    }
    with_config [list client-output-buffer-limit "normal [expr {$size - 16384}] 0 0"] {
        set c [client_open]
        $c send MGET {*}[lrepeat 9000 k]
        $c is_closed
    }
} 1
check "a reply that CLIENT REPLY OFF takes back is under no limit" {
    make_list_of_100_mb
    with_config {client-output-buffer-limit "normal 1mb 0 0"} {
        set c [client_open]
        $c send CLIENT REPLY OFF
        $c send LRANGE list 0 -1
        $c call CLIENT REPLY ON
    }
} OK
check_in 2 "the soft limit closes a slow reader that stays over it for its time" {
    r SET big $megabyte
    set before [info_field client_output_buffer_limit_disconnections]
    with_config {client-output-buffer-limit "normal 0 5mb 3"} {
        set ms [elapsed_ms {
            set slow [slow_reader 30]
            wait_until {[info_field client_output_buffer_limit_disconnections] == $before + 1}
        }]
        assert {$ms >= 2000}
    }
    # One that falls below the limit in time stays.
    with_config {client-output-buffer-limit "normal 0 5mb 1000"} {
        set quick [slow_reader 30]
        wait_until {[pending_output slow] > 15000000}
        for {set i 0} {$i < 30} {incr i} {
            assert {[$quick read_bytes [string length $megabyte_reply]] eq $megabyte_reply}
        }
        r CONFIG SET client-output-buffer-limit "normal 0 5mb 1"
        assert {[$quick is_silent 2200]}
        $quick call PING
    }
} PONG
check_in 2 "a soft limit of any number of seconds is counted" {
    r SET big $megabyte
    with_config {client-output-buffer-limit "normal 0 1mb 9223372036854775807"} {
        set slow [slow_reader 30]
        wait_until {[pending_output slow] > 15000000}
        after 200
        $slow read_bytes [string length $megabyte_reply]
    }
    r PING
} PONG
check_in 2 "a client that has left without reading is one until its replies are sent, and can be killed" {
    r SET big $megabyte
    set slow [slow_reader 30]
    $slow send QUIT
    wait_until {[string match "* name=slow *flags=c *" [r CLIENT LIST]]}
    assert_equal [info_field connected_clients] 3
    for {set i 0} {$i < 30} {incr i} {
        assert {[$slow read_bytes [string length $megabyte_reply]] eq $megabyte_reply}
    }
    assert_equal [$slow read_all] "+OK\r\n"
    wait_until {[info_field connected_clients] == 2}
    set slow [slow_reader 30]
    $slow send QUIT
    wait_until {[regexp {id=(\d+) [^\n]* name=slow [^\n]*flags=c } [r CLIENT LIST] _ id]}
    assert_equal [r CLIENT KILL ID $id] 1
    info_field connected_clients
} 2
check_in 2 "a client that has shut down its sending side gets all its replies" {
    r SET big $megabyte
    set socket [socket 127.0.0.1 [$current_server port]]
    chan configure $socket -translation binary
    puts -nonewline $socket [string repeat [request {GET big}] 30]
    chan close $socket write
    after 200
    set bytes [chan read $socket]
    chan close $socket
    expr {$bytes eq [string repeat $megabyte_reply 30]}
} 1

finish
