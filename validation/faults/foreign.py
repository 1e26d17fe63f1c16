"""What is another's: no command removes it, replaces it, or writes through a link to it."""

import json
import os
import pathlib
import subprocess

import harness
import tap
from harness import Row, Study, shuffled, some

QUICK = 15  # seconds, for commands that take less than one: a pipe that nobody writes to may hang

# --- things of others -----------------------------------------------------------------------------

FOREIGN_JSON = {"program": "thesis", "files": ["notes.csv", "thesis.tex", "../outside/study.csv"]}


def put_text(path):
    path.write_text("another program's table\n1,2,3\n")


def put_json(path):
    path.write_text(json.dumps(FOREIGN_JSON))


def put_link(path):
    path.symlink_to(os.path.abspath("outside/study.csv"))


def put_dangling_link(path):
    path.symlink_to(os.path.abspath("outside/not-there-yet"))


def put_link_to_folder(path):
    path.symlink_to(os.path.abspath("outside/deep"))


def put_pipe(path):
    os.mkfifo(path)


def put_folder(path):
    path.mkdir()
    (path / "thesis.tex").write_text("of another\n")


THINGS = (put_text, put_json, put_link, put_dangling_link, put_link_to_folder, put_pipe, put_folder)


def run(row, trial, expected, *command, **options):
    """Counts the trial; a command that hangs is a problem of it."""
    try:
        result = subprocess.run([tap.ORRERY, *command], capture_output=True, text=True,
                                env=harness.environment(), timeout=QUICK * tap.PATIENCE, **options)
    except subprocess.TimeoutExpired:
        result = subprocess.CompletedProcess(command, 124, "", "it hangs")
    row.ended(trial, result, expected)
    return result


def everywhere():
    return {f"{folder}/{path}": state for folder in ("trial", "outside")
            for path, state in harness.tree(folder).items()}


def still_there(row, trial, before, mine):
    """Everything that was there is, but what is ours (by the first part of the path) may change."""
    after = everywhere()
    row.untouched(trial, {path: state for path, state in before.items() if not mine(path)},
                  {path: after.get(path) for path in before if not mine(path)})
    if "outside/not-there-yet" in after:
        row.foreign += 1
        row.problem(trial, "written through a link")


def place(thing, name):
    path = pathlib.Path("trial", name)
    path.parent.mkdir(exist_ok=True)
    if path.is_dir():
        harness.begin("moved")
        os.rename(path, "moved")
    path.unlink(missing_ok=True)
    thing(path)


# --- studies --------------------------------------------------------------------------------------

NAMES = ("study.csv", "study.json", "convergence.csv", "study.lock", "run.json", "001", "002",
         "001/run.json", "002/run.cfg", "002/run.log", "002/conservation.csv",
         "003/trajectory.xyz", "003/checkpoint.orr", "003/checkpoint.orr.prev", "plots")
COMMANDS = ((), ("--force",), ("--member", "2"), ("--member", "2", "--force"))


def test_studies():
    """things of others where a study or its members would write: untouched, 73 where in the way"""
    swept = Study()
    plain = Study(harness.SWEEP[:harness.SWEEP.index("sweep")], "--convergence", whole="other")
    trials = [(study, arguments, name, thing) for name in NAMES for thing in THINGS
              for study, commands in ((swept, COMMANDS), (plain, COMMANDS[:2]))
              for arguments in commands]
    with Row(15, "a study where another's file, link, pipe or folder is in the way") as row:
        for study, arguments, name, thing in some(shuffled(trials), 5):
            harness.plant("trial")
            place(thing, name)
            before = everywhere()
            trial = f"{thing.__name__[4:]} at {name}, {' '.join(arguments)} " \
                    f"{' '.join(study.arguments)}"
            run(row, trial, (0, 73), *study.command("trial", *arguments)[1:])
            still_there(row, trial, before, lambda path: False)


def test_finished_studies():
    """things of others in the place of a file that a study has written, since it ended"""
    study = Study()
    names = ("study.csv", "study.json", "002", "002/run.json", "002/conservation.csv",
             "003/trajectory.xyz", "003/run.cfg")
    links = (put_link, put_dangling_link, put_link_to_folder, put_pipe, put_folder)
    trials = [(arguments, name, thing) for name in names for thing in links
              for arguments in COMMANDS]
    # A restart makes a manifest anew that is damaged; this one is whole, and another program's.
    trials += [(arguments, name, put_json) for name in ("study.json", "001/run.json",
                                                        "002/run.json") for arguments in COMMANDS]
    with Row(15, "a study whose file has become a link, a pipe or a folder since") as row:
        for arguments, name, thing in some(shuffled(trials), 3):
            harness.plant("trial", "whole")
            place(thing, name)
            before = everywhere()
            trial = f"{thing.__name__[4:]} at {name}, {' '.join(arguments)}"
            result = run(row, trial, (0, 66, 73, 74), *study.command("trial", *arguments)[1:])
            thing_itself = os.path.join("trial", name)
            if name.endswith(".json") and not (arguments or result.returncode == 73):
                row.problem(trial, f"ended with {result.returncode}: {result.stderr}")
            still_there(row, trial, before,
                        lambda path: path.startswith("trial/") and path != thing_itself and
                        path not in harness.planted("trial") and
                        not path.startswith(thing_itself + "/"))


def test_the_directory_itself():
    """a study, a run or a report whose directory is a link, a file or a pipe"""
    study = Study()
    ways = (put_text, put_link, put_link_to_folder, put_dangling_link, put_pipe)
    with Row(15, "a study whose folder is another's file, link or pipe") as row:
        for thing in some(ways, 1):
            for arguments in COMMANDS[:3]:
                harness.plant("trial")
                place(thing, "grid")
                before = everywhere()
                trial = f"{thing.__name__[4:]}, {' '.join(arguments)}"
                run(row, trial, (73,), *study.command("trial/grid", *arguments)[1:])
                still_there(row, trial, before, lambda path: False)


def test_fewer_members():
    """--force with fewer members: the old ones go, with what others have put there they stay"""
    study = Study()
    sweep = 'sweep=({ key = "bodies.seed"; values = [VALUES]; })'
    with Row(15, "--force with fewer members, and files of others in the old ones") as row:
        for values in some(("3, 5", "3", "8", "8, 3"), 1):
            change = sweep.replace("VALUES", values)
            fresh = Study(harness.SWEEP, "-P", change, whole="fresh")
            harness.plant("trial", "whole")
            pathlib.Path("trial/003/notes.csv").write_text("of another\n")
            before = {**harness.planted("trial"),
                      "trial/003/notes.csv": harness.state_of("trial/003/notes.csv")}
            row.ended(values, fresh.run("trial", "--force"), (0,))
            if fresh.changed_files("trial")[2]:
                row.is_wrong(values, f"{fresh.changed_files('trial')[2]}: of the old study")
            row.untouched(values, before, {path: harness.state_of(path) if os.path.lexists(path)
                                           else None for path in before})
            count = pathlib.Path("trial/study.csv").read_text().count("\n") - 1
            if count != values.count(",") + 1:
                row.is_wrong(values, f"study.csv has {count} rows")
    assert study.status == 0


# --- manifests ------------------------------------------------------------------------------------

def manifests(whole):
    """(what, run.json): of another program, or of ours with paths that no run of ours can have."""
    yield "another program's", FOREIGN_JSON
    yield "another program's, otherwise as ours", {**whole, **FOREIGN_JSON}
    yield "without a program", {"files": ["thesis.tex", "notes.csv"]}
    yield "an array", ["thesis.tex"]
    for path in ("../outside/study.csv", os.path.abspath("outside/study.csv"), "elsewhere",
                 "elsewhere/study.csv", "./../outside/study.csv", "plots/../../outside/study.csv",
                 "folder", "pipe", "link", "", ".", "..", "/"):
        yield f"ours with {path!r}", {**whole, "files": [*whole["files"], path]}


def test_manifests():
    """run --force trusts no list of files but its own: nothing outside, no link, no folder"""
    study = Study()
    whole = json.loads(pathlib.Path("whole/001/run.json").read_text())
    assert isinstance(whole["files"], list), whole["files"]
    config = study.config
    with Row(15, "run --force over a run.json that lists others' files") as row:
        for what, manifest in some(shuffled(manifests(whole)), 3):
            for arguments in some((("--force",), ("--restart",), ()), 1):
                harness.plant("trial")
                for name in ("thesis.tex", "notes.csv"):
                    pathlib.Path("trial", name).write_text("a year of work\n")
                put_folder(pathlib.Path("trial/folder"))
                put_pipe(pathlib.Path("trial/pipe"))
                put_link(pathlib.Path("trial/link"))
                pathlib.Path("trial/run.json").write_text(json.dumps(manifest))
                before = everywhere()
                trial = f"{what}, {' '.join(arguments)}"
                ours = what.startswith("ours")
                run(row, trial, (0, 73, 65, 66, 74) if ours else (65, 66, 73), "run", config, "-q",
                    "-o", "trial", "-P", "sweep=()", *arguments)
                still_there(row, trial, before,
                            lambda path: ours and path == "trial/run.json")
    with Row(15, "run --restart where another program's run.json is beside a checkpoint") as row:
        for what, manifest in some((m for m in manifests(whole) if m[0].startswith("another")), 1):
            for put in (lambda path: path.write_text(json.dumps(manifest)), put_link, put_pipe,
                        put_folder):
                harness.plant("trial", "whole/001")
                place(put, "run.json")
                before = everywhere()
                run(row, what, (73,), "run", config, "-q", "-o", "trial", "-P", "sweep=()",
                    "--restart")
                still_there(row, what, before, lambda path: False)


# --- report and bench -----------------------------------------------------------------------------

def test_reports():
    """report and bench -o replace nothing that is not theirs"""
    study = Study()
    names = ("report.html", "plots", "plots/energy.svg", "plots/conservation.svg")
    kinds = (put_text, put_link, put_dangling_link, put_pipe, put_folder)
    trials = [(name, thing, *way) for name in names for thing in kinds
              for way in (("whole/001", "whole/001", "-o", "trial"), ("trial", "trial"))]
    with Row(15, "report, where another's file, link, pipe or folder is in the way") as row:
        for name, thing, *command in some(shuffled(trials), 1):
            harness.plant("trial", "whole" if command[0] == "trial" else None)
            place(thing, name)
            before = everywhere()
            trial = f"{thing.__name__[4:]} at {name}, {' '.join(command[1:])}"
            run(row, trial, (0, 69, 73, 74), "report", *command[1:])
            still_there(row, trial, before, lambda path: False)
    trials = [(name, thing) for name in ("bench.csv", "bench.json") for thing in kinds]
    with Row(15, "bench -o, where another's file, link, pipe or folder is in the way") as row:
        for name, thing in some(shuffled(trials), 1):
            harness.plant("trial")
            place(thing, name)
            before = everywhere()
            trial = f"{thing.__name__[4:]} at {name}"
            run(row, trial, (73,), "bench", "--sizes", "64", "--threads", "1", "--backends",
                "serial", "--seconds", "0.1", "-o", "trial")
            still_there(row, trial, before, lambda path: False)
    assert study.status == 0


tap.main()
