"""Trust until t: what the shadows of a run say, beside what much finer runs then do."""

import numpy

from experiment import experiment, mean_and_error
from rows import columns, frames

GROUP = "Trust until t"
CROSSING = 2 * numpy.sqrt(2)  # in N-body units


def horizons(directory, name, systems):
    """The first known value of every system, or infinity."""
    table = columns(f"{directory}/trust.csv")
    found = []
    for s in range(systems):
        values = table[name][table["system"] == s + 1] if systems > 1 else table[name]
        values = values[numpy.isfinite(values)]
        found.append(values[0] if len(values) else numpy.inf)
    return numpy.array(found)


def parting(one, other, systems):
    """When the systems of one run have left those of another by 1 % of their size; between frames
    they part exponentially."""
    times, x, _ = frames(f"{one}/trajectory.xyz")
    _, y, _ = frames(f"{other}/trajectory.xyz")
    x, y = (z.reshape(len(times), systems, -1, 3) for z in (x, y))
    size = numpy.sqrt(((x[0] - x[0].mean(1, keepdims=True)) ** 2).sum(2).mean(1))
    away = numpy.sqrt(((x - y) ** 2).sum(3).mean(2)) / size
    found = numpy.full(systems, numpy.inf)
    for s in range(systems):
        k = numpy.argmax(away[:, s] >= 0.01)
        if away[k, s] >= 0.01:
            part = numpy.log(0.01 / away[k - 1, s]) / numpy.log(away[k, s] / away[k - 1, s])
            found[s] = times[k - 1] + part * (times[k] - times[k - 1])
    return found


def compare(bench, name, overrides, systems):
    """Stated and true horizon of every system of a run."""
    # A horizon must be right also where the accuracy watch says that the step is too long.
    overrides = (*overrides, "watch.on_jump=warn")
    about = bench.run(name, *overrides, output="one.run", criteria=False, timeout=600)
    step, every = about["config"]["time"]["step"], about["config"]["outputs"][0]["every"]
    bench.run(name, *overrides, f"time.step={step / 4}", "time.integrator=yoshida6",
              f"outputs.0.every={4 * every}", "trust.shadow=false", "expect=()",
              output="two.run", criteria=False, timeout=1800)
    return horizons("one.run", "accurate_until", systems), parting("one.run", "two.run", systems)


def state(bench, what, stated, true):
    ratio = stated / true
    inside = int(((ratio > 1 / 1.5) & (ratio < 1.5)).sum())
    bench.above(f"{what}: of {len(ratio)} stated times, those within a factor 1.5 of the true one",
                inside, round(0.9 * len(ratio)),
                "true: when the run is 1 % of the size away from a run of yoshida6 with dt/4")
    bench.near(f"{what}: median of stated over true time", numpy.median(ratio), 1, 0.1,
               "the same; the next order of the extrapolation from two steps")


@experiment("trust-plummer", "the time until which the orbits of clusters are accurate", GROUP,
            long=True)
def trust_plummer(bench):
    def clusters(what, *overrides):
        # The second seeds were drawn when all else was settled.
        found = [compare(bench, "trust-plummer", [f"bodies.seed={seed}", "expect=()", *overrides],
                         20)
                 for seed in (1, 501)]
        state(bench, f"100 bodies, {what}", *numpy.concatenate(found, axis=1))

    for step, every in ((0.004, 10), (0.016, 3)):
        clusters(f"ε = 0.02, velocity Verlet, dt = {step}", f"time.step={step}",
                 f"outputs.0.every={every}")
    clusters("ε = 0, yoshida4, dt = 0.001", "physics.softening=0.0", "time.step=0.001",
             "time.integrator=yoshida4", "time.end=8", "outputs.0.every=20")


def paces(bench, count, systems, softening, step, seed):
    """The e-folding times of the systems of a run, and their standard errors."""
    bench.run("trust-plummer", f"bodies.count={count}", f"ensemble.systems={systems}",
              f"physics.softening={softening}", f"time.step={step}", f"trust.seed={seed}",
              "trust.half_step=false", "outputs=()", "expect=()", "watch.on_jump=warn",
              criteria=False, timeout=600)
    table = columns("out.run/trust.csv")
    found = []
    for s in range(systems):
        own = table["system"] == s + 1
        known = own & numpy.isfinite(table["e_folding_time"])
        found.append((table["e_folding_time"][known][-1],
                      table["e_folding_time_error"][known][-1]))
    return numpy.array(found).T


@experiment("trust-growth", "how fast errors grow in the clusters of trust-plummer", GROUP,
            long=True)
def trust_growth(bench):
    squares, freedom = 0, 0
    tenth = "nearly a tenth of a crossing time above N = 30 (Goodman, Heggie & Hut 1993)"
    for count, systems, softening, step in ((100, 16, 0.01, 0.002), (300, 8, 1 / 300, 0.001),
                                            (300, 8, 0.01, 0.002), (1000, 4, 0.01, 0.004)):
        what = f"{count} bodies, ε = {softening:.2g}"
        (one, error), (two, other) = (paces(bench, count, systems, softening, step, seed)
                                      for seed in (1, 1001))
        mean, off = mean_and_error((one + two) / (2 * CROSSING))
        if softening * count <= 1:  # no more than the distance of a deflection by a right angle
            bench.near(f"{what}: e-folding time over the crossing time, mean of {systems} systems "
                       f"± {off:.3f}", mean, 0.1, 3 * off + 0.01,
                       f"{tenth}; 0.01 and three standard errors")
        else:
            bench.above(f"{what}: e-folding time over the crossing time (± {off:.3f}), less three "
                        "standard errors", mean - 3 * off, 0.1,
                        "softening slows it (Standish 1968)")
        # Twins of one system share its encounters, systems do not: their scatter shows the errors.
        squares += ((one - one.mean()) ** 2 / error**2).sum()
        freedom += systems - 1
        bench.below(f"{what}: largest difference between the times that two twins give, in stated "
                    "errors",
                    (abs(one - two) / numpy.hypot(error, other)).max(), 2,
                    "twins of one system show one growth")
    # Each error comes from some eight blocks of one system, which makes it uncertain by a quarter;
    # and systems have paces of their own.
    scatter = numpy.sqrt(squares / freedom)
    bench.below("scatter of the systems in stated errors, root mean square", scatter, 2,
                "1, and more as systems differ; errors are stated to a factor of 2")
    bench.above("the same scatter", scatter, 0.5, "1; errors are stated to a factor of 2")
    said = bench.run("trust-pythagorean", "physics.softening=0.01", "time.step=0.0002",
                     "outputs=()", "time.end=70", "expect=()", criteria=False, timeout=600)["trust"]
    crossing = 12**2.5 / (2 * 12.8167)**1.5
    pace = said["e_folding_time"] / crossing
    bench.above("Pythagorean problem, ε = 0.01: e-folding time over the crossing time", pace, 0.1,
                "of the order of the crossing time G M^(5/2)/(2\\|E\\|)^(3/2); a single system")
    bench.below("the same time", pace, 1, "that order or faster (Miller 1964)")


@experiment("trust-pythagorean", "the time until which the Pythagorean problem is accurate", GROUP,
            long=True)
def trust_pythagorean(bench):
    stated, true = [], []
    for softening in (0.02, 0.03, 0.05, 0.07, 0.1):
        for integrator, step in (("velocity-verlet", 1e-3), ("velocity-verlet", 2.5e-4),
                                 ("yoshida4", 1e-3), ("pefrl", 5e-4)):
            one, two = compare(bench, "trust-pythagorean", [
                f"physics.softening={softening}", f"time.integrator={integrator}",
                f"time.step={step}", f"outputs.0.every={round(0.02 / step)}"], 1)
            if numpy.isfinite(one[0]) or numpy.isfinite(two[0]):
                stated.append(one[0])
                true.append(two[0])
    state(bench, "combinations of ε, integrator and step",
          numpy.array(stated), numpy.array(true))


@experiment("trust-reproducible", "the time until which another kernel gives the orbits of "
            "trust-plummer", GROUP, long=True)
def trust_reproducible(bench):
    for precision, other, end in (("double", "compute.kernel=reference", 24),
                                  ("single", "compute.kernel=symmetric", 14),
                                  ("mixed", "compute.kernel=symmetric", 14)):
        base = [f"compute.precision={precision}", f"time.end={end}", "trust.half_step=false",
                "ensemble.systems=10", "time.step=0.008", "expect=()"]
        bench.run("trust-plummer", *base, output="one.run", criteria=False, timeout=600)
        bench.run("trust-plummer", *base, other, "trust.shadow=false", output="two.run",
                  criteria=False, timeout=600)
        ratio = horizons("one.run", "reproducible_until", 10) / parting("one.run", "two.run", 10)
        bench.above(f"{precision}: of 10 stated times, those within a factor 1.5 of the true one",
                    int(((ratio > 1 / 1.5) & (ratio < 1.5)).sum()), 9,
                    f"true: when the run has left one with {other} by 1 % of the size")
