"""orrery report: from hand-made run directories to figures and a page that a browser shows."""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import numpy
import tap
from reports import (STEPS, blocks, captions_of, change_run, figures_of, keys_of, make_run,
                     need_gnuplot, quick_report, read, report, without_scripts, write_csv)


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
        quick_report("made.run", "--plot", "energies")
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



def test_numbers_that_stand_out():
    """the page's first numbers are those of run.json, of a system alone and of an ensemble"""
    make_run("made.run")
    told = json.loads(read("made.run/run.json"))
    told |= {"largest_energy_error": 1.234567e-5, "wall_seconds": 123.456, "step": 4321,
             "time": 3.210987, "interactions_per_second": 7.654321e9,
             "time_scales": {"crossing": 2.345678, "half_mass_relaxation": 13.57911},
             "own_steps": {"steps": 98765, "smallest": 1.357913e-4}}
    told["config"]["time"]["end"] = 4.0
    told["diagnostics"] |= {
        "conservation": {"energy_error": 2.5e-6, "virial_ratio": 0.9753124},
        "conservation-ensemble": {"energy_error_q50": 3.456789e-6, "virial_ratio_q50": 1.024681,
                                  "systems": 5}}
    told["watch"] = {
        "holds": True, "limits": {"energy_error": 0.005, "energy_drift": 0.02},
        "energy_error": {"largest": 1e-4, "time": 2.125, "system": 3, "systems_beyond": 0},
        "energy_drift": {"change": 0.0123, "steadiness": 0.3456, "systems_beyond": 0},
        "energy_jumps": 0, "largest_jump": 0.0,
        "fastest_pair": {"id_1": 2, "id_2": 3, "distance": 0.2468135, "time": 1.753195,
                         "steps_per_time_scale": 12.3456, "system": 4}}

    def page_of(**changes):
        pathlib.Path("made.run/run.json").write_text(json.dumps(told | changes))
        quick_report("made.run", status=None)
        page = read("made.run/report.html").split("<figure")[0]
        return page, dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page))

    page, alone = page_of()
    common = {"grid steps": "4321", "own steps": "98765", "smallest own step": "0.000136",
              "time reached": "3.211 of 4", "wall time": "123.5 s",
              "pairs of bodies per second": "7.654e+09"}
    assert alone == common | {
        "largest energy error": "1.235e-05", "2K/|W| at the end": "0.9753",
        "crossing time at the start": "2.346",
        "half-mass relaxation time at the start, as for equal masses": "13.58"}, alone
    # A circular orbit takes 2 pi steps for each of a time scale.
    assert "bodies 2 and 3, 0.247 apart at t = 1.7532, where a circular orbit would take " \
        f"{2 * numpy.pi * 12.3456:.3g} steps" in page, page
    assert "changes by 0.0123 × max(|E₀|, |U₀|) over the run and accounts for 35 %" in page, page
    assert re.search(r'<p class="good">No drift beyond the limit: a straight', page), page
    told["watch"]["energy_drift"]["systems_beyond"] = 1
    page, many = page_of(systems=7, left_out=2)
    counted = "median of the 5 systems that count"
    assert many == common | {f"largest energy error, {counted}": "3.457e-06",
                             f"2K/|W| at the end, {counted}": "1.025"}, many
    assert "bodies 2 and 3 of system 4" in page, page
    assert re.search(r'<p class="bad">The energy drifts: a straight', page), page


def test_page_is_self_contained():
    """the page loads nothing: no script, no style sheet, no picture from elsewhere"""
    need_gnuplot()
    make_run("made.run")
    report("made.run", "--no-player")
    page = read("made.run/report.html")
    # The two namespaces of SVG are names, not addresses.
    loads = re.findall(r'(?:src|(?<!xlink:)href)="(?!data:|#)([^"]*)"', page)
    assert loads and all(not re.match(r"\w+:|//", link) for link in loads), loads
    assert all(os.path.exists(os.path.join("made.run", link)) for link in loads), loads
    assert not re.search(r"<script|@import|url\((?!['\"]?#)|<link(?! rel=\"icon\")",
                         without_scripts(page))


def test_values():
    """figures show the columns: magnitudes, every peak, nothing undefined"""
    need_gnuplot()
    make_run("made.run", worst=3e-6)
    quick_report("made.run")
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
    quick_report("made.run", "--plot", "orbits")
    assert keys_of("made.run/plots/orbits.dat")[3:] == ["start"]
    assert numpy.allclose(paths[1][4], [(0.2 + 1 / 3) * numpy.cos(0.7 + 1.2),
                                        (0.2 + 1 / 3) * numpy.sin(0.7 + 1.2)], rtol=1e-12)


def test_many_bodies():
    """of many bodies the first and the last frame are shown, at one scale"""
    need_gnuplot()
    make_run("made.run", bodies=500)
    quick_report("made.run")
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
    quick_report("made.run", "finer.run")
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
        quick_report("made.run")
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
    (quick_report if overrides else report)("pairs")
    found = re.findall(r'<figure id="([\w-]+)">.*?<figcaption>(.*?)</figcaption>',
                       read("pairs/report.html"), re.S)
    return dict(found), [name for name, _ in found
                         if "set logscale y" in read(f"pairs/plots/{name}.gp")]


def test_a_single_point():
    """has one tick along x, not ten whose numbers run into one another"""
    need_gnuplot()
    with open("one.cfg", "w") as file:
        file.write('name = "one"; bodies = { initial = "two-body"; eccentricity = 0.5; };\n'
                   "time = { step = 0.01; end = 1.0; };\n"
                   'diagnostics = ( { type = "conservation"; every = 1000; } );\n')
    assert tap.run("run", "one.cfg", "-q").returncode == 0
    quick_report("one.run")
    assert "set xtics (1)" in read("one.run/plots/energy-error.gp")


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


def test_again_and_manifest():
    """a second report replaces the first; report.json names every file; run.json stays as it is"""
    need_gnuplot()
    make_run("made.run")
    before = read("made.run/run.json")
    report("made.run", "--no-player")
    report("made.run")
    assert read("made.run/run.json") == before
    files = json.loads(read("made.run/report.json"))["files"]
    plots = [f"plots/{name}" for name in os.listdir("made.run/plots")]
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


def test_links_to_files():
    """a page has links to the files of the run where it lies beside them, or else their names"""
    need_gnuplot()
    make_run("folder/made.run", steps=1300)
    for arguments, page, linked in ((["folder/made.run"], "folder/made.run", True),
                                    (["folder/made.run", "-o", "folder/made.run"],
                                     "folder/made.run", True),
                                    (["folder/made.run", "-o", "there"], "there", False),
                                    (["folder"], "folder", False)):
        quick_report(*arguments, "--plot", "energies")
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
        quick_report("made.run")
        drawn = blocks("made.run/plots/energies.dat")[0]
        assert 1.29 < drawn[-1, 0] < 1.3, (row, drawn[-1])
        orbits = blocks("made.run/plots/orbits.dat")
        assert [len(orbit) for orbit in orbits[:3]] == 3 * [8], (length, orbits)  # of 9 frames
    cut("1300,1.3\n", len(frames))  # a whole line that lacks cells is damage
    assert "conservation.csv:1302" in quick_report("made.run", status=65).stderr


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
            quick_report("made.run", "--plot", "shells-m")
            drawn = [curve for curve in blocks("made.run/plots/shells-m.dat")
                     if curve.shape[1] == 2]
            last = 800 if cut == 0 else 400
            median = 10 * (1 + systems) / 2
            assert len(drawn) == 1 and drawn[0][:, 1].tolist() == [
                last + median + k for k in (1, 2, 3)], (systems, cut, drawn)


def test_bad_input():
    """no run: 66; a damaged file: 65 with its line; wrong usage: 64"""
    need_gnuplot()
    assert "nowhere" in quick_report("nowhere", status=66).stderr
    os.mkdir("empty")
    assert "holds no run" in quick_report("empty", status=66).stderr
    quick_report(status=64)
    make_run("made.run")
    with open("made.run/run.json", "w") as file:
        file.write('{\n "name": oops }')
    assert "run.json:2" in quick_report("made.run", status=65).stderr
    shutil.rmtree("made.run")
    make_run("made.run")
    rows = read("made.run/conservation.csv").split("\n")
    rows[2] = rows[2].replace(",", ";", 1)
    with open("made.run/conservation.csv", "w") as file:
        file.write("\n".join(rows))
    assert "conservation.csv:3" in quick_report("made.run", status=65).stderr
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
        assert place in quick_report("made.run", status=65).stderr, place
    pathlib.Path("made.run/run.json").write_text(good)
    for old, new in (("kinetic [", "kin'etic ["), ("kinetic [", "!x["), ("[M L^2 T^-2]", "[M;]"),
                     ("kinetic [", f"{'a' * 64} [")):
        pathlib.Path("made.run/conservation.csv").write_text(table.replace(old, new, 1))
        assert "conservation.csv:1: column 3: " in quick_report("made.run", status=65).stderr, new
    pathlib.Path("made.run/conservation.csv").write_text(table)
    quick_report("made.run")


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


tap.main()
