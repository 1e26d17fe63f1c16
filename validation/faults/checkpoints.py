"""Damaged checkpoints, changed experiments, numbers that fail, and restarts on other threads."""

import os
import pathlib
import re

import harness
import tap
from harness import Experiment, Row, some

NEWEST, PREVIOUS = "checkpoint.orr", "checkpoint.orr.prev"


def flip(content, bit):
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def damages(content):
    """(name, damaged content): every section cut short, and a bit of each of its parts flipped."""
    yield "nothing left", b""
    yield "magic, a bit", flip(content, 3)
    yield "version, a bit", flip(content, 8 * 8)
    yield "a byte more", content + b"\0"
    for name, header, start, length in harness.sections(content):
        yield f"cut before {name}", content[:header]
        yield f"cut in the header of {name}", content[:header + 30]
        yield f"name of {name}, a bit", flip(content, 8 * header + 1)
        yield f"padding behind the name of {name}, a bit", flip(content, 8 * (start - 17) + 4)
        yield f"length of {name}, a bit", flip(content, 8 * (start - 16) + 2)
        yield f"length of {name}, the highest bit", flip(content, 8 * (start - 8) - 1)
        yield f"checksum of {name}, a bit", flip(content, 8 * (start - 5) + 6)
        for place in sorted({0, length // 2, length - 1} & set(range(length))):
            yield f"byte {place} of {name}, a bit", flip(content, 8 * (start + place) + 5)
        if length > 1:
            yield f"cut in {name}", content[:start + length // 2]


def stopped(experiment):
    """A run that was killed: checkpoints of the steps 12 and 24, and rows beyond them."""
    harness.begin("stopped")
    # Those of the steps 0, 12 and 24 are written; the fourth is only begun.
    result = experiment.run("stopped", faults=harness.fault("kill", nth=4, calls="open",
                                                            file=f"{NEWEST}.orrery.tmp"))
    assert result.returncode == -9, result
    steps = [harness.step_of(f"stopped/{name}") for name in (NEWEST, PREVIOUS)]
    assert steps == [24, 12], steps
    return "stopped"


def test_damaged_checkpoints():
    """a truncated or bit-flipped checkpoint: a loud warning, and the previous one; both: 65"""
    experiment = Experiment()
    base = stopped(experiment)
    good = pathlib.Path(base, NEWEST).read_bytes()
    trials = list(damages(good))
    with Row(6, "a checkpoint truncated or with a flipped bit, in every section") as row:
        for trial, content in some(trials, 20):
            harness.begin("trial", base)
            pathlib.Path("trial", NEWEST).write_bytes(content)
            result = experiment.run("trial", "--restart", "-P", "time.end=0.24")
            row.ended(trial, result, (0,))
            if "WARNING" not in result.stderr or PREVIOUS not in result.stderr:
                row.problem(trial, f"no loud warning: {result.stderr!r}")
            row.told(trial, "trial", 12)
            row.finish(trial, experiment, "trial")
    previous = pathlib.Path(base, PREVIOUS).read_bytes()
    with Row(6, "both checkpoints damaged: 65, nothing touched") as row:
        for (trial, content), (_, other) in some(zip(trials, reversed(list(damages(previous)))), 6):
            harness.begin("trial", base)
            pathlib.Path("trial", NEWEST).write_bytes(content)
            pathlib.Path("trial", PREVIOUS).write_bytes(other)
            before = harness.contents("trial")
            result = experiment.run("trial", "--restart")
            row.ended(trial, result, (65,))
            if harness.contents("trial") != before:
                row.problem(trial, "something was touched")
    with Row(6, "a checkpoint that is missing: the previous one, or 65") as row:
        harness.begin("trial", base)
        os.unlink(f"trial/{NEWEST}")
        row.ended("newest", experiment.run("trial", "--restart", "-P", "time.end=0.24"), (0,))
        row.finish("newest", experiment, "trial")
        harness.begin("trial", base)
        os.unlink(f"trial/{NEWEST}")
        os.unlink(f"trial/{PREVIOUS}")
        row.ended("both", experiment.run("trial", "--restart"), (65,))


# What may not change, and what may.
CHANGES = ("bodies.seed=8", "bodies.count=21", "physics.softening=0.06", "time.step=0.02",
           "time.integrator=leapfrog-dkd", "compute.precision=single",
           "physics.gravitational_constant=2.0", "outputs.0.digits=9",
           "diagnostics.1.fractions=[0.3]")
LIBERTIES = ("time.end=0.6", "diagnostics.0.every=3", "checkpoint.every_steps=7",
             "compute.threads=2", "name=other")


def test_a_changed_experiment():
    """changed physics: 78 with the difference, nothing touched; other ends and cadences: logged"""
    experiment = Experiment()
    base = stopped(experiment)
    with Row(8, "restart with changed physics: 78, nothing touched") as row:
        for change in some(CHANGES, 4):
            harness.begin("trial", base)
            before = harness.contents("trial")
            result = experiment.run("trial", "--restart", "-P", change)
            row.ended(change, result, (78,))
            if change.split("=")[0] not in result.stderr:
                row.problem(change, f"the difference is not named: {result.stderr!r}")
            if harness.contents("trial") != before:
                row.problem(change, "something was touched")
            row.finish(change, experiment, "trial")
    with Row(8, "restart with another end, cadence or number of threads: logged") as row:
        for change in some(LIBERTIES, 3):
            harness.begin("trial", base)
            row.ended(change, experiment.run("trial", "--restart", "-P", change), (0,))
            log = pathlib.Path("trial/run.log").read_text()
            if f"restart: {change.split('=')[0]} was" not in log:
                row.problem(change, "not logged")
            row.told(change, "trial", 24)


def test_numbers_that_fail():
    """NaN and blow-up: 70, the last good checkpoint stays, the bodies are named and saved"""
    # A test body of v = 1e153 and a step of 1e153: some 180 steps go beyond the largest double.
    pathlib.Path("b.csv").write_text("m,x,y,z,vx,vy,vz,id\n1,0,0,0,0,0,0,11\n"
                                     "0,1e99,0,0,1e153,0,0,12\n0,9,9,9,0,0,0,13\n")
    config = """
        name = "trial";
        bodies = { initial = "file"; file = "b.csv"; };
        time = { step = 1e153; end = 1e156; };
        diagnostics = ( { type = "conservation"; every = 10; } );
        outputs = ( { type = "xyz"; every = 32; } );
        checkpoint = { every_steps = 20; };
    """
    pathlib.Path("trial.cfg").write_text(config)
    with Row(10, "a number that overflows: 70, the last good checkpoint stays") as row:
        for threads in (1, 2):
            trial = f"{threads} threads"
            command = ("run", "trial.cfg", "-q", "-o", "trial", "-P", f"compute.threads={threads}")
            result = tap.run(*command, "--force")
            row.ended(trial, result, (70,))
            table = pathlib.Path("trial/conservation.csv").read_bytes()
            if "body 12" not in result.stderr or re.search(rb"nan|inf", table):
                row.problem(trial, f"{result.stderr!r}")
            if "inf" not in pathlib.Path("trial/failure.xyz").read_text():
                row.problem(trial, "failure.xyz does not hold the body")
            if not 0 < harness.step_of(f"trial/{NEWEST}") < 200:
                row.problem(trial, "the checkpoint is not that of a good step")
            again = tap.run(*command, "--restart")
            same = pathlib.Path("trial/conservation.csv").read_bytes() == table
            if again.returncode != 70 or not same:
                row.problem(trial, "a restart does not meet the same end")


# --- the same bits --------------------------------------------------------------------------------

def interrupted(row, experiment, trial, first, second):
    """Ended at step 17, between all events, and continued; `first` and `second` differ at will."""
    harness.begin("trial")
    row.ended(trial, experiment.run("trial", "-P", "time.end=0.17", *first), (0,))
    row.finish(trial, experiment, "trial", *second)
    if b'"bitwise": true' not in pathlib.Path("trial/run.json").read_bytes():
        row.problem(trial, "run.json does not say that it is bitwise")


def threads(count):
    return ("-P", f"compute.threads={count}")


def test_restarts_on_the_cpu():
    """restarts on serial and openmp, on any number of threads: the same bytes"""
    with Row(2, "restart on serial and openmp, from any number of threads to any other") as row:
        for backend, precisions in (("serial", ["double"]),
                                    ("openmp", ["double", "mixed", "single"])):
            for precision in some(precisions, 1):
                experiment = Experiment(harness.CONFIG.replace("count = 20", "count = 150"),
                                        "-P", f"compute.backend={backend}",
                                        "-P", f"compute.precision={precision}")
                for before, after in some([(1, 2), (2, 1), (3, 4), (4, 1), (1, 5), (7, 2)], 2):
                    interrupted(row, experiment, f"{backend}, {precision}, {before} to {after}",
                                threads(before), threads(after))


def test_restarts_of_integrators():
    """restarts with every integrator, periodic space and an ensemble: the same bytes"""
    # Euler's energy drifts, which is no matter of bytes.
    variants = [("-P", f"time.integrator={name}", "-P", "watch.on_jump=warn") for name in
                tap.integrators_of_stages()]
    variants += [("-P", f"compute.kernel={kernel}") for kernel in ("plain", "symmetric")]
    variants.append(("-P", "ensemble.systems=3"))
    with Row(2, "restart with every integrator and kernel, and of an ensemble") as row:
        for variant in some(variants, 3):
            experiment = Experiment(harness.CONFIG, *variant)
            interrupted(row, experiment, variant[1], threads(1), threads(2))


def test_restarts_on_the_gpu_backend():
    """restarts on the GPU backend, with every kernel and precision: the same bytes"""
    program = os.path.join(harness.BUILD, "validation/gpu/orrery")
    if not os.path.exists(program):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    variants = [(kernel, precision) for kernel in tap.gpu_kernels()
                for precision in ("double", "mixed", "single")]
    with Row(2, "restart on the GPU backend, with every kernel and precision") as row:
        for kernel, precision in some(variants, 2):
            experiment = Experiment(harness.CONFIG, "-P", "compute.backend=cuda",
                                    "-P", f"compute.kernel={kernel}",
                                    "-P", f"compute.precision={precision}", program=program)
            interrupted(row, experiment, f"{kernel}, {precision}", (), ())


tap.main()
