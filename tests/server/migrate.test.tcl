# MIGRATE: keys that move to another server: a second Packlist, or a fake one with given replies.
# tests/exchange moves keys to servers of other kinds and back.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]
source [file join [file dirname [file normalize [info script]]] lib fake_target.tcl]

server_start
set target [server new {}]

# A command at the target.
proc there {args} {
    return [$::target control {*}$args]
}

# A check that begins with an empty target, whose database 0 is selected.
proc check_move {name body args} {
    check $name "there SELECT 0; there FLUSHALL; $body" {*}$args
}

proc migrate {args} {
    return [r MIGRATE 127.0.0.1 [$::target port] {*}$args]
}

proc digest_of {key} {
    return [r DEBUG DIGEST-VALUE $key]
}

# --- What a fake target has got

# The requests that came, with their payloads as the values that they are.
proc requests {} {
    return [lmap request [$::fake requests] {
        if {[lindex $request 0] eq "RESTORE"} {
            r RESTORE payload 0 [lindex $request 3] REPLACE
            lset request 3 [expr {[r TYPE payload] eq "list" ? [list_of payload] : [r GET payload]}]
        }
        set request
    }]
}

# --- Moving

check_move "MIGRATE moves a string" {
    r SET k hello
    assert_equal [migrate k 0 10000] OK
    list [r EXISTS k] [there GET k] [there PTTL k]
} {0 hello -1}
check_move "MIGRATE moves lists of every kind" {
    foreach storage [dict keys $::storages] {
        in_storage $storage {
            make_list l-$storage $element_kinds
            set digest [digest_of l-$storage]
            assert_equal [migrate l-$storage 0 10000] OK
            assert_equal [there DEBUG DIGEST-VALUE l-$storage] $digest
            assert_equal [r EXISTS l-$storage] 0
        }
    }
}
check_move "MIGRATE moves a value of many megabytes" {
    r SET big [noise 30000000]
    set digest [digest_of big]
    assert_equal [migrate big 0 10000] OK
    expr {[there DEBUG DIGEST-VALUE big] eq $digest}
} 1
check_move "MIGRATE takes the time to live along" {
    r SET k hello PX 50000
    migrate k 0 10000
    set ttl [there PTTL k]
    expr {$ttl > 40000 && $ttl <= 50000}
} 1
check_move "MIGRATE goes to the database that it names" {
    r SET a x
    r SET b y
    migrate a 3 10000
    migrate b 0 10000
    set here [there DBSIZE]
    there SELECT 3
    list $here [there DBSIZE]
} {1 1}
check_move "MIGRATE COPY leaves the key where it is" {
    r SET k hello
    migrate k 0 10000 COPY
    list [r GET k] [there GET k]
} {hello hello}
check_move "MIGRATE does not touch a key that is there already, and keeps its own" {
    r SET k mine
    there SET k theirs
    assert_equal [error_of {migrate k 0 10000}] \
        "ERR Target instance replied with error: BUSYKEY Target key name already exists."
    list [r GET k] [there GET k]
} {mine theirs}
check_move "MIGRATE REPLACE replaces it" {
    r SET k mine
    there RPUSH k theirs
    assert_equal [migrate k 0 10000 REPLACE] OK
    list [r EXISTS k] [there GET k]
} {0 mine}
check_move "MIGRATE sends the event of the deletion" {
    r SET k hello
    with_config {notify-keyspace-events EA} {
        set listener [client_open]
        $listener call SUBSCRIBE __keyevent@0__:del
        migrate k 0 10000
        $listener read
    }
} {message __keyevent@0__:del k}
check_move "MIGRATE is a change for WATCH" {
    r SET k hello
    set other [client_open]
    $other call WATCH k
    migrate k 0 10000
    $other call MULTI
    $other call PING
    $other call EXEC
} (nil)
check_move "MIGRATE KEYS moves those that there are" {
    r MSET a 1 b 2
    r RPUSH l x y
    assert_equal [migrate "" 0 10000 KEYS nosuch a l nosuch b] OK
    list [r DBSIZE] [there GET a] [there GET b] [there LRANGE l 0 -1] [there DBSIZE]
} {0 1 2 {x y} 3}
check_move "MIGRATE KEYS moves those that it can" {
    r MSET a 1 b 2 c 3
    there SET b x
    assert_equal [error_of {migrate "" 0 10000 KEYS a b c}] \
        "ERR Target instance replied with error: BUSYKEY Target key name already exists."
    list [r MGET a b c] [there MGET a b c]
} {{(nil) 2 (nil)} {1 x 3}}
check_move "MIGRATE KEYS of ten thousand keys" {
    r DEBUG POPULATE 10000
    set digest [r DEBUG DIGEST]
    assert_equal [migrate "" 0 10000 KEYS {*}[r KEYS *]] OK
    list [r DBSIZE] [expr {[there DEBUG DIGEST] eq $digest}]
} {0 1}
check_move "MIGRATE moves in a transaction, too" {
    r SET k hello
    r MULTI
    migrate k 0 10000
    r EXISTS k
    list [r EXEC] [there GET k]
} {{OK 0} hello}
check_move "MIGRATE of nothing is NOKEY, and no server is asked" {
    with_fake {set _ close} {
        list [migrate_to_fake nosuch 0 10000] [migrate_to_fake "" 0 10000 KEYS a b] [migrate_to_fake "" 0 10000 KEYS] \
            [$fake connections]
    }
} {NOKEY NOKEY NOKEY 0}
check_move "MIGRATE of an expired key is NOKEY" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    r SET k x PX 1
    after 10
    set reply [migrate k 0 10000]
    r DEBUG SET-ACTIVE-EXPIRE 1
    set reply
} NOKEY
check "MIGRATE AUTH and AUTH2 send the password" {
    set mover [default_client]
    with_server {requirepass secret} {
        set to [list MIGRATE 127.0.0.1 [$current_server port]]
        set locked "ERR Target instance replied with error: NOAUTH Authentication required."
        $mover call MSET a 1 b 2 c 3
        assert_equal [error_of {$mover call {*}$to a 0 10000}] $locked
        assert_equal [$mover call {*}$to a 0 10000 AUTH secret] OK
        assert_equal [$mover call {*}$to b 0 10000 AUTH2 default secret] OK
        assert_equal [error_of {$mover call {*}$to c 0 10000 AUTH wrong}] \
            "ERR Target instance replied with error: WRONGPASS invalid username-password pair or user is disabled."
        # No client uses the password of another one.
        assert_equal [error_of {$mover call {*}$to c 0 10000}] $locked
        list [$mover call MGET a b c] [$current_server control MGET a b c]
    }
} {{(nil) (nil) 3} {1 2 (nil)}}

check "MIGRATE sends the password each time: it may have changed since the connection was opened" {
    set mover [default_client]
    with_server {requirepass old} {
        set to [list MIGRATE 127.0.0.1 [$current_server port]]
        $mover call MSET a 1 b 2 c 3
        assert_equal [$mover call {*}$to a 0 10000 AUTH old] OK
        $current_server control CONFIG SET requirepass new
        assert_equal [error_of {$mover call {*}$to b 0 10000 AUTH old}] \
            "ERR Target instance replied with error: WRONGPASS invalid username-password pair or user is disabled."
        assert_equal [$mover call {*}$to c 0 10000 AUTH new] OK
        list [$mover call MGET a b c] [$current_server control MGET a b c]
    }
} {{(nil) 2 (nil)} {1 (nil) 3}}

# --- Arguments

check "MIGRATE refuses bad arguments" {
    foreach {arguments error} {
        {h 1 k 0} "ERR wrong number of arguments for 'migrate' command"
        {h 1 k x 1} "ERR value is not an integer or out of range"
        {h 1 k 0 x} "ERR value is not an integer or out of range"
        {h 1 k 0 1 FOO} "ERR syntax error"
        {h 1 k 0 1 AUTH} "ERR syntax error"
        {h 1 k 0 1 AUTH2 user} "ERR syntax error"
        {h 1 k 0 1 KEYS a}
            "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"
    } {
        assert_equal [error_of {r MIGRATE {*}$arguments}] $error
    }
}
check "MIGRATE's passwords are not shown" {
    r CONFIG SET slowlog-log-slower-than 0
    r SLOWLOG RESET
    r MIGRATE h 1 nosuch 0 1 AUTH secret
    r MIGRATE h 1 nosuch 0 1 COPY AUTH2 someone secret REPLACE
    set shown [lmap entry [r SLOWLOG GET] {lindex $entry 3}]
    r CONFIG SET slowlog-log-slower-than 10000
    lrange $shown 0 1
} {{MIGRATE h 1 nosuch 0 1 COPY AUTH2 (redacted) (redacted) REPLACE} {MIGRATE h 1 nosuch 0 1 AUTH (redacted)}}

# --- What is sent, and faults

check "MIGRATE sends what any server understands" {
    with_fake {set _ "+OK\r\n"} {
        r MSET a 1 b 2
        r PEXPIRE b 100000
        r RPUSH l x y
        migrate_to_fake a 0 10000
        migrate_to_fake b 0 10000 REPLACE
        migrate_to_fake l 7 10000 AUTH2 me secret
        set requests [requests]
        set ttl [lindex $requests 2 2]
        assert {$ttl > 90000 && $ttl <= 100000}
        lset requests 2 2 TTL
    }
} {{SELECT 0} {RESTORE a 0 1} {RESTORE b TTL 2 REPLACE} {AUTH me secret} {SELECT 7} {RESTORE l 0 {x y}}}
check "MIGRATE keeps its connections for a while" {
    with_fake {set _ "+OK\r\n"} {
        r MSET a 1 b 2
        migrate_to_fake a 0 10000
        migrate_to_fake b 0 10000
        $fake connections
    }
} 1
check "MIGRATE sends AUTH on a connection that was kept, too, and keeps apart those of different credentials" {
    with_fake {set _ "+OK\r\n"} {
        r MSET a 1 b 2 c 3 d 4
        migrate_to_fake a 0 10000 AUTH secret
        migrate_to_fake b 0 10000 AUTH secret
        assert_equal [$fake connections] 1
        migrate_to_fake c 0 10000
        migrate_to_fake d 0 10000 AUTH2 secret secret
        list [join [lmap request [$fake requests] {lrange $request 0 1}] ", "] [$fake connections]
    }
} {{AUTH secret, SELECT 0, RESTORE a, AUTH secret, RESTORE b, SELECT 0, RESTORE c, AUTH secret, SELECT 0, RESTORE d} 3}
check "no key is sent to a target that refuses the password" {
    with_fake {expr {[lindex $request 0] eq "AUTH" ? "-WRONGPASS no\r\n" : "+OK\r\n"}} {
        r SET k x
        set error [error_of {migrate_to_fake k 0 10000 AUTH wrong}]
        list $error [r GET k] [lmap request [$fake requests] {lindex $request 0}]
    }
} {{ERR Target instance replied with error: WRONGPASS no} x {AUTH SELECT}}
check_in 2 "INFO counts the connections that MIGRATE keeps, and they are not kept for long" {
    wait_until {[info_field migrate_cached_sockets] == 0} 60000
    with_fake {set _ "+OK\r\n"} {
        foreach credentials {{} {AUTH x} {AUTH x} {AUTH y}} {
            r SET k x
            migrate_to_fake k 0 10000 {*}$credentials
        }
        info_field migrate_cached_sockets
    }
} 3
check_in 2 "the timeout of MIGRATE is for each wait: a target that answers bit by bit is waited for" {
    with_fake {after 100; set _ "+OK\r\n"} {
        set keys [split abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ""]
        r MSET {*}[concat {*}[lmap key $keys {list $key x}]]
        set ms [elapsed_ms {assert_equal [migrate_to_fake "" 0 4000 KEYS {*}$keys] OK}]
        expr {$ms > 4000}
    }
} 1
check "MIGRATE keeps many of them, and not for ever" {
    set fakes {}
    for {set i 0} {$i < 20} {incr i} {
        lappend fakes [fake new {set _ "+OK\r\n"}]
    }
    foreach fake $fakes {
        r SET k x
        assert_equal [migrate_to_fake k 0 10000] OK
    }
    set open [llength [glob /proc/[$current_server pid]/fd/*]]
    foreach fake $fakes {$fake destroy}
    wait_until {[llength [glob /proc/[$current_server pid]/fd/*]] < $open - 10}
}
check "MIGRATE tries again when the target has closed a connection that was kept" {
    with_fake {expr {[lindex $request 1] eq "b" && $connection == 1 ? "close" : "+OK\r\n"}} {
        r MSET a 1 b 2
        migrate_to_fake a 0 10000
        list [migrate_to_fake b 0 10000] [$fake connections] [r DBSIZE]
    }
} {OK 2 0}
check "MIGRATE gives up when the target closes at once, and keeps the key" {
    with_fake {set _ close} {
        r SET k x
        list [error_of {migrate_to_fake k 0 10000}] [r GET k]
    }
} [list $cannot_read x]
check "MIGRATE gives up when the target is silent for longer than the timeout, and keeps the key" {
    with_fake {set _ ""} {
        r SET k x
        set ms [elapsed_ms {set error [error_of {migrate_to_fake k 0 200}]}]
        assert {$ms >= 200}
        list $error [r GET k]
    }
} [list $cannot_read x]
check "a timeout of 0 is a second" {
    with_fake {set _ ""} {
        r SET k x
        set ms [elapsed_ms {error_of {migrate_to_fake k 0 0}}]
        expr {$ms >= 1000}
    }
} 1
check "MIGRATE gives up when the target reads nothing, and keeps the key" {
    r SET k [noise 30000000]
    r SET first x
    migrate first 0 10000 REPLACE ;# the connection is kept, and its database selected, for ten seconds
    exec kill -STOP [$target pid]
    try {
        set error [error_of {migrate k 0 300}]
    } finally {
        exec kill -CONT [$target pid]
    }
    list $error [r STRLEN k]
} [list $cannot_write 30000000]
check "what a target has taken before it failed is gone here, the rest is kept" {
    with_fake {expr {[lindex $request 1] eq "b" ? "close" : "+OK\r\n"}} {
        r MSET a 1 b 2 c 3
        list [error_of {migrate_to_fake "" 0 10000 KEYS a b c}] [r MGET a b c]
    }
} [list $cannot_read {(nil) 2 3}]
check "MIGRATE keeps the key when the target takes it in another database than it should" {
    with_fake {expr {[lindex $request 0] eq "SELECT" ? "-ERR DB index is out of range\r\n" : "+OK\r\n"}} {
        r SET k x
        list [error_of {migrate_to_fake k 99 1000}] [r GET k]
    }
} {{ERR Target instance replied with error: ERR DB index is out of range} x}
check "MIGRATE replies the first error" {
    with_fake {set _ "-[lindex $request 0] failed\r\n"} {
        r MSET a 1 b 2
        error_of {migrate_to_fake "" 0 10000 AUTH x KEYS a b}
    }
} "ERR Target instance replied with error: AUTH failed"
check "MIGRATE keeps the key when the answer makes no sense" {
    foreach answer [list ":1\r\n" "\$2\r\nOK\r\n" "\r\n" "HTTP/1.1 400 Bad Request\r\n" "[string repeat x 10000]\r\n"] {
        with_fake [list set _ $answer] {
            r SET k x
            assert_equal [list [error_of {migrate_to_fake k 0 10000}] [r GET k]] [list $cannot_read x]
        }
    }
}
check "MIGRATE refuses ports and hosts that there are not" {
    r SET k x
    set closed [free_port]
    list [error_of {r MIGRATE 127.0.0.1 $closed k 0 10000}] [error_of {r MIGRATE 127.0.0.1 x k 0 10000}] \
        [error_of {r MIGRATE 127.0.0.1 99999 k 0 10000}] [error_of {r MIGRATE no..such 1 k 0 10000}] [r GET k]
} [list $cannot_write $cannot_write $cannot_write $cannot_connect x]
check "MIGRATE goes to IPv6 addresses and to names" {
    with_server {bind {127.0.0.1 -::1}} {
        set port [$current_server port]
        set hosts [list localhost {*}[expr {[catch {close [socket ::1 $port]}] ? "" : "::1"}]]
        set mover [client new 127.0.0.1 [$target port]]
        foreach host $hosts {
            $mover call SET $host x
            assert_equal [$mover call MIGRATE $host $port $host 0 10000] OK
            assert_equal [r GET $host] x
        }
    }
}

$target halt
lappend all_problems {*}[$target problems]
$target destroy
finish
