"""The order of a page: what is expected first, with its bounds; checks that passed last."""

import json
import pathlib
import re

import tap
from reports import (blocks, captions_of, change_run, figures_of, keys_of, need_gnuplot,
                     quick_report as report, read)

CLUSTER = """
name = "made"; bodies = { initial = "plummer"; count = 64; };
physics = { softening = 0.1; };
time = { step = 0.0078125; end = 1.0; };
diagnostics = ( { type = "lagrangian-radii"; every = 4; }, { type = "conservation"; every = 4; } );
expect = ( { quantity = "virial_ratio"; between = [0.5, 1.5]; after = 0.5; },
           { quantity = "conservation.energy_error"; at_most = 1e-3; } );
"""


def page_of(*options, text=CLUSTER, statuses=(0, 1)):
    pathlib.Path("made.cfg").write_text(text)
    result = tap.run("run", "made.cfg", "-q", "--force", "-o", "made", *options)
    assert result.returncode in statuses, (result.returncode, result.stderr)
    report("made")
    return read("made/report.html")


def folded(page):
    """The figures within the part that is closed."""
    found = re.search(r"<summary>Checks that passed</summary>(.*?)</details>", page, re.S)
    return figures_of(found[1]) if found else []


def test_expected_quantities_come_first():
    """with bounds where they count; then structure, and rounding-level conservation folded"""
    need_gnuplot()
    page = page_of()
    assert figures_of(page) == ["energy-error", "virial-ratio", "lagrangian-radii", "energies",
                                "momentum", "angular-momentum"], figures_of(page)
    assert folded(page) == ["momentum", "angular-momentum"]
    keys = keys_of("made/plots/virial-ratio.dat")
    assert keys[-2:] == ["at least 0.5 expected", "at most 1.5 expected"], keys
    lower, upper = blocks("made/plots/virial-ratio.dat")[-2:]
    assert lower.tolist() == [[0.5, 0.5], [1.0, 0.5]] and upper[:, 1].tolist() == [1.5, 1.5]
    assert keys_of("made/plots/energy-error.dat")[-1] == "at most 0.001 expected"
    assert blocks("made/plots/energy-error.dat")[-1][:, 1].tolist() == [1e-3, 1e-3]
    assert read("made/plots/energy-error.gp").count("linecolor 7 ") == 1  # the bound's own colour
    assert keys_of("made/plots/energies.dat") == ["kinetic K", "potential U", "total E = K + U"]


def test_nothing_is_folded_that_did_not_pass():
    """neither momenta that the method changed, nor those of a run that broke off or goes on"""
    need_gnuplot()
    page = page_of("-P", "time.integrator=hermite4")
    assert folded(page) == [] and "momentum" in figures_of(page)
    page = page_of("-P", "time.integrator=rk4")  # it keeps the momentum alone
    assert folded(page) == ["momentum"] and "angular-momentum" in figures_of(page)
    page_of()
    for verdict in ("error", "stopped", "running"):
        change_run("made", verdict=verdict)
        report("made")
        assert folded(read("made/report.html")) == [], verdict
    change_run("made", verdict="held", scales={})  # of what no one knows the size
    report("made")
    assert folded(read("made/report.html")) == []
    report("made", "--plot", "momentum")
    assert figures_of(read("made/report.html")) == ["momentum"]


def test_a_bound_that_was_missed_is_drawn():
    """beneath the curve; one that is far off, or of no time of the run, is told"""
    need_gnuplot()
    strict = CLUSTER.replace("1e-3", "1e-9").replace("[0.5, 1.5]", "[0.0, 1e6]")
    page = page_of(text=strict.replace("after = 0.5", "after = 0.25"), statuses=(1,))
    measured = json.loads(read("made/run.json"))["largest_energy_error"]
    far = measured > 1e4 * 1e-9
    captions = captions_of(page)
    told = captions["energy-error"]
    assert far == ("Expected: at most 1e-09, far below all that is drawn." in told), told
    assert far != ("at most 1e-09 expected" in keys_of("made/plots/energy-error.dat"))
    told = captions["virial-ratio"]
    assert "Expected: at most 1e+06, far above all that is drawn." in told, told
    assert not any("1e+06" in key for key in keys_of("made/plots/virial-ratio.dat"))
    near = f"{measured / 10:.6g}"
    page_of(text=CLUSTER.replace("1e-3", near), statuses=(1,))
    assert f"at most {near} expected" in keys_of("made/plots/energy-error.dat")
    page = page_of(text=CLUSTER.replace("after = 0.5", "after = 9.0"), statuses=(1,))
    told = captions_of(page)["virial-ratio"]
    assert "Expected: at least 0.5, but only at times that the run did not reach." in told, told


ORBIT = """
name = "made"; bodies = { initial = "two-body"; eccentricity = 0.3; };
physics = { softening = 0.0; };
time = { step = 0.01; end = 20.0; };
diagnostics = ( { type = "conservation"; every = 5; },
                { type = "orbit"; name = "pair"; every = 5; } );
expect = ( { quantity = "pair.mean_period"; between = [6.0, 6.6]; after = 10.0; } );
"""


def test_a_bound_says_whose_it_is():
    """where another curve lies beyond it, and no one would take it for one of all"""
    need_gnuplot()
    # The phase error grows with the time, the radial one is periodic: the bound lies between.
    for bound, named in ((3e-3, "radial: "), (1e-6, ""), (10.0, "")):
        page_of(text=ORBIT.replace("pair.mean_period", "radial").replace(
            "[6.0, 6.6]; after = 10.0", f"[-{bound}, {bound}]"), statuses=(0, 1))
        assert keys_of("made/plots/pair-orbit-error.dat")[-1] == \
            f"{named}at most {bound:.6g} expected"
        radial, along = [block[:, 1].max() for block in
                         blocks("made/plots/pair-orbit-error.dat")[:2]]
        assert (radial < bound < along) == bool(named), (radial, along, bound)


def test_an_expected_column_has_a_figure():
    """of a diagnostic whose figures do not draw it; two equal curves are one"""
    need_gnuplot()
    page = page_of(text=ORBIT)
    names = figures_of(page)
    assert "mean_period" in names[0] and sum("mean_period" in name for name in names) == 1, names
    keys = keys_of(f"made/plots/{names[0]}.dat")
    assert keys == ["mean_period", "at least 6 expected", "at most 6.6 expected"], keys
    # Without softening the virials are those of the potential; with it they are not.
    assert keys_of("made/plots/virial-ratio.dat") == ["2K/|W|"]
    assert "The curve of −2K/U is that of 2K/|W|." in captions_of(page)["virial-ratio"]
    page_of()
    assert keys_of("made/plots/virial-ratio.dat")[:2] == ["2K/|W|", "−2K/U"]


def times_of(figure, table):
    """The unit at the axis of time, and its size: the last time of a table over that drawn."""
    unit = re.search(r'set xlabel "t \[(.*?)\]"', read(f"made/plots/{figure}.gp"))[1]
    last = float(read(f"made/{table}.csv").splitlines()[-1].split(",")[1])
    return unit, last / blocks(f"made/plots/{figure}.dat")[0][-1, 0]


def test_axes_of_time():
    """in periods, crossing times, years, of which a run has two; tables keep the config's unit"""
    need_gnuplot()
    page = page_of(text=ORBIT)
    unit, size = times_of("energy-error", "conservation")
    # The semi-major axis is 1 and G M is 2: a period is 2 pi / sqrt(2) = 4.44288.
    assert re.fullmatch(r"periods of 4\.44\d*", unit), unit
    assert abs(size / 4.44288 - 1) < 1e-3, size
    assert "time [T]" in read("made/conservation.csv").splitlines()[0]
    assert re.search(r"in periods</dt><dd>4\.50\d? of 4\.50\d?<small>t = 20 of 20</small></dd>",
                     page), page
    # A run that loses its orbit has the period of its start; the last one is longer.
    page_of("-P", "time.integrator=euler", text=ORBIT)
    last = json.loads(read("made/run.json"))["diagnostics"]["pair"]["period"]
    unit, size = times_of("energy-error", "conservation")
    assert last > 1.1 * 4.44288 and re.fullmatch(r"periods of 4\.44\d*", unit), (last, unit)
    assert abs(size / 4.44288 - 1) < 1e-5, size
    page_of("-P", "time.end=8", text=ORBIT)  # less than two of them
    assert times_of("energy-error", "conservation") == ("T", 1.0)
    page = page_of("-P", "time.end=12", "-P", "time.step=0.03125", "-P", "bodies.count=512")
    crossing = json.loads(read("made/run.json"))["time_scales"]["crossing"]
    unit, size = times_of("lagrangian-radii", "lagrangian-radii")
    assert unit == f"crossing times of {crossing:.4g}", unit
    assert abs(size / crossing - 1) < 1e-12, size
    assert re.search(r", at t = [\d.e-]+ crossing times", captions_of(page)["energy-error"]), page
    bounds = blocks("made/plots/virial-ratio.dat")[-1]  # from t = 0.5 on
    assert abs(bounds[0, 0] - 0.5 / crossing) < 1e-9, bounds
    pair = """name = "made"; bodies = { initial = "orbits"; central_mass = 1.0; masses = [1e-3];
        semi_major_axes = [1.0]; }; physics = { units = "astronomical"; };
        time = { step = 5.0; end = 1000.0; };
        diagnostics = ( { type = "conservation"; every = 5; } );"""
    page_of(text=pair)
    unit, size = times_of("energy-error", "conservation")
    assert unit == "yr" and abs(size / 365.25 - 1) < 1e-12, (unit, size)
    assert "time [d]" in read("made/conservation.csv").splitlines()[0]
    # Runs that are laid over one another have the unit that is common to all.
    for ends, unit in (((1000, 2000), "yr"), ((1000, 100), "d")):
        for end in ends:
            result = tap.run("run", "made.cfg", "-q", "--force", "-o", f"to-{end}", "-P",
                             f"time.end={end}")
            assert result.returncode == 0, result.stderr
        report(*(f"to-{end}" for end in ends), "-o", f"in-{unit}")
        script = read(f"in-{unit}/plots/energy-error.gp")
        assert f'set xlabel "t [{unit}]"' in script, script


tap.main()
