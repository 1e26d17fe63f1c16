"""What must hold when things go wrong: names, links, locks, full disks, control files, restarts."""

import ctypes
import ctypes.util
import errno
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

import tap

sys.path.append(os.path.join(tap.SOURCE, "validation", "faults"))
import harness  # noqa: E402

# A circular two-body orbit of period 2 pi: G = M = a = 1.
TWO_BODY = """
name = "pair";
bodies = { initial = "two-body"; semi_major_axis = 1.0; eccentricity = 0.0; };
time = { integrator = "velocity-verlet"; step = 0.01; end = 6.28; };
diagnostics = ( { type = "conservation"; every = 50; } );
outputs = ( { type = "xyz"; every = 100; } );
expect = ( { quantity = "energy_error"; at_most = 1e-4; } );
"""

# Runs for seconds: 256 bodies.
LONG = """
name = "long";
bodies = { initial = "plummer"; count = 256; seed = 7; };
physics = { softening = 0.05; };
time = { step = 0.0005; end = 20.0; };
compute = { threads = 1; };
diagnostics = ( { type = "conservation"; every = 37; } );
outputs = ( { type = "xyz"; every = 1000; } );
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def run_json(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def listing(directory):
    return sorted(p.name for p in pathlib.Path(directory).iterdir())


def same_outputs(one, other, names=("conservation.csv", "trajectory.xyz")):
    for name in names:
        left, right = (pathlib.Path(directory, name).read_bytes() for directory in (one, other))
        assert left == right, name


def wait_for(path, seconds=10):
    for _ in range(int(100 * seconds)):
        if pathlib.Path(path).exists():
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} did not appear in {seconds} s")


def wait_until_caught(process, number):
    """Until the process has a handler for the signal."""
    try:
        while True:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            caught = int(status.split("SigCgt:")[1].split()[0], 16)
            if caught >> (number - 1) & 1:
                return
            time.sleep(0.005)
    except FileNotFoundError:
        raise tap.Skip("no /proc")


# --- names, links and what is there already -------------------------------------------------------

def test_a_file_that_belongs_to_no_run_is_never_touched():
    config = write(TWO_BODY)
    for name in ("run.cfg", "run.log", "conservation.csv", "trajectory.xyz", "checkpoint.orr"):
        mine = pathlib.Path("mine", name)
        mine.parent.mkdir(exist_ok=True)
        mine.write_text("keep me")
        for force in ([], ["--force"]):
            result = tap.run("run", config, "-o", "mine", *force)
            assert result.returncode == 73 and name in result.stderr, (name, force, result)
            assert listing("mine") == [name] and mine.read_text() == "keep me"
        mine.unlink()


def test_force_leaves_the_old_run_where_a_file_stands_in_the_way():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q").returncode == 0
    before = listing("pair.run")
    pathlib.Path("pair.run/other.xyz").write_text("keep me")
    result = tap.run("run", config, "--force", "-P", 'outputs.0.file="other.xyz"')
    assert result.returncode == 73, result
    assert listing("pair.run") == sorted([*before, "other.xyz"])
    assert pathlib.Path("pair.run/other.xyz").read_text() == "keep me"


def test_force_follows_the_manifest_only():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q").returncode == 0
    os.mkdir("outside")
    pathlib.Path("outside/a.svg").write_text("keep me")
    os.symlink("../outside", "pair.run/plots")
    about = run_json("pair.run")
    about["files"] += ["../run.cfg", "/etc/hostname", "plots/a.svg", "plots/../../run.cfg", "..", 3]
    pathlib.Path("pair.run/run.json").write_text(json.dumps(about))
    assert tap.run("run", config, "--force", "-q").returncode == 0
    assert pathlib.Path("run.cfg").exists() and listing("outside") == ["a.svg"]
    pathlib.Path("pair.run/run.json").write_text("{ damaged")
    before = listing("pair.run")
    result = tap.run("run", config, "--force", "-q")
    assert result.returncode == 73 and "run.json" in result.stderr, result
    assert listing("pair.run") == before


def test_a_restart_without_a_manifest_measures_the_force_error():
    config = write('bodies = { initial = "plummer"; count = 64; }; physics = { softening = 0.1; };'
                   "time = { step = 0.01; end = 0.1; };"
                   'compute = { precision = "single"; kernel = "plain"; backend = "openmp"; };')
    assert tap.run("run", config, "-q", "-o", "a").returncode == 0
    pathlib.Path("a/run.json").write_text("{ damaged")
    result = tap.run("run", config, "-q", "-o", "a", "--restart", "-P", "time.end=0.2")
    assert result.returncode == 0 and run_json("a")["force_error"]["whole"] > 0, result


def test_a_link_in_place_of_the_run_directory_is_refused():
    os.mkdir("elsewhere")
    os.symlink("elsewhere", "pair.run")
    config = write(TWO_BODY)
    result = tap.run("run", config)
    assert result.returncode == 73 and "is a link" in result.stderr, result
    assert listing("elsewhere") == []
    # With a slash it is what the user wants.
    assert tap.run("run", config, "-q", "-o", "pair.run/").returncode == 0
    assert "run.json" in listing("elsewhere")


def test_names_that_leave_the_directory_or_collide_are_78():
    config = write(TWO_BODY)
    for key, value in (("name", "../up"), ("name", "a/b"), ("outputs.0.file", "../up.xyz"),
                       ("outputs.0.file", "/tmp/up.xyz"), ("outputs.0.file", "run.json"),
                       ("outputs.0.file", "checkpoint.orr"), ("outputs.0.file", "run.lock"),
                       ("outputs.0.file", "conservation.csv"), ("outputs.0.file", "stop"),
                       ("outputs.0.file", "run.json.orrery.tmp"), ("diagnostics.0.name", "../up")):
        result = tap.run("run", config, "-P", f'{key}="{value}"')
        assert result.returncode == 78 and key in result.stderr, (key, value, result)
    assert os.listdir(".") == ["run.cfg"]


def test_pipes_and_devices_are_no_files_of_a_run():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q").returncode == 0
    for name, status in (("checkpoint.orr", 73), ("conservation.csv", 74), ("run.log", 74)):
        kept = pathlib.Path("pair.run", name).read_bytes()
        os.unlink(f"pair.run/{name}")
        os.mkfifo(f"pair.run/{name}")
        result = tap.run("run", config, "-q", "--restart", timeout=20)
        assert result.returncode == status and name in result.stderr, (name, result)
        assert pathlib.Path("pair.run", name).is_fifo()
        os.unlink(f"pair.run/{name}")
        pathlib.Path("pair.run", name).write_bytes(kept)


def test_more_than_the_disk_holds_is_refused_with_the_estimate():
    options = ("-P", "time.step=1e-12", "-P", "outputs.0.every=1")
    result = tap.run("run", write(TWO_BODY), *options)
    told = re.search(r"would write (\S+) GB, the disk has (\S+) GB free", result.stderr)
    assert result.returncode == 73 and told, result
    estimate = re.search(r"disk +(\S+) ([TPE])B", tap.run("check", "run.cfg", *options).stdout)
    needed = float(estimate[1]) * {"T": 1e3, "P": 1e6, "E": 1e9}[estimate[2]]
    assert abs(float(told[1]) / needed - 1) < 0.006, (told[0], estimate[0])  # three digits each
    disk = os.statvfs(".")  # to which others write meanwhile
    assert abs(float(told[2]) / (1e-9 * disk.f_bavail * disk.f_frsize) - 1) < 0.2, (told[0], disk)
    assert os.listdir(".") == ["run.cfg"]


# --- standard streams -----------------------------------------------------------------------------

def test_closed_standard_streams_do_not_end_up_in_files():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-o", "whole").returncode == 0
    for closed in (">&-", ">&- 2>&-", "<&- >&- 2>&-"):
        result = subprocess.run(f"'{tap.ORRERY}' run {config} --force {closed}", shell=True)
        assert result.returncode == 0, (closed, result)
        same_outputs("whole", "pair.run", ("conservation.csv", "trajectory.xyz", "run.cfg"))
        json.loads(pathlib.Path("pair.run/run.json").read_text())
    assert subprocess.run(f"'{tap.ORRERY}' check {config} >&-", shell=True,
                          stderr=subprocess.DEVNULL).returncode == 74


def test_a_full_standard_output():
    if not os.path.exists("/dev/full"):
        raise tap.Skip("no /dev/full")
    config = write(TWO_BODY)
    run = subprocess.run(f"'{tap.ORRERY}' run {config} > /dev/full", shell=True,
                         stderr=subprocess.PIPE, text=True)
    assert run.returncode == 74 and "standard output cannot be written" in run.stderr, run
    assert run_json("pair.run")["verdict"] == "held" and run_json("pair.run")["exit_status"] == 0
    assert subprocess.run(f"'{tap.ORRERY}' run {config} -q --force > /dev/full",
                          shell=True).returncode == 0
    for command in (f"check {config}", "info", "--help", "--version", "run --help", "help report",
                    "verify pair.run", "report pair.run", "--complete"):
        result = subprocess.run(f"'{tap.ORRERY}' {command} > /dev/full", shell=True,
                                stderr=subprocess.PIPE)
        assert result.returncode == 74 and result.stderr, (command, result)


# --- failing writes -------------------------------------------------------------------------------

def test_a_file_size_limit_is_an_io_error_not_a_death():
    config = write(TWO_BODY)
    limit = 20000  # bytes: run.json and the checkpoint fit, 629 frames do not

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    every = ("-q", "-P", "outputs.0.every=1")
    result = tap.run("run", config, *every, preexec_fn=limited)
    assert result.returncode == 74 and "trajectory.xyz: File too large" in result.stderr, result
    assert result.stderr.count("trajectory.xyz") == 1, result.stderr
    assert run_json("pair.run")["exit_status"] == 74
    # With room again nothing is lost.
    result = tap.run("run", config, *every, "--restart")
    assert result.returncode == 0, result
    assert tap.run("run", config, *every, "-o", "whole").returncode == 0
    same_outputs("pair.run", "whole")


def test_the_command_to_go_on_is_one_for_the_shell():
    """blanks, quotes and what the shell would expand, in the name of the directory"""
    config = write(TWO_BODY.replace("end = 6.28", "end = 1e7"))
    name = "it's $HOME; `id`\\"
    assert tap.run("run", config, "-q", "-o", name, "--max-time", "1").returncode == 75
    result = tap.run("watch", name)
    way = [line for line in result.stdout.splitlines() if line.startswith("  to go on")]
    assert len(way) == 1, result
    command = way[0][17:]
    assert shlex.split(command) == ["orrery", "run", f"{name}/run.cfg", "-o", name, "--restart"]
    again = subprocess.run(command.replace("orrery", f"'{tap.ORRERY}'", 1) + " -q -P time.end=1e6"
                           " --max-time 1", shell=True, capture_output=True, text=True)
    assert again.returncode in (0, 75, 78) and "no such" not in again.stderr, again
    # The other commands that are told: to report on a run, and on a study.
    result = tap.run("run", config, "-o", "a b", "-P", "time.end=1")
    assert "  figures        orrery report 'a b'\n" in result.stdout, result


def test_long_names():
    """a name is never cut: that of another run would be the same, and --force would remove it"""
    config = write(TWO_BODY)
    names = ["n" * 199 + letter for letter in "ab"]
    for name in names:
        assert tap.run("run", config, "-q", "-P", f"name={name}").returncode == 0
    assert listing(".") == ["a.run".rjust(204, "n"), "b.run".rjust(204, "n"), "run.cfg"]
    result = tap.run("run", config, "-q", "-P", f"name={'n' * 201}")
    assert result.returncode == 78 and "must have at most 200 bytes" in result.stderr, result
    # The name of the config file is the run's where it has none.
    nameless = write(TWO_BODY.replace('name = "pair";', ""), "f" * 240 + "a.cfg")
    assert tap.run("run", nameless, "-q").returncode == 0 and os.path.isdir("f" * 240 + "a.run")


def test_a_run_through_the_loader():
    """ld.so ./orrery run: the program does not start the loader anew with its own arguments"""
    interpreter = subprocess.run(["sh", "-c", f"ldd '{tap.ORRERY}' | grep -o '/lib[^ ]*/ld-[^ ]*'"],
                                 capture_output=True, text=True).stdout.strip()
    if not interpreter:
        raise tap.Skip("ldd does not name a loader")
    result = subprocess.run([interpreter, tap.ORRERY, "run", write(TWO_BODY), "-q"],
                            env={**os.environ, "OMP_NUM_THREADS": "2"}, capture_output=True)
    assert result.returncode == 0, result
    assert run_json("pair.run")["verdict"] == "held"


def without_locks(*arguments, code, **environment):
    shim = os.path.join(os.environ.get("ORRERY_BUILD", os.path.dirname(tap.ORRERY)),
                        "validation/faults/shim-calls.so")
    if not os.path.exists(shim):
        raise tap.Skip("the shim is not built: it needs Linux and the GNU C library")
    options = os.environ.get("ASAN_OPTIONS", "")
    return tap.run(*arguments, env={
        **os.environ, "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0", "LD_PRELOAD": shim,
        "ORRERY_FAULT": f"error {code} 1 1000000 flock -", **environment})


def test_a_file_system_without_locks():
    """is said, with what to do; --no-lock and ORRERY_LOCKS=none go without them"""
    config = write(TWO_BODY)
    run = ("run", config, "-q")
    for code in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
        result = without_locks(*run, code=code)
        assert result.returncode == 73 and "takes no locks" in result.stderr, result
        assert "--no-lock" in result.stderr and listing(".") == ["run.cfg"], result
    result = without_locks(*run, "--no-lock", code=errno.ENOSYS)
    assert result.returncode == 0, result
    assert "run.lock" not in listing("pair.run") and run_json("pair.run")["verdict"] == "held"
    result = without_locks(*run, "--force", code=errno.ENOSYS, ORRERY_LOCKS="none")
    assert result.returncode == 0, result
    for command in ("verify", "report"):
        assert without_locks(command, "pair.run", code=errno.ENOSYS).returncode == 73, command
        result = without_locks(command, "pair.run", "--no-lock", code=errno.ENOSYS)
        assert result.returncode in (0, 69), result
    sweep = ("run", config, "-q", "-P", 'sweep=({ key = "time.end"; values = [0.1, 0.2]; })')
    assert without_locks(*sweep, code=errno.ENOSYS).returncode == 73
    result = without_locks(*sweep, "--no-lock", code=errno.ENOSYS)
    assert result.returncode == 0 and "study.lock" not in listing("pair.sweep"), result


# --- two processes --------------------------------------------------------------------------------

def test_of_many_processes_in_one_directory_one_runs():
    config = write(TWO_BODY)
    processes = [subprocess.Popen([tap.ORRERY, "run", config, "-q"], stderr=subprocess.PIPE,
                                  text=True) for _ in range(12)]
    ends = [(p.communicate()[1], p.returncode) for p in processes]
    codes = sorted(code for _, code in ends)
    assert codes == [0] + 11 * [73], ends
    assert run_json("pair.run")["verdict"] == "held"
    assert "run.lock" not in listing("pair.run")


def test_the_lock_of_a_dead_process_frees_itself():
    config = write(LONG.replace("count = 256", "count = 2048"))  # lasts longer than any wait
    process = subprocess.Popen([tap.ORRERY, "run", config, "-q"])
    wait_for("long.run/run.log")
    process.send_signal(signal.SIGSTOP)  # it holds the lock, at rest
    result = tap.run("run", config, "--restart")
    assert result.returncode == 73 and f"process {process.pid} on " in result.stderr, result
    process.kill()
    process.wait()
    assert "run.lock" in listing("long.run")
    assert tap.run("run", config, "-q", "--restart", "-P", "time.end=0.01").returncode == 0


# --- time limits and control files ----------------------------------------------------------------

def test_a_time_limit_leaves_time_for_the_checkpoint():
    config = write(LONG)
    for name, arguments in (("a", ("--max-time", "2")), ("b", ("--max-time", "0:01:00"))):
        end = int(time.time()) + 63  # 60 s are kept free
        environment = dict(os.environ, SLURM_JOB_END_TIME=str(end)) if name == "b" else None
        result = tap.run("run", config, "-q", "-o", name, "-P", "bodies.count=2048", *arguments,
                         env=environment)
        assert result.returncode == 75 and "the time limit" in result.stderr, result
        about = run_json(name)
        assert 0.5 < about["wall_seconds"] < (2.0 if name == "a" else 3.0), about["wall_seconds"]
        assert about["step"] > 0, about
        assert about["verdict"] == "stopped" and about["exit_status"] == 75
    # Of the limit and the batch system's the earlier one counts, wherever the clock stands.
    past = dict(os.environ, SLURM_JOB_END_TIME="1000000000")
    result = tap.run("run", config, "-q", "-o", "c", "-P", "bodies.count=2048", env=past)
    assert result.returncode == 75, result
    assert "WARNING: SLURM_JOB_END_TIME=1000000000 is over since " in result.stderr, result


def wait_to_grow(path, process):
    """Until the file is longer than now, or there."""
    def size():
        return path.stat().st_size if path.exists() else 0
    before, end = size(), time.monotonic() + 60 * tap.PATIENCE
    while size() <= before:
        assert process.poll() is None and time.monotonic() < end, (process.poll(), size())
        time.sleep(0.01)


def edition(path):
    """Which one it is of a file that is replaced: between two renames it is not there, and the next
    but one may have the same inode."""
    wait_for(path)
    try:
        return os.stat(path).st_ino, os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return edition(path)


def test_a_pause_makes_no_observation_long():
    """a process that was stopped for a while saves no checkpoint before each observation"""
    pairs = ", ".join(f'{{ type = "radial-distribution"; name = "g{k}"; every = 1; bins = 10; }}'
                      for k in range(9))
    count = round(1500 / math.sqrt(tap.PATIENCE))  # an observation takes a tenth of 0.5 s
    config = write(f"""
        name = "paused";
        bodies = {{ initial = "plummer"; count = {count}; }};
        physics = {{ softening = 0.01; }};
        time = {{ step = 0.001; end = 20.0; }};
        diagnostics = ( {pairs} );
    """)
    process = subprocess.Popen([tap.ORRERY, "run", config, "-q"])
    path, checkpoint = (pathlib.Path("paused.run", name) for name in
                        ("g0.csv", "checkpoint.orr"))
    try:
        wait_to_grow(path, process)
        before = edition(checkpoint)
        # Most of the time goes into the pairs: one of three pauses falls into an observation.
        for _ in range(3):
            process.send_signal(signal.SIGSTOP)
            # Longer than what counts as long: 0.5 s, and ten times the slowest checkpoint.
            time.sleep(2)
            process.send_signal(signal.SIGCONT)
            for _ in range(2):  # what is written first may have been measured before the pause
                wait_to_grow(path, process)
        assert edition(checkpoint) == before
    finally:
        process.kill()
        process.wait()


def test_control_files():
    config = write(LONG)
    process = subprocess.Popen([tap.ORRERY, "run", config, "-q", "-P", "bodies.count=1024"])
    wait_for("long.run/run.log")
    checkpoint = pathlib.Path("long.run/checkpoint.orr")
    for ask in (lambda: pathlib.Path("long.run/checkpoint").touch(),
                lambda: process.send_signal(signal.SIGUSR2)):
        wait_for(checkpoint)
        before = checkpoint.stat().st_ino
        ask()
        for _ in range(1000):
            if checkpoint.stat().st_ino != before:
                break
            time.sleep(0.01)
        assert checkpoint.stat().st_ino != before and process.poll() is None
    assert not pathlib.Path("long.run/checkpoint").exists()
    pathlib.Path("long.run/stop").touch()
    assert process.wait(20) == 75
    assert not pathlib.Path("long.run/stop").exists()
    # One that was left behind does not stop the next run.
    pathlib.Path("long.run/stop").touch()
    end = run_json("long.run")["time"] + 0.01
    assert tap.run("run", config, "--restart", "-P", f"time.end={end}", "-P",
                   "bodies.count=1024").returncode == 0
    assert not pathlib.Path("long.run/stop").exists()


# --- numerical failure ----------------------------------------------------------------------------

def test_numbers_that_fail_leave_the_good_checkpoint_and_a_last_frame():
    # A test body of v = 1e153 and a step of 1e153: 180 steps go beyond the largest double.
    pathlib.Path("b.csv").write_text("m,x,y,z,vx,vy,vz,id\n1,0,0,0,0,0,0,11\n"
                                     "0,1e99,0,0,1e153,0,0,12\n0,9,9,9,0,0,0,13\n")
    config = write("""
        name = "crash";
        bodies = { initial = "file"; file = "b.csv"; };
        time = { step = 1e153; end = 1e156; };
        diagnostics = ( { type = "conservation"; every = 10; } );
        outputs = ( { type = "xyz"; every = 32; } );
        checkpoint = { every_steps = 20; };
        expect = ( { quantity = "kinetic"; at_least = 0.0; } );
    """)
    result = tap.run("run", config, "-q")
    assert result.returncode == 70 and "body 12" in result.stderr, result
    about = run_json("crash.run")
    assert about["exit_status"] == 70 and about["verdict"] == "error" and about["errors"], about
    assert "failure.xyz" in about["files"]
    frame = pathlib.Path("crash.run/failure.xyz").read_text().splitlines()
    assert frame[0] == "3" and "finite:I:1" in frame[1] and len(frame) == 5, frame
    ids = [line.split()[-3] for line in frame[2:]]
    assert ids == ["11", "12", "13"], frame
    assert frame[3].startswith("X inf ") and frame[3].endswith(" 0"), frame
    table = pathlib.Path("crash.run/conservation.csv").read_text()
    assert "nan" not in table and "inf" not in table
    # Its checkpoint is of a good step: the same end is met again from there.
    again = tap.run("run", config, "--restart")
    assert again.returncode == 70, again
    assert "kinetic >= 0: held until it broke off" in " ".join(again.stdout.split()), again.stdout
    if shutil.which("gnuplot"):
        assert tap.run("report", "crash.run").returncode == 0
        page = pathlib.Path("crash.run/report.html").read_text()
        assert "held until it broke off" in page, page
    assert run_json("crash.run")["restarts"][0]["step"] == 160, run_json("crash.run")
    assert pathlib.Path("crash.run/conservation.csv").read_text() == table
    # Killed before the first byte of the last frame, a run still knows the file as its own.
    killed = harness.environment(harness.fault("kill", calls="write", file="failure.xyz"))
    for options in (("--restart",), ("--force",)):
        assert tap.run("run", config, "-q", "--force", env=killed).returncode != 70
        assert pathlib.Path("crash.run/failure.xyz").read_text() == ""
        again = tap.run("run", config, "-q", *options)
        assert again.returncode == 70, again
        assert len(pathlib.Path("crash.run/failure.xyz").read_text().splitlines()) == 5


def test_a_run_that_breaks_off_at_the_start():
    """records no energy error, since it has measured none"""
    pathlib.Path("huge.csv").write_text("m,x,y,z,vx,vy,vz\n1e200,0,0,0,1,0,0\n"
                                        "1e200,1,0,0,-1,0,0\n")
    config = write("""
        name = "huge";
        bodies = { initial = "file"; file = "huge.csv"; };
        time = { step = 0.01; end = 1.0; };
        diagnostics = ( { type = "conservation"; every = 10; } );
    """)
    assert tap.run("run", config, "-q").returncode == 70
    about = run_json("huge.run")
    assert (about["step"], about["largest_energy_error"]) == (0, None), about


def test_the_place_of_the_last_frame_is_free_before_it_is_needed():
    """a failure.xyz of somebody else is found before the run begins, or goes on"""
    config = write(TWO_BODY)
    other = pathlib.Path("pair.run/failure.xyz")
    other.parent.mkdir()
    other.write_text("mine")
    result = tap.run("run", config)
    assert result.returncode == 73 and f"{other}: is there already" in result.stderr, result
    assert listing("pair.run") == ["failure.xyz"] and other.read_text() == "mine"
    other.unlink()
    assert tap.run("run", config, "-q").returncode == 0
    other.write_text("mine")
    before = contents("pair.run")
    for options in (("--restart", "-P", "time.end=10.0"), ("--force",)):
        result = tap.run("run", config, *options)
        assert result.returncode == 73 and f"{other}: is there already" in result.stderr, result
        assert contents("pair.run") == before


# --- restarts -------------------------------------------------------------------------------------

def stop_early(*arguments):
    """Starts a run whose first row takes a while, and asks it to stop meanwhile."""
    about = pathlib.Path("long.run/run.json")
    old = about.stat().st_mtime_ns if about.exists() else 0
    process = subprocess.Popen([tap.ORRERY, "run", *arguments], stderr=subprocess.PIPE, text=True)
    while not (about.exists() and about.stat().st_mtime_ns != old and
               run_json("long.run")["checkpointed"]):
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.terminate()
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 75 and "stopped by signal 15" in errors, (process, errors)
    return int(re.search(r"step (\d+) of", errors)[1])


def test_a_stop_at_step_0_doubles_no_row():
    config = write(LONG)
    arguments = (config, "-q", "-P", "bodies.count=12000", "-P", "compute.threads=1")
    if stop_early(*arguments) > 0:
        raise tap.Skip("the machine was too slow to stop it in time")

    def steps():
        lines = pathlib.Path("long.run/conservation.csv").read_text().splitlines()[1:]
        return [line.split(",")[0] for line in lines]
    assert steps() in ([], ["0"])  # it may be stopped within the sums that the row is made of
    assert stop_early(*arguments, "--restart") < 37
    assert steps() in ([], ["0"])


def test_a_stop_before_the_beginning_writes_nothing():
    config = write(LONG)
    # The first energies of this number of bodies take a second or more.
    process = subprocess.Popen([tap.ORRERY, "run", config, "-P", "bodies.count=60000", "-P",
                                "compute.threads=1"], stderr=subprocess.PIPE, text=True)
    wait_until_caught(process, signal.SIGTERM)
    process.terminate()
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 75 and "before the run began" in errors, (process, errors)
    assert os.listdir(".") == ["run.cfg"]


def test_the_last_sums_say_their_time():
    """of a run that was stopped between two looks at the energy: `final` is of `final_time`"""
    config = write(LONG)
    arguments = (config, "-q", "-P", "diagnostics.0.every=20000", "-P", "outputs=()", "-P",
                 "time.end=1000")
    with subprocess.Popen([tap.ORRERY, "run", *arguments], stderr=subprocess.DEVNULL) as process:
        wait_for("long.run/checkpoint.orr", 60)
        time.sleep(0.5 * tap.PATIENCE)
        process.terminate()
    stopped = run_json("long.run")
    assert stopped["verdict"] == "stopped" and stopped["final_time"] <= stopped["time"], stopped
    end = stopped["final_time"]
    assert tap.run("run", *arguments, "-o", "short", "-P", f"time.end={end}").returncode == 0
    short = run_json("short")
    assert short["final"] == stopped["final"] and short["final_time"] == short["time"] == end


def begin_without_end(*arguments, before=(), name="long.run", **environment):
    """A run of a pair for much longer than a test takes, which has begun."""
    config = write(LONG)
    process = subprocess.Popen([*before, tap.ORRERY, "run", config, "-q", "-o", name, "-P",
                                "bodies.count=2", "-P", "time.end=1e6", "-P", "outputs=()", "-P",
                                "diagnostics.0.every=100000000", *arguments], text=True,
                               stderr=subprocess.PIPE, env={**os.environ, **environment})
    wait_for(f"{name}/run.json", 60)
    return process


def test_every_signal_that_asks_for_the_end_is_obeyed():
    """a limit of CPU time and a closed terminal stop a run with 75, and nohup's run goes on"""
    for number in (signal.SIGXCPU, signal.SIGHUP, signal.SIGUSR1):
        process = begin_without_end()
        process.send_signal(number)
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 75 and f"stopped by signal {number:d}" in errors, errors
        shutil.rmtree("long.run")
    process = begin_without_end(before=("sh", "-c", 'trap "" HUP; exec "$@"', "sh"))
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert process.poll() is None
    process.terminate()
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 75 and "stopped by signal 15" in errors, errors


def test_the_earlier_end_counts_and_minutes_are_minutes():
    """of --max-time 1:00 and a batch system that ends in two seconds the latter stops the run"""
    minute = begin_without_end("--max-time", "1:00", name="minute")
    soon = begin_without_end("--max-time", "1:00", name="soon",
                             SLURM_JOB_END_TIME=str(int(time.time()) + 62))  # 60 s are kept free
    errors = soon.communicate(timeout=40)[1]
    assert soon.returncode == 75 and "stopped by the time limit" in errors, errors
    assert minute.poll() is None
    minute.terminate()
    assert "stopped by signal 15" in minute.communicate(timeout=60)[1]


def test_what_observes_may_change_and_outputs_may_not():
    """a restart with another limit of the watch goes on and says so; one without an output is
    another experiment; --force and --restart exclude each other"""
    config = write(LONG)
    short = ("-P", "bodies.count=16")
    assert tap.run("run", config, *short, "-P", "time.end=0.01").returncode == 0
    result = tap.run("run", config, *short, "-P", "time.end=0.02", "--restart", "-P", "outputs=()")
    assert result.returncode == 78 and "outputs" in result.stderr, result.stderr
    result = tap.run("run", config, *short, "-P", "time.end=0.02", "--restart", "--force")
    assert result.returncode == 64 and "exclude each other" in result.stderr, result.stderr
    result = tap.run("run", config, *short, "-P", "time.end=0.02", "--restart",
                     "-P", "watch.energy_error=0.25")
    assert result.returncode == 0, result.stderr
    assert "watch.energy_error was 0.005, is 0.25" in result.stderr, result.stderr


def begin_waiting():
    """A run that waits for its config on standard input, with its handlers in place."""
    process = subprocess.Popen([tap.ORRERY, "run", "-", "-q"], stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    for _ in range(2000):
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except FileNotFoundError:
            raise tap.Skip("no /proc")
        if int(status.split("SigCgt:")[1].split()[0], 16) >> (signal.SIGUSR2 - 1) & 1:
            return process
        time.sleep(0.005)
    process.kill()
    raise AssertionError("no handler before the config is read")


def test_signals_before_the_config_is_read():
    """SIGUSR2 ends no run, however early; SIGTERM ends one that waits for its config with 75"""
    process = begin_waiting()
    process.send_signal(signal.SIGUSR2)
    errors = process.communicate(TWO_BODY, timeout=60)[1]
    assert process.returncode == 0, (process, errors)
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
        process = begin_waiting()
        process.send_signal(number)
        assert process.wait(60) == 75
        errors = process.stderr.read()
        assert f"signal {int(number)} before the run began" in errors, errors
        process.stdin.close()


def test_a_run_that_goes_further_has_no_rows_of_the_old_end():
    config = write(TWO_BODY)
    # The old end, step 317, is on no cadence; the new one is 628.
    assert tap.run("run", config, "-q", "-P", "time.end=3.17").returncode == 0
    rows = pathlib.Path("pair.run/conservation.csv").read_text().splitlines()
    assert rows[-1].startswith("317,"), rows[-1]
    assert tap.run("run", config, "-q", "--restart").returncode == 0
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    same_outputs("pair.run", "whole")
    assert run_json("pair.run")["expect"] == run_json("whole")["expect"]
    # A cadence that fits the old end writes its row.
    assert tap.run("run", config, "-q", "-o", "b", "-P", "time.end=3.17").returncode == 0
    assert tap.run("run", config, "-q", "-o", "b", "--restart", "-P",
                   "diagnostics.0.every=317").returncode == 0
    steps = [row.split(",")[0] for row in
             pathlib.Path("b/conservation.csv").read_text().splitlines()[1:]]
    assert steps == ["0", "50", "100", "150", "200", "250", "300", "317", "628"], steps


def test_files_that_are_changed_while_the_run_goes_on():
    """removed, cut or replaced: 74 at the end, and the file is named"""
    config = write(TWO_BODY.replace("6.28", "1e5"))
    csv = pathlib.Path("pair.run/conservation.csv")

    def other():
        csv.with_name("other").write_bytes(csv.read_bytes())
        csv.with_name("other").rename(csv)

    for change in (csv.unlink, lambda: os.truncate(csv, 100), other):
        process = subprocess.Popen([tap.ORRERY, "run", config, "-q", "--force"],
                                   stderr=subprocess.PIPE, text=True)
        for _ in range(3000):
            try:  # --force removes that of the run before
                if csv.stat().st_size > 4000:
                    break
            except FileNotFoundError:
                pass
            time.sleep(0.01)
        change()
        process.terminate()
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 74 and "conservation.csv" in errors, (process, errors)
        assert run_json("pair.run")["exit_status"] == 74
        csv.unlink(missing_ok=True)
        csv.touch()
    assert tap.run("run", config, "-q", "--force", "-P", "time.end=6.28").returncode == 0


def contents(directory):
    return {p.name: p.read_bytes() for p in pathlib.Path(directory).iterdir()}


def test_a_restart_with_nothing_left_to_do_changes_no_file():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q").returncode == 0
    before = contents("pair.run")
    # Of a --force that was killed before it began.
    pathlib.Path("pair.run/run.json.orrery.tmp").write_text("{")
    result = tap.run("run", config, "--restart")
    assert result.returncode == 0 and "is done already" in result.stderr, result
    assert "step 628, t = 6.28" in result.stderr, result
    assert contents("pair.run") == before
    # The verdict is that of the run.
    assert tap.run("run", config, "-q", "-o", "failed", "-P",
                   "expect.0.at_most=0").returncode == 1
    before = contents("failed")
    assert tap.run("run", config, "-q", "-o", "failed", "--restart", "-P",
                   "expect.0.at_most=0").returncode == 1
    assert contents("failed") == before


def sums_over_legs(about):
    """What run.json says of the whole run must be the sum over its legs."""
    legs = about["legs"]
    for name in ("wall_seconds", "advance_seconds", "cpu_seconds"):
        total = sum(leg[name] for leg in legs)
        assert abs(about[name] - total) <= 1e-9 * total and total > 0, (name, about)
    steps = sum(leg["last_step"] - leg["first_step"] for leg in legs)
    # Two bodies, one force evaluation per step: four ordered pairs.
    assert about["interactions"] == 4 * steps, about
    rate = about["interactions"] / about["advance_seconds"]
    assert abs(about["interactions_per_second"] / rate - 1) < 1e-9, about
    assert all(leg["host"] and leg["started"] and leg["backend"] and leg["threads"] > 0
               for leg in legs), legs
    return [(leg["first_step"], leg["last_step"]) for leg in legs]


def test_a_continued_run_adds_its_legs_up():
    """wall time, CPU time and interactions of run.json are those of all legs of the run"""
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    assert sums_over_legs(run_json("whole")) == [(0, 628)]
    seconds = []
    for end, arguments in ((2.0, ()), (4.0, ("--restart",)), (6.28, ("--restart",))):
        result = tap.run("run", config, "-P", f"time.end={end}", *arguments)
        assert result.returncode == 0, result
        seconds.append(run_json("pair.run")["wall_seconds"])
        told = re.search(r"in all +([0-9.]+) s in (\d+) legs; [0-9.e+-]+ steps/s", result.stdout)
        assert bool(told) == bool(arguments), result.stdout
        if told:
            assert int(told[2]) == len(seconds) and abs(float(told[1]) - seconds[-1]) < 0.01
    # What run.json told of a leg stays as it was told.
    assert 0 < seconds[0] < seconds[1] < seconds[2], seconds
    whole, parts = run_json("whole"), run_json("pair.run")
    assert sums_over_legs(parts) == [(0, 200), (200, 400), (400, 628)]
    # Whole and in parts: equal but for what tells of times, of the parts and of their commands.
    for name in ("started", "written", "wall_seconds", "advance_seconds", "cpu_seconds", "asked",
                 "interactions_per_second", "legs", "restarts", "first_step"):
        whole.pop(name), parts.pop(name)
    assert whole == parts
    # One that is done tells of what it took, and not of the moment that it took to find that out.
    result = tap.run("run", config, "--restart")
    told = re.search(r"wall time +([0-9.]+) s in 3 legs; ", result.stdout)
    assert told and abs(float(told[1]) - seconds[-1]) < 0.01, result.stdout


def test_steps_that_were_lost_are_counted_once():
    """what was computed after the checkpoint of a restart is computed again and counted once"""
    config = write(TWO_BODY)
    arguments = ("run", config, "-q", "-P", "checkpoint.every_steps=100")
    assert tap.run(*arguments, "-P", "time.end=2.5").returncode == 0
    newest = pathlib.Path("pair.run/checkpoint.orr")
    newest.write_bytes(newest.read_bytes()[:-10])  # as if it had been killed before step 250
    assert tap.run(*arguments, "--restart").returncode == 0
    assert sums_over_legs(run_json("pair.run")) == [(0, 200), (200, 628)]


def test_an_end_before_what_was_reached_is_refused():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q").returncode == 0
    assert tap.run("run", config, "-q", "-o", "early", "-P", "time.end=3.17").returncode == 0
    before = contents("pair.run")
    line = 1 + TWO_BODY[:TWO_BODY.index("time =")].count("\n")
    for end, place in (("4", "-P time.end=4"), (None, f"shorter.cfg:{line}: time.end = 4.0")):
        write(TWO_BODY.replace("6.28", "4.0"), "shorter.cfg")
        result = tap.run("run", "shorter.cfg", "--restart", *(["-P", "time.end=4"] if end else []))
        assert result.returncode == 78 and contents("pair.run") == before, result
        assert place in result.stderr and "t = 6.28 (step 628)" in result.stderr, result
    assert tap.run("run", config, "-q", "-o", "early", "--restart", "-P",
                   "time.end=3.1").returncode == 78


def test_the_resolved_config_restarts_a_run_of_bodies_from_a_file():
    pathlib.Path("b.csv").write_text("m,x,y,z,vx,vy,vz\n1,1,0,0,0,0.5,0\n1,-1,0,0,0,-0.5,0\n")
    config = write(TWO_BODY.replace('initial = "two-body"; semi_major_axis = 1.0; '
                                    'eccentricity = 0.0;', 'initial = "file"; file = "b.csv";'))
    assert tap.run("run", config, "-q", "-P", "time.end=3").returncode == 0
    result = tap.run("run", "pair.run/run.cfg", "-q", "--restart", "-P", "time.end=6.28")
    assert result.returncode == 0, result
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    same_outputs("pair.run", "whole")
    # The bodies are those of the checkpoint; a file of others would only give false scales.
    assert tap.run("run", config, "-q", "--force", "-P", "time.end=3").returncode == 0
    pathlib.Path("b.csv").write_text("m,x,y,z,vx,vy,vz\n1,7,0,0,0,0.5,0\n1,-7,0,0,0,-0.5,0\n")
    result = tap.run("run", "pair.run/run.cfg", "-q", "--restart", "-P", "time.end=6.28")
    assert result.returncode == 78, result
    assert "other bytes than when the run began" in result.stderr, result


def test_a_run_that_stop_when_ended_stays_ended():
    config = write(TWO_BODY.replace('"conservation"; every = 50;', '"orbit"; every = 10;')
                   .replace("eccentricity = 0.0", "eccentricity = 0.5").split("expect")[0] +
                   'stop_when = ( { quantity = "separation"; at_least = 1.2; } );')
    assert tap.run("run", config, "-q").returncode == 0
    about = run_json("pair.run")
    assert 0 < about["step"] < 628 and about["ended_by"]
    before = {p.name: p.read_bytes() for p in pathlib.Path("pair.run").iterdir()}
    result = tap.run("run", config, "-q", "--restart")
    assert result.returncode == 0, result
    for name in ("orbit.csv", "trajectory.xyz", "checkpoint.orr", "checkpoint.orr.prev"):
        assert pathlib.Path("pair.run", name).read_bytes() == before[name], name
    again = run_json("pair.run")
    assert (again["step"], again["ended_by"]) == (about["step"], about["ended_by"])
    # Where run.json is written again, it still says why the run is shorter than its config.
    result = tap.run("run", config, "--restart", "-P", "watch.energy_error=0.5")
    again = run_json("pair.run")
    assert result.returncode == 0, result
    assert f"restart: stop_when has ended the run: {about['ended_by']}" in result.stderr, result
    assert re.search(rf"stop_when +{re.escape(about['ended_by'])}\n", result.stdout), result
    assert (again["step"], again["ended_by"]) == (about["step"], about["ended_by"]), again
    # Rows of a last step are written already, so another condition cannot take it back.
    config_now = pathlib.Path("pair.run/run.cfg").read_bytes()
    result = tap.run("run", config, "--restart", "-P", "stop_when.0.at_least=1.4")
    assert result.returncode == 78 and "no other stop_when can continue" in result.stderr, result
    assert pathlib.Path("pair.run/run.cfg").read_bytes() == config_now


def test_a_damaged_checkpoint_is_told_and_not_kept():
    config = write(TWO_BODY)
    arguments = ("run", config, "-q", "-P", "checkpoint.every_steps=100")
    assert tap.run(*arguments, "-P", "time.end=3").returncode == 0
    newest, previous = (pathlib.Path("pair.run", f"checkpoint.orr{end}") for end in ("", ".prev"))
    good, damaged = previous.read_bytes(), newest.read_bytes()[:-10]
    newest.write_bytes(damaged)
    # Step 200 is where the previous one stands; the next save is the one at its end, 250.
    result = tap.run(*arguments, "--restart", "-P", "time.end=2.5")
    assert result.returncode == 0 and "WARNING" in result.stderr, result
    assert "cut short" in result.stderr and "checkpoint.orr.prev" in result.stderr, result
    assert "WARNING" in pathlib.Path("pair.run/run.log").read_text()
    assert previous.read_bytes() == good
    assert run_json("pair.run")["restarts"][0]["checkpoint"] == "checkpoint.orr.prev"
    assert run_json("pair.run")["restarts"][0]["step"] == 200


def test_a_restart_on_a_cpu_with_other_estimates_is_not_bitwise():
    library = ctypes.util.find_library("xxhash")
    if not library:
        raise tap.Skip("no shared library libxxhash was found")
    xxh3 = ctypes.CDLL(library).XXH3_64bits
    xxh3.restype = ctypes.c_uint64

    def seal(content):
        return xxh3(content, ctypes.c_size_t(len(content))).to_bytes(8, "little")

    config = write(TWO_BODY)
    for flips, bitwise in ((0, True), (1, False)):
        assert tap.run("run", config, "-q", "--force", "-P", "time.end=2").returncode == 0
        path = pathlib.Path("pair.run/checkpoint.orr")
        content = path.read_bytes()
        header = content.index(b"build".ljust(56, b"\0"))  # then length and hash, 8 bytes each
        start = header + 72
        end = start + int.from_bytes(content[header + 56:header + 64], "little")
        estimates = re.search(rb"\(1/sqrt ([0-9a-f]{8})\)", content[start:end])
        assert estimates and int(estimates[1], 16) != 0, content[start:end]
        build = content[start:end].replace(estimates[1],
                                           b"%08x" % (int(estimates[1], 16) ^ flips))
        # The last section, "end", holds the hash of all before it.
        before = content[:header + 64] + seal(build) + build + content[end:-80]
        whole = seal(before)
        path.write_bytes(before + content[-80:-16] + seal(whole) + whole)
        result = tap.run("run", config, "--restart", "-P", "time.end=3")
        assert result.returncode == 0 and "step 200 of 300" in result.stderr, result
        assert ("not bitwise" in result.stderr) is not bitwise, result
        assert run_json("pair.run")["bitwise"] is bitwise


def test_restarts_are_recorded():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q", "-P", "time.end=2").returncode == 0
    assert run_json("pair.run")["restarts"] == []
    result = tap.run("run", config, "--restart", "-P", "time.end=4", "-P", "compute.backend=serial")
    assert result.returncode == 0 and "not bitwise" in result.stderr, result
    assert "time.end was 2.0, is 4.0" in result.stderr, result
    # The same kind again, but not all of the run was computed by it.
    for end in (5, 6):
        assert tap.run("run", config, "-q", "--restart", "-P", f"time.end={end}", "-P",
                       "compute.backend=serial").returncode == 0
    about = run_json("pair.run")
    assert [r["step"] for r in about["restarts"]] == [200, 400, 500], about["restarts"]
    assert about["bitwise"] is False and about["first_step"] == 500
    log = pathlib.Path("pair.run/run.log").read_text()
    for line in ("restart: goes on from checkpoint.orr, step 200 of 400", "not bitwise",
                 "restart: time.end was 2.0, is 4.0"):
        assert line in log, (line, log)


def test_nothing_is_trimmed_unless_all_files_are_as_recorded():
    config = write(TWO_BODY)
    assert tap.run("run", config, "-q").returncode == 0
    table, frames = (pathlib.Path("pair.run", n) for n in ("conservation.csv", "trajectory.xyz"))
    whole = table.read_bytes(), frames.read_bytes()
    table.write_bytes(whole[0] + b"half a ro")
    for damaged in (whole[1][:-1], b"3" + whole[1][1:], None):
        if damaged is None:
            frames.unlink()
        else:
            frames.write_bytes(damaged)
        result = tap.run("run", config, "--restart")
        assert result.returncode == 74 and "trajectory.xyz" in result.stderr, result
        assert table.read_bytes() == whole[0] + b"half a ro"
        assert damaged is None or frames.read_bytes() == damaged
        assert run_json("pair.run")["exit_status"] == 0  # still what the run itself said
    frames.write_bytes(whole[1])
    assert tap.run("run", config, "-q", "--restart").returncode == 0
    assert (table.read_bytes(), frames.read_bytes()) == whole


# Steps 0, 200, 400, 600 and, at its end, 628. A run that goes further removes the last one.
SNAPSHOTS = TWO_BODY.replace('"xyz"; every = 100', '"gadget-hdf5"; every = 200')


def test_a_damaged_list_of_files_is_made_anew():
    """--restart replaces a damaged run.json, unless a file is in the way that may be another's"""
    config = write(SNAPSHOTS)
    result = tap.run("run", config, "-q")
    if result.returncode == 69:
        raise tap.Skip("built without HDF5")
    assert result.returncode == 0, result
    last = pathlib.Path("pair.run/snapshot_004.hdf5")
    about = pathlib.Path("pair.run/run.json")
    further = ("run", config, "-q", "--restart", "-P", "time.end=10.0")
    os.truncate(about, 100)
    before = contents("pair.run")
    for _ in range(2):
        result = tap.run(*further)
        assert result.returncode == 73 and f"{last}: is there already" in result.stderr, result
        assert contents("pair.run") == before
    last.unlink()
    assert tap.run(*further).returncode == 0
    assert run_json("pair.run")["step"] == 1000
    # With a list that is whole, the run removes its own file, and nothing in the place of a later
    # one is taken for its own.
    assert tap.run("run", config, "-q", "--force").returncode == 0
    other = pathlib.Path("pair.run/snapshot_005.hdf5")
    other.write_text("mine")
    before = contents("pair.run")
    result = tap.run(*further)
    assert result.returncode == 73 and f"{other}: is there already" in result.stderr, result
    assert contents("pair.run") == before
    other.unlink()
    assert tap.run(*further).returncode == 0
    os.truncate(about, 100)
    result = tap.run("run", config, "--restart", "-P", "time.end=10.0")
    assert result.returncode == 0 and "cannot be read; what it said is lost" in result.stderr
    assert run_json("pair.run")["exit_status"] == 0


tap.main()
