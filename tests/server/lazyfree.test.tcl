# Freeing in another thread: UNLINK, FLUSHDB and FLUSHALL ASYNC, and the lazyfree-lazy directives.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

# A list of so many nodes, each of one element.
proc make_nodes {key count} {
    with_config {list-max-listpack-size 1} {
        set elements [numbered 1 $count]
        for {set from 0} {$from < $count} {incr from 5000} {
            r RPUSH $key {*}[lrange $elements $from $from+4999]
        }
    }
}

# How many objects the other thread has freed when the body is over and nothing is left to do.
proc freed_by {body} {
    wait_until {[info_field lazyfree_pending_objects] == 0}
    set before [info_field lazyfreed_objects]
    uplevel 1 $body
    wait_until {[info_field lazyfree_pending_objects] == 0}
    return [expr {[info_field lazyfreed_objects] - $before}]
}

check "UNLINK frees large values in another thread, small ones at once" {
    make_nodes large 65
    make_nodes other 1000
    make_nodes small 64
    r SET string [string repeat x 100000]
    r RPUSH one [string repeat x 100000]
    freed_by {assert_equal [r UNLINK large small nosuch string one other] 5}
} 2
check "UNLINK frees large texts in another thread, in a list, too" {
    set large [string repeat x 1000000]
    r SET l $large
    r APPEND appended $large
    r RPUSH list a $large b
    r SET number [expr {2**62}]
    freed_by {assert_equal [r UNLINK l appended list number] 4}
} 3
check "a key that was unlinked is gone at once and can be made again" {
    make_nodes l 3000
    r UNLINK l
    list [r EXISTS l] [r RPUSH l a] [list_of l] [r DBSIZE]
} {0 1 a 1}

# Directive, and a body that frees the list `l` by it.
set ways {
    lazyfree-lazy-user-del    {r DEL l}
    lazyfree-lazy-server-del  {r SET l text}
    lazyfree-lazy-server-del  {r SETEX l 1000 text}
    lazyfree-lazy-server-del  {r SET l text KEEPTTL}
    lazyfree-lazy-server-del  {r MSET l text a 1}
    lazyfree-lazy-server-del  {r SET a 1; r BITOP NOT l a}
    lazyfree-lazy-server-del  {r BITOP NOT l nosuch}
    lazyfree-lazy-server-del  {r SINTERSTORE l nosuch}
    lazyfree-lazy-server-del  {r ZRANGESTORE l nosuch 0 -1}
    lazyfree-lazy-server-del  {r SORT nosuch STORE l}
    lazyfree-lazy-server-del  {r RPUSH a 1; r RENAME a l}
    lazyfree-lazy-server-del  {r RPUSH a 1; r COPY a l REPLACE}
    lazyfree-lazy-server-del  {r RPUSH a 1; r SORT a STORE l}
    lazyfree-lazy-expire      {r PEXPIRE l 1; after 5; r EXISTS l}
    lazyfree-lazy-eviction    {r CONFIG SET maxmemory-policy allkeys-random maxmemory 1
                               catch {r SET x y}
                               r CONFIG SET maxmemory 0 maxmemory-policy noeviction}
}
# What makes `l` large.
set large_values {
    "a list" {make_nodes l 200}
    "a text" {r SET l [string repeat x 1000000]}
}
foreach {directive body} $ways {
    foreach {what make} $large_values {
        foreach {value freed} {yes 1 no 0} {
            check "$directive $value: $what, [lindex [split $body \n] 0]" \
                    [string map [list %directive $directive %value $value %body $body %make $make] {
                %make
                with_config {%directive %value} {
                    freed_by {%body}
                }
            }] $freed
        }
    }
}
foreach {what make} $large_values {
    check "$what: its replacement keeps the expiry with KEEPTTL" [string map [list %make $make] {
        %make
        r PEXPIREAT l 9999999999999
        with_config {lazyfree-lazy-server-del yes} {
            list [freed_by {r SET l text KEEPTTL}] [r PEXPIRETIME l] [r GET l] [r SET l text] [r PTTL l]
        }
    }] {1 9999999999999 text OK -1}
}
foreach {command reply} {
    {ZREMRANGEBYRANK z 0 -1}          20000
    {ZREMRANGEBYSCORE z -inf +inf}    20000
    {ZREMRANGEBYLEX z - +}            20000
    {ZMPOP 1 z MAX COUNT 20000}       {}
} {
    check "$command frees a large sorted set in another thread" [string map [list %command $command %reply $reply] {
        for {set from 0} {$from < 20000} {incr from 2000} {
            set pairs {}
            for {set i $from} {$i < $from + 2000} {incr i} {lappend pairs 0 member:$i}
            r ZADD z {*}$pairs
        }
        set before [info_field rdb_changes_since_last_save]
        set freed [freed_by {set answer [r %command]}]
        if {"%reply" ne ""} {assert_equal $answer %reply}
        list $freed [r EXISTS z] [expr {[info_field rdb_changes_since_last_save] - $before}]
    }] {1 0 20000}
}
check "FLUSHDB frees one large text in another thread" {
    r SET l [string repeat x 1000000]
    freed_by {r FLUSHDB}
} 1
check "the directives are off by default" {
    set values {}
    foreach {name value} [r CONFIG GET lazyfree-lazy-*] {
        lappend values $value
    }
    lsort $values
} {no no no no no}

foreach command {FLUSHDB FLUSHALL} {
    check "$command ASYNC leaves an empty database at once and frees all keys" [string map [list @ $command] {
        r DEBUG POPULATE 20000
        make_nodes l 500
        r SELECT 1
        r SET other 1
        r SELECT 0
        set freed [freed_by {
            assert_equal [typed @ ASYNC] {simple OK}
            assert_equal [list [r DBSIZE] [r EXISTS key:1] [r KEYS *]] {0 0 {}}
            r SET key:1 again
        }]
        assert_equal $freed [expr {"@" eq "FLUSHALL" ? 20002 : 20001}]
        r SELECT 1
        set others [r DBSIZE]
        r SELECT 0
        list [r DBSIZE] [r GET key:1] [expr {$others == ("@" eq "FLUSHDB")}]
    }] {1 again 1}
    # After FLUSHALL and FLUSHDB without SYNC the next command of a pipeline runs at once. When the machine delays the
    # loop, everything may be freed by then: the test tries again.
    foreach {directive mode waits} {yes {} 0  yes SYNC 1  no {} 1  no SYNC 1  no ASYNC 0} {
        check "$command $mode with lazyfree-lazy-user-flush $directive: does the reply wait for the memory? $waits" \
                [string map [list @command $command @waits $waits @directive $directive @mode $mode] {
            with_config {lazyfree-lazy-user-flush @directive} {
                for {set try 1} {$try <= 20} {incr try} {
                    r DEBUG POPULATE 100000
                    set before [info_field lazyfreed_objects]
                    set replies [[default_client] pipeline {{@command @mode} {INFO memory} DBSIZE}]
                    assert {[regexp {lazyfreed_objects:(\d+)} [lindex $replies 1] _ freed]}
                    assert_equal [list [lindex $replies 0] [lindex $replies 2]] {OK 0}
                    wait_until {[info_field lazyfreed_objects] - $before == 100000}
                    set waited [expr {$freed - $before == 100000}]
                    if {$waited == @waits} {
                        break
                    }
                }
                set waited
            }
        }] $waits
    }
    check "$command frees a few small keys at once" [string map [list @ $command] {
        freed_by {
            r DEBUG POPULATE 64
            r @
        }
    }] 0
}
# Keys whose freeing takes the other thread a while.
proc populate {} {
    r DEBUG POPULATE 300000
    make_nodes l 100000
}
check "the memory is free when FLUSHALL is answered" {
    set before [info_field used_memory]
    populate
    assert {[info_field used_memory] - $before > 15000000}
    r FLUSHALL
    expr {[info_field used_memory] - $before < 500000 + $spare_blocks}
} 1
check "others are served while a client waits for FLUSHALL, and CLIENT UNBLOCK does not end its wait" {
    set c [client_open]
    set id [$c call CLIENT ID]
    set seen 0
    for {set try 1} {$try <= 20 && !$seen} {incr try} {
        populate
        $c write "FLUSHALL\r\nPING\r\n"
        while {[$c is_silent 1]} {
            set requests [list [list CLIENT UNBLOCK $id] [list CLIENT LIST ID $id] {INFO clients}]
            set replies [[default_client] pipeline $requests]
            assert_equal [lindex $replies 0] 0
            set is_listed [string match "*flags=b*cmd=flushall*" [lindex $replies 1]]
            set seen [expr {$seen || ($is_listed && [string match "*blocked_clients:1*" [lindex $replies 2]])}]
        }
        assert_equal [list [$c read] [$c read]] {OK PONG}
    }
    list $seen [info_field blocked_clients]
} {1 0}
check "a client that is killed, or leaves, while it waits for FLUSHALL is forgotten" {
    foreach way {kill leave} {
        populate
        set c [client_open]
        set id [$c call CLIENT ID]
        $c send FLUSHALL
        wait_until {[r DBSIZE] == 0}
        if {$way eq "kill"} {
            r CLIENT KILL ID $id
        } else {
            $c close
        }
        wait_until {[info_field blocked_clients] == 0 && [info_field lazyfree_pending_objects] == 0}
    }
    r PING
} PONG
check "a client that ends while it waits for FLUSHALL, with replies that it has not read, is forgotten" {
    populate
    r SETRANGE big 30000000 x
    set before [info_field connected_clients]
    set channel [socket 127.0.0.1 [$current_server port]]
    fconfigure $channel -translation binary -blocking 0 -buffering none
    puts -nonewline $channel "GET big\r\nFLUSHALL\r\n"
    chan close $channel write
    wait_until {[r DBSIZE] == 0}
    wait_until {[info_field lazyfree_pending_objects] == 0}
    close $channel
    wait_until {[info_field connected_clients] == $before}
    r PING
} PONG
check "FLUSHALL in a transaction waits for nothing" {
    populate
    set before [info_field lazyfreed_objects]
    set replies [[default_client] pipeline {MULTI FLUSHALL {SET k v} DBSIZE EXEC}]
    wait_until {[info_field lazyfreed_objects] - $before == 300001}
    list [lindex $replies end] [r GET k]
} {{OK OK 1} v}
check "several clients wait for FLUSHDB, each for its own" {
    populate
    set clients {}
    foreach database {0 1 2} {
        set c [client_open]
        $c call SELECT $database
        $c call DEBUG POPULATE 50000 more
        lappend clients $c
    }
    foreach c $clients {
        $c send FLUSHDB
        $c send DBSIZE
    }
    lmap c $clients {list [$c read] [$c read]}
} {{OK 0} {OK 0} {OK 0}}
check "FLUSHALL counts once, when it is answered, and for as long as its client has waited" {
    populate
    r CONFIG RESETSTAT
    set c [client_open]
    $c send FLUSHALL
    wait_until {[r DBSIZE] == 0}
    $c read
    regexp {cmdstat_flushall:calls=(\d+),usec=(\d+)} [r INFO commandstats] _ calls usec
    list $calls [expr {$usec > 1000}]
} {1 1}
check "CLIENT REPLY SKIP drops the reply of FLUSHALL" {
    populate
    set c [client_open]
    $c send CLIENT REPLY SKIP
    $c send FLUSHALL
    $c send PING
    $c read
} PONG
check "FLUSHALL ASYNC takes the expiries with it" {
    for {set i 0} {$i < 300} {incr i} {
        r SET k$i v EX 100
    }
    r FLUSHALL ASYNC
    r SET k1 v
    list [r TTL k1] [regexp {expires=0} [r INFO keyspace]]
} {-1 1}
check "FLUSHALL ASYNC fails a transaction that watches a key" {
    r SET k 1
    r WATCH k
    r FLUSHALL ASYNC
    r MULTI
    r PING
    r EXEC
} (nil)
check "used_memory is right when another thread has freed" {
    set before [info_field used_memory]
    make_nodes l 30000
    r DEBUG POPULATE 20000 key 100
    assert {[info_field used_memory] - $before > 2000000}
    r UNLINK l
    r FLUSHALL ASYNC
    [default_client] close
    set ::default_client ""
    wait_until {[info_field lazyfree_pending_objects] == 0}
    wait_until {[info_field used_memory] - $before < 300000 + $spare_blocks}
}
# With SANITIZE=thread this also shows that two threads do not meet at the same string unprotected.
check "clients get the large strings that FLUSHALL ASYNC frees before they have read them; then the memory is free" {
    r PING
    set before [info_field used_memory]
    set connected [info_field connected_clients]
    foreach round {1 2 3} {
        set clients {}
        for {set i 0} {$i < 8} {incr i} {
            r SET big$i [string repeat $i 1000000]
        }
        for {set i 0} {$i < 8} {incr i} {
            set c [client_open]
            set id [$c call CLIENT ID]
            $c write [string repeat [request [list GET big$i]] 20]
            wait_until {[regexp {omem=\d{8}.* cmd=get} [r CLIENT LIST ID $id]]}
            lappend clients $c
        }
        r FLUSHALL ASYNC
        foreach {leaves reads} $clients {
            $leaves close
            set i [lsearch $clients $reads]
            for {set n 0} {$n < 20} {incr n} {
                assert {[$reads read] eq [string repeat $i 1000000]}
            }
            $reads close
        }
    }
    wait_until {[info_field lazyfree_pending_objects] == 0 && [info_field connected_clients] == $connected}
    wait_until {[info_field used_memory] - $before < 300000 + $spare_blocks}
    r DBSIZE
} 0
check "what another thread is about to free is not evicted for" {
    r DEBUG POPULATE 1000
    make_nodes l 50000
    set used [info_field used_memory]
    r MULTI
    r UNLINK l
    r CONFIG SET maxmemory-policy allkeys-lru maxmemory [expr {$used - 500000}]
    r EXEC
    r SET k v
    r CONFIG SET maxmemory 0 maxmemory-policy noeviction
    r DBSIZE
} 1001
check "CONFIG RESETSTAT sets lazyfreed_objects to zero" {
    make_nodes l 100
    assert {[freed_by {r UNLINK l}] == 1}
    r CONFIG RESETSTAT
    list [info_field lazyfreed_objects] [freed_by {r DEL nosuch}]
} {0 0}
foreach mode {ASYNC SYNC} {
    check "a server ends while another thread frees what FLUSHALL $mode has left" [string map [list @ $mode] {
        with_server {enable-debug-command yes} {
            r DEBUG POPULATE 300000
            make_nodes l 20000
            r UNLINK l
            set c [client_open]
            $c send FLUSHALL @
            wait_until {[r DBSIZE] == 0}
        }
    }]
}

finish
