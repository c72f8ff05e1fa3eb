# Tests of busy scripts: those that run longer than busy-reply-threshold. Sourced after lib/packlist.tcl.
#
#   with_busy {EVAL … 0} body      another client, $::runner, sends this; when the server is busy with it, the body
#                                  runs; then the script is killed
#   with_busy_to_end {…} body      the same for a script that ends by itself: it is waited for
#   reply_of {command}             what the default connection gets for it: a plain value, or the text of the error
#   is_busy                        whether a client gets BUSY
#   end_scripts                    kills what runs, until clients are served again
#   $forever                       a script that ends only when it is killed
#   spin seconds                   a piece of a script that takes so many seconds of the processor's time
#   $c write_in_background bytes   sends what the server takes now; the rest while something is waited for

set forever {while true do end}
set busy_with_script "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
set busy_with_function "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
set unkillable "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait\
    the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command."
set not_busy "NOTBUSY No scripts in execution right now."

proc spin {seconds} {
    return " local spin_begin = os.clock() while os.clock() - spin_begin < $seconds do end "
}

proc catch_error {body} {
    catch {uplevel 1 $body} result
    return $result
}

proc reply_of {command} {
    return [catch_error {r {*}$command}]
}

proc is_busy {} {
    return [string match BUSY* [catch_error {$::current_server control PING}]]
}

proc end_scripts {} {
    while {[is_busy]} {
        catch {$::current_server control SCRIPT KILL}
        catch {$::current_server control FUNCTION KILL}
        after 5
    }
}

proc with_busy {request body {end end_scripts}} {
    with_config {busy-reply-threshold 20} {
        set ::runner [client_open]
        $::runner send {*}$request
        wait_until {[is_busy]}
        try {
            uplevel 1 $body
        } finally {
            $end
        }
    }
}

proc with_busy_to_end {request body} {
    uplevel 1 [list with_busy $request $body wait_for_end]
}

proc wait_for_end {} {
    wait_until {![is_busy]} [expr {10 * $::patience_ms}]
}

oo::define client method write_in_background {bytes} {
    chan puts -nonewline $socket $bytes
    chan flush $socket
}
