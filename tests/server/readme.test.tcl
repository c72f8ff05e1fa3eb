# The README's table of commands is what the server says of itself.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

check_in 2 "the README names every command" {
    exec $repository/utils/commands-table --check $server_binary $repository/README.md
} ""

finish
