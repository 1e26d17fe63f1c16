"""The memory of a run is known before anything is allocated; what there is not, is refused.

Every run here has an address space of 1 GB, so that nothing large can happen when a check fails.
"""

import csv
import os
import pathlib
import re
import resource
import subprocess

import tap

LIMIT = 10**9
CONFIG = """name = "large";
bodies = {
    initial = "plummer";
    count = %d;
};
physics = { softening = 0.05; };
time = { step = 1e-6; end = 1e-6; };
ensemble = {
    systems = %d;
};
"""
BYTES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


def write(count, systems=1, more="", name="large.cfg"):
    pathlib.Path(name).write_text(CONFIG % (count, systems) + more)
    return name


def limited(*arguments, limit=LIMIT, **environment):
    if tap.PATIENCE > 1:
        raise tap.Skip("sanitizers reserve more than any limit")

    def lower():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return tap.run(*arguments, preexec_fn=lower,
                   env={**os.environ, "OMP_NUM_THREADS": "2", **environment})


def refused(result, place, key, unit="GB|TB"):
    """status 71, one line with the place, the key, what is needed and what there is"""
    assert result.returncode == 71, (result.returncode, result.stderr)
    line, = result.stderr.splitlines()
    assert line.startswith(f"{place}: {key}"), line
    what = rf"needs? [\d.e+]+ ({unit}) of memory; .*ulimit -v.* has [\d.]+ .B left"
    assert re.search(what, line), line


def test_too_many_bodies_are_refused_before_they_are_drawn():
    for command in (["run"], ["check"], ["run", "--dry-run"]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        refused(limited(*command, write(2000000000)), "large.cfg:4", "bodies.count = 2000000000")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        # Drawing bodies until a gigabyte is full takes seconds; nothing was drawn.
        assert spent < 0.5 * tap.PATIENCE, spent
        assert os.listdir(".") == ["large.cfg"]


def test_the_key_that_asks_for_it():
    refused(limited("check", write(100, 100000000)), "large.cfg:9", "ensemble.systems = 100000000")
    refused(limited("check", write(100000000, 3)), "large.cfg:4", "bodies.count = 100000000")
    refused(limited("check", write(100), "-P", "bodies.count=100000000"),
            "-P bodies.count=100000000", "1 x 100000000 bodies")


def test_bodies_of_a_file():
    rows = "0.001 1 2 3 4 5 6\n" * 20000
    pathlib.Path("rows.txt").write_text(rows)
    config = pathlib.Path("file.cfg")
    config.write_text('bodies = { initial = "file";\n file = "rows.txt"; };\n'
                      "physics = { softening = 0.1; };\ntime = { step = 0.1; end = 1.0; };\n")
    assert limited("check", config).returncode == 0
    refused(limited("check", config, "-P", "ensemble.systems=1000"),
            "-P ensemble.systems=1000", "1000 x 20000 bodies")


def test_what_is_measured_and_written_counts():
    """velocities about a centre and pair counts add to the need"""
    def need(more):
        text = tap.run("check", write(6000, 1, more)).stdout
        number, prefix = re.search(r"memory +([\d.]+) (.?)B at most", text).groups()
        return float(number) * BYTES[prefix]
    bare = need("")
    dispersion = 'diagnostics = ( { type = "velocity-dispersion"; } );\n'
    pairs = 'diagnostics = ( { type = "radial-distribution"; r_max = 1.0; bins = 100000; } );\n'
    assert bare > 6000 * 96  # half of the mass is looked for at the start, in twelve numbers
    assert need(dispersion) > bare + 6000 * 40  # six more
    assert need(pairs) > bare + 100000 * 8 * 3  # kept, and twice in a checkpoint


def test_members_of_a_study():
    """the largest member of a sweep counts, before any of them runs"""
    sweep = 'sweep = ( { key = "bodies.count"; values = [100, 100000000]; } );\n'
    for command in (["run"], ["check"]):
        refused(limited(*command, write(100, 1, sweep)), "large.cfg:11",
                "bodies.count = 100000000: 1 x 100000000 bodies")
        assert os.listdir(".") == ["large.cfg"]
    refused(limited("run", write(100000000), "--convergence"), "large.cfg:4", "bodies.count")
    assert os.listdir(".") == ["large.cfg"]


def test_bench_is_refused_too():
    refused(limited("bench", "--sizes", "100000000", "--seconds", "1"), "orrery bench", "100000000")
    small_first = ("bench", "--sizes", "64,100000000", "--seconds", "0.1")
    result = limited(*small_first)
    refused(result, "orrery bench", "100000000")
    assert "not measured" not in result.stdout and " 64 " not in result.stdout, result.stdout
    refused(limited("bench", write(100000000), "--seconds", "1"), "large.cfg:4", "bodies.count")


def test_what_was_measured_stands_without_memory_for_far_bodies():
    """bench: where the bodies far apart find no room, their error alone is empty"""
    tap.thorough()
    arguments = ("bench", "--sizes", "32768", "--threads", "1", "--kernels", "plain",
                 "--precisions", "single", "--seconds", "0.01", "-o", "out")
    what = r"need ([\d.]+) MB of memory; .* has ([\d.]+) MB left"
    too_little, enough = 0, 400 * 10**6  # for the libraries
    while enough - too_little > 4 * 10**6:
        half = (too_little + enough) // 2
        starts = limited("--version", limit=half).returncode == 0
        too_little, enough = (too_little, half) if starts else (half, enough)
    for limit in range(too_little, 400 * 10**6, 4 * 10**6):
        told = re.search(what, limited(*arguments, limit=limit).stderr)
        if told:
            break
    need, left = (1e6 * float(number) for number in told.groups())
    # gnuplot, which has the same limit, would not find its room.
    result = limited(*arguments, limit=int(limit + 1.2 * need - left), PATH="/nowhere")
    assert result.returncode == 0, result.stderr
    with open("out/bench.csv", newline="", encoding="utf-8") as file:
        row, = csv.DictReader(file)
    assert float(row["seconds"]) > 0 and float(row["error"]) > 0, row
    assert row["far_error"] == "", row


def resident(*arguments):
    """the largest resident memory of a run that holds; at least that of this script"""
    process = subprocess.Popen([tap.ORRERY, *arguments], env={**os.environ, "OMP_NUM_THREADS": "2"})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    return 1024 * usage.ru_maxrss


def test_the_need_is_near_what_runs_take():
    """an upper bound of the resident memory, and no more than half above it"""
    if tap.PATIENCE > 1:
        raise tap.Skip("sanitizers take memory of their own")
    cases = ((10, 1, ""),
             (12, 5000, 'diagnostics = ( { type = "conservation"; }, { type = "lagrangian-radii"; '
                        'fractions = [0.5]; } );\n'),
             (2, 40000, ""), (100, 3000, ""),
             (60, 3000, 'compute = { precision = "single"; };\n'),
             (10, 40, 'diagnostics = ( { type = "radial-distribution"; every = 5; r_max = 1.0; '
                      'bins = 8000; } );\n'))
    for count, systems, more in tap.first(cases, 2):
        config = write(count, systems, more)
        text = limited("check", config).stdout
        number, prefix = re.search(r"memory +([\d.]+) (.?)B at most", text).groups()
        need = float(number) * BYTES[prefix]
        run = resident("run", config, "-q", "--force")
        print(f"# {systems} x {count}: need {need / 1e6:.1f} MB, resident {run / 1e6:.1f} MB")
        assert run < need < 1.5 * run, (count, systems, need, run)


tap.main()
