# Strings and elements of more than 4 GB. Most checks are for long runs only: each takes up to 16 GB of memory, and some
# of them minutes.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join [file dirname [file normalize [info script]]] lib faults.tcl]

set patience_ms 600000
set large 5000000000
set directives {proto-max-bulk-len 6gb client-query-buffer-limit 7gb enable-debug-command yes save ""}

server_start {}

# Makes a string of zeros of 5 GB and 4 bytes, with marks at both ends and beyond 4 GB.
proc make_large {key} {
    r SETRANGE $key [expr {$::large - 1}] E
    r SETRANGE $key 0 B
    r SETRANGE $key 4294967296 M
    r APPEND $key tail
}

proc facts {key} {
    return [list [r STRLEN $key] [r GETRANGE $key 0 1] [r GETRANGE $key 4294967295 4294967297] [r GETRANGE $key -6 -1] \
        [r BITCOUNT $key]]
}

set made [list [expr {$large + 4}] "B\x00" "\x00M\x00" "\x00Etail" 24]

# Sends a request whose last argument is 5 GB of the letter, and returns the reply.
proc send_large {args} {
    set c [client_open 2]
    set letter [lindex $args end]
    set head [request [list {*}[lrange $args 0 end-1] ""]]
    set piece [string repeat $letter 1000000]
    $c write "[string range $head 0 end-6]\$$::large\r\n"
    for {set sent 0} {$sent < $::large} {incr sent 1000000} {
        $c write $piece
    }
    $c write "\r\n"
    set reply [$c read]
    $c close
    return $reply
}

# The length of the bulk that the request replies, whose bytes must all be the letter.
proc read_large {letter args} {
    set c [client_open 2]
    $c send {*}$args
    set length [string range [$c read_line] 1 end]
    set piece [string repeat $letter 1000000]
    for {set left $length} {$left > 0} {incr left -[string length $bytes]} {
        set bytes [$c read_bytes [expr {min($left, 1000000)}]]
        if {$bytes ne [string range $piece 0 [string length $bytes]-1]} {
            error "other bytes, $left before the end"
        }
    }
    assert_equal [$c read_bytes 2] "\r\n"
    $c close
    return $length
}

proc restart {} {
    $::current_server restart
    set ::default_client ""
}

check_in 2 "an argument of more than 4 GB may be announced, which takes no memory" {
    with_server $directives {
        set c [client_open]
        $c write "*2\r\n\$4\r\nECHO\r\n\$6442450944\r\nbytes"
        assert {[$c is_silent]}
        assert {[info_field used_memory] < 100000000}
        $c close
        set c [client_open]
        $c write "*2\r\n\$4\r\nECHO\r\n\$6442450945\r\n"
        $c read_line
    }
} "-ERR Protocol error: invalid bulk length"

check_soak "commands change and read strings of more than 4 GB" {
    with_server $directives {
        make_large k
        assert_equal [facts k] $made
        r SETBIT k 40000000000 1
        assert_equal [list [r GETBIT k 40000000000] [r BITPOS k 1 4294967297] [r BITCOUNT k 4294967296 -1]] \
            {1 39999999993 23}
        assert_equal [r BITFIELD k GET u8 34359738368] 77
        assert {[r MEMORY USAGE k] > $large}
        list [error_of {r SETRANGE k 6442450944 x}] [error_of {r SETRANGE k 6442450943 xy}] [r STRLEN k]
    }
} [list "ERR string exceeds maximum allowed size (proto-max-bulk-len)" \
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)" [expr {$large + 4}]]

check_soak "a string of more than 4 GB comes and goes by the protocol" {
    with_server $directives {
        list [send_large SET k v] [read_large v GET k] [read_large v GETRANGE k 0 -1] [r GETRANGE k -3 -1]
    }
} [list OK $large $large vvv]

check_soak "a snapshot holds a string of more than 4 GB as it was when the snapshot began" {
    with_server $directives {
        make_large k
        r CONFIG SET rdbcompression no
        r CONFIG SET rdb-key-save-delay 1000
        r BGSAVE
        r SETRANGE k 4294967296 changed
        r SETRANGE k 0 changed
        r CONFIG SET rdb-key-save-delay 0
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
        assert_equal [info_field rdb_last_bgsave_status] ok
        assert {[file size [data_file dump.rdb]] > $large}
        $::current_server halt
        $::current_server launch
        set ::default_client ""
        facts k
    }
} $made

check_soak "a string of more than 4 GB is compressed in a snapshot and in the payload of DUMP" {
    with_server $directives {
        make_large k
        r SAVE
        assert {[file size [data_file dump.rdb]] < 200000000}
        restart
        assert_equal [facts k] $made
        set payload [r DUMP k]
        r DEL k
        r RESTORE k 0 $payload
        facts k
    }
} $made

check_soak "an append-only file holds strings of more than 4 GB, as commands and rewritten" {
    with_server [dict merge $directives {appendonly yes aof-use-rdb-preamble no}] {
        make_large k
        restart
        assert_equal [facts k] $made
        r CONFIG SET aof-use-rdb-preamble no
        r BGREWRITEAOF
        wait_until {[info_field aof_rewrite_in_progress] == 0 && [info_field aof_rewrite_scheduled] == 0}
        assert_equal [info_field aof_last_bgrewrite_status] ok
        restart
        facts k
    }
} $made

check_soak "an append-only file takes a command of more than 4 GB" {
    with_server [dict merge $directives {appendonly yes}] {
        assert_equal [send_large SET k v] OK
        assert_equal [send_large RPUSH l v] 1
        r DEL k
        restart
        list [r EXISTS k] [r LLEN l] [read_large v LINDEX l 0]
    }
} [list 0 1 $large]

check_soak "a replica gets a string of more than 4 GB, and its changes" {
    with_server $directives {
        make_large k
        set port [$::current_server port]
        with_server [dict merge $directives [list replicaof "127.0.0.1 $port"]] {
            wait_until {[info_field master_link_status] eq "up"}
            assert_equal [facts k] $made
            set primary [client new 127.0.0.1 $port]
            $primary call SETRANGE k 4500000000 x
            $primary call WAIT 1 0
            $primary close
            list [r STRLEN k] [r GETRANGE k 4500000000 4500000000]
        }
    }
} [list [expr {$large + 4}] x]

check_soak "a string of more than 4 GB is evicted" {
    with_server $directives {
        make_large k
        r CONFIG SET maxmemory-policy allkeys-lru maxmemory 1gb
        r SET other x
        list [r EXISTS k] [r GET other] [expr {[info_field used_memory] < 1000000000}]
    }
} {0 x 1}

check_soak "a list holds an element of more than 4 GB, which is saved and loaded" {
    with_server $directives {
        r RPUSH k first last
        assert_equal [send_large LSET k 0 e] OK
        r LPUSH k before
        assert_equal [r LLEN k] 3
        assert_equal [read_large e LINDEX k 1] $large
        r SAVE
        restart
        assert_equal [list [r LLEN k] [r LINDEX k 0] [r LINDEX k -1]] {3 before last}
        assert_equal [read_large e LINDEX k 1] $large
        r LTRIM k 1 1
        assert_equal [r LLEN k] 1
        list [read_large e LPOP k] [r EXISTS k]
    }
} [list $large 0]

check_soak "a hash holds a value of more than 4 GB, which is saved and loaded" {
    with_server $directives {
        assert_equal [send_large HSET h field v] 1
        assert_equal [r HSTRLEN h field] $large
        r SAVE
        restart
        read_large v HGET h field
    }
} $large

check_soak "members of sets and sorted sets may be of more than 4 GB" {
    with_server $directives {
        assert_equal [list [send_large SADD s m] [send_large SISMEMBER s m] [send_large SREM s m]] {1 1 1}
        list [send_large ZADD z 1 m] [send_large ZSCORE z m] [send_large ZREM z m]
    }
} {1 1 1}

check_soak "an entry of a stream with more than 1 GB is refused, as in Redis" {
    with_server $directives {
        list [error_of {send_large XADD x * field v}] [r PING]
    }
} {{ERR Elements are too large to be stored} PONG}

server_stop
finish
