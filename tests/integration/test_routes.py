"""Each route of server/service/routes.c answers the request of its row; each parameter of /openapi.json has an example of its type."""
import http.client
import json
import os
import shutil
import sys
from urllib.parse import quote

import jsonschema
import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
import routes
from hub import FIXTURES, Answer, serving, until
from test_admin import Control

# What is sent where the answer needs a body.
BODIES = {
    "/api/v1/batch": json.dumps({"items": [{"id": "D4RL/door/human-v2", "episode": 0, "start": 0, "stop": 2}], "fields": ["actions"]}),
    "/api/datasets/{org}/{name}/paths-info/{rev}": json.dumps({"paths": ["data/main_data.hdf5"], "expand": False}),
    "/api/repos/create": json.dumps({"name": "new", "organization": "lab", "type": "dataset"}),
    "/api/repos/move": json.dumps({"fromRepo": "lab/arm-v30", "toRepo": "lab/other", "type": "dataset"}),
    "/api/validate-yaml": json.dumps({"content": "# words", "repoType": "dataset"}),
    "/api/v1/drafts": json.dumps({"id": "lab/new-v0"}),
    "/api/v1/datasets/{id}": json.dumps({"id": "lab/other-v0"}),
    "/api/v1/links": json.dumps({"path": "/d/lab/arm-v30"}),
    "/~csp": json.dumps({"csp-report": {"document-uri": "http://hub/", "violated-directive": "script-src-elem", "blocked-uri": "inline"}}),
}


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    lab = tmp_path_factory.mktemp("lab")
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), lab / "arm-v30")
    with serving(os.path.join(FIXTURES, "samples"), f"lab={lab}") as hub:
        yield hub


def ask_once(hub, route):
    connection = Control(hub.state) if route.local else http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    headers = {"Accept": "text/html"} if route.pattern.startswith(("/d/", "/~")) else {}
    body = BODIES.get(route.pattern) if route.method in ("POST", "PATCH") else None
    connection.request(route.method, quote(route.example, safe="/?&=%:,@{}*\"~+").replace('"', "%22").replace("{", "%7B").replace("}", "%7D"),
                       body=body, headers={**headers, **({"Content-Type": "application/json"} if body else {})})
    with connection.getresponse() as answer:
        body = answer.read()
    connection.close()
    return Answer(answer.status, answer.headers, body)


def ask(hub, route):
    """Until what is still being measured is there."""
    last = []

    def is_there():
        last[:] = [ask_once(hub, route)]
        return last[0].status != 503

    until(is_there)
    return last[0]


def is_in_the_contract(route):
    """All of our own API; at /api/v1/datasets/{path} is nothing."""
    return route.pattern.startswith("/api/v1/") and route.pattern != "/api/v1/datasets/{path}" or route.pattern in ("/healthz", "/readyz", "/metrics", "/openapi.json")


def test_examples(hub):
    """In their order, but those that read what others make behind them. What is answered, also to the admin, is as the contract has it."""
    order = sorted(routes.routes(), key=lambda r: (r.method == "GET") - (r.pattern in ("/api/v1/mirrors", "/api/v1/jobs") and r.method == "POST"))
    assert len(order) > 90
    wrong = []
    for route in order:
        answer = ask(hub, route)
        if answer.status != route.status if route.status else answer.status // 100 != 2:
            wrong.append((route.method, route.example, answer.status, answer.body[:200]))
        if is_in_the_contract(route):
            hub.checker(route.method, route.example, answer)
    assert not wrong, "\n".join(map(str, wrong))


def test_the_contract_has_each_route_of_the_api_and_no_other(hub):
    document = hub.get("/openapi.json").json()
    stated = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert stated - {("GET", "/")} == {(r.method, r.pattern.split("?")[0]) for r in routes.routes() if is_in_the_contract(r)}


def test_examples_of_answers(hub):
    """Those that the contract shows are as it says."""
    count, document = 0, hub.get("/openapi.json").json()
    for path, item in document["paths"].items():
        for operation in item.values():
            for answer in operation["responses"].values():
                for content in answer.get("content", {}).values():
                    if "example" in content:
                        assert not hub.checker.schema_errors(content["schema"], content["example"]), path
                        count += 1
    assert count >= 9


def test_examples_of_parameters(hub):
    """Each has one, which is of the schema beside it."""
    count, document = 0, hub.get("/openapi.json").json()
    for path, item in document["paths"].items():
        for operation in item.values():
            for p in operation["parameters"]:
                jsonschema.validate(p["example"], p["schema"], jsonschema.Draft202012Validator)
                count += 1
    assert count > 150
