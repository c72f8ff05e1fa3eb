# collections: what the tests of sets and hashes share. They source this instead of packlist.tcl.
#
#   check_sets name body ?expected?     the check for each encoding of sets; $encoding says which
#   check_hashes name body ?expected?   likewise for hashes
#   make_set key members                SADDs them and asserts that the set has the encoding
#   make_hash key {field value …}       likewise HSET
#   sorted list                         lsort: members come in no order
#   numbered from to ?prefix?           {prefix0 prefix1 …}
#   is_null request …                   is the reply null?
#   assert_replies {request reply …}    makes the requests, and compares the replies or the texts of errors
#   changes body                        by how much rdb_changes_since_last_save grows
source [file join [file dirname [file normalize [info script]]] packlist.tcl]

set wrong_type "WRONGTYPE Operation against a key holding the wrong kind of value"
set not_integer "ERR value is not an integer or out of range"
set encoding ""

# The directives that make each encoding.
set set_encodings {
    intset {set-max-intset-entries 2000}
    listpack {set-max-intset-entries 0 set-max-listpack-entries 2000}
    hashtable {set-max-intset-entries 0 set-max-listpack-entries 0}
}
set hash_encodings {
    listpack {hash-max-listpack-entries 2000}
    hashtable {hash-max-listpack-entries 0}
}

proc check_encodings {encodings name body args} {
    foreach {encoding directives} $encodings {
        check "$name, $encoding" [list in_encoding $encoding $directives $body] {*}$args
    }
}

proc check_sets {name body args} {
    check_encodings $::set_encodings $name $body {*}$args
}

proc check_hashes {name body args} {
    check_encodings $::hash_encodings $name $body {*}$args
}

proc in_encoding {encoding directives body} {
    set ::encoding $encoding
    with_config $directives $body
}

proc make_set {key members} {
    r SADD $key {*}$members
    assert_equal [r OBJECT ENCODING $key] $::encoding
}

proc make_hash {key pairs} {
    r HSET $key {*}$pairs
    assert_equal [r OBJECT ENCODING $key] $::encoding
}

proc sorted {list} {
    return [lsort $list]
}

proc numbered {from to {prefix ""}} {
    set numbers {}
    for {set i $from} {$i <= $to} {incr i} {
        lappend numbers $prefix$i
    }
    return $numbers
}

proc is_null {args} {
    return [expr {[lindex [typed {*}$args] 0] in {nil null}}]
}

proc assert_replies {pairs} {
    foreach {request reply} $pairs {
        catch {r {*}$request} actual
        if {$actual ne $reply} {
            error "$request replied \"$actual\", not \"$reply\""
        }
    }
}

proc changes {body} {
    set before [info_field rdb_changes_since_last_save]
    uplevel 1 $body
    return [expr {[info_field rdb_changes_since_last_save] - $before}]
}
