"""What a study returns: the results of its config as it is now, or no results at all."""

import csv
import json
import os
import pathlib

import tap

PAIR = """
name = "pair";
bodies = { initial = "two-body"; eccentricity = 0.5; };
physics = { softening = 0.1; };
time = { step = 0.01; end = 1.0; };
diagnostics = ( { type = "conservation"; every = 10; } );
sweep = ( { key = "time.integrator"; values = ["velocity-verlet", "yoshida4"]; } );
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def rows_of(path):
    return {row["column"]: row for row in table(path)}


# --- where files are looked for -----------------------------------------------------------------


def two_bodies(path, distance):
    path = pathlib.Path(path)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,{distance},0,0,0,0,0\n")


def test_swept_files_are_looked_for_beside_the_config():
    """a file among the values of a sweep is relative to the config file, as one outside it is"""
    for name, distance in (("near", 2.0), ("far", 4.0)):
        two_bodies(f"experiment/{name}.csv", distance)
        two_bodies(f"{name}.csv", 50.0)  # a decoy where the command runs
    config = write("""
    name = "files";
    bodies = { initial = "file"; file = "near.csv"; };
    time = { step = 0.01; end = 0.02; };
    diagnostics = ( { type = "conservation"; } );
    sweep = ( { key = "bodies.file"; values = ["near.csv", "far.csv"]; } );
    """, "experiment/run.cfg")
    result = tap.run("run", config, "-q")
    assert result.returncode == 0, result.stderr
    for member, distance in (("001", 2.0), ("002", 4.0)):
        about = json.loads(pathlib.Path(f"files.sweep/{member}/run.json").read_text())
        assert about["initial"]["potential"] == -1.0 / distance, (member, about["initial"])
    assert [r["bodies.file"] for r in table("files.sweep/study.csv")] == ["near.csv", "far.csv"]
    # Typed on the command line, they are relative to the current directory, as with any -P.
    result = tap.run("run", config, "-q", "-o", "typed", "-P",
                     'sweep=({key="bodies.file"; values=["near.csv"];})')
    assert result.returncode == 0, result.stderr
    about = json.loads(pathlib.Path("typed/001/run.json").read_text())
    assert about["initial"]["potential"] == -1.0 / 50.0, about["initial"]


def test_a_slip_among_swept_values_is_named_with_its_line():
    result = tap.run("run", write(PAIR.replace('"time.integrator"', '"time.step"')
                                  .replace('["velocity-verlet", "yoshida4"]', "[0.01, -2.5]")))
    assert result.returncode == 78 and "run.cfg:7: time.step = -2.5: must be" in result.stderr, \
        result.stderr


# --- convergence --------------------------------------------------------------------------------


def single(text=PAIR):
    """The config without its sweep."""
    return text[:text.index("sweep =")]


def test_a_cadence_beyond_any_run_follows_the_step():
    """a large `every` is not shifted into a negative number: the first and last steps are measured"""
    config = write(single())
    for every in (9223372036854775807, 4611686018427387904):
        result = tap.run("run", config, "--convergence", "-o", f"to-{every}",
                         "-P", f"diagnostics.0.every={every}")
        assert result.returncode == 0, result.stderr
        for member in ("001", "002", "003"):
            rows = table(f"to-{every}/{member}/conservation.csv")
            assert [float(r["time [T]"]) for r in rows] == [0.0, 1.0], rows


tap.main()
