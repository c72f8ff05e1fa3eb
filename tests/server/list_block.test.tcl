# BLPOP, BRPOP, BLMOVE, BRPOPLPUSH and BLMPOP: what they answer at once, when woken and when their time is up.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

# A blocking command on the key k (and the destination dst), % being its timeout; what it answers, and leaves of
# the list {a b c}.
set blocking_commands {
    {BLPOP k %}                        {k a}     {b c}
    {BRPOP k %}                        {k c}     {a b}
    {BLMOVE k dst LEFT LEFT %}         a         {b c}
    {BLMOVE k dst RIGHT RIGHT %}       c         {a b}
    {BRPOPLPUSH k dst %}               c         {a b}
    {BLMPOP % 1 k LEFT}                {k a}     {b c}
    {BLMPOP % 1 k RIGHT COUNT 2}       {k {c b}} a
}
proc with_timeout {command timeout} {
    return [lreplace $command [lsearch $command %] [lsearch $command %] $timeout]
}

# --- With an element at hand

foreach {command reply left} $blocking_commands {
    check_lists "$command takes from a list that is there at once" {
        make_list k {a b c}
        list [r {*}[with_timeout $command 0]] [list_of k]
    } [list $reply $left]
    check "$command of the last element deletes the key" {
        r RPUSH k a
        r {*}[with_timeout $command 0]
        r EXISTS k
    } 0
    check "$command waits for a push and leaves the rest" {
        set c [client_blocked {*}[with_timeout $command 0]]
        assert_equal [r RPUSH k a b c] 3
        list [$c read] [list_of k]
    } [list $reply $left]
    check_in 2 "$command returns a null array when its time is up, in RESP2" {
        typed {*}[with_timeout $command 0.01]
    } nilarray
    check_in 3 "$command returns null when its time is up, in RESP3" {
        typed {*}[with_timeout $command 0.01]
    } null
    check "$command refuses a key of another type at once and leaves it alone" {
        r SET k text
        assert_equal [error_of {r {*}[with_timeout $command 0]}] $wrong_type
        r GET k
    } text
    foreach {timeout error} {
        -1     "ERR timeout is negative"
        -0.5   "ERR timeout is negative"
        x      "ERR timeout is not a float or out of range"
        ""     "ERR timeout is not a float or out of range"
        1s     "ERR timeout is not a float or out of range"
        nan    "ERR timeout is not a float or out of range"
        " 1"   "ERR timeout is not a float or out of range"
        inf    "ERR timeout is out of range"
        1e400  "ERR timeout is out of range"
        9223372036854775808 "ERR timeout is out of range"
    } {
        check_error "$command refuses a timeout of '$timeout' though a list is there" {
            r RPUSH k a
            r {*}[with_timeout $command $timeout]
        } $error
    }
}
check "BLPOP and BRPOP return the key and the element" {
    r RPUSH k a 5
    list [typed BLPOP k 0] [typed BRPOP k 0]
} {{array {{bulk k} {bulk a}}} {array {{bulk k} {bulk 5}}}}
check "BLMPOP returns the key and an array of elements" {
    r RPUSH k a b c
    list [typed BLMPOP 0 1 k LEFT] [typed BLMPOP 0 1 k RIGHT COUNT 5]
} {{array {{bulk k} {array {{bulk a}}}}} {array {{bulk k} {array {{bulk c} {bulk b}}}}}}
check "BLMOVE and BRPOPLPUSH return the element" {
    r RPUSH k a b
    list [typed BLMOVE k dst LEFT RIGHT 0] [typed BRPOPLPUSH k dst 0] [list_of dst]
} {{bulk a} {bulk b} {b a}}
check "BLPOP takes from the first key that has a list" {
    r RPUSH two a b
    r RPUSH three c
    list [r BLPOP one two three 0] [r BRPOP four three two 0] [list_of two]
} {{two a} {three c} b}
check "BLMPOP takes from the first key that has a list" {
    r RPUSH two a b
    r RPUSH three c
    list [r BLMPOP 0 3 one two three LEFT COUNT 5] [r BLMPOP 0 3 one two three RIGHT COUNT 5]
} {{two {a b}} {three c}}
check "BLPOP does not look at keys behind the first list" {
    r RPUSH one a
    r SET two text
    r BLPOP one two 0
} {one a}
check_error "BLPOP refuses a key of another type before the first list" {
    r SET one text
    r RPUSH two a
    r BLPOP one two 0
} $wrong_type
foreach {from to result} {LEFT LEFT {a b c} LEFT RIGHT {b c a} RIGHT LEFT {c a b} RIGHT RIGHT {a b c}} {
    check_lists "BLMOVE $from $to within one list" {
        make_list k {a b c}
        list [r BLMOVE k k $from $to 0] [list_of k]
    } [list [expr {$from eq "LEFT" ? "a" : "c"}] $result]
    check "BLMOVE $from $to puts the element where it should when woken" {
        r RPUSH dst x y
        set c [client_blocked BLMOVE k dst $from $to 0]
        r RPUSH k a b c
        list [$c read] [list_of k] [list_of dst]
    } [expr {$from eq "LEFT" ? [list a {b c} [expr {$to eq "LEFT" ? "a x y" : "x y a"}]]
        : [list c {a b} [expr {$to eq "LEFT" ? "c x y" : "x y c"}]]}]
}
check "BLMOVE and BRPOPLPUSH refuse a destination of another type and move nothing" {
    r RPUSH k a b
    r SET dst text
    assert_equal [error_of {r BLMOVE k dst LEFT LEFT 0}] $wrong_type
    assert_equal [error_of {r BRPOPLPUSH k dst 0}] $wrong_type
    list [list_of k] [r GET dst]
} {{a b} text}
check "blocking commands know their words in any case" {
    r RPUSH k a b c d
    list [r blpop k 0] [r blmove k dst left Right 0] [r BLMpop 0 1 k rIGHT count 9]
} {{k a} b {k {d c}}}

# A transaction that pushes to k and lasts longer than the expiry of k.
proc push_and_outlive {} {
    foreach request {MULTI {RPUSH k a} {PEXPIRE k 20} {DEBUG SLEEP 0.05} EXEC} {
        set replies [r {*}$request]
    }
    return $replies
}
foreach command {
    {BLPOP k 0} {BRPOP k 0} {BLMOVE k dst LEFT LEFT 0} {BRPOPLPUSH k dst 0} {BLMPOP 0 1 k LEFT} {BLMPOP 0 2 j k RIGHT}
} {
    check "$command goes on waiting when the key expired during the transaction that pushed to it" {
        r DEBUG SET-ACTIVE-EXPIRE 0
        try {
            set c [client_blocked {*}$command]
            assert_equal [push_and_outlive] {1 1 OK}
            assert_equal [list [r EXISTS k dst] [info_field blocked_clients]] {0 1}
            r RPUSH k b
            assert {[regexp {(^| )b$} [$c read]]}
        } finally {
            r DEBUG SET-ACTIVE-EXPIRE 1
        }
    }
}

# --- Errors of the arguments

foreach {command arguments} {
    BLPOP {} BLPOP k BRPOP {} BRPOP k BLMOVE {} BLMOVE {k dst LEFT LEFT} BLMOVE {k dst LEFT LEFT 0 x}
    BRPOPLPUSH {} BRPOPLPUSH {k dst} BRPOPLPUSH {k dst 0 x} BLMPOP {} BLMPOP {0 1 k}
} {
    check_error "$command does not take {$arguments}" {r $command {*}$arguments} \
        "ERR wrong number of arguments for '[string tolower $command]' command"
}
foreach command {
    {BLMOVE k dst UP LEFT 0} {BLMOVE k dst LEFT DOWN 0} {BLMPOP 0 1 k UP} {BLMPOP 0 2 k LEFT} {BLMPOP 0 1 k j LEFT}
    {BLMPOP 0 1 k LEFT COUNT} {BLMPOP 0 1 k LEFT COUNT 1 COUNT 1} {BLMPOP 0 1 k LEFT LIMIT 1}
} {
    check_error "$command is a syntax error" {r {*}$command} "ERR syntax error"
}
foreach numkeys {0 -1 x} {
    check_error "BLMPOP refuses '$numkeys' as the number of keys" {r BLMPOP 0 $numkeys k LEFT} \
        "ERR numkeys should be greater than 0"
}
foreach count {0 -1 x} {
    check_error "BLMPOP refuses '$count' as COUNT" {r BLMPOP 0 1 k LEFT COUNT $count} \
        "ERR count should be greater than 0"
}

# --- Timeouts

foreach {timeout least_ms} {0.001 1 0.03 30 0.0505 50 5e-2 50 +0.02 20 .02 20 0.00001 0} {
    check "a timeout of $timeout ends after that time" {
        set took_ms [elapsed_ms {assert_equal [r BLPOP k $timeout] (nil)}]
        # The clocks of both sides are cut to milliseconds.
        assert {$took_ms >= $least_ms - 1}
    }
}
foreach timeout {0 0.0 00 -0} {
    check "a timeout of $timeout never ends" {
        set c [client_blocked BLPOP k $timeout]
        assert {[$c is_silent 20]}
        r RPUSH k a
        $c read
    } {k a}
}
check "timeouts end in their own order" {
    set slow [client_blocked BLPOP k 100000]
    set late [client_open]
    set soon [client_open]
    # The slow log has them in the order in which they ended.
    r SLOWLOG RESET
    with_config {slowlog-log-slower-than 0} {
        # The server reads both requests in one iteration of its loop.
        at_once {
            $late send BLPOP k 1
            $soon send BLMOVE k dst LEFT LEFT 0.05
        }
        assert_equal [list [$late read] [$soon read]] {(nil) (nil)}
    }
    set ended [lmap entry [lreverse [r SLOWLOG GET -1]] {lindex $entry 3 0}]
    assert {[lsearch $ended BLMOVE] >= 0 && [lsearch $ended BLMOVE] < [lsearch $ended BLPOP]}
    wait_blocked 1
    r RPUSH k a
    $slow read
} {k a}
check "an element pushed after the time is up stays in the list" {
    assert_equal [r BLPOP k j 0.01] (nil)
    wait_blocked 0
    r RPUSH k a
    r RPUSH j b
    list [list_of k] [list_of j]
} {a b}
check "a client that was woken can wait again" {
    set c [client_blocked BLPOP k 0]
    foreach element {a b c} {
        r RPUSH k $element
        assert_equal [$c read] "k $element"
        assert_equal [$c call BLPOP k 0.005] (nil)
        $c send BLPOP k 0
        wait_blocked 1
    }
}

# --- Ways in which a list appears

foreach way {
    {LPUSH k x} {RPUSH k x} {LPUSH k x x x} {RPOPLPUSH src k} {LMOVE src k LEFT RIGHT} {LMOVE src k RIGHT LEFT}
    {BLMOVE src k LEFT LEFT 0} {BRPOPLPUSH src k 0}
} {
    check "a waiting client is woken by $way" {
        r RPUSH src x
        set c [client_blocked BLPOP k 0]
        r {*}$way
        $c read
    } {k x}
    check "a waiting BLMOVE is woken by $way" {
        r RPUSH src x
        set c [client_blocked BLMOVE k dst LEFT LEFT 0]
        r {*}$way
        list [$c read] [list_of dst]
    } {x x}
}
check "a command that makes no list wakes no client" {
    set c [client_blocked BLPOP k 0]
    r LPUSHX k a
    r RPUSHX k a
    r LINSERT k BEFORE a b
    r LREM k 0 a
    r LTRIM k 0 1
    r RPOPLPUSH nosuch k
    r DEL k
    r RPUSH other a
    r FLUSHDB
    r SET k text
    r DEL k
    assert {[$c is_silent 30]}
    r RPUSH k z
    $c read
} {k z}
check "a waiting client sees the list as the whole command leaves it" {
    set left [client_blocked BLPOP k 0]
    r LPUSH k a b c
    set right [client_blocked BRPOP j 0]
    r LPUSH j a b c
    list [$left read] [list_of k] [$right read] [list_of j]
} {{k c} {b a} {j a} {c b}}
check "the push returns the length before the waiting client takes its part" {
    client_blocked BLPOP k 0
    list [r RPUSH k a] [r EXISTS k]
} {1 0}
check "a waiting client is served before the next command of a pipeline" {
    set c [client_blocked BLPOP k 0]
    set replies [[default_client] pipeline {{RPUSH k a} {DEL k} {RPUSH k b} {LLEN k}}]
    list $replies [$c read]
} {{1 0 1 1} {k a}}
check "a key that becomes something else first is waited for on" {
    set c [client_blocked BLPOP k 0]
    r SET k text
    assert_equal [error_of {r RPUSH k a}] $wrong_type
    r DEL k
    r RPUSH k b
    $c read
} {k b}
check "a waiting BLMOVE gets an error when the destination is of another type, and moves nothing" {
    r SET dst text
    set move [client_blocked BLMOVE k dst LEFT LEFT 0]
    set push [client_blocked BRPOPLPUSH k dst 0]
    r RPUSH k a b
    assert_equal [error_of {$move read}] $wrong_type
    assert_equal [error_of {$push read}] $wrong_type
    list [list_of k] [r GET dst]
} {{a b} text}
check "behind a BLMOVE with a destination of another type the next one is served" {
    r SET dst text
    set move [client_blocked BLMOVE k dst LEFT LEFT 0]
    set pop [client_blocked BLPOP k 0]
    r RPUSH k a
    assert_equal [error_of {$move read}] $wrong_type
    $pop read
} {k a}
check "a client that waits in another database is not woken" {
    set c [client_open]
    $c call SELECT 1
    $c send BLPOP k 0
    wait_blocked 1
    r RPUSH k zero
    assert {[$c is_silent 30]}
    r SELECT 1
    r RPUSH k one
    assert_equal [$c read] {k one}
    r SELECT 0
    list_of k
} zero
check "a BLMOVE moves within its own database" {
    set c [client_open]
    $c call SELECT 3
    $c send BLMOVE k dst LEFT LEFT 0
    wait_blocked 1
    r SELECT 3
    r RPUSH k a
    assert_equal [$c read] a
    assert_equal [list_of dst] a
    r SELECT 0
    r EXISTS k dst
} 0
check "elements of any size and byte reach a waiting client" {
    foreach element [list "" "\x00\r\n\xff" 12345 [string repeat x 100000] [string repeat y 3000000]] {
        set c [client_blocked BLPOP k 0]
        r RPUSH k $element
        assert {[$c read] eq [list k $element]}
        set c [client_blocked BLMOVE k dst LEFT RIGHT 0]
        r RPUSH k $element
        assert {[$c read] eq $element && [r LINDEX dst -1] eq $element}
    }
}
check "keys of any length and byte are waited for" {
    foreach key [list "" "\x00\r\n\xff" [string repeat k 100] [string repeat k 100000]] {
        set c [client_blocked BLPOP $key 0]
        r RPUSH $key a
        assert {[$c read] eq [list $key a]}
    }
}

# --- Memory

# A client that waits for `count` keys with long names of its own, which waits already.
proc client_of_long_keys {number count} {
    set keys {}
    for {set i 0} {$i < $count} {incr i} {
        lappend keys [string repeat x 9000]:$number:$i
    }
    set c [client_open 2]
    $c call CLIENT SETNAME long$number
    $c send BLPOP {*}$keys 0
    return $c
}

check_in 2 "what a blocked client waits with is counted, and the name of a key is kept once" {
    set before [info_field used_memory]
    for {set i 0} {$i < 8} {incr i} {
        client_of_long_keys $i 200
    }
    wait_blocked 8
    set names [expr {8 * 200 * 9000}]
    set grown [expr {[info_field used_memory] - $before}]
    assert {$grown > $names && $grown < 1.3 * $names}
    set total 0
    foreach line [split [r CLIENT LIST] \n] {
        if {[regexp { name=long.* argv-mem=(\d+) .* tot-mem=(\d+) } $line _ arguments all]} {
            assert {$arguments > $names / 8 && $arguments < $all}
            incr total $all
        }
    }
    assert {$total > $names && $total < 1.1 * $grown}
    assert {[info_field mem_clients_normal] >= $total}
    close_connections
    wait_until {[info_field used_memory] - $before < 1000000 + $spare_blocks}
}
check_in 2 "maxmemory-clients holds for what blocked clients wait with" {
    set before [info_field evicted_clients]
    with_config {maxmemory-clients 20mb} {
        for {set i 0} {$i < 30} {incr i} {
            client_of_long_keys $i 200
        }
        wait_until {[info_field evicted_clients] - $before + [info_field blocked_clients] == 30}
        assert {[info_field blocked_clients] in {9 10 11}}
    }
}
check "a client that waits for a key of a long name, twice, is served it" {
    set name [string repeat long 5000]
    set c [client_blocked BLPOP $name a $name 0]
    r RPUSH $name x
    assert_equal [$c read] [list $name x]
    set c [client_blocked BLMPOP 0 2 a $name LEFT COUNT 2]
    r RPUSH $name x y z
    assert_equal [$c read] [list $name {x y}]
    set c [client_blocked BLMOVE a $name RIGHT LEFT 0]
    r RPUSH a w
    assert_equal [$c read] w
    r LRANGE $name 0 -1
} {w z}

finish
