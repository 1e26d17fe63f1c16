"""Block steps by the leapfrog, as a user meets them: the same bytes however a run is cut up and
observed, more energy for the same work in a cusp, shadows and a budget beside it, and errors that
say what to do."""

import json
import pathlib

import numpy

import tap
from rows import columns

CUSP = """
name = "cusp";
bodies = { initial = "hernquist"; count = 300; seed = 7; };
physics = { softening = 0.01; };
time = { integrator = "block-leapfrog"; step = 0.0625; end = 1.0; };
compute = { threads = 2; };
diagnostics = ( { type = "conservation"; every = 1; }, { type = "own-steps"; every = 4; } );
outputs = ( { type = "xyz"; every = 8; columns = "mass pos velo"; } );
checkpoint = { every_steps = 5; };
"""


def go(directory, *arguments, text=CUSP, status=0):
    pathlib.Path("run.cfg").write_text(text)
    result = tap.run("run", "run.cfg", "-q", "--force", "-o", directory,
                     *(word for key in arguments for word in ("-P", key)))
    assert result.returncode == status, (arguments, result)
    return result


def about(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def files(directory):
    return [pathlib.Path(directory, name).read_bytes()
            for name in ("trajectory.xyz", "conservation.csv", "own-steps.csv")]


def largest(directory):
    return abs(columns(f"{directory}/conservation.csv")["energy_error"]).max()


def test_the_same_bytes_however_it_is_run():
    """threads, another cadence, a run that was cut; in every precision and on the serial backend"""
    for keys in (["compute.precision=double"], ["compute.precision=mixed"],
                 ["compute.precision=single"], ["compute.backend=serial"]):
        serial = "compute.backend=serial" in keys
        go("whole", *keys, *(["compute.threads=1"] if serial else []))
        assert about("whole")["compute"]["kernel"] == ("reference" if serial else "due")
        go("half", *keys, "time.end=0.5", *(["compute.threads=1"] if serial else []))
        other = () if serial else ("-P", "compute.threads=3")
        result = tap.run("run", "run.cfg", "-q", "--restart", "-o", "half",
                         *(word for key in keys for word in ("-P", key)), *other)
        assert result.returncode == 0, result
        assert files("half") == files("whole"), keys
        result = tap.run("verify", "half")
        assert result.returncode == 0 and "the same bits" in result.stdout, result
    go("whole")
    go("sparse", "diagnostics.0.every=7", "compute.threads=1")
    assert files("sparse")[0] == files("whole")[0]
    assert about("sparse")["own_steps"] == about("whole")["own_steps"]


MULTIPOLES = ("compute.method=fmm", "compute.accuracy=1e-3", "bodies.initial=plummer",
              "bodies.count=2000", "physics.softening=0.003", "time.eta=0.1", "time.end=0.5")


def test_the_same_bytes_with_fast_multipoles():
    """some blocks have a tree, others few bodies; systems side by side, each by one thread"""
    go("whole", *MULTIPOLES)
    levels = columns("whole/own-steps.csv")
    assert about("whole")["compute"]["kernel"] == "fmm"
    assert about("whole")["own_steps"]["steps"] > 2.5 * 8 * 2000, about("whole")["own_steps"]
    assert numpy.nanmin(levels["smallest_step"]) <= 1 / 64, levels
    for threads in tap.first((3, 1, 2, 7), 1):
        go("half", *MULTIPOLES, "time.end=0.3125", f"compute.threads={threads}")
        result = tap.run("run", "run.cfg", "-q", "--restart", "-o", "half",
                         *(word for key in (*MULTIPOLES, f"compute.threads={8 - threads}")
                           for word in ("-P", key)))
        assert result.returncode == 0, result
        assert files("half") == files("whole"), threads
    result = tap.run("verify", "half")
    assert result.returncode == 0 and "the same bits" in result.stdout, result
    go("sparse", *MULTIPOLES, "diagnostics.0.every=7", "compute.threads=1")
    assert files("sparse")[0] == files("whole")[0]
    go("all", *MULTIPOLES, "ensemble.systems=2", "bodies.count=900", "time.end=0.125")
    go("one", *MULTIPOLES, "bodies.seed=8", "bodies.count=900", "time.end=0.125")
    rows = pathlib.Path("all/conservation.csv").read_text().split("\n")
    second = [row[2:] for row in rows if row.startswith("2,")]
    assert second == pathlib.Path("one/conservation.csv").read_text().split("\n")[1:-1]
    serial = (*MULTIPOLES, "compute.backend=serial", "compute.threads=1", "bodies.count=300",
              "time.end=0.125")
    go("plain", *serial)
    go("half", *serial, "time.end=0.0625")
    result = tap.run("run", "run.cfg", "-q", "--restart", "-o", "half",
                     *(word for key in serial for word in ("-P", key)))
    assert result.returncode == 0 and files("half") == files("plain"), result


def positions(directory):
    """at the end, in the order of the bodies"""
    lines = pathlib.Path(directory, "trajectory.xyz").read_text().split("\n")
    count = int(lines[0])
    rows = numpy.array([line.split() for line in lines[-1 - count:-1]], float)
    return rows[:, -6:-3]


def test_fast_multipoles_beside_direct_sums():
    """the energy error is that of the steps, and bodies are as far from where direct sums bring
    them as the error of the force does"""
    go("direct", *MULTIPOLES[2:])
    go("fmm", *MULTIPOLES, text=CUSP.replace(
        "diagnostics = (", 'diagnostics = ( { type = "force-error"; every = 4; },'))
    assert largest("fmm") < 1.2 * largest("direct") + 1e-6, (largest("fmm"), largest("direct"))
    apart = positions("fmm") - positions("direct")
    # the root mean square of |a| is some 1.1; a half of the error of the force times t^2, and paths
    # part as in any cluster: measured 0.8 of that
    rms = numpy.sqrt((apart ** 2).sum(axis=1).mean())
    assert 0.05 < rms / (0.5 * 1e-3 * 1.1 * 0.5 ** 2) < 4, rms
    errors = columns("fmm/force-error.csv")["force_error"]
    assert errors.max() <= 1e-3 and errors.min() > 1e-4, errors


def test_a_member_is_as_if_it_were_alone():
    few = ("bodies.count=24", "physics.softening=0.05")
    go("all", *few, "ensemble.systems=5")
    go("one", *few, "bodies.seed=10")
    rows = pathlib.Path("all/conservation.csv").read_text().split("\n")
    fourth = [row[2:] for row in rows if row.startswith("4,")]
    assert fourth == pathlib.Path("one/conservation.csv").read_text().split("\n")[1:-1]


def test_more_energy_for_the_same_work():
    """in a cusp the error is a tenth of that of one step for all with as many sums; measured: a
    seventieth with 1000 bodies and a softening of 0.005"""
    go("blocks")
    steps = about("blocks")["own_steps"]["steps"]
    # all bodies take as many as one does on average here, or more; a whole number per row
    per_row = -int(-steps / 300 // 16)
    go("one-step", "time.integrator=velocity-verlet", f"time.step={1 / 16 / per_row}",
       f"diagnostics.0.every={per_row}", text=CUSP.replace("every = 8", "every = 1000"))
    assert largest("blocks") < largest("one-step") / 10, (steps, per_row, largest("blocks"),
                                                        largest("one-step"))


def test_steps_follow_eta():
    """half the steps, twice as many of them; the order is 2 and the choice of a step adds to it"""
    steps, errors = [], []
    for eta in (0.4, 0.2, 0.1, 0.05):
        go("eta", f"time.eta={eta}")
        steps.append(about("eta")["own_steps"]["steps"])
        errors.append(largest("eta"))
    for coarse, fine in zip(steps, steps[1:]):
        assert 1.6 < fine / coarse < 2.1, steps
    assert errors[3] < errors[0] / 16, errors


def test_fields_and_boxes():
    """an orbit in a field alone, whose pull decides the step, and a periodic box"""
    pathlib.Path("one.csv").write_text("m,x,y,z,vx,vy,vz\n0,1,0,0,0,1,0\n")
    text = CUSP.replace('initial = "hernquist"; count = 300; seed = 7;',
                        'initial = "file"; file = "one.csv";')
    text += 'external = ( { type = "point-mass"; mass = 1.0; } );\n'
    go("orbit", "time.end=6.0", text=text)
    # |a| is 1 here, so that the step is 0.2 (0.01)^(1/2) = 0.02, or 1/64
    assert about("orbit")["own_steps"]["smallest"] == 1 / 64, about("orbit")["own_steps"]
    go("box", "physics.boundary=periodic", "physics.box_length=40")
    assert about("box")["own_steps"]["steps"] > 300 * 16, about("box")


def test_momentum_is_not_kept_exactly():
    """and a run that expects it to be fails, with the reason"""
    go("moved", status=1, text=CUSP + """
expect = ( { quantity = "momentum_x"; at_most = 1e-15; at_least = -1e-15; } );
""")
    said = json.dumps(about("moved"))
    assert "the block steps of block-leapfrog do not keep it" in said, said
    momentum = columns("moved/conservation.csv")
    changes = [numpy.ptp(momentum[f"momentum_{axis}"]) for axis in "xyz"]
    assert all(1e-9 < change < 1e-4 for change in changes), changes  # measured: 2e-5


def test_coarse_steps_are_not_praised():
    """the watch sees the energy of a cusp that no step resolves, and the verdict says so"""
    go("coarse", "time.eta=20", "time.step=0.25", "time.end=25.0", "watch.energy_error=0.01",
       status=1)
    assert about("coarse")["verdict"] == "failed", about("coarse")
    tap.run("report", "coarse")
    page = pathlib.Path("coarse/report.html").read_text()
    assert ">held<" not in page and "Its limits hold." not in page


def test_shadow_and_budget():
    """a shadow with half the steps tells how long positions are known; the budget adds up"""
    text = CUSP + "trust = { shadow = true; };\nenergy_budget = { measure = true; };\n"
    go("trusted", "bodies.count=64", text=text)
    result = about("trusted")
    assert result["trust"] and result["energy_budget"], result
    go("cut", "bodies.count=64", "time.end=0.5", text=text)
    pathlib.Path("run.cfg").write_text(text)
    again = tap.run("run", "run.cfg", "-q", "--restart", "-o", "cut", "-P", "bodies.count=64")
    assert again.returncode == 0, again
    assert files("cut") == files("trusted")
    assert about("cut")["trust"] == result["trust"], (about("cut")["trust"], result["trust"])


def test_an_asked_error():
    """eta is found for a run that asks; without the integrator's name it is never chosen"""
    go("asked", "time.energy_error=1e-4", "bodies.count=100")
    chosen = about("asked")
    assert chosen["config"]["time"]["integrator"] == "block-leapfrog", chosen["config"]["time"]
    assert largest("asked") <= 1e-4, largest("asked")
    bare = CUSP.replace('integrator = "block-leapfrog"; step = 0.0625;', "energy_error = 1e-3;")
    go("bare", "bodies.count=40", "diagnostics.0.every=100", text=bare)
    assert "block-leapfrog" not in pathlib.Path("bare/run.json").read_text()


def test_what_cannot_be_done_is_said():
    for key, words in (
            ("physics.softening=0", "physics.softening = 0: block-leapfrog takes steps of eta "),
            ("time.eta=0", "time.eta=0: must be greater than 0"),
            ("time.eta=-0.2", "must be greater than 0"),
            ("time.accuracy=1e-9", "time.accuracy"),
            ("compute.backend=cuda", "")):
        result = go("bad", key, status=69 if "cuda" in key else 78)
        assert words in result.stderr, (key, result.stderr)
    assert not pathlib.Path("bad").exists()


tap.main()
