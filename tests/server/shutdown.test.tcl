# How the server ends when there is data to be saved: SHUTDOWN, SIGTERM, SIGINT.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/faults.tcl

server_start

# Ends a server that holds one unsaved key as `way` says (a script); which keys are there when it comes back. What
# must be so before it does is `between`.
proc saved_by {directives way {between {}}} {
    with_server [dict merge {enable-protected-configs yes} $directives] {
        r SET old x
        r SAVE
        r SET new x
        uplevel 1 $way
        assert_equal [$::current_server wait_exit] 0
        uplevel 1 $between
        assert_equal [glob -nocomplain -directory [$::current_server folder] temp-*] {}
        $::current_server launch_with {}
        set ::default_client ""
        return [lsort [r KEYS *]]
    }
}

proc end_by_command {args} {
    set c [client_open]
    $c send SHUTDOWN {*}$args
    assert {[$c is_closed]}
}

proc end_by_signal {signal} {
    exec kill -$signal [$::current_server pid]
}

foreach {directives arguments keys} {
    {save {""}}     {}          old
    {save {""}}     {SAVE}      {new old}
    {save {""}}     {SAVE NOW}  {new old}
    {save {3600 9}} {}          {new old}
    {save {3600 9}} {NOSAVE}    old
    {save {3600 9}} {FORCE NOW} {new old}
    {save {3600 9}} {NOSAVE SAFE} old
} {
    check_in 2 "with $directives, SHUTDOWN $arguments saves what it should" \
        [list saved_by $directives [list end_by_command {*}$arguments]] $keys
    # The same words for the signals.
    if {$arguments ne "SAVE NOW"} {
        foreach {signal directive} {TERM shutdown-on-sigterm INT shutdown-on-sigint} {
            set options [expr {$arguments eq "" ? "default" : [string tolower $arguments]}]
            check_in 2 "with $directives and $directive $options, SIG$signal saves what it should" \
                [list saved_by [dict merge $directives [list $directive $options]] [list end_by_signal $signal]] $keys
        }
    }
}

check_in 2 "a signal ignores failover, which needs a cluster" {
    saved_by {save {3600 9} shutdown-on-sigterm {failover safe}} {end_by_signal TERM}
} {new old}

foreach arguments {FAILOVER {SAFE FAILOVER save} {NOSAVE NOW FORCE SAFE FAILOVER}} {
    check_error "SHUTDOWN $arguments is refused: there is no cluster" [list r SHUTDOWN {*}$arguments] \
        "ERR SHUTDOWN FAILOVER is only supported in cluster mode."
}
foreach arguments {{SAFE ABORT} {FAILOVER ABORT} {FAILOVER x} {SAVE NOSAVE FAILOVER}} {
    check_error "SHUTDOWN $arguments contradicts itself" [list r SHUTDOWN {*}$arguments] "ERR syntax error"
}

proc with_folder_in_the_way {body} {
    set file [$::current_server folder]/dump.rdb
    file rename $file $file.old
    file mkdir $file/folder
    try {
        uplevel 1 $body
    } finally {
        file delete -force $file
        file rename $file.old $file
    }
}

check_in 2 "a server that cannot save does not end" {
    saved_by {save {3600 9}} {
        with_folder_in_the_way {
            foreach arguments {{} SAVE NOW} {
                assert_equal [error_of {r SHUTDOWN {*}$arguments}] "ERR Errors trying to SHUTDOWN. Check logs."
            }
            end_by_signal TERM
            wait_until {[regexp -all "Errors trying to shut down the server" [$::current_server log]] == 4}
            assert_equal [r PING] PONG
        }
        end_by_command
    }
} {new old}
check_in 2 "… unless it is forced" {
    saved_by {save {3600 9}} {
        file rename [$::current_server folder]/dump.rdb [$::current_server folder]/old.rdb
        file mkdir [$::current_server folder]/dump.rdb/folder
        end_by_command FORCE
    } {
        assert {[string match "*Error trying to save the DB. Exit anyway.*" [$::current_server log]]}
        file delete -force [$::current_server folder]/dump.rdb
        file rename [$::current_server folder]/old.rdb [$::current_server folder]/dump.rdb
    }
} old
check_in 2 "a snapshot that is being written is ended, and nothing is left of it" {
    foreach arguments {NOSAVE SAVE} {
        with_server {} {
            r DEBUG POPULATE 2000
            r CONFIG SET rdb-key-save-delay 1000
            r BGSAVE
            wait_until {[glob -nocomplain -directory [$current_server folder] temp-*] ne {}}
            # In one go, or the rest is saved before SHUTDOWN comes.
            catch {[default_client] pipeline [list {CONFIG SET rdb-key-save-delay 0} [list SHUTDOWN $arguments]]}
            assert_equal [$current_server wait_exit] 0
            assert_equal [glob -nocomplain -directory [$current_server folder] temp-*] {}
            assert {[string match "*A snapshot is being written. Ending it!*" [$current_server log]]}
            assert_equal [file exists [$current_server folder]/dump.rdb] [expr {$arguments eq "SAVE"}]
        }
    }
}
check_in 2 "while an append-only file is being begun the server ends only if it is forced to" {
    with_server {rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3 d 4
        r CONFIG SET appendonly yes
        foreach arguments {{} SAVE NOSAVE NOW} {
            assert_equal [error_of {r SHUTDOWN {*}$arguments}] "ERR Errors trying to SHUTDOWN. Check logs."
        }
        end_by_signal TERM
        wait_until {[regexp -all "Writing initial AOF, can't exit" [$::current_server log]] == 5}
        assert_equal [info_field aof_rewrite_in_progress] 1
        end_by_command FORCE
        list [$current_server wait_exit] [glob -nocomplain -directory [$current_server folder] temp-* */temp-*]
    }
} {0 {}}
check_in 2 "a signal that comes while an append-only file is being begun ends the server when it is written" {
    foreach {signal directive} {TERM shutdown-on-sigterm INT shutdown-on-sigint} {
        with_server [list rdb-key-save-delay 1000000 $directive nosave] {
            r MSET a 1 b 2 c 3 d 4
            r CONFIG SET appendonly yes
            end_by_signal $signal
            wait_until {[string match "*can't exit*The server ends when*" [$::current_server log]]}
            assert_equal [r SHUTDOWN ABORT] OK
            assert_equal [error_of {r SHUTDOWN ABORT}] "ERR No shutdown in progress."
            end_by_signal $signal
            wait_until {[regexp -all "The server ends when" [$::current_server log]] == 2}
            r SET e 5
            r CONFIG SET rdb-key-save-delay 0
            assert_equal [$::current_server wait_exit] 0
            $::current_server launch_with {appendonly yes}
            set ::default_client ""
            assert_equal [lsort [r KEYS *]] {a b c d e}
        }
    }
}
check_in 2 "a signal that SHUTDOWN ABORT has revoked does not end the server" {
    with_server {rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3 d 4
        r CONFIG SET appendonly yes
        end_by_signal TERM
        wait_until {[string match "*The server ends when*" [$::current_server log]]}
        r SHUTDOWN ABORT
        r CONFIG SET rdb-key-save-delay 0
        wait_until {[info_field aof_rewrite_in_progress] == 0}
        r PING
    }
} PONG
check_in 2 "an append-only file that cannot be begun does not delay the end" {
    with_faulty_server {} {
        r MSET a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8
        faults {write EIO temp-rewriteaof*}
        r CONFIG SET appendonly yes
        wait_until {[info_field aof_rewrites_consecutive_failures] == 3}
        end_by_command
        $current_server wait_exit
    }
} 0
check_in 2 "a signal that waits for an append-only file ends the server when its first attempt has failed" {
    with_faulty_server {rdb-key-save-delay 1000000} {
        r MSET a 1 b 2 c 3 d 4
        faults {write EIO temp-rewriteaof*}
        r CONFIG SET appendonly yes
        end_by_signal TERM
        wait_until {[string match "*The server ends when*" [$::current_server log]]}
        r CONFIG SET rdb-key-save-delay 0
        list [$current_server wait_exit] [regexp -all "rewrite terminated with error" [$current_server log]]
    }
} {0 1}
check_in 2 "replies before SHUTDOWN SAVE in a pipeline arrive, and its own error is one of them" {
    with_server {} {
        file mkdir [$current_server folder]/dump.rdb/folder
        set c [client_open]
        lassign [$c pipeline {{ECHO before} {SHUTDOWN SAVE} {ECHO after}}] before error after
        list $before $error $after
    }
} {before {(error) ERR Errors trying to SHUTDOWN. Check logs.} after}

finish
