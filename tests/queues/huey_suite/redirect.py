"""A plugin of pytest: connections to the default port, which Huey's tests use, go to the server under test."""
import os

from redis.connection import Connection

DEFAULT_PORT = 6379
connect = Connection.__init__


def connect_elsewhere(self, host="127.0.0.1", port=DEFAULT_PORT, **options):
    connect(self, host=host, port=int(os.environ["PACKLIST_PORT"]) if port == DEFAULT_PORT else port, **options)


Connection.__init__ = connect_elsewhere
