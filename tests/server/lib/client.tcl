# client: one connection to a server, speaking RESP2 or RESP3 byte by byte, in plain Tcl.
#
#   set c [client_open]                 to the current server, in the current check's protocol
#   $c call LPUSH k a b                 sends, reads, returns the plain value; an error reply throws
#   $c typed LPUSH k a b                the same as {type value}; never throws for an error reply
#   $c send BLPOP k 0                   sends only; then
#   $c read  /  $c read_typed           reads one reply
#   $c pipeline {{PING} {ECHO hi}}      sends all at once; the list of plain values
#   $c write bytes  $c read_bytes n  $c read_line  $c read_available      the raw socket
#   $c is_silent ?ms?                   nothing arrives within so many milliseconds
#   $c shut_down                        closes the sending side
#   $c is_closed                        waits for the server to close; true when it did
#   $c close
#
# A *plain* value is what a user thinks of, the same in both protocols: text or number as is, arrays, sets and
# maps as a flat list, any null as (nil), booleans as 1 and 0, an error inside an array as "(error) text".
#
# A *typed* value keeps everything: {simple OK} {error {ERR …}} {int 3} {bulk abc} {double 1.5} {bool t}
# {bignum 12} {verbatim {txt abc}}, {array {typed typed …}} and so set, push, map (key value key value …),
# {bulkerror …}; and the three nulls: {nil} is RESP2's $-1, {nilarray} RESP2's *-1, {null} RESP3's _.
#
# All text is bytes: characters beyond \xff must be encoded by the test ([encoding convertto utf-8 …]).

# How long a reply, or whatever else is waited for, may take. Sanitized servers are slow, and so is a busy machine.
set patience_ms [expr {[info exists env(PACKLIST_SLOW)] ? 120000 : 60000}]

# How many servers within this process, fake ones, must go on while it waits for a reply.
set calls_run_events 0

# To wait in Tcl's event loop takes four times the CPU time of a read that blocks, as that has a thread for it. `call`
# and `pipeline` block, as their replies come soon; if one never does, tests/run ends the server. All others wait for
# what a defect may hold back: within patience_ms, and then they throw.
oo::class create client {
    variable socket wakeup is_blocking

    constructor {host port {protocol 2}} {
        set socket [socket $host $port]
        set is_blocking 1
        chan configure $socket -translation binary -buffering full -buffersize 65536
        if {$protocol == 3} {
            my call HELLO 3
        }
    }

    # Closes the sending side only.
    method shut_down {} {
        chan close $socket write
    }

    destructor {
        catch {chan close $socket}
    }

    method close {} {
        my destroy
    }

    method call {args} {
        my begin_call [request $args]
        return [my result_of [next_typed [self] $socket]]
    }

    method typed {args} {
        my begin_call [request $args]
        return [next_typed [self] $socket]
    }

    method send {args} {
        my write [request $args]
    }

    method pipeline {requests} {
        set bytes ""
        foreach arguments $requests {
            append bytes [request $arguments]
        }
        my begin_call $bytes
        return [lmap arguments $requests {plain_value [next_typed [self] $socket]}]
    }

    method read {} {
        return [my result_of [my read_typed]]
    }

    method read_typed {} {
        my block 0
        return [next_typed [self] $socket]
    }

    method write {bytes} {
        if {!$is_blocking} {
            my block 1
        }
        puts -nonewline $socket $bytes
        flush $socket
    }

    method begin_call {bytes} {
        my write $bytes
        if {$::calls_run_events} {
            my block 0
        }
    }

    method result_of {typed} {
        if {[lindex $typed 0] in {error bulkerror}} {
            throw {REPLY ERROR} [lindex $typed 1]
        }
        return [plain_value $typed]
    }

    method block {whether} {
        if {$whether != $is_blocking} {
            chan configure $socket -blocking $whether
            set is_blocking $whether
        }
    }

    # Waits until there is something to read, or the end; throws after `limit_ms`.
    method wait_readable {limit_ms} {
        my block 0
        set wakeup ""
        set timer [after $limit_ms [list set [my varname wakeup] timeout]]
        chan event $socket readable [list set [my varname wakeup] readable]
        vwait [my varname wakeup]
        after cancel $timer
        chan event $socket readable {}
        if {$wakeup eq "timeout"} {
            throw {CLIENT TIMEOUT} "no reply within $limit_ms ms"
        }
    }

    method wait_more {} {
        if {[chan eof $socket]} {
            throw {CLIENT CLOSED} "the server closed the connection"
        }
        my wait_readable $::patience_ms
    }

    # One line without its CR LF.
    method read_line {} {
        my block 0
        return [next_line [self] $socket]
    }

    # Exactly `count` bytes.
    method read_bytes {count} {
        my block 0
        return [next_bytes [self] $socket $count]
    }

    # What has arrived, at least one byte.
    method read_available {} {
        my block 0
        while {[set bytes [chan read $socket]] eq ""} {
            my wait_more
        }
        return $bytes
    }

    # Everything up to the end of the connection.
    method read_all {} {
        my block 0
        set bytes ""
        while {1} {
            append bytes [chan read $socket]
            if {[chan eof $socket]} {
                return $bytes
            }
            my wait_readable $::patience_ms
        }
    }

    method is_silent {{limit_ms 50}} {
        if {[catch {my wait_readable $limit_ms} message options]} {
            if {[dict get $options -errorcode] eq {CLIENT TIMEOUT}} {
                return 1
            }
            return -options $options $message
        }
        return 0
    }

    method is_closed {} {
        if {[catch {my read_all} bytes options]} {
            # A reset is an end, too.
            return [expr {[lindex [dict get $options -errorcode] 0] eq "POSIX"}]
        }
        return [expr {$bytes eq ""}]
    }
}

# --- What a client reads: procedures, which are called in a fifth of the time of a method. ---

proc next_line {client socket} {
    while {[gets $socket line] < 0} {
        $client wait_more
    }
    if {[string index $line end] ne "\r"} {
        throw {CLIENT PROTOCOL} "a line ends without CR: [printable $line]"
    }
    return [string range $line 0 end-1]
}

proc next_bytes {client socket count} {
    set bytes [read $socket $count]
    while {[string length $bytes] < $count} {
        $client wait_more
        append bytes [read $socket [expr {$count - [string length $bytes]}]]
    }
    return $bytes
}

proc next_typed {client socket} {
    set line [next_line $client $socket]
    set rest [string range $line 1 end]
    switch -exact -- [string index $line 0] {
        $  { return [expr {$rest == -1 ? "nil" : [list bulk [next_body $client $socket $rest]]}] }
        :  { return [list int $rest] }
        +  { return [list simple $rest] }
        *  { return [expr {$rest == -1 ? "nilarray" : [list array [next_items $client $socket $rest]]}] }
        -  { return [list error $rest] }
        _  { return null }
        ,  { return [list double $rest] }
        \# { return [list bool $rest] }
        (  { return [list bignum $rest] }
        !  { return [list bulkerror [next_body $client $socket $rest]] }
        =  {
            set body [next_body $client $socket $rest]
            return [list verbatim [list [string range $body 0 2] [string range $body 4 end]]]
        }
        ~  { return [list set [next_items $client $socket $rest]] }
        >  { return [list push [next_items $client $socket $rest]] }
        %  { return [list map [next_items $client $socket [expr {2 * $rest}]]] }
        |  {
            # Attributes annotate the reply that follows them.
            next_items $client $socket [expr {2 * $rest}]
            return [next_typed $client $socket]
        }
    }
    throw {CLIENT PROTOCOL} "not a reply: [printable $line]"
}

proc next_body {client socket length} {
    set bytes [next_bytes $client $socket [expr {$length + 2}]]
    if {[string range $bytes end-1 end] ne "\r\n"} {
        throw {CLIENT PROTOCOL} "a bulk of $length bytes is not followed by CR LF"
    }
    return [string range $bytes 0 end-2]
}

proc next_items {client socket count} {
    set items {}
    for {set i 0} {$i < $count} {incr i} {
        lappend items [next_typed $client $socket]
    }
    return $items
}

# The bytes of a request.
proc request {arguments} {
    set bytes "*[llength $arguments]\r\n"
    foreach argument $arguments {
        append bytes "\$[string length $argument]\r\n$argument\r\n"
    }
    return $bytes
}

proc plain_value {typed} {
    lassign $typed type value
    switch -exact -- $type {
        bulk - simple - int { return $value }
        nil - nilarray - null { return "(nil)" }
        error - bulkerror { return "(error) $value" }
        bool { return [expr {$value eq "t"}] }
        verbatim { return [lindex $value 1] }
        array - set - push - map { return [lmap item $value {plain_value $item}] }
    }
    return $value
}

# Bytes as text that can be printed: \r, \n, \xHH, and long ones cut.
proc printable {bytes} {
    set text ""
    foreach char [split [string range $bytes 0 199] ""] {
        scan $char %c code
        switch -exact -- $char {
            \r { append text {\r} }
            \n { append text {\n} }
            default { append text [expr {$code < 32 || $code > 126 ? [format {\x%02x} $code] : $char}] }
        }
    }
    if {[string length $bytes] > 200} {
        append text "… ([string length $bytes] bytes)"
    }
    return $text
}
