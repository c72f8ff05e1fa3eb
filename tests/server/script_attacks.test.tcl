# What scripts have done to servers, sent to this one: each attack ends with an error or the right answer, and the
# server replies to what comes next. tests/unit/lua_attack_test.c tries more of them on the machine alone.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/functions.tcl
source $library/scripts.tcl

# With all functions that scripts can have.
server_start {lua-enable-deprecated-api yes}

# Runs a script, whose reply or error matches the pattern. Afterwards the server and the machine work.
proc attack {script pattern} {
    catch {r EVAL $script 0} reply
    if {![string match $pattern $reply]} {
        error "the reply is [printable [string range $reply 0 300]]"
    }
    list [r PING] [r EVAL {return ('ab'):rep(2) .. #table.concat({1, 2}) .. cjson.encode({1})} 0]
}

# The scripts may hold any bytes, and end with the end of the list.
proc attacks {name pattern scripts} {
    foreach script $scripts {
        check_in 2 "$name: [printable [string range $script 0 60]]" [list attack $script $pattern] {PONG {abab2[1]}}
    }
}

# --- Counts, indices, sizes

attacks "unpack of too many values" "*too many results to unpack*" {
    {return unpack({'a', 'b'}, -1, 2147483647)}
    {return unpack({}, -2147483648, 2147483647)}
    {return unpack({'a', 'b', 'c'}, -1, 2147483647)}
    {return unpack({}, 1, 1e6)}
    {local t = {} for i = 1, 1e6 do t[i] = i end return unpack(t)}
}
attacks "indices out of bounds" "*out of bounds*" {
    {return table.concat({[-2^63] = ''}, 's', -2^63, 0)}
}
attacks "a range of bytes that is too long" "*string slice too long*" {
    {return (('x'):rep(1e6)):byte(1, -1)}
    {return (('x'):rep(1e6)):byte(-2^31, 2^31)}
}
attacks "digits of bit.tohex" "0000FFFF" {{return bit.tohex(65535, -2147483648)}}
attacks "more memory than there is" "*not enough memory*" {
    {return ('x'):rep(2^31)}
    {return ('x'):rep(2^62)}
    {local s = ('x'):rep(1e8) return s .. s .. s}
    {local t = {} for i = 1, 1e5 do t[i] = ('x'):rep(1e4) end return table.concat(t)}
    {return cjson.encode(string.rep('\0', 360e6))}
    {return cjson.encode(string.rep('\0', 50e6))}
    {local s = string.rep('x', 60e6) return cmsgpack.pack(s, s, s, s, s)}
    {local s = 'x' while true do s = s .. s end}
    {local t = {} while true do t[#t + 1] = {} end}
}
attacks "sizes in formats of struct" "*integral size*" {
    {return struct.pack("I2147483648", 10)}
    {return struct.unpack(">i99999999999", "abcdefgh")}
    {return struct.pack("c2147483648", "x")}
    {return struct.pack("c99999999999999999999", "x")}
    {return struct.pack("i33", 1)}
}
attacks "offsets of struct" "*data string too short*" {
    {return struct.unpack("I", "abcdefgh", 2^31)}
    {return struct.unpack("I", "abcdefgh", -1)}
    {return struct.unpack("I", "abcdefgh", 2^64)}
    {return struct.unpack("i8", "abcdefgh", 9007199254740991)}
    {return struct.unpack("c8", "abcdefgh", 3)}
    {return struct.unpack("bc0", "\127abc")}
}
attacks "an offset of 0" "*offset must be 1 or greater*" {{return struct.unpack("c0", "abc", 0)}}
attacks "many arguments to pack" "*Too many arguments*" {
    {local t = {} for i = 1, 7900 do t[i] = {i} end return cmsgpack.pack(unpack(t))}
}
attacks "deep tables to pack" "*" {
    {local t = {} for i = 1, 1e5 do t = {t} end return #cmsgpack.pack(t)}
    {local a, b = {}, {} a[1] = b b[1] = a return #cmsgpack.pack(a, b)}
}
attacks "deep arrays to unpack" "*stack overflow*" {
    {return cmsgpack.unpack(string.rep('\145', 1e5))}
    {return cmsgpack.unpack(string.rep('\129\1', 1e5))}
}

# --- Depth

attacks "recursion through C" "*stack overflow*" {
    {local function f() return coroutine.wrap(f)() end f()}
    {local function f() local ok, e = coroutine.resume(coroutine.create(f)) error(e, 0) end f()}
    {local function f() return (string.gsub('a', 'a', f)) end f()}
    {local t = setmetatable({}, {__tostring = function(t) return tostring(t) end}) return tostring(t)}
    {local m = {} m.__index = function(t, k) return t[k] end return setmetatable({}, m).x}
    {local m = {} m.__eq = function(a, b) return a == b end return setmetatable({}, m) == setmetatable({}, m)}
    {local m = {} m.__concat = function(a, b) return a .. b end return setmetatable({}, m) .. 'x'}
    {local function f() table.sort({1, 2, 3}, f) end f()}
    {local function f() redis.pcall('GET', f()) end f()}
}
attacks "a handler of errors that raises one in a coroutine" "*" {
    {local m = {} m.__index = function(t, k) return t[k .. 'x'] end
     local t = setmetatable({}, m)
     local function handler(e) return t[e] end
     return coroutine.wrap(function() return xpcall(function() return t.x end, handler) end)()}
    {local function f() return xpcall(f, f) end return f()}
}
attacks "a reader that loads" "*" {{local f f = function() return load(f) end return type(f())}}
attacks "an order that is none" "*" {
    {local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function() return true end)}
}
attacks "deep parentheses" "*too many syntax levels*" [list "return [string repeat ( 100000]1" \
    "return [string repeat "\{" 100000]" [string repeat "do " 100000]]

check_in 2 "tables that are nested a million deep end in an error" {
    set bytes [reply_bytes {local t = {} for i = 1, 1e6 do t = {t} end return t}]
    list [regexp -- {-ERR reached lua stack limit\r\n} $bytes] [r PING]
} {1 PONG}
check_in 2 "tables that contain each other end in an error" {
    set bytes [reply_bytes {local a, b = {}, {} a[1] = b b[1] = a return a}]
    list [regexp -- {-ERR reached lua stack limit\r\n} $bytes] [r PING]
} {1 PONG}
proc peak_mb {} {
    regexp {VmHWM:\s+(\d+) kB} [read_file /proc/[$::current_server pid]/status] _ peak
    return [expr {$peak / 1024}]
}

check_in 2 "a command's reply whose length is not known before stays within the memory of scripts" {
    with_server {lua-memory-limit 4mb} {
        r RPUSH list {*}[lrepeat 1000 a]
        r EVAL {local t = redis.call('LRANGE', 'list', 0, -1)
                for i = 1, 1000 do redis.call('RPUSH', 'list', unpack(t)) end} 0
        set before [peak_mb]
        set error [error_of {r EVAL {return #redis.call('LPOS', 'list', 'a', 'COUNT', 0)} 0}]
        assert_match "ERR not enough memory*" $error
        set positions [r EVAL {return redis.call('LPOS', 'list', 'a', 'COUNT', 99)} 0]
        list [expr {[peak_mb] - $before < 16}] [llength $positions]
    }
} {1 99}
check_in 2 "values that are in others many times" {
    with_config {lua-memory-limit 4mb} {
        set errors [lmap script {
            {local t = {1} for i = 1, 60 do t = {t, t} end return t}
            {local s, t = ('x'):rep(1e6), {} for i = 1, 1e4 do t[i] = s end return t}
        } {error_of {r EVAL $script 0}}]
    }
    list [lsort -unique $errors] [r PING]
} {{{ERR The reply of the script is too large (lua-memory-limit, proto-max-bulk-len)}} PONG}
check_in 2 "values that are in others many times, under the default limits" {
    list [error_of {r EVAL {local t = {} for i = 1, 40 do t = {t, t} end return t} 0}] [r PING]
} {{ERR The reply of the script is too large (lua-memory-limit, proto-max-bulk-len)} PONG}
check_in 2 "a reply larger than proto-max-bulk-len" {
    with_config {proto-max-bulk-len 1mb} {
        set errors [lmap script {
            {return ('x'):rep(2e6)}
            {local s, t = ('x'):rep(1000), {} for i = 1, 2000 do t[i] = s end return t}
        } {error_of {r EVAL $script 0}}]
        lappend errors [string length [r EVAL {return ('x'):rep(1e6)} 0]]
    }
} {{ERR The reply of the script is too large (lua-memory-limit, proto-max-bulk-len)}\
    {ERR The reply of the script is too large (lua-memory-limit, proto-max-bulk-len)} 1000000}
check_in 2 "redis.log writes as much of a long text as the log shows" {
    r EVAL {redis.log(redis.LOG_WARNING, 'log', 'of', ('x'):rep(5e7), ('y'):rep(10))} 0
    r EVAL {redis.log(redis.LOG_WARNING, 'two', 2, 'words')} 0
    set log [$current_server log]
    list [regexp -inline {log of x+} $log] [regexp -inline {two 2 words} $log] [regexp y{5} $log]
} [list [list "log of [string repeat x 1017]"] {{two 2 words}} 0]
check_in 2 "as many arguments as the stack holds reach a command" {
    set script {local t = {} for i = 1, ARGV[1] do t[i] = i end return redis.call('LPUSH', 'l', unpack(t))}
    assert_equal [r EVAL $script 0 7999] 7999
    assert {[string match "ERR user_script:1: too many results to unpack *" [error_of {r EVAL $script 0 8000}]]}
    list [r PING] [r LLEN l]
} {PONG 7999}

# --- Texts

attacks "byte code" "*unexpected symbol near 'char(27)'*" [list "\x1bLua\x51\x00\x01\x04\x08\x04\x08\x00" "\x1bLJ\x02" \
    {return select(2, loadstring('\27Lua'))}]
attacks "byte code of a function" "*field 'dump' (a nil value)*" {
    {return loadstring(string.dump(function() end))()}
}
attacks "what leads out of the machine" "*nonexistent global variable*" {
    {return package.loadlib('/lib/x86_64-linux-gnu/libc.so.6', '*')}
    {return package.loaded.io}
    {return require('io')}
    {return io.open('/etc/passwd')}
    {return debug.getregistry()}
    {return dofile('/etc/passwd')}
    {return module('x')}
    {return ffi}
}
attacks "functions of os" "*a nil value*" {
    {return os.execute('true')}
    {return os.exit()}
    {return os.getenv('HOME')}
}
attacks "long brackets" "*too many '='*" [list "return \[[string repeat = 10000001]" \
    "--\[[string repeat = 10000000]\[" \
    "return \[[string repeat = 10000000]\[x\]\]"]
attacks "a long bracket for loadstring" "*" {{return select(2, loadstring('return [' .. ('='):rep(1e7)))}}
attacks "texts that are no scripts" "*Error compiling script*" [list "\x00" "return 'abc" "--\[\[" "return \[\[" \
    "\xff\xfe\x00" "end" "return \"\\" "((((" "return 1e" "\$" "local a [string repeat {local a } 300]"]
attacks "first lines" "ERR *shebang*" [list "#!" "#!lua" "#!\n" "#!nosuch\nreturn 1" "#!lua flags=nosuch\nreturn 1" \
    "#!lua x=y\nreturn 1" "#!lua flags=a\rb\nreturn 1" "#!lua flags=a\r\n+OK\nreturn 1" \
    "#!lua [string repeat x 100000]\n"]
check_in 2 "the first line of a library cannot split the reply" {
    foreach line {"name=a\r\n+OK" "name=a\r+OK" "name=a flags=b\r\n+OK" "\r\n+OK" "engine\r\n+OK name=a"} {
        set bytes [command_reply_bytes FUNCTION LOAD "#!lua [subst $line]\nreturn 1"]
        assert {[regexp {^-ERR [^\r\n]*\r\n$} $bytes]}
    }
    r PING
} PONG

# --- Time

attacks "patterns that explode" "*pattern too complex*" {
    {return string.find(string.rep('a', 500000), '.-b')}
    {return string.find(string.rep('a', 30), string.rep('a?', 30) .. string.rep('a', 30) .. 'b')}
}
proc stars {} {return [string repeat * 1000000]}
check_in 2 "patterns of a million stars match in time" {
    r SET key value
    r FUNCTION FLUSH
    r FUNCTION LOAD [library one f]
    set c [client_open]
    $c call PSUBSCRIBE [stars]
    set published [r PUBLISH key x]
    list [r KEYS [stars]] [lindex [r SCAN 0 COUNT 100000 MATCH [stars]x] 1] \
        [r EVAL {return redis.call('KEYS', ('*'):rep(1e6) .. 'x')} 0] \
        [llength [r FUNCTION LIST LIBRARYNAME [stars]]] $published [r PING]
} {key {} {} 1 1 PONG}

# --- What scripts share

attacks "changes of what all scripts share" "*" {
    {_G.x = 1}
    {x = 1}
    {setmetatable(_G, {__index = function() return 1 end})}
    {getmetatable(_G).__index = function() return 1 end}
    {getmetatable('').__index = function() return 1 end}
    {getmetatable('').__add = function() return 1 end}
    {redis.call = function() return 'poison' end}
    {rawset(redis, 'call', function() return 'poison' end)}
    {table.insert(cjson, function() return 'poison' end)}
    {rawset(cjson, 'encode', tostring)}
    {cjson.encode = tostring}
    {setmetatable(redis, {})}
    {for k in pairs(string) do string[k] = nil end}
    {local m = getmetatable(true) m.__index = {}}
    {local m = getmetatable(nil) m.__index = {}}
    {local m = getmetatable(1) m.__index = {}}
    {local m = getmetatable(print) m.__index = {}}
    {setmetatable(true, {})}
    {table.foreach(redis, function(k) redis[k] = nil end)}
    {for k in next, table do rawset(table, k, error) end}
}

# --- Garbage

attacks "collections beside large chunks" "1" {
    {local text = ('local a = "' .. ('s'):rep(50) .. '" local b = {} '):rep(100) .. ' return ' 
     for i = 1, 30 do
        collectgarbage('collect')
        assert(loadstring('do ' .. text .. i .. ' end', 'name' .. i .. ('n'):rep(10000))() == i)
     end
     return 1}
}
attacks "finalizers" "*" {
    {setmetatable({}, {__gc = function() collectgarbage() end}) collectgarbage()}
    {local p = newproxy(true) getmetatable(p).__gc = function() while true do end end p = nil collectgarbage()}
    {local function f() while true do end end rawset(getmetatable(newproxy(true)), '__gc', f) collectgarbage()}
    {local m = getmetatable(newproxy(true)) pcall(setmetatable, m, nil)
     m.__gc = function() while true do end end
     collectgarbage()}
}
check_in 2 "flushing right after a run and before the next leaves nothing" {
    r FUNCTION FLUSH
    for {set i 0} {$i < 50} {incr i} {
        foreach mode {SYNC ASYNC} {
            r EVAL {
                local t = {} for i = 1, 1000 do t[i] = coroutine.wrap(function() end) end collectgarbage()
            } 0
            r FUNCTION LOAD REPLACE [library_with f {collectgarbage() return {}}]
            r FCALL f 0
            r SCRIPT FLUSH $mode
            r FUNCTION FLUSH $mode
        }
    }
    set errors [lmap command {SCRIPT FUNCTION} {
        error_of {r EVAL {return redis.call(ARGV[1], 'FLUSH')} 0 $command}
    }]
    lappend errors [error_of {r EVAL {return redis.call('FUNCTION', 'LOAD', 'REPLACE', ARGV[1])} 0 [library a f]}]
    list [lsearch -all -not $errors "ERR This Redis command is not allowed from script *"] [r PING]
} {{} PONG}

# --- Replies

proc reply_is {expected script} {
    set bytes [reply_bytes $script]
    if {$bytes ne $expected} {
        error "the bytes are [printable $bytes]"
    }
    r PING
}
foreach {script expected} {
    {return redis.error_reply("a\r\n+OK\r\n")} "-ERR a  +OK\r\n"
    {return redis.error_reply("MY a\r\n+OK\r\n")} "-MY a  +OK\r\n"
    {return {err = "MY a\r\n+OK\r\n$1\r\nx"}} "-MY a  +OK  \$1  x\r\n"
    {return redis.status_reply("a\r\n+OK")} "+a  +OK\r\n"
    {return {ok = "a\n\r:1"}} "+a  :1\r\n"
    {return {{ok = "\r\n"}, {err = "\r\n"}}} "*2\r\n+  \r\n-\r\n"
} {
    check_in 2 "a reply is not split: $script" [list reply_is $expected $script] PONG
}
attacks "an error is not split" "ERR a  +OK* script: *, on @user_script:*" {
    {error('a\r\n+OK\r\n', 0)}
    {error({err = 'ERR a\r\n+OK\r\n'})}
}

# --- Keys of tables

# Doubles that Lua's own hash cannot tell apart in any table, or only in one of 65536 pairs not: 500 times as long.
proc doubles {count low} {
    for {set i 0} {$i < $count} {incr i} {
        set high [expr {0x40000000 + 7 * $i}]
        append doubles [binary format II $high [expr $low]]
    }
    return [binary format cI 0xdf $count][regsub -all {.{8}} $doubles "\xcb&\x01"]
}
check_in 2 "numbers that collide take no longer than others, unpacked or set by the script" {
    set microseconds {}
    foreach low {
        {(0x9e3779b1 * ($i + 1)) & 0xffffffff} {0x50000000 - $high} {0x50000000 - $high + 65535 * ($i % 30000)}
    } {
        set map [doubles 40000 $low]
        lappend microseconds [lindex [time {
            set reply [r EVAL {
                local map, copy, n = cmsgpack.unpack(ARGV[1]), {}, 0
                for k, v in pairs(map) do copy[k] = v n = n + 1 end
                return {n, #cmsgpack.pack(copy)}
            } 0 $map]
        }] 0]
        assert_equal $reply {40000 400003}
    }
    lassign $microseconds others equal grown
    list [expr {$equal < 20 * $others}] [expr {$grown < 20 * $others}]
} {1 1}

# --- Commands

attacks "payloads of RESTORE that are no values" "*" {
    {return redis.pcall('RESTORE', 'k', 0, ('\255'):rep(1000))}
    {local good = redis.call('DUMP', 'nosuch') or '' return redis.pcall('RESTORE', 'k', 0, good)}
    {redis.call('RPUSH', 'list', 1, 'two', ('x'):rep(5000))
     local good, answers = redis.call('DUMP', 'list'), {}
     for i = 1, #good do
        local bad = good:sub(1, i - 1) .. string.char((good:byte(i) + 1) % 256) .. good:sub(i + 1)
        redis.pcall('RESTORE', 'k', 0, bad, 'REPLACE')
     end
     return 1}
}
check_in 2 "clients that wait and are evicted while a script serves them" {
    set clients [lmap i {1 2 3 4 5} {client_blocked BLPOP [string repeat k$i 20000] served 0}]
    with_config {maxmemory-clients 1mb} {
        r EVAL {for i = 1, 20 do redis.call('RPUSH', 'served', ('x'):rep(100000)) end} 0
        r PING
    }
} PONG
check_in 2 "there is no debugger to attack" {
    list [error_of {r SCRIPT DEBUG YES}] [r EVAL {return {redis.debug(('x'):rep(1e6)), redis.breakpoint()}} 0] [r PING]
} {{ERR This server has no debugger for scripts} {} PONG}

finish
