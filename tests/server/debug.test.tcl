# DEBUG: what it shows of values, and the switches and probes for tests.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-debug-command yes}

set bad_subcommand "ERR unknown subcommand or wrong number of arguments for '%s'. Try DEBUG HELP."
set forbidden "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run\
it from a local connection, otherwise you need to set this option in the configuration file, and then restart the\
server."

# The fields of DEBUG OBJECT as a dictionary.
proc object_fields {key} {
    set fields {}
    foreach word [lrange [r DEBUG OBJECT $key] 1 end] {
        regexp {^(\w+):(.*)$} $word _ name value
        dict set fields $name $value
    }
    return $fields
}

proc object_field {key name} {
    return [dict get [object_fields $key] $name]
}

# --- Permission

check_error "DEBUG is not allowed when enable-debug-command says no" {
    with_server {enable-debug-command no} {r DEBUG SLEEP 0}
} $forbidden
check "DEBUG local allows it over the loopback interface" {
    with_server {enable-debug-command local} {r DEBUG SLEEP 0}
} OK
check_error "DEBUG needs a subcommand" {r DEBUG} "ERR wrong number of arguments for 'debug' command"
check "DEBUG refuses unknown subcommands and wrong numbers of arguments" {
    foreach {arguments name} {
        FOO FOO {foo bar} foo OBJECT OBJECT {OBJECT k x} OBJECT {LISTPACK k x} LISTPACK {SLEEP} SLEEP
        {PROTOCOL} PROTOCOL {POPULATE 1 k 1 x} POPULATE {HELP x} HELP {REPLYBUFFER x} REPLYBUFFER
        {replybuffer x y} replybuffer {CHANGE-REPL-ID x} CHANGE-REPL-ID
    } {
        assert_equal [error_of {r DEBUG {*}$arguments}] [format $bad_subcommand $name]
    }
}
check "DEBUG HELP names every subcommand" {
    set help [r DEBUG HELP]
    foreach word {CHANGE-REPL-ID DIGEST DIGEST-VALUE ERROR HTSTATS HTSTATS-KEY JMAP LISTPACK LOG OBJECT POPULATE
                  ASSERT CONFIG-REWRITE-FORCE-ALL
                  MALLCTL MALLCTL-STR OOM PANIC PAUSE-CRON PAUSE-THREADS SEGFAULT SET-SKIP-CHECKSUM-VALIDATION
                  STRUCTSIZE
                  PROTOCOL QUICKLIST QUICKLIST-PACKED-THRESHOLD REPLYBUFFER SET-ACTIVE-EXPIRE SLEEP
                  STRINGMATCH-LEN HELP} {
        assert {[lsearch -glob $help $word*] > 0}
    }
}

# --- DEBUG OBJECT

check "DEBUG OBJECT of a small list" {
    r RPUSH l a b c 1 2 3
    regexp {^Value at:0x[0-9a-f]+ refcount:1 encoding:listpack serializedlength:25 lru:\d+ lru_seconds_idle:0$} \
        [r DEBUG OBJECT l]
} 1
check "DEBUG OBJECT is a simple string" {
    r SET s x
    lindex [typed DEBUG OBJECT s] 0
} simple
check_error "DEBUG OBJECT of a missing key" {r DEBUG OBJECT nosuch} "ERR no such key"
check "serializedlength of strings is that of an RDB file" {
    foreach {value length} {
        hello 6 "" 1 0 2 -1 2 127 2 128 3 -32768 3 32768 5 2147483647 5 2147483648 11 01 3
    } {
        r SET s $value
        assert_equal [list $value [object_field s serializedlength]] [list $value $length]
    }
    r SET s [string repeat a 100]
    assert {[object_field s serializedlength] < 20}
    set random ""
    for {set i 0} {$i < 100} {incr i} { append random [format %c [expr {$i * 89 % 251 + 1}]] }
    r SET s $random
    object_field s serializedlength
} 102
check "DEBUG OBJECT of a quicklist has its node figures" {
    with_config {list-max-listpack-size 3 list-compress-depth 0} {
        for {set i 1} {$i <= 10} {incr i} { r RPUSH q elem$i }
    }
    set fields [object_fields q]
    lmap name {encoding serializedlength ql_nodes ql_avg_node ql_listpack_max ql_compressed ql_uncompressed_size} {
        dict get $fields $name
    }
} {quicklist 108 4 2.50 3 0 99}
check "DEBUG OBJECT shows that a list is compressed, and how far" {
    with_config {list-max-listpack-size 100 list-compress-depth 1} {
        for {set i 0} {$i < 1000} {incr i} { r RPUSH q [string repeat a 50]$i }
    }
    set fields [object_fields q]
    assert_equal [dict get $fields ql_compressed] 1
    assert_equal [dict get $fields ql_nodes] 10
    expr {[dict get $fields serializedlength] * 5 < [dict get $fields ql_uncompressed_size]}
} 1
check "lru_seconds_idle grows and DEBUG OBJECT does not touch the key" {
    r SET s x
    wait_until {[object_field s lru_seconds_idle] >= 1}
    r GET s
    object_field s lru_seconds_idle
} 0

# --- DEBUG DIGEST and DIGEST-VALUE

check "DEBUG DIGEST of no data is zero" {r DEBUG DIGEST} [string repeat 0 40]
check "DEBUG DIGEST covers keys, values and databases, as in Redis" {
    r SET a 123
    r RPUSH l 1 two [string repeat 3 100]
    r SELECT 5
    r SET x ""
    typed DEBUG DIGEST
} {simple 5315a3c805aad8002a29fdbab15259c4d7cf37b4}
check "DEBUG DIGEST counts keys that have expired and are still there" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    set before [r DEBUG DIGEST]
    r SET k v PX 1
    after 10
    set during [r DEBUG DIGEST]
    r EXISTS k
    r DEBUG SET-ACTIVE-EXPIRE 1
    list [expr {$during eq $before}] [expr {[r DEBUG DIGEST] eq $before}]
} {0 1}
check "DEBUG DIGEST-VALUE replies a digest for each value, zeros where there is none" {
    r SET a 123
    r SET b [string repeat hello 30] PX 1000000
    r RPUSH l 1 two [string repeat 3 100]
    assert_equal [typed DEBUG DIGEST-VALUE] {array {}}
    typed DEBUG DIGEST-VALUE a nosuch b l
} "array {{simple 89f7f51b707418f666d5b45e053bd5bbbf82ac2b} {simple [string repeat 0 40]}\
    {simple bc5c8dee8dc3d4b98d3a471de172b8f04ec18cd9} {simple 5911ee2b7bdc28944f2420035320faa0ce33a3b3}}"
check "DEBUG DIGEST-VALUE does not depend on the encoding" {
    r RPUSH l a b c 1 2 3
    with_config {list-max-listpack-size 2 list-compress-depth 1} {r RPUSH m a b c 1 2 3}
    lassign [r DEBUG DIGEST-VALUE l m] first second
    expr {$first eq $second}
} 1

# --- DEBUG LISTPACK and QUICKLIST

check "DEBUG LISTPACK shows each element as it is stored" {
    r RPUSH l a 1 [string repeat x 70] ""
    set lines [split [string trim [r DEBUG LISTPACK l]] \n]
    assert {[string match "elements 4, bytes 87, allocated with its key *" [lindex $lines 0]]}
    lrange $lines 1 end
} [list {0: offset 6, size 3, string 1: "a"} {1: offset 9, size 2, integer: 1} \
    "2: offset 11, size 73, string 70: \"[string repeat x 64]\"..." {3: offset 84, size 2, string 0: ""}]
check "DEBUG LISTPACK is for lists in that encoding" {
    r SET s x
    with_config {list-max-listpack-size 1} {r RPUSH q a b c}
    assert_equal [error_of {r DEBUG LISTPACK s}] "ERR Not a listpack encoded object."
    assert_equal [error_of {r DEBUG LISTPACK q}] "ERR Not a listpack encoded object."
    error_of {r DEBUG LISTPACK nosuch}
} "ERR no such key"
check "DEBUG LISTPACK shows the members of sets, the fields of hashes and their expiries" {
    r SADD s one
    with_config {hash-max-listpack-value 100} {r HSET h f v g [string repeat w 70]}
    r HSET x f v
    r HPEXPIREAT x 4102444800123 FIELDS 1 f
    r HSET x g w
    set shown {}
    foreach key {s h x} {
        set lines [split [string trim [r DEBUG LISTPACK $key]] \n]
        lappend shown [regexp -inline {^elements \d+} [lindex $lines 0]] [lrange $lines 1 end]
    }
    set shown
} [list {{elements 1}} {{0: string 3: "one"}} \
    {{elements 4}} [list {0: string 1: "f"} {1: string 1: "v"} {2: string 1: "g"} \
        "3: string 70: \"[string repeat w 64]\"..."] \
    {{elements 6}} [list {0: string 1: "f"} {1: string 1: "v"} {2: integer: 4102444800123} \
        {3: string 1: "g"} {4: string 1: "w"} {5: integer: 0}]]
check "DEBUG LISTPACK refuses tables and intsets" {
    r SADD i 1 2
    with_config {set-max-listpack-entries 1} {r SADD s a b}
    assert_equal [error_of {r DEBUG LISTPACK s}] "ERR Not a listpack encoded object."
    error_of {r DEBUG LISTPACK i}
} "ERR Not a listpack encoded object."
check "DEBUG QUICKLIST shows each node" {
    with_config {list-max-listpack-size 2} {r RPUSH q aa bb cc dd ee}
    set lines [split [string trim [r DEBUG QUICKLIST q]] \n]
    assert {[string match "elements 5, nodes 3, compressed nodes 0, bytes 41, allocated *,\
        list-max-listpack-size 2, list-compress-depth 0" [lindex $lines 0]]}
    lmap line [lrange $lines 1 end] {regsub {allocated \d+} $line ""}
} {{node 0: count 2, bytes 15, raw, } {node 1: count 2, bytes 15, raw, } {node 2: count 1, bytes 11, raw, }}
check "DEBUG QUICKLIST full shows the elements of each node too" {
    with_config {list-max-listpack-size 2} {r RPUSH q aa bb 7}
    set lines [split [r DEBUG QUICKLIST q full] \n]
    assert_equal [r DEBUG QUICKLIST q 1] [r DEBUG QUICKLIST q full]
    assert_equal [r DEBUG QUICKLIST q 0] [r DEBUG QUICKLIST q]
    list [string trim [lindex $lines 2]] [string trim [lindex $lines 3]] [string trim [lindex $lines 5]]
} {{0: offset 6, size 4, string 2: "aa"} {1: offset 10, size 4, string 2: "bb"} {0: offset 6, size 2, integer: 7}}
check "DEBUG QUICKLIST shows which nodes are compressed and how far" {
    with_config {list-max-listpack-size 100 list-compress-depth 1} {
        for {set i 0} {$i < 400} {incr i} { r RPUSH q [string repeat a 50]$i }
    }
    set nodes [lrange [split [string trim [r DEBUG QUICKLIST q]] \n] 1 end]
    assert_equal [lmap node $nodes {regexp {lzf \d+ \(\d+\.\d%\)} $node}] {0 1 1 0}
    assert_equal [lmap node $nodes {regexp {raw} $node}] {1 0 0 1}
    string match "*compressed nodes 2,*" [r DEBUG QUICKLIST q]
} 1
check "DEBUG QUICKLIST full reads compressed nodes" {
    with_config {list-max-listpack-size 10 list-compress-depth 1} {
        for {set i 0} {$i < 50} {incr i} { r RPUSH q [string repeat a 50]$i }
    }
    regexp -all {string 52: "a{50}\d\d"} [r DEBUG QUICKLIST q full]
} 40
check "DEBUG QUICKLIST is for lists in that encoding" {
    r SET s x
    r RPUSH l a
    assert_equal [error_of {r DEBUG QUICKLIST s}] "ERR Not a quicklist encoded object."
    assert_equal [error_of {r DEBUG QUICKLIST l}] "ERR Not a quicklist encoded object."
    assert_equal [error_of {r DEBUG QUICKLIST l maybe}] "ERR syntax error"
    error_of {r DEBUG QUICKLIST nosuch}
} "ERR no such key"
check_in 3 "DEBUG LISTPACK and QUICKLIST are verbatim strings in RESP3" {
    r RPUSH l a
    with_config {list-max-listpack-size 1} {r RPUSH q a b c}
    list [lindex [typed DEBUG LISTPACK l] 0] [lindex [typed DEBUG QUICKLIST q] 0]
} {verbatim verbatim}
check "DEBUG QUICKLIST-PACKED-THRESHOLD gives large elements nodes of their own" {
    r DEBUG QUICKLIST-PACKED-THRESHOLD 100b
    try {
        with_config {list-max-listpack-size 1} {r RPUSH q a [string repeat b 100] c}
    } finally {
        r DEBUG QUICKLIST-PACKED-THRESHOLD 0
    }
    set nodes [lrange [split [string trim [r DEBUG QUICKLIST q]] \n] 1 end]
    assert_equal [lmap node $nodes {string match *plain* $node}] {0 1 0}
    r LRANGE q 0 -1
} [list a [string repeat b 100] c]
check "DEBUG QUICKLIST-PACKED-THRESHOLD takes a size below 4 GB" {
    foreach size {x -1 4gb 4294967295 5000000000} {
        assert_equal [error_of {r DEBUG QUICKLIST-PACKED-THRESHOLD $size}] \
            "ERR argument must be a memory value bigger than 1 and smaller than 4gb"
    }
    list [r DEBUG QUICKLIST-PACKED-THRESHOLD 100mb] [r DEBUG QUICKLIST-PACKED-THRESHOLD 0]
} {OK OK}

# --- DEBUG POPULATE

check "DEBUG POPULATE creates numbered strings" {
    assert_equal [r DEBUG POPULATE 1000] OK
    assert_equal [r DBSIZE] 1000
    list [r GET key:0] [r GET key:999] [r GET key:1000]
} {value:0 value:999 (nil)}
check "DEBUG POPULATE takes a prefix and a size" {
    r DEBUG POPULATE 3 foo 10
    r DEBUG POPULATE 3 bar 3
    r DEBUG POPULATE 3 baz 0
    list [r GET foo:1] [r GET bar:1] [r GET baz:2] [r DBSIZE]
} [list "value:1\x00\x00\x00" val value:2 9]
check "DEBUG POPULATE leaves keys that exist alone" {
    r RPUSH key:1 a
    r DEBUG POPULATE 3
    list [r TYPE key:1] [r DBSIZE]
} {list 3}
check "DEBUG POPULATE fills the selected database" {
    r SELECT 5
    r DEBUG POPULATE 3
    assert_equal [r DBSIZE] 3
    r SELECT 0
    r DBSIZE
} 0
check "DEBUG POPULATE wants numbers" {
    foreach arguments {x -1 {2 k x} {2 k -1}} {
        assert_equal [error_of {r DEBUG POPULATE {*}$arguments}] "ERR value is out of range, must be positive"
    }
}

# --- The rest

check "DEBUG SLEEP stops the server for a time" {
    expr {[elapsed_ms {r DEBUG SLEEP 0.05}] >= 50}
} 1
check "DEBUG SLEEP of what is no time does not sleep" {
    list [r DEBUG SLEEP x] [r DEBUG SLEEP -1] [r DEBUG SLEEP 0]
} {OK OK OK}
check_error "DEBUG ERROR answers with the error" {r DEBUG ERROR "MYCODE some text"} "MYCODE some text"
check_error "DEBUG ERROR makes blanks of line breaks" {r DEBUG ERROR "MYCODE a\r\nb"} "MYCODE a  b"
check "DEBUG LOG writes to the log" {
    r DEBUG LOG "hello from RESP$protocol"
    string match "*DEBUG LOG: hello from RESP$protocol*" [$current_server log]
} 1
check_in 2 "DEBUG PROTOCOL in RESP2" {
    lmap type {string integer double bignum null array set map attrib verbatim true false} {
        typed DEBUG PROTOCOL $type
    }
} {{bulk {Hello World}} {int 12345} {bulk 3.141} {bulk 1234567999999999999999999999999999999} nil\
{array {{int 0} {int 1} {int 2}}} {array {{int 0} {int 1} {int 2}}}\
{array {{int 0} {int 0} {int 1} {int 1} {int 2} {int 0}}} {bulk {Some real reply following the attribute}}\
{bulk {This is a verbatim
string}} {int 1} {int 0}}
check_in 3 "DEBUG PROTOCOL in RESP3" {
    lmap type {string integer double bignum null array set map verbatim true false} {
        typed DEBUG PROTOCOL $type
    }
} {{bulk {Hello World}} {int 12345} {double 3.141} {bignum 1234567999999999999999999999999999999} null\
{array {{int 0} {int 1} {int 2}}} {set {{int 0} {int 1} {int 2}}}\
{map {{int 0} {bool f} {int 1} {bool t} {int 2} {bool f}}}\
{verbatim {txt {This is a verbatim
string}}} {bool t} {bool f}}
check_in 2 "DEBUG PROTOCOL push is refused in RESP2" {
    error_of {r DEBUG PROTOCOL push}
} "ERR RESP2 is not supported by this command"
check_in 3 "DEBUG PROTOCOL push is followed by a push" {
    set c [client_open]
    $c write "DEBUG PROTOCOL push\r\n"
    list [$c read_typed] [$c read_typed]
} {{bulk {Some real reply following the push reply}} {push {{bulk server-cpu-usage} {int 42}}}}
check_in 3 "DEBUG PROTOCOL attrib puts an attribute before its reply" {
    set c [client_open]
    $c write "DEBUG PROTOCOL attrib\r\n"
    set expected "|1\r\n\$14\r\nkey-popularity\r\n*2\r\n\$7\r\nkey:123\r\n:90\r\n"
    append expected "\$39\r\nSome real reply following the attribute\r\n"
    assert_equal [$c read_bytes [string length $expected]] $expected
}
check_error "DEBUG PROTOCOL knows its types" {r DEBUG PROTOCOL foo} \
    "ERR Wrong protocol type name. Please use one of the following:\
string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false"
check "DEBUG HTSTATS describes the table of a database" {
    r SET s x
    r SET t x
    r EXPIRE t 1000
    assert {[string match "\\\[Dictionary HT\\]\n items: 2\n*\\\[Expires HT\\]\n items: 1\n*" [r DEBUG HTSTATS 0]]}
    assert {[string length [r DEBUG HTSTATS 0 full]] > [string length [r DEBUG HTSTATS 0]]}
    assert_equal [error_of {r DEBUG HTSTATS 99}] "ERR Out of range database"
    assert_equal [error_of {r DEBUG HTSTATS -1}] "ERR Out of range database"
    error_of {r DEBUG HTSTATS x}
} "ERR value is not an integer or out of range"
check "DEBUG HTSTATS-KEY is for values in tables" {
    r RPUSH l a
    r SADD s a
    r SADD i 1
    r HSET h f v
    r ZADD z 1 a
    foreach key {l s i h z} {
        assert_equal [error_of {r DEBUG HTSTATS-KEY $key full}] \
            "ERR The value stored at the specified key is not represented using an hash table"
    }
    with_config {set-max-listpack-entries 1 hash-max-listpack-entries 1 zset-max-listpack-entries 1} {
        r SADD s b
        r HSET h g w
        r ZADD z 2 b
    }
    assert_equal [r OBJECT ENCODING s] hashtable
    foreach {key pattern} {
        s "*Table of records*records: 2*"
        h "*Table of records*records: 2*"
        z "*Skiplist*members: 2*"
    } {
        assert {[string match $pattern [r DEBUG HTSTATS-KEY $key]]}
    }
    error_of {r DEBUG HTSTATS-KEY nosuch}
} "ERR no such key"
check "DEBUG CHANGE-REPL-ID draws another id" {
    set before [info_field master_replid]
    r DEBUG CHANGE-REPL-ID
    expr {$before ne [info_field master_replid] && [string length [info_field master_replid]] == 40}
} 1
check "DEBUG switches that suites set are accepted" {
    foreach arguments {
        {SET-ACTIVE-EXPIRE 0} {SET-ACTIVE-EXPIRE 1} {REPLYBUFFER PEAK-RESET-TIME never}
        {REPLYBUFFER peak-reset-time reset} {REPLYBUFFER PEAK-RESET-TIME 100} {REPLYBUFFER RESIZING 0}
        {REPLYBUFFER resizing 1} {JMAP}
    } {
        assert_equal [r DEBUG {*}$arguments] OK
    }
    error_of {r DEBUG REPLYBUFFER PEAK-RESET-TIME x}
} "ERR value is not an integer or out of range"
check "DEBUG STRINGMATCH-LEN matches a pattern against a row of letters" {
    assert_equal [typed DEBUG STRINGMATCH-LEN 10 a*] {int 1}
    assert_equal [r DEBUG STRINGMATCH-LEN 3 aaaa] 0
    assert_equal [r DEBUG STRINGMATCH-LEN 0 ""] 1
    assert_equal [error_of {r DEBUG STRINGMATCH-LEN x a*}] "ERR value is not an integer or out of range"
    r DEBUG STRINGMATCH-LEN 10000 [string repeat a* 50]b
} 0

check_in 2 "DEBUG PAUSE-CRON stops what is done periodically" {
    r DEBUG PAUSE-CRON 1
    r SET k v PX 1
    lassign [r TIME] began
    wait_until {[lindex [r TIME] 0] > $began + 1}
    assert_equal [r DBSIZE] 1
    r DEBUG PAUSE-CRON x ;# not a number: 0
    wait_until {[r DBSIZE] == 0}
}
check_in 2 "DEBUG SET-SKIP-CHECKSUM-VALIDATION lets RESTORE and RELOAD accept wrong checksums" {
    r SET s hello
    set payload [r DUMP s]
    set wrong [string replace $payload end end [expr {[string index $payload end] eq "x" ? "y" : "x"}]]
    assert_equal [error_of {r RESTORE t 0 $wrong}] "ERR DUMP payload version or checksum are wrong"
    r DEBUG SET-SKIP-CHECKSUM-VALIDATION 1
    r RESTORE t 0 $wrong
    r SAVE
    set path [$current_server folder]/dump.rdb
    set bytes [read_file $path]
    binary scan [string index $bytes end] c last
    write_file $path [string range $bytes 0 end-1][binary format c [expr {$last ^ 1}]]
    r DEBUG RELOAD NOSAVE
    assert_equal [r MGET s t] {hello hello}
    r DEBUG SET-SKIP-CHECKSUM-VALIDATION 0
    assert_equal [error_of {r DEBUG RELOAD NOSAVE}] "ERR Error trying to load the RDB dump, check server logs."
    error_of {r RESTORE u 0 $wrong}
} "ERR DUMP payload version or checksum are wrong"
check_in 2 "DEBUG CONFIG-REWRITE-FORCE-ALL writes every directive, and the server starts with that" {
    with_server {hz 20} {
        assert_equal [r DEBUG CONFIG-REWRITE-FORCE-ALL] OK
        set text [read_file [$current_server folder]/packlist.conf]
        foreach line {{hz 20} {timeout 0} {maxmemory-policy noeviction} {crash-log-enabled yes} {requirepass ""}} {
            assert_equal [regexp -all -line "^$line\$" $text] 1
        }
        set before [r CONFIG GET *]
        lassign [server_run [list [$current_server folder]/packlist.conf --port 0 --dir /nonexistent]] status output
        assert {[string match "*Can't chdir to '/nonexistent'*" $output]}
        r CONFIG REWRITE
        assert_equal [read_file [$current_server folder]/packlist.conf] $text
    }
}
check_in 2 "DEBUG MALLCTL reads and sets settings of jemalloc" {
    if {[string match *malloc=libc* [exec $server_binary --version]]} {
        assert_equal [error_of {r DEBUG MALLCTL arenas.narenas}] "ERR Operation not supported"
    } else {
        assert {[r DEBUG MALLCTL arenas.narenas] > 0}
        assert {[regexp {^\d+\.\d+\.\d+} [r DEBUG MALLCTL-STR version]]}
        set old [r DEBUG MALLCTL arenas.muzzy_decay_ms]
        assert_equal [r DEBUG MALLCTL arenas.muzzy_decay_ms 1234] $old
        assert_equal [r DEBUG MALLCTL arenas.muzzy_decay_ms $old] 1234
        assert_equal [r DEBUG MALLCTL opt.abort] 0
        assert_equal [error_of {r DEBUG MALLCTL no.such}] "ERR No such file or directory"
        assert_equal [error_of {r DEBUG MALLCTL-STR arenas.narenas}] "ERR Invalid argument"
        assert_equal [error_of {r DEBUG MALLCTL opt.abort x}] "ERR value is not an integer or out of range"
    }
}
check "DEBUG STRUCTSIZE shows sizes" {
    regexp {^bits:64 entry:6 session:\d+ slice:16$} [r DEBUG STRUCTSIZE]
} 1

check_in 2 "DEBUG SET-DISABLE-DENY-SCRIPTS lets scripts run DEBUG PROTOCOL, and nothing else" {
    set protocol {return redis.call('debug', 'protocol', ARGV[1])}
    assert_match "ERR This Redis command is not allowed from script*" [error_of {r EVAL $protocol 0 string}]
    r DEBUG SET-DISABLE-DENY-SCRIPTS 1
    set found {}
    foreach type {string integer double bignum null array set map verbatim true false push attrib} {
        catch {r EVAL $protocol 0 $type} value
        lappend found $value
        # In RESP3, whatever the type is, the script gets it or an error, and the server goes on.
        catch {r EVAL "redis.setresp(3); $protocol" 0 $type}
    }
    assert_match "ERR Scripts may run only DEBUG PROTOCOL*" [error_of {r EVAL "redis.call('debug', 'reload')" 0}]
    assert_match "ERR This Redis command is not allowed from script*" [error_of {r EVAL "redis.call('multi')" 0}]
    r DEBUG SET-DISABLE-DENY-SCRIPTS 0
    assert_match "ERR This Redis command is not allowed from script*" [error_of {r EVAL $protocol 0 string}]
    lrange $found 0 5
} {{Hello World} 12345 3.141 1234567999999999999999999999999999999 (nil) {0 1 2}}
foreach name {DELAY-RDB-CLIENT-FREE-SECONDS DELAY-RDB-CLIENT-FREE-SECOND} {
    check_in 2 "DEBUG $name is accepted" {
        list [r DEBUG $name 5] [error_of {r DEBUG $name -1}]
    } {OK {ERR value is out of range}}
}

finish
