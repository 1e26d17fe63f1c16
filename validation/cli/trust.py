"""Trust until t: the shadows of a run, what they say, and that they leave no trace in the run."""

import csv
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import numpy

import tap
from rows import columns, frames

# Forty bodies that lose their orbits within a few crossing times: with a long step, at t = 3 or so.
CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 40; seed = 5; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 6.0; };
diagnostics = ( { type = "conservation"; every = 30; } );
outputs = ( { type = "xyz"; every = 10; } );
checkpoint = { every_steps = 70; };
trust = { shadow = true; };
"""

# Eccentricity 0.3, 500 steps a revolution.
PAIR = """
name = "pair";
bodies = { initial = "two-body"; semi_major_axis = 1.0; eccentricity = 0.3; };
time = { step = 0.0125; end = 200.0; };
trust = { shadow = true; };
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def go(text, directory, *overrides, status=0):
    options = [word for override in overrides for word in ("-P", override)]
    result = tap.run("run", write(text), "-o", directory, *options)
    assert result.returncode == status, (overrides, result.returncode, result.stderr)
    return result


def about(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def horizon(directory, name, system=None):
    """The first value of a column, or infinity."""
    table = columns(f"{directory}/trust.csv")
    values = table[name] if system is None else table[name][table["system"] == system]
    known = values[numpy.isfinite(values)]
    return known[0] if len(known) else numpy.inf


def same(one, other, names):
    for name in names:
        left, right = (pathlib.Path(directory, name).read_bytes() for directory in (one, other))
        assert left == right, (one, other, name)


def test_the_run_has_the_same_bits_with_shadows_and_without():
    """a run has the same bits with shadows and without: every way to sum"""
    for name, overrides in (
            ("alone", []), ("serial", ["compute.backend=serial"]),
            ("single", ["compute.precision=single"]),
            ("periodic", ["physics.boundary=periodic", "physics.box_length=3.0"]),
            ("batch", ["bodies.count=12", "ensemble.systems=17"]),
            ("small", ["bodies.count=3", "ensemble.systems=5", "watch.on_jump=warn"]),
            ("symmetric", ["bodies.count=300", "time.end=0.3", "compute.threads=2"])):
        go(CLUSTER, f"{name}-with", *overrides, "time.end=1.5" if name != "symmetric" else "name=x")
        go(CLUSTER, f"{name}-without", *overrides, "trust.shadow=false",
           "time.end=1.5" if name != "symmetric" else "name=x")
        same(f"{name}-with", f"{name}-without", ("conservation.csv", "trajectory.xyz"))
        assert pathlib.Path(f"{name}-with/trust.csv").exists()
        assert not pathlib.Path(f"{name}-without/trust.csv").exists()


def truth(directory, status=0):
    """When the run in `directory` has left one by sixth order with a quarter of the step."""
    run = about(directory)
    config, systems = run["config"], run["systems"]
    finer = [f"time.step={config['time']['step'] / 4}", "time.integrator=yoshida6",
             f"outputs.0.every={4 * config['outputs'][0]['every']}", "trust.shadow=false"]
    tap.run("run", f"{directory}/run.cfg", "-q", "-o", f"{directory}-finer",
            *(word for override in finer for word in ("-P", override)))
    times, x, _ = frames(f"{directory}/trajectory.xyz")
    _, y, _ = frames(f"{directory}-finer/trajectory.xyz")
    x, y = (z.reshape(len(times), systems, -1, 3) for z in (x, y))
    size = numpy.sqrt(((x[0] - x[0].mean(1, keepdims=True)) ** 2).sum(2).mean(1))
    away = numpy.sqrt(((x - y) ** 2).sum(3).mean(2)) / size
    return [times[numpy.argmax(away[:, s] >= 0.01)] if away[:, s].max() >= 0.01 else numpy.inf
            for s in range(systems)]


def test_a_finer_run_leaves_where_it_says():
    """a much finer run leaves the orbits within a factor 1.5 of the horizon, in 4 of 5 seeds"""
    go(CLUSTER, "one", "ensemble.systems=5", "bodies.seed=11")
    ratios = [horizon("one", "accurate_until", s + 1) / t for s, t in enumerate(truth("one"))]
    assert sum(1 / 1.5 < ratio < 1.5 for ratio in ratios) >= 4, ratios
    assert max(ratios) < numpy.inf and min(ratios) > 0


def test_another_machine_leaves_where_it_says():
    """another kernel leaves the orbits within a factor 1.5 of the other horizon, in single too"""
    for precision, end in (("double", 40), ("single", 20)):
        go(CLUSTER, precision, f"compute.precision={precision}", f"time.end={end}",
           "trust.half_step=false")
        go(CLUSTER, f"{precision}-2", f"compute.precision={precision}", f"time.end={end}",
           "trust.shadow=false", "compute.kernel=" + (
               "reference" if precision == "double" else "symmetric"))
        times, x, _ = frames(f"{precision}/trajectory.xyz")
        _, y, _ = frames(f"{precision}-2/trajectory.xyz")
        size = about(precision)["trust"]["size"]
        away = numpy.sqrt(((x - y) ** 2).sum(2).mean(1)) / size
        assert away[-1] > 0.01
        ratio = horizon(precision, "reproducible_until") / times[numpy.argmax(away >= 0.01)]
        assert 1 / 1.5 < ratio < 1.5, (precision, ratio)
        assert about(precision)["trust"]["accurate_until"] is None
        assert "accuracy not measured" in about(precision)["trust"]["text"]
        # The twin is brought back from 1 % to the rounding errors, at a place of the run's orbits
        # where it stays for a while: between rows, of 0.1, they grow by half at most.
        table = columns(f"{precision}/trust.csv")
        known = table["rounding"][table["time"] > 2]
        known = known[numpy.isfinite(known)]
        assert precision == "single" or numpy.isnan(table["divergence"][-1])
        assert (known[1:] / known[:-1]).max() < (2 if precision == "double" else 20), precision


def test_a_kepler_orbit_grows_linearly():
    """a regular orbit grows linearly: no e-folding time, and reproducible beyond its end"""
    result = go(PAIR, "out")
    table, said = columns("out/trust.csv"), about("out")["trust"]
    late = table["time"] > 50
    times, away = (numpy.log(table[name][late]) for name in ("time", "divergence"))
    power = numpy.polyfit(times, away, 1)[0]
    assert abs(power - 1) < 0.2, power  # it wavers along the orbit
    assert numpy.isnan(table["e_folding_time"]).all()
    assert said["growth"] in ("unknown", "power") and said["e_folding_time"] is None
    assert said["reproducible_until"] is None
    assert "reproducible beyond the last comparison (t > 200)" in said["text"]
    # The phase of velocity Verlet drifts linearly and by the square of the step: with half of it,
    # it takes four times as long to 1 % of the size.
    assert 6 < said["accurate_until"] < 40
    assert " ".join(said["text"].split()) in " ".join(result.stdout.split())
    go(PAIR, "finer", "time.step=0.00625")
    ratio = about("finer")["trust"]["accurate_until"] / said["accurate_until"]
    assert abs(ratio - 4) < 1, ratio


def test_two_seeds_agree():
    """twins displaced in other directions find the same e-folding time, within the errors"""
    found = []
    for seed in (1, 2):
        go(CLUSTER, f"seed{seed}", f"trust.seed={seed}", "time.end=25", "trust.half_step=false",
           "outputs=()")
        said = about(f"seed{seed}")["trust"]
        assert said["growth"] == "exponential"
        found.append((said["e_folding_time"], said["e_folding_time_error"]))
        for name in ("e_folding_time", "e_folding_time_error"):
            values = columns(f"seed{seed}/trust.csv")[name]
            assert values[numpy.isfinite(values)][-1] == said[name], (name, said)
    (a, da), (b, db) = found
    assert a != b and abs(a - b) < 2 * numpy.hypot(da, db), found
    # In N-body units the crossing time is 2 sqrt(2) (Goodman, Heggie & Hut 1993: of its order).
    assert 0.2 < a / numpy.sqrt(8) < 2, a


def continued(text, *overrides):
    """The files of a run that was killed twice at random and continued, and of one that was not."""
    go(text, "whole", *overrides)
    options = [word for override in overrides for word in ("-P", override)]
    generator = random.Random(7)
    kills = 0
    for attempt in range(30):
        process = subprocess.Popen([tap.ORRERY, "run", "run.cfg", "-q", "-o", "killed", *options]
                                   + (["--restart"] if attempt else []),
                                   stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20 * tap.PATIENCE
        while (not pathlib.Path("killed/checkpoint.orr").exists() and process.poll() is None
               and time.monotonic() < deadline):
            time.sleep(0.001)
        time.sleep(0.01 * generator.random())
        if kills < 3 and process.poll() is None:
            process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        kills += 1
    assert process.returncode == 0
    return kills


def test_a_body_far_away_hides_no_error():
    """a light body far away hardly changes the size of a cluster, or until when it is accurate"""
    draw = numpy.random.default_rng(11)
    rows = numpy.column_stack([numpy.full(40, 1 / 40), draw.normal(size=(40, 3)),
                               0.4 * draw.normal(size=(40, 3))])
    told = []
    for name, extra in (("near", rows[:0]), ("far", [[1e-6, 1e4, 0, 0, 0, 0, 0]])):
        numpy.savetxt(f"{name}.txt", numpy.concatenate([rows, extra]), fmt="%.17g")
        go(f'bodies = {{ initial = "file"; file = "{name}.txt"; }}; trust = {{ shadow = true; }};'
           "physics = { softening = 0.02; }; time = { step = 0.05; end = 6.0; };"
           "watch = { energy_error = 1.0; };", name)
        told.append(about(name)["trust"])
    near, far = told
    assert 1.5 < near["size"] < 2 and near["accurate_until"] < 6, near  # sqrt(3) of the normals
    assert near["size"] < far["size"] < 1.6 * near["size"], told
    assert far["accurate_until"] < 2 * near["accurate_until"], told


def test_restarts_after_kills_have_the_same_bytes():
    """killed and continued, a run has the bytes of one that was not; so has its trust.csv"""
    text = CLUSTER.replace("end = 6.0", "end = 40.0").replace("every = 10;", "every = 100;")
    continued(text)
    same("whole", "killed", ("trust.csv", "conservation.csv", "trajectory.xyz"))
    assert about("whole")["trust"] == about("killed")["trust"]
    assert about("whole")["trust"]["reproducible_until"] is not None


def test_a_run_that_goes_further_has_the_same_bytes():
    """stopped at a step off its cadence, or on it, and continued further: the same bytes"""
    go(CLUSTER, "whole", "ensemble.systems=3", "time.end=30")
    for end in (3.0, 3.07, 16.0, 16.01, 23.0):
        directory = f"part{end}"
        go(CLUSTER, directory, "ensemble.systems=3", f"time.end={end}")
        result = tap.run("run", "run.cfg", "-q", "-o", directory, "--restart", "-P",
                         "ensemble.systems=3", "-P", "time.end=30")
        assert result.returncode == 0, result.stderr
        same("whole", directory, ("trust.csv", "conservation.csv", "trajectory.xyz"))
        assert about("whole")["trust"] == about(directory)["trust"], end


def carried_until(table, column, system):
    """The last time at which a shadow of a system was measured."""
    own = table["system"] == system
    return table["time"][own][numpy.isfinite(table[column][own])][-1]


def test_shadows_are_carried_until_they_have_told_all():
    """a system's shadows end at its own horizons, and run.json has what they have cost"""
    systems, end = 6, 30.0
    go(CLUSTER, "out", f"ensemble.systems={systems}", f"time.end={end}", "outputs=()")
    table, cost = columns("out/trust.csv"), 0.0
    for column, name, steps in (("truncation", "accurate_until", 2),
                                ("rounding", "reproducible_until", 1)):
        for s in range(1, systems + 1):
            last = carried_until(table, column, s)
            until = min(horizon("out", name, s), end)
            assert until <= last < until + 0.1 + 1e-9, (column, s, last, until)
            cost += steps * last / (systems * end)
    said = about("out")["trust"]["cost"]
    assert abs(said - cost) < 1e-9, (said, cost)
    # The last one to be let go has moved up to the first place by then, and is what it is alone.
    late = max(range(systems), key=lambda s: horizon("out", "accurate_until", s + 1))
    go(CLUSTER, "alone", f"time.end={end}", "outputs=()", f"bodies.seed={5 + late}",
       f"trust.seed={1 + late}")
    assert horizon("alone", "accurate_until") == horizon("out", "accurate_until", late + 1), late
    # Errors of forces are measured on a sample of all systems.
    ratio = horizon("alone", "reproducible_until") / horizon("out", "reproducible_until", late + 1)
    assert abs(ratio - 1) < 0.1, ratio
    go(CLUSTER, "twin", "time.end=2.0", "trust.half_step=false")
    go(CLUSTER, "both", "time.end=2.0")
    assert about("twin")["trust"]["cost"] == 1 and about("both")["trust"]["cost"] == 3


def test_nothing_overflows():
    """long after both horizons every number is one, and the shadows are no longer carried along"""
    go(CLUSTER, "out", "time.end=60", "time.step=0.02")
    for name, values in columns("out/trust.csv").items():
        assert not numpy.isinf(values).any(), name
        assert numpy.nanmax(numpy.abs(values), initial=0) < 1e6, name
    table = columns("out/trust.csv")
    assert numpy.isnan(table["truncation"][-1]) and numpy.isnan(table["rounding"][-1])
    checkpoint = pathlib.Path("out/checkpoint.orr").read_bytes()
    assert b"twin:x" not in checkpoint and b"fine:x" not in checkpoint
    # A blow-up of the run is its own failure, not one of its shadows.
    go(PAIR, "shadowed", "bodies.eccentricity=0.999", "time.step=0.2", "watch.on_jump=warn")


def test_a_shadow_that_is_lost():
    """an infinite force on the finer run alone is an infinite error of the run"""
    # At t = 0.75, a time of the finer run only, bodies of the first system are 1e-120 apart: the
    # force overflows. Those of the second pass each other at a distance of 1.
    for name, y in (("lost.csv", 1e-120), ("kept.csv", 1.0)):
        pathlib.Path(name).write_text("id,m,x,y,z,vx,vy,vz\n1,1e-18,-0.75,0,0,1,0,0\n"
                                      f"2,1e-18,0.75,{y},0,-1,0,0\n")
    go("""bodies = { initial = "file"; files = ["lost.csv", "kept.csv"]; };
time = { step = 0.5; end = 2.0; };
trust = { shadow = true; };
""", "out")
    with open("out/trust.csv", newline="") as file:
        last = list(csv.DictReader(file))[-2:]
    assert [row["accurate_until [T]"] for row in last] == ["2", ""], last


def test_horizons_can_be_expected():
    """`expect` and `stop_when` know the horizons; a run too short to show one is refused"""
    until = go(CLUSTER, "out") and about("out")["trust"]["accurate_until"]
    for bound, status in ((until * 0.9, 0), (until * 1.1, 1)):
        expect = f'expect = ( {{ quantity = "trust.accurate_until"; at_least = {bound}; }} );'
        go(CLUSTER + expect, f"bound{status}", status=status)
        assert about(f"bound{status}")["expect"][0]["holds"] is (status == 0)
    stop = 'stop_when = ( { quantity = "accurate_until"; at_most = 1e9; } );'
    go(CLUSTER + stop, "stopped")
    assert until <= about("stopped")["time"] < until + 0.1 + 1e-9
    late = 'expect = ( { quantity = "trust.reproducible_until"; at_least = 7.0; } );'
    result = go(CLUSTER + late, "late", status=78)
    assert "run.cfg:" in result.stderr and "ends at t = 6 and cannot show" in result.stderr
    taken = CLUSTER.replace('every = 30;', 'every = 30; name = "trust";')
    assert "trust.csv is there already" in go(taken, "taken", status=78).stderr


def test_a_horizon_that_stop_when_leaves_open():
    """is not shown, whatever has held until then; and such a run is done"""
    text = CLUSTER + """
expect = ( { quantity = "trust.reproducible_until"; at_least = 0.5; } );
stop_when = ( { quantity = "energy_error"; at_least = 0.0; after = %s; } );
"""
    for after, status in ((0.25, 1), (0.55, 0)):
        result = tap.run("run", write(text % after), "--force")
        assert result.returncode == status, (after, result.stdout, result.stderr)
        assert about("cluster.run")["time"] < 1.0
        again = tap.run("run", "run.cfg", "--restart")
        assert again.returncode == status and "done already" in again.stderr, again


def test_what_it_costs_is_estimated():
    """`orrery check` counts the shadows"""
    def item(name, *overrides):
        result = tap.run("check", write(CLUSTER), *(w for o in overrides for w in ("-P", o)))
        assert result.returncode == 0, result.stderr
        line = [s for s in result.stdout.splitlines() if s.startswith(f"#   {name} ")][0]
        return float(line.split()[2])
    off, half = item("interactions", "trust.shadow=false"), item("interactions")
    twin = item("interactions", "trust.half_step=false")
    assert abs(twin / off - 2) < 0.01 and abs(half / off - 4) < 0.01
    # Two shadows: 11 arrays of doubles for the bodies of each, and as many bytes for forces as one.
    many = ("bodies.count=100000", "trust.every=1000000", "diagnostics=()", "expect=()")
    more = item("memory", *many) - item("memory", "trust.shadow=false", *many)
    assert more > 2 * 11 * 8 * 100000 / 1e6, more


def test_info_knows_the_columns():
    """`orrery info` explains the columns, which no diagnostic of the list has"""
    for name, words in (("accurate_until", "trust.accurate_until, a column of trust.csv"),
                        ("trust.rounding", "trust.csv"), ("force_precision", "energy-budget.csv")):
        result = tap.run("info", name)
        assert result.returncode == 0 and words in result.stdout, (name, result.stdout)


def test_the_report_shows_it():
    """the report says it and draws the divergence"""
    go(CLUSTER, "out")
    result = tap.run("report", "out")
    if result.returncode == 69:
        raise tap.Skip("no gnuplot")
    page = pathlib.Path("out/report.html").read_text()
    assert "<h2>Trust</h2>" in page and "accurate until t = " in page
    assert 'id="divergence"' in page and os.path.exists("out/plots/divergence.svg")
    summary = go(CLUSTER, "again").stdout
    assert "orbits         accurate until t = " in summary
    assert "statistics: the whole run" in summary.replace("\n" + 17 * " ", " ")


def test_statistics_of_a_run_that_was_stopped():
    """the summary says that they are those of the run so far"""
    result = tap.run("run", write(CLUSTER), "-P", "time.end=1e5", "--max-time", "1")
    assert result.returncode == 75, result
    assert "statistics: the run so far" in " ".join(result.stdout.split()), result.stdout


if __name__ == "__main__":
    tap.main()
