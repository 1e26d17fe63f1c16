"""Every allocation fails once: 71, or outputs that are whole and the same."""

import os
import pathlib
import re

import harness
import tap
from harness import Experiment, Row, everything, some


def need_memory_shim():
    if harness.SANITIZED:
        raise tap.Skip("the sanitizers have an allocator of their own")
    return harness.shim("memory")


def failing(nth, times=1):
    return {"LD_PRELOAD": need_memory_shim(), "ORRERY_FAULT_MEMORY": f"{nth} {times}",
            "ORRERY_FAULT_LOG": "memory.log"}


def count(experiment, base=None, arguments=()):
    """How many allocations a process makes."""
    harness.begin("counted", base)
    pathlib.Path("memory.log").unlink(missing_ok=True)
    result = experiment.run("counted", *arguments, faults=failing(0, 0))
    assert result.returncode == 0, result
    return int(pathlib.Path("memory.log").read_text())


def skeleton(text):
    """A JSON text without its numbers, dates and process times: what must be there in any case."""
    text = re.sub(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"', '"date"', text)
    return re.sub(r"-?\d+(\.\d+)?([eE][-+]?\d+)?|null", "0", text)


def check(row, trial, experiment, result, about):
    """71 and a line that says so, or a run that is complete in all its files."""
    row.ended(trial, result, (0, 71))
    if result.returncode == 0:
        row.compare(trial, experiment, "trial")
        if skeleton(pathlib.Path("trial/run.json").read_text()) != about:
            row.problem(trial, "run.json is not complete")
    elif not re.search(r"memory|allocate|Thread creation", result.stderr):
        row.problem(trial, f"no word of memory: {result.stderr!r}")


def each_allocation_fails(row, experiment, numbers, base=None, arguments=(), times=1):
    harness.begin("about", base)
    assert experiment.run("about", *arguments).returncode == 0
    about = skeleton(pathlib.Path("about/run.json").read_text())
    for nth in numbers:
        harness.begin("trial", base)
        result = experiment.run("trial", *arguments, faults=failing(nth, times))
        check(row, f"allocation {nth}", experiment, result, about)
        if result.returncode == 0:
            continue
        if base or os.path.exists("trial/run.json"):
            row.finish(f"allocation {nth}", experiment, "trial")
        elif os.path.exists("trial") and os.listdir("trial") not in ([], ["run.lock"]):
            row.problem(f"allocation {nth}", f"files of no run: {os.listdir('trial')}")


def test_each_allocation_of_a_run_fails():
    """each allocation of a run fails once"""
    experiment = Experiment()
    with Row(10, "each allocation of a run fails once") as row:
        numbers = some(range(1, count(experiment) + 1), 30)
        each_allocation_fails(row, experiment, numbers)


def test_memory_is_exhausted_from_then_on():
    """all allocations fail from one on"""
    experiment = Experiment()
    with Row(10, "an allocation of a run and all later ones fail, for each allocation") as row:
        total = count(experiment)
        numbers = some(range(1, total + 1, 7 if everything() else 1), 10)
        each_allocation_fails(row, experiment, numbers, times=harness.FOREVER)


def test_each_allocation_of_a_restart_fails():
    """each allocation of a restart fails once"""
    experiment = Experiment()
    harness.begin("killed")
    experiment.run("killed", faults=harness.fault("kill", nth=4, calls="rename",
                                                  file="checkpoint.orr"))
    with Row(10, "each allocation of a restart fails once") as row:
        total = count(experiment, "killed", ["--restart"])
        numbers = some(range(1, total + 1, 3 if everything() else 1), 15)
        each_allocation_fails(row, experiment, numbers, "killed", ["--restart"])


def test_settings_do_not_get_lost():
    """a setting whose allocation fails does not become another one"""
    config = "".join(line for line in harness.CONFIG.splitlines(keepends=True)
                     if not line.startswith("outputs")) + """
        outputs = ( { type = "xyz"; every = 4; digits = 17; file = "trajectory.xyz"; },
                    { type = "dcd"; every = 3; },
                    { type = "xyz"; every = 20; file = "coarse.xyz"; } );"""
    experiment = Experiment(config, files=(*harness.FILES, "coarse.xyz"))
    echo = pathlib.Path("whole/run.cfg").read_bytes()
    with Row(10, "allocations of the config reader fail: no setting is lost") as row:
        # So many are there until a config is read: a step of which no run can have so many is found
        # right behind that.
        pathlib.Path("memory.log").unlink(missing_ok=True)
        harness.begin("trial")
        refused = experiment.run("trial", "-P", "time.step=1e-300", faults=failing(0, 0))
        assert refused.returncode == 78, refused
        total = int(pathlib.Path("memory.log").read_text())
        for nth in some(range(1, total + 1), 15):
            harness.begin("trial")
            result = experiment.run("trial", faults=failing(nth))
            row.ended(f"allocation {nth}", result, (0, 71))
            if result.returncode == 0:
                row.compare(f"allocation {nth}", experiment, "trial")
                if pathlib.Path("trial/run.cfg").read_bytes() != echo:
                    row.problem(f"allocation {nth}", "run.cfg is another")


if __name__ == "__main__":
    tap.main()
