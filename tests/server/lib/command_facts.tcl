# What a server says of its commands as lines of text: for command_facts.test.tcl, which compares them, and
# command_facts/record, which records them. Replies are typed values (client.tcl). Every function throws when a reply
# has another shape than Redis 8 gives it in that protocol.

# The members of a set or map, which RESP2 sends as an array.
proc members {typed type protocol} {
    lassign $typed actual value
    set wanted [expr {$protocol == 3 ? $type : "array"}]
    if {$actual ne $wanted} {
        error "a reply of type $actual, not $wanted: $typed"
    }
    return $value
}

proc value_of {typed type} {
    lassign $typed actual value
    if {$actual ne $type} {
        error "a reply of type $actual, not $type: $typed"
    }
    return $value
}

# A map with bulk strings as keys: {key typed key typed …}.
proc fields_of {typed protocol} {
    set fields {}
    foreach {key value} [members $typed map $protocol] {
        lappend fields [value_of $key bulk] $value
    }
    return $fields
}

proc words_of {typed type protocol} {
    return [lmap word [members $typed set $protocol] {value_of $word $type}]
}

# --- COMMAND INFO

# A step of a key specification: {index 1}, {keyword KEYS -2}, {range 0 1 0}, {keynum 0 1 1} or unknown.
proc key_step {typed protocol} {
    set fields [fields_of $typed $protocol]
    if {[dict keys $fields] ne {type spec}} {
        error "a step with fields [dict keys $fields]"
    }
    set type [value_of [dict get $fields type] bulk]
    set spec [fields_of [dict get $fields spec] $protocol]
    set names {index index keyword {keyword startfrom} range {lastkey keystep limit}
        keynum {keynumidx firstkey keystep} unknown {}}
    if {[dict keys $spec] ne [dict get $names $type]} {
        error "a step of type $type with fields [dict keys $spec]"
    }
    return [list $type {*}[lmap {name value} $spec {lindex $value 1}]]
}

# {{index 1} {range 0 1 0} RW insert}; `noted` stands behind the flags where there are notes, which are prose.
proc key_specification {typed protocol} {
    set fields [fields_of $typed $protocol]
    set noted [expr {[dict exists $fields notes] ? "notes" : ""}]
    if {[dict keys $fields] ne [concat $noted {flags begin_search find_keys}]} {
        error "a key specification with fields [dict keys $fields]"
    }
    return [list [key_step [dict get $fields begin_search] $protocol] \
        [key_step [dict get $fields find_keys] $protocol] \
        {*}[words_of [dict get $fields flags] simple $protocol] {*}[expr {$noted eq "" ? "" : "noted"}]]
}

# Adds a row of COMMAND and those of its subcommands to a dictionary of lines by name:
# arity {first last step} {flags} {categories} {tips, sorted: their order says nothing} {key specifications} {names of
# subcommands, sorted}. An empty list of subcommands is a set in RESP3, any other an array.
proc add_info_lines {lines_name row protocol} {
    upvar 1 $lines_name lines
    lassign [value_of $row array] name arity flags first last step categories tips keys subcommands more
    if {$more ne ""} {
        error "more than ten fields: $more"
    }
    set name [value_of $name bulk]
    set inner [lindex $subcommands 1]
    members $subcommands [expr {$inner eq "" ? "set" : "array"}] $protocol
    dict set lines $name [list [value_of $arity int] \
        [list [value_of $first int] [value_of $last int] [value_of $step int]] \
        [words_of $flags simple $protocol] [words_of $categories simple $protocol] \
        [lsort [words_of $tips bulk $protocol]] \
        [lmap key [members $keys set $protocol] {key_specification $key $protocol}] \
        [lsort [lmap sub $inner {value_of [lindex $sub 1 0] bulk}]]]
    foreach sub $inner {
        add_info_lines lines $sub $protocol
    }
}

# The rows of COMMAND: {name line …}, subcommands included.
proc info_lines {connection protocol} {
    set lines {}
    foreach row [value_of [$connection typed COMMAND] array] {
        add_info_lines lines $row $protocol
    }
    return $lines
}

# --- COMMAND GETKEYSANDFLAGS

# {{key {flags}} …}, `none`, or the text of the error.
proc keys_line {connection arguments protocol} {
    set reply [$connection typed COMMAND GETKEYSANDFLAGS {*}$arguments]
    if {[lindex $reply 0] eq "error"} {
        return [lindex $reply 1]
    }
    set keys [lmap pair [value_of $reply array] {
        lassign [value_of $pair array] key flags
        list [value_of $key bulk] [words_of $flags simple $protocol]
    }]
    return [expr {$keys eq "" ? "none" : $keys}]
}

# --- COMMAND DOCS

# Throws when there are other fields, or in another order.
proc assert_fields {fields possible what} {
    if {[dict keys $fields] ne [lmap name $possible {expr {[dict exists $fields $name] ? $name : [continue]}}]} {
        error "$what with fields [dict keys $fields]"
    }
}

# An argument as a line, and a line for each one inside it, indented by four more:
# name type {field value …}; display_text only where it is not the name.
proc argument_lines {typed indent protocol} {
    set fields [fields_of $typed $protocol]
    assert_fields $fields {name type display_text key_spec_index token since deprecated_since flags arguments} \
        "an argument"
    set name [value_of [dict get $fields name] bulk]
    set type [value_of [dict get $fields type] bulk]
    if {[dict exists $fields display_text] == [dict exists $fields arguments]} {
        error "either display_text or arguments must be there: $fields"
    }
    set line [list $name $type]
    foreach {field value} [lrange $fields 4 end] {
        switch $field {
            key_spec_index { lappend line $field [value_of $value int] }
            flags { lappend line $field [words_of $value simple $protocol] }
            display_text - token - since - deprecated_since {
                set text [value_of $value bulk]
                if {$field ne "display_text" || $text ne $name} {
                    lappend line $field $text
                }
            }
        }
    }
    set lines [list "$indent$line"]
    if {[dict exists $fields arguments]} {
        foreach inner [value_of [dict get $fields arguments] array] {
            lappend lines {*}[argument_lines $inner "$indent    " $protocol]
        }
    }
    return $lines
}

# {field value …} of what a command's documentation says of its past: versions only, but of what replaces it the
# words in capitals. The rest is prose.
proc past_line {fields protocol} {
    set line {}
    foreach {field value} $fields {
        switch $field {
            doc_flags { lappend line $field [words_of $value simple $protocol] }
            deprecated_since { lappend line $field [value_of $value bulk] }
            replaced_by { lappend line $field [regexp -all -inline {[A-Z]{2,}} [value_of $value bulk]] }
            history {
                lappend line $field [lmap change [members $value set $protocol] {
                    lassign [value_of $change array] version text
                    assert_text $text
                    value_of $version bulk
                }]
            }
        }
    }
    return $line
}

proc assert_text {typed} {
    if {[value_of $typed bulk] eq ""} {
        error "an empty text"
    }
}

# Adds the lines of a command and of its subcommands to a dictionary by name: group since {field value …}, then its
# arguments.
proc add_docs_lines {lines_name name typed protocol} {
    upvar 1 $lines_name lines
    set fields [fields_of $typed $protocol]
    assert_fields $fields {summary since group complexity doc_flags deprecated_since replaced_by history arguments
        subcommands} $name
    assert_text [dict get $fields summary]
    set own [list [concat [value_of [dict get $fields group] bulk] [value_of [dict get $fields since] bulk] \
        [past_line $fields $protocol]]]
    if {[dict exists $fields arguments]} {
        foreach argument [value_of [dict get $fields arguments] array] {
            lappend own {*}[argument_lines $argument "    " $protocol]
        }
    }
    dict set lines $name [join $own \n]
    if {[dict exists $fields subcommands]} {
        foreach {name inner} [members [dict get $fields subcommands] map $protocol] {
            add_docs_lines lines [value_of $name bulk] $inner $protocol
        }
    }
}

# What COMMAND DOCS says of the commands named, or of all: {name lines …}, subcommands included.
proc docs_lines {connection protocol {names {}}} {
    set lines {}
    foreach {name docs} [members [$connection typed COMMAND DOCS {*}$names] map $protocol] {
        add_docs_lines lines [value_of $name bulk] $docs $protocol
    }
    return $lines
}

# --- Files of facts

# The lines of a file that are no comment.
proc fact_lines {path} {
    set channel [open $path]
    try {
        return [lsearch -all -inline -not -regexp [split [string trim [read $channel]] \n] {^(#|$)}]
    } finally {
        close $channel
    }
}

# {name lines …} of a file whose lines begin with a command's name; indented ones go on with what is above.
proc facts_by_name {path} {
    set lines {}
    foreach line [fact_lines $path] {
        if {[string index $line 0] eq " "} {
            dict append lines $name \n$line
        } else {
            regexp {^(\S+) ?(.*)} $line _ name rest
            dict set lines $name $rest
        }
    }
    return $lines
}

# The call before the arrow in a line of `getkeys`, and what stands behind it, which may be nothing yet.
proc split_call {line} {
    lassign [split [string map [list " => " \n] $line] \n] call answer
    return [list $call $answer]
}
