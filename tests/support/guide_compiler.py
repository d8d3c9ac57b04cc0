"""What the compiler of the guide makes of Markdown, and what it refuses: guide_compiler.py PROGRAM."""
import pathlib
import subprocess
import sys
import tempfile

PAGE = "# Start\n\nWhat it is about.\n\n"
WRITTEN = [  # Markdown below the lead, and a part of what comes of it
    ("## A heading: `code` & more\n", "<h2 id=\"a-heading-code--more\">A heading: <code>code</code> &amp; more</h2>"),
    ("<script>alert(1)</script>\n", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
    ("a <b onload=x>tag</b>\n", "<p>a &lt;b onload=x&gt;tag&lt;/b&gt;</p>"),
    ("`a<b>\"c\"`\n", "<code>a&lt;b&gt;&quot;c&quot;</code>"),
    ("    not code\n", "<p>not code</p>"),
    ("| a | b |\n|---|---|\n| `x` | <y> |\n", "<caption class=\"visually-hidden\">Start</caption><thead><tr><th scope=\"col\">a</th>"),
    ("| a | b |\n|---|---|\n| `x` | <y> |\n", "<td><code>x</code></td><td>&lt;y&gt;</td>"),
    ("```sh\nls <a & b\n```\n", "<pre class=\"copy\" tabindex=\"0\"><code>ls &lt;a &amp; b</code></pre>"),
    ("```\nshown\n```\n", "<pre tabindex=\"0\"><code>shown</code></pre>"),
    ("```console\n$ a \\\n>   b\n1\n2\n$ c\n```\n",
     "<pre class=\"copy\" tabindex=\"0\"><code>a \\\n  b</code></pre>\n<pre tabindex=\"0\"><code>1\n2</code></pre>\n<pre class=\"copy\" tabindex=\"0\"><code>c</code></pre>"),
    ("## Two\n\n[x](#two) [y](start.md) [z](start.md#two)\n", "<a href=\"#two\">x</a> <a href=\"/~guide/start\">y</a> <a href=\"/~guide/start#two\">z</a>"),
    ("[x](http://hub:8080/openapi.json) [y](https://example.org/?a&b)\n", "<a href=\"/openapi.json\">x</a> <a rel=\"noopener noreferrer\" href=\"https://example.org/?a&amp;b\">y</a>"),
]
REFUSED = [  # all of a file, and a part of what is said of it
    ("", "not a page of the guide"),
    ("# Start\n", "not a page of the guide"),
    ("text\n\n# Start\n", "text before the heading"),
    (PAGE + "# Start\n", "one heading of the first level"),
    ("## Start\n\ntext\n", "one heading of the first level"),
    (PAGE + "#### Deep\n", "a heading of level 4"),
    (PAGE + "## Two\n\n## Two\n", "the anchor 'two' is empty, too long, or there already"),
    (PAGE + "## ???\n", "the anchor '' is empty"),
    (PAGE + "[x](#none)\n", "a link to start.md#none, which does not exist"),
    (PAGE + "[x](none.md)\n", "a link to none.md#, which does not exist"),
    (PAGE + "[x](javascript:alert(1))\n", "neither a page of the guide nor an address"),
    (PAGE + "[x](http://example.org/)\n", "neither a page of the guide nor an address"),
    (PAGE + "[x](//example.org/)\n", "neither a page of the guide nor an address"),
    (PAGE + "![x](a.png)\n", "a picture"),
    (PAGE + "a &nbsp; b\n", "write the character itself"),
    (PAGE + "```perl\n1\n```\n", "code in 'perl'"),
    (PAGE + "```console\nls\n```\n", "a console begins with '$ '"),
    (PAGE + "---\n", "a block of type"),
]


def compile_page(program, folder, text):
    (folder / "start.md").write_text(text)
    done = subprocess.run([program, folder / "out.c", folder / "start.md"], capture_output=True, text=True)
    return done.returncode, done.stderr, (folder / "out.c").read_text() if done.returncode == 0 else ""


def as_literal(html):
    """As it stands in a C string, one line of text a line."""
    out = "".join("\\%03o" % ord(c) if c in "\"\\?" else c for c in html)
    return out.replace("\n", "\\n\"\n\"")


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for text, part in WRITTEN:
            status, said, out = compile_page(sys.argv[1], folder, PAGE + text)
            if status or as_literal(part) not in out:
                wrong.append(f"{text!r}: {said or out}, without {part}")
        for text, part in REFUSED:
            status, said, _ = compile_page(sys.argv[1], folder, text)
            if status != 1 or part not in said:
                wrong.append(f"{text!r}: {status} {said!r}, without {part!r}")
    print("\n".join(wrong) or f"{len(WRITTEN)} written and {len(REFUSED)} refused as they should be")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
