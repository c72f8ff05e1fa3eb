# Clients that track keys, for tests in both protocols. Sourced after lib/packlist.tcl.
#
#   set c [tracker ?option …?]      a connection that has sent CLIENT TRACKING ON with these options. In RESP3 it gets
#                                   the messages itself, in RESP2 another one does, which listens to the channel
#   heard $c                        what was told since the last time, a list of lists of keys; (nil): all keys
#   reads $c command                sends it and returns what is told meanwhile and at once, too
#   tracking_flags $c               the flags of CLIENT TRACKINGINFO

proc tracker {args} {
    set c [client_open]
    if {$::protocol == 2} {
        set listener [client_open]
        set ::listener_of($c) $listener
        set redirect [list REDIRECT [$listener call CLIENT ID]]
        $listener call SUBSCRIBE __redis__:invalidate
        $c call CLIENT TRACKING ON {*}$redirect {*}$args
    } else {
        $c call CLIENT TRACKING ON {*}$args
    }
    return $c
}

# A PING comes after all that was told before.
proc heard {c} {
    set told {}
    if {$::protocol == 2} {
        set c $::listener_of($c)
    }
    $c send PING
    while {[lindex [set message [$c read]] 0] ni {PONG pong}} {
        lappend told [lindex $message end]
    }
    return $told
}

proc tracking_flags {c} {
    return [dict get [$c call CLIENT TRACKINGINFO] flags]
}
