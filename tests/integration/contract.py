"""Every answer that a test gets is held against /openapi.json: the path is there, the status and the media type are declared, and
the JSON is of its schema."""
import gzip
import json
import urllib.parse

import jsonschema

RESERVED = ("episodes", "files", "rows", "sample", "batch", "archive.tar")


def template_of(path, paths):
    """The path template of a request path: {id} and {path} may hold slashes, an id ends before a reserved segment."""
    path = path.split("?")[0]
    if path in paths:
        return path
    for folder, one in (("/api/v1/namespaces/", "{path}"), ("/api/v1/mirrors/", "{name}"), ("/api/v1/jobs/", "{id}"), ("/api/v1/tokens/", "{name}")):
        if path.startswith(folder):
            return folder + one
    if path.startswith("/api/v1/drafts/"):
        draft, _, rest = path[len("/api/v1/drafts/"):].partition("/")
        return "/api/v1/drafts/{name}" + (f"/{rest}" if rest in ("commit", "files", "archive.tar") else "/files/{path}" if rest else "")
    prefix = "/api/v1/datasets/"
    if not path.startswith(prefix):
        return None
    rest = [urllib.parse.unquote(s) for s in path[len(prefix):].split("/")]
    cut = next((i for i, s in enumerate(rest) if s in RESERVED or s.startswith("~")), len(rest))
    tail = rest[cut:]
    if not tail:
        return prefix + "{id}"
    if tail[0] == "episodes" and tail[2:3] == ["~media"]:
        return prefix + "{id}/episodes/{n}/~media" + "/{camera}" * (len(tail) > 3)
    shape = {"episodes": ["", "/{n}", "/{n}/{path}"], "files": ["", "/{path}"], "~spaces": [""], "~statistics": [""], "~findings": [""], "~poster": [""], "~kerchunk.json": [""], "rows": [""], "sample": [""], "archive.tar": [""]}.get(tail[0])
    if not shape:
        return None
    return prefix + "{id}/" + tail[0] + shape[min(len(tail) - 1, len(shape) - 1)]


OTHERS = ("/storage/", "/download/", "/upload/", "/resumable/", "/b/", "/api/datasets", "/api/agent", "/api/tele", "/datasets/", "/d/", "/~", "/minari-", "/minari%2D")  # protocols that have contracts of their own


class Contract:
    def __init__(self, document):
        self.document = document
        self.checked = 0
        self.validators = {}

    def schema_errors(self, schema, value):
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            whole = {**schema, "components": self.document["components"], "$schema": "https://json-schema.org/draft/2020-12/schema"}
            self.validators[key] = jsonschema.Draft202012Validator(whole)
        return list(self.validators[key].iter_errors(value))

    def __call__(self, method, path, answer):
        if path.startswith(OTHERS) or "/" in path[1:] and not any(p.startswith("/" + path.split("/")[1] + "/") for p in self.document["paths"]):
            return  # the last are buckets
        where = f"{method} {path} -> {answer.status}"
        if answer.status == 308:
            bare, _, query = path.partition("?")
            assert answer.headers["Location"] == bare[:-1] + (f"?{query}" if query else "") and not answer.body, where
            path = bare[:-1]
        template = template_of(path, self.document["paths"])
        if template is None:
            assert answer.status in (400, 404, 405, 503), f"{where}: answered, but not in the contract"
            return
        operation = self.document["paths"][template].get("get" if method == "HEAD" else method.lower())
        if operation is None:
            assert method == "OPTIONS" or answer.status >= 400, f"{where}: answered, but not in the contract"
            return
        responses = operation["responses"]
        declared = responses.get(str(answer.status)) or responses.get("default")
        assert declared, f"{where}: status not declared for {template}"
        if "$ref" in declared:
            declared = self.document["components"]["responses"][declared["$ref"].rsplit("/", 1)[1]]
        self.checked += 1
        if method == "HEAD" or answer.status in (304, 308):
            assert not answer.body, where
            return
        media = (answer.headers.get("Content-Type") or "").split(";")[0]
        content = declared["content"]
        assert media in content or "*/*" in content, f"{where}: {media} not declared ({', '.join(content)})"
        schema = content.get(media, {}).get("schema", {})
        if media.endswith("json") and media != "application/x-ndjson" and schema:
            body = gzip.decompress(answer.body) if answer.headers.get("Content-Encoding") == "gzip" else answer.body
            errors = self.schema_errors(schema, json.loads(body))
            assert not errors, f"{where}: {errors[0].message} at {list(errors[0].absolute_path)}"
