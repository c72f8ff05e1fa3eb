# Only one server at a time writes to the files of a directory.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/faults.tcl

server_start

set check_binary [file dirname $server_program]/packlist-check

# Starts a server in the current server's directory, which must fail. Its log and its errors go to the same pipe, as on
# a terminal, so the error must be there once. Returns it, without what a line of the log begins with.
proc start_beside {directives} {
    set arguments {}
    dict for {name value} [dict merge [list port [free_port] bind 127.0.0.1 dir [$::current_server data]] $directives] {
        lappend arguments --$name {*}$value
    }
    lassign [server_run $arguments] status output
    assert_equal $status 1
    set error [regsub {^\d+:M [^*#]* # } [lindex [split [string trim $output] \n] end] ""]
    assert_equal [regexp -all ***=$error $output] 1
    return $error
}

# A server whose configuration and log are in a folder of its own, but its data elsewhere.
oo::class create server_elsewhere {
    superclass server
    variable elsewhere

    constructor {dir directives} {
        set elsewhere $dir
        next $directives
    }

    method data {} { return $elsewhere }
}

proc with_server_in {dir directives body} {
    uplevel 1 [list with_started [list server_elsewhere new $dir $directives] $body]
}

proc in_use {{dir ""} {pid ""}} {
    return "The directory [expr {$dir eq {} ? [$::current_server data] : $dir}] is in use by another server (process\
 [expr {$pid eq {} ? [$::current_server pid] : $pid}]). Two servers would overwrite each other's data: stop that one,\
 or give this one a dir of its own"
}

# --- At the start

foreach mine {{appendonly yes} {save {3600 1}}} {
    foreach other {{appendonly yes save {""}} {save {3600 1}}} {
        check_in 2 "with $other a second server does not start beside one with $mine" {
            with_server $mine {
                r SET k v
                assert_equal [start_beside $other] [in_use]
                r DEBUG RELOAD
                assert_equal [start_beside $other] [in_use]
                $current_server restart
                assert_equal [start_beside $other] [in_use]
                set ::default_client ""
                r GET k
            }
        } v
    }
}
check_in 2 "a server that only reads starts beside one that writes, and writes nothing" {
    with_server {appendonly yes} {
        r SET k v
        set dir [$current_server data]
        set message [in_use]
        with_server_in $dir {} {
            assert_equal [error_of {r SAVE}] ERR
            assert_equal [error_of {r BGSAVE}] ERR
            assert {[string match {ERR *} [error_of {r BGREWRITEAOF}]]}
            foreach {name value} {save "1 1" appendonly yes} {
                assert_equal [error_of {r CONFIG SET $name $value}] \
                    "ERR CONFIG SET failed (possibly related to argument '$name') - $message"
                assert {[r CONFIG GET $name] in {{save {}} {appendonly no}}}
            }
            assert {[string first "$message." [$current_server log]] > 0}
        }
        list [file exists $dir/dump.rdb] [r GET k]
    }
} {0 v}
check_in 2 "a server that only reads leaves the directory to others until it saves" {
    with_server {} {
        set dir [$current_server folder]
        with_server_in $dir {save {3600 1}} {}
        r SET k v
        r SAVE
        start_beside {save {3600 1}}
    }
} "The directory * is in use by another server *" -match glob
check_in 2 "a killed server leaves no lock behind, even while it saves" {
    with_server {save {3600 1} rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3
        r BGSAVE
        wait_until {[info_field rdb_bgsave_in_progress] == 1}
        foreach _ {1 2 3} {
            $current_server crash
            set ::default_client ""
            r MSET a 1 b 2 c 3
            r BGSAVE
        }
        start_beside {save {3600 1}}
    }
} "The directory * is in use by another server *" -match glob
check_in 2 "a lock whose owner is about to end is waited for" {
    with_server {appendonly yes} {
        set dir [$current_server data]
        set ending [exec sh -c "exec >[$current_server folder]/out 2>&1; sleep 0.1; kill -KILL [$current_server pid]" &]
        # It starts, and ends because it finds no port.
        lassign [server_run [list --port 0 --dir $dir --appendonly yes]] status output
        $current_server crash
        list $status [string match "*Configured to listen nowhere*" $output]
    }
} {1 1}
check_in 2 "where nothing can be written a server starts without a lock" {
    with_server_in /sys {save {3600 1}} {
        r CONFIG SET save "" ;# or it does not end, as it cannot save
        string match "*The directory /sys is not locked, as nothing can be written to it*" [$current_server log]
    }
} 1

# --- While it runs

check_in 2 "CONFIG SET dir does not lead to a directory that another server uses" {
    with_server {appendonly yes} {
        set message [in_use]
        set taken [$current_server data]
        with_server {save {3600 1} enable-protected-configs yes} {
            set own [$current_server data]
            assert_equal [error_of {r CONFIG SET dir $taken}] \
                "ERR CONFIG SET failed (possibly related to argument 'dir') - $message"
            assert_equal [r CONFIG GET dir] [list dir $own]
            r SAVE
            list [file exists $own/dump.rdb] [file exists $taken/dump.rdb]
        }
    }
} {1 0}
check_in 2 "CONFIG SET dir takes the lock with it" {
    with_server {save {3600 1} enable-protected-configs yes} {
        set old [$current_server data]
        set new $old/new
        file mkdir $new
        foreach dir [list $new $new ../new ..] {
            r CONFIG SET dir $dir
        }
        r CONFIG SET save "60 1" dir new
        assert_equal [start_beside [list dir $new save {1 1}]] [in_use $new]
        # No server uses the old one.
        with_server_in $old {save {3600 1}} {r PING}
    }
} PONG
# A job that writes to the old directory waits when it calls fsync.
set jobs {
    "BGSAVE"                   BGSAVE       {}
    "BGREWRITEAOF"             BGREWRITEAOF {}
    "BGREWRITEAOF as commands" BGREWRITEAOF {aof-use-rdb-preamble no}
}
proc with_job_in_old_dir {request directives body} {
    uplevel 1 [list with_faulty_server [list save {3600 1} enable-protected-configs yes {*}$directives] "
        set old \[\$current_server data]
        set new \$old/new
        file mkdir \$new \$new/er
        r SET k v
        faults {sync hold temp-*}
        r $request
        wait_until {\[fault_hits sync*] ne {}}
        $body
    "]
}
proc job_ended {} {
    return [expr {[info_field rdb_bgsave_in_progress] == 0 && [info_field aof_rewrite_in_progress] == 0}]
}
foreach {what request directives} $jobs {
    check_in 2 "CONFIG SET dir leaves the old directory locked while it is written to: $what" {
        with_job_in_old_dir $request $directives {
            foreach dir [list $new $new/er $old $new/er] {
                r CONFIG SET dir $dir
                assert_equal [start_beside [list dir $dir save {1 1}]] [in_use $dir]
                assert_equal [start_beside {save {1 1}}] [in_use]
            }
            # No job ever wrote to this one.
            with_server_in $new {save {3600 1}} {r PING}
            faults
            wait_until {[job_ended]}
            assert {[glob -nocomplain -directory $new/er *.rdb *aof*] eq {}}
            if {$request eq "BGSAVE"} {
                with_server_in $old {save {3600 1}} {r GET k}
            } else {
                # The history is yet to be deleted.
                file exists $old/appendonlydir/appendonly.aof.manifest
            }
        }
    } [expr {$request eq "BGSAVE" ? "v" : 1}]
}
foreach {what request directives} [lrange $jobs 0 2] {
    check_in 2 "a snapshot that is given up after CONFIG SET dir leaves neither file nor lock: $what" {
        with_job_in_old_dir $request $directives {
            r CONFIG SET dir $new save ""
            r FLUSHALL
            faults
            wait_until {[job_ended]}
            assert_nothing_left
            with_server_in $old {save {3600 1}} {r DBSIZE}
        }
    } 0
}
check_in 2 "the log names the old directory when a snapshot fails there after CONFIG SET dir" {
    with_job_in_old_dir BGSAVE {} {
        r CONFIG SET dir $new
        file mkdir $old/dump.rdb/full
        faults
        wait_until {[job_ended]}
        string match "*Error moving temp DB file * (in server root dir $old):*" [$current_server log]
    }
} 1
check_in 2 "the directory of the append-only file stays locked until that is off" {
    with_server {appendonly yes enable-protected-configs yes} {
        set old [$current_server data]
        set new $old/new
        file mkdir $new
        foreach dir [list $new $old $new] {
            r CONFIG SET dir $dir
            assert_equal [start_beside {appendonly yes}] [in_use]
        }
        r CONFIG SET appendonly no
        with_server_in $old {appendonly yes} {r PING}
    }
} PONG

# --- Beside packlist-check

check_in 2 "packlist-check reads what a server uses, but does not cut it" {
    with_server {appendonly yes aof-load-truncated no} {
        r SET k v
        set manifest [$current_server data]/appendonlydir/appendonly.aof.manifest
        set increment [$current_server data]/appendonlydir/appendonly.aof.1.incr.aof
        assert_equal [catch {exec $check_binary $manifest}] 0
        set size [file size $increment]
        set file [open $increment ab]
        puts -nonewline $file "*3\r\n"
        close $file
        catch {exec $check_binary --fix --yes $increment} said
        assert {[string match "*not cut: a server (process [$current_server pid]) uses it*" $said]}
        assert_equal [file size $increment] [expr {$size + 4}]
        $current_server halt
        exec $check_binary --fix --yes $increment
        assert_equal [file size $increment] $size
        $current_server launch
        set ::default_client ""
        r GET k
    }
} v

finish
