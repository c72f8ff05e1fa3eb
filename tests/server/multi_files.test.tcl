# Transactions that start, end or load files after they have changed keys, with a replica: it gets each transaction
# whole, and so does the append-only file.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/replica.tcl

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
        wait_until {[info_field aof_enabled] == 1 && [info_field aof_rewrite_in_progress] == 0 &&
            [info_field aof_rewrite_scheduled] == 0}
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
        wait_until {[info_field aof_rewrite_in_progress] == 0 && [info_field aof_rewrite_scheduled] == 0 &&
            [info_field rdb_bgsave_in_progress] == 0}
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
foreach request {
    {DEBUG RELOAD} {REPLICAOF NO ONE} {DEBUG CHANGE-REPL-ID} FAILOVER {FAILOVER ABORT}
    {CONFIG SET repl-backlog-size 20000} {CONFIG SET dir .} {CONFIG SET save ""} {FUNCTION FLUSH} {DEBUG SLEEP 0}
    {CLIENT PAUSE 1 ALL}
} {
    check_in 2 "$request in a transaction leaves the server alive" {
        with_replicated {appendonly yes} {
            set replies [in_transaction [list $request]]
            assert_equal [list [lindex $replies 0] [lindex $replies end]] {1 1}
            wait_until {[r MGET a b] eq {1 1}}
        }
    }
}

finish
