"""Captions, axes and labels of a report: they say what the run did, however it ended."""

import errno
import html
import json
import math
import os
import pathlib
import re
import shlex
import shutil

import numpy
import tap
from reports import (blocks, captions_of, change_run, figures_of, findings_of, keys_of, make_run,
                     need_gnuplot, quick_report as report, read, report as drawn_report,
                     write_csv)

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


def told_time(path, time, digits):
    """A time as the page of a run of KEPLER tells it: in its periods, if it lasts two of them."""
    run = json.loads(read(f"{path}/run.json"))
    period = 2 * math.pi * math.sqrt(run["config"]["bodies"]["semi_major_axis"] ** 3
                                     / sum(run["config"]["bodies"]["masses"]))
    if run["config"]["time"]["end"] < 2 * period:
        return f"{time:.{digits}g}"
    return f"{time / period:.{digits}g} periods"


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
                   f"at t = {told_time(kind, table['time_T'][error.argmax()], 6)}")
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
        assert not len(lost) or \
            f"At t = {told_time(kind, lost[0], 4)} the phase is off by more" in words, words
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
    assert "4 figures of 1 run" in drawn_report("made.run").stdout
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
    assert "When a line reaches 0.03 (trust.tolerance)" in captions["open"]
    assert "A periodic box does not conserve it." in captions["box"]
    assert "A periodic box" not in captions["open"] and "may have any ratio" in captions["box"]
    assert "1 in equilibrium." in captions["open"] and "1 in equilibrium" not in captions["box"]


def test_the_last_row_tells_what_is_bound():
    """of three systems, by the last row of each, whatever those before it say"""
    need_gnuplot()
    config = MANY.replace("conservation", "virial").replace("64", "8")
    pathlib.Path("many.cfg").write_text(config + "ensemble = { systems = 3; };\n")
    tap.run("run", "many.cfg", "-q", "-o", "made.run")
    path = pathlib.Path("made.run/virial.csv")
    names, *rows = [line.split(",") for line in path.read_text().splitlines()]
    kinetic = names.index("kinetic_mean [M L^2 T^-2]")
    for k, row in enumerate(rows):  # each energy changes its sign in the last row
        row[kinetic] = "9" if (k % 3 != 1) == (k >= len(rows) - 3) else "0"
    path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    report("made.run")
    assert "2 of the 3 systems are not bound" in read("made.run/report.html")


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
    drawn_report("made.run")
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
    assert "an expectation or the watch failed" in page
    rows = findings_of(page)
    assert rows["energy error of test body 7"] == [
        "bad", "failed, too large by a factor of 23700", "118.5 (system 3)", "≤ 0.005", "1.875"], \
        rows
    assert rows["energy_error <= 1e-05"][0] == "bad", rows
    assert "The energy has failed, so" not in page  # nothing held
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
    where = "bodies 28 and 30 of system 2, 0.5 apart at t = 1.5"
    steps = "where a circular orbit would take 628 steps; at least 200 are advised."
    assert f"{where}, {steps}" in page


def table_of(findings, expect=(), config=(), **changes):
    """the groups and the rows of the page of a run with these findings: with a sentence, they are
    of the config"""
    shutil.rmtree("made.run", ignore_errors=True)
    make_run("made.run", steps=1300)
    change_run("made.run", config__expect=list(config), expect=list(expect), findings=[
        {"judge": "expect" if "sentence" in row else "watch", "unit": "", "bound_is": "most",
         "whose": "", "value": None, "since": None, "severity": "held", "sentence": ""} | row
        for row in findings], **changes)
    tap.run("report", "made.run", env={**os.environ, "PATH": "/nonexistent"})  # without figures
    page = read("made.run/report.html")
    return re.findall(r'class="group" colspan="5">(.*?)</th>', page), findings_of(page), page


def test_findings_say_what_they_are():
    """in two groups; how far what failed is beyond its bound, and on which side, in words"""
    groups, rows, page = table_of(
        [{"name": "time.energy_error", "value": 2e-5, "bound": 1e-5, "severity": "failure"},
         {"name": "energy_error", "value": 1.2e-5, "bound": 1e-5, "severity": "failure",
          "sentence": "energy_error <= 1e-05"},
         {"name": "x", "value": 4.0, "bound": 5.0, "unit": "km", "sentence": "x in [3, 5] km"},
         {"name": "y", "value": -0.5, "bound": -0.25, "unit": "km", "bound_is": "least",
          "severity": "failure", "sentence": "y >= -0.25 km"},
         {"name": "z", "value": 0.5, "bound": 4.0, "bound_is": "least", "severity": "failure",
          "sentence": "z >= 4"},
         {"name": "none", "value": 0.0, "bound": 4.0, "bound_is": "least", "severity": "failure",
          "sentence": "none >= 4"},
         {"name": "energy error", "value": 1e-6, "bound": 0.005},
         {"name": "energy change within 1000 steps", "bound": 0.1},
         {"name": "steps per time scale", "value": 0.5, "bound": 2.0, "bound_is": "least",
          "whose": "bodies 2 and 3", "severity": "warning"}],
        config=[{"quantity": "energy_error", "at_most": 1e-5},
                {"quantity": "x", "between": [3.0, 5.0]}, {"quantity": "y", "at_least": -0.25}],
        verdict="failed")
    assert groups == ["What the configuration expects", "What the program checks in every run"]
    asked = [cell for name, *row in rows.items() for cell in row[0][1:2]]
    assert asked == ["failed, too large by a factor of 2", "failed, too large by 20 %", "held",
                     "failed, too small by 0.25 km", "failed, too small by a factor of 8",
                     "failed, too small by 100 %", "held", "held",
                     "warned, too small by a factor of 4"], rows
    # A value in the middle of a window is beside both ends of it, and one without a value says why.
    assert rows["x in [3, 5] km"] == ["plain", "held", "4 km", "3 to 5 km", "–"], rows
    assert rows["energy change within 1000 steps"][2] == "none larger was seen", rows
    # A period has 2 pi time scales, and a warning looks like one.
    assert rows["steps per period of bodies 2 and 3"] == \
        ["warned", "warned, too small by a factor of 4", "3.14", "≥ 12.6", "–"], rows
    # What held in a run that failed has no colour, and what only looks alike has its own words.
    assert not any(row[0] == "good" for row in rows.values()), rows
    assert "The energy has failed, so that quantities which held say little." in page
    both = [page.split(f"<tr><td>{name}<div")[1].split("</div>")[0]
            for name in ("energy_error &lt;= 1e-05", "energy error")]
    assert both[0] != both[1] and "rows" in both[0] and "checks" in both[1], both
    _, rows, page = table_of([{"name": "x", "value": 1.0, "bound": 2.0, "sentence": "x <= 2"}])
    assert rows["x <= 2"] == ["good", "held", "1", "≤ 2", "–"] and "has failed, so" not in page


def test_times_have_one_unit():
    """that in which people think of them, also in sentences that run.json has in another"""
    told = {"holds": False, "limits": {},
            "text": "the energy is off at t = 10; fastest at t = 2.5 d",
            "fastest_pair": {"id_1": 1, "id_2": 2, "distance": 0.5, "time": 0.0,
                             "steps_per_time_scale": 400.0}}
    row = {"name": "energy error", "value": 1.0, "bound": 2.0}
    _, _, page = table_of([row], watch=told, verdict="failed", time=10.0, ended_by="x >= 3",
                          verdict_text="failed: x 3 at t = 5.: the end at t = 10 (a constant = 5)",
                          time_scales={"crossing": 4.0}, config__time__end=40.0)
    page = html.unescape(re.sub("<[^>]*>", "", page))
    for words in ("failed: x 3 at t = 1.25 crossing times.: the end at t = 2.5 crossing times (a "
                  "constant = 5)", "off at t = 2.5 crossing times; fastest at t = 0.625 crossing "
                  "times d.", "time reached, in crossing times2.5 of 10t = 10 of 40",
                  "0.5 apart at t = 0, where a circular orbit would take 2510 steps",
                  "(stop_when), this run ended at t = 2.5 crossing times: x >= 3."):
        assert words in page, (words, page)
    _, _, page = table_of([row], watch=told, config__physics__units="astronomical",
                          time=10.0, config__time__end=4000.0)
    assert "off at t = 0.02738 yr; fastest at t = 0.006845 yr." in page, page


def test_what_was_not_measured():
    """a criterion without a row fails, and says what it lacked, with both times in one unit"""
    wanted = {"quantity": "core", "at_most": 0.18, "after": 200.0}
    finding = {"name": "core", "bound": 0.18, "severity": "failure",
               "sentence": "core <= 0.18 after t = 200"}
    changes = {"verdict": "failed", "time": 52.0, "config__time__end": 450.0,
               "time_scales": {"crossing": 2.0, "half_mass_relaxation": 10.0}}
    _, rows, _ = table_of([finding], [{"rows": 0}], [wanted], **changes)
    row = rows["core <= 0.18 after t = 200 (20 half-mass relaxation times)"]
    assert row[:3] == [
        "bad", "failed, it could not be judged: the run ended at t = 5.2 half-mass relaxation "
        "times, the expectation begins at t = 20 half-mass relaxation times", "not measured"], row
    wanted |= {"after": 20.5, "before": 20.75}
    _, rows, _ = table_of([finding], [{"rows": 0}], [wanted], **changes)
    (row,) = rows.values()
    assert row[1] == "failed, it could not be judged: no row of the diagnostic lies between its " \
        "times", row
    assert list(rows)[0].endswith("(2.05 half-mass relaxation times to 2.075 half-mass relaxation "
                                  "times)"), rows
    # One that has rows was judged; a number that is none is another fault.
    _, rows, _ = table_of([finding], [{"rows": 3}], [wanted], **changes)
    (row,) = rows.values()
    assert row[1:3] == ["failed", "undefined"], row


def test_numbers_of_the_end():
    """runs that were killed or stopped have no error at the end, in figures nor in the table"""
    need_gnuplot()
    for verdict, step in (("running", 0.001), ("held", 0.002), ("stopped", 0.004)):
        make_run(f"{verdict}.run", verdict=verdict, step=step, steps=1300, worst=step**2)
    report("running.run", "held.run", "stopped.run")
    points = blocks("report/plots/energy_error-against-step.dat")[0]
    assert sorted(points[:, 0]) == [0.002], points
    rows = dict(re.findall(r"<tr><td>(\w+).run</td>(.*?)</tr>", read("report/report.html"), re.S))
    assert '>1.5 s</td>' in rows["held"] and "1.5" not in rows["running"], rows
    assert '>4e-06</td>' in rows["held"] and "1e-06" not in rows["running"], rows
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
        outcome = findings_of(page)["energy error"][:2]
        assert outcome == (["quiet", "not judged"] if broke_off else ["good", "held"]), page
        assert broke_off == ("<dt>largest energy error" not in page.split("<h2>")[0]), page
        why = "No figures over time: the run broke off at step 1, before its tables had two rows"
        assert broke_off == (why in page), page
        for word in ('class="good"', "their sum stayed within"):
            assert broke_off == (word not in page), (word, page)
    assert figures_of(page) != figures
    # A curve of a single point is drawn as one.
    assert "with @points" in read("made.run/plots/energy-error.gp")


def test_a_run_that_broke_off_or_stopped_may_have_no_frame():
    """an empty trajectory keeps no page back; a whole run has frames"""
    need_gnuplot()
    make_run("good.run")
    for verdict, status in (("error", 0), ("stopped", 0), ("held", 65)):
        make_run(verdict, verdict=verdict)
        open(f"{verdict}/trajectory.xyz", "w").close()
        for runs in ([verdict], ["good.run", verdict]):
            result = report(*runs, status=status)
            assert status == 0 or "held/trajectory.xyz: no frame" in result.stderr, result


def test_a_run_that_broke_off_says_how_it_goes_on():
    """how far it came, and what to do where the error lay outside of the run; a numerical failure
    would come again"""
    make_run("made.run", steps=1300)
    for status, error, mend in (
            (74, "it is full", "Once that is mended, "), (71, "", "Once that is mended, "),
            (69, "", "Once that is mended, "), (70, os.strerror(errno.ENOSPC), ""),
            (78, "", ""), (74, os.strerror(errno.ENOSPC), "Make room: free space on the disk, or "
                                                         "begin it anew on another one (-o DIR), "),
            (74, os.strerror(errno.EDQUOT), "Make room: free space within your quota, or"),
            (74, os.strerror(errno.EFBIG), "Make room: raise the limit on the size of files")):
        change_run("made.run", verdict="error", exit_status=status, errors=[f"made.run/x: {error}"],
                   steps=5200, config__time__end=5.2, time_scales={"crossing": 2.0})
        tap.run("report", "made.run", env={**os.environ, "PATH": "/nonexistent"})
        page = html.unescape(re.sub("<[^>]*>", "", read("made.run/report.html")))
        assert f"exit status {status}: made.run/x: {error}\nIt broke off at step 1300 of 5200, " \
            f"t = 0.65 of 2.6 crossing times." + (f" {mend}" if mend else "\n") in page, page
        way = "orrery run made.run/run.cfg -o made.run --restart continues it from its last " \
            "checkpoint."
        assert bool(mend) == (way in page), (status, page)
    # No word of the command is broken, and none is lost.
    assert "<span>--restart</span>" in read("made.run/report.html")
    os.rename("made.run", "two  blanks")
    tap.run("report", "two  blanks", env={**os.environ, "PATH": "/nonexistent"})
    page = html.unescape(re.sub("<[^>]*>", "", read("two  blanks/report.html")))
    assert "orrery run 'two  blanks/run.cfg' -o 'two  blanks' --restart continues" in page, page


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
        rows = findings_of(page)
        assert rows["energy_error <= 0.001"][:2] == ["quiet", words], rows
        assert f"energy_error <= 0.001: {words}" in " ".join(result.stdout.split()), result.stdout
        assert rows["kinetic >= 0 after t = 3"][:2] == ["quiet", "not judged"], rows
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


def test_what_ended_a_run():
    """a run that stop_when has ended does not look like one that came to its time.end"""
    pathlib.Path("made.cfg").write_text(
        MANY + 'stop_when = ( { quantity = "kinetic"; at_least = 0.1; after = 0.5; } );')
    assert tap.run("run", "made.cfg", "-q", "-o", "made.run", "--force").returncode == 0
    tap.run("report", "made.run")
    words = "kinetic >= 0.1 after t = 0.5"
    assert f"(stop_when), this run ended at t = 0.5: {html.escape(words)}." in \
        read("made.run/report.html")
    assert f"stop_when {words}" in " ".join(tap.run("watch", "made.run").stdout.split())


BARE = """
name = "bare"; bodies = { initial = "plummer"; count = 32; };
physics = { softening = 0.1; };
time = { step = 0.0078125; end = 8.0; };
"""


def test_why_there_is_no_figure():
    """a run without diagnostics says what to add, and that gives figures"""
    need_gnuplot()
    pathlib.Path("a <b>.cfg").write_text(BARE)
    tap.run("run", "a <b>.cfg", "-q", "-o", "bare", "-P", "bodies.seed=5", "-P", 'name="it\'s"')
    report("bare")
    page = read("bare/report.html")
    added = re.findall(r"<code>((?:diagnostics|outputs) = .*?)</code>", page)
    assert len(added) == 2 and "every = 5;" in added[0], page  # 1024 steps, 200 rows
    words = html.unescape(re.search(r"Asked for by <code>(.*?)</code>", page)[1])
    assert shlex.split(words) == ["orrery", "run", "a <b>.cfg", "-P", "bodies.seed=5", "-P",
                                  'name="it\'s"'], words
    pathlib.Path("more.cfg").write_text(BARE + html.unescape("\n".join(added)))
    tap.run("run", "more.cfg", "-q", "-o", "more")
    report("more")
    page = read("more/report.html")
    assert "No figures over time" not in page and "energy-error" in figures_of(page)
    assert "Asked for by <code>orrery run more.cfg</code>." in page
    # Bodies without measurements: what is missing is told, what is there is not asked for.
    tap.run("run", "more.cfg", "-q", "--force", "-o", "more", "-P", "diagnostics=()")
    report("more")
    page = read("more/report.html")
    assert "the config has no diagnostics" in page and "The bodies themselves" not in page, page
    # Two rows that are not there yet, and a run that is whole with too few of them.
    tap.run("run", "more.cfg", "-q", "--force", "-o", "more", "-P", "diagnostics.0.every=1024")
    report("more")
    assert "No figures over time" not in read("more/report.html")  # the start and the end
    rows = read("more/conservation.csv").splitlines(keepends=True)
    pathlib.Path("more/conservation.csv").write_text("".join(rows[:2]))
    for verdict, words in (("held", "fewer than two rows"), ("stopped", "not have two rows yet")):
        change_run("more", verdict=verdict)
        report("more")
        assert words in read("more/report.html"), verdict


def test_the_command_of_a_member():
    """the command line of a study, without the values of its sweep; of a restart its own"""
    pathlib.Path("bare.cfg").write_text(BARE + 'sweep = ( { key = "bodies.seed"; values = [1, 2]; '
                                        "} );")
    tap.run("run", "bare.cfg", "-q", "-o", "study", "-P", "time.end=1.0")
    asked = [json.loads(read(f"study/00{member}/run.json"))["asked"] for member in (1, 2)]
    assert asked == 2 * [{"file": "bare.cfg", "changes": ["time.end=1.0"]}], asked
    pathlib.Path("one.cfg").write_text(BARE)
    tap.run("run", "one.cfg", "-q", "-o", "one", "-P", "time.end=1.0")
    tap.run("run", "one.cfg", "-q", "-o", "one", "--restart")
    assert json.loads(read("one/run.json"))["asked"] == {"file": "one.cfg", "changes": []}


tap.main()
