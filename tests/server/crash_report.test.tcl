# A crash: what the log says about it, and that the signal ends the server.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set is_sanitized [info exists env(PACKLIST_SLOW)]

# Runs the script `how` with a server that it must make end ($crashing, and a connection $client); {exit status, log}.
proc crash {directives how} {
    set crashing [server new $directives]
    try {
        set client [client new 127.0.0.1 [$crashing port]]
        eval $how
        set status [$crashing wait_exit]
        return [list $status [$crashing log]]
    } finally {
        catch {$client close}
        $crashing destroy
    }
}

# Sends the signal while the server runs a command whose argument would be recognised.
proc crash_by_signal {signal {directives {}}} {
    return [crash $directives "
        \$client call SET secretkey secretvalue
        \$client write \[request {DEBUG LOG inside}]\[request {DEBUG SLEEP 1234.56789}]
        wait_until {\[string match {*DEBUG LOG: inside*} \[\$crashing log]]}
        exec kill -$signal \[\$crashing pid]
    "]
}

# The parts of the report, in their order.
proc assert_report {log signal_number} {
    set at 0
    foreach part [list "=== PACKLIST BUG REPORT START" " crashed by signal: $signal_number, si_code: " \
        "------ REGISTERS ------" "------ LAST LOG LINES ------" "DEBUG LOG: inside" "------ STACK TRACE ------" \
        "packlist-server(main+0x" "------ CURRENT CLIENT ------" "last command: debug\nid=" " addr=127.0.0.1:" \
        "------ INFO OUTPUT ------" "redis_version:" "db0:keys=1," "=== PACKLIST BUG REPORT END" \
    ] {
        set at [string first $part $log $at]
        if {$at < 0} { error "'$part' is missing, or not in its place:\n$log" }
    }
}

check_in 2 "a crash in an I/O thread leaves a report that names the thread" {
    lassign [crash {io-threads 2} {
        wait_until {[dict size [threads_of [$crashing pid] io_thd_1]]}
        exec python3 -c {import ctypes, sys; ctypes.CDLL(None).tgkill(int(sys.argv[1]), int(sys.argv[2]), 6)} \
            [$crashing pid] [file tail [dict keys [threads_of [$crashing pid] io_thd_1]]]
    }] status log
    assert_equal [lrange $status 0 1] "CHILDKILLED SIGABRT"
    regexp {In thread \d+, io_thd_1, which runs no commands.*BUG REPORT END} $log
} 1

foreach {subcommand signal said} {
    SEGFAULT SIGSEGV "" ASSERT SIGABRT "*ASSERTION FAILED*" PANIC SIGABRT "*Guru Meditation*"
    OOM SIGABRT "*Out Of Memory allocating 9223372036854775807 bytes*"
} {
    check_in 2 "DEBUG $subcommand crashes by $signal" {
        lassign [crash {} [list eval "\$client send DEBUG $subcommand"]] status log
        assert {[string match $said $log] || $said eq ""}
        if {$is_sanitized && $signal eq "SIGSEGV"} {
            assert {[string match *Sanitizer* $log]}
        } else {
            assert_equal [lrange $status 0 1] "CHILDKILLED $signal"
            assert {[string match "*BUG REPORT START*last command: debug\n*BUG REPORT END*" $log]}
        }
    }
}

foreach {signal number sanitizers_own} {SEGV 11 1  ABRT 6 0  BUS 7 1  FPE 8 1  ILL 4 0} {
    check_in 2 "SIG$signal leaves a report, which names the command but no argument, and ends the server" {
        lassign [crash_by_signal $signal] status log
        if {$is_sanitized && $sanitizers_own} {
            assert {[regexp {Sanitizer} $log] && ![string match "*BUG REPORT*" $log]}
        } else {
            assert_equal [lrange $status 0 1] "CHILDKILLED SIG$signal"
            assert_report $log $number
            assert {[string match "*RIP:????????????????*" $log] || $tcl_platform(machine) ne "x86_64"}
        }
        regexp {secretkey|secretvalue|1234\.56789} $log
    } 0
    check_in 2 "SIG$signal with crash-log-enabled no ends the server without a report" {
        lassign [crash_by_signal $signal {crash-log-enabled no}] status log
        if {!$is_sanitized || !$sanitizers_own} {
            assert_equal [lrange $status 0 1] "CHILDKILLED SIG$signal"
        }
        string match "*BUG REPORT*" $log
    } 0
}

check_in 2 "crash-log-enabled can be changed while the server runs" {
    foreach {first then reported} {yes no 0  no yes 1} {
        lassign [crash [list crash-log-enabled $first] "
            \$client call CONFIG SET crash-log-enabled $then
            wait_until {\[regexp {\\) S } \[read_file /proc/\[\$crashing pid]/stat]]} ;# it waits for events again
            exec kill -ABRT \[\$crashing pid]
        "] status log
        assert_equal [lrange $status 0 1] "CHILDKILLED SIGABRT"
        assert_equal [string match "*BUG REPORT START*No client was being served*BUG REPORT END*" $log] $reported
    }
}
check_in 2 "the report goes to the log file" {
    set path [temporary_folder]/named
    lassign [crash [list logfile $path] {exec kill -ABRT [$crashing pid]}] status output
    set log [read_file $path]
    file delete -force [file dirname $path]
    list [string match "*BUG REPORT START*BUG REPORT END*" $log] [string match "*BUG REPORT*" $output]
} {1 0}
# The log is a full pipe that no process reads, so the report waits in its first write. Runs `then` meanwhile.
proc crash_while_stuck {then} {
    set folder [temporary_folder]
    exec mkfifo $folder/log
    set pipe [open $folder/log {RDWR NONBLOCK}]
    chan configure $pipe -translation binary -buffering none
    try {
        return [crash [list logfile $folder/log] "
            chan configure $pipe -blocking 0
            puts -nonewline $pipe \[string repeat x 1000000]
            exec kill -ABRT \[\$crashing pid]
            wait_until {\[has_open \[\$crashing pid] $folder/log]}
            $then
        "]
    } finally {
        catch {close $pipe}
        file delete -force $folder
    }
}

proc has_open {pid path} {
    foreach link [glob -nocomplain /proc/$pid/fd/*] {
        if {![catch {file readlink $link} target] && $target eq $path} { return 1 }
    }
    return 0
}

check_in 2 "a report that cannot go on ends the server, by the first signal" {
    lrange [lindex [crash_while_stuck {}] 0] 0 1
} {CHILDKILLED SIGABRT}
if {!$is_sanitized} {
    check_in 2 "a second crash inside the report ends the server at once, by the first signal" {
        lrange [lindex [crash_while_stuck {exec kill -FPE [$crashing pid]}] 0] 0 1
    } {CHILDKILLED SIGABRT}
}
check "both directives are those of Redis" {
    assert_equal [r CONFIG GET crash-log-enabled] {crash-log-enabled yes}
    assert_equal [r CONFIG GET crash-memcheck-enabled] {crash-memcheck-enabled yes}
    r CONFIG SET crash-memcheck-enabled no
    set shown [r CONFIG GET crash-memcheck-enabled]
    r CONFIG SET crash-memcheck-enabled yes
    set shown
} {crash-memcheck-enabled no}

check_in 2 "SIGALRM writes the stack to the log, and the server goes on" {
    foreach enabled {yes no} {
        with_server [list crash-log-enabled $enabled] {
            exec kill -ALRM [$current_server pid]
            wait_until {[string match "*STACK TRACE DONE*" [$current_server log]]}
            assert {[string match "*Received SIGALRM\n*STACK TRACE*(main+0x*" [$current_server log]]}
            assert_equal [r PING] PONG
        }
    }
}
finish
