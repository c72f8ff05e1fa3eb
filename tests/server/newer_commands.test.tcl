# What newer servers write: it comes from primaries and in append-only files, and was done there, so that conditions are
# not asked again. What this server does not know is run in other terms; clients get an error.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/primary.tcl

server_start

set far 33177117420000 ;# far in the future, in milliseconds

# {name, what makes the data, the commands, what is asked afterwards, the answers}.
set cases {
    "SET drops its comparison, whatever is there"
        {{SET k other} {RPUSH list x} {SET timed v PXAT $far}}
        {{SET k 2 IFEQ 1} {SET new 3 IFNE x PXAT $far} {set list text IFDEQ 9555e8555c62dcfd}
         {SET timed w GET IFDNE 0000000000000000 KEEPTTL}}
        {{MGET k new list timed} {PEXPIRETIME new} {PEXPIRETIME timed} {PEXPIRETIME k}}
        {{2 3 text w} $far $far -1}
    "a value may spell an option"
        {}
        {{SET k IFEQ IFEQ NX} {SET IFEQ v IFNE GET}}
        {{MGET k IFEQ}}
        {{IFEQ v}}
    "MSETEX sets every key, with its expiry"
        {{SET a before} {SET c v PXAT $far} {RPUSH list x}}
        {{MSETEX 3 a 1 b 2 list 3 PXAT $far NX} {MSETEX 1 c 4 KEEPTTL} {MSETEX 1 d 5}}
        {{MGET a b list c d} {PEXPIRETIME a} {PEXPIRETIME list} {PEXPIRETIME c} {PEXPIRETIME d}}
        {{1 2 3 4 5} $far $far $far -1}
    "DELEX and DELIFEQ delete a key"
        {{MSET a 1 b 2 c 3 d 4} {RPUSH list x}}
        {{DELEX a IFEQ other} {DELEX list} {DELEX c ifdne 9555e8555c62dcfd} {DELIFEQ d other}}
        {{KEYS *}}
        {b}
    "INCREX adds, and changes the expiry"
        {{MSET a 1 b 2} {SET d 1 PXAT $far}}
        {{INCREX a} {INCREX b BYINT 10 UBOUND 100 PXAT $far ENX} {INCREX d BYINT -3 PERSIST} {INCREX new LBOUND 0}}
        {{MGET a b d new} {PEXPIRETIME b} {PTTL d} {PTTL a}}
        {{2 12 -2 1} $far -1 -1}
    "INCREX with SATURATE and with a fraction"
        {{SET a 1}}
        {{INCREX a BYINT 9 UBOUND 5 SATURATE} {INCREX b BYFLOAT 0.5}}
        {{MGET a b}}
        {{5 0.5}}
    "MOVE REPLACE moves a key over another"
        {{SET k from} {SELECT 3} {RPUSH k to} {SET other 1} {SELECT 0}}
        {{MOVE k 3 REPLACE} {SET behind 1}}
        {{KEYS *} {SELECT 3} {GET k} {DBSIZE}}
        {behind OK from 2}
    "XADD and XTRIM trim"
        {{XADD s 1-1 f 1} {XADD s 2-1 f 2} {XADD s 3-1 f 3} {XADD s 4-1 f 4}}
        {{XADD s DELREF MAXLEN = 4 5-1 f 5} {XADD s MINID 3-0 ACKED 6-1 KEEPREF x}
         {XTRIM s KEEPREF MAXLEN = 3} {XADD s IDMP p i 7-1 f 7} {XADD s IDMPAUTO p 8-1 f 8}}
        {{XRANGE s - +}}
        {{{4-1 {f 4}} {5-1 {f 5}} {6-1 {KEEPREF x}} {7-1 {f 7}} {8-1 {f 8}}}}
    "XDELEX deletes entries, XCFGSET and XIDMPRECORD leave them"
        {{XADD s 1-1 f 1} {XADD s 2-1 f 2} {XADD s 3-1 f 3}}
        {{XDELEX s ACKED IDS 1 1-1} {XDELEX s IDS 2 2-1 9-9} {XCFGSET s IDMP-MAXSIZE 5} {XIDMPRECORD s p i 3-1}}
        {{XRANGE s - +}}
        {{{3-1 {f 3}}}}
    "BITOP has the operations of Redis 8.2, ZUNIONSTORE that of 8.8"
        {{MSET a x b y} {ZADD z 5 a 6 b}}
        {{BITOP DIFF d a b} {BITOP ONE e a b} {ZUNIONSTORE n 2 z z AGGREGATE COUNT}}
        {{BITCOUNT d} {BITCOUNT e} {ZRANGE n 0 -1 WITHSCORES}}
        {0 1 {a 2 b 2}}
}

proc answers {questions} {
    set found {}
    foreach question $questions {
        lappend found [$::current_server control {*}$question]
    }
    $::current_server control SELECT 0
    return $found
}

foreach {name setup commands questions expected} $cases {
    lassign [subst -nocommands [list $setup $commands $questions $expected]] setup commands questions expected
    check_in 2 "$name: from a primary" [string map [list SETUP $setup COMMANDS $commands QUESTIONS $questions] {
        with_replica {} {
            set link [link_begin]
            foreach command {SETUP} {
                $link feed {*}$command
            }
            foreach command {COMMANDS} {
                $link feed {*}$command
            }
            applied $link
            assert_equal [info_field unexpected_error_replies] 0
            assert_equal [info_field total_error_replies] 0
            answers {QUESTIONS}
        }
    }] $expected
    check_in 2 "$name: in a transaction of a primary, and in the file of the replica" \
            [string map [list SETUP $setup COMMANDS $commands QUESTIONS $questions] {
        with_replica {appendonly yes} {
            set link [link_begin]
            wait_until {[info_field aof_enabled] == 1 && [info_field aof_rewrite_in_progress] == 0}
            $link feed MULTI
            foreach command {SETUP} {
                $link feed {*}$command
            }
            foreach command {COMMANDS} {
                $link feed {*}$command
            }
            $link feed EXEC
            applied $link
            set before [$current_server control DEBUG DIGEST]
            $current_server control CONFIG SET appendfsync always
            $current_server restart
            set ::default_client ""
            assert_equal [$current_server control DEBUG DIGEST] $before
            answers {QUESTIONS}
        }
    }] $expected
    check_in 2 "$name: in an append-only file" [string map [list SETUP $setup COMMANDS $commands QUESTIONS $questions] {
        with_aof {} {
            set bytes ""
            foreach command [list {SELECT 0} {*}{SETUP} MULTI {*}{COMMANDS} EXEC] {
                append bytes [request $command]
            }
            $current_server halt
            break_file $current_server $bytes
            server_again launch
            answers {QUESTIONS}
        }
    }] $expected
}
check_in 2 "a large value goes to the key as it came" {
    set value [string repeat x 1000000]
    with_replica {} {
        set link [link_begin]
        $link feed SET a $value IFEQ y
        $link feed MSETEX 2 b $value c $value
        applied $link
        lmap key {a b c} {expr {[$current_server control GET $key] eq $value}}
    }
} {1 1 1}
check_in 2 "replicas of the replica get the bytes of the primary" {
    with_replica {} {
        set link [link_begin]
        $link feed MSETEX 2 a 1 b 2 EX 1000
        applied $link
        assert {[$current_server control TTL b] > 0}
        list [answers {{MGET a b}}] [expr {[replication master_repl_offset] - [$link offset]}]
    }
} {{{1 2}} 0}
check "clients get an error, and nothing changes" {
    r MSET k 1 other 2
    foreach command {{XADD s IDMP p i 1-1 f v} {XCFGSET s}} {
        assert {[string match "ERR *" [error_of {r {*}$command}]]}
        assert {[string match "ERR *" [error_of {r EVAL "return redis.call(unpack(ARGV))" 0 {*}$command}]]}
    }
    list [lsort [r KEYS *]] [r MGET k other]
} {{k other} {1 2}}
check_in 2 "what has no exact translation is no change: the replica asks for all data" {
    foreach command {{MOVE k 0 REPLACE} {SET k 2 IFEQ 1 IFNE 2} {MSETEX 1 k 2 NX XX} {XDELEX s IDS 2 1-1}} {
        with_replica {} {
            set link [link_begin]
            $link feed SET k 1
            applied $link
            $link feed {*}$command
            wait_until {[info_field unexpected_error_replies] == 1}
            assert_equal [answers {{GET k}}] 1
        }
    }
}
check_in 2 "the start stops at a command that cannot be translated, and says which and where" {
    with_aof {} {
        $current_server halt
        set good [request {SELECT 0}][request {SET k 1 IFNE 2}]
        foreach {command why} {
            {SET k 2 IFEQ 1 FROB} "'set' of the append only file *offset OFFSET cannot be run here: ERR syntax error"
            {ARSET a 0 x}          "Unknown command 'ARSET' reading the append only file *offset OFFSET"
        } {
            break_file $current_server $good[request $command]
            lassign [$current_server fail_to_start] status log
            assert_equal $status "CHILDSTATUS 1"
            assert {[string match "*[string map [list OFFSET [string length $good]] $why]*" $log]}
        }
    }
}

finish
