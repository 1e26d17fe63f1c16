"""Files: whatever Orrery writes or removes is its own; studies claim and lock as runs do."""

import contextlib
import csv
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import tap

PAIR = """
name = "pair";
bodies = { initial = "two-body"; eccentricity = 0.5; };
time = { step = 0.01; end = 0.1; };
diagnostics = ( { type = "conservation"; every = 5; } );
"""
SWEEP = PAIR + 'sweep = ( { key = "time.step"; values = [%s]; } );\n'
STEPS = "0.01, 0.005, 0.0025"
# Seconds of work: the tests halt it.
LONG = """
name = "pair";
bodies = { initial = "plummer"; count = 16; };
physics = { softening = 0.1; };
time = { step = 0.001; end = 1000.0; };
sweep = ( { key = "bodies.seed"; values = [1, 2]; } );
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def sweep(steps=STEPS):
    return write(SWEEP % steps)


def content(folder):
    """Every file with its bytes, every link with where it points."""
    return {str(p): os.readlink(p) if p.is_symlink() else p.read_bytes()
            for p in sorted(pathlib.Path(folder).rglob("*")) if p.is_symlink() or p.is_file()}


def refused(*arguments, word=""):
    result = tap.run(*arguments)
    assert result.returncode == 73 and word in result.stderr, (arguments, result)
    return result


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@contextlib.contextmanager
def halted(path, *arguments):
    """A command that stands still, with all its processes, once that file is there."""
    process = subprocess.Popen([tap.ORRERY, *arguments], start_new_session=True)
    try:
        while not os.path.exists(path):
            assert process.poll() is None, process.returncode
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGSTOP)
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# --- whose manifest -------------------------------------------------------------------------------

def test_the_manifest_of_another_program_is_not_believed():
    config = write(PAIR)
    files = ["run.json", "thesis.tex"]
    ours = {"name": "orrery", "version": "0.1.0"}
    for about in ({"program": "latexmk", "files": files}, {"files": files},
                  {"program": {"name": "latexmk"}, "format": "orrery run", "files": files},
                  {"program": ours, "format": "orrery study", "files": files},
                  {"program": ours, "files": files}, [1]):
        shutil.rmtree("pair.run", ignore_errors=True)
        os.mkdir("pair.run")
        pathlib.Path("pair.run/run.json").write_text(json.dumps(about))
        pathlib.Path("pair.run/thesis.tex").write_text("years of work")
        before = content("pair.run")
        refused("run", config, "--force", word="was not written by Orrery")
        refused("run", config, word="run.json")
        assert content("pair.run") == before, about


def test_force_removes_regular_files_only():
    config = write(PAIR)
    os.mkdir("pair.run")
    drafts = [pathlib.Path("pair.run", name + ".tmp") for name in ("run.json", "checkpoint.orr")]
    for draft in drafts:
        draft.write_text("mine")
    assert tap.run("run", config, "-q").returncode == 0
    pathlib.Path("notes").write_text("mine")
    about = json.loads(pathlib.Path("pair.run/run.json").read_text())
    about["files"] += ["link", "pipe", ".profile", "../notes", "plots/../../notes"]
    pathlib.Path("pair.run/.profile").write_text("mine")
    pathlib.Path("pair.run/run.json").write_text(json.dumps(about))
    os.symlink("../notes", "pair.run/link")
    os.mkfifo("pair.run/pipe")
    assert tap.run("run", config, "-q", "--force").returncode == 0
    assert os.path.islink("pair.run/link") and os.path.exists("pair.run/pipe")
    assert os.path.exists("pair.run/.profile") and os.path.exists("notes")
    assert [draft.read_text() for draft in drafts] == ["mine"] * 2
    # In the place of a file that the run needs it is refused before anything goes.
    os.unlink("pair.run/conservation.csv")
    os.symlink("../notes", "pair.run/conservation.csv")
    before = {p: b for p, b in content("pair.run").items()}
    refused("run", config, "-q", "--force", word="conservation.csv: is no regular file")
    assert content("pair.run") == before and pathlib.Path("notes").read_text() == "mine"


def test_a_link_is_not_continued():
    config = write(PAIR)
    assert tap.run("run", config, "-q", "-P", "time.end=0.05").returncode == 0
    os.rename("pair.run/conservation.csv", "elsewhere.csv")
    os.symlink("../elsewhere.csv", "pair.run/conservation.csv")
    before = content("pair.run"), pathlib.Path("elsewhere.csv").read_bytes()
    result = tap.run("run", config, "-q", "--restart")
    assert result.returncode in (73, 74) and "conservation.csv" in result.stderr, result
    assert (content("pair.run"), pathlib.Path("elsewhere.csv").read_bytes()) == before


def test_a_file_that_is_no_lock_stays():
    config = sweep()
    for name, arguments, folder in (("run.lock", ["-P", "sweep=()"], "pair.run"),
                                    ("study.lock", [], "pair.sweep"),
                                    ("study.csv.lock", [], "pair.sweep")):
        os.makedirs(folder, exist_ok=True)
        pathlib.Path(folder, name).write_text("my list of locks")
        refused("run", config, *arguments, word=f"{name}: is there already and is no lock")
        assert content(folder) == {f"{folder}/{name}": b"my list of locks"}
        os.unlink(f"{folder}/{name}")


# --- studies --------------------------------------------------------------------------------------

def test_a_study_overwrites_nothing_foreign():
    config = sweep()
    for name in ("study.csv", "study.json", "convergence.csv", "001/data.txt", "003/run.json"):
        shutil.rmtree("there", ignore_errors=True)
        path = pathlib.Path("there", name)
        path.parent.mkdir(parents=True)
        path.write_text('{"keys": [], "members": [], "files": ["data.txt"]}')
        before = content("there")
        options = ["--convergence", "-P", "sweep=()"] if name == "convergence.csv" else []
        for force in ([], ["--force"], ["--member", 2]):
            refused("run", config, "-q", "-o", "there", *options, *force,
                    word=f"there/{name.split('/')[0]}")
            assert content("there") == before, (name, force)
    # A sweep writes no convergence.csv, and minds none.
    shutil.rmtree("there")
    os.mkdir("there")
    pathlib.Path("there/convergence.csv").write_text("mine")
    pathlib.Path("there/study.csv.tmp").write_text("mine, too")
    assert tap.run("run", config, "-q", "-o", "there").returncode == 0
    assert tap.run("run", config, "-q", "-o", "there", "--force").returncode == 0
    assert pathlib.Path("there/convergence.csv").read_text() == "mine"
    assert pathlib.Path("there/study.csv.tmp").read_text() == "mine, too"


def test_a_study_writes_through_no_link():
    config = sweep()
    os.mkdir("outside")
    for name in ("study.csv", "study.json", "study.csv.tmp", "001"):
        shutil.rmtree("there", ignore_errors=True)
        os.mkdir("there")
        target = pathlib.Path("outside", name)
        if name != "001":
            target.write_text("keep me")
        os.symlink(f"../outside/{name}" if name != "001" else "../outside", f"there/{name}")
        before = content("outside")
        result = tap.run("run", config, "-q", "-o", "there")
        assert result.returncode == (0 if name.endswith(".tmp") else 73), (name, result)
        assert content("outside") == before and os.path.islink(f"there/{name}"), name
    os.symlink("outside", "link")
    refused("run", config, "-q", "-o", "link", word="is a link")
    # Of a study that is there, links in the place of its files are not followed either.
    shutil.rmtree("there")
    assert tap.run("run", config, "-q", "-o", "there").returncode == 0
    os.rename("there/study.csv", "outside/mine.csv")
    os.symlink("../outside/mine.csv", "there/study.csv")
    before = content("outside")
    for force in ([], ["--force"]):
        refused("run", config, "-q", "-o", "there", *force, word="is no regular file")
    assert content("outside") == before


def test_a_study_and_a_run_share_no_directory():
    config = sweep()
    assert tap.run("run", config, "-q", "-o", "study").returncode == 0
    assert tap.run("run", config, "-q", "-o", "run", "-P", "sweep=()").returncode == 0
    refused("run", config, "-o", "study", "-P", "sweep=()", word="holds a study")
    refused("run", config, "-o", "run", word="holds a run")
    os.mkdir("there")
    pathlib.Path("there/study.json").write_text('{"of": "another program"}')
    assert tap.run("run", config, "-q", "-o", "there", "-P", "sweep=()").returncode == 0


def test_of_two_studies_at_once_the_second_says_who_is_at_work():
    config = write(LONG)
    with halted("there/002/run.json", "run", config, "-q", "-o", "there") as whole:
        for arguments in (["--force"], ["--member", 2]):
            refused("run", config, "-q", "-o", "there", *arguments,
                    word=f"there: in use by process {whole.pid} on ")
    # The lock of the dead frees itself.
    assert os.path.exists("there/study.lock")
    result = tap.run("run", config, "-q", "-o", "there", "--max-time", "1")
    assert result.returncode in (0, 75), result
    assert not os.path.exists("there/study.lock")


def test_a_whole_study_leaves_jobs_of_an_array_alone():
    config = write(LONG)
    with halted("there/002/run.json", "run", config, "-q", "-o", "there", "--member", "2") as job:
        refused("run", config, "-q", "-o", "there", word=f"in use by process {job.pid} on ")
        # Another job of the array goes along.
        result = tap.run("run", config, "-q", "-o", "there", "--member", 1, "--max-time", "1")
        assert result.returncode in (0, 75), result
        refused("run", config, "-q", "-o", "there", word="in use by process ")


def test_jobs_of_an_array_at_the_same_time():
    """8 members at once, twice, and again over finished ones: all tables are right"""
    members = range(1, 9)
    values = ", ".join(str(0.05 * k) for k in members)
    config = write((SWEEP % values).replace("time.step", "bodies.eccentricity"))
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    want = pathlib.Path("whole/study.csv").read_bytes()
    for trial in ("a", "b", "b"):
        jobs = [subprocess.Popen([tap.ORRERY, "run", config, "-q", "-o", trial, "--member", str(k)],
                                 stderr=subprocess.PIPE, text=True) for k in members]
        ends = [(job.communicate()[1], job.returncode) for job in jobs]
        assert ends == [("", 0)] * 8, ends
        assert pathlib.Path(trial, "study.csv").read_bytes() == want
        assert sorted(os.listdir(trial)) == sorted(os.listdir("whole"))


def test_members_of_a_convergence_study_at_the_same_time():
    config = write(PAIR)
    options = ["run", config, "-q", "--convergence", "-o"]
    assert tap.run(*options, "whole").returncode == 0
    jobs = [subprocess.Popen([tap.ORRERY, *options, "parts", "--member", str(k)],
                             stderr=subprocess.PIPE, text=True) for k in (1, 2, 3)]
    ends = [(job.communicate()[1], job.returncode) for job in jobs]
    assert ends == [("", 0)] * 3, ends
    for name in ("study.csv", "convergence.csv"):
        assert pathlib.Path("parts", name).read_bytes() == pathlib.Path("whole", name).read_bytes()


def test_force_with_fewer_members_removes_the_others():
    assert tap.run("run", sweep("0.01, 0.005, 0.0025, 0.00125"), "-q").returncode == 0
    pathlib.Path("pair.sweep/003/notes.txt").write_text("mine")
    pathlib.Path("pair.sweep/notes.txt").write_text("mine")
    result = tap.run("run", sweep("0.02, 0.01"), "-q", "--force")
    assert result.returncode == 0, result
    assert "pair.sweep/003: files that Orrery did not write stay there: notes.txt" in result.stderr
    assert sorted(os.listdir("pair.sweep")) == ["001", "002", "003", "notes.txt", "study.csv",
                                                "study.json"]
    assert os.listdir("pair.sweep/003") == ["notes.txt"]
    assert [float(row["time.step"]) for row in table("pair.sweep/study.csv")] == [0.02, 0.01]
    # The directory that stays is known: another --force may use it again.
    assert tap.run("run", sweep(), "-q", "--force").returncode == 0
    assert sorted(p.parent.name for p in pathlib.Path("pair.sweep").glob("*/run.json")) == [
        "001", "002", "003"]


def test_force_of_a_study_looks_at_all_before_it_removes_the_first():
    config = sweep()
    assert tap.run("run", config, "-q").returncode == 0
    pathlib.Path("pair.sweep/003/run.json").write_text('{"files": ["conservation.csv"]}')
    before = content("pair.sweep")
    refused("run", config, "-q", "--force", word="003/run.json: was not written by Orrery")
    assert content("pair.sweep") == before


def test_strings_in_the_table():
    values = ["plain", "a, b", 'say "so"', "back\\slash", "it's"]
    text = ", ".join(json.dumps(value) for value in values)
    config = write(PAIR + f'sweep = ( {{ key = "name"; values = [{text}]; }} );\n')
    assert tap.run("run", config, "-q").returncode == 0
    assert [row["name"] for row in table("pair.sweep/study.csv")] == values


# --- reports and benchmarks -----------------------------------------------------------------------

def test_a_report_overwrites_nothing_foreign():
    config = write(PAIR)
    assert tap.run("run", config, "-q").returncode == 0
    assert tap.run("report", "pair.run", "-o", "sample").returncode in (0, 69)
    names = [str(p.relative_to("sample")) for p in pathlib.Path("sample").rglob("*") if p.is_file()]
    assert "report.html" in names and "report.json" in names
    for target in ("pair.run", "elsewhere"):
        arguments = ["report", "pair.run"] + (["-o", target] if target == "elsewhere" else [])
        for name in (names[0], names[-1], "report.html", "report.json"):
            path = pathlib.Path(target, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("mine")
            before = content(target)
            refused(*arguments, word=name)
            assert content(target) == before
            path.unlink()
            os.symlink(os.path.abspath("run.cfg"), path)
            refused(*arguments, word=name)
            assert os.path.islink(path) and pathlib.Path("run.cfg").read_text() == PAIR
            path.unlink()
        # Its own files it replaces, and --force of the run takes them along.
        for _ in range(2):
            assert tap.run(*arguments).returncode in (0, 69)
    pathlib.Path("pair.run/plots").mkdir(exist_ok=True)
    pathlib.Path("pair.run/plots/mine.svg").write_text("mine")
    assert tap.run("run", config, "-q", "--force").returncode == 0
    assert not [p for p in content("pair.run") if "report" in p]
    assert os.listdir("pair.run/plots") == ["mine.svg"]


def report_files(folder):
    """The names in the list of a report: is what is there what was written last? The list also
    holds the hash of what that has replaced."""
    listed = json.loads(pathlib.Path(folder, "report.json").read_text())["sha256"]
    return {name: hashlib.sha256(pathlib.Path(folder, name).read_bytes()).hexdigest() == hashes[0]
            for name, hashes in listed.items()}


def test_a_report_leaves_pictures_of_the_user():
    """whatever has a name like those of figures; also what it has written and the user changed"""
    assert tap.run("run", write(PAIR), "-q", "-P", ORBIT).returncode == 0
    mine = [f"pair.run/plots/{name}" for name in ("energies.gif", "bodies.gif", "bodies.png",
                                                 "bodies.svg", "orbits.gif", "mine.gp", "x.dat")]
    pathlib.Path("pair.run/plots").mkdir()
    for path in mine:
        pathlib.Path(path).write_text("mine")
    assert tap.run("report", "pair.run").returncode in (0, 69)
    assert all(pathlib.Path(path).read_text() == "mine" for path in mine)
    assert all(report_files("pair.run").values())
    page = pathlib.Path("pair.run/report.html")
    page.write_text(page.read_text() + "<!-- a note of mine -->")
    before = content("pair.run")
    refused("report", "pair.run", word="report.html")
    assert content("pair.run") == before
    assert tap.run("run", "run.cfg", "-q", "--force").returncode == 0
    assert page.read_text().endswith("mine -->")
    assert all(pathlib.Path(path).read_text() == "mine" for path in mine)


ORBIT = 'outputs=({ type="xyz"; every=5; })'


def test_a_report_beside_a_run_that_is_replaced():
    """neither is broken by the other, and nothing is left of a report that was killed"""
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")
    config = write(PAIR)
    assert tap.run("run", config, "-q", "-P", ORBIT).returncode == 0
    rounds, statuses = (16 if tap.is_thorough() else 4), []
    for k in range(rounds):
        report = subprocess.Popen([tap.ORRERY, "report", "pair.run"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        time.sleep(0.03 * (k % 8))
        result = tap.run("run", config, "-q", "--force", "-P", ORBIT)
        assert result.returncode == 0, result
        if k % 4 == 3:
            report.kill()
        statuses.append((report.wait(), report.stderr.read()))
        report.stderr.close()
        # 66: it looked at the moment at which there was no run.
        assert statuses[-1][0] in (0, 66) or k % 4 == 3, statuses[-1]
    assert [status for status, _ in statuses].count(0) > rounds // 4, statuses
    assert tap.run("report", "pair.run").returncode == 0
    assert all(report_files("pair.run").values())
    assert tap.run("run", config, "-q", "--force", "-P", ORBIT).returncode == 0
    assert not [name for name in os.listdir("pair.run") if "report" in name or name == "plots"]


def test_a_report_of_a_run_without_a_row():
    """a run that was killed before its first row has an empty table; one that has ended has not"""
    assert tap.run("run", write(PAIR), "-q").returncode == 0
    before = json.loads(pathlib.Path("pair.run/run.json").read_text())
    os.truncate("pair.run/conservation.csv", 0)
    damaged = tap.run("report", "pair.run")
    assert damaged.returncode == 65 and "conservation.csv: no header" in damaged.stderr, damaged
    pathlib.Path("pair.run/run.json").write_text(
        json.dumps(before | {"verdict": "running", "state": "running", "exit_status": -1}))
    assert tap.run("report", "pair.run").returncode in (0, 69)


def test_what_a_killed_report_left_goes():
    """by the next report and by --force; what others have put into such a folder stays"""
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")
    config = write(PAIR)
    assert tap.run("run", config, "-q").returncode == 0
    for command in (("report", "pair.run"), ("run", config, "-q", "--force")):
        work = pathlib.Path("pair.run/report.orrery-1.tmp")
        work.mkdir()
        (work / "energies.svg").write_text("half of a pic")
        (work / "work.lock").write_text("process 1 on ano")
        kept = pathlib.Path("pair.run/report.orrery-2.tmp")
        kept.mkdir()
        os.symlink(os.path.abspath("run.cfg"), kept / "link")
        assert tap.run(*command).returncode == 0
        assert not work.exists() and os.listdir(kept) == ["link"]
        assert pathlib.Path("run.cfg").read_text() == PAIR
        shutil.rmtree(kept)


def test_a_report_of_a_link_to_a_run():
    assert tap.run("run", write(PAIR), "-q").returncode == 0
    os.symlink("pair.run", "latest")
    assert tap.run("report", "latest").returncode in (0, 69)
    assert os.path.exists("pair.run/report.html")


def test_a_benchmark_overwrites_nothing_foreign():
    """a benchmark overwrites nothing foreign; that it replaces its own is in bench.py"""
    arguments = ["bench", "--seconds", "0.2", "--sizes", "16", "--backends", "serial",
                 "-o", "there"]
    for name in ("bench.csv", "bench.json"):
        os.makedirs("there", exist_ok=True)
        path = pathlib.Path("there", name)
        path.write_text('{"version": "3"}')
        result = refused(*arguments, word=name)
        assert result.stdout == "", "it is said before anything is measured"
        assert content("there") == {f"there/{name}": b'{"version": "3"}'}
        path.unlink()
        os.symlink(os.path.abspath("run.cfg"), path)
        write("mine")
        refused(*arguments, word=name)
        assert pathlib.Path("run.cfg").read_text() == "mine"
        path.unlink()


tap.main()
