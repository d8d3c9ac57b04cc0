"""Texts, comments and words of the product are plain: words.py

Texts that a user reads (string literals of C, templates of pages, the guide, README) hold none of PHRASES. Words that
were this project's own, not the field's, stand nowhere outside tests. Each entry of the glossary of storage/README.md
is there once, in order, and is a word of the code; the words that glossary words replaced name nothing in C any more.
C is at most 110 columns wide, and no comment begins without a subject, as "who" or "of which".
Ends with 1 and a line for each that is wrong.
"""
import pathlib
import re
import subprocess
import sys

top = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = 110
wrong = []
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)

# What no text that a user reads holds, and what it says instead.
THING = r"(?:bytes?|frames?|steps?|rows?|numbers?|values?|lines?|threads?|texts?|columns?|requests?|files?|times|one|once)"
UNIT = r"(?:second|minute|hour|day|step|row|field|column|core|bucket|dimension|episode|request|dataset|thing|page)"
PHRASES = {
    r"(?<!there )(?<!There )\b(?:is|are) no (?!longer\b)": "is not a ..., does not exist, or there is no ...",
    r"(?<!there )\b(?:is|are) none\b": "is not one of ...",
    r"(?<![-\w])anew\b": "again",
    r"\b(?:of|among) (?:which|whom)\b": "a sentence of its own",
    r"\bwhat (?:\w+ )+is is\b": "the name of the thing",
    rf"\b{THING} an? {UNIT}\b": "per, or of each",
    r"\b(?:all the same|by themselves|is not there|are not there)\b": "anyway, the hub ..., does not exist",
    r"\b(?:nobody|somebody) (?:waits|is writing|can be asked)\b": "the request has ended, another process writes",
    r"\b(?:is|are|was) (?:asked for|looked at|gone through)\b": "requested, inspected, scanned",
    r"\bask (?:with|without|for it)\b": "use, leave out, request",
    r"\bso (?:many|much) (?:of|bytes|datasets|rows|steps|files)\b": "at most this many",
    r"\bas (?:it|they) lies?\b": "unchanged",
    r"\b(?:called|begins?) so\b": "of this name, begins with it",
}
MAY_SAY = {}  # (file, what it says) -> why; at most ten

# Words that were this project's own -> files that need them and why, at most five.
PRIVATE_WORDS = re.compile(r"(?i)(?<![a-z])(told|hurry|gang|doomed)(?![a-z])")
MAY_BE_PRIVATE = {}
# What glossary words replaced, as parts of names and comments of C -> what may hold it all the same.
REPLACED = {
    "stretch": ("chunk or block", None),
    "settle": ("finish", r"\bsettle_ms\b|\bhub_scan_unsettled_ms\b|--settle|\bsettle time\b|\bfiles have settled\b|\bto settle\b|\"settle\"|&C\(settle\)"),
    "hurry": ("prioritize", None),
    "gang": ("workers", None),
}
WITHOUT_SUBJECT = re.compile(r"(?:who|whom|whose|of which|of whom|of what|what (?:was|came|comes|goes))\b", re.I)
# Files with lines wider than COLUMNS -> how many, and why; at most forty lines.
WIDE = {
    "tests/support/inspect_planted.h": (4, "lists of macros, a kind a line"),
}


def files(*patterns):
    """Paths under git, generated tables and vendored files left out."""
    names = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=top, text=True).splitlines()
    for name in names:
        if (top / name).is_file() and not name.startswith("web/vendor/") and not re.search(r"_table\.[ch]$", name):
            yield name, (top / name).read_text(errors="replace")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def literals(text):
    """(offset, content) of each text of C; those that only blanks separate are one."""
    start, parts, end = 0, [], 0
    for match in TOKEN.finditer(text):
        if match[0][0] != '"':
            continue
        if parts and text[end : match.start()].strip(" \n\\"):
            yield start, "".join(parts)
            parts = []
        if not parts:
            start = match.start()
        parts.append(match[0][1:-1])
        end = match.end()
    if parts:
        yield start, "".join(parts)


def texts():
    """(file, line, text) of all that a user may read."""
    for name, text in files("client/*.c", "client/*.h", "server/*.c", "server/*.h", "storage/*.c", "storage/*.h", "web/tool/*.c"):
        for at, literal in literals(text):
            if " " in literal and not re.match(r"[A-Z]{4,} |SELECT\b| ?(?:WHERE|AND|ORDER) ", literal):
                yield name, line_of(text, at), literal.replace("\\n", " ")
    for name, text in files("web/templates/*.html", "web/guide/*.md", "README.md"):
        prose = re.sub(r"(?ms)^```.*?^```|\{\{!.*?\}\}", lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        for at, line in enumerate(prose.splitlines(), 1):
            yield name, at, line


def check_phrases():
    used = set()
    for name, line, text in texts():
        for phrase, instead in PHRASES.items():
            for match in re.finditer(phrase, text):
                key = (name, match[0].strip())
                used.add(key)
                if key not in MAY_SAY:
                    wrong.append(f"{name}:{line}: '{match[0].strip()}' in \"{text.strip()[:90]}\": say {instead}")
    for key in MAY_SAY.keys() - used:
        wrong.append(f"words.py: {key[0]} no longer needs its exception for '{key[1]}'")


def check_private():
    seen = set()
    for name, text in files():
        if name.split("/")[0] in ("tests", "migrations"):
            continue
        for match in PRIVATE_WORDS.finditer(text):
            seen.add(name)
            if name not in MAY_BE_PRIVATE:
                wrong.append(f"{name}:{line_of(text, match.start())}: says '{match[0]}'; name what happens in the field's words")
    for name in MAY_BE_PRIVATE.keys() - seen:
        wrong.append(f"words.py: {name} no longer needs its exception")


def check_glossary():
    text = (top / "storage/README.md").read_text().split("\n## Glossary\n")[1]
    words = re.findall(r"^- \*\*(.+?)\*\*: ", text, re.M)
    if words != sorted(set(words)):
        wrong.append("storage/README.md: the glossary is not in order, or has a word twice")
    if len(words) != len(re.findall(r"^- ", text, re.M)):
        wrong.append("storage/README.md: an entry of the glossary is not '- **word**: what it means'")
    code = {name: text for name, text in files("client/*.[ch]", "server/*.[ch]", "storage/*.[ch]")}
    everything = re.sub(r"[\W_]+", " ", "\n".join(code.values())).lower()
    for word in words:
        if not re.search(rf"\b{word.lower()}", everything):
            wrong.append(f"storage/README.md: no code says '{word}', a word of the glossary")
    for old, (new, allowed) in REPLACED.items():
        for name, text in code.items():
            plain = re.sub(allowed, lambda m: " " * len(m[0]), text) if allowed else text
            for match in re.finditer(rf"(?i){old}", plain):
                wrong.append(f"{name}:{line_of(text, match.start())}: '{old}' is {new} (storage/README.md, glossary)")


def check_c():
    for name, text in files("*.c", "*.h"):
        wide = [i for i, line in enumerate(text.splitlines(), 1) if len(line) > COLUMNS]
        if len(wide) != WIDE.get(name, (0,))[0]:
            wrong.append(f"{name}:{wide[0] if wide else 1}: {len(wide)} lines have more than {COLUMNS} columns, not {WIDE.get(name, (0,))[0]}")
        for match in TOKEN.finditer(text):
            if match[0][0] == "/" and not name.startswith("tests/") and WITHOUT_SUBJECT.match(match[0].lstrip("/*! \n")):
                wrong.append(f"{name}:{line_of(text, match.start())}: a comment begins with '{match[0].lstrip('/* ')[:12]}': give it a subject")
    for name in WIDE.keys() - {name for name, _ in files("*.c", "*.h")}:
        wrong.append(f"words.py: there is no {name}")


check_phrases()
check_private()
check_glossary()
check_c()
print("\n".join(wrong) or "texts, comments and words are plain")
sys.exit(bool(wrong))
