# LATENCY: what held the server up at the disk, and in making a child.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/faults.tcl

server_start

# The events that a server noted whose disk is slow as `faults` says (calls that wait for 100 ms), while the body
# runs. Noted is what takes at least 80 ms: a busy machine should not make more of it.
proc noted {directives faults body} {
    with_faults {
        with_server [dict merge {appendonly yes appendfsync no latency-monitor-threshold 80} $directives] {
            r SET a 1
            fault {*}$faults
            r LATENCY RESET
            uplevel 1 $body
            fault
            set events {}
            foreach event [r LATENCY LATEST] {
                lassign $event name time latest worst
                assert {abs($time - [clock seconds]) < 20}
                assert {$latest >= 80 && $worst >= $latest}
                lappend events $name
            }
            foreach name $events {
                assert_equal [llength [lindex [r LATENCY HISTORY $name] 0]] 2
            }
            return [lsort $events]
        }
    }
}

check "a write to the append-only file that takes long" {
    noted {} {write .incr.aof 100} {r SET a 2}
} {aof-write aof-write-alone}

check "a write while a child writes, too" {
    noted {rdb-key-save-delay 1000000} {write .incr.aof 100} {
        r BGSAVE
        r SET a 2
    }
} {aof-write aof-write-active-child}

check "a write while a thread brings the file to the disk" {
    noted {appendfsync everysec} {fdatasync .incr.aof 3500 write .incr.aof 100} {
        # The first one begins the fdatasync; the next is held back for two seconds, and then waits for none.
        wait_until {[r SET a 2] eq "OK" && [info_field aof_pending_bio_fsync] == 1}
        r LATENCY RESET
        r SET a 3
        wait_until {[info_field aof_buffer_length] == 0}
    }
} {aof-write aof-write-pending-fsync}

check "with appendfsync always, bringing the file to the disk" {
    noted {appendfsync always} {fdatasync .incr.aof 100} {r SET a 2}
} aof-fsync-always

check "with appendfsync everysec nobody waits for the disk" {
    noted {appendfsync everysec} {fdatasync .incr.aof 100} {
        wait_until {[r SET a 2] eq "OK" && [info_field aof_pending_bio_fsync] == 1}
    }
} {}

check "a rewritten base put in its place" {
    noted {} {rename .base. 100} rewrite_aof
} aof-rename

check "the removal of what a child left" {
    noted {rdb-key-save-delay 1000000} {unlink temp- 100} {
        r BGSAVE
        exec pkill -KILL -P [$::current_server pid]
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
    }
} rdb-unlink-temp-file

# Commands: what makes the child.
foreach {command wait} {BGSAVE rdb_bgsave_in_progress BGREWRITEAOF aof_rewrite_in_progress} {
    check "a fork for $command that takes long" {
        noted {} {fork - 100} {
            r $::command
            wait_until {[info_field $::wait] == 0}
            assert {[info_field latest_fork_usec] >= 80000}
        }
    } {command fork}
}

check "below the threshold nothing is noted" {
    noted {latency-monitor-threshold 5000 appendfsync always} {write .incr.aof 100 fdatasync .incr.aof 100} {r SET a 2}
} {}

check "LATENCY DOCTOR says what to do about a slow disk" {
    with_faults {
        with_server {appendonly yes appendfsync always latency-monitor-threshold 80} {
            fault write .incr.aof 100 fdatasync .incr.aof 100 fork - 100
            r SET a 1
            r BGSAVE
            fault
            set report [r LATENCY DOCTOR]
        }
    }
    lmap word {aof-write: aof-fsync-always: fork: everysec "longer a fork" "disk is slow"} {
        expr {[string first $word $report] >= 0}
    }
} {1 1 1 1 1 1}

finish
