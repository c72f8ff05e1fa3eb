# When a list is a listpack and when a quicklist: the conversion points of every list-max-listpack-size, both ways.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

# --- Where the points lie
#
# A listpack takes 7 bytes, and for each text its length, 1 or 2 bytes in front (from 64 bytes on) and 1 or 2 behind
# (from 126 on). A push turns it into a quicklist when more elements than a positive limit would be in it, or more bytes
# than 8 KB or than what -1 to -5 stand for, the texts that are pushed counted by their length alone. It becomes a
# listpack again when it is one node of at most half the limit: of the elements when those are limited, else of the
# bytes.

proc element_size {length} {
    return [expr {$length + ($length < 64 ? 1 : 2) + ($length < 126 ? 1 : 2)}]
}

proc byte_limit {fill} {
    return [expr {$fill < 0 ? 2048 << min(-$fill, 5) : 8192}]
}

# The number of elements of so many bytes that is too much for a listpack, when pushed one by one.
proc quicklist_at {fill length} {
    set count [expr {([byte_limit $fill] - 7 - $length) / [element_size $length] + 2}]
    return [expr {$fill < 0 ? $count : min($count, max($fill, 1) + 1)}]
}

# The number of elements at which it becomes a listpack again.
proc listpack_at {fill length} {
    if {$fill < 0} {
        return [expr {([byte_limit $fill] / 2 - 7) / [element_size $length]}]
    }
    return [expr {min($fill / 2, [quicklist_at $fill $length] - 1)}]
}

proc texts {count length} {
    return [lrepeat $count [string repeat x $length]]
}

# Under the limit of the running check: a list that one more element makes a quicklist, ending in an element of p's;
# and a quicklist that one element less makes a listpack.
proc full_listpack {key} {
    r RPUSH $key {*}[texts [expr {[quicklist_at $::fill $::length] - 2}] $::length] [string repeat p $::length]
    assert_equal [r OBJECT ENCODING $key] listpack
}

proc falling_quicklist {key} {
    set count [quicklist_at $::fill $::length]
    full_listpack $key
    r RPUSH $key {*}[texts 1 $::length]
    r RPOP $key [expr {$count - [listpack_at $::fill $::length] - 1}]
    assert_equal [r OBJECT ENCODING $key] quicklist
}

foreach fill {1 2 5 128 1000 -1 -2 -3 -4 -5} {
    foreach length {1 10 63 64 125 126 127 128 300 4000} {
        set grows_at [quicklist_at $fill $length]
        set falls_at [listpack_at $fill $length]
        if {$grows_at < 2} {
            continue
        }
        check "with list-max-listpack-size $fill, $grows_at elements of $length bytes are a quicklist,\
                $falls_at a listpack again" {
            with_config [list list-max-listpack-size $fill] {
                full_listpack k
                r RPUSH k [texts 1 $length]
                assert_equal [r OBJECT ENCODING k] quicklist
                assert_equal [r LLEN k] $grows_at
                r RPOP k [expr {$grows_at - $falls_at - 1}]
                assert_equal [r OBJECT ENCODING k] quicklist
                r RPOP k
                assert_equal [r OBJECT ENCODING k] [expr {$falls_at == 0 ? "(nil)" : "listpack"}]
            }
        }
    }
}

set length 10
foreach {fill like} {0 1 -6 -5 -100 -5} {
    check "list-max-listpack-size $fill is like $like" {
        with_config [list list-max-listpack-size $fill] {
            full_listpack k
            r RPUSH k [texts 1 $length]
            list [r LLEN k] [r OBJECT ENCODING k]
        }
    } [list [quicklist_at $like $length] quicklist]
}
check "an element beyond the limit makes a quicklist at once" {
    foreach fill {1 128 -1 -2 -3 -4 -5} {
        set limit [byte_limit $fill]
        with_config [list list-max-listpack-size $fill] {
            r DEL small large
            r RPUSH small [string repeat x [expr {$limit - 7}]]
            r RPUSH large [string repeat x [expr {$limit - 6}]]
            assert_equal [list $fill [r OBJECT ENCODING small] [r OBJECT ENCODING large]] \
                [list $fill listpack quicklist]
        }
    }
}

check "elements that one command pushes count by the length of their texts alone" {
    with_config {list-max-listpack-size -1} {
        r RPUSH k {*}[texts 4000 1]
        assert_equal [r OBJECT ENCODING k] listpack
        r LPUSH k x
        assert_equal [r OBJECT ENCODING k] quicklist
        r RPUSH j {*}[texts 4090 1]
        r OBJECT ENCODING j
    }
} quicklist

# --- Every command that makes a list grow or shrink

foreach fill {5 128 -1} {
    foreach grow {
        {RPUSH k %} {LPUSH k %} {RPUSHX k %} {LPUSHX k %} {LMOVE src k LEFT LEFT} {LMOVE src k RIGHT RIGHT}
        {RPOPLPUSH src k} {BLMOVE src k LEFT RIGHT 0} {BRPOPLPUSH src k 0} {LINSERT k BEFORE @ %} {LINSERT k AFTER @ %}
        {LMOVEM src k LEFT RIGHT COUNT 1 OBO} {RPUSHBOUND k 100000 %} {LPUSHBOUND k 100000 REJECT %}
    } {
        check "$grow converts a full listpack to a quicklist, with list-max-listpack-size $fill" {
            with_config [list list-max-listpack-size $fill] {
                r RPUSH src [texts 1 $length]
                full_listpack k
                r {*}[string map [list % [texts 1 $length] @ [string repeat p $length]] $grow]
                assert_equal [r OBJECT ENCODING k] quicklist
                assert_equal [r LLEN k] [quicklist_at $fill $length]
            }
        }
    }
    foreach shrink {
        {RPOP k} {LPOP k} {RPOP k 1} {LPOP k 1} {LMPOP 1 k LEFT} {LMPOP 1 k RIGHT COUNT 1} {LTRIM k 1 -1} {LTRIM k 0 -2}
        {LREM k 1 %} {LREM k -1 %} {LMOVE k dst LEFT LEFT} {RPOPLPUSH k dst} {BLPOP k 0} {BRPOP k 0}
        {BLMOVE k dst RIGHT LEFT 0} {BLMPOP 0 1 k LEFT} {LMOVEM k dst RIGHT LEFT COUNT 1 BULK}
    } {
        check "$shrink converts a quicklist of half the limit to a listpack, with list-max-listpack-size $fill" {
            with_config [list list-max-listpack-size $fill] {
                falling_quicklist k
                r {*}[string map [list % [texts 1 $length]] $shrink]
                r OBJECT ENCODING k
            }
        } listpack
    }
    check "around the conversion point a list does not change to and fro, with list-max-listpack-size $fill" {
        with_config [list list-max-listpack-size $fill] {
            full_listpack k
            for {set i 0} {$i < 5} {incr i} {
                r RPUSH k [texts 1 $length]
                assert_equal [r OBJECT ENCODING k] quicklist
                r LPOP k
                assert_equal [r OBJECT ENCODING k] quicklist
            }
            falling_quicklist j
            for {set i 0} {$i < 5} {incr i} {
                r LPOP j
                assert_equal [r OBJECT ENCODING j] listpack
                r RPUSH j [texts 1 $length]
                assert_equal [r OBJECT ENCODING j] listpack
            }
        }
    }
    check "LSET keeps a full listpack that still fits, with list-max-listpack-size $fill" {
        with_config [list list-max-listpack-size $fill] {
            full_listpack k
            for {set i 0} {$i < [r LLEN k]} {incr i} {
                r LSET k $i [string repeat y $length]
            }
            r OBJECT ENCODING k
        }
    } listpack
    check "reading does not change the encoding, with list-max-listpack-size $fill" {
        with_config [list list-max-listpack-size $fill] {
            full_listpack k
            falling_quicklist j
            foreach key {k j} {
                r LRANGE $key 0 -1
                r LINDEX $key 1
                r LPOS $key nosuch
                r LLEN $key
            }
            list [r OBJECT ENCODING k] [r OBJECT ENCODING j]
        }
    } {listpack quicklist}
}
check "LSET to a longer element converts a listpack to a quicklist where that is too much" {
    with_config {list-max-listpack-size -1} {
        r RPUSH k a b [string repeat x 2000] c
        r LSET k 0 [string repeat y 2000]
        assert_equal [r OBJECT ENCODING k] listpack
        r LSET k 1 [string repeat z 2000]
        list [r OBJECT ENCODING k] [lmap element [list_of k] {string length $element}]
    }
} {quicklist {2000 2000 2000 1}}
check "LSET to a shorter element converts a quicklist of half the limit to a listpack" {
    with_config {list-max-listpack-size -1} {
        r RPUSH k a [string repeat x 2100] [string repeat y 2100]
        r RPOP k
        assert_equal [r OBJECT ENCODING k] quicklist
        r LSET k 1 b
        list [r OBJECT ENCODING k] [list_of k]
    }
} {listpack {a b}}
check "LREM of most elements converts a quicklist of many nodes to a listpack" {
    with_config {list-max-listpack-size 4} {
        r RPUSH k {*}[lrepeat 100 a] b c {*}[lrepeat 100 a]
        assert_equal [r OBJECT ENCODING k] quicklist
        assert_equal [r LREM k 0 a] 200
        list [r OBJECT ENCODING k] [list_of k]
    }
} {listpack {b c}}

# --- Changes at run time

check "a new list-max-listpack-size holds from the next push on" {
    with_config {list-max-listpack-size 128} {
        r RPUSH k {*}[numbered 1 100]
        r CONFIG SET list-max-listpack-size 10
        assert_equal [r OBJECT ENCODING k] listpack
        r LPOP k
        assert_equal [r OBJECT ENCODING k] listpack
        r RPUSH k x
        assert_equal [r OBJECT ENCODING k] quicklist
        assert_equal [list_of k] [list {*}[numbered 2 100] x]
        r CONFIG SET list-max-listpack-size 1000
        r LTRIM k 0 4
        assert_equal [r OBJECT ENCODING k] listpack
        list_of k
    }
} {2 3 4 5 6}
check "a new list-max-listpack-size converts lists of many nodes only when they fall to one node" {
    with_config {list-max-listpack-size 4} {
        r RPUSH k {*}[numbered 1 40]
        r CONFIG SET list-max-listpack-size 1000
        r RPOP k
        assert_equal [r OBJECT ENCODING k] quicklist
        r LTRIM k 0 2
        list [r OBJECT ENCODING k] [list_of k]
    }
} {listpack {1 2 3}}
check "list-max-ziplist-size is another name of list-max-listpack-size" {
    set before [r CONFIG GET list-max-listpack-size]
    r CONFIG SET list-max-ziplist-size 3
    try {
        assert_equal [r CONFIG GET list-max-listpack-size] {list-max-listpack-size 3}
        assert_equal [r CONFIG GET list-max-ziplist-size] {list-max-ziplist-size 3}
        r RPUSH k a b c d
        r OBJECT ENCODING k
    } finally {
        r CONFIG SET {*}$before
    }
} quicklist
check "the configuration file sets list-max-listpack-size, by either name" {
    foreach name {list-max-listpack-size list-max-ziplist-size} {
        with_server [list $name 2] {
            r RPUSH k a b
            r RPUSH j a b c
            assert_equal [list [r OBJECT ENCODING k] [r OBJECT ENCODING j]] {listpack quicklist}
        }
    }
}

# --- OBJECT

check "OBJECT ENCODING of a missing key is null" {r OBJECT ENCODING nosuch} (nil)
check "OBJECT ENCODING is a bulk string" {
    r RPUSH k a
    typed OBJECT ENCODING k
} {bulk listpack}
check "OBJECT REFCOUNT of a list is 1" {
    r RPUSH k a
    list [typed OBJECT REFCOUNT k] [r OBJECT REFCOUNT nosuch]
} {{int 1} (nil)}
check "OBJECT IDLETIME counts the seconds since the last use, and looking is no use" {
    r RPUSH k a
    assert_equal [typed OBJECT IDLETIME k] {int 0}
    wait_until {[r OBJECT IDLETIME k] >= 1}
    r LLEN k
    list [r OBJECT IDLETIME k] [r OBJECT IDLETIME nosuch]
} {0 (nil)}

finish
