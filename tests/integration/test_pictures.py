"""Rows of numbers that are pictures: which they are, what their documents say, and how each layout is drawn."""
import io
import os
import subprocess

import numpy as np
import pytest
from PIL import Image

from browser import browser
from hub import serving

T, H, W = 3, 36, 40


def counting(*shape):
    return (np.arange(np.prod((T, *shape))) % 251).astype(np.uint8).reshape(T, *shape)


DEPTH = (np.linspace(0.25, 4.5, T * 6 * 8).reshape(T, 6, 8, 1)).astype(np.float32)
# field -> rows, what its document says (layout, frames, channels), and a row as it is drawn, (H, W) or (H, W, C)
STORED = {
    "obs/grey": (counting(H, W), ("HW", 1, 1), lambda r: r),
    "obs/rgb": (counting(H, W, 3), ("HWC", 1, 3), lambda r: r),
    "obs/planes": (counting(3, H, W), ("CHW", 1, 3), lambda r: r.transpose(1, 2, 0)),
    "obs/frames": (counting(12, H, W), ("CHW", 4, 3), lambda r: np.hstack([r[i:i + 3].transpose(1, 2, 0) for i in range(0, 12, 3)])),
    "obs/greys": (counting(4, 84, 84), ("CHW", 4, 1), np.hstack),
    "obs/atari": (counting(84, 84, 4), ("HWC", 4, 1), lambda r: np.hstack(r.transpose(2, 0, 1))),
    "obs/clip": (counting(2, H, W, 3), ("NHWC", 2, 3), np.hstack),
    "obs/clip_planes": (counting(2, 3, H, W), ("NCHW", 2, 3), lambda r: np.hstack(r.transpose(0, 2, 3, 1))),
}
RANGED = {
    "obs/depth": (DEPTH, ("HWC", 1, 1)),
    "obs/depth_mm": ((DEPTH[..., 0] * 1000).astype(np.uint16), ("HW", 1, 1)),
    "obs/image_planes": (np.linspace(0.1, 0.8, T * 3 * H * W).reshape(T, 3, H, W).astype(np.float32), ("CHW", 1, 3)),
}
GRIDS = {  # numbers that can be drawn
    "obs/touch": np.linspace(-2, 3, T * 16 * 12).reshape(T, 16, 12).astype(np.float32),
    "heights": np.arange(T * 9 * 8, dtype=np.int32).reshape(T, 9, 8),
}
NUMBERS = {
    "obs/matrix": np.ones((T, 7, 8), np.float32),  # smaller than a grid
    "obs/world": counting(3, 7, 7),  # a grid of small integers
    "obs/features": np.ones((T, 3, H, W), np.float32),  # floats that nobody calls a picture
    "obs/joint": np.ones((T, 7), np.float32),
    "voxels": counting(8, H, W),  # planes, not observed
}


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("pictures")
    np.savez(root / "reel.npz", **{name: item[0] for name, item in (STORED | RANGED).items()}, **GRIDS, **NUMBERS)
    with serving(str(root)) as hub:
        yield hub


@pytest.fixture(scope="module")
def fields(hub):
    return {f["path"]: f for f in hub.dataset("reel")["fields"]}


def get(hub, path, query):
    return hub.get(f"/api/v1/datasets/reel/episodes/0/{path}?{query}")


def pixels(hub, path, query):
    a = get(hub, path, query)
    assert a.status == 200 and a.headers["Content-Type"] == "image/png", (path, a.status, a.body[:300])
    return np.asarray(Image.open(io.BytesIO(a.body))), a.headers["X-Range"]


@pytest.mark.parametrize("path", STORED | RANGED)
def test_a_field_says_how_it_is_drawn(fields, path):
    rows, (layout, frames, channels), *_ = (STORED | RANGED)[path]
    field = fields[path]
    assert field["type"] == "image", field
    picture = field["picture"]
    assert (picture["layout"], picture["frames"], picture["channels"]) == (layout, frames, channels)
    assert picture["height"] * picture["width"] * frames * channels == np.prod(rows.shape[1:])
    assert picture.get("range") == ("row" if path in RANGED else None)


@pytest.mark.parametrize("path", NUMBERS)
def test_what_is_no_picture_is_numbers(hub, fields, path):
    assert fields[path]["type"] == "number" and "picture" not in fields[path]
    assert get(hub, path, "row=0&format=png").status == 406


@pytest.mark.parametrize("path", STORED)
def test_each_layout_is_drawn(hub, path):
    rows, _, drawn = STORED[path]
    for row in (0, T - 1):
        for form in ("png", "image"):
            got, span = pixels(hub, path, f"row={row}&format={form}")
            assert span is None and np.array_equal(got, drawn(rows[row])), (path, row)


@pytest.mark.parametrize("path", STORED | RANGED)
def test_the_numbers_are_what_is_stored(hub, path):
    rows = (STORED | RANGED)[path][0]
    got = np.load(io.BytesIO(get(hub, path, "format=npy").body))
    assert got.dtype == rows.dtype and np.array_equal(got, rows)
    assert np.array_equal(np.array(get(hub, path, "row=1&format=json").json(), rows.dtype), rows[1])


def shades(row, low, high):
    return np.floor(np.clip((row.astype(float) - low) / (high - low), 0, 1) * 255 + 0.5).astype(np.uint8)


@pytest.mark.parametrize("path", ["obs/depth", "obs/depth_mm"])
def test_depth_is_grey_between_its_least_and_greatest(hub, path):
    row = RANGED[path][0][1].reshape(6, 8)
    got, span = pixels(hub, path, "row=1&format=png")
    low, high = map(float, span.split(","))
    assert (low, high) == (row.min(), row.max())
    assert np.array_equal(got, shades(row, low, high)) and got.min() == 0 and got.max() == 255


@pytest.mark.parametrize("path", GRIDS)
def test_a_grid_of_numbers_is_drawn_and_stays_numbers(hub, fields, path):
    row = GRIDS[path][1]
    assert fields[path]["type"] == "number" and fields[path]["picture"]["range"] == "row"
    got, span = pixels(hub, path, "row=1&format=image")
    assert tuple(map(float, span.split(","))) == (row.min(), row.max()) and np.array_equal(got, shades(row, row.min(), row.max()))
    assert np.array_equal(np.load(io.BytesIO(get(hub, path, "format=npy").body)), GRIDS[path])
    text = hub.get("/d/reel/episodes/0").body.decode()
    assert f'data-src="/api/v1/datasets/reel/episodes/0/{path}" data-rows="3" data-ranged="1"' in text and f'data-lane="{path}"' not in text


def test_a_range_may_be_given(hub):
    row = DEPTH[2].reshape(6, 8)
    got, span = pixels(hub, "obs/depth", "row=2&format=image&range=1,4")
    assert span == "1.0,4.0" and np.array_equal(got, shades(row, 1, 4))
    plain, given = (get(hub, "obs/depth", f"row=2&format=image{more}").headers["ETag"] for more in ("", "&range=1,4"))
    assert plain != given
    for wrong in ("4,1", "1", "1,", ",2", "1,2,3", "a,b", "nan,1", "0,inf"):
        assert get(hub, "obs/depth", f"row=2&format=image&range={wrong}").status == 400, wrong
    assert get(hub, "obs/depth", "row=2&format=npy&range=1,4").status == 400
    assert pixels(hub, "obs/rgb", "row=0&format=png&range=1,4")[1] is None  # bytes need none


def test_colours_of_floats_keep_their_range(hub):
    got, span = pixels(hub, "obs/image_planes", "row=0&format=png")
    assert span == "0.0,1.0"
    assert np.array_equal(got, shades(RANGED["obs/image_planes"][0][0], 0, 1).transpose(1, 2, 0))


def test_depth_is_measured_like_all_numbers(hub):
    a = hub.get("/api/v1/datasets/reel/episodes/0/obs/depth?buckets=16")
    assert a.status == 200, a.body[:300]


def test_the_page_shows_each(hub):
    text = hub.get("/d/reel/episodes/0").body.decode()
    begin = 'data-src="/api/v1/datasets/reel/episodes/0/{}" data-rows'.format
    for path, (_, (layout, frames, _), *_) in (STORED | RANGED).items():
        at = text.index(begin(path))
        figure = text[at:text.index("</figcaption>", at)]
        assert f", {layout}" + (f": {frames} frames side by side" if frames > 1 else "") in figure, path
        assert f'data-ranged="{int(path in RANGED)}"' in figure, path
    assert not [path for path in NUMBERS if begin(path) in text]


def test_they_follow_the_clock_in_a_browser(hub):
    if not browser():
        return
    script = os.path.join(os.path.dirname(__file__), "../web/pictures.js")
    done = subprocess.run(["node", script, hub.base, "reel", "obs/depth", "obs/frames", "obs/atari"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
