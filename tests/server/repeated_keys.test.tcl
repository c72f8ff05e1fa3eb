# Commands that combine values, with a key that is named many times: the results are those of as many copies of its
# value, but members are not looked up again each time.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]

server_start

set copies 300

# The processor time that the server has taken.
proc cpu_ms {} {
    return [expr {1000 * ([info_field used_cpu_user] + [info_field used_cpu_sys])}]
}

# The least time of three: other programs can only add to it.
proc least_cpu_ms {command} {
    set times {}
    for {set i 0} {$i < 3} {incr i} {
        set before [cpu_ms]
        r {*}$command
        lappend times [expr {[cpu_ms] - $before}]
    }
    return [tcl::mathfunc::min {*}$times]
}

foreach {name command before after} {
    ZUNION        ZUNIONSTORE {to %d}    {}
    ZINTER        ZINTERSTORE {to %d}    {}
    ZINTERCARD    ZINTERCARD  %d         {}
    SINTER        SINTERSTORE to         {}
    SINTERCARD    SINTERCARD  %d         {}
    SDIFF         SDIFFSTORE  {to large} {}
} {
    check_in 2 "$name of one key $copies times looks its members up once" {
        set make [expr {[string index $::name 0] eq "Z" ? "ZADD" : "SADD"}]
        set members [numbered 1 1000 m]
        r $make k {*}[expr {$make eq "ZADD" ? [concat {*}[lmap member $members {list 0.1 $member}]] : $members}]
        r SADD large {*}[numbered 1 1000 n]
        set other {}
        for {set i 0} {$i < $::copies} {incr i} {
            r COPY k k$i
            lappend other k$i
        }
        set start [list $::command {*}[format $::before $::copies]]
        set repeated [concat $start [lrepeat $::copies k]]
        set copied [concat $start $other]
        assert_equal [r {*}$repeated] [r {*}$copied]
        set few [least_cpu_ms $repeated]
        set many [least_cpu_ms $copied]
        if {$few * 3 > $many} {
            error "$few ms instead of $many"
        }
    }
}

foreach operation {AND OR XOR DIFF DIFF1 ANDOR ONE} {
    check_in 2 "BITOP $operation of one key $copies times reads it once or twice" {
        r SET k [string repeat "\x13\x00\xf7" 30000]
        r SET other [string repeat "\x31\xff" 45000]
        set others {}
        for {set i 0} {$i < $::copies} {incr i} {
            r COPY k k$i
            lappend others k$i
        }
        set repeated [list BITOP $::operation to other {*}[lrepeat $::copies k]]
        set copied [list BITOP $::operation to other {*}$others]
        r {*}$copied
        set expected [r GET to]
        set many [least_cpu_ms $copied]
        set few [least_cpu_ms $repeated]
        assert_equal [expr {[r GET to] eq $expected}] 1
        if {$few * 3 > $many} {
            error "$few ms instead of $many"
        }
    }
}

check "BITOP gives what it gives for as many copies, in any order" {
    expr {srand(2)}
    foreach key {a b c} value {"\x0f\x33\x55" "\xff\x01" 12345} {
        r SET $key $value
        for {set i 0} {$i < 9} {incr i} {
            r COPY $key $key$i
        }
    }
    for {set round 0} {$round < 300} {incr round} {
        set operation [lindex {AND OR XOR DIFF DIFF1 ANDOR ONE} [expr {$round % 7}]]
        set repeated {}
        set copied {}
        for {set i 0} {$i < 2 + $round % 8} {incr i} {
            set key [lindex {a a b c none} [expr {int(rand() * 5)}]]
            lappend repeated $key
            lappend copied $key$i
        }
        foreach {to from} [list to $repeated copy $copied] {
            r BITOP $operation $to {*}$from
        }
        assert_equal [r GET to] [r GET copy]
        r COPY a into REPLACE
        r BITOP $operation into {*}[string map {a into} $repeated]
        assert_equal [r GET into] [r GET copy]
    }
}

# Scores whose sums depend on the order, and whose products are infinite or not a number.
set weights {1 -1 0 inf -inf 0.1 0.3 1e-200 1e300 -2.7}
check "scores are those of as many copies, in any order" {
    expr {srand(1)}
    foreach key {a b c} length {5 5 3} {
        for {set i 0} {$i < $length} {incr i} {
            r ZADD $key [lindex $::weights [expr {int(rand() * 10)}]] m[expr {$i + [string length $key]}]
        }
        for {set i 0} {$i < 12} {incr i} {
            r COPY $key $key$i
        }
    }
    r SADD s m1 m2 m9
    for {set i 0} {$i < 12} {incr i} {
        r COPY s s$i
    }
    for {set round 0} {$round < 60} {incr round} {
        set repeated {}
        set copied {}
        set chosen {}
        for {set i 0} {$i < 12} {incr i} {
            set key [lindex {a a b b c s none} [expr {int(rand() * ($round % 3 ? 4 : 7))}]]
            lappend repeated $key
            lappend copied $key$i
            lappend chosen [lindex $::weights [expr {int(rand() * ($round % 2 ? 10 : 3))}]]
        }
        foreach command {ZUNION ZINTER} {
            foreach aggregate {SUM MIN MAX COUNT} {
                set options [list WEIGHTS {*}$chosen AGGREGATE $aggregate WITHSCORES]
                assert_equal [r $command 12 {*}$repeated {*}$options] [r $command 12 {*}$copied {*}$options]
            }
        }
        assert_equal [r ZINTERCARD 12 {*}$repeated] [r ZINTERCARD 12 {*}$copied]
        assert_equal [r ZDIFF 12 {*}$repeated] [r ZDIFF 12 {*}$copied]
    }
}
check "a difference with the first set among the others is empty" {
    r SADD s 1 2
    r ZADD z 1 a
    list [r SDIFF s none s] [r SDIFFCARD 3 s none s] [r SDIFF s none none] [r ZDIFF 3 z none z] [r ZDIFF 3 z none none]
} {{} 0 {1 2} {} a}
check "PFCOUNT and PFMERGE count a key once, and still refuse what is behind it" {
    r PFADD h {*}[numbered 1 100]
    r PFADD other {*}[numbered 51 150]
    r SET text x
    set keys [concat [lrepeat 20 h] other h]
    list [expr {[r PFCOUNT {*}$keys] == [r PFCOUNT h other]}] [r PFMERGE to {*}$keys] \
        [expr {[r PFCOUNT to] == [r PFCOUNT h other]}] [error_of {r PFCOUNT h h text h}]
} {1 OK 1 {WRONGTYPE Key is not a valid HyperLogLog string value.}}

finish
