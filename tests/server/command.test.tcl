# COMMAND: what the server says of its commands. What INFO and GETKEYSANDFLAGS say of each one is in
# command_facts.test.tcl.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# A row of COMMAND as a dictionary.
proc named_row {row} {
    foreach field {name arity flags first last step categories tips keys subcommands} value $row {
        dict set info $field $value
    }
    return $info
}

# --- COUNT, LIST, INFO

check "COMMAND COUNT, COMMAND, COMMAND INFO, COMMAND DOCS and COMMAND LIST agree" {
    set count [r COMMAND COUNT]
    set names [lmap row [r COMMAND] {lindex $row 0}]
    assert_equal [llength $names] $count
    assert_equal [llength [r COMMAND INFO]] $count
    assert_equal [lsort [dict keys [r COMMAND DOCS]]] [lsort $names]
    set top [lsearch -all -inline -not [r COMMAND LIST] *|*]
    assert_equal [lsort $top] [lsort $names]
    expr {$count > 100}
} 1
check "COMMAND INFO takes names in any case and answers null for unknown ones" {
    set rows [lindex [typed COMMAND INFO LPush nosuch get] 1]
    list [llength $rows] [lindex [plain_value [lindex $rows 0]] 0] [plain_value [lindex $rows 1]] \
        [lindex [plain_value [lindex $rows 2]] 0]
} {3 lpush (nil) get}
check "COMMAND LIST names every command and subcommand once" {
    set described {}
    foreach row [r COMMAND] {
        lappend described [lindex $row 0] {*}[lmap sub [lindex $row 9] {lindex $sub 0}]
    }
    assert_equal [lsort [r COMMAND LIST]] [lsort -unique $described]
}
check "COMMAND LIST can be filtered" {
    assert_equal [lsort [r COMMAND LIST FILTERBY PATTERN l*x]] {lindex lpushx}
    assert_equal [lsort [r COMMAND LIST filterby pattern CONFIG|R*]] {config|resetstat config|rewrite}
    assert_equal [lsort [r COMMAND LIST FILTERBY ACLCAT blocking]] {blmove blmpop blpop brpop brpoplpush wait waitaof}
    set lists [r COMMAND LIST FILTERBY ACLCAT list]
    assert_equal [llength $lists] 24
    assert {"lpush" in $lists && "blmpop" in $lists && "get" ni $lists}
    list [r COMMAND LIST FILTERBY ACLCAT nosuch] [r COMMAND LIST FILTERBY MODULE nosuch] \
        [r COMMAND LIST FILTERBY PATTERN nosuch*]
} {{} {} {}}
check "COMMAND LIST refuses other filters" {
    foreach arguments {nosuch {FILTERBY} {FILTERBY PATTERN} {FILTERBY NOSUCH x} {FILTERBY PATTERN a b}} {
        assert_equal [error_of {r COMMAND LIST {*}$arguments}] "ERR syntax error"
    }
}
check_error "COMMAND COUNT takes no argument" {r COMMAND COUNT x} \
    "ERR wrong number of arguments for 'command|count' command"
check_error "COMMAND knows no other subcommand" {r COMMAND NOSUCH} \
    "ERR unknown subcommand 'NOSUCH'. Try COMMAND HELP."
check "COMMAND HELP names every subcommand" {
    set help [r COMMAND HELP]
    foreach word {COUNT LIST INFO DOCS GETKEYS GETKEYSANDFLAGS HELP} {
        assert {[lsearch -glob $help $word*] > 0}
    }
}

# --- DOCS

set argument_types {string integer double key pattern unix-time pure-token oneof block}

# Checks the documentation of an argument and of those inside it, as redis-cli reads it.
proc check_argument {command argument} {
    foreach field {name type} {
        if {![dict exists $argument $field]} {
            error "$command: an argument without $field: $argument"
        }
    }
    set type [dict get $argument type]
    assert {$type in $::argument_types}
    foreach field [dict keys $argument] {
        assert {$field in {name type display_text token flags arguments key_spec_index summary since
            deprecated_since}}
    }
    if {[dict exists $argument flags]} {
        foreach flag [dict get $argument flags] {
            assert {$flag in {optional multiple multiple_token}}
        }
    }
    assert {[dict exists $argument arguments] == ($type in {oneof block})}
    if {$type eq "pure-token"} {
        assert {[dict exists $argument token]}
    }
    if {[dict exists $argument arguments]} {
        foreach inner [dict get $argument arguments] {
            check_argument $command $inner
        }
    }
}

proc check_docs {command docs} {
    foreach field {summary since group complexity} {
        if {![dict exists $docs $field] || [dict get $docs $field] eq ""} {
            error "$command has no $field"
        }
    }
    assert {[regexp {^\d+\.\d+\.\d+$} [dict get $docs since]]}
    assert {[dict get $docs group] in {bitmap cluster connection generic list pubsub scripting server
                                      string transactions}}
    if {[dict exists $docs arguments]} {
        foreach argument [dict get $docs arguments] {
            check_argument $command $argument
        }
    }
    if {[dict exists $docs subcommands]} {
        foreach {name inner} [dict get $docs subcommands] {
            assert {[string match "$command|*" $name]}
            check_docs $name $inner
        }
    }
}

check "COMMAND DOCS documents every command and subcommand" {
    foreach {name docs} [r COMMAND DOCS] {
        check_docs $name $docs
    }
}
check "COMMAND DOCS documents the arguments of every command that takes any" {
    set docs [r COMMAND DOCS]
    foreach row [r COMMAND] {
        set info [named_row $row]
        set name [dict get $info name]
        set described [expr {[dict exists $docs $name arguments] && [dict get $docs $name arguments] ne ""}]
        if {abs([dict get $info arity]) > 1 && !$described && [dict get $info subcommands] eq ""} {
            error "$name takes arguments that are not documented"
        }
    }
}
check "COMMAND DOCS describes arguments as redis-cli shows them in its hints" {
    set docs [dict get [r COMMAND DOCS LPUSH] lpush]
    assert_equal [dict get $docs group] list
    assert_equal [dict get $docs since] 1.0.0
    lassign [dict get $docs arguments] key element
    assert_equal [list [dict get $key name] [dict get $key type] [dict get $key key_spec_index]] {key key 0}
    assert_equal [list [dict get $element name] [dict get $element type] [dict get $element flags]] \
        {element string multiple}
    set arguments [dict get [r COMMAND DOCS lmove] lmove arguments]
    assert_equal [lmap argument $arguments {dict get $argument type}] {key key oneof oneof}
    set choices [dict get [lindex $arguments 2] arguments]
    assert_equal [lmap choice $choices {dict get $choice token}] {LEFT RIGHT}
    set arguments [dict get [r COMMAND DOCS lpos] lpos arguments]
    lmap argument [lrange $arguments 2 end] {list [dict get $argument token] [dict get $argument flags]}
} {{RANK optional} {COUNT optional} {MAXLEN optional}}
check "COMMAND DOCS of several commands shows those that exist" {
    dict keys [r COMMAND DOCS lpush nosuch GET]
} {lpush get}
check_in 3 "COMMAND DOCS answers maps in RESP3" {
    lassign [typed COMMAND DOCS lpush] type members
    list $type [lindex $members 1 0]
} {map map}

# --- The table holds for what the commands do

check "every command refuses fewer arguments than its arity says" {
    foreach row [r COMMAND] {
        set info [named_row $row]
        set rows [list $info {*}[lmap sub [dict get $info subcommands] {named_row $sub}]]
        foreach info $rows {
            set words [split [dict get $info name] |]
            set arity [expr {abs([dict get $info arity])}]
            if {[llength $words] < $arity && $arity > 1} {
                set short [concat $words [lrepeat [expr {$arity - [llength $words]}] x]]
                assert_equal [error_of {r {*}[lrange $short 0 end-1]}] \
                    "ERR wrong number of arguments for '[dict get $info name]' command"
            }
            if {[dict get $info arity] > 0} {
                set long [concat $words [lrepeat [expr {$arity - [llength $words] + 1}] x]]
                # EXEC tells that with its own code, as it ends the transaction.
                set prefix [expr {[dict get $info name] eq "exec" ?
                                  "EXECABORT Transaction discarded because of:" : "ERR"}]
                assert_equal [error_of {r {*}$long}] \
                    "$prefix wrong number of arguments for '[dict get $info name]' command"
            }
        }
    }
}

finish
