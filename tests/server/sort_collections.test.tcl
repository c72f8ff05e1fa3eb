# SORT of sets, and SORT by and for fields of hashes.
source [file join [file dirname [file normalize [info script]]] lib collections.tcl]

server_start

check_sets "SORT sorts a set" {
    make_set k {30 4 100 -2}
    list [r SORT k] [r SORT k DESC LIMIT 1 2] [r SORT k ALPHA] [r SORT_RO k LIMIT 0 1] [lsort [r SORT k BY nosort]] \
        [llength [r SORT k BY nosort LIMIT 1 2]] [r SORT k BY nosort LIMIT 9 2]
} {{-2 4 30 100} {30 4} {-2 100 30 4} -2 {-2 100 30 4} 2 {}}
check_sets "SORT STORE of a set without sorting stores it in the order of texts" {
    make_set k {30 4 100}
    list [r SORT k BY nosort STORE out] [r LRANGE out 0 -1] [r SORT k STORE k] [r LRANGE k 0 -1]
} {3 {100 30 4} 3 {4 30 100}}
check_sets "SORT ALPHA BY keys that are missing or equal sorts by the members" {
    make_set k {30 4 100 -2}
    r MSET w_4 x w_30 x
    list [r SORT k BY none_* ALPHA] [r SORT k BY none_* ALPHA DESC] [r SORT k BY none_* ALPHA DESC LIMIT 1 2] \
        [r SORT k BY w_* ALPHA] [r SORT k BY w_* ALPHA DESC STORE out] [r LRANGE out 0 -1]
} {{-2 100 30 4} {4 30 100 -2} {30 100} {-2 100 30 4} 4 {4 30 100 -2}}
check_sets "a script gets the members of a set in the order of their texts, even BY nosort" {
    make_set k {30 4 100}
    list [r EVAL {return redis.call('SORT', 'k', 'BY', 'nosort')} 0] \
        [r EVAL {return redis.call('SORT_RO', 'k', 'BY', 'nosort', 'DESC', 'LIMIT', 1, 2)} 0] \
        [r EVAL_RO {return redis.call('SORT_RO', 'k', 'BY', 'nosort', 'GET', '#', 'GET', 'none_*')} 0]
} {{100 30 4} {30 100} {100 (nil) 30 (nil) 4 (nil)}}
check_hashes "BY and GET read fields of hashes" {
    r RPUSH k 1 2 3
    r HSET w_1 weight 30 name one
    r HSET w_2 weight 10 name two empty ""
    r HSET w_3 weight 20
    list [r SORT k BY w_*->weight] [r SORT k BY w_*->weight GET # GET w_*->name] [r SORT k GET w_*->empty] \
        [r SORT k BY w_*->none] [r SORT k BY w_*->weight GET w_*->name STORE out] [r LRANGE out 0 -1]
} {{2 3 1} {2 two 3 (nil) 1 one} {(nil) {} (nil)} {1 2 3} 3 {two {} one}}
check "a pattern without a field, or of a key that is no hash, finds nothing" {
    r RPUSH k 1
    r SET w_1 x
    r HSET h_1 f v
    list [r SORT k GET w_*->f] [r SORT k GET h_*] [r SORT k GET h_*->] [r SORT k GET h_*->f]
} {(nil) (nil) (nil) v}
check_error "SORT refuses a key of another type" {
    r HSET k a 1
    r SORT k
} $wrong_type

finish
