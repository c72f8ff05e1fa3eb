# INFO keysizes: how many strings and lists there are of which size. In a build with CHECKED=1 the server itself counts
# them after each command that writes, whichever test sends it. So here is what no command does (keys that end by
# themselves, data from a disk), each way of making a value longer or shorter, and random commands of all kinds.
# PACKLIST_SEED repeats a run of the random commands; under `make soak` there are more of them.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start
set main_server $current_server


# What INFO keysizes shows, without the words that all its lines have: {db0 strings 1=2,4=1 db0 lists 2=1}.
proc keysizes {} {
    set shown {}
    foreach {_ database type counts} [regexp -all -inline -line \
            {^(db\d+)_distrib_(strings_sizes|lists_items):(\S+)\r$} [r INFO keysizes]] {
        lappend shown $database [lindex [split $type _] 0] $counts
    }
    return $shown
}

proc power_below {size} {
    set power 0
    while {$size > 0 && max(1, 2 * $power) <= $size} {
        set power [expr {max(1, 2 * $power)}]
    }
    return $power
}

proc size_text {power} {
    foreach unit {"" K M G} {
        if {$power < 1024} {
            return $power$unit
        }
        set power [expr {$power / 1024}]
    }
}

# The same as `keysizes`, by looking at every key of every database.
proc counted {} {
    set shown {}
    set databases [lsort -unique -integer [lmap {_ number} [regexp -all -inline -line {^db(\d+):} [r INFO keyspace]] {
        set number
    }]]
    foreach database $databases {
        r SELECT $database
        set counts {STRLEN {} LLEN {}}
        foreach key [r KEYS *] {
            set command [dict get {string STRLEN list LLEN none none} [r TYPE $key]]
            if {$command ne "none"} {
                dict update counts $command of_type {dict incr of_type [power_below [r $command $key]]}
            }
        }
        foreach {command type} {STRLEN strings LLEN lists} {
            set buckets [lsort -integer -stride 2 [dict get $counts $command]]
            if {$buckets ne ""} {
                lappend shown db$database $type [join [lmap {power count} $buckets {
                    string cat [size_text $power] = $count
                }] ,]
            }
        }
    }
    r SELECT 0
    return $shown
}

# Checks that the section shows `expected` after the body, and that this is true of the keys.
proc check_sizes {name body expected} {
    check $name "$body; compared" $expected
}
proc compared {} {
    set shown [keysizes]
    assert_equal $shown [counted]
    return $shown
}

proc text {length} {
    return [string repeat x $length]
}

# --- The section ---

check "INFO shows the section Keysizes by default, behind Keyspace" {
    r SET k value
    r RPUSH l a b
    foreach arguments {{} default all everything} {
        assert {[string match "*\r\n\r\n# Keyspace\r\ndb0:*\r\n\r\n# Keysizes\r\n*" [r INFO {*}$arguments]]}
    }
    r INFO KeySizes
} "# Keysizes\r\ndb0_distrib_strings_sizes:4=1\r\ndb0_distrib_lists_items:2=1\r\n"
check "without keys the section is empty" {r INFO keysizes} "# Keysizes\r\n"
check "the section is empty again when all keys are gone" {
    r SET k v
    r RPUSH l a
    r DEL k l
    r INFO keysizes
} "# Keysizes\r\n"

check_sizes "strings are counted under the power of two below their length" {
    foreach length {0 0 1 2 3 4 7 8 9 1023 1024 1025 2047 2048 65535 65536} {
        r SET key:[incr ::number] [text $length]
    }
} {db0 strings 0=2,1=1,2=2,4=2,8=2,512=1,1K=3,2K=1,32K=1,64K=1}
check_sizes "large strings have units, too" {
    foreach length {1048575 1048576 5000000} {
        r SETRANGE key:$length [expr {$length - 1}] x
    }
} {db0 strings 512K=1,1M=1,4M=1}
check_sizes "lists are counted by their elements" {
    foreach length {1 2 3 4 5 15 16 17 255 256 5000} {
        r RPUSH list:$length {*}[lrepeat $length e]
    }
} {db0 lists 1=1,2=2,4=2,8=1,16=2,128=1,256=1,4K=1}
check_sizes "each database has its lines" {
    r SET a 1
    r SELECT 9
    r SET a 22
    r RPUSH l 1 2 3 4
} {db0 strings 1=1 db9 strings 2=1 db9 lists 4=1}
check_sizes "DEBUG POPULATE" {r DEBUG POPULATE 100 key 40} {db0 strings 32=100}

check_sizes "integers are counted by the length of their text" {
    r MSET a 1 b 12 c -123 d 12345678 e 9223372036854775807 f -9223372036854775808
} {db0 strings 1=1,2=1,4=1,8=1,16=2}
check_sizes "INCR of 9, DECR of 0, and others that make the text longer" {
    r MSET a 9 b 0 c 999 d 9999999 e -99 f 999999999999999 g 98 h 7
    foreach key {a c d f g} {
        r INCR $key
    }
    r DECR b
    r DECR e
    r INCRBY h 8
} {db0 strings 2=4,4=2,8=1,16=1}
check_sizes "SET over a list" {
    r RPUSH a 1 2 3
    r RPUSH b {*}[lrepeat 3000 e]
    r SET a 1234
    r SET b 1 EX 100
} {db0 strings 1=1,4=1}
check_sizes "APPEND, SETRANGE, SETBIT and BITFIELD" {
    r APPEND a 1
    r APPEND a 23
    r APPEND a [text 5000]
    r SETRANGE b 10 xyz
    r SETRANGE b 100 x
    r SETRANGE b 3 x
    r SET c 1
    r SETRANGE c 300 x
    r SETBIT d 7 1
    r SETBIT d 8000 0
    r BITFIELD e SET u8 0 1
    r BITFIELD e SET u8 1000 1 GET u8 0
    r APPEND f ""
    r SETRANGE g 5 ""
} {db0 strings 0=1,64=2,256=1,512=1,4K=1}
check_sizes "BITOP over nothing, strings and lists" {
    r SET a [text 1000]
    r SET b [text 10]
    r RPUSH l 1 2 3
    r SET over 1
    r SET same [text 1000]
    r SETEX gone 100 1
    r BITOP OR l a b
    r BITOP AND over a b
    r BITOP XOR same a a
    r BITOP NOT new b
    r BITOP NOT b b
    r BITOP OR gone nosuch
} {db0 strings 8=2,512=4}
check_sizes "pushes of one and of many elements" {
    r LPUSH a 1
    r RPUSH a 2
    r LPUSH b {*}[lrepeat 20 e]
    r RPUSH b {*}[lrepeat 300 e]
    r RPUSHX b {*}[lrepeat 10000 e]
    for {set i 0} {$i < 600} {incr i} {
        r LPUSH c [text 30]
    }
    r RPUSH d {*}[lrepeat 300 [text 100]]
    r LINSERT d AFTER [text 100] x
    r RPUSH e 1 2 3
    r LINSERT e BEFORE 2 x
} {db0 lists 2=1,4=1,256=1,512=1,8K=1}
check_sizes "pops, LTRIM and LREM" {
    foreach {key length} {a 8 b 1100 c 5000 d 5000 e 9 f 600 g 4} {
        r RPUSH $key {*}[lrepeat $length e]
    }
    r LPOP a
    r RPOP b 80
    r LTRIM c 3 10
    r LREM d 4990 e
    r LREM e 0 e
    r LMPOP 2 nosuch f LEFT COUNT 100
    r LTRIM g 5 9
} {db0 lists 4=1,8=2,256=1,512=1}
# Redis 8.0 counts a string twice that SETRANGE has made longer; that is not copied.
check_sizes "SETRANGE and its key gone leave nothing behind" {
    foreach length {1 1024 2047 2048 4096} {
        r SETRANGE key:$length [expr {$length - 1}] x
        r SETRANGE key:$length [expr {3 * $length}] x
    }
    r DEL {*}[r KEYS *]
} {}

# --- Keys that end by themselves ---

# A string, a listpack and a quicklist.
proc set_three {{suffix ""}} {
    r SET s$suffix 12345
    r RPUSH l$suffix 1 2 3
    r RPUSH q$suffix {*}[lrepeat 2000 [text 20]]
}

check_sizes "a key that has expired and is looked for" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    set_three
    r PEXPIRE s 1
    r PEXPIRE q 1
    wait_until {[r EXISTS s q] == 0}
    r DEBUG SET-ACTIVE-EXPIRE 1
} {db0 lists 2=1}
check_sizes "keys that expire unasked" {
    set_three
    for {set i 0} {$i < 100} {incr i} {
        r SET string:$i $i PX 1
        r RPUSH list:$i 1 2
        r PEXPIRE list:$i 1
    }
    wait_until {[string match "keys=3,*" [info_field db0]]}
} {db0 strings 4=1 db0 lists 2=1,1K=1}
check_sizes "SET and EXPIRE with a time that has passed" {
    set_three
    r EXPIRE s -1
    r SET s 1 PXAT 1
    r EXISTS s
    r PEXPIREAT q 1
} {db0 lists 2=1}
check "keys that are evicted" {
    for {set i 0} {$i < 500} {incr i} {
        r SET string:$i [text [expr {$i % 700}]]
        r RPUSH list:$i {*}[lrepeat [expr {$i % 70 + 1}] element]
    }
    with_config {maxmemory-policy allkeys-random maxmemory 1} {
        wait_until {[catch {r SET one more}] && [r DBSIZE] == 0} ;# evicting ends after some time, and goes on later
    }
    set left [compared]
    with_config {maxmemory-policy allkeys-lru} {
        for {set i 0} {$i < 300} {incr i} {
            r SET string:$i [text [expr {$i % 900}]]
            r RPUSH list:$i {*}[lrepeat [expr {$i % 70 + 1}] element]
        }
        r CONFIG SET maxmemory [expr {[info_field used_memory] - 30000}]
        for {set i 0} {$i < 300} {incr i} {
            r APPEND string:$i [text 300]
        }
        r CONFIG SET maxmemory 0
    }
    assert {[info_field evicted_keys] > 0 && [r DBSIZE] > 0}
    compared
    set left
} {}

# --- Data on disk, and other servers ---

# Fills two databases with keys of every layout.
proc fill {} {
    set_three
    r SETEX expiring 1000 1
    r SETRANGE large 300000 x
    r SELECT 4
    set_three
    r RPUSH l 4
    r SELECT 0
}
set filled {db0 strings 1=1,4=1,256K=1 db0 lists 2=1,1K=1 db4 strings 4=1 db4 lists 4=1,1K=1}

check_sizes "DEBUG RELOAD" {
    fill
    r DEBUG RELOAD
    r RPUSH l x
    r LPOP l
} $filled
check_in 2 "a snapshot that is loaded" {
    with_server {} {
        fill
        r SAVE
        $current_server restart
        set default_client ""
        assert_equal [compared] $::filled
    }
}
check_in 2 "an append-only file that is loaded, rewritten or not" {
    with_server {appendonly yes auto-aof-rewrite-percentage 0} {
        fill
        $current_server restart
        set default_client ""
        assert_equal [compared] $::filled
        r DEBUG RELOAD
        assert_equal [compared] $::filled
        r APPEND s 678
        r BGREWRITEAOF
        wait_until {[info_field aof_rewrite_in_progress] == 0}
        r RPUSH l 4
        $current_server restart
        set default_client ""
        assert_equal [compared] {db0 strings 1=1,8=1,256K=1 db0 lists 4=1,1K=1 db4 strings 4=1 db4 lists 4=1,1K=1}
    }
}
check_in 2 "keys that change or go while a snapshot is written" {
    with_server {rdb-save-slice-us 8} {
        for {set i 0} {$i < 30} {incr i} {
            set_three :$i
            r SETRANGE large:$i 300000 x
        }
        r BGSAVE
        for {set i 0} {$i < 30} {incr i} {
            r [lindex {APPEND SETRANGE} [expr {$i % 2}]] large:$i {*}[lindex {{abc} {600000 x}} [expr {$i % 2}]]
            r RPUSH q:$i {*}[lrepeat 100 e]
            r LTRIM q:[expr {29 - $i}] 0 700
            r APPEND s:$i 678
            if {$i % 3 == 0} {
                r DEL l:$i large:[expr {29 - $i}]
            }
        }
        compared
        r SWAPDB 0 1
        compared
        r FLUSHALL
        r SET k v
        assert_equal [compared] {db0 strings 1=1}
        wait_until {[info_field rdb_bgsave_in_progress] == 0}
        assert_equal [compared] {db0 strings 1=1}
    }
}
check_in 2 "MIGRATE" {
    set_three
    with_server {} {
        set target $current_server
        $target control SET q short
        set port [$target port]
        set source [client new 127.0.0.1 [$::main_server port] 2]
        $source call MIGRATE 127.0.0.1 $port "" 0 10000 KEYS s l
        $source call MIGRATE 127.0.0.1 $port q 0 10000 COPY REPLACE
        assert_equal [compared] {db0 strings 4=1 db0 lists 2=1,1K=1}
    }
    compared
} {db0 lists 1K=1}

# --- Any commands in any order ---

expr {srand($seed)}

proc below {limit} {
    return [expr {int(rand() * $limit)}]
}
proc pick {choices} {
    return [lindex $choices [below [llength $choices]]]
}
proc any_key {} {
    return key:[below 60]
}
proc any_text {} {
    return [pick [list "" 9 99 999 -99 [below 100000] abc [text [below 20]] [text [below 300]] [text [below 3000]] \
                      [text 70000]]]
}
proc any_elements {} {
    return [lrepeat [pick {1 1 1 2 3 20 300}] [pick {a 1 1234567 element} ]]
}
proc any_index {} {
    return [expr {[below 40] - 20}]
}

# Templates of commands, with a procedure's name where something random stands; * is spliced in.
set commands {
    {SET any_key any_text} {SET any_key any_text} {SET any_key any_text PX any_ms} {SET any_key any_text KEEPTTL}
    {SETNX any_key any_text} {GETSET any_key any_text} {MSET any_key any_text any_key any_text}
    {MSETNX any_key any_text any_key any_text} {PSETEX any_key any_ms any_text}
    {APPEND any_key any_text} {SETRANGE any_key any_offset any_text} {SETBIT any_key any_offset 1}
    {BITFIELD any_key SET u8 any_offset 77} {BITOP OR any_key any_key any_key} {BITOP NOT any_key any_key}
    {INCR any_key} {DECR any_key} {INCRBY any_key any_offset} {INCRBYFLOAT any_key 0.5} {GETDEL any_key}
    {GETEX any_key PX any_ms} {LPUSH any_key *any_elements} {RPUSH any_key *any_elements} {LPUSHX any_key *any_elements}
    {RPUSH any_key *any_elements} {LPOP any_key} {RPOP any_key any_count} {LPOP any_key any_count}
    {LTRIM any_key any_index any_index} {LREM any_key any_index a} {LSET any_key any_index any_text}
    {LINSERT any_key AFTER a any_text} {LMOVE any_key any_key LEFT RIGHT} {RPOPLPUSH any_key any_key}
    {LMPOP 2 any_key any_key LEFT COUNT any_count} {BLPOP any_key 0.001} {BLMOVE any_key any_key LEFT LEFT 0.001}
    {LMOVEM any_key any_key LEFT RIGHT COUNT any_count BULK}
    {BLMOVEM any_key any_key LEFT LEFT 0.001 EXACTLY any_count OBO}
    {RPUSHBOUND any_key any_count *any_elements} {LPUSHBOUND any_key any_count REJECT *any_elements}
    {SORT any_key ALPHA STORE any_key} {SORT any_key ALPHA LIMIT 0 3 STORE any_key}
    {DEL any_key} {UNLINK any_key any_key} {RENAME any_key any_key} {RENAMENX any_key any_key}
    {COPY any_key any_key REPLACE} {COPY any_key any_key DB any_database REPLACE} {MOVE any_key any_database}
    {PEXPIRE any_key any_ms} {PERSIST any_key} {EXISTS any_key} {SELECT any_database}
}
set rare_commands {
    {SWAPDB any_database any_database} {FLUSHDB} {FLUSHDB ASYNC} {FLUSHALL SYNC} {DEBUG RELOAD} {BGSAVE}
    {CONFIG SET list-max-listpack-size any_fill}
}
proc any_ms {} {
    return [pick {1 5 100000}]
}
proc any_offset {} {
    return [below [pick {3 30 300 3000}]]
}
proc any_count {} {
    return [pick {1 2 5 100}]
}
proc any_database {} {
    return [below 3]
}
proc any_fill {} {
    return [pick {-2 -1 4 128}]
}

proc any_command {templates} {
    set command {}
    foreach word [pick $templates] {
        if {[string match any_* $word]} {
            lappend command [$word]
        } elseif {[string match *any_* $word]} {
            lappend command {*}[[string range $word 1 end]]
        } else {
            lappend command $word
        }
    }
    return $command
}

set rounds [expr {[info exists env(PACKLIST_SOAK)] ? 400 : 40}]

# Sent in pipelines; what they answer, errors among it, does not matter.
proc send_random {count} {
    set client [default_client]
    for {set i 0} {$i < $count} {incr i} {
        $client send {*}[any_command [expr {[below 300] ? $::commands : $::rare_commands}]]
    }
    for {set i 0} {$i < $count} {incr i} {
        catch {$client read}
    }
    r SELECT 0
}

check_in 2 "random commands, with expiry" {
    for {set round 0} {$round < $::rounds} {incr round} {
        send_random 200
        wait_until {[keysizes] eq [counted]}
    }
}
check_in 2 "random commands, with eviction" {
    set evicted [info_field evicted_keys]
    r DEBUG POPULATE 2000 other 100
    with_config {maxmemory-policy allkeys-random} {
        for {set round 0} {$round < $::rounds} {incr round} {
            r CONFIG SET maxmemory [expr {[info_field used_memory] + 20000}]
            send_random 200
            r CONFIG SET maxmemory 0
            wait_until {[keysizes] eq [counted]}
        }
    }
    assert {[info_field evicted_keys] > $evicted}
}

finish
