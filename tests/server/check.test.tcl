# packlist-check: good files, files that end too early or hold wrong bits, and what --fix makes of them.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl

server_start

set check_binary [expr {[info exists env(PACKLIST_BUILD)] ? $env(PACKLIST_BUILD) : "$repository/build/release"}]
append check_binary /packlist-check
set folder [temporary_folder]

# Returns {status output} of a program.
proc run_program {stdin args} {
    set failed [catch {exec -ignorestderr -keepnewline -- timeout 60 {*}$args << $stdin 2>@1} output options]
    if {!$failed} {
        return [list 0 $output]
    }
    regsub {\n?child process exited abnormally$} $output "" output
    return [list [lindex [dict get $options -errorcode] 2] $output]
}

proc packlist_check {args} {
    return [run_program "" $::check_binary {*}$args]
}

# The same for a file with these bytes.
proc check_bytes {name bytes args} {
    write_file $::folder/$name $bytes
    return [packlist_check {*}$args $::folder/$name]
}

proc status_of_bytes {name bytes args} {
    return [lindex [check_bytes $name $bytes {*}$args] 0]
}

# Returns the lines that it writes about each of many files: the i-th element for the i-th bytes.
proc check_each {name list_of_bytes args} {
    set paths [lmap bytes $list_of_bytes {
        set path $::folder/[incr number]-$name
        write_file $path $bytes
        set path
    }]
    set lines {}
    for {set i 0} {$i < [llength $paths]} {incr i 500} {
        lassign [packlist_check {*}$args {*}[lrange $paths $i $i+499]] status output
        assert {$status in {0 1}}
        foreach line [split $output \n] {
            if {[regexp {/(\d+)-[^/:]*: (.*)$} $line all number said]} {
                dict lappend lines $number $said
            }
        }
    }
    assert_equal [dict size $lines] [llength $paths]
    return [lmap number [lsort -integer [dict keys $lines]] {dict get $lines $number}]
}

# Returns for each of these outputs whether the file is bad.
proc bad_ones {said_of_each} {
    return [lmap said $said_of_each {
        assert {[regexp {^(good|bad)} [lindex $said 0] word]}
        expr {$word eq "bad"}
    }]
}

proc sizes_of {name count} {
    set sizes {}
    for {set i 1} {$i <= $count} {incr i} {
        lappend sizes [file size $::folder/$i-$name]
    }
    return $sizes
}

# Every beginning of the bytes but all of them; every way to make one bit wrong.
proc beginnings {bytes} {
    set list {}
    for {set size 0} {$size < [string length $bytes]} {incr size} {
        lappend list [string range $bytes 0 $size-1]
    }
    return $list
}

proc flipped {bytes} {
    set list {}
    for {set bit 0} {$bit < 8 * [string length $bytes]} {incr bit} {
        lappend list [flip $bytes $bit]
    }
    return $list
}

# Asserts that it says this of a bad file in the folder.
proc assert_bad {result pattern} {
    lassign $result status output
    assert_equal $status 1
    if {![string match "*$pattern*" $output]} {
        error "$output\nis not like\n$pattern"
    }
}

proc flip {bytes bit} {
    set at [expr {$bit / 8}]
    scan [string index $bytes $at] %c code
    return [string replace $bytes $at $at [format %c [expr {$code ^ (1 << $bit % 8)}]]]
}

# A few keys of each kind in two databases.
proc make_keys {} {
    r RPUSH list a b 3 [string repeat x 100]
    r SET number 12345
    r SET text "hello\r\n\xff" PX 1000000
    r SELECT 5
    r SET "\x00key" [string repeat abc 30]
}

proc snapshot {} {
    make_keys
    r SAVE
    return [read_file [$::current_server folder]/dump.rdb]
}

# --- Snapshots -----------------------------------------------------------------------------------

check_in 2 "a snapshot is good, and its keys are counted" {
    string map [list $folder F] [check_bytes dump.rdb [snapshot]]
} "0 {F/dump.rdb: good: RDB version 10 with 4 keys (1 with an expiry) in 2 databases, *}" -match glob

check_in 2 "lists of every kind of node are good" {
    foreach fill {-5 -1 2} {
        with_config [list list-max-listpack-size $fill list-compress-depth 1] {
            r RPUSH list$fill {*}[lmap i [lrepeat 300 x] {string repeat $i [expr {int(rand() * 300)}]}]
            r RPUSH list$fill [string repeat y 100000]
        }
    }
    r SAVE
    packlist_check [$::current_server folder]/dump.rdb
} "0 {*: good: RDB version 10 with 3 keys*}" -match glob

check_in 2 "a snapshot that ends too early is bad, wherever it ends" {
    lsort -unique [bad_ones [check_each cut.rdb [beginnings [snapshot]]]]
} 1

check_in 2 "a snapshot with one wrong bit is bad, whichever it is" {
    lsort -unique [bad_ones [check_each flipped.rdb [flipped [snapshot]]]]
} 1

check_in 2 "without a checksum a wrong bit is found or harmless" {
    with_server {rdbchecksum no} {
        set bytes [snapshot]
    }
    set found [llength [lsearch -all [bad_ones [check_each flipped.rdb [flipped $bytes]]] 1]]
    assert {$found > 100 && $found < 8 * [string length $bytes]}
}

check_in 2 "what is wrong with a snapshot is reported with offset, key and database" {
    set value [binary format ca* 30 \x1e\x00\x00\x00\x01\x00[string repeat x 24]]
    set bytes "REDIS0010\xfe\x05\x00\x01a\x01b\x12\x03bad\x01\x02$value\xff[string repeat \0 8]"
    check_bytes bad.rdb $bytes
} "1 {*/bad.rdb: bad at byte 54: malformed listpack (*), in key \"bad\" of type list, database 5}" -match glob

# A string and a value of a module; a string and a library of functions.
set with_module "REDIS0010\xfe\x02\x00\x01a\x01b\x07\x03mod\x01\x00\xff[string repeat \0 8]"
set library_item "\xf5\x0d#!lua name=a\n"
set with_function "REDIS0010$library_item\xfe\x02\x00\x01a\x01b\xff[string repeat \0 8]"

check_in 2 "a snapshot with keys of types that there are not is bad: the server does not start with it" {
    check_bytes foreign.rdb $with_module
} "1 {*/foreign.rdb: bad: *no type for 1 key, *: module \"mod\" of database 2}" -match glob
check "keys without elements are counted, and do not make a snapshot bad" {
    check_bytes empty.rdb "REDIS0010\xfe\x00\x00\x01a\x01b\x02\x01s\x00\x04\x01h\x00\xff[string repeat \0 8]"
} "0 {*/empty.rdb: good: *with 1 key *: note: 2 keys without elements, which packlist-server leaves out*}" -match glob

check_in 2 "libraries of functions are counted" {
    list [check_bytes functions.rdb [string range $with_function 0 8][string repeat $library_item 2][string range \
            $with_function 9 end]] [check_bytes function.rdb $with_function]
} "{0 {*: good: RDB version 10 with 1 key (0 with an expiry) in 1 database and 3 libraries of functions, *}}\
    {0 {*: good: RDB version 10 with 1 key (0 with an expiry) in 1 database and 1 library of functions, *}}" -match glob
check_in 2 "a library without a name makes a snapshot bad" {
    check_bytes library.rdb [string map {#!lua #!foo name=a nome=a} $with_function]
} "1 {*/library.rdb: bad at byte *: a library of functions is bad: Invalid metadata value given: nome=a*}" -match glob
check_in 2 "so does something else that is no key" {
    check_bytes other.rdb [string map {\xf5 \xf6} $with_function]
} "1 {*/other.rdb: bad at byte *: a function of a release candidate can't be skipped*}" -match glob

check_in 2 "for other servers such snapshots are good" {
    check_bytes foreign.rdb $with_module --for-other-servers
} "0 {*: good: *with 1 key *: note: *no type for 1 key*}" -match glob

check_in 2 "the server refuses a snapshot with keys of types that there are not" {
    write_file $folder/refused.rdb $with_module
    lindex [server_run [list --dir $folder --dbfilename refused.rdb --port [free_port] --save ""]] 0
} 1
check_in 2 "commands on libraries are known" {
    set commands {{FUNCTION LOAD x} {function load REPLACE x} {FUNCTION DELETE x} {FUNCTION FLUSH} {FUNCTION RESTORE x}}
    list [check_bytes known.aof [join [lmap command $commands {request $command}] ""]] \
        [check_bytes unknown.aof [request {FUNCTION LIST}]]
} "{0 {*: good: 5 commands*}} {1 {*: bad: *does not run 1 command*\"FUNCTION\" at byte 0*}}" -match glob

check_in 2 "commands of newer servers are known" {
    set commands {{SET a 1 IFEQ 2} {MSETEX 1 a 1} {DELEX a} {MOVE a 3 REPLACE} {XDELEX s IDS 1 1-1}
        {RESTORE-ASKING a 0 payload}}
    list [check_bytes known.aof [join [lmap command $commands {request $command}] ""]] \
        [check_bytes unknown.aof [request {RESTORE-ASKING a 0}]]
} "{0 {*: good: 6 commands*}} {1 {*: bad: *does not run 1 command*\"RESTORE-ASKING\" at byte 0*}}" -match glob
check_in 2 "an append-only file with commands that there are not is bad: the server does not start with it" {
    set bytes "[request {SET a 1}][request {XADD z 1 m}][request {GET a}][request {SET a}]"
    list [check_bytes foreign.aof $bytes] [check_bytes foreign.aof $bytes --for-other-servers]
} "{1 {*: bad: *not run 3 commands of it, *; the first is \"XADD\" at byte 27}} {0 {*: good: 4 commands*: note: *}}" \
    -match glob

check_in 2 "a snapshot is never cut" {
    set bytes [string range [snapshot] 0 100]
    assert_bad [check_bytes cut.rdb $bytes --fix --yes] "bad at byte "
    assert_equal [read_file $folder/cut.rdb] $bytes
}

# --- Append-only files ---------------------------------------------------------------------------

set commands [list \
    [request {SET a 1}] [request {RPUSH l x y}] [request {SELECT 3}] \
    [request {MULTI}][request {SET b 2}][request {LPUSH l z}][request {EXEC}] \
    "#TS:1700000000\r\n" [request {SET c 3}]]
set whole_file [join $commands ""]

# Where the file may end.
proc boundaries {} {
    set at 0
    return [list 0 {*}[lmap command $::commands {incr at [string length $command]}]]
}

proc boundary_before {size} {
    return [lindex [lsearch -all -inline -not -glob [lmap at [boundaries] {
        expr {$at <= $size ? $at : "x"}
    }] x] end]
}

check_in 2 "a file of commands is good, and they are counted" {
    check_bytes good.aof $whole_file
} "0 {*/good.aof: good: 6 commands, 1 transaction, [string length $whole_file] bytes\n}" -match glob

check_in 2 "so is one that the server writes" {
    foreach directives {{} {aof-use-rdb-preamble no} {aof-timestamp-enabled yes}} {
        with_server [list appendonly yes {*}$directives] {
            make_keys
            r MULTI
            r INCR number
            r RPUSH list more
            r EXEC
            r BGREWRITEAOF
            wait_until {[info_field aof_rewrite_in_progress] == 0}
            r MSET x 1 y 2
            set path [$::current_server folder]/appendonlydir/appendonly.aof.manifest
            lassign [packlist_check $path] status output
            assert_equal $status 0
            assert_equal [llength [regexp -all -inline -line {: good} $output]] 3
        }
    }
}

check_in 2 "a file of commands that ends too early is whole up to the last command or transaction" {
    set cuts [beginnings $whole_file]
    set whole [lmap bytes $cuts {boundary_before [string length $bytes]}]
    foreach bytes $cuts at $whole said [check_each cut.aof $cuts] {
        set size [string length $bytes]
        assert_equal [list $size [bad_ones [list $said]]] [list $size [expr {$at < $size}]]
        assert {$at == $size || [lindex $said 1] eq "whole up to byte $at of $size"}
    }
    foreach bytes $cuts at $whole said [check_each cut.aof $cuts --fix --yes] {
        set fixed [expr {[lindex $said end] eq "fixed: cut to $at bytes"}]
        assert_equal $fixed [expr {$at < [string length $bytes]}]
    }
    assert_equal [sizes_of cut.aof [llength $cuts]] $whole
}

# It keeps an annotation that is cut off.
check_in 2 "what is left of it is what redis-check-aof leaves" {
    set annotation [string first # $whole_file]
    for {set size 1} {$size < [string length $whole_file]} {incr size} {
        if {$size > $annotation && $size < $annotation + 16} continue
        write_file $folder/theirs.aof [string range $whole_file 0 $size-1]
        run_program "y\n" redis-check-aof --fix $folder/theirs.aof
        assert_equal [list $size [file size $folder/theirs.aof]] [list $size [boundary_before $size]]
    }
}

check_in 2 "a wrong bit is found or harmless, and what --fix leaves is good" {
    set wrong [flipped $whole_file]
    # A wrong letter in the name of a command leaves the file as whole as before.
    set said_of_each [check_each flipped.aof $wrong --for-other-servers --fix --yes]
    assert {[llength [lsearch -all [bad_ones $said_of_each] 1]] > 500}
    set bit -1
    foreach bytes $wrong said $said_of_each size [sizes_of flipped.aof [llength $wrong]] {
        # It leaves alone what does not begin as commands do.
        assert {[incr bit] >= 8 || $size == [string length $bytes]}
        lappend left_over [string range $bytes 0 $size-1]
    }
    lsort -unique [lrange [bad_ones [check_each flipped.aof $left_over --for-other-servers]] 8 end]
} 0

foreach {what bytes pattern} [list \
    "a command" [request {SET a 1}][string range [request {SET key value}] 0 end-4] \
    {bad at byte 56: the file ends inside a command; "SET" "key" at byte 27, database 0} \
    "a transaction" [request {SELECT 7}][request MULTI][string range [request {SET key value}] 0 end-4] \
    {ends inside a command; "SET" "key" at byte 38, database 7, transaction from byte 23 on} \
    "MULTI without EXEC" [request MULTI][request {SET a 1}] \
    {the file ends before EXEC, database 0, transaction from byte 0 on} \
    "EXEC without MULTI" [request {SET a 1}][request EXEC] {bad at byte 27: EXEC without MULTI} \
    "garbage" [request {SET a 1}]garbage[request {SET b 2}] \
    {bad at byte 27: no command begins here; "garbage*3} \
    "a wrong count" "[request {SET a 1}]*x\r\n" {a count or length is not a number in range; "*x\r\n" at byte 27} \
    "no commands" "hello" {bad at byte 0: neither a snapshot nor commands begin here} \
] {
    check_in 2 "it reports where and what is wrong: $what" {
        assert_bad [check_bytes wrong.aof $bytes] [string map {* \\* \\ \\\\} $pattern]
    }
}

check_in 2 "commands behind a snapshot are checked and cut, and the snapshot is kept" {
    set snapshot [snapshot]
    set bytes $snapshot$whole_file
    assert_equal [status_of_bytes mixed.aof $bytes] 0
    set cut [string range $bytes 0 [string length $snapshot]+40]
    assert_bad [check_bytes mixed.aof $cut] "whole up to byte [expr {[string length $snapshot] + 27}] of"
    assert_equal [status_of_bytes mixed.aof $cut --fix --yes] 0
    assert_equal [read_file $folder/mixed.aof] $snapshot[lindex $commands 0]
    assert_bad [check_bytes mixed.aof [string range $snapshot 0 60] --fix --yes] "unexpected end of the data"
    assert_equal [file size $folder/mixed.aof] 61
}

check_in 2 "the server loads what --fix leaves" {
    with_server {appendonly yes aof-load-truncated no} {
        make_keys
        r SET last [string repeat z 50]
        wait_written
        set path [lindex [aof_files $::current_server *.incr.aof] end]
        $::current_server halt
        write_file $path [string range [read_file $path] 0 end-10]
        assert_bad [packlist_check $path] "ends inside a command; \"SET\" \"last\""
        assert_equal [lindex [packlist_check --fix --yes $path] 0] 0
        $::current_server launch
        set ::default_client ""
        r SELECT 5
        assert_equal [r EXISTS last] 0
        assert_equal [r GET "\x00key"] [string repeat abc 30]
        r SELECT 0
        assert_equal [r LLEN list] 4
    }
}

# --- Manifests -----------------------------------------------------------------------------------

# A manifest with a snapshot, two files of commands, and history whose file is missing.
proc write_manifest {} {
    set ::manifest $::folder/all.aof.manifest
    write_file $::folder/1.base.rdb [snapshot]
    write_file $::folder/1.incr.aof $::whole_file
    write_file $::folder/2.incr.aof $::whole_file
    write_file $::manifest [join {
        {file 1.base.rdb seq 1 type b} {file 0.incr.aof seq 1 type h}
        {file 1.incr.aof seq 2 type i} {file 2.incr.aof seq 3 type i} {}
    } \n]
}

check_in 2 "all files that a manifest names are checked, in their order" {
    write_manifest
    lassign [packlist_check $manifest] status output
    assert_equal $status 0
    lmap line [split [string trim $output] \n] {string map [list $folder/ ""] [lindex [split $line ,] 0]}
} {{1.base.rdb: good: RDB version 10 with 4 keys (1 with an expiry) in 2 databases} {1.incr.aof: good: 6 commands}\
    {2.incr.aof: good: 6 commands} {all.aof.manifest: good}}

check_in 2 "only the last file is cut" {
    write_manifest
    write_file $folder/1.incr.aof [string range $whole_file 0 30]
    write_file $folder/2.incr.aof [string range $whole_file 0 30]
    lassign [packlist_check --fix --yes $manifest] status output
    assert_equal $status 1
    assert {[string match "*1.incr.aof: not to be cut: what stands in the files behind it builds on it*" $output]}
    assert {[string match "*2.incr.aof: fixed: cut to 27 bytes*" $output]}
    list [file size $folder/1.incr.aof] [file size $folder/2.incr.aof]
} {31 27}

check_in 2 "the last file is cut, and then all is well" {
    write_manifest
    write_file $folder/2.incr.aof [string range $whole_file 0 30]
    assert_equal [lindex [packlist_check --fix --yes $manifest] 0] 0
    lindex [packlist_check $manifest] 0
} 0

check_in 2 "a file that is missing is reported" {
    write_manifest
    file delete $folder/1.incr.aof
    assert_bad [packlist_check $manifest] "1.incr.aof: bad: No such file or directory"
}

check_in 2 "a manifest that makes no sense is reported with its line" {
    write_manifest
    write_file $manifest "file 1.base.rdb seq 1 type b\nfile ../x seq 1 type i\n"
    assert_bad [packlist_check $manifest] "all.aof.manifest: bad: line 2: the file is not a plain name"
    write_file $manifest [string repeat "file 1.base.rdb seq 1 type h\n" 600000]
    assert_bad [packlist_check $manifest] "too long for a manifest"
}

check_in 2 "a manifest with a wrong bit is found or harmless" {
    write_manifest
    set bytes [read_file $manifest]
    set found [llength [lsearch -all [lmap said [check_each all.aof.manifest [flipped $bytes]] {
        regexp {^bad} [lindex $said end]
    }] 1]]
    assert {$found > 100 && $found < 8 * [string length $bytes]}
}

# --- The command line ----------------------------------------------------------------------------

check_in 2 "several files are checked, and one that is bad counts" {
    write_file $folder/good.aof $whole_file
    write_file $folder/bad.aof garbage
    list [lindex [packlist_check $folder/good.aof $folder/good.aof] 0] \
        [lindex [packlist_check $folder/bad.aof $folder/good.aof] 0]
} {0 1}

check_in 2 "what cannot be read is bad" {
    assert_bad [packlist_check $folder/nosuch] "nosuch: bad: No such file or directory"
    assert_bad [packlist_check $folder] ": bad: not a file"
    foreach name {fifo fifo.manifest} {
        exec mkfifo $folder/$name
        assert_bad [packlist_check $folder/$name] "$name: bad: not a file"
    }
}

check_in 2 "an empty file of commands is good, an empty snapshot is not" {
    list [status_of_bytes empty.aof ""] [status_of_bytes empty.rdb ""]
} {0 1}

check_in 2 "wrong arguments end with status 2, and say how it is used" {
    foreach arguments {{} --nosuch --fix {--fix --yes} {--yes --}} {
        lassign [packlist_check {*}$arguments] status output
        assert_equal $status 2
        assert {[string match "*Usage: packlist-check*" $output]}
    }
    list [packlist_check --version] [lindex [packlist_check --help] 0] [lindex [packlist_check -- $folder/good.aof] 0]
} "{0 {packlist-check *\n}} 0 0" -match glob

check_in 2 "without a terminal --fix changes nothing without --yes" {
    set cut [string range $whole_file 0 end-1]
    assert_bad [check_bytes cut.aof $cut --fix] "not cut: there is no terminal to ask on; use --yes"
    assert_equal [read_file $folder/cut.aof] $cut
}

# As on a terminal, on which `answer` is typed.
proc run_on_terminal {answer args} {
    return [run_program $answer script -qefc [join [list $::check_binary {*}$args]] /dev/null]
}

check_in 2 "on a terminal --fix asks, and only y means yes" {
    set cut [string range $whole_file 0 end-1]
    set sizes {}
    foreach answer {y n "" yes} {
        write_file $folder/cut.aof $cut
        lassign [run_on_terminal $answer\n --fix $folder/cut.aof] status output
        assert {[string match "*this will cut it from * bytes by * bytes to * bytes*Continue?*" $output]}
        assert_equal $status [expr {[string match y* $answer] ? 0 : 1}]
        lappend sizes [expr {[string length $cut] == [file size $folder/cut.aof]}]
    }
    set sizes
} {0 1 1 0}

check_in 2 "on a terminal big files show how far it is" {
    write_file $folder/big.aof [string repeat [request [list SET k [string repeat x 100000]]] 200]
    lassign [run_on_terminal "" $folder/big.aof] status output
    assert_equal $status 0
    assert {[regexp {\[#* *\] +\d+ %  [0-9.]+ of 19.1 MB} $output]}
    assert {[string match "*big.aof: good: 200 commands, *" $output]}
    assert {![string match *%* [lindex [packlist_check $folder/big.aof] 1]]}
    assert {![string match *%* [lindex [run_on_terminal "" $folder/good.aof] 1]]}
}

file delete -force $folder
finish
