"""The code of the manual: every block of docs/manual/analysis.md is run as it stands."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import tap

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLUMMER = pathlib.Path(tap.SOURCE, "examples/plummer-sphere/run.cfg")
MODULES = ("orrery", "pandas", "matplotlib", "numpy")


def blocks(language):
    text = pathlib.Path(tap.SOURCE, "docs/manual/analysis.md").read_text(encoding="utf-8")
    found = [code for name, code in BLOCK.findall(text) if name == language]
    assert found, language
    return found


def short_run():
    """The run that the manual speaks of, shortened."""
    result = tap.run("run", PLUMMER, "-q", "-P", "bodies.count=64", "-P", "time.end=1")
    assert result.returncode in (0, 1), result.stderr
    return json.loads(pathlib.Path("plummer-sphere.run/run.json").read_text())


def output(command, code):
    pathlib.Path("recipe").write_text(code)
    result = subprocess.run([*command, "recipe"], capture_output=True, text=True, timeout=120,
                            env={**os.environ, "MPLBACKEND": "Agg",
                                 "ORRERY": os.path.abspath(tap.ORRERY),
                                 "PYTHONPATH": os.path.join(tap.SOURCE, "python")})
    assert result.returncode == 0, f"{code}\n{result.stderr}"
    return result.stdout


def run_blocks(module):
    """Runs the python blocks that need this module first of all; their outputs."""
    tap.need("pandas" if module == "orrery" else module)
    codes = [code for code in blocks("python")
             if next(name for name in MODULES if name in code) == module]
    assert codes, module
    return [output([sys.executable], code) for code in codes]


def test_pandas():
    about = short_run()
    error, table = run_blocks("pandas")
    worst, ratio = map(float, error.split())
    last = about["diagnostics"]["conservation"]
    assert worst == last["energy_error"]
    # A Plummer sphere in equilibrium: 1, give or take the noise of 64 bodies.
    assert abs(ratio - 1) < 0.5
    assert "plummer-sphere" in table and " 64 " in table, table


def test_package():
    """the package of python/, on the run and on a config of its own"""
    about = short_run()
    config = PLUMMER.read_text().replace("count = 1024", "count = 64")
    pathlib.Path("my.cfg").write_text(config.replace("end = 10.0", "end = 0.5"))
    opened, run = run_blocks("orrery")
    held, verdict, end, worst, *unit, count, last, more = opened.split(maxsplit=9)
    assert (held, verdict) == (str(about["verdict"] == "held"), about["verdict"]), opened
    assert float(end) == float(last) == about["time"] == 1.0 and int(count) >= 2, opened
    assert float(worst) == about["diagnostics"]["conservation"]["energy_error"]
    assert unit == ["M", "L^2", "T^-2"] and more.startswith("["), opened
    rows = [line.split() for line in run.splitlines()]
    assert [row[0] for row in rows] == ["0.02", "0.01"], run
    for row in rows:
        step = json.loads(pathlib.Path(f"step-{row[0]}/run.json").read_text())
        assert step["config"]["time"]["step"] == float(row[0])
        assert float(row[2]) == step["diagnostics"]["conservation"]["energy_error"]


def test_numpy():
    short_run()
    drift, radius = map(float, run_blocks("numpy"))
    assert abs(drift) < 0.1
    # 0.77 in the model (Hénon units), give or take the noise of 64 bodies.
    assert 0.4 < radius < 1.3, radius


def test_matplotlib():
    short_run()
    run_blocks("matplotlib")
    for name in ("energy-error.png", "virial.png"):
        assert pathlib.Path(name).read_bytes().startswith(b"\x89PNG"), name


def test_r():
    if not shutil.which("Rscript"):
        raise tap.Skip("R is not installed")
    about = short_run()
    for code in blocks("r"):
        worst = float(output(["Rscript"], code).split()[0])
        # R prints seven digits.
        assert abs(worst / about["diagnostics"]["conservation"]["energy_error"] - 1) < 1e-6
    assert pathlib.Path("energy-error.pdf").exists()


tap.main()
