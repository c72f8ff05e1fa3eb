# Unknown commands: the log names them, so that an operator sees what clients miss. MONITOR does not show them.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# What the log names, quoted.
proc names_logged {} {
    set found [regexp -all -inline -line {A client sent a command that this server does not have: (.*)$} \
        [$::current_server log]]
    set names {}
    foreach {line name} $found {
        lappend names $name
    }
    return $names
}

proc send_unknown {client args} {
    assert {[string match "ERR unknown *" [error_of {$client call {*}$args}]]}
}

check_in 2 "the log names an unknown command once, in any case, without its arguments" {
    with_server {} {
        set client [client_open]
        send_unknown $client BF.ADD secret-key secret-value
        send_unknown $client bf.add secret-key secret-value
        send_unknown $client CMS.QUERY secret-key
        assert {![string match *secret* [$current_server log]]}
        names_logged
    }
} {{"BF.ADD"} {"CMS.QUERY"}}
check_in 2 "it names an unknown subcommand with its container" {
    with_server {} {
        set client [client_open]
        send_unknown $client ACL SETROLE "name"
        send_unknown $client acl setrole "other"
        names_logged
    }
} {{"ACL SETROLE"}}
check_in 2 "what clients send to find out what a server can do is not named" {
    with_server {} {
        set client [client_open]
        send_unknown $client CLIENT MAINT_NOTIFICATIONS ON
        send_unknown $client client maint_notifications ON moving-endpoint-type none
        send_unknown $client SENTINEL MASTERS
        send_unknown $client FT._LIST
        send_unknown $client FT.SEARCH index *
        names_logged
    }
} {{"FT.SEARCH"}}
check_in 2 "known commands that are used wrongly are not named" {
    with_server {} {
        assert {[string match "ERR wrong number*" [error_of {r GET}]]}
        assert {[string match "ERR wrong number*" [error_of {r CONFIG GET}]]}
        names_logged
    }
} {}
check_in 2 "commands in a transaction are named too" {
    with_server {} {
        set client [client_open]
        $client call MULTI
        send_unknown $client TS.ADD s 1 2 m
        $client call DISCARD
        names_logged
    }
} {{"TS.ADD"}}
check_in 2 "names are quoted and cut to 64 bytes" {
    with_server {} {
        set client [client_open]
        send_unknown $client "a\n\"\x00\x1b"
        send_unknown $client [string repeat x 65]y
        send_unknown $client [string repeat x 64]z
        send_unknown $client SCRIPT [string repeat y 1000]
        send_unknown $client ""
        names_logged
    }
} [list {"a\n\"\x00\x1b"} "\"[string repeat x 64]\"" "\"SCRIPT [string repeat y 64]\"" {""}]
check_in 2 "only the first 16 names are logged" {
    with_server {} {
        set client [client_open]
        for {set i 1} {$i <= 40} {incr i} {
            send_unknown $client NOSUCH$i
        }
        set names [names_logged]
        assert_equal [lindex $names 14] {"NOSUCH15"}
        assert_equal [lindex $names 15] {"NOSUCH16" (further ones are not logged)}
        llength $names
    }
} 16
check_in 2 "clients that have not authenticated cannot fill the log" {
    with_server {requirepass secret} {
        set client [client_open 2]
        assert_equal [error_of {$client call NOSUCH}] "NOAUTH Authentication required."
        assert_equal [names_logged] {}
        $client call AUTH secret
        send_unknown $client NOSUCH
        names_logged
    }
} {{"NOSUCH"}}
check_in 2 "hide-user-data-from-log keeps them out" {
    with_server {hide-user-data-from-log yes} {
        set client [client_open]
        send_unknown $client NOSUCH
        names_logged
    }
} {}

finish
