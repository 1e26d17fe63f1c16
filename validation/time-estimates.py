#!/usr/bin/env python3
"""The time that orrery check estimates beside the time that the runs then take.

    python3 validation/time-estimates.py [--orrery ./orrery] [--threads N] [--cpu]

Eleven experiments of different kinds; prints the table of docs/performance.md. Wanted is an idle
machine; elsewhere --threads 1 --cpu compares with CPU time. No test of it: timings decide nothing.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import time

CONSERVATION = 'diagnostics = ( { type = "conservation"; every = %d; } );'
CASES = {
    "two bodies, rows every 100 steps": (
        'bodies = { initial = "two-body"; masses = [1.0, 1.0]; semi_major_axis = 1.0; };',
        2000000, CONSERVATION % 100),
    "figure eight, rows every 50 steps": (
        'bodies = { initial = "figure-eight"; };', 1000000, CONSERVATION % 50),
    "Plummer 256": ('bodies = { initial = "plummer"; count = 256; };', 40000, ""),
    "Plummer 256, energies each step": (
        'bodies = { initial = "plummer"; count = 256; };', 10000, CONSERVATION % 1),
    "Plummer 1000, four diagnostics each step": (
        'bodies = { initial = "plummer"; count = 1000; };', 400,
        'diagnostics = ( { type = "conservation"; every = 1; }, { type = "lagrangian-radii"; '
        'every = 1; }, { type = "velocity-dispersion"; every = 1; }, '
        '{ type = "radial-distribution"; every = 1; r_max = 1.0; } );'),
    "Plummer 4096": ('bodies = { initial = "plummer"; count = 4096; };', 400, ""),
    "Plummer 16384, g(r) each step": (
        'bodies = { initial = "plummer"; count = 16384; };', 10,
        'diagnostics = ( { type = "radial-distribution"; every = 1; } );'),
    "cube 2000, frames each 2 steps": (
        'bodies = { initial = "uniform-cube"; count = 2000; };', 400,
        'outputs = ( { type = "xyz"; every = 2; } );'),
    "cube 2000, many checkpoints": (
        'bodies = { initial = "uniform-cube"; count = 2000; };', 600,
        "checkpoint = { every_steps = 10; };"),
    "1000 systems of 16": (
        'bodies = { initial = "plummer"; count = 16; };\nensemble = { systems = 1000; };',
        4000, ""),
    "200 systems of 64, rows each 20": (
        'bodies = { initial = "plummer"; count = 64; };\nensemble = { systems = 200; };', 2000,
        CONSERVATION % 20),
}
CONFIG = """name = "timed";
%s
physics = { softening = 0.1; };
time = { step = 1e-4; end = %r; };
compute = { threads = %d; };
%s
"""


def estimate(text):
    return float(re.search(r"#   time +about ([\d.e+-]+) s", text).group(1))


def spent(before):
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orrery", default="./orrery")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of wall time")
    wanted = parser.parse_args()
    orrery = os.path.abspath(wanted.orrery)
    print("| experiment | estimated, s | taken, s | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for case, (bodies, steps, more) in CASES.items():
            pathlib.Path("timed.cfg").write_text(
                CONFIG % (bodies, steps * 1e-4, wanted.threads, more))
            check = subprocess.run([orrery, "check", "timed.cfg"], capture_output=True, text=True,
                                   check=True)
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            subprocess.run([orrery, "run", "timed.cfg", "-q", "--force"], check=False)
            taken = spent(before) if wanted.cpu else time.monotonic() - start
            said = estimate(check.stdout)
            print(f"| {case} | {said:.2f} | {taken:.2f} | {said / taken:.2f} |", flush=True)


if __name__ == "__main__":
    main()
