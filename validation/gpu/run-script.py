"""validation/gpu/run itself, as far as it goes without a GPU: it says so where there is none, and
on the executor it fills its tables, which then say that they are no measurement."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

import tap

BUILD = os.environ.get("ORRERY_BUILD", os.getcwd())
FOLDER = os.path.join(tap.SOURCE, "validation/gpu")
sys.path.insert(0, FOLDER)

import counters  # noqa: E402
import pack  # noqa: E402
import sanitizer  # noqa: E402
import session  # noqa: E402
import table  # noqa: E402


def command(*arguments):
    here = [] if "--build" in arguments else ["--build", BUILD]
    return [sys.executable, os.path.join(FOLDER, "run"), *here, *map(str, arguments)]


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
    tap.thorough()
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
    assert states == {"kernels": "not run", "hashes": "not run", "experiments": "not run",
                      "bench": "passed", "peers": "not run", "backend": "not run",
                      "runs": "not run", "counters": "not run", "sanitizer": "passed"}, states
    assert found["parts"]["kernels"]["reason"] == "it was not asked for"
    notes = [test["notes"] for test in found["parts"]["sanitizer"]["tests"]]
    assert notes and all(note == ["ERROR SUMMARY: 0 errors"] for note in notes), notes
    rows = found["bench"]["rows"]
    assert len([row for row in rows if row["part"] == "accuracy"]) == 6, rows
    for row in rows:
        if row["part"] == "accuracy":
            line = f"| {row['label']} | {row['precision']} | 64 | {row['error']:.1e} |"
            assert line in page, line


def test_hashes():
    """a hash of other bits, and one that is missing, fail the part and name its kernel"""
    folder = pathlib.Path("build/validation/gpu")
    folder.mkdir(parents=True)
    (folder / "orrery").symlink_to(os.path.join(BUILD, "validation/gpu/orrery"))
    lines = [f"force {kernel} single soft 1x{count} {count:016x}\n"
             for kernel in ("simt", "blocked") for count in (7, 77)]
    lines.append(f"steps rk4 double 1x2 {5:016x} {6:016x}\n")
    pathlib.Path("build", pack.HASHES).write_text("[ RUN ] all\n" + "".join(lines))
    for printed, failed in tap.first(
            (([line.replace("6\n", "9\n") for line in lines[:3] + lines[4:]],
              ["force blocked single", "steps rk4 double"]),
             (lines, [])), 1):
        (folder / "hashes").write_text("#!/bin/sh\ncat <<END\n" + "".join(printed) + "END\n")
        (folder / "hashes").chmod(0o755)
        result = on_executor("--build", "build", "--only", "hashes", "--output", "results")
        assert result.returncode == (1 if failed else 0), result
        part = read()[0]["parts"]["hashes"]
        assert part["state"] == ("failed" if failed else "passed"), part
        assert sorted(test["title"] for test in part["tests"]
                      if test["result"] == "failed") == failed, part
        assert len(part["tests"]) == 3 and part["reason"] == "5 hashes", part


# Stands for nvcc: what it "builds" are scripts that write what the real programs write. The kernel
# of one of them computes nothing, which its program does not notice, and another does not compile.
NVCC = """#!PYTHON
import os, sys
to = sys.argv[sys.argv.index("-o") + 1]
name = os.path.basename(to)
if "ymiki" in name and "64" in name:
    sys.exit("nbody_leapfrog2.cu(21): error: no boost")
with open(to, "w") as file:
    file.write("#!PYTHON\\nname = " + repr(name) + open("BODY").read())
os.chmod(to, 0o755)
"""
PEER = """
import array, math, sys
if name.startswith("forces"):
    bodies, to, softening = sys.argv[1:]
    b = array.array("d", open(bodies, "rb").read())
    a = array.array("d")
    for i in range(0, len(b), 4):
        f = [0.0] * 3
        for j in range(0, len(b) if "unroll" not in name else 0, 4):
            d = [b[j + k] - b[i + k] for k in range(3)]
            s = sum(x * x for x in d) + float(softening) ** 2
            f = [x + y / s ** 1.5 for x, y in zip(f, d)]
        a.extend(f)
    open(to, "wb").write(a.tobytes())
    print("2e-06 seconds" if "block" in name else "4e-06 seconds")
elif name == "cuda-samples-nbody":
    print("number of bodies =", sys.argv[2].split("=")[1])
    print("> Compute 9.0 CUDA device: [NVIDIA H200]")
    print("64 bodies, total time for 10 iterations: 0.061 ms")
    print("= 10.744 billion interactions per second")
    print("= 214.9 %s-precision GFLOP/s at 20 flops per interaction" % "single")
elif name.startswith("mini"):
    print(sys.argv[1] + ", 857.926")
else:
    open("log/collapse_run.csv", "w").write(
        "exec,N,time[s],step,time_per_step[s],interactions_per_sec,Flop/s,FP_L,FP_M\\n"
        "./ymiki,64,2.0e-01,8192,2.44e-05,2.6843545600000000e+09,5.9e+10,32,32\\n")
"""


def fake_peers():
    """A folder of sources of which only the names matter; returns a path with its own nvcc."""
    for path in ("samples/Samples/5/nbody/bodysystemcuda.cu", "mini/cuda/nbody-block.cu",
                 "mini/cuda/nbody-unroll.cu", "y/cpp/cuda/12_memcpy_shmem/nbody_leapfrog2.cu"):
        pathlib.Path("sources", path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path("sources", path).touch()
    pathlib.Path("bin").mkdir()
    body, nvcc = pathlib.Path("peer.py").resolve(), pathlib.Path("bin/nvcc")
    body.write_text(PEER)
    nvcc.write_text(NVCC.replace("PYTHON", sys.executable).replace("BODY", str(body)))
    nvcc.chmod(0o755)
    return f"{nvcc.parent.resolve()}:{os.environ['PATH']}"


def test_peers():
    """other programs: their rates, errors and reasons stand beside orrery's"""
    tap.thorough()
    path = fake_peers()
    pathlib.Path("build/validation/gpu").mkdir(parents=True)
    program = os.path.join(BUILD, "validation/gpu/orrery")
    if os.path.exists(program):
        os.symlink(program, "build/validation/gpu/orrery")
    result = on_executor("--build", "build", "--peers", "sources", "--only", "peers", "--output",
                         "results", PATH=path)
    assert result.returncode == 0, result
    found, page = read()
    part = found["parts"]["peers"]
    assert part["state"] == "passed", part
    told = {test["title"]: (test["result"], *test["notes"]) for test in part["tests"]}
    assert told["ymiki-repo nbody, double"] == (
        "skipped", "nbody_leapfrog2.cu(21): error: no boost"), told
    assert told["mini-nbody soa, single"] == (
        "skipped", "there is no cuda/nbody-soa.cu below the folder"), told
    # The program of this one says 858 G/s all the same.
    assert told["mini-nbody unroll, single"] == (
        "skipped", "its forces are wrong by 1.0e+00 of themselves"), told
    rows = {(row["title"], row["precision"]): row for row in found["peers"]}
    assert set(rows) == {("cuda-samples nbody", "single"), ("cuda-samples nbody", "double"),
                         ("mini-nbody block", "single"), ("ymiki-repo nbody", "single"),
                         *((f"orrery {kernel}", precision) for kernel in ("blocked", "symmetric")
                           for precision in ("single", "double"))}, rows
    said = {key[0]: row["said"] for key, row in rows.items() if key[1] == "single"}
    assert said["cuda-samples nbody"] == [10.744e9] and said["mini-nbody block"] == [857.926e9]
    assert said["ymiki-repo nbody"] == [2684354560.0], said
    assert rows["mini-nbody block", "single"]["kernel"] == [64 * 64 / 2e-6], rows
    assert all(row["error"] < 1e-6 and row["said"] and min(row["said"]) > 0
               for row in rows.values()), rows
    assert "| mini-nbody block | single | 64 | 857.9 | 2.0 |" in page, page


def test_bench_of_a_gpu_alone():
    """orrery bench of a GPU alone does not measure the CPU's operations"""
    program = os.path.join(BUILD, "validation/gpu/orrery")
    if not os.path.exists(program):
        raise tap.Skip("the executor was not built")
    result = subprocess.run([program, "bench", "--backends", "cuda", "--sizes", "64", "--kernels",
                             "tiled", "--precisions", "single", "--seconds", "0.01", "-o", "bench"],
                            capture_output=True, text=True, timeout=60 * tap.PATIENCE)
    found = json.loads(pathlib.Path("bench/bench.json").read_text())
    assert result.returncode == 0 and "all cores" not in result.stdout, result
    assert found["rates"] == [] and len(found["rows"]) == 1, found


def test_a_page_of_peers():
    """of several kernels of one program the fastest at a size stands in the table"""
    rows = [{"title": title, "precision": "single", "count": count, "error": error,
             "said": said, "kernel": kernel} for title, count, error, said, kernel in (
                 ("mini-nbody soa", 1024, 1e-6, [1e9], [2e9]),
                 ("mini-nbody block", 1024, 2e-6, [1e9, 9e9, 2e9], [3e9]),
                 ("mini-nbody soa", 2048, None, [9e9], [9e9]),
                 ("mini-nbody block", 2048, None, [1e9], [2e9]),
                 ("orrery blocked", 1024, 1e-7, [8e9], []),
                 ("orrery symmetric", 1024, 1e-7, [12e9], []))]
    assert table.beside_others(rows)[2:] == [
        "| mini-nbody block | single | 1024 | 2.0 | 3.0 | 2.0e-06 | 4.00 |",
        "| orrery blocked | single | 1024 | 8.0 | – | 1.0e-07 |  |",
        "| orrery symmetric | single | 1024 | 12.0 | – | 1.0e-07 |  |",
        "| mini-nbody soa | single | 2048 | 9.0 | 9.0 | – |  |"], table.beside_others(rows)


def test_the_executor_does_not_write_into_docs():
    """what the executor did is not put among the measurements"""
    tap.thorough()
    result = on_executor("--only", "bench", "--output", os.path.join(tap.SOURCE, "docs/any"))
    assert result.returncode == 64 and "no measurement" in result.stderr, result
    assert not os.path.exists(os.path.join(tap.SOURCE, "docs/any"))


def test_no_time():
    """parts for which there is no time are named"""
    tap.thorough()
    assert on_executor("--output", "results", "--seconds", "0").returncode == 0
    found, page = read()
    assert all(part == {"title": part["title"], "state": "not run",
                        "reason": "the session's time was over"}
               for part in found["parts"].values()), found["parts"]
    assert page.count("the session's time was over") == len(found["parts"])


def test_what_was_there_is_kept():
    """ended before its time, it keeps what it had and says what was cut off"""
    tap.thorough()
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


def test_what_fails_leaves_the_others_their_turn():
    """a device that fails after its first rows is tried all the same: every part has its turn"""
    tap.thorough()
    # The operations of the device take 6 to 18 kernels, by the speed of the machine; what is
    # measured after them takes hundreds.
    result = on_executor("--output", "results", "--only", "bench,sanitizer",
                         ORRERY_EXECUTOR_FAIL_KERNEL="20")
    assert result.returncode == 1, result
    found, page = read()
    assert found["parts"]["bench"]["state"] == "failed", found["parts"]
    assert "unspecified launch failure" in found["parts"]["bench"]["output"], found["parts"]
    assert found["parts"]["sanitizer"].get("reason") != "it was not its turn", found["parts"]
    measured = [row["part"] for row in found["bench"]["rows"] if not row["skipped"]]
    assert measured[:3] == 3 * ["operations of the device"], measured
    assert "ladder" not in measured and "steps of velocity Verlet" not in measured, measured
    assert "| bench | " in page and "| failed |" in page, page


def throw(error):
    raise error


def test_a_part_that_stumbles():
    """an error of a part's own script is told with it, and ends that part alone"""
    result = {"parts": {name: {"title": name, "state": "not run", "reason": ""} for name in "abc"},
              "device": {"device": "any"}, "measured": False}
    here = session.Session("results", "any", 100, result)
    here.save = lambda: None
    here.part("a", "first", 1, lambda part, seconds: {}["missing"])
    here.part("b", "second", 1, lambda part, seconds: part.update(state="passed"))
    assert [result["parts"][name]["state"] for name in "ab"] == ["failed", "passed"], result
    assert result["parts"]["a"]["reason"] == "KeyError: 'missing'", result
    assert 'seconds: {}["missing"]' in result["parts"]["a"]["output"], result
    ended = False
    try:
        here.part("c", "third", 1, lambda part, seconds: throw(session.CutOff("SIGTERM")))
    except session.CutOff:
        ended = True
    assert ended and result["parts"]["c"]["reason"] == "the session was ended", result


def test_results_without_a_page():
    """results that no page can be made of are kept, and the page says why"""
    session.Session("results", "any", 100, {"device": {}}).save()
    assert json.loads(pathlib.Path("results/any.json").read_text()) == {"device": {}}
    page = pathlib.Path("results/any.md").read_text()
    assert page.startswith("No page could be made of any.json:") and "KeyError" in page, page


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


class Sanitizer:
    """Stands for a session and a clock: what a run of the sanitizer needs, and what it says."""

    def __init__(self, **runs):
        self.runs, self.now, self.scratch = runs, 0, types.SimpleNamespace(name=".")

    def monotonic(self):
        return self.now

    def run(self, command, seconds, _):
        name = command[2] + "_" + next(word for word in map(str, command) if "kernel=" in word)[15:]
        need, status, output = self.runs.get(name, (3, 0, "========= ERROR SUMMARY: 0 errors\n"))
        self.now += min(need, seconds)
        return (status, output) if need <= seconds else (None, output)

    def part(self, seconds):
        part, there = {}, (sanitizer.time, sanitizer.find_sanitizer)
        tools = types.SimpleNamespace(executor=False, orrery="orrery", environment={})
        sanitizer.time, sanitizer.find_sanitizer = self, lambda: "compute-sanitizer"
        try:
            sanitizer.run(self, tools, part, seconds)
        finally:
            sanitizer.time, sanitizer.find_sanitizer = there
        return part, [test["result"] for test in part["tests"]]


def test_the_sanitizer_fits_its_time():
    """runs of the sanitizer that are cut off fail nothing; one that hangs leaves time to others"""
    part, results = Sanitizer().part(120)
    assert part["state"] == "passed" and results == ["passed"] * 8 and "reason" not in part, part
    hanging = Sanitizer(racecheck_symmetric=(1e9, 0, ""))
    part, results = hanging.part(120)
    assert part["state"] == "passed" and hanging.now < 120, (part, hanging.now)
    assert results == ["passed", "skipped"] + ["passed"] * 6, results
    assert part["tests"][1]["notes"] == ["cut off after 58 s"], part["tests"][1]
    assert part["reason"] == "1 of 8 were cut off or not begun: there was no time", part
    slow = Sanitizer(**{f"{tool}_{kernel}": (30, 0, "")
                        for tool, kernel, *_ in sanitizer.SANITIZED})
    part, results = slow.part(120)
    assert part["state"] == "passed" and slow.now <= 120, (part, slow.now)
    assert results[:2] == ["passed"] * 2 and "failed" not in results, results
    # What had been found before the end counts, and so does what ended with an error.
    said = "========= Error: Race reported between Write access and Read access\n"
    part, results = Sanitizer(racecheck_symmetric=(1e9, 0, said)).part(120)
    assert part["state"] == "failed" and results[1] == "failed" and said in part["output"], part
    part, results = Sanitizer(memcheck_simt=(3, 9, "========= ERROR SUMMARY: 1 error\n")).part(120)
    assert part["state"] == "failed" and results[-1] == "failed", part
    part, results = Sanitizer().part(0.5)
    assert part["state"] == "cut off" and results == ["skipped"] * 8, part
    assert part["tests"][0]["notes"] == ["not begun"], part


# Stands for Nsight Compute: it writes what its manual shows. NCU_DOES says which of its ways it
# takes; "runs" also runs the program.
NCU = """#!PYTHON
import os, subprocess, sys, time
words = sys.argv[1:]
option = {name: words[words.index(name) + 1] for name in ("--log-file", "--metrics",
          "--kernel-name", "--kernel-name-base", "--page", "--print-units", "--launch-count")}
assert "--csv" in words and option["--page"] == "raw" and option["--print-units"] == "base"
assert option["--kernel-name-base"] == "demangled" and option["--launch-count"] == "3"
does, function = os.environ["NCU_DOES"], option["--kernel-name"].removeprefix("regex:")
metrics = option["--metrics"].split(",")
log = open(option["--log-file"], "w")
print("==PROF== Connected to process 4711 (/somewhere/orrery)", file=log)
if does == "runs":
    subprocess.run(words[words.index("3") + 1:], check=True)
if does == "hangs" and function.startswith("add_tile_pairs"):
    time.sleep(1000)
if does == "forbidden":
    print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
          "Performance Counters on the target device 0. For instructions on enabling permissions "
          "and to get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM", file=log)
    sys.exit(1)
if does == "lacks" and "dram__bytes.sum" in metrics:
    print("==ERROR== Failed to find metric dram__bytes.sum", file=log)
    sys.exit(9)
if does == "nothing":
    print("==WARNING== No kernels were profiled.", file=log)
    sys.exit()
if does == "garbage":
    print('\\x01"ID"\\n"ID","Kernel Name"\\n"",""\\n"0","f","","', file=log)
    sys.exit()
values = {"gpu__time_duration.sum": ("nsecond", "2,000,000"), "smsp__inst_executed.sum":
          ("inst", "36,281"), "smsp__inst_executed_pipe_fp64.sum": ("inst", "45,000"),
          "sm__cycles_elapsed.avg.per_second": ("hz", "1,980,000,000.5"),
          "launch__registers_per_thread": ("register/thread", "122"),
          "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": ("", "1,800"),
          "dram__bytes.sum": ("Mbyte", "1.5"),
          "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active": ("%", "n/a")}
if does == "units":
    values["gpu__time_duration.sum"] = ("fortnight", "1")
if does == "other":
    function = "reduce_sides<float"
def put(*cells):
    print(",".join('"' + cell + '"' for cell in cells), file=log)
put("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
    "Block Size", "Grid Size", "Device", "CC", *metrics)
put(*[""] * 11, *[values.get(metric, ("%", ""))[0] for metric in metrics])
for k, seconds in enumerate(("9,000", "2,000,000", "1,500,000")):
    if does != "units":
        values["gpu__time_duration.sum"] = ("nsecond", seconds)
    put(str(k), "4711", "orrery", "127.0.0.1", "void " + function + "<x>, 4, 2>(gpu_shape, y)",
        "1", "7", "(128, 1, 1)", "(9, 1, 1)", "0", "9.0",
        *[values.get(metric, ("%", "87.5"))[1] for metric in metrics])
"""


def profile(does, *arguments):
    path = pathlib.Path("ncu").resolve()
    path.write_text(NCU.replace("PYTHON", sys.executable))
    path.chmod(0o755)
    result = on_executor("--output", "results", "--only", "counters", "--ncu", path, *arguments,
                         NCU_DOES=does)
    found, page = read()
    return result, found["parts"]["counters"], found["counters"], page


def test_counters():
    """counters of each kernel, of the longest launch, beside the instructions in the code"""
    result, part, rows, page = profile("runs")
    assert result.returncode == 0 and part["state"] == "passed" and "reason" not in part, part
    assert len(rows) == len(counters.COUNTED) == len(part["tests"]), rows
    said = counters.instructions()
    for row, (kernel, precision, function, name) in zip(rows, counters.COUNTED):
        assert function in row["function"] and row["count"] == 300, row
        assert row["seconds"] == 2e-3 and row["rate"] == 300**2 / 2e-3, row
        assert row["registers"] == 122 and row["dram_bytes"] == 1.5e6 and row["fp64"] is None, row
        # 45000 instructions of the fp64 unit of a warp of 32 in 300^2 pairs are 16 for a pair.
        full = "double" in (row["precision"], precision)
        assert row["pair_instructions"] == (16 if full else 32 * 36281 / 300**2), row
        assert row["expected"] == said[name] > 0, row
    assert rows[4]["kernel"] == "energies" and rows[4]["precision"] == "double", rows[4]
    assert "| blocked | single | 300 | 2 | 0.0 | 12.9 | 13.4 | 88 % | 88 % | 88 % | – | 88 % " \
        "| 122 | 20.0 | 1.5 | 1980 |" in page, page


def test_counters_that_are_forbidden():
    """without permission for counters the part is not run, says why, and fails nothing"""
    result, part, rows, _ = profile("forbidden")
    assert result.returncode == 0 and part["state"] == "not run" and not rows, part
    assert "ERR_NVGPUCTRPERM" in part["reason"] and "\n" not in part["reason"], part
    assert part["tests"] == [], part
    result = on_executor("--output", "results", "--only", "counters", "--ncu", "/no/ncu")
    part = read()[0]["parts"]["counters"]
    assert result.returncode == 0 and part["state"] == "not run", part
    assert part["reason"] == "there is no /no/ncu", part


def test_counters_that_are_unreadable():
    """what is no table of ncu fails the part, with the reason"""
    cases = (("units", "in fortnight"), ("garbage", "rows of different lengths"),
             ("other", "a launch of void"), ("nothing", "No kernels were profiled."))
    for does, reason in tap.first(cases, 1):
        result, part, rows, _ = profile(does)
        assert result.returncode == 1 and part["state"] == "failed" and not rows, (does, part)
        notes = part["tests"][0]["notes"][0]
        assert notes.startswith("ncu has printed ") and reason in notes, (does, notes)
        assert "Connected to process 4711" in part["output"], part


def test_counters_that_ncu_lacks():
    """a metric that ncu does not know leaves an empty cell, and the others are there"""
    result, part, rows, page = profile("lacks")
    assert result.returncode == 0 and part["state"] == "passed", part
    assert part["reason"] == "ncu has no dram__bytes.sum", part
    assert len(rows) == len(counters.COUNTED) and "dram_bytes" not in rows[0], rows
    assert "| 122 | 20.0 | – | 1980 |" in page, page


def test_counters_fit_their_time():
    """a run of ncu that hangs is cut off and leaves time to the others"""
    least, counters.LEAST = counters.LEAST, 1
    pathlib.Path("ncu").write_text(NCU.replace("PYTHON", sys.executable))
    os.chmod("ncu", 0o755)
    here = session.Session("results", "any", 1000, {"device": {}})
    tools = types.SimpleNamespace(executor=True, orrery="orrery", ncu=os.path.abspath("ncu"),
                                  environment={"NCU_DOES": "hangs"})
    part = {}
    try:
        counters.run(here, tools, part, 24 * tap.PATIENCE)
    finally:
        counters.LEAST = least
    results = [test["result"] for test in part["tests"]]
    assert results == ["passed"] + 3 * ["skipped"] + 5 * ["passed"], (results, part)
    assert part["state"] == "passed" and part["tests"][1]["notes"][0].startswith("cut off"), part
    assert part["reason"] == "3 of 9 were cut off or not begun: there was no time", part
    counters.run(here, tools, part, 0.5)
    assert part["state"] == "cut off" and part["tests"][8]["notes"] == ["not begun"], part


def test_clock_and_power():
    """nvidia-smi's clock, power and temperature during a part stand with it"""
    there = os.environ["PATH"]
    path = pathlib.Path("bin/nvidia-smi")
    path.parent.mkdir()
    path.write_text("#!/bin/sh\nn=1000\nwhile :; do n=$((n + 1)); echo \"$n, [N/A], 61\"; "
                    "sleep 0.1; done\n")
    path.chmod(0o755)
    os.environ["PATH"] = f"{path.parent.resolve()}:{there}"
    clocks = counters.Clocks(".")
    os.environ["PATH"] = there

    def wait(more):
        count = len(clocks.samples()) + more
        while len(clocks.samples()) < count:
            time.sleep(0.05)
    wait(3)
    part = {}
    clocks.around(part, lambda: wait(3))
    clocks.stop()
    least, middle, most = part["clocks"]["MHz"]
    assert 1003 < least < middle < most and part["clocks"]["degrees C"] == [61] * 3, part
    assert "W" not in part["clocks"], part
    result = {"parts": {"bench": part, "runs": {}}}
    assert table.clocks(result)[2:] == [
        f"| bench | {least:.0f} / {middle:.0f} / {most:.0f} | – | 61 / 61 / 61 |"]


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
    # Forces that are no numbers have no error: JSON has null there.
    wrong = dict(row("accuracy", "symmetric", 4096, 0), error=None)
    assert table.accuracy({"rows": [wrong]})[2:] == ["| symmetric | single | 4096 | not finite |"]


def test_what_a_pack_carries():
    """a pack carries libraries, but not those of the system and the driver"""
    said = ["libgsl.so.27", "libgomp.so.1", "libm.so.6", "libc.so.6", "libcuda.so.1",
            "ld-linux-x86-64.so.2", "libcmocka.so.0", "librt.so.1", "libconfig.so.9"]
    carried = [name for name in said if not pack.SYSTEM.match(name)]
    assert carried == ["libgsl.so.27", "libgomp.so.1", "libcmocka.so.0", "libconfig.so.9"], carried
    for name in pack.SCRIPTS:
        assert os.path.exists(os.path.join(tap.SOURCE, name)), name


tap.main()
