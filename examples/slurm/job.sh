#!/bin/bash
# One run as a chain of jobs: each goes on where the one before it stopped, until the run is done.
#
#     sbatch job.sh FILE.cfg [options of orrery run, such as -P time.step=0.01]
#
#SBATCH --job-name=orrery
#SBATCH --time=04:00:00
#SBATCH --cpus-per-task=16
#SBATCH --requeue
#SBATCH --signal=USR1@120
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -u

config=${1:?usage: sbatch job.sh FILE.cfg [options of orrery run]}
directory=${ORRERY_DIR:-$(basename "$config" .cfg).run}
shift

# A directory that holds a run is continued, whatever ended it: a limit, a node that died, a person.
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "${ORRERY:-orrery}" \
    run "$config" -o "$directory" -q --restart=if-any "$@"
status=$?

# 75: stopped in time, with a checkpoint. Everything else is final: done (0, 1), or an error that
# another try would meet again.
if [ "$status" = 75 ] && [ ! -e "$directory.enough" ]; then
    scontrol requeue "$SLURM_JOB_ID" ||
        sbatch --dependency="afterany:$SLURM_JOB_ID" "$0" "$config" "$@"
fi
exit "$status"
