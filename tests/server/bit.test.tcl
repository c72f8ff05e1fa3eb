# Strings as arrays of bits: SETBIT GETBIT BITCOUNT BITPOS BITOP BITFIELD BITFIELD_RO.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set wrong_type "WRONGTYPE Operation against a key holding the wrong kind of value"
set no_integer "ERR value is not an integer or out of range"
set bad_offset "ERR bit offset is not an integer or out of range"
set bad_type "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."

# --- SETBIT and GETBIT

check "SETBIT sets and clears bits and answers the old ones" {
    list [typed SETBIT k 7 1] [r SETBIT k 7 1] [r GET k] [r SETBIT k 7 0] [r GET k] [r SETBIT k 20 1] [r STRLEN k]
} [list {int 0} 1 "\x01" 1 "\x00" 0 3]
check "SETBIT answers what was there" {
    r SET k "\x80"
    list [r SETBIT k 0 1] [r SETBIT k 0 0] [r SETBIT k 0 0]
} {1 1 0}
check "GETBIT reads bits, zeros behind the end and of missing keys" {
    r SET k "\x41\x80"
    list [r GETBIT k 0] [r GETBIT k 1] [r GETBIT k 7] [r GETBIT k 8] [r GETBIT k 9] [r GETBIT k 100] \
        [typed GETBIT nosuch 5] [r GETBIT k 4294967295] [r SET n 12] [r GETBIT n 2] [r GETBIT n 14]
} {0 1 1 1 0 0 {int 0} 0 OK 1 1}
check "what SETBIT wrote to is raw and keeps its time to live" {
    r SET k 12 EX 100
    list [r SETBIT k 1 0] [r OBJECT ENCODING k] [r GET k] [expr {[r TTL k] > 90}] [r SETBIT n 0 0] \
        [r OBJECT ENCODING n] [r GET n]
} [list 0 raw 12 1 0 raw "\x00"]
check "SETBIT lengthens a string step by step" {
    set requests {}
    for {set i 0} {$i < 40000} {incr i 13} {
        lappend requests [list SETBIT k $i 1]
    }
    [default_client] pipeline $requests
    list [r STRLEN k] [r BITCOUNT k] [r GETBIT k 39988] [r GETBIT k 39987]
} {4999 3077 1 0}
check "SETBIT and GETBIT refuse offsets and bits out of range" {
    foreach offset {-1 x 4294967296 9223372036854775807 "" 1.5 #1} {
        assert_equal [error_of {r SETBIT k $offset 1}] $bad_offset
        assert_equal [error_of {r GETBIT k $offset}] $bad_offset
    }
    foreach bit {2 -1 x ""} {
        assert_equal [error_of {r SETBIT k 0 $bit}] "ERR bit is not an integer or out of range"
    }
    r RPUSH l a
    assert_equal [error_of {r SETBIT l 0 1}] $wrong_type
    assert_equal [error_of {r GETBIT l 0}] $wrong_type
    r EXISTS k
} 0

# --- BITCOUNT

check "BITCOUNT counts in the whole string or a part of it" {
    r SET k foobar
    list [typed BITCOUNT k] [r BITCOUNT k 0 0] [r BITCOUNT k 1 1] [r BITCOUNT k 0 -1] [r BITCOUNT k -2 -1] \
        [r BITCOUNT k 1 1 BYTE] [r BITCOUNT k 5 30 BIT] [r BITCOUNT k -8 -1 bit] [r BITCOUNT k 0 100] \
        [r BITCOUNT k 3 2] [r BITCOUNT k 100 200] [r BITCOUNT k -1 -5] [r BITCOUNT k -100 -200] [r BITCOUNT nosuch]
} {{int 26} 4 6 26 7 6 17 4 26 0 0 0 0 0}
check "BITCOUNT of long strings and integers" {
    r SET k [string repeat "\xff\x00\x0f" 100000]
    r SET n 12345
    list [r BITCOUNT k] [r BITCOUNT k 1 -2] [r BITCOUNT k 1 -2 BIT] [r BITCOUNT n]
} {1200000 1199988 1199998 17}
check "BITCOUNT refuses what is no range" {
    r RPUSH l a
    foreach arguments {0 {0 1 NOSUCH} {0 1 BIT x} x} {
        assert_equal [error_of {r BITCOUNT nosuch {*}$arguments}] "ERR syntax error"
    }
    assert_equal [error_of {r BITCOUNT nosuch x 1}] $no_integer
    assert_equal [error_of {r BITCOUNT nosuch 1 x NOSUCH}] $no_integer
    assert_equal [error_of {r BITCOUNT l x 1}] $no_integer
    error_of {r BITCOUNT l}
} $wrong_type

# --- BITPOS

check "BITPOS finds the first bit that is set or clear" {
    r SET k "\xff\xf0\x00"
    r SET z "\x00\x00\x01"
    list [typed BITPOS k 0] [r BITPOS k 1] [r BITPOS k 0 2] [r BITPOS k 1 1] [r BITPOS k 1 2] [r BITPOS z 1] \
        [r BITPOS z 0] [r BITPOS z 1 -1] [r BITPOS z 1 -1 -1 BYTE] [r BITPOS z 1 -2 -2]
} {{int 12} 0 16 8 -1 23 0 23 23 -1}
check "BITPOS takes a range in bits" {
    r SET k "\xff\xf0\x00"
    list [r BITPOS k 0 3 12 BIT] [r BITPOS k 1 12 -1 BIT] [r BITPOS k 1 9 100 bit] [r BITPOS k 0 -1 -1 BIT]
} {12 -1 9 23}
check "BITPOS sees zeros behind a string of ones unless an end is given" {
    r SET k "\xff\xff"
    r SET empty ""
    list [r BITPOS k 0] [r BITPOS k 0 1] [r BITPOS k 0 0 -1] [r BITPOS k 0 0 -1 BIT] [r BITPOS k 0 2] \
        [r BITPOS nosuch 0] [r BITPOS nosuch 1] [r BITPOS nosuch 0 5 9] [r BITPOS empty 0] [r BITPOS empty 1]
} {16 16 -1 -1 -1 0 -1 0 -1 -1}
check "BITPOS searches long strings" {
    r SETBIT k 800003 1
    r SET ones [string repeat "\xff" 100001]
    r SETBIT ones 800002 0
    list [r BITPOS k 1] [r BITPOS ones 0] [r BITPOS ones 0 0 100000] [r BITPOS k 1 0 100000] [r BITPOS k 0 100000]
} {800003 800002 800002 800003 800000}
check "BITPOS refuses what is no bit or no range" {
    foreach bit {2 -1} {
        assert_equal [error_of {r BITPOS nosuch $bit}] "ERR The bit argument must be 1 or 0."
    }
    assert_equal [error_of {r BITPOS nosuch x}] $no_integer
    assert_equal [error_of {r BITPOS nosuch 1 x}] $no_integer
    assert_equal [error_of {r BITPOS nosuch 1 0 x}] $no_integer
    assert_equal [error_of {r BITPOS nosuch 1 0 x NOSUCH}] "ERR syntax error"
    assert_equal [error_of {r BITPOS nosuch 1 0 1 BIT x}] "ERR syntax error"
    r RPUSH l a
    error_of {r BITPOS l 1}
} $wrong_type

# --- BITOP

check "BITOP combines strings bit by bit" {
    r MSET a "\xf0\x0f\xaa" b "\xff\xff\x0f"
    list [typed BITOP AND d a b] [r GET d] [r BITOP or d a b] [r GET d] [r BITOP XOR d a b] [r GET d] \
        [r BITOP Not d a] [r GET d]
} [list {int 3} "\xf0\x0f\x0a" 3 "\xff\xff\xaf" 3 "\x0f\xf0\xa5" 3 "\x0f\xf0\x55"]
check "BITOP tells what is set in the first string, in others, or in exactly one" {
    r MSET a "\xff\x0f\xaa\x01" b "\x0f\x3c" c "\x11\xf0\x0a"
    set found {}
    foreach operation {DIFF diff1 AndOr ONE} {
        lappend found [typed BITOP $operation d a b c] [r GET d]
    }
    lappend found [r BITOP ONE d a] [r GET d] [r BITOP DIFF d a nosuch] [r GET d] [r BITOP ANDOR d nosuch a] [r GET d]
} [list {int 4} "\xe0\x03\xa0\x01" {int 4} "\x00\xf0\x00\x00" {int 4} "\x1f\x0c\x0a\x00" \
    {int 4} "\xe0\xc3\xa0\x01" 4 "\xff\x0f\xaa\x01" 4 "\xff\x0f\xaa\x01" 4 "\x00\x00\x00\x00"]
check "BITOP sees zeros behind the shorter strings and in missing keys" {
    r MSET a "\xff\xff\xff" b "\x0f"
    list [r BITOP AND d a b] [r GET d] [r BITOP OR d b a nosuch] [r GET d] [r BITOP XOR d a b a] [r GET d] \
        [r BITOP AND d a nosuch] [r GET d]
} [list 3 "\x0f\x00\x00" 3 "\xff\xff\xff" 3 "\x0f\x00\x00" 3 "\x00\x00\x00"]
check "BITOP may write to one of its sources, replaces any value and drops the time to live" {
    r SET a 12 EX 100
    r RPUSH l x
    list [r BITOP NOT a a] [r BITOP NOT a a] [r GET a] [r TTL a] [r OBJECT ENCODING a] [r BITOP OR l a] [r GET l]
} {2 2 12 -1 raw 2 12}
check "BITOP over its own sources, of any size, is as BITOP elsewhere" {
    foreach size {5 300 20000} {
        r SET a [string repeat "\x35\xca" $size]
        r SET b [string repeat "\x0f\x11\x9c" [expr {$size / 2}]]
        foreach arguments {{AND a b} {OR b a} {XOR b a b} {XOR a a} {XOR b a a} {OR b b} {NOT a} {AND b nosuch a}
            {DIFF a b} {DIFF b a} {DIFF1 a b} {DIFF1 b a} {ANDOR a b a}
            {ANDOR b a nosuch} {DIFF a a} {ONE a b} {ONE b a b}} {
            set operation [lindex $arguments 0]
            set sources [lrange $arguments 1 end]
            set length [r BITOP $operation elsewhere {*}$sources]
            foreach over {a b elsewhere new} {
                r BITOP OR saved a nosuch
                r BITOP OR other b nosuch
                assert_equal [r BITOP $operation $over {*}$sources] $length
                assert {[r GET $over] eq [r GET elsewhere]}
                r BITOP OR a saved
                r BITOP OR b other
            }
        }
    }
    list [r EXPIRE a 100] [r BITOP NOT a a] [r TTL a]
} {1 40000 -1}
check "BITOP with an empty result removes the destination" {
    r MSET d x empty ""
    list [r BITOP AND d nosuch empty] [r EXISTS d] [r BITOP NOT d nosuch] [r DBSIZE]
} {0 0 0 1}
check "BITOP combines long strings" {
    r SET a [string repeat "\x55" 100001]
    r SET b [string repeat "\x0f" 70001]
    list [r BITOP OR d a b] [r BITCOUNT d] [r BITOP AND d a b] [r BITCOUNT d] [r BITOP XOR d a b b] \
        [expr {[r GET d] eq [r GET a]}] [r BITOP NOT d a] [r BITCOUNT d]
} {100001 540006 100001 140002 100001 1 100001 400004}
check "BITOP refuses other operations, wrong numbers of sources, and lists" {
    r RPUSH l x
    r SET d before
    assert_equal [error_of {r BITOP NAND d a}] "ERR syntax error"
    assert_equal [error_of {r BITOP NOT d a b}] "ERR BITOP NOT must be called with a single source key."
    foreach {operation name} {DIFF DIFF diff1 DIFF1 Andor ANDOR} {
        assert_equal [error_of {r BITOP $operation d a}] \
            "ERR BITOP $name must be called with at least two source keys."
    }
    assert_equal [error_of {r BITOP AND d a l}] $wrong_type
    assert_equal [error_of {r BITOP ONE d l a}] $wrong_type
    r GET d
} before

# --- BITFIELD

check "BITFIELD stores, reads and adds to integers of any width" {
    list [typed BITFIELD k SET u8 0 255 GET i8 0 SET i4 #3 -3 GET u4 12 INCRBY u16 100 1000] \
        [r BITFIELD k GET i4 #3 GET u16 100 GET u1 0 GET i64 0 GET u63 1] [r STRLEN k]
} {{array {{int 0} {int -1} {int 0} {int 13} {int 1000}}} {-3 1000 1 -68398419340689408 9154973617514086400} 15}
check "BITFIELD counts whole integers where the offset begins with #" {
    r BITFIELD k SET u8 #0 1 SET u8 #1 2 SET u8 #2 3 SET i5 #6 -1
    list [r GETRANGE k 0 2] [r BITFIELD k GET u8 8 GET u16 #0 GET i5 30 GET u8 #4]
} [list "\x01\x02\x03" {2 258 -1 224}]
check "BITFIELD wraps around, saturates or fails as OVERFLOW says, from there on" {
    r BITFIELD k SET u8 0 250 SET i8 8 120 SET i64 64 9223372036854775807
    list [r BITFIELD k INCRBY u8 0 10 INCRBY i8 8 10 INCRBY i64 64 1] \
        [r BITFIELD k SET u8 0 250 SET i8 8 120 OVERFLOW SAT INCRBY u8 0 10 INCRBY i8 8 10 INCRBY i64 64 -1] \
        [r BITFIELD k OVERFLOW FAIL INCRBY u8 0 1 INCRBY i8 8 1 GET u8 0 OVERFLOW WRAP INCRBY u8 0 1] \
        [r BITFIELD k OVERFLOW sat SET u8 0 -1 SET i8 8 -300 SET u8 0 0 GET i8 8] \
        [r BITFIELD k OVERFLOW fail SET u8 0 256 SET i8 8 128 GET u8 0] \
        [r BITFIELD k OVERFLOW wrap SET u8 0 257 INCRBY u8 0 0 OVERFLOW SAT INCRBY u8 0 -5 INCRBY i1 24 5]
} [list {4 -126 -9223372036854775808} {4 -126 255 127 -9223372036854775808} {(nil) (nil) 255 0} {0 127 255 -128} \
    {(nil) (nil) 0} {0 1 0 0}]
check "BITFIELD saturates at the greatest number what is farther from it than 2^63 - 1, as Redis and Valkey do" {
    r BITFIELD k OVERFLOW SAT SET i5 0 -9223372036854775808 GET i5 0 SET i5 0 -9223372036854775793 GET i5 0 \
        SET i5 0 -9223372036854775792 GET i5 0 SET i64 0 -9223372036854775808 GET i64 0
} {0 15 15 15 15 -16 -9223372036854775808 -9223372036854775808}
check "BITFIELD that only reads makes no key and leaves the encoding" {
    r SET n 12
    list [r BITFIELD nosuch GET u8 0 GET i64 1000] [r EXISTS nosuch] [r BITFIELD n GET u8 0] [r OBJECT ENCODING n] \
        [r BITFIELD nosuch] [r BITFIELD nosuch OVERFLOW FAIL] [r BITFIELD n GET u16 12 GET i16 0]
} {{0 0} 0 49 int {} {} {8192 12594}}
check "BITFIELD that writes makes the string long enough, raw, and keeps its time to live" {
    r SET k 12 EX 100
    list [r BITFIELD k SET u8 0 51] [r OBJECT ENCODING k] [r GET k] [expr {[r TTL k] > 90}] \
        [r BITFIELD n SET u8 100 0] [r STRLEN n] [r BITFIELD f OVERFLOW FAIL SET u8 0 256] [r GET f]
} [list 49 raw 32 1 0 14 (nil) "\x00"]
check "BITFIELD refuses bad types, offsets, values and words, and does nothing then" {
    foreach type {u64 i65 u0 i0 u i "" U8 x8 8 u08 u-1} {
        assert_equal [error_of {r BITFIELD k SET u8 0 1 GET $type 0}] $bad_type
    }
    foreach offset {-1 x # #-1 #x "" 01 4294967296 #1000000000000000000} {
        assert_equal [error_of {r BITFIELD k SET u8 0 1 GET u8 $offset}] $bad_offset
    }
    assert_equal [error_of {r BITFIELD k SET u8 0 x}] $no_integer
    assert_equal [error_of {r BITFIELD k INCRBY u8 0 1.5}] $no_integer
    assert_equal [error_of {r BITFIELD k SET u8 0 1 OVERFLOW NOSUCH}] "ERR Invalid OVERFLOW type specified"
    foreach arguments {NOSUCH GET {GET u8} {SET u8 0} {INCRBY u8 0} OVERFLOW {GET u8 0 SET} {GET u8 0 1}} {
        assert_equal [error_of {r BITFIELD k SET u8 0 1 {*}$arguments}] "ERR syntax error"
    }
    r RPUSH l a
    assert_equal [error_of {r BITFIELD l GET u8 0}] $wrong_type
    assert_equal [error_of {r BITFIELD l SET u8 0 1}] $wrong_type
    r EXISTS k
} 0
check "BITFIELD_RO reads and nothing else" {
    r SET k "\x01\xff"
    list [r BITFIELD_RO k GET u8 0 GET i8 8 OVERFLOW SAT GET u16 0] [r BITFIELD_RO nosuch GET u8 0] \
        [error_of {r BITFIELD_RO k SET u8 0 1}] [error_of {r BITFIELD_RO k GET u8 0 INCRBY u8 0 1}] [r GET k]
} [list {1 -1 511} 0 "ERR BITFIELD_RO only supports the GET subcommand" \
    "ERR BITFIELD_RO only supports the GET subcommand" "\x01\xff"]
check_error "BITFIELD_RO refuses a list" {
    r RPUSH l a
    r BITFIELD_RO l GET u8 0
} $wrong_type

finish
