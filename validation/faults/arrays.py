"""Job arrays: many members at once, each a command of its own. Studies whose config has changed."""

import os
import pathlib
import random
import re
import signal
import subprocess

import harness
import tap
from harness import Row, Study, everything, fault, shuffled, some

# Their energy errors lie on both sides of the bound: some members hold and some do not.
ARRAY = """
name = "trial";
bodies = { initial = "plummer"; count = 6; };
physics = { softening = 0.05; };
time = { integrator = "velocity-verlet"; step = 0.02; end = 0.1; };
compute = { threads = 1; };
diagnostics = ( { type = "conservation"; every = 5; } );
expect = ( { quantity = "energy_error"; at_most = 3e-4; } );
sweep = ( { key = "bodies.seed"; values = [VALUES]; } );
"""


def array(members):
    return Study(ARRAY.replace("VALUES", ", ".join(map(str, range(1, members + 1)))))


def started(study, member, faults=None):
    return subprocess.Popen(study.command("trial", "--member", str(member)), text=True,
                            env=harness.environment(faults), stderr=subprocess.PIPE,
                            start_new_session=True)


def ended(process):
    """Its words; those of a process that hangs are that it does."""
    try:
        process.stderr = process.communicate(timeout=120 * tap.PATIENCE)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.stderr = f"it hangs: {process.communicate()[1]}"
    return process


def statuses(study):
    """What each member must end with: the column of the undisturbed study."""
    rows = study.whole["study.csv"].decode().splitlines()
    column = rows[0].split(",").index("exit_status [1]")
    return {int(row.split(",")[0]): int(row.split(",")[column]) for row in rows[1:]}


def array_trial(row, study, trial, generator, kills):
    """All members at once, in any order; of some, the first attempt is killed."""
    harness.plant("trial")
    before = harness.planted("trial")
    expected = statuses(study)
    order = generator.sample(sorted(expected), len(expected))
    killed = set(generator.sample(order, kills))
    processes = [(member, started(study, member, fault(
        "killall", nth=generator.randint(1, 150)) if member in killed else None))
        for member in order]
    processes = [(member, ended(process)) for member, process in processes]
    processes += [(member, ended(started(study, member))) for member, process in processes
                  if process.returncode == -signal.SIGKILL]
    row.trials += 1
    for member, process in processes:
        code = process.returncode
        row.ends["killed" if code == -9 else str(code)] += 1
        if code not in (expected[member], -9 if member in killed else expected[member]):
            row.is_wrong(trial, f"member {member} ended with {code}, not {expected[member]}: "
                         f"{process.stderr[-200:]}")
    lost, doubled, differing = study.changed_files("trial")
    row.lost += lost
    row.doubled += doubled
    if differing:
        row.is_wrong(trial, f"{differing} differ")
    if harness.litter("trial"):
        row.problem(trial, f"litter: {harness.litter('trial')}")
    row.untouched(trial, before, harness.planted("trial"))


def test_arrays():
    """32 members at once, each a command of its own: every status right, the table complete"""
    generator = random.Random(32)
    study = array(32 if everything() else 10)
    assert set(statuses(study).values()) == {0, 1}, statuses(study)
    with Row(13, "a job array of 32 members at once (ends of the members)") as row:
        for number in range(200 if everything() else 1):
            array_trial(row, study, f"array {number + 1}", generator, 0)
    with Row(13, "a job array of 32 members at once, of which some are killed and come again") \
            as row:
        for number in range(50 if everything() else 1):
            array_trial(row, study, f"array {number + 1}", generator, len(statuses(study)) // 4)


# --- a config that has changed --------------------------------------------------------------------

BEFORE = harness.SWEEP.replace("bodies.seed", "physics.softening").replace(
    "[3, 5, 8]", "[0.05, 0.1, 0.2]")
LIST = 'sweep=({{ key = "{}"; values = [{}]; }})'
CHANGES = ("bodies.seed=8", "bodies.count=13", "time.step=0.005", "time.end=0.06",
           "time.integrator=leapfrog-dkd", "compute.precision=single", "outputs.0.digits=9",
           "physics.gravitational_constant=2.0", "expect.0.at_most=1e-9",
           "bodies.scale_radius=2.0", "diagnostics.0.every=5",
           LIST.format("physics.softening", "0.05, 0.1"),
           LIST.format("physics.softening", "0.05, 0.1, 0.3"),
           LIST.format("physics.softening", "0.1, 0.05, 0.2"),
           LIST.format("physics.softening", "0.05, 0.1, 0.2, 0.4"),
           LIST.format("time.step", "0.01, 0.005, 0.0025"))


def begun(study, nth):
    """A study that is whole, or was killed with all its processes at that system call."""
    if nth == 0:
        return "whole"
    harness.begin("begun")
    result = study.run("begun", faults=fault("killall", nth=nth))
    assert result.returncode == -9, result
    return "begun"


def refused(row, study, change, base, *arguments):
    """78 (or 73: another study), naming the difference, and nothing is touched."""
    trial = f"{change} in a {base} study, {' '.join(arguments)}"
    harness.plant("trial", base)
    before = harness.tree("trial"), harness.tree("outside")
    result = study.run("trial", "-P", change, *arguments)
    swept = change.startswith("time.step" if "--convergence" in study.arguments else "sweep")
    row.ended(trial, result, (73, 78) if swept else (78,))
    if result.returncode in (0, 1):
        row.is_wrong(trial, "the old results are called those of the new config")
    key = "sweep|study" if swept else re.escape(change.split("=")[0].replace(".0.", "."))
    if not re.search(key, result.stderr.replace("[0]", "").replace(".0.", ".")):
        row.problem(trial, f"the difference is not named: {result.stderr!r}")
    for one, other in zip(before, (harness.tree("trial"), harness.tree("outside"))):
        row.untouched(trial, one, other)


def test_a_changed_config():
    """a study begun again with a changed config: 78; with --force, the new results alone"""
    study = Study(BEFORE)
    half = len(study.calls()) // 2
    trials = [(change, nth) for change in CHANGES for nth in (0, half)]
    with Row(14, "a sweep begun again with a changed config: refused, nothing touched") as row:
        for change, nth in some(shuffled(trials), 3):
            refused(row, study, change, begun(study, nth))
    with Row(14, "a member of a job array with a changed config: refused, nothing touched") as row:
        for change, nth in some(shuffled(trials), 1):
            refused(row, study, change, begun(study, nth), "--member", "1")
    with Row(14, "a sweep with a changed config and --force: the new results alone") as row:
        for change, nth in some(shuffled(trials), 1):
            replaced(row, study, change, begun(study, nth))


def replaced(row, study, change, base, *arguments):
    fresh = Study(BEFORE, *study.arguments, "-P", change, *arguments, whole="fresh")
    harness.plant("trial", base)
    before = harness.planted("trial")
    result = fresh.run("trial", "--force")
    trial = f"{change} over a {base} study"
    row.ended(trial, result, (fresh.status,))
    differing = fresh.changed_files("trial")[2]
    if differing:
        row.is_wrong(trial, f"{differing} are not those of the new config")
    row.untouched(trial, before, harness.planted("trial"))


def test_a_changed_convergence_test():
    """a convergence test begun again with a changed config: 78, or with --force the new results"""
    study = Study(BEFORE[:BEFORE.index("sweep")], "--convergence")
    changes = [change for change in CHANGES if not change.startswith("sweep")]
    half = len(study.calls()) // 2
    with Row(14, "a convergence test begun again with a changed config: refused") as row:
        for change, nth in some([(change, nth) for change in changes for nth in (0, half)], 1):
            refused(row, study, change, begun(study, nth))
    with Row(14, "a convergence test with a changed config and --force: the new results") as row:
        for change in some(changes, 1):
            fresh = Study(BEFORE[:BEFORE.index("sweep")], "--convergence", "-P", change,
                          whole="fresh")
            harness.plant("trial", "whole")
            result = fresh.run("trial", "--force")
            row.ended(change, result, (fresh.status,))
            if fresh.changed_files("trial")[2]:
                row.is_wrong(change, f"{fresh.changed_files('trial')[2]} are not the new ones")


def test_a_later_end():
    """a study with a later end goes on to it, with the bytes of one that had it from the start"""
    study = Study(BEFORE)
    fresh = Study(BEFORE, "-P", "time.end=0.2", whole="fresh")
    half = len(study.calls()) // 2
    with Row(14, "a sweep with a later time.end: it goes on") as row:
        for nth in some((0, half), 1):
            trial = f"after a {begun(study, nth)} one"
            harness.plant("trial", begun(study, nth))
            before = harness.planted("trial")
            row.ended(trial, fresh.run("trial"), (fresh.status,))
            differing = fresh.changed_files("trial")[2]
            if differing:
                row.is_wrong(trial, f"{differing} differ")
            row.untouched(trial, before, harness.planted("trial"))


tap.main()
