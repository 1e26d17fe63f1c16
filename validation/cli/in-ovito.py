"""OVITO itself opens our trajectories and computes the same g(r).

The program that asks OVITO runs under $OVITO_PYTHON, or under the Python of the other tests; where
that has no module ovito (PyPI: ovito), the tests are skipped.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys

import tap

PYTHON = os.environ.get("OVITO_PYTHON", sys.executable)

# What OVITO sees of a trajectory, as JSON. %-formatted with path, cutoff and bins.
ASK = """
import json
from ovito.io import import_file
from ovito.modifiers import CoordinationAnalysisModifier

pipeline = import_file(%r)
pipeline.modifiers.append(CoordinationAnalysisModifier(cutoff=%r, number_of_bins=%r))
frames = []
for index in range(pipeline.source.num_frames):
    data = pipeline.compute(index)
    of = data.particles
    frames.append({
        "time": data.attributes["Time"],
        "step": data.attributes["Step" if "Step" in data.attributes else "Timestep"],
        "cell": data.cell[...].tolist(), "volume": data.cell.volume,
        "pbc": [bool(flag) for flag in data.cell.pbc],
        "id": of.identifiers[...].tolist(), "position": of.positions[...].tolist(),
        "velocity": of.velocities[...].tolist(), "mass": of.masses[...].tolist(),
        "cluster": of["Cluster"][...].tolist() if "Cluster" in of else None,
        "rdf": data.tables["coordination-rdf"].xy().tolist()})
print(json.dumps(frames))
"""

OPEN = """
name = "open";
bodies = { initial = "plummer"; count = 800; seed = 5; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 0.3; };
diagnostics = ( { type = "radial-distribution"; every = 10; r_max = 6.0; bins = 150; } );
outputs = ( { type = "xyz"; every = 10; } );
"""

PERIODIC = """
name = "periodic";
bodies = { initial = "uniform-cube"; count = 700; seed = 8; masses = "equal"; };
physics = { softening = 0.05; boundary = "periodic"; box_length = 3.0; };
time = { step = 0.01; end = 2.0; };
diagnostics = ( { type = "radial-distribution"; every = 100; r_max = 1.4; bins = 70; } );
outputs = ( { type = "xyz"; every = 100; } );
"""


def ask(trajectory, cutoff, bins):
    """What OVITO sees, frame by frame."""
    program = ASK % (str(trajectory), cutoff, bins)
    result = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, timeout=200,
                            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    if "No module named 'ovito'" in result.stderr:
        raise tap.Skip(f"{PYTHON} has no module ovito (pip install ovito)")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def run(text):
    pathlib.Path("run.cfg").write_text(text)
    result = tap.run("run", "run.cfg", "-q", "--force")
    assert result.returncode == 0, result.stderr


def our_table(path):
    """The columns of a diagnostic, without units."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    names = [name.split(" ")[0] for name in rows[0]]
    return [dict(zip(names, row)) for row in rows[1:]]


def our_frames(path):
    """Bodies of our trajectory, read by nothing but split()."""
    lines = pathlib.Path(path).read_text().split("\n")
    frames = []
    while len(lines) > 1:
        count = int(lines[0])
        frames.append([line.split() for line in lines[2:count + 2]])
        lines = lines[count + 2:]
    return frames


def same(seen, ours):
    """Equal but for the last bit, which OVITO's reader of numbers does not always get right."""
    return all(abs(a - b) <= 2 ** -52 * abs(b) for a, b in zip(seen, ours, strict=True))


def check_frames(seen, frames):
    """Columns are species, pos, velo, mass, id."""
    assert len(seen) == len(frames) > 2
    for ovito, ours in zip(seen, frames):
        assert ovito["id"] == [int(body[8]) for body in ours]
        assert same(ovito["mass"], [float(body[7]) for body in ours])
        for body, velocity, position in zip(ours, ovito["velocity"], ovito["position"]):
            assert same(velocity, [float(x) for x in body[4:7]])
            assert same(position, [float(x) for x in body[1:4]])


def check_rdf(seen, rows, bins):
    """Bin by bin to 1e-12: the same counts, and the last digits of the volumes. OVITO takes that of
    each frame's cell, g that of the first."""
    assert len(rows) == bins * len(seen)
    for frame, ovito in enumerate(seen):
        for k, (r, g) in enumerate(ovito["rdf"]):
            row = rows[frame * bins + k]
            ratio = ovito["volume"] / float(row["cell_volume"])
            assert abs(float(row["cell_volume"]) / seen[0]["volume"] - 1) < 1e-14
            assert abs(float(row["r"]) - r) <= 1e-12 * r, (k, r, row)
            assert abs(float(row["g"]) * ratio - g) <= 1e-12 * g, (frame, k, g, row)
        assert sum(float(row["pairs"]) for row in rows[frame * bins:(frame + 1) * bins]) > 1000


def test_open_space():
    """frames, ids, velocities, masses, attributes, cell and g(r) of an open cluster"""
    run(OPEN)
    seen = ask("open.run/trajectory.xyz", 6.0, 150)
    assert [frame["step"] for frame in seen] == [0, 10, 20, 30]
    assert all(abs(frame["time"] - 0.01 * frame["step"]) < 1e-15 for frame in seen)
    assert all(frame["pbc"] == [False] * 3 for frame in seen)
    for frame in seen:
        side, origin = frame["cell"][0][0], frame["cell"][0][3]
        assert frame["cell"] == [[side, 0, 0, origin], [0, side, 0, origin], [0, 0, side, origin]]
        inside = [origin <= x <= origin + side for body in frame["position"] for x in body]
        assert all(inside)
    check_frames(seen, our_frames("open.run/trajectory.xyz"))
    check_rdf(seen, our_table("open.run/radial-distribution.csv"), 150)


def test_a_cell_that_has_grown():
    """g(r) of frames whose cell is larger than that of the first"""
    cube = 'initial = "uniform-cube"; half_side = 1.0; masses = "equal"; velocity = 4.0'
    run(OPEN.replace('initial = "plummer"', cube).replace("r_max = 6.0", "r_max = 1.5"))
    seen = ask("open.run/trajectory.xyz", 1.5, 150)
    assert seen[-1]["volume"] >= 7.99 * seen[0]["volume"]
    check_rdf(seen, our_table("open.run/radial-distribution.csv"), 150)


def test_periodic_box():
    """the same of a periodic box, whose bodies have moved through its sides"""
    run(PERIODIC)
    seen = ask("periodic.run/trajectory.xyz", 1.4, 70)
    assert [frame["step"] for frame in seen] == [0, 100, 200]
    assert all(frame["pbc"] == [True] * 3 and frame["cell"][2][2] == 3.0 for frame in seen)
    check_frames(seen, our_frames("periodic.run/trajectory.xyz"))
    check_rdf(seen, our_table("periodic.run/radial-distribution.csv"), 70)


def test_dumps():
    """a dump of LAMMPS is the same to OVITO as the trajectory, in open space and in a box"""
    for text, name, cutoff in tap.first(((PERIODIC, "periodic", 1.4), (OPEN, "open", 6.0)), 1):
        run(text)
        frames = f"{name}.run/trajectory.xyz"
        result = tap.run("convert", "--all", frames, f"{name}.dump")
        assert result.returncode == 0, result.stderr
        dump, trajectory = ask(f"{name}.dump", cutoff, 70), ask(frames, cutoff, 70)
        for one, other in zip(dump, trajectory, strict=True):
            assert {**one, "rdf": 0} == {**other, "rdf": 0}, name
        check_frames(dump, our_frames(frames))


def test_small_clusters_are_not_rescaled():
    """coordinates within [-0.5, 0.5] stay as they are"""
    tap.thorough()
    cube = 'initial = "uniform-cube"; masses = "equal"; velocity = 0.5; half_side = 0.3'
    run(OPEN.replace('initial = "plummer"', cube).replace("end = 0.3", "end = 0.02")
        .replace("every = 10", "every = 1").replace("r_max = 6.0", "r_max = 0.6"))
    seen = ask("open.run/trajectory.xyz", 0.6, 150)
    assert seen[0]["cell"][0] == [1, 0, 0, -0.5]
    check_frames(seen, our_frames("open.run/trajectory.xyz"))
    check_rdf(seen, our_table("open.run/radial-distribution.csv"), 150)


def test_systems_of_an_ensemble():
    """every body says which system it is of"""
    run(OPEN.replace("count = 800", "count = 50") + "ensemble = { systems = 3; };")
    frames = our_frames("open.run/trajectory.xyz")
    seen = ask("open.run/trajectory.xyz", 6.0, 150)
    assert len(seen) == len(frames) == 4
    assert all(len(frame["id"]) == 150 for frame in seen)
    assert all(frame["cluster"] == [1] * 50 + [2] * 50 + [3] * 50 for frame in seen)


tap.main()
