"""The accuracy watch: which runs it lets pass and which it fails, whatever else is measured."""

import json

import numpy

import tap
from experiment import bodies_of, experiment, number

GROUP = "The accuracy watch"
CADENCES = tap.first((1, 1000, 10, 100), 2)

MASSLESS = "masses = [1.0, 0.0];"
APOCENTRE = "true_anomaly = 180.0;"
SINGLE, MIXED = ('compute = { precision = "%s"; };' % name for name in ("single", "mixed"))


def pair(eccentricity, more=""):
    return f'initial = "two-body"; eccentricity = {eccentricity}; {more}'


def plummer(count, seed=1):
    return f'initial = "plummer"; count = {count}; seed = {seed};'


def soft(length):
    return f"physics = {{ softening = {length}; }};"


COLD = 'initial = "cold-sphere"; count = 200;'
BINARY = 'initial = "file"; file = "binary.csv"; center = false;'
MOVING_PAIR = 'initial = "file"; file = "moving-pair.csv"; center = false;'
MOVING_CLUSTER = 'initial = "file"; file = "moving-cluster.csv"; center = false;'
FAR_PAIR = 'initial = "file"; file = "far-pair.csv"; center = false;'
PARSECS = 'physics = { softening = %s; units = "pc-msun-kms"; };'
BOX = 'initial = "uniform-cube"; count = 100; half_side = 1.0; virial_ratio = 0.5;'
IN_BOX = 'physics = { softening = %s; boundary = "periodic"; box_length = 2.0; };'

# What it is, its bodies, its integrator, step and end, and whatever else its config says. Nothing
# is said to the watch but how often to look. The steps of the good runs suit their fastest motion,
# those of the bad ones are longer, or the method, the softening or
# the precision does not suffice.
GOOD = (
    ("a circular pair", pair(0.0), "velocity-verlet", 0.01, 62.0),
    ("a pair, e = 0.6", pair(0.6), "leapfrog-dkd", 0.005, 30.0),
    ("a pair, e = 0.9", pair(0.9, APOCENTRE), "pefrl", 0.001, 18.0),
    ("a pair, e = 0.99", pair(0.99, APOCENTRE), "yoshida6", 2e-4, 9.0),
    ("a pair, e = 0.3", pair(0.3), "semi-implicit-euler", 0.003, 30.0),
    ("a planet without mass, e = 0.6", pair(0.6, MASSLESS), "velocity-verlet", 0.005, 62.0),
    ("three on a figure eight", 'initial = "figure-eight";', "yoshida4", 0.01, 63.0),
    ("the Pythagorean problem", 'initial = "pythagorean";', "yoshida6", 1e-4, 3.0),
    ("Plummer, 256 bodies", plummer(256), "velocity-verlet", 0.01, 6.0, soft(0.05)),
    ("Plummer, 256 bodies, mixed precision", plummer(256, 2), "leapfrog-dkd", 0.01, 6.0,
     soft(0.05) + MIXED),
    ("Plummer, 128 bodies, single precision", plummer(128, 3), "velocity-verlet", 0.01, 6.0,
     soft(0.1) + SINGLE),
    ("a cold sphere falls", COLD, "velocity-verlet", 0.004, 2.4, soft(0.05)),
    ("8 Plummer systems", plummer(64), "pefrl", 0.02, 8.0,
     soft(0.1) + "ensemble = { systems = 8; };"),
    ("a periodic box", BOX, "velocity-verlet", 0.002, 1.0, IN_BOX % 0.2),
    ("a binary 1e-6 apart in a cluster, mixed precision", BINARY, "velocity-verlet", 6e-11, 6e-7,
     MIXED),
    ("a pair, e = 0.9, that moves at 30 as a whole", MOVING_PAIR, "velocity-verlet", 5e-4, 18.0),
    ("100 stars, 1 Msun each, that move at 230 km/s", MOVING_CLUSTER, "velocity-verlet", 0.005, 6.0,
     PARSECS % 0.1),
    ("a parabola from r = 1000 to 1 and back", FAR_PAIR, "velocity-verlet", 0.1, 31000.0),
)
BAD = (
    ("a circular pair", pair(0.0), "euler", 0.001, 6.0),
    ("a pair, e = 0.6, a short step", pair(0.6), "euler", 1e-4, 1.0),
    ("a planet without mass", pair(0.0, MASSLESS), "euler", 0.001, 6.0),
    ("a planet without mass, e = 0.6, a step 20 times longer", pair(0.6, MASSLESS),
     "velocity-verlet", 0.1, 62.0),
    ("a pair, e = 0.2, 16 steps per period", pair(0.2), "velocity-verlet", 0.4, 62.0),
    ("a pair, e = 0.3, a step 17 times longer", pair(0.3), "semi-implicit-euler", 0.05, 62.0),
    ("a pair, e = 0.9, a long step", pair(0.9, APOCENTRE), "velocity-verlet", 0.03,
     62.0),
    ("a pair, e = 0.99, a long step", pair(0.99, APOCENTRE), "velocity-verlet", 0.01, 62.0),
    ("a pair, e = 0.99, a long step", pair(0.99, APOCENTRE), "yoshida4", 0.005, 30.0),
    ("three on a figure eight, a step 40 times longer", 'initial = "figure-eight";',
     "yoshida4", 0.4, 126.0),
    ("the Pythagorean problem", 'initial = "pythagorean";', "velocity-verlet", 0.001, 10.0),
    ("the Pythagorean problem, a step 50 times longer", 'initial = "pythagorean";', "yoshida6",
     0.005, 10.0),
    ("Plummer, 256 bodies, a step 30 times longer", plummer(256), "velocity-verlet", 0.3, 30.0,
     soft(0.05)),
    ("Plummer, 256 bodies, without softening", plummer(256), "velocity-verlet", 0.01, 6.0),
    ("Plummer, 128 bodies", plummer(128), "euler", 0.005, 6.0, soft(0.1)),
    ("a cold sphere falls, without softening", COLD, "velocity-verlet", 0.004, 2.4),
    ("8 Plummer systems, nearly without softening", plummer(64), "velocity-verlet", 0.02, 8.0,
     soft(1e-3) + "ensemble = { systems = 8; };"),
    ("a periodic box, a step 25 times longer, a tenth of the softening", BOX, "velocity-verlet",
     0.05, 5.0, IN_BOX % 0.02),
    ("a binary 1e-6 apart in a cluster, single precision", BINARY, "velocity-verlet", 6e-11, 6e-7,
     SINGLE),
    ("a pair, e = 0.9, that moves at 30 as a whole, a step 100 times longer", MOVING_PAIR,
     "velocity-verlet", 0.05, 62.0),
    ("100 stars, 1 Msun each, that move at 230 km/s, without softening", MOVING_CLUSTER,
     "velocity-verlet", 0.01, 20.0, PARSECS % 0.0),
    ("a parabola from r = 1000 to 1, a step 8 times longer", FAR_PAIR, "velocity-verlet", 0.8,
     31000.0),
)


def write_moving():
    """A pair of GM = a = 1 from apocentre, and a sphere of stars in virial equilibrium as a
    catalogue has it: each moves so fast as a whole that its energy is that motion's. And a pair
    that comes from afar."""
    e = 0.9
    x = numpy.array([[0.5 * (1 + e), 0, 0], [-0.5 * (1 + e), 0, 0]])
    v = numpy.array([[30.0, 0.5, 0], [30.0, -0.5, 0]])
    v[:, 1] *= numpy.sqrt((1 - e) / (1 + e))
    bodies_of("moving-pair.csv", numpy.full(2, 0.5), x, v)
    r, p = 1000.0, 2.0  # a parabola from where |U0| is a thousandth of |U| at the pericentre
    inward, across = numpy.sqrt(2 / r - p / r ** 2), numpy.sqrt(p) / r
    bodies_of("far-pair.csv", numpy.full(2, 0.5), [[r / 2, 0, 0], [-r / 2, 0, 0]],
              [[-inward / 2, across / 2, 0], [inward / 2, -across / 2, 0]])
    G = 4.30091727e-3  # pc (km/s)^2 / Msun
    generator = numpy.random.Generator(numpy.random.PCG64(230))
    x = generator.normal(size=(100, 3))
    v = generator.normal(size=(100, 3))
    v -= v.mean(0)
    distance = numpy.linalg.norm(x[:, None] - x, axis=2)[numpy.triu_indices(100, 1)]
    v *= numpy.sqrt((G / distance).sum() / (v ** 2).sum())
    bodies_of("moving-cluster.csv", numpy.ones(100), x, v + [230.0, 0, 0])


def write_binary():
    """Two bodies of a half, 1e-6 apart at a place that single precision knows to 1e-7, among 98
    light ones at rest on a sphere about the origin. The binary turns in 6e-9."""
    generator = numpy.random.Generator(numpy.random.PCG64(2385))
    x = generator.normal(size=(100, 3))
    x *= 2 / numpy.linalg.norm(x, axis=1)[:, None]
    v, m, a = numpy.zeros((100, 3)), numpy.full(100, 1e-3), 1e-6
    m[:2] = 0.5
    x[:2] = [[1 + a / 2, 0.3, 0.1], [1 - a / 2, 0.3, 0.1]]
    v[:2, 1] = numpy.array([0.5, -0.5]) / numpy.sqrt(a)
    bodies_of("binary.csv", m, x, v)


def judge(bodies, integrator, step, end, more, cadence):
    """What the run's exit status says, and what the watch has seen of the energy."""
    with open("case.cfg", "w", encoding="utf-8") as file:
        file.write(f'name = "case"; bodies = {{ {bodies} }}; time = {{ integrator = '
                   f'"{integrator}"; step = {step}; end = {end}; }}; {more}\n'
                   f'diagnostics = ( {{ type = "conservation"; every = {cadence}; }} );\n'
                   f"watch = {{ every = {cadence}; }};\n")
    status = tap.run("run", "case.cfg", "-q", "-o", "case.run", "--force").returncode
    with open("case.run/run.json", encoding="utf-8") as file:
        watch = json.load(file)["watch"]
    seen = {key: watch[key] for key in ("holds", "energy_drift", "energy_jumps", "largest_jump")}
    seen["largest"], seen["at"] = (watch["energy_error"][key] for key in ("largest", "time"))
    return {0: "passes", 1: "fails"}.get(status, str(status)), seen


SOURCE = {"a parabola from r = 1000 to 1 and back":
          "limit 0.005; near the pericentre the watch divides by \\|U\\| − 10⟨\\|U\\|⟩ instead "
          "of \\|U₀\\|"}


def state(bench, name, verdict, bodies, integrator, step, end, more=""):
    found = [judge(bodies, integrator, step, end, more, cadence) for cadence in CADENCES]
    verdicts = sorted({each for each, _ in found})
    same = all(seen == found[0][1] for _, seen in found)
    bench.said(f"{name}: {integrator}, step {step}; largest energy error "
               f"{number(found[0][1]['largest'])}",
               ", ".join(verdicts) + ("" if same else ", not the same at every cadence"), verdict,
               SOURCE.get(name, "explicit Euler: its whole error is a drift"
                          if integrator == "euler" else "limit 0.005"))


@experiment("good-runs", "runs of many kinds pass, whether a diagnostic comes every 1, 10, 100 or "
            "1000 steps", GROUP)
def good_runs(bench):
    write_binary()
    write_moving()
    for name, *case in GOOD:
        state(bench, name, "passes", *case)


@experiment("bad-runs", "these fail, with the same errors whether a diagnostic comes every 1, 10, "
            "100 or 1000 steps; \"n times longer\" is against the good run", GROUP)
def bad_runs(bench):
    write_binary()
    write_moving()
    for name, *case in BAD:
        state(bench, name, "fails", *case)
