"""The accuracy watch and stop_when: what they make of a run."""

import csv
import html
import json
import pathlib

import tap

# Burrau's problem at a fixed step: very close encounters. Nothing is expected of it here.
PYTHAGOREAN = """
name = "burrau";
bodies = { initial = "pythagorean"; };
time = { integrator = "velocity-verlet"; step = 0.001; end = 10.0; };
"""

# An eccentric orbit from its pericentre: r grows from 0.4 to 1.6 in half a period, pi / sqrt(2).
PAIR = """
name = "pair";
bodies = { initial = "two-body"; semi_major_axis = 1.0; eccentricity = 0.6; };
time = { integrator = "velocity-verlet"; step = 0.001; end = 6.0; };
diagnostics = ( { type = "orbit"; every = 10; }, { type = "conservation"; every = 70; } );
outputs = ( { type = "xyz"; every = 400; } );
"""


def write(text):
    pathlib.Path("run.cfg").write_text(text)
    return "run.cfg"


def about(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def table(directory, name):
    with open(pathlib.Path(directory, name), newline="") as file:
        return list(csv.reader(file))


def columns_of(directory, name):
    """Without their units."""
    return [column.split(" ")[0] for column in table(directory, f"{name}.csv")[0]]


def test_a_fixed_step_fails_the_pythagorean_problem():
    """the Pythagorean problem at a fixed step fails whatever the step, and names a pair"""
    errors = []
    for step in (1e-2, 1e-3, 1e-4):
        result = tap.run("run", write(PYTHAGOREAN), "--force", "-P", f"time.step={step}", "-P",
                         "time.end=20")
        assert result.returncode == 1, (step, result.returncode)
        assert "the energy jumped" in result.stderr + result.stdout
        assert "verdict        failed" in result.stdout
        run = about("burrau.run")
        assert run["verdict"] == "failed" and run["watch"]["holds"] is False
        assert run["watch"]["energy_jumps"] >= 1 and run["watch"]["largest_jump"] > 0.1
        pair = run["watch"]["first_jump_pair"]
        assert {pair["id_1"], pair["id_2"]} < {1, 2, 3}
        errors.append(run["watch"]["energy_error"]["largest"])
        said = f"{errors[-1]:.3g} {'times' if errors[-1] >= 1 else 'of'} max(|E0|, |U0|)"
        assert f"is off by {said}" in run["watch"]["text"], run["watch"]
    assert max(errors) > 1, errors
    assert "the energy jumped" in pathlib.Path("burrau.run", "run.log").read_text()


def test_on_jump_decides():
    """on_jump = warn lets the run pass, stop ends it as a numerical failure"""
    result = tap.run("run", write(PYTHAGOREAN), "-P", "watch.on_jump=warn")
    assert result.returncode == 0, result.stderr
    assert about("burrau.run")["watch"]["holds"] is True
    result = tap.run("run", "run.cfg", "--force", "-P", "watch.on_jump=stop")
    assert result.returncode == 70
    assert "the energy is off by" in result.stderr and "fastest pair: bodies" in result.stderr
    run = about("burrau.run")
    assert run["verdict"] == "error" and run["step"] < run["steps"]


def test_a_good_run_hears_nothing():
    result = tap.run("run", write(PAIR))
    assert result.returncode == 0, result.stderr
    watched = [line for line in result.stdout.splitlines() if "watch" in line]
    assert len(watched) == 1 and watched[0].startswith("  judged "), watched
    assert "WARNING" not in result.stdout + result.stderr
    run = about("pair.run")
    assert run["watch"]["energy_jumps"] == 0 and run["ended_by"] == ""


def test_a_run_shorter_than_the_first_check():
    """the last step is measured, also before the first check of a run is due"""
    write("""name = "short";
bodies = { initial = "plummer"; count = 100; seed = 1; };
physics = { softening = 0.05; };
time = { integrator = "velocity-verlet"; step = 0.02; end = 0.14; };
diagnostics = ( { type = "conservation"; every = 1; } );
""")
    result = tap.run("run", "run.cfg")
    assert result.returncode == 0, result.stderr
    run = about("short.run")
    assert run["watch"]["energy_error"]["largest"] > 0, run["watch"]["energy_error"]


def test_a_step_too_large_is_said_once():
    """tau at the pericentre is sqrt(0.4^3 / 2) = 0.18: a step of 0.1 is too large, 0.05 is not"""
    result = tap.run("run", write(PAIR), "-P", "time.step=0.1", "-P", "diagnostics.1.every=1",
                     "-P", "watch.on_jump=warn")
    # When it is seen, and in the summary.
    assert (result.stdout + result.stderr).count("the step is too large for bodies 1 and 2") == 2
    result = tap.run("run", "run.cfg", "--force", "-P", "time.step=0.05", "-P",
                     "diagnostics.1.every=1", "-P", "watch.on_jump=warn")
    assert "the step is too large" not in result.stdout + result.stderr


def test_an_energy_that_is_not_judged_is_not_praised():
    """no limit, no energy, no system that counts: summary, run.json and report say so alike"""
    limits = "watch.energy_error=0", "watch.energy_drift=0", "watch.energy_jump=0"
    pathlib.Path("one.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,0.5,0,0\n")
    one = ('name = "pair"; bodies = { initial = "file"; file = "one.csv"; };\n'
           'time = { step = 0.01; end = 1.0; };')
    # Two pairs at 60 steps per period are off by far more than 1e-9.
    several = PAIR.replace("0.001", "0.01").replace(
        'diagnostics = ( { type = "orbit"; every = 10; },', 'diagnostics = (') + \
        "ensemble = { systems = 2; energy_error_limit = 1e-9; };"
    for text, options, reason in (
            (PAIR, limits, "watch.energy_error, energy_drift and energy_jump are 0"),
            (one, (), "the energies at the start are 0"),
            (several, (), "every system is left out (ensemble.energy_error_limit)")):
        words = [word for option in options for word in ("-P", option)]
        result = tap.run("run", write(text), "--force", "-o", "pair.run", *words)
        run, said = about("pair.run"), " ".join(result.stdout.split())
        judged = f"energy not judged ({reason}); "
        assert run["judged"].startswith(judged) and judged in said, (run["judged"], said)
        assert run["watch"]["energy_unjudged"] == reason, run["watch"]
        rows = [(row["severity"], row["value"]) for row in run["findings"]
                if row["name"].startswith("energy")]
        assert text != one or rows == 3 * [("open", None)], rows
        assert tap.run("report", "pair.run").returncode == 0
        page = html.unescape(pathlib.Path("pair.run", "report.html").read_text())
        assert f"Judged: {judged}" in page and "Its limits hold" not in page, page


CIRCLE = """
name = "circle";
bodies = { initial = "two-body"; };
time = { integrator = "euler"; step = 0.001; end = 20.0; };
diagnostics = ( { type = "conservation"; every = 1; } );
"""


def test_what_accumulates_fails_at_any_cadence():
    """a circular orbit by explicit Euler fails however often it is measured, and says by how much;
    the same orbit by a symplectic method passes, and the config can let the first pass"""
    seen = []
    for every in (1, 10, 100, 1000):
        result = tap.run("run", write(CIRCLE), "--force", "-P", f"diagnostics.0.every={every}",
                         "-P", f"watch.every={every}")
        assert result.returncode == 1, (every, result.stdout)
        assert "FAILED" in result.stdout and "the energy is off by" in result.stdout
        watch = about("circle.run")["watch"]
        assert watch["limits"] == {"energy_error": 0.005, "energy_drift": 1e-11,
                                   "energy_jump": 0.1, "orbit_error": 0.05, "noise": 1e-11}
        assert watch["energy_error"]["systems_beyond"] == 1
        assert watch["energy_drift"]["method_drifts"] is True
        seen.append((watch["energy_error"]["largest"], watch["energy_error"]["time"],
                     watch["energy_drift"]["change"]))
    assert seen == 4 * seen[:1]
    # At the end as the column has it: one measure.
    columns = columns_of("circle.run", "conservation")
    error = float(table("circle.run", "conservation.csv")[-1][columns.index("energy_error")])
    assert abs(seen[0][0] / error - 1) < 1e-15, (seen, error)
    assert tap.run("run", "run.cfg", "--force", "-P", "time.integrator=velocity-verlet"
                   ).returncode == 0
    for allowed in (("watch.on_jump=warn",), ("watch.energy_error=0.2", "watch.energy_drift=0.2"),
                    ("watch.energy_error=0", "watch.energy_drift=0")):
        words = [word for one in allowed for word in ("-P", one)]
        result = tap.run("run", "run.cfg", "--force", *words)
        assert result.returncode == 0, (allowed, result.stdout)


def test_a_drift_is_not_called_a_jump():
    """explicit Euler with a long step fails, and neither run nor summary says that it jumped"""
    cluster = ("bodies.initial=plummer", "bodies.count=200", "bodies.seed=3",
               "physics.softening=0.05", "time.step=0.05", "time.end=40")
    for overrides in (("time.step=0.1",), ("time.step=0.4",), cluster):
        words = [word for one in overrides for word in ("-P", one)]
        result = tap.run("run", write(CIRCLE), "--force", *words)
        assert result.returncode == 1, result.stdout
        assert "the energy changed by +" in result.stderr, result.stderr
        assert "jump" not in result.stderr + result.stdout, result.stdout
        watch = about("circle.run")["watch"]
        assert watch["energy_jumps"] >= 2 and watch["sudden_energy_jumps"] == 0, watch
        assert "changes of the energy by more than 0.1 of max(|E0|, |U0|) within 1000 steps, none" \
            in watch["text"], watch


def test_one_system_of_many():
    """one member of an ensemble that is off fails the run, and is named"""
    text = """
    name = "many"; ensemble = { systems = 6; };
    bodies = { initial = "plummer"; count = 20; seed = 3; };
    physics = { softening = 0.02; };
    time = { integrator = "velocity-verlet"; step = 0.008; end = 6.0; };
    diagnostics = ( { type = "conservation"; every = 1; } );
    """
    assert tap.run("run", write(text)).returncode == 1
    watch = about("many.run")["watch"]
    assert 0 < watch["energy_error"]["systems_beyond"] < 6
    columns = columns_of("many.run", "conservation")
    worst = {}
    for row in table("many.run", "conservation.csv")[1:]:
        values = {name: float(cell) for name, cell in zip(columns, row) if cell}
        system = int(values["system"])
        first = worst.setdefault(system, [values["energy"], abs(values["potential"]), 0.0])
        first[2] = max(first[2], abs(values["energy"] - first[0]) / first[1])
    # At its own steps the watch cannot see more than at every step.
    largest = max(worst.values(), key=lambda one: one[2])[2]
    assert 0.3 * largest < watch["energy_error"]["largest"] <= largest * (1 + 1e-12)
    system = watch["energy_error"]["system"]
    result = tap.run("run", "run.cfg", "--force", "-P", "ensemble.energy_error_limit=0.01")
    assert result.returncode == 0 and worst[system][2] > 0.005, result.stdout
    # Where all are left out, nothing is known to be right.
    result = tap.run("run", "run.cfg", "--force", "-P", "ensemble.energy_error_limit=0.001")
    assert result.returncode == 1, result.stdout
    assert not about("many.run")["watch"]["holds"]


def test_the_system_that_counts_is_named():
    """where the worst one is left out of the means, another that fails the run is told of"""
    text = """
    name = "two"; ensemble = { systems = 6; energy_error_limit = %g; };
    bodies = { initial = "plummer"; count = 20; seed = 3; };
    physics = { softening = 0.02; };
    time = { integrator = "velocity-verlet"; step = 0.008; end = 6.0; };
    """
    assert tap.run("run", write(text % 1e9), "-q").returncode == 1
    whole = about("two.run")["watch"]
    worst = whole["energy_error"]["system"]
    assert f"system {worst} is off" in whole["text"], whole
    # The worst is off by 0.0186, others that are beyond the limit by less.
    result = tap.run("run", write(text % 0.015), "-q", "--force")
    watch = about("two.run")["watch"]
    assert watch["holds"] == (result.returncode == 0) == False, watch  # noqa: E712
    assert f"system {worst} is off" not in watch["text"] and "is off by" in watch["text"], watch


def test_warnings_are_shown_to_those_who_want_it_quiet():
    """and are few, however many systems are off"""
    text = """
    name = "many"; ensemble = { systems = 40; };
    bodies = { initial = "plummer"; count = 8; seed = 3; };
    time = { integrator = "euler"; step = 0.05; end = 4.0; };
    watch = { on_jump = "warn"; };
    """
    result = tap.run("run", write(text), "-q")
    watch = about("many.run")["watch"]
    assert watch["energy_error"]["systems_beyond"] > 20, watch
    lines = [line for line in result.stderr.splitlines() if "max(|E0|" in line]
    assert result.returncode == 0 and 3 <= len(lines) <= 12, result.stderr


def test_a_restart_judges_alike():
    """stopped anywhere and continued, run.json says of the watch what the whole run says"""
    assert tap.run("run", write(CIRCLE), "-o", "whole", "-q").returncode == 1
    for end in ("0.777", "13.377"):
        tap.run("run", "run.cfg", "-o", "parts", "-q", "--force", "-P", f"time.end={end}")
        result = tap.run("run", "run.cfg", "-o", "parts", "-q", "--restart")
        assert result.returncode == 1, result.stderr
        assert about("whole")["watch"] == about("parts")["watch"]


STOP = ' stop_when = ( { quantity = "separation"; at_least = 1.5; } );'


def test_stop_when_ends_the_run():
    """the first row within the bounds is the last step, and all that belongs to that happens"""
    result = tap.run("run", write(PAIR + STOP))
    assert result.returncode == 0, result.stderr
    run = about("pair.run")
    orbit = table("pair.run", "orbit.csv")
    column = [name.split(" ")[0] for name in orbit[0]].index("separation")
    distances = [float(row[column]) for row in orbit[1:]]
    assert distances[-1] >= 1.5 and all(r < 1.5 for r in distances[:-1])
    # Kepler's equation at r = 1.5: cos E = -5/6, t sqrt(2) = E - 0.6 sin E; rows are 0.01
    # apart.
    assert abs(run["time"] - 1.5728) < 0.011, run["time"]
    assert run["state"] == "ended" and run["step"] == run["steps"]
    assert run["ended_by"] == "separation >= 1.5"
    last = int(orbit[-1][0])
    assert last == run["step"] and last % 70 and last % 400
    # A row of conservation and a frame of that step as well.
    assert int(table("pair.run", "conservation.csv")[-1][0]) == last
    frames = [line for line in pathlib.Path("pair.run", "trajectory.xyz").read_text().split("\n")
              if "Step=" in line]
    assert frames[-1].endswith(f"Step={last}")
    assert "stop_when      separation >= 1.5" in result.stdout


def test_stop_when_leaves_the_verdict_to_expect():
    expect = ' expect = ( { quantity = "eccentricity_error"; at_most = -1.0; } );'
    assert tap.run("run", write(PAIR + STOP + expect)).returncode == 1


def test_a_restart_ends_where_the_run_does():
    """stopped on the way and continued, the files are those of the uninterrupted run"""
    assert tap.run("run", write(PAIR + STOP), "-o", "whole", "-q").returncode == 0
    assert tap.run("run", "run.cfg", "-o", "parts", "-q", "-P", "time.end=1.4").returncode == 0
    result = tap.run("run", "run.cfg", "-o", "parts", "-q", "--restart")
    assert result.returncode == 0, result.stderr
    whole, parts = (table(name, "orbit.csv") for name in ("whole", "parts"))
    assert whole == parts


def test_bad_conditions_are_refused():
    result = tap.run("run", write(PAIR), "-P", 'watch.on_jump="panic"')
    assert result.returncode == 78 and "warn, fail, stop" in result.stderr, result.stderr
    result = tap.run("run", write(PAIR + STOP.replace("separation", "seperation")))
    assert result.returncode == 78 and "separation" in result.stderr, result.stderr
    assert not pathlib.Path("pair.run").exists()


tap.main()
