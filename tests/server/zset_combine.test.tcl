# ZUNION, ZINTER, ZDIFF, their STORE forms and ZINTERCARD.
source [file join [file dirname [file normalize [info script]]] lib zsets.tcl]

server_start

foreach {arguments union intersection} {
    {}                                    {b 2 a 4 d 5 c 40} {a 4 c 40}
    {WEIGHTS 2 3}                         {b 4 a 11 d 15 c 117} {a 11 c 117}
    {WEIGHTS 2 3 AGGREGATE MIN}           {a 2 b 4 c 6 d 15} {a 2 c 6}
    {AGGREGATE MAX}                       {b 2 a 3 d 5 c 37} {a 3 c 37}
    {AGGREGATE count}                     {b 1 d 1 a 2 c 2} {a 2 c 2}
    {WEIGHTS 2 -0.5 AGGREGATE COUNT}      {d -0.5 a 1.5 c 1.5 b 2} {a 1.5 c 1.5}
    {AGGREGATE sum weights 0 -1}          {c -37 d -5 a -3 b 0} {c -37 a -3}
    {WEIGHTS 0.5 1}                       {b 1 a 3.5 d 5 c 38.5} {a 3.5 c 38.5}
} {
    foreach {command expected} [list ZUNION $union ZINTER $intersection] {
        check_zsets "$command 2 one two $arguments" {
            make_zset one {a 1 b 2 c 3}
            make_zset two {a 3 c 37 d 5}
            assert_equal [typed $command 2 one two {*}$arguments WITHSCORES] [scored $expected]
            assert_equal [r $command 2 one two {*}$arguments] [dict keys $expected]
            r SET to text
            assert_equal [typed ${command}STORE to 2 one two {*}$arguments] [list int [dict size $expected]]
            assert_equal [r OBJECT ENCODING to] $storage
            zset_of to
        } $expected
    }
}
check_zsets "ZDIFF returns what only the first sorted set has" {
    make_zset one {a 1 b 2 c 3 d 4}
    make_zset two {a 3 x 1}
    make_zset three {c 1}
    assert_equal [typed ZDIFF 4 one two none three WITHSCORES] [scored {b 2 d 4}]
    list [r ZDIFF 2 one two] [r ZDIFF 1 one] [r ZDIFF 2 one one] [r ZDIFF 2 none one] [r ZDIFFSTORE one 2 one two] \
        [zset_of one]
} {{b c d} {a b c d} {} {} 3 {b 2 c 3 d 4}}
check_zsets "ZINTERCARD counts common members, up to a limit" {
    make_zset one {a 1 b 2 c 3 d 4}
    make_zset two {a 1 b 2 c 3}
    list [r ZINTERCARD 2 one two] [r ZINTERCARD 2 one two LIMIT 2] [r ZINTERCARD 2 one two LIMIT 0] \
        [r ZINTERCARD 2 one two limit 9] [r ZINTERCARD 2 one none]
} {3 2 3 3 0}
check_zsets "the same key may stand twice, and may be the destination" {
    make_zset k {a 1 b 2}
    list [r ZUNIONSTORE k 2 k k] [zset_of k] [r ZINTERSTORE k 3 k k k WEIGHTS 1 0 1] [zset_of k]
} {2 {a 2 b 4} 2 {a 4 b 8}}
check_zsets "an empty result deletes the destination" {
    make_zset k {a 1}
    foreach command {{ZUNIONSTORE to 2 x y} {ZINTERSTORE to 2 k x} {ZDIFFSTORE to 2 k k}} {
        r SET to text
        assert_equal [r {*}$command] 0
        assert_equal [r EXISTS to] 0
    }
}
check_zsets "what is no number counts as 0" {
    make_zset one {a inf}
    make_zset two {a -inf}
    list [r ZINTERSTORE to 2 one two] [zset_of to] [r ZUNIONSTORE to 1 one WEIGHTS 0] [zset_of to] \
        [r ZUNIONSTORE to 2 one two AGGREGATE MIN] [zset_of to] \
        [r ZINTERSTORE to 3 one one one WEIGHTS 1 0 0] [zset_of to] \
        [r ZUNIONSTORE to 3 one one one WEIGHTS 1 0 0] [zset_of to] \
        [r ZINTERSTORE to 2 one one WEIGHTS 1 0 AGGREGATE MIN] [zset_of to]
} {1 {a 0} 1 {a 0} 1 {a -inf} 1 {a 0} 1 {a inf} 1 {a inf}}
check_zsets "-0 becomes 0, whatever makes it" {
    make_zset zero {a 0}
    make_zset zero_and_more {a 0 b 1}
    foreach {command expected} {
        {ZUNION 2 zero zero_and_more WEIGHTS -1 1}                {a 0 b 1}
        {ZUNION 2 zero zero WEIGHTS -1 -1}                        {a 0}
        {ZUNION 2 zero zero_and_more WEIGHTS -1 1 AGGREGATE MAX}  {a 0 b 1}
        {ZINTER 2 zero zero_and_more WEIGHTS -1 1}                {a 0}
        {ZINTER 2 zero zero_and_more WEIGHTS -1 1 AGGREGATE MIN}  {a 0}
    } {
        assert_equal [concat {*}[r {*}$command WITHSCORES]] $expected
    }
}
check "a stored result is a listpack if it fits, and replaces a key with its expiry" {
    with_config {zset-max-listpack-entries 3 zset-max-listpack-value 4} {
        r ZADD k 1 a 2 b 3 c 4 d
        r ZADD long 1 abcde
        r SET to text EX 100
        list [r ZUNIONSTORE to 1 k] [r OBJECT ENCODING to] [r TTL to] [r ZRANGESTORE to k 0 2] [r OBJECT ENCODING to] \
            [r ZUNIONSTORE to 1 long] [r OBJECT ENCODING to]
    }
} {4 skiplist -1 3 listpack 1 skiplist}
check_zsets "large sources are combined" {
    r ZADD one {*}[lreverse [numbered_pairs 1 3000]]
    r ZADD two {*}[lreverse [numbered_pairs 2001 5000]]
    list [r ZUNIONSTORE u 2 one two] [r ZINTERSTORE i 2 one two] [r ZDIFFSTORE d 2 one two] [r ZSCORE u m2500] \
        [r ZSCORE u m0001] [r ZRANGE i 0 0] [r ZRANGE d -1 -1] [r ZINTERCARD 2 one two]
} {5000 1000 2000 5000 1 m2001 m2000 1000}
set no_float "ERR weight value is not a float"
foreach {arguments error} [list \
    {2 one two WEIGHTS 1} "ERR syntax error"  {2 one two WEIGHTS 1 x} $no_float  {2 one two WEIGHTS nan 1} $no_float \
    {2 one two AGGREGATE} "ERR syntax error"  {2 one two AGGREGATE AVG} "ERR syntax error" \
    {2 one two FOO} "ERR syntax error"  {3 one two} "ERR syntax error"  {x one} $not_integer] {
    foreach command {ZUNION ZINTER {ZUNIONSTORE to} {ZINTERSTORE to}} {
        check_error "$command $arguments is refused" [list r {*}$command {*}$arguments] $error
    }
}
foreach {command error} {
    {ZDIFF 2 one two WEIGHTS 1 2}        "ERR syntax error"
    {ZDIFF 2 one two AGGREGATE SUM}      "ERR syntax error"
    {ZDIFFSTORE to 2 one two WITHSCORES} "ERR syntax error"
    {ZUNIONSTORE to 2 one two WITHSCORES} "ERR syntax error"
    {ZINTERCARD 2 one two WITHSCORES}    "ERR syntax error"
    {ZINTERCARD 2 one two LIMIT}         "ERR syntax error"
    {ZINTERCARD 2 one two LIMIT -1}      "ERR LIMIT can't be negative"
    {ZINTERCARD 2 one two LIMIT x}       "ERR LIMIT can't be negative"
    {ZUNION 0 one}                       "ERR at least 1 input key is needed for 'zunion' command"
    {ZUNIONSTORE to -1 one}              "ERR at least 1 input key is needed for 'zunionstore' command"
    {ZINTERCARD 0 one}                   "ERR at least 1 input key is needed for 'zintercard' command"
} {
    check_error "$command is refused" [list r {*}$command] $error
}

finish
