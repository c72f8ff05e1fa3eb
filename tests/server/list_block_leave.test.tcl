# Clients that stop waiting without an element: unblocked, killed or disconnected. No element gets lost.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

set unblocked "UNBLOCKED client unblocked via CLIENT UNBLOCK"

# Another connection that waits, and its id.
proc waiter {args} {
    set c [client_open]
    set id [$c call CLIENT ID]
    set waiting [info_field blocked_clients]
    $c send {*}$args
    wait_blocked [expr {$waiting + 1}]
    return [list $c $id]
}

# --- CLIENT UNBLOCK

foreach command {
    {BLPOP k j 0} {BRPOP k 0} {BLMOVE k dst LEFT LEFT 0} {BRPOPLPUSH k dst 0} {BLMPOP 0 2 k j LEFT}
} {
    foreach reason {{} TIMEOUT timeout} {
        check "CLIENT UNBLOCK id $reason ends $command like a time-out" {
            lassign [waiter {*}$command] c id
            assert_equal [typed CLIENT UNBLOCK $id {*}$reason] {int 1}
            assert_equal [$c read_typed] [expr {$protocol == 2 ? "nilarray" : "null"}]
            r RPUSH k a
            list_of k
        } a
    }
    foreach reason {ERROR error} {
        check "CLIENT UNBLOCK id $reason ends $command with an error" {
            lassign [waiter {*}$command] c id
            assert_equal [typed CLIENT UNBLOCK $id $reason] {int 1}
            assert_equal [$c read_typed] [list error $unblocked]
            r RPUSH k a
            list_of k
        } a
    }
}
check "CLIENT UNBLOCK of a client that does not wait returns 0" {
    set c [client_open]
    set id [$c call CLIENT ID]
    assert_equal [typed CLIENT UNBLOCK $id] {int 0}
    assert_equal [typed CLIENT UNBLOCK $id ERROR] {int 0}
    $c call PING
} PONG
check "CLIENT UNBLOCK of an unknown client returns 0" {
    list [typed CLIENT UNBLOCK 999999999] [typed CLIENT UNBLOCK 0] [typed CLIENT UNBLOCK -1 TIMEOUT]
} {{int 0} {int 0} {int 0}}
check "CLIENT UNBLOCK of a client that was just served returns 0" {
    lassign [waiter BLPOP k 0] c id
    assert_equal [[default_client] pipeline [list {RPUSH k a} [list CLIENT UNBLOCK $id]]] {1 0}
    list [$c read] [$c is_silent 10]
} {{k a} 1}
check "a push right behind CLIENT UNBLOCK stays in the list" {
    lassign [waiter BLPOP k 0] c id
    list [[default_client] pipeline [list [list CLIENT UNBLOCK $id] {RPUSH k a} {LLEN k}]] [$c read]
} {{1 1 1} (nil)}
check "CLIENT UNBLOCK ends one wait, and others go on" {
    lassign [waiter BLPOP k 0] first first_id
    lassign [waiter BLPOP k 0] second second_id
    lassign [waiter BLPOP k 0] third third_id
    r CLIENT UNBLOCK $second_id
    assert_equal [$second read] (nil)
    r RPUSH k a b
    list [$first read] [$third read]
} {{k a} {k b}}
check "a client that was unblocked goes on with its pipeline" {
    set c [client_open]
    set id [$c call CLIENT ID]
    $c write [request {BLPOP k 0}][request {ECHO next}][request {BLPOP k 0}]
    wait_blocked 1
    r CLIENT UNBLOCK $id ERROR
    assert_equal [$c read_typed] [list error $unblocked]
    assert_equal [$c read] next
    wait_blocked 1
    r RPUSH k a
    $c read
} {k a}
check_error "CLIENT UNBLOCK refuses other reasons" {
    lassign [waiter BLPOP k 0] c id
    r CLIENT UNBLOCK $id WHATEVER
} "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"
check_error "CLIENT UNBLOCK refuses an id that is no number" {r CLIENT UNBLOCK x} $not_integer
check_error "CLIENT UNBLOCK needs an id" {r CLIENT UNBLOCK} \
    "ERR wrong number of arguments for 'client|unblock' command"

# --- Clients that are killed or disconnect

foreach command {
    {BLPOP k j 0} {BRPOP k k 0} {BLMOVE k dst LEFT LEFT 0} {BRPOPLPUSH k dst 0} {BLMPOP 0 1 k LEFT COUNT 5}
} {
    check "a client that disconnects from $command leaves the element in the list" {
        set c [client_blocked {*}$command]
        $c close
        wait_blocked 0
        r RPUSH k a
        list [list_of k] [r EXISTS dst j] [info_field total_blocking_keys]
    } {a 0 0}
    check "a client that is killed in $command leaves the element in the list" {
        lassign [waiter {*}$command] c id
        set replies [[default_client] pipeline [list [list CLIENT KILL ID $id] {RPUSH k a} {LRANGE k 0 -1}]]
        list $replies [$c is_closed] [info_field blocked_clients] [info_field total_blocking_keys]
    } {{1 1 a} 1 0 0}
}
check "the next client is served when the first one disconnects" {
    set first [client_blocked BLPOP k 0]
    set second [client_blocked BLPOP k 0]
    $first close
    wait_blocked 1
    r RPUSH k a
    $second read
} {k a}
check "the next client is served when the first one is killed" {
    lassign [waiter BLPOP k 0] first id
    set second [client_blocked BLPOP k 0]
    r CLIENT KILL ID $id
    r RPUSH k a
    $second read
} {k a}
check "every second of forty clients disconnects and the others are served in order" {
    set clients [lmap i [numbered 1 40] {client_blocked BLPOP k k$i 0}]
    foreach {stays leaves} $clients {
        $leaves close
    }
    wait_blocked 20
    r RPUSH k {*}[numbered 1 21]
    assert_equal [lmap {stays leaves} $clients {lindex [$stays read] 1}] [numbered 1 20]
    list_of k
} 21
check "a client that disconnects in the middle of a chain of BLMOVEs breaks it there" {
    client_blocked BLMOVE k1 k2 LEFT LEFT 0
    set middle [client_blocked BLMOVE k2 k3 LEFT LEFT 0]
    set last [client_blocked BLPOP k3 0]
    $middle close
    wait_blocked 2
    r RPUSH k1 a
    list [list_of k2] [r EXISTS k1 k3] [$last is_silent 10]
} {a 0 1}
check "a client that disconnects with a pipeline behind its wait" {
    set c [client_open]
    $c write [request {BLPOP k 0}][request {RPUSH ran yes}]
    wait_blocked 1
    $c close
    wait_blocked 0
    r RPUSH k a
    list_of k
} a
check "a client that disconnects with megabytes of requests behind its wait" {
    set c [client_open]
    $c write [request {BLPOP k 0}][string repeat [request [list RPUSH ran [string repeat x 10000]]] 300]
    wait_blocked 1
    $c close
    wait_blocked 0
    r RPUSH k a
    list [list_of k] [r EXISTS ran]
} {a 0}
check "a waiting client that closes its sending side is gone" {
    set c [client_open]
    $c write [request {BLPOP k 0}]
    wait_blocked 1
    set socket [set [info object namespace $c]::socket]
    chan close $socket write
    wait_blocked 0
    r RPUSH k a
    list_of k
} a
check "a client may be killed by one that waits for the same key next" {
    lassign [waiter BLPOP k 0] first id
    set second [client_open]
    $second write [request [list CLIENT KILL ID $id]][request {BLPOP k 0}]
    assert_equal [$second read] 1
    wait_blocked 1
    r RPUSH k a
    $second read
} {k a}
check_in 2 "an idle client is closed after the configured time, a waiting one is not" {
    with_config {timeout 1} {
        set idle [client_open]
        set waits [client_blocked BLPOP k 0]
        # Asking again and again also keeps the connection of the framework from being idle.
        wait_until {[info_field connected_clients] == 2}
        assert {[$idle is_closed]}
        r RPUSH k a
        $waits read
    }
} {k a}
check "the server stops while clients wait" {
    with_server {} {
        set c [client_blocked BLPOP k 0]
        set timed [client_blocked BLMOVE k dst LEFT LEFT 100]
    }
    list [$c is_closed] [$timed is_closed]
} {1 1}
check "keys may be flushed, deleted and overwritten while clients wait for them" {
    set c [client_blocked BLPOP k 0]
    r FLUSHALL
    r SET k text
    r FLUSHDB
    r DEL k
    wait_blocked 1
    r RPUSH k a
    $c read
} {k a}

# --- Subscribers of events that are too slow, and are closed by the event of serving another client

# The message is the name of a key: more than the 16 KB of output that no limit counts.
set long [string repeat k 20000]

# A connection that waits, and that is closed as soon as the event is sent to it.
proc slow_waiter {event args} {
    set c [client_open 3]
    $c call SUBSCRIBE __keyevent@0__:$event
    set waiting [info_field blocked_clients]
    $c send {*}$args
    wait_blocked [expr {$waiting + 1}]
    return $c
}
proc with_slow_listeners {body} {
    uplevel 1 [list with_config {client-output-buffer-limit "pubsub 1 0 0" notify-keyspace-events AKE} $body]
}

check "a client that waits for the same key may be closed while another one is served" {
    with_slow_listeners {
        set first [client_blocked BLPOP $long 0]
        set slow [lmap i [numbered 1 3] {slow_waiter lpop BLPOP $long j$i 0}]
        set last [client_blocked BLPOP $long 0]
        r RPUSH $long a b
        assert_equal [lmap c $slow {$c is_closed}] {1 1 1}
        assert_equal [list [$first read] [$last read]] [list [list $long a] [list $long b]]
        list [info_field blocked_clients] [info_field total_blocking_keys]
    }
} {0 0}
check "a client that waits for many keys may be closed by one of them that has expired when SWAPDB brings them" {
    with_slow_listeners {
        set keys [numbered 1 200 $long]
        [default_client] pipeline [list {DEBUG SET-ACTIVE-EXPIRE 0} {SELECT 1} \
            [list RPUSH ${long}7 a] [list PEXPIRE ${long}7 1] {RPUSH other b} {SELECT 0}]
        set slow [slow_waiter expired BLPOP {*}$keys 0]
        set other [client_blocked BLPOP other 0]
        after 5
        r SWAPDB 0 1
        r DEBUG SET-ACTIVE-EXPIRE 1
        list [$slow is_closed] [$other read] [info_field total_blocking_keys]
    }
} {1 {other b} 0}

finish
