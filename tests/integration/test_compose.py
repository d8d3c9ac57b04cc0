"""docker/compose.yaml is what docker takes: by its shape, and by `docker compose config` where there is one."""
import os
import subprocess

import pytest

yaml = pytest.importorskip("yaml")
DOCKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docker")
PATH = os.path.join(DOCKER, "compose.yaml")


def test_its_shape():
    with open(PATH) as f:
        document = yaml.safe_load(f)
    services = document["services"]
    assert set(document) == {"services", "volumes"} and set(services) == {"hub", "rule"}
    for service in services.values():
        assert os.path.exists(os.path.join(DOCKER, service["build"]["context"], service["build"]["dockerfile"]))
        assert {v.split(":")[0] for v in service["volumes"]} <= set(document["volumes"])
        assert set(service.get("depends_on", {})) <= set(services)
    assert "profiles" not in services["hub"] and services["rule"]["profiles"] == ["mirror"]  # a trial copies nothing that nobody asked for
    assert services["rule"]["environment"]["MIRROR_PREFIX"] == "${MIRROR_PREFIX-D4RL/pen/human-v2}"
    assert services["hub"]["healthcheck"]["test"][:2] == ["CMD", "curl"] and "mirror add" in services["rule"]["command"][0]


@pytest.mark.parametrize("prefix, added", [("D4RL/pen/human-v2", ["--prefix", "D4RL/pen/human-v2"]), ("", [])])
def test_its_rule_is_of_one_prefix(tmp_path, prefix, added):
    """What the shell in the container makes of the command: docker has put one $ for two."""
    with open(PATH) as f:
        rule = yaml.safe_load(f)["services"]["rule"]
    program = tmp_path / "minari-hub"
    program.write_text('#!/bin/sh\n[ "$2" = show ] && exit 1\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "MIRROR": "hf://farama-minari", "MIRROR_PREFIX": prefix}
    said = subprocess.run([*rule["entrypoint"], rule["command"][0].replace("$$", "$")], env=env, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["mirror", "add", "hf://farama-minari", *added, "--yes", "--name", "lab", "--every", "6h"]


def test_docker_takes_it():
    try:
        known = subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        known = False
    if not known:
        pytest.skip("NO DOCKER COMPOSE: compose.yaml was read, but docker has not seen it")
    subprocess.run(["docker", "compose", "-f", PATH, "config", "--quiet"], check=True)
