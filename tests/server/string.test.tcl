# SET and GET in their simple form.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

check "SET stores what GET reads" {list [typed SET k value] [typed GET k]} {{simple OK} {bulk value}}
check_in 2 "GET of a missing key is null in RESP2" {typed GET nosuch} nil
check_in 3 "GET of a missing key is null in RESP3" {typed GET nosuch} null
check "SET replaces a string" {
    r SET k first
    r SET k second
    list [r GET k] [r DBSIZE]
} {second 1}
check "SET replaces a value by one of any other size" {
    foreach size {0 1 5 20 44 45 64 500 70000 30 2000000 0 12 100} {
        set value [string repeat v $size]
        r SET k $value
        assert {[r GET k] eq $value}
    }
    r DBSIZE
} 1
check "SET replaces a list" {
    foreach count {1 5000} {
        r RPUSH l {*}[lrepeat $count element]
        assert_equal [r SET l text] OK
        assert_equal [list [r TYPE l] [r GET l]] {string text}
        r DEL l
    }
}
check "SET keeps every byte" {
    set bytes ""
    for {set i 0} {$i < 256} {incr i} {
        append bytes [format %c $i]
    }
    r SET k $bytes
    assert_equal [r GET k] $bytes
    r SET k ""
    typed GET k
} {bulk {}}
check "texts that look like numbers come back as they were" {
    foreach text {
        0 1 -1 007 +5 -0 " 1" "1 " 1.0 1e3 0x10 12345 -9223372036854775808 9223372036854775807
        9223372036854775808 -9223372036854775809 99999999999999999999 - ""
    } {
        r SET k $text
        assert_equal [r GET k] $text
    }
}
check "values of many sizes under keys of many sizes stay apart" {
    set requests {}
    set expected {}
    for {set i 0} {$i < 300} {incr i} {
        set key [string repeat k $i]
        set value [string repeat v [expr {$i * 7 % 90}]]$i
        lappend requests [list SET $key $value]
        lappend reads [list GET $key]
        lappend expected $value
    }
    [default_client] pipeline $requests
    assert {[[default_client] pipeline $reads] eq $expected}
    unset reads
    r DBSIZE
} 300
check_error "GET refuses a list" {
    r RPUSH l a
    r GET l
} "WRONGTYPE Operation against a key holding the wrong kind of value"
check_error "GET takes one key" {r GET a b} "ERR wrong number of arguments for 'get' command"
check_error "SET needs a value" {r SET a} "ERR wrong number of arguments for 'set' command"
check "SET refuses what is no option and changes nothing" {
    r SET k before
    foreach arguments {NOSUCH {NX XX} {EX} {NOSUCH 10}} {
        assert_equal [error_of {r SET k after {*}$arguments}] "ERR syntax error"
    }
    r GET k
} before

finish
