# Transactions that start, end or load files after they have changed keys, with a replica: it gets each transaction
# whole, and so does the append-only file.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/replica.tcl
source $library/primary.tcl

server_start {repl-diskless-sync-delay 0}

# The replies of a transaction that sets a, runs the requests and sets b.
proc in_transaction {requests} {
    set c [client_open]
    return [lindex [$c pipeline [list MULTI {INCR a} {*}$requests {INCR b} EXEC]] end]
}

# What the replica `replica` gets next must be this transaction as a whole.
proc assert_whole {replica} {
    assert_equal [replica_commands $replica 4] {MULTI {INCR a} {INCR b} EXEC}
}

# The last commands of the current server's append-only file.
proc propagated_last {count} {
    wait_written
    set commands [aof_commands [read_file [lindex [aof_files $::current_server *.incr.aof] end]]]
    return [lrange $commands end-[expr {$count - 1}] end]
}

proc with_replicated {directives body} {
    with_server [dict merge {repl-diskless-sync-delay 0} $directives] {
        set ::replica [lindex [replica_sync] 0]
        set ::default_client ""
        r SET first 1
        assert_equal [replica_commands $::replica 2] {{SELECT 0} {SET first 1}}
        uplevel 1 $body
    }
}

check_in 2 "appendonly turned on in a transaction begins behind it" {
    with_replicated {} {
        assert_equal [in_transaction {{CONFIG SET appendonly yes}}] {1 OK 1}
        assert_whole $replica
        wait_rewritten
        r INCR a
        set digest [r DEBUG DIGEST]
        $current_server kill
        $current_server launch_with {appendonly yes}
        set ::default_client ""
        list [r MGET a b] [expr {[r DEBUG DIGEST] eq $digest}]
    }
} {{2 1} 1}
check_in 2 "appendonly turned off in a transaction ends behind it" {
    with_replicated {appendonly yes} {
        assert_equal [in_transaction {{CONFIG SET appendonly no}}] {1 OK 1}
        assert_whole $replica
        wait_until {[info_field aof_enabled] == 0}
        assert_equal [aof_commands [read_file [lindex [aof_files $current_server *.incr.aof] end]]] \
            {{SELECT 0} {SET first 1} MULTI {INCR a} {INCR b} EXEC}
    }
}
check_in 2 "appendonly turned off and on in a transaction goes on as it was" {
    with_replicated {appendonly yes} {
        assert_equal [in_transaction {{CONFIG SET appendonly no} {CONFIG SET appendonly yes}}] {1 OK OK 1}
        assert_whole $replica
        r INCR a
        assert_equal [aof_commands [read_file [lindex [aof_files $current_server *.incr.aof] end]]] \
            {{SELECT 0} {SET first 1} MULTI {INCR a} {INCR b} EXEC {INCR a}}
    }
}
check_in 2 "appendonly that cannot be turned on behind the transaction is no again" {
    with_replicated {} {
        write_file [$current_server data]/appendonlydir "a file where the folder should be"
        assert_equal [in_transaction {{CONFIG SET appendonly yes}}] {1 OK 1}
        assert_whole $replica
        wait_until {[lindex [r CONFIG GET appendonly] 1] eq "no"}
        assert_match "*Unable to turn on AOF after the transaction*" [$current_server log]
        info_field aof_enabled
    }
} 0
check_in 2 "DEBUG LOADAOF is refused in a transaction that has changed keys" {
    with_replicated {appendonly yes} {
        assert_match {1 {(error) ERR Error trying to load the AOF files*} 1} [in_transaction {{DEBUG LOADAOF}}]
        assert_whole $replica
        r MULTI
        r DEBUG LOADAOF
        r INCR b
        assert_equal [r EXEC] {OK 2}
        r GET a
    }
} 1
check_in 2 "a rewrite and a snapshot that a transaction asks for begin behind it" {
    with_replicated {appendonly yes} {
        assert_match {1 {Background append only file rewriting scheduled} {Background saving *} 1} \
            [in_transaction {BGREWRITEAOF {BGSAVE SCHEDULE}}]
        assert_whole $replica
        wait_rewritten
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
        r INCR a
        $current_server crash
        set ::default_client ""
        r MGET a b
    }
} {2 1}

foreach request {
    SAVE {PSYNC ? -1} SYNC SHUTDOWN
} {
    check_error "$request is not allowed in a transaction" "r MULTI; r $request" \
        "ERR Command not allowed inside a transaction"
}

# --- The role

check_in 2 "a primary that becomes a replica in a transaction first gives its replicas all of it" {
    with_replicated {appendonly yes} {
        assert_equal [in_transaction {{REPLICAOF 127.0.0.1 1}}] {1 OK 1}
        assert_equal [lindex [r ROLE] 0] slave
        assert_equal [info_field role] slave
        assert_whole $replica
        propagated_last 4
    }
} {MULTI {INCR a} {INCR b} EXEC}
check_in 2 "what follows REPLICAOF in a transaction belongs to the history that the primary is asked to continue" {
    set primary [fake_primary new]
    with_replicated {} {
        set id [replication master_replid]
        set c [client_open]
        set requests [list MULTI "REPLICAOF 127.0.0.1 [$primary port]" {INCR a} {INCR b} EXEC]
        assert_equal [lindex [$c pipeline $requests] end] {OK 1 1}
        assert_equal [link_asks [$primary accept]] [list PSYNC $id [expr {[replication master_repl_offset] + 1}]]
        assert_whole $replica
    }
    $primary destroy
}
check_in 2 "the directive changes in the transaction: CONFIG REWRITE writes it, and the same order is known" {
    with_replicated {} {
        assert_equal [in_transaction {
            {REPLICAOF localhost 1} {CONFIG GET replicaof} {CONFIG REWRITE} {REPLICAOF LOCALHOST 1} FAILOVER
        }] {1 OK {replicaof {localhost 1}} OK {OK Already connected to specified master}\
            {(error) ERR FAILOVER is not valid when server is a replica.} 1}
        assert_whole $replica
        regexp -line {^replicaof localhost 1$} [read_file [$current_server folder]/packlist.conf]
    }
} 1
check_in 2 "REPLICAOF and back in a transaction changes no role" {
    with_replicated {} {
        set id [replication master_replid]
        assert_equal [in_transaction {{REPLICAOF 127.0.0.1 1} {REPLICAOF NO ONE}}] {1 OK OK 1}
        assert_whole $replica
        r INCR a
        assert_equal [replica_command $replica] {INCR a}
        list [lindex [r ROLE] 0] [expr {[replication master_replid] eq $id}]
    }
} {master 1}
check_in 2 "a replica that becomes a primary in a transaction has it in the file as a whole" {
    with_replica {appendonly yes replica-read-only no} {
        link_begin
        wait_rewritten
        assert_equal [in_transaction {{REPLICAOF NO ONE}}] {1 OK 1}
        assert_equal [lindex [r ROLE] 0] master
        propagated_last 5
    }
} {MULTI {SELECT 0} {INCR a} {INCR b} EXEC}
check_in 2 "what follows REPLICAOF NO ONE at the begin of a transaction is the new history" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        $link feed SET first 1
        applied $link
        set c [client_open]
        assert_equal [lindex [$c pipeline {MULTI {REPLICAOF NO ONE} {INCR a} {INCR b} EXEC}] end] {OK 1 1}
        set offset [replication second_repl_offset]
        set c [replica_open listening-port 7777 capa psync2]
        assert_equal [lindex [replica_psync $c $replication_id $offset] 0] +CONTINUE
        replica_commands $c 5
    }
} {MULTI {SELECT 0} {INCR a} {INCR b} EXEC}
check "REPLICAOF has no place in a script" {
    error_of {r EVAL {return redis.call('REPLICAOF', 'NO', 'ONE')} 0}
} "ERR This Redis command is not allowed from script script: *" -match glob

# --- The same data everywhere

# Runs transactions of these requests with changes behind them, before them and around them.
proc run_transactions {requests} {
    set c [client_open]
    foreach transaction [list [list {*}$requests {LPUSH a 1} {INCR b}] [list {LPUSH a 2} {INCR b} {*}$requests] \
            [list {LPUSH a 3} {*}$requests {INCR b}]] {
        $c pipeline [list MULTI {*}$transaction EXEC]
    }
}
# The replica must have the same data, and so must the server when it has loaded its append-only file.
foreach requests {
    {{DEBUG CHANGE-REPL-ID}} {{DEBUG RELOAD}} {{DEBUG RELOAD MERGE NOFLUSH}} {{DEBUG LOADAOF}}
    {{DEBUG REPLICATE PING}} {{DEBUG SLEEP 0}} BGREWRITEAOF BGSAVE {{BGSAVE SCHEDULE}} SAVE {{SHUTDOWN NOSAVE}}
    FLUSHALL {{FLUSHALL ASYNC}} FLUSHDB {{SWAPDB 0 1}} {{FUNCTION FLUSH}} {{FUNCTION RESTORE DUMPED REPLACE}}
    {{FUNCTION RESTORE DUMPED FLUSH}} {{FUNCTION DELETE lib}} {{FUNCTION LOAD REPLACE LIBRARY}}
    {{CONFIG SET appendonly no} {CONFIG SET appendonly yes}} {{CONFIG SET dir .}} {{CONFIG SET save {}}}
    {{CONFIG SET save {1 1}}} {{CONFIG SET repl-backlog-size 20000}} {{CONFIG SET repl-timeout 5}}
    {{CONFIG SET repl-diskless-sync no}} {{CONFIG SET repl-ping-replica-period 1}} {{CONFIG SET repl-backlog-ttl 1}}
    {{CONFIG SET min-replicas-to-write 1}} {{CONFIG SET appendfsync always}} {{CONFIG SET aof-timestamp-enabled yes}}
    {{CONFIG REWRITE}} {{CONFIG RESETSTAT}} {{REPLICAOF NO ONE}} {{REPLICAOF 127.0.0.1 1} {REPLICAOF NO ONE}}
    {{CLIENT KILL TYPE replica}} {{CLIENT KILL TYPE pubsub}} {{CLIENT PAUSE 1 WRITE}}
    {{CLIENT PAUSE 1 ALL} {CLIENT UNPAUSE}} SYNC {{PSYNC ? -1}} {{REPLCONF listening-port 1}} {{REPLCONF rdb-only 1}}
    {{FAILOVER TIMEOUT 60000} {FAILOVER ABORT}} {{FAILOVER ABORT}} {{WAIT 1 0}} {{WAITAOF 1 1 0}}
    {{EVAL {redis.call('INCR', 'b') redis.call('INCR', 'c')} 0}}
} {
    check_in 2 "a transaction with [join $requests { and }] is the same on a replica, and in the file" [string map \
            [list REQUESTS [list $requests]] {
        with_server {appendonly yes repl-diskless-sync-delay 0} {
            set library "#!lua name=lib\nredis.register_function('f', function() return 1 end)"
            r FUNCTION LOAD $library
            set requests [lmap request REQUESTS {
                lmap word $request {string map [list DUMPED [r FUNCTION DUMP] LIBRARY $library] $word}
            }]
            with_replica_of_this {
                run_transactions $requests
                r SET last 1
                wait_same $replica
                set data [list [r DEBUG DIGEST] [r FUNCTION LIST]]
                assert_equal [$replica control FUNCTION LIST] [lindex $data 1]
            }
            wait_rewritten ;# where a transaction has turned the file on
            wait_written
            $current_server crash
            set default_client ""
            assert_equal [list [r DEBUG DIGEST] [r FUNCTION LIST]] $data
            r GET last
        }
    }] 1
}
check_in 2 "a primary that hands over behind a transaction has given it to its replica" {
    with_server {appendonly yes repl-diskless-sync-delay 0} {
        with_replica_of_this {
            set c [client_open]
            assert_equal [lindex [$c pipeline {MULTI {INCR a} FAILOVER {INCR b} EXEC}] end] {1 OK 1}
            wait_until {[info_field role] eq "slave" && [info_field master_link_status] eq "up"}
            assert_equal [$replica control MGET a b] {1 1}
            assert_equal [$replica control INCR a] 2
            wait_until {[r MGET a b] eq {2 1}}
        }
    }
}

finish
