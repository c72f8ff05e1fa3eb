# FCALL and FCALL_RO: keys and arguments, flags, errors, what functions see and keep.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/functions.tcl

server_start

# Calls a function with this body.
proc fcall {body args} {
    r FUNCTION LOAD REPLACE [library_with f $body]
    return [r FCALL f {*}$args]
}

proc fcall_error {body args} {
    return [error_of {fcall $body {*}$args}]
}

proc fcall_of {args} {
    r FUNCTION LOAD REPLACE [library_with f "return 1"]
    return [r FCALL {*}$args]
}

proc fcall_results {} {
    r FUNCTION LOAD REPLACE [library_with f "return {3.9, 'x', true, false, {ok = 'fine'}, {map = {a = 1}}}"]
    return f
}

# --- Arguments

check "keys and arguments are the two arguments of the function" {
    fcall "return {keys, args, #keys, #args}" 2 k1 k2 a ""
} {{k1 k2} {a {}} 2 2}
check "there may be none of them" {fcall "return {#keys, #args}" 0} {0 0}
check_error "there is no global KEYS" {fcall "return KEYS" 0} \
    "ERR user_function:2: Script attempted to access nonexistent global variable 'KEYS' script: f, on @user_function:2."
foreach {arguments error} {
    {f x} "ERR Bad number of keys provided"
    {f 1.5} "ERR Bad number of keys provided"
    {f ""} "ERR Bad number of keys provided"
    {f -1} "ERR Number of keys can't be negative"
    {f 1} "ERR Number of keys can't be greater than number of args"
    {f 3 a b} "ERR Number of keys can't be greater than number of args"
    {nosuch 0} "ERR Function not found"
    {nosuch x} "ERR Function not found"
    {"" 0} "ERR Function not found"
    f "ERR wrong number of arguments for 'fcall' command"
} {
    check_error "FCALL $arguments" [list fcall_of {*}$arguments] $error
}
check_error "a name of many bytes is not found" {r FCALL [string repeat x 100000] 0} "ERR Function not found"
check "a name of many bytes is found, in any case" {
    set name [string repeat aB 500]
    r FUNCTION LOAD REPLACE [library_with $name "return 1"]
    set found [r FCALL [string toupper $name] 0]
    r FUNCTION FLUSH
    set found
} 1

# --- What a function sees and keeps

check "it runs commands" {
    list [fcall "return redis.call('SET', keys\[1\], args\[1\])" 1 k v] [r GET k]
} {OK v}
check "its library keeps local variables from call to call" {
    r FUNCTION LOAD REPLACE "#!lua name=f
        local calls = 0
        redis.register_function('f', function() calls = calls + 1 return calls end)"
    list [r FCALL f 0] [r FCALL f 0] [r FUNCTION LOAD REPLACE [library_with f "return 'new'"]] [r FCALL f 0]
} {1 2 f new}
check "it sees the libraries of Lua" {
    fcall "return {type(string.format), type(cjson.encode), type(cmsgpack.pack), type(struct.pack), type(bit.band)}" 0
} {function function function function function}
check_error "it cannot set globals" {fcall "x = 1" 0} \
    "ERR user_function:2: Attempt to modify a readonly table script: f, on @user_function:2."
check_error "globals that are not there are an error" {fcall "return nosuch" 0} \
    "ERR user_function:2: Script attempted to access nonexistent global variable 'nosuch' script: f,\
    on @user_function:2."
check "tables that all functions share cannot be changed" {
    foreach body {"redis.x = 1" "string.x = 1" "_G.x = 1" "rawset(_G, 'x', 1)" "redis.call = nil"} {
        set error [fcall_error $body 0]
        assert {[string match "ERR *Attempt to modify a readonly table script: f, on @user_function:2." $error]}
    }
}
check "functions and scripts do not see each other's values" {
    fcall "return 1" 0
    list [r EVAL "return type(redis.register_function)" 0] [fcall "return type(redis.register_function)" 0]
} {nil nil}

# --- Results

check "of several results the first counts" {fcall "return 1, 2" 0} 1
check_in 2 "results are those of scripts" {typed FCALL [fcall_results] 0} \
    {array {{int 3} {bulk x} {int 1} nil {simple fine} {array {{bulk a} {int 1}}}}}
check_in 3 "results are those of scripts in RESP3" {typed FCALL [fcall_results] 0} \
    {array {{int 3} {bulk x} {int 1} null {simple fine} {map {{bulk a} {int 1}}}}}
foreach {body error} {
    "return redis.error_reply('MY error')" "MY error"
    "return {err = 'x y'}" "x y"
    "error('boom')" "ERR user_function:2: boom script: f, on @user_function:2."
    "error({err = 'MY boom'})" "MY boom script: f, on @user_function:2."
    "error()" "ERR nil script: f, on @user_function:2."
    "error({})" "ERR unknown error script: f, on @user_function:2."
    "local x = nil return x.y"
    "ERR user_function:2: attempt to index local 'x' (a nil value) script: f, on @user_function:2."
    "return redis.call('nosuch')" "ERR Unknown Redis command called from script script: f, on @user_function:2."
    "return redis.call('get')"
    "ERR Wrong number of args calling Redis command from script script: f, on @user_function:2."
    "return redis.call('fcall', 'f', 0)"
    "ERR This Redis command is not allowed from script script: f, on @user_function:2."
    "return redis.call('function', 'flush')"
    "ERR This Redis command is not allowed from script script: f, on @user_function:2."
    "return redis.call('eval', 'return 1', 0)"
    "ERR This Redis command is not allowed from script script: f, on @user_function:2."
} {
    check_error $body [list fcall $body 0] $error
}
check "an error is shown with the place where it was raised" {
    r FUNCTION LOAD REPLACE "#!lua name=f\n\nlocal function g()\nerror('in g')\nend\nredis.register_function('f', g)"
    error_of {r FCALL f 0}
} "ERR user_function:4: in g script: f, on @user_function:4."

# --- Flags

check "with no-writes a function reads and cannot write" {
    r SET k v
    r FUNCTION LOAD REPLACE [library_with ro "return redis.call(unpack(args))" no-writes]
    list [r FCALL ro 0 GET k] [r FCALL_RO ro 0 GET k] [error_of {r FCALL ro 0 SET k x}] \
        [error_of {r FCALL_RO ro 0 DEL k}]
} [list v v {*}[lrepeat 2 \
    "ERR Write commands are not allowed from read-only scripts. script: ro, on @user_function:2."]]
check_error "FCALL_RO refuses a function that may write" {
    r FUNCTION LOAD REPLACE [library_with f "return 1"]
    r FCALL_RO f 0
} "ERR Can not execute a script with write flag using *_ro command."
check "without memory a function runs if it does not write, or with allow-oom" {
    r SET k v
    r FUNCTION LOAD REPLACE [library_with plain "return redis.call('set', 'k', 'x')"]
    r FUNCTION LOAD REPLACE [library_with oom "return redis.call('set', 'k', 'oom')" allow-oom]
    r FUNCTION LOAD REPLACE [library_with reads "return redis.call('get', 'k')" no-writes]
    with_config {maxmemory 1} {
        set replies [list [error_of {r FCALL plain 0}] [r FCALL reads 0] [r FCALL oom 0] [r FCALL_RO reads 0] \
            [error_of {r FUNCTION LOAD [library x y]}] [error_of {r FUNCTION RESTORE x}] [r FUNCTION DELETE plain]]
    }
    r FUNCTION FLUSH
    set replies
} [list "OOM command not allowed when used memory > 'maxmemory'." v OK oom \
    {*}[lrepeat 2 "OOM command not allowed when used memory > 'maxmemory'."] OK]

# --- One unit

check "clients that wait for a key are served after the function" {
    set c [client_blocked BLPOP l 0]
    set left [fcall "redis.call('RPUSH', 'l', 'a', 'b') return redis.call('LLEN', 'l')" 0]
    list $left [$c read] [r LLEN l]
} {2 {l a} 1}
check "what a function changes ends a transaction that watches it" {
    r FUNCTION LOAD REPLACE [library_with f "return redis.call('SET', 'a', 1)"]
    set other [client_open]
    r WATCH a
    $other call FCALL f 0
    r MULTI
    r PING
    r EXEC
} (nil)
check "the clock stands still while a function runs" {
    fcall "local t = redis.call('TIME') redis.call('SET', 'k', 'v', 'PX', 1) for i = 1, 3000000 do end
        local u = redis.call('TIME') return {t\[1\] == u\[1\] and t\[2\] == u\[2\], redis.call('EXISTS', 'k')}" 0
} {1 1}

# --- Figures

check_error "FUNCTION KILL finds no function that runs" {r FUNCTION KILL} "NOTBUSY No scripts in execution right now."

check_in 2 "FUNCTION STATS in RESP2" {
    r FUNCTION FLUSH
    r FUNCTION LOAD [library one f g]
    typed FUNCTION STATS
} [string map {\n ""} {array {{bulk running_script} nil {bulk engines} {array {{bulk LUA}
 {array {{bulk libraries_count} {int 1} {bulk functions_count} {int 2}}}}}}}]
check_in 3 "FUNCTION STATS in RESP3" {
    r FUNCTION FLUSH
    r FUNCTION LOAD [library one f g]
    typed FUNCTION STATS
} [string map {\n ""} {map {{bulk running_script} null {bulk engines} {map {{bulk LUA}
 {map {{bulk libraries_count} {int 1} {bulk functions_count} {int 2}}}}}}}]
check "INFO and MEMORY STATS count libraries and functions" {
    r FUNCTION FLUSH
    set empty [info_field used_memory_functions]
    r FUNCTION LOAD "[library one f g]--[string repeat x 100000]"
    set with [info_field used_memory_functions]
    assert {$with - $empty > 100000}
    assert {[info_field used_memory_vm_functions] > 10000}
    assert_equal [expr {[info_field used_memory_scripts] >= $with}] 1
    assert {[dict get [r MEMORY STATS] functions.caches] >= 100000}
    set counts [list [info_field number_of_libraries] [info_field number_of_functions]]
    r FUNCTION FLUSH
    assert_equal [info_field used_memory_functions] $empty
    list $counts [info_field number_of_libraries] [info_field number_of_functions]
} {{1 2} 0 0}
check "loading and flushing many times needs no more memory" {
    r FUNCTION FLUSH SYNC
    set before [info_field used_memory_vm_functions]
    for {set i 0} {$i < 300} {incr i} {
        r FUNCTION LOAD REPLACE "[library one f g]--[string repeat x 10000]"
    }
    r FUNCTION FLUSH SYNC
    expr {[info_field used_memory_vm_functions] <= $before + 1024}
} 1
check "COMMAND GETKEYS knows the keys of FCALL" {
    list [r COMMAND GETKEYS FCALL f 2 a b c] [r COMMAND GETKEYS FCALL_RO f 1 a]
} {{a b} a}

finish
