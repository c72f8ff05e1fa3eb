# INCREX: numbers that are added to within bounds, and the expiry of their keys.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# {value before ("none": no key), arguments, the reply, value afterwards}
foreach {before arguments reply after} {
    none {} {1 1} 1
    5 {} {6 1} 6
    5 {BYINT -7} {-2 -7} -2
    5 {BYINT 0} {5 0} 5
    none {BYINT 3 LBOUND 0 UBOUND 3} {3 3} 3
    none {BYINT 4 UBOUND 3} {0 0} none
    10 {BYINT -1 UBOUND 5} {10 0} 10
    3 {BYINT -4 LBOUND 0} {3 0} 3
    3 {BYINT -4 LBOUND 0 SATURATE} {0 -3} 0
    10 {SATURATE BYINT 5 UBOUND 5} {5 -5} 5
    none {UBOUND 0 SATURATE} {0 0} 0
    9223372036854775807 {} {9223372036854775807 0} 9223372036854775807
    9223372036854775806 {BYINT 5 SATURATE} {9223372036854775807 1} 9223372036854775807
    -9223372036854775807 {BYINT -5} {-9223372036854775807 0} -9223372036854775807
    -9223372036854775807 {BYINT -5 SATURATE} {-9223372036854775808 -1} -9223372036854775808
    5 {ubound 6 byint 1 lbound 6} {6 1} 6
} {
    check "INCREX $arguments of $before" {
        if {$before ne "none"} {
            r SET k $before
        }
        list [typed INCREX k {*}$arguments] [expr {[r EXISTS k] ? [r GET k] : "none"}]
    } [list [list array [lmap number $reply {list int $number}]] $after]
}
# Fractions are texts in RESP2, and doubles in RESP3.
foreach {before arguments reply after} {
    none {BYFLOAT 0.1} {0.1 0.1} 0.1
    0.1 {BYFLOAT 0.2} {0.3 0.2} 0.3
    5 {BYFLOAT -1e2} {-95 -100} -95
    3 {BYFLOAT 0.5 UBOUND 3.25} {3 0} 3
    3 {BYFLOAT 0.5 UBOUND 3.25 SATURATE} {3.25 0.25} 3.25
    3 {BYFLOAT -5 LBOUND -inf UBOUND inf} {-2 -5} -2
    none {BYFLOAT 1 UBOUND 0.5} {0 0} none
    10 {BYFLOAT 1 UBOUND 5.5 SATURATE} {5.5 -4.5} 5.5
} {
    check "INCREX $arguments of $before" {
        if {$before ne "none"} {
            r SET k $before
        }
        set kind [expr {$protocol == 2 ? "bulk" : "double"}]
        assert_equal [typed INCREX k {*}$arguments] [list array [lmap number $reply {list $kind $number}]]
        expr {[r EXISTS k] ? [r GET k] : "none"}
    } $after
}
check "a number beyond what can be stored is refused, or becomes the largest one with SATURATE" {
    r SET k 1e4932
    set refused [r INCREX k BYFLOAT 1e4932]
    r INCREX k BYFLOAT 1e4932 SATURATE
    list [lindex $refused 1] [string range [r GET k] 0 8]
} {0 118973149}

# --- Expiries

# What each does to the TTL of a key with one of 777 s, and to a key without one.
foreach {arguments with without} {
    {} 777 -1
    {EX 100} 100 100
    {PX 100000} 100 100
    {PERSIST} -1 -1
    {EX 100 ENX} 777 100
    {ENX PX 100000 BYINT 2} 777 100
    {BYFLOAT 1 EX 100 ENX} 777 100
    {UBOUND 0 EX 100} 777 -1
    {UBOUND 0 PERSIST} 777 -1
    {UBOUND 0 EX 100 SATURATE} 100 100
} {
    check "INCREX $arguments: the TTL is $with if it was 777, $without if there was none" {
        r SET a 5 EX 777
        r SET b 5
        r INCREX a {*}$arguments
        r INCREX b {*}$arguments
        list [r TTL a] [r TTL b]
    } [list $with $without]
}
check "INCREX with EXAT and PXAT sets the time" {
    r INCREX a EXAT 33177117420
    r INCREX b PXAT 33177117420000
    list [r EXPIRETIME a] [r EXPIRETIME b]
} {33177117420 33177117420}
check "INCREX with a time that has passed deletes the key, and replies as if it were there" {
    r MSET a 5 b 5
    r SET c 5 EX 777
    list [r INCREX a EXAT 1] [r INCREX b PXAT 1 ENX] [r INCREX c PXAT 1 ENX] [r INCREX new EXAT 1] [lsort [r KEYS *]]
} {{6 1} {6 1} {6 1} {1 1} c}
check "what is refused leaves the key as it was, and makes none" {
    set other [client_open]
    r SET k 5
    $other call WATCH k new
    r INCREX k UBOUND 5 EX 100
    r INCREX new UBOUND 0
    $other call MULTI
    $other call PING
    list [$other call EXEC] [r TTL k] [r EXISTS new]
} {PONG -1 0}
check "a rate limiter: so many in a window that begins with the first" {
    set replies [lmap i {1 2 3 4 5} {lindex [r INCREX requests UBOUND 3 EX 60 ENX] 1}]
    lappend replies [r TTL requests]
} {1 1 1 0 0 60}

# --- Errors

foreach {arguments text} {
    {BYINT} "syntax error"
    {FROB} "syntax error"
    {BYINT 1 BYINT 1} "syntax error"
    {BYINT 1 BYFLOAT 1} "syntax error"
    {BYFLOAT 1 BYINT 1} "syntax error"
    {BYFLOAT 1 BYFLOAT 1} "syntax error"
    {LBOUND 1 LBOUND 1} "syntax error"
    {UBOUND 1 UBOUND 1} "syntax error"
    {SATURATE SATURATE} "syntax error"
    {EX 1 EX 1} "syntax error"
    {EX 1 PX 1} "syntax error"
    {EX 1 PERSIST} "syntax error"
    {PERSIST EX 1} "syntax error"
    {PERSIST PERSIST} "syntax error"
    {PERSIST ENX} "syntax error"
    {EX 1 ENX ENX} "syntax error"
    {EX} "syntax error"
    {ENX} "ENX flag requires an expiration"
    {LBOUND 2 UBOUND 1} "LBOUND can't be greater than UBOUND"
    {BYFLOAT 1 LBOUND 0.2 UBOUND 0.1} "LBOUND can't be greater than UBOUND"
    {BYINT x} "Increment is not an integer or out of range"
    {BYINT 1.5} "Increment is not an integer or out of range"
    {BYINT 9223372036854775808} "Increment is not an integer or out of range"
    {LBOUND 1.5} "LBOUND is not an integer or out of range"
    {UBOUND inf} "UBOUND is not an integer or out of range"
    {BYFLOAT x} "Increment is not a valid float"
    {BYFLOAT nan} "Increment is not a valid float"
    {BYFLOAT 1 LBOUND x} "LBOUND is not a valid float"
    {UBOUND nan BYFLOAT 1} "UBOUND is not a valid float"
    {BYFLOAT inf} "BYFLOAT increment cannot be Infinity"
    {BYFLOAT -inf} "BYFLOAT increment cannot be Infinity"
    {EX 0} "invalid expire time in 'increx' command"
    {PX -5} "invalid expire time in 'increx' command"
    {EX 9223372036854775807} "invalid expire time in 'increx' command"
    {EX x} "value is not an integer or out of range"
} {
    check "INCREX $arguments is refused, and changes nothing" {
        r SET k 5
        list [error_of {r INCREX k {*}$arguments}] [r GET k] [r TTL k]
    } [list "ERR $text" 5 -1]
}
foreach {value arguments text} {
    x {} "value is not an integer or out of range"
    1.5 {} "value is not an integer or out of range"
    x {BYFLOAT 1} "value is not a valid float"
    inf {BYFLOAT 1} "value is not a valid float"
    -9223372036854775808 {LBOUND 5 SATURATE} "applied increment would overflow"
} {
    check "INCREX $arguments refuses the value $value" {
        r SET k $value
        list [error_of {r INCREX k {*}$arguments}] [r GET k]
    } [list "ERR $text" $value]
}
check "INCREX refuses a change that cannot be told" {
    r SET k -1e4932
    error_of {r INCREX k BYFLOAT 1 LBOUND 1e4932 SATURATE}
} "ERR applied increment would be Infinity"
check_error "INCREX refuses another type" {
    r RPUSH k a
    r INCREX k
} "WRONGTYPE Operation against a key holding the wrong kind of value"

finish
