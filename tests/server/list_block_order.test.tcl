# Which client is served when several wait: on several keys, through chains of BLMOVEs, and in pipelines.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

# --- First come, first served

check "clients are served in the order in which they came" {
    set clients [lmap i {1 2 3 4 5} {client_blocked BLPOP k 0}]
    foreach element {a b c d e} {
        r RPUSH k $element
    }
    lmap c $clients {lindex [$c read] 1}
} {a b c d e}
check "one push serves as many as it has elements" {
    set clients [lmap i {1 2 3} {client_blocked BLPOP k 0}]
    r RPUSH k a b
    set served [lmap c [lrange $clients 0 1] {$c read}]
    wait_blocked 1
    assert {[[lindex $clients 2] is_silent 20]}
    r RPUSH k c d
    list $served [[lindex $clients 2] read] [list_of k]
} {{{k a} {k b}} {k c} d}
check "a client that waits again goes to the end of the queue" {
    set first [client_blocked BLPOP k 0]
    set second [client_blocked BLPOP k 0]
    r RPUSH k a
    assert_equal [$first read] {k a}
    $first send BLPOP k 0
    wait_blocked 2
    r RPUSH k b
    assert_equal [$second read] {k b}
    r RPUSH k c
    $first read
} {k c}
check "one line holds every kind of waiting command" {
    set waiting [lmap command {
        {BRPOP k 0} {BLMPOP 0 1 k LEFT COUNT 2} {BLMOVE k dst RIGHT LEFT 0} {BLPOP k 0} {BRPOPLPUSH k dst 0}
    } {client_blocked {*}$command}]
    r RPUSH k a b c d e f g
    list [lmap c $waiting {$c read}] [list_of k] [list_of dst]
} {{{k g} {k {a b}} f {k c} e} d {e f}}
check "a waiting BLMPOP takes what there is" {
    set first [client_blocked BLMPOP 0 1 k LEFT COUNT 10]
    set second [client_blocked BLMPOP 0 1 k LEFT COUNT 10]
    r RPUSH k a b c
    assert_equal [$first read] {k {a b c}}
    r RPUSH k d
    $second read
} {k d}
check "a client that runs out of time leaves its place to the next" {
    set first [client_blocked BLPOP k 1]
    set second [client_blocked BLPOP k 0]
    assert_equal [$first read] (nil)
    wait_blocked 1
    r RPUSH k a
    $second read
} {k a}
check "a hundred clients are served in the order in which they came" {
    set clients [lmap i [numbered 1 100] {client_blocked BLPOP k 0}]
    r RPUSH k {*}[numbered 1 60]
    r RPUSH k {*}[numbered 61 105]
    assert_equal [lmap c $clients {lindex [$c read] 1}] [numbered 1 100]
    list_of k
} {101 102 103 104 105}
check "hundreds of clients on keys of their own get their own elements" {
    set clients {}
    foreach i [numbered 1 300] {
        lappend clients [client_open]
        [lindex $clients end] send BLPOP k$i shared 0
    }
    wait_blocked 300
    assert_equal [info_field total_blocking_keys] 301
    foreach i [numbered 300 300] {
        r RPUSH k$i $i
    }
    [default_client] pipeline [lmap i [numbered 1 299] {list RPUSH k$i $i}]
    assert_equal [lmap c $clients {$c read}] [lmap i [numbered 1 300] {list k$i $i}]
    wait_blocked 0
    info_field total_blocking_keys
} 0

# --- Several keys

foreach position {1 2 3} {
    check "a client that waits for three keys is woken by key $position" {
        set c [client_blocked BLPOP k1 k2 k3 0]
        r RPUSH k$position a
        $c read
    } "k$position a"
    check "a BLMPOP that waits for three keys is woken by key $position" {
        set c [client_blocked BLMPOP 0 3 k1 k2 k3 RIGHT COUNT 2]
        r RPUSH k$position a b c
        $c read
    } "k$position {c b}"
}
check "a client that was served by one key no longer waits for the others" {
    set both [client_blocked BLPOP k1 k2 0]
    set second [client_blocked BLPOP k2 0]
    r RPUSH k1 a
    assert_equal [$both read] {k1 a}
    r RPUSH k2 b
    assert_equal [$second read] {k2 b}
    r RPUSH k2 c
    list_of k2
} c
check "each key has a line of its own" {
    set first [client_blocked BLPOP k1 0]
    set both [client_blocked BLPOP k1 k2 0]
    set second [client_blocked BLPOP k2 k1 0]
    r RPUSH k2 a
    assert_equal [$both read] {k2 a}
    r RPUSH k1 b c
    list [$first read] [$second read] [r EXISTS k1 k2]
} {{k1 b} {k1 c} 0}
foreach {command reply} {
    {BLPOP k k 0} {k a} {BRPOP k j k j k 0} {k a} {BLMPOP 0 3 k k k LEFT} {k a}
    {BLMPOP 0 2 k k LEFT COUNT 5} {k a}
} {
    check "the same key several times in $command is served once" {
        set c [client_blocked {*}$command]
        r RPUSH k a
        assert_equal [$c read] $reply
        wait_blocked 0
        r RPUSH k b
        list [list_of k] [$c is_silent 10] [info_field total_blocking_keys]
    } {b 1 0}
    check "the same key several times in $command ends at its time" {
        set timed [lreplace $command [expr {[lindex $command 0] eq "BLMPOP" ? 1 : "end"}] \
            [expr {[lindex $command 0] eq "BLMPOP" ? 1 : "end"}] 0.01]
        assert_equal [r {*}$timed] (nil)
        r RPUSH k b
        list [list_of k] [info_field total_blocking_keys]
    } {b 0}
}
check "a client may wait for a thousand keys" {
    set keys [numbered 1 1000 k]
    foreach key {k1 k500 k1000} {
        set c [client_blocked BLPOP {*}$keys 0]
        assert_equal [info_field total_blocking_keys] 1000
        r RPUSH $key a
        assert_equal [$c read] "$key a"
    }
    wait_blocked 0
    info_field total_blocking_keys
} 0

# --- BLMOVE to lists that others wait for

check "a chain of BLMOVEs is run through by one push" {
    set chain [lmap i {1 2 3 4} {client_blocked BLMOVE k$i k[expr {$i + 1}] LEFT RIGHT 0}]
    set last [client_blocked BLPOP k5 0]
    r RPUSH k1 a
    list [lmap c $chain {$c read}] [$last read] [r EXISTS k1 k2 k3 k4 k5]
} {{a a a a} {k5 a} 0}
check "a chain of BLMOVEs that was built from its end is run through by one push" {
    set last [client_blocked BLPOP k5 0]
    set chain [lmap i {4 3 2 1} {client_blocked BLMOVE k$i k[expr {$i + 1}] LEFT RIGHT 0}]
    r RPUSH k1 a b
    list [lmap c $chain {$c read}] [$last read] [list_of k1]
} {{a a a a} {k5 a} b}
check "a chain of fifty BRPOPLPUSHes is run through by one push" {
    set chain [lmap i [numbered 1 50] {client_blocked BRPOPLPUSH k$i k[expr {$i + 1}] 0}]
    r RPUSH k1 a
    assert_equal [lmap c $chain {$c read}] [lrepeat 50 a]
    list [r DBSIZE] [list_of k51]
} {1 a}
check "BLMOVEs in a circle come to rest" {
    set there [client_blocked BLMOVE k1 k2 LEFT RIGHT 0]
    set back [client_blocked BLMOVE k2 k1 LEFT RIGHT 0]
    r RPUSH k1 a
    list [$there read] [$back read] [list_of k1] [r EXISTS k2]
} {a a a 0}
check "a BLMOVE onto its own list leaves the element there" {
    set rotating [client_blocked BLMOVE k k LEFT RIGHT 0]
    r RPUSH k a b c
    list [$rotating read] [list_of k]
} {a {b c a}}
check "two BLMOVEs onto their own list are served by one element" {
    set first [client_blocked BRPOPLPUSH k k 0]
    set second [client_blocked BRPOPLPUSH k k 0]
    set third [client_blocked BLPOP k 0]
    r RPUSH k a
    list [$first read] [$second read] [$third read] [r EXISTS k]
} {a a {k a} 0}
check "a list that forks serves both branches" {
    set one [client_blocked BLMOVE k k1 LEFT LEFT 0]
    set two [client_blocked BLMOVE k k2 LEFT LEFT 0]
    set end1 [client_blocked BLPOP k1 0]
    set end2 [client_blocked BLPOP k2 0]
    r RPUSH k a b
    lmap c [list $one $two $end1 $end2] {$c read}
} {a b {k1 a} {k2 b}}

# --- Pipelines

check "commands behind a waiting one run after it" {
    set c [client_open]
    $c write [request {BLPOP k 0}][request {SET x 1}][request {GET x}][request {RPUSH k b}]
    wait_blocked 1
    assert_equal [r EXISTS x] 0
    assert {[$c is_silent 20]}
    r RPUSH k a
    list [$c read] [$c read] [$c read] [$c read] [list_of k]
} {{k a} OK 1 1 b}
check "replies before a waiting command arrive while it waits" {
    set c [client_open]
    $c write [request {PING}][request {RPUSH j x}][request {BLPOP k 0}]
    list [$c read] [$c read] [r RPUSH k a] [$c read]
} {PONG 1 1 {k a}}
check "several waiting commands of one pipeline are served one after another" {
    set c [client_open]
    $c write [request {BLPOP k 0}][request {BRPOP k 0}][request {BLMOVE k dst LEFT LEFT 0}][request {PING}]
    wait_blocked 1
    r RPUSH k a
    assert_equal [$c read] {k a}
    wait_blocked 1
    r RPUSH k b c
    list [$c read] [$c read] [$c read] [list_of dst]
} {{k c} b PONG b}
check "a pipeline goes on when its waiting command ran out of time" {
    set c [client_open]
    $c write [request {BLPOP k 0.02}][request {PING}]
    list [$c read] [$c read]
} {(nil) PONG}
check "a pipeline of commands that need not wait is answered at once" {
    r RPUSH k {*}[numbered 1 100]
    lmap pair [[default_client] pipeline [lrepeat 100 {BLPOP k 0}]] {lindex $pair 1}
} [numbered 1 100]
check "requests that arrive while the client waits run after it" {
    set c [client_blocked BLPOP k 0]
    $c send SET x 1
    $c write "*2\r\n\$4\r\nEC"
    $c write "HO\r\n\$2\r\nhi\r\n"
    $c send GET x
    assert {[$c is_silent 20] && [r EXISTS x] == 0}
    r RPUSH k a
    list [$c read] [$c read] [$c read] [$c read]
} {{k a} OK hi 1}
check "a request that is cut by the wait is completed after it" {
    set c [client_open]
    $c write "[request {BLPOP k 0}]*2\r\n\$4\r\nECHO\r\n\$5\r\nhe"
    wait_blocked 1
    r RPUSH k a
    assert_equal [$c read] {k a}
    $c write "llo\r\n"
    $c read
} hello
check "a megabyte of requests behind a waiting one is kept" {
    set c [client_open]
    set value [string repeat v 1000]
    set rest ""
    foreach i [numbered 1 1000] {
        append rest [request [list RPUSH big $value$i]]
    }
    $c write [request {BLPOP k 0}]$rest
    wait_blocked 1
    assert_equal [r EXISTS big] 0
    r RPUSH k a
    assert_equal [$c read] {k a}
    assert_equal [lmap i [numbered 1 1000] {$c read}] [numbered 1 1000]
    r LINDEX big 999
} [string repeat v 1000]1000
check "waiting clients serve each other from their pipelines" {
    set one [client_open]
    set two [client_open]
    $one write [request {BLPOP ping 0}][request {RPUSH pong b}]
    wait_blocked 1
    $two write [request {RPUSH ping a}][request {BLPOP pong 0}]
    list [$one read] [$one read] [$two read] [$two read]
} {{ping a} 1 1 {pong b}}

finish
