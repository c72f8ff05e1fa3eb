# Strings changed where they are, read in part and compared: APPEND STRLEN GETRANGE SUBSTR SETRANGE INCR DECR INCRBY
# DECRBY INCRBYFLOAT LCS.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set wrong_type "WRONGTYPE Operation against a key holding the wrong kind of value"
set no_integer "ERR value is not an integer or out of range"
set no_float "ERR value is not a valid float"
set too_long "ERR string exceeds maximum allowed size (proto-max-bulk-len)"

# --- APPEND and STRLEN

check "APPEND makes a string or makes it longer" {
    list [typed APPEND k Hello] [typed APPEND k " World"] [r GET k] [r APPEND k ""] [r STRLEN k]
} {{int 5} {int 11} {Hello World} 11 11}
check "APPEND of nothing makes an empty string" {list [r APPEND k ""] [r EXISTS k] [r GET k]} {0 1 {}}
check "many APPENDs keep every byte, over all sizes" {
    set requests {}
    set expected ""
    for {set i 0} {$i < 3000} {incr i} {
        lappend requests [list APPEND k $i,]
        append expected $i,
    }
    [default_client] pipeline $requests
    assert {[r GET k] eq $expected}
    r STRLEN k
} 13890
check "a value that was appended to is raw, however short" {
    set seen {}
    foreach text {12 short} {
        r SET k $text
        lappend seen [r APPEND k ""] [r OBJECT ENCODING k] [r GET k]
    }
    lappend seen [r APPEND n 12] [r OBJECT ENCODING n] [r APPEND n 3] [r OBJECT ENCODING n] [r GET n]
} {2 raw 12 5 raw short 2 int 3 raw 123}
check "APPEND keeps the time to live" {
    r SET k v EX 100
    r APPEND k [string repeat x 500]
    expr {[r TTL k] > 90}
} 1
check "STRLEN counts bytes, digits, and nothing for a missing key" {
    r MSET a -12345 b [string repeat x 1000] c "\x00\xff" d 9223372036854775807 e -9223372036854775808 f 0
    list [typed STRLEN nosuch] [r STRLEN a] [r STRLEN b] [r STRLEN c] [r STRLEN d] [r STRLEN e] [r STRLEN f]
} {{int 0} 6 1000 2 19 20 1}
check "strings do not grow beyond proto-max-bulk-len" {
    with_config {proto-max-bulk-len 1mb} {
        r SET k [string repeat x 1000000]
        assert_equal [r APPEND k [string repeat y 48576]] 1048576
        assert_equal [error_of {r APPEND k z}] $too_long
        assert_equal [error_of {r SETRANGE k 1048576 z}] $too_long
        assert_equal [error_of {r SETRANGE n 1048575 zz}] $too_long
        assert_equal [error_of {r SETBIT n 8388608 1}] "ERR bit offset is not an integer or out of range"
        list [r SETRANGE k 1048575 z] [r STRLEN k] [r EXISTS n]
    }
} {1048576 1048576 0}
check "proto-max-bulk-len may be 32 GB, and no string grows beyond" {
    assert_match "* argument must be between 1048576 and 34359738368 inclusive" \
        [error_of {r CONFIG SET proto-max-bulk-len 34359738369}]
    with_config {proto-max-bulk-len 32gb} {
        assert_equal [error_of {r SETRANGE k 34359738368 x}] $too_long
        assert_equal [error_of {r SETRANGE k 9223372036854775807 x}] $too_long
        r SET k x
        assert_equal [error_of {r SETRANGE k 34359738367 xy}] $too_long
        assert_equal [error_of {r SETBIT k 274877906944 1}] "ERR bit offset is not an integer or out of range"
        r GET k
    }
} x

# --- GETRANGE and SUBSTR

foreach command {GETRANGE SUBSTR} {
    check "$command reads a part, negative positions counting from the end" {
        r SET k "This is a string"
        lmap range {{0 3} {-3 -1} {0 -1} {10 100} {-100 3} {5 3} {16 20} {-1 -5} {0 -100} {3 3} {-16 -16}} {
            r $command k {*}$range
        }
    } {This ing {This is a string} string This {} {} {} T s T}
    check "$command of an integer, of nothing and of a long string" {
        r SET n -12345
        r SET l [string repeat abc 1000]
        list [r $command n 1 2] [typed $command nosuch 0 -1] [r $command l 2996 -1]
    } {12 {bulk {}} cabc}
    check "$command refuses positions that are no integers, and lists" {
        r RPUSH l a
        assert_equal [error_of {r $command l x 1}] $no_integer
        assert_equal [error_of {r $command nosuch 0 1.5}] $no_integer
        error_of {r $command l 0 1}
    } $wrong_type
}

# --- SETRANGE

check "SETRANGE overwrites, lengthens, and fills gaps with zeros" {
    r SET k "Hello World"
    list [typed SETRANGE k 6 Redis] [r GET k] [r SETRANGE k 9 stributed] [r GET k] [r SETRANGE n 3 x] [r GET n] \
        [r SETRANGE n 300 y] [r GETRANGE n 2 5] [r GETRANGE n 298 -1]
} [list {int 11} {Hello Redis} 18 {Hello Redstributed} 4 "\x00\x00\x00x" 301 "\x00x\x00\x00" "\x00\x00y"]
check "SETRANGE of an empty text changes nothing and makes no key" {
    r SET k 12
    list [r SETRANGE k 100 ""] [r OBJECT ENCODING k] [r SETRANGE nosuch 5 ""] [r EXISTS nosuch]
} {2 int 0 0}
check "what SETRANGE wrote to is raw and keeps its time to live" {
    r SET k 12 EX 100
    list [r SETRANGE k 0 3] [r OBJECT ENCODING k] [r GET k] [expr {[r TTL k] > 90}] [r SETRANGE n 0 5] \
        [r OBJECT ENCODING n]
} {2 raw 32 1 1 raw}
check "SETRANGE refuses offsets out of range" {
    assert_equal [error_of {r SETRANGE k -1 x}] "ERR offset is out of range"
    assert_equal [error_of {r SETRANGE k x x}] $no_integer
    assert_equal [error_of {r SETRANGE k 536870912 x}] $too_long
    assert_equal [error_of {r SETRANGE k 9223372036854775807 xy}] $too_long
    r RPUSH l a
    assert_equal [error_of {r SETRANGE l -1 x}] "ERR offset is out of range"
    assert_equal [error_of {r SETRANGE l 0 ""}] $wrong_type
    r EXISTS k
} 0

# --- Counters

check "INCR, DECR, INCRBY and DECRBY count, from 0 on" {
    list [typed INCR a] [r INCRBY a 41] [typed DECR b] [r DECRBY b -10] [r INCRBY c 0] [r GET a] [r OBJECT ENCODING a]
} {{int 1} 42 {int -1} 9 0 42 int}
check "counters pass all sizes of integers" {
    foreach power {7 8 15 16 23 24 31 32 39 40 47 48 55 56 62} {
        foreach sign {1 -1} {
            set value [expr {$sign * (1 << $power)}]
            r SET k $value
            foreach step {1 -1 -1 1 -2 4} {
                incr value $step
                assert_equal [r INCRBY k $step] $value
                assert_equal [r GET k] $value
            }
        }
    }
    r OBJECT ENCODING k
} int
check "counters read texts that are integers and keep the time to live" {
    r SETRANGE k 0 10
    r EXPIRE k 100
    list [r OBJECT ENCODING k] [r INCR k] [r OBJECT ENCODING k] [expr {[r TTL k] > 90}]
} {raw 11 int 1}
check "counters refuse texts that are no integers and change nothing" {
    foreach text {"" abc 1.5 " 1" "1 " +1 007 -0 9223372036854775808 1e3} {
        r SET k $text
        foreach command {{INCR k} {DECR k} {INCRBY k 1} {DECRBY k 1}} {
            assert_equal [error_of {r {*}$command}] $no_integer
        }
        assert_equal [r GET k] $text
    }
}
check "counters refuse to overflow" {
    set overflow "ERR increment or decrement would overflow"
    r MSET max 9223372036854775807 min -9223372036854775808
    assert_equal [error_of {r INCR max}] $overflow
    assert_equal [error_of {r INCRBY max 9223372036854775807}] $overflow
    assert_equal [error_of {r DECR min}] $overflow
    assert_equal [error_of {r DECRBY min 1}] $overflow
    assert_equal [error_of {r DECRBY min -9223372036854775808}] "ERR decrement would overflow"
    list [r INCRBY max -9223372036854775808] [r INCRBY min 9223372036854775807] [r DECRBY max 9223372036854775806]
} {-1 -1 -9223372036854775807}
check "counters refuse increments that are no integers before they look at the key" {
    r RPUSH l a
    assert_equal [error_of {r INCRBY l x}] $no_integer
    assert_equal [error_of {r DECRBY l 1.5}] $no_integer
    assert_equal [error_of {r INCRBY l 1}] $wrong_type
    error_of {r INCR l}
} $wrong_type

check "INCRBYFLOAT adds fractions and writes them plainly" {
    r SET k 10.50
    list [typed INCRBYFLOAT k 0.1] [r INCRBYFLOAT k -5] [r SET k 5.0e3] [r INCRBYFLOAT k 2.0e2] [r INCRBYFLOAT n 3] \
        [r INCRBYFLOAT n -3] [r INCRBYFLOAT m -0.0] [r INCRBYFLOAT m 1e20] [r INCRBYFLOAT m 0x1p3]
} {{bulk 10.6} 5.6 OK 5200 3 0 0 100000000000000000000 100000000000000000008}
check "what INCRBYFLOAT stored is a text, and INCR makes it an integer again" {
    r SET k 10 EX 100
    list [r INCRBYFLOAT k 1] [r OBJECT ENCODING k] [expr {[r TTL k] > 90}] [r INCR k] [r OBJECT ENCODING k] \
        [string length [r INCRBYFLOAT n 1e100]] [r OBJECT ENCODING n] [string length [r INCRBYFLOAT n 1e100]]
} {11 embstr 1 12 int 100 raw 101}
check "INCRBYFLOAT goes on with the largest numbers it wrote" {
    string length [r INCRBYFLOAT k 1e4000]
    string length [r INCRBYFLOAT k 2e4900]
} 4901
check "INCRBYFLOAT refuses what is no number" {
    foreach text {"" abc " 1" "1 " nan 1,5 1e5000} {
        r SET k $text
        assert_equal [error_of {r INCRBYFLOAT k 1}] $no_float
        r SET k 1
        assert_equal [error_of {r INCRBYFLOAT k $text}] $no_float
    }
    r SET k 1
    assert_equal [error_of {r INCRBYFLOAT k inf}] "ERR increment would produce NaN or Infinity"
    assert_equal [error_of {r INCRBYFLOAT k -inf}] "ERR increment would produce NaN or Infinity"
    r RPUSH l a
    assert_equal [error_of {r INCRBYFLOAT l x}] $wrong_type
    r GET k
} 1

# --- LCS

check "LCS finds what two strings have in common, or how much" {
    r MSET a ohmytext b mynewtext
    list [typed LCS a b] [typed LCS a b LEN] [typed LCS a nosuch] [r LCS a nosuch LEN] [r LCS a a]
} {{bulk mytext} {int 6} {bulk {}} 0 ohmytext}
check "LCS IDX replies the positions, from the end on" {
    r MSET a ohmytext b mynewtext
    list [r LCS a b IDX] [r LCS a b IDX MINMATCHLEN 4] [r LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN] \
        [r LCS a b IDX MINMATCHLEN 5] [r LCS a b IDX MINMATCHLEN -1 WITHMATCHLEN] [r LCS a nosuch IDX]
} [list {matches {{{4 7} {5 8}} {{2 3} {0 1}}} len 6} {matches {{{4 7} {5 8}}} len 6} \
    {matches {{{4 7} {5 8} 4}} len 6} {matches {} len 6} \
    {matches {{{4 7} {5 8} 4} {{2 3} {0 1} 2}} len 6} {matches {} len 0}]
check_in 3 "LCS IDX is a map in RESP3" {
    r MSET a x b x
    lindex [typed LCS a b IDX] 0
} map
check "LCS works over words' borders and on integers" {
    set long [string repeat 0123456789 40]
    r MSET a $long b x${long}y c 13579 d 123456789
    list [r LCS a b LEN] [expr {[r LCS a b] eq $long}] [r LCS a b IDX] [r LCS c d]
} {400 1 {matches {{{0 399} {1 400}}} len 400} 13579}
check "LCS refuses what it cannot do" {
    r MSET a x b y
    r RPUSH l x
    assert_equal [error_of {r LCS a b LEN IDX}] \
        "ERR If you want both the length and indexes, please just use IDX."
    foreach options {NOSUCH MINMATCHLEN {LEN NOSUCH}} {
        assert_equal [error_of {r LCS a b {*}$options}] "ERR syntax error"
    }
    assert_equal [error_of {r LCS a b IDX MINMATCHLEN x}] $no_integer
    error_of {r LCS a l NOSUCH}
} "ERR The specified keys must contain string values"
check "LCS of texts that are too long together is refused" {
    with_config {proto-max-bulk-len 1mb} {
        r MSET a [string repeat x 600] b [string repeat x 500]
        error_of {r LCS a b LEN}
    }
} "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"

finish
