# Sorted sets of many members are combined in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

check_works list make_zsets change_zsets {
    {ZUNION 2 za zb WITHSCORES} {ZUNION 3 za zb za WEIGHTS 1 2 3} {ZUNION 2 za nokey}
    {ZUNION 3 za zc members AGGREGATE MAX WITHSCORES} {ZINTER 2 za zb WITHSCORES} {ZINTER 2 za za}
    {ZINTER 3 za members zb WEIGHTS 1 2 3} {ZINTER 3 za zb za AGGREGATE COUNT WITHSCORES}
    {ZDIFF 2 za zb WITHSCORES} {ZDIFF 3 za zc members} {ZDIFF 2 members za} {ZDIFF 2 za nokey}
}
check_works number make_zsets change_zsets {
    {ZINTERCARD 2 za zb} {ZINTERCARD 3 za members zb LIMIT 7000}
}
check_stores make_zsets change_zsets {
    {ZUNIONSTORE to 2 za zb} {ZUNIONSTORE to 3 za zb za WEIGHTS 1 2 3} {ZINTERSTORE to 2 za members AGGREGATE MAX}
    {ZDIFFSTORE to 2 za zb} {ZUNIONSTORE to 1 za}
}
check "sorted sets: small ones are combined at once, few members are looked for in a large one at once" {
    make_zsets
    set before [total_works]
    r ZUNION 2 zc zc WITHSCORES
    r ZINTER 2 zc za
    r ZINTERCARD 2 zc za
    r ZINTERSTORE destination 2 zc za
    expr {[total_works] - $before}
} 0
check "a sorted set is combined while its key has another value already, in RESP3, too" {
    make_zsets
    set c [client_open]
    $c call HELLO 3
    set expected [$c call ZUNION 2 za zb WITHSCORES]
    paused {
        $c send ZUNION 2 za zb WITHSCORES
        wait_for_works 1
        r SET za text
        r ZREMRANGEBYRANK zb 0 -1
    }
    expr {[$c read] eq $expected && [r GET za] eq "text"}
} 1

finish
