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
MODULES = ("pandas", "matplotlib", "numpy")


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
                            env={**os.environ, "MPLBACKEND": "Agg"})
    assert result.returncode == 0, f"{code}\n{result.stderr}"
    return result.stdout


def run_blocks(module):
    """Runs the python blocks that need this module first of all; their outputs."""
    tap.need(module)
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
