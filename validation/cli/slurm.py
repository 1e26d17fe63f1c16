"""The job scripts of examples/slurm, with a batch system that is played."""

import os
import pathlib
import shutil
import stat
import subprocess

import tap

RUN = """bodies = { initial = "plummer"; count = 16; };
physics = { softening = 0.1; };
time = { step = 0.01; end = %s; };
compute = { backend = "serial"; };
checkpoint = { every_steps = 100000000; };
"""
SWEEP = 'sweep = ( { key = "time.step"; values = [0.01, 0.02]; } );\n'
FOREVER = "1e9"


def program(name, text):
    """An executable script in ./bin, which stands first in PATH."""
    path = pathlib.Path("bin", name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path.absolute())


def batch_system():
    """srun runs what it is given; scontrol and sbatch note what they are told."""
    program("srun", 'while [[ $1 == --* ]]; do shift; done\nexec "$@"\n')
    program("scontrol", 'echo "scontrol $*" >>told\n')
    program("sbatch", 'echo "sbatch $*" >>told\n')


def told():
    lines = pathlib.Path("told").read_text().splitlines() if os.path.exists("told") else []
    pathlib.Path("told").write_text("")
    return lines


def job(script, *arguments, **environment):
    """A job as Slurm starts it, from a copy of the script; its exit status."""
    if not shutil.which("bash"):
        raise tap.Skip("there is no bash")
    shutil.copy(os.path.join(tap.SOURCE, "examples/slurm", script), "slurm_script")
    environment = {"SLURM_JOB_ID": "17", "SLURM_CPUS_PER_TASK": "1", "ORRERY": tap.ORRERY,
                   "PATH": os.path.abspath("bin") + os.pathsep + os.environ["PATH"],
                   **environment}
    result = subprocess.run(["bash", "./slurm_script", *arguments], capture_output=True, text=True,
                            timeout=120 * tap.PATIENCE, env={**os.environ, **environment})
    return result.returncode, result.stderr



def config(text):
    pathlib.Path("my.cfg").write_text(text)
    return "my.cfg"


def test_a_job_goes_back_into_the_queue_until_the_run_is_done():
    batch_system()
    fake = program("fake-orrery", 'echo "$*" >>calls\nmkdir -p my.run; touch my.run/run.json\n'
                   'exit "$(sed -n "$(wc -l <calls)p" statuses)"\n')
    pathlib.Path("statuses").write_text("75\n75\n0\n")
    statuses = [job("job.sh", "my.cfg", "-P", "a.b=c d", ORRERY=fake)[0] for _ in range(3)]
    assert statuses == [75, 75, 0], statuses
    assert told() == ["scontrol requeue 17"] * 2
    assert pathlib.Path("calls").read_text().splitlines() == [
        "run my.cfg -o my.run -q --restart=if-any -P a.b=c d"] * 3


def test_a_job_that_failed_stays_out_of_the_queue():
    batch_system()
    for status in (1, 65, 70, 73, 74, 78, 137):
        fake = program("fake-orrery", f"exit {status}\n")
        assert job("job.sh", "my.cfg", ORRERY=fake)[0] == status
    assert told() == []


def test_where_nothing_may_be_requeued_a_successor_is_submitted():
    batch_system()
    program("scontrol", "exit 1\n")
    fake = program("fake-orrery", "exit 75\n")
    assert job("job.sh", "my.cfg", "-P", "a=1", ORRERY=fake)[0] == 75
    assert told() == ["sbatch --dependency=afterany:17 ./slurm_script my.cfg -P a=1"]


def test_a_file_ends_the_chain():
    batch_system()
    pathlib.Path("my.run.enough").touch()
    fake = program("fake-orrery", "exit 75\n")
    assert job("job.sh", "my.cfg", ORRERY=fake)[0] == 75
    assert told() == []


def test_a_run_stops_before_the_end_of_its_job_and_goes_on_in_the_next():
    """a run stops in time for the end that Slurm sets, and goes on in the next job"""
    batch_system()
    name = config(RUN % FOREVER)
    for number in (1, 2):  # a job whose end has passed: one second is left
        status, errors = job("job.sh", name, SLURM_JOB_END_TIME="1")
        assert status == 75 and "stopped by the time limit" in errors, (status, errors)
        assert told() == ["scontrol requeue 17"], number
    log = pathlib.Path("my.run/run.log").read_text()
    assert log.count("restart: goes on from checkpoint.orr") == 1, log


def test_a_short_run_ends_in_one_job():
    batch_system()
    status, errors = job("job.sh", config(RUN % "0.1"))
    assert (status, errors, told()) == (0, "", [])


def test_a_sweep_takes_one_task_for_each_member():
    batch_system()
    name = config(RUN % "0.1" + SWEEP)
    for task in (1, 2):
        status, errors = job("sweep.sh", name, SLURM_ARRAY_JOB_ID="20",
                             SLURM_ARRAY_TASK_ID=str(task))
        assert status == 0, errors
    rows = pathlib.Path("my.sweep/study.csv").read_text().splitlines()
    assert len(rows) == 3 and told() == [], rows


def test_a_member_that_is_stopped_goes_back_into_the_queue():
    batch_system()
    name = config(RUN % FOREVER + SWEEP)
    status, _ = job("sweep.sh", name, SLURM_ARRAY_JOB_ID="20", SLURM_ARRAY_TASK_ID="2",
                    SLURM_JOB_END_TIME="1")
    assert status == 75 and told() == ["scontrol requeue 20_2"]


tap.main()
