"""examples/notebook: its outputs, kept and made anew where nbconvert is."""

import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

import tap

FOLDER = pathlib.Path(tap.SOURCE, "examples/notebook")


def kept():
    """The notebook as it is in the tree."""
    return json.loads((FOLDER / "collapse.ipynb").read_text(encoding="utf-8"))["cells"]


def shown(cell):
    """What a cell has printed and returned, as text, and the kinds of its outputs."""
    text, kinds = "", set()
    for output in cell["outputs"]:
        data = output.get("data", {})
        for part in (output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")):
            text += "".join(part)
        kinds |= set(data)
    return text, kinds


def check_outputs(cells):
    """The cells found what theory says, one after the other and without an error."""
    cells = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"], outputs
    assert not [output for output in outputs if output.get("name") == "stderr"], outputs
    cells = {cell["id"]: shown(cell) for cell in cells}
    assert "<run collapse.run: held>" in cells["run"][0], cells["run"]
    assert "True 1500 steps of 0.002" in cells["read"][0], cells["read"]
    assert "virial_ratio" in cells["read"][0]
    assert "image/png" in cells["figures"][1] and "image/png" in cells["frames"][1]
    measured, theory = map(float, re.findall(r"(?:t =|theory) (\d\.\d+)", cells["figures"][0]))
    assert abs(theory - 1.1107207 * (0.5 + 1 / math.pi)) < 1e-4
    assert abs(measured / theory - 1) < 0.02  # 1000 bodies: one in thirty of noise in the density
    orders = re.findall(r"\b[12]\.\d{5,}", re.sub("<.*", "", cells["errors"][0], flags=re.DOTALL))
    assert len(orders) == 2 and all(abs(float(order) - 2) < 0.01 for order in orders), orders
    assert 'src="collapse.run/report.html#player"' in cells["player"][0], cells["player"]
    everything = "".join(text for text, _ in cells.values())
    assert not re.search(r"(?<![\w.:<])/[a-z]+/", everything), "the path of a machine"


def test_kept():
    """the notebook is kept as it is when all cells have run, without times or a machine's paths"""
    check_outputs(kept())
    for cell in kept():
        assert cell["metadata"] == {}, cell["metadata"]
        if cell["cell_type"] == "code":
            compile("".join(cell["source"]), "cell", "exec")


def test_notebook():
    """the notebook runs from its first cell to its last, and shows again what is kept of it"""
    tap.thorough()
    for module in ("nbconvert", "ipykernel", "pandas", "matplotlib"):
        tap.need(module)
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")
    shutil.copy(FOLDER / "collapse.ipynb", "collapse.ipynb")
    command = re.search(r"    jupyter (nbconvert .*?collapse.ipynb)",
                        (FOLDER / "README.md").read_text(), re.DOTALL)[1]
    environment = {**os.environ, "ORRERY": os.path.abspath(tap.ORRERY),
                   "PYTHONPATH": os.path.join(tap.SOURCE, "python")}
    result = subprocess.run([sys.executable, "-m", *command.replace("\\\n", "").split()],
                            capture_output=True, text=True, env=environment,
                            timeout=240 * tap.PATIENCE)
    assert result.returncode == 0, result.stderr
    made = json.loads(pathlib.Path("collapse.ipynb").read_text(encoding="utf-8"))["cells"]
    check_outputs(made)
    assert [cell["source"] for cell in made] == [cell["source"] for cell in kept()]
    assert [[sorted(output.get("data", {})) for output in cell.get("outputs", [])]
            for cell in made] == [[sorted(output.get("data", {}))
                                   for output in cell.get("outputs", [])] for cell in kept()]
    assert 'id="player"' in pathlib.Path("collapse.run/report.html").read_text()


if __name__ == "__main__":  # nbconvert imports a module of this name, if it finds one
    tap.main()
