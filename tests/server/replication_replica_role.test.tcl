# Being a replica: how one becomes it and stops, what clients may do meanwhile, and what reports say of it.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join $library primary.tcl]

server_start

set read_only "READONLY You can't write against a read only replica."
set master_down "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."

# --- REPLICAOF

check "REPLICAOF NO ONE on a primary changes nothing" {
    list [r REPLICAOF NO ONE] [r slaveof no one] [lindex [r ROLE] 0]
} {OK OK master}
foreach command {REPLICAOF SLAVEOF} {
    foreach port {x -1 65536 99999999999999999999 TWO} {
        check_error "$command refuses the port $port" [list r $command 127.0.0.1 $port] "ERR Invalid master port"
    }
    check_in 2 "$command, the same again, another one, and NO ONE" [string map [list COMMAND $command] {
        with_server {} {
            set first [fake_primary new]
            set second [fake_primary new]
            assert_equal [r COMMAND 127.0.0.1 [$first port]] OK
            assert_equal [lreplace [r ROLE] 3 3] [list slave 127.0.0.1 [$first port] -1]
            assert_equal [r CONFIG GET replicaof] [list replicaof "127.0.0.1 [$first port]"]
            link_asks [$first accept]
            assert_equal [lindex [r ROLE] 3] handshake
            assert_equal [r COMMAND 127.0.0.1 [$first port]] "OK Already connected to specified master"
            assert_equal [r COMMAND 127.0.0.1 [$second port]] OK
            set link [$second accept]
            link_asks $link
            link_sync $link {a 1}
            wait_link up
            assert_equal [r ROLE] [list slave 127.0.0.1 [$second port] connected 0]
            assert_equal [r COMMAND NO ONE] OK
            assert_equal [list [r ROLE] [r GET a] [r SET b 1]] {{master 0 {}} 1 OK}
            assert_equal [r CONFIG GET replicaof] {replicaof {}}
            $first destroy
            $second destroy
        }
    }]
}
check_in 2 "REPLICAOF in a transaction, as Sentinel sends it" {
    with_server {} {
        set ::primary [fake_primary new]
        r MULTI
        r SET a 1
        r REPLICAOF 127.0.0.1 [$primary port]
        r CLIENT KILL TYPE normal ADDR 127.0.0.1:1
        assert_equal [r EXEC] {OK OK 0}
        set link [$primary accept]
        link_asks $link
        link_sync $link {b 1}
        wait_link up
        r MULTI
        r SLAVEOF NO ONE
        r CONFIG SET maxmemory 0
        r CLIENT KILL TYPE normal ADDR 127.0.0.1:1
        r CLIENT KILL TYPE pubsub
        assert_equal [r EXEC] {OK OK 0 0}
        $primary destroy
        list [r GET b] [r SET b 2] [lindex [r ROLE] 0]
    }
} {1 OK master}
check_in 2 "the old id of a promoted replica is the second one" {
    with_replica {} {
        set link [link_begin]
        $link feed SET a 1
        applied $link
        set offset [$link offset]
        assert_equal [$current_server control REPLICAOF NO ONE] OK
        assert_equal [replication master_replid2] $replication_id
        assert {[replication master_replid] ne $replication_id}
        expr {[replication second_repl_offset] - $offset}
    }
} 1
check_in 2 "a primary that becomes a replica asks to go on from its own history" {
    with_server {} {
        set ::primary [fake_primary new]
        set id [replication master_replid]
        r REPLICAOF 127.0.0.1 [$primary port]
        set words [link_asks [$primary accept]]
        $primary destroy
        expr {[lrange $words 0 1] eq [list PSYNC $id]}
    }
} 1
check_in 2 "replicaof in the file, and CONFIG REWRITE" {
    with_replica {} {
        link_begin {a 1}
        assert_equal [error_of {$current_server control CONFIG SET replicaof "127.0.0.1 1"}] \
            "ERR CONFIG SET failed (possibly related to argument 'replicaof') - can't set immutable config"
        $current_server control REPLICAOF NO ONE
        $current_server control CONFIG REWRITE
        assert {![regexp -line {^replicaof} [read_file [$current_server folder]/packlist.conf]]}
        $current_server control REPLICAOF 127.0.0.1 [$primary port]
        $current_server control CONFIG REWRITE
        regexp -line "^replicaof 127.0.0.1 [$primary port]\$" [read_file [$current_server folder]/packlist.conf]
    }
} 1

# --- Clients

check_in 2 "clients may read, but not write" {
    with_replica {} {
        link_begin {a 1}
        set client [client_open 2]
        assert_equal [$client call GET a] 1
        foreach command {{SET a 2} {DEL a} {LPUSH l x} {FLUSHALL} {BLPOP l 0} {EXPIRE a 10} {GETEX a PERSIST}} {
            assert_equal [error_of {$client call {*}$command}] $read_only
        }
        $client call MULTI
        $client call GET a
        assert_equal [error_of {$client call SET a 2}] $read_only
        assert_equal [error_of {$client call EXEC}] "EXECABORT Transaction discarded because of previous errors."
        $current_server control CONFIG SET replica-read-only no
        assert_equal [$client call SET a 2] OK
        $current_server control CONFIG SET slave-read-only yes
        assert_equal [error_of {$client call SET a 3}] $read_only
        $client call GET a
    }
} 2
check_in 2 "a transaction that was queued before is refused" {
    with_server {} {
        set client [client_open 2]
        $client call MULTI
        $client call SET a 1
        r REPLICAOF 127.0.0.1 1
        error_of {$client call EXEC}
    }
} "EXECABORT Transaction discarded because of: $read_only"
check_in 2 "scripts may not write" {
    with_replica {} {
        link_begin {a 1}
        set server $current_server
        assert_equal [$server control EVAL {return redis.call('GET', 'a')} 0] 1
        assert_equal [$server control EVAL {return redis.pcall('SET', 'a', 2)['err']} 0] $read_only
        assert_equal [$server control EVAL "#!lua flags=no-writes\nreturn redis.call('GET', 'a')" 0] 1
        error_of {$server control EVAL "#!lua\nreturn 1" 0}
    }
} $read_only
check_in 2 "without its primary a replica answers from old data, or not at all" {
    with_replica {} {
        set link [link_begin {a 1}]
        set client [client_open 2]
        $current_server control CONFIG SET replica-serve-stale-data no
        assert_equal [$client call GET a] 1
        set queued [client_open 2]
        $queued call MULTI
        $queued call GET a
        $link close
        set link [$primary accept]
        assert_equal [error_of {$client call GET a}] $master_down
        assert_equal [error_of {$client call SET a 1}] $read_only
        assert_equal [error_of {$client call EVAL "#!lua flags=no-writes\nreturn 1" 0}] $master_down
        assert_equal [error_of {$client call EVAL "#!lua\nreturn 1" 0}] $read_only
        assert_equal [error_of {$client call EVAL "return 1" 0}] $master_down
        set allowed "#!lua flags=no-writes,allow-stale\n"
        assert_equal [$client call EVAL "${allowed}return 1" 0] 1
        foreach command {'GET','a' 'SET','a','1'} {
            assert {[string match "ERR Can not execute the command on a stale replica*" \
                [error_of {$client call EVAL "${allowed}return redis.call($command)" 0}]]}
        }
        assert_equal [error_of {$client call PING}] $master_down
        assert_equal [error_of {$queued call EXEC}] "EXECABORT Transaction discarded because of: $master_down"
        $current_server control CONFIG SET replica-serve-stale-data yes
        $client call GET a
    }
} 1
check_in 2 "clients that wait are told when the server becomes a replica, and disconnected" {
    with_server {} {
        set waiting [client_blocked BLPOP list 0]
        set reading [client_blocked XREAD BLOCK 0 STREAMS s 0]
        r REPLICAOF 127.0.0.1 1
        foreach client [list $waiting $reading] {
            assert_equal [error_of {$client read}] \
                "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"
            assert {[$client is_closed]}
        }
    }
}
check_in 2 "clients that wait are told even when the command that follows kills them, as Sentinel does it" {
    with_server {} {
        set waiting [client_blocked BLPOP list 0]
        set idle [client_open]
        $idle call PING
        r MULTI
        r REPLICAOF 127.0.0.1 1
        r CLIENT KILL TYPE normal
        r CLIENT KILL TYPE pubsub
        set replies [r EXEC]
        assert_equal [error_of {$waiting read}] \
            "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"
        assert {[$waiting is_closed]}
        assert {[$idle is_closed]}
        assert {[lindex $replies 1] >= 2}
        lindex $replies 0
    }
} OK
check_in 2 "min-replicas-to-write holds as soon as a replica is a primary" {
    with_replica {min-replicas-to-write 1} {
        set refused [error_of {r SET a 1}]
        link_begin
        r REPLICAOF NO ONE
        list $refused [error_of {r SET a 1}]
    }
} {{READONLY You can't write against a read only replica.} {NOREPLICAS Not enough good replicas to write.}}
check_in 2 "min-replicas-to-write holds no longer on a primary that becomes a replica" {
    with_server {min-replicas-to-write 1} {
        set refused [error_of {r SET a 1}]
        r REPLICAOF 127.0.0.1 1
        list $refused [error_of {r SET a 1}]
    }
} {{NOREPLICAS Not enough good replicas to write.} {READONLY You can't write against a read only replica.}}
check_in 2 "WAIT is refused on a replica" {
    with_replica {} {
        link_begin
        string range [error_of {$current_server control WAIT 0 0}] 0 46
    }
} "ERR WAIT cannot be used with replica instances."

check_in 2 "WAITAOF is refused on a replica" {
    with_replica {} {
        link_begin
        list [error_of {r WAITAOF 2 0 0}] [error_of {r WAITAOF 0 0 0}]
    }
} {{ERR value is out of range, value must between 0 and 1} {ERR WAITAOF cannot be used with replica instances. Please\
also note that writes to replicas are just local and are not propagated.}}

# --- Reports

check_in 2 "INFO replication while the link is down, and up" {
    with_replica {} {
        set down [$current_server control INFO replication]
        foreach field [list role:slave "master_host:127.0.0.1" "master_port:[$primary port]" master_link_status:down \
            master_last_io_seconds_ago:-1 master_sync_in_progress:0 slave_read_repl_offset:1 slave_repl_offset:1 \
            master_link_down_since_seconds:-1 slave_priority:100 slave_read_only:1 replica_announced:1 \
            connected_slaves:0 master_failover_state:no-failover] {
            assert {[string first "$field\r\n" $down] >= 0}
        }
        set link [link_begin]
        $link feed SET a 1
        applied $link
        set up [$current_server control INFO replication]
        foreach field [list role:slave master_link_status:up master_sync_in_progress:0 \
            slave_repl_offset:[$link offset] master_replid:$replication_id \
            master_repl_offset:[$link offset] second_repl_offset:-1 repl_backlog_active:1 \
            repl_backlog_first_byte_offset:1 repl_backlog_histlen:[$link offset]] {
            assert {[string first "$field\r\n" $up] >= 0}
        }
        assert {[replication master_last_io_seconds_ago] >= 0}
        $link close
        wait_link down
        expr {[replication master_link_down_since_seconds] >= 0}
    }
} 1
check_in 2 "INFO replication during a synchronization" {
    with_replica {} {
        set link [$primary accept]
        link_asks $link
        $link write "+FULLRESYNC $replication_id 0\r\n\$1000\r\n[string repeat x 250]"
        wait_until {[replication master_sync_in_progress] == 1}
        wait_until {[replication master_sync_read_bytes] == 250}
        list [replication master_sync_total_bytes] [replication master_sync_left_bytes] [replication master_sync_perc] \
            [lindex [$current_server control ROLE] 3]
    }
} {1000 750 25.00 sync}
check_in 2 "HELLO and the log tell the role" {
    with_replica {} {
        link_begin
        set roles [dict get [$current_server control HELLO] role]
        assert {[regexp -line {^\d+:S .* MASTER <-> REPLICA sync: Finished} [$current_server log]]}
        $current_server control REPLICAOF NO ONE
        assert {[regexp -line {^\d+:M .* MASTER MODE} [$current_server log]]}
        lappend roles [dict get [$current_server control HELLO] role]
    }
} {replica master}
check_in 2 "CLIENT LIST shows the primary, and CLIENT KILL TYPE master closes it" {
    with_replica {} {
        set link [link_begin]
        $link feed SELECT 2
        applied $link
        set port [$primary port]
        set line [$current_server control CLIENT LIST TYPE master]
        assert {[regexp "addr=127.0.0.1:$port .* flags=M db=2 .* cmd=select user=\\(superuser\\) " $line]}
        assert_equal [$current_server control CLIENT KILL TYPE normal SKIPME yes] 0
        assert_equal [$current_server control CLIENT KILL USER default] 0
        assert_equal [replication master_link_status] up
        assert_equal [$current_server control CLIENT KILL TYPE master] 1
        assert {[$link is_closed] || 1}
        set link [$primary accept]
        link_asks $link
        $link write "+CONTINUE\r\n"
        wait_link up
        set id [lindex [regexp -inline {id=(\d+)} [$current_server control CLIENT LIST TYPE master]] 1]
        $current_server control CLIENT KILL ID $id
    }
} 1
check_in 2 "the primary is never closed for being idle" {
    with_replica {timeout 1} {
        set link [link_begin]
        wait_until {[replication master_last_io_seconds_ago] >= 2}
        replication master_link_status
    }
} up
check_in 2 "MONITOR, SLOWLOG and commandstats show the commands of the primary" {
    with_replica {slowlog-log-slower-than 0} {
        set link [link_begin]
        set monitor [client_open 2]
        $monitor call MONITOR
        $link feed SET a 1
        assert {[string match "*\\\[0 127.0.0.1:[$primary port]\\\] \"SET\" \"a\" \"1\"" [$monitor read]]}
        set entry [lsearch -inline -index 3 [$current_server control SLOWLOG GET] {SET a 1}]
        assert_equal [lrange $entry 4 5] [list 127.0.0.1:[$primary port] {}]
        regexp {cmdstat_set:calls=1,} [$current_server control INFO commandstats]
    }
} 1

finish
