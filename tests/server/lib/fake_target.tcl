# A fake target of MIGRATE, in the process of the test: it answers what the test says.

set cannot_connect "IOERR error or timeout connecting to the client"
set cannot_write "IOERR error or timeout writing to target instance"
set cannot_read "IOERR error or timeout reading to target instance"

# Bytes that cannot be compressed.
proc noise {size} {
    set file [open /dev/urandom rb]
    set bytes [read $file $size]
    close $file
    return $bytes
}

# Listens; answers each request with what `answer`, a body that sees $request and $connection (a number), results
# in; "close" closes the connection.
oo::class create fake {
    variable listener answer buffers requests connections

    constructor {body} {
        incr ::calls_run_events
        set listener [socket -server [list [self] accept] -myaddr 127.0.0.1 0]
        set answer [list {connection request} $body]
        set requests {}
        set connections 0
    }

    destructor {
        incr ::calls_run_events -1
        chan close $listener
        foreach socket [array names buffers] {
            chan close $socket
        }
    }

    # Sends bytes that were not asked for now, over every connection that is open.
    method say {bytes} {
        foreach socket [array names buffers] {
            chan puts -nonewline $socket $bytes
            chan flush $socket
        }
    }

    # Closes them.
    method hang_up {} {
        foreach socket [array names buffers] {
            my forget $socket
        }
    }

    method port {} { return [lindex [chan configure $listener -sockname] 2] }

    # What has come until now: the requests, how many connections, and how many of them are open.
    method requests {} {
        update
        return $requests
    }
    method connections {} {
        update
        return $connections
    }
    method open {} {
        update
        return [array size buffers]
    }

    method accept {socket host port} {
        chan configure $socket -translation binary -blocking 0
        chan event $socket readable [list [self] serve $socket [incr connections]]
        set buffers($socket) ""
    }

    method serve {socket number} {
        append buffers($socket) [chan read $socket]
        while {[my take_request $socket request]} {
            lappend requests $request
            set bytes [apply $answer $number $request]
            if {$bytes eq "close" || [catch {chan puts -nonewline $socket $bytes; chan flush $socket}]} {
                my forget $socket
                return
            }
        }
        if {[chan eof $socket]} {
            my forget $socket
        }
    }

    method forget {socket} {
        catch {chan close $socket}
        unset buffers($socket)
    }

    # The first request in the buffer, when all of it is there.
    method take_request {socket name} {
        upvar 1 $name request
        set request {}
        set at 0
        set buffer $buffers($socket)
        if {![my take_number $buffer at count]} {
            return 0
        }
        while {[incr count -1] >= 0} {
            if {![my take_number $buffer at size] || [string length $buffer] < $at + $size + 2} {
                return 0
            }
            lappend request [string range $buffer $at [expr {$at + $size - 1}]]
            incr at [expr {$size + 2}]
        }
        set buffers($socket) [string range $buffer $at end]
        return 1
    }

    method take_number {buffer at_name number_name} {
        upvar 1 $at_name at $number_name number
        set end [string first \r\n $buffer $at]
        set number [string range $buffer [expr {$at + 1}] [expr {$end - 1}]]
        set at [expr {$end + 2}]
        return [expr {$end >= 0}]
    }
}

# Runs the body with $fake, a server with these replies.
proc with_fake {answer body} {
    set ::fake [fake new $answer]
    try {
        uplevel #0 $body
    } finally {
        $::fake destroy
    }
}

proc migrate_to_fake {args} {
    return [r MIGRATE 127.0.0.1 [$::fake port] {*}$args]
}
