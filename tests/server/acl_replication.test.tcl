# Users between servers: a replica that logs in as a user with few rights, FAILOVER, and what a Sentinel needs.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set replica_rules "on >secret -@all +psync +replconf +ping"

# Runs the body in a replica of $primary, where the user `rep` has these rules.
proc with_pair {rules directives body} {
    with_server [list repl-diskless-sync-delay 0 repl-ping-replica-period 1 user "rep $rules"] {
        set ::primary $::current_server
        set directives [dict merge {masteruser rep masterauth secret} $directives]
        dict set directives replicaof "127.0.0.1 [$::primary port]"
        uplevel 1 [list with_server $directives $body]
    }
}
proc link {} {
    return [info_field master_link_status]
}
proc wait_link {state} {
    wait_until {[link] eq $state}
}
# The link is up before the stream has brought what was written after the snapshot.
proc wait_value {value} {
    wait_link up
    wait_until {[r GET k] eq $value}
    return $value
}
proc wait_log {pattern} {
    wait_until {[string match $pattern [$::current_server log]]}
}

# --- A replica's user

check_in 2 "a replica needs no more than +psync +replconf +ping" {
    with_pair $replica_rules {} {
        $primary control SET k v
        wait_link up
        wait_until {[r GET k] eq "v"}
        # And for a part of the stream, after the connection was cut.
        $primary control CLIENT KILL TYPE replica
        $primary control SET k w
        wait_until {[r GET k] eq "w"}
        wait_link up
        regexp {sync_full:(\d+)\r\nsync_partial_ok:(\d+)\r\nsync_partial_err:(\d+)} [$primary control INFO stats] _ \
            full part refused
        list $full $part $refused [$primary control ACL LOG] \
            [regexp {user=rep} [$primary control CLIENT LIST TYPE replica]]
    }
} {1 1 0 {} 1}
check_in 2 "with a wrong password it gets no data, says so, and goes on when it has the right one" {
    with_pair $replica_rules {masterauth sesame} {
        $primary control SET k v
        wait_log "*Unable to AUTH to MASTER: -WRONGPASS*Unable to AUTH to MASTER: -WRONGPASS*"
        assert_equal [list [link] [r DBSIZE]] {down 0}
        assert {![string match *sesame* [$current_server log][$primary log]]}
        assert_equal [dict get [lindex [$primary control ACL LOG] 0] reason] auth
        r CONFIG SET masterauth secret
        wait_value v
    }
} v
check_in 2 "nor as a user that is off, or that the primary does not know" {
    foreach {rules directives} {
        "off >secret +psync +replconf +ping" {}
        "on >secret +psync +replconf +ping" {masteruser nobody}
    } {
        with_pair $rules $directives {
            $primary control SET k v
            wait_log "*Unable to AUTH to MASTER: -WRONGPASS*"
            assert_equal [list [link] [r DBSIZE]] {down 0}
        }
    }
}
check_in 2 "nor without +psync" {
    with_pair "on >secret +replconf +ping" {} {
        $primary control SET k v
        wait_log "*NOPERM User rep has no permissions to run the 'psync' command*"
        assert_equal [list [link] [r DBSIZE]] {down 0}
        $primary control ACL SETUSER rep +psync
        wait_value v
    }
} v
check_in 2 "a refused REPLCONF is no obstacle to its first data" {
    with_pair "on >secret +psync +ping" {} {
        $primary control SET k v
        wait_until {[r GET k] eq "v"}
    }
}
check_in 2 "without a password the user `default` is the replica's" {
    with_pair "off" {masteruser {""} masterauth {""}} {
        $primary control SET k v
        wait_value v
    }
} v
check_in 2 "the link stays when the user loses what it does not need any more, or its password" {
    with_pair $replica_rules {} {
        wait_link up
        $primary control ACL SETUSER rep resetpass off -psync -ping
        $primary control SET k v
        wait_until {[r GET k] eq "v"}
        # An acknowledgement, which it may still send.
        assert_equal [$primary control WAIT 1 0] 1
        list [link] [$primary control ACL LOG]
    }
} {up {}}
check_in 2 "a replica that may not confirm any more is disconnected, and comes back when it may" {
    with_pair $replica_rules {} {
        wait_link up
        $primary control ACL SETUSER rep -@all
        wait_link down
        wait_until {[string match "*has no permissions to run the 'psync'*" [$current_server log]]}
        $primary control SET k v
        assert_equal [r GET k] (nil)
        $primary control ACL SETUSER rep {*}[lrange $replica_rules 2 end]
        wait_link up
        wait_until {[r GET k] eq "v"}
    }
}
check_in 2 "a replica whose user is deleted is disconnected" {
    with_pair $replica_rules {} {
        wait_link up
        $primary control ACL DELUSER rep
        wait_link down
        wait_log "*Unable to AUTH to MASTER: -WRONGPASS*"
        $primary control ACL SETUSER rep {*}$replica_rules
        wait_link up
    }
}
check_in 2 "what the primary sends runs without any user's rights" {
    with_pair $replica_rules {user "default on nopass +@all -set -eval ~app:*"} {
        wait_link up
        $primary control SET k v
        $primary control EVAL "return redis.call('set', KEYS\[1\], 'w')" 1 other
        wait_until {[$current_server control DBSIZE] == 2}
        error_of {r GET k}
    }
} "NOPERM No permissions to access a key"
check_in 2 "users are no part of what a replica gets" {
    with_pair $replica_rules {} {
        wait_link up
        $primary control ACL SETUSER other on
        $primary control SET k v
        wait_until {[r GET k] eq "v"}
        r ACL USERS
    }
} default
check_in 2 "FAILOVER between servers whose replicas log in as a user" {
    with_pair $replica_rules [list user "rep $replica_rules" repl-diskless-sync-delay 0] {
        wait_link up
        $primary control CONFIG SET masteruser rep masterauth secret
        $primary control SET k v
        wait_until {[string match "*state=online*" [$primary control INFO replication]]}
        assert_equal [$primary control FAILOVER] OK
        wait_until {[info_field role] eq "master"}
        wait_until {[regexp "master_link_status:up" [$primary control INFO replication]]}
        r SET k w
        wait_until {[$primary control GET k] eq "w"}
    }
}
check_in 2 "FAILOVER by a user without the right is refused" {
    with_pair $replica_rules {} {
        wait_link up
        $primary control ACL SETUSER admin on nopass +@all -failover
        set c [client new 127.0.0.1 [$primary port]]
        $c call AUTH admin x
        set error [error_of {$c call FAILOVER}]
        $c close
        set error
    }
} "NOPERM User admin has no permissions to run the 'failover' command"

# --- A Sentinel's user

set sentinel_rules "on >secret allchannels -@all +multi +slaveof +ping +exec +subscribe +config|rewrite +role +publish\
 +info +client|setname +client|kill +script|kill"
proc sentinel_connection {} {
    set connection [client_open 2]
    assert_equal [$connection call AUTH sentinel secret] OK
    assert_equal [$connection call CLIENT SETNAME sentinel-0123-cmd] OK
    return $connection
}

check_in 2 "a Sentinel watches with the rights that Redis documents" {
    with_server [list user "sentinel $sentinel_rules"] {
        set commands [sentinel_connection]
        set channel [sentinel_connection]
        assert_equal [$channel call SUBSCRIBE __sentinel__:hello] {subscribe __sentinel__:hello 1}
        assert_equal [$commands call PING] PONG
        assert_match "*role:master*" [$commands call INFO]
        assert_equal [lindex [$commands call ROLE] 0] master
        assert_equal [$commands call PUBLISH __sentinel__:hello hi] 1
        assert_equal [$channel read] {message __sentinel__:hello hi}
        assert_match "NOTBUSY *" [error_of {$commands call SCRIPT KILL}]
        r ACL LOG
    }
}
foreach {what target role} {
    "makes a replica a primary" {NO ONE} master "turns a primary to another one" {127.0.0.1 1} slave
} {
    check_in 2 "a Sentinel $what, in one transaction" {
        with_server [list user "sentinel $sentinel_rules"] {
            set other [client_open 2]
            set subscriber [client_open 2]
            $subscriber call SUBSCRIBE ch
            set commands [sentinel_connection]
            if {$role eq "master"} {
                r REPLICAOF 127.0.0.1 1
            }
            foreach command [list MULTI "SLAVEOF $target" "CONFIG REWRITE" "CLIENT KILL TYPE normal" \
                "CLIENT KILL TYPE pubsub"] {
                assert {[$commands call {*}$command] in {OK QUEUED}}
            }
            lassign [$commands call EXEC] slaveof rewrite killed others
            assert_equal "$slaveof $rewrite $others" "OK OK 1"
            assert {$killed >= 2}
            assert {[catch {$other call PING}] && [catch {$subscriber read}]}
            assert_equal [regexp -all -line {^replicaof 127.0.0.1 1$} \
                [read_file [$current_server folder]/packlist.conf]] [expr {$role eq "slave"}]
            assert_equal [regexp -all -line {^user sentinel on .*#} \
                [read_file [$current_server folder]/packlist.conf]] 1
            lindex [$commands call ROLE] 0
        }
    } $role
}
check_in 2 "a Sentinel's user may do nothing else" {
    with_server [list user "sentinel $sentinel_rules"] {
        set commands [sentinel_connection]
        foreach {command name} {
            {GET k} get {SET k v} set {CONFIG GET *} config|get {CONFIG SET hz 10} config|set {ACL LIST} acl|list
            {CLIENT LIST} client|list {REPLICAOF NO ONE} replicaof {SHUTDOWN NOSAVE} shutdown
            {EVAL "return 1" 0} eval {SCRIPT FLUSH} script|flush {PSUBSCRIBE *} psubscribe {DEBUG SLEEP 0} debug
        } {
            assert_equal [error_of {$commands call {*}$command}] \
                "NOPERM User sentinel has no permissions to run the '$name' command"
        }
    }
}
check_in 2 "a Sentinel whose user loses the channels is disconnected from the channel, and keeps its other connection" {
    with_server [list user "sentinel $sentinel_rules"] {
        set commands [sentinel_connection]
        set channel [sentinel_connection]
        $channel call SUBSCRIBE __sentinel__:hello
        r ACL SETUSER sentinel resetchannels &__sentinel__:*
        assert_equal [$commands call PUBLISH __sentinel__:hello hi] 1
        assert_equal [$channel read] {message __sentinel__:hello hi}
        r ACL SETUSER sentinel resetchannels &other
        assert {[catch {$channel read}]}
        list [$commands call PING] [error_of {$commands call PUBLISH __sentinel__:hello hi}]
    }
} {PONG {NOPERM No permissions to access a channel}}

finish
