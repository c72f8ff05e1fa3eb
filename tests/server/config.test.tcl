# CONFIG: looking at directives, changing them, keeping the changes.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-protected-configs yes}

# Every directive: its default, whether CONFIG SET may change it, values it takes as {given shown …}, and values
# that it refuses. The defaults of port, bind and what the framework sets are not looked at.
set directives {
    bind                       {*}                  yes {}                              {}
    port                       {*}                  yes {}                              {-1 65536 abc ""}
    protected-mode             yes                  yes {no no YES yes}                 {maybe 1 ""}
    tcp-backlog                511                  no  {}                              {}
    unixsocket                 {}                   no  {}                              {}
    unixsocketperm             0                    no  {}                              {}
    unixsocketgroup            {}                   no  {}                              {}
    hide-user-data-from-log    no                   yes {yes yes no no}                 {1 ""}
    set-proc-title             yes                  no  {}                              {}
    proc-title-template        {{title} {listen-addr} {server-mode}}
                                                    yes {{x {port}} {x {port}}}         {"" {{nosuch}} {{}}}
    oom-score-adj              no                   yes {absolute absolute no no relative yes yes yes no no}
                                                        {"" maybe}
    oom-score-adj-values       {0 200 800}          yes {{-2000 0 2000} {-2000 0 2000} {3 2 1} {3 2 1}}
                                                        {"" 1 {1 2} {1 2 3 4} {a b c} {-2001 0 0} {0 0 2001}}
    hash-max-listpack-entries  512                  yes {0 0 9223372036854775807 9223372036854775807}
                                                        {-1 1kb abc 9223372036854775808}
    hash-max-listpack-value    64                   yes {1kb 1024}                      {-1 abc}
    set-max-intset-entries     512                  yes {0 0}                           {-1 1kb}
    set-max-listpack-entries   128                  yes {0 0}                           {-1 1kb}
    set-max-listpack-value     64                   yes {0 0}                           {-1 1kb}
    zset-max-listpack-entries  128                  yes {0 0}                           {-1 1kb}
    zset-max-listpack-value    64                   yes {1kb 1024}                      {-1 abc}
    hll-sparse-max-bytes       3000                 yes {1kb 1024}                      {-1 abc}
    stream-node-max-bytes      4096                 yes {1kb 1024}                      {-1 abc}
    stream-node-max-entries    100                  yes {0 0}                           {-1 1kb}
    stream-idmp-duration       100                  yes {86400 86400}                   {0 86401 -1 1s}
    stream-idmp-maxsize        100                  yes {10000 10000}                   {0 10001 -1 1kb}
    timeout                    0                    yes {300 300 0 0}                   {-1 abc 1.5 2147483648}
    tcp-keepalive              300                  yes {0 0 60 60}                     {-1 abc}
    maxclients                 10000                yes {50 50 10000 10000}             {0 -1 abc 4294967296}
    requirepass                {}                   yes {{a b} {a b} {} {}}             {}
    proto-max-bulk-len         536870912            yes {1mb 1048576 32gb 34359738368}  {100 1048575 32769mb abc -1}
    client-query-buffer-limit  1073741824           yes {2m 2000000 1mb 1048576 1gb 1073741824} {1m 100 abc}
    client-output-buffer-limit
        {normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60}
        yes
        {{normal 1mb 2kb 3} {normal 1048576 2048 3 slave 268435456 67108864 60 pubsub 33554432 8388608 60}
         {replica 1g 1k 1 pubsub 5 4 3 normal 0 0 0} {normal 0 0 0 slave 1000000000 1000 1 pubsub 5 4 3}}
        {normal {normal 1 2} {normal a b c} {nosuch 0 0 0} {normal 0 0 -1} {normal 0 0 0 slave}}
    daemonize                  no                   no  {}                              {}
    pidfile                    {*}                  no  {}                              {}
    log-format                 legacy               yes {json json LOGFMT logfmt legacy legacy} {xml ""}
    log-timestamp-format       legacy               yes {iso8601 iso8601 milliseconds milliseconds} {rfc ""}
    aof-load-corrupt-tail-max-size 0                yes {1 1 1000000 1000000} {-1 x}
    slowlog-entry-max-string-len 128                yes {1 1 4096 4096} {0 -1 x}
    loglevel                   notice               yes {debug debug WARNING warning nothing nothing} {loud ""}
    logfile                    {}                   no  {}                              {}
    databases                  16                   no  {}                              {}
    hz                         10                   yes {100 100 0 1 2147483647 500 10 10}
                                                        {-1 2147483648 abc ""}
    enable-debug-command       yes                  no  {}                              {}
    enable-protected-configs   yes                  no  {}                              {}
    shutdown-on-sigint         default              yes {{save now} {save now} {FORCE nosave} {nosave force}
                                                         {default now} now default default
                                                         {failover safe now} {now safe failover} default default}
                                                        {"" abort {save nosave}}
    shutdown-on-sigterm        default              yes {nosave nosave default default} {"" abort}
    list-max-listpack-size     -2                   yes {128 128 -5 -5 0 0}             {abc "" 1.5}
    list-max-ziplist-size      -2                   yes {64 64 -1 -1}                   {abc}
    list-compress-depth        0                    yes {3 3 0 0}                       {-1 abc}
    maxmemory                  0                    yes {2gb 2147483648
                                                         18446744073709551615 18446744073709551615
                                                         17179869183gb 18446744072635809792 0 0}
                                                        {-1 abc 5% 18446744073709551616 17179869184gb}
    maxmemory-clients          0                    yes {5% 5% 1g 1000000000 0% 0}      {-1 -1% 101% abc %}
    maxmemory-eviction-tenacity 10                  yes {0 0 100 100 10 10}             {-1 101 abc}
    maxmemory-policy           noeviction           yes {allkeys-lru allkeys-lru VOLATILE-ttl volatile-ttl
                                                         volatile-lrm volatile-lrm allkeys-LRM allkeys-lrm
                                                         noeviction noeviction}         {none ""}
    maxmemory-samples          5                    yes {1 1 64 64 5 5}                 {0 65 100000000 abc}
    lfu-decay-time             1                    yes {0 0 1 1}                       {-1 abc}
    lfu-log-factor             10                   yes {0 0 10 10}                     {-1 abc}
    active-expire-effort       1                    yes {10 10 1 1}                     {0 11 abc}
    slowlog-log-slower-than    10000                yes {-1 -1 0 0 10000 10000}         {-2 abc 1.5}
    slowlog-max-len            128                  yes {0 0 1000000 1000000 128 128}   {-1 abc}
    dir                        {*}                  yes {}                              {"" /nosuch /dev/null}
    dbfilename                 dump.rdb             yes {x.rdb x.rdb "" "" dump.rdb dump.rdb} {a/b /x}
    save                       {}                   yes {{900 1 300 10} {900 1 300 10} {60 0} {60 0} {} {}}
                                                        {900 {0 1} {a b} {1 -1}}
    stop-writes-on-bgsave-error yes                 yes {no no yes yes}                 {1 ""}
    rdbcompression             yes                  yes {no no yes yes}                 {1 ""}
    rdbchecksum                yes                  no  {}                              {}
    rdb-save-incremental-fsync yes                  yes {no no yes yes}                 {1 ""}
    rdb-skip-unknown-types     no                   yes {yes yes no no}                 {1 ""}
    rdb-del-sync-files         no                   yes {yes yes no no}                 {1 ""}
    latency-monitor-threshold  0                    yes {100 100 0 0}                   {-1 abc}
    latency-tracking           yes                  yes {no no yes yes}                 {1 ""}
    latency-tracking-info-percentiles {50 99 99.9}  yes {"" "" {0 5.50 99.12345678 100.0} {0 5.5 99.123457 100}
                                                         {50 99 99.9} {50 99 99.9}}     {abc {50 101} {-1} {50 x}}
}

proc config_get {name} {
    return [dict get [r CONFIG GET $name] $name]
}

# The error of a CONFIG SET that names the directive at fault.
proc set_error {name reason} {
    return "ERR CONFIG SET failed (possibly related to argument '$name') - $reason"
}

# --- CONFIG GET

check "CONFIG GET answers name and value" {
    lindex [typed CONFIG GET databases] 1
} {{bulk databases} {bulk 16}}
check_in 2 "CONFIG GET answers an array in RESP2" {lindex [typed CONFIG GET hz] 0} array
check_in 3 "CONFIG GET answers a map in RESP3" {typed CONFIG GET hz} {map {{bulk hz} {bulk 10}}}
check "CONFIG GET knows every directive, in any case, with its default" {
    foreach {name default _ _ _} $directives {
        set answer [r CONFIG GET [string toupper $name]]
        assert {[string equal -nocase [lindex $answer 0] $name]}
        assert {$default eq "*" || [lindex $answer 1] eq $default}
    }
}
check "CONFIG GET matches glob patterns" {
    set found [r CONFIG GET list-*]
    assert_equal [lsort [dict keys $found]] \
        {list-compress-depth list-max-listpack-size list-max-ziplist-size}
    assert_equal [lsort [dict keys [r CONFIG GET {unixsocket*}]]] {unixsocket unixsocketgroup unixsocketperm}
    assert_equal [dict keys [r CONFIG GET {h[yz]}]] hz
    assert_equal [dict keys [r CONFIG GET *BACKLOG]] tcp-backlog
    r CONFIG GET nosuch*
} {}
check "CONFIG GET * shows every directive once" {
    set names [dict keys [r CONFIG GET *]]
    foreach {name _ _ _ _} $directives {
        assert {$name in $names}
    }
    assert_equal [llength [r CONFIG GET *]] [expr {2 * [llength [lsort -unique $names]]}]
}
check "CONFIG GET takes several patterns and shows a directive once" {
    set found [r CONFIG GET hz nosuch hz DATAB* datab*ses]
    assert_equal [llength $found] 4
    list [dict get $found hz] [dict get $found databases]
} {10 16}
check "CONFIG GET shows what clients look for" {
    list [config_get save] [config_get appendonly] [config_get maxmemory] [config_get maxmemory-policy]
} {{} no 0 noeviction}
check "CONFIG GET shows hidden directives only by their whole names" {
    assert {[llength [r CONFIG GET key-load-dela?]] == 0}
    list [config_get key-load-delay] [config_get rdb-key-save-delay] \
        [config_get loading-process-events-interval-bytes]
} {0 0 2097152}
check_error "CONFIG GET needs a pattern" {r CONFIG GET} "ERR wrong number of arguments for 'config|get' command"

# --- CONFIG SET

foreach {name default mutable values refused} $directives {
    if {!$mutable} {
        check_error "CONFIG SET refuses to change $name at run time" [list r CONFIG SET $name 1] \
            [set_error $name "can't set immutable config"]
        continue
    }
    check "CONFIG SET $name takes what it should and refuses the rest" [string map \
        [list @name $name @values [list $values] @refused [list $refused]] {
        set before [config_get @name]
        try {
            foreach {given shown} @values {
                assert_equal [typed CONFIG SET @name $given] {simple OK}
                assert_equal [config_get @name] $shown
            }
            foreach given @refused {
                assert {[string match [set_error @name *] [error_of {r CONFIG SET @name $given}]]}
            }
        } finally {
            r CONFIG SET @name $before
        }
        assert_equal [config_get @name] $before
    }]
}
check "CONFIG SET says what is wrong" {
    foreach {name value reason} {
        maxclients abc "argument couldn't be parsed into an integer"
        maxclients 0 "argument must be between 1 and 4294967295 inclusive"
        port 65536 "argument must be between 0 and 65535 inclusive"
        proto-max-bulk-len 5x "argument must be a memory value"
        proto-max-bulk-len 100 "argument must be between 1048576 and 34359738368 inclusive"
        protected-mode maybe "argument must be 'yes' or 'no'"
        loglevel loud "argument(s) must be one of the following: debug, verbose, notice, warning, nothing"
        client-output-buffer-limit normal "Wrong number of arguments in buffer limit configuration."
        client-output-buffer-limit "nosuch 0 0 0"
            "Invalid client class specified in buffer limit configuration."
        client-output-buffer-limit "normal a 0 0"
            "Error in hard, soft or soft_seconds setting in buffer limit configuration."
    } {
        assert_equal [error_of {r CONFIG SET $name $value}] [set_error $name $reason]
    }
}
check "CONFIG SET takes names in any case" {
    r CONFIG SET HZ 20
    set shown [config_get hz]
    r CONFIG SET Hz 10
    list $shown [config_get hz]
} {20 10}
check_error "CONFIG SET refuses what is no directive" {r CONFIG SET nosuch x} \
    "ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'"
check "CONFIG SET changes several directives at once" {
    r CONFIG SET timeout 100 hz 50 list-compress-depth 2
    set shown [list [config_get timeout] [config_get hz] [config_get list-compress-depth]]
    r CONFIG SET timeout 0 hz 10 list-compress-depth 0
    set shown
} {100 50 2}
check "CONFIG SET changes all or nothing" {
    foreach {pairs expected} {
        {timeout 100 maxclients abc} {CONFIG SET failed (possibly related to argument 'maxclients')}
        {timeout 100 databases 4} {argument 'databases') - can't set immutable config}
        {timeout 100 nosuch 1} {Unknown option or number of arguments for CONFIG SET - 'nosuch'}
        {timeout 100 hz 20 TIMEOUT 200} {- duplicate parameter}
        {timeout 100 bind 192.0.2.77} {argument 'bind')}
        {hz 20 timeout 100 port 70000} {argument 'port')}
    } {
        assert {[string match "*$expected*" [error_of {r CONFIG SET {*}$pairs}]]}
        assert_equal [list [config_get timeout] [config_get hz] [r PING]] {0 10 PONG}
    }
}
check_error "CONFIG SET needs a value for each directive" {r CONFIG SET hz 10 timeout} "ERR syntax error"
check_error "CONFIG SET needs a directive and a value" {r CONFIG SET hz} \
    "ERR wrong number of arguments for 'config|set' command"
check "the alias list-max-ziplist-size is the same directive" {
    r CONFIG SET list-max-ziplist-size 5
    set shown [config_get list-max-listpack-size]
    r CONFIG SET list-max-listpack-size -2
    list $shown [config_get list-max-ziplist-size]
} {5 -2}
check "CONFIG GET lists a directive by its name and by its alias, each once" {
    set both {list-max-listpack-size -2 list-max-ziplist-size -2}
    assert_equal [r CONFIG GET list-max-*] $both
    assert_equal [r CONFIG GET list-max-* LIST-MAX-ZIPLIST-SIZE list-max-listpack-size] $both
    r CONFIG GET LIST-MAX-ZIPLIST-SIZE
} {LIST-MAX-ZIPLIST-SIZE -2}
check "CONFIG SET takes a name and its alias together, but neither twice" {
    r CONFIG SET list-max-listpack-size 7 list-max-ziplist-size 5
    set shown [config_get list-max-listpack-size]
    r CONFIG SET list-max-ziplist-size 5 list-max-listpack-size -2
    lappend shown [config_get list-max-ziplist-size]
    lappend shown [error_of {r CONFIG SET list-max-ziplist-size 5 List-Max-Ziplist-Size 6}]
} {5 -2 {ERR CONFIG SET failed (possibly related to argument 'List-Max-Ziplist-Size') - duplicate parameter}}

# --- Changes take effect

check "list-max-listpack-size holds for the next push" {
    with_config {list-max-listpack-size 3} {
        r RPUSH l a b c
        set before [r OBJECT ENCODING l]
        r RPUSH l d
        list $before [r OBJECT ENCODING l]
    }
} {listpack quicklist}
check "list-compress-depth holds for lists that are written afterwards" {
    with_config {list-max-listpack-size 16 list-compress-depth 1} {
        r RPUSH l {*}[lrepeat 200 [string repeat text 20]]
        regexp {ql_compressed:1} [r DEBUG OBJECT l]
    }
} 1
check_in 2 "port moves the server, and connected clients stay" {
    with_server {} {
        set old [client_open]
        set port [free_port]
        $old call CONFIG SET port $port
        set moved [client new 127.0.0.1 $port]
        assert_equal [$moved call PING] PONG
        assert {[catch {socket 127.0.0.1 [$current_server port]}]}
        $old call CONFIG SET port [$current_server port]
        list [$old call PING] [$moved call PING] [[client_open] call PING]
    }
} {PONG PONG PONG}
check_in 2 "a port that is taken is refused and the old one goes on" {
    with_server {} {
        set taken [socket -server {} -myaddr 127.0.0.1 0]
        set port [lindex [chan configure $taken -sockname] 2]
        set error [error_of {r CONFIG SET port $port}]
        close $taken
        assert {[string match "ERR CONFIG SET failed (possibly related to argument 'port') - *" $error]}
        list [config_get port] [[client_open] call PING]
    }
} "* PONG" -match glob
check_in 2 "bind moves the server to other addresses" {
    with_server {} {
        set port [$current_server port]
        r CONFIG SET bind "127.0.0.1 127.0.0.2"
        assert_equal [[client new 127.0.0.2 $port] call PING] PONG
        r CONFIG SET bind 127.0.0.1
        assert {[catch {socket 127.0.0.2 $port}]}
        config_get bind
    }
} 127.0.0.1
# --- The process

proc title_of {pid} {
    return [string trimright [string map {\0 " "} [read_file /proc/$pid/cmdline]]]
}

proc oom_score_of {pid} {
    return [string trim [read_file /proc/$pid/oom_score_adj]]
}

check_in 2 "the process shows proc-title-template" {
    with_server {} {
        set pid [$current_server pid]
        set port [$current_server port]
        assert {[string match "*packlist-server* 127.0.0.1:$port" [title_of $pid]]}
        r CONFIG SET proc-title-template "{port}|{listen-addr} {server-mode} |{tls-port}{unixsocket}|{config-file}"
        assert_equal [title_of $pid] "$port|127.0.0.1:$port  |0|[$current_server folder]/packlist.conf"
        r CONFIG SET proc-title-template [string repeat x 100000]
        assert {[string match xxx* [title_of $pid]]}
        r CONFIG SET proc-title-template " short "
        assert_equal [title_of $pid] short
        r CONFIG REWRITE
        set other [free_port]
        r CONFIG SET proc-title-template {p {port}} port $other
        assert_equal [title_of $pid] "p $other"
        r CONFIG SET port $port
        string match "*\nproc-title-template \" short \"\n*" [read_file [$current_server folder]/packlist.conf]
    }
} 1
check_in 2 "with set-proc-title no the command line stays" {
    with_server {set-proc-title no} {
        title_of [$current_server pid]
    }
} "*packlist-server*/packlist.conf" -match glob
check_in 2 "oom-score-adj raises the score, and is refused where the system does not allow a score" {
    set initial [oom_score_of [pid]]
    with_server {} {
        set pid [$current_server pid]
        set high [expr {min($initial + 100, 1000)}]
        r CONFIG SET oom-score-adj absolute oom-score-adj-values "$high 200 800"
        assert_equal [oom_score_of $pid] $high
        if {[catch {exec sh -c "echo -1000 > /proc/$pid/oom_score_adj"}]} {
            assert_equal [error_of {r CONFIG SET hz 20 oom-score-adj-values "-1000 0 0"}] \
                [set_error oom-score-adj-values "Failed to set current oom_score_adj. Check server logs."]
            assert_equal [list [config_get oom-score-adj-values] [config_get hz]] [list "$high 200 800" 10]
        }
        r CONFIG SET oom-score-adj no
        assert {[oom_score_of $pid] == $initial}
        r CONFIG SET oom-score-adj yes oom-score-adj-values "2000 0 0"
        oom_score_of $pid
    }
} 1000

# --- Where it listens

# A socket that listens on a port of its own.
proc taken_port {socket_name} {
    upvar $socket_name socket
    set socket [socket -server {} -myaddr 127.0.0.1 0]
    return [lindex [chan configure $socket -sockname] 2]
}

# The sockets on which the process listens.
proc listening_sockets {} {
    set pid [$::current_server pid]
    set listening {}
    foreach line [lrange [split [string trim [read_file /proc/$pid/net/tcp]] \n] 1 end] {
        if {[lindex $line 3] eq "0A"} {
            lappend listening [lindex $line 9]
        }
    }
    set own {}
    foreach file [glob /proc/$pid/fd/*] {
        if {![catch {file readlink $file} target] && [regexp {socket:\[(\d+)\]} $target _ inode]
                && $inode in $listening} {
            lappend own $inode
        }
    }
    return [lsort $own]
}

check_in 2 "a socket that goes on being wanted is not closed, whether CONFIG SET succeeds or fails" {
    with_server {} {
        set before [listening_sockets]
        set taken [taken_port socket]
        assert {[error_of {r CONFIG SET port $taken}] ne ""}
        assert_equal [listening_sockets] $before
        assert {[error_of {r CONFIG SET bind "127.0.0.1 192.0.2.77"}] ne ""}
        assert_equal [listening_sockets] $before
        assert {[error_of {r CONFIG SET bind -192.0.2.77}] ne ""}
        assert_equal [listening_sockets] $before
        close $socket
        r CONFIG SET bind "127.0.0.2 127.0.0.1 -192.0.2.77"
        assert {[lindex $before 0] in [listening_sockets]}
        r CONFIG SET bind "127.0.0.1 127.0.0.1"
        assert_equal [listening_sockets] $before
        r CONFIG SET bind *
        assert_equal [[client new 127.0.0.2 [$current_server port]] call PING] PONG
        set everywhere [listening_sockets]
        set taken [taken_port socket]
        assert {[error_of {r CONFIG SET port $taken bind 127.0.0.1}] ne ""}
        assert_equal [listening_sockets] $everywhere
        close $socket
        # * must close before 127.0.0.1 opens, and comes back.
        assert {[error_of {r CONFIG SET bind "127.0.0.1 192.0.2.77"}] ne ""}
        assert_equal [config_get bind] *
        assert_equal [[client new 127.0.0.2 [$current_server port]] call PING] PONG
        r CONFIG SET bind 127.0.0.1
        [client_open] call PING
    }
} PONG
check_in 2 "when a directive beside it fails, appendonly leaves no file and the old file goes on" {
    with_server {} {
        set folder [$current_server folder]
        r SET k 1
        set taken [taken_port socket]
        foreach pairs {{appendonly yes port $taken} {port $taken appendonly yes}} {
            assert {[string match "*argument 'port')*" [error_of {r CONFIG SET {*}[subst $pairs]}]]}
            assert_equal [config_get appendonly] no
        }
        assert_equal [glob -nocomplain -directory $folder appendonlydir *.aof] {}
        r CONFIG SET appendonly yes
        wait_until {[info_field aof_rewrite_in_progress] == 0 && [info_field aof_rewrite_scheduled] == 0}
        set manifest [read_file $folder/appendonlydir/appendonly.aof.manifest]
        assert {[error_of {r CONFIG SET appendonly no port $taken}] ne ""}
        close $socket
        assert_equal [list [config_get appendonly] [info_field aof_enabled]] {yes 1}
        r SET k 2
        assert_equal [read_file $folder/appendonlydir/appendonly.aof.manifest] $manifest
        assert_equal [info_field aof_rewrite_in_progress] 0
        $current_server kill
        $current_server launch_with {appendonly yes}
        [client_open] call GET k
    }
} 2
check_in 2 "when a directive beside it fails, taking the password away lets no client in" {
    with_server {requirepass secret} {
        set stranger [client_open]
        r AUTH secret
        set taken [taken_port socket]
        assert {[error_of {r CONFIG SET requirepass "" port $taken}] ne ""}
        close $socket
        assert_equal [config_get requirepass] secret
        error_of {$stranger call PING}
    }
} "NOAUTH Authentication required."
check_in 2 "log-format and log-timestamp-format decide how lines look from now on" {
    with_server {log-format json log-timestamp-format milliseconds enable-debug-command yes} {
        set text "a \"b\" \\ \xc3\xbc \xff"
        set json {^\{"pid":\d+,"role":"primary","timestamp":"\d{13}","level":"(notice|warning)","message":"[^"]+"\}$}
        foreach line [split [string trim [$current_server log]] \n] {
            assert {[regexp $json $line]}
        }
        foreach {format timestamp} {json milliseconds logfmt iso8601 legacy iso8601 legacy legacy} {
            r CONFIG SET log-format $format log-timestamp-format $timestamp
            r DEBUG LOG $text
        }
        lmap pattern {
            {{"pid":PID,"role":"primary","timestamp":"\d{13}","level":"warning","message":"MARK a \\"b\\" \\\\ UTF \?"}}
            {pid=PID role=primary timestamp="DATETTIME\.\d{3}ZONE" level=warning message="MARK a 'b' \\\\ UTF BYTE"}
            {PID:M DATETTIME\.\d{3}ZONE # DEBUG LOG: a "b" \\ UTF BYTE}
            {PID:M \d\d \w{3} 20\d\d TIME\.\d{3} # DEBUG LOG: a "b" \\ UTF BYTE}
        } {
            if {[string index $pattern 0] eq "\{"} {
                set pattern "\\$pattern"
            }
            set pattern [string map [list PID [$current_server pid] UTF "\xc3\xbc" BYTE "\xff" \
                DATE {20\d\d-\d\d-\d\d} TIME {\d\d:\d\d:\d\d} ZONE {[+-]\d\d:\d\d} MARK "DEBUG LOG:"] $pattern]
            regexp -line ^$pattern\$ [$current_server log]
        }
    }
} {1 1 1 1}
check_in 2 "loglevel decides what is logged from now on" {
    with_server {loglevel nothing} {
        set quiet [string length [$current_server log]]
        [client_open] write "*x\r\n"
        r PING
        assert_equal [string length [$current_server log]] $quiet
        r CONFIG SET loglevel debug
        set c [client_open]
        $c write "*x\r\n"
        $c read_all
        wait_until {[string match "*Protocol error*" [$current_server log]]}
    }
}

# --- CONFIG RESETSTAT, HELP

check "CONFIG RESETSTAT zeroes what INFO counts" {
    r GET nosuch
    error_of {r NOSUCH}
    assert_equal [typed CONFIG RESETSTAT] {simple OK}
    list [info_field keyspace_misses] [info_field total_error_replies] [info_field rejected_connections] \
        [expr {[info_field total_commands_processed] < 10}]
} {0 0 0 1}
check_error "CONFIG RESETSTAT takes no argument" {r CONFIG RESETSTAT x} \
    "ERR wrong number of arguments for 'config|resetstat' command"
check "CONFIG HELP names every subcommand" {
    set help [r CONFIG HELP]
    foreach word {GET SET RESETSTAT REWRITE HELP} {
        assert {[lsearch -glob $help $word*] > 0}
    }
    lindex $help 0
} {CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:}
check_error "CONFIG knows no other subcommand" {r CONFIG NOSUCH} "ERR unknown subcommand 'NOSUCH'. Try CONFIG HELP."
check_error "CONFIG needs a subcommand" {r CONFIG} "ERR wrong number of arguments for 'config' command"

# --- CONFIG REWRITE

# Starts a server with this file, sets `settings`, and calls CONFIG REWRITE. Returns the text of the file. PORT
# and FOLDER stand for the server's own.
proc rewritten {text settings} {
    with_server {} {
        set path [$::current_server folder]/packlist.conf
        set facts [list " PORT\n" " [$::current_server port]\n" " FOLDER\n" " [$::current_server folder]\n"]
        write_file $path [string map $facts $text]
        foreach {name value} $settings {
            r CONFIG SET $name $value
        }
        assert_equal [typed CONFIG REWRITE] {simple OK}
        return [string map [lreverse $facts] [read_file $path]]
    }
}

set file {# A comment at the top.

port PORT
dir FOLDER
# What it is good for.
bind 127.0.0.1
save ""
enable-debug-command yes

   # an indented comment
hz 10
timeout   0
# the last one
}

check_in 2 "CONFIG REWRITE leaves a file alone whose values are in force" {
    assert_equal [rewritten $file {}] $file
}
check_in 2 "CONFIG REWRITE changes lines in their place and keeps comments and order" {
    rewritten $file {hz 77 timeout 30}
} [string map {"hz 10" "hz 77" "timeout   0" "timeout 30"} $file]
check_in 2 "CONFIG REWRITE appends what has no line, once" {
    with_server {} {
        set path [$current_server folder]/packlist.conf
        set before [read_file $path]
        r CONFIG SET maxclients 123
        r CONFIG SET requirepass "two words"
        r CONFIG SET client-output-buffer-limit "normal 1mb 0 0"
        r CONFIG SET proto-max-bulk-len 2mb
        foreach _ {1 2 3} {
            r CONFIG REWRITE
        }
        set text [read_file $path]
        assert_equal [string range $text 0 [string length $before]-1] $before
        foreach line {
            "# Generated by CONFIG REWRITE" "maxclients 123" "requirepass \"two words\"" "proto-max-bulk-len 2mb"
        } {
            assert_equal [regexp -all -line "^$line\$" $text] 1
        }
        assert_equal [regexp -all {client-output-buffer-limit} $text] 1
    }
}
# CONFIG GET * of another server, with a port and a folder of its own, that starts from a copy of the current one's
# file.
proc config_of_another {password} {
    set path [$::current_server folder]/packlist.conf
    set port [free_port]
    write_file $path.copy [read_file $path]
    file mkdir $path.folder
    set other [open [list | setpriv --pdeathsig KILL -- $::server_binary $path.copy --port $port \
        --dir $path.folder --logfile $path.log] w]
    try {
        wait_until {![catch {set c [client new 127.0.0.1 $port]}]} $::start_timeout_ms
        $c call AUTH $password
        set values [$c call CONFIG GET *]
        $c send SHUTDOWN NOSAVE
        $c is_closed
    } finally {
        catch {close $other}
    }
    return $values
}

# Starts with the first, rewrites with `command` and compares all directives of both.
foreach command {{CONFIG REWRITE} {DEBUG CONFIG-REWRITE-FORCE-ALL}} {
    check_in 2 "a server that starts with what $command wrote has the values of before" [string map [list @ $command] {
        with_server {} {
            r CONFIG SET maxclients 123 requirepass "a \"b\" 'c'" list-max-listpack-size 64 list-compress-depth 3 \
                client-output-buffer-limit "normal 1mb 512kb 7 pubsub 0 0 0" loglevel verbose timeout 77 hz 33 \
                protected-mode no maxmemory 1gb maxmemory-policy allkeys-lfu notify-keyspace-events KEA \
                appendfsync always save "900 1 60 10000" proc-title-template "{title} \"{listen-addr}\" x" \
                oom-score-adj relative oom-score-adj-values "1 2 3" shutdown-on-sigterm "nosave now" \
                latency-monitor-threshold 5 slowlog-log-slower-than -1 lfu-decay-time 0
            set before [r CONFIG GET *]
            assert_equal [typed @] {simple OK}
            set after [config_of_another "a \"b\" 'c'"]
            # The directives that the other server got as arguments.
            foreach name {port dir logfile} {
                dict set after $name [dict get $before $name]
            }
            assert_equal [dict keys $after] [dict keys $before]
            foreach {name value} $before {
                assert_equal "$name [dict get $after $name]" "$name $value"
            }
        }
    }]
}
check_in 2 "DEBUG CONFIG-REWRITE-FORCE-ALL also writes defaults, each once" {
    with_server {} {
        set path [$current_server folder]/packlist.conf
        r CONFIG REWRITE
        assert {![regexp -line {^(hz|timeout|lfu-decay-time) } [read_file $path]]}
        assert_equal [typed DEBUG CONFIG-REWRITE-FORCE-ALL] {simple OK}
        set text [read_file $path]
        foreach name {hz timeout lfu-decay-time maxmemory appendfsync notify-keyspace-events dir port bind} {
            assert_equal "$name [regexp -all -line "^$name " $text]" "$name 1"
        }
        r DEBUG CONFIG-REWRITE-FORCE-ALL
        assert_equal [read_file $path] $text
    }
}
check_in 2 "CONFIG REWRITE of a value back to its default keeps the line that says so" {
    rewritten $file {timeout 30 timeout 0 hz 20}
} [string map {"hz 10" "hz 20"} $file]
check_in 2 "CONFIG REWRITE writes through a link, and only the server's user may read the new file" {
    with_server {} {
        set path [$current_server folder]/packlist.conf
        file rename $path $path.real
        file link -symbolic $path $path.real
        file attributes $path.real -permissions 0640
        r CONFIG SET hz 66
        r CONFIG REWRITE
        list [file type $path] [regexp -all -line {^hz 66$} [read_file $path.real]] \
            [file attributes $path.real -permissions]
    }
} {link 1 00600}

finish
