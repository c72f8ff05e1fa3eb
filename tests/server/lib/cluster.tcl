# Nodes of clusters, for tests: source this file after packlist.tcl, or in place of it.
#
#   nodes_file {slots ?open slots?} {slots} …    writes a nodes.conf of as many nodes, of which the first is the server
#                                                itself; returns its path. Slots as they stand in such a file
#   node_id n                                    the id of the nth of them, from 1 on
#   node_start file ?directives?                 starts the server with this file
#   key_slot key                                 the slot of a key without a hash tag
#   key_in slot ?suffix?                         a key of that slot: the same for each suffix but for its end

source [file join [file dirname [file normalize [info script]]] packlist.tcl]

proc node_id {number} {
    return [format %040x $number]
}

proc nodes_file {args} {
    set lines {}
    foreach slots $args {
        set number [expr {[llength $lines] + 1}]
        set port [expr {20000 + $number}]
        set flags [expr {$number == 1 ? "myself,master" : "master"}]
        set shard [node_id [expr {100 + $number}]]
        set address 127.0.0.1:$port@[expr {$port + 10000}],,tls-port=0,shard-id=$shard
        lappend lines [string trimright "[node_id $number] $address $flags - 0 0 $number connected $slots"]
    }
    lappend lines "vars currentEpoch [llength $args] lastVoteEpoch 0"
    set path [file join [temporary_folder] nodes.conf]
    write_file $path "[join $lines \n]\n"
    return $path
}

proc node_start {file {directives {}}} {
    server_start [dict merge [dict create cluster-enabled yes cluster-config-file $file] $directives]
}

proc key_slot {key} {
    set crc 0
    foreach code [scan $key [string repeat %c [string length $key]]] {
        set crc [expr {$crc ^ ($code << 8)}]
        for {set bit 0} {$bit < 8} {incr bit} {
            set crc [expr {($crc & 0x8000 ? ($crc << 1) ^ 0x1021 : $crc << 1) & 0xffff}]
        }
    }
    return [expr {$crc % 16384}]
}

proc key_in {slot {suffix ""}} {
    if {![info exists ::tag_of_slot($slot)]} {
        for {set number 0} {[set found [key_slot k$number]] != $slot} {incr number} {
            set ::tag_of_slot($found) k$number
        }
        set ::tag_of_slot($slot) k$number
    }
    return "{$::tag_of_slot($slot)}$suffix"
}
