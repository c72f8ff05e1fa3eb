# Users with the right to some databases only (db=), as in Valkey 9.1.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source [file join [file dirname [file normalize [info script]]] lib users.tcl]

server_start

set no_database "NOPERM No permissions to access database"

proc expect_refused {connection commands} {
    foreach command $commands {
        assert_equal [list $command [refusal $connection {*}$command]] [list $command $::no_database]
    }
}

check "only databases of the list can be selected and named" {
    set c [as a ~* +@all db=0,2]
    r SET k v
    expect_refused $c {
        {SELECT 1} {SWAPDB 0 1} {SWAPDB 1 0} {SWAPDB 1 3} {MOVE k 1} {COPY k l DB 1} {COPY k l DB 1 DB 0}
        {COPY k l DB 0 DB 1} {COPY k l REPLACE DB 1} {FLUSHALL} {FLUSHALL SYNC}
    }
    list [$c call SELECT 2] [$c call SELECT 0] [$c call COPY k l DB 2] [$c call MOVE k 2] [$c call SWAPDB 0 2] \
        [lsort [$c call KEYS *]] [refusal $c SELECT -1] [refusal $c SELECT x]
} {OK OK 1 1 OK {k l} {ERR DB index is out of range} {ERR value is not an integer or out of range}}
check "in a database that is not in the list nothing reads, writes or counts" {
    set c [as a ~* &* +@all]
    $c call SELECT 1
    r ACL SETUSER a db=0
    expect_refused $c {
        {GET k} {SET k v} {DEL k} {KEYS *} {SCAN 0} {DBSIZE} {RANDOMKEY} {FLUSHDB} {EXISTS k} {TYPE k} {WATCH k}
        {OBJECT ENCODING k} {MEMORY USAGE k} {EVAL "return 1" 0} {EVAL_RO "return 1" 0} {EVAL "return 1" 1 k}
        {FCALL f 0} {MIGRATE 127.0.0.1 1 k 0 1} {SWAPDB 0 1} {SORT k} {BLPOP k 1} {XREAD STREAMS k 0} {MOVE k 0}
    }
    # What uses no database goes on, so that the client can leave.
    list [$c call PING] [$c call PUBLISH ch m] [$c call MULTI] [$c call EXEC] [$c call UNWATCH] [$c call ECHO x] \
        [$c call SELECT 0] [$c call SET k v] [$c call GET k]
} {PONG 0 OK {} OK x OK OK v}
check "without databases nothing but the connection's own commands is left" {
    set c [as a ~* &* +@all resetdbs]
    expect_refused $c {{GET k} {SELECT 0} {FLUSHDB} {KEYS *}}
    list [$c call PING] [$c call PUBLISH ch m]
} {PONG 0}
check "EXEC asks in the database that its commands are run in" {
    set c [as a ~* +@all db=0,1]
    $c pipeline {MULTI {SELECT 1} {SET k v}}
    r ACL SETUSER a db=0
    lmap reply [$c call EXEC] {regsub {^.*reason: } $reply ""}
} {{no permission} OK}
check "what is refused for its database makes EXEC fail" {
    set c [as a ~* +@all db=0]
    $c call MULTI
    list [refusal $c SELECT 1] [refusal $c EXEC]
} [list $no_database "EXECABORT Transaction discarded because of previous errors."]
check "scripts may select what their caller may" {
    set c [as a ~* +@all db=0,2]
    r SET k v
    list [refusal $c EVAL {return redis.pcall('SELECT', '1')} 0] \
        [$c call EVAL {redis.call('SELECT', '2') redis.call('SET', 'k', 'two') redis.call('SELECT', '0')
            return redis.call('GET', 'k')} 0] \
        [$c call EVAL {return {redis.acl_check_cmd('SELECT', '1'), redis.acl_check_cmd('SELECT', '2')}} 0] \
        [refusal $c EVAL {return redis.pcall('COPY', 'k', 'l', 'DB', '1')} 0]
} {{ERR ACL failure in script: No permissions to access database} v {(nil) 1} {ERR ACL failure in script: No\
 permissions to access database}}
check "a client that waits and loses its database leaves the element" {
    set c [as a ~* +@all]
    $c send BLPOP k 0
    wait_until {[info_field blocked_clients] == 1}
    r ACL SETUSER a db=1
    r RPUSH k v
    list [error_of {$c read}] [r LRANGE k 0 -1]
} [list $no_database v]
check "ACL LOG tells the database, or the command that was to use the client's own" {
    r ACL LOG RESET
    set c [as a ~* +@all db=0]
    foreach command {{SELECT 1} {MOVE k 1} {COPY k l DB 1} {SWAPDB 1 2} FLUSHALL} {
        refusal $c {*}$command
    }
    r ACL SETUSER a db=1
    foreach command {{get k} {OBJECT ENCODING k}} {
        refusal $c {*}$command
    }
    lmap entry [r ACL LOG] {
        list [dict get $entry count] [dict get $entry reason] [dict get $entry object]
    }
} {{1 database object|encoding} {1 database get} {1 database flushall} {4 database 1}}
check "ACL DRYRUN tells it, too" {
    r ACL SETUSER a reset ~a* +@all db=0
    set commands {{SELECT 1} {SELECT 0} {MOVE b 1} {COPY a b DB 1} {COPY a b DB 0} {SWAPDB 1 0} FLUSHALL FLUSHDB}
    set told [lmap command $commands {
        r ACL DRYRUN a {*}$command
    }]
    r ACL SETUSER a db=1
    lappend told [r ACL DRYRUN a GET a]
} {{User a has no permissions to access database 1} OK {User a has no permissions to access database 1} {User a has\
 no permissions to access database 1} {User a has no permissions to access the 'b' key} {User a has no permissions\
 to access database 1} {User a has no permissions to access database FLUSHALL} OK {User a has no permissions to access\
 database GET}}
check "INFO counts these refusals" {
    set before [info_field acl_access_denied_db]
    refusal [as a ~* +@all db=0] SELECT 1
    expr {[info_field acl_access_denied_db] - $before}
} 1

finish
