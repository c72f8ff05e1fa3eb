# Large replies that are written while they are sent: the values are those of the moment of the command, though they
# change before they are sent, and they take little memory.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-debug-command yes}

# More than sockets take, so that most of a reply waits in the server: 10,000 texts of 1,200 bytes.
set count 10000
set texts {}
for {set i 0} {$i < $count} {incr i} {
    lappend texts [binary format a* [string range [string repeat [format %06d $i] 200] 0 1199]]
}
set size [expr {1209 * $count}]

# A command that replies all texts, by the type of the key that has them; in the order of the list, or in any.
set reads {list {LRANGE list 0 -1} set {SMEMBERS set} keys {HKEYS keys} values {HVALS values} hash {HGETALL hash}}

proc fill {key} {
    for {set i 0} {$i < $::count} {incr i 1000} {
        set some [lrange $::texts $i [expr {$i + 999}]]
        switch $key {
            list {r RPUSH list {*}$some}
            set {r SADD set {*}$some}
            keys {r HSET keys {*}[concat {*}[lmap text $some {list $text v}]]}
            values {r HSET values {*}[concat {*}[lmap text $some {list [string range $text 0 5] $text}]]}
            hash {r HSET hash {*}$some}
        }
    }
}

proc change {key} {
    switch $key {
        list {
            r LSET list 100 changed
            r LSET list 9000 changed
            r LTRIM list 5 7500
            r LPUSH list more
            r LINSERT list BEFORE [lindex $::texts 6000] more
        }
        set {r SREM set {*}[lrange $::texts 100 7500]; r SADD set more}
        keys {r HDEL keys {*}[lrange $::texts 100 7500]; r HSET keys more v}
        values {foreach text [lrange $::texts 100 2500] {r HSET values [string range $text 0 5] changed}}
        hash {r HDEL hash {*}[lrange $::texts 100 7500]; r HSET hash more v}
    }
}

# The field of the newest connection of that name.
proc client_field {client_name field} {
    foreach line [lreverse [split [$::current_server control CLIENT LIST] \n]] {
        if {[string match "* name=$client_name *" $line] && [regexp "(?:^| )$field=(\\d+)" $line _ value]} {
            return $value
        }
    }
    error "no connection is named $client_name"
}

# A connection that has sent the requests and reads nothing yet; returns when their replies wait.
proc stalled {requests} {
    set c [client_open]
    $c call CLIENT SETNAME stalled
    set before [info_field total_net_output_bytes]
    $c write [join [lmap one $requests {request $one}] {}]
    wait_until {[client_field stalled omem] > 0 && [info_field total_net_output_bytes] - $before > 100000}
    return $c
}

proc header {key} {
    switch $key {
        set {return [expr {$::protocol == 3 ? "~" : "*"}]$::count\r\n}
        hash {return [expr {$::protocol == 3 ? "%[expr {$::count / 2}]" : "*$::count"}]\r\n}
        default {return *$::count\r\n}
    }
}

# Reads the reply to the key's command: all texts, and nothing else.
proc assert_reads_all {client key} {
    set header [header $key]
    assert_equal [$client read_bytes [string length $header]] $header
    set bytes [$client read_bytes $::size]
    set found {}
    for {set at 0} {$at < $::size} {incr at 1209} {
        if {[string range $bytes $at $at+6] ne "\$1200\r\n" || [string range $bytes $at+1207 $at+1208] ne "\r\n"} {
            set found {}
            break
        }
        lappend found [string range $bytes $at+7 $at+1206]
    }
    if {$key ne "list"} {
        set found [lsort $found]
    }
    assert {$found eq $::texts}
}

foreach {key request} $reads {
    check "$request replies all" [string map [list @key $key @request $request] {
        fill @key
        set c [stalled {{@request}}]
        assert_reads_all $c @key
        $c call PING
    }] PONG
}

# --- The moment

foreach {key request} $reads {
    foreach {what requests} {
        "is changed" {}
        "is changed, and deleted" {{DEL @key}}
        "is unlinked" {{UNLINK @key}}
        "is renamed" {{RENAME @key other}}
        "is flushed" {FLUSHALL}
        "is flushed by another thread" {{FLUSHALL ASYNC}}
        "expires" {{PEXPIRE @key 1} {EXISTS @key}}
        "is read from a file" {{DEBUG RELOAD}}
    } {
        check_in 2 "$request replies the values of its moment, though the key $what meanwhile" \
                [string map [list @requests [string map [list @key $key] $requests] @key $key @request $request] {
            fill @key
            set before [info_field used_memory]
            set c [stalled {{@request}}]
            assert {[info_field used_memory] - $before < 1000000}
            change @key
            foreach one {@requests} {
                r {*}$one
            }
            assert_reads_all $c @key
            r FLUSHALL
            wait_until {[info_field used_memory] < 3000000 + $::spare_blocks}
        }]
    }
}
proc array_of {texts} {
    return "*[llength $texts]\r\n[join [lmap text $texts {string cat \$[string length $text]\r\n$text\r\n}] {}]"
}
check_in 2 "each reply has the values of its moment" {
    fill list
    set requests {}
    set expected {}
    for {set i 0} {$i < 5} {incr i} {
        lappend requests {LRANGE list 0 -1} [list LSET list $i changed] {LPOP list 2}
    }
    set now $::texts
    set c [stalled $requests]
    r DEL list
    for {set i 0} {$i < 5} {incr i} {
        set expected "[array_of $now]+OK\r\n"
        assert {[$c read_bytes [string length $expected]] eq $expected}
        lset now $i changed
        set expected [array_of [lrange $now 0 1]]
        assert {[$c read_bytes [string length $expected]] eq $expected}
        set now [lrange $now 2 end]
    }
}
check_in 2 "what a command pops is replied later" {
    fill list
    fill set
    set c [stalled [list [list LPOP list $::count] [list SPOP set $::count] {EXISTS list set}]]
    assert_equal [r EXISTS list set] 0
    assert_reads_all $c list
    assert_reads_all $c set
    $c read
} 0
check "fields that have expired are left out, as they were at the moment" {
    fill values
    r HPEXPIRE values 1 FIELDS 2 000000 000001
    r DEBUG SET-ACTIVE-EXPIRE 0
    after 5
    r HPEXPIRE values 100 FIELDS 2 000002 000003
    set c [stalled {{HVALS values}}]
    after 200
    r DEBUG SET-ACTIVE-EXPIRE 1
    wait_until {[r HLEN values] == $::count - 4}
    set values [$c read]
    list [llength $values] [lsort [lmap text [lsort $values] {string range $text 0 5}]]
} [list [expr {$count - 2}] [lmap text [lrange $texts 2 end] {string range $text 0 5}]]

# --- Among other replies

check_in 2 "replies keep their order" {
    fill list
    r SET small 1
    set c [stalled {PING {LRANGE list 0 -1} {GET small} {LPOS list nosuch COUNT 0} {LRANGE list 0 -1} NOSUCH
        {CLIENT REPLY SKIP} {LRANGE list 0 -1} {LRANGE list 0 -1} PING}]
    assert_equal [$c read] PONG
    assert_reads_all $c list
    assert_equal [$c read] 1
    assert_equal [$c read] {}
    assert_reads_all $c list
    assert {[catch {$c read} error] && [string match "ERR unknown command*" $error]}
    assert_reads_all $c list
    $c read
} PONG
check_in 2 "a transaction replies the values as they were when its commands ran" {
    fill list
    fill set
    set c [stalled {MULTI {LRANGE list 0 -1} {LPOP list} {SMEMBERS set} {DEL list set} {LRANGE list 0 -1} EXEC PING}]
    $c read_bytes [string length "+OK\r\n[string repeat "+QUEUED\r\n" 5]*5\r\n"]
    assert_reads_all $c list
    assert_equal [$c read] [lindex $::texts 0]
    assert_reads_all $c set
    assert_equal [$c read] 2
    assert_equal [$c read] {}
    $c read
} PONG
check_in 2 "unwanted replies cost nothing" {
    fill list
    set before [info_field used_memory]
    set c [client_open 2]
    foreach one {{CLIENT REPLY SKIP} {LRANGE list 0 -1} PING {CLIENT REPLY OFF} {LRANGE list 0 -1} {CLIENT REPLY ON}
            {LLEN list}} {
        $c write [request $one]
    }
    assert_equal [$c read_bytes [string length "+PONG\r\n+OK\r\n:$::count\r\n"]] "+PONG\r\n+OK\r\n:$::count\r\n"
    r DEL list
    wait_until {[info_field used_memory] < $before - $::size / 2}
}
check_in 2 "a client may have many such replies; those above a number are written at once" {
    fill list
    set before [info_field used_memory]
    set c [stalled [lrepeat 66 {LRANGE list 0 -1}]]
    set taken [expr {[info_field used_memory] - $before}]
    assert {$taken > 2 * $::size - 4000000 && $taken < 8 * $::size}
    r DEL list
    for {set i 0} {$i < 66} {incr i} {
        assert_reads_all $c list
    }
    wait_until {[info_field used_memory] < 3000000 + $::spare_blocks}
}
check "an element larger than all pieces is written in parts" {
    r RPUSH list a [string repeat b 9000000] [string repeat c 7000000] d
    r HSET hash [string repeat f 3000000] [string repeat v 9000000] small 1
    set before [info_field used_memory]
    set c [stalled {{LRANGE list 0 -1} {HGETALL hash} {LRANGE list 1 1}}]
    assert {[info_field used_memory] - $before < 1000000}
    r FLUSHALL
    assert_equal [lmap text [$c read] {list [string length $text] [string index $text end]}] \
        {{1 a} {9000000 b} {7000000 c} {1 d}}
    assert_equal [lsort [lmap text [$c read] {list [string length $text] [string index $text end]}]] \
        {{1 1} {3000000 f} {5 l} {9000000 v}}
    string length [lindex [$c read] 0]
} 9000000

# --- Clients

foreach end {close kill} {
    check_in 2 "what only a reply needs is freed when its client is gone ($end)" [string map [list @end $end] {
        fill list
        set c [stalled {{LRANGE list 0 -1}}]
        r DEL list
        assert {[info_field used_memory] > $::size - 4000000}
        assert {[client_field stalled tot-mem] > $::size - 4000000}
        switch @end {
            close {$c close}
            kill {r CLIENT KILL ID [client_field stalled id]}
        }
        wait_until {[info_field used_memory] < 3000000 + $::spare_blocks}
    }]
}
check_in 2 "a client that leaves gets the whole reply first" {
    fill list
    set c [stalled {{LRANGE list 0 -1} QUIT}]
    r DEL list
    assert_reads_all $c list
    $c read_all
} "+OK\r\n"
check_in 2 "the output limits count what is queued, not what will be written" {
    fill list
    with_config {client-output-buffer-limit "normal 1mb 500kb 1"} {
        set c [stalled {{LRANGE list 0 -1}}]
        after 2500
        r PING
        assert_reads_all $c list
    }
}
check_in 2 "maxmemory-clients counts what only a client's replies need" {
    fill list
    set before [info_field evicted_clients]
    set c [stalled {{LRANGE list 0 -1}}]
    with_config {maxmemory-clients 5mb} {
        after 300
        assert_equal [info_field evicted_clients] $before
        r DEL list
        r PING
        wait_until {[info_field evicted_clients] == $before + 1}
    }
}
check_in 2 "a snapshot and replies of the same values disturb each other not" {
    fill list
    fill hash
    r CONFIG SET rdb-key-save-delay 0
    set c [stalled {{LRANGE list 0 -1} {HGETALL hash}}]
    r BGSAVE
    change list
    change hash
    wait_until {[info_field rdb_bgsave_in_progress] == 0}
    assert_equal [info_field rdb_last_bgsave_status] ok
    set digest [r DEBUG DIGEST]
    assert_reads_all $c list
    assert_reads_all $c hash
    assert_equal [r DEBUG DIGEST] $digest
}

# --- The append-only file

with_server {appendonly yes appendfsync always enable-debug-command yes} {
    check_in 2 "a large reply waits until the changes before it are safe" {
        fill list
        set c [stalled {{RPUSH list x} {LPOP list 10000} {LRANGE list 0 -1} {RPUSH list y}}]
        assert_equal [$c read] 10001
        assert_reads_all $c list
        assert_equal [$c read] x
        $c read
    } 2
}

finish
