# Certificates that change: CONFIG SET, tls-auto-reload-interval, what INFO and the log say about them.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/tls.tcl

server_start
tls_listen
set live [$current_server folder]/live
file mkdir $live

proc serial {name} {
    return [regsub {^serial=} [exec openssl x509 -noout -serial -in $::certificates/$name.crt] ""]
}

# Puts a certificate and a key in the folder from which the server reads them: by rename, as tools do.
proc install {certificate key} {
    foreach {source target} [list $certificate.crt server.crt $key.key server.key] {
        file copy -force $::certificates/$source $::live/new
        file rename -force $::live/new $::live/$target
    }
}

# The body runs while the server looks at the files each second.
proc with_reload {body} {
    install server server
    with_config [list tls-cert-file $::live/server.crt tls-key-file $::live/server.key tls-auto-reload-interval 1] {
        uplevel 1 $body
    }
}

proc in_use {} {
    return [info_field tls_server_cert_serial]
}

proc log_lines {pattern} {
    return [llength [lsearch -all -glob [split [$::current_server log] \n] $pattern]]
}

check_in 2 "INFO has the serial numbers, and the seconds until certificates expire" {
    set info [r INFO tls]
    set first [expr {[clock scan 2048-01-01 -gmt 1] - [clock seconds]}]
    assert {abs([info_field tls_server_cert_expires_in_seconds] - $first) < 5}
    assert {abs([info_field tls_ca_cert_expires_in_seconds] - 3650 * 24 * 3600) < 100}
    assert_match "# TLS\r\ntls_server_cert_serial:[serial server]\r\n*tls_client_cert_serial:none\r\n*" $info
    assert_match "*\r\ntls_client_cert_expires_in_seconds:0\r\ntls_ca_cert_serial:[serial ca]\r\n*" $info
    assert {![string match "*tls_server*" [r INFO]]}
    string match "*tls_server*" [r INFO everything]
} 1
check_in 2 "without TLS there are none" {
    with_config {tls-port 0} {
        list [info_field tls_server_cert_serial] [info_field tls_server_cert_expires_in_seconds] [info_field\
            tls_ca_cert_serial]
    }
} {none 0 none}
check_in 2 "files that have changed are read, without a command; open connections go on" {
    with_reload {
        set channel [tls_open client]
        tls_ask $channel PING
        install rsa rsa
        wait_until {[in_use] eq [serial rsa]}
        set answers [list [tls_ask $channel PING] [tls_cli client PING]]
        tls_close $channel
        install server server
        wait_until {[in_use] eq [serial server]}
        lappend answers [tls_cli client PING]
    }
} {+PONG PONG PONG}
check_in 2 "a link that leads elsewhere counts as a change" {
    foreach name {server rsa} {
        file mkdir $live/$name
        file copy -force $certificates/$name.crt $live/$name/tls.crt
        file copy -force $certificates/$name.key $live/$name/tls.key
    }
    exec ln -sfn server $live/data
    with_config [list tls-cert-file $live/data/tls.crt tls-key-file $live/data/tls.key tls-auto-reload-interval 1] {
        exec ln -sfn rsa $live/other
        exec mv -T $live/other $live/data
        wait_until {[in_use] eq [serial rsa]}
        tls_cli client PING
    }
} PONG
check_in 2 "files that cannot be used are named once, and change nothing" {
    with_reload {
        set before [log_lines "*The files of TLS have changed, but*"]
        file copy -force $certificates/expired.crt $live/new
        file rename -force $live/new $live/server.crt
        wait_until {[log_lines "*The files of TLS have changed, but*has expired*"] == $before + 1}
        after 2500
        assert_equal [log_lines "*The files of TLS have changed, but*"] [expr {$before + 1}]
        assert_equal [in_use] [serial server]
        set answers [tls_cli client PING]
        write_file $live/server.crt "garbage"
        wait_until {[log_lines "*The files of TLS have changed, but*"] == $before + 2}
        lappend answers [tls_cli client PING]
        install rsa rsa
        wait_until {[in_use] eq [serial rsa]}
        set answers
    }
} {PONG PONG}
# A certificate for server.key that becomes valid in some seconds, two at least, as $live/server.crt.
proc install_later {} {
    global certificates live
    set seconds 5
    while {1} {
        set first [expr {[clock seconds] + $seconds}]
        make_later [clock format $first -gmt 1 -format %Y%m%d%H%M%SZ]
        if {[clock seconds] + 2 < $first} {
            break
        }
        set seconds [expr {$seconds * 2}]
    }
    file copy -force $certificates/later.crt $live/new
    file rename -force $live/new $live/server.crt
}
proc make_later {first} {
    global certificates
    exec sh -c {
        cd "$1" && : >index.txt && openssl req -new -key server.key -subj /CN=localhost -out later.csr &&
        openssl ca -batch -notext -config ca.conf -in later.csr -cert ca.crt -keyfile ca.key -startdate "$2" \
            -enddate 20480101000000Z -out later.crt 2>/dev/null
    } sh $certificates $first
}

check_in 2 "a certificate that is not valid yet is used once it is, and named once before" {
    with_reload {
        set line "*The files of TLS have changed, but*is not yet valid*"
        set before [log_lines $line]
        install_later
        wait_until {[log_lines $line] == $before + 1}
        assert_equal [in_use] [serial server]
        wait_until {[in_use] eq [serial later]}
        list [expr {[log_lines $line] - $before}] [tls_cli client PING]
    }
} {1 PONG}
check_in 2 "with 0, the default, only CONFIG SET reads them" {
    with_reload {
        r CONFIG SET tls-auto-reload-interval 0
        after 100
        install rsa rsa
        after 2000
        assert_equal [in_use] [serial server]
        r CONFIG SET tls-cert-file $live/server.crt
        in_use
    }
} [serial rsa]
check_in 2 "a file that is slow to read holds nobody up, and does not undo a later CONFIG SET" {
    with_reload {
        exec mkfifo $live/pipe
        file rename -force $live/pipe $live/server.crt
        after 2500 ;# a thread waits for the pipe
        r PING ;# would wait as long as the pipe does
        r CONFIG SET tls-cert-file $certificates/rsa.crt tls-key-file $certificates/rsa.key
        exec cp $certificates/server.crt $live/server.crt
        after 1500
        set now [in_use]
        install rsa rsa
        set now
    }
} [serial rsa]
check_in 2 "a certificate that expires within two weeks is named when it is read" {
    r CONFIG SET tls-cert-file $certificates/soon.crt
    r CONFIG SET tls-cert-file $certificates/server.crt
    log_lines "*The TLS certificate of this server, serial number [serial soon], or one of its chain expires in 9 days*"
} 1
check_in 2 "others are not" {
    log_lines "*TLS certificate of*"
} 1

finish
