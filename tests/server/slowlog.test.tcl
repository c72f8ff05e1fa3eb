# SLOWLOG: commands that took long.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {slowlog-log-slower-than -1}

# The slow log after the body, which is run with every command being noted: of each entry the arguments, oldest
# first, without those of CONFIG SET that ends it.
proc logged {body} {
    r SLOWLOG RESET
    r CONFIG SET slowlog-log-slower-than 0
    try {
        uplevel 1 $body
    } finally {
        r CONFIG SET slowlog-log-slower-than -1
    }
    return [lrange [lreverse [lmap entry [r SLOWLOG GET -1] {lindex $entry 3}]] 1 end]
}

proc numbers {last} {
    set numbers {}
    for {set i 1} {$i <= $last} {incr i} {
        lappend numbers $i
    }
    return $numbers
}

check "SLOWLOG notes commands with their arguments, newest first" {
    assert_equal [logged {r SET a 1; r GET a}] {{SET a 1} {GET a}}
    assert_equal [lindex [r SLOWLOG GET] 0 3] {GET a}
    r SLOWLOG LEN
} 3
check "an entry has number, time, duration, arguments, address and name" {
    r CLIENT SETNAME me
    logged {r ECHO hello}
    lassign [lindex [r SLOWLOG GET 1] 0] id time duration arguments address name
    assert_equal [llength [lindex [r SLOWLOG GET 1] 0]] 6
    assert {$id > 0 && abs($time - [clock seconds]) < 200 && $duration >= 0 && $duration < 10000000}
    assert_equal $arguments {ECHO hello}
    regexp {addr=(\S+) } [r CLIENT INFO] _ mine
    assert_equal $address $mine
    set name
} me
check "numbers go on after SLOWLOG RESET" {
    logged {r PING}
    set id [lindex [r SLOWLOG GET 1] 0 0]
    logged {r PING}
    expr {[lindex [r SLOWLOG GET 1] 0 0] > $id}
} 1
check "replies are typed" {
    logged {r PING}
    assert_equal [typed SLOWLOG LEN] {int 2}
    assert_equal [typed SLOWLOG GET 0] {array {}}
    set entry [lindex [typed SLOWLOG GET 1] 1 0]
    assert_equal [lmap value [lindex $entry 1] {lindex $value 0}] {int int int array bulk bulk}
    typed SLOWLOG RESET
} {simple OK}
check "SLOWLOG GET shows ten entries, or as many as asked for" {
    logged {for {set i 0} {$i < 20} {incr i} {r PING}}
    lmap arguments {{} 3 0 -1 1000} {llength [r SLOWLOG GET {*}$arguments]}
} {10 3 0 21 21}
check "what is wrong with SLOWLOG's arguments" {
    foreach count {-2 abc 1.5} {
        assert_equal [error_of {r SLOWLOG GET $count}] "ERR count should be greater than or equal to -1"
    }
    assert_equal [error_of {r SLOWLOG GET 1 2}] \
        "ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP."
    assert_equal [error_of {r SLOWLOG LEN x}] "ERR wrong number of arguments for 'slowlog|len' command"
    assert_equal [error_of {r SLOWLOG}] "ERR wrong number of arguments for 'slowlog' command"
    error_of {r SLOWLOG FOO}
} "ERR unknown subcommand 'FOO'. Try SLOWLOG HELP."
check "SLOWLOG HELP names every subcommand" {
    set help [r SLOWLOG HELP]
    foreach word {GET LEN RESET HELP} {
        assert {[lsearch -glob $help $word*] > 0}
    }
    lindex $help 0
} {SLOWLOG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:}

# --- What is noted

check "only what takes long enough is noted" {
    r SLOWLOG RESET
    with_config {slowlog-log-slower-than 1500000} {
        r PING
        r DEBUG SLEEP 1.6
    }
    assert_equal [llength [r SLOWLOG GET]] 1
    lassign [lindex [r SLOWLOG GET] 0] id time duration arguments
    assert_equal $arguments {DEBUG SLEEP 1.6}
    expr {$duration >= 1600000}
} 1
check "-1 notes nothing" {
    r SLOWLOG RESET
    r DEBUG SLEEP 0.001
    r SLOWLOG LEN
} 0
check "slowlog-max-len bounds the log" {
    with_config {slowlog-max-len 3} {
        logged {r ECHO 1; r ECHO 2; r ECHO 3; r ECHO 4}
    }
} {{ECHO 3} {ECHO 4}}
check "with a slowlog-max-len of 0 nothing is noted, what is there stays, and numbers do not go on" {
    logged {r ECHO 1}
    set id [lindex [r SLOWLOG GET] 0 0]
    r CONFIG SET slowlog-max-len 0 slowlog-log-slower-than 0
    r ECHO 2
    r CONFIG SET slowlog-log-slower-than -1
    r CONFIG SET slowlog-max-len 128
    assert_equal [lmap entry [r SLOWLOG GET 1] {lindex $entry 3}] {{ECHO 1}}
    logged {r ECHO 3} ;# notes the CONFIG SET before it, too
    expr {[lindex [r SLOWLOG GET] 0 0] - $id}
} 2
check "at most 32 arguments are kept" {
    set many [numbers 40]
    set entry [lindex [logged {r RPUSH l {*}$many}] 0]
    assert_equal [llength $entry] 32
    assert_equal [lrange $entry 0 30] [list RPUSH l {*}[lrange $many 0 28]]
    lindex $entry 31
} {... (11 more arguments)}
check "slowlog-max-argc says how many arguments are kept, and with slowlog-show-argc each entry how many there were" {
    set entries [lmap most {3 1 50} {
        with_config [list slowlog-max-argc $most slowlog-show-argc yes] {
            logged {r RPUSH l a b c}
            set entry [lindex [r SLOWLOG GET -1] end-1] ;# the oldest is CONFIG SET
        }
        list [lindex $entry 3] [lindex $entry 6]
    }]
    lappend entries [error_of {r CONFIG SET slowlog-max-argc 0}]
} {{{RPUSH l {... (3 more arguments)}} 5} {{{... (5 more arguments)}} 5} {{RPUSH l a b c} 5}\
    {ERR CONFIG SET failed (possibly related to argument 'slowlog-max-argc') - argument must be between 1 and\
    2147483647 inclusive}}
check "slowlog-entry-max-string-len says how many bytes of each are kept, slowlog-entry-max-argc is slowlog-max-argc" {
    set entries [lmap bytes {4 1 128} {
        with_config [list slowlog-entry-max-string-len $bytes slowlog-entry-max-argc 3] {
            lindex [logged {r RPUSH list abcdef ghi j}] 0
        }
    }]
    lappend entries [r CONFIG GET slowlog-entry-max*]
} {{{RPUS... (1 more bytes)} list {... (3 more arguments)}}\
    {{R... (4 more bytes)} {l... (3 more bytes)} {... (3 more arguments)}}\
    {RPUSH list {... (3 more arguments)}} {slowlog-entry-max-argc 32 slowlog-entry-max-string-len 128}}
check "32 arguments are all kept" {
    set many [numbers 30]
    lindex [logged {r RPUSH l {*}$many}] 0
} [list RPUSH l {*}[numbers 30]]
check "at most 128 bytes of an argument are kept" {
    set just [string repeat x 128]
    set entries [logged {r SET k $just; r SET k ${just}yz}]
    list [lindex $entries 0 2] [lindex $entries 1 2]
} [list [string repeat x 128] "[string repeat x 128]... (2 more bytes)"]
check "passwords are not kept" {
    assert_equal [logged {error_of {r AUTH bob secret}}] {{AUTH (redacted) (redacted)}}
    assert_equal [logged {error_of {r AUTH secret}}] {{AUTH (redacted)}}
    assert_equal [logged {error_of {r HELLO 3 AUTH bob secret SETNAME z}}] \
        {{HELLO 3 AUTH (redacted) (redacted) SETNAME z}}
    logged {error_of {r CONFIG SET maxmemory 0 RequirePass secret nosuch secret masterauth secret \
        primaryauth secret primaryuser secret}}
} [list "CONFIG SET maxmemory 0 RequirePass[string repeat { (redacted)} 9]"]
check "the commands of a transaction are noted, EXEC is not" {
    logged {
        r MULTI
        r SET a 1
        r LPUSH a 1
        r EXEC
    }
} {MULTI {SET a 1} {LPUSH a 1}}
check "a command that waits is noted when it is answered, without the wait" {
    set entries [logged {
        set c [client_blocked BLPOP k 0]
        after 2000
        r RPUSH k v
        $c read
    }]
    assert {[lsearch $entries {RPUSH k v}] < [lsearch $entries {BLPOP k 0}]}
    set entry [lsearch -inline -index 3 [r SLOWLOG GET -1] {BLPOP k 0}]
    expr {[lindex $entry 2] < 1500000}
} 1
check "a command whose time is up, or that is unblocked, is noted" {
    set entries [logged {
        r BLPOP k 0.01
        set c [client_blocked BLPOP other 0]
        r CLIENT UNBLOCK [lindex [regexp -inline {id=(\d+) [^\n]*cmd=blpop} [r CLIENT LIST]] 1] ERROR
        catch {$c read}
    }]
    list [llength [lsearch -all $entries {BLPOP k 0.01}]] [llength [lsearch -all $entries {BLPOP other 0}]]
} {1 1}
check "commands that are unknown or refused are not noted" {
    logged {error_of {r NOSUCH}; error_of {r GET}}
} {}

finish
