# What tests of scripts share; use `source $library/scripts.tcl`.

# The error of a script: its text, where it was raised, and the SHA-1 of the script.
proc raised {line sha text} {
    return [list error "$text script: $sha, on @user_script:$line."]
}

# The bytes of the reply to a script, for what is nested too deep to be parsed, or must not be split.
proc reply_bytes {script} {
    set socket [socket 127.0.0.1 [$::current_server port]]
    fconfigure $socket -translation binary -blocking 0
    puts -nonewline $socket "*3\r\n\$4\r\nEVAL\r\n\$[string length $script]\r\n$script\r\n\$1\r\n0\r\nPING\r\n"
    flush $socket
    set bytes ""
    wait_until {[string match *+PONG\r\n [append bytes [read $socket]]]}
    close $socket
    return [string range $bytes 0 end-7]
}
