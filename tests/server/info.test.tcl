# INFO: sections and fields.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# The titles of INFO's sections in their order.
proc titles {args} {
    return [lmap {_ title} [regexp -all -inline -line {^# (\w+)\r$} [r INFO {*}$args]] {set title}]
}

set default_titles {Server Clients Memory Persistence Threads Stats Replication CPU Modules Errorstats Cluster Keyspace
    Keysizes}
set all_titles {Server TLS Clients Memory Persistence Threads Stats Replication CPU Modules Commandstats Errorstats
    Latencystats Cluster Keyspace Keysizes}

check "INFO has the default sections" {assert_equal [titles] [list {*}$default_titles]}
check "INFO default is the same" {assert_equal [titles default] [list {*}$default_titles]}
check "INFO all and everything have all sections" {
    assert_equal [titles all] [list {*}$all_titles]
    assert_equal [titles Everything] [list {*}$all_titles]
}
check "INFO of one section, in any case" {list [titles cluster] [titles REPLICATION]} {Cluster Replication}
check "INFO of several sections has each once, in its place" {
    titles keyspace server KEYSPACE nosuch cpu
} {Server CPU Keyspace}
check "INFO default and one more" {
    assert_equal [titles default commandstats] [linsert $default_titles 9 Commandstats]
}
check "INFO of an unknown section is empty" {r INFO nosuch} ""
check_in 2 "INFO is a bulk string in RESP2" {typed INFO cluster} [list bulk "# Cluster\r\ncluster_enabled:0\r\n"]
check_in 3 "INFO is a verbatim string in RESP3" {lindex [typed INFO cluster] 0} verbatim
check "an empty line stands between sections" {
    r INFO modules cluster
} "# Modules\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n"
check "every line is a heading, a field or empty" {
    foreach line [split [string map {\r\n \n} [r INFO everything]] \n] {
        assert {[regexp {^$|^# \w+$|^[^: ]+:.*$} $line]}
    }
}

check "what clients look for" {
    list [info_field redis_version] [info_field server_name] [info_field redis_mode] [info_field loading] \
        [info_field role] [info_field maxmemory_policy] [info_field cluster_enabled]
} {8.10.0 packlist standalone 0 master noeviction 0}
check "INFO names the process and where it listens" {
    assert_equal [info_field tcp_port] [$current_server port]
    assert_equal [info_field process_id] [$current_server pid]
    assert_equal [info_field executable] [file readlink /proc/[$current_server pid]/exe]
    assert_equal [info_field listener0] name=tcp,bind=127.0.0.1,port=[$current_server port]
    string match *packlist.conf [info_field config_file]
} 1
check "INFO counts clients" {
    r PING
    assert_equal [info_field connected_clients] 2
    set c [client_blocked BLPOP a b 0]
    assert_equal [info_field clients_in_timeout_table] 0
    set d [client_blocked BLPOP a 100]
    list [info_field connected_clients] [info_field blocked_clients] [info_field total_blocking_keys] \
        [info_field clients_in_timeout_table]
} {4 2 2 1}
check "INFO counts authentications that failed" {
    r CONFIG RESETSTAT
    error_of {r AUTH bob secret}
    error_of {r HELLO 3 AUTH bob secret}
    r AUTH default whatever
    info_field acl_access_denied_auth
} 2
check "INFO shows databases that have keys" {
    r SET a 1
    r SET b 2
    r SELECT 9
    r RPUSH l x
    assert {[string match {keys=2,expires=0,avg_ttl=0*} [info_field db0]]}
    assert {[string match {keys=1,expires=0,avg_ttl=0*} [info_field db9]]}
    r FLUSHALL
    r INFO keyspace
} "# Keyspace\r\n"
check "INFO counts hits and misses" {
    r CONFIG RESETSTAT
    r SET a 1
    r GET a
    r GET nosuch
    r LRANGE nosuch 0 -1
    list [info_field keyspace_hits] [info_field keyspace_misses]
} {1 2}
check "INFO counts calls, failures and refusals of each command" {
    r CONFIG RESETSTAT
    r RPUSH l a
    r RPUSH l b
    error_of {r RPUSH l}
    r SET s x
    error_of {r RPUSH s a}
    r CLIENT ID
    assert {[string match calls=3,usec=*,usec_per_call=*,rejected_calls=1,failed_calls=1 \
        [info_field cmdstat_rpush]]}
    string match calls=1,* [info_field {cmdstat_client\|id}]
} 1
check "INFO counts errors by their code" {
    r CONFIG RESETSTAT
    r SET s x
    error_of {r RPUSH s a}
    error_of {r NOSUCH}
    error_of {r GET}
    list [info_field errorstat_WRONGTYPE] [info_field errorstat_ERR] [info_field total_error_replies]
} {count=1 count=2 3}
check "INFO makes the codes of errors safe that scripts have made up" {
    r CONFIG RESETSTAT
    foreach text {"A:B#C text" "nospace" "X=y,z text" "A_B_C text" "[string repeat C 31] text"} {
        error_of {r EVAL {return redis.error_reply(ARGV[1])} 0 [subst $text]}
    }
    lsort [lsearch -all -inline [split [string map {\r\n \n} [r INFO errorstats]] \n] errorstat_*]
} {errorstat_A_B_C:count=2 errorstat_ERR:count=2 errorstat_X=y,z:count=1}
check "a command that waits counts when it is answered" {
    r CONFIG RESETSTAT
    set c [client_blocked BLPOP k 0]
    assert {![regexp cmdstat_blpop [r INFO commandstats]]}
    r RPUSH k a
    $c read
    r BLPOP k 0.001
    string match calls=2,*rejected_calls=0,failed_calls=0 [info_field cmdstat_blpop]
} 1
check "an error given to a client that waited counts" {
    r CONFIG RESETSTAT
    r SET s text
    set c [client_blocked BLMOVE k s LEFT LEFT 0]
    r RPUSH k a
    catch {$c read}
    set c [client_blocked BLPOP other 0]
    regexp {id=(\d+) [^\n]*cmd=blpop} [r CLIENT LIST] _ id
    r CLIENT UNBLOCK $id ERROR
    catch {$c read}
    assert_equal [info_field errorstat_WRONGTYPE] count=1
    assert_equal [info_field errorstat_UNBLOCKED] count=1
    assert {[string match calls=1,*failed_calls=1 [info_field cmdstat_blpop]]}
    string match calls=1,*failed_calls=1 [info_field cmdstat_blmove]
} 1
check "what EXEC runs counts beside EXEC" {
    r CONFIG RESETSTAT
    r MULTI
    r SET a 1
    r SET a 2
    r EXEC
    lmap command {multi set exec} {regexp -inline {^calls=\d+} [info_field cmdstat_$command]}
} {calls=1 calls=2 calls=1}
check "what EXEC runs counts once in the time of all commands" {
    r CONFIG RESETSTAT
    r MULTI
    r DEBUG SLEEP 0.02
    r DEBUG SLEEP 0.02
    r EXEC
    set info [r INFO everything]
    regexp {cmdstat_exec:calls=1,usec=(\d+)} $info _ exec_us
    regexp {eventloop_duration_cmd_sum:(\d+)} $info _ all_us
    assert {$exec_us >= 40000}
    # The others are CONFIG RESETSTAT and MULTI.
    set others 0
    foreach {_ us} [regexp -all -inline {cmdstat_(?:multi|config\|resetstat):calls=1,usec=(\d+)} $info] {
        incr others $us
    }
    expr {abs($all_us - $exec_us - $others) <= 5}
} 1
check "used_active_time_main_thread is the time of the event loop in seconds" {
    r CONFIG RESETSTAT
    r DEBUG SLEEP 0.05
    set us [info_field eventloop_duration_sum]
    set seconds [info_field used_active_time_main_thread]
    assert {[regexp {^\d+\.\d{6}$} $seconds]}
    expr {$seconds * 1000000 >= $us && $us >= 40000 && [info_field eventloop_duration_sum] >= $seconds * 1000000}
} 1
check "INFO tells of a pause why it is, what waits, and for how long" {
    set found [list [lmap field {reason actions timeout_milliseconds} {info_field paused_$field}]]
    foreach {limit what} {1000000 WRITE 2000000 ALL} {
        r MULTI
        r CLIENT PAUSE $limit $what
        r INFO clients
        r CLIENT UNPAUSE
        set info [lindex [r EXEC] 1]
        set fields {paused_reason:(\w+)\r\npaused_actions:(\w+)\r\npaused_timeout_milliseconds:(\d+)\r}
        regexp $fields $info _ reason actions left
        assert {$left > $limit - 100000 && $left <= $limit}
        lappend found [list $reason $actions]
    }
    r CLIENT PAUSE 1 WRITE
    wait_until {[info_field paused_reason] eq "none"}
    lappend found [lmap field {reason actions timeout_milliseconds} {info_field paused_$field}]
} {{none none 0} {client_pause write} {client_pause all} {none none 0}}
check "INFO counts what active expiry has deleted apart" {
    r CONFIG RESETSTAT
    r DEBUG SET-ACTIVE-EXPIRE 0
    r SET a 1 PX 1
    r HSET h f v
    r HPEXPIRE h 1 FIELDS 1 f
    after 5
    r GET a
    r HGETALL h
    set found [list [lmap field {keys keys_active subkeys subkeys_active} {info_field expired_$field}]]
    r SET a 1 PX 1
    r HSET h f v
    r HPEXPIRE h 1 FIELDS 1 f
    r DEBUG SET-ACTIVE-EXPIRE 1
    wait_until {[info_field expired_keys] == 2 && [info_field expired_subkeys] == 2}
    lappend found [lmap field {keys keys_active subkeys subkeys_active} {info_field expired_$field}]
} {{1 0 1 0} {2 1 2 1}}
check "INFO tells when the most memory was used" {
    r CONFIG RESETSTAT
    r SETRANGE big 20000000 x
    set before [info_field used_memory_peak_time]
    assert {abs($before - [clock seconds]) < 200}
    r DEL big
    wait_until {[clock seconds] > $before + 1}
    assert_equal [info_field used_memory_peak_time] $before
    r SETRANGE big 40000000 x
    set after [info_field used_memory_peak_time]
    expr {$after > $before && abs($after - [clock seconds]) < 200}
} 1
check "INFO counts background snapshots that fail one after the other" {
    with_server {} {
        set folder [$::current_server folder]
        r SET a 1
        file mkdir $folder/dump.rdb/inside
        set found {}
        foreach count {1 2} {
            r BGSAVE
            wait_until {[info_field rdb_saves_consecutive_failures] == $count && ![info_field rdb_bgsave_in_progress]}
        }
        catch {r SAVE}
        lappend found [info_field rdb_saves_consecutive_failures] [info_field rdb_last_bgsave_status]
        file delete -force $folder/dump.rdb
        r SAVE
        lappend found [info_field rdb_saves_consecutive_failures]
        r BGSAVE
        wait_until {![info_field rdb_bgsave_in_progress]}
        lappend found [info_field rdb_saves_consecutive_failures] [info_field rdb_last_bgsave_status]
    }
} {2 err 2 0 ok}
check "INFO counts requests for which keys are loaded ahead" {
    r CONFIG RESETSTAT
    set keys {}
    for {set i 0} {$i < 40000} {incr i} {
        lappend keys key:$i value
    }
    r MSET {*}$keys
    set requests {}
    for {set i 0} {$i < 32} {incr i} {
        lappend requests [list GET key:$i]
    }
    set c [client_open]
    $c pipeline $requests
    set batches [info_field io_threaded_total_prefetch_batches]
    set entries [info_field io_threaded_total_prefetch_entries]
    expr {$batches >= 2 && $entries >= 30 && $entries >= $batches}
} 1
check "INFO threads has a line for each thread; number 0 is the event loop's" {
    set found [list [regexp -all {io_thread_\d+:} [r INFO threads]]]
    assert {[regexp {^clients=2,reads=\d+,writes=\d+$} [info_field io_thread_0]]}
    with_config {io-threads 3 io-threads-always-active yes} {
        set c [client_open]
        wait_until {[$c call PING] eq "PONG" && [info_field io_thread_0] ne "" &&
            [regexp {io_thread_[12]:clients=[1-9]\d*,reads=[1-9]\d*,writes=[1-9]} [r INFO threads]]}
        lappend found [regexp -all {io_thread_\d+:} [r INFO threads]]
        r CONFIG RESETSTAT
        set reads 0
        foreach {_ count} [regexp -all -inline {io_thread_\d:clients=\d+,reads=(\d+)} [r INFO threads]] {
            incr reads $count
        }
        assert {$reads < 5}
    }
    wait_until {[regexp -all {io_thread_\d+:} [r INFO threads]] == 1}
    set found
} {1 3}
check "INFO counts iterations of the event loop and the time they take" {
    r CONFIG RESETSTAT
    for {set i 0} {$i < 50} {incr i} {
        r PING
    }
    r DEBUG SLEEP 0.02
    set cycles [info_field eventloop_cycles]
    set active_us [info_field eventloop_duration_sum]
    assert {$cycles >= 51}
    assert {$active_us >= 20000 && $active_us >= [info_field eventloop_duration_cmd_sum] - 10000}
    wait_until {[info_field instantaneous_eventloop_cycles_per_sec] > 0}
    wait_until {[info_field instantaneous_eventloop_duration_usec] > 0}
    r CONFIG RESETSTAT
    expr {[info_field eventloop_cycles] < $cycles}
} 1
check "time in which the server sleeps is no time of the event loop" {
    # A busy machine delays the server; in some second it does so for less than half of the time.
    wait_until {
        [r CONFIG RESETSTAT] eq "OK" && [set ms [elapsed_ms {after 1000}]] &&
        [info_field eventloop_duration_sum] < $ms * 500
    }
}
check "CONFIG RESETSTAT zeroes the traffic, too" {
    r ECHO [string repeat x 100000]
    assert {[info_field total_net_input_bytes] > 100000 && [info_field total_net_output_bytes] > 100000}
    r CONFIG RESETSTAT
    expr {[info_field total_net_input_bytes] < 50000 && [info_field total_net_output_bytes] < 50000}
} 1
check "INFO names the build by the program's build ID" {
    set notes [exec readelf -n $server_program]
    assert {[regexp {Build ID: ([0-9a-f]{16})} $notes _ id]}
    assert_equal [info_field redis_build_id] $id
    list [info_field redis_git_sha1] [info_field redis_git_dirty]
} {00000000 0}
check "fields of Redis 8 that are always zero here" {
    list [info_field mem_overhead_db_hashtable_rehashing] [info_field expired_subkeys]
} {0 0}
check "usec_per_call is usec divided by calls" {
    r CONFIG RESETSTAT
    r DEBUG SLEEP 0.01
    r DEBUG SLEEP 0.01
    regexp {calls=2,usec=(\d+),usec_per_call=([0-9.]+),} [info_field cmdstat_debug] _ usec per_call
    assert {$usec >= 20000 && abs($usec / 2.0 - $per_call) <= 0.01}
    string match {*.[0-9][0-9]} $per_call
} 1
check "CONFIG RESETSTAT zeroes the counters" {
    error_of {r NOSUCH}
    r CONFIG RESETSTAT
    list [regexp errorstat_ [r INFO errorstats]] [info_field total_error_replies]
} {0 0}
check "INFO shows memory that grows with the data" {
    set before [info_field used_memory]
    r SET big [string repeat x 1000000]
    set after [info_field used_memory]
    assert {$after - $before >= 1000000}
    assert {[info_field used_memory_peak] >= $after}
    assert {[info_field used_memory_dataset] >= 1000000}
    assert {[info_field used_memory_rss] > 0}
    regexp {^\d+\.\d\d[KMG]$} [info_field used_memory_human]
} 1
check "INFO itself takes no memory for good" {
    for {set i 0} {$i < 5} {incr i} { r INFO everything }
    set before [info_field used_memory]
    for {set i 0} {$i < 50} {incr i} { r INFO everything }
    expr {abs([info_field used_memory] - $before) < 4096 + $spare_blocks}
} 1
check "INFO counts changes" {
    set before [info_field rdb_changes_since_last_save]
    r RPUSH l a b c
    r LPOP l
    expr {[info_field rdb_changes_since_last_save] - $before}
} 4
check "INFO counts what goes over the network" {
    set in [info_field total_net_input_bytes]
    set out [info_field total_net_output_bytes]
    r ECHO [string repeat x 100000]
    assert {[info_field total_net_input_bytes] - $in > 100000}
    expr {[info_field total_net_output_bytes] - $out > 100000}
} 1

finish
