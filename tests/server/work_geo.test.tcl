# Searches that look at many places run in another thread.
source [file join [file dirname [file normalize [info script]]] lib works.tcl]

set many 7000 ;# places
server_start {enable-debug-command yes}

# Places on a spiral around 15 degrees east, 38 degrees north, and members that are no places.
proc make_places {} {
    set arguments {}
    for {set i 1} {$i <= $::many} {incr i} {
        set angle [expr {$i * 2.4}]
        set far [expr {sqrt($i) / 20}]
        lappend arguments [expr {15 + $far * cos($angle)}] [expr {38 + $far * sin($angle)}] place:$i
    }
    r DEL places from
    r GEOADD places {*}$arguments 15.5 38.5 [string repeat long 300] 15.6 38.6 77
    r ZADD places -inf low inf high -7.5 negative 9007199254740995 beyond
}
proc change_places {} {
    remove_ranks places 100 3000
    r GEOADD places 15 38 new 15.01 38.01 place:7000
    r RENAME places from
}

set from {FROMLONLAT 15 38}
check_works list make_places change_places [subst {
    {GEOSEARCH places $from BYRADIUS 1000 km} {GEOSEARCH places $from BYRADIUS 1000 km ASC WITHDIST}
    {GEOSEARCH places FROMMEMBER place:500 BYBOX 1200 900 km DESC WITHCOORD WITHHASH}
    {GEOSEARCH places $from BYRADIUS 700 km COUNT 9000 ANY} {GEOSEARCH places $from BYRADIUS 900 km COUNT 5000}
    {GEOSEARCH places $from BYBOX 700 700 km COUNT 6000 DESC WITHDIST}
    {GEOSEARCH places BYPOLYGON 4 10 30 20 30 20 45 10 45} {GEORADIUS places 15 38 800 km WITHDIST}
    {GEORADIUS_RO places 16 38 800 mi} {GEORADIUSBYMEMBER places place:9 700 km ASC}
    {GEORADIUSBYMEMBER_RO places place:9 700 km WITHHASH}
}]
check_stores make_places change_places [subst {
    {GEOSEARCHSTORE to places $from BYRADIUS 1000 km} {GEOSEARCHSTORE to places $from BYBOX 700 600 km ASC STOREDIST}
    {GEORADIUS places 15 38 800 km STORE to} {GEORADIUSBYMEMBER places place:9 700 km STOREDIST to COUNT 3000}
}]
check "a search that stores where it searches stores what was there" {
    make_places
    set expected [stored_at_once make_places {GEOSEARCHSTORE to places FROMLONLAT 15 38 BYRADIUS 300 km}]
    make_places
    paused {
        set c [send_work {GEOSEARCHSTORE places places FROMLONLAT 15 38 BYRADIUS 300 km}]
    }
    set reply [$c read]
    expr {[list $reply [digest places]] eq $expected}
} 1
check "a search whose client has gone ends" {
    make_places
    set before [total_works]
    paused {
        set c [send_work {GEOSEARCH places FROMLONLAT 15 38 BYRADIUS 1000 km}]
        $c close
        wait_for_works 0
    }
    expr {[total_works] - $before}
} 1
check "in RESP3 the reply has the same form" {
    make_places
    set c [client_open]
    $c call HELLO 3
    $c call MULTI
    $c call GEOSEARCH places FROMLONLAT 15 38 BYRADIUS 1000 km WITHCOORD
    set expected [lindex [$c call EXEC] 0]
    expr {[$c call GEOSEARCH places FROMLONLAT 15 38 BYRADIUS 1000 km WITHCOORD] eq $expected}
} 1
check "few places of many are found at once" {
    make_places
    set before [total_works]
    r GEOSEARCH places FROMLONLAT 15 38 BYRADIUS 10 km
    r GEOSEARCH places FROMLONLAT 15 38 BYRADIUS 1000 km COUNT 10 ANY
    r GEOSEARCH places FROMLONLAT 15 38 BYRADIUS 1000 km COUNT 10
    r GEOSEARCHSTORE to places FROMLONLAT 15 38 BYRADIUS 10 km
    expr {[total_works] - $before}
} 0

finish
