"""Draws single-line faults by a seed, on lines of src and gpu: those that nobody has chosen.

`make check-mutants LOT=SEED COUNT=40` plants them as it plants rows. With MUTANTS='src/run
src/output' they are drawn from the files whose path has one of these words. An operator changes a
constant in its third digit, an operation, a comparison, an index or the order of two arguments,
leaves a statement out, turns a condition round, takes zero for a call, or returns early. What is
not freed is for the sanitizers, and mpi-job.c for builds with MPI. A fault that does not compile
does not count. With the map of `make mutants-map` (map.py), a fault is tried with the tests that
run its line, for MOST_SECONDS of them: first with those that the rows of its file name, or else the
rows of its folder; then with others, the cheapest first. Without the map it is tried with those
that rows name, the most often named first: a survivor can then still be found by a test that was
not asked. equivalents.py has the faults that change nothing.
"""

import collections
import glob
import hashlib
import json
import os
import random
import re

from equivalents import EQUIVALENT

MAP = os.environ.get("MUTANTS_MAP") or "mutants.map"
MOST_TESTS = 6
MOST_SECONDS = 60
FILES = ("src/**/*.c", "src/**/*.inc", "gpu/kernels/*.cu")
EXCHANGED = ((" + ", " - "), (" += ", " -= "), (" * ", " / "), (" < ", " <= "), (" > ", " >= "),
             (" == ", " != "), (" && ", " || "), ("fmin(", "fmax("))
FREES = re.compile(r" +(\w+_)?(free|destroy|decref)\(")
COMMENT = re.compile(r" */\*.*")
NUMBER = re.compile(r"(?<![\w.\"])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")


def other_number(text):
    """One more of a whole number below a hundred; else another third digit."""
    if text.isdigit():
        return str(int(text) + 1 if int(text) < 100 else round(int(text) * 1.01))
    return f"{float(text) * 1.01:.6g}" if float(text) else "0.01"


def places(line, pattern, faulty):
    """The line with one place after the other changed."""
    for found in pattern.finditer(line):
        yield line[:found.start()] + faulty(found) + line[found.end():]


def faults(line, in_void):
    """What the operators make of a line: name of the operator and faulty line."""
    if '"' not in line:
        for faulty in places(line, NUMBER, lambda found: other_number(found[0])):
            yield "constant", faulty
        for pair in EXCHANGED:
            for one, other in (pair, pair[::-1]):
                for faulty in places(line, re.compile(re.escape(one)), lambda found: other):
                    yield "operation", faulty
        for faulty in places(line, re.compile(r"\[\w*[a-z]\w*\]"), lambda found: "[0]"):
            yield "index", faulty
    swapped = re.compile(r"(?<=[(, ])([\w.>-]+), ([\w.>-]+)(?=[,)])")
    for faulty in places(line, swapped, lambda found: f"{found[2]}, {found[1]}"):
        yield "arguments", faulty
    if not FREES.match(line) and re.fullmatch(
            r" +(?!return|break|continue|goto|else)[\w>.\[\]*-]+(\(.*\)| [-+*/|&]?= .*"
            r"|\+\+|--);", line):
        yield "left out", re.match(" +", line)[0] + ";"
        if in_void:
            yield "early return", re.match(" +", line)[0] + "return;"
    found = re.fullmatch(r"( +(?:\} else )?if )\((.*)\)( \{)?", line)
    if found and found[2].count("(") == found[2].count(")"):
        yield "condition", f"{found[1]}(!({found[2]})){found[3] or ''}"
    found = re.fullmatch(r"(.*[^=!<>]=) \w+\(.*\);", line)
    if found:
        yield "call", f"{found[1]} 0;"


def lines_of(source, path):
    """The lines within functions: their places, and whether the function returns nothing."""
    with open(os.path.join(source, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    in_void = inside = comment = False
    for k, line in enumerate(lines):
        if line == "{":
            head = next((text for text in reversed(lines[:k]) if re.match(r"\w", text)), "")
            in_void, inside = re.match(r"(static |inline )*void \w", head) is not None, True
        elif line == "}":
            inside = False
        comment = comment or line.lstrip().startswith("/*")
        if inside and not comment and line.startswith("    "):
            yield lines, k, in_void
        comment = comment and "*/" not in line


def read_map():
    """The map in the build folder; an empty one where there is none."""
    if not os.path.exists(MAP):
        return {"seconds": {}, "files": {}}
    with open(MAP, encoding="utf-8") as file:
        return json.load(file)


def digest(path):
    """The hash of a file."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def tests_by_rows(file, rows):
    """The tests that rows of the file name, or those of its folder."""
    for near in (lambda row: row.file == file,
                 lambda row: os.path.dirname(row.file) == os.path.dirname(file), lambda row: True):
        named = collections.Counter(test for row in rows if near(row) and not row.reason
                                    for test in row.tests)
        if named:
            return [test for test, _ in named.most_common(MOST_TESTS)]
    return []


def tests_by_map(lines_map, source, file, line, by_rows):
    """The tests that run a line (the first is 1), or the statement that it goes on with; behind
    them those by rows that the map does not know."""
    known = lines_map["files"].get(file)
    if not known or known["hash"] != digest(os.path.join(source, file)):
        return by_rows
    counted = int(known["lines"], 16) & (2 << line) - 1
    bit = 1 << max(counted.bit_length() - 1, 0)
    running = sorted((test not in by_rows, lines_map["seconds"][test], test)
                     for test, lines in known["tests"].items() if int(lines, 16) & bit)
    tests, seconds = [], 0
    for _, took, test in running:
        if seconds > MOST_SECONDS:
            break
        seconds += took
        tests.append(test)
    return tests + [test for test in by_rows if not tests or test not in lines_map["seconds"]]


def draw(source, seed, count, rows, row_type, words=()):
    """Draws `count` faults by the seed, as rows: in the files whose path has one of the words."""
    chance, drawn, seen = random.Random(seed), [], set()
    paths = sorted(os.path.relpath(path, source) for pattern in FILES
                   for path in glob.glob(os.path.join(source, pattern), recursive=True)
                   if not path.endswith("mpi-job.c")
                   and (not words or any(word in path for word in words)))
    lines_map = read_map()
    candidates = [(path, *place) for path in paths for place in lines_of(source, path)]
    while len(drawn) < count:
        path, lines, k, in_void = chance.choice(candidates)
        by_operator = collections.defaultdict(list)
        for operator, faulty in faults(lines[k], in_void):
            if COMMENT.sub("", faulty) != COMMENT.sub("", lines[k]):
                by_operator[operator].append(faulty)
        if not by_operator or (path, k) in seen:
            continue
        seen.add((path, k))
        faulty = chance.choice(by_operator[chance.choice(sorted(by_operator))])
        text, first = "\n".join(lines), k
        while text.count("\n".join(lines[first:k + 1])) != 1:
            first -= 1
        before = "\n".join(lines[first:k] + [""])
        change = (path, lines[k].strip(), faulty.strip())
        reason = next((why for *same, why in EQUIVALENT if (*same,) == change), "")
        tests = tests_by_map(lines_map, source, path, k + 1, tests_by_rows(path, rows))
        drawn.append(row_type(path, before + lines[k], before + faulty, tests, reason))
    return drawn
