# Nothing fails open: a setting that protects and cannot be honoured stops the start, or is refused with what was in
# force before; and what a client may do before it has logged in stays bounded.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start
set folder [$current_server folder]
set path $folder/refused.conf

# Starts a server with this text as its configuration: {status output}. It listens nowhere unless the text says so.
proc start_with {text args} {
    write_file $::path $text
    return [server_run [list $::path --port 0 --dir $::folder {*}$args]]
}

# The start must end with status 1 and an error that matches, and with nothing that listens.
proc assert_refused {text pattern args} {
    lassign [start_with $text {*}$args] status output
    if {$status != 1 || ![string match $pattern $output]} {
        error "'[printable $text]' ended with $status: $output"
    }
}

# --- The start

check_in 2 "a directive that protects stops the start when its name or its value is not good" {
    foreach {line pattern} {
        "requirepas x"                  *Bad\ directive*
        "require-pass x"                *Bad\ directive*
        "requirepass"                   *wrong\ number\ of\ arguments*
        "requirepass a b"               *wrong\ number\ of\ arguments*
        "requirepass 'a"                *Unbalanced\ quotes*
        "protected_mode yes"            *Bad\ directive*
        "protected-mode on"             *'yes'\ or\ 'no'*
        "protected-mode"                *wrong\ number\ of\ arguments*
        "maxclients many"               *couldn't\ be\ parsed*
        "maxclients 0"                  *between*
        "enable-protected-configs maybe" *must\ be\ one\ of*
        "enable-debug-command maybe"    *must\ be\ one\ of*
        "rename-command NOSUCH x"       *No\ such\ command*
        "rename-command CONFIG"         *wrong\ number\ of\ arguments*
        "rename-command CONFIG GET"     *rename-command*
        "rename-command CONFIG ''\nrename-command CONFIG x" *No\ such\ command*
        "unixsocketperm 9"              *octal*
        "unixsocketperm 7777"           *between*
        "unixsocketperm rw"             *octal*
        "masterauth"                    *wrong\ number\ of\ arguments*
        "masterauth a b"                *wrong\ number\ of\ arguments*
        "hide-user-data-from-log ja"    *'yes'\ or\ 'no'*
        "client-query-buffer-limit x"   *memory*
        "client-output-buffer-limit normal 1" *Wrong\ number*
        "tls-auth-clients never"        *must\ be\ one\ of*
        "tls-port -1"                   *between*
        "socket-mark-id 7"              *Remove\ the\ line*
    } {
        assert_refused "[subst -nocommands -novariables $line]\n" $pattern
    }
}
check_in 2 "bad addresses, groups and files of TLS stop the start" {
    set port [free_port]
    assert_refused "bind 127.0.0.1 192.0.2.1\n" "*192.0.2.1*" --port $port
    assert_refused "bind -192.0.2.1\n" "*None of the bind addresses*" --port $port
    assert_refused "unixsocket $folder/s\nunixsocketgroup no_such_group\n" "*there is no group no_such_group*"
    assert_refused "unixsocket $folder/missing/s\n" "*Failed opening Unix socket*"
    assert {![file exists $folder/s]}
    assert_refused "tls-cert-file $folder/missing\ntls-key-file $folder/missing\n" "*ailed to load certificate*" \
        --tls-port $port
    assert_refused "tls-auth-clients no\n" "*No tls-cert-file configured*" --tls-port $port
}
check_in 2 "a configuration that cannot be read as a whole stops the start" {
    file mkdir $folder/secret.d
    write_file $folder/secret.d/a.conf "requirepass x\n"
    assert_refused "include $folder/missing.conf\n" "*can't open config file*missing.conf*"
    assert_refused "include $folder/secret.d\n" "*can't open config file*secret.d*"
    assert_refused "include $folder/se*\n" "*can't open config file*"
    assert_refused "include a b\n" "*wrong number of arguments*"
    assert_refused "include $path\n" "*nested too deep*"
    write_file $folder/secret.d/b.conf "requirepas x\n"
    assert_refused "include $folder/secret.d/*.conf\n" "*Bad directive*"
    foreach bytes {"# a comment\rrequirepass x\r" "port 0\r# x\rrequirepass x\r\n"} {
        assert_refused $bytes "*must end with a line feed*"
    }
    assert_refused "\xef\xbb\xbfrequirepass x\n" "*Bad directive*"
    assert_refused "\xff\xfer\x00e\x00q\x00\n\x00" "*FATAL CONFIG FILE ERROR*"
    assert_equal [lindex [server_run [list $folder/missing.conf]] 0] 1
    assert_equal [lindex [server_run [list $folder]] 0] 1
    foreach options {{--requirepass} {--requirepass --port 1} {-requirepass x} {--requirepass=x} {--protected-mode}} {
        assert_equal [lindex [server_run [list {*}$options --port 0]] 0] 1
    }
}
check_in 2 "a folder that may not be listed does not hide the files that a pattern includes" {
    if {[exec id -u] == 0} return ;# root may list it
    file mkdir $folder/closed.d
    file attributes $folder/closed.d -permissions 0300
    try {
        assert_refused "include $folder/closed.d/*.conf\n" "*can't open config file*"
    } finally {
        file attributes $folder/closed.d -permissions 0700
    }
}
check_in 2 "lines with a carriage return before the line feed are as good as others; the last line of a name counts" {
    write_file $path "# x\r\nrequirepass wrong\r\nrequirepass right\r\n"
    with_server [list include $path requirepass right] {
        set c [client_open]
        list [error_of {$c call GET k}] [error_of {$c call AUTH wrong}] [$c call AUTH right]
    }
} {{NOAUTH Authentication required.} {WRONGPASS invalid username-password pair or user is disabled.} OK}
check_in 2 "the environment neither sets nor removes what protects" {
    foreach name {REDIS_PASSWORD REQUIREPASS REDISCLI_AUTH PROTECTED_MODE} {
        set ::env($name) no
    }
    try {
        with_server {requirepass word} {
            set c [client_open]
            list [error_of {$c call GET k}] [$c call AUTH word] [$c call CONFIG GET protected-mode]
        }
    } finally {
        unset ::env(REDIS_PASSWORD) ::env(REQUIREPASS) ::env(REDISCLI_AUTH) ::env(PROTECTED_MODE)
    }
} {{NOAUTH Authentication required.} OK {protected-mode yes}}

# --- CONFIG SET

check_in 2 "a CONFIG SET that fails leaves everything as it was, also who is logged in" {
    set taken [socket -server {} -myaddr 127.0.0.1 0]
    set taken_port [lindex [fconfigure $taken -sockname] 2]
    try {
        with_server {requirepass word} {
            set stranger [client_open]
            set c [client_open]
            $c call AUTH word
            set others {{maxmemory x} {nosuch 1} {bind 192.0.2.1} {aclfile x} {requirepass again} {tls-port 1}
                {maxclients 999999999} {masterauth} {enable-debug-command no}}
            foreach failing [list "port $taken_port" {*}$others] {
                set all [list "requirepass {} $failing" "$failing requirepass {}" "requirepass other $failing" \
                    "protected-mode no requirepass {} $failing" "$failing protected-mode no requirepass other"]
                foreach settings $all {
                    error_of {$c call CONFIG SET {*}$settings}
                    assert_equal [error_of {$stranger call GET k}] "NOAUTH Authentication required."
                    assert_equal [$c call CONFIG GET requirepass protected-mode] {requirepass word protected-mode yes}
                }
            }
            [client_open] call AUTH word
        }
    } finally {
        close $taken
    }
} OK
check_in 2 "what decides who may change protected settings cannot be changed" {
    set answers {}
    foreach name {enable-protected-configs enable-debug-command unixsocketperm unixsocketgroup rename-command aclfile
        user} {
        lappend answers [string match "ERR *" [error_of {r CONFIG SET $name yes}]]
    }
    lsort -unique $answers
} 1
check_in 2 "a password that is set at run time holds for the next client, and for RESET" {
    set c [client_open]
    with_config {requirepass word} {
        assert_equal [error_of {[client_open] call PING}] "NOAUTH Authentication required."
        $c call RESET
        assert_equal [error_of {$c call PING}] "NOAUTH Authentication required."
        $current_server control AUTH word
    }
} OK

# --- Before login

check_in 2 "before login, a request has at most 10 arguments of 16 KB, a line 64 KB" {
    with_server {requirepass word} {
        set answers {}
        foreach {bytes pattern} [list \
            "*11\r\n" "*unauthenticated multibulk length*" "*2147483647\r\n" "*unauthenticated multibulk length*" \
            "*2\r\n\$4\r\nAUTH\r\n\$16385\r\n" "*unauthenticated bulk length*" \
            "*2\r\n\$4\r\nAUTH\r\n\$536870912\r\n" "*unauthenticated bulk length*" \
            "*[string repeat 1 70000]" "*" "*1\r\n[string repeat x 70000]" "*" [string repeat x 70000] "*"] {
            set c [client_open]
            catch {$c write $bytes}
            catch {$c read_all} answer
            assert_match $pattern $answer
            assert {[$c is_closed]}
        }
        assert_equal [info_field connected_clients] 1
        set c [client_open]
        $c write "AUTH [string repeat "x " 30000]\r\n"
        assert_match "*syntax error*" [$c read_line]
        assert {[info_field mem_clients_normal] < 200000}
    }
}
check_in 2 "before login, clients together take little memory, and closing them gives it back" {
    with_server {requirepass word maxclients 1000} {
        set before [info_field used_memory]
        foreach round {1 2 3} {
            set clients {}
            for {set i 0} {$i < 300} {incr i} {
                lappend clients [set c [client_open]]
                $c write "*3\r\n\$4\r\nAUTH\r\n\$15000\r\n[string repeat x 15000]\r\n\$15000\r\n[string repeat y 14000]"
            }
            wait_until {[regexp -all {qbuf=29\d\d\d } [$current_server control CLIENT LIST]] == 300}
            assert {[info_field used_memory] - $before < 300 * 50000}
            foreach c $clients {$c close}
            wait_until {[info_field connected_clients] == 1}
            # Sockets are closed over some iterations.
            wait_until {[info_field used_memory] - $before < 1000000 + $spare_blocks}
        }
    }
}
check_in 2 "before login, a pipeline of wrong passwords is answered one by one, and the right one counts" {
    with_server {requirepass word} {
        set c [client_open]
        $c write [string repeat "AUTH wrong\r\n" 10] ;# later ones are answered late
        for {set i 0} {$i < 10} {incr i} {
            assert_match "-WRONGPASS*" [$c read_line]
        }
        $c write "AUTH word\r\nPING\r\n"
        list [$c read_line] [$c read_line]
    }
} {+OK +PONG}

finish
