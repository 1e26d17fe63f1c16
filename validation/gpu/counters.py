"""What the hardware counts in a launch of each of the main kernels, by Nsight Compute (ncu), and
the clock and the power while a part of the session runs, by nvidia-smi."""

import csv
import glob
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import time

from session import TAIL

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NUMBERS = "gpu/kernels/instructions.h"  # instructions of a pair, counted in the machine code

# Metrics of Nsight Compute that architectures from 7.5 to 12.0 have, by the name in the results.
# Those that a version or a device lacks are left out.
METRICS = {
    "seconds": "gpu__time_duration.sum",
    "clock": "sm__cycles_elapsed.avg.per_second",
    "instructions": "smsp__inst_executed.sum",
    "fp64_instructions": "smsp__inst_executed_pipe_fp64.sum",
    "issue": "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "fp32": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "fp64": "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "registers": "launch__registers_per_thread",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "dram_bytes": "dram__bytes.sum",
}

# What a value is multiplied by: --print-units base asks for base units, whose names differ between
# versions.
UNITS = {"": 1, "%": 1, "inst": 1, "register/thread": 1, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6,
         "Gbyte": 1e9, "nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3,
         "ms": 1e-3, "second": 1, "s": 1, "hz": 1, "Hz": 1, "Khz": 1e3, "Mhz": 1e6, "Ghz": 1e9,
         "cycle/second": 1, "cycle/nsecond": 1e9, "cycle/usecond": 1e6}

# Kernel, precision, the beginning of the function's name, and the name in instructions.h, which for
# fp64 has instructions of the fp64 unit alone. The last are the potentials, whose function depends
# on the device.
COUNTED = [("blocked", "single", "blocked<gravity", "BLOCKED_4"),
           ("symmetric", "single", "add_tile_pairs<gravity", "SYMMETRIC"),
           ("symmetric", "double", "add_tile_pairs<gravity", "SYMMETRIC_DOUBLE"),
           ("symmetric", "mixed", "add_tile_pairs<gravity", "SYMMETRIC_MIXED"),
           ("energies", "", "blocked<potentials", "ENERGIES_DOUBLE"),
           ("blocked", "double", "blocked<gravity", "DOUBLE_2"),
           ("blocked", "mixed", "blocked<gravity", "MIXED_4"),
           ("tiled", "single", "tiled<gravity", "TILED"),
           ("simt", "single", "simt<gravity", "SIMT")]
LAUNCHES = 3  # profiled; the longest counts, since a run first tries its kernels on a few bodies
LEAST = 20  # seconds that a run may take at least; else half of the time that is left

# Masses differ, so that no kernel leaves them out.
CONFIG = """
name = "counted";
bodies = { initial = "plummer"; masses = "two-components"; heavy_ratio = 2.0; seed = 7; };
physics = { softening = 0.05; };
time = { step = 0.001; end = 0.002; };
compute = { backend = "cuda"; };
diagnostics = ( { type = "conservation"; every = 2; } );
"""

FORBIDDEN = "the driver lets this user read no counters (ERR_NVGPUCTRPERM): it takes root, or " \
    "NVreg_RestrictProfilingToAdminUsers=0"


class Unreadable(Exception):
    """ncu has printed something else than its table."""


def find_ncu(given=None):
    """The path of ncu: `given`, if that is not None; else that on the path or of a toolkit."""
    places = [given] if given else [
        shutil.which("ncu"), "/usr/local/cuda/bin/ncu",
        *sorted(glob.glob("/opt/nvidia/nsight-compute/*/ncu"), reverse=True)]
    return next((place for place in places if place and os.access(place, os.X_OK)), None)


def value_of(text, unit):
    """A value in SI units; None if ncu has none, as "n/a" says."""
    if text in ("", "n/a", "no data"):
        return None
    if unit not in UNITS:
        raise Unreadable(f"a value in {unit}")
    try:
        value = float(text.replace(",", "")) * UNITS[unit]
    except ValueError:
        raise Unreadable(f"the value {text}") from None
    return value if math.isfinite(value) else None


def complaint(text):
    """The first error or warning of ncu, or ""."""
    found = re.search(r"^==(?:ERROR|WARNING)== *(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def read_launches(text):
    """[{"function": name, METRIC: value}, ...] from `ncu --csv --page raw`: a line of names, one of
    units, and one for each launch, after lines that begin with "==" and what the program says."""
    lines = [line for line in text.splitlines() if not line.startswith("==")]
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID",')), None)
    if start is None:
        raise Unreadable(complaint(text) or "no table")
    try:
        rows = list(csv.reader(lines[start:]))
    except csv.Error as error:
        raise Unreadable(f"no table: {error}") from None
    names, units, launches = rows[0], rows[1] if len(rows) > 1 else [], rows[2:]
    if "Kernel Name" not in names or not launches:
        raise Unreadable(complaint(text) or "no launch in the table")
    if any(len(row) != len(names) for row in rows):
        raise Unreadable("rows of different lengths")
    place = {key: names.index(metric) for key, metric in METRICS.items() if metric in names}
    return [{"function": row[names.index("Kernel Name")],
             **{key: value_of(row[k], units[k]) for key, k in place.items()}} for row in launches]


def instructions():
    """{name: instructions of a pair} from instructions.h; {} if it is not there."""
    try:
        text = (ROOT / NUMBERS).read_text()
    except OSError:
        return {}
    return {name: float(value) for name, value in
            re.findall(r"^#define GPU_INSTRUCTIONS_(\w+) ([\d.]+)$", text, re.MULTILINE)}


def complete(launch, kernel, precision, name, count):
    """The row of the results: counters, their ratio to pairs, and what the machine code says."""
    in_floats = "potentials_in_floats" in launch["function"]
    if kernel == "energies":
        precision = "pairs of floats" if in_floats else "double"
    full = precision == "double"
    found = launch.get("fp64_instructions" if full else "instructions")
    return {"kernel": kernel, "precision": precision, "count": count, **launch,
            "rate": count**2 / launch["seconds"],
            "pair_instructions": 32 * found / count**2 if found is not None else None,
            "expected": instructions().get("ENERGIES_FLOATS" if in_floats else name)}


class Profiler:
    """Runs ncu; leaves out the metrics of which it has complained."""

    def __init__(self, session, tools, program, config, count):
        self.session, self.tools, self.program = session, tools, program
        self.config, self.count = config, count
        self.metrics = dict(METRICS)

    def run_once(self, kernel, precision, function, seconds):
        """(exit status or None, what ncu and the program have said)."""
        log = pathlib.Path(self.session.scratch.name, "counters.csv")
        log.unlink(missing_ok=True)
        keys = (f"compute.kernel={'blocked' if kernel == 'energies' else kernel}",
                f"compute.precision={precision or 'single'}", f"bodies.count={self.count}")
        status, said = self.session.run(
            [self.program, "--csv", "--page", "raw", "--print-units", "base", "--log-file", log,
             "--clock-control", "none", "--metrics", ",".join(self.metrics.values()),
             "--kernel-name-base", "demangled", "--kernel-name", f"regex:{function}",
             "--launch-count", str(LAUNCHES), self.tools.orrery, "run", self.config, "-q",
             *[word for key in keys for word in ("-P", key)]], seconds, self.tools.environment)
        return status, (log.read_text(errors="replace") if log.exists() else "") + said

    def run(self, kernel, precision, function, seconds):
        """The same, from a second run if the first one lacks a metric."""
        end = time.monotonic() + seconds
        while True:
            status, text = self.run_once(kernel, precision, function, end - time.monotonic())
            errors = " ".join(re.findall(r"^==ERROR==.*$", text, re.MULTILINE))
            lacking = [key for key, metric in self.metrics.items() if metric in errors]
            if not status or not lacking or len(lacking) == len(self.metrics):
                return status, text
            for key in lacking:
                del self.metrics[key]


def run(session, tools, part, seconds):
    """Fills the part, and session.result["counters"] with a row for each kernel."""
    program, end = find_ncu(tools.ncu), time.monotonic() + seconds
    if not program:
        part.update(state="not run", reason=f"there is no {tools.ncu or 'ncu (Nsight Compute)'}")
        return
    config = pathlib.Path(session.scratch.name, "counted.cfg")
    config.write_text(CONFIG)
    profiler = Profiler(session, tools, program, config, 300 if tools.executor else 65536)
    rows = session.result["counters"] = []
    part.update(state="passed", tests=[])
    for kernel, precision, function, name in COUNTED:
        test = {"title": f"{kernel}, {precision}".strip(", "), "notes": [], "result": "skipped"}
        part["tests"].append(test)
        left = end - time.monotonic()
        if left < 1:
            test["notes"].append("not begun")
            continue
        limit, text = min(left, max(LEAST, left / 2)), ""
        try:
            status, text = profiler.run(kernel, precision, function, limit)
            if "ERR_NVGPUCTRPERM" in text:
                part.update(state="not run", reason=FORBIDDEN, tests=[])
                return
            if status is None:
                test["notes"].append(f"cut off after {limit:.0f} s")
                continue
            launch = max(read_launches(text), key=lambda launch: launch.get("seconds") or 0)
            if function not in launch["function"]:
                raise Unreadable(f"a launch of {launch['function']}")
            if not launch.get("seconds"):
                raise Unreadable("a launch without a duration")
            rows.append(complete(launch, kernel, precision, name, profiler.count))
            test["result"] = "passed"
        except Unreadable as reason:
            test.update(result="failed", notes=[f"ncu has printed {reason}"])
            part.update(state="failed", output=text[-TAIL:])
        session.save()
    lacking = [METRICS[key] for key in METRICS if key not in profiler.metrics]
    skipped = sum(test["result"] == "skipped" for test in part["tests"])
    reasons = [f"ncu has no {', '.join(lacking)}"] if lacking else []
    if skipped:
        reasons.append(f"{skipped} of {len(COUNTED)} were cut off or not begun: "
                       "there was no time")
        if skipped == len(COUNTED):
            part["state"] = "cut off"
    if reasons:
        part["reason"] = "; ".join(reasons)


# --- clock and power ---------------------------------------------------------------------------

class Clocks:
    """nvidia-smi, which writes clock, power and temperature once a second; without it, nothing."""

    QUERY = "--query-gpu=clocks.sm,power.draw,temperature.gpu"

    def __init__(self, folder):
        self.log = pathlib.Path(folder, "clocks")
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip() or "0"
        try:
            with self.log.open("wb") as output:
                self.process = subprocess.Popen(
                    ["nvidia-smi", self.QUERY, "--format=csv,noheader,nounits", "-l", "1",
                     "-i", visible], stdin=subprocess.DEVNULL, stdout=output,
                    stderr=subprocess.DEVNULL)
        except OSError:
            self.process = None

    def samples(self):
        """[[MHz, W, degrees C], ...] so far, with None for what is not known."""
        def number(word):
            try:
                return float(word)
            except ValueError:
                return None  # "[N/A]"
        lines = self.log.read_text(errors="replace").splitlines() if self.process else []
        rows = [[number(word) for word in line.split(",")] for line in lines]
        return [row for row in rows if len(row) == 3]

    def around(self, part, do):
        """Calls do(), and puts [least, median, largest] of each meanwhile into the part."""
        before = len(self.samples())
        try:
            do()
        finally:
            samples = self.samples()[before:]
            for column, key in enumerate(("MHz", "W", "degrees C")):
                values = [row[column] for row in samples if row[column] is not None]
                if values:
                    part.setdefault("clocks", {})[key] = [min(values), statistics.median(values),
                                                          max(values)]

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
