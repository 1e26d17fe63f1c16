"""orrery report: from hand-made run directories to figures and a page that a browser shows."""

import base64
import csv
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
                    "worst": worst, "rows": steps + 1, "failures": 0}],
        "files": ["run.json", "run.cfg", "conservation.csv", "trajectory.xyz"],
        "config": {"name": name, "bodies": {"initial": "plummer", "count": bodies},
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
    assert "every expectation held" in page and "energy_error &lt;= 1e-05" in page
    assert "&lt;made&gt; &amp; &quot;kept&quot;" in page  # run.cfg, escaped
    assert f">{STEPS}<" in page


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
    assert len(paths) == 3 and all(len(path) == 9 for path in paths)
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
    assert page.count("Median of the 5 systems") == len(figures_of(page)) - 2 == 6
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
    error = abs(table["relative_energy_error_1"])
    worst = error.argmax()
    whose = f"at t = {table['time_T'][worst]:.6g} in system {table['system_1'][worst]:.0f}."
    assert f"It moved by at most {error.max():.3g} |E₀|, {whose}" in page
    assert (f">{error.max():.6g} (system {table['system_1'][worst]:.0f})</td>") in page


def test_members_that_are_left_out_of_the_mean():
    """captions say how many systems the mean is of, and where it is of none"""
    need_gnuplot()
    pathlib.Path("made.cfg").write_text(ENSEMBLE)
    assert tap.run("run", "made.cfg", "-q").returncode == 0
    with open("made.run/conservation.csv", newline="") as file:
        errors = sorted(float(row["energy_error [1]"]) for row in list(csv.DictReader(file))[-5:])
    for limit, words in (((errors[1] + errors[2]) / 2,
                          "it is of 2 systems, without 3 that have lost too much energy."),
                         (errors[0] / 2, "No mean is drawn: all systems have lost too much")):
        assert tap.run("run", "made.cfg", "-q", "--force", "-P",
                       f"ensemble.energy_error_limit={limit}").returncode == 0
        report("made.run")
        assert words in read("made.run/report.html"), (limit, words)
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
        at_most = f"at most {error.max():.3g} |E₀|, at t = {table['time_T'][error.argmax()]:.6g}"
        assert at_most in captions[kind]["energy-error"], (at_most, captions[kind])
        changed = f"changed by {100 * error.max():.3g} % of |E₀|"
        assert (changed in captions[kind]["energies"]) == (kind == "bad"), captions[kind]
    assert "velocity-verlet is symplectic" in captions["good"]["energy-error"]
    assert "euler is not symplectic" in captions["bad"]["energy-error"]
    assert "Their sum stayed within" in captions["good"]["energies"]
    assert "stayed" not in captions["bad"]["energies"]
    assert "it changed by" in captions["bad"]["energies"]
    assert "errs along the track" in captions["good"]["orbit-error"]
    assert "not symplectic" in captions["bad"]["orbit-error"]
    assert "Round-off alone" in captions["good"]["angular-momentum"]
    assert "which is an error of the integration" in captions["bad"]["angular-momentum"]
    # L0 is not 0 here: the change is drawn beside its size, computed here from the table.
    momentum = numpy.stack([table[f"angular_momentum_{axis}_M_L2_T1"] for axis in "xyz"])
    change = numpy.linalg.norm(momentum - momentum[:, :1], axis=0)
    change /= numpy.linalg.norm(momentum[:, 0])
    drawn, = blocks("bad/plots/angular-momentum.dat")
    assert numpy.isclose(drawn[-1, 1], change[-1], rtol=1e-12)
    assert "|ΔL|/|L₀|" in read("bad/plots/angular-momentum.gp")


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
    assert "A periodic box" not in captions["open"]


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


def test_failure_is_told():
    """the page of a failed run says so, with what the accuracy watch saw"""
    need_gnuplot()
    make_run("made.run", verdict="failed")
    report("made.run")
    page = read("made.run/report.html")
    assert "an expectation or the watch failed" in page and "The energy jumped: 2 times" in page
    assert "at most by 118.25 of max(|E₀|, |U₀|)" in page and "before t = 1.875" in page
    assert ("off by at most 118 of max(|E₀|, |U₀|) (limit 0.005), at t = 2.125 in system 3."
            in page)
    assert "changes by 0.25 of this and accounts for 50 % of its variance" in page
    assert "(no limit)" in page
    assert "every expectation held" not in page


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
    need_gnuplot()
    for integrator, order in (("euler", 1), ("velocity-verlet", 2)):
        for step in (0.004, 0.002, 0.001):
            make_run(f"study/{integrator}-{step}", step=step, integrator=integrator,
                     worst=0.37 * step**order)
    report("study")
    page = read("study/report.html")
    assert figures_of(page) == ["energy_error-against-step", "energy-errors"]
    labels = re.findall(r"# (.*): slope ([\d.]+) ± ([\d.e-]+)",
                        read("study/plots/energy_error-against-step.dat"))
    assert {(name, round(float(slope), 6)) for name, slope, _ in labels} == \
        {("euler", 1), ("velocity-verlet", 2)}, labels
    assert page.count("every expectation held") == 6 and "6 of 6 finished as expected" in page


def test_several_directories():
    """several directories are compared too, into `report` or the folder that -o names"""
    need_gnuplot()
    make_run("a.run", step=0.002)
    make_run("b.run", step=0.001, verdict="failed")
    report("a.run", "b.run")
    assert "1 of 2 finished as expected" in read("report/report.html")
    report("a.run", "b.run", "-o", "there")
    assert os.path.exists("there/plots/energy-errors.svg")
    assert not os.path.exists("a.run/plots")


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


def test_more_runs_than_a_figure_shows():
    """of more than 8 runs those with the least step are overlaid, and the table lists them all"""
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
        caption, = re.findall(r"The largest \|ΔE/E₀\| so far, over time[^<]*", page)
        curves = blocks(f"{folder}/plots/energy-errors.dat")
        if len(shown) == 8:
            assert len(curves) == 8 and "least" not in caption, (len(curves), caption)
    assert len(curves) == 2 and "of the runs with the least time.step" in caption, caption
    # Their times end where 1300 steps of 0.001 do (lines are thinned), their errors are its own.
    assert all(1.29 < curve[-1, 0] <= 1.3 for curve in curves), curves
    largest = sorted(curve[:, 1].max() for curve in curves)
    assert numpy.allclose(largest, [0.37e-6, 0.37e-3], rtol=1e-12), largest
    # All points of both groups stand in the figure against the step.
    drawn = [b for b in blocks("ten/plots/energy_error-against-step.dat") if len(b) == 5]
    assert len(drawn) == 2 and all(sorted(b[:, 0]) == sorted(steps) for b in drawn), drawn


def test_runs_that_have_not_finished():
    """a run that was stopped, is at work, or was killed, is never counted as good"""
    need_gnuplot()
    for name in ("stopped", "running", "held"):
        make_run(f"{name}.run", verdict=name, step=0.002 if name == "held" else 0.001, steps=1300)
    report("stopped.run", "running.run", "held.run")
    page = read("report/report.html")
    assert "1 of 3 finished as expected" in page and 'class="verdict bad">1 of 3' in page
    stopped, running = (f'<span class="verdict open">{words}</span>' for words in
                        ("stopped early", "running, or it ended without a record"))
    assert page.count(stopped) == 1 and page.count(running) == 1
    for name, words in (("stopped", stopped), ("running", running)):
        os.unlink(f"{name}.run/trajectory.xyz")
        report(f"{name}.run")
        page = read(f"{name}.run/report.html")
        assert words in page and "every expectation held" not in page, name
        assert "energies" in figures_of(page), name


def test_tables_that_are_cut():
    """what a killed run has left: half a row and half a frame are left out, all before is drawn"""
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


# --- in a browser ---------------------------------------------------------------------------------

def chromium(*options):
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        raise tap.Skip("chromium is not installed")
    result = subprocess.run(
        [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--enable-logging=stderr", "--virtual-time-budget=2000",
         f"--user-data-dir={os.path.abspath('browser')}", *options,
         "file://" + os.path.abspath("made.run/report.html")],
        capture_output=True, text=True, timeout=120)
    if "namespace" in result.stderr and result.returncode:
        raise tap.Skip("chromium cannot run here")
    assert "CONSOLE" not in result.stderr, result.stderr
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
    need_gnuplot()
    make_run("made.run")
    report("made.run")
    dom = chromium("--dump-dom")
    assert len(figures_of(dom)) == 5
    assert dom.count("<svg") == 5 and dom.count("<figcaption>") == 5


def test_browser_light_dark_phone():
    """the curves are there in light, in dark and on a phone; dark pages are dark"""
    need_gnuplot()
    make_run("made.run")
    report("made.run")
    shots = {"light": ("1000,900",), "dark": ("1000,900", "--force-dark-mode"),
             "phone": ("500,1400",)}
    for name, (size, *options) in shots.items():
        chromium(f"--window-size={size}", f"--screenshot={os.path.abspath(name)}.png", *options)
    light, dark, phone = (pixels(f"{name}.png") for name in shots)
    # The first colours of curves and the page's background, from src/report/figure.c and page.c.
    assert near(light, (0x25, 0x63, 0xae)) > 100 and near(phone, (0x25, 0x63, 0xae)) > 100
    assert near(dark, (0x76, 0xae, 0xf0)) > 100
    assert near(light, (0xfa, 0xfb, 0xfc)) > 100000 and near(dark, (0x14, 0x17, 0x1c)) > 100000


tap.main()
