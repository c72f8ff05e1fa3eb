# What happens to snapshots when the disk, or the system, fails: the server goes on, refuses what it must, leaves the
# old file whole, and recovers.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/faults.tcl

server_start

# Ways in which a snapshot cannot be written; what the log says of it.
set failures {
    "a full disk"                           {write ENOSPC temp-*}               "No space left on device"
    "a disk that gets full on the way"      {write ENOSPC,after=100000 temp-*}  "No space left on device"
    "an error of the disk on the way"       {write EIO,from=2 temp-*}           "Input/output error"
    "a disk that gets full within a write"  {write ENOSPC,after=77777 temp-*}   "No space left on device"
    "a failed fsync"                        {sync EIO temp-*}                   "Input/output error"
    "a failed close"                        {close EIO temp-*}                  "Input/output error"
    "a read-only file system"               {open EROFS temp-*}                 "Read-only file system"
    "a folder that is not writable"         {open EACCES temp-*}                "Permission denied"
    "no free descriptor"                    {open EMFILE temp-*}                "Too many open files"
    "a failed rename"                       {rename EIO dump.rdb}               "Input/output error"
    "a rename on a read-only file system"   {rename EROFS dump.rdb}             "Read-only file system"
}

# Some hundred KB, in `count` keys that are called `prefix`:N.
proc fill {prefix {count 1500}} {
    r DEBUG POPULATE $count $prefix 200
}

proc wait_saved {} {
    wait_until {![info_field rdb_bgsave_in_progress]}
}

# A server with some keys on disk, and as many that are not; in the body `old` is the file. It is not compressed, so
# that it takes several writes.
proc with_data {directives body} {
    uplevel 1 [list with_faulty_server [list rdbcompression no {*}$directives] "
        fill old
        r SAVE
        fill new
        r SET new:0 changed
        set old \[read_file \[data_file dump.rdb]]
        $body
    "]
}

# The keys of a server that has only the file.
proc keys_after_crash {} {
    $::current_server kill
    $::current_server launch_with {}
    set ::default_client ""
    return [r DBSIZE]
}

proc is_misconf {text} {
    return [string match "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to *" $text]
}

# --- SAVE and BGSAVE

foreach {what rule reason} $failures {
    check_in 2 "SAVE meets $what" {
        with_data {} {
            with_faults [list $rule] {
                assert_equal [error_of {r SAVE}] ERR
                assert_equal [error_of {r SAVE}] ERR
            }
            assert {[read_file [data_file dump.rdb]] eq $old}
            assert_nothing_left
            assert {[string match "*$reason*" [$current_server log]]}
            assert_equal [list [r DBSIZE] [info_field rdb_changes_since_last_save]] {3000 1}
            assert_equal [info_field rdb_last_bgsave_status] ok
            assert_equal [r SAVE] OK
            keys_after_crash
        }
    } 3000
    check_in 2 "BGSAVE meets $what" {
        with_data {save {3600 100000}} {
            with_faults [list $rule] {
                assert_equal [r BGSAVE] "Background saving started"
                wait_saved
                assert_equal [info_field rdb_last_bgsave_status] err
                assert {[is_misconf [error_of {r SET key value}]]}
                assert_equal [r GET new:1] value:1[string repeat \0 193]
            }
            assert {[read_file [data_file dump.rdb]] eq $old}
            assert_nothing_left
            assert {[string match "*$reason*" [$current_server log]]}
            # The error is over, but the server knows that only when a snapshot has succeeded.
            assert {[is_misconf [error_of {r SET key value}]]}
            r BGSAVE
            wait_saved
            assert_equal [info_field rdb_last_bgsave_status] ok
            r SET key value
            r SAVE
            keys_after_crash
        }
    } 3001
}

# The system reports an error during the write-back of a large file only once, and not again at the end.
foreach {what directives request call} {
    "SAVE, when a stretch is sent" {} SAVE 1
    "SAVE, when it is waited for" {} SAVE 6
    "BGSAVE" {} BGSAVE 6
    "BGREWRITEAOF" {appendonly yes} BGREWRITEAOF 6
    "BGREWRITEAOF with commands" {appendonly yes aof-use-rdb-preamble no} BGREWRITEAOF 6
} {
    check_in 2 "an error of the disk on the way of a large file is not forgotten: $what" {
        with_faulty_server [list rdbcompression no save {3600 100000} {*}$directives] {
            r DEBUG POPULATE 120 big 100000
            with_faults [list "range EIO,nth=$call temp-*"] {
                catch {r $request}
                wait_until {![info_field rdb_bgsave_in_progress] && ![info_field aof_rewrite_in_progress]}
            }
            assert {[string match "*Input/output error*" [$current_server log]]}
            assert {[glob -nocomplain [data_file dump.rdb] [data_file appendonlydir/*.2.base.*]] eq {}}
            assert_nothing_left
        }
    }
}

check_in 2 "a file system that sends no stretches to the disk does not disturb" {
    with_faulty_server {rdbcompression no} {
        r DEBUG POPULATE 120 big 100000
        with_faults {{range EINVAL temp-*}} {
            r SAVE
        }
    }
} OK

check_in 2 "when the folder cannot be synced the snapshot counts as failed, though it is there" {
    with_data {save {3600 100000}} {
        with_faults {{sync EIO .}} {
            assert_equal [error_of {r SAVE}] ERR
            r BGSAVE
            wait_saved
            assert {[is_misconf [error_of {r SET key value}]]}
        }
        assert_nothing_left
        keys_after_crash
    }
} 3000
check_in 2 "a file system that cannot sync folders does not disturb" {
    with_data {} {
        with_faults {{sync EINVAL .}} {
            r SAVE
        }
    }
} OK
check_in 2 "short writes and interruptions are continued" {
    with_data {} {
        foreach rule {{write short temp-*} {write EINTR,nth=1 temp-*} {write EINTR,nth=2 temp-*}} {
            with_faults [list $rule] {
                assert_equal [r SAVE] OK
            }
            assert_equal [keys_after_crash] 3000
        }
    }
}
check_in 2 "a temporary file that cannot be removed is no more than that" {
    with_data {} {
        with_faults {{write ENOSPC temp-*} {unlink EROFS temp-*}} {
            assert_equal [error_of {r SAVE}] ERR
        }
        assert_equal [llength [leftovers]] 1
        assert {[read_file [data_file dump.rdb]] eq $old}
        r SAVE
        set keys [keys_after_crash]
        assert_equal [leftovers] {} ;# the start has removed it
        set keys
    }
} 3000

# --- Every call, one by one

check_in 2 "whichever call of SAVE fails, the next SAVE succeeds" {
    with_data {} {
        set calls [for_each_call EIO,nth {r SAVE} {
            assert_nothing_left
            assert_equal [r SAVE] OK
        }]
        assert {$calls >= 6}
        keys_after_crash
    }
} 3000
foreach {command script} {SAVE {r SAVE} BGSAVE {r BGSAVE; wait_saved}} {
    check_in 2 "a crash before any call of $command leaves the old file or the new one" {
        with_data {} {
            set counts {}
            set calls [for_each_call crash,nth $script {
                assert_equal [lindex [$::current_server wait_exit] 1] SIGKILL
                $::current_server launch_with {}
                set ::default_client ""
                lappend counts [r DBSIZE]
                write_file [data_file dump.rdb] $old
                r FLUSHALL
                r DEBUG RELOAD NOSAVE
                fill new
            }]
            assert {$calls >= 6}
            assert_equal $counts [lsort -integer $counts]
            lsort -unique $counts
        }
    } {1500 3000}
}

# --- Save points

check_in 2 "after a failed save point writes are refused until the next one succeeds" {
    with_faulty_server {save {1 1}} {
        with_faults {{write ENOSPC temp-*}} {
            r SET key value
            wait_until {[info_field rdb_last_bgsave_status] eq "err"}
            assert {[is_misconf [error_of {r SET key other}]]}
        }
        wait_until {[info_field rdb_last_bgsave_status] eq "ok"}
        assert_equal [r SET key third] OK
        assert {[info_field rdb_saves] >= 2}
        assert_nothing_left
    }
}

# --- No thread

check_in 2 "BGSAVE meets the limit of threads" {
    with_data {save {3600 100000}} {
        with_faults {{thread EAGAIN *}} {
            assert_equal [error_of {r BGSAVE}] ERR
            assert_equal [error_of {r BGSAVE SCHEDULE}] ERR
            assert_equal [list [info_field rdb_last_bgsave_status] [info_field rdb_bgsave_in_progress]] {err 0}
            assert {[is_misconf [error_of {r SET key value}]]}
        }
        set reason "Resource temporarily unavailable"
        assert {[string match "*Cannot create the snapshot thread: $reason*" [$current_server log]]}
        assert {[read_file [data_file dump.rdb]] eq $old}
        r BGSAVE
        wait_saved
        assert_equal [r SET key value] OK
        keys_after_crash
    }
} 3000
check_soak "a save point tries again to create the thread" {
    with_faulty_server {save {1 1}} {
        with_faults {{thread EAGAIN *}} {
            r SET key value
            wait_until {[info_field rdb_last_bgsave_status] eq "err"}
        }
        wait_until {[info_field rdb_last_bgsave_status] eq "ok"}
        file exists [data_file dump.rdb]
    }
} 1
check_in 2 "SAVE needs no thread" {
    with_data {} {
        faults {thread EAGAIN *}
        r SAVE
        faults
        keys_after_crash
    }
} 3000

# --- A slow disk

# Waits until the thread has reached the call at which the disk keeps it waiting.
proc begin_slow_save {} {
    r BGSAVE
    wait_until {[fault_hits sync*] ne {}}
}

check_in 2 "while the thread waits for the disk the server answers" {
    with_data {} {
        with_faults {{sync hold temp-*}} {
            begin_slow_save
            r SET key value
            assert_equal [info_field rdb_bgsave_in_progress] 1
            assert {[read_file [data_file dump.rdb]] eq $old}
        }
        wait_saved
        info_field rdb_last_bgsave_status
    }
} ok
check_in 2 "a snapshot that is stopped while it waits for the disk leaves nothing behind" {
    with_data {} {
        with_faults {{sync hold temp-*}} {
            begin_slow_save
            r FLUSHALL
            wait_saved
        }
        assert_nothing_left
        expr {[read_file [data_file dump.rdb]] eq $old}
    }
} 1

check_in 2 "changes of small values wait for a slow disk once 64 MB of copies are unwritten" {
    set bound [expr {64 << 20}]
    set size 100000
    set count 680
    # The iteration is so slow that nearly every key is saved because a command changes it. The first write is so slow
    # that the commands get far ahead of it even on a busy machine.
    with_faulty_server {rdb-key-save-delay 10000000 rdbcompression no} {
        r DEBUG POPULATE $count k $size
        set changes [list {DEBUG DIGEST} BGSAVE]
        for {set i 0} {$i < $count} {incr i} {
            lappend changes [lindex [list "SETRANGE k:$i 0 changed" "SET k:$i 1" "DEL k:$i"] [expr {$i % 3}]]
        }
        with_faults {{write sleep=5000,nth=1 temp-*} {write sleep=100 temp-*}} {
            set ms [elapsed_ms {set digest [lindex [[default_client] pipeline $changes] 0]}]
            assert_equal [info_field rdb_bgsave_in_progress] 1
        }
        assert {$ms >= 500}
        assert {[info_field slices_last_keys_early] >= $count - 50}
        r CONFIG SET rdb-key-save-delay 0
        wait_saved
        assert_equal [info_field rdb_last_bgsave_status] ok
        set peak [info_field rdb_last_cow_size]
        assert {$peak > $bound - 500000 && $peak <= $bound + 500000}
        assert_equal [keys_after_crash] $count
        assert {[r DEBUG DIGEST] eq $digest}
    }
}

# --- What a killed server leaves behind

check_in 2 "an abandoned temporary file is removed at the next start, and nothing that only looks like one" {
    with_data {} {
        with_faults {{sync crash temp-*}} {
            catch {r BGSAVE}
            $current_server wait_exit
        }
        set abandoned [leftovers]
        assert {[llength $abandoned] == 1 && [regexp {^temp-\d+-[0-9a-f]{16}.rdb$} $abandoned]}
        foreach name {temp-x.rdb temp-1.rdb.old temp-0.rdb temp--1.rdb temp-01.rdb temp-1-2.rdb} {
            write_file [data_file $name] x
        }
        $current_server launch_with {}
        set default_client ""
        assert_equal [lsort [leftovers]] {temp--1.rdb temp-0.rdb temp-01.rdb temp-1-2.rdb temp-1.rdb.old temp-x.rdb}
        r DBSIZE
    }
} 1500
check_in 2 "a temporary file that another server is writing stays" {
    with_data {} {
        with_faults {{sync hold temp-*}} {
            begin_slow_save
            set port [free_port]
            set other [open [list | setpriv --pdeathsig KILL -- $server_binary --port $port \
                --dir [$current_server data] --dbfilename other.rdb --save ""]]
            wait_until {![catch {[client new 127.0.0.1 $port] call PING}]}
            exec kill -KILL [pid $other]
            assert_equal [llength [leftovers]] 1
        }
        wait_saved
        catch {close $other}
        keys_after_crash
    }
} 3000

# --- FLUSHALL, DEBUG RELOAD

check_in 2 "FLUSHALL goes on without a disk; the file stays what it was" {
    with_data {save {3600 100000}} {
        with_faults {{write ENOSPC temp-*}} {
            assert_equal [r FLUSHALL] OK
            assert_equal [list [r DBSIZE] [r SET key value]] {0 OK}
        }
        assert {[read_file [data_file dump.rdb]] eq $old}
        leftovers
    }
} {}
check_in 2 "DEBUG RELOAD without a disk loses nothing" {
    with_data {} {
        with_faults {{write ENOSPC temp-*}} {
            assert_equal [error_of {r DEBUG RELOAD}] ERR
        }
        r DBSIZE
    }
} 3000

# --- Loading

check_in 2 "a read error stops the start, and does no harm to the file" {
    with_data {} {
        faults {read EIO,nth=2 dump.rdb}
        $current_server kill
        assert {[catch {$current_server launch_with {}} message]}
        assert_match "*Error loading dump.rdb: Internal error in RDB reading offset *: *Input/output error*" $message
        faults
        assert {[read_file [data_file dump.rdb]] eq $old}
        $current_server launch_with {}
        set default_client ""
        r DBSIZE
    }
} 1500

# A large file that is not in the page cache is read past it, ahead, by a thread. Where that fails it is read through
# the page cache: the file system may not be able to do the other, and the disk may have one bad place in a large piece.
proc start_with_large_file {rule} {
    r DEBUG POPULATE 120 big 100000
    r SAVE
    exec dd if=[data_file dump.rdb] iflag=nocache count=0 2>@1
    faults $rule
    $::current_server kill
    set failed [catch {$::current_server launch_with {}} message]
    set ::default_client ""
    return [expr {$failed ? $message : [r DBSIZE]}]
}
# A file system in memory has no page cache to read past.
proc is_read_directly {path} {
    return [expr {![catch {exec dd if=$path of=/dev/null iflag=direct bs=4096 count=1 2>@1}] &&
                  ![string match *tmpfs* [exec stat -f -c %T $path]]}]
}
foreach call {1 2 9 20} {
    check_in 2 "a large file that cannot be read stops the start: from call $call on" {
        with_faulty_server {rdbcompression no} {
            set answer [start_with_large_file "read EIO,from=$call dump.rdb"]
            string match "*Error loading dump.rdb: Internal error in RDB reading offset *: *Input/output error*" $answer
        }
    } 1
    foreach error {EIO EINVAL} {
        check_in 2 "a large file that cannot be read past the page cache is read: $error at call $call" {
            with_faulty_server {rdbcompression no} {
                r SAVE
                set action [expr {[is_read_directly [data_file dump.rdb]] ? $error : "sleep=1"}]
                set answer [start_with_large_file "read $action,nth=$call dump.rdb"]
                assert_equal [llength [fault_hits "read*"]] 1
                set answer
            }
        } 120
    }
}

check_in 2 "a large file is read though each read takes only a part" {
    with_faulty_server {rdbcompression no} {
        set answer [start_with_large_file "read short dump.rdb"]
        assert {[llength [fault_hits "read*"]] > 10}
        set answer
    }
} 120

# --- The end

foreach {what rule} {
    "the disk is full"          {write ENOSPC temp-*}
    "fsync fails"               {sync EIO temp-*}
    "the folder is read-only"   {open EROFS temp-*}
    "rename fails"              {rename EIO dump.rdb}
} {
    check_in 2 "the server does not end while $what, and does as soon as it is better" {
        with_data {save {3600 100000}} {
            with_faults [list $rule] {
                foreach arguments {{} SAVE NOW} {
                    assert_equal [error_of {r SHUTDOWN {*}$arguments}] "ERR Errors trying to SHUTDOWN. Check logs."
                }
                exec kill -TERM [$current_server pid]
                wait_until {[llength [fault_hits]] >= 4}
                assert_equal [r SET key value] OK
                assert_nothing_left
            }
            assert {[read_file [data_file dump.rdb]] eq $old}
            exec kill -TERM [$current_server pid]
            assert_equal [$current_server wait_exit] 0
            $current_server launch_with {}
            set default_client ""
            r DBSIZE
        }
    } 3001
    foreach {arguments} {FORCE NOSAVE {SAVE FORCE}} {
        check_in 2 "the server ends while $what, if SHUTDOWN says $arguments" {
            with_data {save {3600 100000}} {
                faults $rule
                set c [client_open]
                $c send SHUTDOWN {*}$arguments
                assert_equal [$current_server wait_exit] 0
                assert_nothing_left
                assert {[read_file [data_file dump.rdb]] eq $old}
                faults
                $current_server launch_with {}
                set default_client ""
                r DBSIZE
            }
        } 1500
    }
}

finish
