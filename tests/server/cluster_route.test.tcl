# A node of a cluster sends clients to the node that serves their keys.
source [file join [file dirname [file normalize [info script]]] lib cluster.tcl]
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

set here [key_in 5]
set there [key_in 9005]
set migrating [key_in 100]
set importing [key_in 9100]
node_start [nodes_file "0-8191 \[100->-[node_id 2]\] \[9100-<-[node_id 2]\]" 8192-16300] \
    {cluster-require-full-coverage no}

# Errors of all commands that are sent, in order, and other replies.
proc replies {args} {
    set client [client_open]
    foreach command $args {
        $client send {*}$command
    }
    set found [lmap command $args {
        if {[catch {$client read} reply]} {
            set reply
        } else {
            set reply
        }
    }]
    $client close
    return $found
}
proc moved {slot} {
    return "MOVED $slot 127.0.0.1:20002"
}
proc ask {slot} {
    return "ASK $slot 127.0.0.1:20002"
}
set cross {CROSSSLOT Keys in request don't hash to the same slot}
set again {TRYAGAIN Multiple keys request during rehashing of slot}

# --- Requests

check "keys of other nodes are told where they are" {
    replies [list SET $here 1] [list SET $there 1] [list GET $there] [list GET $here]
} [list OK [moved 9005] [moved 9005] 1]
check "keys of a slot that no node serves" {
    replies [list GET [key_in 16301]]
} {{CLUSTERDOWN Hash slot not served}}
check "keys must be in one slot, wherever it is" {
    r SET $here 1
    replies [list MGET $here $there] [list MGET $here [key_in 6]] [list MGET $there ${there}x] \
        [list MGET $here ${here}x]
} [list $cross $cross [moved 9005] {1 (nil)}]
check "commands without keys run where they arrive" {
    r FLUSHALL
    replies PING [list ECHO x] DBSIZE [list PUBLISH channel x] [list EVAL {return 1} 0]
} [list PONG x 0 0 1]
check "a wrong number of keys is an error of the command" {
    replies [list LMPOP 5 $there LEFT] [list EVAL {return 1} 3 $there]
} {{ERR syntax error} {ERR Number of keys can't be greater than number of args}}
check "errors are counted" {
    r CONFIG RESETSTAT
    replies [list GET $there] [list MGET $here $there] [list GET $there]
    list [info_field errorstat_MOVED] [info_field errorstat_CROSSSLOT] [info_field cmdstat_get]
} {count=2 count=1 calls=0,usec=0,usec_per_call=0.00,rejected_calls=2,failed_calls=0}

# --- Transactions

check "a transaction with a command for another node is aborted" {
    r SET $here 1
    replies MULTI [list SET $here 2] [list GET $there] EXEC [list GET $here]
} [list OK QUEUED [moved 9005] {EXECABORT Transaction discarded because of previous errors.} 1]
check "all commands of a transaction are for one slot" {
    r SET $here 1
    replies MULTI [list SET $here 2] [list SET [key_in 6] 1] EXEC [list GET $here] MULTI [list GET $here] \
        [list GET ${here}x] EXEC
} [list OK QUEUED QUEUED $cross 1 OK QUEUED QUEUED {1 (nil)}]

# --- Slots that move

check "keys of a slot that migrates are served here while they are here" {
    replies [list GET ${migrating}a] [list SET ${migrating}a 1] [list EXISTS ${migrating}a] ASKING \
        [list GET ${migrating}a]
} [list [ask 100] [ask 100] [ask 100] OK [ask 100]]
check "some of the keys are here" {
    r FLUSHALL
    replies ASKING [list SET ${importing}a 1] ASKING [list MGET ${importing}a ${importing}b] [list GET ${importing}a] \
        ASKING [list MGET ${importing}a ${importing}a] ASKING PING [list GET ${importing}a]
} [list OK OK OK $again [moved 9100] OK {1 1} OK PONG [moved 9100]]
check "ASKING holds for a whole transaction and no longer" {
    replies ASKING [list SET ${importing}a 1]
    replies ASKING MULTI [list GET ${importing}a] [list SET ${importing}a 2] EXEC [list GET ${importing}a]
} [list OK OK QUEUED QUEUED {1 OK} [moved 9100]]
check "RESTORE-ASKING needs no ASKING" {
    r SET $here 1
    set payload [r DUMP $here]
    replies [list RESTORE-ASKING ${importing}c 0 $payload REPLACE] [list RESTORE ${importing}c 0 $payload REPLACE]
} [list OK [moved 9100]]
check "a key of a slot that moves is here while a work has claimed it" {
    set large ${importing}large
    set pairs {}
    for {set number 0} {$number < 8000} {incr number} {
        lappend pairs $number member:$number
    }
    replies ASKING [list DEL $large] ASKING [list ZADD $large {*}$pairs] ASKING [list SET ${importing}a 1]
    set found {}
    paused {
        set client [client_open]
        $client call ASKING
        $client send ZREMRANGEBYRANK $large 0 6999
        wait_for_works 1
        lappend found {*}[replies ASKING [list EXISTS $large ${importing}a]]
        lappend found [$client read]
        $client close
    }
    set found
} {OK 2 7000}
check "RESET forgets ASKING and READONLY" {
    replies ASKING RESET [list GET ${importing}a]
} [list OK RESET [moved 9100]]

# --- Scripts

check "a script's keys are declared for one node" {
    replies [list EVAL {return redis.call('GET', KEYS[1])} 1 $there] [list EVAL {return 1} 2 $here $there]
} [list [moved 9005] $cross]
check "keys that a script does not declare must be here" {
    error_of {r EVAL {return redis.call('GET', ARGV[1])} 0 $there}
} {ERR Script attempted to access a non local key in a cluster node script: *} -match glob
check "a script may not leave its slot unless it declares so" {
    set body "redis.call('SET', ARGV\[1\], 1) return redis.call('GET', ARGV\[2\])"
    set other [key_in 6]
    list [string range [error_of {r EVAL "#!lua\n$body" 0 $here $other}] 0 75] \
        [string range [error_of {r EVAL "#!lua\n$body" 1 $here $other $other}] 0 75] \
        [r EVAL "#!lua flags=allow-cross-slot-keys\n$body" 0 $here $other] [r EVAL $body 0 $here $other]
} [list {ERR Script attempted to access keys that do not hash to the same slot script} \
       {ERR Script attempted to access keys that do not hash to the same slot script} (nil) (nil)]
check "one command of a script may not cross slots" {
    error_of {r EVAL {return redis.call('MGET', ARGV[1], ARGV[2])} 0 $here [key_in 6]}
} {ERR Command 'mget' in script attempted to access keys that don't hash to the same slot script: *} -match glob
check "a script that wants no cluster" {
    error_of {r EVAL "#!lua flags=no-cluster\nreturn 1" 0}
} {ERR Can not run script on cluster, 'no-cluster' flag is set.}

# --- Channels

check "shard channels belong to slots, others do not" {
    replies [list SPUBLISH $there x] [list SPUBLISH $here x] [list PUBLISH $there x] [list SSUBSCRIBE $here $there] \
        [list SSUBSCRIBE $there]
} [list [moved 9005] 0 0 $cross [moved 9005]]

# --- The whole cluster

check "without all slots nothing is served unless the directives say so" {
    with_server [list cluster-enabled yes cluster-config-file [nodes_file 0-8191]] {
        set found [replies [list GET $here] [list SET $here 1] PING [list SPUBLISH $here x]]
        r CONFIG SET cluster-allow-reads-when-down yes cluster-allow-pubsubshard-when-down no
        lappend found {*}[replies [list GET $here] [list SET $here 1] [list SPUBLISH $here x]]
        r CONFIG SET cluster-require-full-coverage no
        lappend found {*}[replies [list SET $here 1]]
    }
    set found
} [list {CLUSTERDOWN The cluster is down} {CLUSTERDOWN The cluster is down} PONG 0 (nil) \
       {CLUSTERDOWN The cluster is down and only accepts read commands} {CLUSTERDOWN The cluster is down} OK]
finish
