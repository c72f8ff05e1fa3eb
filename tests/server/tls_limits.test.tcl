# What TLS clients may cost, and that none is lost: too many clients, those who do not speak TLS or are slow, limits
# before AUTH, certificates that change under load, many at once.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/tls.tcl

server_start
r CONFIG SET loglevel verbose
tls_listen

proc log_lines {pattern} {
    return [llength [lsearch -all -glob [split [$::current_server log] \n] $pattern]]
}

proc raw_open {} {
    set channel [socket 127.0.0.1 $::tls_port]
    fconfigure $channel -translation binary -buffering none
    return $channel
}

check_in 2 "a client too many reads why, a limited number of times a second" {
    set maxclients [lindex [r CONFIG GET maxclients] 1]
    set channels [list [tls_open client] [tls_open client]]
    foreach channel $channels {assert_equal [tls_ask $channel PING] +PONG}
    r CONFIG SET maxclients 3
    after 1000
    set rejected [info_field rejected_connections]
    set answers {}
    set begin [clock seconds]
    for {set i 0} {$i < 60} {incr i} {
        catch {exec redis-cli --tls -p $tls_port --cacert $certificates/ca.crt --cert $certificates/client.crt\
            --key $certificates/client.key PING 2>@1} answer
        lappend answers [string match "*max number of clients reached*" $answer]
    }
    r CONFIG SET maxclients $maxclients
    assert {[info_field rejected_connections] - $rejected >= 60} ;# redis-cli may try twice
    foreach channel $channels {
        assert_equal [tls_ask $channel PING] +PONG
        tls_close $channel
    }
    set explained [llength [lsearch -all $answers 1]]
    # The server's seconds begin at other times than those of the clock.
    assert {$explained <= 20 * ([clock seconds] - $begin + 2)}
    list [lindex $answers 0] [lindex $answers 5] [tls_cli client PING]
} {1 1 PONG}
check_in 2 "one that waits for its error and goes frees its place" {
    set maxclients [lindex [r CONFIG GET maxclients] 1]
    r CONFIG SET maxclients 1
    for {set round 0} {$round < 3} {incr round} {
        after 1100
        set channels {}
        for {set i 0} {$i < 30} {incr i} {lappend channels [raw_open]}
        foreach channel $channels {close $channel}
        wait_until {[catch {exec redis-cli --tls -p $tls_port --cacert $certificates/ca.crt\
            --cert $certificates/client.crt --key $certificates/client.key PING 2>@1} answer] >= 0 &&
            [string match "*max number of clients reached*" $answer]}
    }
    r CONFIG SET maxclients $maxclients
} OK
check_in 2 "refused clients that reset take no place of those who wait" {
    set python {
import os, signal, socket, struct, sys, time
pid, port = int(sys.argv[1]), int(sys.argv[2])
for _ in range(3): # stopped, it accepts them when they have gone
    os.kill(pid, signal.SIGSTOP)
    for _ in range(12):
        s = socket.create_connection(("127.0.0.1", port))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    os.kill(pid, signal.SIGCONT)
    time.sleep(1.1)
}
    set maxclients [lindex [r CONFIG GET maxclients] 1]
    r CONFIG SET maxclients 1
    set rejected [info_field rejected_connections]
    exec python3 -c $python [info_field process_id] [info_field tcp_port]
    assert {[info_field rejected_connections] - $rejected >= 30}
    catch {exec redis-cli --tls -p $tls_port --cacert $certificates/ca.crt --cert $certificates/client.crt\
        --key $certificates/client.key PING 2>@1} answer
    r CONFIG SET maxclients $maxclients
    string match "*max number of clients reached*" $answer
} 1
# Runs the body with another server, whose log is short.
proc with_new_server {body} {
    set before [list $::certificates $::tls_port]
    try {
        uplevel 1 [list with_server {} "r CONFIG SET loglevel verbose\ntls_listen\n$body"]
    } finally {
        lassign $before ::certificates ::tls_port
    }
}
check_in 2 "what does not speak TLS is named: five times in a minute with level notice, then with verbose" {
    with_new_server {
        set answers {}
        foreach text {"PING\r\n" "GET / HTTP/1.0\r\n\r\n" "*1\r\n\$4\r\nPING\r\n" "\r\n" a b c} {
            set channel [raw_open]
            puts -nonewline $channel $text
            lappend answers [read $channel]
            close $channel
        }
        # This kind does not keep the other one from being noticed.
        catch {tls_cli stranger PING}
        wait_until {[log_lines "* \\* TLS with 127.0.0.1:* failed: *certificate*"] > 0}
        list [lsort -unique $answers] [log_lines "* \\* TLS with 127.0.0.1:* failed: it does not speak TLS*"] \
            [log_lines "* - TLS with 127.0.0.1:* failed: it does not speak TLS*"] [log_lines "* # TLS with*"]
    }
} {{{}} 5 2 0}
check_in 2 "that a client connects and goes is not noticed" {
    with_new_server {
        close [raw_open]
        wait_until {[log_lines "* - TLS with 127.0.0.1:* failed: *"] > 0}
        log_lines "* \\* TLS with*"
    }
} 0
check_in 2 "before AUTH a request has at most 10 arguments, each of 16 KB" {
    r CONFIG SET requirepass secret
    set channel [tls_open client]
    set answers [list [tls_ask $channel "*11\r"]]
    tls_close $channel
    set channel [tls_open client]
    lappend answers [tls_ask $channel "*2\r\n\$4\r\nPING\r\n\$16385\r"]
    tls_close $channel
    set channel [tls_open client]
    puts $channel "*2\r\n\$4\r\nPING\r\n\$16384\r"
    puts -nonewline $channel [string repeat x 16384]\r
    lappend answers [tls_ask $channel ""] [tls_ask $channel "AUTH secret"] [tls_ask $channel PING]
    tls_close $channel
    r AUTH secret
    r CONFIG SET requirepass ""
    set answers
} {{-ERR Protocol error: unauthenticated multibulk length} {-ERR Protocol error: unauthenticated bulk length}\
    {-NOAUTH Authentication required.} +OK +PONG}
check_in 2 "a handshake that stands still holds nobody up" {
    set channel [raw_open]
    puts -nonewline $channel "\x16\x03\x01\x02\x00\x01"
    set answers [list [tls_cli client PING] [r PING]]
    close $channel
    set answers
} {PONG PONG}
check_in 2 "authorities that are removed take their clients with them" {
    set answers [list [tls_cli client PING] [tls_cli stranger PING]]
    r CONFIG SET tls-ca-cert-file $certificates/other-ca.crt
    # The server's own certificate is of the first authority still.
    lappend answers [tls_cli client PING] [tls_cli stranger PING]
    r CONFIG SET tls-ca-cert-file $certificates/ca.crt
    lappend answers [tls_cli client PING]
} {PONG failed failed PONG PONG}
check_in 2 "a client's certificate must be valid now" {
    exec cp $certificates/server.key $certificates/expired.key
    exec cp $certificates/server.key $certificates/early.key
    list [tls_cli expired PING] [tls_cli early PING]
} {failed failed}
check_in 2 "certificates change under load, and no request is lost" {
    set load [open [list |timeout 150 redis-benchmark --tls -p $tls_port --cacert $certificates/ca.crt --cert\
        $certificates/client.crt --key $certificates/client.key -c 50 -P 8 -n 200000 -q -t set,get 2>@1] r]
    set visits {}
    for {set i 0} {$i < 30} {incr i} {
        set name [expr {$i % 2 ? "server" : "rsa"}]
        r CONFIG SET tls-cert-file $certificates/$name.crt tls-key-file $certificates/$name.key
        lappend visits [tls_cli client PING]
    }
    set output [read $load]
    set failed [catch {close $load} message]
    assert_match "*SET: *requests per second*GET: *requests per second*" $output
    list $failed [lsort -unique $visits]
} {0 PONG}
check_in 2 "hundreds of connections at once are all served" {
    # More than wait to be accepted. redis-benchmark spins while a handshake goes on: on a busy machine the last of
    # thousands do not get theirs within 30 seconds, with sanitizers those of less.
    set most [expr {[info exists ::env(PACKLIST_SLOW)] ? 200 : 600}]
    set count [expr {min($most, [exec sh -c "ulimit -n"] - 200)}]
    r CONFIG RESETSTAT
    with_config {max-new-tls-connections-per-cycle 10} {
        set output [exec timeout 150 redis-benchmark --tls -p $tls_port --cacert $certificates/ca.crt --cert\
            $certificates/client.crt --key $certificates/client.key -c $count -n 4000 -q -t get 2>@1]
    }
    assert_match "*GET: *requests per second*" $output
    assert {[info_field total_connections_received] >= $count}
    info_field rejected_connections
} 0

finish
