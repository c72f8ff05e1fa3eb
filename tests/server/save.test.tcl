# Snapshots: SAVE, BGSAVE, LASTSAVE, save points; what is on disk, and what happens when it cannot be written.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-protected-configs yes}

proc file_of_data {} {
    return [$::current_server folder]/dump.rdb
}

# The names of the files in the working directory that a snapshot might leave.
proc leftovers {} {
    return [glob -nocomplain -tails -directory [$::current_server folder] temp-*]
}

proc wait_saved {} {
    wait_until {![info_field rdb_bgsave_in_progress]}
}

# A field of what INFO persistence answered.
proc persistence_field {info name} {
    regexp -line "^$name:(\[^\r]*)" $info _ value
    return $value
}

# Runs the body while saving some keys in the background takes its time: two seconds, or as long as the delay of each
# of the 2000 keys says.
proc with_slow_save {body {delay_us 1000}} {
    r DEBUG POPULATE 2000 slow
    with_config [list rdb-key-save-delay $delay_us] {
        r BGSAVE
        uplevel 1 $body
    }
}

# Makes it impossible to replace the file while the body runs: a folder has its name.
proc with_folder_in_the_way {body} {
    file delete -force [file_of_data]
    file mkdir [file_of_data]/folder
    try {
        uplevel 1 $body
    } finally {
        file delete -force [file_of_data]
    }
}

# --- The commands

check "SAVE writes a file, and LASTSAVE returns the time" {
    file delete [file_of_data]
    r RPUSH list a b c
    set before [clock seconds]
    assert_equal [typed SAVE] {simple OK}
    assert {[r LASTSAVE] >= $before && [r LASTSAVE] <= [clock seconds]}
    string range [read_file [file_of_data]] 0 8
} REDIS0010
check_error "SAVE takes no argument" {r SAVE now} "ERR wrong number of arguments for 'save' command"
check "BGSAVE writes the file in the background" {
    file delete [file_of_data]
    r SET key value
    assert_equal [typed BGSAVE] {simple {Background saving started}}
    wait_saved
    assert {[file exists [file_of_data]]}
    leftovers
} {}
check "BGSAVE SCHEDULE begins at once when nothing is in the way" {
    assert_equal [r BGSAVE schedule] "Background saving started"
    wait_saved
}
check "BGSAVE takes no other argument" {
    list [error_of {r BGSAVE now}] [error_of {r BGSAVE SCHEDULE now}]
} {{ERR syntax error} {ERR syntax error}}
check "while a save runs, there is no other" {
    with_slow_save {
        set errors [lmap command {SAVE BGSAVE {BGSAVE SCHEDULE}} {error_of {r {*}$command}}]
    }
    r FLUSHALL
    wait_saved
    lsort -unique $errors
} {{ERR Background save already in progress}}
check "BGSAVE CANCEL ends a snapshot that is being written, and nothing of it is left" {
    file delete [file_of_data]
    r SET key value
    set saves [info_field rdb_saves]
    with_slow_save {
        assert_equal [typed BGSAVE cancel] {simple {Background saving cancelled}}
        assert_equal [info_field rdb_bgsave_in_progress] 0
    }
    wait_until {[leftovers] eq {}}
    assert_equal [list [file exists [file_of_data]] [info_field rdb_last_bgsave_status]] {0 ok}
    assert {[info_field rdb_changes_since_last_save] > 0}
    assert_equal [r BGSAVE] "Background saving started"
    wait_saved
    expr {[info_field rdb_saves] - $saves}
} 2
check "BGSAVE CANCEL revokes what a transaction has scheduled, also in it" {
    set saves [info_field rdb_saves]
    r MULTI
    r BGSAVE
    r BGSAVE CANCEL
    r BGSAVE CANCEL
    set replies [lmap reply [lindex [typed EXEC] 1] {lindex $reply 1}]
    list $replies [expr {[info_field rdb_saves] - $saves}]
} {{{Background saving scheduled} {Scheduled background saving cancelled}\
    {ERR Background saving is currently not in progress or scheduled}} 0}
check "BGSAVE CANCEL has nothing to do, or an argument too many" {
    wait_saved
    list [error_of {r BGSAVE CANCEL}] [error_of {r BGSAVE CANCEL now}] [error_of {r BGSAVE SCHEDULE CANCEL}]
} {{ERR Background saving is currently not in progress or scheduled} {ERR syntax error} {ERR syntax error}}
check "SAVE cannot be queued; BGSAVE in a transaction begins after it" {
    r MULTI
    assert_equal [error_of {r SAVE}] "ERR Command not allowed inside a transaction"
    r DISCARD
    set before [info_field rdb_saves]
    r MULTI
    r BGSAVE
    assert_equal [r EXEC] {{Background saving scheduled}}
    wait_until {[info_field rdb_saves] == $before + 1}
    wait_saved
}

# --- What is in the file

check_in 2 "everything is there again after a restart" {
    with_server {save {""}} {
        r SET text [string repeat "some text " 100]
        r SET number 12345
        r SET expiring soon EX 1000
        r RPUSH small a b 3
        r RPUSH large {*}[lrepeat 3000 "an element of a large list"]
        r RPUSH huge [string repeat x 100000]
        r SELECT 9
        r SET other here
        r SELECT 0
        set before [lmap key {text number small large huge} {r DEBUG OBJECT $key}]
        r SAVE
        $current_server restart
        set default_client ""
        assert_equal [r GET text] [string repeat "some text " 100]
        assert_equal [list [r GET number] [r LRANGE small 0 -1] [r LLEN large] [r LINDEX huge 0]] \
            [list 12345 {a b 3} 3000 [string repeat x 100000]]
        assert {[r TTL expiring] > 900 && [r TTL expiring] <= 1000}
        assert_equal [list [r OBJECT ENCODING small] [r OBJECT ENCODING large]] {listpack quicklist}
        assert_equal [list [r DBSIZE] [info_field rdb_last_load_keys_loaded]] {6 7}
        r SELECT 9
        r GET other
    }
} here
check_in 2 "expired keys are not loaded" {
    with_server {} {
        r DEBUG SET-ACTIVE-EXPIRE 0
        r SET gone soon PX 1
        r SET stays x
        r SAVE
        $current_server restart
        set default_client ""
        list [r DBSIZE] [info_field rdb_last_load_keys_loaded] [info_field rdb_last_load_keys_expired]
    }
} {1 1 1}
check_in 2 "how long a key was not used, or how often it was, is kept where the policy asks for it" {
    with_server {maxmemory 1gb maxmemory-policy allkeys-lru} {
        r SET key x
        r SAVE
        after 1100
        r SAVE
        $current_server restart
        set default_client ""
        assert {[r OBJECT IDLETIME key] >= 1}
    }
    with_server {maxmemory 1gb maxmemory-policy allkeys-lfu lfu-log-factor 0 lfu-decay-time 0} {
        r SET key x
        foreach _ {1 2 3} {r GET key}
        set frequency [r OBJECT FREQ key]
        r SAVE
        $current_server restart
        set default_client ""
        assert {$frequency > 5}
        assert_equal [r OBJECT FREQ key] $frequency
    }
}
check_in 2 "a file that is written after a change of the policy has what is known of each key" {
    with_server {maxmemory 1gb maxmemory-policy allkeys-lru lfu-log-factor 0 lfu-decay-time 0} {
        r SET key x
        r RESTORE idle 0 [r DUMP key] IDLETIME 100000
        r CONFIG SET maxmemory-policy allkeys-lfu
        r SET used x
        r GET used
        r DEBUG RELOAD
        assert_equal [list [r OBJECT FREQ key] [r OBJECT FREQ idle] [r OBJECT FREQ used]] {5 5 6}
        r CONFIG SET maxmemory-policy allkeys-lru
        r DEBUG RELOAD
        foreach key {key idle used} { assert {[r OBJECT IDLETIME $key] < 60} }
    }
}
check "rdbcompression makes the file smaller" {
    r SET key [string repeat "the same again " 1000]
    r SAVE
    set packed [file size [file_of_data]]
    with_config {rdbcompression no} {r SAVE}
    expr {$packed * 10 < [file size [file_of_data]]}
} 1
check_in 2 "without rdbchecksum the file ends in zeros, with it in a checksum that is looked at" {
    set zeros [string repeat \0 8]
    with_server {rdbchecksum no} {
        r SET key value
        r SAVE
        assert_equal [string range [read_file [file_of_data]] end-7 end] $zeros
        $current_server restart
        set default_client ""
        assert_equal [r GET key] value
    }
    with_server {} {
        r SAVE
        string equal [string range [read_file [file_of_data]] end-7 end] $zeros
    }
} 0
check "a snapshot holds the data of the moment when it began" {
    r DEBUG POPULATE 500 before
    with_config {rdb-key-save-delay 500} {
        r BGSAVE
        r DEBUG POPULATE 500 after
        r SET before:1 changed
        wait_saved
    }
    r DEBUG RELOAD NOSAVE
    list [r DBSIZE] [r GET before:1]
} {500 value:1}

# --- Stats

check "INFO counts changes since the snapshot on disk" {
    r SAVE
    r SET a 1
    r RPUSH l x y
    assert_equal [info_field rdb_changes_since_last_save] 3
    with_slow_save {
        r SET b 1
        wait_saved
    }
    assert_equal [info_field rdb_changes_since_last_save] 1
    r SAVE
    info_field rdb_changes_since_last_save
} 0
check "INFO shows the state of a save" {
    r SAVE
    set saves [info_field rdb_saves]
    with_slow_save {
        wait_until {
            [set info [r INFO persistence]] ne "" && [persistence_field $info current_save_keys_processed] > 100
        }
        foreach name {rdb_bgsave_in_progress rdb_current_bgsave_time_sec current_save_keys_total current_fork_perc
                      current_cow_size current_cow_peak current_cow_size_age} {
            set $name [persistence_field $info $name]
        }
        assert_equal [list $rdb_bgsave_in_progress $current_save_keys_total] {1 2000}
        assert {$rdb_current_bgsave_time_sec >= 0 && $current_cow_size_age <= 60}
        assert {$current_fork_perc > 1 && $current_fork_perc < 100}
        assert {$current_cow_peak >= $current_cow_size}
        wait_saved
    }
    assert_equal [lmap name {current_cow_size current_save_keys_processed current_save_keys_total
        rdb_current_bgsave_time_sec rdb_last_bgsave_status} {info_field $name}] {0 0 0 -1 ok}
    assert {[info_field rdb_last_bgsave_time_sec] >= 1}
    assert {[info_field rdb_last_cow_size] > 0}
    assert_equal [list [info_field latest_fork_usec] [info_field total_forks]] {0 0}
    expr {[info_field rdb_saves] - $saves}
} 1
check "INFO shows the state of slices" {
    r DEBUG POPULATE 2000 slow
    with_config {rdb-key-save-delay 1000} {
        # In one write: the iterator has visited at most its first key before the changes.
        [default_client] pipeline {BGSAVE {SET slow:1 changed} {SET slow:2 changed} {SET slow:3 changed}}
        wait_saved
    }
    assert {[info_field slices_last_longest_usec] > 0}
    expr {[info_field slices_last_keys_early] in {2 3}}
} 1

# --- Save points

check_in 2 "a save point saves when there are enough changes and time has passed" {
    with_server {save {1 3}} {
        r RPUSH l a b
        after 2200
        assert_equal [info_field rdb_saves] 0
        r RPUSH l c
        wait_until {[info_field rdb_saves] == 1 && [info_field rdb_changes_since_last_save] == 0}
        assert {[file exists [file_of_data]]}
        string match "*3 changes in 1 seconds. Saving...*" [$current_server log]
    }
} 1
check_in 2 "save points can be changed while it runs" {
    with_server {} {
        r SET a 1
        r CONFIG SET save "1 1"
        wait_until {[info_field rdb_saves] == 1}
        r CONFIG SET save ""
        r SET a 2
        after 2300
        info_field rdb_saves
    }
} 1

# --- What goes wrong

check "a failed SAVE replies with an error, logs the reason and leaves no file" {
    r SET key value
    with_folder_in_the_way {
        assert_equal [error_of {r SAVE}] ERR
        assert_equal [leftovers] {}
    }
    assert {[info_field rdb_changes_since_last_save] > 0}
    set line {# Error moving temp DB file temp-\d+-[0-9a-f]+.rdb on the final destination dump.rdb .*: Is a directory}
    regexp -line $line [$current_server log]
} 1
check "without save points a failed save refuses no writes" {
    with_folder_in_the_way {
        r BGSAVE
        wait_saved
        assert_equal [info_field rdb_last_bgsave_status] err
        r SET key value
    }
    r SAVE
    info_field rdb_last_bgsave_status
} ok
set misconf "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands\
that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB\
snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error."
check "with save points, writes are refused until a snapshot succeeds" {
    with_config {save "3600 100000"} {
        r SET key value
        with_folder_in_the_way {
            r BGSAVE
            wait_saved
            foreach command {{SET key other} {RPUSH l a} {DEL nosuch} PING FLUSHALL {SWAPDB 0 1} {BLPOP l 0}} {
                assert_equal [error_of {r {*}$command}] $misconf
            }
            assert_equal [list [r GET key] [r PUBLISH channel text] [r EXISTS l]] {value 0 0}
            assert_equal [r EVAL {return redis.call('PING')} 0] PONG
            assert_match "$misconf script: *" [error_of {r EVAL {return redis.call('SET', KEYS[1], 'other')} 1 key}]
            r MULTI
            assert_equal [error_of {r SET key other}] $misconf
            assert_equal [error_of {r EXEC}] "EXECABORT Transaction discarded because of previous errors."
            r MULTI
            r GET key
            assert_equal [r EXEC] value
            with_config {stop-writes-on-bgsave-error no} {
                r SET key other
            }
            assert_equal [error_of {r SET key third}] $misconf
            r CONFIG SET save ""
            r SET key third
            r CONFIG SET save "3600 100000"
            assert_equal [error_of {r PING}] $misconf
        }
        r SAVE
        list [r PING] [r SET key fourth] [info_field rdb_last_bgsave_status]
    }
} {PONG OK ok}
check_in 2 "a transaction queued before the disk failed is refused as a whole" {
    with_config {save "3600 100000"} {
        r MULTI
        r SET key value
        with_folder_in_the_way {
            set c [client_open]
            $c call BGSAVE
            wait_saved
            assert {[string match "EXECABORT Transaction discarded because of: MISCONF *" [error_of {r EXEC}]]}
        }
        r SAVE
        r EXISTS key
    }
} 0
check_in 2 "a transaction that does not write is run while writing is refused, also with PING in it" {
    with_config {save "3600 100000"} {
        r MULTI
        r PING
        r EXISTS key
        with_folder_in_the_way {
            set c [client_open]
            $c call BGSAVE
            wait_saved
            set answers [r EXEC]
        }
        r SAVE
        set answers
    }
} {PONG 0}
check_in 2 "a save that failed is tried again after five seconds" {
    with_server {save {1 1}} {
        with_folder_in_the_way {
            r SET key value
            wait_until {[info_field rdb_last_bgsave_status] eq "err"}
        }
        assert_equal [info_field rdb_saves] 1
        wait_until {[info_field rdb_last_bgsave_status] eq "ok"}
        assert_equal [info_field rdb_saves] 2
        set times [regexp -all -inline {(\d\d:\d\d:\d\d)\.\d+ \* Background saving started} [$current_server log]]
        set seconds [expr {[clock scan [lindex $times 3]] - [clock scan [lindex $times 1]]}]
        expr {$seconds % 86400 >= 5} ;# also at midnight
    }
} 1
check "FLUSHALL stops a save, whose data is obsolete" {
    with_slow_save {
        wait_until {[leftovers] ne {}}
        r FLUSHALL
        wait_saved
    } 1000000
    wait_until {[leftovers] eq {}}
    list [leftovers] [info_field rdb_last_bgsave_status]
} {{} ok}
check "a save right after a stopped rewrite begins when its iterators have ended" {
    with_server {rdb-save-slice-us 8 appendonly yes} {
        set replies [[default_client] pipeline {
            {DEBUG POPULATE 50000} BGREWRITEAOF {CONFIG SET appendonly no} {SET key new} BGSAVE BGSAVE
        }]
        assert_equal [lrange $replies end-1 end] \
            {{Background saving started} {(error) ERR Background save already in progress}}
        wait_saved
        assert_equal [info_field rdb_last_bgsave_status] ok
        assert {[string match "*starts when a stopped snapshot has released its data*" [$current_server log]]}
        r DEBUG RELOAD NOSAVE
        list [r DBSIZE] [r GET key]
    }
} {50001 new}
check "a rewrite right after a stopped save begins when its iterators have ended" {
    with_server {rdb-save-slice-us 8 appendonly yes} {
        set replies [[default_client] pipeline {
            {DEBUG POPULATE 50000} BGREWRITEAOF {CONFIG SET appendonly no} {SET key new} {CONFIG SET appendonly yes}
            {SET key newer}
        }]
        assert_equal [lindex $replies end-1] OK
        wait_until {![info_field aof_rewrite_in_progress] && ![info_field aof_rewrite_scheduled]}
        assert_equal [info_field aof_last_bgrewrite_status] ok
        r DEBUG LOADAOF
        list [r DBSIZE] [r GET key]
    }
} {50001 newer}
check "FLUSHALL leaves nothing of the save that it stops, so the next one begins at once" {
    with_server {rdb-save-slice-us 8} {
        set requests {{DEBUG POPULATE 50000} BGSAVE FLUSHALL {SET key new} BGSAVE}
        set replies [[default_client] pipeline $requests]
        assert_equal [lindex $replies end] "Background saving started"
        wait_saved
        assert_equal [regexp -all {Background saving started} [$current_server log]] 2
        assert {![string match "*has released its data*" [$current_server log]]}
        wait_until {[leftovers] eq {}}
        $current_server restart
        set default_client ""
        list [r DBSIZE] [r GET key]
    }
} {1 new}
check "FLUSHDB is answered while a save still needs the keys, which are freed when it ends" {
    with_server {} {
        set used [info_field used_memory]
        r DEBUG POPULATE 5000
        r CONFIG SET rdb-key-save-delay 10000
        r BGSAVE
        r FLUSHDB
        assert_equal [list [r DBSIZE] [info_field rdb_bgsave_in_progress]] {0 1}
        r CONFIG SET rdb-key-save-delay 0
        wait_saved
        wait_until {[info_field used_memory] - $used < 200000 + $spare_blocks}
        $current_server restart
        set default_client ""
        r DBSIZE
    }
} 5000
check_in 2 "FLUSHALL empties the file, too, if there are save points" {
    with_server {save {3600 1000}} {
        r SET key value
        r SAVE
        r FLUSHALL
        $current_server kill
        $current_server launch_with {}
        set default_client ""
        r DBSIZE
    }
} 0
check_in 2 "a server that is killed leaves the last snapshot whole" {
    with_server {} {
        r RPUSH key {*}[lrepeat 1000 element]
        r SAVE
        with_slow_save {
            wait_until {[leftovers] ne {}}
            $current_server kill
            $current_server launch_with {}
            set default_client ""
            assert_equal [r LLEN key] 1000
            r CONFIG SET rdb-key-save-delay 1000
        }
    }
}
check "connections that are closed during a save are noticed" {
    with_slow_save {
        set c [client_open]
        $c send CLIENT KILL ID [$c call CLIENT ID] SKIPME no
        assert_equal [info_field rdb_bgsave_in_progress] 1
        $c read_all
        assert_equal [info_field rdb_bgsave_in_progress] 1
        r FLUSHALL
    } 1000000
    wait_saved
}

# --- Where

check "dir and dbfilename say where the file is, and can be changed" {
    set folder [$current_server folder]
    file mkdir $folder/sub
    with_config [list dir $folder/sub dbfilename other.rdb] {
        assert_equal [r CONFIG GET dir] [list dir $folder/sub]
        r SET key value
        r SAVE
        assert {[file exists $folder/sub/other.rdb]}
        r CONFIG SET dir ..
        assert_equal [r CONFIG GET dir] [list dir $folder]
    }
    assert_equal [error_of {r CONFIG SET dir /nosuch}] \
        "ERR CONFIG SET failed (possibly related to argument 'dir') - No such file or directory"
    # All or nothing: the working directory is as before.
    assert_equal [error_of {r CONFIG SET dir / hz x}] \
        "ERR CONFIG SET failed (possibly related to argument 'hz') - argument couldn't be parsed into an integer"
    list [r CONFIG GET dir] [file readlink /proc/[$current_server pid]/cwd]
} [list "dir [$current_server folder]" [$current_server folder]]
check_in 2 "dir and dbfilename are protected unless enable-protected-configs allows their change" {
    foreach {access allowed} {no 0 local 1 yes 1} {
        with_server [list enable-protected-configs $access] {
            foreach {name value} {dir / dbfilename x.rdb} {
                set refused [catch {r CONFIG SET $name $value} error]
                assert_equal $refused [expr {!$allowed}]
                assert {$allowed || $error eq "ERR CONFIG SET failed (possibly related to argument '$name') - can't\
                    set protected config"}
            }
        }
    }
}

finish
