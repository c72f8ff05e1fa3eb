# What the server reports to systemd or upstart.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start
set receiver_program $library/notify_receiver.py
set folder [$current_server folder]

# Runs the body while messages to the socket `address` are received, with the environment of a unit of systemd.
proc with_receiver {address variables body} {
    set channel [open [list | python3 $::receiver_program $address $::folder/messages] r+]
    assert_equal [gets $channel] ready
    set variables [list NOTIFY_SOCKET $address {*}$variables]
    dict for {name value} $variables {set ::env($name) $value}
    try {
        uplevel 1 $body
    } finally {
        foreach name [dict keys $variables] {unset ::env($name)}
        close $channel
        if {[string index $address 0] eq "/"} {file delete $address}
    }
}

# The messages that have come so far.
proc messages {} {
    split [string trim [read_file $::folder/messages]] \n
}

proc has_message {pattern} {
    expr {[lsearch -glob [messages] $pattern] >= 0}
}

proc count_messages {pattern} {
    llength [lsearch -all -glob [messages] $pattern]
}

set ready "READY=1 STATUS=Ready to accept connections"

check "the server notifies systemd when it is ready and when it stops" {
    with_receiver $folder/notify.sock {} {
        with_server {supervised systemd} {
            wait_until {[has_message $::ready]}
            set supervised [info_field process_supervised]
        }
        list $supervised [lindex [messages] end] [has_message WATCHDOG*]
    }
} {systemd {STOPPING=1 STATUS=Stopping} 0}

check "the socket may have an abstract name, and auto finds systemd" {
    with_receiver @packlist-test-[pid] {} {
        with_server {supervised auto daemonize yes} {
            wait_until {[has_message $::ready]}
            list [info_field process_supervised] [r PING]
        }
    }
} {systemd PONG}

check "without supervised nothing is reported" {
    with_receiver $folder/notify.sock {WATCHDOG_USEC 20000} {
        with_server {} {set supervised [info_field process_supervised]}
        list $supervised [messages]
    }
} {no {}}

check "while data is loaded its progress is reported, and READY only after it" {
    with_receiver $folder/notify.sock {} {
        with_server {supervised systemd enable-debug-command yes} {
            r DEBUG POPULATE 3000
            r SAVE
            set before [llength [messages]]
            $::current_server halt
            $::current_server launch_with {key-load-delay 1000}
            wait_until {[count_messages $::ready] == 2}
            set messages [lrange [messages] $before end]
            set loading [lsearch -all $messages "STATUS=Loading dump.rdb: *%"]
            list [expr {[llength $loading] > 0}] \
                [expr {[lindex $loading end] < [lsearch -exact $messages $::ready]}] \
                [$::current_server control DBSIZE]
        }
    }
} {1 1 3000}

check "the watchdog is notified by the event loop, and not while the loop stands still" {
    with_receiver $folder/notify.sock {WATCHDOG_USEC 20000} {
        with_server {supervised systemd enable-debug-command yes} {
            wait_until {[count_messages WATCHDOG=1] > 5}
            r DEBUG SLEEP 0.2 ;# twenty periods of 10 ms
            set before [count_messages WATCHDOG=1]
            r MULTI
            r DEBUG SLEEP 0.5
            r TIME
            lassign [r EXEC] slept time
            wait_until {[count_messages WATCHDOG=1] > $before + 5}
            list $slept [expr {$before > 5}]
        }
    }
} {OK 1}

check "a watchdog of another process is left alone" {
    with_receiver $folder/notify.sock {WATCHDOG_USEC 20000 WATCHDOG_PID 1} {
        with_server {supervised systemd} {
            wait_until {[has_message $::ready]}
            after 100
            has_message WATCHDOG*
        }
    }
} 0

check "a shutdown that fails is not reported as one" {
    with_receiver $folder/notify.sock {} {
        with_server {supervised systemd dbfilename taken} {
            r SET k v
            file mkdir [$::current_server folder]/taken
            set reply [error_of {r SHUTDOWN SAVE}]
            wait_until {[has_message "STATUS=*a shutdown has failed"]}
            list [string range $reply 0 28] [has_message STOPPING*]
        }
    }
} {{ERR Errors trying to SHUTDOWN} 0}

check "where the socket is gone the server serves all the same" {
    set ::env(NOTIFY_SOCKET) $folder/nothing-listens
    try {
        with_server {supervised systemd} {
            wait_until {[string match "*a message to NOTIFY_SOCKET was not sent: *" [$::current_server log]]}
            list [r PING] [regexp -all "was not sent" [$::current_server log]]
        }
    } finally {
        unset ::env(NOTIFY_SOCKET)
    }
} {PONG 1}

foreach {address why} {relative/path "Invalid argument" @ "Invalid argument"} {
    check "an address that is none is named in the log: $address" {
        set ::env(NOTIFY_SOCKET) $address
        try {
            with_server {supervised systemd} {
                list [info_field process_supervised] \
                    [string match "*NOTIFY_SOCKET cannot be used: $why*" [$::current_server log]]
            }
        } finally {
            unset ::env(NOTIFY_SOCKET)
        }
    } {no 1}
}

check "a supervisor that is not there is named in the log" {
    set said {}
    foreach {kind name} {systemd NOTIFY_SOCKET upstart UPSTART_JOB} {
        with_server [list supervised $kind] {
            lappend said [string match "*$kind supervision requested, but $name is not set*" [$::current_server log]]
        }
    }
    set said
} {1 1}

check "the supervised process and the lines for the system's logger are fixed while the server runs" {
    set answers {}
    foreach {name value} {supervised auto syslog-enabled yes syslog-ident me syslog-facility user} {
        lappend answers [string match "ERR CONFIG SET failed*immutable config" [error_of {r CONFIG SET $name $value}]]
    }
    list $answers [r CONFIG GET syslog-*]
} {{1 1 1 1} {syslog-enabled no syslog-ident packlist syslog-facility local0}}

finish
