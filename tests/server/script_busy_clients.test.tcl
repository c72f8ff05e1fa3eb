# Connections while a script is busy: new ones, many, silent and hostile ones; what is safe when the server ends
# meanwhile.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/busy.tcl
source $library/functions.tcl

set socket [temporary_folder]/socket
server_start [list maxclients 300 unixsocket $socket]

proc with_maxclients_reached {body} {
    set clients {}
    while {1} {
        set c [client new 127.0.0.1 [$::current_server port]]
        if {[string match "*max number of clients*" [catch_error {$c call PING}]]} break
        lappend clients $c
    }
    assert {[llength $clients] > 200}
    uplevel 1 $body
    foreach c $clients {$c close}
    wait_until {[string match BUSY* [catch_error {[client new 127.0.0.1 [$::current_server port]] call PING}]]}
}

proc is_busy_for {c} {
    return [string match BUSY* [catch_error {$c call PING}]]
}

proc close_connections_but_default {} {
    foreach c [info class instances client] {
        if {$c ni [list $::default_client [$::current_server control_client]]} {
            $c close
        }
    }
}

# --- New connections

check "clients can connect, and stay when the script has ended" {
    with_busy [list EVAL $forever 0] {
        set clients [lmap _ [lrepeat 100 x] {client_open}]
        set replies [lmap c $clients {catch_error {$c call PING}}]
        lappend replies {*}[lmap c $clients {$c call WATCH k}]
    }
    lappend replies {*}[lmap c $clients {$c call PING}]
    list [lsort -unique $replies] [llength $replies]
} [list [lsort [list $busy_with_script OK PONG]] 300]
check "so they can over a Unix socket" {
    with_busy [list EVAL $forever 0] {
        lmap command {PING MULTI {SCRIPT KILL}} {string trim [exec redis-cli -s $socket {*}$command 2>@1]}
    }
} [list $busy_with_script OK OK]
check "maxclients holds" {
    with_busy [list EVAL $forever 0] {
        with_maxclients_reached {
            set c [client new 127.0.0.1 [$current_server port]]
            set refusal [catch_error {$c call PING}]
        }
        set after [catch_error {[client_open] call PING}]
    }
    list $refusal $after
} [list "ERR max number of clients reached" $busy_with_script]
check "clients that come and go take no memory and no descriptors" {
    with_busy [list EVAL $forever 0] {
        set before [llength [glob /proc/[$current_server pid]/fd/*]]
        foreach _ [lrepeat 1000 x] {
            set c [client new 127.0.0.1 [$current_server port]]
            assert {[is_busy_for $c]}
            $c close
        }
        wait_until {[llength [glob /proc/[$current_server pid]/fd/*]] <= $before + 5}
    }
    expr {[info_field total_connections_received] > 1000}
} 1
check "a client that says nothing more after half a request is closed with its connection" {
    with_busy [list EVAL $forever 0] {
        set c [client_open]
        $c write "*2\r\n\$4\r\nECHO\r\n\$100000\r\n[string repeat x 50000]"
        set d [client_open]
        $d write "*2\r\n\$4\r\nEC"
        assert {[is_busy_for [client_open]]}
        $c close
        assert {[is_busy_for [client_open]]}
    }
    $d write "HO\r\n\$2\r\nhi\r\n"
    $d read
} hi
check "a request that begins while the script is busy and is completed afterwards is run" {
    with_busy [list EVAL $forever 0] {
        set clients {}
        foreach length {10 1000 60000 1000000} {
            lappend clients [set c [client_open]] $length
            $c write "*2\r\n\$4\r\nECHO\r\n\$$length\r\n[string repeat x [expr {$length / 2}]]"
        }
        assert {[is_busy_for [client_open]]}
    }
    foreach {c length} $clients {
        $c write "[string repeat x [expr {$length - $length / 2}]]\r\n"
        assert_equal [string length [$c read]] $length
    }
} ""
check "a request that has begun before is completed meanwhile" {
    set clients {}
    foreach length {10 1000 60000 1000000} {
        lappend clients [set c [client_open]] $length
        $c write "*2\r\n\$4\r\nECHO\r\n\$$length\r\n[string repeat x [expr {$length / 2}]]"
    }
    with_busy [list EVAL $forever 0] {
        foreach {c length} $clients {
            $c write "[string repeat x [expr {$length - $length / 2}]]\r\n[request PING]"
            assert_equal [list [catch_error {$c read}] [catch_error {$c read}]] [lrepeat 2 $busy_with_script]
        }
    }
    foreach {c _} $clients {
        assert_equal [$c call PING] PONG
    }
} ""

# --- Many requests

check "many clients get all their replies, in order" {
    with_busy [list EVAL $forever 0] {
        set clients [lmap _ [lrepeat 50 x] {client_open}]
        foreach c $clients {
            $c write [string repeat [request PING][request {NOSUCH x}] 1000]
        }
        foreach c $clients {
            set expected "-$busy_with_script\r\n-ERR unknown command 'NOSUCH', with args beginning with: 'x' \r\n"
            assert_equal [$c read_bytes [expr {1000 * [string length $expected]}]] [string repeat $expected 1000]
        }
    }
    foreach c $clients {
        assert_equal [$c call ECHO x] x
    }
} ""
check "a client that does not read its replies does not stop others, and gets them in the end" {
    set count 300000
    with_busy [list EVAL $forever 0] {
        set c [client_open]
        set requests [string repeat "PING\r\n" $count]
        $c write_in_background $requests
        foreach _ [lrepeat 50 x] {
            assert {[is_busy_for [client_open]]}
        }
        r SCRIPT KILL
    }
    for {set busy 0; set pong 0} {$busy + $pong < $count} {} {
        switch -glob [$c read_line] {
            -BUSY* {incr busy}
            +PONG {incr pong}
        }
        if {$pong > 0} break
    }
    expr {$busy > 1000}
} 1
check "a client that had not read a large reply gets it, and replies to what follows, after the script" {
    r SETRANGE big 30000000 x
    set c [client_open]
    $c send GET big
    $c send ECHO behind
    wait_until {[regexp {omem=\d{6,}} [r CLIENT LIST]]}
    with_busy [list EVAL $forever 0] {
        $c send ECHO more
        assert {[is_busy_for [client_open]]}
    }
    list [string length [$c read]] [$c read] [$c read]
} {30000001 behind more}

# --- Before authentication

check_in 2 "a password is needed, and what clients may cost before that stays bounded" {
    with_server {requirepass secret} {
        set runner [client_open]
        $runner call AUTH secret
        r AUTH secret
        $current_server control CONFIG SET busy-reply-threshold 20
        $runner send EVAL $forever 0
        wait_until {[is_busy]}
        set c [client_open]
        set replies [list [catch_error {$c call PING}] [catch_error {$c call SCRIPT KILL}]]
        lappend replies [catch_error {$c call AUTH wrong}]
        foreach flood [list [string repeat "GET x\r\n" 1000000] "*1000\r\n" "*2\r\n\$3\r\nGET\r\n\$1000000\r\n" \
            [string repeat x 1000000]] {
            set d [client_open]
            # It is closed, perhaps while it still sends, or has no reply in time.
            catch {
                $d write_in_background $flood
                $d read_all
            } end
            assert {![string match "no reply*" $end]}
        }
        lappend replies [$c call AUTH secret] [catch_error {$c call PING}] [$c call SCRIPT KILL]
        set replies
    }
} [list "NOAUTH Authentication required." "NOAUTH Authentication required." \
    "WRONGPASS invalid username-password pair or user is disabled." OK $busy_with_script OK]

# --- The script's own client

check "when the client of the script has gone, the script goes on; then the client is freed" {
    r PING ;# now it is counted
    set before [info_field connected_clients]
    with_busy [list EVAL $forever 0] {
        $runner send PING
        $runner close
        foreach _ [lrepeat 10 x] {
            assert {[is_busy_for [client_open]]}
            after 10
        }
        r SCRIPT KILL
    }
    close_connections_but_default
    wait_until {[info_field connected_clients] == $before}
} ""
check "clients that wait for a key may leave meanwhile" {
    set waiting [client_blocked BLPOP l 0]
    set other [client_blocked BLPOP l 0]
    with_busy_to_end [list EVAL "redis.call('RPUSH', 'l', 'a') [spin 0.5]" 0] {
        $waiting close
        assert {[is_busy_for [client_open]]}
    }
    $runner read
    wait_until {[info_field blocked_clients] == 0}
    $other read
} {l a}
check "messages of a script reach those who listen" {
    set c [client_open]
    $c call SUBSCRIBE channel
    set script "redis.call('PUBLISH', 'channel', 'first') [spin 0.5] redis.call('PUBLISH', 'channel', 'second')"
    with_busy_to_end [list EVAL $script 0] {
        assert_equal [$c read] {message channel first}
        assert {[is_busy_for [client_open]]}
    }
    $c read
} {message channel second}
check "MONITOR shows the script when it is busy, and what is run meanwhile" {
    set c [client_open]
    $c call MONITOR
    with_busy [list EVAL $forever 0] {
        while {![regexp EVAL [$c read_line]]} {}
        r WATCH monitored
        while {![regexp {"WATCH" "monitored"} [$c read_line]]} {}
    }
} ""

# --- The end of the server

check_in 2 "SHUTDOWN is refused, but for SHUTDOWN NOSAVE" {
    with_busy [list EVAL $forever 0] {
        list [reply_of SHUTDOWN] [reply_of {SHUTDOWN SAVE}] [reply_of {SHUTDOWN NOW}] [reply_of {SHUTDOWN ABORT}] \
            [reply_of {SHUTDOWN SAVE NOSAVE}]
    }
} [list $busy_with_script $busy_with_script $busy_with_script "ERR No shutdown in progress." "ERR syntax error"]

# Lets the server be shut down while a script that has written runs, as the last command of `requests`; what is there
# when it is started again.
proc keys_after_shutdown {directives requests} {
    with_aof [dict merge {busy-reply-threshold 20} $directives] {
        r SET before 1
        set runner [client_open]
        $runner write [join [lmap request $requests {request $request}] ""]
        wait_until {[is_busy]}
        set c [client_open]
        assert_equal [catch_error {$c call SCRIPT KILL}] $::unkillable
        $c send SHUTDOWN NOSAVE
        assert {[$c is_closed]}
        catch {$runner read_all} bytes
        assert {![string match *script* $bytes]}
        assert_equal [$::current_server wait_exit] 0
        set commands [aof_commands [aof_bytes]]
        $::current_server launch_with {}
        set ::default_client ""
        return [list [lsort [r KEYS *]] [lsearch -all -inline -regexp $commands half]]
    }
}
set writes_forever "redis.call('SET', 'half', 1) redis.call('RPUSH', 'list', 1) $forever"
foreach policy {always everysec no} {
    check_in 2 "SHUTDOWN NOSAVE ends a script that has written; nothing of it is in the file ($policy)" \
        [list keys_after_shutdown [list appendfsync $policy] \
            [list {SET between 1} [list EVAL $writes_forever 0] {SET after 1}]] \
        {{before between} {}}
    check_in 2 "… nor of its transaction ($policy)" \
        [list keys_after_shutdown [list appendfsync $policy] \
            [list {SET between 1} MULTI {SET half2 1} [list EVAL $writes_forever 0] {SET half3 1} EXEC {SET after 1}]] \
        {{before between} {}}
}
check_in 2 "clients that wait for a key that such a script has written get nothing" {
    with_aof {busy-reply-threshold 20} {
        set waiting [client_blocked BLPOP list 0]
        set runner [client_open]
        $runner send EVAL $writes_forever 0
        wait_until {[is_busy]}
        [default_client] send SHUTDOWN NOSAVE
        assert {[$waiting is_closed]}
        $current_server wait_exit
    }
} 0
check_in 2 "SIGTERM is obeyed when the script has ended" {
    with_server {busy-reply-threshold 20} {
        set runner [client_open]
        $runner send EVAL $forever 0
        wait_until {[is_busy]}
        exec kill -TERM [$current_server pid]
        foreach _ [lrepeat 20 x] {
            assert {[is_busy]}
            after 10
        }
        r SCRIPT KILL
        $current_server wait_exit
    }
} 0

# --- What is safe

# A client writes, and in the same iteration of the loop another one starts a script, which becomes busy.
proc write_then_busy {script} {
    set writer [client_open]
    set ::runner [client_open]
    if {$::is_threaded} { ;# they may bring the two in another order
        $writer send SET before 1
        wait_until {[r EXISTS before]}
        $::runner send EVAL $script 0
    } else {
        at_once {
            $writer send SET before 1
            after 50
            $::runner send EVAL $script 0
        }
    }
    wait_until {[is_busy]}
    return $writer
}
foreach policy {always everysec no} {
    check_in 2 "what was written before a script is in the file and acknowledged while it runs ($policy)" {
        with_aof [list busy-reply-threshold 20 appendfsync $policy] {
            set writer [write_then_busy $forever]
            assert_equal [$writer read] OK
            assert {[is_busy_for $writer]}
            wait_until {{SET before 1} in [aof_commands [aof_bytes]]}
            r SCRIPT KILL
            $runner close
        }
    }
    check_in 2 "… also when the script has written itself; that comes into the file as a whole ($policy)" {
        with_aof [list busy-reply-threshold 20 appendfsync $policy] {
            set script "redis.call('SET', 'half', 1) redis.call('SET', 'half', 2) [spin 0.5] return 'done'"
            set writer [write_then_busy $script]
            assert_equal [$writer read] OK
            assert {[is_busy_for $writer]}
            assert_equal [$writer call WATCH k] OK
            assert_equal [$writer call UNWATCH] OK
            assert_equal [lsearch -regexp [aof_commands [aof_bytes]] half] -1
            assert {[is_busy]}
            assert_equal [$runner read] done
            wait_written
            aof_commands [aof_bytes]
        }
    } {{SELECT 0} {SET before 1} MULTI {SET half 1} {SET half 2} EXEC}
}
check_in 2 "messages about changes of a script wait until these are in the file" {
    with_aof {busy-reply-threshold 20 appendfsync always} {
        set c [client_open]
        $c call SUBSCRIBE channel
        set runner [client_open]
        $runner send EVAL "redis.call('SET', 'k', 1) redis.call('PUBLISH', 'channel', 'x') [spin 0.5]" 0
        wait_until {[is_busy]}
        assert {[$c is_silent]}
        assert {[is_busy]}
        set messages [list [$c read]]
        lappend messages [$runner read]
    }
} {{message channel x} (nil)}
check_in 2 "no snapshot or rewrite of the file goes on during a script" {
    with_aof {busy-reply-threshold 20} {
        r SET k 1
        set runner [client_open]
        $runner pipeline [list MULTI BGREWRITEAOF]
        set script "redis.call('SET', 'a', 1) [spin 0.5] redis.call('SET', 'b', 1)"
        $runner write [request [list EVAL $script 0]][request EXEC]
        wait_until {[is_busy]}
        wait_until {![is_busy]}
        wait_until {[info_field aof_rewrite_in_progress] == 0 && [info_field aof_rewrite_scheduled] == 0}
        assert_equal [info_field aof_last_bgrewrite_status] ok
        server_again crash
        lsort [r KEYS *]
    }
} {a b k}

file delete -force [file dirname $socket]
finish
