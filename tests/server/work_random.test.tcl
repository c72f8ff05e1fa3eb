# SRANDMEMBER, HRANDFIELD and ZRANDMEMBER of many members choose them in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

# --- The values, and a change of each that no work makes ---

set many 12000
set set_members [numbered 1 $many member:]
set hash_pairs [concat {*}[lmap i [numbered 1 $many] {list field:$i value:$i}]]
set zset_pairs [concat {*}[lmap i [numbered 1 $many] {list member:$i [expr {$i * 7 % 997}]}]]

proc make_all {} {
    r DEL s h z i
    r SADD s {*}$::set_members
    r HSET h {*}$::hash_pairs
    r ZADD z {*}[lreverse $::zset_pairs]
    r SADD i {*}[numbered 1 300]
}

proc change_all {} {
    r SREM s {*}[lrange $::set_members 100 2000]
    r SADD s {*}[numbered 1 500 new:]
    r HSET h {*}[lmap text [lrange $::hash_pairs 0 2001] {string map {value: other:} $text}] new 1
    r HDEL h {*}[lmap i [numbered 3000 4000] {string cat field: $i}]
    r ZREM z {*}[numbered 1000 3000 member:]
    r ZADD z {*}[concat {*}[lmap i [numbered 1 500] {list 5 new:$i}]] 10000 member:1
    r SADD i text
    r RENAME i ii
}

# What may be in the reply to a command: a dictionary, whose values are those that follow a member.
proc choices_of {command} {
    switch [lindex $command 1] {
        s {return [concat {*}[lmap member $::set_members {list $member {}}]]}
        h {return $::hash_pairs}
        z {return $::zset_pairs}
        i {return [concat {*}[lmap member [numbered 1 300] {list $member {}}]]}
    }
}

# The reply has as many members as the command asks for, in its form, of these choices; different ones unless the count
# is negative.
proc assert_chosen {command reply choices} {
    lassign $command _ _ count with
    set pairs [expr {$with ne "" ? [concat {*}$reply] : [concat {*}[lmap member $reply {list $member {}}]]}]
    set wanted [expr {$count < 0 ? -$count : min($count, [dict size $choices])}]
    assert_equal [expr {[llength $pairs] / 2}] $wanted
    foreach {member value} $pairs {
        assert {[dict exists $choices $member]}
        if {$with ne ""} {
            assert {$value == [dict get $choices $member] || $value eq [dict get $choices $member]}
        }
    }
    if {$count > 0} {
        assert_equal [dict size $pairs] $wanted
    }
}

# The types of a reply, of as many of its parts as show its form.
proc shape {typed} {
    lassign $typed type value
    if {$type ne "array"} {
        return $type
    }
    return [list $type [llength $value] [shape [lindex $value 0]] [shape [lindex $value 1]]]
}

foreach command {
    {SRANDMEMBER s 2500} {SRANDMEMBER s 9000} {SRANDMEMBER s -9000} {SRANDMEMBER i -11000}
    {HRANDFIELD h 2500} {HRANDFIELD h 9000 WITHVALUES} {HRANDFIELD h 100000} {HRANDFIELD h -2000 WITHVALUES}
    {ZRANDMEMBER z 9000} {ZRANDMEMBER z 11999 WITHSCORES} {ZRANDMEMBER z -2000 WITHSCORES} {ZRANDMEMBER z -9000}
} {
    check "$command: chosen from the members of the moment when it came" {
        make_all
        set choices [choices_of $command]
        set before [total_works]
        set form [shape [typed {*}$command]]
        assert_equal [total_works] [expr {$before + 1}]
        r MULTI
        r {*}$command
        assert_equal [shape [lindex [typed EXEC] 1 0]] $form
        assert_chosen $command [r EVAL {return redis.call(unpack(ARGV))} 0 {*}$command] $choices
        assert_equal [total_works] [expr {$before + 1}]
        set c [client_open]
        paused {
            $c send {*}$command
            $c send PING
            wait_for_works 1
            change_all
        }
        assert_chosen $command [$c read] $choices
        $c read
    } PONG
}
check "few members are chosen at once" {
    make_all
    set before [total_works]
    foreach command {
        {SRANDMEMBER s} {SRANDMEMBER s 100} {SRANDMEMBER s -100} {SRANDMEMBER i 200} {HRANDFIELD h} {HRANDFIELD h 100}
        {HRANDFIELD h -100 WITHVALUES} {ZRANDMEMBER z} {ZRANDMEMBER z 100} {ZRANDMEMBER z -100 WITHSCORES}
        {SRANDMEMBER s 0} {SRANDMEMBER nokey 100000} {HRANDFIELD nokey -100000} {ZRANDMEMBER nokey 100000}
    } {
        r {*}$command
    }
    expr {[total_works] - $before}
} 0
check "the size of the members counts, too" {
    set long [string repeat x 100000]
    r HSET h {*}[concat {*}[lmap i [numbered 1 300] {list field:$i $i$long}]]
    set before [total_works]
    foreach {field value} [concat {*}[r HRANDFIELD h 60 WITHVALUES]] {
        assert_equal $value [string range $field 6 end]$long
    }
    expr {[total_works] - $before}
} 1

# --- Fields that expire ---

check "only fields are chosen that had not expired when the command came" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    make_all
    r HPEXPIRE h 1 FIELDS 2000 {*}[numbered 1 2000 field:]
    after 5
    r HPEXPIRE h 100 FIELDS 1000 {*}[numbered 2001 3000 field:]
    set now [time_ms [r TIME]]
    set living [dict create {*}[lrange $hash_pairs 4000 end]]
    foreach command {{HRANDFIELD h 10000 WITHVALUES} {HRANDFIELD h 3000} {HRANDFIELD h -3000 WITHVALUES}} {
        set c [client_open]
        paused {
            r HPEXPIRE h 300 FIELDS 1000 {*}[numbered 2001 3000 field:]
            $c send {*}$command
            wait_for_works 1
            after 310
            assert_equal [r HGET h field:2500] (nil)
        }
        assert_chosen $command [$c read] $living
        r HSET h {*}[lrange $hash_pairs 4000 5999]
    }
    r DEBUG SET-ACTIVE-EXPIRE 1
}

# --- Every member is as likely as any other ---

# Of 20 groups of members, how often one of each is chosen: the sum of squares has the mean 19 and the standard
# deviation 6.2, and is above 80 by chance once in a thousand million times. Different members of one draw are only more
# even.
proc assert_even {members} {
    foreach member $members {
        dict incr counts [expr {[lindex [split $member :] 1] % 20}]
    }
    set mean [expr {[llength $members] / 20.0}]
    set sum 0.0
    foreach {_ count} $counts {
        set sum [expr {$sum + ($count - $mean) ** 2 / $mean}]
    }
    assert {[dict size $counts] == 20 && $sum < 80}
}

# Some parts of the values have few members left, so that nodes and blocks of any fill are drawn from.
check "each member is as likely as any other" {
    make_all
    set gone [lmap i [numbered 1 6000] {if {$i / 20 % 10 == 0} continue; set i}]
    r SREM s {*}[lmap i $gone {string cat member: $i}]
    r HDEL h {*}[lmap i $gone {string cat field: $i}]
    r ZREM z {*}[lmap i $gone {string cat member: $i}]
    set length [r ZCARD z]
    set before [total_works]
    foreach count {-20000 3800 5000} {
        foreach command {{SRANDMEMBER s} {HRANDFIELD h} {ZRANDMEMBER z}} {
            set members [r {*}$command $count]
            assert_even $members
            # Of the part that has lost most of its members; six deviations are 0.04 at most.
            set sparse [llength [lsearch -all -regexp $members {:([1-5]?\d{1,3}|6000)$}]]
            assert {abs(double($sparse) / [llength $members] - ($length - 6000.0) / $length) < 0.05}
        }
    }
    expr {[total_works] - $before}
} 9

check "each member is as likely as any other where few are drawn of very many" {
    r ZADD z {*}[concat {*}[lmap i [numbered 1 30000] {list [expr {$i * 7 % 997}] member:$i}]]
    set before [total_works]
    set drawn {}
    foreach _ {1 2 3} {
        set members [r ZRANDMEMBER z 1450]
        assert_equal [llength [lsort -unique $members]] 1450
        lappend drawn {*}$members
    }
    assert_even $drawn
    expr {[total_works] - $before}
} 3

# --- Limits of replies ---

check "a reply that becomes longer than proto-max-bulk-len is an error" {
    make_all
    with_config {proto-max-bulk-len 1mb} {
        foreach command {{SRANDMEMBER s -300000} {HRANDFIELD h -300000 WITHVALUES} {ZRANDMEMBER z -300000}} {
            set before [total_works]
            assert_equal [error_of {r {*}$command}] "ERR reply exceeds maximum allowed size (proto-max-bulk-len)"
            assert_equal [total_works] [expr {$before + 1}]
            assert_equal [llength [r {*}[lreplace $command 2 2 -3000]]] \
                [expr {[llength $command] > 3 && $protocol == 2 ? 6000 : 3000}]
        }
    }
}
check "a reply beyond the output limit closes the client, or is an error if the limit has become higher" {
    make_all
    foreach {raised outcome} {0 closed 1 error} {
        r CONFIG SET client-output-buffer-limit {normal 1mb 0 0}
        set c [client_open]
        paused {
            $c send SRANDMEMBER s -300000
            wait_for_works 1
            if {$raised} {
                r CONFIG SET client-output-buffer-limit {normal 0 0 0}
            }
        }
        if {$raised} {
            assert_equal [$c read_typed] {error {ERR reply exceeds the output limit that the client had}}
        } else {
            assert {[$c is_closed]}
        }
        r CONFIG SET client-output-buffer-limit {normal 0 0 0}
    }
}
check "nothing goes on for a client that has gone" {
    make_all
    set c [client_open]
    paused {
        $c send SRANDMEMBER s -16000000
        wait_for_works 1
        $c close
        wait_for_works 0
    }
    assert_equal [llength [r SRANDMEMBER s 9000]] 9000
    set c [client_open]
    $c send ZRANDMEMBER z -16000000
    $c close
    wait_for_works 0
    llength [r HRANDFIELD h 9000]
} 9000

finish
