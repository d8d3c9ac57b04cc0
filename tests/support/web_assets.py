"""What web/ ships: vendored files are those of the registry, a page's code is small, and no script writes markup."""
import base64
import gzip
import hashlib
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"
UPLOT = WEB / "vendor/uplot"
LATER = ("compare.js", "extremes.js", "fields.js", "help.js", "picked.js", "pictures.js", "posters.js", "cameras.css")  # of other views, or once they are wanted
LIMITS = {  # gzip bytes of what a view loads beside its HTML, which has 8 K more
    "any": (8_000, ["style.css", "page.js"]),
    "list": (9_000, ["style.css", "page.js", "picked.js"]),
    "episode": (51_200, [p.name for p in (WEB / "assets").iterdir() if p.name not in LATER] + ["uPlot.iife.min.js", "uPlot.min.css"]),
}
SINKS = r"(?:inner|outer)HTML\s*\+?=(?!=)|insertAdjacentHTML|document\.write|\beval\b|\bFunction\(|srcdoc|javascript:|set(?:Timeout|Interval)\(\s*[\"'`]"
wrong = []


def vendored():
    first, *lines = (UPLOT / "ORIGIN").read_text().splitlines()
    files = {path: digest for digest, path in (line.split("  ") for line in lines)}
    assert {pathlib.Path(p).name for p in files} == {p.name for p in UPLOT.iterdir()} - {"ORIGIN"}, "ORIGIN names other files"
    for path, digest in files.items():
        if hashlib.sha256((UPLOT / pathlib.Path(path).name).read_bytes()).hexdigest() != digest:
            wrong.append(f"web/vendor/uplot: {path} is not what ORIGIN names")
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(["npm", "pack", "--silent", "--fetch-retries=0", "@".join(first.split()[:2])], cwd=folder, capture_output=True, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            done = None
        packed = list(pathlib.Path(folder).glob("*.tgz"))
        if not done or done.returncode or not packed:
            print("web/vendor/uplot: not compared with the registry, which is out of reach")
            return
        digest = base64.b64encode(hashlib.sha512(packed[0].read_bytes()).digest()).decode()
        if f"sha512-{digest}" != first.split()[-1]:
            wrong.append(f"web/vendor/uplot: the registry has {digest}")
        with tarfile.open(packed[0]) as tar:
            for path in files:
                if tar.extractfile(f"package/{path}").read() != (UPLOT / pathlib.Path(path).name).read_bytes():
                    wrong.append(f"web/vendor/uplot: {path} is not the registry's")


def sent(path):
    """As the hub sends it: a script without the lines that are comments, and without indentation."""
    lines = path.read_text().splitlines(True)
    return "".join(line.lstrip(" ") if path.suffix == ".js" else line for line in lines if path.suffix != ".js" or not re.match(r" *(//|/\*\* .*\*/$)", line)).encode()


def sizes():
    for view, (limit, names) in LIMITS.items():
        size = sum(len(gzip.compress(sent(next(WEB.rglob(name))), 9)) for name in names)
        print(f"{view}: {size} of {limit} bytes")
        if size > limit:
            wrong.append(f"{view}: {size} gzip bytes of code, more than {limit}")


def sinks():
    for script in (WEB / "assets").glob("*.js"):
        for number, line in enumerate(script.read_text().splitlines(), 1):
            if re.search(SINKS, line):
                wrong.append(f"{script.name}:{number}: {line.strip()}")


vendored()
sizes()
sinks()
print(*wrong, sep="\n")
sys.exit(bool(wrong))
