"""What README.md and the guide say is so: examples of parameters are taken, no parameter, setting or command is left out, links
lead somewhere, and the questions of tests/guide have their answers."""
import os
import re
import shutil
import subprocess
import sys
from urllib.parse import quote

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
import guide
from hub import BIN, FIXTURES, serving

API, CLI, ADMIN, MIRRORS = (os.path.join(guide.GUIDE, name) for name in ("api.md", "cli.md", "admin.md", "mirrors.md"))
DATASET = "D4RL/door/human-v2"
# (section, parameter) -> dataset and field that have what the example names; "" for any section
ELSEWHERE = {("", "split"): ("arm-v30", ""), ("", "task"): ("arm-v30", ""), ("", "name"): ("lift/low_dim_v15", ""), ("Curves", "leaf"): ("house", "obs/extra/task_info"),
             ("Curves", "runs"): (DATASET, "terminations"), ("Rows of a field", "range"): ("seen", "depth"), ("Videos", ""): ("arm-v30", "")}
LISTS = {"Datasets", "Namespaces", "The hub itself", "Problems"}  # whose task is a filter, not one that a dataset has
PAGED = {"limit", "cursor", "format", "nonfinite", "for", "revision"}  # of many resources
CHOOSE = "Choose episodes"


def parameters():
    """(section, resource, parameter, example) of every row of the API's tables of parameters."""
    for title, text in guide.sections(API):
        resources = re.findall(r"`GET (/[^`]+)`", text)
        for parameter, *_, example in guide.rows(text) if title not in ("What where understands", "Errors", "Push", "Revisions") else []:
            yield title, resources[-1] if title in ("Videos", "The hub itself") else (resources or ["/api/v1/datasets/{id}/episodes"])[0], parameter.strip("`"), example.strip("`")


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    import numpy as np

    root = tmp_path_factory.mktemp("more")
    for at, name in (("lerobot/arm-v30", "arm-v30"), ("robomimic/lift-ph", "lift"), ("molmospaces/house", "house")):
        shutil.copytree(os.path.join(FIXTURES, at), root / name)
    np.savez(root / "seen.npz", depth=np.linspace(0, 2, 3 * 64 * 64, dtype="f4").reshape(3, 64, 64, 1))
    with serving(os.path.join(FIXTURES, "samples"), str(root)) as hub:
        yield hub


def test_problems_are_those_of_the_table():
    with open(os.path.join(guide.TOP, "storage", "base", "problems.h")) as table:
        known = dict(re.findall(r'X\(\w+, "([a-z-]+)", (\d+),', table.read().replace("\\\n", "")))
    listed = {name: status for status, names in guide.rows(dict(guide.sections(API))["Errors"]) for name in re.findall("`([a-z-]+)`", names)}
    assert listed == {name: status for name, status in known.items() if status != "0"}
    pages = os.path.join(guide.TOP, guide.GUIDE)
    for page in sorted(os.listdir(pages)):
        with open(os.path.join(pages, page)) as text:
            for status, name in re.findall(r"\b([45]\d\d) `([a-z]+(?:-[a-z]+)*)`", text.read()):
                assert known.get(name) == status, (page, status, name)


def encoded(example):
    return "&".join(f"{name}={quote(value)}" for name, _, value in (pair.partition("=") for pair in example.split("&")))


def test_examples_of_parameters(hub):
    count = 0
    for title, resource, parameter, example in parameters():
        dataset, field = ELSEWHERE.get((title, parameter)) or ELSEWHERE.get((title, "")) or ("" if title in LISTS else ELSEWHERE.get(("", parameter))) or (DATASET, "")
        assert re.search(rf"(?:^|&){parameter}=", example), (title, parameter, example)
        number = {"house": 0, "seen": 0, "arm-v30": 0}.get(dataset, 3)
        path = resource.format(id=quote(dataset), n=number, path=field or "rewards", camera="top.mp4")
        if parameter == "nonfinite":
            path += "/3/rewards"
        if parameter == "cursor":
            assert hub.get(path + "?limit=2").json()["next"]
            continue
        answer = hub.get(f"{path}?{encoded(example)}")
        assert answer.status == (410 if parameter == "revision" else 200), (title, parameter, path, example, answer.body[:300])
        count += 1
    assert count >= 80


def test_no_parameter_is_left_out(hub):
    """Those of openapi.json stand in the section of their resource, or in one for many."""
    said = {}
    for title, text in guide.sections(API):
        names = {name for cells in guide.rows(text) for name in re.findall(r"`(\w+)`", cells[0])} | set(re.findall(r"`(\w+)`", text))
        for resource in re.findall(r"`GET (/[^`]+)`", text):
            said.setdefault(resource, set()).update(names | PAGED)
        if title == CHOOSE:
            choose = names
    missing, paths = [], hub.get("/openapi.json").json()["paths"]
    for path, methods in paths.items():
        if "get" not in methods:
            continue
        wanted = {p["name"] for p in methods["get"]["parameters"] if p["in"] == "query"}
        path = path.replace("{name}", "{path}")
        if path not in said:
            missing += [path] if path not in ("/", "/openapi.json", "/api/v1/jobs/{id}", "/api/v1/mirrors/{path}") else []
        else:
            missing += [f"{path}: {name}" for name in sorted(wanted - said[path] - choose)]
    assert not missing, missing


def test_no_parameter_is_invented(hub):
    """What a table names is taken by the resource of its section, or by some where it is of many."""
    paths = hub.get("/openapi.json").json()["paths"]
    taken = {path: {p["name"] for p in methods["get"]["parameters"]} for path, methods in paths.items() if "get" in methods}
    everywhere = set().union(*taken.values())
    for title, resource, parameter, _ in parameters():
        assert parameter in (everywhere if title in (CHOOSE, "Parameters of many resources") else taken[resource]), (title, parameter)


def program(*words):
    return subprocess.run([os.path.join(BIN, words[0]), *words[1:]], capture_output=True, text=True, timeout=60, env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null"}).stdout


def test_no_setting_or_command_is_left_out():
    settings = set(re.findall(r"^  --([\w-]+) ", program("minari-hub", "serve", "--help"), re.M))
    admin = guide.prose(ADMIN)
    assert len(settings) > 30 and not [s for s in settings if f"`{s}`" not in admin]
    commands = re.findall(r"^  (\w+) {2,}", program("minari-cli", "--help").split("Commands:")[1].split("Options")[0], re.M)
    assert len(commands) > 10 and not [c for c in commands if c not in ("help", "version") and not re.search(rf"minari-cli {c}\b|`{c}`", guide.text_of(CLI))]
    commands = re.findall(r"^  (\w+) {2,}", program("minari-hub", "--help").split("Commands:")[1].split("Examples")[0], re.M)
    everything = "".join(guide.text_of(page) for page in guide.pages())
    assert len(commands) > 8 and not [c for c in commands if c != "help" and f"minari-hub {c}" not in everything]


def test_options_are_those_of_the_programs():
    """Each `--option` of a text or a table is one of minari-hub's or of minari-cli's, or of a program that the line names."""
    helps = [program("minari-hub", "--help"), *(program("minari-hub", c, "--help") for c in ("mirror", "export", "import", "check", "adopt", "backup", "scan", "status", "token"))]
    helps += [program("minari-cli", "--help"), *(program("minari-cli", c, "--help") for c in ("list", "download", "upload", "drafts", "revert", "namespace", "delete", "episodes", "get", "rows", "sample", "stats"))]
    known = set(re.findall(r"--([\w-]+)", "".join(helps))) | {"help", "json"}
    known |= {"unix-socket", "retry", "netrc", "auth-no-challenge", "user", "password", "http-user", "http-passwd", "header", "token", "cacert", "ca-cert"}  # of curl, wget, aria2, hf, rclone
    unknown = [(page, option) for page in guide.pages() for quoted in re.findall(r"`([^`]+)`", guide.prose(page)) for option in re.findall(r"(?<![\w-])--([\w-]+)", quoted)
               if option not in known]
    assert not unknown, unknown
    mirror = set(re.findall(r"^  --([\w-]+)", program("minari-hub", "mirror", "--help"), re.M)) - {"everything", "yes", "anew", "json"}
    assert not [option for option in mirror if f"`--{option}`" not in guide.prose(MIRRORS)]


# ---- what can be seen without a hub ----


def test_the_readme_is_short():
    assert len(guide.text_of("README.md").splitlines()) <= 130


def test_help_names_the_guide():
    assert "/~guide" in program("minari-hub", "--help") and "/~guide" in program("minari-cli", "--help")


def anchors(page):
    return {guide.anchor(title) for title, _ in guide.sections(page)}


def leads_somewhere(base, link):
    if link.startswith(("https://", "http://hub:8080/")):
        return True
    path, _, anchor = link.partition("#")
    page = os.path.normpath(os.path.join(base, path)) if path else base
    return os.path.exists(os.path.join(guide.TOP, page)) and (not anchor or anchor in anchors(page))


def test_links():
    """Of the README; those of the guide are the compiler's. And what is linked on this hub is there."""
    wrong = [link for link in guide.links(guide.text_of("README.md")) if not leads_somewhere("", link)]
    wrong += [(page, link) for page in guide.pages()[1:] for link in guide.links(guide.prose(page)) if not leads_somewhere(page if link[0] == "#" else guide.GUIDE, link)]
    assert not wrong, wrong


def test_questions():
    """Each has one answer: a path of the tree, or a section of the guide."""
    text = guide.text_of("tests/guide/questions.md")
    wheres, hows = (guide.rows(part) for part in re.split(r"^## ", text, flags=re.M)[1:])
    assert len(wheres) >= 5 and len(hows) >= 10
    for question, answer in wheres:
        (path,) = re.findall(r"`([^`]+)`", answer)
        assert question.startswith("Where") and question.endswith("?") and os.path.exists(os.path.join(guide.TOP, path)), (question, path)
    for question, answer in hows:
        (link,) = guide.links(answer)
        assert question.startswith("How do I") and "#" in link and leads_somewhere("tests/guide", link), (question, link)


@pytest.mark.parametrize("name, shown", [("arm-v30", "arm-v30"), ("it's <b>&-v30", "door-human-v0")])
def test_commands_name_a_dataset_of_this_hub(tmp_path, name, shown):
    """One that means itself in a shell and in an address, where the hub has any; and the address by which the page was reached."""
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), tmp_path / name)
    with serving(str(tmp_path)) as hub:
        body = hub.get("/~guide/start", {"Accept": "text/html", "Host": "data.lab.example:81"}).body.decode()
    assert f"curl -s &#39;http://data.lab.example:81/api/v1/datasets/{shown}/episodes" in body.replace("'", "&#39;")
    assert "hub:8080" not in body and ("door-human-v0" in body) == (shown == "door-human-v0")
