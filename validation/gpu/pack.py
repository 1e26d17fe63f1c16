"""Builds Orrery for GPUs, and packs what a machine needs where nothing can be installed."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import peers

PROGRAM = "orrery"
TESTS = [f"validation/gpu/{name}-on-gpu" for name in ("backend", "kernels", "hashes")]
EXECUTOR = "validation/gpu/hashes"  # this and the tests need cmocka
HASHES = "hashes.txt"  # what it prints
LARGE = 64 << 20
SCRIPTS = [f"validation/{name}" for name in (
    "tap.py", "frames.py", "rows.py", "gpu/run", "gpu/counters.py", "gpu/experiments.py",
    "gpu/pack.py", "gpu/peers.py", "gpu/run-on-gpu.py", "gpu/sanitizer.py", "gpu/session.py",
    "gpu/table.py")] + ["gpu/kernels/instructions.h"]
EXAMPLES = ["examples/*/*.cfg", "examples/*/*.csv"]  # run-on-gpu.py compares their first steps

# Programs of a pack find their libraries beside them, and those find each other; no variable of the
# environment says so, which python and the sanitizer would obey too.
RELOCATABLE = "LDFLAGS=-Wl,--disable-new-dtags,-rpath,'$$ORIGIN/lib:$$ORIGIN/../../lib'"

# The C library belongs to the machine, and the driver does.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|util|cuda)\.so)")


def find_devices():
    """Compute capabilities of the GPUs that the driver shows, as "90"; or why there are none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no GPU can be used: no NVIDIA driver is installed"
    count, device, value = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if code or count.value == 0:
        return f"no GPU can be used: the driver says {code}" if code else "no GPU is visible"
    found = set()
    for index in range(count.value):
        driver.cuDeviceGet(ctypes.byref(device), index)
        digits = []
        for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            digits.append(str(value.value))
        found.add("".join(digits))
    return sorted(found, key=int)


def build(source, folder, architectures, seconds, *variables):
    """Configures and makes in `folder`, with variables of make; returns the reason where it could
    not."""
    end = time.monotonic() + seconds
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--with-cuda=yes", "--with-hdf5=no"]
    if architectures:
        options.append(f"--with-cuda-arch={architectures}")
    commands = [[source / "bootstrap"]] if not (source / "configure").exists() else []
    make_command = ["make", "-s", f"-j{len(os.sched_getaffinity(0))}", *variables]
    commands += [[source / "configure", "-q", *options], [*make_command, "all"],
                 [*make_command, *TESTS, EXECUTOR]]
    for command in commands:
        where = source if command[0] == source / "bootstrap" else folder
        print(" ".join(map(str, command)), flush=True)
        try:
            said = subprocess.run(command, cwd=where, capture_output=True, text=True,
                                  timeout=max(1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            return f"{command[0]} took too long"
        except OSError as error:
            return f"{command[0]}: {error.strerror}"
        if said.returncode and command[-1] != EXECUTOR:
            return f"{command[0]} failed:\n{(said.stdout + said.stderr)[-3000:]}"
    if (folder / EXECUTOR).exists():
        with (folder / HASHES).open("w") as output:
            subprocess.run([folder / EXECUTOR], stdout=output, stderr=subprocess.DEVNULL)
    return None


def libraries(programs):
    """Paths of the shared libraries that the programs need beside the system's."""
    found = {}
    for program in programs:
        said = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True)
        for name, path in re.findall(r"(\S+) => (/\S+)", said.stdout):
            if not SYSTEM.match(name):
                found[name] = path
    return found


def fill(source, work, folder, names):
    """Puts programs that were built in `work`, what they need and the scripts into `folder`."""
    here = [*SCRIPTS, *(path.relative_to(source) for pattern in EXAMPLES
                        for path in source.glob(pattern))]
    for path, to in [*((work / name, folder / name) for name in names),
                     *((source / name, folder / name) for name in here)]:
        if path.exists():
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)
    programs = [folder / name for name in names if os.access(folder / name, os.X_OK)]
    programs += [path for path in (folder / "peers").glob("*") if os.access(path, os.X_OK)]
    (folder / "lib").mkdir(exist_ok=True)
    for name, path in libraries(programs).items():
        shutil.copy2(os.path.realpath(path), folder / "lib" / name)
    commit = re.search(r'"(.*)"', (work / "build-commit.h").read_text())[1]
    (folder / "pack.json").write_text(json.dumps({"commit": commit}) + "\n")
    return programs


def make(source, folder, architectures, peer_sources):
    """Builds, and fills `folder`; returns the reason where it could not."""
    work = folder / "build"
    reason = build(source, work, architectures, 3600, RELOCATABLE)
    if reason:
        return reason
    if peer_sources:
        peers.build(peer_sources, folder / "peers", architectures, 3600)
    for program in fill(source, work, folder, [PROGRAM, *TESTS, HASHES]):
        subprocess.run(["strip", str(program)], check=True)
    shutil.rmtree(work)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"packed: {folder}, {size / 2**20:.0f} MiB; there: "
          f"python3 {folder.name}/validation/gpu/run")
    if size > LARGE:
        print(f"a pack of more than {LARGE >> 20} MiB; --arch \"90\" builds for one kind of GPU")
    return None
