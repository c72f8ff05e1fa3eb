# Scripts: what they change, and how the rest of the server sees it: the append-only file, transactions, blocked
# clients, time, statistics, the cache, memory.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/replica.tcl

server_start {appendonly yes appendfsync no enable-debug-command yes}

# --- What is propagated

check "what a script changes is one transaction of the file" {
    propagated_by {
        r EVAL {redis.call('SET', 'a', 1) redis.call('GET', 'a') redis.call('RPUSH', 'l', 'x', 'y')} 0
    }
} {MULTI {SET a 1} {RPUSH l x y} EXEC}
check "one command stands alone in the file" {propagated_by {r EVAL {return redis.call('SET', 'a', 1)} 0}} {{SET a 1}}
check "a script that changes nothing is not propagated" {
    propagated_by {r EVAL {return redis.call('GET', 'a')} 0; r EVAL {redis.call('DEL', 'a')} 0}
} {}
check "commands that cannot be repeated are propagated as what they did" {
    r SADD s a
    propagated_by {r EVAL {redis.call('INCRBYFLOAT', 'f', 1.5) redis.call('SPOP', 's') redis.call('LPOP', 'none')} 0}
} {MULTI {SET f 1.5 KEEPTTL} {SREM s a} EXEC}
check "what a script did before its error stays, and is propagated" {
    propagated_by {
        catch {r EVAL {redis.call('SET', 'a', 1) redis.call('SET', 'b', 2) error('x')} 0}
    }
} {MULTI {SET a 1} {SET b 2} EXEC}
check "a script in MULTI is part of that transaction" {
    propagated_by {
        r MULTI
        r SET a 1
        r EVAL {redis.call('SET', 'b', 2) redis.call('SET', 'c', 3)} 0
        r EXEC
    }
} {MULTI {SET a 1} {SET b 2} {SET c 3} EXEC}
set script_for_both {
    redis.set_repl(redis.REPL_NONE) redis.call('SET', 'a', 1)
    redis.set_repl(redis.REPL_REPLICA) redis.call('SPOP', 's') redis.call('SET', 'b', 1)
    redis.set_repl(redis.REPL_AOF) redis.call('SET', 'c', 1)
    redis.set_repl(redis.REPL_ALL) redis.call('SET', 'd', 1)
}
check "set_repl says whether changes go to the file" {
    propagated_by {
        r SET before 1
        r EVAL $script_for_both 0
        r EVAL {redis.call('SET', 'e', 1)} 0
    }
} {{SET before 1} MULTI {SELECT 0} {SET c 1} {SELECT 0} {SET d 1} EXEC {SET e 1}}
check "set_repl says whether changes go to the file, and whether to replicas" {
    lassign [replica_sync] c
    r SADD s x
    set in_file [propagated_by {r EVAL $script_for_both 0}]
    assert_equal $in_file {MULTI {SELECT 0} {SET c 1} {SELECT 0} {SET d 1} EXEC}
    set commands [replica_commands $c 9]
    $c close
    lrange $commands 2 end
} {MULTI {SELECT 0} {SREM s x} {SET b 1} {SELECT 0} {SET d 1} EXEC}
check "what goes to the file alone counts neither for the stream's offset nor for WAIT" {
    lassign [replica_sync] c id offset
    r SET k v
    r EVAL {redis.set_repl(redis.REPL_AOF) for i = 1, 100 do redis.call('SET', 'c', i) end} 0
    set stream {{SELECT 0} {SET k v} MULTI EXEC}
    assert_equal [stream_offset] [expr {$offset + [stream_bytes $stream]}]
    replica_ack $c [stream_offset]
    assert_equal [r WAIT 1 0] 1
    $c close
    set c [replica_open]
    assert_equal [replica_psync $c $id [expr {$offset + 1}]] "+CONTINUE $id"
    replica_commands $c 4
} {{SELECT 0} {SET k v} MULTI EXEC}
check "an expired key that is found under REPL_NONE is deleted everywhere" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    try {
        propagated_by {
            r SET old 1 PX 1
            wait_until {[r PTTL old] == -2}
            r SET old 1 PX 1
            after 5
            r EVAL {redis.set_repl(redis.REPL_NONE) redis.call('GET', 'old')} 0
        }
    } finally {
        r DEBUG SET-ACTIVE-EXPIRE 1
    }
} {{SET old 1 PXAT TIME} {DEL old} {SET old 1 PXAT TIME} {DEL old}}
check "SELECT in a script holds for the script" {
    propagated_by {
        r EVAL {redis.call('SELECT', 3) redis.call('SET', 'a', 1)} 0
        r SET b 1
        assert_equal [list [r GET a] [r GET b]] {(nil) 1}
    }
} {{SELECT 3} {SET a 1} {SELECT 0} {SET b 1}}
check "an expired key that a script finds is deleted in the same transaction" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    try {
        propagated_by {
            r EVAL {redis.call('SET', 'old', 1, 'PX', 1)} 0
            after 20
            r EVAL {redis.call('GET', 'old') redis.call('SET', 'a', 1)} 0
        }
    } finally {
        r DEBUG SET-ACTIVE-EXPIRE 1
    }
} {{SET old 1 PXAT TIME} MULTI {DEL old} {SET a 1} EXEC}
check "after a restart there is what the scripts have made" {
    r EVAL {
        for i = 1, 100 do redis.call('RPUSH', KEYS[1], i) redis.call('HSET', KEYS[2], i, i * i) end
    } 2 list hash
    set before [list [r LRANGE list 0 -1] [r HGET hash 100]]
    server_again restart
    assert_equal [list [r LRANGE list 0 -1] [r HGET hash 100]] $before
    list [r LLEN list] [r HLEN hash]
} {100 100}

# --- Transactions and blocked clients

check "a script in MULTI is queued and run by EXEC" {
    r MULTI
    r EVAL {return redis.call('INCR', 'n')} 0
    r EVAL {return redis.error_reply('MY fault')} 0
    r EVALSHA abc 0
    r EXEC
} {1 {(error) MY fault} {(error) NOSCRIPT No matching script. Please use EVAL.}}
check "what a script changes ends a transaction that watches it" {
    set other [client_open]
    r WATCH a
    $other call EVAL {redis.call('SET', 'a', 1)} 0
    r MULTI
    r PING
    r EXEC
} (nil)
check "a script of the client itself ends its transaction, too" {
    r WATCH a
    r EVAL {redis.call('SET', 'a', 1)} 0
    r MULTI
    r PING
    r EXEC
} (nil)
check "clients that wait for a key are served after the script" {
    set c [client_blocked BLPOP l 0]
    set left [r EVAL {
        redis.call('RPUSH', 'l', 'a', 'b')
        return redis.call('LLEN', 'l')
    } 0]
    list $left [$c read] [r LLEN l]
} {2 {l a} 1}
check "clients that wait get nothing of a key that the script has emptied" {
    set c [client_blocked BLPOP l 0]
    r EVAL {redis.call('RPUSH', 'l', 'a') redis.call('DEL', 'l')} 0
    r RPUSH l b
    $c read
} {l b}
check "messages of a script reach the subscriber that runs it in RESP3 after its reply" {
    set c [client_open 3]
    $c call SUBSCRIBE channel
    $c send EVAL {return redis.call('PUBLISH', 'channel', 'text')} 0
    list [$c read_typed] [$c read_typed]
} {{int 1} {push {{bulk message} {bulk channel} {bulk text}}}}
check "CLIENT REPLY drops a script's reply" {
    [default_client] send CLIENT REPLY SKIP
    [default_client] send EVAL {return 5} 0
    r PING
} PONG

# --- Time

check "the clock stands still while a script runs" {
    r EVAL {
        local t = redis.call('TIME')
        redis.call('SET', 'k', 'v', 'PX', 1)
        for i = 1, 3000000 do end
        local u = redis.call('TIME')
        return {t[1] == u[1] and t[2] == u[2], redis.call('EXISTS', 'k')}
    } 0
} {1 1}

check "a transaction and its scripts have one time" {
    r MULTI
    r TIME
    r EVAL {for i = 1, 300000 do end return redis.call('TIME')} 0
    r TIME
    llength [lsort -unique [r EXEC]]
} 1
check "time does not go back between a client and its scripts" {
    set ask {EVAL {return redis.call('TIME')} 0}
    set times [lmap time [[default_client] pipeline [list TIME $ask TIME $ask $ask TIME]] {
        expr {[lindex $time 0] * 1000000 + [lindex $time 1]}
    }]
    expr {$times eq [lsort -integer $times]}
} 1
check "a script gets the time in microseconds" {
    wait_until {[lindex [r EVAL {return redis.call('TIME')} 0] 1] % 1000 != 0}
}

# --- Statistics

proc statistics_of {name} {
    regexp "cmdstat_$name:calls=(\\d+),\[^\n]*rejected_calls=(\\d+),failed_calls=(\\d+)" [r INFO commandstats] \
        _ calls rejected failed
    return [list $calls $rejected $failed]
}
check "commands of a script are counted, and an error once" {
    r SET k v
    r CONFIG RESETSTAT
    r EVAL {redis.pcall('LPUSH', 'k', 'x') redis.call('GET', 'k') redis.pcall('GET')} 0
    catch {r EVAL {redis.call('LPUSH', 'k', 'x')} 0}
    catch {r EVAL {redis.call('nosuch')} 0}
    catch {r EVAL {error('x')} 0}
    catch {r EVAL {return redis.pcall('LPUSH', 'k', 'x')} 0}
    set errors [r INFO errorstats]
    list [statistics_of eval] [statistics_of lpush] [statistics_of get] \
        [regexp -all {errorstat_WRONGTYPE:count=3} $errors] [regexp -all {errorstat_ERR:count=3} $errors]
} {{5 0 4} {3 0 3} {1 1 0} 1 1}
check "the slow log shows a script and its commands, which name no client" {
    with_config {slowlog-log-slower-than 0} {
        r SLOWLOG RESET
        r EVAL {redis.call('SET', 'k', 'v')} 0
        set entries [r SLOWLOG GET]
    }
    lmap entry [lrange $entries 0 1] {list [lindex $entry 3 0] [expr {[lindex $entry 4] eq ""}]}
} {{EVAL 0} {SET 1}}
check_in 2 "monitors see a script before its commands" {
    set monitor [client_open]
    $monitor call MONITOR
    r EVAL {redis.call('SET', 'k', 'v') redis.pcall('GET')} 0
    lmap _ {1 2} {regsub {^\S+ \[0 (127\.0\.0\.1:)?\S+} [$monitor read] {[0 \1}}
} {{[0 127.0.0.1: "EVAL" "redis.call('SET', 'k', 'v') redis.pcall('GET')" "0"} {[0  "SET" "k" "v"}}

# --- The cache

check "EVAL keeps its newest 500 scripts, and SCRIPT LOAD all" {
    r SCRIPT FLUSH
    r CONFIG RESETSTAT
    set loaded [r SCRIPT LOAD {return 'loaded'}]
    r EVAL {return 'first'} 0
    set first [r EVAL {return redis.sha1hex("return 'first'")} 0]
    for {set i 0} {$i < 498} {incr i} {
        r EVAL "return $i" 0
    }
    assert_equal [r SCRIPT EXISTS $first $loaded] {1 1} ;# this is a use of it
    r EVAL {return 'new'} 0
    assert_equal [list [info_field number_of_cached_scripts] [info_field evicted_scripts]] {501 1}
    r EVALSHA $first 0
    for {set i 0} {$i < 499} {incr i} {
        r EVAL "return -$i" 0
    }
    assert_equal [r EVALSHA $first 0] first
    for {set i 0} {$i < 500} {incr i} {
        r EVAL "return 'x$i'" 0
    }
    list [r SCRIPT EXISTS $first $loaded] [info_field number_of_cached_scripts]
} {{0 1} 501}
check "SCRIPT LOAD keeps a script that came with EVAL" {
    r SCRIPT FLUSH
    r EVAL {return 'kept'} 0
    set sha [r SCRIPT LOAD {return 'kept'}]
    for {set i 0} {$i < 600} {incr i} {
        r EVAL "return $i" 0
    }
    r EVALSHA $sha 0
} kept

check "SCRIPT LOAD evicts no script of EVAL" {
    r SCRIPT FLUSH
    r CONFIG RESETSTAT
    for {set i 0} {$i < 500} {incr i} {
        r EVAL "return $i" 0
    }
    r SCRIPT LOAD {return 'loaded'}
    list [info_field number_of_cached_scripts] [info_field evicted_scripts]
} {501 0}

# --- Memory

# Runs scripts that differ in a number.
proc distinct_scripts {first last} {
    for {set i $first} {$i <= $last} {incr i 500} {
        set requests {}
        for {set j $i} {$j < $i + 500} {incr j} {
            lappend requests [list EVAL "local t$j = {'$j'} return t$j\[1\]" 0]
        }
        [default_client] pipeline $requests
    }
}
check_in 2 "any number of distinct scripts takes no more memory than the first thousands" {
    r SCRIPT FLUSH SYNC
    distinct_scripts 1 5000
    set before [list [info_field used_memory] [info_field used_memory_vm_eval] [info_field used_memory_scripts_eval]]
    distinct_scripts 5001 [expr {[info exists ::env(PACKLIST_SOAK)] ? 1000000 : 20000}]
    set after [list [info_field used_memory] [info_field used_memory_vm_eval] [info_field used_memory_scripts_eval]]
    list [lmap old $before new $after {expr {$new < $old + 2000000}}] [info_field number_of_cached_scripts]
} {{1 1 1} 500}
check "INFO and MEMORY STATS show the memory of scripts" {
    r SCRIPT FLUSH
    set before [info_field used_memory_scripts_eval]
    set vm [info_field used_memory_vm_eval]
    r EVAL "return 1 -- [string repeat x 100000]" 0
    set stats [r MEMORY STATS]
    list [expr {[info_field used_memory_scripts_eval] - $before > 100000}] [expr {$vm > 10000}] \
        [expr {[dict get $stats lua.caches] == [info_field used_memory_scripts_eval]}] \
        [expr {[dict get $stats script.VMs] > 10000}] [info_field number_of_cached_scripts]
} {1 1 1 1 1}
check "a script that needs too much memory gets an error" {
    with_config {lua-memory-limit 8mb} {
        set error [error_of {r EVAL {local t = {} for i = 1, 1e7 do t[i] = 'text' .. i end} 0}]
    }
    list [string match "*not enough memory*" $error] [r EVAL {return 'goes on'} 0]
} {1 {goes on}}
check "a reply that needs too much memory is an error of the script" {
    for {set i 0} {$i < 32} {incr i} {
        r RPUSH l $i[string repeat x 1000000]
    }
    with_config {lua-memory-limit 8mb} {
        set error [error_of {r EVAL {return #redis.call('LRANGE', 'l', 0, -1)} 0}]
    }
    list [string match "*not enough memory*" $error] [r EVAL {return #redis.call('LRANGE', 'l', 0, -1)} 0]
} {1 32}
foreach {command flags text expected} {
    EVAL "" {redis.call('SET', 'k', 'v')} "OOM command not allowed when used memory > 'maxmemory'."
    EVAL "" {redis.call('DEL', 'k') return redis.call('SET', 'k', 'v')} OK
    EVAL "#!lua\n" {return 1} "OOM command not allowed when used memory > 'maxmemory'."
    EVAL_RO "#!lua\n" {return 1} "OOM command not allowed when used memory > 'maxmemory'."
    EVAL "#!lua flags=no-writes\n" {return 1} 1
    EVAL "#!lua flags=allow-oom\n" {return redis.call('SET', 'k', 'v')} OK
} {
    check "over maxmemory: $command $flags$text" [string map [list COMMAND $command SCRIPT [list $flags$text]] {
        with_config {maxmemory 1} {
            if {[catch {r COMMAND SCRIPT 0} reply]} {
                regsub { script: .*} $reply ""
            } else {
                set reply
            }
        }
    }] $expected
}

finish
