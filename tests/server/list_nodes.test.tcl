# The nodes of a quicklist: how many there are, which of them are compressed or plain, as DEBUG OBJECT and DEBUG
# QUICKLIST show it, for every list-max-listpack-size and list-compress-depth.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

# The lines of DEBUG QUICKLIST, a dictionary for each node: count, bytes, lzf (1 or 0), plain (1 or 0).
proc nodes_of {key} {
    set nodes {}
    foreach line [lrange [split [string trim [r DEBUG QUICKLIST $key]] \n] 1 end] {
        set form {^node (\d+): count (\d+), bytes (\d+), (plain, )?(raw|lzf)}
        assert {[regexp $form $line _ index count bytes plain kind]}
        assert_equal $index [llength $nodes]
        lappend nodes [dict create count $count bytes $bytes lzf [expr {$kind eq "lzf"}] plain [expr {$plain ne ""}]]
    }
    return $nodes
}

proc field_of_nodes {key field} {
    return [lmap node [nodes_of $key] {dict get $node $field}]
}

# How many elements of 100 bytes (103 in a node that has 7 bytes itself) Redis puts into a node: one more is let in
# when its length and `overhead` still fit. That is 8 in a quicklist; in a listpack, which becomes the first node, 0.
proc node_capacity {fill overhead} {
    set limit [expr {$fill < 0 ? 2048 << -$fill : 8192}]
    set by_bytes [expr {($limit - 7 - 100 - $overhead) / 103 + 1}]
    return [expr {$fill < 0 ? $by_bytes : min($fill, $by_bytes)}]
}

proc compressible {count} {
    return [lmap i [numbered 1 $count] {format %0100d $i}]
}

proc incompressible {length} {
    set bytes ""
    while {[string length $bytes] < $length} {
        append bytes [binary format c [expr {int(rand() * 256)}]]
    }
    return $bytes
}

foreach fill {1 2 5 128 -1 -2 -3 -4 -5} {
    set counts [list [node_capacity $fill 0] {*}[lrepeat 5 [node_capacity $fill 8]] 1]
    set total [expr [join $counts +]]
    foreach depth {0 1 2 3} {
        check "list-max-listpack-size $fill and list-compress-depth $depth give nodes of [lindex $counts 1]" {
            with_config [list list-max-listpack-size $fill list-compress-depth $depth] {
                set elements [compressible $total]
                [default_client] pipeline [lmap element $elements {list RPUSH k $element}]
                assert_equal [field_of_nodes k count] $counts
                assert_equal [field_of_nodes k plain] [lrepeat 7 0]
                assert_equal [field_of_nodes k lzf] [lmap i [numbered 0 6] {
                    expr {$depth > 0 && $i >= $depth && $i < 7 - $depth}
                }]
                assert_equal [field_of_nodes k bytes] [lmap count $counts {expr {7 + 103 * $count}}]
                assert_equal [object_field k encoding] quicklist
                assert_equal [object_field k ql_nodes] 7
                assert_equal [object_field k ql_avg_node] [format %.2f [expr {$total / 7.0}]]
                assert_equal [object_field k ql_listpack_max] $fill
                assert_equal [object_field k ql_compressed] [expr {$depth > 0}]
                assert_equal [object_field k ql_uncompressed_size] [expr {7 * 7 + 103 * $total}]
                assert_equal [list_of k] $elements
            }
        }
        check "pushes and pops at the head compress and unpack nodes, with list-max-listpack-size $fill and\
                list-compress-depth $depth" {
            with_config [list list-max-listpack-size $fill list-compress-depth $depth] {
                set elements [compressible $total]
                [default_client] pipeline [lmap element [lreverse $elements] {list LPUSH k $element}]
                set nodes [object_field k ql_nodes]
                assert_equal $nodes 7
                while {$nodes > 1} {
                    assert_equal [field_of_nodes k lzf] [lmap i [numbered 0 [expr {$nodes - 1}]] {
                        expr {$depth > 0 && $i >= $depth && $i < $nodes - $depth}
                    }]
                    set taken [r LPOP k [lindex [field_of_nodes k count] 0]]
                    assert_equal $taken [lrange $elements 0 [expr {[llength $taken] - 1}]]
                    set elements [lrange $elements [llength $taken] end]
                    incr nodes -1
                    if {[r OBJECT ENCODING k] eq "listpack"} {
                        break
                    }
                    assert_equal [object_field k ql_nodes] $nodes
                }
                assert_equal [list_of k] $elements
            }
        }
    }
}

# --- Compression

proc make_compressed {key} {
    r RPUSH $key {*}[compressible 50]
    assert_equal [field_of_nodes $key lzf] [list 0 {*}[lrepeat 8 1] 0]
}
proc with_compression {body} {
    with_config {list-max-listpack-size 5 list-compress-depth 1} {
        uplevel #0 $body
    }
}
foreach command {
    {LRANGE k 0 -1} {LRANGE k 20 29} {LINDEX k 25} {LINDEX k -20} {LPOS k nosuch} {LPOS k nosuch RANK -1} {LLEN k}
    {LREM k 0 nosuch} {LINSERT k BEFORE nosuch x} {DEBUG QUICKLIST k full} {MEMORY USAGE k}
} {
    check "$command leaves compressed nodes compressed" {
        with_compression {
            make_compressed k
            r {*}$command
            assert_equal [field_of_nodes k lzf] [list 0 {*}[lrepeat 8 1] 0]
            assert_equal [list_of k] [compressible 50]
        }
    }
}
check "LSET within a compressed node leaves it compressed" {
    with_compression {
        make_compressed k
        set elements [compressible 50]
        foreach index {7 22 40} {
            set text [string repeat $index 60]
            r LSET k $index $text
            lset elements $index $text
        }
        assert_equal [list_of k] $elements
        field_of_nodes k lzf
    }
} {0 1 1 1 1 1 1 1 1 0}
check "LINSERT within compressed nodes leaves all but the ends compressed" {
    with_compression {
        make_compressed k
        set elements [compressible 50]
        foreach index {7 22 40} {
            set at [lsearch -exact $elements [format %0100d $index]]
            set text [string repeat $index 60]
            r LINSERT k BEFORE [format %0100d $index] $text
            set elements [linsert $elements $at $text]
        }
        assert_equal [list_of k] $elements
        set lzf [field_of_nodes k lzf]
        list [lindex $lzf 0] [lsort -unique [lrange $lzf 1 end-1]] [lindex $lzf end]
    }
} {0 1 0}
check "LREM within compressed nodes leaves all but the ends compressed" {
    with_compression {
        make_compressed k
        foreach index {8 23 24 41} {
            assert_equal [r LREM k 1 [format %0100d $index]] 1
        }
        set elements [compressible 50]
        foreach index {41 24 23 8} {
            set elements [lreplace $elements $index-1 $index-1]
        }
        assert_equal [list_of k] $elements
        set lzf [field_of_nodes k lzf]
        list [lindex $lzf 0] [lsort -unique [lrange $lzf 1 end-1]] [lindex $lzf end]
    }
} {0 1 0}
check "LTRIM unpacks the nodes that come to stand at the ends" {
    with_compression {
        make_compressed k
        r LTRIM k 12 37
        assert_equal [list_of k] [lrange [compressible 50] 12 37]
        field_of_nodes k lzf
    }
} {0 1 1 1 1 0}
check "a node that LZF does not make smaller stays raw" {
    with_compression {
        set elements [lmap i [numbered 1 30] {incompressible 100}]
        r RPUSH k {*}$elements
        assert_equal [field_of_nodes k lzf] [lrepeat 6 0]
        assert {[list_of k] eq $elements}
    }
}
check "a node of few bytes stays raw" {
    with_compression {
        r RPUSH k {*}[lrepeat 30 a]
        field_of_nodes k lzf
    }
} {0 0 0 0 0 0}
check "a new list-compress-depth holds for lists that begin after it" {
    with_compression {
        make_compressed old
        r CONFIG SET list-compress-depth 0
        r RPUSH new {*}[compressible 50]
        r RPUSH old x
        list [object_field old ql_compressed] [object_field new ql_compressed] [lsort -unique [field_of_nodes new lzf]]
    }
} {1 0 0}
check "serializedlength of a compressed list is that of its compressed nodes" {
    with_compression {
        r RPUSH packed {*}[compressible 50]
    }
    with_config {list-max-listpack-size 5 list-compress-depth 0} {
        r RPUSH raw {*}[lmap i [numbered 1 50] {incompressible 100}]
    }
    assert_equal [object_field packed ql_uncompressed_size] [object_field raw ql_uncompressed_size]
    expr {[object_field packed serializedlength] * 3 < [object_field raw serializedlength]}
} 1

# --- Plain nodes

foreach {fill limit} {1 8192 128 8192 -1 4096 -2 8192 -3 16384 -4 32768 -5 65536} {
    check "an element larger than list-max-listpack-size $fill allows gets a node of its own" {
        with_config [list list-max-listpack-size $fill] {
            set large [string repeat x [expr {$limit + 1}]]
            r RPUSH k a $large b c $large $large d
            assert_equal [field_of_nodes k plain] [expr {$fill == 1 ? "0 1 0 0 1 1 0" : "0 1 0 1 1 0"}]
            assert_equal [lindex [field_of_nodes k bytes] 1] [expr {$limit + 1}]
            assert {[list_of k] eq [list a $large b c $large $large d]}
        }
    }
    check "an element as large as list-max-listpack-size $fill allows is no plain node" {
        with_config [list list-max-listpack-size $fill] {
            r RPUSH k a [string repeat x $limit] b
            field_of_nodes k plain
        }
    } {0 0 0}
}
check "plain nodes inside are compressed" {
    with_config {list-max-listpack-size 128 list-compress-depth 1} {
        set large [string repeat x 10000]
        r RPUSH k $large $large $large $large
        assert_equal [field_of_nodes k plain] {1 1 1 1}
        assert_equal [field_of_nodes k lzf] {0 1 1 0}
        assert {[list_of k] eq [lrepeat 4 $large]}
        assert {[r LINDEX k 1] eq $large}
        assert_equal [r LPOS k $large RANK 2] 1
        assert {[r LPOP k] eq $large}
        field_of_nodes k lzf
    }
} {0 1 0}
check "LSET between large and small elements changes plain nodes to packed ones and back" {
    with_config {list-max-listpack-size 128} {
        set large [string repeat x 10000]
        r RPUSH k a b $large c d
        assert_equal [field_of_nodes k plain] {0 1 0}
        r LSET k 2 small
        assert_equal [list_of k] {a b small c d}
        r LSET k 2 $large
        r LSET k 1 $large
        assert {[list_of k] eq [list a $large $large c d]}
        llength [lsearch -all -exact [field_of_nodes k plain] 1]
    }
} 2
check "LINSERT of large elements splits nodes" {
    with_config {list-max-listpack-size 128} {
        set large [string repeat x 10000]
        r RPUSH k a b c d
        r LINSERT k BEFORE c $large
        r LINSERT k AFTER $large y
        r LINSERT k BEFORE a $large
        r LINSERT k AFTER d $large
        assert {[list_of k] eq [list $large a b $large y c d $large]}
        llength [lsearch -all -exact [field_of_nodes k plain] 1]
    }
} 3
check "DEBUG QUICKLIST-PACKED-THRESHOLD gives elements of at least that size nodes of their own" {
    with_packed_threshold 200b {
        with_config {list-max-listpack-size 3} {
            r RPUSH k a [string repeat b 199] c [string repeat d 200] e f [string repeat g 500]
            list [field_of_nodes k plain] [field_of_nodes k count]
        }
    }
} {{0 1 0 1} {3 1 2 1}}
check "elements far above the size of a node stay good values below a DEBUG QUICKLIST-PACKED-THRESHOLD" {
    set large [string repeat x 300000]
    set plain {}
    with_packed_threshold 1mb {
        foreach fill {16 -1 -5} {
            with_config [list list-max-listpack-size $fill] {
                r DEL k
                r RPUSH k a $large b c d e f
                r RPUSH k $large
                r LPUSH k $large
                r LINSERT k AFTER b $large
                r LINSERT k BEFORE f $large
                r LSET k 5 $large
                r LSET k 0 small
                r LREM k 1 $large
                lappend plain {*}[lsort -unique [field_of_nodes k plain]] [r LLEN k] \
                    [expr {[r LRANGE k 0 -1] eq [list small a b $large $large d e $large f $large]}]
            }
        }
    }
    set plain
} {0 10 1 0 10 1 0 10 1}
check "LINSERT into a node that LSET has made larger leaves a good value" {
    set large [string repeat x 8192]
    with_config {list-max-listpack-size 16} {
        r RPUSH k {*}[numbered 1 20]
        foreach index {1 2 3} {r LSET k $index $large}
        r LINSERT k BEFORE 6 $large
        r LINSERT k AFTER 1 $large
        list [r LLEN k] [r LINDEX k 1] [r LINDEX k 2]
    }
} [list 22 [string repeat x 8192] [string repeat x 8192]]
check "DEBUG QUICKLIST-PACKED-THRESHOLD 0 goes back to list-max-listpack-size" {
    assert_equal [r DEBUG QUICKLIST-PACKED-THRESHOLD 100b] OK
    assert_equal [r DEBUG QUICKLIST-PACKED-THRESHOLD 0] OK
    with_config {list-max-listpack-size 3} {
        r RPUSH k a [string repeat b 200] c d
        field_of_nodes k plain
    }
} {0 0}

# --- Figures

check "DEBUG OBJECT of a listpack has no fields of a quicklist" {
    r RPUSH k a b c
    list [object_field k encoding] [regexp {ql_} [r DEBUG OBJECT k]]
} {listpack 0}
check "the nodes shown hold all elements and all bytes, whatever was done to the list" {
    with_config {list-max-listpack-size 4 list-compress-depth 1} {
        r RPUSH k {*}[compressible 100]
        foreach i {10 20 30 40 50 60 70} {
            r LINSERT k AFTER [format %0100d $i] new$i
            r LREM k 0 [format %0100d [expr {$i + 3}]]
            r LSET k [expr {$i - 5}] $i
        }
        r LPOP k 3
        r LTRIM k 0 -4
        assert_equal [expr [join [field_of_nodes k count] +]] [r LLEN k]
        assert_equal [expr [join [field_of_nodes k bytes] +]] [object_field k ql_uncompressed_size]
        assert_equal [object_field k ql_nodes] [llength [nodes_of k]]
        assert {[tcl::mathfunc::max {*}[field_of_nodes k count]] <= 4}
    }
}

finish
