# What closes commands to a client closes its very next one, and what opens them again opens that: whoever changes it,
# and wherever the next command stands: in a connection of its own, in the same pipeline, in a script.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start
set replica_of_nobody [list REPLICAOF 127.0.0.1 [free_port]]

# The kinds of callers: the default user, who may do everything; the same one as it tracks keys; and a user whose
# rights are asked for at each command.
proc caller {kind} {
    r ACL SETUSER guest reset on nopass ~* &ch +@all
    set c [client_open]
    switch $kind {
        tracking {$c call CLIENT TRACKING on BCAST PREFIX none}
        guest {$c call AUTH guest x}
    }
    return $c
}

# Returns the first word of a reply: an error's code.
proc code_of {reply} {
    return [lindex [split [regsub {^\(error\) } $reply {}]] 0]
}

proc codes {client requests} {
    return [lmap reply [$client pipeline $requests] {code_of $reply}]
}

# `closing` refuses `request` with `code`, `opening` ends that.
proc assert_closes {kind request closing code opening} {
    set c [caller $kind]
    r SET k v
    set admin [client_open]
    set seen [codes $c [list $request]]
    foreach change [list $closing $opening] {
        $admin call {*}$change
        lappend seen {*}[codes $c [list $request]]
    }
    set what "$kind: $request, $closing"
    if {$seen ne [list OK $code OK]} {
        error "$what by another client: $seen"
    }
    set seen [codes $c [list $request $closing $request $opening $request]]
    if {$seen ne [list OK OK $code OK OK]} {
        error "$what in a pipeline: $seen"
    }
    $c close
}

set write {SET k v}
set script {EVAL {return redis.pcall(unpack(ARGV))} 0 SET k v}
proc inputs {} {
    global write script replica_of_nobody
    return [list \
        $write {CONFIG SET maxmemory 1} OOM {CONFIG SET maxmemory 0} \
        $script {CONFIG SET maxmemory 1} OOM {CONFIG SET maxmemory 0} \
        $write {CONFIG SET min-replicas-to-write 1} NOREPLICAS {CONFIG SET min-replicas-to-write 0} \
        $script {CONFIG SET min-replicas-to-write 1} NOREPLICAS {CONFIG SET min-replicas-to-write 0} \
        $write $replica_of_nobody READONLY {REPLICAOF NO ONE} \
        $script $replica_of_nobody READONLY {REPLICAOF NO ONE}]
}

foreach kind {default tracking guest} {
    check_in 2 "memory, replicas and roles close the next command ($kind)" {
        foreach {request closing code opening} [inputs] {
            assert_closes $kind $request $closing $code $opening
        }
    }
    check_in 2 "a snapshot that has failed closes the next write, also a script's ($kind)" {
        with_server {save "900 1" stop-writes-on-bgsave-error no} {
            file mkdir [$current_server folder]/dump.rdb
            r BGSAVE
            wait_until {[info_field rdb_last_bgsave_status] eq "err"}
            foreach request [list $write $script] {
                assert_closes $kind $request {CONFIG SET stop-writes-on-bgsave-error yes} MISCONF \
                    {CONFIG SET stop-writes-on-bgsave-error no}
            }
            file delete [$current_server folder]/dump.rdb
        }
    }
    check_in 2 "CLIENT PAUSE holds the next write back, in a pipeline, too ($kind)" {
        set c [caller $kind]
        foreach request [list $write $script] {
            $c send CLIENT PAUSE 9000 WRITE
            $c send {*}$request
            assert_equal [$c read] OK
            assert [$c is_silent]
            assert_equal [[client_open] call GET missing] (nil)
            r CLIENT UNPAUSE
            assert_equal [$c read] OK
        }
    }
    check_in 2 "a client that is in MULTI, or listens, may do less from the next command on ($kind)" {
        set c [caller $kind]
        list [codes $c {MULTI {WATCH k} EXEC {WATCH k}}] \
            [codes $c {{SUBSCRIBE ch} {SET k v} {UNSUBSCRIBE ch} {SET k v}}] \
            [codes $c {MONITOR {SET k v} RESET {SET k v}}]
    } {{OK ERR {} OK} {subscribe ERR unsubscribe OK} {OK ERR RESET OK}}
}

# --- The user and its rights

set less {ACL SETUSER guest -set}
set all {ACL SETUSER guest +@all}
check_in 2 "rights that change count for the next command of each of the user's clients" {
    foreach request [list $write $script] code {NOPERM ERR} {
        assert_closes guest $request $less $code $all
    }
    # From everything to less, and back.
    r ACL SETUSER guest reset on nopass ~* &* +@all
    set c [client_open]
    $c call AUTH guest x
    codes $c [list $write $less $write $script $all $write {ACL SETUSER guest resetkeys ~other} $write $script]
} {OK OK NOPERM ERR OK OK OK NOPERM ERR}
check_in 2 "so do they within EXEC, and behind it" {
    set c [caller guest]
    set replies [$c pipeline [list MULTI $write $less $write $script $all $write $less EXEC $write $all $write]]
    list [lmap reply [lindex $replies 8] {code_of $reply}] [lmap reply [lrange $replies 9 end] {code_of $reply}]
} {{OK OK NOPERM ERR OK OK OK} {NOPERM OK OK}}
check_in 2 "who becomes another user has that one's rights from the next command on" {
    r ACL SETUSER reader reset on nopass ~* +@read +auth +reset +hello
    codes [client_open] {{SET k v} {AUTH reader x} {SET k v} RESET {SET k v} {HELLO 2 AUTH reader x} {SET k v}
        {AUTH default x} {SET k v}}
} {OK OK NOPERM RESET OK server NOPERM OK OK}
check_in 2 "rights that an ACL file changes, or that end with the user, count at once" {
    set path [$current_server folder]/users.acl
    write_file $path "user guest on nopass ~* +@all\n"
    with_server [list aclfile $path] {
        set c [client_open]
        $c call AUTH guest x
        set seen [codes $c {{SET k v}}]
        write_file $path "user guest on nopass ~* +@all -set\n"
        lappend seen {*}[codes $c {{ACL LOAD} {SET k v}}]
        write_file $path "user guest on nopass ~* &* +@all\n"
        r ACL LOAD
        lappend seen {*}[codes $c {{SET k v}}]
        write_file $path ""
        r ACL LOAD
        list $seen [$c is_closed]
    }
} {{OK OK NOPERM OK} 1}
check_in 2 "a client that waits is asked again, whatever was changed in between" {
    set c [caller guest]
    $c send BLPOP list 0
    wait_blocked 1
    r ACL SETUSER guest -blpop
    r ACL SETUSER guest +blpop
    r CONFIG SET maxmemory 1
    r CONFIG SET maxmemory 0
    r RPUSH list a
    set first [$c read]
    $c send BLPOP list 0
    wait_blocked 1
    r MULTI
    r RPUSH list b
    r ACL SETUSER guest -blpop
    r EXEC
    list $first [code_of [error_of {$c read}]] [r LRANGE list 0 -1]
} {{list a} NOPERM b}
check_in 2 "a password that is set or removed counts for those who have not logged in" {
    with_server {requirepass word} {
        set c [client_open]
        set seen [codes $c {{SET k v} {AUTH word} {SET k v}}]
        set stranger [client_open]
        lappend seen {*}[codes $stranger {{SET k v}}]
        $c call CONFIG SET requirepass ""
        lappend seen {*}[codes $stranger {{SET k v}}]
        $c call ACL SETUSER default >other
        lappend seen {*}[codes $stranger {{SET k v} RESET {SET k v}}]
    }
} {NOAUTH OK OK NOAUTH OK OK RESET NOAUTH}

finish
