# WATCH, UNWATCH: a transaction is run only if the watched keys have not changed.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-debug-command yes}

# Watches keys, has another connection run commands, and returns what EXEC does.
proc exec_after {keys args} {
    r WATCH {*}$keys
    set other [client_open]
    foreach command $args {
        $other call {*}$command
    }
    $other close
    return [exec_result]
}

# "run" or "refused", by the type of EXEC's reply.
proc exec_result {} {
    assert_equal [r MULTI] OK
    r PING
    set reply [typed EXEC]
    if {$reply eq {array {{simple PONG}}}} {
        return run
    }
    assert_equal $reply [expr {$::protocol == 2 ? "nilarray" : "null"}]
    return refused
}

# --- The answer

check_in 2 "EXEC is a null array when a key has changed (RESP2)" {
    r WATCH a
    r SET a 1
    r MULTI
    typed EXEC
} nilarray
check_in 3 "EXEC is null when a key has changed (RESP3)" {
    r WATCH a
    r SET a 1
    r MULTI
    typed EXEC
} null
check "nothing is run then, and the next transaction is" {
    r WATCH a
    r SET a 1
    r MULTI
    r SET a 2
    r EXEC
    list [r GET a] [exec_result]
} {1 run}
check "a change between MULTI and EXEC counts" {
    r WATCH a
    r MULTI
    r SET a mine
    [client_open] call SET a other
    list [r EXEC] [r GET a]
} {(nil) other}
check "an own change counts, one of the transaction itself does not" {
    r WATCH a
    r MULTI
    r SET a 1
    r SET a 2
    r EXEC
} {OK OK}
check "an error while queueing comes before a changed key" {
    r WATCH a
    r SET a 1
    r MULTI
    catch {r FOO}
    error_of {r EXEC}
} "EXECABORT Transaction discarded because of previous errors."
check "WATCH in MULTI is an error that does not spoil the transaction" {
    r MULTI
    assert_equal [error_of {r WATCH a}] "ERR WATCH inside MULTI is not allowed"
    r EXEC
} {}
check "any of several keys counts" {
    list [exec_after {a b c} {SET c 1}] [exec_after {a b c} {SET d 1}] [exec_after {a b c} {SET a 1}]
} {refused run refused}
check "a key may be watched twice, by the same and by several" {
    set other [client_open]
    r WATCH a a b
    r WATCH a
    $other call WATCH a
    assert_equal [list [info_field watching_clients] [info_field total_watched_keys]] {2 2}
    [client_open] call SET a 1
    assert_equal [list [info_field watching_clients] [info_field total_watched_keys]] {0 0}
    $other call MULTI
    list [exec_result] [$other call EXEC]
} {refused (nil)}

# --- What ends it

check "UNWATCH forgets the keys, changed ones too" {
    r WATCH a
    r SET a 1
    assert_equal [r UNWATCH] OK
    exec_result
} run
check "UNWATCH without WATCH is OK" {r UNWATCH} OK
check "UNWATCH in a transaction is queued, and too late" {
    r WATCH a
    r SET a 1
    r MULTI
    assert_equal [r UNWATCH] QUEUED
    r EXEC
} (nil)
check "DISCARD, EXEC and RESET forget the keys" {
    set results {}
    foreach command {DISCARD EXEC RESET} {
        r WATCH a
        r SET a $command
        r MULTI
        r $command
        lappend results [info_field watching_clients]
        if {$command eq "RESET" && $protocol == 3} {
            r HELLO 3
        }
        lappend results [exec_result]
    }
    set results
} {0 run 0 run 0 run}
check "a connection that closes forgets them" {
    set c [client_open]
    $c call WATCH a b
    assert_equal [info_field total_watched_keys] 2
    $c close
    wait_until {[info_field watching_clients] == 0}
    info_field total_watched_keys
} 0

# --- What is a change

check "writes to lists are" {
    set results {}
    foreach command {{RPUSH l x} {LPUSHX l x} {LPOP l} {RPOP l 1} {LSET l 0 a} {LTRIM l 0 -1} {LREM l 0 a}
                     {LINSERT l BEFORE a x} {LMOVE l l LEFT RIGHT} {RPOPLPUSH l m} {LMPOP 1 l LEFT} {DEL l} {UNLINK l}
                     {LMOVE other l LEFT LEFT} {BLPOP l 0} {LMOVEM l m LEFT RIGHT COUNT 2 OBO}
                     {LMOVEM other l LEFT LEFT}
                     {LMOVEM l l LEFT RIGHT} {BLMOVEM other l LEFT RIGHT 0 EXACTLY 1 OBO} {RPUSHBOUND l 1 x}
                     {LPUSHBOUND l 2 REJECT x}} {
        r DEL l other
        r RPUSH l a
        r RPUSH other a
        lappend results [exec_after l $command]
    }
    lsort -unique $results
} refused
check "reads, and writes that change nothing, are not" {
    set results {}
    foreach command {{LRANGE l 0 -1} {LLEN l} {LREM l 0 missing} {LINSERT l BEFORE missing x} {LPOP l 0} {LPUSHX none x}
                     {DEL none} {OBJECT ENCODING l} {TYPE l} {EXISTS l} {PERSIST l} {RPUSH L x} {LPOS l a}
                     {LMOVEM l m LEFT LEFT EXACTLY 9 OBO} {RPUSHBOUND l 1 REJECT x}} {
        r DEL l
        r RPUSH l a
        lappend results [exec_after l $command]
    }
    lsort -unique $results
} run
check "writes to strings are" {
    set results {}
    foreach command {{SET s 1} {APPEND s x} {INCR s} {GETSET s 2} {GETDEL s} {SETRANGE s 0 x} {SETBIT s 1 1} {MSET s 1}
                     {GETEX s EX 100} {SETEX s 100 x} {EXPIRE s 100} {EXPIRE s -1}} {
        r SET s 1
        lappend results [exec_after s $command]
    }
    lsort -unique $results
} refused
check "taking an expiry away is" {
    r SET s 1 EX 100
    exec_after s {PERSIST s}
} refused
check "a key that comes into being is, and one that comes and goes" {
    list [exec_after a {SET a 1}] [exec_after b {SET b 1} {DEL b}]
} {refused refused}
check "an element that a waiting client takes is" {
    set waiting [client_blocked BLPOP l 0]
    r WATCH l
    [client_open] call RPUSH l a
    assert_equal [$waiting read] {l a}
    exec_result
} refused
check "an element that a waiting client gets moved is" {
    set waiting [client_blocked BLMOVE source l LEFT LEFT 0]
    r WATCH l
    [client_open] call RPUSH source a
    assert_equal [$waiting read] a
    exec_result
} refused
check "a transaction of another client is" {
    exec_after a MULTI {SET a 1} EXEC
} refused
check "the same name in another database is not" {
    exec_after a {SELECT 1} {SET a 1}
} run
check "keys of several databases" {
    r SELECT 1
    r WATCH a
    r SELECT 0
    r WATCH b
    [client_open] pipeline {{SELECT 1} {SET a 1}}
    exec_result
} refused

# --- Whole databases

check "FLUSHALL and FLUSHDB change keys that exist" {
    r SET a 1
    set results [exec_after a FLUSHALL]
    r SET a 1
    lappend results [exec_after a FLUSHDB]
} {refused refused}
check "they do not change keys that are missing" {
    list [exec_after a FLUSHALL] [exec_after a FLUSHDB]
} {run run}
check "FLUSHDB of another database changes nothing" {
    r SET a 1
    exec_after a {SELECT 1} FLUSHDB
} run
check "SWAPDB changes keys that are in either of the two" {
    r SET a 1
    set results [exec_after a {SWAPDB 0 1}]
    lappend results [exec_after a {SWAPDB 1 0}] [exec_after missing {SWAPDB 0 1}] [exec_after a {SWAPDB 2 3}]
    lappend results [exec_after a {SWAPDB 1 1}]
} {refused refused run run run}
check "keys stay watched under the number of their database" {
    r WATCH a
    r SWAPDB 0 1
    r SET a 1
    exec_result
} refused
check "RENAME, COPY, MOVE and SORT change their destinations, and RENAME and MOVE their sources" {
    set results {}
    foreach {key command} {to {RENAME from to} from {RENAME from to} to {RENAMENX from to} to {COPY from to}
                           from {MOVE from 1} to {SORT from STORE to} from {COPY from to} from {SORT from STORE to}
                           from {TOUCH from}} {
        r FLUSHALL
        r RPUSH from 2 1
        lappend results [exec_after $key $command]
    }
    set results
} {refused refused refused refused refused refused run run run}
check "one client with many watched keys, many clients with one" {
    set keys {}
    for {set i 0} {$i < 200} {incr i} {
        r SET key:$i 1
        lappend keys key:$i
    }
    set others {}
    for {set i 0} {$i < 20} {incr i} {
        set c [client_open]
        $c call WATCH key:$i
        $c call MULTI
        lappend others $c
    }
    assert_equal [exec_after $keys FLUSHALL] refused
    assert_equal [info_field total_watched_keys] 0
    lsort -unique [lmap c $others {$c call EXEC}]
} (nil)

# --- Keys whose time comes

# A key that is expired but still there.
proc set_expired {key} {
    r DEBUG SET-ACTIVE-EXPIRE 0
    r SET $key 1 PX 1
    pass_time 5
}
proc pass_time {ms} {
    after $ms [list set ::passed 1]
    vwait ::passed
}
proc check_expiry {name body result} {
    check $name "try {$body} finally {r DEBUG SET-ACTIVE-EXPIRE 1}" $result
}

check "a key that expires while it is watched is changed" {
    [default_client] pipeline {{SET a 1 PX 200} {WATCH a}}
    pass_time 220
    exec_result
} refused
check_expiry "also when no command has deleted it yet" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    [default_client] pipeline {{SET a 1 PX 200} {WATCH a}}
    pass_time 220
    exec_result
} refused
check_expiry "a key that was expired when it was watched is as good as missing" {
    set_expired a
    r WATCH a
    exec_result
} run
check_expiry "that it is deleted is no change" {
    set results {}
    foreach command {{GET a} {DEL a} {FLUSHALL} {LLEN a}} {
        set_expired a
        lappend results [exec_after a $command]
    }
    lsort -unique $results
} run
check_expiry "that it is written is one" {
    set_expired a
    set results [exec_after a {SET a 2}]
    set_expired a
    lappend results [exec_after a {GET a} {SET a 2}]
} {refused refused}

check "DEBUG RELOAD changes what is watched, if it is there" {
    r SET a 1
    list [exec_after a {DEBUG RELOAD}] [exec_after nosuch {DEBUG RELOAD}]
} {refused run}

# --- What is shown of it

check "CLIENT INFO counts watched keys, and marks a client whose key was touched" {
    r WATCH a b a
    assert {[string match "* flags=N *multi=-1 watch=2 *" [r CLIENT INFO]]}
    r SET a 1
    assert {[string match "* flags=d *watch=0 *" [r CLIENT INFO]]}
    r UNWATCH
    string match "* flags=N *watch=0 *" [r CLIENT INFO]
} 1
check "a touched client watches no more keys" {
    r WATCH a
    r SET a 1
    r WATCH b
    info_field total_watched_keys
} 0
check "watched keys count among the memory of a client" {
    regexp {tot-mem=(\d+)} [r CLIENT INFO] _ before
    r WATCH [string repeat x 10000]
    regexp {tot-mem=(\d+)} [r CLIENT INFO] _ after
    expr {$after - $before > 10000}
} 1

finish
