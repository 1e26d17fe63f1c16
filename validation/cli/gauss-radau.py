"""Runs by gauss-radau: what observing, stopping and neighbours must not change, what is told of the
steps, and what is refused."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import time

import numpy

import tap
from rows import columns

# Close passages of six triples, for a second of steps or less.
TRIPLES = """
name = "triples";
bodies = { initial = "plummer"; count = 3; seed = 7; };
time = { integrator = "gauss-radau"; step = 0.125; end = 40.0; };
diagnostics = ( { type = "conservation"; every = 1; }, { type = "own-steps"; every = 1; } );
outputs = ( { type = "xyz"; every = 8; } );
checkpoint = { every_steps = 16; };
ensemble = { systems = 6; };
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def run(config, directory, *options, status=0):
    result = tap.run("run", config, "-q", "-o", directory, *options)
    assert result.returncode == status, (result.returncode, result.stdout, result.stderr)
    return result


def about(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def same(one, other, *files):
    for file in files or ("conservation.csv", "trajectory.xyz"):
        assert pathlib.Path(one, file).read_bytes() == pathlib.Path(other, file).read_bytes(), file


def last_frame(directory):
    lines = pathlib.Path(directory, "trajectory.xyz").read_text().splitlines()
    return lines[-int(lines[0]):]


def test_cadence_and_threads_change_no_byte_of_the_motion():
    """rows at every step or every seventh, one frame or many, 1 to 3 threads: the same motion"""
    config = write(TRIPLES)
    run(config, "one", "-P", "compute.threads=1")
    run(config, "three", "-P", "compute.threads=3")
    run(config, "rare", "-P", "diagnostics.0.every=7", "-P", "diagnostics.1.every=7",
        "-P", "outputs.0.every=1000")
    same("one", "three")
    assert last_frame("one") == last_frame("rare")
    assert about("one")["own_steps"] == about("rare")["own_steps"]
    # The steps of a row do not follow its cadence either.
    table = columns("one/own-steps.csv")
    sparse = columns("rare/own-steps.csv")
    assert table["steps"].sum() == sparse["steps"].sum() == about("one")["own_steps"]["steps"]
    for row in numpy.flatnonzero(sparse["step"] % 7 == 0):
        at = (table["system"] == sparse["system"][row]) & (table["step"] == sparse["step"][row])
        for column in ("next_step", "smallest_step"):
            numpy.testing.assert_array_equal(table[column][at], sparse[column][[row]])
    # Number times mean: the time of the last own step, from which the next one passes the end.
    for each in (table, sparse):
        for system in range(1, 7):
            own = each["system"] == system
            left = 40 - numpy.nansum(each["steps"][own] * each["mean_step"][own])
            assert 0 <= left + 1e-9 and left - 1e-9 < each["next_step"][own][-1], (system, left)
    for name in ("one", "rare"):
        rows = pathlib.Path(name, "conservation.csv").read_text().splitlines()
        energies = {tuple(row.split(",")[:6]) for row in rows}
        assert name == "one" or energies <= all_energies
        all_energies = energies


def test_a_coarser_grid_changes_no_byte_of_the_motion():
    """time.step is the grid alone; a power of two more, so that t has the same bits"""
    config = write(TRIPLES)
    run(config, "fine")
    run(config, "coarse", "-P", "time.step=8.0", "-P", "outputs.0.every=1")
    assert about("fine")["own_steps"] == about("coarse")["own_steps"]
    assert last_frame("fine") == last_frame("coarse")


def test_a_system_is_as_if_it_were_alone():
    config = write(TRIPLES)
    run(config, "all")
    frames = last_frame("all")
    for member in (0, 4):
        run(config, f"alone{member}", "-P", "ensemble.systems=1", "-P", f"bodies.seed={7 + member}")
        alone = [line.split()[1:8] for line in last_frame(f"alone{member}")]
        assert alone == [line.split()[1:8] for line in frames[3 * member:3 * member + 3]], member


def test_killed_runs_go_on_to_the_same_bytes():
    """killed at some moments, with other threads after, and with a shadow that goes along"""
    config = write(TRIPLES.replace("time = {", "trust = { shadow = true; }; time = {")
                   .replace("end = 40.0", "end = 100.0"))
    run(config, "whole")
    for k, wait in enumerate(tap.first((0.1, 0.02, 0.25), 2)):
        killed = f"killed{k}"
        process = subprocess.Popen([tap.ORRERY, "run", config, "-q", "-o", killed],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        options = ["--restart"] if pathlib.Path(killed, "run.json").exists() else ["--force"]
        run(config, killed, *options, "-P", f"compute.threads={k + 1}")
        same("whole", killed, "conservation.csv", "trajectory.xyz", "trust.csv")
        assert about("whole")["own_steps"] == about(killed)["own_steps"]
    assert tap.run("verify", killed).returncode == 0


def test_steps_are_told():
    """run.json and the summary count own steps, and name the pair behind the smallest"""
    config = write("""
name = "pythagorean";
bodies = { initial = "pythagorean"; };
time = { integrator = "gauss-radau"; end = 10.0; };
diagnostics = ( { type = "conservation"; every = 100; } );
expect = ( { quantity = "energy_error"; at_most = 1e-10; } );
""")
    result = tap.run("run", config, "-o", "out")
    assert result.returncode == 0, result.stderr
    own = about("out")["own_steps"]
    assert about("out")["verdict"] == "held" and about("out")["steps"] == 1000
    assert 600 < own["steps"] < 630 and own["pair"] == [2, 3] and 2e-5 < own["smallest"] < 4e-5
    assert about("out")["interactions"] > 9 * 15 * own["steps"]
    assert f"own steps      {own['steps']:.0f}, and " in result.stdout
    assert "too large" not in result.stderr
    checked = tap.run("check", config).stdout
    assert "own steps" in checked and "fastest pair" not in checked
    assert "grid steps     1000 of 0.01" in checked
    assert checked.count("grid steps ") == 2, checked
    # So short a run is tried to its end, and what would come later is not counted.
    estimate = float(re.search(r"own steps +([0-9.e+]+) if", checked).group(1))
    assert abs(estimate / own["steps"] - 1) < 0.2, (estimate, own["steps"])


def test_a_step_that_was_taken_back_leaves_nothing_behind():
    """coarse steps through an encounter: alone, among others and by plain loops the same motion"""
    config = write("""
name = "coarse";
bodies = { initial = "pythagorean"; };
time = { integrator = "gauss-radau"; step = 0.01; end = 3.0; accuracy = 1e-4; };
diagnostics = ( { type = "conservation"; every = 100; } );
outputs = ( { type = "xyz"; every = 100; } );
""")
    run(config, "alone")
    run(config, "reference", "-P", "compute.backend=serial")
    run(config, "many", "-P", "ensemble.systems=16")
    own = [about(name)["own_steps"] for name in ("alone", "reference")]
    assert own[0]["rejections"] > 0 and own[0]["steps"] == own[1]["steps"], own
    assert about("many")["own_steps"]["rejections"] == 16 * own[0]["rejections"], own
    numbers = [[float(word) for row in last_frame(name)[:3] for word in row.split()[1:8]]
               for name in ("alone", "reference", "many")]
    for other in numbers[1:]:
        assert max(abs(a - b) for a, b in zip(numbers[0], other)) < 1e-8, numbers


def test_a_body_without_others_has_no_pair():
    pathlib.Path("one.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,1,0,0\n")
    config = write("""
name = "one";
bodies = { initial = "file"; file = "one.csv"; };
time = { integrator = "gauss-radau"; step = 0.1; end = 2.0; };
""")
    told = " ".join(tap.run("run", config, "-o", "one").stdout.split())
    assert "one: 1 body, " in told and ", for body 1 wall time" in told, told


def test_a_sweep_over_the_grid_measures_no_order():
    one = TRIPLES.replace("end = 40.0", "end = 1.0").replace("systems = 6", "systems = 1")
    config = write(one + 'sweep = ( { key = "time.step"; values = [0.25, 0.0625]; } );')
    run(config, "grids")
    run(config, "fixed", "-P", 'time.integrator="rk4"', "-P", "physics.softening=1.0")
    for name, order in (("grids", False), ("fixed", True)):
        assert tap.run("report", name).returncode == 0
        page = pathlib.Path(name, "report.html").read_text()
        assert ("the measured order of the method" in page) == order, name
        assert ("It is no order of a method that chooses its own steps" in page) != order, name


def test_a_grid_that_was_left_out_is_kept_by_a_longer_run():
    config = write(TRIPLES.replace("step = 0.125;", "").replace("end = 40.0", "end = 8.0"))
    run(config, "out")
    refused = run(config, "out", "--restart", "-P", "time.end=16", status=78)
    assert "write time.step = 0.008" in refused.stderr, refused.stderr
    run(config, "out", "--restart", "-P", "time.end=16", "-P", "time.step=0.008")
    run(config, "whole", "-P", "time.end=16", "-P", "time.step=0.008")
    same("out", "whole")


def test_a_run_ends_at_time_end():
    """a grid that does not divide the end is made shorter, for both integrators, and a longer run
    keeps it"""
    config = write(TRIPLES.replace("step = 0.125; end = 40.0", "step = 0.3; end = 1.0"))
    flat = lambda words: " ".join(words.replace("#", " ").split())
    # 1 / 0.3 is above 3: four steps of 1 / 4.
    note = ("time.end = 1 is no multiple of the grid: its steps are shorter, 0.25, and the run "
            "ends at time.end")
    for integrator in ("gauss-radau", "hermite4"):
        chosen = ("-P", f'time.integrator="{integrator}"', "-P", "outputs.0.every=1")
        out, whole = integrator, integrator + "-whole"
        assert note in flat(tap.run("check", config, *chosen).stdout)
        assert note in flat(tap.run("run", config, "-o", out, *chosen).stdout)
        assert note in flat(pathlib.Path(out, "run.log").read_text())
        assert columns(pathlib.Path(out, "conservation.csv"))["time"][-1] == 1.0
        assert (about(out)["step"], about(out)["time"]) == (4, 1.0), about(out)
        run(config, out + "-quarter", *chosen, "-P", "time.step=0.25")
        same(out, out + "-quarter")
        assert tap.run("verify", out).returncode == 0
        # 2 / 0.3 is above 6: another grid, unless it is asked for as it was.
        longer = (*chosen, "-P", "time.end=2")
        refused = run(config, out, "--restart", *longer, status=78)
        said = "time.step does not divide it, so that the grid would change with time.end"
        assert said in refused.stderr, refused
        assert refused.stderr.endswith(": write time.step = 0.25\n"), refused.stderr
        # 1.9 / 0.25 is no whole number: no step of that end has the old grid.
        refused = run(config, out, "--restart", *chosen, "-P", "time.end=1.9", "-P",
                      "time.step=0.25", status=78)
        assert "write time.step = 0.25, and an end that is a multiple of it" in refused.stderr
        run(config, out, "--restart", *longer, "-P", "time.step=0.25")
        run(config, whole, *longer, "-P", "time.step=0.25")
        same(out, whole)
        assert tap.run("verify", out).returncode == 0
        other = run(config, whole, "--restart", *longer, "-P", "time.step=0.125", status=78)
        assert "time.step was 0.25 when the run began, now it is 0.125" in other.stderr, other


def test_the_coefficients_are_made_by_their_script():
    """the numbers of a step are those that the script computes from the nodes"""
    folder = pathlib.Path(tap.SOURCE, "src/integrator")
    made = subprocess.run([sys.executable, folder / "gauss-radau-coefficients.py"],
                          capture_output=True, check=True).stdout
    assert made == (folder / "gauss-radau-coefficients.inc").read_bytes()


def test_what_it_cannot_do():
    config = write(TRIPLES)
    for status, text, *overrides in (
            (78, "compute.precision = \"single\": gauss-radau", 'compute.precision="single"'),
            (78, "compute.precision = \"mixed\": gauss-radau", 'compute.precision="mixed"'),
            (78, "physics.boundary = \"periodic\": gauss-radau", 'physics.boundary="periodic"',
             "physics.box_length=9"),
            (78, "time.accuracy=0: must be greater than 0", "time.accuracy=0"),
            (78, "time.accuracy=1: must be", "time.accuracy=1"),
            (78, "time.accuracy", "time.accuracy=1e-9", 'time.integrator="velocity-verlet"')):
        options = [word for override in overrides for word in ("-P", override)]
        refused = run(config, "refused", *options, status=status)
        assert text in refused.stderr, refused.stderr
        assert not pathlib.Path("refused").exists()
    refused = tap.run("run", config, "-o", "refused", "--convergence")
    assert refused.returncode == 78 and "time.accuracy" in refused.stderr, refused.stderr


def test_a_collision_ends_the_run():
    """two bodies that fall on each other: exit status 70, the pair, and the bodies as they were"""
    pathlib.Path("fall.csv").write_text("m,x,y,z,vx,vy,vz\n1,-0.5,0,0,0,0,0\n1,0.5,0,0,0,0,0\n")
    config = write("""
name = "fall";
bodies = { initial = "file"; file = "fall.csv"; };
time = { integrator = "gauss-radau"; step = 0.1; end = 2.0; };
diagnostics = ( { type = "conservation"; every = 1; } );
""")
    result = run(config, "out", status=70)
    assert "bodies 1 and 2" in result.stderr and "t = 0.785398" in result.stderr, result.stderr
    assert about("out")["exit_status"] == 70 and pathlib.Path("out/failure.xyz").exists()
    told = " ".join(tap.run("run", config, "-o", "told").stdout.split())
    assert "stuck at t = 0.785398, after step 7 of 20" in told and "(largest 0)" not in told, told
    assert "at t = 0.7, the last measurement" in told, told
    stuck = about("out")["own_steps"]["stuck_at"]
    assert about("out")["step"] == 7 and abs(stuck - 0.785398) < 1e-6, stuck
    assert "Time=0.785398" in pathlib.Path("out/failure.xyz").read_text().splitlines()[1]
    softened = run(config, "soft", "-P", "physics.softening=0.01")
    assert softened.returncode == 0


def test_an_integrator_that_is_none_is_the_only_error():
    """a slip in its name does not make the grid that it may leave out an error too"""
    config = write(TRIPLES.replace("gauss-radau", "gauss-rado").replace("step = 0.125;", ""))
    refused = tap.run("check", config)
    assert refused.returncode == 78 and "did you mean gauss-radau?" in refused.stderr, refused
    assert "time.step" not in refused.stderr, refused.stderr
    config = write(TRIPLES.replace('integrator = "gauss-radau"; step = 0.125;', ""))
    fixed = tap.run("check", config)
    assert fixed.returncode == 78 and "time.step: must be given" in fixed.stderr, fixed


tap.main()
