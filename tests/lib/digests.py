"""What servers of all kinds have alike. DEBUG DIGEST of Packlist sees the consumer groups of streams, that of Redis and
Valkey does not."""
from resp import Link, info, run, value_of


def shared_digests(link, keys):
    """What identifies each of these values, in the database that is selected: of streams their entries."""
    types = map(value_of, run(link, [[b"TYPE", key] for key in keys]))
    return run(link, [[b"XRANGE", key, b"-", b"+"] if kind == "stream" else [b"DEBUG", b"DIGEST-VALUE", key]
                      for key, kind in zip(keys, types)])


def shared_contents(server):
    """{(database, key): what identifies the value} of all keys."""
    found = {}
    with Link(server) as link:
        for name in info(link, "keyspace"):
            number = name.removeprefix("db").encode()
            link.call(b"SELECT", number)
            keys = value_of(link.call(b"KEYS", b"*"))
            found |= {(number, key): digest for key, digest in zip(keys, shared_digests(link, keys))}
    return found


def is_packlist(server):
    with Link(server) as link:
        return "packlist_version" in info(link, "server")
