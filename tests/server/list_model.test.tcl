# Random list commands against a Tcl list, for every list-max-listpack-size and list-compress-depth: whatever the
# layout, the replies and the list are those of the model. PACKLIST_SEED repeats a run;
# under `make soak` it is longer.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

set rounds [expr {[info exists env(PACKLIST_SOAK)] ? 250 : 25}]

proc below {limit} {
    return [expr {int(rand() * $limit)}]
}

proc pick {choices} {
    return [lindex $choices [below [llength $choices]]]
}

# Short and long, integers, texts that LZF compresses and few repeated ones, so that LREM and LPOS find them.
proc random_element {} {
    switch [below 8] {
        0 { return [expr {[below 2000000] - 1000000}] }
        1 { return [pick {a b c 1 2 -1 ""}] }
        2 { return [pick {a b c 1 2 -1 ""}] }
        3 { return [string repeat [pick {ab 1 xyz}] [below 400]] }
        4 { return [binary format cucucu [below 256] [below 256] [below 256]] }
        5 { return [string repeat [binary format cucu [below 256] [below 256]] [below 60]] }
        6 { return [string repeat L [expr {[below 50] ? [below 100] : 3000 + [below 9000]}]] }
    }
    return element:[below 1000]
}

# Any index that may be asked for in a list of that length, mostly one that exists.
proc random_index {length} {
    return [expr {[below [expr {2 * ($length + 2)}]] - $length - 2}]
}

# Runs on the global `model` what the command does, and returns what it answers: m_LPUSH and so on.
proc m_RPUSH {args} {
    lappend ::model {*}$args
    return [llength $::model]
}
proc m_LPUSH {args} {
    set ::model [list {*}[lreverse $args] {*}$::model]
    return [llength $::model]
}
proc m_LPOP {count} {
    set popped [lrange $::model 0 $count-1]
    set ::model [lrange $::model $count end]
    return $popped
}
proc m_RPOP {count} {
    set popped [lreverse [lrange $::model end-[expr {$count - 1}] end]]
    set ::model [lrange $::model 0 end-$count]
    return $popped
}
proc positive {index} {
    return [expr {$index < 0 ? $index + [llength $::model] : $index}]
}
proc m_LINDEX {index} {
    set at [positive $index]
    if {$at < 0 || $at >= [llength $::model]} {
        return (nil)
    }
    return [lindex $::model $at]
}
proc m_LSET {index element} {
    set at [positive $index]
    if {$at < 0 || $at >= [llength $::model]} {
        return [expr {[llength $::model] == 0 ? "(error) ERR no such key" : "(error) ERR index out of range"}]
    }
    lset ::model $at $element
    return OK
}
proc m_LINSERT {where pivot element} {
    if {[llength $::model] == 0} {
        return 0
    }
    set at [lsearch -exact $::model $pivot]
    if {$at < 0} {
        return -1
    }
    set ::model [linsert $::model [expr {$where eq "BEFORE" ? $at : $at + 1}] $element]
    return [llength $::model]
}
proc m_LREM {count element} {
    set found [lsearch -all -exact $::model $element]
    if {$count < 0} {
        set found [lrange $found end-[expr {-$count - 1}] end]
    } elseif {$count > 0} {
        set found [lrange $found 0 $count-1]
    }
    foreach at [lreverse $found] {
        set ::model [lreplace $::model $at $at]
    }
    return [llength $found]
}
proc m_LTRIM {start stop} {
    set ::model [m_LRANGE $start $stop]
    return OK
}
proc m_LRANGE {start stop} {
    return [lrange $::model [expr {max([positive $start], 0)}] [expr {max([positive $stop], -1)}]]
}
proc m_LPOS {element} {
    set at [lsearch -exact $::model $element]
    return [expr {$at < 0 ? "(nil)" : $at}]
}
proc m_LMOVE {from to} {
    set element [lindex [[expr {$from eq "LEFT" ? "m_LPOP" : "m_RPOP"}] 1] 0]
    [expr {$to eq "LEFT" ? "m_LPUSH" : "m_RPUSH"}] $element
    return $element
}

# One random command: what is sent, and what the model answers.
proc random_command {} {
    set length [llength $::model]
    set known [expr {$length && [below 4] ? [lindex $::model [below $length]] : [random_element]}]
    set command [pick {
        RPUSH RPUSH RPUSH LPUSH LPUSH LPOP RPOP LINDEX LSET LSET LINSERT LINSERT LREM LRANGE LPOS LMOVE LTRIM
    }]
    switch $command {
        RPUSH - LPUSH { set arguments [lmap i [numbered 0 [below 4]] {random_element}] }
        LPOP - RPOP { set arguments [list [expr {1 + [below 3]}]] }
        LINDEX { set arguments [list [random_index $length]] }
        LSET { set arguments [list [random_index $length] [random_element]] }
        LINSERT { set arguments [list [pick {BEFORE AFTER}] $known [random_element]] }
        LREM { set arguments [list [expr {[below 5] - 2}] $known] }
        LRANGE { set arguments [list [random_index $length] [random_index $length]] }
        LPOS { set arguments [list $known] }
        LMOVE { set arguments [list [pick {LEFT RIGHT}] [pick {LEFT RIGHT}]] }
        LTRIM { set arguments [list [below 3] -[expr {1 + [below 3]}]] }
    }
    if {$length == 0 && $command in {LPOP RPOP LMOVE}} {
        return [list [list LLEN k] 0]
    }
    if {$command eq "LMOVE"} {
        return [list [list LMOVE k k {*}$arguments] [m_LMOVE {*}$arguments]]
    }
    return [list [list $command k {*}$arguments] [m_$command {*}$arguments]]
}

foreach fill {1 2 5 128 -1 -2 -3 -4 -5} {
    foreach depth {0 1 2 3} {
        check "a list does what a model does, with list-max-listpack-size $fill and list-compress-depth $depth" {
            expr {srand($seed + $fill * 8 + $depth)}
            set model {}
            # Enough for a handful of nodes to begin with.
            for {set i 0} {$i < ($fill < 0 ? 4 << -$fill : min(5 * $fill, 100))} {incr i} {
                lappend model [random_element]
            }
            with_config [list list-max-listpack-size $fill list-compress-depth $depth] {
                r RPUSH k {*}$model
                for {set round 0} {$round < $::rounds} {incr round} {
                    set requests {}
                    set expected {}
                    for {set i 0} {$i < 25} {incr i} {
                        lassign [random_command] request reply
                        lappend requests $request
                        lappend expected $reply
                    }
                    foreach request $requests reply [[default_client] pipeline $requests] wanted $expected {
                        if {$reply ne $wanted} {
                            error "seed $seed: [printable $request]: got [printable $reply], not [printable $wanted]"
                        }
                    }
                    if {[list_of k] ne $model} {
                        error "seed $seed: the list differs after round $round"
                    }
                    assert_equal [r LLEN k] [llength $model]
                }
            }
        }
    }
}

finish
