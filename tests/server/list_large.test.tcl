# Large elements, up to 100 MB, and lists of a million elements.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

# So many bytes that do not repeat soon and hold every byte. Tcl keeps them as an array of bytes, and is quick with
# them, as long as they are not made part of a text.
set block [binary format c* [lmap i [numbered 0 65535] {expr {$i * 167 + $i / 256 * 31 + $i / 7}}]]
proc bytes_of {length} {
    return [string range [string repeat $::block [expr {$length / 65536 + 1}]] 0 $length-1]
}

# A command whose last argument is such an array.
proc call_bytes {arguments bytes} {
    set with_one_byte [request [list {*}$arguments x]]
    set head [string range $with_one_byte 0 end-[string length "\$1\r\nx\r\n"]]
    [default_client] write "$head\$[string length $bytes]\r\n"
    [default_client] write $bytes
    [default_client] write "\r\n"
    return [[default_client] read]
}

foreach {fill depth} {128 0 -2 1 -5 2} {
    check "elements of every size are read, moved and popped, with list-max-listpack-size $fill and\
            list-compress-depth $depth" {
        with_config [list list-max-listpack-size $fill list-compress-depth $depth] {
            set elements [lmap length {
                0 1 4095 4096 8191 8192 8193 16384 32767 32768 32769 65535 65536 65537 100000 200000
            } {
                bytes_of $length
            }]
            foreach element $elements {
                r RPUSH k $element
                r LPUSH k $element
            }
            set all [list {*}[lreverse $elements] {*}$elements]
            assert {[list_of k] eq $all}
            foreach index {0 1 5 15 16 20 31 -1 -9 -16} {
                assert {[r LINDEX k $index] eq [lindex $all [expr {($index + 32) % 32}]]}
            }
            for {set i 0} {$i < 16} {incr i} {
                assert {[r LPOS k [lindex $elements $i] RANK -1] == 16 + $i}
            }
            for {set i 0} {$i < 8} {incr i} {
                assert {[r LMOVE k k LEFT RIGHT] eq [lindex $all $i]}
            }
            assert {[list_of k] eq [list {*}[lrange $all 8 end] {*}[lrange $all 0 7]]}
            for {set i 8} {$i < 20} {incr i} {
                assert {[r LPOP k] eq [lindex $all $i]}
            }
            for {set i 7} {$i >= 0} {incr i -1} {
                assert {[r RPOP k] eq [lindex $all $i]}
            }
            assert_equal [r LREM k 0 [lindex $all 25]] 1
            assert {[list_of k] eq [list {*}[lrange $all 20 24] {*}[lrange $all 26 end]]}
        }
    }
}
check "large elements are replaced by small ones and back" {
    foreach length {70000 300000} {
        r DEL k
        set large [bytes_of $length]
        r RPUSH k a b c
        r LSET k 1 $large
        assert {[list_of k] eq [list a $large c]}
        r LINSERT k BEFORE $large $large
        r LINSERT k AFTER c $large
        assert {[list_of k] eq [list a $large $large c $large]}
        r LSET k 1 x
        r LSET k -1 [string range $large 1 end]
        assert {[list_of k] eq [list a x $large c [string range $large 1 end]]}
        assert_equal [r LREM k 1 $large] 1
        assert_equal [r LREM k 1 $large] 0
        assert_equal [r LLEN k] 4
    }
}
check_in 2 "an element of 100 MB is pushed, read, moved and popped" {
    set element [bytes_of 100000000]
    r RPUSH k first
    assert_equal [call_bytes {RPUSH k} $element] 2
    r RPUSH k last
    assert_equal [r LPOP k] first
    assert {[r LMOVE k j LEFT RIGHT] eq $element}
    assert_equal [list_of k] last
    assert {[r LPOP j] eq $element}
    r EXISTS j
} 0
check_in 3 "an element of 20 MB is compressed inside a list, found and read" {
    with_config {list-max-listpack-size -2 list-compress-depth 1} {
        set element [bytes_of 20000000]
        r RPUSH k first
        call_bytes {RPUSH k} $element
        r RPUSH k last
        assert {[r MEMORY USAGE k] < 12000000}
        assert {[r LINDEX k 1] eq $element}
        assert_equal [r LPOS k last] 2
        assert_equal [call_bytes {LPOS k} [string range $element 1 end]] (nil)
        assert_equal [call_bytes {LREM k 0} $element] 1
        list_of k
    }
} {first last}
check "an element of 10 MB reaches a client that waits" {
    set element [bytes_of 10000000]
    set c [client_blocked BLMOVE k dst LEFT RIGHT 0]
    call_bytes {RPUSH k} $element
    assert {[$c read] eq $element}
    r EXISTS k dst
} 1

# The requests that push a million numbers.
set requests_of_million [lmap i [numbered 0 199] {
    request [list RPUSH k {*}[numbered [expr {$i * 5000}] [expr {$i * 5000 + 4999}]]]
}]

foreach {version fill depth} {2 128 0 3 -2 1} {
    check_in $version "a list of a million elements is right at every place, with list-max-listpack-size $fill and\
            list-compress-depth $depth" {
        with_config [list list-max-listpack-size $fill list-compress-depth $depth] {
            [default_client] write [join $requests_of_million ""]
            assert_equal [lmap i [numbered 1 200] {[default_client] read}] [lmap i [numbered 1 200] {expr {$i * 5000}}]
            for {set i 0} {$i < 1000000} {incr i 3011} {
                set stop [expr {min($i + 200, 999999)}]
                assert {[r LRANGE k $i $stop] eq [numbered $i $stop]}
            }
            set requests [lmap i [numbered 0 3000] {list LINDEX k [expr {$i * 333}]}]
            assert_equal [[default_client] pipeline $requests] [lmap i [numbered 0 3000] {expr {$i * 333}}]
            set requests [lmap i [numbered 1 3000] {list LINDEX k [expr {-$i * 333}]}]
            assert_equal [[default_client] pipeline $requests] [lmap i [numbered 1 3000] {expr {1000000 - $i * 333}}]
            assert_equal [r LPOS k 999999] 999999
            assert_equal [r LPOS k 0 RANK -1] 0
            assert_equal [r LPOS k nosuch] (nil)
            # Holes, additions and changes in the middle.
            foreach at {123456 500000 876543} {
                assert_equal [r LREM k 1 $at] 1
                r LINSERT k BEFORE [expr {$at + 1}] before:$at
                r LSET k [expr {$at + 1}] set:$at
            }
            foreach at {123456 500000 876543} {
                assert_equal [r LRANGE k [expr {$at - 2}] [expr {$at + 2}]] \
                    [list [expr {$at - 2}] [expr {$at - 1}] before:$at set:$at [expr {$at + 2}]]
            }
            r LTRIM k 400000 -400001
            assert_equal [r LLEN k] 200000
            list [r LINDEX k 0] [r LINDEX k 100000] [r LINDEX k 100001] [r LINDEX k -1]
        }
    } {400000 before:500000 set:500000 599999}
}

finish
