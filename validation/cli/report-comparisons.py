"""Reports of several runs: what differs, orders of convergence, curves upon each other."""

import html
import json
import os
import pathlib
import re
import shutil

import numpy
import tap
from reports import (blocks, captions_of, change_column, change_run, figures_of, keys_of, make_run,
                     need_gnuplot, quick_report as report, read, write_csv)


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
    # A run without a step has no place at 0, where it would make the axis linear.
    make_run("study/own", integrator="gauss-radau", worst=1e-6)
    change_run("study/own", config__time__step=None)
    report("study")
    drawn = numpy.concatenate(blocks("study/plots/energy_error-against-step.dat"))
    assert drawn[:, 0].min() > 0 and "set logscale x" in read(
        "study/plots/energy_error-against-step.gp"), drawn
    shutil.rmtree("study/own")
    change_run("study/velocity-verlet-0.004", verdict="failed")
    report(*(f"study/velocity-verlet-{step}" for step in (0.004, 0.002, 0.001)))
    keys = [key for key in keys_of("report/plots/energy_error-against-step.dat") if key]
    assert len(keys) == 1 and keys[0].endswith(" (1 of 3 failed)"), keys
    assert "order of the method, if none of its runs failed." in read("report/report.html")
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
    """of an ensemble the largest energy error of all systems is compared, not that of its end;
    other columns say whose; a step in several units is in none of them"""
    need_gnuplot()
    for step in (0.004, 0.002, 0.001):
        make_run(f"study/{step}", step=step, steps=1300, worst=step**2)
        change_run(f"study/{step}", systems=2, relative_energy_error=-3 * step**2,
                   largest_energy_error=7 * step**2, interactions=1 / step,
                   diagnostics__a={"distance_error": step})
    report("study")
    page = read("study/report.html")
    for figure in ("step", "interactions"):
        points = blocks(f"study/plots/energy_error-against-{figure}.dat")[0]
        step = points[:, 0] if figure == "step" else 1 / points[:, 0]
        assert numpy.allclose(points[:, 1], 7 * step**2, rtol=1e-12), points
    assert '>7e-06</td>' in page
    captions = captions_of(page)
    assert "worst system of an ensemble" in captions["energy_error-against-step"], captions
    assert "its worst system" in captions["energy_error-against-interactions"], captions
    assert "of system 1 of an ensemble" in captions["distance_error-against-step"], captions
    assert 'set xlabel "time.step [T]"' in read("study/plots/energy_error-against-step.gp")
    change_run("study/0.002", config__physics__units="si")
    report("study")
    assert 'set xlabel "time.step, each run in its own units"' in read(
        "study/plots/energy_error-against-step.gp")


def test_names_of_runs():
    """runs of several experiments do not all go by the name of the first"""
    need_gnuplot()
    for name, path in (("one", "a"), ("one", "b"), ("two", "c")):
        make_run(f"{path}.run", name=name, steps=1300)
    for paths, title in (("ab", "one, 2 runs"), ("abc", "one and others, 3 runs")):
        report(*(f"{path}.run" for path in paths), "--plot", "energies")
        assert f"<h1>{title}</h1>" in read("report/report.html"), title


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
        assert "For each run: largest so far." in caption, caption
        curves = blocks(f"{folder}/plots/energy-error.dat")
        if len(shown) == 8:
            assert len(curves) == 8 and "least" not in caption, (len(curves), caption)
    assert len(curves) == 2 and "For the runs with the least time.step" in caption, caption
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
    # A column that is constant but for rounding has no extent to be shown: all of the bad run is.
    make_run("flat.run", steps=1300, integrator="rk4")
    change_column("flat.run", "virial_ratio", 1 + 1e-13 * (numpy.arange(1301) % 7))
    report("flat.run", "error.run")
    assert "set yrange [0:*]" in read("report/plots/virial-ratio.gp")
    assert "The frame" not in captions_of(read("report/report.html"))["virial-ratio"]


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
    changes = {"held": {}, "failed": {"verdict_text": "failed: energy error 3, <off>: do: so"},
               "error": {"exit_status": 70, "errors": ["body 3 is nowhere", "and more"]},
               "stopped": {"step": 12, "steps": 1300}, "running": {}}
    for k, (verdict, change) in enumerate(changes.items()):
        make_run(f"study/{verdict}", verdict=verdict, step=0.001 * (k + 1), steps=1300)
        path = pathlib.Path("study", verdict, "run.json")
        run = json.loads(path.read_text())
        path.write_text(json.dumps({**run, **change}))
    report("study")
    rows = dict(re.findall(r"<tr><td>(\w+)</td>(.*?)</tr>", read("study/report.html"), re.S))
    assert "class=\"why\"" not in rows["held"] and len(rows) == 5
    # What failed stands in the badge, and what to do beneath.
    assert '<span class="verdict bad">failed: energy error 3, &lt;off&gt;</span>' \
        '<div class="advice">do: so</div></td>' in rows["failed"], rows["failed"]
    for verdict, words in {
            "error": "exit status 70: body 3 is nowhere", "stopped": "at step 12 of 1300",
            "running": "it ended without a word"}.items():
        assert f'<div class="why">{words}</div>' in rows[verdict], rows[verdict]
        assert "class=\"advice\"" not in rows[verdict], rows[verdict]
    # A phone has the names of the columns before the numbers.
    assert '<td data-label="time.step">0.001</td>' in rows["held"], rows["held"]
    assert "<td class=\"n\" data-label=\"steps\">1300</td>" in rows["held"], rows["held"]


SPEED = """
name = "speed"; bodies = { initial = "plummer"; count = 40; }; physics = { softening = 0.1; };
time = { step = 0.0078125; end = 0.5; };
diagnostics = ( { type = "conservation"; every = 4; } );
expect = ( { quantity = "energy_error"; at_most = 1.0; } );
sweep = ( { key = "compute.threads"; values = [1, 2]; } );
"""


def test_a_key_that_is_swept_is_shown():
    """threads too, with the time over them; what all runs have in common is told, not drawn"""
    need_gnuplot()
    pathlib.Path("speed.cfg").write_text(SPEED)
    assert tap.run("run", "speed.cfg", "-q", "-o", "speed").returncode in (0, 1)
    report("speed")
    page = read("speed/report.html")
    assert re.findall(r"<th>([\w.]+\.[\w.]+)</th>", page) == ["compute.threads"], page
    figures = figures_of(page)
    assert "seconds_of_the_integration-against-threads" in figures, figures
    assert "energy_error-against-threads" not in figures, figures
    points, = blocks("speed/plots/seconds_of_the_integration-against-threads.dat")[:1]
    runs = [json.loads(read(f"speed/00{k}/run.json")) for k in (1, 2)]
    assert list(points[:, 1]) == [run["advance_seconds"] for run in runs]
    # 65 forces: one at the start and 64 steps, of 40 x 40 pairs.
    equal = f"All of them computed {runs[0]['interactions']:.6g} pair interactions"
    assert equal in page and f"error {runs[0]['largest_energy_error']:.3g}." in page, page
    # Rows link to pages that are there, and else the page says how to draw one.
    assert "draws the page of one of them" in page and 'href="001/' not in page
    report("speed/001")
    report("speed")
    page = read("speed/report.html")
    assert '<a href="001/report.html">001</a>' in page and 'href="002/report.html"' not in page
    assert "draws the page of one of them" not in page
    # A page elsewhere has no such links, and one of runs that differ tells no common value.
    report("speed/001", "speed/002", "-o", "elsewhere")
    assert 'href="001' not in read("elsewhere/report.html")
    change_run("speed/002", interactions=1.0, verdict="error")
    report("speed")
    assert "All of them" not in read("speed/report.html")


def test_what_is_expected_is_no_difference():
    """runs of two bounds are of one experiment; a table that is no study's is not read"""
    need_gnuplot()
    for name, softening, bound in (("a.run", 0.05, 1e-3), ("b.run", 0.1, 1e-4)):
        make_run(f"pair/{name}", steps=1300)
        change_run(f"pair/{name}", config__physics__softening=softening,
                   config__expect=[{"quantity": "energy_error", "at_most": bound}])
    pathlib.Path("pair/study.csv").write_text("x,expect.0.at_most,exit_status [1],\n")
    report("pair")
    page = read("pair/report.html")
    assert "<th>physics.softening</th>" in page and "expect." not in page, page
    pathlib.Path("pair/study.csv").write_text("member [1],expect.0.at_most,exit_status [1],\n")
    report("pair")
    assert "<th>expect.0.at_most</th>" in read("pair/report.html")


def test_a_slope_that_could_be_none():
    """a fit whose error is larger than its value is not drawn"""
    need_gnuplot()
    for k, (step, worst) in enumerate(((0.001, 1e-6), (0.002, 3e-6), (0.004, 1.1e-6))):
        make_run(f"noise/{k}", step=step, worst=worst, steps=1300)
    report("noise")
    assert not any("slope" in key for key in keys_of("noise/plots/energy_error-against-step.dat"))


tap.main()
