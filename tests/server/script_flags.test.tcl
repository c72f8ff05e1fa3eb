# The flags of a script's first line and of functions, which are asked before it runs: by clients, in MULTI and by EXEC.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/functions.tcl

server_start

# A script, and how it is called: each writes or reads, and says so.
set writes "#!lua\nreturn redis.call('SET', 'k', 'new')"
set reads "#!lua flags=no-writes\nreturn redis.call('GET', 'k')"
set noreplicas "NOREPLICAS Not enough good replicas to write."
set readonly "READONLY You can't write against a read only replica."

proc prepare {} {
    r SET k old
    r FUNCTION LOAD REPLACE [library_with writes {return redis.call('SET', 'k', 'new')}]
    r FUNCTION LOAD REPLACE [library_with reads {return redis.call('GET', 'k')} no-writes]
    set ::sha_of_writes [r SCRIPT LOAD $::writes]
    set ::sha_of_reads [r SCRIPT LOAD $::reads]
}

foreach {command writing reading} {
    EVAL    {EVAL $writes 0}           {EVAL $reads 0}
    EVALSHA {EVALSHA $sha_of_writes 0} {EVALSHA $sha_of_reads 0}
    FCALL   {FCALL writes 0}           {FCALL reads 0}
} {
    set names [list WRITING $writing READING $reading]
    check "$command: what declares writes is refused where too few replicas are good, before it runs" \
        [string map $names {
        prepare
        with_config {min-replicas-to-write 1} {
            set replies [list [error_of {r WRITING}] [r READING]]
        }
        lappend replies [r GET k]
    }] [list $noreplicas old old]
    check "$command: MULTI refuses what declares writes, and EXEC ends" [string map $names {
        prepare
        with_config {min-replicas-to-write 1} {
            r MULTI
            set replies [list [error_of {r WRITING}] [r READING] [error_of {r EXEC}]]
            r MULTI
            lappend replies [r READING] [r EXEC]
        }
    }] [list $noreplicas QUEUED "EXECABORT Transaction discarded because of previous errors." QUEUED old]
    check "$command: EXEC asks again for what was queued" [string map $names {
        prepare
        r MULTI
        r WRITING
        $::current_server control CONFIG SET min-replicas-to-write 1
        set error [error_of {r EXEC}]
        $::current_server control CONFIG SET min-replicas-to-write 0
        list $error [r GET k]
    }] [list "EXECABORT Transaction discarded because of: $noreplicas" old]
    check "$command: CLIENT PAUSE WRITE holds back what declares writes, and nothing else" [string map $names {
        prepare
        $::current_server control CLIENT PAUSE 100000 WRITE
        set reading [r READING]
        r MULTI
        r READING
        lappend reading {*}[r EXEC]
        set paused [client_open]
        $paused send WRITING
        wait_blocked 1
        set before [r GET k]
        $::current_server control CLIENT UNPAUSE
        list $reading $before [$paused read] [r GET k]
    }] {{old old} old OK new}
    check "$command: a read-only replica refuses what declares writes, in MULTI too" [string map $names {
        prepare
        r REPLICAOF 127.0.0.1 [free_port]
        set replies [list [error_of {r WRITING}] [r READING]]
        r MULTI
        lappend replies [error_of {r WRITING}] [error_of {r EXEC}]
        r REPLICAOF NO ONE
        set _ $replies
    }] [list $readonly old $readonly "EXECABORT Transaction discarded because of previous errors."]
}
check "a script that declares nothing runs where writes are refused, up to its first write" {
    prepare
    with_config {min-replicas-to-write 1} {
        list [r EVAL {return redis.call('GET', 'k')} 0] \
            [string match "NOREPLICAS*" [error_of {r EVAL {return redis.call('SET', 'k', 1)} 0}]]
    }
} {old 1}

finish
