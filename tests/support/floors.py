"""The tree is built as storage/README.md says: floors.py [BUILD]

Holds includes and links against the table of storage/README.md: a file includes, and a library links, only what its
folder stands on. With BUILD, a build directory, the same of every symbol that a library of ours takes from another, so
that nothing is declared below and defined above; and no function may be defined twice, of which the linker would take
one and say nothing. Within a folder files form no circle, by includes and by symbols, but through a header that declares
a struct they share. No function takes more than 7 parameters: more of them are a struct. No struct, union or enum of the
product has the name of another one, those of one file included. The table has a row for each library, and the picture below it a place for each row. Each
folder with code has a README. One folder alone includes each outside library, but for those that are named here.
Where code stands that is of no format, no text is the name of one, but for those that are named here with a reason.
Each route has an example; each row of parameters is in a list of a route, with help, an example and a handler that reads it.
Ends with 1 and a line for each that is wrong.
"""
import os
import pathlib
import re
import subprocess
import sys

import routes

top = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("storage", "server", "client", "web")  # the product's code
wrong = []


def table():
    """Folder -> all it stands on, itself included, in the order of the table."""
    rows = re.findall(r"^\| `([\w/]+)` \|((?: `[\w/]+`)*) \|", (top / "storage/README.md").read_text(), re.M)
    reach = {}
    for folder, on in reversed(rows):
        reach[folder] = {folder}
        for below in re.findall(r"`(.+?)`", on):
            if below in reach:
                reach[folder] |= reach[below]
            else:
                wrong.append(f"storage/README.md: {folder} stands on {below}, which is no row beneath it")
        if not (top / folder).is_dir():
            wrong.append(f"storage/README.md: there is no folder {folder}")
    return reach


reach = table()


def check_picture():
    """The picture has every row of the table once, below all rows that stand on it."""
    picture = re.search(r"^```\n(.*?)^```", (top / "storage/README.md").read_text(), re.M | re.S)[1]
    line = {}
    for number, text in enumerate(picture.splitlines()):
        for folder, words in re.findall(r"(?<![\w-])((?:storage|server|client)(?:/\w+)*)(?:/\{([\w,]+)\})?", text):
            for name in [f"{folder}/{word}" for word in words.split(",")] if words else [folder]:
                if name in line:
                    wrong.append(f"storage/README.md: the picture has {name} twice")
                line[name] = number
    for name in line.keys() - reach.keys():
        wrong.append(f"storage/README.md: the picture has {name}, which is no row of the table")
    for name in reach.keys() - line.keys():
        wrong.append(f"storage/README.md: the picture lacks {name}")
    for name in reach.keys() & line.keys():
        for below in (reach[name] - {name}) & line.keys():
            if line[below] <= line[name]:
                wrong.append(f"storage/README.md: the picture has {name} not above {below}, on which it stands")


def row_of(path):
    """The row that a path belongs to, or None."""
    for folder in (path, *path.parents):
        if str(folder) in reach:
            return str(folder)
    return None


def arrow(where, start, end):
    if end not in reach[start]:
        wrong.append(f"{where}: {start} does not stand on {end}")


def check_includes():
    """Includes by table; and no circle between folders, those below a row included."""
    folders = {}
    for part in ("storage", "server", "client"):
        for path in sorted((top / part).rglob("*.[ch]")):
            path = path.relative_to(top)
            if path.parts[1] == "example":
                continue
            if not row_of(path):
                wrong.append(f"{path}: its folder is no row of storage/README.md")
                continue
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', (top / path).read_text(), re.M):
                if row_of(pathlib.Path(name)):
                    arrow(path, row_of(path), row_of(pathlib.Path(name)))
                    folders.setdefault(path.parent, set()).add(pathlib.Path(name).parent)
    for folder in folders:
        seen, todo = set(), [f for f in folders[folder] if f != folder]
        while todo:
            if (at := todo.pop()) not in seen:
                seen.add(at)
                todo += folders.get(at, ())
        if folder in seen:
            wrong.append(f"{folder}: includes lead from it back to it")


def libraries():
    """Target -> (its row, what it links, where that is said, where it is built), of every hub_library."""
    found = {}
    for path in sorted(top.glob("*/**/CMakeLists.txt")):
        if path.relative_to(top).parts[0] not in ("storage", "server", "client"):
            continue
        for body in re.findall(r"^hub_library\(([^)]*)\)", re.sub(r"#.*", "", path.read_text()), re.M):
            words = body.split()
            first, last = words.index("SOURCES") + 1, words.index("LIBS")
            rows = {row_of((path.parent / s).relative_to(top)) for s in words[first:last] if s.endswith(".c") and s[0] != "$"}
            home = os.path.commonpath([(path.parent / s).parent for s in words[first:last] if s[0] != "$"])
            if os.path.relpath(home, top) not in reach:
                wrong.append(f"{path.relative_to(top)}: the folder of {words[0]} is no row of storage/README.md")
                continue
            if len(rows) != 1:
                wrong.append(f"{path.relative_to(top)}: {words[0]} is of several rows: {rows}")
            found[words[0]] = (rows.pop(), words[last + 1 :], path.relative_to(top))
    return found


def check_links(targets):
    for row, links, where in targets.values():
        for link in links:
            if link in targets:
                arrow(f"{where}: {link}", row, targets[link][0])


def symbols(targets, build):
    """(target, source, kind, symbol) of every object of our libraries."""
    objects = {}
    for target, (_, _, where) in targets.items():
        folder = build / where.parent / f"CMakeFiles/{target}.dir"
        found = {path: where.parent / path.relative_to(folder).with_suffix("") for path in folder.rglob("*.o")}
        found = {path: source for path, source in found.items() if (top / source).exists() or (build / source).exists()}
        if not found:
            wrong.append(f"{folder}: not built")
        objects.update({str(path): (target, source) for path, source in found.items()})
    for line in subprocess.check_output(["nm", "-gA", *objects], text=True).splitlines():
        path, said = line.split(":", 1)
        yield *objects[path], *said.split()[-2:]


def check_symbols(targets, taken):
    defined, wanted, functions = {}, [], {}
    for target, _, kind, symbol in taken:
        row = targets[target][0]
        if kind == "U":
            wanted.append((target, row, symbol))
        else:
            defined.setdefault(symbol, set()).add(row)
        if kind == "T":
            functions.setdefault(symbol, []).append(target)
    for target, row, symbol in wanted:
        if symbol in defined and not defined[symbol] & reach[row]:
            wrong.append(f"{target} takes {symbol} from {min(defined[symbol])}, which {row} does not stand on")
    for symbol, where in functions.items():
        if len(where) > 1:
            wrong.append(f"{symbol} is defined in {' and in '.join(where)}")


# Headers that declare a struct whose functions are in several files of their folder. Files may stand in a circle
# through these.
SHARED_HEADERS = {
    "client/cli": ["cli.h"],
    "server/api/episodes": ["episode_selection.h"],
    "server/api/rows": ["buckets.h", "windows.h"],
    "server/api/tables": ["value_table.h"],
    "server/http": ["exchange.h"],
    "server/mirror": ["mirror.h", "pulls.h", "work.h"],
    "server/page": ["compare.h", "frame.h"],
    "storage/access": ["table.h"],
    "storage/catalog": ["internal.h", "publish.h"],
    "storage/deposits": ["deposit.h"],
    "storage/discover": ["discover_state.h"],
    "storage/encode": ["encode.h", "representation.h"],
    "storage/formats/d4rl": ["d4rl.h"],
    "storage/formats/datasets": ["datasets.h"],
    "storage/formats/generic": ["generic.h"],
    "storage/formats/hdf5": ["h5_parse.h"],
    "storage/formats/il": ["il.h"],
    "storage/formats/imitation": ["imitation.h"],
    "storage/formats/kit": ["json_leaf.h"],
    "storage/formats/lerobot": ["lerobot.h"],
    "storage/formats/minari": ["minari.h"],
    "storage/formats/molmospaces": ["molmospaces.h"],
    "storage/formats/mp4": ["boxes.h"],
    "storage/formats/parquet": ["footer.h"],
    "storage/formats/pickle": ["pickle.h"],
    "storage/formats/webdataset": ["webdataset.h"],
    "storage/measurer": ["measure_state.h"],
    "storage/model": ["layout_table.h"],
    "storage/program": ["cli.h"],
    "storage/read": ["gather.h", "read.h"],
    "storage/net": ["attempt.h"],
    "storage/remote": ["remote.h"],
    "storage/rows": ["row_reader.h"],
    "storage/scan": ["state.h"],
    "storage/transfer": ["import.h", "pieces.h", "transfer.h"],
    "storage/truth": ["hubdb.h"],
    "storage/worker": ["child_state.h", "format.h", "sink_state.h"],
}
# Circles that there are all the same: folder -> how many files they may have at most, and why there is one.
CIRCLES = {
    "server/commands": (3, "mirror_command asks the running hub, and admin prints its answer in the words of mirror_command"),
    "server/mirror": (4, "a pull makes room in the cache, the cache has outdated copies pulled"),
    "storage/io": (2, "a file is given back to its source, a fetch of the source holds its files"),
    "storage/discover": (2, "discover walks declined claims again"),
    "storage/measurer": (2, "the turn of measuring has the options of the measurer"),
}


def links_within(folder, shared, taken):
    """File -> files of a folder that it takes something from; a header is one with the .c of its name."""
    free = set()
    for name in shared:
        free |= set(re.findall(r"\w+", (top / folder / name).read_text()))
    links = {}
    for path in sorted((top / folder).glob("*.[ch]")):
        if path.name not in shared:
            links.setdefault(path.stem, set())
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
                if os.path.dirname(name) == folder and os.path.basename(name) not in shared:
                    links[path.stem].add(pathlib.Path(name).stem)
    home = {symbol: source.stem for source, kind, symbol in taken if kind != "U"}
    for source, kind, symbol in taken:
        if kind == "U" and symbol in home and symbol not in free and source.stem in links:
            links[source.stem].add(home[symbol])
    return links


def circled(links):
    """The files from which links lead back to them."""
    found = set()
    for start in links:
        seen, todo = set(), list(links[start] - {start})
        while todo:
            if (at := todo.pop()) not in seen:
                seen.add(at)
                todo += links.get(at, set()) - {at}
        if start in seen:
            found.add(start)
    return found


def check_circles(taken):
    by_folder = {}
    for _, source, kind, symbol in taken:
        by_folder.setdefault(str(source.parent), []).append((source, kind, symbol))
    for folder in sorted(by_folder.keys() | SHARED_HEADERS.keys() | CIRCLES.keys()):
        shared, within = SHARED_HEADERS.get(folder, []), by_folder.get(folder, [])
        missing = [name for name in shared if not (top / folder / name).exists()]
        if missing:
            wrong.append(f"floors.py: {folder} has no {' and no '.join(missing)}")
            continue
        files = circled(links_within(folder, shared, within))
        most = CIRCLES.get(folder, (0, ""))[0]
        if len(files) > most:
            wrong.append(f"{folder}: files form a circle: {' '.join(sorted(files))}" + (f"; {most} may" if most else ""))
        elif len(files) < most:
            wrong.append(f"floors.py: only {len(files)} files of {folder} form circles now, not {most}")
        for name in shared:
            if circled(links_within(folder, [s for s in shared if s != name], within)) == files:
                wrong.append(f"floors.py: no circle of {folder} is through {name} any more")


MANY_PARAMETERS = {
    "hub_mhd_on_request": "libmicrohttpd's MHD_AccessHandlerCallback",
    "minari_fields_get": "public: some fields of an episode in one call",
    "minari_media_get": "public: frames of a camera in one call",
    "minari_rows_get": "public: a slice in one call, as it was announced",
    "minari_rows_read": "public: the same into the caller's memory",
}


def blank(match):
    """A comment, a text or a directive as as many characters that mean nothing."""
    return re.sub(r"[^\n]", "_" if match[0][0] in "\"'" else " ", match[0])


def parameters(text):
    """(name, parameters, line) of every declared function of `text`."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)
    text = re.sub(r"(?m)^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", blank, text)
    for match in re.finditer(r"^(?:[a-zA-Z]\w*[ *\n]+)+\**(\w+)\(([^;{}]*?)\)\s*[;{]", text, re.M):
        inner, deeper = match[2], None
        while inner != deeper: # parameters of parameters that are functions
            inner, deeper = re.sub(r"\([^()]*\)", " ", inner), inner
        yield match[1], inner.replace(", ...", "").count(",") + 1, text.count("\n", 0, match.start()) + 1


def check_parameters():
    seen = set()
    for part in ("storage", "server", "client"):
        for path in sorted((top / part).rglob("*.[ch]")):
            for name, count, line in parameters(path.read_text()):
                if count > 7:
                    seen.add(name)
                    if name not in MANY_PARAMETERS:
                        wrong.append(f"{path.relative_to(top)}:{line}: {name} takes {count} parameters, not a struct")
    for name in MANY_PARAMETERS.keys() - seen:
        wrong.append(f"floors.py: {name} no longer takes more than 7 parameters")


def check_routes():
    """A parameter is read where its name stands as a text of its own."""
    for route in routes.routes():
        if not route.example:
            wrong.append(f"server/service/routes.c: {route.method} {route.pattern} has no .example")
    taken = {row for route in routes.routes() for row in route.takes}
    readers = [*(path for room in ("api", "page", "facade") for path in (top / "server" / room).rglob("*.c")), *(top / "web/assets").glob("*.js")]
    code = "".join(path.read_text() for path in readers)
    for row, kind, name, example, help_, in_path in routes.parameters():
        where = f"server/service/parameters.h: {row}"
        if row not in taken:
            wrong.append(f"{where} is a parameter of no route")
        if kind != "OTHERS" and f'"{name}"' not in code:
            wrong.append(f"{where}: nothing reads {name}")
        if help_ and not (example and (in_path or re.search(rf"(?:^|&){name}(?:=|&|$)", example))):
            wrong.append(f"{where} has no example of {name}=")


WITHOUT_README = {
    "client/include/minari": "the installed headers: client/README.md says what they are, and each what is in it",
}


def check_readmes():
    folders = {path.parent.relative_to(top) for part in PARTS for path in (top / part).rglob("*.[ch]")}
    lacking = {str(folder) for folder in folders if not (top / folder / "README.md").exists()}
    for folder in sorted(lacking - WITHOUT_README.keys()):
        wrong.append(f"{folder}: there is no README.md")
    for folder in WITHOUT_README.keys() - lacking:
        wrong.append(f"floors.py: {folder} needs no exception any more: it has a README.md, or no code")


# Headers of the C library and of Linux.
SYSTEM = re.compile(
    r"(sys|linux|netinet|arpa)/\w+\.h|std(arg|atomic|bool|def|int|io|lib)\.h|[enpsw]mmintrin\.h|immintrin\.h|"
    r"(assert|ctype|dirent|errno|fcntl|fnmatch|grp|inttypes|libgen|limits|locale|malloc|math|netdb|poll|pthread|pwd|"
    r"sched|semaphore|signal|spawn|string|strings|termios|time|unistd|wchar)\.h"
)
# What a folder alone includes, whichever it is.
ALONE = {
    "blosc.h", "curl/curl.h", "hdf5.h", "ini.h", "liblzf/lzf.h", "lz4.h", "lz4frame.h", "md4c.h", "microhttpd.h",
    "seccomp.h", "snappy-c.h", "sqlite3.h", "unicase.h",
}  # fmt: skip
# What several folders include: folder -> why.
SHARED = {
    "jansson.h": {
        "storage/text": "json.h, through which all others see JSON values",
        "server": "the version at run time",
    },
    "libdeflate.h": {
        "server/http": "answers as gzip",
        "storage/codec": "chunks and pages of deflate",
        "storage/encode": "PNG, and the CRC-32 of PNG and ZIP",
        "storage/formats": "the CRC-32 of members of a zip",
    },
    "openssl/crypto.h": {
        "server": "the version at run time",
        "storage/base": "starts OpenSSL without its configuration file",
    },
    "openssl/evp.h": {
        "storage/base": "digests",
        "storage/text": "Base64",
        "storage/remote": "signs the request for a token",
    },
    "openssl/pem.h": {"storage/remote": "the key of a service account"},
    "zlib.h": {
        "storage/formats": "inflates streams of unknown length in steps, which libdeflate does not",
        "storage/formats/parquet": "the CRC-32 of pages",
    },
    "zstd.h": {
        "storage/codec": "chunks and pages of Zstandard",
        "storage/formats": "archives of Zstandard, in steps",
    },
    "zstd_errors.h": {"storage/formats": "tells a window that is too large from damage"},
}


def check_outside():
    """Which folders include headers that are neither ours nor of the system."""
    found = {}
    for part in PARTS:
        for path in sorted((top / part).rglob("*.[ch]")):
            for name in re.findall(r"^\s*#\s*include\s+<([^>]+)>", path.read_text(), re.M):
                if not name.startswith("minari/") and not SYSTEM.fullmatch(name):
                    found.setdefault(name, set()).add(str(path.parent.relative_to(top)))
    for name, folders in sorted(found.items()):
        if name in ALONE and len(folders) > 1:
            wrong.append(f"{name} is included by {' and by '.join(sorted(folders))}: one folder alone may")
        elif name not in ALONE:
            for folder in sorted(folders - SHARED.get(name, {}).keys()):
                wrong.append(f"{folder} includes {name}, which floors.py does not know of it")
    for name in SHARED.keys() | ALONE:
        for folder in SHARED.get(name, {}).keys() - found.get(name, set()):
            wrong.append(f"floors.py: {folder} no longer includes {name}")
        if name not in found:
            wrong.append(f"floors.py: nothing includes {name} any more")


def check_tags():
    """A struct's name says what it is: no other struct, union or enum has it, in whatever file."""
    seen = {}
    for part in ("storage", "server", "client", "web"):
        for path in sorted((top / part).rglob("*.[ch]")):
            text = re.sub(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', blank, path.read_text(), flags=re.S)
            for match in re.finditer(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", text):
                seen.setdefault(match[1], []).append(f"{path.relative_to(top)}:{text.count(chr(10), 0, match.start()) + 1}")
    for name, where in seen.items():
        if len(where) > 1:
            wrong.append(f"{name} names {len(where)} structs: {', '.join(where)}")


# Texts that are the name of a format, or the first word of several: file -> text -> what it is there.
FORMAT_NAMES = {
    "client/cli/cmd_list.c": {"minari": "an unfinished download is of Minari; of which of its formats is not known yet"},
    "server/api/operations/alerts.c": {"minari": "a word of `only` of mirror rules"},
    "server/mirror/spec.c": {"minari": "a word of `only` of mirror rules"},
    "server/service/mirror_rules.c": {"minari": "a word of `only` of mirror rules"},
    "server/service/parameters.h": {"aloha": "the name of a rule in an example"},
    "storage/ids/version_minari.c": {"minari": "the name of a rule of loading, which the index keeps"},
}
# A name that is also a word of the API: it names the format beside the word `format` alone.
FORMAT_WORDS = {"datasets"}


def check_formats():
    """Neutral code asks for a member of a format's row, and never for its name."""
    rows = dict(re.findall(r'^ *row\((\w+), \.name = "(.+?)"', (top / "storage/model/format_row.h").read_text(), re.M))
    names = set(rows.values())
    words = [name.split("-")[0] for name in names if "-" in name]
    families = {word for word in words if words.count(word) > 1}
    texts = names | families | {f"{word}-" for word in families}
    symbol = re.compile(rf"\b(?:HUB_FORMAT|hub_format|hub_marks)_(?:{'|'.join(rows)})\b")
    if not names:
        wrong.append("floors.py: no names of formats in storage/model/format_row.h")
    seen = set()
    for path in sorted(path for part in PARTS for end in ("c", "h", "js") for path in (top / part).rglob(f"*.{end}")):
        where = str(path.relative_to(top))
        if where.startswith(("storage/formats/", "web/vendor/")) or where == "storage/model/format_row.h":
            continue
        code = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", " ", comment[0]), path.read_text(), flags=re.S)
        for number, line in enumerate(code.splitlines(), 1):
            for text in symbol.findall(line):
                wrong.append(f"{where}:{number}: {text} is of one format: ask for a member of its row")
            for text in re.findall(r'["\']((?:\\.|[^"\'\\])*)["\']', line):
                if text not in texts or (text in FORMAT_WORDS and not re.search(r"format\b", line)):
                    continue
                seen.add((where, text))
                if text not in FORMAT_NAMES.get(where, {}):
                    wrong.append(f'{where}:{number}: "{text}" is the name of a format: ask for a member of its row')
    for where, known in FORMAT_NAMES.items():
        for text in known:
            if (where, text) not in seen:
                wrong.append(f'floors.py: {where} no longer has the text "{text}"')


check_picture()
check_readmes()
check_formats()
check_outside()
check_includes()
check_parameters()
check_routes()
check_tags()
targets = libraries()
check_links(targets)
if len(sys.argv) > 1:
    taken = list(symbols(targets, pathlib.Path(sys.argv[1])))
    check_symbols(targets, taken)
    check_circles(taken)
print("\n".join(wrong) or f"{len(reach)} folders, {len(targets)} libraries: nothing runs up")
sys.exit(bool(wrong))
