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
    wait_until {[string match $pattern [append shown [read $terminal]]]} $::reply_timeout_ms
    return $shown
}

check_in 2 "redis-cli at a terminal greets, hints and answers" {
    set port [$current_server port]
    set terminal [open "|env TERM=xterm HOME=/nonexistent script -qec {stty cols 100 rows 24; redis-cli -p $port}\
        /dev/null 2>@1" r+]
    chan configure $terminal -blocking 0 -buffering none -translation binary
    try {
        shown_until $terminal "*127.0.0.1:$port> *"
        puts -nonewline $terminal "RPUSH "
        shown_until $terminal "*key element*element*"
        puts -nonewline $terminal "l a b\r"
        shown_until $terminal "*(integer) 2*127.0.0.1:$port> *"
        puts -nonewline $terminal "LRANGE l 0 -1\r"
        shown_until $terminal "*1) \"a\"*2) \"b\"*127.0.0.1:$port> *"
        puts -nonewline $terminal "exit\r"
        wait_until {[read $terminal] ne "" || [eof $terminal]}
    } finally {
        exec kill {*}[pid $terminal]
        catch {close $terminal}
    }
    r LRANGE l 0 -1
} {a b}

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
check_in 2 "redis-cli --scan walks over all keys" {
    for {set i 0} {$i < 3000} {incr i} {
        lappend requests [list RPUSH key:$i x]
    }
    [default_client] pipeline $requests
    unset requests
    set keys [split [cli --scan] \n]
    assert_equal [llength [lsort -unique $keys]] 3000
    llength [lsort -unique [split [cli --scan --pattern "key:29??"] \n]]
} 100
foreach {option wanted} {--bigkeys "Biggest   list found*long*500 items" --memkeys "Biggest   list found*long*bytes"} {
    check_in 2 "redis-cli $option finds the biggest list" [string map [list @option $option @wanted $wanted] {
        r RPUSH short a b
        r RPUSH long {*}[lrepeat 500 element]
        set shown [cli @option]
        assert {![regexp -nocase {error|warning|failed} $shown]}
        string match "*@wanted*" $shown
    }] 1
}
check_in 2 "redis-cli --stat and --latency see a server" {
    set port [$current_server port]
    set shown [exec sh -c "timeout 1 stdbuf -oL redis-cli -p $port -i 0.2 --stat 2>&1 || true"]
    assert {[regexp {keys +mem +clients} $shown]}
    assert {[regexp -line {^0 +\d.*[MK] +\d+ +0 +\d+ } $shown]}
    regexp {^\d+ \d+ \d+\.\d+ \d+} [cli --raw -i 0.3 --latency]
} 1

# What redis-benchmark prints, checked: no error, no warning, a figure for each test.
proc benchmark {args} {
    set shown [exec redis-benchmark -p [$::current_server port] -q {*}$args 2>@1]
    if {[regexp -nocase -line {^.*(error|warning|could not|wrong|unexpected).*$} $shown line]} {
        error "redis-benchmark says: $line"
    }
    return [regexp -all {requests per second} $shown]
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
