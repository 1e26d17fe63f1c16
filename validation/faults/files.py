"""Disks that fill, calls that fail, files that changed: an error, the old state, no row lost."""

import errno
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

import harness
import tap
from harness import FOREVER, Experiment, Row, call_of, everything, fault, of_each_kind, some

FAILED = (66, 73, 74)  # what a process may say of a file that it cannot read, create or write
ERRORS = (errno.EIO, errno.ENOSPC)


def holds_together(row, trial, experiment, result, expected=FAILED):
    """
    After a process with a failing call: it says so, or its outputs are whole. What it says names a
    file and the error; then a restart without faults finishes the run.
    """
    row.ended(trial, result, (0, *expected))
    if result.returncode == 0:
        row.compare(trial, experiment, "trial")
        litter = list(pathlib.Path("trial").glob("*.tmp"))
        if litter:
            row.problem(trial, f"litter: {litter}")
        return
    if ": " not in result.stderr:
        row.problem(trial, f"no word of what failed: {result.stderr!r}")
    if harness.newest_step("trial") is None and not pathlib.Path("trial/run.json").exists():
        harness.begin("trial")  # it never was a run
    row.finish(trial, experiment, "trial")


# What these calls did not do is lost, whatever comes later; and of a file that was written, close()
# may be the first to say that its bytes did not arrive.
NEEDED = ("write", "fsync", "rename", "link", "ftruncate")


def is_needed(line, base=None):
    """Must a run that goes on after this call has failed say so, or do it again? Of a restart of
    `base` the first temporary file may be one that it finds there and removes."""
    call, _, path = line.partition(" ")
    name = os.path.basename(path)
    if name == "run.lock":
        return False
    written = (".csv", ".xyz") if base else (".csv", ".xyz", ".tmp")
    return call in NEEDED or (call == "close" and name.endswith(written))


def each_call_fails(row, experiment, numbers, calls, base=None, arguments=(), times=1):
    for nth in numbers:
        number = ERRORS[nth % 2]
        line = calls[nth - 1]
        call, _, path = line.partition(" ")
        # How often control files are looked for depends on the clock: a call of which something is
        # demanded is counted among those of its kind.
        needed = times == 1 and is_needed(line, base)
        selection = (calls[:nth].count(line), times, call, os.path.basename(path).replace(
            "counted", "trial")) if needed else (nth, times)
        harness.begin("trial", base)
        result = experiment.run("trial", *arguments, faults=fault("error", number, *selection))
        trial = f"{errno.errorcode[number]} at call {nth}, {line}"
        if result.returncode == 0 and needed and \
                "trying once more" not in pathlib.Path("trial/run.log").read_text():
            row.problem(trial, "silent")
        holds_together(row, trial, experiment, result)


def test_each_call_fails_once():
    """EIO or ENOSPC at each system call of a run, once"""
    experiment = Experiment()
    calls = experiment.calls()
    with Row(5, "EIO or ENOSPC at each system call of a run, once") as row:
        kinds = of_each_kind(calls, kind=lambda line: line if is_needed(line) else call_of(line))
        each_call_fails(row, experiment, kinds, calls)


def test_calls_fail_from_then_on():
    """EIO or ENOSPC at all calls from each one on"""
    experiment = Experiment()
    calls = experiment.calls()
    with Row(5, "EIO or ENOSPC at a system call and at all later ones, for each call") as row:
        each_call_fails(row, experiment, of_each_kind(calls, kind=call_of), calls, times=FOREVER)


def test_each_call_of_a_restart_fails():
    """EIO or ENOSPC at each system call of a restart"""
    experiment = Experiment()
    harness.begin("killed")
    experiment.run("killed", faults=fault("kill", nth=4, calls="rename", file="checkpoint.orr"))
    calls = experiment.calls(["--restart"], "killed")
    with Row(5, "EIO or ENOSPC at each system call of a restart, once") as row:
        each_call_fails(row, experiment, of_each_kind(calls, kind=call_of), calls, "killed",
                        ["--restart"])


def test_a_trajectory_that_cannot_be_packed():
    """an error while a trajectory is packed: 74, and the plain one is still there"""
    experiment = Experiment(harness.CONFIG.replace("digits = 17", "digits = 17; compress = true"),
                            files=(*harness.FILES[:2], "trajectory.xyz.gz"))
    calls = experiment.calls()
    packing = [line for line in calls if "trajectory.xyz.gz" in line]
    assert {line.partition(" ")[0] for line in packing} >= {"open", "write", "fsync", "rename"}
    with Row(5, "EIO or ENOSPC while a trajectory is packed") as row:
        numbers = [nth for nth in of_each_kind(calls) if calls[nth - 1] in packing]
        each_call_fails(row, experiment, numbers, calls)


def test_a_checkpoint_that_cannot_be_written():
    """an error while a checkpoint is written: one retry, then 74, and the old one stays"""
    experiment = Experiment()
    steps = [("write", "checkpoint.orr.orrery.tmp"), ("fsync", "checkpoint.orr.orrery.tmp"),
             ("close", "checkpoint.orr.orrery.tmp"), ("open", "checkpoint.orr.orrery.tmp"),
             ("link", "checkpoint.orr.prev"), ("rename", "checkpoint.orr")]
    trials = []
    for call, file in steps:
        count = len(experiment.calls(calls=call, file=file))
        # The first checkpoint is of step 0; what fails is one behind it.
        trials += some([(call, file, nth, number) for number in ERRORS
                        for nth in (range(count // 4 + 1, count + 1) if count > 6 else (2, 3))], 1)
    with Row(4, "EIO or ENOSPC once while a checkpoint is written: tried again") as row:
        for call, file, nth, number in trials:
            harness.begin("trial")
            trial = f"{errno.errorcode[number]} at {call} {nth}"
            result = experiment.run("trial", faults=fault("error", number, nth, 1, call, file))
            row.ended(trial, result, (0,))
            row.compare(trial, experiment, "trial")
            if "trying once more" not in pathlib.Path("trial/run.log").read_text():
                row.problem(trial, "no word of it in the log")
    with Row(4, "EIO or ENOSPC whenever a checkpoint is written: 74, the old one intact") as row:
        for call, file, nth, number in trials:
            harness.begin("trial")
            trial = f"{errno.errorcode[number]} from {call} {nth} on"
            result = experiment.run("trial", faults=fault("error", number, nth, FOREVER, call,
                                                          file))
            row.ended(trial, result, (74,))
            if os.strerror(number) not in result.stderr or "checkpoint.orr" not in result.stderr:
                row.problem(trial, f"no file and errno: {result.stderr!r}")
            if pathlib.Path("trial/checkpoint.orr.orrery.tmp").exists():
                row.problem(trial, "litter: checkpoint.orr.orrery.tmp")
            row.finish(trial, experiment, "trial")


def test_short_writes_and_reads():
    """write() and read() that move only a part change nothing"""
    experiment = Experiment()
    with Row(5, "every write and read moves half of its bytes only") as row:
        for nth in some(range(1, 200, 10), 3):
            harness.begin("trial")
            row.ended(f"from call {nth}", experiment.run(
                "trial", faults=fault("short", 0, nth, FOREVER, "write,read")), (0,))
            row.compare(f"from call {nth}", experiment, "trial")


def test_a_disk_that_fills():
    """half of a write, then ENOSPC for each output"""
    experiment = Experiment()
    names = (*harness.FILES, "run.log", "run.json.orrery.tmp", "run.cfg.orrery.tmp")
    trials = [(name, nth) for name in names
              for nth in range(1, len(experiment.calls(calls="write", file=name)) + 1)]
    with Row(5, "the disk is full in the middle of a write to a table, trajectory or log") as row:
        for name, nth in some(trials, 8):
            harness.begin("trial")
            result = experiment.run("trial", faults=fault("full", errno.ENOSPC, nth, FOREVER,
                                                          "write", name))
            trial = f"{name}, write {nth}"
            if result.returncode == 0:
                row.problem(trial, "success on a full disk")
            holds_together(row, trial, experiment, result)


def test_a_file_size_limit():
    """files that cannot grow beyond a limit"""
    experiment = Experiment()
    largest = max(len(content) for content in experiment.whole.values())
    with Row(5, "files that cannot grow beyond a limit (RLIMIT_FSIZE)") as row:
        for limit in some(range(100, largest, 997), 6):
            harness.begin("trial")

            def limited():
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

            result = experiment.run("trial", preexec_fn=limited)
            if result.returncode == 0:
                row.problem(f"{limit} bytes", "success")
            holds_together(row, f"{limit} bytes", experiment, result)


# A disk of its own, on which a run of which a half is done finds this number of kilobytes free.
SMALL_DISK = """
set -e
mkdir -p disk && mount -t tmpfs -o size=2m orrery-test disk
cp -a "$1" disk/trial
head -c 8m /dev/zero >disk/ballast 2>/dev/null || true
truncate -s -"$2" disk/ballast
shift 2
set +e
"$@"
status=$?
rm disk/ballast
cp -a disk/trial trial
exit $status
"""


def unshare():
    """A command with mounts of its own, or a skip."""
    for command in (["unshare", "-m"], ["unshare", "-r", "-m"]):
        if shutil.which("unshare") and subprocess.run(
                [*command, "sh", "-c", "mkdir -p disk && mount -t tmpfs orrery-test disk"],
                capture_output=True).returncode == 0:
            return command
    raise tap.Skip("no tmpfs can be mounted here")


def test_a_small_disk():
    """a tmpfs that is full after some kilobytes"""
    command = unshare()
    experiment = Experiment()
    harness.begin("half")
    assert experiment.run("half", "-P", "time.end=0.05").returncode == 0
    with Row(5, "a file system (tmpfs) that is full after some kilobytes") as row:
        for kilobytes in some(range(0, 64, 4), 4):
            harness.begin("trial")
            run = experiment.command("disk/trial", "--restart")
            result = subprocess.run([*command, "sh", "-c", SMALL_DISK, "sh", "half",
                                     str(4096 + 1024 * kilobytes), *run],
                                    capture_output=True, text=True, timeout=60 * tap.PATIENCE,
                                    env=harness.environment())
            holds_together(row, f"{kilobytes} kB", experiment, result)


def test_a_standard_output_that_is_full_or_closed():
    """standard output that is /dev/full, closed, or a pipe that nobody reads: the run goes on"""
    experiment = Experiment()
    ways = {"closed": ">&-", "/dev/full": ">/dev/full", "a closed pipe": "| true",
            "nothing open": "<&- >&- 2>&-", "both full": ">/dev/full 2>/dev/full"}
    with Row(9, "standard output full, closed, or a pipe that nobody reads") as row:
        for name, way in ways.items():
            harness.begin("trial")
            command = " ".join(f"'{word}'" for word in experiment.command("trial") if word != "-q")
            result = subprocess.run(["sh", "-c", f"({command}) {way}"], capture_output=True,
                                    text=True, env=harness.environment())
            row.ended(name, result, (74,) if "full" in name else (0,))
            row.compare(name, experiment, "trial")


def damage_longer(path):
    with open(path, "ab") as file:
        file.write(b"99,half a ro")


def damage_shorter(path):
    os.truncate(path, os.path.getsize(path) // 2)


def damage_changed(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)


def test_outputs_that_changed():
    """outputs longer than recorded are trimmed; shorter, missing or changed: 74, untouched"""
    experiment = Experiment()
    assert experiment.run("half", "-P", "time.end=0.24").returncode == 0
    with Row(7, "an output longer than the checkpoint says: trimmed") as row:
        for name in harness.FILES:
            harness.begin("trial", "half")
            damage_longer(pathlib.Path("trial", name))
            row.ended(name, experiment.run("trial", "--restart"), (0,))
            row.compare(name, experiment, "trial")
    with Row(7, "an output shorter, missing or changed: 74, nothing touched") as row:
        for name in harness.FILES:
            for damage in (damage_shorter, damage_changed, os.unlink):
                harness.begin("trial", "half")
                damage(pathlib.Path("trial", name))
                before = harness.contents("trial")
                trial = f"{name}, {damage.__name__}"
                row.ended(trial, experiment.run("trial", "--restart"), (74,))
                if harness.contents("trial") != before:
                    row.problem(trial, "something was touched")
                if pathlib.Path("half", name).exists():
                    shutil.copy(f"half/{name}", f"trial/{name}")
                row.finish(trial, experiment, "trial")


def test_a_second_process():
    """a second process in the same directory: 73 with the process that holds it; nothing touched"""
    experiment = Experiment()
    with Row(9, "a second process in the directory of a run: 73") as row:
        for arguments in some(((), ("--restart",), ("--force",)), 1):
            harness.begin("trial")
            # The first one stops itself in the middle of its second checkpoint.
            first = subprocess.Popen(
                experiment.command("trial"), stderr=subprocess.PIPE, text=True,
                env=harness.environment(fault("signal", int(signal.SIGSTOP), 70,
                                              file="checkpoint.orr.orrery.tmp")))
            while "(orrery) T" not in pathlib.Path(f"/proc/{first.pid}/stat").read_text():
                assert first.poll() is None, first.communicate()
                time.sleep(0.01)
            before = harness.contents("trial")
            second = experiment.run("trial", *arguments)
            trial = f"run {' '.join(arguments)}"
            row.ended(trial, second, (73,))
            if arguments and f"process {first.pid} on " not in second.stderr:
                row.problem(trial, f"the holder is not named: {second.stderr!r}")
            if harness.contents("trial") != before:
                row.problem(trial, "something was touched")
            first.send_signal(signal.SIGCONT)
            first.communicate(timeout=60 * tap.PATIENCE)
            if first.returncode != 0:
                row.problem(trial, f"the first one ended with {first.returncode}")
            row.compare(trial, experiment, "trial")


tap.main()
