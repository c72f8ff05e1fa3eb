# COMMAND: what the server says of its commands.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# Commands with arity, flags and key positions, as clients know them.
set known {
    blmove      6  {write denyoom blocking}         1 2 1
    blmpop     -5  {write blocking movablekeys}     0 0 0
    blpop      -3  {write blocking}                 1 -2 1
    brpop      -3  {write blocking}                 1 -2 1
    brpoplpush  4  {write denyoom blocking}         1 2 1
    lindex      3  readonly                         1 1 1
    linsert     5  {write denyoom}                  1 1 1
    llen        2  {readonly fast}                  1 1 1
    lmove       5  {write denyoom}                  1 2 1
    lmpop      -4  {write movablekeys}              0 0 0
    lpop       -2  {write fast}                     1 1 1
    lpos       -3  readonly                         1 1 1
    lpush      -3  {write denyoom fast}             1 1 1
    lpushx     -3  {write denyoom fast}             1 1 1
    lrange      4  readonly                         1 1 1
    lrem        4  write                            1 1 1
    lset        4  {write denyoom}                  1 1 1
    ltrim       4  write                            1 1 1
    rpop       -2  {write fast}                     1 1 1
    rpoplpush   3  {write denyoom}                  1 2 1
    rpush      -3  {write denyoom fast}             1 1 1
    rpushx     -3  {write denyoom fast}             1 1 1
    get         2  {readonly fast}                  1 1 1
    set        -3  {write denyoom}                  1 1 1
    del        -2  write                            1 -1 1
    unlink     -2  {write fast}                     1 -1 1
    rename      3  write                            1 2 1
    renamenx    3  {write fast}                     1 2 1
    copy       -3  {write denyoom}                  1 2 1
    move        3  {write fast}                     1 1 1
    touch      -2  {readonly fast}                  1 -1 1
    sort       -2  {write denyoom movablekeys}      1 1 1
    sort_ro    -2  {readonly movablekeys}           1 1 1
    wait        3  blocking                         0 0 0
    swapdb      3  {write fast}                     0 0 0
    exists     -2  {readonly fast}                  1 -1 1
    type        2  {readonly fast}                  1 1 1
    keys        2  readonly                         0 0 0
    scan       -2  readonly                         0 0 0
    dbsize      1  {readonly fast}                  0 0 0
    randomkey   1  readonly                         0 0 0
    flushdb    -1  write                            0 0 0
    flushall   -1  write                            0 0 0
    ping       -1  fast                             0 0 0
    echo        2  {fast}                           0 0 0
    select      2  {loading stale fast}             0 0 0
    auth       -2  {noscript loading stale fast no_auth allow_busy} 0 0 0
    hello      -1  {noscript loading stale fast no_auth allow_busy} 0 0 0
    reset       1  {noscript loading stale fast no_auth allow_busy} 0 0 0
    quit       -1  {noscript loading stale fast no_auth allow_busy} 0 0 0
    shutdown   -1  {admin noscript loading stale no_multi allow_busy} 0 0 0
    info       -1  {loading stale}                  0 0 0
    time        1  {loading stale fast}             0 0 0
    subscribe  -2  {pubsub noscript loading stale}  0 0 0
    psubscribe -2  {pubsub noscript loading stale}  0 0 0
    ssubscribe -2  {pubsub noscript loading stale}  1 -1 1
    unsubscribe -1 {pubsub noscript loading stale}  0 0 0
    punsubscribe -1 {pubsub noscript loading stale} 0 0 0
    sunsubscribe -1 {pubsub noscript loading stale} 1 -1 1
    publish     3  {pubsub loading stale fast}      0 0 0
    spublish    3  {pubsub loading stale fast}      1 1 1
    pubsub     -2  {}                               0 0 0
    debug      -2  {admin noscript loading stale}   0 0 0
    client     -2  {}                               0 0 0
    config     -2  {}                               0 0 0
    object     -2  {}                               0 0 0
    memory     -2  {}                               0 0 0
    command    -1  {loading stale}                  0 0 0
}
set subcommands {
    client|kill -3 client|id 2 client|reply 3 client|setinfo 4 client|pause -3 client|unblock -3
    config|get -3 config|set -4 config|rewrite 2 config|resetstat 2
    object|encoding 3 object|refcount 3 object|idletime 3 object|freq 3 memory|usage -3
    pubsub|channels -2 pubsub|numpat 2 pubsub|numsub -2 pubsub|shardchannels -2 pubsub|shardnumsub -2
    command|docs -2 command|getkeys -3 command|list -2 command|count 2
}

# A row of COMMAND INFO as a dictionary.
proc command_info {name} {
    return [named_row [lindex [r COMMAND INFO $name] 0]]
}

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
    expr {$count >= [llength $known] / 6}
} 1
check "COMMAND INFO has arity, flags and key positions of each command" {
    foreach {name arity flags first last step} $known {
        set info [command_info $name]
        assert_equal [dict get $info name] $name
        assert_equal [list $name [dict get $info arity]] [list $name $arity]
        foreach flag $flags {
            assert {$flag in [dict get $info flags]}
        }
        foreach flag {write readonly denyoom blocking movablekeys admin no_auth fast} {
            if {$flag in [dict get $info flags] && $flag ni $flags} {
                error "$name should not be $flag"
            }
        }
        assert_equal [list $name [dict get $info first] [dict get $info last] [dict get $info step]] \
            [list $name $first $last $step]
    }
}
check "COMMAND INFO takes names in any case and answers null for unknown ones" {
    set rows [lindex [typed COMMAND INFO LPush nosuch get] 1]
    list [llength $rows] [lindex [plain_value [lindex $rows 0]] 0] [plain_value [lindex $rows 1]] \
        [lindex [plain_value [lindex $rows 2]] 0]
} {3 lpush (nil) get}
check "COMMAND INFO knows subcommands" {
    foreach {name arity} $subcommands {
        set info [command_info $name]
        assert_equal [list [dict get $info name] [dict get $info arity]] [list $name $arity]
    }
    set config [command_info config]
    set names [lmap row [dict get $config subcommands] {lindex $row 0}]
    assert_equal [lsort $names] {config|get config|help config|resetstat config|rewrite config|set}
    list [dict get [command_info object|encoding] first] [dict get [command_info memory|usage] first]
} {2 2}
check "COMMAND INFO sorts commands into categories" {
    foreach {name categories} {
        lpush {@write @list @fast} lrange {@read @list @slow} blpop {@write @list @slow @blocking}
        get {@read @string @fast} del {@keyspace @write @slow} ping {@fast @connection}
        shutdown {@admin @slow @dangerous}
        publish {@pubsub @fast} subscribe {@pubsub @slow} pubsub {@slow} pubsub|numpat {@pubsub @slow}
    } {
        assert_equal [list $name [lsort [dict get [command_info $name] categories]]] [list $name [lsort $categories]]
    }
}
check "COMMAND INFO specifies how keys are found" {
    set spec [lindex [dict get [command_info lpush] keys] 0]
    assert_equal $spec {flags {RW insert} begin_search {type index spec {index 1}} find_keys\
 {type range spec {lastkey 0 keystep 1 limit 0}}}
    set spec [lindex [dict get [command_info blmpop] keys] 0]
    assert_equal $spec {flags {RW access delete} begin_search {type index spec {index 2}} find_keys\
 {type keynum spec {keynumidx 0 firstkey 1 keystep 1}}}
    set specs [dict get [command_info lmove] keys]
    assert_equal [lmap spec $specs {dict get $spec flags}] {{RW access delete} {RW insert}}
    assert_equal [lmap spec $specs {dict get $spec begin_search}] \
        {{type index spec {index 1}} {type index spec {index 2}}}
    set spec [lindex [dict get [command_info blpop] keys] 0]
    assert_equal [dict get $spec find_keys] {type range spec {lastkey -2 keystep 1 limit 0}}
    dict get [command_info ping] keys
} {}
check_in 3 "flags, categories and the like are sets in RESP3" {
    set row [lindex [lindex [lindex [typed COMMAND INFO lpush] 1] 0] 1]
    list [lindex $row 2 0] [lindex $row 6 0] [lindex $row 7 0] [lindex $row 8 0] [lindex $row 8 1 0 0] \
        [lindex $row 9 0]
} {set set set set map set}
check "COMMAND LIST names every command and subcommand once" {
    set names [r COMMAND LIST]
    foreach {name _ _ _ _ _} $known {
        assert {$name in $names}
    }
    foreach {name _} $subcommands {
        assert {$name in $names}
    }
    assert_equal [llength $names] [llength [lsort -unique $names]]
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
    foreach {name arity _ _ _ _} $known {
        set described [expr {[dict exists $docs $name arguments] && [dict get $docs $name arguments] ne ""}]
        if {abs($arity) > 1 && !$described && $name ni {client config object memory pubsub}} {
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

# --- GETKEYS

check "COMMAND GETKEYS finds the keys among the arguments" {
    foreach {arguments expected} {
        {LPUSH a b c} a
        {lrange l 0 -1} l
        {BLPOP a b c 0} {a b c}
        {LMOVE a b LEFT RIGHT} {a b}
        {BLMOVE a b LEFT RIGHT 0} {a b}
        {RPOPLPUSH a b} {a b}
        {LMPOP 2 a b LEFT COUNT 3} {a b}
        {BLMPOP 0 3 x y z RIGHT} {x y z}
        {DEL a b c} {a b c}
        {SET k v} k
        {OBJECT ENCODING k} k
        {MEMORY USAGE k SAMPLES 5} k
    } {
        assert_equal [list $arguments [r COMMAND GETKEYS {*}$arguments]] [list $arguments $expected]
    }
}
check "COMMAND GETKEYSANDFLAGS tells what is done with them" {
    assert_equal [r COMMAND GETKEYSANDFLAGS LMOVE a b LEFT RIGHT] {{a {RW access delete}} {b {RW insert}}}
    assert_equal [r COMMAND GETKEYSANDFLAGS LPUSH k x] {{k {RW insert}}}
    assert_equal [r COMMAND GETKEYSANDFLAGS BLMPOP 0 2 a b LEFT] \
        {{a {RW access delete}} {b {RW access delete}}}
    r COMMAND GETKEYSANDFLAGS LLEN k
} {{k RO}}
foreach command {GETKEYS GETKEYSANDFLAGS} {
    check "COMMAND $command refuses what has no keys" [string map [list @ $command] {
        foreach {arguments expected} {
            {PING x} "ERR The command has no key arguments"
            {CLIENT ID} "ERR The command has no key arguments"
            {NOSUCH a} "ERR Invalid command specified"
            {LPUSH l} "ERR Invalid number of arguments specified for command"
            {LRANGE l} "ERR Invalid number of arguments specified for command"
            {LMPOP x a LEFT} "ERR Invalid arguments specified for command"
            {LMPOP 5 a LEFT} "ERR Invalid arguments specified for command"
            {LMPOP 0 a LEFT} "ERR Invalid arguments specified for command"
            {LMPOP -1 a LEFT} "ERR Invalid arguments specified for command"
            {BLMPOP 0 99999999999 a LEFT} "ERR Invalid arguments specified for command"
        } {
            assert_equal [list $arguments [error_of {r COMMAND @ {*}$arguments}]] [list $arguments $expected]
        }
    }]
}

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
