# What a server that runs alone answers to those that ask for replication, clusters, modules, its user and client-side
# caching.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]

server_start

set no_cluster "ERR This instance has cluster support disabled"

# --- Replication

check "ROLE: a primary without replicas" {typed ROLE} {array {{bulk master} {int 0} {array {}}}}
check "REPLICAOF NO ONE and SLAVEOF NO ONE change nothing" {
    list [r REPLICAOF NO ONE] [r replicaof no one] [r SLAVEOF NO ONE] [lindex [r ROLE] 0]
} {OK OK OK master}
foreach {arguments error} {
    ABORT "ERR No failover in progress."
    {} "ERR FAILOVER requires connected replicas."
    {TO h 1} "ERR FAILOVER requires connected replicas."
    {TO h 1 FORCE TIMEOUT 10} "ERR FAILOVER requires connected replicas."
    {TO h} "ERR syntax error"
    {TO h x} "ERR value is not an integer or out of range"
    {TIMEOUT x} "ERR value is not an integer or out of range"
    {TIMEOUT 0} "ERR FAILOVER timeout must be greater than 0"
    {TIMEOUT 10 TIMEOUT 10} "ERR syntax error"
    {ABORT TIMEOUT 10} "ERR syntax error"
    {nosuch} "ERR syntax error"
} {
    check_error "FAILOVER $arguments" [list r FAILOVER {*}$arguments] $error
}

# --- Clusters

foreach command {ASKING {CLUSTER INFO} {CLUSTER NODES} {CLUSTER SLOTS} {CLUSTER SHARDS} {CLUSTER HELP} {CLUSTER MYID}
    {CLUSTER MYSHARDID} {CLUSTER LINKS} {CLUSTER REPLICAS x} {CLUSTER COUNT-FAILURE-REPORTS x} {CLUSTER ADDSLOTS x}
    {CLUSTER DELSLOTSRANGE 1 2} {CLUSTER FLUSHSLOTS} {CLUSTER FLUSHSLOT x} {CLUSTER SETSLOT 1 STABLE}
    {CLUSTER BUMPEPOCH} {CLUSTER SET-CONFIG-EPOCH 1} {CLUSTER FORGET x} {CLUSTER SAVECONFIG}
    {CLUSTER SLOT-STATS SLOTSRANGE 1 2} {CLUSTER GETKEYSINSLOT 1 x} {cluster countkeysinslot 1}
    {CLUSTER MEET 127.0.0.1 1 2} {CLUSTER RESET} {CLUSTERSCAN x}} {
    check_error "$command: there is no cluster" [list r {*}$command] $no_cluster
}
check "READONLY and READWRITE have no effect, and KEYSLOT needs no cluster" {
    list [r READONLY] [r READWRITE] [r CLUSTER KEYSLOT {{user:1}:name}] [r CLUSTER KEYSLOT user:1] [r CLUSTER \
        KEYSLOT foo]
} {OK OK 10778 10778 12182}
check_error "CLUSTER knows no other subcommand" {r CLUSTER NOSUCH} "ERR unknown subcommand 'NOSUCH'. Try CLUSTER HELP."
check_error "CLUSTER checks the arguments of subcommands" {r CLUSTER SLOTS x} \
    "ERR wrong number of arguments for 'cluster|slots' command"
check_error "CLUSTER checks the least number, too" {r CLUSTER ADDSLOTS} \
    "ERR wrong number of arguments for 'cluster|addslots' command"

# --- Modules

check "MODULE LIST is empty" {typed MODULE LIST} {array {}}
check_error "modules cannot be loaded" {r MODULE LOAD x} "ERR unknown subcommand 'LOAD'. Try MODULE HELP."
# --- The default user: what ACL says of it, and how it agrees with what AUTH takes
check "ACL: the default user, without a password" {
    assert_equal [list [r ACL WHOAMI] [r ACL USERS] [r AUTH default anything]] {default default OK}
    assert_equal [r ACL LIST] {{user default on nopass ~* &* +@all}}
    list [r ACL GETUSER default] [r ACL GETUSER nosuch] [r ACL GETUSER DEFAULT]
} {{flags {on nopass} passwords {} commands +@all keys ~* channels &* selectors {}} (nil) (nil)}
check_in 3 "ACL GETUSER is a map, its flags are a set in RESP3" {
    lassign [typed ACL GETUSER default] type members
    list $type [lindex $members 1 0] [typed ACL GETUSER nosuch]
} {map set null}
check "ACL shows the digest of the password that CONFIG SET requirepass sets" {
    set digest 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b
    r PING
    with_config {requirepass secret} {
        assert_equal [r ACL LIST] [list "user default on #$digest ~* &* +@all"]
        assert_equal [dict get [r ACL GETUSER default] flags] on
        assert_equal [dict get [r ACL GETUSER default] passwords] $digest
        set other [client_open 2]
        assert_equal [lindex [$other typed ACL WHOAMI] 1] "NOAUTH Authentication required."
        assert_equal [$other call AUTH default secret] OK
        assert_equal [$other call ACL WHOAMI] default
    }
    dict get [r ACL GETUSER default] flags
} {on nopass}
check_in 2 "ACL shows the password that the server was started with" {
    with_server {requirepass secret} {
        r AUTH secret
        llength [dict get [r ACL GETUSER default] passwords]
    }
} 1
check "ACL CAT names the categories" {r ACL CAT} {keyspace read write set sortedset list hash string bitmap hyperloglog\
 geo stream pubsub admin fast slow blocking dangerous connection transaction scripting}
check "ACL CAT names the commands of a category, as COMMAND LIST does" {
    foreach category [r ACL CAT] {
        assert_equal [lsort [r ACL CAT $category]] [lsort [r COMMAND LIST FILTERBY ACLCAT $category]]
    }
    assert {"lpush" in [r ACL CAT LIST] && "get" ni [r ACL CAT list]}
    assert {"config|set" in [r ACL CAT dangerous]}
    r ACL CAT geo
} {geoadd geodist geohash geopos georadius georadius_ro georadiusbymember georadiusbymember_ro geosearch geosearchstore}
check_error "ACL CAT refuses other names" {r ACL CAT nosuch} "ERR Unknown category 'nosuch'"
check_error "ACL CAT takes one name" {r ACL CAT list x} \
    "ERR unknown subcommand or wrong number of arguments for 'CAT'. Try ACL HELP."
# --- All of them

check "they can be queued in MULTI" {
    set commands {ROLE {REPLICAOF NO ONE} {ACL WHOAMI} {MODULE LIST}
        {CLIENT TRACKING OFF} {ACL USERS} READONLY}
    r MULTI
    foreach command $commands {
        assert_equal [r {*}$command] QUEUED
    }
    r EXEC
} {{master 0 {}} OK default {} OK default OK}
check_in 2 "they are refused before AUTH" {
    with_server {requirepass secret} {
        foreach command {ROLE {REPLICAOF NO ONE} {FAILOVER ABORT} {MODULE LIST} READONLY ASKING {CLUSTER INFO}
            {ACL WHOAMI} {ACL LIST} {ACL GETUSER default} {CLIENT TRACKING OFF} {CLIENT CACHING YES}
            {WAITAOF 0 0 0}} {
            assert_equal [list $command [error_of {r {*}$command}]] [list $command "NOAUTH Authentication required."]
        }
    }
}
foreach {container subcommands} {
    ACL {CAT DELUSER DRYRUN GENPASS GETUSER LIST LOAD LOG SAVE SETUSER USERS WHOAMI HELP} MODULE {LIST HELP}
} {
    check "$container HELP names every subcommand" [string map [list CONTAINER $container SUBCOMMANDS $subcommands] {
        set help [r CONTAINER HELP]
        assert {[string match "CONTAINER <subcommand> *" [lindex $help 0]]}
        foreach word {SUBCOMMANDS} {
            assert {[lsearch -glob $help $word*] > 0}
        }
    }]
}

finish
