# Whole strings stored and read: SET with its options, GET GETSET GETDEL GETEX MGET MSET MSETNX SETNX SETEX PSETEX.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set wrong_type "WRONGTYPE Operation against a key holding the wrong kind of value"

# --- SET and GET without options

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
} $wrong_type
check_error "GET takes one key" {r GET a b} "ERR wrong number of arguments for 'get' command"
check_error "SET needs a value" {r SET a} "ERR wrong number of arguments for 'set' command"

# --- Encodings

check "the encoding of a stored text depends on its form and length" {
    set seen {}
    foreach text [list 0 -1 9223372036854775807 9223372036854775808 007 "" hello \
            [string repeat x 44] [string repeat x 45] [string repeat x 300]] {
        r SET k $text
        lappend seen [r OBJECT ENCODING k]
    }
    set seen
} {int int int embstr embstr embstr embstr embstr raw raw}
check "every command that stores a whole text chooses the encoding alike" {
    foreach command {
        {SET k 12} {SET k 12 EX 100} {SETNX k 12} {SETEX k 100 12} {PSETEX k 100000 12} {GETSET k 12} {MSET k 12}
        {MSETNX k 12} {APPEND k 12} {INCRBY k 12}
    } {
        r DEL k
        r {*}$command
        assert_equal [list $command [r OBJECT ENCODING k]] [list $command int]
    }
}

# --- SET's options

check "SET NX stores only where there is no key" {
    list [typed SET k first NX] [r SET k second NX] [r GET k] [r RPUSH l a] [r SET l text nx] [r TYPE l]
} {{simple OK} (nil) first 1 (nil) list}
check "SET XX stores only where there is a key" {
    list [r SET k first XX] [r EXISTS k] [r RPUSH l a] [typed SET l text xx] [r TYPE l]
} {(nil) 0 1 {simple OK} string}
check_in 2 "SET that stores nothing answers null in RESP2" {typed SET k v XX} nil
check_in 3 "SET that stores nothing answers null in RESP3" {typed SET k v XX} null
check "SET GET answers what was there before" {
    list [r SET k first GET] [typed SET k second GET] [typed SET k third get] [r GET k]
} {(nil) {bulk first} {bulk second} third}
check "SET GET with NX or XX answers what was there, whether it stores or not" {
    list [r SET k a GET NX] [r SET k b GET NX] [r GET k] [r SET k c XX GET] [r GET k] [r SET m d XX GET] [r EXISTS m]
} {(nil) a a a c (nil) 0}
check "SET GET refuses a list and stores nothing" {
    r RPUSH l a
    foreach options {{GET} {GET NX} {GET XX} {GET EX 10}} {
        assert_equal [error_of {r SET l text {*}$options}] $wrong_type
    }
    r TYPE l
} list
check "EX and PX give a time to live, EXAT and PXAT a time" {
    set now [clock milliseconds]
    r SET a v EX 100
    r SET b v PX 100000
    r SET c v EXAT [expr {$now / 1000 + 100}]
    r SET d v PXAT [expr {$now + 100000}]
    foreach key {a b c d} {
        set left [r PTTL $key]
        assert {$left > 90000 && $left <= 100000}
    }
    assert_equal [r PEXPIRETIME d] [expr {$now + 100000}]
    assert_equal [r EXPIRETIME c] [expr {$now / 1000 + 100}]
    r SET a v EX 100 EX 200
    expr {[r TTL a] > 190}
} 1
check "SET takes the time to live away unless it says KEEPTTL" {
    r SET k v EX 100
    r SET k w KEEPTTL
    set kept [r TTL k]
    r SET k [string repeat long 100] KEEPTTL
    lappend kept [r TTL k] [r STRLEN k]
    r SET k 5 KEEPTTL
    lappend kept [expr {[r TTL k] > 90}] [r GET k]
    r SET k x
    lappend kept [r TTL k]
    assert {[lindex $kept 0] > 90 && [lindex $kept 1] > 90}
    lrange $kept 2 end
} {400 1 5 -1}
check "SET KEEPTTL of a key that has none, or that is new, gives none" {
    r SET k v
    list [r SET k w KEEPTTL] [r TTL k] [r SET n w KEEPTTL] [r TTL n]
} {OK -1 OK -1}
check "a key that SET gave milliseconds is gone after them" {
    r SET k v PX 20
    wait_until {[r GET k] eq "(nil)"}
    list [r EXISTS k] [r SET k w NX] [r TTL k]
} {0 OK -1}
check "SET with a time that has passed leaves no key" {
    list [r SET a v EXAT 1] [r EXISTS a] [r SET b v PXAT 1] [r GET b]
} {OK 0 OK (nil)}
check "SET refuses options that contradict each other or make no sense, and changes nothing" {
    r SET k before
    foreach options {
        NOSUCH {NX XX} {XX NX} EX {EX 10 PX} {NOSUCH 10} PERSIST {EX 10 PX 10} {PX 10 EX 10} {EX 10 KEEPTTL}
        {KEEPTTL EX 10} {EXAT 10 EX 10} {PXAT 10 EXAT 10} {KEEPTTL PXAT 10} {EX NX} "" {NX NX XX}
    } {
        if {$options eq ""} {
            set options [list ""]
        }
        set error [error_of {r SET k after {*}$options}]
        assert {$error eq "ERR syntax error" ||
                ($options eq "EX NX" && $error eq "ERR value is not an integer or out of range")}
    }
    r GET k
} before
check "SET may repeat an option" {
    list [r SET k v NX NX] [r SET k w XX XX KEEPTTL KEEPTTL] [r SET k x GET GET] [r GET k]
} {OK OK w x}
check "SET refuses times that are none, or out of range" {
    r SET k before
    foreach time {x 1.5 "" 9223372036854775808} {
        assert_equal [error_of {r SET k v EX $time}] "ERR value is not an integer or out of range"
    }
    foreach {unit time} {
        EX 0 EX -1 PX 0 PX -5 EXAT 0 PXAT -1 EX 9223372036854775807 EX 9223372036854776 EX 9223372036854775
        PX 9223372036854775807 EXAT 9223372036854776
    } {
        assert_equal [error_of {r SET k v $unit $time}] "ERR invalid expire time in 'set' command"
    }
    assert_equal [error_of {r SET k v EX 0 NX}] "ERR invalid expire time in 'set' command"
    list [r GET k] [r TTL k]
} {before -1}

# --- SETNX SETEX PSETEX

check "SETNX stores only where there is no key" {
    list [typed SETNX k first] [typed SETNX k second] [r GET k] [r RPUSH l a] [r SETNX l text] [r TYPE l]
} {{int 1} {int 0} first 1 0 list}
check "SETEX and PSETEX give a time to live" {
    r RPUSH k a
    list [typed SETEX k 100 v] [r GET k] [expr {[r TTL k] > 90}] [typed PSETEX k 100000 w] [r GET k] \
        [expr {[r PTTL k] > 90000}]
} {{simple OK} v 1 {simple OK} w 1}
check "SETEX and PSETEX refuse times out of range" {
    foreach {command time} {
        setex 0 setex -1 psetex 0 psetex -1 setex 9223372036854775807 setex 9223372036854776 psetex 9223372036854775807
    } {
        assert_equal [error_of {r $command k $time v}] "ERR invalid expire time in '$command' command"
    }
    assert_equal [error_of {r SETEX k x v}] "ERR value is not an integer or out of range"
    assert_equal [error_of {r PSETEX k 1.5 v}] "ERR value is not an integer or out of range"
    r EXISTS k
} 0

# --- GETSET GETDEL GETEX

check "GETSET answers the old value and takes the time to live away" {
    list [r GETSET k first] [r EXPIRE k 100] [typed GETSET k second] [r GET k] [r TTL k]
} {(nil) 1 {bulk first} second -1}
check_error "GETSET refuses a list" {
    r RPUSH l a
    r GETSET l v
} $wrong_type
check "GETDEL answers the value and removes the key" {
    r SET k v
    r SET n 42
    list [typed GETDEL k] [r EXISTS k] [r GETDEL k] [typed GETDEL n] [r DBSIZE]
} {{bulk v} 0 (nil) {bulk 42} 0}
check_error "GETDEL refuses a list" {
    r RPUSH l a
    r GETDEL l
} $wrong_type
check "GETEX answers the value and changes when it expires" {
    r SET k v
    set seen [list [typed GETEX k] [r TTL k]]
    foreach {unit time} {EX 100 PX 200000 EXAT 32503680000 PXAT 32503680000000} {
        lappend seen [r GETEX k $unit $time] [expr {[r TTL k] > 90}]
    }
    lappend seen [r EXPIRETIME k] [r GETEX k] [r EXPIRETIME k] [r GETEX k PERSIST] [r TTL k] [r GETEX k persist]
} {{bulk v} -1 v 1 v 1 v 1 v 1 32503680000 v 32503680000 v -1 v}
check "GETEX with a time that has passed answers the value and removes the key" {
    r MSET a 1 b 2
    list [r GETEX a EXAT 1] [r EXISTS a] [r GETEX b PXAT 1] [r DBSIZE]
} {1 0 2 0}
check "GETEX of a missing key is null whatever the time" {
    list [r GETEX k] [r GETEX k EX 0] [r GETEX k EX x] [r EXISTS k]
} {(nil) (nil) (nil) 0}
check "GETEX refuses what it cannot do" {
    r SET k v
    foreach options {NX KEEPTTL GET {EX 10 PERSIST} {PERSIST EX 10} {EX 10 PX 10} EX {PERSIST EX}} {
        assert_equal [error_of {r GETEX k {*}$options}] "ERR syntax error"
    }
    assert_equal [error_of {r GETEX k EX x}] "ERR value is not an integer or out of range"
    assert_equal [error_of {r GETEX k EX 0}] "ERR invalid expire time in 'getex' command"
    r RPUSH l a
    assert_equal [error_of {r GETEX l EX 10}] $wrong_type
    r TTL k
} -1

# --- Several keys

check_in 2 "MGET answers null for keys that are missing or no strings" {
    r MSET a 1 b text
    r RPUSH l x
    typed MGET a nosuch b l a
} {array {{bulk 1} nil {bulk text} nil {bulk 1}}}
check "MSET stores all, the last value of a key that comes twice" {
    r RPUSH b x
    list [typed MSET a 1 b 2 a 3 "" empty] [r MGET a b ""] [r DBSIZE]
} {{simple OK} {3 2 empty} 3}
check "MSET takes times to live away" {
    r SET a v EX 100
    r MSET a w
    r TTL a
} -1
check "MSETNX stores all or nothing" {
    list [typed MSETNX a 1 b 2] [typed MSETNX c 3 b 4] [r MGET a b c] [r MSETNX d 5 d 6] [r GET d]
} {{int 1} {int 0} {1 2 (nil)} 1 6}
foreach command {MSET MSETNX} {
    check "$command wants a value for every key" {
        foreach arguments {a {a 1 b}} {
            assert_equal [error_of {r $command {*}$arguments}] \
                "ERR wrong number of arguments for '[string tolower $command]' command"
        }
        r DBSIZE
    } 0
}

check "pipelines over many keys answer every request in its place" {
    set writes {}
    set reads {}
    set expected {}
    for {set i 0} {$i < 20000} {incr i} {
        lappend writes [list SET key:$i $i]
        set number [expr {$i * 7919 % 25000}]
        lappend reads [list GET key:$number]
        lappend expected [expr {$number < 20000 ? $number : "(nil)"}]
        if {$i % 50 == 0} {
            lappend reads PING [list ECHO [string repeat x $i]] [list MGET key:1 nosuch key:2]
            lappend expected PONG [string repeat x $i] {1 (nil) 2}
        }
    }
    [default_client] pipeline $writes
    assert {[[default_client] pipeline $reads] eq $expected}
    unset writes reads expected
    r DBSIZE
} 20000

# --- What COMMAND says of them

check "COMMAND GETKEYS finds the keys of commands that take values between them" {
    list [r COMMAND GETKEYS MSET a 1 b 2] [r COMMAND GETKEYS LCS a b LEN] [r COMMAND GETKEYS BITOP AND d a b]
} {{a b} {a b} {d a b}}
check "COMMAND GETKEYSANDFLAGS distinguishes the destination of BITOP from its sources" {
    r COMMAND GETKEYSANDFLAGS BITOP AND d a b
} {{d {OW update}} {a {RO access}} {b {RO access}}}

finish
