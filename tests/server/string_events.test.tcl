# The events of string and bit commands, and the count of changes for save points.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {notify-keyspace-events AE}

# The events of the requests, as "event key", up to a message of our own.
proc events_of {requests} {
    set listener [client_open]
    $listener send PSUBSCRIBE __keyevent@0__:* end
    $listener read
    $listener read
    foreach request $requests {
        catch {r {*}$request}
    }
    r PUBLISH end ""
    set events {}
    while {[set message [$listener read]] ne [list message end ""] && [lindex $message 2] ne "end"} {
        lassign $message _ _ channel key
        lappend events "[lindex [split $channel :] end] $key"
    }
    $listener close
    return $events
}

# The same, and how many changes were counted.
proc changes_of {requests} {
    set before [info_field rdb_changes_since_last_save]
    set events [events_of $requests]
    return [list $events [expr {[info_field rdb_changes_since_last_save] - $before}]]
}

foreach {requests changes} {
    {{SET k 1}} {{{set k}} 1}
    {{SET k 1 EX 100} {SET k 2 KEEPTTL} {SET k 3 XX GET} {SET k 4 NX}} {{{set k} {expire k} {set k} {set k}} 3}
    {{SETNX k 1} {SETNX k 2}} {{{set k}} 1}
    {{SETEX k 100 1} {PSETEX k 100000 1}} {{{set k} {expire k} {set k} {expire k}} 2}
    {{GETSET k 1} {GETDEL k} {GETDEL k}} {{{set k} {del k}} 2}
    {{SET k 1} {GETEX k} {GETEX k EX 100} {GETEX k PERSIST} {GETEX k PERSIST} {GETEX k EXAT 1}}
    {{{set k} {expire k} {persist k} {del k}} 4}
    {{MSET a 1 b 2 a 3} {MSETNX c 1 d 2} {MSETNX e 1 a 2}} {{{set a} {set b} {set a} {set c} {set d}} 5}
    {{SET k 1 IFEQ x} {SET k 1 IFNE x} {SET k 2 IFEQ 1 EX 100} {DELEX k IFEQ 1} {DELEX k} {DELEX k}}
    {{{set k} {set k} {expire k} {del k}} 3}
    {{SET k 1} {DELIFEQ k 2} {DELIFEQ k 1} {DIGEST k}} {{{set k} {del k}} 2}
    {{MSETEX 2 a 1 b 2 EX 100} {MSETEX 2 a 1 c 2 NX} {MSETEX 1 a 3 KEEPTTL}}
    {{{set a} {expire a} {set b} {expire b} {set a}} 3}
    {{INCREX k UBOUND 0} {INCREX k EX 100} {INCREX k EX 100 ENX} {INCREX k BYFLOAT 1 PERSIST} {INCREX k PERSIST}
        {INCREX k EXAT 1}}
    {{{incrby k} {expire k} {incrby k} {incrbyfloat k} {persist k} {incrby k} {del k}} 5}
    {{APPEND k x} {APPEND k ""} {SETRANGE k 0 ""} {SETRANGE k 5 x}} {{{append k} {append k} {setrange k}} 3}
    {{INCR k} {DECRBY k 5} {INCRBYFLOAT k 1.5} {INCR k}} {{{incrby k} {incrby k} {incrbyfloat k}} 3}
    {{SETBIT k 5 0} {SETBIT k 5 0} {SETBIT k 5 1} {SETBIT k 100 0}} {{{setbit k} {setbit k} {setbit k}} 3}
    {{SET a x} {BITOP NOT k a} {BITOP AND k nosuch} {BITOP AND k nosuch}} {{{set a} {set k} {del k}} 3}
    {{BITFIELD k GET u8 0} {BITFIELD k SET u8 0 1 SET u8 8 0} {BITFIELD k SET u8 0 1 INCRBY u8 8 0}
        {BITFIELD k SET u8 0 2 INCRBY u8 0 1 SET u8 0 3} {BITFIELD k OVERFLOW FAIL SET u8 0 300}}
    {{{setbit k} {setbit k}} 4}
    {{GET k} {MGET a b} {LCS a b} {BITCOUNT a} {GETRANGE a 0 1}} {{} 0}
} {
    check "changes of: $requests" [list changes_of $requests] $changes
}

check "writes to a string touch the clients that watch its key" {
    set seen {}
    foreach request {
        {SET k 1} {APPEND k 1} {SETBIT k 100 1} {INCRBYFLOAT n 1} {BITOP OR k n} {GETEX k EX 100} {GETDEL k}
    } {
        set other [client_open]
        set watched [lindex $request [expr {[lindex $request 0] eq "BITOP" ? 2 : 1}]]
        $other call WATCH $watched
        r {*}$request
        $other call MULTI
        $other call PING
        lappend seen [$other call EXEC]
        $other close
    }
    set seen
} {(nil) (nil) (nil) (nil) (nil) (nil) (nil)}

finish
