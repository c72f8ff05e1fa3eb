# A primary, as replicas see it: REPLCONF, PSYNC, SYNC, the stream, what is told of them; the replicas are only played.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/replica.tcl

server_start {repl-diskless-sync-delay 0}

# Each body begins without replicas of an earlier one.
proc check_replicas {name body args} {
    check_in 2 $name "wait_until {\[info_field connected_slaves\] == 0}\n$body" {*}$args
}

# --- REPLCONF

foreach {options reply} {
    {} OK
    {listening-port 7000} OK
    {ip-address 127.0.0.9} OK
    {capa eof} OK
    {capa eof capa psync2} OK
    {capa dual-channel} OK
    {capa rdb-channel-repl} OK
    {capa skip-rdb-checksum} OK
    {version 9.1.2} OK
    {set-cluster-node-id 0123456789012345678901234567890123456789} OK
    {rdb-only 1} OK
    {rdb-only 0} OK
    {rdb-filter-only functions} OK
    {rdb-filter-only {}} OK
    {listening-port 7000 capa eof} OK
} {
    check_replicas "REPLCONF $options is accepted" "r REPLCONF $options" $reply
}
foreach {options error} {
    {listening-port x} "ERR value is not an integer or out of range"
    {capa} "ERR syntax error"
    {unknown 1} "ERR Unrecognized REPLCONF option: unknown"
    {rdb-only 2} "ERR value is out of range, value must between 0 and 1"
    {rdb-filter-only {functions keys}} "ERR Unsupported rdb-filter-only option: keys"
    {ip-address {a b}} "ERR REPLCONF ip-address cannot contain spaces, newlines or special characters."
} {
    check_error "REPLCONF $options is refused" [list r REPLCONF {*}$options] $error
}
check_error "REPLCONF refuses an address that is too long" {
    r REPLCONF ip-address [string repeat a 256]
} "ERR REPLCONF ip-address provided by replica instance is too long: 256 bytes"
check_replicas "REPLCONF ACK and GETACK are not replied to" {
    [default_client] send REPLCONF ACK 0
    [default_client] send REPLCONF GETACK *
    [default_client] send REPLCONF ACK x
    r PING
} PONG

# --- Full synchronization

check_replicas "PSYNC ? -1 sends all data, and then the changes" {
    r SET k v
    r RPUSH l a b c
    r SELECT 3
    r HSET h f v
    set digest [r DEBUG DIGEST]
    set c [replica_open]
    lassign [replica_psync $c] word id offset
    assert_equal $word +FULLRESYNC
    assert_equal $id [info_field master_replid]
    assert_equal [payload_digest [replica_payload $c]] $digest
    replica_ack $c $offset
    r SET k w
    assert_equal [replica_commands $c 2] {{SELECT 3} {SET k w}}
}
check_replicas "after a payload that ends with a mark the stream begins with the first ACK" {
    set c [replica_open]
    set offset [lindex [replica_psync $c] 2]
    replica_payload $c
    r SET k v
    wait_until {[string match *state=online* [info_field slave0]]}
    assert {[$c is_silent]}
    replica_ack $c $offset
    replica_commands $c 2
} {{SELECT 0} {SET k v}}
check_replicas "a replica without capa eof gets a payload of known length, and then the stream at once" {
    r SET k v
    set digest [r DEBUG DIGEST]
    set c [replica_open listening-port 7777]
    replica_psync $c
    assert_equal [payload_digest [replica_payload $c]] $digest
    r SET k w
    replica_commands $c 2
} {{SELECT 0} {SET k w}}
check_replicas "with repl-diskless-sync no the payload comes from a file, which is removed" {
    with_config {repl-diskless-sync no} {
        r SET k v
        set c [replica_open]
        replica_psync $c
        assert_equal [payload_digest [replica_payload $c]] [r DEBUG DIGEST]
        r SET k w
        assert_equal [replica_commands $c 2] {{SELECT 0} {SET k w}}
        glob -nocomplain [$current_server folder]/*.rdb
    }
} {}
check_replicas "SYNC sends the payload without a line before it, and then the stream" {
    r SET k v
    set c [client_open]
    $c send SYNC
    assert_equal [payload_digest [replica_payload $c]] [r DEBUG DIGEST]
    r SET k w
    replica_commands $c 2
} {{SELECT 0} {SET k w}}
check_replicas "what is written while the payload is sent follows it in the stream" {
    with_config {rdb-key-save-delay 2000} {
        r DEBUG POPULATE 500
        set c [replica_open]
        replica_psync $c
        r SET key:0 first
        r SET new second
    }
    set payload [replica_payload $c]
    assert {![string match *second* $payload]}
    replica_ack $c 0
    replica_commands $c 3
} {{SELECT 0} {SET key:0 first} {SET new second}}
check_replicas "libraries of functions are part of the payload" {
    r FUNCTION LOAD "#!lua name=mylib\nredis.register_function('f', function() return 1 end)"
    set c [replica_open]
    replica_psync $c
    set payload [replica_payload $c]
    r FUNCTION FLUSH
    string match {*#!lua name=mylib*} $payload
} 1

# --- The stream

check_replicas "transactions are whole, scripts are what they did, and expired keys are deleted" {
    lassign [replica_sync] c id offset
    r MULTI
    r SET a 1
    r INCR a
    r EXEC
    r EVAL {redis.call('SET', 'b', 1); redis.call('SADD', 's', 'x')} 0
    r SET gone v PX 1
    wait_until {[r EXISTS gone] == 0}
    set commands [replica_commands $c 11]
    assert_equal [lrange $commands 0 8] {MULTI {SELECT 0} {SET a 1} {INCR a} EXEC MULTI {SET b 1} {SADD s x} EXEC}
    assert_equal [lrange [lindex $commands 9] 0 1] {SET gone}
    lindex $commands 10
} {DEL gone}
check_replicas "a command that blocks is in the stream as what it did" {
    lassign [replica_sync] c
    set waiting [client_blocked BLPOP l 0]
    r RPUSH l x
    assert_equal [$waiting read] {l x}
    replica_commands $c 3
} {{SELECT 0} {RPUSH l x} {LPOP l}}
check_replicas "messages of channels are in the stream, but not in the append-only file" {
    with_server {appendonly yes repl-diskless-sync-delay 0} {
        lassign [replica_sync] c
        r SET k v
        r PUBLISH news hello
        r MULTI
        r SET k w
        r PUBLISH news again
        r SPUBLISH shard more
        r EXEC
        assert_equal [replica_commands $c 3] {{SELECT 0} {SET k v} {PUBLISH news hello}}
        assert_equal [replica_commands $c 3] {{SET k w} {PUBLISH news again} {SPUBLISH shard more}}
        set written ""
        foreach file [glob [$current_server folder]/appendonlydir/*] {
            append written [read_file $file]
        }
        string match *PUBLISH* $written
    }
} 0
check_replicas "every byte of the stream counts for the offset, PING and GETACK, too" {
    with_config {repl-ping-replica-period 1} {
        lassign [replica_sync] c id offset
        r SET k v
        set commands {}
        while {{PING} ni $commands} {
            lappend commands [replica_next $c]
        }
    }
    [client_open] write [request {SET k w}][request {WAIT 1 0}]
    while {[lindex $commands end] ne {REPLCONF GETACK *}} {
        lappend commands [replica_next $c]
    }
    assert_equal [stream_offset] [expr {$offset + [stream_bytes $commands]}]
}
check_replicas "PING is sent to the replicas each repl-ping-replica-period" {
    with_config {repl-ping-replica-period 1} {
        lassign [replica_sync] c
        list [replica_next $c] [replica_next $c]
    }
} {PING PING}
check_replicas "PING is sent during CLIENT PAUSE, too" {
    with_config {repl-ping-replica-period 1} {
        lassign [replica_sync] c
        r CLIENT PAUSE 100000 WRITE
        set found [list [replica_next $c] [replica_next $c]]
        r CLIENT UNPAUSE
        set found
    }
} {PING PING}

# --- Partial synchronization

check_replicas "PSYNC with the id and an offset of the backlog goes on from there" {
    lassign [replica_sync] c id offset
    r SET a 1
    r SET b 2
    set bytes [stream_bytes [replica_commands $c 1]]
    $c close
    r SET c 3
    set c [replica_open]
    assert_equal [replica_psync $c $id [expr {$offset + $bytes + 1}]] [list +CONTINUE $id]
    replica_commands $c 3
} {{SET a 1} {SET b 2} {SET c 3}}
check_replicas "a replica without capa psync2 gets +CONTINUE without the id" {
    lassign [replica_sync] c id offset
    replica_psync [replica_open capa eof] $id [expr {$offset + 1}]
} +CONTINUE
check_replicas "PSYNC for the byte that comes next gets just what follows" {
    lassign [replica_sync] c id offset
    set c [replica_open]
    replica_psync $c $id [expr {[stream_offset] + 1}]
    r SET k v
    lindex [replica_commands $c 2] 1
} {SET k v}
foreach {what arguments} {
    "an unknown id" {0123456789012345678901234567890123456789 $next}
    "no id" {? $next}
    "an offset beyond the end" {$id [expr {$next + 1000}]}
    "the offset 0" {$id 0}
    "a negative offset" {$id -5}
    "the largest offset" {$id 9223372036854775807}
} {
    check_replicas "PSYNC with $what leads to a full synchronization" "
        lassign \[replica_sync\] c id offset
        set next \[expr {\[stream_offset\] + 1}\]
        set refused \[info_field sync_partial_err\]
        lindex \[replica_psync \[replica_open\] $arguments\] 0
    " +FULLRESYNC
}
check_error "PSYNC needs an offset that is a number" {r PSYNC ? x} "ERR value is not an integer or out of range"
check_replicas "bytes that are no longer in the backlog lead to a full synchronization" {
    with_config {repl-backlog-size 1000} {
        lassign [replica_sync] c id offset
        $c close
        wait_until {[info_field connected_slaves] == 0}
        for {set i 0} {$i < 5} {incr i} {
            r SET k [string repeat x 100000]
        }
        wait_until {[info_field repl_backlog_histlen] < 300000}
        assert {[info_field repl_backlog_first_byte_offset] > $offset + 1}
        set refused [info_field sync_partial_err]
        set answer [lindex [replica_psync [replica_open] $id [expr {$offset + 1}]] 0]
        list $answer [expr {[info_field sync_partial_err] - $refused}]
    }
} {+FULLRESYNC 1}
check_replicas "after DEBUG CHANGE-REPL-ID no replica can continue" {
    lassign [replica_sync] c id offset
    r DEBUG CHANGE-REPL-ID
    assert {[info_field master_replid] ne $id}
    lindex [replica_psync [replica_open] $id [expr {$offset + 1}]] 0
} +FULLRESYNC
check_replicas "the first replica begins a new history" {
    with_server {repl-diskless-sync-delay 0} {
        set id [info_field master_replid]
        r SET k v
        assert_equal [info_field repl_backlog_active] 0
        set answer [replica_psync [replica_open] $id 1]
        list [lindex $answer 0] [expr {[lindex $answer 1] ne $id}] [info_field repl_backlog_active]
    }
} {+FULLRESYNC 1 1}
check_replicas "without replicas the backlog goes after repl-backlog-ttl, and the history with it" {
    with_server {repl-diskless-sync-delay 0 repl-backlog-ttl 1} {
        lassign [replica_sync] c id offset
        r SET k v
        $c close
        wait_until {[info_field repl_backlog_active] == 0}
        list [expr {[info_field master_replid] ne $id}] [expr {[stream_offset] > $offset}]
    }
} {1 1}

# --- What is told of replicas

check_replicas "INFO and ROLE list replicas" {
    lassign [replica_sync listening-port 7777 capa eof ip-address 127.1.2.3] c id offset
    r SET k v
    set offset [stream_offset]
    replica_ack $c $offset
    wait_until {[string match *offset=$offset* [info_field slave0]]}
    assert_equal [info_field connected_slaves] 1
    assert_match "ip=127.1.2.3,port=7777,state=online,offset=$offset,lag=\[01\]" [info_field slave0]
    assert_equal [r ROLE] [list master $offset [list [list 127.1.2.3 7777 $offset]]]
    assert_equal [info_field connected_clients] 2
}
check_replicas "INFO shows the state of a replica that waits, and ROLE does not list it" {
    with_config {repl-diskless-sync-delay 1000} {
        set c [replica_open listening-port 7777 capa eof]
        $c send PSYNC ? -1
        wait_until {[info_field connected_slaves] == 1}
        assert_equal [$c read_bytes 2] "\n\n"
        list [info_field slave0] [llength [lindex [r ROLE] 2]]
    }
} {ip=127.0.0.1,port=7777,state=wait_bgsave,offset=0,lag=0 0}
check_replicas "CLIENT LIST marks replicas, and CLIENT KILL TYPE replica closes them" {
    lassign [replica_sync] c
    assert_match {*flags=S *cmd=replconf *} [r CLIENT LIST TYPE replica]
    assert_equal [llength [split [string trim [r CLIENT LIST TYPE normal]] \n]] 2
    assert_equal [r CLIENT KILL TYPE replica] 1
    $c is_closed
} 1
check_replicas "INFO counts synchronizations" {
    r CONFIG RESETSTAT
    lassign [replica_sync] c id offset
    replica_psync [replica_open] $id [expr {$offset + 1}]
    replica_psync [replica_open] [string repeat 0 40] 1
    set counted [list [info_field sync_full] [info_field sync_partial_ok] [info_field sync_partial_err]]
    r CONFIG RESETSTAT
    list $counted [list [info_field sync_full] [info_field sync_partial_ok] [info_field sync_partial_err]]
} {{2 1 1} {0 0 0}}
check_replicas "INFO counts the bytes that replicas are sent, and CONFIG RESETSTAT zeroes them" {
    with_config {rdbcompression no} {
        r SET k [string repeat x 100000]
        r CONFIG RESETSTAT
        lassign [replica_sync] c
    }
    wait_until {[info_field total_net_repl_output_bytes] > 100000}
    assert {[info_field total_net_repl_output_bytes] < 110000}
    r SET k [string repeat y 100000]
    replica_commands $c 2
    wait_until {[info_field total_net_repl_output_bytes] > 200000}
    assert {[info_field total_net_repl_output_bytes] < 210000}
    assert {[info_field total_net_output_bytes] > [info_field total_net_repl_output_bytes]}
    wait_until {
        [r SET k [string repeat z 1000]] eq "OK" &&
        [info_field instantaneous_output_repl_kbps] > 0 && [info_field instantaneous_output_kbps] > 0
    }
    assert_equal [info_field total_net_repl_input_bytes] 0
    assert_equal [info_field instantaneous_input_repl_kbps] 0.00
    r CONFIG RESETSTAT
    expr {[info_field total_net_repl_output_bytes] < 100000}
} 1

# --- Replicas that do what they should not

check_replicas "a replica whose command has a reply is disconnected" {
    lassign [replica_sync] c
    $c send PING
    $c is_closed
} 1
check_replicas "a replica that writes or reads keys is disconnected" {
    foreach command {{SET k v} {GET k} {BLPOP l 0} {SUBSCRIBE news}} {
        lassign [replica_sync] c
        $c send {*}$command
        assert {[$c is_closed]}
    }
    r DBSIZE
} 0
check_replicas "a replica that confirms what was not sent is disconnected" {
    foreach offset {1000000000 9223372036854775807} {
        lassign [replica_sync] c
        replica_ack $c $offset
        assert {[$c is_closed]}
        lassign [replica_sync] c id at
        replica_ack $c $at $offset
        assert {[$c is_closed]}
    }
}
check_replicas "confirmations that are no numbers, or go back, change nothing" {
    lassign [replica_sync] c id offset
    foreach words {x -1 {} 99999999999999999999} {
        replica_ack $c $words
    }
    replica_ack $c 0
    r SET k v
    list [lindex [replica_commands $c 2] 1] [expr {[r WAIT 1 1]}]
} {{SET k v} 0}
check_replicas "a replica that floods the server with confirmations is served like any client" {
    lassign [replica_sync] c id offset
    $c write [string repeat [request [list REPLCONF ACK $offset]] 20000]
    r SET k v
    lindex [replica_commands $c 2] 1
} {SET k v}
check_replicas "a replica that has closed its sending side is gone" {
    lassign [replica_sync] c
    $c shut_down
    wait_until {[info_field connected_slaves] == 0}
}
check_replicas "a second PSYNC of a replica is ignored" {
    lassign [replica_sync] c id offset
    $c send PSYNC ? -1
    r SET k v
    lindex [replica_commands $c 2] 1
} {SET k v}
foreach {what command} {SUBSCRIBE {SUBSCRIBE news} MONITOR MONITOR} {
    check_in 3 "a client cannot become a replica after $what" "
        set c \[client_open 3\]
        \$c call $command
        \$c send PSYNC ? -1
        \$c read_line
    " "-ERR SYNC and PSYNC are invalid for a client that gets messages"
}
check_error "PSYNC is not allowed in MULTI" {
    r MULTI
    r PSYNC ? -1
} "ERR Command not allowed inside a transaction"
check_replicas "a replica that is silent for repl-timeout is disconnected; line breaks keep it" {
    with_config {repl-timeout 10} {
        lassign [replica_sync] silent
        lassign [replica_sync] alive
        while {[info_field connected_slaves] == 2} {
            $alive write "\n"
            after 50
        }
        $alive write "\n"
        $silent read_all ;# up to its end
        replica_ack $alive 0
        r SET k v
        lindex [replica_commands $alive 2] 1
    }
} {SET k v}

check_replicas "PSYNC gets its answer after CLIENT REPLY OFF and SKIP" {
    lassign [replica_sync] c id offset
    foreach mode {OFF SKIP} {
        set c [client_open]
        $c send CLIENT REPLY $mode
        lappend answers [lindex [replica_psync $c] 0]
        replica_payload $c
        set c [client_open]
        $c send CLIENT REPLY $mode
        lappend answers [lindex [replica_psync $c $id [expr {$offset + 1}]] 0]
    }
    set answers
} {+FULLRESYNC +CONTINUE +FULLRESYNC +CONTINUE}
check_error "a primary cannot be asked to take over" {
    r PSYNC ? -1 FAILOVER
} "ERR PSYNC FAILOVER can't be sent to a master."
check_in 2 "with requirepass nobody becomes a replica before AUTH, and floods do not make memory grow" {
    with_server {requirepass secret repl-diskless-sync-delay 0} {
        set no_auth "NOAUTH Authentication required."
        r AUTH secret
        set before [info_field used_memory]
        foreach request [list {PSYNC ? -1} SYNC [list REPLCONF ip-address [string repeat a 200]] {REPLCONF ACK 5}] {
            set c [client_open]
            assert_equal [error_of {$c call {*}$request}] $no_auth
            catch {$c write [string repeat [request $request] 50000]} ;# it may be closed meanwhile
        }
        assert {[info_field used_memory] < $before + 10000000}
        list [info_field connected_slaves] [info_field sync_full] [info_field repl_backlog_active]
    }
} {0 0 0}

# --- WAIT

check_replicas "WAIT counts the replicas that have the changes" {
    lassign [replica_sync] a
    lassign [replica_sync] b
    r SET k v
    assert_equal [r WAIT 1 20] 0
    replica_ack $a [stream_offset]
    assert_equal [r WAIT 1 0] 1
    replica_ack $b [stream_offset]
    r WAIT 2 0
} 2
check_replicas "WAIT asks the replicas, and replies when they have confirmed" {
    lassign [replica_sync] c id offset
    r SET k v
    set waiting [client_open]
    $waiting write [request {SET k w}][request {WAIT 1 0}]
    assert_equal [$waiting read] OK
    set commands {}
    while {[lindex $commands end] ne {REPLCONF GETACK *}} {
        lappend commands [replica_next $c]
    }
    assert {[$waiting is_silent]}
    # A replica does not count the GETACK that it answers.
    replica_ack $c [expr {$offset + [stream_bytes [lrange $commands 0 end-1]]}]
    $waiting read
} 1
check_in 2 "WAIT does not count a replica that has confirmed nothing" {
    with_server {repl-diskless-sync-delay 0} {
        r SET k v
        set c [replica_open]
        replica_psync $c
        replica_payload $c
        wait_until {[string match "*state=online*" [info_field slave0]]}
        set before [list [r WAIT 1 20] [r WAITAOF 0 1 20]]
        replica_ack $c 0
        lappend before [r WAIT 1 0] [r WAITAOF 0 1 20]
        replica_ack $c 0 0
        lappend before [r WAITAOF 0 1 0]
    }
} {0 {0 0} 1 {0 0} {0 1}}
check_replicas "WAIT does not wait for changes of other clients" {
    lassign [replica_sync] c
    r SET k v
    set own [client_open]
    $own call SET own v
    replica_ack $c [stream_offset]
    assert_equal [$own call WAIT 1 0] 1
    r SET k w
    $own call WAIT 1 0
} 1
check_replicas "WAIT of a client that was served while it was blocked waits for that" {
    lassign [replica_sync] c
    set waiting [client_blocked BLPOP l 0]
    replica_ack $c [stream_offset]
    r RPUSH l x
    assert_equal [$waiting read] {l x}
    assert_equal [$waiting call WAIT 1 20] 0
    replica_ack $c [stream_offset]
    $waiting call WAIT 1 0
} 1
check_replicas "WAIT in MULTI does not wait" {
    lassign [replica_sync] c
    r SET k v
    r MULTI
    r WAIT 1 0
    r EXEC
} 0
check_replicas "a replica that leaves is not counted" {
    lassign [replica_sync] c
    r SET k v
    replica_ack $c [stream_offset]
    assert_equal [r WAIT 1 0] 1
    $c close
    wait_until {[info_field connected_slaves] == 0}
    r WAIT 1 10
} 0
check_replicas "WAITAOF counts replicas that have the changes in their append-only files" {
    lassign [replica_sync] c
    r SET k v
    replica_ack $c [stream_offset]
    assert_equal [r WAITAOF 0 1 20] {0 0}
    set waiting [client_open]
    $waiting write [request {SET k w}][request {WAITAOF 0 1 0}]
    assert_equal [$waiting read] OK
    wait_blocked 1
    replica_ack $c [stream_offset] [stream_offset]
    $waiting read
} {0 1}
check_replicas "WAITAOF waits for the own disk and for replicas" {
    with_server {appendonly yes appendfsync always repl-diskless-sync-delay 0} {
        lassign [replica_sync] c
        set waiting [client_open]
        $waiting write [request {SET k v}][request {WAITAOF 1 1 0}]
        assert_equal [$waiting read] OK
        wait_blocked 1
        replica_ack $c [stream_offset] [stream_offset]
        $waiting read
    }
} {1 1}

# --- min-replicas-to-write

check_replicas "with too few replicas commands that write are refused" {
    with_config {min-replicas-to-write 1} {
        set refusal "NOREPLICAS Not enough good replicas to write."
        assert_equal [error_of {r SET k v}] $refusal
        assert_equal [r GET k] (nil)
        assert_equal [r PING] PONG
        r MULTI
        assert_equal [error_of {r SET k v}] $refusal
        r DISCARD
        assert_match *$refusal* [error_of {r EVAL {return redis.call('SET', 'k', 'v')} 0}]
        lassign [replica_sync] c
        wait_until {[info_field min_slaves_good_slaves] == 1}
        assert_equal [r SET k v] OK
        $c close
        wait_until {[info_field min_slaves_good_slaves] == 0}
        error_of {r SET k v}
    }
} "NOREPLICAS Not enough good replicas to write."
check_replicas "a replica is good while it is heard of within min-replicas-max-lag" {
    with_config {min-replicas-to-write 1 min-replicas-max-lag 1} {
        lassign [replica_sync] c id offset
        wait_until {[info_field min_slaves_good_slaves] == 1}
        wait_until {[info_field min_slaves_good_slaves] == 0}
        assert_equal [info_field connected_slaves] 1
        error_of {r SET k v}
    }
} "NOREPLICAS Not enough good replicas to write."
check_in 2 "a server that starts with min-replicas-to-write refuses writes" {
    with_server {min-replicas-to-write 2} {
        error_of {r SET k v}
    }
} "NOREPLICAS Not enough good replicas to write."

check_in 2 "DEBUG REPLICATE sends a command to replicas alone, behind the changes so far" {
    lassign [replica_sync] c
    r SET a 1
    r DEBUG REPLICATE SET only-there x
    r SET b 2
    assert_equal [r EXISTS only-there] 0
    set commands [replica_commands $c 4]
    lrange $commands 1 3
} {{SET a 1} {SET only-there x} {SET b 2}}

finish
