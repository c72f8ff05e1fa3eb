# Libraries of functions in snapshots, in append-only files and in payloads of FUNCTION DUMP.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/functions.tcl
source $library/loading.tcl

server_start

# A library as an item of a snapshot.
proc rdb_function {code} {
    return \xf5[binary format cI 0x80 [string length $code]]$code
}

proc write_data {bytes} {
    $::current_server halt
    write_file [$::current_server data]/dump.rdb $bytes
}

proc wait_saved {} {
    wait_until {[info_field rdb_bgsave_in_progress] == 0}
    assert_equal [info_field rdb_last_bgsave_status] ok
}

# --- FUNCTION DUMP and RESTORE

set bad_footer "ERR DUMP payload version or checksum are wrong"

check "FUNCTION DUMP without libraries is the payload that Redis 7.0 makes" {
    r FUNCTION FLUSH
    r FUNCTION DUMP
} "\n\x00\x5d\x9b\\@\x0f\x7f\xa2\xda"
check "so it is with a library" {
    with_config {rdbcompression no} {
        r FUNCTION LOAD REPLACE "#!lua name=a\nredis.register_function('f',function() end)"
        r FUNCTION DUMP
    }
} "\xf58#!lua name=a\nredis.register_function('f',function() end)\n\x00\x90\x9d\x110\xbb\xe1?o"
check "a payload brings all libraries back" {
    set payload [dump_of a b c]
    list [r FUNCTION RESTORE $payload] [functions_by_library] [r FCALL b_f 0] [string equal [r FUNCTION DUMP] $payload]
} {OK {a a_f b b_f c c_f} b_f 1}
check "APPEND, the default, refuses a library that exists" {
    set payload [dump_of a b]
    r FUNCTION LOAD [library b old]
    set replies [list [error_of {r FUNCTION RESTORE $payload}] [error_of {r FUNCTION RESTORE $payload append}]]
    list $replies [functions_by_library]
} {{{ERR Library b already exists} {ERR Library b already exists}} {b old}}
check "APPEND keeps what is there" {
    set payload [dump_of a]
    r FUNCTION LOAD [library b old]
    list [r FUNCTION RESTORE $payload APPEND] [functions_by_library]
} {OK {a a_f b old}}
check "REPLACE replaces libraries of the same name" {
    set payload [dump_of a b]
    r FUNCTION LOAD [library b old]
    r FUNCTION LOAD [library c other]
    list [r FUNCTION RESTORE $payload replace] [functions_by_library] [error_of {r FCALL old 0}]
} {OK {a a_f b b_f c other} {ERR Function not found}}
check "with REPLACE functions may move from one library to another" {
    r FUNCTION FLUSH
    r FUNCTION LOAD [library a f]
    r FUNCTION LOAD [library b g]
    set payload [r FUNCTION DUMP]
    r FUNCTION FLUSH
    r FUNCTION LOAD [library a g]
    r FUNCTION LOAD [library b f]
    list [r FUNCTION RESTORE $payload REPLACE] [functions_by_library]
} {OK {a f b g}}
check "REPLACE changes nothing when a function's name is taken" {
    set payload [dump_of a b]
    r FUNCTION LOAD [library b old]
    r FUNCTION LOAD [library c a_f]
    list [error_of {r FUNCTION RESTORE $payload REPLACE}] [functions_by_library] [r FCALL old 0] [r FCALL a_f 0]
} {{ERR Function a_f already exists} {b old c a_f} old a_f}
check "FLUSH deletes what is there" {
    set payload [dump_of a]
    r FUNCTION LOAD [library b old]
    list [r FUNCTION RESTORE $payload FLUSH] [functions_by_library]
} {OK {a a_f}}
check "a bad payload changes nothing, whatever the policy" {
    set payload [dump_of a b]
    r FUNCTION LOAD [library c old]
    foreach policy {APPEND REPLACE FLUSH} {
        assert_equal [error_of {r FUNCTION RESTORE [string replace $payload 5 5 X] $policy}] $bad_footer
        assert_equal [error_of {r FUNCTION RESTORE [string range $payload 0 end-1] $policy}] $bad_footer
        assert_equal [error_of {r FUNCTION RESTORE "" $policy}] $bad_footer
        assert_equal [functions_by_library] {c old}
    }
    r DEBUG SET-SKIP-CHECKSUM-VALIDATION 1
    try {
        set errors {}
        foreach content [list \0\1x \xf5\5ab \xf5\1x [string range $payload 0 end-10]\xf5\1x \
                [string range $payload 0 end-10][string range $payload 0 end-10]] {
            foreach policy {APPEND REPLACE FLUSH} {
                set error [error_of {r FUNCTION RESTORE $content\n\0[string repeat \0 8] $policy}]
                assert_equal [list [functions_by_library] [r FCALL old 0]] {{c old} old}
            }
            lappend errors $error
        }
    } finally {
        r DEBUG SET-SKIP-CHECKSUM-VALIDATION 0
    }
    set errors
} {{ERR given type is not a function} {ERR Failed loading library payload} {ERR Missing library metadata}\
    {ERR Missing library metadata} {ERR Library 'a' already exists}}
check_error "FUNCTION RESTORE knows three policies" {r FUNCTION RESTORE x y} \
    "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE."
check_error "FUNCTION RESTORE takes one policy" {r FUNCTION RESTORE x FLUSH y} \
    "ERR unknown subcommand or wrong number of arguments for 'RESTORE'. Try FUNCTION HELP."
check "code of a payload that does not end is ended" {
    set code "#!lua name=a\nwhile true do end"
    r DEBUG SET-SKIP-CHECKSUM-VALIDATION 1
    try {
        error_of {r FUNCTION RESTORE \xf5[binary format c [string length $code]]$code\n\0[string repeat \0 8]}
    } finally {
        r DEBUG SET-SKIP-CHECKSUM-VALIDATION 0
    }
} "ERR Error registering functions: ERR FUNCTION LOAD timeout"

# --- Snapshots

foreach {way save} {
    "SAVE" {r SAVE}
    "BGSAVE" {r BGSAVE; wait_saved}
} {
    check_in 2 "libraries are in the snapshot of $way" [string map [list SAVE_IT $save] {
        with_server {} {
            r SET k v
            r FUNCTION LOAD [library one f]
            r FUNCTION LOAD "[library two g]--[string repeat {a long text } 20000]"
            SAVE_IT
            r FUNCTION DELETE two
            server_again crash
            list [functions_by_library] [r FCALL g 0] [r GET k] [string length [dict get [lindex [r FUNCTION LIST \
                WITHCODE LIBRARYNAME two] 0] library_code]]
        }
    }] [list {one f two g} g v [string length "[library two g]--[string repeat {a long text } 20000]"]]
}
check_in 2 "a snapshot without keys keeps libraries" {
    with_server {} {
        r FUNCTION LOAD [library one f]
        r SAVE
        server_again crash
        r FCALL f 0
    }
} f
check_in 2 "libraries load from the files of Redis" {
    with_server {} {
        write_data [rdb [rdb_function [library one f]] [rdb_function [library two g]] [rdb_string a 1]]
        server_again launch
        list [functions_by_library] [r FCALL f 0] [r GET a]
    }
} {{one f two g} f 1}
foreach {what codes error} {
    "has no first line" {{return 1}} "Missing library metadata"
    "does not compile" {"#!lua name=a\nfoo("}
    "Error compiling function: user_function:2: unexpected symbol near '<eof>'"
    "is in another language" {"#!js name=a\n"} "Engine 'js' not found"
    "raises an error" {"#!lua name=a\nredis.nosuch()"} "Error registering functions: *'nosuch'"
    "does not end" {"#!lua name=loop\nwhile true do end"}
    "Error registering functions: ERR the code of the library 'loop' has not ended in 2000 ms"
    "is there twice" {"#!lua name=a\nredis.register_function('f', redis.log)"
        "#!lua name=a\nredis.register_function('g', redis.log)"}
    "Library 'a' already exists"
} {
    check_in 2 "a file with a library that $what does not start the server" [string map \
            [list CODES [list $codes] ERROR $error] {
        with_server {rdb-skip-unknown-types yes} {
            write_data [rdb {*}[lmap code CODES {rdb_function [subst -nocommands -novariables $code]}] [rdb_string a 1]]
            lassign [$current_server fail_to_start] _ log
            assert_match "*Error loading dump.rdb: *: a library of functions is bad: ERROR*" $log
            write_data [rdb]
        }
    }]
}
check_in 2 "with hide-user-data-from-log the log shows nothing of a library" {
    with_server {hide-user-data-from-log yes} {
        write_data [rdb [rdb_function "#!lua name=secret\nsecret("]]
        lassign [$current_server fail_to_start] _ log
        write_data [rdb]
        list [string match "*secret*" $log] [string match {*a library of functions is bad: \*redacted\**} $log]
    }
} {0 1}
check_in 2 "DEBUG RELOAD keeps libraries, DEBUG RELOAD NOSAVE brings those of the file back" {
    with_server {} {
        r FUNCTION LOAD [library one f]
        r DEBUG RELOAD
        assert_equal [functions_by_library] {one f}
        r FUNCTION LOAD [library two g]
        r FUNCTION LOAD REPLACE [library one x]
        r DEBUG RELOAD NOSAVE
        assert_equal [functions_by_library] {one f}
        r FUNCTION LOAD [library two g]
        r FUNCTION LOAD REPLACE [library one x]
        r DEBUG RELOAD NOSAVE NOFLUSH MERGE
        functions_by_library
    }
} {one f two g}

# --- Append-only files

check_in 2 "changes of libraries are propagated as they came" {
    with_aof {} {
        propagated_by {
            r FUNCTION LOAD [library one f]
            r FUNCTION LOAD REPLACE [library one f]
            r FUNCTION DELETE one
            catch {r FUNCTION DELETE one}
            catch {r FUNCTION LOAD x}
            r FUNCTION RESTORE [set payload [r FUNCTION DUMP]] FLUSH
            r FUNCTION FLUSH SYNC
            r FUNCTION LIST
        }
    }
} [list {SELECT 0} [list FUNCTION LOAD [library one f]] [list FUNCTION LOAD REPLACE [library one f]] \
    {FUNCTION DELETE one} [list FUNCTION RESTORE "\n\x00\x5d\x9b\\@\x0f\x7f\xa2\xda" FLUSH] {FUNCTION FLUSH SYNC}]
check_in 2 "what a function writes is propagated as one unit, the call is not" {
    with_aof {} {
        r FUNCTION LOAD [library_with f "redis.call('SET', keys\[1\], 1) redis.call('INCR', keys\[1\]) return 1"]
        propagated_by {r FCALL f 1 k}
    }
} {MULTI {SET k 1} {INCR k} EXEC}
foreach preamble {yes no} {
    check_in 2 "libraries survive a crash with an append-only file, and a rewrite; preamble: $preamble" \
            [string map [list PREAMBLE $preamble] {
        with_aof {aof-use-rdb-preamble PREAMBLE} {
            r FUNCTION LOAD [library one f]
            r FUNCTION LOAD [library two g]
            r FUNCTION LOAD [library three h]
            r FUNCTION DELETE two
            r SET k v
            wait_written
            server_again crash
            assert_equal [list [functions_by_library] [r FCALL f 0]] {{one f three h} f}
            rewrite_aof
            r FUNCTION LOAD REPLACE [library one x]
            wait_written
            server_again crash
            list [functions_by_library] [r FCALL x 0] [r FCALL h 0] [r GET k]
        }
    }] {{one x three h} x h v}
}
check_in 2 "a file whose code cannot be run does not start the server" {
    with_aof {} {
        r SET k v
        wait_written
        $current_server halt
        set good [read_file [lindex [aof_files $current_server *.incr.aof] end]]
        foreach bad [list {FUNCTION LOAD x} "FUNCTION LOAD {#!lua name=a\nfoo(}" {FUNCTION RESTORE x}] {
            break_file $current_server "[request $bad]$good"
            lassign [$current_server fail_to_start] _ log
            assert {[string match "*'function|*' of the append only file * cannot be run here: ERR *" $log]}
        }
        break_file $current_server "[request [list FUNCTION LOAD "#!lua name=loop\nwhile true do end"]]$good"
        lassign [$current_server fail_to_start] _ log
        assert_match "*ERR the code of the library 'loop' has not ended in 2000 ms*" $log
        break_file $current_server $good
        server_again launch
        r GET k
    }
} v
check_in 2 "DEBUG LOADAOF loads libraries again" {
    with_aof {} {
        r FUNCTION LOAD [library one f]
        wait_written
        list [r DEBUG LOADAOF] [functions_by_library] [r FCALL f 0]
    }
} {OK {one f} f}
check_in 2 "what is loaded counts no change" {
    with_aof {} {
        r FUNCTION LOAD [library one f]
        wait_written
        server_again crash
        info_field rdb_changes_since_last_save
    }
} 0

finish
