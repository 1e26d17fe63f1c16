"""Error bars of --convergence beside the truth: two bodies on an orbit, and small clusters."""

import csv
import math
import os
import random
import statistics

import tap
from experiment import FOLDER, experiment

M1, M2, TRUE_ANOMALY, END = 1.0, 0.3, math.radians(40.0), 30.0  # as in error-bars.cfg
INTEGRATORS = ("euler", "semi-implicit-euler", "velocity-verlet", "leapfrog-dkd", "yoshida4",
               "pefrl", "yoshida6")


def eccentric_anomaly(mean, e):
    """Kepler's equation, by bisection: slow, and sure at any eccentricity."""
    turns = math.floor(mean / (2 * math.pi))
    mean -= 2 * math.pi * turns
    low, high = 0.0, 2 * math.pi
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle - e * math.sin(middle) < mean else (low, middle)
    return 0.5 * (low + high)


def truth(e):
    """The quantities at the end, from the elements alone: a = G = 1."""
    start = 2 * math.atan2(math.sqrt(1 - e) * math.sin(TRUE_ANOMALY / 2),
                           math.sqrt(1 + e) * math.cos(TRUE_ANOMALY / 2))
    mean = start - e * math.sin(start) + math.sqrt(M1 + M2) * END
    E = eccentric_anomaly(mean, e)
    r = 1 - e * math.cos(E)
    energy, potential = -M1 * M2 / 2, -M1 * M2 / r
    momentum = M1 * M2 / math.sqrt(M1 + M2) * math.sqrt(1 - e * e)
    return {"conservation.kinetic": energy - potential, "conservation.potential": potential,
            "conservation.energy": energy,
            "conservation.virial_ratio": 2 * (energy - potential) / -potential,
            "conservation.angular_momentum_z": momentum, "conservation.momentum_x": 0.0,
            "orbit.separation": r, "orbit.radial": 0.0, "orbit.along_track": 0.0,
            "orbit.phase_error": 0.0, "orbit.semi_major_axis": 1.0, "orbit.eccentricity": e}


def bars(integrator, e, steps):
    """(bar / true error, limit) of every quantity of one study; no ratio without a bar."""
    result = tap.run("run", os.path.join(FOLDER, "error-bars.cfg"), "-q", "--convergence",
                     "--force", "-o", "bars", "-P", f"time.integrator={integrator}",
                     "-P", f"bodies.eccentricity={e}", "-P", f"time.step={END / steps!r}",
                     *(word for k in (0, 1)
                       for word in ("-P", f"diagnostics.{k}.every={steps // 60}")),
                     "-P", "watch.energy_jump=1e30", "-P", "expect=()")
    assert result.returncode in (0, 1), (integrator, e, result.stderr)
    with open("bars/convergence.csv", newline="", encoding="utf-8") as file:
        rows = {row["column"]: row for row in csv.DictReader(file)}
    for name, value in truth(e).items():
        row = rows[name]
        error = abs(float(row["value"]) - value)
        if row["limit"] == "none":
            yield None, row["limit"]
        else:
            yield (float(row["error"]) / error if error else math.inf), row["limit"]


def measure(bench, integrators, eccentricities, steps, least_cases):
    all_ratios, unsaid, rounding = [], 0, []
    for integrator in integrators:
        found = [pair for e in eccentricities for n in steps for pair in bars(integrator, e, n)]
        ratios = [ratio for ratio, _ in found if ratio is not None]
        rounding += [ratio for ratio, limit in found if limit == "rounding"]
        unsaid += len(found) - len(ratios)
        all_ratios += ratios
        bench.above(f"{integrator}: part of {len(ratios)} true errors within their bars",
                    sum(ratio >= 1 for ratio in ratios) / len(ratios), 0.9,
                    "true: by Kepler's equation; all together must reach 0.95")
    bench.above("number of cases: integrators, eccentricities, steps and columns",
                len(all_ratios), least_cases, "enough for the parts below")
    bench.above("part of all true errors within their bars",
                sum(ratio >= 1 for ratio in all_ratios) / len(all_ratios), 0.95,
                "Kepler's equation")
    bench.below("median of bar / true error", statistics.median(all_ratios), 3.0,
                "wider bars would say too little")
    bench.below("the same if the bar is one of rounding", statistics.median(rounding), 10.0,
                "one sample of the rounding makes a wide bar")
    bench.below("part of all cases without a bar", unsaid / (unsaid + len(all_ratios)), 0.15,
                "studies that do not converge: Euler, and the longest steps at e = 0.9")


@experiment("error-bars", "error bars of `orrery run --convergence`, compared with the true errors",
            "Few bodies")
def error_bars(bench):
    bench.run("error-bars")
    measure(bench, ("velocity-verlet", "yoshida4", "yoshida6"), (0.3, 0.9), (1500, 6000), 100)


@experiment("error-bars-all", "the same for seven integrators, from e = 0 to 0.9",
            "Few bodies", long=True)
def error_bars_all(bench):
    measure(bench, INTEGRATORS, (0.0, 0.1, 0.3, 0.5, 0.7, 0.9), (1500, 6000, 24000), 1000)


# --- single and mixed precision -------------------------------------------------------------------

CLUSTER_SIZES, CLUSTER_STEPS = (8, 48, 200), (0.02, 0.01, 0.005)
CLUSTER_COLUMNS = ("kinetic", "potential", "energy", "virial_ratio", "angular_momentum_z")


def last_row(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    names = [name.split(" ")[0] for name in rows[0]]
    return {name: float(cell) for name, cell in zip(names, rows[-1]) if cell}


def cluster_bars(precision, seed):
    """(bar / true error, limit) of every quantity of one cluster; no ratio without a bar."""
    drawn = random.Random(seed)
    count, step = drawn.choice(CLUSTER_SIZES), drawn.choice(CLUSTER_STEPS)
    integrator = drawn.choice(("velocity-verlet", "yoshida4", "yoshida6"))
    common = ("run", os.path.join(FOLDER, "error-bars-clusters.cfg"), "-q", "--force", "-P",
              "expect=()", "-P", f"bodies.count={count}", "-P", f"bodies.seed={seed}")
    fine = tap.run(*common, "-o", "fine", "-P", "compute.precision=double", "-P",
                   "time.integrator=yoshida6", "-P", f"time.step={step / 8!r}", "-P",
                   "diagnostics.0.every=10000")
    assert fine.returncode == 0, (seed, fine.stderr)
    coarse = tap.run(*common, "-o", "coarse", "--convergence", "-P",
                     f"compute.precision={precision}", "-P", f"time.step={step!r}", "-P",
                     f"time.integrator={integrator}", "-P", "diagnostics.0.every=5", "-P",
                     "watch.energy_jump=1e30")
    assert coarse.returncode in (0, 1), (seed, coarse.stderr)
    true = last_row("fine/conservation.csv")
    with open("coarse/convergence.csv", newline="", encoding="utf-8") as file:
        rows = {row["column"]: row for row in csv.DictReader(file)}
    for name in CLUSTER_COLUMNS:
        row = rows[f"conservation.{name}"]
        error = abs(float(row["value"]) - true[name])
        if row["limit"] == "none":
            yield None, row["limit"]
        else:
            yield (float(row["error"]) / error if error else math.inf), row["limit"]


@experiment("error-bars-clusters", "error bars of clusters in single and mixed precision",
            "Few bodies", long=True)
def error_bars_clusters(bench):
    for precision in ("single", "mixed"):
        found = [pair for seed in range(1, 101) for pair in cluster_bars(precision, seed)]
        ratios = [ratio for ratio, _ in found if ratio is not None]
        rounding = [ratio for ratio, limit in found if limit == "rounding"]
        source = "true: yoshida6 in double precision, an eighth of the step"
        bench.above(f"{precision}: part of {len(ratios)} true errors within their bars",
                    sum(ratio >= 1 for ratio in ratios) / len(ratios), 0.95, source)
        bench.above(f"{precision}: the same of the {len(rounding)} with a bar of rounding",
                    sum(ratio >= 1 for ratio in rounding) / len(rounding), 0.95, source)
        bench.below(f"{precision}: median of bar / true error", statistics.median(ratios), 10.0,
                    "one sample of the rounding makes a wide bar")
        bench.below(f"{precision}: part of all cases without a bar",
                    1 - len(ratios) / len(found), 0.15, "studies that do not converge")
