# Replies of many members of a sorted set are written while they are sent: they have the members of the moment of the
# command, whatever changes until they are read.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start {enable-debug-command yes}

# More than sockets take, so that most of the reply is not yet written when the sorted set changes. Members are of all
# lengths: within nodes, out of line, and longer than what is written at a time.
set count 16000
set members {}
set scores {}
for {set i 0} {$i < $count} {incr i} {
    set size [expr {$i % 4000 == 7 ? 40000 : $i % 2 ? 2000 : 300 + $i % 100}]
    set member "[format %06d $i]."
    lappend members $member[string repeat x [expr {$size - [string length $member]}]]
    lappend scores [expr {$i / 2}][string repeat .5 [expr {$i % 2}]]
}

# The sorted set z: the members in this order, by their scores or, if they are to be `equal`, by their bytes.
proc fill {{equal 0}} {
    for {set i 0} {$i < $::count} {incr i 4000} {
        set arguments {}
        for {set j $i} {$j < $i + 4000} {incr j} {
            lappend arguments [expr {$equal ? 0 : [lindex $::scores $j]}] [lindex $::members $j]
        }
        r ZADD z {*}$arguments
    }
}

# How a reply of these ranks, in descending order if last < first, begins, and what follows.
proc header {first last form} {
    set n [expr {abs($last - $first) + 1}]
    return "*[expr {$form eq "flat" ? 2 * $n : $n}]\r\n"
}
proc values {first last form {protocol 2}} {
    set parts {}
    set step [expr {$last < $first ? -1 : 1}]
    for {set i $first} {$i != $last + $step} {incr i $step} {
        set member [lindex $::members $i]
        set score [lindex $::scores $i]
        lappend parts [expr {$form eq "pairs" ? "*2\r\n" : ""}]\$[string length $member]\r\n$member\r\n
        if {$form ne "texts"} {
            lappend parts [expr {$protocol == 3 ? ",$score\r\n" : "\$[string length $score]\r\n$score\r\n"}]
        }
    }
    return [join $parts {}]
}

# A connection that has sent the request and read the beginning of its reply: the command has run.
proc begun {protocol request beginning} {
    set c [client_open $protocol]
    $c write [request $request]
    assert_reads $c $beginning
    return $c
}
proc assert_reads {client expected} {
    assert {[$client read_bytes [string length $expected]] eq $expected}
}

# --- All commands

set last [expr {$count - 1}]
set whole [list 0 $last]
set back [list $last 0]
foreach {request range has_scores equal} [list \
    {ZRANGE z 0 -1}                                          $whole 0 0 \
    {ZRANGE z 0 -1 REV}                                      $back 0 0 \
    {ZRANGE z 100 -101 WITHSCORES}                           {100 15899} 1 0 \
    {ZRANGE z 2 -inf BYSCORE REV}                            {4 0} 0 0 \
    {ZRANGE z -inf (7500 BYSCORE WITHSCORES LIMIT 7 14000}   {7 14006} 1 0 \
    {ZRANGE z (015000 - BYLEX REV}                           {14999 0} 0 1 \
    {ZREVRANGE z 0 -1 WITHSCORES}                            $back 1 0 \
    {ZREVRANGE z 5 -5}                                       {15994 4} 0 0 \
    {ZRANGEBYSCORE z 50 +inf}                                [list 100 $last] 0 0 \
    {ZRANGEBYSCORE z 50 +inf WITHSCORES}                     [list 100 $last] 1 0 \
    {ZREVRANGEBYSCORE z +inf 50 WITHSCORES}                  [list $last 100] 1 0 \
    {ZRANGEBYLEX z - +}                                      $whole 0 1 \
    {ZREVRANGEBYLEX z + [001000 LIMIT 3 14000}               {15996 1997} 0 1] {
    foreach protocol {2 3} {
        check_in $protocol "[lrange $request 0 6] replies the members of its moment" \
                [string map [list @request $request @range $range @scores $has_scores @equal $equal @p $protocol] {
            fill @equal
            set form [expr {!@scores ? "texts" : @p == 3 ? "pairs" : "flat"}]
            set c [begun @p {@request} [header {*}{@range} $form]]
            r ZADD z {*}[join [lmap i {3 500 8001 15500} {list 9999 [lindex $::members $i]}]]
            r ZREMRANGEBYRANK z 1000 2000
            r ZADD z {*}[join [lmap i {1 2 3 4 5} {list 1.25 new:$i}]]
            r ZREMRANGEBYRANK z 5000 -3
            assert_reads $c [values {*}{@range} $form @p]
            $c call PING
        }] PONG
    }
}

# --- What happens meanwhile

foreach {what requests} {
    "is deleted"           {{DEL z}}
    "is unlinked"          {{UNLINK z}}
    "is replaced"          {{SET z x}}
    "is stored over"       {{ZADD other 1 a} {ZUNIONSTORE z 1 other} {ZADD z 2 b}}
    "expires"              {{PEXPIRE z 1} {ZCARD z}}
    "is flushed"           {FLUSHALL {ZADD z 1 a}}
    "is flushed by another thread" {{FLUSHALL ASYNC}}
    "is renamed"           {{RENAME z other} {ZREMRANGEBYRANK other 50 -50}}
    "is copied"            {{COPY z other} {ZREMRANGEBYRANK z 0 -3} {ZREMRANGEBYRANK other 50 -50}}
    "is popped from"       {{ZPOPMIN z 9000} {ZPOPMAX z 6999}}
    "is saved"             {{SAVE} {ZREMRANGEBYRANK z 100 -100} {BGSAVE}}
} {
    foreach {request from to} [list {ZRANGE z 0 -1} 0 $last {ZREVRANGE z 0 -1} $last 0] {
        check_in 2 "[lindex $request 0] replies what was there, though it $what meanwhile" \
                [string map [list @requests $requests @request $request @from $from @to $to] {
            set before [info_field used_memory]
            fill
            set c [begun 2 {@request} [header @from @to texts]]
            foreach one {@requests} {
                r {*}$one
            }
            assert_reads $c [values @from @to texts]
            wait_until {[info_field rdb_bgsave_in_progress] == 0}
            r FLUSHALL
            wait_until {[info_field used_memory] - $before < 1000000 + $::spare_blocks}
        }]
    }
}
check_in 2 "a reply takes little memory, and what it needs is freed when its client goes" {
    fill
    set before [info_field used_memory]
    set all {}
    for {set i 0} {$i < 5} {incr i} {
        lappend all [begun 2 {ZRANGE z 0 -1 WITHSCORES} [header 0 $::last flat]]
    }
    assert {[info_field used_memory] - $before < 2000000 + $::spare_blocks}
    r DEL z
    assert {[info_field used_memory] - $before > -1000000}
    foreach c $all {
        $c close
    }
    wait_until {[info_field used_memory] - $before < -15000000 + $::spare_blocks}
}
check_in 2 "each of many replies has the members of its moment" {
    fill
    set waiting {}
    for {set i 0} {$i < 8} {incr i} {
        set first [expr {1000 * $i}]
        if {$i % 2} {
            set request [list ZREVRANGE z 0 -1]
            set range [list $::last $first]
        } else {
            set request [list ZRANGE z 0 -1]
            set range [list $first $::last]
        }
        lappend waiting [begun 2 $request [header {*}$range texts]] $range
        r ZREMRANGEBYRANK z 0 999
    }
    foreach {c range} $waiting {
        assert_reads $c [values {*}$range texts]
    }
}

# --- Pops

foreach protocol {2 3} {
    set pairs [expr {$protocol == 3 ? "pairs" : "flat"}]
    set key {*2\r\n\$1\r\nz\r\n}
    foreach {request from to form before} [list \
        {ZPOPMIN z 15000}               0 14999    $pairs "" \
        {ZPOPMAX z 15000}               $last 1000 $pairs "" \
        {ZPOPMIN z 20000}               0 $last    $pairs "" \
        {ZMPOP 1 z MIN COUNT 15000}     0 14999    pairs  $key \
        {ZMPOP 2 y z MAX COUNT 15000}   $last 1000 pairs  $key] {
        check_in $protocol "$request replies what it has removed" [string map [list @request $request @from $from \
                @to $to @form $form @before $before @p $protocol] {
            fill
            set c [begun @p {@request} "@before[header @from @to @form]"]
            assert_equal [r ZCARD z] [expr {$::count - abs(@to - @from) - 1}]
            r ZADD z 3 [lindex $::members 77] 4 b
            r ZREMRANGEBYRANK z 0 20
            assert_reads $c [values @from @to @form @p]
            $c call PING
        }] PONG
    }
}

# --- Among other commands

check_in 2 "a transaction replies members as they were when its command ran" {
    fill
    set c [client_open 2]
    foreach one {MULTI {ZRANGE z 0 -1} {ZREMRANGEBYRANK z 0 99} {ZREVRANGE z 0 -1} {DEL z} {ZRANGE z 0 -1}} {
        $c write [request $one]
    }
    $c write [request EXEC]
    assert_reads $c "+OK\r\n[string repeat "+QUEUED\r\n" 5]*5\r\n"
    assert_reads $c [header 0 $::last texts][values 0 $::last texts]:100\r\n
    assert_reads $c [header $::last 100 texts][values $::last 100 texts]:1\r\n*0\r\n
}
check_in 2 "a script gets the members at once" {
    fill
    r EVAL {local m = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
        return {#m, #m[1], m[2], #m[15], m[16], m[#m]}} 1 z
} {32000 300 0 40000 3.5 7999.5}

finish
