# Large arguments: each is read into a string of its own, which SET and the like take over as the value.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-debug-command yes}

# A text in which no piece is like another.
proc text_of {size {seed 0}} {
    set words {}
    for {set i 0} {$i <= $size / 8} {incr i} {
        lappend words [format "%08x" [expr {$seed + $i}]]
    }
    return [string range [join $words {}] 0 $size-1]
}

proc reads {} {
    return [info_field total_reads_processed]
}

# Writes the pieces into which the positions cut the bytes; the server has read each before the next one is sent.
proc write_cut {client bytes positions} {
    set from 0
    foreach to [concat $positions [string length $bytes]] {
        set before [reads]
        $client write [string range $bytes $from $to-1]
        wait_until {[reads] > $before + 1}
        set from $to
    }
}

# --- What is stored

foreach size {65535 65536 65537 1048575 1048577 3000000} {
    check "SET stores a text of $size bytes" [string map [list @ $size] {
        set text [text_of @]
        r SET k $text
        assert {[r GET k] eq $text}
        r SET k small
        r SET k $text
        assert {[r GET k] eq $text}
        list [r STRLEN k] [r OBJECT ENCODING k] [r DBSIZE]
    }] [list $size raw 1]
}
check "a large argument may be cut anywhere" {
    set text [text_of 100000]
    set bytes [request [list SET k $text EX 1000]][request {GET k}][request PING]
    set begin [expr {[string first $text $bytes]}]
    set end [expr {$begin + 100000}]
    set client [client_open]
    set all [string length $bytes]
    foreach cut [list 5 [expr {$begin - 1}] $begin [expr {$begin + 1}] 70000 [expr {$end - 1}] $end [expr {$end + 1}] \
            [expr {$end + 2}] [expr {$end + 3}] [expr {$end + 20}] [expr {$all - 1}]] {
        write_cut $client $bytes [list $cut]
        assert_equal [$client read] OK
        assert {[$client read] eq $text}
        assert_equal [$client read] PONG
        assert_equal [r TTL k] 1000
        r DEL k
    }
    write_cut $client $bytes [list 20 $begin 40000 80000 [expr {$end + 1}] [expr {$end + 4}]]
    assert_equal [$client read] OK
    list [expr {[$client read] eq $text}] [$client read]
} {1 PONG}
check "large arguments follow each other, in requests and in one request" {
    set client [client_open]
    set texts [lmap seed {1 100000 200000 300000} {text_of 150000 $seed}]
    lassign $texts a b c d
    $client write [request [list SET a $a]]
    $client write [request [list MSET b $b c $c d $d]][request [list MSET e $a e $b]][request PING]
    assert_equal [list [$client read] [$client read] [$client read] [$client read]] {OK OK OK PONG}
    foreach key {a b c d e} text [list $a $b $c $d $b] {
        assert {[r GET $key] eq $text}
    }
}

# --- Commands that take it over, and others

foreach {what setup request reply value} {
    "SET of a new key"           {}                {SET k @}                OK    @
    "SET over a string"          {r SET k old}     {SET k @}                OK    @
    "SET over a large string"    {r SET k [text_of 100000 7]} {SET k @}     OK    @
    "SET over a list"            {r RPUSH k a}     {SET k @}                OK    @
    "SET with options"           {}                {SET k @ NX PX 100000}   OK    @
    "SET with a time in the past" {}               {SET k @ PXAT 1}         OK    (nil)
    "SET KEEPTTL"                {r SET k o EX 99} {SET k @ KEEPTTL}        OK    @
    "SET GET"                    {r SET k old}     {SET k @ GET}            old   @
    "SET that is refused"        {r SET k old}     {SET k @ NX}             (nil) old
    "SETNX"                      {}                {SETNX k @}              1     @
    "SETNX that is refused"      {r SET k old}     {SETNX k @}              0     old
    "SETEX"                      {}                {SETEX k 1000 @}         OK    @
    "GETSET"                     {r SET k old}     {GETSET k @}             old   @
    "MSET"                       {}                {MSET k a k @}           OK    @
    "MSET, replaced at once"     {}                {MSET k @ k b}           OK    b
    "MSET, replaced by as much"  {}                {MSET k @ k @}           OK    @
    "MSETNX"                     {}                {MSETNX k @}             1     @
    "APPEND to nothing"          {}                {APPEND k @}             100000 @
    "APPEND to a string"         {r SET k ab}      {APPEND k @}             100002 ab@
    "SETRANGE"                   {}                {SETRANGE k 0 @}         100000 @
    "a large key"                {}                {SET @ v}                OK    (nil)
} {
    foreach aof {no yes} {
        check "$what (appendonly $aof)" [string map [list %setup $setup %request $request %value $value %aof $aof] {
            set text [text_of 100000]
            with_config {appendonly %aof lazyfree-lazy-server-del %aof} {
                wait_until {[info_field aof_rewrite_in_progress] == 0 && [info_field aof_rewrite_scheduled] == 0}
                %setup
                set reply [r {*}[string map [list @ $text] {%request}]]
                set expected [string map [list @ $text] {%value}]
                assert {[r GET k] eq $expected}
                if {"%aof"} {
                    r DEBUG LOADAOF
                    assert {[r GET k] eq $expected}
                }
            }
            set reply
        }] $reply
    }
}
check "in a transaction, and while clients are paused, a large argument waits" {
    set text [text_of 200000]
    r MULTI
    r SET k $text
    r SET k $text
    assert_equal [r EXEC] {OK OK}
    assert {[r GET k] eq $text}
    set client [client_open]
    r CLIENT PAUSE 100000 WRITE
    $client send SET other $text
    wait_until {[info_field blocked_clients] == 1}
    r CLIENT UNPAUSE
    assert_equal [$client read] OK
    expr {[r GET other] eq $text}
} 1
check "a list copies a large argument" {
    set text [text_of 200000]
    r RPUSH l $text
    r RPUSH l a $text b
    list [expr {[r LINDEX l 0] eq $text}] [expr {[r LINDEX l 2] eq $text}] [r LLEN l]
} {1 1 4}
check "a snapshot that is being written keeps the value before" {
    set before [text_of 200000 1]
    set after [text_of 200000 2]
    r SET k $before
    r BGSAVE
    r SET k $after
    wait_until {[info_field rdb_bgsave_in_progress] == 0}
    assert {[r GET k] eq $after}
    r DEBUG RELOAD NOSAVE
    expr {[r GET k] eq $before}
} 1

# --- What it costs

check_in 2 "a large value is never in memory twice" {
    with_server {} {
        set size 100000000
        set client [client_open]
        set before [reads]
        $client write "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$$size\r\n"
        for {set i 0} {$i < 100} {incr i} {
            $client write [string repeat [format %c $i] 1000000]
        }
        $client write "\r\n"
        assert_equal [$client read] OK
        regexp {VmHWM:\s*(\d+) kB} [read_file /proc/[$::current_server pid]/status] _ peak
        assert {$peak * 1024 < $size * 3 / 2}
        # No read takes more than 256 KB.
        assert {[reads] - $before > $size / 262144}
        list [r STRLEN k] [r GETRANGE k 999999 1000000] [r GETRANGE k 99999999 -1]
    }
} [list 100000000 "\x00\x01" c]
check_in 2 "an announcement alone costs little memory" {
    set clients {}
    set before [info_field used_memory]
    for {set i 0} {$i < 10} {incr i} {
        set client [client_open]
        $client write "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$500000000\r\n[string repeat x 100000]"
        lappend clients $client
    }
    wait_until {[regexp -all {qbuf=100\d\d\d } [r CLIENT LIST]] == 10}
    expr {[info_field used_memory] - $before < 10 * 3000000}
} 1

# --- Connections that end in the middle of it

check_in 2 "client-query-buffer-limit closes a client within a large argument" {
    with_config {client-query-buffer-limit 1mb} {
        set client [client_open]
        $client write "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$5000000\r\n[string repeat x 900000]"
        wait_until {[string match {* qbuf=900*} [r CLIENT LIST]]}
        catch {$client write [string repeat x 300000]}
        $client is_closed
    }
} 1
check_in 2 "a client that ends, or is ended, within a large argument leaves nothing" {
    set before [info_field used_memory]
    foreach way {close kill} {
        set client [client_open]
        set id [$client call CLIENT ID]
        $client write "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$5000000\r\n[string repeat x 4000000]"
        wait_until {[regexp "id=$id .* qbuf=400\\d\\d\\d\\d " [r CLIENT LIST]]}
        if {$way eq "close"} {
            $client close
        } else {
            r CLIENT KILL ID $id
        }
        wait_until {![string match "*id=$id *" [r CLIENT LIST]]}
    }
    wait_until {[info_field used_memory] - $before < 500000}
    r EXISTS k
} 0

finish
