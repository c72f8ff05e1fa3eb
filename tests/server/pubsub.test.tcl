# Channels, patterns and shard channels: which client receives which messages, and what a subscriber may do.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# Another connection that subscribes: `listen SUBSCRIBE a b` has read its confirmations.
proc listen {args} {
    set connection [client_open]
    $connection send {*}$args
    foreach _ [lrange $args 1 end] {
        $connection read
    }
    return $connection
}

# The next `count` messages.
proc messages {connection {count 1}} {
    set all {}
    for {set i 0} {$i < $count} {incr i} {
        lappend all [$connection read]
    }
    return $all
}

proc only_for_listeners {command} {
    return "ERR Can't execute '$command': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed\
        in this context"
}

# ----- SUBSCRIBE and its kin -----

check "SUBSCRIBE confirms each channel with the number of subscriptions" {
    set c [client_open]
    $c send SUBSCRIBE a b a
    messages $c 3
} {{subscribe a 1} {subscribe b 2} {subscribe a 2}}

check "channels and patterns are counted together, shard channels apart" {
    set c [client_open]
    $c send SUBSCRIBE a
    $c send PSUBSCRIBE b* c*
    $c send SSUBSCRIBE a d
    $c send UNSUBSCRIBE a
    $c send SUNSUBSCRIBE a
    messages $c 7
} {{subscribe a 1} {psubscribe b* 2} {psubscribe c* 3} {ssubscribe a 1} {ssubscribe d 2} {unsubscribe a 2}\
    {sunsubscribe a 1}}

check_in 2 "confirmations are arrays in RESP2" {typed SUBSCRIBE a} {array {{bulk subscribe} {bulk a} {int 1}}}
check_in 3 "confirmations are pushes in RESP3" {typed SUBSCRIBE a} {push {{bulk subscribe} {bulk a} {int 1}}}

foreach {command channels} {SUBSCRIBE {a b c} PSUBSCRIBE {a* b* c*} SSUBSCRIBE {a b c}} {
    set opposite [regsub SUB $command UNSUB]
    check "$opposite without arguments ends all, oldest first" {
        set c [listen $command {*}$channels]
        $c send $opposite
        assert_equal [messages $c 3] [lmap channel $channels left {2 1 0} {
            list [string tolower $opposite] $channel $left
        }]
        $c call PING
    } PONG

    check_in 2 "$opposite without arguments and subscriptions answers no channel in RESP2" {
        assert_equal [lindex [typed $opposite] 0] array
        lrange [lindex [typed $opposite] 1] 1 end
    } {nil {int 0}}

    check_in 3 "$opposite without arguments and subscriptions answers no channel in RESP3" {
        assert_equal [lindex [typed $opposite] 0] push
        lrange [lindex [typed $opposite] 1] 1 end
    } {null {int 0}}

    check "$opposite confirms a channel that it had not subscribed to" {
        set c [client_open]
        $c send $opposite x y
        messages $c 2
    } [list [list [string tolower $opposite] x 0] [list [string tolower $opposite] y 0]]

    check_error "$command needs a name" {r $command} \
        "ERR wrong number of arguments for '[string tolower $command]' command"
}

check "UNSUBSCRIBE without channels counts patterns" {
    set c [listen PSUBSCRIBE a b]
    $c call UNSUBSCRIBE
} {unsubscribe (nil) 2}

# ----- Messages -----

check "PUBLISH reaches all subscribers and counts them" {
    set first [listen SUBSCRIBE news]
    set second [listen SUBSCRIBE other news]
    assert_equal [r PUBLISH news hello] 2
    list [messages $first] [messages $second] [r PUBLISH unused hello]
} {{{message news hello}} {{message news hello}} 0}

check "PSUBSCRIBE receives the messages of all channels that match" {
    set c [listen PSUBSCRIBE n?ws.* {[ab]}]
    assert_equal [list [r PUBLISH news.a 1] [r PUBLISH naws. 2] [r PUBLISH a 3] [r PUBLISH c 4]] {1 1 1 0}
    messages $c 3
} {{pmessage n?ws.* news.a 1} {pmessage n?ws.* naws. 2} {pmessage {[ab]} a 3}}

check "a subscriber of a channel and of patterns that match it receives a message several times" {
    set c [listen SUBSCRIBE a]
    $c call PSUBSCRIBE *
    $c call PSUBSCRIBE a*
    assert_equal [r PUBLISH a x] 3
    messages $c 3
} {{message a x} {pmessage * a x} {pmessage a* a x}}

check "shard channels are a world of their own" {
    set c [listen SSUBSCRIBE a]
    set other [listen SUBSCRIBE a]
    $other call PSUBSCRIBE *
    assert_equal [list [r PUBLISH a plain] [r SPUBLISH a sharded] [r SPUBLISH b sharded]] {2 1 0}
    list [messages $c] [messages $other 2] [$other is_silent]
} {{{smessage a sharded}} {{message a plain} {pmessage * a plain}} 1}

check "channels, patterns and messages may be any bytes, and empty" {
    set c [listen SUBSCRIBE "" "a\r\n\x00b" \xff]
    r PUBLISH "" ""
    r PUBLISH "a\r\n\x00b" "\x00\r\n"
    r PUBLISH \xff [string repeat x 100000]
    assert_equal [messages $c 2] [list [list message "" ""] [list message "a\r\n\x00b" "\x00\r\n"]]
    lindex [$c read] 2
} [string repeat x 100000]

check "messages come in the order in which they were sent" {
    set c [listen SUBSCRIBE a b]
    r PUBLISH a 1
    [client_open] pipeline {{PUBLISH b 2} {PUBLISH a 3} {PUBLISH b 4}}
    messages $c 4
} {{message a 1} {message b 2} {message a 3} {message b 4}}

check_in 2 "messages are arrays in RESP2" {
    set c [listen SUBSCRIBE a]
    $c call PSUBSCRIBE ?
    r PUBLISH a x
    list [$c read_typed] [$c read_typed]
} {{array {{bulk message} {bulk a} {bulk x}}} {array {{bulk pmessage} {bulk ?} {bulk a} {bulk x}}}}

check_in 3 "messages are pushes in RESP3" {
    set c [listen SUBSCRIBE a]
    $c call PSUBSCRIBE ?
    r PUBLISH a x
    list [$c read_typed] [$c read_typed]
} {{push {{bulk message} {bulk a} {bulk x}}} {push {{bulk pmessage} {bulk ?} {bulk a} {bulk x}}}}

check_in 2 "each subscriber of a channel gets the message in its own protocol" {
    set old [client_open 2]
    set new [client_open 3]
    $old call SUBSCRIBE a
    $new call SUBSCRIBE a
    assert_equal [r PUBLISH a x] 2
    list [lindex [$old read_typed] 0] [lindex [$new read_typed] 0]
} {array push}

check "a client that has unsubscribed receives no more messages" {
    set c [listen SUBSCRIBE a]
    $c call UNSUBSCRIBE a
    set gone [listen SUBSCRIBE a]
    $gone close
    wait_until {[info_field pubsub_clients] == 0}
    list [r PUBLISH a x] [r PUBSUB CHANNELS] [$c is_silent]
} {0 {} 1}

# ----- One's own messages -----

check_in 3 "one's own message follows the reply to PUBLISH" {
    set c [listen SUBSCRIBE a]
    $c send PUBLISH a 1
    messages $c 2
} {1 {message a 1}}

check_in 3 "messages to oneself stand between the replies of a pipeline" {
    set c [listen SUBSCRIBE a]
    $c write [request {PUBLISH a 1}][request {SUBSCRIBE b}][request {PUBLISH b 2}][request {UNSUBSCRIBE a}]
    $c write [request {PUBLISH a 3}]
    messages $c 7
} {1 {message a 1} {subscribe b 2} 1 {message b 2} {unsubscribe a 1} 0}

check "PUBLISH within EXEC reaches others at once, and oneself behind the reply" {
    set other [listen SUBSCRIBE a]
    set c [client_open]
    foreach command {{MULTI} {SUBSCRIBE a} {PUBLISH a 1} {PING x} {PUBLISH a 2}} {
        $c call {*}$command
    }
    $c send EXEC
    set pong [expr {$::protocol == 2 ? {pong x} : "x"}]
    assert_equal [$c read] [list {subscribe a 1} 2 $pong 2]
    assert_equal [messages $c 2] {{message a 1} {message a 2}}
    messages $other 2
} {{message a 1} {message a 2}}

check "SSUBSCRIBE is refused within EXEC" {
    r MULTI
    r SSUBSCRIBE a
    r SUNSUBSCRIBE a
    r EXEC
} {{(error) ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client} {sunsubscribe a 0}}

check_in 3 "several confirmations within EXEC make its array longer than it says" {
    set c [client_open]
    $c call MULTI
    $c call SUBSCRIBE a b
    $c call UNSUBSCRIBE
    $c send EXEC
    assert_equal [$c read] {{subscribe a 1} {subscribe b 2}}
    messages $c 2
} {{unsubscribe a 1} {unsubscribe b 0}}

# ----- What a listener may do -----

check_in 2 "in RESP2 a listener may run few commands" {
    set c [listen SUBSCRIBE a]
    foreach {arguments name} {{GET k} get {PUBLISH a x} publish {client list} client|list {HELLO 3} hello MULTI multi
            {PUBSUB NUMPAT} pubsub|numpat {AUTH x} auth {SELECT 1} select {CLIENT REPLY OFF} client|reply} {
        assert_equal [error_of {$c call {*}$arguments}] [only_for_listeners $name]
    }
    assert_equal [error_of {$c call GET}] "ERR wrong number of arguments for 'get' command"
    assert_equal [error_of {$c call NONE}] "ERR unknown command 'NONE', with args beginning with: "
    assert_equal [$c call PSUBSCRIBE p] {psubscribe p 2}
    assert_equal [$c call SSUBSCRIBE s] {ssubscribe s 1}
    assert_equal [$c call UNSUBSCRIBE] {unsubscribe a 1}
    assert_equal [$c call PUNSUBSCRIBE] {punsubscribe p 0}
    assert_equal [error_of {$c call GET k}] [only_for_listeners get]
    assert_equal [$c call SUNSUBSCRIBE] {sunsubscribe s 0}
    $c call GET k
} (nil)

check_in 2 "in RESP2 PING answers a listener like a message" {
    set c [listen SUBSCRIBE a]
    list [$c typed PING] [$c typed PING hi] [$c typed PING a b]
} {{array {{bulk pong} {bulk {}}}} {array {{bulk pong} {bulk hi}}}\
    {error {ERR wrong number of arguments for 'ping' command}}}

check_in 3 "in RESP3 a listener may run any command" {
    set c [listen SUBSCRIBE a]
    list [$c call SET k v] [$c call GET k] [$c call PING] [$c call PING hi] [$c call CLIENT SETNAME x]
} {OK v PONG hi OK}

check_in 3 "HELLO 2 puts a listener under the rules of RESP2" {
    set c [listen SUBSCRIBE a]
    $c call HELLO 2
    assert_equal [error_of {$c call GET k}] [only_for_listeners get]
    r PUBLISH a x
    $c read_typed
} {array {{bulk message} {bulk a} {bulk x}}}

check_in 3 "EXEC is refused, with the transaction, to a client that has become such a subscriber meanwhile" {
    set c [client_open]
    $c write [request MULTI][request {SUBSCRIBE a}][request {HELLO 2}][request EXEC]
    messages $c 3
    $c read
    error_of {$c call EXEC}
} [regsub ERR [only_for_listeners exec] {EXECABORT Transaction discarded because of:}]

check_in 3 "a client that waits for a key receives messages" {
    set c [listen SUBSCRIBE a]
    $c send BLPOP k 0
    wait_blocked 1
    r PUBLISH a x
    assert_equal [messages $c] {{message a x}}
    r RPUSH k v
    $c read
} {k v}

check "RESET ends all subscriptions without a word" {
    set c [listen SUBSCRIBE a]
    $c call PSUBSCRIBE *
    $c call SSUBSCRIBE s
    assert_equal [$c call RESET] RESET
    list [r PUBLISH a x] [r SPUBLISH s x] [$c call PING] [info_field pubsub_clients]
} {0 0 PONG 0}

check "QUIT ends the connection of a listener" {
    set c [listen SUBSCRIBE a]
    assert_equal [$c call QUIT] OK
    assert {[$c is_closed]}
    r PUBLISH a x
} 0

check "CLIENT REPLY OFF holds back neither confirmations nor messages" {
    set c [client_open]
    $c send CLIENT REPLY OFF
    $c send SUBSCRIBE a
    $c send PING
    assert_equal [messages $c] {{subscribe a 1}}
    r PUBLISH a x
    assert_equal [messages $c] {{message a x}}
    $c is_silent
} 1

check_in 3 "CLIENT REPLY SKIP skips a reply, but no message" {
    set c [listen SUBSCRIBE a]
    $c send CLIENT REPLY SKIP
    $c send PUBLISH a x
    $c send PING
    $c send CLIENT REPLY SKIP
    $c send SUBSCRIBE b
    $c send PING
    messages $c 4
} {{message a x} PONG {subscribe b 2} PONG}

check "watched keys survive listening" {
    set c [client_open]
    $c call WATCH k
    $c call SUBSCRIBE a
    r SET k v
    $c call UNSUBSCRIBE a
    $c call MULTI
    $c call EXEC
} (nil)

check "MONITOR and listening go together" {
    set c [client_open]
    $c call MONITOR
    $c call SUBSCRIBE a
    assert {[string match {*"SUBSCRIBE" "a"} [$c read]]}
    r PUBLISH a x
    while {[set line [$c read]] ne "message a x"} {
        assert {[string match "*HELLO*" $line]}
    }
    string match {*"PUBLISH" "a" "x"} [$c read]
} 1

check "CLIENT PAUSE WRITE holds PUBLISH back" {
    set c [listen SUBSCRIBE a]
    r CLIENT PAUSE 10000 WRITE
    set publisher [client_open]
    $publisher send PUBLISH a x
    assert {[$publisher is_silent]}
    assert_equal [r PUBSUB NUMSUB a] {a 1}
    r CLIENT UNPAUSE
    list [$publisher read] [messages $c]
} {1 {{message a x}}}

# ----- PUBSUB -----

check "PUBSUB CHANNELS names channels with subscribers, if they match" {
    set c [listen SUBSCRIBE a ab b]
    $c call PSUBSCRIBE *
    $c call SSUBSCRIBE s
    list [lsort [r PUBSUB CHANNELS]] [lsort [r PUBSUB CHANNELS a*]] [r PUBSUB CHANNELS none]
} {{a ab b} {a ab} {}}

check "PUBSUB SHARDCHANNELS names shard channels with subscribers, if they match" {
    set c [listen SSUBSCRIBE a ab b]
    $c call SUBSCRIBE c
    list [lsort [r PUBSUB SHARDCHANNELS]] [lsort [r PUBSUB SHARDCHANNELS a*]]
} {{a ab b} {a ab}}

check "PUBSUB NUMSUB and SHARDNUMSUB count subscribers" {
    listen SUBSCRIBE a b
    listen SUBSCRIBE a
    listen PSUBSCRIBE *
    listen SSUBSCRIBE b
    list [r PUBSUB NUMSUB a b c a] [r PUBSUB NUMSUB] [r PUBSUB SHARDNUMSUB a b] [r PUBSUB SHARDNUMSUB]
} {{a 2 b 1 c 0 a 2} {} {a 0 b 1} {}}

check "PUBSUB NUMPAT counts different patterns" {
    listen PSUBSCRIBE a* b*
    listen PSUBSCRIBE a*
    r PUBSUB NUMPAT
} 2

check "the counts of PUBSUB NUMSUB are a flat array" {lindex [typed PUBSUB NUMSUB a] 0} array

check "PUBSUB HELP explains the subcommands" {
    lindex [r PUBSUB HELP] 0
} "PUBSUB <subcommand> * Subcommands are:" -match glob

check_error "PUBSUB CHANNELS takes one pattern" {r PUBSUB CHANNELS a b} \
    "ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP."
check_error "PUBSUB SHARDCHANNELS takes one pattern" {r PUBSUB SHARDCHANNELS a b} \
    "ERR unknown subcommand or wrong number of arguments for 'SHARDCHANNELS'. Try PUBSUB HELP."
check_error "PUBSUB NUMPAT takes nothing" {r PUBSUB NUMPAT a} \
    "ERR wrong number of arguments for 'pubsub|numpat' command"
check_error "PUBSUB has no other subcommand" {r PUBSUB NONE} "ERR unknown subcommand 'NONE'. Try PUBSUB HELP."
check_error "PUBLISH takes a channel and a message" {r PUBLISH a} \
    "ERR wrong number of arguments for 'publish' command"
check_error "SPUBLISH takes a channel and a message" {r SPUBLISH a b c} \
    "ERR wrong number of arguments for 'spublish' command"

# ----- How listeners are shown and governed -----

proc client_field {connection field} {
    foreach line [split [r CLIENT LIST] \n] {
        if {[string match "id=$connection *" $line] && [regexp " $field=(\\S*)" $line _ value]} {
            return $value
        }
    }
}

check "CLIENT LIST counts subscriptions and flags listeners with P" {
    set c [client_open]
    set id [$c call CLIENT ID]
    # Its I/O thread has sent the reply, and knows that, before it reads on.
    $c write [request {CLIENT REPLY SKIP}][request PING]
    wait_until {[client_field $id cmd] eq "ping"}
    set before [client_field $id tot-mem]
    $c call SUBSCRIBE a
    $c send PSUBSCRIBE b c
    messages $c 2
    $c send SSUBSCRIBE d e f
    messages $c 3
    assert {[client_field $id tot-mem] > $before}
    assert_equal [lmap field {sub psub ssub flags} {client_field $id $field}] {1 2 3 P}
    $c call RESET
    wait_until {[client_field $id tot-mem] == $before}
    lmap field {sub psub ssub flags} {client_field $id $field}
} {0 0 0 N}

check "CLIENT LIST TYPE and CLIENT KILL TYPE distinguish subscribers from other clients" {
    set c [listen SUBSCRIBE a]
    set s [listen SSUBSCRIBE a]
    assert_equal [llength [split [string trim [r CLIENT LIST TYPE pubsub]] \n]] 2
    assert {![string match "* flags=P *" [r CLIENT LIST TYPE normal]]}
    assert_equal [r CLIENT KILL TYPE pubsub] 2
    list [$c is_closed] [$s is_closed] [r PUBLISH a x] [r CLIENT LIST TYPE pubsub]
} {1 1 0 {}}

check "INFO counts channels, patterns and clients" {
    listen SUBSCRIBE a b
    listen SUBSCRIBE a
    listen PSUBSCRIBE p q r
    listen SSUBSCRIBE s
    lmap field {pubsub_channels pubsub_patterns pubsubshard_channels pubsub_clients} {info_field $field}
} {2 3 1 4}

check_in 2 "listeners are not closed for idleness" {
    with_server {timeout 1} {
        set c [listen SUBSCRIBE a]
        set idle [client_open]
        $idle call PING
        assert {[$idle is_closed]}
        list [r PUBLISH a x] [messages $c]
    }
} {1 {{message a x}}}

check "a listener that does not read is closed by the limit of its class" {
    with_config {client-output-buffer-limit "pubsub 1mb 0 0"} {
        set slow [listen SUBSCRIBE a b]
        $slow call PSUBSCRIBE *
        set other [listen SUBSCRIBE b]
        set before [info_field client_output_buffer_limit_disconnections]
        set message [string repeat x 100000]
        while {[r PUBLISH a $message]} {}
        assert_equal [info_field client_output_buffer_limit_disconnections] [expr {$before + 1}]
        assert_equal [r PUBLISH b x] 1
        messages $other
    }
} {{message b x}}

check "the limit of the normal class does not hold for listeners" {
    with_config {client-output-buffer-limit "normal 100kb 0 0"} {
        set c [listen SUBSCRIBE a]
        for {set i 0} {$i < 100} {incr i} {
            r PUBLISH a [string repeat x 100000]
        }
        llength [messages $c 100]
    }
} 100

check "COMMAND INFO knows the shard channels as what is no key" {
    set info [lindex [typed COMMAND INFO SPUBLISH] 1 0 1]
    assert {[string match *not_key* [plain_value [lindex $info 8]]]}
    error_of {r COMMAND GETKEYS SPUBLISH a b}
} "ERR The command has no key arguments"

finish
