# MIGRATE while it waits: others are served, keys that they change are not lost, and the wait may end early. The target
# is a fake one, which answers when the test says so.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]
source [file join [file dirname [file normalize [info script]]] lib fake_target.tcl]
source $library/tls.tcl

server_start

set changed "ERR A key has changed while it was moved. It stays as it is here; the target instance has its older value"
set ok "+OK\r\n"

# Runs the body with a target that does not answer RESTORE by itself.
proc with_silent {body} {
    with_fake {expr {[lindex $request 0] eq "RESTORE" ? "" : "+OK\r\n"}} $body
}

proc restores {} {
    return [llength [lsearch -all -index 0 [$::fake requests] RESTORE]]
}

# A client whose MIGRATE waits until the target answers the RESTORE of `count` keys.
proc mover {count args} {
    set c [client_blocked MIGRATE 127.0.0.1 [$::fake port] {*}$args]
    wait_until {[restores] == $count}
    return $c
}

# The id of the client whose MIGRATE waits.
proc mover_id {} {
    regexp {id=(\d+)[^\n]*cmd=migrate} [r CLIENT LIST] _ id
    return $id
}

# --- Others are served

check "other clients are served while MIGRATE waits for its target" {
    with_silent {
        r SET k x
        set c [mover 1 k 0 10000]
        assert_equal [list [r PING] [r SET other 1] [r GET k] [info_field blocked_clients]] {PONG OK x 1}
        $fake say $ok
        list [$c read] [r EXISTS k] [info_field blocked_clients]
    }
} {OK 0 0}
check "other clients are served while the target takes a large value bit by bit, and while it takes nothing" {
    set target [server new {}]
    r SET k [noise 30000000]
    exec kill -STOP [$target pid]
    try {
        set c [client_blocked MIGRATE 127.0.0.1 [$target port] k 0 20000]
        foreach _ {1 2 3} {
            assert_equal [r PING] PONG
        }
    } finally {
        exec kill -CONT [$target pid]
    }
    set reply [list [$c read] [r EXISTS k] [$target control STRLEN k]]
    $target destroy
    set reply
} {OK 0 30000000}
check "a connection that is in use while the settings of TLS change is not kept" {
    with_config [list tls-ca-cert-file [tls_certificates]/ca.crt] {
        with_silent {
            r SET k x
            set c [mover 1 k 0 10000]
            r CONFIG SET tls-cluster yes
            $fake say $ok
            set seen [list [$c read] [info_field migrate_cached_sockets]]
            r CONFIG SET tls-cluster no
        }
        with_silent {
            r SET k x
            set c [mover 1 k 0 10000]
            $fake say $ok
            lappend seen [$c read] [info_field migrate_cached_sockets]
        }
    }
    set seen
} {OK 0 OK 1}
check "what a client sends after MIGRATE runs after it" {
    with_silent {
        r SET k x
        set c [mover 1 k 0 10000]
        $c send EXISTS k
        assert [$c is_silent]
        $fake say $ok
        list [$c read] [$c read]
    }
} {OK 0}
check "two clients move keys to one target, each over a connection of its own" {
    with_silent {
        r MSET a 1 b 2
        set c [mover 1 a 0 10000]
        set d [mover 2 b 0 10000]
        $fake say $ok
        list [$c read] [$d read] [$fake connections] [r DBSIZE]
    }
} {OK OK 2 0}
check "a command that takes longer than the timeout of a MIGRATE is not the target's fault" {
    with_fake {set _ "+OK\r\n"} {
        r SET k x
        set c [client_open]
        $c write "[request [list MIGRATE 127.0.0.1 [$fake port] k 0 300]]"
        r DEBUG SLEEP 1
        list [$c read] [r EXISTS k]
    }
} {OK 0}

# --- Keys that change

foreach {change left} {
    {SET k new} new
    {APPEND k y} xy
    {PEXPIRE k 100000} x
    {DEL k} (nil)
    {FLUSHALL} (nil)
    {FLUSHDB ASYNC} (nil)
    {SWAPDB 0 3} (nil)
    {EVAL "return redis.call('SET', 'k', 'new')" 0} new
    {RENAME k moved} (nil)
} {
    check "a key that [lindex $change 0] changes while it is moved is not deleted" {
        with_silent {
            r SET k x
            set c [mover 1 k 0 10000]
            r {*}$change
            $fake say $ok
            list [error_of {$c read}] [r GET k]
        }
    } [list $changed $left]
}
check "keys that change do not keep the others from moving" {
    with_silent {
        r MSET a 1 b 2 c 3
        set c [mover 3 "" 0 10000 KEYS a b c]
        r SET b new
        $fake say $ok$ok$ok
        list [error_of {$c read}] [r MGET a b c]
    }
} [list $changed {(nil) new (nil)}]
check "a key that changes once the target has answered for it is a new one" {
    with_silent {
        r MSET a 1 b 2
        set c [mover 2 "" 0 10000 KEYS a b]
        $fake say $ok
        wait_until {[r EXISTS a] == 0}
        r SET a new
        $fake say $ok
        list [$c read] [r MGET a b]
    }
} {OK {new (nil)}}
check "a key that is written twice the same is a change, one that is only read is none" {
    with_silent {
        r MSET a 1 b 2
        set c [mover 2 "" 0 10000 KEYS a b]
        r SET a 1
        r GET b
        $fake say $ok$ok
        list [error_of {$c read}] [r MGET a b]
    }
} [list $changed {1 (nil)}]
check "a key that changes before the target has answered the greeting is sent as it is then" {
    with_fake {set _ ""} {
        r MSET a 1 b 2
        set c [client_blocked MIGRATE 127.0.0.1 [$fake port] "" 0 10000 KEYS a b]
        wait_until {[llength [$fake requests]] == 1}
        r SET a new
        r DEL b
        $fake say $ok
        wait_until {[restores] == 1}
        r RESTORE copy 0 [lindex [$fake requests] 1 3]
        $fake say $ok
        list [$c read] [r GET copy] [r EXISTS a]
    }
} {OK new 0}
check "keys that are all gone before they are sent are NOKEY" {
    with_fake {set _ ""} {
        r SET k x
        set c [client_blocked MIGRATE 127.0.0.1 [$fake port] k 0 10000]
        wait_until {[llength [$fake requests]] == 1}
        r DEL k
        $fake say $ok
        list [$c read] [restores]
    }
} {NOKEY 0}
check "a key that expires while it is moved has moved" {
    with_silent {
        r SET k x PX 1000
        set c [mover 1 k 0 10000]
        wait_until {[r EXISTS k] == 0}
        $fake say $ok
        $c read
    }
} OK
check "MIGRATE COPY does not mind changes" {
    with_silent {
        r SET k x
        set c [mover 1 k 0 10000 COPY]
        r SET k new
        $fake say $ok
        list [$c read] [r GET k]
    }
} {OK new}
check "a key that is named twice is sent once" {
    with_silent {
        r MSET a 1 b 2
        set c [mover 2 "" 0 10000 KEYS a b a a b]
        $fake say $ok$ok
        list [$c read] [restores] [r DBSIZE]
    }
} {OK 2 0}
check "many keys are on the way at a time, and no more" {
    with_silent {
        set keys {}
        for {set i 0} {$i < 20} {incr i} {
            r SET k:$i [noise 100000]
            lappend keys k:$i
        }
        set c [mover 3 "" 0 10000 KEYS {*}$keys]
        for {set i 0} {$i < 20} {incr i} {
            assert_equal [restores] [expr {min($i + 3, 20)}]
            $fake say $ok
            wait_until {[restores] == min($i + 4, 20)}
        }
        list [$c read] [r DBSIZE]
    }
} {OK 0}
foreach {name closes} {
    "MIGRATE does not delete during a pause of writes, but when that has ended" 0
    "MIGRATE keeps a reply that came during a pause, though the target has closed since" 1
} {
    check $name {
        with_silent {
            r SET k x
            set c [mover 1 k 0 1000]
            r CLIENT PAUSE 100000 WRITE
            $fake say $ok
            if {$::closes} {
                $fake hang_up
            }
            assert [$c is_silent 1500]
            assert_equal [r GET k] x
            r CLIENT UNPAUSE
            list [$c read] [r EXISTS k]
        }
    } {OK 0}
}

# --- Waits that end early

check "MIGRATE ends when its client is killed, and closes the connection" {
    with_silent {
        r SET k x
        set c [mover 1 k 0 10000]
        r CLIENT KILL ID [mover_id]
        wait_until {[$fake open] == 0}
        list [$c is_closed] [r GET k] [info_field migrate_cached_sockets]
    }
} {1 x 0}
check "MIGRATE ends when its client goes" {
    foreach how {close shut_down} {
        with_silent {
            r SET k x
            set c [mover 1 k 0 10000]
            $c $how
            wait_until {[$fake open] == 0}
            assert_equal [r GET k] x
        }
    }
}
check "CLIENT UNBLOCK ends MIGRATE" {
    foreach {how error} [list TIMEOUT $cannot_read ERROR "UNBLOCKED client unblocked via CLIENT UNBLOCK"] {
        with_silent {
            r SET k x
            set c [mover 1 k 0 10000]
            assert_equal [r CLIENT UNBLOCK [mover_id] $how] 1
            # The target may have read all before the server has heard that all is sent.
            set answer [string map {"timeout writing" "timeout reading"} [error_of {$c read}]]
            assert_equal [list $answer [r GET k] [$c call PING]] [list $error x PONG]
            wait_until {[$fake open] == 0}
        }
    }
}
check "MIGRATE ends when its client is killed before the target has accepted the connection's greeting" {
    with_fake {set _ ""} {
        r SET k x
        set c [client_blocked MIGRATE 127.0.0.1 [$fake port] k 0 10000]
        r CLIENT KILL ID [mover_id]
        wait_until {[$fake connections] == 0 || [$fake open] == 0}
        r GET k
    }
} x
check "MIGRATE ends when the server becomes a replica" {
    with_silent {
        r SET k x
        set c [mover 1 k 0 10000]
        r REPLICAOF 127.0.0.1 1
        set error [error_of {$c read}]
        r REPLICAOF NO ONE
        wait_until {[$fake open] == 0}
        list $error [r GET k]
    }
} {{UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)} x}
check "the server ends while MIGRATE waits" {
    with_silent {
        with_server {} {
            $current_server control SET k x
            mover 1 k 0 10000
            $current_server halt
        }
        wait_until {[$fake open] == 0}
    }
}
check "the target closes in the middle: what it has accepted is gone here, the rest is kept" {
    with_silent {
        r MSET a 1 b 2 c 3
        set c [mover 3 "" 0 10000 KEYS a b c]
        $fake say $ok
        wait_until {[r EXISTS a] == 0}
        $fake hang_up
        list [error_of {$c read}] [r MGET a b c]
    }
} [list $cannot_read {(nil) 2 3}]
check "the target closes before it has read a large value" {
    set listener [socket -server {apply {{accepted args} {
        set ::socket $accepted
        chan configure $::socket -translation binary
        chan puts -nonewline $::socket $::ok
        chan flush $::socket
    }}} -myaddr 127.0.0.1 0]
    r SET k [noise 30000000]
    set c [client_blocked MIGRATE 127.0.0.1 [lindex [chan configure $listener -sockname] 2] k 0 10000]
    wait_until {[update; info exists ::socket]}
    chan read $socket 10000
    chan close $socket
    unset socket
    set reply [list [error_of {$c read}] [r STRLEN k]]
    chan close $listener
    set reply
} [list $cannot_write 30000000]
check "a target that takes no connection is given up, and its client can be killed before that" {
    set target [server new {tcp-backlog 1}]
    set port [$target port]
    exec kill -STOP [$target pid]
    try {
        set waiting [lmap _ {1 2 3 4} {socket -async 127.0.0.1 $port}]
        r SET k x
        set error [error_of {r MIGRATE 127.0.0.1 $port k 0 300}]
        set in_script [error_of {r EVAL "return redis.call('MIGRATE', unpack(ARGV))" 0 127.0.0.1 $port k 0 300}]
        set c [client_blocked MIGRATE 127.0.0.1 $port k 0 100000]
        r CLIENT KILL ID [mover_id]
        assert [$c is_closed]
    } finally {
        exec kill -CONT [$target pid]
    }
    foreach socket $waiting {
        chan close $socket
    }
    unset socket
    $target destroy
    assert_match "*$cannot_connect*" $in_script
    list $error [r GET k]
} [list $cannot_connect x]
check "a timeout ends one MIGRATE only" {
    with_silent {
        r MSET a 1 b 2
        set c [mover 1 a 0 300]
        set d [mover 2 b 0 10000]
        assert_equal [error_of {$c read}] $cannot_read
        $fake say $ok
        list [$d read] [r MGET a b]
    }
} [list OK {1 (nil)}]
check "replies that nobody has asked for end a kept connection, and those that are too many a MIGRATE" {
    with_fake {set _ "+OK\r\n"} {
        r SET k x
        migrate_to_fake k 0 10000
        $fake say $ok
        wait_until {[$fake open] == 0}
    }
    wait_until {[info_field migrate_cached_sockets] == 0}
    with_fake {expr {[lindex $request 0] eq "RESTORE" ? "" : "+OK\r\n"}} {
        r MSET a 1 b 2
        set c [mover 2 "" 0 10000 KEYS a b]
        $fake say $ok$ok$ok
        list [$c read] [r DBSIZE] [info_field migrate_cached_sockets]
    }
} {OK 0 0}

# --- Where no command may come in between

foreach {where run} {
    "a script" {r EVAL "return redis.call('MIGRATE', unpack(ARGV))" 0 127.0.0.1 [$fake port]}
    "a transaction" {in_transaction MIGRATE 127.0.0.1 [$fake port]}
} {
    proc in_transaction {args} {
        r MULTI
        r {*}$args
        set reply [lindex [r EXEC] 0]
        if {[string match "(error) *" $reply]} {
            throw {REPLY ERROR} [string range $reply 8 end]
        }
        return $reply
    }
    proc from_inside {args} "global fake; return \[$run {*}\$args\]"

    check "MIGRATE in $where moves keys" {
        with_fake {set _ "+OK\r\n"} {
            r MSET a 1 b 2 c 3
            assert_equal [from_inside "" 0 10000 KEYS a b none] OK
            assert_equal [from_inside none 0 10000] NOKEY
            list [r MGET a b c] [restores]
        }
    } {{(nil) (nil) 3} 2}
    check "MIGRATE in $where replies what has failed" {
        with_fake {expr {[lindex $request 1] eq "b" ? "close" : "+OK\r\n"}} {
            r MSET a 1 b 2
            set error [error_of {from_inside "" 0 10000 KEYS a b}]
            assert_match "*$cannot_read*" $error
            r MGET a b
        }
    } {(nil) 2}
    check "MIGRATE in $where has a timeout" {
        with_silent {
            r SET k x
            set ms [elapsed_ms {set error [error_of {from_inside k 0 300}]}]
            assert_match "*$cannot_read*" $error
            assert {$ms >= 300}
            r GET k
        }
    } x
}
check "MIGRATE in a script refuses hosts and ports that there are not" {
    r SET k x
    foreach {host port error} [list 127.0.0.1 [free_port] $cannot_write no..such 1 $cannot_connect] {
        assert_match "*$error*" [error_of {r EVAL "return redis.call('MIGRATE', unpack(ARGV))" 0 $host $port k 0 10000}]
    }
    r GET k
} x

finish
