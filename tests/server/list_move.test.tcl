# LMOVE and RPOPLPUSH.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

foreach {from to moved left gets} {
    LEFT LEFT a {b c d} {a x y z} LEFT RIGHT a {b c d} {x y z a}
    RIGHT LEFT d {a b c} {d x y z} RIGHT RIGHT d {a b c} {x y z d}
} {
    check_lists "LMOVE $from $to moves an element between lists" {
        make_list src {a b c d}
        make_list dst {x y z}
        list [typed LMOVE src dst $from $to] [list_of src] [list_of dst]
    } [list [list bulk $moved] $left $gets]
    check "LMOVE $from $to creates the destination" {
        r RPUSH src a b c d
        list [r LMOVE src dst $from $to] [list_of src] [list_of dst] [r TYPE dst]
    } [list $moved $left $moved list]
}
foreach {from to result} {LEFT LEFT {a b c d} LEFT RIGHT {b c d a} RIGHT LEFT {d a b c} RIGHT RIGHT {a b c d}} {
    check_lists "LMOVE $from $to within one list" {
        make_list k {a b c d}
        list [r LMOVE k k $from $to] [list_of k] [r LLEN k]
    } [list [expr {$from eq "LEFT" ? "a" : "d"}] $result 4]
    check "LMOVE $from $to within a list of one element" {
        r RPUSH k a
        list [r LMOVE k k $from $to] [list_of k]
    } {a a}
}
check_lists "RPOPLPUSH moves the last element to the head of another list" {
    make_list src {a b c d}
    make_list dst {x y z}
    list [typed RPOPLPUSH src dst] [list_of src] [list_of dst]
} {{bulk d} {a b c} {d x y z}}
check_lists "RPOPLPUSH within one list rotates it" {
    make_list k {a b c d}
    set turned [lmap i {1 2 3 4 5} {r RPOPLPUSH k k}]
    list $turned [list_of k]
} {{d c b a d} {d a b c}}
check "LMOVE of the last element deletes the source" {
    r RPUSH src a
    list [r LMOVE src dst LEFT LEFT] [r EXISTS src] [list_of dst]
} {a 0 a}
check_lists "LMOVE moves every kind of element" {
    make_list src $element_kinds
    foreach element $element_kinds {
        assert_equal [r LMOVE src dst LEFT RIGHT] $element
    }
    assert_equal [r EXISTS src] 0
    foreach element $element_kinds {
        assert_equal [r LMOVE dst dst LEFT RIGHT] $element
    }
    assert_equal [list_of dst] $element_kinds
    foreach element [lreverse $element_kinds] {
        assert_equal [r LMOVE dst dst RIGHT LEFT] $element
    }
    assert_equal [list_of dst] $element_kinds
}
check_lists "LMOVE moves a long list element by element" {
    set elements [numbered 1 300]
    r RPUSH src {*}$elements
    set moved [[default_client] pipeline [lrepeat 300 {LMOVE src dst RIGHT LEFT}]]
    assert_equal $moved [lreverse $elements]
    assert_equal [list_of dst] $elements
    r EXISTS src
} 0
check_lists "LMOVE rotates a long list" {
    set elements [numbered 1 300 e]
    r RPUSH k {*}$elements
    [default_client] pipeline [lrepeat 450 {LMOVE k k LEFT RIGHT}]
    assert_equal [list_of k] [list {*}[lrange $elements 150 end] {*}[lrange $elements 0 149]]
    [default_client] pipeline [lrepeat 450 {LMOVE k k RIGHT LEFT}]
    assert_equal [list_of k] $elements
}
check "LMOVE knows its words in any case" {
    r RPUSH src a b
    list [r lmove src dst left Right] [r LMove src dst rIGHT left] [list_of dst]
} {a b {b a}}
check_in 2 "without the source LMOVE and RPOPLPUSH return a null bulk string in RESP2 and create nothing" {
    list [typed LMOVE src dst LEFT LEFT] [typed RPOPLPUSH src dst] [r EXISTS src dst]
} {nil nil 0}
check_in 3 "without the source LMOVE and RPOPLPUSH return null in RESP3 and create nothing" {
    list [typed LMOVE src dst LEFT LEFT] [typed RPOPLPUSH src dst] [r EXISTS src dst]
} {null null 0}
foreach command {{LMOVE src dst LEFT RIGHT} {RPOPLPUSH src dst}} {
    set name [lindex $command 0]
    check "$name refuses a source of another type" {
        r SET src text
        assert_equal [error_of {r {*}$command}] $wrong_type
        list [r GET src] [r EXISTS dst]
    } {text 0}
    check "$name refuses a destination of another type and moves nothing" {
        r RPUSH src a b
        r SET dst text
        assert_equal [error_of {r {*}$command}] $wrong_type
        list [list_of src] [r GET dst]
    } {{a b} text}
    check "$name does not look at the destination without a source" {
        r SET dst text
        list [r {*}$command] [r GET dst]
    } {(nil) text}
}
foreach arguments {{src dst UP LEFT} {src dst LEFT DOWN} {src dst "" LEFT} {src dst LEFT LEFTX}} {
    check_error "LMOVE $arguments is a syntax error" {
        r RPUSH src a
        r LMOVE {*}$arguments
    } "ERR syntax error"
}
foreach arguments {{} src {src dst} {src dst LEFT} {src dst LEFT LEFT x}} {
    check_error "LMOVE takes two keys and two ends, not {$arguments}" {r LMOVE {*}$arguments} \
        "ERR wrong number of arguments for 'lmove' command"
}
foreach arguments {{} src {src dst x}} {
    check_error "RPOPLPUSH takes two keys, not {$arguments}" {r RPOPLPUSH {*}$arguments} \
        "ERR wrong number of arguments for 'rpoplpush' command"
}

finish
