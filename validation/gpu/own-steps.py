"""Integrators that choose their own steps, whose forces a GPU sums (the executor runs its kernels
on the CPU), as a user meets them: the motion of the CPU, the same bytes however a run is cut up,
what it says of itself, and errors before anything is written."""

import json
import os
import pathlib
import re
import subprocess

import numpy

import tap
from rows import columns, frames as frames_of

PROGRAM = os.path.join(os.environ.get("ORRERY_BUILD", os.getcwd()), "validation/gpu/orrery")

CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 60; seed = 7; };
physics = { softening = 0.02; };
time = { integrator = "hermite4"; step = 0.0625; end = 0.5; };
compute = { backend = "cuda"; threads = 2; };
diagnostics = ( { type = "conservation"; every = 2; } );
outputs = ( { type = "xyz"; every = 4; } );
checkpoint = { every_steps = 5; };
"""
LEAPFROG = ("time.integrator=block-leapfrog", "time.eta=0.05")
RADAU = ("time.integrator=gauss-radau", "bodies.count=20", "time.end=0.25")
SAME = ("steps", "smallest", "pair")


def orrery(*arguments, **executor):
    if not os.path.exists(PROGRAM):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    environment = {**os.environ, "ORRERY_EXECUTOR_GPU": "1",
                   **{f"ORRERY_EXECUTOR_{name.upper()}": str(n) for name, n in executor.items()}}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment,
                          timeout=120 * tap.PATIENCE)


def go(directory, *overrides, text=CLUSTER, status=0, restart=False, **executor):
    pathlib.Path("run.cfg").write_text(text)
    keys = [word for override in overrides for word in ("-P", override)]
    result = orrery("run", "run.cfg", "-q", "--restart" if restart else "--force", "-o", directory,
                    *keys, **executor)
    assert result.returncode == status, (overrides, result)
    return result


def files(directory):
    return [pathlib.Path(directory, name).read_bytes()
            for name in ("trajectory.xyz", "conservation.csv")]


def about(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def frames(directory):
    """Position, velocity and mass of every body in every frame."""
    return numpy.concatenate(frames_of(f"{directory}/trajectory.xyz")[1:], axis=2)


def test_it_moves_as_on_the_cpu():
    """positions, energies and steps are those of the CPU, in every precision that they have"""
    # A crossing time amplifies roundings some ten times; fp32 terms are good to 1e-7 of the force.
    for keys, bound in (((), 1e-11), (("compute.precision=mixed",), 1e-3), (LEAPFROG, 1e-11),
                        (RADAU, 1e-11), ((*LEAPFROG, "compute.precision=single"), 1e-3)):
        go("gpu", *keys)
        go("cpu", *keys, "compute.backend=openmp")
        apart = numpy.abs(frames("gpu") - frames("cpu")).max()
        assert apart < bound, (keys, apart)
        energy = [columns(f"{directory}/conservation.csv")["energy"] for directory in
                  ("gpu", "cpu")]
        assert numpy.abs(numpy.subtract(*energy)).max() < bound, (keys, energy)
        steps = [about(directory)["own_steps"]["steps"] for directory in ("gpu", "cpu")]
        assert abs(steps[0] / steps[1] - 1) < (0.01 if bound > 1e-4 else 1e-9), (keys, steps)


def test_other_forces():
    """fields and a frame that turns: the device predicts with what the host adds to its sums"""
    text = CLUSTER + 'external = ( { type = "plummer"; mass = 2.3; scale_radius = 0.6; } );'
    for keys in ((), ("physics.rotation=0.3",), (*LEAPFROG, "physics.rotation=0.3")):
        go("gpu", *keys, text=text)
        go("cpu", *keys, "compute.backend=openmp", text=text)
        apart = numpy.abs(frames("gpu") - frames("cpu")).max()
        assert apart < 1e-11, (keys, apart)  # as above


def test_the_same_bytes_however_it_is_run():
    """rows of another cadence, other threads, a restart, other orders of the device's threads"""
    go("whole")
    go("threads", "compute.threads=1", order=2)
    go("half", "time.end=0.25")
    go("half", restart=True)
    for directory in ("threads", "half"):
        assert files(directory) == files("whole"), directory
    go("radau", *RADAU)
    go("radau-half", *RADAU, "time.end=0.125")
    go("radau-half", *RADAU, restart=True)
    assert files("radau") == files("radau-half")
    own = [about(directory)["own_steps"] for directory in ("whole", "half")]
    assert all(own[0][key] == own[1][key] for key in SAME), own
    go("often", "diagnostics.0.every=1")
    assert files("often")[0] == files("whole")[0]
    result = orrery("verify", "half")
    assert result.returncode == 0 and "the same bits" in result.stdout, result


def test_a_member_is_as_if_it_were_alone():
    """the systems of an ensemble are moved one after another, with the bytes that each has alone"""
    go("all", "ensemble.systems=3")
    go("one", "bodies.seed=9")
    rows = pathlib.Path("all/conservation.csv").read_text().split("\n")
    third = [row[2:] for row in rows if row.startswith("3,")]
    assert third == pathlib.Path("one/conservation.csv").read_text().split("\n")[1:-1]
    assert len(third) == 5, rows


def test_it_says_what_it_does():
    """run.json and the estimate name backend, kernel and threads"""
    go("run", "time.end=0.125", "trust.shadow=true")
    compute = about("run")["compute"]
    assert (compute["backend"], compute["kernel"], compute["threads"]) == ("cuda", "hermite", 2)
    result = orrery("check", "run.cfg")
    assert result.returncode == 0 and "cuda (hermite, " in result.stdout, result
    memory = [float(re.search(r"memory +([\d.]+) MB", orrery(
        "check", "run.cfg", "-P", f"compute.backend={backend}").stdout).group(1))
        for backend in ("cuda", "openmp")]
    assert abs(memory[0] - memory[1]) < 2, memory


def test_auto_takes_it_for_many_bodies():
    """auto takes a GPU for one system of 4096 bodies, and says why not for 4095 and for two"""
    few = ("block-leapfrog chooses its own steps, for which auto takes a GPU if one process has "
           "one system of at least 4096 bodies")
    slow = "block-leapfrog in double: this GPU computes in fp64 at 1/64 of its rate in fp32"
    for keys, ratio, backend, choice in (
            (("bodies.count=4096",), 2, "cuda", "a GPU is here"),
            (("bodies.count=4096",), 64, "openmp", slow),
            (("bodies.count=4095",), 2, "openmp", few),
            (("bodies.count=4096", "ensemble.systems=2"), 2, "openmp", few)):
        go("auto", *keys, *LEAPFROG, "compute.backend=auto", "time.step=1e-4", "time.end=1e-4",
           "diagnostics=()", "outputs=()", fp64_ratio=ratio)
        compute = about("auto")["compute"]
        assert (compute["backend"], compute["choice"]) == (backend, choice), (keys, compute)


def test_nothing_chooses_it():
    """for an error that is asked for, a run on a GPU takes steps of one length"""
    tap.thorough()
    asked = CLUSTER.replace('integrator = "hermite4"; step = 0.0625;', "energy_error = 1e-3;")
    assert asked != CLUSTER
    go("asked", "bodies.count=8", "time.end=0.25", text=asked)
    assert about("asked")["compute"]["backend"] == "cuda"
    assert not about("asked").get("own_steps"), about("asked")


def test_what_cannot_be_done_is_said():
    """what no GPU does for such integrators is refused before a file is written"""
    for keys, words in (
            (("compute.devices=2",), "compute.devices = 2: one GPU sums the forces of hermite4"),
            (("compute.precision=single",), "which positions in one part do not resolve"),
            ((*RADAU, "compute.precision=mixed"), "gauss-radau computes in double only"),
            (("compute.kernel=plain",), 'compute.kernel = "plain"'),
            (("compute.stream=true", "compute.backend=openmp"),
             'bodies pass through a GPU only under compute.backend = "cuda", and it is "openmp"'),
            (("physics.boundary=periodic", "physics.box_length=9"), "forces without jumps"),
            (("compute.method=fmm",), 'compute.method = "fmm"')):
        result = go("bad", *keys, status=78, devices=2)
        assert words in result.stderr, (keys, result.stderr)
    result = go("bad", status=71, fail_allocation=4)
    assert "out of memory" in result.stderr, result.stderr
    assert not pathlib.Path("bad").exists()


def test_a_device_that_fails():
    """the run ends with the device's reason, and goes on to the same bytes from its checkpoint"""
    go("whole")
    result = go("failed", status=69, fail_kernel=850)
    assert "GPU 0: summing for the bodies that are due: " in result.stderr, result.stderr
    assert about("failed")["verdict"] == "error", about("failed")
    assert pathlib.Path("failed/checkpoint.orr.prev").exists()  # beside that of the beginning
    go("failed", restart=True)
    assert files("failed") == files("whole")


tap.main()
