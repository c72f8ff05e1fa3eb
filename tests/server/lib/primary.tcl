# A primary made of a socket, for tests of replicas: it says what the test wants. Sourced after lib/packlist.tcl.
#
#   with_replica {directive value …} body   a server that is a replica of $primary, which listens, while the body runs
#   $primary port                           where it listens
#   $primary waiting                        how many connections it has not accepted yet
#   set link [$primary accept]              the connection that the replica opens next, as a client object, and
#   $link request                           the words of the next request of the replica
#   $link skip_acks                         the words of the next one that is no REPLCONF ACK
#   $link feed word …                       sends a command of the stream, and notes its bytes in $link offset
#   $link offset ?value?                    the offset of the stream
#   link_asks link                          answers the handshake up to PSYNC; gives the words of PSYNC
#   link_sync link ?pairs? ?offset?         answers PSYNC with all data: a snapshot of these strings
#   link_begin ?pairs?                      accepts, answers all that; gives the link when the replica is online
#   rdb pairs ?aux?                         a snapshot with these strings in database 0
#   wait_link state                         until master_link_status is `up` or `down`
#   applied link                            until the replica has confirmed all that was fed
#   replication name                        a field of INFO replication

set replication_id [string repeat 0123456789abcdef0123 2]

oo::class create primary_link {
    superclass client
    variable socket wakeup is_blocking offset

    constructor {accepted} {
        set socket $accepted
        set offset 0
        set is_blocking 1
        chan configure $socket -translation binary -buffering full -buffersize 65536
    }

    method offset {args} {
        if {[llength $args] > 0} {
            set offset [lindex $args 0]
        }
        return $offset
    }

    # A newline alone only says that the replica is alive.
    method request {} {
        while {[set line [my first_line]] eq ""} {}
        if {[string index $line 0] ne "*"} {
            error "not a request: $line"
        }
        set words {}
        for {set i [string range $line 1 end]} {$i > 0} {incr i -1} {
            lappend words [next_body [self] $socket [string range [my read_line] 1 end]]
        }
        return $words
    }

    method first_line {} {
        my block 0
        while {[chan gets $socket line] < 0} {
            my wait_more
        }
        return [string trimright $line \r]
    }

    method skip_acks {} {
        while {[lrange [set words [my request]] 0 1] eq {REPLCONF ACK}} {}
        return $words
    }

    method feed {args} {
        set bytes [request $args]
        incr offset [string length $bytes]
        my write $bytes
    }

    # Bytes of the stream, as they are.
    method feed_bytes {bytes} {
        incr offset [string length $bytes]
        my write $bytes
    }
}

oo::class create fake_primary {
    variable listener port waiting

    constructor {} {
        incr ::calls_run_events
        set waiting {}
        set port [free_port]
        set listener [socket -server [list [self] note] -myaddr 127.0.0.1 $port]
    }

    destructor {
        incr ::calls_run_events -1
        chan close $listener
    }

    method note {socket host from} {
        lappend waiting $socket
    }

    method port {} { return $port }

    method waiting {} {
        update
        return [llength $waiting]
    }

    method accept {} {
        set deadline [expr {[clock milliseconds] + $::patience_ms}]
        while {[llength $waiting] == 0} {
            if {[clock milliseconds] > $deadline} {
                error "the replica does not connect"
            }
            set timer [after 20 [list set [my varname waiting] $waiting]]
            vwait [my varname waiting]
            after cancel $timer
        }
        set waiting [lassign $waiting socket]
        return [primary_link new $socket]
    }
}

proc with_replica {directives body} {
    set ::primary [fake_primary new]
    try {
        uplevel 1 [list with_server [dict merge $directives [list replicaof "127.0.0.1 [$::primary port]"]] $body]
    } finally {
        $::primary destroy
    }
}

proc replication {name} {
    regexp -line "^$name:(.*)\r$" [$::current_server control INFO replication] line value
    return $value
}

proc wait_link {state} {
    wait_until {[replication master_link_status] eq $state}
}

proc link_asks {link} {
    while {[lindex [set words [$link request]] 0] ne "PSYNC"} {
        $link write [expr {$words eq "PING" ? "+PONG\r\n" : "+OK\r\n"}]
    }
    return $words
}

proc link_sync {link {pairs {}} {offset 0}} {
    set snapshot [rdb $pairs]
    $link write "+FULLRESYNC $::replication_id $offset\r\n"
    $link write "\$[string length $snapshot]\r\n$snapshot"
    $link offset $offset
}

proc link_begin {{pairs {}}} {
    set link [$::primary accept]
    assert_equal [link_asks $link] {PSYNC ? -1}
    link_sync $link $pairs
    wait_link up
    return $link
}

proc applied {link} {
    set offset [$link offset]
    wait_until {[replication slave_repl_offset] == $offset}
}

proc rdb_text {text} {
    return [binary format cI -128 [string length $text]]$text
}

proc rdb {pairs {aux {}}} {
    set bytes REDIS0011
    foreach {name value} $aux {
        append bytes \xfa [rdb_text $name] [rdb_text $value]
    }
    append bytes \xfe\x00
    foreach {key value} $pairs {
        append bytes \x00 [rdb_text $key] [rdb_text $value]
    }
    return $bytes\xff[string repeat \x00 8]
}
