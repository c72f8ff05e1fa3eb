# The append-only file on a disk that fails or is slow: the server goes on, reports it, loses nothing and recovers.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/faults.tcl

server_start

proc with_faulty_aof {directives body} {
    uplevel 1 [list with_faulty_server [dict merge {appendonly yes} $directives] $body]
}

proc refusal {text} {
    return "MISCONF Errors writing to the AOF file: $text"
}

# Three rewrites in a row that fail.
proc fail_rewrites {} {
    with_faults {{write EIO temp-rewriteaof*}} {
        foreach failures {1 2 3} {
            r BGREWRITEAOF
            wait_until {[info_field aof_rewrites_consecutive_failures] == $failures}
        }
    }
}

proc is_refused {} {
    return [catch {r SET probe 1}]
}

# ROOM: space on the disk for only a part of the next change.
foreach {what rules text} {
    "no space" {{write ENOSPC *.incr.aof}} "No space left on device"
    "half of the bytes" {{write ENOSPC,after=ROOM *.incr.aof}} "No space left on device"
    "an error" {{write EIO *.incr.aof}} "Input/output error"
    "half of the bytes, which cannot be taken back"
        {{write ENOSPC,after=ROOM *.incr.aof} {truncate EIO *.incr.aof}} "No space left on device"
} {
    check_in 2 "write: $what: changes are refused until it is over, and none is lost" {
        with_faulty_aof {} {
            r SET a 1
            wait_written
            faults {*}[string map [list ROOM [expr {[string length [aof_bytes]] + 13}]] $rules]
            r SET b 2
            assert_equal [error_of {r SET c 3}] [refusal $text]
            assert_equal [error_of {r PING}] [refusal $text]
            assert_equal [r GET b] 2
            assert_equal [info_field aof_last_write_status] err
            faults
            wait_until {![is_refused]}
            assert_equal [info_field aof_last_write_status] ok
            r SET d 4
            wait_written
            server_again crash
            r MGET a b c d
        }
    } {1 2 (nil) 4}
}

check_in 2 "write: with appendfsync always, a change that is not written is not acknowledged" {
    with_faulty_aof {appendfsync always} {
        r SET a 1
        set clients {}
        foreach key {b c} {
            lappend clients [client_open]
        }
        faults {write ENOSPC *.incr.aof}
        [lindex $clients 0] send SET b 1
        wait_until {[[lindex $clients 0] is_closed]}
        assert_equal [error_of {[lindex $::clients 1] call SET c 1}] [refusal "No space left on device"]
        faults
        wait_until {![is_refused]}
        wait_written
        server_again crash
        r MGET a b c
    }
} {1 1 (nil)}

check_in 2 "with appendfsync always, a client whose FLUSHALL is not written is disconnected without a reply" {
    with_faulty_aof {appendfsync always enable-debug-command yes} {
        r DEBUG POPULATE 100000
        set client [client_open]
        with_faults {{write ENOSPC *.incr.aof}} {
            $client send FLUSHALL
            catch {$client read} answer
        }
        assert_equal [list $answer [info_field blocked_clients]] {{the server closed the connection} 0}
        wait_until {![is_refused]}
        r KEYS *
    }
} probe

foreach policy {everysec always} {
    check_in 2 "fsync fails: changes are refused until a rewrite has succeeded (appendfsync $policy)" {
        with_faulty_aof [list appendfsync $policy] {
            r SET a 1
            set client [client_open]
            # The rewrite waits until the test has read the state before it.
            faults {sync EIO *.incr.aof} {sync hold temp-rewriteaof*}
            $client send SET b 2
            if {$policy eq "always"} {
                wait_until {[$client is_closed]}
            } else {
                $client read
            }
            wait_until {[info_field aof_last_write_status] eq "err"}
            assert_equal [error_of {r SET c 3}] [refusal "Input/output error"]
            faults
            wait_until {![is_refused]}
            assert_equal [info_field aof_last_write_status] ok
            assert {[info_field aof_rewrites] > 0}
            r SET d 4
            wait_written
            server_again crash
            r MGET a b c d
        }
    } {1 2 (nil) 4}
}

# Two requests in one loop iteration: the first is a change, the second causes the fsync. Returns the replies.
proc replies_to_change {request} {
    set client [client_open]
    with_faults {{sync EIO,nth=1 *.incr.aof}} {
        catch {$client pipeline [list {SET b 2} $request]} answer
    }
    return $answer
}

foreach {what request} {
    "a rewrite begins" BGREWRITEAOF
    "a reply is too long to be held" {GET long}
    "it is turned off" {CONFIG SET appendonly no}
    "it is loaded" {DEBUG LOADAOF}
} {
    check_in 2 "with appendfsync always, a change whose fsync fails is not acknowledged: $what" {
        with_faulty_aof {appendfsync always} {
            r SET long [string repeat x 500000]
            assert_equal [replies_to_change $request] "the server closed the connection"
            wait_until {![is_refused]}
            r SET c 3
            r GET c
        }
    } 3
}

check_in 2 "with appendfsync always, a change is not acknowledged when another client's request meets an error" {
    with_faulty_aof {appendfsync always} {
        set clients [clients_in_order]
        with_faults {{sync EIO,nth=1 *.incr.aof}} {
            # The server reads both requests in one iteration of its loop.
            at_once {
                [lindex $clients 0] send SET b 2
                [lindex $clients 1] send BGREWRITEAOF
            }
            catch {[lindex $::clients 1] read}
        }
        [lindex $clients 0] is_closed
    }
} 1

# What a client reads of a change under `always`, after an fsync of everysec that the loop has not heard of has failed.
proc answer_after_failed_fsync {directives} {
    with_faulty_aof [dict merge {appendfsync everysec} $directives] {
        set other [client_open]
        set loop_waits {open hold temp-*.rdb}
        with_faults [list {sync EIO,hold,nth=1 *.incr.aof} $loop_waits] {
            r SET a 1
            wait_until {[fault_hits sync*] ne {}} ;# else the loop's own call may be the first
            r CONFIG SET appendfsync always
            # The loop meets the other client's request and the end of fsync together, after SAVE.
            [default_client] send SAVE
            wait_until {[fault_hits open*] ne {}}
            $other send SET b 2
            faults $loop_waits
            after 3000 ;# the thread needs some microseconds, if it gets a processor
            faults
            catch {$other read} answer
        }
        return $answer
    }
}
check_in 2 "a change is not acknowledged when an fsync of everysec fails after a switch to appendfsync always" {
    answer_after_failed_fsync {}
} "the server closed the connection"
check_in 2 "nor when an I/O thread brings it before the loop hears of the end of fsync" {
    answer_after_failed_fsync {io-threads 3 io-threads-always-active yes}
} "the server closed the connection"

check_in 2 "a change is on the disk after a second even if no descriptor is left for the thread" {
    with_faulty_aof {} {
        faults {dup EMFILE *.incr.aof} {sync sleep=0 *.incr.aof}
        wait_until {[r INCR counter] && [fault_hits dup*] ne {}}
        wait_until {[fault_hits sync*] ne {}}
        info_field aof_last_write_status
    }
} ok

check_in 2 "a slow fsync delays no reply for two seconds, and is counted after them" {
    with_faulty_aof {} {
        r SET a 1
        faults {sync hold *.incr.aof}
        after 1100
        r SET a 2
        wait_until {[info_field aof_pending_bio_fsync] == 1}
        # It is answered, and waits for fsync, which goes on.
        r SET b 3
        assert {[info_field aof_buffer_length] > 0}
        wait_until {[info_field aof_buffer_length] == 0}
        assert_equal [list [info_field aof_delayed_fsync] [info_field aof_pending_bio_fsync]] {1 1}
        assert {[string match "*fsync is taking too long*" [$::current_server log]]}
        faults
        wait_written
        server_again crash
        r MGET a b
    }
} {2 3}

check_in 2 "INFO shows the bytes that wait for a slow disk, and they cause no eviction" {
    with_faulty_aof {maxmemory-policy allkeys-random} {
        for {set i 0} {$i < 100} {incr i} {
            r SET k$i [string repeat x 1000]
        }
        wait_written
        assert {[info_field mem_aof_buffer] < 1000}
        faults {sync hold *.incr.aof}
        r SET big [string repeat x 1000000]
        wait_until {[r SET a 2] eq "OK" && [info_field aof_pending_bio_fsync] == 1}
        # After two seconds of waiting the server writes though fsync goes on: then it is tried again.
        while {1} {
            wait_until {[info_field aof_buffer_length] == 0}
            set delayed [info_field aof_delayed_fsync]
            r CONFIG SET maxmemory [expr {[info_field used_memory] + 8000000}]
            set requests [lrepeat 20 [list SET big [string repeat x 1000000]]]
            set replies [[default_client] pipeline [list {*}$requests {MEMORY STATS} {INFO everything}]]
            lassign [lrange $replies end-1 end] stats info
            if {[info_field aof_delayed_fsync] == $delayed} break
        }
        foreach name {mem_aof_buffer mem_not_counted_for_evict used_memory maxmemory} {
            regexp -line "^$name:(\\d+)" $info _ $name
        }
        # As much again as is held, as growing it may take.
        assert {$mem_aof_buffer >= 20000000 && $mem_aof_buffer < 50000000}
        # And the small buffers that are kept.
        assert {$mem_not_counted_for_evict >= $mem_aof_buffer && $mem_not_counted_for_evict < $mem_aof_buffer + 3000000}
        assert_equal [dict get $stats aof.buffer] $mem_aof_buffer
        assert {[dict get $stats overhead.total] > $mem_aof_buffer}
        assert {$used_memory > $maxmemory + 10000000}
        assert_equal [list [info_field evicted_keys] [r DBSIZE]] {0 102}
        faults
        wait_written
        list [info_field evicted_keys] [expr {[info_field mem_aof_buffer] < 1000}]
    }
} {0 1}

check_in 2 "with appendfsync always replies wait for fsync, and one fsync serves all clients that wait" {
    with_faulty_aof {appendfsync always} {
        set clients {}
        for {set i 0} {$i < 10} {incr i} {
            lappend clients [client_open]
        }
        r SET warm 1
        with_faults {{sync sleep=500 *.incr.aof}} {
            set ms [elapsed_ms {
                at_once {
                    foreach client $clients {
                        $client send INCR counter
                    }
                }
                foreach client $clients {
                    $client read
                }
            }]
            assert {$ms >= 500}
            # I/O threads may bring the first of the requests before the others.
            expr {[llength [fault_hits sync*]] <= ($is_threaded ? 3 : 1)}
        }
    }
} 1

check_in 2 "no fsync while a base is being written, with no-appendfsync-on-rewrite" {
    with_faulty_aof {appendfsync always no-appendfsync-on-rewrite yes rdb-key-save-delay 2000000} {
        r MSET a 1 b 2 c 3
        faults {sync sleep=0 *.incr.aof}
        r BGREWRITEAOF
        set before [fault_hits sync*]
        r SET d 1
        assert_equal [info_field aof_rewrite_in_progress] 1
        expr {[fault_hits sync*] eq $before}
    }
} 1

# --- A rewrite whose beginning waits for what was written before it

# A change that is not on the disk, a rewrite behind it, and in the same loop iteration another request.
proc change_and_rewrite {{request PING}} {
    return [[default_client] pipeline [list {SET a 1} BGREWRITEAOF $request]]
}

set started {OK {Background append only file rewriting started} PONG}
set not_yet {![string match "*seq 2*" [manifest]]}

foreach policy {everysec no} {
    check_in 2 "a rewrite delays no client while earlier writes are synced (appendfsync $policy)" {
        with_faulty_aof [list appendfsync $policy] {
            set other [client_open]
            with_faults {{sync hold *.1.incr.aof}} {
                assert_equal [change_and_rewrite] $started
                assert_equal [$other call SET b 2] OK
                assert_equal [list [info_field aof_rewrite_in_progress] [info_field aof_rewrite_scheduled] \
                    [info_field aof_rewrites] [info_field current_save_keys_total]] {1 0 1 0}
                assert $not_yet
            }
            wait_rewritten
            assert_equal [info_field aof_last_bgrewrite_status] ok
            assert_equal [aof_commands [aof_bytes]] {}
            r SET c 3
            wait_written
            server_again crash
            r MGET a b c
        }
    } {1 2 3}
}

check_in 2 "a rewrite begins although new changes arrive all the time" {
    with_faulty_aof {appendfsync no} {
        with_faults {{sync sleep=200 *.1.incr.aof}} {
            change_and_rewrite
            while {[info_field aof_rewrite_in_progress]} {
                r INCR counter
            }
        }
        set syncs [llength [fault_hits "sync * *.1.incr.aof"]]
        assert {$syncs >= 2 && $syncs <= 5}
        set count [r GET counter]
        server_again crash
        expr {[r GET counter] == $count}
    }
} 1

check_in 2 "when the fsync before a rewrite fails, the rewrite goes on, and changes are refused until it succeeds" {
    with_faulty_aof {appendfsync no} {
        with_faults {{sync EIO *.1.incr.aof} {sync hold temp-rewriteaof*}} {
            assert_equal [change_and_rewrite] $started
            wait_until {[info_field aof_last_write_status] eq "err"}
            assert_equal [error_of {r SET b 2}] [refusal "Input/output error"]
            faults {sync EIO *.1.incr.aof}
            wait_until {![is_refused]}
        }
        wait_rewritten
        r SET c 3
        server_again crash
        r MGET a b c
    }
} {1 (nil) 3}

check_in 2 "while a rewrite waits for the disk no other job begins, and data can be deleted and loaded" {
    with_faulty_aof {appendfsync no} {
        with_faults {{sync hold *.1.incr.aof}} {
            change_and_rewrite
            assert_equal [error_of {r BGREWRITEAOF}] "ERR Background append only file rewriting already in progress"
            assert {[string match "ERR Another child process is active (AOF?)*" [error_of {r BGSAVE}]]}
            r FLUSHALL
            r SET b 2
            r DEBUG LOADAOF
            assert_equal [r MGET a b] {(nil) 2}
            assert $not_yet
        }
        wait_rewritten
        r SET c 3
        server_again crash
        r MGET a b c
    }
} {(nil) 2 3}

check_in 2 "a rewrite that waits for the disk is ended with the append-only file, and with the server" {
    with_faulty_aof {appendfsync no} {
        with_faults {{sync sleep=500 *.1.incr.aof}} {
            change_and_rewrite {CONFIG SET appendonly no}
            assert_equal [info_field aof_rewrite_in_progress] 0
        }
        assert $not_yet
        r SET b 2
        r CONFIG SET appendonly yes
        wait_rewritten
        assert {[string match "*.2.base.rdb*.2.incr.aof*" [manifest]]}
        r SET c 3
        with_faults {{sync sleep=500 *.2.incr.aof}} {
            catch {change_and_rewrite SHUTDOWN}
            assert_equal [$::current_server wait_exit] 0
        }
        assert {[string match "*The AOF is being rewritten. Ending that!*" [$::current_server log]]}
        assert {![string match "*seq 3*" [manifest]]}
        $::current_server launch_with {}
        set ::default_client ""
        r MGET a b c
    }
} {1 2 3}

check_in 2 "after a failed fsync no file follows an increment that may lack its end" {
    with_faulty_aof {} {
        r SET k 1 PX 6000
        r SET a 1
        faults {sync EIO,nth=1 *.1.incr.aof} {sync hold temp-rewriteaof*}
        r SET b 2
        wait_until {[info_field aof_rewrite_in_progress]}
        assert_equal [info_field aof_last_write_status] err
        wait_until {[info_field expired_keys] == 1}
        assert_equal [error_of {r DEBUG LOADAOF}] "ERR Error trying to load the AOF files, check server logs."
        $::current_server kill
        set path [lindex [aof_files $::current_server *.incr.aof] end]
        set file [open $path r+]
        chan truncate $file [expr {[file size $path] - 3}]
        close $file
        faults
        $::current_server launch_with {}
        set ::default_client ""
        assert_nothing_left
        r MGET a b k
    }
} {1 (nil) (nil)}

check_in 2 "a failed fsync counts even if one of an older file fails after it" {
    with_faulty_aof {} {
        set client [client_open]
        set rewrite_waits {sync hold,nth=1 temp-rewriteaof*}
        with_faults [list {sync EIO,hold,nth=1 *.1.incr.aof} {sync EIO,nth=1 *.2.incr.aof} $rewrite_waits] {
            r SET a 1
            wait_until {[fault_hits sync*] ne {}} ;# else the loop's own call may be the first
            r CONFIG SET appendfsync always
            r BGREWRITEAOF
            $client send SET b 2
            assert {[$client is_closed]}
            wait_until {[fault_hits "sync hold*"] ne {}}
            faults $rewrite_waits
            wait_until {[info_field aof_pending_bio_fsync] == 0}
            faults
            wait_until {![is_refused]}
        }
        assert_equal [llength [fault_hits "sync EIO*"]] 2
        info_field aof_rewrites
    }
} 2

check_in 2 "a failed fsync ends a rewrite's delay of a minute, as changes are refused" {
    with_faulty_aof {} {
        fail_rewrites
        assert {[string match "*will retry in 1 minutes*" [$::current_server log]]}
        faults {sync EIO,nth=1 *.incr.aof}
        r SET a 1
        wait_until {[string match "*was rewritten after fsync had failed*" [$::current_server log]]}
        r SET b 2
        wait_written
        server_again crash
        r MGET a b
    }
} {1 2}

check_in 2 "after a failed fsync and a failed SHUTDOWN the server still rewrites all data" {
    with_faulty_aof {} {
        with_faults {{sync EIO,nth=1 *.1.incr.aof} {sync hold temp-rewriteaof*} {write EIO temp-*.rdb}} {
            r SET b 2
            wait_until {[info_field aof_rewrite_in_progress]}
            assert_equal [error_of {r SHUTDOWN SAVE}] "ERR Errors trying to SHUTDOWN. Check logs."
        }
        wait_until {![is_refused]}
        r SET c 3
        wait_written
        server_again crash
        r MGET b c
    }
} {2 3}

# --- A rewrite that fails

foreach {what rule} {
    "open" {open EMFILE temp-rewriteaof*}
    "write" {write ENOSPC temp-rewriteaof*}
    "fsync" {sync EIO temp-rewriteaof*}
    "rename of the base" {rename EIO *.base.*}
    "write of the manifest" {write ENOSPC *.manifest}
    "rename of the manifest" {rename EIO *.manifest}
    "fsync of the manifest" {sync EIO *.manifest}
    "open of the manifest" {open EROFS *.manifest}
    "open of the increment" {open EROFS *.2.incr.aof}
    "fsync of the folder" {sync EIO appendonlydir}
    "fsync of the folder, for the manifest" {sync EIO,nth=2 appendonlydir}
    "fsync of the folder, for the base" {sync EIO,nth=3 appendonlydir}
    "fsync of the folder, for the manifest with the base" {sync EIO,nth=4 appendonlydir}
} {
    check_in 2 "a failed rewrite loses nothing and can be repeated: $what" {
        with_faulty_aof {} {
            r RPUSH l 1 2 3
            faults $rule
            catch {r BGREWRITEAOF}
            wait_rewritten
            assert_equal [info_field aof_last_bgrewrite_status] err
            r RPUSH l 4
            assert_nothing_left
            wait_written
            server_again crash
            assert_equal [r LRANGE l 0 -1] {1 2 3 4}
            faults
            wait_rewritten ;# the server may have met the fault again while it started
            rewrite_aof
            assert_equal [info_field aof_last_bgrewrite_status] ok
            r RPUSH l 5
            wait_written
            server_again crash
            r LRANGE l 0 -1
        }
    } {1 2 3 4 5}
}

# --- What a server that was killed has left to the system

# Killed when the manifest had its name and the folder was to be brought to the disk.
proc kill_with_names_in_doubt {} {
    faults {sync crash,nth=2 appendonlydir}
    catch {r BGREWRITEAOF}
    assert_equal [lindex [$::current_server wait_exit] 1] SIGKILL
    assert {[string match "*seq 2 type i*" [manifest]]}
}

foreach policy {everysec always no} {
    check_in 2 "nothing counts as on the disk while a power failure may lose the names of files (appendfsync $policy)" {
        with_faulty_aof [list appendfsync $policy] {
            r SET a 1
            kill_with_names_in_doubt
            faults {sync EIO appendonlydir}
            $current_server launch_with {}
            set ::default_client ""
            assert_equal [list [error_of {r SET b 2}] [r GET a]] [list [refusal "Input/output error"] 1]
            assert_equal [info_field aof_last_write_status] err
            faults
            wait_until {![is_refused]}
            assert_equal [info_field aof_last_write_status] ok
            r SET c 3
            wait_written
            server_again crash
            r MGET a b c
        }
    } {1 (nil) 3}
}

# Killed when a rewrite has renamed its base and is about to write the manifest that names it.
proc leave_unnamed_base {} {
    faults {open crash,nth=2 *temp-appendonly.aof.*.manifest}
    catch {r BGREWRITEAOF}
    assert_equal [lindex [$::current_server wait_exit] 1] SIGKILL
    faults
    assert {[file exists [aof_file appendonly.aof.2.base.rdb]] && ![string match *2.base* [manifest]]}
}

proc aof_file {name} {
    return [data_file appendonlydir/$name]
}

proc start_with {directives} {
    $::current_server launch_with $directives
    set ::default_client ""
}

check_in 2 "a base that a killed rewrite left unnamed is removed at the next start, but nothing like it" {
    with_faulty_aof {appendfsync always} {
        r SET a 1
        leave_unnamed_base
        set alike {
            appendonly.aof.02.base.rdb appendonly.aof.+2.base.rdb appendonly.aof.2.base.rdb.old appendonly.aof.2.base
            appendonly.aof.3.base.rdb appendonly.aof.0.base.rdb appendonly.aof.3.incr.aof appendonly.aof2.2.base.rdb
        }
        foreach name $alike {
            write_file [aof_file $name] precious
        }
        start_with {aof-use-rdb-preamble no}
        assert_equal [file exists [aof_file appendonly.aof.2.base.rdb]] 0
        foreach name $alike {
            assert_equal [read_file [aof_file $name]] precious
        }
        assert {[string match "*Removed *appendonly.aof.2.base.rdb, the base of*" [$current_server log]]}
        rewrite_aof
        server_again crash
        list [r GET a] [string match "*2.base.aof seq 2 type b*" [manifest]]
    }
} {1 1}

check_in 2 "an unnamed base is kept while the named files cannot be loaded or synced" {
    with_faulty_aof {appendfsync always} {
        r SET a 1
        leave_unnamed_base
        break_file $current_server "*x\r\n"
        $current_server fail_to_start
        set kept [file exists [aof_file appendonly.aof.2.base.rdb]]
        break_file $current_server ""
        # The failed sync brings about a rewrite, which gives its base the same name: keep it from its work.
        faults {sync EIO appendonlydir} {open EIO temp-rewriteaof-bg-*}
        start_with {}
        lappend kept [file exists [aof_file appendonly.aof.2.base.rdb]]
        $current_server kill
        faults
        start_with {}
        list [r GET a] $kept [file exists [aof_file appendonly.aof.2.base.rdb]]
    }
} {1 {1 1} 0}

check_in 2 "an unnamed base is removed though a named one has taken its number" {
    with_faulty_aof {appendfsync always} {
        r SET a 1
        leave_unnamed_base
        start_with {appendonly no aof-use-rdb-preamble no}
        r SET a 2
        r CONFIG SET appendonly yes
        wait_rewritten
        assert_equal [string match "*2.base.aof seq 2 type b*" [manifest]] 1
        assert_equal [file exists [aof_file appendonly.aof.2.base.rdb]] 1
        $current_server kill
        start_with {appendonly yes}
        list [r GET a] [file exists [aof_file appendonly.aof.2.base.rdb]]
    }
} {2 0}

check_in 2 "unsynced data of a killed server is synced before changes build on it" {
    with_faulty_aof {appendfsync no} {
        r SET a 1
        wait_written
        with_faults {{sync EIO,from=2 appendonlydir}} {
            catch {r BGREWRITEAOF}
            wait_rewritten
        }
        r SET b 2
        wait_written
        $::current_server kill
        faults {sync sleep=0 appendonlydir*}
        $::current_server launch_with {}
        set ::default_client ""
        assert_equal [r MGET a b] {1 2}
        foreach hit [fault_hits "sync sleep=0 *"] {
            lappend synced [file tail [lindex $hit 2]]
        }
        lsort -unique $synced
    }
} {appendonly.aof.1.base.rdb appendonly.aof.1.incr.aof appendonly.aof.2.incr.aof appendonlydir}

check_in 2 "unsynced data of a killed server is synced before the load, and a cut after it" {
    with_faulty_aof {appendfsync no} {
        r MSET a 1 b 2
        r SET c 3
        wait_written
        $::current_server kill
        break_file $::current_server "[aof_bytes]*3\r\n\$3\r\nSET"
        faults {sync sleep=0 *.incr.aof} {truncate sleep=0 *}
        $::current_server launch_with {}
        set ::default_client ""
        assert_equal [r MGET a b c] {1 2 3}
        lmap hit [fault_hits "* sleep=0 *"] {lindex $hit 0}
    }
} {sync truncate sync}

check_in 2 "changes are refused while a power failure may lose the first rewrite" {
    with_faulty_server {appendfsync always} {
        r SET a 1
        # The names of the base and of the increment, then that of the manifest.
        faults {sync EIO,from=3 appendonlydir}
        r CONFIG SET appendonly yes
        # Not INFO: who asks in the loop iteration of the failure is disconnected.
        wait_until {[string match "*Fail to fsync the AOF file*" [$::current_server log]]}
        assert_equal [error_of {r SET b 2}] [refusal "Input/output error"]
        assert_equal [info_field aof_last_bgrewrite_status] err
        faults
        wait_until {![is_refused]}
        r SET c 3
        $::current_server kill
        $::current_server launch_with {appendonly yes}
        set ::default_client ""
        r MGET a b c
    }
} {1 (nil) 3}

# Otherwise a power failure could leave a manifest that names a missing file.
check_in 2 "a manifest names only files whose names are on the disk" {
    with_faulty_aof {} {
        faults {any sleep=0 *.manifest} {any sleep=0 appendonlydir} {open sleep=0 *.incr.aof} {rename sleep=0 *}
        rewrite_aof
        set hits [lmap hit [fault_hits] {list [lindex $hit 0] [file tail [lindex $hit 2]]}]
        set synced -1
        foreach name {appendonly.aof.2.incr.aof appendonly.aof.2.base.rdb} {
            set named [lsearch $hits [list [expr {[string match *incr* $name] ? "open" : "rename"}] $name]]
            set synced [lsearch -start $named $hits {sync appendonlydir}]
            set manifest [lsearch -start $named $hits {rename *.manifest}]
            lappend orders [expr {$named >= 0 && $named < $synced && $synced < $manifest}]
        }
        set orders
    }
} {1 1}

check_in 2 "an increment does not get the name of one that is still to be deleted" {
    with_faulty_aof {appendfsync always} {
        r SET a 1
        r CONFIG SET appendonly no
        faults {unlink crash *.1.base.rdb}
        catch {r BGREWRITEAOF}
        assert_equal [lindex [$::current_server wait_exit] 1] SIGKILL
        faults
        assert {[string match "*.1.incr.aof seq 1 type h*" [manifest]]}
        $::current_server launch_with {}
        set ::default_client ""
        r SET b 2
        wait_until {![string match "*type h*" [manifest]]}
        server_again crash
        r MGET a b
    }
} {1 2}

check_in 2 "a first start that fails leaves no files behind" {
    with_faulty_server {} {
        r SET a 1
        r SAVE
        $::current_server halt
        set ::default_client ""
        foreach rule {{sync EIO,nth=1 appendonlydir} {sync EIO,nth=2 appendonlydir} {open EROFS *.incr.aof}
                      {rename EIO *.manifest}} {
            faults $rule
            catch {$::current_server launch_with {appendonly yes}}
            assert {![$::current_server is_running]}
            assert_equal [glob -nocomplain [data_file appendonlydir/*]] {}
        }
        faults
        $::current_server launch_with {appendonly yes}
        list [r GET a] [lmap file [aof_files $::current_server *] {file tail $file}]
    }
} {1 {appendonly.aof.1.base.rdb appendonly.aof.1.incr.aof appendonly.aof.manifest}}

check_in 2 "an increment may be cut where only empty ones follow" {
    with_faulty_aof {} {
        r SET a 1
        r SET b 2
        wait_written
        with_faults {{sync EIO,from=2 appendonlydir}} {
            catch {r BGREWRITEAOF}
            wait_rewritten
        }
        $::current_server kill
        set files [aof_files $::current_server *.incr.aof]
        assert_equal [lmap file $files {expr {[file size $file] > 0}}] {1 0}
        set file [open [lindex $files 0] r+]
        chan truncate $file [expr {[file size [lindex $files 0]] - 3}]
        close $file
        $::current_server launch_with {}
        set ::default_client ""
        r MGET a b
    }
} {1 (nil)}

check_in 2 "a first rewrite that fails is tried again, and the server can be used meanwhile" {
    with_faulty_server {} {
        r SET a 1
        with_faults {{write ENOSPC temp-rewriteaof*}} {
            r CONFIG SET appendonly yes
            wait_until {[info_field aof_rewrites_consecutive_failures] >= 1}
            r SET b 2
        }
        wait_until {[file exists [data_file appendonlydir/appendonly.aof.manifest]]}
        wait_rewritten
        r SET c 3
        wait_written
        $::current_server kill
        $::current_server launch_with {appendonly yes}
        set ::default_client ""
        r MGET a b c
    }
} {1 2 3}

check_in 2 "a rewrite whose server is killed ends with it, and the next start removes what it left" {
    with_faulty_aof {rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3 d 4 e 5 f 6
        r BGREWRITEAOF
        wait_until {[leftovers] ne ""}
        wait_written
        server_again crash
        assert_nothing_left
        r MGET a f
    }
} {1 6}

check_in 2 "without a thread appendonly cannot be turned on, and says so" {
    with_faulty_server {} {
        r SET a 1
        faults {thread EAGAIN *}
        set error [error_of {r CONFIG SET appendonly yes}]
        faults
        assert_equal [list [r CONFIG GET appendonly] [info_field aof_enabled]] {{appendonly no} 0}
        assert_equal [glob -nocomplain [data_file appendonlydir/*]] {}
        r CONFIG SET appendonly yes
        wait_rewritten
        list $error [info_field aof_last_bgrewrite_status]
    }
} {{*'appendonly') - Unable to turn on AOF. Check server logs.} ok} -match glob

check_in 2 "rewrites that keep failing are delayed" {
    with_faulty_aof {} {
        fail_rewrites
        string match "*will retry in 1 minutes*" [$::current_server log]
    }
} 1

finish
