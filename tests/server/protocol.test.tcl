# The protocol: requests in pieces, in pipelines, and invalid ones.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

puts "seed: $seed"

# Sends bytes that break the protocol: {typed reply, closed?}.
proc broken {bytes} {
    set c [client_open 2]
    catch {$c write $bytes}
    set reply [$c read_typed]
    return [list $reply [$c is_closed]]
}

proc protocol_error {text} {
    return [list [list error "ERR Protocol error: $text"] 1]
}

# Sends the bytes in two parts; the server has read the first one before the second one is sent.
proc write_cut {c bytes cut} {
    $c write [string range $bytes 0 [expr {$cut - 1}]]
    r PING
    $c write [string range $bytes $cut end]
}

# --- Malformed requests

check_in 2 "a malformed count is a protocol error" {
    foreach count {abc "" 1a 2147483648 99999999999 9223372036854775808 " 1" 1.0 +1} {
        assert_equal [broken "*$count\r\nPING\r\n"] [protocol_error "invalid multibulk length"]
    }
}
check_in 2 "a malformed length is a protocol error" {
    foreach length {abc "" -1 -5 1a 536870913 9223372036854775808 " 1" +4} {
        assert_equal [broken "*1\r\n\$$length\r\nPING\r\n"] [protocol_error "invalid bulk length"]
    }
}
check_in 2 "an argument must begin with a dollar" {
    assert_equal [broken "*1\r\nPING\r\n"] [protocol_error "expected '$', got 'P'"]
    assert_equal [broken "*2\r\n\$4\r\nECHO\r\n:5\r\n"] [protocol_error "expected '$', got ':'"]
    assert_equal [broken "*1\r\n*1\r\n"] [protocol_error "expected '$', got '*'"]
}
check_in 2 "a header that does not end is a protocol error" {
    set digits [string repeat 1 70000]
    assert_equal [broken "*$digits"] [protocol_error "too big mbulk count string"]
    assert_equal [broken "*1\r\n\$$digits"] [protocol_error "too big bulk count string"]
}
check_in 2 "an inline request that does not end is a protocol error" {
    broken [string repeat x 70000]
} [protocol_error "too big inline request"]
check_in 2 "an inline request of 60 KB is served" {
    set c [client_open]
    set word [string repeat x 60000]
    $c write "ECHO $word\r\n"
    assert {[$c read] eq $word}
}
check_in 2 "unbalanced quotes are a protocol error" {
    foreach line {{"PING} {PING "a} {PING 'a} {PING "a"b} {PING 'a'b} {PING "a\"}} {
        assert_equal [broken "$line\r\n"] [protocol_error "unbalanced quotes in request"]
    }
}
check_in 2 "random bytes do no harm" {
    expr {srand($seed)}
    for {set i 0} {$i < ([info exists ::env(PACKLIST_SOAK)] ? 6000 : 60)} {incr i} {
        set bytes [lindex {* $ *3\r\n$ "" "*1\r\n\$4\r\nPING\r\n"} [expr {$i % 5}]]
        set bytes [subst -nocommands -novariables $bytes]
        for {set j 0} {$j < 200} {incr j} {
            append bytes [format %c [expr {int(rand() * 256)}]]
        }
        set c [client_open]
        catch {$c write $bytes}
        $c close
    }
    r PING
} PONG
check "replies before a protocol error arrive, requests behind it do not run" {
    set c [client_open 2]
    $c write "[request {RPUSH l a}]*x\r\n[request {RPUSH l b}]"
    assert_equal [$c read] 1
    assert_equal [$c read_typed] {error {ERR Protocol error: invalid multibulk length}}
    assert {[$c is_closed]}
    r LRANGE l 0 -1
} a
check_in 2 "a protocol error is found wherever the bytes are cut" {
    set bytes "[request PING]*2\r\n\$4\r\nECHO\r\n!3\r\n"
    for {set cut 1} {$cut < [string length $bytes]} {incr cut} {
        set c [client_open]
        write_cut $c $bytes $cut
        assert_equal [$c read] PONG
        assert_equal [$c read_typed] {error {ERR Protocol error: expected '$', got '!'}}
        assert {[$c is_closed]}
        $c close
    }
}
check "requests of no arguments are skipped" {
    set c [client_open]
    $c write "*0\r\n*-1\r\n*-5\r\n\r\n   \r\n*0\r\n[request PING]"
    assert_equal [$c read] PONG
    $c is_silent 20
} 1
check "proto-max-bulk-len limits one argument" {
    with_config {proto-max-bulk-len 1mb} {
        set c [client_open]
        set text [string repeat x 1048576]
        assert {[$c call ECHO $text] eq $text}
        assert_equal [broken "*2\r\n\$4\r\nECHO\r\n\$1048577\r\n"] [protocol_error "invalid bulk length"]
    }
}
check_in 2 "before AUTH requests must be small" {
    with_server {requirepass secret} {
        assert_equal [broken "*11\r\n"] [protocol_error "unauthenticated multibulk length"]
        assert_equal [broken "*2\r\n\$4\r\nAUTH\r\n\$16385\r\n"] [protocol_error "unauthenticated bulk length"]
        set c [client_open]
        assert_equal [$c typed ECHO 1 2 3 4 5 6 7 8 9] {error {NOAUTH Authentication required.}}
        assert_equal [$c typed ECHO [string repeat x 16384]] {error {NOAUTH Authentication required.}}
        # In one go with AUTH it is already authenticated.
        $c write "[request {AUTH secret}][request [list ECHO [string repeat x 20000]]]"
        assert_equal [$c read] OK
        string length [$c read]
    }
} 20000

# --- Not for us

check_in 2 "HTTP is cut off without an answer, and what follows does not run" {
    foreach first {"POST / HTTP/1.1" "post /x HTTP/1.0" "Host: localhost" "host: evil"} {
        set c [client_open]
        $c write "$first\r\n[request {SET hacked 1}]SET hacked 1\r\n"
        assert {[$c is_closed]}
    }
    set c [client_open]
    $c write "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nSET hacked 1\r\n"
    # The answer to GET may or may not come before the end.
    catch {$c read_all}
    set c [client_open]
    $c write [request {POST /}][request {SET hacked 1}]
    assert {[$c is_closed]}
    r EXISTS hacked
} 0

# --- Cut and joined

check "any mixture of requests is answered however it is cut in two" {
    set bytes "[request {RPUSH l {} a}]PING\r\n*0\r\n[request [list ECHO "x\r\n\$1\r\n"]]ECHO \"q \\x41\"\n\r\n"
    append bytes [request {NOSUCH}][request {LRANGE l 0 -1}][request {DEL l}]
    set expected [list {int 2} {simple PONG} [list bulk "x\r\n\$1\r\n"] {bulk {q A}} \
        {error {ERR unknown command 'NOSUCH', with args beginning with: }} {array {{bulk {}} {bulk a}}} {int 1}]
    set c [client_open]
    for {set cut 1} {$cut < [string length $bytes]} {incr cut} {
        write_cut $c $bytes $cut
        foreach reply $expected {
            assert_equal [$c read_typed] $reply
        }
    }
}
check_in 2 "a request with many arguments may come in pieces of any size" {
    set elements {}
    for {set i 0} {$i < 2000} {incr i} {
        lappend elements element:$i
    }
    set bytes [request [list RPUSH l {*}$elements]]
    foreach piece {1000 4096 16384} {
        set c [client_open]
        for {set at 0} {$at < [string length $bytes]} {incr at $piece} {
            $c write [string range $bytes $at [expr {$at + $piece - 1}]]
            r PING
        }
        assert_equal [$c read] 2000
        assert {[r LRANGE l 0 -1] eq $elements}
        r DEL l
    }
}
check_in 2 "many connections may be in the middle of a request at the same time" {
    set bytes [request {ECHO abcdefghij}]
    set clients {}
    for {set i 1} {$i < [string length $bytes]} {incr i} {
        set c [client_open]
        $c write [string range $bytes 0 [expr {$i - 1}]]
        lappend clients $c [string range $bytes $i end]
    }
    r PING
    foreach {c rest} [lreverse $clients] {}
    foreach {c rest} $clients {
        $c write $rest
    }
    foreach {c rest} $clients {
        assert_equal [$c read] abcdefghij
    }
}
check_in 2 "a pipeline of 100,000 requests is answered in order" {
    set bytes ""
    set expected ""
    for {set i 0} {$i < 100000} {incr i} {
        append bytes "*2\r\n\$4\r\nECHO\r\n\$6\r\n[format %06d $i]\r\n"
        append expected "\$6\r\n[format %06d $i]\r\n"
    }
    set c [client_open]
    $c write $bytes
    assert {[$c read_bytes [string length $expected]] eq $expected}
    $c is_silent 20
} 1
check_in 2 "a pipeline of 100,000 inline requests is answered" {
    set c [client_open]
    $c write [string repeat "PING\r\n" 100000]
    assert {[$c read_bytes 700000] eq [string repeat "+PONG\r\n" 100000]}
}
check_in 2 "a pipeline of 100,000 pushes and pops loses nothing" {
    set c [client_open]
    $c write [string repeat [request {RPUSH l abc}] 100000]
    for {set i 1; set size 0} {$i <= 100000} {incr i} {
        incr size [expr {[string length $i] + 3}]
    }
    assert {[string match "*:99999\r\n:100000\r\n" [$c read_bytes $size]]}
    $c write [string repeat [request {LPOP l}] 100000]
    assert {[$c read_bytes 900000] eq [string repeat "\$3\r\nabc\r\n" 100000]}
    r EXISTS l
} 0
check_in 2 "an error in a deep pipeline is one reply among the others" {
    set c [client_open]
    $c write [string repeat "[request PING][request NOSUCH][request {GET}]" 3000]
    set part "+PONG\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n"
    append part "-ERR wrong number of arguments for 'get' command\r\n"
    assert {[$c read_bytes [expr {3000 * [string length $part]}]] eq [string repeat $part 3000]}
}

# --- Big arguments

check_in 2 "arguments from 0 bytes to 64 MB come and go unchanged" {
    set c [client_open]
    foreach size {0 1 100 4095 16383 16384 16385 32766 32767 32768 32769 65535 65536 131072 1048576 16777216
                  67108864} {
        set text [string repeat 0123456789abcdef [expr {$size / 16}]][string repeat y [expr {$size % 16}]]
        $c send SET k $text
        $c send GET k
        assert_equal [$c read] OK
        assert {[$c read] eq $text}
    }
}
check_in 2 "big arguments may stand beside small ones and in a pipeline" {
    set big [string repeat 0123456789 50000]
    set c [client_open]
    $c write [string repeat [request [list RPUSH l a $big b ""]] 5][request {LLEN l}][request PING]
    assert_equal [lmap _ {1 2 3 4 5 6 7} {$c read}] {4 8 12 16 20 20 PONG}
    assert {[r LRANGE l 0 3] eq [list a $big b ""]}
}
check_in 2 "a big argument may come slowly, in pieces" {
    set text [string repeat 0123456789abcdef 8192]
    set bytes [request [list RPUSH l $text tail]][request PING]
    set c [client_open]
    for {set at 0} {$at < [string length $bytes]} {incr at 9973} {
        $c write [string range $bytes $at [expr {$at + 9972}]]
        r PING
    }
    assert_equal [list [$c read] [$c read]] {2 PONG}
    assert {[r LINDEX l 0] eq $text}
}
check_in 2 "what was announced is not believed before it comes" {
    set before [info_field used_memory]
    set clients {}
    for {set i 0} {$i < 20} {incr i} {
        set c [client_open]
        $c write "*1000000\r\n\$500000000\r\nabc"
        lappend clients $c
    }
    r PING
    expr {[info_field used_memory] - $before < 20 * 2000000}
} 1

# --- Limits and deaths

check_in 2 "client-query-buffer-limit cuts off a client that sends more than it for one request" {
    with_config {client-query-buffer-limit 1mb} {
        set before [info_field client_query_buffer_limit_disconnections]
        set c [client_open]
        catch {$c write "*2\r\n\$4\r\nECHO\r\n\$3000000\r\n[string repeat x 2500000]"}
        assert {[$c is_closed]}
        assert_equal [expr {[info_field client_query_buffer_limit_disconnections] - $before}] 1
        set c [client_open]
        set text [string repeat x 900000]
        assert {[$c call ECHO $text] eq $text}
        # Pipelines are not one request.
        $c write [string repeat [request [list SET k [string repeat x 10000]]] 500]
        assert {[$c read_bytes 2500] eq [string repeat "+OK\r\n" 500]}
    }
}
check_in 2 "client-query-buffer-limit does not count the complete arguments of a request" {
    with_config {client-query-buffer-limit 1mb} {
        foreach {count length} {20000 200 100 40000 5 1000000} {
            set arguments MSET
            for {set i 0} {$i < $count} {incr i} {
                lappend arguments k$i [string repeat x $length]
            }
            assert_equal [r {*}$arguments] OK
        }
    }
}
check_in 2 "client-query-buffer-limit holds for each argument with its line break" {
    with_config {client-query-buffer-limit 1mb} {
        set limit 1048576
        assert_equal [string length [r ECHO [string repeat x [expr {$limit - 2}]]]] [expr {$limit - 2}]
        foreach length {1048575 1048576 1100000} {
            set before [info_field client_query_buffer_limit_disconnections]
            set c [client_open]
            catch {$c write [request [list SET k [string repeat x $length]]]}
            assert {[$c is_closed]}
            assert_equal [info_field client_query_buffer_limit_disconnections] [expr {$before + 1}]
        }
        r EXISTS k
    }
} 0
check_in 2 "client-query-buffer-limit holds for what MULTI has queued, with the next argument" {
    with_config {client-query-buffer-limit 1mb} {
        set text [string repeat x 500000]
        r MULTI
        r SET k $text
        r SET k $text
        assert_equal [r EXEC] {OK OK}
        r MULTI
        r SET k $text
        set before [info_field client_query_buffer_limit_disconnections]
        catch {r SET k $text$text}
        assert_equal [info_field client_query_buffer_limit_disconnections] [expr {$before + 1}]
        set c [client_open]
        set small [request [list SET k [string repeat x 100]]]
        catch {$c write "[request MULTI][string repeat $small 20000][request EXEC]"}
        catch {$c read_all}
        assert_equal [info_field client_query_buffer_limit_disconnections] [expr {$before + 2}]
        string length [$::current_server control GET k]
    }
} 500000
check_in 2 "client-query-buffer-limit holds for all that a blocked client sends" {
    with_config {client-query-buffer-limit 1mb} {
        set c [client_blocked BLPOP l 0]
        $c write [string repeat [request {SET k x}] 1000]
        set before [info_field client_query_buffer_limit_disconnections]
        catch {$c write [string repeat [request [list SET k [string repeat x 1000]]] 2000]}
        assert {[$c is_closed]}
        expr {[info_field client_query_buffer_limit_disconnections] - $before}
    }
} 1
check_in 2 "a client that dies within a request leaves nothing behind" {
    set before [info_field used_memory]
    set bytes [request [list RPUSH l [string repeat x 100000] [string repeat y 3000000]]]
    foreach length {1 5 20 100 50000 100030 2000000 3100000} {
        set c [client_open]
        $c write [string range $bytes 0 [expr {$length - 1}]]
        r PING
        $c close
    }
    wait_until {[info_field connected_clients] == 2}
    assert_equal [r EXISTS l] 0
    wait_until {[info_field used_memory] - $before < 1000000 + $spare_blocks}
}
check_in 2 "what a client sent before it died is done" {
    for {set i 0} {$i < 20} {incr i} {
        set c [client_open]
        $c write [string repeat [request {RPUSH l a}] 50]
        $c close
    }
    wait_until {[r LLEN l] == 1000}
}
check_in 2 "a client that dies before its replies disturbs no other" {
    r SET big [string repeat x 1000000]
    for {set i 0} {$i < 10} {incr i} {
        set c [client_open]
        $c write [string repeat [request {GET big}] 20]
        $c close
    }
    r PING
    wait_until {[info_field connected_clients] == 2}
}

finish
