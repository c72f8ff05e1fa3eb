# Pipelines of requests for members of one large collection: what they name is loaded ahead, and
# each gets its own reply.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set members 33000

proc fill_large {} {
    for {set from 0} {$from < $::members} {incr from 1000} {
        set zset {} ; set hash {} ; set set {}
        for {set i $from} {$i < $from + 1000} {incr i} {
            lappend zset $i member:$i
            lappend hash member:$i value:$i
            lappend set member:$i
        }
        r ZADD z {*}$zset
        r HSET h {*}$hash
        r SADD s {*}$set
    }
}

check "each request of a pipeline for one large collection gets its reply" {
    fill_large
    foreach {key requests} {
        z {{ZSCORE z member:$n} $n  {ZSCORE z absent:$n} (nil)  {ZADD z $n member:$n} 0  {ZRANK z member:$n} $n
           {ZINCRBY z 0 member:$n} $n  {ZCARD z} $::members  {ZREM z absent} 0  {GET absent} (nil)}
        h {{HGET h member:$n} value:$n  {HGET h absent:$n} (nil)  {HSET h member:$n value:$n} 0  {HLEN h} $::members
           {HEXISTS h member:$n} 1  {HDEL h absent} 0  {PING} PONG}
        s {{SISMEMBER s member:$n} 1  {SISMEMBER s absent:$n} 0  {SADD s member:$n} 0  {SCARD s} $::members
           {SREM s absent} 0  {GET absent} (nil)}
    } {
        set pipeline {}
        set expected {}
        for {set i 0} {$i < 300} {incr i} {
            set n [expr {$i * 7919 % $::members}]
            foreach {request reply} [subst $requests] {
                lappend pipeline $request
                lappend expected $reply
            }
        }
        assert_equal [[default_client] pipeline $pipeline] $expected
    }
}
check "a large collection that a pipeline deletes and makes anew is no longer looked into" {
    fill_large
    foreach {read delete make} {
        {ZSCORE z one} {DEL z} {ZADD z 1 one}
        {HGET h one} {DEL h} {HSET h one 1}
        {SISMEMBER s one} {UNLINK s} {SADD s one}
    } {
        set pipeline [concat [lrepeat 40 $read] [list $delete] [lrepeat 20 $read] [list $make] [lrepeat 20 $read]]
        assert_equal [lrange [[default_client] pipeline $pipeline] end-19 end] [lrepeat 20 1]
    }
}

finish
