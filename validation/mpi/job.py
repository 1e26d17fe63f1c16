"""Jobs of several ranks: ./orrery under the mpirun that belongs to its MPI."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import tap

# Open MPI as root, and with more ranks than cores; others do not mind.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_hwloc_base_binding_policy="none", OMP_NUM_THREADS="1")

# 300 bodies leave the last line of 16 ragged, and the last of three tiles: the kernel is that of
# Newton's third law. 24 steps, an event that is no multiple of another.
PLUMMER = """
name = "plummer";
bodies = { initial = "plummer"; count = 300; seed = 7; };
physics = { softening = 0.05; };
time = { integrator = "velocity-verlet"; step = 0.01; end = 0.24; };
compute = { kernel = "auto"; };
diagnostics = ( { type = "conservation"; every = 5; },
                { type = "lagrangian-radii"; every = 12; } );
outputs = ( { type = "xyz"; every = 8; digits = 17; } );
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def library():
    """The MPI that ./orrery was built with; skips the test where there is none."""
    for line in tap.run("info").stdout.splitlines():
        words = line.split(None, 1)
        if words and words[0] == "MPI" and words[1] != "no":
            return words[1]
    raise tap.Skip("built without MPI (./configure --with-mpi)")


def mpirun():
    """The program, found by configure, or by what the library calls itself."""
    name = "mpich" if "MPICH" in library() else "openmpi"
    for program in (os.environ.get("MPIRUN"), f"mpirun.{name}", "mpirun"):
        if program and shutil.which(program):
            return program
    raise tap.Skip("mpirun is not installed")


def start(ranks, *arguments, environment=None, **options):
    """A job, as a process with both outputs in pipes."""
    return subprocess.Popen([mpirun(), "-n", str(ranks), tap.ORRERY, *map(str, arguments)],
                            env=environment or ENVIRONMENT, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def run(ranks, *arguments, environment=None, timeout=120):
    """A job that is waited for; ranks = 0: ./orrery without mpirun."""
    if ranks == 0:
        return subprocess.run([tap.ORRERY, *map(str, arguments)], capture_output=True, text=True,
                              env=environment or ENVIRONMENT, timeout=timeout)
    process = start(ranks, *arguments, environment=environment)
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)  # mpirun ends its ranks
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def finish(ranks, *arguments, **options):
    """run() of something that must succeed."""
    result = run(ranks, *arguments, **options)
    assert result.returncode == 0, (ranks, result.returncode, result.stderr)
    return result


def same_files(one, other, names=None):
    """The series and trajectories of two run directories are the same bytes."""
    names = names or sorted(path.name for path in pathlib.Path(one).iterdir()
                            if path.suffix in (".csv", ".xyz"))
    assert names
    for name in names:
        a, b = (pathlib.Path(directory, name).read_bytes() for directory in (one, other))
        assert a == b, (one, other, name)


def wait_for(path, seconds=30):
    """Until a file is there and holds something."""
    for _ in range(int(seconds / 0.01)):
        if os.path.exists(path) and os.path.getsize(path) > 0:
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} does not come")


def process_of(mark, rank):
    """The number of the process of a job that was started with MARK=mark and is this rank."""
    variables = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        pairs = dict(word.split("=", 1) for word in words if "=" in word)
        ranks = {pairs.get(variable) for variable in variables}
        if pairs.get("ORRERY_TEST_MARK") == mark and str(rank) in ranks:
            return int(path.parent.name)
    raise AssertionError(f"rank {rank} is not there")
