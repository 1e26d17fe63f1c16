"""examples/notebook: the reader of tables, and the notebook, executed where nbclient is."""

import json
import math
import os
import pathlib
import re
import shutil
import sys

import tap

FOLDER = pathlib.Path(tap.SOURCE, "examples/notebook")


def reader():
    tap.need("pandas")
    sys.path.insert(0, str(FOLDER))
    sys.dont_write_bytecode = True
    import tables
    return tables


def test_tables():
    """names, units and numbers of a table, to the last bit; an empty cell is undefined"""
    tables = reader()
    pathlib.Path("one.csv").write_text("step [1],time [T],w [M L^2 T^-2],text\n"
                                       "0,0,,a\n1,0.1,0.30000000000000004,b\n")
    table = tables.read_table("one.csv")
    assert list(table.columns) == ["step", "time", "w", "text"]
    assert table.attrs["units"] == {"step": "1", "time": "T", "w": "M L^2 T^-2", "text": "1"}
    assert math.isnan(table.w[0]) and table.w[1] == 0.1 + 0.2  # pandas' own choice is a bit off
    assert tables.label(table, "w") == "w [M L^2 T^-2]" and tables.label(table, "step") == "step"


def test_tables_of_a_run():
    """every table that a run writes is read"""
    tables = reader()
    config = pathlib.Path(tap.SOURCE, "examples/plummer-sphere/run.cfg")
    result = tap.run("run", config, "-q", "-o", "a.run", "-P", "bodies.count=50",
                     "-P", "time.end=0.2")
    assert result.returncode in (0, 1), result.stderr
    for path in pathlib.Path("a.run").glob("*.csv"):
        table = tables.read_table(path)
        header = path.read_text().split("\n")[0].split(",")
        assert [f"{name} [{unit}]" for name, unit in table.attrs["units"].items()] == header
        assert table.time.iloc[-1] == 0.2, path


def test_no_outputs():
    """the notebook is kept as it is before any cell has run"""
    notebook = json.loads((FOLDER / "collapse.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    for cell in cells:
        assert cell["outputs"] == [] and cell["execution_count"] is None, cell
        compile("".join(cell["source"]), "cell", "exec")


def shown(cell):
    """What a cell has printed and returned, as text, and the kinds of its outputs."""
    text, kinds = "", set()
    for output in cell.outputs:
        data = output.get("data", {})
        text += output.get("text", "") + data.get("text/plain", "") + data.get("text/html", "")
        kinds |= set(data)
    return text, kinds


def test_notebook():
    """the notebook runs from its first cell to its last, and finds what theory says"""
    tap.thorough()
    for module in ("nbclient", "ipykernel", "pandas", "matplotlib"):
        tap.need(module)
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")
    import nbclient
    import nbformat
    for name in ("collapse.ipynb", "tables.py"):
        shutil.copy(FOLDER / name, name)
    os.environ["ORRERY"] = tap.ORRERY
    notebook = nbformat.read("collapse.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=int(120 * tap.PATIENCE)).execute()
    cells = {cell.id: shown(cell) for cell in notebook.cells if cell.cell_type == "code"}
    assert re.search(r"verdict +held", cells["run"][0]), cells["run"]
    assert "virial_ratio" in cells["read"][0]
    assert "image/png" in cells["figures"][1]
    measured, theory = map(float, re.findall(r"(?:t =|theory) (\d\.\d+)", cells["figures"][0]))
    assert abs(theory - 1.1107207 * (0.5 + 1 / math.pi)) < 1e-4
    assert abs(measured / theory - 1) < 0.02  # 1000 bodies: one in thirty of noise in the density
    orders = re.findall(r"\b[12]\.\d{5,}", re.sub("<.*", "", cells["errors"][0], flags=re.DOTALL))
    assert len(orders) == 2 and all(abs(float(order) - 2) < 0.01 for order in orders), orders
    assert 'src="collapse.run/report.html#player"' in cells["player"][0], cells["player"]
    assert 'id="player"' in pathlib.Path("collapse.run/report.html").read_text()


tap.main()
