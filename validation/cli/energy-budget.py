"""Causes of the energy error: four runs, each limited by something else."""

import json
import pathlib
import resource

import numpy

import tap
from rows import columns

CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 48; seed = 4; };
physics = { softening = 0.1; };
time = { step = 0.02; end = 5.0; };
outputs = ( { type = "xyz"; every = 50; } );
checkpoint = { every_steps = 70; };
energy_budget = { measure = true; every = 25; };
"""

# Burrau's problem up to its first close encounter: bodies 2 and 3 pass 0.02 from each other.
ENCOUNTER = """
name = "encounter";
bodies = { initial = "pythagorean"; };
time = { step = 0.0005; end = 2.2; };
watch = { on_jump = "warn"; };
energy_budget = { measure = true; every = 10; };
"""

PARTS = ("truncation", "encounters", "force_precision")


def go(text, directory, *overrides, more=()):
    pathlib.Path("run.cfg").write_text(text)
    options = [word for override in overrides for word in ("-P", override)]
    result = tap.run("run", "run.cfg", "-o", directory, *options, *more)
    assert result.returncode in (0, 1), result.stderr  # the watch may fail a bad one
    said = json.loads(pathlib.Path(directory, "run.json").read_text()).get("energy_budget")
    return said, result.stdout


def the_one_part(said, name):
    """This part is the error within a factor two, and the others are small beside it."""
    assert said["adds_up"] and "NOT EXPLAINED" not in said["text"], said
    ratio = said[name] / said["energy_change"]
    assert 0.5 < ratio < 2, (name, ratio)
    assert all(abs(said[part]) < 0.2 * abs(said[name]) for part in PARTS if part != name), said


def test_a_run_limited_by_its_step():
    """the step is the error, bounded or growing: its part adds up within a factor two"""
    said, summary = go(CLUSTER, "verlet")
    the_one_part(said, "truncation")
    assert "energy budget  of " in summary and "step " in summary
    said, _ = go(CLUSTER, "euler", "time.integrator=euler")
    the_one_part(said, "truncation")


def test_a_run_limited_by_precision():
    """forces in single are the error where the step is exact, and so in the other kernel"""
    for precision in ("single", "mixed"):
        said, _ = go(CLUSTER, precision, f"compute.precision={precision}",
                     "time.integrator=yoshida6", "time.step=0.01")
        the_one_part(said, "force_precision")


def test_a_run_limited_by_an_encounter():
    """an encounter is the error, and those who met are named"""
    said, summary = go(ENCOUNTER, "encounter")
    the_one_part(said, "encounters")
    assert said["worst_encounter"] == [2, 3]
    assert "most of bodies 2 and 3" in " ".join(summary.split())


def test_a_run_limited_by_rounding():
    """rounding is the error: it is told within a factor two, over 24 systems"""
    said, _ = go(CLUSTER, "rounding", "time.integrator=yoshida6", "time.step=0.0025",
                 "ensemble.systems=24", "bodies.count=12", "physics.softening=0.5")
    assert all(said[part] == 0.0 for part in PARTS) and said["adds_up"], said
    table = columns("rounding/energy-budget.csv")
    last = table["step"] == table["step"].max()
    measured = numpy.sqrt((table["energy_change"][last] ** 2).mean())
    told = numpy.sqrt((table["rounding"][last] ** 2).mean())
    assert 0.5 < told / measured < 2, (told, measured)


PAIR = """
name = "pair";
bodies = { initial = "file"; file = "pair.csv"; };
time = { integrator = "yoshida6"; step = 0.005; end = 20.0; };
compute = { threads = 1; };
diagnostics = ( { type = "conservation"; every = 100; } );
energy_budget = { measure = true; every = 100; };
"""


def test_a_pair_far_from_the_origin():
    """positions are rounded by more there, which is no error of the step"""
    for where in (0.0, 1e6):
        with open("pair.csv", "w", encoding="ascii") as file:
            print("m,x,y,z,vx,vy,vz", file=file)
            for m, x, v in ((1.0, -1 / 3, -0.5**0.5 * 3**0.5 / 3), (0.5, 2 / 3, 6**0.5 / 3)):
                print(f"{m},{where + x!r},{where!r},{where!r},0,{v!r},0", file=file)
        for integrator, step in (("yoshida6", 0.005), ("velocity-verlet", 0.0002)):
            said, _ = go(PAIR, "pair", f"time.integrator={integrator}", f"time.step={step}",
                         more=["--force"])
            assert said["adds_up"] and said["truncation"] == 0, (where, said)
            if where > 0:
                assert 0.1 < said["rounding"] / abs(said["energy_change"]) < 20, said


def test_steps_that_follow_an_encounter():
    """of an integrator that chooses its own steps the error is theirs, also in an encounter"""
    said, summary = go(ENCOUNTER, "block", "time.integrator=hermite4", "time.step=0.05",
                       "energy_budget.every=4")
    the_one_part(said, "truncation")
    assert abs(said["energy_change"]) > 1e-6 and said["worst_encounter"] is None, said
    assert "own steps" in said["text"] and "encounters" not in said["text"], said
    # The fixed steps of such a grid leave the pair behind, and say so.
    said, _ = go(ENCOUNTER, "fixed", "time.step=0.05", "energy_budget.every=4")
    assert said["encounters"] != 0 and "encounters" in said["text"], said


BOX = """
name = "box";
bodies = { initial = "uniform-cube"; count = 32; half_side = 0.5; };
physics = { boundary = "periodic"; box_length = 1.0; softening = 0.05; };
time = { step = 0.002; end = 0.4; };
diagnostics = ( { type = "conservation"; every = 50; } );
energy_budget = { measure = true; every = 50; };
"""


def test_image_changes_of_a_box_are_named():
    """forces jump where pairs change images, which the part of the step takes in"""
    said, summary = go(BOX, "box")
    assert ": step and image changes " in said["text"], said
    assert "step and image changes" in " ".join(summary.split()), summary
    said, _ = go(BOX.replace('boundary = "periodic"; box_length = 1.0; ', ""), "open")
    assert "image" not in said["text"], said


def test_a_part_that_is_not_whole():
    """no row of it; the summary says until which step it speaks, or that it knows nothing"""
    whole, _ = go(CLUSTER, "whole-parts", "energy_budget.every=97", "time.end=3.88")
    said, summary = go(CLUSTER, "left", "energy_budget.every=97")
    assert columns("left/energy-budget.csv")["step"].tolist() == [0, 97, 194]
    assert {**said, "text": ""} == {**whole, "text": ""} and "until step 194" in said["text"], said
    assert "until step" not in whole["text"], whole
    said, summary = go(CLUSTER, "none", "energy_budget.every=300")
    assert columns("none/energy-budget.csv")["step"].tolist() == [0]
    assert said["energy_change"] is None and said["truncation"] is None, said
    assert "not known: the run has not come through one part of 300 steps" in said["text"], said
    assert "of 0, the largest" not in " ".join(summary.split())


def test_without_energy_there_is_none():
    """one body has no energy to err in, and nothing is made up"""
    said, summary = go(CLUSTER, "alone", "bodies.count=1")
    assert "undefined, since E0 and U0 are 0" in " ".join(summary.split())
    assert said["truncation"] is None
    pathlib.Path("one.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,1,2,3\n")
    _, summary = go(PAIR.replace("pair.csv", "one.csv"), "one")
    assert "2K/|W| = undefined, -2K/U = undefined" in summary, summary


def test_it_leaves_the_run_as_it_is():
    """the run has the same bits with it and without; off, there is no file"""
    go(CLUSTER, "with")
    said, _ = go(CLUSTER, "without", "energy_budget.measure=false")
    assert said is None and not pathlib.Path("without/energy-budget.csv").exists()
    assert (pathlib.Path("with/trajectory.xyz").read_bytes()
            == pathlib.Path("without/trajectory.xyz").read_bytes())


def test_restarts_have_the_same_bytes():
    """a run that is continued, from a step on its cadence or off it, has the same bytes"""
    both = CLUSTER + "trust = { shadow = true; };"
    whole, _ = go(both, "whole")
    for end in (1.0, 1.13, 3.5):
        go(both, f"part{end}", f"time.end={end}")
        part, _ = go(both, f"part{end}", more=("--restart",))
        for name in ("energy-budget.csv", "trust.csv", "trajectory.xyz"):
            assert (pathlib.Path("whole", name).read_bytes()
                    == pathlib.Path(f"part{end}", name).read_bytes()), (end, name)
        assert whole == part


def test_parts_that_a_run_does_not_reach():
    """they are replayed when the run goes further, with the bytes of a run that went at once"""
    for integrator in ("velocity-verlet", "hermite4"):
        for every in (25, 100):
            keys = (f"energy_budget.every={every}", f"time.integrator={integrator}")
            whole, _ = go(CLUSTER, "whole", *keys, more=("--force",))
            for end in (0.5, 1.0, 2.0):  # within a part, and where one ends: 25, 50 and 100 steps
                go(CLUSTER, "part", *keys, f"time.end={end}", more=("--force",))
                go(CLUSTER, "part", *keys, f"time.end={end + 0.24}", more=("--restart",))
                part, _ = go(CLUSTER, "part", *keys, more=("--restart",))
                for name in ("energy-budget.csv", "trajectory.xyz"):
                    assert (pathlib.Path("whole", name).read_bytes()
                            == pathlib.Path("part", name).read_bytes()), (keys, end, name)
                assert whole == part


def test_image_changes():
    """in a periodic box the error of a step that meets a jump of a force is of first order whatever
    the integrator is, and the budget names both together (theory.md has the table)"""
    def largest(integrator, boundary):
        pathlib.Path("box.cfg").write_text(
            'bodies = { initial = "uniform-cube"; count = 64; seed = 7; virial_ratio = 1.0; };\n'
            f"physics = {{ softening = 0.2; {boundary} }};\n"
            f'time = {{ integrator = "{integrator}"; step = 0.002; end = 2.0; }};\n'
            "energy_budget = { measure = true; };\n")
        assert tap.run("run", "box.cfg", "-q", "--force", "-o", "box").returncode in (0, 1)
        run = json.loads(pathlib.Path("box", "run.json").read_text())
        named = "step and image changes" in run["energy_budget"]["text"]
        assert named == ("periodic" in boundary), run["energy_budget"]
        return run["watch"]["energy_error"]["largest"]
    box = [largest(name, 'boundary = "periodic"; box_length = 2.0;')
           for name in ("velocity-verlet", "pefrl", "yoshida6")]
    assert min(box) > 1e-4 and max(box) < 5e-4, box  # 2.2e-4, 3.2e-4 and 2.1e-4: measured
    assert largest("velocity-verlet", "") < 5e-6  # 2.5e-6
    assert largest("yoshida6", "") < 1e-11  # 1.4e-13


def test_what_it_costs():
    """three times the steps of the run: none beyond its end, however long the parts are"""
    pair = ("bodies.count=600", "compute.threads=1", "time.step=0.001", "time.end=0.5")

    def seconds(*overrides):
        times = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            go(CLUSTER, "cost", *pair, *overrides, more=("--force", "-q"))
            times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        return min(times)
    alone = seconds("energy_budget.measure=false")
    # A replay of the part that begins at the last step would make 5 of it, and one of 10^6 steps
    # would not end.
    assert seconds("energy_budget.every=500") < 4 * alone
    assert seconds("energy_budget.every=1000000") < 1.5 * alone


if __name__ == "__main__":
    tap.main()
