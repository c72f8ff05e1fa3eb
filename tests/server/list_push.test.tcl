# LPUSH, RPUSH, LPUSHX, RPUSHX and LLEN.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

check "LPUSH returns the new length" {list [typed LPUSH k a] [typed LPUSH k b c]} {{int 1} {int 3}}
check "RPUSH returns the new length" {list [typed RPUSH k a] [typed RPUSH k b c]} {{int 1} {int 3}}
check "LPUSH creates a list" {
    r LPUSH k a
    r TYPE k
} list
check "RPUSH creates a list" {
    r RPUSH k a
    r TYPE k
} list
check_lists "LPUSH puts its elements before the first, one after another" {
    make_list k {x y z}
    r LPUSH k a b c
    list_of k
} {c b a x y z}
check_lists "RPUSH puts its elements behind the last, one after another" {
    make_list k {x y z}
    r RPUSH k a b c
    list_of k
} {x y z a b c}
check_lists "pushes at both ends in turn keep their order" {
    set model {}
    set requests {}
    for {set i 0} {$i < 100} {incr i} {
        lappend requests [list LPUSH k l$i] [list RPUSH k r$i $i]
        set model [list l$i {*}$model r$i $i]
    }
    [default_client] pipeline $requests
    assert_equal [list_of k] $model
    r LLEN k
} 300
check "one LPUSH takes thousands of elements" {
    set elements [numbered 1 5000 element:]
    assert_equal [r LPUSH k {*}$elements] 5000
    assert_equal [list_of k] [lreverse $elements]
}
check "one RPUSH takes thousands of elements" {
    set elements [numbered 1 5000]
    assert_equal [r RPUSH k {*}$elements] 5000
    assert_equal [list_of k] $elements
}
check "a pushed element may stand in the same list already" {
    r RPUSH k a a
    r LPUSH k a a
    list_of k
} {a a a a}
check "a list that was emptied begins anew" {
    r RPUSH k a
    r LPOP k
    assert_equal [r EXISTS k] 0
    r RPUSH k b
    list_of k
} b
check "lists of several keys and databases are apart" {
    r RPUSH one a
    r RPUSH two b
    r SELECT 1
    r RPUSH one c
    assert_equal [list_of one] c
    r SELECT 0
    list [list_of one] [list_of two]
} {a b}
check "a key may be empty, binary or long" {
    foreach key [list "" "\x00\r\n\xff" [string repeat k 30] [string repeat k 300] [string repeat k 70000]] {
        assert_equal [r RPUSH $key [string length $key]] 1
        assert_equal [list_of $key] [string length $key]
    }
}

# Every length class of strings, every width of integers, and texts that only look like integers.
set elements [list "" a "\x00" "\r\n" "\x00\xff\x80" " " "a b" 0 1 -1 127 128 -128 4095 4096 -4096 -4097 32767 32768 \
    -32768 -32769 8388607 8388608 -8388608 -8388609 2147483647 2147483648 -2147483648 -2147483649 \
    9223372036854775807 -9223372036854775808 9223372036854775808 -9223372036854775809 \
    00 01 -0 -01 +1 1. 1e3 0x10 "1 " " 1" - -- 1-]
foreach length {1 2 15 16 17 31 32 33 62 63 64 65 126 127 128 255 256 4094 4095 4096 4097 16383 16384 65535 65536} {
    lappend elements [string repeat x $length]
}
check_lists "each element comes back byte for byte" {
    r RPUSH k {*}$elements
    assert_equal [list_of k] $elements
    for {set i 0} {$i < [llength $elements]} {incr i} {
        assert_equal [typed LINDEX k $i] [list bulk [lindex $elements $i]]
    }
    foreach element [lreverse $elements] {
        assert_equal [typed RPOP k] [list bulk $element]
    }
    r EXISTS k
} 0
check_lists "each element comes back byte for byte when pushed at the head" {
    foreach element $elements {
        r LPUSH k $element
    }
    assert_equal [list_of k] [lreverse $elements]
}

foreach command {LPUSHX RPUSHX} {
    check "$command does nothing without the list" {
        list [typed $command k a b] [r EXISTS k]
    } {{int 0} 0}
    check_error "$command needs an element" {r $command k} \
        "ERR wrong number of arguments for '[string tolower $command]' command"
}
check_lists "LPUSHX pushes to a list that is there" {
    make_list k {x y z}
    list [typed LPUSHX k a b] [list_of k]
} {{int 5} {b a x y z}}
check_lists "RPUSHX pushes to a list that is there" {
    make_list k {x y z}
    list [typed RPUSHX k a b] [list_of k]
} {{int 5} {x y z a b}}

foreach command {LPUSH RPUSH LPUSHX RPUSHX} {
    check "$command refuses a key of another type and leaves it alone" {
        r SET k text
        assert_equal [error_of {r $command k a}] $wrong_type
        r GET k
    } text
}
foreach command {LPUSH RPUSH} {
    foreach arguments {{} k} {
        check_error "$command needs a key and an element, not {$arguments}" {r $command {*}$arguments} \
            "ERR wrong number of arguments for '[string tolower $command]' command"
    }
}

check_lists "LLEN is the number of elements" {
    make_list k {a b c d e}
    typed LLEN k
} {int 5}
check "LLEN of a missing key is 0" {typed LLEN k} {int 0}
check_error "LLEN refuses a key of another type" {
    r SET k text
    r LLEN k
} $wrong_type
check_error "LLEN needs a key" {r LLEN} "ERR wrong number of arguments for 'llen' command"
check_error "LLEN takes one key" {r LLEN a b} "ERR wrong number of arguments for 'llen' command"

finish
