# Large values are copied in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

proc make_first_values {} {
    r SET first:text [string repeat "0123456789" 500000]
    r RPUSH first:list [string repeat first 100] {*}[numbered 1 60000 element:] [string repeat last 50000]
    fill_set first:set [numbered 1 100000 member:]
    r HSET first:hash {*}[numbered 1 60000 field:] long [string repeat value 100]
    r PEXPIRE first:hash 100000000
    r ZADD first:zset {*}[numbered 1 120000]
    r ZADD first:zset 5 [string repeat long 300] 7 [string repeat longer 300]
}

# A transaction copies at once.
proc make_values {} {
    if {[r EXISTS first:text] == 0} {
        make_first_values
    }
    r DEL away
    r MULTI
    foreach key {text list set hash zset} {
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
    r RENAME hash away
    r DEL set
}

proc change_copy {key} {
    switch [r TYPE $key] {
        list {r RPUSH $key more}
        set {r SADD $key more}
        zset {r ZADD $key 77 more 78 6}
        hash {r HSET $key more fields field:7 changed}
        string {r SETRANGE $key 1000 changed}
    }
}

foreach key {text list set hash zset} {
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
    r XADD stream 1-1 a b
    lappend replies [r COPY stream to REPLACE] [expr {[total_works] - $before}]
} {0 1 0 1 0}

check "COPY of a hash with fields that expire keeps their times" {
    make_values
    r HPEXPIREAT hash 4102444800000 FIELDS 2 field:5 long
    r COPY hash to REPLACE
    list [r HPEXPIRETIME to FIELDS 3 field:5 field:7 long] [expr {[digest to] eq [digest hash]}]
} {{4102444800000 -1 4102444800000} 1}

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
    r EXPIRE hash 77
    set data [r DEBUG DIGEST]
    r DEBUG LOADAOF
    set same [expr {[r DEBUG DIGEST] eq $data}]
    r CONFIG SET appendonly no
    set same
} 1

finish
