# CLIENT: what clients set and ask about themselves, and what an operator does to them.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# The fields of a line of CLIENT LIST, in their order.
set line_fields {
    id addr laddr fd name age idle flags db sub psub ssub multi watch qbuf qbuf-free argv-mem multi-mem rbs rbp
    obl oll omem tot-mem events cmd user redir resp lib-name lib-ver io-thread
    tot-net-in tot-net-out tot-cmds
}

# A line of CLIENT LIST as a dictionary.
proc client_fields {line} {
    set fields {}
    foreach word [split [string trim $line] " "] {
        regexp {^([^=]*)=(.*)$} $word _ name value
        dict set fields $name $value
    }
    return $fields
}

proc field {name} {
    return [dict get [client_fields [r CLIENT INFO]] $name]
}

# The lines of CLIENT LIST that show a connection with that name.
proc lines_named {name} {
    return [lsearch -all -inline [split [r CLIENT LIST] \n] "* name=$name *"]
}

proc open_named {name} {
    set c [client_open]
    $c call CLIENT SETNAME $name
    return $c
}

check_error "CLIENT needs a subcommand" {r CLIENT} "ERR wrong number of arguments for 'client' command"
check "an unknown subcommand of CLIENT is an error" {
    foreach subcommand {FOO TRACKINGX CACHE MAINT_NOTIFICATIONS} {
        assert_equal [error_of {r CLIENT $subcommand on}] \
            "ERR unknown subcommand '$subcommand'. Try CLIENT HELP."
    }
}
check "CLIENT HELP names every subcommand" {
    set help [r CLIENT HELP]
    foreach word {GETNAME GETREDIR ID INFO KILL LIST NO-EVICT NO-TOUCH PAUSE REPLY SETINFO SETNAME
                  TRACKING CACHING TRACKINGINFO UNBLOCK UNPAUSE HELP} {
        assert {[lsearch -glob $help $word*] > 0}
    }
    lindex $help 0
} {CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:}

# --- The connection itself

check "CLIENT ID grows with each connection" {
    set first [client_open]
    set second [client_open]
    expr {[$second call CLIENT ID] > [$first call CLIENT ID]}
} 1
check_in 2 "CLIENT GETNAME without a name is null" {typed CLIENT GETNAME} nil
check_in 3 "CLIENT GETNAME without a name is null" {typed CLIENT GETNAME} null
check "CLIENT SETNAME sets the name and an empty one takes it away" {
    r CLIENT SETNAME me
    assert_equal [typed CLIENT GETNAME] {bulk me}
    assert_equal [field name] me
    r CLIENT SETNAME ""
    r CLIENT GETNAME
} (nil)
check "CLIENT SETNAME refuses blanks and control characters and keeps the old name" {
    r CLIENT SETNAME me
    foreach name {"a b" "a\n" "\x01" "\x7f" "\xe9"} {
        assert_equal [error_of {r CLIENT SETNAME $name}] \
            "ERR Client names cannot contain spaces, newlines or special characters."
    }
    r CLIENT GETNAME
} me
check "CLIENT SETINFO stores the library's name and version" {
    assert_equal [r CLIENT SETINFO LIB-NAME redis-py] OK
    assert_equal [r CLIENT SETINFO lib-ver 5.0.1] OK
    assert_equal [list [field lib-name] [field lib-ver]] {redis-py 5.0.1}
    r CLIENT SETINFO lib-name ""
    list [field lib-name] [field lib-ver]
} {{} 5.0.1}
check "CLIENT SETINFO refuses other options and bad texts" {
    assert_equal [error_of {r CLIENT SETINFO lib-x a}] "ERR Unrecognized option 'lib-x'"
    assert_equal [error_of {r CLIENT SETINFO lib-name "a b"}] \
        "ERR lib-name cannot contain spaces, newlines or special characters."
    error_of {r CLIENT SETINFO LIB-VER "1\n"}
} "ERR LIB-VER cannot contain spaces, newlines or special characters."

# --- CLIENT INFO and LIST

check "CLIENT INFO has all fields in their order" {
    assert_equal [dict keys [client_fields [r CLIENT INFO]]] [list {*}$line_fields]
}
check "CLIENT INFO ends with a line break" {string index [r CLIENT INFO] end} \n
check_in 3 "CLIENT INFO and LIST are verbatim strings in RESP3" {
    list [lindex [typed CLIENT INFO] 0] [lindex [typed CLIENT LIST] 0]
} {verbatim verbatim}
check "CLIENT INFO shows the state of the connection" {
    r SELECT 3
    set fields [client_fields [r CLIENT INFO]]
    assert_equal [dict get $fields id] [r CLIENT ID]
    assert_equal [dict get $fields laddr] 127.0.0.1:[$current_server port]
    assert_equal [dict get $fields db] 3
    assert_equal [dict get $fields resp] $protocol
    assert_equal [dict get $fields cmd] client|info
    assert_equal [dict get $fields user] default
    assert_equal [dict get $fields events] r
    dict get $fields flags
} N
# {bytes read, commands run} of the connection that has this id.
proc totals_of {id} {
    set fields [client_fields [r CLIENT LIST ID $id]]
    return [list [dict get $fields tot-net-in] [dict get $fields tot-cmds]]
}
check "tot-net-in and tot-cmds count what a client has sent and what it has had run, as in Redis 8.6" {
    set c [client_open]
    set id [$c call CLIENT ID]
    lassign [totals_of $id] bytes_before commands_before
    foreach {what requests replies commands} {
        "commands"                        {{SET k v} {GET k} {INCR k}}                          3 3
        "what is no command"              {{NOSUCH} {GET}}                                      2 0
        "a transaction"                   {{MULTI} {GET k} {GET k} {EXEC}}                      4 4
        "a transaction that is discarded" {{MULTI} {GET k} {DISCARD}}                           3 2
        "a script and what it calls"      {{EVAL {redis.call("GET","k") redis.call("GET","k")} 0}} 1 3
        "a wait that ends"                {{BLPOP nosuch 0.01}}                                 1 1
        "a reply that is not sent"        {{CLIENT REPLY SKIP} {GET k}}                         0 2
    } {
        set bytes [join [lmap request $requests {request $request}] ""]
        $c write $bytes
        for {set i 0} {$i < $replies} {incr i} {
            catch {$c read}
        }
        $c call ECHO end
        set extra [string length [request {ECHO end}]]
        lassign [totals_of $id] bytes_after commands_after
        assert_equal [list $what [expr {$bytes_after - $bytes_before}] [expr {$commands_after - $commands_before}]] \
            [list $what [expr {[string length $bytes] + $extra}] [expr {$commands + 1}]]
        lassign [list $bytes_after $commands_after] bytes_before commands_before
    }
}
check "tot-net-out counts what a client has been sent, also large strings and messages" {
    set c [client_open]
    set id [$c call CLIENT ID]
    set total [dict get [client_fields [r CLIENT LIST ID $id]] tot-net-out]
    assert {$total >= [string length $id] + 3}
    r SET large [string repeat x 1000000]
    $c call GET large
    incr total [expr {1000000 + [string length "\$1000000\r\n\r\n"]}]
    assert_equal [dict get [client_fields [r CLIENT LIST ID $id]] tot-net-out] $total
    set subscribed [$c call SUBSCRIBE news]
    set before [dict get [client_fields [r CLIENT LIST ID $id]] tot-net-out]
    r PUBLISH news text
    $c read
    set sent [expr {[dict get [client_fields [r CLIENT LIST ID $id]] tot-net-out] - $before}]
    # An array, or a push, of three strings.
    expr {$sent == [string length "*3\r\n\$7\r\nmessage\r\n\$4\r\nnews\r\n\$4\r\ntext\r\n"]}
} 1
check "CLIENT LIST has a line for each connection, oldest first" {
    open_named one
    open_named two
    set lines [lrange [split [r CLIENT LIST] \n] 0 end-1]
    assert_equal [llength $lines] 4
    set ids [lmap line $lines {dict get [client_fields $line] id}]
    assert_equal $ids [lsort -integer $ids]
    list [llength [lines_named one]] [llength [lines_named two]]
} {1 1}
check "CLIENT LIST shows the last command of each client" {
    set c [open_named other]
    assert_equal [dict get [client_fields [lindex [lines_named other] 0]] cmd] client|setname
    $c call PING
    dict get [client_fields [lindex [lines_named other] 0]] cmd
} ping
check "CLIENT LIST shows a client that has sent nothing yet" {
    set before [lines_named ""]
    set socket [socket 127.0.0.1 [$current_server port]]
    wait_until {[llength [lines_named ""]] > [llength $before]}
    set line [lindex [lines_named ""] end]
    close $socket
    dict get [client_fields $line] cmd
} NULL
check "CLIENT LIST marks a client that waits" {
    set c [open_named waiting]
    $c send BLPOP k 0
    wait_blocked 1
    dict get [client_fields [lindex [lines_named waiting] 0]] flags
} b
check "CLIENT LIST TYPE knows the types" {
    assert_equal [llength [split [r CLIENT LIST TYPE normal] \n]] 3
    foreach type {pubsub replica slave master} {
        assert_equal [r CLIENT LIST TYPE $type] ""
    }
    error_of {r CLIENT LIST TYPE foo}
} "ERR Unknown client type 'foo'"
check "CLIENT LIST ID shows the named clients, in the order asked for" {
    set one [[open_named one] call CLIENT ID]
    set two [[open_named two] call CLIENT ID]
    set lines [split [r CLIENT LIST ID $two 999999 $one] \n]
    lmap line [lrange $lines 0 end-1] {dict get [client_fields $line] name}
} {two one}
check "CLIENT LIST refuses what is no option" {
    foreach arguments {{TYPE} {ID} {FOO} {FOO bar} {TYPE normal more}} {
        assert_equal [error_of {r CLIENT LIST {*}$arguments}] "ERR syntax error"
    }
    error_of {r CLIENT LIST ID 1 x}
} "ERR Invalid client ID"

# --- CLIENT NO-EVICT, NO-TOUCH, REPLY

check "CLIENT NO-EVICT and NO-TOUCH are shown as flags" {
    r CLIENT NO-EVICT on
    assert_equal [field flags] e
    r CLIENT NO-TOUCH ON
    assert_equal [field flags] eT
    r CLIENT NO-EVICT off
    r CLIENT NO-TOUCH off
    assert_equal [field flags] N
    list [error_of {r CLIENT NO-EVICT maybe}] [error_of {r CLIENT NO-TOUCH maybe}]
} {{ERR syntax error} {ERR syntax error}}
check "CLIENT REPLY OFF silences everything until ON" {
    set c [client_open]
    $c send CLIENT REPLY OFF
    $c send PING
    $c send NOSUCH
    $c send SET key value
    assert_equal [$c call CLIENT REPLY ON] OK
    list [$c call GET key] [$c is_silent]
} {value 1}
check "CLIENT REPLY SKIP silences the next command only" {
    set c [client_open]
    $c send CLIENT REPLY SKIP
    $c send ECHO dropped
    list [$c call ECHO kept] [$c is_silent]
} {kept 1}
check "CLIENT REPLY SKIP silences a command that waits too" {
    set c [client_open]
    $c send CLIENT REPLY SKIP
    $c send BLPOP k 0
    wait_blocked 1
    r RPUSH k a
    wait_blocked 0
    list [$c call PING] [$c call ECHO x]
} {PONG x}
check "a protocol error is silent too while replies are off" {
    set c [client_open]
    $c send CLIENT REPLY OFF
    $c write "*x\r\n"
    $c read_all
} ""
check "CLIENT REPLY SKIP while replies are off changes nothing" {
    set c [client_open]
    $c send CLIENT REPLY OFF
    $c send CLIENT REPLY SKIP
    $c send PING
    list [$c call CLIENT REPLY ON] [$c call PING]
} {OK PONG}
check_error "CLIENT REPLY knows ON, OFF and SKIP" {r CLIENT REPLY maybe} "ERR syntax error"

# The names that CLIENT LIST shows with these options, without the connection that runs the check.
proc names_listed {args} {
    set lines [lrange [split [r CLIENT LIST {*}$args] \n] 0 end-1]
    return [lsort [lsearch -all -inline -not [lmap line $lines {dict get [client_fields $line] name}] ""]]
}

foreach {options found} {
    {} {a b c}
    {NAME a} a
    {NOT-NAME a NOT-NAME b} {a c}
    {NOT-NAME a} {b c}
    {DB 3} b
    {NOT-DB 3} {a c}
    {USER default} {a b c}
    {USER limited} {}
    {NOT-USER limited} {a b c}
    {LIB-NAME lib} c
    {NOT-LIB-NAME lib} {a b}
    {LIB-VER 1.2} c
    {LIB-VER 1.2 NOT-LIB-NAME lib} {}
    {FLAGS x} a
    {FLAGS N} {b c}
    {FLAGS xb} {}
    {NOT-FLAGS x} {b c}
    {CAPA r} b
    {NOT-CAPA r} {a c}
    {CAPA ""} {a b c}
    {IP 127.0.0.1} {a b c}
    {NOT-IP 127.0.0.1} {}
    {IP 127.0.0.2} {}
    {NOT-ADDR 127.0.0.1:1 NOT-LADDR 127.0.0.1:1} {a b c}
    {TYPE normal DB 0} {a c}
    {NOT-TYPE normal} {}
    {TYPE primary} {}
    {MAXAGE 1000} {}
    {IDLE 1000} {}
    {SKIPME yes} {a b c}
    {SKIPME no NAME c} c
    {ID @a @b} {a b}
    {ID @a @b NAME b} b
    {NOT-ID @a @b} c
    {ID @c @a NOT-ID @a} c
} {
    check "CLIENT LIST $options shows who meets all of it" {
        r ACL SETUSER limited
        foreach name {a b c} {
            set client_$name [open_named $name]
        }
        $client_a call MULTI
        $client_b call SELECT 3
        $client_b call CLIENT CAPA other REDIRECT
        $client_c call CLIENT SETINFO LIB-NAME lib
        $client_c call CLIENT SETINFO LIB-VER 1.2
        set ids {}
        foreach name {a b c} {
            lappend ids @$name [dict get [client_fields [lindex [lines_named $name] 0]] id]
        }
        names_listed {*}[string map $ids $options]
    } $found
}
check "CLIENT LIST shows itself, unless SKIPME yes" {
    set id [r CLIENT ID]
    list [string match "id=$id *" [r CLIENT LIST SKIPME no ID $id DB 0]] [r CLIENT LIST SKIPME yes ID $id DB 0]
} {1 {}}
check "CLIENT LIST names what is wrong with a filter" {
    foreach {arguments text} {
        {NAME} {syntax error}
        {NAME x DB} {syntax error}
        {NOT-IDLE 1} {syntax error}
        {NOT-ID x} {syntax error}
        {NAME x FROB y} {syntax error}
        {ID 1 x NAME y} {syntax error}
        {USER nosuch} {No such user 'nosuch'}
        {NOT-USER nosuch} {No such user 'nosuch'}
        {TYPE normal NOT-TYPE foo} {Unknown client type 'foo'}
        {FLAGS NQ} {Unknown flags found in the provided filter: NQ}
        {NOT-FLAGS NQ} {Unknown flags found in the NOT-FLAGS filter: NQ}
        {CAPA x} {Unknown capa found in the provided filter: x}
        {not-capa x} {Unknown capa found in the NOT-CAPA filter: x}
        {DB 99} {DB number should be between 0 and 15}
        {DB x} {DB is not an integer or out of range}
        {NOT-DB 99} {NOT-DB number should be between 0 and 15}
        {NOT-DB x} {NOT-DB is not an integer or out of range}
        {IDLE 0} {idle should be greater than 0}
        {ID 0 NAME x} {client-id should be greater than 0}
    } {
        assert_equal [error_of {r CLIENT LIST {*}$arguments}] "ERR $text"
    }
}
check "CLIENT CAPA takes any words, and at least one; RESET leaves what the client can do" {
    set c [open_named able]
    set replies [list [$c call CLIENT CAPA frob] [$c call CLIENT CAPA redirect frob]]
    $c call RESET
    $c call CLIENT SETNAME able
    lappend replies [names_listed CAPA r] [error_of {r CLIENT CAPA}]
} {OK OK able {ERR wrong number of arguments for 'client|capa' command}}

# --- CLIENT KILL

check "CLIENT KILL takes the filters of CLIENT LIST" {
    foreach name {a b c d} {
        set client_$name [open_named $name]
    }
    $client_b call SELECT 3
    set id [$client_d call CLIENT ID]
    list [r CLIENT KILL NAME a NOT-DB 0] [r CLIENT KILL DB 3 NOT-NAME a] [r CLIENT KILL NAME a] \
        [r CLIENT KILL ID $id 99999 $id NAME d] [names_listed] [r CLIENT KILL NOT-ID $id NAME c] \
        [$client_c is_closed]
} {0 1 1 1 c 1 1}
check "CLIENT KILL reads no more numbers than stand there" {
    error_of {r CLIENT KILL ID 1 2 x}
} "ERR syntax error"
check "CLIENT KILL with an address closes that connection" {
    set c [open_named victim]
    set address [dict get [client_fields [$c call CLIENT INFO]] addr]
    assert_equal [r CLIENT KILL $address] OK
    assert {[$c is_closed]}
    llength [lines_named victim]
} 0
check_error "CLIENT KILL of an address that no client has" {r CLIENT KILL 127.2.3.4:5} "ERR No such client"
check "CLIENT KILL with filters counts the clients that it closed" {
    set c [open_named victim]
    set id [$c call CLIENT ID]
    assert_equal [typed CLIENT KILL ID $id] {int 1}
    assert {[$c is_closed]}
    typed CLIENT KILL ID $id
} {int 0}
check "CLIENT KILL by address of either side" {
    set c [open_named victim]
    set fields [client_fields [$c call CLIENT INFO]]
    assert_equal [r CLIENT KILL LADDR 127.0.0.1:1] 0
    assert_equal [r CLIENT KILL LADDR [dict get $fields laddr] ADDR [dict get $fields addr]] 1
    $c is_closed
} 1
check "CLIENT KILL spares its own client, unless SKIPME no" {
    set id [r CLIENT ID]
    assert_equal [r CLIENT KILL ID $id] 0
    assert_equal [r CLIENT KILL ID $id SKIPME yes] 0
    set c [client_open]
    assert_equal [$c call CLIENT KILL ID [$c call CLIENT ID] SKIPME no] 1
    $c is_closed
} 1
check "CLIENT KILL asks for all of its filters" {
    set c [open_named victim]
    set id [$c call CLIENT ID]
    foreach filters {{TYPE pubsub} {TYPE master} {TYPE replica} {ADDR 127.2.3.4:5} {LADDR 127.2.3.4:5} {MAXAGE 1000}} {
        assert_equal [r CLIENT KILL ID $id {*}$filters] 0
    }
    assert_equal [r CLIENT KILL ID [r CLIENT ID] ID $id TYPE normal USER default SKIPME yes] 1
    $c is_closed
} 1
check "CLIENT KILL without an ID closes all that meet the filters" {
    with_server {bind "127.0.0.1 127.0.0.2"} {
        set port [$::current_server port]
        set sockets [list [socket 127.0.0.2 $port] [socket 127.0.0.2 $port] [socket 127.0.0.2 $port]]
        set c [client_open]
        wait_until {[info_field connected_clients] >= 5}
        assert_equal [$c call CLIENT KILL LADDR 127.0.0.2:$port MAXAGE 1000] 0
        assert_equal [$c call CLIENT KILL LADDR 127.0.0.2:$port] 3
        foreach socket $sockets {
            assert_equal [read $socket] ""
            close $socket
        }
        $c call PING
    }
} PONG
check "numbers of clients are found among many, and only while they are there" {
    set clients {}
    for {set i 0} {$i < 200} {incr i} { lappend clients [client_open] }
    set ids [lmap c $clients {$c call CLIENT ID}]
    foreach id $ids { assert_equal [r CLIENT KILL ID $id] 1 }
    foreach id $ids { assert_equal [r CLIENT KILL ID $id] 0 }
    r CLIENT LIST ID {*}$ids
} ""
check "CLIENT KILL MAXAGE closes only old connections" {
    open_named young
    assert_equal [r CLIENT KILL MAXAGE 1000] 0
    assert_equal [r CLIENT KILL TYPE pubsub] 0
    assert_equal [r CLIENT KILL ID 1 USER default MAXAGE 1000] 0
    llength [lines_named young]
} 1
check "CLIENT KILL names what is wrong" {
    foreach {arguments text} {
        {ID 0} {client-id should be greater than 0}
        {ID x} {client-id should be greater than 0}
        {MAXAGE x} {maxage is not an integer or out of range}
        {MAXAGE 0} {maxage should be greater than 0}
        {TYPE foo} {Unknown client type 'foo'}
        {USER foo} {No such user 'foo'}
        {ID 1 SKIPME maybe} {syntax error}
        {ID 1 ADDR} {syntax error}
        {FOO bar} {syntax error}
    } {
        assert_equal [error_of {r CLIENT KILL {*}$arguments}] "ERR $text"
    }
}
check "a client that is killed while it waits takes nothing" {
    set c [client_blocked BLPOP k 0]
    assert_equal [r CLIENT KILL TYPE normal ID [regexp -inline {\d+} [lsearch -inline \
        [split [r CLIENT LIST] \n] "*flags=b*"]]] 1
    assert {[$c is_closed]}
    wait_blocked 0
    r RPUSH k a
} 1

# --- CLIENT UNBLOCK

proc waiting_id {} {
    return [dict get [client_fields [lsearch -inline [split [r CLIENT LIST] \n] "* flags=b *"]] id]
}

check "CLIENT UNBLOCK wakes a client as if its time was up" {
    set c [client_blocked BLPOP k 0]
    assert_equal [typed CLIENT UNBLOCK [waiting_id]] {int 1}
    assert_equal [$c read] (nil)
    $c call PING
} PONG
check "CLIENT UNBLOCK TIMEOUT is the same" {
    set c [client_blocked BLMOVE k d LEFT LEFT 0]
    r CLIENT UNBLOCK [waiting_id] timeout
    $c read
} (nil)
check "CLIENT UNBLOCK ERROR wakes it with an error" {
    set c [client_blocked BLPOP k 0]
    r CLIENT UNBLOCK [waiting_id] ERROR
    $c read_typed
} {error {UNBLOCKED client unblocked via CLIENT UNBLOCK}}
check "CLIENT UNBLOCK of one that does not wait is 0" {
    list [r CLIENT UNBLOCK [r CLIENT ID]] [r CLIENT UNBLOCK 999999] [r CLIENT UNBLOCK -1]
} {0 0 0}
check "CLIENT UNBLOCK names what is wrong" {
    assert_equal [error_of {r CLIENT UNBLOCK x}] "ERR value is not an integer or out of range"
    assert_equal [error_of {r CLIENT UNBLOCK x foo}] \
        "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"
    error_of {r CLIENT UNBLOCK 1 error more}
} "ERR unknown subcommand or wrong number of arguments for 'UNBLOCK'. Try CLIENT HELP."

check "however many clients are killed at once, they are gone for the next command" {
    for {set i 0} {$i < 300} {incr i} {
        set c [client_open 2]
        $c call SUBSCRIBE a
        lappend listeners $c
    }
    r CLIENT SETNAME me
    set before [info_field connected_clients]
    lassign [[default_client] pipeline {{CLIENT KILL TYPE pubsub} {CLIENT LIST} {INFO clients} {PUBLISH a x}}] \
        killed list clients receivers
    assert_equal [list $killed $receivers] {300 0}
    assert_equal [regexp -all -line {^id=} $list] [expr {$before - 300}]
    assert {[string match "*connected_clients:[expr {$before - 300}]\r*pubsub_clients:0\r*" $clients]}
    foreach c $listeners {
        assert {[$c is_closed]}
    }
    unset listeners
}

# --- CLIENT PAUSE

check "CLIENT PAUSE WRITE holds back writes, lets reads pass, and UNPAUSE ends it" {
    r SET key old
    assert_equal [r CLIENT PAUSE 100000 WRITE] OK
    set c [client_open]
    $c send SET key new
    assert {[$c is_silent 50]}
    assert_equal [r GET key] old
    assert_equal [r CLIENT UNPAUSE] OK
    assert_equal [$c read] OK
    r GET key
} new
check "CLIENT PAUSE holds back everything and ends by itself" {
    set before [clock milliseconds]
    r CLIENT PAUSE 100
    assert_equal [r PING] PONG
    expr {[clock milliseconds] - $before >= 95}
} 1
check "what is held back is run in the order sent" {
    r CLIENT PAUSE 50 ALL
    set c [client_open]
    $c pipeline {{RPUSH k a} {RPUSH k b} {LRANGE k 0 -1}}
} {1 2 {a b}}
check "a client that has not authenticated gets its error at once, also in a pause" {
    with_server {requirepass secret} {
        set admin [client_open 2]
        $admin call AUTH secret
        $admin call CLIENT PAUSE 1000000000 ALL
        set refusal [error_of {[client_open 2] call SET key value}]
        $::current_server kill ;# a request to end would be held back as well
        set refusal
    }
} "NOAUTH Authentication required."
check "what comes in when a pause ends does not overtake what was held back" {
    set paused [client_open]
    set other [client_open]
    $other call CLIENT PAUSE 100000 WRITE
    $paused send RPUSH k a
    assert {[$paused is_silent 50]}
    # The server reads the end of the pause and the next request in one iteration of its loop.
    at_once {
        $other send CLIENT UNPAUSE
        $paused send LLEN k
    }
    list [$paused read] [$paused read]
} {1 1}
check "INFO counts clients that CLIENT PAUSE holds back as blocked, but without a deadline or keys" {
    client_blocked BLPOP l 1000
    r CLIENT PAUSE 100000 WRITE
    for {set i 0} {$i < 3} {incr i} {
        set held$i [client_open]
        [set held$i] send SET k $i
    }
    wait_until {[info_field blocked_clients] == 4}
    assert_equal [info_field clients_in_timeout_table] 1
    assert_equal [info_field total_blocking_keys] 1
    $held0 close
    wait_until {[info_field blocked_clients] == 3}
    r CLIENT UNPAUSE
    assert_equal [list [$held1 read] [$held2 read]] {OK OK}
    info_field blocked_clients
} 1
check "CLIENT PAUSE names what is wrong" {
    foreach {arguments text} {
        {x} {timeout is not an integer or out of range}
        {1.5} {timeout is not an integer or out of range}
        {-1} {timeout is negative}
        {9223372036854775807} {timeout is out of range}
        {0 foo} {CLIENT PAUSE mode must be WRITE or ALL}
        {0 all more} {unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT HELP.}
    } {
        assert_equal [error_of {r CLIENT PAUSE {*}$arguments}] "ERR $text"
    }
}

finish
