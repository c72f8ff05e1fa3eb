# Sorted sets: adding, reading, ranges, removing, popping, random members, iterating; options, errors, both encodings.
source [file join [file dirname [file normalize [info script]]] lib zsets.tcl]

server_start

# --- ZADD and ZINCRBY

check_zsets "ZADD adds, changes, and counts what it added" {
    make_zset k {a 1 b 2}
    list [typed ZADD k 5 a 3 c] [typed ZADD k 5 a] [zset_of k]
} {{int 1} {int 0} {b 2 c 3 a 5}}
check_zsets "ZADD CH counts changes, too" {
    make_zset k {a 1 b 2}
    list [r ZADD k CH 5 a 2 b 3 c] [r ZADD k CH 5 a]
} {2 0}
check_zsets "ZADD NX only adds, XX only changes" {
    make_zset k {a 1}
    list [r ZADD k NX 9 a 2 b] [r ZADD k XX CH 3 a 4 c] [zset_of k] [r ZADD none XX 1 a] [r EXISTS none]
} {1 1 {b 2 a 3} 0 0}
check_zsets "ZADD GT only raises scores, LT only lowers them; both add" {
    make_zset k {a 5 b 5}
    list [r ZADD k GT CH 6 a 4 b 1 c] [r ZADD k LT CH 7 a 4 b 1 d] [r ZADD k GT CH 6 a] [zset_of k]
} {2 2 0 {c 1 d 1 b 4 a 6}}
check_zsets "ZADD INCR returns the score, or null where an option forbids the change" {
    make_zset k {a 1}
    set float [expr {$protocol == 3 ? "double" : "bulk"}]
    assert_equal [typed ZADD k INCR 1.5 a] [list $float 2.5]
    assert_equal [typed ZADD k INCR 3 b] [list $float 3]
    list [r ZADD k NX INCR 1 a] [r ZADD k XX INCR 1 c] [r ZADD k GT INCR -1 a] [r ZADD k LT INCR 1 a] [zset_of k]
} {(nil) (nil) (nil) (nil) {a 2.5 b 3}}
check_zsets "ZINCRBY adds to a score, and makes member and key" {
    make_zset k {a 1}
    list [r ZINCRBY k 2.5 a] [r ZINCRBY k -1 b] [r ZINCRBY new 7 x] [zset_of k] [zset_of new]
} {3.5 -1 7 {b -1 a 3.5} {x 7}}
check_zsets "equal scores are ordered by the bytes of their members" {
    make_zset k {b 0 a 0 "" 0 ab 0 10 0 9 0}
    r ZRANGE k 0 -1
} {{} 10 9 a ab b}
foreach {arguments error} {
    {NX XX 1 a}        "ERR XX and NX options at the same time are not compatible"
    {NX GT 1 a}        "ERR GT, LT, and/or NX options at the same time are not compatible"
    {NX LT 1 a}        "ERR GT, LT, and/or NX options at the same time are not compatible"
    {GT LT 1 a}        "ERR GT, LT, and/or NX options at the same time are not compatible"
    {INCR 1 a 2 b}     "ERR INCR option supports a single increment-element pair"
    {1 a 2}            "ERR syntax error"
    {NX CH}            "ERR syntax error"
    {FOO 1 a}          "ERR syntax error"
    {x a}              "ERR value is not a valid float"
    {nan a}            "ERR value is not a valid float"
    {1 b x a}          "ERR value is not a valid float"
    {" 1" a}           "ERR value is not a valid float"
} {
    check "ZADD k $arguments is refused and changes nothing" {
        list [error_of {r ZADD k {*}$arguments}] [r EXISTS k]
    } [list $error 0]
}
foreach length {255 256 257 5120 100000} {
    set zeros [string repeat 0 [expr {$length - 3}]]
    check_zsets "numbers of $length characters are scores, increments, bounds and weights" {
        make_zset k {a 1}
        r ZADD k 0${::zeros}2 b 1.${::zeros}3 c
        list [r ZINCRBY k 0${::zeros}5 a] [r ZADD k INCR 0${::zeros}4 b] [r ZCOUNT k 0${::zeros}1 (0${::zeros}6] \
            [r ZRANGEBYSCORE k 0${::zeros}2 inf] [r ZRANGE k 0${::zeros}9 0${::zeros}2 BYSCORE REV] \
            [r ZREVRANGEBYSCORE k 5.${::zeros}1 -inf] [r ZUNIONSTORE to 1 k WEIGHTS 0${::zeros}2] [zset_of to] \
            [r ZREMRANGEBYSCORE k (0${::zeros}1 0${::zeros}6] [zset_of k]
    } {6 6 1 {a b} {b a} c 3 {c 2 a 12 b 12} 2 {c 1}}
    check "texts of $length characters that are no numbers are none" {
        r DEL k
        list [error_of {r ZADD k 0${::zeros}2x b}] [error_of {r ZINCRBY k " ${::zeros}2" b}] \
            [error_of {r ZCOUNT k 0x${::zeros} inf}] [error_of {r ZRANGEBYSCORE k 0 0${::zeros}-}] [r EXISTS k]
    } [list {*}[lrepeat 2 "ERR value is not a valid float"] {*}[lrepeat 2 "ERR min or max is not a float"] 0]
}
check "a score that is too large or too small is none, as a bound it is infinite or 0" {
    set zeros [string repeat 0 400]
    r DEL k
    r ZADD k 1 a inf b
    list [error_of {r ZADD k 1$zeros c}] [error_of {r ZADD k 0.${zeros}1 c}] \
        [r ZRANGEBYSCORE k 1$zeros +inf] [r ZRANGEBYSCORE k 0.${zeros}1 (1$zeros]
} [list {*}[lrepeat 2 "ERR value is not a valid float"] b a]
check_zsets "infinities of different signs make no sum" {
    make_zset k {a inf}
    list [error_of {r ZINCRBY k -inf a}] [error_of {r ZADD k INCR -inf a}] [zset_of k]
} [list {*}[lrepeat 2 "ERR resulting score is not a number (NaN)"] {a inf}]

# --- Scores

foreach {given shown} {
    3 3  -0 0  1.5 1.5  1e3 1000  0x10 16  +2 2  .5 0.5  inf inf  -inf -inf  +Infinity inf  0.1 0.1
    3.0000000000000004 3.0000000000000004  12345678901234567 12345678901234568  1e20 1e+20  1e-7 1e-7
    5e-324 5e-324  1.7976931348623157e308 1.7976931348623157e+308  9007199254740993 9007199254740992
} {
    check "the score $given is shown as $shown" {
        r ZADD k $given a
        assert_equal [typed ZSCORE k a] [list [expr {$protocol == 3 ? "double" : "bulk"}] $shown]
        list [zset_of k] [lindex [r ZSCAN k 0] 1]
    } [list [list a $shown] [list a $shown]]
}
check_zsets "ZSCORE and ZMSCORE of what is not there are null" {
    make_zset k {a 1 b 2.5}
    list [r ZSCORE k x] [r ZSCORE none x] [r ZMSCORE k b x a] [r ZMSCORE none a b]
} {(nil) (nil) {2.5 (nil) 1} {(nil) (nil)}}
check_zsets "ZCARD counts the members" {
    make_zset k {a 1 b 2}
    list [typed ZCARD k] [typed ZCARD none]
} {{int 2} {int 0}}

# --- Ranks

check_zsets "ZRANK and ZREVRANK count from either end, WITHSCORE adds the score" {
    make_zset k [numbered_pairs 1 100]
    assert_equal [typed ZRANK k m0007 WITHSCORE] \
        [list array [list {int 6} [list [expr {$protocol == 3 ? "double" : "bulk"}] 7]]]
    list [r ZRANK k m0001] [r ZRANK k m0100] [r ZREVRANK k m0100] [r ZREVRANK k m0007 withscore] [r ZRANK k x] \
        [r ZREVRANK none x]
} {0 99 0 {93 7} (nil) (nil)}
check_in 2 "ZRANK of a missing member is null, WITHSCORE a null array, in RESP2" {
    list [typed ZRANK none a] [typed ZRANK none a WITHSCORE]
} {nil nilarray}
check_error "ZRANK refuses another option" {r ZRANK k a FOO} "ERR syntax error"
check_error "ZRANK refuses more arguments" {r ZRANK k a WITHSCORE x} \
    "ERR wrong number of arguments for 'zrank' command"

# --- Ranges

set ten {a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8 i 9 j 10}
foreach {arguments expected} {
    {0 -1}                             {a b c d e f g h i j}
    {2 4}                              {c d e}
    {-3 -2}                            {h i}
    {5 2}                              {}
    {-100 1}                           {a b}
    {20 30}                            {}
    {0 2 REV}                          {j i h}
    {(3 5 BYSCORE}                     {d e}
    {5 (3 BYSCORE REV}                 {e d}
    {-inf +inf BYSCORE LIMIT 2 3}      {c d e}
    {+inf -inf BYSCORE REV LIMIT 2 3}  {h g f}
    {3 8 byscore limit 4 -1}           {g h}
    {3 8 BYSCORE LIMIT 6 1}            {}
    {3 8 BYSCORE LIMIT -1 1}           {}
    {3 8 BYSCORE LIMIT 0 0}            {}
    {(5 (5 BYSCORE}                    {}
    {8 3 BYSCORE}                      {}
} {
    check_zsets "ZRANGE k $arguments" {
        make_zset k $ten
        assert_equal [typed ZRANGE k {*}$arguments WITHSCORES] [scored [concat {*}[lmap member $expected {
            list $member [dict get $ten $member]
        }]]]
        r ZRANGE k {*}$arguments
    } $expected
    check_zsets "ZRANGESTORE of k $arguments stores the same" {
        make_zset k $ten
        r SET to text
        assert_equal [typed ZRANGESTORE to k {*}$arguments] [list int [llength $expected]]
        lsort [r ZRANGE to 0 -1]
    } [lsort $expected]
}
foreach {command expected} {
    {ZREVRANGE k 1 2}                      {i h}
    {ZRANGEBYSCORE k 2 (4}                 {b c}
    {ZRANGEBYSCORE k 2 9 LIMIT 1 2}        {c d}
    {ZREVRANGEBYSCORE k 4 (2}              {d c}
    {ZREVRANGEBYSCORE k 9 2 LIMIT 1 2}     {h g}
    {ZCOUNT k (2 4}                        2
    {ZCOUNT k 4 2}                         0
    {ZCOUNT none 1 2}                      0
    {ZRANGE none 0 -1}                     {}
} {
    check_zsets $command {
        make_zset k $ten
        r {*}$command
    } $expected
}
foreach {command expected} {
    {ZRANGEBYLEX k - +}                    {{} a aa b c}
    {ZRANGEBYLEX k [a (b}                  {a aa}
    {ZRANGEBYLEX k (a [b}                  {aa b}
    {ZRANGEBYLEX k + -}                    {}
    {ZRANGEBYLEX k [ [a}                   {{} a}
    {ZRANGEBYLEX k - + LIMIT 1 2}          {a aa}
    {ZREVRANGEBYLEX k [b (a}               {b aa}
    {ZREVRANGEBYLEX k + - LIMIT 1 2}       {b aa}
    {ZRANGE k [a [b BYLEX}                 {a aa b}
    {ZRANGE k [b [a BYLEX REV LIMIT 0 2}   {b aa}
    {ZLEXCOUNT k - +}                      5
    {ZLEXCOUNT k (a (c}                    2
    {ZREMRANGEBYLEX k [a (b}               2
} {
    check_zsets $command {
        make_zset k {a 0 aa 0 b 0 c 0 "" 0}
        r {*}$command
    } $expected
}
set bad_limit "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
set lex_scores "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
foreach {command error} [list \
    {ZRANGE k a b} $not_integer  {ZRANGE k 0 1 FOO} "ERR syntax error"  {ZRANGE k 0 1 LIMIT 0 1} $bad_limit \
    {ZRANGE k 0 1 BYSCORE LIMIT 0} "ERR syntax error"  {ZRANGE k 0 1 BYSCORE LIMIT x 1} $not_integer \
    {ZRANGE k 0 -1 LIMIT 0 -2} $bad_limit  {ZRANGE k 0 1 LIMIT x -1} $not_integer \
    {ZRANGE k 0 1 REV REV} "ERR syntax error" \
    {ZRANGE k 0 1 BYSCORE BYLEX} "ERR syntax error"  {ZRANGE k - + BYLEX WITHSCORES} $lex_scores \
    {ZRANGE k a b BYSCORE} $bad_score_range  {ZRANGE k a b BYLEX} $bad_member_range \
    {ZREVRANGE k 0 1 REV} "ERR syntax error"  {ZREVRANGE k 0 1 BYSCORE} "ERR syntax error" \
    {ZRANGEBYSCORE k (nan 1} $bad_score_range  {ZRANGEBYSCORE k 0 1 REV} "ERR syntax error" \
    {ZRANGEBYLEX k a +} $bad_member_range  {ZRANGEBYLEX k - + WITHSCORES} $lex_scores \
    {ZRANGESTORE to k 0 1 WITHSCORES} "ERR syntax error"  {ZCOUNT k x 1} $bad_score_range \
    {ZLEXCOUNT k - x} $bad_member_range  {ZREMRANGEBYRANK k x 1} $not_integer \
    {ZREMRANGEBYSCORE k x 1} $bad_score_range  {ZREMRANGEBYLEX k x [a} $bad_member_range] {
    check_error "$command is refused" [list r {*}$command] $error
}
check_zsets "a score of -0 becomes 0" {
    r ZADD k -1 a -0 b 0 c 0 d
    list [r ZADD k INCR -0 e] [r ZINCRBY k -0 e] [r ZADD k XX CH -0 c] [r ZINCRBY k -0 d] \
        [r ZUNIONSTORE to 2 k k WEIGHTS 0 -0] [r ZRANGESTORE copy to 0 -1 REV] \
        [lmap key {k to copy} {r ZMSCORE $key a b c d e}]
} {0 0 0 0 5 5 {{-1 0 0 0 0} {0 0 0 0 0} {0 0 0 0 0}}}
check_zsets "ranges of members with several scores do not depend on the encoding" {
    make_zset k {c 1 a 2 b 3 e 4 d 5 f 6}
    list [r ZRANGEBYLEX k {[b} +] [r ZRANGEBYLEX k - {[d}] [r ZRANGEBYLEX k {[a} {[a}] [r ZLEXCOUNT k {(c} {(f}] \
        [r ZRANGESTORE to k {[b} {[d} BYLEX] [r ZRANGE to 0 -1] [r ZREMRANGEBYLEX k {(a} +] [r ZRANGE k 0 -1]
} {{b e d f} {c a b} {c a} 2 1 b 4 {c a}}
check "ZRANGESTORE of nothing deletes the destination" {
    r SET to text
    list [r ZRANGESTORE to none 0 -1] [r EXISTS to]
} {0 0}

# --- Removing

check_zsets "ZREM removes members and, with the last one, the key" {
    make_zset k {a 1 b 2 c 3}
    list [r ZREM k a x a] [zset_of k] [r ZREM k b c d] [r EXISTS k] [r ZREM k b]
} {1 {b 2 c 3} 2 0 0}
check_zsets "ZREMRANGEBYRANK and ZREMRANGEBYSCORE remove ranges" {
    make_zset k $ten
    list [r ZREMRANGEBYRANK k 0 1] [r ZREMRANGEBYRANK k -1 -1] [r ZREMRANGEBYSCORE k (3 5] \
        [r ZREMRANGEBYSCORE k 90 99] [r ZRANGE k 0 -1] [r ZREMRANGEBYSCORE k -inf inf] [r EXISTS k]
} {2 1 2 0 {c f g h i} 5 0}

# --- Popping

check_zsets "ZPOPMIN and ZPOPMAX take from either end" {
    make_zset k $ten
    set one [expr {$protocol == 3 ? "double" : "bulk"}]
    assert_equal [typed ZPOPMIN k] [list array [list {bulk a} [list $one 1]]]
    assert_equal [typed ZPOPMAX k] [list array [list {bulk j} [list $one 10]]]
    assert_equal [typed ZPOPMIN k 2] [scored {b 2 c 3}]
    assert_equal [typed ZPOPMAX k 1] [scored {i 9}]
    assert_equal [typed ZPOPMAX k 0] {array {}}
    assert_equal [typed ZPOPMAX k 100] [scored {h 8 g 7 f 6 e 5 d 4}]
    list [r EXISTS k] [typed ZPOPMIN k] [typed ZPOPMIN k 3]
} {0 {array {}} {array {}}}
check_zsets "ZMPOP takes from the first sorted set there is" {
    make_zset k $ten
    list [r ZMPOP 2 none k MIN] [r ZMPOP 1 k max COUNT 2] [r ZMPOP 1 none MIN] [r ZCARD k]
} {{k {{a 1}}} {k {{j 10} {i 9}}} (nil) 7}
foreach {command error} {
    {ZPOPMIN k -1}            "ERR value is out of range, must be positive"
    {ZPOPMIN k x}             "ERR value is out of range, must be positive"
    {ZPOPMIN k 1 2}           "ERR syntax error"
    {ZMPOP 0 k MIN}           "ERR numkeys should be greater than 0"
    {ZMPOP x k MIN}           "ERR numkeys should be greater than 0"
    {ZMPOP 2 k MIN}           "ERR syntax error"
    {ZMPOP 1 k LEFT}          "ERR syntax error"
    {ZMPOP 1 k MIN COUNT}     "ERR syntax error"
    {ZMPOP 1 k MIN COUNT 0}   "ERR count should be greater than 0"
    {ZMPOP 1 k MIN COUNT 1 x} "ERR syntax error"
} {
    check_error "$command is refused" [list r {*}$command] $error
}

# --- Random members

check_zsets "ZRANDMEMBER returns members of the sorted set, different ones for a positive count" {
    make_zset k [numbered_pairs 1 100]
    set members [r ZRANGE k 0 -1]
    assert {[r ZRANDMEMBER k] in $members}
    foreach count {1 5 33 34 60 99 100 1000} {
        set drawn [r ZRANDMEMBER k $count]
        assert_equal [llength [lsort -unique $drawn]] [expr {min($count, 100)}]
        foreach member $drawn {
            assert {$member in $members}
        }
    }
    list [llength [r ZRANDMEMBER k -250]] [r ZRANDMEMBER k 0] [r ZRANDMEMBER none] [r ZRANDMEMBER none 3]
} {250 {} (nil) {}}
check_zsets "ZRANDMEMBER WITHSCORES returns the score of each" {
    make_zset k {a 1 b 2 c 3}
    assert_equal [lindex [typed ZRANDMEMBER k 3 WITHSCORES] 0] array
    foreach {member score} [concat {*}[r ZRANDMEMBER k -20 WITHSCORES]] {
        assert_equal $score [r ZSCORE k $member]
    }
}
check_zsets "ZRANDMEMBER draws every member about equally often" {
    make_zset k [numbered_pairs 1 20]
    foreach member [concat {*}[lmap _ [lrepeat 500 0] {r ZRANDMEMBER k 6}] [r ZRANDMEMBER k -3000]] {
        dict incr counts $member
    }
    # 300 of each on average, with a standard deviation of less than 17: the bounds are eight of these away.
    assert_equal [dict size $counts] 20
    foreach count [dict values $counts] {
        assert {$count > 164 && $count < 436}
    }
    unset counts
}
foreach {command error} [list \
    {ZRANDMEMBER k x} $not_integer  {ZRANDMEMBER k 1 FOO} "ERR syntax error" \
    {ZRANDMEMBER k 1 WITHSCORES x} "ERR syntax error" \
    {ZRANDMEMBER k -9223372036854775808} \
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807" \
    {ZRANDMEMBER k 4611686018427387904 WITHSCORES} "ERR value is out of range"] {
    check_error "$command is refused" [list r {*}$command] $error
}

# --- ZSCAN

check_zsets "ZSCAN visits every member once while nothing changes" {
    r ZADD k {*}[lreverse [numbered_pairs 1 1000]]
    set cursor 0
    set found {}
    while 1 {
        lassign [r ZSCAN k $cursor COUNT 20] cursor items
        lappend found {*}$items
        if {$cursor == 0} break
    }
    expr {[lsort -stride 2 $found] eq [numbered_pairs 1 1000]}
} 1
check_zsets "ZSCAN returns what is there throughout while the sorted set grows and shrinks" {
    r ZADD k {*}[lreverse [numbered_pairs 1 300]]
    set cursor 0
    set round 0
    while 1 {
        lassign [r ZSCAN k $cursor COUNT 5] cursor items
        foreach {member _} $items {
            dict set seen $member 1
        }
        incr round
        r ZADD k {*}[lreverse [numbered_pairs [expr {1000 + 50 * $round}] [expr {1049 + 50 * $round}]]]
        if {$round % 3 == 0} {
            r ZREMRANGEBYSCORE k 400 +inf
        }
        if {$cursor == 0} break
    }
    foreach {member _} [numbered_pairs 1 300] {
        assert {[dict exists $seen $member]}
    }
    unset seen
}
check "ZSCAN writes the scores of a skiplist with 17 digits" {
    with_config {zset-max-listpack-entries 0} {
        r ZADD k 0.1 a 3 b 1e20 c inf d
        r ZSCAN k 0 COUNT 100 MATCH a
    }
} {0 {a 0.10000000000000001}}
check_zsets "ZSCAN MATCH filters, and scores are bulks" {
    make_zset k {a 1.5 ab 2 b 3}
    typed ZSCAN k 0 MATCH a* COUNT 100
} {array {{bulk 0} {array {*{bulk a} {bulk 1.5}*}}}} -match glob
check_zsets "ZSCAN NOSCORES replies members alone" {
    make_zset k {a 1.5 ab 2 b 3}
    set found [lmap options {NOSCORES {noscores MATCH a*} {MATCH a* NOSCORES COUNT 100 NOSCORES}} {
        lassign [r ZSCAN k 0 COUNT 100 {*}$options] cursor members
        # Others may be there already.
        lsort [lsearch -all -inline -regexp $members {^(a|ab|b|1\.5|2|3)$}]
    }]
    lappend found [r ZSCAN none 0 NOSCORES] [error_of {r ZSCAN k 0 NOSCORES MATCH}]
} {{a ab b} {a ab} {a ab} {0 {}} {ERR syntax error}}
foreach command {{SCAN 0} {SSCAN s 0} {HSCAN h 0}} {
    check_error "$command has no NOSCORES" [format {
        r SADD s a
        r HSET h f v
        r %s NOSCORES
    } $command] "ERR NOSCORES option can only be used in ZSCAN"
}
foreach {command error} [list \
    {ZSCAN k x} "ERR invalid cursor"  {ZSCAN k 0 FOO} "ERR syntax error"  {ZSCAN k 0 COUNT 0} "ERR syntax error" \
    {ZSCAN k 0 COUNT x} $not_integer  {ZSCAN k 0 NOVALUES} "ERR NOVALUES option can only be used in HSCAN"] {
    check "$command is refused" {
        r ZADD k 1 a
        error_of {r {*}$command}
    } $error
}
check "ZSCAN of a missing key is empty" {
    typed ZSCAN none 0 FOO
} {array {{bulk 0} {array {}}}}

# --- Other types

foreach command {
    {ZADD k 1 a} {ZINCRBY k 1 a} {ZCARD k} {ZSCORE k a} {ZMSCORE k a} {ZRANK k a} {ZREVRANK k a} {ZCOUNT k 0 1}
    {ZLEXCOUNT k - +} {ZRANGE k 0 1} {ZRANGESTORE to k 0 1} {ZREVRANGE k 0 1} {ZRANGEBYSCORE k 0 1}
    {ZREVRANGEBYSCORE k 1 0} {ZRANGEBYLEX k - +} {ZREVRANGEBYLEX k + -} {ZREM k a} {ZREMRANGEBYRANK k 0 1}
    {ZREMRANGEBYSCORE k 0 1} {ZREMRANGEBYLEX k - +} {ZPOPMIN k} {ZPOPMAX k 0} {ZMPOP 2 none k MIN} {ZRANDMEMBER k}
    {ZRANDMEMBER k 1} {ZSCAN k 0} {ZUNION 2 none k} {ZINTER 2 none k} {ZDIFF 2 none k} {ZINTERCARD 2 none k}
    {ZUNIONSTORE to 2 none k} {ZINTERSTORE to 2 none k} {ZDIFFSTORE to 2 none k} {BZPOPMIN none k 0} {BZPOPMAX k 0}
    {BZMPOP 0 1 k MIN}
} {
    check "$command refuses a string and leaves it alone" {
        r SET k text
        list [error_of {r {*}$command}] [r GET k]
    } [list $wrong_type text]
}

check "ZRANGE with XX replies null for a missing key, other forms do not take it" {
    r ZADD k 1 a 2 b
    assert {[typed ZRANGE none 0 -1 XX] in {nilarray null}}
    assert {[typed ZRANGE none (1 5 byscore xx withscores limit 0 1] in {nilarray null}}
    list [r ZRANGE k 0 -1 XX] [r ZRANGE k 5 9 XX REV] [error_of {r ZRANGESTORE to k 0 -1 XX}] \
        [error_of {r ZREVRANGE none 0 -1 XX}]
} {{a b} {} {ERR syntax error} {ERR syntax error}}

finish
