# The contents of a server's append-only file. Sourced by a test after lib/packlist.tcl.
#
#   with_aof {directive value …} body   as with_server, with an append-only file
#   aof_files server ?glob?        the paths of its files, in the order of their names
#   aof_commands bytes             the commands in the bytes of a file; annotations as TS
#   propagated {request …}         makes the requests on the default connection and returns the commands that the
#                                  current server has propagated; a time in milliseconds shows as TIME
#   propagated_by body             the same for the requests of the body
#   server_again ?how?             the current server is restarted (or, by `crash`, killed and started)
#   wait_written                   until acknowledged changes are in the file: with appendfsync everysec they are not
#                                  while an fsync keeps the disk busy
#   break_file server bytes        puts bytes in place of its last increment, while it is halted

proc with_aof {directives body} {
    uplevel 1 [list with_server [dict merge {appendonly yes} $directives] $body]
}

proc aof_files {server {pattern *.aof}} {
    return [lsort -dictionary [glob -nocomplain -directory [$server data]/appendonlydir $pattern]]
}

proc aof_commands {bytes} {
    set commands {}
    set at 0
    while {$at < [string length $bytes]} {
        if {[string index $bytes $at] eq "#"} {
            set at [expr {[string first \n $bytes $at] + 1}]
            lappend commands TS
            continue
        }
        set count [aof_number $bytes at *]
        set command {}
        while {[llength $command] < $count} {
            set length [aof_number $bytes at $]
            lappend command [string range $bytes $at [expr {$at + $length - 1}]]
            incr at [expr {$length + 2}]
        }
        lappend commands $command
    }
    return $commands
}

proc aof_number {bytes atName type} {
    upvar 1 $atName at
    if {![regexp -start $at "\\A\\$type\(\\d+)\r\n" $bytes line number]} {
        error "no $type where one should be: [string range $bytes $at $at+40]"
    }
    incr at [string length $line]
    return $number
}

proc aof_bytes {} {
    return [read_file [lindex [aof_files $::current_server *.incr.aof] end]]
}

proc propagated_by {body} {
    set before [string length [aof_bytes]]
    uplevel 1 $body
    return [lmap command [aof_commands [string range [aof_bytes] $before end]] {
        lmap word $command {expr {[regexp {^1\d{12}$} $word] ? "TIME" : $word}}
    }]
}

proc propagated {requests} {
    return [propagated_by {foreach request $requests {r {*}$request}}]
}

proc server_again {{how restart}} {
    $::current_server $how
    set ::default_client ""
}

proc break_file {server bytes} {
    set file [open [lindex [aof_files $server *.incr.aof] end] wb]
    puts -nonewline $file $bytes
    close $file
}

# Rewrites the file, and waits until that is done and what it replaced is gone.
proc rewrite_aof {} {
    assert_equal [r BGREWRITEAOF] "Background append only file rewriting started"
    wait_rewritten
    wait_until {![string match "* type h*" [manifest]]}
}

proc wait_rewritten {} {
    wait_until {[regexp {aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\n} \
        [$::current_server control INFO persistence]]}
}

proc manifest {} {
    return [read_file [$::current_server data]/appendonlydir/appendonly.aof.manifest]
}

proc wait_written {} {
    wait_until {![regexp {aof_buffer_length:[1-9]} [$::current_server control INFO persistence]]}
}
