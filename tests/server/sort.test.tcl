# SORT and SORT_RO: every option, what is a number, and what happens to the result.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

set no_number "ERR One or more scores can't be converted into double"

foreach command {SORT SORT_RO} {
    check_lists "$command sorts numbers" [string map [list @ $command] {
        make_list l {3 -5 10 1 2.5 1e1 -0 3}
        list [r @ l] [r @ l DESC] [r @ l asc] [r @ l DESC ASC]
    }] {{-5 -0 1 2.5 3 3 10 1e1} {1e1 10 3 3 2.5 1 -0 -5} {-5 -0 1 2.5 3 3 10 1e1} {-5 -0 1 2.5 3 3 10 1e1}}
    check_lists "$command ALPHA sorts bytes" [string map [list @ $command] {
        make_list l [list b a "" ab 10 9 A \xff "a b"]
        list [r @ l ALPHA] [r @ l DESC alpha]
    }] [list [list "" 10 9 A a "a b" ab b \xff] [list \xff b ab "a b" a A 9 10 ""]]
    check_lists "$command sorts thousands of elements" [string map [list @ $command] {
        set elements {}
        for {set i 0} {$i < 3000} {incr i} {
            lappend elements [expr {int(rand() * 2000) - 1000}]
        }
        make_list l $elements
        assert_equal [r @ l] [lsort -integer $elements]
        assert_equal [r @ l DESC] [lsort -integer -decreasing $elements]
        assert_equal [r @ l ALPHA] [lsort $elements]
        assert_equal [r @ l LIMIT 100 30] [lrange [lsort -integer $elements] 100 129]
        assert_equal [r @ l LIMIT 0 7 DESC] [lrange [lsort -integer -decreasing $elements] 0 6]
    }]
    check "$command of a missing key is empty" [string map [list @ $command] {
        list [typed @ nosuch] [typed @ nosuch BY w_* GET # LIMIT 0 5]
    }] {{array {}} {array {}}}
    check "$command LIMIT takes a part of the result" [string map [list @ $command] {
        r RPUSH l 5 4 3 2 1
        foreach {limit expected} {
            {0 2} {1 2} {1 2} {2 3} {4 5} 5 {5 1} {} {100 1} {} {0 0} {} {0 -1} {1 2 3 4 5} {2 -1} {3 4 5}
            {-5 2} {1 2} {-1 -1} {1 2 3 4 5} {3 9223372036854775807} {4 5} {9223372036854775807 -1} {}
            {9223372036854775807 9223372036854775807} {} {-9223372036854775808 -9223372036854775808} {1 2 3 4 5}
        } {
            assert_equal [r @ l LIMIT {*}$limit] $expected
        }
        r @ l LIMIT 0 1 LIMIT 3 1
    }] 4
    check "$command BY sorts by the values of other keys" [string map [list @ $command] {
        r RPUSH l a b c d
        r MSET w_a 3 w_b 1 w_c 2.5 w_d -1
        list [r @ l BY w_*] [r @ l BY w_* DESC] [r @ l BY w_* LIMIT 1 2]
    }] {{d b c a} {a c b d} {b c}}
    check "$command BY: a missing weight, and one that is no string, is 0, ties go by the elements" \
            [string map [list @ $command] {
        r RPUSH l d c b a
        r MSET w_c -1 w_a 1
        r RPUSH w_b element
        list [r @ l BY w_*] [r @ l BY w_* DESC] [r @ l BY nosuch_*] [r @ l BY *->field]
    }] {{c b d a} {a d b c} {a b c d} {a b c d}}
    check "$command BY ALPHA: those without a weight come first, ties stay as they were" \
            [string map [list @ $command] {
        r RPUSH l d c b a
        r MSET w_c 10 w_a 9 w_b 10
        list [r @ l BY w_* ALPHA] [r @ l BY w_* ALPHA DESC] [r @ l BY nosuch_* ALPHA]
    }] {{d c b a} {a c b d} {d c b a}}
    check "$command BY a pattern without a star does not sort" [string map [list @ $command] {
        r RPUSH l 3 x 1 2
        list [r @ l BY nosort] [r @ l BY nosort DESC] [r @ l BY "" LIMIT 1 2] [r @ l BY nosort DESC LIMIT 1 2] \
            [r @ l BY nosort BY w_*] [r @ l LIMIT 4 1 BY nosort DESC]
    }] {{3 x 1 2} {2 1 x 3} {x 1} {1 x} {3 x 1 2} {}}
    check "$command GET returns other values" [string map [list @ $command] {
        r RPUSH l 2 1 3
        r MSET o_1 one o_2 22 x:3:y "" 3 three
        r RPUSH o_3 element
        list [r @ l GET #] [r @ l GET o_*] [r @ l GET # GET x:*:y GET *] [r @ l GET o_*->f GET nostar GET #x GET ""] \
            [r @ l BY nosort GET # GET o_*]
    }] [list {1 2 3} {one 22 (nil)} {1 (nil) (nil) 2 (nil) (nil) 3 {} three} \
        [lrepeat 12 (nil)] {2 22 1 one 3 (nil)}]
    check_in 2 "$command GET of a missing value is a null in RESP2" [string map [list @ $command] {
        r RPUSH l 1
        typed @ l GET nosuch_*
    }] {array nil}
    check_in 3 "$command GET of a missing value is a null in RESP3" [string map [list @ $command] {
        r RPUSH l 1
        typed @ l GET nosuch_*
    }] {array null}
    check "$command reads only the first star of a pattern" [string map [list @ $command] {
        r RPUSH l 1 2
        r MSET a1*-> 5 a2*-> 4
        list [r @ l BY a**->] [r @ l GET a**->]
    }] {{2 1} {5 4}}
    check "$command: what is a number" [string map [list @ $command] {
        foreach element {abc 1x "1 " nan -nan 1e400 1e-400 -- " " 0x 1,5} {
            r DEL l
            r RPUSH l $element 2
            assert_equal [error_of {r @ l}] $no_number
            assert_equal [error_of {r @ l LIMIT 0 0}] $no_number
            r SET w_a $element
            r DEL l
            r RPUSH l a b
            assert_equal [error_of {r @ l BY w_*}] $no_number
            assert_equal [r @ l ALPHA BY w_*] {b a}
        }
        foreach element {inf -inf infinity 0x10 +1 .5 5. 1E3 "" " 1" 9223372036854775808 1e300 00001} {
            r DEL l
            r RPUSH l $element
            assert_equal [r @ l] [list $element]
        }
    }]
    check "$command refuses another type" [string map [list @ $command] {
        r SET s 1
        list [error_of {r @ s}] [error_of {r @ s LIMIT x 1}] [error_of {r @ s nosuch}]
    }] [list $wrong_type $not_integer "ERR syntax error"]
    check "$command refuses bad options, whether the key is there or not" [string map [list @ $command] {
        foreach {options error} [list BY "ERR syntax error" GET "ERR syntax error" LIMIT "ERR syntax error" \
            {LIMIT 0} "ERR syntax error" STORE "ERR syntax error" nosuch "ERR syntax error" \
            {LIMIT a 1} $not_integer {LIMIT 0 b} $not_integer {DESC x} "ERR syntax error"] {
            assert_equal [error_of {r @ l {*}$options}] $error
        }
        error_of {r @}
    }] "ERR wrong number of arguments for '[string tolower $command]' command"
}
check_error "SORT_RO cannot store" {r SORT_RO l STORE d} "ERR syntax error"

# --- STORE

check_lists "SORT STORE stores the result as a list" {
    make_list l {3 1 2 5 4 x}
    assert_equal [typed SORT l ALPHA STORE d] {int 6}
    assert_equal [list [list_of d] [list_of l]] {{1 2 3 4 5 x} {3 1 2 5 4 x}}
    assert_equal [r OBJECT ENCODING d] [r OBJECT ENCODING l]
    list [r SORT l BY nosort DESC LIMIT 0 2 STORE d] [list_of d]
} {2 {x 4}}
check "SORT STORE can take the place of the list itself, and of any key" {
    r RPUSH l 3 1 2
    r SORT l STORE l
    assert_equal [list_of l] {1 2 3}
    r SET s text EX 100
    r SORT l DESC STORE s
    list [list_of s] [r TTL s]
} {{3 2 1} -1}
check "SORT STORE of values that it replaces" {
    r RPUSH l 2 1
    r MSET v_1 [string repeat a 300] v_2 two
    r SORT l GET v_* GET # STORE v_1
    list_of v_1
} [list [string repeat a 300] 1 two 2]
check "SORT STORE puts an empty text where GET finds nothing" {
    r RPUSH l 2 1
    r SET v_1 one
    list [r SORT l GET v_* GET # STORE d] [list_of d]
} {4 {one 1 {} 2}}
check "SORT STORE of an empty result deletes the key" {
    r RPUSH l 1
    r SET d text
    assert_equal [typed SORT nosuch STORE d] {int 0}
    assert_equal [r EXISTS d] 0
    r SET d text
    list [r SORT l LIMIT 0 0 STORE d] [r EXISTS d] [r SORT l LIMIT 0 0 STORE nosuch] [r DBSIZE]
} {0 0 0 1}
check "SORT STORE that fails leaves the key alone" {
    r RPUSH l 1 x
    r SET d text
    list [error_of {r SORT l STORE d}] [r GET d]
} [list $no_number text]
check "the last STORE counts" {
    r RPUSH l 1
    r SORT l STORE a STORE b
    list [r EXISTS a] [list_of b]
} {0 1}
check "SORT STORE wakes a client that waits for the list" {
    set first [client_blocked BLPOP d 0]
    set second [client_blocked BLPOP d 0]
    r RPUSH l 3 1 2
    r SORT l STORE d
    list [$first read] [$second read] [list_of d]
} {{d 1} {d 2} 3}
check "SORT STORE to a watched key fails the transaction" {
    r RPUSH l 1
    r WATCH d
    r SORT l STORE d
    r MULTI
    r PING
    r EXEC
} (nil)

check "COMMAND GETKEYS finds the keys of SORT" {
    list [r COMMAND GETKEYS SORT l BY w_* GET x_* STORE d LIMIT 0 1] [r COMMAND GETKEYS SORT l BY store d] \
        [r COMMAND GETKEYS SORT l STORE a STORE b] [r COMMAND GETKEYS SORT_RO l BY w_*] \
        [r COMMAND GETKEYSANDFLAGS SORT l STORE d]
} {{l d} l {l b} l {{l {RO access}} {d {OW update}}}}

finish
