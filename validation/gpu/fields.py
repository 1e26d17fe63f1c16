"""External fields and a rotating frame on the GPU, whose kernels the executor runs on the CPU: the
formulas, energies, every precision and integrator, ensembles, devices, restarts."""

import json
import os
import pathlib
import subprocess

import numpy

import tap
from rows import columns, frames as frames_of

PROGRAM = os.path.join(os.environ.get("ORRERY_BUILD", os.getcwd()), "validation/gpu/orrery")

# No key is 1 or that of another field.
FIELDS = {
    "point-mass": "mass = 1.3;",
    "plummer": "mass = 2.3; scale_radius = 0.6;",
    "hernquist": "mass = 2.3; scale_radius = 0.6;",
    "nfw": "mass = 2.3; scale_radius = 0.6;",
    "miyamoto-nagai": "mass = 2.3; a = 0.7; b = 0.35;",
    "logarithmic": "speed = 1.3; core_radius = 0.45; flattening = 0.8;",
    "harmonic": "frequencies = [1.1, 0.6, 1.9];",
    "uniform": "acceleration = [0.2, -0.5, 0.9];",
}


def field(name):
    return f'{{ type = "{name}"; center = [0.3, -0.2, 0.1]; {FIELDS[name]} }}'


# A cluster that one block keeps by itself where the frame does not turn.
CLUSTER = f"""
name = "cluster";
bodies = {{ initial = "plummer"; count = 100; seed = 7; origin = [1.0, 0.5, 0.0]; }};
physics = {{ softening = 0.1; rotation = 0.0; }};
external = ( {field("miyamoto-nagai")}, {field("logarithmic")} );
time = {{ integrator = "velocity-verlet"; step = 0.01; end = 0.4; }};
compute = {{ backend = "cuda"; devices = 1; }};
diagnostics = ( {{ type = "conservation"; every = 4; }} );
outputs = ( {{ type = "xyz"; every = 8; }} );
checkpoint = {{ every_steps = 25; }};
"""
TURNING = "physics.rotation=0.7"
SHORT = "time.end=0.16"


def go(directory, text, *overrides, status=0, program=PROGRAM, restart=False, **executor):
    if not os.path.exists(PROGRAM):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    pathlib.Path("run.cfg").write_text(text)
    keys = [word for override in overrides for word in ("-P", override)]
    environment = {**os.environ, "ORRERY_EXECUTOR_GPU": "1",
                   **{f"ORRERY_EXECUTOR_{name.upper()}": str(n) for name, n in executor.items()}}
    result = subprocess.run([program, "run", "run.cfg", "-q", "--restart" if restart else "--force",
                             "-o", directory, *keys], capture_output=True, text=True,
                            env=environment, timeout=120 * tap.PATIENCE)
    assert result.returncode == status, (overrides, result)
    return result


def computed_on(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())["compute"]["backend"]


def frames(directory):
    """Position and velocity of every body in every frame."""
    return numpy.concatenate(frames_of(f"{directory}/trajectory.xyz")[1:], axis=2)


def same(one, other, files=("trajectory.xyz", "conservation.csv")):
    for name in files:
        assert pathlib.Path(one, name).read_bytes() == pathlib.Path(other, name).read_bytes(), (
            one, other, name)


def conserved_off(one, other):
    """The largest difference of energies and momenta, by the size of each."""
    a, b = (columns(f"{directory}/conservation.csv") for directory in (one, other))
    return max((abs(a[name] - b[name]).max() / max(abs(a[name]).max(), 1e-3), name)
               for name in a if "error" not in name and numpy.isfinite(a[name]).all())


def test_every_field_has_the_bits_of_the_reference():
    """test bodies, whose sums over pairs are 0: the same motion in every field, at rest and in a
    frame that turns; energies of bodies that have no mass to the rounding of their sums"""
    pathlib.Path("test.csv").write_text("m,x,y,z,vx,vy,vz\n" + "".join(
        f"0,{1 + k / 7},{k % 5 * 0.3},0.5,0.1,{k / 40},-0.2\n" for k in range(37)))
    for name in FIELDS:
        for rotation in (0.0, 0.7):
            text = f"""
bodies = {{ initial = "file"; file = "test.csv"; }};
physics = {{ rotation = {rotation}; }};
external = ( {field(name)} );
time = {{ integrator = "leapfrog-dkd"; step = 0.01; end = 0.2; }};
watch = {{ energy_error = 0.0; energy_drift = 0.0; energy_jump = 0.0; }};
diagnostics = ( {{ type = "conservation"; every = 10; }} );
outputs = ( {{ type = "xyz"; every = 10; }} );
"""
            for backend in ("serial", "cuda"):
                go(backend, text, f'compute.backend="{backend}"')
                assert computed_on(backend) == backend
            same("serial", "cuda", ["trajectory.xyz"])
            # 37 numbers in another order
            off = conserved_off("serial", "cuda")
            assert off[0] < 1e-14, (name, rotation, off)


def test_a_cluster_against_the_reference():
    """by every integrator of stages and kernel, within rounding; mixed and single within theirs"""
    for integrator, turns in (("semi-implicit-euler", True), ("leapfrog-dkd", True),
                              ("yoshida4", True), ("yoshida6", True), ("rk4", False)):
        free = ("watch.energy_error=0", "watch.energy_drift=0", "watch.energy_jump=0")
        keys = (f'time.integrator="{integrator}"', *([TURNING] if turns else []), *free, SHORT)
        go("serial", CLUSTER, *keys, 'compute.backend="serial"')
        go("cuda", CLUSTER, *keys)
        off = numpy.abs(frames("cuda") - frames("serial")).max()
        assert off < 1e-12, (integrator, off)
        off = conserved_off("serial", "cuda")
        assert off[0] < 1e-12, (integrator, off)
    go("serial", CLUSTER, TURNING, SHORT, 'compute.backend="serial"')
    for kernel in ("simt", "tiled", "blocked", "symmetric"):
        go(kernel, CLUSTER, TURNING, SHORT, f'compute.kernel="{kernel}"')
        off = numpy.abs(frames(kernel) - frames("serial")).max()
        assert off < 1e-12, (kernel, off)
    for precision, most in (("mixed", 1e-6), ("single", 1e-4)):
        go(precision, CLUSTER, TURNING, SHORT, f'compute.precision="{precision}"')
        go("double", CLUSTER, TURNING, SHORT)
        off = numpy.abs(frames(precision) - frames("double")).max()
        assert 0 < off < most, (precision, off)


def test_a_block_that_keeps_its_system():
    """has the bits of a launch for every step, in every precision and by every integrator"""
    for integrator in ("velocity-verlet", "leapfrog-dkd", "rk4"):
        for precision in ("double", "mixed", "single"):
            keys = (f'time.integrator="{integrator}"', f'compute.precision="{precision}"',
                    "time.end=0.08")
            for kernel in ("blocked", "tiled"):
                go(kernel, CLUSTER, *keys, f'compute.kernel="{kernel}"')
            same("blocked", "tiled")


def test_systems_and_devices():
    """a system of an ensemble as if it were alone; the same bytes on several devices, which divide
    systems or bodies, and through the room of some systems"""
    for turn in ((), (TURNING,)):
        few = ("bodies.count=12", "time.end=0.08", *turn)
        go("all", CLUSTER, *few, "ensemble.systems=9")
        go("one", CLUSTER, *few, "bodies.seed=10")
        rows = pathlib.Path("all/conservation.csv").read_text().split("\n")
        fourth = [row[2:] for row in rows if row.startswith("4,")]
        assert fourth == pathlib.Path("one/conservation.csv").read_text().split("\n")[1:-1]
        go("three", CLUSTER, *few, "ensemble.systems=9", "compute.devices=3", devices=3)
        same("all", "three")
        go("streamed", CLUSTER, *few, "ensemble.systems=9", memory=12000)
        same("all", "streamed")
        whole = ('compute.kernel="blocked"', "bodies.count=600", "time.end=0.02", *turn)
        go("whole", CLUSTER, *whole)
        go("divided", CLUSTER, *whole, "compute.devices=2", devices=2)
        same("whole", "divided")


def test_the_same_bytes_however_it_is_run():
    """other cadences, on whose advances graphs depend; restarted; verified; chosen by auto"""
    for turn in ((), (TURNING,)):
        go("whole", CLUSTER, *turn)
        go("rare", CLUSTER, *turn, "diagnostics.0.every=40", "outputs.0.every=40")
        assert (frames("rare")[-1] == frames("whole")[-1]).all()
        go("half", CLUSTER, *turn, "time.end=0.2")
        go("half", CLUSTER, *turn, restart=True)
        same("whole", "half")
        result = subprocess.run([PROGRAM, "verify", "half"], capture_output=True, text=True,
                                timeout=120)
        assert result.returncode == 0 and "the same bits" in result.stdout, result
    go("auto", CLUSTER, "compute.backend=auto", "bodies.count=1001", "time.end=0.01")
    assert computed_on("auto") == "cuda"


def test_what_is_refused():
    """rk4 in a frame that turns, with its place"""
    said = go("bad", CLUSTER, TURNING, "time.integrator=rk4", status=78).stderr
    assert "time.integrator=rk4: rk4 takes forces that follow from the positions" in said, said
    assert not os.path.exists("bad")


tap.main()
