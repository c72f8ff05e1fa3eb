# Connections: accepting, authentication, HELLO, RESET, the end, and refused or idle clients.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set no_auth "NOAUTH Authentication required."
set wrong_pass "WRONGPASS invalid username-password pair or user is disabled."
set hello_no_auth "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto>\
 AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the\
 same time"

# --- AUTH

check_error "AUTH with a password where none is configured says so" {r AUTH secret} \
    "ERR AUTH <password> called without any password configured for the default user. Are you sure your\
 configuration is correct?"
check "AUTH of the default user is granted where no password is configured" {r AUTH default anything} OK
check "AUTH knows no other user" {error_of {r AUTH nosuch anything}} $wrong_pass
check_error "AUTH needs a password" {r AUTH} "ERR wrong number of arguments for 'auth' command"
check_error "AUTH takes two arguments at most" {r AUTH a b c} "ERR syntax error"

check "with requirepass nothing runs before AUTH, not even what it would refuse" {
    with_server {requirepass secret} {
        set c [client_open 2]
        foreach command {{PING} {SET k x} {GET k} {RPUSH l a} {SELECT 1} {CLIENT ID} {CONFIG GET *} {INFO}
                         {COMMAND COUNT} {FLUSHALL} {SHUTDOWN NOSAVE}} {
            $c send {*}$command
            assert_equal [$c read_typed] [list error $no_auth]
        }
        assert_equal [$c call AUTH secret] OK
        list [$c call PING] [$c call DBSIZE]
    }
} {PONG 0}
check "AUTH refuses a wrong password, and goes on to be tried" {
    with_server {requirepass secret} {
        set c [client_open 2]
        foreach password {wrong "" secre secrets Secret "secret\x00"} {
            assert_equal [error_of {$c call AUTH $password}] $wrong_pass
        }
        assert_equal [error_of {$c call AUTH nosuch secret}] $wrong_pass
        assert_equal [error_of {$c call PING}] $no_auth
        assert_equal [$c call AUTH default secret] OK
        assert_equal [$c call PING] PONG
        # A failure later on does not take away what was granted.
        assert_equal [error_of {$c call AUTH wrong}] $wrong_pass
        $c call PING
    }
} PONG
check "QUIT is served before AUTH" {
    with_server {requirepass secret} {
        set c [client_open 2]
        list [$c call QUIT] [$c is_closed]
    }
} {OK 1}
check "requirepass set at run time is asked of new connections only" {
    with_server {} {
        set old [client_open 2]
        $old call PING
        $old call CONFIG SET requirepass "two words"
        set new [client_open 2]
        assert_equal [error_of {$new call PING}] $no_auth
        assert_equal [$old call PING] PONG
        assert_equal [$new call AUTH "two words"] OK
        $new call CONFIG SET requirepass ""
        [client_open 2] call PING
    }
} PONG

# --- HELLO

check "HELLO without arguments describes the server and keeps the protocol" {
    set fields [r HELLO]
    assert_equal [lrange [dict keys $fields] 0 6] {server version proto id mode role modules}
    assert_equal [dict get $fields id] [r CLIENT ID]
    list [dict get $fields server] [dict get $fields version] \
        [expr {[dict get $fields proto] == $protocol}] [dict get $fields mode] [dict get $fields role]\
        [dict get $fields modules] [dict get $fields server_name]
} {redis 8.10.0 1 standalone master {} packlist}
check "HELLO 3 answers a map, HELLO 2 an array, at once in the new protocol" {
    set answers {}
    foreach version {2 3 3 2 2} {
        lassign [typed HELLO $version] type fields
        lappend answers $type [dict get $fields {bulk proto}]
    }
    set answers
} {array {int 2} map {int 3} map {int 3} array {int 2} array {int 2}}
check "the protocol that HELLO chose is that of all later replies" {
    r HELLO 3
    set three [typed GET nosuch]
    r HELLO 2
    list $three [typed GET nosuch]
} {null nil}
check "HELLO changes the protocol in the middle of a pipeline" {
    set c [client_open 2]
    $c write "[request {GET nosuch}][request {HELLO 3}][request {GET nosuch}][request {HELLO 2}][request {GET x}]"
    list [$c read_typed] [lindex [$c read_typed] 0] [$c read_typed] [lindex [$c read_typed] 0] [$c read_typed]
} {nil map null array nil}
check "HELLO refuses other protocols and changes nothing" {
    r HELLO 2
    foreach version {0 1 4 100 -1} {
        assert_equal [error_of {r HELLO $version}] "NOPROTO unsupported protocol version"
    }
    foreach version {abc 2.5 "" 99999999999999999999} {
        assert_equal [error_of {r HELLO $version}] \
            "ERR Protocol version is not an integer or out of range"
    }
    r HELLO
} *proto\ 2* -match glob
check "HELLO SETNAME names the connection" {
    r HELLO 3 SETNAME me
    set name [r CLIENT GETNAME]
    r HELLO 2 setname ""
    list $name [r CLIENT GETNAME]
} {me (nil)}
check "HELLO AUTH is granted where no password is configured" {
    lindex [typed HELLO 3 AUTH default x SETNAME me] 0
} map
check "HELLO refuses bad options and changes nothing" {
    r HELLO 2 SETNAME before
    foreach {options expected} {
        {NOSUCH} "ERR Syntax error in HELLO option 'NOSUCH'"
        {AUTH} "ERR Syntax error in HELLO option 'AUTH'"
        {AUTH default} "ERR Syntax error in HELLO option 'AUTH'"
        {SETNAME} "ERR Syntax error in HELLO option 'SETNAME'"
        {SETNAME after SETNAME} "ERR Syntax error in HELLO option 'SETNAME'"
        {SETNAME {a b}} "ERR Client names cannot contain spaces, newlines or special characters."
        {AUTH nosuch x SETNAME after} "WRONGPASS invalid username-password pair or user is disabled."
    } {
        assert_equal [error_of {r HELLO 3 {*}$options}] $expected
    }
    list [r CLIENT GETNAME] [lindex [typed HELLO] 0]
} {before array}
check "HELLO AUTH is the way in with RESP3" {
    with_server {requirepass secret} {
        set c [client_open 2]
        assert_equal [error_of {$c call HELLO 3}] $hello_no_auth
        assert_equal [error_of {$c call HELLO}] $hello_no_auth
        assert_equal [error_of {$c call HELLO 3 AUTH default wrong}] $wrong_pass
        assert_equal [error_of {$c call HELLO 4 AUTH default secret}] "NOPROTO unsupported protocol version"
        assert_equal [error_of {$c call PING}] $no_auth
        assert_equal [lindex [$c typed HELLO 3 AUTH default secret SETNAME me] 0] map
        list [$c call PING] [$c call CLIENT GETNAME] [$c typed GET nosuch]
    }
} {PONG me null}

# --- RESET and QUIT

check "RESET brings a connection back to its beginning" {
    r HELLO 3 SETNAME me
    r SELECT 5
    r CLIENT NO-TOUCH on
    assert_equal [typed RESET] {simple RESET}
    assert_equal [r CLIENT GETNAME] (nil)
    assert_equal [typed GET nosuch] nil
    assert {[string match "* db=0 *resp=2 *" [r CLIENT INFO]]}
}
check "RESET keeps the connection's id and library" {
    r CLIENT SETINFO lib-name mylib
    set id [r CLIENT ID]
    r RESET
    list [expr {[r CLIENT ID] == $id}] [string match "*lib-name=mylib *" [r CLIENT INFO]]
} {1 1}
check "RESET ends CLIENT REPLY OFF" {
    set c [client_open 2]
    $c write "[request {CLIENT REPLY OFF}][request PING][request RESET][request PING]"
    list [$c read] [$c read]
} {RESET PONG}
check "RESET asks for the password again" {
    with_server {requirepass secret} {
        set c [client_open 2]
        $c call AUTH secret
        assert_equal [$c call RESET] RESET
        assert_equal [error_of {$c call PING}] $no_auth
        $c call AUTH secret
    }
} OK
check_error "RESET takes no argument" {r RESET x} "ERR wrong number of arguments for 'reset' command"

check "QUIT answers what came before it and runs nothing behind it" {
    set c [client_open]
    $c write "[request {RPUSH l a}][request QUIT][request {RPUSH l b}]"
    assert_equal [list [$c read] [$c read] [$c is_closed]] {1 OK 1}
    r LRANGE l 0 -1
} a
check_in 2 "a client that only closes its sending side still gets its replies, then the end" {
    r SET big [string repeat x 3000000]
    set s [socket 127.0.0.1 [$current_server port]]
    chan configure $s -translation binary
    puts -nonewline $s "RPUSH l a b\r\nGET big\r\nPING\r\n"
    chan close $s write
    set answer [read $s]
    close $s
    string equal $answer ":2\r\n\$3000000\r\n[string repeat x 3000000]\r\n+PONG\r\n"
} 1

# --- Connections that the server closes

check_in 2 "a connection over maxclients gets an error and is closed; when one leaves the next may come" {
    with_server {maxclients 5} {
        set accepted {}
        for {set i 0} {$i < 4} {incr i} {
            set c [client_open 2]
            assert_equal [$c call PING] PONG
            lappend accepted $c
        }
        foreach _ {1 2} {
            set c [client_open 2]
            assert_equal [$c read_typed] {error {ERR max number of clients reached}}
            assert {[$c is_closed]}
            $c close
        }
        assert_equal [info_field rejected_connections] 2
        assert_equal [[lindex $accepted 0] call PING] PONG
        [lindex $accepted 0] close
        wait_until {[info_field connected_clients] == 4}
        assert_equal [[client_open 2] call PING] PONG
        # It can be raised while the server runs.
        $current_server control CONFIG SET maxclients 6
        [client_open 2] call PING
    }
} PONG
# Lets time pass without the connection of the framework being idle.
proc pass_time {ms} {
    set start [clock milliseconds]
    wait_until {[info_field loading] == 0 && [clock milliseconds] - $start >= $ms}
}

check_in 2 "a client whose time to wait was longer than the timeout stays when it is answered" {
    with_config {timeout 5} {
        set waiting [client_blocked BLPOP nokey 6.3]
        wait_blocked 0
        pass_time 300
        list [$waiting read] [$waiting call PING]
    }
} {(nil) PONG}
check_in 2 "a client that is paused for longer than the timeout stays" {
    with_config {timeout 5} {
        set paused [client_open]
        [client_open] call CLIENT PAUSE 6300 WRITE
        $paused send SET key value
        pass_time 6500
        $paused read
    }
} OK
check_in 2 "a client that reads slowly is not idle" {
    set megabyte [string repeat x 1048576]
    r SET big $megabyte
    with_config {timeout 5} {
        set slow [client_open]
        $slow write [string repeat [request {GET big}] 30]
        for {set i 0} {$i < 30} {incr i} {
            assert {[$slow read] eq $megabyte}
            pass_time 220
        }
        $slow call PING
    }
} PONG
check_in 2 "timeout closes connections that stay idle, and neither busy nor waiting ones" {
    with_config {timeout 2} {
        set idle [client_open]
        set busy [client_open]
        set waiting [client_blocked BLPOP k 0]
        set half [client_open]
        $half write "*2\r\n\$4\r\nECHO\r\n"
        set start [clock milliseconds]
        while {[string match "* name=idle *" [$current_server control CLIENT LIST]] ||
               [clock milliseconds] - $start < 2500} {
            assert_equal [$busy call PING] PONG
            after 100
        }
        assert {[$idle is_closed]}
        assert {[$half is_closed]}
        r RPUSH k element
        list [$waiting read] [$busy call PING]
    }
} {{k element} PONG}
check_in 2 "without a timeout idle connections stay" {
    set idle [client_open]
    assert {[$idle is_silent 1200]}
    $idle call PING
} PONG

# An address of this machine that is not the loopback's; "" when there is none.
proc outer_address {} {
    catch {exec hostname -I} addresses
    return [lindex [lsearch -all -inline -regexp $addresses {^[0-9.]+$}] 0]
}

if {[outer_address] ne ""} {
    check_in 2 "protected mode admits only this machine's loopback until there is a password" {
        with_server {bind * protected-mode yes} {
            set outer [outer_address]
            set port [$current_server port]
            set c [client new $outer $port]
            set answer [$c read_typed]
            assert {[string match {error {DENIED *protected mode*}} $answer]}
            assert {[$c is_closed]}
            assert_equal [r PING] PONG
            r CONFIG SET protected-mode no
            assert_equal [[client new $outer $port] call PING] PONG
            r CONFIG SET protected-mode yes requirepass secret
            [client new $outer $port] call AUTH secret
        }
    } OK
}

check_in 2 "a TLS handshake is closed at once, without a reply, and the log says so once a minute" {
    with_server {} {
        set hello "\x16\x03\x01\x00\xfc\x01\x00\x00\xf8\x03\x03[string repeat x 241]"
        foreach _ {1 2 3} {
            set c [client_open 2]
            $c write $hello
            assert_equal [$c read_all] ""
        }
        set c [client_open 2]
        foreach byte [split [string range $hello 0 2] ""] {
            $c write $byte
        }
        assert_equal [$c read_all] ""
        # Other bytes of this kind are a wrong command, as ever.
        set c [client_open 2]
        $c write "\x16\x02\r\n"
        assert_match "-ERR unknown command*" [$c read_line]
        llength [regexp -all -inline {\* 127.0.0.1:\d+ began a TLS handshake} [$current_server log]]
    }
} 1

finish
