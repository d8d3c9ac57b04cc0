"""What the stored values are, as h5py, pyarrow, numpy and pickle read them: the independent side of the oracle.

stored_episodes(folder, document) yields (episode number, {field path: value}); a value is a numpy array, a list of str (text),
a list of bytes (bytes and stored images), or a Mismatch for what these readers cannot express either.
"""
import codecs
import glob
import gzip
import io
import json
import os
import pickle
import re
import tarfile
import zipfile

import h5py
import hdf5plugin  # noqa: F401  its filters, for h5py
import numpy as np


codecs.register_error("each", lambda e: ("\ufffd", e.start + 1))  # U+FFFD for each byte that is not UTF-8


def stored_episodes(folder, document):
    readers = {"minari-hdf5": minari, "minari-arrow": minari_columns, "minari-parquet": minari_columns, "datasets": saved_datasets, "lerobot": lerobot, "webdataset": webdataset, "robomimic": robomimic, "d4rl": d4rl, "aloha": aloha,
               "molmospaces": molmospaces, "maniskill": maniskill,
               "il-native": il_native, "imitation": imitation, "generic": generic}
    reader = readers[document["format"]]
    yield from reader(folder, document)


# ---- Minari: HDF5 ----


def h5_value(dataset):
    """The value of one HDF5 dataset, or None where h5py cannot read it."""
    try:
        kind = h5py.check_string_dtype(dataset.dtype)
        if kind is not None:
            raw = dataset[()]
            if np.ndim(raw) > 1:
                return None
            if np.ndim(raw) == 0:  # one text
                return (raw if isinstance(raw, bytes) else raw.encode()).rstrip(b"" if kind.length is None else b"\0").decode("utf-8", "each")
            if kind.length is None:
                return [(x if isinstance(x, bytes) else x.encode()).decode("utf-8", "each") for x in np.atleast_1d(raw)]
            return [bytes(x).rstrip(b"\0").decode("utf-8", "each") for x in np.atleast_1d(raw)]
        vlen = h5py.check_vlen_dtype(dataset.dtype)
        if vlen is not None:
            rows = [np.frombuffer(x.tobytes(), vlen) for x in dataset[()].ravel()]  # h5py forgets their byte order
            return [x.tobytes() for x in rows] if vlen.kind in "iu" and vlen.itemsize == 1 else rows
        return dataset[()]
    except (OSError, RuntimeError, TypeError, ValueError):
        return None


class Member:
    """A member of a compound, which is a field of its own; reads like a dataset."""

    def __init__(self, dataset, dtype, names):
        self.dataset, self.dtype, self.names = dataset, dtype, names

    def __getitem__(self, key):
        rows = self.dataset[key]
        for name in self.names:
            rows = rows[name]
        return rows


def leaves(path, dataset, dtype, names=()):
    if dtype.names is None:
        yield path, Member(dataset, dtype.base, names) if names else dataset
    for name in dtype.names or ():
        yield from leaves(f"{path}/{name}", dataset, dtype[name], (*names, name))


def minari(folder, document):
    with h5py.File(os.path.join(folder, "data", "main_data.hdf5"), "r") as f:
        names = sorted((n for n in f if re.fullmatch(r"episode_\d+", n)), key=lambda n: int(n[8:]))
        for name in names:
            try:
                group = f[name]
            except KeyError:  # a link whose file is gone
                continue
            if not isinstance(group, h5py.Group):
                continue
            values = {}

            def visit(path, item):
                if isinstance(item, h5py.Dataset):
                    for leaf, data in leaves(path, item, item.dtype):
                        values[leaf] = h5_value(data)

            group.visititems(visit)
            yield int(name[8:]), values


# ---- Minari: Arrow and Parquet ----


def space_shape(space, path):
    """Of the space below `path`, as its JSON states it, or None."""
    for key in path:
        below = space.get("subspaces", {})
        space = below[int(key)] if isinstance(below, list) else below.get(key, {})
    kind = space.get("type")
    shape = {"Box": space.get("shape"), "MultiBinary": np.atleast_1d(space.get("n", 0)).tolist(), "MultiDiscrete": np.shape(space.get("nvec", 0))}.get(kind)
    return None if shape is None else tuple(shape)


def minari_columns(folder, document):
    import pyarrow as pa

    data = os.path.join(folder, "data")
    metadata = json.load(open(os.path.join(data, "metadata.json")))
    spaces = {"observations": json.loads(metadata["observation_space"]), "actions": json.loads(metadata["action_space"])}
    for name in sorted((n for n in os.listdir(data) if n.isdigit()), key=int):
        try:
            table = table_of(os.path.join(data, name, "part-0." + metadata["data_format"]))
        except (OSError, pa.ArrowException):
            continue  # damaged: what the hub says of it is another test's
        steps = max(table.num_rows - 1, 0)
        values = {}
        for column in table.schema:
            array = table.column(column.name)
            padded = column.name in ("actions", "rewards", "terminations", "truncations")
            array = array.slice(0, steps) if padded else array
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
            for path, value, field in arrow_leaves(column.name, array, column):
                shape = (field.metadata or {}).get(b"shape")
                shape = space_shape(spaces[column.name], path.split("/")[1:]) if column.name in spaces else shape and tuple(int(n) for n in shape.split(b",") if n)
                value = column_value(value)
                if isinstance(value, np.ndarray) and value.ndim == 2 and shape is not None and int(np.prod(shape)) == value.shape[1]:
                    value = value.reshape(len(value), *shape)
                values[spelled(spaces.get(column.name, {}), path)] = value
        yield int(name), values


def spelled(space, path):
    """Items of a Tuple are called as in HDF5."""
    out = path.split("/")[:1]
    for key in path.split("/")[1:]:
        below = space.get("subspaces", {})
        out.append(f"_index_{key}" if isinstance(below, list) else key)
        space = below[int(key)] if isinstance(below, list) else below.get(key, {})
    return "/".join(out)


def column_value(array):
    """A column as numpy has it; nulls are masked, NaN or 0 below; bytes and texts that are null are None."""
    import pyarrow as pa

    leaf, depth = array.type, 0
    while pa.types.is_list(leaf) or pa.types.is_large_list(leaf) or pa.types.is_fixed_size_list(leaf):
        leaf, depth = leaf.value_type, depth + 1
    if pa.types.is_temporal(leaf):
        array = array.view(pa.int32() if leaf.bit_width == 32 else pa.int64())
        leaf = array.type
    rows = array.to_pylist()
    if depth and not (pa.types.is_primitive(leaf) or pa.types.is_boolean(leaf)):
        try:
            return [row if row is None else json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
        except TypeError:
            return None  # bytes, say
    if depth == 0 and not (pa.types.is_primitive(leaf) or pa.types.is_boolean(leaf)):
        return rows if pa.types.is_string(leaf) or pa.types.is_large_string(leaf) or pa.types.is_binary(leaf) or pa.types.is_large_binary(leaf) or pa.types.is_fixed_size_binary(leaf) else None
    try:
        dtype = np.dtype(leaf.to_pandas_dtype())
    except NotImplementedError:
        return None
    if depth == 1 and len({len(r) for r in rows if r is not None}) > 1:
        return None if any(r is None for r in rows) else [np.array(r, dtype) for r in rows]
    dims = [array.type.list_size] if depth == 1 and pa.types.is_fixed_size_list(array.type) else []

    def fill(x, level, value):
        if x is None and level:
            return [fill(None, level - 1, value)] * dims[len(dims) - level]
        return [fill(y, level - 1, value) for y in x] if level else (value if x is None else x if not isinstance(value, bool) else False)

    nan = np.nan if dtype.kind == "f" else 0
    try:
        values = np.array([fill(r, depth, nan) for r in rows], dtype).reshape(-1 if rows else 0, *dims) if dims else np.array([fill(r, depth, nan) for r in rows], dtype)
        mask = np.array([fill(r, depth, True) for r in rows], bool).reshape(values.shape)
    except (ValueError, TypeError, IndexError):
        return None
    return np.ma.masked_array(values, mask) if mask.any() else values


def arrow_leaves(path, array, field):
    """The leaves of structs; a null struct has null members."""
    import pyarrow as pa

    if not pa.types.is_struct(field.type):
        yield path, array, field
        return
    for i, below in enumerate(field.type):
        yield from arrow_leaves(f"{path}/{below.name}", array.flatten()[i], below)


# ---- datasets.save_to_disk: Arrow ----


def saved_datasets(folder, document):
    """A row is a trajectory, or a step; several splits are numbered through."""
    import pyarrow as pa

    dict_path = os.path.join(folder, "dataset_dict.json")
    splits = json.load(open(dict_path))["splits"] if os.path.exists(dict_path) else [""]
    number = 0
    for split in splits:
        state = json.load(open(os.path.join(folder, split, "state.json")))
        tables = []
        for file in state["_data_files"]:
            try:
                tables.append(pa.ipc.open_stream(os.path.join(folder, split, file["filename"])).read_all())
            except (OSError, pa.ArrowException):
                continue  # damaged: what the hub says of it is another test's
        table = pa.concat_tables(tables)
        if {"terminal", "dones"} & set(table.column_names):
            rows = [[(name, list_items(table, name, i)) for name in table.column_names] for i in range(table.num_rows)]
        else:
            ids = table.column("episode_index").to_pylist() if "episode_index" in table.column_names else [0] * table.num_rows
            cuts = [i for i in range(len(ids)) if i == 0 or ids[i] != ids[i - 1]] + [len(ids)]
            rows = [[(name, pa.concat_arrays(table.column(name).slice(a, b - a).chunks)) for name in table.column_names] for a, b in zip(cuts, cuts[1:])]
        for episode in rows:
            values = {}
            for name, array in episode:
                array = array.storage if isinstance(array, pa.ExtensionArray) else array
                values[name] = [row["bytes"] for row in array.to_pylist()] if pa.types.is_struct(array.type) else column_value(array)
            yield number, values
            number += 1


def list_items(table, name, row):
    import pyarrow as pa

    column = table.column(name)
    return column[row].values if pa.types.is_list(column.type) else pa.concat_arrays(column.slice(row, 1).chunks)


# ---- robomimic: HDF5 ----


def robomimic(folder, document):
    """`folder`: the file without its ending. A demo whose num_samples is less than its actions is cut to it."""
    with h5py.File(glob.glob(folder + ".h*5")[0], "r") as f:
        for name in sorted((n for n in f["data"] if n.startswith("demo_")), key=lambda n: int(n[5:])):
            group, values = f["data"][name], {}
            rows = len(group["actions"])
            steps = min(rows, group.attrs.get("num_samples", rows))

            def visit(path, item):
                if isinstance(item, h5py.Dataset):
                    values[path] = item[:steps] if len(item) == rows else item[()]

            group.visititems(visit)
            if "model_file" in group.attrs:
                values["model_file"] = [group.attrs["model_file"]]
            yield int(name[5:]), values


# ---- any HDF5 file, .npy, .npz, Parquet, Arrow ----


def table_of(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.endswith(".parquet"):
        return pq.ParquetFile(path).read()
    raw = open(path, "rb").read()
    return (pa.ipc.open_file if raw.startswith(b"ARROW1") else pa.ipc.open_stream)(raw).read_all()


def imitation(folder, document):
    """As imitation's own reader splits them; infos are dictionaries. Of a table that was pushed a row is a trajectory."""
    if os.path.isdir(folder):
        tables = [table_of(path) for path in sorted(glob.glob(os.path.join(folder, "data", "*.parquet")))]
        rows = [(table, i) for table in tables for i in range(table.num_rows)]
        yield from ((n, {name: column_value(list_items(table, name, i)) for name in table.column_names}) for n, (table, i) in enumerate(rows))
        return
    data = np.load(folder + ".npz", allow_pickle=True)
    starts = [0, *(int(i) for i in data["indices"]), len(data["acts"])]
    for i, (first, end) in enumerate(zip(starts, starts[1:])):
        rows = {"obs": data["obs"][first + i : end + i + 1], "acts": data["acts"][first:end], "terminal": data["terminal"][i : i + 1]}
        rows.update({f"infos/{key}": np.array([info[key] for info in data["infos"][first:end]]) for key in data["infos"][first]})
        if "rews" in data:
            rows["rews"] = data["rews"][first:end]
        yield i, rows


def generic(folder, document):
    """`folder`: the file without its ending. Arrays of objects and structs of numpy are refused; tables of texts are not compared."""
    import pyarrow as pa

    (path,) = glob.glob(glob.escape(folder) + ".*")
    values = {}
    if path.endswith((".npy", ".npz")):
        loaded = np.load(path, allow_pickle=True)
        arrays = {"array": loaded} if path.endswith(".npy") else {n: loaded[n] for n in loaded.files if isinstance(loaded[n], np.ndarray)}
        for name, array in arrays.items():
            if array.dtype.kind == "S":  # fixed length: as they are stored, with the NULs behind them
                values[name] = [bytes(array[i : i + 1].tobytes()) for i in range(len(array))]
            else:
                array = array.view(np.int64) if array.dtype.kind in "Mm" else array
                values[name] = None if array.dtype.kind in "OV" or (array.dtype.kind == "U" and array.ndim > 1) else array.tolist() if array.dtype.kind == "U" else array
    elif path.endswith((".parquet", ".arrow", ".feather")):
        table = table_of(path)
        for column in table.schema:
            array = table.column(column.name)
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
            values.update((leaf, column_value(value)) for leaf, value, _ in arrow_leaves(column.name, array, column))
    else:
        with h5py.File(path, "r") as f:

            def visit(name, item):
                if isinstance(item, h5py.Dataset):
                    for leaf, data in leaves(name, item, item.dtype):
                        values[leaf] = h5_value(data)

            f.visititems(visit)
    yield 0, values


# ---- D4RL: HDF5, flat ----


def d4rl(folder, document):
    """`folder`: the file without its ending. Rows are cut behind each end; what is not one value a row belongs to all."""
    with h5py.File(glob.glob(folder + ".h*5")[0], "r") as f:
        columns = {}
        f.visititems(lambda path, item: columns.update({path: h5_value(item)}) if isinstance(item, h5py.Dataset) else None)
        rows, ends = len(columns["actions"]), None
        for name in ("terminals", "timeouts"):
            if name in columns and len(columns[name]) == rows:
                flags = columns[name].reshape(rows).astype(bool)
                ends = flags if ends is None else ends | flags
        if "timeouts" not in columns and "next_observations" in columns:
            broken = (columns["observations"][1:] != columns["next_observations"][:-1]).any(axis=1)
            ends = ends | np.append(broken, False)
        starts = [0] + [int(i) + 1 for i in np.flatnonzero(ends) if i + 1 < rows] if rows else []
        for number, (start, stop) in enumerate(zip(starts, starts[1:] + [rows])):
            yield number, {k: v[start:stop] if np.ndim(v) and len(v) == rows and not k.startswith("metadata/") else v for k, v in columns.items()}


# ---- ALOHA, RoboTwin: an HDF5 file an episode ----


def aloha(folder, document):
    """Pictures that are stored as files end at their last byte that is not zero."""
    folder = os.path.dirname(folder) if not os.path.isdir(folder) else folder  # a series beside other datasets
    paths = glob.glob(os.path.join(folder, "episode*.h*5")) or glob.glob(os.path.join(folder, "data", "episode*.h*5"))
    for path in sorted(paths):
        values = {}
        try:
            with h5py.File(path, "r") as f:
                f.visititems(lambda name, item: values.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
        except OSError:  # cut short
            continue
        for name, value in values.items():
            if isinstance(value, bytes):
                values[name] = value.decode()
            elif value.dtype.kind == "S":
                values[name] = [bytes(x) for x in value]
            elif name.startswith("observations/images/") and value.ndim == 2:
                values[name] = [r.tobytes().rstrip(b"\0") for r in value]
        yield int(re.search(r"(\d+)\.h", path)[1]), values


# ---- MolmoSpaces and ManiSkill: HDF5 ----


def group_values(group):
    values = {}
    group.visititems(lambda path, item: values.update({path: h5_value(item)}) if isinstance(item, h5py.Dataset) else None)
    return values


def trajectories(path):
    with h5py.File(path, "r") as f:
        for name in sorted((n for n in f if n.startswith("traj_")), key=lambda n: int(n[5:])):
            yield int(name[5:]), group_values(f[name])


def json_values(row, path=""):
    """{path: array of numbers, or of another kind} of what is inside a row of JSON."""
    found = {}
    for key, value in (row.items() if isinstance(row, dict) else ()):
        whole = f"{path}/{key}" if path else key
        if any(part in ("", ".", "..") for part in key.split("/")) or value is None or isinstance(value, dict) and path.count("/") > 5:
            continue
        if isinstance(value, dict):
            found.update(json_values(value, whole))
            continue
        try:
            array = np.array(value)
            if array.dtype == object and all(x is None or isinstance(x, (int, float)) and not isinstance(x, bool) for x in array.ravel()):
                array = array.astype(np.float64)  # null, or beyond 64 bits
            array = array.astype(np.float64) if array.dtype == np.uint64 else array
        except ValueError:  # ragged
            array = np.array("ragged")
        found[whole] = array if array.dtype.kind in "bif" and array.size else np.array("none")
    return found


def json_column(rows, path):
    """One value of all rows of an episode: an array, or None where they are not of one shape."""
    values = [row.get(path) for row in rows]
    there = [v for v in values if v is not None]
    if len({v.shape for v in there}) > 1 or len({"n" if v.dtype.kind in "if" else v.dtype.kind for v in there}) > 1 or there[0].dtype.kind not in "bif":
        return None
    if len(there) < len(values) and there[0].dtype.kind == "b":
        return None
    empty = np.full(there[0].shape, np.nan)
    return np.stack([empty if v is None else v for v in values])


def json_fields(episodes):
    """Numbers inside rows of JSON of the episodes of a file, [{path: value}], are added: of one type in all of them, float32 up to 2^24."""
    columns = {}
    for values in episodes:
        for name, value in list(values.items()):
            if not (isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 2) or name.startswith("obs/sensor_data/"):
                continue
            rows = []
            for row in value:
                try:
                    rows.append(json_values(json.loads(row.tobytes().rstrip(b"\0") or b"null")))
                except ValueError:  # cut off
                    rows.append({})
            inner = rows[1:-1] if len(rows) > 2 else rows
            for path in {p for row in inner for p in row}:
                column = json_column(rows, path)
                columns.setdefault(f"{name}/{path}", []).append(column)
                if column is not None:
                    values[f"{name}/{path}"] = column
    for name, found in columns.items():
        found = [c for c in found if c is not None]
        kinds = {c.dtype.kind for c in found}
        if "f" not in kinds:
            continue
        largest = max((np.abs(c[np.isfinite(c)]).max(initial=0) for c in found), default=0)
        for values in episodes:
            if name in values:
                values[name] = values[name].astype(np.float64 if largest > 2**24 else np.float32)
    return episodes


def molmospaces(folder, document):
    """Files by split, house and batch; episodes are numbered through all of them. Bytes of one dimension are texts, or the scene."""
    numbers = lambda path: [int(n) for n in re.findall(r"(?:house|batch)_(\d+)", path)]
    paths = [os.path.relpath(p, folder) for p in glob.glob(os.path.join(glob.escape(folder), "**", "traj*.h5"), recursive=True)]
    number = 0
    for path in sorted(paths, key=lambda p: (p.split("house_")[0] if "house_" in p else "", numbers(p), p)):
        if not h5py.is_hdf5(os.path.join(folder, path)):
            continue
        for values in json_fields([v for _, v in trajectories(os.path.join(folder, path))]):
            for name, value in values.items():
                if isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 1:
                    values[name] = None if name == "obs_scene" else value.tobytes().rstrip(b"\0").decode()
            yield number, values
            number += 1


def maniskill(folder, document):
    """`folder`: the file without its ending."""
    yield from trajectories(folder + ".h5")


# ---- pickles of il-representations' benchmarks ----


class Unpickler(pickle.Unpickler):
    """numpy's own; every other class becomes one that keeps its arguments and attributes."""

    def find_class(self, module, name):
        if module.split(".")[0] in ("numpy", "collections", "_codecs", "builtins"):
            return super().find_class(module, name)
        return type(name, (), {"__new__": lambda cls, *a: Unpickler.made(cls, a), "__init__": lambda self, *a: None})

    @staticmethod
    def made(cls, arguments):
        made = object.__new__(cls)
        made.__dict__.update(zip(("acts", "obs", "infos"), arguments))
        return made


def il_native(folder, document):
    number = 0
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*")) or glob.glob(glob.escape(folder) + ".*")):
        if path.endswith(".npz"):
            data = zipfile.ZipFile(path).read("arr_0.npy")
            stream = io.BytesIO(data[data.index(b"\n") + 1 :])
        else:
            stream = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
        root = Unpickler(stream).load()
        for values in cut(root if isinstance(root, (list, np.ndarray)) else [root.get("trajectory", root)]):
            yield number, values
            number += 1


def cut(listed):
    """The episodes of demonstrations in the view that il-representations has of them."""
    for demo in listed:
        d = demo if isinstance(demo, dict) else demo.__dict__
        obs, acts = d.get("obs", d.get("states")), d.get("acts", d.get("actions"))
        obs = {f"/{k}": v for k, v in obs.items()} if isinstance(obs, dict) else {} if obs is None else {"": obs}
        steps = min(len(acts), max(len(next(iter(obs.values()))) - ("next_obs" not in d), 0)) if obs else len(acts)
        dones = d["dones"][:steps] if "dones" in d else np.array([i == steps - 1 for i in range(steps)], bool)
        first = 0
        for end in [i + 1 for i in range(min(steps - 1, len(dones))) if np.any(dones[i])] + [steps]:
            rows = {f"obs{k}": v[first:end] for k, v in obs.items()}
            rows.update({"next_obs": d["next_obs"][first:end]} if "next_obs" in d else {f"next_obs{k}": v[first + 1 : end + 1] for k, v in obs.items()})
            rows.update({k: v[first:end] for k, v in {"acts": acts, "dones": dones, "rews": d.get("rews"), "infos": d.get("infos")}.items()
                         if v is not None and len(v) >= steps})
            values = {}
            for name, items in rows.items():
                if len(items) == 0:
                    continue
                if isinstance(items, np.ndarray) and items.dtype.kind in "MUV":
                    values[name] = None
                elif isinstance(items[0], dict):
                    for key in items[0]:
                        values[f"{name}/{key}"] = np.stack([i[key] for i in items]) if all(key in i for i in items) else None
                else:
                    values[name] = np.stack([np.asarray(i) for i in items])
            yield values
            first = end


# ---- LeRobot: Parquet ----


def lerobot(folder, document):
    import pyarrow as pa
    import pyarrow.parquet as pq

    info = json.load(open(os.path.join(folder, "meta", "info.json")))
    for path in sorted(glob.glob(os.path.join(folder, "data", "**", "*.parquet"), recursive=True)):
        try:
            table = pq.ParquetFile(path).read()
        except (OSError, pa.ArrowException):
            continue  # damaged: what the hub says of it is another test's
        named = re.search(r"episode_(\d+)", os.path.basename(path))
        numbers = [] if named else table["episode_index"].to_pylist()
        for number in [int(named.group(1))] if named else sorted(set(numbers)):
            first = 0 if named else numbers.index(number)
            run = next((i for i in range(first, len(numbers)) if numbers[i] != number), len(numbers)) - first  # what comes again, is not shown
            rows = table if named else table.slice(first, run)
            yield number, {name: arrow_value(rows.column(name), info["features"].get(name, {})) for name in rows.column_names}


def arrow_value(column, feature):
    import pyarrow as pa

    t = column.type
    if pa.types.is_struct(t):  # image {bytes, path}
        return [row["bytes"] if row else b"" for row in column.to_pylist()]
    if pa.types.is_string(t) or pa.types.is_large_string(t):
        return column.to_pylist()  # None: a null
    if pa.types.is_binary(t):
        return [b"" if v is None else v for v in column.to_pylist()]
    leaf, depth = t, 0
    while pa.types.is_list(leaf) or pa.types.is_large_list(leaf) or pa.types.is_fixed_size_list(leaf):
        leaf, depth = leaf.value_type, depth + 1
    rows = column.to_pylist()
    try:
        dtype = leaf.to_pandas_dtype()
        floating = np.issubdtype(dtype, np.floating)

        def fill(x):
            return [fill(y) for y in x] if isinstance(x, list) else ((np.nan if floating else 0) if x is None else x)

        values = np.array([fill(r) for r in rows], dtype=dtype)
        if depth and not rows:
            values = values.reshape((0, *feature["shape"]))
        nulls = [r is None for r in rows]
        return values if floating or not any(nulls) else np.ma.masked_array(values, nulls)  # null in JSON, 0 elsewhere
    except (ValueError, TypeError, NotImplementedError):
        return None


# ---- webdataset: tar ----


def members(path):
    import pyarrow as pa

    packing = "gzip" if path.endswith("gz") else "zstd" if path.endswith(".zst") else None
    with pa.input_stream(path, compression=packing) as stream, tarfile.open(fileobj=io.BytesIO(stream.read())) as tar:
        for m in tar:
            if m.isreg():
                yield m.name, tar.extractfile(m).read()


def in_order(path):
    """Shards by their numbers, be they padded or not."""
    return [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", os.path.basename(path))]


def webdataset(folder, document):
    """A plain shard is one episode of samples, or a demonstration each; frames of il-representations are cut after each true `dones`,
    and where a shard does not go on counting."""
    number, run, last = 0, [], None
    for path in sorted((p for end in ("tar", "tar.gz", "tgz", "tar.zst") for p in glob.glob(os.path.join(folder, "*." + end))), key=in_order):
        samples, frames = [], False  # [(key, {field: value})]
        try:
            for name, data in members(path):
                frames = frames or name == "_metadata.meta.pickle" or bool(not samples and re.fullmatch(r"frame_\d+\..*\.pickle", name))
                key, _, field = name.partition(".") if "/" not in name else (name.rsplit("/", 1)[0] + "/" + name.rsplit("/", 1)[1].partition(".")[0], "", name.rsplit("/", 1)[1].partition(".")[2])
                if not field or name == "_metadata.meta.pickle":
                    continue
                if not samples or samples[-1][0] != key:
                    samples.append((key, {}))
                samples[-1][1][field.lower()] = data
        except tarfile.ReadError:
            pass
        for key, fields in samples if frames else []:
            at = int(key.split("_")[-1])
            if run and at != last + 1:
                yield number, columns(run, True)
                number, run = number + 1, []
            last = at
            run.append({k[:-7]: pickle.loads(v) for k, v in fields.items()})
            if bool(run[-1]["dones"]):
                yield number, columns(run, True)
                number, run = number + 1, []
        if frames:
            continue
        for values in demonstrations(samples) if samples and "demos" in folder else [columns([dict(unpacked(f)) for _, f in samples], False)]:
            yield number, values
            number += 1
    if run:
        yield number, columns(run, True)


def demonstrations(samples):
    """The episodes of each sample, what stands beside them as fields of one row; a sample without any is one."""
    demos = [[d for k, v in fields.items() for d in demonstration(k, v)] for _, fields in samples]
    names = {name for of in demos for d in of for name in d}
    for of, (_, fields) in zip(demos, samples):
        beside = {k: v for k, v in fields.items() if k not in ("npz", "pkl", "pickle", "pkl.gz") and k not in names}
        beside = columns([dict(unpacked(beside))], False)
        yield from [{**d, **beside} for d in of or [{}] if of or beside]


def demonstration(name, data):
    """The episodes of a member that holds demonstrations."""
    if name == "npz":
        arrays = {k: v for k, v in np.load(io.BytesIO(data), allow_pickle=True).items()}
        return cut(list(arrays.values())[0] if list(arrays) == ["arr_0"] else [arrays])
    if name not in ("pkl", "pickle", "pkl.gz") or data.startswith(b"cposix"):
        return []
    return cut([Unpickler(io.BytesIO(gzip.decompress(data) if name.endswith(".gz") else data)).load()])


def unpacked(fields):
    """The values of a sample of a plain shard, those of members that hold several by name."""
    for name, data in fields.items():
        kind = name.removesuffix(".gz").rsplit(".", 1)[-1]
        try:
            if kind == "npz":
                for key, value in np.load(io.BytesIO(data), allow_pickle=True).items():
                    raw = zipfile.ZipFile(io.BytesIO(data)).read(key + ".npy")
                    yield f"{name}/{key}", raw[raw.index(b"\n") + 1 :] if value.dtype == object else value
            elif kind in ("pkl", "pickle"):
                value = pickle.loads(gzip.decompress(data) if name.endswith(".gz") else data)
                yield from ((f"{name}/{k}", v) for k, v in value.items()) if isinstance(value, dict) else [(name, value)]
            elif kind == "npy" and b"'|O'" in data[:128]:
                value = np.load(io.BytesIO(data), allow_pickle=True)
                yield from ((f"{name}/{k}", v) for k, v in value.item().items()) if value.ndim == 0 else [(name, data[data.index(b"\n") + 1 :])]
            else:
                yield name, np.load(io.BytesIO(data)) if kind == "npy" else data
        except (OSError, ValueError, zipfile.BadZipFile, pickle.UnpicklingError):  # told, and kept as the bytes it is
            yield name, data


def columns(rows, frames):
    names = set().union(*rows)
    values = {}
    for name in names:
        items = [r.get(name) for r in rows]
        if any(i is None for i in items):
            values[name] = None
        elif frames and isinstance(items[0], dict):
            for key in items[0]:
                leaf = [i.get(key) for i in items]
                values[f"{name}/{key}"] = stack(leaf)
        elif frames:
            values[name] = stack(items)
        elif isinstance(items[0], (np.ndarray, np.generic, bool, int, float)):
            values[name] = np.stack([np.asarray(i) for i in items])
        else:
            values[name] = items  # bytes; text where the hub says so
    return values


def stack(items):
    try:
        if any(isinstance(i, (str, bytes, list, tuple)) or i is None for i in items):
            return [i for i in items] if all(isinstance(i, str) for i in items) else None
        return np.stack([np.asarray(i) for i in items])
    except ValueError:
        return None
