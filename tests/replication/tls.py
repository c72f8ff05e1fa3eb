"""Servers that replicate over TLS, with a certificate for each other; clients come in by plain text."""
import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from servers import Server, free_port

MAKE = Path(__file__).resolve().parents[1] / "tls" / "make-certificates"


class Certificates:
    """A folder with certificates, which goes when this program ends."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="packlist-certificates.")
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        subprocess.run([MAKE, self.folder], check=True, capture_output=True)

    def options(self, tls_port):
        """Directives of a server, as arguments."""
        files = (("cert", "server.crt"), ("key", "server.key"), ("ca-cert", "ca.crt"))
        return ["--tls-port", str(tls_port), "--tls-replication", "yes",
                *(word for name, file in files for word in (f"--tls-{name}-file", f"{self.folder}/{file}"))]


class TlsServer(Server):
    def __init__(self, certificates, *arguments):
        self.certificates, self.tls_port = certificates, free_port()
        super().__init__(*arguments)

    def begin(self, *options):
        super().begin(*self.certificates.options(self.tls_port), *options)


def start_with_tls(plain, certificates):
    """A server of the same kind."""
    return TlsServer(certificates, plain.name, plain.argv0, plain.binary, ["--repl-diskless-sync-delay", "0"])


def start_packlist_with_tls(certificates, options):
    mine = os.environ.get("PACKLIST_SERVER", "build/release/packlist-server")
    return TlsServer(certificates, "packlist", "packlist-server", os.path.abspath(mine), options)
