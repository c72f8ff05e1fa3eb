# LPUSHBOUND and RPUSHBOUND: pushes to a list that keeps at most so many elements.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]
source $library/aof.tcl

server_start {appendonly yes appendfsync no}

# --- EVICT

foreach {command scene max elements length result} {
    RPUSHBOUND {}      3 {a b}     2 {a b}       LPUSHBOUND {}      3 {a b}     2 {b a}
    RPUSHBOUND {}      3 {a b c}   3 {a b c}     LPUSHBOUND {}      3 {a b c}   3 {c b a}
    RPUSHBOUND {}      3 {a b c d} 3 {b c d}     LPUSHBOUND {}      3 {a b c d} 3 {d c b}
    RPUSHBOUND {x y}   3 {a b}     3 {y a b}     LPUSHBOUND {x y}   3 {a b}     3 {b a x}
    RPUSHBOUND {x y z} 3 {a}       3 {y z a}     LPUSHBOUND {x y z} 3 {a}       3 {a x y}
    RPUSHBOUND {x y z} 3 {a b c}   3 {a b c}     LPUSHBOUND {x y z} 3 {a b c}   3 {c b a}
    RPUSHBOUND {x y z} 1 {a b c}   1 c           LPUSHBOUND {x y z} 1 {a b c}   1 c
    RPUSHBOUND {v w x y z} 2 {a}   2 {z a}       LPUSHBOUND {v w x y z} 2 {a}   2 {a v}
    RPUSHBOUND {x y} 9223372036854775807 {a} 3 {x y a}
    LPUSHBOUND {x y} 9223372036854775807 {a} 3 {a x y}
} {
    foreach option {{} EVICT evict} {
        check_lists "$command $max {$option} $elements to {$scene} keeps the newest" {
            if {$scene ne ""} { make_list k $scene }
            list [typed $command k $max {*}$option {*}$elements] [list_of k]
        } [list [list int $length] $result]
    }
}
foreach {command push trim} {RPUSHBOUND RPUSH {-100 -1} LPUSHBOUND LPUSH {0 99}} {
    check_lists "$command leaves a list as $command's push and an LTRIM do" {
        for {set i 0} {$i < 60} {incr i} {
            set elements [numbered 1 [expr {1 + $i * 7 % 13}] $i-]
            r $command k 100 {*}$elements
            r $push model {*}$elements
            r LTRIM model {*}$trim
            assert_equal [list_of k] [list_of model]
        }
        r LLEN k
    } 100
    check_lists "$command takes every kind of element" {
        r $command k 1000 {*}$element_kinds
        list_of k
    } [expr {$push eq "RPUSH" ? $element_kinds : [lreverse $element_kinds]}]
    check "$command keeps the expiry of a list all of whose elements it replaces" {
        r RPUSH k a b
        r EXPIRE k 100
        list [r $command k 2 c d e] [expr {[r TTL k] > 90}]
    } {2 1}
}
check "elements of 1 MB are pushed and evicted" {
    foreach letter {a b c d} { r RPUSHBOUND k 2 EVICT [string repeat $letter 1048576] }
    list [r LLEN k] [lmap e [list_of k] {list [string length $e] [string index $e 0]}]
} {2 {{1048576 c} {1048576 d}}}

# --- REJECT

foreach command {LPUSHBOUND RPUSHBOUND} {
    foreach {scene max elements reply} {
        {} 3 {a b c} 3    {x} 3 {a b} 3    {} 3 {a b c d} -1    {x y} 3 {a b c} -2    {x y z} 3 {a} -1
        {v w x y z} 3 {a b} -2    {v w x y z} 5 {a b} -2
    } {
        check_lists "$command REJECT $max $elements to {$scene} pushes all or nothing" {
            if {$scene ne ""} { make_list k $scene }
            set before [list_of k]
            set replied [typed $command k $max REJECT {*}$elements]
            set at_head [concat [lreverse $elements] $before]
            set all [expr {$command eq "RPUSHBOUND" ? [concat $before $elements] : $at_head}]
            assert_equal [list_of k] [expr {$reply < 0 ? $before : $all}]
            set replied
        } [list int $reply]
    }
    check "$command that is refused makes no list" {
        list [r $command k 2 reject a b c] [r EXISTS k]
    } {-1 0}

    # --- What goes wrong

    foreach max {0 -1 x 1.5 "" 9223372036854775808} {
        check_error "$command refuses a bound of {$max}" {r $command k $max a} "ERR maxlen should be greater than 0"
    }
    foreach arguments {{} k {k 3} {k 3 EVICT} {k 3 reject}} {
        check_error "$command needs an element, not {$arguments}" {r $command {*}$arguments} \
            "ERR wrong number of arguments for '[string tolower $command]' command"
    }
    check "$command refuses a key of another type" {
        r SET k text
        list [error_of {r $command k 3 a}] [error_of {r $command k 3 REJECT a}] [r GET k]
    } [list $wrong_type $wrong_type text]
}
check "the word of an option is an element behind an option, or behind an element" {
    list [r RPUSHBOUND k 9 EVICT EVICT] [r RPUSHBOUND k 9 reject REJECT evict] [r RPUSHBOUND k 9 a EVICT] [list_of k]
} {1 3 5 {EVICT REJECT evict a EVICT}}

# --- Clients that wait

check "a client that waits gets what is left of a push" {
    set first [client_blocked BLPOP k 0]
    set second [client_blocked BLPOP k 0]
    r RPUSHBOUND k 1 a b c
    assert_equal [$first read] {k c}
    r LPUSHBOUND k 2 REJECT d
    list [$second read] [r EXISTS k]
} {{k d} 0}
check "a push that is refused serves nobody" {
    set c [client_blocked BLPOP k 0]
    r RPUSHBOUND k 1 REJECT a b
    assert {[$c is_silent 20]}
    r RPUSHBOUND k 2 REJECT a b
    list [$c read] [list_of k]
} {{k a} b}

# --- What is propagated

foreach {calls expected} {
    {{RPUSHBOUND k 3 a b} {RPUSHBOUND k 3 REJECT c}}    {{RPUSH k a b} {RPUSH k c}}
    {{LPUSHBOUND k 3 EVICT a b}}                        {{LPUSH k a b}}
    {{RPUSHBOUND k 3 REJECT a b c d}}                   {}
    {{RPUSHBOUND k 2 a b c d}}                          {{RPUSH k c d}}
    {{RPUSHBOUND k 2 a b} {RPUSHBOUND k 2 c}}           {{RPUSH k a b} MULTI {RPUSH k c} {LTRIM k -2 -1} EXEC}
    {{LPUSHBOUND k 2 a b} {LPUSHBOUND k 2 c d e}}       {{LPUSH k a b} MULTI {LPUSH k d e} {LTRIM k 0 1} EXEC}
} {
    check "[join $calls { and }] are propagated as what was pushed and trimmed" {propagated $calls} $expected
}
check "the append-only file makes the same lists" {
    for {set i 0} {$i < 200} {incr i} {
        set command [expr {$i % 3 ? "RPUSHBOUND" : "LPUSHBOUND"}]
        set option [expr {$i % 5 ? "EVICT" : "REJECT"}]
        r $command list:[expr {$i % 4}] [expr {1 + $i % 4 * 30}] $option {*}[numbered 1 [expr {1 + $i % 11}] $i-]
    }
    set digest [r DEBUG DIGEST]
    r DEBUG LOADAOF
    expr {[r DEBUG DIGEST] eq $digest}
} 1
check "an append-only file in which they stand is loaded" {
    with_aof {} {
        $::current_server halt
        break_file $::current_server [join [lmap command {
            {SELECT 0} {RPUSHBOUND k 2 a b c} {LPUSHBOUND k 3 REJECT d} {LPUSHBOUND k 3 REJECT e}
        } {request $command}] ""]
        server_again launch
        list_of k
    }
} {d b c}

finish
