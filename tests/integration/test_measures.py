"""What is measured of datasets against numpy over the rows that the hub itself hands out."""
import io
import json
import time
from urllib.parse import quote, urlencode

import numpy as np
import pytest

from hub import FIXTURES, serving


def measured(hub, id, timeout=60):
    """The statistics of a dataset when all of it is measured."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        answer = hub.get(f"/api/v1/datasets/{quote(id)}/~statistics")
        assert answer.status == 200, answer.body
        if answer.json()["coverage"]["complete"]:
            return answer.json()
        assert answer.headers["Cache-Control"] == "no-store"
        time.sleep(0.05)
    raise AssertionError(answer.body)


@pytest.fixture(scope="module")
def hub():
    with serving(*(f"{name}={FIXTURES}/{path}" for name, path in
                   {"minari": "minari/root-0.5.3", "robomimic": "robomimic", "lerobot": "lerobot", "d4rl": "d4rl"}.items())) as hub:
        hub.wait_indexed()
        yield hub


def columns(hub, id, names):
    answer = hub.get(f"/api/v1/datasets/{quote(id)}/episodes?" + urlencode({"columns": ",".join(names)}))
    assert answer.status == 200, answer.body
    return answer.json()["columns"]


def test_returns_and_steps(hub):
    for dataset in hub.datasets("&status=ready"):
        table = measured(hub, dataset["id"])
        rows = hub.episodes(dataset["id"]) if dataset["episodes"] else []
        assert table["episodes"] == len(rows) and table["coverage"]["rows"] == sum(e["steps"] for e in rows)
        for name in "return", "steps":
            got = table["fields"][name]
            values = np.array(columns(hub, dataset["id"], [name])[name], float)
            values = values[~np.isnan(values)]
            assert got["count"] == len(values)
            if len(values):
                assert (got["min"], got["max"]) == (values.min(), values.max())
                np.testing.assert_allclose([got["mean"], got["std"]], [values.mean(), values.std()], rtol=1e-13, atol=1e-13)
                for q, value in got["quantiles"].items():
                    assert value == pytest.approx(np.quantile(values, float(q)), rel=1e-15)
                assert sum(got["histogram"]["counts"]) == len(values)
