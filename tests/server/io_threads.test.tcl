# Threads that carry the bytes of clients (io-threads). With io-threads-always-active they get all clients at once.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/busy.tcl
source $library/tls.tcl

server_start

# A field of CLIENT LIST, of the client with this id.
proc client_field {id field} {
    regexp "\\m$field=(\\S*)" [r CLIENT LIST ID $id] _ value
    return $value
}

# Returns the numbers of the threads that have clients, 0 for the event loop.
proc threads_used {} {
    return [lsort -unique [lmap {_ number} [regexp -all -inline {io-thread=(\d+)} [r CLIENT LIST]] {set number}]]
}

check "at first the event loop serves all clients" {list [threads_used] [info_field io_threads_active]} {0 0}
check "io-threads-do-reads is accepted" {with_config {io-threads-do-reads yes} {r PING}} PONG
check "io-threads is from 1 to 128" {
    foreach value {0 129 -1 x} {
        assert_match "ERR *" [error_of {r CONFIG SET io-threads $value}]
    }
}
check "clients are given to threads and taken back while they are served" {
    set clients [lmap _ [lrepeat 20 x] {client_open}]
    with_config {io-threads 4 io-threads-always-active yes} {
        wait_until {[threads_used] eq {1 2 3}}
        assert_equal [info_field io_threads_active] 3
        foreach c $clients {
            assert_equal [$c call PING] PONG
        }
        r CONFIG SET io-threads 2
        wait_until {[threads_used] eq {1}}
        foreach c $clients {
            assert_equal [$c call PING] PONG
        }
    }
    wait_until {[threads_used] eq {0}}
    foreach c $clients {
        assert_equal [$c call PING] PONG
    }
}
check "idle clients stay with the event loop" {
    with_config {io-threads 4} {
        after 300
        list [threads_used] [info_field io_threads_active]
    }
} {0 0}
check "INFO says why threads have no clients" {
    set seen [info_field io_threads_idle_reason]
    with_config {io-threads 2} {
        wait_until {[info_field io_threads_idle_reason] eq "little-work"}
        # One client keeps the loop busy, which never finds several ready.
        wait_until {[r EVAL {for i = 1, 3000000 do end return 1} 0] == 1 &&
            [info_field io_threads_idle_reason] eq "few-clients-at-once"}
        r CONFIG SET io-threads-always-active yes
        wait_until {[info_field io_threads_idle_reason] eq "-"}
        r CONFIG SET io-threads-always-active no
    }
    wait_until {[threads_used] eq {0}}
    list $seen [info_field io_threads_idle_reason]
} {off off}
# Lets each of the clients send a request that takes about 1 ms, so that many are ready at a poll; reads the replies.
proc work {clients} {
    foreach c $clients {
        $c send EVAL {for i = 1, 20000 do end return 1} 0
    }
    foreach c $clients {
        assert_equal [$c read] 1
    }
}

check "threads get clients while the event loop is busy, and give them back" {
    with_config {io-threads 3} {
        set idle [client_open]
        set idle_id [$idle call CLIENT ID]
        set clients [lmap _ [lrepeat 40 x] {client_open}]
        r CONFIG RESETSTAT
        set deadline [expr {[clock milliseconds] + $patience_ms}]
        while {[info_field io_threads_active] < 2} {
            assert {[clock milliseconds] < $deadline}
            work $clients
        }
        work $clients
        assert_match {*io-thread=0*} [r CLIENT LIST ID $idle_id]
        assert {[info_field io_threaded_reads_processed] > 0}
        assert {[info_field io_threaded_writes_processed] > 0}
        wait_until {[threads_used] eq {0}}
        work $clients
        info_field io_threads_active
    }
} 0
check "a lone client stays with the event loop, however busy it is" {
    with_config {io-threads 3} {
        for {set i 0} {$i < 400} {incr i} {
            r EVAL {for i = 1, 20000 do end return 1} 0
        }
        threads_used
    }
} 0
check "input that a thread has read for a client that waits counts as the client's" {
    with_config {io-threads 2 io-threads-always-active yes} {
        set c [client_open]
        set id [$c call CLIENT ID]
        wait_until {[threads_used] eq {1}}
        $c send BLPOP nothing 0
        wait_blocked 1
        set before [client_field $id tot-mem]
        $c write_in_background [string repeat [request {PING}] 20000]
        wait_until {[client_field $id qbuf] > 10000}
        assert {[client_field $id tot-mem] - $before > 10000}
        assert {[client_field $id tot-mem] < 1000000}
        r RPUSH nothing x
        assert_equal [$c read] {nothing x}
        for {set i 0} {$i < 20000} {incr i} {
            assert_equal [$c read] PONG
        }
        client_field $id qbuf
    }
} 0
check "what a thread has not sent counts as the client's, too, and bounds it" {
    with_config {io-threads 2 io-threads-always-active yes client-output-buffer-limit {normal 1000000 0 0}} {
        r SET large [string repeat x 100000]
        set c [client_open]
        wait_until {[threads_used] eq {1}}
        set before [info_field client_output_buffer_limit_disconnections]
        for {set i 0} {$i < 500} {incr i} {
            if {[catch {$c send GET large}]} {
                break
            }
        }
        wait_until {[info_field client_output_buffer_limit_disconnections] == $before + 1}
    }
}
check "clients stay with the event loop until they have authenticated" {
    r PING
    with_config {requirepass secret io-threads 2 io-threads-always-active yes} {
        set c [client_open 2]
        assert_equal [error_of {$c call PING}] "NOAUTH Authentication required."
        wait_until {[threads_used] eq {0 1}}
        assert_equal [error_of {$c call PING}] "NOAUTH Authentication required."
        assert_equal [threads_used] {0 1}
        $c call AUTH secret
        wait_until {[threads_used] eq {1}}
    }
}
check "a client of a thread that RESET logs out goes back to the event loop until it authenticates" {
    r PING
    with_config {requirepass secret io-threads 2 io-threads-always-active yes} {
        set c [client_open 2]
        $c call AUTH secret
        wait_until {[threads_used] eq {1}}
        $c write [request {MULTI}][request {RESET}][request {PING}][request {CLIENT SETNAME x}]
        assert_equal [list [$c read] [$c read]] {OK RESET}
        assert_equal [error_of {$c read}] "NOAUTH Authentication required."
        assert_equal [error_of {$c read}] "NOAUTH Authentication required."
        wait_until {[threads_used] eq {0 1}}
        assert_equal [error_of {$c call PING}] "NOAUTH Authentication required."
        $c call AUTH secret
        wait_until {[threads_used] eq {1}}
        $c call PING
    }
} PONG
check "RESET of a client of a thread ends what it has begun" {
    with_config {io-threads 2 io-threads-always-active yes} {
        set c [client_open]
        set id [$c call CLIENT ID]
        wait_until {[threads_used] eq {1}}
        $c call HELLO 3
        $c call SELECT 3
        $c call CLIENT TRACKING ON BCAST
        $c call CLIENT SETNAME before
        $c call SUBSCRIBE news
        assert_match {* db=3 sub=1 * resp=3 *} [r CLIENT LIST ID $id]
        $c write [request {CLIENT REPLY OFF}][request {RESET}][request {PING}]
        assert_equal [list [$c read] [$c read]] {RESET PONG}
        assert_match {* name= * flags=N db=0 sub=0 * resp=2 * io-thread=1*} [r CLIENT LIST ID $id]
        r PUBLISH news text
        r SET key value
        assert_equal [$c call PING] PONG
        $c send MONITOR
        assert_equal [$c read] OK
        $c send RESET
        while {[$c read] ne "RESET"} {}
        r PING
        assert_equal [$c call ECHO x] x
        threads_used
    }
} 1
check_in 2 "CONFIG REWRITE writes io-threads as it is, while clients are with threads, and a start honours it" {
    with_server {} {
        set clients [lmap _ [lrepeat 6 x] {client_open}]
        r CONFIG SET io-threads 4 io-threads-always-active yes
        wait_until {[threads_used] eq {1 2 3}}
        r CONFIG SET io-threads 3
        r CONFIG REWRITE
        foreach c $clients {
            assert_equal [$c call PING] PONG
        }
        set path [$current_server folder]/lines.conf
        write_file $path [join [lsearch -all -inline [split [read_file [$current_server folder]/packlist.conf] \n] \
            io-threads*] \n]
        assert_equal [read_file $path] "io-threads 3\nio-threads-always-active yes"
        with_server [list include $path] {
            set clients [lmap _ [lrepeat 6 x] {client_open}]
            wait_until {[threads_used] eq {1 2}}
            lindex [r CONFIG GET io-threads] 1
        }
    }
} 3

# --- On which processors threads run

# Returns the processors that a process or a thread, of this directory in /proc, may run on, as a list such as 0-1.
proc allowed_processors {directory} {
    regexp -line {^Cpus_allowed_list:\s*(\S+)} [read_file $directory/status] _ list
    return $list
}

# Returns, without repetitions, on which processors those threads of the server may run that are called like the
# pattern. A thread gets its name when it begins to run, maybe after the server's start: waits until `count` have it.
proc processors_of {pattern count} {
    set pid [$::current_server pid]
    wait_until {[dict size [threads_of $pid $pattern]] >= $count}
    return [lsort -unique [lmap directory [dict keys [threads_of $pid $pattern]] {allowed_processors $directory}]]
}

# Returns on which processors the server's event loop may run.
proc processors_of_loop {} {
    return [allowed_processors /proc/[$::current_server pid]]
}

# The first and the last processor that this process may run on, and the list of all.
set any_processor [allowed_processors /proc/self]
regexp {^\d+} $any_processor first_processor
regexp {\d+$} $any_processor last_processor

check_in 2 "server-cpulist is for the loop and the I/O threads, bio-cpulist for the background" {
    with_server [list io-threads 3 server-cpulist $first_processor bio_cpulist $last_processor] {
        assert_equal [r CONFIG GET *cpulist] [list server-cpulist $first_processor server_cpulist $first_processor \
            bio-cpulist $last_processor bio_cpulist $last_processor aof-rewrite-cpulist "" aof_rewrite_cpulist "" \
            bgsave-cpulist "" bgsave_cpulist ""]
        assert_equal [processors_of io_thd_* 2] $first_processor
        assert_equal [processors_of pool 1] $last_processor
        assert_match *immutable* [error_of {r CONFIG SET server-cpulist 0}]
        processors_of_loop
    }
} $first_processor
check_in 2 "without server-cpulist all but the background may run anywhere" {
    with_server [list io-threads 2 bio-cpulist $first_processor] {
        list [processors_of_loop] [processors_of io_thd_1 1]
    }
} [list $any_processor $any_processor]
check_in 2 "processors that are not there have no effect, as the log says" {
    with_server {server-cpulist 1000-1023} {
        assert_match {*server-cpulist 1000-1023 has no effect: *} [$current_server log]
        r PING
    }
} PONG
check "no byte is lost while clients move" {
    set value [string repeat x 300000]
    set c [client_open]
    for {set i 0} {$i < 60} {incr i} {
        $c write [request [list SET k$i $value]]
        r CONFIG SET io-threads [expr {1 + $i % 4}] io-threads-always-active [lindex {yes no} [expr {$i / 4 % 2}]]
        $c write [request [list GET k$i]]
        r CONFIG SET io-threads [expr {4 - $i % 4}]
        assert_equal [$c read] OK
        assert {[$c read] eq $value}
    }
    r CONFIG SET io-threads 1 io-threads-always-active no
} OK
check "clients of threads are served while a script is busy, and can end it" {
    with_config {io-threads 3 io-threads-always-active yes} {
        set c [client_open]
        wait_until {"0" ni [threads_used]}
        with_busy [list EVAL $forever 0] {
            assert_equal [catch_error {$c call PING}] $busy_with_script
            assert_equal [$c call SCRIPT KILL] OK
            wait_until {![is_busy]}
        }
        $c call PING
    }
} PONG
check "a client that only shuts its sending side down still gets its replies" {
    with_config {io-threads 2 io-threads-always-active yes} {
        set c [client_open]
        wait_until {[threads_used] eq {1}}
        r SET large [string repeat y 2000000]
        $c write [string repeat [request {GET large}] 10]
        $c write [request QUIT]
        string length [$c read_all]
    }
} [expr {10 * (2000000 + 12) + 5}]

# --- Over TLS, and by a Unix socket ---

set path [$current_server folder]/threads.sock

# Runs the body with `encrypted`, four clients over TLS, and `local`, one of the Unix socket.
proc with_others {body} {
    set ::encrypted [lmap _ {1 2 3 4} {tls_open client}]
    set ::local [open [list |redis-cli -s $::path] r+]
    fconfigure $::local -buffering line
    ask_all "CLIENT SETNAME other"
    try {
        uplevel 1 $body
    } finally {
        foreach c $::encrypted {catch {tls_close $c}}
        close $::local
        wait_until {[threads_of_others] eq {}}
    }
}

# Sends all of them a line, and returns the different answers.
proc ask_all {line} {
    set answers [lmap c $::encrypted {tls_ask $c $line}]
    puts $::local $line
    return [lsort -unique [lappend answers [gets $::local]]]
}

# Returns the numbers of the threads that have them.
proc threads_of_others {} {
    set pairs [regexp -all -inline {name=other [^\n]*io-thread=(\d+)} [r CLIENT LIST]]
    return [lsort -unique [lmap {_ number} $pairs {set number}]]
}

# The most memory that one of them takes. Buffers for TLS are freed when a client has been idle for a second.
proc memory_of_others {} {
    set pairs [regexp -all -inline {name=other [^\n]*tot-mem=(\d+)} [r CLIENT LIST]]
    return [lindex [lsort -integer [lmap {_ memory} $pairs {set memory}]] end]
}

# Has 20 clients ask for 300 KB each by the Unix socket, whose buffer takes less, and then shut down their sending side.
# Returns by how many bytes their replies are too short.
set half_closed {
import socket, sys, time
missing = 0
for _ in range(20):
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    client.sendall(b"PING\r\n")
    client.recv(100)
    client.sendall(b"GET part\r\n" * 6)
    time.sleep(0.02)
    client.shutdown(socket.SHUT_WR)
    time.sleep(0.02)
    missing += 6 * 50010
    while data := client.recv(100000):
        missing -= len(data)
print(missing)
}
with_server [list unixsocket $path] {
    tls_listen
    check_in 2 "a client that shuts its sending side down gets what its thread still has" {
        with_config {io-threads 2 io-threads-always-active yes} {
            r SET part [string repeat x 50000]
            exec python3 -c $half_closed $path
        }
    } 0
    check_in 2 "clients over TLS and of a Unix socket are given to threads and taken back" {
        with_others {
            assert_equal [threads_of_others] 0
            with_config {io-threads 3 io-threads-always-active yes} {
                wait_until {[threads_of_others] eq {1 2}}
                assert_equal [ask_all "ECHO one"] one
                r CONFIG SET io-threads 2
                wait_until {[threads_of_others] eq 1}
                assert_equal [ask_all "ECHO two"] two
            }
            wait_until {[threads_of_others] eq 0}
            ask_all "ECHO three"
        }
    } three
    check_in 2 "no byte over TLS is lost while a client moves" {
        set value [string repeat x 100000]
        with_others {
            set c [lindex $encrypted 0]
            for {set i 0} {$i < 40} {incr i} {
                r CONFIG SET io-threads [expr {1 + $i % 4}] \
                    io-threads-always-active [lindex {yes no} [expr {$i / 4 % 2}]]
                r SET large $value$i
                puts $c "GET large"
                r CONFIG SET io-threads [expr {4 - $i % 4}]
                gets $c
                assert {[string trimright [gets $c] \r] eq "$value$i"}
            }
        }
        r CONFIG SET io-threads 1 io-threads-always-active no
    } OK
    check_in 2 "memory of TLS counts when a thread has it, and clients that are killed close" {
        with_config {io-threads 2 io-threads-always-active yes} {
            with_others {
                wait_until {[threads_of_others] eq 1}
                wait_until {[ask_all "ECHO x"] eq "x" && [memory_of_others] > 40000}
                foreach {_ id} [regexp -all -inline {id=(\d+) [^\n]*name=other} [r CLIENT LIST]] {
                    assert_equal [r CLIENT KILL ID $id] 1
                }
                wait_until {[threads_of_others] eq {}}
                lmap c $encrypted {gets $c}
            }
        }
    } {{} {} {} {}}
}
finish
