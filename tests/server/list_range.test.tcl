# LRANGE, LINDEX and LTRIM.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

# What Redis's rules for start and stop leave of a Tcl list.
proc model_range {elements start stop} {
    set length [llength $elements]
    set start [expr {$start < 0 ? max($start + $length, 0) : min($start, $length)}]
    set stop [expr {$stop < 0 ? $stop + $length : $stop}]
    return [lrange $elements $start [expr {max(min($stop, $length - 1), -1)}]]
}

set ten [numbered 0 9 e]
set ends {-9223372036854775808 -4294967297 -11 -10 -9 -6 -5 -2 -1 0 1 2 4 5 8 9 10 11 4294967296 9223372036854775807}

# --- LRANGE

check_lists "LRANGE returns an array of bulk strings" {
    make_list k {a 17 -3}
    typed LRANGE k 0 -1
} {array {{bulk a} {bulk 17} {bulk -3}}}
check_lists "LRANGE takes any start and stop" {
    make_list k $ten
    set requests {}
    set expected {}
    foreach start $ends {
        foreach stop $ends {
            lappend requests [list LRANGE k $start $stop]
            lappend expected [model_range $ten $start $stop]
        }
    }
    assert_equal [[default_client] pipeline $requests] $expected
}
check_lists "LRANGE returns each part of a long list" {
    set elements [numbered 0 499]
    r RPUSH k {*}$elements
    set requests {}
    set expected {}
    for {set start 0} {$start < 500} {incr start 7} {
        foreach length {1 2 3 50 129 400} {
            set stop [expr {$start + $length - 1}]
            lappend requests [list LRANGE k $start $stop]
            lappend expected [lrange $elements $start $stop]
        }
    }
    assert_equal [[default_client] pipeline $requests] $expected
}
check "LRANGE returns ten thousand elements" {
    set elements [numbered 1 10000 element-]
    r RPUSH k {*}$elements
    assert_equal [list_of k] $elements
    assert_equal [r LRANGE k 2500 7499] [lrange $elements 2500 7499]
}
check "LRANGE of a missing key is an empty array" {typed LRANGE k 0 -1} {array {}}
check_lists "LRANGE of nothing is an empty array" {
    make_list k {a b c}
    list [typed LRANGE k 2 1] [typed LRANGE k 3 10] [typed LRANGE k -1 -2] [typed LRANGE k 0 -4]
} {{array {}} {array {}} {array {}} {array {}}}
check "LRANGEs in a pipeline are answered one behind the other" {
    r RPUSH k {*}[numbered 1 1000]
    set replies [[default_client] pipeline [lrepeat 50 {LRANGE k 0 -1}]]
    assert_equal $replies [lrepeat 50 [numbered 1 1000]]
}
check_error "LRANGE refuses a key of another type" {
    r SET k text
    r LRANGE k 0 -1
} $wrong_type
foreach arguments {{x 1} {1 x} {1.0 2} {"" 1} {1 9223372036854775808} {-9223372036854775809 1} {01 2} {+1 2} {" 1" 2}} {
    check_error "LRANGE refuses {$arguments}" {r LRANGE k {*}$arguments} $not_integer
}
check_error "LRANGE looks at its numbers before the key" {
    r SET k text
    r LRANGE k x 1
} $not_integer
foreach arguments {{} k {k 0} {k 0 1 2}} {
    check_error "LRANGE takes a key and two numbers, not {$arguments}" {r LRANGE {*}$arguments} \
        "ERR wrong number of arguments for 'lrange' command"
}

# --- LINDEX

check_lists "LINDEX returns each element, counted from either end" {
    make_list k $ten
    for {set i 0} {$i < 10} {incr i} {
        assert_equal [typed LINDEX k $i] [list bulk e$i]
        assert_equal [r LINDEX k [expr {$i - 10}]] e$i
    }
}
check_lists "LINDEX returns integers as bulk strings" {
    make_list k {0 -1 9223372036854775807 -9223372036854775808}
    list [typed LINDEX k 1] [typed LINDEX k 2] [typed LINDEX k -1]
} {{bulk -1} {bulk 9223372036854775807} {bulk -9223372036854775808}}
check_lists "LINDEX beyond the list is null" {
    make_list k {a b c}
    lmap i {3 -4 100 -100 4294967296 9223372036854775807 -9223372036854775808} {r LINDEX k $i}
} [lrepeat 7 (nil)]
check_in 2 "LINDEX of a missing key or element is a null bulk string in RESP2" {
    r RPUSH k a
    list [typed LINDEX nosuch 0] [typed LINDEX k 1]
} {nil nil}
check_in 3 "LINDEX of a missing key or element is null in RESP3" {
    r RPUSH k a
    list [typed LINDEX nosuch 0] [typed LINDEX k 1]
} {null null}
check_error "LINDEX refuses a key of another type" {
    r SET k text
    r LINDEX k 0
} $wrong_type
foreach index {x 1.5 "" 9223372036854775808 01} {
    check_error "LINDEX refuses '$index'" {
        r RPUSH k a
        r LINDEX k $index
    } $not_integer
}
foreach arguments {{} k {k 0 1}} {
    check_error "LINDEX takes a key and a number, not {$arguments}" {r LINDEX {*}$arguments} \
        "ERR wrong number of arguments for 'lindex' command"
}

# --- LTRIM

check_lists "LTRIM keeps what LRANGE shows, for any start and stop" {
    foreach start {-9223372036854775808 -11 -10 -7 -1 0 1 4 9 10} {
        foreach stop {-11 -10 -7 -1 0 1 4 9 10 9223372036854775807} {
            r RPUSH k {*}$ten
            assert_equal [typed LTRIM k $start $stop] {simple OK}
            assert_equal [list $start $stop [list_of k]] [list $start $stop [model_range $ten $start $stop]]
            r DEL k
        }
    }
}
check_lists "LTRIM to nothing deletes the key" {
    make_list k {a b c}
    list [r LTRIM k 5 10] [r EXISTS k]
} {OK 0}
check_lists "LTRIM cuts long lists within nodes" {
    set elements [numbered 1 1000]
    r RPUSH k {*}$elements
    foreach {start stop} {0 -1 1 -2 13 -29 0 800 100 -1 333 444 50 50} {
        r LTRIM k $start $stop
        set elements [model_range $elements $start $stop]
        assert_equal [list_of k] $elements
        assert_equal [r LLEN k] [llength $elements]
    }
    list_of k
} 498
check_lists "a trimmed list grows again at both ends" {
    r RPUSH k {*}[numbered 1 20]
    r LTRIM k 9 10
    r RPUSH k 12 13
    r LPUSH k 9 8
    list_of k
} {8 9 10 11 12 13}
check "LTRIM of a missing key is OK" {list [typed LTRIM k 0 1] [r EXISTS k]} {{simple OK} 0}
check "LTRIM refuses a key of another type and leaves it alone" {
    r SET k text
    assert_equal [error_of {r LTRIM k 1 0}] $wrong_type
    r GET k
} text
foreach arguments {{x 1} {1 x} {1 9223372036854775808}} {
    check_error "LTRIM refuses {$arguments}" {r LTRIM k {*}$arguments} $not_integer
}
foreach arguments {{} k {k 0} {k 0 1 2}} {
    check_error "LTRIM takes a key and two numbers, not {$arguments}" {r LTRIM {*}$arguments} \
        "ERR wrong number of arguments for 'ltrim' command"
}

finish
