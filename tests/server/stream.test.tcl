# Streams: XADD XTRIM XLEN XRANGE XREVRANGE XDEL XSETID XINFO XREAD.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]
source $library/aof.tcl
source $library/loading.tcl

server_start

# --- Requests in this order, with their replies

check_in 2 "XADD appends entries and checks their ids" {
    assert_replies {
        {XADD k * a} {ERR wrong number of arguments for 'xadd' command}
        {XADD k * a b c} {ERR wrong number of arguments for 'xadd' command}
        {XADD k 0-0 a b} {ERR The ID specified in XADD must be greater than 0-0}
        {XADD k 1-1 a b} 1-1
        {XADD k 1-1 a b} {ERR The ID specified in XADD is equal or smaller than the target stream top item}
        {XADD k 0-5 a b} {ERR The ID specified in XADD is equal or smaller than the target stream top item}
        {XADD k 1-* a b} 1-2
        {XADD k 1-* a b c d} 1-3
        {XADD k 0-* a b} {ERR The ID specified in XADD is equal or smaller than the target stream top item}
        {XADD new 0-* a b} 0-1
        {XADD new 5 a b} 5-0
        {XADD new 5-* a b} 5-1
        {XADD new 007-+3 a b} 7-3
        {XADD k 18446744073709551615-18446744073709551614 a b} 18446744073709551615-18446744073709551614
        {XADD k 18446744073709551615-* a b} 18446744073709551615-18446744073709551615
        {XADD k * a b} {ERR The stream has exhausted the last possible ID, unable to add more items}
        {XADD k 18446744073709551615-* a b} {ERR The stream has exhausted the last possible ID, unable to add\
            more items}
        {XADD k bad a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD k 1-bad a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD k -5 a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD k - a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD k + a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD k 5- a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD k 18446744073709551616 a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD k 5-18446744073709551616 a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD none NOMKSTREAM * a b} (nil)
        {XADD none nomkstream 0-0 a b} {ERR The ID specified in XADD must be greater than 0-0}
        {XADD none NOMKSTREAM bad a b} {ERR Invalid stream ID specified as stream command argument}
        {EXISTS none} 0
        {XADD new NOMKSTREAM 9-9 a b} 9-9
        {SET s v} OK
        {XADD s * a b} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XADD s bad a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD s NOMKSTREAM * a b} {WRONGTYPE Operation against a key holding the wrong kind of value}
    }
}
check_in 2 "options of trimming are checked" {
    assert_replies {
        {SET s v} OK
        {XADD k 1-1 a b} 1-1
        {XADD k MAXLEN 1-2} {ERR wrong number of arguments for 'xadd' command}
        {XADD k MAXLEN a * a b} {ERR value is not an integer or out of range}
        {XADD k MAXLEN -1 * a b} {ERR The MAXLEN argument must be >= 0.}
        {XADD k MAXLEN ~ -1 * a b} {ERR The MAXLEN argument must be >= 0.}
        {XADD k MAXLEN = 5 LIMIT 10 * a b} {ERR syntax error, LIMIT cannot be used without the special ~ option}
        {XADD k MAXLEN 5 LIMIT 10 * a b} {ERR syntax error, LIMIT cannot be used without the special ~ option}
        {XADD k MAXLEN ~ 5 LIMIT a * a b} {ERR value is not an integer or out of range}
        {XADD k MAXLEN ~ 5 LIMIT -1 * a b} {ERR The LIMIT argument must be >= 0.}
        {XADD k LIMIT 5 * a b} {ERR syntax error, LIMIT cannot be used without specifying a trimming strategy}
        {XADD k LIMIT 0 * a b} {ERR syntax error, LIMIT cannot be used without the special ~ option}
        {XADD k MAXLEN 5 MINID 3 * a b} {ERR syntax error, MAXLEN and MINID options at the same time are not\
            compatible}
        {XADD k MAXLEN 5 MAXLEN 3 9-1 a b} {ERR syntax error, MAXLEN and MINID options at the same time are\
            not compatible}
        {XADD k MINID bad * a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD k MINID - * a b} {ERR Invalid stream ID specified as stream command argument}
        {XADD k maxlen =} {ERR wrong number of arguments for 'xadd' command}
        {XADD k maxlen = 2 *} {ERR wrong number of arguments for 'xadd' command}
        {XTRIM k MAXLEN} {ERR wrong number of arguments for 'xtrim' command}
        {XTRIM k MAXLEN 1 2} {ERR syntax error}
        {XTRIM k FOO 1} {ERR syntax error}
        {XTRIM k MAXLEN x} {ERR value is not an integer or out of range}
        {XTRIM k MAXLEN = 1 LIMIT 5} {ERR syntax error, LIMIT cannot be used without the special ~ option}
        {XTRIM k MAXLEN -1} {ERR The MAXLEN argument must be >= 0.}
        {XTRIM s MAXLEN 1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XTRIM none MAXLEN 1} 0
        {XTRIM none MAXLEN bad} {ERR value is not an integer or out of range}
        {XTRIM s MAXLEN bad} {ERR value is not an integer or out of range}
        {XTRIM k NOMKSTREAM MAXLEN 1} {ERR syntax error}
        {XTRIM k LIMIT 1} {ERR syntax error, LIMIT cannot be used without specifying a trimming strategy}
        {XTRIM k LIMIT 0} {ERR syntax error, XTRIM must be called with a trimming strategy}
        {XTRIM k MAXLEN ~ 1000 LIMIT} {ERR syntax error}
        {XTRIM k MINID bad} {ERR Invalid stream ID specified as stream command argument}
        {XTRIM k MINID +} {ERR Invalid stream ID specified as stream command argument}
    }
}
check_in 2 "XRANGE and XREVRANGE reply a range, XLEN the length" {
    assert_replies {
        {SET s v} OK
        {XADD k 1-1 a 1} 1-1
        {XADD k 1-2 a 2} 1-2
        {XADD k 2-0 b 3 c 4} 2-0
        {XLEN k} 3
        {XLEN none} 0
        {XLEN s} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XRANGE k - +} {{1-1 {a 1}} {1-2 {a 2}} {2-0 {b 3 c 4}}}
        {XREVRANGE k + -} {{2-0 {b 3 c 4}} {1-2 {a 2}} {1-1 {a 1}}}
        {XRANGE k - + COUNT 2} {{1-1 {a 1}} {1-2 {a 2}}}
        {XREVRANGE k + - count 1} {{2-0 {b 3 c 4}}}
        {XRANGE k 1 1} {{1-1 {a 1}} {1-2 {a 2}}}
        {XRANGE k 1-2 2} {{1-2 {a 2}} {2-0 {b 3 c 4}}}
        {XRANGE k (1-1 (2-0} {{1-2 {a 2}}}
        {XRANGE k (1 2} {{1-1 {a 1}} {1-2 {a 2}} {2-0 {b 3 c 4}}}
        {XRANGE k 1 (2} {{1-1 {a 1}} {1-2 {a 2}} {2-0 {b 3 c 4}}}
        {XREVRANGE k (2 (1-1} {{2-0 {b 3 c 4}} {1-2 {a 2}}}
        {XRANGE k + -} {}
        {XREVRANGE k - +} {}
        {XRANGE k 3 +} {}
        {XRANGE k - + COUNT 0} (nil)
        {XRANGE k - + COUNT -1} (nil)
        {XRANGE k - + COUNT 1 COUNT 2} {{1-1 {a 1}} {1-2 {a 2}}}
        {XRANGE k - + COUNT} {ERR syntax error}
        {XRANGE k - + COUNT x} {ERR value is not an integer or out of range}
        {XRANGE k - + FOO 1} {ERR syntax error}
        {XRANGE k bad +} {ERR Invalid stream ID specified as stream command argument}
        {XRANGE k - bad} {ERR Invalid stream ID specified as stream command argument}
        {XRANGE k (- +} {ERR Invalid stream ID specified as stream command argument}
        {XRANGE k - (+} {ERR Invalid stream ID specified as stream command argument}
        {XRANGE k ( +} {ERR Invalid stream ID specified as stream command argument}
        {XRANGE k (18446744073709551615-18446744073709551615 +} {ERR invalid start ID for the interval}
        {XRANGE k - (0-0} {ERR invalid end ID for the interval}
        {XREVRANGE k (0-0 -} {ERR invalid end ID for the interval}
        {XREVRANGE k + (18446744073709551615-18446744073709551615} {ERR invalid start ID for the interval}
        {XRANGE s - +} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XRANGE s bad +} {ERR Invalid stream ID specified as stream command argument}
        {XRANGE none - +} {}
        {XRANGE none - + COUNT 0} {}
        {XRANGE none bad +} {ERR Invalid stream ID specified as stream command argument}
    }
}
check_in 2 "XDEL deletes entries, and the empty stream stays" {
    assert_replies {
        {SET s v} OK
        {XADD k 1-1 a 1} 1-1
        {XADD k 1-2 a 2} 1-2
        {XADD k 2-0 b 3} 2-0
        {XDEL k bad} {ERR Invalid stream ID specified as stream command argument}
        {XDEL k 1-2 bad} {ERR Invalid stream ID specified as stream command argument}
        {XDEL none 1-1} 0
        {XDEL none bad} 0
        {XDEL s bad} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XDEL k 1-2 1-2 7} 1
        {XDEL k 1-1 2-0} 2
        {XLEN k} 0
        {EXISTS k} 1
        {XRANGE k - +} {}
        {XADD k 2-0 a b} {ERR The ID specified in XADD is equal or smaller than the target stream top item}
        {XADD k 2-1 a b} 2-1
    }
}
check_in 2 "XSETID sets the last id" {
    assert_replies {
        {SET s v} OK
        {XADD k 2-0 a b} 2-0
        {XADD k 2-1 a b} 2-1
        {XSETID none 1-1} {ERR no such key}
        {XSETID none bad} {ERR Invalid stream ID specified as stream command argument}
        {XSETID s bad} {ERR Invalid stream ID specified as stream command argument}
        {XSETID s 1-1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XSETID k 1-1} {ERR The ID specified in XSETID is smaller than the target stream top item}
        {XSETID k bad} {ERR Invalid stream ID specified as stream command argument}
        {XSETID k 4-*} {ERR Invalid stream ID specified as stream command argument}
        {XSETID k 4} OK
        {XSETID k 5-5 ENTRIESADDED} {ERR syntax error}
        {XSETID k 5-5 ENTRIESADDED x} {ERR value is not an integer or out of range}
        {XSETID k 5-5 ENTRIESADDED -1} {ERR entries_added must be positive}
        {XSETID k 5-5 ENTRIESADDED 0} {ERR The entries_added specified in XSETID is smaller than the target\
            stream length}
        {XSETID k 5-5 entriesadded 7} OK
        {XSETID k 5-5 ENTRIESADDED 7 MAXDELETEDID} {ERR syntax error}
        {XSETID k 5-5 MAXDELETEDID 6-6} {ERR The ID specified in XSETID is smaller than the provided\
            max_deleted_entry_id}
        {XSETID k 5-5 MAXDELETEDID bad} {ERR Invalid stream ID specified as stream command argument}
        {XSETID k 5-5 MAXDELETEDID 4-4} OK
        {XSETID k 4-3} {ERR The ID specified in XSETID is smaller than current max_deleted_entry_id}
        {XSETID k 4-5 FOO 1} {ERR syntax error}
        {XSETID k 4-5 ENTRIESADDED 10 MAXDELETEDID 4-1 FOO} {ERR syntax error}
        {XSETID k 4-5 ENTRIESADDED 10 MAXDELETEDID 4-1} OK
        {XADD k 4-5 a b} {ERR The ID specified in XADD is equal or smaller than the target stream top item}
        {XADD k 4-* a b} 4-6
    }
}
check_in 2 "XINFO describes the stream" {
    assert_replies {
        {SET s v} OK
        {XADD k 2-1 a b} 2-1
        {XADD k 4-6 a b} 4-6
        {XADD k 4-7 c d} 4-7
        {XDEL k 4-7} 1
        {XINFO STREAM none} {ERR no such key}
        {XINFO STREAM s} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XINFO STREAM k FOO} {ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP.}
        {XINFO STREAM k} {length 2 radix-tree-keys 1 radix-tree-nodes 2 last-generated-id 4-7\
            max-deleted-entry-id 4-7 entries-added 3 recorded-first-entry-id 2-1 idmp-duration 100 idmp-maxsize 100\
            pids-tracked 0 iids-tracked 0 iids-added 0 iids-duplicates 0 groups 0 first-entry {2-1 {a b}}\
            last-entry {4-6 {a b}}}
        {XINFO STREAM k FULL} {length 2 radix-tree-keys 1 radix-tree-nodes 2 last-generated-id 4-7\
            max-deleted-entry-id 4-7 entries-added 3 recorded-first-entry-id 2-1 idmp-duration 100 idmp-maxsize 100\
            pids-tracked 0 iids-tracked 0 iids-added 0 iids-duplicates 0 entries {{2-1 {a b}} {4-6 {a\
            b}}} groups {}}
        {XINFO STREAM k full count 1} {length 2 radix-tree-keys 1 radix-tree-nodes 2 last-generated-id 4-7\
            max-deleted-entry-id 4-7 entries-added 3 recorded-first-entry-id 2-1 idmp-duration 100 idmp-maxsize 100\
            pids-tracked 0 iids-tracked 0 iids-added 0 iids-duplicates 0 entries {{2-1 {a b}}} groups {}}
        {XINFO STREAM k FULL COUNT} {ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try\
            XINFO HELP.}
        {XINFO STREAM k FULL COUNT x} {ERR value is not an integer or out of range}
        {XINFO STREAM k FULL COUNT 0} {length 2 radix-tree-keys 1 radix-tree-nodes 2 last-generated-id 4-7\
            max-deleted-entry-id 4-7 entries-added 3 recorded-first-entry-id 2-1 idmp-duration 100 idmp-maxsize 100\
            pids-tracked 0 iids-tracked 0 iids-added 0 iids-duplicates 0 entries {{2-1 {a b}} {4-6 {a\
            b}}} groups {}}
        {XINFO STREAM k FULL FOO 1} {ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try\
            XINFO HELP.}
        {XINFO STREAM k FULL COUNT 1 x} {ERR unknown subcommand or wrong number of arguments for 'STREAM'.\
            Try XINFO HELP.}
        {XINFO GROUPS none} {ERR no such key}
        {XINFO GROUPS s} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XINFO GROUPS k} {}
        {XTRIM k MAXLEN 0} 2
        {XINFO STREAM k} {length 0 radix-tree-keys 0 radix-tree-nodes 1 last-generated-id 4-7\
            max-deleted-entry-id 4-7 entries-added 3 recorded-first-entry-id 0-0 idmp-duration 100 idmp-maxsize 100\
            pids-tracked 0 iids-tracked 0 iids-added 0 iids-duplicates 0 groups 0 first-entry (nil)\
            last-entry (nil)}
        {XINFO STREAM k FULL} {length 0 radix-tree-keys 0 radix-tree-nodes 1 last-generated-id 4-7\
            max-deleted-entry-id 4-7 entries-added 3 recorded-first-entry-id 0-0 idmp-duration 100 idmp-maxsize 100\
            pids-tracked 0 iids-tracked 0 iids-added 0 iids-duplicates 0 entries {} groups {}}
    }
}
check_in 2 "XREAD reads behind ids" {
    assert_replies {
        {SET s v} OK
        {XADD k 1-1 a 1} 1-1
        {XADD k 2-1 b 2 c 3} 2-1
        {XADD l 7 x y} 7-0
        {XREAD STREAMS k 0} {{k {{1-1 {a 1}} {2-1 {b 2 c 3}}}}}
        {XREAD STREAMS k} {ERR wrong number of arguments for 'xread' command}
        {XREAD STREAMS k 0 1} {ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$'\
            must be specified.}
        {XREAD STREAMS k 1-1} {{k {{2-1 {b 2 c 3}}}}}
        {XREAD STREAMS k l none 1-1 0 0} {{k {{2-1 {b 2 c 3}}}} {l {{7-0 {x y}}}}}
        {XREAD STREAMS k k 0 1-1} {{k {{1-1 {a 1}} {2-1 {b 2 c 3}}}} {k {{2-1 {b 2 c 3}}}}}
        {XREAD COUNT 1 STREAMS k l 0 0} {{k {{1-1 {a 1}}}} {l {{7-0 {x y}}}}}
        {XREAD COUNT 0 STREAMS k 0} {{k {{1-1 {a 1}} {2-1 {b 2 c 3}}}}}
        {XREAD COUNT -1 STREAMS k 0} {{k {{1-1 {a 1}} {2-1 {b 2 c 3}}}}}
        {XREAD COUNT 1 COUNT 2 STREAMS k 0} {{k {{1-1 {a 1}} {2-1 {b 2 c 3}}}}}
        {XREAD count 1 streams k +} {{k {{2-1 {b 2 c 3}}}}}
        {XREAD COUNT x STREAMS k 0} {ERR value is not an integer or out of range}
        {XREAD COUNT STREAMS k 0} {ERR value is not an integer or out of range}
        {XREAD BLOCK x STREAMS k 0} {ERR timeout is not an integer or out of range}
        {XREAD BLOCK -1 STREAMS k 0} {ERR timeout is negative}
        {XREAD BLOCK 1.5 STREAMS k 0} {ERR timeout is not an integer or out of range}
        {XREAD BLOCK 9223372036854775807 STREAMS k 0} {ERR timeout is out of range}
        {XREAD BLOCK 0 STREAMS k 0} {{k {{1-1 {a 1}} {2-1 {b 2 c 3}}}}}
        {XREAD BLOCK 1 STREAMS k 2-1} (nil)
        {XREAD BLOCK 1 STREAMS none $} (nil)
        {XREAD STREAMS k $} (nil)
        {XREAD STREAMS none $} (nil)
        {XREAD STREAMS none +} (nil)
        {XREAD STREAMS k >} {ERR The > ID can be specified only when calling XREADGROUP using the GROUP\
            <group> <consumer> option.}
        {XREAD STREAMS k -} {ERR Invalid stream ID specified as stream command argument}
        {XREAD STREAMS k bad} {ERR Invalid stream ID specified as stream command argument}
        {XREAD STREAMS k 1-*} {ERR Invalid stream ID specified as stream command argument}
        {XREAD STREAMS s 0} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XREAD STREAMS s $} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XREAD STREAMS k s 0 0} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XREAD NOACK STREAMS k 0} {ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.}
        {XREAD GROUP g c STREAMS k 0} {ERR The GROUP option is only supported by XREADGROUP. You called XREAD\
            instead.}
        {XREAD FOO STREAMS k 0} {ERR syntax error}
        {XREAD COUNT 1 k 0} {ERR syntax error}
    }
}

# --- Ids that the server chooses

check "XADD * chooses the time, and a sequence within a millisecond" {
    set ids {}
    for {set i 0} {$i < 300} {incr i} { lappend ids [r XADD k * f v] }
    lassign [split [lindex $ids 0] -] ms
    assert {abs($ms - [clock milliseconds]) < 60000}
    set before {0 0}
    foreach id $ids {
        set parts [split $id -]
        assert {[lindex $parts 0] > [lindex $before 0] || [lindex $parts 1] == [lindex $before 1] + 1}
        set before $parts
    }
    assert_equal [lmap entry [r XRANGE k - +] {lindex $entry 0}] $ids
}
check "XADD * goes on after a last id that lies in the future" {
    r XADD k 9999999999999-5 f v
    list [r XADD k * f v] [r XADD k 9999999999999-* f v]
} {9999999999999-6 9999999999999-7}

# --- Trimming

# Ids 1-0 … count-0, in nodes of ten.
proc make_stream {key count} {
    for {set i 1} {$i <= $count} {incr i} { r XADD $key $i f $i }
}
proc ids {key} {
    return [lmap entry [r XRANGE $key - +] {lindex [split [lindex $entry 0] -] 0}]
}
foreach {trim removed first} {
    {MAXLEN 35}              15  16
    {MAXLEN = 35}            15  16
    {MAXLEN ~ 35}            10  11
    {MAXLEN ~ 35 LIMIT 0}    10  11
    {MAXLEN ~ 0 LIMIT 25}    20  21
    {MAXLEN ~ 0 LIMIT 9}     0   1
    {MAXLEN ~ 50}            0   1
    {MINID 16}               15  16
    {MINID ~ 16}             10  11
    {MINID ~ 50 LIMIT 10}    10  11
    {MINID 0}                0   1
    {MINID 16-1}             16  17
} {
    check "XTRIM $trim removes $removed entries" {
        with_config {stream-node-max-entries 10} {
            make_stream k 50
            assert_equal [r XTRIM k {*}$trim] $removed
            assert_equal [ids k] [numbered $first 50]
            r XLEN k
        }
    } [expr {50 - $removed}]
    check "XADD $trim trims what XTRIM does, after it has appended" {
        with_config {stream-node-max-entries 10} {
            make_stream k 49
            r XADD k {*}$trim 50 f 50
            ids k
        }
    } [numbered $first 50]
}
check "XTRIM ~ without LIMIT removes up to 100 nodes" {
    with_config {stream-node-max-entries 2} {
        make_stream k 500
        list [r XTRIM k MAXLEN ~ 0] [r XLEN k]
    }
} {200 300}
check "entries end a node by their number and their size" {
    with_config {stream-node-max-entries 0 stream-node-max-bytes 53} {
        foreach id [numbered 1 7] { r XADD k $id f v }
        assert_equal [dict get [r XINFO STREAM k] radix-tree-keys] 3
    }
    with_config {stream-node-max-entries 3} {
        make_stream other 7
        dict get [r XINFO STREAM other] radix-tree-keys
    }
} 3
check "a stream of any texts is read as it was written" {
    set texts [list "" 0 -1 007 9223372036854775807 -9223372036854775808 1.5 [string repeat x 63] \
        [string repeat y 5000] "a\0b\r\n" 4611686018427387904]
    set i 0
    foreach field $texts {
        foreach value $texts { r XADD k [incr i] $field $value same $value }
    }
    set i 0
    foreach entry [r XRANGE k - +] {
        set field [lindex $texts [expr {$i / [llength $texts]}]]
        set value [lindex $texts [expr {$i % [llength $texts]}]]
        assert_equal $entry [list [incr i]-0 [list $field $value same $value]]
    }
    assert_equal [lreverse [r XRANGE k - +]] [r XREVRANGE k + -]
}

# --- In RESP3

check_in 3 "XREAD replies a map, XINFO STREAM a map" {
    r XADD k 1-1 f v
    list [typed XREAD STREAMS k none 0 0] [typed XREAD STREAMS k 5] [lindex [typed XINFO STREAM k] 0] \
        [typed XRANGE k - + COUNT 0] [typed XADD none NOMKSTREAM * f v]
} {{map {{bulk k} {array {{array {{bulk 1-1} {array {{bulk f} {bulk v}}}}}}}}} null map null null}

# --- What a type has

check "a stream has a type, an encoding and a size" {
    make_stream k 100
    set usage [r MEMORY USAGE k]
    assert {$usage > 500 && $usage < 3000}
    list [r TYPE k] [r OBJECT ENCODING k] [r SCAN 0 TYPE stream] [r SCAN 0 TYPE list] \
        [string match "*encoding:stream*" [r DEBUG OBJECT k]]
} {stream stream {0 k} {0 {}} 1}
check "a stream is copied, renamed, moved, dumped and restored" {
    make_stream k 250
    r XDEL k 7 8 9
    r XTRIM k MAXLEN 230
    set info [dict remove [r XINFO STREAM k] radix-tree-keys radix-tree-nodes]
    set digest [r DEBUG DIGEST-VALUE k]
    r COPY k copy
    r RENAME copy renamed
    r RESTORE restored 0 [r DUMP k]
    r MOVE renamed 9
    r SELECT 9
    assert_equal [r DEBUG DIGEST-VALUE renamed] $digest
    r SELECT 0
    assert_equal [r DEBUG DIGEST-VALUE restored] $digest
    assert_equal [dict remove [r XINFO STREAM restored] radix-tree-keys radix-tree-nodes] $info
    r XADD restored * f v
    assert_equal [r XLEN k] 230
    r XADD k 251 f v
}
# DUMP of Redis 8.0.6: an entry 5-1 and a group with a consumer.
set payload_with_group [binary decode hex {
    150110000000000000000500000000000000011d1d0000000a0001010001010181610200010201000100018162020401ff01
    0501050100000101016705010101000000000000000500000000000000010b965e04a2010000010101630b965e04a2010000
    0b965e04a201000001000000000000000500000000000000010c0084c6c0fe046f04ae
}]
check_in 2 "a payload of another server with a consumer group is restored" {
    r RESTORE k 0 $payload_with_group
    list [r XRANGE k - +] [r XINFO GROUPS k] [lrange [lindex [r XPENDING k g - + 10] 0] 0 1]
} {{{5-1 {a b}}} {{name g consumers 1 pending 1 last-delivered-id 5-1 entries-read 1 lag 0}} {5-1 c}}

check "commands of other types get an error" {
    r XADD k 1 f v
    foreach request {{GET k} {LPUSH k x} {SADD k x} {HGET k f} {ZADD k 1 x} {SORT k}} {
        assert_equal [error_of {r {*}$request}] $::wrong_type
    }
}
check "an expired stream is gone" {
    r XADD k 5 f v
    r PEXPIRE k 1
    wait_until {[r EXISTS k] == 0}
    r XADD k 1 f v
} 1-0

# --- Events, watched keys, counted changes

proc stream_events {request} {
    set listener [client_open]
    $listener call PSUBSCRIBE __keyevent*
    with_config {notify-keyspace-events Et} {
        catch {r {*}$request}
        r XADD end 1 f v
    }
    set events {}
    while {[lindex [set message [$listener read]] 3] ne "end"} {
        lappend events [lindex [split [lindex $message 2] :] end]
    }
    $listener close
    return $events
}
foreach {request events changes} {
    {XADD k 9 f v}               xadd          1
    {XADD k MAXLEN 2 9 f v}      {xadd xtrim}  1
    {XADD k MAXLEN 9 9 f v}      xadd          1
    {XADD k 1 f v}               {}            0
    {XADD none NOMKSTREAM 1 f v} {}            0
    {XTRIM k MAXLEN 1}           xtrim         2
    {XTRIM k MAXLEN 5}           {}            0
    {XDEL k 1 2 7}               xdel          2
    {XDEL k 7}                   {}            0
    {XSETID k 9}                 xsetid        1
    {XRANGE k - +}               {}            0
} {
    check "$request: events, watched keys, changes" {
        make_stream k 3
        assert_equal [stream_events $request] $events
        r DEL k end
        make_stream k 3
        assert_equal [changes {catch {r {*}$request}}] $changes
        r DEL k
        make_stream k 3
        set other [client_open]
        $other call WATCH k none
        catch {r {*}$request}
        $other call MULTI
        $other call PING
        set reply [$other call EXEC]
        assert_equal [expr {$reply eq "PONG"}] [expr {$changes == 0}]
    }
}

# --- XREAD BLOCK

# What a client reads of streams, in RESP3 as in RESP2: {{key entries} …}.
proc streams_of {client} {
    set reply [$client read]
    return [expr {$::protocol == 2 ? $reply : [lmap {key entries} $reply {list $key $entries}]}]
}

check "XREAD BLOCK waits for an entry behind the id" {
    make_stream k 3
    set c [client_blocked XREAD BLOCK 0 STREAMS k 5]
    r XADD k 4 f v
    r XADD k 5 f v
    wait_blocked 1
    r XADD k 6 f v
    streams_of $c
} {{k {{6-0 {f v}}}}}
check "XREAD BLOCK with \$ and + reads what comes" {
    make_stream k 3
    set at_end [client_blocked XREAD BLOCK 0 STREAMS k none \$ \$]
    set of_none [client_blocked XREAD BLOCK 0 COUNT 1 STREAMS none +]
    r XDEL k 3
    wait_blocked 2
    r XADD k 7 f v
    assert_equal [streams_of $at_end] {{k {{7-0 {f v}}}}}
    r XADD none 1 f v
    streams_of $of_none
} {{none {{1-0 {f v}}}}}
check "all clients that wait are served, in the order of their requests" {
    set clients {}
    foreach count {1 2 3} { lappend clients [client_blocked XREAD COUNT $count BLOCK 0 STREAMS k \$] }
    r MULTI
    foreach id {1 2 3} { r XADD k $id f v }
    r EXEC
    lmap c $clients {llength [lindex [streams_of $c] 0 1]}
} {1 2 3}
check "a client that waits for several streams gets the entries of all of them" {
    set c [client_blocked XREAD BLOCK 0 STREAMS a b c 0 0 0]
    r MULTI
    r XADD b 1 f v
    r XADD c 2 f v
    r EXEC
    streams_of $c
} {{b {{1-0 {f v}}}} {c {{2-0 {f v}}}}}
check "other ways to a stream wake the client" {
    foreach maker {{RENAME src k} {COPY src k} {MULTI ; XADD k 9 f v ; EXEC}} {
        r DEL k src
        r XADD src 9 f v
        set c [client_blocked XREAD BLOCK 0 STREAMS k 0]
        foreach request [split $maker ";"] { r {*}$request }
        assert_equal [streams_of $c] {{k {{9-0 {f v}}}}}
    }
}
check "a key of another type leaves the client waiting, an error comes when another key is a stream" {
    set c [client_blocked XREAD BLOCK 0 STREAMS k other 0 0]
    r RPUSH k x
    wait_blocked 1
    r XADD other 1 f v
    error_of {$c read}
} $wrong_type
check "a stream that goes and comes again wakes the client" {
    make_stream k 3
    set c [client_blocked XREAD BLOCK 0 STREAMS k \$]
    r DEL k
    wait_blocked 1
    r XADD k 2 f v
    wait_blocked 1
    r XADD k 3-1 f v
    streams_of $c
} {{k {{3-1 {f v}}}}}
check "XREAD BLOCK in a transaction replies null at once" {
    r MULTI
    r XREAD BLOCK 0 STREAMS k 0
    r EXEC
} {(nil)}
check "XREAD BLOCK ends with null when its time is up" {
    r XREAD BLOCK 10 STREAMS k 0
} {(nil)}

# --- In files

with_aof {appendfsync always} {
    check "XADD and XTRIM are propagated with what they did" {
        with_config {stream-node-max-entries 10} {
            make_stream k 25
            assert_equal [propagated {{XADD k MAXLEN ~ 12 26-* f v} {XADD k NOMKSTREAM MAXLEN 100 27 f v}}]\
                {{XADD k MAXLEN = 16 26-0 f v} {XADD k 27-0 f v}}
            assert_equal [propagated {{XTRIM k MINID ~ 12} {XTRIM k MINID 15} {XTRIM k MAXLEN 13}}]\
                {{XTRIM k MAXLEN = 13}}
        }
    }
    check "ids that the server chooses are propagated" {
        set commands [propagated {{XADD k * f v}}]
        assert_equal $commands [list [list XADD k [lindex [r XREVRANGE k + - COUNT 1] 0 0] f v]]
    }
    check "XREAD is not propagated, served or not" {
        set c [client_blocked XREAD BLOCK 0 STREAMS k \$]
        assert_equal [propagated {{XADD k 1 f v} {XREAD STREAMS k 0}}] {{XADD k 1-0 f v}}
        streams_of $c
    } {{k {{1-0 {f v}}}}}
    foreach preamble {yes no} {
        check "streams survive a rewrite with aof-use-rdb-preamble $preamble, and a crash" {
            with_config [list aof-use-rdb-preamble $preamble] {
                make_stream k 250
                r XDEL k 250 17
                r XTRIM k MAXLEN 200
                r XADD empty 5-5 f v
                r XDEL empty 5-5
                r XADD set 1 f v
                r XSETID set 9-9 ENTRIESADDED 77 MAXDELETEDID 8-8
                set asked {{XINFO STREAM empty} {XINFO STREAM set} {XRANGE k - +} {DEBUG DIGEST}}
                set before [lmap request $asked {r {*}$request}]
                set facts [dict remove [r XINFO STREAM k] radix-tree-keys radix-tree-nodes]
                rewrite_aof
                server_again crash
                assert_equal [lmap request $asked {r {*}$request}] $before
                assert_equal [dict remove [r XINFO STREAM k] radix-tree-keys radix-tree-nodes] $facts
            }
        }
    }
}
check "streams survive a snapshot and a restart" {
    with_server {} {
        make_stream k 250
        r XDEL k 100
        set digest [r DEBUG DIGEST]
        r SAVE
        server_again
        assert_equal [r DEBUG DIGEST] $digest
        assert_equal [r XLEN k] 249
    }
}

finish
