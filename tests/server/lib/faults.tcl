# faults: servers whose calls on files fail when a test says so. Source this after packlist.tcl.
#
#   with_faulty_server {directive value …} body     as with_server; it keeps its data in a folder apart
#   with_faults {rule …} body                       the rules hold for the body; throws when none did anything
#   faults rule …                                   they hold from now on; `faults` alone ends them
#   fault_hits ?glob?                               what rules did so far: lines "call action path"
#   for_each_call action script after               runs the script with the rule "any ACTION=K *" for K = 1, 2 …, each
#                                                   time followed by `after`, until there is no K-th call; returns
#                                                   how many there were. The action is crash,nth or EIO,from, say
#   check_soak name body ?expected?                 check_in 2, but only in long runs (PACKLIST_SOAK)
#   data_file name                                  the path of a file in the folder of data
#   leftovers                                       names in the folder of data that only work in progress may have
#   assert_nothing_left                             there are none; waits, as a server that deletes the history of the
#                                                   append-only file may yet be writing a manifest without it
#
# A rule is a line as tests/faults/faults.c explains: {write ENOSPC temp-*.rdb} {sync sleep=2000 *}.

set fault_library [expr {[info exists env(PACKLIST_BUILD)] ? [file normalize $env(PACKLIST_BUILD)]
    : "$repository/build/release"}]/tests/faults/faults.so

oo::class create faulty_server {
    superclass server
    variable folder

    method data {} {
        file mkdir $folder/data
        return $folder/data
    }

    # AddressSanitizer wants to be the first library, but works after ours, too.
    method command {} {
        set checks [expr {[info exists ::env(ASAN_OPTIONS)] ? "$::env(ASAN_OPTIONS):" : ""}]
        return [list env LD_PRELOAD=$::fault_library PACKLIST_FAULTS=$folder/faults \
            ASAN_OPTIONS=${checks}verify_asan_link_order=0 {*}[next]]
    }

    # An end that fails must not leave the server running for ever.
    method halt {} {
        my set_faults {}
        next
    }

    # As one file replaces another, the server sees all rules or none.
    method set_faults {rules} {
        if {[llength $rules] == 0} {
            file delete $folder/faults
            return
        }
        write_file $folder/faults.new [join $rules \n]\n
        file rename -force $folder/faults.new $folder/faults
    }

    method fault_hits {} {
        if {![file exists $folder/faults.hits]} {
            return {}
        }
        return [split [string trimright [read_file $folder/faults.hits]] \n]
    }
}

proc with_faulty_server {directives body} {
    if {![file exists $::fault_library]} {
        error "$::fault_library is not there: make faults"
    }
    uplevel 1 [list with_started [list faulty_server new $directives] $body]
}

proc faults {args} {
    $::current_server set_faults $args
}

proc fault_hits {{glob *}} {
    return [lsearch -all -inline -glob [$::current_server fault_hits] $glob]
}

proc with_faults {rules body} {
    set before [llength [fault_hits]]
    faults {*}$rules
    try {
        set result [uplevel 1 $body]
        # The call may be one of another thread, and come a moment later.
        if {![wait_while {[llength [fault_hits]] == $before}]} {
            error "no call was hit by: [join $rules {; }]"
        }
    } finally {
        faults
    }
    return $result
}

proc for_each_call {action script after} {
    for {set i 1} {1} {incr i} {
        set before [llength [fault_hits]]
        faults "any $action=$i *"
        catch {uplevel 1 $script}
        faults
        if {[llength [fault_hits]] == $before} {
            return [expr {$i - 1}]
        }
        uplevel 1 $after
    }
}

proc check_soak {args} {
    if {[info exists ::env(PACKLIST_SOAK)]} {
        uplevel 1 [list check_in 2 {*}$args]
    }
}

proc data_file {name} {
    return [$::current_server data]/$name
}

proc leftovers {} {
    return [glob -nocomplain -tails -directory [$::current_server data] temp-* */temp-*]
}

proc assert_nothing_left {} {
    wait_until {[leftovers] eq {}}
}
