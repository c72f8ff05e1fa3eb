"""A writer and a worker of redis-py that find the primary through Sentinel: as the user APP_USER with the password
APP_PASSWORD and by TLS with a certificate in the folder CERTIFICATES, if these are given; with PASSWORD alone,
otherwise. PREFIX: that of the keys."""
import os
import sys
import time

from redis import RedisError
from redis.sentinel import Sentinel

folder = os.environ.get("CERTIFICATES")
tls = folder and {"ssl": True, "ssl_ca_certs": f"{folder}/ca.crt", "ssl_certfile": f"{folder}/app.crt",
                  "ssl_keyfile": f"{folder}/app.key"} or {}
user = {"username": os.environ.get("APP_USER"), "password": os.environ.get("APP_PASSWORD", os.environ["PASSWORD"])}
prefix = os.environ.get("PREFIX", "")
sentinels = [("127.0.0.1", int(port)) for port in os.environ["SENTINEL_PORTS"].split(",")]
primary = Sentinel(sentinels, sentinel_kwargs={"socket_timeout": 2, **tls}, **tls).master_for(
    "packlist", socket_timeout=None, decode_responses=True, **user)


def write():
    n = 0
    while True:
        n += 1
        try:
            pipeline = primary.pipeline(transaction=False).rpush(f"{prefix}written", n)
            _, replicas = pipeline.execute_command("WAIT", 1, 1000).execute()
            if replicas >= 1:
                print("written", n, flush=True)
        except RedisError as error:
            print("error", error, flush=True)
            time.sleep(0.1)
        time.sleep(0.01)


def take():
    while True:
        try:
            print("took", primary.blpop(f"{prefix}queue")[1], flush=True)
        except RedisError as error:
            print("error", error, flush=True)
            time.sleep(0.1)


{"write": write, "take": take}[sys.argv[1]]()
