"""Sweeps and convergence tests: grids of runs, finished by the same command whatever happens."""

import csv
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import tap

SWEEP = """
name = "grid";
bodies = { initial = "two-body"; eccentricity = 0.5; };
time = { step = 0.01; end = 12.0; };
diagnostics = ( { type = "conservation"; every = 100; } );
sweep = ( { key = "time.integrator"; values = ["velocity-verlet", "yoshida4"]; },
          { key = "time.step"; values = [0.02, 0.01, 0.005]; } );
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_a_sweep_runs_its_grid():
    result = tap.run("run", write(SWEEP))
    assert result.returncode == 0, result.stderr
    rows = table("grid.sweep/study.csv")
    assert [(r["time.integrator"], float(r["time.step"])) for r in rows] == [
        (i, s) for i in ("velocity-verlet", "yoshida4") for s in (0.02, 0.01, 0.005)]
    assert all(r["exit_status [1]"] == "0" for r in rows)
    # The orders of the integrators: halving the step divides the energy error by 2^order.
    errors = [float(r["conservation.energy_error [1]"]) for r in rows]
    for first, order in ((0, 2), (3, 4)):
        measured = math.log2(errors[first] / errors[first + 2]) / 2
        assert abs(measured - order) < 0.3, (order, measured)
    # A member alone is the run that the config describes with these values.
    alone = tap.run("run", "run.cfg", "-o", "alone", "-q", "-P", "sweep=()",
                    "-P", "time.integrator=yoshida4", "-P", "time.step=0.01")
    assert alone.returncode == 0, alone.stderr
    assert (pathlib.Path("alone/conservation.csv").read_bytes() ==
            pathlib.Path("grid.sweep/005/conservation.csv").read_bytes())


PAIR = """
name = "grid";
bodies = { initial = "two-body"; eccentricity = 0.5; };
time = { step = 0.01; end = %s; };
diagnostics = ( { type = "conservation"; every = 100000000; } );
watch = { on_jump = "stop"; };
sweep = ( { key = "time.step"; values = [%s]; } );
"""


def test_the_first_run_that_went_wrong_is_named():
    """a step of a third of the period ends the second run with 70, and the study with it"""
    result = tap.run("run", write(PAIR % ("12.0", "0.01, 2.0, 2.5")), "-q")
    assert result.returncode == 70, result
    assert "2 of 3 runs went wrong, first 002 with status 70" in result.stderr, result.stderr
    assert [row["exit_status [1]"] for row in table("grid.sweep/study.csv")] == ["0", "70", "70"]


def test_members_share_the_cores():
    """two members of four cores have two each"""
    result = tap.run("run", write(PAIR % ("1.0", "0.01, 0.02")), "-q",
                     env={**os.environ, "OMP_NUM_THREADS": "4"})
    assert result.returncode == 0, result.stderr
    for member in ("001", "002"):
        about = json.loads(pathlib.Path("grid.sweep", member, "run.json").read_text())
        assert about["compute"]["threads"] == 2, about["compute"]


def test_a_sweep_over_threads():
    """members run with the threads that the table says, whatever their share of the cores is"""
    config = write(PAIR.replace("time.step", "compute.threads") % ("0.1", "1, 2"))
    result = tap.run("run", config, "-q")
    assert result.returncode == 0, result.stderr
    for row in table("grid.sweep/study.csv"):
        about = json.loads(pathlib.Path("grid.sweep", row["member [1]"], "run.json").read_text())
        assert about["compute"]["threads"] == int(row["compute.threads"]), about["compute"]


def test_members_stop_with_the_study():
    """SIGTERM goes on to the members, which save a checkpoint and end with 75"""
    with subprocess.Popen([tap.ORRERY, "run", write(PAIR % ("1e6", "0.001, 0.002")), "-q"],
                          stderr=subprocess.PIPE, text=True) as process:
        for member in ("001", "002"):
            for _ in range(6000):
                if pathlib.Path("grid.sweep", member, "run.json").exists():
                    break
                time.sleep(0.01)
        process.terminate()
        try:
            errors = process.communicate(timeout=60)[1]
        finally:
            process.kill()
    assert process.returncode == 75 and "stopped with 0 of 2 runs ended" in errors, errors
    for member in ("001", "002"):
        about = json.loads(pathlib.Path("grid.sweep", member, "run.json").read_text())
        assert about["exit_status"] == 75, about
        assert pathlib.Path("grid.sweep", member, "checkpoint.orr").exists()


def about(member):
    """run.json of a member; nothing before it is there"""
    path = pathlib.Path("grid.sweep", member, "run.json")
    return json.loads(path.read_text()) if path.exists() else {}


def test_a_signal_after_the_last_run():
    """a study whose runs have all ended is whole, though it was to stop at that moment"""
    members = ("001", "002")
    with subprocess.Popen([tap.ORRERY, "run", write(PAIR % ("300.0", "0.001, 0.002")), "-q"],
                          stderr=subprocess.PIPE, text=True) as process:
        for wanted in ({"running", "none"}, {"none"}):
            for _ in range(6000):
                if all(about(member).get("verdict") in wanted for member in members):
                    break
                time.sleep(0.01)
            process.send_signal(signal.SIGSTOP)  # it sees neither that its runs have ended
        process.terminate()                      # nor the signal, until it goes on
        process.send_signal(signal.SIGCONT)
        try:
            errors = process.communicate(timeout=60)[1]
        finally:
            process.kill()
    assert process.returncode == 0 and "stopped" not in errors, (process.returncode, errors)


def test_a_run_at_work_has_no_numbers():
    """what run.json of a run that was continued tells of an earlier end stays out of the table"""
    config = write(PAIR % ("1.0", "0.01, 0.02"))
    assert tap.run("run", config, "-q").returncode == 0
    changed = {**about("002"), "verdict": "running", "exit_status": -1}
    pathlib.Path("grid.sweep/002/run.json").write_text(json.dumps(changed))
    assert tap.run("run", config, "-q", "--member", "1").returncode == 0
    rows = [[row[key] for key in row if key.startswith("conservation.kinetic")]
            for row in table("grid.sweep/study.csv")]
    assert rows[0][0] and rows[1] == [""], rows


def test_a_key_that_was_not_there_before():
    """a finished run of a program that knew no compute.method stays; another method is refused"""
    config = write(PAIR % ("1.0", "0.01, 0.02"))
    assert tap.run("run", config, "-q").returncode == 0
    assert about("001")["compute"]["method"] == "direct"
    for before, status, message in ((None, 0, ""), ("other", 78, "compute.method")):
        changed = about("001")
        changed["config"]["compute"]["method"] = before
        if not before:
            del changed["config"]["compute"]["method"]
        pathlib.Path("grid.sweep/001/run.json").write_text(json.dumps(changed))
        result = tap.run("run", config, "-q")
        assert result.returncode == status and message in result.stderr, result


def test_a_member_runs_again_from_its_own_config():
    assert tap.run("run", write(SWEEP), "-q").returncode == 0
    result = tap.run("run", "grid.sweep/002/run.cfg", "-o", "again", "-q")
    assert result.returncode == 0, result.stderr
    assert (pathlib.Path("again/conservation.csv").read_bytes() ==
            pathlib.Path("grid.sweep/002/conservation.csv").read_bytes())


def test_a_slip_in_any_member_shows_before_the_first_is_run():
    result = tap.run("run", write(SWEEP.replace("0.005]", "-1.0]")))
    assert result.returncode == 78, result.returncode
    assert "time.step" in result.stderr and "-1" in result.stderr, result.stderr
    assert not pathlib.Path("grid.sweep").exists()


def test_a_key_that_does_not_exist():
    result = tap.run("run", write(SWEEP.replace("time.step", "time.setp")))
    assert result.returncode == 78 and "did you mean" in result.stderr, result.stderr


def test_a_key_that_cannot_be_varied():
    """a key twice, whose first values no run would have, a part of one, and the sweep itself"""
    both = "sets {}, which the sweep has values for already"
    for first, second, why in (
            ("time.step", "time.step", both.format("time.step")),
            ("diagnostics.0.fractions.1", "diagnostics.0.fractions",
             both.format("diagnostics.0.fractions.1")),
            ("sweep.0.values", "time.step", "cannot be varied: each run is a single one")):
        config = write(SWEEP[:SWEEP.index("sweep")] + f"""sweep = (
            {{ key = "{first}"; values = [0.1]; }}, {{ key = "{second}"; values = [0.2]; }} );""")
        for command in ("run", "check"):
            result = tap.run(command, config)
            assert result.returncode == 78 and why in result.stderr, (first, result)
            assert re.search(r"run\.cfg:\d: sweep\.[01]\.key = ", result.stderr), result
    assert not pathlib.Path("grid.sweep").exists()


def test_an_override_that_no_run_gets_is_told():
    """-P of a key that the sweep varies; that of a convergence test is its first step"""
    config = write(SWEEP)
    result = tap.run("run", config, "-q", "-P", "time.step=0.1", "-P", "time.end=2.0")
    assert result.returncode == 0 and result.stderr.splitlines() == [
        "WARNING: -P time.step=0.1 reaches no run, since the sweep varies time.step"], result
    config = write(SWEEP[:SWEEP.index("sweep")])
    result = tap.run("run", config, "-q", "--convergence", "-P", "time.step=0.005")
    assert result.returncode == 0 and not result.stderr, result
    assert float(table("grid.convergence/study.csv")[0]["time.step"]) == 0.005


def test_what_every_run_would_refuse_is_refused_before_the_first():
    """a criterion on a column that no run has: 78, told once, and nothing is written"""
    lacking = SWEEP + 'expect = ( { quantity = "lagrangian_50"; at_most = 1.0; } );'
    for arguments in ([], ["--member", 2]):
        result = tap.run("run", write(lacking), *arguments)
        assert result.returncode == 78 and result.stderr.count("lagrangian_50") == 1, result
        assert not os.path.exists("grid.sweep")
    # One that some runs have is a matter of those that have it not.
    swept = lacking.replace("sweep = (", 'sweep = ( { key = "expect.0.quantity"; values = '
                            '["lagrangian_50", "energy_error"]; },')
    result = tap.run("run", write(swept), "-q")
    assert result.returncode != 0 and os.path.exists("grid.sweep"), result


SEEDS = """
name = "seeds";
bodies = { initial = "uniform-cube"; count = 4; };
physics = { softening = 0.1; };
time = { step = 0.01; end = 0.02; };
sweep = ( { key = "bodies.seed"; values = [%s]; } );
"""


def test_the_config_of_a_sweep_is_read_once():
    """from a pipe, which gives its bytes a single time"""
    result = tap.run("run", "-", "-q", "-o", "piped", input=SEEDS % "1, 2, 3")
    assert result.returncode == 0, result.stderr
    assert [r["bodies.seed"] for r in table("piped/study.csv")] == ["1", "2", "3"]


def test_many_members_cost_as_much_as_they_are():
    """Each member once read the list of all: 65 s for the check of 8,000 seeds, so half an hour for
    40,000. Now it takes a second, and so does one member of them. Of 10,000 it was beyond the time
    that is given here."""
    count = 40000 if tap.is_thorough() else 10000
    config = write(SEEDS % ", ".join(map(str, range(1, count + 1))))
    result = tap.run("check", config, timeout=60)
    assert result.returncode == 0 and f"{count} runs" in result.stdout, result
    result = tap.run("run", config, "-q", "--member", count - 1, timeout=60)
    assert result.returncode == 0, result.stderr
    assert [r["member [1]"] for r in table("seeds.sweep/study.csv") if r["verdict"]] == [
        str(count - 1)]


def test_too_many_members_are_refused_before_they_are_made():
    """a million of them, in memory that would not hold them, and no folder is begun"""
    values = ", ".join(map(str, range(1, 1001)))
    more = f'}}, {{ key = "time.end"; values = [{values}]; }} );'
    config = write((SEEDS % values).replace("} );", more))
    for command in ("run", "check"):
        result = tap.run(command, config, timeout=20)
        assert result.returncode == 78, result
        assert ("sweep.1.key = \"time.end\": with its 1000 values the sweep has 1000000 runs; one "
                "study may have 100000: divide it into several") in result.stderr, result.stderr
    assert not pathlib.Path("seeds.sweep").exists()


def test_finished_members_are_left_alone():
    config = write(SWEEP)
    assert tap.run("run", config, "-q").returncode == 0
    stamps = {p: p.stat().st_mtime_ns for p in pathlib.Path("grid.sweep").glob("*/run.json")}
    pathlib.Path("grid.sweep/003/run.json").unlink()
    for path in pathlib.Path("grid.sweep/003").iterdir():
        path.unlink()
    assert tap.run("run", config, "-q").returncode == 0
    for path, stamp in stamps.items():
        assert (path.stat().st_mtime_ns == stamp) == (path.parent.name != "003"), path


def test_a_finished_study_ends_at_once():
    """a study whose runs have all ended: the same command finds nothing to do, and says so again"""
    config = write(SWEEP)
    assert tap.run("run", config, "-q").returncode == 0
    before = pathlib.Path("grid.sweep/study.csv").read_bytes()
    pathlib.Path("grid.sweep/study.csv").unlink()
    assert tap.run("run", config, "-q").returncode == 0
    assert pathlib.Path("grid.sweep/study.csv").read_bytes() == before


def test_a_study_under_a_parent_that_ignores_its_children():
    result = tap.run("run", write(SWEEP), "-q",
                     preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert result.returncode == 0, result.stderr
    assert {r["exit_status [1]"] for r in table("grid.sweep/study.csv")} == {"0"}


def test_members_one_by_one():
    """a job array: each member in a command of its own, in any order, the same table at the end"""
    config = write(SWEEP)
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    for member in (4, 1, 6, 3, 2, 5):
        result = tap.run("run", config, "-q", "-o", "parts", "--member", member)
        assert result.returncode == 0, result.stderr
    assert (pathlib.Path("whole/study.csv").read_bytes() ==
            pathlib.Path("parts/study.csv").read_bytes())
    assert tap.run("run", config, "-o", "parts", "--member", 7).returncode == 64


def test_another_study_is_not_overwritten():
    config = write(SWEEP)
    assert tap.run("run", config, "-q").returncode == 0
    result = tap.run("run", config, "-P", 'sweep=({key="time.step"; values=[0.1];})')
    assert result.returncode == 78 and "--force" in result.stderr, result.stderr


def said(result):
    """What a study prints, its lines joined."""
    return " ".join(result.stdout.split())


def test_a_failed_expectation_of_one_member_is_exit_1():
    """the summary says how many runs failed, which, and by which criterion"""
    config = write(SWEEP + """expect = ( { quantity = "energy_error"; at_most = 1e-5; },
                                          { quantity = "energy_error"; at_most = 1.0; } );""")
    result = tap.run("run", config)
    assert result.returncode == 1, result.stderr
    rows = table("grid.sweep/study.csv")
    failed = [row for row in rows if row["verdict"] == "failed"]
    assert {row["verdict"] for row in rows} == {"held", "failed"}, rows
    words = said(result)
    assert f"runs {6 - len(failed)} held, {len(failed)} failed" in words, words
    assert words.endswith("verdict failed"), words
    for row in rows:
        about = json.loads(pathlib.Path("grid.sweep", row["member [1]"], "run.json").read_text())
        worst, text = about["expect"][0]["worst"], about["verdict_text"]
        why = (f'failed {row["member [1]"]} time.integrator = "{row["time.integrator"]}", '
               f'time.step = {float(row["time.step"]):g}: {text.removeprefix("failed: ")} ')
        said_so = text.startswith(f"failed: energy error {worst:.3g}, bound 1e-05 ")
        assert said_so == (row["verdict"] == "failed"), (text, worst)
        assert (why in words) == (row["verdict"] == "failed"), (why, words)
    assert "energy_error <= 1," not in words, words  # which held everywhere
    again = tap.run("run", config)  # nothing is left to do, and it says the same
    assert again.stdout == result.stdout, (again.stdout, result.stdout)


def test_what_failed_names_its_units():
    """of runs in physical units the values and times of the summary have them"""
    config = write("""
        name = "grid"; bodies = { initial = "outer-solar-system"; };
        physics = { units = "astronomical"; }; time = { step = 10.0; end = 100.0; };
        diagnostics = ( { type = "orbit"; primary = 1; secondary = 2; every = 1; } );
        expect = ( { quantity = "separation"; at_most = 1.0; } );
        sweep = ( { key = "time.step"; values = [10.0, 5.0]; } );""")
    result = tap.run("run", config)
    words = said(result)
    worst = json.loads(pathlib.Path("grid.sweep/001/run.json").read_text())["expect"][0]
    assert worst["unit"] == "AU", worst
    # 100 d of 3.98e3 d, the period of a circular orbit at 5.01 AU from the Sun and Jupiter.
    assert (f'time.step = 10.0: separation {worst["worst"]:.3g} AU, bound 1 AU (5.01 times): '
            "time.end is 0.025 of the shortest period, 3.98e+03 d (Sun and Jupiter)") in words


def test_of_many_failures_the_first_are_told():
    """twenty runs that failed are told one by one, of the others how many they are"""
    values = ", ".join(f"0.{k}" for k in range(10, 33))
    config = write(SWEEP[:SWEEP.index("sweep")] + f"""
        sweep = ( {{ key = "bodies.eccentricity"; values = [{values}]; }} );
        expect = ( {{ quantity = "energy_error"; at_most = 1e-30; }} );""")
    lines = tap.run("run", config, "-P", "time.end=1.0").stdout.splitlines()
    assert "  runs           23 failed" in lines, lines
    assert sum(line.startswith("  failed 0") for line in lines) == 20, lines
    assert "  and others     3 more; study.csv has the verdict of each" in lines, lines
    assert max(map(len, lines)) <= 80, lines


def test_of_many_messages_the_first_are_shown():
    """twenty messages of runs are shown as they come, of the others how many; run.log has each"""
    values = ", ".join(f"0.9{k}" for k in range(10, 33))
    config = write(SWEEP[:SWEEP.index("sweep")] + f"""
        sweep = ( {{ key = "bodies.eccentricity"; values = [{values}]; }} );
        watch = {{ energy_error = 1e-4; }};""")
    lines = tap.run("run", config, "-q", "-P", "time.step=0.1", "-P", "time.end=1.0").stderr
    logs = [pathlib.Path(f"grid.sweep/{member:03}/run.log").read_text() for member in range(1, 24)]
    all_of_them = sum(log.count("WARNING") for log in logs)
    assert all("WARNING" in log for log in logs)
    assert lines.count("WARNING") == 20 and len(lines.splitlines()) == 21, lines
    assert (f"{all_of_them - 20} more messages of runs stand in the run.log of each"
            in lines), (all_of_them, lines)


def test_a_good_sweep_says_so():
    """of a sweep whose runs all held nothing else is said"""
    config = write(SWEEP + 'expect = ( { quantity = "energy_error"; at_most = 1.0; } );')
    words = said(tap.run("run", config))
    assert "runs 6 held table" in words and "failed" not in words, words
    # No name is obeyed by the terminal.
    result = tap.run("run", write(SWEEP), "-o", "a\x1b[31mb")
    words = said(result)
    assert "runs 6 finished table" in words and "held" not in words, words
    assert "a?[31mb: 6 runs" in words and "\x1b" not in result.stdout + result.stderr, result


def test_a_member_that_fails_by_the_watch_or_with_an_error():
    """the summary has what the watch found, and the message of a run that could not go on"""
    config = write(SWEEP.replace("[0.02, 0.01, 0.005]", "[0.01, 1.0]")
                   .replace('"yoshida4"', '"euler"'))
    result = tap.run("run", config, "-P", "watch.on_jump=fail")
    words = said(result)
    assert result.returncode == 1 and "runs 1 finished, 3 failed" in words, words
    warnings = [line for line in result.stderr.splitlines() if "WARNING" in line]
    assert {line[:15] for line in warnings} == {f"grid.sweep/00{k}:" for k in (2, 3, 4)}, warnings
    about = json.loads(pathlib.Path("grid.sweep/003/run.json").read_text())
    assert about["watch"]["text"] and not about["watch"]["holds"], about
    off = about["watch"]["energy_error"]["largest"]
    assert ('failed 003 time.integrator = "euler", time.step = 0.01: energy error '
            f"{off:.3g}, bound 0.005 ({off / 0.005:.3g} times): euler does not keep the energy "
            "with any step; ") in words, words
    result = tap.run("run", config, "-P", "watch.on_jump=stop", "-o", "stop")
    words = said(result)
    assert result.returncode == 70, result
    error = json.loads(pathlib.Path("stop/002/run.json").read_text())["verdict_text"]
    # 2 pi / sqrt(2) in steps of 1: the watch wants 6.
    assert error.startswith("failed: 4.44 steps per period of body 1 about body 2"), error
    assert "1 finished" in words and "error" in words, words
    assert ('error 002 time.integrator = "velocity-verlet", time.step = 1.0: exit status 70: '
            + error.removeprefix("failed: ")) in words, (words, error)
    assert words.endswith("verdict error"), words


LONG = SWEEP[:SWEEP.index("sweep")].replace("every = 100", "every = 1000000000") + """
sweep = ( { key = "time.end"; values = [%s]; } );
"""


def verdict_of(member):
    """Of a run in the study, or None."""
    try:
        return json.loads(pathlib.Path("grid.sweep", member, "run.json").read_text())["verdict"]
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def end(process):
    """What it has said, once it has ended; it does not outlive a failed test."""
    try:
        return process.communicate(timeout=60 * tap.PATIENCE)
    finally:
        process.kill()


def wait_until(true, process):
    """For a minute at most; for less where the process ends."""
    last = time.monotonic() + 60 * tap.PATIENCE
    while not true() and process.poll() is None and time.monotonic() < last:
        time.sleep(0.01)


def test_a_study_that_is_stopped_says_what_there_is():
    """how many runs are stopped and where, and how many have not begun"""
    config = write(LONG % "0.1, 1e7, 2e7, 3e7, 4e7")
    with subprocess.Popen([tap.ORRERY, "run", config, "-P", "compute.threads=1"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: verdict_of("001") == "none" and verdict_of("002") == "running"
                   and pathlib.Path("grid.sweep/002/checkpoint.orr").exists(), process)
        process.send_signal(signal.SIGTERM)
        words = " ".join(end(process)[0].split())
    assert process.returncode == 75, (process.returncode, words)
    stopped = [m for m in ("002", "003", "004", "005") if verdict_of(m) == "stopped"]
    new = 4 - len(stopped)
    assert stopped, words
    rest = f", {new} not begun" if new else ""
    assert f"runs 1 finished, {len(stopped)} stopped{rest} " in words, words
    for member in stopped:
        about = json.loads(pathlib.Path("grid.sweep", member, "run.json").read_text())
        assert (f"stopped {member} time.end = {about['config']['time']['end']}: at step "
                f"{about['step']} of {about['steps']}") in words, words
    assert words.endswith("verdict stopped"), words


def test_members_that_are_killed_are_told():
    """a member that dies of a signal is told with it, beside those that finished"""
    config = write(LONG % "0.1, 1e7, 2e7")
    with subprocess.Popen([tap.ORRERY, "run", config, "-P", "compute.threads=1"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: verdict_of("001") == "none", process)
        for member in ("002", "003"):  # side by side, or one after the other
            wait_until(lambda: verdict_of(member) == "running", process)
            at_work = re.search(r"\d+", pathlib.Path("grid.sweep", member, "run.lock").read_text())
            os.kill(int(at_work[0]), signal.SIGKILL)
        out, err = end(process)
    words = " ".join(out.split())
    assert process.returncode == 70, (process.returncode, out, err)
    assert "runs 1 finished, 2 killed " in words, words
    for member, value in (("002", "10000000.0"), ("003", "20000000.0")):
        assert f"killed {member} time.end = {value}" in words, words
        assert f"grid.sweep/{member}: was killed by signal 9" in err, err
    assert words.endswith("verdict error"), words


def has_pending(process, number):
    """Whether the signal waits for a process that is at rest."""
    try:
        status = pathlib.Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        raise tap.Skip("no /proc")
    return int(status.split("ShdPnd:")[1].split()[0], 16) >> (number - 1) & 1


def test_one_interrupt_leaves_time_for_the_checkpoint():
    """SIGINT to command and member, as a terminal sends it, and SIGTERM of the command at once"""
    with subprocess.Popen([tap.ORRERY, "run", write(LONG % "1e7"), "-q", "--member", "1"],
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        wait_until(lambda: pathlib.Path("grid.sweep/001/checkpoint.orr").exists(), process)
        member = int(re.search(r"\d+", pathlib.Path("grid.sweep/001/run.lock").read_text())[0])
        try:
            os.kill(member, signal.SIGSTOP)
            os.killpg(process.pid, signal.SIGINT)
            wait_until(lambda: has_pending(member, signal.SIGTERM), process)
        finally:
            os.kill(member, signal.SIGCONT)
            err = end(process)[1]
    assert process.returncode == 75 and "killed" not in err, (process.returncode, err)
    assert verdict_of("001") == "stopped"


def test_a_member_that_is_stopped_has_not_gone_wrong():
    """runs that are stopped one by one: 75, and what went wrong beside them is told as that"""
    config = write(LONG % "0.1, 1e7, 2e7")
    stopped = "stopped with 1 of 3 runs ended; the same command goes on"
    for first, second, code, words in (
            (signal.SIGTERM, signal.SIGTERM, 75, stopped),
            (signal.SIGTERM, signal.SIGKILL, 70,
             "1 of 3 runs went wrong, first 003, killed by signal 9"),
            (signal.SIGKILL, None, 75, stopped)):  # None: SIGTERM to the command
        shutil.rmtree("grid.sweep", ignore_errors=True)
        with subprocess.Popen([tap.ORRERY, "run", config, "-P", "compute.threads=1", "-q"],
                              stderr=subprocess.PIPE, text=True) as process:
            for member, how in (("002", first), ("003", second)):
                wait_until(lambda: verdict_of(member) == "running" and
                           pathlib.Path("grid.sweep", member, "checkpoint.orr").exists(), process)
                at_work = pathlib.Path("grid.sweep", member, "run.lock").read_text()
                os.kill(int(re.search(r"\d+", at_work)[0]) if how else process.pid,
                        how or signal.SIGTERM)
            err = end(process)[1]
        assert process.returncode == code and words in err, (process.returncode, err)


def test_a_sweep_killed_at_random_is_finished_by_the_same_command():
    """many runs, killed again and again, come out as if nothing had happened"""
    count = 40 if tap.is_thorough() else 16
    seeds = ", ".join(str(seed) for seed in range(1, count + 1))
    config = write(f"""
    name = "many";
    bodies = {{ initial = "plummer"; count = 32; }};
    physics = {{ softening = 0.1; }};
    time = {{ step = 0.001; end = 0.5; }};
    diagnostics = ( {{ type = "conservation"; every = 50; }} );
    checkpoint = {{ every_steps = 200; }};
    sweep = ( {{ key = "bodies.seed"; values = [{seeds}]; }} );
    """)
    start = time.monotonic()
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    whole_time = time.monotonic() - start  # each attempt gets a part of it
    generator = random.Random(5)
    for attempt in range(20):
        process = subprocess.Popen([tap.ORRERY, "run", config, "-q", "-o", "parts"],
                                   start_new_session=True, stderr=subprocess.DEVNULL)
        try:
            if process.wait(generator.uniform(0.05, 0.3) * whole_time) == 0:
                break
        except subprocess.TimeoutExpired:
            subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=True)
            process.wait()
            time.sleep(0.02)
    else:
        last = tap.run("run", config, "-q", "-o", "parts", timeout=200)
        assert last.returncode == 0, last.stderr
    if attempt == 0:
        raise tap.Skip("the machine became so much faster that all was done before the first kill")
    whole = sorted(pathlib.Path("whole").glob("*/conservation.csv"))
    assert len(whole) == count
    for path in whole:
        other = pathlib.Path("parts", path.parent.name, path.name)
        assert path.read_bytes() == other.read_bytes(), path
    assert (pathlib.Path("whole/study.csv").read_bytes() ==
            pathlib.Path("parts/study.csv").read_bytes())


def test_convergence_measures_the_order():
    config = write(SWEEP.replace("sweep =", "expect = (); #"))
    text = pathlib.Path(config).read_text()
    pathlib.Path(config).write_text(text[:text.index("expect")])
    for integrator, order in (("velocity-verlet", 2), ("semi-implicit-euler", 1)):
        result = tap.run("run", config, "--convergence", "-P", f"time.integrator={integrator}",
                         "-P", "time.step=0.002", "-P", "time.end=6.0", "-o", integrator)
        assert result.returncode == 0, result.stderr
        rows = {r["column"]: r for r in table(f"{integrator}/convergence.csv")}
        kinetic = rows["conservation.kinetic"]
        assert abs(float(kinetic["order"]) - order) < 0.1, kinetic
        # The error bar covers the distance to a run with a sixteenth of the step.
        assert tap.run("run", config, "-q", "-P", f"time.integrator={integrator}",
                       "-P", "time.step=0.000125", "-P", "time.end=6.0",
                       "-P", "diagnostics.0.every=1600",
                       "-o", f"{integrator}-fine").returncode == 0
        fine = json.loads(pathlib.Path(f"{integrator}-fine/run.json").read_text())
        truth = fine["diagnostics"]["conservation"]["kinetic"]
        assert abs(float(kinetic["value"]) - truth) < 5 * float(kinetic["error"]), kinetic


tap.main()
