# MEMORY: what memory is used for.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-debug-command yes}

set stats_names {
    peak.allocated total.allocated startup.allocated replication.backlog replica.fullsync.buffer
    clients.slaves clients.normal cluster.links aof.buffer lua.caches functions.caches script.VMs
    overhead.db.hashtable.lut overhead.db.hashtable.rehashing overhead.total db.dict.rehashing.count keys.count
    keys.bytes-per-key dataset.bytes dataset.percentage peak.percentage allocator.allocated allocator.active
    allocator.resident allocator.muzzy
    allocator-fragmentation.ratio allocator-fragmentation.bytes allocator-rss.ratio allocator-rss.bytes
    rss-overhead.ratio rss-overhead.bytes fragmentation fragmentation.bytes
}

proc stat {name} {
    return [dict get [r MEMORY STATS] $name]
}

check "MEMORY STATS has Redis's fields in their order" {
    assert_equal [dict keys [r MEMORY STATS]] [list {*}$stats_names]
}
check "MEMORY STATS has a field for each database with keys" {
    r SET a 1
    r SELECT 3
    r SET b 1 EX 1000
    set stats [r MEMORY STATS]
    assert_equal [lrange [dict keys $stats] 12 13] {db.0 db.3}
    foreach database {db.0 db.3} {
        assert_equal [dict keys [dict get $stats $database]] {overhead.hashtable.main overhead.hashtable.expires}
    }
    assert {[dict get $stats db.0 overhead.hashtable.main] > 0}
    expr {[dict get $stats db.3 overhead.hashtable.expires] > 0}
} 1
check_in 2 "MEMORY STATS is an array in RESP2, with texts for fractions" {
    r SET a 1
    lassign [typed MEMORY STATS] type values
    assert_equal $type array
    list [lindex $values 1 0] [lindex $values 25 0] [lindex $values [expr {2 * [lsearch [dict keys [r MEMORY STATS]] \
        fragmentation] + 1}] 0]
} {int array bulk}
check_in 3 "MEMORY STATS is a map in RESP3, with doubles" {
    lassign [typed MEMORY STATS] type values
    assert_equal $type map
    list [lindex $values 1 0] [lindex $values [expr {2 * [lsearch $stats_names fragmentation] + 1}] 0]
} {int double}
check "MEMORY STATS counts keys and their bytes" {
    for {set i 0} {$i < 100} {incr i} { r SET key$i [string repeat x 10000] }
    assert_equal [stat keys.count] 100
    assert {[stat keys.bytes-per-key] >= 10000 && [stat keys.bytes-per-key] < 20000}
    assert {[stat dataset.bytes] >= 1000000}
    assert {[stat dataset.percentage] > 50 && [stat dataset.percentage] <= 100}
    assert {[stat peak.percentage] > 0 && [stat peak.percentage] <= 100}
    expr {[stat total.allocated] >= [stat startup.allocated] + 1000000}
} 1
check "MEMORY STATS and INFO agree on the tables of keys and on the allocator" {
    for {set i 0} {$i < 1000} {incr i} { r SET key$i x }
    set tables [dict get [stat db.0] overhead.hashtable.main]
    assert {$tables > 0 && [stat overhead.db.hashtable.lut] >= $tables}
    list [info_field allocator_muzzy] [stat allocator.muzzy]
} {0 0}
check "MEMORY STATS agrees with INFO" {
    foreach {name field} {startup.allocated used_memory_startup peak.allocated used_memory_peak} {
        assert {abs([stat $name] - [info_field $field]) < 65536}
    }
    assert {abs([stat total.allocated] - [info_field used_memory]) < 65536}
    expr {abs([stat overhead.total] - [info_field used_memory_overhead]) < 65536}
} 1
check "MEMORY STATS counts clients" {
    set before [stat clients.normal]
    [client_open] call PING
    [client_open] call PING
    expr {[stat clients.normal] > $before}
} 1

check "MEMORY DOCTOR has nothing to say of an empty server" {
    r MEMORY DOCTOR
} "Less than 5 MB are in use: too little to say anything about it.\n"
check "MEMORY DOCTOR notices a peak that is over" {
    r SET small [string repeat x 6000000]
    r SET big [string repeat x 30000000]
    info_field used_memory ;# asking takes note of a peak that no tick has met
    r DEL big
    r MEMORY DOCTOR
} "*in use at the peak.*" -match glob
check "MEMORY DOCTOR advises no purge when nothing is left to return" {
    r SET small [string repeat x 6000000]
    r SET big [string repeat x 30000000]
    info_field used_memory
    r DEL big
    r MEMORY PURGE
    set findings [r MEMORY DOCTOR]
    list [regexp {at the peak} $findings] [regexp {MEMORY PURGE} $findings]
} {1 0}
check "MEMORY DOCTOR finds nothing while all is well" {
    r CONFIG RESETSTAT
    r SET a [string repeat x 20000000]
    regexp {at the peak} [r MEMORY DOCTOR]
} 0
check "MEMORY PURGE answers OK" {typed MEMORY PURGE} {simple OK}
check "MEMORY MALLOC-STATS is a text of the allocator" {
    expr {[string length [r MEMORY MALLOC-STATS]] > 10}
} 1
check_in 3 "texts are verbatim strings in RESP3" {
    list [lindex [typed MEMORY DOCTOR] 0] [lindex [typed MEMORY MALLOC-STATS] 0]
} {verbatim verbatim}
check "what is wrong with MEMORY's arguments" {
    foreach {arguments text} {
        {FOO} {unknown subcommand 'FOO'. Try MEMORY HELP.}
        {} {wrong number of arguments for 'memory' command}
        {STATS x} {wrong number of arguments for 'memory|stats' command}
        {PURGE x} {wrong number of arguments for 'memory|purge' command}
        {USAGE} {wrong number of arguments for 'memory|usage' command}
    } {
        assert_equal [error_of {r MEMORY {*}$arguments}] "ERR $text"
    }
}
check "MEMORY HELP names every subcommand" {
    set help [r MEMORY HELP]
    foreach word {DOCTOR MALLOC-STATS PURGE STATS USAGE HELP} {
        assert {[lsearch -glob $help $word*] > 0}
    }
    lindex $help 0
} {MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:}


if {[string match jemalloc* [info_field mem_allocator]]} {
    check "a thread gives freed memory back, as long as jemalloc-bg-thread says so" {
        wait_until {[allocator_threads [info_field process_id]] > 0}
        with_config {jemalloc-bg-thread no} {wait_until {[allocator_threads [info_field process_id]] == 0}}
        wait_until {[allocator_threads [info_field process_id]] > 0}
    } {}
    # Unless they never decay by themselves, jemalloc gives them back in the thread that frees them.
    check "the event loop does not wait until the memory of a large value is given back" {
        set text [string repeat x 64000000]
        r SET k $text
        foreach {setting ms} {yes -1 no 0} {
            with_config [list jemalloc-bg-thread $setting] {
                assert_equal [r DEBUG MALLCTL arena.1.dirty_decay_ms] $ms
            }
        }
        set resident [info_field used_memory_rss]
        r DEL k
        wait_until {[info_field used_memory_rss] < $resident - 50000000}
        r SET k $text
        r SET k $text
        wait_until {[info_field used_memory_rss] < $resident + 30000000}
    } {}
}

finish
