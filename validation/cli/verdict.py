"""What is said of a run that failed: what, by how much and what to do, in one sentence."""

import html
import json
import math
import pathlib
import re
import shlex
import shutil

import tap

TWO = ('bodies = {{ initial = "two-body"; masses = [1.0, 1.0]; semi_major_axis = 1.0; '
       'eccentricity = {}; }};\n')
CONSERVATION = 'diagnostics = ( { type = "conservation"; every = 1; } );\n'
BOUND = CONSERVATION + 'expect = ( { quantity = "energy_error"; at_most = %s; } );\n'
HEAD_ON = "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,1,0,0,0,0,0\n"

HOLDS = r"time\.step = {} holds \(tried\)"
SHORTER = r"the step is too long; time\.step = {}, {} times shorter, holds \(tried\)"
ESTIMATE = (r"the step is too long; time\.step = {}, {} times shorter, is an estimate "
            r"\(not tried\)")
SOFTENING = r"physics\.softening > 0 may help \(not tried\)"
# Tried for half a second, which may not do on a machine with other work.
OWN_STEPS = (r"no step of velocity-verlet was found to hold; "
             r'time\.integrator = "gauss-radau" holds \(tried\)')

# Of ten kinds and some more: the config, the exit status, what is off with its bound (None: of no
# bound), and what is to be done. The bounds are those of the configs and the watch's defaults,
# 0.005. A step that is too long is told by how much: of two bodies with e = 0.5 the period at the
# pericentre is 2 pi sqrt(0.5^3 / 2) = 1.571, into 200 steps 0.00785, to one digit 0.007: 14 times
# less than 0.1. yoshida6 wants 20 steps: 0.07, 8.6 times less than 0.6.
KINDS = {
    "explicit Euler": (
        TWO.format(0.3) + 'time = { integrator = "euler"; step = 0.01; end = 20.0; };', 1,
        "energy error", 0.005,
        r'euler does not keep the energy with any step; time\.integrator = "velocity-verlet" with '
        + HOLDS.format(r"0\.01")),
    "step too long": (
        TWO.format(0.5) + "time = { step = 0.1; end = 20.0; };", 1, "energy error", 0.005,
        SHORTER.format(r"0\.007", r"14")),
    "step too long for the sixth order": (
        TWO.format(0.5) + 'time = { integrator = "yoshida6"; step = 0.6; end = 20.0; };', 1,
        "energy error", 0.005, SHORTER.format(r"0\.07", r"8\.6")),
    "bound of the user": (
        TWO.format(0.5) + "time = { step = 0.02; end = 20.0; };\n" + BOUND % "1e-5", 1,
        "energy error", 1e-5, SHORTER.format(r"[\d.e-]+", r"[\d.]+")),
    "collision without softening": (
        'bodies = { initial = "file"; file = "fall.csv"; };\ntime = { step = 0.01; end = 2.0; };',
        1, "energy error", 0.005,
        r"two bodies meet head-on, and no step is short enough; " + SOFTENING),
    # (G (m1 + m2) tau^2)^(1/3), tau = 200 x 0.0001 / 2 pi, is 0.027, to one digit 0.03.
    "collision that little softening mends": (
        'bodies = { initial = "file"; file = "fall.csv"; };\ntime = { step = 0.0001; end = 2.0; };',
        1, "energy error", 0.005, r"two bodies meet head-on, and no step is short enough; "
        r"with this step physics\.softening = 0\.03 holds \(tried\)"),
    # Its rows, every ten steps, see the pericentre at r = 0.01 between two checks of the watch.
    "an error that only rows see": (
        'bodies = { initial = "two-body"; masses = [0.5, 0.5]; eccentricity = 0.99; '
        "true_anomaly = 180.0; };\ntime = { step = 0.01; end = 20.0; };\n" +
        BOUND.replace("= 1;", "= 10;") % "1e-4", 1,
        "energy error", 1e-4,
        rf"({OWN_STEPS}|no step of velocity-verlet was found to hold; "
        r'time\.integrator = "yoshida6" with ' + HOLDS.format(r"[\d.e-]+") + ")"),
    "Pythagorean problem": (
        'bodies = { initial = "pythagorean"; };\ntime = { step = 0.001; end = 20.0; };', 1,
        "energy error", 0.005,
        "(" + OWN_STEPS + "|" + ESTIMATE.format("7e-09", "140000") + ")"),
    "numbers that overflow": (
        TWO.format(0.5) + "physics = { gravitational_constant = 1e155; };\n"
        "time = { step = 1.0; end = 20.0; };", 70, r"the energy is not finite at step 1 \(t = 1\)",
        None, r"steps of [\d.e-]+ are wanted, too many of them; " + SOFTENING +
        # 2 pi sqrt(0.5^3 / 2e155) = 4.97e-78 for r = 0.5, and 0.67 of it by 2 pi r / v, of e = 0.5.
        r"; time\.step is 2\.5e\+77 times the shortest period, 4\.06e-78 \(bodies 1 and 2\)"),
    "ended by the watch": (
        TWO.format(0.9) + 'time = { step = 0.05; end = 20.0; };\nwatch = { on_jump = "stop"; };',
        70, "orbit error [\\d.]+ of body 1 about body 2", 0.05,
        SHORTER.format(r"0\.0007", r"71")),
    "cold collapse": (
        'bodies = { initial = "cold-sphere"; count = 64; };\nphysics = { softening = 0.02; };\n'
        "time = { step = 0.05; end = 3.0; };", 1, "energy error", 0.005,
        SHORTER.format(r"[\d.e-]+", r"\d+")),
    "cold collapse without softening": (
        'bodies = { initial = "cold-sphere"; count = 24; };\ntime = { step = 0.01; end = 3.0; };',
        1, "energy error", 0.005,
        rf"({OWN_STEPS}|steps of 1e-11 are wanted, too many of them; {SOFTENING})"),
    "momentum": (
        'bodies = { initial = "plummer"; count = 128; };\nphysics = { softening = 0.01; };\n'
        'time = { integrator = "hermite4"; step = 0.125; end = 1.0; };\n' + CONSERVATION +
        'expect = ( { quantity = "momentum_x"; between = [-1e-13, 1e-13]; } );', 1,
        r"momentum_x -?[\d.e-]+, (lower|upper) bound -?1e-13 \(beyond it by [\d.e-]+\)", None,
        r"the block steps of hermite4 do not keep it; another integrator may help \(not tried\)"),
    "another criterion": (
        'bodies = { initial = "plummer"; count = 64; };\nphysics = { softening = 0.05; };\n'
        "time = { step = 0.01; end = 2.0; };\n"
        'diagnostics = ( { type = "lagrangian-radii"; every = 10; } );\n'
        'expect = ( { quantity = "radius_50"; at_most = 0.5; } );', 1, "radius_50", 0.5,
        r"orrery run --convergence \S+/run\.cfg tells how exact that number is"),
    # 2 pi r / v with r = 0.5 and v^2 = 6 is 1.28.
    "another criterion in a part of a period": (
        TWO.format(0.5) + "time = { step = 0.001; end = 0.5; };\n" + CONSERVATION +
        'expect = ( { quantity = "kinetic"; at_most = 1.0; } );', 1, "kinetic", 1.0,
        r"time\.end is 0\.39 of the shortest period, 1\.28 \(bodies 1 and 2\)"),
    "rounding": (  # more of it than the bound allows, with any step
        'bodies = { initial = "plummer"; count = 70; };\nphysics = { softening = 0.3; };\n'
        'time = { integrator = "yoshida6"; step = 0.002; end = 3.0; };\n' + BOUND % "2.3e-16", 1,
        "energy error", 2.3e-16,
        r"the steps that were tried, down to time\.step = 0\.00(1|0\d+), fail as well; "
        r"physics\.softening > 0\.3 may help \(not tried\)"),
    "single precision": (
        'bodies = { initial = "plummer"; count = 128; };\nphysics = { softening = 0.05; };\n'
        'time = { integrator = "yoshida6"; step = 0.005; end = 1.0; };\n'
        'compute = { precision = "single"; };\n' +
        BOUND % "1e-9", 1, "energy error", 1e-9,
        r"forces in single precision are not exact enough; "
        r'compute\.precision = "double" holds \(tried\)'),
    "single precision and a step too long": (
        'bodies = { initial = "plummer"; count = 128; };\nphysics = { softening = 0.05; };\n'
        'time = { step = 0.02; end = 1.0; };\ncompute = { precision = "single"; };\n' +
        BOUND % "1e-6", 1, "energy error", 1e-6,
        r"(the step is too long; |no step of velocity-verlet was found to hold; ).*"),
    "periodic box": (
        'bodies = { initial = "uniform-cube"; count = 64; half_side = 0.5; };\n'
        'physics = { softening = 0.01; boundary = "periodic"; box_length = 1.0; };\n'
        "time = { step = 0.02; end = 2.0; };", 1, "energy error", 0.005,
        f"({SHORTER.format('[0-9.e-]+', '[0-9]+')}|{ESTIMATE.format('[0-9.e-]+', '[0-9]+')})"),
    "one system of several": (
        'bodies = { files = ["good.csv", "bad.csv", "fair.csv"]; initial = "file"; };\n'
        "time = { step = 0.007; end = 5.0; };", 1,
        r"energy error [\d.]+ in system 2 \(bad\.csv\), the only one of 3 that fails the watch",
        0.005,
        SHORTER.format(r"[\d.e-]+", r"[\d.]+")),
    "bound of zero": (
        TWO.format(0.5) + "time = { step = 0.02; end = 20.0; };\n" + BOUND % "0.0", 1,
        r"energy error [\d.e-]+, upper bound 0 \(beyond it by [\d.e-]+\)", None,
        "that is less than the rounding of a number"),
    "bound of a higher order": (
        TWO.format(0.5) + "time = { step = 0.02; end = 20.0; };\n" + BOUND % "1e-11", 1,
        "energy error", 1e-11,
        r'no step of velocity-verlet was found to hold; time\.integrator = "yoshida6" with '
        + HOLDS.format(r"0\.00\d")),
    "no row": (
        TWO.format(0.5) + "time = { step = 0.01; end = 20.0; };\n" + CONSERVATION +
        'expect = ( { quantity = "energy"; at_most = 5.0; after = 1.251; before = 1.259; } );',
        1, "energy could not be judged", None,
        "none of its rows lies between its `after` and `before`, and the run ended at t = 20: "
        "choose other times, or a smaller `every` of the diagnostic"),
    "begins after the end": (
        TWO.format(0.5) + "time = { step = 0.01; end = 2.0; };\n" + CONSERVATION +
        'expect = ( { quantity = "energy"; at_most = 5.0; after = 2.5; } );',
        1, "energy could not be judged", None,
        "the run ended at t = 2, and the expectation begins after t = 2.5: choose a smaller "
        "`after`, or a larger time.end"),
    "ended before it begins": (
        TWO.format(0.5) + "time = { step = 0.01; end = 2.0; };\n" + CONSERVATION +
        'expect = ( { quantity = "energy"; at_most = 5.0; after = 1.5; } );\n'
        'stop_when = ( { quantity = "energy"; at_most = 5.0; after = 0.5; } );',
        1, "energy could not be judged", None,
        "stop_when ended the run at t = 0.5, and the expectation begins after t = 1.5: choose a "
        "smaller `after`, or another condition of stop_when"),
    "two criteria": (
        TWO.format(0.5) + "time = { step = 0.01; end = 2.0; };\n" + CONSERVATION +
        'expect = ( { quantity = "energy"; at_most = -5.0; }, '
        '{ quantity = "kinetic"; at_most = 0.0; } );',
        1, r"(energy|kinetic) -?[\d.]+, upper bound (-5|0) \(beyond it by [\d.]+\), "
        r"and (kinetic <= 0|energy <= -5) fails", None,
        r"orrery run --convergence \S+/run\.cfg tells how exact that number is"),
    "error that is too small": (
        TWO.format(0.5) + "time = { step = 0.01; end = 20.0; };\n" + CONSERVATION +
        'expect = ( { quantity = "energy_error"; at_least = 0.1; } );', 1,
        r"energy_error 0, lower bound 0\.1 \(beyond it by 0\.1\)", None,
        r"orrery run --convergence \S+/run\.cfg tells how exact that number is"),
    "kilograms": (
        'bodies = { initial = "two-body"; masses = [2e30, 6e24]; semi_major_axis = 1.5e11; };\n'
        "time = { step = 86400.0; end = 3e7; };", 1, "energy error", 0.005,
        r"masses reach 2e\+30 with G = 1: for kilograms, metres and seconds set "
        r'physics\.units = "si"'),
    "a planet": (  # 365.25 d in steps of 73 d: 5 of its period, of which the watch wants 6
        'bodies = { initial = "orbits"; central_mass = 1.0; masses = [1e-3, 1e-9]; '
        'semi_major_axes = [5.2, 1.0]; };\nphysics = { units = "astronomical"; };\n'
        "time = { step = 73.0; end = 3650.0; };", 1,
        r"[45][.\d]* steps per period of body 3 about body 1, at least 6 are wanted", None,
        SHORTER.format(r"\d", r"[\d.]+")),
    "less than a period": (
        TWO.format(0.5) + "time = { step = 0.5; end = 1.0; };\n" + BOUND % "1e-5", 1,
        "energy error", 1e-5, SHORTER.format(r"[\d.e-]+", r"[\d.e+]+")
        # 2 pi r / v at the pericentre r = 0.5, v = sqrt(2 x 1.5 / 0.5): 1.28.
        + r"; time\.end is 0\.78 of the shortest period, 1\.28 \(bodies 1 and 2\)"),
}


def orbit(e):
    """two bodies of half the mass each on an orbit of a = 1 from its apocentre, G M = 2"""
    r, v = 1 + e, math.sqrt(2 * (1 - e) / (1 + e))
    return (f"m,x,y,z,vx,vy,vz\n1,{r / 2!r},0,0,0,{v / 2!r},0\n"
            f"1,{-r / 2!r},0,0,0,{-v / 2!r},0\n")


def write(kind):
    pathlib.Path("fall.csv").write_text(HEAD_ON)
    pathlib.Path("good.csv").write_text(orbit(0.3))
    pathlib.Path("fair.csv").write_text(orbit(0.4))
    pathlib.Path("bad.csv").write_text(orbit(0.95))
    path = pathlib.Path(kind.replace(" ", "-") + ".cfg")
    path.write_text(KINDS[kind][0])
    return path


def sentence_of(path, *arguments):
    """of the run, from its directory"""
    result = tap.run("run", path, "--force", *arguments, timeout=120)
    run = json.loads(path.with_suffix(".run").joinpath("run.json").read_text())
    return result, run["verdict_text"]


OUTCOMES = {}


def outcome_of(kind):
    """The sentence of a kind of run, which is made once for all tests that read it alone."""
    if kind not in OUTCOMES:
        path = write(kind)
        result, said = sentence_of(path)
        OUTCOMES[kind] = result, said, path.with_suffix(".run").joinpath("run.log").read_text()
    return OUTCOMES[kind]


def test_failed_runs_of_many_kinds():
    """what, by how much and what to do is the first line; what was not tried is said to be so"""
    for kind, (_, status, what, bound, remedy) in KINDS.items():
        result, said, log = outcome_of(kind)
        print(f"# {kind}: {said}")
        assert result.returncode == status, (kind, result.returncode, result.stderr)
        first = " ".join(result.stdout.split("\n\n")[0].split())
        assert first == said, (kind, first)
        if bound is None:
            assert re.fullmatch(f"failed: {what}: {remedy}", said), (kind, said)
            continue
        found = re.fullmatch(rf"failed: {what}( [\d.e+-]+)?(.*?), bound ([\d.e-]+) "
                             rf"\(([\d.e+]+) times\): {remedy}", said)
        assert found and float(found[3]) == bound, (kind, said)
        if found[1]:  # value and bound have three digits
            times = float(found[1]) / bound
            assert math.isclose(times, float(found[4]), rel_tol=0.01), (kind, said)
        assert said in log, kind


def test_the_manual_has_their_words():
    """each row of its table is what the run says, but for the digits of chaotic ones"""
    manual = pathlib.Path(tap.SOURCE, "docs/manual/running.md").read_text()
    rows = re.findall(r"^\| \[?([\w ]+)(?:\]\(\S+\))?(?: to t = \d+)? \| (.*: .*) \|$",
                      manual[manual.index("| what it says |"):], re.M)
    shown = {kind: words for kind, words in rows if kind in KINDS}
    assert len(shown) >= 10, rows
    for kind, words in shown.items():
        said = outcome_of(kind)[1].removeprefix("failed: ")
        if "gauss-radau" in words and "gauss-radau" not in said:
            continue  # for want of time
        told, wanted = (re.sub(r"-?\d[\d.e+-]*|lower|upper", "#", text) for text in (said, words))
        assert told == wanted, (kind, said, words)


def test_what_is_said_to_hold_holds():
    """the run with the advised integrator, step, softening or precision ends with status 0"""
    tried = 0
    for kind in KINDS:
        said = outcome_of(kind)[1]
        found = (re.search(r'(?:time\.integrator = "([\w-]+)" with )?time\.step = '
                           r"([\d.e+-]+)(?:, \S+ times shorter,)? holds", said) or
                 re.search(r'time\.integrator = "([\w-]+)"() holds', said))
        soft = re.search(r"physics\.softening = (\S+) holds", said)
        other = "compute.precision=double" if 'compute.precision = "double" holds' in said else \
            f"physics.softening={soft[1]}" if soft else ""
        assert found or other or "holds" not in said.replace("no bound holds", ""), said
        if not found and not other:
            continue
        settings = [other] if other else [f"time.step={found[2]}"] if found[2] else []
        if found and found[1]:
            settings.append(f"time.integrator={found[1]}")
        again = [word for setting in settings for word in ("-P", setting)]
        result, said = sentence_of(write(kind), *again)
        assert result.returncode == 0 and said == "", (kind, settings, result.stdout)
        tried += 1
    assert tried >= 8, tried


def test_badge_and_table_say_the_same():
    """page of a run, page of several, watch and run.json have one sentence"""
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")
    paths = [write(kind) for kind in ("step too long", "numbers that overflow")]
    sentences = [sentence_of(path)[1] for path in paths]
    overflow = " ".join(tap.run("run", paths[1], "--force").stdout.split())
    assert "energy error undefined at t = " in overflow and "nan" not in overflow, overflow
    runs = [path.with_suffix(".run") for path in paths]
    for run, said in zip(runs, sentences):
        assert tap.run("report", run).returncode == 0
        page = html.unescape(run.joinpath("report.html").read_text())
        assert f'<span class="verdict bad">{said}</span>' in page, said
        watched = " ".join(tap.run("watch", run).stdout.split())
        assert said.removeprefix("failed: ") in watched, watched
    assert tap.run("report", *runs, "-o", "both").returncode == 0
    page = html.unescape(pathlib.Path("both/report.html").read_text())
    for said in sentences:
        what, advice = said.removeprefix("failed: ").split(": ", 1)
        assert f'<span class="verdict bad">failed: {what}</span>' in page, said
        assert f'<div class="advice">{advice}</div>' in page, said


def rows_of(kind):
    """the table of findings of a run, by name"""
    _, said = sentence_of(write(kind))
    run = json.loads(pathlib.Path(kind.replace(" ", "-") + ".run", "run.json").read_text())
    return said, run, {row["name"]: row for row in run["findings"]}


def test_the_sentence_is_a_row_of_the_table():
    """run.json has every quantity with value, bound, whose and since; the sentence is the worst"""
    for kind, name in (("explicit Euler", "energy error"), ("step too long", "energy error"),
                       ("one system of several", "energy error"), ("a planet", "steps per period"),
                       ("ended by the watch", "orbit error"), ("another criterion", "radius_50"),
                       ("bound of the user", "energy_error"), ("momentum", "momentum_x")):
        said, run, rows = rows_of(kind)
        row, watch = rows[name], run["watch"]
        assert row["severity"] == "failure" and row["sentence"], (kind, row)
        told = f"{name.replace('_error', ' error')} {row['value']:.3g}"
        if kind == "a planet":
            told = f"{row['value']:.3g} {name} of {row['whose']}"
        elif row["whose"]:
            told += f" of {row['whose']}"
        assert told in said, (kind, said, row)
        assert f"{row['bound']:g}" in said, (kind, said, row)
        assert row["since"] <= run["time"] and ("system 2" in said) == (row["system"] == 2), row
        if name == "energy error":
            assert row["value"] == watch["energy_error"]["largest"], (kind, row)
            assert row["since"] == watch["energy_error"]["first_time_beyond"], (kind, row)
            assert row["bound"] == 0.005 and row["bound_is"] == "most", (kind, row)
        if kind == "a planet":
            assert row["whose"] == "body 3 about body 1" and row["bound_is"] == "least", row
            assert row["value"] == watch["bound_orbits"]["steps_per_period"], row
            assert row["since"] == watch["bound_orbits"]["first_time_beyond"], row
    _, run, rows = rows_of("explicit Euler")  # all that it loses is drift
    assert rows["energy drift"]["value"] == rows["energy error"]["value"], rows
    assert rows["energy drift"]["bound"] == run["watch"]["limits"]["energy_drift"], rows
    path = pathlib.Path("held.cfg")
    path.write_text(TWO.format(0.5) + "time = { step = 0.005; end = 7.0; };\n" + BOUND % "1e-2")
    sentence_of(path)
    rows = json.loads(pathlib.Path("held.run/run.json").read_text())["findings"]
    # Two bodies have all the energy that there is: no orbit of a light one is tried.
    assert [row["name"] for row in rows] == [
        "energy_error", "energy error", "energy drift", "energy change within 1000 steps",
        "steps per time scale"], rows
    assert all(row["severity"] == "held" and row["since"] is None for row in rows), rows
    # Changes within their limit are not kept: no number is told of them, and no 0.
    assert [row["name"] for row in rows if row["value"] is None] == [rows[3]["name"]], rows


def test_a_bound_that_was_missed_by_little():
    """a value beyond its bound by less than a hundredth is told in digits that show it"""
    config = TWO.format(0.5) + "time = { step = 0.005; end = 7.0; };\n"
    for share in (0.9999, 0.98):
        path = pathlib.Path("close.cfg")
        path.write_text(config + BOUND % "1e-2")
        sentence_of(path)
        worst = json.loads(pathlib.Path("close.run/run.json").read_text())["expect"][0]["worst"]
        bound = f"{share * worst:.7g}"
        path.write_text(config + BOUND % bound)
        result = tap.run("run", path, "--force")
        said = (f"{worst:.6g}, bound {float(bound):.15g} (beyond it by {worst - float(bound):.2g})"
                if share > 0.99 else f"{worst:.3g}, bound {float(bound):.15g} (1.02 times)")
        words = " ".join(result.stdout.split())
        assert result.returncode == 1 and f"energy error {said}" in words, (said, words)
        shutil.rmtree("close.run")


def test_nothing_is_said_of_a_run_that_held():
    path = pathlib.Path("good.cfg")
    path.write_text(TWO.format(0.5) + "time = { step = 0.005; end = 7.0; };")
    result, said = sentence_of(path)
    assert result.returncode == 0 and said == "" and "failed" not in result.stdout, result.stdout
    # A run that is looked at again is told as it was.
    path = write("step too long")
    _, said = sentence_of(path)
    result = tap.run("run", path, "--restart")
    assert result.returncode == 1 and " ".join(result.stdout.split()).startswith(said)
    run = json.loads(path.with_suffix(".run").joinpath("run.json").read_text())
    assert run["verdict_text"] == said


def test_commands_are_for_a_shell():
    """a directory of any name and length is one word of the command that is named"""
    path = pathlib.Path("good.cfg")
    path.write_text(KINDS["another criterion"][0])
    long = "/".join(5 * ["a b" * 80])
    pathlib.Path(long).parent.mkdir(parents=True)
    for name in ("two words", "$(touch x);`touch y`'s", long):
        assert tap.run("run", path, "-o", name).returncode == 1
        said = json.loads(pathlib.Path(name, "run.json").read_text())["verdict_text"]
        line = re.search("orrery run --convergence .* tells how exact", said)[0]
        assert shlex.split(line)[3] == f"{name}/run.cfg", said
        assert f" {said}\n" in pathlib.Path(name, "run.log").read_text(), name


PAIR = TWO.format(0.5) + "time = { step = 0.02; end = 2.0; };\n"
CLUSTER = ('bodies = { initial = "plummer"; count = 20; };\nphysics = { softening = 0.05; };\n'
           "time = { step = 0.01; end = 1.0; };\n")
EXPECT = 'expect = ( { quantity = "%s"; at_most = 1.0; } );'
MASSES = "with several masses, or one in fields"

# Configs with a criterion that no step could meet, and the whole sentence of the run.
HOPELESS = {
    "several masses": (CLUSTER + CONSERVATION + EXPECT % "test_energy_error",
                       "failed: test_energy_error is undefined, as it is " + MASSES),
    "one mass": (
        'bodies = { initial = "two-body"; masses = [1.0, 0.0]; };\n'
        "time = { step = 0.05; end = 10.0; };\n" + CONSERVATION +
        'expect = ( { quantity = "energy_error"; at_most = 1e-4; },\n'
        '           { quantity = "virial_ratio"; between = [0.1234567, 0.2345678]; '
        'after = 0.5; } );',
        "failed: energy_error is undefined, since E0 and U0 are 0; test_energy_error is that of "
        "bodies without mass, and virial_ratio in [0.1234567, 0.2345678] after t = 0.5 fails"),
    "no pair": (TWO.format(1.5) + "time = { step = 0.01; end = 1.0; };\n"
                'diagnostics = ( { type = "binaries"; every = 10; } );\n' +
                EXPECT % "hardest_energy_kt",
                "failed: hardest_energy_kt is undefined, as it is without a bound pair"),
    "a circle": (TWO.format(0.0) + "time = { step = 0.01; end = 7.0; };\n"
                 'diagnostics = ( { type = "orbit"; every = 10; } );\n' + EXPECT % "apse_turn",
                 "failed: apse_turn is undefined, as it is for a circle, a straight line, and an "
                 "unbound softened orbit"),
    "few bodies": (CLUSTER + 'diagnostics = ( { type = "density-slope"; every = 10; } );\n' +
                   EXPECT % "density_slope",
                   "failed: density_slope is undefined, as it is if its shells have fewer than "
                   "four times `least_bodies` bodies with mass"),
    "no definition": (CLUSTER + 'diagnostics = ( { type = "density-slope"; every = 10; } );\n' +
                      EXPECT % "density_slope_error",
                      "failed: density_slope_error is undefined; orrery info density_slope_error "
                      "tells what it is"),
    "no row of so small an error": (
        PAIR + CONSERVATION.replace("= 1;", "= 1000000000;") +
        'expect = ( { quantity = "energy_error"; at_most = 1e-20; after = 0.5; before = 0.6; } );',
        "failed: energy_error could not be judged: none of its rows lies between its `after` and "
        "`before`, and the run ended at t = 2: choose other times, or a smaller `every` of the "
        "diagnostic"),
}


def test_no_step_is_blamed_for_what_no_step_could_mend():
    """quantities that are undefined or were not seen: the reason, and no advice on steps"""
    for kind, (config, wanted) in HOPELESS.items():
        path = pathlib.Path("hopeless.cfg")
        path.write_text(config)
        result, said = sentence_of(path)
        assert result.returncode == 1 and said == wanted, (kind, said)


def test_a_step_keeps_the_energy_but_mends_nothing_else():
    """beside a criterion that no step can meet, what was tried is not said to hold"""
    path = pathlib.Path("both.cfg")
    path.write_text(
        TWO.format(0.5) + "time = { step = 0.02; end = 20.0; };\n" + CONSERVATION +
        'expect = ( { quantity = "energy_error"; at_most = 1e-5; },\n'
        '           { quantity = "test_energy_error"; at_most = 1.0; } );')
    said = sentence_of(path)[1]
    found = re.fullmatch(r"failed: energy error [\d.e-]+, bound 1e-05 \([\d.]+ times\), and "
                         r"test_energy_error <= 1 fails: the step is too long; time\.step = "
                         r"([\d.e-]+), [\d.]+ times shorter, keeps the energy \(tried\)", said)
    assert found, said
    again = sentence_of(path, "-P", f"time.step={found[1]}")[1]
    assert again == "failed: test_energy_error is undefined, as it is " + MASSES, again


def test_large_runs_name_the_command():
    """where trying would take longer than the run did, nothing is tried"""
    tap.thorough()
    tap.not_sanitized()
    path = pathlib.Path("large.cfg")
    path.write_text('bodies = { initial = "cold-sphere"; count = 10000; };\n'
                    "time = { step = 1.0; end = 2.0; };\nphysics = { softening = 0.01; };")
    said = sentence_of(path)[1]
    print("#", said)
    assert "orrery check large.run/run.cfg tries other steps" in said or "not tried" in said, said
    assert "holds" not in said, said


def test_check_points_out_what_does_not_fit():
    """masses in kilograms with G = 1, and an end within a period, before the run is made"""
    for kind, change, words in (  # two days of the year are enough to be told
            ("kilograms", "time.end=172800.0", 'masses reach 2e+30 with G = 1: for kilograms, '
             'metres and seconds set physics.units = "si"'),
            ("less than a period", "time.end=1.0",
             "time.end is 0.78 of the shortest period, 1.28")):
        said = tap.run("check", write(kind), "-P", change).stdout
        said = " ".join(said.replace("#", " ").split())
        assert words in said, said
    said = tap.run("check", write("step too long")).stdout
    assert "shortest period" not in said and "masses reach" not in said, said
    said = " ".join(tap.run("check", write("step too long"), "-P", "time.step=19.0").stdout
                    .replace("#", " ").split())
    # 19 / 1.28, the time above.
    assert "time.step is 15 times the shortest period, 1.28" in said, said
    # At one place, with softening, the period is 2 pi sqrt(0.1^3 / (0.5 + 0.5)) = 0.199.
    pathlib.Path("same.csv").write_text("m,x,y,z,vx,vy,vz\n0.5,0,0,0,0,0.01,0\n"
                                        "0.5,0,0,0,0,-0.01,0\n")
    path = pathlib.Path("same-place.cfg")
    path.write_text('bodies = { initial = "file"; file = "same.csv"; };\n'
                    "physics = { softening = 0.1; };\ntime = { step = 0.01; end = 10.0; };\n")
    assert "shortest period" not in tap.run("check", path).stdout
    said = " ".join(tap.run("check", path, "-P", "time.step=3.0").stdout.replace("#", " ").split())
    assert "time.step is 15 times the shortest period, 0.199 (bodies 1 and 2)" in said, said


tap.main()
