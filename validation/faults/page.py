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

No result is lost: an experiment that was killed, stopped or struck by an error at any moment goes
on with `--restart`, and its tables and trajectory are in the end the same bytes as those of a run
that nothing disturbed. This page is the record of `make check-faults`, which tries it in 15 to 40
minutes: {date}, {machine}, {trials} trials.

- **{lost} rows lost, {doubled} rows doubled, {silent} silent restarts.**
- **{foreign} files of others touched, {wrong} wrong results.**

## Runs

Each trial runs an experiment with one fault and finishes it by `orrery run --restart`. It then
compares every CSV table and the trajectory byte by byte with those of an uninterrupted run, and
`run.json` word by word, except for times and restarts. If the program must refuse a change (of an
output or the experiment), the trial undoes it after the refusal and finishes the run.

| word | meaning |
|---|---|
| *lost*, *doubled* | a row or frame that is missing, or there twice |
| *silent* | a restart that does not begin at the newest whole checkpoint, or of which `run.log` \
and `run.json` do not say where it began |
| *ended* | how the process with the fault ended: its [exit status]\
(manual/reliability.md#exit-statuses-and-what-to-do-after-each), a signal, or the kill; 75 × 312: \
status 75 in 312 trials |
| *EIO*, *ENOSPC* | the system says that the disk failed, or that it is full |
"""

MIDDLE = """
## Studies, files, g(r)

These are tried in the same way, in a folder that also has files of others: tables beside those of
the [study](manual/studies.md), a document in the folder of a member, a link that leads elsewhere.

| tried | must hold |
|---|---|
| sweeps and convergence tests: a fault at each system call that any of their processes makes \
| the same command finishes them, and all tables and trajectories have the bytes of an \
undisturbed study |
| job arrays: 32 commands `--member k` at once | each ends with the status of its own member; the \
table is complete when the last one ends |
| a changed config | it is refused, with nothing touched; with `--force` all results are new |
| `convert` | the old file or the whole new one is there; a second command removes what the first \
one has left; with a damaged file it ends with status 65, or its output has the numbers that are \
in the file |
| g(r) | the counts are those of all pairs, one by one |

| word | meaning |
|---|---|
| *lost* | a row or file that is missing even after the next command |
| *foreign files touched* | a file that was there before and is not Orrery's has another kind, \
inode, time or bytes |
| *wrong* | the command reported success, but the files are not those of an undisturbed command |
"""

ASKED = """
## Answers

Each of these kinds of work would take minutes at least. At a random moment the trial asks it to
end (by SIGTERM, SIGINT or the file `stop`), in some trials after it asked for a checkpoint (by the
file `checkpoint`). A run is then continued by `--restart --max-time 2`. *Longest* is the longest
time from the request, or from the end of `--max-time`, until the process ended or removed the file
`checkpoint`. The program promises 2 s.
"""

SWEEPS = """
## Sweeps of many members

Measured by hand on 26 November 2026: sweeps over the eccentricity of two bodies, ten steps for each
member, on two cores and a disk. Times are CPU time of the program and its members. *Again* is the
same command with nothing left to do. The 100,000, which are the most that a sweep may have, were
stopped once by SIGTERM, after 95,515.

| members | `check` | `run --dry-run` | one `--member` | all of them | again |
|---:|---:|---:|---:|---:|---:|
| 1,000 | 0.2 s | 0.2 s | 0.05 s | 4.6 s (5.9 s of wall time) | 0.3 s |
| 10,000 | 0.3 s | 0.3 s | 0.3 s | 56 s (61 s of wall time) | 2.8 s |
| 100,000 | 1.4 s | 1.4 s | 1.8 s | 631 s (715 s of wall time) | 27 s |
| 1,000,000 | refused (78) | refused | refused | refused | refused |
"""

SHIMS = """
Two preloaded libraries make the faults (`validation/faults/shim-*.c`): a call on a file
fails, moves only a part of its bytes, or kills the process; an allocation fails; a clock jumps.
File systems, file size limits, closed streams, devices, pipes, links and second processes are
real. The GPU backend runs on a CPU, by its [executor](gpu.md). `convert` reads HDF5 in a process of
its own: its status is 71 if this is killed, and 65 after an error of the disk as after damage,
which libhdf5 does not tell apart.
"""

HOSTILE = """
## Directories of a stranger

Each of these directories has a hostile string in the place of a name, a unit or a word: a command,
a path, a formula, an escape sequence or a piece of HTML. Others have random strings in several
places. The trials give them to `orrery report`, `watch`, `run`, `verify` and `convert`; a preloaded
library stops any program but gnuplot before it begins. A *command* counts if it ran, or if a
gnuplot script holds statements that the program does not write; a *file* counts if it has changed
and does not belong to the command that was given.
"""

TAIL = """
## Loss of power

A loss of power takes what the disk does not have yet: bytes of a file until its `fsync`, names in a
folder until the `fsync` of that folder, all of them or a part, and in any order. So
`validation/faults/powercut.py` keeps a journal of all that a command does to files and folders, and
builds for every prefix of it the folders that could be left. In each of them

- the newest checkpoint that had been put on the disk, or a newer one, is there, and whole;
- every table and trajectory is there, with all the bytes that the checkpoint counts on;
- `run.json` lists what is there, and says that a run is done only if all of it is there;
- `study.csv` lists only members whose results are there; what `convert` replaces is the old
  file or the whole new one.

The program must then go on from some of these folders: the trials of the tables above.

So a loss of power costs the steps since the last checkpoint, and the last lines of `run.log`. It
costs more if a file system or a disk says that bytes are safe when they are not.

## Not tried

Allocations that fail inside libhdf5, which does not survive them. Jobs of several ranks and failing
GPUs have tests of their own (`validation/mpi/faults.py`, `validation/gpu/run-on-gpu.py`).
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
