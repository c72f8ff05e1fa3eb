# Servers that take their time to load, and the files that they load. Sourced by a test after lib/packlist.tcl.
#
#   rdb items …                     a snapshot without a checksum that holds these items
#   rdb_string key value, rdb_module key, rdb_select database        such items
#   many_strings count              that many items: key:0 …, all with the value "value"
#   loading_server new {path bytes …} directives    a server with these files in its folder: it counts as started as
#                                   soon as it listens. CONFIG SET key-load-delay 0 lets it end loading at once.

proc rdb {args} {
    return "REDIS0010[join $args {}]\xff[string repeat \0 8]"
}

proc rdb_text {text} {
    return [binary format ca* [string length $text] $text]
}

proc rdb_string {key value} {
    return \0[rdb_text $key][rdb_text $value]
}

# A value of a module; this server has no modules.
proc rdb_module {key} {
    return \7[rdb_text $key]\1\0
}

# A set without members, as some servers wrote it.
proc rdb_empty_set {key} {
    return \2[rdb_text $key]\0
}

proc rdb_select {database} {
    return \xfe[binary format c $database]
}

proc many_strings {count} {
    return [lmap i [lsearch -all [lrepeat $count x] x] {rdb_string key:$i value}]
}

oo::class create loading_server {
    superclass server
    variable folder port control files

    constructor {its_files directives} {
        set files $its_files
        next [dict merge {key-load-delay 20000 loading-process-events-interval-bytes 1024} $directives]
    }

    method spawn {} {
        dict for {path bytes} $files {
            file mkdir [file dirname $folder/$path]
            write_file $folder/$path $bytes
        }
        next
    }

    method connect_control {} {
        set control [client new 127.0.0.1 $port]
    }
}
