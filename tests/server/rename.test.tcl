# rename-command: clients call a command by another name, or not at all; files and replicas keep its own name.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/aof.tcl
source $library/replica.tcl

server_start

# Runs the body with a server whose configuration has these lines of rename-command: old new ….
proc with_renamed {renames directives body} {
    set path [$::current_server folder]/renames.conf
    set text ""
    foreach {from to} $renames {
        append text "rename-command $from \"$to\"\n"
    }
    write_file $path $text
    uplevel 1 [list with_server [dict merge [list include $path] $directives] $body]
}

proc is_unknown {args} {
    return [string match "ERR unknown command *" [error_of {r {*}$args}]]
}

check "a command has its new name only, in any case, and with its subcommands" {
    with_renamed {SET XSET CONFIG secret-config} {} {
        assert_equal [r XSET k v] OK
        assert_equal [r xset k w] OK
        assert {[is_unknown SET k v] && [is_unknown CONFIG GET port]}
        assert_equal [r secret-CONFIG GET maxmemory] {maxmemory 0}
        assert_equal [error_of {r xset k}] "ERR wrong number of arguments for 'set' command"
        r GET k
    }
} w
check "a command with the new name \"\" is gone, for scripts, too" {
    with_renamed {FLUSHALL "" DEBUG ""} {} {
        assert {[is_unknown FLUSHALL] && [is_unknown DEBUG SLEEP 0]}
        assert_match "ERR Unknown Redis command called from script*" [error_of {r EVAL "redis.call('flushall')" 0}]
        r DBSIZE
    }
} 0
check "COMMAND lists what clients can call; a container is called by its new name in texts, too" {
    with_renamed {GET get-it DEL "" CONFIG settings MEMORY ""} {} {
        set count [r COMMAND COUNT]
        assert_equal [llength [r COMMAND]] $count
        assert_equal [llength [r COMMAND DOCS]] [expr {2 * $count}]
        foreach command {del memory memory|usage} {
            assert {$command ni [r COMMAND LIST]}
            assert_equal [r COMMAND INFO $command] (nil)
        }
        assert {"get" in [r COMMAND LIST] && "config|get" in [r COMMAND LIST]}
        assert {[lsearch -index 0 [r COMMAND] get] >= 0 && [lsearch -index 0 [r COMMAND] del] < 0}
        assert_equal [error_of {r settings FROB}] "ERR unknown subcommand 'FROB'. Try SETTINGS HELP."
        assert_match "SETTINGS <subcommand> *" [lindex [r settings HELP] 0]
        expr {[r COMMAND COUNT] - $count}
    }
} 0
check "two commands may change their names with each other" {
    with_renamed {SET tmp GET SET tmp GET} {} {
        r GET k v
        r SET k
    }
} v
check_in 2 "a renamed AUTH opens no door, and still authenticates" {
    with_renamed {AUTH login} {} {
        r CONFIG SET requirepass secret
        set c [client_open 2]
        foreach request {{GET k} {AUTH secret} {CONFIG GET *} LOGINX} {
            assert_equal [error_of {$c call {*}$request}] "NOAUTH Authentication required."
        }
        assert_match WRONGPASS* [error_of {$c call login wrong}]
        assert_equal [$c call login secret] OK
        $c call CONFIG SET requirepass ""
    }
} OK
check_in 2 "MONITOR and the slow log hide the password of a renamed AUTH" {
    with_renamed {AUTH login CONFIG settings} {} {
        r settings SET requirepass secret
        r settings SET slowlog-log-slower-than 0
        r login secret
        r settings SET requirepass newsecret
        set shown [r SLOWLOG GET 10]
        r settings SET requirepass ""
        string match *secret* $shown
    }
} 0
check_in 2 "CONFIG REWRITE keeps the lines" {
    with_server {rename-command {CONFIG "settings"}} {
        r settings SET maxmemory 100mb
        r settings REWRITE
        set text [read_file [$current_server folder]/packlist.conf]
        assert_match "*maxmemory 100mb*" $text
        string match "*rename-command CONFIG \"settings\"*" $text
    }
} 1
check_in 2 "files and replicas get the command's own name" {
    with_renamed {SET xset DEL "" LPUSH push GETEX getx SELECT choose} {appendonly yes} {
        lassign [replica_sync] c
        r choose 3
        r xset k v
        r push l a
        r EVAL "redis.call('xset', KEYS\[1\], 'x')" 1 s
        r getx k PXAT 99999999999999
        r xset gone 1 PX 1
        wait_until {[r DBSIZE] == 3}
        set commands [replica_commands $c 5]
        assert_equal [lmap command $commands {string toupper [lindex $command 0]}] {SELECT SET LPUSH SET PEXPIREAT}
        wait_written
        server_again crash
        r choose 3
        list [r GET k] [r LRANGE l 0 -1] [r GET s] [r DBSIZE]
    }
} {v a x 3}
check_in 2 "replicas get messages under the command's own name" {
    with_renamed {PUBLISH pub SPUBLISH spub} {} {
        lassign [replica_sync] c
        r pub ch one
        r spub shard two
        r EVAL "redis.call('pub', 'ch', 'three')" 0
        lmap command [replica_commands $c 3] {string toupper $command}
    }
} {{PUBLISH CH ONE} {SPUBLISH SHARD TWO} {PUBLISH CH THREE}}
check_in 2 "lines that cannot be honoured stop the start" {
    foreach {line reason} {
        {NOSUCH x} "No such command in rename-command"
        {SET get} "Target command name already exists"
        {SET POST} "This name is not possible for a command"
        {SET Host:} "This name is not possible for a command"
        {SET "two words"} "This name is not possible for a command"
        {SET} "wrong number of arguments"
        {SET a b} "wrong number of arguments"
    } {
        set path [$current_server folder]/bad.conf
        write_file $path "port [free_port]\nrename-command $line\n"
        lassign [server_run [list $path]] status output
        assert_equal $status 1
        assert_match "*$reason*" $output
    }
}
check_in 2 "a request of a web page is cut off however commands are called" {
    with_renamed {GET post-it} {} {
        set c [client_open 2]
        $c write "POST / HTTP/1.1\r\n"
        $c read_all
    }
} {}

finish
