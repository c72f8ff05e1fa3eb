# Set algebra of many members runs in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

check_works set make_sets change_sets {
    {SINTER a b} {SINTER a b a} {SUNION a b} {SUNION a b c} {SDIFF a b} {SDIFF a c b}
    {SUNION a c c c c c c c c c c c c d e f g h}
}
check_works number make_sets change_sets {
    {SINTERCARD 2 a b} {SINTERCARD 2 a b LIMIT 7000} {SUNIONCARD 3 a b c} {SUNIONCARD 2 a b LIMIT 28000}
    {SDIFFCARD 2 a b} {SDIFFCARD 2 a b LIMIT 100}
}
check_stores make_sets change_sets {
    {SINTERSTORE to a b} {SUNIONSTORE to a b c} {SDIFFSTORE to a b} {SUNIONSTORE to b}
    {SUNIONSTORE to a c c c c c c c c c c c c d e f g h}
}

finish
