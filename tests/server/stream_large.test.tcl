# Replies of many entries of a stream: they are written while they are sent, and the stream goes on changing.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]

server_start

# More than sockets take, so that most of a reply waits in the server. Most entries have one or two pairs; a few have
# long values, long fields, or many pairs. `adds` are the requests that make them, `entries` their bytes in a reply.
proc bulk {text} {
    return "\$[string length $text]\r\n$text\r\n"
}
set adds {}
set entries {}
for {set i 1} {$i <= 2400} {incr i} {
    set pairs [list f [string repeat [format %08d $i] 600]]
    switch [expr {$i % 400}] {
        100 {lappend pairs long [string repeat [format %010d $i] 9000]}
        150 {lappend pairs [string repeat [format %010d $i] 2000] short}
        200 {set pairs [concat {*}[lmap n [numbered 1 600] {list $n field-$n-$i}]]}
        250 {set pairs [list f $i]}
    }
    if {$i % 3 == 0} {
        set pairs [list other $i {*}$pairs]
    }
    lappend adds [request [list XADD k $i-$i {*}$pairs]]
    lappend entries "*2\r\n[bulk $i-$i]*[llength $pairs]\r\n[join [lmap text $pairs {bulk $text}] {}]"
}

proc make_stream {{count 2400}} {
    set c [client_open 2]
    $c write [join [lrange $::adds 0 $count-1] {}]
    for {set i 1} {$i <= $count} {incr i} {
        $c read
    }
    $c close
}

# The bytes of an array of entries.
proc array_of {entries} {
    return [binary format a* "*[llength $entries]\r\n[join $entries {}]"]
}

# Those of XREAD's reply for one stream.
proc stream_of {entries} {
    return [binary format a* [expr {$::protocol == 3 ? "%1\r\n" : "*1\r\n*2\r\n"}][bulk k][array_of $entries]]
}

proc assert_reads {client expected} {
    assert {[$client read_bytes [string length $expected]] eq $expected}
    assert_equal [$client call PING] PONG
}

# A connection that has sent the request and reads nothing yet; returns when the server has begun to reply.
proc stalled {args} {
    set c [client_open $::protocol]
    $c call CLIENT SETNAME stalled
    $c send {*}$args
    set name [string tolower [lindex $args 0]]
    wait_until {[regexp "name=stalled \[^\n\]*cmd=$name\[ |\]" [r CLIENT LIST]]}
    return $c
}

foreach {what changes} {
    "is trimmed to nothing"   {{XTRIM k MAXLEN 0}}
    "is trimmed"              {{XTRIM k MAXLEN 1000} {XTRIM k MINID 2000-0} {XADD k MAXLEN 5 * a b}}
    "loses entries"           {{XDEL k 1-1 400-400 1201-1201 2000-2000 2399-2399 2400-2400}}
    "gets more entries"       {{XADD k * a b} {XADD k 99999999999999-1 other x} {XADD k 99999999999999-2 f 1}}
    "is deleted"              {{DEL k}}
    "is unlinked and made anew" {{UNLINK k} {XADD k 5-5 a b}}
    "is renamed and emptied"  {{RENAME k other} {XTRIM other MAXLEN 1}}
    "is flushed"              {FLUSHALL}
} {
    check "replies have a stream as it was, though it $what meanwhile" [string map [list @changes $changes] {
        make_stream
        set full [typed XINFO STREAM k FULL COUNT 100]
        set before [info_field used_memory]
        set forward [stalled XRANGE k - +]
        set backward [stalled XREVRANGE k + -]
        set read [stalled XREAD STREAMS k 0]
        set info [stalled XINFO STREAM k FULL COUNT 100]
        assert {[info_field used_memory] - $before < 4000000 + 4 * $::spare_blocks}
        foreach change {@changes} {
            r {*}$change
        }
        assert_reads $forward [array_of $::entries]
        assert_reads $backward [array_of [lreverse $::entries]]
        assert_reads $read [stream_of $::entries]
        assert {[$info read_typed] eq $full}
    }]
}

# The plain replies of XREAD, joined.
proc streams {args} {
    return [concat {*}$args]
}
proc ids {args} {
    return [ids_of [r {*}$args]]
}
proc ids_of {entries} {
    return [lmap entry $entries {lindex $entry 0}]
}
check "bounds and counts hold, whatever part of the reply follows later" {
    make_stream 1200
    set deleted {7 300 301 800 1100 1190}
    foreach i $deleted {
        r XDEL k $i-$i
    }
    foreach {first last from to} {
        - + 1 1200
        1 1200 1 1200
        2-3 900 3 900
        300 1100 300 1100
        299-299 301-301 299 301
        (300-0 (1100-1100 300 1099
        (3-3 1190 4 1190
        800-799 1199-0 800 1198
        500 499 2 1
    } {
        set ids [lmap i [numbered $from $to] {
            if {$i in $deleted} continue
            string cat $i-$i
        }]
        foreach count {1 13 14 100 699 5000} {
            assert_equal [ids XRANGE k $first $last COUNT $count] [lrange $ids 0 $count-1]
            assert_equal [ids XREVRANGE k $last $first COUNT $count] [lrange [lreverse $ids] 0 $count-1]
        }
    }
}
check "XREAD replies each stream up to its limits" {
    make_stream 600
    r COPY k k2
    r XDEL k2 400-400
    set one [r XREAD STREAMS k 0]
    set two [r XREAD STREAMS k2 0]
    assert_equal [llength [ids XRANGE k2 - +]] 599
    assert {[r XREAD STREAMS k none k2 0 0 0] eq [streams $one $two]}
    assert {[r XREAD STREAMS k k2 k 0 0 0] eq [streams $one $two $one]}
    proc counts {args} {
        set counts {}
        foreach stream [r XREAD {*}$args STREAMS k k2 k 0 300 100-100] {
            if {$::protocol == 3} {
                if {[incr at] % 2} continue
                lappend counts [llength $stream]
            } else {
                lappend counts [llength [lindex $stream 1]]
            }
        }
        return $counts
    }
    assert_equal [counts] {600 300 500}
    assert_equal [counts COUNT 250] {250 250 250}
    assert_equal [counts MAXCOUNT 850] {600 250}
    assert_equal [counts MAXCOUNT 700 COUNT 300] {300 300 100}
    foreach size {100 5000 70000 1000000} {
        set bytes [string length [bulk k]]
        set count 0
        while {$bytes < $size} {
            incr bytes [string length [lindex $::entries $count]]
            incr count
        }
        assert_equal [counts MAXSIZE $size] $count
    }
    assert_equal [r EVAL {
        local replied = redis.call('XREAD', 'STREAMS', 'k', 'k2', 0, 0)
        return {#replied[1][2], #replied[2][2], #redis.call('XREVRANGE', 'k2', '+', 5)}
    } 0] {600 599 595}
}
check "a transaction replies a stream as it was when each command ran" {
    make_stream 600
    set all [r XRANGE k - +]
    set c [client_open]
    $c call MULTI
    foreach request {{XRANGE k - +} {XDEL k 500-500} {XREVRANGE k + 10} {XTRIM k MAXLEN 1} {XREAD STREAMS k 0}
            {XLEN k}} {
        $c call {*}$request
    }
    $c send EXEC
    lassign [$c read] first deleted second trimmed third length
    assert {$first eq $all}
    assert {$second eq [lreverse [concat [lrange $all 9 498] [lrange $all 500 end]]]}
    assert_equal [list $deleted $trimmed $length] {1 598 1}
    if {$::protocol == 2} {
        set third [lindex $third 0]
    }
    assert {$third eq [list k [lrange $all end end]]}
}
check "the memory of a stream that is gone is freed with the client that has not read it" {
    set before [info_field used_memory]
    make_stream
    set c [stalled XRANGE k - +]
    r DEL k
    assert {[info_field used_memory] - $before > 5000000}
    $c close
    wait_until {[info_field used_memory] - $before < 1000000 + $::spare_blocks}
}

finish
