# LSET, LINSERT and LREM.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

# --- LSET

check_lists "LSET replaces the element at an index from either end" {
    make_list k {a b c d e}
    assert_equal [typed LSET k 0 A] {simple OK}
    r LSET k 2 C
    r LSET k -1 E
    r LSET k -4 B
    list_of k
} {A B C d E}
check_lists "LSET replaces every kind of element with every other" {
    foreach old $element_kinds {
        foreach new $element_kinds {
            r DEL k
            r RPUSH k x $old y
            r LSET k 1 $new
            assert_equal [list_of k] [list x $new y]
        }
    }
}
check_lists "LSET of each element in turn" {
    r RPUSH k {*}[numbered 0 99]
    for {set i 0} {$i < 100} {incr i} {
        r LSET k $i [string repeat x $i]
        assert_equal [r LINDEX k $i] [string repeat x $i]
    }
    assert_equal [r LLEN k] 100
    assert_equal [list_of k] [lmap i [numbered 0 99] {string repeat x $i}]
}
check_error "LSET of a missing key" {r LSET k 0 a} "ERR no such key"
foreach index {3 -4 100 9223372036854775807 -9223372036854775808} {
    check_lists "LSET at $index is out of range of three elements" {
        make_list k {a b c}
        assert_equal [error_of {r LSET k $index x}] "ERR index out of range"
        list_of k
    } {a b c}
}
foreach index {x 1.5 "" 9223372036854775808} {
    check_error "LSET refuses '$index' as an index" {
        r RPUSH k a
        r LSET k $index b
    } $not_integer
}
check "LSET refuses a key of another type and leaves it alone" {
    r SET k text
    assert_equal [error_of {r LSET k 0 a}] $wrong_type
    r GET k
} text
foreach arguments {{} k {k 0} {k 0 a b}} {
    check_error "LSET takes a key, an index and an element, not {$arguments}" {r LSET {*}$arguments} \
        "ERR wrong number of arguments for 'lset' command"
}

# --- LINSERT

check_lists "LINSERT BEFORE puts an element before the first match" {
    make_list k {a b c b}
    list [typed LINSERT k BEFORE b x] [list_of k]
} {{int 5} {a x b c b}}
check_lists "LINSERT AFTER puts an element behind the first match" {
    make_list k {a b c b}
    list [typed LINSERT k AFTER b x] [list_of k]
} {{int 5} {a b x c b}}
check_lists "LINSERT at the ends" {
    make_list k {a b c}
    r LINSERT k BEFORE a x
    r LINSERT k AFTER c y
    list_of k
} {x a b c y}
check_lists "LINSERT without a match returns -1 and inserts nothing" {
    make_list k {a b c}
    list [typed LINSERT k AFTER nosuch x] [list_of k]
} {{int -1} {a b c}}
check "LINSERT into a missing key returns 0 and creates nothing" {
    list [typed LINSERT k BEFORE a x] [r EXISTS k]
} {{int 0} 0}
check_lists "LINSERT finds integers by their text and only by it" {
    make_list k {10 a 100}
    list [r LINSERT k BEFORE 010 x] [r LINSERT k BEFORE 100 x] [r LINSERT k AFTER 10 5] [list_of k]
} {-1 4 5 {10 5 a x 100}}
check_lists "LINSERT finds and inserts every kind of element" {
    make_list k $element_kinds
    set model $element_kinds
    foreach pivot $element_kinds {
        foreach element [list new 12 [string repeat n 5000]] {
            r LINSERT k BEFORE $pivot $element
            r LINSERT k AFTER $pivot $element
            set at [lsearch -exact $model $pivot]
            set model [linsert [linsert $model [expr {$at + 1}] $element] $at $element]
        }
    }
    assert_equal [list_of k] $model
}
check_lists "LINSERTs at every place of a list keep all in order" {
    set model [numbered 0 59 e]
    r RPUSH k {*}$model
    for {set i 0} {$i < 60} {incr i} {
        r LINSERT k BEFORE e$i before$i
        r LINSERT k AFTER e$i $i
        set at [lsearch -exact $model e$i]
        set model [linsert [linsert $model [expr {$at + 1}] $i] $at before$i]
    }
    assert_equal [list_of k] $model
    for {set i 0} {$i < 180} {incr i} {
        assert_equal [r LINDEX k $i] [lindex $model $i]
    }
    r LLEN k
} 180
check "LINSERT knows its words in any case" {
    r RPUSH k a
    r linsert k before a x
    r LInsert k aFTER a y
    list_of k
} {x a y}
check "LINSERT refuses a key of another type and leaves it alone" {
    r SET k text
    assert_equal [error_of {r LINSERT k BEFORE a b}] $wrong_type
    r GET k
} text
foreach where {here "" BEFOREX} {
    check_error "LINSERT refuses '$where' as a place" {r LINSERT k $where a b} "ERR syntax error"
}
foreach arguments {{} k {k BEFORE} {k BEFORE a} {k BEFORE a b c}} {
    check_error "LINSERT takes a key, a place and two elements, not {$arguments}" {r LINSERT {*}$arguments} \
        "ERR wrong number of arguments for 'linsert' command"
}

# --- LREM

check_lists "LREM with a count of 0 removes all matches" {
    make_list k {a b a c a}
    list [typed LREM k 0 a] [list_of k]
} {{int 3} {b c}}
check_lists "LREM with a positive count removes the first matches" {
    make_list k {a b a c a}
    list [typed LREM k 2 a] [list_of k]
} {{int 2} {b c a}}
check_lists "LREM with a negative count removes the last matches" {
    make_list k {a b a c a}
    list [typed LREM k -2 a] [list_of k]
} {{int 2} {a b c}}
check_lists "LREM takes a count beyond the matches" {
    make_list k {a b a c a}
    list [r LREM k 100 a] [list_of k] [r LREM k -100 c] [list_of k]
} {3 {b c} 1 b}
check_lists "LREM takes the outermost counts" {
    make_list k {a b a c a}
    list [r LREM k 9223372036854775807 a] [r LREM k -9223372036854775807 b] [list_of k]
} {3 1 c}
check_lists "LREM without a match removes nothing" {
    make_list k {a b c}
    list [typed LREM k 0 x] [r LREM k 1 x] [r LREM k -1 ""] [list_of k]
} {{int 0} 0 0 {a b c}}
check_lists "LREM of all elements deletes the key" {
    make_list k {a a a a}
    list [r LREM k 0 a] [r EXISTS k]
} {4 0}
check "LREM of a missing key removes nothing" {list [typed LREM k 0 a] [r EXISTS k]} {{int 0} 0}
check_lists "LREM matches integers by their text and only by it" {
    make_list k {1 01 10 1 +1 -1 1.}
    list [r LREM k 0 01] [r LREM k 0 1] [r LREM k 0 +1] [list_of k]
} {1 2 1 {10 -1 1.}}
check_lists "LREM finds every kind of element" {
    foreach element $element_kinds {
        r DEL k
        make_list k [list {*}$element_kinds {*}$element_kinds]
        assert_equal [r LREM k 0 $element] 2
        set others [lsearch -all -inline -exact -not $element_kinds $element]
        assert_equal [list_of k] [list {*}$others {*}$others]
    }
}
check_lists "LREM thins out a long list from either end" {
    set model [lmap i [numbered 0 999] {expr {$i % 10}}]
    r RPUSH k {*}$model
    foreach {count digit removed} {30 3 30 -30 4 30 0 5 100 70 3 70 1 0 1 -1 9 1 0 3 0} {
        assert_equal [r LREM k $count $digit] $removed
        set found [lsearch -all -exact $model $digit]
        set found [expr {$count < 0 ? [lreverse $found] : $found}]
        foreach at [lsort -integer -decreasing [lrange $found 0 $removed-1]] {
            set model [lreplace $model $at $at]
        }
        assert_equal [list_of k] $model
        assert_equal [r LLEN k] [llength $model]
    }
    assert_equal [r LINDEX k 400] [lindex $model 400]
    assert_equal [r LINDEX k -400] [lindex $model end-399]
}
check "LREM refuses a key of another type and leaves it alone" {
    r SET k text
    assert_equal [error_of {r LREM k 0 a}] $wrong_type
    r GET k
} text
foreach count {x 1.5 "" 9223372036854775808} {
    check_error "LREM refuses '$count' as a count" {r LREM k $count a} $not_integer
}
foreach arguments {{} k {k 0} {k 0 a b}} {
    check_error "LREM takes a key, a count and an element, not {$arguments}" {r LREM {*}$arguments} \
        "ERR wrong number of arguments for 'lrem' command"
}

finish
