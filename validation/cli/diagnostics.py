"""Diagnostics in a run: restarts, threads, and numbers worked out again from the trajectory."""

import csv
import json
import math
import pathlib
import resource

import numpy as np

import tap

# Every diagnostic, on two systems; all of them measure at step 100.
ALL = tap.every_diagnostic("""
name = "all";
bodies = { initial = "plummer"; count = 150; seed = 11; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 2.0; };
diagnostics = (
  { type = "close-encounters";    every = 10; },
  { type = "conservation";        every = 10; },
  { type = "density-profile";     every = 20; shells = 8; },
  { type = "density-slope";       every = 20; least_bodies = 3; },
  { type = "lagrangian-radii";    every = 20; center = "mass"; },
  { type = "orbit";               every = 10; primary = 3; secondary = 7; },
  { type = "own-steps";           every = 10; },
  { type = "radial-distribution"; every = 50; r_max = 2.0; bins = 20; },
  { type = "velocity-dispersion"; every = 20; },
  { type = "virial";              every = 10; window = 7; },
  { type = "escapers";            every = 20; },
  { type = "force-error";         every = 20; }
);
outputs = ( { type = "xyz"; every = 50; } );
""", 20)
ENSEMBLE = ALL + "ensemble = { systems = 2; };\n"


def test_tables_have_all_digits():
    """the last rows of the tables are those of run.json, to the last bit"""
    run(ALL, "digits")
    told = json.loads(pathlib.Path("digits/run.json").read_text())["diagnostics"]
    compared = 0
    for name, row in told.items():
        with open(f"digits/{name}.csv", newline="") as file:
            last = list(csv.DictReader(file))[-1]
        cells = {key.split(" ")[0]: value for key, value in last.items()}
        for column, value in row.items():
            assert value is None or float(cells[column]) == value, (name, column, value, cells)
            compared += value is not None
    assert compared > 40, compared


def test_two_of_one_type_have_names():
    """a name of one's own is that of its file, in run.json and in criteria"""
    text = ALL.replace('{ type = "virial";              every = 10; window = 7; }',
                       '{ type = "virial"; every = 10; window = 7; }, '
                       '{ type = "conservation"; name = "slow"; every = 50; }')
    run(text + 'expect = ( { quantity = "slow.virial_ratio"; at_least = 0.0; } );', "named")
    assert len(pathlib.Path("named/slow.csv").read_text().splitlines()) == 1 + 5
    assert len(pathlib.Path("named/conservation.csv").read_text().splitlines()) == 1 + 21
    assert "slow" in json.loads(pathlib.Path("named/run.json").read_text())["diagnostics"]


def run(text, directory, *options):
    pathlib.Path("run.cfg").write_text(text)
    result = tap.run("run", "run.cfg", "-q", "-o", directory, *options)
    assert result.returncode == 0, result.stderr


def tables(directory):
    """All CSV files of a run, as bytes."""
    found = {path.name: path.read_bytes() for path in pathlib.Path(directory).glob("*.csv")}
    assert len(found) >= 9, found.keys()
    return found


def rows(directory, name):
    """The rows of a table as dictionaries, without units; NaN for what is empty."""
    with open(pathlib.Path(directory, name), newline="") as file:
        lines = list(csv.reader(file))
    names = [cell.split(" ")[0] for cell in lines[0]]
    return [{key: float(cell) if cell else np.nan for key, cell in zip(names, line)}
            for line in lines[1:]]


def frames(directory):
    """Positions, velocities, masses and ids of every frame, by step."""
    lines = pathlib.Path(directory, "trajectory.xyz").read_text().split("\n")
    found = {}
    while len(lines) > 1:
        count = int(lines[0])
        step = int(lines[1].split("Step=")[1].split(" ")[0])
        body = np.array([[float(cell) for cell in line.split()[1:]]
                         for line in lines[2:count + 2]])
        found[step] = body[:, 0:3], body[:, 3:6], body[:, 6], body[:, 7].astype(int)
        lines = lines[count + 2:]
    return found


def test_a_restart_goes_on_in_every_table():
    """ended at half time and continued, every table has the bytes of the uninterrupted run"""
    run(ENSEMBLE, "whole")
    run(ENSEMBLE, "parts", "-P", "time.end=1.0")
    assert tables("parts")["virial.csv"] != tables("whole")["virial.csv"]
    run(ENSEMBLE, "parts", "--restart")
    whole, parts = tables("whole"), tables("parts")
    assert [name for name in whole if whole[name] != parts[name]] == []


def test_a_restart_keeps_the_radii_of_the_start():
    """of a profile, however far the bodies have fallen in by then"""
    config = "run.cfg"
    pathlib.Path(config).write_text("""
name = "fall";
bodies = { initial = "cold-sphere"; count = 100; seed = 1; };
physics = { softening = 0.05; };
time = { step = 0.002; end = 1.5; };
diagnostics = ( { type = "density-profile"; r_min = 5.0; every = 250; } );
""")
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    assert tap.run("run", config, "-q", "-o", "parts", "-P", "time.end=1.0").returncode == 0
    result = tap.run("run", config, "-q", "-o", "parts", "--restart")
    assert result.returncode == 0, result.stderr
    tables = [pathlib.Path(name, "density-profile.csv").read_bytes() for name in ("whole", "parts")]
    assert tables[0] == tables[1]


def test_one_body_has_no_closest_pair():
    """its distance is undefined, and what is undefined meets no expectation"""
    pathlib.Path("one.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,1,0,0\n")
    config = "run.cfg"
    pathlib.Path(config).write_text("""
name = "one";
bodies = { initial = "file"; file = "one.csv"; };
time = { step = 0.1; end = 1.0; };
diagnostics = ( { type = "close-encounters"; } );
expect = ( { quantity = "closest_distance"; at_least = 0.1; } );
""")
    assert tap.run("run", config, "-q").returncode == 1


def test_threads_change_no_byte():
    for threads in (1, 3):
        run(ENSEMBLE, f"threads-{threads}", "-P", f"compute.threads={threads}")
    assert tables("threads-1") == tables("threads-3")


def test_systems_are_those_that_run_alone():
    """the second system of an ensemble has the rows of a run of its own, with the next seed"""
    run(ENSEMBLE, "both")
    run(ALL, "alone", "-P", "bodies.seed=12")
    # Ranges and cells that the start decides are those of the first system, or of all: not these.
    for name in ("close-encounters", "conservation", "force-error", "lagrangian-radii", "orbit",
                 "velocity-dispersion", "virial"):
        second = [row for row in rows("both", f"{name}.csv") if row.pop("system") == 2]
        alone = rows("alone", f"{name}.csv")
        assert str(second) == str(alone), name


def test_radii_of_what_is_bound():
    """where all is bound, and no pair counts as one body, they are those of the whole"""
    text = """
name = "bound";
bodies = { initial = "plummer"; count = 800; seed = 7; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 0.1; };
diagnostics = (
  { type = "escapers";         every = 10; center = "mass"; },
  { type = "lagrangian-radii"; every = 10; center = "mass"; }
);
"""
    run(text, "bound")
    bound, whole = (rows("bound", f"{name}.csv") for name in ("escapers", "lagrangian-radii"))
    assert [row["unbound"] for row in bound] == [0, 0], bound
    for one, other in zip(bound, whole):
        for percent in (10, 50, 90):
            own, its = one[f"bound_radius_{percent}"], other[f"radius_{percent}"]
            assert abs(own / its - 1) < 1e-12, (percent, own, its)


def test_structure_from_the_trajectory():
    """radii, dispersions and nearest pairs worked out again by numpy from the frames"""
    run(ALL, "all", "-P", "outputs.0.every=100", "-P", "diagnostics.8.center=mass")
    radii, heat, near = (
        {row["step"]: row for row in rows("all", f"{name}.csv")}
        for name in ("lagrangian-radii", "velocity-dispersion", "close-encounters"))
    for step, (x, v, m, ids) in frames("all").items():
        center = m @ x / m.sum()
        r = np.linalg.norm(x - center, axis=1)
        order = np.argsort(r)
        enclosed = np.cumsum(m[order]) / m.sum()
        for fraction, name in ((0.1, "radius_10"), (0.5, "radius_50"), (0.9, "radius_90")):
            expected = r[order][np.searchsorted(enclosed, fraction - 1e-9)]
            assert abs(radii[step][name] - expected) < 1e-12, (step, name)
        moving = v - m @ v / m.sum()
        sigma = np.sqrt((m @ moving ** 2).sum() / (3 * m.sum()))
        assert abs(heat[step]["dispersion"] - sigma) < 1e-12
        radial = (moving * (x - center)).sum(axis=1) / r
        spread = np.sqrt(m @ (radial - m @ radial / m.sum()) ** 2 / m.sum())
        assert abs(heat[step]["dispersion_radial"] - spread) < 1e-12

        d = np.linalg.norm(x[:, None] - x[None, :], axis=2)
        i, j = np.triu_indices(len(m), 1)
        nearest = np.argmin(d[i, j])
        assert abs(near[step]["nearest_distance"] - d[i, j][nearest]) < 1e-13
        pair = {near[step]["nearest_id_1"], near[step]["nearest_id_2"]}
        assert pair == {ids[i[nearest]], ids[j[nearest]]}
        tau = np.sqrt((d[i, j] ** 2 + 0.05 ** 2) ** 1.5 / (m[i] + m[j]))
        assert abs(near[step]["fastest_time_scale"] - tau.min()) < 1e-12


PAIRS = """
name = "pairs";
bodies = { initial = "plummer"; count = 120; seed = 5; binary_fraction = 0.1;
           binary_axes = [1e-3, 4e-3]; };
physics = { softening = 0.0; };
time = { step = 1e-5; end = 2e-4; integrator = "hermite4"; };
compute = { precision = "double"; };
diagnostics = ( { type = "binaries"; every = 10; } );
outputs = ( { type = "xyz"; every = 10; } );
"""


def bound_pairs(x, v, m):
    """Indices of the members and binding energies of all mutual nearest neighbours that are bound,
    and the bodies with each of them merged: G = 1, no softening."""
    d = np.linalg.norm(x[:, None] - x[None, :], axis=2) + np.diag(np.full(len(m), np.inf))
    near = d.argmin(axis=1)
    i = np.flatnonzero((near[near] == np.arange(len(m))) & (near > np.arange(len(m))))
    energy = 0.5 * np.sum((v[near[i]] - v[i]) ** 2, axis=1) - (m[i] + m[near[i]]) / d[i, near[i]]
    i, energy = i[energy < 0], energy[energy < 0]
    j = near[i]
    mass, center, motion = m.copy(), x.copy(), v.copy()
    mass[i] += m[j]
    for merged, one in ((center, x), (motion, v)):
        merged[i] = (m[i, None] * one[i] + m[j, None] * one[j]) / mass[i, None]
    kept = np.setdiff1d(np.arange(len(m)), j)
    return i, j, -energy * m[i] * m[j] / mass[i], (center[kept], motion[kept], mass[kept])


def test_binaries_from_the_trajectory():
    """bound pairs, kT and the hardest pair of a cluster with binaries, by numpy from the frames"""
    run(PAIRS, "pairs")
    table = {row["step"]: row for row in rows("pairs", "binaries.csv")}
    known = frames("pairs")
    assert len(known) == 3
    for step, (x, v, m, ids) in known.items():
        row = table[step]
        i, j, energy, (_, motion, mass) = bound_pairs(x, v, m)
        v2 = np.sum((motion - mass @ motion / mass.sum()) ** 2, axis=1)
        kT = mass @ v2 / 3 / len(mass)
        assert row["bound_pairs"] == len(i) and row["hard_pairs"] == sum(energy > kT) >= 10
        assert abs(row["kt"] / kT - 1) < 1e-12
        assert abs(row["binding_energy_kt"] * kT / energy.sum() - 1) < 1e-9
        hardest = energy.argmax()
        assert {row["hardest_id_1"], row["hardest_id_2"]} == {ids[i[hardest]], ids[j[hardest]]}
        i, j = i[hardest], j[hardest]
        a = m[i] * m[j] / (2 * energy[hardest])
        assert 1e-3 * (1 - 1e-6) < a < 4e-3 and abs(row["hardest_semi_major_axis"] / a - 1) < 1e-9
        spin = np.cross(x[j] - x[i], v[j] - v[i])
        e = np.sqrt(1 - spin @ spin / (a * (m[i] + m[j])))
        assert abs(row["hardest_eccentricity"] - e) < 1e-9


def test_pairs_from_the_trajectory():
    """pair counts and g(r) by numpy"""
    run(ALL, "all")
    table = rows("all", "radial-distribution.csv")
    for step, (x, _, m, _) in frames("all").items():
        d = np.linalg.norm(x[:, None] - x[None, :], axis=2)[np.triu_indices(len(m), 1)]
        shells = [row for row in table if row["step"] == step]
        edges = [row["r_inner"] for row in shells] + [2.0]
        counts, _ = np.histogram(d[d < 2.0], edges)
        assert [row["pairs"] for row in shells] == list(counts)
        for row, n in zip(shells, counts):
            volume = 4 * np.pi / 3 * (row["r_outer"] ** 3 - row["r_inner"] ** 3)
            g = 2 * n / (len(m) ** 2 * volume / row["cell_volume"])
            assert abs(row["g"] - g) <= 1e-12 * g


def test_energies_average_to_the_virial_theorem():
    """window means by numpy from the rows of conservation"""
    run(ALL, "all")
    kinetic = np.array([row["kinetic"] for row in rows("all", "conservation.csv")])
    for k, row in enumerate(rows("all", "virial.csv")):
        expected = kinetic[max(0, k - 6):k + 1].mean()
        assert abs(row["kinetic_mean"] - expected) < 1e-14


FAR = """
name = "far";
bodies = {{ initial = "file"; file = "bodies.csv"; center = false; }};
physics = {{ softening = 0.1; {space} }};
time = {{ step = 0.01; end = 0.02; }};
watch = {{ on_jump = "warn"; }};
diagnostics = ( {{ type = "radial-distribution"; every = 1; {keys} }} );
"""


def pairs_within(places, r_max, bins):
    """How many pairs each bin has, from the positions."""
    counts = [0] * bins
    for i, a in enumerate(places):
        for b in places[:i]:
            k = math.dist(a, b) / (r_max / bins)
            if k < bins:
                counts[int(k)] += 1
    return counts


def test_gr_of_bodies_far_away_takes_little_memory():
    """g(r) counts the pairs of bodies that are anywhere, with 2 GB of address space"""
    crowd = [(0.01 * k % 1, 0.017 * k % 1, 0.023 * k % 1) for k in range(60)]
    spaces = [([(0, 0, 0), (0.3, 0, 0), (1e13, 0, 0)], ""),
              ([*crowd, (1e150, 1e100, 0)], ""), ([*crowd, (1e80, 1e40, 1e20)], ""),
              ([*crowd, (1e13, -1e13, 1e13)], ""),
              (crowd, 'boundary = "periodic"; box_length = 1e9;')]

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    for places, space in spaces:
        with open("bodies.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(("m", "x", "y", "z", "vx", "vy", "vz"))
            table.writerows((1e-6, *place, 0, 0, 0) for place in places)
        pathlib.Path("run.cfg").write_text(FAR.format(space=space, keys="r_max = 0.5; bins = 7;"))
        options = {} if tap.PATIENCE > 1 else {"preexec_fn": limit}
        result = tap.run("run", "run.cfg", "-q", "--force", "-P", "compute.threads=2", **options)
        assert result.returncode == 0, (places[-1], result.returncode, result.stderr)
        counted = [row["pairs"] for row in rows("far.run", "radial-distribution.csv")[:7]]
        assert counted == pairs_within(places, 0.5, 7), (places[-1], counted)


LEAVER = """
name = "leaver";
bodies = { initial = "file"; file = "bodies.csv"; center = false; };
physics = { softening = 0.1; };
time = { step = 0.01; end = 0.4; };
diagnostics = ( { type = "radial-distribution"; every = 10; r_max = 1.5; bins = 6; } );
outputs = ( { type = "xyz"; every = 10; } );
"""


def cells_of(directory):
    """The volume of the cell of each frame, as OVITO reads it."""
    text = pathlib.Path(directory, "trajectory.xyz").read_text()
    return [float(part.split()[0]) ** 3 for part in text.split('Lattice="')[1:]]


def write_leaver():
    """60 bodies within a cube of side 2, and one that leaves it at t = 0.05."""
    with open("bodies.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("m", "x", "y", "z", "vx", "vy", "vz"))
        table.writerows((1e-6, 0.01 * k % 1, 0.017 * k % 1, 0.023 * k % 1, 0, 0, 0)
                        for k in range(60))
        table.writerow((1e-6, -0.9, 0, 0, -2, 0, 0))


def test_gr_keeps_its_volume_when_a_body_leaves():
    """one body leaves: cell_volume and the means stay, the trajectory's cell is 8 times as large"""
    write_leaver()
    run(LEAVER, "leaver")
    volumes = cells_of("leaver")
    assert volumes == [8] + 4 * [64], volumes
    table = rows("leaver", "radial-distribution.csv")
    assert {row["cell_volume"] for row in table} == {8.0}
    for frame, cell in enumerate(volumes):
        shells = table[6 * frame:6 * frame + 6]
        for k, row in enumerate(shells):
            volume = 4 * np.pi / 3 * (row["r_outer"] ** 3 - row["r_inner"] ** 3)
            ovito = 2 * row["pairs"] * cell / (61 ** 2 * volume)
            assert abs(row["g"] * cell / row["cell_volume"] - ovito) <= 1e-12 * ovito
            mean = np.mean([earlier["pairs"] for earlier in table[k:6 * frame + 6:6]])
            for name in ("g", "pair_density"):
                expected = row[name] / row["pairs"] * mean
                assert abs(row[f"{name}_mean"] - expected) <= 1e-12 * expected, (frame, k, name)
    run(LEAVER, "given", "-P", "diagnostics.0.cell_volume=3.5")
    for row, other in zip(table, rows("given", "radial-distribution.csv"), strict=True):
        assert other["cell_volume"] == 3.5 and other["pair_density"] == row["pair_density"]
        assert abs(other["g"] - row["g"] * 3.5 / 8) <= 1e-12 * other["g"]


def test_a_restart_knows_the_volume_of_the_start():
    """a restart after the body has left goes on with V of step 0: the same bytes"""
    write_leaver()
    run(LEAVER, "whole")
    run(LEAVER, "parts", "-P", "time.end=0.2")
    assert tap.run("run", "run.cfg", "-q", "-o", "parts", "--restart").returncode == 0
    for name in ("radial-distribution.csv", "trajectory.xyz"):
        whole, parts = (pathlib.Path(d, name).read_bytes() for d in ("whole", "parts"))
        assert whole == parts, name


tap.main()
