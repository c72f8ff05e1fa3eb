# A replica whose disk fails while all data arrives: the link is closed and tried again, and the old data stays.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/faults.tcl
source $library/primary.tcl

server_start

# The ways in which the file of the payload cannot be written, and what the log says of it.
set failures {
    "a full disk"                           {write ENOSPC temp-sync-*}               "No space left on device"
    "a disk that gets full on the way"      {write ENOSPC,after=100000 temp-sync-*}  "No space left on device"
    "an error of the disk"                  {write EIO,from=2 temp-sync-*}           "Input/output error"
    "a failed fsync"                        {sync EIO temp-sync-*}                   "Input/output error"
    "a failed close"                        {close EIO temp-sync-*}                  "Input/output error"
    "a read-only file system"               {open EROFS temp-sync-*}                 "Read-only file system"
    "no free descriptor"                    {open EMFILE temp-sync-*}                "Too many open files"
}

# Some hundred KB in several writes of the file.
set large {}
for {set i 0} {$i < 30} {incr i} {
    lappend large key:$i [string repeat $i 20000]
}

# A replica with the data {a old}, whose primary has lost its history; in the body the next link asks for all data.
proc with_old_data {body} {
    set ::primary [fake_primary new]
    try {
        with_faulty_server [list replicaof "127.0.0.1 [$::primary port]"] "
            set link \[link_begin {a old}]
            \$link close
            $body
        "
    } finally {
        $::primary destroy
    }
}

foreach {what rule reason} $failures {
    check_in 2 "$what while all data arrives" [string map [list RULE $rule REASON $reason] {
        with_old_data {
            set link [$::primary accept]
            with_faults {{RULE}} {
                assert_equal [lindex [link_asks $link] 0] PSYNC
                catch {link_sync $link $::large 100} ;# it may be closed meanwhile
                set link [$::primary accept]
                assert_equal [lrange [link_asks $link] 0 1] [list PSYNC $::replication_id]
            }
            assert_match "*for MASTER <-> REPLICA synchronization: REASON*" [$::current_server log]
            assert_equal [list [r GET a] [r DBSIZE]] {old 1}
            link_sync $link $::large 100
            wait_link up
            assert_nothing_left
            list [r GET a] [r DBSIZE]
        }
    }] {(nil) 30}
}
check_in 2 "a snapshot that the file of the payload cannot replace: the data is there, and the old file, too" {
    with_old_data {
        r SAVE
        set old [read_file [data_file dump.rdb]]
        set link [$::primary accept]
        with_faults {{rename EIO dump.rdb}} {
            link_asks $link
            link_sync $link $::large 100
            wait_link up
        }
        assert_match "*The file of the synchronization cannot be renamed to dump.rdb: Input/output error*" \
            [$::current_server log]
        assert_nothing_left
        list [r DBSIZE] [expr {[read_file [data_file dump.rdb]] eq $old}]
    }
} {30 1}

finish
