"""The hub as Google Cloud Storage: its JSON API against what lies on the disk, and Minari 0.4.3, which knows nothing else."""
import base64
import contextlib
import hashlib
import html.parser
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
from xml.etree import ElementTree

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, quote, serving, until


def names_below(folder, prefix=""):
    out = []
    for at, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(".")]
        out += [prefix + os.path.relpath(os.path.join(at, f), folder) for f in files if not f.startswith(".")]
    return sorted(n for n in out if not n.endswith("namespace_metadata.json"))


SPACES = [f"{n}/namespace_metadata.json" for n in ("D4RL", "D4RL/door", "pictures")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    top = tmp_path_factory.mktemp("lab")
    root, other = str(top / "root"), str(top / "other")
    shutil.copytree(os.path.join(FIXTURES, "samples"), root)
    shutil.copytree(os.path.join(FIXTURES, "robomimic"), other)
    open(os.path.join(root, "D4RL", "door", "notes.txt"), "w").write("beside a dataset")  # before and behind it
    open(os.path.join(root, "door-human-v0-x"), "w").write("a name between")
    open(os.path.join(root, "D4RL", "a b+c%.bin"), "wb").write(b"x" * 70000)
    names = names_below(root) + names_below(other, "rm/") + SPACES
    with serving(root, f"rm={other}") as hub:
        yield hub, root, other, sorted(names, key=lambda n: n.encode())


def listing(hub, bucket="minari-datasets", **query):
    from urllib.parse import urlencode

    answer = hub.get(f"/storage/v1/b/{bucket}/o?{urlencode(query)}")
    assert answer.status == 200, answer.body
    return answer.json()


def pages(hub, **query):
    items, prefixes, token = [], [], None
    while True:
        page = listing(hub, **query, **({"pageToken": token} if token else {}))
        assert len(page.get("items", [])) + len(page.get("prefixes", [])) <= query.get("maxResults", 1000)
        items += [i["name"] for i in page.get("items", [])]
        prefixes += page.get("prefixes", [])
        token = page.get("nextPageToken")
        if not token:
            return items, prefixes


@pytest.mark.parametrize("most", [1, 2, 3, 1000])
def test_all_names_in_order(lab, most):
    hub, _, _, names = lab
    assert pages(hub, maxResults=most) == (names, [])


@pytest.mark.parametrize("prefix", ["", "D4RL/", "D4RL", "D4RL/door/", "door-human-v0", "door-human-v0/", "rm/", "nothing"])
@pytest.mark.parametrize("most", [1, 1000])
def test_folders(lab, prefix, most):
    hub, _, _, names = lab
    rest = [n[len(prefix):] for n in names if n.startswith(prefix)]
    items = [prefix + n for n in rest if "/" not in n]
    folders = sorted({prefix + n.split("/")[0] + "/" for n in rest if "/" in n})
    assert pages(hub, prefix=prefix, delimiter="/", maxResults=most) == (items, folders)


def test_offsets_and_globs(lab):
    hub, _, _, names = lab
    start, end = names[2], names[7]
    assert pages(hub, startOffset=start, endOffset=end)[0] == names[2:7]
    assert pages(hub, startOffset=start + "!", prefix="rm/")[0] == [n for n in names if n.startswith("rm/")]
    assert pages(hub, matchGlob="**.hdf5")[0] == [n for n in names if n.endswith(".hdf5")]


GLOBS = [("**", r".*"), ("*", r"[^/]*"), ("**/*.txt", r".*/[^/]*\.txt"), ("D4RL/**/data/*.hdf5", r"D4RL/.*/data/[^/]*\.hdf5"), ("D4RL/*/data/*", r"(?!)"), ("D4RL/*/*/data/*", r"D4RL/[^/]*/[^/]*/data/[^/]*"),
         ("**/{main_data,additional_data_?}.hdf5", r".*/(main_data|additional_data_[^/])\.hdf5"), ("{D4RL/{door,x}/*.txt,rm/**,door*}", r"D4RL/(door|x)/[^/]*\.txt|rm/.*|door[^/]*"),
         ("**/m[a-e]ta[!x]ata.json", r".*/m[a-e]ta[^x/]ata\.json"), ("D4RL/a b+c%.bin", r"D4RL/a b\+c%\.bin"), ("D4RL?door/*", r"(?!)"), ("D4RL[/]door/*", r"(?!)"), ("**a**a*{,o}n*", r".*a.*a[^/]*o?n[^/]*"),
         (r"\D4RL/\a*", r"D4RL/a[^/]*"), ("**/[n]ote[s-]*}", r"(?!)"), ("*ö*", r"[^/]*ö[^/]*")]


@pytest.mark.parametrize("glob,like", GLOBS)
def test_patterns_of_names(lab, glob, like):
    hub, _, _, names = lab
    wanted = [n for n in names if re.fullmatch(like, n)]
    assert pages(hub, matchGlob=glob)[0] == wanted and (wanted or like == "(?!)" or "ö" in glob)
    assert pages(hub, matchGlob=glob, maxResults=2)[0] == wanted


@pytest.mark.parametrize("query", ["matchGlob={a,b", "matchGlob=" + "{a,b}" * 7, "matchGlob=" + "a" * 1025])
def test_patterns_that_are_none(lab, query):
    assert lab[0].get(f"/b/rm/o?{query}").json()["error"]["code"] == 400


def test_a_root_and_a_folder_are_buckets(lab):
    hub, _, other, names = lab
    assert [i["name"] for i in listing(hub, "rm")["items"]] == names_below(other)
    assert listing(hub, "D4RL", delimiter="/")["prefixes"] == ["door/"]
    kept = {b["name"] for b in hub.get("/storage/v1/b?project=x").json()["items"]}
    assert kept == {"minari-datasets", "rm"}
    assert [b["name"] for b in hub.get("/storage/v1/b?project=x&prefix=r").json()["items"]] == ["rm"]
    assert hub.get("/storage/v1/b?project=x&prefix=z").json()["items"] == []
    assert "items" not in listing(hub, softDeleted="True") and "items" in listing(hub, softDeleted="False")
    assert hub.get("/b/rm").json()["name"] == "rm"


def test_bytes_ranges_and_conditions(lab):
    hub, root, _, names = lab
    for item in listing(hub)["items"]:
        if item["name"].startswith("rm/") or item["name"] in SPACES:
            continue
        data = open(os.path.join(root, item["name"]), "rb").read()
        assert int(item["size"]) == len(data) and item["generation"].isdigit() and item["metageneration"] == "1"
        link = item["mediaLink"]
        assert link.startswith(hub.base)
        got = hub.get(link[len(hub.base):])
        assert got.status == 200 and got.body == data
        assert got.headers["X-Goog-Generation"] == item["generation"] and int(got.headers["X-Goog-Stored-Content-Length"]) == len(data)
        at = f"/storage/v1/b/minari-datasets/o/{item['name'].replace('%', '%25').replace('/', '%2F').replace(' ', '%20').replace('+', '%2B')}"
        assert hub.get(at).json()["name"] == item["name"]
        part = hub.get(at + "?alt=media", {"Range": "bytes=1-4"})
        assert part.status == 206 and part.body == data[1:5]
        assert hub.get(at + "?alt=media", {"Range": f"bytes={len(data)}-"}).status == 416
        assert hub.get(at + "?generation=5").status == 404
        assert hub.get(at + f"?ifGenerationMatch=5").status == 412
        assert hub.get(at + f"?ifGenerationNotMatch={item['generation']}").status == 304
        hashed = hub.get(at).json()
        if "md5Hash" in hashed:
            assert base64.b64decode(hashed["md5Hash"]) == hashlib.md5(data).digest()


@pytest.mark.parametrize("name", ["D4RL%2Fdoor%2Fnotes.txt", "door-human-v0%2Fdata%2Fmain_data.hdf5", "D4RL%2Fnamespace_metadata.json"])
def test_the_etag_of_an_object_is_that_of_its_bytes(lab, name):
    """As google-cloud-storage sends it: `if_etag_match=blob.etag`, without quotes."""
    hub = lab[0]
    at = "/storage/v1/b/minari-datasets/o/" + name
    etag = hub.get(at).json()["etag"]
    for url in (at, at + "?alt=media", "/download" + at + "?alt=media", "/minari-datasets/" + name.replace("%2F", "/")):
        assert hub.get(url).headers["ETag"] == f'"{etag}"'
        for tag in (etag, f'"{etag}"', f"other, {etag}"):
            assert hub.get(url, {"If-Match": tag}).status == 200
            assert hub.get(url, {"If-None-Match": tag}).status == 304
        assert hub.get(url, {"If-Match": "other"}).status == 412
        assert hub.get(url, {"If-None-Match": "other"}).status == 200
    assert hub.get(at + "?alt=media", {"Range": "bytes=0-1", "If-Range": f'"{etag}"'}).status == 206


def test_namespaces_name_what_is_in_them(lab):
    """What lies in the folder, and the ids by which Python Minari finds all that is below."""
    hub, root, *_ = lab
    stored = json.load(open(os.path.join(root, "D4RL/door/namespace_metadata.json")))
    at = "/storage/v1/b/minari-datasets/o/D4RL%2Fdoor%2Fnamespace_metadata.json"
    item, got = hub.get(at).json(), hub.get(at + "?alt=media")
    assert json.loads(got.body) == {**stored, "datasets": ["D4RL/door/human-v2"], "namespaces": []}
    assert int(item["size"]) == len(got.body) and base64.b64decode(item["md5Hash"]) == hashlib.md5(got.body).digest()
    assert hub.get(at + "?alt=media", {"Range": "bytes=3-9"}).body == got.body[3:10]
    assert hub.get(at + "?alt=media", {"If-None-Match": got.headers["ETag"]}).status == 304
    top = json.loads(hub.get("/b/D4RL/o/namespace_metadata.json?alt=media").body)
    assert (top["datasets"], top["namespaces"]) == (["D4RL/door/human-v2"], ["D4RL/door"])


@pytest.mark.parametrize("word", ["oauth", "oauth2", "xet", "upload", "resumable"])
def test_a_bucket_that_is_called_by_a_reserved_word(tmp_path, word):
    """Its path is kept for other things; the JSON API has it, under its own name and in the bucket of all."""
    (tmp_path / "a.txt").write_text("here")
    with serving(f"{word}={tmp_path}") as hub:
        for path in (f"/{word}", f"/{word}/a.txt"):
            answer = hub.get(path)
            assert answer.status == 404 and f"/{word} is reserved for " in answer.body.decode()
        assert [item["name"] for item in listing(hub, word)["items"]] == ["a.txt"]
        assert hub.get(f"/storage/v1/b/{word}/o/a.txt?alt=media").body == b"here"
        assert hub.get(f"/minari-datasets/{word}/a.txt").body == b"here"


def test_what_is_wrong_is_said_as_google_says_it(lab):
    hub = lab[0]
    for method, path, status in [("GET", "/storage/v1/b/nope/o", 404), ("GET", "/storage/v1/b/minari-datasets/o/nope", 404),
                                 ("GET", "/storage/v1/b/nope", 404), ("GET", "/storage/v2", 404), ("GET", "/upload/x", 404),
                                 ("DELETE", "/storage/v1/b/minari-datasets/o/x", 405), ("GET", "/b/rm/o?pageToken=%21", 400),
                                 ("GET", "/b/rm/o?maxResults=x", 400),
                                 *[("GET", f"/b/minari-datasets/o/D4RL%2Fdoor%2Fnotes.txt?{name}", 400) for name in (
                                     "ifGenerationMatch=x", "ifGenerationMatch=-1", "ifMetagenerationMatch=1.0", "ifGenerationNotMatch=99999999999999999999",
                                     "ifMetagenerationNotMatch=%20", "generation=0x5&alt=media")]]:
        answer = hub.get(path, method=method)
        assert answer.status == status, path
        error = answer.json()["error"]
        assert error["code"] == status and error["errors"][0]["reason"] and error["message"]


@pytest.mark.parametrize("name", ["D4RL%2F", "D4RL%2Fdoor%2Fnotes.txt%2F", "none%2F"])
def test_no_object_is_called_as_a_folder(lab, name):
    """So google-cloud-storage and cloudpathlib ask whether there is a folder: what is not there is 404, and not a wrong request."""
    hub = lab[0]
    for at in ("/storage/v1/b/minari-datasets/o/", "/download/storage/v1/b/minari-datasets/o/", "/b/minari-datasets/o/"):
        answer = hub.get(at + name + "?alt=media")
        assert answer.status == hub.get(at + name).status == 404 and answer.json()["error"]["errors"][0]["reason"] == "notFound"
    assert hub.get("/minari-datasets/" + name).status == 404


def test_names_as_paths(lab):
    """Bytes, ranges and what is wrong, at the address that HDF5, fsspec and browsers are given."""
    hub, root, other, names = lab
    for name in names:
        if name in SPACES:
            continue
        data = open(os.path.join(other, name[3:]) if name.startswith("rm/") else os.path.join(root, name), "rb").read()
        at = f"/minari-datasets/{quote(name)}"
        got, head = hub.get(at), hub.get(at, method="HEAD")
        assert got.body == data and got.headers["Accept-Ranges"] == "bytes" and got.headers["Last-Modified"]
        assert head.status == 200 and head.headers["Content-Length"] == str(len(data)) and head.headers["ETag"] == got.headers["ETag"]
        if len(data) > 4:
            part = hub.get(at, {"Range": "bytes=1-4"})
            assert (part.status, part.body, part.headers["Content-Range"]) == (206, data[1:5], f"bytes 1-4/{len(data)}")
    assert hub.get("/D4RL/door/notes.txt").body == b"beside a dataset"
    assert hub.get("/minari-datasets/D4RL/door/notes.txt?generation=5").status == 404
    for path, headers, status, code in [("/minari-datasets/none", {}, 404, "NoSuchKey"), ("/nope/none%3Cb%3E", {}, 404, "NoSuchKey"), ("/nope/", {}, 404, "NoSuchKey"),
                                        ("/minari-datasets/none/", {}, 404, "NoSuchKey"), ("/minari-datasets/D4RL", {"X-Goog-Api-Client": "gl-go/1"}, 404, "NoSuchKey"),
                                        ("/D4RL/door/notes.txt", {"Range": "bytes=16-"}, 416, "InvalidRange"), ("/D4RL/door/notes.txt?ifGenerationMatch=1", {}, 412, "PreconditionFailed"),
                                        ("/D4RL/door/notes.txt?ifGenerationMatch=one", {}, 400, "InvalidArgument")]:
        got = hub.get(path, headers)
        assert (got.status, got.headers["Content-Type"]) == (status, "application/xml; charset=UTF-8"), path
        error = ElementTree.fromstring(got.body)
        assert error.tag == "Error" and error.find("Code").text == code and error.find("Message").text, path
    assert hub.get("/minari-datasets/D4RL/door").body == hub.get("/minari-datasets/D4RL/door/").body  # by a redirect
    for path in ("/api/v1/nope", "/nope", "/openapi.json/x", "/healthz/"):
        assert b"<Error>" not in hub.get(path).body
    assert hub.get("/api/nope").json()["error"] and hub.get("/upload/x").json()["error"]["code"] == 404


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.cells = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.links.append(dict(attributes)["href"])

    def handle_data(self, data):
        self.cells.append(data)


@pytest.mark.parametrize("folder", ["", "D4RL/", "D4RL/door/", "door-human-v0/data/", "rm/"])
def test_folders_are_pages_of_links(lab, folder):
    hub, root, _, names = lab
    rest = [n[len(folder):] for n in names if n.startswith(folder)]
    entries = sorted({n.split("/")[0] + ("/" if "/" in n else "") for n in rest}, key=lambda n: n.encode())
    got = hub.get("/minari-datasets/" + quote(folder))
    page = Links(got.body.decode())
    assert got.status == 200 and got.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.links == ["../"] * bool(folder) + [quote(e) for e in entries]
    assert [c for c in page.cells if c in entries] == entries
    assert got.body == hub.get("/minari-datasets/" + quote(folder)).body
    for entry in entries:
        if not entry.endswith("/") and folder + entry not in SPACES and not folder.startswith("rm"):
            at = page.cells.index(entry)
            stat = os.stat(os.path.join(root, folder, entry))
            assert page.cells[at + 1] == str(stat.st_size)
            assert page.cells[at + 2] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stat.st_mtime))


def test_a_folder_may_hold_any_name_and_any_number(tmp_path):
    root = tmp_path / "root"
    (root / "many").mkdir(parents=True)
    odd = ["<b>&\"'.txt", "a:b", "http:", "?x=1#y", "%41", "\\x41", "new\nline", "ü", "two  spaces", "many"]
    for name in odd[:-1] + [f"many/{i:06}" for i in range(5000)]:
        (root / name).write_bytes(name.encode())
    (root / os.fsdecode(b"bad\xff")).write_bytes(b"bad")
    with serving(str(root)) as hub:
        page = Links(hub.get("/minari-datasets/").body.decode())
        assert len(page.links) == len(odd) + 1
        seen = set()
        for link in page.links:
            assert urllib.parse.urljoin(f"{hub.base}/minari-datasets/", link).startswith(f"{hub.base}/minari-datasets/")
            if not link.endswith("/"):
                seen.add(hub.get("/minari-datasets/" + link).body.decode())
        assert seen == {*odd[:-1], "bad"}
        assert Links(hub.get("/minari-datasets/many/").body.decode()).links == ["../", *(f"{i:06}" for i in range(5000))]


def xml_pages(hub, path="/minari-datasets", **query):
    keys, prefixes, token, pages = {}, [], None, 0
    while True:
        answer = hub.get(f"{path}?" + urllib.parse.urlencode({"list-type": 2, **query, **({"continuation-token": token} if token else {})}))
        assert answer.status == 200 and answer.headers["Content-Type"] == "application/xml; charset=UTF-8"
        page = ElementTree.fromstring(re.sub(b" xmlns='[^']*'", b"", answer.body))
        found = {c.findtext("Key"): c for c in page.findall("Contents")}
        assert int(page.findtext("KeyCount")) == len(found) + len(page.findall("CommonPrefixes")) <= int(page.findtext("MaxKeys"))
        keys |= found
        prefixes += [p.findtext("Prefix") for p in page.findall("CommonPrefixes")]
        token, pages = page.findtext("NextContinuationToken"), pages + 1
        assert (page.findtext("IsTruncated") == "true") == bool(token)
        if not token:
            return keys, prefixes, pages


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_a_bucket_is_listed_as_xml(lab, most):
    """What the JSON API says, in the other shape: object_store of Rust asks for no other."""
    hub, _, _, names = lab
    for path in ("/minari-datasets", "/minari%2Ddatasets", "/minari-datasets/"):
        keys, prefixes, _ = xml_pages(hub, path, **{"max-keys": most})
        assert list(keys) == names and prefixes == []
    items = {i["name"]: i for i in listing(hub)["items"]}
    for name, entry in keys.items():
        item = items[name]
        assert [entry.findtext(k) for k in ("Size", "Generation", "LastModified", "ETag")] == [item["size"], item["generation"], item["updated"], f'"{item["etag"]}"']
    for prefix in ("", "D4RL/", "D4RL", "nothing"):
        keys, prefixes, _ = xml_pages(hub, prefix=prefix, delimiter="/", **{"max-keys": most})
        assert (list(keys), prefixes) == pages(hub, prefix=prefix, delimiter="/")
    for after in (names[2], names[2] + "!", names[-1], "D4RL/"):
        assert list(xml_pages(hub, **{"start-after": after, "max-keys": most})[0]) == [n for n in names if n.encode() > after.encode()]


def test_a_bucket_without_a_slash(lab):
    hub = lab[0]
    assert hub.get("/minari-datasets").body == hub.get("/minari-datasets/").body  # a page, by a redirect
    assert hub.get("/nope").status == 404 and hub.get("/nope").json()["type"] == "urn:minari-hub:route-not-found"
    wrong = hub.get("/nope?list-type=2")
    assert wrong.status == 404 and ElementTree.fromstring(wrong.body).tag == "Error"
    assert hub.get("/minari-datasets?list-type=2&continuation-token=!").status == 400


def test_an_endpoint_may_end_with_a_slash(lab):
    hub = lab[0]
    for path in ("/storage/v1/b/rm", "/b/rm/o", "/api/datasets", "/datasets/rm/x/resolve/main/y", "/download/storage/v1/b/rm/o/nope"):
        one, two = hub.get(path), hub.get("/" + path)
        assert (one.status, one.body, one.headers["Content-Type"]) == (two.status, two.body, two.headers["Content-Type"]), path
    for path in ("//healthz", "//evil.example/storage/", "///storage/v1/b", "/storage//v1/b"):
        assert hub.get(path).status == 400, path


def test_uploads_are_refused_in_the_same_words_by_every_protocol(lab):
    """With any body, at once, and the next request on the connection is not what was left of it."""
    hub = lab[0]
    google, face, ours = "application/json; charset=UTF-8", "application/json; charset=utf-8", "application/problem+json"
    inner = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    for method, path, status, kind in [("POST", "/upload/storage/v1/b/b/o?uploadType=media&name=x", 405, google), ("POST", "/upload/storage/v1/b/b/o?uploadType=multipart", 405, google),
                                       ("POST", "/resumable/upload/storage/v1/b/b/o?uploadType=resumable", 405, google), ("PUT", "/upload/storage/v1/b/b/o?upload_id=1", 405, google),
                                       ("POST", "/batch/storage/v1", 405, google), ("DELETE", "/storage/v1/b/b/o/x", 405, google), ("PUT", "/b/x", 405, google),
                                       ("POST", "/storage/v1/b/b/o/x/rewriteTo/b/c/o/y", 405, google), ("PUT", "/minari-datasets/x", 405, "application/xml; charset=UTF-8"),
                                       ("POST", "/api/repos/none", 403, face), ("POST", "/api/datasets/a/b/discussions", 403, face),
                                       ("DELETE", "/api/datasets/a/b/refs", 403, face), ("PUT", "/api/datasets/a/b/settings", 403, face),
                                       ("PUT", "/api/v1/datasets/x/files/data/x", 405, ours), ("POST", "/api/v1/datasets", 405, ours)]:
        for body in (b"", inner, inner * 100000, "chunked"):
            with socket.create_connection(("127.0.0.1", hub.port), timeout=10) as s:
                chunked = body == "chunked"
                length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(body)}"
                ends = "Connection: close\r\n" if body and status == 403 else ""  # its body is read: the connection could go on
                s.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{ends}{length}\r\n\r\n".encode())
                with contextlib.suppress(OSError):
                    s.sendall(b"".join(b"%x\r\n%b\r\n" % (len(inner), inner) for _ in range(100)) + b"0\r\n\r\n" if chunked else body)
                if not body:
                    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                got = b""
                with contextlib.suppress(ConnectionError):
                    while more := s.recv(65536):
                        got += more
                assert got.startswith(b"HTTP/1.1 %d " % status) and f"Content-Type: {kind}\r\n".encode() in got, (method, path, got[:300])
                words = f"This hub does not take {path[1:]}: files of datasets can be pushed" if kind == face else f"Nothing is uploaded to {path.split('?')[0]}: datasets are pushed with `minari-cli upload PATH ID`, by /api/v1/drafts"
                assert words.encode() in got, (method, path, got[:1000])
                assert got.count(b"HTTP/1.1 ") == 1 + (not body), (method, path)


def test_a_page_ends_where_its_metadata_is_large(tmp_path):
    h5py = pytest.importorskip("h5py")
    one = tmp_path / "one" / "data"
    one.mkdir(parents=True)
    shutil.copy(os.path.join(FIXTURES, "samples", "door-human-v0", "data", "main_data.hdf5"), one)
    with h5py.File(one / "main_data.hdf5", "a") as f:
        for i in range(4):
            f.attrs[f"note_{i}"] = "x" * 60000
    names = [f"root/large-{i:02}-v0/data/main_data.hdf5" for i in range(40)]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True)
        os.link(one / "main_data.hdf5", tmp_path / name)
    with serving(str(tmp_path / "root")) as hub:
        first = hub.get("/b/minari-datasets/o")
        assert 4 << 20 < len(first.body) < 5 << 20 and "note_3" in first.json()["items"][0]["metadata"]
        assert pages(hub)[0] == [n[5:] for n in names]


def test_a_page_that_is_kept_is_of_now(tmp_path):
    folder = tmp_path / "root" / "notes"
    shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / "root" / "door-human-v0")
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    at = "/storage/v1/b/minari-datasets/o?prefix=notes/"
    with serving(str(tmp_path / "root")) as hub:
        hub.get("/download/storage/v1/b/minari-datasets/o/notes%2Fa.txt?alt=media")
        until(lambda: "crc32c" in hub.get(at).json()["items"][0])  # digests that come later are in it
        first, again = hub.get(at), hub.get(at)
        assert first.body == again.body and first.headers["content-type"] == again.headers["content-type"] == "application/json; charset=UTF-8"
        proxied = hub.get(at, {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "lab.example"}).json()["items"][0]
        assert proxied["mediaLink"].startswith("https://lab.example/")
        (folder / "a.txt").write_text("another")
        (folder / "b.txt").write_text("b")
        until(lambda: [(i["name"], i["size"]) for i in hub.get(at).json()["items"]] == [("notes/a.txt", "7"), ("notes/b.txt", "1")])
        assert [i["mediaLink"] for i in hub.get(at).json()["items"]] != [i["mediaLink"] for i in first.json()["items"]]
        assert hub.get(at, method="HEAD").headers["content-length"] == str(len(hub.get(at).body))


def test_listings_that_only_name_a_prefix_spare_minari_the_metadata_of_episodes(tmp_path):
    """Python Minari takes each metadata.json for one of a dataset. Who names a version, or lists in any other way, gets all."""
    columns = os.path.join(FIXTURES, "minari", "root-0.5.3-columns", "arrow", "infos-v0")
    for name in "infos-v1", "infos-v10", "other-v0":
        shutil.copytree(columns, tmp_path / "lab" / name)
    for name in "lab/infos-v1/metadata.json", "lab/other-v0/extra/0/metadata.json":
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("{}")
    names = names_below(tmp_path) + ["lab/namespace_metadata.json"]
    own = [n for n in names if re.search(r"/data/\d+/metadata.json$", n)]
    with serving(str(tmp_path)) as hub:
        rest = sorted(set(names) - set(own))
        assert len(own) >= 6 and all(pages(hub, **({"prefix": p} if p else {}))[0] == [n for n in rest if n.startswith(p)] for p in ("", "lab", "lab/", "lab/infos"))
        for version, others in ("lab/infos-v1", "lab/infos-v10/"), ("lab/infos-v10", "-"), ("lab/infos-v1/", "-"), ("lab/infos-v1/data/0/", "-"):
            assert pages(hub, prefix=version)[0] == [n for n in sorted(names) if n.startswith((version, others))]
        for way in {"maxResults": 1000}, {"matchGlob": "**"}, {"fields": "items/name,nextPageToken"}:
            assert pages(hub, **way)[0] == sorted(names)
        assert pages(hub, prefix="lab/infos-v1/data/0/", delimiter="/") == ([n for n in sorted(names) if n.startswith("lab/infos-v1/data/0/")], [])
        assert hub.get(f"/storage/v1/b/minari-datasets/o/{quote(own[0]).replace('/', '%2F')}?alt=media").body == open(tmp_path / own[0], "rb").read()


def test_links_behind_a_proxy(lab):
    """As a proxy that is trusted says it was asked, else as set."""
    hub, root, *_ = lab
    at = "/storage/v1/b/minari-datasets/o/D4RL%2Fdoor%2Fnotes.txt"
    item = hub.get(at, {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "lab.example"}).json()
    assert item["mediaLink"].startswith("https://lab.example/download/storage/v1/b/minari-datasets/o/D4RL%2Fdoor%2Fnotes.txt?generation=")
    assert item["selfLink"] == "https://lab.example" + at
    with serving(root, args=["--public-url", "https://lab.example/hub/"]) as other:
        assert other.get(at).json()["mediaLink"].startswith("https://lab.example/hub/download/storage/v1/b/")
    with serving(root, args=["--trusted-proxies", "off"]) as other:
        assert other.get(at, {"X-Forwarded-Host": "evil.example"}).json()["mediaLink"].startswith(other.base)


SCRIPT = """
import json, sys, minari
remote = minari.list_remote_datasets()
done = {}
for name in remote:
    minari.download_dataset(name)
    done[name] = [minari.load_dataset(name).total_episodes, len(list(minari.load_dataset(name).iterate_episodes()))]
print(json.dumps([minari.__version__, done]))
"""


def test_minari_0_4(lab, tmp_path):
    hub, root, *_ = lab
    python = os.environ.get("HUB_TEST_PYTHON_043")
    if not python:
        pytest.skip("HUB_TEST_PYTHON_043 names no interpreter with Minari 0.4.3")
    env = {**os.environ, "STORAGE_EMULATOR_HOST": hub.base, "MINARI_DATASETS_PATH": str(tmp_path)}
    run = subprocess.run([python, "-c", SCRIPT], env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    version, done = json.loads(run.stdout.splitlines()[-1])
    assert version == "0.4.3" and done == {"door-human-v0": [12, 12], "mission-text-v0": [3, 3]}
    for name in done:
        at = f"{name}/data/main_data.hdf5"
        assert (tmp_path / at).read_bytes() == open(os.path.join(root, at), "rb").read()
