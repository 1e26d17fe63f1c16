"""The kernel `portable`: a run has the same bytes on every backend, instruction set and number of
threads, and on the GPU, whose kernels the executor runs on the CPU."""

import json
import os
import pathlib
import subprocess
import sys

import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "validation/faults"))

import harness  # noqa: E402

PROGRAM = os.path.join(os.environ.get("ORRERY_BUILD", os.getcwd()), "validation/gpu/orrery")
CONFIG = """
name = "homework";
ensemble = { systems = 3; };
bodies = { initial = "plummer"; count = 65; seed = 7; masses = "kroupa"; };
physics = { softening = 0.02; };
time = { integrator = "velocity-verlet"; step = 0.0005; end = 0.05; };
compute = { backend = "serial"; kernel = "portable"; };
watch = { energy_error = 0.0; energy_drift = 0.0; energy_jump = 0.0; };
diagnostics = ( { type = "conservation"; every = 10; }, { type = "virial"; every = 10; } );
outputs = ( { type = "xyz"; every = 50; } );
checkpoint = { every_steps = 40; };
"""
FILES = ("conservation.csv", "virial.csv", "trajectory.xyz")
PLACES = [("serial", "auto", 1), ("cuda", "auto", 1),
          *(("openmp", isa, threads) for isa in ("avx512", "avx512-zen", "avx2", "avx2-zen", "neon",
                                                 "baseline") for threads in (1, 2, 3))]


def orrery(*arguments, **executor):
    if not os.path.exists(PROGRAM):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    pathlib.Path("run.cfg").write_text(CONFIG)
    settings = {f"ORRERY_EXECUTOR_{name.upper()}": str(n) for name, n in executor.items()}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                          env={**os.environ, **settings}, timeout=120 * tap.PATIENCE)


def go(directory, *overrides, restart=False, **executor):
    keys = [word for override in overrides for word in ("-P", override)]
    return orrery("run", "run.cfg", "-q", "--restart" if restart else "--force", "-o", directory,
                  *keys, **executor)


def contents(directory):
    """The bytes of the tables and the trajectory, and those of the last checkpoint but for what
    they say of the machine."""
    content = pathlib.Path(directory, "checkpoint.orr").read_bytes()
    own = [content[start:start + length] for name, _, start, length in harness.sections(content)
           if name not in ("config", "legs", "build", "end")]
    assert len(own) > 12
    return [pathlib.Path(directory, name).read_bytes() for name in FILES] + [b"".join(own)]


def run_everywhere(*overrides):
    """{place: contents} of runs on all the places that this machine has."""
    found = {}
    for backend, isa, threads in PLACES:
        keys = (f"compute.backend={backend}", f"compute.isa={isa}", f"compute.threads={threads}")
        result = go("run", *keys, *overrides)
        if result.returncode == 69 and isa != "auto":
            continue  # an instruction set of other machines
        assert result.returncode == 0, (keys, result)
        compute = json.loads(pathlib.Path("run/run.json").read_text())["compute"]
        assert (compute["backend"], compute["kernel"]) == (backend, "portable"), compute
        found[backend, isa, threads] = contents("run")
    return found


def test_every_place_gives_the_same_bytes():
    """100 steps on the serial backend, with every instruction set, 1 to 3 threads, and a GPU"""
    for overrides in ((), ("physics.softening=0", "time.integrator=yoshida4", "time.end=0.005"),
                      ("ensemble.systems=1", "bodies.count=300", "bodies.masses=equal",
                       "time.integrator=rk4", "time.end=0.005"),
                      ("physics.boundary=periodic", "physics.box_length=1.7", "time.end=0.005")):
        found = run_everywhere(*overrides)
        assert len(found) >= 5, list(found)
        expected = found["serial", "auto", 1]
        assert all(expected)
        for place, got in found.items():
            assert got == expected, (place, overrides)


def test_gpus_may_be_several_or_small():
    """systems on several GPUs, on more than there are systems, in batches through little memory"""
    assert go("run").returncode == 0
    expected = contents("run")
    for devices, memory in ((2, 1 << 30), (5, 1 << 30), (1, 30000)):
        result = go("run", "compute.backend=cuda", f"compute.devices={devices}", devices=devices,
                    memory=memory)
        assert result.returncode == 0, result
        assert contents("run") == expected, (devices, memory)


def test_integrators_that_choose_their_steps():
    """on CPUs they give the same bytes by any instruction set and number of threads"""
    for integrator in ("hermite4", "block-leapfrog", "gauss-radau"):
        found = set()
        for place in (("compute.backend=serial",), ("compute.backend=openmp", "compute.threads=1"),
                      ("compute.backend=openmp", "compute.threads=3", "compute.isa=baseline")):
            result = go("run", f"time.integrator={integrator}", "time.end=0.005", *place)
            assert result.returncode == 0, result
            found.add(b"".join(contents("run")))
        assert len(found) == 1, integrator


def test_other_kernels_do_not():
    """the bytes show the last bits of the forces: with other kernels they differ"""
    assert go("portable").returncode == 0
    for backend, kernel in (("openmp", "plain"), ("cuda", "blocked")):
        result = go(kernel, f"compute.backend={backend}", f"compute.kernel={kernel}")
        assert result.returncode == 0, result
        for one, other in zip(contents("portable"), contents(kernel)):
            assert one != other, kernel


def test_a_run_is_verified_and_continued_elsewhere():
    """orrery verify grades the run of a GPU on a CPU; a restart elsewhere does not warn of bits"""
    for backend, other in (("cuda", "serial"), ("serial", "cuda"), ("cuda", "openmp")):
        assert go("part", f"compute.backend={backend}", "time.end=0.025").returncode == 0
        result = orrery("verify", "part", "-P", f"compute.backend={other}")
        assert result.returncode == 0 and "same bits" in result.stdout, result
        assert "another build" not in result.stdout, result
        result = go("part", f"compute.backend={other}", restart=True)
        assert result.returncode == 0 and "not bitwise" not in result.stderr, result
        assert go("whole").returncode == 0
        assert contents("part") == contents("whole")


def test_what_it_does_not_do_is_refused():
    """fp32, and on a GPU external fields and rotating frames"""
    for backend in ("openmp", "cuda"):
        for precision in ("mixed", "single"):
            result = go("run", f"compute.backend={backend}", f"compute.precision={precision}")
            assert result.returncode == 78 and "computes in double only" in result.stderr, result
    for override in ("physics.rotation=0.1", 'external=({type="uniform"; acceleration=[0,0,1];})'):
        keys = (override, "diagnostics=()", "time.end=0.005")
        assert go("run", *keys, "compute.backend=openmp").returncode == 0, override
        result = go("run", *keys, "compute.backend=cuda")
        assert result.returncode == 78 and "external fields" in result.stderr, result
    result = go("run", "compute.backend=cuda", "compute.method=fmm")
    assert result.returncode == 78, result


tap.main()
