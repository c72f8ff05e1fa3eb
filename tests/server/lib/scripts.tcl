# What tests of scripts share; use `source $library/scripts.tcl`.

# The error of a script: its text, where it was raised, and the SHA-1 of the script.
proc raised {line sha text} {
    return [list error "$text script: $sha, on @user_script:$line."]
}

# The bytes of the reply to a command, for what is nested too deep to be parsed, or must not be split.
proc command_reply_bytes {args} {
    set socket [socket 127.0.0.1 [$::current_server port]]
    fconfigure $socket -translation binary -blocking 0
    puts -nonewline $socket "*[llength $args]\r\n"
    foreach argument $args {
        puts -nonewline $socket "\$[string length $argument]\r\n$argument\r\n"
    }
    puts -nonewline $socket PING\r\n
    flush $socket
    set bytes ""
    wait_until {[string match *+PONG\r\n [append bytes [read $socket]]]}
    close $socket
    return [string range $bytes 0 end-7]
}

proc reply_bytes {script} {
    return [command_reply_bytes EVAL $script 0]
}
