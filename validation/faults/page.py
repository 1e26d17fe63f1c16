"""page.py ROWS PAGE: writes docs/reliability.md from the rows that `make check-faults` has left."""

import datetime
import json
import os
import pathlib
import platform
import sys

# The faults in the order of the table.
KINDS = {
    1: "Signals and time limits",
    2: "Killed, at any moment",
    3: "Killed while a checkpoint is written",
    4: "A checkpoint that cannot be written",
    5: "Full disks and failing calls",
    6: "Damaged checkpoints",
    7: "Outputs that changed",
    8: "A changed experiment",
    9: "Other processes, standard output",
    10: "Memory and numbers",
}

HEAD = """# Reliability: what was tried

Nothing is lost: an experiment that was killed, stopped or struck by an error at any moment goes on
with `--restart`, and its tables and trajectory are in the end the same bytes as those of a run that
nothing disturbed. This page is the record of `make check-faults`, which tries it: {date},
{machine}, {trials} trials.

- **{lost} rows lost, {doubled} rows doubled, {silent} silent restarts.**

Each trial runs an experiment with one fault, lets `orrery run --restart` finish it without, and
compares every CSV table and the trajectory, byte by byte, with those of an uninterrupted run. A row
or frame that is not there is *lost*, one that is there twice is *doubled*. A restart is *silent* if
it begins anywhere but at the newest whole checkpoint, or if `run.log` and `run.json` do not say
where. Damage that must be refused (a changed output, a changed experiment) is undone after the
refusal, and the run finished. *Ended* says how the process with the fault ended: its exit status, a
signal, or the kill; statuses are those of [running](manual/running.md).
"""

TAIL = """
The faults are made by two small libraries that are preloaded (`validation/faults/shim-*.c`): calls
on files that fail, move a part of their bytes, or never return because the process is killed before
them; allocations that return nothing; clocks that jump. File systems, file size limits, closed
streams and second processes are real. The GPU backend runs on its executor, the kernels' source
compiled for the CPU.

Not tried here: the loss of power, which `fsync` before every rename is there for, and file systems
that lie about it. Jobs of several ranks and failing GPUs have tests of their own
(`validation/mpi/faults.py`, `validation/gpu/run-on-gpu.py`).
"""


def ends(row):
    return ", ".join(f"{end} × {count}" if len(row["ends"]) > 1 else end
                     for end, count in sorted(row["ends"].items(), key=lambda item: -item[1]))


def table(rows):
    lines = ["| fault | trials | ended | rows lost | rows doubled | silent restarts |",
             "|---|---:|---|---:|---:|---:|"]
    for number, kind in KINDS.items():
        for row in rows:
            if row["number"] == number:
                name = row["name"][0].upper() + row["name"][1:]
                lines.append(f"| {name} | {row['trials']} | {ends(row)} | {row['lost']} | "
                             f"{row['doubled']} | {row['silent']} |")
    return lines


def main():
    folder, page = sys.argv[1:]
    rows = [row for path in sorted(pathlib.Path(folder).glob("*.json"))
            for row in json.loads(path.read_text())]
    total = {key: sum(row[key] for row in rows) for key in ("trials", "lost", "doubled", "silent")}
    cores = len(os.sched_getaffinity(0))
    text = HEAD.format(date=datetime.date.today().isoformat(),
                       machine=f"{cores} cores, {platform.system()} on {platform.machine()}",
                       **total)
    text += "\n" + "\n".join(table(rows)) + "\n" + TAIL
    pathlib.Path(page).write_text(text)
    print(f"{page}: {total}")


main()
