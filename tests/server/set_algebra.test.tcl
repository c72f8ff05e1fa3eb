# SINTER, SUNION, SDIFF, their STORE forms and SINTERCARD.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]

server_start

# The same in Tcl: lists of different members.
proc model {operation sets} {
    set others [lassign $sets result]
    foreach other $others {
        if {$operation eq "UNION"} {
            set result [lsort -unique [concat $result $other]]
            continue
        }
        set result [lmap member $result {
            if {($member in $other) == ($operation eq "DIFF")} continue
            set member
        }]
    }
    return [lsort $result]
}

# Asks for an operation in all of its forms, and compares with the model.
proc assert_operation {operation keys} {
    set expected [model $operation [lmap key $keys {r SMEMBERS $key}]]
    assert_equal [sorted [r S$operation {*}$keys]] $expected
    assert_equal [r S${operation}STORE to {*}$keys] [llength $expected]
    assert_equal [sorted [r SMEMBERS to]] $expected
    if {$operation eq "INTER"} {
        assert_equal [r SINTERCARD [llength $keys] {*}$keys] [llength $expected]
    } else {
        assert_equal [r S${operation}CARD [llength $keys] {*}$keys] [llength $expected]
        foreach limit {1 3 50} {
            assert_equal [r S${operation}CARD [llength $keys] {*}$keys LIMIT $limit] \
                [expr {min($limit, [llength $expected])}]
        }
    }
}

foreach operation {INTER UNION DIFF} {
    check_sets "S$operation of small sets" {
        make_set a {1 2 3 4 5}
        make_set b {3 4 5 6}
        make_set c {5 3}
        foreach keys {a {a b} {b a} {a b c} {c a b} {a none} {none a} {none missing} {a a} {a c c}} {
            assert_operation $::operation $keys
        }
    }
    check_sets "S$operation of a large set and small ones" {
        make_set a [numbered 1 1000]
        make_set b [numbered 900 1100]
        make_set c {1 2 999}
        make_set d {3 1000}
        foreach keys {{a b} {b a} {a c d} {a c d b} {c a d} {b c a}} {
            assert_operation $::operation $keys
        }
    }
    check "S$operation of sets with different encodings, and an empty member" {
        r SADD integers 1 2 3
        r SADD texts "" 2 x 3
        r SADD longer "" y [string repeat z 100] 2
        assert_equal [lmap key {integers texts longer} {r OBJECT ENCODING $key}] {intset listpack hashtable}
        foreach keys {{integers texts} {texts integers} {longer texts} {texts longer integers} {longer integers}} {
            assert_operation $::operation $keys
        }
    }
}
set text_encodings {listpack {set-max-listpack-entries 128} hashtable {set-max-listpack-entries 0}}
check_encodings $text_encodings "an empty member stays when its neighbour goes" {
    foreach members {{{} a b c} {a {} b c} {a b {} c} {a b c {}}} {
        foreach other {a b c {}} {
            r DEL k o
            make_set k $members
            r SADD o $other
            assert_operation DIFF {k o}
            assert_operation DIFF {k o none o}
        }
    }
}
check "a stored result has the encoding that its members need, and replaces any value with its expiry" {
    r SADD integers 1 2 3
    r SADD texts 2 3 x
    r SADD many {*}[numbered 1 600]
    set encodings {}
    foreach request {{SINTERSTORE to integers texts} {SUNIONSTORE to integers texts} {SDIFFSTORE to texts integers}
        {SUNIONSTORE to many texts} {SINTERSTORE to many integers} {SUNIONSTORE to integers}} {
        r SET to text EX 100
        r {*}$request
        lappend encodings [r OBJECT ENCODING to] [r TTL to]
    }
    set encodings
} {intset -1 listpack -1 listpack -1 hashtable -1 intset -1 intset -1}
check "a stored result has the encoding of the present limits, whatever those of its sources were" {
    r SADD integers {*}[numbered 1 100]
    r SADD texts {*}[numbered 1 100 m]
    set encodings {}
    with_config {set-max-intset-entries 10 set-max-listpack-entries 10} {
        foreach request {{SUNIONSTORE to integers} {SUNIONSTORE to texts} {SUNIONSTORE to none integers texts}
            {SINTERSTORE to integers integers} {SDIFFSTORE to texts integers}} {
            r {*}$request
            lappend encodings [r OBJECT ENCODING to]
        }
        lappend encodings [r OBJECT ENCODING integers] [r OBJECT ENCODING texts]
    }
    set encodings
} {hashtable hashtable hashtable hashtable hashtable intset listpack}
check_sets "the destination may be a source, and an empty result deletes it" {
    make_set a {1 2 3}
    make_set b {2 3 4}
    list [r SDIFFSTORE a a b] [r SMEMBERS a] [r SUNIONSTORE a a b] [sorted [r SMEMBERS a]] [r SINTERSTORE a a none] \
        [r EXISTS a]
} {1 1 4 {1 2 3 4} 0 0}
check_sets "SINTERCARD counts up to a limit" {
    make_set a [numbered 1 200]
    make_set b [numbered 101 300]
    list [r SINTERCARD 2 a b] [r SINTERCARD 2 a b LIMIT 0] [r SINTERCARD 2 a b limit 7] [r SINTERCARD 2 a b LIMIT 500] \
        [r SINTERCARD 1 a] [r SINTERCARD 2 a none]
} {100 100 7 100 200 0}
check_sets "SUNIONCARD and SDIFFCARD count up to a limit, SUNIONCARD also with APPROX" {
    make_set a [numbered 1 200]
    make_set b [numbered 101 300]
    list [r SUNIONCARD 2 a b] [r SUNIONCARD 2 a b LIMIT 0] [r SUNIONCARD 2 a b limit 7 APPROX] \
        [r SUNIONCARD 2 a b approx LIMIT 250] [r SUNIONCARD 1 a] [r SUNIONCARD 1 a LIMIT 5] [r SUNIONCARD 2 none a] \
        [r SDIFFCARD 2 a b] [r SDIFFCARD 2 a b LIMIT 7] [r SDIFFCARD 2 a none LIMIT 500] [r SDIFFCARD 2 none a]
} {300 300 7 250 200 5 200 100 7 200 0}
check_sets "SUNIONCARD counts few sets and many, also the same one several times and missing ones" {
    make_set large [numbered 1 1000]
    for {set i 0} {$i < 12} {incr i} {
        make_set $i [numbered [expr {$i * 90}] [expr {$i * 90 + 20 * $i}]]
    }
    foreach keys {{large 1 2} {2 large 0 11} {none none} {none 3 3} {3 large 3 large none 11 3} {4 5 6 7}
            {1 2 3 4 5 none} {0 1 2 3 4 5 6 7 8 9 10 11} {11 10 9 8 7 6 5 4 3 2 1 0 large large}} {
        set expected [llength [r SUNION {*}$keys]]
        foreach limit [list 0 1 [expr {max(1, $expected - 1)}] [expr {max(1, $expected)}] 5000] {
            assert_equal [r SUNIONCARD [llength $keys] {*}$keys LIMIT $limit] \
                [expr {$limit ? min($limit, $expected) : $expected}]
        }
    }
} ""
check_in 3 "results are sets" {
    r SADD a 1
    lmap request {{SINTER a} {SUNION a none} {SDIFF a none} {SDIFF none a}} {lindex [typed {*}$request] 0}
} {set set set set}
foreach operation {SINTER SUNION SDIFF} {
    foreach keys {{l} {a l} {none l}} {
        check_error "$operation $keys refuses a list" "r SADD a 1; r RPUSH l 1; r $operation $keys" $wrong_type
        check "${operation}STORE to $keys refuses a list and changes nothing" {
            r SADD a 1
            r SADD to 7
            r RPUSH l 1
            list [error_of {r ${operation}STORE to {*}$keys}] [r SMEMBERS to]
        } [list $wrong_type 7]
    }
}
foreach {arguments error} {
    {0 a}           "ERR numkeys should be greater than 0"
    {x a}           "ERR numkeys should be greater than 0"
    {2 a}           "ERR Number of keys can't be greater than number of args"
    {1 a b}         "ERR syntax error"
    {1 a LIMIT}     "ERR syntax error"
    {1 a LIMIT -1}  "ERR LIMIT can't be negative"
    {1 a LIMIT x}   "ERR LIMIT can't be negative"
} {
    foreach command {SINTERCARD SUNIONCARD SDIFFCARD} {
        check_error "$command $arguments is refused" "r SADD a 1; r $command $arguments" $error
    }
}
foreach command {SINTERCARD SDIFFCARD} {
    check_error "$command has no APPROX" [list r $command 1 a APPROX] "ERR syntax error"
}
foreach command {SUNIONCARD SDIFFCARD} {
    check_error "$command refuses a list" "r SADD a 1; r RPUSH l 1; r $command 2 a l" $wrong_type
}

finish
