# MULTI, EXEC, DISCARD: commands that are queued and run in one piece.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-debug-command yes}

set aborted "EXECABORT Transaction discarded because of previous errors."

# Runs commands in a transaction of the connection of `r`; the typed reply of EXEC.
proc transaction {commands} {
    assert_equal [r MULTI] OK
    foreach command $commands {
        assert_equal [typed {*}$command] {simple QUEUED}
    }
    return [typed EXEC]
}

# The same; the typed replies of the commands.
proc exec_all {args} {
    lassign [transaction $args] type replies
    assert_equal $type array
    return $replies
}

# --- The frame

check "EXEC answers with the replies of all commands" {
    exec_all {SET a 1} {RPUSH l a b} {LRANGE l 0 -1} {GET a}
} {{simple OK} {int 2} {array {{bulk a} {bulk b}}} {bulk 1}}
check "nothing is run before EXEC" {
    r MULTI
    r SET a 1
    assert_equal [[client_open] call EXISTS a] 0
    r EXEC
    r EXISTS a
} 1
check "an empty transaction is an empty array" {transaction {}} {array {}}
check "DISCARD forgets the commands" {
    r MULTI
    r SET a 1
    assert_equal [r DISCARD] OK
    list [r EXISTS a] [error_of {r EXEC}]
} {0 {ERR EXEC without MULTI}}
check_error "EXEC needs MULTI" {r EXEC} "ERR EXEC without MULTI"
check_error "DISCARD needs MULTI" {r DISCARD} "ERR DISCARD without MULTI"
check "MULTI in MULTI is an error that does not spoil the transaction" {
    r MULTI
    assert_equal [error_of {r MULTI}] "ERR MULTI calls can not be nested"
    r PING
    r EXEC
} PONG
check "none of the five takes other arguments" {
    foreach command {MULTI DISCARD UNWATCH MONITOR} {
        set name [string tolower $command]
        assert_equal [error_of {r $command x}] "ERR wrong number of arguments for '$name' command"
    }
    error_of {r WATCH}
} "ERR wrong number of arguments for 'watch' command"
check "a connection that closes takes its queue along" {
    set c [client_open]
    $c pipeline {{MULTI} {SET a 1}}
    $c close
    r EXISTS a
} 0
check "arguments are kept as they were sent" {
    set long [string repeat "x\x00\r\n" 5000]
    r MULTI
    r SET a $long
    r APPEND a ""
    assert_equal [[client_open] call ECHO other] other
    r EXEC
    expr {[r GET a] eq $long}
} 1
check "a transaction that comes byte by byte is queued as a whole" {
    set c [client_open]
    foreach byte [split "MULTI\r\nRPUSH l one two\r\n*3\r\n\$4\r\nLPOP\r\n\$1\r\nl\r\n\$1\r\n1\r\nEXEC\r\n" ""] {
        $c write $byte
    }
    list [$c read] [$c read] [$c read] [$c read]
} {OK QUEUED QUEUED {2 one}}
check "a thousand commands in one pipeline" {
    set commands [list MULTI]
    for {set i 0} {$i < 1000} {incr i} {
        lappend commands [list RPUSH l $i]
    }
    set replies [[default_client] pipeline [concat $commands EXEC]]
    assert_equal [llength [lindex $replies end]] 1000
    r LINDEX l -1
} 999

# --- Errors while queueing

check "a command that does not exist spoils the transaction" {
    r MULTI
    assert_equal [error_of {r FOO a}] "ERR unknown command 'FOO', with args beginning with: 'a' "
    assert_equal [r SET a 1] QUEUED
    assert_equal [error_of {r EXEC}] $aborted
    list [r EXISTS a] [error_of {r EXEC}]
} {0 {ERR EXEC without MULTI}}
check "a wrong number of arguments spoils it" {
    r MULTI
    error_of {r GET}
    error_of {r EXEC}
} $aborted
check "an unknown subcommand spoils it" {
    r MULTI
    assert_equal [error_of {r CONFIG FOO}] "ERR unknown subcommand 'FOO'. Try CONFIG HELP."
    error_of {r EXEC}
} $aborted
check "a command that may not be queued spoils it" {
    r MULTI
    assert_equal [error_of {r SHUTDOWN}] "ERR Command not allowed inside a transaction"
    error_of {r EXEC}
} $aborted
check "wrong arguments of the commands that are not queued spoil it too" {
    foreach command {MULTI DISCARD} {
        r MULTI
        error_of {r $command x}
        assert_equal [error_of {r EXEC}] $aborted
    }
}
check "EXEC with arguments ends the transaction" {
    r MULTI
    assert_equal [error_of {r EXEC x}] \
        "EXECABORT Transaction discarded because of: syntax error"
    error_of {r EXEC}
} "ERR EXEC without MULTI"

# --- EXEC with conditions

# {conditions, whether the queue runs} where a holds 1, b is a list, e has expired.
foreach {conditions runs} {
    {IFEQ a 1} 1
    {IFEQ a 2} 0
    {ifeq a 01} 0
    {IFEQ none 1} 0
    {IFNE a 2} 1
    {IFNE a 1} 0
    {IFNE none 1} 1
    {NX none} 1
    {NX a} 0
    {NX b} 0
    {NX e} 1
    {XX a} 1
    {xx b} 1
    {XX none} 0
    {XX e} 0
    {IFEQ a 1 XX b NX none IFNE a 2} 1
    {IFEQ a 1 XX none} 0
    {XX none IFEQ a 1} 0
    {NX NX XX a} 1
} {
    check "EXEC $conditions [expr {$runs ? {runs the queue} : {discards it}}]" {
        r DEBUG SET-ACTIVE-EXPIRE 0
        r MSET a 1
        r RPUSH b x
        r SET e x PX 1
        after 5
        r MULTI
        r INCR counter
        set reply [typed EXEC {*}$conditions]
        r DEBUG SET-ACTIVE-EXPIRE 1
        if {$reply in {nilarray null}} {
            set reply discarded
        }
        list $reply [r GET counter] [error_of {r EXEC}]
    } [list {*}[expr {$runs ? [list {array {{int 1}}} 1] : [list discarded (nil)]}] "ERR EXEC without MULTI"]
}
foreach conditions {x IFEQ {IFEQ a} {NX} {IFEQ a 1 x} {IFEQ a 1 NX} {IFDEQ a 1}} {
    check "EXEC $conditions is no condition, and ends the transaction" {
        r MULTI
        r SET k v
        list [error_of {r EXEC {*}$conditions}] [error_of {r EXEC}] [r EXISTS k]
    } {{EXECABORT Transaction discarded because of: syntax error} {ERR EXEC without MULTI} 0}
}
check "EXEC with a comparison refuses another type, and runs nothing" {
    r RPUSH b x
    r MULTI
    r SET k v
    list [error_of {r EXEC IFNE b x}] [error_of {r EXEC}] [r EXISTS k]
} {{WRONGTYPE Operation against a key holding the wrong kind of value} {ERR EXEC without MULTI} 0}
check "a watched key that has changed discards the queue before any condition is asked" {
    r WATCH w
    [client_open] call SET w 1
    r MULTI
    r RPUSH b x
    list [r EXEC IFEQ b x] [r EXISTS b]
} {(nil) 0}
check "conditions read the database that was selected before MULTI" {
    r SET a 1
    r MULTI
    r SELECT 3
    r SET a 2
    list [r EXEC IFEQ a 1] [r EXISTS a]
} {{OK OK} 1}
check "EXEC with a condition asks for the right to read the key" {
    r SET secret 1
    r ACL SETUSER limited on nopass +@all ~a* %W~*
    set c [client_open]
    $c call AUTH limited any
    $c call MULTI
    $c call SET secret 2
    set replies [list [error_of {$c call EXEC IFEQ secret 1}] [error_of {$c call EXEC}] [r GET secret]]
    $c call MULTI
    $c call SET secret 3
    lappend replies [$c call EXEC NX a] [r GET secret]
    r ACL DELUSER limited
    set replies
} {{EXECABORT Transaction discarded because of: NOPERM No permissions to access a key} {ERR EXEC without MULTI} 1 OK 3}
check "what EXEC with conditions has run is propagated as a transaction without them" {
    r MULTI
    r SET a 1
    r SET b 2
    r EXEC NX a
    r MGET a b
} {1 2}
check "after an error DISCARD begins anew" {
    r MULTI
    error_of {r FOO}
    r DISCARD
    exec_all PING
} {{simple PONG}}
check "memory that is missing while queueing spoils the transaction" {
    with_config {maxmemory 1} {
        r MULTI
        assert_equal [error_of {r SET a 1}] "OOM command not allowed when used memory > 'maxmemory'."
        error_of {r EXEC}
    }
} $aborted
check "memory that is missing at EXEC refuses what needs it" {
    r MULTI
    r SET a 1
    with_config {maxmemory 1} {
        assert_equal [error_of {r EXEC}] "EXECABORT Transaction discarded because\
            of: OOM command not allowed when used memory > 'maxmemory'."
        r MULTI
        r GET a
        r EXEC
    }
} (nil)

# --- Errors of commands that run

check "an error of one command is its reply, and the others are run" {
    r SET s text
    exec_all {LPUSH s a} {SELECT 99} {BLPOP l x} {INCR n}
} {{error {WRONGTYPE Operation against a key holding the wrong kind of value}} {error {ERR DB index is out of range}}\
    {error {ERR timeout is not a float or out of range}} {int 1}}
check "figures count each command, and EXEC's errors as its own only" {
    r CONFIG RESETSTAT
    r SET s text
    exec_all {LPUSH s a} {GET s}
    catch {r EXEC}
    set info [r INFO commandstats]
    assert {[string match "*cmdstat_lpush:calls=1,*,failed_calls=1\r\n*" $info]}
    assert {[string match "*cmdstat_exec:calls=2,*,failed_calls=1\r\n*" $info]}
    assert {[string match "*cmdstat_get:calls=1,*" $info]}
}

# --- Commands that behave differently

check "the selected database changes for the commands behind, and stays" {
    assert_equal [exec_all {SELECT 3} {SET a 3} {SELECT 0} {EXISTS a} {SELECT 3}] \
        {{simple OK} {simple OK} {simple OK} {int 0} {simple OK}}
    r GET a
} 3
check_in 2 "blocking commands answer at once (RESP2)" {
    exec_all {BLPOP l 0} {BRPOP l 0} {BLMPOP 0 1 l LEFT} {BLMOVE l m LEFT LEFT 0} {BRPOPLPUSH l m 0}
} {nilarray nilarray nilarray nil nil}
check_in 3 "blocking commands answer at once (RESP3)" {
    exec_all {BLPOP l 0} {BRPOP l 0} {BLMPOP 0 1 l LEFT} {BLMOVE l m LEFT LEFT 0} {BRPOPLPUSH l m 0}
} {null null null null null}
check "blocking commands take what is there" {
    exec_all {RPUSH l a b} {BLPOP l 0} {BLMOVE l m LEFT LEFT 0}
} {{int 2} {array {{bulk l} {bulk a}}} {bulk b}}
check "a client that waits for a key is served after the whole transaction" {
    set waiting [client_blocked BLPOP l 0]
    assert_equal [exec_all {RPUSH l a} {LLEN l} {DEL l} {RPUSH l b c} {LLEN l}] \
        {{int 1} {int 1} {int 1} {int 2} {int 2}}
    list [$waiting read] [r LRANGE l 0 -1]
} {{l b} c}
check "a client that waits is not served when the list is gone again" {
    set waiting [client_blocked BLPOP l 0]
    exec_all {RPUSH l a} {DEL l}
    assert {[$waiting is_silent]}
    r RPUSH l b
    $waiting read
} {l b}
check_in 2 "HELLO 3 in a transaction changes the replies behind it" {
    lassign [exec_all {LPOP l 1} {HELLO 3} {LPOP l 1}] before hello after
    list $before [lindex $hello 0] $after
} {nilarray map null}
check "time stands still in a transaction" {
    set replies [exec_all {SET a 1 PX 20} {PTTL a} {DEBUG SLEEP 0.05} {PTTL a} {EXISTS a}]
    assert_equal [lindex $replies 1] [lindex $replies 3]
    lindex $replies 4
} {int 1}
check "QUIT is not queued" {
    r MULTI
    assert_equal [r QUIT] OK
    [default_client] is_closed
} 1
check "RESET leaves the transaction" {
    r MULTI
    r SET a 1
    assert_equal [r RESET] RESET
    assert_equal [r EXISTS a] 0
    error_of {r EXEC}
} "ERR EXEC without MULTI"
check "a client that kills itself gets no further replies" {
    set c [client_open]
    set id [$c call CLIENT ID]
    $c pipeline [list {MULTI} [list CLIENT KILL ID $id SKIPME no] {SET b 1} {PING}]
    $c write "EXEC\r\n"
    set answer [$c read_all]
    list $answer [r EXISTS b]
} [list "*3\r\n:1\r\n" 1]

# --- CLIENT REPLY, AUTH, CLIENT PAUSE

check "CLIENT REPLY OFF in a transaction holds from there on" {
    r MULTI
    r PING
    r CLIENT REPLY OFF
    r PING
    set c [default_client]
    $c send EXEC
    assert_equal [$c read_line] "*3"
    assert_equal [$c read_line] "+PONG"
    $c send PING
    assert {[$c is_silent]}
    r CLIENT REPLY ON
} OK
check "CLIENT REPLY OFF before EXEC hides all of it, and ON in it shows what follows" {
    set c [default_client]
    $c send CLIENT REPLY OFF
    $c write "MULTI\r\nPING\r\nCLIENT REPLY ON\r\nECHO seen\r\nEXEC\r\n"
    list [$c read] [$c read] [r PING]
} {OK seen PONG}
check "CLIENT REPLY SKIP hides the whole reply of EXEC" {
    r MULTI
    r SET a 1
    set c [default_client]
    $c write "CLIENT REPLY SKIP\r\nEXEC\r\nPING\r\nECHO behind\r\n"
    # It was queued, so it skips what follows EXEC instead.
    list [lindex [$c read_typed] 1] [lindex [$c read_line] 0] [$c read] [$c read]
} {QUEUED *2 OK behind}
check "CLIENT REPLY SKIP before MULTI hides the answer to MULTI alone" {
    set c [default_client]
    $c write "CLIENT REPLY SKIP\r\nMULTI\r\nPING\r\nEXEC\r\n"
    list [$c read] [$c read]
} {QUEUED PONG}
check "without a password nothing is queued, and EXEC says so" {
    set c [client_open 2]
    r CONFIG SET requirepass secret
    try {
        set stranger [client new 127.0.0.1 [$current_server port] 2]
        assert_equal [error_of {$stranger call MULTI}] "NOAUTH Authentication required."
        assert_equal [error_of {$stranger call EXEC}] \
            "EXECABORT Transaction discarded because of: NOAUTH Authentication required."
        assert_equal [$stranger call AUTH secret] OK
        $stranger pipeline {{MULTI} {AUTH secret} {EXEC}}
    } finally {
        r CONFIG SET requirepass ""
    }
} {OK QUEUED OK}
check "a transaction that writes waits for the end of CLIENT PAUSE WRITE" {
    set c [client_open]
    $c pipeline {{MULTI} {SET a 1} {GET a}}
    r CLIENT PAUSE 100000 WRITE
    $c send EXEC
    assert {[$c is_silent]}
    assert {[string match "*flags=xb *" [r CLIENT LIST]]}
    r CLIENT UNPAUSE
    $c read
} {OK 1}
check "a transaction that only reads does not wait for CLIENT PAUSE WRITE" {
    r CLIENT PAUSE 100000 WRITE
    try {
        exec_all {GET a} PING
        r MULTI
        [default_client] send SET a 1
        assert {[[default_client] is_silent]}
    } finally {
        $current_server control CLIENT UNPAUSE
    }
    list [[default_client] read] [r EXEC]
} {QUEUED OK}
check "a held-back EXEC whose client leaves runs nothing" {
    set c [client_open]
    $c pipeline {{MULTI} {SET a 1}}
    r CLIENT PAUSE 100000 WRITE
    $c send EXEC
    wait_until {[string match "*flags=xb *" [r CLIENT LIST]]}
    $c close
    wait_until {![string match "*flags=xb *" [r CLIENT LIST]]}
    r CLIENT UNPAUSE
    r EXISTS a
} 0

# --- What is shown of it

proc fields_of {line} {
    set fields {}
    foreach word [split [string trim $line]] {
        regexp {^([^=]*)=(.*)$} $word _ name value
        dict set fields $name $value
    }
    return $fields
}

check "CLIENT INFO counts the queued commands" {
    r MULTI
    r PING
    r CLIENT INFO
    set during [fields_of [lindex [r EXEC] 1]]
    set after [fields_of [r CLIENT INFO]]
    list [dict get $during multi] [dict get $during flags] [dict get $during cmd] \
        [dict get $after multi] [dict get $after flags]
} {2 x exec -1 N}
check "CLIENT LIST shows how much memory a queue takes" {
    set c [client_open]
    $c call CLIENT SETNAME queueing
    $c call MULTI
    $c call SET a [string repeat x 100000]
    set fields [fields_of [lsearch -inline [split [r CLIENT LIST] \n] *name=queueing*]]
    assert {[dict get $fields multi-mem] > 100000}
    assert {[dict get $fields tot-mem] > [dict get $fields multi-mem]}
    $c call DISCARD
    set fields [fields_of [lsearch -inline [split [r CLIENT LIST] \n] *name=queueing*]]
    dict get $fields multi-mem
} 0
check "a queue beyond client-query-buffer-limit ends the connection" {
    with_config {client-query-buffer-limit 1mb} {
        set c [client_open]
        $c call MULTI
        set part [string repeat x 300000]
        for {set i 0} {$i < 3} {incr i} {
            assert_equal [$c call SET a $part] QUEUED
        }
        # It is closed while this is being sent, or behind it.
        catch {$c send SET a $part}
        catch {$c read}
        assert {[$c is_closed]}
        r PING
    }
} PONG
check "a spoiled transaction keeps no more commands" {
    r MULTI
    catch {r FOO}
    r SET a [string repeat x 1000]
    set line [lsearch -inline [split [[client_open] call CLIENT LIST] \n] "*flags=x *"]
    dict get [fields_of $line] multi
} 0
check "COMMAND INFO of the family" {
    lmap info [lmap name {multi exec discard watch unwatch} {lindex [typed COMMAND INFO $name] 1 0 1}] {
        list [lindex $info 0 1] [lindex $info 1 1] [lmap category [lindex $info 6 1] {lindex $category 1}]
    }
} {{multi 1 {@fast @transaction}} {exec -1 {@slow @transaction}} {discard 1 {@fast @transaction}}\
    {watch -2 {@fast @transaction}} {unwatch 1 {@fast @transaction}}}

finish
