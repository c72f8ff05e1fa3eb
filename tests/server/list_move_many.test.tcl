# LMOVEM and BLMOVEM. Redis has them since 8.10.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]
source $library/aof.tcl

server_start {appendonly yes appendfsync no}

# --- The order of what is moved

foreach {from to order moved left gets} {
    LEFT LEFT OBO {c b a} d {c b a x y z}       LEFT LEFT BULK {a b c} d {a b c x y z}
    LEFT RIGHT OBO {a b c} d {x y z a b c}      LEFT RIGHT BULK {a b c} d {x y z a b c}
    RIGHT LEFT OBO {b c d} a {b c d x y z}      RIGHT LEFT BULK {b c d} a {b c d x y z}
    RIGHT RIGHT OBO {d c b} a {x y z d c b}     RIGHT RIGHT BULK {b c d} a {x y z b c d}
} {
    foreach mode {COUNT EXACTLY} {
        check_lists "LMOVEM $from $to $mode 3 $order moves elements between lists" {
            make_list src {a b c d}
            make_list dst {x y z}
            list [typed LMOVEM src dst $from $to $mode 3 $order] [list_of src] [list_of dst]
        } [list [list array [lmap e $moved {list bulk $e}]] $left $gets]
    }
    check_lists "LMOVEM $from $to $order creates the destination" {
        make_list src {a b c d}
        list [r LMOVEM src dst $from $to COUNT 3 $order] [list_of src] [list_of dst]
    } [list $moved $left $moved]
    check "BLMOVEM $from $to $order moves at once what is there" {
        r RPUSH src a b c d
        r RPUSH dst x y z
        list [r BLMOVEM src dst $from $to 0 COUNT 3 $order] [list_of src] [list_of dst]
    } [list $moved $left $gets]
}
foreach {from to} {LEFT LEFT LEFT RIGHT RIGHT LEFT RIGHT RIGHT} {
    check_lists "LMOVEM $from $to OBO leaves both lists as as many LMOVEs do" {
        foreach key {src src2} { make_list $key {a b c d e} }
        foreach key {dst dst2} { make_list $key {x y z} }
        foreach count {1 2 1} {
            r LMOVEM src dst $from $to COUNT $count OBO
            [default_client] pipeline [lrepeat $count [list LMOVE src2 dst2 $from $to]]
        }
        assert_equal [list_of src] [list_of src2]
        assert_equal [list_of dst] [list_of dst2]
    }
    check_lists "LMOVEM $from $to within one list leaves it as as many LMOVEs do" {
        foreach count {1 2 3 4} {
            r DEL k k2
            foreach key {k k2} { make_list $key {a b c d} }
            set moved [r LMOVEM k k $from $to COUNT $count OBO]
            [default_client] pipeline [lrepeat $count [list LMOVE k2 k2 $from $to]]
            assert_equal [list_of k] [list_of k2]
            set at [expr {$to eq "LEFT" ? [list 0 [expr {$count - 1}]] : [list -$count -1]}]
            assert_equal $moved [r LRANGE k {*}$at]
            assert_equal [r LMOVEM k2 k2 $from $to COUNT $count BULK] [r LRANGE k2 {*}$at]
        }
    }
}
check "LMOVEM BULK within one list keeps its order" {
    r RPUSH k a b c d e
    set left [list [r LMOVEM k k LEFT LEFT COUNT 2 BULK] [list_of k]]
    set right [list [r LMOVEM k k LEFT RIGHT COUNT 2 BULK] [list_of k]]
    list $left $right [r LMOVEM k k RIGHT LEFT COUNT 99 BULK] [list_of k]
} {{{a b} {a b c d e}} {{a b} {c d e a b}} {c d e a b} {c d e a b}}

# --- How many

check "without a number LMOVEM and BLMOVEM move one element and return an array" {
    r RPUSH src a b c
    list [typed LMOVEM src dst LEFT RIGHT] [typed BLMOVEM src dst RIGHT LEFT 0] [list_of src] [list_of dst]
} {{array {{bulk a}}} {array {{bulk c}}} b {c a}}
check "COUNT moves fewer elements when there are fewer, and deletes the source" {
    r RPUSH src a b
    list [r LMOVEM src dst LEFT RIGHT COUNT 9223372036854775807 BULK] [r EXISTS src] [list_of dst]
} {{a b} 0 {a b}}
check "EXACTLY moves all that are there, and deletes the source" {
    r RPUSH src a b
    list [r LMOVEM src dst RIGHT RIGHT EXACTLY 2 OBO] [r EXISTS src] [list_of dst]
} {{b a} 0 {b a}}
foreach {version null} {2 nilarray 3 null} {
    check_in $version "LMOVEM EXACTLY that moves nothing returns a null array, in RESP3 null" {
        r RPUSH src a b
        set replies [lmap call {
            {LMOVEM none dst LEFT LEFT EXACTLY 2 OBO}
            {LMOVEM src dst LEFT LEFT EXACTLY 3 BULK} {LMOVEM src src LEFT RIGHT EXACTLY 3 BULK}
        } {typed {*}$call}]
        list [lsort -unique $replies] [list_of src] [r EXISTS dst none]
    } [list $null {a b} 0]
    check_in $version "LMOVEM without EXACTLY returns a null array when there is no list, in RESP3 null" {
        list [typed LMOVEM none dst LEFT LEFT] [typed LMOVEM none dst LEFT LEFT COUNT 2 OBO] [r EXISTS dst]
    } [list $null $null 0]
    check_in $version "BLMOVEM that runs out of time, or may not wait, returns a null array, in RESP3 null" {
        r RPUSH src a
        set replies [list [typed BLMOVEM src dst LEFT LEFT 0.01 EXACTLY 2 OBO] [typed BLMOVEM none dst LEFT LEFT 0.01]]
        r MULTI
        r BLMOVEM src dst LEFT LEFT 0 EXACTLY 2 OBO
        r BLMOVEM none dst LEFT LEFT 0 COUNT 2 OBO
        list {*}$replies [typed EXEC] [list_of src]
    } [list $null $null [list array [list $null $null]] a]
}
check_lists "LMOVEM moves every kind of element" {
    make_list src $element_kinds
    set count [llength $element_kinds]
    assert_equal [r LMOVEM src dst LEFT LEFT EXACTLY $count OBO] [lreverse $element_kinds]
    assert_equal [list_of dst] [lreverse $element_kinds]
    assert_equal [r LMOVEM dst src RIGHT RIGHT EXACTLY $count OBO] $element_kinds
    assert_equal [r LMOVEM src dst RIGHT RIGHT COUNT $count BULK] $element_kinds
    set all_but_one [lrange $element_kinds 1 end]
    assert_equal [r LMOVEM dst dst RIGHT LEFT EXACTLY [llength $all_but_one] BULK] $all_but_one
    list_of dst
} [list {*}[lrange $element_kinds 1 end] [lindex $element_kinds 0]]
check_lists "LMOVEM moves blocks of a long list" {
    set elements [numbered 1 1000 e]
    r RPUSH src {*}$elements
    foreach {from to order} {LEFT RIGHT BULK LEFT RIGHT OBO RIGHT LEFT BULK RIGHT LEFT OBO} {
        set block [expr {$from eq "LEFT" ? [lrange $elements 0 249] : [lrange $elements end-249 end]}]
        set elements [expr {$from eq "LEFT" ? [lrange $elements 250 end] : [lrange $elements 0 end-250]}]
        assert_equal [r LMOVEM src dst $from $to EXACTLY 250 $order] $block
    }
    assert_equal [r EXISTS src] 0
    list_of dst
} [concat [numbered 501 1000 e] [numbered 1 500 e]]
check "LMOVEM moves compressed nodes" {
    with_config {list-compress-depth 1 list-max-listpack-size 10} {
        set elements [lmap e [numbered 1 200] {string repeat $e 50}]
        r RPUSH src {*}$elements
        r RPUSH dst {*}$elements
        assert_equal [r LMOVEM src dst LEFT LEFT EXACTLY 150 OBO] [lreverse [lrange $elements 0 149]]
        assert_equal [list_of dst] [list {*}[lreverse [lrange $elements 0 149]] {*}$elements]
        list_of src
    }
} [lmap e [numbered 151 200] {string repeat $e 50}]

# --- What goes wrong

foreach {command tail name} {LMOVEM {} lmovem BLMOVEM 0 blmovem} {
    check "$command refuses a source of another type" {
        r SET src text
        assert_equal [error_of {r $command src dst LEFT RIGHT {*}$tail COUNT 2 OBO}] $wrong_type
        list [r GET src] [r EXISTS dst]
    } {text 0}
    check "$command refuses a destination of another type and moves nothing" {
        r RPUSH src a b
        r SET dst text
        assert_equal [error_of {r $command src dst LEFT RIGHT {*}$tail COUNT 2 OBO}] $wrong_type
        list [list_of src] [r GET dst]
    } {{a b} text}
    foreach options {
        COUNT {COUNT 1} {EXACTLY 1} {OBO} {BULK} {1 OBO} {COUNT 1 OBO x} {OBO COUNT 1} {COUNT 1 EXACTLY}
        {MAX 1 OBO} {COUNT 1 OBO BULK} {COUNT 1 OBO EXACTLY 1 OBO} {COUNT 1 x}
    } {
        check_error "$command with {$options} is a syntax error" {
            r RPUSH src a
            r $command src dst LEFT RIGHT {*}$tail {*}$options
        } "ERR syntax error"
    }
    foreach ends {{UP LEFT} {LEFT DOWN} {"" LEFT} {LEFT LEFTX}} {
        check_error "$command $ends is a syntax error" {r $command src dst {*}$ends {*}$tail COUNT 1 OBO} \
            "ERR syntax error"
    }
    foreach count {0 -1 x OBO 1.5 "" 9223372036854775808} {
        check "$command refuses to move {$count} elements" {
            r RPUSH src a
            foreach mode {COUNT EXACTLY} {
                assert_equal [error_of {r $command src dst LEFT RIGHT {*}$tail $mode $count OBO}] \
                    "ERR count should be greater than 0"
            }
            list_of src
        } a
    }
    check_error "$command needs two keys and two ends" {r $command src dst LEFT {*}$tail} \
        "ERR wrong number of arguments for '$name' command"
}
foreach {timeout text} {
    -1 "ERR timeout is negative" x "ERR timeout is not a float or out of range"
    1e5000 "ERR timeout is not a float or out of range"
} {
    check_error "BLMOVEM refuses a timeout of $timeout" {r BLMOVEM src dst LEFT RIGHT $timeout COUNT 1 OBO} $text
}
check "LMOVEM knows its words in any case" {
    r RPUSH src a b c d
    list [r lmovem src dst left Right count 2 bulk] [r LMoveM src dst LEFT left Exactly 2 Obo] [list_of dst]
} {{a b} {d c} {d c a b}}
check "LMOVEM that moves nothing does not look at the destination" {
    r SET dst text
    list [r LMOVEM none dst LEFT RIGHT COUNT 2 OBO] [r GET dst]
} {(nil) text}

# --- Waiting

check "BLMOVEM waits for the first element, and takes as many as there are then" {
    set c [client_blocked BLMOVEM src dst LEFT LEFT 0 COUNT 3 OBO]
    r RPUSH src a b
    list [$c read] [list_of dst] [r EXISTS src]
} {{b a} {b a} 0}
check "BLMOVEM EXACTLY waits until there are enough" {
    r RPUSH src a
    set c [client_blocked BLMOVEM src dst LEFT RIGHT 0 EXACTLY 3 BULK]
    r RPUSH src b
    r LPOP src
    r RPUSH src c
    assert {[$c is_silent 20]}
    wait_blocked 1
    r RPUSH src d e
    list [$c read] [list_of dst] [list_of src]
} {{b c d} {b c d} e}
check "the client that has waited longest is served first, one that waits for more is passed over" {
    set exact [client_blocked BLMOVEM src dst LEFT RIGHT 0 EXACTLY 3 BULK]
    set first [client_blocked BLMOVEM src dst LEFT RIGHT 0 COUNT 2 BULK]
    set second [client_blocked BLPOP src 0]
    r RPUSH src a b c
    assert_equal [$exact read] {a b c}
    r RPUSH src d
    assert_equal [$first read] d
    $exact send BLMOVEM src dst LEFT RIGHT 0 EXACTLY 3 BULK
    wait_blocked 2
    r RPUSH src e f
    assert_equal [$second read] {src e}
    r RPUSH src g h
    list [$exact read] [list_of dst]
} {{f g h} {a b c d f g h}}
check "what BLMOVEM brings serves a client that waits for the destination" {
    set moves [client_blocked BLMOVEM src dst LEFT RIGHT 0 EXACTLY 2 OBO]
    set pops [client_blocked BLPOP dst 0]
    r RPUSH src a b
    list [$moves read] [$pops read] [list_of dst]
} {{a b} {dst a} b}
check "BLMOVEM is served after the whole transaction" {
    set c [client_blocked BLMOVEM src dst LEFT RIGHT 0 EXACTLY 2 OBO]
    foreach request {MULTI {RPUSH src a b} {LPUSH src c} EXEC} { r {*}$request }
    list [$c read] [list_of src]
} {{c a} b}
check "BLMOVEM goes on waiting while the key is of another type, and gets an error for such a destination" {
    set c [client_blocked BLMOVEM src dst LEFT RIGHT 0 COUNT 2 OBO]
    r SET src text
    r ZADD src2 1 a
    r RENAME src2 src
    assert {[$c is_silent 20]}
    r SET dst text
    r DEL src
    r RPUSH src a
    list [error_of {$c read}] [list_of src]
} [list $wrong_type a]
check "a list that another command puts in place serves BLMOVEM" {
    set clients [lmap key {src1 src2 src3} {client_blocked BLMOVEM $key dst LEFT RIGHT 0 EXACTLY 2 OBO}]
    r RPUSH one a
    r RPUSH two a b
    r RENAME one src1
    r COPY two src1 REPLACE
    r COPY two src2
    r SORT two ALPHA STORE src3
    list [lmap c $clients {$c read}] [r EXISTS src1 src2 src3]
} {{{a b} {a b} {a b}} 0}

foreach {growth expected} {
    {RPUSH src c} {a b c}
    {LPUSH src c} {c a b}
    {RPUSHX src c} {a b c}
    {LINSERT src BEFORE b c} {a c b}
    {LINSERT src AFTER b c} {a b c}
    {LMOVE other src LEFT RIGHT} {a b c}
    {RPOPLPUSH other src} {c a b}
    {BLMOVE other src LEFT LEFT 0} {c a b}
    {LMOVEM other src LEFT RIGHT COUNT 1 BULK} {a b c}
    {RPUSHBOUND src 5 c} {a b c}
    {SORT more ALPHA STORE src} {d e f}
    {COPY more src REPLACE} {e d f}
    {RENAME more src} {e d f}
} {
    check "[lindex $growth 0] that makes the list long enough serves BLMOVEM EXACTLY" {
        r RPUSH src a b
        r RPUSH other c
        r RPUSH more e d f
        set c [client_blocked BLMOVEM src dst LEFT RIGHT 0 EXACTLY 3 BULK]
        r {*}$growth
        list [$c read] [list_of dst]
    } [list $expected $expected]
}

# --- What is propagated, and what the events are

# The commands of a unit: an LMOVE several times in a row is shown once, with its number.
proc moves {commands} {
    set result {}
    foreach command $commands {
        if {[lindex $result end 1] eq $command} {
            lset result end 0 [expr {[lindex $result end 0] + 1}]
        } else {
            lappend result [list 1 $command]
        }
    }
    return $result
}

foreach {call expected} {
    {LMOVEM l m LEFT RIGHT COUNT 3 OBO}     {{3 {LMOVE l m LEFT RIGHT}}}
    {LMOVEM l m RIGHT LEFT COUNT 3 BULK}    {{3 {LMOVE l m RIGHT LEFT}}}
    {LMOVEM l m LEFT LEFT EXACTLY 3 OBO}    {{3 {LMOVE l m LEFT LEFT}}}
    {LMOVEM l m LEFT LEFT COUNT 3 BULK}     {{3 {LMOVE l m LEFT RIGHT}} {3 {LMOVE m m RIGHT LEFT}}}
    {LMOVEM l m RIGHT RIGHT COUNT 99 BULK}  {{4 {LMOVE l m RIGHT LEFT}} {4 {LMOVE m m LEFT RIGHT}}}
    {BLMOVEM l m LEFT RIGHT 0 EXACTLY 2 OBO} {{2 {LMOVE l m LEFT RIGHT}}}
    {LMOVEM l l LEFT RIGHT COUNT 2 BULK}    {{2 {LMOVE l l LEFT RIGHT}}}
} {
    check "$call is propagated as LMOVEs, at once" {
        r RPUSH l a b c d
        r RPUSH m x
        moves [propagated_by {r {*}$call}]
    } [list {1 MULTI} {*}$expected {1 EXEC}]
}
check "LMOVEM that moves one element or nothing is propagated as one LMOVE or not at all" {
    propagated_by {
        r RPUSH l a b
        r LMOVEM l m LEFT LEFT COUNT 1 OBO
        r LMOVEM l m LEFT LEFT
        r LMOVEM l m LEFT LEFT EXACTLY 2 OBO
        r LMOVEM m m LEFT LEFT EXACTLY 3 OBO
    }
} {{RPUSH l a b} {LMOVE l m LEFT LEFT} {LMOVE l m LEFT LEFT}}
check "a BLMOVEM that waited is propagated behind the push that served it" {
    set c [client_blocked BLMOVEM l m LEFT RIGHT 0 EXACTLY 2 BULK]
    moves [propagated_by {
        r RPUSH l a b c
        $c read
    }]
} {{1 {RPUSH l a b c}} {1 MULTI} {2 {LMOVE l m LEFT RIGHT}} {1 EXEC}}
check "the append-only file makes the same lists" {
    foreach from {LEFT RIGHT} {
        foreach to {LEFT RIGHT} {
            foreach order {OBO BULK} {
                foreach destination {l m new:$from$to$order} {
                    r RPUSH l {*}[numbered 1 40 $from$to$order]
                    r LMOVEM l $destination $from $to COUNT 7 $order
                }
            }
        }
    }
    set digest [r DEBUG DIGEST]
    r DEBUG LOADAOF
    expr {[r DEBUG DIGEST] eq $digest}
} 1
check "an append-only file in which LMOVEM and BLMOVEM stand is loaded" {
    with_aof {} {
        $::current_server halt
        break_file $::current_server [join [lmap command {
            {SELECT 0} {RPUSH l a b c d e} {LMOVEM l m LEFT LEFT COUNT 2 OBO} {BLMOVEM l m RIGHT RIGHT 0 EXACTLY 2 OBO}
            {BLMOVEM none m RIGHT RIGHT 0}
        } {request $command}] ""]
        server_again launch
        list [list_of l] [list_of m]
    }
} {c {b a e d}}

finish
