# COMMANDLOG: commands that took long, and those with large requests and replies.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {slowlog-log-slower-than -1}

# {size arguments} of each entry, oldest first.
proc entries {type} {
    return [lreverse [lmap entry [r COMMANDLOG GET -1 $type] {list [lindex $entry 2] [lindex $entry 3]}]]
}

# The entries of a log after the body, with this threshold and without the CONFIG SET.
proc noted {type directive threshold body} {
    r COMMANDLOG RESET $type
    r CONFIG SET $directive $threshold
    try {
        uplevel 1 $body
    } finally {
        r CONFIG SET $directive -1
    }
    return [lsearch -all -inline -not [entries $type] "*CONFIG*"]
}

check "COMMANDLOG SLOW is the slow log, without the number of arguments" {
    r COMMANDLOG RESET slow
    with_config {commandlog-execution-slower-than 0} {
        r ECHO x
    }
    assert_equal [r COMMANDLOG LEN slow] [r SLOWLOG LEN]
    set entry [lindex [r COMMANDLOG GET 1 SLOW] 0]
    list [llength $entry] [lindex $entry 3] [r COMMANDLOG RESET Slow] [r SLOWLOG LEN]
} {6 {ECHO x} OK 0}
check "a request of at least so many bytes is noted with its size in RESP, its client and its arguments" {
    r CLIENT SETNAME me
    set found [noted large-request commandlog-request-larger-than 40 {
        r SET k [string repeat x 13]
        r SET k [string repeat x 12]
        r SET k [string repeat y 200]
    }]
    lassign [lindex [r COMMANDLOG GET 1 large-request] 0] id time bytes arguments address name
    regexp {addr=(\S+) } [r CLIENT INFO] _ mine
    assert {$address eq $mine && $name eq "me" && abs($time - [clock seconds]) < 200}
    set found
} [list [list 40 [list SET k [string repeat x 13]]] \
    [list 228 [list SET k "[string repeat y 128]... (72 more bytes)"]]]
check "a reply of at least so many bytes is noted with its size" {
    r SET k [string repeat x 100]
    r SET big [string repeat x 300000]
    noted large-reply commandlog-reply-larger-than 108 {
        r GET k
        r SETRANGE k 99 ""
        r GETRANGE k 0 -2
        r GET big
    }
} {{108 {GET k}} {300011 {GET big}}}
check "requests that come in pieces and in a string of their own count whole" {
    r COMMANDLOG RESET large-request
    r COMMANDLOG RESET large-reply
    with_config {commandlog-request-larger-than 1048576 commandlog-reply-larger-than 1048576} {
        r SET a [string repeat x 1048570]
        r SET b [string repeat x 1000000]
        r RPUSH l {*}[lrepeat 30 [string repeat y 40000]]
        r HSET h f [string repeat y 40000]
        r GET a
        r GET b
        r HMGET h {*}[lrepeat 30 f]
    }
    set requests [lmap entry [entries large-request] {list [lindex $entry 0] [lrange [lindex $entry 1] 0 1]}]
    list $requests [entries large-reply]
} [list {{1048602 {SET a}} {1200323 {RPUSH l}}} [list {1048582 {GET a}} [list 1200305 [concat HMGET h [lrepeat 30 f]]]]]
check "each of many requests of a pipeline is measured by itself" {
    r SET k [string repeat x 50]
    set c [client_open]
    noted large-reply commandlog-reply-larger-than 50 {
        $c write [string repeat [request {GET k}][request PING] 3]
        for {set i 0} {$i < 6} {incr i} {
            $c read
        }
    }
} {{57 {GET k}} {57 {GET k}} {57 {GET k}}}
check "an argument that became the value is shown as others" {
    set big [string repeat x 200000]
    r SET k $big
    lmap entry [noted large-reply commandlog-reply-larger-than 1000 {r SET k $big GET}] {
        list [lindex $entry 0] [string range [lindex $entry 1 2] 127 end]
    }
} {{200011 {x... (199872 more bytes)}}}
check "what is not run is not noted: unknown commands, wrong numbers of arguments" {
    noted large-request commandlog-request-larger-than 30 {
        catch {r FROB [string repeat x 100]}
        catch {r GET k [string repeat x 100]}
        catch {r SET k v FROB [string repeat x 20]}
    }
} {{64 {SET k v FROB xxxxxxxxxxxxxxxxxxxx}}}
check "a reply is noted only for a command that was run, whatever was run before" {
    r SET k v
    noted large-reply commandlog-reply-larger-than 0 {
        r GET k
        catch {r GETT k}
        catch {r GET}
        r GET k
    }
} {{7 {GET k}} {7 {GET k}}}
check "a transaction's commands are noted when they run, each with its own sizes; MULTI and EXEC say nothing of them" {
    r SET big [string repeat x 300000]
    set requests [noted large-request commandlog-request-larger-than 100 {
        r MULTI
        r SET k [string repeat x 100]
        r SET k v
        r EXEC
    }]
    set replies [noted large-reply commandlog-reply-larger-than 200000 {
        r MULTI
        foreach i {1 2 3} {r GET big; r PING}
        r EXEC
    }]
    list $requests $replies
} [list [list [list 128 [list SET k [string repeat x 100]]]] [lrepeat 3 {300011 {GET big}}]]
check "large replies of a transaction are found, too, when the buffer has grown already" {
    r HSET h f [string repeat y 400000]
    r COMMANDLOG RESET large-reply
    with_config {commandlog-reply-larger-than 1048576} {
        r MULTI
        foreach i {1 2 3 4} {r HMGET h f f f}
        r EXEC
    }
    entries large-reply
} [lrepeat 4 {1200037 {HMGET h f f f}}]
check "the size of a reply that is written while it is sent is an estimate" {
    set elements [list]
    for {set i 0} {$i < 20000} {incr i} {lappend elements [string repeat e 50]:$i}
    r RPUSH list {*}$elements
    r SADD set {*}$elements
    r RPUSH large {*}[lrepeat 30 [string repeat y 40000]]
    set size [string length [join $elements "\$55\r\n\r\n"]]
    with_config {commandlog-reply-larger-than 1048576} {
        foreach {request size} [list {LRANGE list 0 -1} $size {SMEMBERS set} $size {LRANGE large 0 -1} 1200305] {
            r COMMANDLOG RESET large-reply
            r {*}$request
            assert {abs([lindex [entries large-reply] 0 0] - $size) < 0.05 * $size}
        }
    }
}
check "a reply of exactly the default threshold is noted, also behind one that nearly has it" {
    r HSET h y [string repeat y 64999] z [string repeat z [expr {1048576 - 16 * 65009 - 5 - 9}]]
    set y [lrepeat 15 y]
    r COMMANDLOG RESET large-reply
    with_config {commandlog-reply-larger-than 1048576} {
        r HMGET h {*}$y
        r HMGET h {*}$y y z
        r HMGET h {*}$y y
    }
    entries large-reply
} [list [list 1048576 [list HMGET h {*}[lrepeat 16 y] z]]]
check "what the client does not want to be replied is not noted" {
    set c [client_open]
    r SET k [string repeat x 100]
    noted large-reply commandlog-reply-larger-than 50 {
        $c write [request {CLIENT REPLY SKIP}][request {GET k}][request PING]
        $c read
    }
} {}
check "commands of scripts are not noted, the script is" {
    lmap entry [noted large-request commandlog-request-larger-than 80 {
        r EVAL {return redis.call("SET", KEYS[1], string.rep("x", 500))} 1 k
    }] {lindex $entry 1 0}
} {EVAL}
check "a large reply that a script or a function reads is noted in its client's name, whatever that gets to hear" {
    r CLIENT SETNAME me
    r SET k [string repeat x 1000]
    r SET n 1
    r FUNCTION LOAD REPLACE "#!lua name=lib\n[string cat {
        redis.register_function('f', function(keys) return #redis.pcall('GET', keys[1]) end)
    }]"
    set quiet [client_open]
    set found [noted large-reply commandlog-reply-larger-than 1000 {
        r EVAL {return #redis.call("GET", KEYS[1])} 1 k
        assert_equal [lrange [lindex [r COMMANDLOG GET 1 large-reply] 0] 5 end] me
        r EVAL {
            redis.call("GET", KEYS[1])
            redis.call("SET", "n", string.rep("x", 1000))
            return redis.call("GET", KEYS[1])
        } 1 k
        r FCALL f 1 k
        catch {r EVAL {redis.call("GET", KEYS[1]); error("x")} 1 k}
        r EVAL {return #redis.pcall("GETRANGE", KEYS[1], 0, 990)} 1 k
        r EVAL {return #redis.pcall("GETRANGE", KEYS[1], 0, 991)} 1 k
        r MULTI; r EVAL {return #redis.call("GET", KEYS[1])} 1 k; r EXEC
        $quiet write [request {CLIENT REPLY SKIP}][request {EVAL {return redis.call("GET", KEYS[1])} 1 k}][request PING]
        $quiet read
    }]
    lmap entry $found {list [lindex $entry 0] [lindex $entry 1 0]}
} {{1009 GET} {1009 GET} {1009 GET} {1009 EVAL} {1009 GET} {1009 GET} {1000 GETRANGE} {1009 GET} {1009 GET}}
check "a reply that a script reads has its size in the protocol of the script" {
    for {set i 0} {$i < 12} {incr i} {
        r HSET h f$i [string repeat v $i]
        r ZADD z $i.5 m$i -$i n$i
        r XADD x $i-1 f v
    }
    r SET n -7
    with_config {commandlog-reply-larger-than 0} {
        foreach command {
            {HGETALL h} {ZRANGE z 0 -1 WITHSCORES} {XRANGE x - +} {HMGET h f1 no f11} {COMMAND DOCS GET} {ZSCORE z no}
            {ZMSCORE z m1 m2 no} {GEOPOS z m1 no} {SET k v x} {PING} {INCRBY n 0} {SINTERCARD 1 s LIMIT -1}
        } {
            foreach protocol {2 3} {
                set c [client_open]
                $c send HELLO $protocol
                $c read
                r COMMANDLOG RESET large-reply
                $c send {*}$command
                catch {$c read}
                catch {r EVAL {redis.setresp(ARGV[1]); redis.pcall(unpack(ARGV, 2))} 0 $protocol {*}$command}
                set found [lsearch -all -inline -index 1 -exact [entries large-reply] $command]
                if {[llength $found] != 2 || [llength [lsort -unique $found]] != 1} {error "RESP$protocol: $found"}
            }
        }
    }
} {}
check "a script's reply of exactly the default threshold is noted" {
    r SET k [string repeat x [expr {1048576 - 12}]]
    noted large-reply commandlog-reply-larger-than 1048576 {
        r EVAL {return #redis.call("GETRANGE", "k", 0, -2) + #redis.call("GET", "k")} 0
    }
} {{1048576 {GET k}}}
check "passwords are hidden" {
    lmap entry [noted large-request commandlog-request-larger-than 20 {
        catch {r AUTH default some-password}
    }] {lindex $entry 1}
} {{AUTH (redacted) (redacted)}}
check "COMMANDLOG hides the same as SLOWLOG, in requests and replies, alone and in transactions" {
    set secrets {
        {AUTH default secret-a} {AUTH secret-b} {HELLO 2 AUTH default secret-c SETNAME x}
        {CONFIG SET requirepass "" masterauth secret-d} {CONFIG SET masterauth ""} {ACL SETUSER bob >secret-e}
        {ACL GETUSER bob} {MIGRATE 127.0.0.1 1 k 0 1 AUTH secret-f} {MIGRATE 127.0.0.1 1 "" 0 1 AUTH2 u secret-g KEYS k}
        {ACL DRYRUN default AUTH secret-h} {COMMAND GETKEYS MIGRATE h 1 k 0 1 AUTH secret-i} {ACL DELUSER bob}
        {AUHT secret-j} {ACL STEUSER bob >secret-k}
    }
    foreach type {slow large-request large-reply} {
        r COMMANDLOG RESET $type
    }
    r SET k v
    with_config {slowlog-log-slower-than 0 commandlog-request-larger-than 0 commandlog-reply-larger-than 0} {
        foreach command $secrets {catch {r {*}$command}}
        r MULTI
        foreach command $secrets {catch {r {*}$command}}
        catch {r EXEC}
        r MULTI
        foreach command [lrange $secrets 0 end-2] {catch {r {*}$command}}
        catch {r EXEC}
    }
    foreach type {slow large-request large-reply} {
        set shown [lmap entry [r COMMANDLOG GET -1 $type] {lindex $entry 3}]
        if {[string match *secret-* $shown]} {error "$type: $shown"}
        set of($type) [lsearch -all -inline -not $shown {CONFIG SET *-than*}]
    }
    assert {[llength $of(slow)] > 24}
    list [expr {$of(slow) eq $of(large-request)}] [expr {$of(slow) eq $of(large-reply)}]
} {1 1}
check "the lengths are bounded, 0 notes nothing" {
    with_config {commandlog-large-request-max-len 2} {
        set found [noted large-request commandlog-request-larger-than 20 {
            foreach i {1 2 3 4} {r ECHO [string repeat $i 20]}
        }]
    }
    with_config {commandlog-large-reply-max-len 0} {
        lappend found [noted large-reply commandlog-reply-larger-than 0 {r PING}]
    }
    set found
} {{41 {ECHO 33333333333333333333}} {41 {ECHO 44444444444444444444}} {}}
check "what is wrong with COMMANDLOG's arguments" {
    foreach {arguments text} {
        {GET 1} "wrong number of arguments for 'commandlog|get' command"
        {GET x slow} "count should be greater than or equal to -1"
        {GET -2 large-reply} "count should be greater than or equal to -1"
        {GET 1 fast} "type should be one of the following: slow, large-request, large-reply"
        {LEN} "wrong number of arguments for 'commandlog|len' command"
        {LEN fast} "type should be one of the following: slow, large-request, large-reply"
        {RESET fast} "type should be one of the following: slow, large-request, large-reply"
        {FROB} "unknown subcommand 'FROB'. Try COMMANDLOG HELP."
        {} "wrong number of arguments for 'commandlog' command"
    } {
        assert_equal [error_of {r COMMANDLOG {*}$arguments}] "ERR $text"
    }
    lindex [r COMMANDLOG HELP] 0
} {COMMANDLOG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:}
check "COMMANDLOG GET shows as many as asked for" {
    noted large-request commandlog-request-larger-than 0 {for {set i 0} {$i < 20} {incr i} {r PING}}
    lmap count {0 3 -1 1000} {llength [r COMMANDLOG GET $count large-request]}
} {0 3 20 20}

finish
