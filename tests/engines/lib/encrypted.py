"""A group of Sentinel with TLS and users: the files of utils/deploy/tls/."""
import atexit
import os
import re
import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path

from deployed import TOP, Address, Deployed, deploy_file, edited
from sentinels import DOWN_AFTER_MS, find_sentinel

FOLDER = TOP / "utils" / "deploy" / "tls"
COMMON_NAME = "packlist.internal"


def password_of(user):
    """(user, password) as users.acl has them."""
    return user, re.search(rf"^user {user} on >(\S+)", deploy_file("tls/users.acl"), flags=re.M)[1]


def is_refused(port, context):
    """Whether a client with this context of TLS, or with none, gets no answer."""
    try:
        with Address(port).connect() as plain:
            plain.settimeout(10)
            link = context.wrap_socket(plain, server_hostname=COMMON_NAME) if context else plain
            link.sendall(b"PING\r\n")
            return not link.recv(100)
    except (ssl.SSLError, ConnectionError):
        return True


class TlsAddress(Address):
    def __init__(self, world, port, login):
        self.world = world
        super().__init__(port, login)

    def connect(self):
        return self.world.wrap(super().connect())


class TlsDeployed(Deployed):
    def __init__(self, world, *arguments, **options):
        self.world = world
        super().__init__(*arguments, **options)

    def connect(self):
        return self.world.wrap(super().connect())


class Encrypted:
    """What class Plain is without TLS: clients have a certificate of their own and are the user "app"."""
    prefix = "app:"

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="packlist-certificates.")
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        for arguments in (["ca"], ["server", "server", "127.0.0.1"], ["server", "haproxy", "127.0.0.1"],
                          ["client", "app"]):
            subprocess.run([FOLDER / "make-certificates", *arguments], cwd=self.folder, check=True, capture_output=True)
        shutil.copy(FOLDER / "users.acl", self.folder)
        Path(self.path("haproxy.pem")).write_text("".join(
            Path(self.path(name)).read_text() for name in ("haproxy.crt", "haproxy.key")))
        self.context = self.new_context()
        self.context.load_cert_chain(self.path("app.crt"), self.path("app.key"))

    def path(self, name):
        return str(Path(self.folder, name))

    def new_context(self):
        """That of a client without a certificate."""
        return ssl.create_default_context(cafile=self.path("ca.crt"))

    def wrap(self, plain):
        return self.context.wrap_socket(plain, server_hostname=COMMON_NAME)

    def address(self, port, user="app"):
        return TlsAddress(self, port, password_of(user))

    def data_config(self, primary_port):
        def make(port):
            text = edited(deploy_file("tls/packlist.conf"), {
                r"^bind .*": "bind 127.0.0.1", r"^tls-port 6379$": f"tls-port {port}",
                r"/etc/packlist/tls": self.folder, r"/etc/packlist/users.acl": self.path("users.acl"),
                r"^# replicaof .*": f"replicaof 127.0.0.1 {primary_port}" if primary_port else ""})
            return text + "repl-diskless-sync-delay 0\nenable-debug-command local\nsave \"\"\n"
        return make

    def start_data_server(self, kind, name, primary_port):
        assert kind == "packlist"
        mine = os.environ.get("PACKLIST_SERVER", "build/release/packlist-server")
        return TlsDeployed(self, name, "packlist-server", mine, self.data_config(primary_port), password_of("admin"))

    def sentinel_config(self, primary_port):
        def make(port):
            return edited(deploy_file("tls/sentinel.conf"), {
                r"^tls-port 26379$": f"tls-port {port}\nbind 127.0.0.1", r"/etc/redis/tls": self.folder,
                r"10\.0\.0\.1 6379": f"127.0.0.1 {primary_port}",
                r"(down-after-milliseconds packlist) \d+": rf"\1 {DOWN_AFTER_MS}"})
        return make

    def start_sentinel(self, name, primary_port):
        path, argv0 = find_sentinel()
        return TlsDeployed(self, name, argv0, path, self.sentinel_config(primary_port), arguments=["--sentinel"])
