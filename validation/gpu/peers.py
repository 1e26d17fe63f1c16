"""Other programs beside ours on one GPU: their rates, as they say them and of a launch of their
kernel, and the errors of their forces, which none of them tells.

Their sources stay where the user has them; they are found below one folder by the names of their
files. A pack carries the programs that were built from them."""

import array
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
MANIFEST = "peers.json"
SIZES = (16384, 262144, 1048576)
SMALL_SIZES = (64,)  # for trying this without a GPU
LARGEST_WHOLE = 262144  # beyond this only a launch is timed, no whole benchmark of a program
ROUNDS = 3
SOFTENING = 0.05  # orrery bench's
SAMPLE = 64  # bodies whose forces are compared
WRONG = 1e-2  # an error beyond which the forces are not forces
OURS = ("blocked", "symmetric")


class Case(NamedTuple):
    """A kernel of another program, in one precision."""
    title: str
    precision: str
    marker: str  # the end of the path of the kernel's file
    program: str  # the name of what is built from
    sources: tuple  # these files beside the marker
    flags: tuple
    macros: tuple  # for peer-forces.cu
    libraries: tuple
    arguments: tuple  # of the program; {count} stands for the number of bodies
    rate: str  # a pattern in what it writes, and its unit in pairs per second
    unit: float
    softening: float

    def key(self):
        return f"{self.title}, {self.precision}"

    def forces(self):
        return f"forces-{self.program}-{self.precision}"


def samples(precision, real, options):
    return Case("cuda-samples nbody", precision, "nbody/bodysystemcuda.cu", "cuda-samples-nbody",
                ("bodysystemcuda.cu", "render_particles.cpp", "nbody.cpp"), ("-std=c++17",),
                ("-DSAMPLES", f"-DREAL={real}"), ("-lglut", "-lGLU", "-lGL"),
                ("-benchmark", "-numbodies={count}", "-i=10", *options),
                r"= ([\d.]+) billion interactions per second", 1e9, SOFTENING)


def mini(variant):
    return Case(f"mini-nbody {variant}", "single", f"cuda/nbody-{variant}.cu",
                f"mini-nbody-{variant}", (f"nbody-{variant}.cu",), ("-ftz=true", "-DSHMOO"),
                ("-DMINI",), (), ("{count}",), r"^\d+, ([\d.]+)$", 1e9, math.sqrt(1e-9))


def ymiki(precision, bits):
    return Case("ymiki-repo nbody", precision, "12_memcpy_shmem/nbody_leapfrog2.cu",
                f"ymiki-nbody-{bits}", ("nbody_leapfrog2.cu",),
                ("-std=c++17", "-ftz=true", "--expt-relaxed-constexpr", "-DNDEBUG",
                 "-DBENCHMARK_MODE", "-DSIMD_BITS=512", "-DMEMORY_ALIGNMENT=64", f"-DFP_L={bits}",
                 f"-DFP_M={bits}", "-DFP_H=64"), ("-DYMIKI",),
                ("-lboost_filesystem", "-lboost_program_options", "-lboost_timer",
                 "-lboost_chrono", "-lhdf5"),
                ("--num_min={count}", "--num_max={count}", "--num_bin=1", "--elapse_min=0.2"),
                # It writes log/collapse_run.csv: exec, N, time, step, time per step, rate, ...
                r"^[^,\n]*,\d+,[^,]+,\d+,[^,]+,([^,]+),", 1, SOFTENING)


CASES = (samples("single", "float", ()), samples("double", "double", ("-fp64",)),
         *(mini(variant) for variant in ("soa", "block", "unroll")),
         ymiki("single", 32), ymiki("double", 64))


# --- building ----------------------------------------------------------------------------------

def find_sources(folder):
    """{marker: path} of those below the folder."""
    wanted, found = {case.marker for case in CASES}, {}
    for path in sorted(pathlib.Path(folder).resolve().rglob("*.cu")):
        for marker in wanted:
            if str(path).endswith("/" + marker):
                found.setdefault(marker, path)
    return found


def includes(source, folder):
    """Their headers lie above their kernels, cuda-samples' in a folder Common there."""
    above = [parent for parent in source.parents if folder in (parent, *parent.parents)]
    return [f"-I{path}" for parent in above for path in (parent, parent / "Common")
            if path.is_dir()]


def hdf5_flags():
    """Where HDF5 is, if it says so; Boost and others are found by CPATH and LIBRARY_PATH."""
    try:
        said = subprocess.run(["pkg-config", "--cflags", "--libs-only-L", "hdf5"],
                              capture_output=True, text=True)
    except OSError:
        return []
    return said.stdout.split() if said.returncode == 0 else []


def code_flags(architectures):
    return [f"-gencode=arch=compute_{one},code=sm_{one}" for one in architectures.split()] \
        or ["-arch=all-major"]


def commands(case, source, folder, output, architectures):
    """{file that is built: command}: the program, and peer-forces with its kernel."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    common = [nvcc, "-O3", "-w", *code_flags(architectures), *case.flags,
              *includes(source, folder)]
    if "-lhdf5" in case.libraries:
        common += hdf5_flags()
    # As in a pack, whose libraries lie beside this folder.
    libraries = ["-Xlinker", "--disable-new-dtags", "-Xlinker", "-rpath=$ORIGIN/../lib",
                 *case.libraries]
    program, forces = output / case.program, output / case.forces()
    return {program: [*common, "-o", program, *(source.parent / name for name in case.sources),
                      *libraries],
            forces: [*common, *case.macros, f'-DPEER="{source}"', "-o", forces,
                     HERE / "peer-forces.cu", *libraries]}


def run_all(work, seconds):
    """Runs commands, as many at once as there are cores; returns {key: why it failed, or ""}."""
    end, waiting, running, said = time.monotonic() + seconds, list(work.items()), {}, {}
    while waiting or running:
        while waiting and len(running) < len(os.sched_getaffinity(0)):
            key, command = waiting.pop(0)
            try:
                log = open(f"{key}.log", "w+b")  # pylint: disable=consider-using-with
                running[key] = subprocess.Popen([str(word) for word in command], stdout=log,
                                                stderr=subprocess.STDOUT), log
            except OSError as error:
                said[key] = f"{command[0]}: {error.strerror}"
        for key, (process, log) in list(running.items()):
            status = process.poll()
            if status is None and time.monotonic() > end:
                process.kill()
                process.wait()
                status = "it took too long"
            if status is not None:
                log.seek(0)
                text = log.read().decode(errors="replace")
                log.close()
                os.unlink(f"{key}.log")
                said[key] = "" if status == 0 else last_error(text) or str(status)
                del running[key]
        time.sleep(0.05)
    return said


def last_error(text):
    """The line of a compiler's output that says most."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"error|cannot find|undefined", line)]
    return (errors or lines or [""])[0][:300]


def commit_of(path):
    try:
        said = subprocess.run(["git", "-C", str(path.parent), "rev-parse", "--short=12", "HEAD"],
                              capture_output=True, text=True)
    except OSError:
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""


def build(folder, output, architectures, seconds):
    """Builds what is found below `folder` into `output`; what could not be built is told there."""
    folder = pathlib.Path(folder).resolve()
    found, work = find_sources(folder), {}
    output.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        if case.marker in found:
            work.update(commands(case, found[case.marker], folder, output, architectures))
    print(f"building other programs from {folder}: {len(work)} files", flush=True)
    said = run_all(work, seconds)
    manifest = {}
    for case in CASES:
        source = found.get(case.marker)
        reasons = [said[output / name] for name in (case.program, case.forces())] if source else []
        manifest[case.key()] = {
            "commit": commit_of(source) if source else "",
            "reason": next(filter(None, reasons), "") if source else
            f"there is no {case.marker} below the folder"}
    (output / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


# --- errors ------------------------------------------------------------------------------------

def cube(count):
    """x, y, z, mass of bodies of mass 1 in a cube of side 2; fp32 has their positions exactly."""
    numbers = random.Random(count)
    return array.array("d", [1.0 if k % 4 == 3 else numbers.getrandbits(21) / 2**20 - 1
                             for k in range(4 * count)])


def reference(bodies, softening):
    """{body: acceleration} of a sample."""
    count = len(bodies) // 4
    positions = [tuple(bodies[4 * j:4 * j + 3]) for j in range(count)]
    exact = {}
    for i in range(0, count, max(1, count // SAMPLE)):
        xi, yi, zi = positions[i]
        terms = []
        for x, y, z in positions:
            dx, dy, dz = x - xi, y - yi, z - zi
            square = dx * dx + dy * dy + dz * dz + softening * softening
            factor = 1 / (square * math.sqrt(square))
            terms.append((factor * dx, factor * dy, factor * dz))
        exact[i] = [math.fsum(axis) for axis in zip(*terms)]
    return exact


def error_of(accelerations, exact):
    """rms of |a - a_ref| relative to that of |a_ref|."""
    error = sum((accelerations[3 * i + k] - a[k]) ** 2 for i, a in exact.items() for k in range(3))
    return math.sqrt(error / sum(x * x for a in exact.values() for x in a))


# --- measuring ---------------------------------------------------------------------------------

class Turns:
    """All cases on one device, one after the other, for as many rounds as there is time."""

    def __init__(self, session, tools, seconds):
        self.session = session
        self.tools = tools
        self.folder = tools.build / "peers"
        self.end = time.monotonic() + seconds
        self.sizes = SMALL_SIZES if tools.executor else SIZES
        self.scratch = pathlib.Path(session.scratch.name, "peers")
        self.scratch.mkdir()
        self.rows = session.result.setdefault("peers", [])
        self.exact = {}
        for count in self.sizes:
            (self.scratch / f"{count}").write_bytes(cube(count).tobytes())

    def time_left(self):
        return self.end - time.monotonic()

    def sizes_of(self, precision):
        """Double precision, of which many a device has little, at the least size alone."""
        return self.sizes[:1] if precision == "double" else self.sizes

    def row(self, title, precision, count):
        for row in self.rows:
            if (row["title"], row["precision"], row["count"]) == (title, precision, count):
                return row
        self.rows.append({"title": title, "precision": precision, "count": count, "error": None,
                          "said": [], "kernel": []})
        return self.rows[-1]

    def start(self, command):
        """(exit status, what it printed and wrote into a folder log)"""
        folder = self.scratch / "work"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "log").mkdir(parents=True)
        status, output = self.session.run(command, max(0.1, self.time_left()), folder=folder)
        for path in sorted((folder / "log").glob("*.csv")):
            output += "\n" + path.read_text(errors="replace")
        return status, output

    def launch(self, case, count):
        """Seconds of a launch of its kernel alone; None where it failed."""
        to = self.scratch / "accelerations"
        status, output = self.start([self.folder / case.forces(), self.scratch / f"{count}", to,
                                     repr(case.softening)])
        found = re.search(r"^(\S+) seconds$", output, re.MULTILINE)
        return float(found[1]) if status == 0 and found else None

    def check(self, case):
        """Why its rates count for nothing, or "": a program that computes nothing is fast."""
        count = self.sizes[0]
        bodies = array.array("d", (self.scratch / f"{count}").read_bytes())
        if case.softening not in self.exact:
            self.exact[case.softening] = reference(bodies, case.softening)
        if self.launch(case, count) is None:
            return "cut off" if self.time_left() <= 0 else "its kernel failed"
        found = array.array("d", (self.scratch / "accelerations").read_bytes())
        error = error_of(found, self.exact[case.softening])
        if not error < WRONG:
            return f"its forces are wrong by {error:.1e} of themselves"
        for size in self.sizes_of(case.precision):
            self.row(case.title, case.precision, size)
        self.row(case.title, case.precision, count)["error"] = error
        return ""

    def measure(self, case, count):
        row, seconds = self.row(case.title, case.precision, count), self.launch(case, count)
        if seconds:
            row["kernel"].append(count * count / seconds)
        if count > LARGEST_WHOLE:
            return
        arguments = [word.format(count=count) for word in case.arguments]
        status, output = self.start([self.folder / case.program, *arguments])
        found = re.search(case.rate, output, re.MULTILINE)
        if status == 0 and found:
            row["said"].append(case.unit * float(found[1]))

    def measure_ours(self):
        """Whole steps of velocity Verlet, the host's wait included."""
        folder, of_sizes = self.scratch / "bench", {}
        for precision in ("single", "double"):
            of_sizes.setdefault(self.sizes_of(precision), []).append(precision)
        for sizes, precisions in of_sizes.items():
            status, output = self.session.run(
                [self.tools.orrery, "bench", "--backends", "cuda", "--kernels", ",".join(OURS),
                 "--precisions", ",".join(precisions), "--sizes", ",".join(map(str, sizes)),
                 "--equal-masses", "--softening", SOFTENING, "--seconds",
                 0.01 if self.tools.executor else 1, "-o", folder], max(0.1, self.time_left()),
                self.tools.environment)
            if status != 0:
                return status is None or output
            for found in json.loads((folder / "bench.json").read_text())["rows"]:
                row = self.row(f"orrery {found['kernel']}", found["precision"], found["bodies"])
                row["error"] = found["error"]
                row["said"].append(found["interactions_per_second"])
        return ""


def measure(session, tools, part, seconds):
    folder = tools.build / "peers"
    if not (folder / MANIFEST).exists():
        part.update(state="not run", reason="no sources of theirs were named: --peers FOLDER")
        return
    built = json.loads((folder / MANIFEST).read_text())
    turns = Turns(session, tools, seconds)
    part.update(state="passed", tests=[])
    ready = []
    for case in CASES:
        reason = built[case.key()]["reason"] or turns.check(case)
        notes = [reason] if reason else \
            [f"commit {built[case.key()]['commit']}"] * bool(built[case.key()]["commit"])
        part["tests"].append({"title": case.key(), "result": "skipped" if reason else "passed",
                              "notes": notes})
        ready += [case] * (not reason)
    if not ready:
        part.update(state="not run", reason="none of them could be built and run")
        return
    for number in range(1 if tools.executor else ROUNDS):
        wrong = turns.measure_ours()
        for count in turns.sizes:
            for case in ready:
                if turns.time_left() > 1 and count in turns.sizes_of(case.precision):
                    turns.measure(case, count)
        session.save()
        if wrong and turns.time_left() > 1:
            part.update(state="failed", output=str(wrong)[-4000:])
            return
        if turns.time_left() <= 1:
            part["reason"] = f"{number + 1} of {ROUNDS} rounds, the last one perhaps not whole: " \
                "there was no time"
            return
