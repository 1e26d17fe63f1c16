"""Where the energy error comes from: four runs, each limited by something else."""

import json
import pathlib

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


def test_without_energy_there_is_none():
    """one body has no energy to err in, and nothing is made up"""
    said, summary = go(CLUSTER, "alone", "bodies.count=1")
    assert "undefined, since E0 = 0" in summary and said["truncation"] is None


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


if __name__ == "__main__":
    tap.main()
