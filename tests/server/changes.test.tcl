# Whatever replaces the data of a whole database, everyone who must know hears of it: clients that watch keys, clients
# that wait for keys, the snapshot that is being written, own expiries of a replica, functions.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/replica.tcl

server_start {enable-debug-command yes}

set library_of {#!lua name=%1$s
redis.register_function('%1$s', function() return '%1$s' end)}

proc function_names {} {
    return [lmap library [r FUNCTION LIST] {dict get $library library_name}]
}

# Runs `change`, which deletes the key `gone` and perhaps brings the list `arrives`. Gives what clients noticed: EXEC
# after WATCH of each of the two, and BLPOP of the list.
proc noticed {change} {
    set watchers [lmap key {gone arrives} {
        set client [client_open]
        $client call WATCH $key
        set client
    }]
    set waiting [client_blocked BLPOP arrives 0]
    uplevel 1 $change
    set results [lmap client $watchers {
        $client call MULTI
        $client call PING
        $client call EXEC
    }]
    # A client that waits is served once the change is done; one that is not is served now.
    r RPUSH arrives later
    lappend results [$waiting read]
    foreach client [concat $watchers $waiting] {
        $client close
    }
    r DEL arrives
    return $results
}

# --- Commands

check_in 2 "FLUSHALL touches watched keys, leaves functions, ends the snapshot" {
    r FUNCTION LOAD REPLACE [format $library_of kept]
    r SET gone 1
    assert_equal [noticed {r FLUSHALL}] {(nil) PONG {arrives later}}
    function_names
} kept
check_in 2 "FLUSHDB touches watched keys of its database" {
    r SET gone 1
    noticed {r FLUSHDB}
} {(nil) PONG {arrives later}}
check_in 2 "FLUSHDB of another database touches nothing" {
    r SET gone 1
    noticed {
        r SELECT 1
        r FLUSHDB
        r SELECT 0
    }
} {PONG PONG {arrives later}}
check_in 2 "SWAPDB touches watched keys that change, and serves clients that wait" {
    r FLUSHALL
    r SET gone 1
    noticed {
        r SELECT 1
        r RPUSH arrives swapped
        r SELECT 0
        r SWAPDB 0 1
    }
} {(nil) (nil) {arrives swapped}}
check_in 2 "SWAPDB does not delete a key that has expired and that clients wait for" {
    r FLUSHALL
    r DEBUG SET-ACTIVE-EXPIRE 0
    r SELECT 1
    r RPUSH k old
    r PEXPIRE k 1
    set expired [expr {[clock milliseconds] + 5}]
    wait_until {[clock milliseconds] > $expired}
    r SELECT 0
    set c [client_blocked BLPOP k 0]
    set before [info_field expired_keys]
    r SWAPDB 0 1
    set left [list [r DBSIZE] [expr {[info_field expired_keys] - $before}]]
    r RPUSH k new
    r DEBUG SET-ACTIVE-EXPIRE 1
    list $left [$c read] [r DBSIZE]
} {{1 0} {k new} 0}
check_in 2 "a snapshot that is being written has what FLUSHDB and SWAPDB took away" {
    foreach change {FLUSHDB {SWAPDB 0 1}} {
        r FLUSHALL
        r DEBUG POPULATE 1000
        set digest [r DEBUG DIGEST]
        r CONFIG SET rdb-key-save-delay 1000
        r BGSAVE
        r {*}$change
        r CONFIG SET rdb-key-save-delay 0
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
        r FLUSHALL
        r DEBUG RELOAD NOSAVE
        assert_equal [r DEBUG DIGEST] $digest
    }
}

# --- Reloading

check_in 2 "DEBUG RELOAD touches watched keys, serves clients that wait, loads functions" {
    r FLUSHALL
    r FUNCTION LOAD REPLACE [format $library_of saved]
    r RPUSH arrives saved
    r SAVE
    r DEL arrives
    r FUNCTION FLUSH
    r FUNCTION LOAD [format $library_of forgotten]
    r SET gone 1
    assert_equal [noticed {r DEBUG RELOAD NOSAVE}] {(nil) (nil) {arrives saved}}
    lsort [function_names]
} {kept saved}
check_in 2 "DEBUG LOADAOF touches watched keys" {
    with_server {appendonly yes enable-debug-command yes} {
        r SET gone 1
        noticed {r DEBUG LOADAOF}
    }
} {(nil) PONG {arrives later}}

# --- Full synchronization

# A primary without data, and a replica of it, the current server, to which clients write.
proc with_writable_replica {load body} {
    upvar 1 primary primary
    set primary [server new {enable-debug-command yes repl-diskless-sync-delay 0}]
    try {
        with_server [list replicaof "127.0.0.1 [$primary port]" replica-read-only no repl-diskless-load $load \
            enable-debug-command yes] {
            wait_until {[info_field master_link_status] eq "up"}
            uplevel 1 $body
        }
    } finally {
        $primary destroy
    }
}

# The primary loses its history, and has the list; the replica must ask for all data.
proc synchronize {primary} {
    set syncs [regexp -inline {sync_full:\d+} [$primary control INFO stats]]
    $primary control MULTI
    $primary control DEBUG CHANGE-REPL-ID
    $primary control CLIENT KILL TYPE replica
    $primary control RPUSH arrives synced
    $primary control EXEC
    wait_until {[regexp -inline {sync_full:\d+} [$primary control INFO stats]] ne $syncs}
    wait_until {[info_field master_link_status] eq "up"}
}

foreach load {disabled on-empty-db swapdb} {
    check_in 2 "a full synchronization (repl-diskless-load $load) is heard by all" {
        with_writable_replica $load {
            $primary control FUNCTION LOAD [format $library_of theirs]
            wait_until {[function_names] eq "theirs"}
            r FUNCTION LOAD [format $library_of ours]
            r SET own 1 EX 1000
            assert_equal [info_field slave_expires_tracked_keys] 1
            r SET gone 1
            set results [noticed {synchronize $primary}]
            list $results [function_names] [info_field slave_expires_tracked_keys] [r EXISTS own]
        }
    } {{(nil) (nil) {arrives synced}} theirs 0 0}
}

finish
