"""Every C file that a README or the guide names in quotes of code is there: readmes.py.

It is looked for below the page's folder, and by its path from a folder above; tests among all tests. NAME is any name."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAMED = re.compile(r"(?<![\w*{<./-])((?:\.\./|[\w-]+/)*[\w-]+\.[ch])(?![\w*])")


def below(folder):
    """All paths below a folder, and their ends: "b/c.h" and "c.h" of "a/b/c.h"."""
    found = set()
    for here, _, names in os.walk(folder):
        parts = os.path.relpath(here, folder).split(os.sep)
        for start in range(len(parts) + 1):
            found.update("/".join([*parts[start:], name]) for name in names)
    return found


def above(folder):
    while folder != os.path.dirname(TOP):
        yield folder
        folder = os.path.dirname(folder)


def names_in(page):
    """(line, name) of each C file that a page names."""
    with open(page, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            yield from ((number, name) for quoted in re.findall(r"`([^`]+)`", line) for name in NAMED.findall(quoted))


def main():
    tests, wrong, named = below(os.path.join(TOP, "tests")), [], 0
    for here, folders, names in os.walk(TOP):
        folders[:] = [f for f in folders if f not in (".git", "build", "node_modules", "vendor")]
        pages = [name for name in names if name == "README.md" or (name.endswith(".md") and os.path.basename(here) == "guide")]
        mine = below(here) if pages and here != TOP else set()
        for page, number, name in ((page, *found) for page in pages for found in names_in(os.path.join(here, page))):
            named += 1
            is_there = name in mine or any(os.path.exists(os.path.join(folder, name)) for folder in above(here))
            if not is_there and not (name.startswith("test_") and name in tests) and "NAME" not in name:
                wrong.append(f"{os.path.relpath(here, TOP)}/{page}:{number}: there is no {name}")
    print("\n".join(wrong) or f"{named} files that READMEs name are there")
    return 1 if wrong or not named else 0


if __name__ == "__main__":
    sys.exit(main())
