# TLS for server tests, which source this after packlist.tcl.
#
#   tls_certificates            the folder of certificates for the current server (tests/tls/make-certificates)
#   tls_listen                  the current server listens with TLS on $tls_port, for clients with a certificate
#   tls_cli certificate args …  what redis-cli says over TLS with the certificate of a client, or "" for none; "failed"
#                               if it does not come through
#   tls_open certificate ?s_client options …?     a connection that sends and gets lines (openssl s_client): a channel

proc tls_certificates {} {
    set certificates [$::current_server folder]/certificates
    if {![file exists $certificates]} {
        exec $::repository/tests/tls/make-certificates $certificates
    }
    return $certificates
}

proc tls_listen {} {
    set ::certificates [tls_certificates]
    set ::tls_port [free_port]
    r CONFIG SET tls-cert-file $::certificates/server.crt tls-key-file $::certificates/server.key \
        tls-ca-cert-file $::certificates/ca.crt tls-port $::tls_port
}

proc tls_cli {certificate args} {
    set options [list --tls -p $::tls_port --cacert $::certificates/ca.crt]
    if {$certificate ne ""} {
        lappend options --cert $::certificates/$certificate.crt --key $::certificates/$certificate.key
    }
    if {[catch {exec redis-cli {*}$options {*}$args 2>@1} output]} {return failed}
    return [expr {[string match "*Error*" $output] ? "failed" : $output}]
}

proc tls_open {certificate args} {
    set options [list -quiet -connect 127.0.0.1:$::tls_port -CAfile $::certificates/ca.crt]
    if {$certificate ne ""} {
        lappend options -cert $::certificates/$certificate.crt -key $::certificates/$certificate.key
    }
    set channel [open [list |timeout 60 openssl s_client {*}$options {*}$args 2>/dev/null] r+]
    fconfigure $channel -translation binary -buffering line
    return $channel
}

# Sends the line of a request, and returns the first line of its reply, or the bulk string in it. Empty at the end.
proc tls_ask {channel line} {
    puts $channel $line
    gets $channel answer
    if {[string match {$[0-9]*} $answer]} {gets $channel answer}
    return [string trimright $answer \r]
}

proc tls_close {channel} {
    exec kill {*}[pid $channel]
    catch {close $channel}
}
