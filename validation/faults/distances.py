"""g(r) of bodies that are far away, close together or fast: in time, in little memory, right."""

import pathlib
import random
import resource
import subprocess

import numpy

import harness
import rows
import tap
from harness import Row, everything

# Of a run of some ten bodies. It takes milliseconds, and megabytes beside those of its libraries.
SECONDS = 20
MEMORY = 1 << 30

CONFIG = """
name = "trial";
bodies = {{ initial = "file"; file = "bodies.csv"; }};
physics = {{ softening = {softening!r}; {space} }};
time = {{ integrator = "velocity-verlet"; step = 1e-3; end = 2e-3; }};
compute = {{ threads = 1; }};
diagnostics = ( {{ type = "radial-distribution"; every = 1; bins = {bins}; {options} }} );
outputs = ( {{ type = "xyz"; every = 1; digits = 17; }} );
"""


def limited():
    if not harness.SANITIZED:  # these reserve terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def positions(generator, highest):
    """
    A cluster of size 1, and bodies at distances up to 10**highest, some of them beside others; in
    space, in a plane or on a line.
    """
    count = generator.choice((2, 3, generator.randint(2, 40), generator.randint(100, 300)))
    places = [[generator.gauss(0, 1) for _ in range(3)] for _ in range(count)]
    for _ in range(generator.choice((1, 1, 2))):
        away = generator.choice((-1, 1)) * 10 ** generator.uniform(
            generator.choice((0, 0.8 * highest)), highest)
        axes = generator.choice(((1, 0, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1)))
        place = [away * axis * generator.choice((1, generator.random())) for axis in axes]
        for _ in range(generator.choice((1, 1, 5))):
            places.append([x + generator.gauss(0, 1) for x in place])
    flat = generator.choice(((1, 1, 1), (1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 1)))
    return [[x * axis for x, axis in zip(place, flat)] for place in places]


def write_bodies(places, speed, generator):
    lines = ["m,x,y,z,vx,vy,vz"]
    for place in places:
        velocity = [speed * generator.gauss(0, 1) for _ in range(3)]
        lines.append(",".join(repr(x) for x in (1.0 / len(places), *place, *velocity)))
    pathlib.Path("bodies.csv").write_text("\n".join(lines) + "\n")


def run(row, trial, expected):
    """With the status 124 where it takes too long."""
    harness.begin("trial")
    command = [tap.ORRERY, "run", "trial.cfg", "-q", "-o", "trial"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited,
                                timeout=SECONDS * tap.PATIENCE, env=harness.environment())
    except subprocess.TimeoutExpired:
        result = subprocess.CompletedProcess(command, 124, "", "it takes too long")
    row.ended(trial, result, expected)
    if result.returncode == 1 and harness.about_run("trial")["watch"]["holds"]:
        row.is_wrong(trial, "1, and the accuracy watch, its only criterion, held")
    if len(result.stderr) > 8192 or "nan" in result.stderr:
        row.problem(trial, f"words: {result.stderr[:300]!r}")
    return result


def separations(places, box):
    """The distance of every pair, of its nearest images in a periodic box."""
    first, second = numpy.triu_indices(len(places), 1)
    with numpy.errstate(over="ignore", invalid="ignore"):
        difference = places[first] - places[second]
        if box:
            difference -= box * numpy.rint(difference / box)
        scale = numpy.abs(difference).max(axis=1)
        scale[scale == 0] = 1
        return scale * numpy.sqrt(((difference / scale[:, None]) ** 2).sum(axis=1))


def check_counts(row, trial, box):
    """The pairs in each shell, counted one by one; those at an edge may be on either side of it."""
    table = rows.columns("trial/radial-distribution.csv")
    times, frames, _ = rows.frames("trial/trajectory.xyz")
    for number, time in enumerate(times):
        at = table["time"] == time
        distance = numpy.sort(separations(frames[number], box))
        inner, outer = table["r_inner"][at], table["r_outer"][at]

        def between(slack):
            below = numpy.searchsorted(distance, outer * (1 + slack), "left")
            return below - numpy.searchsorted(distance, inner * (1 - slack), "left")

        pairs = table["pairs"][at]
        if not ((between(-1e-12) <= pairs) & (pairs <= between(1e-12))).all():
            bad = numpy.flatnonzero((between(-1e-12) > pairs) | (pairs > between(1e-12)))[0]
            row.is_wrong(trial, f"t = {time}: {pairs[bad]} pairs in shell {bad} from {inner[bad]} "
                         f"to {outer[bad]}, not {between(0)[bad]}")
            return
        # Where a volume overflows, what it divides is undefined: an empty cell.
        defined = max(outer[-1], numpy.abs(frames[number]).max()) < 1e50
        for name in ("g", "pair_density", "shell_volume"):
            if (table[name][at] < 0).any() or defined and numpy.isnan(table[name][at]).any():
                row.is_wrong(trial, f"{name} is negative or undefined")
                return


def options_of(generator):
    """Lines of the diagnostic."""
    options = []
    if generator.random() < 0.7:
        reach = 10 ** generator.uniform(-3, generator.choice((1, 1, 20, 200)))
        options.append(f"r_max = {reach!r};")
    if generator.random() < 0.2:
        options.append(f"cell_volume = {10 ** generator.uniform(-200, 200)!r};")
    return " ".join(options)


def attempt(row, generator, trial, highest, speed=0.0):
    write_bodies(positions(generator, highest), speed, generator)
    pathlib.Path("trial.cfg").write_text(CONFIG.format(
        softening=0.1, space="", options=options_of(generator),
        bins=generator.choice((1, 7, 200, 3000))))
    # 1: the accuracy watch saw the energy jump, as it does where rounding to the magnitude of the
    # farthest body puts others into one place; run() looks at what it says.
    result = run(row, trial, (0, 1, 70, 78) if speed or highest > 100 else (0, 1, 78))
    if result.returncode in (0, 1):
        check_counts(row, trial, None)


def test_far_bodies():
    """bodies up to 1e13 and up to 1e300 away: every pair is counted, in time and in 1 GB"""
    generator = random.Random(13)
    for name, highest, count in (("1e13", 13, 150), ("1e150", 150, 100),
                                 ("1e300", 300, 100)):
        with Row(19, f"the g(r) of a cluster and bodies up to {name} times its size away") as row:
            for number in range(count if everything() else 2):
                attempt(row, generator, f"{name}, {number}", highest)


def test_after_a_blow_up():
    """bodies that fly apart at any speed: an end by numbers (70), or every pair is counted"""
    generator = random.Random(14)
    with Row(19, "the g(r) of bodies that fly apart at up to 1e160") as row:
        for number in range(100 if everything() else 2):
            attempt(row, generator, f"{number}", 1, 10 ** generator.uniform(0, 160))


def test_boxes():
    """boxes of any size around bodies that are anywhere"""
    generator = random.Random(15)
    with Row(19, "the g(r) in periodic boxes of any size") as row:
        for number in range(100 if everything() else 2):
            box = 10 ** generator.uniform(-3, generator.choice((3, 12)))
            write_bodies([[box * generator.uniform(-0.5, 0.5) for _ in range(3)]
                          for _ in range(generator.randint(2, 60))], 0.0, generator)
            reach = box * generator.choice((0.5, 0.499, generator.uniform(1e-6, 0.5)))
            pathlib.Path("trial.cfg").write_text(CONFIG.format(
                softening=0.1 * box, space=f'boundary = "periodic"; box_length = {box!r};',
                options=f"r_max = {reach!r};", bins=generator.choice((1, 7, 200, 3000))))
            if run(row, f"{number}, box {box}", (0, 1)).returncode in (0, 1):
                check_counts(row, f"{number}, box {box}", box)


def test_chosen_sizes():
    """lines whose products overflow: 78 or an end, and never a signal"""
    write_bodies([[0.0, 0.0, 0.0], [1e13, 0.0, 0.0], [1.0, 0.0, 0.0]], 0.0, random.Random(1))
    reaches = [10.0 ** k for k in (-300, -160, -40, -5, 0, 6, 13, 40, 160, 300)]
    spaces = ["", *(f'boundary = "periodic"; box_length = {size!r};'
                    for size in (1e-300, 1e-150, 1e-9, 3e13, 1e150, 1e300))]
    trials = [(reach, space, bins) for reach in reaches for space in spaces for bins in (1, 1000)]
    with Row(19, "the g(r) of three bodies, with r_max and boxes of any order of magnitude") as row:
        for reach, space, bins in harness.some(harness.shuffled(trials), 4):
            pathlib.Path("trial.cfg").write_text(CONFIG.format(
                softening=0.1, space=space, options=f"r_max = {reach!r};", bins=bins))
            # Squares of distances beyond 1e154 overflow: no pair would be found there.
            run(row, f"r_max {reach}, {space}, {bins} bins",
                (78,) if reach > 1e150 else (0, 1, 65, 70, 78))


tap.main()
