# WAITAOF: a client waits until its changes are on the disk.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/faults.tcl

server_start

set disabled "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."

# --- Arguments

foreach {arguments error} {
    {2 0 0} "ERR value is out of range, value must between 0 and 1"
    {-1 0 0} "ERR value is out of range, value must between 0 and 1"
    {x 0 0} "ERR value is not an integer or out of range"
    {0 -1 0} "ERR value is out of range, must be positive"
    {0 x 0} "ERR value is out of range, must be positive"
    {1 x y} "ERR value is out of range, must be positive"
    {0 0 x} "ERR timeout is not an integer or out of range"
    {0 0 -1} "ERR timeout is negative"
    {1 0 -1} "ERR timeout is negative"
    {0 1 9223372036854775807} "ERR timeout is out of range"
    {1 0 0} "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
    {1 1 0} "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
} {
    check_error "WAITAOF $arguments is refused without an append-only file" [list r WAITAOF {*}$arguments] $error
}
check "WAITAOF for zero copies replies at once; without an append-only file nothing is on the disk" {
    r SET k v
    typed WAITAOF 0 0 0
} {array {{int 0} {int 0}}}
check "WAITAOF waits for replicas until its timeout" {r WAITAOF 0 1 20} {0 0}

# --- Waiting

# With appendfsync no the server does not call fsync, so nothing is on the disk.
check_in {2 3} "WAITAOF replies once fsync was called for the changes of its client, not before" {
    with_faulty_server {appendonly yes appendfsync no} {
        faults {sync sleep=1 *.incr.aof}
        r SET k v
        assert_equal [r WAITAOF 0 0 0] {0 0}
        assert_equal [r WAITAOF 1 0 20] {0 0}
        set client [client_open]
        $client write [request {SET l w}][request {WAITAOF 1 0 0}][request PING]
        assert_equal [$client read] OK
        wait_blocked 1
        assert {[$client is_silent 50]}
        assert_equal [fault_hits "sync * *.incr.aof"] {}
        r CONFIG SET appendfsync everysec
        assert_equal [list [$client read] [$client read]] {{1 0} PONG}
        assert {[llength [fault_hits "sync * *.incr.aof"]] > 0}
        r WAITAOF 0 0 0
    }
} {1 0}
check_in 2 "WAITAOF does not wait for changes of other clients" {
    with_aof {appendfsync no} {
        set other [client_open]
        assert_equal [$other call WAITAOF 1 0 0] {1 0}
        r SET k v
        assert_equal [$other call WAITAOF 1 0 0] {1 0}
        r WAITAOF 0 0 0
    }
} {0 0}
check_in 2 "with appendfsync always every acknowledged change is on the disk" {
    with_aof {appendfsync always} {
        r SET k v
        list [r WAITAOF 0 0 0] [r WAITAOF 1 0 0] [r WAITAOF 1 1 20]
    }
} {{1 0} {1 0} {1 0}}
check "with appendfsync always, in one pipeline with the change" {
    with_aof {appendfsync always} {
        [default_client] pipeline {{SET k v} {WAITAOF 1 0 0} {GET k}}
    }
} {OK {1 0} v}
check "WAITAOF in MULTI does not wait" {
    with_aof {appendfsync no} {
        r SET k v
        r MULTI
        r WAITAOF 1 0 0
        r WAITAOF 0 1 0
        r EXEC
    }
} {{0 0} {0 0}}
check_in 2 "a blocking command that is served counts as a change of its client" {
    with_aof {appendfsync no} {
        set client [client_blocked BLPOP l 0]
        r RPUSH l a
        assert_equal [$client read] {l a}
        $client call WAITAOF 0 0 0
    }
} {0 0}
check "CLIENT UNBLOCK ends the wait" {
    with_aof {appendfsync no} {
        set client [client_open]
        $client call SET k v
        set id [$client call CLIENT ID]
        set seen {}
        foreach how {TIMEOUT ERROR} {
            $client send WAITAOF 1 0 0
            wait_blocked 1
            assert_equal [r CLIENT UNBLOCK $id $how] 1
            lappend seen [$client read_typed]
        }
        set seen
    }
} {{array {{int 0} {int 0}}} {error {UNBLOCKED client unblocked via CLIENT UNBLOCK}}}
check_in 2 "a client that closes while it waits leaves nothing behind" {
    with_aof {appendfsync no} {
        set first [client_open]
        set second [client_open]
        foreach client {first second} {
            [set $client] call SET k v
            [set $client] send WAITAOF 1 0 0
        }
        wait_blocked 2
        $first close
        wait_blocked 1
        r CONFIG SET appendfsync everysec
        $second read
    }
} {1 0}

# --- The file is turned off and on

check "turning the append-only file off ends the wait with an error" {
    with_aof {appendfsync no} {
        set client [client_open]
        $client call SET k v
        $client send WAITAOF 1 0 0
        wait_blocked 1
        r CONFIG SET appendonly no
        list [$client read_typed] [r WAITAOF 0 0 0]
    }
} [list [list error $disabled] {0 0}]
check_in 2 "turning it on: nothing is on the disk before the first base is" {
    with_faulty_server {} {
        r SET before 1
        faults {sync hold temp-rewriteaof*}
        r CONFIG SET appendonly yes
        r SET k v
        assert_equal [r WAITAOF 0 0 0] {0 0}
        assert_equal [info_field aof_rewrite_in_progress] 1
        [default_client] send WAITAOF 1 0 0
        wait_blocked 1
        faults
        assert_equal [[default_client] read] {1 0}
        assert_equal [info_field aof_rewrite_in_progress] 0
        r WAITAOF 0 0 0
    }
} {1 0}
check_in 2 "a rewrite during the wait does not disturb it" {
    with_aof {appendfsync no} {
        set client [client_open]
        $client call SET k v
        $client send WAITAOF 1 0 0
        wait_blocked 1
        r BGREWRITEAOF
        $client read
    }
} {1 0}
check_in 2 "after a failed fsync nothing counts as on the disk until a rewrite has succeeded" {
    with_faulty_server {appendonly yes appendfsync everysec} {
        faults {sync EIO *.incr.aof} {sync EIO temp-rewriteaof*}
        set client [client_open]
        $client call SET k v
        $client send WAITAOF 1 0 0
        wait_until {[info_field aof_last_write_status] eq "err"}
        assert {[$client is_silent 50]}
        faults
        assert_equal [$client read] {1 0}
        assert_equal [info_field aof_last_write_status] ok
        server_again crash
        r GET k
    }
} v

finish
