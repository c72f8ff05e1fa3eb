# Consumer groups of streams: XGROUP XREADGROUP XACK XPENDING XCLAIM XAUTOCLAIM XINFO.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]
source $library/aof.tcl
source $library/replica.tcl

server_start

set no_key "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM\
    option to create an empty stream automatically."
set no_group_read "NOGROUP No such key 'k' or consumer group 'g' in XREADGROUP with GROUP option"

# A stream k with entries 1-0 … count-0, and a group g that has read none.
proc make_group {count {start 0}} {
    for {set i 1} {$i <= $count} {incr i} { r XADD k $i f $i }
    r XGROUP CREATE k g $start MKSTREAM
}
# A reply of XREADGROUP as a dictionary: in RESP3 it is a map, whose plain value is flat.
proc read_streams {args} {
    set reply [r XREADGROUP {*}$args]
    if {$::protocol == 2} { return [concat {*}$reply] }
    return $reply
}
proc read_ids {args} {
    return [lmap entry [dict get [read_streams {*}$args] k] {lindex $entry 0}]
}
# Pending entries as {id consumer deliveries}.
proc pending_of {reply} {
    return [lmap entry $reply {lreplace $entry 2 2}]
}
proc pending {{group g} args} {
    return [pending_of [r XPENDING k $group {*}[expr {$args eq "" ? "- + 1000" : $args}]]]
}
# A field of the group's, or of a consumer's, line in XINFO.
proc group_field {name {group g}} {
    foreach one [r XINFO GROUPS k] {
        if {[dict get $one name] eq $group} { return [dict get $one $name] }
    }
}
proc consumer_field {consumer name} {
    foreach one [r XINFO CONSUMERS k g] {
        if {[dict get $one name] eq $consumer} { return [dict get $one $name] }
    }
    return none
}

# --- Requests in this order, with their replies

check "no group has read more entries than there ever were" {
    make_group 3
    r XDEL k 1
    r XGROUP CREATE k at 2 ENTRIESREAD 3
    r XGROUP CREATE k beyond 2 ENTRIESREAD 4
    r XGROUP CREATE k greatest $ ENTRIESREAD 9223372036854775807
    r XGROUP CREATE k unknown $ ENTRIESREAD -1
    r XGROUP SETID k g 1 ENTRIESREAD 50
    r XGROUP CREATE empty g 0 MKSTREAM ENTRIESREAD 5
    concat [lmap group {at beyond greatest unknown g} {group_field entries-read $group}] \
        [dict get [lindex [r XINFO GROUPS empty] 0] entries-read]
} {3 3 3 (nil) 3 0}
check_in 2 "XGROUP creates, sets and destroys groups" {
    assert_replies {
        {SET s v} OK
        {XGROUP CREATE k g 0} {ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want\
            to use the MKSTREAM option to create an empty stream automatically.}
        {XGROUP CREATE k g x MKSTREAM} {ERR Invalid stream ID specified as stream command argument}
        {EXISTS k} 0
        {XGROUP CREATE k g 0 MKSTREAM} OK
        {TYPE k} stream
        {XGROUP CREATE k g 0} {BUSYGROUP Consumer Group name already exists}
        {XGROUP CREATE k h 0 ENTRIESREAD -2} {ERR value for ENTRIESREAD must be positive or -1}
        {XGROUP CREATE k h 0 ENTRIESREAD x} {ERR value is not an integer or out of range}
        {XGROUP CREATE k h 0 MKSTREAM MKSTREAM ENTRIESREAD 1}
            {ERR unknown subcommand or wrong number of arguments for 'CREATE'. Try XGROUP HELP.}
        {XGROUP CREATE k h 0 FOO} {ERR unknown subcommand or wrong number of arguments for 'CREATE'. Try XGROUP HELP.}
        {XGROUP CREATE k h -} {ERR Invalid stream ID specified as stream command argument}
        {XGROUP CREATE s h 0} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XGROUP CREATE k} {ERR wrong number of arguments for 'xgroup|create' command}
        {XADD k 5-1 f v} 5-1
        {XGROUP CREATE k h $ ENTRIESREAD 1} OK
        {XINFO GROUPS k} {{name g consumers 0 pending 0 last-delivered-id 0-0 entries-read (nil) lag 1}\
            {name h consumers 0 pending 0 last-delivered-id 5-1 entries-read 1 lag 0}}
        {XGROUP SETID k g 3} OK
        {XGROUP SETID k h - ENTRIESREAD 7} OK
        {XINFO GROUPS k} {{name g consumers 0 pending 0 last-delivered-id 3-0 entries-read (nil) lag 1}\
            {name h consumers 0 pending 0 last-delivered-id 0-0 entries-read 1 lag 1}}
        {XGROUP SETID k none 0} {NOGROUP No such consumer group 'none' for key name 'k'}
        {XGROUP SETID k g x} {ERR Invalid stream ID specified as stream command argument}
        {XGROUP SETID k g 0 MKSTREAM} {ERR unknown subcommand or wrong number of arguments for 'SETID'. Try XGROUP\
            HELP.}
        {XGROUP CREATECONSUMER k g c} 1
        {XGROUP CREATECONSUMER k g c} 0
        {XGROUP CREATECONSUMER k none c} {NOGROUP No such consumer group 'none' for key name 'k'}
        {XGROUP DELCONSUMER k g c} 0
        {XGROUP DELCONSUMER k g c} 0
        {XGROUP DESTROY k h} 1
        {XGROUP DESTROY k h} 0
        {XGROUP DESTROY s h} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XGROUP FOO k} {ERR unknown subcommand 'FOO'. Try XGROUP HELP.}
    }
    foreach request {{SETID none g 0} {CREATECONSUMER none g c} {DELCONSUMER none g c} {DESTROY none g}} {
        assert_equal [error_of {r XGROUP {*}$request}] $::no_key
    }
}
check_in 2 "XREADGROUP checks its arguments" {
    assert_replies {
        {SET s v} OK
        {XGROUP CREATE k g 0 MKSTREAM} OK
        {XREADGROUP GROUP g c STREAMS k} {ERR wrong number of arguments for 'xreadgroup' command}
        {XREADGROUP GROUP g c STREAMS k k >} {ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID\
            or '>' must be specified.}
        {XREADGROUP COUNT 1 NOACK STREAMS k >} {ERR Missing GROUP option for XREADGROUP}
        {XREADGROUP GROUP g c STREAMS k $} {ERR The $ ID is meaningless in the context of XREADGROUP: you want to\
            read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $\
            ID would just return an empty result set.}
        {XREADGROUP GROUP g c STREAMS k x} {ERR Invalid stream ID specified as stream command argument}
        {XREADGROUP GROUP g c STREAMS none >} {NOGROUP No such key 'none' or consumer group 'g' in XREADGROUP with\
            GROUP option}
        {XREADGROUP GROUP none c STREAMS k >} {NOGROUP No such key 'k' or consumer group 'none' in XREADGROUP with\
            GROUP option}
        {XREADGROUP GROUP g c STREAMS s >} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {XREADGROUP GROUP g c COUNT x STREAMS k >} {ERR value is not an integer or out of range}
        {XREADGROUP GROUP g c BLOCK -1 STREAMS k >} {ERR timeout is negative}
        {XREADGROUP GROUP g c FOO STREAMS k >} {ERR syntax error}
        {XINFO CONSUMERS k g} {}
        {XREADGROUP GROUP g c STREAMS k none > >} {NOGROUP No such key 'none' or consumer group 'g' in XREADGROUP\
            with GROUP option}
        {XINFO CONSUMERS k g} {}
        {XREADGROUP GROUP g c STREAMS k >} (nil)
        {XREADGROUP GROUP g c STREAMS k 0} {{k {}}}
        {XREADGROUP GROUP STREAMS c STREAMS k 0} {NOGROUP No such key 'k' or consumer group 'STREAMS' in XREADGROUP\
            with GROUP option}
    }
}
check_in 2 "options of XPENDING, XCLAIM and XAUTOCLAIM are checked" {
    assert_replies {
        {XADD k 1-1 f v} 1-1
        {XGROUP CREATE k g 0} OK
        {XPENDING k none} {NOGROUP No such key 'k' or consumer group 'none'}
        {XPENDING none g} {NOGROUP No such key 'none' or consumer group 'g'}
        {XPENDING k g} {0 (nil) (nil) (nil)}
        {XPENDING k g - +} {ERR syntax error}
        {XPENDING k g - + x} {ERR value is not an integer or out of range}
        {XPENDING k g - + -5} {}
        {XPENDING k g IDLE 5} {ERR syntax error}
        {XPENDING k g IDLE x - + 1} {ERR value is not an integer or out of range}
        {XPENDING k g IDLE 0 - + 1 nobody} {}
        {XCLAIM none g c 0 1-1} {NOGROUP No such key 'none' or consumer group 'g'}
        {XCLAIM k g c x 1-1} {ERR Invalid min-idle-time argument for XCLAIM}
        {XCLAIM k g c 0 x} {ERR Unrecognized XCLAIM option 'x'}
        {XCLAIM k g c 0 1-1 IDLE x} {ERR Invalid IDLE option argument for XCLAIM}
        {XCLAIM k g c 0 1-1 TIME x} {ERR Invalid TIME option argument for XCLAIM}
        {XCLAIM k g c 0 1-1 RETRYCOUNT x} {ERR Invalid RETRYCOUNT option argument for XCLAIM}
        {XCLAIM k g c 0 1-1 LASTID x} {ERR Invalid stream ID specified as stream command argument}
        {XINFO CONSUMERS k g} {}
        {XCLAIM k g c 0 1-1} {}
        {XAUTOCLAIM k g c x 0} {ERR Invalid min-idle-time argument for XAUTOCLAIM}
        {XAUTOCLAIM k g c 0 x} {ERR Invalid stream ID specified as stream command argument}
        {XAUTOCLAIM k g c 0 0 COUNT 0} {ERR COUNT must be > 0}
        {XAUTOCLAIM k g c 0 0 COUNT 9223372036854775807} {ERR COUNT must be > 0}
        {XAUTOCLAIM k g c 0 0 FOO} {ERR syntax error}
        {XAUTOCLAIM k none c 0 0} {NOGROUP No such key 'k' or consumer group 'none'}
        {XAUTOCLAIM k g c 0 0} {0-0 {} {}}
        {XACK k g x} {ERR Invalid stream ID specified as stream command argument}
        {XACK k none x} 0
        {XACK none g x} 0
        {XINFO CONSUMERS k none} {NOGROUP No such consumer group 'none' for key name 'k'}
    }
}

# --- Reading

check "a group gives each entry to one consumer, and a consumer reads again what it has pending" {
    make_group 5
    assert_equal [read_ids GROUP g a COUNT 2 STREAMS k >] {1-0 2-0}
    assert_equal [read_ids GROUP g b STREAMS k >] {3-0 4-0 5-0}
    assert_equal [read_ids GROUP g a STREAMS k 0] {1-0 2-0}
    assert_equal [read_ids GROUP g b COUNT 1 STREAMS k 3] 4-0
    assert_equal [r XREADGROUP GROUP g a STREAMS k >] (nil)
    pending
} {{1-0 a 2} {2-0 a 2} {3-0 b 1} {4-0 b 2} {5-0 b 1}}
check "an entry that was deleted is read again without its fields, and keeps its count" {
    make_group 2
    r XREADGROUP GROUP g a STREAMS k >
    r XDEL k 1-0
    list [dict get [read_streams GROUP g a STREAMS k 0] k] [pending]
} {{{1-0 (nil)} {2-0 {f 2}}} {{1-0 a 1} {2-0 a 2}}}
check "with NOACK nothing is pending" {
    make_group 2
    list [read_ids GROUP g a NOACK STREAMS k >] [pending] [consumer_field a inactive] [group_field last-delivered-id]
} {{1-0 2-0} {} -1 2-0}
check "entries that are given again after SETID move to the new consumer" {
    make_group 3
    r XREADGROUP GROUP g a STREAMS k >
    r XREADGROUP GROUP g a STREAMS k 0
    r XGROUP SETID k g 1
    r XREADGROUP GROUP g b STREAMS k >
    list [pending] [consumer_field a pending] [consumer_field b pending]
} {{{1-0 a 2} {2-0 b 1} {3-0 b 1}} 1 2}
check "a key that stands twice is read once" {
    make_group 2
    read_ids GROUP g a STREAMS k k > >
} {1-0 2-0}
check_in 3 "XREADGROUP replies a map, or a null" {
    make_group 1
    list [typed XREADGROUP GROUP g a STREAMS k >] [typed XREADGROUP GROUP g a STREAMS k >]
} {{map {{bulk k} {array {{array {{bulk 1-0} {array {{bulk f} {bulk 1}}}}}}}}} null}

# --- Acknowledging and claiming

check "XACK removes pending entries, DELCONSUMER those of a consumer" {
    make_group 5
    r XREADGROUP GROUP g a COUNT 3 STREAMS k >
    r XREADGROUP GROUP g b STREAMS k >
    assert_equal [r XACK k g 1 1 3 9] 2
    assert_equal [error_of {r XACK k g 2 x}] "ERR Invalid stream ID specified as stream command argument"
    assert_equal [pending] {{2-0 a 1} {4-0 b 1} {5-0 b 1}}
    assert_equal [r XGROUP DELCONSUMER k g b] 2
    list [pending] [r XPENDING k g]
} {{{2-0 a 1}} {1 2-0 2-0 {{a 1}}}}
check "XPENDING lists a range, of one consumer, or what is idle" {
    make_group 6
    r XREADGROUP GROUP g a COUNT 2 STREAMS k >
    r XREADGROUP GROUP g b COUNT 2 STREAMS k >
    r XREADGROUP GROUP g a STREAMS k >
    r XCLAIM k g b 0 4 IDLE 100000 JUSTID
    list [pending g (1 5 2] [pending g - + 10 a] [pending g - (5-0 10 a] [pending g IDLE 50000 - + 10] [r XPENDING k g]
} {{{2-0 a 1} {3-0 b 1}} {{1-0 a 1} {2-0 a 1} {5-0 a 1} {6-0 a 1}} {{1-0 a 1} {2-0 a 1}} {{4-0 b 1}}\
    {6 1-0 6-0 {{a 4} {b 2}}}}
check "XPENDING finds what is idle of one consumer among what others have" {
    make_group 12
    foreach consumer {a a b a b b a a b a b b} { r XREADGROUP GROUP g $consumer COUNT 1 STREAMS k > }
    foreach {consumer ids} {a {1 4 8 10} b {3 5 12}} { r XCLAIM k g $consumer 0 {*}$ids IDLE 100000 JUSTID }
    proc idle {args} { return [lmap one [pending g IDLE 50000 {*}$args] {lindex $one 0}] }
    list [idle - + 10 a] [idle - + 10 b] [idle 4 (12 10 a] [idle (4 10 10 a] [idle - + 2 b] [idle 6 7 10 a] \
        [idle - + 10 none]
} {{1-0 4-0 8-0 10-0} {3-0 5-0 12-0} {4-0 8-0 10-0} {8-0 10-0} {3-0 5-0} {} {}}
check "what follows the consumer of XPENDING without IDLE is ignored" {
    make_group 1
    r XREADGROUP GROUP g a STREAMS k >
    assert_equal [pending g - + 10 a x y] {{1-0 a 1}}
    error_of {r XPENDING k g - + 10 a x y z}
} "ERR syntax error"
check "XCLAIM gives pending entries to another consumer" {
    make_group 4
    r XREADGROUP GROUP g a COUNT 3 STREAMS k >
    assert_equal [r XCLAIM k g b 0 1 4] {{1-0 {f 1}}}
    assert_equal [r XCLAIM k g b 0 2 JUSTID] 2-0
    assert_equal [r XCLAIM k g b 100000 3] {}
    assert_equal [r XCLAIM k g c 0 4 9 FORCE RETRYCOUNT 7] {{4-0 {f 4}}}
    assert_equal [pending] {{1-0 b 2} {2-0 b 1} {3-0 a 1} {4-0 c 7}}
    r XDEL k 1
    assert_equal [r XCLAIM k g c 0 1] {}
    r XCLAIM k g c 0 LASTID 77
    list [pending] [group_field last-delivered-id]
} {{{2-0 b 1} {3-0 a 1} {4-0 c 7}} 77-0}
check "XAUTOCLAIM claims what is idle, from an id on, and forgets what was deleted" {
    make_group 6
    r XREADGROUP GROUP g a STREAMS k >
    r XCLAIM k g a 0 1 2 3 4 5 IDLE 100000 JUSTID
    r XDEL k 2
    assert_equal [r XAUTOCLAIM k g b 50000 - COUNT 2] {3-0 {{1-0 {f 1}}} 2-0}
    assert_equal [r XAUTOCLAIM k g b 50000 3-0 COUNT 2 JUSTID] {5-0 {3-0 4-0} {}}
    assert_equal [r XAUTOCLAIM k g b 50000 (4-0] {0-0 {{5-0 {f 5}}} {}}
    pending
} {{1-0 b 2} {3-0 b 1} {4-0 b 1} {5-0 b 2} {6-0 a 1}}
check "XAUTOCLAIM looks at ten times as many entries as it may claim" {
    make_group 30
    r XREADGROUP GROUP g a STREAMS k >
    list [r XAUTOCLAIM k g b 100000 0 COUNT 1] [r XAUTOCLAIM k g b 100000 11 COUNT 2]
} {{11-0 {} {}} {0-0 {} {}}}
check "the entry with the greatest id is claimed and given once" {
    set last 18446744073709551615-18446744073709551615
    r XADD k $last f v
    r XGROUP CREATE k g 0
    assert_equal [read_ids GROUP g a STREAMS k >] $last
    assert_equal [r XAUTOCLAIM k g b 0 0 COUNT 5 JUSTID] [list 0-0 $last {}]
    assert_equal [read_ids GROUP g c CLAIM 0 STREAMS k >] $last
    pending
} {{18446744073709551615-18446744073709551615 c 2}}
check "XINFO tells when consumers were seen and active" {
    r XADD k 1 f v
    r XGROUP CREATE k g 0
    r XGROUP CREATECONSUMER k g a
    assert_equal [consumer_field a inactive] -1
    r XREADGROUP GROUP g a STREAMS k >
    assert {[consumer_field a inactive] >= 0}
    assert {[consumer_field a idle] < 10000}
    set full [lindex [dict get [r XINFO STREAM k FULL] groups] 0]
    assert_equal [lmap field {name last-delivered-id entries-read lag pel-count} {dict get $full $field}] {g 1-0 1 0 1}
    assert_equal [lrange [lindex [dict get $full pending] 0] 0 1] {1-0 a}
    set consumer [lindex [dict get $full consumers] 0]
    assert {abs([dict get $consumer seen-time] - [clock milliseconds]) < 60000}
    assert_equal [dict get $consumer active-time] [dict get $consumer seen-time]
    list [dict get $consumer pel-count] [lindex [dict get $consumer pending] 0 2]
} {1 1}

# --- How far groups are

foreach {what changes entries_read lag} {
    "nothing was deleted"                   {}                                    2   3
    "an entry behind the group was deleted" {XDEL k 1}                            2   3
    "an entry before it was deleted"        {XDEL k 4}                            2   (nil)
    "all were trimmed"                      {XTRIM k MAXLEN 0}                    2   0
    "the group was set back"                {XGROUP SETID k g 0}                  (nil) 5
    "the group was set to the end"          {XGROUP SETID k g $}                  (nil) 0
    "the group was set to the middle"       {XGROUP SETID k g 3}                  (nil) (nil)
    "those that it has read were trimmed"   {XTRIM k MAXLEN 3}                    2   3
} {
    check "entries-read and lag when $what" {
        make_group 5
        r XREADGROUP GROUP g a COUNT 2 STREAMS k >
        if {$changes ne ""} { r {*}$changes }
        list [group_field entries-read] [group_field lag]
    } [list $entries_read $lag]
}

# --- Waiting

check "clients of a group that wait are served in order, each with another entry" {
    make_group 0
    set first [client_blocked XREADGROUP GROUP g a BLOCK 0 STREAMS k >]
    set second [client_blocked XREADGROUP GROUP g b BLOCK 0 STREAMS k >]
    wait_blocked 2
    r XADD k 1 f 1
    assert_match *1-0* [$first read]
    wait_blocked 1
    r XADD k 2 f 2
    assert_match *2-0* [$second read]
    pending
} {{1-0 a 1} {2-0 b 1}}
foreach {what request} {
    "its group is destroyed" {XGROUP DESTROY k g}
    "its key is deleted"     {DEL k}
    "its key is unlinked"    {UNLINK k}
    "its key is renamed"     {RENAME k other}
    "all keys are deleted"   {FLUSHALL}
    "its database is exchanged" {SWAPDB 0 5}
    "its key expires"        {PEXPIRE k 30}
    "another stream takes its place" {COPY other k REPLACE}
} {
    check "a client that waits learns that $what" {
        make_group 0
        r XADD other 1 f v
        set waiting [client_blocked XREADGROUP GROUP g a BLOCK 0 STREAMS k >]
        wait_blocked 1
        r {*}$request
        error_of {$waiting read}
    } $no_group_read
}
foreach request {{SET k v} {RENAME other k} {COPY other k REPLACE}} {
    check "a client that waits learns that its key has another type: $request" {
        make_group 0
        r LPUSH other x
        set waiting [client_blocked XREADGROUP GROUP g a BLOCK 0 STREAMS k >]
        wait_blocked 1
        r {*}$request
        error_of {$waiting read}
    } $wrong_type
}
check "a client goes on waiting where the group comes back within a transaction" {
    make_group 0
    set waiting [client_blocked XREADGROUP GROUP g a BLOCK 0 STREAMS k >]
    wait_blocked 1
    r MULTI
    r DEL k
    r XGROUP CREATE k g 0 MKSTREAM
    r XADD k 7 f v
    r EXEC
    $waiting read
    pending
} {{7-0 a 1}}
check "setting a group back wakes nobody, nor does what takes entries away; the next entry does" {
    make_group 5 $
    set waiting [client_blocked XREADGROUP GROUP g a BLOCK 0 STREAMS k >]
    wait_blocked 1
    foreach request {
        {XGROUP SETID k g 0} {XGROUP DELCONSUMER k g a} {XDEL k 1} {XDELEX k IDS 1 2} {XTRIM k MAXLEN 1}
        {XSETID k 6} {EXPIRE k 1000} {PERSIST k} {XIDMPRECORD k p i 5} {XCFGSET k IDMP-MAXSIZE 3}
    } {
        r {*}$request
        assert_equal [info_field blocked_clients] 1
    }
    r XADD k 7 f 7
    $waiting read
    pending
} {{5-0 a 1} {7-0 a 1}}
check "in a transaction and in a script XREADGROUP does not wait" {
    make_group 0
    r MULTI
    r XREADGROUP GROUP g a BLOCK 0 STREAMS k >
    list [r EXEC] [r EVAL {return redis.call('XREADGROUP', 'GROUP', 'g', 'a', 'BLOCK', 0, 'STREAMS', KEYS[1], '>')} 1 k]
} {(nil) (nil)}
check "a wait ends when its time is up" {
    make_group 0
    r XREADGROUP GROUP g a BLOCK 10 STREAMS k >
}

# --- CLAIM, MAXCOUNT and MAXSIZE

check_in 2 "options of XREADGROUP of newer servers are checked" {
    assert_replies {
        {XGROUP CREATE k g 0 MKSTREAM} OK
        {XREADGROUP GROUP g c CLAIM x STREAMS k >} {ERR min-idle-time is not an integer or out of range}
        {XREADGROUP GROUP g c CLAIM -1 STREAMS k >} {ERR min-idle-time must be a positive integer}
        {XREADGROUP GROUP g c MAXCOUNT 0 STREAMS k >} {ERR MAXCOUNT must be a positive integer}
        {XREADGROUP GROUP g c MAXSIZE -1 STREAMS k >} {ERR MAXSIZE must be a positive integer}
        {XREADGROUP GROUP g c MAXCOUNT 2 COUNT 3 STREAMS k >} {ERR MAXCOUNT must be greater than or equal to COUNT}
        {XREADGROUP GROUP g c CLAIM 9223372036854775807 STREAMS k >} (nil)
        {XREAD CLAIM 5 STREAMS k 0} {ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead.}
        {XREAD MAXCOUNT x STREAMS k 0} {ERR value is not an integer or out of range}
    }
}
# Entries of XREADGROUP with CLAIM without their fields, and with idle times as "old" or "new".
proc read_claimed {args} {
    return [lmap entry [dict get [read_streams {*}$args] k] {
        lassign $entry id fields idle deliveries
        list $id [expr {$idle > 50000 ? "old" : "new"}] $deliveries
    }]
}
check "CLAIM gives what is idle, the oldest first, and then new entries" {
    make_group 6
    r XREADGROUP GROUP g a COUNT 4 STREAMS k >
    r XCLAIM k g a 0 1 3 IDLE 60000 JUSTID
    r XCLAIM k g b 0 2 IDLE 90000 JUSTID
    assert_equal [read_claimed GROUP g c CLAIM 50000 COUNT 4 STREAMS k >] \
        {{2-0 old 1} {1-0 old 1} {3-0 old 1} {5-0 new 0}}
    assert_equal [pending] {{1-0 c 2} {2-0 c 2} {3-0 c 2} {4-0 a 1} {5-0 c 1}}
    assert_equal [read_claimed GROUP g c CLAIM 50000 STREAMS k >] {{6-0 new 0}}
    r XREADGROUP GROUP g c CLAIM 50000 STREAMS k >
} (nil)
check "CLAIM forgets what was deleted, and with NOACK it claims all the same" {
    make_group 3
    r XREADGROUP GROUP g a COUNT 2 STREAMS k >
    r XDEL k 1
    list [lmap entry [read_claimed GROUP g b CLAIM 0 NOACK STREAMS k >] {lindex $entry 0}] [pending]
} {{2-0 3-0} {{2-0 b 2}}}
check "CLAIM gives as many as COUNT says, although others were deleted" {
    make_group 6
    r XREADGROUP GROUP g a STREAMS k >
    r XDEL k 2 3 5
    list [lmap entry [read_claimed GROUP g b CLAIM 0 COUNT 2 STREAMS k >] {lindex $entry 0}] [pending]
} {{1-0 4-0} {{1-0 b 2} {4-0 b 2} {5-0 a 1} {6-0 a 1}}}
check "CLAIM gives nothing where all that is idle was deleted" {
    make_group 3
    r XREADGROUP GROUP g a STREAMS k >
    r XDEL k 1 2
    r XCLAIM k g a 0 1 2 IDLE 100000 FORCE JUSTID
    r XDEL k 3
    set c [client_blocked XREADGROUP GROUP g b BLOCK 0 CLAIM 30 STREAMS k >]
    wait_until {[pending] eq ""}
    r XADD k 4 f v
    assert_match *4-0* [$c read]
    r XREADGROUP GROUP g a CLAIM 100000 STREAMS k >
} (nil)
check "a client that waits with CLAIM gets nothing while writes are paused" {
    make_group 1
    r XREADGROUP GROUP g a STREAMS k >
    set c [client_blocked XREADGROUP GROUP g b BLOCK 0 CLAIM 1500 STREAMS k >]
    wait_blocked 1
    r CLIENT PAUSE 100000 WRITE
    wait_until {[lindex [r XPENDING k g - + 1] 0 2] > 1700}
    assert_equal [list [pending] [info_field blocked_clients]] {{{1-0 a 1}} 1}
    r CLIENT UNPAUSE
    assert_match *1-0* [$c read]
    pending
} {{1-0 b 2}}
check "CLAIM does nothing where the consumer reads again what it has" {
    make_group 2
    r XREADGROUP GROUP g a STREAMS k >
    read_streams GROUP g b CLAIM 0 STREAMS k 0
} {k {}}
check "a client that waits with CLAIM wakes when a pending entry is idle enough" {
    make_group 2
    r XREADGROUP GROUP g a STREAMS k >
    set c [client_blocked XREADGROUP GROUP g b BLOCK 20000 CLAIM 300 COUNT 1 STREAMS k >]
    wait_blocked 1
    assert {[elapsed_ms {assert_match *1-0* [$c read]}] < 10000}
    assert_equal [pending] {{1-0 b 2} {2-0 a 1}}
    set c [client_blocked XREADGROUP GROUP g c BLOCK 20 CLAIM 100000 STREAMS k >]
    $c read
} (nil)
check "a client that waits with CLAIM wakes for what becomes pending later" {
    make_group 0
    set c [client_blocked XREADGROUP GROUP g b BLOCK 20000 CLAIM 200 STREAMS k >]
    wait_blocked 1
    r MULTI
    r XADD k 1 f v
    r XREADGROUP GROUP g a STREAMS k >
    r EXEC
    assert_match *1-0* [$c read]
    pending
} {{1-0 b 2}}
check "MAXCOUNT and MAXSIZE limit what comes of all keys" {
    make_group 4
    for {set i 1} {$i <= 4} {incr i} { r XADD other $i field [string repeat x 95] }
    r XGROUP CREATE other g 0
    proc counts {reply} { lmap {key entries} $reply {list $key [llength $entries]} }
    proc both {args} {
        set reply [r {*}$args]
        return [counts [expr {$::protocol == 2 ? [concat {*}$reply] : $reply}]]
    }
    assert_equal [both XREAD MAXCOUNT 6 STREAMS k other 0 0] {{k 4} {other 2}}
    assert_equal [both XREAD MAXCOUNT 4 STREAMS k other 0 0] {{k 4}}
    assert_equal [both XREAD COUNT 3 MAXCOUNT 4 STREAMS k other 0 0] {{k 3} {other 1}}
    assert_equal [both XREAD MAXSIZE 220 STREAMS other k 0 0] {{other 2}}
    assert_equal [both XREAD MAXSIZE 1 STREAMS other k 0 0] {{other 1}}
    # An entry comes if the reply before it is shorter.
    set head [expr {$::protocol == 2 ? 11 : 7}]
    foreach {bytes entries} {31 1 32 2 62 2 63 3 93 3 94 4} {
        assert_equal [both XREAD MAXSIZE [expr {$head + $bytes}] STREAMS k 0] [list [list k $entries]]
    }
    assert_equal [both XREAD MAXSIZE [expr {$head + 128}] STREAMS k other 0 0] {{k 4}}
    assert_equal [both XREAD MAXSIZE [expr {$head + 129}] STREAMS k other 0 0] {{k 4} {other 0}}
    assert_equal [both XREADGROUP GROUP g a MAXCOUNT 3 STREAMS k other > >] {{k 3}}
    assert_equal [both XREADGROUP GROUP g a MAXSIZE 64 STREAMS k other > >] {{k 1} {other 1}}
    both XREADGROUP GROUP g a MAXCOUNT 3 STREAMS k other 0 0
} {{k 3}}
check "nothing comes before an entry that MAXSIZE has kept back" {
    r XADD k 1 f v
    r XADD k 2 f [string repeat x 1000]
    r XGROUP CREATE k g 0
    r XREADGROUP GROUP g a STREAMS k >
    r XADD k 3 f v
    lmap entry [read_claimed GROUP g b CLAIM 0 MAXSIZE 20 STREAMS k >] {lindex $entry 0}
} 1-0

# --- XNACK

check_in 2 "XNACK checks its arguments" {
    assert_replies {
        {XADD k 1 f v} 1-0
        {XGROUP CREATE k g 0} OK
        {XNACK k g FAIL IDS 1} {ERR wrong number of arguments for 'xnack' command}
        {XNACK k g FOO IDS 1 1} {ERR mode must be SILENT, FAIL, or FATAL}
        {XNACK k g FAIL FOO 1 1} {ERR Unrecognized XNACK option 'FOO'}
        {XNACK k g FAIL FORCE FORCE RETRYCOUNT 1} {ERR syntax error, expected IDS keyword}
        {XNACK k g FAIL IDS 0 1} {ERR numids must be a positive integer}
        {XNACK k g FAIL IDS 9223372036854775807 1} {ERR numids must be a positive integer}
        {XNACK k g FAIL IDS 2 1} {ERR number of IDs doesn't match numids}
        {XNACK k g FAIL IDS 1 x} {ERR Invalid stream ID specified as stream command argument}
        {XNACK k g FAIL IDS 1 1 RETRYCOUNT -1} {ERR Invalid RETRYCOUNT value, must be >= 0}
        {XNACK k g FAIL IDS 1 1 RETRYCOUNT x} {ERR value is not an integer or out of range}
        {XNACK k g FAIL IDS 1 1 RETRYCOUNT} {ERR Unrecognized XNACK option 'RETRYCOUNT'}
        {XNACK k g FAIL IDS 1 1 FOO} {ERR Unrecognized XNACK option 'FOO'}
        {XNACK k g FAIL FORCE RETRYCOUNT 3 IDS 1 9} 0
        {XNACK none g FOO IDS 1 1} {NOGROUP No such key 'none' or consumer group 'g'}
        {XNACK none g FAIL IDS 1 1} {NOGROUP No such key 'none' or consumer group 'g'}
        {XNACK k g FAIL IDS 1 1} 0
        {XNACK k g FAIL IDS 2 1 9 FORCE} 1
        {XPENDING k g - + 10} {{1-0 {} -1 0}}
    }
}
check "what XNACK gives back is nobody's, and the next one that claims gets it" {
    make_group 5
    r XREADGROUP GROUP g a STREAMS k >
    r XREADGROUP GROUP g a STREAMS k 0
    assert_equal [r XNACK k g SILENT IDS 1 1] 1
    assert_equal [r XNACK k g FAIL IDS 2 2 2] 2
    assert_equal [r XNACK k g FATAL IDS 1 3] 1
    assert_equal [r XNACK k g SILENT IDS 1 4 RETRYCOUNT 9] 1
    assert_equal [pending] {{1-0 {} 1} {2-0 {} 2} {3-0 {} 9223372036854775807} {4-0 {} 9} {5-0 a 2}}
    assert_equal [list [r XPENDING k g] [consumer_field a pending]] {{5 1-0 5-0 {{a 1}}} 1}
    assert_equal [read_ids GROUP g b CLAIM 1000 COUNT 2 STREAMS k >] {1-0 2-0}
    r XAUTOCLAIM k g c 1000 0 COUNT 1
    assert_equal [r XACK k g 4] 1
    pending
} {{1-0 b 2} {2-0 b 3} {3-0 c 9223372036854775807} {5-0 a 2}}
check "XINFO STREAM FULL counts what nobody has, where there is any" {
    make_group 5
    r XREADGROUP GROUP g a STREAMS k >
    set counted {}
    foreach step {{} {XNACK k g FAIL IDS 2 1 2} {XCLAIM k g b 0 1} {XACK k g 2}} {
        if {$step ne ""} {r {*}$step}
        set group [lindex [dict get [r XINFO STREAM k FULL] groups] 0]
        lappend counted [expr {[dict exists $group nacked-count] ? [dict get $group nacked-count] : {none}}]
    }
    set counted
} {none 2 1 none}
check "a client that waits with CLAIM gets what is given back" {
    make_group 1
    r XREADGROUP GROUP g a STREAMS k >
    set c [client_blocked XREADGROUP GROUP g b BLOCK 0 CLAIM 1000000 STREAMS k >]
    wait_blocked 1
    r XNACK k g FAIL IDS 1 1
    assert_match *1-0* [$c read]
    pending
} {{1-0 b 2}}
# The groups of k are the same after restarts from the append-only file, in both of its formats, and rewritten or not.
proc assert_survives {} {
    set expected [list [pending] [r XINFO GROUPS k]]
    foreach preamble {yes no} {
        r CONFIG SET aof-use-rdb-preamble $preamble
        foreach step {{} rewrite_aof} {
            {*}$step
            server_again crash
            assert_equal [list [pending] [r XINFO GROUPS k]] $expected
        }
    }
}
with_aof {} {
    check "what nobody has survives files, copies and payloads" {
        make_group 6
        r XREADGROUP GROUP g a COUNT 4 STREAMS k >
        r XNACK k g FAIL IDS 2 1 3
        r XNACK k g SILENT IDS 3 6 7 99 FORCE RETRYCOUNT 5
        r XDEL k 3 5
        r XGROUP CREATE k h 0
        r XNACK k h FATAL IDS 2 5 2 FORCE
        set expected [list [pending] [r XINFO GROUPS k]]
        r RESTORE k 0 [r DUMP k] REPLACE
        assert_equal [list [pending] [r XINFO GROUPS k]] $expected
        assert_survives
        assert_equal [pending h] {{2-0 {} 9223372036854775807}}
        r XGROUP CREATECONSUMER k g ""
        r DEBUG RELOAD
        lmap entry [pending] {lindex $entry 0}
    } {1-0 2-0 3-0 4-0 6-0}
}

# --- Events and watched keys

check "events name what was done" {
    r CONFIG SET notify-keyspace-events KEA
    set c [client_open 2]
    $c call PSUBSCRIBE __keyevent@0__:x*
    make_group 1
    r XREADGROUP GROUP g a STREAMS k >
    r XREADGROUP GROUP g a STREAMS k 0
    r XCLAIM k g b 0 1
    r XACK k g 1
    r XGROUP SETID k g 0
    r XGROUP CREATECONSUMER k g c
    r XGROUP DELCONSUMER k g c
    r XGROUP DELCONSUMER k g c
    r XGROUP DESTROY k g
    r CONFIG SET notify-keyspace-events ""
    r PUBLISH __keyevent@0__:xend k
    set events {}
    while {[lindex $events end] ne "xend"} { lappend events [lindex [split [lindex [$c read] 2] :] 1] }
    return $events
} {xadd xgroup-create xgroup-createconsumer xgroup-createconsumer xgroup-setid xgroup-createconsumer xgroup-delconsumer\
    xgroup-destroy xend}
check "a stream that XGROUP CREATE makes is new" {
    r CONFIG SET notify-keyspace-events KEAn
    set c [client_open 2]
    $c call PSUBSCRIBE __keyevent@0__:*
    r XGROUP CREATE k g 0 MKSTREAM
    r CONFIG SET notify-keyspace-events ""
    list [lindex [$c read] 2] [lindex [$c read] 2]
} {__keyevent@0__:new __keyevent@0__:xgroup-create}
check "what groups do does not touch watched keys, but is counted as a change" {
    make_group 2
    r WATCH k
    set c [client_open]
    assert_equal [changes {$c call XREADGROUP GROUP g a COUNT 1 STREAMS k >}] 2
    assert_equal [changes {$c call XACK k g 1}] 1
    r MULTI
    r PING
    r EXEC
} PONG

# --- What is propagated

proc assert_propagated {requests expected} {
    assert_equal [propagated $requests] [lrange $expected 0 end]
}

with_aof {} {
    check_in 2 "deliveries and claims are propagated as XCLAIM, positions as XGROUP SETID" {
        assert_propagated {{XADD k 1-1 f v} {XADD k 2-1 f v} {XGROUP CREATE k g 0}} {
            {XADD k 1-1 f v} {XADD k 2-1 f v} {XGROUP CREATE k g 0}}
        assert_propagated {{XREADGROUP GROUP g a COUNT 1 STREAMS k >}} {
            MULTI {XCLAIM k g a 0 1-1 TIME TIME RETRYCOUNT 1 FORCE JUSTID LASTID 1-1}
            {XGROUP SETID k g 1-1 ENTRIESREAD 1} EXEC}
        assert_propagated {{XREADGROUP GROUP g a STREAMS k 0}} {}
        assert_propagated {{XREADGROUP GROUP g b NOACK STREAMS k >}} {
            MULTI {XGROUP CREATECONSUMER k g b} {XGROUP SETID k g 2-1 ENTRIESREAD 2} EXEC}
        assert_propagated {{XREADGROUP GROUP g b STREAMS k >}} {}
        assert_propagated {{XREADGROUP GROUP g c STREAMS k >}} {{XGROUP CREATECONSUMER k g c}}
        assert_propagated {{XCLAIM k g b 0 1-1 2-1}} {
            {XCLAIM k g b 0 1-1 TIME TIME RETRYCOUNT 3 FORCE JUSTID LASTID 2-1}}
        assert_propagated {{XCLAIM k g d 0 9-9 LASTID 5-5}} {
            MULTI {XGROUP CREATECONSUMER k g d} {XGROUP SETID k g 5-5 ENTRIESREAD 2} EXEC}
        assert_propagated {{XDEL k 1-1} {XAUTOCLAIM k g d 0 0}} {
            {XDEL k 1-1} {XCLAIM k g b 0 1-1 TIME TIME RETRYCOUNT 3 FORCE JUSTID LASTID 5-5}}
        assert_propagated {{XACK k g 1-1}} {}
        assert_propagated {{XCLAIM k g b 0 2-1 FORCE JUSTID} {XDEL k 2-1} {XAUTOCLAIM k g e 0 0}} {
            {XCLAIM k g b 0 2-1 TIME TIME RETRYCOUNT 1 FORCE JUSTID LASTID 5-5} {XDEL k 2-1}
            MULTI {XCLAIM k g b 0 2-1 TIME TIME RETRYCOUNT 1 FORCE JUSTID LASTID 5-5} {XGROUP CREATECONSUMER k g e}
            EXEC}
        assert_propagated {{XGROUP DELCONSUMER k g d} {XGROUP DELCONSUMER k g d}} {{XGROUP DELCONSUMER k g d}}
    }
    # A group of k, a stream of so many entries, that has read more, as it began to count there.
    proc read_beyond {count} {
        r XGROUP CREATE k ahead 1 ENTRIESREAD [expr {$count + 50}]
        r XREADGROUP GROUP ahead a COUNT 3 STREAMS k >
        assert_equal [group_field entries-read ahead] [expr {$count + 3}]
    }
    check "groups survive a restart from the append-only file, and a rewrite of it" {
        make_group 300
        r XGROUP CREATE k other 7 ENTRIESREAD 7
        read_beyond 300
        r XGROUP CREATECONSUMER k other idle
        foreach consumer {a b} { r XREADGROUP GROUP g $consumer COUNT 120 STREAMS k > }
        r XACK k g 1 3 5 150
        r XDEL k 7
        assert_match {*{7-0 a 1}*} [pending]
        assert_survives
    }
    check "a replica has the same groups" {
        with_replica_of_this {
            make_group 50
            read_beyond 50
            r XREADGROUP GROUP g a COUNT 20 STREAMS k >
            r XREADGROUP GROUP g b NOACK COUNT 5 STREAMS k >
            r XDEL k 3
            r XAUTOCLAIM k g c 0 0 COUNT 5
            r XACK k g 4 5 6
            r XREADGROUP GROUP g nothing STREAMS k >
            wait_same $replica
            assert_equal [pending_of [$replica control XPENDING k g - + 100]] [pending]
            assert_equal [$replica control XINFO GROUPS k] [r XINFO GROUPS k]
        }
    }
}

# --- As values

check "groups are copied, dumped, restored, moved and saved" {
    make_group 500
    foreach consumer {a b} { r XREADGROUP GROUP g $consumer COUNT 200 STREAMS k > }
    r XGROUP CREATE k h 5
    set expected [list [r XINFO GROUPS k] [pending]]
    r COPY k copy
    r RESTORE restored 0 [r DUMP k]
    r DEBUG RELOAD
    assert_equal [list [r XINFO GROUPS k] [pending]] $expected
    foreach key {copy restored} {
        r RENAME $key k
        assert_equal [list [r XINFO GROUPS k] [pending]] $expected
    }
    r XGROUP DESTROY k g
    r XINFO GROUPS k
} {{name h consumers 0 pending 0 last-delivered-id 5-0 entries-read (nil) lag (nil)}}
with_aof {aof-use-rdb-preamble no} {
    # Anything that reads the snapshot or the file would refuse a count that has become negative.
    check "counts of entries end at the greatest number" {
        r XADD k 1 f v
        r XSETID k 5 ENTRIESADDED 9223372036854775806
        foreach id {6 7 8} { r XADD k $id f v }
        r XGROUP CREATE k g 1 ENTRIESREAD 9223372036854775806
        r XREADGROUP GROUP g a STREAMS k >
        set expected {9223372036854775807 9223372036854775807 0}
        foreach step {{} {r DEBUG RELOAD} rewrite_aof {server_again crash}} {
            {*}$step
            assert_equal [list [dict get [r XINFO STREAM k] entries-added] [group_field entries-read] \
                [group_field lag]] $expected
        }
    }
    check "a stream with a deleted id behind its last one survives a rewrite" {
        set payload {
            150110000000000000000100000000000000003333000000140003010001010181660200010201000100018161020401020101
            01000181620204010201020100018163020401ff0303000100090903000a0019273dd90486ceb9
        }
        r RESTORE k 0 [binary format H* [join $payload ""]]
        assert_equal [dict get [r XINFO STREAM k] max-deleted-entry-id] 9-9
        rewrite_aof
        server_again crash
        list [r XLEN k] [dict get [r XINFO STREAM k] max-deleted-entry-id]
    } {3 3-0}
}
check "what reads with XREADGROUP counts one change, a read of the history none" {
    make_group 9
    set changes {}
    foreach request {
        {COUNT 2 STREAMS k >} {COUNT 3 STREAMS k >} {STREAMS k 0} {COUNT 2 CLAIM 0 STREAMS k >} {NOACK STREAMS k >}
        {STREAMS k >}
    } {
        set before [info_field rdb_changes_since_last_save]
        r XREADGROUP GROUP g a {*}$request
        lappend changes [expr {[info_field rdb_changes_since_last_save] - $before}]
    }
    set changes
} {2 1 0 1 1 0}
check "INFO counts keys whose deletion would end a wait" {
    make_group 0
    r XGROUP CREATE j g 0 MKSTREAM
    set first [client_blocked XREADGROUP GROUP g a BLOCK 0 STREAMS k j > >]
    set second [client_blocked XREADGROUP GROUP g b BLOCK 0 STREAMS k >]
    set third [client_blocked BLPOP l 0]
    set found [list [info_field total_blocking_keys] [info_field total_blocking_keys_on_nokey]]
    r XADD j 1 f v
    $first read
    lappend found [info_field total_blocking_keys_on_nokey]
    r DEL k
    assert_match "NOGROUP*" [error_of {$second read}]
    lappend found [info_field total_blocking_keys] [info_field total_blocking_keys_on_nokey]
} {3 2 1 1 0}
check "a pending entry takes a few bytes" {
    make_group 2000
    set before [r MEMORY USAGE k]
    r XREADGROUP GROUP g a STREAMS k >
    expr {([r MEMORY USAGE k] - $before) / 2000.0 < 16}
} 1

finish
