# Connections of users, and what is refused to them.

# A new connection of the user, who is made with these rules first and has no password.
proc as {user args} {
    r ACL SETUSER $user reset on nopass {*}$args
    return [connection_of $user]
}
proc connection_of {user {password ""}} {
    set connection [client_open]
    assert_equal [$connection call AUTH $user $password] OK
    return $connection
}
proc refusal {connection args} {
    return [error_of {$connection call {*}$args}]
}
