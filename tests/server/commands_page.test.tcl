# The table of commands in docs/commands.md is what the server says of itself.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

check_in 2 "docs/commands.md names every command" {
    exec $repository/utils/commands-table --check $server_binary $repository/docs/commands.md
} ""

finish
