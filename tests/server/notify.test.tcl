# Keyspace events: which events each command sends, and notify-keyspace-events.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

# Returns the messages up to the one that ends the test: {channel text …} without "__".
proc messages_of {listener} {
    r PUBLISH end ""
    set messages {}
    while {[set message [$listener read]] ne [list message end ""]} {
        lassign $message _ pattern channel text
        lappend messages [string map {__ ""} $channel] $text
    }
    return $messages
}

proc listen {} {
    set listener [client_open]
    $listener call PSUBSCRIBE __key*
    $listener call SUBSCRIBE end
    return $listener
}

# The body's events of all classes: {event key event key …}, "1:event" in another database than 0.
proc events_of {body {classes EAnm}} {
    set events {}
    with_config [list notify-keyspace-events $classes] {
        set listener [listen]
        uplevel 1 $body
        foreach {channel key} [messages_of $listener] {
            regexp {keyevent@(\d+):(.*)} $channel _ database event
            lappend events [expr {$database ? "$database:$event" : $event}] $key
        }
    }
    return $events
}

# A check for each command of the table: commands that set the scene, the command (or several), its events.
proc check_events {table {classes EAnm}} {
    foreach {scene commands events} $table {
        set commands [split $commands ";"]
        check "events of [join $commands { and }][expr {$scene eq {} ? {} : " after $scene"}]" [string map [
            list @scene@ [list [split $scene ";"]] @commands@ [list $commands] @classes@ [list $classes]
        ] {
            foreach command @scene@ {
                r {*}$command
            }
            events_of {
                foreach command @commands@ {
                    catch {r {*}$command}
                }
            } @classes@
        }] [list {*}$events]
    }
}

# ----- Lists -----

check_events {
    {}                      {LPUSH k a b}                   {new k lpush k}
    {LPUSH k a}             {LPUSH k a b}                   {lpush k}
    {}                      {RPUSH k a}                     {new k rpush k}
    {RPUSH k a}             {LPUSHX k a;RPUSHX k b}         {lpush k rpush k}
    {}                      {LPUSHX k a;RPUSHX k b}         {}
    {RPUSH k a b}           {LPOP k;RPOP k}                 {lpop k rpop k del k}
    {RPUSH k a b}           {LPOP k 2}                      {lpop k del k}
    {RPUSH k a b c}         {RPOP k 2;LPOP k 0}             {rpop k}
    {}                      {LPOP k;RPOP k 2}               {}
    {RPUSH k a b c}         {LTRIM k 0 1;LTRIM k 1 0}       {ltrim k ltrim k del k}
    {RPUSH k a b a}         {LREM k 0 a;LREM k 0 x}         {lrem k}
    {RPUSH k a a}           {LREM k 0 a}                    {lrem k del k}
    {RPUSH k a}             {LSET k 0 b;LSET k 9 b}         {lset k}
    {RPUSH k a}             {LINSERT k BEFORE a b;LINSERT k BEFORE x b} {linsert k}
    {}                      {LINSERT k BEFORE a b;LREM k 0 a;LTRIM k 0 1;LSET k 0 a} {}
    {RPUSH k a b}           {LMOVE k to LEFT RIGHT}         {new to rpush to lpop k}
    {RPUSH k a}             {LMOVE k to RIGHT LEFT}         {new to lpush to rpop k del k}
    {RPUSH k a b}           {LMOVE k k LEFT RIGHT}          {rpush k lpop k}
    {RPUSH k a b c}         {LMOVEM k to LEFT RIGHT COUNT 2 OBO;LMOVEM k to LEFT LEFT}
                            {new to rpush to lpop k lpush to lpop k del k}
    {RPUSH k a b}           {LMOVEM k k LEFT RIGHT COUNT 2 BULK;LMOVEM k to LEFT LEFT EXACTLY 3 OBO} {rpush k lpop k}
    {RPUSH k a b}           {BLMOVEM k to RIGHT LEFT 0 EXACTLY 2 OBO} {new to lpush to rpop k del k}
    {}                      {RPUSHBOUND k 2 a b;RPUSHBOUND k 2 c;RPUSHBOUND k 2 REJECT d}
                            {new k rpush k rpush k ltrim k}
    {RPUSH k a b}           {LPUSHBOUND k 2 c d;LPUSHBOUND k 3 REJECT e} {lpush k ltrim k lpush k}
    {RPUSH k a;RPUSH to a}  {RPOPLPUSH k to}                {lpush to rpop k del k}
    {}                      {LMOVE k to LEFT LEFT;RPOPLPUSH k to} {}
    {RPUSH k a b}           {LMPOP 2 none k LEFT;LMPOP 1 k RIGHT COUNT 5} {lpop k rpop k del k}
    {RPUSH k a}             {BLPOP k 0}                     {lpop k del k}
    {RPUSH k a b}           {BRPOP none k 0}                {rpop k}
    {RPUSH k a}             {BLMOVE k to LEFT LEFT 0}       {new to lpush to lpop k del k}
    {RPUSH k a}             {BRPOPLPUSH k to 0}             {new to lpush to rpop k del k}
    {RPUSH k a b}           {BLMPOP 0 1 k LEFT COUNT 1}     {lpop k}
    {}                      {LLEN k;LRANGE k 0 1;LINDEX k 0;LPOS k x} {keymiss k keymiss k keymiss k keymiss k}
    {RPUSH k a}             {LLEN k;LRANGE k 0 1;LINDEX k 0;LPOS k x} {}
}

check_events {
    {}                      {ZADD k 1 a 2 b}                {new k zadd k}
    {ZADD k 1 a}            {ZADD k 1 a;ZADD k XX 1 b;ZADD k NX 2 a} {}
    {ZADD k 1 a}            {ZADD k INCR 1 a;ZINCRBY k 1 a;ZINCRBY k 0 a} {zincr k zincr k}
    {ZADD k 1 a 2 b}        {ZREM k a;ZREM k x;ZREM k b}    {zrem k zrem k del k}
    {ZADD k 1 a 2 b}        {ZREMRANGEBYRANK k 0 0;ZREMRANGEBYRANK k 5 6} {zremrangebyrank k}
    {ZADD k 1 a 2 b}        {ZREMRANGEBYSCORE k 1 2}        {zremrangebyscore k del k}
    {ZADD k 0 a 0 b}        {ZREMRANGEBYLEX k - [a}         {zremrangebylex k}
    {ZADD k 1 a 2 b 3 c}    {ZPOPMIN k;ZPOPMAX k 0;ZPOPMAX k 9} {zpopmin k zpopmax k del k}
    {ZADD k 1 a 2 b}        {ZMPOP 2 none k MIN;BZPOPMAX k 0} {zpopmin k zpopmax k del k}
    {ZADD k 1 a 2 b}        {BZMPOP 0 1 k MAX COUNT 2}      {zpopmax k del k}
    {ZADD k 1 a 2 b}        {ZUNIONSTORE to 1 k;ZINTERSTORE to 1 k;ZDIFFSTORE to 2 k k}
                            {new to zunionstore to zinterstore to del to}
    {ZADD k 1 a 2 b}        {ZRANGESTORE to k 0 0;ZDIFFSTORE to 1 k;ZRANGESTORE to k 5 6}
                            {new to zrangestore to zdiffstore to del to}
    {}                      {GEOADD k 1 2 a;GEOADD k 1 2 a;GEOADD k XX 1 3 a} {new k zadd k zadd k}
    {GEOADD k 1 2 a}
        {GEOSEARCHSTORE to k FROMLONLAT 1 2 BYRADIUS 9 m;GEORADIUS k 1 2 9 m STORE to;GEORADIUS k 1 2 9 m}
                            {new to geosearchstore to georadiusstore to}
    {GEOADD k 1 2 a}        {GEORADIUSBYMEMBER k a 9 m STOREDIST k;GEOSEARCHSTORE k k FROMLONLAT 9 9 BYRADIUS 9 m}
                            {georadiusstore k del k}
    {}                      {ZCARD k;ZSCORE k a;ZRANGE k 0 1} {keymiss k keymiss k keymiss k}
}
# A skiplist.
check_events [list "ZADD k 1 [string repeat x 65] 2 b" {ZREMRANGEBYRANK k 0 -1} {zremrangebyrank k del k}]

check "a client that waits pops after the event of the push" {
    events_of {
        set c [client_blocked BLPOP k 0]
        r LPUSH k a
        $c read
        set c [client_blocked BLMOVE k to LEFT RIGHT 0]
        r RPUSH k a b
        $c read
    }
} {new k lpush k lpop k del k new k rpush k new to rpush to lpop k}

check_in 3 "a client that waits gets its reply before the event of its own pop" {
    with_config {notify-keyspace-events El} {
        set c [client_open]
        $c call SUBSCRIBE __keyevent@0__:rpush __keyevent@0__:lpop
        $c read
        $c send BLPOP k 0
        wait_blocked 1
        r RPUSH k a b
        list [$c read] [$c read] [$c read]
    }
} {{message __keyevent@0__:rpush k} {k a} {message __keyevent@0__:lpop k}}

check_in 3 "what comes up while a waiting client is answered follows the answer" {
    with_config {notify-keyspace-events Exl} {
        set c [client_open]
        $c call SUBSCRIBE __keyevent@0__:expired
        $c send BLMOVE k to LEFT RIGHT 0
        wait_blocked 1
        r DEBUG SET-ACTIVE-EXPIRE 0
        r SET to x PX 1
        after 3
        r RPUSH k a
        r DEBUG SET-ACTIVE-EXPIRE 1
        list [$c read] [$c read]
    }
} {a {message __keyevent@0__:expired to}}

# ----- Strings and bits -----

check_events {
    {}              {SET k v}                               {new k set k}
    {SET k v}       {SET k v;SET k v KEEPTTL}               {set k set k}
    {RPUSH k a}     {SET k v}                               {set k}
    {RPUSH k a;RPUSH j a} {SETEX k 10 v;MSET j 1}           {set k expire k set j}
    {RPUSH k a;SET j a} {BITOP NOT k j}                     {set k}
    {}              {SET k v EX 10}                         {new k set k expire k}
    {SET k v}       {SET k v NX;SET none v XX}              {}
    {}              {SET k v GET;SET k v GET}               {keymiss k new k set k set k}
    {}              {SETNX k v;SETNX k v}                   {new k set k}
    {}              {SETEX k 10 v;PSETEX k 10000 v}         {new k set k expire k set k expire k}
    {}              {GETSET k v;GETSET k v}                 {keymiss k new k set k set k}
    {}              {MSET a 1 b 2 a 3}                      {new a set a new b set b set a}
    {SET a 1}       {MSETNX a 1 b 2;MSETNX b 2 c 3}         {new b set b new c set c}
    {SET a 1}       {GET a;MGET a b c;STRLEN c}             {keymiss b keymiss c keymiss c}
    {SET a 1}       {GETDEL a;GETDEL a}                     {del a keymiss a}
    {SET a 1}       {GETEX a EX 10;GETEX a PERSIST;GETEX a;GETEX b} {expire a persist a keymiss b}
    {SET a 1}       {GETEX a PXAT 1}                        {del a}
    {}              {APPEND k a;APPEND k b}                 {new k append k append k}
    {}              {SETRANGE k 1 a;SETRANGE k 0 b;SETRANGE k 5 ""} {new k setrange k setrange k}
    {}              {INCR k;DECR k;INCRBY k 3;DECRBY k 3}   {new k incrby k incrby k incrby k incrby k}
    {}              {INCRBYFLOAT k 1.5}                     {new k incrbyfloat k}
    {SET k x}       {INCR k;INCRBYFLOAT k 1}                {}
    {}              {GETRANGE k 0 1;SUBSTR k 0 1;LCS k j}   {keymiss k keymiss k keymiss k keymiss j}
    {}              {SETBIT k 1 1;SETBIT k 2 1}             {new k setbit k setbit k}
    {}              {GETBIT k 1;BITCOUNT k;BITPOS k 1}      {keymiss k keymiss k keymiss k}
    {}              {PFADD k a;PFADD k a;PFADD k b;PFCOUNT k;PFCOUNT k none} {new k pfadd k pfadd k keymiss none}
    {PFADD k a}     {PFMERGE to k none;PFMERGE to k}        {keymiss to keymiss none new to pfadd to pfadd to}
    {PFADD k a}     {PFDEBUG TODENSE k;PFDEBUG GETREG k}    {}
    {SET k a}       {BITOP NOT to k;BITOP AND to none none} {new to set to keymiss none keymiss none del to}
    {}              {BITFIELD k SET u8 0 1;BITFIELD k INCRBY u8 0 1} {new k setbit k setbit k}
    {}              {BITFIELD k GET u8 0;BITFIELD_RO k GET u8 0} {keymiss k keymiss k}
}

# ----- SORT -----

check_events {
    {RPUSH k 2 1}           {SORT k;SORT_RO k;SORT none}        {keymiss none}
    {RPUSH k 2 1}           {SORT k STORE to;SORT k STORE to}   {new to sortstore to sortstore to}
    {RPUSH k 2 1;SET to 1}  {SORT k STORE to}                   {sortstore to}
    {RPUSH k 2}             {SORT none STORE k;SORT none STORE to} {keymiss none del k keymiss none}
    {RPUSH k 2}             {SORT k BY w_* GET v_* GET #}       {keymiss w_2 keymiss v_2}
}

# ----- Keys -----

check_events {
    {SET a 1;SET b 1}   {DEL a none b}                      {del a del b}
    {SET a 1}           {UNLINK a none}                     {del a}
    {SET a 1}           {EXISTS a none none;TYPE none}      {keymiss none keymiss none keymiss none}
    {}                  {OBJECT ENCODING k;OBJECT FREQ k;OBJECT IDLETIME k;MEMORY USAGE k} {}
    {SET a 1}           {EXPIRE a 10;PEXPIRE a 10000;EXPIREAT a 4000000000;PEXPIREAT a 4000000000000}
        {expire a expire a expire a expire a}
    {SET a 1}           {EXPIRE a 0}                        {del a}
    {SET a 1;SET b 1}   {PEXPIRE a -1;EXPIREAT b 1}         {del a del b}
    {SET a 1}           {EXPIRE a 10 XX;EXPIRE none 10}     {}
    {SETEX a 10 1}      {PERSIST a;PERSIST a;PERSIST none}  {persist a}
    {}                  {TTL k;PTTL k;EXPIRETIME k;PEXPIRETIME k} {keymiss k keymiss k keymiss k keymiss k}
    {SET a 1;SET b 1}   {FLUSHDB;FLUSHALL;SWAPDB 0 1}       {}
    {SET a 1}           {TOUCH a none;OBJECT ENCODING none} {keymiss none}
    {SET a 1}           {RENAME a b}                        {new b rename_from a rename_to b}
    {SET a 1;RPUSH b x} {RENAME a b}                        {new b rename_from a rename_to b}
    {SET a 1}           {RENAME a a;RENAMENX a a;RENAME none b} {}
    {SET a 1;SET c 1}   {RENAMENX a c;RENAMENX a b}         {new b rename_from a rename_to b}
    {SET a 1;SET c 1}   {COPY a b;COPY a c;COPY a c REPLACE;COPY none c} {new b copy_to b new c copy_to c keymiss none}
    {SET a 1}           {COPY a b DB 1}                     {1:new b 1:copy_to b}
    {SET a 1}           {MOVE a 1;MOVE a 1}                 {1:new a move_from a 1:move_to a}
    {SET a 1}           {SELECT 1;SET a 1;SELECT 0;DEL a}   {1:new a 1:set a del a}
}

check "a command that finds an expired key sends its event" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    set events [events_of {
        r SET k v PX 1
        after 3
        r GET k
    }]
    r DEBUG SET-ACTIVE-EXPIRE 1
    set events
} {new k set k expire k expired k keymiss k}

check "an expired key's event is sent without any command" {
    with_config {notify-keyspace-events Ex} {
        set listener [listen]
        r SET k v PX 1
        $listener read
    }
} {pmessage __key* __keyevent@0__:expired k}

check "an eviction sends its event" {
    r SET k v
    with_config {notify-keyspace-events Ee maxmemory-policy allkeys-lru} {
        set listener [listen]
        with_config {maxmemory 1} {
            $listener read
        }
    }
} {pmessage __key* __keyevent@0__:evicted k}

check "the commands of a transaction send their events in order" {
    events_of {
        foreach command {{MULTI} {SET a 1} {LPUSH l x} {DEL a} {EXEC}} {
            r {*}$command
        }
    }
} {new a set a new l lpush l del a}

check_in 3 "one's own events follow the reply" {
    with_config {notify-keyspace-events KA} {
        set c [client_open]
        $c call PSUBSCRIBE *
        $c send SET k v
        assert_equal [list [$c read] [$c read]] {OK {pmessage * __keyspace@0__:k set}}
        $c call MULTI
        $c call SET k v
        $c call DEL k
        $c send EXEC
        list [$c read] [$c read] [$c read]
    }
} {{OK 1} {pmessage * __keyspace@0__:k set} {pmessage * __keyspace@0__:k del}}

# ----- Channels and classes -----

check "K sends the event to the key's channel, E the key to the event's channel, in this order" {
    set all {}
    foreach letters {KEA KA EA A KE K ""} {
        with_config [list notify-keyspace-events $letters] {
            set listener [listen]
            r SET k v
            lappend all [messages_of $listener]
            $listener close
        }
    }
    set all
} {{keyspace@0:k set keyevent@0:set k} {keyspace@0:k set} {keyevent@0:set k} {} {} {} {}}

check "events of a class are sent if its letter is given" {
    set scene {
        r SET s v PX 1
        after 3
        catch {r GET s}
        r RPUSH l a
        r DEL l
    }
    r DEBUG SET-ACTIVE-EXPIRE 0
    set all {}
    foreach letter {$ l g x n m e} {
        lappend all [events_of $scene E$letter]
    }
    r DEBUG SET-ACTIVE-EXPIRE 1
    set all
} {{set s} {rpush l} {expire s del l} {expired s} {new s new l} {keymiss s} {}}

check "classes of types that do not exist yet are accepted" {
    events_of {r SET k v} Eshzdt
} {}

check "events name the database, whose number may have several digits" {
    events_of {
        r SELECT 12
        r SET k v
    } E$
} {12:set k}

check "keys and channels in events may be any bytes, and long" {
    set key "\r\n\x00\xff*[string repeat x 1000]"
    set listener [listen]
    with_config {notify-keyspace-events KE$} {
        r SET $key v
        assert_equal [messages_of $listener] [list keyspace@0:$key set keyevent@0:set $key]
        r SET "" v
        messages_of $listener
    }
} {keyspace@0: set keyevent@0:set {}}

foreach {given shown} {
    KEA AKE    g$lshzxetdnmKE AnKEm    AnK AnK    AKEoc AocKE    mcoKEng gnocKEm
    mndtexzhsl$EK $lshzxetdnKEm    KgKg gK    Am Am    "" ""    AA A    n n
} {
    check "notify-keyspace-events '$given' is shown as '$shown'" [string map [list @given@ [list $given]] {
        with_config {notify-keyspace-events ""} {
            r CONFIG SET notify-keyspace-events @given@
            lindex [r CONFIG GET notify-keyspace-events] 1
        }
    }] $shown
}

foreach letters {q gQ "K E" KEa} {
    check_error "notify-keyspace-events refuses '$letters'" [list r CONFIG SET notify-keyspace-events $letters] \
        "ERR CONFIG SET failed (possibly related to argument 'notify-keyspace-events') - Invalid event class\
            character. Use 'Ag\$lshzxeKEtmdn'."
}

check_in 2 "notify-keyspace-events may stand in the configuration file, and is rewritten" {
    with_server {notify-keyspace-events E$} {
        set listener [listen]
        r SET k v
        assert_equal [messages_of $listener] {keyevent@0:set k}
        r CONFIG SET notify-keyspace-events KEAoc
        r CONFIG REWRITE
        set file [open [info_field config_file]]
        set lines [split [read $file] \n]
        close $file
        lsearch -inline -glob $lines notify-keyspace-events*
    }
} "notify-keyspace-events AocKE"

check "events of RESTORE: none of what it replaces, and del where it replaces by what has expired" {
    r SET s x
    set payload [r DUMP s]
    events_of {
        r RESTORE k 0 $payload
        r RESTORE k 0 $payload REPLACE
        r RESTORE k 1 $payload REPLACE ABSTTL
        r RESTORE k 1 $payload ABSTTL
    }
} {new k restore k new k restore k del k}

# ----- Whole values that give way to others: o and c, which A does not contain -----

# What changes a value in place overwrites nothing.
check_events {
    {}                      {SET k v;SETEX k 9 w;PSETEX k 9000 w;GETSET k x;SET k y KEEPTTL}
                            {set k overwritten k set k expire k overwritten k set k expire k overwritten k set k
                            overwritten k set k}
    {RPUSH k a}             {SET k v XX EX 9}               {overwritten k type_changed k set k expire k}
    {RPUSH k a}             {GETSET k v;SET k v GET;SET k v NX;SETNX k v;MSETNX k v} {}
    {SADD b m}              {MSET a 1 b 2 a 3}              {set a overwritten b type_changed b set b
                            overwritten a set a}
    {SET a v}               {MSETEX 1 a w XX}               {overwritten a set a}
    {SET k 1}               {APPEND k 2;INCR k;SETRANGE k 0 3;SETBIT k 1 1;GETEX k EX 9;EXPIRE k 9;PERSIST k}
                            {append k incrby k setrange k setbit k expire k expire k persist k}
    {SET k v;RPUSH l a;RPUSH m b} {RENAME k l;RENAME l m}
                            {rename_from k rename_to l overwritten l type_changed l
                            rename_from l rename_to m overwritten m type_changed m}
    {SET k v;SET l w}       {RENAMENX k l;COPY k l;RENAME k k} {}
    {SET k v;RPUSH l a;SET m v} {COPY k m REPLACE;COPY k l REPLACE;COPY k n}
                            {copy_to m overwritten m copy_to l overwritten l type_changed l copy_to n}
    {SET k v}               {COPY k k DB 1;COPY k k DB 1 REPLACE} {1:copy_to k 1:copy_to k 1:overwritten k}
    {SET k v;COPY k l DB 1;RPUSH l a} {MOVE l 1;MOVE l 1 REPLACE}
                            {move_from l 1:move_to l 1:overwritten l 1:type_changed l}
    {SADD s a;SET k v}      {SUNIONSTORE k s;SINTERSTORE k s;SDIFFSTORE k s s}
                            {overwritten k type_changed k sunionstore k overwritten k sinterstore k del k}
    {ZADD z 1 a;SET k v}    {ZUNIONSTORE k 1 z;ZRANGESTORE k z 0 0;ZINTERSTORE k 1 none}
                            {overwritten k type_changed k zunionstore k overwritten k zrangestore k del k}
    {GEOADD g 1 1 a;SET k v} {GEOSEARCHSTORE k g FROMLONLAT 1 1 BYRADIUS 9 m;GEORADIUS g 1 1 9 m STORE k}
                            {overwritten k type_changed k geosearchstore k overwritten k georadiusstore k}
    {RPUSH l 1;SET k v}     {SORT l STORE k;SORT l STORE k;SORT none STORE k}
                            {overwritten k type_changed k sortstore k overwritten k sortstore k del k}
    {SET s v;RPUSH k a}     {BITOP NOT k s;BITOP NOT k s;BITOP NOT n s;BITOP AND k none none}
                            {overwritten k type_changed k set k overwritten k set k set n del k}
    {SET k v}               {MULTI;SET k a;SET k b;EXEC}    {overwritten k set k overwritten k set k}
} EAoc

check "a script's SET overwrites" {
    r SET k v
    events_of {r EVAL {redis.call('SET', KEYS[1], 'x')} 1 k} Eo
} {overwritten k}

check "a key that has expired is not overwritten" {
    r DEBUG SET-ACTIVE-EXPIRE 0
    r RPUSH k a
    r PEXPIRE k 1
    wait_until {[r TTL k] == -2}
    set events [events_of {r SET k v} EAoc]
    r DEBUG SET-ACTIVE-EXPIRE 1
    set events
} {set k}

check "RESTORE REPLACE overwrites, unless the new value has expired" {
    r SET s x
    set payload [r DUMP s]
    r RPUSH k a
    events_of {
        r RESTORE k 0 $payload REPLACE
        r RESTORE k 0 $payload REPLACE
        r RESTORE k 1 $payload REPLACE ABSTTL
        r RESTORE k 0 $payload REPLACE
    } EAoc
} {restore k overwritten k type_changed k restore k overwritten k del k restore k}

check "neither o nor c is part of A, and each selects its event alone" {
    r RPUSH k a
    list [events_of {r SET k v} EA] [events_of {r SET k v} EAo] [r DEL k] [r RPUSH k a] [events_of {r SET k v} Ec]
} {{set k} {overwritten k set k} 1 1 {type_changed k}}

# ----- Fields of hashes -----

# The messages about fields while the body runs, of channels that the letters select: {channel text …}.
proc field_messages {letters body} {
    with_config [list notify-keyspace-events $letters] {
        set listener [client_open]
        $listener call PSUBSCRIBE __subkey*
        $listener call SUBSCRIBE end
        uplevel 1 $body
        set messages [messages_of $listener]
    }
    return $messages
}

foreach {letter messages} {
    S {subkeyspace@0:key {hset|3:abc,1:d}}
    T {subkeyevent@0:hset {3:key|3:abc,1:d}}
    I {{subkeyspaceitem@0:key
abc} hset {subkeyspaceitem@0:key
d} hset}
    V {subkeyspaceevent@0:hset|key {3:abc,1:d}}
} {
    check "$letter publishes the fields of hashes" {
        field_messages h$letter {r HSET key abc 1 d 2}
    } [list {*}$messages]
}
check "all four go together, in one order, beside the events of keys" {
    with_config {notify-keyspace-events hKESTIV} {
        set listener [client_open]
        $listener call PSUBSCRIBE __*
        $listener call SUBSCRIBE end
        r HSET k f v
        set channels {}
        foreach {channel text} [messages_of $listener] {
            lappend channels [lindex [split $channel @] 0]
        }
    }
    set channels
} {keyspace keyevent subkeyspace subkeyevent subkeyspaceitem subkeyspaceevent}
check "without h, or without one of the letters, nothing is published about fields" {
    list [field_messages gSTIV {r HSET k f v}] [field_messages AKE {r HSET k f v}]
} {{} {}}
check "events in another database name it" {
    field_messages hT {
        r SELECT 3
        r HSET k f v
        r DEL k
    }
} {subkeyevent@3:hset 1:k|1:f}
foreach {commands texts} {
    {{HSETNX k f 1} {HSETNX k f 1}} {hset|1:f}
    {{HMSET k a 1 b 2 a 3}} {hset|1:a,1:b,1:a}
    {{HINCRBY k f 1} {HINCRBYFLOAT k f 0.5}} {hincrby|1:f hincrbyfloat|1:f}
    {{HSET k a 1 b 2 c 3} {HDEL k a none c} {HDEL k none}} {hset|1:a,1:b,1:c hdel|1:a,1:c}
    {{HSET k a 1 b 2 c 3} {HEXPIRE k 100 FIELDS 3 a none c} {HPERSIST k FIELDS 2 c b}}
        {hset|1:a,1:b,1:c hexpire|1:a,1:c hpersist|1:c}
    {{HSET k a 1 b 2} {HPEXPIREAT k 1 FIELDS 1 a} {HGETDEL k FIELDS 2 a b}} {hset|1:a,1:b hdel|1:a hdel|1:b}
    {{HSETEX k EX 100 FIELDS 2 a 1 b 2} {HGETEX k PERSIST FIELDS 2 b c} {HGETEX k EX 5 FIELDS 1 b}}
        {hset|1:a,1:b hexpire|1:a,1:b hpersist|1:b hexpire|1:b}
    {{HSETEX k FNX FIELDS 1 a 1} {HSETEX k FNX FIELDS 1 a 1} {HGETALL k} {DEL k}} {hset|1:a}
} {
    check "fields in the events of $commands" {
        set found {}
        foreach {channel text} [field_messages hS {foreach command $commands {r {*}$command}}] {
            assert_equal $channel subkeyspace@0:k
            lappend found $text
        }
        set found
    } [list {*}$texts]
}
check "fields that expire are published" {
    set found [field_messages hS {
        r HSET k a 1 b 2
        r HPEXPIRE k 1 FIELDS 2 a b
        wait_until {![r EXISTS k]}
    }]
    lindex $found end
} {hexpired|1:a,1:b}
check "names may hold any bytes" {
    field_messages hST {r HSET "k|1" "a,b" 1 "" 2}
} {subkeyspace@0:k|1 hset|3:a,b,0: subkeyevent@0:hset 3:k|1|3:a,b,0:}

finish
