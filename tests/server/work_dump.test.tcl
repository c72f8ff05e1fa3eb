# DUMP of a large value runs in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

proc fill_list {key elements} {
    r DEL $key
    r RPUSH $key {*}$elements
}
proc make_many {} {
    make_sets
    fill_list list [numbered 1 60000 element:]
    r SET string [string repeat "any text " 60000]
    foreach key {hash sorted stream groups} {
        r DEL $key
    }
    r HSET hash {*}[numbered_pairs 1 20000]
    r HEXPIREAT hash 9999999999 FIELDS 1 m0007
    r ZADD sorted {*}[lreverse [numbered_pairs 1 20000]]
    r EVAL {for i = 1, 40000 do redis.call('XADD', KEYS[1], i .. '-1', 'field', 'value' .. i) end} 1 stream
    r XGROUP CREATE stream group 0
    r XREADGROUP GROUP group consumer COUNT 1000 STREAMS stream >
}
proc change_many {} {
    change_sets
    r LSET list 30000 other
    r LPUSH list first
    r APPEND string more
    r SETRANGE string 300000 other
    r HDEL hash 500
    r HSET hash new 1
    r ZREM sorted 500
    r ZADD sorted 7 new
    r XDEL stream 5000-1
    r XACK stream group 100-1
    r XADD stream * field value
    r DEL list hash
    r RENAME string stream
}

check_works payload make_many change_many {
    {DUMP a} {DUMP list} {DUMP hash} {DUMP sorted} {DUMP stream} {DUMP string}
}

# What DEBUG OBJECT shows, without the address and what depends on the time.
proc shown_object {reply} {
    return [regsub -all {at:\S+|lru:\S+|lru_seconds_idle:\S+} $reply {}]
}
check "DEBUG OBJECT shows a large value as it was when the command came" {
    set keys {a list hash sorted stream string}
    lassign {} clients expected
    make_many
    set before [total_works]
    foreach key $keys {
        r MULTI
        r DEBUG OBJECT $key
        lappend expected [shown_object [lindex [r EXEC] 0]]
        assert_equal [shown_object [r DEBUG OBJECT $key]] [lindex $expected end]
    }
    assert_equal [total_works] [expr {$before + [llength $keys]}]
    paused {
        foreach key $keys {
            lappend clients [client_open]
            [lindex $clients end] send DEBUG OBJECT $key
            wait_for_works [llength $clients]
        }
        change_many
    }
    lmap client $clients shown $expected {
        expr {[shown_object [$client read]] eq $shown}
    }
} {1 1 1 1 1 1}

finish
