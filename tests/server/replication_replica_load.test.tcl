# All data from a primary: how it comes, what happens to the old data, and what a restart makes of it.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join $library faults.tcl]
source [file join $library primary.tcl]

server_start

set mark [string repeat m 39]X

# Answers PSYNC with a payload that ends with a mark, in pieces of `size` bytes.
proc link_sync_marked {link snapshot size} {
    $link write "+FULLRESYNC $::replication_id 0\r\n\$EOF:$::mark\r\n"
    set bytes $snapshot$::mark
    for {set at 0} {$at < [string length $bytes]} {incr at $size} {
        $link write [string range $bytes $at [expr {$at + $size - 1}]]
    }
}

# A link that was lost and asks for everything again.
proc link_again {} {
    set link [$::primary accept]
    link_asks $link
    return $link
}

foreach load {disabled on-empty-db swapdb flush-before-load} {
    check_in 2 "a payload of known length, repl-diskless-load $load" [string map [list LOADING LOADING \
            LOAD $load] {
        with_replica {repl-diskless-load LOAD} {
            set link [link_begin {a 1 b 2}]
            $link feed SET c 3
            applied $link
            lsort [$current_server control KEYS *]
        }
    }] {a b c}
    foreach size {1 7 40 41 100000} {
        check_in 2 "a payload with a mark, in pieces of $size, repl-diskless-load $load" \
            [string map [list LOAD $load SIZE $size] {
            with_replica {repl-diskless-load LOAD} {
                set link [$primary accept]
                link_asks $link
                link_sync_marked $link [rdb {a 1 b 2}] SIZE
                wait_link up
                assert_equal [$link request] {REPLCONF ACK 0}
                $link feed SET c 3
                applied $link
                lsort [$current_server control KEYS *]
            }
        }] {a b c}
    }
    check_in 2 "the stream goes on in the database that the payload names, repl-diskless-load $load" \
        [string map [list LOAD $load] {
        with_replica {repl-diskless-load LOAD} {
            set link [$primary accept]
            link_asks $link
            link_sync_marked $link [rdb {a 1} {repl-stream-db 2}] 1000
            wait_link up
            $link offset 0
            $link feed SET b 2
            applied $link
            set first [info_field db2]
            # Lost before the first SELECT: the next stream goes on there, too.
            $link destroy
            set link [link_again]
            $link write "+CONTINUE\r\n"
            wait_link up
            $link offset [replication slave_repl_offset]
            $link feed SET c 3
            applied $link
            list $first [info_field db2] [info_field db0]
        }
    }] {keys=1,expires=0,avg_ttl=0,subexpiry=0\
        keys=2,expires=0,avg_ttl=0,subexpiry=0\
        keys=1,expires=0,avg_ttl=0,subexpiry=0}
    check_in 2 "the old data is replaced, with libraries, repl-diskless-load $load" [string map [list LOADING LOADING \
            LOAD $load] {
        with_replica {repl-diskless-load LOAD replica-read-only no} {
            $current_server control SET old 1
            $current_server control SELECT 3
            $current_server control SET old 1
            $current_server control function load \
                "#!lua name=lib\nredis.register_function('f', function() return 1 end)"
            link_begin {a 1}
            list [$current_server control DBSIZE] [$current_server control FUNCTION LIST] \
                [$current_server control SELECT 0] [$current_server control KEYS *]
        }
    }] {0 {} OK a}
    check_in 2 "a payload that is bad is asked for again, repl-diskless-load $load" [string map [list LOADING LOADING \
            LOAD $load] {
        with_replica {repl-diskless-load LOAD replica-read-only no} {
            $current_server control SET old 1
            set link [link_again]
            set bad [string range [rdb {a 1 b 2}] 0 end-12]
            $link write "+FULLRESYNC $replication_id 0\r\n\$[string length $bad]\r\n$bad"
            set link [link_again]
            set found [$current_server control KEYS *]
            link_sync $link {c 3}
            wait_link up
            list $found [$current_server control KEYS *]
        }
    }] [list [expr {$load eq "swapdb" ? "old" : ""}] c]
    check_in 2 "a payload with a library whose code does not end is asked for again, repl-diskless-load $load" \
        [string map [list LOAD $load] {
        with_replica {repl-diskless-load LOAD} {
            set link [link_again]
            set code "#!lua name=loop\nwhile true do end"
            set bad [string replace [rdb {a 1}] 0 8 "REDIS0011\xf5[rdb_text $code]"]
            $link write "+FULLRESYNC $replication_id 0\r\n\$[string length $bad]\r\n$bad"
            set link [link_again]
            link_sync $link {c 3}
            wait_link up
            list [$current_server control KEYS *] [regexp {library 'loop' has not ended} [$current_server log]]
        }
    }] {c 1}
    check_in 2 "a payload that is cut off, repl-diskless-load $load" [string map [list LOADING LOADING \
            LOAD $load] {
        with_replica {repl-diskless-load LOAD replica-read-only no} {
            $current_server control SET old 1
            set link [link_again]
            $link write "+FULLRESYNC $replication_id 0\r\n\$1000\r\n[string range [rdb {a 1}] 0 20]"
            wait_until {[replication master_sync_read_bytes] == 21}
            $link close
            set link [link_again]
            set found [$current_server control KEYS *]
            link_sync $link {c 3}
            wait_link up
            list $found [$current_server control KEYS *]
        }
    }] [list [expr {$load eq "flush-before-load" ? "" : "old"}] c]
}
check_in 2 "a disk that writes an abandoned payload late does no harm to the next one" {
    set primary [fake_primary new]
    try {
        with_faulty_server [list replicaof "127.0.0.1 [$primary port]"] {
            set snapshot [rdb [list a [string repeat y 1000000]]]
            set header "+FULLRESYNC $replication_id 0\r\n\$[string length $snapshot]\r\n"
            faults {write hold,nth=1 temp-*}
            set link [$primary accept]
            link_asks $link
            $link write $header[string repeat x 500000]
            wait_until {[leftovers] ne ""}
            wait_until {[llength [fault_hits "write *"]] > 0}
            $link close
            set link [link_again]
            $link write $header[string range $snapshot 0 499999]
            wait_until {[replication master_sync_read_bytes] == 500000}
            faults {unlink sleep=1 temp-*}
            wait_until {[llength [fault_hits "unlink *"]] > 0}
            faults
            $link write [string range $snapshot 500000 end]
            wait_link up
            $current_server control STRLEN a
        }
    } finally {
        $primary destroy
    }
} 1000000
check_in 2 "a payload whose stream goes on in a database that is not there" {
    with_replica {databases 2} {
        set link [$primary accept]
        link_asks $link
        link_sync_marked $link [rdb {a 1} {repl-stream-db 2}] 1000
        set asked [link_asks [$primary accept]]
        list $asked [string match "*MASTER writes to database 2, which is not there: see 'databases'.*" \
            [$::current_server log]]
    }
} {{PSYNC ? -1} 1}
check_in 2 "a replica of the replica gets what follows in the database of the primary's stream" {
    with_replica {} {
        set link [link_begin]
        $link feed SELECT 5
        $link feed SET a 1
        applied $link
        set second [server new [list replicaof "127.0.0.1 [$::current_server port]"]]
        try {
            wait_until {[regexp {master_link_status:up} [$second control INFO replication]]}
            $link feed SET b 2
            applied $link
            wait_until {[$second control DEBUG DIGEST] eq [$::current_server control DEBUG DIGEST]}
            regexp -inline {db\d+:keys=\d+} [$second control INFO keyspace]
        } finally {
            $second destroy
        }
    }
} db5:keys=2
check_in 2 "bytes behind a snapshot that is loaded as it comes: it is asked for again" {
    with_replica {repl-diskless-load swapdb} {
        set link [link_again]
        set snapshot [rdb {a 1}]rubbish
        $link write "+FULLRESYNC $replication_id 0\r\n\$[string length $snapshot]\r\n$snapshot"
        set link [link_again]
        $current_server control DBSIZE
    }
} 0
check_in 2 "clients are refused while data comes in the place of the old" {
    with_replica {repl-diskless-load flush-before-load} {
        set link [link_begin {a 1}]
        $link close
        set link [link_again]
        set snapshot [rdb {b 2}]
        $link write "+FULLRESYNC [string repeat a 40] 0\r\n\$[string length $snapshot]\r\n[string range $snapshot 0 12]"
        wait_until {[info_field loading] == 1}
        set found [list [error_of {$current_server control GET a}] [info_field loading] [info_field async_loading]]
        lappend found [error_of {$current_server control REPLICAOF NO ONE}]
        $link write [string range $snapshot 13 end]
        wait_link up
        lappend found [$current_server control KEYS *]
    }
} {{LOADING Redis is loading the dataset in memory} 1 0 {LOADING Redis is loading the dataset in memory} b}
check_in 2 "a transaction that was queued before data comes in the place of the old is refused meanwhile" {
    with_replica {repl-diskless-load flush-before-load} {
        set queued [lmap request {{GET a} {REPLICAOF NO ONE}} {
            set c [client_open 2]
            $c call MULTI
            $c call {*}$request
            set c
        }]
        set link [$primary accept]
        link_asks $link
        set snapshot [rdb {b 2}]
        $link write "+FULLRESYNC $replication_id 0\r\n\$[string length $snapshot]\r\n[string range $snapshot 0 12]"
        wait_until {[info_field loading] == 1}
        set found [lmap c $queued {error_of {$c call EXEC}}]
        $link write [string range $snapshot 13 end]
        wait_link up
        lsort -unique $found
    }
} {{EXECABORT Transaction discarded because of: LOADING Redis is loading the dataset in memory}}
foreach load {flush-before-load swapdb} {
    check_in 2 "the role does not change while the end of a payload is awaited, repl-diskless-load $load" \
        [string map [list LOADING LOADING LOAD $load] {
        with_replica {repl-diskless-load LOAD} {
            set link [$primary accept]
            link_asks $link
            set snapshot [rdb {b 2}]
            set length [expr {[string length $snapshot] + 5}]
            $link write "+FULLRESYNC $replication_id 0\r\n\$$length\r\n$snapshot"
            wait_until {[string match "*Done loading RDB*" [$current_server log]]}
            set found [error_of {$current_server control REPLICAOF NO ONE}]
            $link write 12345
            assert_equal [lindex [link_asks [$primary accept]] 0] PSYNC
            list $found [$current_server control DBSIZE]
        }
    }] {{LOADING Redis is loading the dataset in memory} 0}
}
check_in 2 "with swapdb clients read the old data of the same history until the new data is there" {
    with_replica {repl-diskless-load swapdb} {
        set link [link_begin {a 1}]
        $link close
        set link [link_again]
        set snapshot [rdb {b 2}]
        $link write "+FULLRESYNC $replication_id 100\r\n\$[string length $snapshot]\r\n[string range $snapshot 0 12]"
        wait_until {[info_field async_loading] == 1}
        set found [list [$current_server control GET a] [info_field loading]]
        lappend found [error_of {$current_server control REPLICAOF NO ONE}]
        lappend found [error_of {$current_server control DEBUG RELOAD}]
        $link write [string range $snapshot 13 end]
        wait_link up
        lappend found [$current_server control KEYS *] [replication slave_repl_offset]
    }
} {1 0 {LOADING Redis is loading the dataset in memory} {LOADING Redis is loading the dataset in memory} b 100}
check_in 2 "watched keys count as changed when all data is replaced" {
    with_replica {} {
        set link [link_begin {a 1}]
        set client [client_open 2]
        $client call WATCH a
        $link close
        set link [link_again]
        link_sync $link {a 1} 500
        wait_link up
        $client call MULTI
        $client call GET a
        $client call EXEC
    }
} (nil)
check_in 2 "expired keys of a snapshot stay until the primary deletes them" {
    with_replica {} {
        set link [link_again]
        set body REDIS0011\xfe\x00\xfc[binary format w 1000]\x00[rdb_text k][rdb_text v]\xff[string repeat \x00 8]
        $link write "+FULLRESYNC $replication_id 0\r\n\$[string length $body]\r\n$body"
        wait_link up
        $link feed PERSIST k
        applied $link
        $current_server control GET k
    }
} v

# --- Restarts

check_in 2 "a replica that was restarted goes on from its snapshot, in the database of the stream" {
    with_replica {} {
        set link [link_begin {a 1}]
        $link feed SELECT 4
        $link feed SET b 2
        applied $link
        set offset [$link offset]
        $current_server control SAVE
        $link close
        $current_server restart
        set link [$primary accept]
        assert_equal [link_asks $link] [list PSYNC $replication_id [expr {$offset + 1}]]
        $link write "+CONTINUE\r\n"
        wait_link up
        $link offset $offset
        $link feed SET c 3
        applied $link
        $current_server control SELECT 4
        lsort [$current_server control KEYS *]
    }
} {b c}
check_in 2 "a crash while a payload comes leaves a file that the next start removes" {
    with_replica {} {
        set link [$primary accept]
        link_asks $link
        $link write "+FULLRESYNC $replication_id 0\r\n\$1000\r\nREDIS"
        wait_until {[glob -nocomplain [$current_server data]/temp-*] ne ""}
        wait_until {[info_field mem_replica_full_sync_buffer] > 0}
        $current_server kill
        $current_server launch_with {}
        set ::default_client ""
        glob -nocomplain [$current_server data]/temp-*
    }
} {}
check_in 2 "the payload becomes the snapshot of a replica: after a crash it goes on from there" {
    with_replica {} {
        set link [link_again]
        set snapshot [rdb {a 1} [list repl-id $replication_id repl-offset 300 repl-stream-db 0]]
        $link write "+FULLRESYNC $replication_id 300\r\n\$[string length $snapshot]\r\n$snapshot"
        wait_link up
        $link close
        $current_server crash
        set words [link_asks [$primary accept]]
        list $words [$current_server control GET a]
    }
} [list [list PSYNC $replication_id 301] 1]
check_in 2 "a snapshot without a history, or with a wrong one: all data is asked for" {
    foreach aux [list {} {repl-id abc repl-offset 5} [list repl-id $replication_id repl-offset -5] \
        [list repl-id $replication_id repl-offset 9223372036854775807] \
        [list repl-id $replication_id repl-offset 5 repl-stream-db 999]] {
        with_replica {} {
            set link [link_begin {a 1}]
            $current_server halt
            $link close
            write_file [$current_server folder]/dump.rdb [rdb {a 1} $aux]
            $current_server launch
            assert_equal [link_asks [$primary accept]] {PSYNC ? -1}
        }
    }
}
check_in 2 "a primary that was restarted deletes for its replicas what has expired meanwhile" {
    with_server {} {
        $current_server halt
        set aux [list repl-id $replication_id repl-offset 300 repl-stream-db 0]
        set expired \xfc[binary format w 1000]\x00[rdb_text k][rdb_text v]
        write_file [$current_server folder]/dump.rdb \
            [string map [list \xfe\x00 \xfe\x00$expired] [rdb {a 1} $aux]]
        $current_server launch
        assert_equal [list [replication master_replid2] [replication second_repl_offset]] [list $replication_id 301]
        assert_equal [list [info_field rdb_last_load_keys_loaded] [info_field rdb_last_load_keys_expired]] {1 1}
        set replica [client_open 2]
        $replica send PSYNC $replication_id 301
        assert_equal [$replica read] "CONTINUE"
        set commands {}
        while {[lindex $commands end 0] ni {DEL UNLINK}} {
            lappend commands [$replica read]
        }
        lindex $commands end
    }
} {DEL k}
foreach load {disabled swapdb} {
    check_in 2 "with an append-only file, a restart finds the data of the primary, $load" \
        [string map [list LOAD $load] {
        with_replica {appendonly yes repl-diskless-load LOAD} {
            set link [link_begin {a 1 b 2}]
            $link feed SET c 3
            $link feed MULTI
            $link feed INCR a
            $link feed DEL b
            $link feed EXEC
            applied $link
            wait_until {[info_field aof_rewrite_in_progress] == 0 && [info_field aof_rewrite_scheduled] == 0}
            set before [$current_server control DEBUG DIGEST]
            $link close
            $current_server crash
            assert_equal [$current_server control DEBUG DIGEST] $before
            assert_equal [link_asks [$primary accept]] {PSYNC ? -1}
            list [$current_server control GET a] [lsort [$current_server control KEYS *]]
        }
    }] {2 {a c}}
}

finish
