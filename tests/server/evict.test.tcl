# maxmemory: which keys go when memory is short, and what is refused; OBJECT FREQ and IDLETIME under each policy.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set oom "OOM command not allowed when used memory > 'maxmemory'."
set text [string repeat x 1000]

# Runs the body with maxmemory that many bytes above the memory in use.
proc with_room {policy bytes body} {
    set limit [expr {[info_field used_memory] + $bytes}]
    uplevel 1 [list with_config [list maxmemory-policy $policy maxmemory $limit] $body]
}

# INFO itself takes some memory.
proc is_below_limit {} {
    return [expr {[info_field used_memory] < [info_field maxmemory] + 100000}]
}

# Returns how many keys were evicted and how many are left in database 0, both from one INFO: the memory of a second
# INFO could evict more.
proc evicted_and_left {} {
    regexp {evicted_keys:(\d+)\r.*db0:keys=(\d+),} [$::current_server control INFO everything] _ evicted left
    return [list $evicted $left]
}

proc is_present {keys} {
    return [lmap key $keys {r EXISTS $key}]
}

# --- The limit

check "without maxmemory nothing is refused or evicted" {
    r CONFIG RESETSTAT
    for {set i 0} {$i < 1000} {incr i} { r SET k$i $text }
    list [r DBSIZE] [info_field evicted_keys] [info_field maxmemory] [info_field maxmemory_human]
} {1000 0 0 0B}
check "noeviction refuses commands that may need memory, and no others" {
    r SET s v
    r RPUSH l a b c
    with_config {maxmemory 1} {
        foreach request {{SET s w} {RPUSH l d} {LSET l 0 x} {LINSERT l BEFORE a b} {LMOVE l l LEFT RIGHT} \
            {BLMOVE l l LEFT RIGHT 0} {RPUSHX l d} {LMOVEM l l LEFT RIGHT} {BLMOVEM l l LEFT RIGHT 0} \
            {RPUSHBOUND l 1 d} {LPUSHBOUND l 1 d}} {
            assert_equal [error_of {r {*}$request}] $oom
        }
        list [r GET s] [r LPOP l] [r LREM l 0 c] [r LTRIM l 0 0] [r EXPIRE s 100] [r PERSIST s] [r DEL s] [r PING]
    }
} {v a 1 OK 1 1 1 PONG}
check "refusals are counted" {
    with_config {maxmemory 1} {
        r CONFIG RESETSTAT
        error_of {r SET k v}
        error_of {r RPUSH k v}
        assert {[string match *rejected_calls=1,failed_calls=0 [info_field cmdstat_set]]}
        list [info_field errorstat_OOM] [info_field total_error_replies]
    }
} {count=2 2}
check "a limit that is lifted is no limit" {
    with_config {maxmemory 1} { error_of {r SET k v} }
    r SET k v
} OK
check "the error precedes that of a wrong type, and follows that of a wrong number of arguments" {
    r SET s v
    with_config {maxmemory 1} {
        list [error_of {r RPUSH s a}] [error_of {r RPUSH s}]
    }
} [list $oom "ERR wrong number of arguments for 'rpush' command"]
check "a client that sends a pipeline gets the error in its place" {
    r SET s v
    with_config {maxmemory 1} {
        set replies {}
        foreach request {{GET s} {SET s w} {GET s}} { [default_client] send {*}$request }
        foreach _ {1 2 3} { lappend replies [lindex [[default_client] read_typed] 0] }
        set replies
    }
} {bulk error bulk}

foreach policy {allkeys-lru allkeys-lfu allkeys-lrm allkeys-random} {
    check "$policy keeps the memory in use below the limit" [string map [list @ $policy] {
        r CONFIG RESETSTAT
        with_room @ 1000000 {
            for {set i 0} {$i < 3000} {incr i} {
                r SET k$i $text
                if {$i % 500 == 0} { assert {[is_below_limit]} }
            }
            lassign [evicted_and_left] evicted left
            assert {$left > 400 && $left < 1000}
            expr {$evicted + $left}
        }
    }] 3000
}
foreach policy {volatile-lru volatile-lfu volatile-lrm volatile-random volatile-ttl} {
    check "$policy evicts keys that expire and no others" [string map [list @ $policy] {
        r CONFIG RESETSTAT
        for {set i 0} {$i < 300} {incr i} { r SET stays$i $text }
        with_room @ 500000 {
            for {set i 0} {$i < 1500} {incr i} {
                r SET k$i $text
                r EXPIRE k$i 1000
            }
            assert {[info_field evicted_keys] > 900}
            regexp {keys=(\d+),expires=(\d+)} [info_field db0] _ keys expires
            expr {$keys - $expires}
        }
    }] 300
    check "$policy refuses when nothing that expires is left" [string map [list @ $policy] {
        r SET a 1
        r SET b 1
        r EXPIRE b 1000
        with_config {maxmemory-policy @ maxmemory 1} {
            assert_equal [error_of {r SET c 1}] $oom
            is_present {a b}
        }
    }] {1 0}
}
check "allkeys policies take keys from every database" {
    r SET a 1
    r SELECT 5
    r SET b 1
    with_config {maxmemory-policy allkeys-lru maxmemory 1} {
        assert_equal [error_of {r SET c 1}] $oom
        r INFO keyspace
    }
} "# Keyspace\r\n"

# --- Which keys go

# Keys are sampled, so a few of those that should stay may go. If keys were chosen at random, half of them would.

check "LRU keeps what is used" {
    for {set i 0} {$i < 500} {incr i} { r SET k$i $text }
    r DEBUG SLEEP 0.6
    for {set i 0} {$i < 100} {incr i} { r GET k$i }
    with_room allkeys-lru 0 {
        for {set i 0} {$i < 300} {incr i} { r SET new$i $text }
        set used 0
        for {set i 0} {$i < 100} {incr i} { incr used [r EXISTS k$i] }
        expr {$used >= 90}
    }
} 1
check "LRM keeps what was modified lately, and what is only read goes" {
    with_config {maxmemory-policy allkeys-lrm} {
        for {set i 0} {$i < 500} {incr i} { r SET k$i $text }
        r DEBUG SLEEP 0.6
        for {set i 0} {$i < 100} {incr i} {
            r GET k$i
            r EXPIRE k[expr {100 + $i}] 1000
        }
        with_room allkeys-lrm 0 {
            for {set i 0} {$i < 300} {incr i} { r SET new$i $text }
            set read 0
            set modified 0
            for {set i 0} {$i < 100} {incr i} {
                incr read [r EXISTS k$i]
                incr modified [r EXISTS k[expr {100 + $i}]]
            }
            expr {$modified >= 90 && $read < 60}
        }
    }
} 1
check "LFU keeps what is used often, though not lately" {
    with_config {maxmemory-policy allkeys-lfu lfu-decay-time 0} {
        for {set i 0} {$i < 300} {incr i} { r SET k$i $text }
        for {set use 0} {$use < 40} {incr use} {
            for {set i 0} {$i < 50} {incr i} { r GET k$i }
        }
        r DEBUG SLEEP 0.3
        for {set i 50} {$i < 300} {incr i} { r GET k$i }
        with_room allkeys-lfu 0 {
            for {set i 0} {$i < 150} {incr i} { r SET new$i $text }
            set used 0
            for {set i 0} {$i < 50} {incr i} { incr used [r EXISTS k$i] }
            expr {$used >= 42}
        }
    }
} 1
check "volatile-ttl takes what would expire soonest" {
    for {set i 0} {$i < 300} {incr i} {
        r SET k$i $text
        r EXPIRE k$i [expr {1000 + $i}]
    }
    with_room volatile-ttl 0 {
        for {set i 0} {$i < 100} {incr i} { r SET new$i $text }
        set early 0
        set late 0
        for {set i 0} {$i < 50} {incr i} { incr early [r EXISTS k$i] }
        for {set i 250} {$i < 300} {incr i} { incr late [r EXISTS k$i] }
        assert {$late >= 48}
        expr {$early < 25}
    }
} 1
check "more samples are more exact" {
    with_config {maxmemory-samples 64} {
        for {set i 0} {$i < 200} {incr i} {
            r SET k$i $text
            r EXPIRE k$i [expr {1000 + $i}]
        }
        with_room volatile-ttl 0 {
            for {set i 0} {$i < 100} {incr i} { r SET new$i $text }
            set late 0
            for {set i 120} {$i < 200} {incr i} { incr late [r EXISTS k$i] }
            set late
        }
    }
} 80
check "a dead key that is met counts as expired" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    r CONFIG RESETSTAT
    r SET k v
    r PEXPIRE k 1
    r DEBUG SLEEP 0.004
    with_config {maxmemory-policy volatile-ttl maxmemory 1} { error_of {r SET c 1} }
    r DEBUG SET-ACTIVE-EXPIRE 1
    list [info_field expired_keys] [info_field evicted_keys]
} {1 0}

# --- When

check "a limit that is set below what is in use is reached without a command" {
    for {set i 0} {$i < 3000} {incr i} { r SET k$i $text }
    set limit [expr {[info_field used_memory] - 2000000}]
    with_config [list maxmemory-policy allkeys-lru maxmemory $limit] {
        wait_until {[is_below_limit]}
        assert_equal [info_field current_eviction_exceeded_time] 0
        expr {[r DBSIZE] < 2000}
    }
} 1
check_in 2 "CONFIG SET says so in the log" {
    with_config {maxmemory 1} {}
    regexp {maxmemory is now 1 bytes, but \d+ are in use} [$current_server log]
} 1
check "INFO shows for how long the limit is exceeded" {
    r CONFIG RESETSTAT
    r SET k v
    with_config {maxmemory 1} {
        error_of {r SET k v}
        wait_until {[info_field current_eviction_exceeded_time] >= 20}
        assert {[info_field total_eviction_exceeded_time] >= 20}
    }
    r SET k v
    wait_until {[info_field current_eviction_exceeded_time] == 0}
    expr {[info_field total_eviction_exceeded_time] >= 20}
} 1
check "maxmemory-clients closes as many clients as it must, the largest first" {
    set small [lmap _ [lrepeat 20 x] {client_open 2}]
    set large [lmap _ [lrepeat 100 x] {client_open 2}]
    foreach c $large {
        $c write "*2\r\n\$4\r\nECHO\r\n\$30000\r\n[string repeat x 20000]"
    }
    wait_until {[regexp -all {qbuf=20\d\d\d } [$::current_server control CLIENT LIST]] == 100}
    set before [info_field evicted_clients]
    with_config {maxmemory-clients 500000} {
        wait_until {[info_field evicted_clients] - $before in {77 78 79 80}}
        foreach c $small {
            assert_equal [$c call PING] PONG
        }
        assert {[info_field evicted_clients] - $before in {77 78 79 80}}
    }
}
check "nothing is evicted during CLIENT PAUSE" {
    for {set i 0} {$i < 100} {incr i} { r SET k$i v }
    r CLIENT PAUSE 100000 WRITE
    with_config {maxmemory-policy allkeys-random maxmemory 1} { after 250 }
    set after [r DBSIZE]
    r CLIENT UNPAUSE
    set after
} 100
foreach tenacity {0 10 50 100} {
    check "eviction ends at a tenacity of $tenacity" [string map [list @ $tenacity] {
        with_config {maxmemory-eviction-tenacity @} {
            for {set i 0} {$i < 500} {incr i} { r SET k$i $text }
            with_room allkeys-lru -300000 {
                for {set i 0} {$i < 500} {incr i} { r SET new$i $text }
                wait_until {[is_below_limit]}
            }
        }
    }]
}

# --- OBJECT FREQ and IDLETIME

# With lfu-decay-time 0 no minute that ends makes the frequency smaller.

check "a new key has the frequency 5, and uses raise it" {
    with_config {maxmemory-policy allkeys-lfu lfu-log-factor 0 lfu-decay-time 0} {
        r SET k v
        r RPUSH l a
        set new [list [typed OBJECT FREQ k] [r OBJECT FREQ l]]
        for {set i 0} {$i < 10} {incr i} { r GET k; r LRANGE l 0 -1 }
        list $new [r OBJECT FREQ k] [r OBJECT FREQ l]
    }
} {{{int 5} 5} 15 15}
check "the frequency ends at 255" {
    with_config {maxmemory-policy volatile-lfu lfu-log-factor 0 lfu-decay-time 0} {
        r SET k v
        [default_client] pipeline [lrepeat 300 {GET k}]
        r OBJECT FREQ k
    }
} 255
check "with a factor uses raise the frequency ever more slowly" {
    with_config {maxmemory-policy allkeys-lfu lfu-log-factor 10 lfu-decay-time 0} {
        r SET k v
        [default_client] pipeline [lrepeat 1000 {GET k}]
        set frequency [r OBJECT FREQ k]
        expr {$frequency > 9 && $frequency < 35}
    }
} 1
check "looking does not raise the frequency, nor does anything under CLIENT NO-TOUCH" {
    with_config {maxmemory-policy allkeys-lfu lfu-log-factor 0 lfu-decay-time 0} {
        r SET k v
        foreach command {EXISTS TYPE TTL} { r $command k }
        r OBJECT ENCODING k
        r CLIENT NO-TOUCH ON
        r GET k
        set quiet [r OBJECT FREQ k]
        r CLIENT NO-TOUCH OFF
        r GET k
        list $quiet [r OBJECT FREQ k]
    }
} {5 6}
check "OBJECT FREQ of a missing key is null" {
    with_config {maxmemory-policy allkeys-lfu} {r OBJECT FREQ nosuch}
} (nil)
foreach policy {noeviction allkeys-lru volatile-ttl} {
    check "after a change from $policy to LFU, keys begin as new ones do" [string map [list @ $policy] {
        with_config {maxmemory-policy @ lfu-log-factor 0 lfu-decay-time 0} {
            for {set i 0} {$i < 600} {incr i} { r SET k$i $text }
            set payload [r DUMP k0]
            for {set i 0} {$i < 40} {incr i} { r RESTORE idle$i 0 $payload IDLETIME [expr {$i * 7}] }
            r CONFIG SET maxmemory-policy allkeys-lfu
            for {set i 0} {$i < 40} {incr i} { assert_equal [r OBJECT FREQ idle$i] 5 }
            for {set i 0} {$i < 100} {incr i} { r GET k$i }
            assert_equal [r OBJECT FREQ k0] 6
            with_room allkeys-lfu 0 {
                for {set i 0} {$i < 100} {incr i} { r SET new$i $text }
                set used 0
                for {set i 0} {$i < 100} {incr i} { incr used [r EXISTS k$i] }
                expr {$used >= 90}
            }
        }
    }] 1
}
check "after changes of the policy, each key is known by its own last use" {
    with_config {maxmemory-policy allkeys-lru lfu-log-factor 0 lfu-decay-time 0} {
        r SET a v
        r CONFIG SET maxmemory-policy allkeys-lfu
        r SET b v
        r GET b
        r CONFIG SET maxmemory-policy noeviction
        assert {[r OBJECT IDLETIME a] < 3 && [r OBJECT IDLETIME b] < 3}
        r CONFIG SET maxmemory-policy volatile-lfu
        list [r OBJECT FREQ a] [r OBJECT FREQ b]
    }
} {5 6}
check "a copied and a renamed key keep what is known of their use" {
    with_config {maxmemory-policy allkeys-lfu lfu-log-factor 0 lfu-decay-time 0} {
        r SET a v
        r GET a
        r EXPIRE a 1000
        r RENAME a b
        r CONFIG SET maxmemory-policy allkeys-lru
        r CONFIG SET maxmemory-policy allkeys-lfu
        expr {[r OBJECT FREQ b] >= 7}
    }
} 1
foreach policy {
    volatile-lru volatile-lrm volatile-random volatile-ttl allkeys-lru allkeys-lrm allkeys-random noeviction
} {
    check "under $policy OBJECT IDLETIME returns seconds, and FREQ does not apply" [string map [list @ $policy] {
        with_config {maxmemory-policy @} {
            r SET k v
            assert {[string match "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please\
                note that when switching between policies at runtime LRU and LFU data will take some time to adjust." \
                [error_of {r OBJECT FREQ k}]]}
            list [r OBJECT IDLETIME k] [r OBJECT FREQ nosuch] [r OBJECT IDLETIME nosuch]
        }
    }] {0 (nil) (nil)}
}
foreach policy {volatile-lfu allkeys-lfu} {
    check "under $policy OBJECT IDLETIME does not apply" [string map [list @ $policy] {
        with_config {maxmemory-policy @} {
            r SET k v
            assert_equal [r OBJECT IDLETIME nosuch] (nil)
            error_of {r OBJECT IDLETIME k}
        }
    }] "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between\
 policies at runtime LRU and LFU data will take some time to adjust."
}
# What Redis 8.6 counts as a modification; all keys have been idle for 500 seconds.
proc idle_after {command} {
    r SELECT 1
    r DEL k
    r SELECT 0
    r FLUSHDB
    r SET k v
    r HSET h f v
    r ZADD z 1 a
    r SADD s a
    r RPUSH l a
    r SET b \0
    r XADD x 1-1 f v
    r XGROUP CREATE x g 0
    r XREADGROUP GROUP g c STREAMS x >
    foreach key {k h z s l b x} {
        r RESTORE $key 0 [r DUMP $key] REPLACE IDLETIME 500
    }
    r {*}$command
    return [lmap key {k h z s l b x n} {
        set idle [r OBJECT IDLETIME $key]
        expr {$idle eq "(nil)" || $idle >= 500 ? [continue] : $key}
    }]
}
foreach {keys commands} {
    {} {{GET k} {TOUCH k} {EXISTS k} {GETEX k} {GETEX k PERSIST} {PERSIST k} {SET k w NX} {SETNX k w} {SET k w IFEQ no}
        {HGET h f} {HGETEX h FIELDS 1 f} {HSETNX h f w} {HDEL h none} {LRANGE l 0 -1} {LREM l 0 no} {LPOP l 0}
        {SADD s a} {SMEMBERS s} {ZADD z 1 a} {ZADD z XX 1 b} {ZREM z b} {XREAD STREAMS x 0}
        {XTRIM x MAXLEN 9} {XACK x g 9-9}
        {XPENDING x g} {SETBIT b 0 0} {GETBIT b 0} {BITFIELD b GET u8 0} {SORT l ALPHA} {DUMP k} {COPY k k DB 1}
        {EVAL {return redis.call('GET', KEYS[1])} 1 k} {MSETNX k w} {SETRANGE k 0 {}} {OBJECT ENCODING k}}
    k {{SET k w} {SET k w KEEPTTL} {APPEND k w} {GETSET k w} {GETEX k EX 9} {EXPIRE k 9} {SETRANGE k 0 w}
        {EVAL {return redis.call('SET', KEYS[1], 'w')} 1 k} {SUNIONSTORE k s} {ZUNIONSTORE k 1 z} {SORT l ALPHA STORE k}
        {BITOP NOT k b} {COPY b k REPLACE}}
    n {{RENAME k n} {SET n w} {COPY k n}}
    h {{HSET h f v} {HINCRBY h n 1} {HEXPIRE h 9 FIELDS 1 f} {HSETEX h FIELDS 1 f v}}
    l {{LSET l 0 b} {LTRIM l 0 -1} {RPUSH l b} {LMOVE l l LEFT RIGHT}}
    s {{SADD s b}}
    z {{ZADD z 2 a} {ZADD z INCR 1 a}}
    b {{SETBIT b 0 1}}
    x {{XADD x * f v} {XGROUP CREATE x new 0} {XGROUP SETID x g 0} {XGROUP DESTROY x g} {XGROUP CREATECONSUMER x g d}
        {XGROUP DELCONSUMER x g c} {XACK x g 1-1} {XCLAIM x g d 0 1-1} {XSETID x 5-5} {XDEL x 1-1}
        {XADD x 2-1 f v} {XDELEX x IDS 1 1-1} {XACKDEL x g IDS 1 1-1}}
} {
    foreach command $commands {
        check "under allkeys-lrm [lindex $command 0] is [expr {$keys eq {} ? {no modification} : \
            "one of $keys"}]: $command" [string map [list @ [list $command]] {
            with_config {maxmemory-policy allkeys-lrm} {idle_after @}
        }] $keys
    }
}
check "under allkeys-lrm CLIENT NO-TOUCH changes nothing, and MOVE is a modification" {
    with_config {maxmemory-policy allkeys-lrm} {
        r CLIENT NO-TOUCH ON
        set found [list [idle_after {GET k}] [idle_after {SET k w}] [idle_after {MOVE k 1}]]
        r SELECT 1
        lappend found [expr {[r OBJECT IDLETIME k] < 500}]
    }
} {{} k {} 1}
check "under allkeys-lrm the time of the last modification is in snapshots" {
    with_config {maxmemory-policy allkeys-lrm} {
        idle_after {GET k}
        r DEBUG RELOAD
        expr {[r OBJECT IDLETIME k] >= 500}
    }
} 1
check_in 2 "OBJECT IDLETIME counts seconds since the last use" {
    set replies [[default_client] pipeline {TIME {SET a v} {SET b v} {DEBUG POPULATE 1} {DEBUG SLEEP 1.3} {GET b}
        {OBJECT IDLETIME a} {OBJECT IDLETIME b} {OBJECT IDLETIME key:0} TIME}]
    lassign [lrange $replies 6 8] a b key
    set seconds_max [expr {[lindex $replies end 0] - [lindex $replies 0 0] + 1}]
    assert {$a >= 1 && $a <= $seconds_max}
    assert {$key >= 1 && $key <= $seconds_max}
    expr {$b < $a}
} 1

# --- Clients

# A client whose unfinished request takes so much memory; it may be closed before all of it is written.
proc client_with_input {bytes} {
    set c [client_open]
    catch {$c write "*2\r\n\$4\r\nECHO\r\n\$[expr {$bytes * 2}]\r\n[string repeat x $bytes]"}
    return $c
}

check "maxmemory-clients closes the largest clients" {
    with_config {maxmemory-clients 3000000} {
        r CONFIG RESETSTAT
        set small [client_with_input 500000]
        set large [client_with_input 4000000]
        assert {[$large is_closed]}
        assert_equal [r PING] PONG
        assert {[$small is_silent 20]}
        info_field evicted_clients
    }
} 1
check "clients that are small one by one are closed when there are too many" {
    with_config {maxmemory-clients 3000000} {
        r CONFIG RESETSTAT
        for {set i 0} {$i < 8} {incr i} { client_with_input 800000 }
        wait_until {[info_field evicted_clients] >= 4}
        expr {[info_field evicted_clients] <= 7}
    }
} 1
check "CLIENT NO-EVICT spares a client" {
    with_config {maxmemory-clients 3000000} {
        set c [client_open]
        $c call CLIENT NO-EVICT ON
        $c write "*2\r\n\$4\r\nECHO\r\n\$4000000\r\n[string repeat x 3999999]"
        set other [client_with_input 4000000]
        assert {[$other is_closed]}
        $c write "x\r\n"
        string length [$c read]
    }
} 4000000
check "output that is not read counts" {
    r SET big [string repeat x 1000000]
    with_config {maxmemory-clients 8000000} {
        set c [client_open]
        for {set i 0} {$i < 40} {incr i} { $c send GET big }
        wait_until {[info_field evicted_clients] >= 1}
        r CONFIG RESETSTAT
        r PING
    }
} PONG
check "per cent of maxmemory, which must be set" {
    with_config {maxmemory-clients 1%} {
        set c [client_with_input 3000000]
        assert {[$c is_silent 20]}
        r CONFIG RESETSTAT
        with_config {maxmemory 100000000} {
            assert_equal [r CONFIG GET maxmemory-clients] {maxmemory-clients 1%}
            r PING
            wait_until {[info_field evicted_clients] >= 1}
        }
    }
}

# --- Directives

foreach {directive value error} {
    maxmemory -1                    "argument must be a memory value"
    maxmemory 5%                    "argument must be a memory value"
    maxmemory-clients 101%          "percentage argument must be less or equal to 100"
    maxmemory-clients x             "argument must be a memory or percent value"
    maxmemory-clients -5            "argument must be a memory or percent value"
    maxmemory-clients -5%           "argument must be a memory or percent value"
    maxmemory-samples 0             "argument must be between 1 and 64 inclusive"
    maxmemory-eviction-tenacity 101 "argument must be between 0 and 100 inclusive"
    lfu-log-factor -1               "argument must be between 0 and 2147483647 inclusive"
    lfu-decay-time -1               "argument must be between 0 and 2147483647 inclusive"
    active-expire-effort 0          "argument must be between 1 and 10 inclusive"
    active-expire-effort 11         "argument must be between 1 and 10 inclusive"
} {
    check_error "CONFIG SET refuses $directive $value" "r CONFIG SET $directive $value" \
        "ERR CONFIG SET failed (possibly related to argument '$directive') - $error"
}
check "CONFIG SET maxmemory takes units" {
    with_config {maxmemory 3gb} {
        list [r CONFIG GET maxmemory] [info_field maxmemory] [info_field maxmemory_human]
    }
} {{maxmemory 3221225472} 3221225472 3.00G}
check "INFO shows the policy" {
    with_config {maxmemory-policy volatile-ttl} {info_field maxmemory_policy}
} volatile-ttl
check_in 2 "the file sets the limit from the start" {
    with_server {maxmemory 1 maxmemory-policy volatile-lru} {
        set c [client_open]
        error_of {$c call SET a b}
    }
} $oom

# --- While a snapshot holds memory back

check_in 2 "eviction does not go on because a snapshot still reads the lists that went" {
    with_server {rdb-key-save-delay 300000 rdbcompression no} {
        for {set i 0} {$i < 8} {incr i} {
            r RPUSH l$i {*}[lrepeat 1000 $text]
        }
        r CONFIG SET maxmemory-policy allkeys-random
        r CONFIG SET maxmemory [expr {[info_field used_memory] + 300000}]
        set requests [list BGSAVE]
        for {set i 0} {$i < 10} {incr i} {
            lappend requests [list SET s$i [string repeat $text 50]]
        }
        [default_client] pipeline $requests
        assert {[info_field rdb_bgsave_in_progress] && [info_field evicted_keys] >= 1}
        assert {[info_field evicted_keys] <= 12 && [llength [r KEYS l*]] >= 6}
        r CONFIG SET maxmemory 0
        r CONFIG SET rdb-key-save-delay 0
        wait_until {![info_field rdb_bgsave_in_progress]}
        assert_equal [info_field rdb_last_bgsave_status] ok
        # Memory that the snapshot kept is no longer exempt. Until a thread has freed it, memory falls without
        # eviction.
        set evicted [info_field evicted_keys]
        wait_until {
            [r CONFIG SET maxmemory [expr {[info_field used_memory] - 1000000}]] eq "OK" &&
            [info_field evicted_keys] > $evicted
        }
        wait_until {[is_below_limit]}
    }
}
check_in 2 "memory for the changes of a list that a snapshot reads causes no eviction" {
    with_server {rdb-key-save-delay 300000 rdbcompression no maxmemory-policy noeviction} {
        r RPUSH queue {*}[lrepeat 3000 $text]
        foreach key {a b c d e f g h} {
            r SET $key x
        }
        r CONFIG SET maxmemory [expr {[info_field used_memory] + 600000}]
        r BGSAVE
        for {set i 0} {$i < 30} {incr i} {
            set answers [[default_client] pipeline [lrepeat 100 [list RPUSH queue $text] {LPOP queue}]]
            assert_equal [lindex $answers 0] 3001
            assert_equal [lindex $answers end] $text
        }
        assert {[info_field rdb_bgsave_in_progress]}
        r CONFIG SET rdb-key-save-delay 0
        wait_until {![info_field rdb_bgsave_in_progress]}
        info_field rdb_last_bgsave_status
    }
} ok
check_in 2 "flushed data that a snapshot needs causes no eviction" {
    with_server {rdb-key-save-delay 10000 maxmemory-policy noeviction} {
        r DEBUG POPULATE 2000 key 1000
        r CONFIG SET maxmemory [expr {[info_field used_memory] + 300000}]
        r BGSAVE
        r FLUSHDB
        r SELECT 1
        for {set i 0} {$i < 1000} {incr i} {
            r SET k$i $text
        }
        assert {[info_field rdb_bgsave_in_progress]}
        # … but only for a while.
        set error [error_of {
            for {} {$i < 10000} {incr i} {
                r SET k$i $text
            }
        }]
        assert {[info_field rdb_bgsave_in_progress] && $i < 4000}
        set error
    }
} $oom

finish
