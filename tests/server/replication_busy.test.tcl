# Replicas while the server is busy: with a script, or with a callback that takes long; the replicas are only played.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/busy.tcl
source $library/replica.tcl

server_start {repl-diskless-sync-delay 0 repl-ping-replica-period 1}

# Each body begins without replicas of an earlier one.
proc check_replicas {name body args} {
    check_in 2 $name "wait_until {\[info_field connected_slaves\] == 0}\n$body" {*}$args
}

# Runs the body with a script that is busy and that its client has sent together with other requests.
proc with_busy_batch {requests script body} {
    with_config {busy-reply-threshold 20} {
        set ::runner [client_open]
        set bytes ""
        foreach one [list {*}$requests [list EVAL $script 0]] {
            append bytes [request $one]
        }
        $::runner write $bytes
        wait_until {[is_busy]}
        try {
            uplevel 1 $body
        } finally {
            wait_for_end
        }
    }
}

# --- While a script is busy

check_replicas "a replica gets PINGs while a script is busy, is heard, and stays" {
    with_config {repl-timeout 5} {
        lassign [replica_sync] c id offset
        with_busy [list EVAL $forever 0] {
            foreach _ {1 2 3 4 5 6 7} {
                assert_equal [replica_next $c] PING
                replica_ack $c [incr offset [stream_bytes PING]]
            }
        }
        replica_ack $c $offset
        r SET k v
        assert_equal [replica_commands $c 2] {{SELECT 0} {SET k v}}
        wait_until {[regexp {offset=(\d+)} [info_field slave0] _ seen] && $seen >= $offset}
        regexp -all "Disconnecting timedout replica" [$current_server log]
    }
} 0
check_replicas "what was changed before the script reaches replicas meanwhile, what the script changes later, whole" {
    lassign [replica_sync] c
    set script "redis.call('SET', 'a', 1) [spin 1.5] redis.call('SET', 'b', 2)"
    with_busy_batch {{SET before v}} $script {
        assert_equal [replica_commands $c 2] {{SELECT 0} {SET before v}}
        assert_equal [replica_next $c] PING
    }
    replica_commands $c 4
} {MULTI {SET a 1} {SET b 2} EXEC}
check_replicas "with appendonly yes, too" {
    with_server {repl-diskless-sync-delay 0 repl-ping-replica-period 1 appendonly yes appendfsync always} {
        lassign [replica_sync] c
        with_busy_batch {{SET before v}} "redis.call('SET', 'a', 1) [spin 1.5]" {
            assert_equal [replica_commands $c 2] {{SELECT 0} {SET before v}}
            assert_equal [replica_next $c] PING
        }
        replica_command $c
    }
} {SET a 1}
check_replicas "messages of the script follow its changes" {
    lassign [replica_sync] c
    with_busy_to_end [list EVAL "redis.call('SET', 'a', 1) redis.call('PUBLISH', 'news', 'x') [spin 1.5]" 0] {
        assert_equal [replica_next $c] PING
    }
    replica_commands $c 3
} {{SELECT 0} {SET a 1} {PUBLISH news x}}
check_replicas "REPLCONF is answered, and PSYNC refused" {
    with_busy [list EVAL $forever 0] {
        set c [client_open]
        assert_equal [$c call REPLCONF listening-port 7777] OK
        list [catch_error {$c call PSYNC ? -1}] [catch_error {$c call SYNC}]
    }
} [list $busy_with_script $busy_with_script]
check_replicas "a replica that waits for its payload is kept alive, and gets it after the script" {
    set digest [r DEBUG DIGEST]
    with_config {repl-diskless-sync-delay 1000} {
        set c [replica_open]
        $c send PSYNC ? -1
        wait_until {[info_field connected_slaves] == 1}
        with_busy [list EVAL $forever 0] {
            assert_equal [$c read_bytes 3] "\n\n\n"
        }
    }
    replica_line $c
    assert_equal [payload_digest [replica_payload $c]] $digest
}
check_replicas "a replica that leaves while a payload is written costs nothing" {
    with_config {rdb-key-save-delay 1000} {
        r DEBUG POPULATE 2000
        set c [replica_open]
        replica_psync $c
        with_busy_to_end [list EVAL "redis.call('SET', 'key:1', 1) [spin 0.5]" 0] {
            $c close
        }
        wait_until {[info_field connected_slaves] == 0}
    }
    list [r GET key:1] [r BGSAVE]
} {1 {Background saving started}}
check_replicas "SHUTDOWN NOSAVE: replicas get what was changed before the script, and nothing of it" {
    foreach appendonly {yes no} {
        with_server [list repl-diskless-sync-delay 0 appendonly $appendonly busy-reply-threshold 20] {
            lassign [replica_sync] c
            set runner [client_open]
            $runner write [request {SET before v}][request [list EVAL "redis.call('SET', 'a', 1) $forever" 0]]
            wait_until {[is_busy]}
            [client_open] send SHUTDOWN NOSAVE
            set text [$c read_all]
            lappend found [string match *SET*before*v* $text] [string match *SET*a*1* $text] [regexp {MULTI|EXEC} $text]
        }
    }
    set found
} {1 0 0 1 0 0}

# --- After a callback that took long

check_replicas "a replica that was not read for longer than repl-timeout is not cut off for that" {
    with_config {repl-timeout 2} {
        lassign [replica_sync] c id offset
        set sleeper [client_open]
        $sleeper send DEBUG SLEEP 4
        while {[$sleeper is_silent 20]} {
            replica_ack $c $offset
        }
        replica_ack $c $offset
        r SET k v
        list [lindex [replica_commands $c 2] 1] [regexp -all "Disconnecting timedout" [$current_server log]]
    }
} {{SET k v} 0}

finish
