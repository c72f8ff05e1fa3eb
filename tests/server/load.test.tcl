# Loading: when the server starts, with clients served meanwhile, and DEBUG RELOAD; files that are bad.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/loading.tcl

server_start {enable-protected-configs yes}

proc write_data {bytes} {
    write_file [$::current_server folder]/dump.rdb $bytes
}

# --- While it loads

set many_keys [rdb {*}[many_strings 1000]]

proc while_loading {directives body} {
    uplevel 1 [list with_started [list loading_server new [list dump.rdb $::many_keys] $directives] $body]
}

check_in 2 "while data is loaded, what needs it is refused" {
    while_loading {} {
        set refused {}
        foreach command {{GET key:1} {SET a b} {LPUSH l a} {BLPOP l 0} SAVE BGSAVE DBSIZE FLUSHALL} {
            lappend refused [error_of {r {*}$command}]
        }
        r MULTI
        lappend refused [error_of {r SET a b}]
        assert_equal [error_of {r EXEC}] "EXECABORT Transaction discarded because of previous errors."
        assert_equal [error_of {r DEBUG RELOAD}] "LOADING Redis is loading the dataset in memory"
        assert_equal [error_of {r NOSUCH}] "ERR unknown command 'NOSUCH', with args beginning with: "
        lsort -unique $refused
    }
} {{LOADING Redis is loading the dataset in memory}}
check_in 2 "PING is refused while loading, and INFO says that the server loads" {
    while_loading {} {
        assert_equal [info_field loading] 1
        error_of {r PING}
    }
} {LOADING Redis is loading the dataset in memory}
check_in 2 "meanwhile clients can look around and change the configuration" {
    while_loading {} {
        assert {[string match "*cmd=client|list*" [r CLIENT LIST]]}
        assert {abs([r LASTSAVE] - [clock seconds]) < 200}
        assert_equal [r CONFIG SET hz 20] OK
        assert {[llength [r COMMAND INFO GET]] == 1}
        assert {[r TIME] > 0}
        dict get [r HELLO] server
    }
} redis
check_in 2 "CONFIG SET dir is refused like a command that needs the data, with all beside it" {
    while_loading {enable-protected-configs yes} {
        set before [r CONFIG GET dir hz]
        set loading "LOADING Redis is loading the dataset in memory"
        assert_equal [error_of {r CONFIG SET dir /}] $loading
        assert_equal [error_of {r CONFIG SET hz 20 dir /nosuch timeout abc}] $loading
        assert_equal [r CONFIG GET dir hz] $before
        r CONFIG SET dbfilename x.rdb
    }
} OK
check_in 2 "INFO shows how far it is" {
    while_loading {} {
        assert_equal [info_field loading] 1
        wait_until {[info_field loading_loaded_perc] > 0}
        set percent [info_field loading_loaded_perc]
        assert {$percent < 100 && [info_field loading_eta_seconds] >= 0}
        assert_equal [info_field loading_total_bytes] [string length $many_keys]
        assert {[info_field loading_loaded_bytes] < [info_field loading_total_bytes]}
        assert {abs([info_field loading_start_time] - [clock seconds]) < 200}
        wait_until {[info_field loading_loaded_perc] > $percent}
        assert {[info_field rdb_last_load_keys_loaded] > 0}
        r CONFIG SET key-load-delay 0
        wait_until {[info_field loading] == 0}
        assert {![regexp loading_loaded_perc [r INFO persistence]]}
        assert_equal [list [r PING] [r DBSIZE] [info_field rdb_last_load_keys_loaded]] {PONG 1000 1000}
        set log [$current_server log]
        assert {[string match "*Done loading RDB, keys loaded: 1000, keys expired: 0.*" $log]}
        regexp {DB loaded from disk: \d+\.\d+ seconds.*Ready to accept connections} $log
    }
} 1
check_in 2 "the log shows how far it is" {
    while_loading {enable-protected-configs yes} {
        # A later change of the file name does not matter.
        r CONFIG SET dbfilename other.rdb
        wait_until {[regexp {Loading dump.rdb: \d+\.\d% of \d+ MB, about \d+ seconds left} [$current_server log]]}
    }
}
check_in 2 "SIGTERM or SHUTDOWN ends a loading server at once, and the file stays unchanged" {
    foreach way {{exec kill -TERM [$current_server pid]} {r SHUTDOWN} {r SHUTDOWN SAVE} {r SHUTDOWN NOSAVE}} {
        while_loading {save {3600 1}} {
            catch $way
            assert_equal [$current_server wait_exit] 0
            assert_equal [read_file [$current_server folder]/dump.rdb] $many_keys
            assert {![string match "*Error loading*" [$current_server log]]}
            assert {[regexp {Loading dump.rdb ends at byte \d+: the server is ending} [$current_server log]]}
        }
    }
}
check_in 2 "a client that waits is served only after the load" {
    while_loading {} {
        set c [client_open]
        r CONFIG SET key-load-delay 0
        wait_until {[info_field loading] == 0}
        $c call GET key:999
    }
} value

# --- Files that are bad

# Starts a server with these bytes as its data: returns what it logs. It must not start, nor change the file.
proc failed_load {bytes args} {
    set folder [temporary_folder]
    write_file $folder/dump.rdb $bytes
    set port [free_port]
    lassign [server_run [list --port $port --dir $folder --logfile $folder/log --pidfile $folder/pid {*}$args]] \
        status output
    assert_equal [list $status $output] \
        [list 1 "packlist-server: the data could not be loaded; the log says why"]
    assert_equal [read_file $folder/dump.rdb] $bytes
    assert_equal [lsort [glob -tails -directory $folder *]] {dump.rdb log}
    set log [read_file $folder/log]
    file delete -force $folder
    assert {[regexp -line {# Error loading (dump.rdb: Internal error in RDB reading offset \d+: .*)} $log _ text]}
    return $text
}

# The words in parentheses are those for which tools look in the logs of Redis.
check_in 2 "a file that is no snapshot stops the start" {
    foreach {bytes why} {
        "" "Short read or OOM loading DB"
        x "Short read or OOM loading DB"
        "not a snapshot at all" "Wrong signature trying to load DB from file"
        REDIS "Short read or OOM loading DB"
        REDIS0099 "Can't handle RDB format version 99"
        REDIS0010 "Short read or OOM loading DB"
    } {
        assert_match "dump.rdb: Internal error in RDB reading offset *($why)*" [failed_load $bytes]
    }
}
check_in 2 "a truncated file stops the start, wherever it ends" {
    set bytes [rdb [rdb_string a 1] [rdb_select 3] [rdb_string b 2]]
    for {set len 9} {$len < [string length $bytes]} {incr len 3} {
        failed_load [string range $bytes 0 $len-1]
    }
}
check_in 2 "so does a wrong checksum" {
    set bytes [string replace [rdb [rdb_string a 1]] end-7 end 12345678]
    assert {[string match "*RDB CRC error*" [failed_load $bytes]]}
    # … unless verification is turned off.
    with_server {} {
        write_data $bytes
        $current_server kill
        $current_server launch_with {rdbchecksum no}
        r GET a
    }
} 1
check_in 2 "so do keys of unsupported types, with their names" {
    string match "*my value*" [failed_load [rdb [rdb_string a 1] [rdb_module "my value"]]]
} 1
check_in 2 "the log names the directive that skips them" {
    with_server {} {
        write_data [rdb [rdb_module s]]
        $current_server kill
        lassign [$current_server fail_to_start] status log
        string match "*rdb-skip-unknown-types*Error loading dump.rdb*" $log
    }
} 1
foreach {type item} [list "hash with a template" \x1d[rdb_text key] array \x1c[rdb_text key] \
        "a key with metadata of a module" \xf3] {
    check_in 2 "the log does not name it for what cannot be skipped: $type" {
        with_server {} {
            write_data [rdb [rdb_string a 1] $item]
            $current_server kill
            foreach skips {no yes} done {loaded skipped} {
                $current_server set_directives [list rdb-skip-unknown-types $skips]
                lassign [$current_server fail_to_start] status log
                assert_match "*Error loading dump.rdb*can't be $done*" $log
                assert_match "*$type*" $log
                assert {![string match "*With rdb-skip-unknown-types*" $log]}
            }
        }
    } ""
}
check_in 2 "rdb-skip-unknown-types leaves them out" {
    with_server {} {
        write_data [rdb [rdb_string a 1] [rdb_module "my value"] [rdb_select 2] [rdb_module other] [rdb_string b 2]]
        $current_server kill
        $current_server launch_with {rdb-skip-unknown-types yes}
        assert_equal [list [r GET a] [r DBSIZE] [r SELECT 2] [r GET b]] {1 1 OK 2}
        assert {[string match "*Left out: key \"my value\" of database 0, a module*" [$current_server log]]}
        string match "*Left out: key \"other\" of database 2, a module*" [$current_server log]
    }
} 1
check_in 2 "a key without elements is left out, with a line in the log" {
    with_server {} {
        set empty {}
        for {set i 1} {$i <= 12} {incr i} {lappend empty [rdb_empty_set "set $i"]}
        write_data [rdb [rdb_string a 1] {*}$empty [rdb_string b 2]]
        $current_server kill
        $current_server launch
        set log [$current_server log]
        set left_out {Left out: key "set \d+" of database 0, a set without elements}
        list [r MGET a b] [r DBSIZE] [regexp -all $left_out $log] \
            [regexp {Left out: 12 keys in total without elements} $log]
    }
} {{1 2} 2 10 1}
check_in 2 "with hide-user-data-from-log the log names no key" {
    with_server {hide-user-data-from-log yes} {
        write_data [rdb [rdb_string a 1] [rdb_module secret]]
        $current_server kill
        $current_server launch_with {rdb-skip-unknown-types yes}
        assert {[string match {*Left out: key \*redacted\* of database 0, a module*} [$current_server log]]}
        $current_server kill
        foreach {bad named} [list [rdb [rdb_string secret 1] [rdb_string secret 2]] {key \*redacted\* is in} \
                [string range [rdb [rdb_string secret [string repeat x 100]]] 0 60] {in key \*redacted\* of type}] {
            write_data $bad
            lassign [$current_server fail_to_start] _ log
            assert {[string match "*$named*" $log]}
        }
        string match *secret* [$current_server log]
    }
} 0
check_in 2 "so does a key that is there twice, and a database that is not there" {
    assert {[string match {*"a" is in the database already} [failed_load [rdb [rdb_string a 1] [rdb_string a 2]]]]}
    failed_load [rdb [rdb_select 9] [rdb_string a 1]] --databases 9
} {*database 9, but the server has 9 (directive databases)} -match glob
check_in 2 "a file that cannot be read stops the start" {
    set folder [temporary_folder]
    file mkdir $folder/dump.rdb
    lassign [server_run [list --port [free_port] --dir $folder --logfile $folder/log]] status output
    set log [read_file $folder/log]
    file delete -force $folder
    list $status [string match "*Can't open dump.rdb*: Is a directory*" $log]
} {1 1}
check_in 2 "without a file it starts empty" {
    assert {![string match *oading* [$current_server log]]}
    r DBSIZE
} 0

# --- DEBUG RELOAD

check "DEBUG RELOAD saves and loads everything" {
    r SET text x
    r SET number 17 EX 1000
    r RPUSH list a b c
    r SELECT 5
    r RPUSH large {*}[lrepeat 5000 element]
    assert_equal [typed DEBUG RELOAD] {simple OK}
    assert_equal [list [r LLEN large] [r SELECT 0] [r GET text] [r GET number] [r LRANGE list 0 -1] [r DBSIZE]] \
        {5000 OK x 17 {a b c} 3}
    assert {[r TTL number] > 990}
    string match "*DB reloaded by DEBUG RELOAD*" [$current_server log]
} 1
check "DEBUG RELOAD NOSAVE brings back what is in the file" {
    r SET a 1
    r SAVE
    r SET a 2
    r SET b 2
    r DEBUG RELOAD nosave
    list [r GET a] [r EXISTS b]
} {1 0}
check "DEBUG RELOAD NOFLUSH keeps what is there; only MERGE lets the file replace it" {
    r SET a 1
    r SAVE
    r SET a 2
    r SET b 2
    assert_equal [error_of {r DEBUG RELOAD NOSAVE NOFLUSH}] \
        "ERR Error trying to load the RDB dump, check server logs."
    assert_equal [list [r GET a] [r GET b]] {2 2}
    assert_equal [r DEBUG RELOAD MERGE NOSAVE NOFLUSH] OK
    list [r GET a] [r GET b]
} {1 2}
check "DEBUG RELOAD says when there is nothing to load, or nothing can be saved" {
    file delete [$current_server folder]/dump.rdb
    assert_equal [error_of {r DEBUG RELOAD NOSAVE}] "ERR Error trying to load the RDB dump, check server logs."
    file mkdir [$current_server folder]/dump.rdb/folder
    r SET a 1
    set error [error_of {r DEBUG RELOAD}]
    file delete -force [$current_server folder]/dump.rdb
    list $error [r GET a]
} {ERR 1}
check "DEBUG RELOAD knows no other options" {error_of {r DEBUG RELOAD NOW}} \
    "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."
check "a client that waits for a key is served when it is loaded" {
    r RPUSH l a
    r SAVE
    r DEL l
    set c [client_blocked BLPOP l 0]
    r DEBUG RELOAD NOSAVE
    $c read
} {l a}

finish
