#!/usr/bin/env python3
"""Orrery beside other programs on this machine, in turns: the comparison of docs/performance.md.

usage: peers.py [--orrery ./orrery] [--mini-nbody FOLDER] [--rounds 5] [--bodies 16384]
       peers.py --own-steps [--orrery ./orrery] [--rounds 5]
       peers.py --forces TABLE.csv [--orrery ./orrery] [--falcon PROGRAM] [--exafmm PROGRAM]
                [--bodies 100000] [--rounds 3] [--figure FILE.svg]
       peers.py --draw TABLE.csv --figure FILE.svg

FOLDER is a copy of https://github.com/harrism/mini-nbody; its SoA program is built here, in a
folder that is removed, with every compiler and every set of flags below. REBOUND is the Python
module `rebound`. What is missing is left out, and said so. Rates are ordered pair interactions
per second, steps those of two bodies; a ratio is the median of those of the rounds.

With --own-steps it is gauss-radau beside IAS15 of REBOUND, from the same bodies to the same time:
the seconds of the integration alone, and the energy error.

With --forces it is the force of fmm beside that of other programs in less than O(N^2): seconds of
one thread by the CPU's clock, the tree included, and the error beside direct sums in double, the
same for all, of 1000 bodies. Each round measures all of them in turns, and the table has their
medians. PROGRAM is a driver that the user builds: falcON of https://github.com/teuben/nemo, or
exafmm-t of https://github.com/exafmm/exafmm-t in single precision. It is called as

    PROGRAM IN.f32 N SOFTENING SETTING 0 OUT.f32

with x, y, z, m of each body as float32 (the opening angle or the order is the setting), computes
the forces three times (exafmm-t: prints "cpu SECONDS" after each) and writes the accelerations as
float32. FMM3D and pytreegrav are the Python modules fmm3dpy and pytreegrav. Those three know no
softening like ours and have none. A figure needs matplotlib.
"""

import argparse
import csv
import importlib.util
import json
import math
import os
import pathlib
import resource
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


# --- forces in less than O(N^2) ------------------------------------------------------------------

SOFTENING = 0.01
COMPARED = 1000
COLUMNS = ("bodies", "count", "program", "setting", "softening", "seconds", "error")
MARKS = {"orrery": "o-", "falcON": "s-", "exafmm-t": "^-", "FMM3D": "v-", "pytreegrav": "D-"}


class Forces:
    """The bodies of one kind, and how each program finds their accelerations."""

    def __init__(self, options, folder, kind):
        import numpy as np
        self.np, self.options, self.folder, self.kind = np, options, folder, kind
        random, n = np.random.default_rng(1), options.bodies
        if kind == "Plummer":
            radius = 3 * np.pi / 16 / np.sqrt(random.uniform(0, 0.999, n) ** (-2 / 3) - 1)
            z = random.uniform(-1, 1, n)
            angle = random.uniform(0, 2 * np.pi, n)
            side = np.sqrt(1 - z * z)
            x = radius[:, None] * np.stack((side * np.cos(angle), side * np.sin(angle), z), 1)
        else:
            x = random.uniform(-1, 1, (n, 3))
        self.x = x.astype(np.float32).astype(float)  # which all programs can read
        self.m = np.full(n, np.float32(1 / n)).astype(float)
        self.chosen = random.choice(n, min(n, COMPARED), replace=False)
        self.exact = {eps: self.direct(eps) for eps in (SOFTENING, 0.0)}
        self.file = os.path.join(folder, "bodies.f32")
        np.c_[self.x, self.m].astype(np.float32).tofile(self.file)
        self.text = os.path.join(folder, "bodies.txt")
        np.savetxt(self.text, np.c_[self.m, self.x, 0 * self.x], fmt="%.9g")

    def direct(self, softening):
        rows = []
        for i in self.chosen:
            d = self.x - self.x[i]
            r2 = (d * d).sum(1) + softening ** 2
            r2[i] = 1.0
            rows.append(((self.m / (r2 * self.np.sqrt(r2)))[:, None] * d).sum(0))
        return self.np.array(rows)

    def error(self, a, softening):
        exact = self.exact[softening]
        return float(self.np.sqrt(((a[self.chosen] - exact) ** 2).sum() / (exact ** 2).sum()))

    def orrery(self, accuracy):
        """The time of three forces more than the least that a run has."""
        seconds = []
        for steps in (1, 4):
            out = os.path.join(self.folder, "run")
            config = os.path.join(self.folder, "run.cfg")
            pathlib.Path(config).write_text(f"""
                bodies = {{ initial = "file"; file = "{self.text}"; center = false; }};
                physics = {{ softening = {SOFTENING}; }};
                time = {{ step = 1e-9; end = {steps}e-9; }};
                compute = {{ method = "fmm"; accuracy = {accuracy}; threads = 1; }};
                diagnostics = ();
                outputs = ( {{ type = "xyz"; every = 100; columns = "pos force mass"; }} );\n""")
            subprocess.run([self.options.orrery, "run", config, "-q", "--force", "-o", out],
                           stdout=subprocess.DEVNULL, check=True)
            seconds.append(json.loads(pathlib.Path(out, "run.json").read_text())["cpu_seconds"])
        with open(os.path.join(out, "trajectory.xyz"), encoding="utf-8") as lines:
            next(lines), next(lines)
            rows = self.np.loadtxt(lines, max_rows=len(self.m))
        return (seconds[1] - seconds[0]) / 3, rows[:, 3:6] / rows[:, 6:]

    def driver(self, program, setting, softening):
        out = os.path.join(self.folder, "out.f32")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = subprocess.run([program, self.file, str(len(self.m)), str(softening), str(setting),
                               "0", out], check=True, capture_output=True, text=True,
                              env={**os.environ, "OMP_NUM_THREADS": "1",
                                   "OPENBLAS_NUM_THREADS": "1"}).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 3
        told = [float(line.split()[1]) for line in text.splitlines() if line.startswith("cpu ")]
        a = self.np.fromfile(out, self.np.float32).reshape(-1, 3).astype(float)
        return (min(told), 4 * math.pi * a) if told else (seconds, a)

    def fmm3d(self, accuracy):
        import fmm3dpy
        start = time.process_time()
        out = fmm3dpy.lfmm3d(eps=accuracy, sources=self.x.T, charges=self.m, pg=2)
        return time.process_time() - start, 4 * math.pi * out.grad.T

    def pytreegrav(self, angle):
        import pytreegrav
        pytreegrav.Accel(self.x[:100], self.m[:100], theta=angle, method="tree", parallel=False)
        start = time.process_time()  # compiled by the call before
        a = pytreegrav.Accel(self.x, self.m, theta=angle, method="tree", parallel=False)
        return time.process_time() - start, a

    def cases(self):
        """Program, setting, softening, and what measures them."""
        for accuracy in (1e-2, 1e-3, 1e-4, 1e-5):
            yield "orrery", accuracy, SOFTENING, lambda a=accuracy: self.orrery(a)
        for program, name, settings, softening in (
                (self.options.falcon, "falcON", (0.8, 0.6, 0.35, 0.25), SOFTENING),
                (self.options.exafmm, "exafmm-t", (4, 6, 8), 0.0)):
            for setting in settings if program else ():
                yield name, setting, softening, (
                    lambda p=program, s=setting, e=softening: self.driver(p, s, e))
        for name, module, settings, measure in (
                ("FMM3D", "fmm3dpy", (1e-3, 1e-6), self.fmm3d),
                ("pytreegrav", "pytreegrav", (0.9, 0.7), self.pytreegrav)):
            if importlib.util.find_spec(module):
                for setting in settings:
                    yield name, setting, 0.0, lambda m=measure, s=setting: m(s)


def forces(options, folder):
    rows = [COLUMNS]
    for kind in ("Plummer", "cube"):
        these = Forces(options, folder, kind)
        cases, found = list(these.cases()), {}
        for _ in range(options.rounds):
            for program, setting, softening, measure in cases:
                seconds, a = measure()
                found.setdefault((program, setting, softening), []).append(
                    (seconds, these.error(a, softening)))
        for (program, setting, softening), values in found.items():
            rows.append((kind, options.bodies, program, setting, softening,
                         f"{statistics.median(v[0] for v in values):.4g}",
                         f"{values[0][1]:.3g}"))
            print(*rows[-1], flush=True)
        with open(options.forces, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def draw(table, path):
    """The error against the time, a curve for each program."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    matplotlib.rcParams["svg.hashsalt"] = "orrery"
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = sorted({row["bodies"] for row in rows}, reverse=True)
    figure, panels = pyplot.subplots(1, len(kinds), figsize=(9, 4), sharey=True, squeeze=False)
    for panel, kind in zip(panels[0], kinds):
        for program, mark in MARKS.items():
            points = sorted((float(row["seconds"]), float(row["error"])) for row in rows
                            if (row["bodies"], row["program"]) == (kind, program))
            if points:
                panel.loglog(*zip(*points), mark, label=program,
                             linewidth=2 if program == "orrery" else 1, markersize=4)
        count = next(row["count"] for row in rows if row["bodies"] == kind)
        panel.set_title(f"{kind}, {count} bodies", fontsize="medium")
        panel.set_xlabel("CPU time of a force, one thread (s)")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("rms error over the rms acceleration")
    panels[0][0].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


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
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--bodies", type=int)
    parser.add_argument("--own-steps", action="store_true")
    parser.add_argument("--forces", metavar="TABLE.csv")
    parser.add_argument("--falcon", metavar="PROGRAM")
    parser.add_argument("--exafmm", metavar="PROGRAM")
    parser.add_argument("--draw", metavar="TABLE.csv")
    parser.add_argument("--figure", metavar="FILE.svg")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.forces else 5)
    options.bodies = options.bodies or (100000 if options.forces else 16384)
    with tempfile.TemporaryDirectory(prefix="orrery-peers-") as folder:
        if options.own_steps:
            own_steps(options, folder)
        elif options.forces:
            forces(options, folder)
        elif not options.draw:
            kernels(options, folder)
    table = options.forces or options.draw
    if table and options.figure:
        draw(table, options.figure)


if __name__ == "__main__":
    main()
