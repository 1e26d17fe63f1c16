"""Races in the GPU's kernels, by ThreadSanitizer on the executor's fibers: none in runs that go
through every loop twice; and none stays hidden that is planted. Part of make check-analysis."""

import glob
import os
import pathlib
import re
import shutil
import subprocess

import tap

BUILD = os.environ.get("ORRERY_BUILD", os.getcwd())
PROGRAM = os.path.join(BUILD, "validation/gpu/orrery-races")
FOUND = 99

CONFIG = """
bodies = { initial = "plummer"; count = 300; seed = 7; };
physics = { softening = 0.1; };
time = { integrator = "semi-implicit-euler"; step = 0.01; end = 0.02; };
compute = { backend = "cuda"; };
diagnostics = ( { type = "conservation"; every = 2; } );
"""

# Enough for two rounds of every loop: 600 bodies are two blocks of `tiled` and ten segments of
# two tiles each, four systems of 200 stay in a block each and have seven segments for the four
# threads that share two bodies, and `symmetric` pads 300 to two tiles in fp64, of two stages each.
# `step` takes at most 32 bodies for each of the executor's eight multiprocessors, hence one round.
RUNS = {
    "blocked": ("compute.kernel=blocked", "bodies.count=600", "compute.precision=single"),
    "tiled": ("compute.kernel=tiled", "bodies.count=300", "compute.precision=mixed"),
    "resident": ("compute.kernel=blocked", "bodies.count=200", "ensemble.systems=4",
                 "compute.precision=single"),
    "step": ("compute.kernel=blocked", "bodies.count=250"),
    "packed": ("bodies.count=20", "ensemble.systems=7", "diagnostics=()", "time.end=0.4"),
    "symmetric": ("compute.kernel=symmetric", "bodies.count=300"),
}

# Which of them go through the barriers of a file.
OF_FILE = {"sum.cuh": ("blocked", "tiled"), "resident.cu": ("resident", "packed"),
           "shares.cuh": ("resident", "step"), "step.cu": ("step",),
           "symmetric.cu": ("symmetric",), "observe.cu": ("blocked",)}

# They say what is read, and order nothing: the sums of which the energy about the centre of mass is
# made are followed by others, whose barriers do.
IMPLIED = ["observe.cu:174", "observe.cu:227"]

# Races that no lost barrier brings about: a file, what it says, what is planted,
# the run, and a word for it.
PLANTED = [
    ("symmetric.cu", "warp * (GROUPS / WARPS) + step", "warp / 2 * (GROUPS / WARPS) + step",
     "symmetric", "two warps share a group"),
]


def build(*arguments):
    """Builds the program, or skips: with variables of make."""
    result = subprocess.run(["make", "-s", *arguments, "validation/gpu/orrery-races"], cwd=BUILD,
                            capture_output=True, text=True)
    if result.returncode:
        raise tap.Skip("no kernels under ThreadSanitizer: " + result.stderr.strip()[-300:])


def run(name, **environment):
    """(exit status, what was said) of a run."""
    pathlib.Path("races.cfg").write_text(CONFIG)
    words = [word for key in RUNS[name] for word in ("-P", key)]
    result = subprocess.run([PROGRAM, "run", "races.cfg", "-q", "--force", *words],
                            capture_output=True, text=True,
                            env={**os.environ, "TSAN_OPTIONS": f"exitcode={FOUND}", **environment})
    return result.returncode, result.stdout + result.stderr


def barriers():
    """Those of the kernels, as "file:line"; only `orrery bench --gpu` runs those of textbook.cu,
    whose bits validation/gpu/kernels compares."""
    found = []
    for path in glob.glob(os.path.join(tap.SOURCE, "gpu/kernels/*.cu*")):
        for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
            if "__syncthreads()" in line and os.path.basename(path) != "textbook.cu":
                found.append(f"{os.path.basename(path)}:{number}")
    return sorted(found)


def test_no_races():
    """runs of every kernel that shares memory are free of races"""
    build()
    for name in RUNS:
        status, output = run(name)
        assert status == 0, f"{name}: {status}\n{output[:3000]}"


def test_every_barrier_is_needed():
    """without what it orders, each barrier of the kernels is a race that is found, but for those
    that others imply"""
    build()
    assert len(barriers()) >= 9, barriers()
    hidden = []
    for place in barriers():
        runs = OF_FILE[place.split(":")[0]]
        found = next((name for name in runs
                      if run(name, ORRERY_EXECUTOR_DROP=place)[0] == FOUND), None)
        print(f"# {place}: {'found by ' + found if found else 'not found'}")
        hidden += [] if found else [place]
    assert hidden == IMPLIED, hidden


def test_planted_races_are_found():
    """races of other kinds are found too"""
    build()
    source = pathlib.Path(tap.SOURCE, "gpu/kernels")
    planted = os.path.abspath("planted")
    objects = glob.glob(os.path.join(BUILD, "validation/gpu/executor/*orrery_races-kernels.o"))
    hidden = []
    try:
        for file, old, new, name, what in PLANTED:
            text = (source / file).read_text()
            assert text.count(old) == 1, f"{file}: {old}"
            shutil.rmtree(planted, ignore_errors=True)
            os.mkdir(planted)
            pathlib.Path(planted, file).write_text(text.replace(old, new))
            for path in objects:
                os.remove(path)
            build(f"CPPFLAGS=-iquote {planted}")
            status, output = run(name)
            at = re.search(r"SUMMARY: .*? (\S+:\d+)", output)
            print(f"# {what}: {'found at ' + at[1] if at else 'not found'}")
            hidden += [] if status == FOUND else [what]
    finally:
        for path in objects:
            if os.path.exists(path):
                os.remove(path)
    assert not hidden, hidden


tap.main()
