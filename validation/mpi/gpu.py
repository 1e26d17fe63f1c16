"""Ranks with GPUs, on the executor: the bytes of one process, a GPU for each, failures of one."""

import json
import os
import pathlib
import subprocess

import job
import tap

EXECUTOR = os.path.join(os.environ.get("ORRERY_BUILD", os.getcwd()), "validation/gpu/orrery")

# More bodies than one block of a GPU keeps, in a ragged number of lines of 16.
CONFIG = job.PLUMMER.replace('kernel = "auto"', 'backend = "cuda"; devices = 1') \
    .replace("end = 0.24", "end = 0.05").replace("every = 8", "every = 2")


def devices(count, **executor):
    """The environment of a job on a machine with `count` GPUs."""
    if not os.path.exists(EXECUTOR):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    job.mpirun()
    tap.ORRERY = EXECUTOR
    return {**job.ENVIRONMENT, "ORRERY_EXECUTOR_GPU": "1", "ORRERY_EXECUTOR_DEVICES": str(count),
            **{f"ORRERY_EXECUTOR_{name.upper()}": str(value) for name, value in executor.items()}}


def compare(ranks, *overrides, config=CONFIG):
    """Alone, and on several ranks with two GPUs: the same bytes."""
    keys = [word for override in overrides for word in ("-P", override)]
    config = job.write(config)
    environment = devices(2)
    job.finish(0, "run", config, "-q", "--force", "-o", "alone", *keys, environment=environment)
    job.finish(ranks, "run", config, "-q", "--force", "-o", "shared", *keys,
               environment=environment)
    job.same_files("alone", "shared")
    compute = json.loads(pathlib.Path("shared/run.json").read_text())["compute"]
    assert compute["ranks"] == ranks and compute["backend"] == "cuda", compute


def test_one_system():
    """one system on 2 ranks: the bytes of one process, energies too, for every precision"""
    for precision in ("double", "mixed", "single"):
        compare(2, f"compute.precision={precision}")


def test_kernels_and_integrators():
    """other kernels and integrators, on 3 ranks that share 2 GPUs"""
    compare(3, "compute.kernel=simt", "time.integrator=leapfrog-dkd")
    compare(2, "compute.kernel=tiled", "time.integrator=yoshida4", "time.end=0.03")


def test_several_gpus_each():
    """2 ranks that take both GPUs each"""
    compare(2, "compute.devices=2", "bodies.count=600", "time.end=0.03")


def test_few_bodies():
    """few bodies are moved by every rank, with any kernel"""
    for kernel in ("blocked", "symmetric"):
        compare(2, "bodies.count=40", f"compute.kernel={kernel}")


def test_an_ensemble():
    """5 systems on 2 ranks, which keep some of them each, with every kernel"""
    for kernel in ("blocked", "symmetric"):
        compare(2, "ensemble.systems=5", "bodies.count=40", f"compute.kernel={kernel}")


def test_external_fields():
    """divided by bodies and by systems, in a rotating frame too"""
    fields = """
external = ( { type = "nfw"; mass = 3.0; scale_radius = 0.8; center = [0.5, -0.25, 0.125]; },
             { type = "uniform"; acceleration = [0.0, 0.1, -0.2]; } );
"""
    for turn in ((), ("physics.rotation=0.7",)):
        compare(2, *turn, config=CONFIG + fields)
        compare(2, "bodies.count=40", *turn, config=CONFIG + fields)
        compare(2, "ensemble.systems=5", "bodies.count=40", *turn, config=CONFIG + fields)


def test_the_third_law_needs_all_bodies():
    """symmetric is refused where ranks would divide a system; auto takes the CPU"""
    config = job.write(CONFIG)
    result = job.run(2, "run", config, "-P", "compute.kernel=symmetric", environment=devices(2))
    assert result.returncode == 78 and '"blocked"' in result.stderr, result
    job.finish(2, "run", config, "-o", "auto", "-P", "compute.kernel=symmetric",
               "-P", "compute.backend=auto", "-P", "bodies.count=1100", "-P", "time.end=0.01",
               environment=devices(2))
    compute = json.loads(pathlib.Path("auto/run.json").read_text())["compute"]
    assert compute["backend"] == "openmp" and "all bodies" in compute["choice"], compute


def failing_rank(failure, *arguments):
    """Two ranks, of which the second one's GPU fails."""
    environment = devices(2)
    command = [tap.ORRERY, "run", job.write(CONFIG), "-q", *arguments]
    return subprocess.run([job.mpirun(), "-n", "1", *command, ":", "-n", "1", "env", failure,
                           *command], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120 * tap.PATIENCE)


def test_every_rank_has_a_gpu_of_its_own():
    """rank 1 has GPU 1, and says so when that has no memory"""
    result = failing_rank("ORRERY_EXECUTOR_FAIL_ALLOCATION=1")
    assert result.returncode == 71, result
    assert "rank 1 of 2" in result.stderr and "GPU 1: allocating" in result.stderr, result


def test_a_gpu_that_fails():
    """the GPU of rank 1 fails, in a step or an observation: all end with 69, and none waits"""
    for failure in ("FAIL_LAUNCH=1", "FAIL_LAUNCH=4", "FAIL_KERNEL=2", "FAIL_KERNEL=9"):
        result = failing_rank(f"ORRERY_EXECUTOR_{failure}", "--force")
        assert result.returncode == 69 and "GPU 1" in result.stderr, (failure, result)


tap.main()
