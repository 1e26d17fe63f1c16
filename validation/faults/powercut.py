"""
The power goes: what the disk may hold then, at every moment of a run, a restart, a study.

What was not flushed may be lost, all of it or parts, and in any order: bytes of a file until its
fsync(), names of a folder until the fsync() of that. A program is run once with the journal of
shim-calls.c, and for each prefix of it the folders are built as a power cut could leave them; the
method is that of ALICE (Pillai et al. 2014, OSDI) and CrashMonkey (Mohan et al. 2018, OSDI).
"""

import hashlib
import json
import os
import pathlib
import random
import shutil
import struct

import harness
import tap
from harness import Experiment, Row, Study, fault, shuffled, some

CHECKPOINTS = ("checkpoint.orr", "checkpoint.orr.prev")


# The program tries this number of cuts of each kind; all are looked at here.
MOST = 120


# --- a disk that forgets --------------------------------------------------------------------------

class File:
    def __init__(self, content=b""):
        self.kept = content  # what a power cut leaves in any case
        self.pending = []    # (offset, bytes), or (length, None) where it is cut

    def content(self, count=None, torn=False):
        """With the first `count` of what is pending, and half of the next write if it is torn."""
        content = bytearray(self.kept)
        count = len(self.pending) if count is None else count
        for number, (offset, data) in enumerate(self.pending[:count + torn]):
            if data is None:
                content[offset:] = bytes(max(0, offset - len(content)))
                continue
            data = data[:len(data) // 2] if number == count else data
            content.extend(bytes(max(0, offset - len(content))))
            content[offset:offset + len(data)] = data
        return bytes(content)

    def flush(self):
        self.kept, self.pending = self.content(), []


class Folder:
    def __init__(self):
        self.kept = {}
        self.pending = []  # each a dictionary of names and what they lead to then; None: nothing

    def names(self, chosen=None):
        names = dict(self.kept)
        for change in self.pending if chosen is None else chosen:
            names.update(change)
        return {name: child for name, child in names.items() if child}

    def flush(self):
        self.kept, self.pending = self.names(), []


class Disk:
    """The current folder as it is; then as the journal says."""

    def __init__(self):
        self.inodes = {}
        self.root = self.load(".")

    def load(self, path):
        if os.path.isdir(path):
            found = Folder()
            found.kept = {name: self.load(os.path.join(path, name)) for name in os.listdir(path)}
        else:
            found = File(pathlib.Path(path).read_bytes())
        self.inodes[os.stat(path).st_ino] = found
        return found

    def do(self, call, words, data):
        """One line of the journal; of files elsewhere nothing is known."""
        where = self.inodes.get(int(words[0]))
        if call in ("create", "mkdir"):
            self.inodes[int(words[2])] = File() if call == "create" else Folder()
        if not where:
            return
        if call == "write":
            where.pending.append((int(words[1]), data))
        elif call == "truncate":
            where.pending.append((int(words[1]), None))
        elif call == "fsync":
            where.flush()
        elif call in ("create", "mkdir"):
            where.pending.append({words[1]: self.inodes[int(words[2])]})
        elif call == "unlink":
            where.pending.append({words[1]: None})
        else:
            assert words[0] == words[2], words  # within one folder
            moved = {words[1]: None} if call == "rename" else {}
            where.pending.append({**moved, words[3]: where.names()[words[1]]})


def read_journal(path):
    """(call, words, bytes) of each line."""
    journal, offset, content = [], 0, pathlib.Path(path).read_bytes()
    while offset < len(content):
        end = content.index(b"\n", offset)
        call, *words = content[offset:end].decode().split(" ")
        length = int(words[2]) if call == "write" else 0
        journal.append((call, words, content[end + 1:end + 1 + length]))
        offset = end + 1 + length
    return journal


# What becomes of the bytes and of the names that no fsync() has asked for.
BYTES = {
    "no bytes": lambda file, dice: file.kept,
    "all bytes": lambda file, dice: file.content(),
    "lengths": lambda file, dice: file.kept + bytes(max(0, len(file.content()) - len(file.kept))),
    "half of the bytes": lambda file, dice: file.content(len(file.pending) // 2, True),
    "some bytes": lambda file, dice: file.content(dice.randint(0, len(file.pending)), True),
}
NAMES = {
    "no names": lambda pending, dice: [],
    "all names": lambda pending, dice: pending,
    "the last name": lambda pending, dice: pending[-1:],
    "all names but the last": lambda pending, dice: pending[:-1],
    "some names": lambda pending, dice: [change for change in pending if dice.random() < 0.5],
}
WAYS = (("no bytes", "no names"), ("no bytes", "all names"), ("all bytes", "no names"),
        ("all bytes", "all names"), ("lengths", "all names"),
        ("half of the bytes", "the last name"),
        ("no bytes", "all names but the last"), ("some bytes", "some names"))


def left_of(thing, way, dice):
    """What a power cut leaves: bytes of a file, or a dictionary of a folder."""
    if isinstance(thing, File):
        return BYTES[way[0]](thing, dice)
    chosen = NAMES[way[1]](thing.pending, dice)
    return {name: left_of(child, way, dice) for name, child in sorted(thing.names(chosen).items())}


def digest(tree):
    """Equal trees have equal ones; of a lock only that it is there counts."""
    if isinstance(tree, bytes):
        return hashlib.blake2b(tree).hexdigest()
    return repr([(name, name.endswith(".lock") or digest(child)) for name, child in tree.items()])


class Cut:
    """A moment of the journal, and what a power cut in it may leave of a folder."""

    def __init__(self, trial, tree, safe):
        self.trial, self.tree = trial, tree
        self.safe = safe  # what is left in any case, wherever the folder itself may be


def is_within_a_stream(pair):
    """Two writes to one file: what is left between them is left behind them too, if torn."""
    return [(call, words[0]) for call, words, _ in pair] == 2 * [("write", pair[0][1][0])]


def cuts_of(disk, journal, folder):
    """
    All cuts that leave something different of `folder`, or should; all that its checkpoints ever
    were: whatever was given their name; and what is on the disk for sure in the end.
    """
    seen, cuts = set(), []
    before = disk.root.names().get(folder, Folder()).names()
    checkpoints = {before[name].content() for name in CHECKPOINTS if name in before}
    for number, (call, words, data) in enumerate(journal, 1):
        disk.do(call, words, data)
        if not harness.everything() and is_within_a_stream(journal[number - 1:number + 1]):
            continue
        if call == "rename" and words[3] == CHECKPOINTS[0]:
            checkpoints.add(disk.inodes[int(words[2])].names()[words[3]].content())
        there = disk.root.names().get(folder)
        safe = left_of(there, WAYS[0], None) if there else {}
        for way in WAYS:
            tree = left_of(disk.root, way, random.Random(number)).get(folder)
            key = tree is None, digest(tree or {}), safe.get(CHECKPOINTS[0])
            if key not in seen:
                seen.add(key)
                cuts.append(Cut(f"{' '.join([call, *words[1:]])} (call {number}), {way[0]}, "
                                f"{way[1]}", tree, safe))
    return cuts, checkpoints, safe


def build(tree, path):
    shutil.rmtree(path, ignore_errors=True)
    if tree is None:
        return
    os.mkdir(path)
    for name, child in tree.items():
        if isinstance(child, bytes):
            pathlib.Path(path, name).write_bytes(child)
        else:
            build(child, os.path.join(path, name))


def recorded(experiment, *arguments, base=None):
    """The disk before a run of `trial` (or a restart of a copy of `base`), and its journal."""
    harness.begin("trial", base)
    disk = Disk()
    pathlib.Path("journal").unlink(missing_ok=True)
    result = experiment.run("trial", *arguments, faults={
        **fault("none"), "ORRERY_FAULT_JOURNAL": os.path.abspath("journal")})
    assert result.returncode == experiment.status, result
    return disk, read_journal("journal")


# --- the order of the calls -----------------------------------------------------------------------

def check_order(disk, journal):
    """
    A file takes the place of another only when its bytes are on the disk, and those of all files of
    the run if it is a checkpoint; and the next call is the one that puts its name there.
    """
    commits = []
    for number, (call, words, data) in enumerate(journal):
        folder = disk.inodes.get(int(words[0]))
        if call == "rename" and folder:
            names = folder.names()
            assert not names[words[1]].pending, f"{words[3]}: renamed, but not flushed"
            if words[3] == "checkpoint.orr":
                late = [name for name, file in names.items() if name != "run.lock" and
                        isinstance(file, File) and file.pending]
                assert not late, f"{late} not flushed before the checkpoint"
                new = [name for change in folder.pending for name, file in change.items()
                       if file and name not in (words[1], "checkpoint.orr.prev")]
                assert not new, f"the names {new} not flushed before the checkpoint"
            after = journal[number + 1]
            assert after[0] == "fsync" and after[1][0] == words[2], f"{words[3]}: then {after[:2]}"
            commits.append(words[3])
        disk.do(call, words, data)
    return commits


def test_the_order_of_the_calls():
    """outputs on the disk, the checkpoint on the disk, its name, and the folder on the disk"""
    experiment = Experiment()
    commits = check_order(*recorded(experiment))
    assert commits.count("checkpoint.orr") == 5 and commits.count("run.json") == 3, commits
    assert commits[0] == "run.json" and commits[-1] == "run.json", commits
    study = Study(whole="study")
    commits = check_order(*recorded(study))
    assert commits.count("checkpoint.orr") == 6 and "study.csv" in commits, commits


# --- what must be there ---------------------------------------------------------------------------

def recorded_lengths(content, further):
    """
    The bytes of each table and trajectory that a checkpoint counts on; `further`: where the run
    goes beyond the end that it had, and the rows of that end go.
    """
    lengths = {name: struct.unpack_from("<Q", content, start)[0]
               for name, _, start, length in harness.sections(content) if length == 16}
    return [lengths.get(f"early:{name}", length) if further else length
            for name, length in lengths.items() if name.partition(":")[0] in ("series", "output")]


def step_in(content):
    start = next(start for name, _, start, _ in harness.sections(content) if name == "counts")
    return struct.unpack_from("<Q", content, start + 16)[0]


def unlisted_of(cut):
    """Files of a run without a run.json that lists them: nobody would dare to replace them."""
    tree = cut.tree or {}
    files = sorted(set(tree) - {"run.lock", "report.html.lock", "run.json.orrery.tmp"})
    return f"no run.json, but {files}" if files and "run.json" not in tree else ""


def missing_of(cut, experiment, checkpoints, further):
    """What a restart needs, and a power cut has not left; "" where all is well."""
    tree = cut.tree or {}
    found = {name: tree[name] for name in CHECKPOINTS if name in tree}
    damaged = [name for name, content in found.items() if content not in checkpoints]
    if damaged:
        return f"{damaged} damaged"
    safe = cut.safe.get(CHECKPOINTS[0])
    steps = [step_in(content) for content in found.values()]
    if safe and (not steps or max(steps) < step_in(safe)):
        return f"checkpoints of {steps}, but step {step_in(safe)} was on the disk"
    for name, content in found.items():
        for file, length in zip(experiment.files, recorded_lengths(content, further)):
            if tree.get(file, b"")[:length] != experiment.whole[file][:length] or \
                    file not in tree:
                return f"{name} counts on {length} bytes of {file}"
    if not further and "run.json" in tree and harness.is_done(json.loads(tree["run.json"])):
        changed = [file for file in experiment.files if tree.get(file) != experiment.whole[file]]
        return f"run.json says that all is done, but {changed} differ" if changed else ""
    return ""


def power_cuts(row, experiment, count, *arguments, base=None, further=False, after=None):
    """
    Each cut leaves what a restart needs; and with some of them it is tried: the bytes are those of
    a run that nothing disturbed. `after` is another command that must bring them.
    """
    cuts, checkpoints, end = cuts_of(*recorded(experiment, *arguments, base=base), "trial")
    assert len(cuts) > 20, len(cuts)
    late = [name for name in (*experiment.files, *CHECKPOINTS, "run.json", "run.cfg")
            if end.get(name) != pathlib.Path("trial", name).read_bytes()]
    if late:
        row.is_wrong("the end", f"done, but {late} not on the disk yet")
    for cut in cuts:
        missing = unlisted_of(cut)
        if not missing and after is None:
            missing = missing_of(cut, experiment, checkpoints, further)
        if missing:
            row.problem(cut.trial, missing)
    for cut in some(shuffled(cuts)[:MOST], count):
        build(cut.tree, "trial")
        row.trials += 1
        row.ends["power cut"] += 1
        if after is None:
            row.finish(cut.trial, experiment, "trial")
            continue
        result = experiment.run("trial", *after)
        if result.returncode != experiment.status:
            row.problem(cut.trial, f"{after} ended with {result.returncode}: {result.stderr}")
        row.compare(cut.trial, experiment, "trial")


def test_power_cuts_of_a_run():
    """the power goes at any moment of a run: a restart finds all that it needs"""
    with Row(20, "the power goes at one of many moments of a run") as row:
        power_cuts(row, Experiment(), 6)


def test_power_cuts_of_a_restart():
    """the power goes at any moment of a restart, of a killed run or beyond its end"""
    experiment = Experiment()
    harness.begin("killed")
    experiment.run("killed", faults=fault("kill", nth=4, calls="rename", file=CHECKPOINTS[0]))
    with Row(20, "the power goes at one of many moments of a restart") as row:
        power_cuts(row, experiment, 4, "--restart", base="killed")
    assert experiment.run("shorter", "-P", "time.end=0.17").returncode == 0  # on no cadence
    with Row(20, "the power goes at one of many moments of a restart with a later end") as row:
        power_cuts(row, experiment, 4, "--restart", base="shorter", further=True)


def test_power_cuts_of_a_replacement():
    """the power goes at any moment of run --force: the same command replaces what is left"""
    experiment = Experiment()
    with Row(20, "the power goes at one of many moments of run --force") as row:
        power_cuts(row, experiment, 6, "--force", base="whole", after=["--force"])


def test_power_cuts_of_a_compressed_trajectory():
    """the power goes while a trajectory is packed, or unpacked for a restart"""
    experiment = Experiment(harness.CONFIG.replace("digits = 17", "digits = 17; compress = true"),
                            files=(*harness.FILES[:2], "trajectory.xyz.gz"))
    assert experiment.run("shorter", "-P", "time.end=0.24").returncode == 0
    with Row(20, "the power goes at one of many moments of a restart with a compressed "
             "trajectory") as row:
        power_cuts(row, experiment, 4, "--restart", base="shorter", after=["--restart"])


def flat(tree, path=""):
    """The files of a tree by their paths."""
    found = {}
    for name, child in (tree or {}).items():
        if isinstance(child, bytes):
            found[path + name] = child
        else:
            found.update(flat(child, f"{path}{name}/"))
    return found


def test_power_cuts_of_a_study():
    """the power goes at any moment of a sweep: its table stands for members that are there"""
    study = Study()
    cuts, checkpoints, end = cuts_of(*recorded(study), "trial")
    with Row(21, "a sweep, the power goes at one of many moments") as row:
        for cut in cuts:
            files = flat(cut.tree)
            lost = [path for path, content in study.whole.items() if files.get(path) != content]
            if "study.csv" in files and lost:
                row.is_wrong(cut.trial, f"study.csv is there, {lost} differ")
            damaged = [path for path, content in files.items()
                       if os.path.basename(path) in CHECKPOINTS and content not in checkpoints]
            if damaged:
                row.problem(cut.trial, f"{damaged} damaged")
        late = [path for path, content in study.whole.items() if flat(end).get(path) != content]
        if late:
            row.is_wrong("the end", f"done, but {late} not on the disk yet")
        for cut in some(shuffled(cuts)[:MOST], 2):
            build(cut.tree, "trial")
            row.trials += 1
            row.ends["power cut"] += 1
            row.complete(cut.trial, study, "trial")


class Conversion(Experiment):
    """A file that is there is replaced by one in another format."""

    def __init__(self):
        self.status = 0
        harness.begin("before")
        os.mkdir("before")
        pathlib.Path("before/out.csv").write_text("of somebody's old bodies\n")

    def command(self, directory, *arguments):
        return [tap.ORRERY, "convert", "whole/trajectory.xyz", f"{directory}/out.csv", "--force",
                *arguments]


def test_power_cuts_of_convert():
    """the power goes while convert replaces a file: the old bytes, or all of the new ones"""
    Experiment()
    conversion = Conversion()
    disk, journal = recorded(conversion, base="before")
    old, new = (pathlib.Path(name, "out.csv").read_bytes() for name in ("before", "trial"))
    cuts, _, end = cuts_of(disk, journal, "trial")
    with Row(21, "convert, the power goes at one of many moments") as row:
        for cut in cuts:
            row.trials += 1
            row.ends["power cut"] += 1
            if cut.tree["out.csv"] not in (old, new):
                row.is_wrong(cut.trial, "neither the old file nor the new one")
        assert len(cuts) > 4 and end["out.csv"] == new != old, len(cuts)


tap.main()
