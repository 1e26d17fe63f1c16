"""Sweeps and convergence tests that are killed, struck by errors, or not alone in their folder."""

import errno
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import harness
import kills
import memory
import tap
from harness import FOREVER, Row, Study, everything, fault, some

ERRORS = (errno.EIO, errno.ENOSPC)
FAILED = (66, 73, 74)
# What the command says when a process of it was killed: of its own, or of a member.
KILLED = (-9, 70, 71, 73, 74, 75)


def convergence():
    """The experiment of the sweep, with three steps. Its shortest one takes 40 of them."""
    return Study(harness.SWEEP[:harness.SWEEP.index("sweep")], "--convergence")


def disturbed(row, study, trial, expected, faults, base=None):
    """
    A study with a fault, in a folder where others have files. What it calls a success is the
    undisturbed study; whatever it was, the same command finishes it.
    """
    harness.plant("trial", base)
    before = harness.planted("trial")
    result = study.run("trial", faults=faults)
    row.ended(trial, result, expected)
    if result.returncode in (0, 1):
        if study.changed_files("trial") != (0, 0, []):
            row.is_wrong(trial, f"success, but {study.changed_files('trial')[2]} differ")
    elif result.returncode > 0 and not re.search(": |memory|Thread creation|stopped by signal",
                                                 result.stderr):
        row.problem(trial, f"no word of what failed: {result.stderr!r}")
    row.complete(trial, study, "trial")
    row.untouched(trial, before, harness.planted("trial"))


def at_each_call(row, study, what, numbers, expected, times=1):
    for nth in numbers:
        value = ERRORS[nth % 2] if what == "error" else 0
        name = errno.errorcode[value] if value else what
        disturbed(row, study, f"{name} at call {nth}", expected, fault(what, value, nth, times))


def test_the_shim_sees_every_call():
    """every system call that changes a file of a study, as strace sees it, can be made to fail"""
    if harness.SANITIZED or not shutil.which("strace"):
        raise tap.Skip("there is no strace here, or it would meet the sanitizers")
    for make in (Study, convergence):
        study = make()
        calls = [line.partition(" ") for line in study.calls()]
        seen = {(call, os.path.basename(name)) for call, _, name in calls}
        harness.begin("counted")
        traced = kills.traced(study.command("counted"))
        assert ("rename", "study.csv") in traced, traced
        assert not traced - seen - kills.BY_THE_CLOCK, traced - seen


def test_kills():
    """SIGKILL at each system call of a sweep: of one process, or of all at once"""
    study = Study()
    numbers = range(1, len(study.calls()) + 1)
    with Row(11, "a sweep, at each system call SIGKILL of the calling process") as row:
        at_each_call(row, study, "kill", some(numbers, 2), (0, *KILLED))
    with Row(11, "a sweep, SIGKILL of all its processes at each system call") as row:
        at_each_call(row, study, "killall", some(numbers[::2 if everything() else 1], 2), (0, -9))


def test_kills_while_old_runs_are_removed():
    """SIGKILL at each removal of a sweep with --force: no run without its files counts as done"""
    study = Study()
    shutil.copytree("whole", "old")
    calls = study.calls(["--force"], "old")
    last = max(n for n, call in enumerate(calls[:len(calls) // 2], 1)
               if call.startswith("unlink ") and "conservation.csv" in call)
    numbers = [n for n, call in enumerate(calls[:last + 5], 1) if call.startswith("unlink ")]
    assert len(numbers) > 20, calls[:last]
    with Row(11, "a sweep, SIGKILL at each removal of its old runs by --force") as row:
        for nth in numbers if everything() else some(numbers, 8):
            harness.begin("trial", "old")
            row.ended(f"call {nth}", study.run("trial", "--force", faults=fault("kill", nth=nth)),
                      (-9,))
            row.complete(f"call {nth}", study, "trial")
            missing = sorted(str(path.relative_to("old")) for path in pathlib.Path("old").rglob("*")
                             if not pathlib.Path("trial", path.relative_to("old")).exists())
            if missing:
                row.problem(f"call {nth}", f"missing: {missing}")


def long_study():
    """One with members side by side, and how many seconds it takes."""
    study = Study(harness.SWEEP.replace("count = 12", "count = 64").replace("end = 0.1", "end = 2"),
                  "-P", "checkpoint.every_steps=7", cores=2)
    start = time.monotonic()
    study.run("timed")
    return study, time.monotonic() - start


def test_random_kills():
    """SIGKILL at random moments, up to three times a study, with members side by side"""
    generator = random.Random(15)
    study, duration = long_study()
    with Row(11, "a sweep, SIGKILL at a random moment, up to three times") as row:
        while row.trials < (150 if everything() else 1):
            harness.plant("trial")
            before = harness.planted("trial")
            for number in range(3):
                trial = f"kill {row.trials + 1}, command {number + 1} of its study"
                process = subprocess.Popen(study.command("trial"), stderr=subprocess.PIPE,
                                           text=True, start_new_session=True)
                time.sleep(generator.uniform(0.0, duration))
                # The members outlive the command, or do not.
                if generator.random() < 0.5:
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
                process.stderr = process.communicate()[1]
                if process.returncode == 0:
                    break
                row.ended(trial, process, (-9,))
            row.complete(trial, study, "trial")
            row.untouched(trial, before, harness.planted("trial"))


def test_failing_calls():
    """EIO or ENOSPC at each system call of a sweep, once and from then on"""
    study = Study()
    calls = study.calls()
    numbers = range(1, len(calls) + 1)
    # A sample: one that is not a write, of each kind, on the table and on the list of its files.
    sample = [nth for nth in harness.of_each_kind(calls) if re.fullmatch(
        r"(open|fsync|close|rename) study\.(csv|json)(\.orrery\.tmp)?", calls[nth - 1])]
    assert len(sample) >= 6, [calls[nth - 1] for nth in sample]
    with Row(11, "a sweep, EIO or ENOSPC at each system call, once") as row:
        at_each_call(row, study, "error", numbers if everything() else some(sample, 6),
                     (0, *FAILED))
    with Row(11, "a sweep, EIO or ENOSPC at a system call and at all later ones, for each "
             "call") as row:
        numbers = some(range(1, len(numbers) + 1, 5 if everything() else 1), 1)
        at_each_call(row, study, "error", numbers, (0, *FAILED), FOREVER)


def test_a_disk_that_fills():
    """half of a write to each file of a study, then ENOSPC"""
    study = Study()
    writes = study.calls(calls="write")
    with Row(11, "a sweep, the disk is full in the middle of a write") as row:
        for nth in some(range(1, len(writes) + 1, 3 if everything() else 1), 1):
            disturbed(row, study, f"write {nth}", (0, *FAILED),
                      fault("full", errno.ENOSPC, nth, FOREVER, "write"))


def test_signals():
    """SIGTERM, SIGINT, SIGUSR1 at each system call of a sweep: 75; SIGUSR2: it goes on"""
    study = Study()
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2)
    with Row(11, "a sweep, SIGTERM, SIGINT, SIGUSR1 or SIGUSR2 at each system call") as row:
        calls = study.calls()
        for nth in some(range(1, len(calls) + 1, 3 if everything() else 1), 1):
            number = numbers[nth // 2 % 4]
            expected = (0,) if number == signal.SIGUSR2 else (0, 75)
            disturbed(row, study, f"{number.name} at call {nth}", expected,
                      fault("signal", int(number), nth))


def test_signals_to_the_command():
    """SIGTERM, SIGINT, SIGUSR1 to the command at random moments: 75; SIGUSR2: it goes on"""
    generator = random.Random(16)
    study, duration = long_study()
    numbers = (signal.SIGUSR2, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
    with Row(11, "a sweep, SIGTERM, SIGINT, SIGUSR1 or SIGUSR2 to its command alone") as row:
        for k in range(100 if everything() else 2):
            harness.plant("trial")
            before = harness.planted("trial")
            moment = generator.uniform(0.0, duration)
            process = subprocess.Popen(study.command("trial"), stderr=subprocess.PIPE, text=True,
                                       start_new_session=True)
            while process.poll() is None and not os.path.exists("trial/study.json"):
                time.sleep(0.002)  # earlier ones come at system calls: here it may have no main()
            time.sleep(moment)
            process.send_signal(numbers[k % 4])
            process.stderr = process.communicate(timeout=60 * tap.PATIENCE)[1]
            trial = f"{numbers[k % 4].name} after {moment} s"
            row.ended(trial, process, (0,) if k % 4 == 0 else (0, 75))
            if process.returncode == 0 and study.changed_files("trial") != (0, 0, []):
                row.is_wrong(trial, f"success, but {study.changed_files('trial')[2]} differ")
            row.complete(trial, study, "trial")
            row.untouched(trial, before, harness.planted("trial"))


def each_allocation_fails(row, study, stride, count, base=None):
    harness.begin("trial", base)
    pathlib.Path("memory.log").unlink(missing_ok=True)
    result = study.run("trial", faults=memory.failing(0, 0))
    assert result.returncode == 0, result
    total = int(pathlib.Path("memory.log").read_text().split()[-1])
    for nth in some(range(1, total + 1, stride if everything() else 1), count):
        disturbed(row, study, f"allocation {nth} of {total}", (0, 71), memory.failing(nth), base)


def tables_missing():
    """The study with all members finished, and without the tables that are made of them."""
    harness.begin("members", "whole")
    for path in pathlib.Path("members").glob("*.csv"):
        path.unlink()
    return "members"


def test_memory():
    """allocations of a sweep fail once"""
    memory.need_memory_shim()
    study = Study()
    with Row(11, "a sweep, an allocation fails once") as row:
        each_allocation_fails(row, study, 37, 1)
    with Row(11, "the table of a finished sweep, an allocation fails once") as row:
        each_allocation_fails(row, study, 37, 2, tables_missing())


def test_convergence():
    """a convergence test, killed and struck by errors at each system call"""
    study = convergence()
    assert "convergence.csv" in study.whole
    numbers = range(1, len(study.calls()) + 1, 3 if everything() else 1)
    with Row(12, "a convergence test, at a system call SIGKILL of the calling process") \
            as row:
        at_each_call(row, study, "kill", some(numbers, 1), (0, *KILLED))
    with Row(12, "a convergence test, SIGKILL of all its processes at a system call") as row:
        at_each_call(row, study, "killall", some(numbers, 1), (0, -9))
    with Row(12, "a convergence test, EIO or ENOSPC at a system call, once") as row:
        at_each_call(row, study, "error", some(numbers, 2), (0, *FAILED))
    # What is done behind the last member: the tables of the study.
    last = max(n for n, call in enumerate(study.calls(), 1) if "/003/" in call)
    with Row(12, "a convergence test, a kill or an error while its tables are written") as row:
        for what in ("kill", "torn", "error"):
            at_each_call(row, study, what, some(range(last + 1, len(study.calls()) + 1), 1),
                         (0, *KILLED, *FAILED))


def test_memory_of_a_convergence_test():
    """allocations of a convergence test fail once"""
    memory.need_memory_shim()
    study = convergence()
    with Row(12, "a convergence test, an allocation fails once") as row:
        each_allocation_fails(row, study, 67, 1)
    with Row(12, "the tables of a finished convergence test, an allocation fails once") as row:
        each_allocation_fails(row, study, 67, 2, tables_missing())


# --- others at work in the same folder ------------------------------------------------------------

def stopped(study, nth, *arguments):
    """A command that stops itself, or a member of it, before its nth write to a file."""
    process = subprocess.Popen(
        study.command("trial", *arguments), stderr=subprocess.PIPE, text=True,
        start_new_session=True, env=harness.environment(
            {"OMP_NUM_THREADS": "1", **fault("signal", int(signal.SIGSTOP), nth, 1, "write")}))
    while not any(group == process.pid and state == "T" for group, state in processes()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


def processes():
    """(process group, state) of all."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        yield int(words[2]), words[0]


def test_a_second_study():
    """a second command in the folder of a study: 73 with the process that holds it"""
    study = Study()
    writes = len(study.calls(calls="write"))
    seconds = [((), ()), ((), ("--force",)), ((), ("--member", "2")), (("--member", "1"), ()),
               (("--member", "1"), ("--member", "1")), (("--member", "1"), ("--force",))]
    with Row(13, "a second command in the folder of a study at work: 73") as row:
        for nth in some(range(writes // 9, writes // 4, 4), 1):
            for first, second in some(seconds, 1):
                harness.plant("trial")
                foreign = harness.planted("trial")
                process = stopped(study, nth, *first)
                before = harness.tree("trial")
                result = study.run("trial", *second)
                trial = f"run {first} at write {nth}, then {second}"
                row.ended(trial, result, (73,))
                if not re.search(r"in use by process \d+ on ", result.stderr):
                    row.problem(trial, f"the holder is not named: {result.stderr!r}")
                after = harness.tree("trial")
                if first and second[:1] == ("--member",):
                    # The table of the study is made by any of its jobs.
                    after["study.csv"] = before.get("study.csv")
                row.untouched(trial, before, after)
                os.killpg(process.pid, signal.SIGCONT)
                words = process.communicate(timeout=60 * tap.PATIENCE)
                if process.returncode != 0:
                    row.problem(trial, f"the first one ended with {process.returncode}: {words}")
                row.complete(trial, study, "trial")
                row.untouched(trial, foreign, harness.planted("trial"))


if __name__ == "__main__":
    tap.main()
