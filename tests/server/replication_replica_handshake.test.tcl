# A replica and its primary until the stream begins: the primary is a socket that says what the test wants.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join $library primary.tcl]

server_start


# --- What the replica says

check_in 2 "the requests of the handshake, in their order" {
    with_replica {} {
        set link [$primary accept]
        set words [list [$link request]]
        $link write "+PONG\r\n"
        lappend words [$link request] [$link request]
        $link write "+OK\r\n+OK\r\n"
        lappend words [$link request]
        assert_equal [lreplace [lindex $words 1] 2 2] {REPLCONF listening-port}
        assert_equal [lindex $words 1 2] [$current_server port]
        lreplace $words 1 1
    }
} {PING {REPLCONF capa eof capa psync2 capa redis-fields version 9.0.0} {PSYNC ? -1}}
check_in 2 "AUTH with masterauth and masteruser, announced address and port" {
    with_replica {masterauth secret masteruser bob replica-announce-ip 127.1.2.3 replica-announce-port 7777} {
        set link [$primary accept]
        $link request
        $link write "-NOAUTH Authentication required.\r\n"
        set words {}
        for {set i 0} {$i < 4} {incr i} {lappend words [$link request]}
        set words
    }
} {{AUTH bob secret} {REPLCONF listening-port 7777} {REPLCONF ip-address 127.1.2.3}\
    {REPLCONF capa eof capa psync2 capa redis-fields version 9.0.0}}
check_in 2 "AUTH without a user; a wrong password closes the link, which is tried again" {
    with_replica {primaryauth secret} {
        foreach attempt {1 2} {
            set link [$primary accept]
            $link request
            $link write "+PONG\r\n"
            assert_equal [$link request] {AUTH secret}
            $link write "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
            while {![catch {$link request}]} {}
            $link close
        }
        assert {[string match "*Unable to AUTH to MASTER: -WRONGPASS*" [$current_server log]]}
    }
}
check_in 2 "refused REPLCONF is no obstacle" {
    with_replica {} {
        set link [$primary accept]
        $link request
        $link write "+PONG\r\n"
        $link write "-ERR Unrecognized REPLCONF option\r\n-ERR no\r\n"
        while {[lindex [set words [$link request]] 0] ne "PSYNC"} {}
        set words
    }
} {PSYNC ? -1}
check_in 2 "a primary that does not know PSYNC is asked by SYNC, and never for a part" {
    with_replica {} {
        foreach value {1 2} {
            set link [$primary accept]
            assert_equal [link_asks $link] {PSYNC ? -1}
            $link write "-ERR unknown command\r\n"
            assert_equal [$link request] SYNC
            set snapshot [rdb [list key $value]]
            $link write "\$[string length $snapshot]\r\n$snapshot"
            wait_link up
            assert_equal [$current_server control GET key] $value
            $link write [request {SET other 1}]
            wait_until {[$current_server control GET other] eq 1}
            $link close
        }
    }
}

# --- Answers that make no sense

foreach {name answer} {
    "an error to PING" "-ERR go away\r\n"
    "rubbish to PING" "HTTP/1.1 400 Bad Request\r\n"
    "a line without an end" {[string repeat x 10000]}
} {
    check_in 2 "$name closes the link, which is tried again" [string map [list ANSWER $answer] {
        with_replica {} {
            foreach attempt {1 2} {
                set link [$primary accept]
                $link request
                $link write "ANSWER"
                assert {[$link is_closed]}
            }
            assert_equal [$current_server control PING] PONG
        }
    }]
}

foreach {name answer} {
    "FULLRESYNC without an id" "+FULLRESYNC"
    "FULLRESYNC with a short id" "+FULLRESYNC abc 0"
    "FULLRESYNC without an offset" "+FULLRESYNC ID"
    "FULLRESYNC with a negative offset" "+FULLRESYNC ID -5"
    "FULLRESYNC with a huge offset" "+FULLRESYNC ID 99999999999999999999"
    "FULLRESYNC with an offset from which the stream cannot go on" "+FULLRESYNC ID 9223372036854775807"
    "FULLRESYNC with an id that is none" "+FULLRESYNC ZZ 1"
    "CONTINUE when all was asked for" "+CONTINUE"
    "an offer that was not asked for" "+DUALCHANNELSYNC"
    "NOMASTERLINK" "-NOMASTERLINK Can't SYNC while not connected with my master"
    "LOADING" "-LOADING Redis is loading the dataset in memory"
    "a length that is none" "+FULLRESYNC ID 0\r\n\$x"
    "a negative length" "+FULLRESYNC ID 0\r\n\$-1"
    "a mark that is too short" "+FULLRESYNC ID 0\r\n\$EOF:abc"
    "an error for a payload" "+FULLRESYNC ID 0\r\n-ERR no"
    "a command for a payload" "+FULLRESYNC ID 0\r\n*1"
} {
    check_in 2 "$name closes the link, the data stays, and it is tried again" [string map [list ANSWER $answer] {
        with_replica {replica-read-only no} {
            $current_server control SET mine 1
            foreach attempt {1 2} {
                set link [$primary accept]
                link_asks $link
                $link write [string map [list ID $replication_id ZZ [string repeat z 40]] {ANSWER}]\r\n
                assert {[$link is_closed]}
            }
            $current_server control GET mine
        }
    }] 1
}
check_in 2 "empty lines are no answers" {
    with_replica {} {
        set link [$primary accept]
        link_asks $link
        $link write "\n\n"
        assert {[$link is_silent]}
        $link write "+FULLRESYNC $replication_id 5\r\n\n\n\r\n\n"
        set snapshot [rdb {key value}]
        $link write "\$[string length $snapshot]\r\n$snapshot"
        wait_link up
        list [$current_server control GET key] [replication slave_repl_offset]
    }
} {value 5}
check_in 2 "a primary that is silent, at any step, is left after repl-timeout" {
    with_replica {repl-timeout 1} {
        foreach step {connected greeted configured asked announced} {
            set link [$primary accept]
            if {$step ne "connected"} {
                $link request
                $link write "+PONG\r\n"
            }
            if {$step ni {connected greeted}} {
                $link write "+OK\r\n+OK\r\n"
            }
            if {$step in {asked announced}} {
                while {[lindex [$link request] 0] ne "PSYNC"} {}
                $link write "+FULLRESYNC $replication_id 0\r\n"
            }
            if {$step eq "announced"} {
                $link write "\$1000\r\nREDIS"
            }
            while {![catch {$link request}]} {}
            $link close
        }
        assert {[string match "*Timeout connecting to the MASTER*" [$current_server log]]}
        assert {[string match "*Timeout receiving bulk data from MASTER*" [$current_server log]]}
    }
}
check_in 2 "a primary that refuses connections is tried again" {
    with_replica {} {
        [$primary accept] close
        $current_server control REPLICAOF 127.0.0.1 [free_port]
        wait_until {[string match "*Error condition on socket for SYNC: connection refused*" [$current_server log]]}
        assert_equal [replication master_link_status] down
        assert_equal [lindex [$current_server control ROLE] 0] slave
        $current_server control REPLICAOF 127.0.0.1 [$primary port]
        [link_begin {a 1}] close
        $current_server control GET a
    }
} 1
check_in 2 "a host name is looked up; one that does not exist is tried again" {
    with_replica {} {
        $primary accept
        $current_server control REPLICAOF [string repeat x 64] 1234
        wait_until {[string match "*Error condition on socket for SYNC: *" [$current_server log]]}
        assert_equal [$current_server control PING] PONG
        $current_server control REPLICAOF localhost [$primary port]
        link_begin {a 1}
        $current_server control GET a
    }
} 1

check_in 2 "bind-source-addr is the address that the primary sees" {
    set primary $current_server
    with_server [list bind-source-addr 127.0.0.5 replicaof "127.0.0.1 [$primary port]"] {
        wait_until {[info_field master_link_status] eq "up"}
        assert_match "*addr=127.0.0.5:*" [$primary control CLIENT LIST TYPE replica]
        $current_server control CONFIG SET bind-source-addr ""
        $primary control CLIENT KILL TYPE replica
        wait_until {[string match "*addr=127.0.0.1:*" [$primary control CLIENT LIST TYPE replica]]}
        $current_server control CONFIG SET bind-source-addr nowhere
        $primary control CLIENT KILL TYPE replica
        wait_until {[string match "*SYNC: invalid argument (bind-source-addr is 'nowhere')*" [$current_server log]]}
        $current_server control CONFIG SET bind-source-addr 192.0.2.1
        wait_until {[string match "*address not available (bind-source-addr is '192.0.2.1')*" [$current_server log]]}
    }
} {}

finish
