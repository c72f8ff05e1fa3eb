# What clients may cost the server before they have authenticated.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {requirepass secret maxclients 2000}

proc client_authenticated {} {
    set c [client_open 2]
    $c call AUTH secret
    return $c
}

# Writes the bytes again and again until the server closes the connection; how many bytes it took.
proc write_until_closed {c bytes limit} {
    for {set written 0} {$written < $limit} {incr written [string length $bytes]} {
        if {[catch {$c write $bytes}]} {
            return $written
        }
    }
    error "$written bytes were taken"
}

# So many clients that have each sent the first 20,000 bytes of two arguments; what the server keeps of them.
proc half_requests {open count} {
    set clients [lmap _ [lrepeat $count x] {$open}]
    foreach c $clients {
        $c write "*3\r\n\$4\r\nAUTH\r\n\$16000\r\n[string repeat x 16000]\r\n\$16000\r\n[string repeat y 4000]"
    }
    wait_until {[regexp -all {qbuf=20\d\d\d } [$::current_server control CLIENT LIST]] == $count}
    return $clients
}

check_in 2 "an unauthenticated client cannot tell which commands there are" {
    set c [client_open]
    foreach request {NOSUCH {NOSUCH a b} GET {GET a b} CONFIG {CONFIG NOSUCH} {CONFIG GET} {CLIENT ID x} {CLIENT KILL}
        {MULTI x} {EVAL a}} {
        assert_equal [error_of {$c call {*}$request}] "NOAUTH Authentication required."
    }
}
check_in 2 "the errors of AUTH and HELLO come before authentication, too" {
    set c [client_open]
    list [error_of {$c call AUTH}] [error_of {$c call HELLO 9}]
} {{ERR wrong number of arguments for 'auth' command} {NOPROTO unsupported protocol version}}
check_in 2 "a request of a web page is cut off before authentication, too" {
    set c [client_open]
    $c write "POST / HTTP/1.1\r\n"
    $c read_all
} {}
check_in 2 "a client that asks for ever and reads nothing is closed, and takes no memory" {
    set before [info_field client_output_buffer_limit_disconnections]
    set memory [info_field used_memory]
    set c [client_open]
    write_until_closed $c [string repeat "GET x\r\n" 100] 100000000
    assert_equal [expr {[info_field client_output_buffer_limit_disconnections] - $before}] 1
    expr {[info_field used_memory] - $memory < 1000000}
} 1
check_in 2 "a pipeline with more errors than it may have unread is closed, also if the client reads" {
    set c [client_open]
    catch {$c write [string repeat "GET x\r\n" 9000]}
    catch {$c read_all} bytes
    expr {[string length $bytes] < 9000 * [string length "-NOAUTH Authentication required.\r\n"]}
} 1
check_in 2 "a client that reads its errors stays, and may authenticate in the end" {
    set c [client_open]
    for {set i 0} {$i < 50} {incr i} {
        $c write [string repeat "GET x\r\n" 100]
        for {set j 0} {$j < 100} {incr j} {
            assert_equal [$c read_line] "-NOAUTH Authentication required."
        }
    }
    $c call AUTH secret
} OK
check_in 2 "with AUTH nothing of this holds, from the next command on" {
    [client_authenticated] call SET big [string repeat x 300000]
    foreach authenticate {{AUTH secret} {HELLO 2 AUTH default secret}} {
        set c [client_open]
        $c write [request $authenticate][request {GET big}][request [list ECHO [string repeat y 100000]]]
        $c read
        assert_equal [string length [$c read]] 300000
        assert_equal [string length [$c read]] 100000
    }
}
check_in 2 "RESET takes the client back to the limits" {
    set c [client_authenticated]
    assert_equal [string length [$c call ECHO [string repeat x 100000]]] 100000
    $c call RESET
    assert_equal [catch {$c call ECHO [string repeat x 100000]} error] 1
    assert_equal $error "ERR Protocol error: unauthenticated bulk length"
    $c is_closed
} 1
check_in 2 "an incomplete request may be no longer than 32 KB" {
    set before [info_field client_query_buffer_limit_disconnections]
    set argument "\$15000\r\n[string repeat x 15000]\r\n"
    set c [client_open]
    $c write "*3\r\n\$4\r\nAUTH\r\n$argument"
    assert {[$c is_silent]}
    $c write $argument
    assert_equal [$c read_line] "-WRONGPASS invalid username-password pair or user is disabled."
    catch {$c write "*5\r\n[string repeat $argument 4]"}
    assert {[$c is_closed]}
    set c [client_open]
    catch {$c write [string repeat x 40000]}
    assert {[$c is_closed]}
    expr {[info_field client_query_buffer_limit_disconnections] - $before}
} 2
check_in 2 "what unauthenticated clients keep evicts no key" {
    set admin [client_authenticated]
    for {set i 0} {$i < 1000} {incr i} {
        $admin call SET k$i [string repeat x 1000]
    }
    set keys [$admin call DBSIZE]
    set evicted [info_field evicted_keys]
    set maxmemory [expr {[info_field used_memory] + 2000000}]
    with_config [list maxmemory $maxmemory maxmemory-policy allkeys-lru] {
        set clients [half_requests client_open 300]
        assert {[info_field used_memory] > $maxmemory}
        for {set i 0} {$i < 100} {incr i} {
            $admin call SET k1 x
        }
        assert_equal [list [$admin call DBSIZE] [info_field evicted_keys]] [list $keys $evicted]
        # Once they are gone, the accounts of memory are as before.
        foreach c $clients {
            $c close
        }
        wait_until {[info_field connected_clients] == 2}
        catch {$admin call SET k1 [string repeat x 4000000]} ;# refused when there are no keys left
        assert {[info_field evicted_keys] > $evicted}
    }
}
check_in 2 "what authenticated clients keep does" {
    set admin [client_authenticated]
    for {set i 0} {$i < 1000} {incr i} {
        $admin call SET k$i [string repeat x 1000]
    }
    set evicted [info_field evicted_keys]
    with_config [list maxmemory [expr {[info_field used_memory] + 2000000}] maxmemory-policy allkeys-lru] {
        half_requests client_authenticated 300
        catch {$admin call SET k1 x} ;# refused when there are no keys left
        expr {[info_field evicted_keys] > $evicted}
    }
} 1
check_in 2 "a client that connected while there was no password stays authenticated" {
    with_config {requirepass ""} {
        set c [client_open]
        assert_equal [string length [$c call ECHO [string repeat x 100000]]] 100000
    }
    string length [$c call ECHO [string repeat x 100000]]
} 100000

finish
