"""A process that is killed or asked to stop, anywhere: the restart ends with the same bytes."""

import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import harness
import tap
from harness import FOREVER, Experiment, Row, call_of, everything, fault, of_each_kind, some

# Some tenths of a second, with a checkpoint every few milliseconds.
# The clock is looked at 140 times before its first step, and 14,000 times in all.
LONG = harness.CONFIG.replace("count = 20", "count = 128").replace("end = 0.4", "end = 20.0")
ARGUMENTS = ("-P", "checkpoint.every_steps=97", "-P", "diagnostics.0.every=3",
             "-P", "diagnostics.1.every=50", "-P", "outputs.0.every=41", "-P",
             "outputs.1.every=37")


# What changes a file, as strace calls it and as the shim does.
CHANGING = {"write": "write", "pwrite64": "write", "writev": "write", "pwritev": "write",
            "fsync": "fsync", "fdatasync": "fsync", "ftruncate": "ftruncate",
            "rename": "rename", "renameat": "rename", "renameat2": "rename", "link": "link",
            "linkat": "link", "unlink": "unlink", "unlinkat": "unlink", "rmdir": "unlink"}


# How often the program looks for control files depends on its speed.
BY_THE_CLOCK = {("unlink", "stop"), ("unlink", "checkpoint")}


def traced(command):
    """The calls that change a file of the folder `counted`, as strace sees them: (call, name)."""
    if harness.SANITIZED or not shutil.which("strace"):
        raise tap.Skip("there is no strace here, or it would meet the sanitizers")
    command = ["strace", "-f", "-y", "-o", "trace", "-e", "trace=" + ",".join(CHANGING), *command]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60 * tap.PATIENCE)
    if result.returncode != 0:
        raise tap.Skip("strace cannot be used here")
    calls = set()
    trace = pathlib.Path("trace").read_text()
    for call, rest in re.findall(r"(?m)^\d+ +(\w+)\((.*counted.*)", trace):
        quoted, descriptor = re.findall(r'"([^"]*)"', rest), re.match(r"\d+<([^>]*)>", rest)
        name = descriptor[1] if CHANGING[call] in ("write", "fsync", "ftruncate") else quoted[-1]
        calls.add((CHANGING[call], os.path.basename(name)))
    return calls


def test_the_shim_sees_every_call():
    """every system call that changes a file of the run, as strace sees it, can be made to fail"""
    experiment = Experiment()
    calls = traced(experiment.command("counted"))
    changing = set(CHANGING.values())
    seen = {(call, os.path.basename(name))
            for call, _, name in (line.partition(" ") for line in experiment.calls())
            if call in changing and name != ".."}  # the parent stands for a path
    assert len(calls) > 20 and calls - BY_THE_CLOCK == seen - BY_THE_CLOCK, calls ^ seen


def kill_at_each_call(row, experiment, calls, what, base=None, arguments=()):
    for nth in calls:
        harness.begin("trial", base)
        result = experiment.run("trial", *arguments, faults=fault(what, nth=nth))
        row.ended(f"{what} at call {nth}", result, (-9, 0))  # 0: a faster one makes fewer calls
        row.finish(f"{what} at call {nth}", experiment, "trial")


def kill_at_random(row, experiment, trials, generator, threads=None):
    """Kills up to three processes of each run; `threads` gives a process its number of them."""
    start, last = time.monotonic(), row.trials + trials
    experiment.run("timed")
    duration = time.monotonic() - start
    while row.trials < last:
        harness.begin("trial")
        restart = []
        for number in range(3):
            team = ["-P", f"compute.threads={threads()}"] if threads else []
            process = subprocess.Popen(experiment.command("trial", *restart, *team),
                                       stderr=subprocess.PIPE, text=True)
            time.sleep(generator.uniform(0.0, duration))
            process.kill()
            process.stderr = process.communicate()[1]
            trial = f"kill {row.trials + 1}, process {number + 1} of its run"
            if process.returncode == 0:
                break
            row.ended(trial, process, (-9,))
            if pathlib.Path("trial/run.json").exists():
                restart = ["--restart"]
        row.finish(trial, experiment, "trial")


def test_random_kills():
    """SIGKILL at random moments, up to three times a run"""
    with Row(2, "SIGKILL at a random moment, up to three times a run") as row:
        kill_at_random(row, Experiment(LONG, *ARGUMENTS), 100 if everything() else 8,
                       random.Random(20))


# Steps of one's own, a shadow that goes along, and rows of every grid step or of every seventh.
OWN_STEPS = """
name = "own";
bodies = { initial = "plummer"; count = 12; seed = 7; };
physics = { softening = 0.02; };
time = { integrator = "%s"; step = 0.0625; end = 12.0; };
trust = { shadow = true; };
diagnostics = ( { type = "conservation"; every = %d; }, { type = "own-steps"; every = %d; } );
outputs = ( { type = "xyz"; every = 16; digits = 17; } );
checkpoint = { every_steps = 5; };
ensemble = { systems = %d; };
"""


def test_random_kills_of_steps_of_their_own():
    """gauss-radau and hermite4, killed at random, with 1 to 5 threads, alone and in an ensemble"""
    generator = random.Random(21)
    files = ("conservation.csv", "own-steps.csv", "trust.csv", "trajectory.xyz")
    with Row(2, "the same, with integrators that choose their steps, on 1 to 5 threads") as row:
        kinds = (("hermite4", 5), ("gauss-radau", 5), ("hermite4", 1), ("gauss-radau", 1))
        for integrator, systems in kinds if everything() else kinds[:1]:
            motion = set()
            for every in (1, 7):
                config = OWN_STEPS % (integrator, every, every, systems)
                experiment = Experiment(config, files=files)
                motion.add(experiment.whole["trajectory.xyz"])
                kill_at_random(row, experiment, 12 if everything() else 1, generator,
                               lambda: generator.randint(1, 5))
            if len(motion) != 1:
                row.problem(f"{integrator}, {systems} systems", "rows change the motion")


def test_a_kill_at_each_call():
    """SIGKILL at each system call of a whole run, its checkpoints included"""
    experiment = Experiment()
    calls = experiment.calls()
    assert sum("checkpoint.orr" in call for call in calls) > 100, len(calls)
    with Row(3, "SIGKILL at each system call of a run with five checkpoints") as row:
        kill_at_each_call(row, experiment, of_each_kind(calls, 2, call_of), "kill")


def test_a_torn_write():
    """SIGKILL in the middle of each write"""
    experiment = Experiment()
    calls = experiment.calls(calls="write")
    with Row(3, "SIGKILL in the middle of each write") as row:
        for nth in some(range(1, len(calls) + 1), 8):
            harness.begin("trial")
            result = experiment.run("trial", faults=fault("torn", nth=nth, calls="write"))
            row.ended(f"write {nth}", result, (-9,))
            row.finish(f"write {nth}", experiment, "trial")


def test_a_compressed_trajectory():
    """SIGKILL at the system calls that pack a trajectory, and that unpack it for a restart"""
    experiment = Experiment(harness.CONFIG.replace("digits = 17", "digits = 17; compress = true"),
                            files=(*harness.FILES[:2], "trajectory.xyz.gz"))
    calls = experiment.calls()
    first = next(n for n, call in enumerate(calls, 1) if ".gz" in call)
    with Row(2, "SIGKILL at each system call after the last step of a run with a compressed "
             "trajectory") as row:
        kill_at_each_call(row, experiment, some(range(first - 4, len(calls) + 1), 6), "kill")
    harness.begin("short")
    assert experiment.run("short", "-P", "time.end=0.24").returncode == 0
    calls = experiment.calls(["--restart"], "short")
    with Row(2, "SIGKILL at each system call of a restart that unpacks a trajectory") as row:
        kill_at_each_call(row, experiment, some(range(1, len(calls) + 1), 6), "kill", "short",
                          ["--restart"])


def killed_run(experiment):
    """A run that was killed behind its second checkpoint, with rows beyond it."""
    writes = experiment.calls(calls="rename", file="checkpoint.orr")
    assert len(writes) >= 4, writes
    harness.begin("killed")
    result = experiment.run("killed", faults=fault("kill", nth=4, calls="rename",
                                                   file="checkpoint.orr"))
    assert result.returncode == -9 and harness.newest_step("killed") == 24, result
    return "killed"


def test_a_kill_at_each_call_of_a_restart():
    """SIGKILL at each system call of a restart"""
    experiment = Experiment()
    base = killed_run(experiment)
    calls = experiment.calls(["--restart"], base)
    with Row(2, "SIGKILL at each system call of a restart") as row:
        kill_at_each_call(row, experiment, of_each_kind(calls, 1, call_of), "kill", base,
                          ["--restart"])


def test_a_kill_while_an_old_run_is_removed():
    """SIGKILL at each system call of run --force until the old files are gone, then --restart"""
    experiment = Experiment()
    shutil.copytree("whole", "old")
    calls = experiment.calls(["--force"], "old")
    last = calls.index(next(call for call in calls if call.startswith("unlink run.json"))) + 1
    assert sum(call.startswith("unlink ") for call in calls[:last]) > 6, calls[:last]
    numbers = [n for n, call in enumerate(calls[:last], 1) if call.startswith("unlink ")]
    with Row(2, "SIGKILL at each system call of run --force that removes the old run") as row:
        kill_at_each_call(row, experiment, range(1, last + 1) if everything() else numbers,
                          "kill", "old", ["--force"])
    # What was proved of the old run is not true of the one that begins in its place.
    assert tap.run("verify", "old").returncode == 0 and "verified" in harness.about_run("old")
    harness.begin("trial", "old")
    assert experiment.run("trial", "--force", faults=fault("kill", nth=last)).returncode == -9
    assert experiment.run("trial", "--restart").returncode == 0
    assert "verified" not in harness.about_run("trial"), harness.about_run("trial")


def test_what_a_run_remembers():
    """failed criteria, jumps and systems left out: the same run.json, whole, in parts or killed"""
    experiment = Experiment(harness.FAILING, files=harness.FAILING_FILES, status=1)
    # That much there is to forget: 5 criteria of which 4 fail, one of them without a row.
    criteria, watch = experiment.verdict["expect"], experiment.verdict["watch"]
    assert [c["holds"] for c in criteria] == [False, True, False, False, False], criteria
    assert [c["rows"] > 0 for c in criteria] == [True, True, True, True, False], criteria
    assert watch["energy_jumps"] > 3 and experiment.verdict["verdict"] == "failed", watch
    ensemble = experiment.verdict["diagnostics"]["conservation-ensemble"]
    assert ensemble["systems"] == 2 and ensemble["left_out"] == 3, ensemble
    # Ends on no cadence, the first jump at t = 0.6 and the last at 2.4.
    with Row(2, "a run with failing criteria, ended early and continued: the same run.json") as row:
        for ends in some(((0.428, 1.7), (0.01,), (2.988,), (0.65, 1.1, 2.43)), 2):
            harness.begin("trial")
            arguments = []
            for end in ends:
                result = experiment.run("trial", *arguments, "-P", f"time.end={end}")
                row.ended(f"end {end}", result, (0, 1))
                arguments = ["--restart"]
            row.finish(f"ends {ends}", experiment, "trial")
    renames = experiment.calls(calls="rename", file="checkpoint.orr")
    with Row(2, "a run with failing criteria, killed: the same run.json") as row:
        # The third run.json is the last word: all there is to say must be in the checkpoint.
        kills = [(nth, "checkpoint.orr") for nth in some(range(3, len(renames) + 1), 2)]
        for nth, file in [*kills, (3, "run.json")]:
            harness.begin("trial")
            result = experiment.run("trial", faults=fault("kill", nth=nth, calls="rename",
                                                          file=file))
            row.ended(f"rename {nth} of {file}", result, (-9,))
            row.finish(f"rename {nth} of {file}", experiment, "trial")
    with Row(1, "a run with failing criteria, stopped by a signal: the same run.json") as row:
        for nth in some(range(2, len(renames)), 2):
            harness.begin("trial")
            result = experiment.run("trial", faults=fault("signal", int(signal.SIGTERM), nth,
                                                          calls="rename", file="checkpoint.orr"))
            row.ended(f"rename {nth}", result, (75,))
            row.finish(f"rename {nth}", experiment, "trial")


def test_signals_at_each_call():
    """SIGTERM, SIGINT, SIGUSR1: a checkpoint and 75, wherever they come"""
    experiment = Experiment()
    # Not before the program has its handlers, nor after it has given them back.
    calls = experiment.calls()
    first = next(n for n, call in enumerate(calls, 1) if call.startswith("mkdir"))
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
    with Row(1, "SIGTERM, SIGINT or SIGUSR1 at each system call of a run") as row:
        for nth in some(range(first, len(calls) + 1), 8):
            number = numbers[nth % 3]
            harness.begin("trial")
            result = experiment.run("trial", faults=fault("signal", int(number), nth))
            trial = f"{number.name} at call {nth}"
            row.ended(trial, result, (0, 75))
            if result.returncode == 75:
                row.finish(trial, experiment, "trial")
            else:
                row.compare(trial, experiment, "trial")


def test_a_checkpoint_on_demand():
    """SIGUSR2 at each system call: a checkpoint, and the run goes on"""
    experiment = Experiment()
    calls = experiment.calls()
    first = next(n for n, call in enumerate(calls, 1) if call.startswith("mkdir"))
    with Row(1, "SIGUSR2 at each system call of a run") as row:
        for nth in some(range(first, len(calls) + 1), 4):
            harness.begin("trial")
            row.ended(f"call {nth}", experiment.run(
                "trial", faults=fault("signal", int(signal.SIGUSR2), nth)), (0,))
            row.compare(f"call {nth}", experiment, "trial")


def test_a_second_sigint():
    """a second SIGINT ends it at once"""
    experiment = Experiment()
    with Row(1, "SIGINT at every system call: the second one ends it at once") as row:
        for nth in some(range(20, 200, 6), 3):
            harness.begin("trial")
            result = experiment.run("trial", faults=fault("signal", int(signal.SIGINT), nth,
                                                          FOREVER))
            row.ended(f"from call {nth}", result, (-2,))
            row.finish(f"from call {nth}", experiment, "trial")


def test_clocks_that_jump():
    """clocks that jump an hour or a year, ahead or back"""
    experiment = Experiment(LONG, *ARGUMENTS, "-P", "checkpoint.every_minutes=5.0")
    jumps = [(seconds, clock, nth) for seconds in (3600, -3600, 31536000, -31536000)
             for clock in ("-", "realtime") for nth in range(1, 300, 20)]
    with Row(2, "clocks that jump an hour or a year, ahead or back") as row:
        for seconds, clock, nth in some(jumps, 4):
            harness.begin("trial")
            trial = f"{seconds} s at look {nth}, {clock}"
            row.ended(trial, experiment.run(
                "trial", faults=fault("clock", seconds, nth, 1, "clock", clock)), (0,))
            row.compare(trial, experiment, "trial")


def test_checkpoints_by_the_clock():
    """every_minutes: a checkpoint when so much time has passed, once, and no sooner"""
    experiment = Experiment(LONG, *ARGUMENTS[2:])

    def saved(name, *arguments, jump=None):
        """How many checkpoints are written when the clock jumps so far in the middle of a run."""
        harness.begin(name)
        log = pathlib.Path("calls.log")
        log.unlink(missing_ok=True)
        result = experiment.run(name, "-P", "checkpoint.every_steps=1000000", *arguments, faults={
            **fault("clock", jump, 400, 1, "clock,rename"), "ORRERY_FAULT_LOG": "calls.log"})
        assert result.returncode == 0, result
        return sum(line.endswith(" checkpoint.orr") for line in log.read_text().splitlines())

    with Row(2, "checkpoints every few minutes, while the clock jumps") as row:
        # Unset, it is 10 minutes.
        for minutes, jump, expected in ((5, 0, 2), (5, 150, 2), (5, 450, 3), (5, 86400, 3),
                                        (5, -86400, 2), (None, 450, 2), (None, 750, 3)):
            harness.begin("trial")
            arguments = () if minutes is None else ("-P", f"checkpoint.every_minutes={minutes}.0")
            count = saved("trial", *arguments, jump=jump)
            row.trials += 1
            row.ends["0"] += 1
            if count != expected:
                row.problem(f"{minutes} minutes, {jump} s", f"{count} checkpoints")
            row.compare(f"{minutes} minutes, {jump} s", experiment, "trial")


def test_a_time_limit():
    """a time limit that is over at any moment: 75 with a checkpoint"""
    experiment = Experiment(LONG, *ARGUMENTS)
    with Row(1, "a time limit that runs out at one of many moments") as row:
        for nth in some(range(1, 240, 6), 4):
            harness.begin("trial")
            result = experiment.run("trial", "--max-time", "60",
                                    faults=fault("clock", 3600, nth, 1, "clock", "-"))
            row.ended(f"at look {nth}", result, (0, 75))
            if result.returncode == 75 and os.path.exists("trial"):
                row.finish(f"at look {nth}", experiment, "trial")


def gpu_experiment():
    program = os.path.join(harness.BUILD, "validation/gpu/orrery")
    if not os.path.exists(program):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    return Experiment(harness.CONFIG, "-P", "compute.backend=cuda", program=program)


def test_kills_on_the_gpu_backend():
    """SIGKILL at system calls of a run on the GPU backend"""
    experiment = gpu_experiment()
    calls = experiment.calls()
    with Row(2, "SIGKILL at system calls of a run on the GPU backend") as row:
        numbers = range(1, len(calls) + 1, 5 if everything() else 1)
        kill_at_each_call(row, experiment, some(numbers, 4), "kill")


if __name__ == "__main__":
    tap.main()
