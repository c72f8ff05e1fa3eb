# TLS: the port, its directives, certificates of clients, CONFIG SET under open connections.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/tls.tcl

server_start
tls_listen
set folder [$current_server folder]

check_in 2 "a client with a certificate of the authority is served" {tls_cli client ECHO hello} hello
check_in 2 "one without is not, nor one of another authority" {list [tls_cli "" PING] [tls_cli stranger PING]} \
    {failed failed}
check_in 2 "tls-auth-clients decides who needs a certificate" {
    set answers {}
    foreach auth {no optional yes} {
        r CONFIG SET tls-auth-clients $auth
        lappend answers $auth [tls_cli "" PING] [tls_cli stranger PING] [tls_cli client PING]
    }
    set answers
} {no PONG PONG PONG optional PONG failed PONG yes failed failed PONG}
check_in 2 "a large value comes and goes" {
    r SET large [string repeat x 3000000]
    string length [tls_cli client GET large]
} 3000000
check_in 2 "INFO shows the listener" {r INFO server} "*listener1:name=tls,*port=$tls_port*" -match glob
check_in 2 "plain text on the port is closed" {
    set plain [socket 127.0.0.1 $tls_port]
    fconfigure $plain -translation binary
    puts -nonewline $plain "PING\r\n"
    flush $plain
    set answer [read $plain]
    close $plain
    set answer
} {}
check_in 2 "a key that does not fit, and certificates out of their time, are refused and change nothing" {
    foreach {name value} [list tls-key-file $certificates/rsa.key tls-cert-file $certificates/expired.crt \
                              tls-cert-file $certificates/early.crt tls-protocols SSLv3] {
        assert_equal [error_of {r CONFIG SET $name $value}] "ERR CONFIG SET failed (possibly related to argument\
            '$name') - Unable to update TLS configuration. Check server logs."
    }
    assert_equal [r CONFIG GET tls-protocols] {tls-protocols {}}
    tls_cli client PING
} PONG
check_in 2 "the password of a key is shown by CONFIG GET only" {
    set wrong "not-the-password"
    set monitor [client_open]
    assert_equal [$monitor call MONITOR] OK
    with_config {slowlog-log-slower-than 0} {
        r SLOWLOG RESET
        set error [error_of {r CONFIG SET tls-key-file $certificates/locked.key tls-key-file-pass $wrong}]
        r CONFIG SET tls-key-file $certificates/locked.key tls-key-file-pass secret
        set shown [r CONFIG GET tls-key-file-pass]
        set answer [tls_cli client PING]
        r CONFIG SET tls-key-file $certificates/server.key tls-key-file-pass ""
        r ECHO end
        set seen ""
        while {![string match "*end*" $seen]} {append seen [$monitor read]}
        foreach text [list $error [r SLOWLOG GET 100] [r CLIENT LIST] [r INFO everything] $seen [$current_server log]] {
            assert {![string match "*$wrong*" $text] && ![string match "*key-file-pass* secret*" $text]}
        }
    }
    assert_match "*locked.key: its password is another one*" [$current_server log]
    list $shown $answer
} {{tls-key-file-pass secret} PONG}
check_in 2 "certificate and key are changed together" {
    r CONFIG SET tls-cert-file $certificates/rsa.crt tls-key-file $certificates/rsa.key
    set answer [tls_cli client PING]
    r CONFIG SET tls-key-file $certificates/server.key tls-cert-file $certificates/server.crt
    list $answer [tls_cli client PING]
} {PONG PONG}
check_in 2 "a client over TLS is told what has changed of what it has read" {
    set c [tls_open client]
    foreach line {"HELLO 3" "CLIENT TRACKING ON" "GET k"} {
        puts $c $line
    }
    while {[gets $c] ne "+OK\r"} {}
    gets $c
    r SET k 1
    set told {}
    for {set i 0} {$i < 6} {incr i} {
        lappend told [string trimright [gets $c] \r]
    }
    tls_close $c
    set told
} {>2 {$10} invalidate *1 {$1} k}
check_in 2 "tls-port 0 closes the port" {
    r CONFIG SET tls-port 0
    set answer [tls_cli client PING]
    r CONFIG SET tls-port $tls_port
    list $answer [tls_cli client PING]
} {failed PONG}
check_in 2 "tls-ca-cert-dir must be a folder, with names of openssl rehash unless there is a file as well" {
    set trusted $folder/trusted
    file mkdir $trusted
    file copy -force $certificates/ca.crt $trusted/12345678.x
    foreach change [list [list tls-ca-cert-dir /nope] [list tls-ca-cert-dir $certificates/ca.crt] \
        [list tls-ca-cert-dir /nope tls-auth-clients no] [list tls-ca-cert-dir $trusted tls-ca-cert-file ""]] {
        assert_match "ERR CONFIG SET failed*Unable to update TLS configuration. Check server logs." \
            [error_of {r CONFIG SET {*}$change}]
    }
    foreach reason {"/nope: No such file or directory" "*/ca.crt: Not a directory"
        "$trusted: no file in it has a name that openssl rehash gives"} {
        assert_match "*Failed to configure CA certificate(s) directory: [subst $reason]*" [$current_server log]
    }
    assert_equal [r CONFIG GET tls-ca-cert-dir] {tls-ca-cert-dir {}}
    r CONFIG SET tls-ca-cert-dir $trusted
    set answers [tls_cli client PING]
    set hash [exec openssl x509 -noout -hash -in $certificates/ca.crt]
    file copy $certificates/ca.crt $trusted/$hash.0
    r CONFIG SET tls-ca-cert-file ""
    lappend answers [tls_cli client PING] [tls_cli stranger PING]
    r CONFIG SET tls-ca-cert-file $certificates/ca.crt tls-ca-cert-dir ""
    set answers
} {PONG PONG failed}
# The body runs while somebody else listens on $busy.
proc with_busy_port {body} {
    set other [socket -server close -myaddr 127.0.0.1 0]
    set ::busy [lindex [fconfigure $other -sockname] 2]
    try {
        uplevel 1 $body
    } finally {
        close $other
    }
}

check_in 2 "a CONFIG SET that fails leaves TLS as it was, also when its files are no longer there" {
    set live $folder/live.crt
    file copy -force $certificates/server.crt $live
    r CONFIG SET tls-cert-file $live
    set answers {}
    with_busy_port {
        foreach replacement {expired none} {
            file delete $live
            if {$replacement ne "none"} {file copy $certificates/$replacement.crt $live}
            assert_match "ERR CONFIG SET failed*'port'*" [error_of {
                r CONFIG SET tls-cert-file $certificates/rsa.crt tls-key-file $certificates/rsa.key \
                    tls-auth-clients no port $busy
            }]
            assert_match "ERR CONFIG SET failed*'tls-port'*" [error_of {r CONFIG SET tls-port $busy}]
            lappend answers [tls_cli "" PING] [tls_cli client PING] [info_field tls_server_cert_serial]
        }
    }
    set serial [regsub {^serial=} [exec openssl x509 -noout -serial -in $certificates/server.crt] ""]
    assert_equal $answers [list failed PONG $serial failed PONG $serial]
    set values [lindex [r CONFIG GET tls-auth-clients] 1]
    lappend values [expr {[lindex [r CONFIG GET tls-cert-file] 1] eq $live}]
    r CONFIG SET tls-cert-file $certificates/server.crt
    set values
} {yes 1}
check_in 2 "tls-port may be set together with port and bind, in each order" {
    set port [lindex [r CONFIG GET port] 1]
    foreach change {{port tls-port} {tls-port port} {bind tls-port} {tls-port bind port} {bind port tls-port}} {
        r CONFIG SET tls-port 0
        set values [dict create port [free_port] tls-port $tls_port bind [lindex {127.0.0.1 {127.0.0.1 -::1}} \
            [incr turn; expr {$turn % 2}]]]
        set pairs {}
        foreach name $change {lappend pairs $name [dict get $values $name]}
        r CONFIG SET {*}$pairs
        assert_equal [tls_cli client PING] PONG
    }
    r CONFIG SET port $port bind 127.0.0.1
} OK
check_in 2 "and is refused without a certificate, when nothing changes" {
    set other [server new {}]
    set before [list [$other control CONFIG GET port] [$other control CONFIG GET bind]]
    foreach change [list [list port [free_port] tls-port [free_port]] [list tls-port [free_port] port [free_port]] \
        [list bind "127.0.0.1 -::1" tls-port [free_port]] [list tls-port [free_port]]] {
        assert_match "ERR CONFIG SET failed*Unable to update TLS configuration. Check server logs." \
            [error_of {$other control CONFIG SET {*}$change}]
        assert_equal [$other control CONFIG GET tls-port] {tls-port 0}
        assert_equal [list [$other control CONFIG GET port] [$other control CONFIG GET bind]] $before
        assert {[catch {close [socket 127.0.0.1 [dict get $change tls-port]]}]}
    }
    set answer [exec redis-cli -p [$other port] PING]
    $other destroy
    set answer
} PONG
check_in 2 "a server with wrong files does not start" {
    set path $folder/wrong.conf
    write_file $path "port 0\ntls-port [free_port]\ntls-cert-file $certificates/server.crt\ntls-key-file\
        $certificates/client.key\ntls-ca-cert-file $certificates/ca.crt\n"
    lassign [server_run [list $path]] status output
    list $status [string match "*Failed to load private key*" $output]
} {1 1}

finish
