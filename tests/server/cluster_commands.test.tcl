# CLUSTER: what a node of a cluster shows of it, and how it is changed.
source [file join [file dirname [file normalize [info script]]] lib cluster.tcl]
source $library/tls.tcl

# This server (1) with a replica (3), and another primary (2).
set nodes [nodes_file "0-5000 \[5->-[node_id 2]\] \[9000-<-[node_id 2]\]" 8000-16383]
set lines [split [read_file $nodes] \n]
set replica "[node_id 3] 127.0.0.1:20003@30003,third.localhost,tls-port=20103,shard-id=[node_id 101] slave [node_id \
    1] 0 0 1 connected"
write_file $nodes [join [linsert $lines end-2 $replica] \n]
set original [read_file $nodes]
node_start $nodes {cluster-require-full-coverage no}
set port [$current_server port]

# The server starts anew with such a file.
proc begin {{text ""}} {
    $::current_server halt
    write_file $::nodes [expr {$text eq "" ? $::original : $text}]
    $::current_server launch
    set ::default_client ""
    set ::port [$::current_server port]
}
# A field of CLUSTER INFO.
proc cluster_field {name} {
    regexp "(?:^|\n)$name:(\[^\r\]*)" [r CLUSTER INFO] _ value
    return $value
}
# Flags, primary, epoch and slots of a node.
proc node_line {number} {
    foreach line [split [string trim [r CLUSTER NODES]] \n] {
        if {[lindex $line 0] eq [node_id $number]} {
            set words [split $line " "]
            return [join [concat [lrange $words 2 3] [lindex $words 6] [lrange $words 8 end]] " "]
        }
    }
    return none
}
proc open_slots {line} {
    return [join [lsearch -all -inline [split $line " "] {\[*}] " "]
}
# What nodes.conf has of the server itself behind its epoch.
proc saved_slots {} {
    foreach line [split [read_file $::nodes] \n] {
        if {[string match *myself* $line]} {
            return [join [lrange [split $line " "] 8 end] " "]
        }
    }
}

# --- What is shown

check "CLUSTER NODES shows each node in a line" {
    r CONFIG SET cluster-announce-ip 127.0.0.3
    set found [lmap line [split [string trim [r CLUSTER NODES]] \n] {string map [list $port PORT [expr {$port + \
        10000}] BUS] $line}]
    r CONFIG SET cluster-announce-ip ""
    set found
} [list "[node_id 1] 127.0.0.3:PORT@BUS myself,master - 0 0 1 connected 0-5000 \[5->-[node_id 2]\] \[9000-<-[node_id \
    2]\]" \
    "[node_id 2] 127.0.0.1:20002@30002 master - 0 0 2 disconnected 8000-16383" \
    "[node_id 3] 127.0.0.1:20003@30003,third.localhost slave [node_id 1] 0 0 1 disconnected"]
check "CLUSTER MYID and MYSHARDID are this node's" {
    list [r CLUSTER MYID] [r CLUSTER MYSHARDID]
} [list [node_id 1] [node_id 101]]
check_in 3 "CLUSTER NODES and INFO are texts" {
    list [lindex [typed CLUSTER NODES] 0] [lindex [typed CLUSTER INFO] 0]
} {verbatim verbatim}
check "CLUSTER INFO counts nodes, slots and epochs" {
    lmap name {state slots_assigned slots_ok slots_pfail slots_fail nodes_pfail nodes_fail voting_nodes_pfail
        voting_nodes_fail known_nodes size current_epoch my_epoch stats_messages_sent} {cluster_field cluster_$name}
} {ok 13385 13385 0 0 0 0 0 0 3 2 2 1 0}
check "CLUSTER REPLICAS and SLAVES show replicas of a primary" {
    list [r CLUSTER REPLICAS [node_id 1]] [r CLUSTER SLAVES [node_id 2]]
} [list [list "[node_id 3] 127.0.0.1:20003@30003,third.localhost slave [node_id 1] 0 0 1 disconnected"] {}]
check "CLUSTER LINKS and COUNT-FAILURE-REPORTS: nobody is connected" {
    list [typed CLUSTER LINKS] [r CLUSTER COUNT-FAILURE-REPORTS [node_id 2]]
} {{array {}} 0}
foreach {type first second} {
    ip {127.0.0.1 PORT ID1 {hostname first.localhost}} {127.0.0.1 20002 ID2 {}}
    hostname {first.localhost PORT ID1 {ip 127.0.0.1}} {? 20002 ID2 {ip 127.0.0.1}}
    unknown-endpoint {(nil) PORT ID1 {ip 127.0.0.1 hostname first.localhost}} {(nil) 20002 ID2 {ip 127.0.0.1}}
} {
    check "CLUSTER SLOTS with cluster-preferred-endpoint-type $type" {
        with_config [list cluster-preferred-endpoint-type $type cluster-announce-hostname first.localhost \
            cluster-announce-ip 127.0.0.1] {
            string map [list $port PORT [node_id 1] ID1 [node_id 2] ID2] [r CLUSTER SLOTS]
        }
    } [list [list 0 5000 $first] [list 8000 16383 $second]]
}
check_in 3 "CLUSTER SLOTS and SHARDS have maps" {
    list [lindex [typed CLUSTER SLOTS] 1 0 1 2 1 3 0] [lindex [typed CLUSTER SHARDS] 1 0 0]
} {map map}
check "CLUSTER SHARDS shows slots and nodes of each shard, the primary first" {
    with_config {cluster-announce-ip 127.0.0.1} {
        string map [list $port PORT [node_id 1] ID1 [node_id 2] ID2 [node_id 3] ID3 [node_id 101] S1 [node_id 102] S2] \
            [r CLUSTER SHARDS]
    }
} {{slots {0 5000} nodes {{id ID1 port PORT ip 127.0.0.1 endpoint 127.0.0.1 role master replication-offset 0 health\
    online}\
    {id ID3 port 20003 tls-port 20103 ip 127.0.0.1 endpoint 127.0.0.1 hostname third.localhost role replica\
    replication-offset 0 health loading}} id S1}\
    {slots {8000 16383} nodes {{id ID2 port 20002 ip 127.0.0.1 endpoint 127.0.0.1 role master replication-offset 0\
    health online}} id S2}}
check "CLUSTER SHARDS: an endpoint that is not told is empty" {
    with_config {cluster-preferred-endpoint-type unknown-endpoint} {
        dict get [lindex [dict get [lindex [r CLUSTER SHARDS] 1] nodes] 0] endpoint
    }
} {}
check "CLUSTER HELP names every subcommand" {
    set help [r CLUSTER HELP]
    foreach name [dict keys [lindex [r COMMAND DOCS cluster] 1 end]] {
        set word [string toupper [lindex [split $name |] 1]]
        assert {$word in {SLAVES MEET REPLICATE FAILOVER HELP} || [lsearch -glob $help $word*] > 0}
    }
    lindex $help 0
} {CLUSTER <subcommand> [<arg> [value] [opt] ...]. Subcommands are:}
check "INFO and HELLO tell the mode" {
    list [info_field cluster_enabled] [info_field redis_mode] [dict get [r HELLO] mode]
} {1 cluster cluster}

# --- Slots

begin
check "ADDSLOTS and DELSLOTS change who serves slots, and the file" {
    assert_equal [list [r CLUSTER ADDSLOTS 6000 6001 6003] [r CLUSTER DELSLOTS 6001 8000]] {OK OK}
    set found [list [node_line 1] [node_line 2] [saved_slots]]
    r CLUSTER DELSLOTS 6000 6003
    r CLUSTER SETSLOT 8000 NODE [node_id 2]
    set found
} [list "myself,master - 1 0-5000 6000 6003 \[5->-[node_id 2]\] \[9000-<-[node_id 2]\]" "master - 2 8001-16383" \
    "0-5000 6000 6003 \[5->-[node_id 2]\] \[9000-<-[node_id 2]\]"]
check "ADDSLOTSRANGE and DELSLOTSRANGE do that with ranges" {
    assert_equal [list [r CLUSTER ADDSLOTSRANGE 6000 6100 6200 6200] [r CLUSTER DELSLOTSRANGE 6050 6060]] {OK OK}
    set found [list [lrange [node_line 1] 3 6] [cluster_field cluster_slots_assigned]]
    r CLUSTER DELSLOTSRANGE 6000 6049 6061 6100 6200 6200
    set found
} {{0-5000 6000-6049 6061-6100 6200} 13476}
check "a slot that was imported is open no more when it is added or given up" {
    r CLUSTER SETSLOT 7000 IMPORTING [node_id 2]
    r CLUSTER SETSLOT 9001 IMPORTING [node_id 2]
    r CLUSTER ADDSLOTS 7000
    r CLUSTER DELSLOTS 9001
    set found [node_line 1]
    r CLUSTER DELSLOTS 7000
    r CLUSTER SETSLOT 9001 NODE [node_id 2]
    set found
} "myself,master - 1 0-5000 7000 \[5->-[node_id 2]\] \[9000-<-[node_id 2]\]"
foreach {arguments error} {
    {ADDSLOTS x} "Invalid or out of range slot"
    {ADDSLOTS 16384} "Invalid or out of range slot"
    {ADDSLOTS -1} "Invalid or out of range slot"
    {ADDSLOTS 1 x} "Invalid or out of range slot"
    {ADDSLOTS 6000 1} "Slot 1 is already busy"
    {ADDSLOTS 8000} "Slot 8000 is already busy"
    {ADDSLOTS 6000 6000} "Slot 6000 specified multiple times"
    {ADDSLOTSRANGE 6010 6000} "start slot number 6010 is greater than end slot number 6000"
    {ADDSLOTSRANGE 6000 6010 6005 6006} "Slot 6005 specified multiple times"
    {ADDSLOTSRANGE 1 2 x 3} "Slot 1 is already busy"
    {ADDSLOTSRANGE 6000 x} "Invalid or out of range slot"
    {ADDSLOTSRANGE 6000 6001 6002} "wrong number of arguments for 'cluster|addslotsrange' command"
    {DELSLOTS 6000} "Slot 6000 is already unassigned"
    {DELSLOTS 1 1} "Slot 1 specified multiple times"
    {DELSLOTSRANGE 1 2 2 3} "Slot 2 specified multiple times"
    {SETSLOT x STABLE} "Invalid or out of range slot"
    {SETSLOT 1 NOSUCH} "Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP"
    {SETSLOT 1 MIGRATING} "Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP"
    {SETSLOT 1 STABLE x} "Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP"
    {SETSLOT 1 STABLE TIMEOUT x} "timeout is not an integer or out of range"
    {SETSLOT 1 STABLE TIMEOUT -1} "timeout is negative"
    {SETSLOT 1 IMPORTING x} "I'm already the owner of hash slot 1"
    {SETSLOT 8000 MIGRATING x} "I'm not the owner of hash slot 8000"
    {SETSLOT 6000 MIGRATING x} "I'm not the owner of hash slot 6000"
    {SETSLOT 1 MIGRATING x} "I don't know about node x"
    {SETSLOT 8000 IMPORTING x} "I don't know about node x"
    {SETSLOT 1 MIGRATING ID1} "Target node is myself"
    {SETSLOT 1 MIGRATING ID3} "Target node is not a master"
    {SETSLOT 8000 IMPORTING ID3} "Target node is not a master"
    {SETSLOT 1 NODE x} "Unknown node x"
    {SETSLOT 1 NODE ID3} "Target node is not a master"
    {REPLICAS x} "Unknown node x"
    {REPLICAS ID3} "The specified node is not a master"
    {COUNT-FAILURE-REPORTS x} "Unknown node x"
    {FORGET x} "Unknown node x"
    {FORGET ID1} "I tried hard but I can't forget myself..."
    {SET-CONFIG-EPOCH x} "value is not an integer or out of range"
    {SET-CONFIG-EPOCH -1} "Invalid config epoch specified: -1"
    {SET-CONFIG-EPOCH 1} "The user can assign a config epoch only when the node does not know any other node."
    {RESET NOSUCH} "syntax error"
    {RESET HARD x} "unknown subcommand or wrong number of arguments for 'RESET'. Try CLUSTER HELP."
    {COUNTKEYSINSLOT x} "value is not an integer or out of range"
    {COUNTKEYSINSLOT 16384} "Invalid slot"
    {GETKEYSINSLOT 1 x} "value is not an integer or out of range"
    {GETKEYSINSLOT 1 -1} "Invalid slot or number of keys"
    {GETKEYSINSLOT -1 1} "Invalid slot or number of keys"
    {FLUSHSLOT x} "Invalid or out of range slot"
    {FLUSHSLOT 1 x} "syntax error"
    {SLOT-STATS SLOTSRANGE 2 1} "Start slot number 2 is greater than end slot number 1"
    {SLOT-STATS SLOTSRANGE 1 x} "Invalid or out of range slot"
    {SLOT-STATS SLOTSRANGE 1} "unknown subcommand or wrong number of arguments for 'SLOT-STATS'. Try CLUSTER HELP."
    {SLOT-STATS ORDERBY nosuch} "Unrecognized sort metric for ORDERBY."
    {SLOT-STATS ORDERBY key-count LIMIT 0} "Limit has to lie in between 1 and 16384 (maximum number of slots)."
    {SLOT-STATS ORDERBY key-count ASC DESC} "Multiple filters of the same type are disallowed."
    {SLOT-STATS ORDERBY key-count LIMIT} "syntax error"
    {INFO x} "wrong number of arguments for 'cluster|info' command"
    {NOSUCH} "unknown subcommand 'NOSUCH'. Try CLUSTER HELP."
} {
    set words [string map [list ID1 [node_id 1] ID2 [node_id 2] ID3 [node_id 3]] $arguments]
    check_error "CLUSTER $arguments is refused" [list r CLUSTER {*}$words] "ERR $error"
}
foreach {arguments purpose} {{MEET 127.0.0.1 7000} "meet one" {REPLICATE x} "replicate one" FAILOVER "take over from\
    one"} {
    check_error "CLUSTER $arguments: other nodes cannot be reached" [list r CLUSTER {*}$arguments] \
        "ERR This server has no cluster bus yet: it cannot talk to other nodes, so it cannot $purpose"
}
check "refused commands have changed nothing" {node_line 1} \
    "myself,master - 1 0-5000 \[5->-[node_id 2]\] \[9000-<-[node_id 2]\]"
check "SETSLOT MIGRATING, IMPORTING and STABLE open and close slots" {
    assert_equal [list [r CLUSTER SETSLOT 7 MIGRATING [node_id 2]] \
        [r CLUSTER SETSLOT 9007 IMPORTING [node_id 2] TIMEOUT 10]] {OK OK}
    set found [list [open_slots [node_line 1]] [open_slots [saved_slots]]]
    r CLUSTER SETSLOT 7 STABLE
    r CLUSTER SETSLOT 9007 STABLE TIMEOUT 0
    lappend found [open_slots [node_line 1]]
} [list "\[5->-[node_id 2]\] \[7->-[node_id 2]\] \[9000-<-[node_id 2]\] \[9007-<-[node_id 2]\]" \
    "\[5->-[node_id 2]\] \[7->-[node_id 2]\] \[9000-<-[node_id 2]\] \[9007-<-[node_id 2]\]" \
    "\[5->-[node_id 2]\] \[9000-<-[node_id 2]\]"]
check "SETSLOT NODE gives a slot that has no keys, and one that migrates is closed" {
    r CLUSTER SETSLOT 5 NODE [node_id 2]
    set found [list [node_line 1] [node_line 2]]
    r CLUSTER SETSLOT 5 NODE [node_id 1]
    r CLUSTER SETSLOT 5 MIGRATING [node_id 2]
    set found
} [list "myself,master - 1 0-4 6-5000 \[9000-<-[node_id 2]\]" "master - 2 5 8000-16383"]
check "SETSLOT NODE: a slot with keys in any database stays" {
    r SET [key_in 100] x
    list [error_of {r CLUSTER SETSLOT 100 NODE [node_id 2]}] [r CLUSTER SETSLOT 100 NODE [node_id 1]]
} {{ERR Can't assign hashslot 100 to a different node while I still hold keys for this hash slot.} OK}
check "a slot that keeps keys goes on migrating" {
    r SET [key_in 100] x
    r CLUSTER SETSLOT 100 MIGRATING [node_id 2]
    r CLUSTER SETSLOT 100 NODE [node_id 1]
    set found [lindex [node_line 1] 5]
    r CLUSTER SETSLOT 100 STABLE
    set found
} "\[100->-[node_id 2]\]"
check_in 2 "an import ends with a new epoch" {
    r CLUSTER SETSLOT 9000 NODE [node_id 1]
    list [node_line 1] [cluster_field cluster_current_epoch] [cluster_field cluster_my_epoch]
} [list "myself,master - 3 0-5000 9000 \[5->-[node_id 2]\]" 3 3]
check_in 2 "FLUSHSLOTS gives all own slots up, if there are no keys" {
    begin
    r SET [key_in 1] x
    set found [error_of {r CLUSTER FLUSHSLOTS}]
    r FLUSHALL
    list $found [r CLUSTER FLUSHSLOTS] [lindex [node_line 1] 3] [lindex [node_line 2] 3]
} [list "ERR DB must be empty to perform CLUSTER FLUSHSLOTS." OK "\[5->-[node_id 2]\]" 8000-16383]

# --- Nodes and epochs

check_in 2 "BUMPEPOCH makes the epoch the greatest one" {
    begin
    list [typed CLUSTER BUMPEPOCH] [r CLUSTER BUMPEPOCH] [lindex [node_line 1] 2] [string match {*currentEpoch 3 *} \
        [read_file $nodes]]
} {{simple {BUMPED 3}} {STILL 3} 3 1}
check_in 2 "FORGET removes a node, with its slots, and may come again" {
    list [r CLUSTER FORGET [node_id 2]] [r CLUSTER FORGET [node_id 2]] [node_line 2] [node_line 1] \
        [cluster_field cluster_known_nodes] [string match "*[node_id 2]*" [read_file $nodes]]
} {OK OK none {myself,master - 3 0-5000} 2 0}
check_in 2 "RESET needs a primary without keys, and forgets nodes and slots" {
    r SET [key_in 1] x
    set found [error_of {r CLUSTER RESET}]
    r FLUSHALL
    lappend found [r CLUSTER RESET SOFT] [r CLUSTER MYID] [node_line 1] [cluster_field cluster_known_nodes]
    list $found [error_of {r CLUSTER FORGET [node_id 2]}] [r CLUSTER MYSHARDID]
} [list "ERR CLUSTER RESET can't be called with master nodes containing keys OK [node_id 1] {myself,master - 3} 1" \
    "ERR Unknown node [node_id 2]" [node_id 101]]
check_in 2 "RESET HARD also gives new names and no epochs" {
    r CLUSTER RESET HARD
    set id [r CLUSTER MYID]
    list [regexp {^[0-9a-f]{40}$} $id] [expr {$id ne [node_id 1]}] [expr {[r CLUSTER MYSHARDID] ne [node_id 101]}] \
        [cluster_field cluster_current_epoch] [cluster_field cluster_my_epoch] [string match "*$id *" [read_file \
            $nodes]]
} {1 1 1 0 0 1}
check_in 2 "SET-CONFIG-EPOCH is for new nodes" {
    list [r CLUSTER SET-CONFIG-EPOCH 7] [error_of {r CLUSTER SET-CONFIG-EPOCH 8}] [cluster_field \
        cluster_current_epoch] \
        [cluster_field cluster_my_epoch] [r CLUSTER BUMPEPOCH]
} {OK {ERR Node config epoch is already non-zero} 7 7 {STILL 7}}
check "SAVECONFIG writes the file" {
    file delete $nodes
    list [r CLUSTER SAVECONFIG] [file exists $nodes]
} {OK 1}
check_in 2 "a replica changes no slots, and RESET makes it a primary" {
    begin [string map [list "myself,master" master " slave" " myself,slave" "[node_id 1] 0 0 1" "[node_id 1] 0 0 1"] \
        [regsub {( \[[^\n]*)} $::original ""]]
    set found [list [error_of {r CLUSTER SETSLOT x STABLE}] [error_of {r CLUSTER FORGET [node_id 1]}] \
        [cluster_field cluster_my_epoch] [r CLUSTER RESET]]
    lappend found [node_line 3] [expr {[r CLUSTER MYSHARDID] ne [node_id 101]}]
} {{ERR Please use SETSLOT only with masters.} {ERR Can't forget my master!} 1 OK {myself,master - 1} 1}

# --- Keys of slots

check "COUNTKEYSINSLOT and GETKEYSINSLOT look at one slot" {
    begin
    foreach suffix {a b c} {
        r SET [key_in 100 $suffix] x
    }
    r SET [key_in 101] x
    list [r CLUSTER COUNTKEYSINSLOT 100] [r CLUSTER COUNTKEYSINSLOT 101] [r CLUSTER COUNTKEYSINSLOT 9000] \
        [llength [r CLUSTER GETKEYSINSLOT 100 2]] [lsort [r CLUSTER GETKEYSINSLOT 100 100]] [r CLUSTER GETKEYSINSLOT \
            100 0]
} [list 3 1 0 2 [list [key_in 100 a] [key_in 100 b] [key_in 100 c]] {}]
check "SLOT-STATS shows counts of keys" {
    foreach suffix {a b c} {
        r SET [key_in 100 $suffix] x
    }
    r SET [key_in 101] x
    list [r CLUSTER SLOT-STATS SLOTSRANGE 99 101] [r CLUSTER SLOT-STATS SLOTSRANGE 5000 8001] \
        [r CLUSTER SLOT-STATS ORDERBY key-count LIMIT 3] [r CLUSTER SLOT-STATS ORDERBY key-count ASC LIMIT 1] \
        [llength [r CLUSTER SLOT-STATS ORDERBY key-count]]
} {{{99 {key-count 0}} {100 {key-count 3}} {101 {key-count 1}}} {{5000 {key-count 0}}}\
    {{100 {key-count 3}} {101 {key-count 1}} {0 {key-count 0}}} {{0 {key-count 0}}} 5001}
check "FLUSHSLOT deletes the keys of one slot, and tells whoever must know" {
    foreach suffix {a b c} {
        r SET [key_in 100 $suffix] x
    }
    r SET [key_in 101] x
    r WATCH [key_in 100 a]
    set other [client_open]
    set found [list [$other call CLUSTER FLUSHSLOT 100] [r DBSIZE]]
    $other close
    r MULTI
    r PING
    lappend found [r EXEC] [r CLUSTER FLUSHSLOT 101 SYNC] [r CLUSTER FLUSHSLOT 101 ASYNC] [r DBSIZE]
} {OK 1 (nil) OK OK 0}
check "FLUSHSLOT deletes many keys" {
    for {set i 0} {$i < 1000} {incr i} {
        lappend pairs [key_in 100 $i] x
    }
    r MSET {*}$pairs
    r SADD [key_in 100 set] {*}[lrange $pairs 0 999]
    list [r CLUSTER COUNTKEYSINSLOT 100] [r CLUSTER FLUSHSLOT 100 SYNC] [r DBSIZE]
} {1001 OK 0}

# --- CLUSTERSCAN

# All keys that a scan finds from the cursor on, and the cursor at which it stopped.
proc scan_all {cursor args} {
    set keys {}
    while 1 {
        lassign [r CLUSTERSCAN $cursor {*}$args] cursor found
        lappend keys {*}$found
        if {$cursor eq "0" || [string match 0-* $cursor]} {
            return [list [lsort $keys] $cursor]
        }
    }
}
check "CLUSTERSCAN finds the keys of a node's slots, and stops at the next node's" {
    set keys {}
    for {set i 0} {$i < 100} {incr i} {
        set key [key_in [expr {50 * $i}]]
        r SET $key x
        lappend keys $key
    }
    lassign [scan_all 0-[key_in 0]-0 COUNT 7] all after
    list [expr {$all eq [lsort $keys]}] [r CLUSTER KEYSLOT $after]
} {1 5001}
check "CLUSTERSCAN begins with 0 and ends with 0" {
    with_server {cluster-enabled yes} {
        r CLUSTER ADDSLOTSRANGE 0 16383
        for {set i 0} {$i < 100} {incr i} {
            r SET $i x
        }
        lassign [r CLUSTERSCAN 0] cursor found
        lassign [r CLUSTERSCAN 0 SLOT 100] slot
        lassign [r CLUSTERSCAN 0 MATCH {{k}*}] tag
        lassign [scan_all $cursor COUNT 7] all after
        list $found [r CLUSTER KEYSLOT $cursor] [r CLUSTER KEYSLOT $slot] [r CLUSTER KEYSLOT $tag] [llength $all] $after
    }
} {{} 0 100 7629 100 0}
check "CLUSTERSCAN takes MATCH, TYPE and SLOT" {
    r SET [key_in 100 a] x
    r RPUSH [key_in 100 b] x
    r SET [key_in 200 a] x
    set cursor 0-[key_in 100]-0
    lassign [r CLUSTERSCAN $cursor MATCH [key_in 200 *]] other
    list [scan_all $cursor SLOT 100] [scan_all $cursor SLOT 100 TYPE list] \
        [scan_all $cursor SLOT 100 MATCH *a] [r CLUSTER KEYSLOT $other] [scan_all $other MATCH [key_in 200 *]]
} [list [list [lsort [list [key_in 100 a] [key_in 100 b]]] 0] [list [list [key_in 100 b]] 0] [list [list [key_in 100 \
    a]] 0] 200 \
    [list [list [key_in 200 a]] 0]]
# Where they are sent to is decided by their tags.
set at [key_in 100]
foreach {arguments error} {
    AT "Invalid cursor"
    x-AT "Invalid cursor"
    0-AT-x "Invalid cursor"
    0-AT-0-1 "Invalid cursor"
    {0-AT-0 COUNT 0} "syntax error"
    {0-AT-0 MATCH} "syntax error"
    {0-AT-0 SLOT} "syntax error"
    {0-AT-0 FROB 1} "syntax error"
    {0-AT-0 SLOT 16384} "Invalid or out of range slot"
    {0-AT-0 SLOT 1} "Cursor slot mismatch with SLOT argument"
} {
    check_error "CLUSTERSCAN $arguments is refused" [list r CLUSTERSCAN {*}[string map [list AT $at] $arguments]] \
        "ERR $error"
}
check "CLUSTERSCAN is sent to the node of its slot" {
    list [error_of {r CLUSTERSCAN 0}] [error_of {r CLUSTERSCAN 0-[key_in 9000]-0}] [error_of {r CLUSTERSCAN \
        0-[key_in 6000]-0}]
} {{MOVED 13907 127.0.0.1:20002} {MOVED 9000 127.0.0.1:20002} {CLUSTERDOWN Hash slot not served}}

# --- Who must hear of changes

check "clients of shard channels are told when their slot goes" {
    begin
    set listener [client_open 3]
    set channel [key_in 100]
    $listener call SSUBSCRIBE $channel
    $listener call SSUBSCRIBE [key_in 101]
    r CLUSTER SETSLOT 100 NODE [node_id 2]
    set found [list [$listener read] [r PUBSUB SHARDCHANNELS]]
    $listener close
    r CLUSTER SETSLOT 100 NODE [node_id 1]
    set found
} [list [list sunsubscribe [key_in 100] 1] [list [key_in 101]]]
check "a client that waits for a key goes where its slot has gone" {
    set waiter [client_open]
    $waiter send BLPOP [key_in 100] 0
    wait_until {[info_field blocked_clients] == 1}
    r CLUSTER SETSLOT 100 NODE [node_id 2]
    set found [error_of {$waiter read}]
    $waiter close
    r CLUSTER SETSLOT 100 NODE [node_id 1]
    set found
} {MOVED 100 127.0.0.1:20002}

# --- Other commands

foreach {command error} {
    {SELECT 1} "ERR SELECT is not allowed in cluster mode"
    {SELECT x} "ERR value is not an integer or out of range"
    {SWAPDB 0 0} "ERR SWAPDB is not allowed in cluster mode"
    {MOVE KEY 0} "ERR MOVE is not allowed in cluster mode"
    {COPY KEY COPY DB 1} "ERR DB index is out of range"
    {REPLICAOF NO ONE} "ERR REPLICAOF not allowed in cluster mode."
    {SLAVEOF 127.0.0.1 1} "ERR REPLICAOF not allowed in cluster mode."
    {FAILOVER ABORT} "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead."
} {
    check_error "$command is refused in a cluster" [list r {*}[string map [list KEY [list [key_in 100]] { COPY } " \
        [list [key_in 100 x]] "] $command]] $error
}
check "SELECT 0 is not" {r SELECT 0} OK
check "cluster-databases: there are others, but they cannot be swapped" {
    with_server {cluster-enabled yes cluster-databases 3} {
        r CLUSTER ADDSLOTSRANGE 0 16383
        r SELECT 2
        r SET a x
        list [error_of {r SELECT 3}] [r MOVE a 1] [r SET a y] [r COPY a {{a}b} DB 0] [error_of {r SWAPDB 0 1}] \
            [r CLUSTER COUNTKEYSINSLOT 15495] [r CLUSTER SLOT-STATS SLOTSRANGE 15495 15495] \
            [r CLUSTER FLUSHSLOT 15495] [r DBSIZE] [r SELECT 0] [r DBSIZE]
    }
} {{ERR DB index is out of range} 1 OK 1 {ERR SWAPDB is not allowed in cluster mode} 1 {{15495 {key-count 3}}} OK 0\
    OK 0}
set by "ERR BY option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots."
set get "ERR GET option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots."
foreach {options result} [list {BY w*} $by {BY K*} {1 2} {BY {*K}} $by {BY xKy*} {1 2} {BY {K*->f} GET K*->f} {(nil)\
        (nil)} \
    {BY nosort} {1 2} {GET #} {1 2} {GET w} $get {GET K} {(nil) (nil)} {GET K*} {(nil) (nil)} {GET x*K} $get {BY \
        {{}K*}} $by] {
    check "SORT … $options may look up keys of its slot alone" {
        r RPUSH [key_in 100 list] 2 1
        set words [lmap word $options {string map [list K [key_in 100]] $word}]
        if {[catch {r SORT [key_in 100 list] ALPHA {*}$words} reply]} {
            set reply
        } else {
            lsort $reply
        }
    } $result
}
check "HOTKEYS collects keys of certain slots" {
    set results {}
    foreach slots {{1 100} {3 100 102 101}} {
        r HOTKEYS START METRICS 1 NET SLOTS {*}$slots
        r SET [key_in 100] x
        r SET [key_in 200] x
        r HOTKEYS STOP
        set found [lindex [r HOTKEYS GET] 0]
        r HOTKEYS RESET
        lappend results [dict get $found selected-slots] [dict keys [dict get $found by-net-bytes]] \
            [dict get $found net-bytes-all-commands-selected-slots]
    }
    set results
} [list 100 [list [key_in 100]] [expr {31 + [string length [key_in 100]]}] {{100 102}} [list [key_in 100]] \
    [expr {31 + [string length [key_in 100]]}]]
check "HOTKEYS without SLOTS collects all" {
    r HOTKEYS START METRICS 1 NET
    r HOTKEYS STOP
    set found [dict get [lindex [r HOTKEYS GET] 0] selected-slots]
    r HOTKEYS RESET
    set found
} {{0 16383}}
foreach {slots error} {
    {0 1} "SLOTS count must be between 1 and 16384"
    {2 1} "not enough slot numbers provided"
    {1 16384} "Invalid or out of range slot"
    {1 8000} "slot 8000 not handled by this node"
    {2 1 1} "duplicate slot number"
    {1 1 SLOTS 1 2} "SLOTS parameter already specified"
    {} "syntax error"
} {
    check_error "HOTKEYS START … SLOTS $slots is refused" [list r HOTKEYS START METRICS 1 CPU SLOTS {*}$slots] \
        "ERR $error"
}
check "a client that comes over TLS is told ports for TLS" {
    with_server {cluster-enabled yes} {
        tls_listen
        r CLUSTER ADDSLOTSRANGE 0 16383
        r CONFIG SET cluster-announce-hostname first.localhost
        set text "[tls_cli client CLUSTER NODES] [tls_cli client CLUSTER SLOTS]"
        set plain "[r CLUSTER NODES] [r CLUSTER SLOTS]"
        set port [$::current_server port]
        list [regexp -all "\\m$::tls_port\\M" $text] [regexp -all "\\m$port\\M" $text] \
            [regexp -all "\\m$::tls_port\\M" $plain] [regexp -all "\\m$port\\M" $plain]
    }
} {2 0 0 2}
check "redis-cli checks a cluster of one node" {
    with_server {cluster-enabled yes} {
        r CLUSTER ADDSLOTSRANGE 0 16383
        set place 127.0.0.1:[$::current_server port]
        set output [exec redis-cli --cluster check $place 2>@1]
        append output [exec redis-cli --cluster info $place 2>@1]
        list [string match "*All nodes agree about slots configuration*" $output] \
            [string match "*All 16384 slots covered*" $output] [regexp -all {16384 slots} $output]
    }
} {1 1 4}

finish
