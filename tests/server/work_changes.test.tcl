# Commands that change much of a value, or search it for long, run in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]
source $library/replica.tcl

server_start {enable-debug-command yes}

# Makes a long list of one element for each number i, by an expression of Lua: once, many elements at a time, and then
# from its payload, since a build that checks its values does so after each command.
proc fill_list {key count element} {
    global payload
    if {![info exists payload($count,$element)]} {
        r EVAL [string map [list ELEMENT $element] {
            local many = {}
            for i = 1, ARGV[1] do
                many[#many + 1] = ELEMENT
                if #many == 4000 or i == tonumber(ARGV[1]) then
                    redis.call('RPUSH', KEYS[1], unpack(many))
                    many = {}
                end
            end
        }] 1 new $count
        set payload($count,$element) [r DUMP new]
        r DEL new
    }
    r RESTORE $key 0 $payload($count,$element) REPLACE
}
proc make_list {} {
    fill_list list 200000 i
    r RPUSH list twin twin twin twin twin 7
}
check_changes make_list list {
    {LREM list 0 nosuch} {LREM list 0 twin} {LREM list 2 twin} {LREM list -2 7} {LREM list 1 199000}
    {LINSERT list BEFORE 199000 new} {LINSERT list AFTER twin new} {LINSERT list AFTER nosuch new}
}
proc make_twins {} {
    fill_list list 200000 'twin'
}
check_changes make_twins list {
    {LREM list 0 twin} {LREM list 199999 twin} {LREM list -150000 twin}
}

# Whole nodes are cut off, so that it takes more elements until that pays.
proc make_huge {} {
    fill_list list 800000 "string.rep(i % 1000, 20)"
}
check_changes make_huge list {
    {LTRIM list 790500 -1}
}

proc make_zset {} {
    fill_zset zset 1 $::many 7
}
check_changes make_zset zset {
    {ZREMRANGEBYRANK zset 0 9999} {ZREMRANGEBYRANK zset 7 -8} {ZREMRANGEBYSCORE zset 100 9000}
    {ZREMRANGEBYSCORE zset -inf (9972} {ZPOPMIN zset 9999} {ZPOPMAX zset 19999}
    {ZMPOP 1 zset MIN COUNT 9999} {ZMPOP 3 nosuch zset other MAX COUNT 19999} {BZMPOP 0 2 nosuch zset MIN COUNT 5000}
}
proc make_equal_scores {} {
    r DEL zset
    r ZADD zset {*}[concat {*}[lmap member [numbered 1 $::many] {list 0 $member}]]
}
check_changes make_equal_scores zset {
    {ZREMRANGEBYLEX zset (2 [8}
}

# Few members, but freeing them takes long. Popped ones are freed later.
proc make_large_members {} {
    r DEL zset
    foreach i [numbered 1 40] {
        r ZADD zset $i $i:[string repeat long 20000]
    }
}
check_changes make_large_members zset {
    {ZREMRANGEBYRANK zset 0 19}
}
check "few large members are popped at once" {
    make_large_members
    set before [total_works]
    r ZPOPMIN zset 20
    list [r ZCARD zset] [expr {[total_works] - $before}]
} {20 0}

# --- SPOP takes random members

proc make_set {} {
    fill_set set [numbered 1 $::many]
}

check "SPOP of many takes different members, which are gone" {
    foreach count {5000 19000} {
        make_set
        set before [total_works]
        set popped [r SPOP set $count]
        assert_equal [total_works] [expr {$before + 1}]
        assert_equal [llength [lsort -unique $popped]] $count
        assert_equal [r SCARD set] [expr {$::many - $count}]
        assert_equal [lsort [concat $popped [r SMEMBERS set]]] [lsort [numbered 1 $::many]]
    }
}
check "SPOP of many, and whoever looks at the key sees what it has left" {
    make_set
    paused {
        set c [send_work {SPOP set 5000}]
        assert_equal [r SCARD set] [expr {$::many - 5000}]
        assert_equal [llength [$c read]] 5000
    }
}

# --- Others meanwhile

check "short lists, and elements that are found soon, take no thread" {
    make_list
    r RPUSH short {*}[numbered 1 100]
    make_set
    make_zset
    set before [total_works]
    r LREM short 0 50
    r LINSERT short BEFORE 50 x
    r LREM list 1 3
    r LREM list -1 7
    r LINSERT list BEFORE 5 x
    r SPOP set 100
    r ZPOPMIN zset 100
    r ZMPOP 1 zset MAX COUNT 100
    r ZREMRANGEBYRANK zset 0 100
    r ZREMRANGEBYRANK zset 0 -1
    expr {[total_works] - $before}
} 0
check "a value that is being read is changed at once, and the reader gets what it was" {
    make_set
    set c [client_open]
    paused {
        $c send SUNION set set
        wait_for_works 1
        set popped [r SPOP set 5000]
    }
    assert_equal [llength $popped] 5000
    llength [$c read]
} 20000
check "a client that waited for many members gets them at once" {
    make_zset
    r RENAME zset other
    set c [client_open]
    $c send BZMPOP 0 1 zset MAX COUNT 15000
    wait_until {[info_field blocked_clients] == 1}
    set before [total_works]
    r RENAME other zset
    assert_equal [llength [lindex [$c read] 1]] 15000
    list [r ZCARD zset] [expr {[total_works] - $before}]
} {5000 0}
check "ZMPOP goes to replicas as what it has popped" {
    make_zset
    lassign [replica_sync] replica
    r ZMPOP 2 nosuch zset MAX COUNT 15000
    lindex [replica_commands $replica 2] end
} {ZPOPMAX zset 15000}
check "a key whose time comes meanwhile is changed, and then expires" {
    make_zset
    paused {
        set c [client_open]
        $c send PEXPIRE zset 200
        $c send ZPOPMIN zset 9999
        wait_for_works 1
        after 210
    }
    $c read
    assert_equal [expr {[llength [$c read]] > 9000}] 1
    r EXISTS zset
} 0
check "one that is emptied goes" {
    make_twins
    r LREM list 0 twin
    r EXISTS list
} 0
check "who watches the key runs no transaction" {
    make_list
    r WATCH list
    paused {
        set c [send_work {LREM list 0 twin}]
        r MULTI
        r PING
        assert_equal [r EXEC] (nil)
    }
    $c read
} 5
check "each change goes to the append-only file when it is done, and to replicas" {
    with_server {appendonly yes enable-debug-command yes aof-use-rdb-preamble no} {
        make_list
        make_zset
        make_set
        r COPY zset popped
        r PEXPIRE set 100000
        paused {
            set list [send_work {LREM list 0 twin}]
            r RPUSH other 1
            [client_open] send ZPOPMAX zset 15000
            wait_for_works 2
            [client_open] send SPOP set 15000
            wait_for_works 3
            [client_open] send BZMPOP 1 2 nosuch popped MAX COUNT 15000
            wait_for_works 4
            r RPUSH other 2
        }
        $list read
        wait_for_works 0
        set before [r DEBUG DIGEST]
        r DEBUG LOADAOF
        assert_equal [r DEBUG DIGEST] $before
        list [r ZCARD zset] [r SCARD set] [r ZCARD popped]
    }
} {5000 5000 5000}
check "what a client has changed that has gone goes to the append-only file, too" {
    with_server {appendonly yes enable-debug-command yes aof-use-rdb-preamble no} {
        make_list
        make_zset
        paused {
            foreach command {{LREM list 0 twin} {ZREMRANGEBYRANK zset 0 9999}} {
                set c [send_work $command]
                $c close
                wait_for_works 0
            }
        }
        assert_equal [list [r LLEN list] [r ZCARD zset]] {200001 10000}
        set before [r DEBUG DIGEST]
        r DEBUG LOADAOF
        assert_equal [r DEBUG DIGEST] $before
    }
}
check "a replica that gets all data meanwhile gets the change once" {
    with_server {repl-diskless-sync-delay 0 enable-debug-command yes} {
        make_list
        r DEBUG PAUSE-THREADS 1
        set c [send_work {LINSERT list AFTER twin new}]
        set replica [replica_open]
        $replica send PSYNC ? -1
        set offset [lindex [replica_line $replica] 2]
        set found [payload_digest [replica_payload $replica]]
        assert_equal [$c read] 200007
        assert_equal $found [r DEBUG DIGEST]
        replica_ack $replica $offset
        r DEBUG PAUSE-THREADS 0
        r SET k v
        replica_commands $replica 2
    }
} {{SELECT 0} {SET k v}}
check "a snapshot, FLUSHALL, RENAME and SWAPDB meanwhile find the changed value" {
    foreach {request count} {{RENAME list renamed} 200001 {SWAPDB 0 1} 200001 FLUSHALL 0
            {EVAL "return redis.call('COPY', 'list', 'copied')" 0} 200001} {
        r FLUSHALL
        make_list
        paused {
            set c [send_work {LREM list 0 twin}]
            r {*}$request
            assert_equal [$c read] 5
        }
        set found 0
        foreach key {renamed copied list} database {0 0 1} { ;# all that may have the list
            r SELECT $database
            set found [expr {max($found, [r LLEN $key])}]
        }
        r SELECT 0
        assert_equal $found $count
    }
    make_list
    paused {
        set c [send_work {LREM list 0 twin}]
        r SAVE
        $c read
        set digest [r DEBUG DIGEST]
        r DEBUG RELOAD NOSAVE
        assert_equal [r DEBUG DIGEST] $digest
    }
}

finish
