"""A pack runs where there is nothing but the C library and python3: its script, its programs and
the libraries that they need, in a root without anything else."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

import tap

BUILD = os.environ.get("ORRERY_BUILD", os.getcwd())
sys.path.insert(0, os.path.join(tap.SOURCE, "validation/gpu"))

import pack  # noqa: E402

PROGRAMS = [f"validation/gpu/{name}" for name in ("orrery", "backend", "kernels")]
PYTHON = os.path.realpath(sys.executable)
# What a test of the standard library, a window or a package needs.
NOT_PYTHON = ("test", "tests", "idlelib", "tkinter", "lib2to3", "ensurepip", "turtledemo",
              "pydoc_data", "site-packages", "dist-packages", "__pycache__", "config-*")
# Loads a program and says its libraries, but does not start it.
LOAD = """
import os, sys
os.execve(sys.argv[1], sys.argv[1:], {**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"})
"""


def copy_python(root):
    """The interpreter, its standard library, and the libraries that these need, which has the C
    library's; all where they were."""
    library = pathlib.Path(sysconfig.get_path("stdlib"))
    shutil.copytree(library, f"{root}{library}", ignore=shutil.ignore_patterns(*NOT_PYTHON))
    objects = [PYTHON, *library.glob("lib-dynload/*.so")]
    said = subprocess.run(["ldd", *objects], capture_output=True, text=True, check=True).stdout
    for path in {PYTHON, *re.findall(r"(?:=> |^\s*)(/\S+) \(0x", said, re.MULTILINE)}:
        to = pathlib.Path(f"{root}{path}")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, to)


def make_root():
    """The folder "root", which has the pack in /pack; skips where it may not be entered."""
    if not all(os.path.exists(os.path.join(BUILD, name)) for name in PROGRAMS):
        raise tap.Skip("the executor's programs were not built")
    unshare = shutil.which("unshare")
    chroot = shutil.which("chroot", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not unshare or not chroot:
        raise tap.Skip("there is no unshare or no chroot")
    root = pathlib.Path("root").resolve()
    for name in ("dev", "proc", "tmp"):
        (root / name).mkdir(parents=True)
    copy_python(root)
    pack.fill(pathlib.Path(tap.SOURCE), pathlib.Path(BUILD), root / "pack", PROGRAMS)
    (root / "dev/null").touch()

    def inside(*command, **environment):
        # Programs of a pack find their libraries by $ORIGIN, those of the executor are told.
        enter = [unshare, "-r", "-m", "-p", "-f", f"--mount-proc={root}/proc", chroot, root]
        return subprocess.run([*enter, *command], capture_output=True, text=True,
                              timeout=120 * tap.PATIENCE,
                              env={"LD_LIBRARY_PATH": "/pack/lib", **environment})
    if inside(PYTHON, "-c", "pass").returncode:
        raise tap.Skip("a root of one's own may not be entered here")
    return inside


def test_a_pack_in_an_empty_root():
    """in an empty root with python3 a pack's script, programs and libraries start"""
    tap.thorough()
    inside = make_root()
    assert inside("/bin/sh", "-c", "exit 0").returncode, "the root is not empty"
    result = inside(PYTHON, "/pack/validation/gpu/run", CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 66 and "no program /pack/orrery" in result.stderr, result
    result = inside(PYTHON, "/pack/validation/gpu/run", "--executor", "--only", "sanitizer")
    assert result.returncode == 0 and "written: /pack/results/gpu-executor.json" in result.stdout, \
        result
    page = pathlib.Path("root/pack/results/gpu-executor.md").read_text()
    assert "| sanitizer | " in page and "there is no compute-sanitizer" in page, page
    for name in PROGRAMS:
        result = inside(PYTHON, "-c", LOAD, f"/pack/{name}")
        assert result.returncode == 0 and "libgsl" in result.stdout, result
        assert "not found" not in result.stdout, result.stdout

    # Without examples, the test of whole runs would have nothing to compare.
    assert len(list(pathlib.Path("root/pack/examples").glob("*/run.cfg"))) >= 10
    # What numpy is needed for is skipped without it.
    code = "import sys, tap, runpy; tap.main = lambda *names: None; runpy.run_path(sys.argv[1])"
    for name in pack.SCRIPTS:
        if name.endswith(".py") and name not in ("validation/frames.py", "validation/rows.py"):
            result = inside(PYTHON, "-c", code, f"/pack/{name}",
                            PYTHONPATH="/pack/validation:/pack/validation/gpu")
            assert result.returncode == 0, (name, result)


tap.main()
