# maxmemory-rss: the pages of memory stay within maxmemory, whatever has become of the sizes of values.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start
set allocator [info_field mem_allocator]
set oom "OOM command not allowed when used memory > 'maxmemory'."
set MB 1048576

# Sets keys first … last of strings of `least` to `most` bytes; ends with the first refusal, whose text it returns.
set set_many {
    local first, last, least, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
    local text = string.rep('x', most)
    for i = first, last do redis.call('SET', 'k' .. i, text:sub(1, least + i * 7919 % (most - least + 1))) end
}

# In short scripts: memory for a script is made before it begins.
proc set_many {first last least most} {
    set client [default_client]
    for {set at $first} {$at <= $last} {set at $end} {
        set end [expr {min($at + 200, $last + 1)}]
        set sent 0
        for {} {$at < $end} {incr at 10; incr sent} {
            $client send EVAL $::set_many 0 $at [expr {min($at + 10, $end) - 1}] $least $most
        }
        for {} {$sent > 0} {incr sent -1} {
            lassign [$client read_typed] type reply
            if {$type eq "error"} {set refusal $reply}
        }
        if {[info exists refusal]} {error $refusal}
    }
}

# Deletes all keys first … last but every fifth.
proc thin_out {first last} {
    r EVAL {for i = ARGV[1], ARGV[2] do if i % 5 > 0 then redis.call('DEL', 'k' .. i) end end} 0 $first $last
}

proc active {} {
    return [info_field allocator_active]
}

if {$allocator eq "libc"} {
    check_in 2 "where the allocator does not count pages, it stops the start" {
        set told [expr {[catch {with_server {maxmemory-rss yes} {}} answer] ? $answer : "it has started"}]
        regexp {maxmemory-rss cannot be enabled: this memory allocator does not tell how many pages it uses} $told
    } 1
    check "and CONFIG SET refuses it" {
        assert_equal [r CONFIG SET maxmemory-rss no] OK
        list [error_of {r CONFIG SET maxmemory-rss yes}] [r CONFIG GET maxmemory-rss]
    } {{ERR CONFIG SET failed (possibly related to argument 'maxmemory-rss') - maxmemory-rss cannot be enabled: this\
        memory allocator does not tell how many pages it uses} {maxmemory-rss no}}
    finish
}

check "it is off by default, and can be turned on and off" {
    assert_equal [r CONFIG GET maxmemory-rss] {maxmemory-rss no}
    assert_equal [info_field maxmemory_rss] no
    with_config {maxmemory-rss yes} {
        assert_equal [info_field maxmemory_rss] yes
        assert_equal [catch {info_field maxmemory_rss_state} state] [expr {$state eq "" ? 0 : 1}]
        with_config {maxmemory 1gb} {list [info_field maxmemory_rss_state] [info_field maxmemory_rss_purges]}
    }
} {fits 0}
check_in 2 "CONFIG REWRITE keeps it" {
    with_server {} {
        set path [$current_server folder]/rewritten.conf
        write_file $path "port 0\n"
        with_server [list include $path] {
            r CONFIG SET maxmemory-rss yes
            r CONFIG GET maxmemory-rss
        }
    }
} {maxmemory-rss yes}

check_in 2 "under allkeys-lru the pages stay within the limit while values change their sizes" {
    with_server {maxmemory 32mb maxmemory-policy allkeys-lru maxmemory-rss yes} {
        set highest 0
        foreach {least most} {100 300 300 900 60 150 700 1500} {
            for {set round 0} {$round < 5} {incr round} {
                set first [expr {1 + int(rand() * 1000000)}]
                set_many $first [expr {$first + 32000000 / 3 / ($least + $most)}] $least $most
                set highest [expr {max($highest, [active])}]
            }
        }
        assert {[info_field evicted_keys] > 0}
        # Freeing takes time, in which the client goes on as fast as it can.
        assert {$highest <= 1.25 * 32 * $::MB}
        wait_until {[active] <= 1.02 * 32 * $::MB}
        expr {[info_field used_memory] >= 0.6 * 32 * $::MB}
    }
} 1
check_in 2 "without defragmentation keys go, but never all of them" {
    with_server {maxmemory 48mb maxmemory-policy allkeys-lru maxmemory-rss yes activedefrag no} {
        set_many 1 200000 50 250
        set_many 1000001 1060000 700 1500
        assert {[info_field evicted_keys] > 0}
        assert_equal [info_field active_defrag_hits] 0
        wait_until {[active] <= 1.1 * 48 * $::MB}
        expr {[info_field used_memory] >= 23 * $::MB}
    }
} 1

check_in 2 "what moving brings back costs no key" {
    with_server {maxmemory-policy allkeys-lru maxmemory-rss yes activedefrag no} {
        set_many 1 150000 50 250
        thin_out 1 150000
        set before [r DBSIZE]
        r CONFIG SET maxmemory [expr {int([active] * 0.95)}] activedefrag yes
        wait_until {[info_field maxmemory_rss_state] eq "fits" && [active] <= [info_field maxmemory]}
        assert {[info_field active_defrag_hits] > 0}
        list [expr {[r DBSIZE] == $before}] [info_field evicted_keys]
    }
} {1 0}
check_in 2 "pages that hold nothing go back to the system at once" {
    with_server {maxmemory-policy noeviction maxmemory-rss yes} {
        set_many 1 60000 700 1500
        r SET kept x
        r CONFIG SET maxmemory [expr {int([info_field allocator_resident] * 0.5)}]
        for {set at 1} {$at <= 60000} {incr at 5000} {
            r EVAL {for i = ARGV[1], ARGV[1] + 4999 do redis.call('DEL', 'k' .. i) end} 0 $at
        }
        wait_until {[info_field allocator_resident] <= [info_field maxmemory]} 5000
        list [expr {[info_field maxmemory_rss_purges] > 0}] [r GET kept]
    }
} {1 x}

check_in 2 "under noeviction writes are refused, reads and connections never, until the pages fit again" {
    with_server {maxmemory-policy noeviction maxmemory-rss yes activedefrag no} {
        set_many 1 100000 50 250
        r CONFIG SET maxmemory [expr {[active] + 4 * $::MB}]
        # More of other sizes, as long as pages are left: they are the limit, before what lies in them.
        thin_out 1 50000
        catch {set_many 1000001 1100000 700 1500} refusal
        assert_match "$::oom*" $refusal
        assert {[info_field used_memory] < [info_field maxmemory]}
        assert {[active] <= 1.03 * [info_field maxmemory]}
        set client [client_open]
        assert_equal [list [$client call PING] [$client call STRLEN k100000]] [list PONG [r STRLEN k100000]]
        # Pages may have been given back meanwhile: then new keys are taken until they are in use again.
        set last 1100000
        wait_until {[catch {set_many [expr {$last + 1}] [incr last 20000] 700 1500} answer] &&
            [string match "$::oom*" $answer]}
        # Deleting is what helps.
        for {set at 1000001} {$at <= $last} {incr at 5000} {
            r EVAL {for i = ARGV[1], ARGV[1] + 4999 do redis.call('DEL', 'k' .. i) end} 0 $at
        }
        wait_until {![catch {r SET k1 [string repeat x 1000]}]}
        assert_equal [info_field evicted_keys] 0
        info_field maxmemory_rss_state
    }
} fits
check_in 2 "under noeviction defragmentation makes room, and no write is refused for long" {
    with_server {maxmemory-policy noeviction maxmemory-rss yes} {
        set_many 1 150000 50 250
        thin_out 1 150000
        r CONFIG SET maxmemory [expr {int([active] * 0.9)}]
        wait_until {[info_field maxmemory_rss_state] eq "fits"}
        r SET another [string repeat x 1000]
        expr {[active] <= 1.02 * [info_field maxmemory]}
    }
} 1
check_in 2 "a small instance whose pages cannot shrink goes on taking writes" {
    with_server {maxmemory-policy noeviction maxmemory-rss yes activedefrag no} {
        set_many 1 150000 50 250
        for {set at 0} {$at < 30} {incr at} {
            r EVAL {for i = ARGV[1], ARGV[1] + 4999 do if i % 40 > 0 then redis.call('DEL', 'k' .. i) end end} 0 \
                [expr {$at * 5000 + 1}]
        }
        r CONFIG SET maxmemory [expr {[active] - $::MB}]
        after 300
        assert {[info_field used_memory] < [info_field maxmemory] / 2}
        list [info_field maxmemory_rss_state] [r SET k1 x]
    }
} {holds OK}
check_in 2 "MEMORY DOCTOR says that the pages exceed the limit" {
    with_server {activedefrag no maxmemory-policy noeviction} {
        set_many 1 150000 50 250
        thin_out 1 150000
        r CONFIG SET maxmemory [expr {int([active] * 0.7)}]
        assert_match "*With maxmemory-rss yes it bounds the pages*" [r MEMORY DOCTOR]
        r CONFIG SET maxmemory-rss yes
        wait_until {[info_field maxmemory_rss_state] eq "holds"}
        r MEMORY DOCTOR
    }
} "*freeing more brings nothing back*" -match glob

finish
