# ZUNION, ZINTER, ZDIFF, their STORE forms and ZINTERCARD of sets: each member has the score 1.
set lib [file join [file dirname [file normalize [info script]]] lib]
source [file join $lib zsets.tcl]
source [file join $lib collections.tcl]

server_start

# For each encoding of sorted sets and of sets.
proc check_sources {name body args} {
    foreach {storage entries} {listpack 128 skiplist 0} {
        check_sets "$name, $storage" [list in_zset_storage $storage $entries $body] {*}$args
    }
}

foreach {arguments union intersection} {
    {}                          {1 1 2 21 3 31 4 40}   {2 21 3 31}
    {WEIGHTS 10 2}              {1 10 2 50 3 70 4 80}  {2 50 3 70}
    {AGGREGATE MIN}             {1 1 2 1 3 1 4 40}     {2 1 3 1}
    {WEIGHTS 25 1 AGGREGATE MAX} {1 25 2 25 3 30 4 40} {2 25 3 30}
} {
    foreach {command expected} [list ZUNION $union ZINTER $intersection] {
        check_sources "$command 2 of a set and a sorted set $arguments" {
            make_set s {1 2 3}
            make_zset z {2 20 3 30 4 40}
            assert_equal [typed $command 2 s z {*}$arguments WITHSCORES] [scored $expected]
            assert_equal [r ${command}STORE to 2 s z {*}$arguments] [dict size $expected]
            assert_equal [list [r TYPE to] [r OBJECT ENCODING to]] [list zset $storage]
            zset_of to
        } $expected
    }
}
check_sources "sets alone are sources, too" {
    make_set s {1 2 3}
    make_set t {3 4}
    list [concat {*}[r ZUNION 2 s t WITHSCORES]] [concat {*}[r ZINTER 2 s t WITHSCORES]] \
        [concat {*}[r ZDIFF 2 s t WITHSCORES]] [r ZDIFF 3 s none t] [r ZINTER 2 s none] [r ZINTERCARD 2 s t]
} {{1 1 2 1 4 1 3 2} {3 2} {1 1 2 1} {1 2} {} 1}
check_sources "differences and counts take sets and sorted sets in any order" {
    make_set s {1 2 3}
    make_zset z {2 20 3 30 4 40}
    list [r ZDIFFSTORE d 2 s z] [zset_of d] [r ZDIFFSTORE d 2 z s] [zset_of d] [r ZINTERCARD 2 z s] \
        [r ZINTERCARD 2 s z LIMIT 1]
} {1 {1 1} 1 {4 40} 2 1}
check_sources "a set may be its own destination and becomes a sorted set" {
    make_set s {1 2 3}
    list [r ZUNIONSTORE s 2 s s WEIGHTS 2 3] [r TYPE s] [zset_of s]
} {3 zset {1 5 2 5 3 5}}
check_zsets "large sets are combined with large sorted sets" {
    r SADD s {*}[lreverse [dict keys [numbered_pairs 1 3000]]]
    r ZADD z {*}[lreverse [numbered_pairs 2001 5000]]
    list [r ZUNIONSTORE u 2 s z] [r ZINTERSTORE i 2 s z] [r ZDIFFSTORE d 2 s z] [r ZSCORE u m2500] [r ZSCORE u m0001] \
        [concat {*}[r ZRANGE i 0 0 WITHSCORES]] [r ZINTERCARD 2 z s]
} {5000 1000 2000 2501 1 {m2001 2002} 1000}
foreach {type make} {list {r RPUSH wrong 1} hash {r HSET wrong 1 1} string {r SET wrong 1}} {
    foreach command {ZUNION ZINTER ZDIFF ZINTERCARD {ZUNIONSTORE to} {ZINTERSTORE to} {ZDIFFSTORE to}} {
        check "$command of a set and a $type is refused" {
            r SADD s 1
            {*}$make
            error_of {r {*}$command 2 s wrong}
        } $wrong_type
    }
}
check "ZRANGESTORE takes no sets" {
    r SADD s 1
    error_of {r ZRANGESTORE to s 0 -1}
} $wrong_type

finish
