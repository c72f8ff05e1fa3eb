# Long strings are searched and compared in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

server_start {enable-debug-command yes}

proc make_bits {} {
    r SET bits [string repeat "\x00\x01\x7f\xff" 1000000]
    r DEL zeros
    r SETRANGE zeros 3999999 "\x00"
    r SETBIT zeros 25600001 1
    r SET ones [string repeat "\xff" 4000000]
}
proc change_bits {} {
    r SETRANGE bits 100 [string repeat "\x01" 20000]
    r SETBIT bits 31999999 0
    r APPEND bits [string repeat "\xff" 4000000]
    r SETBIT zeros 25600001 0
    r SETBIT zeros 22400003 1
    r RENAME zeros away
    r SETBIT ones 20000000 0
    r SET bits [string repeat "\xff" 4000000]
    r DEL bits
}

# Long texts with much in common; the second one is far longer.
proc make_texts {} {
    r SET text1 [string repeat "some words and others " 100]
    r SET text2 [string repeat "other words and some " 100]
    r SET short "xyz"
    r SET large [string repeat "ab z" 120000]
}
proc change_texts {} {
    r APPEND text1 [string repeat other 200]
    r SETRANGE text2 100 "something"
    r SET short z
    r SETRANGE large 0 "xyzxyz"
    r APPEND large xyz
    r DEL text2 large
}

check_works number make_bits change_bits {
    {BITCOUNT bits} {BITCOUNT bits 1 -2} {BITCOUNT bits 11 31999990 BIT} {BITPOS zeros 1} {BITPOS ones 0}
    {BITPOS zeros 1 5 -5} {BITPOS zeros 1 11 31999990 BIT} {BITPOS zeros 1 3 25600000 BIT}
}
check_works text make_texts change_texts {
    {LCS text1 text2} {LCS text1 text2 LEN} {LCS text1 text2 IDX WITHMATCHLEN} {LCS text1 text1} {LCS short large}
    {LCS large short LEN} {LCS large short IDX MINMATCHLEN 2}
}
check "small strings, and bits that are found soon, take no thread" {
    make_bits
    set before [total_works]
    r SET small [string repeat x 200]
    r BITCOUNT small
    r BITPOS small 1
    r LCS small small
    assert_equal [r BITPOS bits 1] 15
    assert_equal [r BITPOS bits 0 500] 4000
    expr {[total_works] - $before}
} 0

finish
