# COMMAND: what the server says of its commands. command_facts.test.tcl tests INFO, GETKEYSANDFLAGS and DOCS of each
# command.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# A row of COMMAND as a dictionary.
proc named_row {row} {
    foreach field {name arity flags first last step categories tips keys subcommands} value $row {
        dict set info $field $value
    }
    return $info
}

# The commands and subcommands of which COMMAND INFO shows this category.
proc of_category {category} {
    set found {}
    foreach row [r COMMAND] {
        foreach each [list $row {*}[lindex $row 9]] {
            if {"@$category" in [lindex $each 6]} {
                lappend found [lindex $each 0]
            }
        }
    }
    return $found
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
    set blocking [r COMMAND LIST FILTERBY ACLCAT blocking]
    assert_equal [lsort $blocking] [lsort [of_category blocking]]
    assert {"blpop" in $blocking && "wait" in $blocking && "lpop" ni $blocking}
    set lists [r COMMAND LIST FILTERBY ACLCAT list]
    assert_equal [lsort $lists] [lsort [of_category list]]
    assert {"lpush" in $lists && "blmpop" in $lists && "get" ni $lists}
    list [r COMMAND LIST FILTERBY ACLCAT nosuch] [r COMMAND LIST FILTERBY MODULE nosuch] \
        [r COMMAND LIST FILTERBY PATTERN nosuch*]
} {{} {} {}}
check "COMMAND LIST refuses other filters" {
    foreach arguments {nosuch {FILTERBY} {FILTERBY PATTERN} {FILTERBY NOSUCH x} {FILTERBY PATTERN a b}} {
        assert_equal [error_of {r COMMAND LIST {*}$arguments}] "ERR syntax error"
    }
}
check "a name with other bytes behind it is another name" {
    foreach {arguments expected} {
        {COMMAND INFO "get\x00" "config|get\x00" "config\x00|get" "" | config| |get get|x config|get|x} 9
        {COMMAND DOCS "get\x00" "" | config| |get get|x config|nosuch} 0
        {COMMAND LIST FILTERBY PATTERN "get\x00"} 0
        {COMMAND LIST FILTERBY PATTERN ""} 0
        {COMMAND LIST FILTERBY ACLCAT "blocking\x00"} 0
        {COMMAND LIST FILTERBY ACLCAT @blocking} 0
        {COMMAND LIST FILTERBY ACLCAT ""} 0
    } {
        set reply [r {*}$arguments]
        assert_equal [list $arguments [llength $reply] [lsearch -all -not $reply (nil)]] [list $arguments $expected {}]
    }
    foreach {arguments expected} {
        {COMMAND LIST "FILTERBY\x00" PATTERN get} "ERR syntax error"
        {COMMAND LIST FILTERBY "PATTERN\x00" get} "ERR syntax error"
        {COMMAND LIST FILTERBY PATTERN get FILTERBY PATTERN x} "ERR syntax error"
        {COMMAND GETKEYS "get\x00" k} "ERR Invalid command specified"
        {COMMAND GETKEYS OBJECT "encoding\x00" k} "ERR Invalid command specified"
        {COMMAND "count\x00"} "ERR unknown subcommand 'count'. Try COMMAND HELP."
        {COMMAND GETKEYS} "ERR wrong number of arguments for 'command|getkeys' command"
        {COMMAND HELP x} "ERR wrong number of arguments for 'command|help' command"
    } {
        assert_equal [list $arguments [error_of {r {*}$arguments}]] [list $arguments $expected]
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

check "COMMAND DOCS of several commands shows those that exist" {
    dict keys [r COMMAND DOCS lpush nosuch GET]
} {lpush get}

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
                # EXEC has an error code of its own, as it ends the transaction.
                set prefix [expr {[dict get $info name] eq "exec" ?
                                  "EXECABORT Transaction discarded because of:" : "ERR"}]
                assert_equal [error_of {r {*}$long}] \
                    "$prefix wrong number of arguments for '[dict get $info name]' command"
            }
        }
    }
}

finish
