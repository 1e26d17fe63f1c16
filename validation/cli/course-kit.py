"""examples/course: what a lecturer needs beside the sheets: each student's own values, and grading.

The hand-ins of strangers are tried as well: nothing of theirs may run, be read elsewhere, or last.
"""

import csv
import html
import importlib.util
import math
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

import tap

FOLDER = pathlib.Path(tap.SOURCE, "examples", "course")
ENVIRONMENT = {**os.environ, "ORRERY": os.path.abspath(tap.ORRERY), "PYTHONDONTWRITEBYTECODE": "1"}
# A sanitizer keeps terabytes of addresses, which a limit of memory would refuse.
MEMORY = [] if tap.PATIENCE == 1 else ["--memory", "0"]

STEP, ORBITS, GAS, COLLAPSE, DIGIT, STAGES = (
    "1-step-and-order/run.cfg", "2-a-thousand-orbits/run.cfg", "4-pairs/gas.cfg",
    "4-pairs/collapse.cfg", "8-cost-of-a-digit/run.cfg", "9-stages/run.cfg")


def own():
    sys.dont_write_bytecode = True
    specification = importlib.util.spec_from_file_location("own", FOLDER / "own.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def hand_in(name, sheet, *changes, text=None):
    """A hand-in with one sheet: the lecturer's with changes (old text, new text), or other text."""
    path = pathlib.Path("hand-ins", name, sheet)
    path.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        text = (FOLDER / sheet).read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


def grade(sheet, *options, folders=None):
    """{name: row} of a table, which the text on standard output must agree with."""
    if folders is None:
        folders = sorted(pathlib.Path("hand-ins").iterdir())
    pathlib.Path("grades.csv").unlink(missing_ok=True)
    result = subprocess.run([sys.executable, FOLDER / "grade.py", "--sheet", sheet, *MEMORY,
                             *options, *folders], capture_output=True, text=True, env=ENVIRONMENT,
                            timeout=300 * tap.PATIENCE)
    assert result.returncode == 0 and not result.stderr, result
    with open("grades.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    shown = [line.split()[:3] for line in result.stdout.splitlines()[1:]]
    assert [[row["name"].split()[0], row["verdict"]] for row in rows] == \
        [[line[0], line[2]] for line in shown] or any(" " in row["name"] for row in rows), shown
    return {row["name"]: row for row in rows}


RIGHT = ("step = 0.01", "step = 7e-4")


def test_answers():
    """a right answer holds, a wrong one fails with its number, and changed bounds do not count"""
    hand_in("right", STEP, RIGHT)
    hand_in("wrong", STEP, ("step = 0.01", "step = 7.3e-4"))
    hand_in("unchanged", STEP)
    hand_in("bounds", STEP, ("[0.8e-6, 1e-6]", "[0.0, 1.0]"), ("0.01", "0.002"))
    hand_in("other", STEP, ("step = 0.01; end = 12.56637", "step = 0.002; end = 6.29"),
            ("velocity-verlet", "yoshida6"), ("eccentricity = 0.5", "eccentricity = 0.0"))
    hand_in("no-expect", STEP, ("expect = (", "nothing = ("), ("0.01", "0.002"))
    rows = grade("1-step", "--jobs", "2")
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "right": "held", "wrong": "failed", "unchanged": "failed", "bounds": "failed",
        "other": "failed", "no-expect": "failed"}, rows
    assert all(row["sheet"] == STEP for row in rows.values())
    assert rows["right"]["answer"] == "time.step=7e-4" and rows["right"]["reason"] == ""
    # Worksheet 1: the largest error is 2 h^2.
    for name, step in (("right", 7e-4), ("wrong", 7.3e-4), ("bounds", 0.002), ("other", 0.002)):
        quantity, value = rows[name]["measured"].split()
        assert quantity == "energy_error" and abs(float(value) / (2 * step ** 2) - 1) < 0.01, rows
        assert "[8e-07, 1e-06]" in rows[name]["bound"], rows[name]
    assert "bound 1e-06" in rows["wrong"]["reason"] and "/" not in rows["wrong"]["reason"]


def test_all_sheets():
    """a whole hand-in has a row for each config with a line YOURS, and its own name"""
    hand_in("one", STEP, RIGHT)
    result = subprocess.run([sys.executable, FOLDER / "grade.py", *MEMORY, "hand-ins/one"],
                            capture_output=True, text=True, env=ENVIRONMENT)
    assert result.returncode == 0, result
    with open("grades.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sheets = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*.cfg")
                    if "YOURS" in path.read_text(encoding="utf-8"))
    assert [row["sheet"] for row in rows] == sheets and len(sheets) == 10
    assert {row["sheet"]: row["verdict"] for row in rows} == {
        sheet: "held" if sheet == STEP else "missing" for sheet in sheets}


def test_a_list():
    """a list of words is an answer: Ruth's method holds, and one of second order fails"""
    order = [f"{verb} {number}" for numbers in zip(("7/24", "3/4", "-1/24"), ("2/3", "-2/3", "1"))
             for verb, number in zip(("force", "kick", "drift"), ("", *numbers))]
    lists = {"ruth": order, "verlet": ["kick 0.5", "drift 1", "force", "kick 0.5"],
             "hostile": ["kick 0.5", "drift 1; @include x", "force", "kick 0.5"],
             "kicks": ["force", "kick 2", "drift 1"]}
    for name, stages in lists.items():
        words = ", ".join(f'"{stage.strip()}"' for stage in stages)
        hand_in(name, STAGES, text=f"time = {{ stages = [{words}]; }};")
    rows = grade("9-stages")
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "ruth": "held", "verlet": "failed", "hostile": "refused", "kicks": "refused"}, rows
    assert "neither a number" in rows["hostile"]["reason"], rows
    assert "kicks" in rows["kicks"]["reason"], rows


def test_notations():
    """comments, blanks and the other signs of a config change no answer"""
    hand_in("comments", STEP, (RIGHT[0], "/* step = 0.02; */ step : 7.0E-4 // step = 0.03\n  "))
    hand_in("last", STEP, text="# YOURS\ntime={end=1.0 step=0.0007}")
    hand_in("string", STEP, text='name = "a # b; time = { step = 1.0; }"; time = { step = 7e-4; };')
    rows = grade("1-step")
    assert {row["verdict"] for row in rows.values()} == {"held"}, rows
    answers = [row["answer"] for row in rows.values()]
    assert answers == ["time.step=7.0E-4", "time.step=0.0007", "time.step=7e-4"], answers


def test_two_lines_are_one_answer():
    """where a time stands in two lines, two different times are no answer"""
    hand_in("wide", COLLAPSE, ("before = 4.0", "before = 0.1"), ("after = 4.0", "after = 6.0"))
    hand_in("half", COLLAPSE, ("before = 4.0", "before = 2.5708"), (" after = 4.0;", ""))
    rows = grade("collapse")
    for name in ("wide", "half"):
        assert rows[name]["verdict"] == "refused", rows
        assert "must be the same" in rows[name]["reason"], rows
    # The program alone would pass the first: it is above 1 at any time between these two.
    result = tap.run("run", "hand-ins/wide/4-pairs/collapse.cfg", "-q", "-P", "time.end=7.0")
    assert result.returncode == 0, result


GOOD_GAS = 'physics = { boundary = "periodic"; box_length = 2.0; };'

HOSTILE = {  # name: (the text of the config, a word of the reason)
    "include": ('@include "secret.cfg"\n' + GOOD_GAS, "line 1 is no config"),
    "include-in-a-value": ('bodies = { count = "3\\"; @include secret"; };', "neither a number"),
    "override": ('bodies = { count = 3090 -o elsewhere; };', "no name"),
    "word": ("bodies = { count = nan; };", "neither a number"),
    "arithmetic": ("bodies = { count = 10**9; };", "neither a number"),
    "list": ("bodies = { count = [3090, 3091]; };", "must be a whole number"),
    "two": ("# YOURS:\nbodies = { count = 30; };\n# YOURS:\nbodies = { count = 3090; };", "twice"),
    "none": ("# YOURS: nothing\n", "has no"),
    "empty": ("", "has no"),
    "deep": ("a = " + "(" * 60000, "no partner"),
    "closed": ("} bodies = { count = 3090; };", "no partner"),
    "crossed": ("bodies = { count = 3090; ); physics = ( }", "no partner"),
    "long": ("# " + "x" * 70000 + "\n" + GOOD_GAS, "more than 65536 bytes"),
    "bytes": ("\0\1\2", "line 1 is no config"),
    "bodies": ("bodies = { count = 100000000; };", "virtual memory"),
    "length": ("bodies = { count = 3090; }; physics = { box_length = 1e999; };", "large a number"),
}


def test_hostile():
    """what is no answer is refused with its reason, and the others are graded all the same"""
    for name, (text, _) in HOSTILE.items():
        hand_in(name, GAS, text=text)
    pathlib.Path("secret.cfg").write_text("bodies = { count = 3090; };\n")
    shutil.copy("secret.cfg", "hand-ins/include/4-pairs")
    hand_in("paths", GAS, ("count = 500", "count = 3090"), ('boundary = "open"', GOOD_GAS[12:-4]),
            ('name = "gas"', 'name = "../../stolen"'),
            ("expect = (", 'outputs = ( { type = "xyz"; every = 1; file = "../../stolen"; } );\n'
             'checkpoint = { every = 1; };\nexpect = ('))
    for name in ("folder", "link", "linked-folder", "pipe"):
        pathlib.Path("hand-ins", name).mkdir()
    pathlib.Path("hand-ins/folder/4-pairs/gas.cfg").mkdir(parents=True)
    pathlib.Path("hand-ins/link/4-pairs").mkdir()
    pathlib.Path("hand-ins/link/4-pairs/gas.cfg").symlink_to(
        pathlib.Path("hand-ins/paths/4-pairs/gas.cfg").resolve())
    pathlib.Path("hand-ins/linked-folder/4-pairs").symlink_to(
        pathlib.Path("hand-ins/paths/4-pairs").resolve())
    pathlib.Path("hand-ins/pipe/4-pairs").mkdir()
    os.mkfifo("hand-ins/pipe/4-pairs/gas.cfg")
    pathlib.Path("hand-ins/away").mkdir()
    wanted = {name: ("refused", word) for name, (_, word) in HOSTILE.items()}
    wanted.update({"folder": ("refused", "directory"), "link": ("refused", "is a link"),
                   "linked-folder": ("refused", "is a link"),
                   "pipe": ("refused", "no regular file"), "away": ("missing", "is missing"),
                   "paths": ("held", "")})
    if MEMORY:  # nothing but the machine's own memory limits the bodies
        shutil.rmtree("hand-ins/bodies")
        del wanted["bodies"]
    before = {path for path in pathlib.Path().rglob("*")}
    rows = grade("gas")
    assert sorted(rows) == sorted(wanted)
    for name, (verdict, word) in wanted.items():
        assert rows[name]["verdict"] == verdict and word in rows[name]["reason"], rows[name]
    assert rows["paths"]["answer"] == ('physics.boundary="periodic" physics.box_length=2.0 '
                                       'bodies.count=3090')
    after = {path for path in pathlib.Path().rglob("*")}
    assert after - before == {pathlib.Path("grades.csv")}, after - before


def test_limits():
    """runs that would last, or fill the disk, end; the limit is that of the lecturer"""
    hand_in("hours", STEP, ("step = 0.01", "step = 2e-6"))
    hand_in("disk", STEP, ("step = 0.01", "step = 1e-12"))
    hand_in("ages", STEP, ("step = 0.01", "step = 1e-300"))
    hand_in("right", STEP, RIGHT)
    begun = time.monotonic()
    rows = grade("1-step", "--seconds", str(2 * tap.PATIENCE))
    assert time.monotonic() - begun < 40 * tap.PATIENCE
    assert rows["hours"]["reason"] == f"takes longer than {2 * tap.PATIENCE:g} s", rows
    assert "the disk has" in rows["disk"]["reason"], rows
    assert "would need" in rows["ages"]["reason"], rows
    assert rows["right"]["verdict"] == "held", rows


def test_names():
    """a name that a spreadsheet or a terminal takes for a command is only text in the table"""
    for name in ("=1+1", "-5", "a\x1b[31mb\nc", "@sum"):
        hand_in(name, STEP, text="")
    names = sorted(grade("1-step"))
    assert names == ["'-5", "'=1+1", "'@sum", "a [31mb c"], names


def test_usage():
    """an earlier table is kept, and a hand-in or a sheet that is not there is told at once"""
    hand_in("one", STEP, RIGHT)
    script = [sys.executable, FOLDER / "grade.py"]
    pathlib.Path("grades.csv").write_text("mine\n")
    for arguments, status, words in (
            (["hand-ins/one", "--sheet", "1-step"], 1, "grades.csv: File exists"),
            (["hand-ins/noone", "-o", "b.csv"], 2, "noone is no folder"),
            (["hand-ins/one", "--sheet", "9-nine", "-o", "b.csv"], 2, "no sheet has 9-nine"),
            ([], 2, "HAND-IN")):
        result = subprocess.run([*script, *arguments], capture_output=True, text=True,
                                env=ENVIRONMENT)
        assert result.returncode == status and words in result.stderr, (arguments, result)
    result = subprocess.run([*script, "hand-ins/one", "-o", "b.csv"], capture_output=True,
                            text=True, env={**ENVIRONMENT, "ORRERY": "/nowhere/orrery"})
    assert result.returncode == 2 and "no program" in result.stderr, result
    assert pathlib.Path("grades.csv").read_text() == "mine\n"
    assert not os.path.exists("b.csv")


# The answer to each student's own task, by the formulas of the solutions; the values of those for
# whom there is no formula are read from a table of trials.
def step_of(values):
    low, high = map(float, values["expect.0.between"][1:-1].split(","))
    return {"step = 0.01": f"step = {math.sqrt((low + high) / 4):.5g}"}


def time_of(values):
    low, high = float(values["expect.1.at_least"]), float(values["expect.0.at_most"])
    moment = f"{2 * math.pi * (low + high) / 2 / 6.9e-7:.5g}"  # D of the solutions, a revolution
    return {"before = 1.0": f"before = {moment}", "after = 1.0": f"after = {moment}"}


def fall_of(values):
    moment = f"{(math.pi / 2 + 1) * math.sqrt(float(values['bodies.radius']) ** 3 / 8):.5g}"
    return {"before = 4.0": f"before = {moment}", "after = 4.0": f"after = {moment}"}


def count_of(values):
    count = int(float(values["expect.2.at_most"]) / 1.01)  # up to 1.03 of what is needed
    return {"count = 500": f"count = {count}", 'boundary = "open"': GOOD_GAS[12:-4]}


def virial_of(values):
    low, high = map(float, values["expect.2.between"][1:-1].split(","))
    return {"virial_ratio = 0.5": f"virial_ratio = {2 - (low + high) / 2 / -0.4585:.4g}"}


def error_of(values):
    low, high = map(float, values["expect.0.between"][1:-1].split(","))
    asked = 1.24 * (low + high) / 2 / 1.03  # what the run reaches is 1.2 to 1.3 times below it
    return {"energy_error = 1e-4": f"energy_error = {asked:.4g}"}


ANSWERS = {STEP: step_of, ORBITS: time_of, "3-virial-equilibrium/run.cfg": virial_of, GAS: count_of,
           COLLAPSE: fall_of, DIGIT: error_of}


def make_own_test(sheet, solve):
    def test():
        if sheet == "4-pairs/collapse.cfg":
            tap.thorough()  # the dearest sheet; the others take the same way
        module = own()
        class_ = sorted(map(str, range(4700, 4800)),
                        key=lambda number: module.share_of(number, sheet))
        numbers = tap.first([class_[10], class_[90], class_[50], class_[0], class_[-1]], 2)
        answers = [solve(module.own_task(number, sheet)[1]) for number in numbers]
        for number, mine in zip(numbers, answers):
            hand_in(number, sheet, *mine.items())
        rows = grade(sheet, "--own")
        assert all(rows[number]["verdict"] == "held" for number in numbers), rows
        for number, other in zip(numbers, answers[1:] + answers[:1]):
            hand_in(number, sheet, *other.items())
        rows = grade(sheet, "--own")
        assert all(rows[number]["verdict"] == "failed" for number in numbers), rows
    test.__doc__ = f"{sheet}: each student's own answer holds, and a neighbour's does not"
    return test


for position, (name, solution) in enumerate(ANSWERS.items()):
    globals()[f"test_own_{position}"] = make_own_test(name, solution)


def test_own_values():
    """own values follow from number and sheet alone, fit the sheet, and leave its answer"""
    module = own()
    for sheet in module.OWN:
        text = (FOLDER / sheet).read_text(encoding="utf-8")
        asked = set(re.findall(r"[a-z_]+(?:\.[a-z0-9_]+)+", re.search("YOURS, ([^:]*):", text)[1]))
        tasks = [module.own_task(str(number), sheet) for number in range(100)]
        assert tasks == [module.own_task(str(number), sheet) for number in range(100)]
        few = 11 if sheet == DIGIT else 30
        assert len({str(values) for _, values in tasks}) >= few, sheet
        # The hash spreads numbers that follow one another over the whole range.
        shares = [module.share_of(str(number), sheet) for number in range(100)]
        assert min(shares) < 0.1 and max(shares) > 0.9, sheet
        for sentence, values in tap.first((tasks[0], tasks[1]), 1):
            assert sentence.endswith(".") and values and not asked & set(values), sheet
            options = [word for key, value in values.items() for word in ("-P", f"{key}={value}")]
            result = tap.run("run", FOLDER / sheet, "-q", "-o", "own.run", "--force", "-P",
                             "time.end=0.2" if sheet.startswith("4") else "name=own", *options)
            assert result.returncode in (0, 1), (sheet, result.stderr)
    assert module.own_task("4711", "6-kernels/run.cfg") == ("", {})


def test_own_on_the_command_line():
    """own.py within a student's command, as the sheets are run"""
    shutil.copytree(FOLDER / "1-step-and-order", "course/1-step-and-order")
    shutil.copy(FOLDER / "own.py", "course")
    command = f"{shlex.quote(ENVIRONMENT['ORRERY'])} run run.cfg $(../own.py 4711 run.cfg)"
    result = subprocess.run(["sh", "-c", command], cwd="course/1-step-and-order",
                            capture_output=True, text=True, env=ENVIRONMENT)
    values = own().own_task("4711", STEP)[1]
    low, high = values["expect.0.between"][1:-1].split(",")
    assert result.returncode == 1, result
    assert f"energy_error in [{float(low):g}" in " ".join(result.stdout.split()), result.stdout
    assert "4711, 1-step-and-order/run.cfg: Find a step" in result.stderr
    result = subprocess.run([sys.executable, FOLDER / "own.py", "4711", "nothing.cfg"],
                            capture_output=True, text=True, env=ENVIRONMENT)
    assert result.returncode == 1 and "there are 1-step-and-order/run.cfg" in result.stderr


def window_of(values):
    """The bounds within which the quantity of a student's own task must lie."""
    numbers = [float(number) for key, value in values.items() if re.search("between|at_", key)
               for number in value.strip("[]").split(",")]
    return min(numbers), max(numbers)


def test_numbers_of_the_page():
    """ranges of own values, and how often a neighbour's answer holds, are as the page says"""
    module = own()
    page = (FOLDER / "lecturer.md").read_text(encoding="utf-8")
    table = page[page.index("| own value |"):].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in table.splitlines()[2:]]
    assert len(rows) == len(module.OWN)
    for (_, value, stated), (sheet, task) in zip(rows, module.OWN.items()):
        ends = re.findall(r"(?<![\w.])\d[\d.]*(?:e-\d)?", value)
        for share, end in zip((0, 1 - 1e-9), ends, strict=True):
            words = re.sub("([0-9])e-0", r"\1e-", task(share)[0])
            plain = f"{float(end):g}".replace("e-0", "e-")
            assert plain in words or f"{float(end):g}" in task(share)[0], (sheet, end, words)
        if sheet in (GAS, COLLAPSE):
            continue  # their windows are of counts and times, which the values do not name
        tasks = [module.own_task(str(number), sheet)[1] for number in range(200)]
        bounds = list(map(window_of, tasks))
        holds = sum(low < (one + other) / 2 < high for low, high in bounds for one, other in bounds)
        share = 100 * (holds - len(tasks)) / (len(tasks) * (len(tasks) - 1))
        # The page has 300 numbers and answers a little off the middle.
        assert abs(share - float(stated.split()[0])) < 3.5, (sheet, share, stated)


def test_paper():
    """print.py makes one page of all sheets, their configs and figures, with a student's tasks"""
    tap.need("myst_parser")
    script = [sys.executable, FOLDER / "print.py"]
    result = subprocess.run([*script, "paper", "4711"], capture_output=True, text=True,
                            env=ENVIRONMENT)
    assert result.returncode == 0 and result.stdout == "paper/index.html\n", result
    page = pathlib.Path("paper/index.html").read_text(encoding="utf-8")
    for sheet in FOLDER.glob("[0-9]*/README.md"):
        title = sheet.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ")
        assert f">{title}<" in page, title
    assert page.count("YOURS, ") == 10 and page.count("Yours, 4711") == 8
    for sheet in own().OWN:
        assert own().own_task("4711", sheet)[0] in html.unescape(page), sheet
    pictures = re.findall('<img[^>]* src="([^"]+)"', page)
    assert len(pictures) >= 12
    assert all(pathlib.Path("paper", picture).exists() for picture in pictures), pictures
    assert 'href="_static/print.css' in page and pathlib.Path("paper/_static/print.css").exists()
    again = subprocess.run([*script, "paper"], capture_output=True, text=True, env=ENVIRONMENT)
    assert again.returncode == 1 and "paper is there already" in again.stderr


tap.main()
