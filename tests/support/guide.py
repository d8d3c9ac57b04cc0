"""README.md and web/guide as tests read them: blocks of code, tables, links."""
import os
import re

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
GUIDE = os.path.join("web", "guide")


def pages():
    """Paths below the top: the README, then the guide in its own order."""
    with open(os.path.join(TOP, "server", "page", "CMakeLists.txt")) as f:
        names = re.search(r"^foreach\(page ([\w ]+)\)$", f.read(), re.M)[1].split()
    return ["README.md", *(os.path.join(GUIDE, name + ".md") for name in names)]


def text_of(page):
    with open(os.path.join(TOP, page), encoding="utf-8") as f:
        return f.read()


def blocks(page, language):
    """Code of a language, which is all that stands behind the fence: "sh", "sh clients"."""
    return [code for info, code in re.findall(r"^```([^\n]*)\n(.*?)^```$", text_of(page), re.M | re.S) if info == language]


def languages(page):
    return set(re.findall(r"^```([^\n]*)\n.*?^```$", text_of(page), re.M | re.S))


def lines(page, language="sh"):
    """Commands, a line each, without what a comment behind them says."""
    return [re.sub(r"\s+# .*", "", line) for block in blocks(page, language) for line in block.splitlines() if line]


def console(page):
    """(command, what it prints) of every console."""
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + more.lstrip("> ")
            yield command, output


def prose(page):
    """A page without its code."""
    return re.sub(r"^```[^\n]*\n.*?^```$", "", text_of(page), flags=re.M | re.S)


def sections(page):
    """(title, prose) of each heading; the first is the page's own."""
    parts = re.split(r"^#{1,3} (.+)$", prose(page), flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2]))


def anchor(title):
    """As GitHub and web/tool/guide.c spell it."""
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def rows(text):
    """Cells of the rows of all tables in a text, without heads."""
    found = []
    for table in re.findall(r"^\|.+\|\n\|[-|]+\|\n((?:\|.*\|\n?)+)", text, re.M):
        found += [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in table.splitlines()]
    return found


def links(text):
    return re.findall(r"\]\(([^)\s]+)\)", text)
