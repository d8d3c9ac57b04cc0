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
    assert services["hub"]["healthcheck"]["test"][:2] == ["CMD", "curl"] and "mirror add" in services["rule"]["command"][0]


def test_docker_takes_it():
    try:
        known = subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        known = False
    if not known:
        pytest.skip("NO DOCKER COMPOSE: compose.yaml was read, but docker has not seen it")
    subprocess.run(["docker", "compose", "-f", PATH, "config", "--quiet"], check=True)
