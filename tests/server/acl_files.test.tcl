# Users in files: the ACL file with ACL LOAD and ACL SAVE, lines `user` of the configuration, and CONFIG REWRITE.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/faults.tcl
source $library/replica.tcl
source $library/tracking.tcl

server_start

set all_rights "on nopass ~* &* +@all"
set default_line "user default $all_rights"
set nothing_changed "WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
set no_file "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL\
 SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to\
 store users in the Redis configuration."
set not_saved "ERR There was an error trying to save the ACLs. Please check the server logs for more information"

oo::class create acl_server {
    superclass faulty_server
    variable text

    constructor {its_text directives} {
        set text $its_text
        next [dict merge {aclfile users.acl} $directives]
    }
    method spawn {} {
        if {[info exists text]} {
            write_file [my data]/users.acl $text
            unset text
        }
        next
    }
}
# Runs the body with a server whose ACL file has this text; $acl_file is its path.
proc with_acl_file {text body {directives {}}} {
    set body "set acl_file \[data_file users.acl\]\n$body"
    uplevel 1 [list with_started [list acl_server new $text $directives] $body]
}
# ACL LOAD of a file with this text.
proc load {text} {
    write_file [data_file users.acl] $text
    return [r ACL LOAD]
}
proc connection_of {user {password x}} {
    set connection [client_open 2]
    assert_equal [$connection call AUTH $user $password] OK
    return $connection
}
proc is_closed {connection} {
    return [catch {$connection read}]
}
# What a start with these lines ends with: its status and its last line, without the date.
proc start_with {lines} {
    set path [$::current_server folder]/other.conf
    write_file $path "port [free_port]\nbind 127.0.0.1\ndir [$::current_server folder]\n$lines\n"
    lassign [server_run [list $path]] status output
    set last [lindex [split [string trimright $output] \n] end]
    regsub {^.*? # } $last "" last
    regsub {^packlist-server: } $last "" last
    return [list $status [string map [list $path CONF] $last]]
}
proc start_with_file {text} {
    write_file [$::current_server folder]/users.acl $text
    return [start_with "aclfile users.acl"]
}

# --- The file at the start

check "without an ACL file there is none to load or save" {
    assert_equal [error_of {r ACL LOAD}] $no_file
    assert_equal [error_of {r ACL SAVE}] $no_file
    list [r CONFIG GET aclfile] [error_of {r CONFIG SET aclfile x}]
} {{aclfile {}} {ERR CONFIG SET failed (possibly related to argument 'aclfile') - can't set immutable config}}
check_in 2 "the users of the file are there at the start" {
    with_acl_file "# a comment\n\nuser b on >x ~b* +get (~c +set)\r\n  user a off  \n$default_line" {
        assert_equal [r CONFIG GET aclfile] {aclfile users.acl}
        r ACL LIST
    }
} [list "user a off resetchannels -@all" "user b on #2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\
 ~b* resetchannels -@all +get (~c resetchannels -@all +set)" $default_line]
check_in 2 "a file without the default user leaves it as it is at first" {
    with_acl_file "" {
        r ACL LIST
    }
} [list $default_line]

# Whether somebody gets in as the default user: without a password, with this one, with another one.
proc open_to {password} {
    lappend open [expr {![catch {[client_open 2] call PING}]}]
    foreach with [list $password other] {
        lappend open [expr {![catch {[client_open 2] call AUTH $with}]}]
    }
    return $open
}
check_in 2 "requirepass is the password of the default user where the file has no line for it, also after ACL LOAD" {
    with_acl_file "user a on >x ~* +@all" {
        set found [list [open_to secret]]
        set a [connection_of a]
        $a call ACL LOAD
        lappend found [open_to secret]
        $a call CONFIG SET requirepass newer
        lappend found [open_to secret] [open_to newer]
        $a call ACL LOAD
        lappend found [open_to newer]
        lappend found [regexp {\* requirepass is a password of the user default\n} [$current_server log]]
        $a call CONFIG SET requirepass ""
        $a call ACL LOAD
        lappend found [lindex [$a call ACL LIST] 1]
    } {requirepass secret}
} [list {0 1 0} {0 1 0} {0 0 0} {0 1 0} {0 1 0} 1 $default_line]
check_in 2 "the log warns of a requirepass that the file overrides with nopass, and tells of another password" {
    set ::admin "user a on >x ~* +@all\n"
    with_acl_file $::admin {
        set a [connection_of a]
        $a call CONFIG SET requirepass secret
        lmap text {"user default on nopass ~* &* +@all" "user default on >other ~* &* +@all"} {
            write_file $acl_file "$::admin$text\n"
            $a call ACL LOAD
            lindex [regexp -all -inline -line {. requirepass .*$} [$current_server log]] end
        }
    }
} [list "# requirepass has no effect: clients need no password, because users.acl says 'nopass' of the user default.\
 Remove the one or the other." "* requirepass is no password of the user default, because of what users.acl says of it"]
check_in 2 "a path that is not absolute begins in the folder of the start, also later" {
    with_acl_file "$default_line\nuser a on\n" {
        file mkdir [data_file other]
        r CONFIG SET dir [data_file other]
        r ACL SETUSER b
        r ACL SAVE
        r ACL LOAD
        assert_equal [glob -nocomplain [data_file other/*acl*]] {}
        list [r ACL USERS] [r CONFIG GET aclfile]
    } {enable-protected-configs yes}
} {{a b default} {aclfile users.acl}}

foreach {what text error} {
    "an unknown command" "user a on\nuser b on +nope ~x nope\n"
    "users.acl:2: Error in applying operation '+nope': Unknown command or category name in ACL. users.acl:2: Error in\
 applying operation 'nope': Syntax error. "
    "no user" "usr a on\nuser\n"
    "users.acl:1 should start with user keyword followed by the username. users.acl:2 should start with user keyword\
 followed by the username. "
    "a user twice" "user a on\nuser b\nuser a off\n" "WARNING: Duplicate user 'a' found on line 3. "
    "a selector without its end" "user x on (~a\n"
    "users.acl:1: Unmatched parenthesis in selector definition '(~a'. "
    "a password with a rule behind it" "user x >secret #abc"
    "users.acl:1: Error in applying operation '#(redacted)': The password hash must be exactly 64 characters and\
 contain only lowercase hexadecimal characters. "
    "a NUL" "user a +get\0x\n"
    "users.acl:1: Error in applying operation '+get?x': Unknown command or category name in ACL. "
    "a NUL in a name" "user a\0b on\n" "users.acl:1: username 'a?b' contains invalid characters. "
} {
    check_in 2 "a file with $what stops the start" {
        start_with_file $text
    } [list 1 "Aborting startup because of ACL errors: $error$nothing_changed"]
    check_in 2 "and is refused by ACL LOAD: $what" {
        with_acl_file "$default_line\nuser old on\n" {
            set before [r ACL LIST]
            set got [error_of {load $text}]
            assert_equal [r ACL LIST] $before
            assert_equal [r PING] PONG
            set got
        }
    } "ERR $error$nothing_changed"
}
check_in 2 "of many errors the first hundred are told" {
    with_acl_file "" {
        set error [error_of {load [string repeat "user\n" 1000]}]
        list [regexp -all "should start" $error] [string match "*There may be more errors. $nothing_changed" $error]
    }
} {100 1}

# --- Files that are none

# The messages of a start, and of ACL LOAD and ACL SAVE, when $acl_file is what the script makes in its place.
proc replies_with {script} {
    with_acl_file "$::default_line\nuser a on\n" {
        set path [data_file users.acl]
        file delete $path
        eval $script
        set error [error_of {r ACL LOAD}]
        lassign [start_with "aclfile $path"] status other
        assert_equal $status 1
        assert_equal [string map [list $path users.acl] $other] \
            "Aborting startup because of ACL errors: [string range $error 4 end]"
        assert_equal [r ACL USERS] {a default}
        return $error
    }
}
check_in 2 "a file that is not there" {
    replies_with {}
} "ERR Error loading ACLs, opening file 'users.acl': No such file or directory"
check_in 2 "a folder, which ACL SAVE leaves alone" {
    replies_with {
        file mkdir $path
        assert_equal [error_of {r ACL SAVE}] $::not_saved
    }
} "ERR Error loading ACLs, opening file 'users.acl': Is a directory"
check_in 2 "a pipe, which nobody waits for, and which ACL SAVE leaves alone" {
    replies_with {
        exec mkfifo $path
        assert_equal [error_of {r ACL SAVE}] $::not_saved
        assert_equal [file type $path] fifo
    }
} "ERR Error loading ACLs, opening file 'users.acl': Invalid argument"
check_in 2 "a device" {
    replies_with {
        file link -symbolic $path /dev/zero
        assert_equal [error_of {r ACL SAVE}] $::not_saved
        assert_equal [file type /dev/zero] characterSpecial
    }
} "ERR Error loading ACLs, opening file 'users.acl': Invalid argument"
check_in 2 "a file of 100 MB" {
    replies_with {
        exec truncate -s 100M $path
    }
} "ERR Error loading ACLs, opening file 'users.acl': File too large"
check_in 2 "a file that cannot be read" {
    with_acl_file "$default_line\nuser a on\n" {
        with_faults {{read EIO users.acl}} {
            error_of {r ACL LOAD}
        }
    }
} {ERR Error loading ACLs, opening file 'users.acl': Input/output error}
check_in 2 "a link is followed, and stays" {
    with_acl_file "$default_line\nuser a on\n" {
        file rename $acl_file $acl_file.real
        file link -symbolic $acl_file $acl_file.real
        r ACL SETUSER b
        r ACL SAVE
        r ACL LOAD
        list [file type $acl_file] [regexp -all -line ^user [read_file $acl_file.real]] [r ACL USERS]
    }
} {link 3 {a b default}}

# --- ACL SAVE

check_in 2 "ACL SAVE writes a file that ACL LOAD reads" {
    with_acl_file "# lost\n$default_line" {
        r ACL SETUSER a on >x ~a* %R~b &c db=0,2 +@read -get +select|1 "(~x +set)"
        r ACL SETUSER "\"quoted\\'" on
        r ACL SETUSER ""
        assert_equal [typed ACL SAVE] {simple OK}
        set text [join [r ACL LIST] \n]\n
        assert_equal [read_file $acl_file] $text
        r ACL DELUSER a "\"quoted\\'"
        assert_equal [typed ACL LOAD] {simple OK}
        assert_equal [join [r ACL LIST] \n]\n $text
        assert {![string match *lost* [read_file $acl_file]]}
        $current_server restart
        set default_client ""
        expr {"[join [r ACL LIST] \n]\n" eq $text}
    }
} 1
check_in 2 "only the server's user may read the new file" {
    with_acl_file $default_line {
        file attributes $acl_file -permissions 0644
        r ACL SAVE
        file attributes $acl_file -permissions
    }
} 00600
foreach rule {
    {open EACCES users.acl-*} {write ENOSPC users.acl-*} {sync EIO users.acl-*} {rename EIO users.acl*}
} {
    check_in 2 "when ACL SAVE fails, the old file stays and no other ($rule)" {
        with_acl_file $default_line {
            r ACL SETUSER a
            with_faults [list $rule] {
                assert_equal [error_of {r ACL SAVE}] $not_saved
            }
            assert_equal [read_file $acl_file] $default_line
            assert_equal [glob -tails -directory [$current_server data] *acl*] users.acl
            assert {[string match "*Can't write the ACL file *users.acl: *" [$current_server log]]}
            r ACL SAVE
            regexp {user a} [read_file $acl_file]
        }
    } 1
}
check_in 2 "the temporary name of ACL SAVE has 64 random bits; a link under one that can be guessed is not followed" {
    with_acl_file $default_line {
        set victim [file dirname $acl_file]/victim
        write_file $victim precious
        foreach suffix {-tmp .tmp -XXXXXX} {
            file link -symbolic $acl_file$suffix $victim
            file link -symbolic $acl_file-[$current_server pid]$suffix $victim
        }
        set names {}
        foreach _ {1 2} {
            with_faults {{rename EIO users.acl*}} {
                catch {r ACL SAVE}
            }
        }
        foreach hit [fault_hits *users.acl-*] {
            assert {[regexp {users\.acl-\d+-([0-9a-f]{16})} $hit _ secret]}
            lappend names $secret
        }
        assert {[lindex $names 0] ne [lindex $names 1]}
        r ACL SAVE
        read_file $victim
    }
} precious
check_in 2 "a server that is killed in ACL SAVE leaves the old file or the new one" {
    with_acl_file "$default_line\n" {
        foreach call {open write sync rename} {
            r ACL SETUSER a
            faults "$call crash users.acl*"
            catch {r ACL SAVE}
            $current_server wait_exit
            faults
            $current_server launch_with {}
            set default_client ""
            assert {[read_file $acl_file] in [list "$default_line\n" "user a off resetchannels -@all\n$default_line\n"]}
        }
    }
}

# --- ACL LOAD under running sessions

set two_users "$default_line\nuser a $all_rights\nuser b $all_rights\n"

check_in 2 "ACL LOAD keeps the sessions of users that are still there, and closes the others" {
    with_acl_file $two_users {
        set a [connection_of a]
        set b [connection_of b]
        $a call SELECT 1
        load "$default_line\nuser a on >y ~k +@all\n"
        assert_equal [$a call ACL WHOAMI] a
        assert_equal [error_of {$a call SET other v}] "NOPERM No permissions to access a key"
        assert_equal [$a call SET k v] OK
        assert {[is_closed $b]}
        r DBSIZE
    }
} 0
check_in 2 "a user that is the same keeps its subscriptions; who lost a channel is closed" {
    with_acl_file "$default_line\nuser same on nopass &ch +@all\nuser less on nopass &ch &more +@all\nuser more on\
 nopass &ch +@all\nuser other on nopass &ch &more +@all\n" {
        foreach user {same less more other} {
            set $user [connection_of $user]
            [set $user] call SUBSCRIBE ch
        }
        set patterns [connection_of less]
        $patterns call PSUBSCRIBE ch
        set sharded [connection_of less]
        $sharded call SSUBSCRIBE more
        load "$default_line\nuser same on nopass &ch +@all\nuser less on nopass &more +@all\nuser more on nopass\
 allchannels +@all\nuser other off &ch +get\n"
        assert {[is_closed $less] && [is_closed $patterns]}
        assert_equal [r PUBLISH ch hello] 3
        foreach user {same more other} {
            assert_equal [[set $user] read] {message ch hello}
        }
        assert_equal [r SPUBLISH more hello] 1
        $sharded read
    }
} {smessage more hello}
check_in 2 "a session of a user that is off goes on, and nobody new logs in" {
    with_acl_file $two_users {
        set a [connection_of a]
        load "$default_line\nuser a off nopass ~* +@all\n"
        assert_equal [$a call SET k v] OK
        error_of {connection_of a}
    }
} "WRONGPASS invalid username-password pair or user is disabled."
check "ACL LOAD tells clients that track prefixes first what they could read before" {
    with_acl_file "$default_line\nuser some on nopass ~own:* +@all\n" {
        set c [tracker BCAST]
        $c call AUTH some x
        write_file $acl_file "$::default_line\nuser some on nopass ~other +@all\n"
        [default_client] write [request {SET own:1 1}][request {SET other 1}][request {ACL LOAD}]
        set answers [lmap command {SET SET LOAD} {[default_client] read}]
        set before [heard $c]
        r MSET own:1 2 other 2
        list $answers $before [heard $c]
    }
} {{OK OK OK} own:1 other}
check_in 2 "who is gone by its own ACL LOAD gets the reply before it is closed" {
    with_acl_file $two_users {
        set a [connection_of a]
        write_file $acl_file $default_line
        list [$a call ACL LOAD] [is_closed $a]
    }
} {OK 1}
check_in 2 "who loses rights by its own ACL LOAD loses them at once" {
    with_acl_file $two_users {
        set a [connection_of a]
        write_file $acl_file "user a on nopass +get"
        list [$a call ACL LOAD] [error_of {$a call ACL LOAD}]
    }
} {OK {NOPERM User a has no permissions to run the 'acl|load' command}}
check_in 2 "ACL LOAD and ACL SAVE in a transaction" {
    with_acl_file "$two_users" {
        r MULTI
        r ACL LOAD
        r ACL DELUSER b
        r ACL SAVE
        assert_equal [r EXEC] {OK 1 OK}
        set lines [regexp -all -line ^user [read_file $acl_file]]
        set a [connection_of a]
        write_file $acl_file $default_line
        $a call MULTI
        $a call ACL LOAD
        $a call SET k v
        $a send EXEC
        assert {[is_closed $a]}
        list $lines [r GET k] [r ACL USERS]
    }
} {2 v default}
check_in 2 "rights that ACL LOAD takes away are missed by what was queued before" {
    with_acl_file $two_users {
        set a [connection_of a]
        $a call MULTI
        $a call SET k v
        $a call GET k
        load "$default_line\nuser a on %R~* +@all\n"
        $a call EXEC
    }
} {{(error) NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This\
 command is no longer allowed for the following reason: no permission to touch the specified keys} (nil)}
check_in 2 "a pattern behind %RW~* is shown as in Redis, and is in files as they can be loaded" {
    with_acl_file $default_line {
        r ACL SETUSER a %RW~* ~k
        r ACL SAVE
        r ACL LOAD
        list [lindex [r ACL LIST] 0] [lindex [split [read_file $acl_file] \n] 0]
    }
} {{user a off ~* ~k resetchannels -@all} {user a off %RW~* ~k resetchannels -@all}}
check_in 2 "scripts may not load and save users" {
    with_acl_file $default_line {
        foreach command {load save} {
            assert_match "ERR This Redis command is not allowed from script*" \
                [error_of {r EVAL "return redis.call('acl', '$command')" 0}]
        }
    }
}
check_in 2 "a client that waits for a key is closed when its user is gone, and refused when it lost the right" {
    with_acl_file $two_users {
        set a [connection_of a]
        set b [connection_of b]
        $a send BLPOP list 0
        $b send BLPOP list 0
        wait_blocked 2
        load "$default_line\nuser b on nopass ~other +@all\n"
        assert {[is_closed $a]}
        r RPUSH list x
        list [error_of {$b read}] [r LLEN list]
    }
} {{NOPERM No permissions to access a key} 1}
check_in 2 "the default user can be closed to new connections, and opened again" {
    with_acl_file $two_users {
        load "user default off -@all\nuser a $all_rights"
        assert_equal [error_of {r PING}] "NOPERM User default has no permissions to run the 'ping' command"
        set new [client_open 2]
        assert_equal [error_of {$new call PING}] "NOAUTH Authentication required."
        set a [connection_of a]
        write_file $acl_file ""
        $a call ACL LOAD
        $new call PING
    }
} PONG
check_in 2 "requirepass holds until ACL LOAD, which CONFIG GET does not show" {
    with_acl_file $default_line {
        r CONFIG SET requirepass other
        assert {[lindex [r ACL LIST] 0] ne $default_line}
        r ACL LOAD
        list [lindex [r ACL LIST] 0] [r CONFIG GET requirepass]
    }
} [list $default_line {requirepass other}]
check_in 2 "a replica has users of its own" {
    with_server {} {
        set primary_port [$current_server port]
        with_acl_file "$default_line\n" {
            r REPLICAOF 127.0.0.1 $primary_port
            wait_until {[info_field master_link_status] eq "up"}
            load "$default_line\nuser onlyhere on\n"
            r ACL SAVE
            assert_equal [r ACL USERS] {default onlyhere}
            assert_equal [info_field master_link_status] up
        }
        r ACL USERS
    }
} default

# --- Lines of the configuration

foreach {lines error} {
    "user y on +get %" "CONF:4: Error in user declaration 'y': Error in ACL SETUSER modifier '%': Syntax error"
    "user y +nope" "CONF:4: Error in user declaration 'y': Error in ACL SETUSER modifier '+nope': Unknown command or\
 category name in ACL"
    "user y on (~a" "CONF:4: Error in user declaration 'y': Unmatched parenthesis in acl selector starting at '(~a'."
    "user y on >secret <other" "CONF:4: Error in user declaration 'y': Error in ACL SETUSER modifier '<(redacted)':\
 The password you are trying to remove from the user does not exist"
    "user y on\nuser x off\nuser y off" "CONF:6: Error in user declaration 'y': Duplicate user found. A user can only\
 be defined once in config files"
    "user default on\nuser default on" "CONF:5: Error in user declaration 'default': Duplicate user found. A user can\
 only be defined once in config files"
    "user \"a on >secret\"" "CONF:4: Error in user declaration 'a': Usernames can't contain spaces or null characters"
    "user \"a\\x00b\" on" "CONF:4: Error in user declaration 'a?b': Usernames can't contain spaces or null characters"
    "user" "Bad directive or wrong number of arguments"
    "user y \"on" "Unbalanced quotes in configuration line"
    "user y on\naclfile users.acl" "There are users in the configuration (CONF:4), and there is an aclfile (users.acl).\
 Define users in one of the two: remove the lines user, or the line aclfile."
} {
    check_in 2 "the start is refused: [string map {\n {; }} $lines]" {
        start_with $lines
    } [list 1 $error]
}
check_in 2 "an error at the start shows no password" {
    foreach line {
        {user y >sesame "on} {requirepass sesame mucho} {masterauth sesame mucho} {tls-key-file-pass sesame x}
    } {
        set path [$current_server folder]/other.conf
        write_file $path "port [free_port]\n$line\n"
        lassign [server_run [list $path]] status output
        assert_equal $status 1
        assert {[string match "*>>> '[regexp -inline {^\S+} $line]*(redacted)'\n*" $output]}
        assert {![string match *sesame* $output]}
    }
}
check_in 2 "users of the configuration are there at the start, their rules in any number, in quotes or not" {
    set keys [lmap i [lrepeat 100 ~k] {string cat $i [incr n]}]
    set rest [join [lrange $keys 1 end]]
    with_server [list user "b on >x \"(~a +get)\" '~x'\nuser \"\" off\nuser c [join $keys] allchannels"] {
        r ACL LIST
    }
} [list "user  off resetchannels -@all" "user b on #2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 ~x\
 resetchannels -@all (~a resetchannels -@all +get)" "user c off\
 [join [lmap i [lrepeat 100 ~k] {string cat $i [incr m]}]] &* -@all" $default_line]
check_in 2 "users on the command line" {
    lassign [server_run [list --port [free_port] --user "x y" on]] status output
    list $status [string match "*the command line: Error in user declaration 'x': Usernames can't*" $output]
} {1 1}
# A server whose default user does not let everybody in: the framework logs in as admin.
oo::class create closed_server {
    superclass server
    variable control port
    constructor {lines} {
        next [dict merge {user {}} $lines [list user "admin on >x ~* &* +@all\nuser [dict get $lines user]"]]
    }
    method connect_control {} {
        set control [client new 127.0.0.1 $port]
        $control call AUTH admin x
        if {![regexp -line "^process_id:[my pid]\r" [$control call INFO server]]} {
            $control close
            error "another server listens there"
        }
    }
}
proc login {args} {
    set connection [client_open 2]
    return [error_of {$connection call AUTH {*}$args}]
}
set wrong_pass "WRONGPASS invalid username-password pair or user is disabled."

check_in 2 "a line of the default user counts more than requirepass, wherever it stands" {
    set replies {}
    foreach lines {
        {requirepass p2 user "default on >p1 ~* &* +@all"} {user "default on >p1 ~* &* +@all\nrequirepass p2"}
    } {
        with_started [list closed_server new $lines] {
            set c [client_open 2]
            assert_equal [error_of {$c call PING}] "NOAUTH Authentication required."
            assert_equal [login p2] $wrong_pass
            assert_equal [$c call AUTH p1] OK
            lappend replies [$c call CONFIG GET requirepass]
        }
    }
    set replies
} {{requirepass p2} {requirepass p2}}
check_in 2 "a line of the default user begins without any rights, as other users" {
    with_started {closed_server new {user default}} {
        set c [client_open 2]
        list [error_of {$c call PING}] [login x] [$current_server control ACL LIST]
    }
} [list "NOAUTH Authentication required." $wrong_pass \
    [list "user admin on #2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 ~* &* +@all" \
    "user default off resetchannels -@all"]]
check_in 2 "acl-pubsub-default counts for users of the configuration, wherever it stands" {
    with_server {user "a on\nacl-pubsub-default allchannels\nuser b resetchannels"} {
        list [lrange [r ACL LIST] 0 1] [r CONFIG GET acl-pubsub-default]
    }
} {{{user a on &* -@all} {user b off resetchannels -@all}} {acl-pubsub-default allchannels}}
check "CONFIG SET acl-pubsub-default counts for new users, selectors and reset" {
    assert_equal [r CONFIG SET acl-pubsub-default allchannels] OK
    r ACL SETUSER a "(+get)"
    r CONFIG SET acl-pubsub-default resetchannels
    r ACL SETUSER a "(+set)"
    r ACL SETUSER b
    set users [lrange [r ACL LIST] 0 1]
    r ACL SETUSER a reset
    lappend users [lindex [r ACL LIST] 0]
    r ACL DELUSER a b
    assert_equal [error_of {r CONFIG SET acl-pubsub-default x}] "ERR CONFIG SET failed (possibly related to argument\
 'acl-pubsub-default') - argument(s) must be one of the following: allchannels, resetchannels"
    set users
} [list "user a off &* -@all (&* -@all +get) (resetchannels -@all +set)" "user b off resetchannels -@all" \
    "user a off resetchannels -@all"]

# --- CONFIG REWRITE

# Starts a server with these lines, runs the script and CONFIG REWRITE, and returns the lines that then follow the
# framework's. A second CONFIG REWRITE changes nothing, and a server that starts with the file has the same users.
proc rewritten {lines script} {
    with_server [list hz "10\n# begin\n$lines"] {
        set path [$::current_server folder]/packlist.conf
        uplevel #0 $script
        assert_equal [r CONFIG REWRITE] OK
        set text [read_file $path]
        r CONFIG REWRITE
        assert_equal [read_file $path] $text
        set users [r ACL LIST]
        set port [free_port]
        set other [open [list | $::server_binary $path --port $port --appenddirname other 2>@1] r]
        try {
            set c ""
            wait_until {![catch {set c [client new 127.0.0.1 $port]}]}
            if {[lsearch $users "user default *nopass*"] < 0} {
                $c call AUTH secret
            }
            assert_equal [$c call ACL LIST] $users
            $c close
        } finally {
            exec kill [pid $other]
            catch {close $other}
        }
        regsub {^.*?# begin\n} $text "" text
        regsub {dir \S+\n} [regsub {port \d+\n} $text ""] "" text
        regsub -all -line {^io-threads.*\n} $text "" text ;# of the command line
        return $text
    }
}
set hash_of_1 6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b
set hash_of_secret 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b

check_in 2 "CONFIG REWRITE keeps the place of each user's line, appends new users, and leaves out those that are gone" {
    rewritten "user b on >1 ~a (~b +get)\n# between\nUSER \"gone\" on\nuser c off\n# end" {
        r ACL SETUSER new on nopass ~new
        r ACL SETUSER b +set
        r ACL DELUSER gone
        r ACL SETUSER "n\"x'\\" on &c #$::hash_of_1
    }
} "user b on #$hash_of_1 ~a resetchannels -@all +set (~b resetchannels -@all +get)\n# between\nuser c off resetchannels\
 -@all\n# end\n\n# Generated by CONFIG REWRITE\nuser \"n\\\"x'\\\\\" on #$hash_of_1 resetchannels &c -@all\nuser new on\
 nopass ~new resetchannels -@all\n"
check_in 2 "CONFIG REWRITE writes the default user where it is not what requirepass says" {
    rewritten "# end" {
        r ACL SETUSER default >secret -debug
    }
} "# end\n\n# Generated by CONFIG REWRITE\nuser default on #$hash_of_secret ~* &* +@all -debug\n"
check_in 2 "and not where requirepass says the same" {
    rewritten "user default on nopass ~* &* +@all\n# end" {
        r CONFIG SET requirepass secret
    }
} "# end\n\n# Generated by CONFIG REWRITE\nrequirepass secret\n"
check_in 2 "a user of any length is written and read" {
    regexp -all {~key\d+} [rewritten "" {
        r ACL SETUSER long {*}[lmap i [lrepeat 3000 ~key] {string cat $i [incr ::key_number]}]
    }]
} 3000
check_in 2 "CONFIG REWRITE writes no user when there is an ACL file" {
    with_acl_file $default_line {
        r ACL SETUSER a
        r CONFIG REWRITE
        set text [read_file [$current_server folder]/packlist.conf]
        list [regexp -all {(?n)^user} $text] [regexp -all {(?n)^aclfile users.acl$} $text]
    }
} {0 1}
check_in 2 "CONFIG REWRITE leaves users that another file defines to that file, and says so when they changed" {
    set other [$current_server folder]/more.conf
    write_file $other "user a on\nuser b on\n"
    rewritten "include $other" {
        r ACL SETUSER c
        r CONFIG REWRITE
        assert {![string match "*does not write*" [$::current_server log]]}
    }
    with_server [list include $other] {
        r ACL SETUSER a +get
        r ACL SETUSER c
        r CONFIG REWRITE
        assert {[regexp "CONFIG REWRITE does not write the user 'a', which has changed: its line is at $other:1" \
            [$current_server log]]}
        assert {![regexp "the user 'b'" [$current_server log]]}
        regexp -all -inline {(?n)^user .*$} [read_file [$current_server folder]/packlist.conf]
    }
} {{user c off resetchannels -@all}}

finish
