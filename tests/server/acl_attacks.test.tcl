# Attacks on the rights of users: each known one of Redis and Valkey, and random calls of every command that uses keys.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join [file dirname [file normalize [info script]]] lib users.tcl]

server_start {acl-filter-keys yes enable-debug-command yes}

set no_key "NOPERM No permissions to access a key"

proc expect_denied {connection commands} {
    foreach command $commands {
        assert_equal [list $command [refusal $connection {*}$command]] [list $command $::no_key]
    }
}
proc rule_error {rule why} {
    return "ERR Error in ACL SETUSER modifier '$rule': $why"
}

# --- Rules

foreach rule {% %~k (%~k) %RR~k %~ ) (+PING} {
    check "the rule $rule is refused, and users can be listed" {
        r ACL SETUSER x reset
        set error [error_of {r ACL SETUSER x $rule}]
        list [string match "ERR *" $error] [lindex [r ACL LIST] end] [r ACL DELUSER x]
    } {1 {user x off resetchannels -@all} 1}
}
check "parentheses inside of a selector are refused" {
    set errors {}
    foreach rules {{"(+PING (+SELECT (+DEL )"} {(+PING (+SELECT (+DEL )} {(((} {( ( )} {(+PING ) )}} {
        lappend errors [error_of {r ACL SETUSER x reset {*}$rules}]
    }
    lappend errors [r ACL USERS]
} [list [rule_error "(+PING (+SELECT (+DEL )" "Syntax error"] [rule_error "(+PING (+SELECT (+DEL )" "Syntax error"] \
    "ERR Unmatched parenthesis in acl selector starting at '((('." [rule_error "( ( )" "Syntax error"] \
    [rule_error ")" "Syntax error"] default]
check "a name may have any bytes but blanks and NUL, and shows as it is" {
    r ACL SETUSER "a\xff\x01" on nopass +client|info
    set c [connection_of "a\xff\x01"]
    set found [list [r ACL USERS] [string match "* user=a\xff\x01 *" [$c call CLIENT INFO]] [r ACL DELUSER "a\xff\x01"]]
    foreach name [list "a b" "a\0b" "a\nb" "a\rb" "a\tb"] {
        lappend found [string match "ERR Usernames*" [error_of {r ACL SETUSER $name}]]
    }
    set found
} [list [list "a\xff\x01" default] 1 1 1 1 1 1 1]
check "a million stars stall nothing: not in a rule, and not in a pattern that a user gives" {
    set stars [string repeat * 1000000]
    assert_match "*more than 4096 bytes" [error_of {r ACL SETUSER x reset ~$stars}]
    assert_match "*more than 4096 bytes" [error_of {r ACL SETUSER x reset &$stars}]
    # 2048 times *a, which every comparison could begin anew.
    r SET [string repeat b 100000] v
    set c [as x ~[string repeat *a 2048] &n* +@all]
    set ms [elapsed_ms {
        refusal $c GET [string repeat b 1000000]
        $c call KEYS $stars
        $c call SCAN 0 MATCH $stars
        refusal $c PSUBSCRIBE $stars
    }]
    r ACL DELUSER x
    expr {$ms < 10000}
} 1

# --- Keys that are checked are keys that are used

check "where options repeat, the last one counts, and it is checked" {
    r RPUSH ok 1
    set c [as a ~ok ~STORE ~BY ~STREAMS +@all]
    expect_denied $c {
        {SORT ok STORE ok STORE bad} {SORT ok STORE BY STORE bad} {SORT ok BY STORE STORE bad}
        {SORT ok LIMIT 0 STORE STORE bad}
        {SORT ok GET STORE STORE bad} {XREAD STREAMS STREAMS bad 0 0} {XREAD COUNT 1 COUNT 2 STREAMS bad 0}
        {XREAD BLOCK 1 STREAMS ok bad 0 0} {BITFIELD bad GET u8 0} {COPY ok bad REPLACE REPLACE} {COPY ok bad DB 1}
        {LMPOP 2 ok bad LEFT} {BLMPOP 0 2 ok bad LEFT} {ZUNIONSTORE ok 2 ok bad WEIGHTS 1 1} {ZUNIONSTORE bad 1 ok}
        {MSET ok 1 bad 2} {RENAME ok bad} {GETEX bad PERSIST} {SET bad v GET} {EVAL "return 1" 2 ok bad}
        {MIGRATE 127.0.0.1 1 "" 0 1 KEYS ok bad} {MIGRATE 127.0.0.1 1 bad 0 1}
        {MIGRATE 127.0.0.1 1 "" 0 1 AUTH KEYS KEYS bad}
        {GEORADIUS ok 0 0 1 m STORE ok STORE bad} {GEORADIUS ok 0 0 1 m STOREDIST ok STORE bad}
        {GEORADIUS ok 0 0 1 m COUNT STORE STORE bad} {GEORADIUSBYMEMBER ok STORE 1 m STORE ok STOREDIST bad}
        {GEOSEARCHSTORE ok bad FROMLONLAT 0 0 BYRADIUS 1 m} {GEOSEARCHSTORE bad ok FROMLONLAT 0 0 BYRADIUS 1 m}
        {XREADGROUP GROUP g STREAMS STREAMS bad >} {XREADGROUP NOACK GROUP g STREAMS STREAMS bad >}
        {XREADGROUP GROUP STREAMS c COUNT 1 STREAMS ok bad > >} {XREADGROUP GROUP g c MAXCOUNT 10 STREAMS bad >}
        {XACK bad g 1} {XCLAIM bad g c 0 1} {XGROUP CREATE bad g 0 MKSTREAM} {XINFO GROUPS bad} {XPENDING bad g}
        {WATCH ok bad} {OBJECT ENCODING bad} {MEMORY USAGE bad SAMPLES 1} {XINFO STREAM bad}
    }
    r EXISTS bad
} 0
check_in 3 "CLIENT TRACKING names no key that its user, or the user to whom it redirects, may not read" {
    set c [as a ~ok %W~written +@all]
    set all [client_open]
    $c call CLIENT TRACKING ON BCAST
    $all call CLIENT TRACKING ON BCAST REDIRECT [$c call CLIENT ID]
    assert_equal [refusal $c GET bad] $no_key
    foreach command {{SET bad 1} {SET written 1} {RENAME bad other} {MSET bad 1 ok 1} {SET bad 1 PX 1} {SET ok 2}} {
        r {*}$command
    }
    after 5
    r EXISTS bad
    r DEL written other
    $c send PING
    set told {}
    while {[set message [$c read]] ne "PONG"} {
        lappend told {*}[lindex $message 1]
    }
    lsort -unique $told
} ok
check "a number of keys that is none is refused by the command, if not before" {
    set c [as a ~ok +@all]
    foreach command {EVAL EVAL_RO FCALL FCALL_RO EVALSHA} {
        foreach number {-1 2147483648 4294967297 9223372036854775808 18446744073709551617 1.5 x ""} {
            assert_match "* *" [refusal $c $command x $number bad] ;# it throws when there is no error
        }
    }
    foreach command {{ZUNIONSTORE bad 2147483649 ok} {ZUNIONSTORE ok -1 bad} {LMPOP 4294967297 bad LEFT}
        {SINTERCARD 4294967297 bad}
        {ZINTERSTORE bad 0 ok} {ZDIFF 4294967297 bad} {BLMPOP 0 4294967297 bad LEFT} {ZMPOP 4294967297 bad MIN}} {
        assert_match "ERR *" [refusal $c {*}$command]
    }
    r EXISTS bad
} 0
check "ACL DRYRUN survives a number of keys that is none" {
    r ACL SETUSER a reset on nopass ~ok +@all
    list [error_of {r ACL DRYRUN a EVAL x}] [r ACL DRYRUN a EVAL x 2147483648] [r ACL DRYRUN a EVAL x -1] \
        [r ACL DRYRUN a EVAL x 2147483648 bad] [r ACL DRYRUN a EVAL x 1 bad]
} {{ERR wrong number of arguments for 'eval' command} OK OK OK {User a has no permissions to access the 'bad' key}}
check "BITFIELD needs to write unless all it does is GET" {
    r SET k abc
    set c [as a %R~k +@all]
    expect_denied $c {
        {BITFIELD k SET i8 0 1 GET i8 0} {BITFIELD k GET i8 0 SET i8 0 1} {BITFIELD k INCRBY i8 0 1}
        {BITFIELD k OVERFLOW SAT SET i8 0 1}
        {BITFIELD k GET i8 0 OVERFLOW WRAP INCRBY u2 0 1}
    }
    list [$c call BITFIELD k GET i8 0] [$c call BITFIELD_RO k GET i8 0] [r GET k]
} {97 97 abc}
check "keys that only data names need the right to read all keys" {
    r RPUSH k 1 2
    r MSET secret:1 x secret:2 y
    set c [as a ~k +@all]
    foreach command {{SORT_RO k BY secret:*} {SORT k BY secret:*} {SORT k GET secret:*} {SORT k BY nosort GET secret:*}
        {SORT k BY nosort GET # GET secret:* STORE k} {SORT k BY w*->f}} {
        assert_match "ERR * option of SORT denied due to insufficient ACL permissions." [refusal $c {*}$command]
    }
    list [refusal $c EVAL {return redis.pcall('SORT', KEYS[1], 'GET', 'secret:*')} 1 k] [r LRANGE k 0 -1]
} {{ERR GET option of SORT denied due to insufficient ACL permissions.} {1 2}}

# --- Rights that are lost on the way

check "MULTI, GET, the key is taken away, EXEC" {
    r SET k secret
    set c [as a ~* +@all]
    set denied "(error) NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call.\
 This command is no longer allowed for the following reason: no permission to touch the specified keys"
    $c pipeline {MULTI {GET k}}
    r ACL SETUSER a resetkeys
    assert_equal [$c call EXEC] [list $denied]
    # Rights that are gone, and there again, are there.
    r ACL SETUSER a ~*
    $c pipeline {MULTI {GET k}}
    r ACL SETUSER a resetkeys
    r ACL SETUSER a ~k
    assert_equal [$c call EXEC] secret
    # A user of the same name is another user.
    $c pipeline {MULTI {GET k}}
    r ACL DELUSER a
    r ACL SETUSER a reset on nopass ~* +@all
    $c is_closed
} 1
check "a script that runs as a user keeps to its rights in whatever it calls" {
    r MSET ok v bad secret
    set c [as a ~ok +@all -flushall]
    foreach script {
        {return redis.pcall('GET', 'bad')} {return redis.pcall('COPY', 'bad', 'ok', 'REPLACE')}
        {return redis.pcall('MGET', KEYS[1], 'bad')} {return redis.pcall('FLUSHALL')}
        {redis.setresp(3) return redis.pcall('GET', 'bad')} {return redis.pcall('SORT', 'ok', 'STORE', 'bad')}
    } {
        assert_match "*ACL failure in script: *" [refusal $c EVAL $script 1 ok]
    }
    list [r GET ok] [r GET bad]
} {v secret}

# --- What is quoted is bounded

check "names of megabytes are cut in ACL LOG and in the server's log" {
    r ACL LOG RESET
    set before [string length [$current_server log]]
    set name [string repeat n 5000000]
    set c [as a ~x +get]
    refusal [client_open] AUTH $name x
    refusal [client_open] AUTH default2 $name
    refusal $c GET $name
    refusal $c $name
    set found [lmap entry [r ACL LOG] {
        list [dict get $entry reason] [string length [dict get $entry object]] \
            [string length [dict get $entry username]]
    }]
    lappend found [expr {[string length [$current_server log]] - $before < 10000}]
} {{key 256 1} {auth 4 8} {auth 4 256} 1}
check_in 2 "a client that has not logged in can send 10 arguments of 16 KB" {
    with_server {} {
        set admin [client_open]
        $admin call ACL SETUSER default off
        set large [string repeat x 16384]
        set answers [list [refusal [client_open] PING $large]]
        lappend answers [refusal [client_open] AUTH $large $large]
        foreach request [list "*11\r\n" "*2\r\n\$4\r\nPING\r\n\$16385\r\n"] {
            set c [client_open]
            $c write $request
            lappend answers [error_of {$c read}] [$c is_closed]
        }
        $admin call ACL SETUSER default on
        set answers
    }
} {{NOAUTH Authentication required.} {WRONGPASS invalid username-password pair or user is disabled.} {ERR\
 Protocol error: unauthenticated multibulk length} 1 {ERR Protocol error: unauthenticated bulk length} 1}

# --- Random calls of every command that uses keys
#
# The user may use keys ok:*, read r:*, write w:*, and a few words that are options. Others are bad:* and words. What
# may not be read holds TOPSECRET in each value, which no reply may show; what may not be written must stay as it is,
# and no other key may appear.

set kinds {string list hash set zset stream number}
set words {STORE BY GET LIMIT KEYS STREAMS COUNT DB REPLACE WITHSCORES WEIGHTS LEFT AUTH BLOCK}

proc choose {list} {
    return [lindex $list [expr {int(rand() * [llength $list])}]]
}
proc chance {probability} {
    return [expr {rand() < $probability}]
}
proc fill_commands {key kind text} {
    return [dict get [list string [list SET $key $text] list [list RPUSH $key ${text}1 ${text}2 ${text}3] \
        hash [list HSET $key f ${text}1 x ${text}2] set [list SADD $key ${text}1 ${text}2] \
        zset [list ZADD $key 1 ${text}1 2 ${text}2] stream [list XADD $key 1-0 f $text] number [list SET $key 5]] $kind]
}
proc data_commands {} {
    set commands {FLUSHALL}
    foreach class {ok r w bad} {
        set text [expr {$class in {ok r} ? "plain" : "TOPSECRET"}]
        foreach kind $::kinds {
            lappend commands [fill_commands $class:$kind $kind $text]
        }
    }
    foreach word $::words {
        set text [expr {$word in $::allowed_words ? "plain" : "TOPSECRET"}]
        lappend commands [fill_commands $word [choose $::kinds] $text]
    }
    return $commands
}

# Commands, as lists of their names, with the arguments that COMMAND DOCS describes.
proc docs_with_keys {docs} {
    set found {}
    foreach {name doc} $docs {
        if {[dict exists $doc subcommands]} {
            lappend found {*}[docs_with_keys [dict get $doc subcommands]]
        } elseif {[dict exists $doc arguments] && [string match "*type key*" [dict get $doc arguments]]} {
            lappend found [split $name |] [dict get $doc arguments]
        }
    }
    return $found
}

proc random_key {} {
    set roll [expr {rand()}]
    if {$roll < 0.04} {
        return [choose $::words]
    }
    return [choose {ok ok ok ok r w bad}]:[expr {[chance 0.6] ? $::kind : [choose [concat $::kinds none]]}]
}

proc random_value {argument} {
    switch -- [dict get $argument name] {
        host {return 127.0.0.1}
        port {return 1}
        timeout {return 0.01}
        milliseconds {return 1}
        cursor - destination-db - db {return [choose {0 0 1}]}
        script {return [choose $::scripts]}
        sha1 {return $::sha}
        function {return f}
        serialized-value {return $::payload}
        numkeys {return [choose {1 1 2 2 3 0 -1 4294967297}]}
    }
    switch -- [dict get $argument type] {
        key {return [random_key]}
        integer {return [choose {0 1 2 3 -1 5}]}
        double {return [choose {0 1 1.5 -1 +inf}]}
        unix-time {return 4000000000}
        pattern {return [choose {* bad:* w:* nosort TOP*->f #}]}
        default {return [choose {f x 1 plain1 v 0-0 1-0 u8 LEFT - + [a (1}]}
    }
}

# Words for the arguments of a description.
proc random_words {arguments} {
    set found {}
    set numkeys -1
    foreach argument $arguments {
        set flags [expr {[dict exists $argument flags] ? [dict get $argument flags] : ""}]
        if {"optional" in $flags && [chance 0.65]} {
            continue
        }
        set times [expr {"multiple" in $flags ? 1 + int(rand() * 3) : 1}]
        set part {}
        for {set i 0} {$i < $times} {incr i} {
            if {[dict exists $argument token] && ($i == 0 || "multiple_token" in $flags)} {
                lappend part [dict get $argument token]
            }
            switch -- [dict get $argument type] {
                pure-token {}
                oneof {lappend part {*}[random_words [list [choose [dict get $argument arguments]]]]}
                block {lappend part {*}[random_words [dict get $argument arguments]]}
                default {lappend part [random_value $argument]}
            }
        }
        if {[dict get $argument type] eq "key" && $numkeys >= 0} {
            if {[chance 0.9]} {
                lset found $numkeys $times
            }
            set numkeys -1
        }
        if {[dict get $argument name] eq "numkeys"} {
            set numkeys [llength $found]
        }
        lappend found {*}$part
    }
    return $found
}

# A call with, perhaps, options that repeat, words in wrong places or words missing.
proc random_call {name arguments} {
    set ::kind [choose $::kinds]
    set found [random_words $arguments]
    if {[chance 0.15]} {
        set from [expr {int(rand() * [llength $found])}]
        lappend found {*}[lrange $found $from [expr {$from + 1 + int(rand() * 3)}]]
    }
    if {[chance 0.3]} {
        set at [expr {int(rand() * ([llength $found] + 1))}]
        set found [linsert $found $at [expr {[chance 0.5] ? [choose $::words] : [random_key]}]]
    }
    if {[chance 0.08]} {
        set at [expr {int(rand() * [llength $found])}]
        set found [lreplace $found $at $at]
    }
    return [concat $name $found]
}

# The same as it is, in a transaction, or by a script.
proc random_requests {name arguments} {
    set call [random_call $name $arguments]
    switch -- [choose {plain plain queued script}] {
        plain {return [list $call]}
        queued {return [list MULTI $call EXEC]}
        script {return [list [list EVAL {return redis.pcall(unpack(ARGV))} 0 {*}$call]]}
    }
}

proc rights {} {
    set allowed [lmap word $::words {expr {[chance 0.2] ? "~$word" : [continue]}}]
    set ::allowed_words [lmap word $allowed {string range $word 1 end}]
    return [choose [list \
        [list ~ok:* %R~r:* %W~w:* +@all {*}$allowed] \
        [list ~ok:* +@all {*}$allowed "(~ok:* %R~r:* +@all)" "(~ok:* %W~w:* +@all)"] \
        [list +@all "(~ok:* +@all [join $allowed])" "(~o*:* %R~r:* %W~w:* +@write +@read +@scripting +@transaction)"]]]
}

proc may_write {key} {
    return [expr {[string match ok:* $key] || [string match w:* $key] || $key in $::allowed_words}]
}

# What the user must not be able to change: digests and expiries of keys, and their names.
proc state_of_others {} {
    set names [lmap key [lsort [r KEYS *]] {expr {[may_write $key] ? [continue] : $key}}]
    set expiries [lmap key $names {list PEXPIRETIME $key}]
    return [list $names [r DEBUG DIGEST-VALUE {*}$names] [[default_client] pipeline $expiries]]
}

check "no random call of a command with keys changes or tells what its user has no right to" {
    set scripts {
        {return redis.pcall('GET', KEYS[1])} {return redis.pcall('SET', 'bad:string', 'x')}
        {return redis.pcall(unpack(ARGV))} {return redis.pcall('GET', 'bad:string')}
        {return {redis.pcall('LRANGE', 'w:list', 0, -1)}}
    }
    set sha [r SCRIPT LOAD [lindex $scripts 2]]
    set body "function(keys, args) return redis.pcall(unpack(args)) end"
    r FUNCTION LOAD REPLACE "#!lua name=l\nredis.register_function('f', $body)"
    r SET x plain
    set payload [r DUMP x]
    set described [docs_with_keys [r COMMAND DOCS]]
    assert {[llength $described] > 300}
    set denied {}
    foreach {name arguments} $described {
        foreach part {1 2 3} {
            set rules [rights]
            [default_client] pipeline [data_commands]
            set c [as a {*}$rules]
            set before [state_of_others]
            set requests {}
            for {set i 0} {$i < 30} {incr i} {
                lappend requests {*}[random_requests $name $arguments]
            }
            set replies [$c pipeline $requests]
            if {[string match *TOPSECRET* $replies]} {
                error "told what is secret: [r ACL LIST]\n$requests\n$replies"
            }
            set after [state_of_others]
            if {$after ne $before} {
                error "changed what may not be changed: [r ACL LIST]\n$requests\n$before\n$after"
            }
            if {[regexp {NOPERM|ACL failure} $replies]} {
                dict set denied $name 1
            }
            $c close
        }
    }
    # Each was denied at least once.
    lmap {name arguments} $described {expr {[dict exists $denied $name] ? [continue] : $name}}
} {}

finish
