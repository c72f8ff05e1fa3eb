# Users by certificate: tls-auth-clients-user.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/tls.tcl

server_start
tls_listen

# The body runs with these settings of the directive and of users.
proc with_users {names users body} {
    r ACL LOG RESET
    foreach {name rules} $users {r ACL SETUSER $name reset {*}$rules}
    try {
        with_config [list tls-auth-clients-user $names] {uplevel 1 $body}
    } finally {
        foreach {name rules} $users {
            if {$name ne "default"} {r ACL DELUSER $name}
        }
        r ACL SETUSER default reset on nopass ~* &* +@all
    }
}

proc whoami {certificate} {
    return [tls_cli $certificate ACL WHOAMI]
}

# Reasons and names of what ACL LOG has, and the counter of INFO.
proc refusals {} {
    set entries [lmap entry [r ACL LOG] {list [dict get $entry reason] [dict get $entry username]}]
    return [list $entries [info_field acl_access_denied_tls_cert]]
}

check_in 2 "at first certificates name no user" {
    with_users off {client {on nopass +@all}} {
        list [r CONFIG GET tls-auth-clients-user] [whoami client] [refusals]
    }
} {{tls-auth-clients-user off} default {{} 0}}
check_in 2 "the common name is that of the user, who needs no password" {
    with_users CN {client {on >secret +@all ~*}} {
        list [whoami client] [tls_cli client SET key value] [refusals]
    }
} {client OK {{} 0}}
check_in 2 "the user has its own rights, and others still log in" {
    with_users cn {default {on >secret +@all ~*} client {on +get +acl|whoami ~a*}} {
        set answers [list [whoami client] [string trim [tls_cli client GET b]] [string trim [tls_cli client SET a 1]]]
        lappend answers [string trim [whoami guest]]
        set answers
    }
} {client {NOPERM No permissions to access a key} {NOPERM User client has no permissions to run the 'set' command}\
    {NOAUTH Authentication required.}}
check_in 2 "a certificate of nobody leaves the client the default user, is counted and logged" {
    set before [info_field acl_access_denied_tls_cert]
    with_users CN {client {off nopass +@all}} {
        set names [list [whoami client] [whoami guest]]
        set entry [lindex [r ACL LOG] 0]
        assert_equal [list [dict get $entry context] [dict get $entry object]] {toplevel {}}
        list $names [lindex [refusals] 0] [expr {[lindex [refusals] 1] - $before}]
    }
} {{default default} {{tls-cert guest} {tls-cert client}} 2}
check_in 2 "without a certificate nothing is looked for" {
    set before [info_field acl_access_denied_tls_cert]
    with_config {tls-auth-clients optional} {
        with_users CN {client {on nopass +@all}} {
            set names [list [whoami ""] [whoami client]]
            assert_equal [refusals] [list {} $before]
        }
    }
    set names
} {default client}
check_in 2 "URIs are looked for in their order; a user who is off is passed over" {
    with_users URI {spiffe://test/first {off +@all} spiffe://test/second {on +@all} client {on +@all}} {
        list [whoami guest] [whoami client] [lindex [refusals] 0]
    }
} {spiffe://test/second default {}}
check_in 2 "RESET brings the default user" {
    with_users CN {client {on nopass +@all}} {
        set channel [tls_open client]
        set names [list [tls_ask $channel "ACL WHOAMI"] [tls_ask $channel RESET] [tls_ask $channel "ACL WHOAMI"]]
        tls_close $channel
        set names
    }
} {client +RESET default}
check_in 2 "sessions of a user who is deleted are closed" {
    with_users CN {client {on nopass +@all}} {
        set channel [tls_open client]
        set answers [list [tls_ask $channel "ACL WHOAMI"]]
        r ACL DELUSER client
        lappend answers [gets $channel line] [eof $channel]
        tls_close $channel
        set answers
    }
} {client -1 1}
check_in 2 "one who is switched off keeps open sessions, as after AUTH, but gets no new one" {
    with_users CN {client {on nopass +@all}} {
        set channel [tls_open client]
        set answers [list [tls_ask $channel "ACL WHOAMI"]]
        r ACL SETUSER client off
        lappend answers [tls_ask $channel "ACL WHOAMI"] [whoami client]
        tls_close $channel
        set answers
    }
} {client client default}

# The user that a client has who resumes the session in the file, and whether it was resumed.
proc resume {version path} {
    set channel [open "|timeout 20 openssl s_client $version -sess_in $path -connect 127.0.0.1:$::tls_port\
        -CAfile $::certificates/ca.crt 2>/dev/null" r+]
    puts -nonewline $channel "ACL WHOAMI\r\nQUIT\r\n"
    flush $channel
    set output [read $channel]
    catch {close $channel}
    # At the beginning of a line: the session, which is shown in bytes, may hold the same.
    regexp {(?:^|\n)\$\d+\r?\n([^\r\n]*)} $output all name
    return [list [string match "*\nReused, *" $output] $name]
}

foreach version {-tls1_2 -tls1_3} {
    check_in 2 "a resumed session is of the user as it is now ($version)" {
        with_users CN {client {on nopass +@all}} {
            set path [$current_server folder]/session
            set channel [tls_open client $version -sess_out $path]
            set answers [list [tls_ask $channel "ACL WHOAMI"]]
            puts $channel QUIT
            read $channel
            catch {close $channel}
            lappend answers {*}[resume $version $path]
            r ACL SETUSER client off
            lappend answers {*}[resume $version $path]
            r ACL SETUSER client on
            lappend answers {*}[resume $version $path]
            r ACL DELUSER client
            lappend answers {*}[resume $version $path]
        }
    } {client 1 client 1 default 1 client 1 default}
    check_in 2 "no session is resumed after the authorities have changed ($version)" {
        with_users CN {client {on nopass +@all}} {
            set path [$current_server folder]/session
            set channel [tls_open client $version -sess_out $path]
            tls_ask $channel "ACL WHOAMI"
            puts $channel QUIT
            read $channel
            catch {close $channel}
            with_config [list tls-ca-cert-file $certificates/other-ca.crt tls-auth-clients optional] {
                resume $version $path
            }
        }
    } {0 default}
}
check_in 2 "only off, CN and URI are known" {
    error_of {r CONFIG SET tls-auth-clients-user uid}
} "ERR CONFIG SET failed (possibly related to argument 'tls-auth-clients-user') - argument(s) must be one of the\
 following: CN, URI, off"

check_in 2 "tls-auth-clients-user beside tls-auth-clients no is named as without effect, also by CONFIG SET" {
    set warning "*# tls-auth-clients-user has no effect while tls-auth-clients is no: *"
    with_server {} {
        tls_listen
        set log [list [string match $warning [$current_server log]]]
        foreach {name value} {
            tls-auth-clients-user CN    tls-auth-clients optional    tls-auth-clients no    tls-auth-clients-user off
        } {
            set before [regexp -all {# tls-auth-clients-user has no effect} [$current_server log]]
            r CONFIG SET $name $value
            lappend log [expr {[regexp -all {# tls-auth-clients-user has no effect} [$current_server log]] - $before}]
        }
        set files [list tls-cert-file $certificates/server.crt tls-key-file $certificates/server.key \
            tls-ca-cert-file $certificates/ca.crt]
        with_server [list {*}$files tls-port [free_port] tls-auth-clients no tls-auth-clients-user URI] {
            lappend log [string match $warning [$current_server log]]
        }
    }
} {0 0 0 1 0 1}
check_in 2 "a certificate that names no user who is on is noticed" {
    with_server {tls-auth-clients-user CN} {
        tls_listen
        tls_cli client PING
        set pattern {\* The certificate of client id=\d+ addr=127.0.0.1:\d+ names no user who is on\.}
        wait_until {[regexp $pattern [$current_server log]]}
    }
}

finish
