# LATENCY: delays by the disk.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/faults.tcl

server_start

# The events that a server noted whose disk is slow as `faults` says (calls that wait for 1200 ms), while the body
# runs. Noted is what takes at least a second: a busy machine should not make more of it.
proc noted {directives rules body} {
    with_faulty_server [dict merge {appendonly yes appendfsync no latency-monitor-threshold 1000} \
        $directives] {
        r SET a 1
        faults {*}$rules
        r LATENCY RESET
        uplevel 1 $body
        faults
        set events {}
        foreach event [r LATENCY LATEST] {
            lassign $event name time latest worst
            assert {abs($time - [clock seconds]) < 200}
            assert {$latest >= 1000 && $worst >= $latest}
            lappend events $name
        }
        foreach name $events {
            assert_equal [llength [lindex [r LATENCY HISTORY $name] 0]] 2
        }
        return [lsort $events]
    }
}

check_in 2 "a write to the append-only file that takes long" {
    noted {} {{write sleep=1200 *.incr.aof}} {r SET a 2}
} {aof-write aof-write-alone}

check_in 2 "a write while a snapshot is being written, too" {
    noted {rdb-key-save-delay 10000000} {{write sleep=1200 *.incr.aof}} {
        r BGSAVE
        r SET a 2
    }
} {aof-write aof-write-active-child}

check_in 2 "a write while a thread brings the file to the disk" {
    noted {appendfsync everysec} {{sync hold *.incr.aof} {write sleep=1200 *.incr.aof}} {
        # The first one begins the fdatasync; the next is held back for two seconds, and then waits for none.
        wait_until {[r SET a 2] eq "OK" && [info_field aof_pending_bio_fsync] == 1}
        r LATENCY RESET
        r SET a 3
        wait_until {[info_field aof_buffer_length] == 0}
    }
} {aof-write aof-write-pending-fsync}

check_in 2 "with appendfsync always, bringing the file to the disk" {
    noted {appendfsync always} {{sync sleep=1200 *.incr.aof}} {r SET a 2}
} aof-fsync-always

check_in 2 "with appendfsync everysec no client waits for the disk" {
    noted {appendfsync everysec} {{sync sleep=1200 *.incr.aof}} {
        wait_until {[r SET a 2] eq "OK" && [info_field aof_pending_bio_fsync] == 1}
    }
} {}

check_in 2 "a rewritten base put in its place" {
    noted {} {{rename sleep=1200 *.base.*}} rewrite_aof
} aof-rename

# A snapshot whose file takes long to be there.
proc with_slow_file {directives body} {
    noted [dict merge {appendonly no rdbcompression no} $directives] \
        {{open sleep=3000 temp-*}} $body
}

check_in 2 "a snapshot waits for the disk alone, whatever the size of values, and so do commands that change them" {
    with_slow_file {} {
        foreach key {appended overwritten replaced renamed deleted} {
            r SETRANGE $key 70000000 x
        }
        r LATENCY RESET
        r BGSAVE
        r APPEND appended x
        r SETRANGE overwritten 1000000 x
        r SET replaced x
        r RENAME renamed other
        r DEL deleted
        assert_equal [info_field rdb_bgsave_in_progress] 1
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
        assert {[info_field slices_last_longest_usec] < 1000000}
    }
} {}

check_in 2 "a command that waits until the key that it changes is saved" {
    with_slow_file {rdb-key-save-delay 1000000} {
        r DEBUG POPULATE 700 key 100000
        r LATENCY RESET
        set commands BGSAVE
        for {set i 0} {$i < 700} {incr i} {
            lappend commands "APPEND key:$i x"
        }
        [default_client] pipeline $commands
    }
} {fast-command rdb-early-save}

check_in 2 "a slice of a snapshot that takes long" {
    with_server {latency-monitor-threshold 1 rdb-save-slice-us 200000} {
        r DEBUG POPULATE 200000
        r LATENCY RESET
        r BGSAVE
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
        assert {[info_field slices_last_longest_usec] >= 1000}
        expr {"rdb-slice" in [lmap event [r LATENCY LATEST] {lindex $event 0}]}
    }
} 1

check_in 2 "a snapshot makes no process, so that there is never an event of fork" {
    with_server {latency-monitor-threshold 1} {
        r SET a 1
        r BGSAVE
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
        list [r LATENCY HISTORY fork] [r LATENCY RESET fork] [info_field latest_fork_usec]
    }
} {{} 0 0}

check_in 2 "below the threshold nothing is noted" {
    set rules {{write sleep=1200 *.incr.aof} {sync sleep=1200 *.incr.aof}}
    noted {latency-monitor-threshold 5000 appendfsync always} $rules {r SET a 2}
} {}

check_in 2 "LATENCY DOCTOR says what to do about a slow disk" {
    with_faulty_server {appendonly yes appendfsync always latency-monitor-threshold 80} {
        faults {write sleep=100 *.incr.aof} {sync sleep=100 *.incr.aof}
        r SET a 1
        faults
        set report [r LATENCY DOCTOR]
    }
    lmap word {aof-write: aof-fsync-always: everysec "disk is slow"} {
        expr {[string first $word $report] >= 0}
    }
} {1 1 1 1}

finish
