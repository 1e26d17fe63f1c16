"""The step that orrery check advises, beside what runs with that step come to."""

import math
import pathlib
import re

import tap

TEMPLATE = """
bodies = {{ {bodies} }};
physics = {{ {physics} }};
time = {{ step = {step}; end = {end}; }};
watch = {{ on_jump = "warn"; }};
diagnostics = ( {{ type = "conservation"; every = 1; }} );
"""

TRIPLE = """m,x,y,z,vx,vy,vz
0.5,0.05,0,0,0,{inner},0
0.5,-0.05,0,0,0,-{inner},0
1.0,10,0,0,0,{outer},0
"""


def two_body(e):
    return ('initial = "two-body"; masses = [1.0, 1.0]; semi_major_axis = 1.0; '
            f"eccentricity = {e}; true_anomaly = 180.0;")


# bodies, physics, end, and the largest |dE/E0| that a run with the advised step may have. By
# velocity-verlet with 200 steps a period it is some 1e-4 of the kinetic energy at that moment: at a
# pericentre 1 / (1 - e) times as much as E0. Chance encounters may be closer than is expected once.
CASES = {
    "two bodies, e = 0": (two_body(0.0), "", 10.0, 1e-6),
    "two bodies, e = 0.5": (two_body(0.5), "", 10.0, 1e-3),
    "two bodies, e = 0.9": (two_body(0.9), "", 10.0, 5e-3),
    "two bodies, e = 0.99": (two_body(0.99), "", 5.0, 5e-2),
    "two bodies, e = 0.99, softened": (two_body(0.99), "softening = 0.05;", 5.0, 5e-2),
    "hierarchical triple": ('initial = "file"; file = "triple.csv";', "", 5.0, 1e-3),
    "figure eight": ('initial = "figure-eight";', "", 6.3, 1e-3),
    "outer planets": ('initial = "outer-solar-system";', 'units = "astronomical";', 40000.0, 1e-4),
    "Plummer sphere": ('initial = "plummer"; count = 64;', "softening = 0.02;", 2.0, 1e-3),
    "cold sphere": ('initial = "cold-sphere"; count = 64;', "softening = 0.02;", 3.0, 1e-3),
    "pythagorean": ('initial = "pythagorean";', "", 10.0, 0.1),
}


def write(case, step, name="case.cfg"):
    bodies, physics, end, _ = CASES[case]
    inner, outer = math.sqrt(0.5 * 0.5 / 0.1), 0.4
    pathlib.Path("triple.csv").write_text(TRIPLE.format(inner=inner, outer=outer))
    text = TEMPLATE.format(bodies=bodies, physics=physics, step=step, end=end)
    pathlib.Path(name).write_text(text)
    return name


def advised(text):
    match = re.search(r"time\.step = ([\d.e+-]+) would\s+(?:#\s+)?give it\s+(?:#\s+)?\d+", text)
    assert match, text
    return float(match.group(1))


def energy_error(config, step, end):
    result = tap.run("run", config, "-q", "--force", "-P", f"time.step={step!r}",
                     "-P", f"diagnostics.0.every={max(1, int(end / step / 1000))}",
                     timeout=120)
    assert result.returncode == 0, result.stderr
    rows = pathlib.Path(config).with_suffix(".run").joinpath("conservation.csv").read_text()
    header, *lines = rows.splitlines()
    column = [name.split(" ")[0] for name in header.split(",")].index("energy_error")
    return max(abs(float(line.split(",")[column])) for line in lines)


def test_runs_with_the_advised_step_conserve_energy():
    for number, case in enumerate(CASES):
        end = CASES[case][2]
        config = write(case, end / 4, f"case{number}.cfg")
        text = tap.run("check", config).stdout
        step = advised(text)
        error = energy_error(config, step, end)
        print(f"# {case:32s} step {step:<8g} {end / step:10.0f} steps  |dE/E0| {error:.1e}")
        assert error < CASES[case][3], (case, step, error)


def test_from_the_apocentre_as_from_the_pericentre():
    """one orbit has one advice, wherever on it the run begins"""
    config = write("two bodies, e = 0.99", 0.5)
    steps = [advised(tap.run("check", config, "-P", f"bodies.true_anomaly={angle}").stdout)
             for angle in (0.0, 90.0, 180.0)]
    assert max(steps) == min(steps), steps
    # T = 2 pi sqrt(q^3 / G M), q = 0.01, G M = 2: 0.00444, into 200 sqrt(200 / 25) = 566: 7.9e-6.
    assert steps[0] == 7e-6, steps


def test_the_watch_passes_runs_with_the_advised_step():
    """also where rounding the step down adds nothing: just below a period of 200 x 10^-k"""
    for e, mass in ((0.9, 0.98), (0.95, 0.1225), (0.99, 9.8)):
        q, config = 1 - e, pathlib.Path("steep.cfg")
        for angle in (0.0, 180.0):
            config.write_text(
                f'bodies = {{ initial = "two-body"; masses = [{mass / 2}, {mass / 2}]; '
                f"eccentricity = {e}; true_anomaly = {angle}; }};\n"
                f"time = {{ step = 1.0; end = {7 / math.sqrt(mass)}; }};\n")
            step = advised(tap.run("check", config).stdout)
            result = tap.run("run", config, "-q", "--force", "-P", f"time.step={step!r}",
                             timeout=120)
            period = 2 * math.pi * math.sqrt(q ** 3 / mass)
            print(f"# e = {e}, from {angle}: {period / step:.0f} steps of the shortest period")
            assert result.returncode == 0, (e, angle, step, result.stderr)


def test_a_head_on_fall_has_no_step():
    pathlib.Path("fall.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,1,0,0,0,0,0\n")
    bodies = 'initial = "file"; file = "fall.csv";'
    config = pathlib.Path("fall.cfg")
    config.write_text(TEMPLATE.format(bodies=bodies, physics="", step=0.01, end=1.0))
    text = " ".join(tap.run("check", config).stdout.replace("#", " ").split())
    assert "no step is small enough" in text, text


tap.main()
