# The append-only file is rewritten from memory, turned on and off, and loaded again while the server runs.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/faults.tcl

server_start

# Values of every encoding, in two databases, with expiries.
proc fill {} {
    r SET number 12345
    r SET text "some \x00 bytes\r\n"
    r SET long [string repeat abc 1000]
    r SET soon v EX 1000
    r RPUSH small a 1 -5000 [string repeat x 100]
    for {set i 0} {$i < 20} {incr i} {
        r RPUSH large {*}[lrepeat 50 "element $i"] $i
    }
    r RPUSH plain [string repeat y 20000] z
    r EXPIRE plain 1000
    r SELECT 7
    r RPUSH other 1 2 3
    r SELECT 0
}

# All of it as text that can be compared.
proc contents {} {
    set all {}
    foreach database {0 7} {
        r SELECT $database
        foreach key [lsort [r KEYS *]] {
            lappend all $key [expr {[r TYPE $key] eq "list" ? [r LRANGE $key 0 -1] : [r GET $key]}] [r PEXPIRETIME $key]
        }
    }
    r SELECT 0
    return $all
}

foreach preamble {yes no} {
    check "a rewritten file holds the same data (aof-use-rdb-preamble $preamble)" {
        with_aof [list aof-use-rdb-preamble $preamble] {
            fill
            set before [contents]
            rewrite_aof
            r SET after 1
            r SELECT 7
            r SET after 2
            server_again
            assert_equal [r GET after] 1
            r DEL after
            r SELECT 7
            assert_equal [r GET after] 2
            r DEL after
            assert_equal [contents] $before
            assert_equal [contents] $before
        }
    }

    check "a rewrite replaces base and increment (aof-use-rdb-preamble $preamble)" {
        with_aof [list aof-use-rdb-preamble $preamble] {
            set kind [expr {$preamble ? "rdb" : "aof"}]
            r SET a 1
            for {set i 1} {$i <= 3} {incr i} {
                assert_equal [manifest] "file appendonly.aof.$i.base.$kind seq $i type b\nfile\
                    appendonly.aof.$i.incr.aof seq $i type i\n"
                rewrite_aof
            }
            wait_until {[llength [aof_files $::current_server *]] == 3}
            assert_equal [string length [aof_bytes]] 0
            info_field aof_rewrites
        }
    } 3
}

check "a base of commands begins with the time, with aof-timestamp-enabled" {
    with_aof {aof-use-rdb-preamble no aof-timestamp-enabled yes} {
        r SET a 1
        rewrite_aof
        set base [read_file [lindex [aof_files $::current_server *.base.aof] end]]
        assert {[regexp {\A#TS:(\d+)\r\n} $base _ noted] && abs($noted - [clock seconds]) < 200}
        assert_equal [aof_commands $base] {TS {SELECT 0} {SET a 1}}
        server_again
        r CONFIG SET aof-timestamp-enabled no
        rewrite_aof
        aof_commands [read_file [lindex [aof_files $::current_server *.base.aof] end]]
    }
} {{SELECT 0} {SET a 1}}

check "changes during a rewrite follow the data of its beginning" {
    with_aof {rdb-key-save-delay 20000} {
        for {set i 0} {$i < 30} {incr i} {
            r RPUSH l $i
            r SET k$i 1
        }
        r BGREWRITEAOF
        assert_equal [info_field aof_rewrite_in_progress] 1
        assert_equal [error_of {r BGREWRITEAOF}] "ERR Background append only file rewriting already in progress"
        while {[info_field aof_rewrite_in_progress]} {
            r INCR counter
            r RPUSH l [r LPOP l]
        }
        wait_rewritten
        set expected [list [r GET counter] [r LRANGE l 0 -1]]
        wait_written
        server_again crash
        assert_equal [list [r GET counter] [r LRANGE l 0 -1]] $expected
    }
}

proc numbers {below} {
    for {set i 0} {$i < $below} {incr i} { lappend all $i }
    return $all
}

check "a base of commands has large values as they were, while they change, go and are renamed" {
    with_aof {aof-use-rdb-preamble no rdb-key-save-delay 2000} {
        set digits [lmap i [numbers 30000] {string cat m $i}]
        foreach suffix {1 2 3} {
            r SET s$suffix [string repeat 0123456789 60000]
            r RPUSH l$suffix {*}$digits [string repeat x 100000]
            r SADD set$suffix {*}$digits
            r HSET h$suffix {*}$digits
            r HPEXPIREAT h$suffix 9999999999999 FIELDS 1 m0
            r ZADD z$suffix {*}[concat {*}[lmap i $digits {list [string range $i 1 end] $i}]]
            foreach i [numbers 3000] { r XADD x$suffix $i-1 field value$i }
        }
        r EXPIRE s1 1000
        foreach i [numbers 100] { r SET k$i 1 }
        r BGREWRITEAOF
        wait_until {[info_field current_save_keys_processed] > 0}
        foreach type {s l set h z x} { r RENAME ${type}2 renamed:$type; r DEL ${type}3 }
        for {set i 0} {[info_field aof_rewrite_in_progress]} {incr i} {
            r APPEND s1 $i
            r SETRANGE s1 [expr {$i * 1000}] x
            r RPUSH l1 [r LPOP l1]
            r SPOP set1
            r HINCRBY h1 counter 1
            r ZPOPMIN z1
            r XADD x1 * another $i
            r XDEL x1 [lindex [r XRANGE x1 - + COUNT 1] 0 0]
        }
        assert {$i > 3}
        assert {[file size [lindex [aof_files $::current_server *.2.base.aof] 0]] > 1000000}
        set before [r DEBUG DIGEST]
        server_again
        assert_equal [r DEBUG DIGEST] $before
    }
}

check "a rewrite that fails loses nothing" {
    with_faulty_server {appendonly yes} {
        fill
        set before [contents]
        faults {write EIO temp-rewriteaof*}
        r BGREWRITEAOF
        r SET during 1
        wait_rewritten
        faults
        assert_equal [info_field aof_last_bgrewrite_status] err
        assert_equal [info_field aof_rewrites_consecutive_failures] 1
        assert_nothing_left
        r SET after 1
        wait_written
        server_again crash
        assert_equal [r MGET during after] {1 1}
        r DEL during after
        assert_equal [contents] $before
        rewrite_aof
        assert_equal [info_field aof_last_bgrewrite_status] ok
        wait_until {[llength [aof_files $::current_server *]] == 3}
        server_again
        assert_equal [contents] $before
    }
}

check "killing the server during a rewrite loses nothing" {
    with_aof {rdb-key-save-delay 100000} {
        fill
        r BGREWRITEAOF
        r SET during 1
        set before [contents]
        wait_written
        server_again crash
        assert_equal [contents] $before
    }
}

check "a rewrite waits for a snapshot that is being written" {
    with_aof {rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3
        r BGSAVE
        assert_equal [r BGREWRITEAOF] "Background append only file rewriting scheduled"
        assert_equal [info_field aof_rewrite_scheduled] 1
        assert_equal [info_field aof_pending_rewrite] 1
        r CONFIG SET rdb-key-save-delay 0
        wait_rewritten
        list [info_field aof_rewrites] [info_field rdb_last_bgsave_status]
    }
} {1 ok}

check "a snapshot requested during a rewrite is refused, or begins after it" {
    with_aof {rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3
        r BGREWRITEAOF
        assert_equal [error_of {r BGSAVE}] "ERR Another child process is active (AOF?): can't BGSAVE right now. Use\
            BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible."
        assert_equal [r BGSAVE SCHEDULE] "Background saving scheduled"
        assert_equal [r BGSAVE CANCEL] "Scheduled background saving cancelled"
        assert_equal [error_of {r BGSAVE CANCEL}] "ERR Background saving is currently not in progress or scheduled"
        assert_equal [info_field aof_rewrite_in_progress] 1
        assert_equal [r BGSAVE schedule] "Background saving scheduled"
        assert_equal [list [info_field aof_rewrite_in_progress] [info_field rdb_saves]] {1 0}
        r CONFIG SET rdb-key-save-delay 0
        wait_rewritten
        wait_until {[info_field rdb_saves] == 1 && [info_field rdb_bgsave_in_progress] == 0}
        assert {[file exists [$::current_server folder]/dump.rdb]}
        list [info_field rdb_last_bgsave_status] [info_field aof_last_bgrewrite_status]
    }
} {ok ok}

check "a waiting rewrite also begins when the snapshot before it fails" {
    foreach {first second} {BGREWRITEAOF {BGSAVE SCHEDULE} BGSAVE BGREWRITEAOF} {
        with_faulty_server {appendonly yes rdb-key-save-delay 2000000} {
            r MSET a 1 b 2 c 3
            faults {write EIO,nth=1 temp-*}
            r {*}$first
            r {*}$second
            r CONFIG SET rdb-key-save-delay 0
            wait_until {[info_field aof_rewrites] == 1 && [info_field rdb_saves] == 1}
            wait_rewritten
            wait_until {[info_field rdb_bgsave_in_progress] == 0}
            lappend ended [info_field aof_last_bgrewrite_status] [info_field rdb_last_bgsave_status]
        }
    }
    set result $ended
    unset ended
    set result
} {err ok ok err}

check "FLUSHALL ends a snapshot, but no rewrite" {
    with_aof {rdb-key-save-delay 700000} {
        r MSET a 1 b 2 c 3
        r BGSAVE
        r FLUSHALL
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
        r MSET a 1 b 2 c 3
        r BGREWRITEAOF
        r FLUSHALL
        r SET after 1
        assert_equal [info_field aof_rewrite_in_progress] 1
        wait_rewritten
        server_again
        list [info_field aof_enabled] [r KEYS *]
    }
} {1 after}

check "a rewrite requested in a transaction begins after it" {
    with_aof {} {
        r MULTI
        r SET a 1
        r BGREWRITEAOF
        r SET b 1
        assert_equal [r EXEC] {OK {Background append only file rewriting scheduled} OK}
        wait_rewritten
        server_again
        list [r MGET a b] [string match *2.base* [manifest]]
    }
} {{1 1} 1}

check "a file that has grown is rewritten automatically" {
    with_aof {auto-aof-rewrite-min-size 20000 auto-aof-rewrite-percentage 100} {
        for {set i 0} {$i < 100} {incr i} {
            r SET a [string repeat x 1000]
        }
        wait_until {[info_field aof_rewrites] >= 1}
        wait_rewritten
        wait_until {[info_field aof_current_size] < 20000 * 3}
        server_again
        r STRLEN a
    }
} 1000

check "a small file, or one with automatic rewrites turned off, is not rewritten" {
    with_aof {auto-aof-rewrite-min-size 20000 auto-aof-rewrite-percentage 0} {
        for {set i 0} {$i < 100} {incr i} {
            r SET a [string repeat x 1000]
        }
        after 300
        r CONFIG SET auto-aof-rewrite-percentage 100 auto-aof-rewrite-min-size 1gb
        after 300
        info_field aof_rewrites
    }
} 0

check "BGREWRITEAOF without appendonly writes a base" {
    with_server {} {
        r SET a 1
        rewrite_aof
        assert_equal [info_field aof_enabled] 0
        assert_equal [manifest] "file appendonly.aof.1.base.rdb seq 1 type b\n"
        r SET a 2
        rewrite_aof
        assert_equal [manifest] "file appendonly.aof.2.base.rdb seq 2 type b\n"
        wait_written
        $::current_server kill
        $::current_server launch_with {appendonly yes}
        set ::default_client ""
        r GET a
    }
} 2

# --- On and off -----------------------------------------------------------------------------------

check "appendonly can be turned on while the server runs" {
    with_server {} {
        fill
        set before [contents]
        assert_equal [info_field aof_enabled] 0
        r CONFIG SET appendonly yes
        wait_rewritten
        assert_equal [info_field aof_enabled] 1
        r SET after 1
        assert_equal [manifest] "file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1\
            type i\n"
        wait_written
        $::current_server kill
        $::current_server launch_with {appendonly yes}
        set ::default_client ""
        assert_equal [r GET after] 1
        r DEL after
        assert_equal [contents] $before
    }
}

check "changes while it is turned on are not lost" {
    with_server {rdb-key-save-delay 20000} {
        for {set i 0} {$i < 20} {incr i} {
            r SET k$i 1
        }
        r CONFIG SET appendonly yes
        while {[info_field aof_rewrites] == 0 || [info_field aof_rewrite_in_progress]} {
            r INCR counter
        }
        wait_rewritten
        r INCR counter
        set counter [r GET counter]
        wait_written
        $::current_server kill
        $::current_server launch_with {appendonly yes}
        set ::default_client ""
        assert_equal [r GET counter] $counter
        r DBSIZE
    }
} 21

check "while off nothing is written; turning it on again replaces the old files" {
    with_aof {} {
        r SET a 1
        r CONFIG SET appendonly no
        assert_equal [info_field aof_enabled] 0
        r SET b 2
        set commands [aof_commands [aof_bytes]]
        r CONFIG SET appendonly yes
        wait_rewritten
        r SET c 3
        wait_written
        server_again crash
        list $commands [r MGET a b c]
    }
} {{{SELECT 0} {SET a 1}} {1 2 3}}

check "appendonly is turned on and off inside a transaction" {
    with_server {} {
        foreach request {MULTI {SET a 1} {CONFIG SET appendonly yes} {SET b 2} EXEC} {
            r {*}$request
        }
        # Without a reader of the log there is no unit, so it begins at once.
        wait_rewritten
        assert_equal [aof_commands [aof_bytes]] {{SELECT 0} {SET b 2}}
        foreach request {MULTI {SET c 1} {SET d 1} {CONFIG SET appendonly no} {SET e 2} EXEC} {
            r {*}$request
        }
        wait_until {[info_field aof_enabled] == 0}
        assert_equal [lrange [aof_commands [aof_bytes]] 2 end] {MULTI {SET c 1} {SET d 1} {SET e 2} EXEC}
        $::current_server kill
        $::current_server launch_with {appendonly yes}
        set ::default_client ""
        r MGET a b c d e
    }
} {1 2 1 1 2}

check "turning it on ends a rewrite whose base has no increments, and discards that base" {
    with_server {rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3
        file mkdir [$::current_server folder]/appendonlydir
        write_file [$::current_server folder]/appendonlydir/temp-appendonly.aof.incr [request {SET stale 1}]
        r BGREWRITEAOF
        r CONFIG SET appendonly yes
        r CONFIG SET rdb-key-save-delay 0
        r SET a 2
        wait_rewritten
        assert_equal [list [info_field aof_rewrites] [info_field aof_last_bgrewrite_status] \
            [info_field aof_rewrites_consecutive_failures]] {2 ok 0}
        assert_equal [manifest] "file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1\
            type i\n"
        r SET b 3
        wait_written
        $::current_server kill
        $::current_server launch_with {appendonly yes}
        set ::default_client ""
        r MGET a b c stale
    }
} {2 3 3 (nil)}

check "turned on while a snapshot is being written, it begins after the snapshot" {
    with_server {rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3
        r BGSAVE
        r CONFIG SET appendonly yes
        assert_equal [list [info_field aof_enabled] [info_field aof_rewrite_scheduled]] {1 1}
        r CONFIG SET rdb-key-save-delay 0
        r SET a 2
        wait_rewritten
        r SET b 3
        wait_written
        $::current_server kill
        $::current_server launch_with {appendonly yes}
        set ::default_client ""
        r MGET a b c
    }
} {2 3 3}

check "changes right after it is turned on go to an increment" {
    with_server {} {
        r SET a 1
        r CONFIG SET appendonly yes
        r SET a 2
        wait_rewritten
        aof_commands [aof_bytes]
    }
} {{SELECT 0} {SET a 2}}

check "turned off before the first rewrite has ended, it leaves nothing" {
    with_server {rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3 d 4
        r CONFIG SET appendonly yes
        wait_until {[info_field aof_rewrite_in_progress]}
        r CONFIG SET appendonly no
        wait_rewritten
        glob -nocomplain [$::current_server folder]/appendonlydir/* [$::current_server folder]/temp*
    }
} {}

check "a server with a snapshot and no append-only file begins one with that data" {
    with_server {} {
        fill
        set before [contents]
        r SAVE
        wait_written
        $::current_server kill
        $::current_server launch_with {appendonly yes}
        set ::default_client ""
        assert_equal [contents] $before
        r SET after 1
        wait_written
        server_again crash
        assert_equal [r GET after] 1
        r DEL after
        assert_equal [contents] $before
    }
}

check "turning appendonly on reports a file that cannot be created" {
    with_server {} {
        close [open [$::current_server folder]/appendonlydir w]
        set error [error_of {r CONFIG SET appendonly yes}]
        list $error [r CONFIG GET appendonly] [info_field aof_enabled]
    }
} {{*'appendonly') - Unable to turn on AOF. Check server logs.} {appendonly no} 0} -match glob

# --- DEBUG LOADAOF --------------------------------------------------------------------------------

check "DEBUG LOADAOF loads the data of the file" {
    with_aof {} {
        fill
        set before [contents]
        rewrite_aof
        r SET after 1
        r DEBUG LOADAOF
        assert_equal [r GET after] 1
        r DEL after
        assert_equal [contents] $before
        r RPUSH small more
        set expected [contents]
        server_again
        assert_equal [contents] $expected
    }
}

check "without an append-only file DEBUG LOADAOF deletes nothing" {
    with_server {} {
        r SET k value
        set error [error_of {r DEBUG LOADAOF}]
        assert {[string match "*There is no append-only file to load*" [$::current_server log]]}
        list $error [r GET k]
    }
} {{ERR Error trying to load the AOF files, check server logs.} value}

check "DEBUG LOADAOF waits for a rewrite that began while the append-only file was off" {
    with_aof {} {
        r SET a 1
        r CONFIG SET appendonly no rdb-key-save-delay 500000
        r SET b 2
        r BGREWRITEAOF
        set error [error_of {r DEBUG LOADAOF}]
        r CONFIG SET rdb-key-save-delay 0
        wait_rewritten
        r FLUSHALL
        r DEBUG LOADAOF
        list $error [r MGET a b]
    }
} {{ERR Error trying to load the AOF files, check server logs.} {1 2}}

check "a client that waits for a key is served when DEBUG LOADAOF loads it" {
    with_aof {} {
        r RPUSH l 1
        r CONFIG SET appendonly no
        r DEL l
        set client [client_blocked BLPOP l 0]
        r DEBUG LOADAOF
        $client read
    }
} {l 1}

# The new directory may contain another append-only file with the same name.
check "CONFIG SET dir does not lead the append-only file to another folder" {
    with_aof {enable-protected-configs yes} {
        r SET a 1
        set files [$::current_server data]/appendonlydir
        set other [$::current_server data]/other
        file mkdir $other
        file copy $files $other/appendonlydir
        set copied [glob -tails -directory $other/appendonlydir *]
        r CONFIG SET dir $other
        r SET b 2
        rewrite_aof
        r SET c 3
        assert {[string match "*.2.base.rdb*.2.incr.aof*" [manifest]]}
        assert_equal [lsort [glob -tails -directory $other *]] appendonlydir
        assert_equal [glob -tails -directory $other/appendonlydir *] $copied
        wait_written
        server_again crash
        r MGET a b c
    }
} {1 2 3}

finish
