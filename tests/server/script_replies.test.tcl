# Replies to scripts: short ones may be held for those to other clients, but arrive in order, and do not wait for a
# script that runs on.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/busy.tcl

server_start {enable-debug-command yes}

# A script that takes long enough for its reply to be held.
proc long_script {result} {
    return [list EVAL "for i = 1, 20000 do end return '$result'" 0]
}

# Runs the body while the server sleeps, so that it finds what the body sends in one iteration of its loop.
proc while_asleep {body} {
    set sleeper [client_open]
    $sleeper send DEBUG SLEEP 0.2
    uplevel 1 $body
    $sleeper read
    $sleeper close
}

proc check_replies {settings} {
    with_server [dict merge {enable-debug-command yes} $settings] {
        check "a pipeline of scripts and commands is answered in order ($settings)" {
            set c [client_open]
            set requests {}
            for {set i 0} {$i < 20} {incr i} {
                lappend requests [long_script a$i] [list ECHO b$i] [long_script c$i] [list APPEND k x]
            }
            set replies [$c pipeline $requests]
            set expected {}
            for {set i 0} {$i < 20} {incr i} {
                lappend expected a$i b$i c$i [expr {$i + 1}]
            }
            assert_equal $replies $expected
            $c close
        }
        check "so are requests that come one after the other while replies are held ($settings)" {
            set clients [lmap _ [lrepeat 30 x] {client_open}]
            while_asleep {
                foreach part {1 2 3} {
                    foreach c $clients {
                        $c send {*}[long_script $part]
                        $c send ECHO echo$part
                    }
                }
            }
            foreach c $clients {
                assert_equal [lmap _ {1 2 3 4 5 6} {$c read}] {1 echo1 2 echo2 3 echo3}
                $c close
            }
        }
        check "clients that leave after a script get its reply first ($settings)" {
            set c [client_open]
            while_asleep {
                $c send {*}[long_script last]
                $c send QUIT
            }
            assert_equal [list [$c read] [$c read] [$c is_closed]] {last OK 1}
            set c [client_open]
            while_asleep {
                $c send {*}[long_script last]
                $c shut_down
            }
            assert_equal [list [$c read] [$c is_closed]] {last 1}
        }
        check "clients that have gone stop nobody ($settings)" {
            set gone [lmap _ [lrepeat 30 x] {client_open}]
            set c [client_open]
            while_asleep {
                foreach one $gone {
                    $one send {*}[long_script lost]
                    $one close
                }
                $c send {*}[long_script there]
            }
            assert_equal [$c read] there
            $c close
        }
        check "CLIENT REPLY SKIP and OFF hold for scripts ($settings)" {
            set c [client_open]
            $c write [join [lmap words [list {CLIENT REPLY SKIP} [long_script a] {ECHO b} {CLIENT REPLY OFF} \
                [long_script c] {CLIENT REPLY ON}] {request $words}] ""]
            assert_equal [list [$c read] [$c read]] {b OK}
            $c close
        }
    }
}

check_replies {}
check_replies {appendonly yes appendfsync always}

check "a held reply does not wait for a script that never ends" {
    with_server {enable-debug-command yes busy-reply-threshold 0} {
        lassign [clients_in_order] c runner
        # Compiled beforehand: the first script takes a millisecond, and after so long nothing is held.
        $c call {*}[long_script held]
        [client_open] send DEBUG SLEEP 0.2
        $c send {*}[long_script held]
        after 50
        $runner send EVAL $forever 0
        assert_equal [$c read] held
        $::current_server crash
    }
}

finish
