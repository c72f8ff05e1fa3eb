# GEOADD, GEOPOS, GEODIST, GEOHASH; GEOSEARCH, GEORADIUS and the commands that are forms of them. The oracle compares
# random searches with Redis.
source [file join [file dirname [file normalize [info script]]] lib zsets.tcl]
source $library/tracking.tcl

server_start

set bad_unit "ERR unsupported unit provided. please use M, KM, FT, MI"
set syntax "ERR syntax error"
set no_member "ERR could not decode requested zset member"
set with_store "is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
set palermo_score 3479099956230698
set catania_score 3479447370796909

# Palermo and Catania under the key Sicily, in the encoding of the check.
proc make_sicily {} {
    r GEOADD Sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
    assert_equal [r OBJECT ENCODING Sicily] $::storage
}

# A number in a typed reply.
proc number {text} {
    return [list [expr {$::protocol == 3 ? "double" : "bulk"}] $text]
}

proc bulks {args} {
    return [list array [lmap text $args {list bulk $text}]]
}

# Calls that must end in these errors: {call error call error …}.
proc expect_errors {calls} {
    foreach {call error} $calls {
        set expected [uplevel #0 [list subst -nobackslashes -nocommands $error]]
        assert_equal [list $call [error_of {r {*}$call}]] [list $call $expected]
    }
}

# --- GEOADD

check_zsets "GEOADD adds places as members, whose scores are cells" {
    assert_equal [r GEOADD Sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania] 2
    assert_equal [r OBJECT ENCODING Sicily] $storage
    list [r TYPE Sicily] [zset_of Sicily] [r GEOADD Sicily 13.361389 38.115556 Palermo]
} [list zset [list Palermo $palermo_score Catania $catania_score] 0]
check_zsets "NX only adds, XX only moves, CH counts what was moved" {
    make_sicily
    list [r GEOADD Sicily NX 1 2 Palermo 3 4 Enna] [r ZSCORE Sicily Palermo] \
        [r GEOADD Sicily XX CH 1 2 Palermo 3 4 Noto] [r ZSCORE Sicily Noto] \
        [r GEOADD Sicily ch 3 4 Palermo 5 6 Noto] [r GEOADD Sicily XX 5 6 Palermo]
} [list 1 $palermo_score 1 (nil) 2 0]
check "places on the limits of the map have scores of their own, as in Redis" {
    r GEOADD g 180 0 a -180 0 b 0 85.05112878 c 0 -85.05112878 d 180 85.05112878 e 180 -85.05112878 f
    list [zset_of g] [r GEOHASH g a b c d e f]
} {{b 1125899906842624 d 2251799813685248 c 6755399441055744 f 9007199254740992 a 10133099161583616\
    e 13510798882111488} {80000000000 80000000000 up05b5048p0 h0bh0hbj200 bp05b5048p0 00bh0hbj200}}
check "a GEOADD that is not valid adds nothing" {
    r SET s text
    expect_errors {
        {GEOADD g 1 2} {ERR wrong number of arguments for 'geoadd' command}
        {GEOADD g 1 2 a 3} $syntax                   {GEOADD g NX XX 1 2 a} $syntax
        {GEOADD g NX XX 1 x a} $syntax               {GEOADD g CH NX XX} $syntax
        {GEOADD g NX CH CH} $syntax                  {GEOADD g GT 1 2 a} $syntax
        {GEOADD g INCR 1 2 a} $syntax                {GEOADD g a b c} $not_float
        {GEOADD g 1 2 a 3 b c} $not_float            {GEOADD g nan 1 a} $not_float
        {GEOADD g 1e400 1 a} $not_float              {GEOADD g {} 1 a} $not_float
        {GEOADD g 1 2 a 181 1 b} {ERR invalid longitude,latitude pair 181.000000,1.000000}
        {GEOADD g 180.0000001 1 a} {ERR invalid longitude,latitude pair 180.000000,1.000000}
        {GEOADD g 1 -86 a} {ERR invalid longitude,latitude pair 1.000000,-86.000000}
        {GEOADD g inf 1 a} {ERR invalid longitude,latitude pair inf,1.000000}
        {GEOADD s 181 1 a} {ERR invalid longitude,latitude pair 181.000000,1.000000}
        {GEOADD s 1 1 a} $wrong_type
    }
    r EXISTS g
} 0

# --- GEOPOS, GEOHASH, GEODIST

check_zsets "GEOPOS tells the middle of a member's cell" {
    make_sicily
    set nothing [list [expr {$protocol == 3 ? "null" : "nilarray"}]]
    assert_equal [typed GEOPOS Sicily Palermo none Catania] [list array [list \
        [list array [list [number 13.361389338970184] [number 38.1155563954963]]] $nothing \
        [list array [list [number 15.087267458438873] [number 37.50266842333162]]]]]
    assert_equal [typed GEOPOS none a b] [list array [list $nothing $nothing]]
    list [r GEOPOS Sicily] [r GEOPOS none]
} {{} {}}
check_zsets "GEOHASH gives the standard geohash, whose last character is 0" {
    make_sicily
    assert_equal [typed GEOHASH Sicily Palermo none Catania] \
        [list array [list {bulk sqc8b49rny0} [typed GET none] {bulk sqdtr74hyu0}]]
    list [r GEOHASH Sicily] [r GEOHASH none a]
} {{} (nil)}
check_zsets "GEODIST measures in any unit, and is a bulk in both protocols" {
    make_sicily
    assert_equal [typed GEODIST Sicily Palermo Catania] {bulk 166274.1516}
    assert_equal [typed GEODIST Sicily Palermo none] [typed GET none]
    list [r GEODIST Sicily Palermo Catania km] [r GEODIST Sicily Palermo Catania Mi] \
        [r GEODIST Sicily Palermo Catania FT] [r GEODIST Sicily Palermo Palermo m] [r GEODIST none a b]
} {166.2742 103.3182 545518.8700 0.0000 (nil)}
check "any score is some place" {
    r ZADD w -1 neg inf inf -inf ninf 1e300 big 0.5 half 9223372036854775808 p63 18446744073709549568 p64
    list [r GEOPOS w neg ninf p64] [r GEOHASH w inf big half p63] [r GEODIST w neg inf]
} {{{180 85.05112878} {180 -85.05112751263943} {180 85.05112878}}\
    {00bh0hbj200 00bh0hbj200 00bh0hbj200 00bh0hbj200} 18919844.5891}
check "errors of GEODIST, GEOPOS and GEOHASH" {
    r SET s text
    expect_errors {
        {GEODIST s a b xx} $bad_unit                 {GEODIST none a b xx} $bad_unit
        {GEODIST s a b m x} $syntax                  {GEODIST s a b} $wrong_type
        {GEOPOS s a} $wrong_type                     {GEOHASH s} $wrong_type
    }
}

# --- Searching

check_zsets "GEOSEARCH finds what is in a circle or a box" {
    make_sicily
    list [r GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 200 km] \
        [r GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 200 KM ASC] \
        [r GEOSEARCH Sicily FROMLONLAT 15 37 byradius 100 km] \
        [r GEOSEARCH Sicily FROMLONLAT 15 37 BYBOX 400 400 km DESC] \
        [r GEOSEARCH Sicily FROMMEMBER Palermo BYBOX 1 1 m] [r GEOSEARCH Sicily FROMMEMBER Palermo BYRADIUS 0 m] \
        [r GEOSEARCH Sicily BYRADIUS 166.2742 km FROMMEMBER Catania ASC] \
        [r GEOSEARCH Sicily BYRADIUS 166.2741 km FROMMEMBER Catania] [r GEOSEARCH Sicily FROMLONLAT 0 0 BYRADIUS 9 km]
} {{Palermo Catania} {Catania Palermo} Catania {Palermo Catania} Palermo Palermo {Catania Palermo} Catania {}}
check_zsets "WITHDIST, WITHHASH and WITHCOORD come in this order, whatever that of the options" {
    make_sicily
    set coordinates [list array [list [number 15.087267458438873] [number 37.50266842333162]]]
    set found [typed GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 100 km WITHCOORD WITHHASH WITHDIST]
    assert_equal $found [list array [list \
        [list array [list {bulk Catania} {bulk 56.4413} [list int $catania_score] $coordinates]]]]
    assert_equal [typed GEORADIUS Sicily 15 37 100 km WITHCOORD] \
        [list array [list [list array [list {bulk Catania} $coordinates]]]]
    r GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 200 km WITHDIST WITHHASH
} [list [list Palermo 190.4424 $palermo_score] [list Catania 56.4413 $catania_score]]
check_zsets "COUNT takes the nearest, or with DESC the furthest; with ANY some" {
    make_sicily
    r GEOADD Sicily 14 37.5 Enna 15.2 37.1 Siracusa
    list [r GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 300 km COUNT 2] \
        [r GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 300 km COUNT 2 DESC] \
        [r GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 300 km COUNT 9 ASC] \
        [r GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 300 km COUNT 1 ANY] \
        [r GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 300 km ANY DESC COUNT 4]
} {{Siracusa Catania} {Palermo Enna} {Siracusa Catania Enna Palermo} Siracusa {Palermo Enna Catania Siracusa}}
check_zsets "where options repeat, the last one counts" {
    make_sicily
    list [r GEOSEARCH Sicily FROMLONLAT 0 0 FROMLONLAT 15 37 BYRADIUS 1 m BYRADIUS 100 km ASC DESC COUNT 9 COUNT 1] \
        [r GEOSEARCH Sicily FROMMEMBER Palermo FROMMEMBER Catania BYBOX 9 9 m BYBOX 1 1 km]
} {Catania Catania}
check_zsets "a search goes over the limit of 180 degrees" {
    r GEOADD g 179.5 36 east -179.5 36 west
    assert_equal [r OBJECT ENCODING g] $storage
    list [lsort [r GEOSEARCH g FROMLONLAT 179 36.5 BYBOX 400 400 km]] \
        [lsort [r GEOSEARCH g FROMLONLAT -179 36 BYBOX 400 400 km]] \
        [r GEOSEARCH g FROMLONLAT 180 36 BYRADIUS 10 km] [r GEODIST g east west km]
} {{east west} {east west} {} 89.9833}
check_zsets "a search finds its places near a pole, and in a circle that is larger than the Earth" {
    r GEOADD g -0.15307903289794921875 85 n1 0.3515625 85.00019260486917005437 n2 81.6 30.5 asia -120 -40 pacific
    list [lsort [r GEOSEARCH g FROMMEMBER n1 BYRADIUS 4891.94 m]] \
        [llength [r GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 50000 km]] \
        [llength [r GEOSEARCH g FROMLONLAT 1 1 BYRADIUS inf m]] \
        [llength [r GEOSEARCH g FROMLONLAT 1 1 BYBOX 1e300 1e300 mi]] \
        [r GEOSEARCH g FROMLONLAT 81.634948934258375 30.561509253718668 BYRADIUS 7083 km ASC]
} {{n1 n2} 4 4 4 {asia n2 n1}}
check_zsets "a search of many places finds those that a look at each finds" {
    # Places on a grid: 40 x 40, 0.01 degrees apart.
    set arguments {}
    for {set i 0} {$i < 1600} {incr i} {
        lappend arguments [expr {20 + ($i % 40) / 100.0}] [expr {50 + ($i / 40) / 100.0}] $i
    }
    with_config {zset-max-listpack-entries 2000} {
        if {$storage eq "skiplist"} {
            r CONFIG SET zset-max-listpack-entries 0
        }
        r GEOADD g {*}$arguments
        assert_equal [r OBJECT ENCODING g] $storage
    }
    foreach radius {0.5 3 9 20} member {820 0 1599 77} {
        set expected {}
        for {set i 0} {$i < 1600} {incr i} {
            if {[r GEODIST g $member $i km] <= $radius} {
                lappend expected $i
            }
        }
        assert_equal [lsort -integer [r GEOSEARCH g FROMMEMBER $member BYRADIUS $radius km]] $expected
        set nearest [r GEOSEARCH g FROMMEMBER $member BYRADIUS $radius km ASC WITHDIST]
        set few [r GEOSEARCH g FROMMEMBER $member BYRADIUS $radius km COUNT 7 WITHDIST]
        set far [r GEOSEARCH g FROMMEMBER $member BYRADIUS $radius km COUNT 7 DESC WITHDIST]
        set last [expr {max([llength $nearest] - 7, 0)}]
        assert_equal [lmap pair $few {lindex $pair 1}] [lmap pair [lrange $nearest 0 6] {lindex $pair 1}]
        set furthest [lreverse [lrange $nearest $last end]]
        assert_equal [lmap pair $far {lindex $pair 1}] [lmap pair $furthest {lindex $pair 1}]
        assert_equal [llength [r GEOSEARCH g FROMMEMBER $member BYRADIUS $radius km COUNT 7 ANY]] [llength $few]
    }
}
check_zsets "BYPOLYGON finds what is between the edges, and measures from their centre in metres" {
    make_sicily
    list [r GEOSEARCH Sicily BYPOLYGON 4 12 36 18 36 18 40 12 40 ASC WITHDIST] \
        [r GEOSEARCH Sicily BYPOLYGON 3 12 36 18 36 18 40 WITHHASH] \
        [r GEOSEARCH Sicily BYPOLYGON 4 12 36 18 36 18 40 12 40 COUNT 1 ANY] \
        [r GEOSEARCH Sicily BYPOLYGON 4 12 36 18 36 18 40 12 40 BYPOLYGON 3 12 36 12.1 36 12 36.1] \
        [r GEOSEARCHSTORE to Sicily BYPOLYGON 4 12 36 18 36 18 40 12 40 STOREDIST] [zset_of to]
} [list {{Catania 60049.2798} {Palermo 143725.9101}} [list [list Catania $catania_score]] Palermo {} 2\
    {Catania 6.004927976666305e+4 Palermo 1.4372591013821412e+5}]
check "a large polygon has all of its places, which Valkey 9.1 misses" {
    r GEOADD g 0 0 a 20 0 b -179 1 c 90 80 d -90 80 e 179 -80 f
    list [lsort [r GEOSEARCH g BYPOLYGON 4 -180 -85 180 -85 180 85 -180 85]] \
        [lsort [r GEOSEARCH g BYPOLYGON 4 -180 70 180 70 180 85 -180 85]]
} {{a b c d e f} {d e}}
check "the arguments of a search are checked as in Redis" {
    r GEOADD g 1 1 a
    r SET s text
    set pair "ERR invalid longitude,latitude pair"
    expect_errors {
        {GEOSEARCH s FROMLONLAT 1 1 BYRADIUS 1 xx} $wrong_type
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 xx} $bad_unit
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS x m} {ERR need numeric radius}
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS nan m} {ERR need numeric radius}
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS -1 xx} {ERR radius cannot be negative}
        {GEOSEARCH g FROMLONLAT 1 1 BYBOX x y m} {ERR need numeric width}
        {GEOSEARCH g FROMLONLAT 1 1 BYBOX 1 y m} {ERR need numeric height}
        {GEOSEARCH g FROMLONLAT 1 1 BYBOX 1 -1 xx} {ERR height or width cannot be negative}
        {GEOSEARCH g FROMLONLAT 1 1 BYBOX 1 1 xx} $bad_unit
        {GEOSEARCH g FROMLONLAT 1 x BYBOX 1 1 m} $not_float
        {GEOSEARCH none FROMLONLAT 181 1 BYBOX 1 1 m} {$pair 181.000000,1.000000}
        {GEOSEARCH g FROMMEMBER none BYBOX 1 -1 m} $no_member
        {GEOSEARCH none FROMMEMBER a BYBOX 1 -1 m} {ERR height or width cannot be negative}
        {GEOSEARCH g FROMMEMBER a FROMLONLAT 1 1 BYRADIUS 1 m} $syntax
        {GEOSEARCH g FROMLONLAT 1 1 FROMMEMBER a BYRADIUS 1 m} $syntax
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m BYBOX 1 1 m} $syntax
        {GEOSEARCH g FROMLONLAT 1 1 BYBOX 1 1 m BYRADIUS 1 m} $syntax
        {GEOSEARCH g FROMLONLAT 1 1 ASC BYRADIUS 1} $syntax
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m STORE d} $syntax
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m STOREDIST} $syntax
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m COUNT} $syntax
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m COUNT 0} {ERR COUNT must be > 0}
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m COUNT x} $not_integer
        {GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m ANY} {ERR the ANY argument requires COUNT argument}
        {GEOSEARCH g BYRADIUS 1 m ASC DESC ASC}
        {ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for GEOSEARCH}
        {geoSearch g FROMLONLAT 1 1 ASC DESC ASC}
        {ERR exactly one of BYRADIUS and BYBOX can be specified for geoSearch}
        {GEOSEARCHSTORE to g BYRADIUS 1 m ASC DESC ASC}
        {ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for GEOSEARCHSTORE}
        {GEOSEARCHSTORE to g ASC WITHHASH ASC ASC ASC} {ERR GEOSEARCHSTORE $with_store}
    }
    list [r GEOSEARCH none FROMMEMBER a BYRADIUS 1 m] [r GEOSEARCH none BYPOLYGON 3 1 1 2 2 3 3]
} {{} {}}
check "the arguments of a polygon are checked as in Valkey" {
    r GEOADD g 1 1 a
    set few "ERR GEOSEARCH BYPOLYGON must have at least 3 vertices"
    set bad "ERR invalid number of vertices"
    expect_errors {
        {GEOSEARCH g BYPOLYGON 2 1 1 2 2 3 3} $few           {GEOSEARCH g BYPOLYGON 4 1 1 2 2 3 3} $few
        {GEOSEARCH g BYPOLYGON -1 1 1 2 2 3 3} $few          {GEOSEARCH g BYPOLYGON 2147483647 1 1 2 2} $few
        {GEOSEARCH g BYPOLYGON 2147483648 1 1 2 2} $bad      {GEOSEARCH g BYPOLYGON 3.0 1 1 2 2 3 3} $bad
        {GEOSEARCH g BYPOLYGON x 1 1 2 2} $bad               {GEOSEARCH g ASC ASC ASC BYPOLYGON 3} $syntax
        {GEOSEARCH g BYPOLYGON 3 1 1 2 2 3 x} $not_float
        {GEOSEARCH none BYPOLYGON 3 1 1 2 2 3 86} {ERR invalid longitude,latitude pair 3.000000,86.000000}
        {GEOSEARCH g BYPOLYGON 3 1 1 2 2 3 3 FROMMEMBER a} $syntax
        {GEOSEARCH g BYPOLYGON 3 1 1 2 2 3 3 FROMLONLAT 1 1} $syntax
        {GEOSEARCH g FROMMEMBER a BYPOLYGON 3 1 1 2 2 3 3} $syntax
        {GEOSEARCH g FROMLONLAT 1 1 BYPOLYGON 3 1 1 2 2 3 3} $syntax
        {GEOSEARCH g BYRADIUS 1 m BYPOLYGON 3 1 1 2 2 3 3} $syntax
        {GEOSEARCH g BYPOLYGON 3 1 1 2 2 3 3 BYBOX 1 1 m} $syntax
        {GEOSEARCH g BYPOLYGON 3 1 1 2 2 3 3 BYRADIUS 1 m} $syntax
    }
}

# --- Storing

check_zsets "GEOSEARCHSTORE stores places, or with STOREDIST distances in the unit" {
    make_sicily
    r SET to text
    assert_equal [typed GEOSEARCHSTORE to Sicily FROMLONLAT 15 37 BYRADIUS 200 km] {int 2}
    assert_equal [r OBJECT ENCODING to] $storage
    list [zset_of to] [r GEOSEARCHSTORE to Sicily FROMLONLAT 15 37 BYRADIUS 200 km STOREDIST COUNT 1] [zset_of to] \
        [r GEOSEARCHSTORE Sicily Sicily FROMLONLAT 15 37 BYRADIUS 100 km] [zset_of Sicily]
} [list [list Palermo $palermo_score Catania $catania_score] 1 {Catania 56.4412578701582} 1\
    [list Catania $catania_score]]
check "an empty result deletes the destination" {
    r GEOADD g 1 1 a
    foreach command {
            {GEOSEARCHSTORE to g FROMLONLAT 50 50 BYRADIUS 1 m} {GEOSEARCHSTORE to none FROMMEMBER a BYRADIUS 1 m}
            {GEORADIUS g 50 50 1 m STORE to} {GEORADIUSBYMEMBER none a x xx STOREDIST to}} {
        r SET to text
        assert_equal [list [r {*}$command] [r EXISTS to]] {0 0}
    }
}

# What EXEC of a client replies that watches the key while the command runs.
proc exec_after {key command} {
    set other [client_open]
    $other call WATCH $key
    r {*}$command
    $other call MULTI
    $other call PING
    set reply [$other call EXEC]
    $other close
    return $reply
}

# What the command, which stores into the key "to", means for others: what exec_after replies for this key, and for the
# key `other` when it runs again; and which keys a client that tracks both keys is told to forget, each time.
proc touched_by {command other} {
    r GEOADD g 1 1 a
    r SET to text
    set c [tracker]
    $c call EXISTS g to
    set exec [exec_after to $command]
    set told [list [heard $c]]
    $c call EXISTS g to
    list $exec [exec_after $other $command] [lappend told [heard $c]]
}
foreach {where options} {
    {GEOSEARCHSTORE to g FROMLONLAT} {BYRADIUS 10 km}
    {GEOSEARCHSTORE to g FROMLONLAT} {BYBOX 10 10 km STOREDIST}
    {GEORADIUS g} {10 km STORE to}
    {GEORADIUS g} {10 km STOREDIST to}
} {
    set finds [list {*}$where 1 1 {*}$options]
    set finds_none [list {*}$where 50 50 {*}$options]
    check "$finds touches who watches or tracks its destination, but not its source" {
        touched_by $finds g
    } {(nil) PONG {to to}}
    check "$finds_none touches them if it deletes the destination" {
        touched_by $finds_none to
    } {(nil) PONG {to {}}}
}
check "GEORADIUSBYMEMBER touches who watches or tracks the key to which it stores" {
    r GEOADD g 1 1 a
    set c [tracker]
    $c call EXISTS g to
    list [exec_after to {GEORADIUSBYMEMBER g a 1 km STORE to}] [exec_after g {GEORADIUSBYMEMBER g a 1 km}] [heard $c]
} {(nil) PONG to}
check_zsets "GEORADIUS and GEORADIUSBYMEMBER search a circle" {
    make_sicily
    list [r GEORADIUS Sicily 15 37 200 km] [r GEORADIUS_RO Sicily 15 37 200 km COUNT 1 WITHDIST] \
        [r GEORADIUS Sicily 15 37 200 km DESC] [r GEORADIUSBYMEMBER Sicily Palermo 100 mi] \
        [r GEORADIUSBYMEMBER_RO Sicily Palermo 200 km DESC WITHDIST] [r GEORADIUS none 15 37 200 km] \
        [r GEORADIUS Sicily 15 37 200 km COUNT 1 ANY]
} {{Palermo Catania} {{Catania 56.4413}} {Palermo Catania} Palermo {{Catania 166.2742} {Palermo 0.0000}} {} Palermo}
check_zsets "of several STOREs and STOREDISTs of GEORADIUS the last one counts" {
    make_sicily
    list [r GEORADIUS Sicily 15 37 200 km STORE a STOREDIST b] [r EXISTS a] [zset_of b] \
        [r GEORADIUSBYMEMBER Sicily Palermo 1 km STOREDIST c STORE d] [r EXISTS c] [zset_of d]
} [list 2 0 {Catania 56.4412578701582 Palermo 190.44242984775784} 1 0 [list Palermo $palermo_score]]
check "the arguments of GEORADIUS and GEORADIUSBYMEMBER are checked as in Redis" {
    r GEOADD g 1 1 a
    r SET s text
    expect_errors {
        {GEORADIUS s 1 1 1 xx} $wrong_type               {GEORADIUSBYMEMBER s a 1 xx} $wrong_type
        {GEORADIUS g 1 1 1 xx} $bad_unit                 {GEORADIUS none 1 1 1 xx} $bad_unit
        {GEORADIUS g x 1 x m} $not_float                 {GEORADIUS g 1 1 x m} {ERR need numeric radius}
        {GEORADIUS g 1 1 -1 xx} {ERR radius cannot be negative}
        {GEORADIUS g 1 91 x m} {ERR invalid longitude,latitude pair 1.000000,91.000000}
        {GEORADIUS g 1 1 1 m STORE} $syntax              {GEORADIUS g 1 1 1 m FROMLONLAT 1 1} $syntax
        {GEORADIUS g 1 1 1 m BYRADIUS 1 m} $syntax
        {GEORADIUS g 1 1 1 m ANY} {ERR the ANY argument requires COUNT argument}
        {GEORADIUS g 1 1 1 m STORE d WITHDIST} {ERR STORE option in GEORADIUS $with_store}
        {GEORADIUS_RO g 1 1 1 m STORE d} $syntax         {GEORADIUSBYMEMBER_RO g a 1 m STOREDIST d} $syntax
        {GEORADIUSBYMEMBER g none x m} $no_member        {GEORADIUSBYMEMBER g a x m} {ERR need numeric radius}
        {GEORADIUSBYMEMBER none a x xx foo} $syntax      {GEORADIUSBYMEMBER none a x xx COUNT 0} {ERR COUNT must be > 0}
        {GEORADIUS_RO g 1 1 1} {ERR wrong number of arguments for 'georadius_ro' command}
    }
    r GEORADIUSBYMEMBER none a x xx
} {}

finish
