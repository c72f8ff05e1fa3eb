# import-mode and CLIENT IMPORT-SOURCE: a tool copies data to this server, and says itself which keys have gone.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# Runs the body in import-mode with `source`, a client that imports, and `s` for string s, which has expired.
proc importing {body} {
    with_config {import-mode yes} {
        upvar 1 source source
        set source [client_open]
        assert_equal [$source call CLIENT IMPORT-SOURCE ON] OK
        r SET s 5 PX 1
        r HSET h f v g w
        r HPEXPIRE h 1 FIELDS 1 f
        wait_until {[r EXISTS s] == 0 && [r HTTL h FIELDS 1 f] eq "-2"}
        uplevel 1 $body
    }
}

proc flags_of {client} {
    regexp {flags=(\S*)} [$client call CLIENT INFO] _ flags
    return $flags
}

# The commands of the command log that the body adds to it.
proc propagated {body} {
    set before [info_field master_repl_offset]
    uplevel 1 $body
    return [expr {[info_field master_repl_offset] > $before}]
}

# ----- CLIENT IMPORT-SOURCE -----

check "CLIENT IMPORT-SOURCE needs import-mode, except for OFF" {
    list [error_of {r CLIENT IMPORT-SOURCE ON}] [error_of {r CLIENT IMPORT-SOURCE x}] [r CLIENT IMPORT-SOURCE off] \
        [error_of {r CLIENT IMPORT-SOURCE}]
} {{ERR Server is not in import mode} {ERR Server is not in import mode} OK\
    {ERR wrong number of arguments for 'client|import-source' command}}

check "CLIENT IMPORT-SOURCE takes ON and OFF, and RESET ends it" {
    importing {
        set flags [flags_of $source]
        lappend flags [$source call CLIENT IMPORT-SOURCE OFF] [flags_of $source] \
            [catch {$source call CLIENT IMPORT-SOURCE x} error] $error
        $source call CLIENT IMPORT-SOURCE on
        $source call CLIENT NO-TOUCH on
        lappend flags [flags_of $source]
        $source call RESET
        lappend flags [flags_of $source]
    }
} {I OK N 1 {ERR syntax error} TI N}

check "CLIENT LIST and KILL find clients that import" {
    importing {
        set count [llength [split [string trim [r CLIENT LIST FLAGS I]] \n]]
        list $count [r CLIENT KILL FLAGS I] [$source is_closed]
    }
} {1 1 1}

# ----- Expired keys -----

check "a client that imports finds expired keys and fields, others do not" {
    importing {
        set found {}
        foreach command {
            {GET s} {EXISTS s} {TTL s} {PTTL s} {TYPE s} {STRLEN s} {HGET h f} {HLEN h} {HTTL h FIELDS 1 f}
            {HEXISTS h f} {HPTTL h FIELDS 1 f} {EVAL {return redis.call('GET', 's')} 0}
            {OBJECT ENCODING s} {KEYS s} {HKEYS h}
        } {
            lappend found [$source call {*}$command] [r {*}$command]
        }
        set found
    }
} {5 (nil) 1 0 0 -2 0 -2 string none 1 0 v (nil) 2 2 0 -2 1 0 0 -2 5 (nil) int (nil) s {} {f g} g}

check "in a transaction, too" {
    importing {
        $source call MULTI
        $source call GET s
        set found [list [$source call EXEC]]
        $source call WATCH s
        $source call MULTI
        $source call INCR s
        lappend found [$source call EXEC] [$source call GET s] [$source call PERSIST s] [r GET s]
    }
} {5 6 6 1 6}

check "reading deletes nothing, and no search does; both do when import-mode is over" {
    r CONFIG RESETSTAT
    importing {
        set found [propagated {
            r GET s
            r HGETALL h
            r SCAN 0
            r RANDOMKEY
        }]
        after 300
        lappend found [r DBSIZE] [info_field expired_keys]
    }
    wait_until {[r DBSIZE] == 1 && [r HLEN h] == 1}
    lappend found [info_field expired_keys]
} {0 2 0 1}

check "a write of another client deletes what has expired first" {
    importing {
        list [r INCR s] [r TTL s] [$source call GET s] [r HSET h f new] [r HTTL h FIELDS 1 f] [$source call HGET h f]
    }
} {1 -1 1 1 -1 new}

check "an expiry that has passed is set, whoever gives it" {
    importing {
        set payload [$source call DUMP s]
        lmap client [list $source [default_client]] {
            $client call DEL a b c d e
            $client call SET a 1
            $client call EXPIREAT a 1000
            $client call SET b 1 PXAT 1
            $client call SET c 1
            $client call GETEX c EXAT 1
            $client call RESTORE d 1 $payload REPLACE ABSTTL
            $client call SET e 1
            $client call EXPIRE e -1
            $source call EXISTS a b c d e
        }
    }
} {5 5}

check "an expiry of fields that has passed is set" {
    importing {
        $source call HSET n a 1 b 2 c 3
        $source call HPEXPIREAT n 1 FIELDS 1 a
        $source call HGETEX n PXAT 1 FIELDS 1 b
        $source call HSETEX n PXAT 1 FIELDS 1 d 4
        list [lsort [$source call HKEYS n]] [r HKEYS n]
    }
} {{a b c d} c}

# ----- Eviction -----

check "nothing is evicted, so commands that need memory are refused" {
    r SET k v
    importing {
        with_config {maxmemory 1 maxmemory-policy allkeys-random} {
            list [error_of {r SET new v}] [catch {$source call SET new v} error] $error [r EXISTS k]
        }
    }
} {{OOM command not allowed when used memory > 'maxmemory'.} 1\
    {OOM command not allowed when used memory > 'maxmemory'.} 1}

check "on a replica import-mode has no effect" {
    with_config {import-mode yes} {
        set source [client_open]
        $source call CLIENT IMPORT-SOURCE ON
        r SET s 5 PX 1
        r REPLICAOF 127.0.0.1 1
        wait_until {[r EXISTS s] == 0}
        set found [$source call GET s]
        r REPLICAOF NO ONE
        lappend found [$source call GET s]
    }
} {(nil) 5}

check_in 2 "import-mode may stand in the configuration file" {
    with_server {import-mode yes} {
        r CLIENT IMPORT-SOURCE ON
        r SET s 5 PXAT 1
        list [r GET s] [r CONFIG GET import-mode]
    }
} {5 {import-mode yes}}

check_in 2 "an append-only file brings expired keys back" {
    with_server {import-mode yes appendonly yes} {
        r CLIENT IMPORT-SOURCE ON
        r SET s 5 PXAT 1
        r INCR s
        r HSETEX h PXAT 1 FIELDS 1 f v
        r DEBUG LOADAOF
        list [r GET s] [r HGETALL h]
    }
} {6 {f v}}

finish
