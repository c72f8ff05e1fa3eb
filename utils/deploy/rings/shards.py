"""One redis-py client for each shard; a key's name says which one has it. Keys of one queue, and keys that one command
names, get the same text in braces: "{mail}:waiting", "{mail}:working"."""
import zlib

import redis


class Shards:
    """`servers`: URLs or clients, always in the same order: the place in it is the shard."""

    def __init__(self, servers, **options):
        self.clients = [redis.from_url(server, **options) if isinstance(server, str) else server for server in servers]

    def of(self, key):
        """The client of the shard that has the key."""
        before, brace, rest = key.partition("{")
        tag, end, _ = rest.partition("}")
        return self.clients[zlib.crc32((tag if brace and end and tag else key).encode()) % len(self.clients)]
