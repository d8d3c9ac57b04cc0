"""A stand-in of Hugging Face's hub, for datasets: listings in pages, refs, trees, files, large ones on another host behind a redirect.
test_hf.py holds it against the real huggingface_hub before anything of ours is held against it."""
import hashlib
import re
import urllib.parse

from upstream import Upstream

ERRORS = {"RepoNotFound": "Repository Not Found", "RevisionNotFound": "Invalid rev id", "EntryNotFound": "Entry not found"}


def git_sha1(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Repo:
    def __init__(self):
        self.commits, self.branches, self.tags, self.times = {}, {}, {}, {}

    def commit(self, files, branch="main"):
        text = "".join(f"{p} {git_sha1(d)}\n" for p, d in sorted(files.items()))
        sha = hashlib.sha1((text + str(len(self.commits))).encode()).hexdigest()
        self.commits[sha] = dict(files)
        self.times[sha] = f"2024-05-06T07:08:{8 + len(self.commits):02}.000Z"
        self.branches[branch] = sha
        return sha

    def resolve(self, revision):
        return revision if revision in self.commits else self.branches.get(revision) or self.tags.get(revision)


class Hf(Upstream):
    """`page` entries a page; files of `large` bytes and more are LFS; `token`, if set, is what every request must bear."""

    def __init__(self, host="127.0.0.1", cdn_host="127.0.0.1"):
        super().__init__(host)
        self.repos, self.renamed, self.page, self.large, self.token, self.signature = {}, {}, 1000, 10_000, None, 0
        self.cdn = Upstream(cdn_host)
        self.cdn.route = self.blob

    def __exit__(self, *args):
        self.cdn.__exit__()
        super().__exit__()

    def put(self, id, files, branch="main"):
        return self.repos.setdefault(id, Repo()).commit(files, branch)

    def error(self, request, code, status=404):
        headers = {"X-Error-Code": code, "X-Error-Message": ERRORS[code]}
        return request.json({"error": ERRORS[code]}, status, headers)

    def paged(self, request, path, query, items):
        at = int(query.get("cursor", 0))
        size = min(self.page, int(query.get("limit", self.page)))
        headers = {}
        if at + size < len(items) and "limit" not in query:
            more = urllib.parse.urlencode({**query, "cursor": at + size})
            headers["Link"] = f'<{self.url}{path}?{more}>; rel="next"'
        request.json(items[at:at + size], headers=headers)

    def route(self, request, path, query):
        if self.token and request.headers.get("Authorization") != "Bearer " + self.token:
            return self.error(request, "RepoNotFound", 401)
        path = re.sub("//+", "/", path)
        if path in ("/api/datasets", "/api/models"):
            ids = [i for i in sorted(self.repos) if i.split("/")[0] == query.get("author", i.split("/")[0]) and query.get("search", "") in i]
            return self.paged(request, path, query, [self.info(i, None, short=True) for i in ids])
        match = re.fullmatch(r"/api/(?:datasets|models)/([^/]+/[^/]+)(?:/(revision|tree|refs|paths-info)(?:/([^/]+)(?:/(.*))?)?)?", path)
        if match:
            return self.api(request, path, query, *match.groups())
        match = re.fullmatch(r"(?:/datasets)?/([^/]+/[^/]+)/resolve/([^/]+)/(.*)", path)
        if match:
            return self.resolve(request, *map(urllib.parse.unquote, match.groups()), path)
        request.json({"error": "Not Found"}, 404)

    def info(self, id, sha, short=False):
        repo = self.repos[id]
        sha = sha or repo.branches["main"]
        out = {"id": id, "author": id.split("/")[0], "sha": sha, "private": False, "gated": False, "disabled": False, "downloads": 0, "likes": 0,
               "tags": [], "lastModified": repo.times[sha], "createdAt": "2024-05-06T07:08:09.000Z"}
        return out if short else {**out, "siblings": [{"rfilename": p} for p in sorted(repo.commits[sha])]}

    def api(self, request, path, query, id, what, revision, below):
        id = self.renamed.get(id, id)
        if id not in self.repos:
            return self.error(request, "RepoNotFound")
        repo = self.repos[id]
        if what == "refs":
            rows = {k: [{"name": n, "ref": f"refs/{h}/{n}", "targetCommit": s} for n, s in sorted(v.items())]
                    for k, h, v in (("branches", "heads", repo.branches), ("tags", "tags", repo.tags), ("converts", "convert", {}))}
            return request.json(rows)
        sha = repo.resolve(urllib.parse.unquote(revision or "main"))
        if not sha:
            return self.error(request, "RevisionNotFound")
        if what in (None, "revision"):
            return request.json(self.info(id, sha))
        files = repo.commits[sha]
        if what == "paths-info":
            asked = urllib.parse.parse_qs(request.body.decode())["paths"]
            return request.json([self.entry(p, files[p]) for p in asked if p in files])
        head = urllib.parse.unquote(below or "")
        entries = self.tree(files, head + "/" if head else "", query.get("recursive", "false").lower() in ("true", "1"))
        if not entries:
            return self.error(request, "EntryNotFound")
        self.paged(request, path, query, entries)

    def entry(self, path, data):
        out = {"type": "file", "path": path, "size": len(data), "oid": git_sha1(data)}
        if len(data) >= self.large:
            out["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
            out["oid"] = git_sha1(b"a pointer to " + out["lfs"]["oid"].encode())
        return out

    def tree(self, files, head, recursive):
        folders, entries = set(), []
        for path in sorted(p for p in files if p.startswith(head)):
            parts = path[len(head):].split("/")
            for n in range(1, len(parts) if recursive else min(2, len(parts))):
                folder = head + "/".join(parts[:n])
                if folder not in folders:
                    folders.add(folder)
                    entries.append({"type": "directory", "path": folder, "oid": git_sha1(folder.encode()), "size": 0})
            if recursive or len(parts) == 1:
                entries.append(self.entry(path, files[path]))
        return entries

    def resolve(self, request, id, revision, path, raw):
        if id in self.renamed:
            return request.answer(307, headers={"Location": raw.replace(f"/{id}/", f"/{self.renamed[id]}/", 1)})
        if id not in self.repos:
            return self.error(request, "RepoNotFound")
        sha = self.repos[id].resolve(revision)
        if not sha:
            return self.error(request, "RevisionNotFound")
        data = self.repos[id].commits[sha].get(path)
        if data is None:
            return request.json({"error": "Entry not found"}, 404, {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found", "X-Repo-Commit": sha})
        headers = {"X-Repo-Commit": sha, "Accept-Ranges": "bytes", "ETag": f'"{git_sha1(data)}"'}
        if len(data) < self.large:
            return request.bytes(data, headers)
        digest = hashlib.sha256(data).hexdigest()
        url = f"{self.cdn.url}/blobs/{digest}?" + urllib.parse.urlencode({"id": id, "sha": sha, "path": path, "signature": self.signature})
        request.answer(302, headers={**headers, "X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(data)), "Location": url})

    def blob(self, request, path, query):
        if int(query["signature"]) != self.signature:
            return request.answer(403, b"<Error>Request has expired</Error>", type="application/xml")
        request.bytes(self.repos[query["id"]].commits[query["sha"]][query["path"]], {"ETag": '"cdn-' + path[-64:][:32] + '"'})


def minari_org(org, root, more=()):
    """{repo: files} of a root of datasets as Minari uploads it: a repo for the first segment of the ids, with its namespace_metadata.json."""
    import json
    import os

    repos = {}
    for here, _, names in os.walk(root):
        for name in names:
            path = os.path.relpath(os.path.join(here, name), root)
            if "/" in path and not path.startswith("."):
                with open(os.path.join(root, path), "rb") as f:
                    repos.setdefault(path.split("/")[0], {})[path.split("/", 1)[1]] = f.read()
    for repo, files in repos.items():
        if "namespace_metadata.json" in files:
            ids = sorted(repo + "/" + p[: -len("/data/metadata.json")] for p in files if p.endswith("/data/metadata.json"))
            spaces = sorted(repo + "/" + os.path.dirname(p) for p in files if p.endswith("/namespace_metadata.json"))
            own = json.loads(files["namespace_metadata.json"] or b"{}")
            files["namespace_metadata.json"] = json.dumps({**own, "datasets": ids, "namespaces": spaces}).encode()
    return {f"{org}/{repo}": files for repo, files in repos.items()}
