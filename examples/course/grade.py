#!/usr/bin/env python3
"""Grades hand-ins of the worksheets by the lecturer's own sheets.

    grade.py [--sheet NAME] [--own] [-o grades.csv] HAND-IN...

A hand-in is a student's copy of this folder, or of some sheets of it, named after the student. Of
each config the settings are taken that the line YOURS of the lecturer's sheet names, and nothing
else: they are set in that sheet, which then runs. Files of a hand-in are read, and never given to
the program.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import own

COURSE = pathlib.Path(__file__).resolve().parent
LONGEST = 65536  # bytes of a config that is handed in; the sheets have some 1000
HEAD = ("name", "sheet", "verdict", "answer", "measured", "bound", "reason")
# The pieces of a config: blanks and comments, then strings, words and numbers, then signs.
TOKEN = re.compile(r'(?:\s+|#[^\n]*|//[^\n]*|/\*.*?\*/)|'
                   r'("(?:[^"\\\n]|\\.)*"|[-+.\w*]+|[][(){}=:;,])', re.DOTALL | re.ASCII)
# An answer is a number or a few of the program's words, or a list of such.
ANSWER = re.compile(r'[-+]?(\d{1,20}\.?\d{0,20}|\.\d{1,20})([eE][-+]?\d{1,3})?|'
                    r'"[a-z0-9 .+*/()^-]{1,40}"', re.ASCII)


class Refused(Exception):
    """Says why a hand-in is not run."""


def read_config(folder, sheet):
    """The text of a hand-in's config: of a small regular file that is no link."""
    path = folder / sheet
    if path.is_symlink() or path.parent.is_symlink():
        raise Refused("is a link")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Refused("is no regular file")
            content = file.read(LONGEST + 1)
    except FileNotFoundError:
        raise Refused("is missing") from None
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from None
    if len(content) > LONGEST:
        raise Refused(f"has more than {LONGEST} bytes")
    return content.decode("utf-8", errors="replace")


def tokens(text):
    """The strings, words, numbers and signs of a config, without comments."""
    position = 0
    while position < len(text):
        found = TOKEN.match(text, position)
        if not found:
            line = text.count("\n", 0, position) + 1
            raise Refused(f"line {line} is no config: {text[position:position + 20]!r}")
        position = found.end()
        if found[1]:
            yield found[1]


def settings(text):
    """All values of a config by their paths, {"time.step": "0.01"}; a path that is there twice is
    refused, and so are brackets without partners."""
    values = {}
    levels = [["{", None]]  # of each open bracket: itself, and the name or number of its item
    for token in tokens(text):
        bracket, name = levels[-1]
        if token in "{([":
            levels.append([token, None if token == "{" else 0])
            continue
        if token in "})]":
            if levels.pop()[0] + token not in ("{}", "()", "[]") or not levels:
                raise Refused(f"a {token} has no partner")
        elif token in ";,":
            if bracket != "{":
                levels[-1][1] += 1
            continue
        elif token in "=:":
            continue
        elif name is None:
            if not token[0].isalpha():
                raise Refused(f"{token[:40]!r} is no name of a setting")
            levels[-1][1] = token
            continue
        else:
            path = ".".join(str(name) for _, name in levels)
            if path in values:
                raise Refused(f"{path} is there twice")
            values[path] = token
        if levels[-1][0] == "{":
            levels[-1][1] = None  # the setting is complete
    if len(levels) > 1:
        raise Refused(f"a {levels[-1][0]} has no partner")
    return values


def asked(text):
    """The keys that the line YOURS of a lecturer's sheet names, and the pairs that must be equal."""
    line = re.search(r"YOURS, ([^:]*):", text)[1]
    key = r"[a-z_]+(?:\.[a-z0-9_]+)+"
    return re.findall(key, line), re.findall(f"({key}) = ({key})", line)


def answer(folder, sheet):
    """What a hand-in gives for the keys that its sheet asks for."""
    keys, equal = asked((COURSE / sheet).read_text(encoding="utf-8"))
    given = settings(read_config(folder, sheet))
    found = {}
    for key in keys:
        values = [value for path, value in given.items() if f"{path}.".startswith(f"{key}.")]
        for value in values:
            if not ANSWER.fullmatch(value):
                raise Refused(f"{key} = {value[:40]!r} is neither a number nor a word in quotation "
                              "marks")
        if values:
            found[key] = values[0] if key in given else f"[{', '.join(values)}]"
    if not found:
        raise Refused(f"has no {' and no '.join(keys)}")
    for one, other in equal:
        if found.get(one) != found.get(other):
            raise Refused(f"{one} and {other} must be the same")
    return found


def run(sheet, overrides, options):
    """Runs the lecturer's sheet with these settings: verdict, measured values, bounds, reason."""
    with tempfile.TemporaryDirectory(prefix="orrery-grade-") as work:
        directory = pathlib.Path(work, "graded.run")
        # The limits hold for the program, which takes the place of the shell.
        command = ["sh", "-c", 'ulimit -v "$0"; ulimit -f 1000000; exec "$@"',
                   str(options.memory << 20 or "unlimited"),
                   options.program, "run", COURSE / sheet, "-q", "-o", directory]
        for key, value in {**overrides, "compute.threads": "1"}.items():
            command += ["-P", f"{key}={value}"]
        try:
            result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                    text=True, errors="replace", timeout=options.seconds)
        except subprocess.TimeoutExpired:
            return "refused", "", "", f"takes longer than {options.seconds:g} s"
        if result.returncode not in (0, 1):
            words = (result.stderr.splitlines() or [f"exit status {result.returncode}"])[0]
            return "refused", "", "", words.removeprefix("-P ").removeprefix(f"{directory}: ")
        record = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    criteria = record["expect"]
    shown = [one for one in criteria if not one["holds"]] or criteria
    measured = ("{quantity} {worst:.4g}".format_map(one) if one["worst"] is not None
                else "{quantity} undefined".format_map(one) for one in shown)
    return (record["verdict"], "; ".join(measured), "; ".join(one["criterion"] for one in shown),
            # What failed and by how much; the advice behind it names a run that is no more.
            record["verdict_text"].split(": ")[1] if result.returncode else "")


def grade(folder, sheet, options):
    """A row of the table."""
    name, given = folder.resolve().name, ""
    try:
        values = answer(folder, sheet)
        given = " ".join(f"{key}={value}" for key, value in values.items())
        task = own.own_task(name, sheet)[1] if options.own else {}
        row = run(sheet, {**values, **task}, options)
    except Refused as reason:
        row = ("missing" if str(reason) == "is missing" else "refused", "", "", str(reason))
    verdict, measured, bound, reason = row
    return [plain(cell) for cell in (name, sheet, verdict, given, measured, bound, reason)]


def plain(cell):
    """A cell that neither a terminal nor a spreadsheet takes for a command."""
    cell = "".join(letter if letter.isprintable() else " " for letter in cell)
    return "'" + cell if cell[:1] in tuple("=+-@") else cell


def table(rows):
    """The rows as text, with columns of one width."""
    shown = [[row[HEAD.index(column)] for column in ("name", "sheet", "verdict", "measured")] +
             [row[-1] if row[2] in ("missing", "refused") else row[-2]] for row in [HEAD, *rows]]
    shown[0][-1] = "bound or reason"
    widths = [max(map(len, column)) for column in zip(*shown)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in shown)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("hand_ins", metavar="HAND-IN", nargs="+", type=pathlib.Path)
    parser.add_argument("--sheet", default="", help="only configs whose path has this in it")
    parser.add_argument("--own", action="store_true",
                        help="with each student's own values; a hand-in is named by the number")
    parser.add_argument("-o", dest="output", type=pathlib.Path, default=pathlib.Path("grades.csv"),
                        help="the table to write, grades.csv; one that is there is kept")
    parser.add_argument("--seconds", type=float, default=60.0, help="the longest a run may take")
    parser.add_argument("--memory", type=int, default=4, metavar="GB",
                        help="the most that a run may take; 0 for no limit")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    options = parser.parse_args()
    options.program = shutil.which(os.environ.get("ORRERY", "orrery"))
    if not options.program:
        parser.error("there is no program orrery; set PATH or ORRERY")
    for folder in options.hand_ins:
        if not folder.is_dir():
            parser.error(f"{folder} is no folder")
    options.sheets = sorted(str(path.relative_to(COURSE)) for path in COURSE.glob("*/*.cfg")
                            if options.sheet in str(path.relative_to(COURSE))
                            and "YOURS, " in path.read_text(encoding="utf-8"))
    if not options.sheets:
        parser.error(f"no sheet has {options.sheet} in its path")
    return options


def main():
    options = arguments()
    work = [(folder, sheet, options) for folder in options.hand_ins for sheet in options.sheets]
    rows = []
    try:
        file = options.output.open("x", encoding="utf-8", newline="")
    except OSError as error:
        sys.exit(f"grade.py: {options.output}: {error.strerror}")
    with file, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        for row in pool.map(lambda arguments: grade(*arguments), work):
            rows.append(row)
            writer.writerow(row)
            file.flush()  # what is graded stays if the rest is interrupted
    print(table(rows))


main()
