"""The routes of server/service/routes.c and the parameters that they take, as their rows say them."""
import pathlib
import re

SERVICE = pathlib.Path(__file__).resolve().parents[2] / "server/service"
LITERAL = r'"(?:[^"\\]|\\.)*"'


class Route:
    """`takes`: the names of rows in C; `status`: what the example answers, None for 2xx; `example`: None where there is none; `right`: as
    HUB_FOR_ADMINS is "ADMINS", for whom `local` says so too."""

    def __init__(self, method, pattern, takes, status, example, right):
        self.method, self.pattern, self.takes, self.status, self.example = method, pattern, takes, status, example
        self.right, self.local = right, right == "ADMINS"


def unquoted(text, defines):
    """The text of C literals beside each other, and of names of others."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|(\w+)', text)
    return "".join(re.sub(r"\\(.)", r"\1", literal) if not name else unquoted(defines[name], defines) for literal, name in parts)


def defines(text):
    return dict(re.findall(r"^#define (\w+) +(.+)$", text.replace("\\\n", " "), re.M))


def rows_of(taken, groups):
    """`&a, GROUP` as names of rows."""
    names = []
    for word in re.findall(r"&?\w+", taken):
        names += [word[1:]] if word[0] == "&" else rows_of(groups[word], groups)
    return names


def routes():
    """All of them, in order."""
    text = (SERVICE / "routes.c").read_text()
    texts, groups, found = defines(text), defines((SERVICE / "parameters.h").read_text()), []
    for row in re.findall(r"\{(\"[A-Z]+\",.*?)\},\n", text[text.index("hub_routes[]"):text.index("hub_protocols[]")], re.S):
        method, pattern = re.match(r'"(\w+)",\s*"([^"]+)"', row).groups()
        taken = re.search(r"TAKES\((.*?)\)", row, re.S)
        example = re.search(rf"\.example =\s*((?:{LITERAL}|\w+)(?:\s+(?:{LITERAL}|[A-Z_]+\b))*)", row)
        status, _, path = (unquoted(example[1], texts) if example else "").rpartition(" ")
        found.append(Route(method, pattern, rows_of(taken[1], groups) if taken else [], int(status) if status else None, path or None, re.search(r"HUB_FOR_(\w+)", row)[1]))
    return found


def parameters():
    """(its name in C, type, name, example, help, whether it is of the path) of each row; example and help are None where NULL stands."""
    for row in re.findall(r"^ROW\((.*?)\);$", (SERVICE / "parameters.h").read_text(), re.M | re.S):
        ident, kind, name, example, help_ = re.match(rf'(\w+), (\w+), "([^"]*)",\s*(NULL|{LITERAL}),\s*(NULL|FACT\({LITERAL}\)|(?:{LITERAL}\s*)+)', row).groups()
        yield ident, kind, name, None if example == "NULL" else example.strip('"'), None if help_ == "NULL" else help_, ".in_path = true" in row
