"""All that the program may say, as one text to be read through: the strings of its sources that
have more than one word, file by file, in their order. `make messages` writes it to messages.txt.
"""

import pathlib
import re
import sys

# Comments, strings and characters, whichever comes first; adjacent strings are one.
PIECE = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\\n])+\'|"(?:\\.|[^"\\\n])*"|'
                   r'[^\s"\'/]+|/|\s+', re.DOTALL)
FORMAT = re.compile(r"%[-+0-9.*#l]*[a-zA-Z]|\\\\[nrt]")
MACRO = re.compile(r"(PRI[a-zA-Z]+[0-9]*)")


def strings(source):
    """(line, text) of each string; those side by side, with PRIu64 between them, are one."""
    found, text, start, line, directive = [], None, 0, 1, False
    for match in PIECE.finditer(source):
        piece = match[0]
        first = line
        line += piece.count("\n")
        if piece.startswith("#include"):
            directive = True
        elif piece.startswith('"') and not directive:
            if text is None:
                text, start = "", first
            text += piece[1:-1]
        elif MACRO.fullmatch(piece) and text is not None:
            text += "N"
        elif not piece.isspace() and not piece.startswith(("/*", "//")) and text is not None:
            found.append((start, text))
            text = None
        if "\n" in piece:
            directive = False
    return found


def is_said(text):
    """Two words or more, with a blank between them."""
    words = [word for word in FORMAT.sub(" ", text).split() if re.search("[a-zA-Zα-ω]{2}", word)]
    return len(words) > 1 and not re.match(r"\[?\{?(s:\w, ?)+", text) and text != "out of memory"


def sentences(page):
    """(line, text) of what stands between the tags of a template."""
    return [(number, text.strip()) for number, line in enumerate(page.split("\n"), 1)
            for text in re.split(r"<[^>]*>", re.sub(r"\{\{[#^/][^}]*\}\}", "", line))]


def messages(root):
    for path in sorted([*root.glob("src/**/*.[ch]"), *root.glob("src/**/*.html"),
                        *root.glob("gpu/*/*.[ch]")]):
        find = sentences if path.suffix == ".html" else strings
        said = [(line, text) for line, text in find(path.read_text(encoding="utf-8"))
                if is_said(text)]
        if said:
            yield path.relative_to(root), said


if __name__ == "__main__":
    for name, said in messages(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")):
        print(f"\n=== {name}")
        for number, words in said:
            print(f"{number}: {words}")
