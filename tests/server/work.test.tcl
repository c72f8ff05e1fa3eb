# Commands that take long run in another thread: their replies are those of the moment at which they came, whatever
# happens meanwhile, and no other client waits for them.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]
source [file join [file dirname [file normalize [info script]]] lib zsets.tcl]

server_start {enable-debug-command yes}

# More than the loop does at once.
set many 30000

proc fill_set {key members} {
    r DEL $key
    r SADD $key {*}$members
}

proc make_sets {} {
    r DEL bb
    set half [expr {$::many / 2}]
    fill_set a [numbered 1 $::many]
    fill_set b [numbered $half [expr {$::many + $half}]]
    fill_set c {3 17000 x}
    foreach key {d e f g h} {
        fill_set $key [numbered 1 50 $key]
    }
}
proc change_sets {} {
    r SREM a {*}[numbered 100 900]
    r SADD b new
    r DEL c
    r SADD a 5x 6x
    r RENAME b bb
}

proc make_bits {} {
    r SET bits [string repeat "\x00\x01\x7f\xff" 1000000]
    r DEL zeros
    r SETRANGE zeros 3999999 "\x00"
    r SETBIT zeros 25600001 1
    r SET ones [string repeat "\xff" 4000000]
}
proc change_bits {} {
    r SETRANGE bits 100 [string repeat "\x01" 20000]
    r SETBIT bits 31999999 0
    r APPEND bits [string repeat "\xff" 4000000]
    r SETBIT zeros 25600001 0
    r SETBIT zeros 22400003 1
    r RENAME zeros away
    r SETBIT ones 20000000 0
    r SET bits [string repeat "\xff" 4000000]
    r DEL bits
}

proc fill_list {key elements} {
    r DEL $key
    r RPUSH $key {*}$elements
}
proc make_lists {} {
    fill_list long [numbered 1 200000]
    fill_list twins [lrepeat 20000 x y]
    r CONFIG SET list-compress-depth 1
    fill_list compressed [numbered 1 120000 element:]
    r CONFIG SET list-compress-depth 0
}
proc change_lists {} {
    r LPUSH long 199990 nosuch
    r LSET long 150001 other
    r LREM twins 100 y
    r RPUSH twins y
    r LTRIM compressed 110000 -1
    r LPUSH compressed element:119990
    r RENAME compressed away
    r DEL long
}

# Long texts with much in common; the second one is far longer.
proc make_texts {} {
    r SET text1 [string repeat "some words and others " 100]
    r SET text2 [string repeat "other words and some " 100]
    r SET short "xyz"
    r SET large [string repeat "ab z" 120000]
}
proc change_texts {} {
    r APPEND text1 [string repeat other 200]
    r SETRANGE text2 100 "something"
    r SET short z
    r SETRANGE large 0 "xyzxyz"
    r APPEND large xyz
    r DEL text2 large
}

proc make_many {} {
    make_sets
    fill_list list [numbered 1 60000 element:]
    r SET string [string repeat "any text " 60000]
    foreach key {hash sorted stream groups} {
        r DEL $key
    }
    r HSET hash {*}[numbered_pairs 1 20000]
    r HEXPIREAT hash 9999999999 FIELDS 1 m0007
    r ZADD sorted {*}[lreverse [numbered_pairs 1 20000]]
    r EVAL {for i = 1, 40000 do redis.call('XADD', KEYS[1], i .. '-1', 'field', 'value' .. i) end} 1 stream
    r XGROUP CREATE stream group 0
    r XREADGROUP GROUP group consumer COUNT 1000 STREAMS stream >
}
proc change_many {} {
    change_sets
    r LSET list 30000 other
    r LPUSH list first
    r APPEND string more
    r SETRANGE string 300000 other
    r HDEL hash 500
    r HSET hash new 1
    r ZREM sorted 500
    r ZADD sorted 7 new
    r XDEL stream 5000-1
    r XACK stream group 100-1
    r XADD stream * field value
    r DEL list hash
    r RENAME string stream
}

# A sorted set whose members are numbered, with scores that differ from key to key.
proc fill_zset {key from to by} {
    r DEL $key
    set pairs {}
    for {set i $from} {$i <= $to} {incr i} {
        lappend pairs [expr {$i * $by % 9973}] member:$i
    }
    r ZADD $key {*}$pairs
}

proc make_zsets {} {
    set half [expr {$::many / 2}]
    r DEL zz
    fill_zset za 1 $::many 7
    fill_zset zb $half [expr {$::many + $half}] 13
    fill_zset zc 3 20 1
    fill_set members [lmap i [numbered 100 20000] {string cat member: $i}]
    r ZADD za 5 [string repeat long 300] 7 [string repeat longer 300]
    r ZADD zb 6 [string repeat long 300]
}
proc change_zsets {} {
    r ZREMRANGEBYRANK za 100 9000
    r ZADD zb 1 new 2 member:20000
    r ZADD za 77 member:20001 78 another
    r DEL zc
    r SREM members member:100 member:101
    r RENAME zb zz
}

# Elements that are sorted. The scores of the sorted set and the order of the list are others.
proc make_sortable {} {
    set numbers {}
    for {set i 1} {$i <= 12000} {incr i} {
        lappend numbers [expr {$i * 7919 % 1000003}]
    }
    r DEL list zset texts
    r RPUSH list {*}$numbers
    fill_set set [lrange $numbers 0 11000]
    set pairs {}
    foreach number [lrange $numbers 0 10500] {
        lappend pairs [expr {$number % 1009}] $number
    }
    r ZADD zset {*}$pairs
    r RPUSH texts x {*}$numbers 5 {*}[lrepeat 20 [string repeat long 5000]]
}
proc change_sortable {} {
    r LTRIM list 7 2000
    r LSET list 0 -5
    r DEL set texts
    r ZREMRANGEBYRANK zset 100 9000
    r ZADD zset 1 12345678
}

# {what the reply is, the procedure that makes the values, the one that changes them, the commands to run}
set families {
    {set make_sets change_sets {
        {SINTER a b} {SINTER a b a} {SUNION a b} {SUNION a b c} {SDIFF a b} {SDIFF a c b}
        {SUNION a c c c c c c c c c c c c d e f g h}
    }}
    {number make_sets change_sets {
        {SINTERCARD 2 a b} {SINTERCARD 2 a b LIMIT 7000} {SUNIONCARD 3 a b c} {SUNIONCARD 2 a b LIMIT 42000}
        {SDIFFCARD 2 a b} {SDIFFCARD 2 a b LIMIT 100}
    }}
    {list make_zsets change_zsets {
        {ZUNION 2 za zb WITHSCORES} {ZUNION 3 za zb za WEIGHTS 1 2 3} {ZUNION 2 za nokey}
        {ZUNION 3 za zc members AGGREGATE MAX WITHSCORES} {ZINTER 2 za zb WITHSCORES} {ZINTER 2 za za}
        {ZINTER 3 za members zb WEIGHTS 1 2 3} {ZINTER 3 za zb za AGGREGATE COUNT WITHSCORES}
        {ZDIFF 2 za zb WITHSCORES} {ZDIFF 3 za zc members} {ZDIFF 2 members za} {ZDIFF 2 za nokey}
    }}
    {list make_sortable change_sortable {
        {SORT list} {SORT list DESC LIMIT 100 20000} {SORT list ALPHA LIMIT 0 10} {SORT_RO list LIMIT 50000 10}
        {SORT list BY nosort LIMIT 10 29000} {SORT list BY nosort DESC} {SORT set} {SORT set ALPHA DESC} {SORT zset}
        {SORT_RO zset BY nosort DESC} {SORT zset ALPHA LIMIT 0 0} {SORT texts ALPHA}
    }}
    {number make_zsets change_zsets {
        {ZINTERCARD 2 za zb} {ZINTERCARD 3 za members zb LIMIT 7000}
    }}
    {number make_bits change_bits {
        {BITCOUNT bits} {BITCOUNT bits 1 -2} {BITCOUNT bits 11 31999990 BIT} {BITPOS zeros 1} {BITPOS ones 0}
        {BITPOS zeros 1 5 -5} {BITPOS zeros 1 11 31999990 BIT} {BITPOS zeros 1 3 25600000 BIT}
    }}
    {positions make_lists change_lists {
        {LPOS long 199990} {LPOS long 150000 RANK -1} {LPOS long nosuch} {LPOS long nosuch COUNT 3}
        {LPOS long 190000 MAXLEN 199999} {LPOS long 190000 RANK 2} {LPOS long 10 RANK -1 COUNT 0 MAXLEN 199995}
        {LPOS twins y COUNT 0} {LPOS twins y COUNT 0 RANK -3} {LPOS twins x RANK 100 COUNT 18000 MAXLEN 39000}
        {LPOS compressed element:119990} {LPOS compressed element:90000 COUNT 0 RANK -1}
    }}
    {text make_texts change_texts {
        {LCS text1 text2} {LCS text1 text2 LEN} {LCS text1 text2 IDX WITHMATCHLEN} {LCS text1 text1} {LCS short large}
        {LCS large short LEN} {LCS large short IDX MINMATCHLEN 2}
    }}
    {payload make_many change_many {
        {DUMP a} {DUMP list} {DUMP hash} {DUMP sorted} {DUMP stream} {DUMP string}
    }}
}

# The reply as it is compared: the members of a set are in any order.
proc shown {kind reply} {
    return [expr {$kind eq "set" ? [lsort $reply] : $reply}]
}

proc wait_for_works {count} {
    wait_until [format {[info_field clients_waiting_for_threads] == %d} $count]
}

proc total_works {} {
    return [info_field total_commands_in_threads]
}

# Runs the body while no command begins in another thread.
proc paused {body} {
    r DEBUG PAUSE-THREADS 1
    try {
        uplevel 1 $body
    } finally {
        r DEBUG PAUSE-THREADS 0
    }
}


foreach family $families {
    lassign $family kind make change commands
    foreach command $commands {
        check "$command: the reply is that of the moment when it came" {
            $::make
            r MULTI
            r {*}$::command
            set expected [shown $::kind [lindex [r EXEC] 0]]
            set in_script [r EVAL {return redis.call(unpack(ARGV))} 0 {*}$::command]
            if {"WITHSCORES" ni $::command} { ;# pairs in RESP3 alone
                assert_equal [shown $::kind $in_script] $expected
            }
            set before [total_works]
            assert_equal [shown $::kind [r {*}$::command]] $expected
            assert_equal [total_works] [expr {$before + 1}]
            set c [client_open]
            paused {
                $c send {*}$::command
                $c send PING
                wait_for_works 1
                $::change
            }
            assert_equal [shown $::kind [$c read]] $expected
            $c read
        } PONG
    }
}

# --- Clients

check "small commands run at once" {
    fill_set a {1 2 3}
    fill_set b [numbered 1 9]
    set before [total_works]
    r SINTER a b
    r SUNION a b
    r SDIFF b a
    r SET bits [string repeat x 200]
    r BITCOUNT bits
    r BITPOS bits 1
    r LCS bits bits
    r RPUSH list {*}[numbered 1 100]
    r LPOS list 100
    expr {[total_works] - $before}
} 0
check "searches that end soon run at once" {
    make_bits
    make_lists
    set before [total_works]
    assert_equal [r BITPOS bits 1] 15
    assert_equal [r BITPOS bits 0 500] 4000
    assert_equal [r LPOS long 2] 1
    assert_equal [r LPOS twins y RANK -1 COUNT 2] {39999 39997}
    expr {[total_works] - $before}
} 0
check "sorted sets: small ones are combined at once, few members are looked for in a large one at once" {
    make_zsets
    set before [total_works]
    r ZUNION 2 zc zc WITHSCORES
    r ZINTER 2 zc za
    r ZINTERCARD 2 zc za
    r ZINTERSTORE destination 2 zc za
    expr {[total_works] - $before}
} 0
check "a sorted set is combined while its key has another value already, in RESP3, too" {
    make_zsets
    set c [client_open]
    $c call HELLO 3
    set expected [$c call ZUNION 2 za zb WITHSCORES]
    paused {
        $c send ZUNION 2 za zb WITHSCORES
        wait_for_works 1
        r SET za text
        r ZREMRANGEBYRANK zb 0 -1
    }
    expr {[$c read] eq $expected && [r GET za] eq "text"}
} 1
check "SORT that looks at other keys, or stores, runs at once" {
    make_sortable
    set before [total_works]
    r SORT list BY weight*
    r SORT list GET #
    r SORT list STORE destination
    r SORT list BY nosort GET value*
    expr {[total_works] - $before}
} 0
check "SORT of what is no number says so" {
    make_sortable
    set before [total_works]
    set replied [lindex [list [catch {r SORT texts} error] $error] 1]
    list $replied [expr {[total_works] - $before}]
} {{ERR One or more scores can't be converted into double} 1}
check "of a wrong type says the command at once" {
    make_zsets
    r RPUSH list x
    paused {
        foreach command {{ZUNION 2 za list} {ZINTER 2 za list} {ZDIFF 2 za list} {ZINTERCARD 2 za list}} {
            assert_match WRONGTYPE* [lindex [list [catch {r {*}$command} error] $error] 1]
        }
    }
    r DEL list
}
check "scripts run them at once" {
    make_sets
    set before [total_works]
    assert_equal [r EVAL {return #redis.call('SINTER', 'a', 'b')} 0] [r SINTERCARD 2 a b]
    expr {[total_works] - $before}
} 1
check "works wait for their turn in order, and those of clients that have gone are dropped" {
    make_sets
    set clients {}
    paused {
        foreach i {1 2 3 4 5 6} {
            lappend clients [set c [client_open]]
            $c send SINTERCARD 2 a b LIMIT $i
            wait_for_works $i
        }
        [lindex $clients 1] close
        [lindex $clients 4] close
        wait_for_works 4
    }
    lmap i {0 2 3 5} {[lindex $clients $i] read}
} {1 3 4 6}
check "a client that is killed while its command runs leaves nothing" {
    make_sets
    foreach i {1 2 3 4 5 6 7 8} {
        set c [client_open]
        set id [$c call CLIENT ID]
        $c send SUNION a b
        r CLIENT KILL ID $id
        $c close
    }
    wait_for_works 0
    r FLUSHALL
    wait_until {[info_field lazyfree_pending_objects] == 0}
}
check "CLIENT UNBLOCK does not end it" {
    make_sets
    set c [client_open]
    set id [$c call CLIENT ID]
    paused {
        $c send SINTERCARD 2 a b
        wait_for_works 1
        assert_equal [r CLIENT UNBLOCK $id ERROR] 0
    }
    expr {[$c read] == [r SINTERCARD 2 a b]}
} 1
check "a client that wants no reply gets none" {
    make_sets
    set c [client_open]
    $c send CLIENT REPLY SKIP
    $c send SUNION a b
    $c send ECHO next
    assert_equal [$c read] next
    $c send CLIENT REPLY OFF
    $c send SUNION a b
    $c call CLIENT REPLY ON
} OK
check "FLUSHALL meanwhile takes nothing from it" {
    make_sets
    set expected [lsort [r SDIFF a b]]
    set c [client_open]
    paused {
        $c send SDIFF a b
        wait_for_works 1
        r FLUSHALL
        assert_equal [r DBSIZE] 0
    }
    expr {[lsort [$c read]] eq $expected}
} 1
check "its time is in SLOWLOG and COMMANDLOG, with its arguments" {
    make_sets
    r CONFIG SET slowlog-log-slower-than 0
    r SLOWLOG RESET
    r SUNIONCARD 2 a b
    set entry [lsearch -inline -index 3 [r SLOWLOG GET 10] {SUNIONCARD 2 a b}]
    r CONFIG RESETSTAT
    r SUNIONCARD 2 a b
    regexp {calls=1,usec=(\d+)} [r INFO commandstats] _ usec
    r CONFIG SET slowlog-log-slower-than 10000
    expr {[lindex $entry 2] > 100 && $usec > 100}
} 1
check "the server stops while commands run and wait" {
    with_server {} {
        make_sets
        foreach i {1 2 3 4 5} {
            [client_open] send SUNION a b
            [client_open] send SUNIONSTORE to$i a b
        }
        catch {r SHUTDOWN NOSAVE}
    }
}

# --- What they write

# {the procedure that makes the values, the one that changes them, commands that store under `to`}
set stores {
    {make_sets change_sets {
        {SINTERSTORE to a b} {SUNIONSTORE to a b c} {SDIFFSTORE to a b} {SUNIONSTORE to b}
        {SUNIONSTORE to a c c c c c c c c c c c c d e f g h}
    }}
    {make_zsets change_zsets {
        {ZUNIONSTORE to 2 za zb} {ZUNIONSTORE to 3 za zb za WEIGHTS 1 2 3} {ZINTERSTORE to 2 za members AGGREGATE MAX}
        {ZDIFFSTORE to 2 za zb} {ZUNIONSTORE to 1 za}
    }}
}

# Another client sends the command, and its work waits for its turn.
proc send_work {command} {
    set c [client_open]
    $c send {*}$command
    wait_for_works 1
    return $c
}

proc digest {key} {
    return [lindex [r DEBUG DIGEST-VALUE $key] 0]
}

# What a transaction stores, which runs the command at once, and what the command replies.
proc stored_at_once {make command} {
    $make
    r DEL to
    r MULTI
    r {*}$command
    set reply [lindex [r EXEC] 0]
    return [list $reply [digest to]]
}

foreach family $stores {
    lassign $family make change commands
    foreach command $commands {
        check "$command stores what it would have stored when it came" {
            lassign [stored_at_once $::make $::command] reply stored
            foreach old {none string expiring} {
                r DEL to
                if {$old ne "none"} {
                    r SET to old
                }
                if {$old eq "expiring"} {
                    r PEXPIRE to 20
                }
                $::make
                paused {
                    set c [send_work $::command]
                    $::change
                    after [expr {$old eq "expiring" ? 30 : 0}]
                }
                assert_equal [$c read] $reply
                assert_equal [digest to] $stored
                assert_equal [r PTTL to] [expr {$reply == 0 ? -2 : -1}]
            }
        }
        check "$command, and whoever looks at the key gets the result" {
            lassign [stored_at_once $::make $::command] reply stored
            foreach look {{EXISTS to} {MULTI} {DBSIZE} {EVAL "return redis.call('EXISTS', 'to')" 0} {SCAN 0}} {
                $::make
                r DEL to
                paused {
                    set c [send_work $::command]
                    if {$look eq "MULTI"} {
                        r MULTI
                        r EXISTS to
                        r EXEC
                    } else {
                        r {*}$look
                    }
                    assert_equal [$c read] $reply ;# although no thread runs it
                    assert_equal [digest to] $stored
                }
            }
        }
        check "$command is done though its client has gone" {
            lassign [stored_at_once $::make $::command] reply stored
            $::make
            r DEL to
            paused {
                set c [send_work $::command]
                $c close
                wait_for_works 0
                $::change
            }
            assert_equal [digest to] $stored
        }
    }
}
check "the command goes to the append-only file when it comes" {
    with_server {appendonly yes enable-debug-command yes aof-use-rdb-preamble no} {
        make_sets
        r SET to old EX 1000
        paused {
            set c [send_work {SUNIONSTORE to a b}]
            change_sets
        }
        $c read
        r SET expiring old PX 20
        paused {
            set c [send_work {SUNIONSTORE expiring a bb}]
            after 30
        }
        $c read
        paused {
            set c [send_work {SDIFFSTORE other a bb}]
            $c close
            wait_for_works 0
            r SADD bb 1 2 3
        }
        set before [list [r DEBUG DIGEST] [r PTTL to] [r SCARD to] [r EXISTS other expiring]]
        r DEBUG LOADAOF
        assert_equal [list [r DEBUG DIGEST] [r PTTL to] [r SCARD to] [r EXISTS other expiring]] $before
    }
}
check "a snapshot that begins meanwhile has the result" {
    make_sets
    r DEL to
    paused {
        set c [send_work {SUNIONSTORE to a b}]
        r SAVE
        $c read
        set digest [r DEBUG DIGEST]
        r DEBUG RELOAD NOSAVE
        assert_equal [r DEBUG DIGEST] $digest
    }
}
check "FLUSHALL, SWAPDB, RENAME and COPY meanwhile find the result" {
    foreach {request database key} {{SWAPDB 0 1} 1 to {RENAME to renamed} 0 renamed {COPY to copied REPLACE} 0 copied
            {COPY to to DB 2 REPLACE} 2 to {MOVE to 3} 3 to} {
        r FLUSHALL
        make_sets
        paused {
            set c [send_work {SINTERSTORE to a b}]
            r {*}$request
            set count [$c read]
        }
        r SELECT $database
        assert_equal [r SCARD $key] $count
        r SELECT 0
    }
    make_sets
    paused {
        set c [send_work {SINTERSTORE to a b}]
        r FLUSHALL
        assert {[$c read] > 0}
        r DBSIZE
    }
} 0
check "a client that watches the key runs no transaction, one that waits for it is served" {
    r FLUSHALL
    make_sets
    r WATCH to
    paused {
        set c [send_work {SUNIONSTORE to a b}]
        r MULTI
        r PING
        assert_equal [r EXEC] (nil)
    }
    $c read
    r DEL to
    set c [client_open]
    $c send BRPOPLPUSH from to 0
    wait_blocked 1
    paused {
        set stores [send_work {SUNIONSTORE to a b}]
        r RPUSH from x
        $stores read
    }
    error_of {$c read}
} "WRONGTYPE Operation against a key holding the wrong kind of value"
check "many clients that store under one key do so in their order" {
    r FLUSHALL
    make_sets
    set before [total_works]
    paused {
        set clients [lmap command {{SUNIONSTORE to a b} {SINTERSTORE to a b} {SDIFFSTORE to b a}} {
            set c [client_open]
            $c send {*}$command
            wait_until {[total_works] > $before}
            incr before
            set c
        }]
    }
    set replies [lmap c $clients {$c read}]
    list [expr {[r SCARD to] == [lindex $replies 2]}] [r SISMEMBER to 30001] [r SISMEMBER to 20000]
} {1 1 0}

finish
