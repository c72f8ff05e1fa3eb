# Keys with values of any type: DEL UNLINK EXISTS TYPE KEYS SCAN DBSIZE RANDOMKEY FLUSHDB FLUSHALL, and the
# databases that keep them apart.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# Makes keys <prefix><from> … <prefix><to - 1>, every other one a list.
proc make_keys {prefix from to} {
    set requests {}
    for {set i $from} {$i < $to} {incr i} {
        lappend requests [expr {$i % 2 ? [list SET $prefix$i $i] : [list RPUSH $prefix$i $i]}]
    }
    [default_client] pipeline $requests
}

proc remove_keys {prefix from to} {
    set requests {}
    for {set i $from} {$i < $to} {incr i} {
        lappend requests [list DEL $prefix$i]
    }
    [default_client] pipeline $requests
}

# Returns each key of a whole scan, as often as SCAN returned it. `between` runs after each step.
proc scan_all {options {between {}}} {
    set keys {}
    set cursor 0
    while {1} {
        lassign [r SCAN $cursor {*}$options] cursor part
        lappend keys {*}$part
        if {$cursor == 0} {
            return $keys
        }
        uplevel 1 $between
    }
}

# --- DEL, UNLINK, EXISTS, TYPE

foreach command {DEL UNLINK} {
    check "$command counts the keys that it removed, each once" [string map [list @ $command] {
        r SET a 1
        r RPUSH b 1 2
        assert_equal [typed @ a nosuch b a] {int 2}
        list [r EXISTS a b] [r DBSIZE] [r @ a]
    }] {0 0 0}
    check "$command removes values of any size" [string map [list @ $command] {
        r SET empty ""
        r SET big [string repeat x 3000000]
        r RPUSH long {*}[lrepeat 20000 element]
        r RPUSH wide [string repeat x 100000] [string repeat y 100000]
        assert_equal [r @ empty big long wide] 4
        r DBSIZE
    }] 0
    check_error "$command needs a key" "r $command" \
        "ERR wrong number of arguments for '[string tolower $command]' command"
    check "$command takes thousands of keys" [string map [list @ $command] {
        make_keys k 0 3000
        set names {}
        for {set i 0} {$i < 3000} {incr i 2} {
            lappend names k$i
        }
        list [r @ {*}$names] [r DBSIZE] [r EXISTS k1] [r EXISTS k2]
    }] {1500 1500 1 0}
    check "$command wakes no client that waits for the key" [string map [list @ $command] {
        set waiting [client_blocked BLPOP k 0]
        r SET k x
        r @ k
        r RPUSH k element
        $waiting read
    }] {k element}
}

# So many keys that commands load the entries of several ahead of time.
check "commands with many keys find each of 10,000, and none that is missing" {
    r DEBUG POPULATE 10000 k
    foreach count {1 2 15 16 17 31 32 33 100} {
        set names {}
        set values {}
        set pairs {}
        for {set i 0} {$i < $count} {incr i} {
            set at [expr {7919 * ($i + 1) % 10000}]
            lappend names k:$at missing:$i
            lappend values value:$at (nil)
            lappend pairs k:$at value:$at
        }
        assert_equal [r MGET {*}$names] $values
        assert_equal [r EXISTS {*}$names] $count
        assert_equal [r TOUCH {*}$names] $count
        assert_equal [r MSET {*}$pairs] OK
        assert_equal [r MGET {*}[dict keys $pairs]] [dict values $pairs]
        assert_equal [r DEL {*}$names] $count
        assert_equal [r MSETNX {*}$pairs] 1
        assert_equal [r UNLINK {*}$names] $count
        assert_equal [r MSET {*}$pairs] OK
    }
    r DBSIZE
} 10000

check "EXISTS counts a key as often as it is named" {
    r SET a 1
    r RPUSH b 1
    list [typed EXISTS a] [r EXISTS nosuch] [r EXISTS a b nosuch a a]
} {{int 1} 0 4}
check_error "EXISTS needs a key" {r EXISTS} "ERR wrong number of arguments for 'exists' command"

check "TYPE names the type as a simple string" {
    r SET s 1
    r RPUSH l 1
    list [typed TYPE s] [typed TYPE l] [typed TYPE nosuch]
} {{simple string} {simple list} {simple none}}
check_error "TYPE takes one key" {r TYPE a b} "ERR wrong number of arguments for 'type' command"
check "a list that became empty is no key any more" {
    r RPUSH l a
    r LPOP l
    list [r TYPE l] [r EXISTS l] [r DBSIZE] [r SCAN 0]
} {none 0 0 {0 {}}}

check "keys are bytes: empty ones, zeros, line ends, any length" {
    set names [list "" "\x00" "a\x00b" "a\r\nb" " " "\xff\xfe" "*" {[x]}]
    foreach length {7 8 31 32 33 255 256 257 65535 65536 200000} {
        lappend names [string repeat k $length]
    }
    foreach name $names {
        r SET $name "value of [string length $name]"
    }
    foreach name $names {
        assert_equal [r GET $name] "value of [string length $name]"
    }
    assert_equal [r DBSIZE] [llength $names]
    assert {[lsort [r KEYS *]] eq [lsort $names]}
    assert {[lsort -unique [scan_all {}]] eq [lsort $names]}
    r DEL {*}$names
    r DBSIZE
} 0
check "names that only differ in their case or end are different keys" {
    r SET key 1
    r SET Key 2
    r SET "key " 3
    r SET "key\x00" 4
    list [r GET key] [r GET Key] [r GET "key "] [r GET "key\x00"] [r DBSIZE]
} {1 2 3 4 4}

# --- KEYS

check "KEYS matches glob patterns" {
    foreach name {hello hallo hxllo hbllo hllo heeeello world} {
        r SET $name 1
    }
    foreach {pattern expected} {
        h?llo {hallo hbllo hello hxllo}
        h*llo {hallo hbllo heeeello hello hllo hxllo}
        {h[ae]llo} {hallo hello}
        {h[^e]llo} {hallo hbllo hxllo}
        {h[a-b]llo} {hallo hbllo}
        {[hw]*} {hallo hbllo heeeello hello hllo hxllo world}
        hello hello
        HELLO {}
        *o {hallo hbllo heeeello hello hllo hxllo}
        ????? {hallo hbllo hello hxllo world}
        "" {}
    } {
        assert_equal [lsort [r KEYS $pattern]] $expected
    }
}
check "KEYS takes a backslash for the sign itself" {
    r SET a*b 1
    r SET axb 1
    r SET {a[b]c} 1
    list [r KEYS {a\*b}] [r KEYS {a\[b\]c}] [lsort [r KEYS a*b]]
} [list a*b {{a[b]c}} {a*b axb}]
check "KEYS * returns every key once" {
    make_keys k 0 5000
    set keys [r KEYS *]
    list [llength $keys] [llength [lsort -unique $keys]]
} {5000 5000}
check "KEYS of an empty database is an empty array" {typed KEYS *} {array {}}
check_error "KEYS takes one pattern" {r KEYS a b} "ERR wrong number of arguments for 'keys' command"

# --- SCAN

check "SCAN answers a cursor as a bulk string and an array of keys" {
    r SET k 1
    typed SCAN 0
} {array {{bulk 0} {array {{bulk k}}}}}
check "SCAN of an empty database is over at once" {r SCAN 0} {0 {}}
check "SCAN finds every key" {
    make_keys k 0 3000
    foreach options {{} {COUNT 1} {COUNT 7} {COUNT 1000} {COUNT 100000}} {
        assert_equal [llength [lsort -unique [scan_all $options]]] 3000
    }
}
check "SCAN goes on in small steps" {
    make_keys k 0 1000
    lassign [r SCAN 0 COUNT 10] cursor keys
    assert {$cursor != 0}
    expr {[llength $keys] >= 1 && [llength $keys] < 200}
} 1
check "SCAN COUNT greater than the database returns all at once" {
    make_keys k 0 100
    lassign [r SCAN 0 COUNT 10000] cursor keys
    list $cursor [llength [lsort -unique $keys]]
} {0 100}
check "one call of SCAN visits some thousand keys, whatever COUNT says; in a script all" {
    make_keys k 0 20000
    lassign [r SCAN 0 COUNT 1000000] cursor keys
    assert {$cursor != 0 && [llength $keys] >= 8192 && [llength $keys] < 9000}
    assert_equal [llength [lsort -unique [scan_all {COUNT 1000000}]]] 20000
    assert {[lindex [r SCAN 0 COUNT 1000000 MATCH nosuch*] 0] != 0}
    set in_script [r EVAL {return redis.call('SCAN', 0, 'COUNT', 1000000)} 0]
    r MULTI
    r SCAN 0 COUNT 1000000
    set in_transaction [lindex [r EXEC] 0]
    list [lindex $in_script 0] [llength [lindex $in_script 1]] \
        [lindex $in_transaction 0] [llength [lindex $in_transaction 1]]
} {0 20000 0 20000}
check "one call of SCAN deletes some hundred expired keys, whatever COUNT says" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    for {set i 0} {$i < 3000} {incr i} {r SET k$i 1 PX 1}
    after 5
    lassign [r SCAN 0 COUNT 1000000] cursor keys
    set left [r DBSIZE]
    r DEBUG SET-ACTIVE-EXPIRE 1
    assert {$cursor != 0 && $keys eq "" && $left > 1900 && $left < 2200}
}
check "SCAN MATCH shows only what matches" {
    make_keys k 0 500
    make_keys other: 0 50
    list [llength [lsort -unique [scan_all {MATCH other:*}]]] [llength [scan_all {match nosuch*}]] \
        [lsort -unique [scan_all {MATCH k49[89]}]]
} {50 0 {k498 k499}}
check "SCAN TYPE shows only values of the type" {
    make_keys k 0 500
    list [llength [lsort -unique [scan_all {TYPE list}]]] [llength [lsort -unique [scan_all {type STRING}]]] \
        [llength [scan_all {TYPE hash}]]
} {250 250 0}
check "SCAN combines its options, the last of each counts" {
    make_keys k 0 300
    lsort [lsort -unique [scan_all {COUNT 3 TYPE list MATCH x* COUNT 50 MATCH k1?}]]
} {k10 k12 k14 k16 k18}
check "SCAN returns every key that was there throughout while others come and go" {
    make_keys stay: 0 1000
    set step 0
    set keys [scan_all {COUNT 20} {
        make_keys go: [expr {$step * 40}] [expr {$step * 40 + 40}]
        if {$step % 3 == 2} {
            remove_keys go: [expr {$step * 40 - 60}] [expr {$step * 40}]
        }
        incr step
    }]
    assert {$step > 10}
    llength [lsearch -all -inline -glob [lsort -unique $keys] stay:*]
} 1000
check "SCAN returns every key that was there throughout while the table grows tenfold" {
    make_keys stay: 0 300
    set step 0
    set keys [scan_all {COUNT 10} {
        if {$step < 15} {
            make_keys go: [expr {$step * 200}] [expr {$step * 200 + 200}]
        }
        incr step
    }]
    llength [lsearch -all -inline -glob [lsort -unique $keys] stay:*]
} 300
check "SCAN returns every key that was there throughout while the table shrinks" {
    make_keys stay: 0 300
    make_keys go: 0 4000
    set step 0
    set keys [scan_all {COUNT 50} {
        remove_keys go: [expr {$step * 250}] [expr {$step * 250 + 250}]
        incr step
    }]
    llength [lsearch -all -inline -glob [lsort -unique $keys] stay:*]
} 300
check "SCAN ends although keys keep coming" {
    make_keys k 0 100
    set step 0
    scan_all {COUNT 10} {
        make_keys more: [expr {$step * 5}] [expr {$step * 5 + 5}]
        assert {[incr step] < 2000}
    }
}
check "SCAN takes any cursor without harm" {
    make_keys k 0 200
    foreach cursor {1 2 3 17 255 4095 4294967296 9223372036854775807 18446744073709551615} {
        lassign [r SCAN $cursor] next keys
        assert {[string is digit -strict $next]}
    }
    llength [lsort -unique [scan_all {}]]
} 200
check "SCAN refuses what is no cursor" {
    foreach cursor {abc -1 "" 1.5 18446744073709551616 "1 "} {
        assert_equal [error_of {r SCAN $cursor}] "ERR invalid cursor"
    }
}
check "SCAN refuses bad options" {
    foreach {arguments expected} {
        {COUNT 0} "ERR syntax error"
        {COUNT -5} "ERR syntax error"
        {COUNT abc} "ERR value is not an integer or out of range"
        {COUNT} "ERR syntax error"
        {MATCH} "ERR syntax error"
        {TYPE} "ERR syntax error"
        {NOSUCH x} "ERR syntax error"
        {MATCH a COUNT} "ERR syntax error"
    } {
        assert_equal [error_of {r SCAN 0 {*}$arguments}] $expected
    }
}
check_error "SCAN needs a cursor" {r SCAN} "ERR wrong number of arguments for 'scan' command"

# --- DBSIZE, RANDOMKEY

check "DBSIZE counts the keys of the database" {
    assert_equal [typed DBSIZE] {int 0}
    make_keys k 0 100
    r SET k1 again
    r DEL k2 k4
    r SELECT 1
    set other [r DBSIZE]
    r SELECT 0
    list $other [r DBSIZE]
} {0 98}
check_error "DBSIZE takes no argument" {r DBSIZE x} "ERR wrong number of arguments for 'dbsize' command"

check_in 2 "RANDOMKEY of an empty database is null in RESP2" {typed RANDOMKEY} nil
check_in 3 "RANDOMKEY of an empty database is null in RESP3" {typed RANDOMKEY} null
check "RANDOMKEY returns the only key" {
    r RPUSH only 1
    typed RANDOMKEY
} {bulk only}
check "RANDOMKEY returns each of some keys, all about as often" {
    make_keys k 0 10
    foreach key [[default_client] pipeline [lrepeat 3000 RANDOMKEY]] {
        incr times($key)
    }
    set counts [lmap {_ count} [array get times] {set count}]
    unset times
    assert_equal [llength $counts] 10
    assert {[tcl::mathfunc::min {*}$counts] > 60}
}
check "RANDOMKEY finds the keys that are left of many" {
    make_keys k 0 3000
    remove_keys k 0 2998
    set keys [[default_client] pipeline [lrepeat 50 RANDOMKEY]]
    lsort -unique $keys
} {k2998 k2999}

# --- Databases

check "FLUSHDB empties the selected database, FLUSHALL all of them" {
    foreach database {0 1 15} {
        r SELECT $database
        make_keys k 0 20
    }
    assert_equal [typed FLUSHDB] {simple OK}
    assert_equal [r DBSIZE] 0
    r SELECT 1
    assert_equal [r DBSIZE] 20
    assert_equal [typed FLUSHALL] {simple OK}
    lmap database {0 1 15} {
        r SELECT $database
        r DBSIZE
    }
} {0 0 0}
foreach command {FLUSHDB FLUSHALL} {
    check "$command takes SYNC or ASYNC and nothing else" [string map [list @ $command] {
        foreach mode {SYNC async} {
            make_keys k 0 1000
            assert_equal [r @ $mode] OK
            assert_equal [r DBSIZE] 0
        }
        r SET k 1
        foreach arguments {nosuch {SYNC ASYNC} {SYNC x}} {
            assert_equal [error_of {r @ {*}$arguments}] "ERR syntax error"
        }
        r DBSIZE
    }] 1
    check "after $command everything can be used as before" [string map [list @ $command] {
        make_keys k 0 2000
        r @
        make_keys k 0 50
        list [r DBSIZE] [llength [lsort -unique [scan_all {}]]] [r LRANGE k2 0 -1] [r GET k3]
    }] {50 50 2 3}
    check "$command gives memory back" [string map [list @ $command] {
        set before [info_field used_memory]
        make_keys k 0 5000
        r RPUSH big {*}[lrepeat 300 [string repeat x 10000]]
        [default_client] close
        set ::default_client ""
        assert {[info_field used_memory] - $before > 3000000}
        r @ SYNC
        wait_until {[info_field used_memory] - $before < 500000 + $spare_blocks}
    }]
}
check "clients that wait go on waiting after FLUSHALL" {
    set waiting [client_blocked BLPOP k 0]
    r RPUSH other x
    r FLUSHALL
    assert {[$waiting is_silent 20]}
    r RPUSH k element
    $waiting read
} {k element}

check "every database has keys of its own" {
    for {set i 0} {$i < 16} {incr i} {
        r SELECT $i
        r SET key "of $i"
        r RPUSH list $i
    }
    for {set i 0} {$i < 16} {incr i} {
        r SELECT $i
        assert_equal [r GET key] "of $i"
        assert_equal [r LRANGE list 0 -1] $i
        assert_equal [lsort [r KEYS *]] {key list}
    }
    r SELECT 7
    r DEL key
    r SELECT 8
    r EXISTS key
} 1
check "a new connection begins in database 0, whatever others selected" {
    r SELECT 3
    r SET k three
    [client_open] call GET k
} (nil)
check "a push in one database wakes no client that waits in another" {
    set c [client_open]
    $c call SELECT 1
    $c send BLPOP k 0
    wait_blocked 1
    r RPUSH k zero
    assert {[$c is_silent 20]}
    r SELECT 1
    r RPUSH k one
    $c read
} {k one}
check "the number of databases is configured" {
    with_server {databases 3} {
        r SELECT 2
        error_of {r SELECT 3}
    }
} "ERR DB index is out of range"

finish
