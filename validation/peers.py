#!/usr/bin/env python3
"""Orrery beside other programs on this machine, in turns: the comparison of docs/performance.md.

usage: peers.py [--orrery ./orrery] [--mini-nbody FOLDER] [--rounds 5] [--bodies 16384]
       peers.py --own-steps [--orrery ./orrery] [--rounds 5]

FOLDER is a copy of https://github.com/harrism/mini-nbody; its SoA program is built here, in a
folder that is removed, with every compiler and every set of flags below. REBOUND is the Python
module `rebound`. What is missing is left out, and said so. Rates are ordered pair interactions
per second, steps those of two bodies; a ratio is the median of those of the rounds.

With --own-steps it is gauss-radau beside IAS15 of REBOUND, from the same bodies to the same time:
the seconds of the integration alone, and the energy error.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

FLAGS = {"native": ["-march=native"], "AVX2": ["-mavx2", "-mfma"], "SSE2": []}


class Peers:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.cases = {}

    def orrery(self, title, *arguments):
        def measure():
            out = os.path.join(self.folder, "bench")
            subprocess.run([self.options.orrery, "bench", "--seconds", "0.5", "-o", out,
                            *arguments], check=True, capture_output=True)
            row = json.loads(pathlib.Path(out, "bench.json").read_text())["rows"][0]
            return (row["interactions_per_second"], row["error"], row["far_error"])
        self.cases[title] = measure

    def mini_nbody(self, compiler, name):
        source = next(pathlib.Path(self.options.mini_nbody).rglob("nbody-soa.c"), None)
        if not source or not shutil.which(compiler):
            print(f"left out: mini n-body by {compiler}")
            return
        program = os.path.join(self.folder, f"mini-{compiler}-{name}")
        subprocess.run([compiler, "-std=c99", "-D_GNU_SOURCE", "-O3", *FLAGS[name], "-ffast-math",
                        "-fopenmp", "-DSHMOO", f"-I{source.parent}", f"-I{source.parent.parent}",
                        "-o", program, source, "-lm"], check=True)

        def measure():
            text = subprocess.run([program, str(self.options.bodies)], check=True,
                                  capture_output=True, text=True).stdout
            return (1e9 * float(text.split(",")[1]), None, None)
        self.cases[f"mini n-body SoA, {compiler} {name}"] = measure

    def rebound(self):
        try:
            import rebound
        except ImportError:
            print("left out: REBOUND, no module rebound")
            return

        def simulation(count, gravity):
            sim = rebound.Simulation()
            sim.integrator, sim.gravity, sim.softening, sim.dt = "leapfrog", gravity, 0.05, 1e-9
            for i in range(count):
                sim.add(m=1.0, x=(i * 0.618) % 2, y=(i * 0.414) % 2, z=(i * 0.732) % 2)
            return sim

        def timed(sim, steps):
            start = time.perf_counter()
            sim.steps(steps)
            return (time.perf_counter() - start) / steps

        many = simulation(min(self.options.bodies, 4096), "basic")
        few = simulation(2, "basic")
        self.cases["REBOUND basic, one thread"] = lambda: (many.N ** 2 / timed(many, 2), None, None)
        self.cases["REBOUND leapfrog, 2 bodies"] = lambda: (4 / timed(few, 500000), None, None)


def define(peers):
    bodies, every = str(peers.options.bodies), ("--equal-masses",)
    for precision in ("single", "mixed", "double"):
        for kernel in ("plain", "symmetric"):
            peers.orrery(f"Orrery {precision} {kernel}", "--sizes", bodies, "--precisions",
                         precision, "--kernels", kernel, *every)
    peers.orrery("Orrery single symmetric, one thread", "--sizes", bodies, "--precisions", "single",
                 "--kernels", "symmetric", "--threads", "1", *every)
    peers.orrery("Orrery double symmetric, one thread", "--sizes", bodies, "--kernels", "symmetric",
                 "--threads", "1", *every)
    peers.orrery("Orrery single, 1024 bodies", "--sizes", "1024", "--precisions", "single", *every)
    for isa in ("avx2", "baseline"):
        peers.orrery(f"Orrery single {isa}", "--sizes", bodies, "--precisions", "single",
                     "--kernels", "symmetric", "--isas", isa, *every)
    peers.orrery("Orrery, 2 bodies", "--sizes", "2", "--threads", "1")
    if peers.options.mini_nbody:
        for compiler in ("gcc", "clang"):
            for name in FLAGS:
                peers.mini_nbody(compiler, name)
    peers.rebound()


# --- integrators that choose their own steps -----------------------------------------------------

# What is moved, by how many threads of gauss-radau, and the wanted ratio. Both programs look at the
# bodies at the end alone: time.step, the grid of observation, is the whole of the time.
OWN_STEPS = (
    ("Pythagorean problem, t = 70", """bodies = { initial = "pythagorean"; };
        time = { step = 70.0; end = 70.0; };""", 1, 0.5),
    ("outer solar system, 1000 years", """physics = { units = "astronomical"; };
        bodies = { initial = "outer-solar-system"; };
        time = { step = 365250.0; end = 365250.0; };""", 1, 0.5),
    ("1000 systems of three bodies, t = 1", """bodies = { initial = "plummer"; count = 3; };
        ensemble = { systems = 1000; };
        time = { step = 1.0; end = 1.0; };""", 2, 0.1),
    ("Plummer sphere, 1024 bodies, softening 0.01, t = 0.05",
     """bodies = { initial = "plummer"; count = 1024; };
        physics = { softening = 0.01; };
        time = { step = 0.05; end = 0.05; };""", 2, 0.1),
)
GRAVITY = {"nbody": 1.0, "astronomical": 0.01720209895**2}  # Gauss's: AU, days, solar masses
REST = """name = "own-steps";
    diagnostics = ( { type = "conservation"; every = 1000000; } );
    outputs = ( { type = "xyz"; every = 1000000; columns = "pos velo mass"; } );
"""


def run_orrery(options, folder, text, threads):
    """Seconds of a system, the worst one's energy error at the end, run.json, and the bodies."""
    config, out = os.path.join(folder, "own.cfg"), os.path.join(folder, "own.run")
    pathlib.Path(config).write_text(f"{REST}{text}\ncompute = {{ threads = {threads}; }};\n")
    subprocess.run([options.orrery, "run", config, "-q", "--force", "-o", out,
                    "-P", "time.integrator=gauss-radau"], check=True)
    run = json.loads(pathlib.Path(out, "run.json").read_text())
    error = abs(run["relative_energy_error"])
    bodies = first_frame(os.path.join(out, "trajectory.xyz"))
    return run["advance_seconds"] / run["systems"], error, run, bodies


def first_frame(file):
    """Rows x y z vx vy vz m of all systems at the start."""
    with open(file, encoding="utf-8") as lines:
        count = int(next(lines))
        next(lines)
        return [[float(word) for word in next(lines).split()[:7]] for _ in range(count)]


def energy(sim):
    """REBOUND's own leaves the softening out of the potential."""
    bodies = [(p.m, p.x, p.y, p.z, p.vx, p.vy, p.vz) for p in sim.particles]
    terms = [0.5 * m * (vx * vx + vy * vy + vz * vz) for m, _, _, _, vx, vy, vz in bodies]
    for i, a in enumerate(bodies):
        terms += [-sim.G * a[0] * b[0] / math.sqrt(
            (a[1] - b[1])**2 + (a[2] - b[2])**2 + (a[3] - b[3])**2 + sim.softening**2)
            for b in bodies[:i]]
    return math.fsum(terms)


def run_ias15(rebound, run, rows):
    """Seconds of a system, and the worst one's energy error at the end."""
    physics, each, systems = run["config"]["physics"], run["bodies"], run["systems"]
    seconds, largest = 0.0, 0.0
    for system in range(systems):
        sim = rebound.Simulation()
        sim.integrator, sim.G = "ias15", GRAVITY[physics["units"]]
        sim.softening = physics["softening"]
        for x, y, z, vx, vy, vz, m in rows[system * each:(system + 1) * each]:
            sim.add(m=m, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
        before = energy(sim)
        start = time.perf_counter()
        sim.integrate(run["config"]["time"]["end"])
        seconds += time.perf_counter() - start
        largest = max(largest, abs(energy(sim) / before - 1))
    return seconds / systems, largest


def own_steps(options, folder):
    try:
        import rebound
    except ImportError:
        print("left out: REBOUND, no module rebound")
        return
    print("| experiment | threads | gauss-radau, s | IAS15, s | ratio | target "
          "| energy error | of IAS15 |\n|---|---|---|---|---|---|---|---|")
    for title, text, threads, target in OWN_STEPS:
        ours, theirs = [], []
        for _ in range(options.rounds):
            seconds, error, run, bodies = run_orrery(options, folder, text, threads)
            ours.append((seconds, error))
            theirs.append(run_ias15(rebound, run, bodies))
        ratio = statistics.median(a[0] / b[0] for a, b in zip(ours, theirs))
        print(f"| {title} | {threads} | {statistics.median(a[0] for a in ours):.3g} "
              f"| {statistics.median(b[0] for b in theirs):.3g} | {ratio:.2g} | {target} "
              f"| {ours[0][1]:.1e} | {theirs[0][1]:.1e} |", flush=True)


# --- kernels -------------------------------------------------------------------------------------

RATIOS = (
    ("Orrery single symmetric", "mini n-body SoA, gcc native", 2.3),
    ("Orrery single symmetric", "mini n-body SoA, clang native", 1.6),
    ("Orrery double symmetric, one thread", "REBOUND basic, one thread", 10),
    ("Orrery mixed symmetric", "Orrery single symmetric", 0.75),
    ("Orrery single symmetric", "Orrery single plain", 1.3),
    ("Orrery double symmetric", "Orrery double plain", 1.3),
    ("Orrery single symmetric", "Orrery single symmetric, one thread", 1.9),
    ("Orrery single, 1024 bodies", "Orrery single symmetric", 0.75),
    ("Orrery, 2 bodies", "REBOUND leapfrog, 2 bodies", 1.8),
    ("Orrery single avx2", "mini n-body SoA, gcc AVX2", 1.25),
    ("Orrery single avx2", "mini n-body SoA, clang AVX2", 1.25),
    ("Orrery single baseline", "mini n-body SoA, gcc SSE2", 1.2),
    ("Orrery single baseline", "mini n-body SoA, clang SSE2", 1.2),
)


def kernels(options, folder):
    peers = Peers(options, folder)
    define(peers)
    found = {title: [] for title in peers.cases}
    for _ in range(options.rounds):
        for title, measure in peers.cases.items():
            found[title].append(measure())
    print(f"\n| {options.bodies} bodies unless said | best G/s | median | error | far |")
    print("|---|---|---|---|---|")
    for title, values in found.items():
        rates = [value[0] for value in values]
        errors = " | ".join("" if e is None else f"{e:.1e}" for e in values[0][1:])
        print(f"| {title} | {1e-9 * max(rates):.3f} | {1e-9 * statistics.median(rates):.3f} "
              f"| {errors} |")
    print("\n| ratio | of the best | median of the rounds | target |\n|---|---|---|---|")
    for one, other, target in RATIOS:
        if one in found and other in found:
            pairs = [a[0] / b[0] for a, b in zip(found[one], found[other])]
            best = max(a[0] for a in found[one]) / max(b[0] for b in found[other])
            print(f"| {one} / {other} | {best:.2f} | {statistics.median(pairs):.2f} | {target} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--orrery", default="./orrery")
    parser.add_argument("--mini-nbody")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bodies", type=int, default=16384)
    parser.add_argument("--own-steps", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orrery-peers-") as folder:
        if options.own_steps:
            own_steps(options, folder)
        else:
            kernels(options, folder)


if __name__ == "__main__":
    main()
