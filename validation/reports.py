"""Runs made up for the tests of reports, and what their pages hold."""

import functools
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy
import tap

STEPS = 4000  # more rows than a figure draws, so that lines are thinned


def table_of(names, columns):
    """The text of a table; a cell that is not a number is empty."""
    rows = numpy.column_stack(columns)
    lines = (",".join(len(names) * ["%.17g"]) + "\n") * len(rows) % tuple(rows.ravel().tolist())
    return ",".join(names) + "\n" + lines.replace("nan", "")


def write_csv(path, names, columns):
    pathlib.Path(path).write_text(table_of(names, columns))


@functools.cache
def conservation(step, worst, steps):
    """The table of a run that make_run() makes."""
    time = step * numpy.arange(steps + 1)
    error = worst * numpy.sin(time * 9.1)
    error[1234] = worst  # one row alone; thinning must not lose it
    kinetic = 0.25 + 0.1 * numpy.sin(time)
    largest = numpy.maximum.accumulate(abs(error))
    names = ["step", "time [T]", "kinetic [M L^2 T^-2]", "potential [M L^2 T^-2]",
             "energy [M L^2 T^-2]", "relative_energy_error", "energy_error", "virial_ratio",
             "momentum_x [M L T^-1]", "momentum_y [M L T^-1]", "momentum_z [M L T^-1]"]
    drift = 1e-16 * (1 + time)
    return table_of(names, [numpy.arange(steps + 1), time, kinetic, -0.25 - kinetic,
                            0 * time - 0.25, error, largest,
                            numpy.where(time > 0, 1 + error, numpy.nan), drift, drift, drift])


def write_trajectory(path, bodies, frames=9):
    with open(path, "w") as file:
        for frame in range(frames):
            file.write(f'{bodies}\nLattice="4 0 0 0 4 0 0 0 4" Origin="-2 -2 -2" pbc="F F F" '
                       f"Properties=species:S:1:pos:R:3:id:I:1 Time={frame * 0.5}\n")
            for i in range(bodies):
                angle = 0.7 * i + 0.3 * frame
                r = 0.2 + i / bodies
                file.write(f"X {r * numpy.cos(angle):.17g} {r * numpy.sin(angle):.17g} 0 {i + 1}\n")


def make_run(path, *, name="made", step=0.001, bodies=3, verdict="held", worst=None,
             integrator="velocity-verlet", steps=STEPS):
    """A run directory such as `orrery run` leaves."""
    os.makedirs(path)
    worst = 3e-6 if worst is None else worst
    pathlib.Path(path, "conservation.csv").write_text(conservation(step, worst, steps))
    write_trajectory(f"{path}/trajectory.xyz", bodies)
    with open(f"{path}/run.cfg", "w") as file:
        file.write(f'name = "{name}"; # <made> & "kept"\n')
    run = {
        "program": {"name": "orrery", "version": "0.1.0"}, "name": name, "state": "ended",
        "verdict": verdict, "systems": 1, "bodies": bodies, "step": steps, "steps": steps,
        "time": step * steps, "wall_seconds": 1.5, "interactions_per_second": 2e9,
        "diagnostics": {"conservation": {"energy_error": worst, "virial_ratio": 1.0}},
        "expect": [{"criterion": "energy_error <= 1e-05", "holds": verdict == "held",
                    "worst": worst, "judged": True, "rows": steps + 1, "failures": 0}],
        "findings": [{"judge": "expect", "name": "energy_error", "whose": "", "value": worst,
                      "unit": "", "bound": 1e-5, "bound_is": "most", "since": None, "system": None,
                      "since_system": None, "sentence": "energy_error <= 1e-05",
                      "severity": "failure" if verdict == "failed" else "held"}],
        "files": ["run.json", "run.cfg", "conservation.csv", "trajectory.xyz"],
        "config": {"name": name, "bodies": {"initial": "plummer", "count": bodies,
                                                 "center": True},
                   "physics": {"units": "nbody", "softening": 0.05},
                   "time": {"integrator": integrator, "step": step},
                   "diagnostics": [{"type": "conservation", "every": 1}],
                   "outputs": [{"type": "xyz", "file": "trajectory.xyz"}]}}
    if verdict == "failed":
        run["findings"].append({
            "judge": "watch", "name": "energy error", "whose": "test body 7", "value": 118.5,
            "unit": "", "bound": 0.005, "bound_is": "most", "since": 1.875, "system": 3,
            "since_system": None, "sentence": "the energy is off", "severity": "failure"})
        run["watch"] = {"holds": False, "limits": {"energy_error": 0.005, "energy_drift": None},
                        "energy_error": {"largest": 118.5, "time": 2.125, "system": 3,
                                         "systems_beyond": 1},
                        "energy_drift": {"change": 0.25, "steadiness": 0.5, "systems_beyond": 0},
                        "energy_jumps": 2, "largest_jump": 118.25,
                        "first_jump_time": 1.875, "first_jump_pair": None, "fastest_pair": None}
    with open(f"{path}/run.json", "w") as file:
        json.dump(run, file, indent=2)


def need_gnuplot():
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")


def report(*arguments, status=0):
    """Runs orrery report; status None: 0, or 69 of a system without gnuplot."""
    result = tap.run("report", *arguments)
    assert result.returncode in ((0, 69) if status is None else (status,)), (
        result.returncode, result.stdout, result.stderr)
    return result


# Stands for gnuplot: it draws empty pictures, at a twentieth of the cost.
EMPTY = """#!/bin/sh
[ "$2" = --version ] && exit
echo '<svg width="480" height="331" viewBox="0 0 480 331"></svg>' >"${2%.gp}.svg"
echo >"${2%.gp}.png"
"""
stand_in = tempfile.TemporaryDirectory(prefix="orrery-gnuplot-")


def quick_report(*arguments, status=0):
    """As report(), for tests of words and numbers: the pictures are empty, unless the test is asked
    to be thorough."""
    before = os.environ["PATH"]
    path = pathlib.Path(stand_in.name, "gnuplot")
    if not path.exists():
        path.write_text(EMPTY)
        path.chmod(0o755)
    if not tap.is_thorough():
        os.environ["PATH"] = f"{stand_in.name}:{before}"
    try:
        return report(*arguments, status=status)
    finally:
        os.environ["PATH"] = before


def chromium(*options, page="made.run/report.html", console=()):
    """What it prints, if its console says nothing but lines with these words."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        raise tap.Skip("chromium is not installed")
    result = subprocess.run(
        [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--enable-logging=stderr", "--virtual-time-budget=2000",
         "--run-all-compositor-stages-before-draw",
         f"--user-data-dir={os.path.abspath('browser')}", *options,
         "file://" + os.path.abspath(page)],
        capture_output=True, text=True, timeout=300 * tap.PATIENCE)
    if "namespace" in result.stderr and result.returncode:
        raise tap.Skip("chromium cannot run here")
    said = [line for line in result.stderr.split("\n") if "CONSOLE" in line]
    assert all(any(words in line for words in console) for line in said), said
    return result.stdout


def without_scripts(page):
    """A page without the scripts of figures and player, as they were compiled in, and its data."""
    for name in ("figures.js", "player.js"):
        script = pathlib.Path(tap.SOURCE, "src/report/templates", name).read_text()
        page = page.replace(f"<script>{script}</script>", "")
    return re.sub(r'<script type="text/plain">[\w+/=]*</script>', "", page)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def blocks(path):
    """The curves of a .dat file."""
    return [numpy.array([line.split() for line in block.split("\n") if line and line[0] != "#"],
                        dtype=float) for block in read(path).split("\n\n\n")]


def captions_of(page):
    """The words below each figure, without those of the links."""
    found = re.findall(r'<figure id="([\w-]+)">.*?</b>(.*?)<span class="files">', page, re.S)
    return dict(found)


def findings_of(page):
    """the table: by quantity the class of its outcome, the outcome with how far it is beyond its
    bound, and the words of its other cells"""
    table = page[page.index("<h2>Findings</h2>"):].split("</table>")[0]
    rows = re.findall(r'<tr><td>(.*?)(?:<div class="is">.*?</div>)?</td>'
                      r'<td class="(.*?)">(.*?)</td>' +
                      r'<td class="n(?: none)?" data-label=".*?">(.*?)</td>' * 3 + "</tr>", table)
    return {html.unescape(name): [html.unescape(cell.replace('<div class="excess">', ", ")
                                                .replace("</div>", "")) for cell in cells]
            for name, *cells in rows}


def keys_of(path):
    """The labels of the curves of a .dat file."""
    return re.findall(r"^# (.*)$", read(path), re.M)


def figures_of(page):
    return re.findall(r'<figure id="([\w-]+)">', page)


def change_run(path, **changes):
    """Changes run.json: keys are paths, with __ between their parts."""
    file = pathlib.Path(path, "run.json")
    run = json.loads(file.read_text())
    for key, value in changes.items():
        *parts, last = key.split("__")
        inner = run
        for part in parts:
            inner = inner.setdefault(part, {})
        inner[last] = value
    file.write_text(json.dumps(run))


def change_column(path, column, values):
    """Changes a column of conservation.csv."""
    file = pathlib.Path(path, "conservation.csv")
    rows = [row.split(",") for row in file.read_text().splitlines()]
    at = [name.split(" ")[0] for name in rows[0]].index(column)
    for row, value in zip(rows[1:], values):
        row[at] = f"{value:.17g}"
    file.write_text("".join(",".join(row) + "\n" for row in rows))
