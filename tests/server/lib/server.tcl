# server: a real server process of our own, on a free port, in a folder of its own that is removed afterwards.
#
#   server_start ?{directive value …}?      starts one and makes it the current server; returns its object
#   server_stop                             stops the current one and says what was wrong with it
#   with_server {directive value …} body    starts another one for the body; then the one before is current again
#   server_run arguments ?stdin?            runs the binary until it exits by itself: {status output}
#
#   $server port  pid  folder  log          facts; log is everything it wrote so far
#   $server data                            the folder where its data is kept: the same, if nothing else is said
#   $server control INFO memory             a command over a connection kept for the framework
#   $server restart                         stops it and starts it again with the same configuration and folder
#   $server kill                            kills it, as a loss of power would
#   $server launch_with {directive value …} starts it again after that, with directives changed
#   $server crash                           the same, but it is killed
#   $server halt, $server fail_to_start     stops it; starts it and expects that it ends: {status log}
#   $server set_directives {directive value …}  for the next start
#
# The value of a directive is text as it stands in a configuration file. The binary is the environment's
# PACKLIST_SERVER, else build/release/packlist-server. It dies with the test, whatever happens to the test.

set repository [file dirname [file dirname [file dirname [file dirname [file normalize [info script]]]]]]
set server_binary [expr {[info exists env(PACKLIST_SERVER)] ? [file normalize $env(PACKLIST_SERVER)]
    : "$repository/build/release/packlist-server"}]
# The program itself, where that is a script which gives it I/O threads.
set server_program [expr {[info exists env(PACKLIST_THREADED)] ? [file normalize $env(PACKLIST_THREADED)]
    : $server_binary}]
set server_defaults {bind 127.0.0.1 save {""} enable-debug-command yes}
set start_timeout_ms 60000
# What a log holds only when something went wrong inside the server.
set crash_signs {Sanitizer|runtime error:|Assertion |BUG REPORT}

foreach {name value} {
    ASAN_OPTIONS detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=0
    UBSAN_OPTIONS print_stacktrace=1:halt_on_error=1
} {
    if {![info exists env($name)]} {
        set env($name) $value
    }
}

oo::class create server {
    variable directives port folder process control problems

    constructor {overrides} {
        set directives [dict merge $::server_defaults $overrides]
        set folder [temporary_folder]
        set control ""
        set problems {}
        try {
            my launch
        } on error {message options} {
            file delete -force $folder
            return -options $options $message
        }
    }

    destructor {
        my halt
        file delete -force $folder
    }

    method port {} { return $port }
    method pid {} { return [pid $process] }
    method folder {} { return $folder }
    method problems {} { return $problems }
    method data {} { return $folder }

    method log {} {
        return [read_file $folder/log]
    }

    # On a free port: another process may take the one we found, so a start that fails is tried again.
    method launch {} {
        for {set attempt 1} {1} {incr attempt} {
            set port [expr {[dict exists $directives port] ? [dict get $directives port] : [free_port]}]
            my spawn
            if {[my wait_until_ready]} {
                return
            }
            set log [my log]
            my reap
            if {$attempt == 5 || ![string match -nocase *in\ use* $log]} {
                throw {SERVER START} "the server did not start:\n$log"
            }
        }
    }

    method spawn {} {
        set text ""
        dict for {name value} [dict merge $directives [list port $port dir [my data]]] {
            append text "$name $value\n"
        }
        write_file $folder/packlist.conf $text
        set process [open [list | setpriv --pdeathsig KILL -- env -C $folder {*}[my command] \
            $folder/packlist.conf >>$folder/log 2>@1] w]
    }

    # What is started, with the path of the configuration file.
    method command {} {
        return [list $::server_binary]
    }

    method is_running {} {
        if {$process eq "" || [catch {read_file /proc/[pid $process]/stat} stat]} {
            return 0
        }
        return [expr {![regexp {\) [ZX] } $stat]}]
    }

    method wait_until_ready {} {
        set deadline [expr {[clock milliseconds] + $::start_timeout_ms}]
        while {[my is_running] && [clock milliseconds] < $deadline} {
            if {![catch {my connect_control}]} {
                return 1
            }
            after 10
        }
        return 0
    }

    method connect_control {} {
        set control [client new 127.0.0.1 $port]
        if {[dict exists $directives requirepass]} {
            $control call AUTH [dict get $directives requirepass]
        }
        $control call DBSIZE ;# refused while it loads
        # Another test's server may have taken the port in the meantime.
        if {![regexp -line "^process_id:[my pid]\r" [$control call INFO server]]} {
            $control close
            error "another server listens there"
        }
    }

    method control_client {} { return $control }

    method control {args} {
        return [$control call {*}$args]
    }

    # Asks it to shut down and notes what is wrong: a crash, a hang, a bad exit status, a sanitizer's report.
    # It does not wait for replicas, which in tests often confirm nothing.
    method halt {} {
        catch {$control call CONFIG SET shutdown-timeout 0}
        catch {$control close}
        if {$process eq ""} {
            return
        }
        if {[my is_running]} {
            exec kill -TERM [my pid]
            if {![wait_while {[my is_running]} $::start_timeout_ms]} {
                lappend problems "the server did not stop on SIGTERM"
                exec kill -KILL [my pid]
            }
        }
        set status [my reap]
        if {$status ne "0"} {
            lappend problems "the server exited with $status"
        }
        if {[regexp -line "^.*($::crash_signs).*\$" [my log] line]} {
            lappend problems "its log says: $line"
        }
    }

    # Collects the exit status of a process that ended or is about to.
    method reap {} {
        if {[my is_running]} {
            exec kill -KILL [my pid]
        }
        set failed [catch {close $process} message options]
        set process ""
        if {!$failed} {
            return 0
        }
        return [join [lreplace [dict get $options -errorcode] 1 1]]
    }

    method restart {} {
        my halt
        my launch
    }

    method kill {} {
        exec kill -KILL [my pid]
        my reap
    }

    # For tests in which the server has ended: starts it again, in the same folder, with directives changed.
    method launch_with {changes} {
        my set_directives $changes
        my launch
    }

    method set_directives {changes} {
        set directives [dict merge $directives $changes]
    }

    # Ends without being asked, at once, and is started again.
    method crash {} {
        catch {$control close}
        my reap
        my launch
    }

    # Starts it, after it was halted, where it must not be able to; gives its exit status and what it logged.
    method fail_to_start {} {
        set before [string length [my log]]
        set port [free_port]
        my spawn
        set status [my wait_exit]
        return [list $status [string range [my log] $before end]]
    }

    # For tests in which the server ends by itself (SHUTDOWN): waits for it, gives its exit status.
    method wait_exit {} {
        if {![wait_while {[my is_running]} $::start_timeout_ms]} {
            error "the server is still running"
        }
        return [my reap]
    }
}

set current_server ""
set all_problems {}

proc server_start {{directives {}}} {
    set ::current_server [server new $directives]
    return $::current_server
}

proc server_stop {} {
    $::current_server halt
    set problems [$::current_server problems]
    lappend ::all_problems {*}$problems
    if {[llength $problems] > 0} {
        puts "==== [join $problems "\n==== "]"
        puts "---- its log ends with:\n[last_lines [$::current_server log] 60]"
    }
    $::current_server destroy
    set ::current_server ""
}

proc with_server {directives body} {
    uplevel 1 [list with_started [list server new $directives] $body]
}

# Runs the body with the server that `start` returns as the current one, then stops it.
proc with_started {start body} {
    set before [list $::current_server $::default_client]
    set ::current_server [eval $start]
    set ::default_client ""
    try {
        uplevel 1 $body
    } finally {
        server_stop
        lassign $before ::current_server ::default_client
    }
}

proc server_run {arguments {stdin ""}} {
    set failed [catch {
        exec -ignorestderr -keepnewline -- timeout 60 $::server_binary {*}$arguments << $stdin 2>@1
    } output options]
    if {!$failed} {
        return [list 0 $output]
    }
    regsub {\n?child process exited abnormally$} $output "" output
    return [list [lindex [dict get $options -errorcode] 2] $output]
}

# --- Small tools ---------------------------------------------------------------------------------

# A free port, out of PACKLIST_PORTS (first-last), below the range of outgoing connections. None is given twice while
# there are others: who has one may listen there only later.
set ports_given {}
proc free_port {} {
    set range [expr {[info exists ::env(PACKLIST_PORTS)] ? $::env(PACKLIST_PORTS) : "21000-31999"}]
    scan $range %d-%d first last
    set count [expr {$last - $first + 1}]
    set begin [expr {int(rand() * $count)}]
    if {[dict size $::ports_given] > $count / 2} {
        set ::ports_given {}
    }
    for {set step 0} {$step < $count} {incr step} {
        set port [expr {$first + ($begin + $step) % $count}]
        if {[dict exists $::ports_given $port] || [catch {socket -server {} -myaddr 127.0.0.1 $port} listener]} {
            continue
        }
        close $listener
        dict set ::ports_given $port 1
        return $port
    }
    error "all ports of $range (PACKLIST_PORTS) are taken"
}

proc temporary_folder {} {
    set parent [expr {[info exists ::env(TMPDIR)] ? $::env(TMPDIR) : "/tmp"}]
    return [string trim [exec mktemp -d $parent/packlist-test.XXXXXX]]
}

proc read_file {path} {
    set file [open $path rb]
    try {
        return [read $file]
    } finally {
        close $file
    }
}

proc write_file {path bytes} {
    set file [open $path wb]
    puts -nonewline $file $bytes
    close $file
}

# Returns {directory name ...} of the threads of a process whose names match the pattern: the directories are below
# /proc/PID/task, their last parts are the threads' ids. A thread that ends while this looks is left out.
proc threads_of {pid {pattern *}} {
    set found {}
    foreach directory [glob /proc/$pid/task/*] {
        if {![catch {string trim [read_file $directory/comm]} name] && [string match $pattern $name]} {
            dict set found $directory $name
        }
    }
    return $found
}

# How many threads of a process are the allocator's own: jemalloc names them.
proc allocator_threads {pid} {
    return [dict size [threads_of $pid jemalloc*]]
}

proc last_lines {text count} {
    return [join [lrange [split [string trimright $text] \n] end-[expr {$count - 1}] end] \n]
}

# Evaluates `condition` in the caller every few milliseconds until it is false; true when that came in time.
proc wait_while {condition {limit_ms ""}} {
    if {$limit_ms eq ""} {
        set limit_ms $::patience_ms
    }
    set deadline [expr {[clock milliseconds] + $limit_ms}]
    while {[uplevel 1 [list expr $condition]]} {
        if {[clock milliseconds] > $deadline} {
            return 0
        }
        after 5
    }
    return 1
}
