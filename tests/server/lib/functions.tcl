# What tests of functions share; use `source $library/functions.tcl`.

# The code of a library whose functions return their names.
proc library {name args} {
    set code "#!lua name=$name\n"
    foreach function $args {
        append code "redis.register_function('$function', function(keys, args) return '$function' end)\n"
    }
    return $code
}

# The same with the body of one function of that name.
proc library_with {name body {flags ""}} {
    set flags [join [lmap flag $flags {string cat ' $flag '}] ,]
    return "#!lua name=$name\nredis.register_function{function_name='$name', flags={$flags},\
        callback=function(keys, args) $body end}"
}

proc library_names {args} {
    return [lsort [lmap entry [r FUNCTION LIST {*}$args] {dict get $entry library_name}]]
}

# {library {function …} …}, sorted.
proc functions_by_library {} {
    set found {}
    foreach entry [r FUNCTION LIST] {
        dict set found [dict get $entry library_name] \
            [lsort [lmap function [dict get $entry functions] {dict get $function name}]]
    }
    return [lsort -stride 2 $found]
}

# A payload for FUNCTION RESTORE that Redis makes of libraries with these names, each with a function of that name and
# _f behind it.
proc dump_of {args} {
    r FUNCTION FLUSH
    foreach name $args {
        r FUNCTION LOAD REPLACE [library $name ${name}_f]
    }
    set payload [r FUNCTION DUMP]
    r FUNCTION FLUSH
    return $payload
}
