"""minari-cli as a test runs it: its own folder of datasets, a hub, nothing of the caller's environment."""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios

from hub import BIN, PATIENCE

CLI = os.path.join(BIN, "minari-cli")


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out[-3000:]}\n--- stderr\n{self.err[-3000:]}"


class Cli:
    def __init__(self, root, url=None, **more):
        self.root = str(root)
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("MINARI", "NO_COLOR", "http", "HTTP", "no_proxy"))}
        self.config = self.root + ".config"  # where `login` keeps tokens
        self.env = {**keep, "MINARI_DATASETS_PATH": self.root, "XDG_CONFIG_HOME": self.config, **more}
        if url:
            self.env["MINARI_HUB_URL"] = url

    def start(self, *args, **options):
        return subprocess.Popen([CLI, *args], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, **options)

    def run(self, *args, input="", expect=None, timeout=120, prefix=(), **env):
        done = subprocess.run([*prefix, CLI, *args], env={**self.env, **env}, input=input, capture_output=True, text=True, timeout=timeout)
        result = Result(done)
        assert "Sanitizer: " not in result.err and "runtime error: " not in result.err, result
        if expect is not None:
            assert result.code == expect, (args, result)
        return result

    def bytes(self, *args, expect=0):
        done = subprocess.run([CLI, *args], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        assert done.returncode == expect, (args, done.returncode, done.stderr)
        return done.stdout

    def path(self, *parts):
        return os.path.join(self.root, *parts)


def on_terminal(cli, *args, columns=100, answer="", **env):
    """Everything the program writes to a terminal of its own."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    p = subprocess.Popen([CLI, *args], env={**cli.env, "TERM": "xterm", **env}, stdin=slave, stdout=slave, stderr=slave, close_fds=True)
    os.close(slave)
    os.write(master, answer.encode())
    seen = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    os.close(master)
    return p.wait(PATIENCE), seen.decode()


def at_the_prompt(cli, *args, act):
    """The exit code, and all that a terminal shows, when `act(process, terminal)` does something where `login` asks for a token."""
    master, slave = pty.openpty()
    echoes = lambda: bool(termios.tcgetattr(slave)[3] & termios.ECHO)
    try:
        p = subprocess.Popen([CLI, *args], env=cli.env, stdin=slave, stdout=slave, stderr=slave)
        seen = b""
        while b"not shown" not in seen:
            assert select.select([master], [], [], PATIENCE)[0], seen
            seen += os.read(master, 65536)
        assert not echoes()
        act(p, master)
        code = p.wait(PATIENCE)
        while select.select([master], [], [], 0)[0]:
            seen += os.read(master, 65536)
        assert echoes()
        return code, seen.decode()
    finally:
        os.close(master)
        os.close(slave)


def tree(folder):
    """{relative path: bytes} of a dataset, without hidden names."""
    found = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            if not name.startswith("."):
                path = os.path.join(here, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, folder)] = f.read()
    return found
