"""nginx and Caddy in front of a hub, by the examples of the guide: certificates, processes, requests over TLS."""
import contextlib
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "support")]
import guide
from hub import Answer, free_port, until

NAME, SSO = "data.lab.example", "127.0.0.1:4180"  # as the guide has them
ADMIN = os.path.join(guide.GUIDE, "admin.md")
PATH = os.environ["PATH"] + ":/usr/sbin"  # where Debian has nginx


def program(name):
    path = shutil.which(name, path=PATH)
    assert path, f"{name} is not installed here: tests/run.sh installs it"
    return path


def certificate(folder):
    """(certificate, key) of NAME."""
    pem, key = os.path.join(folder, "pem"), os.path.join(folder, "key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={NAME}",
                    "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", key, "-out", pem], check=True, capture_output=True)
    return pem, key


def signed_certificate(folder):
    """(authority, certificate, key): of localhost, by an authority of the lab's own."""
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=The lab", "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", "ca.key", "-out", "ca.pem")
    with open(os.path.join(folder, "names"), "w") as f:
        f.write("subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
    openssl("req", *key, "-subj", "/CN=localhost", "-keyout", "own.key", "-out", "own.csr")
    openssl("x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "own.pem")
    return [os.path.join(folder, name) for name in ("ca.pem", "own.pem", "own.key")]


@contextlib.contextmanager
def running(command, port, log, env=None):
    """A proxy from the moment that it listens."""
    with open(log, "ab") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env={**os.environ, **(env or {})})

    def listens():
        assert process.poll() is None, open(log).read()
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0

    try:
        until(listens)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def nginx(folder, port, servers):
    """`servers`: what stands within http { }."""
    os.makedirs(folder, exist_ok=True)
    user = "user root;" if os.geteuid() == 0 else ""  # who may read the folders of a test
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    conf = os.path.join(folder, "nginx.conf")
    with open(conf, "w") as f:
        f.write(f"{user} worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;\n"
                f"events {{ }}\nhttp {{ access_log off; {temporary}\n{servers}\n}}\n")
    return running([program("nginx"), "-c", conf], port, os.path.join(folder, "log"))


def as_here(text, hub, names):
    """An example of the guide with the addresses and files of this machine."""
    for name, value in {"127.0.0.1:8080": f"127.0.0.1:{hub.port}", **names}.items():
        assert name in text, (name, text)
        text = text.replace(name, value)
    return text


def guide_nginx(folder, hub, number, signed=None, **names):
    """(address, context) of the example of this number; `signed`: with this certificate and its key."""
    pem, key = signed or certificate(folder)
    port = free_port()
    text = as_here(guide.blocks(ADMIN, "nginx")[number], hub, {"listen 443 ssl": f"listen 127.0.0.1:{port} ssl", f"/etc/ssl/{NAME}.pem": pem, f"/etc/ssl/{NAME}.key": key, **names})
    return Front(port, pem), nginx(os.path.join(folder, "nginx"), port, text)


def guide_caddy(folder, hub):
    pem, key = certificate(folder)
    port, conf = free_port(), os.path.join(folder, "Caddyfile")
    (text,) = guide.blocks(ADMIN, "caddyfile")
    text = as_here(text, hub, {f"{NAME} {{": f"https://{NAME}:{port} {{\n    bind 127.0.0.1", f"/etc/ssl/{NAME}.pem": pem, f"/etc/ssl/{NAME}.key": key})
    with open(conf, "w") as f:
        f.write("{\n    admin off\n    auto_https disable_redirects\n}\n" + text)
    return Front(port, pem), running([program("caddy"), "run", "--config", conf, "--adapter", "caddyfile"], port, os.path.join(folder, "log"), {"HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder})


class Front:
    """What a client sees that trusts the certificate."""

    def __init__(self, port, pem):
        self.port, self.context, self.base = port, ssl.create_default_context(cafile=pem), f"https://{NAME}:{port}"

    def ask(self, method, path, headers=None, body=None):
        line = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self.context)
        line.sock = self.context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=60), server_hostname=NAME)
        line.request(method, path, body=body, headers={"Host": f"{NAME}:{self.port}", **(headers or {})})
        with line.getresponse() as answer:
            got = Answer(answer.status, answer.headers, answer.read())
        line.close()
        return got
