#!/usr/bin/env python3
"""Do two builds of the program compute the same bytes?

    validation/same-bytes.py OLD NEW [OLD-GPU NEW-GPU]

Runs every case below with the programs OLD and NEW, and compares the tables and trajectories byte
by byte and, of run.json, the verdict and the results. The last two, if given, are programs whose
cuda backend works here: on a device, or by the executor of the tests (validation/gpu/orrery). For
changes that should leave every number as it is. Exit status 0: all are equal."""

import filecmp
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

INTEGRATORS = ("euler", "semi-implicit-euler", "velocity-verlet", "leapfrog-dkd", "yoshida4",
               "pefrl", "yoshida6", "rk4")
ADAPTIVE = ("gauss-radau", "hermite4")
RESULTS = ("state", "verdict", "steps", "initial", "final", "expect", "watch", "scales",
           "relative_energy_error")
PRECISIONS = ("double", "mixed", "single")
ISAS = ("baseline", "avx2", "avx2-zen", "avx512", "avx512-zen")

CONFIG = """
name = "case";
bodies = {{ {bodies} }};
physics = {{ softening = 0.02; {physics} }};
time = {{ integrator = "velocity-verlet"; step = 0.001; end = 0.04; }};
compute = {{ backend = "openmp"; threads = 2; }};
{extra}
diagnostics = ( {{ type = "conservation"; every = 7; }}, {{ type = "virial"; every = 10; }},
                {{ type = "close-encounters"; every = 20; }}{diagnostics} );
outputs = ( {{ type = "xyz"; every = 20;
              columns = "species id mass pos velo force kinetic_energy local_energy"; }} );
expect = ( {{ quantity = "energy_error"; at_most = 1e-3; }} );
"""

PLUMMER = 'initial = "plummer"; count = {}; seed = 7; cutoff_radius = 10.0;'


def case(name, bodies, *overrides, extra="", physics="", diagnostics="", legs=1, gpu=False):
    return {"name": name, "gpu": gpu, "legs": legs, "overrides": overrides,
            "config": CONFIG.format(bodies=bodies, extra=extra, physics=physics,
                                    diagnostics=diagnostics)}


def cases():
    few, many = PLUMMER.format(64), PLUMMER.format(1500)
    for integrator in INTEGRATORS:
        for backend in ("serial", "openmp"):
            yield case(f"{integrator}-{backend}", few, f"time.integrator={integrator}",
                       f"compute.backend={backend}")
    for precision in PRECISIONS:
        for kernel in ("plain", "symmetric"):
            for isa in ISAS:
                yield case(f"{precision}-{kernel}-{isa}", many, f"compute.precision={precision}",
                           f"compute.kernel={kernel}", f"compute.isa={isa}", "time.end=0.01")
    for precision in PRECISIONS:
        for systems, count in ((33, 5), (40, 64), (9, 200), (3, 700)):
            yield case(f"{systems}x{count}-{precision}", PLUMMER.format(count),
                       f"compute.precision={precision}", "time.integrator=yoshida4",
                       extra=f"ensemble = {{ systems = {systems}; }};")
    for integrator in ("euler", "velocity-verlet", "leapfrog-dkd"):
        yield case(f"restart-{integrator}", few, f"time.integrator={integrator}", legs=2)
        yield case(f"restart-{integrator}-33x5", PLUMMER.format(5), f"time.integrator={integrator}",
                   extra="ensemble = { systems = 33; };", legs=2)
    for integrator in ADAPTIVE:
        name, chosen = f"{integrator}-", f"time.integrator={integrator}"
        for backend in ("serial", "openmp"):
            yield case(name + backend, few, chosen, f"compute.backend={backend}")
        for isa in ISAS:
            yield case(name + f"20x3-{isa}", PLUMMER.format(3), chosen, f"compute.isa={isa}",
                       extra="ensemble = { systems = 20; };")
        yield case(name + "restart", PLUMMER.format(20), chosen, legs=2)
        yield case(name + "500", PLUMMER.format(500), chosen, "time.end=0.01")
    for accuracy in ("1e-3", "1e-7"):
        for isa in ISAS:
            yield case(f"fmm-{accuracy}-{isa}", many, "compute.method=fmm", f"compute.isa={isa}",
                       f"compute.accuracy={accuracy}", "time.end=0.01")
    yield case("hermite4-mixed", few, "time.integrator=hermite4", "compute.precision=mixed")
    gas = 'initial = "uniform-cube"; count = 300; seed = 3; half_side = 1.0;'
    for precision in PRECISIONS:
        yield case(f"periodic-{precision}", gas, f"compute.precision={precision}",
                   physics='boundary = "periodic"; box_length = 2.0;',
                   diagnostics=', { type = "radial-distribution"; every = 20; }')
    yield case("figure-eight", 'initial = "figure-eight";', "physics.softening=0", "time.end=0.5",
               extra="trust = { shadow = true; };")
    for integrator in ("velocity-verlet", "rk4", *ADAPTIVE):
        for systems, precision in ((1, "double"), (5, "mixed")):
            if precision == "mixed" and integrator == "gauss-radau":
                continue  # which refuses it
            yield case(f"copies-{integrator}-{precision}", PLUMMER.format(12),
                       f"time.integrator={integrator}", f"compute.precision={precision}",
                       extra=f"ensemble = {{ systems = {systems}; }}; trust = {{ shadow = true; }};"
                             "energy_budget = { measure = true; every = 8; };", legs=2)
    yield case("pythagorean", 'initial = "pythagorean";', "time.end=0.2", "physics.softening=0",
               diagnostics=', { type = "lagrangian-radii"; every = 5; }')
    yield case("threads-3", PLUMMER.format(5000), "compute.threads=3", "time.end=0.003")
    for precision in PRECISIONS:
        for systems, count in ((1, 300), (20, 12)):
            yield case(f"gpu-{systems}x{count}-{precision}", PLUMMER.format(count),
                       "compute.backend=cuda", f"compute.precision={precision}", "time.end=0.01",
                       extra=f"ensemble = {{ systems = {systems}; }};", gpu=True)
    for integrator in INTEGRATORS:
        yield case(f"gpu-{integrator}", PLUMMER.format(24), "compute.backend=cuda", "time.end=0.01",
                   f"time.integrator={integrator}", gpu=True)


def run(program, item, directory):
    """What the run says: its exit statuses and errors."""
    os.makedirs(directory)
    config = os.path.join(directory, "case.cfg")
    with open(config, "w", encoding="utf-8") as file:
        file.write(item["config"])
    said = []
    for leg in range(item["legs"]):
        command = [program, "run", "case.cfg", "-q", "-o", "out"]
        command += [word for override in item["overrides"] for word in ("-P", override)]
        if item["legs"] > 1 and leg == 0:
            command += ["-P", "time.end=0.02"]
        if leg:
            command.append("--restart")
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        said.append((done.returncode, done.stderr if done.returncode not in (0, 1) else ""))
    return said


def same(paths):
    return all(map(os.path.exists, paths)) and filecmp.cmp(*paths, shallow=False)


def results(folder):
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
        record = json.load(file)
    return {key: record.get(key) for key in RESULTS}


def differences(folders):
    """How many files two finished runs have, and the names of those that are not the same."""
    names = {name for folder in folders for name in os.listdir(folder)
             if name.endswith((".csv", ".xyz"))}
    found = [name for name in sorted(names)
             if not same([os.path.join(folder, name) for folder in folders])]
    if results(folders[0]) != results(folders[1]):
        found.append("run.json")
    return len(names), found


def compare(item, programs, root):
    folders = [os.path.join(root, item["name"], side) for side in ("old", "new")]
    said = [run(program, item, folder) for program, folder in zip(programs, folders)]
    if said[0] != said[1]:
        return f"{item['name']}: {said[0]} became {said[1]}", 0
    if said[0][-1][0] == 69:
        return None, 0  # no such instructions here
    if said[0][-1][0] not in (0, 1):
        return f"{item['name']}: does not run: {said[0]}", 0
    files, found = differences([os.path.join(folder, "out") for folder in folders])
    if files == 0:
        return f"{item['name']}: wrote nothing", 0
    return (f"{item['name']}: {', '.join(found)}" if found else None), files


def main():
    programs = [os.path.abspath(path) for path in sys.argv[1:]]
    if len(programs) not in (2, 4):
        sys.exit(__doc__)
    wanted = [item for item in cases() if len(programs) == 4 or not item["gpu"]]

    def one(item):
        return compare(item, programs[2:] if item["gpu"] else programs[:2], root)

    with tempfile.TemporaryDirectory() as root, ThreadPoolExecutor(2) as pool:
        told = list(pool.map(one, wanted))
    for text, _ in told:
        if text:
            print(text)
    compared = sum(1 for text, files in told if files and not text)
    wrong = sum(1 for text, _ in told if text)
    print(f"{compared} runs are the same in {sum(files for _, files in told)} files, "
          f"{wrong} are not, {len(wanted) - compared - wrong} cannot run here")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
