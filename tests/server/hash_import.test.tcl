# HIMPORT: hashes whose fields a client has named before.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl

server_start {appendonly yes appendfsync no}

check "HIMPORT SET stores a hash of the prepared fields" {
    list [typed HIMPORT PREPARE user name age] [typed HIMPORT SET ann user Ann 40] [r HIMPORT SET bob user Bob 50] \
        [r HGETALL ann] [r HGETALL bob]
} {{simple OK} {simple OK} OK {name Ann age 40} {name Bob age 50}}
check "HIMPORT SET overwrites a hash, with its expiry and other fields, and nothing else" {
    r HIMPORT PREPARE f a b
    r RPUSH list x
    r HSET hash a 1 c 2
    r EXPIRE hash 100
    r HIMPORT SET hash f 1 2
    list [string match "WRONGTYPE *" [error_of {r HIMPORT SET list f 1 2}]] [r LRANGE list 0 -1] [r HGETALL hash] \
        [r TTL hash]
} {1 x {a 1 b 2} -1}
check "names are of the connection, can be given again, and are discarded" {
    r HIMPORT PREPARE f a
    r HIMPORT PREPARE g b
    r HIMPORT PREPARE f c d
    r HIMPORT SET k f 1 2
    set other [client_open]
    set missing "ERR no such fieldset"
    assert_equal [error_of {$other call HIMPORT SET k f 1 2}] $missing
    assert_equal [list [typed HIMPORT DISCARD f] [typed HIMPORT DISCARD f] [r HIMPORT DISCARD none]] {{int 1} {int 0} 0}
    assert_equal [error_of {r HIMPORT SET k f 1 2}] $missing
    assert_equal [r HIMPORT SET k2 g 1] OK
    assert_equal [list [typed HIMPORT DISCARDALL] [r HIMPORT DISCARDALL]] {{int 1} 0}
    assert_equal [error_of {r HIMPORT SET k g 1}] $missing
    r HGETALL k
} {c 1 d 2}
check_in 2 "RESET forgets what is prepared" {
    r HIMPORT PREPARE f a
    r RESET
    error_of {r HIMPORT SET k f 1}
} "ERR no such fieldset"
check "HIMPORT refuses what does not fit" {
    r HIMPORT PREPARE f a b
    foreach {arguments text} {
        {PREPARE x a b a} "duplicate field name"
        {PREPARE x} "wrong number of arguments for 'himport|prepare' command"
        {SET k f 1} "value count does not match the number of fields"
        {SET k f 1 2 3} "value count does not match the number of fields"
        {SET k f} "wrong number of arguments for 'himport|set' command"
        {SET k none 1} "no such fieldset"
        {DISCARD} "wrong number of arguments for 'himport|discard' command"
        {DISCARDALL x} "wrong number of arguments for 'himport|discardall' command"
        {FROB} "unknown subcommand 'FROB'. Try HIMPORT HELP."
    } {
        assert_equal [error_of {r HIMPORT {*}$arguments}] "ERR $text"
    }
    list [r EXISTS k x] [lindex [r HIMPORT HELP] 0]
} {0 {HIMPORT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:}}
check "HIMPORT SET runs in a transaction, not in a script" {
    r HIMPORT PREPARE f a
    r MULTI
    r HIMPORT SET k f 1
    r HIMPORT SET k f 2
    list [r EXEC] [r HGETALL k] [string match "*not allowed from script*" [error_of {
        r EVAL {return redis.call("HIMPORT", "SET", KEYS[1], "f", "1")} 1 k}]]
} {{OK OK} {a 2} 1}
check "what is prepared counts as memory of the client, and is bounded" {
    r CLIENT SETNAME me
    regexp {tot-mem=(\d+)} [r CLIENT INFO] _ before
    r HIMPORT PREPARE big [string repeat x 100000]
    regexp {tot-mem=(\d+)} [r CLIENT INFO] _ with
    r HIMPORT DISCARDALL
    regexp {tot-mem=(\d+)} [r CLIENT INFO] _ after
    assert {$with - $before > 100000 && $after - $before < 1000}
    for {set i 0} {$i < 1024} {incr i} {
        r HIMPORT PREPARE $i f
    }
    list [error_of {r HIMPORT PREPARE more f}] [r HIMPORT PREPARE 5 g] [r HIMPORT SET k 5 v]
} {{ERR this client has prepared too many fields} OK OK}
check "HIMPORT PREPARE that is refused keeps the fields of before" {
    r HIMPORT DISCARDALL
    r CONFIG SET client-query-buffer-limit 1048576
    r HIMPORT PREPARE a f
    r HIMPORT PREPARE b [string repeat b 600000]
    r HIMPORT PREPARE c [string repeat c 600000]
    set refused [error_of {r HIMPORT PREPARE a g}]
    set kept [r HIMPORT SET k a 1]
    r HIMPORT DISCARDALL
    r CONFIG SET client-query-buffer-limit 1gb
    list $refused $kept [r HGETALL k]
} {{ERR this client has prepared too many fields} OK {f 1}}
check "HIMPORT SET is propagated as HSET, behind DEL where there was a key" {
    r HIMPORT PREPARE f a b
    propagated_by {
        r HIMPORT SET k f 1 2
        r HIMPORT SET k f 3 4
        error_of {r HIMPORT SET k f 3}
    }
} {{HSET k a 1 b 2} MULTI {DEL k} {HSET k a 3 b 4} EXEC}
check "a user needs the right to write the key" {
    r ACL SETUSER limited on nopass +@all ~a*
    set other [client_open]
    $other call AUTH limited any
    $other call HIMPORT PREPARE f x
    set replies [list [$other call HIMPORT SET a f 1] [error_of {$other call HIMPORT SET b f 1}]]
    r ACL DELUSER limited
    set replies
} {OK {NOPERM No permissions to access a key}}

finish
