# Random commands while a snapshot is being written: what is in the file is the data of the moment when it began, and
# after a rewrite of the append-only file with the same going on nothing is lost. PACKLIST_SEED repeats a run.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join [file dirname [file normalize [info script]]] lib aof.tcl]

server_start


proc below {limit} {
    return [expr {int(rand() * $limit)}]
}

proc pick {choices} {
    return [lindex $choices [below [llength $choices]]]
}

set key_count 600

proc random_key {} {
    return k[below [expr {2 * $::key_count}]]
}

proc random_text {} {
    return [string repeat [pick {x ab 12}] [pick {1 5 30 150}]][below 100000]
}

# Large strings, which a snapshot captures instead of copying them. They are made once, as that takes long.
set large_count 8

# Compressible, or not.
proc make_large_text {compressible} {
    set size [expr {260000 + [below 400000]}]
    if {$compressible} {
        return [string range [string repeat "[random_text] [below 1000000] " [expr {1 + $size / 6}]] 0 $size]
    }
    set words [lmap _ [lrepeat 2500 x] {below 4294967296}]
    return [string range [string repeat [binary format I* $words] 70] 0 $size]
}

proc random_large_command {} {
    set k large[below $::large_count]
    set other large[below $::large_count]
    set text [string repeat [random_text] [pick {1 300}]]
    return [pick [list \
        [list SETRANGE $k [below 700000] $text] [list SETRANGE $k [below 700000] $text] [list APPEND $k $text] \
        [list SETBIT $k [below 5000000] [below 2]] [list SETBIT $k [below 5000000] [below 2]] \
        [list BITFIELD $k SET u8 [below 5000000] 7 INCRBY i32 [below 5000000] -3 GET u4 [below 5000000]] \
        [list SET $k [pick $::large_texts]] [list GETSET $k [pick $::large_texts]] [list SET $k $text] \
        [list GETDEL $k] \
        [list DEL $k] [list UNLINK $k] [list RENAME $k $other] [list COPY $k $other REPLACE] [list MOVE $k 1] \
        [list BITOP NOT $k $other] [list BITOP XOR $k $k $other] [list EXPIRE $k 1000] [list PERSIST $k] \
        [list PEXPIRE $k 1] [list STRLEN $k] [list BITCOUNT $k] [list GETRANGE $k 250000 250010]]]
}

# A value for key number `i`: strings of all kinds, lists short and long, some of them so long that they are captured.
proc value_command {i} {
    set text [random_text]
    switch [expr {$i % 7}] {
        0 { return [list SET k$i $text] }
        1 { return [list SET k$i [below 1000000]] }
        2 { return [list SET k$i [string repeat $text 40] EX 1000] }
        3 { return [list RPUSH k$i $text a 1] }
        4 { return [list RPUSH k$i {*}[lrepeat 60 $text]] }
        5 { return [list RPUSH k$i {*}[lrepeat [pick {300 1500}] "$text [string repeat y 50]"]] }
        6 { return [list RPUSH k$i [string repeat $text 300] b] }
    }
}

proc random_command {} {
    if {[below 8] == 0} {
        return [random_large_command]
    }
    set k [random_key]
    set other [random_key]
    set text [random_text]
    if {[below 400] == 0} {
        return [pick {{SWAPDB 0 1} {SWAPDB 1 2} FLUSHDB {FLUSHDB ASYNC}}]
    }
    return [pick [list \
        [list SET $k $text] [list SET $k $text GET] [list SET $k $text KEEPTTL] \
        [list SET $k $text PX [pick {1 90000}]] \
        [list GETSET $k $text] [list APPEND $k $text] [list SETRANGE $k 3 $text] [list INCR n[below 50]] \
        [list DEL $k] [list UNLINK $k] [list RENAME $k $other] [list COPY $k $other REPLACE] \
        [list COPY $k $other DB 1 REPLACE] [list MOVE $k 2] [list EXPIRE $k 1000] [list PERSIST $k] \
        [list PEXPIRE $k 1] [list LPUSH $k $text a] [list RPUSH $k {*}[lrepeat [pick {1 5 200}] $text]] \
        [list LPOP $k] [list RPOP $k 3] [list LSET $k [pick {0 -1 30 250}] $text] [list LTRIM $k 1 -2] \
        [list LREM $k 0 a] [list LREM $k -2 $text] [list LINSERT $k BEFORE a $text] [list LMOVE $k $other LEFT RIGHT] \
        [list RPOPLPUSH $k $other] [list GETDEL $k] [list GETEX $k PX 90000] [list MSET $k $text $other $text] \
        [list SORT $k ALPHA STORE $other] [list SETBIT $k 77 1] [list BITOP NOT $k $other] \
        [list BITFIELD $k SET u8 0 7] [list SELECT [below 3]] [list LMPOP 2 $k $other LEFT] \
        [list RESTORE $k 0 [binary format H* 00c0070a00] REPLACE] [list TOUCH $k] [list LRANGE $k 0 3]]]
}

proc fill {} {
    foreach database {0 1 2} count [list $::key_count 100 20] {
        r SELECT $database
        for {set i 0} {$i < $count} {incr i} {
            r {*}[value_command $i]
        }
    }
    r SELECT 0
    for {set i 0} {$i < $::large_count} {incr i} {
        r SET large$i [pick $::large_texts]
    }
}

# Random commands until `done` is true. What is slowed down so that they meet it must not be done before when the
# machine stands still for a while; when there were enough it may go faster.
proc change_until {done} {
    set commands 0
    while {![uplevel 1 [list expr $done]]} {
        if {$commands == 200} {
            $::current_server control CONFIG SET rdb-key-save-delay 500
        }
        set requests {}
        for {set i 0} {$i < 20} {incr i} {
            lappend requests [random_command]
        }
        [default_client] pipeline $requests
        incr commands 20
    }
    return $commands
}

proc digest_of_file {path} {
    with_server {} {
        file copy -force $path [$::current_server folder]/dump.rdb
        r DEBUG RELOAD NOSAVE
        return [r DEBUG DIGEST]
    }
}

# After expired keys are deleted, in every database: SCAN does, KEYS only leaves them out.
proc digest_of_living {} {
    foreach database {0 1 2} {
        r SELECT $database
        r SCAN 0 COUNT 100000
    }
    return [r DEBUG DIGEST]
}

expr {srand($seed)}
set large_texts [lmap compressible {0 1 0 1} {make_large_text $compressible}]

foreach {name directives settings} {
    "as it is"                {} {}
    "with packed nodes"       {list-compress-depth 1 list-max-listpack-size 16} {}
    "packed meanwhile"        {} {list-compress-depth 1}
    "without compression"     {rdbcompression no} {}
    "with a policy of usage"  {maxmemory 1gb maxmemory-policy allkeys-lfu lazyfree-lazy-user-del yes} {}
} {
    check_in 2 "a snapshot has the data of the moment when it began: $name" {
        expr {srand($seed)}
        with_server [dict merge {rdb-save-slice-us 20 rdb-key-save-delay 2000} $directives] {
            foreach _ {1 2} {
                r FLUSHALL
                fill
                lassign [[default_client] pipeline {{DEBUG DIGEST} BGSAVE}] digest answer
                assert_equal $answer "Background saving started"
                foreach {directive value} $settings {
                    r CONFIG SET $directive $value
                }
                set commands [change_until {![info_field rdb_bgsave_in_progress]}]
                assert_equal [info_field rdb_last_bgsave_status] ok
                assert {$commands >= 100 && [info_field slices_last_keys_early] > 0}
                assert_equal [digest_of_file [$current_server folder]/dump.rdb] $digest
            }
        }
    }
    check_in 2 "a rewrite of the append-only file loses nothing that happens meanwhile: $name" {
        expr {srand($seed)}
        with_server [dict merge {appendonly yes rdb-save-slice-us 20 rdb-key-save-delay 2000} $directives] {
            fill
            assert_equal [r BGREWRITEAOF] "Background append only file rewriting started"
            foreach {directive value} $settings {
                r CONFIG SET $directive $value
            }
            change_until {![info_field aof_rewrite_in_progress]}
            assert_equal [info_field aof_last_bgrewrite_status] ok
            wait_written
            after 5
            set digest [digest_of_living]
            server_again crash
            assert_equal [digest_of_living] $digest
        }
    }
}

check_in 2 "a snapshot that FLUSHALL ends, and one that fails, do not show in the next one" {
    with_server {rdb-key-save-delay 500} {
        set file [$current_server folder]/dump.rdb
        foreach way {flush fail stop} {
            fill
            if {$way eq "fail"} {
                file delete $file
                file mkdir $file/folder
                r CONFIG SET rdb-key-save-delay 0
            }
            r BGSAVE
            if {$way eq "flush"} {
                r FLUSHALL
                fill
            } elseif {$way eq "fail"} {
                wait_until {![info_field rdb_bgsave_in_progress]}
                assert_equal [info_field rdb_last_bgsave_status] err
                file delete -force $file
            } else {
                r CONFIG SET rdb-key-save-delay 500
                r UNLINK k5 k12 k19 large1 large2
                r SETRANGE large3 300000 changed
                r DEBUG RELOAD
                r CONFIG SET rdb-key-save-delay 0
            }
            lassign [[default_client] pipeline {{DEBUG DIGEST} BGSAVE}] digest answer
            assert_equal $answer "Background saving started"
            change_until {![info_field rdb_bgsave_in_progress]}
            assert_equal [digest_of_file $file] $digest
            assert_equal [glob -nocomplain -directory [$current_server folder] temp-*] {}
            r FLUSHALL
        }
    }
}

finish
