# What sets, hashes and sorted sets have in common: scans of a collection that changes, members at random.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {}

set types {
    set  {add {SADD k} remove {SREM k} scan SSCAN random SRANDMEMBER with {} pop SPOP limit set-max-listpack-entries}
    hash {add {HSET k} remove {HDEL k} scan HSCAN random HRANDFIELD with WITHVALUES limit hash-max-listpack-entries}
    zset {add {ZADD k} remove {ZREM k} scan ZSCAN random ZRANDMEMBER with WITHSCORES limit zset-max-listpack-entries}
}

proc numbered {from to} {
    set members {}
    for {set i $from} {$i <= $to} {incr i} {
        lappend members m$i
    }
    return $members
}

# The arguments that add these members: a hash's have values, a sorted set's scores.
proc arguments {members} {
    switch $::type {
        hash {return [concat {*}[lmap member $members {list $member 1}]]}
        zset {return [concat {*}[lmap member $members {list 1 $member}]]}
    }
    return $members
}

proc add {members} {r {*}$::add {*}[arguments $members]}
proc remove {members} {r {*}$::remove {*}$members}

# A scan, and what is done after each of its steps; the members that it has returned.
proc scan_while {body} {
    set ::cursor 0
    set ::step 0
    set found {}
    while 1 {
        lassign [r $::scan k $::cursor COUNT 10] ::cursor items
        foreach item $items {
            dict set found $item 1
        }
        if {$::cursor == 0} {
            return $found
        }
        incr ::step
        uplevel #0 $body
    }
}

proc assert_found {found members} {
    foreach member $members {
        assert {[dict exists $found $member]}
    }
}

# A check for each type, whose words are variables then.
proc check_types {name body args} {
    foreach {type words} $::types {
        check "$name, $type" "set type $type
            foreach {word value} {$words} {set \$word \$value}
            $body" {*}$args
    }
}

# --- Scans. A collection of 0 to $limit members is not a table. ---

check_types "one call of a scan visits some thousand elements, whatever COUNT says" {
    for {set from 1} {$from < 12000} {incr from 1000} {
        add [numbered $from [expr {$from + 999}]]
    }
    lassign [r $scan k 0 COUNT 1000000] cursor items
    set replied [expr {[llength $items] / ($type eq "set" ? 1 : 2)}]
    assert {$cursor != 0 && $replied >= 1024 && $replied < 1400}
    assert_found [scan_while {}] [numbered 1 12000]
}
check_types "one call of a scan replies some hundred kilobytes, whatever COUNT says" {
    set members [lmap i [numbered 1 400] {string cat $i [string repeat x 5000]}]
    add $members
    lassign [r $scan k 0 COUNT 1000000] cursor items
    set replied [expr {[llength $items] / ($type eq "set" ? 1 : 2)}]
    assert {$cursor != 0 && $replied >= 104 && $replied < 250}
    assert_found [scan_while {}] $members
}
check_types "a scan returns what is there throughout while the collection grows thirtyfold" {
    with_config [list $limit 0] {
        add [numbered 1 200]
        set found [scan_while {
            if {$step <= 10} {add [numbered [expr {1000 * $step}] [expr {1000 * $step + 599}]]}
        }]
        assert_found $found [numbered 1 200]
        assert {$step >= 10}
    }
}
check_types "a scan returns what is there throughout while the collection shrinks to a thirtieth" {
    with_config [list $limit 0] {
        add [numbered 1 6200]
        set found [scan_while {
            if {$step <= 60} {remove [numbered [expr {101 + 100 * $step}] [expr {200 + 100 * $step}]]}
        }]
        assert_found $found [numbered 1 200]
        assert {$step >= 20}
    }
}
check_types "a scan returns what is there throughout while the collection becomes a listpack and a table again" {
    with_config [list $limit 0] {add [numbered 1 400]}
    with_config [list $limit 1000] {
        set found [scan_while {
            if {$step == 3} {
                set tables [r OBJECT ENCODING k]
                r RESTORE k 0 [r DUMP k] REPLACE
                assert {[r OBJECT ENCODING k] ne $tables}
            }
        }]
        assert_found $found [numbered 1 400]
        r RESTORE k 0 [r DUMP k] REPLACE
        r CONFIG SET $limit 0
        add {m401}
        assert_equal [r OBJECT ENCODING k] $tables
        assert_found [scan_while {}] [numbered 1 401]
    }
}
check "a scan returns what is there throughout when an intset becomes a table" {
    with_config {set-max-intset-entries 1000 set-max-listpack-entries 0} {
        r SADD k {*}[lmap member [numbered 1 600] {string range $member 1 end}]
        assert_equal [r OBJECT ENCODING k] intset
        set type set
        set scan SSCAN
        set add {SADD k}
        r SADD k text
        assert_equal [r OBJECT ENCODING k] hashtable
        set found [scan_while {if {$step <= 50} {r SADD k {*}[numbered [expr {20 * $step}] [expr {20 * $step + 19}]]}}]
        assert_found $found [lmap member [numbered 1 600] {string range $member 1 end}]
    }
}

# --- At random ---

# The sum of squares has, for members that are equally likely, the mean 19 and the standard deviation 6.2; it is above
# 80 by chance once in a thousand million times.
proc assert_uniform {members} {
    foreach member $members {
        dict incr counts $member
    }
    set mean [expr {[llength $members] / 20.0}]
    set sum 0.0
    foreach {_ count} $counts {
        set sum [expr {$sum + ($count - $mean) ** 2 / $mean}]
    }
    assert {[dict size $counts] == 20 && $sum < 80}
}

proc drawn {args} {
    set members {}
    while {[llength $members] < 3000} {
        lappend members {*}[r {*}$args]
    }
    return $members
}

foreach {layout entries} {packed 128 "in a table that has just shrunk" 0} {
    check_types "members at random are equally likely, $layout" [string map [list ENTRIES $entries] {
        with_config [list $limit ENTRIES] {
            foreach request {{} -3000 5 15} {
                r DEL k
                if {ENTRIES == 0} {
                    add [numbered 1 1500]
                    remove [numbered 21 1500]
                } else {
                    add [numbered 1 20]
                }
                # Different members of one draw are not independent: they are only more even.
                assert_uniform [drawn $random k {*}$request]
            }
        }
    }]
    check "SPOP takes each member equally often, $layout" [string map [list ENTRIES $entries] {
        with_config [list set-max-listpack-entries ENTRIES] {
            r SADD k {*}[numbered 1 20]
            set popped {}
            while {[llength $popped] < 2000} {
                if {ENTRIES == 0 && [llength $popped] % 400 == 0} {
                    r SADD k {*}[numbered 21 1500]
                    r SREM k {*}[numbered 21 1500]
                }
                set some [r SPOP k 4]
                lappend popped {*}$some
                r SADD k {*}$some
            }
            assert_uniform $popped
        }
    }]
}

check "fields that have not expired are equally likely among many that have" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    with_config {hash-max-listpack-entries 0} {
        r HSET k {*}[concat {*}[lmap member [numbered 1 3000] {list $member 1}]]
        r HPEXPIRE k 1 FIELDS 2980 {*}[numbered 21 3000]
        after 5
        assert_uniform [r HRANDFIELD k -3000]
        assert {[r HLEN k] > 2000}
    }
    r DEBUG SET-ACTIVE-EXPIRE 1
}

# --- Negative counts: members may repeat, so that nothing but these limits ends the reply ---

check_types "a count below -16777216 is refused" {
    add {m1 m2}
    foreach count {-16777217 -4294967297 -4000000000000000000 -9223372036854775807} {
        assert_equal [error_of {r $random k $count}] "ERR value is out of range"
        if {$with ne ""} {
            assert_equal [error_of {r $random k $count $with}] "ERR value is out of range"
        }
    }
    foreach {count expected} {-30000 30000 4000000000000000000 2 9223372036854775807 2} {
        assert_equal [llength [r $random k $count]] $expected
    }
}
check_types "a reply to a negative count that becomes longer than proto-max-bulk-len is an error" {
    set long m[string repeat 9 300]
    add [list $long]
    with_config {proto-max-bulk-len 1mb} {
        assert_equal [error_of {r $random k -10000000}] \
            "ERR reply exceeds maximum allowed size (proto-max-bulk-len)"
        r MULTI
        r ECHO before
        r $random k -10000000
        r ECHO after
        set replies [typed EXEC]
        assert {[lindex $replies 1 0] eq {bulk before} && [lindex $replies 1 2] eq {bulk after}}
        assert_equal [lindex $replies 1 1 0] error
        assert_equal [llength [r $random k -1000]] 1000
    }
}
check_types "the output limit of a client ends its reply to a negative count while that is made" {
    add [list m[string repeat 9 300]]
    with_config {client-output-buffer-limit {normal 1mb 0 0}} {
        r CONFIG RESETSTAT
        set peak [info_field used_memory_peak]
        set client [client_open]
        $client send $random k -16777216
        assert {[$client is_closed]}
        assert {[info_field used_memory_peak] - $peak < 32 * 1024 * 1024}
        # All members would be copied, 5 GB of them, if the reply was made to its end.
        assert {[regexp "cmdstat_[string tolower $random]:calls=1,usec=(\\d+)" [r INFO commandstats] _ usec]}
        assert {$usec < 2000000}
    }
}

finish
