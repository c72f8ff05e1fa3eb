# The command line, the configuration file, where the server listens, and how it begins and ends.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/faults.tcl

server_start

# A server that is started in its folder with arguments of our choice, in which %port and %folder stand for its own.
# What `stdin` holds comes on its standard input.
oo::class create started_server {
    superclass server
    variable port folder process arguments stdin

    constructor {its_arguments its_stdin} {
        set arguments $its_arguments
        set stdin $its_stdin
        next {}
    }

    method spawn {} {
        set words [string map [list %port $port %folder $folder] $arguments]
        write_file $folder/stdin [string map [list %port $port %folder $folder] $stdin]
        set process [open [list | setpriv --pdeathsig KILL -- sh -c {cd "$1"; shift; exec "$@" <stdin} \
            sh $folder $::server_binary {*}$words >>$folder/log 2>@1] w]
    }
}

# Runs the body with a server started so as the current one.
proc with_arguments {arguments stdin body} {
    uplevel 1 [list with_started [list started_server new $arguments $stdin] $body]
}

# Runs the binary until it exits: {status stdout stderr}.
proc run_apart {arguments {stdin ""}} {
    set errors [$::current_server folder]/stderr
    set failed [catch {
        exec -ignorestderr -keepnewline -- env -C [$::current_server folder] timeout 20 $::server_binary {*}$arguments \
            << $stdin 2> $errors
    } output options]
    regsub {\n?child process exited abnormally$} $output "" output
    return [list [expr {$failed ? [lindex [dict get $options -errorcode] 2] : 0}] $output [read_file $errors]]
}

# The one line on stderr of a start that must fail; throws when it is anything else.
proc failed_start {arguments {stdin ""}} {
    lassign [run_apart $arguments $stdin] status output errors
    assert_equal $status 1
    if {[llength [split [string trim $errors] \n]] != 1} {
        error "not one line on stderr: $errors"
    }
    return [string trim $errors]
}

# What is said about a configuration that cannot be read: {where text reason}.
proc bad_configuration {arguments {stdin ""}} {
    lassign [run_apart $arguments $stdin] status output errors
    assert_equal [list $status $output] {1 {}}
    if {![regexp {^\n\*\*\* FATAL CONFIG FILE ERROR \*\*\*\n(Reading [^\n]*)\n>>> '([^\n]*)'\n([^\n]*)\n$} $errors _ \
        where text reason]} {
        error "it says: $errors"
    }
    return [list $where $text $reason]
}

proc config_file {text} {
    set path [$::current_server folder]/test.conf
    write_file $path $text
    return $path
}

proc config_get {name} {
    return [lindex [$::current_server control CONFIG GET $name] 1]
}

# --- Questions

check_in 2 "--version and -v print the version and exit" {
    foreach option {--version -v} {
        lassign [server_run $option] status output
        assert_equal $status 0
        # Test harnesses take the first number, or what follows v=, for the version of Redis.
        assert {[regexp {^Packlist server v=([\d.]+) packlist_version=([\d.]+) [^\n]*\n$} $output _ redis packlist]}
        assert_equal $redis [info_field redis_version]
        assert_equal $packlist [dict get [r HELLO] packlist_version]
    }
}
check_in 2 "--help and -h explain the command line and exit" {
    foreach option {--help -h} {
        lassign [server_run $option] status output
        assert_equal $status 0
        assert {[string match "Usage: packlist-server*--port*" $output]}
    }
}

# --- Where the configuration comes from

check_in 2 "options alone configure the server" {
    with_arguments {--port %port --maxclients 77 --bind 127.0.0.1 127.0.0.2 --hz 20
                    --client-output-buffer-limit normal 1mb 0 0 --requirepass "" --list-compress-depth 2} "" {
        assert_equal [config_get maxclients] 77
        assert_equal [config_get bind] "127.0.0.1 127.0.0.2"
        assert {[string match "normal 1048576 0 0 *" [config_get client-output-buffer-limit]]}
        list [config_get hz] [config_get requirepass] [config_get list-compress-depth]
    }
} {20 {} 2}
check_in 2 "an empty name of a file stands for none" {
    with_arguments {"" --port %port --maxclients 77} "" {
        list [config_get maxclients] [info_field config_file] [catch {r CONFIG REWRITE}]
    }
} {77 {} 1}
check_in 2 "signals that administrators may send do not end the server" {
    with_arguments {--port %port} "" {
        foreach signal {HUP USR2} { exec kill -$signal [$current_server pid] }
        r PING
    }
} PONG
check_in 2 "a file comes first, standard input next, options last" {
    set path [config_file "port 1\nmaxclients 10\nhz 20\ntimeout 100\n"]
    with_arguments [list $path --port %port --maxclients 30 -] "port 2\nmaxclients 20\nhz 30\n" {
        list [expr {[config_get port] == [$current_server port]}] [config_get maxclients] [config_get hz] \
            [config_get timeout]
    }
} {1 30 30 100}
check_in 2 "standard input alone may hold the configuration" {
    with_arguments - "# from a pipe\nport %port\n\n  hz 40  \r\nrequirepass \"\"\n" {config_get hz}
} 40
check_in 2 "values may be quoted, names written in any case, the last line counts" {
    with_arguments - "PORT %port\nTimeout 5\ntimeout 6\nbind '127.0.0.1' \"127.0.0.2\"\nlogfile \"\"\n\
            HZ \"\\x31\\x32\"\n" {
        list [config_get timeout] [config_get bind] [config_get hz]
    }
} {6 {127.0.0.1 127.0.0.2} 12}
check_in 2 "sizes have units" {
    foreach {text bytes} {2mb 2097152 2M 2000000 3g 3000000000 1GB 1073741824 2000000b 2000000 1500000 1500000} {
        with_arguments [list --port %port --client-query-buffer-limit $text] "" {
            assert_equal [list $text [config_get client-query-buffer-limit]] [list $text $bytes]
        }
    }
}
check_in 2 "include reads other files, by name or pattern" {
    set folder [$current_server folder]
    write_file $folder/one.inc "maxclients 11\ntimeout 1\n"
    write_file $folder/two.inc "hz 22\n"
    set path [config_file "include $folder/one.inc\ntimeout 2\ninclude $folder/t*.inc\ninclude $folder/none*.inc\n"]
    with_arguments [list $path --port %port] "" {
        list [config_get maxclients] [config_get timeout] [config_get hz]
    }
} {11 2 22}
# Does a comment name the directive, or a pattern that matches it?
proc is_named_in {text name} {
    foreach line [regexp -all -inline -line {^# .*$} $text] {
        foreach word [regexp -all -inline {[a-z0-9]+(?:-[a-z0-9]+)*(?:-\*)?} $line] {
            if {[string match $word $name]} {
                return 1
            }
        }
    }
    return 0
}

check_in 2 "the configuration that comes with the server starts it and has the defaults" {
    set ours [read_file $repository/redis.conf]
    with_arguments [list $repository/redis.conf --port %port] "" {
        set with_file [$current_server control CONFIG GET *]
    }
    with_arguments {--port %port} "" {
        set without [$current_server control CONFIG GET *]
    }
    foreach {name value} $with_file {
        if {$name ni {port dir}} {
            assert_equal [list $name $value] [list $name [dict get $without $name]]
        }
        # Every directive is explained there: it has a paragraph, or is named in the list at the end or as an alias.
        if {![regexp -line "^(# )?$name " $ours]} {
            assert {[is_named_in $ours [string map {_ -} $name]]}
        }
    }
}

# --- What stops the start

check_in 2 "an unknown directive stops the start with file, line and text" {
    set path [config_file "# first\n\nport 0\n  nosuch-directive some value  \nhz 10\n"]
    bad_configuration $path
} {{Reading the configuration file, at line 4 of */test.conf} {nosuch-directive some value}\
 {Bad directive or wrong number of arguments}} -match glob
check_in 2 "so it does on standard input, in an included file and on the command line" {
    assert_equal [bad_configuration - "port 0\nnosuch 1\n"] {{Reading the configuration file, at line 2 of standard\
 input} {nosuch 1} {Bad directive or wrong number of arguments}}
    set inner [$current_server folder]/inner.conf
    write_file $inner "\n\nnosuch 1"
    assert_equal [lindex [bad_configuration [config_file "hz 10\ninclude $inner\n"]] 0] \
        "Reading the configuration file, at line 3 of $inner"
    lrange [bad_configuration {--nosuch 1}] 1 2
} {{nosuch "1"} {Bad directive or wrong number of arguments}}
check_in 2 "bad values stop the start and are named" {
    foreach {line reason} {
        "port abc" "argument couldn't be parsed into an integer"
        "port 65536" "argument must be between 0 and 65535 inclusive"
        "port" "wrong number of arguments"
        "port 1 2" "wrong number of arguments"
        "databases 0" "argument must be between 1 and 2147483647 inclusive"
        "protected-mode maybe" "argument must be 'yes' or 'no'"
        "loglevel loud" "argument(s) must be one of the following: debug, verbose, notice, warning, nothing"
        "proto-max-bulk-len 5q" "argument must be a memory value"
        "unixsocketperm 999" "argument couldn't be parsed as an octal number"
        "enable-debug-command perhaps" "argument(s) must be one of the following: no, yes, local"
        "client-output-buffer-limit normal 1" "Wrong number of arguments in buffer limit configuration."
        "server-cpulist 0-" "must be a list of processors, such as 0,2-5,8-15:2"
        "bio_cpulist abc" "must be a list of processors, such as 0,2-5,8-15:2"
        "logfile \"abc" "Unbalanced quotes in configuration line"
        "list-max-listpack-size x" "argument couldn't be parsed into an integer"
    } {
        assert_equal [lrange [bad_configuration - "$line\n"] 1 2] [list $line $reason]
    }
}
check_in 2 "bad options stop the start" {
    foreach {arguments text} {
        {--port abc} {port "abc"}
        {--port} port
        {--hz 10 --maxclients} maxclients
        {--timeout 1 2} {timeout "1" "2"}
    } {
        assert_equal [lindex [bad_configuration $arguments] 1] $text
    }
}
check_in 2 "a file that cannot be read stops the start with one line" {
    assert_equal [failed_start /nosuch/file.conf] \
        "Fatal error, can't open config file '/nosuch/file.conf': No such file or directory"
    assert_equal [failed_start [$current_server folder]] \
        "Fatal error, can't open config file '[$current_server folder]': Is a directory"
    failed_start [config_file "include /nosuch/inner.conf\n"]
} "Fatal error, can't open config file '/nosuch/inner.conf': No such file or directory"
check_in 2 "a port that is taken stops the start with one line on stderr, which names the way to another" {
    set port [$current_server port]
    assert_equal [failed_start [list --port $port --bind 127.0.0.1]] "packlist-server: Could not create server TCP\
        listening socket 127.0.0.1:$port: Address already in use (choose another port with --port)"
    # The server that was there first goes on.
    r PING
} PONG
check_in 2 "what stops the start stands once where log and errors go to one terminal, also if nothing is logged" {
    foreach level {notice nothing} {
        lassign [server_run [list --port [$current_server port] --bind 127.0.0.1 --loglevel $level]] status output
        lappend found $status [regexp -all "Could not create server TCP" $output]
    }
    set found
} {1 1 1 1}
check_in 2 "an address that this machine does not have stops the start with one line on stderr" {
    string match "packlist-server: Could not create server TCP listening socket 192.0.2.1:*" \
        [failed_start [list --port [free_port] --bind 127.0.0.1 192.0.2.1]]
} 1
check_in 2 "a log file that cannot be written stops the start with one line on stderr" {
    failed_start [list --port [free_port] --logfile /nosuch/log]
} "packlist-server: Can't open the log file /nosuch/log: No such file or directory"
check_in 2 "a unix socket that cannot be made stops the start with one line on stderr" {
    assert_equal [failed_start {--port 0 --unixsocket /nosuch/socket}] \
        "packlist-server: Failed opening Unix socket /nosuch/socket: No such file or directory"
    set path [config_file "not a socket"]
    assert {[string match "packlist-server: Failed opening Unix socket $path: *" \
        [failed_start [list --port 0 --unixsocket $path]]]}
    read_file $path
} "not a socket"
check_in 2 "a server that would listen nowhere does not start" {
    string match "packlist-server: *" [failed_start {--port 0}]
} 1

# --- Where it listens

check_in 2 "it listens on every address that bind names, and on no other" {
    with_arguments {--port %port --bind 127.0.0.1 127.0.0.3} "" {
        set port [$current_server port]
        assert {[catch {socket 127.0.0.2 $port}]}
        list [r PING] [[client new 127.0.0.3 $port] call PING]
    }
} {PONG PONG}
check_in 2 "an optional address that is not there is passed over" {
    with_arguments {--port %port --bind 127.0.0.1 -192.0.2.1 -2001:db8::1} "" {
        assert_equal [config_get bind] "127.0.0.1 -192.0.2.1 -2001:db8::1"
        r PING
    }
} PONG
check_in 2 "* is every address" {
    with_arguments {--port %port --bind *} "" {
        list [[client new 127.0.0.1 [$current_server port]] call PING] \
            [[client new 127.0.0.2 [$current_server port]] call PING]
    }
} {PONG PONG}
if {[file exists /proc/net/if_inet6] && [regexp { lo$} [string trim [read_file /proc/net/if_inet6]]]} {
    check_in 2 "it listens on IPv6" {
        with_arguments {--port %port --bind 127.0.0.1 ::1} "" {
            set c [client new ::1 [$current_server port]]
            assert_equal [$c call PING] PONG
            assert {[string match "* addr=\\\[::1\\]:* laddr=\\\[::1\\]:[$current_server port] *" \
                [$c call CLIENT INFO]]}
            [client new 127.0.0.1 [$current_server port]] call PING
        }
    } PONG
}
check_in 2 "it listens on a unix socket beside the port, with the permissions asked for" {
    with_arguments {--port %port --unixsocket %folder/socket --unixsocketperm 700} "" {
        set path [$current_server folder]/socket
        assert_equal [exec redis-cli -s $path SET k v] OK
        assert_equal [r GET k] v
        assert_equal [exec stat -c %a $path] 700
        assert {[string match "* addr=$path:0 laddr=$path:0 *" [exec redis-cli -s $path CLIENT INFO]]}
        exec kill -TERM [$current_server pid]
        assert_equal [$current_server wait_exit] 0
        file exists $path
    }
} 0
check_in 2 "the unix socket belongs to unixsocketgroup; a group that does not exist stops the start" {
    set path [$current_server folder]/grouped.socket
    lassign [server_run [list --port 0 --unixsocket $path --unixsocketgroup nosuchgroup]] status output
    assert {$status == 1 && [string match "*there is no group nosuchgroup*" $output]}
    # Root may give a file to any group, another user to one of his own.
    set group [expr {[exec id -u] == 0 ? "daemon" : [lindex [exec id -Gn] end]}]
    with_arguments [list --port %port --unixsocket $path --unixsocketgroup $group] "" {
        exec stat -c %G $path
    }
} [expr {[exec id -u] == 0 ? "daemon" : [lindex [exec id -Gn] end]}]
check_in 2 "an ordinary file in the place of the unix socket stops the start and stays" {
    set path [$current_server folder]/data
    write_file $path "data"
    lassign [server_run [list --port 0 --unixsocket $path]] status output
    assert {$status == 1 && [string match "*$path*File exists*" $output]}
    read_file $path
} data
check_in 2 "a socket that a dead server left behind is replaced" {
    with_arguments {--port %port --unixsocket %folder/socket} "" {
        set path [$current_server folder]/socket
        file rename $path $path.left
        with_arguments [list --port %port --unixsocket $path.left] "" {
            exec redis-cli -s $path.left PING
        }
    }
} PONG
check_in 2 "with port 0 it listens on the unix socket only" {
    set path [$current_server folder]/only.socket
    set process [open [list | setpriv --pdeathsig KILL -- $server_binary --port 0 --unixsocket $path \
        --logfile $path.log] w]
    try {
        wait_until {![catch {exec redis-cli -s $path PING} pong]} $start_timeout_ms
        assert_equal [exec redis-cli -s $path CONFIG GET port] "port\n0"
        # No socket of its own listens on TCP.
        assert_equal [exec sh -c "ls -l /proc/[pid $process]/fd | grep -c socket: || true"] 1
        catch {exec redis-cli -s $path SHUTDOWN NOSAVE}
    } finally {
        catch {exec kill [pid $process]}
        catch {close $process}
    }
    set pong
} PONG

# --- The process

check_in 2 "SIGTERM and SIGINT end it in order" {
    foreach signal {TERM INT} {
        with_server {} {
            set c [client_open 2]
            set waiting [client_blocked BLPOP k 0]
            $c call RPUSH l a b c
            exec kill -$signal [$current_server pid]
            assert_equal [$current_server wait_exit] 0
            assert {[$c is_closed] && [$waiting is_closed]}
            assert {[string match "*Received SIG$signal scheduling shutdown*bye bye*" [$current_server log]]}
            assert {[catch {socket 127.0.0.1 [$current_server port]}]}
        }
    }
}
foreach {moment rule} {starting "temp-1.rdb" ending "*.pid"} {
    check_in 2 "SIGTERM while it is $moment ends it in order, too" {
        with_faulty_server [list pidfile its.pid save "3600 1"] {
            set folder [$current_server data]
            # The end that is tried: of the server that runs, or of one that begins.
            if {$moment eq "starting"} {
                $current_server halt
                write_file $folder/temp-1.rdb ""
            }
            faults "unlink hold $rule"
            if {$moment eq "starting"} {
                $current_server spawn
            } else {
                exec kill -TERM [$current_server pid]
            }
            wait_until {[fault_hits unlink*] ne {}} $start_timeout_ms
            exec kill -TERM [$current_server pid]
            faults
            assert_equal [$current_server wait_exit] 0
            assert_equal [glob -nocomplain -directory $folder *.pid] {}
            assert {[string match "*Received SIGTERM*bye bye*" [$current_server log]]}
        }
    }
}
check_in 2 "SIGTERM while data is loaded ends it in order" {
    with_server [list pidfile its.pid enable-debug-command yes] {
        r DEBUG POPULATE 5000
        r SAVE
        $current_server halt
        $current_server set_directives {key-load-delay 1000}
        $current_server spawn
        wait_until {[file exists [$current_server folder]/its.pid]} $start_timeout_ms
        exec kill -TERM [$current_server pid]
        assert_equal [$current_server wait_exit] 0
        file exists [$current_server folder]/its.pid
    }
} 0
check_in 2 "a port can be used again at once after the end, although connections were open" {
    with_server {} {
        set c [client_open 2]
        $c call PING
        $current_server restart
        [client_open 2] call PING
    }
} PONG
check_in 2 "pidfile holds the process id while it runs" {
    with_arguments {--port %port --pidfile %folder/pid} "" {
        set path [$current_server folder]/pid
        assert_equal [string trim [read_file $path]] [info_field process_id]
        exec kill -TERM [$current_server pid]
        assert_equal [$current_server wait_exit] 0
        file exists $path
    }
} 0
check_in 2 "a pipe in the place of the pid file is left alone, and not waited for" {
    with_server {} {
        set pipe [$current_server folder]/pid
        exec mkfifo $pipe
        with_arguments [list --port %port --pidfile $pipe] "" {
            assert_equal [r PING] PONG
            string match "*Failed to write PID file $pipe: *" [$current_server log]
        }
    }
} 1
check_in 2 "logfile takes the log, each line with process, time and level" {
    with_arguments {--port %port --logfile %folder/its.log} "" {
        set log [read_file [$current_server folder]/its.log]
        assert_equal [$current_server log] ""
        foreach line [split [string trim $log] \n] {
            assert {[regexp {^\d+:M \d\d \w{3} \d{4} \d\d:\d\d:\d\d\.\d{3} [.*#-] .+$} $line]}
        }
        string match "*Ready to accept connections*" $log
    }
} 1
check_in 2 "loglevel chooses what is logged" {
    with_arguments {--port %port --loglevel warning} "" {
        assert {![string match "*Ready to accept*" [$current_server log]]}
    }
    with_arguments {--port %port --loglevel verbose} "" {
        assert {[string match "*Ready to accept*" [$current_server log]]}
    }
}
check_in 2 "it says where it listens and how to connect" {
    with_arguments {--port %port} "" {
        string match "*port=[$current_server port]*redis-cli -p [$current_server port]*" [$current_server log]
    }
} 1
check_in 2 "the log has the lines that test harnesses and service managers wait for" {
    with_arguments {--port %port --unixsocket %folder/socket --pidfile %folder/pid} "" {
        set pid [$current_server pid]
        set port [$current_server port]
        exec kill -TERM $pid
        $current_server wait_exit
        set at 0
        foreach line [list "oO0OoO0OoO0Oo Packlist is starting oO0OoO0OoO0Oo" "pid=$pid, just started" \
                "Configuration loaded" "Running mode=standalone, port=$port." "Server initialized" \
                "Ready to accept connections tcp" "Ready to accept connections unix" \
                "Received SIGTERM scheduling shutdown..." "User requested shutdown..." \
                "Removing the unix socket file." "Removing the pid file." "Packlist is now ready to exit, bye bye..."] {
            set next [string first $line\n [$current_server log] $at]
            if {$next < 0} {
                error "no line \"$line\" behind byte $at"
            }
            set at $next
        }
    }
}
check_in 2 "maxclients over what the system allows is lowered, and the log says so" {
    set path [config_file ""]
    set port [free_port]
    # Root could raise even the hard limit.
    set humbly [expr {[exec id -u] == 0 ? {setpriv --bounding-set=-sys_resource} : {env}}]
    set process [open [list | setpriv --pdeathsig KILL -- sh -c {ulimit -n 100; exec "$@"} sh {*}$humbly \
        $server_binary --port $port --maxclients 5000 --logfile $path.log --save ""] w]
    try {
        wait_until {![catch {set c [client new 127.0.0.1 $port]}]} $start_timeout_ms
        set allowed [lindex [$c call CONFIG GET maxclients] 1]
        $c send SHUTDOWN NOSAVE
        $c is_closed
    } finally {
        catch {exec kill [pid $process]}
        catch {close $process}
    }
    assert {$allowed < 100 && $allowed > 50}
    regexp {maxclients 5000 needs \d+ open files} [read_file $path.log]
} 1
check_in 2 "daemonize leaves the terminal and goes on alone" {
    set folder [$current_server folder]
    set port [free_port]
    lassign [run_apart [list --port $port --daemonize yes --pidfile $folder/daemon.pid --logfile $folder/daemon.log \
        --dir $folder]] \
        status output errors
    assert_equal [list $status $output $errors] {0 {} {}}
    wait_until {![catch {set c [client new 127.0.0.1 $port]}]} $start_timeout_ms
    regexp {process_id:(\d+)} [$c call INFO server] _ pid
    try {
        assert_equal [string trim [read_file $folder/daemon.pid]] $pid
        assert_equal [file readlink /proc/$pid/fd/0] /dev/null
        # A session of its own.
        assert_equal [lindex [regsub {^.*\) } [read_file /proc/$pid/stat] ""] 3] $pid
        # A thread that was there before the process forked would be gone. It names itself when it begins to run.
        wait_until {[allocator_threads $pid] == [allocator_threads [info_field process_id]]}
        $c send SHUTDOWN NOSAVE
        $c is_closed
        wait_until {![file exists $folder/daemon.pid]}
    } finally {
        catch {exec kill $pid}
    }
    wait_until {[string match "*bye bye*" [read_file $folder/daemon.log]]}
}

check_in 2 "a daemon that cannot start says so on the terminal it came from, with status 1" {
    set log [$current_server folder]/failed.log
    lassign [run_apart [list --port [$current_server port] --daemonize yes --logfile $log]] status output errors
    list $status $output [string match "packlist-server: *in use (*)" [string trim $errors]]
} {1 {} 1}

finish
