"""The servers of other kinds that this machine has."""
import os
import shutil


def named(given):
    """(name or None, path, argv[0] or None) of each peer that is given as NAME=PATH or PATH."""
    return [(name or None, os.path.abspath(path), None)
            for name, _, path in (item.rpartition("=") for item in given)]


def find_peers(given):
    """The same of these, then of what is on PATH.

    Debian's redis-tools holds the server too: redis-check-rdb, which is one when called redis-server."""
    found = named(given)
    for program, argv0 in (("redis-server", None), ("valkey-server", None), ("redis-check-rdb", "redis-server")):
        path = shutil.which(program)
        if path and os.path.realpath(path) not in (os.path.realpath(known) for _, known, _ in found):
            found.append((None, path, argv0))
    return found


def label(name, info):
    """`name`, or what the server calls itself, and its version; `info` holds the fields of INFO server."""
    for product in ("packlist", "valkey", "redis"):
        version = info.get(product + "_version")
        if version:
            return f"{name or product.capitalize()} {version}"
    return name
