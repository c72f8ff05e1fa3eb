# Hashes: HSET HMSET HSETNX HGET HMGET HDEL HEXISTS HLEN HSTRLEN HINCRBY HINCRBYFLOAT HGETALL HKEYS HVALS HRANDFIELD
# HSCAN.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]

server_start

# --- Requests in this order, with their replies

check_hashes "fields are set, read and deleted" {
    assert_replies {
        {HSET h a 1 b 2} 2
        {HSET h a 3 c 4} 1
        {HSET h a 1 b} {ERR wrong number of arguments for 'hset' command}
        {HMSET h a} {ERR wrong number of arguments for 'hmset' command}
        {HMSET h a 1 b} {ERR wrong number of arguments for 'hmset' command}
        {HMSET h d 5} OK
        {HSETNX h a 9} 0
        {HSETNX h e 9} 1
        {HGET h a} 3
        {HGET h none} (nil)
        {HGET none a} (nil)
        {HMGET h a none e} {3 (nil) 9}
        {HMGET none a b} {(nil) (nil)}
        {HEXISTS h a} 1
        {HEXISTS h none} 0
        {HEXISTS none a} 0
        {HSTRLEN h a} 1
        {HSTRLEN h none} 0
        {HSTRLEN none a} 0
        {HLEN h} 5
        {HLEN none} 0
        {HDEL h a a none} 1
        {HDEL none a} 0
        {HDEL h b c d e} 4
        {EXISTS h} 0
    }
}

check_hashes "HINCRBY and HINCRBYFLOAT add to numbers" {
    assert_replies {
        {HINCRBY h n 5} 5
        {HINCRBY h n -7} -2
        {HINCRBY h n x} {ERR value is not an integer or out of range}
        {HINCRBY h n 1.5} {ERR value is not an integer or out of range}
        {HINCRBY h n -9223372036854775807} {ERR increment or decrement would overflow}
        {HSET h text abc long 9223372036854775807 sp 01} 3
        {HINCRBY h text 1} {ERR hash value is not an integer}
        {HINCRBY h sp 1} {ERR hash value is not an integer}
        {HINCRBY h long 1} {ERR increment or decrement would overflow}
        {HINCRBYFLOAT h f 1.5} 1.5
        {HINCRBYFLOAT h f -3e2} -298.5
        {HINCRBYFLOAT h n 0.25} -1.75
        {HINCRBYFLOAT h text 1} {ERR hash value is not a float}
        {HINCRBYFLOAT h f x} {ERR value is not a valid float}
        {HINCRBYFLOAT h f inf} {ERR value is NaN or Infinity}
        {HINCRBYFLOAT h f nan} {ERR value is not a valid float}
        {HGET h f} -298.5
    }
}

check_hashes "commands that name no field" {
    assert_replies {
        {HSET h a 1} 1
        {HGETALL h} {a 1}
        {HKEYS h} {a}
        {HVALS h} {1}
        {HGETALL none} {}
        {HKEYS none} {}
        {HVALS none} {}
        {HRANDFIELD h} a
        {HRANDFIELD h 3} {a}
        {HRANDFIELD h -3} {a a a}
        {HRANDFIELD h 0} {}
        {HRANDFIELD none} (nil)
        {HRANDFIELD none 3} {}
        {HRANDFIELD none -3} {}
        {HRANDFIELD h x} {ERR value is not an integer or out of range}
        {HRANDFIELD h 1 FOO} {ERR syntax error}
        {HRANDFIELD h 1 WITHVALUES x} {ERR syntax error}
        {HRANDFIELD h -9223372036854775808}
        {ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807}
        {HRANDFIELD h -9223372036854775807 WITHVALUES} {ERR value is out of range}
        {HRANDFIELD h 4611686018427387905 WITHVALUES} {ERR value is out of range}
        {HSCAN h 0} {0 {a 1}}
        {HSCAN h 0 NOVALUES} {0 a}
        {HSCAN h 0 MATCH b* NOVALUES} {0 {}}
        {HSCAN h 0 COUNT 5 MATCH a} {0 {a 1}}
        {HSCAN none 0 FOO} {0 {}}
        {HSCAN h 0 FOO} {ERR syntax error}
        {HSCAN h 0 COUNT 0} {ERR syntax error}
        {HSCAN h 0 COUNT x} {ERR value is not an integer or out of range}
        {HSCAN h 0 TYPE hash} {ERR syntax error}
        {HSCAN h x} {ERR invalid cursor}
    }
}

check_hashes "hash commands refuse a key of another type, and say so in the order of Redis" {
    assert_replies {
        {SET s x} OK
        {HSET s a 1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HMSET s a 1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HSETNX s a 1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HGET s a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HMGET s a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HGETALL s} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HKEYS s} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HVALS s} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HLEN s} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HEXISTS s a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HSTRLEN s a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HDEL s a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HINCRBY s a 1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HINCRBY s a x} {ERR value is not an integer or out of range}
        {HINCRBYFLOAT s a 1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HINCRBYFLOAT s a inf} {ERR value is NaN or Infinity}
        {HRANDFIELD s} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HRANDFIELD s 1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HRANDFIELD s x} {ERR value is not an integer or out of range}
        {HSCAN s 0} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HEXPIRE s x FIELDS 1 a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HTTL s FOO 1 a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HPERSIST s FOO 1 a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HGETDEL s FOO 1 a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HGETEX s FOO FIELDS 1 a} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HSETEX s FIELDS 1 a 1} {WRONGTYPE Operation against a key holding the wrong kind of value}
        {HSETEX s FOO FIELDS 1 a 1} {ERR unknown argument: FOO}
        {HSETEX s EX x FIELDS 1 a 1} {ERR value is not an integer or out of range}
    }
}

# --- Encodings

check "a hash is a listpack up to hash-max-listpack-entries fields of up to hash-max-listpack-value bytes" {
    r HSET many {*}[join [lmap i [numbered 1 512] {list $i v}]]
    set before [r OBJECT ENCODING many]
    r HSET many one more
    r HSET long f [string repeat x 64] [string repeat y 64] v
    set fits [r OBJECT ENCODING long]
    r HSET long f [string repeat x 65]
    r HSET name [string repeat x 65] v
    list $before [r OBJECT ENCODING many] [r HLEN many] $fits [r OBJECT ENCODING long] [r OBJECT ENCODING name]
} {listpack hashtable 513 listpack hashtable hashtable}
check_hashes "fields and values are bytes of any kind and length" {
    set texts [list "" "\x00\r\n\xff" 007 -1 [string repeat x 254] [string repeat y 255] [string repeat z 70000]]
    foreach field $texts value [lreverse $texts] {
        r HSET k $field $value
    }
    assert_equal [r HMGET k {*}$texts] [lreverse $texts]
    assert_equal [r HSTRLEN k ""] 70000
    assert_equal [lsort [r HKEYS k]] [lsort $texts]
    assert_equal [lsort [r HVALS k]] [lsort $texts]
    r HDEL k {*}$texts
} 7
check_hashes "a thousand fields come and go" {
    set model {}
    for {set i 0} {$i < 3000} {incr i} {
        set field f[expr {int(rand() * 1000)}]
        if {rand() < 0.6} {
            assert_equal [r HSET k $field v$i] [expr {![dict exists $model $field]}]
            dict set model $field v$i
        } else {
            assert_equal [r HDEL k $field] [dict exists $model $field]
            dict unset model $field
        }
    }
    assert_equal [r HLEN k] [dict size $model]
    assert_equal [lsort -stride 2 [r HGETALL k]] [lsort -stride 2 $model]
}

# --- Types of replies

check "HGETALL replies a map, HRANDFIELD WITHVALUES pairs in RESP3" {
    r HSET k a 1
    set pair {{bulk a} {bulk 1}}
    assert_equal [typed HGETALL k] [expr {$protocol == 3 ? [list map $pair] : [list array $pair]}]
    assert_equal [typed HRANDFIELD k 1 WITHVALUES] \
        [expr {$protocol == 3 ? [list array [list [list array $pair]]] : [list array $pair]}]
    assert_equal [typed HRANDFIELD k -2] {array {{bulk a} {bulk a}}}
    assert_equal [typed HINCRBYFLOAT k a 0.5] {bulk 1.5}
    assert_equal [typed HMSET k a 1] {simple OK}
    assert {[is_null HGET k none] && [is_null HRANDFIELD none]}
}

# --- At random

check_hashes "HRANDFIELD replies different fields with a count, any with a negative one" {
    make_hash k [join [lmap i [numbered 1 50] {list f$i v$i}]]
    foreach count {0 1 5 20 49 50 70} {
        set fields [r HRANDFIELD k $count]
        assert_equal [llength [lsort -unique $fields]] [expr {min($count, 50)}]
        assert_equal [llength $fields] [expr {min($count, 50)}]
    }
    assert_equal [llength [r HRANDFIELD k -200]] 200
    foreach {field value} [concat {*}[r HRANDFIELD k -20 WITHVALUES]] {
        assert_equal v[string range $field 1 end] $value
    }
}

# --- HSCAN

check_hashes "HSCAN finds every field that stays while others come and go" {
    make_hash k [join [lmap i [numbered 1 20] {list $i v}]]
    r HSET k {*}[join [lmap i [numbered 1000 1400] {list $i v}]]
    set cursor 0
    set found {}
    set next 5000
    while 1 {
        lassign [r HSCAN k $cursor COUNT 7 NOVALUES] cursor fields
        lappend found {*}$fields
        if {$cursor eq "0"} break
        r HSET k {*}[join [lmap i [numbered $next [expr {$next + 50}]] {list $i v}]]
        incr next 50
        r HDEL k {*}[numbered [expr {$next - 200}] [expr {$next - 150}]]
    }
    foreach field [numbered 1 20] {
        assert {$field in $found}
    }
}

# --- What else a change does

check "changes of hashes count what they change" {
    list [changes {r HSET k a 1 b 2 c 3}] [changes {r HSET k a 1}] [changes {r HSETNX k a 1}] [changes {r HDEL k a x}] \
        [changes {r HINCRBY k n 1}] [changes {r HINCRBYFLOAT k n 1}] [changes {r HGETDEL k FIELDS 2 b c}] \
        [changes {r HSETEX k EX 100 FIELDS 2 b 1 c 1}] [changes {r HPERSIST k FIELDS 2 b n}]
} {3 1 0 1 1 1 2 2 1}
check "hashes publish the events of Redis" {
    with_config {notify-keyspace-events EAn} {
        set listener [client_open]
        $listener call PSUBSCRIBE __keyevent*
        set events {}
        foreach request {{HSET k a 1} {HSETNX k b 1} {HSETNX k b 2} {HDEL k b} {HINCRBY k a 1} {HINCRBYFLOAT k a 1}
            {HEXPIRE k 100 FIELDS 1 a} {HPERSIST k FIELDS 1 a} {HSETEX k EX 100 FIELDS 1 b 2}
            {HGETEX k PERSIST FIELDS 1 b} {HGETEX k EX 9 FIELDS 1 b} {HGETDEL k FIELDS 1 b}
            {HSETEX k PXAT 1 FIELDS 1 b 1} {HEXPIRE k 0 FIELDS 1 a}} {
            r {*}$request
        }
        r SET end 1
        while {[lindex $events end] ne "set end"} {
            set message [$listener read]
            lappend events "[lindex [split [lindex $message 2] :] end] [lindex $message 3]"
        }
        lmap event $events {lindex $event 0}
    }
} {new hset hset hdel hincrby hincrbyfloat hexpire hpersist hset hexpire hpersist hexpire hdel hset hdel hdel del\
    new set}

finish
