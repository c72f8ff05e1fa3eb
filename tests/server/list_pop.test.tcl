# LPOP, RPOP and LMPOP.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

set out_of_range "ERR value is out of range, must be positive"

# --- LPOP and RPOP

check_lists "LPOP takes the first element" {
    make_list k {a b c d}
    list [typed LPOP k] [typed LPOP k] [list_of k]
} {{bulk a} {bulk b} {c d}}
check_lists "RPOP takes the last element" {
    make_list k {a b c d}
    list [typed RPOP k] [typed RPOP k] [list_of k]
} {{bulk d} {bulk c} {a b}}
check_lists "an integer is popped as a bulk string" {
    make_list k {-1 5000000000 7}
    list [typed LPOP k] [typed RPOP k] [typed LPOP k]
} {{bulk -1} {bulk 7} {bulk 5000000000}}
check_lists "LPOP with a count takes so many, the first one first" {
    make_list k {a b c d e}
    list [typed LPOP k 3] [list_of k]
} {{array {{bulk a} {bulk b} {bulk c}}} {d e}}
check_lists "RPOP with a count takes so many, the last one first" {
    make_list k {a b c d e}
    list [typed RPOP k 3] [list_of k]
} {{array {{bulk e} {bulk d} {bulk c}}} {a b}}
foreach {command popped} {LPOP {a b c} RPOP {c b a}} {
    check_lists "$command with a count beyond the length takes all" {
        make_list k {a b c}
        list [r $command k 100] [r EXISTS k]
    } [list $popped 0]
    check_lists "$command with a count of the length takes all" {
        make_list k {a b c}
        list [r $command k 3] [r EXISTS k]
    } [list $popped 0]
    check_lists "$command with a count of 1 returns an array" {
        make_list k {a b c}
        typed $command k 1
    } [list array [list [list bulk [lindex $popped 0]]]]
    check_lists "$command with a count of 0 returns an empty array and takes nothing" {
        make_list k {a b c}
        list [typed $command k 0] [list_of k]
    } {{array {}} {a b c}}
    check_lists "$command of the last element deletes the key" {
        make_list k {a b c}
        r $command k
        r $command k
        list [r EXISTS k] [r $command k] [r EXISTS k] [r TYPE k]
    } [list 1 [lindex $popped 2] 0 none]
    check_lists "$command empties a list of any length in order" {
        set elements [numbered 1 300]
        r RPUSH k {*}$elements
        set requests [lrepeat 300 [list $command k]]
        assert_equal [[default_client] pipeline $requests] \
            [expr {$command eq "LPOP" ? $elements : [lreverse $elements]}]
        r EXISTS k
    } 0
    check_lists "$command takes counts that end within and between nodes" {
        set elements [numbered 1 200 e]
        r RPUSH k {*}$elements
        set taken {}
        for {set count 0} {[llength $taken] < 200} {incr count} {
            lappend taken {*}[r $command k $count]
        }
        assert_equal $taken [expr {$command eq "LPOP" ? $elements : [lreverse $elements]}]
    }
    check_in 2 "$command of a missing key is a null in RESP2" {
        list [typed $command k] [typed $command k 1] [typed $command k 0]
    } {nil nilarray nilarray}
    check_in 3 "$command of a missing key is a null in RESP3" {
        list [typed $command k] [typed $command k 1] [typed $command k 0]
    } {null null null}
    foreach count {-1 x 1.5 "" 9223372036854775808} {
        check_error "$command refuses a count of '$count'" {
            r RPUSH k a
            r $command k $count
        } $out_of_range
    }
    check_error "$command looks at the count before the key" {r $command nosuch -1} $out_of_range
    check "$command takes any count that is an integer" {
        r RPUSH k a
        r $command k 9223372036854775807
    } a
    check "$command refuses a key of another type and leaves it alone" {
        r SET k text
        assert_equal [error_of {r $command k}] $wrong_type
        assert_equal [error_of {r $command k 1}] $wrong_type
        assert_equal [error_of {r $command k 0}] $wrong_type
        r GET k
    } text
    foreach arguments {{} {k 1 2}} {
        check_error "$command takes a key and a count, not {$arguments}" {r $command {*}$arguments} \
            "ERR wrong number of arguments for '[string tolower $command]' command"
    }
}
check "a list is used from both ends as a queue" {
    with_config {list-max-listpack-size 3} {
        for {set i 0} {$i < 500} {incr i} {
            r RPUSH k $i
            if {$i >= 20} {
                assert_equal [r LPOP k] [expr {$i - 20}]
            }
        }
    }
    list_of k
} [numbered 480 499]

# --- LMPOP

check_lists "LMPOP LEFT returns the key and its first element" {
    make_list k {a b c}
    list [typed LMPOP 1 k LEFT] [list_of k]
} {{array {{bulk k} {array {{bulk a}}}}} {b c}}
check_lists "LMPOP RIGHT returns the key and its last element" {
    make_list k {a b c}
    list [typed LMPOP 1 k RIGHT] [list_of k]
} {{array {{bulk k} {array {{bulk c}}}}} {a b}}
check_lists "LMPOP LEFT COUNT takes so many, the first one first" {
    make_list k {a b c d e}
    list [typed LMPOP 1 k LEFT COUNT 2] [list_of k]
} {{array {{bulk k} {array {{bulk a} {bulk b}}}}} {c d e}}
check_lists "LMPOP RIGHT COUNT takes so many, the last one first" {
    make_list k {a b c d e}
    list [typed LMPOP 1 k RIGHT COUNT 2] [list_of k]
} {{array {{bulk k} {array {{bulk e} {bulk d}}}}} {a b c}}
check_lists "LMPOP with a COUNT beyond the length takes all and deletes the key" {
    make_list k {a b c}
    list [typed LMPOP 1 k LEFT COUNT 10] [r EXISTS k]
} {{array {{bulk k} {array {{bulk a} {bulk b} {bulk c}}}}} 0}
check_lists "LMPOP serves itself from the first key that is a list" {
    make_list two {a b c}
    make_list three {x y z}
    list [r LMPOP 4 one two three four LEFT COUNT 2] [r LMPOP 3 one two three RIGHT COUNT 5] \
        [r LMPOP 3 one two three RIGHT] [list_of three] [r EXISTS two]
} {{two {a b}} {two c} {three z} {x y} 0}
check "LMPOP does not look at keys behind the first list" {
    r RPUSH one a
    r SET two text
    r LMPOP 2 one two LEFT
} {one a}
check "LMPOP knows its words in any case" {
    r RPUSH k a b c d
    list [r lmpop 1 k left count 1] [r LmPop 1 k rIGHT Count 2]
} {{k a} {k {d c}}}
check "LMPOP takes a key that is named like an option" {
    r RPUSH LEFT a
    r LMPOP 2 COUNT LEFT RIGHT
} {LEFT a}
check "LMPOP takes the same key twice" {
    r RPUSH k a b
    list [r LMPOP 2 k k LEFT] [list_of k]
} {{k a} b}
check_in 2 "LMPOP without any list is a null array in RESP2" {typed LMPOP 2 a b LEFT COUNT 2} nilarray
check_in 3 "LMPOP without any list is null in RESP3" {typed LMPOP 2 a b LEFT COUNT 2} null
check "LMPOP refuses a key of another type and leaves it alone" {
    r SET k text
    assert_equal [error_of {r LMPOP 1 k LEFT}] $wrong_type
    assert_equal [error_of {r LMPOP 2 nosuch k RIGHT COUNT 1}] $wrong_type
    r GET k
} text
foreach numkeys {0 -1 x 1.5 "" 9223372036854775808} {
    check_error "LMPOP refuses '$numkeys' as the number of keys" {r LMPOP $numkeys k LEFT} \
        "ERR numkeys should be greater than 0"
}
foreach count {0 -1 x "" 9223372036854775808} {
    check_error "LMPOP refuses '$count' as COUNT" {r LMPOP 1 k LEFT COUNT $count} \
        "ERR count should be greater than 0"
}
foreach arguments {
    {1 k UP} {1 k ""} {2 k LEFT} {1 a b LEFT} {1 k LEFT COUNT} {1 k LEFT COUNT 1 COUNT 2} {1 k LEFT LIMIT 1}
    {1 k LEFT RIGHT} {1 k COUNT 1 LEFT} {9223372036854775807 k LEFT} {1 k LEFT COUNT 1 x}
} {
    check_error "LMPOP $arguments is a syntax error" {
        r RPUSH k a
        r LMPOP {*}$arguments
    } "ERR syntax error"
}
foreach arguments {{} 1 {1 k}} {
    check_error "LMPOP needs a number of keys, a key and an end, not {$arguments}" {r LMPOP {*}$arguments} \
        "ERR wrong number of arguments for 'lmpop' command"
}

finish
