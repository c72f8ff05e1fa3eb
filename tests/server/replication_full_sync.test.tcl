# Full synchronizations: several replicas from one snapshot, slow and lost ones, limits, failures; remote backups.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/replica.tcl
source $library/faults.tcl

server_start {repl-diskless-sync-delay 0}

proc check_replicas {name body args} {
    check_in 2 $name "wait_until {\[info_field connected_slaves\] == 0}\n$body" {*}$args
}

# How often the log of the current server says something.
proc log_count {text} {
    return [regexp -all -- "***=$text" [[set ::current_server] log]]
}

# Fills the current server with keys of random bytes, which cannot be compressed: so many MB.
proc fill_mb {count} {
    set random [open /dev/urandom rb]
    for {set i 0} {$i < $count * 10} {incr i} {
        r SET large:$i [read $random 100000]
    }
    close $random
}

# --- Several replicas

check_replicas "replicas that ask within repl-diskless-sync-delay share one snapshot" {
    with_server {repl-diskless-sync-delay 1000 repl-diskless-sync-max-replicas 10} {
        r DEBUG POPULATE 1000 key 100
        set digest [r DEBUG DIGEST]
        set replicas {}
        for {set i 0} {$i < 10} {incr i} {
            set c [replica_open]
            $c send PSYNC ? -1
            lappend replicas $c
            assert {$i == 9 || [log_count "Starting BGSAVE for SYNC"] == 0}
        }
        foreach c $replicas {
            set offset [lindex [replica_line $c] 2]
            assert_equal [payload_digest [replica_payload $c]] $digest
            replica_ack $c $offset
        }
        r SET k v
        foreach c $replicas {
            assert_equal [replica_commands $c 2] {{SELECT 0} {SET k v}}
        }
        list [log_count "Starting BGSAVE for SYNC"] [info_field sync_full] [info_field connected_slaves]
    }
} {1 10 10}
# A replica that has asked for all data, and what says that it does not get it yet: a line break each second.
proc replica_that_waits {args} {
    set c [replica_open {*}$args]
    $c send PSYNC ? -1
    assert_equal [$c read_bytes 2] "\n\n"
    return $c
}

check_replicas "a replica alone waits for repl-diskless-sync-delay, which can be changed meanwhile" {
    with_config {repl-diskless-sync-delay 1000 repl-diskless-sync-max-replicas 0} {
        set begun [log_count "Starting BGSAVE for SYNC"]
        set c [replica_that_waits]
        assert_equal [log_count "Starting BGSAVE for SYNC"] $begun
        r CONFIG SET repl-diskless-sync-delay 0
        lindex [replica_line $c] 0
    }
} +FULLRESYNC
check_replicas "repl-diskless-sync-max-replicas that wait are served without the delay" {
    with_config {repl-diskless-sync-delay 1000 repl-diskless-sync-max-replicas 3} {
        set replicas [list [replica_that_waits] [replica_that_waits]]
        lappend replicas [replica_open]
        [lindex $replicas 2] send PSYNC ? -1
        lmap c $replicas {lindex [replica_line $c] 0}
    }
} {+FULLRESYNC +FULLRESYNC +FULLRESYNC}
check_replicas "between two payloads lies repl-diskless-sync-period, however many replicas wait" {
    with_config {repl-diskless-sync-period 1000 repl-diskless-sync-max-replicas 1} {
        with_config {repl-diskless-sync-period 0} {
            lassign [replica_sync] first
        }
        set c [replica_that_waits]
        $first close
        r CONFIG SET repl-diskless-sync-period 0
        lindex [replica_line $c] 0
    }
} +FULLRESYNC
check_replicas "payloads from a file wait neither for the delay nor for the period" {
    with_config {repl-diskless-sync-delay 1000 repl-diskless-sync-period 1000} {
        set old [replica_open listening-port 7777]
        set answers [lindex [replica_psync $old] 0]
        replica_payload $old
        r CONFIG SET repl-diskless-sync no
        lappend answers [lindex [replica_psync [replica_open]] 0]
        r CONFIG SET repl-diskless-sync yes
        set answers
    }
} {+FULLRESYNC +FULLRESYNC}
check_replicas "a replica that comes while a snapshot is sent gets the next one" {
    with_server {repl-diskless-sync-delay 0 rdb-key-save-delay 2000} {
        r DEBUG POPULATE 300
        set first [replica_open]
        replica_psync $first
        set second [replica_open]
        $second send PSYNC ? -1
        r SET new v
        r CONFIG SET rdb-key-save-delay 0
        assert {![string match *new* [replica_payload $first]]}
        replica_line $second
        assert {[string match *new* [replica_payload $second]]}
        log_count "Starting BGSAVE for SYNC"
    }
} 2
check_replicas "a replica that comes while the file is written is served from it, too" {
    with_server {repl-diskless-sync no rdb-key-save-delay 2000} {
        r DEBUG POPULATE 300
        set first [replica_open capa psync2]
        set offset [lindex [replica_psync $first] 2]
        r SET new v
        set second [replica_open capa psync2]
        assert_equal [lindex [replica_psync $second] 2] $offset
        r CONFIG SET rdb-key-save-delay 0
        foreach c [list $first $second] {
            assert {![string match *new* [replica_payload $c]]}
            assert_equal [replica_commands $c 2] {{SELECT 0} {SET new v}}
        }
        log_count "Starting BGSAVE for SYNC"
    }
} 1
check_replicas "a replica that is lost does not end the snapshot of another one" {
    with_config {rdb-key-save-delay 1000} {
        r DEBUG POPULATE 500
        set digest [r DEBUG DIGEST]
        with_config {repl-diskless-sync-delay 1000 repl-diskless-sync-max-replicas 2} {
            set lost [replica_open]
            $lost send PSYNC ? -1
            set other [replica_open]
            replica_psync $other
        }
        $lost close
        wait_until {[info_field connected_slaves] == 1}
    }
    assert_equal [payload_digest [replica_payload $other]] $digest
}
check_replicas "the snapshot ends with the last replica that waits for it" {
    with_config {rdb-key-save-delay 100000} {
        r DEBUG POPULATE 1000
        set c [replica_open]
        replica_psync $c
        assert_match "ERR Another child process is active*" [error_of {r BGSAVE}]
        $c close
        wait_until {[info_field connected_slaves] == 0}
    }
    assert_equal [r BGSAVE] "Background saving started"
    wait_until {[info_field rdb_bgsave_in_progress] == 0}
}
check_replicas "a snapshot for replicas waits for BGSAVE" {
    with_config {rdb-key-save-delay 100000} {
        r DEBUG POPULATE 1000
        r BGSAVE
        set c [replica_open]
        $c send PSYNC ? -1
        wait_until {[info_field connected_slaves] == 1}
        assert_match *state=wait_bgsave* [info_field slave0]
    }
    assert_match "+FULLRESYNC *" [replica_line $c]
    replica_payload $c
    wait_until {[info_field rdb_bgsave_in_progress] == 0}
}

# --- Slow replicas

check_replicas "replicas that stall make neither memory grow nor other clients wait, and are cut off" {
    with_server {repl-diskless-sync-delay 1000 repl-diskless-sync-max-replicas 2 repl-timeout 2} {
        fill_mb 30
        set stalled [replica_open]
        $stalled send PSYNC ? -1
        set other [replica_open]
        $other send PSYNC ? -1
        set offset [lindex [replica_line $other] 2]
        regexp {^\$EOF:(.*)$} [$other read_line] _ mark
        # The payload may be ahead of the slowest replica by 4 MB and a block.
        set payload ""
        set most 0
        while {[info_field connected_slaves] == 2} {
            r SET k v
            set memory [info_field mem_total_replication_buffers]
            if {$memory > $most} {set most $memory}
            if {![$other is_silent 20]} {append payload [$other read_available]}
        }
        assert {$most < 6000000}
        r CONFIG SET repl-timeout 1000
        assert_match "*Disconnecting timedout replica (full sync)*" [$current_server log]
        assert_equal [info_field connected_slaves] 1
        while {[string range $payload end-39 end] ne $mark} {
            append payload [$other read_available]
        }
        assert {[string length $payload] > 30000000}
        replica_ack $other $offset
        lindex [replica_commands $other 2] 1
    }
} {SET k v}
check_replicas "a replica that does not take the stream is closed at the hard limit, and its memory is freed" {
    with_server {repl-diskless-sync-delay 0 client-output-buffer-limit {replica 2mb 0 0}} {
        lassign [replica_sync] c
        for {set i 0} {$i < 200 && [info_field connected_slaves] == 1} {incr i} {
            r SET k [string repeat x 100000]
        }
        assert {$i > 20}
        wait_until {[info_field connected_slaves] == 0}
        wait_until {[info_field mem_total_replication_buffers] < 1300000}
        list [info_field client_output_buffer_limit_disconnections] [info_field mem_clients_slaves]
    }
} {1 0}
check_replicas "a hard limit below repl-backlog-size has no effect" {
    with_server {repl-diskless-sync-delay 0 repl-backlog-size 8mb client-output-buffer-limit {replica 1mb 0 0}} {
        lassign [replica_sync] c
        for {set i 0} {$i < 60} {incr i} {
            r SET k [string repeat x 100000]
        }
        info_field connected_slaves
    }
} 1
check_replicas "the soft limit closes a replica that is over it for its time" {
    with_server {repl-diskless-sync-delay 0 client-output-buffer-limit {replica 0 1mb 1}} {
        lassign [replica_sync] c
        for {set i 0} {$i < 300} {incr i} {
            r SET k [string repeat x 100000]
        }
        wait_until {[info_field connected_slaves] == 0}
        info_field client_output_buffer_limit_disconnections
    }
} 1
check_replicas "what a slow replica was not sent leads to no eviction" {
    with_server {repl-diskless-sync-delay 0 repl-backlog-size 1mb maxmemory-policy allkeys-random} {
        r DEBUG POPULATE 1000 key 100
        lassign [replica_sync] c
        r CONFIG SET maxmemory [expr {[info_field used_memory] + 3000000 + $::spare_blocks}]
        for {set i 0} {$i < 300} {incr i} {
            r SETRANGE large 0 [string repeat x 100000]
        }
        assert {[info_field mem_clients_slaves] > 4000000}
        info_field evicted_keys
    }
} 0

check_replicas "all of it is left out of maxmemory, also what has not reached the backlog yet" {
    foreach aof {no yes} {
        set directives {repl-diskless-sync-delay 0 repl-backlog-size 1mb maxmemory-policy allkeys-random appendonly}
        with_server [list {*}$directives $aof] {
            r DEBUG POPULATE 1000 key 100
            set large [list SETRANGE large 0 [string repeat x 100000]]
            r {*}$large
            set most [expr {[info_field used_memory] + (1 << 20) + 100000 + $::spare_blocks}]
            lassign [replica_sync] c
            r CONFIG SET maxmemory [expr {$most + 300000}]
            for {set i 0} {$i < 15} {incr i} {
                [default_client] pipeline [lrepeat 20 $large]
            }
            assert_equal [list $aof [info_field evicted_keys]] [list $aof 0]
            assert {[info_field mem_clients_slaves] > 4000000}
            wait_until {[info_field used_memory] - [info_field mem_not_counted_for_evict] < $most}
        }
    }
}

# --- Writes and failures meanwhile

check_replicas "data and stream make the same data as here, whatever is written meanwhile" {
    with_server {repl-diskless-sync-delay 0 appendonly yes rdb-key-save-delay 200} {
        r DEBUG POPULATE 3000
        set c [replica_open]
        lassign [replica_psync $c] _ id offset
        for {set i 0} {$i < 3000} {incr i 7} {
            r APPEND key:$i more
            r RPUSH list$i a b c
            r DEL key:[expr {$i + 1}]
        }
        r CONFIG SET rdb-key-save-delay 0
        set payload [replica_payload $c]
        replica_ack $c $offset
        set end [stream_offset]
        set commands {}
        for {set at $offset} {$at < $end} {incr at [stream_bytes [list [lindex $commands end]]]} {
            lappend commands [replica_next $c]
        }
        set digest [r DEBUG DIGEST]
    }
    with_server {} {
        write_file [$current_server folder]/dump.rdb $payload
        r DEBUG RELOAD NOSAVE
        [default_client] pipeline $commands
        assert_equal [r DEBUG DIGEST] $digest
    }
}
check_replicas "hashes whose fields expire are written in the form of the replica" {
    r HSET h a 1 b 2
    r HPEXPIRE h 100000000 FIELDS 1 a
    lmap words {
        {capa eof} {capa eof version 8.1.0} {capa eof version 9.1.2} {capa eof capa redis-fields version 9.0.0}
    } {
        set c [replica_open {*}$words]
        replica_psync $c
        set payload [replica_payload $c]
        $c destroy
        string range $payload 0 [string length VALKEY]-1
    }
} {REDIS0 REDIS0 VALKEY REDIS0}
check_replicas "a disk that fails costs a new synchronization" {
    with_faulty_server {repl-diskless-sync no} {
        r SET k v
        faults {write ENOSPC *temp-*.rdb}
        set c [replica_open capa psync2]
        replica_psync $c
        assert_equal [string trim [$c read_all] "\n"] ""
        faults
        assert_equal [r SET k w] OK
        set c [replica_open capa psync2]
        replica_psync $c
        string match *w* [replica_payload $c]
    }
} 1
check_replicas "FLUSHALL while a snapshot is sent does not change what it holds" {
    with_config {rdb-key-save-delay 1000} {
        r DEBUG POPULATE 300
        set digest [r DEBUG DIGEST]
        set c [replica_open]
        set offset [lindex [replica_psync $c] 2]
        r FLUSHALL
    }
    assert_equal [payload_digest [replica_payload $c]] $digest
    replica_ack $c $offset
    replica_commands $c 2
} {{SELECT 0} FLUSHALL}
check_replicas "SHUTDOWN while a snapshot is sent ends the server" {
    with_server {repl-diskless-sync-delay 0 rdb-key-save-delay 100000} {
        r DEBUG POPULATE 300
        replica_psync [replica_open]
    }
}
check_replicas "what was written just before SHUTDOWN is sent to replicas" {
    with_server {repl-diskless-sync-delay 0} {
        lassign [replica_sync] c
        [default_client] write [request {SET k v}][request {SHUTDOWN NOSAVE}]
        set text [$c read_all]
        string match *SET*k*v* $text
    }
} 1

# --- Only the payload

check_replicas "after REPLCONF rdb-only the connection ends with the payload" {
    r SET k v
    set c [replica_open capa eof rdb-only 1]
    replica_psync $c
    assert_equal [payload_digest [replica_payload $c]] [r DEBUG DIGEST]
    $c is_closed
} 1
check_replicas "behind a payload of functions alone the stream selects its database" {
    lassign [replica_sync] other
    r SET a 1
    replica_commands $other 2
    set c [replica_open rdb-filter-only functions]
    replica_psync $c
    replica_payload $c
    r SET b 1
    replica_commands $c 2
} {{SELECT 0} {SET b 1}}
check_replicas "after REPLCONF rdb-filter-only functions the payload has no keys" {
    r SET secret v
    r FUNCTION LOAD "#!lua name=mylib\nredis.register_function('f', function() return 1 end)"
    set c [replica_open capa eof rdb-only 1 rdb-filter-only functions]
    replica_psync $c
    set payload [replica_payload $c]
    r FUNCTION FLUSH
    list [string match *secret* $payload] [string match *mylib* $payload] [$c is_closed]
} {0 1 1}
if {[auto_execok redis-cli] ne ""} {
    check_replicas "redis-cli --rdb makes a remote backup" {
        r SET k v
        r RPUSH l a b
        cli --rdb [$current_server folder]/backup.rdb
        assert_equal [payload_digest [read_file [$current_server folder]/backup.rdb]] [r DEBUG DIGEST]
        wait_until {[info_field connected_slaves] == 0}
    }
    check_replicas "redis-cli --functions-rdb makes a remote backup of libraries" {
        r FUNCTION LOAD "#!lua name=mylib\nredis.register_function('f', function() return 1 end)"
        cli --functions-rdb [$current_server folder]/functions.rdb
        r FUNCTION FLUSH
        string match *mylib* [read_file [$current_server folder]/functions.rdb]
    } 1
    check_replicas "redis-cli --replica shows the stream" {
        set shown [open [list | redis-cli -p [$current_server port] --replica 2>@1] r]
        chan configure $shown -blocking 0
        set text ""
        wait_until {[info_field connected_slaves] == 1 && [string match *state=online* [info_field slave0]]}
        r SET shown v
        wait_until {[string match *shown* [append text [read $shown]]]}
        exec kill [pid $shown]
        catch {close $shown}
    }
}

finish
