# Fields of hashes that expire, and that no command accesses: the server deletes them by itself.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]
source [file join $library aof.tcl]

server_start {hz 100}

# A field of INFO, asked without accessing a key.
proc subexpiry {{database 0}} {
    if {[regexp -line "^db$database:.*,subexpiry=(\\d+)" [$::current_server control INFO keyspace] _ count]} {
        return $count
    }
    return 0
}

# Makes `count` hashes with a field that stays, and one that expires after so many milliseconds.
proc make_half_expiring {prefix count ms} {
    set requests {}
    for {set i 0} {$i < $count} {incr i} {
        lappend requests [list HSET $prefix$i stays 1 goes 2] [list HPEXPIRE $prefix$i $ms FIELDS 1 goes]
    }
    [default_client] pipeline $requests
}

# Sets fields f0 f1 … and lets them expire.
proc make_expiring_fields {key count ms} {
    set fields [numbered 0 [expr {$count - 1}] f]
    r HSET $key {*}[concat {*}[lmap field $fields {list $field value}]]
    r HPEXPIRE $key $ms FIELDS $count {*}$fields
}

proc without_active_expiry {body} {
    $::current_server control DEBUG SET-ACTIVE-EXPIRE 0
    try {
        uplevel 1 $body
    } finally {
        $::current_server control DEBUG SET-ACTIVE-EXPIRE 1
    }
}

# Makes a hash all of whose fields have expired.
proc make_dead {key} {
    r HSET $key a 1 b 2
    r HPEXPIRE $key 1 FIELDS 2 a b
    after 5
}

# --- Fields go

check_hashes "fields that no command accesses are deleted soon after they expire" {
    r CONFIG RESETSTAT
    make_half_expiring k 500 20
    wait_until {[info_field expired_subkeys] == 500}
    assert_equal [info_field expired_fields] 500
    list [subexpiry] [r DBSIZE] [r HLEN k7] [r HKEYS k499] [info_field expired_keys]
} {0 500 1 stays 0}
check_hashes "a hash goes with its last field, however many it has" {
    r CONFIG RESETSTAT
    make_expiring_fields small 3 1
    make_expiring_fields large 20000 1
    make_half_expiring stays 1 1000000
    wait_until {[$::current_server control DBSIZE] == 1}
    list [info_field expired_subkeys] [info_field expired_keys] [subexpiry]
} {20003 0 1}
check_hashes "few fields that expire among many that do not" {
    make_half_expiring living 2000 1000000
    make_half_expiring dead 5 1
    wait_until {[subexpiry] == 2000} 80000
}
check "fields go from every database" {
    foreach database {0 7 15} {
        r SELECT $database
        make_expiring_fields h 5 1
        make_expiring_fields i 100 1
    }
    wait_until {![string match *db* [$::current_server control INFO keyspace]]}
}
check_hashes "they go from hashes that were copied, renamed, moved, restored, exchanged and reloaded" {
    without_active_expiry {
        make_half_expiring k 7 100
        r COPY k0 copy
        r COPY k0 copy DB 5
        r RENAME k1 renamed
        r MOVE k2 5
        r RESTORE restored 0 [r DUMP k3]
        r RESTORE k6 0 [r DUMP k3] REPLACE
        r EXPIRE k4 1000000
        r SET k5 "no hash any more"
        r SWAPDB 5 6
        r DEBUG RELOAD
    }
    # 0: k0 copy renamed k3 restored k4 k6; 6: copy k2
    wait_until {[subexpiry] == 0 && [subexpiry 6] == 0}
    lmap key {k0 copy renamed k3 restored k4 k6} {
        assert_equal [r HKEYS $key] stays
    }
    r SELECT 6
    list [r HLEN copy] [r HLEN k2]
} {1 1}
check "the AOF says each field that went, in commands of a bounded length" {
    with_aof {hz 100} {
        r HSET k stays 1 goes 2
        r HPEXPIRE k 1 FIELDS 1 goes
        make_expiring_fields large 1000 1
        wait_until {[info_field expired_subkeys] == 1001}
        wait_written
        set deleted {}
        foreach command [aof_commands [aof_bytes]] {
            if {[lindex $command 0] ne "HDEL"} continue
            assert {[llength $command] <= 66}
            if {[lindex $command 1] eq "large"} { lappend deleted {*}[lrange $command 2 end] }
        }
        assert_equal [lsort -unique $deleted] [lsort [numbered 0 999 f]]
        assert {[lsearch -exact [aof_commands [aof_bytes]] {HDEL k goes}] > 0}
        server_again
        list [r HGETALL k] [r DBSIZE] [lsearch -exact [aof_commands [aof_bytes]] {DEL large}]
    }
} {{stays 1} 1 -1}
check "hexpired is published, and del with the last field" {
    with_config {notify-keyspace-events KEA} {
        set listener [client_open]
        $listener call PSUBSCRIBE __key*__:*
        r HSET k a 1 b 2
        r HPEXPIRE k 1 FIELDS 1 a
        set events [lmap i {1 2 3 4 5 6} {lindex [$listener read] end}]
        r HPEXPIRE k 1 FIELDS 1 b
        lappend events {*}[lmap i {1 2 3 4 5 6} {lindex [$listener read] end}]
    }
} {hset k hexpire k hexpired k hexpire k hexpired k del k}
foreach {command deletes} {
    {HSETEX k FNX FIELDS 1 f new} {}
    {HSETEX k FNX PX 100000 FIELDS 2 f new g new} {}
    {HSETEX k FIELDS 1 f new} {}
    {HSETEX k NX FIELDS 1 f new} {}
    {HSETEX k XX FIELDS 1 f new} del
    {HSET k f new} {}
    {HSETNX k f new} {}
    {HINCRBY k f 1} {}
    {HINCRBYFLOAT k f 1} {}
    {HSETEX k FXX FIELDS 1 f new} del
    {HSETEX k FNX PXAT 1 FIELDS 1 f new} del
    {HGETEX k PX 100000 FIELDS 1 f} del
} {
    check "no del is published where the last field has expired and is set again: $command" {
        with_config {notify-keyspace-events KEA} {
            without_active_expiry {
                r HSET k f old
                r HPEXPIRE k 1 FIELDS 1 f
                after 5
                set listener [client_open]
                $listener call PSUBSCRIBE __keyspace@0__:k
                r {*}$command
            }
            r SET k end
            set events {}
            while {[set event [lindex [$listener read] end]] ne "set"} { lappend events $event }
            assert_equal [lindex $events 0] hexpired
            lsearch -all -inline $events del
        }
    } $deletes
}
check_hashes "HGETDEL publishes hexpired for fields that have expired, however many" {
    with_config {notify-keyspace-events KEA} {
        set listener [client_open]
        $listener call PSUBSCRIBE __keyspace@0__:k
        without_active_expiry {
            make_expiring_fields k 100 1
            after 5
            set values [r HGETDEL k FIELDS 100 {*}[numbered 0 99 f]]
        }
        r SET k end
        set events {}
        while {[set event [lindex [$listener read] end]] ne "set"} { lappend events $event }
    }
    list [lsort -unique $values] [lsort -unique $events]
} {(nil) {del hexpire hexpired hset}}
check_hashes "HDEL counts fields that have expired but were not deleted, however many" {
    without_active_expiry {
        r HSET k stays 1
        make_expiring_fields k 100 1
        make_expiring_fields dead 3 1
        after 5
        list [r HDEL k {*}[numbered 0 99 f] f0 none] [r HGETALL k] [r HDEL dead f0 f1 f2] [r EXISTS dead]
    }
} {100 {stays 1} 3 0}

# --- When they do not

check_hashes "DEBUG SET-ACTIVE-EXPIRE 0 leaves fields, and 1 deletes them" {
    without_active_expiry {
        make_half_expiring k 50 1
        after 60
        set before [subexpiry]
    }
    wait_until {[subexpiry] == 0}
    set before
} 50
check_hashes "during CLIENT PAUSE WRITE fields that have expired are invisible, and stay" {
    without_active_expiry {
        r HSET k stays 1 goes 2
        r HPEXPIRE k 1 FIELDS 1 goes
        make_dead dead
    }
    r CLIENT PAUSE 100000 WRITE
    set before [subexpiry]
    after 60
    set seen [list [r HGETALL k] [r HEXISTS k goes] [r HGETALL dead] [expr {[subexpiry] == $before}]]
    $::current_server control CLIENT UNPAUSE
    wait_until {[subexpiry] == 0}
    lappend seen [r DBSIZE]
} {{stays 1} 0 {} 1 1}

# --- INFO

check_hashes "INFO counts the hashes with fields that expire" {
    make_half_expiring k 3 1000000
    r HSET other a 1
    set counts [subexpiry]
    foreach request {
        {HEXPIRE other 1000 FIELDS 1 a} {HPERSIST other FIELDS 1 a} {HSETEX other EX 1000 FIELDS 1 b 1} {HDEL other b}
        {HGETEX other EX 1000 FIELDS 1 a} {HSET other a 2} {HDEL k0 goes} {HGETDEL k1 FIELDS 1 goes} {DEL k2}
    } {
        r {*}$request
        lappend counts [subexpiry]
    }
    lappend counts [info_field db0]
} {3 4 3 4 3 4 3 2 1 0 keys=3,expires=0,avg_ttl=0,subexpiry=0}

# --- WATCH, and commands on keys

check_hashes "a watched hash has changed when a field of it expires" {
    r HSET k stays 1 goes 2
    [default_client] pipeline {{HPEXPIRE k 200 FIELDS 1 goes} {WATCH k}}
    wait_until {[subexpiry] == 0}
    r MULTI
    r SET x 1
    list [r EXEC] [r EXISTS x]
} {(nil) 0}
check_hashes "it has not, while the field is there" {
    without_active_expiry {
        r HSET k stays 1 goes 2
        r HPEXPIRE k 1 FIELDS 1 goes
        after 5
        r WATCH k
        r MULTI
        r SET x 1
        r EXEC
    }
} OK
check_hashes "a hash is a key until its last field is deleted" {
    without_active_expiry {
        make_dead k
        set seen [list [r DBSIZE] [r SCAN 0] [r RANDOMKEY] [r KEYS *] [r EXISTS k] [r TYPE k] [subexpiry]]
    }
    wait_until {[$::current_server control DBSIZE] == 0}
    lappend seen [r SCAN 0] [r RANDOMKEY] [r EXISTS k] [subexpiry]
} {1 {0 k} k k 1 hash 1 {0 {}} (nil) 0 0}

# --- Files

proc die_and_start {} {
    $::current_server kill
    $::current_server launch_with {}
    set ::default_client ""
}

# Every command that gives fields expiries or takes them away.
proc change_expiries {} {
    foreach request {
        {HSET h a 1 b 2 c 3 d 4 e 5 f 6} {HEXPIRE h 100000 FIELDS 2 a b} {HPEXPIREAT h 4102444800123 FIELDS 1 c}
        {HSETEX h EX 100000 FIELDS 2 g 7 h 8} {HSETEX h KEEPTTL FIELDS 1 g 9} {HGETEX h PX 100000000 FIELDS 1 d}
        {HGETDEL h FIELDS 2 e none} {HPERSIST h FIELDS 1 b} {HINCRBY h a 5} {HINCRBYFLOAT h c 1.5} {HSET h h 1}
        {HSET gone a 1} {HEXPIRE gone 0 FIELDS 1 a} {HSETEX new FNX PXAT 4102444800000 FIELDS 1 a 1}
        {HSETEX newer NX PXAT 4102444800000 FIELDS 1 a 1} {HSETEX newer XX KEEPTTL FIELDS 2 a 2 b 2}
    } {
        r {*}$request
    }
    r HSET large {*}[concat {*}[lmap field [numbered 1 700] {list $field value}]]
    r HEXPIRE large 100000 FIELDS 350 {*}[numbered 1 350]
}

# All that can be told of the data, but for fields that have expired.
proc contents {} {
    set all {}
    foreach key [lsort [r KEYS *]] {
        set fields [lsort [r HKEYS $key]]
        lappend all $key $fields [r HMGET $key {*}$fields] [r HPEXPIRETIME $key FIELDS [llength $fields] {*}$fields]
    }
    return $all
}

foreach preamble {yes no} {
    foreach rewrites {0 1} {
        set what "aof-use-rdb-preamble $preamble, [expr {$rewrites ? {rewritten} : {as it was written}}]"
        check_in 3 "expiries of fields come back from an append-only file, $what" [string map "
            @preamble $preamble @rewrites $rewrites
        " {
            with_aof {aof-use-rdb-preamble @preamble hz 100} {
                change_expiries
                if {@rewrites} rewrite_aof
                r HEXPIRE large 100000 FIELDS 1 700
                set before [list [r DEBUG DIGEST] [contents] [subexpiry]]
                r DEBUG LOADAOF
                assert_equal [list [r DEBUG DIGEST] [contents] [subexpiry]] $before
                server_again
                assert_equal [list [r DEBUG DIGEST] [contents] [subexpiry]] $before
                assert_equal [subexpiry] 4
            }
        }]
        check_in 3 "fields that expired while the server was down go when it runs, $what" [string map "
            @preamble $preamble @rewrites $rewrites
        " {
            with_aof {aof-use-rdb-preamble @preamble hz 100} {
                $::current_server control DEBUG SET-ACTIVE-EXPIRE 0
                # No hash is accessed after its fields may have expired, which would delete some.
                r HSET half stays 1 goes 2
                r HSET all a 1 b 2
                r HSET large stays 1
                r HPEXPIRE half 100 FIELDS 1 goes
                r HPEXPIRE all 100 FIELDS 2 a b
                make_expiring_fields large 700 100
                if {@rewrites} rewrite_aof
                set digest [r DEBUG DIGEST]
                # Nothing expires while a file is loaded.
                after 150
                r DEBUG LOADAOF
                assert_equal [r DEBUG DIGEST] $digest
                die_and_start
                wait_until {[info_field expired_subkeys] == 703}
                set after [list [lsort [r KEYS *]] [r HGETALL half] [r HGETALL large] [subexpiry]]
                assert_equal $after {{half large} {stays 1} {stays 1} 0}
                server_again
                list [r DBSIZE] [subexpiry] [info_field expired_subkeys]
            }
        }] {2 0 0}
    }
}
check_in 3 "what is done to fields that have expired is the same when it is repeated from an append-only file" {
    with_aof {} {
        $::current_server control DEBUG SET-ACTIVE-EXPIRE 0
        # More fields than a command deletes besides those that it names.
        foreach key {a b c d e f g h} { make_expiring_fields $key 300 1 }
        after 5
        set replies [lmap request {
            {HINCRBY a f299 1} {HINCRBYFLOAT b f299 1.5} {HSETNX c f299 new} {HSETEX d FNX FIELDS 2 f299 new f298 new}
            {HSETEX e KEEPTTL FIELDS 1 f299 new} {HPERSIST f FIELDS 2 f299 f298}
            {HSETEX g FXX KEEPTTL FIELDS 1 f299 new}
            {RPUSH list 299 298} {SORT list BY nosort GET h->f* STORE sorted} {LRANGE sorted 0 -1}
            {SORT list BY nosort GET h->f* GET #}
        } { r {*}$request }]
        set before [r DEBUG DIGEST]
        r DEBUG LOADAOF
        assert_equal [r DEBUG DIGEST] $before
        lappend replies [r HMGET a f299 f298] [r HMGET d f298 f299] [r HPEXPIRETIME e FIELDS 1 f299]
    }
} {1 1.5 1 1 1 {-2 -2} 0 2 2 {{} {}} {(nil) 299 (nil) 298} {1 (nil)} {new new} -1}
check_in 3 "fields expire while a snapshot is written, which has them" {
    with_server {hz 100 rdb-key-save-delay 100000} {
        without_active_expiry {
            make_half_expiring k 20 1
            make_expiring_fields large 2000 1
            after 5
            r BGSAVE
        }
        wait_until {[subexpiry] == 0}
        assert_equal [list [info_field expired_subkeys] [info_field rdb_bgsave_in_progress]] {2020 1}
        r CONFIG SET rdb-key-save-delay 0
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
        die_and_start
        wait_until {[info_field expired_subkeys] == 2020}
        list [r DBSIZE] [subexpiry] [info_field rdb_last_load_keys_loaded]
    }
} {20 0 21}
check_in 3 "fields that expired while the server was down go after a snapshot was loaded" {
    with_server {hz 100} {
        $::current_server control DEBUG SET-ACTIVE-EXPIRE 0
        r HSET half stays 1 goes 2
        r HSET all a 1 b 2
        r HPEXPIRE half 100 FIELDS 1 goes
        r HPEXPIRE all 100 FIELDS 2 a b
        make_expiring_fields large 700 100
        r SAVE
        after 150
        die_and_start
        wait_until {[info_field expired_subkeys] == 703}
        list [r KEYS *] [r HGETALL half] [subexpiry]
    }
} {half {stays 1} 0}

finish
