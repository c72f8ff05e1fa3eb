# Scripts and functions that run longer than busy-reply-threshold: what other clients get meanwhile, how a script is
# killed, and what it may not notice.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/busy.tcl
source $library/functions.tcl

server_start {slowlog-log-slower-than 10000}

proc log_of {body} {
    set before [string length [$::current_server log]]
    uplevel 1 $body
    return [string range [$::current_server log] $before end]
}

# --- The threshold

check "busy-reply-threshold is 5 seconds; lua-time-limit is another name of it" {
    set shown [list [r CONFIG GET busy-reply-threshold] [r CONFIG GET lua-time-limit]]
    with_config {lua-time-limit 77} {
        lappend shown [r CONFIG GET busy-reply-threshold]
    }
    lappend shown [error_of {r CONFIG SET busy-reply-threshold -1}]
} {{busy-reply-threshold 5000} {lua-time-limit 5000} {busy-reply-threshold 77} {ERR CONFIG SET failed (possibly\
related to argument 'busy-reply-threshold') - argument must be between 0 and 9223372036854775807 inclusive}}
check "a script that is over before is not noticed" {
    log_of {
        with_config {busy-reply-threshold 5000} {
            r EVAL "[spin 0.05] return 1" 0
        }
    }
} {}
check "with a threshold of 0 no script is ever busy: clients wait for it" {
    log_of {
        with_config {busy-reply-threshold 0} {
            set runner [client_open]
            default_client
            at_once {
                $runner send EVAL "[spin 0.3] return 'done'" 0
                after 50
                [default_client] send ECHO waits
            }
            assert_equal [list [$runner read] [[default_client] read]] {done waits}
        }
    }
} {}
check "the log says how long the script has run, its name, and how to kill it" {
    set log [log_of {with_busy [list EVAL "$forever -- 1" 0] {}}]
    set sha [r SCRIPT LOAD "$forever -- 1"]
    set pattern "Slow script detected: still in execution after (\\d+) milliseconds. You can try killing the script\
        using the SCRIPT KILL command. Script name is: $sha\\."
    assert {[regexp $pattern $log _ milliseconds] && $milliseconds >= 20}
    list [regexp -all "Slow script detected" $log] [regexp {Lua script killed by user with SCRIPT KILL.} $log]
} {1 1}
check "so it does for a function" {
    r FUNCTION LOAD REPLACE [library_with loop $forever]
    set log [log_of {with_busy {FCALL loop 0} {}}]
    regexp {You can try killing the script using the FUNCTION KILL command. Script name is: loop\.} $log
} 1
check "commands that take long count, however few instructions of the script run" {
    r SETRANGE big 60000000 x
    with_busy {EVAL {while true do redis.call('BITCOUNT', KEYS[1]) end} 1 big} {
        r SCRIPT KILL
    }
} OK

# --- What other clients get

# What a request of that command could look like.
proc request_of {name arity} {
    set words [split $name |]
    while {[llength $words] < abs($arity)} {
        lappend words 1
    }
    return $words
}

# {name request …} of all commands, those that must be allowed while a script is busy, and others.
proc requests_of_all {} {
    set allowed {}
    set others {}
    set infos [r COMMAND]
    while {[llength $infos] > 0} {
        set infos [lassign $infos info]
        lassign $info name arity flags
        lappend infos {*}[lindex $info 9]
        if {[llength [lindex $info 9]] > 0} continue
        lappend [expr {"allow_busy" in $flags ? "allowed" : "others"}] $name [request_of $name $arity]
    }
    return [list $allowed $others]
}

check "only commands with the flag allow_busy are run" {
    lassign [requests_of_all] allowed others
    assert {[llength $others] > 400}
    with_busy [list EVAL $forever 0] {
        dict for {name request} $others {
            set wanted [expr {$name eq "exec" ? "EXECABORT Transaction discarded because of: " : ""}]$busy_with_script
            assert_equal [list $name [reply_of $request]] [list $name $wanted]
        }
    }
    lsort [dict keys $allowed]
} [list auth client|capa discard function|kill function|stats hello multi quit replconf reset script|kill shutdown\
    unwatch watch]
check "… what they do does not wait for the script" {
    with_busy [list EVAL $forever 0] {
        set c [client_open]
        set replies [list [lindex [$c call HELLO] 1] [$c call WATCH a b] [$c call UNWATCH]]
        lappend replies [$c call MULTI] [$c call DISCARD]
        lappend replies [catch_error {$c call AUTH x}] [$c call RESET] [$c call QUIT]
    }
} "redis OK OK OK OK {ERR AUTH <password> called without any password configured for the default user. Are you sure\
your configuration is correct?} RESET OK"
check "errors that do not depend on the script come first" {
    with_busy [list EVAL $forever 0] {
        list [reply_of NOSUCH] [reply_of GET] [reply_of {SCRIPT NOSUCH}] [reply_of {GET k}]
    }
} [list "ERR unknown command 'NOSUCH', with args beginning with: " "ERR wrong number of arguments for 'get' command" \
    "ERR unknown subcommand 'NOSUCH'. Try SCRIPT HELP." $busy_with_script]
check "while a function runs, the error names FUNCTION KILL" {
    r FUNCTION LOAD REPLACE [library_with loop $forever]
    with_busy {FCALL loop 0} {
        set errors {}
        foreach request {PING INFO {GET k} {FUNCTION LIST} {FUNCTION FLUSH} {FUNCTION DELETE loop}
            {FUNCTION LOAD REPLACE x} {FUNCTION DUMP} {FUNCTION RESTORE x} {FCALL loop 0} {EVAL {return 1} 0}
            {SCRIPT FLUSH} {SCRIPT LOAD x}} {
            lappend errors [reply_of $request]
        }
        lsort -unique $errors
    }
} [list $busy_with_function]
check "no directive can be changed, and no client killed" {
    set id [r CLIENT ID]
    with_busy [list EVAL $forever 0] {
        list [reply_of {CONFIG SET busy-reply-threshold 0}] [reply_of "CLIENT KILL ID $id"] [reply_of {CLIENT LIST}]
    }
} [lrepeat 3 $busy_with_script]
check "what was refused is counted" {
    r CONFIG RESETSTAT
    with_busy [list EVAL $forever 0] {
        foreach _ {1 2 3} {reply_of {LLEN k}}
    }
    list [regexp {rejected_calls=3,} [info_field cmdstat_llen]] \
        [regexp {^count=([3-9]|\d\d+)$} [info_field errorstat_BUSY]]
} {1 1}
check_in 2 "in a connection that listens to channels, a command that is not allowed there is refused for that" {
    set c [client_open]
    $c call SUBSCRIBE channel
    with_busy [list EVAL $forever 0] {
        list [catch_error {$c call GET k}] [catch_error {$c call PING}]
    }
} [list "ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this\
    context" $busy_with_script]
check "the slow log has the script, with its arguments" {
    r SLOWLOG RESET
    with_busy [list EVAL $forever 1 key argument] {}
    lindex [r SLOWLOG GET] 0 3
} [list EVAL $forever 1 key argument]

# --- Killing

check "SCRIPT KILL ends a script with an error" {
    with_busy [list EVAL $forever 0] {
        set replies [list [typed SCRIPT KILL] [catch_error {$runner read}]]
    }
    string map [list [r SCRIPT LOAD $forever] SHA] $replies
} "{simple OK} {ERR Script killed by user with SCRIPT KILL... script: SHA, on @user_script:1.}"
check "FUNCTION KILL ends a function with an error" {
    r FUNCTION LOAD REPLACE [library_with loop "while true do\nend"]
    with_busy {FCALL loop 0} {
        set reply [typed FUNCTION KILL]
        regsub {:\d+\.$} [catch_error {$runner read}] :LINE. error
        list $reply $error
    }
} {{simple OK} {ERR Script killed by user with SCRIPT KILL... script: loop, on @user_function:LINE.}}
foreach {name request kill} {
    EVALSHA    {EVALSHA %s 0}           SCRIPT
    EVAL_RO    {EVAL_RO %f 0}           SCRIPT
    EVALSHA_RO {EVALSHA_RO %s 0}        SCRIPT
    FCALL_RO   {FCALL_RO loop 0}        FUNCTION
} {
    check "$name can be killed" [string map [list %REQUEST $request %KILL $kill] {
        r FUNCTION LOAD REPLACE [library_with loop $forever no-writes]
        set sha [r SCRIPT LOAD $forever]
        set request [lmap word {%REQUEST} {string map [list %s $sha %f $forever] $word}]
        with_busy $request {
            list [r %KILL KILL] [string match "ERR Script killed by user*" [catch_error {$runner read}]]
        }
    }] {OK 1}
}
foreach {what script} {
    "a table that stands in others" {local t = {} for i = 1, 24 do t = {t, t} end return t}
    "one long table"                {local t, u = {}, {} for i = 1, 1e4 do t[i] = u u[i] = 1 end return t}
    "a map"                         {local t = {} for i = 1, 24 do t = {map = {[t] = t}} end return t}
} {
    check "a script is busy while its reply is made, and can be killed: $what" [string map [list %SCRIPT $script] {
        with_config {lua-memory-limit 1gb proto-max-bulk-len 2gb} {
            with_busy {EVAL {%SCRIPT} 0} {
                set replies [list [typed SCRIPT KILL] [catch_error {$runner read}]]
            }
        }
        regsub {[0-9a-f]{40}} $replies SHA
    }] "{simple OK} {ERR Script killed by user with SCRIPT KILL... script: SHA}"
}
check "what a function returns belongs to its run, too" {
    r FUNCTION LOAD REPLACE [library_with grows {local t = {} for i = 1, 24 do t = {t, t} end return t}]
    with_config {lua-memory-limit 1gb proto-max-bulk-len 2gb} {
        with_busy {FCALL grows 0} {
            list [typed FUNCTION KILL] [catch_error {$runner read}]
        }
    }
} {{simple OK} {ERR Script killed by user with SCRIPT KILL... script: grows}}
foreach {what script} {
    pcall      {while true do pcall(function() while true do end end) end}
    xpcall     {while true do xpcall(function() while true do end end, function() while true do end end) end}
    coroutines {while true do coroutine.resume(coroutine.create(function() while true do end end)) end}
    wrap       {while true do pcall(coroutine.wrap(function() pcall(function() while true do end end) end)) end}
    sort       {while true do pcall(table.sort, {3, 2, 1}, function(a, b) while true do end end) end}
    gsub       {while true do pcall(string.gsub, 'aaa', 'a', function() while true do end end) end}
    metamethods {local t = setmetatable({}, {__index = function() while true do end end})
                 while true do pcall(function() return t.x end) end}
    redis.pcall {while true do redis.pcall('GET', 'k') redis.pcall('NOSUCH') end}
    yielding   {local c = coroutine.wrap(function() while true do coroutine.yield() end end) while true do c() end}
    loadstring {while true do pcall(loadstring('while true do end')) end}
    strings    {while true do local s = string.rep('x', 1000000) .. 'y' end}
} {
    check "nothing in a script can catch a kill: $what" [string map [list %SCRIPT $script] {
        with_busy [list EVAL {%SCRIPT} 0] {
            list [r SCRIPT KILL] [string match "ERR Script killed by user*" [catch_error {$runner read}]]
        }
    }] {OK 1}
}
check "when nothing runs, there is nothing to kill" {
    list [reply_of {SCRIPT KILL}] [reply_of {FUNCTION KILL}]
} [list $not_busy $not_busy]
check "SCRIPT KILL does not end a function, nor FUNCTION KILL a script" {
    r FUNCTION LOAD REPLACE [library_with loop $forever]
    with_busy {FCALL loop 0} {
        set errors [list [reply_of {SCRIPT KILL}]]
    }
    with_busy [list EVAL $forever 0] {
        lappend errors [reply_of {FUNCTION KILL}]
    }
} [list $busy_with_function $busy_with_script]
check "a script that has written cannot be killed" {
    with_busy_to_end [list EVAL "redis.call('SET', 'k', 'x') [spin 0.5] return 'done'" 0] {
        set errors [list [reply_of {SCRIPT KILL}] [reply_of {FUNCTION KILL}]]
    }
    list $errors [$runner read] [r GET k]
} [list [list $unkillable $unkillable] done x]
check "nor can a function that has written" {
    r FUNCTION LOAD REPLACE [library_with write "redis.call('SET', 'k', 'x') [spin 0.5] return 'done'"]
    with_busy_to_end {FCALL write 0} {
        set errors [list [reply_of {SCRIPT KILL}] [reply_of {FUNCTION KILL}]]
    }
    list $errors [$runner read] [r GET k]
} [list [list $unkillable $unkillable] done x]
check "a write that was refused does not count" {
    r SADD set member
    with_busy {EVAL {redis.pcall('NOSUCH') redis.call('GET', 'k') while true do end} 0} {
        list [r SCRIPT KILL] [string match "ERR Script killed*" [catch_error {$runner read}]]
    }
} {OK 1}
check "after a kill scripts run as before" {
    with_busy [list EVAL $forever 0] {r SCRIPT KILL}
    list [r EVAL {return {KEYS[1], ARGV[1]}} 1 k a] [string match "ERR Script killed*" [catch_error {$runner read}]] \
        [$runner call EVAL {return 'fine'} 0]
} {{k a} 1 fine}

# --- FUNCTION STATS

check_in 2 "FUNCTION STATS describes the function that runs (RESP2)" {
    r FUNCTION FLUSH
    r FUNCTION LOAD REPLACE [library_with loop $forever]
    with_busy {FCALL loop 1 key argument} {
        set typed [typed FUNCTION STATS]
        set running [lindex $typed 1 1]
        set milliseconds [lindex $running 1 5 1]
        assert {$milliseconds >= 20 && $milliseconds < 1000000}
        string map [list "{int $milliseconds}" MILLISECONDS] $typed
    }
} {array {{bulk running_script} {array {{bulk name} {bulk loop} {bulk command} {array {{bulk FCALL} {bulk loop}\
{bulk 1} {bulk key} {bulk argument}}} {bulk duration_ms} MILLISECONDS}} {bulk engines} {array {{bulk LUA} {array {{bulk\
libraries_count} {int 1} {bulk functions_count} {int 1}}}}}}}
check_in 3 "FUNCTION STATS describes the function that runs (RESP3)" {
    r FUNCTION LOAD REPLACE [library_with loop $forever]
    with_busy {FCALL loop 0} {
        set typed [typed FUNCTION STATS]
        list [lindex $typed 0] [lindex $typed 1 1 0] [lindex $typed 1 1 1 0 1] [lindex $typed 1 1 1 3]
    }
} {map map name {array {{bulk FCALL} {bulk loop} {bulk 0}}}}
check "FUNCTION STATS does not describe a script" {
    with_busy [list EVAL $forever 0] {reply_of {FUNCTION STATS}}
} $busy_with_script
check "FUNCTION STATS shows the command of a function in EXEC, not EXEC" {
    r FUNCTION LOAD REPLACE [library_with loop $forever]
    with_config {busy-reply-threshold 20} {
        set c [client_open]
        $c pipeline {MULTI {FCALL loop 1 a b}}
        $c send EXEC
        wait_until {[is_busy]}
        set command [dict get [dict get [r FUNCTION STATS] running_script] command]
        end_scripts
    }
    set command
} {FCALL loop 1 a b}

# --- Transactions

check "a script in EXEC can be killed; the commands around it are run" {
    with_config {busy-reply-threshold 20} {
        set c [client_open]
        $c pipeline [list MULTI {SET a 1} [list EVAL_RO $forever 0] {SET b 2}]
        $c send EXEC
        wait_until {[is_busy]}
        set errors [list [reply_of {GET a}] [reply_of {SCRIPT KILL}]]
        wait_until {![is_busy]}
        set replies [$c read]
    }
    list $errors [lindex $replies 0] [string match "(error) ERR Script killed by user*" [lindex $replies 1]] \
        [lindex $replies 2] [r MGET a b]
} [list [list $busy_with_script OK] OK 1 OK {1 2}]
check "a transaction of another client to which a command could not be added is aborted" {
    with_busy [list EVAL $forever 0] {
        set replies [list [reply_of MULTI] [reply_of {SET a 1}]]
    }
    lappend replies [reply_of {SET b 1}] [reply_of EXEC]
} [list OK $busy_with_script QUEUED "EXECABORT Transaction discarded because of previous errors."]
check "EXEC is refused while a script is busy, and ends the transaction" {
    r MULTI
    r SET a 1
    with_busy [list EVAL $forever 0] {
        set replies [list [reply_of EXEC]]
    }
    lappend replies [reply_of EXEC] [r EXISTS a]
} [list "EXECABORT Transaction discarded because of: $busy_with_script" "ERR EXEC without MULTI" 0]
check "a transaction that was queued before the script can run after it, or be discarded meanwhile" {
    set c [client_open]
    foreach client [list $c [default_client]] {
        $client pipeline {MULTI {SET a 1}}
    }
    with_busy [list EVAL $forever 0] {
        set replies [list [$c call DISCARD]]
    }
    lappend replies [r EXEC] [reply_of EXEC]
} {OK OK {ERR EXEC without MULTI}}
check "a key that is watched while the script runs, and that the script changes afterwards, is changed" {
    with_busy_to_end [list EVAL "redis.call('SET', 'a', 1) [spin 0.5] redis.call('SET', 'k', 1)" 0] {
        r WATCH k
    }
    r MULTI
    r PING
    r EXEC
} (nil)
check "a key that was changed before it is watched is not" {
    with_busy_to_end [list EVAL "redis.call('SET', 'k', 1) [spin 0.5]" 0] {
        r WATCH k
    }
    r MULTI
    r PING
    r EXEC
} PONG

# --- What the script does not notice

check "no key expires for the script" {
    set script "redis.call('SET', 'k', 'x', 'PX', 100) [spin 0.5] return redis.call('EXISTS', 'k')"
    with_busy_to_end [list EVAL $script 0] {
        foreach _ {1 2 3} {reply_of {WATCH k}}
    }
    list [$runner read] [r EXISTS k]
} {1 0}
set wait_for_time {
    local function now()
        local t = redis.call('TIME')
        return t[1] + 0.000001 * t[2]
    end
    local rounds, till = 0, now() + 0.05
    while now() < till do rounds = rounds + 1 end
    return rounds
}
foreach {caller request} [list \
    "a script" [list EVAL $wait_for_time 0] \
    "a function" {FCALL wait_for_time 0}] {
    check "TIME moves on once $caller is busy: one that waits for a time ends" {
        r FUNCTION LOAD REPLACE \
            "#!lua name=waits\nredis.register_function('wait_for_time', function() $wait_for_time end)"
        with_config {busy-reply-threshold 20} {assert {[r {*}$request] > 0}}
    }
}
check "TIME moves on after 5 seconds where no script is ever busy" {
    with_config {busy-reply-threshold 0} {assert {[r EVAL $wait_for_time 0] > 0}}
}
check "TIME is never earlier than it was for the script before" {
    with_config {busy-reply-threshold 20} {
        r EVAL "
            local function now() local t = redis.call('TIME') return t\[1\] * 1000000 + t\[2\] end
            local before = now()
            [spin 0.1]
            local after = now()
            return {after > before, now() >= after}" 0
    }
} {1 1}
check "a client that waits for a key is served after the script" {
    set waiting [client_blocked BLPOP l 0]
    with_busy_to_end [list EVAL "redis.call('RPUSH', 'l', 'a', 'b') [spin 0.5] return redis.call('LPOP', 'l')" 0] {
        foreach _ {1 2 3} {reply_of MULTI; reply_of DISCARD}
        $waiting send PING
    }
    list [$runner read] [$waiting read] [$waiting read]
} {a {l b} PONG}
check "a client whose time to wait is over gets its reply after the script" {
    set waiting [client_open]
    $waiting send BLPOP l 1
    wait_blocked 1
    with_busy_to_end [list EVAL "[spin 1.2]" 0] {}
    $waiting read
} (nil)
check "arguments and results of the script are its own" {
    set long [string repeat x 200000]
    set script "[spin 0.5] return {#ARGV\[1\], KEYS\[1\], redis.call('ECHO', ARGV\[2\])}"
    with_busy_to_end [list EVAL $script 1 key $long last] {
        set c [client_open]
        $c send ECHO [string repeat y 300000]
        $c pipeline [lrepeat 100 [list ECHO [string repeat z 1000]]]
        reply_of [list HELLO 3 SETNAME [string repeat n 1000]]
    }
    $runner read
} {200000 key last}
check "requests that its client has sent with the script are answered after it, in order" {
    with_config {busy-reply-threshold 20} {
        set c [client_open]
        $c write [request {ECHO before}][request [list EVAL "[spin 0.5] return 'script'" 0]][request {ECHO after}]
        wait_until {[is_busy]}
        set d [client_open]
        $d pipeline [lrepeat 10 {ECHO other}]
        list [$c read] [$c read] [$c read]
    }
} {before script after}

finish
