# works: what the tests of commands that run in another thread share. They source this, then start their server with
# enable-debug-command yes.
#
#   $many                                  more elements than the loop visits at once
#   make_sets, change_sets                 the sets a b c … h, and a change of them
#   make_zsets, change_zsets               likewise the sorted sets za zb zc and the set members
#   remove_ranks key from to               removes these ranks of a sorted set
#   paused body                            runs it while no command begins in another thread
#   send_work command                      another client sends it, and it waits for its turn; returns the client
#   wait_for_works count                   waits until so many clients wait for such commands
#   total_works                            how many commands ran in another thread
#   check_works kind make change commands  their replies are those of the moment when they came: the procedure `make`
#                                          makes the values, `change` changes them. kind: set, whose members are in any
#                                          order, or another word
#   check_stores make change commands      what they store under the key `to` is that of the moment when they came
#   check_changes make key commands        they make of the key what they make of it at once
source [file join [file dirname [file normalize [info script]]] collections.tcl]
source [file join [file dirname [file normalize [info script]]] zsets.tcl]

set many 20000 ;# elements, more than the loop visits at once

proc fill_set {key members} {
    r DEL $key
    r SADD $key {*}$members
}

proc make_sets {} {
    r DEL bb
    set half [expr {$::many / 2}]
    fill_set a [numbered 1 $::many]
    fill_set b [numbered $half [expr {$::many + $half}]]
    fill_set c {3 17000 x}
    foreach key {d e f g h} {
        fill_set $key [numbered 1 50 $key]
    }
}

proc change_sets {} {
    r SREM a {*}[numbered 100 900]
    r SADD b new
    r DEL c
    r SADD a 5x 6x
    r RENAME b bb
}

# A sorted set whose members are numbered, with scores that differ from key to key.
proc fill_zset {key from to by} {
    r DEL $key
    set pairs {}
    for {set i $from} {$i <= $to} {incr i} {
        lappend pairs [expr {$i * $by % 9973}] member:$i
    }
    r ZADD $key {*}$pairs
}

# By a command that is no work, so that it can be called while these are paused.
proc remove_ranks {key from to} {
    r ZREM $key {*}[r ZRANGE $key $from $to]
}

proc make_zsets {} {
    set half [expr {$::many / 2}]
    r DEL zz
    fill_zset za 1 $::many 7
    fill_zset zb $half [expr {$::many + $half}] 13
    fill_zset zc 3 20 1
    fill_set members [lmap i [numbered 100 20000] {string cat member: $i}]
    r ZADD za 5 [string repeat long 300] 7 [string repeat longer 300]
    r ZADD zb 6 [string repeat long 300]
}

proc change_zsets {} {
    remove_ranks za 100 3000
    r ZADD zb 1 new 2 member:20000
    r ZADD za 77 member:20001 78 another
    r DEL zc
    r SREM members member:100 member:101
    r RENAME zb zz
}

# The reply as it is compared: the members of a set are in any order.
proc shown {kind reply} {
    return [expr {$kind eq "set" ? [lsort $reply] : $reply}]
}

proc wait_for_works {count} {
    wait_until [format {[info_field clients_waiting_for_threads] == %d} $count]
}

proc total_works {} {
    return [info_field total_commands_in_threads]
}

# Runs the body while no command begins in another thread.
proc paused {body} {
    r DEBUG PAUSE-THREADS 1
    try {
        uplevel 1 $body
    } finally {
        r DEBUG PAUSE-THREADS 0
    }
}

proc check_works {kind make change commands} {
    lassign [list $kind $make $change] ::kind ::make ::change
    foreach ::command $commands {
        check "$::command: the reply is that of the moment when it came" {
            $::make
            r MULTI
            r {*}$::command
            set expected [shown $::kind [lindex [r EXEC] 0]]
            if {"WITHSCORES" ni $::command} { ;# pairs in RESP3 alone
                set in_script [r EVAL {return redis.call(unpack(ARGV))} 0 {*}$::command]
                assert_equal [shown $::kind $in_script] $expected
            }
            set before [total_works]
            assert_equal [shown $::kind [r {*}$::command]] $expected
            assert_equal [total_works] [expr {$before + 1}]
            set c [client_open]
            paused {
                $c send {*}$::command
                $c send PING
                wait_for_works 1
                $::change
            }
            assert_equal [shown $::kind [$c read]] $expected
            $c read
        } PONG
    }
}

# Another client sends the command, and its work waits for its turn.
proc send_work {command} {
    set c [client_open]
    $c send {*}$command
    wait_for_works 1
    return $c
}

proc digest {key} {
    return [lindex [r DEBUG DIGEST-VALUE $key] 0]
}

# What a transaction stores, which runs the command at once, and what the command replies.
proc stored_at_once {make command} {
    $make
    r DEL to
    r MULTI
    r {*}$command
    set reply [lindex [r EXEC] 0]
    return [list $reply [digest to]]
}

proc check_stores {make change commands} {
    lassign [list $make $change] ::make ::change
    foreach ::command $commands {
        check "$::command stores what it would have stored when it came" {
            lassign [stored_at_once $::make $::command] reply stored
            foreach old {none string expiring} {
                r DEL to
                if {$old ne "none"} {
                    r SET to old
                }
                if {$old eq "expiring"} {
                    r PEXPIRE to 20
                }
                $::make
                paused {
                    set c [send_work $::command]
                    $::change
                    after [expr {$old eq "expiring" ? 30 : 0}]
                }
                assert_equal [$c read] $reply
                assert_equal [digest to] $stored
                assert_equal [r PTTL to] [expr {$reply == 0 ? -2 : -1}]
            }
        }
        check "$::command, and whoever looks at the key gets the result" {
            lassign [stored_at_once $::make $::command] reply stored
            foreach look {{EXISTS to} {MULTI} {EVAL "return redis.call('EXISTS', 'to')" 0} {SCAN 0}} {
                $::make
                r DEL to
                paused {
                    set c [send_work $::command]
                    if {$look eq "MULTI"} {
                        r MULTI
                        r EXISTS to
                        r EXEC
                    } else {
                        r {*}$look
                    }
                    assert_equal [$c read] $reply ;# although no thread runs it
                    assert_equal [digest to] $stored
                }
            }
        }
        check "$::command is done though its client has gone" {
            lassign [stored_at_once $::make $::command] reply stored
            $::make
            r DEL to
            paused {
                set c [send_work $::command]
                $c close
                wait_for_works 0
                $::change
            }
            assert_equal [digest to] $stored
        }
    }
}

# Makes the values, runs the command at once, in a transaction, and returns its reply and what it has made of the key.
proc changed_at_once {make command key} {
    $make
    r MULTI
    r {*}$command
    set reply [lindex [r EXEC] 0]
    return [list $reply [digest $key]]
}

proc check_changes {make key commands} {
    lassign [list $make $key] ::make ::key
    foreach ::command $commands {
        check "$::command: the same change in another thread as at once" {
            lassign [changed_at_once $::make $::command $::key] reply changed
            $::make
            set before [total_works]
            assert_equal [r {*}$::command] $reply
            assert_equal [total_works] [expr {$before + 1}]
            assert_equal [digest $::key] $changed
            foreach look [list [list EXISTS $::key] {MULTI} {EVAL "return redis.call('DBSIZE')" 0} {SCAN 0}] {
                $::make
                paused {
                    set c [send_work $::command]
                    if {$look eq "MULTI"} {
                        r MULTI
                        r EXISTS $::key
                        r EXEC
                    } else {
                        r {*}$look
                    }
                    assert_equal [$c read] $reply ;# although no thread runs it
                    assert_equal [digest $::key] $changed
                }
            }
        }
        check "$::command is done though its client has gone" {
            lassign [changed_at_once $::make $::command $::key] reply changed
            $::make
            r PEXPIRE $::key 1000000
            paused {
                set c [send_work $::command]
                $c close
                wait_for_works 0
            }
            assert {![r EXISTS $::key] || [r PTTL $::key] > 900000}
            r PERSIST $::key
            assert_equal [digest $::key] $changed
        }
    }
}
