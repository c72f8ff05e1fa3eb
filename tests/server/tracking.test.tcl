# CLIENT TRACKING: which keys are tracked, who is told of their changes, when and how.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/tracking.tcl
source $library/primary.tcl
source $library/replica.tcl

server_start {enable-debug-command yes}

# ----- Options -----

foreach {arguments error} {
    nosuch "ERR syntax error"
    {ON nosuch} "ERR syntax error"
    {OFF PREFIX} "ERR syntax error"
    {ON PREFIX} "ERR syntax error"
    {ON REDIRECT} "ERR syntax error"
    {OFF REDIRECT x} "ERR value is not an integer or out of range"
    {ON REDIRECT 0} "ERR The client ID you want redirect to does not exist"
    {ON REDIRECT -1} "ERR The client ID you want redirect to does not exist"
    {ON REDIRECT 99999999} "ERR The client ID you want redirect to does not exist"
    {ON PREFIX a} "ERR PREFIX option requires BCAST mode to be enabled"
    {ON BCAST OPTIN} "ERR OPTIN and OPTOUT are not compatible with BCAST"
    {ON OPTOUT BCAST} "ERR OPTIN and OPTOUT are not compatible with BCAST"
    {ON OPTIN OPTOUT} "ERR You can't specify both OPTIN mode and OPTOUT mode"
    {ON BCAST PREFIX FOOBAR PREFIX FOO} "ERR Prefix 'FOOBAR' overlaps with another provided prefix 'FOO'. Prefixes\
        for a single client must not overlap."
    {ON BCAST PREFIX a PREFIX foo PREFIX foobar} "ERR Prefix 'foo' overlaps with another provided prefix 'foobar'.\
        Prefixes for a single client must not overlap."
    {ON BCAST PREFIX a PREFIX ""} "ERR Prefix 'a' overlaps with another provided prefix ''. Prefixes for a single\
        client must not overlap."
} {
    check "CLIENT TRACKING $arguments is refused, with one reply, and changes nothing" {
        list [error_of {r CLIENT TRACKING {*}$arguments}] [r PING] [tracking_flags [default_client]]
    } [list $error PONG off]
}

check "a second REDIRECT is refused" {
    set id [r CLIENT ID]
    error_of {r CLIENT TRACKING ON REDIRECT $id REDIRECT $id}
} "ERR A client can only redirect to a single other client"

check "OFF is taken with all options that are right by themselves" {
    list [r CLIENT TRACKING OFF] [r CLIENT TRACKING off BCAST NOLOOP OPTIN OPTOUT] \
        [r CLIENT TRACKING OFF PREFIX a PREFIX b REDIRECT [r CLIENT ID]]
} {OK OK OK}

check "BCAST cannot be changed while tracking is on" {
    set text "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling\
        it with a different mode."
    r CLIENT TRACKING ON
    assert_equal [error_of {r CLIENT TRACKING ON BCAST}] $text
    r CLIENT TRACKING OFF
    r CLIENT TRACKING ON BCAST
    assert_equal [error_of {r CLIENT TRACKING ON}] $text
}

check "OPTIN and OPTOUT cannot be exchanged, but taken and given up" {
    set text "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling\
        it with a different mode."
    r CLIENT TRACKING ON
    r CLIENT TRACKING ON OPTIN
    assert_equal [error_of {r CLIENT TRACKING ON OPTOUT}] $text
    r CLIENT TRACKING ON
    r CLIENT TRACKING ON OPTOUT
    assert_equal [error_of {r CLIENT TRACKING ON OPTIN}] $text
    tracking_flags [default_client]
} {on optout}

check "ON again replaces the other options and adds prefixes" {
    r CLIENT TRACKING ON BCAST PREFIX b PREFIX a NOLOOP REDIRECT [r CLIENT ID]
    assert_equal [r CLIENT TRACKINGINFO] \
        [list flags {on bcast noloop} redirect [r CLIENT ID] prefixes {a b}]
    r CLIENT TRACKING ON BCAST PREFIX c
    assert_equal [r CLIENT TRACKINGINFO] {flags {on bcast} redirect 0 prefixes {a b c}}
    assert_equal [error_of {r CLIENT TRACKING ON BCAST PREFIX d PREFIX bb}] \
        "ERR Prefix 'bb' overlaps with an existing prefix 'b'. Prefixes for a single client must not overlap."
    assert_equal [error_of {r CLIENT TRACKING ON BCAST PREFIX a}] \
        "ERR Prefix 'a' overlaps with an existing prefix 'a'. Prefixes for a single client must not overlap."
    r CLIENT TRACKING ON BCAST
    r CLIENT TRACKINGINFO
} {flags {on bcast} redirect 0 prefixes {{} a b c}}

check "CLIENT TRACKINGINFO and GETREDIR while tracking is off" {
    list [r CLIENT TRACKINGINFO] [r CLIENT GETREDIR]
} {{flags off redirect -1 prefixes {}} -1}
check_in 3 "CLIENT TRACKINGINFO is a map with a set and an array in RESP3" {
    typed CLIENT TRACKINGINFO
} {map {{bulk flags} {set {{bulk off}}} {bulk redirect} {int -1} {bulk prefixes} {array {}}}}
check_in 2 "CLIENT TRACKINGINFO is flat in RESP2" {
    typed CLIENT TRACKINGINFO
} {array {{bulk flags} {array {{bulk off}}} {bulk redirect} {int -1} {bulk prefixes} {array {}}}}

check "CLIENT GETREDIR tells the other client" {
    r CLIENT TRACKING ON
    set without [r CLIENT GETREDIR]
    r CLIENT TRACKING ON REDIRECT [r CLIENT ID]
    list $without [expr {[r CLIENT GETREDIR] == [r CLIENT ID]}]
} {0 1}

check "CLIENT INFO and LIST show flags and redirection" {
    set other [client_open]
    set shown {}
    foreach options {ON {ON REDIRECT @} OFF {ON BCAST}} {
        r CLIENT TRACKING {*}[string map [list @ [$other call CLIENT ID]] $options]
        regexp { flags=(\S+) .* redir=(\S+) } [r CLIENT INFO] _ flags redir
        lappend shown $flags [expr {$redir == [$other call CLIENT ID] ? "other" : $redir}]
    }
    set shown
} {t 0 t other N -1 tB 0}

check "INFO counts clients, keys, pairs and prefixes" {
    set fields {tracking_clients tracking_total_keys tracking_total_items tracking_total_prefixes}
    set a [tracker]
    set b [tracker]
    set c [tracker BCAST PREFIX x PREFIX y]
    $a call MGET k1 k2 k3
    $b call GET k2
    set during [lmap field $fields {info_field $field}]
    foreach connection [list $a $b $c] {
        $connection call CLIENT TRACKING OFF
    }
    wait_until {[info_field tracking_total_items] == 0 && [info_field tracking_total_prefixes] == 0}
    list $during [lmap field $fields {info_field $field}]
} {{3 3 4 2} {0 0 0 0}}

check "RESET turns tracking off" {
    set c [client_open]
    $c call CLIENT TRACKING ON BCAST PREFIX a PREFIX b
    $c send RESET
    $c read
    list [tracking_flags $c] [info_field tracking_clients]
} {off 0}

check "scripts may not track" {
    string match "ERR This Redis command is not allowed from script*" \
        [error_of {r EVAL {return redis.call('CLIENT', 'TRACKING', 'ON')} 0}]
} 1

# ----- CLIENT CACHING -----

foreach {mode argument error} {
    {} YES "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"
    {} nosuch "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode\
        enabled"
    ON YES "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
    ON NO "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."
    {ON OPTIN} NO "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."
    {ON OPTOUT} YES "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
    {ON OPTIN} nosuch "ERR syntax error"
} {
    check "CLIENT CACHING $argument after CLIENT TRACKING $mode is refused" {
        if {$mode ne ""} {
            r CLIENT TRACKING {*}$mode
        }
        error_of {r CLIENT CACHING $argument}
    } $error
}

# What CACHING says holds until a request that is not a command of CLIENT has run, or the transaction.
foreach {requests flags} {
    {} {on optin caching-yes}
    {{CLIENT GETNAME}} {on optin caching-yes}
    {PING} {on optin}
    {NOSUCH} {on optin}
    {{GET}} {on optin}
    {{CLIENT NOSUCH}} {on optin}
    {MULTI} {on optin caching-yes}
    {MULTI {GET k}} {on optin caching-yes}
    {MULTI {GET k} EXEC} {on optin}
    {MULTI DISCARD} {on optin}
    {{CLIENT TRACKING ON OPTIN}} {on optin}
} {
    check "CLIENT CACHING YES and then [join $requests {, }]" {
        set c [client_open]
        $c call CLIENT TRACKING ON OPTIN
        $c call CLIENT CACHING YES
        $c pipeline $requests
        if {[lindex $requests end] in {MULTI {GET k}}} {
            $c call CLIENT TRACKINGINFO
            set info [lindex [$c call EXEC] end]
            dict get $info flags
        } else {
            tracking_flags $c
        }
    } $flags
}

check "OPTIN records only what CACHING YES precedes" {
    set c [tracker OPTIN]
    $c call GET a
    $c call CLIENT CACHING YES
    $c call MGET b c
    $c call GET d
    r MSET a 1 b 1 c 1 d 1
    heard $c
} {b c}

check "OPTOUT records all but what CACHING NO precedes" {
    set c [tracker OPTOUT]
    $c call GET a
    $c call CLIENT CACHING NO
    $c call MGET b c
    $c call GET d
    r MSET a 1 b 1 c 1 d 1
    heard $c
} {a d}

check "CACHING holds for a whole transaction" {
    set c [tracker OPTIN]
    $c pipeline {{CLIENT CACHING YES} MULTI {PTTL a} {GET a} {GET b} EXEC {GET c}}
    $c pipeline {MULTI {GET d} {CLIENT CACHING YES} {GET e} EXEC}
    r MSET a 1 b 1 c 1 d 1 e 1
    heard $c
} {a b e}

check "CACHING is used up by a wait that ends without a key" {
    set c [tracker OPTIN]
    r XADD x 1-1 f v
    $c call CLIENT CACHING YES
    $c call XREAD BLOCK 10 STREAMS x $
    $c call GET k
    r SET k 1
    heard $c
} {}

# ----- What is recorded -----

foreach {command key} {
    {GET k} k
    {MGET j k} k
    {EXISTS k} k
    {TYPE k} k
    {TTL k} k
    {STRLEN k} k
    {OBJECT ENCODING k} k
    {MEMORY USAGE k} k
    {DUMP k} k
    {GETRANGE k 0 1} k
    {BITCOUNT k} k
    {LCS j k} k
    {LRANGE k 0 -1} k
    {HGETALL k} k
    {SINTER j k} k
    {SINTERCARD 2 j k} k
    {SSCAN k 0} k
    {ZRANGE k 0 -1} k
    {XREAD STREAMS k 0} k
    {SORT_RO k} k
    {EVAL_RO {return redis.call('GET', KEYS[1])} 1 k} k
    {EVAL {return redis.call('GET', 'k')} 0} k
} {
    check "$command records a key, which need not exist" {
        set c [tracker]
        catch {$c call {*}$command}
        r SET k 1
        heard $c
    } $key
}

foreach command {
    {GETEX k} {GETDEL k} {SORT k} {SET k 1} {DEL k} {EVAL {return 1} 1 k} {EVAL_RO {return 1} 1 k} DBSIZE KEYS\ * PING
    {PUBSUB SHARDNUMSUB k} {BITFIELD k GET u8 0} {TOUCH j}
} {
    check "$command records no key k" {
        set c [tracker]
        $c call {*}$command
        r SET k 2
        heard $c
    } {}
}

check "a command that fails with the wrong type is recorded" {
    r RPUSH k a
    set c [tracker]
    error_of {$c call GET k}
    r RPUSH k b
    heard $c
} k

check "a client hears once, until it reads again" {
    set c [tracker]
    $c call GET k
    r SET k 1
    r SET k 2
    set first [heard $c]
    $c call GET k
    $c call GET k
    r SET k 3
    list $first [heard $c]
} {k k}

check "a key is the same one in all databases" {
    set c [tracker]
    $c call GET k
    r SELECT 3
    r SET k 1
    heard $c
} k

check "in RESP2 without redirection keys are recorded, and nothing is sent" {
    set c [client_open 2]
    $c call CLIENT TRACKING ON
    $c call GET k
    set keys [info_field tracking_total_keys]
    r SET k 1
    list $keys [info_field tracking_total_keys] [$c call PING]
} {1 0 PONG}

# ----- What is a change -----

# {commands before} {the command that changes k} {what is told}
foreach {before change told} {
    {} {SET k 1} k
    {{SET k 1}} {SET k 1} k
    {{SET k 1}} {DEL k} k
    {{SET k 1}} {UNLINK k} k
    {{SET k 1}} {GETDEL k} k
    {{SET k 1}} {EXPIRE k 100} k
    {{SET k 1}} {EXPIRE k -1} k
    {{SET k 1 EX 100}} {PERSIST k} k
    {{SET k 1 EX 100}} {GETEX k PERSIST} k
    {{SET k 1}} {APPEND k ""} k
    {{SET k 1}} {MOVE k 1} k
    {{SET k 1}} {RENAME k j} k
    {{SET j 1}} {RENAME j k} k
    {{SET j 1}} {COPY j k} k
    {{HSET k f v}} {HSET k f v} k
    {{HSET k f v}} {HDEL k f} k
    {{SADD k a}} {SADD k a} {}
    {{SADD k a}} {SADD k b} k
    {{SADD j a}} {SINTERSTORE k j} k
    {{ZADD k 1 a}} {ZADD k 1 a} {}
    {{RPUSH k a}} {LSET k 0 a} k
    {{RPUSH k a}} {LPOP k} k
    {{XADD k 1-1 f v}} {XADD k 2-1 f v} k
    {{XADD k 1-1 f v}} {XDEL k 9-9} {}
    {{SET k 1}} {TOUCH k} {}
    {{SET k 1}} {GET k} {}
    {} {DEL k} {}
    {} {EVAL {redis.call('SET', 'k', 1) redis.call('SET', 'k', 2)} 0} k
} {
    check "after $before, $change tells: $told" {
        foreach command $before {
            r {*}$command
        }
        set c [tracker]
        catch {$c call GET k}
        catch {r {*}$change}
        heard $c
    } $told
}

check "a write of several keys tells each, and a transaction each once" {
    set c [tracker]
    $c call MGET a b c
    r MSET a 1 b 2
    set first [heard $c]
    $c call MGET a b c
    r MULTI
    r SET c 1
    r SET c 2
    r SET a 1
    r EXEC
    list $first [heard $c]
} {{a b} {c a}}

# In a transaction nothing expires, so that what is set for some milliseconds is still there when it is read.

check "expired keys are told, whoever finds them" {
    set c [tracker]
    r SET k 1 PX 1
    $c call GET k
    wait_until {[r EXISTS k] == 0}
    set first [heard $c]
    $c pipeline {MULTI {SET j 1 PX 10} {GET j} EXEC}
    wait_until {[heard $c] eq "j"}
    set first
} {} -match regexp -result {^k?$}

check "fields of hashes that expire are told" {
    set c [tracker]
    $c pipeline {MULTI {HSET k f v g v} {HPEXPIRE k 20 FIELDS 1 f} {HGET k g} EXEC}
    wait_until {[heard $c] eq "k"}
}

check "evicted keys are told" {
    set c [tracker]
    r SET k 1
    $c call GET k
    with_config {maxmemory-policy allkeys-random maxmemory 1} {
        wait_until {[r EXISTS k] == 0}
    }
    heard $c
} k

foreach command {FLUSHALL FLUSHDB {FLUSHALL ASYNC} {FLUSHDB SYNC} {SWAPDB 0 1} {SWAPDB 5 6} {DEBUG RELOAD}} {
    check "$command tells all clients that all keys have changed" {
        set c [tracker]
        set b [tracker BCAST PREFIX x]
        $c call GET k
        r SELECT 3
        r {*}$command
        set told [list [heard $c] [heard $b] [info_field tracking_total_keys]]
        r SET k 1
        list $told [heard $c]
    } {{(nil) (nil) 0} {}}
}

check "SWAPDB of a database with itself changes nothing" {
    set c [tracker]
    $c call GET k
    r SWAPDB 1 1
    heard $c
} {}

# ----- The order of messages and replies -----

# All that a connection gets after these requests, sent at once, until the last one is answered.
proc received {c requests} {
    set bytes ""
    set all {}
    foreach request [list {*}$requests {ECHO end}] {
        append bytes [request $request]
    }
    $c write $bytes
    while {[lindex $all end] ne "end"} {
        lappend all [plain_value [$c read_typed]]
    }
    return [lrange $all 0 end-1]
}

foreach {name requests expected} {
    "a write" {{GET k} {SET k 1} {SET k 2}} {(nil) OK {invalidate k} OK}
    "a transaction" {MULTI {GET k} {SET k 1} {SET k 2} {GET k} EXEC {SET k 3}}
        {OK QUEUED QUEUED QUEUED QUEUED {(nil) OK OK 2} {invalidate k} OK {invalidate k}}
    "a script" {{EVAL {redis.call('GET', 'k') redis.call('SET', 'k', 1) return {1, 2}} 0}} {{1 2} {invalidate k}}
    "FLUSHALL" {{FLUSHALL}} {OK {invalidate (nil)}}
    "FLUSHALL in a transaction" {MULTI {GET k} FLUSHALL {SET k 1} EXEC}
        {OK QUEUED QUEUED QUEUED {(nil) OK OK} {invalidate (nil)}}
    "CLIENT REPLY SKIP" {{GET k} {CLIENT REPLY SKIP} {SET k 1}} {(nil) {invalidate k}}
    "CLIENT REPLY OFF" {{GET k} {CLIENT REPLY OFF} {SET k 1} {GET k} {CLIENT REPLY ON}} {(nil) {invalidate k} OK}
    "TRACKING OFF" {{GET k} {CLIENT TRACKING OFF} {SET k 1}} {(nil) OK OK}
    "prefixes that are tracked" {{CLIENT TRACKING OFF} {CLIENT TRACKING ON BCAST} {SET k 1} {SET j 1}} {OK OK OK OK}
} {
    check_in 3 "the client's own change by $name: first the reply, then the message" {
        received [tracker] $requests
    } $expected
}

check_in 3 "a blocked client: first its reply, then the message about its own change" {
    set c [tracker]
    $c call LLEN k
    $c send BLPOP k 0
    wait_blocked 1
    r RPUSH k a b
    list [$c read] [$c read] [received $c {{LLEN k} {LPOP k}}]
} {{invalidate k} {k a} {1 b {invalidate k}}}

check_in 3 "XREAD BLOCK records when it blocks, and again when it replies" {
    set c [tracker]
    $c send XREAD BLOCK 0 STREAMS k $
    wait_blocked 1
    r XADD k 1-1 f v
    set first [list [$c read] [$c read]]
    r XADD k 2-1 f v
    list $first [heard $c]
} {{{invalidate k} {k {{1-1 {f v}}}}} k}

check_in 3 "keys that are evicted before a command are told before its reply, which is counted as an error" {
    set c [tracker]
    with_config {maxmemory-policy allkeys-random} {
        r SET k 1
        $c call GET k
        $c call CONFIG RESETSTAT
        lassign [received $c {{CONFIG SET maxmemory 1} {SET j 1} {CONFIG SET maxmemory 0}}] ok told error
    }
    list $ok $told [string range $error 0 11] [info_field errorstat_OOM]
} {OK {invalidate k} {(error) OOM } count=1}

# ----- NOLOOP -----

check "NOLOOP: own changes are not told, but the key is forgotten" {
    set c [tracker NOLOOP]
    $c call GET k
    $c call SET k 1
    r SET k 2
    set first [heard $c]
    $c call GET k
    $c pipeline {MULTI {GET j} {SET j 1} EXEC {EVAL {redis.call('GET', 'j') redis.call('SET', 'j', 2)} 0}}
    r SET k 3
    r SET j 3
    list $first [heard $c]
} {{} k}

check "NOLOOP and FLUSHALL: all are told" {
    set c [tracker NOLOOP]
    $c call FLUSHALL
    heard $c
} {(nil)}

check "BCAST NOLOOP: own changes are not told, others are, also of a key that both have changed" {
    set c [tracker BCAST NOLOOP]
    $c call SET a 1
    set first [heard $c]
    r SET b 1
    set second [heard $c]
    set other [client_open]
    at_once {
        $c send SET k 1
        $other send SET k 2
    }
    $c read
    $other read
    list $first $second [lsort -unique [concat {*}[heard $c]]]
} {{} b k}

check "NOLOOP: a key that expires is told, even if a command of the client finds that" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    set told {}
    foreach mode {{} BCAST} {
        set c [tracker {*}$mode NOLOOP]
        $c pipeline {MULTI {SET k 1 PX 20} {GET k} EXEC}
        heard $c
        after 40
        $c call EXISTS k
        lappend told [heard $c]
    }
    r DEBUG SET-ACTIVE-EXPIRE 1
    set told
} {k k}

# ----- BCAST -----

check "BCAST tells of all keys, or of those with a prefix, once in a message" {
    set all [tracker BCAST]
    set some [tracker BCAST PREFIX u: PREFIX v]
    r MULTI
    foreach key {u:1 v u:2 w u:1 u} {
        r SET $key 1
    }
    r EXEC
    list [heard $all] [lsort [heard $some]]
} {{{u:1 v u:2 w u}} {{u:1 u:2} v}}

check "BCAST tells of keys that nobody has read, and again and again" {
    set c [tracker BCAST]
    r SET k 1
    r SET k 2
    r DEL k
    r DEL k
    set told [heard $c]
    assert {[llength $told] in {1 2 3}}
    lsort -unique $told
} k

check "BCAST after OFF tells nothing" {
    set c [tracker BCAST]
    $c call CLIENT TRACKING OFF
    r SET k 1
    heard $c
} {}

check "BCAST tells a user only of keys that it may read" {
    r ACL SETUSER some on nopass ~own:* %W~written:* +@all
    set c [tracker BCAST]
    $c call AUTH some x
    r MSET own:1 1 other 1 written:1 1
    set own [heard $c]
    r SET other 2
    set none [heard $c]
    r ACL SETUSER some allkeys
    r SET other 3
    set all [heard $c]
    r ACL DELUSER some
    list $own $none $all
} {own:1 {} other}

check "what has changed is told with the rights of that time" {
    r ACL SETUSER some on nopass ~own:* +@all
    set c [tracker BCAST]
    $c call AUTH some x
    [default_client] write [request {SET own:1 1}][request {SET other 1}][request {ACL SETUSER some resetkeys ~other}]
    [default_client] read
    [default_client] read
    [default_client] read
    set told [heard $c]
    r ACL DELUSER some
    set told
} own:1

check "a target that logs in as another user is told first of what the user before may read" {
    r ACL SETUSER some on nopass ~own:* &* +@all
    r ACL SETUSER none on nopass &* +@all
    set target [client_open 3]
    $target call AUTH some x
    r CLIENT TRACKING ON BCAST REDIRECT [$target call CLIENT ID]
    r MULTI
    r SET own:1 1
    r SET other 1
    set c [default_client]
    $c write [request EXEC]
    # I/O threads keep no order between two clients.
    set is_ordered [expr {!$::is_threaded}]
    if {!$is_ordered} {$c read}
    $target write [request {AUTH none x}][request {PING end}]
    if {$is_ordered} {$c read}
    set told {}
    while {[set message [$target read]] ne "end"} {
        lappend told $message
    }
    r CLIENT TRACKING OFF
    r ACL DELUSER some none
    lsort $told
} {OK {invalidate own:1}}

# ----- Redirection -----

check_in 2 "a redirected message in RESP2 is one of the channel" {
    set c [tracker]
    $c call GET k
    r SET k 1
    $::listener_of($c) read_typed
} {array {{bulk message} {bulk __redis__:invalidate} {array {{bulk k}}}}}
check_in 2 "all keys are a null bulk in RESP2" {
    set c [tracker]
    r FLUSHALL
    $::listener_of($c) read_typed
} {array {{bulk message} {bulk __redis__:invalidate} nil}}
check_in 3 "messages in RESP3 are pushes" {
    set c [tracker]
    $c call GET k
    r SET k 1
    r FLUSHALL
    list [$c read_typed] [$c read_typed]
} {{push {{bulk invalidate} {array {{bulk k}}}}} {push {{bulk invalidate} null}}}

check "a target in RESP3 gets pushes, subscribed or not" {
    set target [client_open 3]
    r CLIENT TRACKING ON REDIRECT [$target call CLIENT ID]
    r GET k
    r SET k 1
    set first [$target read_typed]
    $target call SUBSCRIBE c
    r GET k
    r SET k 1
    list $first [$target read_typed]
} {{push {{bulk invalidate} {array {{bulk k}}}}} {push {{bulk invalidate} {array {{bulk k}}}}}}

check "a target in RESP2 that listens to nothing gets nothing" {
    set target [client_open 2]
    r CLIENT TRACKING ON REDIRECT [$target call CLIENT ID]
    r GET k
    r SET k 1
    list [$target call PING] [tracking_flags [default_client]]
} {PONG on}

check "a target that changes the key itself gets the reply first" {
    set target [client_open 3]
    r CLIENT TRACKING ON REDIRECT [$target call CLIENT ID]
    r GET k
    $target send SET k 1
    list [$target read] [$target read]
} {OK {invalidate k}}

check "a broken redirection is told to clients in RESP3, and shown" {
    set target [client_open]
    set id [$target call CLIENT ID]
    set c [client_open]
    $c call CLIENT TRACKING ON REDIRECT $id
    $c call GET k
    r CLIENT KILL ID $id
    r SET k 1
    if {$::protocol == 3} {
        assert_equal [$c read_typed] [list push [list {bulk tracking-redir-broken} [list int $id]]]
    }
    assert_equal [dict get [$c call CLIENT TRACKINGINFO] redirect] $id
    assert_equal [$c call CLIENT GETREDIR] $id
    assert_match {* flags=tR *} [$c call CLIENT INFO]
    set broken [tracking_flags $c]
    $c call CLIENT TRACKING ON
    list $broken [tracking_flags $c]
} {{on broken_redirect} on}

check "HELLO changes how messages look, not what is tracked" {
    set c [client_open 3]
    $c call CLIENT TRACKING ON
    $c call HELLO 2
    $c call GET k
    r SET k 1
    $c call HELLO 3
    $c call GET k
    r SET k 2
    $c read
} {invalidate k}

# ----- The table's limit -----

check "keys beyond tracking-table-max-keys are invalidated" {
    set c [tracker]
    with_config {tracking-table-max-keys 10} {
        set told {}
        for {set i 0} {$i < 100} {incr i} {
            $c send GET key:$i
            while {[set got [$c read]] ne "(nil)"} {
                lappend told [lindex $got 1]
            }
            lappend told {*}[concat {*}[heard $c]]
        }
        assert_equal [llength [lsort -unique $told]] 90
        assert_equal [info_field tracking_total_keys] 10
        r CONFIG SET tracking-table-max-keys 3
        wait_until {[info_field tracking_total_keys] == 3}
        lappend told {*}[concat {*}[heard $c]]
        llength [lsort -unique $told]
    }
} 97

check "a limit that is exceeded while a transaction is queued" {
    set c [tracker]
    with_config {tracking-table-max-keys 1} {
        $c call MULTI
        for {set i 0} {$i < 20} {incr i} {
            $c call GET key:$i
        }
        set other [client_open]
        $other call SET key:5 1
        llength [$c call EXEC]
    }
} 20

check "tracking-table-max-keys 0 is no limit" {
    set c [tracker]
    with_config {tracking-table-max-keys 0} {
        $c call MGET {*}[lmap i [lrepeat 3000 x] {incr ::next_key}]
        info_field tracking_total_keys
    }
} 3000

# ----- Ends -----

check "what closed connections tracked is freed, though the keys do not change" {
    set keys {}
    for {set i 0} {$i < 2000} {incr i} {
        lappend keys key:$i
    }
    for {set round 0} {$round < 20} {incr round} {
        set c [tracker]
        $c call MGET {*}$keys
        $c close
    }
    wait_until {[info_field tracking_total_items] == 0}
    list [info_field tracking_total_keys] [info_field tracking_clients]
} {0 0}

check "one of several trackers that leaves takes only its own pairs along" {
    set stays [tracker]
    set leaves [tracker]
    $stays call MGET a b
    $leaves call MGET b c
    $leaves close
    wait_until {[info_field tracking_total_items] == 2}
    r MSET a 1 b 1 c 1
    heard $stays
} {a b}

check "a tracker that does not read is closed at its output limit" {
    with_config {client-output-buffer-limit {normal 100000 0 0 pubsub 100000 0 0}} {
        set c [tracker BCAST]
        set key [string repeat k 10000]
        for {set i 0} {$i < 2000 && [info_field tracking_clients] + [info_field pubsub_clients] > 0} {incr i} {
            r SET $key$i 1
            if {$::protocol == 2 && [info_field pubsub_clients] == 0} {
                break
            }
        }
        expr {$i < 2000}
    }
} 1

check "a client that is killed in a transaction, or has its own target killed" {
    set c [tracker]
    set other [tracker]
    $c call GET k
    $other call GET k
    r MULTI
    r SET k 1
    r CLIENT KILL ID [$c call CLIENT ID]
    r SET k 2
    r EXEC
    heard $other
} k

check "100,000 prefixes of a client: writes and its end are quick" {
    set prefixes {}
    for {set i 0} {$i < 100000} {incr i} {
        lappend prefixes PREFIX [format p%06d: $i]
    }
    set c [tracker BCAST {*}$prefixes]
    r SET p000007:x 1
    r SET p1 1
    set told [heard $c]
    set total [info_field tracking_total_prefixes]
    $c close
    wait_until {[info_field tracking_total_prefixes] == 0}
    list $told $total
} {p000007:x 100000}

# ----- Replicas -----

check "a replica tells what its primary changes, and expires" {
    with_replica {} {
        set link [link_begin {k 1}]
        set c [tracker]
        $c call MGET k j
        $link feed SET j 1
        $link feed DEL k
        applied $link
        heard $c
    }
} {j k}

check "a full synchronization tells that all keys have changed" {
    with_replica {} {
        set link [link_begin {k 1}]
        set c [tracker]
        $c call GET k
        $link close
        set link [$primary accept]
        link_asks $link
        $link write "+FULLRESYNC [string repeat 1 40] 1\r\n"
        set payload [rdb {k 2}]
        $link write "\$[string length $payload]\r\n$payload"
        wait_until {![catch {$current_server control GET k} value] && $value eq "2"}
        lsort -unique [heard $c]
    }
} {(nil)}

check_in 3 "a replica that tracks keys, or to which others redirect, gets nothing but the stream" {
    r CONFIG SET repl-diskless-sync-delay 0
    set streams {}
    foreach how {itself another} {
        set replica [replica_open]
        $replica call HELLO 3
        if {$how eq "itself"} {
            $replica call CLIENT TRACKING ON BCAST
        } else {
            r CLIENT TRACKING ON BCAST REDIRECT [$replica call CLIENT ID]
        }
        replica_psync $replica
        replica_payload $replica
        replica_ack $replica 0
        r SET k $how
        r SET k 2
        lappend streams [replica_commands $replica 3]
        $replica close
        r CLIENT TRACKING OFF
    }
    set streams
} {{{SELECT 0} {SET k itself} {SET k 2}} {{SELECT 0} {SET k another} {SET k 2}}}

# ----- What libraries send -----

check "rueidis: CACHING, MULTI, PTTL, GET, EXEC in one pipeline" {
    set c [tracker OPTIN]
    r SET k v PX 100000
    set replies [$c pipeline {{CLIENT CACHING YES} MULTI {PTTL k} {GET k} EXEC}]
    r SET k w
    list [lrange $replies 0 3] [lindex $replies 4 1] [heard $c]
} {{OK OK QUEUED QUEUED} v k}

check "node-redis: HELLO, SETINFO and TRACKING in one pipeline" {
    set c [client_open]
    $c pipeline {{HELLO 3} {CLIENT SETINFO LIB-NAME node-redis} {CLIENT TRACKING ON} {GET k}}
    r SET k 1
    $c read
} {invalidate k}

finish
