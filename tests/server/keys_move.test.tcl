# RENAME RENAMENX COPY MOVE SWAPDB TOUCH WAIT: keys that get another name or another database, with
# their values, and clients that wait for them.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

set no_such_key "ERR no such key"
set same_object "ERR source and destination objects are the same"
set bad_database "ERR DB index is out of range"

# The value of a key, of whatever type; (none) when there is none.
proc value_of {key} {
    switch [r TYPE $key] {
        string {return [r GET $key]}
        list {return [list_of $key]}
        none {return (none)}
    }
}

# Makes the key `key` in each way in which a value is stored, and runs the body with $value.
proc for_each_value {key body} {
    upvar 1 value value
    foreach value [list 12 "a text" [string repeat long 100] [string repeat x 100000]] {
        r DEL $key
        r SET $key $value
        uplevel 1 $body
    }
    foreach value [list a $::element_kinds [numbered 1 2000] [numbered 1 3000 element]] {
        r DEL $key
        r RPUSH $key {*}$value
        uplevel 1 $body
    }
}

# --- RENAME, RENAMENX

foreach {command reply} {RENAME {simple OK} RENAMENX {int 1}} {
    check "$command moves any value to another name" [string map [list @ $command % $reply] {
        for_each_value from {
            set encoding [r OBJECT ENCODING from]
            r DEL "another name"
            assert_equal [typed @ from "another name"] {%}
            assert_equal [value_of "another name"] $value
            assert_equal [list [r OBJECT ENCODING "another name"] [r EXISTS from]] [list $encoding 0]
        }
        r DBSIZE
    }] 1
    check "$command carries the expiry over" [string map [list @ $command] {
        r SET a 1
        r PEXPIREAT a 4102444800123
        r @ a [string repeat b 300]
        list [r PEXPIRETIME [string repeat b 300]] [r TTL a]
    }] {4102444800123 -2}
    check "$command moves between names of every length" [string map [list @ $command] {
        set name k
        r RPUSH k 1 2 3
        foreach length {0 1 31 32 255 256 70000 40 3} {
            set longer [string repeat n $length]
            r @ $name $longer
            set name $longer
        }
        list [list_of nnn] [r DBSIZE]
    }] {{1 2 3} 1}
    check_error "$command refuses a key that is not there" [list r $command nosuch k] $no_such_key
    check_error "$command refuses a missing key under its own name" [list r $command nosuch nosuch] $no_such_key
    check "$command takes two keys" [string map [list @ $command] {
        foreach arguments {{} a {a b c}} {
            assert_equal [error_of {r @ {*}$arguments}] \
                "ERR wrong number of arguments for '[string tolower @]' command"
        }
    }]
    check "$command wakes a client that waits for the new name" [string map [list @ $command] {
        set waiting [client_blocked BLPOP to 0]
        r RPUSH from a b
        r @ from to
        list [$waiting read] [list_of to]
    }] {{to a} b}
    check "$command of a string wakes no client" [string map [list @ $command] {
        set waiting [client_blocked BLPOP to 0]
        r SET from text
        r @ from to
        assert {[$waiting is_silent 20]}
        r DEL to
        r RPUSH to a
        $waiting read
    }] {to a}
}
check "RENAME puts the value in the place of another, which loses its expiry" {
    foreach {old new} {{SET b old} {SET a new} {RPUSH b old} {SET a new} {SET b old} {RPUSH a new}} {
        r FLUSHALL
        r {*}$old
        r EXPIRE b 100
        r {*}$new
        assert_equal [r RENAME a b] OK
        assert_equal [list [value_of b] [r TTL b] [r DBSIZE]] {new -1 1}
    }
}
check "RENAME to its own name changes nothing" {
    r SET a 1
    r EXPIRE a 100
    assert_equal [list [r RENAME a a] [r GET a]] {OK 1}
    set ttl [r TTL a]
    expr {$ttl > 90 && $ttl <= 100}
} 1
check "RENAMENX to a name in use changes nothing" {
    r SET a 1
    r SET b 2
    list [typed RENAMENX a b] [r RENAMENX a a] [r MGET a b]
} {{int 0} 0 {1 2}}
check "RENAMENX to the name of a key that has expired" {
    r SET a 1
    r SET b 2 PX 1
    after 5
    list [r RENAMENX a b] [r GET b] [r TTL b]
} {1 1 -1}
check "a chain of renames serves waiters in order" {
    set first [client_blocked BLPOP c 0]
    set second [client_blocked BRPOP c 0]
    r RPUSH a 1 2 3
    r RENAME a b
    r RENAME b c
    list [$first read] [$second read] [list_of c]
} {{c 1} {c 3} 2}

# --- COPY

check "COPY makes an equal value that is independent" {
    for_each_value from {
        r DEL to
        assert_equal [typed COPY from to] {int 1}
        assert_equal [list [value_of from] [value_of to]] [list $value $value]
        assert_equal [r OBJECT ENCODING to] [r OBJECT ENCODING from]
        if {[r TYPE to] eq "list"} {
            r LSET to 0 other
            r RPUSH from more
        } else {
            r APPEND to more
        }
        assert {[lindex [value_of from] 0] eq [lindex $value 0]}
    }
}
check_lists "COPY copies nodes as they are" {
    with_config {list-compress-depth 1} {
        make_list from [numbered 1 400 [string repeat x 30]]
        r COPY from to
        if {$storage ne "listpack"} {
            assert_equal [object_field to ql_nodes] [object_field from ql_nodes]
            assert_equal [object_field to ql_uncompressed_size] [object_field from ql_uncompressed_size]
        }
        assert_equal [object_field to serializedlength] [object_field from serializedlength]
        r DEL from
        assert_equal [list_of to] [numbered 1 400 [string repeat x 30]]
    }
}
check "COPY carries the expiry over" {
    r SET a 1 PX 100000
    r SET b 2
    r COPY a c
    r COPY b a REPLACE
    list [expr {[r PTTL c] > 90000}] [r TTL a] [r GET a]
} {1 -1 2}
check "COPY replaces a key only with REPLACE" {
    r SET a 1
    r RPUSH b old
    assert_equal [r COPY a b] 0
    assert_equal [list_of b] old
    list [r COPY a b REPLACE] [r GET b] [r COPY nosuch b] [r COPY nosuch b replace] [r GET b]
} {1 1 0 0 1}
check "COPY copies to another database" {
    r RPUSH l 1 2 3
    assert_equal [r COPY l l DB 3] 1
    assert_equal [r COPY l l DB 3] 0
    assert_equal [r COPY l m replace db 3 DB 2] 1
    r SELECT 3
    assert_equal [list [list_of l] [r DBSIZE]] {{1 2 3} 1}
    r SELECT 2
    list [list_of m] [r DBSIZE]
} {{1 2 3} 1}
check "COPY refuses what it cannot do" {
    foreach {arguments error} [list \
        {a a} $same_object {a a DB 0} $same_object {nosuch nosuch} $same_object {a a REPLACE} $same_object \
        {a b x} "ERR syntax error" {a b DB} "ERR syntax error" {a b REPLACE DB} "ERR syntax error" \
        {a b DB 16} $bad_database {a b DB -1} $bad_database {a b DB x} $not_integer \
        {a b DB 99999999999} "ERR value is out of range, value must between -2147483648 and 2147483647" \
    ] {
        assert_equal [error_of {r COPY {*}$arguments}] $error
    }
    r DBSIZE
} 0
check "COPY wakes a client that waits for the copy, in its database" {
    set here [client_blocked BLPOP to 0]
    set there [client_open]
    $there call SELECT 5
    $there send BLPOP to 0
    wait_blocked 2
    r RPUSH from a b
    r COPY from to DB 5
    assert_equal [$there read] {to a}
    assert {[$here is_silent 20]}
    r COPY from to
    list [$here read] [list_of from]
} {{to a} {a b}}

# --- MOVE

check "MOVE takes a key to another database, with its expiry" {
    for_each_value k {
        r PEXPIREAT k 4102444800123
        assert_equal [typed MOVE k 9] {int 1}
        assert_equal [r DBSIZE] 0
        r SELECT 9
        assert_equal [list [value_of k] [r PEXPIRETIME k]] [list $value 4102444800123]
        r DEL k
        r SELECT 0
    }
}
check "MOVE changes nothing when there is such a key, or none to move" {
    r SET k 0
    r SELECT 1
    r SET k 1
    r SELECT 0
    assert_equal [list [r MOVE k 1] [r MOVE nosuch 1] [r GET k]] {0 0 0}
    r SELECT 1
    r GET k
} 1
check "MOVE refuses what it cannot do" {
    foreach {arguments error} [list {k 0} $same_object {nosuch 0} $same_object {k 16} $bad_database \
        {k -1} $bad_database {k x} $not_integer {k ""} $not_integer {k} \
        "ERR wrong number of arguments for 'move' command"] {
        assert_equal [error_of {r MOVE {*}$arguments}] $error
    }
}
check "MOVE with REPLACE moves a key over another one, with its expiry" {
    r SELECT 1
    r RPUSH k to
    r SELECT 0
    r SET k from EX 100
    set replies [list [r MOVE k 1] [r MOVE k 1 replace] [r EXISTS k] [r MOVE k 1 REPLACE]]
    r SELECT 1
    lappend replies [r GET k] [r TTL k] [r DEL k]
} {0 1 0 0 from 100 1}
check "MOVE with REPLACE moves to where there is no key, and touches who watches either" {
    set others [lmap database {0 1} {
        set other [client_open]
        $other call SELECT $database
        $other call WATCH k
        set other
    }]
    r SET j x
    r SET k 1
    r MOVE k 1 REPLACE
    lmap other $others {
        $other call MULTI
        $other call PING
        $other call EXEC
    }
} {(nil) (nil)}
check "MOVE with REPLACE takes no other word" {
    r SET k 1
    list [error_of {r MOVE k 1 FROB}] [error_of {r MOVE k 1 REPLACE x}] [error_of {r MOVE k 0 REPLACE}]
} {{ERR syntax error} {ERR syntax error} {ERR source and destination objects are the same}}
check "MOVE wakes a client that waits in the other database" {
    set there [client_open]
    $there call SELECT 1
    $there send BRPOP l 0
    wait_blocked 1
    r RPUSH l a b
    r MOVE l 1
    $there read
} {l b}

# --- SWAPDB

check "SWAPDB exchanges the keys of two databases, for all clients" {
    r SET k zero
    r EXPIRE k 100
    set other [client_open]
    $other call SELECT 7
    $other call RPUSH l 1 2
    assert_equal [typed SWAPDB 0 7] {simple OK}
    assert_equal [list [r GET k] [list_of l] [$other call GET k] [$other call TTL k]] {(nil) {1 2} zero 100}
    r SWAPDB 7 7
    r SWAPDB 7 0
    list [r GET k] [r EXISTS l] [$other call LRANGE l 0 -1]
} {zero 0 {1 2}}
check "SWAPDB wakes clients that wait for a key that is there now, in both databases" {
    set in_zero [client_blocked BLPOP l s 0]
    set in_one [client_open]
    $in_one call SELECT 1
    $in_one send BLPOP l s 0
    wait_blocked 2
    r SELECT 2
    r RPUSH l two
    r SET s text
    r SWAPDB 1 2
    assert_equal [$in_one read] {l two}
    assert {[$in_zero is_silent 20]}
    r RPUSH l again
    r SWAPDB 2 0
    $in_zero read
} {l again}
check "SWAPDB refuses what is no database" {
    foreach {arguments error} [list {a 0} "ERR invalid first DB index" {0 a} "ERR invalid second DB index" \
        {99999999999 0} "ERR invalid first DB index" {0 16} $bad_database {-1 0} $bad_database {16 16} $bad_database \
        {0} "ERR wrong number of arguments for 'swapdb' command"] {
        assert_equal [error_of {r SWAPDB {*}$arguments}] $error
    }
}
check "a transaction that watches a key fails when a swap brings another value" {
    foreach {watched swaps expected} {k {0 1} (nil) nosuch {0 1} 1 k {1 2} 1 k {0 0} 1} {
        r FLUSHALL
        r SET k zero
        r WATCH $watched
        r SWAPDB {*}$swaps
        r MULTI
        r INCR counter
        assert_equal [r EXEC] $expected
        r UNWATCH
    }
}
foreach {name change} {
    RENAME {r RENAME k other} "RENAME over it" {r RENAME other k} COPY {r COPY other k REPLACE} MOVE {r MOVE k 3}
} {
    check "a transaction that watches a key fails after $name" [string map [list % $change] {
        r SET k 1
        r SET other 2
        r WATCH k
        %
        r MULTI
        r PING
        r EXEC
    }] (nil)
}

# --- TOUCH

check "TOUCH counts keys as often as they are named" {
    r SET a 1
    r RPUSH b 1
    list [typed TOUCH a nosuch b a] [r TOUCH nosuch]
} {{int 3} 0}
check_in 2 "TOUCH marks keys as used, even for a client that leaves no marks" {
    r SET a 1
    r SET b 1
    r CLIENT NO-TOUCH on
    wait_until {[r OBJECT IDLETIME b] >= 1}
    lassign [[default_client] pipeline {{MGET a b} {TOUCH a} {OBJECT IDLETIME a} {OBJECT IDLETIME b}}] _ _ a b
    list $a [expr {$b >= 1}]
} {0 1}
check_error "TOUCH needs a key" {r TOUCH} "ERR wrong number of arguments for 'touch' command"

# --- WAIT

check "WAIT for no replica is answered at once" {
    list [typed WAIT 0 0] [r WAIT 0 1000] [r WAIT -1 0]
} {{int 0} 0 0}
check "WAIT ends with its timeout, as there are no replicas" {
    assert {[elapsed_ms {set reply [typed WAIT 1 60]}] >= 55}
    set reply
} {int 0}
check "WAIT without a timeout waits until the client is unblocked" {
    set waiting [client_open]
    set id [$waiting call CLIENT ID]
    $waiting send WAIT 2 0
    wait_blocked 1
    assert {[$waiting is_silent 20]}
    r CLIENT UNBLOCK $id
    assert_equal [$waiting read_typed] {int 0}
    $waiting send WAIT 2 0
    wait_blocked 1
    r CLIENT UNBLOCK $id ERROR
    $waiting read_typed
} {error {UNBLOCKED client unblocked via CLIENT UNBLOCK}}
check "what follows WAIT in a pipeline is run after it" {
    set c [client_open]
    set before [clock milliseconds]
    $c write "WAIT 1 50\r\nSET k 1\r\nGET k\r\n"
    assert_equal [list [$c read] [$c read] [$c read]] {0 OK 1}
    expr {[clock milliseconds] - $before >= 45}
} 1
check "WAIT does not wait in a transaction" {
    r MULTI
    r WAIT 1 0
    r EXEC
} 0
check "WAIT refuses what is no number or no time" {
    foreach {arguments error} [list {x 0} $not_integer {1 x} "ERR timeout is not an integer or out of range" \
        {1 1.5} "ERR timeout is not an integer or out of range" {0 -1} "ERR timeout is negative" \
        {0 9223372036854775807} "ERR timeout is out of range" {1} "ERR wrong number of arguments for 'wait' command"] {
        assert_equal [error_of {r WAIT {*}$arguments}] $error
    }
}

finish
