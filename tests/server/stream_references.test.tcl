# What becomes of pending entries when entries are deleted: XDELEX XACKDEL, and KEEPREF, DELREF and ACKED with XADD and
# XTRIM.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]
source $library/aof.tcl

server_start

# Entries 1-0 … count-0, of which group g has `read` pending at its consumer; group h has read all, and acknowledged.
proc make_groups {count read} {
    for {set i 1} {$i <= $count} {incr i} { r XADD k $i f $i }
    r XGROUP CREATE k g 0
    r XGROUP CREATE k h 0
    if {$read > 0} { r XREADGROUP GROUP g a COUNT $read STREAMS k > }
    r XREADGROUP GROUP h a NOACK STREAMS k >
}
proc ids {} {
    return [lmap entry [r XRANGE k - +] {lindex [split [lindex $entry 0] -] 0}]
}
proc pending {{group g}} {
    return [lmap entry [r XPENDING k $group - + 1000] {lindex [split [lindex $entry 0] -] 0}]
}

check_in 2 "XDELEX and XACKDEL check their arguments" {
    assert_replies {
        {SET s v} OK
        {XADD k 1 f v} 1-0
        {XDELEX k 1 1} {ERR wrong number of arguments for 'xdelex' command}
        {XDELEX k FOO 1 1} {ERR syntax error}
        {XDELEX k KEEPREF DELREF IDS 1 1} {ERR syntax error}
        {XDELEX k IDS 0 1} {ERR Number of IDs must be a positive integer}
        {XDELEX k IDS x 1} {ERR Number of IDs must be a positive integer}
        {XDELEX k IDS 2 1} {ERR The `numids` parameter must match the number of arguments}
        {XDELEX k IDS 1 1 2} {ERR syntax error}
        {XDELEX k IDS 1 9 ACKED DELREF} {ERR syntax error}
        {XDELEX k IDS 1 9 KEEPREF} -1
        {XDELEX k IDS 1 9 IDS} {ERR syntax error}
        {XDELEX k IDS 1 9 IDS 2 1} {ERR The `numids` parameter must match the number of arguments}
        {XDELEX k IDS 1 x IDS 2 8 9} {-1 -1}
        {XDELEX k IDS 1 1 KEEPREF IDS 1 9} -1
        {XACKDEL k none IDS 1 1 IDS 2 8 9} {-1 -1}
        {XDELEX k IDS 1 x} {ERR Invalid stream ID specified as stream command argument}
        {XDELEX s IDS 1 1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XDELEX none IDS 2 1 x} {-1 -1}
        {XACKDEL none g IDS 2 1 2} {-1 -1}
        {XACKDEL k none IDS 1 x} -1
        {XACKDEL k g FOO IDS 1 1} {ERR syntax error}
        {XACKDEL k g IDS 9223372036854775807 1} {ERR The `numids` parameter must match the number of arguments}
        {XTRIM k MAXLEN 5 ACKED DELREF} {ERR syntax error}
        {XADD k KEEPREF DELREF * f v} {ERR Invalid stream ID specified as stream command argument}
        {XRANGE k - +} {{1-0 {f v}}}
    }
}
check "XDELEX keeps or drops references, or keeps entries that have any" {
    make_groups 6 4
    assert_equal [r XDELEX k IDS 2 1 9] {1 -1}
    assert_equal [r XDELEX k DELREF IDS 1 2] 1
    assert_equal [pending] {1 3 4}
    assert_equal [r XDELEX k IDS 3 3 5 9 ACKED] {2 2 2}
    r XACK k g 3
    assert_equal [r XDELEX k acked IDS 1 3] 1
    list [ids] [pending]
} {{4 5 6} {1 4}}
check "XDELEX DELREF drops references to entries that are gone already" {
    make_groups 2 2
    r XDEL k 1
    list [r XDELEX k DELREF IDS 1 1] [pending]
} {-1 2}
check "XACKDEL acknowledges and deletes" {
    make_groups 5 4
    r XGROUP SETID k h 0
    r XREADGROUP GROUP h b COUNT 2 STREAMS k >
    assert_equal [r XACKDEL k g IDS 3 1 5 9] {1 -1 -1}
    assert_equal [r XACKDEL k g ACKED IDS 2 2 3] {2 2}
    assert_equal [r XACKDEL k g DELREF IDS 1 4] 1
    assert_equal [list [ids] [pending] [pending h]] {{2 3 5} {} {1 2}}
    r XACKDEL k h ACKED IDS 2 1 2
    list [ids] [pending h]
} {{3 5} {}}
foreach {how entries pending} {
    KEEPREF {6 7 8}           {1 2 3 4}
    DELREF  {6 7 8}           {}
    ACKED   {1 3 4 5 6 7 8}   {1 3 4}
} {
    check "XTRIM MAXLEN 3 $how" {
        make_groups 8 4
        if {$how eq "ACKED"} { r XACK k g 2 }
        r XTRIM k MAXLEN 3 $how
        list [ids] [pending]
    } [list $entries $pending]
    check "XADD MAXLEN 3 $how" {
        make_groups 7 4
        if {$how eq "ACKED"} { r XACK k g 2 }
        r XADD k $how MAXLEN 3 8 f 8
        list [ids] [pending]
    } [list $entries $pending]
    check "XTRIM MINID 6 $how" {
        make_groups 8 4
        if {$how eq "ACKED"} { r XACK k g 2 }
        r XTRIM k $how MINID 6
        list [ids] [pending]
    } [list $entries $pending]
}
check "XTRIM ACKED removes as many as are needed, wherever they are" {
    make_groups 8 8
    r XACK k g 2 4 6 8
    list [r XTRIM k MAXLEN 5 ACKED] [ids] [r XTRIM k MAXLEN 0 ACKED] [ids]
} {3 {1 3 5 7 8} 1 {1 3 5 7}}
check "XTRIM ACKED without groups removes all" {
    for {set i 1} {$i <= 2000} {incr i} { r XADD k $i f v }
    list [r XTRIM k MAXLEN 10 ACKED] [r XLEN k]
} {1990 10}
check "XTRIM ACKED keeps what only some groups were given" {
    make_groups 8 8
    r XACK k g 1 2 3 4 5 6 7 8
    r XGROUP SETID k h 3
    list [r XTRIM k MAXLEN 0 ACKED] [ids]
} {3 {4 5 6 7 8}}
check "with DELREF and ACKED ~ trims as = does, but LIMIT is for whole nodes" {
    with_config {stream-node-max-entries 10} {
        make_groups 30 30
        r XACK k g 1 2 15 25 26 27
        assert_equal [r XTRIM k MAXLEN ~ 12 LIMIT 9 ACKED] 0
        assert_equal [r XTRIM k MAXLEN ~ 12 LIMIT 10 ACKED] 2
        assert_equal [r XTRIM k MINID ~ 26 ACKED] 2
        assert_equal [ids] {3 4 5 6 7 8 9 10 11 12 13 14 16 17 18 19 20 21 22 23 24 26 27 28 29 30}
        assert_equal [r XTRIM k MAXLEN ~ 24 LIMIT 7 DELREF] 0
        assert_equal [r XTRIM k MAXLEN ~ 24 DELREF] 2
        list [llength [pending]] [r XTRIM k MAXLEN ~ 20 KEEPREF]
    }
} {22 0}
check "thousands of references are dropped" {
    make_groups 3000 3000
    r XTRIM k MAXLEN 10 DELREF
    assert_equal [llength [pending]] 10
    r XTRIM k MAXLEN 0 DELREF
    pending
}
check "references of many consumers are dropped, whatever the order of the ids" {
    make_groups 2000 0
    for {set i 0} {$i < 40} {incr i} { r XREADGROUP GROUP g [expr {$i % 3}] COUNT [expr {$i % 7 + 1}] STREAMS k > }
    set all [pending]
    set ids [lreverse [lrange $all 5 end-5]]
    assert_equal [lsort -unique [r XDELEX k DELREF IDS [expr {[llength $ids] + 1}] {*}$ids [lindex $ids 0]]] {-1 1}
    assert_equal [pending] [concat [lrange $all 0 4] [lrange $all end-4 end]]
    set counts [lmap consumer [r XINFO CONSUMERS k g] {dict get $consumer pending}]
    list [llength $all] [expr [join $counts +]]
} {155 10}
check "XDELEX and XACKDEL of more ids than are looked at together" {
    make_groups 1500 700
    set ids {}
    for {set i 1} {$i <= 1500} {incr i} { lappend ids $i }
    set replies [r XDELEX k ACKED IDS 1500 {*}$ids]
    assert_equal $replies [lrepeat 1500 2]
    r XGROUP SETID k g 1500
    assert_equal [r XACKDEL k g ACKED IDS 1501 {*}[lreverse $ids] 1] [concat [lrepeat 800 -1] [lrepeat 700 1] -1]
    list [lindex [ids] 0] [llength [ids]] [pending]
} {701 800 {}}

# --- Trimming with ACKED, which looks at no entry twice without need, against what XRANGE and XPENDING say

# The ids that XTRIM key `how` `limit` ACKED must remove.
proc acknowledged {how limit} {
    set given 1000000
    set waiting {}
    foreach group [r XINFO GROUPS k] {
        set last [lindex [split [dict get $group last-delivered-id] -] 0]
        set given [expr {min($given, $last)}]
        lappend waiting {*}[pending [dict get $group name]]
    }
    set ids [ids]
    set left [llength $ids]
    set result {}
    foreach id $ids {
        if {$how eq "MAXLEN" ? $left <= $limit : $id >= $limit} break
        if {$id > $given || $id in $waiting} continue
        lappend result $id
        incr left -1
    }
    return $result
}
proc pick {list} { return [lindex $list [expr {int(rand() * [llength $list])}]] }
proc below {limit} { return [expr {int(rand() * $limit)}] }
proc random_change {last} {
    set group [pick {g h i}]
    set id [expr {1 + [below $last]}]
    switch [pick {add add read read read ack ack ack many noack claim del create destroy setid consumer copy setlast}] {
        add      { for {set i [below 30]} {$i > 0} {incr i -1} { catch {r XADD k [incr last] f $last} } }
        read     { catch {r XREADGROUP GROUP $group [pick {a b}] COUNT [expr {1 + [below 20]}] STREAMS k >} }
        noack    { catch {r XREADGROUP GROUP $group [pick {a b}] NOACK COUNT [expr {1 + [below 5]}] STREAMS k >} }
        ack      { catch {r XACK k $group [pick [pending $group]]} }
        many     { catch {r XACK k $group {*}[lrange [pending $group] [below 5] [below 40]]} }
        claim    { catch {r XCLAIM k $group c 0 $id [expr {$id + 1}]} }
        del      { r XDEL k $id }
        create   { catch {r XGROUP CREATE k $group [pick [list 0 $id]]} }
        destroy  { if {[below 6] == 0} { r XGROUP DESTROY k $group } }
        setid    { if {[below 3] == 0} { catch {r XGROUP SETID k $group [pick [list $id $last]]} } }
        consumer { if {[below 6] == 0} { catch {r XGROUP DELCONSUMER k $group [pick {a b c}]} } }
        copy     { if {[below 6] == 0} { r COPY k other; r COPY other k REPLACE; r DEL other } }
        setlast  { if {[below 6] == 0} { catch {r XSETID k $id} } }
    }
    return $last
}
check "XTRIM ACKED removes what all groups have acknowledged, whatever came before" {
    for {set round 0} {$round < 2} {incr round} {
        r DEL k
        r XADD k 1 f v
        r XGROUP CREATE k g 0
        set last 1
        for {set step 0} {$step < 200} {incr step} {
            set last [random_change $last]
            if {[below 4] > 0} continue
            set how [pick {MAXLEN MINID}]
            set limit [below [expr {$how eq "MAXLEN" ? [r XLEN k] + 1 : $last}]]
            set expected [acknowledged $how $limit]
            set before [ids]
            assert_equal [r XTRIM k $how [pick {= ~}] $limit ACKED] [llength $expected]
            assert_equal [ids] [lmap id $before {if {$id in $expected} continue; set id}]
        }
    }
}
check "with ACKED ~ looks at a part of the entries at a time" {
    r EVAL {for i = 1, 40000 do redis.call('XADD', 'k', i, 'f', 'v') end} 0
    r XGROUP CREATE k g 0
    r EVAL {redis.call('XREADGROUP', 'GROUP', 'g', 'a', 'STREAMS', 'k', '>')} 0
    r XACK k g 1 20000 40000
    set replies {}
    for {set i 0} {$i < 4} {incr i} { lappend replies [r XTRIM k MAXLEN ~ 10 ACKED] }
    r XACK k g 2
    lappend replies [r XTRIM k MAXLEN ~ 10 ACKED]
} {1 1 1 0 1}
with_aof {} {
    check_in 2 "they are propagated as XDEL, XACK and XTRIM" {
        make_groups 8 6
        foreach {request expected} {
            {XDELEX k IDS 1 1}          {{XDEL k 1-0}}
            {XDELEX k IDS 1 1}          {}
            {XDELEX k DELREF IDS 1 2}   {MULTI {XDEL k 2-0} {XACK k g 2-0} EXEC}
            {XDELEX k ACKED IDS 1 3}    {}
            {XACKDEL k g ACKED IDS 1 3} {MULTI {XACK k g 3-0} {XDEL k 3-0} EXEC}
            {XTRIM k MAXLEN 4 DELREF}   {MULTI {XACK k g 4-0} {XTRIM k MAXLEN = 4} EXEC}
            {XTRIM k MAXLEN 0 ACKED}    {}
            {XACK k g 5}                {{XACK k g 5}}
            {XTRIM k MAXLEN 0 ACKED}    {{XDEL k 5-0}}
            {XADD k MAXLEN 2 DELREF 9 f v} {MULTI {XACK k g 6-0} {XADD k MAXLEN = 2 9-0 f v} EXEC}
            {XGROUP SETID k g 99}       {{XGROUP SETID k g 99}}
            {XGROUP SETID k h 99}       {{XGROUP SETID k h 99}}
            {XADD k MAXLEN 0 ACKED 10 f v} {MULTI {XADD k 10-0 f v} {XDEL k 8-0 9-0 10-0} EXEC}
        } {
            assert_equal [propagated [list $request]] [lrange $expected 0 end]
        }
        set expected [list [ids] [pending] [r XINFO GROUPS k]]
        server_again crash
        assert_equal [list [ids] [pending] [r XINFO GROUPS k]] $expected
    }
}

check "XTRIM ACKED passes over acknowledged entries that are deleted" {
    set trimmed {}
    foreach deletion {{XDELEX k DELREF IDS 1 5-0} {XDEL k 5-0}} {
        r DEL k
        for {set i 1} {$i <= 150} {incr i} { r XADD k $i-0 f v }
        r XGROUP CREATE k g 0
        r XREADGROUP GROUP g c COUNT 150 STREAMS k >
        r XTRIM k MAXLEN 0 ACKED
        r {*}$deletion
        r XACK k g 5-0
        for {set i 101} {$i <= 150} {incr i} { r XACK k g $i-0 }
        lappend trimmed [r XTRIM k MAXLEN ~ 0 LIMIT 60 ACKED]
    }
    return $trimmed
} {50 50}

finish
