"""orrery run: what it writes, what it says, and how it ends."""

import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import tap

# A circular two-body orbit of period 2 pi: G = M = a = 1.
TWO_BODY = """
name = "pair";
bodies = { initial = "two-body"; semi_major_axis = 1.0; eccentricity = 0.0; };
time = { integrator = "velocity-verlet"; step = 0.01; end = 6.28; };
diagnostics = ( { type = "conservation"; every = 50; } );
outputs = ( { type = "xyz"; every = 100; } );
expect = ( { quantity = "energy_error"; at_most = 1e-4; } );
"""

# Enough bodies to run for a while: 256 bodies, 40000 steps.
LONG = f"""
name = "long";
bodies = {{ initial = "plummer"; count = 256; seed = 7; }};
physics = {{ softening = 0.05; }};
time = {{ step = 0.0005; end = {10.0 / tap.PATIENCE}; }};
compute = {{ threads = 1; }};
diagnostics = ( {{ type = "conservation"; every = 37; }} );
outputs = ( {{ type = "xyz"; every = 1000; digits = 17; }} );
checkpoint = {{ every_steps = 300; }};
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def rows(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def run_json(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def test_a_run_writes_what_it_says():
    result = tap.run("run", write(TWO_BODY))
    assert result.returncode == 0, result.stderr
    directory = pathlib.Path("pair.run")
    names = sorted(p.name for p in directory.iterdir())
    assert names == ["checkpoint.orr", "checkpoint.orr.prev", "conservation.csv", "run.cfg",
                     "run.json", "run.log", "trajectory.xyz"], names
    table = rows(directory / "conservation.csv")
    assert table[0][:3] == ["step [1]", "time [T]", "kinetic [M L^2 T^-2]"], table[0]
    # 628 steps: 0, 50, ... 600, and the last one.
    assert [int(row[0]) for row in table[1:]] == [*range(0, 601, 50), 628]
    assert all(len(row) == len(table[0]) for row in table)
    about = run_json(directory)
    assert about["verdict"] == "held" and about["exit_status"] == 0
    assert about["step"] == about["steps"] == 628
    assert about["files"] and set(about["files"]) == set(names), about["files"]
    assert "verdict        held" in result.stdout
    assert len(result.stdout.splitlines()) <= 15


def test_the_resolved_config_runs_again():
    assert tap.run("run", write(TWO_BODY), "-q").returncode == 0
    result = tap.run("run", "pair.run/run.cfg", "-o", "again")
    assert result.returncode == 0, result.stderr
    for name in ("conservation.csv", "trajectory.xyz", "run.cfg"):
        first, second = (pathlib.Path(run, name).read_bytes() for run in ("pair.run", "again"))
        assert first == second, name


def test_a_broken_expectation_is_exit_1():
    result = tap.run("run", write(TWO_BODY), "-P", "expect.0.at_most=1e-12")
    assert result.returncode == 1, result.returncode
    assert "FAILED" in result.stdout
    assert run_json("pair.run")["verdict"] == "failed"


def test_a_run_that_breaks_off_at_once():
    """what was expected of it is not judged, and what the summary shows is of its start"""
    result = tap.run("run", write(TWO_BODY), "-P", "time.step=1e200", "-P", "time.end=1e202")
    assert result.returncode == 70, result
    said = " ".join(result.stdout.split())
    assert ": not judged " in said and "held" not in said, said
    assert "at t = 0, the last measurement expect" in said, said


def test_nothing_expected_is_no_verdict():
    """the summary says what run.json says: of a run of which nothing is expected, nothing held"""
    for expected, verdict in ((True, "held"), (False, "none")):
        text = TWO_BODY if expected else TWO_BODY.split("expect =")[0]
        result = tap.run("run", write(text), "--force")
        said, = re.findall(r"^ +verdict +(\S.*)$", result.stdout, re.M)
        assert said == run_json("pair.run")["verdict"] == verdict, result.stdout


def test_names_of_diagnostics_have_an_end():
    text = TWO_BODY.replace('type = "conservation";', 'type = "conservation"; name = "%s";')
    refused = tap.run("run", write(text % (101 * "n")))
    assert refused.returncode == 78 and "at most 100" in refused.stderr, refused
    assert tap.run("run", write(text % (100 * "n"))).returncode == 0
    assert all(pathlib.Path("pair.run", name).is_file() for name in run_json("pair.run")["files"])


def test_quiet_says_nothing():
    result = tap.run("run", write(TWO_BODY), "-q")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_usage_errors_are_64():
    for arguments in ([], ["rnu"], ["run"], ["run", "a", "b"], ["run", "a", "--frobnicate"],
                      ["run", "a", "-o"], ["run", "a"] + 1025 * ["-P", "bodies.seed=1"]):
        result = tap.run(*arguments)
        assert result.returncode == 64, (arguments, result.returncode)
    for limit in ("1::30", "1:", ":30", "1:2:3:4", "90s", ""):
        result = tap.run("run", "nowhere.cfg", "--max-time", limit)
        assert result.returncode == 64 and "[[H:]M:]S" in result.stderr, (limit, result)
        assert result.stderr
    assert "did you mean 'run'?" in tap.run("rnu").stderr


def test_a_long_time_limit_is_none():
    """2^32 seconds are not 0"""
    for limit in ("4294967296", "71582788:16", "0:71582788:16"):
        result = tap.run("run", write(TWO_BODY), "-q", "--force", "--max-time", limit)
        assert result.returncode == 0, (limit, result)


def test_help_and_version():
    for arguments in (["--help"], ["run", "--help"], ["check", "-h"], ["--version"]):
        result = tap.run(*arguments)
        assert result.returncode == 0 and result.stdout and not result.stderr, arguments
    assert tap.run("help", "run").stdout == tap.run("run", "--help").stdout
    assert tap.run("help").stdout == tap.run("--help").stdout
    result = tap.run("help", "rnu")
    assert result.returncode == 64 and "did you mean 'run'?" in result.stderr, result


def test_the_stages_that_info_tells():
    """whose kicks and drifts are a whole step each, or the method would not be consistent"""
    names = [name for name in tap.integrators_of_stages() if name != "rk4"]  # it has registers
    assert len(names) > 5, names
    for name in names:
        text = " ".join(tap.run("info", name).stdout.split())
        stages = re.search(r"stages (.*?) source", text)[1]
        for verb in ("kick", "drift"):
            parts = [float(part) for part in re.findall(rf"{verb} (\S+?)(?:,|$)", stages)]
            # Each of up to a dozen is written with six digits.
            assert abs(sum(parts) - 1) < 1e-4, (name, verb, stages)
        assert "force" in stages, stages


def test_the_registers_that_info_tells():
    """stages of rk4 as they are told, on a harmonic oscillator: the series of cos and sin to h^4"""
    text = " ".join(tap.run("info", "rk4").stdout.split())
    h, values = 0.5, {"x": 1.0, "v": 0.0, "a": 0.0}
    for stage in re.search(r"stages (.*?) source", text)[1].split(", "):
        words = stage.split()
        if words == ["force"]:
            stage = "a = -x"
        elif words[0] in ("drift", "kick"):
            stage = f"x += {words[1]} dt v" if words[0] == "drift" else f"v += {words[1]} dt a"
        # A factor of dt and a vector stand behind a number, as "0.25 dt^2 s".
        stage = re.sub(r" dt(\^2)? ", lambda found: f" dt{'2' if found[1] else ''} ", stage)
        stage = re.sub(r"(?<=[\w.]) (?=[a-z])", " * ", stage)
        exec(stage, {"dt": h, "dt2": h * h}, values)
    # Kutta's method gives the series up to the fourth power; six digits are told.
    assert abs(values["x"] - (1 - h ** 2 / 2 + h ** 4 / 24)) < 1e-5, (text, values)
    assert abs(values["v"] - (-h + h ** 3 / 6)) < 1e-5, (text, values)


def test_the_choices_that_info_tells():
    """a choice that several kinds of bodies share is explained once"""
    text = tap.run("info", "kroupa").stdout
    assert "Kroupa 2001" in text and text.count('bodies = { masses = "kroupa"; ... };') == 1, text


def test_the_kernels_that_info_tells():
    """the instruction sets of `orrery info` run here, and no other ones do"""
    told = re.search(r"CPU kernels +(.*(?:\n {10,}.*)*)", tap.run("info").stdout)[1]
    rows = dict(line.split("\t") for line in tap.run("info", "--keys").stdout.splitlines())
    runs = [name for name in rows["compute.isa"].split() if name != "auto" and tap.run(
        "run", write(TWO_BODY), "-q", "--force", "-P", f"compute.isa={name}",
        "-P", "compute.backend=openmp").returncode == 0]
    assert "baseline" in runs and told.replace(",", " ").split() == runs, (told, runs)


def test_a_missing_config_is_66():
    for path in ("missing.cfg", "."):
        result = tap.run("run", path)
        assert result.returncode == 66, (path, result.returncode)
        assert path in result.stderr
    assert os.listdir(".") == []


def test_nothing_is_written_for_a_bad_config():
    result = tap.run("run", write(TWO_BODY.replace("0.01", "-0.01").replace("every", "evry")))
    assert result.returncode == 78
    assert len(result.stderr.splitlines()) >= 3, result.stderr  # every error in one pass
    assert os.listdir(".") == ["run.cfg"]


def test_a_run_is_not_overwritten():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q").returncode == 0
    before = pathlib.Path("pair.run/conservation.csv").read_bytes()
    result = tap.run("run", config)
    assert result.returncode == 73 and "--force" in result.stderr, result.stderr
    assert pathlib.Path("pair.run/conservation.csv").read_bytes() == before
    pathlib.Path("pair.run/mine.txt").write_text("keep me")
    assert tap.run("run", config, "--force", "-q").returncode == 0
    assert pathlib.Path("pair.run/mine.txt").read_text() == "keep me"


def test_links_in_the_run_directory_are_refused():
    victim = pathlib.Path("victim")
    victim.write_text("untouched")
    os.mkdir("pair.run")
    os.symlink("../victim", "pair.run/conservation.csv")
    result = tap.run("run", write(TWO_BODY))
    assert result.returncode == 73, result.stderr
    assert victim.read_text() == "untouched"


def test_an_output_directory_that_cannot_be_made_is_73():
    result = tap.run("run", write(TWO_BODY), "-o", "missing/deeper")
    assert result.returncode == 73, result.returncode


def test_a_second_process_is_refused():
    config = write(LONG)
    first = subprocess.Popen([tap.ORRERY, "run", config, "-q", "-P", "bodies.count=2048",
                              "-P", "compute.threads=1"])
    try:
        for _ in range(500):
            if pathlib.Path("long.run/run.log").exists():
                break
            time.sleep(0.01)
        first.send_signal(signal.SIGSTOP)  # it holds the lock, at rest
        result = tap.run("run", config, "--force")
        assert result.returncode == 73 and f"process {first.pid}" in result.stderr, result.stderr
    finally:
        first.send_signal(signal.SIGCONT)
        first.terminate()
        first.wait()


def test_the_locale_changes_no_byte():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q", "-o", "plain").returncode == 0
    locale = dict(os.environ, LC_ALL="de_DE.UTF-8", LC_NUMERIC="de_DE.UTF-8")
    assert tap.run("run", config, "-q", "-o", "german", env=locale).returncode == 0
    for name in ("conservation.csv", "trajectory.xyz", "run.cfg"):
        assert pathlib.Path("plain", name).read_bytes() == pathlib.Path("german", name).read_bytes()


def test_threads_change_no_byte():
    config = write(LONG)
    for threads in (1, 2, 3):
        assert tap.run("run", config, "-q", "-o", f"t{threads}", "-P", f"compute.threads={threads}",
                       "-P", "time.end=0.2").returncode == 0
    for name in ("conservation.csv", "trajectory.xyz"):
        contents = {pathlib.Path(f"t{t}", name).read_bytes() for t in (1, 2, 3)}
        assert len(contents) == 1, name


def test_closed_standard_output_does_not_stop_a_run():
    config = write(TWO_BODY)
    result = subprocess.run(f"'{tap.ORRERY}' run {config} >&-", shell=True, stderr=subprocess.PIPE)
    assert result.returncode == 0, result
    assert run_json("pair.run")["verdict"] == "held"


def stopped_and_continued(stop):
    """Starts LONG, calls stop(process), continues; returns the finished process's results."""
    config = write(LONG)
    whole = tap.run("run", config, "-q", "-o", "whole")
    assert whole.returncode == 0, whole.stderr
    process = subprocess.Popen([tap.ORRERY, "run", config, "-q", "-o", "parts"],
                               stderr=subprocess.PIPE, text=True)
    frames = pathlib.Path("parts/trajectory.xyz")
    while process.poll() is None:
        if frames.exists() and frames.read_text().count("Properties=") > 1:
            break
        time.sleep(0.01)
    stop(process)
    errors = process.communicate(timeout=30 * tap.PATIENCE)[1]
    return config, process.returncode, errors


def same_bytes():
    for name in ("conservation.csv", "trajectory.xyz"):
        assert (pathlib.Path("whole", name).read_bytes() ==
                pathlib.Path("parts", name).read_bytes()), name


def test_interrupt_then_restart_gives_the_same_bytes():
    config, code, errors = stopped_and_continued(lambda p: p.send_signal(signal.SIGINT))
    assert code == 75 and "--restart" in errors, (code, errors)
    for line in pathlib.Path("parts/conservation.csv").read_text().splitlines(True):
        assert line.endswith("\n")
    assert run_json("parts")["verdict"] == "stopped"
    stopped = run_json("parts")["step"]
    result = tap.run("run", config, "-q", "-o", "parts", "--restart")
    assert result.returncode == 0, result.stderr
    # The last checkpoint is that of the stop, whatever has been saved before.
    assert run_json("parts")["bitwise"] is True and run_json("parts")["first_step"] == stopped > 0
    same_bytes()


def test_kill_then_restart_gives_the_same_bytes():
    config, code, _ = stopped_and_continued(lambda p: p.kill())
    assert code == -signal.SIGKILL
    result = tap.run("run", config, "-q", "-o", "parts", "--restart")
    assert result.returncode == 0, result.stderr
    same_bytes()


def test_the_file_stop_ends_a_run():
    config, code, errors = stopped_and_continued(
        lambda p: pathlib.Path("parts/stop").touch())
    assert code == 75 and "`stop`" in errors, (code, errors)
    assert tap.run("run", config, "-q", "-o", "parts", "--restart").returncode == 0
    same_bytes()


def test_a_restart_with_other_physics_is_refused():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q").returncode == 0
    result = tap.run("run", config, "--restart", "-P", "time.step=0.02",
                     "-P", "physics.softening=1")
    assert result.returncode == 78, result.stderr
    assert "time.step" in result.stderr and "physics.softening" in result.stderr, result.stderr


def test_a_restart_may_go_further():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q", "-o", "a", "-P", "time.end=3").returncode == 0
    assert tap.run("run", config, "-q", "-o", "a", "--restart", "-P", "time.end=6").returncode == 0
    assert tap.run("run", config, "-q", "-o", "b", "-P", "time.end=6").returncode == 0
    for name in ("conservation.csv", "trajectory.xyz"):
        assert pathlib.Path("a", name).read_bytes() == pathlib.Path("b", name).read_bytes()


def test_damaged_checkpoints():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q", "-P", "checkpoint.every_steps=100").returncode == 0
    newest, previous = (pathlib.Path("pair.run", name)
                        for name in ("checkpoint.orr", "checkpoint.orr.prev"))
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-10])
    result = tap.run("run", config, "--restart", "-P", "checkpoint.every_steps=100")
    assert result.returncode == 0 and "WARNING" in result.stderr, result.stderr
    for path in (newest, previous):
        path.write_bytes(whole[:100] + b"?" + whole[101:])
    result = tap.run("run", config, "--restart", "-P", "checkpoint.every_steps=100")
    assert result.returncode == 65, (result.returncode, result.stderr)


def test_changed_outputs_are_refused_at_restart():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q").returncode == 0
    path = pathlib.Path("pair.run/conservation.csv")
    whole = path.read_bytes()
    for damaged in (whole[:-1], b"X" + whole[1:]):
        path.write_bytes(damaged)
        result = tap.run("run", config, "--restart")
        assert result.returncode == 74, (result.returncode, result.stderr)
        assert path.read_bytes() == damaged  # untouched
    path.write_bytes(whole + b"half a ro")
    assert tap.run("run", config, "--restart", "-q").returncode == 0
    assert path.read_bytes() == whole


def test_a_step_longer_than_the_run():
    """is an error of the config for every command; one that ends with it is a single step"""
    config = write(TWO_BODY)
    for step, message in (("1e10", "time.step = 10000000000.0"), ("1.1", "time.step = 1.1")):
        longer = ("-P", f"time.step={step}", "-P", "time.end=1")
        for command in (("run",), ("check",), ("run", "--dry-run"), ("run", "--convergence")):
            result = tap.run(*command, config, *longer)
            assert result.returncode == 78 and result.stderr == (
                f"-P time.step={step}: is longer than the whole run: time.end = 1; a run has "
                "hundreds of steps at least: write 0.001, and orrery check says which step the "
                "bodies need\n"), result
    assert os.listdir() == ["run.cfg"]
    assert tap.run("run", config, "-q", "-P", "time.step=1", "-P", "time.end=1", "-P",
                   "watch.on_jump=warn").returncode in (0, 1)
    assert run_json("pair.run")["steps"] == 1


def test_a_file_stop_that_was_left_behind():
    """stops no run that begins anew"""
    assert tap.run("run", write(TWO_BODY), "-q").returncode == 0
    pathlib.Path("pair.run/stop").touch()
    assert tap.run("run", "run.cfg", "-q", "--force", "-P", "time.end=500").returncode != 75
    assert run_json("pair.run")["time"] > 499 and not os.path.exists("pair.run/stop")


def test_an_end_between_steps():
    """an end that is no multiple of the step is passed, and check, log and summary say so"""
    text = ('bodies = { initial = "two-body"; };\n'
            'time = { step = 0.3; end = 1.0; };\n')
    pathlib.Path("end.cfg").write_text(text)
    note = "time.end = 1 is no multiple of the step: the run ends at t = 1.2"
    flat = lambda words: " ".join(words.replace("#", " ").split())
    assert note in flat(tap.run("check", "end.cfg").stdout)
    result = tap.run("run", "end.cfg")
    assert note in flat(result.stdout) and note in flat(result.stderr), result
    assert note in pathlib.Path("end.run/run.log").read_text()
    # A whole number of steps, but for rounding, is none of it: 3 x 0.1 > 0.3.
    pathlib.Path("end.cfg").write_text(text.replace("0.3", "0.1").replace("1.0", "0.3"))
    result = tap.run("run", "end.cfg", "--force")
    assert "multiple" not in result.stdout + result.stderr, result


CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 200; seed = 7; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 0.04; };
"""


def time_scales(text, directory, *options):
    """What run.json and the summary say of the crossing time and the relaxation time."""
    pathlib.Path("scales.cfg").write_text(text)
    done = tap.run("run", "scales.cfg", "-o", directory, *options)
    assert done.returncode == 0, done.stderr
    told = json.loads(pathlib.Path(directory, "run.json").read_text())["time_scales"]
    return told, " ".join(done.stdout.split())


def test_time_scales_of_a_cluster():
    """crossing and relaxation time are told of a cluster, the same after a restart, else not"""
    told, summary = time_scales(CLUSTER, "scales", "-P", "time.end=0.02")
    # Without softening E = -1/4; with it the start is scaled alike, and U is 1 % smaller.
    assert abs(told["crossing"] - 8 ** 0.5) < 0.15, told
    # 0.138 N r_h^(3/2) / ln(0.11 N), r_h = 0.769 within its sampling error of 0.06.
    assert abs(told["half_mass_relaxation"] - 6.02) < 1.5, told
    assert f"crossing {told['crossing']:.3g}, half-mass relaxation" in summary, summary
    assert time_scales(CLUSTER, "scales", "--restart")[0] == told
    assert tap.run("report", "scales").returncode == 0
    page = pathlib.Path("scales/report.html").read_text()
    assert f"crossing time at the start</dt><dd>{told['crossing']:.4g}</dd>" in page
    none = {"crossing": None, "half_mass_relaxation": None}
    box = CLUSTER.replace('softening = 0.05;', 'softening = 0.05; boundary = "periodic"; '
                          'box_length = 100.0;')
    for k, text in enumerate((TWO_BODY, box)):
        told, summary = time_scales(text, f"none-{k}")
        assert told == none and "time scales" not in summary, (told, summary)


tap.main()
