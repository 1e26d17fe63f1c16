"""orrery bench: what it measures and writes, and that its limits follow the compiled kernels."""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess

import tap

BUILD = os.environ.get("ORRERY_BUILD", ".")
QUICK = ("--seconds", "0.02")


def rows(folder):
    with open(pathlib.Path(folder, "bench.csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_combination_is_a_row():
    """every combination is a row; the files of an earlier benchmark are replaced, others stay"""
    before = {"bench.json": json.dumps({"program": {"name": "orrery"}, "format": "orrery bench",
                                        "files": ["bench.json", "bench.csv"]}),
              "bench.csv": "old", "notes.txt": "mine"}
    os.mkdir("out")
    for name, text in before.items():
        pathlib.Path("out", name).write_text(text)
    result = tap.run("bench", "--sizes", "16,300", "--kernels", "plain,symmetric", "--precisions",
                     "double,mixed,single", "--threads", "1,2", "-o", "out", *QUICK, timeout=120)
    assert result.returncode == 0, result.stderr
    measured = rows("out")
    assert len(measured) == 2 * 2 * 3 * 2, result.stdout
    about = json.loads(pathlib.Path("out/bench.json").read_text())
    assert about["rows"] and about["format"] == "orrery bench"
    assert set(os.listdir("out")) - {"notes.txt"} <= set(about["files"])
    assert pathlib.Path("out/notes.txt").read_text() == "mine"
    # Bounds of the precisions for softened forces: fp64 rounding; 24 digits, some hundred pairs.
    most = {"double": 1e-14, "mixed": 1e-6, "single": 1e-5}
    percents = [int(percent) for percent in re.findall(r" (\d+) % ", result.stdout)]
    for row, percent in zip(measured, percents, strict=True):
        share = float(row["interactions_per_second"]) / float(row["limit"])
        assert abs(percent - 100 * share) < 0.6, (row, percent)
        assert float(row["error"]) < most[row["precision"]], row
        assert float(row["median_seconds"]) >= float(row["seconds"]) > 0, row
        pairs = float(row["bodies"]) ** 2
        assert abs(float(row["interactions_per_second"]) * float(row["seconds"]) - pairs) < (
            1e-4 * pairs), row
        assert float(row["limit"]) > 0, row
    # Mixed positions keep their digits far from one another; single ones cannot.
    far = {row["precision"]: float(row["far_error"]) for row in measured}
    assert far["mixed"] < 1e-6 < 1e-4 < far["single"], far


def test_the_least_time_counts():
    """of several repeats the rate is that of the least time, and the median stands beside it"""
    tap.thorough()
    result = tap.run("bench", "--sizes", "16", "--kernels", "plain", "--precisions", "double",
                     "--threads", "1", "-o", "out", "--seconds", "1", timeout=120)
    assert result.returncode == 0, result.stderr
    (row,) = rows("out")
    least, median = float(row["seconds"]), float(row["median_seconds"])
    assert int(row["repeats"]) > 2 and least < median, row
    assert abs(float(row["interactions_per_second"]) * least - 16**2) < 1e-3 * 16**2, row


def test_figures_are_drawn():
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")
    result = tap.run("bench", "--sizes", "16,32,64", "--backends", "serial,openmp", "-o", "out",
                     "--seconds", "0.02", timeout=120)
    assert result.returncode == 0, result.stderr
    for name in ("bench-time", "bench-rate", "bench-gflops", "bench-speed-up"):
        assert pathlib.Path("out", name + ".svg").read_text().strip().endswith("</svg>"), name


def test_instruction_sets_that_are_not_here_are_named():
    tap.thorough()
    result = tap.run("bench", "--sizes", "64", "--isas", "avx512,avx2,baseline", *QUICK)
    assert result.returncode == 0, result.stderr
    for isa in ("avx512", "avx2", "baseline"):
        assert re.search(rf"\b{isa}\b", result.stdout), result.stdout


def test_the_steps_of_an_experiment():
    tap.thorough()
    config = pathlib.Path(tap.SOURCE, "examples/plummer-sphere/run.cfg")
    result = tap.run("bench", config, "-P", "bodies.count=200", "-o", "out", *QUICK)
    assert result.returncode == 0, result.stderr
    (row,) = rows("out")
    assert row["bodies"] == "200" and float(row["error"]) < 1e-14, row
    result = tap.run("bench", config, "-P", "bodies.count=200", "-P", "compute.precision=mixed",
                     "-P", "compute.threads=1", "-P", "compute.kernel=plain", "-o", "mixed", *QUICK)
    assert result.returncode == 0, result.stderr
    (row,) = rows("mixed")
    assert (row["precision"], row["threads"], row["kernel"]) == ("mixed", "1", "plain"), row
    assert 1e-9 < float(row["error"]) < 1e-6, row


def test_the_steps_are_of_one_length():
    """the legend names the integrator; one that chooses its own steps is refused"""
    config = pathlib.Path(tap.SOURCE, "examples/plummer-sphere/run.cfg")
    few = ("bench", config, "-P", "bodies.count=40", *QUICK)
    result = tap.run(*few, "-P", "time.integrator=yoshida4")
    assert result.returncode == 0 and "a step of yoshida4" in result.stdout, result
    for name in ("hermite4", "gauss-radau", "block-leapfrog"):
        result = tap.run(*few, "-P", f"time.integrator={name}")
        assert result.returncode == 78, result
        assert f'"{name}" chooses its own steps' in result.stderr, result


SHARES = ("near_share", "far_share", "tree_share", "control_share")
MULTIPOLES = ("accuracy", "error_99", "error_9999", "largest_error", *SHARES, "near_pairs")


def test_multipoles_stand_beside_direct_sums():
    """fast multipoles: their errors are less than was asked for, and in order; shares make up 1"""
    large = "12000" if tap.is_thorough() else "3000"
    result = tap.run("bench", "--sizes", f"300,{large}", "--accuracies", "1e-3,1e-5", "--threads",
                     "1,2", "-o", "out", *QUICK, timeout=120)
    assert result.returncode == 0, result.stderr
    measured = rows("out")
    assert [row["method"] for row in measured] == (["direct"] * 2 + ["fmm"] * 4) * 2, measured
    for row in measured:
        if row["method"] == "direct":
            assert not any(row[key] for key in MULTIPOLES), row
            continue
        assert (row["kernel"], row["limit"], row["gflops"]) == ("fmm", "", ""), row
        rate = float(row["interactions_per_second"]) * float(row["seconds"])
        assert abs(rate - float(row["bodies"]) ** 2) < 1e-4 * rate, row
        # A target of docs/theory.md: the error is that asked for or less.
        error = float(row["error"])
        assert 0 < error < float(row["accuracy"]), row
        # 10,000 bodies are compared of 12,000: one of them may exceed the errors of 99.99 %. Of
        # fewer bodies there are none of these.
        bounds = [float(row["error_99"]), float(row["error_9999"] or "inf"),
                  float(row["largest_error"])]
        assert (row["error_9999"] == "") == (row["bodies"] != "12000"), row
        assert error < bounds[0] and bounds[0] < bounds[2], row
        assert bounds[1] == float("inf") or bounds[0] < bounds[1] <= bounds[2], row
        shares = [float(row[key]) for key in SHARES]
        assert all(0 <= share < 1 for share in shares) and abs(sum(shares) - 1) < 1e-5, row
        # Measured: of 300 bodies all are near, of more of them a hundred or more, but not all.
        assert 100 < float(row["near_pairs"]) <= float(row["bodies"]), row
        assert (row["near_pairs"] == row["bodies"]) == (row["bodies"] == "300"), row
        shown = f" {bounds[2]:7.1e} " + "".join(f" {share:4.2f}" for share in shares)
        assert shown + f" {float(row['near_pairs']):6.0f}" in result.stdout, (shown, row)
    # What is summed does not depend on threads; a lesser error takes more pairs.
    same = ("bodies", "accuracy", "error", "error_99", "error_9999", "largest_error", "near_pairs")
    by_threads = [[[row[key] for key in same] for row in measured
                   if row["method"] == "fmm" and row["threads"] == threads]
                  for threads in ("1", "2")]
    assert by_threads[0] == by_threads[1] and len(by_threads[0]) == 4, by_threads
    pairs = {row["accuracy"]: float(row["near_pairs"]) for row in measured
             if row["bodies"] == large and row["method"] == "fmm"}
    assert pairs["0.001"] < pairs["1e-05"], pairs
    for word in ("accuracy", "99.99 %", "worst", "near", "far", "tree", "ctrl", "pairs"):
        assert len(re.findall(rf"(?:^| ){re.escape(word)}(?: |$)", result.stdout, re.M)) >= 2, word
    # Figures and rates are those of direct sums alone.
    if shutil.which("gnuplot"):
        best = min(float(row["seconds"]) for row in measured if row["method"] == "direct"
                   and row["bodies"] == large)
        curve = pathlib.Path("out/bench-time.dat").read_text()
        assert f"{best:.4g}"[:4] in curve and "single" not in curve, curve


def test_the_multipoles_of_an_experiment():
    """a config with method = "fmm" is measured with its accuracy, and without direct sums"""
    config = pathlib.Path(tap.SOURCE, "examples/plummer-sphere/run.cfg")
    asked = ("bench", config, "-P", "bodies.count=2000", "-P", "compute.method=fmm", "-P",
             "compute.accuracy=1e-3", "-o", "out", *QUICK)
    for arguments, expected in tap.first(((("--accuracies", "1e-2"), ["direct ", "fmm 0.01"]),
                                          ((), ["fmm 0.001"])), 1):
        result = tap.run(*asked, *arguments)
        assert result.returncode == 0, result.stderr
        measured = rows("out")
        assert [f"{row['method']} {row['accuracy']}" for row in measured] == expected, measured
        assert 1e-9 < float(measured[-1]["error"]) < float(measured[-1]["accuracy"]), measured
        assert ("G/s" in result.stdout) == ("direct " in expected), result.stdout
    result = tap.run("bench", "--sizes", "500", "--boundary", "periodic", "--accuracies", "1e-3",
                     "-o", "box", *QUICK)
    assert result.returncode == 0, result.stderr
    assert re.search("0.001 .* not measured: .*periodic", result.stdout), result.stdout
    assert [row["seconds"] != "" for row in rows("box")] == [True, False]


def test_no_combination_is_dropped():
    tap.thorough()
    result = tap.run("bench", "--sizes", "2", "--threads", ",".join(["1"] * 30), "--precisions",
                     "double,single,double,single,double,single", "--kernels", "plain,symmetric",
                     "-o", "out", "--seconds", "0.01", timeout=120)
    assert result.returncode == 0 and len(rows("out")) == 360, result


def test_too_many_combinations_are_refused():
    tap.thorough()
    result = tap.run("bench", "--sizes", "2", "--threads", ",".join(["1"] * 30), "--precisions",
                     ",".join(["double"] * 30), "--kernels", "plain,symmetric", *QUICK)
    assert result.returncode == 64 and "more than 1024 combinations" in result.stderr, result


def test_auto_takes_all_threads():
    """the backend that auto chooses is measured with every number of threads"""
    tap.thorough()
    result = tap.run("bench", "--sizes", "64", "--backends", "auto,serial", "--threads", "1,2",
                     "-o", "out", *QUICK)
    assert result.returncode == 0, result.stderr
    chosen = [(row["backend"], row["threads"]) for row in rows("out")]
    assert chosen[-1] == ("serial", "1") and len(chosen) in (2, 3), chosen
    if result.stdout.count("cuda") == 0:
        assert [threads for _, threads in chosen] == ["1", "2", "1"], chosen


def test_a_kernel_that_a_backend_has_not_is_no_row_of_numbers():
    tap.thorough()
    result = tap.run("bench", "--sizes", "64", "--kernels", "tiled,plain", "-o", "out", *QUICK)
    assert result.returncode == 0, result.stderr
    assert "not measured" in result.stdout, result.stdout
    assert [row["seconds"] != "" for row in rows("out")] == [False, True]


def test_bad_usage():
    for arguments in (("--sizes", "0"), ("--sizes", "many"), ("--sizes", ","), ("--threads", "-1"),
                      ("--kernels", "fastest"), ("--precisions", "half"), ("--isas", "sse9"),
                      ("--backends", "abacus"), ("--seconds", "0"), ("--softening", "-1"),
                      ("--boundary", "spherical"), ("--accuracies", "0"),
                      ("--accuracies", "0.1"), ("--accuracies", "1e-9"), ("--accuracies", "nan"),
                      ("--accuracies", "good"), ("a.cfg", "b.cfg"), ("a.cfg", "--sizes", "5")):
        result = tap.run("bench", *arguments)
        assert result.returncode == 64 and result.stderr, (arguments, result)
    result = tap.run("bench", "missing.cfg")
    assert result.returncode == 66, result


# --- the limits ---------------------------------------------------------------------------------

def inner_loops(path):
    """By function: the instructions of its smallest loop that estimates roots."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True,
                          text=True, check=True).stdout
    for name, body in re.findall(r"<(\w+)>:\n((?:.+\n)+)", text):
        lines = re.findall(r"^\s+([0-9a-f]+):\s+(.*)$", body, re.MULTILINE)
        index = {address: k for k, (address, _) in enumerate(lines)}
        loops = []
        for k, (_, instruction) in enumerate(lines):
            jump = re.match(r"j\w+\s+([0-9a-f]+)\b", instruction)
            if jump and index.get(jump[1], k) < k:
                loop = [word for _, word in lines[index[jump[1]]:k + 1]]
                if any("rsqrt" in word for word in loop):
                    loops.append(loop)
        if loops:
            yield name, min(loops, key=len)


def compiled_loops(name):
    """Those of one object of this build."""
    if not shutil.which("objdump"):
        raise tap.Skip("objdump is not installed")
    if tap.PATIENCE > 1:
        raise tap.Skip("sanitizers add instructions")
    makefile = pathlib.Path(BUILD, "Makefile").read_text()
    if not re.search(r"^CFLAGS = .*-O[23]", makefile, re.M):
        raise tap.Skip("built without -O2 loops are not what they are to be")
    path = pathlib.Path(BUILD, name)
    if not path.exists():
        raise tap.Skip("no AVX-512 kernels in this build")
    return dict(inner_loops(path))


ARITHMETIC = re.compile(r"vf?n?m?(mul|add|sub|rsqrt)\w*p[sd]\b")


def test_the_pairs_of_a_kernel_stay_in_registers():
    """a pair's inner loop is arithmetic, with few moves beside it, whatever the compiler"""
    loops = compiled_loops("src/force/direct/libavx512_a-kernel.o")
    for precision in ("double", "mixed", "single"):
        for kernel in ("tile_pair_fused_open", "tile_pair_summed_open"):
            loop = loops[f"{kernel}_{precision}"]
            arithmetic = sum(bool(ARITHMETIC.match(word)) for word in loop)
            moves = len(loop) - arithmetic
            # gcc 12 and clang 14 to 19 leave 0.5 to 0.8 moves to an operation. A loop that goes
            # over arrays has up to 3, and calls for copies.
            assert not any(word.startswith("call") for word in loop), (kernel, precision)
            assert moves < arithmetic, (kernel, precision, moves, arithmetic)


def test_the_limit_is_arithmetic_alone():
    """what the limit is measured with moves nothing from or to memory, whatever the compiler"""
    loops = compiled_loops("src/bench/libavx512_a-arithmetic-kernel.o")
    names = {"plain_single": 15, "plain_double": 18, "third_fused_mixed": 25,
             "third_summed_double": 25}
    for name, operations in names.items():
        loop = loops[name]
        pairs = sum("rsqrt" in word for word in loop)
        arithmetic = sum(bool(ARITHMETIC.match(word)) for word in loop)
        assert arithmetic == pairs * operations, (name, arithmetic, pairs)
        # gcc copies a register with every tenth of them, which costs a CPU nothing.
        assert len(loop) <= 1.15 * arithmetic + 4, (name, len(loop), arithmetic)
        assert not any("(%r" in word for word in loop), (name, loop)


def test_the_limit_counts_what_the_kernels_do():
    """the operations of the limit are those of the compiled kernels"""
    loops = compiled_loops("src/force/direct/libavx512_a-kernel.o")
    # Multiplications and multiply-adds for a vector of pairs (src/bench/arithmetic-kernel.c):
    # 3 + series + 3 fused and 2 + 1 + mass products; 3 + series + 6 fused and 2 + 1 + 2 mass;
    # 3 + series fused and 2 + 1 + 2 mass + 3. Hermite's: 3 + 2 + 1 + series + 9 fused, 7 products.
    for precision, series in (("double", 3), ("mixed", 1), ("single", 1)):
        for equal in (0, 1):
            suffix = ("_equal" if equal else "") + "_" + precision
            for kernel, expected in (("plain_open", 9 + series + 1 - equal),
                                     ("tile_pair_fused_open", 12 + series + 2 * (1 - equal)),
                                     ("tile_pair_summed_open", 9 + series + 2 * (1 - equal)),
                                     ("jerk_fused_open", 22 + series),
                                     ("jerk_summed_open", 22 + series)):
                if equal and kernel.startswith("jerk"):  # which knows no equal masses
                    continue
                loop = loops[kernel + suffix]
                pairs = sum("rsqrt" in word for word in loop)
                products = sum(bool(re.match(r"vf?n?m(ul|add|sub)\w*p[sd]", word))
                               for word in loop)
                # The compiler may keep a product of one of several pairs outside the loop.
                assert abs(products / pairs - expected) <= 0.26, (kernel + suffix, products, pairs)


tap.main()
