# The append-only file, when the server is killed before any call on a file, and when any call fails: the
# next start finds all that was acknowledged, whole.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/faults.tcl

server_start

# The elements whose addition the current server has acknowledged, in the body of a sweep.
set acknowledged {}

proc add {value} {
    r RPUSH list $value
    lappend ::acknowledged $value
}

# Some changes, single ones and a transaction.
proc change {round} {
    add $round:1
    r MULTI
    r INCR a
    r INCR b
    r EXEC
    add $round:2
}

# All acknowledged changes are there, at most one more, and no half transaction.
proc assert_kept {} {
    set values [r LRANGE list 0 -1]
    set count [llength $::acknowledged]
    assert_equal [lrange $values 0 $count-1] $::acknowledged
    assert {[llength $values] <= $count + 1}
    assert {[r GET a] eq [r GET b]}
    set ::acknowledged $values
}

# The child may live a moment longer than the server, whose next start would leave its file alone.
proc assert_killed {} {
    assert_equal [lindex [$::current_server wait_exit] 1] SIGKILL
    wait_until {![works_there [$::current_server data]]}
}

proc works_there {folder} {
    foreach link [glob /proc/*/cwd] {
        if {![catch {file readlink $link} path] && $path eq $folder} {
            return 1
        }
    }
    return 0
}

proc start_again {{directives {}}} {
    $::current_server launch_with $directives
    set ::default_client ""
}

# The manifest names each base that is there; the history is deleted by another thread.
proc assert_bases_named {} {
    wait_until {[bases_there] eq [lsort [regexp -all -inline {appendonly\.aof\.\d+\.base\.\w+} [manifest]]]}
}

proc bases_there {} {
    return [lsort [lmap path [aof_files $::current_server *.base.*] {file tail $path}]]
}

# The history is deleted by another thread.
proc wait_settled {} {
    wait_rewritten
    wait_until {![$::current_server is_running] || [llength [aof_files $::current_server *.aof.*.*]] == 2}
}

# Makes what the rewrites of a sweep begin with.
proc fill_and_settle {} {
    r DEBUG POPULATE 200 key 100
    rewrite_aof
    wait_settled
}

proc with_sweep {directives body} {
    set ::acknowledged {}
    uplevel 1 [list with_faulty_server [dict merge {appendfsync always} $directives] $body]
}

# --- Kills

# After a power failure only `always` keeps every acknowledged change. A killed process keeps them in any mode in which
# no change waits for fsync.
foreach {how directives} {
    "appendfsync always" {}
    "appendfsync no" {appendfsync no}
} {
    check_in 2 "a kill before any call of a series of changes, with $how" {
        with_sweep [dict merge {appendonly yes} $directives] {
            set round 0
            set calls [for_each_call crash,nth {change [incr round]} {
                assert_killed
                start_again
                assert_kept
            }]
            expr {$calls >= [llength [fault_hits]] && $calls >= 3}
        }
    } 1
}

# The checks of a BGREWRITEAOF with changes before it, meanwhile and after it.
proc sweep_rewrite {directives} {
    with_sweep [dict merge {appendonly yes} $directives] {
        set round 0
        r DEBUG POPULATE 200 key 100
        rewrite_aof
        set calls [for_each_call crash,nth {
            add [incr round]:before
            r BGREWRITEAOF
            change $round
            wait_settled
            add $round:after
        } {
            assert_killed
            start_again
            assert_kept
            assert_nothing_left
            assert_bases_named
            assert_equal [r EXISTS key:0 key:199] 2
        }]
        assert {$calls >= 30}
        # Nothing has piled up: old files are gone.
        rewrite_aof
        wait_settled
        llength [aof_files $::current_server *.aof.*.*]
    }
}

check_in 2 "a kill before any call of a rewrite" {sweep_rewrite {}} 2
check_soak "a kill before any call of a rewrite, into commands" {sweep_rewrite {aof-use-rdb-preamble no}} 2
check_soak "a kill before any call of a rewrite, without fsync" {sweep_rewrite {appendfsync no}} 2

check_in 2 "a kill before any call, when the append-only file is turned on while the server runs" {
    with_sweep {appendonly no} {
        add first
        r SAVE
        set turned_on 0
        set calls [for_each_call crash,nth {
            r CONFIG SET appendonly yes
            wait_until {![$::current_server is_running] ||
                [file exists [data_file appendonlydir/appendonly.aof.manifest]]}
            wait_rewritten
            set turned_on 1
            add second
        } {
            assert_killed
            # Until it is turned on, only the snapshot counts.
            start_again {appendonly yes}
            assert_kept
            assert_nothing_left
            set acknowledged first
            $current_server kill
            file delete -force [data_file appendonlydir]
            start_again {appendonly no}
        }]
        list [expr {$calls >= 20}] $turned_on
    }
} {1 1}

check_in 2 "a kill before any call of a first start with an append-only file" {
    with_sweep {appendonly no} {
        add first
        r SAVE
        set calls [for_each_call crash,nth {
            $current_server kill
            file delete -force [data_file appendonlydir]
            start_again {appendonly yes}
        } {
            start_again
            assert_kept
            assert_nothing_left
        }]
        expr {$calls >= 15}
    }
} 1

# --- Errors

# A rewrite in which the K-th call fails, or all from then on, and what is found after it.
proc sweep_errors {action directives} {
    with_sweep [dict merge {appendonly yes} $directives] {
        set round 0
        fill_and_settle
        set calls [for_each_call $action {
            incr round
            catch {r BGREWRITEAOF}
            wait_rewritten
        } {
            # Killed in this state: what is on the disk must suffice.
            set ::default_client ""
            set digest [r DEBUG DIGEST]
            server_again crash
            assert_equal [r DEBUG DIGEST] $digest
            assert_nothing_left
            change $round
            rewrite_aof
            assert_equal [info_field aof_last_bgrewrite_status] ok
            server_again crash
            assert_kept
        }]
        expr {$calls >= 20}
    }
}

check_in 2 "whichever call of a rewrite fails, the next start finds all data" {sweep_errors EIO,nth {}} 1
check_soak "from whatever call of a rewrite on all fail: the next start finds all data" {sweep_errors ENOSPC,from {}} 1

# Changes in which the K-th call fails: refused until it is over, and then goes on without a restart.
proc sweep_changes {action directives} {
    with_sweep [dict merge {appendonly yes} $directives] {
        set round 0
        fill_and_settle
        set calls [for_each_call $action {
            incr round
            add $round:before
            r BGREWRITEAOF
            change $round
            wait_rewritten
            add $round:after
        } {
            set ::default_client ""
            wait_until {![catch {r DEL probe}]}
            wait_until {[info_field aof_last_write_status] eq "ok"}
            wait_rewritten
            wait_written
            assert_listed
            set digest [r DEBUG DIGEST]
            server_again crash
            assert_equal [r DEBUG DIGEST] $digest
            assert {[r GET a] eq [r GET b]}
        }]
        expr {$calls >= 20}
    }
}

# A disconnected client does not know whether its last change was made: it may be there, too.
proc assert_listed {} {
    set values [r LRANGE list 0 -1]
    foreach value $::acknowledged {
        assert {$value in $values}
    }
}

foreach action {EIO,nth ENOSPC,from} {
    foreach policy {always everysec} {
        check_soak "calls of changes and rewrites fail ($action, $policy): all is well when that is over" {
            sweep_changes $action [list appendfsync $policy]
        } 1
    }
}

finish
