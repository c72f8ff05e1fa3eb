# SET IFEQ IFNE IFDEQ IFDNE, DELEX, DELIFEQ, DIGEST, MSETEX: strings that are compared before they change.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# The typed reply, with one name for null in both protocols.
proc seen {args} {
    set reply [typed {*}$args]
    return [expr {$reply in {nil null} ? "NULL" : $reply}]
}

# --- SET

foreach {condition present missing} {
    {IFEQ hello}                1 0
    {IFEQ other}                0 0
    {IFEQ ""}                   0 0
    {ifne hello}                0 1
    {IFNE other}                1 1
    {IFDEQ 9555e8555c62dcfd}    1 0
    {ifdeq 9555E8555C62DCFD}    1 0
    {IFDEQ 9555e8555c62dcfe}    0 0
    {IFDEQ zzzzzzzzzzzzzzzz}    0 0
    {IFDNE 9555e8555c62dcfd}    0 1
    {IFDNE 9555E8555C62DCFD}    0 1
    {IFDNE zzzzzzzzzzzzzzzz}    1 1
} {
    check "SET $condition sets a key that holds hello: $present, a missing one: $missing" {
        r SET k hello
        set replies [list [seen SET k new {*}$condition] [seen SET none new {*}$condition]]
        set found [list [r GET k] [r GET none]]
        r DEL none
        r SET k hello
        lappend replies [seen SET k new {*}$condition GET] [seen SET none new GET {*}$condition]
        list $replies $found [list [r GET k] [r GET none]]
    } [list [list {*}[lmap does [list $present $missing] {expr {$does ? "simple OK" : "NULL"}}] {bulk hello} NULL] \
        {*}[lrepeat 2 [list [expr {$present ? "new" : "hello"}] [expr {$missing ? "new" : "(nil)"}]]]]
}
check "a condition that is met sets the expiry, or keeps it, and one that is not leaves it" {
    r SET k a EX 100
    r SET k b IFEQ other EX 1000
    set ttls [r TTL k]
    r SET k b IFEQ a KEEPTTL
    lappend ttls [r TTL k]
    r SET k c IFEQ b PX 1000000
    lappend ttls [r TTL k]
    r SET k d IFEQ c
    lappend ttls [r TTL k]
} {100 100 1000 -1}
check "counters are compared as texts" {
    r SET k 123
    list [r SET k x IFEQ 0123] [r SET k x IFEQ 123.0] [r SET k 124 IFEQ 123] [r INCR k]
} {(nil) (nil) OK 125}
check "the operand of a condition may spell an option, and options come in any order" {
    r SET k GET
    list [r SET k nx EX 100 IFEQ GET] [r SET k ifeq IFEQ nx GET KEEPTTL] [r TTL k] [r GET k]
} {OK nx 100 ifeq}
check "GET may stand twice with a condition" {
    r SET k a
    list [r SET k b GET IFEQ a GET] [r SET k c GET IFEQ a GET] [r GET k]
} {a b b}
check "NX and XX behind a condition must hold, too, and the last of two operands counts" {
    r RPUSH list a
    r SET k a
    set replies {}
    foreach arguments {
        {none b IFEQ a XX} {none b IFNE a XX} {none b IFEQ a NX} {k b IFNE x NX} {k b IFEQ x XX} {list b IFEQ a NX}
        {none b IFNE a NX} {k c IFEQ a XX GET} {k d IFEQ c IFEQ x} {k e IFEQ x IFEQ c}
    } {
        lappend replies [r SET {*}$arguments]
    }
    concat $replies [list [error_of {r SET list b IFEQ a XX}]] [r MGET none k]
} [concat {(nil) (nil) (nil) (nil) (nil) (nil) OK a (nil) OK} \
    {{WRONGTYPE Operation against a key holding the wrong kind of value} b e}]
foreach options {
    {NX IFEQ a} {XX IFNE a} {IFEQ a NX XX} {IFEQ a XX IFEQ a} {IFEQ a IFNE b} {IFDEQ 9555e8555c62dcfd IFEQ a}
    {IFEQ} {IFNE} {IFDEQ} {IFDNE} {EX 10 IFEQ} {IFEQ a EX 10 PX 10} {IFEQ a b}
} {
    check_error "SET k v $options is a syntax error" [list r SET k v {*}$options] "ERR syntax error"
}
foreach digest {"" abc 9555e8555c62dcf 9555e8555c62dcfd0} {
    foreach condition {IFDEQ IFDNE} {
        check_error "SET $condition refuses the digest '$digest'" [list r SET k v $condition $digest] \
            "ERR must be exactly 16 hexadecimal characters"
    }
}
foreach condition {{IFEQ a} {IFNE a} {IFDEQ 9555e8555c62dcfd} {IFDNE 9555e8555c62dcfd}} {
    check "SET $condition refuses a key of another type" {
        r RPUSH k a
        list [error_of {r SET k v {*}$condition}] [error_of {r SET k v {*}$condition GET}] [r TYPE k]
    } {{WRONGTYPE Operation against a key holding the wrong kind of value}\
        {WRONGTYPE Operation against a key holding the wrong kind of value} list}
}
check "an expired key is missing to a condition" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    r SET k a PX 1
    after 5
    set replies [list [r SET k b IFEQ a] [r EXISTS k]]
    r SET k a PX 1
    after 5
    lappend replies [r SET k b IFNE a] [r GET k] [r DEBUG SET-ACTIVE-EXPIRE 1]
} {(nil) 0 OK b OK}
check "a large value is compared, and the new one is stored, while a snapshot of the old one may be kept" {
    set old [string repeat a 200000]
    set new [string repeat b 200000]
    r SET k $old
    r BGSAVE
    set replies [list [r SET k x IFEQ ${old}a] [r SET k $new IFEQ $old] [r SET k $new IFDEQ [r DIGEST k]]]
    wait_until {![info_field rdb_bgsave_in_progress]}
    lappend replies [expr {[r SET k y IFEQ $new GET] eq $new}] [r GET k]
} {(nil) OK OK 1 y}
check "SET with a condition that is not met touches no watcher" {
    r SET k a
    set other [client_open]
    $other call WATCH k
    r SET k b IFEQ x
    $other call MULTI
    $other call PING
    set first [$other call EXEC]
    $other call WATCH k
    r SET k b IFEQ a
    $other call MULTI
    $other call PING
    list $first [$other call EXEC]
} {PONG (nil)}

# --- DIGEST

foreach {text digest} {
    hello 9555e8555c62dcfd
    "" 2d06800538d394c2
    123 404a763b3f4c8c9a
    v8 0cc76dbb41381419
    "Hello world" b6acb9d84a38ff74
} {
    check "DIGEST of '$text' is XXH3 in 16 hexadecimal digits" {
        r SET k $text
        typed DIGEST k
    } [list bulk $digest]
}
check "DIGEST depends on the bytes only, not on how they are stored" {
    r SET a 123
    r APPEND b 12
    r APPEND b 3
    r SET c [string repeat x 300000]
    r SETRANGE d 0 [string repeat x 300000]
    list [expr {[r DIGEST a] eq [r DIGEST b]}] [expr {[r DIGEST c] eq [r DIGEST d]}]
} {1 1}
check "DIGEST of a missing key is null" {seen DIGEST none} NULL
check_error "DIGEST refuses another type" {
    r SADD k a
    r DIGEST k
} "WRONGTYPE Operation against a key holding the wrong kind of value"
check_error "DIGEST takes one key" {r DIGEST a b} "ERR wrong number of arguments for 'digest' command"

# --- DELEX and DELIFEQ

foreach {condition deletes} {
    {} 1
    {IFEQ hello} 1
    {ifeq other} 0
    {IFNE other} 1
    {IFNE hello} 0
    {IFDEQ 9555E8555C62DCFD} 1
    {IFDEQ zzzzzzzzzzzzzzzz} 0
    {IFDNE zzzzzzzzzzzzzzzz} 1
    {IFDNE 9555e8555c62dcfd} 0
} {
    check "DELEX k $condition deletes a key that holds hello: $deletes" {
        r SET k hello
        list [typed DELEX k {*}$condition] [r EXISTS k] [typed DELEX k {*}[expr {$deletes ? $condition : ""}]]
    } [list [list int $deletes] [expr {!$deletes}] [list int [expr {!$deletes}]]]
}
check "DELEX of a missing key is 0, whatever the condition" {
    list [r DELEX none] [r DELEX none IFNE a] [r DELEX none FROB a] [r DELEX none IFDEQ a]
} {0 0 0 0}
check "DELEX without a condition deletes any type" {
    r RPUSH k a
    list [r DELEX k] [r EXISTS k]
} {1 0}
check_error "DELEX with a condition refuses another type" {
    r RPUSH k a
    r DELEX k FROB a
} "ERR Key should be of string type if conditions are specified"
foreach {arguments text} {
    {k FROB hello} "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"
    {k IFDEQ hello} "ERR must be exactly 16 hexadecimal characters"
    {k IFDNE ""} "ERR must be exactly 16 hexadecimal characters"
    {k IFEQ} "ERR wrong number of arguments for 'delex' command"
    {k IFEQ hello IFEQ} "ERR wrong number of arguments for 'delex' command"
    {} "ERR wrong number of arguments for 'delex' command"
} {
    check_error "DELEX $arguments is refused" {
        r SET k hello
        r DELEX {*}$arguments
    } $text
}
check "DELIFEQ deletes a key that holds the value" {
    r MSET a 1 b 2
    list [typed DELIFEQ a 2] [typed DELIFEQ a 1] [typed DELIFEQ a 1] [r KEYS *]
} {{int 0} {int 1} {int 0} b}
check_error "DELIFEQ refuses another type" {
    r SADD k a
    r DELIFEQ k a
} "WRONGTYPE Operation against a key holding the wrong kind of value"
check_error "DELIFEQ takes two arguments" {r DELIFEQ a} "ERR wrong number of arguments for 'delifeq' command"

# --- MSETEX

check "MSETEX sets all keys, of any type before, without an expiry" {
    r SET a 1 EX 100
    r RPUSH b x
    list [typed MSETEX 3 a 5 b 6 c 7] [r MGET a b c] [r TTL a]
} {{int 1} {5 6 7} -1}
foreach {options ttls} {
    {EX 100} {100 100}
    {px 100000} {100 100}
    {KEEPTTL} {777 -1}
    {EX 50 EX 100} {100 100}
} {
    check "MSETEX with $options gives the keys the TTLs $ttls" {
        r SET a 1 EX 777
        list [r MSETEX 2 a 1 b 2 {*}$options] [r TTL a] [r TTL b]
    } [list 1 {*}$ttls]
}
foreach options {{EXAT 33177117420} {PXAT 33177117420000} {NX EXAT 33177117420 NX}} {
    check "MSETEX with $options gives the keys this time" {
        list [r MSETEX 2 a 1 b 2 {*}$options] [r EXPIRETIME a] [r EXPIRETIME b]
    } {1 33177117420 33177117420}
}
check "MSETEX NX sets nothing if a key exists, XX if one is missing" {
    r SET a 1
    set replies [list [r MSETEX 2 b 1 a 2 NX] [r MSETEX 2 a 2 b 1 XX] [r MGET a b]]
    lappend replies [r MSETEX 2 b 3 c 4 NX] [r MSETEX 3 a 5 b 6 c 7 xx] [r MGET a b c]
} {0 0 {1 (nil)} 1 1 {5 6 7}}
check "MSETEX with a time that has passed sets keys that are gone" {
    list [r MSETEX 1 a 1 EXAT 1] [r EXISTS a]
} {1 0}
check "the last value of a key that MSETEX names twice counts" {
    r MSETEX 2 a 1 a 2
    r GET a
} 2
check "large values of the same key are stored while the requests refer to them" {
    set big [string repeat x 100000]
    r MSETEX 2 a $big a small EX 100
    r MSETEX 3 b small b $big b [string toupper $big] KEEPTTL
    r MSETEX 2 c 1 c $big
    list [r GET a] [expr {[r GET b] eq [string toupper $big]}] [r STRLEN c]
} {small 1 100000}
foreach {arguments text} {
    {0 a 1} "ERR invalid numkeys value or out of range"
    {-1 a 1} "ERR invalid numkeys value or out of range"
    {x a 1} "ERR invalid numkeys value or out of range"
    {9223372036854775807 a 1} "ERR invalid numkeys value or out of range"
    {2147483648 a 1} "ERR invalid numkeys value or out of range"
    {2147483647 a 1} "ERR syntax error"
    {2 a 1} "ERR syntax error"
    {2 a 1 EX} "ERR syntax error"
    {1 a 1 b} "ERR syntax error"
    {1 a 1 GET} "ERR syntax error"
    {1 a 1 IFEQ 1} "ERR syntax error"
    {1 a 1 NX XX} "ERR syntax error"
    {1 a 1 EX 1 PX 1} "ERR syntax error"
    {1 a 1 EX 1 KEEPTTL} "ERR syntax error"
    {1 a 1 EX} "ERR syntax error"
    {1 a 1 EX x} "ERR value is not an integer or out of range"
    {1 a 1 EX 0} "ERR invalid expire time in 'msetex' command"
    {1 a 1 PX -1} "ERR invalid expire time in 'msetex' command"
    {1 a 1 EX 9223372036854775807} "ERR invalid expire time in 'msetex' command"
    {1 a} "ERR wrong number of arguments for 'msetex' command"
} {
    check_error "MSETEX $arguments is refused" [list r MSETEX {*}$arguments] $text
}
check "COMMAND GETKEYS returns all keys of MSETEX, and ACL rules ask for each" {
    r ACL SETUSER limited on nopass +@all ~a*
    set replies [list [r COMMAND GETKEYS MSETEX 3 a 1 b 2 c 3 EX 5]]
    set other [client_open]
    $other call AUTH limited any
    lappend replies [$other call MSETEX 2 a1 1 a2 2] [error_of {$other call MSETEX 2 a1 1 b 2}]
    r ACL DELUSER limited
    set replies
} {{a b c} 1 {NOPERM No permissions to access a key}}
check "a user that may not read a key cannot compare it" {
    r SET k secret
    r ACL SETUSER limited on nopass +@all %W~*
    set other [client_open]
    $other call AUTH limited any
    set replies [list [$other call SET other v]]
    foreach request {{SET k v IFEQ secret} {SET k v IFDNE 0000000000000000} {DELEX k IFEQ secret} {DELIFEQ k secret}} {
        lappend replies [error_of {$other call {*}$request}]
    }
    r ACL DELUSER limited
    lappend replies [r GET k]
} [list OK {*}[lrepeat 4 {NOPERM No permissions to access a key}] secret]

finish
