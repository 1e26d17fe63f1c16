"""Jobs that end early: restarts on any number of ranks, lost ranks, errors."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import job
import tap

# Long enough to be interrupted: some 6 s on one slow core; a checkpoint every 20 steps.
LONG = job.PLUMMER.replace("end = 0.24", "end = 6.0").replace("count = 300", "count = 640")
CHECKPOINTS = ("-P", "checkpoint.every_steps=20")
MARK = f"orrery-{os.getpid()}"


def marked():
    return dict(job.ENVIRONMENT, ORRERY_TEST_MARK=MARK)


def run_json(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def test_a_restart_on_another_number_of_ranks():
    """3 ranks, then 2, then one process: the bytes of one run"""
    config = job.write(job.PLUMMER)
    job.mpirun()
    job.finish(0, "run", config, "-q", "-o", "whole")
    job.finish(3, "run", config, "-q", "-o", "parts", "-P", "time.end=0.08")
    job.finish(2, "run", config, "-q", "-o", "parts", "-P", "time.end=0.16", "--restart")
    job.finish(0, "run", config, "-q", "-o", "parts", "--restart")
    about = run_json("parts")
    assert about["compute"]["kernel"] == "symmetric", about
    assert about["step"] == 24 and about["first_step"] == 16 and about["bitwise"], about
    job.same_files("whole", "parts", ["trajectory.xyz"])


def begin(ranks, directory="parts"):
    """A job of LONG that has written a checkpoint after its first steps."""
    process = job.start(ranks, "run", job.write(LONG), "-q", "-o", directory, *CHECKPOINTS,
                        environment=marked())
    path = pathlib.Path(directory, "conservation.csv")
    for _ in range(3000):
        if path.exists() and path.read_bytes().count(b"\n") > 10:
            return process
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("the job does not advance")


def end_of(process, seconds=60):
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
        raise AssertionError("the job does not end")


def continue_alone():
    """Finishes `parts` in one process; it must come out as if nothing had happened."""
    config = job.write(LONG)
    job.finish(0, "run", config, "-q", "-o", "parts", "--restart", *CHECKPOINTS)
    assert run_json("parts")["first_step"] > 0
    job.finish(0, "run", config, "-q", "-o", "whole")
    job.same_files("whole", "parts")


def test_a_lost_rank_ends_the_job():
    """SIGKILL to a rank: the job ends with an error, and its checkpoint goes on"""
    process = begin(3)
    os.kill(job.process_of(MARK, 2), signal.SIGKILL)
    _, errors = end_of(process)
    assert process.returncode != 0
    assert "killed" in errors.lower() or "KILLED BY SIGNAL: 9" in errors, errors
    continue_alone()


def test_a_lost_rank_0_ends_the_job():
    """SIGKILL to rank 0: the others do not stay behind"""
    process = begin(2)
    worker = job.process_of(MARK, 1)
    os.kill(job.process_of(MARK, 0), signal.SIGKILL)
    end_of(process)
    assert process.returncode != 0
    for _ in range(1000):
        if not os.path.exists(f"/proc/{worker}"):
            return
        time.sleep(0.01)
    raise AssertionError("rank 1 is still there")


def test_a_signal_stops_all_ranks():
    """signals to all ranks: a checkpoint, exit status 75, and the same bytes in the end"""
    process = begin(2)
    for number in (signal.SIGHUP, signal.SIGXCPU):
        os.kill(job.process_of(MARK, 1), number)
    for rank in (1, 0):
        os.kill(job.process_of(MARK, rank), signal.SIGUSR1)
    _, errors = end_of(process)
    assert process.returncode == 75 and "--restart" in errors, (process.returncode, errors)
    assert run_json("parts")["verdict"] == "stopped"
    continue_alone()


# 6000 bodies are enough for a force to be left in its midst; a step has seven of them.
STEPS = job.PLUMMER.replace("count = 300", "count = 6000").replace("velocity-verlet", "yoshida6")
# A force takes seconds, a step most of a minute; nothing is measured before it.
LONG_STEPS = (STEPS.partition("diagnostics")[0].replace("count = 6000", "count = 60000")
              .replace('kernel = "auto"', 'backend = "serial"'))


def ask_within_a_step(text, directory, ranks, *changes):
    """Asks rank 0 of a job to end soon after it has begun; how long the answer takes."""
    shutil.rmtree(directory, ignore_errors=True)
    process = job.start(ranks, "run", job.write(text), "-q", "-o", directory, *changes,
                        environment=marked())
    lead = pathlib.Path(directory, "run.log")
    for _ in range(12000):
        if lead.exists() or process.poll() is not None:
            break
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    time.sleep(0.5)
    start = time.monotonic()
    os.kill(job.process_of(MARK, 0), signal.SIGTERM)
    _, errors = end_of(process, 300)
    return time.monotonic() - start, process.returncode, errors


def test_a_signal_within_a_step():
    """SIGTERM in the midst of a step: all ranks take it back, and go on to the bytes of one run"""
    job.mpirun()
    job.finish(0, "run", job.write(STEPS), "-q", "-o", "whole")
    for ranks, kernel in ((2, "auto"), (3, "plain")):
        keys = ("-P", f'compute.kernel="{kernel}"')
        _, status, errors = ask_within_a_step(STEPS, "parts", ranks, *keys)
        assert status == 75 and "--restart" in errors, (status, errors)
        job.finish(ranks, "run", "run.cfg", "-q", "-o", "parts", "--restart", *keys)
        if kernel == "auto":
            job.same_files("whole", "parts")


def test_a_step_that_would_take_minutes():
    """SIGTERM within a step of most of a minute, of one system and of two ranks with theirs"""
    for changes in ((), ("-P", "ensemble.systems=3", "-P", "bodies.count=40000")):
        seconds, status, errors = ask_within_a_step(LONG_STEPS, "parts", 2, *changes)
        assert status == 75, (status, errors)
        # 2 s are promised; what mpirun takes to end, and what else works here, come on top.
        assert seconds < 10 * tap.PATIENCE, (seconds, errors)


def test_errors_come_from_rank_0_once():
    """a bad config: one message, status 78, nothing written"""
    job.mpirun()
    config = job.write(job.PLUMMER.replace("0.01", "-0.01"))
    result = job.run(3, "run", config)
    assert result.returncode == 78, result
    assert result.stderr.count("time.step") == 1, result.stderr
    assert os.listdir(".") == ["run.cfg"]


def test_a_body_that_leaves_the_numbers():
    """a numerical failure on the last rank: its body is named, status 70"""
    job.mpirun()
    with open("bodies.csv", "w") as file:
        file.write("m,x,y,z,vx,vy,vz,id\n")
        for k in range(40):  # 1e120 x 1e200 is beyond the largest double; what gravity does is not
            file.write(f"1,{k},0,0,0,{'1e120' if k == 38 else 0},0,{k + 100}\n")
    config = job.write("""
        name = "wild"; bodies = { initial = "file"; file = "bodies.csv"; };
        physics = { gravitational_constant = 1e-280; softening = 0.1; };
        time = { step = 1e200; end = 1e200; };""")
    result = job.run(3, "run", config, "-q")
    assert result.returncode == 70 and "body 138" in result.stderr, result
    assert result.stderr.count("body 138") == 1, result.stderr


def test_what_a_rank_cannot_do():
    """an error that all ranks have is reported once, with its status"""
    job.mpirun()
    config = job.write(job.PLUMMER)
    result = job.run(2, "run", config, "-P", 'compute.backend="serial"', "-P",
                     'compute.precision="single"')
    assert result.returncode == 78 and result.stderr.count("compute.precision") == 1, result


def test_a_sweep_is_refused():
    """a sweep under mpirun is a slip"""
    job.mpirun()
    config = job.write(job.PLUMMER + 'sweep = ( { key = "time.step"; values = [0.01, 0.02]; } );')
    result = job.run(2, "run", config)
    assert result.returncode == 64 and "without mpirun" in result.stderr, result


def test_a_build_without_mpi_says_so():
    """several processes of a build without MPI do not run one run each"""
    try:
        job.library()
    except tap.Skip:
        for variable in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"):
            result = tap.run("run", job.write(job.PLUMMER),
                             env=dict(os.environ, **{variable: "2"}))
            assert result.returncode == 69 and "--with-mpi" in result.stderr, result
        return
    raise tap.Skip("built with MPI")


tap.main()
