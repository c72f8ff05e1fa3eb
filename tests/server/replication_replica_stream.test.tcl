# The stream of a primary: what a replica makes of it. The primary is a socket that says what the test wants.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/primary.tcl
source $library/replica.tcl
source $library/functions.tcl

server_start

proc get {key} {
    return [$::current_server control GET $key]
}

# The link is lost, and the replica asks for what comes behind `offset`; then it goes on there.
proc link_continues {offset} {
    set link [$::primary accept]
    assert_equal [link_asks $link] [list PSYNC $::replication_id [expr {$offset + 1}]]
    $link write "+CONTINUE\r\n"
    $link offset $offset
    wait_link up
    return $link
}

# The data counts as that of no history, so all is asked for.
proc link_begins_anew {pairs offset} {
    set link [$::primary accept]
    assert_equal [link_asks $link] {PSYNC ? -1}
    link_sync $link $pairs $offset
    wait_link up
    return $link
}

# --- Commands

check_in 2 "commands run in the database that the stream selects" {
    with_replica {} {
        set link [link_begin {a 1}]
        $link feed SELECT 3
        $link feed SET b 2
        $link feed RPUSH list x y
        $link feed SELECT 0
        $link feed INCR a
        applied $link
        set found [get a]
        $current_server control SELECT 3
        lappend found [get b] [$current_server control LRANGE list 0 -1]
    }
} {2 2 {x y}}
check_in 2 "a stream that is cut into single bytes is the same" {
    with_replica {} {
        set link [link_begin]
        set bytes [request {SET key value}][request MULTI][request {INCR n}][request {INCR n}][request EXEC]
        foreach byte [split $bytes ""] {
            $link feed_bytes $byte
        }
        applied $link
        list [get key] [get n]
    }
} {value 2}
check_in 2 "INFO counts the bytes that the primary sends, and CONFIG RESETSTAT zeroes them" {
    with_replica {} {
        set link [link_begin [list k [string repeat x 100000]]]
        set payload [info_field total_net_repl_input_bytes]
        $link feed SET k [string repeat y 100000]
        applied $link
        assert_equal [expr {[info_field total_net_repl_input_bytes] - $payload}] [$link offset]
        assert {$payload > 100000 && $payload < 110000}
        assert {[info_field total_net_input_bytes] > [info_field total_net_repl_input_bytes]}
        wait_until {
            [$link feed SET k [string repeat z 1000]] eq "" &&
            [info_field instantaneous_input_repl_kbps] > 0 && [info_field instantaneous_input_kbps] > 0
        }
        applied $link
        assert_equal [info_field total_net_repl_output_bytes] 0
        assert_equal [info_field instantaneous_output_repl_kbps] 0.00
        $current_server control CONFIG RESETSTAT
        info_field total_net_repl_input_bytes
    }
} 0
check_in 2 "a transaction takes effect as a whole, and only then moves the offset" {
    with_replica {} {
        set link [link_begin]
        $link feed MULTI
        $link feed SET a 1
        $link feed SET b 2
        set read [$link offset]
        wait_until {[replication slave_read_repl_offset] == $read}
        assert_equal [list [get a] [replication slave_repl_offset]] {(nil) 0}
        $link feed EXEC
        applied $link
        list [get a] [get b]
    }
} {1 2}
check_in 2 "a transaction that is cut off has no effect, and is asked for again" {
    with_replica {} {
        set link [link_begin]
        $link feed SET a 0
        applied $link
        set offset [$link offset]
        $link feed MULTI
        $link feed SET a 1
        set read [$link offset]
        wait_until {[replication slave_read_repl_offset] == $read}
        $link close
        set link [link_continues $offset]
        assert_equal [get a] 0
        $link feed MULTI
        $link feed SET a 2
        $link feed EXEC
        applied $link
        get a
    }
} 2
check_in 2 "half a command is asked for again" {
    with_replica {} {
        set link [link_begin]
        $link feed SET a 1
        set offset [$link offset]
        $link write [string range [request {SET a 2}] 0 end-3]
        applied $link
        $link close
        link_continues $offset
        get a
    }
} 1
check_in 2 "the selected database is that of the stream when it goes on" {
    with_replica {} {
        set link [link_begin]
        $link feed SELECT 5
        applied $link
        set offset [$link offset]
        $link close
        set link [link_continues $offset]
        $link feed SET a 1
        applied $link
        $current_server control SELECT 5
        get a
    }
} 1
check_in 2 "fields may expire later than clients may say, as with Valkey" {
    with_replica {} {
        set link [link_begin]
        $link feed HSET h a 1 b 2 c 3
        $link feed HPEXPIREAT h 70368744177664 FIELDS 1 a
        $link feed HPEXPIREAT h 9223372036854775807 FIELDS 1 b
        $link feed HSETEX h PXAT 9223372036854775807 FIELDS 1 d 4
        $link feed HEXPIREAT h 9223372036854775807 FIELDS 1 c
        applied $link
        lsort -unique [$current_server control HPEXPIRETIME h FIELDS 4 a b c d]
    }
} 70368744177663
check_in 2 "options stand behind the fields that they are about, as Redis 8.6 may send them" {
    with_replica {} {
        set link [link_begin]
        $link feed HSETEX h FIELDS 3 a 1 b 2 c 3 PXAT 4102444800123
        $link feed HPEXPIREAT h 4102444800456 FIELDS 1 b GT
        $link feed HGETEX h FIELDS 1 c PERSIST
        applied $link
        $current_server control HPEXPIRETIME h FIELDS 3 a b c
    }
} {4102444800123 4102444800456 -1}
check_in 2 "large values" {
    with_replica {} {
        set link [link_begin]
        set large [string repeat 0123456789 10000000]
        $link feed SET large $large
        $link feed APPEND large x
        $link feed LPUSH list $large
        applied $link
        list [$current_server control STRLEN large] [$current_server control LLEN list] \
            [$current_server control GETRANGE large 99999990 -1]
    }
} {100000001 1 0123456789x}
check_in 2 "proto-max-bulk-len does not limit the primary" {
    with_replica {proto-max-bulk-len 1mb} {
        set link [link_begin]
        set value [string repeat x 1500000]
        $link feed SET a $value
        $link feed APPEND a x
        $link feed SETRANGE b 300000 x
        $link feed MULTI
        $link feed SET c $value
        $link feed EXEC
        applied $link
        lmap key {a b c} {$current_server control STRLEN $key}
    }
} {1500001 300001 1500000}
check_in 2 "proto-max-bulk-len changes in the middle of a transaction of the primary" {
    with_replica {} {
        set link [link_begin]
        $link feed MULTI
        $link feed SET a [string repeat x 1500000]
        set read [$link offset]
        wait_until {[replication slave_read_repl_offset] == $read}
        $current_server control CONFIG SET proto-max-bulk-len 1mb
        $link feed EXEC
        applied $link
        $current_server control STRLEN a
    }
} 1500000
check_in 2 "a new id with CONTINUE is the id from then on, the old one the second" {
    with_replica {} {
        set link [link_begin]
        $link feed SET a 1
        applied $link
        set offset [$link offset]
        $link close
        set link [$primary accept]
        link_asks $link
        set id [string repeat f 40]
        $link write "+CONTINUE $id\r\n"
        wait_link up
        $link offset $offset
        $link feed SET a 2
        applied $link
        assert_equal [list [replication master_replid] [replication master_replid2]] [list $id $replication_id]
        assert_equal [replication second_repl_offset] [expr {$offset + 1}]
        $link close
        lrange [link_asks [$primary accept]] 1 1
    }
} [string repeat f 40]
check_in 2 "PUBLISH reaches the clients of the replica" {
    with_replica {} {
        set link [link_begin]
        set listener [client_open 2]
        $listener call SUBSCRIBE channel
        $link feed PUBLISH channel hello
        $listener read
    }
} {message channel hello}
check_in 2 "keyspace events of what the primary changes" {
    with_replica {notify-keyspace-events KEA} {
        set link [link_begin]
        set listener [client_open 2]
        $listener call PSUBSCRIBE __key*
        $link feed SELECT 2
        $link feed SET a 1
        $link feed MULTI
        $link feed RPUSH list x
        $link feed DEL a
        $link feed EXEC
        lmap _ {1 2 3 4 5 6} {lrange [$listener read] 2 3}
    }
} {{__keyspace@2__:a set} {__keyevent@2__:set a} {__keyspace@2__:list rpush} {__keyevent@2__:rpush list}\
{__keyspace@2__:a del} {__keyevent@2__:del a}}
check_in 2 "the slow log and LATENCY have the commands of the primary" {
    with_replica {latency-monitor-threshold 1 slowlog-log-slower-than 0} {
        set link [link_begin]
        r SLOWLOG RESET
        $link feed SET a 1
        $link feed SETRANGE big 30000000 x
        applied $link
        set commands [lmap entry [r SLOWLOG GET -1] {lindex $entry 3 0}]
        assert {"SET" in $commands && "SETRANGE" in $commands}
        wait_until {
            [$link feed BITOP NOT big big] eq "" && [applied $link] eq "" &&
            [lsearch -index 0 [r LATENCY LATEST] command] >= 0
        }
    }
}
check_in 2 "libraries of functions are loaded, called by clients, and deleted" {
    with_replica {} {
        set link [link_begin]
        $link feed FUNCTION LOAD [library_with lib "return 7" no-writes]
        applied $link
        assert_equal [$current_server control FCALL lib 0] 7
        $link feed FUNCTION DELETE lib
        applied $link
        error_of {$current_server control FCALL lib 0}
    }
} "ERR Function not found"
check_in 2 "an entry of a stream wakes a client that reads it" {
    with_replica {} {
        set link [link_begin]
        set reader [client_open 2]
        $reader send XREAD BLOCK 0 STREAMS s 0
        wait_blocked 1
        $link feed XADD s 1-1 f v
        $reader read
    }
} {{s {{1-1 {f v}}}}}
check_in 2 "watched keys that the primary changes end a transaction of a client" {
    with_replica {} {
        set link [link_begin {a 1}]
        set client [client_open 2]
        $client call WATCH a
        $link feed SET a 2
        applied $link
        $client call MULTI
        $client call GET a
        $client call EXEC
    }
} (nil)

# --- What makes no sense

foreach {name words why} {
    "an unknown command" {FROBNICATE a b} "'FROBNICATE', which this server does not know"
    "a wrong number of arguments" {SET a} "'SET', with a wrong number of arguments"
    "a command that is none of a stream" {CONFIG SET maxmemory 1} "'CONFIG', which has no place in its stream"
    "a command that would reach out" {MIGRATE 127.0.0.1 1 a 0 1} "'MIGRATE', which has no place in its stream"
    "a database that is not there" {SELECT 99} "The command 'select' of MASTER fails here: ERR DB index is out of range"
    "an option that is unknown" {SET a 1 FROB} "The command 'set' of MASTER fails here: ERR syntax error"
    "a command that fails" {LPUSH text x} "The command 'lpush' of MASTER fails here: WRONGTYPE"
} {
    check_in 2 "$name: the link is closed, and all data asked for" [string map [list WORDS $words WHY $why] {
        with_replica {} {
            set link [link_begin {text 1}]
            $link feed SET a before
            $link feed WORDS
            $link feed SET a behind
            set link [link_begins_anew {a new} 1000]
            assert_equal [list [get a] [get text]] {new (nil)}
            assert {[string first "WHY" [$current_server log]] >= 0}
            assert_equal [info_field unexpected_error_replies] 1
            assert_equal [replication master_refused_commands] 1
            assert_equal [replication master_last_refused_command] [string tolower [lindex {WORDS} 0]]
            $link feed SET a 2
            applied $link
            get a
        }
    }] 2
}
check_in 2 "the code of a library has as much time as that of files, as the primary may be faster" {
    with_replica {} {
        set link [link_begin]
        $link feed FUNCTION LOAD "#!lua name=loop\nwhile true do end"
        link_begins_anew {} 1000
        regexp -line {The command 'function.load' of MASTER fails here: (.*)\. The data} [$current_server log] _ error
        set error
    }
} "ERR Error registering functions: ERR the code of the library 'loop' has not ended in 2000 ms"
check_in 2 "because of the same command, all data is asked for once a minute, and the log and INFO name it" {
    with_replica {} {
        set link [link_begin {a 1}]
        assert {![regexp {master_refused} [$current_server control INFO replication]]}
        $link feed MULTI
        $link feed BF.ADD h x
        $link feed EXEC
        set link [link_begins_anew {a 2} 1000]
        $link feed "FROB\n\x01" x
        set link [link_begins_anew {a 3} 2000]
        assert_equal [replication master_last_refused_command] frob??
        $link feed Bf.Add h x
        wait_link down
        regexp {'bf.add' of MASTER makes it necessary to ask for all data, in (\d+) seconds. Such commands so far: 3} \
            [$current_server log] _ seconds
        assert {$seconds > 4}
        assert_equal [list [replication master_refused_commands] [replication master_last_refused_command]] {3 bf.add}
        # To name the primary anew makes it be asked at once.
        $current_server control REPLICAOF NO ONE
        $current_server control REPLICAOF 127.0.0.1 [$primary port]
        set link [$primary accept]
        link_asks $link
        link_sync $link {a 4}
        wait_link up
        list [get a] [regexp {master_refused} [$current_server control INFO replication]]
    }
} {4 0}
check_in 2 "with hide-user-data-from-log, INFO and the log do not name a command that is not known" {
    with_replica {hide-user-data-from-log yes} {
        set link [link_begin {a 1}]
        $link feed SECRET x
        wait_link down
        list [replication master_last_refused_command] [string match -nocase *SECRET* [$current_server log]]
    }
} {*redacted* 0}
foreach {name bytes} {
    "text" "hello world\r\n"
    "a reply" "+OK\r\n"
    "a bulk" "\$3\r\nabc\r\n"
    "a count that is none" "*x\r\n"
    "a huge count" "*99999999999\r\n"
    "a negative length" "*1\r\n\$-5\r\n"
    "a huge length" "*2\r\n\$3\r\nGET\r\n\$99999999999999\r\n"
    "MULTI in a transaction" "*1\r\n\$5\r\nMULTI\r\n*1\r\n\$5\r\nMULTI\r\n"
    "EXEC without MULTI" "*1\r\n\$4\r\nEXEC\r\n"
} {
    check_in 2 "$name in the stream: all data is asked for" [string map [list BYTES $bytes] {
        with_replica {} {
            set link [link_begin {a 1}]
            $link feed SET a 2
            $link write {BYTES}
            link_begins_anew {a 3} 77
            list [get a] [replication slave_repl_offset]
        }
    }] {3 77}
}
check_in 2 "a failed command in a transaction: all data is asked for" {
    with_replica {} {
        set link [link_begin {text 1}]
        $link feed MULTI
        $link feed SET a 1
        $link feed LPUSH text x
        $link feed EXEC
        link_begins_anew {a 3} 77
        get a
    }
} 3
check_in 2 "what was run of a transaction before a command failed is in the append-only file, too" {
    with_replica {appendonly yes} {
        set link [link_begin {text 1}]
        wait_until {[info_field aof_enabled] == 1 && [info_field aof_rewrite_in_progress] == 0}
        $link feed MULTI
        $link feed SET a 1
        $link feed LPUSH text x
        $link feed EXEC
        $primary accept
        set before [get a]
        $current_server restart
        set ::default_client ""
        list $before [get a]
    }
} {1 1}
check_in 2 "a replica that clients may write to goes on when a command fails" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        $current_server control SET key text
        $link feed LPUSH key x
        $link feed SET a 1
        applied $link
        get a
    }
} 1

# --- CLIENT PAUSE

# A replica with an applied stream, in which only what changes data is held back from `before` on.
proc with_held_stream {body} {
    uplevel 1 [string map [list BODY $body] {
        with_replica {} {
            set link [link_begin]
            $link feed SET a 1
            applied $link
            $current_server control CLIENT PAUSE 1000000 WRITE
            $link feed PING
            set before [$link offset]
            $link feed SET a 2
            $link feed MULTI
            $link feed RPUSH b 1
            $link feed RPUSH b 2
            $link feed EXEC
            $link feed SET large [string repeat x 200000]
            $link feed REPLCONF GETACK *
            wait_until {[info_field blocked_clients] == 1}
            BODY
        }
    }]
}
check_in 2 "CLIENT PAUSE WRITE holds back what changes data, until CLIENT UNPAUSE" {
    with_held_stream {
        foreach times {1 2} {
            assert_equal [lindex [set words [$link request]] 1] ACK
        }
        while {[lindex [$link request] 2] ne $before} {}
        assert_equal [list [get a] [get b_none] [replication slave_repl_offset]] [list 1 (nil) $before]
        assert {[regexp {flags=Mb } [$current_server control CLIENT LIST TYPE master]]}
        $current_server control CLIENT UNPAUSE
        applied $link
        $link feed SET a 3
        applied $link
        list [get a] [$current_server control LRANGE b 0 -1] [string length [get large]] [info_field blocked_clients]
    }
} {3 {1 2} 200000 0}
check_in 2 "a link that is closed during CLIENT PAUSE goes on with what was held back" {
    with_held_stream {
        $current_server control CLIENT KILL TYPE master
        set link [link_continues $before]
        assert_equal [list [get a] [info_field blocked_clients]] {1 0}
        $link feed SET a 4
        wait_until {[info_field blocked_clients] == 1}
        $current_server control CLIENT UNPAUSE
        applied $link
        list [get a] [info_field blocked_clients]
    }
} {4 0}
check_in 2 "all data is asked for behind CLIENT PAUSE when the link is lost and the primary cannot go on" {
    with_held_stream {
        $current_server control CLIENT KILL TYPE master
        set link [$::primary accept]
        assert_equal [link_asks $link] [list PSYNC $::replication_id [expr {$before + 1}]]
        $link write "+FULLRESYNC $replication_id 1000\r\n"
        assert {[$link is_closed]}
        set later [expr {[info_field uptime_in_seconds] + 3}]
        wait_until {[info_field uptime_in_seconds] >= $later}
        assert_equal [list [get a] [replication master_link_status] [$::primary waiting]] {1 down 0}
        $current_server control CLIENT UNPAUSE
        set link [$::primary accept]
        assert_equal [link_asks $link] [list PSYNC $::replication_id [expr {$before + 1}]]
        link_sync $link {a 3} 1000
        wait_link up
        get a
    }
} 3
# The replica confirms once a second, and then looks whether the primary is silent.
check_in 2 "the link stays when CLIENT PAUSE lasts longer than repl-timeout" {
    with_held_stream {
        $current_server control CONFIG SET repl-timeout 1
        foreach times {1 2 3} {
            assert_equal [lrange [$link request] 0 1] {REPLCONF ACK}
        }
        $current_server control CONFIG SET repl-timeout 60
        $current_server control CLIENT UNPAUSE
        applied $link
        get a
    }
} 2
check_in 2 "a replica that is promoted during CLIENT PAUSE drops what was held back" {
    with_held_stream {
        $current_server control REPLICAOF NO ONE
        $current_server control CLIENT UNPAUSE
        list [get a] [$current_server control SET a 5] [get a] [info_field blocked_clients]
    }
} {1 OK 5 0}
foreach mode {ALL WRITE} {
    check_in 2 "the stream goes on when the time of CLIENT PAUSE $mode is over" [string map [list MODE $mode] {
        with_replica {} {
            set link [link_begin]
            $current_server control CLIENT PAUSE 50 MODE
            $link feed SET a 1
            $link feed REPLCONF GETACK *
            $link feed SET b 2
            applied $link
            list [get a] [get b]
        }
    }] {1 2}
}

# --- Confirmations

check_in 2 "ACK at once, each second, and at GETACK" {
    with_replica {} {
        set link [link_begin]
        set found [list [$link request]]
        $link feed SET a 1
        set first [$link offset]
        wait_until {[replication slave_repl_offset] == $first}
        assert_equal [$link request] [list REPLCONF ACK $first]
        $link feed REPLCONF GETACK *
        while {[lindex [set words [$link request]] 2] ne $first} {}
        $link feed PING
        set all [$link offset]
        while {[lindex [$link request] 2] ne $all} {}
        set found
    }
} {{REPLCONF ACK 0}}
check_in 2 "FACK confirms nothing of an earlier history" {
    with_replica {appendonly yes appendfsync always} {
        set link [$primary accept]
        link_asks $link
        link_sync $link {} 1000000
        while {[lindex [$link request] 4] ne 1000000} {}
        $link close
        set link [$primary accept]
        link_asks $link
        link_sync $link {a 1} 5
        while {[set synced [lindex [$link request] 4]] in {"" 0}} {}
        set synced
    }
} 5
check_in 2 "a primary that falls silent is left after repl-timeout, and asked to go on" {
    with_replica {repl-timeout 2} {
        set link [link_begin]
        $link feed SET a 1
        set offset [$link offset]
        link_continues $offset
        assert {[string match "*MASTER timeout: no data nor PING received...*" [$current_server log]]}
    }
}

# --- Expiry

check_in 2 "keys that have expired are invisible, and stay until the primary deletes them" {
    with_replica {} {
        set link [link_begin]
        $link feed SET k v PXAT 1
        $link feed SET other v
        $link feed HSET hash f v
        $link feed HPEXPIREAT hash 1 FIELDS 1 f
        applied $link
        set server $current_server
        assert_match "Value at:* encoding:embstr *" [$server control DEBUG OBJECT k]
        set found [list [get k] [$server control EXISTS k] [$server control TTL k] [lsort [$server control KEYS *]] \
            [$server control DBSIZE] [lsort [lindex [$server control SCAN 0] 1]] \
            [expr {[$server control RANDOMKEY] in {hash other}}] \
            [$server control HGET hash f]]
        $server control DEBUG SET-ACTIVE-EXPIRE 1
        after 300
        lappend found [$server control DBSIZE]
        $link feed DEL k
        applied $link
        lappend found [$server control DBSIZE]
    }
} {(nil) 0 -2 {hash other} 3 {hash other} 1 (nil) 3 2}
check_in 2 "the primary's commands see keys that have expired" {
    with_replica {} {
        set link [link_begin]
        $link feed SET n 1 PXAT 1
        $link feed INCR n
        $link feed PERSIST n
        applied $link
        get n
    }
} 2
check_in 2 "a promoted replica deletes what has expired" {
    with_replica {} {
        set link [link_begin]
        $link feed SET k v PXAT 1
        applied $link
        $current_server control REPLICAOF NO ONE
        wait_until {[$current_server control DBSIZE] == 0}
    }
}
check_in 2 "on a replica that clients may write to, their writes find no expired key" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        $link feed SET n 5 PXAT 1
        applied $link
        list [get n] [$current_server control INCR n] [$current_server control TTL n]
    }
} {(nil) 1 -1}
check_in 2 "nothing is evicted, but with replica-ignore-maxmemory no" {
    with_replica {maxmemory-policy allkeys-random} {
        set link [link_begin]
        for {set i 0} {$i < 100} {incr i} {
            $link feed SET key$i [string repeat x 10000]
        }
        applied $link
        $current_server control CONFIG SET maxmemory 1mb
        $link feed SET more 1
        applied $link
        assert_equal [$current_server control DBSIZE] 101
        $current_server control CONFIG SET replica-ignore-maxmemory no
        wait_until {[$current_server control DBSIZE] < 101}
    }
}

# --- Expiries that clients of a writable replica give

# The number of keys that the replica remembers as its own.
proc tracked {} {
    return [info_field slave_expires_tracked_keys]
}

check_in 2 "keys that clients of a writable replica let expire are deleted, in every database" {
    with_replica {replica-read-only no notify-keyspace-events KEA databases 100} {
        set link [link_begin]
        set listener [client_open 2]
        $listener call PSUBSCRIBE __keyevent@*__:expired
        set client [client_open 2]
        foreach database {0 1 99} {
            $client call SELECT $database
            $client call SET stays v
            $client call SET own v PX 20
            wait_until {[$client call DBSIZE] == 1}
            assert_equal [lrange [$listener read] 2 3] [list __keyevent@${database}__:expired own]
        }
        wait_until {[tracked] == 0}
        info_field expired_keys
    }
} 3
check_in 2 "a name that expires in several databases counts once, as by Redis, and is deleted in each" {
    with_replica {replica-read-only no} {
        link_begin
        set client [client_open 2]
        set deadline [expr {[clock milliseconds] + 3000}]
        foreach database {0 1 5} {
            $client call SELECT $database
            $client call SET own v PXAT $deadline
        }
        assert {[tracked] == 1 || [clock milliseconds] >= $deadline}
        wait_until {![string match *keys=* [r INFO keyspace]]}
        wait_until {[tracked] == 0}
        info_field expired_keys
    }
} 3
check_in 2 "whatever gives a key an expiry counts on a writable replica" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        $link feed SET theirs v PXAT 9999999999999
        applied $link
        $current_server control DEBUG SET-ACTIVE-EXPIRE 0
        r SET plain v
        set dump [r DUMP plain]
        set found {}
        foreach command {
            {SET set v PX 1000000} {SETEX setex 1000 v} {PSETEX psetex 1000000 v} {EXPIRE plain 1000}
            {GETEX plain PX 1000000} {RESTORE restore 1000000 DUMP} {COPY set copy} {COPY set elsewhere DB 3}
            {RENAME copy renamed} {MOVE setex 2} {EVAL {return redis.call('SET', 'script', 'v', 'PX', 1000000)} 0}
            {COPY theirs copied} {APPEND theirs x} {SET theirs y KEEPTTL} {TTL theirs}
        } {
            r {*}[lmap word $command {expr {$word eq "DUMP" ? $dump : $word}}]
            lappend found [tracked]
        }
        r MULTI
        r SET queued v EX 1000
        r EXEC
        lappend found [tracked]
    }
} {1 2 3 4 4 5 6 7 8 8 9 10 10 10 10 11}
check_in 2 "a writable replica forgets a key that is gone or never expires any more" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        foreach key {persisted deleted set renamed overwritten left} {
            r SET $key v EX 1000
        }
        r PERSIST persisted
        r DEL deleted
        r SET set w
        r RENAME renamed other
        $link feed SET overwritten theirs
        applied $link
        wait_until {[tracked] == 2}
        lsort [r KEYS *]
    }
} {left other overwritten persisted set}
check_in 2 "keys to which the primary gave the expiry stay on a writable replica until it deletes them" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        $link feed SET theirs v PXAT 1
        $link feed SET kept v PXAT 9999999999999
        applied $link
        r SET kept w KEEPTTL
        r SET own v PX 1000000
        r SET taken v PX 1000000
        $link feed SET taken w PXAT 1
        $link feed SET kept x PXAT 1
        applied $link
        assert_equal [tracked] 1
        r PEXPIRE own 1
        wait_until {[tracked] == 0}
        assert_equal [list [r DBSIZE] [r GET taken]] {3 (nil)}
        $link feed DEL theirs
        $link feed DEL taken
        applied $link
        list [r DBSIZE] [info_field expired_keys]
    }
} {1 1}
check_in 2 "SWAPDB takes a writable replica's own keys along" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        set client [client_open 2]
        set deadline [expr {[clock milliseconds] + 3000}]
        $client call SET zero v PXAT $deadline
        $client call SELECT 1
        $client call SET one v PXAT $deadline
        $client call SWAPDB 0 1
        $link feed SWAPDB 1 2
        $link feed SWAPDB 3 0
        applied $link
        wait_until {![string match *keys=* [r INFO keyspace]]}
        wait_until {[tracked] == 0}
        info_field expired_keys
    }
} 2
check_in 2 "own keys expire when the replica is no longer writable, and without its primary" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        r SET own v PX 1000000
        r SET other v PX 1000000
        r PEXPIRE own 100
        $current_server control CONFIG SET replica-read-only yes
        $link close
        wait_until {[r DBSIZE] == 1}
        wait_until {[tracked] == 1}
    }
}
check_in 2 "many own keys are deleted, and the others are found" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        r EVAL {for i = 1, 3000 do
            redis.call('SET', 'long' .. i, 'v', 'PX', 1000000)
            redis.call('SET', 'own' .. i, 'v', 'PX', 20)
        end} 0
        wait_until {[r DBSIZE] == 3000}
        wait_until {[tracked] == 3000}
        r EVAL {for i = 1, 3000 do redis.call('PEXPIRE', 'long' .. i, 1) end} 0
        wait_until {[r DBSIZE] == 0}
        wait_until {[tracked] == 0}
    }
}
check_in 2 "DEBUG SET-ACTIVE-EXPIRE 0 holds for own keys" {
    with_replica {replica-read-only no} {
        link_begin
        $current_server control DEBUG SET-ACTIVE-EXPIRE 0
        r SET own v PX 1
        after 300
        set before [list [r DBSIZE] [tracked]]
        $current_server control DEBUG SET-ACTIVE-EXPIRE 1
        wait_until {[tracked] == 0}
        lappend before [r DBSIZE]
    }
} {1 1 0}
check_in 2 "memory of remembered keys counts as overhead" {
    with_replica {replica-read-only no} {
        link_begin
        set before [info_field used_memory_overhead]
        r EVAL {for i = 1, 1000 do redis.call('SET', i .. ARGV[1], 'v', 'PX', 1000000) end} 0 [string repeat x 1000]
        expr {[info_field used_memory_overhead] - $before > 1000000}
    }
} 1
check_in 2 "own keys that expire reach the append-only file, but no replica of the replica" {
    with_replica {replica-read-only no appendonly yes} {
        set link [link_begin]
        lassign [replica_sync] replica
        wait_until {[info_field aof_enabled] == 1 && [info_field aof_rewrite_in_progress] == 0}
        set commands [propagated_by {
            r SET own v PX 20
            wait_until {[tracked] == 0}
            wait_written
        }]
        assert_equal [r DBSIZE] 0
        $link feed SET a 1
        applied $link
        assert_equal [replica_command $replica] {SET a 1}
        assert_equal [replication master_repl_offset] [$link offset]
        set commands
    }
} {{SELECT 0} {SET own v PXAT TIME} {DEL own}}
check_in 2 "a promoted replica forgets its own keys, and deletes all that has expired" {
    with_replica {replica-read-only no} {
        set link [link_begin]
        $link feed SET theirs v PXAT 1
        applied $link
        r SET own v PX 1000000
        assert_equal [tracked] 1
        r REPLICAOF NO ONE
        assert_equal [tracked] 0
        r PEXPIRE own 1
        wait_until {[r DBSIZE] == 0}
        r SET later v PX 1000000
        tracked
    }
} 0
foreach load {disabled swapdb} {
    set body [string map [list LOAD $load] {
        with_replica {replica-read-only no repl-diskless-load LOAD} {
            set link [link_begin]
            r EVAL {for i = 1, 1000 do redis.call('SET', i, 'v', 'PX', 1000000) end} 0
            assert_equal [tracked] 1000
            $link write "hello world\r\n"
            set link [link_begins_anew {a 1} 10]
            assert_equal [list [tracked] [r DBSIZE]] {0 1}
            r SET own v PX 20
            wait_until {[tracked] == 0}
            r DBSIZE
        }
    }]
    check_in 2 "all data of the primary ends the list of own keys, with repl-diskless-load $load" $body 1
}
foreach {who flush} {"a client" {r FLUSHALL} "the primary" {$link feed FLUSHALL}} {
    check_in 2 "FLUSHALL of $who ends the list of own keys" [string map [list FLUSH $flush] {
        with_replica {replica-read-only no} {
            set link [link_begin]
            r SET own v PX 1000000
            assert_equal [tracked] 1
            FLUSH
            applied $link
            list [tracked] [r DBSIZE]
        }
    }] {0 0}
}

finish
