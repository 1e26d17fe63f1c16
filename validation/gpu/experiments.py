"""Experiments on a GPU: large systems, whose bits and positions are compared. ORRERY_GPU=1 says
that ./orrery finds one; without it they are small, for the executor. validation/gpu/run starts
this."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import tap

REAL = bool(os.environ.get("ORRERY_GPU"))

CUBE = """
name = "cube";
bodies = { initial = "uniform-cube"; count = 1024; seed = 42; };
physics = { softening = 0.1; };
time = { integrator = "semi-implicit-euler"; step = 0.01; };
compute = { backend = "cuda"; precision = "single"; };
diagnostics = ( { type = "conservation"; every = 1000000; } );
outputs = ( { type = "xyz"; every = 1000000; digits = 17; columns = "pos"; } );
"""


def size(on_a_gpu, on_the_executor):
    return on_a_gpu if REAL else on_the_executor


def run(directory, steps, *overrides, restart=False, environment=None):
    """The cube for a number of steps; the last step is always written."""
    pathlib.Path("run.cfg").write_text(CUBE)
    keys = [word for override in (f"time.end={steps / 100!r}", *overrides)
            for word in ("-P", override)]
    return tap.run("run", "run.cfg", "-q", "-o", directory, *keys,
                   *["--restart"] * restart, env={**os.environ, **(environment or {})}, timeout=90)


def finish(*arguments, **options):
    """A run to its end. Its verdict may fail: the step is that of the tutorial's codes, which is
    too long for bodies that meet, and these tests are about bits and positions."""
    result = run(*arguments, **options)
    assert result.returncode in (0, 1), (arguments, result.returncode, result.stderr)
    about = json.loads(pathlib.Path(arguments[0], "run.json").read_text())
    assert about["state"] == "ended" and about["final_time"] > 0, (arguments, about["state"])


def contents(directory, names=("conservation.csv", "trajectory.xyz")):
    return [pathlib.Path(directory, name).read_bytes() for name in names]


def last_positions(directory, systems, count):
    """Of the bodies of system 0, in the last frame."""
    lines = pathlib.Path(directory, "trajectory.xyz").read_text().splitlines()
    return [[float(word) for word in line.split()[:3]]
            for line in lines[-systems * count:][:count]]


def largest_difference(one, other):
    assert len(one) == len(other) > 0
    return max(abs(a - b) for p, q in zip(one, other) for a, b in zip(p, q))


def test_plain_kernels_give_the_same_bits():
    """every kernel without the third law: the same trajectory, bit for bit"""
    # 100 steps as in the tutorial of GPU n-body codes (experiments A3).
    count, steps = size(65536, 96), size(100, 3)
    print(f"# {count} bodies, {steps} steps, every precision")
    for precision in ("single", "mixed", "double"):
        for kernel in tap.gpu_kernels(third_law=False):
            finish(f"{precision}-{kernel}", steps, f"bodies.count={count}",
                   f"compute.kernel={kernel}", f"compute.precision={precision}")
            assert contents(f"{precision}-{kernel}") == contents(f"{precision}-simt"), (
                precision, kernel)


def test_runs_give_the_same_bits_again():
    """the same run twice, with every kernel: the same bits"""
    count, steps = size(20000, 96), size(200, 2)
    print(f"# {count} bodies, {steps} steps")
    for kernel in tap.gpu_kernels():
        for directory in (f"{kernel}-once", f"{kernel}-twice"):
            finish(directory, steps, f"bodies.count={count}", f"compute.kernel={kernel}")
        assert contents(f"{kernel}-once") == contents(f"{kernel}-twice"), kernel


def test_restart_gives_the_same_bits():
    """stopped and continued: the bits of an uninterrupted run"""
    count, steps = size(3000, 270), size(1000, 8)
    print(f"# {count} bodies, {steps} steps")
    for kernel in ("blocked", "symmetric"):
        overrides = (f"bodies.count={count}", f"compute.kernel={kernel}",
                     f"checkpoint.every_steps={steps // 4}")
        finish(f"{kernel}-whole", steps, *overrides)
        finish(f"{kernel}-part", steps // 2, *overrides)
        finish(f"{kernel}-part", steps, *overrides, restart=True)
        whole, part = (last_positions(f"{kernel}-{name}", 1, count) for name in ("whole", "part"))
        assert whole == part, kernel


def test_many_galaxies():
    """many galaxies in single precision: within 1e-3 of the CPU in double"""
    # Experiments B. In single precision a CPU is 1.2e-5 away from itself in double by then.
    systems, count, steps = size(32, 4), size(8192, 64), size(50, 20)
    print(f"# {systems} x {count} bodies, {steps} steps")
    for kernel in ("blocked", "symmetric"):
        finish(kernel, steps, f"bodies.count={count}", f"ensemble.systems={systems}",
               f"compute.kernel={kernel}")
    finish("cpu", steps, f"bodies.count={count}", "compute.backend=openmp",
           "compute.precision=double")
    expected = last_positions("cpu", 1, count)
    for kernel in ("blocked", "symmetric"):
        difference = largest_difference(last_positions(kernel, systems, count), expected)
        print(f"# {kernel}: {difference:.2e} away")
        assert 0 < difference < 1e-3, (kernel, difference)


def test_double_precision_is_the_cpus():
    """a large system in double precision: the CPU's positions, but for rounding"""
    # Roundings of 4e-15 of coordinates of some 25, which 20 steps multiply by less than a thousand.
    count, steps = size(16384, 270), size(20, 3)
    for directory, backend in (("gpu", "cuda"), ("cpu", "openmp")):
        finish(directory, steps, f"bodies.count={count}", f"compute.backend={backend}",
               "compute.precision=double")
    difference = largest_difference(last_positions("gpu", 1, count),
                                    last_positions("cpu", 1, count))
    print(f"# {count} bodies, {steps} steps: {difference:.2e}")
    assert difference < 1e-11, difference


def test_portable_is_the_cpus():
    """the kernel "portable": the bytes of the CPU"""
    count, steps = size(8192, 96), size(100, 3)
    print(f"# {count} bodies, {steps} steps")
    for directory, backend in (("gpu", "cuda"), ("cpu", "openmp")):
        finish(directory, steps, f"bodies.count={count}", f"compute.backend={backend}",
               "compute.precision=double", "compute.kernel=portable")
    assert contents("gpu") == contents("cpu")


def test_own_steps_are_the_cpus():
    """integrators that choose their own steps: the CPU's positions, but for rounding"""
    # Roundings of 1e-16 of coordinates of some 10, which close pairs multiply.
    for integrator in ("hermite4", "block-leapfrog", "gauss-radau"):
        count = size(4096 if integrator == "gauss-radau" else 16384, 60)
        seconds, steps = {}, {}
        for backend in ("cuda", "openmp"):
            directory = f"{integrator}-{backend}"
            finish(directory, 5, f"bodies.count={count}", f"compute.backend={backend}",
                   "compute.precision=double", f"time.integrator={integrator}")
            about = json.loads(pathlib.Path(directory, "run.json").read_text())
            seconds[backend] = about["legs"][0]["advance_seconds"]
            steps[backend] = about["own_steps"]["steps"]
        difference = largest_difference(*(last_positions(f"{integrator}-{backend}", 1, count)
                                          for backend in seconds))
        print(f"# {integrator}: {count} bodies, {steps['cuda']:.3g} steps of a body: "
              f"{difference:.2e}; {seconds['cuda']:.3g} s, the CPU {seconds['openmp']:.3g} s")
        assert difference < 1e-9, (integrator, difference)
        assert abs(steps["cuda"] / steps["openmp"] - 1) < 1e-3, steps


def test_a_long_step_is_interrupted():
    """Ctrl-C in a step of many seconds: a checkpoint of the step before, within a few seconds"""
    if not REAL:
        raise tap.Skip("on the executor a step of such a size takes hours")
    pathlib.Path("run.cfg").write_text(CUBE)
    keys = ("bodies.count=3000000", "compute.precision=double", "time.end=10", "outputs=()",
            "diagnostics=()", "watch.every=1000000")
    process = subprocess.Popen([tap.ORRERY, "run", "run.cfg", "-o", "long",
                                *[word for key in keys for word in ("-P", key)]],
                               stderr=subprocess.PIPE, text=True)
    log = pathlib.Path("long", "run.log")
    while not log.exists() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(14)  # on an H100 the energies at the start take some 10 s, and so does a step
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=80)[1]
    print(f"# 3000000 bodies in double precision: {time.monotonic() - begin:.1f} s")
    assert process.returncode == 75 and time.monotonic() - begin < 6, (process.returncode, said)


def test_no_device_is_exit_69():
    """no device, or one too few: exit status 69; auto falls back to the CPU"""
    hidden = {"CUDA_VISIBLE_DEVICES": "", "ORRERY_EXECUTOR_DEVICES": "0"}
    result = run("none", 1, environment=hidden)
    assert result.returncode == 69 and "GPU" in result.stderr, (result.returncode, result.stderr)
    result = run("many", 1, "compute.devices=64")
    assert result.returncode == 69 and "64" in result.stderr, (result.returncode, result.stderr)
    finish("auto", 1, "compute.backend=auto", environment=hidden)


# Takes the memory of the first GPU but for a number of bytes, says what it left, and holds it until
# its input ends.
HOLD = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
device, context = ctypes.c_int(), ctypes.c_void_p()
free, total = ctypes.c_size_t(), ctypes.c_size_t()
codes = [cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0),
         cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
         cuda.cuCtxSetCurrent(context),
         cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))]
memory, held = ctypes.c_uint64(), 0
wanted = free.value - int(sys.argv[1])
while not any(codes) and wanted - held >= 1 << 26:
    piece = min(wanted - held, 1 << 30)
    if cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(piece)):
        break
    held += piece
print(free.value - held if not any(codes) else -1, flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def little_memory(left):
    """While another process holds all memory of the GPU but `left` bytes."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(left)], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        try:
            said = holder.stdout.readline().strip()
            if not said or not 0 <= int(said) <= left + (1 << 27):
                raise tap.Skip(f"the memory of the GPU could not be taken: {said}")
            yield
        finally:
            holder.stdin.close()


def test_systems_pass_through_little_memory():
    """systems that do not fit in the device's memory together: the bits of those that do"""
    systems, count, steps = size(60, 5), size(65536, 64), size(4, 3)
    print(f"# {systems} x {count} bodies, {steps} steps")
    keys = (f"ensemble.systems={systems}", f"bodies.count={count}", "compute.precision=mixed",
            "compute.kernel=blocked", "outputs=()", "diagnostics.0.every=1")
    finish("large", steps, *keys)
    if REAL:  # of a gigabyte, half is the driver's; the systems need 0.9
        with little_memory(1000 << 20):
            finish("little", steps, *keys)
    else:
        finish("little", steps, *keys, environment={"ORRERY_EXECUTOR_MEMORY": "60000"})
    finish("stream", steps, *keys, "compute.stream=true")
    for directory in ("little", "stream"):
        assert contents(directory, ["conservation.csv"]) == contents("large", ["conservation.csv"])
        about = json.loads(pathlib.Path(directory, "run.json").read_text())
        assert about["compute"]["device"].endswith(", systems in batches"), about["compute"]


def test_no_memory_is_exit_71():
    """too little memory on the device: exit status 71"""
    if REAL:  # a gigabyte is left, for the driver as well, and 6 million bodies need 0.85 of it
        with little_memory(1000 << 20):
            result = run("full", 1, "bodies.count=6000000", "compute.precision=double")
    else:
        result = run("full", 1, environment={"ORRERY_EXECUTOR_MEMORY": "10000"})
    assert result.returncode == 71, (result.returncode, result.stderr)
    # What the kernels want of the device beside what is free there, with the key that asks for it.
    assert re.search(r"bodies.count.*: GPU 0: a system needs [\d.]+ MiB, and [\d.]+ MiB are free",
                     result.stderr), result.stderr


tap.main()
