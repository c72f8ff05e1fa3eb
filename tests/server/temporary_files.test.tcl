# Temporary files: whoever else may write to their folder cannot make the server write elsewhere.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/faults.tcl
source $library/aof.tcl
source $library/replica.tcl

server_start

# Puts links to a file of somebody else where names can be guessed: by the process id, a number, or nothing at all.
proc plant_links {} {
    set victim [data_file victim]
    write_file $victim precious
    file mkdir [data_file appendonlydir]
    set pid [$::current_server pid]
    foreach number {"" 0000000000 0000000001 0000000002 9000000001 9000000002} {
        foreach prefix {temp- temp-rewriteaof-bg- temp-sync-} {
            set suffix [expr {$prefix eq "temp-rewriteaof-bg-" ? ".aof" : ".rdb"}]
            catch {file link -symbolic [data_file $prefix$pid$number$suffix] $victim}
        }
    }
    foreach kind {manifest incr} {
        file link -symbolic [data_file appendonlydir/temp-appendonly.aof.$kind] $victim
    }
}

proc assert_untouched {} {
    assert_equal [read_file [data_file victim]] precious
    assert {[file type [data_file victim]] eq "file"}
}

check_in 2 "a link under a name that can be guessed is not followed" {
    with_faulty_server {} {
        plant_links
        r SET a 1
        r SAVE
        r BGSAVE
        wait_until {![info_field rdb_bgsave_in_progress]}
        assert_equal [info_field rdb_last_bgsave_status] ok
        assert_equal [file type [data_file dump.rdb]] file
        r CONFIG SET appendonly yes
        wait_rewritten
        r BGREWRITEAOF
        wait_rewritten
        assert_equal [info_field aof_last_bgrewrite_status] ok
        assert_equal [file type [data_file appendonlydir/appendonly.aof.manifest]] file
        assert_untouched
    }
}

check_in 2 "nor for the payload of a full synchronization" {
    with_faulty_server {repl-diskless-sync no} {
        plant_links
        r SET a 1
        set c [replica_open capa psync2]
        replica_psync $c
        assert_match *a* [replica_payload $c]
        assert_untouched
    }
}

oo::class create open_server {
    superclass server
    method command {} {
        return [list sh -c {umask 0; exec "$0" "$@"} {*}[next]]
    }
}
check_in 2 "only the user of the server may read what has data or secrets, even without an umask" {
    with_started {open_server new {appendonly yes}} {
        r SET a 1
        r SAVE
        r CONFIG SET maxclients 100
        r CONFIG REWRITE
        rewrite_aof
        set files [aof_files $current_server *]
        assert {[llength $files] >= 3}
        lappend files [data_file dump.rdb] [$current_server folder]/packlist.conf
        lsort -unique [lmap file $files {file attributes $file -permissions}]
    }
} 00600

check_in 2 "CONFIG REWRITE follows no link under a name that can be guessed, and leaves no file behind" {
    with_server {} {
        set folder [$current_server folder]
        set victim $folder/victim
        write_file $victim precious
        foreach suffix {-tmp .tmp -XXXXXX .new} {
            file link -symbolic $folder/packlist.conf$suffix $victim
            file link -symbolic $folder/packlist.conf-[$current_server pid]$suffix $victim
        }
        set before [lsort [glob $folder/*]]
        r CONFIG SET maxclients 100
        r CONFIG REWRITE
        assert_equal [lsort [glob $folder/*]] $before
        assert_equal [read_file $victim] precious
        file type $folder/packlist.conf
    }
} file
check_in 2 "the pid file is not written through a link" {
    with_server {} {
        set folder [$current_server folder]
        write_file $folder/victim precious
        file link -symbolic $folder/pid $folder/victim
        $current_server halt
        $current_server launch_with [list pidfile $folder/pid]
        set default_client ""
        assert {[string match "*Failed to write PID file $folder/pid: *" [$current_server log]]}
        read_file $folder/victim
    }
} precious

# The name of the file that is being written, once the thread has opened it.
proc name_of_next {command glob} {
    set before [llength [fault_hits]]
    faults "sync hold $glob"
    {*}$command
    wait_until {[llength [fault_hits]] > $before}
    set names [lsearch -all -inline -not [leftovers] *manifest]
    faults
    wait_until {![info_field rdb_bgsave_in_progress] && ![info_field aof_rewrite_in_progress]}
    return $names
}

foreach {what command prefix suffix} {
    snapshot {r BGSAVE} temp- .rdb
    base {r BGREWRITEAOF} temp-rewriteaof-bg- .aof
} {
    check_in 2 "the temporary name of a $what has 64 random bits" {
        with_faulty_server {} {
            set names {}
            foreach _ {1 2} {
                set name [name_of_next $command temp-*]
                assert {[regexp "^$prefix\\d+-(\[0-9a-f\]{16})$suffix\$" $name _ secret]}
                lappend names $secret
            }
            assert {[lindex $names 0] ne [lindex $names 1]}
        }
    }
}

check_in 2 "what a killed server leaves is removed, in the folder of the append-only file, too" {
    with_faulty_server {} {
        r SET a 1
        faults {rename crash *.manifest}
        catch {r CONFIG SET appendonly yes}
        $current_server wait_exit
        faults
        assert {[regexp {temp-appendonly.aof.\d+-[0-9a-f]{16}.manifest} [leftovers]]}
        write_file [data_file appendonlydir/temp-appendonly.aof.manifest] ""
        write_file [data_file appendonlydir/temp-appendonly.aof.incr] ""
        $current_server launch_with {}
        set default_client ""
        leftovers
    }
} {}

finish
