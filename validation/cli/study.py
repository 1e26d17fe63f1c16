"""Sweeps and convergence tests: grids of runs, finished by the same command whatever happens."""

import csv
import json
import math
import pathlib
import random
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


def test_a_failed_expectation_of_one_member_is_exit_1():
    config = write(SWEEP + 'expect = ( { quantity = "energy_error"; at_most = 1e-5; } );')
    result = tap.run("run", config)
    assert result.returncode == 1, result.stderr
    verdicts = {r["verdict"] for r in table("grid.sweep/study.csv")}
    assert verdicts == {"held", "failed"}, verdicts


def test_a_sweep_killed_at_random_is_finished_by_the_same_command():
    """40 runs, killed again and again, come out as if nothing had happened"""
    seeds = ", ".join(str(seed) for seed in range(1, 41))
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
    assert attempt > 1, "it was never killed"
    whole = sorted(pathlib.Path("whole").glob("*/conservation.csv"))
    assert len(whole) == 40
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
