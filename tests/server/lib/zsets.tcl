# zsets: what the tests of sorted sets share. A test of a command of sorted sets sources this instead of packlist.tcl.
#
#   check_zsets name body ?expected?    the check for both ways in which a sorted set is stored: as listpack, as
#                                       skiplist; $storage says which
#   make_zset key pairs                 ZADDs {member score …} and asserts that the sorted set is stored so
#   zset_of key                         {member score …} in order
#   numbered_pairs from to              {m0001 1 m0002 2 …}
#   scored pairs                        {member score …} as the typed reply of a command WITHSCORES in $protocol
source [file join [file dirname [file normalize [info script]]] packlist.tcl]

set wrong_type "WRONGTYPE Operation against a key holding the wrong kind of value"
set not_integer "ERR value is not an integer or out of range"
set not_float "ERR value is not a valid float"
set bad_score_range "ERR min or max is not a float"
set bad_member_range "ERR min or max not valid string range item"

set storage listpack

proc check_zsets {name body args} {
    foreach {storage entries} {listpack 128 skiplist 0} {
        check "$name, $storage" [list in_zset_storage $storage $entries $body] {*}$args
    }
}

proc in_zset_storage {storage entries body} {
    set ::storage $storage
    with_config [list zset-max-listpack-entries $entries] {
        uplevel #0 $body
    }
}

proc make_zset {key pairs} {
    set arguments {}
    foreach {member score} $pairs {
        lappend arguments $score $member
    }
    r ZADD $key {*}$arguments
    assert_equal [r OBJECT ENCODING $key] $::storage
}

proc zset_of {key} {
    return [concat {*}[r ZRANGE $key 0 -1 WITHSCORES]]
}

proc numbered_pairs {from to} {
    set pairs {}
    for {set i $from} {$i <= $to} {incr i} {
        lappend pairs [format m%04d $i] $i
    }
    return $pairs
}

proc scored {pairs} {
    set items {}
    foreach {member score} $pairs {
        if {$::protocol == 3} {
            lappend items [list array [list [list bulk $member] [list double $score]]]
        } else {
            lappend items [list bulk $member] [list bulk $score]
        }
    }
    return [list array $items]
}
