# Strings as HyperLogLogs: PFADD PFCOUNT PFMERGE PFDEBUG PFSELFTEST. The oracle compares bytes and estimates with Redis.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/tracking.tcl

server_start

set wrong_type "WRONGTYPE Operation against a key holding the wrong kind of value"
set no_hyperloglog "WRONGTYPE Key is not a valid HyperLogLog string value."
set corrupt "INVALIDOBJ Corrupted HLL object detected"
set new_header "HYLL\x01\0\0\0\0\0\0\0\0\0\0\x80"

# The bytes of a value: runs, or registers that are all the same six bits.
proc sparse {runs} {
    return $::new_header$runs
}
proc dense {byte {count 12288}} {
    return "HYLL[string repeat \0 11]\x80[string repeat $byte $count]"
}

proc add_many {key from to} {
    set elements {}
    for {set i $from} {$i < $to} {incr i} {
        lappend elements e$i
    }
    return [r PFADD $key {*}$elements]
}

# --- PFADD

check "PFADD answers whether a register has changed, or the key is new" {
    list [typed PFADD h a b c] [typed PFADD h a] [r PFADD h a c] [r PFADD h d] [r PFADD new] [r PFADD new] \
        [r TYPE h] [r OBJECT ENCODING h]
} {{int 1} {int 0} 0 1 1 0 string raw}
check "the bytes are those of other servers" {
    r PFADD none
    r PFADD h a b c
    r PFADD 0 0
    list [r GET none] [r STRLEN h] [typed PFDEBUG DECODE h] [r PFDEBUG DECODE 0]
} [list [sparse \x7f\xff] 27 {bulk {Z:8436 v:1,1 Z:4274 v:2,1 Z:3068 v:1,1 Z:603}} {Z:13225 v:4,1 Z:3158}]
check "the estimate is that of other servers" {
    add_many h 0 1000
    list [typed PFCOUNT h] [r STRLEN h] [r PFDEBUG ENCODING h]
} {{int 1008} 1906 sparse}
check "PFADD keeps the expiry" {
    r PFADD h a
    r EXPIRE h 100
    r PFADD h b
    expr {[r TTL h] > 90}
} 1
check "a value becomes dense when it would exceed hll-sparse-max-bytes" {
    set lengths {}
    with_config {hll-sparse-max-bytes 30} {
        foreach element {a b c d e} {
            r PFADD h $element
            lappend lengths [r STRLEN h]
        }
    }
    list $lengths [typed PFDEBUG ENCODING h] [r PFCOUNT h]
} {{21 24 27 30 12304} {simple dense} 5}
check "a large register makes a value dense" {
    # The only element of these that ends with more than 32 zeros would take long to find: a merge brings its register.
    r SET d [dense \0]
    r SETRANGE d 16 \x21
    r PFADD h a
    r PFMERGE h d
    list [r PFDEBUG ENCODING h] [lindex [r PFDEBUG GETREG h] 0]
} {dense 33}
check "PFADD, PFCOUNT and PFMERGE refuse what is no HyperLogLog" {
    r RPUSH l a
    r SADD s a
    foreach key {l s} {
        foreach call {{PFADD $key a} {PFADD $key} {PFCOUNT $key} {PFCOUNT x $key} {PFMERGE x $key} {PFMERGE $key}
            {PFDEBUG DECODE $key}} {
            assert_equal [error_of [concat r [subst $call]]] $wrong_type
        }
    }
    foreach value [list "" HYLL 12 [string repeat x 12304] "HYLL\x02[string range [dense \0] 5 end]" \
        [string range [dense \0] 0 end-1] [dense \0]x [string range $new_header 0 end-1] \
        hyll[string range $new_header 4 end]] {
        r SET k $value
        foreach call {{PFADD k a} {PFADD k} {PFCOUNT k} {PFCOUNT x k} {PFMERGE x k} {PFMERGE k} {PFDEBUG DECODE k}} {
            assert_equal [error_of [concat r $call]] $no_hyperloglog
        }
        assert_equal [r GET k] $value
    }
    r EXISTS x
} 0
check "wrong numbers of arguments" {
    foreach {name call} {pfadd PFADD pfcount PFCOUNT pfmerge PFMERGE pfdebug {PFDEBUG GETREG}
        pfdebug {PFDEBUG GETREG a b} pfselftest {PFSELFTEST a}} {
        assert_equal [error_of [concat r $call]] "ERR wrong number of arguments for '$name' command"
    }
} {}

# --- PFCOUNT

check "PFCOUNT of one key, of several, and of missing ones" {
    r PFADD a 1 2 3
    r PFADD b 3 4
    list [r PFCOUNT a] [r PFCOUNT b] [r PFCOUNT a b] [r PFCOUNT a a] [r PFCOUNT none] [r PFCOUNT a none b none] \
        [r PFCOUNT none none] [r EXISTS none]
} {3 2 4 3 0 4 0 0}
check "PFCOUNT stores the count, and believes a stored one" {
    r PFADD h a b c
    r PFCOUNT h
    set stored [r GETRANGE h 8 15]
    r SETRANGE h 8 \x05
    set believed [list [r PFCOUNT h] [r PFCOUNT h h]]
    r PFADD h a
    lappend believed [r PFCOUNT h]
    r PFADD h d
    list $stored $believed [r PFCOUNT h]
} [list "\x03\0\0\0\0\0\0\0" {5 3 5} 4]
check "the count that PFCOUNT stores touches watchers, and changes no encoding" {
    r PFADD h a
    set other [client_open]
    $other call WATCH h
    r PFCOUNT h
    $other call MULTI
    $other call PING
    set first [$other call EXEC]
    $other call WATCH h
    r PFCOUNT h
    $other call MULTI
    $other call PING
    list $first [$other call EXEC] [r OBJECT ENCODING h]
} {(nil) PONG raw}
check "the count that PFCOUNT stores is told to clients that track the key" {
    r PFADD h a
    r PFADD i a
    set c [tracker]
    $c call EXISTS h i
    r PFCOUNT h i
    set told [list [heard $c]]
    r PFCOUNT h
    lappend told [heard $c]
    $c call EXISTS h
    r PFCOUNT h
    lappend told [heard $c]
} {{} h {}}
check "PFCOUNT tracks its keys, and PFADD and PFMERGE tell of changes" {
    r PFADD h a
    r PFADD i b
    r PFCOUNT h
    set c [tracker]
    $c call PFCOUNT h
    r PFADD h a
    set told [list [heard $c]]
    r PFADD h b
    lappend told [heard $c]
    $c call PFCOUNT h i
    r PFMERGE h i
    lappend told [heard $c]
} {{} h h}
check "sparse and dense values count the same, with and without special instructions" {
    foreach count {1 10 100 800 20000} {
        for {set i 0} {$i < $count} {incr i 100} {
            add_many a$count $i [expr {min($i + 100, $count)}]
        }
        r COPY a$count b$count
        r PFDEBUG TODENSE b$count
        set counts [list [r PFCOUNT a$count] [r PFCOUNT b$count] [r PFCOUNT a$count b$count]]
        typed PFDEBUG SIMD OFF
        r SETRANGE a$count 15 \x80
        r SETRANGE b$count 15 \x80
        lappend counts [r PFCOUNT a$count] [r PFCOUNT b$count] [r PFCOUNT a$count b$count]
        r PFDEBUG SIMD ON
        assert_equal [llength [lsort -unique $counts]] 1
        set error [expr {abs([lindex $counts 0] - $count)}]
        assert {$error <= max(1, 0.04 * $count)}
    }
} {}
check_in 2 "PFCOUNT in scripts: one that may only read is refused, as the count is stored" {
    r PFADD h a b
    list [r EVAL {return redis.call('PFCOUNT', KEYS[1])} 1 h] \
        [string match "ERR Write commands are not allowed from read-only scripts.*" \
            [error_of {r EVAL_RO {return redis.call('PFCOUNT', KEYS[1])} 1 h}]]
} {2 1}

# --- PFMERGE

check "PFMERGE makes the union of all keys, with the destination" {
    r PFADD a 1 2 3
    r PFADD b 3 4
    r PFADD d 9
    list [typed PFMERGE d a b none] [r PFCOUNT d] [r PFMERGE new a b] [r PFCOUNT new] [r PFMERGE empty] [r GET empty] \
        [r PFMERGE empty none] [r PFCOUNT empty] [r PFMERGE a a a] [r PFCOUNT a] [r PFDEBUG ENCODING d]
} [list {simple OK} 5 OK 4 OK [sparse \x7f\xff] OK 0 OK 3 sparse]
check "the union is dense if one of them is, and keeps the expiry" {
    r PFADD a 1 2 3
    r PFADD b 3 4
    r PFADD d 9
    r EXPIRE d 100
    r PFDEBUG TODENSE b
    r PFMERGE d a b
    r PFMERGE new b
    r PFMERGE b a
    r COPY d d2
    r PFMERGE d2 a
    list [r PFDEBUG ENCODING d] [r PFCOUNT d] [expr {[r TTL d] > 90}] [r PFDEBUG ENCODING new] [r PFCOUNT new] \
        [r PFDEBUG ENCODING a] [r PFCOUNT b] [r PFCOUNT d2]
} {dense 5 1 dense 2 sparse 4 5}
check "merging makes the registers that adding makes" {
    set keys {}
    for {set i 0} {$i < 40} {incr i} {
        lappend keys k$i
        add_many k$i [expr {$i * 300}] [expr {$i * 300 + 400}]
        add_many all [expr {$i * 300}] [expr {$i * 300 + 400}]
    }
    r PFMERGE d {*}$keys
    assert_equal [r PFCOUNT {*}$keys] [r PFCOUNT all]
    r PFDEBUG TODENSE all
    foreach key $keys {
        r PFDEBUG TODENSE $key
    }
    r PFDEBUG SIMD OFF
    r PFMERGE plain {*}$keys
    assert_equal [r PFCOUNT {*}$keys] [r PFCOUNT all]
    r PFDEBUG SIMD ON
    r PFMERGE wide {*}$keys
    assert_equal [r PFCOUNT {*}$keys] [r PFCOUNT all]
    foreach key {d plain wide} {
        assert_equal [r GETRANGE $key 16 -1] [r GETRANGE all 16 -1]
    }
} {}

# --- PFDEBUG and PFSELFTEST

check "PFDEBUG shows and changes how a value is stored" {
    r PFADD h a b c
    r COPY h h2
    set registers [r PFDEBUG GETREG h2]
    list [typed PFDEBUG TODENSE h] [typed PFDEBUG TODENSE h] [r STRLEN h] [r PFDEBUG encoding h2] [llength $registers] \
        [lsearch -all -inline -not $registers 0] [lsearch $registers 2] [expr {[r GET h] eq [r GET h2]}]
} {{int 1} {int 0} 12304 dense 16384 {1 2 1} 12711 1}
check "PFDEBUG SIMD switches special instructions" {
    list [typed PFDEBUG SIMD off] [typed PFDEBUG simd ON] [error_of {r PFDEBUG SIMD 1}]
} {{simple disabled} {simple enabled} {ERR Argument must be ON or OFF}}
check "PFDEBUG refuses" {
    r PFADD h a
    r COPY h dense
    r PFDEBUG TODENSE dense
    list [error_of {r PFDEBUG FOO none}] [error_of {r PFDEBUG FOO h}] [error_of {r PFDEBUG DECODE dense}]
} {{ERR The specified key does not exist} {ERR Unknown PFDEBUG subcommand 'FOO'} {ERR HLL encoding is not sparse}}
check "PFSELFTEST finds nothing" {
    typed PFSELFTEST
} {simple OK}

# --- Corrupt values

# Tries every command on a value, and that none changes it.
proc assert_corrupt {value {adding error}} {
    foreach call {{PFCOUNT k} {PFCOUNT k k} {PFCOUNT none k} {PFMERGE x k} {PFMERGE k} {PFMERGE x none k}
        {PFDEBUG TODENSE k} {PFDEBUG GETREG k} {PFADD k a b c d e f}} {
        if {[lindex $call 0] eq "PFADD" && $adding ne "error"} {
            continue
        }
        r SET k $value
        assert_equal [error_of [concat r $call]] $::corrupt
        assert {[r GET k] eq $value}
    }
    assert_equal [r EXISTS x none] 0
    return [r PING]
}

check "corrupt runs are an error" {
    foreach runs [list "" \x7f \x40 \x7f\xff\x7f\xff \x7f\xff\x80 \x7f\xfe \x00 \x7f\xff\x7f] {
        assert_corrupt [sparse $runs] not_tried
    }
    foreach runs [list "" \x7f \x40\x01 \x00 \x80] {
        assert_corrupt [sparse $runs]
    }
} {}
check "runs that go around the counter of registers are an error" {
    assert_corrupt [sparse [string repeat \x7f\xff 131073]\x80]
    assert_corrupt [sparse [string repeat \x7f\xff 262144]\x83]
    assert_corrupt [sparse [string repeat \x80 16384]\x80] not_tried
} PONG
check "PFADD changes a value in which it does not meet what is corrupt" {
    r SET k [sparse \x7f\xff\x80]
    list [r PFADD k 0] [error_of {r PFCOUNT k}] [r PFADD k 0]
} [list 1 $corrupt 0]
check "registers that no element can make are an error, not a count" {
    foreach simd {OFF ON} {
        r PFDEBUG SIMD $simd
        r SET k [dense \xff]
        r PFADD other a
        assert_equal [error_of {r PFCOUNT k}] $corrupt
        assert_equal [error_of {r PFCOUNT other k}] $corrupt
        # All are 51, the largest that an element can make: there are not so many elements.
        r SET k [dense \xf3\x3c\xcf 4096]
        assert_equal [lsort -unique [r PFDEBUG GETREG k]] 51
        assert_equal [error_of {r PFCOUNT k}] $corrupt
    }
    list [r PFADD k a] [r PFMERGE d k] [lindex [r PFDEBUG GETREG d] 16383]
} {0 OK 51}
check "a value of any bytes can be dumped and restored, and comes back" {
    add_many h 0 3000
    r RESTORE copy 0 [r DUMP h]
    list [r PFDEBUG ENCODING copy] [expr {[r PFCOUNT copy] == [r PFCOUNT h]}]
} {dense 1}

finish
