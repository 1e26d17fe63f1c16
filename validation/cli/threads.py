"""How threads wait that have nothing to do: briefly, unless it was said otherwise."""

import os
import pathlib
import re
import subprocess
import time

import tap

SAID = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "OMP_NUM_THREADS")

CONFIG = """
name = "run";
bodies = { initial = "plummer"; count = 64; };
physics = { softening = 0.05; };
time = { step = 0.001; end = 1e5; };
diagnostics = ( { type = "conservation"; every = 10; } );
"""


def spins(command="run", **environment):
    """What libgomp says when it is loaded of how long its threads spin, once per start; and the
    program's own answer."""
    kept = {name: value for name, value in os.environ.items() if name not in SAID}
    result = tap.run(command, "--help", env={"OMP_NUM_THREADS": "2", "OMP_DISPLAY_ENV": "VERBOSE",
                                             **kept, **environment})
    assert result.returncode == 0 and f"orrery {command} " in result.stdout, result
    return re.findall(r"GOMP_SPINCOUNT = '(\w+)'", result.stderr)


def test_threads_wait_briefly():
    """threads without work spin for a short time, also where nobody has said so"""
    said = spins(OMP_WAIT_POLICY="passive")
    if not said:
        raise tap.Skip("the runtime of OpenMP is not libgomp")
    assert len(said) == 1 and int(said[0]) == 0, said
    if not os.path.exists("/proc/self/exe"):
        raise tap.Skip("there is no /proc/self/exe, which says where the program is")
    for command in ("run", "check", "bench", "verify"):
        said = spins(command)
        assert len(said) == 2 and int(said[0]) > 100000 and int(said[1]) == 5000, (command, said)
    assert len(spins("info")) == 1, "a command without teams of threads begins only once"


def test_the_name_of_the_process():
    """ps and pkill know the program by its name, and not by how it was begun anew"""
    environment = {name: value for name, value in os.environ.items() if name not in SAID}
    pathlib.Path("run.cfg").write_text(CONFIG)
    with subprocess.Popen([tap.ORRERY, "run", "run.cfg", "-q"],
                          env={**environment, "OMP_NUM_THREADS": "2"}) as process:
        while not pathlib.Path("run.run/conservation.csv").exists() and process.poll() is None:
            time.sleep(0.01)
        name = pathlib.Path(f"/proc/{process.pid}/comm")
        said = name.read_text() if name.exists() else None
        process.kill()
    if said is None:
        raise tap.Skip("there is no /proc")
    assert said.strip() == os.path.basename(tap.ORRERY), said


def test_what_was_said_holds():
    """what the environment says of waiting is obeyed, and one thread has nobody to wait for"""
    if not spins(OMP_WAIT_POLICY="passive"):
        raise tap.Skip("the runtime of OpenMP is not libgomp")
    for name, value in (("OMP_WAIT_POLICY", "active"), ("GOMP_SPINCOUNT", "77"),
                        ("KMP_BLOCKTIME", "5"), ("OMP_NUM_THREADS", "1")):
        said = spins(**{name: value})
        assert len(said) == 1, (name, said)
        assert name != "GOMP_SPINCOUNT" or said == ["77"], said


def test_threads_of_the_start():
    """no more threads than compute.threads are at work while bodies are made"""
    pathlib.Path("run.cfg").write_text(CONFIG)
    # Some 10^10 pairs: seconds of work for what makes the bodies, which is before the run begins.
    arguments = ("-P", "bodies.count=150000", "-P", "bodies.virial_ratio=1.0", "-q", "-P")
    for threads, most in (("1", 1), ("3", 3)):
        process = subprocess.Popen([tap.ORRERY, "run", "run.cfg", *arguments,
                                    f"compute.threads={threads}"], stderr=subprocess.DEVNULL,
                                   env={**os.environ, "OMP_NUM_THREADS": "8"})
        folder, seen, looks = pathlib.Path(f"/proc/{process.pid}/task"), 0, 0
        end = time.monotonic() + 30 * tap.PATIENCE
        # Drawn by one thread, then scaled by all: looked at from there on.
        while looks < (40 if tap.is_thorough() else 20) and process.poll() is None and \
                time.monotonic() < end:
            time.sleep(0.025)
            seen = max(seen, len(list(folder.iterdir())) if folder.exists() else 0)
            looks += seen >= most or not folder.exists()
        process.kill()
        process.wait()
        if seen == 0:
            raise tap.Skip("there is no /proc")
        assert seen == most, (threads, seen)
        assert not pathlib.Path("run.run").exists(), "the bodies were made before anybody looked"


def test_threads_of_the_run():
    """a run has no more threads than compute.threads, also where it looks for neighbours"""
    pathlib.Path("run.cfg").write_text(CONFIG)
    for threads in (1, 2):
        # libgomp tells of each thread that it starts in a team of several.
        result = tap.run("run", "run.cfg", "-q", "-o", "out", "--force", "-P", "bodies.count=6000",
                         "-P", "physics.softening=0", "-P", "time.step=0.01", "-P",
                         "time.end=0.02", "-P", f"compute.threads={threads}", env={
                             **os.environ, "OMP_NUM_THREADS": "3", "OMP_DISPLAY_AFFINITY": "true",
                             "OMP_AFFINITY_FORMAT": "a team of %N"})
        teams = [line[-1] for line in result.stderr.splitlines() if line.startswith("a team of")]
        assert result.returncode == 0 and set(teams) == {str(threads)} - {"1"}, result


def test_too_many_threads():
    """OMP_NUM_THREADS beyond what compute.threads may be is refused, by commands that compute"""
    pathlib.Path("run.cfg").write_text(CONFIG)
    for number in ("4097", "100000", "1000000000"):
        for arguments in (("run", "run.cfg", "-P", "compute.threads=1"), ("check", "run.cfg")):
            result = tap.run(*arguments, env={**os.environ, "OMP_NUM_THREADS": number})
            assert result.returncode == 64, result
            assert f"OMP_NUM_THREADS = {number}: must be" in result.stderr, result
        result = tap.run("info", env={**os.environ, "OMP_NUM_THREADS": number})
        assert result.returncode == 0, result


tap.main()
