#!/bin/bash
# A sweep as a job array: each task makes one member of the grid, the last one the table of all.
#
#     sbatch --array=1-6 sweep.sh FILE.cfg [options of orrery run]
#
#SBATCH --job-name=orrery-sweep
#SBATCH --time=04:00:00
#SBATCH --cpus-per-task=4
#SBATCH --requeue
#SBATCH --signal=USR1@120
#SBATCH --open-mode=append
#SBATCH --output=%x-%A_%a.log
set -u

config=${1:?usage: sbatch --array=1-N sweep.sh FILE.cfg [options of orrery run]}
shift

# A member that was begun goes on by itself, one that is done is left alone.
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "${ORRERY:-orrery}" \
    run "$config" --member "$SLURM_ARRAY_TASK_ID" -q "$@"
status=$?

if [ "$status" = 75 ]; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$status"
