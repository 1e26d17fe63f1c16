#!/usr/bin/env python3
"""Do runs keep the error that they are asked for? Experiments drawn at random, each judged by sums
of its own over the trajectory that it wrote.

usage: asked_errors.py [--orrery ./orrery] [--experiments 200] [--seed 1] [--most 4e6] [--grid]
                       [--rebound] [--jobs 1] [--figure FILE.png] [--table FILE.csv]

Starts, numbers of bodies (2 to 2000), softening (0 to 0.1), ends (1 to 100 dynamical times,
sqrt(R^3 / GM), which is 1 in these units) and errors (1e-3 to 1e-10) are drawn. --most bounds N^2
times the end, so that the whole takes minutes; a draw beyond it is drawn again.

With --grid each experiment is also run with a grid of settings, as one tries by hand: integrators
with 1, 2, 4, ... times as many steps until one keeps the error, by the same sums. Two costs are
compared, those of the choice and of attempts that missed included: the processor's seconds, and the
counted work, in the time of a pair of a direct sum. With --rebound the same bodies are moved by
IAS15 and the leapfrog of REBOUND, with their defaults.
"""

import argparse
import functools
import json
import math
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import tempfile

import numpy as np

MISSED, REFUSED, KEPT = "missed", "refused", "kept"

# Those that choose their own steps come first: what costs more than the best so far is not tried.
GRID = [("gauss-radau", ("accuracy", [1e-4, 1e-6, 1e-9])),
        ("hermite4", ("eta", [0.3, 0.08, 0.02, 0.005, 0.00125, 0.0003])),
        ("yoshida6", None), ("pefrl", None), ("velocity-verlet", None)]
FRAMES = 100

# What a step, each body and each pair cost, in the time of a pair of a direct sum; of the others a
# force and each body (docs/theory.md, "Asking for the error").
OWN_STEPS = {"gauss-radau": (1000, 300, 1.5), "hermite4": (850, 0, 2)}
FORCE, BODY = 60, 20


def draw(rng, most):
    """One experiment: its config without a word on integrator and steps, and what it is."""
    while True:
        start = rng.choice(["two-body", "figure-eight", "pythagorean", "plummer", "plummer",
                            "plummer", "king", "cold-sphere", "uniform-cube", "binaries"])
        count = {"two-body": 2, "figure-eight": 3, "pythagorean": 3}.get(
            start, round(2 * 1000 ** rng.random()))
        softening = rng.choice([0.0, rng.uniform(0.0, 0.1), 10 ** rng.uniform(-3, -1)])
        end = 10 ** rng.uniform(0, 2)
        asked = 10 ** rng.uniform(-10, -3)
        seed = rng.randrange(1000000)
        if start not in ("two-body", "figure-eight", "pythagorean") and count < 4:
            continue
        if count ** 2 * end <= most:
            break
    keys = {"two-body": f"initial = \"two-body\"; eccentricity = {rng.uniform(0.0, 0.95):.3f};",
            "figure-eight": "initial = \"figure-eight\";",
            "pythagorean": "initial = \"pythagorean\";",
            "binaries": f"initial = \"plummer\"; count = {count}; seed = {seed}; "
                        "binary_fraction = 0.1; binary_axes = [0.01, 0.1];",
            "king": f"initial = \"king\"; w0 = 6.0; count = {count}; seed = {seed};"}
    bodies = keys.get(start, f"initial = \"{start}\"; count = {count}; seed = {seed};")
    return {"start": start, "count": count, "softening": softening, "end": end, "asked": asked,
            "bodies": bodies}


def config(experiment, time, every):
    return (f"bodies = {{ {experiment['bodies']} }};\n"
            f"physics = {{ softening = {experiment['softening']:.6g}; }};\n"
            f"time = {{ {time} end = {experiment['end']:.6g}; }};\n"
            "compute = { threads = 1; };\n"
            "watch = { on_jump = \"warn\"; };\n"
            f"outputs = ( {{ type = \"xyz\"; every = {every}; }} );\n")


def energies(frames, softening):
    """The energy of each frame about its centre of mass, in long double, and U of the first."""
    found = []
    for m, x, v in frames:
        m, x, v = (np.asarray(a, dtype=np.longdouble) for a in (m, x, v))
        v = v - (m[:, None] * v).sum(axis=0) / m.sum()
        kinetic = 0.5 * (m * (v * v).sum(axis=1)).sum()
        potential = np.longdouble(0)
        for i in range(len(m) - 1):
            d = x[i + 1:] - x[i]
            potential -= m[i] * (m[i + 1:] / np.sqrt((d * d).sum(axis=1) + softening ** 2)).sum()
        found.append((kinetic + potential, potential))
    return found


def error_of(frames, softening):
    """The largest |E - E0| / max(|E0|, |U0|)."""
    sums = energies(frames, softening)
    first, scale = sums[0][0], max(abs(sums[0][0]), abs(sums[0][1]))
    return float(max(abs(e - first) for e, _ in sums) / scale)


def read_frames(path):
    """(m, x, v) of each frame of an extended XYZ file."""
    frames = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            count = int(line)
            file.readline()
            rows = np.array([[float(word) for word in file.readline().split()[1:8]]
                             for _ in range(count)])
            frames.append((rows[:, 6], rows[:, 0:3], rows[:, 3:6]))
    return frames


def seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(orrery, folder, text, limit=3600):
    """Runs a config; what became of it, with the processor's seconds, of which it has `limit`."""
    path, out = os.path.join(folder, "run.cfg"), os.path.join(folder, "run.run")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    before = seconds()
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]  # which may not be raised
    limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
    done = subprocess.run([orrery, "run", path, "-o", out, "--force", "-q"], capture_output=True,
                          text=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit,) * 2))
    result = {"code": done.returncode, "text": done.stderr.strip(), "seconds": seconds() - before}
    if done.returncode in (0, 1):
        with open(os.path.join(out, "run.json"), encoding="utf-8") as file:
            result["json"] = json.load(file)
        result["trajectory"] = os.path.join(out, "trajectory.xyz")
    return result


def work_of(record):
    """The counted work of a run, by its run.json."""
    bodies, pairs = record["bodies"], record["interactions"]
    if record.get("own_steps"):
        step, body, pair = OWN_STEPS[record["config"]["time"]["integrator"]]
        return record["own_steps"]["steps"] * (step + body * bodies) + pair * pairs
    return pairs / bodies ** 2 * (FORCE + BODY * bodies) + pairs


def perform(orrery, folder, experiment):
    """The experiment with the error asked for."""
    text = config(experiment, f"energy_error = {experiment['asked']:.3g};", 1000 // FRAMES)
    done = run(orrery, folder, text)
    result = dict(experiment, seconds=done["seconds"], code=done["code"], text=done["text"])
    if "json" not in done:
        return dict(result, outcome=REFUSED)
    choice = done["json"]["choice"]
    setting = choice["candidates"][choice["chosen"]]["setting"]
    reached = error_of(read_frames(done["trajectory"]), float(f"{experiment['softening']:.6g}"))
    cost = work_of(done["json"])
    lost = sum(a["cost"] for a in choice["attempts"])
    return dict(result, reached=reached, integrator=setting["integrator"],
                fineness=setting["fineness"], attempts=len(choice["attempts"]),
                lost=lost / cost, pilots=choice["pilots"] / cost,
                cost=cost, work=cost + lost + choice["pilots"], motion=done["json"]["cpu_seconds"],
                outcome=KEPT if reached <= float(f"{experiment['asked']:.3g}") else MISSED)


def try_grid(orrery, folder, experiment, limit):
    """The seconds and the work of the cheapest settings of a grid that keep the error, or None;
    `limit` is what nobody would wait for."""
    best, least = None, math.inf
    for integrator, key in GRID:
        for k in range(14 if key is None else len(key[1])):
            steps = FRAMES * 2 ** k if key is None else 1000
            time = f"integrator = \"{integrator}\"; step = {experiment['end'] / steps:.17g};"
            if key is not None:
                time += f" {key[0]} = {key[1][k]};"
            done = run(orrery, folder, config(experiment, time, steps // FRAMES), 2 * int(limit))
            kept = "json" in done and error_of(
                read_frames(done["trajectory"]),
                float(f"{experiment['softening']:.6g}")) <= experiment["asked"]
            if kept:
                least = min(least, work_of(done["json"]))
            if kept and (best is None or done["seconds"] < best[0]):
                best = (done["seconds"], integrator, steps if key is None else key[1][k])
            if kept or done["seconds"] > (limit if best is None else 1.5 * best[0]):
                break
    return best and best + (least,)


def within(limit, function, *arguments):
    """What the function returns; None where it takes more of the processor's seconds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = math.ceil(limit + used.ru_utime + used.ru_stime)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        os.write(writing, json.dumps(function(*arguments)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def try_rebound(folder, experiment, orrery, integrator):
    """The error of REBOUND by its defaults, from the same bodies, and the seconds."""
    import rebound
    tiny = dict(experiment, end=1e-9)
    done = run(orrery, folder, config(tiny, "integrator = \"velocity-verlet\"; step = 1e-9;", 1))
    if "json" not in done:
        return None
    m, x, v = read_frames(done["trajectory"])[0]
    simulation = rebound.Simulation()
    simulation.integrator = integrator
    simulation.softening = experiment["softening"]
    for i, mass in enumerate(m):
        simulation.add(m=mass, x=x[i, 0], y=x[i, 1], z=x[i, 2], vx=v[i, 0], vy=v[i, 1],
                       vz=v[i, 2])
    frames = [(m, x, v)]
    before = os.times()
    for k in range(1, FRAMES + 1):
        simulation.integrate(experiment["end"] * k / FRAMES, exact_finish_time=1)
        frames.append((m, np.array([[p.x, p.y, p.z] for p in simulation.particles]),
                       np.array([[p.vx, p.vy, p.vz] for p in simulation.particles])))
    after = os.times()
    return error_of(frames, experiment["softening"]), after.user - before.user


def show(results):
    """The lines that a reader wants."""
    kept = [r for r in results if r["outcome"] != REFUSED]
    ratios = [r["reached"] / r["asked"] for r in kept]
    lines = [f"{len(results)} experiments: {sum(r['outcome'] == KEPT for r in results)} kept the "
             f"error, {sum(r['outcome'] == MISSED for r in results)} missed it, "
             f"{sum(r['outcome'] == REFUSED for r in results)} were refused"]
    if ratios:
        cuts = np.quantile(ratios, [0.05, 0.25, 0.5, 0.75, 0.95, 1.0])
        lines.append("reached over asked, at 5, 25, 50, 75, 95, 100 %: "
                     + ", ".join(f"{c:.2g}" for c in cuts))
        lines.append(f"runs that began anew: {sum(r['attempts'] > 0 for r in kept)}; chosen: "
                     + ", ".join(f"{name} {sum(r['integrator'] == name for r in kept)}" for name in
                                 sorted({r["integrator"] for r in kept})))
    gridded = [r for r in results if r.get("grid")]
    if gridded:
        ran = [r for r in gridded if r["outcome"] != REFUSED]
        for what, unit, mine, best in (
                ("processor's time", "s", [r["seconds"] for r in ran], [r["grid"][0] for r in ran]),
                ("counted work", "pairs", [r["work"] for r in ran], [r["grid"][3] for r in ran])):
            each = np.quantile(np.divide(mine, best), [0.5, 0.9])
            lines.append(f"{what} of {len(ran)} beside the best of each grid: {sum(mine):.3g} and "
                         f"{sum(best):.3g} {unit}, {sum(mine) / sum(best):.2f} times; each by "
                         f"itself, at 50 and 90 %: {each[0]:.2f}, {each[1]:.2f} times")
        lines.append("refused though the grid keeps it: "
                     f"{sum(r['outcome'] == REFUSED for r in gridded)}")
    return lines


COLUMNS = ["start", "count", "softening", "end", "asked", "outcome", "reached", "integrator",
           "fineness", "attempts", "pilots", "lost", "seconds", "work"]


def row_of(result):
    """For the table: what was asked for and reached; the grid's best; REBOUND's errors."""
    cells = [result.get(name) for name in COLUMNS]
    grid = result.get("grid") or [None] * 4
    cells += [grid[0], grid[3], f"{grid[1]} {grid[2]}" if grid[1] else None]
    cells += [(result.get(name) or [None])[0] for name in ("ias15", "leapfrog")]
    return ["" if c is None else f"{c:.3g}" if isinstance(c, float) else str(c) for c in cells]


def write_table(results, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(COLUMNS + ["grid_seconds", "grid_work", "grid_setting", "ias15_reached",
                                       "leapfrog_reached"]) + "\n")
        for result in results:
            file.write(",".join(row_of(result)) + "\n")


def draw_figure(results, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    kept = [r for r in results if r["outcome"] != REFUSED]
    figure, axes = pyplot.subplots(figsize=(6, 4))
    edges = np.arange(-8.0, 10.01, 0.5)

    def spread(pairs):
        return [min(max(math.log10(max(reached, 1e-30) / asked), -7.9), 9.9)
                for reached, asked in pairs]

    axes.hist(spread((r["reached"], r["asked"]) for r in kept), bins=edges,
              label=f"orrery, asked for the error ({len(kept)})")
    for name, color in (("ias15", "tab:orange"), ("leapfrog", "tab:red")):
        pairs = [(r[name][0], r["asked"]) for r in results if r.get(name)]
        if pairs:
            axes.hist(spread(pairs), bins=edges, histtype="step", color=color,
                      label=f"REBOUND {name}, by default ({len(pairs)})")
    axes.axvline(0.0, color="black", linewidth=1)
    axes.set_xlabel("log10 of the error reached over the error asked")
    axes.set_ylabel("experiments")
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)


def examine(options, experiment):
    """All that is done with one experiment."""
    with tempfile.TemporaryDirectory() as folder:
        result = perform(options.orrery, folder, experiment)
        if options.grid:
            result["grid"] = try_grid(options.orrery, folder, experiment, options.limit)
        if options.rebound:
            for name in ("ias15", "leapfrog"):
                result[name] = within(options.limit, try_rebound, folder, experiment,
                                      options.orrery, name)
    return result


def line_of(result):
    grid = result.get("grid")
    text = (f"{result['start']:13} N {result['count']:5} eps {result['softening']:<8.3g} "
            f"t {result['end']:<6.3g} asked {result['asked']:.1e} {result['outcome']:7} "
            f"{result.get('reached', math.nan):.1e} {result.get('integrator', '-'):15} "
            f"{result.get('fineness', math.nan):8.3g} again {result.get('attempts', 0)} "
            f"lost {result.get('lost', 0):.2g} pilots {result.get('pilots', 0):.2g} "
            f"{result['seconds']:.2f} s")
    if grid:
        text += (f" work {result.get('work', math.nan):.2g} grid {grid[0]:.2f} s {grid[1]} "
                 f"{grid[2]} {grid[3]:.2g}")
    for name in ("ias15", "leapfrog"):
        if result.get(name):
            text += f" {name} {result[name][0]:.1e} {result[name][1]:.2f} s"
    return text + (f" {result['text'][:300]}" if result["outcome"] == REFUSED else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--orrery", default=os.environ.get("ORRERY", "./orrery"))
    parser.add_argument("--experiments", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="skips so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=float, default=4e6)
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--rebound", action="store_true")
    parser.add_argument("--limit", type=float, default=20.0,
                        help="seconds of a run of the grid or of REBOUND")
    parser.add_argument("--jobs", type=int, default=1, help="experiments at a time")
    parser.add_argument("--figure")
    parser.add_argument("--table")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    drawn = [draw(rng, options.most) for _ in range(options.experiments)][options.first:]
    with multiprocessing.Pool(options.jobs) as pool:
        results = []
        for result in pool.imap(functools.partial(examine, options), drawn):
            results.append(result)
            print(f"{len(results) + options.first - 1:4} {line_of(result)}", flush=True)
    print("\n".join(show(results)))
    if options.figure:
        draw_figure(results, options.figure)
    if options.table:
        write_table(results, options.table)
    sys.exit(any(r["outcome"] == MISSED for r in results))


if __name__ == "__main__":
    main()
