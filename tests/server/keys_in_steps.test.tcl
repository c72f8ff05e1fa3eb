# KEYS of a large keyspace runs in steps: the reply has each key once that was there all the time, whatever other
# clients do meanwhile, and nobody waits for it.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes databases 3}

set staying 40000

# Keys prefix:0 and on.
proc populate {count prefix} {
    r DEBUG POPULATE $count $prefix
}

proc unlink_some {prefix from to} {
    r EVAL {for i = ARGV[2], ARGV[3] do redis.call('UNLINK', ARGV[1] .. ':' .. i) end} 0 $prefix $from $to
}

# Another client sends KEYS, whose first step is done; the body runs before the others. Returns the names.
proc keys_while {pattern body} {
    set c [client_open]
    set id [$c call CLIENT ID]
    paused {
        $c send KEYS $pattern
        wait_until {[info_field blocked_clients] == 1}
        uplevel 1 $body
    }
    set names [$c read]
    $c close
    return $names
}

# The body runs between two steps; then some more are done.
proc between_steps {body} {
    uplevel 1 $body
    r DEBUG PAUSE-THREADS 0
    r DEBUG PAUSE-THREADS 1
}

proc numbers_of {prefix names} {
    return [lmap name [lsearch -all -inline $names $prefix:*] {string range $name [string length $prefix:] end}]
}

# The names have all keys prefix:0 … once that match *digit.
proc assert_has {names prefix count digit} {
    set expected {}
    for {set i $digit} {$i < $count} {incr i 10} {
        lappend expected $i
    }
    assert {[lsort -integer [numbers_of $prefix $names]] eq $expected}
}

proc assert_no_doubles {names} {
    assert_equal [llength $names] [llength [lsort -unique $names]]
}

# --- What it replies

check "the reply of many keys is that of a transaction, which runs it at once" {
    populate $staying stay
    r SET [string repeat long 30000] value
    r SET expired value PX 1
    r SET "" value
    after 2
    foreach pattern {* stay:*7 *:1?3* nosuch* stay:12 \\stay:*5 *long* ""} {
        r MULTI
        r KEYS $pattern
        set expected [lindex [r EXEC] 0]
        assert_equal [lsort [r EVAL {return redis.call('KEYS', ARGV[1])} 0 $pattern]] [lsort $expected]
        assert_equal [lsort [r KEYS $pattern]] [lsort $expected]
        assert_equal [lsort [keys_while $pattern {r PING}]] [lsort $expected]
    }
    llength $expected
} 1
check "a keyspace of few keys, or none, is looked at at once" {
    paused {
        assert_equal [r KEYS *] {}
        r MSET a 1 b 2
        assert_equal [lsort [r KEYS *]] {a b}
    }
}
check "keys of other databases are not in the reply" {
    populate $staying stay
    r SELECT 2
    populate 20000 other
    set names [keys_while *9 {populate 100000 more}]
    assert_equal [llength [numbers_of other $names]] 0
    assert_has $names stay $staying 9
    r SELECT 0
}
check "replies of several clients, which take turns, have all keys" {
    populate $staying stay
    set clients {}
    paused {
        foreach digit {1 2 3 4 5 6} {
            lappend clients [set c [client_open]]
            $c send KEYS *$digit
            $c send ECHO next
        }
        wait_until {[info_field blocked_clients] == 6}
        populate 100000 come
        r DEBUG PAUSE-THREADS 0
        foreach c $clients digit {1 2 3 4 5 6} {
            set names [$c read]
            assert_no_doubles $names
            assert_has $names stay $staying $digit
            assert_equal [$c read] next
        }
    }
}
check "keys that stay are in the reply once, whatever others come and go" {
    set patterns {* *7 *4}
    foreach round {1 2 3 4 5 6 7 8} {
        r FLUSHALL
        populate $staying stay
        set coming 0
        set digit [lindex {7 4} [expr {int(rand() * 2)}]]
        set names [keys_while *$digit {
            foreach part {1 2 3 4 5} {
                between_steps {
                    switch [expr {int(rand() * 4)}] {
                        0 {
                            populate [expr {int(rand() * 100000)}] come
                        }
                        1 {
                            unlink_some come 0 100000
                        }
                        2 {
                            set from [expr {int(rand() * 50000)}]
                            unlink_some come $from [expr {$from + 20000}]
                            populate [expr {int(rand() * 5000)}] new
                        }
                        3 {
                            r RENAME stay:5 name
                            r RENAME name stay:5
                            r MOVE stay:11 1
                            r SET stay:11 again
                            r SELECT 1
                            r DEL stay:11
                            r SELECT 0
                            r EVAL {for i = 0, 9999 do redis.call('APPEND', 'stay:' .. i, 'longer than before') end} 0
                        }
                    }
                }
            }
        }]
        assert_no_doubles $names
        assert_has $names stay $staying $digit
        foreach name $names {
            assert {[regexp {^(stay|come|new):\d+$} $name] && [string index $name end] eq $digit}
        }
    }
}
check "the keyspace may shrink to a few keys" {
    populate 100000 come
    r MSET stay:1 v stay:11 v stay:21 v
    set names [keys_while stay:* {between_steps {unlink_some come 0 99999}}]
    lsort $names
} {stay:1 stay:11 stay:21}

# --- All keys change at once

check "FLUSHALL ends it" {
    populate $staying stay
    set names [keys_while * {r FLUSHALL}]
    assert_no_doubles $names
    expr {[llength $names] < $staying}
} 1
check "after FLUSHALL it sees what has come since, once" {
    populate $staying stay
    set names [keys_while *3 {
        between_steps {
            r FLUSHALL
            populate $staying stay
            populate 100000 other
        }
    }]
    assert_no_doubles $names
    assert_has $names stay $staying 3
}
check "after SWAPDB keys of that name in both databases are in the reply" {
    populate $staying both
    populate 20000 first
    r SELECT 1
    populate $staying both
    populate 70000 second
    r SELECT 0
    foreach round {1 2 3} {
        set names [keys_while *2 {between_steps {r SWAPDB 0 1}}]
        assert_no_doubles $names
        assert_has $names both $staying 2
    }
}
check "DEBUG RELOAD meanwhile changes nothing" {
    populate $staying stay
    set names [keys_while *6 {between_steps {r DEBUG RELOAD}}]
    assert_no_doubles $names
    assert_has $names stay $staying 6
    llength $names
} [expr {$staying / 10}]
check "keys that a command in another thread is going to replace are in the reply" {
    make_sets
    populate $staying stay
    foreach i [numbered 1 40] {
        r SET to:$i old
    }
    set clients {}
    set names [keys_while to:* {
        foreach i [numbered 1 40] {
            lappend clients [set c [client_open]]
            $c send SUNIONSTORE to:$i a b
        }
        wait_for_works 40
    }]
    foreach c $clients {
        $c read
    }
    lsort -integer [numbers_of to $names]
} [numbered 1 40]
check "keys that are evicted meanwhile do no harm" {
    populate $staying stay
    set names [keys_while *8 {
        with_config {maxmemory 1mb maxmemory-policy allkeys-random} {
            between_steps {catch {r SET key value}}
        }
    }]
    assert_no_doubles $names
    expr {[llength $names] <= $staying / 10}
} 1

# --- The client

check "a client that is killed or leaves while it waits leaves nothing" {
    populate $staying stay
    paused {
        set c [client_open]
        set id [$c call CLIENT ID]
        $c send KEYS *
        set other [client_open]
        $other send KEYS *
        wait_blocked 2
        assert_equal [r CLIENT UNBLOCK $id] 0
        r CLIENT KILL ID $id
        $other close
        wait_blocked 0
    }
    llength [r KEYS *]
} $staying
check "a client that wants no reply gets none" {
    populate $staying stay
    set c [client_open]
    $c send CLIENT REPLY SKIP
    $c send KEYS *
    $c send ECHO next
    assert_equal [$c read] next
    $c send CLIENT REPLY OFF
    $c send KEYS *
    $c call CLIENT REPLY ON
} OK
check "a client's names count as its memory" {
    populate $staying stay
    set c [client_open]
    $c call CLIENT SETNAME waits
    foreach pattern {n* s*} {
        paused {
            $c send KEYS $pattern
            wait_blocked 1
            regexp {name=waits .*tot-mem=(\d+)} [r CLIENT LIST] _ memory($pattern)
        }
        set count [llength [$c read]]
    }
    list $count [expr {$memory(s*) > $memory(n*)}]
} [list $staying 1]
check "keys whose values are being changed are in the reply once, whenever that ends" {
    foreach moment {before after} {
        r FLUSHALL
        populate $staying stay
        make_sets
        paused {
            set changer [send_work {SPOP a 5000}]
            set storer [client_open]
            $storer send SUNIONSTORE b b c
            wait_for_works 2
            set c [client_open]
            $c send KEYS {[a-h]}
            wait_blocked 3
            if {$moment eq "before"} {
                r EXISTS a b ;# ends them
            }
        }
        assert_equal [lsort [$c read]] {a b c d e f g h}
        $changer read
        $storer read
    }
}
check "its time is in SLOWLOG and in the statistics, once" {
    populate $staying stay
    with_config {slowlog-log-slower-than 0} {
        r SLOWLOG RESET
        r CONFIG RESETSTAT
        r KEYS nosuch*
        set entries [lsearch -all -inline -index 3 [r SLOWLOG GET 100] {KEYS nosuch*}]
    }
    regexp {cmdstat_keys:calls=(\d+),usec=(\d+)} [r INFO commandstats] _ calls usec
    list [llength $entries] $calls [expr {[lindex $entries 0 2] > 200 && $usec > 200}]
} {1 1 1}
check "a user sees only keys that it may read, by its rights of each step" {
    populate $staying stay
    r ACL SETUSER reader on nopass +@all ~stay:*
    with_config {acl-filter-keys yes} {
        r SET hidden value
        set c [client_open]
        $c call AUTH reader any
        paused {
            $c send KEYS *
            wait_blocked 1
            r SET hidden2 value
        }
        set names [$c read]
    }
    r ACL DELUSER reader
    assert_equal [lsearch -all $names hidden*] {}
    llength $names
} $staying
check "others are served while it goes on" {
    populate 300000 stay
    set c [client_open]
    set served 0
    $c send KEYS nosuch*
    set cycles [info_field eventloop_cycles]
    r KEYS nosuch*
    assert {[info_field eventloop_cycles] - $cycles > 10}
    $c read
} {}
check "the server stops meanwhile" {
    with_server {enable-debug-command yes} {
        r DEBUG POPULATE $staying
        r DEBUG PAUSE-THREADS 1
        foreach i {1 2 3} {
            [client_open] send KEYS *
        }
        wait_blocked 3
        catch {r SHUTDOWN NOSAVE}
    }
}

finish
