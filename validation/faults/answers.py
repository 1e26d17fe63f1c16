"""How long it takes until work that goes on for minutes or for ever answers who asks it to end."""

import json
import os
import pathlib
import random
import signal
import subprocess
import time

import harness
import tap
from harness import Row, everything, some

# An answer takes some tenths of a second on an idle machine, and 2 s are promised. Where a test
# shares the cores with other work, it may take several times as long.
MOST_SECONDS = 10 * tap.PATIENCE

PAIR = """
bodies = { initial = "two-body"; semi_major_axis = 1e-8; };
time = { integrator = "gauss-radau"; end = 10.0; };
"""
# The manual's cluster of binaries, whose closest pairs take 10^6 steps in one of the grid.
BINARIES = """
physics = { units = "pc-msun-myr"; };
bodies = { initial = "plummer"; count = 1000; scale_radius = 0.5; masses = "kroupa";
           binary_fraction = 0.2; binary_axes = [2e-5, 2e-3]; };
time = { integrator = "hermite4"; step = 0.125; end = 10.0; };
"""
FEW = """
bodies = { initial = "plummer"; count = 64; };
physics = { softening = 0.01; };
time = { integrator = "gauss-radau"; step = 1e5; end = 1e7; };
"""
# A force takes tenths of a second; yoshida6 has eight to a step.
MANY = """
bodies = { initial = "plummer"; count = 40000; };
physics = { softening = 0.01; };
time = { integrator = "yoshida6"; step = 0.001; end = 1.0; };
"""
HUGE = MANY.replace("40000", "300000").replace("yoshida6", "velocity-verlet")
SLOW = MANY.replace("40000", "12000").replace("yoshida6", "velocity-verlet")
BOX = """
bodies = { initial = "uniform-cube"; count = 40000; };
physics = { softening = 0.01; boundary = "periodic"; box_length = 1.0; };
time = { integrator = "yoshida6"; step = 0.0001; end = 0.1; };
"""
BUDGET = """
bodies = { initial = "plummer"; count = 2000; };
physics = { softening = 0.01; };
time = { step = 0.0001; end = 1.0; };
energy_budget = { measure = true; every = 5000; };
"""

# Read, sorted and checked for seconds, in the member of a sweep too.
FILE = HUGE.replace('initial = "plummer"; count = 300000;', 'initial = "file"; file = "FILE";')
CUBE = HUGE.replace('"plummer"; count = 300000', '"uniform-cube"; count = 4000000')
COLD = HUGE.replace('"plummer"; count = 300000',
                    '"cold-sphere"; virial_ratio = 0.5; count = 4000000')
GALAXY = HUGE.replace('"plummer"; count = 300000',
                      '"galaxy"; disc_count = 2000000; bulge_count = 1000000; bulge_mass = 0.2; '
                      'bulge_scale_radius = 0.2; halo_count = 3000000; halo_mass = 5.0; '
                      'halo_scale_radius = 3.0; halo_cutoff_radius = 30.0')
SEEDS = """
sweep = ( { key = "bodies.seed"; values = [1, 2, 3]; } );"""
SOFTENINGS = """
sweep = ( { key = "physics.softening"; values = [0.1, 0.2, 0.3]; } );"""
ROWS = 1000000


def write_file(name):
    """A large file of bodies, of different places."""
    if name == "large.csv":
        rows = (f"1,{k},{k % 977},{k % 13},0,0,0\n" for k in range(ROWS))
        pathlib.Path(name).write_text("m,x,y,z,vx,vy,vz\n" + "".join(rows))
    elif name == "large.xyz":
        rows = (f"A {k} {k % 977} {k % 13} 0 0 0 1\n" for k in range(ROWS))
        pathlib.Path(name).write_text(f"{ROWS}\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1\n"
                                      + "".join(rows))
    else:
        write_file("large.csv")
        result = tap.run("convert", "large.csv", name)
        assert result.returncode in (0, 69), result  # 69: built without HDF5


def measured(kind):
    return f'diagnostics=({{ type = "{kind}"; every = 1; }})'


# Name; "steps": the run is to begin before it is asked, "start": it is asked while it makes bodies
# or sums their energies, "convergence", "study", "check" and "dry"; the config; its changes.
KINDS = (
    ("gauss-radau, two bodies 1e-8 apart", "steps", PAIR, ()),
    ("gauss-radau, the same on serial", "steps", PAIR, ('compute.backend="serial"',)),
    ("gauss-radau, 30 systems of 3", "steps", FEW, ("bodies.count=3", "ensemble.systems=30")),
    ("gauss-radau, 64 bodies", "steps", FEW, ()),
    ("gauss-radau, 5 systems of 64", "steps", FEW, ("ensemble.systems=5",)),
    ("gauss-radau, 3000 bodies", "steps", FEW, ("bodies.count=3000",)),
    ("gauss-radau, two bodies with shadows", "steps", PAIR, ("trust.shadow=true",)),
    ("gauss-radau, two bodies with an energy budget", "steps", PAIR,
     ("energy_budget.measure=true",)),
    ("hermite4, a cluster of binaries", "steps", BINARIES, ()),
    ("hermite4, the same in mixed", "steps", BINARIES, ('compute.precision="mixed"',)),
    ("hermite4, the same with shadows", "steps", BINARIES, ("trust.shadow=true",)),
    ("hermite4, 300 bodies on serial", "steps", FEW, ('time.integrator="hermite4"',
                                                      "bodies.count=300",
                                                      'compute.backend="serial"')),
    ("hermite4, 20 systems of 64", "steps", FEW, ('time.integrator="hermite4"',
                                                  "ensemble.systems=20")),
    ("hermite4, 3000 bodies", "steps", FEW, ('time.integrator="hermite4"', "bodies.count=3000")),
    ("yoshida6, 40,000 bodies", "steps", MANY, ()),
    ("yoshida6, the same in mixed", "steps", MANY, ('compute.precision="mixed"',)),
    ("yoshida6, the same in single", "steps", MANY, ('compute.precision="single"',)),
    ("yoshida6, by kernel = plain", "steps", MANY, ('compute.kernel="plain"',)),
    ("yoshida6, one thread", "steps", MANY, ("compute.threads=1",)),
    ("yoshida6, a periodic box", "steps", BOX, ()),
    ("yoshida6, with shadows", "steps", MANY, ("trust.shadow=true", "bodies.count=20000")),
    ("velocity-verlet, by kernel = reference", "steps", SLOW, ('compute.kernel="reference"',)),
    ("velocity-verlet, serial", "steps", SLOW, ('compute.backend="serial"',)),
    ("velocity-verlet, 8 systems of 12,000", "steps", SLOW, ("ensemble.systems=8",)),
    ("energies of 300,000 bodies", "start", HUGE, ()),
    ("energies of 60,000 bodies on serial", "start", HUGE, ("bodies.count=60000",
                                                             'compute.backend="serial"')),
    ("a start with virial_ratio, 60,000 bodies", "start", HUGE, ("bodies.count=60000",
                                                                 "bodies.virial_ratio=1.0",
                                                                 "compute.threads=1")),
    ("a start with virial_ratio, 10^6 bodies", "start", HUGE, ("bodies.count=1000000",
                                                               "bodies.virial_ratio=1.0")),
    ('a start with `rescale = "pairs"`', "start", HUGE, ('bodies.rescale="pairs"',)),
    ("a start of 2 × 10^6 bodies", "start", HUGE, ("bodies.count=2000000",)),
    ("replays of an energy budget at step 0", "steps", BUDGET, ()),
    ("replays of an energy budget, a run in single", "steps", BUDGET,
     ('compute.precision="single"',)),
    ("radial-distribution of 150,000 bodies", "steps", HUGE,
     ("bodies.count=150000", measured("radial-distribution"))),
    ("radial-distribution in a periodic box", "steps", BOX, (measured("radial-distribution"),)),
    ("close-encounters of 60,000 bodies", "steps", SLOW,
     ("bodies.count=60000", measured("close-encounters"))),
    ("binaries of 60,000 bodies", "steps", SLOW, ("bodies.count=60000", measured("binaries"))),
    ("escapers of 60,000 bodies", "steps", SLOW, ("bodies.count=60000", measured("escapers"))),
    ("check of two bodies 1e-8 apart", "check", PAIR, ()),
    ("check of 10^6 bodies with virial_ratio", "check", HUGE, ("bodies.count=1000000",
                                                               "bodies.virial_ratio=1.0")),
    ("a dry run of two bodies 1e-8 apart", "dry", PAIR, ()),
    ("a convergence test of 40,000 bodies", "convergence", MANY, ("compute.threads=1",)),
    ("yoshida6 by fmm, 100,000 bodies", "steps", MANY, ('compute.method="fmm"',
                                                        "compute.accuracy=1e-5",
                                                        "bodies.count=100000")),
    ("the plain form of fmm, 5,000 bodies", "steps", HUGE, ('compute.backend="serial"',
                                                            'compute.method="fmm"',
                                                            "compute.accuracy=1e-6",
                                                            "bodies.count=5000")),
    ("a sweep of clusters of binaries", "study", BINARIES + SEEDS, ()),
    ("a start of 4 × 10^6 bodies in a cube", "start", CUBE, ()),
    ("a start of a cold sphere of 4 × 10^6", "start", COLD, ()),
    ("a start of a galaxy of 6 × 10^6", "start", GALAXY, ()),
    ("a sweep of 4 × 10^6 bodies in a cube", "study", CUBE + SEEDS, ()),
    ("a sweep of cold spheres of 4 × 10^6", "study",
     COLD.replace("virial_ratio = 0.5; ", "") + SEEDS, ()),
    ("a CSV file of 10^6 rows", "start", FILE.replace("FILE", "large.csv"), ()),
    ("check of an XYZ file of 10^6 rows", "check", FILE.replace("FILE", "large.xyz"), ()),
    ("a sweep over an XYZ file of 10^6 rows", "study", FILE.replace("FILE", "large.xyz")
     + SOFTENINGS, ()),
    ("a sweep over a snapshot of 10^6", "study", FILE.replace("FILE", "large.hdf5")
     + SOFTENINGS, ()),
)
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def arguments_of(what, changes, directory):
    changed = [word for change in changes for word in ("-P", change)]
    if what == "check":
        return ["check", "work.cfg", *changed]
    more = {"dry": ["--dry-run"], "convergence": ["--convergence"]}.get(what, [])
    return ["run", "work.cfg", "-q", "-o", directory, *more, *changed]


def wait_for_beginning(process, path):
    """Until run.json is there, which says that the start is done."""
    end = time.monotonic() + 300 * tap.PATIENCE  # beside other work
    while not path.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    if not path.exists():
        process.kill()  # or communicate() waits for the end of the run
        raise AssertionError(process.communicate())


def seconds_until(done, process):
    start = time.monotonic()
    while not done() and time.monotonic() - start < MOST_SECONDS:
        time.sleep(0.005)
    seconds = time.monotonic() - start
    if not done():
        process.kill()
    return seconds


def ask(process, how, directory):
    """Asks it to end, or to save a checkpoint first; the seconds until it has ended."""
    def ended():
        return process.poll() is not None
    seconds = 0.0
    if how == "checkpoint":
        pathlib.Path(directory, "checkpoint").touch()
        seconds = seconds_until(lambda: not pathlib.Path(directory, "checkpoint").exists(), process)
        how = signal.SIGTERM
    if how == "stop":
        pathlib.Path(directory, "stop").touch()
    else:
        process.send_signal(how)
    return max(seconds, seconds_until(ended, process))


def ways_of(what):
    return (*SIGNALS, "stop", "checkpoint") if what == "steps" else SIGNALS


def try_kind(row, kind, number, how=None):
    name, what, text, changes = kind
    harness.begin("trial")
    chance = random.Random(f"{name} {number}")
    how = how or ways_of(what)[(KINDS.index(kind) + number) % len(ways_of(what))]
    pathlib.Path("work.cfg").write_text(text)
    name = text.partition('file = "')[2].partition('"')[0]
    if name and not pathlib.Path(name).exists():
        write_file(name)
        if not pathlib.Path(name).exists():
            return
    process = subprocess.Popen([tap.ORRERY, *arguments_of(what, changes, "trial")], text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if what == "steps":
        wait_for_beginning(process, pathlib.Path("trial/run.json"))
    if what == "study":  # its members make their bodies then
        wait_for_beginning(process, pathlib.Path("trial/study.json"))
    # A fast machine reads a file in a second.
    time.sleep(chance.uniform(0.1, 1.5 if everything() and not name else 0.5))
    assert process.poll() is None, (name, process.communicate())
    row.longest = max(row.longest, ask(process, how, "trial"))
    errors = process.communicate()[1]
    result = subprocess.CompletedProcess([], process.returncode, "", errors)
    row.ended(f"{how}", result, (-how,) if what == "check" else (75,))
    if row.longest >= MOST_SECONDS:
        row.problem(f"{how}", f"no answer for {row.longest:.1f} s: {errors[-200:]}")
    if what == "steps" and process.returncode == 75:
        check_restart(row, changes, how)


def check_restart(row, changes, how):
    """What was stopped goes on, until its time limit, which is over within a step too."""
    about = json.loads(pathlib.Path("trial/run.json").read_text())
    start = time.monotonic()
    limit = 2 if everything() else 1
    changes = changes if everything() else (*changes, "compute.threads=1")
    result = tap.run(*arguments_of("steps", changes, "trial"), "--restart", "--max-time", limit,
                     timeout=100)
    row.ended(f"{how}, restart", result, (75,))
    row.longest = max(row.longest, time.monotonic() - start - limit)
    if about["verdict"] != "stopped" or about["exit_status"] != 75:
        row.problem(f"{how}", f"run.json says {about['verdict']}")


def answers(first, last):
    def test():
        for kind in some(KINDS[first:last], 2):
            with Row(23, kind[0]) as row:
                for number in range(2 if everything() else 1):
                    try_kind(row, kind, number)
    test.__doc__ = f"kinds of work {first + 1} to {last}: signals, control files, the time limit"
    return test


test_answers_1 = answers(0, 14)
test_answers_2 = answers(14, 24)
test_answers_3 = answers(24, 37)
test_answers_4 = answers(37, 44)
test_answers_5 = answers(44, len(KINDS))


def test_checkpoints_within_measurements():
    """a checkpoint that is asked for while the first measurement of a run takes minutes"""
    names = ("radial-distribution of 150,000 bodies", "close-encounters of 60,000 bodies",
             "binaries of 60,000 bodies", "escapers of 60,000 bodies",
             "replays of an energy budget at step 0")
    kinds = [kind for kind in KINDS if kind[0] in names]
    assert len(kinds) == len(names)
    for kind in some(kinds, 2):
        with Row(23, f"{kind[0]}, asked for a checkpoint") as row:
            try_kind(row, kind, 0, "checkpoint")


def cpu_seconds(pid):
    """Seconds that the processors have spent on a process so far."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def test_a_galaxy_that_is_being_drawn():
    """6 million bodies take tens of seconds of a processor; a signal ends that within two"""
    pathlib.Path("work.cfg").write_text(GALAXY)
    with Row(23, "a galaxy of 6 × 10^6, asked while its bodies are drawn") as row:
        for begun in some((1.0, 2.0, 0.5, 3.0), 2):
            begun *= tap.PATIENCE
            process = subprocess.Popen([tap.ORRERY, "run", "work.cfg", "-q", "-o", "trial"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while process.poll() is None and cpu_seconds(process.pid) < begun:
                time.sleep(0.01)
            before, start = cpu_seconds(process.pid), time.monotonic()
            process.send_signal(signal.SIGTERM)
            with process.stderr:
                errors = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            row.longest = max(row.longest, time.monotonic() - start)
            row.ended(f"after {begun} s", subprocess.CompletedProcess(
                [], process.returncode, "", errors), (75,))
            spent = used.ru_utime + used.ru_stime - before
            if spent > 2 * tap.PATIENCE:  # of the processor's time, which no load changes
                row.problem(f"after {begun} s", f"an answer took {spent:.1f} s of a processor")


def test_there_are_forty():
    """kinds of work of different names, at least forty"""
    assert len({kind[0] for kind in KINDS}) == len(KINDS) >= 40


if __name__ == "__main__":
    tap.main()
