# lua-enable-deprecated-api: getfenv, setfenv and newproxy. The replies expected are those of Redis 8.0, except that no
# script changes what the next one finds, and that there are no finalizers. tests/unit/machine_test.c tries more.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/busy.tcl
source $library/functions.tcl
source $library/scripts.tcl

server_start {lua-enable-deprecated-api yes}

proc reply_or_error {args} {
    catch {r {*}$args} reply
    return [regsub { script: .*} $reply ""]
}

# The second run is that of a script which is compiled already.
proc replies_twice {script} {
    list [reply_or_error EVAL $script 0] [reply_or_error EVAL $script 0]
}

proc scripts_reply {name replies} {
    foreach {script reply} $replies {
        check_in 2 "$name: $script" [list replies_twice $script] [list $reply $reply]
    }
}

check_in 2 "the directive is shown and cannot be changed" {
    list [r CONFIG GET lua-enable-deprecated-api] [r CONFIG GET lua-enable-insecure-api] \
        [error_of {r CONFIG SET lua-enable-deprecated-api no}]
} [list {lua-enable-deprecated-api yes} {lua-enable-insecure-api yes} \
    "ERR CONFIG SET failed (possibly related to argument 'lua-enable-deprecated-api') - can't set immutable config"]
check_in 2 "without the directive, and by default, the functions do not exist" {
    with_server {} {
        foreach name {getfenv setfenv newproxy} {
            assert_match "ERR user_script:1: Script attempted to access nonexistent global variable '$name'*" \
                [error_of {r EVAL "return $name" 0}]
        }
        r CONFIG GET lua-enable-deprecated-api
    }
} {lua-enable-deprecated-api no}
check_in 2 "Valkey's other name for the directive counts, and CONFIG REWRITE keeps the value" {
    with_server {lua-enable-insecure-api yes} {
        r CONFIG REWRITE
        list [r EVAL {return type(newproxy)} 0] \
            [regexp -line {^lua-enable-\w+-api yes$} [read_file [$current_server folder]/packlist.conf]]
    }
} {function 1}

scripts_reply "getfenv" {
    {return getfenv() == _G} 1
    {return getfenv(0) == _G} 1
    {return getfenv('1') == _G} 1
    {return getfenv(1.7) == _G} 1
    {return getfenv(tostring) == _G} 1
    {return getfenv(redis.call) == _G} 1
    {return getfenv(2)} "ERR user_script:1: bad argument #1 to 'getfenv' (invalid level)"
    {return getfenv(3)} "ERR user_script:1: bad argument #1 to 'getfenv' (invalid level)"
    {return getfenv(1000)} "ERR user_script:1: bad argument #1 to 'getfenv' (invalid level)"
    {return getfenv(1e300)} "ERR user_script:1: bad argument #1 to 'getfenv' (invalid level)"
    {return getfenv(-1)} "ERR user_script:1: bad argument #1 to 'getfenv' (level must be non-negative)"
    {return getfenv('x')} "ERR user_script:1: bad argument #1 to 'getfenv' (number expected, got string)"
    {local c = coroutine.wrap(function() return getfenv(0) == _G end) return tostring(c())} true
    {getfenv().foo = 1} "ERR user_script:1: Attempt to modify a readonly table"
    {getfenv(0).foo = 1} "ERR user_script:1: Attempt to modify a readonly table"
    {rawset(getfenv(), 'foo', 1)} "ERR Attempt to modify a readonly table"
    {setmetatable(getfenv(), {})} "ERR Attempt to modify a readonly table"
    {local function f() return getfenv(2) end local function g() return f() end return g()}
        "ERR user_script:1: no function environment for tail call at level 2"
}
scripts_reply "setfenv" {
    {local f = function() return x end setfenv(f, {x = 7}) return f()} 7
    {local f = function() return x end return setfenv(f, {x = 7}) == f} 1
    {local f = function() return x end setfenv(f, {x = 7}) return getfenv(f).x} 7
    {local f = function() setfenv(2, {x = 5}) end f() return x} 5
    {local f = loadstring('return x') setfenv(f, {x = 2}) return f()} 2
    {setfenv(1, {y = 3}) return y} 3
    {local e = setmetatable({}, {__index = _G}) setfenv(1, e) z = 5 return z .. type(redis.call)} 5function
    {return z} "ERR user_script:1: Script attempted to access nonexistent global variable 'z'"
    {local e = setfenv(1, {}) return type(e)} "ERR user_script:1: attempt to call global 'type' (a nil value)"
    {return setfenv(0, {})} (nil)
    {setfenv(0, {x = 8, y = 9}) return loadstring('return x')() + getfenv(0).y} 17
    {local c = coroutine.wrap(function() setfenv(0, {x = 1}) return loadstring('return x')() end) return c()} 1
    {setfenv(1, {loadstring = loadstring}) return loadstring('return redis.sha1hex("")')()}
        da39a3ee5e6b4b0d3255bfef95601890afd80709
    {return setfenv(1)} "ERR user_script:1: bad argument #2 to 'setfenv' (table expected, got no value)"
    {return setfenv(1, 2)} "ERR user_script:1: bad argument #2 to 'setfenv' (table expected, got number)"
    {return setfenv('a', {})} "ERR user_script:1: bad argument #1 to 'setfenv' (number expected, got string)"
    {return setfenv(-1, {})} "ERR user_script:1: bad argument #1 to 'setfenv' (level must be non-negative)"
    {return setfenv(2, {})} "ERR user_script:1: bad argument #1 to 'setfenv' (invalid level)"
    {return setfenv(1000, {})} "ERR user_script:1: bad argument #1 to 'setfenv' (invalid level)"
    {return setfenv(tostring, {})} "ERR user_script:1: 'setfenv' cannot change environment of given object"
    {return setfenv(redis.call, {})} "ERR user_script:1: 'setfenv' cannot change environment of given object"
    {return setfenv(coroutine.create(function() end), {})}
        "ERR user_script:1: bad argument #1 to 'setfenv' (number expected, got thread)"
}
scripts_reply "newproxy" {
    {return type(newproxy())} userdata
    {return type(newproxy(false))} userdata
    {return tostring(getmetatable(newproxy()))} nil
    {return type(getmetatable(newproxy(true)))} table
    {return newproxy(1)} "ERR user_script:1: bad argument #1 to 'newproxy' (boolean or proxy expected)"
    {return newproxy({})} "ERR user_script:1: bad argument #1 to 'newproxy' (boolean or proxy expected)"
    {return newproxy(newproxy())} "ERR user_script:1: bad argument #1 to 'newproxy' (boolean or proxy expected)"
    {return newproxy(cjson.null)} "ERR user_script:1: bad argument #1 to 'newproxy' (boolean or proxy expected)"
    {local p = newproxy(true) local q = newproxy(p) return getmetatable(p) == getmetatable(q)} 1
    {local p = newproxy(true) getmetatable(p).__index = function(t, k) return k .. 'x' end return p.abc} abcx
    {local p = newproxy(true) getmetatable(p).__len = function() return 5 end return #p} 5
    {local p = newproxy(true) getmetatable(p).__call = function(self, a) return a end return p(4)} 4
    {local p = newproxy(true) getmetatable(p).__eq = function() return true end return p == newproxy(p)} 1
    {local p = newproxy(true) getmetatable(p).__tostring = function() return 'str' end return tostring(p)} str
    {local p = newproxy(true) getmetatable(p).__metatable = 'no' return getmetatable(p)} no
    {local p = newproxy(true) local m = getmetatable(p) m.__newindex = function(t, k, v) m.got = k .. v end p.a = 'b'
     return m.got} ab
    {return setmetatable(newproxy(true), {})}
        "ERR user_script:1: bad argument #1 to 'setmetatable' (table expected, got userdata)"
    {local t = {} for i = 1, 1000 do t[i] = newproxy(true) end return #t} 1000
}
scripts_reply "a userdata is no value for" {
    {return newproxy()} (nil)
    {return {1, newproxy(), 2}} {1 (nil) 2}
    {return redis.call('set', 'k', newproxy())} "ERR Lua redis lib command arguments must be strings or integers"
    {return redis.error_reply(newproxy())} "ERR wrong number or type of arguments"
    {return cjson.encode(newproxy())} "ERR user_script:1: Cannot serialise userdata: type not supported"
    {return cmsgpack.unpack(cmsgpack.pack(newproxy()))} (nil)
    {return redis.sha1hex(newproxy())} da39a3ee5e6b4b0d3255bfef95601890afd80709
}
check_in 2 "an error that is a userdata is an error" {
    list [string match "ERR *" [error_of {r EVAL {error(newproxy())} 0}]] [r EVAL {return 1} 0]
} {1 1}
check_in 2 "a finalizer is refused" {
    r SET finalized no
    foreach script {
        {local p = newproxy(true) getmetatable(p).__gc = function() redis.call('set', 'finalized', 'yes') end}
        {local p = newproxy(true) rawset(getmetatable(p), '__gc', function() redis.call('set', 'finalized', 'yes') end)}
        {local m = getmetatable(newproxy(true)) setfenv(1, m) __gc = error}
    } {
        assert_match "ERR user_script:1: scripts cannot have finalizers (__gc)*" [error_of {r EVAL $script 0}]
        r EVAL {collectgarbage()} 0
    }
    r GET finalized
} no
check_in 2 "what a busy script does with environments is undone when it is killed" {
    with_busy {EVAL {local all = setfenv all(0, {}) all(1, {}) while true do end} 0} {}
    assert_match "*killed by user*" [error_of {$runner read}]
    r EVAL {return {type(redis.call), loadstring('return type(redis)')(), tostring(getfenv(0) == _G)}} 0
} {function table true}

check_in 2 "functions of libraries have them, too, and find their environment again" {
    r FUNCTION LOAD REPLACE [library_with f {setfenv(1, {x = 9}) return x}]
    set replies [list [r FCALL f 0] [r FCALL f 0]]
    r FUNCTION LOAD REPLACE [library_with f {return {type(getfenv), type(newproxy(true)), tostring(getfenv() == _G)}}]
    lappend replies [r FCALL f 0]
} {9 9 {function userdata true}}
check_in 2 "the code of a library does not see them while it is loaded" {
    lmap name {getfenv setfenv newproxy} {
        set code "#!lua name=loading\nlocal f = $name\nredis.register_function('f', function() end)"
        string match "*nonexistent global variable '$name'*" [error_of {r FUNCTION LOAD $code}]
    }
} {1 1 1}
check_in 2 "they are there after the scripts and functions are flushed" {
    foreach mode {SYNC ASYNC} {
        r SCRIPT FLUSH $mode
        r FUNCTION FLUSH $mode
    }
    r EVAL {return type(getfenv) .. type(setfenv) .. type(newproxy)} 0
} functionfunctionfunction

finish
