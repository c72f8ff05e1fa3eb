# Active defragmentation: memory that deleted values leave behind goes back to the system, and nothing else changes.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/busy.tcl
source $library/replica.tcl

# It begins where a megabyte can be gained, and takes as much time as it may. Blocks of 4 KB and more leave no gaps,
# so nodes are small.
set eager {
    list-max-listpack-size 4 stream-node-max-entries 5
    enable-debug-command local active-defrag-ignore-bytes 1mb active-defrag-threshold-lower 5
    active-defrag-cycle-min 75 active-defrag-cycle-max 75
}
server_start $eager
set allocator [info_field mem_allocator]

# Adds `count` items of 50 to 250 bytes each in values of one type, and takes four fifths of them away again: each
# by itself, or, where values close the gaps by themselves, with all 60 of its key.
set fill_and_thin {
    local kind, count = ARGV[1], tonumber(ARGV[2])
    local add = {
        string = function(i, text) redis.call('SET', 's' .. i, text) end,
        text = function(i, text) redis.call('SET', 't' .. i, text:rep(4)) end,
        hash = function(i, text) redis.call('HSET', 'h' .. i % 500, 'f' .. i, text) end,
        set = function(i, text) redis.call('SADD', 'u' .. i % 500, i .. text) end,
        list = function(i, text, key) redis.call('RPUSH', key, text) end,
        zset = function(i, text, key) redis.call('ZADD', key, i, i .. text:rep(5)) end,
        stream = function(i, text, key) redis.call('XADD', key, i + 1 .. '-0', 'f', text) end,
    }
    local remove = {
        string = function(i) redis.call('DEL', 's' .. i) end,
        text = function(i) redis.call('DEL', 't' .. i) end,
        hash = function(i) redis.call('HDEL', 'h' .. i % 500, 'f' .. i) end,
        set = function(i, text) redis.call('SREM', 'u' .. i % 500, i .. text) end,
    }
    local function text(i) return string.rep('x', 50 + i * 7919 % 201) end
    local function key(i) return kind .. math.floor(i / 60) end
    for i = 1, count do add[kind](i, text(i), key(i)) end
    for i = 1, count do
        if remove[kind] and i * 31 % 5 ~= 0 then remove[kind](i, text(i)) end
        if not remove[kind] and math.floor(i / 60) % 5 ~= 0 then redis.call('DEL', key(i)) end
    end
}

proc is_watched_by_sanitizers {} {
    return [expr {$::allocator eq "libc"}]
}

proc item_count {} {
    return [expr {[is_watched_by_sanitizers] ? 4000 : 60000}]
}

# Unused bytes in pages that are in use.
proc unused {} {
    return [info_field allocator_frag_bytes]
}

# What a client can see of all values.
proc picture {} {
    set values [lmap key [lsort [r KEYS *]] {list $key [r OBJECT ENCODING $key] [r DUMP $key] [r PEXPIRETIME $key]}]
    return [list [r DEBUG DIGEST] [r DBSIZE] $values]
}

foreach kind {string text list hash set zset stream} {
    check_in 2 "memory that $kind values have left comes back, and they stay as they are" {
        with_server [dict merge $eager {activedefrag no}] {
            r EVAL $fill_and_thin 0 $kind [item_count]
            set before [unused]
            set picture [picture]
            assert_equal [info_field active_defrag_hits] 0
            r CONFIG SET activedefrag yes
            wait_until {[info_field active_defrag_hits] > 100}
            if {![is_watched_by_sanitizers]} {
                wait_until {[unused] * 3 < $before && [info_field active_defrag_running] == 0}
                assert {[info_field total_active_defrag_time] >= 0}
            } else {
                set seen [info_field active_defrag_key_hits]
                wait_until {[info_field active_defrag_key_hits] > $seen + [r DBSIZE]}
            }
            expr {[picture] eq $picture}
        }
    } 1
}

check_in 2 "nothing moves where there is little to gain" {
    with_server {activedefrag yes} {
        if {[is_watched_by_sanitizers]} {return 0}
        r EVAL $fill_and_thin 0 string 5000
        after 1500
        info_field active_defrag_hits
    }
} 0

check_in 2 "at maxmemory less is enough" {
    with_server {maxmemory-policy noeviction} {
        if {[is_watched_by_sanitizers]} {return 1}
        r EVAL $fill_and_thin 0 string [item_count]
        after 1200
        assert_equal [info_field active_defrag_hits] 0
        set active [info_field allocator_active]
        r CONFIG SET maxmemory [expr {int($active * 0.9)}]
        wait_until {[info_field allocator_active] < [info_field maxmemory]}
        expr {[info_field active_defrag_hits] > 0}
    }
} 1

check_in 2 "once a pass has ended the server is idle" {
    with_server $eager {
        if {[is_watched_by_sanitizers]} {return 1}
        r EVAL $fill_and_thin 0 hash [item_count]
        wait_until {[info_field active_defrag_hits] > 0 && [info_field active_defrag_running] == 0}
        after 2500
        set hits [info_field active_defrag_hits]
        set misses [info_field active_defrag_misses]
        after 2500
        expr {[info_field active_defrag_hits] == $hits && [info_field active_defrag_misses] == $misses}
    }
} 1

check_in 2 "a pass ends where the last key is a large collection" {
    with_server $eager {
        if {[is_watched_by_sanitizers]} {return 0}
        r EVAL {for i = 1, 60000 do redis.call('HSET', 'h', i, string.rep('x', 50 + i * 7919 % 201)) end
            for i = 1, 60000 do if i % 5 > 0 then redis.call('HDEL', 'h', i) end end} 0
        wait_until {[info_field active_defrag_hits] > 0 && [info_field active_defrag_running] == 0}
        after 2500
        info_field active_defrag_running
    }
} 0

check_in 2 "turned on and off at every step, amid flushes, swaps, expiries and snapshots, it loses nothing" {
    with_server [dict merge $eager {active-defrag-cycle-us 50}] {
        foreach kind {hash zset list set stream string text} {
            r EVAL $fill_and_thin 0 $kind [expr {[item_count] / 8}]
            r SELECT 1
            r EVAL $fill_and_thin 0 $kind 500
            r SELECT 0
        }
        foreach key [lrange [lsort [r KEYS *]] 0 200] {r EXPIRE $key 10000}
        set digest [r DEBUG DIGEST]
        for {set i 0} {$i < 60} {incr i} {
            r CONFIG SET activedefrag [expr {$i % 2 ? "no" : "yes"}]
            if {$i % 10 == 0} {catch {r BGSAVE}}
            if {$i % 7 == 0} {r SWAPDB 0 1; r SWAPDB 0 1}
            if {$i % 11 == 0} {r SELECT 2; r EVAL $fill_and_thin 0 zset 300; r FLUSHDB ASYNC; r SELECT 0}
            if {$i % 13 == 0} {r EVAL {for i = 1, 100000 do redis.call('EXISTS', 'h1') end} 0}
            after 5
        }
        r CONFIG SET activedefrag yes
        wait_until {![info_field rdb_bgsave_in_progress]}
        assert_equal [info_field rdb_last_bgsave_status] ok
        assert_equal [r DEBUG DIGEST] $digest
        r SAVE
        r DEBUG RELOAD NOSAVE
        expr {[r DEBUG DIGEST] eq $digest}
    }
} 1

check_in 2 "turned on and off at every step, amid FLUSHALL, loads and busy scripts, it loses nothing" {
    with_server [dict merge $eager {active-defrag-cycle-us 50}] {
        set digests {}
        for {set i 0} {$i < 12} {incr i} {
            r CONFIG SET activedefrag [expr {$i % 2 ? "no" : "yes"}]
            r FLUSHALL [lindex {SYNC ASYNC} [expr {$i % 3 == 0}]]
            foreach kind {hash zset list stream string} {r EVAL $fill_and_thin 0 $kind [expr {[item_count] / 12}]}
            r CONFIG SET activedefrag yes
            if {$i % 4 == 1} {r SAVE; r DEBUG RELOAD NOSAVE}
            if {$i % 4 == 2} {with_busy [list EVAL $forever 0] {after 20; r SCRIPT KILL}}
            after 20
            lappend digests [r DEBUG DIGEST]
        }
        llength [lsort -unique $digests]
    }
} 1

check_in 2 "it cannot be turned on where the allocator does not tell how full its pages are" {
    with_server {activedefrag no} {
        catch {r CONFIG SET activedefrag yes} answer
        expr {$answer in {OK {ERR CONFIG SET failed (possibly related to argument 'activedefrag') - Active\
            defragmentation cannot be enabled: this memory allocator does not tell how full its pages are}}}
    }
} 1

finish
