"""redis-py over TLS: URLs, certificates of both sides, users."""
import contextlib
import os

import redis
import redis.asyncio

from checks import Checks, equal, raises
from sync_checks import connect, one_message

check = Checks()
FOLDER, PORT = os.environ["PACKLIST_TLS"], int(os.environ["PACKLIST_TLS_PORT"])


def file(name):
    return f"{FOLDER}/{name}"


def url(protocol, user="", database=0):
    return f"rediss://{user}localhost:{PORT}/{database}?protocol={protocol}"


def over_tls(protocol, certificate=None, authority="ca.crt", **options):
    """A client that has not connected yet."""
    if certificate:
        options.update(ssl_certfile=file(f"{certificate}.crt"), ssl_keyfile=file(f"{certificate}.key"))
    return redis.Redis(host="127.0.0.1", port=PORT, protocol=protocol, ssl=True, ssl_ca_certs=file(authority),
                       decode_responses=True, **options)


@contextlib.contextmanager
def asking(protocol, which):
    """The server asks its clients for certificates meanwhile."""
    with connect(protocol) as admin:
        admin.config_set("tls-auth-clients", which)
        try:
            yield
        finally:
            admin.config_set("tls-auth-clients", "no")


@check("a URL leads to the port for TLS, by a name that the certificate has")
def _(protocol):
    with redis.from_url(url(protocol, database=5), ssl_ca_certs=file("ca.crt")) as r, connect(protocol) as plain:
        r.set("k", "v")
        equal((int(r.client_info()["db"]), r.dbsize(), plain.dbsize()), (5, 1, 0))


@check("what is sent comes back, byte for byte, also in pipelines")
def _(protocol):
    everything = bytes(range(256)) * 4000
    with over_tls(protocol) as r, r.pipeline(transaction=False) as pipe:
        for i in range(5000):
            pipe.rpush("l", i)
        equal(pipe.execute(), list(range(1, 5001)))
    with redis.from_url(url(protocol), ssl_ca_certs=file("ca.crt")) as r:
        r.set("k", everything)
        equal((r.get("k"), r.echo(everything)), (everything, everything))


@check("messages reach a subscription")
def _(protocol):
    with over_tls(protocol) as r, r.pubsub() as subscription:
        subscription.subscribe("news")
        equal(one_message(subscription), ("subscribe", "news", 1))
        equal(r.publish("news", "hello"), 1)
        equal(one_message(subscription), ("message", "news", "hello"))


@check("a server whose authority is not trusted is refused")
def _(protocol):
    with over_tls(protocol, authority="other-ca.crt") as r:
        raises(redis.ConnectionError, "certificate verify failed", r.ping)


@check("with tls-auth-clients yes only clients with a good certificate are served")
def _(protocol):
    with asking(protocol, "yes"):
        with over_tls(protocol, "client") as r:
            equal(r.ping(), True)
        for certificate in (None, "stranger"):
            with over_tls(protocol, certificate) as r:
                raises(redis.ConnectionError, "", r.ping)


@check("with tls-auth-clients optional a client needs no certificate, but not a wrong one")
def _(protocol):
    with asking(protocol, "optional"):
        for certificate in (None, "client"):
            with over_tls(protocol, certificate) as r:
                equal(r.ping(), True)
        with over_tls(protocol, "stranger") as r:
            raises(redis.ConnectionError, "", r.ping)


@check("a URL names a user and its password")
def _(protocol):
    with redis.from_url(url(protocol, "tls-user:secret@"), ssl_ca_certs=file("ca.crt"), decode_responses=True) as r:
        equal((r.acl_whoami(), r.set("k", "v"), r.get("k")), ("tls-user", True, "v"))
    with redis.from_url(url(protocol, "tls-user:wrong@"), ssl_ca_certs=file("ca.crt")) as r:
        raises(redis.AuthenticationError, "", r.ping)


@check("the asyncio interface speaks TLS")
async def _(protocol):
    async with redis.asyncio.from_url(url(protocol), ssl_ca_certs=file("ca.crt"), decode_responses=True) as r:
        equal((await r.set("k", "v" * 100_000), await r.get("k")), (True, "v" * 100_000))
