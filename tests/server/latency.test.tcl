# LATENCY: what delayed the server, and how long commands take.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

# Shorter delays, which a busy machine causes, are no events.
server_start {latency-monitor-threshold 500}

# Notes one event "command" of at least so many milliseconds.
proc hold_up {ms} {
    r DEBUG SLEEP [expr {$ms / 1000.0}]
}

proc events {} {
    return [lmap event [r LATENCY LATEST] {lindex $event 0}]
}

check "LATENCY LATEST shows what took too long" {
    r LATENCY RESET
    r PING
    assert_equal [typed LATENCY LATEST] {array {}}
    hold_up 510
    lassign [lindex [r LATENCY LATEST] 0] event time latest worst
    assert_equal $event command
    assert {abs($time - [clock seconds]) < 200}
    expr {$latest >= 510 && $worst >= $latest}
} 1
check "LATENCY LATEST is an array of arrays" {
    hold_up 510
    set event [lindex [typed LATENCY LATEST] 1 0]
    lmap value [lindex $event 1] {lindex $value 0}
} {bulk int int int}
check "LATENCY HISTORY has a sample for each second" {
    r LATENCY RESET
    hold_up 530
    hold_up 510
    set history [r LATENCY HISTORY command]
    assert {[llength $history] <= 2}
    lassign [lindex $history 0] time ms
    assert {abs($time - [clock seconds]) < 200}
    expr {$ms >= 530}
} 1
check "LATENCY HISTORY of an event that has not happened is empty" {
    list [typed LATENCY HISTORY fast-command] [typed LATENCY HISTORY nosuch]
} {{array {}} {array {}}}
check "LATENCY RESET forgets events and counts them" {
    hold_up 510
    assert_equal [typed LATENCY RESET fast-command nosuch] {int 0}
    assert_equal [events] command
    assert_equal [typed LATENCY RESET command command] {int 1}
    hold_up 510
    assert_equal [typed LATENCY RESET] {int 1}
    events
} {}
check "nothing is noted below the threshold, or with a threshold of 0" {
    r LATENCY RESET
    with_config {latency-monitor-threshold 10000} {hold_up 50}
    with_config {latency-monitor-threshold 0} {hold_up 510}
    events
} {}
# A list whose deletion takes some milliseconds: every element is a node.
proc make_large {key} {
    with_config {list-max-listpack-size 1} {
        for {set i 0} {$i < 20} {incr i} {
            r RPUSH $key {*}[lrepeat 10000 x]
        }
    }
}

check "the deletion of a large key that expires is an event" {
    r LATENCY RESET
    make_large large
    with_config {latency-monitor-threshold 1} {
        r PEXPIRE large 1
        wait_until {[r EXISTS large] == 0}
    }
    lsearch [events] expire-del
} {[0-9]*} -match glob
check "eviction and the deletion of a large key by it are events" {
    r LATENCY RESET
    make_large large
    with_config {latency-monitor-threshold 1 maxmemory-policy allkeys-random} {
        r CONFIG SET maxmemory 1
        wait_until {[r EXISTS large] == 0}
        r CONFIG SET maxmemory 0
    }
    set seen [events]
    list [expr {"eviction-cycle" in $seen}] [expr {"eviction-del" in $seen}]
} {1 1}

# --- In words

check "LATENCY DOCTOR has nothing to say without samples" {
    r LATENCY RESET
    assert_equal [r LATENCY DOCTOR] \
        "Nothing has taken 500 milliseconds or more since the monitor was turned on or reset.\n"
    with_config {latency-monitor-threshold 0} {r LATENCY DOCTOR}
} {The latency monitor is off*latency-monitor-threshold*} -match glob
check "LATENCY DOCTOR names events and what to do" {
    r LATENCY RESET
    hold_up 510
    set report [r LATENCY DOCTOR]
    assert {[string match "*1. command: 1 latency spikes (average *ms, mean deviation 0ms, period * sec).*" $report]}
    string match "*Worst all time event *ms.*SLOWLOG GET*" $report
} 1
check "LATENCY GRAPH draws the samples" {
    r LATENCY RESET
    hold_up 510
    set lines [split [r LATENCY GRAPH command] \n]
    assert {[regexp {^command - high (\d+) ms, low \1 ms \(all time high \1 ms\)$} [lindex $lines 0]]}
    assert_equal [lindex $lines 1] [string repeat - 80]
    assert_equal [join [lrange $lines 2 6]] "# # # # #"
    lrange $lines 8 9
} {[0-9] s} -match glob
check_error "LATENCY GRAPH of an event that has not happened" {r LATENCY GRAPH nosuch} \
    "ERR No samples available for event 'nosuch'"
check_in 2 "texts are bulk strings in RESP2" {
    hold_up 510
    list [lindex [typed LATENCY DOCTOR] 0] [lindex [typed LATENCY GRAPH command] 0]
} {bulk bulk}
check_in 3 "texts are verbatim strings in RESP3" {
    hold_up 510
    list [lindex [typed LATENCY DOCTOR] 0] [lindex [typed LATENCY GRAPH command] 0]
} {verbatim verbatim}

# --- Histograms

check "LATENCY HISTOGRAM counts calls by their duration" {
    r CONFIG RESETSTAT
    r SET a 1
    r SET a 2
    r DEBUG SLEEP 0.03
    lassign [r LATENCY HISTOGRAM set debug nosuch] name set_fields other debug_fields
    assert_equal [list $name $other] {set debug}
    assert_equal [dict get $set_fields calls] 2
    assert_equal [lindex [dict get $set_fields histogram_usec] end] 2
    lassign [dict get $debug_fields histogram_usec] usec count
    assert_equal $count 1
    expr {$usec >= 30000 && [llength [dict get $debug_fields histogram_usec]] == 2}
} 1
check "its steps double as Redis's do, and counts grow from step to step" {
    for {set i 0} {$i < 200} {incr i} { r SET a $i }
    for {set i 0} {$i < 5} {incr i} { r DEBUG SLEEP 0.001 }
    set known {1 2 4 8 16 33 66 132 264 528 1056 2113 4227 8454 16908 33816 67633 135266
        270532 541065 1082130 2164260 4328521 8657043}
    set last 0
    foreach command {set debug} {
        set before 0
        foreach {usec count} [dict get [r LATENCY HISTOGRAM $command] $command histogram_usec] {
            assert {$usec in $known && $count > $before}
            set before $count
        }
    }
}
check "a container stands for its subcommands" {
    r CONFIG RESETSTAT
    r CLIENT ID
    r CLIENT GETNAME
    assert_equal [lsort [dict keys [r LATENCY HISTOGRAM client]]] {client|getname client|id}
    assert_equal [dict keys [r LATENCY HISTOGRAM CLIENT|ID]] client|id
    expr {"latency|histogram" in [dict keys [r LATENCY HISTOGRAM]]}
} 1
check_in 2 "LATENCY HISTOGRAM without calls is an empty array in RESP2" {typed LATENCY HISTOGRAM lset} {array {}}
check_in 3 "LATENCY HISTOGRAM is a map of maps in RESP3" {
    r SET a 1
    assert_equal [typed LATENCY HISTOGRAM lset] {map {}}
    lassign [typed LATENCY HISTOGRAM set] type pairs
    list $type [lindex $pairs 1 0]
} {map map}
check "latency-tracking no counts nothing" {
    r CONFIG RESETSTAT
    with_config {latency-tracking no} {
        r SET a 1
        assert_equal [r INFO latencystats] "# Latencystats\r\n"
        assert_equal [r LATENCY HISTOGRAM set] {}
    }
}
check "INFO latencystats shows percentiles of each command" {
    r CONFIG RESETSTAT
    for {set i 0} {$i < 99} {incr i} { r PING }
    r DEBUG SLEEP 0.03
    assert {[regexp {^p50=[0-9.]+,p99=[0-9.]+,p99\.9=[0-9.]+$} [info_field latency_percentiles_usec_ping]]}
    regexp {p50=(\d+)\.} [info_field latency_percentiles_usec_debug] _ usec
    assert {$usec >= 30000 && $usec < 1000000}
    with_config {latency-tracking-info-percentiles {0 12.5 100}} {
        assert {[regexp {^p0=[0-9.]+,p12\.5=[0-9.]+,p100=[0-9.]+$} [info_field latency_percentiles_usec_ping]]}
    }
    with_config {latency-tracking-info-percentiles ""} {info_field latency_percentiles_usec_ping}
} ""
check "percentiles grow" {
    for {set i 0} {$i < 300} {incr i} { r GET a }
    with_config {latency-tracking-info-percentiles {0 10 50 90 100}} {
        set last 0
        foreach {_ value} [regexp -all -inline {=([0-9.]+)} [info_field latency_percentiles_usec_get]] {
            assert {$value >= $last}
            set last $value
        }
    }
    expr {$last > 0}
} 1

# --- Arguments

check "what is wrong with LATENCY's arguments" {
    foreach {arguments text} {
        {FOO} {unknown subcommand 'FOO'. Try LATENCY HELP.}
        {} {wrong number of arguments for 'latency' command}
        {HISTORY} {wrong number of arguments for 'latency|history' command}
        {GRAPH} {wrong number of arguments for 'latency|graph' command}
        {LATEST x} {wrong number of arguments for 'latency|latest' command}
        {DOCTOR x} {wrong number of arguments for 'latency|doctor' command}
    } {
        assert_equal [error_of {r LATENCY {*}$arguments}] "ERR $text"
    }
}
check "LATENCY HELP names every subcommand" {
    set help [r LATENCY HELP]
    foreach word {DOCTOR GRAPH HISTOGRAM HISTORY LATEST RESET HELP} {
        assert {[lsearch -glob $help $word*] > 0}
    }
    lindex $help 0
} {LATENCY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:}

# --- LOLWUT

check "LOLWUT draws and ends with the version" {
    set lines [split [string trimright [r LOLWUT] \n] \n]
    assert_equal [llength $lines] 13
    foreach line [lrange $lines 0 10] {
        assert {[string length $line] == 66 && [regexp {^[+|].*[+|]$} $line]}
    }
    lindex $lines end
} "Lists, packed. Packlist *, as Redis ver. [info_field redis_version]" -match glob
check "LOLWUT takes a version and a size" {
    set lines [split [r LOLWUT VERSION 5 20 2] \n]
    assert_equal [lmap line [lrange $lines 0 4] {string length $line}] {20 20 20 20 20}
    assert_equal [lindex [split [r lolwut version 6 1000 1] \n] 3] ""
    foreach arguments {{VERSION x} {VERSION 5 x} {VERSION 5 1 x}} {
        assert_equal [error_of {r LOLWUT {*}$arguments}] "ERR value is not an integer or out of range"
    }
    string match "*Redis ver.*" [r LOLWUT whatever]
} 1

finish
