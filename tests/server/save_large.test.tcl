# Large strings in snapshots: they are not copied but captured. A change meanwhile costs memory only for the changed
# pieces, and no client waits for the disk.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/faults.tcl

server_start

set size 10000000
set some 2000000 ;# far less than a string, and more than what the snapshot takes besides

proc wait_saved {} {
    wait_until {![info_field rdb_bgsave_in_progress]}
}

proc make_large {key} {
    r SETRANGE $key [expr {$::size - 100}] [string repeat "end of $key " 20]
    r SETRANGE $key 1000 "begin of $key"
}

# Begins a snapshot that makes no progress until finish_snapshot. With `captured` it has captured these keys, because a
# command touched them; their values are not written yet.
proc begin_snapshot {{captured {}}} {
    r CONFIG SET rdb-key-save-delay 100000000
    r BGSAVE
    foreach key $captured {
        r SETRANGE $key 0 ""
    }
    assert_equal [info_field slices_last_keys_early] [llength $captured]
}

proc finish_snapshot {} {
    assert_equal [info_field rdb_bgsave_in_progress] 1
    r CONFIG SET rdb-key-save-delay 0
    wait_saved
    assert_equal [info_field rdb_last_bgsave_status] ok
}

# The digest of the data in a file.
proc digest_of_file {path} {
    with_server {} {
        file copy -force $path [$::current_server folder]/dump.rdb
        r DEBUG RELOAD NOSAVE
        return [r DEBUG DIGEST]
    }
}

# Bytes of memory that a snapshot takes when nothing changes, and when commands change the captured values.
foreach {what commands least most} {
    "nothing"         {}                                                                     0         $some
    "SETRANGE"        {{SETRANGE a 5000000 changed}}                                         16384     $some
    "SETBIT"          {{SETBIT a 77 1} {SETBIT a 40000000 1}}                                32768     $some
    "BITFIELD"        {{BITFIELD a SET u8 8 1 SET u8 40000000 1 INCRBY i64 70000000 1}}      49152     $some
    "APPEND"          {{APPEND a more} {APPEND a more}}                                      0         $some
    "growth"          {{SETRANGE a 12000000 x}}                                              0         $some+6000000
    "RENAME"          {{RENAME a other}}                                                     0         $some
    "MOVE"            {{MOVE a 1}}                                                           0         $some
    "EXPIRE"          {{EXPIRE a 1000} {PERSIST a} {EXPIRE a 1000}}                          0         $some
    "COPY"            {{COPY a other}}                                                       $size     $size*1.5
    "SET"             {{SET a x}}                                                            0         $some
    "DEL"             {{DEL a}}                                                              0         $some
    "UNLINK"          {{UNLINK a}}                                                           0         $some
    "GETDEL"          {{GETDEL a}}                                                           0         $some
    "BITOP"           {{BITOP NOT a a}}                                                      $size     $size*1.5
    "FLUSHDB"         {{FLUSHDB}}                                                            -$some    $some
    "FLUSHDB ASYNC"   {{FLUSHDB ASYNC}}                                                      -$some    $some
    "expiry"          {{PEXPIRE a 1} {PEXPIRE b 1} {WAIT 1 20} {EXISTS a} {EXISTS b}}        0         $some
} {
    foreach {way captured} {"before it is reached" {} "before it is written" {a b}} {
        check_in 2 "the memory for a changed large string: $what, $way" {
            with_server {lazyfree-lazy-user-del yes} {
                make_large a
                make_large b
                set digest [r DEBUG DIGEST]
                set before [info_field used_memory]
                begin_snapshot $captured
                foreach command $commands {
                    r {*}$command
                }
                set more [expr {[info_field used_memory] - $before}]
                assert {$more >= [expr [subst $least]] && $more <= [expr [subst $most]]}
                finish_snapshot
                assert_equal [digest_of_file [$current_server folder]/dump.rdb] $digest
                r DEBUG RELOAD
            }
        } OK
    }
}

check_in 2 "eviction counts what a snapshot still holds of a large string: no more is evicted than must be" {
    with_server {maxmemory-policy allkeys-lru} {
        foreach key {a b c d e} {
            make_large $key
        }
        begin_snapshot {a b c d e}
        r CONFIG SET maxmemory [expr {[info_field used_memory] - 3000000}]
        foreach _ {1 2 3 4 5} {
            r SET small x
        }
        assert_equal [info_field evicted_keys] 1
        finish_snapshot
        info_field evicted_keys
    }
} 1

check_in 2 "memory of deleted strings that a disk holds up counts as free until it is free" {
    with_faulty_server {rdbcompression no maxmemory-policy noeviction} {
        foreach key {a b c d e} {
            make_large $key
        }
        set before [info_field used_memory]
        faults {write hold,nth=1 temp-*}
        r BGSAVE
        wait_until {[fault_hits write*] ne {}}
        r DEL a b c d e
        # Four of them were captured with one chunk, which is released; it is freed after the next one.
        faults {write hold,after=41000000 temp-*}
        wait_until {[fault_hits write*after*] ne {}}
        r CONFIG SET maxmemory [expr {$before - 45000000}]
        foreach _ {1 2 3 4 5} {
            assert_equal [r SET small x] OK
            assert {[info_field used_memory] > $before - 1000000}
        }
        faults
        wait_saved
        wait_until {[info_field used_memory] < $before - 45000000}
        r SET small x
    }
} OK

# The iterators have reached their end: only captures need the keys.
foreach command {FLUSHDB {FLUSHDB ASYNC} {UNLINK a l h s z x}} {
    check_in 2 "$command of large values that a disk holds up is answered, and leaves them to the snapshot" \
            [string map [list @command $command] {
        with_faulty_server {rdbcompression no} {
            make_large a
            set elements {}
            for {set i 0} {$i < 20000} {incr i} {lappend elements $i}
            r RPUSH l {*}$elements
            r HSET h {*}$elements
            r SADD s {*}$elements
            r ZADD z {*}$elements
            r EVAL {for i = 1, 5000 do redis.call('XADD', 'x', i .. '-0', 'field', 'some value') end} 0
            set digest [r DEBUG DIGEST]
            faults {write hold,nth=1 temp-*}
            r BGSAVE
            wait_until {[info_field current_save_keys_processed] == 6 && [fault_hits write*] ne {}}
            r @command
            assert_equal [list [r DBSIZE] [info_field rdb_bgsave_in_progress]] {0 1}
            wait_until {[info_field lazyfree_pending_objects] == 0}
            make_large a
            faults
            wait_saved
            assert_equal [info_field rdb_last_bgsave_status] ok
            string equal [digest_of_file [data_file dump.rdb]] $digest
        }
    }] 1
}

check_in 2 "a string that was captured is as any other, and can be captured again" {
    with_faulty_server {} {
        make_large a
        set text [r GET a]
        foreach round {1 2 3} {
            r BGSAVE
            wait_saved
            set file [data_file dump.rdb]
            assert_equal [list [r OBJECT ENCODING a] [r STRLEN a]] [list raw [string length $text]]
            r SETRANGE a 5000000 "round $round"
            set text [string replace $text 5000000 5000006 "round $round"]
            assert {[r GET a] eq $text}
            r COPY a b REPLACE
            assert {[r GET b] eq $text}
            r SET c [r DUMP a]
            r DEL d
            r RESTORE d 0 [r GET c]
            assert {[r GET d] eq $text}
            r DEL b c d
        }
        set digest [r DEBUG DIGEST]
        r SAVE
        assert_equal [digest_of_file $file] $digest
        r SETRANGE a 0 [string repeat y $size]
        r DEBUG RELOAD
        string equal [r GET a] "[string repeat y $size][string range $text $size end]"
    }
} 1

check_in 2 "a large string that cannot be written completely stays complete in memory" {
    with_faulty_server {rdbcompression no} {
        make_large a
        make_large b
        set digest [r DEBUG DIGEST]
        foreach rule {{write ENOSPC,after=5000000 temp-*} {write EIO,after=12000000 temp-*}} {
            faults $rule
            r BGSAVE
            r SETRANGE a 100 same
            r SETRANGE a 100 [string repeat \0 4]
            wait_saved
            faults
            assert_equal [info_field rdb_last_bgsave_status] err
            assert_equal [leftovers] {}
            assert_equal [r DEBUG DIGEST] $digest
        }
        r BGSAVE
        wait_saved
        assert_equal [info_field rdb_last_bgsave_status] ok
        string equal [digest_of_file [data_file dump.rdb]] $digest
    }
} 1

check_in 2 "after a snapshot was stopped on a stalled disk the next one waits for the disk, but no client does" {
    with_faulty_server {rdbcompression no} {
        make_large a
        faults {write hold,nth=1 temp-*}
        r BGSAVE
        wait_until {[fault_hits write*] ne {}}
        r FLUSHALL
        make_large b
        assert_equal [r BGSAVE] "Background saving started"
        assert_equal [error_of {r BGSAVE}] "ERR Background save already in progress"
        for {set i 0} {$i < 300} {incr i} {
            r SET c $i
        }
        assert_equal [list [info_field rdb_bgsave_in_progress] [info_field current_save_keys_total]] {1 0}
        assert {[string match "*starts when a stopped snapshot has released its data*" [$current_server log]]}
        r DEL c
        faults
        wait_saved
        assert_equal [info_field rdb_last_bgsave_status] ok
        r DEBUG RELOAD NOSAVE
        r KEYS *
    }
} b

check_in 2 "the server ends while a large string is being written" {
    with_faulty_server {save {3600 1000000}} {
        make_large a
        faults {open sleep=1500,nth=1 temp-*}
        r BGSAVE
        r SETRANGE a 2000000 changed
        set digest [r DEBUG DIGEST]
        $current_server restart
        set default_client ""
        string equal [r DEBUG DIGEST] $digest
    }
} 1

finish
