# Large values are copied in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

set kinds {text list set hash expiring zset stream}

proc make_first_values {} {
    r SET first:text [string repeat "0123456789" 500000]
    r RPUSH first:list [string repeat first 100] {*}[numbered 1 60000 element:] [string repeat last 50000]
    fill_set first:set [numbered 1 100000 member:]
    r HSET first:hash {*}[numbered 1 60000 field:] long [string repeat value 100]
    r PEXPIRE first:hash 100000000
    r ZADD first:zset {*}[numbered 1 120000]
    r ZADD first:zset 5 [string repeat long 300] 7 [string repeat longer 300]
    r COPY first:hash first:expiring
    r HPEXPIREAT first:expiring 4102444800000 FIELDS 2 field:5 long
    r HPEXPIREAT first:expiring 4102444801000 FIELDS 2000 {*}[numbered 1000 2999 field:]
    make_first_stream
}

proc make_first_stream {} {
    r EVAL {
        for i = 1, 20000 do
            redis.call('XADD', KEYS[1], i .. '-1', 'field', string.rep(i % 100, 20), 'other', i)
        end
        for i, group in ipairs({'one', 'two'}) do
            redis.call('XGROUP', 'CREATE', KEYS[1], group, 0)
            redis.call('XREADGROUP', 'GROUP', group, 'alice', 'COUNT', 7000, 'STREAMS', KEYS[1], '>')
        end
    } 1 first:stream
    r XREADGROUP GROUP one bob COUNT 50 STREAMS first:stream >
    r XGROUP CREATECONSUMER first:stream one carol
    r XGROUP DELCONSUMER first:stream one carol
    r XGROUP CREATECONSUMER first:stream one dave
    r XACK first:stream one {*}[lmap i [numbered 1 500] {string cat $i -1}]
    r XTRIM first:stream MAXLEN = 19900 ACKED ;# notes how far it has looked
    r XACK first:stream two {*}[lmap i [numbered 1 500] {string cat $i -1}]
    r XADD first:stream IDMP producer iid * field value
}

# A transaction copies at once.
proc make_values {} {
    if {[r EXISTS first:text] == 0} {
        make_first_values
    }
    r DEL away
    r MULTI
    foreach key $::kinds {
        r COPY first:$key $key REPLACE
    }
    r EXEC
}

proc change_values {} {
    r SETRANGE text 100 [string repeat x 20000]
    r APPEND text [string repeat x 500000]
    r LSET list 30000 changed
    r LPOP list 100
    r RPUSH list new
    r SREM set {*}[numbered 100 900 member:]
    r SADD set new
    r HSET hash field:1 changed field:59999 other new field
    r HDEL hash field:3
    remove_ranks zset 100 3000
    r ZADD zset 1 new 7 60000
    r HPERSIST expiring FIELDS 1 long
    r HPEXPIRE expiring 0 FIELDS 2 field:5 field:9
    r HPEXPIREAT expiring 4102444800000 FIELDS 1000 {*}[numbered 2500 3499 field:]
    r XADD stream * field value
    r XADD stream IDMP other iid * field value
    r XDEL stream 700-1 9000-1
    r XACK stream one 6000-1 7001-1
    r XGROUP DELCONSUMER stream two alice
    r XREADGROUP GROUP one dave COUNT 10 STREAMS stream >
    r XGROUP CREATE stream three $
    r RENAME hash away
    r DEL set
}

proc change_copy {key} {
    switch [r TYPE $key] {
        list {r RPUSH $key more}
        set {r SADD $key more}
        zset {r ZADD $key 77 more 78 6}
        hash {
            r HSET $key more fields field:7 changed
            r HPEXPIREAT $key 4102444800000 FIELDS 1 field:7
        }
        stream {
            r XADD $key * field value
            r XACK $key one 6001-1 7002-1
            r XREADGROUP GROUP two alice COUNT 10 STREAMS $key >
        }
        string {r SETRANGE $key 1000 changed}
    }
}

foreach key $kinds {
    foreach {options database} {{} 0 REPLACE 0 {DB 9 REPLACE} 9 {REPLACE DB 9} 9} {
        check "COPY $key to $options: the copy is the value of the moment when it came" {
            make_values
            r SELECT $database
            r DEL to
            if {"REPLACE" in $options} {
                r RPUSH to some thing
                r PEXPIRE to 1000000
            }
            r SELECT 0
            set value [digest $key]
            set encoding [r OBJECT ENCODING $key]
            set expiry [r PEXPIRETIME $key]
            set before [total_works]
            paused {
                set c [send_work [list COPY $key to {*}$options]]
                change_values
            }
            assert_equal [$c read] 1
            assert_equal [total_works] [expr {$before + 1}]
            r SELECT $database
            assert_equal [digest to] $value
            assert_equal [r OBJECT ENCODING to] $encoding
            assert_equal [r PEXPIRETIME to] $expiry
            paused { ;# it can be captured and changed, as all values can
                set c [client_open]
                $c call SELECT $database
                $c send COPY to copy
                wait_for_works 1
                change_copy to
            }
            assert_equal [$c read] 1
            assert_equal [digest copy] $value
            r DEL to copy
            r SELECT 0
        }
    }
}

check "who looks at the copy before it is there waits for it; another database has no such key" {
    make_values
    r DEL to
    set other [client_open]
    $other call SELECT 9
    $other call DEL to
    set value [digest list]
    set all {}
    foreach look {{EXISTS to} {TYPE to} {OBJECT ENCODING to} {SCAN 0}} {
        paused {
            set c [send_work {COPY list to DB 9}]
            lappend all [lindex [$other call {*}$look] 0]
            assert_equal [$c read] 1
            assert_equal [r EXISTS to] 0
        }
        assert_equal [lindex [$other call DEBUG DIGEST-VALUE to] 0] $value
        $other call DEL to
    }
    set all
} {1 list quicklist 0}

check "COPY is done though its client has gone, in the database that it has named" {
    make_values
    r SELECT 9
    r DEL to
    r SELECT 0
    r COPY text text DB 3 REPLACE
    r SELECT 3
    paused {
        set c [client_open]
        $c call SELECT 3
        $c send COPY text to DB 9
        wait_for_works 1
        $c close
        wait_for_works 0
    }
    set here [r EXISTS to]
    set value [digest text]
    r DEL text
    r SELECT 9
    set same [expr {[digest to] eq $value}]
    r DEL to
    r SELECT 0
    list $here $same
} {0 1}

check "COPY without REPLACE to a key that exists, and of a small or missing value, takes no thread" {
    make_values
    r SET to x
    r SET small [string repeat x 100]
    set before [total_works]
    set replies [list [r COPY list to] [r COPY small to REPLACE] [r COPY none to REPLACE]]
    r XADD short 1-1 a b
    lappend replies [r COPY short to REPLACE] [expr {[total_works] - $before}]
} {0 1 0 1 0}

check "COPY of a hash with fields that expire keeps their times" {
    make_values
    set before [total_works]
    r COPY expiring to REPLACE
    list [r HPEXPIRETIME to FIELDS 4 field:5 field:7 field:1001 long] [expr {[total_works] - $before}]
} {{4102444800000 -1 4102444801000 4102444800000} 1}

check "fields of a copied hash expire" {
    make_values
    r HPEXPIRE expiring 20 FIELDS 3 field:1 field:5 field:1001
    set fields [r HLEN expiring]
    paused {
        set c [send_work {COPY expiring to REPLACE}]
        after 30
    }
    $c read
    wait_until [format {[r HLEN to] == %d} [expr {$fields - 3}]]
    r HPEXPIRETIME to FIELDS 3 field:1 field:999 field:1003
} {-2 -1 4102444801000}

check "a copied stream knows its groups, consumers and producers" {
    make_values
    r COPY stream to REPLACE
    set first [r XADD stream IDMP producer iid * a b]
    r XADD to IDMP producer iid * a b ;# counts the duplicate, too
    set same {}
    foreach question {{XINFO STREAM KEY} {XINFO GROUPS KEY} {XPENDING KEY one} {XPENDING KEY two}
        {XRANGE KEY - + COUNT 3}} {
        lappend same [expr {[r {*}[string map {KEY to} $question]] eq [r {*}[string map {KEY stream} $question]]}]
    }
    lappend same [expr {[r XADD to IDMP producer iid * a b] eq $first}]
    foreach key {stream to} {
        lappend same [r XTRIM $key MAXLEN = 10000 ACKED] ;# the entries that the second group has acknowledged
    }
    set same
} {1 1 1 1 1 1 500 500}

check "the copy is what replicas and the append-only file make of it" {
    make_values
    r DEL to
    r SELECT 9
    r DEL to
    r SELECT 0
    r CONFIG SET appendonly yes
    wait_until {[info_field aof_rewrite_in_progress] == 0}
    r COPY zset to
    r COPY list to DB 9
    r ZADD zset 1 later
    r COPY hash to REPLACE
    r COPY stream copy:stream
    r COPY expiring copy:expiring
    r XACK stream one 6000-1
    r EXPIRE hash 77
    set data [r DEBUG DIGEST]
    r DEBUG LOADAOF
    set same [expr {[r DEBUG DIGEST] eq $data}]
    r CONFIG SET appendonly no
    set same
} 1

finish
