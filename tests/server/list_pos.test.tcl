# LPOS and its options RANK, COUNT and MAXLEN.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

set letters {a b c 1 2 3 c c}

# What LPOS with COUNT returns, on a Tcl list; a RANK below 0 counts from the end, a MAXLEN of 0 is none.
proc model_positions {elements element rank count maxlen} {
    set positions {}
    set length [llength $elements]
    set limit [expr {$maxlen == 0 ? $length : min($maxlen, $length)}]
    set skip [expr {abs($rank) - 1}]
    for {set seen 0} {$seen < $limit && ($count == 0 || [llength $positions] < $count)} {incr seen} {
        set at [expr {$rank > 0 ? $seen : $length - 1 - $seen}]
        if {[lindex $elements $at] eq $element && [incr skip -1] < 0} {
            lappend positions $at
        }
    }
    return $positions
}

check_lists "LPOS returns the position of the first match" {
    make_list k $letters
    list [typed LPOS k a] [typed LPOS k c] [typed LPOS k 3]
} {{int 0} {int 2} {int 5}}
check_lists "LPOS RANK counts matches from the head" {
    make_list k $letters
    lmap rank {1 2 3 4 100} {r LPOS k c RANK $rank}
} {2 6 7 (nil) (nil)}
check_lists "LPOS with a negative RANK counts matches from the tail" {
    make_list k $letters
    lmap rank {-1 -2 -3 -4 -100} {r LPOS k c RANK $rank}
} {7 6 2 (nil) (nil)}
check_lists "LPOS COUNT returns so many positions" {
    make_list k $letters
    list [typed LPOS k c COUNT 2] [r LPOS k c COUNT 1] [r LPOS k c COUNT 100] [r LPOS k c COUNT 0]
} {{array {{int 2} {int 6}}} 2 {2 6 7} {2 6 7}}
check_lists "LPOS COUNT without a match is an empty array" {
    make_list k $letters
    list [typed LPOS k x COUNT 1] [typed LPOS k x COUNT 0] [typed LPOS k c RANK 4 COUNT 0]
} {{array {}} {array {}} {array {}}}
check_lists "LPOS COUNT with RANK begins at that match" {
    make_list k $letters
    list [r LPOS k c COUNT 0 RANK 2] [r LPOS k c RANK 2 COUNT 1] [r LPOS k c COUNT 2 RANK -1] \
        [r LPOS k c COUNT 0 RANK -2]
} {{6 7} 6 {7 6} {6 2}}
check_lists "LPOS MAXLEN looks at so many elements" {
    make_list k $letters
    list [r LPOS k c MAXLEN 2] [r LPOS k c MAXLEN 3] [r LPOS k c MAXLEN 7 COUNT 0] [r LPOS k a MAXLEN 1] \
        [r LPOS k c MAXLEN 0 COUNT 0] [r LPOS k c COUNT 0 MAXLEN 100]
} {(nil) 2 {2 6} 0 {2 6 7} {2 6 7}}
check_lists "LPOS MAXLEN with a negative RANK looks from the tail" {
    make_list k $letters
    list [r LPOS k c RANK -1 MAXLEN 1] [r LPOS k c COUNT 0 RANK -1 MAXLEN 2] [r LPOS k a RANK -1 MAXLEN 7] \
        [r LPOS k a RANK -1 MAXLEN 8] [r LPOS k c COUNT 0 RANK -3 MAXLEN 6]
} {7 {7 6} (nil) 0 2}
check_lists "LPOS knows its options in any order and case, the last one counts" {
    make_list k $letters
    list [r lpos k c maxlen 0 Rank 2 cOUNT 1] [r LPOS k c COUNT 1 MAXLEN 7 RANK -2] [r LPOS k c RANK 1 RANK 3]
} {6 6 7}
check_lists "LPOS with every RANK, COUNT and MAXLEN" {
    set elements {x a x x b 1 x x 1 1 x c x a x}
    make_list k $elements
    set requests {}
    set expected {}
    foreach element {x 1 a nosuch} {
        foreach rank {1 2 3 8 -1 -2 -3 -8 9223372036854775807 -9223372036854775807} {
            foreach count {0 1 2 3 100} {
                foreach maxlen {0 1 4 9 14 15 16 9223372036854775807} {
                    lappend requests [list LPOS k $element RANK $rank COUNT $count MAXLEN $maxlen]
                    lappend expected [model_positions $elements $element $rank $count $maxlen]
                }
            }
        }
    }
    assert_equal [[default_client] pipeline $requests] $expected
}
check_lists "LPOS matches integers by their text and only by it" {
    make_list k {10 010 1 +1 -1 1 0 -0}
    lmap element {010 1 +1 -1 -0 0 00 ""} {r LPOS k $element}
} {1 2 3 4 7 6 (nil) (nil)}
check_lists "LPOS finds every kind of element" {
    make_list k $element_kinds
    lmap element $element_kinds {list [r LPOS k $element] [r LPOS k $element RANK -1]}
} [lmap i [numbered 0 14] {list $i $i}]
check_lists "LPOS distinguishes elements that differ in one byte" {
    set text [string repeat x 100]
    r RPUSH k ${text}a ${text}b ${text}c a$text b$text ${text}\x00 $text
    list [r LPOS k ${text}b] [r LPOS k b$text] [r LPOS k $text] [r LPOS k ${text}\x00] [r LPOS k ${text}d]
} {1 4 6 5 (nil)}
check_lists "LPOS finds matches all over a long list" {
    set elements [lmap i [numbered 0 999] {expr {$i % 50 ? "e$i" : "mark"}}]
    r RPUSH k {*}$elements
    set marks [lsearch -all -exact $elements mark]
    assert_equal [r LPOS k mark COUNT 0] $marks
    assert_equal [r LPOS k mark COUNT 0 RANK -1] [lreverse $marks]
    assert_equal [r LPOS k mark COUNT 3 RANK 5] [lrange $marks 4 6]
    list [r LPOS k e999] [r LPOS k e999 MAXLEN 999] [r LPOS k e1 RANK -1] [r LPOS k e1 RANK -1 MAXLEN 998]
} {999 (nil) 1 (nil)}

check "LPOS of a missing key with COUNT is an empty array" {typed LPOS k a COUNT 1} {array {}}
check_in 2 "LPOS without a match is a null bulk string in RESP2" {
    r RPUSH k a
    list [typed LPOS k x] [typed LPOS nosuch x] [typed LPOS k a RANK 2]
} {nil nil nil}
check_in 3 "LPOS without a match is null in RESP3" {
    r RPUSH k a
    list [typed LPOS k x] [typed LPOS nosuch x] [typed LPOS k a RANK 2]
} {null null null}

check_error "LPOS refuses a key of another type" {
    r SET k text
    r LPOS k a
} $wrong_type
foreach key {nosuch k} {
    check_error "LPOS refuses a RANK of 0, for key $key" {
        r RPUSH k a
        r LPOS $key a RANK 0
    } "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to\
start from the end of the list"
}
foreach rank {x 1.5 "" 9223372036854775808} {
    check_error "LPOS refuses '$rank' as RANK" {r LPOS k a RANK $rank} $not_integer
}
check_error "LPOS refuses the RANK that has no positive counterpart" {r LPOS k a RANK -9223372036854775808} \
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
foreach option {COUNT MAXLEN} {
    foreach value {-1 x "" 9223372036854775808} {
        check_error "LPOS refuses '$value' as $option" {r LPOS k a $option $value} "ERR $option can't be negative"
    }
}
foreach options {RANK COUNT {RANK 1 COUNT} {LIMIT 1} {RANK 1 x} {COUNT 1 MAXLEN}} {
    check_error "LPOS $options is a syntax error" {r LPOS k a {*}$options} "ERR syntax error"
}
foreach arguments {{} k} {
    check_error "LPOS needs a key and an element, not {$arguments}" {r LPOS {*}$arguments} \
        "ERR wrong number of arguments for 'lpos' command"
}

finish
