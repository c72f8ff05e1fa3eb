# FAILOVER: a replica takes over, and the primary becomes its replica. The other server is only played: by a connection
# that says it is a replica (lib/replica.tcl), and a socket to which the server then connects (lib/primary.tcl).
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/replica.tcl
source $library/primary.tcl

server_start

# A server with a replica, $::replica, which has everything and can be reached at the port of $::primary.
proc with_target {body} {
    with_server {repl-diskless-sync-delay 0} {
        set ::primary [fake_primary new]
        try {
            r SET before 1
            lassign [replica_sync listening-port [$::primary port] capa eof capa psync2] ::replica ::id offset
            replica_ack $::replica $offset
            wait_until {[string match "*state=online,offset=$offset,*" [info_field slave0]]}
            uplevel 1 $body
        } finally {
            $::primary destroy
        }
    }
}

proc target {} {
    return [list TO 127.0.0.1 [$::primary port]]
}

proc failover_state {} {
    return [replication master_failover_state]
}

# The replica has all of the stream.
proc catch_up {} {
    replica_ack $::replica [replication master_repl_offset]
}

# The server connects to the replica; gives the link when PSYNC was answered.
proc taken_over {answer} {
    set link [$::primary accept]
    set words [link_asks $link]
    assert_equal [lreplace $words 2 2] [list PSYNC $::id FAILOVER]
    assert_equal [lindex $words 2] [expr {[replication master_repl_offset] + 1}]
    $link write "$answer\r\n"
    return $link
}

# --- What is refused

foreach {arguments error} {
    {FORCE} "ERR FAILOVER with force option requires both a timeout and target HOST and IP."
    {FORCE TIMEOUT 10} "ERR FAILOVER with force option requires both a timeout and target HOST and IP."
    {TO 127.0.0.1 1 FORCE} "ERR FAILOVER with force option requires both a timeout and target HOST and IP."
    {TO 127.0.0.1 1} "ERR FAILOVER target HOST and PORT is not a replica."
    {TO 127.0.0.1 70000} "ERR FAILOVER target HOST and PORT is not a replica."
    {ABORT TO 127.0.0.1 1} "ERR syntax error"
    {ABORT} "ERR No failover in progress."
    {TIMEOUT -1} "ERR FAILOVER timeout must be greater than 0"
} {
    check_in 2 "FAILOVER $arguments on a primary with a replica" [string map [list ARGUMENTS $arguments] {
        with_target {
            error_of {r FAILOVER ARGUMENTS}
        }
    }] $error
}
check_in 2 "FAILOVER is refused on a replica" {
    with_replica {} {
        error_of {r FAILOVER}
    }
} "ERR FAILOVER is not valid when server is a replica."
check_in 2 "a target that still loads is refused" {
    with_server {repl-diskless-sync-delay 3600} {
        set c [replica_open listening-port 7777 capa eof capa psync2]
        $c send PSYNC ? -1
        wait_until {[info_field connected_slaves] == 1}
        error_of {r FAILOVER TO 127.0.0.1 7777}
    }
} "ERR FAILOVER target replica is not online."

# --- Waiting

check_in 2 "until a replica has all data, commands that write are held back, and nothing is added to the stream" {
    with_target {
        set waiter [client_open 2]
        $waiter call SET a 1
        set offset [replication master_repl_offset]
        assert_equal [r FAILOVER] OK
        assert_equal [failover_state] waiting-for-sync
        set writers [lmap request {{SET a 2} {PUBLISH c m} {EVAL {return redis.call('INCR', 'a')} 0}} {
            set c [client_open 2]
            $c send {*}$request
            set c
        }]
        $waiter send WAIT 1 0
        wait_until {[info_field blocked_clients] == 4}
        r CLIENT UNPAUSE
        r CLIENT PAUSE 1 ALL
        assert_equal [list [r GET a] [error_of {r FAILOVER}] [error_of {r REPLICAOF NO ONE}]] \
            {1 {ERR FAILOVER already in progress.} {ERR REPLICAOF not allowed while failing over.}}
        set other [client_open 2]
        assert_equal [error_of {$other call PSYNC ? -1}] "NOMASTERLINK Can't SYNC while failing over"
        assert_equal [list [replication master_repl_offset] [failover_state] [r GET a]] \
            [list $offset waiting-for-sync 1]
        assert_equal [r FAILOVER ABORT] OK
        assert_equal [failover_state] no-failover
        lmap c $writers {$c read}
    }
} {OK 0 3}
check_in 2 "a failover without an end in time is given up, and clients write on" {
    with_target {
        r SET a 1
        r FAILOVER TIMEOUT 100
        set c [client_open 2]
        $c send SET a 2
        assert_equal [$c read] OK
        assert_equal [failover_state] no-failover
        assert_match "*Failover aborted while waiting-for-sync. Replica never caught up before timeout*" \
            [$current_server log]
        r ROLE
    }
} {master * {{127.0.0.1 * *}}} -match glob
check_in 2 "a replica that leaves is waited for" {
    with_target {
        r SET a 1
        r FAILOVER
        $replica close
        wait_until {[info_field connected_slaves] == 0}
        assert_equal [failover_state] waiting-for-sync
        r FAILOVER ABORT
    }
} OK
check_in 2 "the time of a failover ends also when the replica has left, and the stream with it" {
    with_target {
        r CONFIG SET repl-backlog-ttl 1
        r SET a 1
        r FAILOVER TIMEOUT 3000
        $replica close
        wait_until {[info_field repl_backlog_active] == 0}
        r SET a 2
    }
} OK
check_in 2 "a replica that has confirmed nothing does not take over" {
    with_server {repl-diskless-sync-delay 0} {
        set c [replica_open listening-port 7777 capa eof capa psync2]
        replica_psync $c
        replica_payload $c
        wait_until {[string match "*state=online*" [info_field slave0]]}
        r FAILOVER TIMEOUT 100
        wait_until {[failover_state] ne "waiting-for-sync"}
        lindex [r ROLE] 0
    }
} master

# --- Taking over

foreach arguments {{} {{*}[target]} {{*}[target] FORCE TIMEOUT 100000}} {
    check_in 2 "the replica takes over: FAILOVER $arguments" [string map [list ARGUMENTS $arguments] {
        with_target {
            r SET a 1
            r FAILOVER ARGUMENTS
            set c [client_open 2]
            $c send SET a 2
            wait_until {[info_field blocked_clients] == 1}
            assert_equal [failover_state] waiting-for-sync
            catch_up
            wait_until {[failover_state] eq "failover-in-progress"}
            assert_equal [lrange [r ROLE] 0 2] [list slave 127.0.0.1 [$primary port]]
            set offset [replication master_repl_offset]
            set new [string repeat b 40]
            set link [taken_over "+CONTINUE $new"]
            wait_link up
            assert_equal [error_of {$c read}] "READONLY You can't write against a read only replica."
            assert_equal [failover_state] no-failover
            assert_equal [list [replication master_replid] [replication master_replid2]] [list $new $id]
            assert_equal [replication second_repl_offset] [expr {$offset + 1}]
            $link offset $offset
            $link feed SELECT 0
            $link feed SET a 3
            applied $link
            list [r GET a] [r GET before] [error_of {r FAILOVER ABORT}]
        }
    }] {3 1 {ERR No failover in progress.}}
}
check_in 2 "clients that wait for a key are told when the server becomes a replica" {
    with_target {
        set c [client_blocked BLPOP list 0]
        r FAILOVER
        catch_up
        error_of {$c read}
    }
} "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"
check_in 2 "a target that sends all data takes over, too" {
    with_target {
        r FAILOVER
        catch_up
        set link [taken_over "+FULLRESYNC [string repeat c 40] 7"]
        set snapshot [rdb {a 9}]
        $link write "\$[string length $snapshot]\r\n$snapshot"
        wait_link up
        list [r GET a] [failover_state]
    }
} {9 no-failover}
foreach answer {"-ERR PSYNC FAILOVER can't be sent to a master." "-NOMASTERLINK not now" "-LOADING not now" "+FROB"} {
    check_in 2 "a target that refuses: the server is a primary again ($answer)" [string map [list ANSWER $answer] {
        with_target {
            r SET a 1
            r FAILOVER
            set c [client_open 2]
            $c send SET a 2
            wait_until {[info_field blocked_clients] == 1}
            catch_up
            set offset [replication master_repl_offset]
            taken_over "ANSWER"
            assert_equal [$c read] OK
            assert_equal [list [failover_state] [lindex [r ROLE] 0]] {no-failover master}
            assert_equal [r CONFIG GET replicaof] {replicaof {}}
            assert_match "*Failover aborted while failover-in-progress. Failover target rejected psync request*" \
                [$current_server log]
            assert {[replication master_replid] ne $id}
            list [expr {[replication master_replid2] eq $id}] [expr {[replication second_repl_offset] - $offset}]
        }
    }] {1 1}
}
check_in 2 "a target that cannot be reached is tried until FAILOVER ABORT" {
    with_target {
        r FAILOVER
        catch_up
        [$primary accept] close
        set link [$primary accept]
        assert_equal [failover_state] failover-in-progress
        assert_equal [error_of {r FAILOVER}] "ERR FAILOVER already in progress."
        assert_equal [error_of {r REPLICAOF 127.0.0.1 1}] "ERR REPLICAOF not allowed while failing over."
        assert_equal [r FAILOVER ABORT] OK
        list [failover_state] [lindex [r ROLE] 0] [r SET a 1]
    }
} {no-failover master OK}
check_in 2 "with FORCE a replica that lacks data takes over when time is over" {
    with_target {
        r SET a 1
        r FAILOVER {*}[target] FORCE TIMEOUT 50
        set link [taken_over "+FULLRESYNC [string repeat c 40] 7"]
        set snapshot [rdb {a 9}]
        $link write "\$[string length $snapshot]\r\n$snapshot"
        wait_link up
        list [r GET a] [failover_state]
    }
} {9 no-failover}

# --- Being the target

check_in 2 "PSYNC with FAILOVER makes a replica a primary" {
    with_replica {} {
        set link [link_begin {a 1}]
        $link feed SET a 2
        applied $link
        set c [client_open 2]
        assert_equal [error_of {$c call PSYNC [string repeat 0 40] 1 FAILOVER}] \
            "ERR PSYNC FAILOVER replid must match my replid."
        set c [replica_open listening-port 7777 capa eof capa psync2]
        set answer [replica_psync $c $replication_id [expr {[$link offset] + 1}] FAILOVER]
        assert_equal $answer "+CONTINUE [replication master_replid]"
        assert_equal [list [lindex [r ROLE] 0] [replication master_replid2]] [list master $replication_id]
        r SET a 3
        replica_commands $c 2
    }
} {{SELECT 0} {SET a 3}}
check_in 2 "REPLICAOF NO ONE from a replica of the replica: its connection is closed, too" {
    with_replica {} {
        link_begin
        set c [lindex [replica_sync] 0]
        $c send REPLICAOF NO ONE
        wait_until {[lindex [r ROLE] 0] eq "master"}
        $c is_closed
    }
} 1
check_in 2 "a primary refuses PSYNC with FAILOVER" {
    with_server {} {
        set c [client_open 2]
        list [error_of {$c call PSYNC [replication master_replid] 1 FAILOVER}] [replication connected_slaves]
    }
} {{ERR PSYNC FAILOVER can't be sent to a master.} 0}

finish
