# DUMP and RESTORE: values as payloads.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

set hello "\x00\x05hello\n\x00cr\xdfve4 \n"
set bad_footer "ERR DUMP payload version or checksum are wrong"

proc digest_of {key} {
    return [r DEBUG DIGEST-VALUE $key]
}

# --- DUMP

check "DUMP of a string is the payload that Redis 7.0 makes" {
    r SET s hello
    r DUMP s
} $hello
check "DUMP of a small list is the payload that Redis 7.0 makes" {
    r RPUSH l a 1 22222
    r DUMP l
} "\x12\x01\x02\x10\x10\x00\x00\x00\x03\x00\x81a\x02\x01\x01\xf1\xceV\x03\xff\n\x00\xac\xe2\xcfh\x97)\xee\x91"
check_in 2 "DUMP of a missing key is null" {typed DUMP nosuch} nil
check_in 3 "DUMP of a missing key is null in RESP3" {typed DUMP nosuch} null
check_error "DUMP takes one key" {r DUMP a b} "ERR wrong number of arguments for 'dump' command"
check "DUMP packs what gains by it" {
    r SET s [string repeat a 1000]
    expr {[string length [r DUMP s]] < 50}
} 1
check "DUMP counts a hit or a miss" {
    r SET s x
    set before [list [info_field keyspace_hits] [info_field keyspace_misses]]
    r DUMP s
    r DUMP nosuch
    lmap now [list [info_field keyspace_hits] [info_field keyspace_misses]] old $before {expr {$now - $old}}
} {1 1}

# --- There and back

check_lists "a list of every kind of element is the same after DUMP and RESTORE" {
    make_list l $element_kinds
    assert_equal [r RESTORE m 0 [r DUMP l]] OK
    assert_equal [list_of m] $element_kinds
    assert_equal [r OBJECT ENCODING m] [r OBJECT ENCODING l]
    expr {[digest_of m] eq [digest_of l]}
} 1
check "RESTORE-ASKING does what RESTORE does, and is propagated as that" {
    r SET s x
    set payload [r DUMP s]
    with_server {appendonly yes} {
        set found [list [r RESTORE-ASKING k 0 $payload] [error_of {r RESTORE-ASKING k 0 $payload}] \
            [r RESTORE-ASKING k 100000 $payload REPLACE] [r RESTORE-ASKING past 1 $payload ABSTTL] [r EXISTS past] \
            [r EVAL {return redis.call('RESTORE-ASKING', 'z', 0, ARGV[1])} 0 $payload] \
            [error_of {r RESTORE-ASKING n 0 x}]]
        r DEBUG LOADAOF
        lappend found [r MGET k z] [expr {[r PTTL k] > 0}]
        set file [open [file join [lindex [r CONFIG GET dir] 1] appendonlydir appendonly.aof.1.incr.aof]]
        lappend found [regexp -all -nocase asking [read $file]]
        close $file
    }
    set found
} {OK {BUSYKEY Target key name already exists.} OK OK 0 OK {ERR DUMP payload version or checksum are wrong} {x x} 1 0}

check "strings of every kind are the same after DUMP and RESTORE" {
    foreach value [concat $element_kinds [list 12345 -1 [string repeat ab 50000] 007 1.5]] {
        r SET s $value
        r RESTORE t 0 [r DUMP s] REPLACE
        assert_equal [r GET t] $value
        assert_equal [r OBJECT ENCODING t] [r OBJECT ENCODING s]
    }
}
check "a compressed list is the same after DUMP and RESTORE" {
    with_config {list-max-listpack-size 32 list-compress-depth 1} {
        for {set i 0} {$i < 1000} {incr i} {r RPUSH l [string repeat text 10]$i}
        r RESTORE m 0 [r DUMP l]
        assert_equal [object_field m ql_nodes] [object_field l ql_nodes]
        assert_equal [object_field m ql_compressed] 1
        assert_equal [object_field m serializedlength] [object_field l serializedlength]
    }
    expr {[digest_of m] eq [digest_of l]}
} 1
check "RESTORE stores a list as the limits in force want it" {
    with_config {list-max-listpack-size 2} {r RPUSH l a b c d e}
    r RESTORE m 0 [r DUMP l]
    with_config {list-max-listpack-size 3} {r RESTORE n 0 [r DUMP l]}
    list [r OBJECT ENCODING m] [r OBJECT ENCODING n]
} {quicklist quicklist}

# --- RESTORE's arguments

check_error "RESTORE needs a payload" {r RESTORE k 0} "ERR wrong number of arguments for 'restore' command"
check_error "RESTORE does not touch a key that exists" {
    r SET k x
    r RESTORE k 0 $hello
} "BUSYKEY Target key name already exists."
check "RESTORE REPLACE replaces a key of any type and its expiry" {
    r RPUSH k a b c
    r PEXPIRE k 100000
    r RESTORE k 0 $hello REPLACE
    list [r GET k] [r PTTL k]
} {hello -1}
check "RESTORE takes a time to live in milliseconds" {
    r RESTORE k 5000 $hello
    set ttl [r PTTL k]
    expr {$ttl > 4000 && $ttl <= 5000}
} 1
check "RESTORE ABSTTL takes a time" {
    r RESTORE k 33177117420000 $hello ABSTTL
    r PEXPIRETIME k
} 33177117420000
check "RESTORE takes no time beyond what a clock can show" {
    r RESTORE k 9223372036854775807 $hello
    r PEXPIRETIME k
} 9223372036854775807
check "RESTORE ABSTTL with a TTL of 0 makes a key that does not expire" {
    r RESTORE k 0 $hello ABSTTL
    r PTTL k
} -1
check "RESTORE of what has expired stores nothing, and REPLACE deletes what there was" {
    assert_equal [r RESTORE k 1 $hello ABSTTL] OK
    assert_equal [r EXISTS k] 0
    r SET k x
    assert_equal [r RESTORE k 1 $hello ABSTTL REPLACE] OK
    r EXISTS k
} 0
check "RESTORE IDLETIME sets how long a key was not used" {
    r RESTORE k 0 $hello IDLETIME 1000
    set idle [r OBJECT IDLETIME k]
    r RESTORE l 0 $hello IDLETIME 9223372036854775807
    list [expr {$idle in {1000 1001}}] [expr {[r OBJECT IDLETIME l] > 4000000}]
} {1 1}
check "RESTORE FREQ sets how often a key was used, under an LFU policy" {
    with_config {maxmemory-policy allkeys-lfu lfu-decay-time 0} {
        r RESTORE k 0 $hello FREQ 77
        r RESTORE l 0 $hello IDLETIME 1000
        list [r OBJECT FREQ k] [r OBJECT FREQ l]
    }
} {77 5}
check "RESTORE FREQ means nothing under an LRU policy" {
    r RESTORE k 0 $hello FREQ 77
    r OBJECT IDLETIME k
} 0
check "RESTORE refuses bad options" {
    foreach {options error} {
        {0 P FOO} "ERR syntax error"
        {0 P IDLETIME} "ERR syntax error"
        {0 P FREQ} "ERR syntax error"
        {0 P IDLETIME 1 FREQ 1} "ERR syntax error"
        {0 P FREQ 1 IDLETIME 1} "ERR syntax error"
        {0 P IDLETIME -1} "ERR Invalid IDLETIME value, must be >= 0"
        {0 P IDLETIME x} "ERR value is not an integer or out of range"
        {0 P FREQ 256} "ERR Invalid FREQ value, must be >= 0 and <= 255"
        {0 P FREQ -1} "ERR Invalid FREQ value, must be >= 0 and <= 255"
        {-1 P} "ERR Invalid TTL value, must be >= 0"
        {x P} "ERR value is not an integer or out of range"
        {1.5 P} "ERR value is not an integer or out of range"
    } {
        set arguments [lmap word $options {expr {$word eq "P" ? $hello : $word}}]
        assert_equal [error_of {r RESTORE k {*}$arguments}] $error
    }
    r EXISTS k
} 0

# --- Payloads

check "RESTORE takes versions up to 15, and 80 and 81, which are Valkey's" {
    lmap payload [list "\x00\x05hello\x01\x00W6>E\x97\xd4kY" "\x00\x05hello\x0c\x00\xa8\x04\xeb\xb6\x9f\x1e\xbeC" \
            "\x00\x05hello\x0d\x00\xc1\xdbV\xc5b\x81W\xca" "\x00\x05helloO\x00I\xb9\xd9\x0cD^\x113" \
            "\x00\x05helloP\x00\xacX\x16\xe7\xfbfG\xfe" "\x00\x05helloQ\x00\xc5\x87\xab\x94\x06\xf9\xaew"] {
        expr {[catch {r RESTORE k 0 $payload REPLACE} error] ? $error eq $bad_footer : [r GET k]}
    }
} {hello hello hello 1 hello hello}
check "RESTORE refuses every payload with a byte changed or missing" {
    r RPUSH l a 1 22222 [string repeat x 100]
    set payload [r DUMP l]
    set size [string length $payload]
    for {set i 0} {$i < $size} {incr i} {
        scan [string index $payload $i] %c code
        set changed [string replace $payload $i $i [format %c [expr {$code ^ (1 << int(rand() * 8))}]]]
        assert_equal [error_of {r RESTORE k 0 $changed}] $bad_footer
        assert_equal [error_of {r RESTORE k 0 [string range $payload 0 $i-1]}] $bad_footer
    }
    r EXISTS k
} 0
check "RESTORE refuses bad values whose checksum is right, and leaves what there was" {
    r SET k x
    foreach {why payload} [list \
        "a list without elements" "\x01\x00\x0a\x00\x5b\xf8%\xccl\x17CV" \
        "a quicklist without nodes" "\x12\x00\x0a\x00i\xf6\x84\x5bj\x1b\xbfW" \
        "a node without elements" "\x12\x01\x02\x07\x07\x00\x00\x00\x00\x00\xff\x0a\x00\xe4\xb0!\xa1\x07Cl\x1a" \
        "an element longer than its node" \
            "\x12\x01\x02\x0b\x0b\x00\x00\x00\x01\x00\x83abc\x05\xff\x0a\x00\x9d\x9d\x19\x91\x9em\xb9\x3b" \
        "a type that there is not" "\xc8\x05hello\x0a\x00p\xa4\x04_\x1d\xe2\xf8\xe3" \
        "a set with a member twice" "\x02\x02\x01\x61\x01\x61\x0a\x00\x57\xbe\x76\x2f\xc2\xd6\x52\x3a" \
        "a hash with a field without a value" "\x04\x01\x01\x61\x0a\x00\x4c\xdb\x9f\xa5\xd7\xf7\xe6\x72" \
        "a packed text that claims another length" "\x00\xc3\x02\x10\x00a\x0a\x00NQ\xaf\xb2\xedF\x88\x17" \
        "a text longer than the payload" "\x00\x80\x7f\xff\xff\xffabc\x0a\x00\xa8J\x0f\x94\xd9L:\xe7" \
        "bytes left over" "\x00\x05hellox\x0a\x00F\x8a5\xb0\x8e\xeb\xc0E" \
    ] {
        assert_equal [list $why [error_of {r RESTORE k 0 $payload REPLACE}]] [list $why "ERR Bad data format"]
    }
    r GET k
} x

proc with_skipped_checksums {body} {
    r DEBUG SET-SKIP-CHECKSUM-VALIDATION 1
    try {
        uplevel 1 $body
    } finally {
        r DEBUG SET-SKIP-CHECKSUM-VALIDATION 0
    }
}

check "RESTORE names a type that only other servers have" {
    set found {}
    with_skipped_checksums {
        foreach type {6 7 28 29 32 33} {
            lappend found [error_of {r RESTORE k 0 "[format %c $type]\x01\x01x\x01y\x0e\x00[string repeat \0 8]"}]
        }
    }
    set found
} [list {*}[lmap type {module module array {hash with a template} {hash with a template}} {
    string cat "ERR Bad data format: values of type " $type " can't be loaded"
}] "ERR Bad data format"]

# The words for which tools look in the logs of Redis, which has them at this level, too.
check_in 2 "the log says at the level verbose what is bad in a payload" {
    r RPUSH list one two
    r SADD intset 1 2
    r ZADD zset 1 a
    r XADD stream 1-1 field value
    set found {}
    foreach level {notice verbose} {
        with_config [list loglevel $level rdbcompression no] {
            with_skipped_checksums {
                # The listpack of the sorted set is also one of a hash (16) and of a set (20).
                foreach {key type at} {list 18 4 zset 16 2 zset 20 2 zset 17 2 intset 11 2 stream 21 20} {
                    set before [string length [$current_server log]]
                    set payload [string replace [r DUMP $key] 0 0 [format %c $type]]
                    set payload [string replace $payload $at $at [expr {$key eq "stream" ? "\xff" : "\x63"}]]
                    assert_equal [list $key $type [error_of {r RESTORE k 0 $payload}]] \
                        [list $key $type "ERR Bad data format"]
                    set log [string range [$current_server log] $before end]
                    lappend found [regexp {Internal error in RDB reading offset \d+: .*integrity check failed} $log]
                }
            }
        }
    }
    set found
} {0 0 0 0 0 0 1 1 1 1 1 1}

# --- What others see

check "RESTORE serves a client that waits for the list" {
    r RPUSH l a b
    set payload [r DUMP l]
    set waiter [client_blocked BLPOP m 0]
    r RESTORE m 0 $payload
    list [$waiter read] [list_of m]
} {{m a} b}
check "RESTORE is a change for WATCH" {
    set other [client_open]
    r WATCH k
    $other call RESTORE k 0 $hello
    r MULTI
    r PING
    r EXEC
} (nil)
check "RESTORE counts as a change, and DUMP does not" {
    set before [info_field rdb_changes_since_last_save]
    r RESTORE k 0 $hello
    r DUMP k
    expr {[info_field rdb_changes_since_last_save] - $before}
} 1
check "RESTORE is refused when memory is short" {
    with_config {maxmemory 1} {error_of {r RESTORE k 0 $hello}}
} "OOM command not allowed when used memory > 'maxmemory'."
check "sanitize-dump-payload is known" {
    with_config {sanitize-dump-payload clients} {r CONFIG GET sanitize-dump-payload}
} {sanitize-dump-payload clients}

finish
