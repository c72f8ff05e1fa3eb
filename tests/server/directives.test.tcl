# The directives of other servers: what they list with CONFIG GET * starts the server, and is honoured or named in
# the log. directives/* hold the names and defaults; each was made by asking such a server. directives/newer has what
# later releases add, with values that they may have.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-protected-configs yes}

# {name value …} as CONFIG GET shows them.
proc directives_of {list_name} {
    set found {}
    foreach line [split [string trim [read_file $::library/../directives/$list_name]] \n] {
        if {![string match #* $line]} {
            regexp {^(\S+) "?(.*?)"?$} $line _ name value
            lappend found $name $value
        }
    }
    return $found
}

# The server's own place, which no list may change.
proc own_place {} {
    set folder [$::current_server folder]
    return "bind 127.0.0.1\ndir $folder\nsave \"\"\n"
}

proc reply_or_error {body} {
    catch {uplevel 1 $body} result
    return $result
}

set lists [lsort [glob -tails -directory $library/../directives *]]
assert {[llength $lists] == 6}
set own {port bind dir save enable-debug-command maxclients loglevel}

# Those of which other servers say at run time that they are immutable, and which have no effect here.
set immutable {
    always-show-logo aof-rewrite-cpulist aof_rewrite_cpulist bgsave-cpulist bgsave_cpulist disable-thp
    enable-debug-assert enable-module-command hash-seed mptcp rdma-completion-vector rdma-rx-size repl-mptcp
    socket-mark-id
}
# Names that only lines of a file may have: any that begins so is ignored.
set families {cluster-* hash-rdb-load-* search-* ts-* bf-* cf-*}

proc is_in_family {name} {
    return [expr {[lsearch -glob [lmap family $::families {string match $family $name}] 1] >= 0 &&
        [r CONFIG GET $name] eq {}}]
}

foreach list_name $lists {
    check_in 2 "a file with every directive of $list_name starts the server, which honours or names each" {
        set directives [directives_of $list_name]
        assert {$list_name eq "newer" || [llength $directives] > 300}
        set path [$current_server folder]/$list_name.conf
        write_file $path "[read_file $library/../directives/$list_name][own_place]"
        with_server [list include $path] {
            set log [$current_server log]
            foreach {name value} $directives {
                if {$name in $own} continue
                set named [regexp -all -line "'$name' is ignored: .+" $log]
                set shown [r CONFIG GET $name]
                if {[is_in_family $name] && $named == 1} continue
                if {$named != 0 ? $named != 1 : $shown ne [list $name $value]} {
                    error "$name $value: named $named times, CONFIG GET shows '$shown'"
                }
            }
        }
    }
    check_in 2 "CONFIG GET lists every directive of $list_name, CONFIG SET takes the value back or says why not" {
        set shown [r CONFIG GET *]
        foreach {name _} [directives_of $list_name] {
            if {[is_in_family $name]} continue
            assert {[dict exists $shown $name] || $name in {user}}
            if {$name in $own} continue
            set answer [reply_or_error {r CONFIG SET $name [dict get $shown $name]}]
            assert {$answer eq "OK" || [string match "*can't set immutable config" $answer]}
        }
    }
    check_in 2 "CONFIG SET of what a file with the directives of $list_name may say without effect has none" {
        with_server {} {
            set shown [r CONFIG GET *]
            set path [$current_server folder]/all.conf
            write_file $path "[read_file $library/../directives/$list_name][own_place]"
            with_server [list include $path] {
                set ignored [lmap {_ name} [regexp -all -inline -line {: '(\S+)' is ignored: } [$current_server log]] {
                    set name
                }]
            }
            set answers {}
            foreach {name value} [directives_of $list_name] {
                if {$name ni $ignored || [is_in_family $name]} continue
                set answer [reply_or_error {r CONFIG SET $name $value}]
                assert_equal [r CONFIG GET $name] [list $name [dict get $shown $name]]
                set named [regexp -all -line "CONFIG SET: '$name' is ignored: .+" [$current_server log]]
                lappend answers [list $name $answer $named]
                set wanted {OK 1}
                if {$name in $immutable} {
                    set wanted [list "ERR CONFIG SET failed (possibly related to argument '$name') -\
                        can't set immutable config" 0]
                }
                assert_equal [list $name $answer $named] [list $name {*}$wanted]
            }
            expr {[llength $answers] > 1}
        }
    } 1
}

# Those that Redis 8.0 and 8.6 and Valkey 9.1 know, but do not list, each with its default and another value.
set hidden {
    aof-disable-auto-gc no yes
    debug-context "" text
    enable-debug-assert no yes
    min-io-threads-avoid-copy-reply 7 2
    min-string-size-avoid-copy-reply 16384 1
    min-string-size-avoid-copy-reply-threaded 65536 1
    repl-rdb-channel no yes
    use-exit-on-panic no yes
    watchdog-period 0 500
}
# The values of these are kept; enable-protected-configs is not needed to set them.
set honoured {
    cluster-message-gossip-perc 10 50
    cluster-ping-interval 0 500
    cluster-slot-migration-max-archived-tasks 32 1
    cluster-slot-migration-sync-buffer-drain-timeout 60000 1
    io-threads-always-active no yes
    key-load-delay 0 1
    loading-process-events-interval-bytes 2097152 4096
    rdb-key-save-delay 0 1
}
check_in 2 "a hidden directive without effect starts the server, which names it once" {
    set path [$current_server folder]/hidden.conf
    set lines {}
    foreach {name _ other} $hidden {
        append lines "$name $other\n$name $other\n"
    }
    write_file $path $lines
    with_server [list include $path] {
        set log [$current_server log]
        foreach {name default other} $hidden {
            assert_equal [list $name [regexp -all -line "'$name' is ignored: .+" $log]] [list $name 1]
            assert_equal [r CONFIG GET $name] [list $name $default]
            if {$name in $immutable} {
                assert_match "* - can't set immutable config" [error_of {r CONFIG SET $name $other}]
                continue
            }
            assert_equal [list [r CONFIG SET $name $other] [r CONFIG SET $name $default]] {OK OK}
            assert_equal [r CONFIG GET $name] [list $name $default]
        }
    }
}
check_in 2 "a hidden directive whose value is kept starts the server, which shows it" {
    set settings {}
    foreach {name _ other} $honoured {
        lappend settings $name $other
    }
    with_server $settings {
        foreach {name default other} $honoured {
            assert_equal [r CONFIG GET $name] [list $name $other]
            assert_equal [r CONFIG SET $name $default] OK
        }
        regexp "is ignored" [$current_server log]
    }
} 0
check_in 2 "CONFIG GET with a pattern lists none of the hidden directives" {
    set shown [dict keys [r CONFIG GET *]]
    lmap {name _ _} [concat $hidden $honoured lua-enable-deprecated-api no yes] {
        if {$name ni $shown || $name eq "aof-disable-auto-gc"} continue
        set name
    }
}

check_in 2 "CONFIG SET of a directive without effect is logged once, and as a warning where something will be missed" {
    with_server {} {
        foreach {name value} {
            repl-rdb-channel yes    propagation-error-behavior panic-on-replicas    rdma-port 7000
            dual-channel-replication-enabled yes    availability-zone z1            lookahead 4
        } {
            set shown [r CONFIG GET $name]
            assert_equal [list [r CONFIG SET $name $value] [r CONFIG SET $name $value]] {OK OK}
            assert_equal [r CONFIG GET $name] $shown
            assert_equal [list $name \
                [regexp -all -line "CONFIG SET: '$name' is ignored: .+" [$current_server log]]] [list $name 1]
        }
        # Together with one that has an effect, and with one that is refused.
        r CONFIG SET repl-rdb-channel no hz 20
        assert_equal [r CONFIG GET hz] {hz 20}
        assert_match "*'hz'*" [error_of {r CONFIG SET repl-rdb-channel yes hz x}]
        regexp -line {# CONFIG SET: 'rdma-port' is ignored: there is no RDMA} [$current_server log]
    }
} 1
check "CONFIG SET of a directive that protects is refused, with the reason" {
    assert_match "*argument 'rdb-save-in-slices') - The event loop always writes snapshots in slices*" \
        [error_of {r CONFIG SET rdb-save-in-slices no}]
    r CONFIG SET repl-diskless-load DISABLED activedefrag no
} OK
check "CONFIG GET and CONFIG SET do not know names of which only their beginning is known" {
    assert_equal [r CONFIG GET cluster-no-such-name] {}
    error_of {r CONFIG SET cluster-no-such-name x}
} "ERR Unknown option or number of arguments for CONFIG SET - 'cluster-no-such-name'"
check "lines of files are no directives for CONFIG GET and CONFIG SET" {
    foreach name {user rename-command loadmodule} {
        assert_equal [r CONFIG GET $name] {}
        assert_equal [error_of {r CONFIG SET $name x}] \
            "ERR Unknown option or number of arguments for CONFIG SET - '$name'"
    }
}
check_in 2 "what protects and cannot be had stops the start and says what to do" {
    foreach line {
        {socket-mark-id 7} {rdb-save-in-slices no}
    } {
        set path [$current_server folder]/protecting.conf
        write_file $path "port [free_port]\n$line\n"
        lassign [server_run [list $path]] status output
        assert {$status == 1}
        assert {[string match "*at line 2 of $path\n>>> '[string map {* \\* [ \\[} $line]'\n*Remove the line*" $output]}
    }
}
check_in 2 "a file that says how snapshots are written anyway starts the server" {
    with_server {rdb-save-in-slices yes} {
        r CONFIG SET rdb-save-in-slices yes
        r CONFIG REWRITE
        list [r CONFIG GET rdb-save-in-slices] [string match "*is ignored*" [$current_server log]]
    }
} {{rdb-save-in-slices yes} 0}
check_in 2 "the lines of a user that Redis and Valkey write start the server" {
    foreach line {{on nopass sanitize-payload ~* &* +@all} {on nopass ~* &* alldbs +@all}} {
        with_server [list user "default $line"] {
            lappend users [r ACL LIST]
        }
    }
    set users
} [lrepeat 2 {{user default on nopass ~* &* +@all}}]

finish
