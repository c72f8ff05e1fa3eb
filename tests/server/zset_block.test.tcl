# BZPOPMIN, BZPOPMAX and BZMPOP: what they answer at once, when woken and when their time is up.
source [file join [file dirname [file normalize [info script]]] lib zsets.tcl]

server_start

# A blocking command on the key k, % being its timeout; what it answers, and leaves of {a 1 b 2 c 3}.
set blocking_commands {
    {BZPOPMIN none k %}                  {k a 1}              {b 2 c 3}
    {BZPOPMAX k none %}                  {k c 3}              {a 1 b 2}
    {BZMPOP % 2 none k MIN}              {k {{a 1}}}          {b 2 c 3}
    {BZMPOP % 1 k MAX COUNT 2}           {k {{c 3} {b 2}}}    {a 1}
    {BZMPOP % 1 k min count 9}           {k {{a 1} {b 2} {c 3}}} {}
}
proc with_timeout {command timeout} {
    return [lreplace $command [lsearch $command %] [lsearch $command %] $timeout]
}

foreach {command reply left} $blocking_commands {
    check_zsets "$command takes from a sorted set that is there at once" {
        make_zset k {a 1 b 2 c 3}
        list [r {*}[with_timeout $command 0]] [zset_of k]
    } [list $reply $left]
    check_zsets "$command waits for a sorted set and leaves the rest" {
        set c [client_blocked {*}[with_timeout $command 0]]
        assert_equal [r ZADD k 1 a 2 b 3 c] 3
        list [$c read] [zset_of k]
    } [list $reply $left]
    check "$command is woken by all that makes a sorted set" {
        foreach maker {{ZUNIONSTORE k 1 src} {ZRANGESTORE k src 0 -1} {RENAME src k} {COPY src k} {ZINCRBY k 1 a}} {
            r DEL k src
            r ZADD src 1 a 2 b 3 c
            set c [client_blocked {*}[with_timeout $command 0]]
            r {*}$maker
            assert_equal [lindex [$c read] 0] k
        }
    }
    check "$command goes on waiting when the key becomes a list" {
        set c [client_blocked {*}[with_timeout $command 0]]
        r RPUSH k x
        wait_blocked 1
        r DEL k
        r ZADD k 1 a 2 b 3 c
        $c read
    } $reply
    check "$command in a transaction answers null at once" {
        r MULTI
        r {*}[with_timeout $command 0]
        r EXEC
    } {(nil)}
    check_in 2 "$command returns a null array when its time is up, in RESP2" {
        list [typed {*}[with_timeout $command 0.01]] [typed {*}[with_timeout $command 0.001]]
    } {nilarray nilarray}
    check_in 3 "$command returns null when its time is up, in RESP3" {
        typed {*}[with_timeout $command 0.01]
    } null
    foreach {timeout error} {
        -1     "ERR timeout is negative"
        x      "ERR timeout is not a float or out of range"
        1e400  "ERR timeout is out of range"
    } {
        check_error "$command refuses the timeout $timeout" [list r {*}[with_timeout $command $timeout]] $error
    }
}
check "clients are served in the order in which they came, each by its own command" {
    set clients [list [client_blocked BZPOPMIN k 0] [client_blocked BZPOPMAX k 0] [client_blocked BZMPOP 0 1 k MIN]]
    r ZADD k 1 a 2 b 3 c 4 d
    concat [lmap c $clients {$c read}] [list [zset_of k]]
} {{k a 1} {k d 4} {k {{b 2}}} {c 3}}
check_in 3 "scores are doubles in RESP3, and members pairs" {
    r ZADD k 1 a 2 b
    list [typed BZPOPMIN k 0] [typed BZMPOP 0 1 k MIN]
} {{array {{bulk k} {bulk a} {double 1}}} {array {{bulk k} {array {{array {{bulk b} {double 2}}}}}}}}
foreach {command error} {
    {BZMPOP 0 0 k MIN}         "ERR numkeys should be greater than 0"
    {BZMPOP 0 2 k MIN}         "ERR syntax error"
    {BZMPOP 0 1 k LEFT}        "ERR syntax error"
    {BZMPOP 0 1 k MIN COUNT 0} "ERR count should be greater than 0"
} {
    check_error "$command is refused" [list r {*}$command] $error
}

finish
