# TLS to other servers: replication in both roles, its directives, whom a replica trusts; MIGRATE.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join [file dirname [file normalize [info script]]] lib replica.tcl]
source [file join [file dirname [file normalize [info script]]] lib primary.tcl]

set certificates [temporary_folder]
exec $repository/tests/tls/make-certificates $certificates

# The directives of a server that goes to its primary by TLS, and whose replicas come in by TLS, once its port for that
# is open.
proc tls_directives {args} {
    global certificates
    return [dict merge [list tls-cert-file $certificates/server.crt \
        tls-key-file $certificates/server.key tls-ca-cert-file $certificates/ca.crt tls-replication yes \
        repl-diskless-sync-delay 0 repl-backlog-size 10mb] $args]
}

# Another process may take the port that was free.
proc open_tls_port {server} {
    for {set attempt 1} {[catch {$server control CONFIG SET tls-port [free_port]} error]} {incr attempt} {
        if {$attempt == 5} {error $error}
    }
}

proc tls_port_of {server} {
    return [lindex [$server control CONFIG GET tls-port] 1]
}

proc replication_of {server name} {
    regexp -line "^$name:(.*)\r" [$server control INFO replication] _ value
    return $value
}

proc is_up {server} {
    return [expr {[replication_of $server master_link_status] eq "up"}]
}

proc follow {replica primary {host 127.0.0.1}} {
    $replica control REPLICAOF $host [tls_port_of $primary]
}

# A replica of the current server while the body runs; it follows nobody yet.
proc with_tls_replica {directives body} {
    upvar 1 replica replica
    set mine [set replica [server new [tls_directives {*}$directives]]]
    try {
        open_tls_port $mine
        uplevel 1 $body
    } finally {
        $mine destroy
    }
}

# Until the replica's log names a reason.
proc wait_refused {replica reason} {
    set line "Error condition on socket for SYNC: TLS with 127.0.0.1:* failed: $reason"
    wait_until {[string match "*$line*" [$::replica log]]}
    assert {![is_up $replica]}
}

# What the current server is told while the body runs.
proc with_certificate {name body} {
    global certificates
    set here $certificates/$name
    r CONFIG SET tls-cert-file $here.crt
    try {
        uplevel 1 $body
    } finally {
        r CONFIG SET tls-cert-file $certificates/server.crt
    }
}

proc fill {count size} {
    r DEBUG POPULATE $count key $size
}

server_start [tls_directives]
open_tls_port $current_server

# --- Synchronization

check_in 2 "a replica gets all data by TLS, and what comes later" {
    fill 1000 1000
    with_tls_replica {} {
        follow $replica $current_server
        wait_same $replica
        r SET later 1
        r SET large [string repeat x 3000000]
        assert_equal [r WAIT 1 10000] 1
        wait_same $replica
        # Clients, and a Sentinel, find it at its port for TLS.
        set port [tls_port_of $replica]
        assert_match "ip=127.0.0.1,port=$port,state=online,*" [replication_of $current_server slave0]
        assert_equal [lrange [lindex [r ROLE] 2 0] 0 1] [list 127.0.0.1 $port]
        assert_equal [lrange [$replica control ROLE] 0 3] [list slave 127.0.0.1 [tls_port_of $current_server] connected]
    }
}
check_in 2 "a replica that loses the connection continues" {
    fill 1000 100
    with_tls_replica {} {
        follow $replica $current_server
        wait_same $replica
        set full [info_field sync_full]
        foreach kill {replica master} {
            if {$kill eq "replica"} {r CLIENT KILL TYPE replica} else {$replica control CLIENT KILL TYPE master}
            r SET after-$kill 1
            wait_same $replica
        }
        expr {[info_field sync_full] - $full}
    }
} 0
check_in 2 "a synchronization that is cut off in the middle ends well" {
    fill 3000 10000
    with_tls_replica {} {
        foreach load {disabled swapdb flush-before-load} {
            $replica control CONFIG SET repl-diskless-load $load
            r CONFIG SET repl-diskless-sync [expr {$load eq "disabled" ? "no" : "yes"}]
            follow $replica $current_server
            for {set i 0} {$i < 5} {incr i} {
                wait_until {[r CLIENT LIST TYPE replica] ne ""}
                after [expr {$i * 10}]
                r CLIENT KILL TYPE replica
            }
            wait_same $replica
            $replica control REPLICAOF NO ONE
            r DEBUG CHANGE-REPL-ID
        }
    }
    r CONFIG SET repl-diskless-sync yes
}
check_in 2 "a replica has replicas, and takes over by FAILOVER" {
    fill 100 100
    with_tls_replica {} {
        set first $replica
        follow $first $current_server
        with_tls_replica {} {
            follow $replica $first
            wait_same $first
            wait_same $replica
            wait_until {[string match "*state=online*lag=\[01\]" [replication_of $current_server slave0]]}
            r FAILOVER TO 127.0.0.1 [tls_port_of $first]
            wait_until {[replication_of $first role] eq "master" && [is_up $current_server]}
            $first control SET k [replication_of $current_server role]
            wait_until {[r GET k] eq "slave" && [$replica control GET k] eq "slave"}
            r REPLICAOF NO ONE
        }
    }
}
check_in 2 "a primary's new certificate is for new connections" {
    with_tls_replica {} {
        follow $replica $current_server
        wait_same $replica
        r CONFIG SET tls-cert-file $certificates/rsa.crt tls-key-file $certificates/rsa.key
        r SET k 1
        wait_same $replica
        assert_equal [replication_of $replica master_sync_in_progress] 0
        r CLIENT KILL TYPE replica
        wait_same $replica
        r CONFIG SET tls-cert-file $certificates/server.crt tls-key-file $certificates/server.key
    }
}

# --- Whom a replica trusts

check_in 2 "a primary of another authority is refused" {
    with_tls_replica [list tls-ca-cert-file $certificates/other-ca.crt tls-auth-clients no] {
        follow $replica $current_server
        wait_refused $replica "self-signed certificate in certificate chain"
        $replica control CONFIG SET tls-ca-cert-file $certificates/ca.crt
        wait_same $replica
    }
}
check_in 2 "a primary that is given by a name must have it" {
    with_tls_replica {} {
        follow $replica $current_server localhost
        wait_same $replica
        with_certificate other-name {
            r CLIENT KILL TYPE replica
            wait_refused $replica "hostname mismatch"
            follow $replica $current_server
            wait_same $replica
        }
    }
}
check_in 2 "tls-expected-peer-name is what a primary must have" {
    with_tls_replica {tls-expected-peer-name other.localhost} {
        follow $replica $current_server localhost
        wait_refused $replica "hostname mismatch"
        with_certificate other-name {wait_until {[is_up $replica]}}
        $replica control CONFIG SET tls-expected-peer-name 127.0.0.1
        r CLIENT KILL TYPE replica
        wait_same $replica
        $replica control CONFIG SET tls-expected-peer-name 127.0.0.9
        r CLIENT KILL TYPE replica
        wait_refused $replica "IP address mismatch"
    }
}
# A server that is OpenSSL's, with a certificate; what comes is written to a file. Returns its process and port.
proc openssl_server {certificate heard} {
    global certificates
    set port [free_port]
    set process [open [list | openssl s_server -accept 127.0.0.1:$port -cert $certificates/$certificate.crt \
        -key $certificates/server.key -quiet >$heard 2>/dev/null] w]
    wait_until {![catch {close [socket 127.0.0.1 $port]}]}
    return [list $process $port]
}

foreach {name reason} {expired "certificate has expired" early "certificate is not yet valid"} {
    check_in 2 "a primary whose certificate is $name is refused" {
        lassign [openssl_server $name /dev/null] process port
        with_tls_replica {} {
            $replica control REPLICAOF 127.0.0.1 $port
            wait_refused $replica $reason
        }
        exec kill [pid $process]
        catch {close $process}
    }
}
check_in 2 "a primary without TLS, and one that says nothing, are refused" {
    with_tls_replica {} {
        $replica control REPLICAOF 127.0.0.1 [$current_server port]
        wait_refused $replica "*"
        set silent [socket -server {apply {{channel args} {lappend ::accepted $channel}}} -myaddr 127.0.0.1 0]
        $replica control REPLICAOF 127.0.0.1 [lindex [fconfigure $silent -sockname] 2]
        wait_until {[update; info exists ::accepted]}
        assert_equal [replication_of $replica master_link_status] down
        $replica control REPLICAOF NO ONE
        close $silent
    }
}

# --- What a replica shows

check_in 2 "a replica uses tls-client-cert-file, or else the server's certificate" {
    with_tls_replica {} {
        r CONFIG SET tls-auth-clients yes
        $replica control CONFIG SET tls-client-cert-file $certificates/stranger.crt tls-client-key-file \
            $certificates/stranger.key
        follow $replica $current_server
        wait_until {[string match "*TLS with 127.0.0.1:* failed: *alert*" [$replica log]]}
        assert {![is_up $replica]}
        $replica control CONFIG SET tls-client-cert-file $certificates/client.crt tls-client-key-file \
            $certificates/client.key
        wait_same $replica
        $replica control CONFIG SET tls-client-cert-file "" tls-client-key-file ""
        r CLIENT KILL TYPE replica
        wait_same $replica
    }
}
check_in 2 "a key with a password, and a server without tls-port" {
    set directives [list tls-replication yes tls-ca-cert-file $certificates/ca.crt \
        tls-client-cert-file $certificates/server.crt tls-client-key-file $certificates/locked.key \
        tls-client-key-file-pass secret]
    set replica [server new $directives]
    follow $replica $current_server
    wait_same $replica
    # Without a port for TLS it is found at the other one.
    assert_match "ip=127.0.0.1,port=[$replica port],*" [replication_of $current_server slave0]
    $replica destroy
}
check_in 2 "a replica needs no certificate where clients need none" {
    with_config {tls-auth-clients no} {
        set replica [server new [list tls-replication yes tls-ca-cert-file $certificates/ca.crt]]
        follow $replica $current_server
        wait_same $replica
        $replica destroy
    }
}
check_in 2 "replica-announce-port goes before the port for TLS" {
    with_tls_replica {replica-announce-port 7777} {
        follow $replica $current_server
        wait_same $replica
        replication_of $current_server slave0
    }
} ip=127.0.0.1,port=7777,* -match glob
check_in 2 "tls-replication changes the next connection" {
    with_tls_replica {} {
        follow $replica $current_server
        wait_same $replica
        $replica control CONFIG SET tls-replication no
        r SET k 1
        wait_same $replica
        r CLIENT KILL TYPE replica
        after 1500
        assert {![is_up $replica]}
        $replica control REPLICAOF 127.0.0.1 [$current_server port]
        wait_same $replica
        assert_match "*port=[$replica port],*" [replication_of $current_server slave0]
        $replica control CONFIG SET tls-replication yes
        follow $replica $current_server
        wait_same $replica
    }
}

# --- Directives

check_in 2 "CONFIG SET refuses what cannot be used, and changes nothing" {
    set before [r CONFIG GET tls-*]
    foreach change [list {tls-replication yes tls-ca-cert-file ""} {tls-cluster yes tls-ca-cert-file ""} \
        [list tls-client-cert-file $certificates/client.crt] [list tls-client-key-file $certificates/client.key] \
        [list tls-client-cert-file $certificates/client.crt tls-client-key-file $certificates/server.key] \
        [list tls-client-cert-file $certificates/expired.crt tls-client-key-file $certificates/server.key] \
        [list tls-client-cert-file $certificates/server.crt tls-client-key-file $certificates/locked.key \
            tls-client-key-file-pass wrong]] {
        assert_match "ERR CONFIG SET failed (possibly related to argument '*') - Unable to update TLS configuration.\
            Check server logs." [error_of {r CONFIG SET {*}$change}]
    }
    assert_equal [r CONFIG GET tls-*] $before
    assert_equal [r CONFIG SET tls-client-cert-file $certificates/client.crt tls-client-key-file \
        $certificates/client.key] OK
    r CONFIG SET tls-client-cert-file "" tls-client-key-file ""
} OK
foreach {lines reason} [list \
    {tls-replication yes} "Either tls-ca-cert-file or tls-ca-cert-dir must be specified*" \
    {tls-cluster yes} "Either tls-ca-cert-file or tls-ca-cert-dir must be specified*" \
    "tls-replication yes\ntls-ca-cert-file $certificates/none.crt" "Failed to configure CA certificate(s) file*" \
    "tls-replication yes\ntls-ca-cert-file $certificates/ca.crt\ntls-client-cert-file $certificates/client.crt" \
        "No tls-client-key-file configured!*" \
    "tls-replication yes\ntls-ca-cert-file $certificates/ca.crt\ntls-client-cert-file\
        $certificates/client.crt\ntls-client-key-file $certificates/server.key" "Failed to load private key*"] {
    check_in 2 "a server that cannot do it does not start: $lines" {
        set path [$current_server folder]/wrong.conf
        write_file $path "port [free_port]\nsave \"\"\n$lines\n"
        lassign [server_run [list $path]] status output
        list $status [string match "*$reason" $output]
    } {1 1}
}

# --- MIGRATE

check_in 2 "tls-cluster makes MIGRATE use TLS, also in a transaction and in a script" {
    set target [server new [tls_directives]]
    open_tls_port $target
    set port [tls_port_of $target]
    r MSET a 1 b 2 c 3 d 4
    assert_match "IOERR*" [error_of {r MIGRATE 127.0.0.1 $port a 0 3000}]
    r CONFIG SET tls-cluster yes
    assert_equal [r MIGRATE 127.0.0.1 $port a 0 10000] OK
    assert_equal [r MIGRATE 127.0.0.1 $port b 0 10000] OK ;# by the same connection
    assert_match "IOERR*" [error_of {r MIGRATE 127.0.0.1 [$target port] c 0 3000}]
    r MULTI
    r MIGRATE 127.0.0.1 $port c 0 10000
    assert_equal [r EXEC] OK
    r EVAL "return redis.call('MIGRATE', '127.0.0.1', ARGV\[1\], KEYS\[1\], 0, 10000)" 1 d $port
    assert_equal [$target control MGET a b c d] {1 2 3 4}
    # A connection that was kept is not used with other settings.
    r MSET a 1 b 2
    r MIGRATE 127.0.0.1 $port a 0 10000 REPLACE
    r CONFIG SET tls-expected-peer-name primary.localhost
    assert_match "IOERR*" [error_of {r MIGRATE 127.0.0.1 $port b 0 3000 REPLACE}]
    wait_until {[string match "*MIGRATE cannot connect: TLS with * failed: hostname mismatch*" [$current_server log]]}
    r CONFIG SET tls-expected-peer-name localhost
    assert_equal [r MIGRATE 127.0.0.1 $port b 0 10000 REPLACE] OK
    r CONFIG SET tls-expected-peer-name "" tls-cluster no
    assert_match "IOERR*" [error_of {r SET e 1; r MIGRATE 127.0.0.1 $port e 0 3000}]
    $target destroy
}
check_in 2 "MIGRATE AUTH2 as a user who may only restore keys of one pattern" {
    set target [server new [tls_directives]]
    open_tls_port $target
    $target control ACL SETUSER mover on >secret +restore +select ~moved:*
    r CONFIG SET tls-cluster yes
    r MSET moved:a 1 other 2
    set migrate [list r MIGRATE 127.0.0.1 [tls_port_of $target]]
    assert_equal [{*}$migrate moved:a 0 10000 AUTH2 mover secret] OK
    assert_match "ERR Target instance replied with error: NOPERM*" \
        [error_of {{*}$migrate other 0 10000 AUTH2 mover secret}]
    assert_match "ERR Target instance replied with error: WRONGPASS*" \
        [error_of {{*}$migrate other 0 10000 AUTH2 mover wrong}]
    r CONFIG SET tls-cluster no
    set found [list [r EXISTS moved:a other] [$target control EXISTS moved:a other]]
    $target destroy
    set found
} {1 1}

check_in 2 "MIGRATE that is connected while a writable replica loads sends nothing until that is done" {
    set heard $certificates/heard
    lassign [openssl_server server $heard] target port
    with_replica [list replica-read-only no repl-diskless-load swapdb tls-cluster yes \
        tls-ca-cert-file $certificates/ca.crt] {
        [link_begin {a old}] close
        exec kill -STOP [pid $target]
        set moving [client_blocked MIGRATE 127.0.0.1 $port a 0 60000]
        set link [$primary accept]
        link_asks $link
        set snapshot [rdb {a new}]
        $link write "+FULLRESYNC $replication_id 100\r\n\$[string length $snapshot]\r\n[string range $snapshot 0 12]"
        wait_until {[info_field async_loading] == 1}
        exec kill -CONT [pid $target]
        after 500
        set early [file size $heard]
        $link write [string range $snapshot 13 end]
        wait_link up
        wait_until {[string match "*SELECT*" [read_file $heard]]}
        puts -nonewline $target "+OK\r\n"
        flush $target
        wait_until {[string match "*RESTORE*new*" [read_file $heard]]}
        set early
    }
} 0
catch {
    exec kill [pid $target]
    close $target
}

file delete -force $certificates
finish
