"""Units: those of files, those of the run, and the labels of all that is written."""

import csv
import json
import math
import pathlib
import re

import numpy

import tap
from reports import quick_report

# Of pure numbers and what has dimensions, in each system.
SYSTEMS = ["nbody", "astronomical", "galactic", "si", "pc-msun-kms", "pc-msun-myr"]
LABELS = {  # written as in the files of a run in each of the systems above
    "pure number": ["1"] * 6,
    "time": ["T", "d", "kpc (km/s)^-1", "s", "pc (km/s)^-1", "Myr"],
    "mass": ["M", "Msun", "1e10Msun", "kg", "Msun", "Msun"],
    "length": ["L", "AU", "kpc", "m", "pc", "pc"],
    "velocity": ["L T^-1", "AU d^-1", "km/s", "m s^-1", "km/s", "pc Myr^-1"],
    "energy": ["M L^2 T^-2", "Msun AU^2 d^-2", "1e10Msun (km/s)^2", "kg m^2 s^-2",
               "Msun (km/s)^2", "Msun pc^2 Myr^-2"],
    "momentum": ["M L T^-1", "Msun AU d^-1", "1e10Msun km/s", "kg m s^-1", "Msun km/s",
                 "Msun pc Myr^-1"],
    "angular momentum": ["M L^2 T^-1", "Msun AU^2 d^-1", "1e10Msun kpc km/s", "kg m^2 s^-1",
                         "Msun pc km/s", "Msun pc^2 Myr^-1"],
    "density": ["M L^-3", "Msun AU^-3", "1e10Msun kpc^-3", "kg m^-3", "Msun pc^-3", "Msun pc^-3"],
    "surface density": ["M L^-2", "Msun AU^-2", "1e10Msun kpc^-2", "kg m^-2", "Msun pc^-2",
                        "Msun pc^-2"],
    "per length": ["L^-1", "AU^-1", "kpc^-1", "m^-1", "pc^-1", "pc^-1"],
    "volume": ["L^3", "AU^3", "kpc^3", "m^3", "pc^3", "pc^3"],
}
COLUMNS = {  # what a column is, of every kind that there is
    "step": "pure number", "time": "time", "kinetic": "energy", "potential": "energy",
    "energy": "energy", "virial_ratio": "pure number", "energy_error": "pure number",
    "momentum_x": "momentum", "angular_momentum_z": "angular momentum", "center_y": "length",
    "separation": "length", "along_track": "length", "semi_major_axis": "length",
    "eccentricity": "pure number", "apse_turn": "pure number", "period": "time",
    "mean_period": "time", "mean_step": "time", "smallest_step": "time",
    "r": "length", "g": "pure number", "shell_volume": "volume",
    "cell_volume": "volume",
    "pair_density": "per length", "density": "density",
    "surface_density": "surface density", "thickness": "length", "rotation_speed": "velocity",
    "dispersion": "velocity", "central_dispersion": "velocity", "speed_x": "velocity",
    "r_50": "length",
    "accurate_until": "time", "reproducible_until": "time", "e_folding_time": "time",
}

ALL = """
name = "all";
bodies = {{ initial = "plummer"; count = 40; seed = 11; mass = 1.0; scale_radius = 1.0; }};
physics = {{ softening = 0.05; units = "{units}"; }};
time = {{ step = {step}; end = {end}; }};
diagnostics = (
  {{ type = "close-encounters";    every = 5; }}, {{ type = "conservation";        every = 5; }},
  {{ type = "density-profile";     every = 5; shells = 4; }},
  {{ type = "density-slope";       every = 5; least_bodies = 3; }},
  {{ type = "force-error";         every = 5; }},
  {{ type = "lagrangian-radii";    every = 5; }},
  {{ type = "orbit";               every = 5; primary = 3; secondary = 7; }},
  {{ type = "own-steps";           every = 5; }},
  {{ type = "radial-distribution"; every = 5; r_max = 2.0; bins = 4; }},
  {{ type = "velocity-dispersion"; every = 5; }}, {{ type = "virial"; every = 5; }}
);
energy_budget = {{ measure = true; every = 5; }};
trust = {{ shadow = true; }};
ensemble = {{ systems = 2; }};
outputs = ( {{ type = "xyz"; every = 10; }} );
expect = ( {{ quantity = "energy"; at_most = 0.0; after = {step}; }} );
"""
# A step is the same in all: 0.003 sqrt(a^3/GM).
G = {"nbody": 1.0, "astronomical": 0.01720209895 ** 2, "galactic": 43009.17, "si": 6.6743e-11,
     "pc-msun-kms": 4.300917e-3, "pc-msun-myr": 4.498502e-3}


def run(text, directory, *options, status=0):
    pathlib.Path("run.cfg").write_text(text)
    result = tap.run("run", "run.cfg", "-o", directory, "--force", *options)
    assert result.returncode == status, result
    return result


def headers(directory):
    """(file, column, unit) of all tables of a run."""
    found = set()
    for path in pathlib.Path(directory).glob("*.csv"):
        with open(path, newline="") as file:
            for cell in next(csv.reader(file)):
                name, _, unit = cell.partition(" [")
                found.add((path.name, name, unit.rstrip("]")))
    return found


def test_labels_of_tables():
    """every header of every table has the label of its dimension, in every system"""
    tables = {}
    for units in SYSTEMS:
        step = 0.003 / math.sqrt(G[units])
        text = ALL.format(units=units, step=step, end=10 * step)
        run(tap.every_diagnostic(text, 5), units, "-q")
        tables[units] = {(file, name): unit for file, name, unit in headers(units)}
    plain = tables["nbody"]
    assert len(plain) > 100 and len({file for file, _ in plain}) >= 11, plain
    assert {file for file, _ in plain} >= {"trust.csv", "energy-budget.csv", "conservation.csv"}
    kinds = {values[0]: values for values in LABELS.values()}
    for units in SYSTEMS:
        assert tables[units].keys() == plain.keys()
        for key, unit in tables[units].items():
            assert unit == kinds[plain[key]][SYSTEMS.index(units)], (units, key, unit)
    seen = set()
    for (file, name), unit in plain.items():
        if name in COLUMNS:
            assert unit == LABELS[COLUMNS[name]][0], (file, name, unit)
            seen.add(COLUMNS[name])
    assert seen >= {"time", "length", "velocity", "energy", "momentum", "angular momentum",
                    "density", "volume"}, seen


def test_labels_of_trajectories():
    """a frame names its units, in all systems but N-body units"""
    kinds = {"mass_unit": "mass", "length_unit": "length", "velocity_unit": "velocity",
             "time_unit": "time"}
    for units in SYSTEMS:
        step = 0.003 / math.sqrt(G[units])
        run(ALL.format(units=units, step=step, end=step), units, "-q")
        line = pathlib.Path(units, "trajectory.xyz").read_text().splitlines()[1]
        for key, kind in kinds.items():
            label = f'{key}="{LABELS[kind][SYSTEMS.index(units)]}"'
            assert (label in line) == (units != "nbody"), (units, line)


PLANETS = """
bodies = { initial = "outer-solar-system"; };
physics = { units = "astronomical"; };
time = { step = 1.0; end = 3653.0; };
diagnostics = ( { type = "conservation"; every = 1000; } );
expect = ( { quantity = "energy"; at_most = 1.0; after = 1000.0; } );
outputs = ( { type = "xyz"; every = 1000; } );
"""


def test_labels_of_the_console():
    """the console, the log and the page name the units of times and bounds; not N-body units"""
    result = run(PLANETS, "planets.run")
    for words in ("step 1 d\n", "t = 3653 d, step 3653 of 3653",
                  "energy <= 1 Msun AU^2 d^-2 after t = 1000 d"):
        assert words in result.stdout.replace("\n                 ", " "), (words, result.stdout)
    assert "3653 steps of 1 d" in pathlib.Path("planets.run/run.log").read_text()
    assert "3653 of 1 d, to t = 3653 d" in tap.run("check", "run.cfg").stdout
    document = json.loads(pathlib.Path("planets.run/run.json").read_text())
    criterion = document["expect"][0]["criterion"]
    assert criterion == "energy <= 1 Msun AU^2 d^-2 after t = 1000 d", criterion
    step = 0.003 / math.sqrt(G["pc-msun-myr"])
    run(ALL.format(units="pc-msun-myr", step=step, end=10 * step), "stars.run", "-q")
    quick_report("planets.run")
    quick_report("stars.run")
    made = [p.read_text() for p in pathlib.Path(".").rglob("*.html")]
    made += [p.read_text() for p in pathlib.Path(".").rglob("*.gp")]
    for words in ("step 1 d", "softening 0 AU", "3653 d", "x [AU]", "t [yr]", "[Msun AU² d⁻²]",
                  f"Bodies at t = {10 * step:.6g} Myr", "r [pc]", "[pc Myr⁻¹]", "t [Myr]",
                  "[Msun pc⁻³]"):
        assert any(words in text for text in made), words
    result = run(ALL.format(units="nbody", step=0.01, end=0.1), "plain.run")
    assert "step 0.01\n" in result.stdout and "t = 0.1, step 10 of 10" in result.stdout, result


# --- the same orbit ------------------------------------------------------------------------------

GM, AU, DAY = 1.3271244e20, 149597870700.0, 86400.0
PC, MYR, MSUN = 3.0856775814913673e16, 1e6 * 365.25 * 86400, 1.3271244e20 / 6.67430e-11
WORTH = {"astronomical": (MSUN, AU, AU / DAY), "si": (1.0, 1.0, 1.0),
         "galactic": (1e10 * MSUN, 1e3 * PC, 1e3), "pc-msun-kms": (MSUN, PC, 1e3),
         "pc-msun-myr": (MSUN, PC, PC / MYR)}
# Two stars of 1.1 and 0.9 solar masses at the pericentre of an orbit with a = 20 AU, e = 0.5.
MASSES, AXIS, ECCENTRICITY = (1.1, 0.9), 20.0, 0.5


def binary(units):
    """Rows m, x, y, z, vx, vy, vz in these units."""
    mass, length, velocity = WORTH[units]
    total, r = sum(MASSES), AXIS * (1 - ECCENTRICITY) * AU
    v = math.sqrt(GM * total * (1 + ECCENTRICITY) / r)
    share = (-MASSES[1] / total, MASSES[0] / total)
    return [[m * MSUN / mass, s * r / length, 0.0, 0.0, 0.0, s * v / velocity, 0.0]
            for m, s in zip(MASSES, share)]


def write_binary(name, units):
    label = {k: LABELS[k][SYSTEMS.index(units)] for k in ("mass", "length", "velocity")}
    title = [f"m [{label['mass']}]"] + [f"{c} [{label['length']}]" for c in "xyz"] + \
        [f"v{c} [{label['velocity']}]" for c in "xyz"]
    rows = [",".join(map(repr, row)) for row in binary(units)]
    pathlib.Path(name).write_text("\n".join([",".join(title)] + rows) + "\n")


ORBIT = """
bodies = {{ initial = "file"; file = "{file}"; }};
physics = {{ units = "{units}"; }};
time = {{ integrator = "pefrl"; step = {step!r}; end = {end!r}; }};
diagnostics = ( {{ type = "orbit"; every = 100; }} );
outputs = ( {{ type = "xyz"; every = 100; }} );
"""
PERIOD = 2 * math.pi * math.sqrt((AXIS * AU) ** 3 / (GM * sum(MASSES)))  # in seconds
STEPS = 2000  # of a period; 1.25 of them are run


def orbit(file, units, *options):
    _, length, velocity = WORTH[units]
    step = PERIOD / STEPS * velocity / length
    return ORBIT.format(file=file, units=units, step=step, end=1.25 * STEPS * step)


def last_frame(directory):
    lines = pathlib.Path(directory, "trajectory.xyz").read_text().splitlines()
    return numpy.array([row.split()[1:8] for row in lines[-2:]], dtype=float)


def last_row(path):
    with open(path, newline="") as file:
        row = list(csv.DictReader(file))[-1]
    return {name.split(" [")[0]: float(value) for name, value in row.items() if value}


def test_one_orbit_from_files_in_any_units():
    """a binary in five units of files and of runs is one orbit, with the period of Kepler's law"""
    for units in WORTH:
        write_binary(f"{units}.csv", units)
    for units in WORTH:
        mass, length, velocity = WORTH[units]
        frames = {}
        for file in WORTH:
            run(orbit(f"{file}.csv", units), "o.run", "-q")
            frames[file] = last_frame("o.run")
            row = last_row("o.run/orbit.csv")
            # The Gaussian constant makes G Msun larger by 3e-11; a step of 1/2000 period is a phase
            # error of about 1e-9 (fourth order).
            assert abs(row["mean_period"] * length / velocity / PERIOD - 1) < 1e-8, (units, row)
            assert abs(row["semi_major_axis"] * length / AU / AXIS - 1) < 1e-9, (units, row)
        own = frames[units]
        scale = numpy.array([AXIS * AU / length] * 3
                            + [math.sqrt(GM / (AXIS * AU)) / velocity] * 3 + [MSUN / mass])
        for file, frame in frames.items():
            # Roundings of the start, 1e-16 each, grow with the phase.
            assert numpy.abs((frame - own) / scale).max() < 1e-12, (units, file)


def test_bits_in_the_units_of_the_run():
    """a file in the units of the run, and one that names none, are not touched"""
    write_binary("named.csv", "pc-msun-myr")
    text = pathlib.Path("named.csv").read_text().splitlines()
    text[0] = "m,x,y,z,vx,vy,vz"
    pathlib.Path("silent.csv").write_text("\n".join(text) + "\n")
    for name in ("named", "silent"):
        run(orbit(f"{name}.csv", "pc-msun-myr"), f"{name}.run", "-q")
    assert pathlib.Path("named.run/trajectory.xyz").read_bytes() == \
        pathlib.Path("silent.run/trajectory.xyz").read_bytes()


def test_a_restart_converts_nothing():
    """stopped and restarted, a run from a file in other units has the bytes of one at once"""
    write_binary("si.csv", "si")
    text = orbit("si.csv", "astronomical")
    run(text, "whole.run", "-q")
    half = 0.5 * 1.25 * PERIOD / DAY
    run(text, "parts.run", "-q", "-P", f"time.end={half!r}")
    result = tap.run("run", "run.cfg", "-q", "-o", "parts.run", "--restart")
    assert result.returncode == 0, result
    whole, parts = (json.loads(pathlib.Path(d, "run.json").read_text())
                    for d in ("whole.run", "parts.run"))
    assert whole["bodies_hash"] == parts["bodies_hash"]
    for name in ("trajectory.xyz", "orbit.csv"):
        rows = [pathlib.Path(d, name).read_bytes().splitlines()[-2:]
                for d in ("whole.run", "parts.run")]
        assert rows[0] == rows[1], (name, rows)
    # A frame of it names its units, and starts a run in others.
    run(orbit("whole.run/trajectory.xyz", "si"), "again.run", "-q", "-P", "bodies.frame=0")
    found = last_frame("again.run") / (AU, AU, AU, AU / DAY, AU / DAY, AU / DAY, MSUN)
    # The two G Msun differ by 3e-11, which is a phase.
    assert numpy.allclose(found, last_frame("whole.run"), rtol=1e-7, atol=0)


def test_the_time_of_a_verdict_has_its_unit():
    """when a run ended that came to no row of an expectation"""
    write_binary("si.csv", "si")
    text = orbit("si.csv", "astronomical") + """
expect = ( { quantity = "orbit.separation"; at_least = 0.0; after = 1e-6; before = 2e-6; } );
"""
    said = " ".join(run(text, "unseen.run", status=1).stdout.split())
    assert re.search(r"the run ended at t = [\d.e+-]+ d: choose other times", said), said


def test_the_hash_of_the_file_is_that_of_its_bytes():
    """bodies.file counts by its content, whatever it is converted to"""
    write_binary("si.csv", "si")
    hashes = set()
    for units in ("si", "galactic"):
        run(orbit("si.csv", units), "h.run", "-q")
        hashes.add(json.loads(pathlib.Path("h.run/run.json").read_text())["bodies_hash"])
    assert len(hashes) == 1


def test_sweep_over_units():
    """one file, a run in each system; the table does not give all rows the units of one"""
    write_binary("si.csv", "si")
    pathlib.Path("sweep.cfg").write_text(
        ORBIT.format(file="si.csv", units="si", step=1e-8, end=2e-8)
        + 'sweep = ( { key = "physics.units"; values = ["pc-msun-myr", "pc-msun-kms"]; } );\n')
    result = tap.run("run", "sweep.cfg", "-q")
    assert result.returncode == 0, result
    rows = list(csv.DictReader(pathlib.Path("sweep.sweep/study.csv").read_text().splitlines()))
    column = "orbit.separation [in physics.units]"
    r = [float(row[column]) for row in rows]  # both in pc, after times that differ by 2 %
    assert r[0] > 0 and abs(r[1] / r[0] - 1) < 1e-3, r
    assert "orbit.eccentricity [1]" in rows[0]


# --- snapshots -----------------------------------------------------------------------------------

def write_snapshot(name, units, attributes=None, group="Units", hubble=1.0):
    h5py = tap.need("h5py")
    with h5py.File(name, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = [0, 2, 0, 0, 0, 0]
        header["MassTable"], header["Time"], header["BoxSize"] = [0.0] * 6, 0.0, 0.0
        header["NumFilesPerSnapshot"] = 1
        if hubble is not None:
            header["HubbleParam"] = hubble
        rows = numpy.array(binary(units))
        part = file.create_group("PartType1")
        part["Masses"], part["Coordinates"], part["Velocities"] = rows[:, 0], rows[:, 1:4], \
            rows[:, 4:]
        for key, value in (attributes or {}).items():
            file.require_group(group).attrs[key] = value


def need_hdf5():
    write_snapshot("probe.hdf5", "si")
    result = tap.run("convert", "probe.hdf5", "probe.csv")
    if result.returncode == 69:
        raise tap.Skip("built without HDF5")
    assert result.returncode == 0, result


def start(file, units, *options):
    """The bodies at time 0 of a run in these units."""
    run(orbit(file, units), "start.run", "-q", *options)
    lines = pathlib.Path("start.run/trajectory.xyz").read_text().splitlines()
    return numpy.array([row.split()[1:8] for row in lines[2:4]], dtype=float)[:, [6, 0, 1, 2, 3,
                                                                               4, 5]]


def near(found, units, tolerance):
    expected = numpy.array(binary(units))
    assert numpy.allclose(found, expected, rtol=tolerance, atol=1e-300), (found, expected)


def test_units_of_snapshots():
    """cgs units as GADGET, AREPO, GIZMO and SWIFT call them, with the digits that they have"""
    need_hdf5()
    mass, length, velocity = WORTH["pc-msun-kms"]
    exact = {"UnitMass_in_g": 1e3 * mass, "UnitLength_in_cm": 100 * length,
             "UnitVelocity_in_cm_per_s": 100 * velocity}
    forms = [("Units", exact), ("Header", exact), ("Parameters", exact),
             ("Header", {"UnitMass_In_CGS": 1.989e33, "UnitLength_In_CGS": 3.085678e18,
                         "UnitVelocity_In_CGS": 1e5}),
             ("Units", {"Unit mass in cgs (U_M)": numpy.array([1.98841e33]),
                        "Unit length in cgs (U_L)": numpy.array([3.08567758e18]),
                        "Unit time in cgs (U_t)": numpy.array([3.08567758e13])})]
    for group, attributes in forms:
        write_snapshot("s.hdf5", "pc-msun-kms", attributes, group)
        assert (start("s.hdf5", "pc-msun-kms") == numpy.array(binary("pc-msun-kms"))).all(), group
        near(start("s.hdf5", "si"), "si", 1e-14)
        near(start("s.hdf5", "galactic"), "galactic", 1e-14)
    # What says nothing is in the units of the run; all 1 says nothing in N-body units.
    write_snapshot("s.hdf5", "si")
    near(start("s.hdf5", "si"), "si", 0)
    write_snapshot("s.hdf5", "si", {"UnitMass_in_g": 1.0, "UnitLength_in_cm": 1.0,
                                    "UnitVelocity_in_cm_per_s": 1.0})
    pathlib.Path("n.cfg").write_text(ORBIT.format(file="s.hdf5", units="nbody", step=1.0, end=1.0))
    assert tap.run("run", "n.cfg", "-q").returncode == 0


def test_contradictions_of_snapshots():
    """units that are not whole, do not agree, or do not go with the config"""
    need_hdf5()
    good = {"UnitMass_in_g": 1.989e43, "UnitLength_in_cm": 3.085678e21,
            "UnitVelocity_in_cm_per_s": 1e5}
    for change, status, words in (
            ({"UnitMass_in_g": 0.0}, 65, "must be those of mass, length and velocity"),
            ({"UnitTime_in_s": 1.0}, 65, "in agreement"),
            ({"UnitLength_in_cm": float("nan")}, 65, "greater than 0"),
            ({"HubbleParam": 0.7}, 78, "HubbleParam is 0.7"),
            ({"HubbleParam": -3e-304}, 65, "HubbleParam is -3e-304, which no cosmology has"),
            ({"HubbleParam": float("inf")}, 65, "HubbleParam is inf, which no cosmology has"),
            ({"Redshift": 1e-317}, 65, "which no cosmology has"),
            ({"Redshift": -1.5}, 65, "Redshift is -1.5, which no cosmology has")):
        write_snapshot("s.hdf5", "si", {**good, **change}, "Header")
        text = orbit("s.hdf5", "galactic")
        result = run(text, "bad.run", "-q", status=status)
        assert words in result.stderr and "s.hdf5" in result.stderr, result
        assert not pathlib.Path("bad.run").exists()
        run(text, "good.run", "-q", "-P", "bodies.file_units=as-is")
    write_snapshot("s.hdf5", "si", good)
    result = run(orbit("s.hdf5", "galactic").replace("galactic", "nbody"), "bad.run", status=78)
    assert 'run.cfg:2: bodies.file = ' in result.stderr and \
        'set physics.units = "galactic"' in result.stderr, result


def test_cosmological_snapshots():
    """h and the scale factor are in the numbers: refused, wherever the file names them"""
    need_hdf5()
    units = {"UnitMass_in_g": 1.989e43, "UnitLength_in_cm": 3.085678e21,
             "UnitVelocity_in_cm_per_s": 1e5}
    # GADGET-4 has HubbleParam among the parameters only; lengths of SWIFT have no h in them.
    for attributes, group, hubble, words in (
            ({**units, "HubbleParam": 0.7}, "Parameters", None, "HubbleParam is 0.7"),
            ({**units, "Redshift": 0.5}, "Header", 1.0, "Redshift is 0.5"),
            ({**units, "Redshift": 0.5}, "Header", None, "Redshift is 0.5"),
            ({}, "Header", 0.7, "HubbleParam is 0.7"), ({"Redshift": 2.0}, "Header", 1.0, "is 2:")):
        write_snapshot("s.hdf5", "si", attributes, group, hubble)
        text = orbit("s.hdf5", "galactic")
        for declared in ("auto", "galactic"):
            result = run(text, "bad.run", "-q", "-P", f"bodies.file_units={declared}", status=78)
            assert words in result.stderr and 'bodies.file_units = "as-is"' in result.stderr, result
        run(text, "good.run", "-q", "-P", "bodies.file_units=as-is")
        result = convert("s.hdf5", "o.csv", status=64)
        assert words in result.stderr and '--from-units "as-is"' in result.stderr, result
        assert not pathlib.Path("o.csv").exists()
        convert("s.hdf5", "o.csv", "--from-units", "as-is", "--force")
        pathlib.Path("o.csv").unlink()
    for attributes, hubble in (({**units, "Redshift": 0.0}, 1.0), (units, 0.0), (units, None)):
        write_snapshot("s.hdf5", "galactic", attributes, "Header", hubble)
        run(orbit("s.hdf5", "galactic"), "good.run", "-q")


# --- the config ----------------------------------------------------------------------------------

def test_contradictions_join_other_errors():
    """units that do not go together are reported with the other errors of a config"""
    write_binary("si.csv", "si")
    pathlib.Path("bodies.cfg").write_text('\nbodies = { initial = "file"; file = "si.csv"; };\n')
    text = '@include "bodies.cfg"\nphysics = { units = "nbody"; };\n' \
        "time = { step = 1e-17; end = 1.0; };\n"
    result = run(text, "bad.run", status=78)
    lines = result.stderr.splitlines()
    assert len(lines) == 2 and lines[0].startswith("run.cfg:3: time.step"), result
    for words in ("bodies.cfg:2: bodies.file = ", "si.csv:1: its numbers are in kg, m and m s^-1",
                  'which cannot become N-body units: set physics.units = "si"'):
        assert words in lines[1], result
    result = run(text.replace("nbody", "galactic").replace("1e-17", "0.1"), "good.run", "-q",
                 "-P", "time.step=1e-11", "-P", "time.end=1e-10")
    near(start("si.csv", "galactic"), "galactic", 1e-14)
    text = orbit("si.csv", "astronomical").replace('si.csv";', 'si.csv"; file_units = "nbody";')
    result = run(text, "bad.run", status=78)
    assert "run.cfg:2: bodies.file_units = " in result.stderr, result


def test_masses_of_generated_bodies_are_given():
    """where 1 is a kilogram or a solar mass, masses and lengths have no default"""
    tap.thorough()
    cases = (
        ('"plummer"; count = 8', ("mass", "scale_radius"), ("1e30", "1e16")),
        ('"hernquist"; count = 8', ("mass", "scale_radius"), ("1e41", "1e20")),
        ('"nfw"; count = 8; cutoff_radius = 1e21', ("mass", "scale_radius"), ("1e42", "1e20")),
        ('"disc"; count = 8', ("mass", "scale_length", "scale_height"),
         ("1e40", "1e20", "1e19")),
        ('"galaxy"; disc_count = 8', ("disc_mass", "disc_scale_length", "disc_scale_height"),
         ("1e40", "1e20", "1e19")),
        ('"cold-sphere"; count = 8', ("mass", "radius"), ("1e30", "1e16")),
        ('"two-body"', ("masses", "semi_major_axis"), ("[1e30, 1e30]", "1e11")),
        ('"figure-eight"', ("mass", "length"), ("1e30", "1e11")),
        ('"pythagorean"', ("mass", "length"), ("1e30", "1e11")),
        ('"uniform-cube"; count = 8', ("masses", "half_side", "velocity"),
         ('"unit"', "1e11", "10.0")),
        ('"uniform-cube"; count = 8; masses = "equal"; velocity = 0.0', ("mass", "half_side"),
         ("1e30", "1e16")),
        ('"king"; count = 8', ("mass", "virial_radius"), ("1e30", "1e16")),
        ('"dehnen"; count = 8; inner_slope = 0.5', ("mass", "scale_radius"), ("1e41", "1e20")),
        ('"jaffe"; count = 8; cutoff_radius = 1e21', ("mass", "scale_radius"), ("1e41", "1e20")),
        ('"orbits"; masses = [1e24]; semi_major_axes = [1e11]', ("central_mass",), ("1e30",)))
    text = "bodies = {{ initial = {}; {} }};\n" \
        'physics = {{ units = "si"; }};\ntime = {{ step = 1.0; end = 2.0; }};\n'
    starts = next(line for line in tap.run("info", "--keys").stdout.splitlines()
                  if line.startswith("bodies.initial\t")).split("\t")[1].split()
    for start in set(starts) - {initial.split('"')[1] for initial, *_ in cases}:
        pathlib.Path("run.cfg").write_text(text.format(f'"{start}"', ""))
        said = tap.run("check", "run.cfg").stderr
        assert "its default is meant for N-body units" not in said, f"no case of {start}: {said}"
    for initial, keys, values in cases:
        pathlib.Path("run.cfg").write_text(text.format(initial, ""))
        result = tap.run("check", "run.cfg")
        lines = result.stderr.splitlines()
        assert result.returncode == 78 and len(lines) == len(keys), result
        for key, line in zip(keys, lines):
            assert line.startswith(f"run.cfg:1: bodies.{key}"), line
            assert 'must be given in units = "si"; its default is meant for N-body units' in line
        given = " ".join(f"{key} = {value};" for key, value in zip(keys, values))
        pathlib.Path("run.cfg").write_text(text.format(initial, given))
        result = tap.run("check", "run.cfg")
        assert result.returncode == 0, result
        pathlib.Path("again.cfg").write_text(result.stdout)
        assert tap.run("check", "again.cfg").returncode == 0
        assert tap.run("check", "run.cfg", "-P", "physics.units=nbody").returncode == 0
    # The default, where it is written.
    pathlib.Path("run.cfg").write_text(
        'bodies = { initial = "two-body"; masses = [1.0, 1.0]; semi_major_axis = 1.0; };\n'
        'physics = { units = "astronomical"; };\ntime = { step = 1.0; end = 2.0; };\n')
    assert tap.run("check", "run.cfg").returncode == 0


def test_systems_are_listed():
    """info shows all systems with their G"""
    text = tap.run("info", "units").stdout
    for units in SYSTEMS:
        assert units in text, text
    for number in ("0.004300917", "0.0044985", "43009.17", "6.6743e-11", "0.00029591220828"):
        assert number in text, (number, text)


# --- convert -------------------------------------------------------------------------------------

def convert(*arguments, status=0):
    result = tap.run("convert", *arguments, "--force")
    assert result.returncode == status, result
    return result


def values(path):
    return numpy.genfromtxt(path, delimiter=",", skip_header=1)[:, 1:]


def test_convert():
    """numbers go along with their units, or into others; a format holds what another has named"""
    write_binary("si.csv", "si")
    result = convert("si.csv", "a.csv", "--units", "pc-msun-myr")
    assert ", from si to pc-msun-myr\n" in result.stdout, result
    near(values("a.csv"), "pc-msun-myr", 1e-14)
    formats = ["b.txt", "c.xyz", "d.csv"]
    if tap.run("convert", "si.csv", "s.hdf5").returncode == 0:
        formats.insert(1, "s.hdf5")
    last = "a.csv"
    for name in formats:
        result = convert(last, name)
        assert ", from" not in result.stdout, result
        last = name
    # Through all formats, and not a bit is lost: numbers stay as they are in their own units.
    assert pathlib.Path("d.csv").read_bytes() == pathlib.Path("a.csv").read_bytes()
    near(values("d.csv"), "pc-msun-myr", 1e-14)
    for name in formats:
        convert(name, "e.csv", "--units", "galactic")
        near(values("e.csv"), "galactic", 1e-14)
    # A file that says nothing is in what the command line says.
    rows = [" ".join(map(repr, row)) for row in binary("si")]
    pathlib.Path("f.txt").write_text("\n".join(rows) + "\n")
    convert("f.txt", "g.csv", "--from-units", "si", "--units", "pc-msun-kms")
    near(values("g.csv"), "pc-msun-kms", 1e-14)
    convert("f.txt", "g.csv", "--units", "si")
    assert (values("g.csv") == numpy.array(binary("si"))).all()
    convert("f.txt", "g.csv")
    assert "m [M],x [L]" in pathlib.Path("g.csv").read_text()
    # The time of a frame is in the unit of time.
    pathlib.Path("h.xyz").write_text(
        "1\nProperties=pos:R:3:velo:R:3:mass:R:1 Time=3155.76 mass_unit=Msun length_unit=pc "
        "velocity_unit=pc/Myr time_unit=yr\n1 0 0 0 0 0 1\n")
    convert("h.xyz", "i.xyz", "--units", "pc-msun-myr")
    line = pathlib.Path("i.xyz").read_text().splitlines()[1]
    assert abs(float(line.split("Time=")[1].split()[0]) / 3155.76e-6 - 1) < 1e-14, line


AU, DAY, MSUN = 149597870700.0, 86400.0, 1.3271244e20 / 6.6743e-11  # IAU 2012 B2, 2015 B3
PARSEC = AU * 648000 / math.pi
WORTH = {  # of mass, length and velocity, in SI
    "astronomical": (MSUN, AU, AU / DAY), "galactic": (1e10 * MSUN, 1e3 * PARSEC, 1e3),
    "si": (1.0, 1.0, 1.0), "pc-msun-kms": (MSUN, PARSEC, 1e3),
    "pc-msun-myr": (MSUN, PARSEC, PARSEC / (1e6 * 365.25 * DAY)),
}


def test_there_and_back():
    """from each system to each other one: mass, place, velocity and time of a frame, or its box, by
    what the units are in SI, through a snapshot too, and back again"""
    position, velocity, mass = [0.5, -0.25, 1.0], [0.01, -0.02, 0.03], 2.5
    line = " ".join(map(repr, [*position, *velocity, mass]))
    box = 'Lattice="3 0 0 0 3 0 0 0 3" pbc="T T T"'
    systems = list(WORTH)
    pairs = [(one, systems[(k + more) % 5]) for more in range(1, 5)
             for k, one in enumerate(systems)]  # first a ring
    for one, other, cell in [(*pair, cell) for pair in tap.first(pairs, 5) for cell in ("", box)]:
        units = ("{}_unit=\"{}\"".format(what, LABELS[what][SYSTEMS.index(one)])
                 for what in ("mass", "length", "velocity", "time"))
        pathlib.Path("one.xyz").write_text(
            f"1\nProperties=pos:R:3:velo:R:3:mass:R:1 Time=2.0 {cell} {' '.join(units)}\n{line}\n")
        convert("one.xyz", "other.xyz", "--force", "--units", other)
        names = ["other.xyz"]
        if tap.run("convert", "other.xyz", "s.hdf5", "--force").returncode == 0:
            convert("s.hdf5", "through.xyz", "--force")
            names.append("through.xyz")
        convert(names[-1], "back.xyz", "--force", "--units", one)
        for name, units in [*((name, other) for name in names), ("back.xyz", one)]:
            _, head, row = pathlib.Path(name).read_text().splitlines()
            M, L, V = (a / b for a, b in zip(WORTH[one], WORTH[units]))
            found = [float(head.split("Time=")[1].split()[0]),
                     float(head.split('Lattice="')[1].split()[0]), *map(float, row.split()[1:8])]
            expected = [2.0 * L / V, 3.0 * L, *(L * x for x in position),
                        *(V * v for v in velocity), M * mass]
            # A box is placed where programs read it rightly; the cell of open space has no size.
            of_frame = [1, *range(5, 9)] if cell else [0, *range(2, 9)]
            assert numpy.allclose([found[k] for k in of_frame], [expected[k] for k in of_frame],
                                  rtol=3e-14, atol=0), (one, name, units, found, expected)


def test_convert_refuses():
    """what cannot be converted is refused, with the way out"""
    write_binary("si.csv", "si")
    pathlib.Path("mixed.csv").write_text(
        "m [kg],x [pc],y [pc],z [pc],vx [km/s],vy [km/s],vz [km/s]\n1,0,0,0,0,0,0\n")
    for arguments, words in (
            (("si.csv", "o.csv", "--units", "nbody"), "--from-units as-is"),
            (("mixed.csv", "o.csv"), "choose one with --units"),
            (("si.csv", "o.csv", "--from-units", "galactic"), "are not the units of --from-units"),
            (("si.csv", "o.csv", "--from-units", "stones"), "must be one of nbody, astronomical")):
        result = convert(*arguments, status=64)
        assert words in result.stderr and result.stderr.count("\n") == 1, result
        assert not pathlib.Path("o.csv").exists()
    convert("si.csv", "o.csv", "--from-units", "as-is", "--units", "nbody")
    assert pathlib.Path("o.csv").read_text().startswith("id [1],m [M],")


tap.main()
