# replica: a replica that is only played: it speaks the messages of replication over a connection of its own.
#
#   set c [replica_open ?option value …?]    a connection that has sent PING and REPLCONF; options as REPLCONF's, as
#                                       {capa eof}; without any: listening-port 7777 capa eof capa psync2
#   replica_psync $c ?id offset ?word?? sends PSYNC, returns the words of the reply's line
#   replica_payload $c                  reads the payload and returns its bytes
#   replica_sync ?option value …?       all of it at once, with the first ACK: {connection id offset}
#   replica_ack $c offset ?aof_offset?
#   replica_command $c                  the next command of the stream, as a list; PING and GETACK are left out
#   replica_commands $c count           the next ones
#   replica_next $c                     the next command, whatever it is
#   stream_bytes commands               how many bytes these are in the stream
#   payload_digest bytes                DEBUG DIGEST of a server that has loaded the payload
#   stream_offset                       the offset of the current server's stream
#
#   with_replica_of_this body           a real server, $replica, is a replica of the current one while the body runs
#   wait_same replica                   until its link is up, and it has all that the current server has

proc replica_open {args} {
    if {$args eq ""} {
        set args {listening-port 7777 capa eof capa psync2}
    }
    set c [client_open 2]
    assert_equal [$c call PING] PONG
    foreach {option value} $args {
        assert_equal [$c call REPLCONF $option $value] OK
    }
    return $c
}

# The next line, without the line breaks that keep the connection alive.
proc replica_line {c} {
    set line ""
    while {1} {
        set byte [$c read_bytes 1]
        if {$byte ne "\n"} {
            append line $byte
        } elseif {$line ne ""} {
            return [string trimright $line "\r"]
        }
    }
}

proc replica_psync {c {id ?} {offset -1} args} {
    $c send PSYNC $id $offset {*}$args
    return [replica_line $c]
}

proc replica_payload {c} {
    set line [replica_line $c]
    if {[regexp {^\$(\d+)$} $line _ length]} {
        return [$c read_bytes $length]
    }
    if {![regexp {^\$EOF:([0-9a-f]{40})$} $line _ mark]} {
        error "no payload: [printable $line]"
    }
    set bytes ""
    while {[string range $bytes end-39 end] ne $mark} {
        append bytes [$c read_available]
    }
    return [string range $bytes 0 end-40]
}

proc replica_sync {args} {
    set c [replica_open {*}$args]
    lassign [replica_psync $c] word id offset
    assert_equal $word +FULLRESYNC
    replica_payload $c
    replica_ack $c $offset
    return [list $c $id $offset]
}

proc replica_ack {c offset {aof_offset ""}} {
    if {$aof_offset eq ""} {
        $c send REPLCONF ACK $offset
    } else {
        $c send REPLCONF ACK $offset FACK $aof_offset
    }
}

proc replica_next {c} {
    return [$c read]
}

proc replica_command {c} {
    while {1} {
        set command [replica_next $c]
        if {$command ni {PING {REPLCONF GETACK *}}} {
            return $command
        }
    }
}

proc replica_commands {c count} {
    set commands {}
    while {[llength $commands] < $count} {
        lappend commands [replica_command $c]
    }
    return $commands
}

proc stream_bytes {commands} {
    set bytes 0
    foreach command $commands {
        incr bytes [string length [request $command]]
    }
    return $bytes
}

proc payload_digest {bytes} {
    with_server {} {
        write_file [$::current_server folder]/dump.rdb $bytes
        $::current_server control DEBUG RELOAD NOSAVE
        return [$::current_server control DEBUG DIGEST]
    }
}

proc stream_offset {} {
    return [info_field master_repl_offset]
}

proc with_replica_of_this {body} {
    upvar 1 replica replica
    set replica [server new {}]
    try {
        $replica control REPLICAOF 127.0.0.1 [$::current_server port]
        wait_until {[r WAIT 1 100] == 1}
        uplevel 1 $body
    } finally {
        $replica destroy
    }
}

proc wait_same {replica} {
    wait_until {[regexp -line {^master_link_status:up\r} [$replica control INFO replication]] &&
        [$replica control DEBUG DIGEST] eq [$::current_server control DEBUG DIGEST]}
}
