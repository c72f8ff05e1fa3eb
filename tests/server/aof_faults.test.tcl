# The append-only file on a disk that fails or is slow: the server goes on, says so, loses nothing and recovers.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/faults.tcl

server_start

proc with_aof {directives body} {
    with_faults {
        uplevel 1 [list with_server [dict merge {appendonly yes save {""}} $directives] $body]
    }
}

proc refusal {text} {
    return "MISCONF Errors writing to the AOF file: $text"
}

proc is_refused {} {
    return [catch {r SET probe 1}]
}

foreach {what fault text} {
    "no space" {write .incr.aof ENOSPC} "No space left on device"
    "half of the bytes" {write .incr.aof SHORT} "No space left on device"
    "an error" {write .incr.aof EIO} "Input/output error"
    "half of the bytes, which cannot be taken back" {write .incr.aof SHORT ftruncate .incr.aof EIO}
        "No space left on device"
} {
    check "write: $what: changes are refused until it is over, and none is lost" {
        with_aof {} {
            r SET a 1
            fault {*}$fault
            r SET b 2
            assert_equal [error_of {r SET c 3}] [refusal $text]
            assert_equal [error_of {r PING}] [refusal $text]
            assert_equal [r GET b] 2
            assert_equal [info_field aof_last_write_status] err
            fault
            wait_until {![is_refused]}
            assert_equal [info_field aof_last_write_status] ok
            r SET d 4
            wait_written
            server_again crash
            r MGET a b c d
        }
    } {1 2 (nil) 4}
}

check "write: nobody hears of a change that is not written, with appendfsync always" {
    with_aof {appendfsync always} {
        r SET a 1
        set clients {}
        foreach key {b c} {
            lappend clients [client_open]
        }
        fault write .incr.aof ENOSPC
        [lindex $clients 0] send SET b 1
        wait_until {[[lindex $clients 0] is_closed]}
        assert_equal [error_of {[lindex $::clients 1] call SET c 1}] [refusal "No space left on device"]
        fault
        wait_until {![is_refused]}
        wait_written
        server_again crash
        r MGET a b c
    }
} {1 1 (nil)}

foreach policy {everysec always} {
    check "fsync that fails: changes are refused until all is rewritten (appendfsync $policy)" {
        with_aof [list appendfsync $policy] {
            r SET a 1
            set client [client_open]
            # The rewrite waits for so long that the state before it can be seen.
            fault fdatasync .incr.aof EIO fsync temp-rewriteaof 1500
            $client send SET b 2
            if {$policy eq "always"} {
                wait_until {[$client is_closed]}
            } else {
                $client read
            }
            wait_until {[info_field aof_last_write_status] eq "err"}
            assert_equal [error_of {r SET c 3}] [refusal "Input/output error"]
            fault
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

check "fsync that is slow does not hold anybody up for two seconds, and is counted after them" {
    with_aof {} {
        r SET a 1
        fault fdatasync .incr.aof 4500
        after 1100
        r SET a 2
        wait_until {[info_field aof_pending_bio_fsync] == 1}
        assert {[elapsed_ms {r SET b 3}] < 1500}
        assert {[info_field aof_buffer_length] > 0}
        assert_equal [info_field aof_delayed_fsync] 0
        wait_until {[info_field aof_buffer_length] == 0}
        assert_equal [info_field aof_delayed_fsync] 1
        assert {[string match "*fsync is taking too long*" [$::current_server log]]}
        fault
        wait_written
        server_again crash
        r MGET a b
    }
} {2 3}

check "replies wait for fsync with appendfsync always, and one serves all who wait" {
    with_aof {appendfsync always} {
        set clients {}
        for {set i 0} {$i < 10} {incr i} {
            lappend clients [client_open]
        }
        fault fdatasync .incr.aof 500
        r SET warm 1
        set ms [elapsed_ms {
            foreach client $clients {
                $client send INCR counter
            }
            foreach client $clients {
                $client read
            }
        }]
        fault
        assert {$ms >= 500 && $ms < 2500}
    }
}

check "no fsync while a child writes, with no-appendfsync-on-rewrite" {
    with_aof {appendfsync always no-appendfsync-on-rewrite yes rdb-key-save-delay 500000} {
        r MSET a 1 b 2 c 3
        fault fdatasync .incr.aof 3000
        r BGREWRITEAOF
        set ms [elapsed_ms {r SET d 1}]
        fault
        expr {$ms < 1500}
    }
} 1

foreach {what fault in_slices} {
    "fork" {fork - EAGAIN} no
    "write" {write temp-rewriteaof ENOSPC} yes
    "write by a child" {write temp-rewriteaof ENOSPC} no
    "fsync" {fsync temp-rewriteaof EIO} yes
    "fsync by a child" {fsync temp-rewriteaof EIO} no
    "rename of the base" {rename .base. EIO} yes
    "write of the manifest" {write .manifest ENOSPC} yes
    "rename of the manifest" {rename .manifest EIO} no
} {
    check "a rewrite that fails loses nothing and can be made again: $what" {
        with_aof [list rdb-save-in-slices $in_slices] {
            r RPUSH l 1 2 3
            set before [aof_files $::current_server *]
            fault {*}$fault
            catch {r BGREWRITEAOF}
            wait_rewritten
            assert_equal [info_field aof_last_bgrewrite_status] err
            r RPUSH l 4
            assert_equal [glob -nocomplain [$::current_server folder]/temp* \
                [$::current_server folder]/appendonlydir/temp*] {}
            wait_written
            server_again crash
            assert_equal [r LRANGE l 0 -1] {1 2 3 4}
            fault
            rewrite_aof
            assert_equal [info_field aof_last_bgrewrite_status] ok
            r RPUSH l 5
            wait_written
            server_again crash
            r LRANGE l 0 -1
        }
    } {1 2 3 4 5}
}

check "a first rewrite that fails is tried again, and the server can be used meanwhile" {
    with_faults {
        with_server {} {
            r SET a 1
            fault write temp-rewriteaof ENOSPC
            r CONFIG SET appendonly yes
            wait_until {[info_field aof_rewrites_consecutive_failures] >= 1}
            r SET b 2
            fault
            wait_until {[file exists [$::current_server folder]/appendonlydir/appendonly.aof.manifest]}
            wait_rewritten
            r SET c 3
            wait_written
            $::current_server kill
            $::current_server launch_with {appendonly yes}
            set ::default_client ""
            r MGET a b c
        }
    }
} {1 2 3}

check "rewrites that fail again and again are put off" {
    with_aof {rdb-save-in-slices no} {
        fault fork - EAGAIN
        foreach _ {1 2 3} {
            error_of {r BGREWRITEAOF}
        }
        assert_equal [info_field aof_rewrites_consecutive_failures] 3
        string match "*will retry in 1 minutes*" [$::current_server log]
    }
} 1

finish
