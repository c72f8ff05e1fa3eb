# HyperLogLogs of many keys are merged in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

proc keys_of {prefix count} {
    set keys {}
    for {set i 0} {$i < $count} {incr i} {
        lappend keys $prefix:$i
    }
    return $keys
}

set dense [keys_of dense 320]
set sparse [keys_of sparse 400]
set both [concat [lrange $dense 0 199] none [lrange $sparse 0 199] [lrange $dense 0 9] $dense]

# Elements of which some are in the value before, too.
proc make_value {key count index} {
    r PFADD $key {*}[numbered [expr {$index * $count / 2}] [expr {$index * $count / 2 + $count}]]
    return [r GET $key]
}

# Ten values of each kind, under all keys; the keys of a kind get them in turns.
foreach {kind count} {dense 6000 sparse 700} {
    r CONFIG SET hll-sparse-max-bytes [expr {$kind eq "dense" ? 0 : 3000}]
    set values($kind) {}
    for {set i 0} {$i < 10} {incr i} {
        lappend values($kind) [make_value new $count $i]
        r DEL new
    }
}
proc make_values {} {
    set pairs {}
    foreach kind {dense sparse} {
        set i 0
        foreach key [set ::$kind] {
            lappend pairs $key [lindex $::values($kind) [expr {[incr i] % 10}]]
        }
    }
    r MSET {*}$pairs
    r DEL away
}
proc change_values {} {
    foreach key {dense:40 sparse:40 dense:51 none} {
        r PFADD $key {*}[numbered 1 3000 x]
    }
    r RENAME dense:61 away
    r SET dense:62 [lindex $::values(sparse) 0]
    r DEL {*}[lrange $::dense 100 130] {*}[lrange $::sparse 100 130]
}

foreach {kind keys} [list "dense values" $dense "sparse values" $sparse "values of both kinds" $both] {
    check "PFCOUNT of $kind replies the count of the moment when it came" {
        make_values
        r MULTI
        r PFCOUNT {*}$keys
        set expected [lindex [r EXEC] 0]
        assert_equal [r EVAL {return redis.call('PFCOUNT', unpack(KEYS))} [llength $keys] {*}$keys] $expected
        set before [total_works]
        assert_equal [r PFCOUNT {*}$keys] $expected
        assert_equal [total_works] [expr {$before + 1}]
        paused {
            set c [send_work [list PFCOUNT {*}$keys]]
            change_values
        }
        assert_equal [$c read] $expected
        assert {[r PFCOUNT {*}$keys] != $expected}
    }
}

# What stands under the key, to which the values are merged.
proc make_destination {kind} {
    r DEL to
    if {$kind in {dense sparse}} {
        r SET to [lindex $::values($kind) 3]
        r PFADD to only here
        r PEXPIRE to 1000000
    }
}

# Runs it at once, in a transaction. Returns what it stores.
proc merged_at_once {old command} {
    make_values
    make_destination $old
    r MULTI
    r {*}$command
    assert_equal [r EXEC] OK
    return [r GET to]
}

foreach {kind keys} [list "dense values" $dense "sparse values" $sparse "values of both kinds" $both] {
    set command [list PFMERGE to {*}$keys]
    foreach old {none dense sparse} {
        check "PFMERGE of $kind stores what it would have stored when it came; destination: $old" {
            set expected [merged_at_once $old $command]
            make_values
            make_destination $old
            set before [total_works]
            paused {
                set c [send_work $command]
                change_values
            }
            assert_equal [$c read] OK
            assert {[r GET to] eq $expected}
            assert_equal [total_works] [expr {$before + 1}]
            set ttl [r PTTL to]
            assert {$old eq "none" ? $ttl == -1 : $ttl > 900000}
        }
        check "PFMERGE of $kind is done for whoever looks, and without its client; destination: $old" {
            set expected [merged_at_once $old $command]
            foreach look {{PFCOUNT to} MULTI {SCAN 0} {EVAL "return redis.call('EXISTS', 'to')" 0} close} {
                make_values
                make_destination $old
                paused {
                    set c [send_work $command]
                    if {$look eq "close"} {
                        $c close
                        wait_for_works 0
                    } elseif {$look eq "MULTI"} {
                        r MULTI
                        r EXISTS to
                        r EXEC
                    } else {
                        r {*}$look
                        assert_equal [$c read] OK ;# although no thread runs it
                    }
                }
                r PFCOUNT to ;# stores the count
                r PFADD to {*}[numbered 1 3 y] ;# and this forgets it
                set now [r GET to]
                r SET to $expected
                r PFCOUNT to
                r PFADD to {*}[numbered 1 3 y]
                assert {[r GET to] eq $now}
            }
        }
    }
}

check "PFMERGE into one of its sources, which others read" {
    set command [list PFMERGE dense:5 {*}$dense {*}$sparse]
    make_values
    r MULTI
    r {*}$command
    r GET dense:5
    set expected [lindex [r EXEC] 1]
    make_values
    set count [r EVAL {return redis.call('PFCOUNT', unpack(KEYS))} [llength $dense] {*}$dense]
    set reader [client_open]
    set c [client_open]
    paused {
        $reader send PFCOUNT {*}$dense
        wait_for_works 1
        $c send {*}$command
        wait_for_works 2
        change_values
    }
    assert_equal [$c read] OK
    assert_equal [$reader read] $count
    expr {[r GET dense:5] eq $expected}
} 1

check "a destination that expires meanwhile is deleted behind the command" {
    with_server {appendonly yes enable-debug-command yes} {
        make_values
        r PFADD to only here
        r PEXPIRE to 20
        paused {
            set c [send_work [list PFMERGE to {*}$::dense]]
            after 30
        }
        assert_equal [$c read] OK
        assert {[r PTTL to] in {-2 -1}} ;# -1 on a slow machine: it had expired before
        r PFADD kept only here
        r PEXPIRE kept 1000000
        r PFMERGE kept {*}$::dense
        paused {
            set c [send_work [list PFMERGE other {*}$::both]]
            change_values
        }
        assert_equal [$c read] OK
        set before [r DEBUG DIGEST]
        r DEBUG LOADAOF
        assert_equal [r DEBUG DIGEST] $before
        expr {[r PTTL kept] > 900000}
    }
} 1

check "the first value that cannot be used decides the error" {
    make_values
    set corrupt [string cat "HYLL\x01" [string repeat "\x00" 12]]
    set too_long [string cat $corrupt [string repeat "\x00" 40000]]
    set type {WRONGTYPE Key is not a valid HyperLogLog string value.}
    set invalid {INVALIDOBJ Corrupted HLL object detected}
    foreach {key value error} [list text hello $type corrupt $corrupt $invalid long $too_long $invalid] {
        r SET $key $value
        foreach command {{PFCOUNT dense:0} {PFMERGE to}} {
            set before [total_works]
            assert_equal [catch {r {*}$command {*}$::both $key {*}$::dense} reply] 1
            assert_equal $reply $error
            set works($command,$key) [expr {[total_works] - $before}]
        }
    }
    foreach command {{PFCOUNT dense:0} {PFMERGE to}} {
        foreach {first second error} [list text corrupt $type corrupt text $invalid long text $invalid] {
            catch {r {*}$command {*}$::both $first $second} reply
            assert_equal $reply $error
        }
    }
    r RPUSH list x
    catch {r PFMERGE list {*}$::both} reply
    assert_equal $reply {WRONGTYPE Operation against a key holding the wrong kind of value}
    r DEL list
    lsort [array get works PFMERGE*]
} {0 0 0 {PFMERGE to,corrupt} {PFMERGE to,long} {PFMERGE to,text}}

check "few values, and one that is named often, take no thread" {
    make_values
    set before [total_works]
    r PFCOUNT {*}[lrange $dense 0 99]
    r PFMERGE to {*}[lrange $sparse 0 99]
    r PFCOUNT {*}[lrepeat 2000 dense:1]
    r PFMERGE to {*}[lrepeat 2000 dense:1]
    expr {[total_works] - $before}
} 0

finish
