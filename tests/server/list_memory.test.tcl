# MEMORY USAGE of lists: exact, and small.
source [file join [file dirname [file normalize [info script]]] lib lists.tcl]

server_start

# What used_memory may differ by: the table of keys and a connection's buffers change, and a build with CHECKED=1 keeps
# memory for its checks.
set allowance [expr {[info exists env(PACKLIST_CHECKED)] ? 65536 : 2048}]

check "MEMORY USAGE is an integer" {
    r RPUSH k a
    lassign [typed MEMORY USAGE k] type bytes
    assert_equal $type int
    assert {$bytes > 0}
}
check "MEMORY USAGE of a missing key is null" {r MEMORY USAGE nosuch} (nil)
check "MEMORY USAGE takes SAMPLES and gives the same figure" {
    with_config {list-max-listpack-size 4} {
        r RPUSH k {*}[numbered 1 100 element] [string repeat x 1000]
        llength [lsort -unique [list [r MEMORY USAGE k] [r MEMORY USAGE k SAMPLES 0] [r MEMORY USAGE k SAMPLES 1] \
            [r memory usage k samples 5] [r MEMORY USAGE k SAMPLES 1000000]]]
    }
} 1
foreach arguments {{k SAMPLES} {k SAMPLES -1} {k LIMIT 1} {k SAMPLES 1 x}} {
    check_error "MEMORY USAGE $arguments is a syntax error" {
        r RPUSH k a
        r MEMORY USAGE {*}$arguments
    } "ERR syntax error"
}
check_error "MEMORY USAGE refuses SAMPLES that are no number" {r MEMORY USAGE k SAMPLES x} $not_integer
check_error "MEMORY USAGE needs a key" {r MEMORY USAGE} "ERR wrong number of arguments for 'memory|usage' command"

check "a list of five elements of ten bytes under a key of ten bytes takes at most 96 bytes" {
    r RPUSH 0123456789 {*}[lrepeat 5 hellohello]
    expr {[r MEMORY USAGE 0123456789] <= 96}
} 1
check "looking at the memory does not use the key" {
    r RPUSH k a
    wait_until {[r OBJECT IDLETIME k] >= 1}
    r MEMORY USAGE k
    expr {[r OBJECT IDLETIME k] >= 1}
} 1
foreach fill {1 2 5 128 -1 -2 -3 -4 -5} {
    foreach depth {0 1 2 3} {
        check "MEMORY USAGE is what the server's memory grows by, with list-max-listpack-size $fill and\
                list-compress-depth $depth" {
            with_config [list list-max-listpack-size $fill list-compress-depth $depth] {
                # Each command once before, so that buffers and statistics have their size.
                set requests [lmap i [numbered 1 2000] {list RPUSH k [format %0400d $i]}]
                [default_client] pipeline $requests
                r MEMORY USAGE k
                r LTRIM k 0 -1
                r DEL k
                set before [info_field used_memory]
                [default_client] pipeline $requests
                set usage [r MEMORY USAGE k]
                if {$depth == 0} {
                    assert {$usage > 800000 && $usage < 1100000}
                } else {
                    assert {$usage < 800000}
                }
                for {set length 2000} {$length > 0} {incr length -250} {
                    assert {abs([r MEMORY USAGE k] - ([info_field used_memory] - $before)) < $allowance}
                    r LTRIM k 125 -126
                }
            }
        }
    }
}
check "MEMORY USAGE follows every change of a list" {
    with_config {list-max-listpack-size 16 list-compress-depth 1} {
        r RPUSH k {*}[lmap i [numbered 1 500] {format %050d $i}]
        set before [r MEMORY USAGE k]
        r LSET k 250 [string repeat x 5000]
        set longer [r MEMORY USAGE k]
        r LSET k 250 [format %050d 251]
        r LINSERT k AFTER [format %050d 100] [string repeat y 20000]
        set inserted [r MEMORY USAGE k]
        r LREM k 1 [string repeat y 20000]
        set removed [r MEMORY USAGE k]
        r LTRIM k 0 0
        list [expr {$longer > $before}] [expr {$inserted > $before}] [expr {$removed < $inserted}] \
            [expr {[r MEMORY USAGE k] < 256}]
    }
} {1 1 1 1}
check "nothing is left of a list that was deleted" {
    foreach warm {0 1} {
        set before [info_field used_memory]
        with_config {list-max-listpack-size 5 list-compress-depth 1} {
            [default_client] pipeline [lmap i [numbered 1 2000] {list RPUSH k [string repeat $i 50]}]
            r LREM k 0 [string repeat 1000 50]
            [default_client] pipeline [lrepeat 1000 {LPOP k}]
            r LTRIM k 10 -10
            r DEL k
        }
    }
    expr {abs([info_field used_memory] - $before) < 2 * $allowance}
} 1

finish
