# HOTKEYS: which keys cost most processor time and network traffic.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# The map of HOTKEYS GET as a dictionary, after the body during which is collected.
proc collected {metrics body args} {
    r HOTKEYS START METRICS [llength $metrics] {*}$metrics {*}$args
    uplevel 1 $body
    r HOTKEYS STOP
    set reply [lindex [r HOTKEYS GET] 0]
    r HOTKEYS RESET
    return $reply
}

check "NET counts the bytes of requests and replies by key" {
    set found [collected NET {
        r SET small x
        r SET large [string repeat x 1000]
        r GET large
        r PING
    }]
    assert_equal [dict keys $found] {tracking-active sample-ratio selected-slots all-commands-all-slots-us\
        net-bytes-all-commands-all-slots collection-start-time-unix-ms collection-duration-ms total-net-bytes\
        by-net-bytes}
    # SET: *3 $3 $5 $1000 with their CRLFs, +OK; GET: *2 $3 $5, $1000.
    dict get $found by-net-bytes
} {large 2071 small 36}
check "CPU counts microseconds, and the times of the process" {
    r RPUSH slow {*}[lrepeat 1000 x]
    set found [collected CPU {
        for {set i 0} {$i < 20} {incr i} {
            r SORT slow ALPHA
        }
        r GET fast
    }]
    set keys [dict get $found by-cpu-time-us]
    assert {[dict get $found all-commands-all-slots-us] >= [dict get $keys slow] && [dict get $keys slow] > 0}
    list [lindex $keys 0] [dict exists $found total-cpu-time-user-ms] [dict exists $found total-cpu-time-sys-ms] \
        [dict exists $found by-net-bytes] [dict get $found tracking-active] [dict get $found selected-slots]
} {slow 1 1 0 0 {}}
check "the keys of a command share what it costs" {
    dict get [collected NET {r MSET a [string repeat x 100] b y}] by-net-bytes
} {a 74 b 74}
check "commands that take less than a microsecond for a key add up" {
    for {set i 0} {$i < 64} {incr i} {
        lappend keys k$i
    }
    set found [collected CPU {
        for {set i 0} {$i < 1000} {incr i} {
            r EXISTS {*}$keys
        }
    } COUNT 64]
    set amounts [dict values [dict get $found by-cpu-time-us]]
    list [llength $amounts] [expr {[tcl::mathfunc::min {*}$amounts] >= 5}]
} {64 1}
check "COUNT bounds the keys that are shown, the largest of many are found" {
    set found [collected NET {
        for {set i 0} {$i < 600} {incr i} {
            r SET k$i x
            r SET hot [string repeat x 50]
            r SET warm [string repeat x 25]
        }
    } COUNT 2]
    dict keys [dict get $found by-net-bytes]
} {hot warm}
check "SAMPLE looks at a part of the commands, the totals are of all" {
    set found [collected NET {
        for {set i 0} {$i < 500} {incr i} {
            r SET k x
        }
    } SAMPLE 10]
    set bytes [dict get $found by-net-bytes k]
    list [dict get $found sample-ratio] [expr {$bytes > 10 * 32 && $bytes < 150 * 32}] \
        [expr {[dict get $found total-net-bytes] >= 500 * 32}]
} {10 1 1}
check "what scripts run counts for the script" {
    dict keys [dict get [collected NET {
        r EVAL {return redis.call("SET", KEYS[1], "x")} 1 k
    }] by-net-bytes]
} k
check "DURATION ends the collection, which can be read" {
    r HOTKEYS START METRICS 1 NET DURATION 1
    r SET k v
    assert_equal [dict get [lindex [r HOTKEYS GET] 0] tracking-active] 1
    wait_until {[dict get [lindex [r HOTKEYS GET] 0] tracking-active] == 0}
    r SET other v
    set found [lindex [r HOTKEYS GET] 0]
    set replies [list [dict get $found collection-duration-ms] [dict keys [dict get $found by-net-bytes]]]
    lappend replies [r HOTKEYS STOP] [r HOTKEYS RESET] [r HOTKEYS GET]
} {1000 k (nil) OK (nil)}
check "one collection runs at a time" {
    r HOTKEYS START METRICS 2 CPU NET
    set replies [list [error_of {r HOTKEYS START METRICS 1 CPU}] [error_of {r HOTKEYS RESET}] [r HOTKEYS STOP]]
    lappend replies [r HOTKEYS START METRICS 1 net] [r HOTKEYS STOP] [r HOTKEYS RESET]
} {{ERR hotkeys tracking session already in progress} {ERR hotkeys tracking session in progress, stop tracking first}\
    OK OK OK OK}
check "slow commands, and large ones, are still noted while keys are collected" {
    r SLOWLOG RESET
    with_config {slowlog-log-slower-than 100000000 commandlog-request-larger-than 100} {
        collected NET {r SET k [string repeat x 200]}
    }
    list [r SLOWLOG LEN] [lindex [r COMMANDLOG GET -1 large-request] end 3 0]
} {0 SET}
foreach {arguments text} {
    {} "METRICS parameter is required"
    {COUNT 5} "METRICS parameter is required"
    {METRICS 2 CPU} "METRICS count does not match number of metric types provided"
    {METRICS 1 CPU NET} "METRICS count does not match number of metric types provided"
    {METRICS 1} "METRICS count does not match number of metric types provided"
    {METRICS 1 CPU SLOTS 1 5} "SLOTS parameter cannot be used in non-cluster mode"
    {METRICS 1 CPU COUNT 0} "COUNT must be between 1 and 64"
    {METRICS 1 CPU COUNT 65} "COUNT must be between 1 and 64"
    {METRICS 1 CPU SAMPLE 0} "SAMPLE ratio must be at least 1"
    {METRICS 1 CPU FROB 1} "syntax error"
    {METRICS 1 CPU COUNT} "syntax error"
    {METRICS} "syntax error"
} {
    check "HOTKEYS START $arguments is refused" {
        list [error_of {r HOTKEYS START {*}$arguments}] [r HOTKEYS GET]
    } [list "ERR $text" (nil)]
}
check "HOTKEYS HELP names every subcommand" {
    set help [r HOTKEYS HELP]
    foreach word {GET RESET START STOP HELP} {
        assert {[lsearch -glob $help $word*] > 0}
    }
} ""

finish
