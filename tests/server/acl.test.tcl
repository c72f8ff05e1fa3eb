# Users: ACL SETUSER and its kin, logging in, and what a user who may not do everything is refused.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join [file dirname [file normalize [info script]]] lib users.tcl]

server_start

set no_key "NOPERM No permissions to access a key"
set no_channel "NOPERM No permissions to access a channel"
set wrong_pass "WRONGPASS invalid username-password pair or user is disabled."
proc no_command {user command} {
    return "NOPERM User $user has no permissions to run the '$command' command"
}

proc stat {field} {
    regexp "$field:(\\d+)" [r INFO stats] line value
    return $value
}
proc forget_users {} {
    foreach user [r ACL USERS] {
        if {$user ne "default"} {
            r ACL DELUSER $user
        }
    }
    r ACL LOG RESET
}

# --- Users and their rules

check "ACL SETUSER makes a user without rights" {
    r ACL SETUSER a
    list [r ACL USERS] [lindex [r ACL LIST] 0] [dict get [r ACL GETUSER a] flags]
} {{a default} {user a off resetchannels -@all} off}
check "ACL LIST shows the rules in their order" {
    r ACL SETUSER a reset on >p ~k* %R~r* &ch* +@read -get "(~x* +set)"
    lindex [r ACL LIST] 0
} "user a on #148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940 ~k* %R~r* resetchannels &ch*\
 -@all +@read -get (~x*\
 resetchannels -@all +set)"
check "ACL GETUSER shows what a user may do" {
    r ACL SETUSER a reset on nopass ~k* +get "(%R~x &c +set)"
    assert_equal [r ACL GETUSER nosuch] (nil)
    r ACL GETUSER a
} {flags {on nopass} passwords {} commands {-@all +get} keys ~k* channels {} selectors {{commands {-@all\
 +set} keys %R~x channels &c}}}
check_in 3 "ACL GETUSER is a map, its flags are a set in RESP3" {
    lassign [typed ACL GETUSER default] type members
    list $type [lindex $members 1 0] [typed ACL GETUSER nosuch]
} {map set null}
check "one wrong rule changes nothing" {
    r ACL SETUSER a reset
    set before [r ACL LIST]
    set error [error_of {r ACL SETUSER a on +get +nosuch}]
    list $error [expr {[r ACL LIST] eq $before}]
} {{ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL} 1}
foreach {rules error} {
    nosuch "ERR Error in ACL SETUSER modifier 'nosuch': Syntax error"
    {+config|get|x} "ERR Error in ACL SETUSER modifier '+config|get|x': Allowing first-arg of a subcommand is\
 not supported"
    {!148} "ERR Error in ACL SETUSER modifier '!(redacted)': The password hash must be exactly 64 characters and\
 contain only lowercase hexadecimal characters"
    {(+get} "ERR Unmatched parenthesis in acl selector starting at '(+get'."
    {% } "ERR Error in ACL SETUSER modifier '% ': Syntax error"
    {%~k} "ERR Error in ACL SETUSER modifier '%~k': Syntax error"
} {
    check_error "ACL SETUSER refuses $rules" [list r ACL SETUSER a reset $rules] $error
}
check "%RW~* is a pattern like others, which more may follow; it does not match the empty key" {
    r SET "" x
    set c [as a %RW~* ~k "(%RW~* ~k)" +get]
    set allowed [list [$c call GET any] [refusal $c GET ""]]
    r ACL SETUSER a allkeys
    list {*}$allowed [$c call GET ""] [lindex [r ACL LIST] 0] [error_of {r ACL SETUSER a ~k}]
} [list (nil) $no_key x "user a on nopass ~* resetchannels -@all +get (~* ~k resetchannels -@all)" \
       "ERR Error in ACL SETUSER modifier '~k': Adding a pattern after the * pattern (or the 'allkeys' flag) is not\
 valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"]
check_error "a name has no blank" {r ACL SETUSER "a b"} "ERR Usernames can't contain spaces or null characters"
check_error "the default user cannot be deleted, nor others with it" {r ACL DELUSER a default} \
    "ERR The 'default' user cannot be removed"
check "ACL DELUSER counts" {
    r ACL SETUSER a
    list [r ACL DELUSER a a nosuch] [r ACL USERS]
} {1 default}
check "ACL GENPASS makes as many digits as there are bits" {
    list [string length [r ACL GENPASS]] [string length [r ACL GENPASS 5]] [string is xdigit [r ACL GENPASS\
 4096]]
} {64 2 1}
check_error "ACL GENPASS takes a number" {r ACL GENPASS x} "ERR value is not an integer or out of range"
foreach bits {0 4097 -1} {
    check_error "ACL GENPASS $bits" [list r ACL GENPASS $bits] "ERR ACL GENPASS argument must be the number\
 of bits for the\
 output password, a positive number up to 4096"
}

# --- Logging in

check "AUTH and HELLO log in, ACL WHOAMI tells as whom" {
    r ACL SETUSER a reset on >secret +acl|whoami +hello
    set c [client_open]
    assert_equal [$c call ACL WHOAMI] default
    assert_equal [refusal $c AUTH a wrong] $::wrong_pass
    assert_equal [refusal $c HELLO 2 AUTH nosuch secret] $::wrong_pass
    assert_equal [$c call ACL WHOAMI] default
    assert_equal [$c call AUTH a secret] OK
    assert_equal [$c call ACL WHOAMI] a
    $c call HELLO 2 AUTH default anything
    assert_equal [$c call ACL WHOAMI] default
    $c call HELLO 2 AUTH a secret
    $c call RESET
    $c call ACL WHOAMI
} default
check "a user that is off cannot log in, but stays logged in" {
    set c [as a +ping]
    r ACL SETUSER a off
    list [$c call PING] [refusal [client_open] AUTH a ""]
} [list PONG $wrong_pass]
check "each of several passwords will do, until it is removed" {
    r ACL SETUSER a reset on >one >two
    connection_of a one
    connection_of a two
    r ACL SETUSER a <one
    connection_of a two
    refusal [client_open] AUTH a one
} $wrong_pass
check_error "AUTH without a password of the default user" {[client_open] call AUTH x} "ERR AUTH <password>\
 called without any\
 password configured for the default user. Are you sure your configuration is correct?"
check_in 2 "the default user can be closed to those who do not log in" {
    with_server {} {
        r ACL SETUSER a reset on >p ~* &* +@all
        set admin [connection_of a p]
        $admin call ACL SETUSER default off
        set c [client_open]
        set answers [list [refusal $c PING]]
        $c call AUTH a p
        lappend answers [$c call PING] [refusal [client_open] AUTH default x]
        set waiting [client_open]
        $admin call ACL SETUSER default on
        lappend answers [$waiting call PING] [[client_open] call PING]
    }
} [list "NOAUTH Authentication required." PONG $wrong_pass PONG PONG]
check "CLIENT LIST and CLIENT KILL know users" {
    set c [as a +client]
    assert_match "* user=a *" [$c call CLIENT INFO]
    assert_equal [error_of {r CLIENT KILL USER nosuch}] "ERR No such user 'nosuch'"
    assert_equal [r CLIENT KILL USER a] 1
    $c is_closed
} 1

# --- What is refused

check "commands, subcommands and first arguments" {
    set c [as a ~* +get +client|id +select|0]
    assert_equal [list [$c call GET k] [$c call SELECT 0] [string is digit [$c call CLIENT ID]]] {(nil) OK 1}
    list [refusal $c SET k v] [refusal $c CLIENT LIST] [refusal $c SELECT 1] [refusal $c NOSUCH x] [refusal\
 $c GET]
} [list [no_command a set] [no_command a client|list] [no_command a select] \
    "ERR unknown command 'NOSUCH', with args beginning with: 'x' " "ERR wrong number of arguments for 'get'\
 command"]
check "keys, by what is done with them" {
    set c [as a %R~r* %W~w* ~a* +@all]
    r SET r1 v
    assert_equal [list [$c call GET r1] [$c call SET w1 x] [$c call COPY r1 w2] [$c call STRLEN w1]] {v OK 1 1}
    foreach command {{SET r1 x} {GET w1} {COPY w1 w2} {SET w1 x GET} {GET z} {MGET r1 z} {DEL r1} {BITFIELD\
 r1 SET i8 0 1 GET i8 0}
        {SORT a STORE a BY nosort STORE z} {EVAL {return 1} 1 z}} {
        assert_equal [list $command [refusal $c {*}$command]] [list $command $::no_key]
    }
    list [$c call BITFIELD r1 GET i8 0] [$c call EXISTS r1 w1]
} {118 2}
check "selectors do not add up" {
    set c [as a ~a +get "(~b +set)"]
    list [$c call GET a] [$c call SET b v] [refusal $c GET b] [refusal $c SET a v]
} [list (nil) OK $no_key $no_key]
check "channels, and patterns of them as they are listed" {
    set c [as a &n* +@all]
    foreach command {{SUBSCRIBE x} {PSUBSCRIBE n?} {PSUBSCRIBE *} {PUBLISH x m} {SPUBLISH x m} {SSUBSCRIBE n\
 x}} {
        assert_equal [list $command [refusal $c {*}$command]] [list $command $::no_channel]
    }
    list [$c call PUBLISH news m] [$c call PSUBSCRIBE n*]
} {0 {psubscribe n* 1}}
check "AUTH, HELLO, RESET and QUIT are free" {
    set c [as a]
    assert_equal [refusal $c PING] [no_command a ping]
    $c call HELLO 2
    $c call RESET
    set c [connection_of a]
    $c call AUTH default x
    $c call QUIT
} OK
check "what is refused is counted" {
    set before [list [stat acl_access_denied_cmd] [stat acl_access_denied_key] [stat acl_access_denied_channel]\
        [stat acl_access_denied_auth]]
    set c [as a ~a &a +get +publish]
    refusal $c SET k v
    refusal $c GET k
    refusal $c PUBLISH k m
    refusal $c AUTH a b c
    refusal $c AUTH nosuch x
    lmap was $before now [list [stat acl_access_denied_cmd] [stat acl_access_denied_key] [stat\
 acl_access_denied_channel]\
        [stat acl_access_denied_auth]] {expr {$now - $was}}
} {1 1 1 1}

# --- Transactions, scripts, clients that wait

check "what is refused in MULTI makes EXEC fail" {
    set c [as a ~* +get +multi +exec]
    $c call MULTI
    list [refusal $c SET k v] [refusal $c EXEC]
} [list [no_command a set] "EXECABORT Transaction discarded because of previous errors."]
check "EXEC asks again for each command" {
    set c [as a ~* &* +@all]
    $c pipeline {MULTI {SET k v} {SET l v} {PUBLISH ch m}}
    r ACL SETUSER a resetkeys ~l
    set first [$c call EXEC]
    $c pipeline {MULTI {SET l w}}
    r ACL SETUSER a -set
    list $first [$c call EXEC] [r GET l]
} {{{(error) NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call.\
 This command is\
 no longer allowed for the following reason: no permission to touch the specified keys} OK 0} {{(error)\
 NOPERM ACLs rules\
 changed between the moment the transaction was accumulated and the EXEC call. This command is no longer\
 allowed for the\
 following reason: no permission to execute the command or subcommand}} v}
check "EXEC asks again behind a change of its own user or database" {
    with_server {} {
        set c [as a ~* &* +@all]
        r ACL SETUSER b reset on nopass ~l +@all
        $c pipeline {MULTI {SET k v} {AUTH b x} {SET k w} {SET l w}}
        set first [lmap reply [$c call EXEC] {string range $reply 0 13}]
        # `a` may use k in database 0, and l in database 1.
        r ACL SETUSER a reset on nopass -@all ~k db=0 +@all "(~l db=1 +@all)"
        set c [connection_of a]
        $c pipeline {MULTI {SELECT 1} {SET k w} {SELECT 0} {SET k x}}
        list $first [lmap reply [$c call EXEC] {string range $reply 0 13}] [r GET k]
    }
} {{OK OK {(error) NOPERM} OK} {OK {(error) NOPERM} OK OK} x}
check "a script may do what its caller may" {
    set c [as a ~a +eval +get +ping]
    list [$c call EVAL {return redis.call('get', KEYS[1])} 1 a] \
        [refusal $c EVAL {return redis.pcall('get', 'b')} 0] [refusal $c EVAL {return redis.pcall('set', 'a',\
 1)} 0] \
        [$c call EVAL {return {redis.acl_check_cmd('get', 'a'), redis.acl_check_cmd('get', 'b'),
            redis.acl_check_cmd('set', 'a', '1')}} 0]
} {(nil) {ERR ACL failure in script: No permissions to access a key} {ERR ACL failure in script: User a has\
 no permissions to run\
 the 'set' command} {1 (nil) (nil)}}
check "a client that waits and loses its right leaves the element" {
    set c [as a ~* +blpop]
    $c send BLPOP k 0
    wait_until {[regexp {blocked_clients:1} [r INFO clients]]}
    r ACL SETUSER a resetkeys
    r RPUSH k v
    list [error_of {$c read}] [r LRANGE k 0 -1]
} [list $no_key v]

# --- Rights that change under sessions

check "ACL DELUSER closes the sessions of the user, and its own after the reply" {
    set c [as a +ping]
    set own [as b +acl]
    assert_equal [r ACL DELUSER a] 1
    assert_equal [$own call ACL DELUSER b] 1
    list [$c is_closed] [$own is_closed]
} {1 1}
check "who listens to a channel that it may no longer use is closed" {
    set kept [as a &n* +@all]
    set lost [connection_of a]
    set silent [connection_of a]
    $kept call SUBSCRIBE news
    $lost call SUBSCRIBE nx
    r ACL SETUSER a resetchannels &news
    list [$lost is_closed] [$silent call PING] [r PUBLISH news m]
} {1 PONG 1}

# --- ACL LOG, ACL DRYRUN

check "ACL LOG tells what was refused, newest first, and counts what repeats" {
    forget_users
    set c [as a ~a &a +get +publish +multi +eval]
    refusal $c GET k
    refusal $c GET k
    refusal $c PUBLISH k m
    refusal $c EVAL {return redis.call('set', 'a', 1)} 0
    $c call MULTI
    refusal $c SET k v
    refusal [client_open] AUTH nosuch x
    lmap entry [r ACL LOG] {
        list [dict get $entry count] [dict get $entry reason] [dict get $entry context] [dict get $entry\
 object]\
            [dict get $entry username]
    }
} {{1 auth toplevel AUTH nosuch} {1 command multi set a} {1 command lua set a} {1 channel toplevel k a} {2\
 key toplevel k a}}
check "ACL LOG takes a count, and RESET" {
    set c [as a]
    foreach command {GET TYPE TTL} {
        refusal $c $command k
    }
    list [llength [r ACL LOG 2]] [r ACL LOG -1] [r ACL LOG RESET] [r ACL LOG]
} {2 {} OK {}}
check "an entry of ACL LOG has the client and its times" {
    refusal [as a] GET k
    set entry [lindex [r ACL LOG] 0]
    assert_match "id=* user=a *" [dict get $entry client-info]
    assert {[dict get $entry age-seconds] < 60}
    lsort [dict keys $entry]
} {age-seconds client-info context count entry-id object reason timestamp-created timestamp-last-updated\
 username}
check "acllog-max-len bounds the log" {
    with_config {acllog-max-len 2} {
        set c [as a]
        foreach command {GET SET DEL} {
            refusal $c $command k v
            refusal $c $command k
        }
        llength [r ACL LOG]
    }
} 2
check "ACL DRYRUN tells what would happen" {
    r ACL SETUSER a reset ~a &a +get +publish +config|get
    list [r ACL DRYRUN a GET a] [r ACL DRYRUN a GET zz] [r ACL DRYRUN a SET a b] [r ACL DRYRUN a PUBLISH zz m] \
        [r ACL DRYRUN a CONFIG GET x] [r ACL DRYRUN a AUTH x]
} {OK {User a has no permissions to access the 'zz' key} {User a has no permissions to run the 'set' command}\
 {User a has no permissions to access the 'zz' channel} OK OK}
foreach {arguments error} {
    {zz GET a} "ERR User 'zz' not found"
    {a nosuch} "ERR Command 'nosuch' not found"
    {a config} "ERR wrong number of arguments for 'config' command"
    {a config nosuch} "ERR Command 'config' not found"
    {a GET} "ERR wrong number of arguments for 'get' command"
} {
    check_error "ACL DRYRUN $arguments" [list r ACL DRYRUN {*}$arguments] $error
}

# --- Keys that only data names

check "SORT's BY and GET need the right to read all keys" {
    set c [as a ~a* +@all]
    r RPUSH a 1
    set all [as b %R~* ~a* +@all]
    list [refusal $c SORT a BY w*] [refusal $c SORT a GET #] [refusal $c SORT_RO a BY secret:*] [$c call SORT\
 a BY nosort] \
        [$all call SORT a BY w* GET #]
} {{ERR BY option of SORT denied due to insufficient ACL permissions.} {ERR GET option of SORT denied due to\
 insufficient ACL\
 permissions.} {ERR BY option of SORT denied due to insufficient ACL permissions.} 1 1}

# --- What is recommended

foreach file {redis.conf docs/security.md utils/deploy/tls/users.acl} {
    check "the user that $file proposes for a program serves it, and harms nobody else" {
        assert {[regexp {user app on >\S+ ([^\n`]+)} [read_file $repository/$file] all rules]}
        r SET other v
        set c [as app {*}$rules]
        foreach command {
            PING {HELLO 2} INFO {CLIENT SETINFO LIB-NAME x} {CLIENT SETNAME x} {SELECT 0} {SET app:k v} {GET app:k}
            {DEL app:k} {PUBLISH app:c x} {SUBSCRIBE app:c} {UNSUBSCRIBE app:c} {BLPOP app:l 0.01}
            {EVAL "return 1" 0} MULTI EXEC
        } {
            $c call {*}$command
        }
        foreach command {
            FLUSHALL FLUSHDB {SWAPDB 0 1} {KEYS *} {GET other} {SUBSCRIBE other} {CONFIG GET *} {ACL LIST}
            {DEBUG SLEEP 0} {REPLICAOF NO ONE} {CLIENT LIST} {CLIENT KILL ID 1}
            {MIGRATE 127.0.0.1 1 app:k 0 1} SHUTDOWN SAVE MONITOR {SLOWLOG GET}
        } {
            assert_match "NOPERM *" [refusal $c {*}$command]
        }
        r EXISTS other
    } 1
}

# --- Secrets

check "the slow log shows no rules" {
    with_config {slowlog-log-slower-than 0} {
        r SLOWLOG RESET
        r ACL SETUSER a >secret
        r ACL GETUSER a
        set entries [r SLOWLOG GET]
        list [string match *secret* $entries] [string match "*ACL SETUSER (redacted) (redacted)*" $entries]
    }
} {0 1}

# --- Without a file

foreach command {LOAD SAVE} {
    check_error "ACL $command needs an ACL file" [list r ACL $command] "ERR This Redis instance is not\
 configured to use an ACL\
 file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming\
 you have a Redis\
 configuration file set) in order to store users in the Redis configuration."
}

finish
