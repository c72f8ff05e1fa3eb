# The tools that everyone has: redis-cli and redis-benchmark.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# redis-cli with a text on its standard input.
proc cli_with_input {text args} {
    set path [$::current_server folder]/input
    write_file $path $text
    return [exec redis-cli -p [$::current_server port] {*}$args < $path 2>@1]
}

check_in 2 "redis-cli runs a command given as its arguments" {
    list [cli RPUSH l a b c] [cli LRANGE l 0 -1] [cli LLEN l] [cli LPOP nosuch]
} "3 {a\nb\nc} 3 {}"
check_in 2 "redis-cli speaks RESP3" {
    list [cli -3 RPUSH l a b] [cli -3 LRANGE l 0 -1] [cli -3 GET nosuch] [lindex [cli -3 HELLO] 0]
} "2 {a\nb} {} server"
check_in 2 "redis-cli runs commands from its standard input" {
    cli_with_input "RPUSH l one \"two words\"\nLRANGE l 0 -1\nNOSUCH\nPING\n"
} "2\none\ntwo words\nERR unknown command 'NOSUCH', with args beginning with: \n\nPONG"
check_in 2 "redis-cli reads its last argument from standard input" {
    cli_with_input "a\nb" -x SET k
    r GET k
} "a\nb"
check_in 2 "redis-cli selects a database and repeats a command" {
    cli -n 3 -r 5 RPUSH l x
    r SELECT 3
    r LLEN l
} 5
check_in 2 "redis-cli logs in" {
    with_server {requirepass secret} {
        list [cli --no-auth-warning -a secret PING] [cli --no-auth-warning --user default --pass secret PING] \
            [string trim [cli PING]]
    }
} {PONG PONG {NOAUTH Authentication required.}}
check_in 2 "redis-cli formats replies as CSV and JSON" {
    r RPUSH l a 2
    list [cli --csv LRANGE l 0 -1] [cli --json LRANGE l 0 -1] [cli --no-raw LRANGE l 0 -1]
} [list {"a","2"} {["a","2"]} "1) \"a\"\n2) \"2\""]
# Reads from a terminal until what it shows matches the pattern; gives what it showed.
proc shown_until {terminal pattern} {
    set shown ""
    wait_until {[string match $pattern [append shown [read $terminal]]]}
    return $shown
}

# Runs the body with `terminal` set to a redis-cli that runs at a terminal.
proc with_terminal {body} {
    upvar 1 terminal terminal port port
    set port [$::current_server port]
    set terminal [open "|env TERM=xterm HOME=/nonexistent script -qec {stty cols 200 rows 24; redis-cli -p $port}\
        /dev/null 2>@1" r+]
    chan configure $terminal -blocking 0 -buffering none -translation binary
    try {
        shown_until $terminal "*127.0.0.1:$port> *"
        uplevel 1 $body
        puts -nonewline $terminal "exit\r"
        wait_until {[read $terminal] ne "" || [eof $terminal]}
    } finally {
        exec kill {*}[pid $terminal]
        catch {close $terminal}
    }
}

# Types a line and waits until what is shown matches, and the prompt is back.
proc type_line {terminal line pattern {prompt "> "}} {
    puts -nonewline $terminal "$line\r"
    shown_until $terminal "*$pattern*$prompt*"
}

check_in 2 "redis-cli at a terminal greets, hints and answers" {
    with_terminal {
        puts -nonewline $terminal "RPUSH "
        shown_until $terminal "*key element*element*"
        type_line $terminal "l a b" "(integer) 2"
        type_line $terminal "LRANGE l 0 -1" "1) \"a\"*2) \"b\""
    }
    r LRANGE l 0 -1
} {a b}
foreach {typed hint} {
    "SET k " {*value*NX|XX*GET*EX seconds|PX milliseconds*}
    "EXPIRE k 10 " {*NX|XX|GT|LT*}
    "client kill " {*ID client-id*TYPE NORMAL*}
    "BLPOP a b " {*timeout*}
    "ZADD z " {*NX|XX*GT|LT*CH*INCR*score member*}
    "ZRANGE z 0 1 " {*BYSCORE|BYLEX*REV*LIMIT offset count*WITHSCORES*}
    "BZMPOP 0 1 z " {*MIN|MAX*COUNT count*}
    "HSET h " {*field value*}
    "HEXPIRE h 10 " {*NX|XX|GT|LT*FIELDS*}
    "SINTERCARD 2 a b " {*LIMIT limit*}
    "config get " {*parameter*}
} {
    check_in 2 "redis-cli hints at what may follow \"$typed\"" [string map [list @typed $typed @hint $hint] {
        with_terminal {
            puts -nonewline $terminal "@typed"
            shown_until $terminal "@hint"
            puts -nonewline $terminal "\x15"
        }
    }]
}
check_in 2 "redis-cli at a terminal helps, completes and shows the database" {
    with_terminal {
        type_line $terminal "HELP LPUSH" "LPUSH*key element*since:*1.0.0*group:*list"
        puts -nonewline $terminal "RPOPLP\t " ;# redis-cli 8 hints behind the blank only
        shown_until $terminal "*RPOPLPUSH*source destination*"
        puts -nonewline $terminal "\x15"
        type_line $terminal "SELECT 3" OK "\\\[3\\\]> "
        type_line $terminal "RPUSH l a" "(integer) 1" "\\\[3\\\]> "
    }
    r SELECT 3
    r LLEN l
} 1
check_in 2 "redis-cli at a terminal shows that it is in a transaction" {
    with_terminal {
        type_line $terminal MULTI OK "(TX)> "
        type_line $terminal "RPUSH l a b" QUEUED "(TX)> "
        type_line $terminal "GET nosuch" QUEUED "(TX)> "
        type_line $terminal EXEC "1) (integer) 2*2) (nil)"
        type_line $terminal MULTI OK "(TX)> "
        type_line $terminal DISCARD OK
    }
    r LRANGE l 0 -1
} {a b}
check_in 2 "redis-cli shows messages and goes on where it was" {
    with_terminal {
        puts -nonewline $terminal "SUBSCRIBE news\r"
        shown_until $terminal "*1) \"subscribe\"*2) \"news\"*3) (integer) 1*"
        wait_until {[r PUBLISH news hello] == 1}
        shown_until $terminal "*1) \"message\"*2) \"news\"*3) \"hello\"*"
    }
}

# Starts redis-cli in the background; `seen` waits for its output, `cli_stop` ends it.
proc cli_start {args} {
    set pipe [open "|stdbuf -oL redis-cli -p [$::current_server port] $args 2>@1" r]
    chan configure $pipe -blocking 0 -translation binary
    return $pipe
}
proc cli_stop {pipe} {
    exec kill {*}[pid $pipe]
    catch {close $pipe}
}

foreach protocol {2 3} {
    check_in 2 "redis-cli -$protocol follows channels and patterns" [string map [list @protocol $protocol] {
        set channels [cli_start -@protocol SUBSCRIBE news sport]
        set patterns [cli_start -@protocol PSUBSCRIBE n*]
        try {
            shown_until $channels "subscribe\nnews\n1\nsubscribe\nsport\n2\n"
            shown_until $patterns "psubscribe\nn\\*\n1\n"
            assert_equal [list [r PUBLISH news hello] [r PUBLISH sport 2:1]] {2 1}
            shown_until $channels "message\nnews\nhello\nmessage\nsport\n2:1\n"
            shown_until $patterns "pmessage\nn\\*\nnews\nhello\n"
        } finally {
            cli_stop $channels
            cli_stop $patterns
        }
    }]
}
check_in 2 "redis-cli MONITOR shows what others do" {
    set monitor [cli_start MONITOR]
    try {
        shown_until $monitor "OK\n*"
        r RPUSH l "two words" "\x00"
        shown_until $monitor {*[0-9].[0-9]* \[0 127.0.0.1:*\] "RPUSH" "l" "two words" "\\x00"*}
    } finally {
        cli_stop $monitor
    }
}
check_in 2 "redis-cli finds the server and its database by a URI" {
    cli -u redis://127.0.0.1:[$current_server port]/7 RPUSH l x
    r SELECT 7
    r LLEN l
} 1
check_in 2 "redis-cli -e turns errors into an exit status" {
    r SET s text
    list [catch {cli -e LPUSH s x}] [catch {cli LPUSH s x}]
} {1 0}

check_in 2 "redis-cli --pipe loads requests and inline commands" {
    set bytes ""
    for {set i 0} {$i < 20000} {incr i} {
        append bytes [request [list RPUSH list:[expr {$i % 100}] "element \x00\r\n$i"]]
    }
    append bytes [string repeat "RPUSH inline x\r\n" 1000]
    set shown [cli_with_input $bytes --pipe]
    assert {[string match "*errors: 0, replies: 21000*" $shown]}
    list [r DBSIZE] [r LLEN list:7] [string equal [r LINDEX list:7 -1] "element \x00\r\n19907"] [r LLEN inline]
} {101 200 1 1000}
check_in 2 "redis-cli --pipe counts errors" {
    set shown ""
    catch {cli_with_input "SET s x\r\nRPUSH s a\r\nNOSUCH\r\nPING\r\n" --pipe} shown
    regexp {errors: 2, replies: 4} $shown
} 1
check_in 2 "redis-cli --scan visits all keys" {
    for {set i 0} {$i < 3000} {incr i} {
        lappend requests [list RPUSH key:$i x]
    }
    [default_client] pipeline $requests
    unset requests
    set keys [split [cli --scan] \n]
    assert_equal [llength [lsort -unique $keys]] 3000
    llength [lsort -unique [split [cli --scan --pattern "key:29??"] \n]]
} 100
# What redis-cli has shown as soon as that matches; then it is stopped.
proc cli_until {pattern args} {
    set shown ""
    set pipe [cli_start {*}$args]
    try {
        wait_until {[regexp -line $pattern [append shown [read $pipe]]]}
    } finally {
        cli_stop $pipe
    }
    return $shown
}

# A big and a small key of each type.
proc fill_all_types {} {
    foreach {name size} {small 2 big 300} {
        for {set i 0} {$i < $size} {incr i} {
            lappend requests [list RPUSH $name:list e:$i] [list ZADD $name:zset $i m:$i] [list HSET $name:hash f:$i v] \
                [list SADD $name:set m:$i] [list APPEND $name:string x]
        }
    }
    [default_client] pipeline $requests
}

foreach {option list} {
    --bigkeys {list items zset members hash fields set members string bytes}
    --memkeys {list bytes zset bytes hash bytes set bytes string bytes}
    {--memkeys-samples 0} {list bytes zset bytes hash bytes set bytes string bytes}
} {
    check_in 2 "redis-cli $option finds the biggest key of each type" [string map [list @option $option @list $list] {
        fill_all_types
        set shown [cli @option]
        assert {![regexp -nocase {error|warning|failed} $shown]}
        foreach {type unit} {@list} {
            assert {[regexp -line "Biggest +$type found .*\"big:$type\".* (\\d+) $unit" $shown - size]}
            assert {$unit eq "bytes" || $size == 300}
        }
        regexp {Sampled 10 keys in the keyspace!} $shown
    } ] 1
}
check_in 2 "redis-cli --bigkeys and --memkeys visit many keys" {
    for {set i 0} {$i < 3000} {incr i} {
        lappend requests [list RPUSH key:$i x]
    }
    [default_client] pipeline $requests
    unset requests
    list [regexp {Sampled 3000 keys in the keyspace!} [cli --bigkeys]] \
        [regexp {Sampled 3000 keys in the keyspace!} [cli --memkeys]]
} {1 1}
check_in 2 "redis-cli --hotkeys finds the keys that are asked for most, of all types" {
    r SET cold x
    catch {cli --hotkeys} shown
    assert {[string match "*Error: ERR An LFU maxmemory policy is not selected*" $shown]}
    with_config {maxmemory-policy allkeys-lfu} {
        fill_all_types
        foreach {command key} {LLEN big:list ZCARD big:zset HLEN big:hash SCARD big:set STRLEN big:string} {
            [default_client] pipeline [lrepeat 5000 [list $command $key]]
        }
        set shown [cli --hotkeys]
    }
    set found [regexp -all -inline {hot key found with counter: \d+\s+keyname: "big:\w+"} $shown]
    lsort [regexp -all -inline {big:\w+} $found]
} {big:hash big:list big:set big:string big:zset}
check_in 2 "redis-cli --lru-test drives the server into eviction" {
    set limit [expr {[info_field used_memory] + 1000000}]
    with_config [list maxmemory $limit maxmemory-policy allkeys-lru] {
        set test [cli_start --lru-test 100000]
        try {
            set shown [shown_until $test {*[0-9] Gets/sec | Hits: [0-9]* ([0-9]*.[0-9]*%) | Misses: [0-9]*}]
            wait_until {[info_field evicted_keys] > 0}
        } finally {
            cli_stop $test
        }
        regexp -nocase error $shown
    }
} 0
check_in 2 "redis-cli --stat shows keys, memory and clients, again and again" {
    fill_all_types
    set shown [cli_until {(^10 +\d[\d.]*[KMG] +\d+ +0 +\d+ \(\+\d+\) +\d+ *\n){2}} -i 0.2 --stat]
    regexp {keys +mem +clients +blocked +requests +connections} $shown
} 1
check_in 2 "redis-cli --latency measures" {
    regexp {^\d+ \d+ \d+\.\d+ \d+} [cli --raw -i 0.3 --latency]
} 1
check_in 2 "redis-cli --latency-history and --latency-dist measure" {
    cli_until {^\d+ \d+ \d+\.\d+ \d+} --raw -i 0.2 --latency-history
    string match *milliseconds* [cli_until {From 0 to 100%} -i 0.2 --latency-dist]
} 1

# What redis-benchmark prints, checked: no error, no warning, a figure for each test.
proc benchmark {args} {
    set shown [exec redis-benchmark -p [$::current_server port] -q {*}$args 2>@1]
    if {[regexp -nocase -line {^.*(error|warning|could not|wrong|unexpected).*$} $shown line]} {
        error "redis-benchmark says: $line"
    }
    return [regexp -all {requests per second} $shown]
}

# In newer versions the last test is XADD.
check_in 2 "redis-benchmark runs all its tests" {
    assert {[benchmark -n 100] in {20 21}}
}
foreach {arguments figures} {
    {-n 2000 -t ping,lpush,rpush,lpop,rpop,lrange} 11
    {-n 20000 -P 16 -t ping,lpush,rpush,lpop,rpop,lrange} 11
    {-n 5000 -P 16 -c 10 -r 1000 -d 1000 -t lpush,lpop,set,get} 4
    {-n 5000 -P 16 -3 -t ping,lpush,lrange_100} 5
    {-n 2000 -P 100 -c 1 -d 100000 -t set,get} 2
} {
    check_in 2 "redis-benchmark $arguments runs through" [list benchmark {*}$arguments] $figures
}
check_in 2 "redis-benchmark leaves the lists that it should" {
    benchmark -n 3000 -P 10 -t rpush
    assert_equal [r LLEN mylist] 3000
    benchmark -n 1000 -P 10 -t rpop
    r LLEN mylist
} 2000
check_in 2 "redis-benchmark runs any command with random keys" {
    benchmark -n 3000 -P 16 -r 50 RPUSH list:__rand_int__ element
    list [r DBSIZE] [llength [r LRANGE list:000000000007 0 2]]
} {50 3}

finish
