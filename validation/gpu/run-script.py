"""validation/gpu/run itself, as far as it goes without a GPU: it says so where there is none, and
on the executor it fills its tables, which then say that they are no measurement."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import tap

BUILD = os.environ.get("ORRERY_BUILD", os.getcwd())
FOLDER = os.path.join(tap.SOURCE, "validation/gpu")
sys.path.insert(0, FOLDER)

import pack  # noqa: E402
import session  # noqa: E402
import table  # noqa: E402


def command(*arguments):
    return [sys.executable, os.path.join(FOLDER, "run"), "--build", BUILD, *map(str, arguments)]


def run(*arguments, **environment):
    return subprocess.run(command(*arguments), capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=120 * tap.PATIENCE)


def on_executor(*arguments, **environment):
    if not os.path.exists(os.path.join(BUILD, "validation/gpu/orrery")):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    return run("--executor", *arguments, **environment)


def read(folder="results"):
    page = pathlib.Path(folder, "gpu-executor.md").read_text()
    return json.loads(pathlib.Path(folder, "gpu-executor.json").read_text()), page


def test_no_device():
    """without a GPU: it says so, exits with 69 and writes nothing"""
    result = run("--output", "results", CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 69 and "GPU" in result.stderr, result
    result = on_executor("--output", "results", ORRERY_EXECUTOR_DEVICES="0")
    assert result.returncode == 69 and "GPU" in result.stderr, result
    assert not os.path.exists("results")


def test_on_the_executor():
    """on the executor: every part has its line, and nothing looks like a measurement"""
    sanitizer = pathlib.Path("bin/compute-sanitizer")  # drops its own options and runs the rest
    sanitizer.parent.mkdir()
    sanitizer.write_text("#!/bin/sh\nshift 4\n"
                    "echo '========= ERROR SUMMARY: 0 errors'\nexec \"$@\"\n")
    sanitizer.chmod(0o755)
    result = on_executor("--output", "results", "--only", "bench,sanitizer",
                         PATH=f"{sanitizer.parent.resolve()}:{os.environ['PATH']}")
    assert result.returncode == 0, result
    found, page = read()
    assert found["measured"] is False and found["device"]["device"] == "executor", found
    assert "Not a measurement" in page
    states = {name: part["state"] for name, part in found["parts"].items()}
    assert states == {"kernels": "not run", "experiments": "not run", "bench": "passed",
                      "backend": "not run", "runs": "not run", "sanitizer": "passed"}, states
    assert found["parts"]["kernels"]["reason"] == "it was not asked for"
    notes = [test["notes"] for test in found["parts"]["sanitizer"]["tests"]]
    assert notes and all(note == ["ERROR SUMMARY: 0 errors"] for note in notes), notes
    rows = found["bench"]["rows"]
    assert len([row for row in rows if row["part"] == "accuracy"]) == 6, rows
    for row in rows:
        if row["part"] == "accuracy":
            line = f"| {row['label']} | {row['precision']} | 64 | {row['error']:.1e} |"
            assert line in page, line


def test_the_executor_does_not_write_into_docs():
    """what the executor did is not put among the measurements"""
    result = on_executor("--only", "bench", "--output", os.path.join(tap.SOURCE, "docs/any"))
    assert result.returncode == 64 and "no measurement" in result.stderr, result
    assert not os.path.exists(os.path.join(tap.SOURCE, "docs/any"))


def test_no_time():
    """parts for which there is no time are named"""
    assert on_executor("--output", "results", "--seconds", "0").returncode == 0
    found, page = read()
    assert all(part == {"title": part["title"], "state": "not run",
                        "reason": "the session's time was over"}
               for part in found["parts"].values()), found["parts"]
    assert page.count("the session's time was over") == len(found["parts"])


def test_what_was_there_is_kept():
    """ended before its time, it keeps what it had and says what was cut off"""
    need = on_executor("--output", "first", "--seconds", "0")
    assert need.returncode == 0, need
    with subprocess.Popen(command("--executor", "--output", "results", "--only",
                                  "experiments,bench"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        for _ in range(int(60 * tap.PATIENCE / 0.01)):
            if os.path.exists("results/gpu-executor.md") or process.poll() is not None:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=60 * tap.PATIENCE)
    assert process.returncode == 1, output
    found, page = read()
    assert found["parts"]["experiments"]["state"] == "cut off", found["parts"]
    assert found["parts"]["experiments"]["reason"] == "the session was ended"
    assert found["parts"]["bench"]["state"] == "not run"
    assert "| cut off |" in page


def test_a_command_is_cut_off():
    """a command that takes too long is ended with all that it started"""
    here = session.Session("results", "any", 100, {})
    start = time.monotonic()
    status, output = here.run(["sh", "-c", "echo first; sleep 1000 & sleep 1000"], 2)
    assert status is None and output == "first\n", (status, output)
    assert time.monotonic() - start < 30 * tap.PATIENCE
    part = {}
    session.judge(part, status, output, 2)
    assert part["state"] == "cut off", part


def test_tests_are_read():
    """results, reasons and notes of tests that speak TAP"""
    tests = session.read_tap("1..4\n# 7 bodies\nok 1 - test_a\nnot ok 2 - b\n# why\n"
                             "ok 3 - c # SKIP no x\nok 4 # SKIP test_d\n")
    assert [(test["title"], test["result"], test["notes"]) for test in tests] == [
        ("test a", "passed", ["7 bodies"]), ("b", "failed", ["why"]),
        ("c", "skipped", ["no x"]), ("test d", "skipped", [])], tests


def row(part, label, count, rate, precision="single", systems=1):
    return {"part": part, "label": label, "precision": precision, "systems": systems,
            "count": count, "skipped": False, "rate": rate, "limit": 2 * rate, "seconds": 1.0,
            "block": 128, "tile": 512, "bodies": 4, "split": 1}


def test_tables():
    """ratios and shares of targets are computed from the rows"""
    bench = {"rows": [row("ladder", "blocked, tuned", 262144, 2e12),
                      row("ladder", "symmetric", 262144, 3e12),
                      row("sizes", "blocked", 1024, 5e11),
                      dict(row("sizes", "blocked", 16384, 1), skipped=True)],
             "cpu": [{"count": 1024, "rate": 1e10}, {"count": 2048, "rate": 2e10}]}
    assert table.beside_the_cpu(bench)[2:] == ["| 1024 | 10.0 | 500.0 | 50.0 |",
                                               "| 2048 | 20.0 | – | – |"]
    lines = "\n".join(table.targets(bench))
    assert "| 1900.0 | 2000.0 | 105 % |" in lines and "| not measured |  |" in lines, lines
    # Symmetric: 3 T/s where 1.25 times 2 T/s were wanted.
    assert "| 1.25 × blocked, tuned | 3000.0 | 120 % |" in lines, lines


def test_what_a_pack_carries():
    """a pack carries libraries, but not those of the system and the driver"""
    said = ["libgsl.so.27", "libgomp.so.1", "libm.so.6", "libc.so.6", "libcuda.so.1",
            "ld-linux-x86-64.so.2", "libcmocka.so.0", "librt.so.1", "libconfig.so.9"]
    carried = [name for name in said if not pack.SYSTEM.match(name)]
    assert carried == ["libgsl.so.27", "libgomp.so.1", "libcmocka.so.0", "libconfig.so.9"], carried
    for name in pack.SCRIPTS:
        assert os.path.exists(os.path.join(tap.SOURCE, name)), name


tap.main()
