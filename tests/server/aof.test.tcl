# The append-only file: it is written before replies are sent, and loaded at the next start.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl

server_start

proc file_size {} {
    return [file size [lindex [aof_files $::current_server *.incr.aof] end]]
}

# Limits the growth of its files to `more` bytes.
proc limit_files {more} {
    set limit [expr {$more eq "unlimited" ? $more : [file_size] + $more}]
    exec prlimit --pid [$::current_server pid] --fsize=$limit:unlimited
}

# --- Acknowledged changes last --------------------------------------------------------------------

foreach policy {no everysec always} {
    check "data is the same after a restart (appendfsync $policy)" {
        with_aof [list appendfsync $policy] {
            r RPUSH l a b c
            r SET s [string repeat x 100000]
            r SET e soon EX 1000
            r MSET x 1 y "\x00\r\n\xff"
            r DEL x
            r SELECT 5
            r LPUSH other 1
            server_again
            assert_equal [r LRANGE l 0 -1] {a b c}
            assert_equal [r GET s] [string repeat x 100000]
            assert {[r TTL e] > 900 && [r TTL e] <= 1000}
            assert_equal [r MGET x y] [list (nil) "\x00\r\n\xff"]
            r SELECT 5
            assert_equal [r LRANGE other 0 -1] 1
        }
    }

    check "acknowledged changes survive kill -9 (appendfsync $policy)" {
        with_aof [list appendfsync $policy] {
            for {set i 0} {$i < 200} {incr i} {
                r RPUSH l $i
            }
            wait_written
            server_again crash
            assert_equal [r LLEN l] 200
            r RPUSH l more
            wait_written
            server_again crash
            assert_equal [r LLEN l] 201
        }
    }
}

check "a kill during a pipeline loses none of its acknowledged commands" {
    with_aof {appendfsync always} {
        set writer [client_open]
        $writer write [string repeat [request {INCR counter}] 20000]
        for {set i 1} {$i <= 500} {incr i} {
            assert_equal [$writer read] $i
        }
        server_again crash
        assert {[r GET counter] >= 500}
    }
}

check "keys that expired while the server was down are gone, and earlier changes stay" {
    with_aof {} {
        # In one write: the keys must not expire before PERSIST.
        [default_client] pipeline {{SET k old PX 500} {APPEND k er} {RPUSH l a} {PEXPIRE l 500} {PERSIST l}}
        $::current_server halt
        after 600
        $::current_server launch
        set ::default_client ""
        list [r GET k] [r LRANGE l 0 -1] [r TTL l]
    }
} {(nil) a -1}

check "the file is continued at its end, beginning with SELECT" {
    with_aof {} {
        r SELECT 3
        r SET a 1
        server_again
        r SET b 1
        server_again
        assert_equal [r GET b] 1
        r SELECT 3
        assert_equal [r GET a] 1
        aof_commands [aof_bytes]
    }
} {{SELECT 3} {SET a 1} {SELECT 0} {SET b 1}}

check "loading counts neither for save points nor in the statistics" {
    with_aof {} {
        r SET a 1
        server_again
        list [info_field rdb_changes_since_last_save] [info_field expired_keys]
    }
} {0 0}

check "the folder and the names of its files are configured" {
    with_aof {appenddirname here appendfilename "\"my file\""} {
        r SET a 1
        server_again
        assert_equal [r GET a] 1
        read_file [$::current_server folder]/here/my\ file.manifest
    }
} "file \"my file.1.base.rdb\" seq 1 type b\nfile \"my file.1.incr.aof\" seq 1 type i\n"

check "a file of a server before Redis 7 becomes the base" {
    with_aof {} {
        $::current_server halt
        set folder [$::current_server folder]
        file delete -force $folder/appendonlydir
        set file [open $folder/appendonly.aof wb]
        puts -nonewline $file "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$3\r\nold\r\n"
        close $file
        server_again launch
        assert_equal [r GET k] old
        r SET l new
        server_again
        assert {![file exists $folder/appendonly.aof]}
        list [r MGET k l] [read_file $folder/appendonlydir/appendonly.aof.manifest]
    }
} "{old new} {file appendonly.aof seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n}"

foreach {directive value reason} {
    appendfilename "" "appendfilename can't be empty"
    appenddirname "" "appenddirname can't be empty"
    appendfilename a/b "appendfilename can't be a path, just a filename"
    appenddirname a/b "appenddirname can't be a path, just a dirname"
} {
    check_in 2 "no server starts with $directive \"$value\"" {
        lassign [server_run [list --port [free_port] --$directive $value]] status output
        list $status [string match "*$reason*" $output]
    } {1 1}
}

# A file of a server before Redis 7, in the working directory, with one key.
proc write_old_file {} {
    write_file [$::current_server folder]/appendonly.aof "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$3\r\nold\r\n"
}

foreach {what command} {"turning the file on" {CONFIG SET appendonly yes} "BGREWRITEAOF" BGREWRITEAOF} {
    check "a file of a server before Redis 7 that was not loaded is left alone: $what" {
        with_server {save "\"\""} {
            write_old_file
            r {*}$command
            wait_until {[file exists [$::current_server folder]/appendonlydir/appendonly.aof.1.base.rdb]}
            wait_rewritten
            string match "*old*" [read_file [$::current_server folder]/appendonly.aof]
        }
    } 1
}

foreach {what directives command} {
    "when the server starts" {appendonly yes} PING
    "when the file is turned on" {appendonly no} {CONFIG SET appendonly yes}
} {
    check "files that no manifest names are left as they are, $what" {
        with_server $directives {
            $::current_server halt
            set folder [$::current_server folder]/appendonlydir
            file delete -force $folder
            file mkdir $folder
            foreach name {appendonly.aof.1.base.rdb appendonly.aof.2.incr.aof} {
                write_file $folder/$name precious
            }
            server_again launch
            r {*}$command
            wait_until {[file exists $folder/appendonly.aof.manifest]}
            wait_rewritten
            rewrite_aof
            list [read_file $folder/appendonly.aof.1.base.rdb] [read_file $folder/appendonly.aof.2.incr.aof] [manifest]
        }
    } "precious precious {file appendonly.aof.4.base.rdb seq 4 type b\nfile appendonly.aof.4.incr.aof seq 4 type i\n}"
}

# --- Incomplete files -----------------------------------------------------------------------------

set whole [request {SELECT 0}][request {SET a 1}]
set transaction [request MULTI][request {INCR a}][request {INCR b}][request EXEC]

check "a file that ends inside a command is cut off there" {
    with_aof {} {
        foreach cut {1 5 20} {
            $::current_server halt
            break_file $::current_server [string range $::whole$::whole 0 end-$cut]
            server_again launch
            assert_equal [r GET a] 1
            assert_equal [string range [aof_bytes] 0 [string length $::whole]-1] $::whole
            assert {[file_size] < [string length $::whole$::whole]}
            r SET b 2
            server_again
            assert_equal [r MGET a b] {1 2}
        }
    }
}

check "an incomplete transaction has no effect" {
    with_aof {} {
        foreach cut {0 1 15 30 60} {
            $::current_server halt
            break_file $::current_server $::whole[string range $::transaction 0 end-$cut]
            server_again launch
            assert_equal [r MGET a b] [expr {$cut == 0 ? {2 1} : {1 (nil)}}]
            if {$cut > 0} {
                assert_equal [aof_bytes] $::whole
            }
        }
    }
}

check "with aof-load-truncated no, a file that ends inside a command stops the start" {
    with_aof {aof-load-truncated no} {
        $::current_server halt
        break_file $::current_server [string range $::whole 0 end-1]
        lassign [$::current_server fail_to_start] status log
        assert_equal [aof_bytes] [string range $::whole 0 end-1]
        assert_equal $status "CHILDSTATUS 1"
        regexp {Unexpected end of file.*whole up to offset 23} $log
    }
} 1

foreach {what bytes reason} {
    "a count" "*x\r\n" "Bad file format.*not a number"
    "a line end" "*1\r\n\$3\r\nFOO+\r\n" "Bad file format.*line does not end"
    "no command" "hello\r\n" "Bad file format.*no command begins"
    "a negative length" "*1\r\n\$-1\r\n" "Bad file format.*not a number"
    "a command that is unknown" "*1\r\n\$3\r\nFOO\r\n" "Unknown command 'FOO'"
    "a command that does not write" "*1\r\n\$8\r\nSHUTDOWN\r\n" "Command that has no place there, 'SHUTDOWN'"
    "too few arguments" "*2\r\n\$3\r\nSET\r\n\$1\r\na\r\n" "Wrong number of arguments for 'SET'"
    "EXEC alone" "*1\r\n\$4\r\nEXEC\r\n" "Bad file format.*EXEC without MULTI"
    "MULTI twice" "*1\r\n\$5\r\nMULTI\r\n*1\r\n\$5\r\nMULTI\r\n" "Bad file format.*MULTI inside MULTI"
} {
    check "a damaged file stops the start: $what" {
        with_aof {} {
            $::current_server halt
            break_file $::current_server $::whole$bytes
            lassign [$::current_server fail_to_start] status log
            assert_equal [aof_bytes] $::whole$bytes
            assert_equal $status "CHILDSTATUS 1"
            regexp $reason $log
        }
    } 1
}

set set_c [request {SET c 3}]
foreach {what bytes} [list \
    "garbage" "garbage!" \
    "garbage before whole commands" "garbage\r\n$set_c" \
    "zeros" [string repeat \0 20] \
    "a malformed count" "*3\r\n\$3\r\nSET\r\n\$x\r\n" \
    "a transaction that turns into garbage" "[request MULTI]${set_c}zzzzz" \
] {
    check "aof-load-corrupt-tail-max-size cuts off a tail that is shorter: $what" {
        set lost [string length $bytes]
        with_aof [list aof-load-corrupt-tail-max-size $lost aof-load-truncated no] {
            set server $::current_server
            $server halt
            break_file $server $::whole$bytes
            lassign [$server fail_to_start] status log
            assert_equal [list $status [aof_bytes]] [list "CHILDSTATUS 1" $::whole$bytes]
            set advice {To lose the last (\d+) bytes .* set aof-load-corrupt-tail-max-size to (\d+) }
            assert {[regexp $advice $log _ count size]}
            assert_equal [list $count $size] [list $lost [expr {$lost + 1}]]
            $server set_directives [list aof-load-corrupt-tail-max-size $size]
            server_again launch
            assert_equal [list [r MGET a b c] [aof_bytes]] [list {1 (nil) (nil)} $::whole]
            r SET b 2
            wait_written
            $server halt
            server_again launch
            r MGET a b c
        }
    } {1 2 (nil)}
}
check "aof-load-corrupt-tail-max-size cuts off neither commands that cannot run nor a file before the last one" {
    with_aof {aof-load-corrupt-tail-max-size 1000000} {
        $::current_server halt
        set bytes $::whole[request FOO]
        break_file $::current_server $bytes
        $::current_server fail_to_start
        assert_equal [aof_bytes] $bytes
        set folder [$::current_server folder]/appendonlydir
        file delete -force $folder
        file mkdir $folder
        write_file $folder/appendonly.aof.manifest "file one seq 1 type i\nfile two seq 2 type i\n"
        write_file $folder/one $::whole*x
        write_file $folder/two $::whole
        lassign [$::current_server fail_to_start] status log
        assert {![string match "*aof-load-corrupt-tail-max-size*" $log]}
        read_file $folder/one
    }
} $whole*x

check "with hide-user-data-from-log the log shows no contents of the file" {
    with_aof {hide-user-data-from-log yes} {
        $::current_server halt
        foreach bytes [list [request {secret a}] [request {SET a 1 secret}]] {
            break_file $::current_server $::whole$bytes
            lassign [$::current_server fail_to_start] status log
            assert {[string match {*\*redacted\**} $log]}
            assert {![string match *secret* $log]}
        }
    }
}

# Commands of a server with more options, databases or types: skipping them would make later commands wrong.
foreach {command reason} [list \
    {SET a 2 FROB 1}                                                  "ERR syntax error" \
    {PEXPIREAT a 9999999999999 FOO}                                   "ERR Unsupported option FOO" \
    {SETRANGE a 34359738368 x} "ERR string exceeds maximum allowed size (proto-max-bulk-len)" \
    {SELECT 16}                                                       "ERR DB index is out of range" \
    {COPY a b DB 16}                                                  "ERR DB index is out of range" \
    [list RESTORE a 0 "\xc8\x05hello\x0a\x00p\xa4\x04_\x1d\xe2\xf8\xe3" REPLACE] "ERR Bad data format" \
    {RESTORE b 0 damaged}                          "ERR DUMP payload version or checksum are wrong" \
    {LPUSH a 1}                   "WRONGTYPE Operation against a key holding the wrong kind of value" \
    {INCRBYFLOAT a 0x}                                                "ERR value is not a valid float" \
    {RENAME none b}                                                   "ERR no such key" \
] {
    check "a command that this server cannot run stops the start: [lrange $command 0 1] …, $reason" {
        with_aof {} {
            $::current_server halt
            break_file $::current_server $::whole[request $::command][request {SET a other}]
            lassign [$::current_server fail_to_start] status log
            assert_equal $status "CHILDSTATUS 1"
            string match "*'[string tolower [lindex $::command 0]]' of the append only file\
                appendonly.aof.1.incr.aof at offset 50 cannot be run here: $::reason\n*" $log
        }
    } 1
}

check "a command of a transaction that fails stops the start: the log names its own place" {
    with_aof {} {
        $::current_server halt
        set begin $::whole[request MULTI][request {SET a other}]
        break_file $::current_server $begin[request {LPUSH a 1}][request {SET b 2}][request EXEC]
        set ::offset [string length $begin]
        lassign [$::current_server fail_to_start] status log
        assert_equal $status "CHILDSTATUS 1"
        string match "*'lpush' of the append only file appendonly.aof.1.incr.aof at offset $::offset cannot be run\
            here: WRONGTYPE *" $log
    }
} 1

check "numbers of any length in the file are read" {
    with_aof {} {
        $::current_server halt
        set bytes ""
        foreach {zeros member} {254 a 255 b 256 c 10000 d} {
            append bytes [request [list ZADD z [string repeat 0 $zeros]$zeros.5 $member]]
            append bytes [request [list ZINCRBY z 1.[string repeat 0 $zeros] $member]]
        }
        append bytes [request [list ZREMRANGEBYSCORE z ([string repeat 0 300]255.5 256.[string repeat 5 300]]]
        break_file $::current_server $::whole$bytes
        server_again launch
        list [r ZRANGE z 0 -1] [r ZMSCORE z a c d]
    }
} {{a c d} {255.5 257.5 10001.5}}

foreach {what text reason} {
    "a path" "file ../../a seq 1 type i\n" "line 1: the file is not a plain name"
    "an unknown type" "# x\nfile a seq 1 type z\n" "line 2: Unknown AOF file type"
    "nothing" "" "line 1: no file is named"
    "a missing file" "file none seq 1 type i\nfile none2 seq 2 type i\n" \
        "Can't open the append only file .*none: No such file"
} {
    check "an invalid manifest stops the start: $what" {
        with_aof {} {
            $::current_server halt
            set file [open [$::current_server folder]/appendonlydir/appendonly.aof.manifest wb]
            puts -nonewline $file $text
            close $file
            lassign [$::current_server fail_to_start] status log
            assert_equal $status "CHILDSTATUS 1"
            regexp $reason $log
        }
    } 1
}

check "a file that others follow must be complete" {
    with_aof {} {
        $::current_server halt
        set folder [$::current_server folder]/appendonlydir
        foreach {name bytes} [list appendonly.aof.1.incr.aof [string range $::whole 0 end-1] next $::whole \
                appendonly.aof.manifest "file appendonly.aof.1.incr.aof seq 1 type i\nfile next seq 2 type i\n"] {
            set file [open $folder/$name wb]
            puts -nonewline $file $bytes
            close $file
        }
        lassign [$::current_server fail_to_start] status log
        regexp {ends inside a command at offset 23, and others follow} $log
    }
} 1

foreach {path reason} {
    appendonlydir/appendonly.aof.manifest   "Can't read the AOF manifest *: Invalid argument"
    appendonlydir/appendonly.aof.1.incr.aof "Can't open the append*only file *: *"
    dump.rdb                                "Can't open dump.rdb *: Invalid argument"
} {
    check "a pipe in the place of a file stops the start, which does not wait for a writer: $path" {
        with_server [list appendonly [expr {$path eq "dump.rdb" ? "no" : "yes"}]] {
            set pipe [$::current_server folder]/$::path
            $::current_server halt
            file delete $pipe
            exec mkfifo $pipe
            lassign [$::current_server fail_to_start] status log
            file delete $pipe
            assert_equal $status "CHILDSTATUS 1"
            string match *$::reason* $log
        }
    } 1
}

# Puts these files in place of those of the halted server: {name bytes …}; the manifest names them in this order.
proc put_files {lines files} {
    set folder [$::current_server folder]/appendonlydir
    file delete -force $folder
    file mkdir $folder
    dict for {name bytes} $files {
        write_file $folder/$name $bytes
    }
    write_file $folder/appendonly.aof.manifest [join [lmap {name seq type} $lines {
        string cat "file $name seq $seq type $type\n"
    }] ""]
}

check "an empty base in RDB form stops the start" {
    with_aof {} {
        $::current_server halt
        put_files {x.1.base.rdb 1 b incr 1 i} [list x.1.base.rdb "" incr $::whole]
        lassign [$::current_server fail_to_start] status log
        assert_equal $status "CHILDSTATUS 1"
        assert_equal [read_file [$::current_server folder]/appendonlydir/incr] $::whole
        regexp {The base file x.1.base.rdb of the append-only file is empty} $log
    }
} 1

check "a base of commands may be empty" {
    with_aof {} {
        $::current_server halt
        put_files {x.1.base.aof 1 b incr 1 i} [list x.1.base.aof "" incr $::whole]
        server_again launch
        r GET a
    }
} 1

# The kind of the file that is cut, and of the files after it: history, and increments that are empty or not.
foreach {what lines files ends} {
    "a base, and nothing else"     {base 1 b}                {base cut}                           whole
    "a base before history"        {base 1 b old 9 h}        {base cut old {}}                    whole
    "a base before lost history"   {base 1 b old 9 h}        {base cut}                           whole
    "an increment before history"  {base 1 b incr 1 i old 9 h} {base whole incr cut old {}}       whole
    "the last increment"           {base 1 b a 1 i b 2 i}    {base whole a whole b cut}           whole
    "a base before an empty increment" {base 1 b a 1 i}      {base cut a {}}                      whole
    "a base before an increment"   {base 1 b a 1 i}          {base cut a whole}                   damaged
    "an increment before an empty one" {base 1 b a 1 i b 2 i} {base whole a cut b {}}             whole
} {
    check "which files may be cut: $what" {
        with_aof {} {
            dict set bytes whole $::whole
            dict set bytes cut $::whole[string range [request {SET b 2}] 0 end-3]
            dict set bytes {} {}
            foreach truncated {yes no} {
                $::current_server halt
                put_files $::lines [dict map {name kind} $::files {dict get $bytes $kind}]
                if {$::ends eq "whole" && $truncated} {
                    $::current_server launch_with {aof-load-truncated yes}
                    set ::default_client ""
                    assert_equal [list [r GET a] [r EXISTS b]] {1 0}
                    # History is deleted by another thread, and the manifest written after that.
                    wait_until {![string match {*type h*} [manifest]] &&
                                ![file exists [$::current_server folder]/appendonlydir/old]}
                    server_again
                    assert_equal [r GET a] 1
                    continue
                }
                $::current_server set_directives [list aof-load-truncated $truncated]
                lassign [$::current_server fail_to_start] status log
                assert_equal $status "CHILDSTATUS 1"
                dict for {name kind} $::files {
                    assert_equal [read_file [$::current_server folder]/appendonlydir/$name] [dict get $bytes $kind]
                }
            }
        }
    }
}

check "annotations are skipped" {
    with_aof {} {
        $::current_server halt
        break_file $::current_server "#TS:1700000000\r\n$::whole#TS:1700000001\r\n"
        server_again launch
        r GET a
    }
} 1

# --- A disk that fails ----------------------------------------------------------------------------

foreach policy {no everysec} {
    check "a file that cannot be written refuses changes, loses nothing and recovers (appendfsync $policy)" {
        with_aof [list appendfsync $policy] {
            r SET a 1
            limit_files 100
            r SET b [string repeat x 200]
            set refused "MISCONF Errors writing to the AOF file: File too large"
            assert_equal [error_of {r SET c 1}] $refused
            assert_equal [error_of {r PING}] $refused
            r MULTI
            assert_equal [error_of {r SET c 1}] $refused
            assert_equal [error_of {r EXEC}] "EXECABORT Transaction discarded because of previous errors."
            assert_equal [r GET a] 1
            assert_equal [info_field aof_last_write_status] err
            assert {[info_field aof_buffer_length] > 200}
            limit_files unlimited
            wait_until {[info_field aof_last_write_status] eq "ok"}
            r SET c 1
            server_again
            list [r GET a] [string length [r GET b]] [r GET c]
        }
    } {1 200 1}
}

check "a transaction queued before the file failed is refused as a whole" {
    with_aof {} {
        r MULTI
        r SET a 1
        limit_files 10
        set other [client_open]
        $other call SET b 1
        set error [error_of {r EXEC}]
        limit_files unlimited
        wait_until {[info_field aof_last_write_status] eq "ok"}
        set error
    }
} "EXECABORT Transaction discarded because of: MISCONF Errors writing to the AOF file: File too large"

check "with appendfsync always, a change that cannot be written is not acknowledged" {
    with_aof {appendfsync always} {
        r SET a 1
        limit_files 10
        set writer [client_open]
        set reader [client_open]
        $writer send SET b 2
        wait_until {[$writer is_closed]}
        assert_equal [$reader call GET a] 1
        assert_equal [error_of {r SET c 1}] "MISCONF Errors writing to the AOF file: File too large"
        limit_files unlimited
        wait_until {[info_field aof_last_write_status] eq "ok"}
        r SET c 3
        server_again
        r MGET a b c
    }
} {1 2 3}

check "an incomplete command does not stay in the file" {
    with_aof {} {
        r SET a 1
        limit_files 40
        r SET b [string repeat x 100]
        set size [file_size]
        server_again crash
        list [r GET a] [r EXISTS b] [expr {[file_size] == $size}]
    }
} {1 0 1}

check "a key that has expired when DEBUG RELOAD loads it is deleted in the file, too" {
    with_aof {} {
        r DEBUG SET-ACTIVE-EXPIRE 0
        r RPUSH l old
        r PEXPIRE l 20
        after 50
        r DEBUG RELOAD
        assert_equal [r EXISTS l] 0
        r RPUSH l new
        wait_written
        server_again crash
        r LRANGE l 0 -1
    }
} new

finish
