# SHUTDOWN and signals while there are replicas: the server waits until they have all changes, clients' writes are held
# back meanwhile, and the wait can be ended. The replicas are played.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/replica.tcl
source $library/busy.tcl

server_start

# A server with the replica $::replica, which has everything up to $::offset when the body runs. The server waits for
# ever unless the directives say otherwise.
proc with_slow_replica {directives body} {
    with_server [dict merge {repl-diskless-sync-delay 0 shutdown-timeout 100000} $directives] {
        lassign [replica_sync] ::replica ::id ::offset
        wait_until {[string match "*state=online,offset=$::offset,*" [info_field slave0]]}
        try {
            uplevel 1 $body
        } finally {
            if {[$::current_server is_running]} {
                $::current_server control CONFIG SET shutdown-timeout 0
            }
        }
    }
}

# Sends the command or signal that ends the server. For a command gives the connection.
proc end_by {way} {
    set waits [wait_count]
    if {[string match SIG* $way]} {
        exec kill -$way [$::current_server pid]
        set client ""
    } else {
        set client [client_open]
        $client send {*}$way
    }
    wait_until {[wait_count] > $waits || ![$::current_server is_running]}
    return $client
}

proc wait_count {} {
    return [regexp -all "Waiting for replicas before shutting down" [$::current_server log]]
}

# The replica gets what was written, and the question whether it has it: the offset before that question.
proc replica_reads {commands} {
    foreach command $commands {
        assert_equal [replica_command $::replica] $command
    }
    return [incr ::offset [stream_bytes $commands]]
}

proc assert_waits {} {
    assert_equal [r PING] PONG
    assert {[info_field shutdown_in_milliseconds] > 0}
    if {[info_field paused_reason] ne "client_pause"} {
        assert_equal [list [info_field paused_reason] [info_field paused_actions]] {shutdown_in_progress write}
        assert {[info_field paused_timeout_milliseconds] > 0}
    }
}

proc assert_logged {args} {
    foreach line $args {
        assert_match "*$line*" [$::current_server log]
    }
}

foreach way {SHUTDOWN {SHUTDOWN FORCE} {SHUTDOWN NOSAVE} SIGTERM SIGINT} {
    check_in 2 "$way waits until the replica has confirmed all changes" [string map [list WAY $way] {
        with_slow_replica {} {
            r SET a 1
            set client [end_by {WAY}]
            set end [replica_reads {{SELECT 0} {SET a 1}}]
            assert_equal [replica_next $::replica] {REPLCONF GETACK *}
            assert_waits
            assert_equal [r GET a] 1
            replica_ack $::replica [expr {$end - 1}]
            assert_waits
            replica_ack $::replica $end
            set status [$::current_server wait_exit]
            assert_logged "1 of 1 replicas are in sync when shutting down"
            list $status [expr {$client eq "" || [$client is_closed]}]
        }
    }] {0 1}
}

# More than the sockets take.
check_in 2 "a replica that reads slowly has all acknowledged changes when the server has ended" {
    with_slow_replica {client-output-buffer-limit {replica 0 0 0}} {
        set value [string repeat x 50000]
        set writer [client_open]
        for {set i 0} {$i < 400} {incr i} {
            assert_equal [$writer call SET key:$i $value] OK
        }
        end_by SHUTDOWN
        $writer send SET too-late 1
        set keys {}
        while {[set command [replica_next $::replica]] ne {REPLCONF GETACK *}} {
            if {[lindex $command 0] ni {PING REPLCONF}} {
                lappend keys [lindex $command 1]
            }
            incr ::offset [stream_bytes [list $command]]
        }
        replica_ack $::replica $::offset
        assert_equal [$::current_server wait_exit] 0
        assert {[$writer is_closed]}
        list [llength $keys] [lindex $keys 1] [lindex $keys end]
    }
} {401 key:0 key:399}

check_in 2 "while the server waits, commands that write are held back, whatever CLIENT UNPAUSE says" {
    with_slow_replica {} {
        r SET a 1
        set blocked [client_blocked BLPOP queue 0]
        end_by SHUTDOWN
        set held {}
        foreach command {{SET b 2} {PUBLISH channel x} {EVAL "return redis.call('SET', 'c', 3)" 0}} {
            lappend held [client_blocked {*}$command]
        }
        r CLIENT UNPAUSE
        foreach client [list $blocked {*}$held] {
            assert {[$client is_silent]}
        }
        list [lsort [r KEYS *]] [r SHUTDOWN ABORT]
    }
} {a OK}

check_in 2 "keys do not expire while the server waits" {
    with_slow_replica {} {
        r SET a 1 PX 1
        end_by SHUTDOWN
        set offset [stream_offset]
        wait_until {[r EXISTS a] == 0}
        r GET a
        assert_equal [stream_offset] $offset
        r SHUTDOWN ABORT
        wait_until {[stream_offset] > $offset}
        r DBSIZE
    }
} 0

check_in 2 "SHUTDOWN ABORT: the clients are told, writes go on, and the server can be ended later" {
    with_slow_replica {} {
        r SET a 1
        set clients [list [end_by SHUTDOWN] [client_blocked SHUTDOWN NOSAVE]]
        set writer [client_blocked SET b 2]
        assert_equal [r SHUTDOWN ABORT] OK
        foreach client $clients {
            assert_equal [error_of {$client read}] "ERR Errors trying to SHUTDOWN. Check logs."
            assert_equal [$client call PING] PONG
        }
        assert_equal [$writer read] OK
        assert_logged "Shutdown manually aborted."
        assert_equal [error_of {r SHUTDOWN ABORT}] "ERR No shutdown in progress."
        string match *shutdown_in_milliseconds* [r INFO server]
    }
} 0

check_in 2 "CLIENT UNBLOCK does not end the wait" {
    with_slow_replica {} {
        r SET a 1
        set client [client_open]
        set id [$client call CLIENT ID]
        $client send SHUTDOWN
        wait_until {[wait_count] == 1}
        list [r CLIENT UNBLOCK $id] [r CLIENT UNBLOCK $id ERROR] [$client is_silent] [r SHUTDOWN ABORT]
    }
} {0 0 1 OK}

check_in 2 "after shutdown-timeout the server ends, and the log names the replica that lacks something" {
    with_slow_replica {shutdown-timeout 1} {
        r SET a 1
        end_by SHUTDOWN
        set status [$::current_server wait_exit]
        assert_logged "Lagging replica 127.0.0.1:7777 reported offset 50 behind master, lag=*, state=online." \
            "0 of 1 replicas are in sync when shutting down"
        set status
    }
} 0

foreach {directives way what} {
    {} {SHUTDOWN NOW} "SHUTDOWN NOW"
    {shutdown-timeout 0} SHUTDOWN "SHUTDOWN with shutdown-timeout 0"
    {shutdown-on-sigterm now} SIGTERM "SIGTERM with shutdown-on-sigterm now"
} {
    check_in 2 "$what does not wait" [string map [list DIRECTIVES $directives WAY $way] {
        with_slow_replica {DIRECTIVES} {
            r SET a 1
            end_by {WAY}
            list [$::current_server wait_exit] [wait_count]
        }
    }] {0 0}
}
check_in 2 "nor does it without replicas, nor when they have everything, nor for those that used SYNC" {
    with_slow_replica {} {
        r SET a 1
        replica_ack $::replica [replica_reads {{SELECT 0} {SET a 1}}]
        set silent [client_open]
        $silent send SYNC
        replica_payload $silent
        wait_until {[string match "*state=online*" [info_field slave1]]}
        wait_until {[string match "*offset=[stream_offset],*" [info_field slave0]]}
        end_by SHUTDOWN
        assert_equal [list [$::current_server wait_exit] [wait_count]] {0 0}
    }
    with_server {shutdown-timeout 100000} {
        end_by SHUTDOWN
        list [$::current_server wait_exit] [wait_count]
    }
} {0 0}

check_in 2 "shutdown-timeout can be changed, and counts from the next SHUTDOWN on" {
    with_slow_replica {} {
        r SET a 1
        end_by SHUTDOWN
        r CONFIG SET shutdown-timeout 0
        assert_waits
        r SHUTDOWN ABORT
        end_by SHUTDOWN
        list [$::current_server wait_exit] [wait_count]
    }
} {0 1}

check_in 2 "a second SIGTERM changes nothing; a second SIGINT ends the wait" {
    with_slow_replica {} {
        r SET a 1
        end_by SIGTERM
        exec kill -TERM [$::current_server pid]
        wait_until {[regexp -all "Received SIGTERM" [$::current_server log]] == 2}
        assert_waits
        exec kill -INT [$::current_server pid]
        assert_equal [$::current_server wait_exit] 0
        assert_logged "You insist"
        wait_count
    }
} 1

check_in 2 "a replica that leaves is not waited for any longer" {
    with_slow_replica {} {
        r SET a 1
        end_by SHUTDOWN
        $::replica close
        $::current_server wait_exit
    }
} 0

check_in 2 "when the data cannot be saved after the wait, the clients are told, and writes go on" {
    with_slow_replica {save {3600 1}} {
        r SET a 1
        file mkdir [$::current_server folder]/dump.rdb/folder
        set client [end_by SHUTDOWN]
        set writer [client_blocked SET b 2]
        replica_ack $::replica [replica_reads {{SELECT 0} {SET a 1}}]
        assert_equal [error_of {$client read}] "ERR Errors trying to SHUTDOWN. Check logs."
        assert_equal [$writer read] OK
        end_by {SHUTDOWN NOW FORCE}
        $::current_server wait_exit
    }
} 0

check_in 2 "the snapshot that is saved at the end says where the data stands: the replica continues" {
    with_slow_replica {save {3600 1}} {
        r SET a 1
        end_by SHUTDOWN
        set end [replica_reads {{SELECT 0} {SET a 1}}]
        assert_equal [replica_next $::replica] {REPLCONF GETACK *}
        replica_ack $::replica $end
        assert_equal [$::current_server wait_exit] 0
        incr end [stream_bytes {{REPLCONF GETACK *}}]
        $::current_server launch_with {}
        set ::default_client ""
        set again [replica_open]
        lindex [replica_psync $again $::id [expr {$end + 1}]] 0
    }
} +CONTINUE

check_in 2 "SHUTDOWN NOSAVE ends a server whose script is busy at once" {
    with_slow_replica {busy-reply-threshold 20} {
        r SET a 1
        set runner [client_open]
        $runner send EVAL $::forever 0
        wait_until {[is_busy]}
        end_by {SHUTDOWN NOSAVE}
        list [$::current_server wait_exit] [wait_count]
    }
} {0 0}

finish
