# Keys that expire: EXPIRE PEXPIRE EXPIREAT PEXPIREAT, TTL PTTL EXPIRETIME PEXPIRETIME, PERSIST; and that no command
# shows an expired key. Active expiration is off here: expire_active.test.tcl tests it.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start
$current_server control DEBUG SET-ACTIVE-EXPIRE 0

# Lets keys expire, and waits until they have, without touching them.
proc let_expire {args} {
    foreach key $args {
        assert_equal [r PEXPIRE $key 1] 1
    }
    r DEBUG SLEEP 0.004
}

proc is_within {value low high} {
    return [expr {$value >= $low && $value <= $high}]
}

# --- Setting

foreach {command time} {EXPIRE 100 PEXPIRE 100000} {
    check "$command lets a key live for that long" [string map [list @ "$command k $time"] {
        r SET k v
        assert_equal [typed @] {int 1}
        assert {[is_within [r PTTL k] 90000 100000]}
        assert {[is_within [r TTL k] 90 100]}
        assert_equal [r GET k] v
        r @
    }] 1
}
foreach {command time} {EXPIREAT 33177117420 PEXPIREAT 33177117420000} {
    check "$command lets a key live until then" [string map [list @ "$command k $time"] {
        r RPUSH k v
        assert_equal [typed @] {int 1}
        list [r EXPIRETIME k] [r PEXPIRETIME k]
    }] {33177117420 33177117420000}
}
foreach command {EXPIRE PEXPIRE EXPIREAT PEXPIREAT} {
    set name [string tolower $command]
    check "$command of a missing key does nothing" "list \[r $command nosuch 100\] \[r EXISTS nosuch\]" {0 0}
    foreach time {0 -1 -9223372036854775} {
        check "$command with the time $time, which is past, deletes the key" [string map [list @ "$command k $time"] {
            r RPUSH k a b
            assert_equal [r @] 1
            list [r EXISTS k] [r DBSIZE]
        }] {0 0}
    }
    foreach time {abc 1.5 {""} 9223372036854775808} {
        check_error "$command refuses the time $time" "r SET k v; r $command k $time" \
            "ERR value is not an integer or out of range"
    }
    check_error "$command looks at the time before the key" "r $command nosuch x" \
        "ERR value is not an integer or out of range"
    check_error "$command looks at its options first" "r $command nosuch x FOO" "ERR Unsupported option FOO"
    check_error "$command knows no other option" "r SET k v; r $command k 10 nx bar" "ERR Unsupported option bar"
    foreach options {{NX XX} {NX GT} {lt nx} {NX XX GT LT}} {
        check_error "$command refuses $options together" "r $command k 10 $options" \
            "ERR NX and XX, GT or LT options at the same time are not compatible"
    }
    foreach options {{GT LT} {XX lt gt}} {
        check_error "$command refuses $options together" "r $command k 10 $options" \
            "ERR GT and LT options at the same time are not compatible"
    }
    check_error "$command needs a key and a time" "r $command k" \
        "ERR wrong number of arguments for '$name' command"
}
foreach {command time} {
    EXPIRE 9223372036854775807 EXPIRE 9223372036854775 EXPIRE -9223372036854775808 EXPIREAT 9223372036854776
    PEXPIRE 9223372036854775807
} {
    check_error "$command refuses the time $time, which does not fit" "r SET k v; r $command k $time" \
        "ERR invalid expire time in '[string tolower $command]' command"
}
check "the last millisecond that fits is taken" {
    r SET k v
    r PEXPIREAT k 9223372036854775807
    list [r PEXPIRETIME k] [r EXPIRETIME k] [r GET k]
} {9223372036854775807 9223372036854776 v}

foreach {options without earlier later} {
    {}      1 1 1
    NX      1 0 0
    XX      0 1 1
    GT      0 0 1
    LT      1 1 0
    {XX GT} 0 0 1
    {XX LT} 0 1 0
    {nx NX} 1 0 0
} {
    check "EXPIRE with the options {$options}" [string map [list @ $options] {
        r SET a v
        set answers [r EXPIRE a 100 @]
        foreach seconds {50 200} {
            r SET b v
            r EXPIRE b 100
            set answer [r EXPIRE b $seconds @]
            set expected [expr {$answer ? $seconds : 100}]
            assert {[is_within [r TTL b] [expr {$expected - 10}] $expected]}
            lappend answers $answer
        }
        set answers
    }] [list $without $earlier $later]
}
check "GT and LT refuse the same time again" {
    r SET k v
    r PEXPIREAT k 33177117420000
    list [r PEXPIREAT k 33177117420000 GT] [r PEXPIREAT k 33177117420000 LT]
} {0 0}
check "PEXPIRE LT with a past time deletes a key that never expires" {
    r SET k v
    list [r PEXPIRE k -1 LT] [r EXISTS k]
} {1 0}
check "PEXPIRE NX with a past time spares a key that expires" {
    r SET k v
    r EXPIRE k 100
    list [r PEXPIRE k -1 NX] [r EXISTS k]
} {0 1}

# --- Asking

foreach command {TTL PTTL EXPIRETIME PEXPIRETIME} {
    check "$command of a key that never expires, and of none" [string map [list @ $command] {
        r SET k v
        list [typed @ k] [typed @ nosuch]
    }] {{int -1} {int -2}}
    check_error "$command needs one key" "r $command a b" \
        "ERR wrong number of arguments for '[string tolower $command]' command"
}
foreach {ms seconds} {33177117420499 33177117420 33177117420500 33177117421 33177117420999 33177117421} {
    check "EXPIRETIME rounds $ms to the nearest second" [string map [list @ $ms] {
        r SET k v
        r PEXPIREAT k @
        r EXPIRETIME k
    }] $seconds
}
check "TTL rounds to the nearest second" {
    lindex [[default_client] pipeline {{SET k v} {PEXPIRE k 1900} {TTL k}}] end
} 2
check "asking for the time does not count as a use" {
    r SET k v
    r EXPIRE k 100
    with_config {maxmemory-policy allkeys-lfu lfu-decay-time 0} {
        r SET k2 v
        foreach command {TTL PTTL EXPIRETIME PEXPIRETIME} { r $command k2 }
        r OBJECT FREQ k2
    }
} 5

# --- Taking away

check "PERSIST takes the expiry away" {
    r SET k v
    r EXPIRE k 100
    list [typed PERSIST k] [r TTL k] [r PERSIST k] [r PERSIST nosuch] [r GET k]
} {{int 1} -1 0 0 v}
check_error "PERSIST needs one key" {r PERSIST} "ERR wrong number of arguments for 'persist' command"
check "SET takes the expiry away" {
    r SET k v
    r EXPIRE k 100
    r SET k w
    list [r TTL k] [info_field db0]
} {-1 keys=1,expires=0,avg_ttl=0,subexpiry=0}
check "changing a list keeps its expiry, even when its layout changes" {
    r RPUSH l a
    r PEXPIREAT l 33177117420000
    for {set i 0} {$i < 300} {incr i} { r RPUSH l [string repeat x 40] }
    assert_equal [r OBJECT ENCODING l] quicklist
    assert_equal [r PEXPIRETIME l] 33177117420000
    r LTRIM l 0 1
    list [r PEXPIRETIME l] [r LRANGE l 0 0] [info_field db0]
} {33177117420000 a keys=1,expires=1,*} -match glob
check "a list that is emptied forgets its expiry" {
    r RPUSH l a
    r EXPIRE l 100
    r LPOP l
    r RPUSH l b
    r TTL l
} -1
check "changes are counted" {
    r SET k v
    set before [info_field rdb_changes_since_last_save]
    r EXPIRE k 100
    r EXPIRE k 100 NX
    r PERSIST k
    r PERSIST k
    r EXPIRE k -1
    expr {[info_field rdb_changes_since_last_save] - $before}
} 3

# --- Gone at the right millisecond

check "a key is there to its last millisecond and gone after it" {
    r SET k v
    r PEXPIRE k 40
    set last [r PEXPIRETIME k]
    while {1} {
        lassign [[default_client] pipeline {{TIME} {EXISTS k} {TIME}}] before exists after
        set before_ms [time_ms $before]
        set after_ms [time_ms $after]
        if {$after_ms <= $last} {
            assert {$exists}
        } elseif {$before_ms > $last + 1} {
            break
        }
    }
    set exists
} 0

proc microseconds_of {time} {
    lassign $time seconds microseconds
    return [expr {$seconds * 1000000 + $microseconds}]
}

check "time goes on within a pipeline" {
    r SET k v
    set slow [lrepeat 10 [list DEBUG STRINGMATCH-LEN 1000000 *b]]
    set answers [[default_client] pipeline [list TIME {PEXPIRE k 2} {GET k} TIME {*}$slow {GET k}]]
    lassign $answers before _ first after
    # The two requests take less than 2 ms, unless the machine is busy.
    assert {$first eq "v" || [microseconds_of $after] - [microseconds_of $before] > 1000}
    lindex $answers end
} (nil)

# Each command on key k, a list that has expired, and its reply.
foreach {request reply} {
    {EXISTS k}              {int 0}
    {TYPE k}                {simple none}
    {DEL k}                 {int 0}
    {UNLINK k}              {int 0}
    {TTL k}                 {int -2}
    {PTTL k}                {int -2}
    {EXPIRETIME k}          {int -2}
    {PEXPIRETIME k}         {int -2}
    {PERSIST k}             {int 0}
    {EXPIRE k 100}          {int 0}
    {EXPIRE k 100 GT}       {int 0}
    {LLEN k}                {int 0}
    {LRANGE k 0 -1}         {array {}}
    {LPUSHX k a}            {int 0}
    {RPUSH k a}             {int 1}
    {LREM k 0 a}            {int 0}
    {LTRIM k 0 0}           {simple OK}
    {LSET k 0 x}            {error {ERR no such key}}
    {LINSERT k BEFORE a b}  {int 0}
    {KEYS *}                {array {}}
    {SCAN 0}                {array {{bulk 0} {array {}}}}
} {
    check "$request sees no expired key" [string map [list @ $request] {
        r RPUSH k a b c
        let_expire k
        typed @
    }] $reply
}
check "DEBUG OBJECT shows an expired key that is still there" {
    r RPUSH k a b c
    let_expire k
    r DEBUG OBJECT k
} "Value at:* encoding:listpack *" -match glob
foreach request {
    {GET k} {LPOP k} {LINDEX k 0} {LMOVE k other LEFT RIGHT} {OBJECT ENCODING k} {OBJECT FREQ k} {OBJECT IDLETIME k}
    {OBJECT REFCOUNT k} {MEMORY USAGE k} {RANDOMKEY} {LMPOP 1 k LEFT}
} {
    check "$request sees no expired key" [string map [list @ $request] {
        r RPUSH k a b c
        let_expire k
        r @
    }] (nil)
}
check "SET in place of an expired list makes a key that stays" {
    r RPUSH k a b
    let_expire k
    r SET k v
    list [r GET k] [r TTL k]
} {v -1}
check "RPUSH in place of an expired list begins a new one" {
    r RPUSH k a b
    let_expire k
    list [r RPUSH k c] [r LRANGE k 0 -1] [r TTL k]
} {1 c -1}
check "LMOVE, RENAME and COPY put their value in place of an expired one" {
    set expiring {}
    set lengths {}
    for {set i 0} {$i < 50} {incr i} { r RPUSH from$i a b; r RPUSH to$i x; lappend expiring to$i }
    let_expire {*}$expiring
    for {set i 0} {$i < 50} {incr i} {
        switch [expr {$i % 3}] {
            0 { assert_equal [r LMOVE from$i to$i LEFT RIGHT] a }
            1 { assert_equal [r RENAMENX from$i to$i] 1 }
            2 { assert_equal [r COPY from$i to$i] 1 }
        }
        lappend lengths [r LLEN to$i] [r TTL to$i] [r LLEN from$i]
    }
    lsort -unique [lmap {to ttl from} $lengths {list $to $ttl $from}]
} {{1 -1 1} {2 -1 0} {2 -1 2}}
check "BLPOP waits at an expired list" {
    r RPUSH k a
    let_expire k
    set c [client_blocked BLPOP k 0]
    r RPUSH k b
    $c read
} {k b}
check "a waiter is not served from a list that has expired meanwhile" {
    set c [client_blocked BLMOVE k other LEFT RIGHT 0]
    [default_client] pipeline {{RPUSH k a} {PEXPIRE k -1}}
    assert_equal [$c read] a
    set c [client_blocked BLPOP k 0]
    r RPUSH other2 x
    let_expire other2
    assert {[$c is_silent 50]}
    r RPUSH k z
    $c read
} {k z}
check "DBSIZE counts expired keys until somebody looks for them" {
    r SET a 1
    r SET b 1
    let_expire a b
    set before [r DBSIZE]
    r EXISTS a
    list $before [r DBSIZE]
} {2 1}
check "KEYS and SCAN show the others; SCAN removes what it meets" {
    r SET a 1
    r SET b 1
    r RPUSH c 1
    let_expire a
    assert_equal [lsort [r KEYS *]] {b c}
    assert_equal [r DBSIZE] 3
    lassign [r SCAN 0 COUNT 100] cursor keys
    list [lsort $keys] [r DBSIZE]
} {{b c} 2}
check "RANDOMKEY finds the one that lives" {
    set names {}
    for {set i 0} {$i < 200} {incr i} { r SET k$i 1; lappend names k$i }
    r SET living 1
    let_expire {*}$names
    list [r RANDOMKEY] [r RANDOMKEY]
} {living living}
check "expired keys are counted, as misses and not as changes" {
    r SET a 1
    r SET b 1
    let_expire a b
    r CONFIG RESETSTAT
    set changes [info_field rdb_changes_since_last_save]
    r GET a
    r EXISTS b
    list [info_field expired_keys] [info_field keyspace_misses] [info_field keyspace_hits] \
        [expr {[info_field rdb_changes_since_last_save] - $changes}]
} {2 2 0 0}
check "databases expire on their own" {
    r SET k 0
    r SELECT 3
    r SET k 3
    let_expire k
    assert_equal [r EXISTS k] 0
    r SELECT 0
    r GET k
} 0

# --- Stats

check "INFO keyspace shows how many keys expire and how long they live on average" {
    r SET a 1
    r SET b 1
    r SET c 1
    r PEXPIRE a 100000
    r PEXPIRE b 300000
    assert {[regexp {^keys=3,expires=2,avg_ttl=(\d+),subexpiry=0$} [info_field db0] _ ttl]}
    is_within $ttl 190000 200000
} 1
check "the average of many keys is a sample of them" {
    for {set i 0} {$i < 200} {incr i} {
        r SET k$i 1
        r PEXPIRE k$i 500000
    }
    assert {[regexp {^keys=200,expires=200,avg_ttl=(\d+),subexpiry=0$} \
        [info_field db0] _ ttl]}
    is_within $ttl 490000 500000
} 1
check "MEMORY USAGE counts the expiry" {
    r SET k [string repeat x 50]
    set before [r MEMORY USAGE k]
    r EXPIRE k 100
    r SET k2 [string repeat x 58]
    expr {[r MEMORY USAGE k] - $before in {0 16}}
} 1
check "FLUSHALL forgets what expires" {
    r SET k 1
    r EXPIRE k 100
    r FLUSHALL
    r SET k 1
    list [r TTL k] [info_field db0]
} {-1 keys=1,expires=0,avg_ttl=0,subexpiry=0}

finish
