# Long lists are searched in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

proc fill_list {key elements} {
    r DEL $key
    r RPUSH $key {*}$elements
}
proc make_lists {} {
    fill_list long [numbered 1 200000]
    fill_list twins [lrepeat 20000 x y]
    r CONFIG SET list-compress-depth 1
    fill_list compressed [numbered 1 120000 element:]
    r CONFIG SET list-compress-depth 0
}
proc change_lists {} {
    r LPUSH long 199990 nosuch
    r LSET long 150001 other
    r LPOP twins 199
    r RPUSH twins y
    r LPOP compressed 110000
    r LPUSH compressed element:119990
    r RENAME compressed away
    r DEL long
}

check_works positions make_lists change_lists {
    {LPOS long 199990} {LPOS long 150000 RANK -1} {LPOS long nosuch} {LPOS long nosuch COUNT 3}
    {LPOS long 190000 MAXLEN 199999} {LPOS long 190000 RANK 2} {LPOS long 10 RANK -1 COUNT 0 MAXLEN 199995}
    {LPOS twins y COUNT 0} {LPOS twins y COUNT 0 RANK -3} {LPOS twins x RANK 100 COUNT 18000 MAXLEN 39000}
    {LPOS compressed element:119990} {LPOS compressed element:90000 COUNT 0 RANK -1}
}
check "short lists, and searches that end soon, take no thread" {
    make_lists
    set before [total_works]
    r RPUSH list {*}[numbered 1 100]
    r LPOS list 100
    assert_equal [r LPOS long 2] 1
    assert_equal [r LPOS twins y RANK -1 COUNT 2] {39999 39997}
    expr {[total_works] - $before}
} 0

finish
