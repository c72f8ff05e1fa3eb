# COMMAND INFO, GETKEYSANDFLAGS and DOCS say of every command what Redis 8 says: command_facts/ holds its answers. Prose
# is not compared.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/command_facts.tcl

server_start

set facts $library/../command_facts

# Where Packlist differs on purpose: {what is asked, Packlist's answer, the reason …}.
set count_reason "a count of keys must be a number in full, as the command itself has it; Redis reads its beginning"
set keys_differences [list \
    {LMPOP 1.5 a LEFT} "ERR Invalid arguments specified for command" $count_reason \
    {LMPOP 4294967297 a LEFT} "ERR Invalid arguments specified for command" $count_reason \
    {EVAL s 1.5 a} "none" $count_reason \
    {PFMERGE d} "{d {RW access insert}}" "without a source the destination is still a key"]
# Of several keys to store to, the command uses the last one.
foreach call {{STORE d STORE e} {STORE d STOREDIST e} {STOREDIST d STORE e}} {
    lappend keys_differences [concat GEORADIUS k 1 2 3 m $call] "{k {RO access}} {e {OW update}}" \
        "Redis names keys that it does not use, and leaves out one that it does"
}
lappend keys_differences {GEORADIUSBYMEMBER k a 3 m STOREDIST d STORE e} "{k {RO access}} {e {OW update}}" "the same"
set any_subcommand "\n    subcommand string\n    arg string flags {optional multiple}"
# The answer with one more line behind the one that ends with `before`, and a version in its history.
proc docs_with {name before line {version ""}} {
    set answer [dict get [facts_by_name $::facts/docs] $name]
    regsub {\n} $answer "$version\n" answer
    return [string trimright [string map [list $before\n $before\n$line\n] $answer\n] \n]
}
set count_of_members "        count pure-token token COUNT"
set docs_differences [list \
    debug "server 1.0.0 doc_flags syscmd$any_subcommand" "redis-cli shows a hint" \
    bitop [docs_with bitop "token NOT" [join {
        "        diff pure-token token DIFF" "        diff1 pure-token token DIFF1"
        "        andor pure-token token ANDOR" "        one pure-token token ONE"} \n] " history 8.2.0"] \
        "these operations came with Redis 8.2"]
set polygon [join {"        polygon block since 9.0.0" "            num-vertices integer token BYPOLYGON"
    "            vertices block flags multiple" "                longitude double"
    "                latitude double"} \n]
foreach name {geosearch geosearchstore} {
    set box [join {"                mi pure-token token MI" "    order oneof flags optional"} \n]
    set answer [string map [list $box [string map [list "    order" "$polygon\n    order"] $box] \
        "    from oneof" "    from oneof flags optional" " history 7.0.0" " history {7.0.0 9.0.0}"] \
        [dict get [facts_by_name $facts/docs] $name]]
    lappend docs_differences $name $answer "BYPOLYGON came with Valkey 9"
}
foreach {name answer} [facts_by_name $facts/newer_docs] {
    lappend docs_differences $name $answer "it has newer arguments"
}
set info_differences [list \
    client [string map {"client|caching" "client|caching client|capa" "client|id" "client|id client|import-source"} \
        [dict get [facts_by_name $facts/info] client]] "CAPA and IMPORT-SOURCE came with Valkey 8" \
    cluster [string map {"cluster|slots" "cluster|slot-stats cluster|slots" "cluster|flushslots"
        "cluster|flushslot cluster|flushslots"} [dict get [facts_by_name $facts/info] cluster]] \
        "SLOT-STATS came with Redis 8.2, FLUSHSLOT with Valkey 9"]
lappend info_differences restore-asking \
    [string map {" asking" ""} [dict get [facts_by_name $facts/info] restore-asking]] \
    "there is no cluster whose ASKING it could stand for"
foreach {name arity} {exec -1 move -3 sismember -3} {
    lappend info_differences $name [regsub {^\S+} [dict get [facts_by_name $facts/info] $name] $arity] \
        "an option came with Valkey 9.2"
}
set references [join {
    "    condition oneof since 8.2.0 flags optional" "        keepref pure-token token KEEPREF"
    "        delref pure-token token DELREF" "        acked pure-token token ACKED"} \n]
set references_reason "KEEPREF, DELREF and ACKED came with Redis 8.2"
set producer [join {
    "    idmp oneof since 8.6.0 flags optional" "        pid string token IDMPAUTO"
    "        idmp block token IDMP" "            pid string" "            iid string"} \n]
lappend docs_differences xadd [string map {"{6.2.0 7.0.0}" "{6.2.0 7.0.0 8.2.0}"} \
    [docs_with xadd "nomkstream pure-token token NOMKSTREAM since 6.2.0 flags optional" $references\n$producer]] \
    "$references_reason, IDMP and IDMPAUTO with 8.6" \
    xtrim [string map {"history 6.2.0" "history {6.2.0 8.2.0}"} \
    [docs_with xtrim "count integer token LIMIT since 6.2.0 flags optional" $references]] $references_reason
set limits_of_all [join {
    "    maxcount integer token MAXCOUNT since 8.10.0 flags optional"
    "    maxsize integer token MAXSIZE since 8.10.0 flags optional"} \n]
set count_of_each "count integer token COUNT flags optional"
set limits_reason "CLAIM came with Redis 8.4, MAXCOUNT and MAXSIZE with 8.10"
lappend docs_differences xread [docs_with xread $count_of_each $limits_of_all " history 8.10.0"] $limits_reason \
    xreadgroup [string map [list "    noack pure" \
    "    min-idle-time integer token CLAIM since 8.4.0 flags optional\n    noack pure"] \
    [docs_with xreadgroup $count_of_each $limits_of_all " history {8.4.0 8.10.0}"]] $limits_reason
lappend docs_differences xinfo|stream \
    [regsub {7\.2\.0} [dict get [facts_by_name $facts/docs] xinfo|stream] {7.2.0 8.6.0}] \
    "what is known of producers came with Redis 8.6"
foreach name {zinter zinterstore zunion zunionstore} {
    lappend docs_differences $name [docs_with $name "token MAX" $count_of_members] "COUNT came with Redis 8.8"
}

# The line that a file of facts holds of a name, or of a call.
proc fact_line {file name answer} {
    return [string trimright [string cat $name [expr {$file eq "getkeys" ? " => " : " "}] $answer]]
}

# Throws with every line that differs, and with what is to be done about it. Both are dictionaries of lines by name, of
# what this file of command_facts/ holds.
proc assert_same_lines {file actual expected} {
    set path tests/server/command_facts/$file
    set problems {}
    foreach name [lsort -unique [concat [dict keys $actual] [dict keys $expected]]] {
        if {![dict exists $expected $name]} {
            lappend problems "$name: $path has no line of it. Compare this one with what Redis says of the command, or,\
                where Redis has none, with what it does; then add it, in order:" \
                [fact_line $file $name [dict get $actual $name]]
        } elseif {![dict exists $actual $name]} {
            lappend problems "$name: the server does not have it. Take its line out of $path"
        } elseif {[dict get $actual $name] ne [dict get $expected $name]} {
            lappend problems "$name\n    is        [dict get $actual $name]\n    should be [dict get $expected $name]" \
                "    by $path; a difference that is meant stands at the top of command_facts.test.tcl"
        }
    }
    if {$problems ne ""} {
        error [join $problems \n]
    }
}

# Facts by what was asked, with Packlist's answers where they differ on purpose.
proc with_differences {facts differences} {
    foreach {asked answer _} $differences {
        if {[dict get $facts $asked] eq $answer} {
            error "'$asked' is no difference any more"
        }
        dict set facts $asked $answer
    }
    return $facts
}

proc recorded_info {} {
    return [with_differences [facts_by_name $::facts/info] $::info_differences]
}

# {call answer …}
proc recorded_keys {} {
    return [with_differences [concat {*}[lmap line [fact_lines $::facts/getkeys] {split_call $line}]] \
        $::keys_differences]
}

# --- INFO

check "COMMAND describes every command as Redis 8 does" {
    assert_same_lines info [info_lines [client_open] $protocol] [recorded_info]
}
check "COMMAND INFO describes the commands named, and all without a name, as COMMAND does" {
    set rows [value_of [typed COMMAND] array]
    assert_equal [typed COMMAND INFO] [list array $rows]
    foreach row $rows {
        foreach each [concat [list $row] [lindex $row 1 9 1]] {
            set name [value_of [lindex $each 1 0] bulk]
            assert_equal [typed COMMAND INFO $name] [list array [list $each]]
        }
    }
}

# --- GETKEYSANDFLAGS

check "COMMAND GETKEYSANDFLAGS finds in every call the keys and flags that Redis 8 finds" {
    set found {}
    foreach {call _} [recorded_keys] {
        dict set found $call [keys_line [default_client] $call $protocol]
    }
    assert_same_lines getkeys $found [recorded_keys]
}
check "COMMAND GETKEYS finds the same keys, and makes the same errors" {
    set client [default_client]
    foreach {call answer} [recorded_keys] {
        set expected [expr {[string match ERR* $answer] ? [list error $answer] : [list array [lmap key $answer {
            expr {$key eq "none" ? [continue] : [list bulk [lindex $key 0]]}
        }]]}]
        assert_equal [list $call [$client typed COMMAND GETKEYS {*}$call]] [list $call $expected]
    }
}
# What a command needs in the file of calls, with one of the fewest words as an example.
proc call_to_add {name arity needed} {
    set words [split [string toupper $name] |]
    lappend words {*}[lrepeat [expr {max(abs($arity) - [llength $words], 0)}] k]
    set line [fact_line getkeys $words [keys_line [default_client] $words $::protocol]]
    return "$name: tests/server/command_facts/getkeys has not what it needs: $needed. Add calls, after comparing their\
        answers with Redis, such as:\n$line"
}

check "there is such a call for every command, and one with keys for every command that has any" {
    set called {}
    foreach {call answer} [recorded_keys] {
        lassign [string tolower $call] name sub
        foreach name [list $name $name|$sub] {
            dict lappend called $name [expr {![string match ERR* $answer]}]
        }
    }
    set problems {}
    foreach {name line} [info_lines [default_client] $protocol] {
        set has_keys [expr {[lsearch -all -inline -not [lindex $line 5] *not_key*] ne ""}]
        if {![dict exists $called $name]} {
            lappend problems [call_to_add $name [lindex $line 0] "any call of it"]
        } elseif {$has_keys != (1 in [dict get $called $name]) && [lindex $line 6] eq ""} {
            lappend problems [call_to_add $name [lindex $line 0] \
                [expr {$has_keys ? "a call with keys" : "only calls without keys, as it has none"}]]
        }
    }
    if {$problems ne ""} {
        error [join $problems \n]
    }
}

# --- DOCS

check "COMMAND DOCS documents every command, its past and its arguments as Redis 8 does" {
    assert_same_lines docs [docs_lines [client_open] $protocol] \
        [with_differences [facts_by_name $facts/docs] $docs_differences]
}

finish
