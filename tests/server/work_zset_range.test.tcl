# Ranges of many members of sorted sets are stored by another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

set many 7000 ;# members
server_start {enable-debug-command yes}

proc change_ranges {} {
    remove_ranks za 100 3000
    r ZADD zb 1 new 2 member:7000
    r ZADD za 77 member:20001 78 another
}
# Members of one score, in the order of their bytes.
proc make_lexical {} {
    r DEL same
    r ZADD same {*}[concat {*}[lmap member [numbered 1 7000 m] {list 7 $member}]]
}
proc change_lexical {} {
    remove_ranks same 100 3000
    r ZADD same 7 m0 8 m9
}
check_stores make_zsets change_ranges {
    {ZRANGESTORE to za 0 -1} {ZRANGESTORE to za 1000 6000 REV} {ZRANGESTORE to za (100 5000 BYSCORE}
    {ZRANGESTORE to za 9000 77.5 BYSCORE REV LIMIT 50 5000} {ZRANGESTORE to zb -5000 -1}
}
check_stores make_lexical change_lexical {
    {ZRANGESTORE to same \[m11 \[m8 BYLEX LIMIT 5 5000} {ZRANGESTORE to same + - BYLEX REV LIMIT 500 4000}
    {ZRANGESTORE to same 2 -3}
}
check "a range that is stored where it is read is what was there" {
    set expected [stored_at_once make_zsets {ZRANGESTORE to za 10 6000}]
    make_zsets
    paused {
        set c [send_work {ZRANGESTORE za za 10 6000}]
    }
    set reply [$c read]
    expr {[list $reply [digest za]] eq $expected}
} 1
check "few members are stored at once" {
    make_zsets
    set before [total_works]
    r ZRANGESTORE to za 10 500
    r ZRANGESTORE to za 5 9 BYSCORE
    r ZRANGESTORE to nokey 0 -1
    expr {[total_works] - $before}
} 0

finish
