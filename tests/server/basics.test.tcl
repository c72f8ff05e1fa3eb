# The first things every client does: PING, ECHO, SELECT, inline requests, pipelines, requests in pieces.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

check "PING without an argument is answered by a simple string" {typed PING} {simple PONG}
check "PING returns its argument as a bulk string" {typed PING "a\x00\r\nb"} "bulk {a\x00\r\nb}"
check "a command's name is known in any case" {list [r ping] [r PiNg]} {PONG PONG}
check_error "PING takes one argument at most" {r PING a b} \
    "ERR wrong number of arguments for 'ping' command"

check "ECHO returns its argument" {typed ECHO hello} {bulk hello}
check "ECHO returns an empty argument" {typed ECHO ""} {bulk {}}
check "ECHO returns every byte unchanged" {
    set bytes ""
    for {set i 0} {$i < 256} {incr i} {
        append bytes [format %c $i]
    }
    assert_equal [r ECHO $bytes] $bytes
}
check "ECHO returns arguments of any size unchanged" {
    foreach size {1 15 16 31 32 1023 16383 16384 32767 32768 65535 65536 1000000 5000000} {
        set bytes [string repeat x $size]
        assert {[r ECHO $bytes] eq $bytes}
    }
}
check_error "ECHO needs an argument" {r ECHO} "ERR wrong number of arguments for 'echo' command"
check "a NUL in a command's name does not end it, however long it is" {
    r GET key
    set name "GET\0[string repeat x 50000000]"
    assert {[string match "ERR unknown command 'GET*" [error_of {r $name key}]]}
    r PING
} PONG
check_error "an unknown command is named with its first arguments" {r NOSUCH a b} \
    "ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' "

check "SELECT switches to another database" {
    r SET key zero
    assert_equal [r SELECT 1] OK
    assert_equal [r GET key] (nil)
    r SET key one
    r SELECT 0
    r GET key
} zero
check_error "SELECT refuses an index beyond the databases" {r SELECT 16} "ERR DB index is out of range"
check_error "SELECT refuses a negative index" {r SELECT -1} "ERR DB index is out of range"
check_error "SELECT refuses what is no number" {r SELECT abc} "ERR value is not an integer or out of range"

check "an inline request is answered" {
    set c [client_open]
    $c write "PING\r\n"
    $c read
} PONG
check "an inline request may end with a bare line feed and hold blanks" {
    set c [client_open]
    $c write "  ECHO \t word \n"
    $c read
} word
check "an inline request may quote its arguments" {
    set c [client_open]
    $c write "ECHO \"a b\\x41\\n\\\"\"\r\nECHO 'it\\'s'\r\n"
    list [$c read] [$c read]
} [list "a bA\n\"" it's]
check "empty lines between requests are skipped" {
    set c [client_open]
    $c write "\r\n\r\nPING\r\n"
    assert_equal [$c read] PONG
    $c is_silent
} 1
check "an empty request is skipped" {
    set c [client_open]
    $c write "*0\r\nPING\r\n"
    $c read
} PONG
check "unbalanced quotes in an inline request close the connection after an error" {
    set c [client_open]
    $c write "ECHO \"abc\r\n"
    list [$c read_typed] [$c is_closed]
} {{error {ERR Protocol error: unbalanced quotes in request}} 1}

check "a pipeline is answered in order" {
    set requests {}
    set expected {}
    for {set i 0} {$i < 10000} {incr i} {
        lappend requests [list ECHO $i]
        lappend expected $i
    }
    assert {[[client_open] pipeline $requests] eq $expected}
}
check "a pipeline goes on after an error reply" {
    [client_open] pipeline {{PING} {NOSUCH} {PING}}
} {PONG {(error) ERR unknown command 'NOSUCH', with args beginning with: } PONG}
check "inline and multibulk requests mix in a pipeline" {
    set c [client_open]
    $c write "PING\r\n[request {ECHO a}]ECHO b\r\n[request {ECHO c}]"
    list [$c read] [$c read] [$c read] [$c read]
} {PONG a b c}
check "a request split at any byte is answered" {
    set bytes [request [list ECHO "ab\r\ncd"]]
    for {set cut 1} {$cut < [string length $bytes]} {incr cut} {
        set c [client_open]
        $c write [string range $bytes 0 [expr {$cut - 1}]]
        r PING
        $c write [string range $bytes $cut end]
        assert_equal [$c read] "ab\r\ncd"
        $c close
    }
}
check "a pipeline sent byte by byte is answered" {
    set c [client_open]
    foreach byte [split "[request {PING}]ECHO x\r\n[request {ECHO {}}]" ""] {
        $c write $byte
    }
    list [$c read] [$c read] [$c read]
} {PONG x {}}
check "a large argument that arrives in pieces is answered, and so is what follows" {
    set text [string repeat 0123456789abcdef 20000]
    set c [client_open]
    set bytes "[request [list ECHO $text]][request PING]"
    foreach {from to} {0 10 11 40000 40001 200000 200001 end} {
        $c write [string range $bytes $from $to]
        r PING
    }
    assert {[$c read] eq $text}
    $c read
} PONG

check "QUIT is answered before the connection closes" {
    set c [client_open]
    $c send QUIT
    list [$c read] [$c is_closed]
} {OK 1}

finish
