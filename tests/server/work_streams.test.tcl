# Streams of which XTRIM looks at many entries one by one are trimmed in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]
source $library/replica.tcl

server_start {enable-debug-command yes}

# A stream of $many entries: the groups have read 15000, 12000 and all of them, and acknowledged every third, the first
# 10000, and all but one. It is made once, since a build that checks its values does so after each command.
proc make_stream {} {
    global payload
    if {![info exists payload]} {
        r EVAL {
            local count = tonumber(ARGV[1])
            for i = 1, count do
                redis.call('XADD', KEYS[1], i .. '-1', 'field', i % 100)
            end
            local function make(group, read, is_acknowledged)
                redis.call('XGROUP', 'CREATE', KEYS[1], group, 0)
                for from = 1, read, 500 do
                    local consumer = 'consumer' .. from % 7
                    redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', 500, 'STREAMS', KEYS[1], '>')
                end
                local ids = {}
                for i = 1, read do
                    if is_acknowledged(i) then
                        ids[#ids + 1] = i .. '-1'
                    end
                    if #ids == 1000 or (i == read and #ids > 0) then
                        redis.call('XACK', KEYS[1], group, unpack(ids))
                        ids = {}
                    end
                end
            end
            make('first', 15000, function(i) return i % 3 == 0 end)
            make('second', 12000, function(i) return i <= 10000 end)
            make('third', count, function(i) return i ~= 77 end)
        } 1 stream $::many
        set payload [r DUMP stream]
    }
    r RESTORE stream 0 $payload REPLACE
}
proc make_acknowledged {} {
    make_stream
    r XGROUP DESTROY stream first
}
check_changes make_stream stream {
    {XTRIM stream MAXLEN = 5 DELREF} {XTRIM stream DELREF MINID 15001} {XTRIM stream MAXLEN ~ 4000 LIMIT 15000 DELREF}
    {XTRIM stream MAXLEN 100 ACKED} {XTRIM stream MINID 11900 ACKED} {XTRIM stream MAXLEN 19400 ACKED}
}
check_changes make_acknowledged stream {
    {XTRIM stream MAXLEN 0 ACKED} {XTRIM stream MAXLEN ~ 0 LIMIT 100000 ACKED} {XTRIM stream MAXLEN 0 DELREF}
}

check "trimming that looks at few entries takes no thread, nor does any without groups, without options, or of XADD" {
    make_stream
    r XTRIM stream MAXLEN 19500 ACKED ;# notes how far it has looked
    r XACK stream first 500-1 502-1
    set before [total_works]
    set replies [list [r XTRIM stream MAXLEN 100000 ACKED] [r XTRIM stream MINID 1500 DELREF]]
    make_acknowledged
    lappend replies [r XTRIM stream MAXLEN 19950 ACKED] [r XTRIM stream MAXLEN 19949 ACKED]
    r XADD stream MAXLEN 5 DELREF 99999-1 field value
    lappend replies [r XLEN stream]
    make_stream
    lappend replies [r XTRIM stream MAXLEN 10]
    make_acknowledged
    foreach group {second third} {
        r XGROUP DESTROY stream $group
    }
    lappend replies [r XTRIM stream MAXLEN 5000 DELREF] [r XTRIM stream MAXLEN 10 ACKED]
    lappend replies [expr {[total_works] - $before}]
} {0 1000 50 1 5 19990 15000 4990 0}
check "what was acknowledged since an earlier trimming is trimmed" {
    make_stream
    r XTRIM stream MAXLEN 0 ACKED
    set left [r XLEN stream]
    r XACK stream first 500-1 502-1 20000-1
    r XACK stream second 500-1
    list [r XTRIM stream MAXLEN 0 ACKED] [expr {$left - [r XLEN stream]}]
} {2 2}
check "a stream that a client is still reading is trimmed at once" {
    make_stream
    set c [client_open]
    paused {
        $c send DUMP stream
        wait_for_works 1
        set removed [r XTRIM stream MAXLEN 10 DELREF]
    }
    r RESTORE other 0 [$c read] REPLACE
    list $removed [r XLEN other]
} {19990 20000}
check "what was released while the work waited counts" {
    make_acknowledged
    paused {
        set c [send_work {XTRIM stream MAXLEN 0 ACKED}]
        r XACK stream third 77-1 ;# makes it finish first
    }
    list [$c read] [r XTRIM stream MAXLEN 0 ACKED]
} {9999 1}

# The commands run on the stream; the digests before and after all data was loaded from the append-only file.
proc trimmed_and_loaded {gone} {
    set digests {}
    foreach make {make_stream make_acknowledged make_stream} command {
        {XTRIM stream MAXLEN 0 ACKED} {XTRIM stream MAXLEN = 300 ACKED} {XTRIM stream MINID 17000 DELREF}
    } {
        $make
        paused {
            set c [send_work $command]
            if {$gone} {
                $c close
                wait_for_works 0
            }
            r SET other x
        }
        if {!$gone} { assert_equal [expr {[$c read] > 2000}] 1 }
        wait_for_works 0
        r XADD stream * field value
        set before [r DEBUG DIGEST]
        r DEBUG LOADAOF
        assert_equal [r DEBUG DIGEST] $before
        lappend digests [r XLEN stream]
    }
    return $digests
}
foreach gone {0 1} {
    check "the append-only file makes the same changes (the client has gone: $gone)" {
        with_server {appendonly yes enable-debug-command yes aof-use-rdb-preamble no} {
            trimmed_and_loaded $gone
        }
    } {16668 10002 3002}
}
check "a replica makes the same changes" {
    with_server {enable-debug-command yes repl-diskless-sync-delay 0} {
        make_stream
        with_replica_of_this {
            foreach command {{XTRIM stream MAXLEN 0 ACKED} {XTRIM stream MINID 17000 DELREF}} {
                set before [total_works]
                r {*}$command
                assert_equal [total_works] [expr {$before + 1}]
                wait_same $replica
            }
        }
        r XLEN stream
    }
} 3001
# The names and first arguments of the commands of the next unit of several.
proc next_unit {replica} {
    set unit {}
    while {[set command [replica_command $replica]] ne "MULTI"} {}
    while {$command ne "EXEC"} {
        set command [replica_command $replica]
        if {[lindex $command 0] eq "SELECT" || $command eq "EXEC"} { continue }
        lappend unit [lrange $command 0 2]
    }
    return [lsort -unique $unit]
}
check "it is propagated as XDEL, XACK and XTRIM, in one unit" {
    r CONFIG SET repl-diskless-sync-delay 0
    make_acknowledged
    lassign [replica_sync] replica
    paused {
        set c [send_work {XTRIM stream MINID 19990 DELREF}]
        r EXISTS stream
    }
    $c read
    set units [list [next_unit $replica]]
    make_acknowledged
    r XTRIM stream MAXLEN 19000 ACKED
    lappend units [next_unit $replica]
} {{{XACK stream second} {XACK stream third} {XTRIM stream MAXLEN}} {{XDEL stream 1-1} {XDEL stream 513-1}}}

finish
