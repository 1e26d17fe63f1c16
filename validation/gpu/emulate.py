"""The GPU that the CPU emulates (./configure --with-cuda=emulate): it builds, computes, says in
every place that its times mean nothing, and is never chosen by `auto`."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import tap

BUILD = os.environ.get("ORRERY_BUILD", os.getcwd())
PROGRAM = os.path.join(BUILD, "validation/gpu/orrery")
NAME = "a GPU that the CPU emulates: its times mean nothing"
CONFIG = """
bodies = { initial = "plummer"; count = 1100; seed = 7; };
physics = { softening = 0.1; };
time = { step = 0.01; end = 0.01; };
compute = { backend = "cuda"; precision = "single"; };
diagnostics = ( { type = "conservation"; every = 1; } );
"""
LIBRARIES = ("liborrery.a", "libbaseline.a", "libavx2.a", "libavx512.a", "libneon.a",
             "validation/gpu/libexecutor.a")


def orrery(*arguments, program=PROGRAM, **environment):
    """What the program says: its status, and all that it prints with single spaces."""
    if not os.path.exists(PROGRAM):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    pathlib.Path("run.cfg").write_text(CONFIG)
    own = {key: value for key, value in os.environ.items() if key != "ORRERY_EXECUTOR_GPU"}
    result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                            env={**own, **environment}, timeout=60 * tap.PATIENCE)
    said = re.sub(r"\s+", " ", (result.stdout + result.stderr).replace("\n#", " "))
    return result.returncode, said


def places(**environment):
    """{place: text} of all that names the device."""
    status, summary = orrery("run", "run.cfg", "--force", **environment)
    assert status == 0, summary
    found = {"summary": summary}
    found["check"] = orrery("check", "run.cfg", **environment)[1]
    found["info"] = orrery("info", **environment)[1]
    found["bench"] = orrery("bench", "--sizes", 64, "--backends", "cuda", "--seconds", 0.01,
                            **environment)[1]
    found["bench --gpu"] = orrery("bench", "--gpu", "--largest", 64, "--seconds", 0.01, "--forget",
                                  "-o", "bench", "--device", 0, **environment)[1]
    shutil.rmtree("bench")
    found["run.log"] = pathlib.Path("run.run/run.log").read_text()
    found["run.json"] = json.dumps(json.loads(pathlib.Path("run.run/run.json").read_text())
                                   ["compute"])
    return found


def test_it_says_so_everywhere():
    """summary, check, run.json, run.log, bench and info say that the GPU is emulated"""
    for place, text in places().items():
        assert NAME in text and "emulated" in text.replace(NAME, ""), (place, text)
        assert "sm_90" not in text, (place, text)
        assert place != "info" or "driver 13.0" in text, text
    for place, text in places(ORRERY_EXECUTOR_GPU="1").items():
        assert "emulate" not in text and "executor" in text, (place, text)


def test_auto_never_takes_it():
    """auto computes on the CPU and says why, with as many bodies as it would give to a GPU"""
    keys = ("run", "run.cfg", "--force", "-P", "compute.backend=auto")
    for environment, backend in (({}, "openmp"), ({"ORRERY_EXECUTOR_GPU": "1"}, "cuda")):
        status, said = orrery(*keys, **environment)
        assert status == 0 and f"computed on {backend} " in said, said
        compute = json.loads(pathlib.Path("run.run/run.json").read_text())["compute"]
        assert compute["backend"] == backend, compute
        assert ("is emulated" in compute["choice"]) == (backend == "openmp"), compute


def configured(folder):
    """An out-of-tree build for an emulated GPU with the libraries of this one; what configure
    found for this one is not looked for again."""
    log = pathlib.Path(BUILD, "config.log").read_text(errors="replace")
    found = re.findall(r"^(?!ac_cv_env_)\w+_cv_\w+=.*$", log, re.MULTILINE)
    os.mkdir(folder)
    pathlib.Path(folder, "cache").write_text("\n".join(found) + "\n")
    options = subprocess.run(["./config.status", "--config"], cwd=BUILD, capture_output=True,
                             text=True, check=True).stdout.strip()
    command = (f"'{tap.SOURCE}/configure' -q --cache-file=cache {options} "
               f"--srcdir='{os.path.abspath(tap.SOURCE)}' --with-cuda=emulate")
    result = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "emulated by the CPU" in result.stdout, result.stdout
    (pathlib.Path(folder) / "validation/gpu").mkdir(parents=True, exist_ok=True)
    old = []
    for name in LIBRARIES:
        if os.path.exists(os.path.join(BUILD, name)):
            shutil.copyfile(os.path.join(BUILD, name), os.path.join(folder, name))
            old += ["-o", name]
    return old


def make(folder, *arguments):
    own = {name: value for name, value in os.environ.items()
           if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR")}
    result = subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True,
                            env=own)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_it_builds():
    """--with-cuda=emulate: the program computes on an emulated GPU; nothing else is installed"""
    if not os.path.exists(os.path.join(BUILD, "validation/gpu/libexecutor.a")):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    if not os.access(os.path.join(tap.SOURCE, "configure"), os.X_OK):
        raise tap.Skip("there is no configure")
    if os.path.exists(os.path.join(tap.SOURCE, "config.status")):
        raise tap.Skip("only where the sources are not configured themselves, as in distcheck")
    old = configured("emulated")
    make("emulated", "-s", *old, "orrery")
    program = os.path.abspath("emulated/orrery")
    status, said = orrery("run", "run.cfg", "--force", program=program)
    assert status == 0 and NAME in said, said
    emulated = pathlib.Path("run.run/conservation.csv").read_bytes()
    assert orrery("run", "run.cfg", "--force")[0] == 0
    assert pathlib.Path("run.run/conservation.csv").read_bytes() == emulated
    installed = re.findall(r"^\s*(\w+_(?:PROGRAMS|LIBRARIES|SCRIPTS)) =(.*)$",
                           pathlib.Path("emulated/Makefile").read_text(), re.MULTILINE)
    assert ("bin_PROGRAMS", " orrery$(EXEEXT)") in installed, installed


tap.main()
