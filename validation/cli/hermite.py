"""Block steps by hermite4, as a user meets them: the same bytes however a run is cut up and
observed, a certificate, what it took, and errors that say what to do."""

import json
import pathlib
import re

import numpy

import tap
from rows import columns

CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 60; seed = 7; };
physics = { softening = 0.01; };
time = { integrator = "hermite4"; step = 0.0625; end = 1.5; };
compute = { threads = 2; precision = "mixed"; };
diagnostics = ( { type = "conservation"; every = 4; } );
outputs = ( { type = "xyz"; every = 8; columns = "mass pos velo"; } );
checkpoint = { every_steps = 5; };
expect = ( { quantity = "energy_error"; at_most = 1e-5; } );
"""


def go(directory, *arguments, text=CLUSTER, status=0):
    pathlib.Path("run.cfg").write_text(text)
    result = tap.run("run", "run.cfg", "-q", "-o", directory, *arguments)
    assert result.returncode == status, (arguments, result)
    return result


def motion(directory):
    return pathlib.Path(directory, "trajectory.xyz").read_bytes()


def about(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def test_the_same_motion_however_it_is_run():
    go("whole")
    assert about("whole")["verdict"] == "held"
    # Threads, and rows of another cadence.
    go("threads", "-P", "compute.threads=3", "-P", "diagnostics.0.every=1")
    go("sparse", "-P", "compute.threads=1", "-P", "diagnostics.0.every=7")
    # Stopped at the middle, continued by another team.
    go("half", "-P", "time.end=0.75")
    go("half", "--restart", "-P", "compute.threads=1")
    for directory in ("threads", "sparse", "half"):
        assert motion(directory) == motion("whole"), directory
    same = ("steps", "smallest", "pair")
    own = [about(directory)["own_steps"] for directory in ("whole", "half")]
    assert all(own[0][key] == own[1][key] for key in same), own
    for threads in (1, 3):
        result = tap.run("verify", "half", "-P", f"compute.threads={threads}")
        assert result.returncode == 0 and "the same bits" in result.stdout, result


def test_a_member_is_as_if_it_were_alone():
    few = ("-P", "bodies.count=24")
    go("all", *few, "-P", "ensemble.systems=5")
    go("one", *few, "-P", "bodies.seed=10")
    rows = pathlib.Path("all/conservation.csv").read_text().split("\n")
    # The row of a member begins with the number of its system.
    fourth = [row[2:] for row in rows if row.startswith("4,")]
    assert fourth == pathlib.Path("one/conservation.csv").read_text().split("\n")[1:-1]
    assert len(fourth) == 7, rows


def test_steps_follow_eta():
    steps, errors = [], []
    for eta in (0.02, 0.005):
        go("eta", "--force", "-P", f"time.eta={eta}", "-P", "compute.precision=double")
        steps.append(about("eta")["own_steps"]["steps"])
        errors.append(abs(about("eta")["relative_energy_error"]))
    # Half as long on average (2, but for the rounding to powers of two); the error of 4th order.
    assert 1.7 < steps[1] / steps[0] < 2.3, steps
    assert errors[1] < errors[0] / 3, errors


def test_the_kernels_of_the_run_are_named():
    go("named", "-P", "time.end=0.0625")
    assert about("named")["compute"]["kernel"] == "hermite", about("named")
    go("plain", "-P", "time.end=0.0625", "-P", "compute.backend=serial", "-P",
       "compute.precision=double")
    assert about("plain")["compute"]["kernel"] == "reference", about("plain")


def test_what_cannot_be_done_is_said():
    for arguments, words in (
            (["-P", "compute.precision=single"], "hermite4"),
            (["-P", "physics.boundary=periodic", "-P", "physics.box_length=9"],
             "hermite4 needs forces without jumps"),
            (["-P", "time.eta=0"], "time.eta=0: must be greater than 0"),
            (["-P", "time.eta=-0.02"], "must be greater than 0"),
            (["-P", "time.accuracy=1e-9"], "time.accuracy")):
        result = go("bad", *arguments, status=78)
        assert words in result.stderr, (arguments, result.stderr)
    refused = go("bad", "--convergence", status=78)
    assert "sweep time.eta instead" in refused.stderr, refused.stderr
    assert not pathlib.Path("bad").exists()


FALL = """
name = "fall";
bodies = { initial = "file"; file = "fall.csv"; };
time = { integrator = "hermite4"; step = 0.1; end = 2.0; };
diagnostics = ( { type = "conservation"; every = 100; } );
expect = ( { quantity = "energy_error"; at_most = 1e-3; } );
"""


BODIES = "m,x,y,z,vx,vy,vz\n1,-0.5,0,0,0,0,0\n1,0.5,0,0,0,0,0\n"


def test_a_collision_names_the_pair():
    pathlib.Path("fall.csv").write_text(BODIES)
    result = go("collision", status=70, text=FALL)
    assert "system 1, bodies " in result.stderr and "time.step / 2^50" in result.stderr, result
    assert about("collision")["verdict"] == "error", about("collision")
    assert "may help" not in result.stderr, result  # shorter steps would be stuck as well


def test_a_run_that_is_stuck_counts_what_it_did():
    """the grid steps until then and no more; what was expected has not held; no error of 0"""
    pathlib.Path("fall.csv").write_text(BODIES)
    go("stuck", status=70, text=FALL)
    told = about("stuck")
    stuck = told["own_steps"]["stuck_at"]
    assert told["step"] == told["legs"][0]["last_step"] == 7 and abs(stuck - 0.785398) < 1e-4, told
    assert abs(told["time"] - 0.7) < 1e-12, told
    assert told["expect"][0]["holds"] is None and told["expect"][0]["rows"] == 1, told["expect"]
    assert tap.run("report", "stuck").returncode == 0
    page = pathlib.Path("stuck/report.html").read_text()
    assert "not judged" in page and "Its limits hold." not in page and ">held<" not in page
    assert "they ask for a step of" in page and f"<dd>{told['own_steps']['steps']:.0f}</dd>" in page
    result = go("sweep", status=70, text=FALL + """
sweep = ( { key = "physics.softening"; values = [0.1, 0.0]; } );
""")
    header, good, bad = pathlib.Path("sweep/study.csv").read_text().splitlines()
    at = header.split(",").index("conservation.energy_error [1]")
    assert 0 < float(good.split(",")[at]) < 1e-4 and bad.split(",")[2:4] == ["70", "error"], bad
    assert bad.split(",")[at] == "", (result, bad)


STEPS = CLUSTER.replace("diagnostics = (", 'diagnostics = ( { type = "own-steps"; every = 2; },')


def test_steps_over_time():
    """numbers and means of the rows add up to the run; in parts and by other teams the same"""
    go("steps", text=STEPS)
    table, own = columns("steps/own-steps.csv"), about("steps")["own_steps"]
    assert table["steps"].sum() == own["steps"] and table["smallest_step"][-1] == own["smallest"]
    assert len(table["steps"]) == 13 and numpy.isnan(table["taken_back"]).all(), table
    # Every body has gone through the time between two rows.
    through = table["steps"][1:] * table["mean_step"][1:] / 60
    assert numpy.allclose(through, 0.125, rtol=1e-12), through
    assert (table["next_step"][1:] <= table["mean_step"][1:] * 1.5).all(), table
    go("cut", "-P", "time.end=0.75", text=STEPS)
    go("cut", "--restart", "-P", "compute.threads=1", text=STEPS)
    rows = [pathlib.Path(name, "own-steps.csv").read_bytes() for name in ("steps", "cut")]
    assert rows[0] == rows[1]
    go("fixed", "-P", "time.integrator=velocity-verlet", status=1, text=STEPS)
    fixed = columns("fixed/own-steps.csv")
    assert (fixed["steps"][1:] == 2).all() and (fixed["mean_step"][1:] == 0.0625).all(), fixed


def test_steps_are_drawn():
    """also of a run that could take no shorter one, and the figure says so"""
    pathlib.Path("fall.csv").write_text(BODIES)
    go("drawn", "-P", "time.step=0.01", status=70, text=FALL.replace(
        "diagnostics = (", 'diagnostics = ( { type = "own-steps"; every = 1; },'))
    assert tap.run("report", "drawn").returncode == 0
    page = pathlib.Path("drawn/report.html").read_text()
    assert "At t = 0.785398 no step was short enough, and the run broke off." in page
    drawn = pathlib.Path("drawn/plots/own-steps.dat").read_text()
    assert len(drawn.splitlines()) > 3 * 70, drawn


def test_what_is_told_of_own_steps():
    """their rate is that of own steps; block steps are never taken back, and nothing says so"""
    pathlib.Path("run.cfg").write_text(CLUSTER)
    told = " ".join(tap.run("run", "run.cfg", "-o", "told").stdout.split())
    assert "rejected" not in told and about("told")["own_steps"]["rejections"] is None, told
    rate = float(told.split(" own steps/s")[0].split()[-1])
    own = about("told")["own_steps"]["steps"] / about("told")["advance_seconds"]
    assert abs(rate / own - 1) < 0.01, (rate, own)
    alone = tap.run("run", "run.cfg", "-o", "alone", "-P", "bodies.count=1").stdout
    alone = " ".join(alone.split())
    assert "energy error undefined, since E0 and U0 are 0" in alone and "nan" not in alone, alone


def test_a_system_without_energy_hides_no_error():
    pathlib.Path("fall.csv").write_text(BODIES)
    pathlib.Path("light.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n0,1,0,0,0,1,0\n")
    pathlib.Path("run.cfg").write_text(
        FALL.replace('file = "fall.csv"', 'files = ["fall.csv", "light.csv"]'))
    told = tap.run("run", "run.cfg", "-o", "two", "-P", "time.end=0.2").stdout
    told = " ".join(told.split())
    assert re.search(r"undefined in system 2 \(light.csv\), since E0 and U0 are 0; "
                     r"\|dE\| = [1-9]\S+ of max\(\|E0\|, \|U0\|\) in system 1", told), told


tap.main()
