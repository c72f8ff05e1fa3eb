# A replica on which a client's script is busy: what the primary sends meanwhile waits until the script has ended.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/busy.tcl
source $library/functions.tcl
source $library/primary.tcl

server_start

# Each of these is answered by the script's poll of all sockets that have something to read.
proc let_script_poll {} {
    for {set i 0} {$i < 10} {incr i} {
        assert [is_busy]
    }
}

set changed {while redis.call('GET', KEYS[1]) == '1' do end return 'the value has changed'}

check_in 2 "a script sees no change of the primary, which is made when the script has ended" {
    with_replica {} {
        set link [link_begin {a 1}]
        with_busy [list EVAL $changed 1 a] {
            $link feed SET a 2
            let_script_poll
            r SCRIPT KILL
            assert_match "ERR Script killed by user*" [error_of {$runner read}]
        }
        applied $link
        $current_server control GET a
    }
} 2
check_in 2 "a function that runs is not freed when the primary deletes its library" {
    with_replica {} {
        set link [link_begin]
        foreach {words called} {
            {FUNCTION FLUSH} "ERR Function not found"
            {FUNCTION DELETE long} "ERR Function not found"
            {FUNCTION LOAD REPLACE} new
        } {
            set body "[spin 1] return redis.call('PING').ok .. keys\[1\]"
            $link feed FUNCTION LOAD REPLACE [library_with long $body no-writes]
            applied $link
            if {[llength $words] == 3 && [lindex $words 1] eq "LOAD"} {
                lappend words [library_with long "return 'new'" no-writes]
            }
            with_busy_to_end {FCALL long 1 key} {
                $link feed {*}$words
            }
            assert_equal [$runner read] PONGkey
            applied $link
            assert_equal [reply_of {FCALL long 0}] $called
        }
    }
}
check_in 2 "a function that is killed, and whose library the primary has deleted meanwhile" {
    with_replica {} {
        set link [link_begin]
        $link feed FUNCTION LOAD [library_with loop $forever no-writes]
        applied $link
        with_busy {FCALL loop 0} {
            $link feed FUNCTION FLUSH
            let_script_poll
            r FUNCTION KILL
        }
        applied $link
        r FUNCTION LIST
    }
} {}
check_in 2 "REPLICAOF is refused while a script is busy" {
    with_replica {} {
        set link [link_begin {a 1}]
        with_busy [list EVAL $forever 0] {
            foreach command {{REPLICAOF NO ONE} {SLAVEOF 127.0.0.1 1} {FAILOVER} {PSYNC ? -1}} {
                assert_equal [reply_of $command] $busy_with_script
            }
        }
        $link feed SET a 2
        applied $link
        lindex [r ROLE] 0
    }
} slave
check_in 2 "a primary that closes the link while a script is busy is asked to go on afterwards" {
    with_replica {} {
        set link [link_begin]
        $link feed SET a 1
        set offset [$link offset]
        applied $link
        with_busy [list EVAL $changed 1 a] {
            $link feed SET a 2
            $link close
            let_script_poll
        }
        # The system drops bytes that were not read, if the primary has closed without reading what the replica sent.
        set behind [expr {$offset + [string length [request {SET a 2}]]}]
        set link [$primary accept]
        set words [link_asks $link]
        assert_equal [lrange $words 0 1] [list PSYNC $replication_id]
        $link write "+CONTINUE\r\n"
        if {[lindex $words 2] == $offset + 1} {
            $link write [request {SET a 2}]
        } else {
            assert_equal [lindex $words 2] [expr {$behind + 1}]
        }
        $link offset $behind
        applied $link
        r GET a
    }
} 2
foreach way {disabled swapdb} {
    check_in 2 "all data that comes while a script is busy waits, repl-diskless-load $way" [string map [list WAY $way] {
        with_replica {repl-diskless-load WAY} {
            [link_begin {a 1}] close
            set link [$primary accept]
            link_asks $link
            set snapshot [rdb {a 2}]
            $link write "+FULLRESYNC $replication_id 100\r\n\$[string length $snapshot]\r\n[string range $snapshot 0 9]"
            wait_until {[replication master_sync_in_progress] == 1 && [replication master_sync_read_bytes] == 10}
            with_busy [list EVAL $changed 1 a] {
                $link write [string range $snapshot 10 end]
                let_script_poll
                r SCRIPT KILL
                assert_match "ERR Script killed by user*" [error_of {$runner read}]
            }
            wait_link up
            r GET a
        }
    }] 2
}

finish
