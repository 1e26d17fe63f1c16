"""Directories of a stranger: what is read from one is data, of which nothing is run or obeyed."""

import html
import html.parser
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import harness
import tap
from harness import Row, shuffled, some
from reports import without_scripts

CONFIG = """
name = "whole";
bodies = { initial = "two-body"; masses = [1.0, 0.5]; semi_major_axis = 1.0; eccentricity = 0.1; };
time = { integrator = "velocity-verlet"; step = 0.05; end = 2.0; };
compute = { threads = 1; };
diagnostics = ( { type = "conservation"; every = 2; }, { type = "virial"; every = 4; } );
outputs = ( { type = "xyz"; every = 10; } );
"""

# Each of them writes the file PWNED if anybody takes it for more than a name.
STRINGS = (
    "x\n!: >PWNED\n", "x\nsystem(': >PWNED')\n", "x\n! : >PWNED #", "`: >PWNED`", "x`: >PWNED`y",
    "'; system(': >PWNED'); '", '"; system(": >PWNED"); "', "''`: >PWNED`", '"`: >PWNED`"',
    "'.system(': >PWNED').'", '".system(": >PWNED")."', "x' ; !: >PWNED", "| : >PWNED",
    "< : >PWNED", "<: >PWNED", "'< : >PWNED'", "$(: >PWNED)", "; : >PWNED;", "@line", "@x", "\\",
    "a\\", "\\042; !: >PWNED", "a\"b", "a''b", "a'b", "'", '"', "%s%n%99999d", "{/Symbol a}", "#",
    "x\r!: >PWNED\r", "\x1b]0;mine\x07", "\x1b[2J\x1b[H", "\u009b31m", "\u202ecod.exe", "\x08\x08",
    "javascript:alert(1)", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)", "</style><script>alert(1)</script>", "&lt;script&gt;",
    "../../outside/mine", "../outside/mine", "OUTSIDE/mine", "plots/../../outside/mine", "..", ".",
    "", "/", "a/b", "-d", "-", "a" * 121, "a" * 400, "é" * 100, "mine", "report", "bodies",
    "=1+1", "+1", "@SUM(1)", "-cmd|' /C calc'!A0", "null", "0", "../report", "run.json",
)


def expand(text):
    here = os.getcwd()
    return text.replace("PWNED", f"{here}/pwned").replace("OUTSIDE", f"{here}/outside")


# --- places ---------------------------------------------------------------------------------------

def change_json(change, name="run.json"):
    path = pathlib.Path("trial", name)
    about = json.loads(path.read_text())
    change(about)
    path.write_text(json.dumps(about))


def rename_key(words, get):
    def change(about):
        inner = get(about)
        key = next(iter(inner))
        inner[words] = inner.pop(key)
    change_json(change)


def set_value(words, get, key):
    def change(about):
        get(about)[key] = words
    change_json(change)


def header(words, old, new):
    path = pathlib.Path("trial/conservation.csv")
    path.write_text(path.read_text().replace(old, new.replace("WORDS", words), 1))


def new_table(words):
    """A diagnostic of that name, with the file that belongs to it where one can be there."""
    set_value(words, lambda about: about["config"]["diagnostics"][1], "name")
    try:
        shutil.copy("trial/virial.csv", f"trial/{words}.csv")
    except (OSError, ValueError):
        pass


def unknown_type(words):
    set_value(words, lambda about: about["config"]["diagnostics"][1], "type")
    try:
        shutil.copy("trial/virial.csv", f"trial/{words}.csv")
    except (OSError, ValueError):
        pass


def errors_of_diagnostic(words):
    def change(about):
        about["diagnostics"][words] = {"energy_error": 1e-3, f"{words}_error": 2e-3}
    change_json(change)


def error_column(words):
    def change(about):
        about["diagnostics"]["conservation"][f"{words}error"] = 1e-3
    change_json(change)


def list_of_report(words):
    """A report.json that lists files of others, as one of ours would."""
    files = ["report.json", "notes.csv", "plots/mine.svg", words, f"plots/{words}"]
    pathlib.Path("trial/report.json").write_text(json.dumps({
        "program": {"name": "orrery"}, "format": "orrery report", "files": files,
        "sha256": {name: [words, "0" * 64] for name in files}}))


def listed(words):
    """A file of that name, where one can be there, and in the list."""
    change_json(lambda about: about["files"].append(words))
    try:
        pathlib.Path("trial", words).open("x").close()
    except (OSError, ValueError):
        pass


def species(*names):
    """The bodies of the trajectory's frames are of these species, one after the other."""
    path = pathlib.Path("trial/trajectory.xyz")
    rest = itertools.cycle(names)
    path.write_text(re.sub("(?m)^X(?= )", lambda _: next(rest), path.read_text()),
                    errors="surrogateescape")


def lock(words):
    pathlib.Path("trial/run.lock").write_text(f"process 1 on {words}\nstep 1 of {words}\n")


def link(name):
    def place(words):
        pathlib.Path("trial", name).unlink(missing_ok=True)
        os.symlink(words.replace("\0", "") or "x", f"trial/{name}")
    return place


PLACES = {
    "a key of diagnostics": lambda words: rename_key(words, lambda about: about["diagnostics"]),
    "a column of run.json": lambda words: rename_key(
        words, lambda about: about["diagnostics"]["conservation"]),
    "a column that ends in error": error_column,
    "a diagnostic with errors": errors_of_diagnostic,
    "the name of a diagnostic": new_table,
    "the type of a diagnostic": unknown_type,
    "a key of the config": lambda words: rename_key(words, lambda about: about["config"]["time"]),
    "a key of run.json": lambda words: change_json(lambda about: about.update({words: 1.5})),
    "a value of the config": lambda words: set_value(
        words, lambda about: about["config"]["time"], "integrator"),
    "the name of the run": lambda words: change_json(lambda about: about.update(name=words)),
    "the host": lambda words: change_json(lambda about: about.update(host=words)),
    "the verdict": lambda words: change_json(lambda about: about.update(verdict=words)),
    "an error message": lambda words: change_json(
        lambda about: about.update(verdict="error", errors=[words], exit_status=70)),
    "what ended it": lambda words: change_json(lambda about: about.update(ended_by=words)),
    "a criterion": lambda words: change_json(lambda about: about.update(
        verdict="failed", expect=[{"criterion": words, "unit": words, "holds": False, "rows": 3,
                                   "worst": 2.0, "judged": True, "failures": 1}])),
    "the file of an output": lambda words: set_value(
        words, lambda about: about["config"]["outputs"][0], "file"),
    "the list of files": listed,
    "the units": lambda words: set_value(words, lambda about: about["config"]["physics"], "units"),
    "a column of a table": lambda words: header(words, "kinetic [", "WORDS ["),
    "a column between others": lambda words: header(words, "kinetic [", "WORDS,kinetic ["),
    "the unit of a column": lambda words: header(words, "[M L^2 T^-2]", "[WORDS]"),
    "the list of a report": list_of_report,
    "the file that asked for it": lambda words: set_value(
        words, lambda about: about["asked"], "file"),
    "a change that asked for it": lambda words: change_json(
        lambda about: about["asked"].update(changes=["time.step=0.05", words])),
    "a species of the trajectory": species,
    "the lock": lock,
    "run.cfg, a link": link("run.cfg"),
    "a table, a link": link("conservation.csv"),
    "report.html, a link": link("report.html"),
    "plots, a link": link("plots"),
}


# --- what comes of it -----------------------------------------------------------------------------

GNUPLOT = """#!/bin/sh
cp "$2" "%(here)s/scripts/$$.gp" 2>/dev/null
ORRERY_EXEC_LOG="%(here)s/begun" LD_PRELOAD="%(shim)s" exec %(gnuplot)s "$@"
"""


def prepare():
    """A run, and a gnuplot that keeps a copy of every script and begins no other program."""
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")
    here = os.getcwd()
    for folder in ("bin", "scripts", "outside"):
        os.makedirs(folder, exist_ok=True)
    pathlib.Path("outside/mine").write_text("a year of work\n")
    pathlib.Path("outside/mine.csv").write_text("step [1],time [T]\n0,0\n")
    pathlib.Path("bin/gnuplot").write_text(GNUPLOT % {
        "here": here, "shim": harness.shim("exec"), "gnuplot": shutil.which("gnuplot")})
    os.chmod("bin/gnuplot", 0o755)
    pathlib.Path("whole.cfg").write_text(CONFIG)
    if not os.path.isdir("whole"):
        assert tap.run("run", "whole.cfg", "-q", "-o", "whole").returncode == 0
        assert tap.run("run", "whole.cfg", "-q", "-o", "other", "-P",
                       "time.step=0.025").returncode == 0


def orrery(*arguments):
    environment = harness.environment({"LD_PRELOAD": harness.shim("exec"),
                                       "ORRERY_EXEC_LOG": f"{os.getcwd()}/begun",
                                       "OMP_WAIT_POLICY": "passive",  # else it begins anew
                                       "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    return subprocess.run([tap.ORRERY, *arguments], capture_output=True, env=environment,
                          timeout=60 * tap.PATIENCE)


STATEMENT = re.compile(
    r"set (encoding|linetype|xlabel|ylabel|format|xtics|ytics|mxtics|mytics|xrange|yrange|zrange|"
    r"logscale|nonlinear|border|tics|grid|key|offsets|size|terminal|output|xyzplane|xyplane|view|"
    r"label|lmargin|rmargin|tmargin|bmargin)\b|unset (key|tics)\b|plot |splot |replot$|"
    r"[a-z]+ = '|     (keyentry |')|$")
STRING = re.compile(r"'(?:[^'`\\\n]*)'|\"(?:[^\"'`\\@\n]|\\[0-7]{3})*\"")
STYLES = {"line", "dashed", "path", "points", "discs", "dots", "starts", "focus", "band"}


def problems_of_script(text):
    """Why a script holds what none of ours does; None where it does not."""
    for line in text.split("\n"):
        if not STATEMENT.match(line):
            return f"no statement of ours: {line!r}"
        rest = STRING.sub("S", line)
        if re.search(r"['\"`!|<>$;{}]", rest):
            return f"more than words in strings: {line!r}"
        if any(name not in STYLES for name in re.findall(r"@(\w*)", rest)):
            return f"a macro: {line!r}"
        if re.search(r"\b(system|shell|load|call|eval|import|cd|pause|print|save)\b", rest):
            return f"a command: {line!r}"
        for name in re.findall(r"(?:plot |output |     )'([^']*)'", line):
            if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name):
                return f"the name of a file: {line!r}"
    return None


class Page(html.parser.HTMLParser):
    """What a page could do: elements that load or run, handlers, addresses."""
    ELEMENTS = ("script", "iframe", "object", "embed", "base", "form", "a", "link", "img", "meta")

    def __init__(self, text):
        super().__init__()
        self.problems = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            value = value or ""
            if name.startswith("on") or name == "style":
                self.problems.append(f"{name} of {tag}: {value}")
            if name in ("href", "src", "xlink:href", "action") and not re.fullmatch(
                    r"(plots/)?[\w.%-]*|#\w*|data:,", value):
                self.problems.append(f"{name} of {tag}: {value}")
        if tag in ("script", "iframe", "object", "embed", "base", "form"):
            self.problems.append(tag)


OURS = re.compile(r"trial/(report\.(html|json)|plots|plots/[A-Za-z0-9][\w.-]*\.(dat|gp|svg|png))$")
OBEYED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def watched():
    """All that a report may not change; of a folder only that it is there."""
    return {path: "a folder" if os.path.isdir(path) and not os.path.islink(path) else state
            for path, state in harness.tree(".").items()
            if not path.startswith(("scripts/", "bin/")) and path not in ("begun", "pwned")
            and path != "trial/report.json"}


def judge(row, trial, before, result, expected=(0, 65, 66, 73), allowed=OURS):
    """Nothing but a report's own files is another one now, and nothing was run or obeyed."""
    row.ended(trial, result, expected)
    after = watched()
    row.untouched(trial, before,
                  {path: state for path, state in after.items()
                   if path in before or not allowed.match(path)})
    if os.path.exists("pwned"):
        row.commands += 1
        row.problem(trial, "a command was run")
        os.unlink("pwned")
    if os.path.exists("begun"):
        row.processes += 1
        row.problem(trial, f"begun: {pathlib.Path('begun').read_text()!r}")
        os.unlink("begun")
    shown = (result.stdout + result.stderr).decode(errors="replace")
    if OBEYED.search(shown):
        row.is_wrong(trial, f"a terminal would obey {shown!r}")
    for path in pathlib.Path("scripts").glob("*.gp"):
        problem = problems_of_script(path.read_text())
        if problem:
            row.commands += 1
            row.problem(trial, f"a script: {problem}")
        row.scripts = getattr(row, "scripts", 0) + 1
        path.unlink()


def plant(place, words):
    shutil.rmtree("trial", ignore_errors=True)
    shutil.copytree("whole", "trial")
    os.mkdir("trial/plots")
    pathlib.Path("trial/plots/mine.svg").write_text("mine\n")
    pathlib.Path("trial/notes.csv").write_text("mine\n")
    if PLACES[place] in (PLACES["plots, a link"],):
        shutil.rmtree("trial/plots")
    PLACES[place](expand(words))


def check_page(row, trial):
    page = pathlib.Path("trial/report.html")
    if page.is_file() and not page.is_symlink():
        text = page.read_text(encoding="utf-8", errors="replace")
        problems = Page(without_scripts(text)).problems
        if problems:
            row.is_wrong(trial, f"the page: {problems}")


COMMANDS = (("report", "trial"), ("watch", "trial"), ("report", "trial", "other", "-o", "trial"),
            ("report", "trial", "--plot", "energies,kinetic"))


def test_hostile_directories():
    """a stranger's strings in every place of a directory: data, or refused with 65; never obeyed"""
    prepare()
    trials = [(place, words) for place in PLACES for words in STRINGS]
    trials = [(*trial, COMMANDS[k % len(COMMANDS)]) for k, trial in enumerate(shuffled(trials))]
    with Row(22, "a run directory with a stranger's string in one place") as row:
        for place, words, command in some(trials[::2], 60, 16):
            plant(place, words)
            before = watched()
            trial = f"{words!r} as {place}, {' '.join(command)}"
            expected = (0, 64, 65, 66, 73) if "--plot" in command else (0, 65, 66, 73)
            if command[0] == "watch":
                expected = range(128)  # the status of the run, which may be the stranger's
            judge(row, trial, before, orrery(*command), expected)
            check_page(row, trial)
        print(f"# {getattr(row, 'scripts', 0)} scripts read")
        assert getattr(row, "scripts", 0) > 0


def test_strings_reach_gnuplot_whole():
    """a value with any quotes and signs is a label of a comparison, and gnuplot writes it"""
    prepare()
    with Row(22, "a comparison of runs whose labels are a stranger's strings") as row:
        for words in some([words for words in STRINGS if words.strip() and len(words) < 30], 12, 3):
            plant("the name of the run", "whole")
            def change(about):
                about["config"]["bodies"]["initial"] = expand(words)
            change_json(change)
            before = watched()
            result = orrery("report", "trial", "other", "-o", "both")
            judge(row, repr(words), before, result, allowed=re.compile(r"both|both/"))
            if result.returncode:
                row.is_wrong(repr(words), f"ended with {result.returncode}")
            shutil.rmtree("both", ignore_errors=True)


class Commands(html.parser.HTMLParser):
    """The text of the elements `code` of a page, as who copies them gets it."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.inside = [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside |= tag == "code"
        if tag == "code":
            self.texts.append("")

    def handle_endtag(self, tag):
        self.inside &= tag != "code"

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data


def check_copied(row, trial, line, words):
    """A line of a shell that a user may copy asks for these words, and is nothing but words."""
    if OBEYED.search(line):
        row.is_wrong(trial, f"a terminal would obey {line!r}")
    subprocess.run(["sh", "-c", "orrery() { printf '%s\\0' \"$@\" >copied; }\n" + line], timeout=60,
                   stderr=subprocess.DEVNULL)
    path = pathlib.Path("copied")
    found = path.read_bytes().decode().split("\0")[:-1] if path.exists() else None
    path.unlink(missing_ok=True)
    if found != words:
        row.is_wrong(trial, f"asks for {found}, not for {words}: {line!r}")
    if os.path.exists("pwned"):
        row.commands += 1
        row.problem(trial, f"runs a command: {line!r}")
        os.unlink("pwned")


def shown(words):
    """What a command of a page has in the place of a stranger's words: no option, no control."""
    return "./" * words.startswith("-") + "".join(
        "?" * len(sign.encode()) if OBEYED.match(sign) else sign for sign in words)


def test_what_asked_for_a_strangers_run():
    """the command on the page is one of these words and of no other, wherever it is pasted"""
    prepare()
    changes = [expand(words) for words in STRINGS]
    with Row(22, "a command that asked for a run, of a stranger's strings") as row:
        for words in some([words for words in changes if words], 4):
            plant("the name of the run", "whole")
            change_json(lambda about: about.update(asked={"file": words, "changes": changes}))
            before = watched()
            judge(row, repr(words), before, orrery("report", "trial"), (0,))
            check_page(row, repr(words))
            code = Commands(pathlib.Path("trial/report.html").read_bytes().decode()).texts
            wanted = ["run", shown(words)]
            for change in changes:
                wanted += ["-P", shown(change)]
            check_copied(row, repr(words), "".join(code), wanted)


def test_the_way_on_of_a_strangers_run():
    """the command that continues a run is a word for each word, whatever its directory is called"""
    prepare()
    with Row(22, "a run that was stopped, in a directory of a stranger's name") as row:
        for words in some([words for words in map(expand, STRINGS)
                           if words.strip(".") and "/" not in words and len(words) < 100
                           and not OBEYED.search(words) and "\r" not in words], 8):
            plant("the name of the run", "whole")
            change_json(lambda about: about.update(state="ended", verdict="stopped",
                                                   exit_status=75, step=1))
            shutil.rmtree("stopped", ignore_errors=True)
            os.mkdir("stopped")
            path = f"stopped/{words}"
            os.rename("trial", path)
            result = orrery("report", path)
            row.ended(repr(words), result, (0,))
            code = Commands(pathlib.Path(path, "report.html").read_bytes().decode()).texts
            check_copied(row, repr(words), next(iter(code), ""),
                         ["run", f"{path}/run.cfg", "-o", path, "--restart"])


def test_species_of_a_stranger():
    """species are labels of figures and of the player: quoted, whatever they are"""
    prepare()
    names = [re.sub(r"\s", "_", expand(words)) for words in STRINGS]
    names = [words for words in names if words]
    strange = ("\udcff\udce9t\udce9", "a" * 38 + "é")  # no UTF-8; cut within its last letter
    with Row(22, "a trajectory whose species are a stranger's strings") as row:
        for pair in (strange, *some(zip(names[::2], names[1::2]), 6)):
            plant("the name of the run", "whole")
            species(*pair)
            before = watched()
            trial = repr(pair)
            judge(row, trial, before, orrery("report", "trial"), (0, 65))
            check_page(row, trial)
            page = pathlib.Path("trial/report.html")
            groups = page.exists() and re.search('data-groups="([^"]*)"', page.read_text())
            if page.exists() and len(json.loads(html.unescape(groups[1]))) != 2:
                row.is_wrong(trial, f"other species: {groups[1]!r}")


def test_force_over_a_strangers_report():
    """run --force removes what a report has written and still is so, and nothing else"""
    prepare()
    with Row(22, "run --force over a report.json that lists others' files") as row:
        for words in some(STRINGS, 6):
            plant("the list of a report", words)
            before = {path: state for path, state in watched().items()
                      if not path.startswith("trial/") or path in ("trial/notes.csv",
                                                                   "trial/plots/mine.svg")}
            result = orrery("run", "whole.cfg", "-q", "--force", "-o", "trial")
            row.ended(repr(words), result, (0,))
            after = watched()
            row.untouched(repr(words), before, {path: after.get(path) for path in before})
            if os.path.exists("trial/report.json"):
                row.problem(repr(words), "report.json is still there")


# --- the other commands that read a stranger's files ---------------------------------------------

def in_config(words, key):
    """A value of the run's own config, as libconfig spells it."""
    path = pathlib.Path("trial/run.cfg")
    text = path.read_text()
    quoted = '"' + words.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    changed = re.sub(rf'(?m)^(\s*(?:{{\s*)?{key} = )"[^"]*"', lambda m: m.group(1) + quoted, text,
                     count=1)
    assert changed != text or quoted in text, (key, text)
    path.write_text(changed)


VERIFIED = {
    "the name in run.cfg": lambda words: in_config(words, "name"),
    "the file of an output in run.cfg": lambda words: in_config(words, "file"),
    "the integrator in run.cfg": lambda words: in_config(words, "integrator"),
}


def test_verify_of_a_strangers_directory():
    """orrery verify: run.json is noted and nothing else is written, whatever the directory holds"""
    prepare()
    trials = [(place, words) for place in (*PLACES, *VERIFIED) for words in STRINGS]
    with Row(22, "orrery verify of a directory with a stranger's string in one place") as row:
        for place, words in some(shuffled(trials)[::4], 20):
            plant(place if place in PLACES else "the name of the run",
                  words if place in PLACES else "whole")
            if place in VERIFIED:
                VERIFIED[place](expand(words))
            before = watched()
            before.pop("trial/run.json", None)
            judge(row, f"{words!r} as {place}", before, orrery("verify", "trial", "-q"),
                  (0, 1, 65, 66, 69, 73, 74, 78), re.compile(r"trial/run\.json$"))


BODIES = {
    "a column of CSV": ("csv", 'm,x,y,z,vx,vy,vz,"WORDS"\n1,0,0,0,0,0,0,1\n1,1,0,0,0,1,0,2\n'),
    "a column between others": ("csv", "m,x,WORDS,y,z,vx,vy,vz\n"
                                       "1,0,7,0,0,0,0,0\n1,1,7,0,0,0,1,0\n"),
    "a unit of CSV": ("csv", "m [WORDS],x [AU],y [AU],z [AU],vx [km/s],vy [km/s],vz [km/s]\n"
                             "1,0,0,0,0,0,0\n1,1,0,0,0,1,0\n"),
    "a cell of CSV": ("csv", "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\nWORDS,1,0,0,0,1,0\n"),
    "a comment of a table": ("txt", "# WORDS\n1 0 0 0 0 0 0\n1 1 0 0 0 1 0\n"),
    "a cell of a table": ("txt", "1 0 0 0 0 0 0\n1 WORDS 0 0 0 1 0\n"),
    "the properties of XYZ": ("xyz", "2\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1:"
                                     "WORDS:R:1\nA 0 0 0 0 0 0 1 5\nA 1 0 0 0 1 0 1 5\n"),
    "a key of XYZ": ("xyz", "2\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1 WORDS=WORDS "
                            'Units="WORDS"\nA 0 0 0 0 0 0 1\nA 1 0 0 0 1 0 1\n'),
    "a species of XYZ": ("xyz", "2\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1\n"
                                "WORDS 0 0 0 0 0 0 1\nA 1 0 0 0 1 0 1\n"),
}


def test_convert_of_a_strangers_file():
    """orrery convert: its own output is written and nothing else; it has numbers and our names"""
    prepare()
    trials = [(place, words, kind) for place in BODIES for words in STRINGS
              for kind in ("csv", "xyz", "txt")]
    with Row(22, "orrery convert of a file with a stranger's string in one place") as row:
        for place, words, kind in some(shuffled(trials)[::3], 20):
            suffix, text = BODIES[place]
            path = pathlib.Path(f"strange.{suffix}")
            path.write_text(text.replace("WORDS", expand(words)), errors="surrogateescape")
            before = watched()
            result = orrery("convert", str(path), f"made.{kind}")
            trial = f"{words!r} as {place}, to {kind}"
            judge(row, trial, before, result, (0, 65, 66, 69, 78), re.compile(rf"made\.{kind}$"))
            made = pathlib.Path(f"made.{kind}")
            if made.exists():
                if kind == "csv" and re.search(r'(?m)(^|,)"?[=+@]', made.read_text()):
                    row.is_wrong(trial, f"a formula: {made.read_text()!r}")
                if OBEYED.search(made.read_text()):
                    row.is_wrong(trial, f"a terminal would obey {made.read_text()!r}")
                made.unlink()
            path.unlink()


def plant_member(place, words):
    """The place in the first member of the study `trial`, by what does it in a run `trial`."""
    shutil.rmtree("study", ignore_errors=True)
    shutil.copytree("swept", "study")
    shutil.rmtree("trial", ignore_errors=True)
    os.rename("study/001", "trial")
    os.mkdir("trial/plots")
    if place == "plots, a link":
        os.rmdir("trial/plots")
    PLACES[place](expand(words))
    os.rename("trial", "study/001")


def test_studies_with_a_strangers_member():
    """the table of a study is made again beside a stranger's member; no cell of it is a formula"""
    prepare()
    pathlib.Path("swept.cfg").write_text(
        CONFIG + 'sweep = ( { key = "time.step"; values = [0.05, 0.1]; } );\n')
    if not os.path.isdir("swept"):
        result = tap.run("run", "swept.cfg", "-q", "-o", "swept")
        assert result.returncode == 0, result
    commands = (("run", "swept.cfg", "-q", "-o", "study"),
                ("run", "swept.cfg", "-q", "-o", "study", "--member", "1"),
                ("run", "swept.cfg", "-q", "-o", "study", "--member", "2"),
                ("report", "study"))
    ours = re.compile(r"study/(study\.(csv|json)|report\.(html|json)|plots|"
                      r"plots/[A-Za-z0-9][\w.-]*\.(dat|gp|svg|png)|00[12]/[\w.-]+)$")
    trials = [(place, words) for place in PLACES for words in STRINGS]
    trials = [(*trial, commands[k % len(commands)]) for k, trial in enumerate(shuffled(trials))]
    with Row(22, "a study with a stranger's string in one member") as row:
        for place, words, command in some(trials[::8], 16):
            plant_member(place, words)
            pathlib.Path("study/001/notes.csv").write_text("mine\n")
            before = {path: state for path, state in watched().items()
                      if not ours.match(path) or path == "study/001/notes.csv"}
            trial = f"{words!r} as {place}, {' '.join(command)}"
            judge(row, trial, before, orrery(*command), (0, 1, 65, 66, 70, 73, 74, 75, 78), ours)
            table = pathlib.Path("study/study.csv")
            if table.is_file() and re.search(r'(?m)(^|,)"?[=@]', table.read_text()):
                row.is_wrong(trial, f"a formula: {table.read_text()!r}")


# --- made up --------------------------------------------------------------------------------------

HOLES = 18  # of validation/fuzz/report.c
PIECES = ("error", "_", "-", ".", "/", "..", "'", '"', "`", "\x01", "!", "|", "<", ">", "@", "$",
          "\\", "touch pwned", "system(", ")", "\u00e9", "\x1b[", "\u202e", " ", "[", "]", ",", "=",
          "%s", "#", "plots/", "mine", "report", "x", "javascript:", "<script>", "&", ";", "{", "}",
          "\x7f")


def made_up(numbers):
    """An input of the fuzz target: some of the strings of a good run are others."""
    lines = [""] * HOLES
    for _ in range(numbers.choice((1, 1, 1, 2, 4))):
        if numbers.random() < 0.5:
            words = expand(numbers.choice(STRINGS)).replace("\n", "\x01")
        else:
            words = "".join(numbers.choices(PIECES, k=numbers.randrange(1, 12)))
        lines[numbers.randrange(HOLES)] = words
    command = numbers.choice((0, 0, 0, 4, 4, 8, 16, 1, 2))
    return bytes([command]) + "\n".join(lines).encode(errors="replace")


def test_made_up_directories():
    """the fuzz target on thousands of directories; it ends where it obeys anything of a stranger"""
    target = os.path.join(harness.BUILD, "validation/fuzz/report")
    if not os.path.exists(target):
        raise tap.Skip("the fuzz target is not built")
    numbers = random.Random(31)
    count = 10000 if harness.everything() else 100
    with Row(22, "a run directory with made-up strings in some places") as row:
        for start in range(0, count, 500):
            paths = [f"made-{start + k}" for k in range(min(500, count - start))]
            for path in paths:
                pathlib.Path(path).write_bytes(made_up(numbers))
            result = subprocess.run([target, *paths], capture_output=True, text=True,
                                    errors="replace", timeout=600 * tap.PATIENCE)
            told = re.search(r"# (\d+) directories, (\d+) scripts; commands run: (\d+), files "
                             r"touched outside: (\d+), processes other than gnuplot: (\d+)",
                             result.stdout)
            if result.returncode or not told:
                row.problem(start, f"{result.returncode}: {result.stdout[-200:]}"
                                   f"{result.stderr[-300:]}")
                break
            trials, _, commands, foreign, processes = map(int, told.groups())
            row.trials += trials
            row.ends["0 or an error"] += trials
            row.commands += commands
            row.foreign += foreign
            row.processes += processes
            for path in paths:
                os.unlink(path)


tap.main()
