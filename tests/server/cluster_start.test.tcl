# The start of a node of a cluster, its file nodes.conf, and the directives cluster-*.
source [file join [file dirname [file normalize [info script]]] lib cluster.tcl]
source $library/faults.tcl

server_start

proc nodes_path {} {
    return [$::current_server data]/nodes.conf
}

proc hello_mode {} {
    return [dict get [r HELLO $::protocol] mode]
}

# The fields of the line of this server in its file; {} while it has none.
proc own_line {} {
    return [regexp -inline -line {^.* myself,.*$} [read_file [nodes_path]]]
}

proc own_fields {} {
    return [split [lindex [own_line] 0] " "]
}

# A node whose line in the file does not depend on the port of the server.
set fixed {cluster-enabled yes cluster-announce-port 7000 cluster-announce-bus-port 17000}

# Runs the server, which must end, in a new folder in which the file is `text`. Gives what it says.
proc start_with {text args} {
    set dir [temporary_folder]
    write_file $dir/nodes.conf $text
    lassign [server_run [list --port [free_port] --dir $dir --cluster-enabled yes {*}$args]] status output
    assert_equal $status 1
    assert_equal [read_file $dir/nodes.conf] $text
    return [string map [list $dir DIR] $output]
}

set line "[node_id 1] :6379@16379,,tls-port=0,shard-id=[node_id 101] myself,master - 0 0 1 connected"
set vars "vars currentEpoch 1 lastVoteEpoch 0\n"

# --- The start

check "without cluster-enabled there is no cluster and no file" {
    list [info_field cluster_enabled] [info_field redis_mode] [hello_mode] [file exists [nodes_path]]
} {0 standalone standalone 0}

check "without a file a node gets a new name, and the file has it" {
    with_server {cluster-enabled yes} {
        set port [$current_server port]
        assert_match "*Running mode=cluster, port=$port.*" [$current_server log]
        set id [string repeat {[0-9a-f]} 40]
        assert_match "$id :$port@[expr {$port + 10000}],,tls-port=0,shard-id=$id myself,master - 0 0 0 connected\nvars\
            currentEpoch 0 lastVoteEpoch 0\n" [read_file [nodes_path]]
        assert_equal [file attributes [nodes_path] -permissions] 00600
        list [info_field cluster_enabled] [info_field redis_mode] [hello_mode]
    }
} {1 cluster cluster}

check_in 2 "an empty file, as Redis leaves it when it is killed in its first start, is no file" {
    set dir [temporary_folder]
    write_file $dir/nodes.conf ""
    with_server [list cluster-enabled yes cluster-config-file $dir/nodes.conf] {
        regexp {^[0-9a-f]{40} } [read_file $dir/nodes.conf]
    }
} 1

check_in 2 "each start without a file gives another name, one with it the same" {
    with_server $fixed {
        set before [own_line]
        $current_server restart
        assert_equal [own_line] $before
        $current_server crash
        assert_equal [own_line] $before
        $current_server halt
        file delete [nodes_path]
        $current_server launch
        expr {[lindex [own_fields] 0] ne [lindex $before 0 0]}
    }
} 1

check_in 2 "a start keeps nodes, slots, open slots and epochs of the file" {
    set path [nodes_file "0-99 200 \[5->-[node_id 2]\] \[300-<-[node_id 2]\]" 300-16383]
    with_server [dict merge $fixed [list cluster-config-file $path]] {
        set lines [split [read_file $path] \n]
        assert_match "[node_id 1] 127.0.0.1:7000@17000,* connected 0-99 200 \\\[5->-[node_id 2]\\\]\
            \\\[300-<-[node_id 2]\\\]" [lindex $lines 0]
        assert_match "[node_id 2] 127.0.0.1:20002@30002,,tls-port=0,shard-id=[node_id 102] master - 0 0 2 disconnected\
            300-16383" [lindex $lines 1]
        assert_equal [lindex $lines 2] "vars currentEpoch 2 lastVoteEpoch 0"
        assert_match "*is node [node_id 1] of a cluster; $path knows 2 nodes and 16185 slots*" [$current_server log]
        set before [read_file $path]
        $current_server restart
        expr {[read_file $path] eq $before}
    }
} 1

check_in 2 "a file that does not change is not written, so the folder need not be writable" {
    with_server $fixed {
        file stat [nodes_path] was
        $current_server restart
        file stat [nodes_path] is
        expr {$is(ino) == $was(ino)}
    }
} 1

check_in 2 "the log says that other nodes are not asked" {
    set path [nodes_file 0-99 100-16383]
    with_server [list cluster-enabled yes cluster-config-file $path] {
        assert_match "*The 1 other nodes of the cluster are not asked anything*" [$current_server log]
    }
    with_server {cluster-enabled yes} {
        string match "*not asked*" [$current_server log]
    }
} 0

check_in 2 "the file stays where it was at the start, also after CONFIG SET dir" {
    with_server {cluster-enabled yes enable-protected-configs yes} {
        set path [nodes_path]
        set dir [temporary_folder]
        r CONFIG SET dir $dir
        r CONFIG SET cluster-announce-hostname h.localhost
        r CONFIG SET save "" ;# it must not save elsewhere
        list [string match "*,h.localhost,*" [read_file $path]] [file exists $dir/nodes.conf]
    }
} {1 0}

# --- What stops the start

check_in 2 "damaged files stop the start, which names file and line" {
    foreach {text where} [list \
        "foo\n" "line 1: it has fewer than eight fields" \
        "$line 0-2 2\n$vars" {line 1: a slot that is served already is in "2"} \
        "$line 16384\n$vars" {line 1: this is no range of slots: "16384"} \
        "$line\n[string map {myself, {}} $line]\n$vars" "line 2: a line above has the same id, \"[node_id 1]\"" \
        "[string map {myself, {}} $line]\n$vars" "after line 2: no node has the flag myself" \
        "[string map {master odd} $line]\n$vars" {line 1: no flag is named "odd"} \
        "$line\n" "after line 1: the line 'vars' is missing" \
        "$line\n[string range $vars 0 end-1]" "line 2: it is cut off, without a line end" \
        "$line\n\x00$vars" "line 2: it contains a zero byte" \
        "[string map [list myself,master myself,slave " - " " [node_id 2] "] $line]\n$vars" \
            "line 1: its primary is no other node of this file: \"[node_id 2]\"" \
    ] {
        set wanted "The cluster's file DIR/nodes.conf is damaged: $where. Restore the file; or move it away, then the\
            server starts as a new node without slots, which keeps its data"
        assert_equal [list $wanted [expr {[string first $wanted [start_with $text]] >= 0}]] [list $wanted 1]
    }
}

check_in 2 "what is no plain file stops the start" {
    set dir [temporary_folder]
    file mkdir $dir/nodes.conf
    lassign [server_run [list --port [free_port] --dir $dir --cluster-enabled yes]] status output
    list $status [string match "*Can't read the cluster's file $dir/nodes.conf: Is a directory*" $output]
} {1 1}

check_in 2 "directives that do not go with a cluster stop the start" {
    assert_match "*The port 55536 is too high for a node of a cluster: other nodes reach it at a port 10000 higher.\
        Choose a port up to 55535, or set cluster-port*" [start_with "" --port 55536]
    assert_match "*replicaof directive not allowed in cluster mode*" [start_with "" --replicaof 127.0.0.1 1]
}

check_in 2 "a second server does not start with the file of another, and names its process" {
    with_server {cluster-enabled yes save {""} enable-protected-configs yes} {
        set dir [$current_server data]
        set wanted "*The directory $dir is in use by another server (process [$current_server pid]).*"
        foreach place [list [list --dir $dir] [list --dir [temporary_folder] --cluster-config-file [nodes_path]]] {
            lassign [server_run [list --port [free_port] --save "" --cluster-enabled yes {*}$place]] status output
            assert_equal [list $status [string match $wanted $output]] {1 1}
        }
        # CONFIG SET dir does not free it.
        r CONFIG SET dir [temporary_folder]
        lassign [server_run [list --port [free_port] --save "" --cluster-enabled yes --dir $dir]] status output
        list $status [string match $wanted $output]
    }
} {1 1}

# --- When it cannot be written

check_in 2 "the server ends with status 1 when the file cannot be written, and the old file is there" {
    foreach rule {
        {open ENOSPC nodes.conf-*} {write ENOSPC nodes.conf-*} {sync EIO nodes.conf-*} {rename EIO nodes.conf*}
    } {
        with_faulty_server $fixed {
            set before [read_file [nodes_path]]
            faults $rule
            catch {r CONFIG SET cluster-announce-hostname h.localhost}
            assert_equal [$current_server wait_exit] {CHILDSTATUS 1}
            faults
            assert_match "*Can't write the cluster's file [nodes_path]: *. The server ends, because *" \
                [$current_server log]
            assert_equal [read_file [nodes_path]] $before
            assert_equal [glob -nocomplain -directory [$current_server data] nodes.conf-*] {}
            $current_server launch
            set ::default_client ""
            assert_equal [read_file [nodes_path]] $before
        }
    }
}

check_in 2 "with cluster-config-save-behavior best-effort it logs that and goes on" {
    with_faulty_server {cluster-enabled yes cluster-config-save-behavior best-effort} {
        with_faults {{write ENOSPC nodes.conf-*}} {
            r CONFIG SET cluster-announce-hostname h.localhost
        }
        assert_match "*Can't write the cluster's file [nodes_path]: No space left on device. A restart would not know\
            of the last change of nodes or slots*" [$current_server log]
        r CONFIG SET cluster-announce-hostname i.localhost
        string match "*,i.localhost,*" [read_file [nodes_path]]
    }
} 1

# --- Directives

check_in 2 "what a node announces is in its file before CONFIG SET has replied" {
    with_server {cluster-enabled yes} {
        set port [$current_server port]
        foreach {name value wanted} [list \
            cluster-announce-ip 127.1.2.3 "127.1.2.3:$port@[expr {$port + 10000}],,tls-port=0" \
            cluster-announce-port 77 "127.1.2.3:77@[expr {$port + 10000}],,tls-port=0" \
            cluster-announce-bus-port 78 "127.1.2.3:77@78,,tls-port=0" \
            cluster-announce-tls-port 79 "127.1.2.3:77@78,,tls-port=79" \
            cluster-announce-hostname db-1.localhost "127.1.2.3:77@78,db-1.localhost,tls-port=79" \
            cluster-announce-human-nodename one "127.1.2.3:77@78,db-1.localhost,tls-port=79,nodename=one" \
            cluster-announce-ip {} ":77@78,db-1.localhost,tls-port=79,nodename=one" \
            cluster-announce-human-nodename {} ":77@78,db-1.localhost,tls-port=79" \
            tls-cluster no ":77@78,db-1.localhost,tls-port=79" \
        ] {
            r CONFIG SET $name $value
            assert_match "$wanted,shard-id=*" [lindex [own_fields] 1]
        }
        r CONFIG SET cluster-replica-no-failover yes
        assert_equal [lindex [own_fields] 2] myself,master,nofailover
        r CONFIG SET cluster-slave-no-failover no
        lindex [own_fields] 2
    }
} myself,master

check_in 2 "CONFIG SET port moves the bus port, but not beyond the last port" {
    with_server {cluster-enabled yes} {
        set port [free_port]
        assert_match "*The port 60000 is too high for a node of a cluster*" [error_of {r CONFIG SET port 60000}]
        r CONFIG SET port $port
        set moved [string match ":$port@[expr {$port + 10000}],*" [lindex [own_fields] 1]]
        r CONFIG SET port [$current_server port]
        set moved
    }
} 1

check_in 2 "with cluster-port the bus port is that, and a port may be high" {
    with_server {cluster-enabled yes cluster-port 12345} {
        string match ":*@12345,*" [lindex [own_fields] 1]
    }
} 1

check_in 2 "an address that the file has stays until one is announced" {
    set path [nodes_file 0-16383]
    with_server [list cluster-enabled yes cluster-config-file $path] {
        set addresses {}
        foreach address {"" 127.1.2.3 ""} {
            r CONFIG SET cluster-announce-ip $address
            regexp {^\w+ (\S*):\d+@} [read_file $path] _ found
            lappend addresses $found
        }
        set addresses
    }
} {127.0.0.1 127.1.2.3 {}}

check_in 2 "names and addresses are checked as by other servers" {
    set long [string repeat a 256]
    foreach {name value why} [list \
        cluster-announce-hostname a_b "Hostnames may only contain alphanumeric characters, hyphens or dots" \
        cluster-announce-hostname "a\x00b" "Hostnames may only contain alphanumeric characters, hyphens or dots" \
        cluster-announce-hostname $long "Hostnames must be less than 256 characters" \
        cluster-announce-human-nodename "a b" "Announced human node name contained invalid character" \
        cluster-announce-human-nodename a,b "Announced human node name contained invalid character" \
        cluster-announce-human-nodename $long "Announced human node names must be less than 256 characters" \
        cluster-announce-ip a=b "cluster-announce-ip contains invalid character" \
        cluster-announce-ip [string range $long 0 45] "cluster-announce-ip is too long" \
        cluster-announce-client-ipv4 ::1 "Invalid IPv4 address" \
        cluster-announce-client-ipv6 127.2.3.4 "Invalid IPv6 address" \
        cluster-announce-port 65536 "argument must be between 0 and 65535 inclusive" \
        cluster-migration-barrier -1 "argument must be between 0 and 2147483647 inclusive" \
        cluster-manual-failover-timeout 0 "argument must be between 1 and 2147483647 inclusive" \
        cluster-compatibility-sample-ratio 101 "argument must be between 0 and 100 inclusive" \
        cluster-link-sendbuf-limit -1 "argument must be a memory value" \
        cluster-slot-stats-enabled all "argument(s) must be one of the following: no, yes, cpu, net, mem" \
        cluster-config-file x "can't set immutable config" \
        cluster-enabled yes "can't set immutable config" \
    ] {
        assert_equal [error_of {r CONFIG SET $name $value}] \
            "ERR CONFIG SET failed (possibly related to argument '$name') - $why"
    }
}

check_in 2 "directives of what nodes say to each other keep their values, also in a rewritten file" {
    set path [temporary_folder]/redis.conf
    write_file $path ""
    with_server [list include $path] {
        foreach {name value shown} {
            cluster-node-timeout 5000 5000                     cluster-replica-validity-factor 0 0
            cluster-migration-barrier 2 2                      cluster-allow-replica-migration no no
            cluster-link-sendbuf-limit 1mb 1048576
            cluster-link-sendbuf-limit 9223372036854775808 9223372036854775808
            cluster-announce-client-ipv4 127.1.2.3 127.1.2.3     cluster-announce-client-ipv6 ::1 ::1
            cluster-announce-human-nodename n\u00e4me n\u00e4me      cluster-announce-hostname -a..b -a..b
            cluster-slot-stats-enabled {net cpu} {cpu net}     cluster-slot-stats-enabled {cpu net mem} yes
            slot-migration-max-failover-repl-bytes -1 -1       slot-migration-max-failover-repl-bytes 1mb 1048576
        } {
            r CONFIG SET $name [encoding convertto utf-8 $value]
            assert_equal [r CONFIG GET $name] [list $name [encoding convertto utf-8 $shown]]
        }
        r CONFIG GET cluster-slave-validity-factor
    }
} {cluster-slave-validity-factor 0}

check_in 2 "CONFIG REWRITE writes them, and a restart reads them" {
    set directives {slot-migration-max-failover-repl-bytes -1 cluster-node-timeout 700 cluster-announce-hostname h.x
        cluster-slot-stats-enabled {cpu net} cluster-link-sendbuf-limit 1048576 cluster-announce-human-nodename a:b}
    with_server {cluster-enabled yes} {
        r CONFIG SET {*}$directives
        r CONFIG REWRITE
        set path [temporary_folder]/rewritten.conf
        set lines [read_file [$current_server folder]/packlist.conf]
        write_file $path [join [regexp -all -inline -line {^(?:cluster-[ans]|cluster-link|slot-).*$} $lines] \n]\n
        with_server [list include $path] {
            lmap {name _} $directives {lindex [r CONFIG GET $name] 1}
        }
    }
} {-1 700 h.x {cpu net} 1048576 a:b}

finish
