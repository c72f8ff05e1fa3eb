# Commands that take long run in another thread: their replies are those of the moment at which they came, whatever
# happens meanwhile, and no other client waits for them.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

# --- Clients

check "small commands run at once" {
    fill_set a {1 2 3}
    fill_set b [numbered 1 9]
    set before [total_works]
    r SINTER a b
    r SUNION a b
    r SDIFF b a
    expr {[total_works] - $before}
} 0
check "of a wrong type says the command at once" {
    make_zsets
    r RPUSH list x
    paused {
        foreach command {{ZUNION 2 za list} {ZINTER 2 za list} {ZDIFF 2 za list} {ZINTERCARD 2 za list}} {
            assert_match WRONGTYPE* [lindex [list [catch {r {*}$command} error] $error] 1]
        }
    }
    r DEL list
}
check "scripts run them at once" {
    make_sets
    set before [total_works]
    assert_equal [r EVAL {return #redis.call('SINTER', 'a', 'b')} 0] [r SINTERCARD 2 a b]
    expr {[total_works] - $before}
} 1
check "works wait for their turn in order, and those of clients that have gone are dropped" {
    make_sets
    set clients {}
    paused {
        foreach i {1 2 3 4 5 6} {
            lappend clients [set c [client_open]]
            $c send SINTERCARD 2 a b LIMIT $i
            wait_for_works $i
        }
        [lindex $clients 1] close
        [lindex $clients 4] close
        wait_for_works 4
    }
    lmap i {0 2 3 5} {[lindex $clients $i] read}
} {1 3 4 6}
check "a client that is killed while its command runs leaves nothing" {
    make_sets
    foreach i {1 2 3 4 5 6 7 8} {
        set c [client_open]
        set id [$c call CLIENT ID]
        $c send SUNION a b
        r CLIENT KILL ID $id
        $c close
    }
    wait_for_works 0
    r FLUSHALL
    wait_until {[info_field lazyfree_pending_objects] == 0}
}
check "CLIENT UNBLOCK does not end it" {
    make_sets
    set c [client_open]
    set id [$c call CLIENT ID]
    paused {
        $c send SINTERCARD 2 a b
        wait_for_works 1
        assert_equal [r CLIENT UNBLOCK $id ERROR] 0
    }
    expr {[$c read] == [r SINTERCARD 2 a b]}
} 1
check "a client that wants no reply gets none" {
    make_sets
    set c [client_open]
    $c send CLIENT REPLY SKIP
    $c send SUNION a b
    $c send ECHO next
    assert_equal [$c read] next
    $c send CLIENT REPLY OFF
    $c send SUNION a b
    $c call CLIENT REPLY ON
} OK
check "FLUSHALL meanwhile takes nothing from it" {
    make_sets
    set expected [lsort [r SDIFF a b]]
    set c [client_open]
    paused {
        $c send SDIFF a b
        wait_for_works 1
        r FLUSHALL
        assert_equal [r DBSIZE] 0
    }
    expr {[lsort [$c read]] eq $expected}
} 1
check "its time is in SLOWLOG and COMMANDLOG, with its arguments" {
    make_sets
    r CONFIG SET slowlog-log-slower-than 0
    r SLOWLOG RESET
    r SUNIONCARD 2 a b
    set entry [lsearch -inline -index 3 [r SLOWLOG GET 10] {SUNIONCARD 2 a b}]
    r CONFIG RESETSTAT
    r SUNIONCARD 2 a b
    regexp {calls=1,usec=(\d+)} [r INFO commandstats] _ usec
    r CONFIG SET slowlog-log-slower-than 10000
    expr {[lindex $entry 2] > 100 && $usec > 100}
} 1
check "the server stops while commands run and wait" {
    with_server {} {
        make_sets
        foreach i {1 2 3 4 5} {
            [client_open] send SUNION a b
            [client_open] send SUNIONSTORE to$i a b
        }
        catch {r SHUTDOWN NOSAVE}
    }
}

# --- What they write

check "the command goes to the append-only file when it comes" {
    with_server {appendonly yes enable-debug-command yes aof-use-rdb-preamble no} {
        make_sets
        r SET to old EX 1000
        paused {
            set c [send_work {SUNIONSTORE to a b}]
            change_sets
        }
        $c read
        r SET expiring old PX 20
        paused {
            set c [send_work {SUNIONSTORE expiring a bb}]
            after 30
        }
        $c read
        paused {
            set c [send_work {SDIFFSTORE other a bb}]
            $c close
            wait_for_works 0
            r SADD bb 1 2 3
        }
        set before [list [r DEBUG DIGEST] [r PTTL to] [r SCARD to] [r EXISTS other expiring]]
        r DEBUG LOADAOF
        assert_equal [list [r DEBUG DIGEST] [r PTTL to] [r SCARD to] [r EXISTS other expiring]] $before
    }
}
check "a snapshot that begins meanwhile has the result" {
    make_sets
    r DEL to
    paused {
        set c [send_work {SUNIONSTORE to a b}]
        r SAVE
        $c read
        set digest [r DEBUG DIGEST]
        r DEBUG RELOAD NOSAVE
        assert_equal [r DEBUG DIGEST] $digest
    }
}
check "FLUSHALL, SWAPDB, RENAME and COPY meanwhile find the result" {
    foreach {request database key} {{SWAPDB 0 1} 1 to {RENAME to renamed} 0 renamed {COPY to copied REPLACE} 0 copied
            {COPY to to DB 2 REPLACE} 2 to {MOVE to 3} 3 to} {
        r FLUSHALL
        make_sets
        paused {
            set c [send_work {SINTERSTORE to a b}]
            r {*}$request
            set count [$c read]
        }
        r SELECT $database
        assert_equal [r SCARD $key] $count
        r SELECT 0
    }
    make_sets
    paused {
        set c [send_work {SINTERSTORE to a b}]
        r FLUSHALL
        assert {[$c read] > 0}
        r DBSIZE
    }
} 0
check "a client that watches the key runs no transaction, one that waits for it is served" {
    r FLUSHALL
    make_sets
    r WATCH to
    paused {
        set c [send_work {SUNIONSTORE to a b}]
        r MULTI
        r PING
        assert_equal [r EXEC] (nil)
    }
    $c read
    r DEL to
    set c [client_open]
    $c send BRPOPLPUSH from to 0
    wait_blocked 1
    paused {
        set stores [send_work {SUNIONSTORE to a b}]
        r RPUSH from x
        $stores read
    }
    error_of {$c read}
} "WRONGTYPE Operation against a key holding the wrong kind of value"
check "many clients that store under one key do so in their order" {
    r FLUSHALL
    make_sets
    set before [total_works]
    paused {
        set clients [lmap command {{SUNIONSTORE to a b} {SINTERSTORE to a b} {SDIFFSTORE to b a}} {
            set c [client_open]
            $c send {*}$command
            wait_until {[total_works] > $before}
            incr before
            set c
        }]
    }
    set replies [lmap c $clients {$c read}]
    list [expr {[r SCARD to] == [lindex $replies 2]}] [r SISMEMBER to 20001] [r SISMEMBER to 20000]
} {1 1 0}
check "keys whose values are being made or changed are counted and listed meanwhile" {
    r FLUSHALL
    make_sets
    r SET to old
    foreach key {a to b} {
        r EXPIRE $key 1000
    }
    set looks {{DBSIZE} {KEYS *} {KEYS [a-c]} {KEYS to} {INFO keyspace}}
    proc seen {looks} {
        return [lmap look $looks {lsort [regsub {avg_ttl=\d+} [r {*}$look] ""]}]
    }
    set before [seen $looks]
    paused {
        set clients [list [send_work {SPOP a 5000}]]
        foreach command {{SUNIONSTORE to b c} {SUNIONSTORE new b c}} {
            lappend clients [client_open]
            [lindex $clients end] send {*}$command
            wait_for_works [llength $clients]
        }
        assert_equal [seen $looks] $before
        r SELECT 1
        assert_equal [list [r DBSIZE] [r KEYS *]] {0 {}}
        r SELECT 0
        wait_for_works 3
    }
    foreach c $clients {
        $c read
    }
    list [r DBSIZE] [lsort [r KEYS *]]
} {10 {a b c d e f g h new to}}
check "a key that expires while its value is being changed is listed no longer" {
    r FLUSHALL
    make_sets
    paused {
        set c [client_open]
        $c send PEXPIRE a 300
        $c send SPOP a 5000
        wait_for_works 1
        wait_until {[r KEYS {[ab]}] eq "b"}
        wait_for_works 1
    }
    list [$c read] [llength [$c read]] [r EXISTS a]
} {1 5000 0}

finish
