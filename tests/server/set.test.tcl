# Sets: SADD SREM SISMEMBER SMISMEMBER SCARD SMEMBERS SMOVE SSCAN SPOP SRANDMEMBER.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]

server_start

proc set_type {} {
    return [expr {$::protocol == 3 ? "set" : "array"}]
}

# --- Members by their names

check_sets "SADD counts the members that are new" {
    make_set k {3 1 2}
    list [typed SADD k 1 4 4 5] [sorted [r SMEMBERS k]]
} {{int 2} {1 2 3 4 5}}
check_sets "SREM counts the members that it removes, and the last one takes the key along" {
    make_set k {1 2 3}
    list [r SREM k 2 7 2] [r SCARD k] [r SREM k 1 3 4] [r EXISTS k] [r SREM k 1]
} {1 2 2 0 0}
check "SISMEMBER with XX replies -1 for a missing key" {
    r SADD k a
    list [typed SISMEMBER k a XX] [r SISMEMBER k b xx] [typed SISMEMBER none a XX] [error_of {r SISMEMBER k a NX}] \
        [error_of {r SISMEMBER k a XX XX}]
} {{int 1} 0 {int -1} {ERR syntax error} {ERR syntax error}}
check_sets "SISMEMBER and SMISMEMBER reply which members are there" {
    make_set k {1 2 3}
    list [typed SISMEMBER k 2] [typed SISMEMBER k 02] [typed SMISMEMBER k 1 x 3] [r SMISMEMBER none a b] \
        [r SISMEMBER none a]
} {{int 1} {int 0} {array {{int 1} {int 0} {int 1}}} {0 0} 0}
check_sets "SMEMBERS replies a set" {
    make_set k {1 2}
    lassign [typed SMEMBERS k] type members
    list [expr {$type eq [set_type]}] [sorted $members] [expr {[typed SMEMBERS none] eq [list [set_type] {}]}]
} {1 {{bulk 1} {bulk 2}} 1}
check "members are bytes of any kind and length" {
    set members [list "" "\x00\r\n\xff" 007 -0 9223372036854775808 [string repeat x 254] [string repeat y 255] \
        [string repeat z 70000]]
    assert_equal [r SADD k {*}$members] [llength $members]
    assert_equal [sorted [r SMEMBERS k]] [sorted $members]
    assert_equal [r SMISMEMBER k {*}$members] [lrepeat [llength $members] 1]
    r SREM k {*}$members
} 8

# --- Encodings

check "a set of integers is an intset up to set-max-intset-entries" {
    r SADD k {*}[numbered 1 512]
    set small [r OBJECT ENCODING k]
    r SADD k 513
    list $small [r OBJECT ENCODING k] [r SCARD k]
} {intset hashtable 513}
check "an intset becomes a listpack when it gets another text, or a hashtable when it is long" {
    r SADD short 1 2 x
    r SADD long {*}[numbered 1 128]
    r SADD long x
    list [r OBJECT ENCODING short] [r OBJECT ENCODING long] [r SCARD long]
} {listpack hashtable 129}
check "a listpack becomes a hashtable with too many members or too long ones" {
    r SADD many {*}[numbered 1 128 m]
    set before [r OBJECT ENCODING many]
    r SADD many m129
    r SADD long a [string repeat x 64]
    set fits [r OBJECT ENCODING long]
    r SADD long [string repeat x 65]
    list $before [r OBJECT ENCODING many] $fits [r OBJECT ENCODING long]
} {listpack hashtable listpack hashtable}

# --- SMOVE

check_sets "SMOVE moves a member" {
    make_set a {1 2}
    make_set b {3}
    list [typed SMOVE a b 1] [r SMOVE a b 7] [sorted [r SMEMBERS b]] [r SMOVE a c 2] [r EXISTS a] [r SMEMBERS c]
} {{int 1} 0 {1 3} 1 0 2}
check "SMOVE to the same set changes nothing" {
    r SADD a 1 2
    list [changes {r SMOVE a a 1}] [r SMOVE a a 1] [r SMOVE a a 3] [r SCARD a]
} {0 1 0 2}
check "SMOVE of a member that the other set has only removes it" {
    r SADD a 1 2
    r SADD b 1
    list [r SMOVE a b 1] [r SMEMBERS a] [r SMEMBERS b]
} {1 2 1}
check "SMOVE looks at the types of both keys, but not where there is no source" {
    r SADD a 1
    r SET s x
    list [error_of {r SMOVE a s 1}] [error_of {r SMOVE s a 1}] [r SMOVE none s 1]
} [list $wrong_type $wrong_type 0]

# --- Errors

foreach {command arguments} {SADD 1 SREM 1 SISMEMBER 1 SMISMEMBER 1 SCARD {} SMEMBERS {} SPOP {} SPOP 0 SRANDMEMBER {}
    SRANDMEMBER 1 SSCAN 0} {
    check_error "$command $arguments refuses a key of another type" "
        r SET k x
        r $command k $arguments
    " $wrong_type
}
foreach {request text} [list \
    {SPOP k 1 2} "ERR syntax error" \
    {SPOP k -1} "ERR value is out of range, must be positive" \
    {SPOP k x} "ERR value is out of range, must be positive" \
    {SRANDMEMBER k 1 2} "ERR syntax error" \
    {SRANDMEMBER k x} $not_integer \
    {SRANDMEMBER k -9223372036854775808} \
        "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807" \
    {SSCAN k x} "ERR invalid cursor" \
    {SSCAN k 0 MATCH} "ERR syntax error" \
    {SSCAN k 0 COUNT 0} "ERR syntax error" \
    {SSCAN k 0 COUNT x} $not_integer \
    {SSCAN k 0 TYPE set} "ERR syntax error" \
    {SSCAN k 0 NOVALUES} "ERR NOVALUES option can only be used in HSCAN" \
    {SADD k} "ERR wrong number of arguments for 'sadd' command"] {
    check_error "$request is refused" "r SADD k 1; r $request" $text
}

# --- At random

check_sets "SPOP takes members out until none is left" {
    make_set k [numbered 1 20]
    set popped {}
    while {[r EXISTS k]} {
        lappend popped [r SPOP k]
    }
    list [lsort -integer $popped] [is_null SPOP k]
} [list [numbered 1 20] 1]
check_sets "SPOP with a count takes so many different members out" {
    make_set k [numbered 1 200]
    lassign [typed SPOP k 150] type popped
    assert_equal $type [set_type]
    set popped [r SMEMBERS k]
    assert_equal [llength $popped] 50
    assert_equal [r SCARD k] 50
    lappend popped {*}[r SPOP k 10] {*}[r SPOP k 100]
    list [expr {[r SPOP k 0] eq ""}] [r EXISTS k] [llength $popped]
} {1 0 100}
# A build with CHECKED=1 looks at the whole set after each command.
set many [expr {[info exists env(PACKLIST_CHECKED)] ? 20000 : 400000}]
check "SPOP takes many members out of an intset or a listpack in one pass" {
    with_config [list set-max-intset-entries $many set-max-listpack-entries $many] {
        r EVAL {for i = 1, ARGV[1], 4000 do
            local members = {}
            for j = i, i + 3999 do members[#members + 1] = j end
            redis.call('SADD', 'k', unpack(members))
        end} 0 $many
        r SADD l first {*}[numbered 1 3000]
        foreach {key count direction} [list k [expr {$many - 10}] -decreasing l 2990 -increasing] {
            set popped [lsearch -all -inline -not -exact [r SPOP $key $count] first]
            assert {[lsort -unique -integer $direction $popped] eq $popped}
            set left [lsearch -all -inline -not -exact [r SMEMBERS $key] first]
            assert_equal [lsort -integer [concat $popped $left]] [numbered 1 [expr {$key eq "k" ? $many : 3000}]]
        }
        list [r SCARD k] [r OBJECT ENCODING k] [r SCARD l] [r OBJECT ENCODING l]
    }
} {10 intset 11 listpack}
check_sets "SRANDMEMBER replies members and leaves them there" {
    make_set k [numbered 1 50]
    foreach count {0 1 5 20 49 50 70} {
        lassign [typed SRANDMEMBER k $count] type members
        assert_equal $type array
        assert_equal [llength [lsort -unique $members]] [expr {min($count, 50)}]
    }
    assert_equal [llength [r SRANDMEMBER k -200]] 200
    assert {[r SISMEMBER k [r SRANDMEMBER k]]}
    list [r SCARD k] [is_null SRANDMEMBER none] [typed SRANDMEMBER none 5] [typed SRANDMEMBER none -5]
} {50 1 {array {}} {array {}}}

# The counts of 20 members in `draws` draws, of which each expects `mean`: chi-square with 19 degrees of freedom exceeds
# 60 by chance once in 200,000 times.
proc assert_uniform {counts mean} {
    set sum 0.0
    foreach {_ count} $counts {
        set sum [expr {$sum + ($count - $mean) ** 2 / $mean}]
    }
    assert {[dict size $::counts] == 20 && $sum < 60}
}
foreach {name request} {"a negative count" {SRANDMEMBER k -4000} "a small count" {SRANDMEMBER k 5}
    "a large count" {SRANDMEMBER k 15}} {
    check_sets "members are equally likely with $name" [string map [list REQUEST $request] {
        make_set k [numbered 1 1000]
        r SREM k {*}[numbered 21 1000]
        set ::counts {}
        set drawn 0
        while {$drawn < 4000} {
            foreach member [r REQUEST] {
                dict incr ::counts $member
                incr drawn
            }
        }
        # Different members of one draw are not independent: they are only more even.
        assert_uniform $::counts [expr {$drawn / 20.0}]
    }]
}

# --- SSCAN

check_sets "SSCAN finds every member that stays while others come and go" {
    make_set k [numbered 1 20]
    r SADD k {*}[numbered 1000 1400]
    set cursor 0
    set found {}
    set next 5000
    while 1 {
        lassign [r SSCAN k $cursor COUNT 7] cursor members
        lappend found {*}$members
        if {$cursor eq "0"} break
        r SADD k {*}[numbered $next [expr {$next + 50}]]
        incr next 50
        r SREM k {*}[numbered [expr {$next - 200}] [expr {$next - 150}]]
    }
    foreach member [numbered 1 20] {
        assert {$member in $found}
    }
}
check_sets "SSCAN MATCH leaves out what does not match" {
    make_set k {1 2 11 12 21}
    lassign [r SSCAN k 0 MATCH 1* COUNT 100] cursor members
    list $cursor [sorted $members] [typed SSCAN none 0 COUNT x]
} {0 {1 11 12} {array {{bulk 0} {array {}}}}}

# --- What else a change does

check "changes of sets count what they change" {
    list [changes {r SADD k 1 2 3}] [changes {r SADD k 1}] [changes {r SREM k 1 9}] [changes {r SMOVE k o 2}] \
        [changes {r SADD k 4 5 6 7}] [changes {r SPOP k}] [changes {r SPOP k 2}] [changes {r SPOP k 9}]
} {3 0 1 2 4 1 2 2}
check "sets publish the events of Redis" {
    with_config {notify-keyspace-events EAn} {
        set listener [client_open]
        $listener call PSUBSCRIBE __keyevent*
        set events {}
        foreach request {{SADD k a b} {SADD k a} {SREM k x} {SREM k a} {SMOVE k o b} {SPOP o} {SADD k 1 2 3} {SPOP k 2}
            {SPOP k 5} {SUNIONSTORE d none} {SADD e 1} {SUNIONSTORE d e} {SINTERSTORE d none}} {
            r {*}$request
        }
        r SET end 1
        while {[lindex $events end] ne "set end"} {
            set message [$listener read]
            lappend events "[lindex [split [lindex $message 2] :] end] [lindex $message 3]"
        }
        set events
    }
} {{new k} {sadd k} {srem k} {srem k} {del k} {new o} {sadd o} {spop o} {del o} {new k} {sadd k} {spop k} {spop k}\
    {del k} {new e} {sadd e} {new d} {sunionstore d} {del d} {new end} {set end}}
check "a watched set that changes aborts the transaction" {
    r SADD k 1 2
    set other [client_open]
    foreach {change aborts} {{SADD k 1} 0 {SADD k 3} 1 {SREM k 9} 0 {SREM k 3} 1 {SPOP k} 1 {SMOVE k o x} 0} {
        r WATCH k
        $other call {*}$change
        r MULTI
        r PING
        assert_equal [expr {[lindex [typed EXEC] 0] ne "array"}] $aborts
    }
}

finish
