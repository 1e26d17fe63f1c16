#!/usr/bin/env python3
"""Do runs keep the error that they are asked for? Experiments drawn at random, each judged by sums
of its own over the trajectory that it wrote.

usage: asked_errors.py [--orrery ./orrery] [--experiments 200] [--seed 1] [--most 4e6] [--grid]
                       [--rebound] [--figure FILE.png] [--table FILE.csv]

Starts, numbers of bodies (2 to 2000), softening (0 to 0.1), ends (1 to 100 dynamical times,
sqrt(R^3 / GM), which is 1 in these units) and errors (1e-3 to 1e-10) are drawn. --most bounds N^2
times the end, so that the whole takes minutes; a draw beyond it is drawn again.

With --grid each experiment is also run with a grid of settings, as one tries by hand: integrators
with 1, 2, 4, ... times as many steps until one keeps the error, by the same sums. The costs that
are compared are the processor's seconds, those of the choice included. With --rebound the same
bodies are moved by IAS15 and the leapfrog of REBOUND, with their defaults.
"""

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile

import numpy as np

MISSED, REFUSED, KEPT = "missed", "refused", "kept"

GRID = [("velocity-verlet", None), ("pefrl", None), ("yoshida6", None),
        ("hermite4", ("eta", [0.3, 0.08, 0.02, 0.005, 0.00125, 0.0003])),
        ("gauss-radau", ("accuracy", [1e-4, 1e-6, 1e-9]))]
FRAMES = 100


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


def run(orrery, folder, text):
    """Runs a config; what became of it, with the processor's seconds."""
    path, out = os.path.join(folder, "run.cfg"), os.path.join(folder, "run.run")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    before = seconds()
    done = subprocess.run([orrery, "run", path, "-o", out, "--force", "-q"], capture_output=True,
                          text=True, check=False)
    result = {"code": done.returncode, "text": done.stderr.strip(), "seconds": seconds() - before}
    if done.returncode in (0, 1):
        with open(os.path.join(out, "run.json"), encoding="utf-8") as file:
            result["json"] = json.load(file)
        result["trajectory"] = os.path.join(out, "trajectory.xyz")
    return result


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
    cost = choice["candidates"][choice["chosen"]]["cost"]
    return dict(result, reached=reached, integrator=setting["integrator"],
                fineness=setting["fineness"], attempts=len(choice["attempts"]),
                lost=sum(a["cost"] for a in choice["attempts"]) / cost,
                pilots=choice["pilots"] / cost, cost=cost,
                motion=done["json"]["cpu_seconds"],
                outcome=KEPT if reached <= float(f"{experiment['asked']:.3g}") else MISSED)


def try_grid(orrery, folder, experiment, limit):
    """The seconds of the cheapest setting of a grid that keeps the error, or None; `limit` is what
    nobody would wait for."""
    best = None
    for integrator, key in GRID:
        for k in range(14 if key is None else len(key[1])):
            steps = FRAMES * 2 ** k if key is None else 1000
            time = f"integrator = \"{integrator}\"; step = {experiment['end'] / steps:.17g};"
            if key is not None:
                time += f" {key[0]} = {key[1][k]};"
            done = run(orrery, folder, config(experiment, time, steps // FRAMES))
            kept = "json" in done and error_of(
                read_frames(done["trajectory"]),
                float(f"{experiment['softening']:.6g}")) <= experiment["asked"]
            if kept and (best is None or done["seconds"] < best[0]):
                best = (done["seconds"], integrator, steps if key is None else key[1][k])
            if kept or done["seconds"] > (limit if best is None else best[0]):
                break
    return best


def try_rebound(folder, experiment, orrery, integrator):
    """The error of REBOUND by its defaults, from the same bodies; None where it is left out."""
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
        mine, best = sum(r["seconds"] for r in ran), sum(r["grid"][0] for r in ran)
        lines.append(f"{len(gridded)} of a grid: {mine:.3g} s of the processor, the best of each "
                     f"grid {best:.3g} s: {mine / best:.2f} times; refused though the grid keeps "
                     f"it: {sum(r['outcome'] == REFUSED for r in gridded)}")
    return lines


def draw_figure(results, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    kept = [r for r in results if r["outcome"] != REFUSED]
    figure, axes = pyplot.subplots(figsize=(6, 4))
    axes.hist([math.log10(max(r["reached"] / r["asked"], 1e-8)) for r in kept], bins=40)
    axes.axvline(0.0, color="black", linewidth=1)
    axes.set_xlabel("log10 of the error reached over the error asked")
    axes.set_ylabel(f"of {len(kept)} experiments")
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--orrery", default=os.environ.get("ORRERY", "./orrery"))
    parser.add_argument("--experiments", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="skips so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=float, default=4e6)
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--rebound", action="store_true")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a run of the grid")
    parser.add_argument("--figure")
    parser.add_argument("--table")
    options = parser.parse_args()
    rng, results = random.Random(options.seed), []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(options.experiments):
            experiment = draw(rng, options.most)
            if k < options.first:
                continue
            result = perform(options.orrery, folder, experiment)
            if options.grid:
                result["grid"] = try_grid(options.orrery, folder, experiment, options.limit)
            if options.rebound:
                for name in ("ias15", "leapfrog"):
                    result[name] = try_rebound(folder, experiment, options.orrery, name)
            results.append(result)
            print(f"{k:4} {result['start']:13} N {result['count']:5} "
                  f"eps {result['softening']:<8.3g} "
                  f"t {result['end']:<6.3g} asked {result['asked']:.1e} {result['outcome']:7} "
                  f"{result.get('reached', math.nan):.1e} {result.get('integrator', '-'):15} "
                  f"{result.get('fineness', math.nan):8.3g} again {result.get('attempts', 0)} "
                  f"lost {result.get('lost', 0):.2g} pilots {result.get('pilots', 0):.2g} "
                  f"{result['seconds']:.2f} s grid {result.get('grid')} "
                  f"{result.get('ias15', '')} {result.get('leapfrog', '')}"
                  + (f" {result['text'][:300]}" if result["outcome"] == REFUSED else ""),
                  flush=True)
    print("\n".join(show(results)))
    if options.figure:
        draw_figure(results, options.figure)
    if options.table:
        with open(options.table, "w", encoding="utf-8") as file:
            json.dump(results, file)
    sys.exit(any(r["outcome"] == MISSED for r in results))


if __name__ == "__main__":
    main()
