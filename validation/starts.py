"""The bodies that a config starts from, and how far a sample is from its distribution."""

import math
import pathlib

import tap

np = tap.need("numpy")

CONFIG = """name = "start";
bodies = {{ {bodies} }};
physics = {{ {physics} }};
time = {{ step = 1e-12; end = 1e-12; }};
compute = {{ precision = "double"; {method} {compute} }};
watch = {{ on_jump = "warn"; }};
outputs = ( {{ type = "xyz"; columns = "id mass pos velo"; }} );
"""
# The step moves nothing: coarse forces are enough, and those of 20000 bodies cost a second less.
COARSE = 'method = "fmm"; accuracy = 1e-2;'
# Kolmogorov's distance times sqrt(n) exceeds it for one sample in a thousand. Seeds are fixed, so a
# value below it stays there.
FAR = 1.95


def start(bodies, physics="", compute="", status=0):
    """The bodies at step 0: m, x (N, 3), v (N, 3); or the errors."""
    pathlib.Path("run.cfg").write_text(CONFIG.format(bodies=bodies, physics=physics,
                                                     compute=compute, method=COARSE))
    done = tap.run("run", "run.cfg", "-q", "-o", "out", "--force")
    assert done.returncode == status, done.stderr
    if status:
        return done.stderr
    lines = pathlib.Path("out/trajectory.xyz").read_text().splitlines()
    table = np.array([line.split() for line in lines[2:2 + int(lines[0])]], dtype=float)
    return table[:, 1], table[:, 2:5], table[:, 5:8]


def distance(u):
    """Kolmogorov's distance of a sample from the uniform one, times sqrt(n)."""
    u = np.sort(u)
    steps = np.arange(len(u) + 1) / len(u)
    return math.sqrt(len(u)) * max(np.max(u - steps[:-1]), np.max(steps[1:] - u))
