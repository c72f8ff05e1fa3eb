# FUNCTION LOAD, LIST, DELETE and FLUSH; what the code of a library may do while it is loaded.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/functions.tcl

server_start

proc load_error {code} {
    set before [functions_by_library]
    set error [error_of {r FUNCTION LOAD $code}]
    assert_equal [functions_by_library] $before
    return $error
}

# --- The first line

foreach {code error} {
    "" "Missing library metadata"
    "return 1" "Missing library metadata"
    "#!lua name=a" "Invalid library metadata"
    "#!lua \"name=a\n" "Invalid library metadata"
    "#!lua\n" "Library name was not given"
    "#!lua name=a name=b\n" "Invalid metadata value, name argument was given multiple times"
    "#!lua name=a flags=no-writes\n" "Invalid metadata value given: flags=no-writes"
    "#!js name=a\n" "Engine 'js' not found"
    "#! name=a\n" "Engine '' not found"
    "#!lua name=a.b\n"
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long"
    "#!lua name=a\n" "No functions registered"
    "#!lua name=a\nfoo(" "Error compiling function: user_function:2: unexpected symbol near '<eof>'"
} {
    check "FUNCTION LOAD refuses [printable $code]" [list load_error $code] "ERR $error"
}
check "FUNCTION LOAD returns the name; engine and metadata are read in any case" {
    r FUNCTION FLUSH
    list [typed FUNCTION LOAD "#!LuA NAME=aB_1 \t\nredis.register_function('f', redis.log)"] [library_names]
} {{bulk aB_1} aB_1}
check_error "FUNCTION LOAD knows no other option" {r FUNCTION LOAD REPLACE X [library a f]} \
    "ERR Unknown option given: X"
check_error "FUNCTION LOAD needs code" {r FUNCTION LOAD} "ERR wrong number of arguments for 'function|load' command"

# --- Registering

foreach {call error} {
    "register_function()" "wrong number of arguments to redis.register_function"
    "register_function(1, 2, 3)" "wrong number of arguments to redis.register_function"
    "register_function('f')" "calling redis.register_function with a single argument is only applicable to Lua table\
        (representing named arguments)."
    "register_function({}, function() end)" "first argument to redis.register_function must be a string"
    "register_function('f', 1)" "second argument to redis.register_function must be a function"
    "register_function('f g', function() end)"
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long"
    "register_function{}" "redis.register_function must get a function name argument"
    "register_function{callback = function() end}" "redis.register_function must get a function name argument"
    "register_function{function_name = 'f'}" "redis.register_function must get a callback argument"
    "register_function{callback = 1}" "callback argument given to redis.register_function must be a function"
    "register_function{function_name = {}}" "function_name argument given to redis.register_function must be a string"
    "register_function{description = {}}" "description argument given to redis.register_function must be a string"
    "register_function{flags = 1}"
    "flags argument to redis.register_function must be a table representing function flags"
    "register_function{x = 1}" "unknown argument given to redis.register_function"
    "register_function{1}" "unknown argument given to redis.register_function"
    "register_function{\[{}\] = 1}" "named argument key given to redis.register_function is not a string"
    "register_function{function_name = 'f', callback = function() end, flags = {'x'}}" "unknown flag given"
    "register_function{function_name = 'f', callback = function() end, flags = {'no-writes', {}}}" "unknown flag given"
} {
    check "redis.$call is an error" [list load_error "#!lua name=e\nredis.$call"] \
        "ERR Error registering functions: ERR $error"
}
check "a library registers each name once" {load_error [library e f f]} \
    "ERR Error registering functions: ERR Function already exists in the library"
check "both forms register; what is not given is not shown" {
    r FUNCTION FLUSH
    r FUNCTION LOAD "#!lua name=a
        redis.register_function('f', function() end)
        redis.register_function{Function_Name='g', CALLBACK=function() end, description='text',
            flags={'no-writes', 'Allow-OOM', 'allow-stale', 'no-cluster', 'allow-cross-slot-keys'}}
        redis.register_function(5, redis.log)"
    set functions {}
    foreach function [dict get [lindex [r FUNCTION LIST] 0] functions] {
        dict set functions [dict get $function name] \
            [list [dict get $function description] [dict get $function flags]]
    }
    lsort -stride 2 $functions
} {5 {(nil) {}} f {(nil) {}} g {text {no-writes allow-oom allow-stale no-cluster allow-cross-slot-keys}}}
check "flags end at the first nil; a flag may stand twice" {
    r FUNCTION LOAD REPLACE "#!lua name=a\nredis.register_function{function_name='f', callback=function() end,
        flags={'no-writes', 'no-writes', nil, 'x'}}"
    dict get [lindex [dict get [lindex [r FUNCTION LIST] 0] functions] 0] flags
} no-writes

# --- While a library is loaded

foreach name {string math table tostring pairs pcall error next type select unpack setmetatable rawset loadstring
    collectgarbage cjson cmsgpack struct bit os print _G KEYS ARGV nosuch} {
    check "code that is loaded does not see $name" [list load_error "#!lua name=e\nlocal x = $name"] \
        "ERR Error registering functions: ERR user_function:2: Script attempted to access nonexistent global variable\
        '$name'"
}
foreach name {call pcall setresp sha1hex error_reply status_reply set_repl REPL_ALL nosuch} {
    check "nor redis.$name" [list load_error "#!lua name=e\nlocal x = redis.$name"] \
        "ERR Error registering functions: ERR user_function:2: Script attempted to access nonexistent global variable\
        '$name'"
}
check "it sees constants and redis.log" {
    r FUNCTION LOAD REPLACE "#!lua name=a
        local version, number, level = redis.REDIS_VERSION, redis.REDIS_VERSION_NUM, redis.LOG_WARNING
        redis.log(level, 'loading a library')
        redis.register_function('f', function() return {version == redis.REDIS_VERSION, number, level} end)"
    assert {[string match "*loading a library*" [$current_server log]]}
    lindex [r FCALL f 0] 2
} 3
check "it cannot set globals" {load_error "#!lua name=e\nx = 1"} \
    "ERR Error registering functions: ERR user_function:2: Attempt to modify a readonly table"
check "nor change the table redis" {load_error "#!lua name=e\nredis.x = 1"} \
    "ERR Error registering functions: ERR user_function:2: Attempt to modify a readonly table"
check "an error of the code is shown with its line" {load_error "#!lua name=e\n\n\nlocal x = nil .. 'y'"} \
    "ERR Error registering functions: ERR user_function:4: attempt to concatenate a nil value"
check "code that runs too long is ended, and the server goes on" {
    set error [load_error "#!lua name=e\nwhile true do end"]
    list $error [r PING]
} {{ERR Error registering functions: ERR FUNCTION LOAD timeout} PONG}
check "a load that fails leaves nothing behind" {
    r FUNCTION FLUSH
    load_error "#!lua name=e\nredis.register_function('f', function() end) redis.nosuch()"
    list [r FUNCTION LIST] [error_of {r FCALL f 0}]
} {{} {ERR Function not found}}
check "a function cannot register another one later" {
    r FUNCTION FLUSH
    r FUNCTION LOAD "#!lua name=a\nlocal register = redis.register_function
        redis.register_function('f', function() register('g', function() end) end)
        redis.register_function('h', function() return redis.register_function end)"
    list [error_of {r FCALL f 0}] [r FCALL h 0] [functions_by_library]
} [list "ERR redis.register_function can only be called on FUNCTION LOAD command script: f, on @user_function:3." \
    (nil) {a {f h}}]

# --- Names

check "names of libraries have a case, those of functions have none" {
    r FUNCTION FLUSH
    r FUNCTION LOAD [library one f]
    r FUNCTION LOAD [library ONE g]
    list [library_names] [r FCALL F 0] [r FCALL G 0] [error_of {r FUNCTION LOAD [library two F]}]
} {{ONE one} f g {ERR Function F already exists}}
check "a library that exists is replaced only if this is asked for" {
    r FUNCTION FLUSH
    r FUNCTION LOAD [library one f g]
    set error [error_of {r FUNCTION LOAD [library one h]}]
    list $error [r FUNCTION LOAD replace [library one g h]] [functions_by_library]
} {{ERR Library 'one' already exists} one {one {g h}}}
check "a replacement that fails changes nothing" {
    r FUNCTION FLUSH
    r FUNCTION LOAD [library one f]
    r FUNCTION LOAD [library two g]
    set errors {}
    foreach code [list [library one f g] "#!lua name=one\nfoo(" "#!lua name=one\n" \
            "[library one x]redis.nosuch()" [library one x x]] {
        lappend errors [error_of {r FUNCTION LOAD REPLACE $code}]
        assert_equal [list [functions_by_library] [r FCALL f 0] [r FCALL g 0]] {{one f two g} f g}
    }
    lindex $errors 0
} {ERR Function g already exists}

# --- LIST, DELETE, FLUSH

check_in 2 "FUNCTION LIST in RESP2" {
    r FUNCTION FLUSH
    r FUNCTION LOAD [library_with f "return 1" no-writes]
    typed FUNCTION LIST
} [string map {\n ""} {array {{array {{bulk library_name} {bulk f} {bulk engine} {bulk LUA} {bulk functions}
 {array {{array {{bulk name} {bulk f} {bulk description} nil {bulk flags} {array {{simple no-writes}}}}}}}}}}}]
check_in 3 "FUNCTION LIST in RESP3" {
    r FUNCTION FLUSH
    r FUNCTION LOAD [library_with f "return 1" no-writes]
    typed FUNCTION LIST
} [string map {\n ""} {array {{map {{bulk library_name} {bulk f} {bulk engine} {bulk LUA} {bulk functions}
 {array {{map {{bulk name} {bulk f} {bulk description} null {bulk flags} {set {{simple no-writes}}}}}}}}}}}]
check "FUNCTION LIST WITHCODE shows the code as it came" {
    r FUNCTION FLUSH
    r FUNCTION LOAD "[library a f]-- \xff\0"
    dict get [lindex [r FUNCTION LIST withcode] 0] library_code
} "[library a f]-- \xff\0"
check "FUNCTION LIST LIBRARYNAME takes a pattern, in any case" {
    r FUNCTION FLUSH
    foreach name {abc aBd xyz} {r FUNCTION LOAD [library $name f_$name]}
    list [library_names LIBRARYNAME AB?] [library_names WITHCODE libraryname x*] [library_names LIBRARYNAME ""] \
        [library_names]
} {{aBd abc} xyz {} {aBd abc xyz}}
foreach {arguments error} {
    LIBRARYNAME "ERR library name argument was not given"
    X "ERR Unknown argument X"
    {WITHCODE WITHCODE} "ERR Unknown argument WITHCODE"
    {LIBRARYNAME a LIBRARYNAME b} "ERR Unknown argument LIBRARYNAME"
} {
    check_error "FUNCTION LIST $arguments" [list r FUNCTION LIST {*}$arguments] $error
}
check "FUNCTION DELETE deletes a library with its functions" {
    r FUNCTION FLUSH
    r FUNCTION LOAD [library one f]
    r FUNCTION LOAD [library two g]
    list [r FUNCTION DELETE one] [functions_by_library] [error_of {r FCALL f 0}] [error_of {r FUNCTION DELETE one}] \
        [error_of {r FUNCTION DELETE TWO}]
} {OK {two g} {ERR Function not found} {ERR Library not found} {ERR Library not found}}
check "FUNCTION FLUSH deletes all" {
    set replies {}
    foreach mode {{} SYNC async} {
        r FUNCTION LOAD REPLACE [library one f]
        lappend replies [r FUNCTION FLUSH {*}$mode] [r FUNCTION LIST]
    }
    list $replies [r FUNCTION LOAD [library one f]] [r FCALL f 0]
} {{OK {} OK {} OK {}} one f}
check_error "FUNCTION FLUSH knows two modes" {r FUNCTION FLUSH X} "ERR FUNCTION FLUSH only supports SYNC|ASYNC option"
check_error "FUNCTION FLUSH takes one mode" {r FUNCTION FLUSH SYNC X} \
    "ERR unknown subcommand or wrong number of arguments for 'FLUSH'. Try FUNCTION HELP."
check "FLUSHALL and FLUSHDB leave functions alone" {
    r FUNCTION LOAD REPLACE [library one f]
    r FLUSHALL
    r FLUSHDB
    list [library_names] [r FCALL f 0]
} {one f}
check "FUNCTION HELP explains the subcommands" {
    list [lindex [r FUNCTION HELP] 0] [llength [r FUNCTION HELP]]
} {{FUNCTION <subcommand> [<arg> [value] [opt] ...]. Subcommands are:} 39}
check "changes of libraries count for saving" {
    r FUNCTION FLUSH
    set before [info_field rdb_changes_since_last_save]
    r FUNCTION LOAD [library one f]
    set payload [r FUNCTION DUMP]
    r FUNCTION LOAD REPLACE [library one f]
    r FUNCTION DELETE one
    r FUNCTION RESTORE $payload
    r FUNCTION FLUSH
    catch {r FUNCTION LOAD x}
    catch {r FUNCTION DELETE one}
    expr {[info_field rdb_changes_since_last_save] - $before}
} 5
check "FUNCTION commands can be queued" {
    r FUNCTION FLUSH
    r MULTI
    r FUNCTION LOAD [library one f]
    r FCALL f 0
    r FUNCTION DELETE one
    r FCALL f 0
    r EXEC
} {one f OK {(error) ERR Function not found}}
check "a thousand libraries of ten functions" {
    r FUNCTION FLUSH
    for {set i 0} {$i < 1000} {incr i} {
        r FUNCTION LOAD [library l$i {*}[lmap j {0 1 2 3 4 5 6 7 8 9} {string cat f$i _ $j}]]
    }
    set replies [list [llength [r FUNCTION LIST]] [r FCALL f777_3 0]]
    for {set i 0} {$i < 1000} {incr i 2} {r FUNCTION DELETE l$i}
    lappend replies [llength [r FUNCTION LIST]] [error_of {r FCALL f776_3 0}] [r FCALL f777_9 0] [r FUNCTION FLUSH]
} {1000 f777_3 500 {ERR Function not found} f777_9 OK}

finish
