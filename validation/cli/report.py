"""orrery report: from hand-made run directories to figures and a page that a browser shows."""

import base64
import csv
import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as xml
import zlib

import numpy
import tap

STEPS = 4000  # more rows than a figure draws, so that lines are thinned


def write_csv(path, names, columns):
    rows = numpy.column_stack(columns)
    with open(path, "w") as file:
        file.write(",".join(names) + "\n")
        for row in rows:
            file.write(",".join("" if numpy.isnan(v) else f"{v:.17g}" for v in row) + "\n")


def write_trajectory(path, bodies, frames=9):
    with open(path, "w") as file:
        for frame in range(frames):
            file.write(f'{bodies}\nLattice="4 0 0 0 4 0 0 0 4" Origin="-2 -2 -2" pbc="F F F" '
                       f"Properties=species:S:1:pos:R:3:id:I:1 Time={frame * 0.5}\n")
            for i in range(bodies):
                angle = 0.7 * i + 0.3 * frame
                r = 0.2 + i / bodies
                file.write(f"X {r * numpy.cos(angle):.17g} {r * numpy.sin(angle):.17g} 0 {i + 1}\n")


def make_run(path, *, name="made", step=0.001, bodies=3, verdict="held", worst=None,
             integrator="velocity-verlet", steps=STEPS):
    """A run directory such as `orrery run` leaves."""
    os.makedirs(path)
    time = step * numpy.arange(steps + 1)
    worst = 3e-6 if worst is None else worst
    error = worst * numpy.sin(time * 9.1)
    error[1234] = worst  # one row alone; thinning must not lose it
    kinetic = 0.25 + 0.1 * numpy.sin(time)
    largest = numpy.maximum.accumulate(abs(error))
    names = ["step", "time [T]", "kinetic [M L^2 T^-2]", "potential [M L^2 T^-2]",
             "energy [M L^2 T^-2]", "relative_energy_error", "energy_error", "virial_ratio",
             "momentum_x [M L T^-1]", "momentum_y [M L T^-1]", "momentum_z [M L T^-1]"]
    drift = 1e-16 * (1 + time)
    write_csv(f"{path}/conservation.csv", names,
              [numpy.arange(steps + 1), time, kinetic, -0.25 - kinetic, 0 * time - 0.25, error,
               largest, numpy.where(time > 0, 1 + error, numpy.nan), drift, drift, drift])
    write_trajectory(f"{path}/trajectory.xyz", bodies)
    with open(f"{path}/run.cfg", "w") as file:
        file.write(f'name = "{name}"; # <made> & "kept"\n')
    run = {
        "program": {"name": "orrery", "version": "0.1.0"}, "name": name, "state": "ended",
        "verdict": verdict, "systems": 1, "bodies": bodies, "step": steps, "steps": steps,
        "time": time[-1], "wall_seconds": 1.5, "interactions_per_second": 2e9,
        "diagnostics": {"conservation": {"energy_error": worst, "virial_ratio": 1.0}},
        "expect": [{"criterion": "energy_error <= 1e-05", "holds": verdict == "held",
                    "worst": worst, "judged": True, "rows": steps + 1, "failures": 0}],
        "files": ["run.json", "run.cfg", "conservation.csv", "trajectory.xyz"],
        "config": {"name": name, "bodies": {"initial": "plummer", "count": bodies,
                                                 "center": True},
                   "physics": {"units": "nbody", "softening": 0.05},
                   "time": {"integrator": integrator, "step": step},
                   "diagnostics": [{"type": "conservation", "every": 1}],
                   "outputs": [{"type": "xyz", "file": "trajectory.xyz"}]}}
    if verdict == "failed":
        run["watch"] = {"holds": False, "limits": {"energy_error": 0.005, "energy_drift": None},
                        "energy_error": {"largest": 118.5, "time": 2.125, "system": 3,
                                         "systems_beyond": 1},
                        "energy_drift": {"change": 0.25, "steadiness": 0.5, "systems_beyond": 0},
                        "energy_jumps": 2, "largest_jump": 118.25,
                        "first_jump_time": 1.875, "first_jump_pair": None, "fastest_pair": None}
    with open(f"{path}/run.json", "w") as file:
        json.dump(run, file, indent=2)


def need_gnuplot():
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")


def report(*arguments, status=0):
    result = tap.run("report", *arguments)
    assert result.returncode == status, (result.returncode, result.stdout, result.stderr)
    return result


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def blocks(path):
    """The curves of a .dat file."""
    return [numpy.array([line.split() for line in block.split("\n") if line and line[0] != "#"],
                        dtype=float) for block in read(path).split("\n\n\n")]


def captions_of(page):
    """The words below each figure, without those of the links."""
    found = re.findall(r'<figure id="([\w-]+)">.*?</b>(.*?)<span class="files">', page, re.S)
    return dict(found)


def keys_of(path):
    """The labels of the curves of a .dat file."""
    return re.findall(r"^# (.*)$", read(path), re.M)


def figures_of(page):
    return re.findall(r'<figure id="([\w-]+)">', page)


def test_one_run():
    """a run gets a page and, for each figure, the picture, its numbers and its commands"""
    need_gnuplot()
    make_run("made.run")
    report("made.run")
    page = read("made.run/report.html")
    names = figures_of(page)
    assert names == ["orbits", "energy-error", "energies", "virial-ratio", "momentum"], names
    for name in names:
        for suffix in ("svg", "png", "dat", "gp"):
            assert os.path.getsize(f"made.run/plots/{name}.{suffix}") > 100, (name, suffix)
        xml.parse(f"made.run/plots/{name}.svg")
        assert f'href="plots/{name}.svg"' in page
    colours = re.findall(r"linecolor (\d) title", read("made.run/plots/energies.gp"))
    assert colours == ["1", "2", "3"], colours
    assert "every expectation held" in page and "energy_error &lt;= 1e-05" in page
    assert "&lt;made&gt; &amp; &quot;kept&quot;" in page  # run.cfg, escaped
    assert f">{STEPS}<" in page


def test_what_ran():
    """sentences say what ran: how many, by which method, where and how long; also of bad runs"""
    need_gnuplot()
    make_run("made.run", verdict="stopped", steps=1300)
    change_run("made.run", host="hal", steps=5200, compute={
        "backend": "openmp", "precision": "mixed", "kernel": "symmetric", "isa": "avx2",
        "device": "", "threads": 2, "ranks": 1})

    def words(**changes):
        change_run("made.run", **changes)
        report("made.run", "--plot", "energies")
        text = read("made.run/report.html").split("<h2>What ran</h2>")[1].split("<details>")[0]
        return re.sub(r"<[^>]*>|\s+", " ", text).strip()

    assert words() == (
        "3 bodies (plummer) were integrated by velocity-verlet, a symplectic method of order 2: "
        "1300 of 5200 steps of 0.001. The forces were computed in mixed precision by the openmp "
        "backend, kernel symmetric with avx2, by 2 threads of hal; all of it took 1.5 s."), words()
    own = words(config__time__integrator="gauss-radau", own_steps={"steps": 2345678.0}, systems=4,
                compute__threads=1, compute__ranks=8, compute__device="a GPU")
    assert "4 systems of 3 bodies" in own and "order 15: 2345678 steps that it chose itself" in own
    assert "on a GPU, by 1 thread of each of 8 ranks of hal;" in own, own
    # What run.json of a run that was killed knew when it began is not what it came to.
    assert "all of it took" not in words(verdict="running")
    assert "<dt>wall seconds</dt>" not in read("made.run/report.html")


def test_page_is_self_contained():
    """the page loads nothing: no script, no style sheet, no picture from elsewhere"""
    need_gnuplot()
    make_run("made.run")
    report("made.run", "--animation")
    page = read("made.run/report.html")
    # The two namespaces of SVG are names, not addresses.
    loads = re.findall(r'(?:src|(?<!xlink:)href)="(?!data:|#)([^"]*)"', page)
    assert loads and all(not re.match(r"\w+:|//", link) for link in loads), loads
    assert all(os.path.exists(os.path.join("made.run", link)) for link in loads), loads
    assert not re.search(r"<script|@import|url\((?!['\"]?#)|<link(?! rel=\"icon\")", page)


def test_values():
    """figures show the columns: magnitudes, every peak, nothing undefined"""
    need_gnuplot()
    make_run("made.run", worst=3e-6)
    report("made.run")
    error, largest = blocks("made.run/plots/energy-error.dat")
    assert len(error) <= 1200 < STEPS
    assert (error[:, 1] > 0).all() and error[:, 1].max() == 3e-6
    assert numpy.isclose(error[error[:, 1].argmax(), 0], 1.234)  # the row that stands alone
    assert (numpy.diff(largest[:, 1]) >= 0).all()
    ratio, = blocks("made.run/plots/virial-ratio.dat")
    assert ratio[0, 0] > 0  # at t = 0 the cell is empty
    momentum, = blocks("made.run/plots/momentum.dat")
    # |dP| = sqrt(3) 1e-16 t for the drift that make_run() writes; t = 0.001 STEPS at the end
    assert numpy.isclose(momentum[-1, 1], 3**0.5 * 1e-16 * 0.001 * STEPS, rtol=1e-12)
    paths = blocks("made.run/plots/orbits.dat")
    *paths, starts, focus = paths
    assert len(paths) == 3 and all(len(path) == 9 for path in paths)
    assert (starts == [path[0] for path in paths]).all() and (focus == 0).all(), (starts, focus)
    assert keys_of("made.run/plots/orbits.dat")[3:] == ["start", "centre of mass"]
    change_run("made.run", config__bodies__center=False)  # then that may be anywhere
    report("made.run", "--plot", "orbits")
    assert keys_of("made.run/plots/orbits.dat")[3:] == ["start"]
    assert numpy.allclose(paths[1][4], [(0.2 + 1 / 3) * numpy.cos(0.7 + 1.2),
                                        (0.2 + 1 / 3) * numpy.sin(0.7 + 1.2)], rtol=1e-12)


def test_many_bodies():
    """of many bodies the first and the last frame are shown, at one scale"""
    need_gnuplot()
    make_run("made.run", bodies=500)
    report("made.run")
    assert figures_of(read("made.run/report.html"))[:2] == ["bodies-first", "bodies-last"]
    ranges = [re.search(r"set xrange (.*)", read(f"made.run/plots/bodies-{which}.gp")).group(1)
              for which in ("first", "last")]
    assert ranges[0] == ranges[1]
    assert len(blocks("made.run/plots/bodies-last.dat")[0]) == 500


ENSEMBLE = """
name = "made"; bodies = { initial = "plummer"; count = 40; seed = 3; };
physics = { softening = 0.05; }; time = { step = 0.01; end = 0.5; };
diagnostics = ( { type = "conservation"; every = 5; },
                { type = "density-profile"; every = 50; shells = 6; r_min = 0.1; r_max = 2.0; } );
ensemble = { systems = 5; };
outputs = ( { type = "xyz"; every = 50; } );
expect = ( { quantity = "energy_error"; at_most = 0.1; } );
"""


def test_ensemble():
    """of an ensemble the median is drawn, over bands of 80 % and of all; the caption says so"""
    need_gnuplot()
    with open("made.cfg", "w") as file:
        file.write(ENSEMBLE)
    assert tap.run("run", "made.cfg", "-q").returncode == 0
    report("made.run")
    page = read("made.run/report.html")
    assert page.count("All 5 systems lie over one another.") == 2  # the first and the last frame
    assert page.count("Median of the 5 systems;") == len(figures_of(page)) - 2 == 6
    assert ", median of the systems<" in page and "left out of" not in page, page
    table = numpy.genfromtxt("made.run/conservation.csv", delimiter=",", names=True)
    ratio = table["virial_ratio_1"].reshape(11, 5)
    everything, most, median, *_ = blocks("made.run/plots/virial-ratio.dat")
    assert numpy.allclose(everything[:, 1:], numpy.quantile(ratio, (0, 1), axis=1).T, rtol=1e-14)
    assert numpy.allclose(most[:, 1:], numpy.quantile(ratio, (0.1, 0.9), axis=1).T, rtol=1e-14)
    assert numpy.allclose(median[:, 1], numpy.median(ratio, axis=1), rtol=1e-14)
    momentum = numpy.array([table[f"momentum_{axis}"] if f"momentum_{axis}" in table.dtype.names
                            else table[f"momentum_{axis}_M_L_T1"] for axis in "xyz"])
    drift = numpy.sqrt(((momentum - numpy.tile(momentum[:, :5], 11)) ** 2).sum(0)).reshape(11, 5)
    assert abs(blocks("made.run/plots/momentum.dat")[2][-1, 1]
               - numpy.median(drift[-1])) < 1e-20
    shells = numpy.genfromtxt("made.run/density-profile.csv", delimiter=",", names=True)
    density = shells["density_M_L3"][-30:].reshape(5, 6)
    found = blocks("made.run/plots/density-profile.dat")[2]
    expected = numpy.median(density, axis=0)
    assert numpy.allclose(found[:, 1], expected[expected > 0], rtol=1e-14)
    # The mean with its standard error, from the statistics of the run.
    *_, band, mean = blocks("made.run/plots/density-profile.dat")
    average, sem = density.mean(0), density.std(0, ddof=1) / 5**0.5
    assert numpy.allclose(mean[:, 1], average[average > 0], rtol=1e-13)
    drawn = average > sem
    assert numpy.allclose(band[:, 1:], numpy.c_[average - sem, average + sem][drawn], rtol=1e-12)
    assert "Their mean at the last frame lies on a band of its standard error." in page
    # Laid over another run, no bands tell what the curve of an ensemble is.
    assert tap.run("run", "made.cfg", "-q", "-o", "finer.run",
                   "-P", "time.step=0.005").returncode == 0
    report("made.run", "finer.run")
    captions = captions_of(read("report/report.html"))
    over = [text for name, text in captions.items() if "-against-" not in name]
    assert over and all("Of an ensemble: the median of its systems." in text for text in over), over
    error = abs(table["relative_energy_error_1"])
    worst = error.argmax()
    whose = f"at t = {table['time_T'][worst]:.6g} in system {table['system_1'][worst]:.0f}."
    assert f"It moved by at most {error.max():.3g} of max(|E₀|, |U₀|), {whose}" in page
    assert (f">{error.max():.6g} (system {table['system_1'][worst]:.0f})</td>") in page


def test_members_that_are_left_out_of_the_mean():
    """captions say how many systems the mean is of, and where it is of none"""
    need_gnuplot()
    pathlib.Path("made.cfg").write_text(ENSEMBLE)
    assert tap.run("run", "made.cfg", "-q").returncode == 0
    with open("made.run/conservation.csv", newline="") as file:
        errors = sorted(float(row["energy_error [1]"]) for row in list(csv.DictReader(file))[-5:])
    for limit, status, words in (
            ((errors[1] + errors[2]) / 2, 0,
             "it is of 2 systems, without 3 that have lost too much energy."),
            (errors[0] / 2, 1, "No mean is drawn: all systems have lost too much")):
        assert tap.run("run", "made.cfg", "-q", "--force", "-P",
                       f"ensemble.energy_error_limit={limit}").returncode == status
        report("made.run")
        page = read("made.run/report.html")
        assert words in page, (limit, words)
        count = 5 if status else 3
        told = (f"{count} of 5 systems are left out of the statistics (energy error above "
                f"{limit:.6g}, or undefined)")
        assert told in page and told in " ".join(tap.run("watch", "made.run").stdout.split()), page
        assert f"Median of the 5 systems, with {count} that the statistics leave out;" in page, page
        assert ", median of the 2 systems that count" in page or status, page
        drawn = "mean of the systems" in read("made.run/plots/density-profile.gp")
        assert drawn == ("2 systems" in words)


PAIRS = """
name = "made"; physics = { softening = 0.05; %s };
bodies = { initial = "uniform-cube"; count = 60; %s };
time = { step = 0.01; end = 0.2; };
diagnostics = ( { type = "radial-distribution"; every = 10; r_max = 1.0; bins = %d; } );
"""


def figures_of_pairs(space, bins, *overrides):
    """The captions of a run by figure, and which axes are logarithmic."""
    cube = 'masses = "equal"; velocity = 0.2; half_side = 1.0;'
    pathlib.Path("made.cfg").write_text(PAIRS % (space, "" if overrides else cube, bins))
    options = [word for override in overrides for word in ("-P", override)]
    result = tap.run("run", "made.cfg", "-q", "--force", "-o", "pairs", *options)
    assert result.returncode == 0, result
    report("pairs")
    found = re.findall(r'<figure id="([\w-]+)">.*?<figcaption>(.*?)</figcaption>',
                       read("pairs/report.html"), re.S)
    return dict(found), [name for name, _ in found
                         if "set logscale y" in read(f"pairs/plots/{name}.gp")]


def test_pairs():
    """open space has a density of pairs, a box has g(r); logarithmic where they span decades"""
    need_gnuplot()
    captions, logarithmic = figures_of_pairs("", 10)
    assert list(captions) == ["pair-density", "radial-distribution"], captions
    assert "arbitrary" in captions["radial-distribution"] and logarithmic == [], logarithmic
    drawn = blocks("pairs/plots/pair-density.dat")
    with open("pairs/radial-distribution.csv", newline="") as file:
        table = list(csv.DictReader(file))
    for curve, rows, name in ((0, table[-10:], "pair_density"), (2, table[:10], "pair_density"),
                              (1, table[-10:], "pair_density_mean")):
        expected = [[float(row["r [L]"]), float(row[f"{name} [L^-1]"])] for row in rows]
        assert numpy.allclose(drawn[curve], expected, rtol=1e-14), (curve, name)
    # Plummer's sphere: its g falls like r^-3 and more, its density of pairs has a maximum at 0.9
    # and a tail of r^-3, which spans decades where it is followed far enough.
    sphere = ["bodies.initial=plummer", "bodies.count=400", "diagnostics.0.every=20"]
    _, logarithmic = figures_of_pairs("", 20, *sphere, "diagnostics.0.r_max=3.0")
    assert logarithmic == ["radial-distribution"], logarithmic
    _, logarithmic = figures_of_pairs("", 40, *sphere, "diagnostics.0.r_max=20.0")
    assert logarithmic == ["pair-density", "radial-distribution"], logarithmic
    captions, logarithmic = figures_of_pairs('boundary = "periodic"; box_length = 2.0;', 10)
    assert list(captions) == ["radial-distribution"] and logarithmic == [], captions
    assert "arbitrary" not in captions["radial-distribution"], captions


KEPLER = """
name = "made"; bodies = { initial = "two-body"; eccentricity = 0.3; };
time = { integrator = "velocity-verlet"; step = 0.01; end = 12.0; };
diagnostics = ( { type = "conservation"; every = 5; }, { type = "orbit"; every = 5; } );
"""


MANY = """
name = "many"; bodies = { initial = "plummer"; count = 64; };
physics = { softening = 0.01; };
time = { step = 0.0078125; end = 1.0; };
diagnostics = ( { type = "conservation"; every = 4; } );
"""


def test_captions_follow_the_run():
    """captions of a good run and of a bad one say what each of them shows"""
    need_gnuplot()
    pathlib.Path("made.cfg").write_text(KEPLER)
    captions = {}
    for kind, integrator in (("good", "velocity-verlet"), ("bad", "euler")):
        assert tap.run("run", "made.cfg", "-q", "-o", kind, "-P",
                       f"time.integrator={integrator}").returncode in (0, 1)
        report(kind)
        page = read(f"{kind}/report.html")
        found = re.findall(r'<figure id="([\w-]+)">.*?<figcaption>(.*?)</figcaption>', page, re.S)
        captions[kind] = {name: re.sub(r"<[^>]*>|\s+", " ", text) for name, text in found}
        table = numpy.genfromtxt(f"{kind}/conservation.csv", delimiter=",", names=True)
        error = abs(table["relative_energy_error_1"])
        at_most = (f"at most {error.max():.3g} of max(|E₀|, |U₀|), "
                   f"at t = {table['time_T'][error.argmax()]:.6g}")
        assert at_most in captions[kind]["energy-error"], (at_most, captions[kind])
        changed = f"changed by {100 * error.max():.3g} % of max(|E₀|, |U₀|)"
        assert (changed in captions[kind]["energies"]) == (kind == "bad"), captions[kind]
    assert "velocity-verlet is symplectic" in captions["good"]["energy-error"]
    assert "euler is not symplectic" in captions["bad"]["energy-error"]
    assert "their sum stayed within" in captions["good"]["energies"]
    assert "stayed" not in captions["bad"]["energies"]
    assert "it changed by" in captions["bad"]["energies"]
    assert "errs along the track" in captions["good"]["orbit-error"]
    assert "not symplectic" in captions["bad"]["orbit-error"]
    for kind in captions:
        orbit = numpy.genfromtxt(f"{kind}/orbit.csv", delimiter=",", names=True)
        lost = orbit["time_T"][abs(orbit["phase_error_1"]) > 1]
        words = captions[kind]["orbit-error"]
        assert (kind == "bad") == (len(lost) > 0) == ("linearly" not in words), words
        assert not len(lost) or f"At t = {lost[0]:.4g} the phase is off by more" in words, words
    # Two bodies that fall on each other have no phase to be off by, and go anywhere.
    pathlib.Path("fall.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,1,0,0,0,0,0\n")
    pathlib.Path("fall.cfg").write_text(KEPLER.replace(
        'initial = "two-body"; eccentricity = 0.3;', 'initial = "file"; file = "fall.csv";'))
    assert tap.run("run", "fall.cfg", "-q", "-o", "fall").returncode == 1
    report("fall")
    words = captions_of(read("fall/report.html"))["orbit-error"]
    assert "the position is off by more than the semi-major axis" in words, words
    assert "linearly" not in words, words
    assert "Only round-off may" in captions["good"]["angular-momentum"]
    assert "which is an error of the integration" in captions["bad"]["angular-momentum"]
    # Nothing but symplectic steps keep it, and block steps do not keep the momentum.
    words = {"rk4": "keeps it as well as its steps", "velocity-verlet": "Only round-off may"}
    for integrator, said in words.items():
        pathlib.Path("many.cfg").write_text(MANY)
        tap.run("run", "many.cfg", "-q", "--force", "-o", "many", "-P",
                f"time.integrator={integrator}")
        report("many")
        found = captions_of(read("many/report.html"))
        assert said in found["angular-momentum"], (integrator, found)
        assert "Only round-off may change it" in found["momentum"], (integrator, found)
    tap.run("run", "many.cfg", "-q", "--force", "-o", "many", "-P", "time.integrator=hermite4")
    report("many")
    moved = captions_of(read("many/report.html"))["momentum"]
    share = re.search(r"It changed by ([\d.e-]+) % of the bodies' Σ m \|v\|, which is an error of "
                      "the integration: the integrator hermite4 keeps it as well as", moved)
    about = json.loads(read("many/run.json"))
    table = numpy.genfromtxt("many/conservation.csv", delimiter=",", names=True)
    moved = numpy.stack([table[f"momentum_{axis}_M_L_T1"] for axis in "xyz"])
    moved = numpy.linalg.norm(moved - moved[:, :1], axis=0).max()
    assert numpy.isclose(float(share[1]), 100 * moved / about["scales"]["momentum"], rtol=0.01)
    table = numpy.genfromtxt("bad/conservation.csv", delimiter=",", names=True)
    # L0 is not 0 here: the change is drawn beside its size, computed here from the table.
    momentum = numpy.stack([table[f"angular_momentum_{axis}_M_L2_T1"] for axis in "xyz"])
    change = numpy.linalg.norm(momentum - momentum[:, :1], axis=0)
    change /= numpy.linalg.norm(momentum[:, 0])
    drawn, = blocks("bad/plots/angular-momentum.dat")
    assert numpy.isclose(drawn[-1, 1], change[-1], rtol=1e-12)
    assert "|ΔL|/|L₀|" in read("bad/plots/angular-momentum.gp")


def test_a_diagnostic_that_the_report_does_not_know():
    """every column of an unknown diagnostic is drawn, those of one unit together, also a table's"""
    need_gnuplot()
    make_run("made.run", steps=1300)
    time = numpy.arange(5) * 0.25
    write_csv("made.run/tides.csv",
              ["step [1]", "time [T]", "height [L]", "torque [M L^2 T^-2]", "width [L]"],
              [numpy.arange(5), time, 1 + time, 10.0**numpy.arange(5), 2 - time])
    write_csv("made.run/shells.csv", ["step [1]", "time [T]", "r [L]", "mass_fraction [1]"],
              [numpy.repeat([0, 9], 3), numpy.repeat([0, 9], 3), numpy.tile([1, 2, 3], 2),
               [7, 8, 9, -3, 4, 5]])
    path = pathlib.Path("made.run/run.json")
    run = json.loads(path.read_text())
    run["config"]["diagnostics"] = [{"type": "tides"}, {"type": "shells", "name": "inner-shells"}]
    os.rename("made.run/shells.csv", "made.run/inner-shells.csv")
    path.write_text(json.dumps(run))
    assert "4 figures of 1 run" in report("made.run").stdout
    assert figures_of(read("made.run/report.html")) == [
        "orbits", "tides-height", "tides-torque", "inner-shells-shells-mass_fraction"]
    height, width = blocks("made.run/plots/tides-height.dat")
    assert (height == numpy.c_[time, 1 + time]).all() and (width == numpy.c_[time, 2 - time]).all()
    assert "logscale y" in read("made.run/plots/tides-torque.gp")
    assert "torque [M L² T⁻²]" in read("made.run/plots/tides-torque.svg")
    table, = blocks("made.run/plots/inner-shells-shells-mass_fraction.dat")
    assert (table == [[1, -3], [2, 4], [3, 5]]).all(), table


UNBOUND = """
name = "made"; bodies = { initial = "two-body"; masses = [1.0, 1.0]; semi_major_axis = 1.0;
                          eccentricity = 1.5; true_anomaly = -100.0; };
time = { step = 0.01; end = 5.0; };
diagnostics = ( { type = "conservation"; every = 5; }, { type = "virial"; every = 5; } );
trust = { shadow = true; tolerance = 0.03; every = 5; };
"""


def test_captions_follow_the_config():
    """the virial theorem of what is not bound, the tolerance of the horizons, a periodic box"""
    need_gnuplot()
    pathlib.Path("made.cfg").write_text(UNBOUND)
    box = ("-P", "physics.boundary=periodic", "-P", "physics.box_length=40", "-P",
           "physics.softening=0.1", "-P", "bodies.center=true")
    captions = {}
    for name, arguments in (("open", ()), ("box", box)):
        assert tap.run("run", "made.cfg", "-q", "-o", name, *arguments).returncode in (0, 1)
        report(name)
        captions[name] = read(f"{name}/report.html")
    assert "This one is not bound: ⟨E⟩ is positive at the end." in captions["open"]
    assert "Where a line reaches 0.03 (trust.tolerance)" in captions["open"]
    assert "A periodic box does not conserve it." in captions["box"]
    assert "A periodic box" not in captions["open"] and "may have any ratio" in captions["box"]
    assert "1 in equilibrium." in captions["open"] and "1 in equilibrium" not in captions["box"]


def test_an_axis_has_numbers():
    """an axis over a small factor is not logarithmic, and so not without numbers"""
    need_gnuplot()
    make_run("made.run")
    table = read("made.run/conservation.csv").splitlines()
    rows = [row.split(",") for row in table]
    for k, row in enumerate(rows[1:]):
        row[5] = row[6] = str(17 + 0.2 * k / len(rows))  # no 1, 2, 5 x 10^n lies between
    pathlib.Path("made.run/conservation.csv").write_text(
        "\n".join(",".join(row) for row in rows) + "\n")
    report("made.run")
    assert "logscale y" not in read("made.run/plots/energy-error.gp")
    labels = re.findall(r">([0-9.]+)</tspan>", read("made.run/plots/energy-error.svg"))
    assert sum(17 <= float(label) <= 17.2 for label in labels) >= 2, labels


def test_both_sides_of_an_axis_have_numbers():
    """also where the curves reach much farther on one side of 0 than on the other"""
    need_gnuplot()
    for name, least, most in (("a.run", -3e-6, 1e-3), ("b.run", -1e-7, 1e-7)):
        make_run(name, steps=1300, integrator="rk4" if name == "a.run" else "euler")
        table = [row.split(",") for row in read(f"{name}/conservation.csv").splitlines()]
        for k, row in enumerate(table[1:]):
            row[5] = str(most if k % 2 else least)
        pathlib.Path(name, "conservation.csv").write_text(
            "\n".join(",".join(row) for row in table) + "\n")
    report("a.run", "b.run", "--plot=energy-change")
    commands = read("report/plots/energy-change.gp")
    assert "set nonlinear y" in commands, commands
    assert "'10^{-3}' 1e-3" in commands and "'−10^{-6}' -1e-6" in commands, commands
    assert "'−10^{-5}'" not in commands and "'−10^{-3}'" not in commands, commands


def test_paths_name_their_bodies():
    """by their ids, as the words about close pairs do"""
    need_gnuplot()
    make_run("made.run", steps=1300)
    path = pathlib.Path("made.run/trajectory.xyz")
    path.write_text(re.sub(r" (\d)$", r" 1\1", path.read_text(), flags=re.M))
    report("made.run")
    assert keys_of("made.run/plots/orbits.dat") == [
        "body 11", "body 12", "body 13", "start", "centre of mass"]
    # Laid over those of other bodies, the paths are those of the runs.
    make_run("other.run", steps=1300)
    report("made.run", "other.run")
    assert "orbits" in figures_of(read("report/report.html"))
    assert not any("body" in key for key in keys_of("report/plots/orbits.dat"))


def test_failure_is_told():
    """the page of a failed run says so, with what the accuracy watch saw"""
    need_gnuplot()
    make_run("made.run", verdict="failed")
    report("made.run")
    page = read("made.run/report.html")
    assert "an expectation or the watch failed" in page and "The energy jumped: 2 times" in page
    assert "at most by 118.25 × max(|E₀|, |U₀|)" in page and "before t = 1.875" in page
    run = json.loads(read("made.run/run.json"))
    run["watch"]["limits"]["energy_jump"] = 0.1
    run["watch"]["sudden_energy_jumps"] = 1
    with open("made.run/run.json", "w") as file:
        json.dump(run, file)
    report("made.run")
    assert "The energy changed by more than 0.1 × max(|E₀|, |U₀|) within 1000 steps: 2 times (1 " \
        "seen to be sudden), at most by 118.25" in read("made.run/report.html")
    # A system alone has no number.
    off = "the energy was off by at most 118 × max(|E₀|, |U₀|) (limit 0.005), at t = 2.125."
    assert f"At the steps where the watch looked, {off}" in page
    drift = "changes by 0.25 × max(|E₀|, |U₀|) over the run"
    assert f"{drift} and accounts for 50 % of its variance" in page
    assert "(no limit)" in page
    assert "every expectation held" not in page
    manifest = json.loads(read("made.run/run.json"))
    manifest["systems"] = 4
    manifest["watch"]["fastest_pair"] = {"system": 2, "id_1": 28, "id_2": 30, "distance": 0.5,
                                         "steps_per_time_scale": 100, "time": 1.5}
    pathlib.Path("made.run/run.json").write_text(json.dumps(manifest))
    report("made.run")
    page = read("made.run/report.html")
    assert "(limit 0.005), at t = 2.125 in system 3." in page
    where = "bodies 28 and 30 of system 2, 0.5 apart at t = 1.5"
    steps = "where a circular orbit would take 628 steps; at least 200 are advised."
    assert f"{where}, {steps}" in page


def test_again_and_manifest():
    """a second report replaces the first; report.json names every file; run.json stays as it is"""
    need_gnuplot()
    make_run("made.run")
    before = read("made.run/run.json")
    report("made.run")
    report("made.run", "--animation")
    report("made.run")
    assert read("made.run/run.json") == before
    files = json.loads(read("made.run/report.json"))["files"]
    plots = [f"plots/{name}" for name in os.listdir("made.run/plots")]
    assert "plots/bodies.gif" in plots
    assert sorted(files) == sorted(["report.json", "report.html"] + plots)


def test_links_are_not_followed():
    """links where the report writes are refused, their targets untouched"""
    need_gnuplot()
    with open("treasure", "w") as file:
        file.write("gold")
    for name in ("report.html", "plots/energies.dat", "plots/energies.svg"):
        make_run("made.run")
        os.mkdir("made.run/plots")
        os.symlink(os.path.abspath("treasure"), f"made.run/{name}")
        assert name in report("made.run", status=73).stderr
        assert read("treasure") == "gold" and os.path.islink(f"made.run/{name}")
        assert not os.path.exists("made.run/report.json")
        shutil.rmtree("made.run")
    make_run("other.run")
    os.mkdir("elsewhere")
    os.symlink(os.path.abspath("elsewhere"), "other.run/plots")
    report("other.run", status=73)
    assert os.listdir("elsewhere") == []


def test_order_is_measured():
    """of a folder of runs, the slope of the error against the step is fitted"""
    tap.thorough()
    need_gnuplot()
    for integrator, order in (("euler", 1), ("velocity-verlet", 2)):
        for step in (0.004, 0.002, 0.001):
            make_run(f"study/{integrator}-{step}", step=step, integrator=integrator,
                     worst=0.37 * step**order)
    report("study")
    page = read("study/report.html")
    assert figures_of(page)[:3] == ["energy_error-against-step", "orbits", "energy-error"]
    labels = re.findall(r"# (.*): slope ([\d.]+) ± ([\d.e-]+)",
                        read("study/plots/energy_error-against-step.dat"))
    assert {(name, round(float(slope), 6)) for name, slope, _ in labels} == \
        {("euler", 1), ("velocity-verlet", 2)}, labels
    assert page.count("every expectation held") == 6 and "6 of 6 finished as expected" in page
    # Errors at different times are those of no order.
    assert "came to different times" in captions_of(page)["energy_error-against-step"]
    for step in (0.004, 0.002, 0.001):
        change_run(f"study/euler-{step}", time=4.0 + step)
        change_run(f"study/velocity-verlet-{step}", time=4.0)
    report("study")
    caption = captions_of(read("study/report.html"))["energy_error-against-step"]
    assert "the measured order" in caption and "different times" not in caption, caption
    # Runs that failed are marked, and their slope is called no order.
    for step in (0.004, 0.002, 0.001):
        change_run(f"study/euler-{step}", verdict="failed", advance_seconds=1 / step)
        change_run(f"study/velocity-verlet-{step}", advance_seconds=2 / step)
    report("study")
    for name, slope in (("step", "2.00"), ("seconds", "-2.00")):
        keys = [key for key in keys_of(f"study/plots/energy_error-against-{name}.dat") if key]
        assert re.match(r"euler: slope .* \(failed\)$", keys[0]) and len(keys) == 2, keys
        assert keys[1].startswith(f"velocity-verlet: slope {slope}"), keys
    # What costs less is no better where it has not come as far.
    for time in (2.0, 4.0):
        change_run("study/velocity-verlet-0.004", time=time)
        report("study")
        caption = captions_of(read("study/report.html"))["energy_error-against-seconds"]
        assert (time < 4) == ("errors at these do not compare" in caption), caption
    change_run("study/velocity-verlet-0.004", verdict="failed")
    report(*(f"study/velocity-verlet-{step}" for step in (0.004, 0.002, 0.001)))
    keys = [key for key in keys_of("report/plots/energy_error-against-step.dat") if key]
    assert len(keys) == 1 and keys[0].endswith(" (1 of 3 failed)"), keys
    assert "order of the method where none of its runs failed." in read("report/report.html")
    change_run("study/euler-0.004", verdict="held")
    # One run of each integrator: points without a line, of which nothing is said.
    report("study/euler-0.004", "study/velocity-verlet-0.001")
    caption = captions_of(read("report/report.html"))["energy_error-against-step"]
    assert caption.endswith("At the end of each run.") and "slope" not in caption, caption


def test_several_directories():
    """several directories are compared too, into `report` or the folder that -o names"""
    tap.thorough()
    need_gnuplot()
    make_run("a.run", step=0.002)
    make_run("b.run", step=0.001, verdict="failed")
    report("a.run", "b.run")
    assert 'class="verdict bad">2 of 2 finished: 1 failed<' in read("report/report.html")
    change_run("a.run", verdict="none")
    report("a.run", "b.run")
    assert (">2 of 2 finished: 1 failed; of 1 nothing was expected<" in
            read("report/report.html"))
    report("a.run", "b.run", "-o", "there")
    assert os.path.exists("there/plots/energy-error.svg")
    assert not os.path.exists("a.run/plots")


def test_neighbouring_ensembles_share_systems():
    """ensembles whose seeds overlap are warned of, with the seeds; paired ones are not"""
    need_gnuplot()
    ensemble = """name = "{name}"; bodies = {{ initial = "plummer"; count = {count};
                 seed = {seed}; }};
        physics = {{ softening = 0.1; }}; time = {{ step = 0.005; end = 0.01; }};
        diagnostics = ( {{ type = "conservation"; every = 1; }} );
        ensemble = {{ systems = {systems}; }};"""
    for name, count, seed, systems in (("a", 8, 42, 5), ("b", 8, 43, 5), ("c", 8, 47, 5),
                                       ("d", 8, 42, 3), ("e", 9, 43, 5), ("f", 8, 46, 1)):
        pathlib.Path("run.cfg").write_text(
            ensemble.format(name=name, count=count, seed=seed, systems=systems))
        done = tap.run("run", "run.cfg", "-q")
        assert done.returncode == 0, done.stderr
    # Systems have the seeds seed ... seed + systems - 1.
    for pair, seeds in (("ab", (43, 46)), ("ba", (43, 46)), ("bc", (47, 47)), ("af", (46, 46)),
                        ("ac", None), ("ad", None), ("ae", None), ("cf", None)):
        told = report(*(f"{name}.run" for name in pair), "--plot", "energy-error").stderr
        page = html.unescape(read("report/report.html"))
        words = "systems in common"
        assert (words in told) == (words in page) == (seeds is not None), (pair, told)
        if seeds:
            earlier, later = sorted(pair)  # the smaller seed comes first
            said = f"{earlier}.run and {later}.run have systems in common, so their statistics " \
                   f"are not independent: the seeds from {seeds[0]} to {seeds[1]} are in both"
            assert said in told and said in page, (pair, told)


def test_what_changes_no_result_is_no_difference():
    """runs of other threads, cadences and names are compared by what differs in their physics"""
    need_gnuplot()
    for name, softening, threads in (("a.run", 0.05, 1), ("b.run", 0.1, 2)):
        make_run(name, name=name)
        path = pathlib.Path(name, "run.json")
        run = json.loads(path.read_text())
        run["config"]["physics"]["softening"] = softening
        run["config"]["compute"] = {"threads": threads}
        run["config"]["diagnostics"][0]["every"] = threads
        path.write_text(json.dumps(run))
    report("a.run", "b.run")
    page = read("report/report.html")
    assert "physics.softening" in page, page
    for idle in ("compute.threads", "diagnostics.0.every"):
        assert idle not in page, idle


def test_errors_of_diagnostics_of_one_class():
    """each has a figure of its own; how well a fit is known is no error of the method"""
    need_gnuplot()
    for step in (0.004, 0.002, 0.001):
        make_run(f"study/{step}", step=step, steps=1300, worst=step**2)
        change_run(f"study/{step}", diagnostics__a={"distance_error": step},
                   diagnostics__b={"distance_error": 3 * step, "phase_error": step},
                   diagnostics__trust={"e_folding_time_error": step},
                   diagnostics__slope={"density_slope_error": step})
    report("study")
    page = read("study/report.html")
    against = [name for name in figures_of(page) if name.endswith("-against-step")]
    assert against == ["energy_error-against-step", "a-distance_error-against-step",
                       "b-distance_error-against-step", "phase_error-against-step"], against
    for name, factor in (("a", 1.0), ("b", 3.0)):
        points = blocks(f"study/plots/{name}-distance_error-against-step.dat")[0]
        assert numpy.allclose(points[:, 1], factor * points[:, 0], rtol=1e-12), points
    assert "A-distance error against time.step" in page


def test_errors_of_ensembles():
    """of an ensemble the worst system's energy error is compared; other columns say whose"""
    need_gnuplot()
    for step in (0.004, 0.002, 0.001):
        make_run(f"study/{step}", step=step, steps=1300, worst=step**2)
        change_run(f"study/{step}", systems=3, relative_energy_error=-7 * step**2,
                   interactions=1 / step, diagnostics__a={"distance_error": step})
    report("study")
    page = read("study/report.html")
    for figure in ("step", "interactions"):
        points = blocks(f"study/plots/energy_error-against-{figure}.dat")[0]
        step = points[:, 0] if figure == "step" else 1 / points[:, 0]
        assert numpy.allclose(points[:, 1], 7 * step**2, rtol=1e-12), points
    assert '<td class="n">7e-06</td>' in page
    captions = captions_of(page)
    assert "worst system of an ensemble" in captions["energy_error-against-step"], captions
    assert "its worst system" in captions["energy_error-against-interactions"], captions
    assert "of system 1 of an ensemble" in captions["distance_error-against-step"], captions


def test_names_of_runs():
    """runs of several experiments do not all go by the name of the first"""
    need_gnuplot()
    for name, path in (("one", "a"), ("one", "b"), ("two", "c")):
        make_run(f"{path}.run", name=name, steps=1300)
    for paths, title in (("ab", "one, 2 runs"), ("abc", "one and others, 3 runs")):
        report(*(f"{path}.run" for path in paths), "--plot", "energies")
        assert f"<h1>{title}</h1>" in read("report/report.html"), title


def test_numbers_of_the_end():
    """runs that were killed or stopped have no error at the end, in figures nor in the table"""
    need_gnuplot()
    for verdict, step in (("running", 0.001), ("held", 0.002), ("stopped", 0.004)):
        make_run(f"{verdict}.run", verdict=verdict, step=step, steps=1300, worst=step**2)
    report("running.run", "held.run", "stopped.run")
    points = blocks("report/plots/energy_error-against-step.dat")[0]
    assert sorted(points[:, 0]) == [0.002], points
    rows = dict(re.findall(r"<tr><td>(\w+).run</td>(.*?)</tr>", read("report/report.html"), re.S))
    assert '<td class="n">1.5 s</td>' in rows["held"] and "1.5" not in rows["running"], rows
    assert '<td class="n">4e-06</td>' in rows["held"] and "1e-06" not in rows["running"], rows
    assert "1.6e-05" not in rows["stopped"], rows
    caption = captions_of(read("report/report.html"))["energy_error-against-step"]
    assert "2 of 3 runs have no such number of their end." in caption, caption


def test_an_error_of_zero_is_not_lost():
    """a logarithmic axis has no room for it: the caption says how many runs have one"""
    need_gnuplot()
    for step, worst in ((0.001, 0.0), (0.002, 4e-6), (0.004, 16e-6)):
        make_run(f"{step}.run", step=step, steps=1300, worst=worst)
    make_run("broken.run", step=0.008, steps=1300, verdict="error")
    report("0.001.run", "0.002.run", "0.004.run", "broken.run")
    page = read("report/report.html")
    caption = captions_of(page)["energy_error-against-step"]
    assert "1 of 4 runs has an error of exactly 0, which a logarithmic" in caption, caption
    assert "1 of 4 runs has no such number of its end." in caption, caption
    assert "3 of 4 finished as expected; 1 ended with an error<" in page


def test_the_last_row_is_drawn():
    """where no decimal of few digits holds its time"""
    need_gnuplot()
    make_run("made.run", steps=1400, step=0.0005)
    table = pathlib.Path("made.run/conservation.csv")
    rows = table.read_text().splitlines()
    last = rows[-1].split(",")
    last[1], last[5] = "0.70000000000000007", "0.5"
    table.write_text("\n".join(rows[:-1] + [",".join(last)]) + "\n")
    report("made.run")
    ends = re.search(r"set xrange \[(.*):(.*)\]", read("made.run/plots/energies.gp"))
    assert float(ends[2]) >= 0.70000000000000007, ends[0]


def test_more_runs_than_a_figure_shows():
    """of more than 8 runs those with the least step are overlaid, and the table lists them all"""
    tap.thorough()
    need_gnuplot()
    steps = (0.016, 0.008, 0.004, 0.002, 0.001)
    names = [f"ten/{integrator}-{step}" for step in steps
             for integrator in ("euler", "velocity-verlet")]
    for name in names:
        integrator, step = name[4:].rsplit("-", 1)
        make_run(name, step=float(step), integrator=integrator, steps=1300,
                 worst=0.37 * float(step)**(1 if integrator == "euler" else 2))
    for arguments, folder, shown in ((names[2:], "report", names[2:]), (["ten"], "ten", names)):
        report(*arguments)
        page = read(f"{folder}/report.html")
        assert f"{len(shown)} of {len(shown)} finished as expected" in page
        rows = re.findall(r"<tr><td>([\w.-]+)</td>", page)
        assert sorted(rows) == sorted(name[4:] for name in shown), rows
        caption = captions_of(page)["energy-error"]
        assert "Of each run: largest so far." in caption, caption
        curves = blocks(f"{folder}/plots/energy-error.dat")
        if len(shown) == 8:
            assert len(curves) == 8 and "least" not in caption, (len(curves), caption)
    assert len(curves) == 2 and "Of the runs with the least time.step" in caption, caption
    # Their times end where 1300 steps of 0.001 do (lines are thinned), their errors are its own.
    assert all(1.29 < curve[-1, 0] <= 1.3 for curve in curves), curves
    largest = sorted(curve[:, 1].max() for curve in curves)
    assert numpy.allclose(largest, [0.37e-6, 0.37e-3], rtol=1e-12), largest
    # All points of both groups stand in the figure against the step.
    drawn = [b for b in blocks("ten/plots/energy_error-against-step.dat") if len(b) == 5]
    assert len(drawn) == 2 and all(sorted(b[:, 0]) == sorted(steps) for b in drawn), drawn


def test_more_groups_than_a_figure_shows():
    """groups of runs that a figure has no room for are counted in its caption"""
    tap.thorough()
    need_gnuplot()
    for k in range(12):
        for step in (0.008, 0.001):
            make_run(f"many/{k:02}-{step}", step=step, integrator=f"kind-{k:02}", steps=1300,
                     worst=0.37 * step**2)
    report("many")
    page = read("many/report.html")
    captions = captions_of(page)
    assert len(captions) == 7 and all("Curves left out for want of room: 2." in text
                                      for text in captions.values()), captions
    # Ten groups, each with its fit, whose slope is that of make_run()'s errors.
    plots = blocks("many/plots/energy_error-against-step.dat")
    assert len(plots) == 20 and [len(plot) for plot in plots[::2]] == 10 * [2], plots
    for fit in plots[1::2]:
        assert numpy.allclose(fit[:, 1], 0.37 * fit[:, 0]**2, rtol=1e-9), fit
    # One whose errors no logarithmic axis shows would not have stood there anyway.
    for step in (0.008, 0.001):
        change_run(f"many/11-{step}", diagnostics__conservation__energy_error=0.0)
    report("many")
    caption = captions_of(read("many/report.html"))["energy_error-against-step"]
    assert "2 of 24 runs have an error of exactly 0" in caption, caption
    assert "Curves left out for want of room: 1." in caption, caption
    make_run("few.run")
    report("few.run")
    assert "left out" not in read("few.run/report.html")


def change_run(path, **changes):
    """Changes run.json: keys are paths, with __ between their parts."""
    file = pathlib.Path(path, "run.json")
    run = json.loads(file.read_text())
    for key, value in changes.items():
        *parts, last = key.split("__")
        inner = run
        for part in parts:
            inner = inner.setdefault(part, {})
        inner[last] = value
    file.write_text(json.dumps(run))


def change_column(path, column, values):
    """Changes a column of conservation.csv."""
    file = pathlib.Path(path, "conservation.csv")
    rows = [row.split(",") for row in file.read_text().splitlines()]
    at = [name.split(" ")[0] for name in rows[0]].index(column)
    for row, value in zip(rows[1:], values):
        row[at] = f"{value:.17g}"
    file.write_text("".join(",".join(row) + "\n" for row in rows))


def test_runs_are_laid_over_one_another():
    """a comparison has the figures of one run, with a curve for each run; bad ones are marked"""
    need_gnuplot()
    verdicts = {"euler": "failed", "rk4": "held", "velocity-verlet": "stopped"}
    for k, (integrator, verdict) in enumerate(verdicts.items()):
        make_run(f"{integrator}.run", integrator=integrator, steps=1300, worst=10.0**(-2 * k - 1),
                 verdict=verdict)
        time = numpy.arange(5) * 0.25
        write_csv(f"{integrator}.run/tides.csv", ["step [1]", "time [T]", "height [L]", "low [L]"],
                  [numpy.arange(5), time, 1 + time, time - 2 + k])
        write_csv(f"{integrator}.run/shells.csv", ["step [1]", "time [T]", "r [L]", "mass [M]"],
                  [numpy.repeat([0, 9], 3), numpy.repeat([0, 9 + k], 3), numpy.tile([1, 2, 3], 2),
                   [7, 8, 9, 3 + k, 4, 5]])
        change_run(f"{integrator}.run", interactions=1e6 * 4**k, advance_seconds=0.5 + k,
                   config__diagnostics=[{"type": name} for name in ("conservation", "tides",
                                                                    "shells")])
    os.unlink("rk4.run/trajectory.xyz")
    report(*(f"{integrator}.run" for integrator in verdicts))
    captions = captions_of(read("report/report.html"))
    assert list(captions) == [
        "energy_error-against-interactions", "energy_error-against-seconds", "orbits",
        "energy-error", "energy-change", "energies", "virial-ratio", "momentum", "tides-height",
        "tides-low", "shells-mass"], list(captions)
    labels = ["euler (failed)", "rk4", "velocity-verlet (stopped)"]
    for name, caption in captions.items():
        assert "euler (failed)" in caption and "velocity-verlet (stopped)" in caption, caption
        keys = keys_of(f"report/plots/{name}.dat")
        if name == "shells-mass":  # a profile: the last one, each at its own time
            assert keys == ["euler, t = 9 (failed)", "rk4, t = 10",
                            "velocity-verlet, t = 11 (stopped)"], keys
        elif name == "orbits":
            # Where paths begin is marked for each run, what they go about once.
            assert keys == [labels[0], labels[2], "start", "centre of mass", ""], keys
            assert "Without such a figure: rk4." in caption
        elif "against" not in name:
            assert keys == labels, (name, keys)
    for k, integrator in enumerate(verdicts):
        table = numpy.genfromtxt(f"{integrator}.run/conservation.csv", delimiter=",", names=True)
        for name, column in (("energy-change", "relative_energy_error"),
                             ("energy-error", "energy_error"), ("virial-ratio", "virial_ratio")):
            drawn = blocks(f"report/plots/{name}.dat")[k][:, 1]
            assert set(drawn) <= set(table[column]), (name, integrator)
            assert drawn.max() == numpy.nanmax(table[column]), (name, integrator)
        # The paths of the three bodies are one curve, with gaps between.
        if integrator != "rk4":
            paths = read("report/plots/orbits.dat").split("\n\n\n")[k > 0].strip().split("\n\n")
            assert [len(path.splitlines()) for path in paths] == [9 + 1, 9, 9], paths
        assert (blocks("report/plots/shells-mass.dat")[k] == [[1, 3 + k], [2, 4], [3, 5]]).all()
        assert (blocks("report/plots/tides-low.dat")[k][:, 1] == numpy.arange(5) / 4 - 2 + k).all()
    costs = numpy.concatenate(blocks("report/plots/energy_error-against-interactions.dat"))
    assert numpy.allclose(costs, [[1e6, 0.1], [4e6, 1e-3]], rtol=1e-12), costs
    # The errors span decades and have signs: 0 and powers of ten on both sides of it are the ticks.
    commands = read("report/plots/energy-change.gp")
    assert "set nonlinear y" in commands and "'0' 0" in commands, commands
    assert "'10^{-3}' 1e-3" in commands and "'−10^{-3}' -1e-3" in commands, commands
    # A run that lies upon others shows them in its gaps.
    assert re.findall(r"@line( dashtype \(\d+,\d+\))? linecolor \d title",
                      read("report/plots/tides-height.gp")) == ["", " dashtype (8,8)",
                                                               " dashtype (4,12)"]


def test_chosen_figures():
    """--plot draws the figures and columns that it names, in that order, of one run and of many"""
    need_gnuplot()
    for step in (0.001, 0.002):
        make_run(f"{step}.run", step=step, steps=1300)
    words = "virial_ratio,conservation.potential,energy-change,kinetic,virial-ratio"
    chosen = ["virial-ratio", "conservation-potential", "energy-change", "conservation-kinetic"]
    for arguments, folder, runs in ((["0.001.run"], "0.001.run", 1),
                                    (["0.001.run", "0.002.run", "-o", "both"], "both", 2)):
        assert f"4 figures of {runs} run" in report(*arguments, "--plot", words).stdout
        assert figures_of(read(f"{folder}/report.html")) == chosen
        table = numpy.genfromtxt("0.001.run/conservation.csv", delimiter=",", names=True)
        drawn = blocks(f"{folder}/plots/conservation-kinetic.dat")
        assert len(drawn) == runs and set(drawn[0][:, 1]) <= set(table["kinetic_M_L2_T2"])
        unit = re.search(r'set ylabel "(.*)" noe', read(f"{folder}/plots/conservation-kinetic.gp"))
        assert unit.group(1) == "kinetic [M L² T⁻²]", unit
        pathlib.Path(folder, "report.html").unlink()
        error = report(*arguments, "--plot", "virial-ratoi,energies,glow", status=64).stderr
        assert '"virial-ratoi" (did you mean virial-ratio?), "glow"; there are ' in error, error
        assert "orbits, energy-error," in error and "energies\"" not in error, error
        assert not os.path.exists(f"{folder}/report.html")
    report("0.001.run", "--plot", "", status=64)
    report("0.001.run", "0.002.run", "-o", "new", "--plot", "bodies-last", status=64)
    assert not os.path.exists("new")
    # One run's column spans decades, and the other's goes below 0, where no logarithm is.
    change_column("0.001.run", "momentum_x", numpy.geomspace(1e-6, 1.0, 1301))
    change_column("0.002.run", "momentum_x", numpy.sin(numpy.arange(1301) / 100))
    report("0.001.run", "-o", "one", "--plot", "momentum_x")
    report("0.001.run", "0.002.run", "-o", "two", "--plot", "momentum_x")
    logarithmic, linear = (read(f"{folder}/plots/conservation-momentum_x.gp")
                           for folder in ("one", "two"))
    assert "set logscale y" in logarithmic and "set logscale y" not in linear, (logarithmic, linear)
    assert min(blocks("two/plots/conservation-momentum_x.dat")[1][:, 1]) < -0.99


def test_a_bad_run_does_not_flatten_the_others():
    """the frame of orbits and of linear axes is that of the runs that went well"""
    tap.thorough()
    need_gnuplot()
    for verdict, radius, ratio in (("held", 1, 1.5), ("error", 1e5, 3e9)):
        make_run(f"{verdict}.run", verdict=verdict, steps=1300,
                 integrator="euler" if verdict == "error" else "rk4")
        rows = read(f"{verdict}.run/trajectory.xyz").splitlines()
        path = pathlib.Path(f"{verdict}.run/trajectory.xyz")
        path.write_text("\n".join(f"X {radius} {radius} 0 3" if row.endswith(" 3") else row
                                  for row in rows) + "\n")
        table = read(f"{verdict}.run/conservation.csv").splitlines()
        cells = table[700].split(",")
        cells[7] = str(ratio)
        table[700] = ",".join(cells)
        pathlib.Path(f"{verdict}.run/conservation.csv").write_text("\n".join(table) + "\n")
    report("held.run", "error.run")
    captions = captions_of(read("report/report.html"))
    for name, axis in (("orbits", "x"), ("orbits", "y"), ("virial-ratio", "y")):
        assert captions[name].rstrip().endswith("The frame leaves out part of euler."), captions
        frame = re.findall(rf"set {axis}range \[([^:]*):(.*)\]", read(f"report/plots/{name}.gp"))
        assert float(frame[-1][1]) < 10, (name, frame)
    assert "The frame" not in captions["energies"], captions["energies"]
    # Times too, and those of a logarithmic figure: this one goes on for a hundred times as long.
    make_run("long.run", verdict="error", integrator="euler", step=0.1, steps=1300)
    report("held.run", "long.run")
    for name in ("energy-error", "energies"):
        frame = re.findall(r"set xrange \[([^:]*):(.*)\]", read(f"report/plots/{name}.gp"))
        assert numpy.allclose([float(at) for at in frame[-1]], [0, 2.6], atol=0.02), (name, frame)
        caption = captions_of(read("report/report.html"))[name]
        assert "The frame leaves out part of euler, step = 0.1." in caption, caption
    # One that lies beside the others, and not far away, has its place in the frame.
    make_run("near.run", verdict="error", integrator="euler", steps=1300)
    change_column("near.run", "virial_ratio", numpy.linspace(0.9, 1.0, 1301))
    report("held.run", "near.run")
    assert "set yrange" not in read("report/plots/virial-ratio.gp")
    assert "The frame" not in captions_of(read("report/report.html"))["virial-ratio"]


def test_labels_are_whole():
    """keys and tables of runs that differ in much: their directories, and how many keys differ"""
    tap.thorough()
    need_gnuplot()
    make_run("a-run-with-a-long-name-that-says-what-it-is-about-and-more", steps=1300)
    make_run("b.run", steps=1300)
    change_run("b.run", **{f"config__physics__extra_{k}": k for k in range(5)},
               **{f"config__bodies__key_{k}": k for k in range(7)}, config__time__step=0.002)
    report("a-run-with-a-long-name-that-says-what-it-is-about-and-more", "b.run")
    page = read("report/report.html")
    assert "The table shows 8 of the keys that differ between the configurations; 5 more" in page
    header = re.findall(r"<th>([\w.]+)</th>", page)
    assert header[:3] == ["run", "verdict", "time.step"] and len(header) == 10, header
    keys = keys_of("report/plots/energies.dat")
    assert keys == ["a-run-with-a-long-name-that-says-what-it-is-about-and-more", "b.run"], keys
    # What is too wide for a picture goes on in the next line.
    lines = re.findall(r'title "([^"]*)"', read("report/plots/energies.gp"))
    assert "".join(lines) == "".join(keys) and max(map(len, lines)) <= 44, lines
    assert "maxcols 1 " in read("report/plots/energies.gp")
    make_run("c.run", steps=1300)
    change_run("c.run", name="forty-three-letters-which-just-fit-on-a-line")
    os.rename("c.run", "forty-three-letters-which-just-fit-on-a-line")
    report("forty-three-letters-which-just-fit-on-a-line", "b.run")
    commands = read("report/plots/energies.gp")
    assert "maxcols 1 " in commands and "set key" in commands, commands
    # Points of runs that differ in x alone are named by the first of them, if not by values.
    for k, step in enumerate((0.001, 0.002, 0.004, 0.008)):
        make_run(f"many/{k}", step=step, steps=1300, worst=step**2)
        change_run(f"many/{k}", **{f"config__physics__extra_{i}": i + k // 2 for i in range(9)})
    report("many")
    labels = keys_of("many/plots/energy_error-against-step.dat")
    assert labels == ["0: slope 2.000", "", "2: slope 2.000", ""], labels


def test_ticks_are_what_was_measured():
    """steps that were chosen are the ticks; those without room have no number"""
    need_gnuplot()
    steps = (0.001, 0.00101, 0.002, 0.016)
    for step in steps:
        make_run(f"study/{step}", step=step, steps=1300, worst=step**2)
    report("study")
    ticks = re.search(r"set xtics \((.*)\)",
                      read("study/plots/energy_error-against-step.gp")).group(1)
    assert [tick.split() for tick in ticks.split(", ")] == [
        ["'0.001'", "0.001"], ["''", "0.00101"], ["'0.002'", "0.002"], ["'0.016'", "0.016"]], ticks
    assert "time.step [T]" in read("study/plots/energy_error-against-step.gp")


def test_a_slope_stands_on_logarithmic_axes():
    """also over a small factor, with numbers at the ticks; over a smaller one nothing is fitted"""
    tap.thorough()
    need_gnuplot()
    for steps, fits in (((0.005, 0.01, 0.018), True), ((0.01, 0.011, 0.012), False)):
        for step in steps:
            make_run(f"{fits}/{step}", step=step, steps=1300, worst=0.1 * step**2)
            change_run(f"{fits}/{step}", interactions=12e4 * 0.005 / step)
        report(f"{fits}")
        caption = captions_of(read(f"{fits}/report.html"))["energy_error-against-step"]
        assert fits == ("logarithmic axes" in caption), caption
        for axis in ("step", "interactions"):
            name = f"energy_error-against-{axis}"
            script = read(f"{fits}/plots/{name}.gp")
            labels = [label for label in read(f"{fits}/plots/{name}.dat").splitlines()
                      if label.startswith("# slope")]
            assert fits == bool(labels) == ("logscale x" in script), (axis, script)
            numbers = re.search(r"set xtics \((.*)\)", script)
            assert not fits or len(re.findall(r"'[\d.e+]+'", numbers[1])) >= 3, script
            assert not fits or "logscale y" in script, script
            assert not fits or axis == "step" or "'80000' 80000, '100000' 100000" in script, script


def test_a_group_over_a_small_factor_has_no_slope():
    need_gnuplot()
    for integrator, steps in (("velocity-verlet", (0.005, 0.01, 0.02)), ("rk4", (0.01, 0.0105))):
        for step in steps:
            make_run(f"study/{integrator}-{step}", step=step, integrator=integrator, steps=1300,
                     worst=0.1 * step**2)
    report("study")
    keys = keys_of("study/plots/energy_error-against-step.dat")
    assert "rk4" in keys and any(key.startswith("velocity-verlet: slope") for key in keys), keys


def test_reasons_of_a_sweep():
    """the page of several runs says of each that did not go well why, as the summary does"""
    need_gnuplot()
    changes = {"held": {}, "failed": {"watch": {"holds": False, "text": "the energy is <off>"}},
               "error": {"exit_status": 70, "errors": ["body 3 is nowhere", "and more"]},
               "stopped": {"step": 12, "steps": 1300}, "running": {}}
    for k, (verdict, change) in enumerate(changes.items()):
        make_run(f"study/{verdict}", verdict=verdict, step=0.001 * (k + 1), steps=1300)
        path = pathlib.Path("study", verdict, "run.json")
        run = json.loads(path.read_text())
        run["expect"][0]["first_failure_time"] = 0.5
        path.write_text(json.dumps({**run, **change}))
    report("study")
    rows = dict(re.findall(r"<tr><td>(\w+)</td>(.*?)</tr>", read("study/report.html"), re.S))
    assert "class=\"why\"" not in rows["held"] and len(rows) == 5
    for verdict, words in {
            "failed": "energy_error &lt;= 1e-05, farthest beyond it: 3e-06, first at t = 0.5; "
                      "the accuracy watch: the energy is &lt;off&gt;",
            "error": "exit status 70: body 3 is nowhere", "stopped": "at step 12 of 1300",
            "running": "it ended without a word"}.items():
        assert f'<div class="why">{words}</div>' in rows[verdict], rows[verdict]


def test_runs_that_have_not_finished():
    """a run that was stopped, is at work, or was killed, is never counted as good"""
    need_gnuplot()
    for name in ("stopped", "running", "held"):
        make_run(f"{name}.run", verdict=name, step=0.002 if name == "held" else 0.001, steps=1300)
    report("stopped.run", "running.run", "held.run")
    page = read("report/report.html")
    assert 'class="verdict bad">1 of 3 finished as expected; 1 stopped; 1 killed<' in page
    stopped, running = (f'<span class="verdict open">{words}</span>' for words in
                        ("stopped early", "not finished, killed"))
    assert page.count(stopped) == 1 and page.count(running) == 1
    make_run("none.run", verdict="none", steps=1300)
    report("none.run", "held.run", "-o", "open")
    assert ">2 of 2 finished; of 1 nothing was expected<" in read("open/report.html")
    for name, words in (("stopped", stopped), ("running", running)):
        os.unlink(f"{name}.run/trajectory.xyz")
        report(f"{name}.run")
        page = read(f"{name}.run/report.html")
        assert words in page and "every expectation held" not in page, name
        assert "energies" in figures_of(page), name
        assert "2K/|W| in the last row" in page or name == "running", page


def test_a_run_that_broke_off_is_not_praised():
    """what the watch warned of is told; of one row nothing is said, and nothing drawn over time"""
    need_gnuplot()
    config = os.path.join(tap.SOURCE, "examples/two-body-orbit/run.cfg")
    for step, figures in ((1e200, ["orbits"]), (0.01, ["orbits", "energies", "virial-ratio"])):
        options = [f"time.step={step}", f"time.end={100 * step}", "diagnostics.0.every=100"]
        options = [word for option in options for word in ("-P", option)]
        tap.run("run", config, "-q", "--force", "-o", "made.run", *options)
        report("made.run")
        page = read("made.run/report.html")
        assert set(figures) <= set(figures_of(page)), figures_of(page)
        broke_off = step > 1
        warning = "the step is too large for bodies 1 and 2 at t = 0."
        assert broke_off == (warning in page), page
        assert broke_off == ("2 bodies in 1 frame." in page)
        assert broke_off == ("It saw no energy after that of the start." in page), page
        for word in ('class="good"', "their sum stayed within", "did not jump"):
            assert broke_off == (word not in page), (word, page)
    assert figures_of(page) != figures
    # A curve of a single point is drawn as one.
    assert "with @points" in read("made.run/plots/energy-error.gp")


COLLISION = """
name = "collision"; bodies = { initial = "file"; file = "two.csv"; };
time = { integrator = "hermite4"; step = 1.0; end = 4.0; };
diagnostics = ( { type = "conservation"; every = 1; } );
outputs = ( { type = "xyz"; every = 1; } );
expect = ( { quantity = "energy_error"; at_most = 1e-3; },
           { quantity = "kinetic"; at_least = 0.0; after = 3.0; } );
"""


def test_a_collision():
    """what only the row of the start has met is not judged, and steps end where they do"""
    need_gnuplot()
    pathlib.Path("two.csv").write_text("m,x,y,z,vx,vy,vz\n1,-0.5,0,0,0,0,0\n1,0.5,0,0,0,0,0\n")
    pathlib.Path("two.cfg").write_text(COLLISION)
    # From rest they meet after a half of the period of an orbit whose axis is their distance: a
    # quarter of pi, at most a grid step before which is the last row.
    for step, words in ((1.0, "not judged"), (0.25, "held until it broke off")):
        result = tap.run("run", "two.cfg", "--force", "-P", f"time.step={step}", "-o", "two.run")
        assert result.returncode == 70, result
        report("two.run")
        page = read("two.run/report.html")
        assert f'energy_error &lt;= 0.001</td><td class="quiet">{words}<' in page, page
        assert f"energy_error <= 0.001: {words}" in " ".join(result.stdout.split()), result.stdout
        assert 'kinetic &gt;= 0 after t = 3</td><td class="quiet">not judged<' in page, page
        assert "steps that it chose itself, up to t = 0.785398, where the motion got stuck" in page
    # What it broke off before is not the end up to which orbits were right.
    tap.run("run", "two.cfg", "-q", "--force", "-P", "time.step=0.0625", "-P", "trust.shadow=true",
            "-o", "two.run")
    report("two.run")
    assert "accurate beyond the last comparison (t &gt; 0.625)" in read("two.run/report.html")
    # With an accuracy that is too low they come out of it, and nothing is said of small errors.
    tap.run("run", "two.cfg", "-q", "--force", "-P", "time.eta=0.5", "-P", "physics.softening=1e-3",
            "-P", "time.step=0.25", "-o", "two.run")
    report("two.run")
    words = captions_of(read("two.run/report.html"))
    assert "chooses its steps" in words["energy-error"] and "slowly" not in words["energy-error"]
    # From rest there is no size to compare momenta with.
    with open("two.csv", "a") as file:
        file.write("1,3,1,0,0,0,0\n")
    for integrator in ("rk4", "hermite4"):
        tap.run("run", "two.cfg", "-q", "--force", "-P", "physics.softening=0.1", "-P",
                f"time.integrator={integrator}", "-P", "time.step=0.01", "-o", "two.run")
        report("two.run")
        words = captions_of(read("two.run/report.html"))["angular-momentum"]
        assert f". The integrator {integrator} keeps it as well as" in words, words


def test_until_when_statistics_hold():
    """only of a run that came to its end the statistics are those of the whole run"""
    need_gnuplot()
    make_run("made.run", steps=1300)
    for holds, verdict, words in ((True, "held", "the whole run"),
                                  (True, "stopped", "the run so far"),
                                  (True, "error", "until the run broke off"),
                                  (False, "held", "none, see the accuracy watch")):
        change_run("made.run", verdict=verdict, trust={"text": "lost at t = 1"},
                   watch={"holds": holds})
        report("made.run", "--plot", "energies")
        assert f"lost at t = 1. Statistics: {words}." in read("made.run/report.html"), verdict


def test_links_to_files():
    """a page has links to the files of the run where it lies beside them, or else their names"""
    need_gnuplot()
    make_run("folder/made.run", steps=1300)
    for arguments, page, linked in ((["folder/made.run"], "folder/made.run", True),
                                    (["folder/made.run", "-o", "folder/made.run"],
                                     "folder/made.run", True),
                                    (["folder/made.run", "-o", "there"], "there", False),
                                    (["folder"], "folder", False)):
        report(*arguments, "--plot", "energies")
        words = read(f"{page}/report.html").split("<h2>Files</h2>")[1]
        assert words.count("conservation.csv") == 1 + linked, arguments
        assert ('href="conservation.csv"' in words) == linked, arguments


def test_tables_that_are_cut():
    """what a killed run has left: half a row and half a frame are left out, all before is drawn"""
    tap.thorough()
    need_gnuplot()
    make_run("made.run", steps=1300)
    rows = read("made.run/conservation.csv").splitlines(keepends=True)
    frames = read("made.run/trajectory.xyz")
    last = frames.rindex("3\nLattice")

    def cut(row, length):
        with open("made.run/conservation.csv", "w") as file:
            file.write("".join(rows[:1301]) + row)  # the header and 1300 rows: the last at 1.299
        with open("made.run/trajectory.xyz", "w") as file:
            file.write(frames[:length])

    for row, length in (("1300,1.3", last + 1), (rows[1301][:-9], last + 20),
                        (rows[1301][:-1], len(frames) - 1)):
        cut(row, length)
        report("made.run")
        drawn = blocks("made.run/plots/energies.dat")[0]
        assert 1.29 < drawn[-1, 0] < 1.3, (row, drawn[-1])
        orbits = blocks("made.run/plots/orbits.dat")
        assert [len(orbit) for orbit in orbits[:3]] == 3 * [8], (length, orbits)  # of 9 frames
    cut("1300,1.3\n", len(frames))  # a whole line that lacks cells is damage
    assert "conservation.csv:1302" in report("made.run", status=65).stderr


def test_events_that_are_cut():
    """of a table that a killed run has left, the last event is drawn that has all of its rows"""
    tap.thorough()
    need_gnuplot()
    make_run("made.run", steps=1300)
    change_run("made.run", config__diagnostics=[{"type": "shells"}])
    event, bins = numpy.repeat([0, 4, 8], 6), numpy.tile([1, 2, 3], 6)
    system = numpy.tile(numpy.repeat([1, 2], 3), 3)
    for systems in (1, 2):
        for cut in range(3 * systems + 1):
            rows = ((system <= systems).cumsum() <= 9 * systems - cut) & (system <= systems)
            write_csv("made.run/shells.csv",
                      ["system [1]", "step [1]", "time [T]", "r [L]", "m [M]"],
                      [column[rows] for column in (system, event, event, bins,
                                                   100 * event + 10 * system + bins)])
            report("made.run", "--plot", "shells-m")
            drawn = [curve for curve in blocks("made.run/plots/shells-m.dat")
                     if curve.shape[1] == 2]
            last = 800 if cut == 0 else 400
            median = 10 * (1 + systems) / 2
            assert len(drawn) == 1 and drawn[0][:, 1].tolist() == [
                last + median + k for k in (1, 2, 3)], (systems, cut, drawn)


def test_bad_input():
    """no run: 66; a damaged file: 65 with its line; wrong usage: 64"""
    need_gnuplot()
    assert "nowhere" in report("nowhere", status=66).stderr
    os.mkdir("empty")
    assert "holds no run" in report("empty", status=66).stderr
    report(status=64)
    make_run("made.run")
    with open("made.run/run.json", "w") as file:
        file.write('{\n "name": oops }')
    assert "run.json:2" in report("made.run", status=65).stderr
    shutil.rmtree("made.run")
    make_run("made.run")
    rows = read("made.run/conservation.csv").split("\n")
    rows[2] = rows[2].replace(",", ";", 1)
    with open("made.run/conservation.csv", "w") as file:
        file.write("\n".join(rows))
    assert "conservation.csv:3" in report("made.run", status=65).stderr
    assert not os.path.exists("made.run/report.html")


def test_names_that_no_run_could_have_written():
    """65, with the file and the place: of diagnostics, columns, units, keys and files"""
    need_gnuplot()
    make_run("made.run", steps=1300)
    good, table = read("made.run/run.json"), read("made.run/conservation.csv")
    for old, new, place in (('"conservation": {', '"a b": {', 'run.json: diagnostics: "a b"'),
                            ('"energy_error": ', '"x\\nerror": ',
                             'diagnostics.conservation: "x?error"'),
                            ('"type": "conservation"', '"type": "`x`"',
                             "config.diagnostics.0.type"),
                            ('"file": "trajectory.xyz"', '"file": "../x"', "config.outputs.0.file"),
                            ('"run.cfg"', '"/run.cfg"', "files.1"),
                            ('"softening": ', '"soft ening": ', "config.physics")):
        assert old in good
        pathlib.Path("made.run/run.json").write_text(good.replace(old, new, 1))
        assert place in report("made.run", status=65).stderr, place
    pathlib.Path("made.run/run.json").write_text(good)
    for old, new in (("kinetic [", "kin'etic ["), ("kinetic [", "!x["), ("[M L^2 T^-2]", "[M;]"),
                     ("kinetic [", f"{'a' * 64} [")):
        pathlib.Path("made.run/conservation.csv").write_text(table.replace(old, new, 1))
        assert "conservation.csv:1: column 3: " in report("made.run", status=65).stderr, new
    pathlib.Path("made.run/conservation.csv").write_text(table)
    report("made.run")


def test_links_in_a_run_are_not_read():
    """a link in the place of a file of a run, which would bring another file onto the page: 65"""
    need_gnuplot()
    for name in ("run.cfg", "run.json", "conservation.csv", "trajectory.xyz"):
        make_run("made.run", steps=1300)
        os.rename(f"made.run/{name}", "secret")
        os.symlink(os.path.abspath("secret"), f"made.run/{name}")
        assert name in report("made.run", status=65).stderr
        assert not os.path.exists("made.run/report.html")
        os.unlink("secret")
        shutil.rmtree("made.run")


def test_without_gnuplot():
    """without gnuplot there is a page that says so, and status 69"""
    make_run("made.run")
    os.mkdir("bin")
    result = subprocess.run([tap.ORRERY, "report", "made.run"], capture_output=True, text=True,
                            env={**os.environ, "PATH": os.path.abspath("bin")})
    assert result.returncode == 69 and "gnuplot-nox" in result.stderr, result
    page = read("made.run/report.html")
    assert "gnuplot is not installed" in page and figures_of(page) == []
    assert "energy_error &lt;= 1e-05" in page


def test_what_ended_a_run():
    """a run that stop_when has ended does not look like one that came to its time.end"""
    pathlib.Path("made.cfg").write_text(
        MANY + 'stop_when = ( { quantity = "kinetic"; at_least = 0.1; after = 0.5; } );')
    assert tap.run("run", "made.cfg", "-q", "-o", "made.run", "--force").returncode == 0
    tap.run("report", "made.run")
    words = "kinetic >= 0.1 after t = 0.5"
    assert f"ended this run at t = 0.5 (stop_when): {html.escape(words)}." in \
        read("made.run/report.html")
    assert f"stop_when {words}" in " ".join(tap.run("watch", "made.run").stdout.split())


# It gets nothing of the user's environment but the PATH, so that the folder is written into it.
GNUPLOT = """#!/bin/sh
[ "$1" = -d ] && [ -z "$HOME" ] || exit 4
shift
[ "$1" = --version ] && exit 0
HERE=%s
: >"$HERE/begun.$1"
%s
[ $? = 0 ] && exec %s -d "$1"
echo "it failed of $1"
: >"$HERE/ended.$1"
exit 3
"""


def test_gnuplot_reads_no_file_of_the_user():
    """~/.gnuplot and the environment change no picture, and nothing is written outside"""
    need_gnuplot()
    make_run("made.run", steps=1300)
    os.mkdir("home")
    for name in (".gnuplot", ".gnuplotrc", "gnuplotrc"):
        pathlib.Path("home", name).write_text('set datafile separator ","\nset print "obeyed"\n'
                                              'print 1\nset xlabel "mine"\n')
    report("made.run")
    pictures = {path.name: path.read_bytes() for path in pathlib.Path("made.run/plots").iterdir()}
    here = os.path.abspath("home")
    result = subprocess.run(
        [tap.ORRERY, "report", "made.run"], capture_output=True, text=True, cwd=os.getcwd(),
        env={**os.environ, "HOME": here, "GNUPLOT_LIB": here, "GNUTERM": "dumb",
             "GNUPLOT_SHARE_DIR": here, "GDFONTPATH": here, "GNUPLOT_DEFAULT_GDFONT": "mine",
             "XDG_CONFIG_HOME": here, "LC_ALL": "C", "LANG": "C"})
    assert result.returncode == 0, result
    assert pictures == {path.name: path.read_bytes()
                        for path in pathlib.Path("made.run/plots").iterdir()}
    assert sorted(os.listdir("home")) == [".gnuplot", ".gnuplotrc", "gnuplotrc"]
    assert not os.path.exists("obeyed") and not os.path.exists("made.run/plots/obeyed")


def test_figures_are_drawn_side_by_side():
    """as many as there are cores; of those that fail the first is told, and all have ended then"""
    need_gnuplot()
    make_run("made.run")
    os.mkdir("bin")
    tool = pathlib.Path("bin/gnuplot")
    environment = {**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"],
                   "OMP_NUM_THREADS": "3"}

    def draw(words):
        tool.write_text(GNUPLOT % (os.getcwd(), words, shutil.which("gnuplot")))
        tool.chmod(0o755)
        return subprocess.run([tap.ORRERY, "report", "made.run"], capture_output=True, text=True,
                              env=environment)

    # The first one waits until two others have begun.
    result = draw('n=0; while [ $n -lt 600 ] && ! [ -e "$HERE/begun.energies.gp" ]; do '
                  "sleep 0.05; n=$((n + 1)); done; [ $n -lt 600 ]")
    assert result.returncode == 0, result
    assert len(list(pathlib.Path().glob("begun.*"))) == 5
    pictures = {path: path.read_bytes() for path in pathlib.Path("made.run/plots").glob("*.svg")}
    for path in pathlib.Path().glob("begun.*"):
        path.unlink()
    result = draw('case $1 in orbits.gp) sleep 0.5; false;; energy-error.gp) false;; esac')
    assert result.returncode == 74, result
    assert "orbits.gp: gnuplot failed: it failed of orbits.gp" in result.stderr, result
    assert "energy-error" not in result.stderr, result
    assert len(list(pathlib.Path().glob("ended.*"))) == 2
    assert not os.path.exists("begun.momentum.gp"), "drawn after one had failed"
    report("made.run")
    assert pictures == {path: path.read_bytes() for path in pictures}


def test_animation():
    """--animation adds a GIF with a picture for every frame, inside the page too"""
    need_gnuplot()
    make_run("made.run", bodies=30)
    report("made.run", "--animation")
    with open("made.run/plots/bodies.gif", "rb") as file:
        gif = file.read()
    assert gif[:6] == b"GIF89a" and gif[-1:] == b";"
    assert gif.count(b"\x21\xf9\x04") == 9  # one graphic control block for each frame
    data = re.search(r'src="data:image/gif;base64,([^"]*)"', read("made.run/report.html")).group(1)
    assert base64.b64decode(data) == gif
    make_run("other.run")
    refused = report("made.run", "other.run", "--animation", status=64).stderr
    assert "--animation: is of one run, and here are 2" in refused, refused
    assert not os.path.exists("report")


def test_animation_follows_the_mass():
    """its box follows the half-mass radius, not the farthest body; the time is written on it"""
    need_gnuplot()
    make_run("made.run", bodies=30)
    path = pathlib.Path("made.run/trajectory.xyz")
    rows, frame, scale = [], -1, 0.9
    for row in path.read_text().splitlines():
        frame += row == "30"
        cells = row.split()
        if row.endswith(" 30"):  # one body leaves, which is as heavy as three others
            row = f"X {10.0**frame} 0 0 3 30"
        elif cells[0] == "X":    # the others contract
            row = " ".join(["X", *(f"{float(x) * scale**frame:.17g}" for x in cells[1:4]), "1",
                            cells[4]])
        rows.append(row.replace("pos:R:3:id", "pos:R:3:mass:R:1:id"))
    path.write_text("\n".join(rows) + "\n")
    report("made.run", "--animation", "--plot", "energies")
    frames = numpy.array([row.split()[1:5] for row in rows if row[0] == "X"], float)
    frames = frames.reshape(9, 30, 4)
    middle = numpy.median(frames[:, :, :3], axis=1)
    distance = numpy.linalg.norm(frames[:, :, :3] - middle[:, None], axis=2)
    half = []
    for k, order in enumerate(distance.argsort(axis=1)):
        inside = frames[k, order, 3].cumsum()
        half.append(distance[k, order][inside >= inside[-1] / 2][0])
    commands = read("made.run/plots/bodies.gp")
    ranges = numpy.array(re.findall(r"set (?:x|y|z)range \[([^:]*):(.*)\]", commands), float)
    ranges = ranges.reshape(9, 3, 2)
    for k in range(9):
        reach = 3 * numpy.exp(numpy.log(half[max(0, k - 4):k + 5]).mean())
        expected = middle[k][:, None] + [-reach, reach]
        assert numpy.allclose(ranges[k], expected, rtol=1e-7, atol=1e-9), (k, ranges[k], expected)
    assert re.findall(r'"t = ([\d.]+)"', commands) == [f"{0.5 * k:g}" for k in range(9)]
    width = ranges[3, 0, 1] - ranges[3, 0, 0]
    assert f'"box: {width:.3g} wide"' in commands
    assert "three times the radius that holds half of the mass" in read("made.run/report.html")
    # Of few bodies all are shown, in one box about 0 that holds them in nine frames of ten.
    make_run("few.run", bodies=3)
    report("few.run", "--animation", "--plot", "energies")
    ranges = re.findall(r"set (?:x|y|z)range \[([^:]*):(.*)\]", read("few.run/plots/bodies.gp"))
    assert len(set(ranges)) == 1 and numpy.isclose(float(ranges[0][1]), 1.1 * (0.2 + 2 / 3)), ranges
    assert "The box holds all bodies" in read("few.run/report.html")


# --- in a browser ---------------------------------------------------------------------------------

def chromium(*options, page="made.run/report.html", console=()):
    """What it prints, where its console says nothing but lines with these words."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        raise tap.Skip("chromium is not installed")
    result = subprocess.run(
        [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--enable-logging=stderr", "--virtual-time-budget=2000",
         f"--user-data-dir={os.path.abspath('browser')}", *options,
         "file://" + os.path.abspath(page)],
        capture_output=True, text=True, timeout=120)
    if "namespace" in result.stderr and result.returncode:
        raise tap.Skip("chromium cannot run here")
    said = [line for line in result.stderr.split("\n") if "CONSOLE" in line]
    assert all(any(words in line for words in console) for line in said), said
    return result.stdout


def pixels(path):
    """A PNG (8 bits, RGB or RGBA, not interlaced) as an array of rows, columns, channels."""
    with open(path, "rb") as file:
        data = file.read()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6)
    channels = 3 if kind == 2 else 4
    packed, at = b"", 8
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, length = zlib.decompress(packed), 1 + width * channels
    rows = [bytes(length - 1)]
    for row in range(height):
        line = raw[row * length:(row + 1) * length]
        rows.append(unfilter(line[0], line[1:], rows[-1], channels))
    image = numpy.frombuffer(b"".join(rows[1:]), numpy.uint8).reshape(height, width, channels)
    return image[:, :, :3].astype(numpy.int32)


def unfilter(kind, rest, above, channels):
    """PNG specification, section 9.2. Bytes one by one are faster here than small arrays."""
    if kind == 0:
        return rest
    if kind < 3:
        line = numpy.frombuffer(rest, numpy.uint8).reshape(-1, channels)
        if kind == 1:
            return numpy.cumsum(line, axis=0, dtype=numpy.uint8).tobytes()
        return (line + numpy.frombuffer(above, numpy.uint8).reshape(-1, channels)).tobytes()
    out = bytearray(channels) + bytearray(rest)  # with a pixel of zeros before each row
    above = bytes(channels) + above
    for i in range(channels, len(out)):
        left, up, corner = out[i - channels], above[i], above[i - channels]
        if kind == 3:
            guess = (left + up) // 2
        else:
            a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            guess = left if a <= b and a <= c else up if b <= c else corner
        out[i] = (out[i] + guess) & 255
    return bytes(out[channels:])


def near(image, colour):
    """How many pixels have this colour, but for the smoothing of edges."""
    return int((abs(image - numpy.array(colour)).max(axis=2) < 12).sum())


def test_browser_shows_every_figure():
    """Chromium opens the page without a word on its console and lays out every figure"""
    tap.thorough()
    need_gnuplot()
    make_run("made.run")
    report("made.run")
    dom = chromium("--dump-dom")
    assert len(figures_of(dom)) == 5
    assert dom.count("<svg") == 5 and dom.count("<figcaption>") == 5
    ids = re.findall(r'\bid=[\'"]([^\'"]*)', dom)
    assert len(ids) == len(set(ids)) and "gpPt6" in ids, sorted(ids)
    assert set(re.findall(r'class="curve (\w+)"', dom)) == {"c0", "c1", "c2"}


# Each of them gives the page another title, if it is more than words.
ATTACK = "document.title = 'obeyed'"
ATTACKS = (f"<script>{ATTACK}</script>", f'"><script>{ATTACK}</script>',
           f"</style></title><script>{ATTACK}</script>", f'"><img src=x onerror="{ATTACK}">',
           f"<svg onload=\"{ATTACK}\">", f'<a href="javascript:{ATTACK}" autofocus>x</a>',
           f"' onfocus='{ATTACK}' autofocus='",
           f"</pre><iframe srcdoc='<script>{ATTACK}</script>'>",
           f"javascript:{ATTACK}", f"<style onload=\"{ATTACK}\">body {{ display: none }}</style>")


class Markup(html.parser.HTMLParser):
    """Elements and attributes that would load or do something."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found += [tag] if tag in ("script", "img", "iframe", "object", "embed", "base") else []
        self.found += [f"{name}={value}" for name, value in attributes
                       if name.startswith("on") or name in ("href", "src") and "script:" in value]


def change_strings(value, words, path=""):
    """Every string of a document, but for what must be known by its name."""
    if isinstance(value, dict):
        return {key: change_strings(inner, words, f"{path}.{key}") for key, inner in value.items()}
    if isinstance(value, list):
        return [change_strings(inner, words, path) for inner in value]
    known = (".config.diagnostics", ".config.outputs", ".files", ".verdict", ".program.name")
    return words if isinstance(value, str) and not path.startswith(known) else value


def test_browser_obeys_no_word():
    """markup in every string that a user may choose: words on the page, in Chromium too"""
    need_gnuplot()
    make_run("made.run", verdict="failed", steps=1300)
    make_run("other.run", step=0.002, steps=1300)
    good = json.loads(read("made.run/run.json"))
    good |= {"host": "x", "ended_by": "x", "errors": ["x"],
             "compute": {"kernel": "x", "isa": "x", "device": "x"}, "trust": {"text": "x"},
             "energy_budget": {"text": "x"}, "members": [{"system": 1, "file": "x"}]}
    good["watch"] |= {"text": "x"}
    good["expect"][0] |= {"unit": "x", "worst_system": 1}
    for words in ATTACKS if tap.THOROUGH else ATTACKS[1:6:2]:
        run = change_strings(good, words)
        run["config"]["outputs"][0]["file"] = words.replace("/", "\\")
        run["files"].append(run["config"]["outputs"][0]["file"])
        pathlib.Path("made.run", run["files"][-1]).write_text(read("made.run/trajectory.xyz"))
        pathlib.Path("made.run/run.cfg").write_text(words + "\n")
        pathlib.Path("made.run/run.json").write_text(json.dumps(run))
        for arguments, page in ((["made.run"], "made.run"),
                                (["made.run", "other.run", "-o", "both"], "both")):
            report(*arguments)
            page = f"{page}/report.html"
            shown = chromium("--dump-dom", page=page)
            assert html.unescape(re.search("<title>(.*?)</title>", shown)[1]) == words, words
            assert html.unescape(re.search("<h1>(.*?)</h1>", shown)[1]).startswith(words), words
            assert not Markup(shown).found, (words, Markup(shown).found)
        os.unlink(pathlib.Path("made.run", run["files"][-1]))


def test_policy_of_the_page():
    """what were markup after all is not obeyed: its policy lets no script, handler or style in"""
    need_gnuplot()
    make_run("made.run", steps=1300)
    report("made.run", "--plot", "energies")
    page = read("made.run/report.html")
    assert page.index("Content-Security-Policy") < page.index("<title>")
    for words in ATTACKS if tap.THOROUGH else ATTACKS[:1]:
        for place in ("<h1>", "<figcaption>", "<dd>", "<main>") if tap.THOROUGH else ("<h1>",):
            assert place in page
            pathlib.Path("hit.html").write_text(page.replace(place, place + words, 1))
            shown = chromium("--dump-dom", page="hit.html",
                             console=("Content Security Policy", "violates"))
            assert "<title>made</title>" in shown, words
    # The same without the policy is obeyed: the test would see it.
    pathlib.Path("hit.html").write_text(re.sub("<meta http-equiv.*", "", page).replace(
        "<h1>", "<h1>" + ATTACKS[0], 1))
    assert "<title>obeyed</title>" in chromium("--dump-dom", page="hit.html")


# How the world looks without one kind of cones: Machado, Oliveira and Fernandes 2009, table 1, of
# severity 1, on linear RGB.
BLIND = {
    "none": numpy.eye(3),
    "protanopia": numpy.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                               [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": numpy.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                                 [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": numpy.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                               [0.004733, 0.691367, 0.303900]]),
}


def lab(colour, blindness):
    """CIE L*a*b* (D65) of "#rrggbb" as it is seen."""
    rgb = numpy.array([int(colour[k:k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = numpy.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)**2.4)
    xyz = numpy.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722],
                       [0.0193, 0.1192, 0.9505]]) @ numpy.clip(BLIND[blindness] @ linear, 0, 1)
    f = numpy.cbrt(numpy.maximum(xyz / [0.9505, 1.0, 1.089], 1e-4))
    return numpy.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_colours():
    """page and pictures share one palette, whose colours also colour-blind readers tell apart"""
    need_gnuplot()
    make_run("made.run")
    report("made.run")
    page, commands = read("made.run/report.html"), read("made.run/plots/energies.gp")
    light, dark = (dict(re.findall(r"--(\w+): (#\w+);", text)) for text in
                   re.findall(r":root \{([^}]*)\}", page))
    lines = re.findall(r"set linetype (\d) linecolor rgb '(#\w+)'", commands)
    others = dict(re.findall(r"^(\w+) = '(#\w+)'$", commands, re.M))
    curves = [f"c{int(number) - 1}" for number, _ in lines]
    assert len(lines) == 7 and [light[name] for name in curves] == [c for _, c in lines], lines
    assert {**light, **others} == light and others["ink"] and set(light) == set(dark), others
    for colours in (light, dark):
        for blindness in BLIND:
            seen = [lab(colours[name], blindness) for name in (*curves, "card")]
            near = [(numpy.linalg.norm(a - b), i, k) for i, a in enumerate(seen)
                    for k, b in enumerate(seen[:i])]
            # 2.3 is just noticeable; thin lines need several times that.
            assert min(near)[0] > 14, (blindness, min(near))


# What a page does that is told to measure the texts of its figures. Boxes touch at their edges.
MEASURE = """<style>main { width: 368px; padding: 0 16px; }</style><script>
const found = [...document.querySelectorAll('figure svg')].map(svg => {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
    const words = texts.map(text => text.textContent);
    const boxes = texts.map(text => text.getBoundingClientRect());
    const outside = words.filter((_, i) => boxes[i].left < frame.left
        || boxes[i].right > frame.right || boxes[i].top < frame.top
        || boxes[i].bottom > frame.bottom);
    const over = [];
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, k) => {
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
            over.push([words[k], words[i]]);
    }));
    return [svg.parentNode.id, texts.length, frame.width, outside, over];
});
document.body.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
</script></body>"""


def test_browser_figures_on_a_phone():
    """at 400 pixels no text of a figure is cut, lies on another one or is too small to read"""
    tap.thorough()
    need_gnuplot()
    for k, step in enumerate((0.001, 0.00101, 0.002, 0.002125, 0.0625)):
        make_run(f"study/a-run-with-a-long-name-that-goes-on-and-on-to-say-it-all-{k}",
                 step=step, steps=1300, worst=(300 * step)**3, verdict="failed" if k else "held")
    for run in os.listdir("study"):
        change_run(f"study/{run}", **{f"config__physics__key_{run[-1]}_{i}": i for i in range(9)},
                   interactions=123456 * (1 + int(run[-1])))
    report("study")
    page = read("study/report.html").replace("</body>", MEASURE)
    page = re.sub("<meta http-equiv.*", "", page)  # which would not let it measure
    pathlib.Path("measured.html").write_text(page)
    dom = chromium("--dump-dom", page="measured.html")
    found = json.loads(base64.b64decode(re.search(r"<body>([\w+/=]+)", dom).group(1)))
    assert len(found) == len(figures_of(page)) == 8, found
    for name, texts, width, outside, over in found:
        assert texts > 9 and width < 368, (name, texts, width)
        assert 14 * width / 480 > 9.5, (name, width)  # gnuplot's text has 14 of 480 pixels
        assert not outside and not over, (name, outside, over)


def test_browser_light_dark_phone():
    """the curves are there in light, in dark and on a phone; dark pages are dark"""
    tap.thorough()
    need_gnuplot()
    make_run("made.run")
    report("made.run")
    shots = {"light": ("1000,900",), "dark": ("1000,900", "--force-dark-mode"),
             "phone": ("500,1400",)}
    for name, (size, *options) in shots.items():
        chromium(f"--window-size={size}", f"--screenshot={os.path.abspath(name)}.png", *options)
    light, dark, phone = (pixels(f"{name}.png") for name in shots)
    # The first colours of curves and the page's background, from palette.c.
    assert near(light, (0x00, 0x72, 0xb2)) > 100 and near(phone, (0x00, 0x72, 0xb2)) > 100
    assert near(dark, (0x3f, 0x9b, 0xe0)) > 100
    assert near(light, (0xfa, 0xfb, 0xfc)) > 100000 and near(dark, (0x14, 0x17, 0x1c)) > 100000


tap.main()
