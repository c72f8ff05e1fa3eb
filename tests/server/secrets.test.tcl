# Passwords: sent in every way, right and wrong, they are shown nowhere: not in MONITOR, SLOWLOG, CLIENT LIST, INFO,
# LATENCY, ACL LOG, the log, the report of a crash, the title of the process, or an error.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join $library fake_target.tcl]
source [file join $library primary.tcl]

# When a function of another library is called for the first time, the dynamic linker saves the vector registers on the
# stack, and in them what was copied last. This makes it find all functions at the start.
set env(LD_BIND_NOW) 1

server_start {loglevel debug slowlog-log-slower-than 0 slowlog-max-len 1000 latency-monitor-threshold 1}

# Every secret begins so; what is sent in the place of @ is such a one.
set secret_head zq7KxW
set sent_secrets 0
set is_sanitized [info exists env(PACKLIST_SLOW)]

proc new_secret {} {
    return $::secret_head-[incr ::sent_secrets]-tail
}

# Throws when a secret, or the head of one, stands in the text, in any case.
proc assert_no_secret {where text} {
    if {[regexp -nocase ".{0,80}$::secret_head\\S*" $text found]} {
        error "$where shows a secret: [printable $found]"
    }
}

# What the server shows to operators.
proc all_shown {} {
    set shown {}
    foreach request {{SLOWLOG GET -1} {CLIENT LIST} {INFO everything} {LATENCY LATEST} {LATENCY HISTOGRAM}
    {LATENCY DOCTOR}
        {ACL LOG} {ACL LIST} {COMMAND LIST} {MEMORY DOCTOR} {SCRIPT HELP}} {
        append shown "\n$request:\n" [catch {$::current_server control {*}$request} reply] $reply
    }
    append shown "\nlog:\n" [$::current_server log]
    foreach file {cmdline comm} {
        append shown "\n$file:\n" [read_file /proc/[$::current_server pid]/$file]
    }
    return $shown
}

# Sends each request, with new secrets, over a connection of its own while another one monitors; neither replies nor
# what the server shows has one. A request that begins with the word "each" is several, over one connection.
proc assert_hidden {requests} {
    $::current_server control SLOWLOG RESET
    set monitor [client_open 2]
    $monitor call MONITOR
    foreach request $requests {
        set request [string map [list @ [new_secret]] $request]
        set connection [client_open]
        foreach command [expr {[lindex $request 0] eq "each" ? [lrange $request 1 end] : [list $request]}] {
            catch {$connection call {*}$command} reply
            assert_no_secret "the reply to '$request'" $reply
        }
        $connection close
    }
    $monitor send QUIT
    assert_no_secret MONITOR [$monitor read_all]
    assert_no_secret "what operators see" [all_shown]
}

check "AUTH hides passwords in all its forms" {
    assert_hidden {
        {AUTH @} {auth @} {Auth bob @} {AUTH default @} {AUTH bob @ x} {AUTH bob x @} {AUTH a b c @}
        {AUHT @} {AUT bob @} {AUTHH @} {AUTJ @} {AUTH: @} {"auth @"} {"auth @" x} {AUTHENTICATE-PASSWORD @} {AUTH=@}
        {AUTH:@ x} {AUTH,@} {AUTH,@ x} {AUTH|@ x} {AUTH;@ x} "AUTH\t@" {"AUTH\t@" x}
    }
}
check_in 2 "AUTH hides passwords in inline commands" {
    foreach line {"AUTH @" "auth bob @" "AUTH bob \"@" "AUTH 'bob' \"@\" x" "AUTHX @"} {
        set connection [client_open]
        $connection write "[string map [list @ [new_secret]] $line]\r\nQUIT\r\n"
        assert_no_secret "the reply to $line" [$connection read_all]
    }
    assert_no_secret "what operators see" [all_shown]
}
check_in 2 "HELLO hides passwords in all its forms" {
    assert_hidden {
        {HELLO 3 AUTH bob @} {hello 2 auth bob @ setname me} {HELLO 3 SETNAME me AUTH bob @} {HELLO 9 AUTH bob @}
        {HELLO 3 AUTH @} {HELLO AUTH bob @} {HELLO AUTH @} {HELLO 3 AUTH bob my @} {HELLO 3 AUTH bob @ NOSUCH @}
        {HELLO 3 AUT bob @} {HELLO 3 SETNAME AUTH bob @} {HELLO 3 SETNAME AUTH @} {HELO 3 AUTH bob @}
        {HELLO x AUTH bob @} {HELLO 3 AUTH bob @ SETNAME "a b"}
    }
}
check "CONFIG SET hides passwords in all its forms" {
    assert_hidden {
        {CONFIG SET masterauth @} {config set MasterAuth @ masteruser @} {CONFIG SET primaryauth @ primaryuser @}
        {CONFIG SET maxmemory 0 masterauth @ maxmemory-samples 5} {CONFIG SET tls-key-file-pass @}
        {CONFIG SET tls-client-key-file-pass @} {CONFIG SET masterauth my @} {CONFIG SET masterauth my @ x}
        {CONFIG SET masterauth my @ x y} {CONFIG SET masterauth @ nosuch 1} {CONFIG SET nosuch 1 masterauth @}
        {CONFIG SET masterauth @ port x} {CONFIG SET masterauth @ masterauth @} {CONFIG SET masterauth @ maxmemory x}
        {CONFIG SET requirepass=@ x} {CONFIG SET maxmemory 0 requirepass:@ x} {CONFIG SET requirepas @}
        {CONFIG SET require-pass @} {CONFIG SET masteraut @} {CONFIG SET masterauthh @}
        {CONFIG SET masterauth} {CONFIG SETT masterauth @} {CONFIG masterauth @} {CONFG SET masterauth @}
        {"CONFIG SET requirepass @"} {"config set" requirepass @} {config|set requirepass @}
        {CONFIG SET requirepass,@ x} {acl|setuser bob >@}
    }
}
check "what was meant for a Sentinel hides passwords" {
    assert_hidden {
        {SENTINEL SET mymaster auth-pass @} {sentinel set mymaster auth-user bob auth-pass @}
        {SENTINEL CONFIG SET sentinel-pass @} {each MULTI {SENTINEL SET mymaster auth-pass @} EXEC}
    }
}
check "requirepass is hidden when it is set, and when it is not" {
    assert_hidden {
        {CONFIG SET requirepass @ maxmemory x} {each {CONFIG SET requirepass @} {AUTH @} {CONFIG SET requirepass my @}
            {CONFIG SET requirepass ""}}
        {each {config set RequirePass @ maxmemory 0} {AUTH default @} {HELLO 2 AUTH default @}
        {CONFIG SET requirepass ""}}
        {each MULTI {CONFIG SET requirepass @} {CONFIG SET requirepass ""} EXEC}
    }
}
check "ACL hides passwords and users in all its forms" {
    set sha [string repeat ab 31]
    assert_hidden [concat {
        {ACL SETUSER bob on >@} {ACL SETUSER bob on "&x ~y >@" "(~x #@"} {acl setuser bob <@} {ACL SETUSER bob
        "#@"} {ACL SETUSER bob !@} {ACL SETUSER bob (>@}
        {ACL SETUSER bob "(+get >@)"} {ACL SETUSER bob >@ nosuch} {ACL SETUSER bob nosuch >@} {ACL SETUSER "bob >@"}
        {ACL SETUSR bob >@} {ACLL SETUSER bob >@} {AC SETUSER bob >@} {ACL GETUSER @} {ACL DELUSER bob @}
        {ACL DRYRUN default AUTH @} {ACL DRYRUN default HELLO 3 AUTH bob @} {ACL DRYRUN default CONFIG SET masterauth @}
        {ACL DRYRUN default MIGRATE h 1 k 0 1 AUTH @} {ACL DRYRUN default ACL SETUSER bob >@}
        {ACL DRYRUN default AUHT @}
        {ACL DRYRUN nosuch AUTH @} {ACL DRYRUN default CONFIG masterauth @}
        {COMMAND GETKEYS AUTH @} {COMMAND GETKEYS MIGRATE h 1 k 0 1 AUTH @} {COMMAND GETKEYS HELLO 3 AUTH bob @}
        {COMMAND GETKEYSANDFLAGS CONFIG SET masterauth @} {COMMAND GETKEYSANDFLAGS MIGRATE h 1 k 0 1 AUTH2 u @ KEYS a}
        {COMMAND GETKEYS ATUH @} {COMMAND GETKEYS ACL}
        {COMMAND GETKEYS COMMAND GETKEYS AUTH @} {COMMAND GETKEYS COMMAND GETKEYS COMMAND GETKEYS AUTH @}
        {ACL DRYRUN default COMMAND GETKEYS AUTH @} {COMMAND GETKEYS ACL SETUSR bob >@}
    } [list "ACL SETUSER bob #${sha}@"]]
    r ACL DELUSER bob
}
check "MIGRATE hides passwords in all its forms" {
    r SET k x
    assert_hidden {
        {MIGRATE 127.0.0.1 1 nosuch 0 1 AUTH @} {migrate 127.0.0.1 1 k 0 1 copy auth @ replace}
        {MIGRATE 127.0.0.1 1 k 0 1 AUTH2 bob @} {MIGRATE 127.0.0.1 1 "" 0 1 AUTH2 bob @ KEYS a k}
        {MIGRATE 127.0.0.1 1 k 0 1 AUTH my @} {MIGRATE 127.0.0.1 1 k 0 1 AUTH2 @}
        {MIGRATE 127.0.0.1 1 k 0 1 AUTH2 bob my @}
        {MIGRATE 127.0.0.1 1 k AUTH @ 0} {MIGRATE 127.0.0.1 1 k 0 AUTH @} {MIGRATE 127.0.0.1 1 k AUTH2 bob @}
        {MIGRATE AUTH @} {MIGRATE 127.0.0.1 x k 0 1 AUTH @}
        {MIGRATE 127.0.0.1 1 k 0 x AUTH @}
        {MIGRATE 127.0.0.1 1 k 0 1 AUHT @} {MIGRATE 127.0.0.1 1 k 0 1 COPY PASS @} {MIGRAT 127.0.0.1 1 k 0 1 AUTH @}
        {MIGRATE 127.0.0.1 1 k 0 1 KEYS AUTH a}
    }
}
check "transactions and scripts hide passwords" {
    assert_hidden {
        {each MULTI {AUTH @} {AUTH bob @ x} {AUHT @} EXEC} {each MULTI {AUTH bob @} EXEC}
        {each MULTI {CONFIG SET masterauth @} {CONFIG SET masterauth my @} {ACL SETUSER bob >@}
        {MIGRATE h 1 k 0 1 AUTH @} EXEC}
        {each MULTI {CONFIG SET masterauth @ nosuch 1} EXEC} {each MULTI {AUTH @} DISCARD}
    }
    foreach call {"'auth', S" "'hello', 3, 'auth', 'bob', S" "'config', 'set', 'requirepass', S"
    "'acl', 'setuser', 'b', '>' .. S"
        "'migrate', '127.0.0.1', 1, 'k', 0, 1, 'auth', S" "'auht', S" "'auth ' .. S" "'auth', 'a', 'b', S"} {
        foreach how {call pcall} {
            set script "local S = 'zq7K' .. 'xW-made' return redis.$how\($call)"
            catch {r EVAL $script 0} reply
            assert_no_secret "the reply to $script" $reply
        }
    }
    assert_no_secret "what operators see" [all_shown]
}
check_in 2 "a command that was renamed away hides what was its password" {
    with_server {loglevel debug rename-command {AUTH login}} {
        assert_hidden {{AUTH @} {login @} {login bob @} {"AUTH @"} {login a b @}}
    }
    with_server {loglevel debug rename-command {CONFIG ""} slowlog-log-slower-than 0} {
        assert_hidden {{CONFIG SET requirepass @} {config set masterauth @}}
    }
}
check_in 2 "a long name of no command costs each piece of the request little" {
    set connection [client_open]
    set before [clock milliseconds]
    $connection write "*2\r\n\$50000000\r\n[string repeat x 50000000]\r\n\$1000\r\n"
    # Each byte comes alone; the reply to another client's PING shows that it has been read.
    for {set i 0} {$i < 100} {incr i} {
        $connection write y
        r PING
    }
    $connection write "[string repeat y 900]\r\n"
    assert_equal [$connection read_line] "-ERR unknown command '[string repeat x 128]', with args beginning with:\
        '[string repeat y 128]' "
    assert {[clock milliseconds] - $before < 30000}
    $connection close
}
check_in 2 "MONITOR and SLOWLOG look at each argument of a request once" {
    set requests [list [list HELLO 3 {*}[lrepeat 30000 SETNAME a] AUTH bob [new_secret]] \
        [list COMMAND {*}[lrepeat 5000 GETKEYS COMMAND] GETKEYS AUTH [new_secret]] \
        [list CONFIG SET {*}[lrepeat 30000 maxmemory 0] masterauth [new_secret]]]
    set before [clock milliseconds]
    set monitor [client_open 2]
    $monitor call MONITOR
    foreach request $requests {
        catch {r {*}$request}
    }
    $monitor send QUIT
    assert_equal [string first $::secret_head [$monitor read_all]] -1
    assert {[clock milliseconds] - $before < 30000}
}

# --- What other servers say

check_in 2 "a target of MIGRATE that quotes the password is not quoted" {
    with_fake {set _ "-ERR unknown command 'AUTH', with args beginning with: '[lindex $request end]'\r\n"} {
        r SET k x
        set secret [new_secret]
        set error [error_of {migrate_to_fake k 0 10000 AUTH $secret}]
        assert_no_secret "the error" $error
        assert_match "*beginning with: '(redacted)'" $error
        set script "return redis.call('migrate', '127.0.0.1', '[$fake port]', 'k', '0', '10000', 'auth', KEYS\[1])"
        assert_no_secret "the error" [error_of {r EVAL $script 1 $secret}]
    }
    # Arguments of a script are whatever their author wants: they are shown.
    r SLOWLOG RESET
    assert_no_secret "what operators see" [all_shown]
}
check_in 2 "a primary that quotes masterauth is not quoted" {
    set secret [new_secret]
    with_replica [list masterauth $secret masteruser bob loglevel debug] {
        set link [$primary accept]
        $link request
        $link write "+PONG\r\n"
        assert_equal [$link request] "AUTH bob $secret"
        $link write "-ERR unknown command 'AUTH', with args beginning with: 'bob' '$secret' $secret\r\n"
        wait_until {[string match "*Unable to AUTH to MASTER*'bob' '(redacted)' (redacted)*" [$current_server log]]}
        assert_no_secret "what operators see" [all_shown]
    }
}

# --- The start

check_in 2 "a configuration that is refused does not show its passwords" {
    set path [$current_server folder]/refused.conf
    foreach line {"requirepass a @" "requirepas @" "require-pass @" "RequirePass my own @" {"requirepass" @ @}
    {requirepass "@}
        {"requirepass @} "masterauth a @" "masterauht @" "primaryauth a @" "tls-key-file-pass a @"
        "tls-client-key-file-passw @ @"
        "port 1 requirepass @" "port x masterauth @" "user bob on >@ nosuch" "user bob >@ (" "password @"
        "requirepass=@" "masterauth: @"
        "tls-key-file-psas @" {"masterauth" @ extra} {'masterauth' @ extra} {'masteruser' @ extra} {masterauth"@"}
        {"master\x61uth" @ extra} {"user" x on >@ +@all "} "usr alice on >@" "users alice on >@"
        "ACL user alice on >@" "auth @"} {
        write_file $path "[string map [list @ [new_secret]] $line]\n"
        lassign [server_run $path] status output
        assert_equal $status 1
        assert_no_secret "the error of the line '$line'" $output
    }
    foreach options {{--requirepas @} {--requirepass a @} {--masterauth a @ b} {--port x --requirepass @}
    {"--requirepas @"} --requirepass=@} {
        lassign [server_run [string map [list @ [new_secret]] $options]] status output
        assert_equal $status 1
        assert_no_secret "the error of the options '$options'" $output
    }
}
check_in 2 "an error of a line shows what is no secret" {
    set path [$current_server folder]/refused.conf
    write_file $path "port 1 2\n"
    assert_match "*>>> 'port 1 2'\n*" [lindex [server_run $path] 1]
    write_file $path "user bob on >x nosuch\n"
    assert_match "*user*bob*" [lindex [server_run $path] 1]
}
# Options with a password, @, as each of them may be written.
set secret_options {
    {--requirepass @} {--requirepass --@} {"--requirepass @"} {--RequirePass @} {--masterauth a@ --masteruser --@}
    {--user bob on ">@" ~*} {"--user bob on >@"} {"--user\tbob on >@"}
    {"--hz 20\nmasterauth @"} {--'masterauth' @} {--tls-key-file-pass @}
}
foreach options $secret_options {
    check_in 2 "the title of the process does not show the password of the command line: $options" {
        set port [free_port]
        set options [string map [list @ [new_secret]] $options]
        # An argument that begins with > would be a redirection of exec.
        set command {p=$1; shift; exec "$0" --port $p "$@"}
        foreach argument $options {append command " '[string map {' '\\''} $argument]'"}
        foreach title {yes no} {
            set pid [exec setpriv --pdeathsig KILL -- sh -c $command $server_binary $port --bind 127.0.0.1 \
                --dir [$current_server folder] --save "" --set-proc-title $title >/dev/null &]
            try {
                wait_until {![catch {close [socket 127.0.0.1 $port]}]}
                assert_match "*127.0.0.1*" [read_file /proc/$pid/cmdline]
                assert_no_secret "the title" [read_file /proc/$pid/cmdline]
            } finally {
                exec kill $pid
                wait_until {![file exists /proc/$pid] || [regexp {\) [ZX] } [read_file /proc/$pid/stat]]}
            }
        }
    }
}

# --- Memory

# The secrets that the process has in memory that it can write to, as they are cut off by other bytes. Python finds
# them: for a regular expression Tcl makes text of all bytes.
proc secrets_in_memory {pid} {
    return [split [exec python3 $::library/find_in_memory.py $pid "$::secret_head\[-0-9a-z]*"] \n]
}

# Sanitizers keep what was freed, and reserve terabytes.
set memory_is_seen [expr {!$is_sanitized && ![catch {close [open /proc/[$current_server pid]/mem rb]}]}]

proc check_memory {name body expected} {
    if {$::memory_is_seen} {
        check_in 2 $name $body $expected
    }
}

# Sends the requests to a server of their own; the secrets that are in its memory then.
proc kept_of {directives requests} {
    with_server $directives {
        foreach request $requests {
            set connection [client_open]
            if {[dict exists $directives requirepass]} {
                $connection call AUTH [dict get $directives requirepass]
            }
            foreach command [expr {[lindex $request 0] eq "each" ? [lrange $request 1 end] : [list $request]}] {
                catch {$connection call {*}$command}
            }
            $connection close
        }
        wait_until {[info_field connected_clients] == 1}
        return [secrets_in_memory [$::current_server pid]]
    }
}

check_memory "a secret that is kept as a value is found in memory" {
    kept_of {} [list [list SET k $secret_head-value]]
} [list $secret_head-value]
foreach {what requests} {
    "AUTH and HELLO" {
        {AUTH @-a} {AUTH bob @-b} {auth a b @-c} {HELLO 3 AUTH bob @-d} {HELLO 3 AUTH bob my @-e} {AUHT @-f}
        {"auth @-g"}
    }
    "ACL SETUSER" {
        {ACL SETUSER bob on >@-a ~* allcommands} {ACL SETUSER bob "(~x >@-b)"} {ACL SETUSER bob (~x >@-j x)}
        {ACL SETUSER bob on < >@-c nosuch}
        {ACL SETUSER bob >@-d <@-d <@-e} {AUTH bob @-a} {HELLO 2 AUTH bob @-a} {ACL SETUSR bob >@-f}
        {AC SETUSER bob >@-g}
        {ACL DRYRUN bob AUTH @-h} {COMMAND GETKEYS AUTH @-i}
    }
    "CONFIG SET" {
        {CONFIG SET masterauth @-a maxmemory x} {CONFIG SET tls-key-file-pass my @-b} {CONFIG SET masterauth @-c}
        {CONFIG SET masterauth ""} {CONFIG SET masterauht @-d} {CONFG SET masterauth @-e}
        {each {CONFIG SET requirepass @-f} {AUTH @-f} {CONFIG SET requirepass ""}}
    }
    "transactions and MIGRATE" {
        {each MULTI {AUTH @-a} {ACL SETUSER bob >@-b} {CONFIG SET masterauth @-c maxmemory x} EXEC}
        {each MULTI {AUTH @-d} DISCARD} {each MULTI {AUTH @-e}} {SET k x} {MIGRATE 127.0.0.1 1 k 0 1000 AUTH @-f}
        {MIGRATE 127.0.0.1 1 nosuch 0 1000 AUTH2 bob @-g} {each MULTI {MIGRATE 127.0.0.1 1 k 0 1000 AUTH @-h} EXEC}
        {each {CLIENT PAUSE 50 ALL} {MIGRATE 127.0.0.1 1 k 0 1000 AUTH @-i}}
    }
} {
    check_memory "no password of $what stays in memory" {
        kept_of {} [string map [list @ $secret_head] $requests]
    } {}
    check_memory "nor before the client has logged in: $what" {
        kept_of {requirepass word} [linsert [string map [list @ $secret_head] $requests] 0 {PING}]
    } {}
}
check_memory "no password stays in memory in whichever pieces it comes" {
    with_server {} {
        set auth [request [list AUTH $secret_head-pieces]]
        set get [request [list GET x]]
        set rules [request [list ACL SETUSER bob >$secret_head-pieces]]
        foreach request [list $auth "AUTH $secret_head-pieces\r\n" $rules $get$auth $auth$get] {
            for {set cut 1} {$cut < [string length $request]} {incr cut 3} {
                set connection [client_open]
                $connection write [string range $request 0 $cut-1]
                after 1
                $connection write [string range $request $cut end]
                $connection read_line
                $connection close
                # Half of it, and the client goes.
                set connection [client_open]
                $connection write [string range $request 0 $cut]
                $connection close
            }
        }
        wait_until {[info_field connected_clients] == 1}
        secrets_in_memory [$current_server pid]
    }
} {}
check_memory "no large password stays in memory" {
    with_server {} {
        foreach size {1000 20000 40000 70000 200000 1500000} {
            set connection [client_open]
            catch {$connection call AUTH [string repeat "$secret_head " [expr {$size / 7}]]}
            catch {$connection call ACL SETUSER bob >[string repeat "$secret_head " [expr {$size / 7}]]}
            $connection close
        }
        wait_until {[info_field connected_clients] == 1}
        secrets_in_memory [$current_server pid]
    }
} {}
check_memory "of the configuration only the values in force stay in memory, each once" {
    set path [$current_server folder]/included.conf
    write_file $path "masterauth $secret_head-file\n# $secret_head-comment\n[string repeat "# $secret_head-x\n" 20000]"
    with_server [list include $path tls-key-file-pass $secret_head-old] {
        r CONFIG SET tls-key-file-pass $secret_head-new
        r CONFIG REWRITE
        r CONFIG SET maxmemory 100mb hz 50
        secrets_in_memory [$current_server pid]
    }
} [list $secret_head-file $secret_head-new]
check_memory "replies with passwords do not stay in memory" {
    # So long that the reply to INFO does not happen to overwrite it.
    set value [string repeat "$secret_head " 4000]
    with_server {} {
        r CONFIG SET masterauth $value
        assert_equal [r CONFIG GET masterauth] [list masterauth $value]
        assert_match "*$value*" [r CONFIG GET *]
        r MULTI
        r CONFIG GET master*
        r EXEC
        r CONFIG SET masterauth ""
        [default_client] close
        wait_until {[info_field connected_clients] == 1}
        secrets_in_memory [$current_server pid]
    }
} {}
check_memory "the password of the command line stays in memory as the value of requirepass only" {
    set port [free_port]
    # An argument that begins with > would be a redirection of exec.
    set pid [exec setpriv --pdeathsig KILL -- sh -c {exec "$@" '--"user"' other on ">$0" --set-proc-title no} \
        $secret_head-user $server_binary --requirepass $secret_head-option --bind 127.0.0.1 --port $port \
        --dir [$current_server folder] --save "" >/dev/null &]
    try {
        wait_until {![catch {close [socket 127.0.0.1 $port]}]}
        assert_no_secret "the title" [read_file /proc/$pid/cmdline]
        assert_equal [secrets_in_memory $pid] $secret_head-option
        set client [client new 127.0.0.1 $port]
        $client call AUTH $secret_head-option
        $client call CONFIG SET requirepass ""
        secrets_in_memory $pid
    } finally {
        exec kill $pid
        wait_until {![file exists /proc/$pid] || [regexp {\) [ZX] } [read_file /proc/$pid/stat]]}
    }
} {}
check_memory "what is sent to a primary and to a target of MIGRATE does not stay in memory" {
    with_replica [list masterauth $secret_head-primary masteruser bob] {
        set link [$primary accept]
        $link request
        $link write "+PONG\r\n"
        assert_equal [$link request] "AUTH bob $secret_head-primary"
        $link write "-WRONGPASS no\r\n"
        wait_until {[string match "*Unable to AUTH to MASTER*" [$current_server log]]}
        r CONFIG SET masterauth ""
        assert_equal [secrets_in_memory [$::current_server pid]] {}
    }
    with_server {} {
        with_fake {set _ "+OK\r\n"} {
            r SET k [string repeat x 100000]
            assert_equal [migrate_to_fake k 0 10000 AUTH $secret_head-target] OK
            assert_equal [lindex [$fake requests] 0 1] $secret_head-target
            secrets_in_memory [$current_server pid]
        }
    }
} {}

check_memory "no password that comes over TLS stays in memory" {
    set certificates [$current_server folder]/certificates
    exec $repository/tests/tls/make-certificates $certificates
    set tls_port [free_port]
    with_server [list tls-port $tls_port tls-cert-file $certificates/server.crt tls-key-file $certificates/server.key \
            tls-ca-cert-file $certificates/ca.crt tls-auth-clients no] {
        foreach line [list "ACL SETUSER bob on >$secret_head-a" "AUTH bob $secret_head-a" \
                "CONFIG SET masterauth $secret_head-b maxmemory x" \
                "AUTH bob \"[string repeat "$secret_head " 9000]\""] {
            exec redis-cli --tls -p $tls_port --cacert $certificates/ca.crt << "$line\n"
        }
        wait_until {[info_field connected_clients] == 1}
        secrets_in_memory [$current_server pid]
    }
} {}

# --- A crash

check_in 2 "the report of a crash shows no password" {
    set crashing [server new {loglevel debug}]
    try {
        set client [client new 127.0.0.1 [$crashing port]]
        foreach request {{CONFIG SET masterauth @} {ACL SETUSER bob on >@ allcommands} {AUTH bob @} {HELLO 2 AUTH bob @}
        {AUHT @}
            {MIGRATE 127.0.0.1 1 k 0 1 AUTH @} {CONFIG SET requirepass @}} {
            catch {$client call {*}[string map [list @ [new_secret]] $request]}
        }
        $client send DEBUG SEGFAULT
        $crashing wait_exit
        assert {[regexp {BUG REPORT|(Address|Thread)Sanitizer} [$crashing log]]}
        assert_no_secret "the report" [$crashing log]
    } finally {
        catch {$client close}
        $crashing destroy
    }
}

finish
