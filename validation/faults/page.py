"""page.py ROWS PAGE: writes docs/reliability.md from the rows that `make check-faults` has left."""

import datetime
import json
import os
import pathlib
import platform
import sys

# The faults in the order of the tables: those of a single run, and of what is built on runs.
RUNS = {
    1: "Signals and time limits",
    2: "Killed, at any moment",
    3: "Killed while a checkpoint is written",
    4: "A checkpoint that cannot be written",
    5: "Full disks and failing calls",
    20: "Loss of power",
    6: "Damaged checkpoints",
    7: "Outputs that changed",
    8: "A changed experiment",
    9: "Other processes, standard output",
    10: "Memory and numbers",
    18: "Outputs that go while the run does",
}
STUDIES = {
    11: "Sweeps",
    12: "Convergence tests",
    13: "Job arrays, commands side by side",
    14: "A changed config",
    15: "Files of others",
    16: "convert",
    21: "Loss of power",
    17: "convert of damaged files",
    19: "g(r)",
}
STRANGERS = {
    22: "Directories of a stranger",
}
ANSWERS = {
    23: "Work that is asked to end",
}
COUNTED = ("trials", "lost", "doubled", "silent", "foreign", "wrong")

HEAD = """# Reliability: what was tried

Nothing is lost: an experiment that was killed, stopped or struck by an error at any moment goes on
with `--restart`, and its tables and trajectory are in the end the same bytes as those of a run that
nothing disturbed. This page is the record of `make check-faults`, which tries it: {date},
{machine}, {trials} trials.

- **{lost} rows lost, {doubled} rows doubled, {silent} silent restarts.**
- **{foreign} files of others touched, {wrong} wrong results.**

## Runs

Each trial runs an experiment with one fault, lets `orrery run --restart` finish it without, and
compares every CSV table and the trajectory, byte by byte, with those of an uninterrupted run, and
`run.json` word by word but for what it says of times and restarts. A row or frame that is not there
is *lost*, one that is there twice is *doubled*. A restart is *silent* if it begins anywhere but at
the newest whole checkpoint, or if `run.log` and `run.json` do not say where. Damage that must be
refused (a changed output, a changed experiment) is undone after the refusal, and the run finished.
*Ended* says how the process with the fault ended: its exit status, a signal, or the kill; statuses
are those of [running](manual/running.md).
"""

MIDDLE = """
## Studies, files, g(r)

Studies, conversions and g(r), which build on runs, are tried in the same way, in a folder with
files of others: tables beside those of the study, a document in the directory of a member, a link
that leads elsewhere.

- **Sweeps and convergence tests** are struck at each system call that any of their processes makes,
  and the same command then finishes them: `study.csv`, `convergence.csv` and the tables and
  trajectories of all members are the bytes of a study that nothing disturbed.
- **Job arrays** are 32 commands `--member k` at once. Each has to end with the status of its
  own member, and the table has to be complete when the last one ends.
- **A changed config** is refused, with nothing touched, or gives with `--force` the new results and
  not one of the old.
- **convert** leaves the old file or the whole new one, and no litter that a second command does not
  clear away. Damaged files end in 65, or in an output that reads as the same numbers again.
- **g(r)** is compared with all pairs counted one by one.

A row of a table, or a file, that is missing even after the next command is *lost*. A file that was
there before and is not Orrery's is *foreign*; it counts as touched if its kind, inode, time or
bytes have changed. A result is *wrong* if the command reported success and the files are not those
of an undisturbed one.
"""

ASKED = """
## Answers

Each of these kinds of work goes on for minutes at least, or for ever. At a random moment it is
asked to end, by SIGTERM, SIGINT or the file `stop`, or to save a checkpoint by the file
`checkpoint` and then to end; a run that has begun is continued with `--restart --max-time 2`, which
is over within a step again. The longest time until the process had ended, or the file was taken, is
*longest*; of the time limit it is what came on top of it. 2 s are promised. A check leaves SIGTERM
and SIGINT to the system.
"""

SWEEPS = """
## Sweeps of many members

Measured once, by hand, on 26 November 2026, since it takes too long for each page: sweeps over the
eccentricity of two bodies, ten steps for each member, on two cores and a disk. Times are CPU time
of the program and its members; half of it is the kernel's, for the files. *Again* is the same
command with nothing left to do. The 100,000 were stopped once by SIGTERM, after 95,515, and went
on.

| members | `check` | `run --dry-run` | one `--member` | all of them | again |
|---:|---:|---:|---:|---:|---:|
| 1,000 | 0.2 s | 0.2 s | 0.05 s | 4.6 s (5.9 s of wall time) | 0.3 s |
| 10,000 | 0.3 s | 0.3 s | 0.3 s | 56 s (61 s of wall time) | 2.8 s |
| 100,000 | 1.4 s | 1.4 s | 1.8 s | 631 s (715 s of wall time) | 27 s |
| 1,000,000 | refused (78) | refused | refused | refused | refused |
"""

SHIMS = """
The faults are made by two small libraries that are preloaded (`validation/faults/shim-*.c`): calls
on files that fail, move a part of their bytes, or never return because the process is killed before
them; allocations that return nothing; clocks that jump. A study and its members count their calls
together, so that a fault may strike any of them. File systems, file size limits, closed streams,
nodes, pipes, links and second processes are real. The GPU backend runs on its executor, the
kernels' source compiled for the CPU.
"""

HOSTILE = """
## Directories of a stranger

Whoever opens the results of somebody else opens files that anybody may have written. In each of
these directories a string that would be a command, a path, a formula, an escape sequence or a piece
of a page stands in one of the places where a run, a study or a report leaves a name, a unit or a
word; or strings that were made up stand in several. `orrery report`, `watch` and `run --force` are
given them, with a library preloaded, into gnuplot as well, that ends any other program before it
begins; in the fuzz target `validation/fuzz/report`, which takes those that were made up, a check of
its script plays gnuplot. A command counts where it was run, or where a script that was left for
gnuplot holds anything but the statements of the templates; a file where it is not one of the
report's own and is another one than before.
"""

TAIL = """
## Loss of power

A loss of power takes what the disk does not have yet: bytes of a file until its `fsync`, names of a
folder until the `fsync` of that folder, all of them or a part, and in any order. A kill takes
nothing of the kind, so `validation/faults/powercut.py` keeps a journal of all that a command does
to files and folders, and builds for every prefix of it the folders that could be left: with no byte
and no name that was not asked for, with all of them, with names without bytes and bytes without
names, with lengths whose bytes are missing, with halves of writes, with later names but not earlier
ones. Each of these states is checked, and the number in the table is handed to the program:

- the newest checkpoint that had been put on the disk, or a newer one, is there, and whole;
- every table and trajectory is there, with all the bytes that the checkpoint counts on;
- `run.json` lists what is there, and says that a run is done only if all of it is there;
- `study.csv` stands only for members whose results are there; what `convert` replaces is the old
  file or the whole new one.

So a loss of power costs the steps since the last checkpoint, and the last lines of `run.log`. It
costs more where a file system or a disk says that bytes are safe when they are not.

## Not tried

Allocations that fail inside libhdf5, which does not survive them. Nor does that library say why it
could not read: an error of the disk under a snapshot that `convert` reads ends with 65, as damage
does. Jobs of several ranks, which are also asked to end within a step, and failing GPUs have tests
of their own (`validation/mpi/faults.py`, `validation/gpu/run-on-gpu.py`).
"""


def ends(row):
    return ", ".join(f"{end} × {count}" if len(row["ends"]) > 1 else end
                     for end, count in sorted(row["ends"].items(), key=lambda item: -item[1]))


def table(rows, kinds, columns):
    """`columns`: what stands above, and the key of the row."""
    lines = ["| fault | trials | ended | " + " | ".join(columns) + " |",
             "|---|---:|---|" + "---:|" * len(columns)]
    for number in kinds:
        for row in rows:
            if row["number"] == number:
                name = row["name"][0].upper() + row["name"][1:]
                cells = [str(row[key]) for key in columns.values()]
                lines.append(f"| {name} | {row['trials']} | {ends(row)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    folder, page = sys.argv[1:]
    rows = [row for path in sorted(pathlib.Path(folder).glob("*.json"))
            for row in json.loads(path.read_text())]
    unknown = {row["number"] for row in rows} - RUNS.keys() - STUDIES.keys() - STRANGERS.keys()
    unknown -= ANSWERS.keys()
    assert not unknown, unknown
    total = {key: sum(row[key] for row in rows) for key in COUNTED}
    cores = len(os.sched_getaffinity(0))
    text = HEAD.format(date=datetime.date.today().isoformat(),
                       machine=f"{cores} cores, {platform.system()} on {platform.machine()}",
                       **total)
    text += "\n" + table(rows, RUNS, {"rows lost": "lost", "rows doubled": "doubled",
                                      "silent restarts": "silent"})
    text += MIDDLE
    text += "\n" + table(rows, STUDIES, {"lost": "lost", "foreign files touched": "foreign",
                                         "wrong results": "wrong"})
    text += SHIMS + HOSTILE
    text += "\n" + table(rows, STRANGERS, {"commands run": "commands",
                                           "files touched outside": "foreign",
                                           "processes other than gnuplot": "processes"})
    for row in rows:
        row["longest"] = f"{row.get('longest', 0.0):.2f} s"
    text += ASKED + "\n" + table(rows, ANSWERS, {"longest": "longest"}) + SWEEPS + TAIL
    pathlib.Path(page).write_text(text)
    print(f"{page}: {total}")


main()
