# Commands whose effect could depend on what each server has its own way of: the encoding of a value, the order of a
# table. A replica and a server that loads the file must have the same data after them.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/replica.tcl

server_start {appendonly yes appendfsync no repl-diskless-sync-delay 0}

# Makes the first requests, lets a replica copy the data, whose values so have no history there, and makes the others.
# Then the replica and the server that loads its own file must have the same data.
proc check_same_data {name before after} {
    check_in 2 $name "assert_same_data [list $before $after]" {}
}
proc assert_same_data {before after} {
    foreach request $before {
        r {*}$request
    }
    with_replica_of_this {
        foreach request $after {
            r {*}$request
        }
        r WAIT 1 0
        set digest [r DEBUG DIGEST]
        assert_equal [$replica control DEBUG DIGEST] $digest
    }
    r DEBUG LOADAOF
    assert_equal [r DEBUG DIGEST] $digest
    return
}

set numbers {}
for {set i 0} {$i < 300} {incr i} {
    lappend numbers n$i
}
check_same_data "SORT STORE of a set: equal weights" [list [list SADD s {*}$numbers] {SET w_n7 x}] {
    {SORT s BY none_* ALPHA STORE a}
    {SORT s BY w_* ALPHA DESC STORE b}
    {SORT s BY none_* ALPHA LIMIT 10 20 GET # GET none_* STORE c}
    {SORT s BY none_* STORE d}
    {SORT s BY nosort STORE e}
    {SORT s BY nosort DESC LIMIT 3 4 STORE f}
}
check_same_data "a script that stores what SORT has given" [list [list SADD s {*}$numbers]] {
    {EVAL {redis.call('RPUSH', 'a', unpack(redis.call('SORT', 's', 'BY', 'nosort')))} 0}
    {EVAL {redis.call('RPUSH', 'b', unpack(redis.call('SORT', 's', 'BY', 'none_*', 'ALPHA', 'DESC')))} 0}
}

# Sorted sets that were larger: here they are skiplists, on a replica listpacks.
set large {}
for {set i 0} {$i < 200} {incr i} {
    lappend large [expr {$i ^ 3}] [format m%03d $i]
}
check_same_data "ranges of members that have several scores" [list \
    [list ZADD z {*}$large] {ZREMRANGEBYRANK z 50 -1} {COPY z y} {COPY z x}] {
    {ZRANGESTORE a z [m010 (m040 BYLEX}
    {ZRANGESTORE b z (m030 - BYLEX REV LIMIT 3 20}
    {ZREMRANGEBYLEX z [m020 (m033}
    {ZREMRANGEBYLEX y - [m022}
    {ZREMRANGEBYLEX x (m017 +}
}
check_same_data "a score of -0" [list [list ZADD z {*}$large] {ZREMRANGEBYRANK z 3 -1}] {
    {ZADD z -0 a}
    {ZADD z INCR -0 b}
    {ZUNIONSTORE a 1 z WEIGHTS -0}
    {ZRANGESTORE b a 0 -1}
    {ZINCRBY z -0 a}
}

finish
