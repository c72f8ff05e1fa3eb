# lists: what the list tests share. A test of a list command sources this instead of packlist.tcl.
#
#   check_lists name body ?expected?    the check for every way in which a list is stored: as listpack, as quicklist
#                                       of small nodes, as quicklist of plain nodes; $storage says which
#   check_lists_error name body text    likewise check_error
#   make_list key elements              RPUSHes them and asserts that the list is stored so
#   list_of key                         all its elements
#   $element_kinds                      an element of every kind
#   object_field key name               a field of DEBUG OBJECT, such as ql_nodes
#   numbered from to ?prefix?           {prefix0 prefix1 …}
source [file join [file dirname [file normalize [info script]]] packlist.tcl]

set wrong_type "WRONGTYPE Operation against a key holding the wrong kind of value"
set not_integer "ERR value is not an integer or out of range"

# What a storage is made by: list-max-listpack-size, and DEBUG QUICKLIST-PACKED-THRESHOLD.
set storages {listpack {-5 0} quicklist {2 0} plain {1 1b}}
set storage listpack

# An element of every kind: empty, text, integers of every width, strings of every width of length, bytes.
set element_kinds [list "" a 7 -1 4000 -70000 8000000 -2000000000 5000000000 -9223372036854775808 \
    [string repeat s 63] [string repeat m 64] [string repeat m 4095] [string repeat l 4096] "\x00\r\n\xff"]

proc check_lists {name body args} {
    foreach storage [dict keys $::storages] {
        check "$name, $storage" [list in_storage $storage $body] {*}$args
    }
}

proc check_lists_error {name body text} {
    check_lists $name [list error_of $body] $text
}

proc in_storage {storage body} {
    set ::storage $storage
    lassign [dict get $::storages $storage] fill threshold
    with_config [list list-max-listpack-size $fill] {
        with_packed_threshold $threshold $body
    }
}

# Runs the body while elements of at least so many bytes get a node of their own.
proc with_packed_threshold {size body} {
    $::current_server control DEBUG QUICKLIST-PACKED-THRESHOLD $size
    try {
        uplevel #0 $body
    } finally {
        $::current_server control DEBUG QUICKLIST-PACKED-THRESHOLD 0
    }
}

proc make_list {key elements} {
    r RPUSH $key {*}$elements
    set fill [lindex [dict get $::storages $::storage] 0]
    set is_small [expr {$fill < 0 || [llength $elements] <= $fill}]
    assert_equal [r OBJECT ENCODING $key] [expr {$is_small ? "listpack" : "quicklist"}]
}

proc list_of {key} {
    return [r LRANGE $key 0 -1]
}

proc object_field {key name} {
    set text [r DEBUG OBJECT $key]
    if {![regexp "(?:^| )$name:(\\S+)" $text _ value]} {
        error "DEBUG OBJECT has no field $name: $text"
    }
    return $value
}

proc numbered {from to {prefix ""}} {
    set elements {}
    for {set i $from} {$i <= $to} {incr i} {
        lappend elements $prefix$i
    }
    return $elements
}
