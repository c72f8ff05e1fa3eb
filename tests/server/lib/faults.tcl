# System calls of a server that fail or wait when a test says so. Sourced by a test after lib/packlist.tcl.
#
#   with_faults body                all servers that are started in the body can have faults
#   fault call path what …          from now on: the lines of faults.c; without arguments there are none

proc with_faults {body} {
    set ::fault_folder [temporary_folder]
    exec cc -std=gnu17 -O1 -shared -fPIC -o $::fault_folder/faults.so [file join $::library faults.c] -ldl
    fault
    set ::server_environment [list LD_PRELOAD=$::fault_folder/faults.so PACKLIST_FAULTS=$::fault_folder/rules \
        ASAN_OPTIONS=$::env(ASAN_OPTIONS):verify_asan_link_order=0]
    try {
        uplevel 1 $body
    } finally {
        set ::server_environment {}
        file delete -force $::fault_folder
    }
}

# Replaced as a whole: a server never reads half of it.
proc fault {args} {
    write_file $::fault_folder/new [join $args]
    file rename -force $::fault_folder/new $::fault_folder/rules
}
