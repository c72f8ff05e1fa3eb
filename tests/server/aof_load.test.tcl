# While an append-only file is loaded, clients can run commands that need no data.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/loading.tcl

server_start

set folder appendonlydir
set two_files "file base seq 1 type b\nfile incr seq 1 type i\n"

# SETs of `count` keys from number `first` on.
proc commands {first count} {
    set bytes [request {SELECT 0}]
    for {set i $first} {$i < $first + $count} {incr i} {
        append bytes [request [list SET key:$i value]]
    }
    return $bytes
}

# 1000 keys as each kind of append-only file.
set kinds [dict create \
    "an RDB preamble and commands" [dict create $folder/appendonly.aof.manifest $two_files \
        $folder/base [rdb {*}[many_strings 500]] $folder/incr [commands 500 500]] \
    "commands alone" [dict create $folder/appendonly.aof.manifest $two_files \
        $folder/base [commands 0 500] $folder/incr [commands 500 500]] \
    "one file, from before Redis 7" [dict create appendonly.aof "[rdb {*}[many_strings 500]][commands 500 500]"]]

proc while_loading {kind directives body} {
    set start [list loading_server new [dict get $::kinds $kind] [dict merge {appendonly yes} $directives]]
    uplevel 1 [list with_started $start $body]
}

# Returns the bytes of its files without the manifest.
proc bytes_of {kind} {
    set total 0
    dict for {path bytes} [dict get $::kinds $kind] {
        if {![string match *manifest $path]} {
            incr total [string length $bytes]
        }
    }
    return $total
}

proc loaded_bytes {} {
    return [info_field loading_loaded_bytes]
}

check_in 2 "the log shows the progress, even after a change of the configuration" {
    while_loading "commands alone" {} {
        r CONFIG SET hz 20
        wait_until {[regexp {Loading appendonly.aof: \d+\.\d% of \d+ MB, about \d+ seconds left} \
            [$current_server log]]}
    }
}

foreach kind [dict keys $kinds] {
    check "INFO shows the progress: $kind" {
        while_loading $::kind {} {
            assert_equal [list [info_field loading] [info_field async_loading] [info_field aof_enabled]] {1 0 0}
            assert_equal [info_field loading_total_bytes] [bytes_of $::kind]
            assert {abs([info_field loading_start_time] - [clock seconds]) < 200}
            # Half of it may lie at the end of the preamble or of the first file; loading goes on beyond that.
            foreach _ {1 2 3} {
                set before [loaded_bytes]
                wait_until {[loaded_bytes] > $before}
            }
            assert {[loaded_bytes] < [bytes_of $::kind]}
            assert {[info_field loading_loaded_perc] > 0 && [info_field loading_loaded_perc] < 100}
            assert {[info_field loading_eta_seconds] >= 1}
            r CONFIG SET key-load-delay 3000
            wait_until {[info_field loading_loaded_perc] > 60}
            assert_equal [info_field loading] 1
            r CONFIG SET key-load-delay 0
            wait_until {[info_field loading] == 0}
            assert {![regexp {loading_(start|total|loaded|eta)} [r INFO persistence]]}
            list [r DBSIZE] [r MGET key:0 key:499 key:500 key:999] [info_field aof_enabled]
        }
    } {1000 {value value value value} 1}

    check "commands that need data are refused, and PING, but not INFO: $kind" {
        while_loading $::kind {} {
            set refused {}
            foreach command {{GET key:1} {SET a b} {LPUSH l a} {BLPOP l 0} SAVE BGSAVE BGREWRITEAOF DBSIZE FLUSHALL
                             {DEBUG LOADAOF} PING} {
                lappend refused [error_of {r {*}$command}]
            }
            r MULTI
            lappend refused [error_of {r SET a b}]
            assert_equal [error_of {r EXEC}] "EXECABORT Transaction discarded because of previous errors."
            assert {[string match "*\nloading:1\r\n*" [r INFO persistence]]}
            assert_equal [info_field loading] 1
            lsort -unique $refused
        }
    } {{LOADING Redis is loading the dataset in memory}}

    check "SIGTERM or SHUTDOWN ends a loading server at once, and the files stay unchanged: $kind" {
        foreach way {{exec kill -TERM [$::current_server pid]} {r SHUTDOWN} {r SHUTDOWN SAVE}} {
            while_loading $::kind {} {
                assert_equal [info_field loading] 1
                catch $way
                assert_equal [$::current_server wait_exit] 0
                dict for {path bytes} [dict get $::kinds $::kind] {
                    if {[file dirname $path] eq "."} {
                        set path $::folder/$path ;# it was taken there
                    }
                    assert_equal [read_file [$::current_server folder]/$path] $bytes
                }
            }
        }
    }
}

check "after appendonly is turned off while a file is loaded, nothing is written to it" {
    while_loading "commands alone" {} {
        r CONFIG SET appendonly no
        assert_equal [list [info_field loading] [r CONFIG GET appendonly]] {1 {appendonly no}}
        r CONFIG SET key-load-delay 0
        wait_until {[info_field loading] == 0}
        assert_equal [list [r DBSIZE] [info_field aof_enabled]] {1000 0}
        r SET more 1
        expr {[read_file [$::current_server folder]/appendonlydir/incr] eq [commands 500 500]}
    }
} 1

check "after appendonly is turned on while a snapshot is loaded, the file begins with that data" {
    with_started {loading_server new [list dump.rdb [rdb {*}[many_strings 1000]]] {}} {
        r CONFIG SET appendonly yes
        assert_equal [list [info_field loading] [info_field aof_enabled]] {1 0}
        r CONFIG SET key-load-delay 0
        wait_until {[info_field loading] == 0}
        wait_rewritten
        r SET more 1
        wait_written
        $::current_server kill
        $::current_server launch_with {appendonly yes key-load-delay 0}
        set ::default_client ""
        wait_until {[info_field loading] == 0}
        r DBSIZE
    }
} 1001

check "if it cannot be turned on then, it stays off" {
    with_started {loading_server new [list dump.rdb [rdb {*}[many_strings 1000]] appendonlydir {}] {}} {
        r CONFIG SET appendonly yes
        r CONFIG SET key-load-delay 0
        wait_until {[info_field loading] == 0}
        list [r CONFIG GET appendonly] [info_field aof_enabled] [r DBSIZE] \
            [string match {*Unable to turn on AOF*} [$::current_server log]]
    }
} {{appendonly no} 0 1000 1}

finish
