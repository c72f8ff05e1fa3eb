# Thousands of clients that come, ask, flood and go in all ways while the number of I/O threads changes.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

set is_slow [info exists env(PACKLIST_SLOW)]
set count [expr {$is_slow ? 300 : [info exists env(PACKLIST_SOAK)] ? 5000 : 2000}]
set seconds [expr {[info exists env(PACKLIST_SOAK)] ? 600 : $is_slow ? 10 : 2}]

server_start {maxclients 10000}

proc open_files {} {
    return [llength [glob -directory /proc/[$::current_server pid]/fd *]]
}

# Of I/O threads: the allocator starts threads of its own when it needs them.
proc thread_count {} {
    return [dict size [threads_of [$::current_server pid] io_thd_*]]
}

# Runs the clients to their end and calls the body again and again meanwhile. Returns what they say.
proc with_many_clients {body} {
    set program [file join $::library many_clients.py]
    set pipe [open "|[list python3 $program [$::current_server port] $::count $::seconds $::seed]" r]
    fconfigure $pipe -blocking 0
    set said ""
    while {![eof $pipe]} {
        append said [read $pipe]
        uplevel 1 $body
    }
    fconfigure $pipe -blocking 1
    if {[catch {close $pipe} error]} {
        error "$said\n$error"
    }
    return $said
}

check_in 2 "no client loses a byte, and nothing is left of those that are gone" {
    r PING
    set clients [info_field connected_clients]
    r CONFIG SET io-threads 2
    r CONFIG SET io-threads 1
    wait_until {[info_field io_threads_active] == 0 && [thread_count] == 0}
    # Perhaps the thread that has just ended has not closed all of its own yet.
    set before [open_files]
    set used {}
    set turn 0
    set said [with_many_clients {
        r CONFIG SET io-threads [lindex {4 1 3 2} [expr {$turn % 4}]] \
            io-threads-always-active [lindex {yes yes no} [expr {$turn % 3}]]
        incr turn
        after [expr {int(rand() * 300)}]
        foreach {_ number} [regexp -all -inline {io-thread=(\d+)} [r CLIENT LIST]] {
            dict set used $number 1
        }
    }]
    puts "note: $said"
    assert_equal [lsort [dict keys $used]] {0 1 2 3}
    r CONFIG SET io-threads 1 io-threads-always-active no
    wait_until {[info_field connected_clients] == $clients}
    wait_until {[thread_count] == 0 && [open_files] <= $before}
    r CLIENT LIST
} {*io-thread=0*} -match glob
finish
