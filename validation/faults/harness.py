"""
Trials: an experiment, a fault, restarts until it is finished, and what was lost on the way.

A script of this folder alone, as `make check` runs it, tries a sample. With ORRERY_FAULTS=DIR it
tries everything and leaves its rows of the table in DIR; page.py makes docs/reliability.md of them.
"""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import stat
import struct
import subprocess
import sys

import tap

ROWS = os.environ.get("ORRERY_FAULTS")
BUILD = os.environ.get("ORRERY_BUILD", os.getcwd())
SANITIZED = tap.PATIENCE > 1

# 40 steps with two tables, trajectories, three checkpoints on the way and one at the end.
CONFIG = """
name = "trial";
bodies = { initial = "plummer"; count = 20; seed = 7; };
physics = { softening = 0.05; };
time = { integrator = "velocity-verlet"; step = 0.01; end = 0.4; };
compute = { threads = 1; };
diagnostics = ( { type = "conservation"; every = 2; },
                { type = "lagrangian-radii"; every = 5; fractions = [0.25, 0.5]; } );
outputs = ( { type = "xyz"; every = 4; digits = 17; }, { type = "dcd"; every = 3; } );
checkpoint = { every_steps = 12; };
expect = ( { quantity = "energy_error"; at_most = 0.1; } );
"""
FILES = ("conservation.csv", "lagrangian-radii.csv", "trajectory.xyz", "trajectory.dcd")


def everything():
    return bool(ROWS)


def some(items, count, few=None):
    """All of them, or `count` spread evenly over them; `few`, else half as many, where no thorough
    tests are asked for."""
    items = list(items)
    if not tap.is_thorough():
        count = few or (count + 1) // 2
    if SANITIZED:
        count = (count + 2) // 3  # the processes are slow, and what they do is the same
    if everything() or len(items) <= count:
        return items
    return [items[int((k + 0.5) * len(items) / count)] for k in range(count)]


def of_each_kind(calls, count=1, kind=None):
    """
    The numbers of the calls of a log: all, or `count` of each kind of call on each file, since an
    error of fsync(), close(), open(), link() or rename() is another one than that of a write.
    """
    groups = collections.defaultdict(list)
    for number, line in enumerate(calls, 1):
        groups[kind(line) if kind else line].append(number)
    return sorted(number for numbers in groups.values() for number in some(numbers, count))


def call_of(line):
    return line.partition(" ")[0]


def shuffled(items):
    """In an order of no meaning, always the same: a sample of a grid has something of all."""
    items = list(items)
    return random.Random(len(items)).sample(items, len(items))


def shim(name):
    path = os.path.join(BUILD, "validation/faults", f"shim-{name}.so")
    if not os.path.exists(path):
        raise tap.Skip("the shim is not built: it needs Linux and the GNU C library")
    return path


# --- a process with a fault -----------------------------------------------------------------------

def fault(what, value=0, nth=1, times=1, calls="all", file="-"):
    """The environment that lets a call go wrong; see shim-calls.c."""
    return {"LD_PRELOAD": shim("calls"),
            "ORRERY_FAULT": f"{what} {value} {nth} {times} {calls} {file}"}


FOREVER = 1000000


def environment(extra=None):
    # A shim comes before the runtime of the sanitizers, which would mind.
    options = os.environ.get("ASAN_OPTIONS", "")
    return {**os.environ, "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0", **(extra or {})}


class Experiment:
    """A config, and the files of its uninterrupted run, which ends with `status`."""

    def __init__(self, config=CONFIG, *arguments, files=FILES, program=None, status=0):
        self.program = program or tap.ORRERY
        self.arguments = arguments
        self.files = files
        pathlib.Path("trial.cfg").write_text(config)
        begin("whole")
        result = self.run("whole")
        assert result.returncode == status, result
        self.status = status
        self.whole = {name: pathlib.Path("whole", name).read_bytes() for name in files}
        self.verdict = verdict_of("whole")

    def command(self, directory, *arguments):
        return [self.program, "run", "trial.cfg", "-q", "-o", directory, *self.arguments,
                *arguments]

    def run(self, directory, *arguments, faults=None, **options):
        return subprocess.run(self.command(directory, *arguments), env=environment(faults),
                              capture_output=True, text=True, timeout=120 * tap.PATIENCE, **options)

    def calls(self, arguments=(), base=None, **selection):
        """The calls on files of a run, or of a restart of a copy of `base`: lines of name, path."""
        begin("counted", base)
        log = pathlib.Path("calls.log")
        log.unlink(missing_ok=True)
        result = self.run("counted", *arguments,
                          faults={**fault("none", **selection), "ORRERY_FAULT_LOG": "calls.log"})
        assert result.returncode in (0, self.status), result
        return log.read_text().splitlines()

    def changed_files(self, directory):
        """Rows and frames that are not there, that are there too often, and names that differ."""
        lost = doubled = 0
        differing = []
        for name, expected in self.whole.items():
            path = pathlib.Path(directory, name)
            found = path.read_bytes() if path.exists() else b""
            if found == expected:
                continue
            differing.append(name)
            before, after = pieces(name, expected), pieces(name, found)
            lost += sum((before - after).values())
            doubled += sum(max(0, count - before[piece]) for piece, count in after.items()
                           if piece in before)
        return lost, doubled, differing


def pieces(name, content):
    """How often each row of a table or frame of a trajectory is there."""
    if name.endswith(".csv"):
        return collections.Counter(content.splitlines(keepends=True))
    return collections.Counter(re.split(rb"(?m)^(?=\d+$)", content))


def begin(directory, base=None):
    """An empty place, or a copy of `base`."""
    shutil.rmtree(directory, ignore_errors=True)
    if base:
        shutil.copytree(base, directory, symlinks=True)


def contents(directory):
    """What a fault must not touch: every file but the lock, which a dead process may leave."""
    return {path.name: path.read_bytes() for path in pathlib.Path(directory).iterdir()
            if path.name != "run.lock"}


def litter(directory):
    """Temporary files and locks that a study which has ended would leave to others."""
    return sorted(str(path.relative_to(directory)) for path in pathlib.Path(directory).rglob("*")
                  if path.suffix == ".lock" or ".tmp" in path.name)


def state_of(path):
    """What may not change of a file that is another's: kind, inode, time, content or target."""
    about = os.lstat(path)
    content = None
    if stat.S_ISREG(about.st_mode):
        content = pathlib.Path(path).read_bytes()
    elif stat.S_ISLNK(about.st_mode):
        content = os.readlink(path)
    elif stat.S_ISDIR(about.st_mode):
        return about.st_mode, about.st_ino  # its time changes with the lock that comes and goes
    return about.st_mode, about.st_ino, about.st_mtime_ns, about.st_rdev, content


def tree(directory):
    """The states of all that is in a directory, by path, but for locks. Links are not followed."""
    found = {}
    for folder, folders, files in os.walk(directory):
        for name in folders + files:
            if not name.endswith(".lock"):
                found[os.path.relpath(os.path.join(folder, name), directory)] = \
                    state_of(os.path.join(folder, name))
    return found


# --- studies --------------------------------------------------------------------------------------

SWEEP = """
name = "trial";
bodies = { initial = "plummer"; count = 12; seed = 7; };
physics = { softening = 0.05; };
time = { integrator = "velocity-verlet"; step = 0.01; end = 0.1; };
diagnostics = ( { type = "conservation"; every = 2; } );
outputs = ( { type = "xyz"; every = 5; digits = 17; } );
checkpoint = { every_steps = 1000; };
expect = ( { quantity = "energy_error"; at_most = 0.1; } );
sweep = ( { key = "bodies.seed"; values = [3, 5, 8]; } );
"""


# A run of which much must be remembered: criteria that failed before it was interrupted, and one
# that never counts a row; energies that jump, members that are left out because of theirs.
FAILING = """
name = "trial";
bodies = { initial = "plummer"; count = 9; seed = 3; };
physics = { softening = 0.0001; };
time = { integrator = "velocity-verlet"; step = 0.004; end = 3.0; };
compute = { threads = 1; };
ensemble = { systems = 5; energy_error_limit = 0.004; };
diagnostics = ( { type = "conservation"; every = 7; },
                { type = "close-encounters"; every = 3; },
                { type = "virial"; every = 50; },
                { type = "lagrangian-radii"; every = 30; fractions = [0.25, 0.5]; } );
outputs = ( { type = "xyz"; every = 40; digits = 17; } );
checkpoint = { every_steps = 60; };
energy_budget = { measure = true; every = 40; };
trust = { shadow = true; half_step = true; every = 20; };
expect = ( { quantity = "energy_error"; at_most = 1e-3; },
           { quantity = "conservation-ensemble.energy_error_q50"; at_most = 0.3; },
           { quantity = "virial_ratio"; between = [0.2, 1.2]; before = 1.0; },
           { quantity = "virial_ratio"; between = [0.5, 1.3]; after = 0.7; before = 0.9; },
           { quantity = "radius_50"; at_least = 0.0; after = 99.0; } );
"""
FAILING_FILES = tuple(f"{name}{end}.csv" for end in ("", "-ensemble") for name in
                      ("conservation", "close-encounters", "virial", "lagrangian-radii")) + \
    ("energy-budget.csv", "trust.csv", "trajectory.xyz")


class Study(Experiment):
    """
    A sweep or a convergence test. Its members work one after the other, so that the nth call is
    always the same one, unless `cores` is more than 1.
    """

    def __init__(self, config=SWEEP, *arguments, files=None, cores=1, whole="whole"):
        self.program = tap.ORRERY
        self.arguments = arguments
        self.cores = cores
        self.config = f"{whole}.cfg"
        pathlib.Path(self.config).write_text(config)
        begin(whole)
        result = self.run(whole)
        assert result.returncode in (0, 1), result
        self.status = result.returncode
        self.whole = results(whole)
        assert len(self.whole) > 2, self.whole.keys()

    def command(self, directory, *arguments):
        return [self.program, "run", self.config, "-q", "-o", directory, *self.arguments,
                *arguments]

    def changed_files(self, directory):
        lost, doubled, differing = super().changed_files(directory)
        return lost, doubled, differing + sorted(results(directory).keys() - self.whole.keys())

    def run(self, directory, *arguments, faults=None, **options):
        """Until it has ended, and all members with it: they hold its standard error too."""
        return super().run(directory, *arguments, start_new_session=True,
                           faults={"OMP_NUM_THREADS": str(self.cores), **(faults or {})}, **options)


def results(directory):
    """The tables and trajectories of a study and its members."""
    return {str(path.relative_to(directory)): path.read_bytes()
            for path in sorted(pathlib.Path(directory).rglob("*"))
            if path.suffix in (".csv", ".xyz") and path.name not in CANARIES}


# What others have put where a study works: beside its files, in a member, and outside.
CANARIES = ("notes.csv", "thesis.tex")


def plant(directory, base=None):
    """
    An empty place for a study, or a copy of `base`, in which others have files, and a link that
    leads out of it. They have one in the directory of a member too, where there is one: elsewhere
    that name is already in use, and the study is right to refuse it.
    """
    begin(directory, base)
    begin("outside")
    for path in ("outside/deep", f"{directory}/paper"):
        os.makedirs(path)
    for path in ("outside/study.csv", "outside/deep/run.json", f"{directory}/notes.csv",
                 f"{directory}/paper/thesis.tex", f"{directory}/002/thesis.tex"):
        if os.path.isdir(os.path.dirname(path)):
            pathlib.Path(path).write_text("not of this study\n")
    os.symlink("../outside", f"{directory}/elsewhere")


def planted(directory):
    """The states of what plant() made."""
    own = (f"{directory}/{name}" for name in
           ("notes.csv", "paper", "paper/thesis.tex", "002/thesis.tex", "elsewhere"))
    return {**{path: state_of(path) for path in own if os.path.lexists(path)},
            **{f"outside/{path}": state for path, state in tree("outside").items()}}


# --- checkpoints, read without the program --------------------------------------------------------

NAME_SIZE = 56


def sections(content):
    """(name, offset of its header, offset of its content, length) of each."""
    assert content[:8] == b"ORRERYCP"
    found, offset = [], 16
    while offset < len(content):
        start = offset + NAME_SIZE + 16  # name, length and checksum of the content
        name = content[offset:offset + NAME_SIZE].rstrip(b"\0").decode()
        length = struct.unpack_from("<Q", content, offset + NAME_SIZE)[0]
        found.append((name, offset, start, length))
        offset = start + length
    assert found[-1][0] == "end" and offset == len(content)
    return found


def step_of(path):
    """The step of a checkpoint; None where there is none."""
    path = pathlib.Path(path)
    if not path.exists():
        return None
    content = path.read_bytes()
    start = next(start for name, _, start, _ in sections(content) if name == "counts")
    return struct.unpack_from("<Q", content, start + 16)[0]


def newest_step(directory):
    steps = [step_of(pathlib.Path(directory, f"checkpoint.orr{end}")) for end in ("", ".prev")]
    return max((step for step in steps if step is not None), default=None)


# --- rows of the table ----------------------------------------------------------------------------

def about_run(directory):
    """What run.json says; {} where it says nothing."""
    try:
        return json.loads(pathlib.Path(directory, "run.json").read_text())
    except (OSError, ValueError):
        return {}


# What run.json says of the moment, the machine and the way to the end, and not of the result.
OF_THE_WAY = {"host", "started", "written", "wall_seconds", "advance_seconds", "cpu_seconds",
              "interactions_per_second", "asked", "legs", "first_step", "restarts", "compute",
              "config", "bitwise", "files", "program"}


def verdict_of(directory):
    """What run.json says of the result: each word of it is the same, whatever the way to it."""
    return {key: value for key, value in about_run(directory).items() if key not in OF_THE_WAY}


def is_done(about):
    """Had it ended by itself before it was disturbed? A restart leaves such a run as it is."""
    return about.get("exit_status") in (0, 1)


class Row:
    """One kind of fault: what was tried and what came of it. As a context it ends in a verdict."""

    def __init__(self, number, name):
        self.number, self.name = number, name
        self.trials = self.lost = self.doubled = self.silent = self.foreign = self.wrong = 0
        self.commands = self.processes = 0  # that a stranger's directory brought to run
        self.longest = 0.0  # seconds until an answer
        self.ends = collections.Counter()
        self.problems = []

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind:
            return
        waited = f", {self.longest:.2f} s at most" if self.longest else ""
        print(f"# {self.name}: {self.trials} trials, {dict(self.ends)}{waited}")
        assert self.trials > 0, self.name
        if ROWS:
            path = pathlib.Path(ROWS, os.path.basename(sys.argv[0]) + ".json")
            rows = json.loads(path.read_text()) if path.exists() else []
            rows.append({key: getattr(self, key) for key in
                         ("number", "name", "trials", "ends", "lost", "doubled", "silent",
                          "foreign", "wrong", "commands", "processes", "longest")})
            path.write_text(json.dumps(rows, indent=1))
        assert not self.problems, f"{len(self.problems)} problems\n" + "\n".join(self.problems[:20])

    def problem(self, trial, text):
        self.problems.append(f"{self.name}, {trial}: {text}")

    def ended(self, trial, result, expected=None):
        """Counts a trial, and how the process with the fault ended."""
        self.trials += 1
        code = result.returncode
        self.ends["killed" if code == -9 else f"signal {-code}" if code < 0 else f"{code}"] += 1
        if expected is not None and code not in expected:
            self.problem(trial, f"ended with {code}: {result.stderr[-300:]}")

    def compare(self, trial, experiment, directory):
        lost, doubled, differing = experiment.changed_files(directory)
        self.lost += lost
        self.doubled += doubled
        if differing:
            self.problem(trial, f"{differing} differ: {lost} lost, {doubled} doubled")
        self.compare_verdict(trial, experiment, directory)

    def compare_verdict(self, trial, experiment, directory):
        found = verdict_of(directory)
        for key in sorted(found.keys() | experiment.verdict.keys()):
            if found.get(key) != experiment.verdict.get(key):
                self.problem(trial, f"run.json: {key} is {found.get(key)}, "
                             f"was {experiment.verdict.get(key)}")

    def untouched(self, trial, before, after):
        """Counts what is not as it was, of two results of tree()."""
        touched = sorted(path for path in before.keys() | after.keys()
                         if before.get(path) != after.get(path))
        self.foreign += len(touched)
        if touched:
            self.problem(trial, f"touched: {touched}")

    def is_wrong(self, trial, text):
        """The program said that all went well, and what it left is not what it should be."""
        self.wrong += 1
        self.problem(trial, text)

    def complete(self, trial, study, directory, *arguments):
        """The same command finishes a study: the bytes of one that nothing disturbed."""
        result = study.run(directory, *arguments)
        if result.returncode != study.status:
            self.problem(trial, f"the same command ended with {result.returncode}: "
                         f"{result.stderr[-300:]}")
        lost, doubled, differing = study.changed_files(directory)
        self.lost += lost
        self.doubled += doubled
        if differing:
            self.is_wrong(trial, f"{differing} differ: {lost} lost, {doubled} doubled")
        left = litter(directory)
        if left:
            self.problem(trial, f"litter: {left}")

    def finish(self, trial, experiment, directory, *arguments, step=None):
        """
        Restarts until the run is finished, and compares. A restart must go on from the newest
        checkpoint (or from `step`) and say so; from the beginning only where there is none.
        """
        step = newest_step(directory) if step is None else step
        before = about_run(directory)
        result = experiment.run(directory, "--restart", *arguments)
        if result.returncode == 66 and step is None:
            # The run had not begun to be one: no run.json. What the user does is to run it.
            result = experiment.run(directory, *arguments)
        elif result.returncode == experiment.status and not (is_done(before) and
                                                             before == about_run(directory)):
            self.told(trial, directory, step)
        if result.returncode != experiment.status:
            self.problem(trial, f"the restart ended with {result.returncode}: {result.stderr}")
        self.compare(trial, experiment, directory)
        litter = [path.name for path in pathlib.Path(directory).glob("*.tmp")]
        if litter or pathlib.Path(directory, "run.lock").exists():
            self.problem(trial, f"litter: {litter}")

    def told(self, trial, directory, step):
        """Does the log say from where the restart went on, and run.json?"""
        about = json.loads(pathlib.Path(directory, "run.json").read_text())
        lines = re.findall(r"restart: (?:goes on from \S+, step (\d+)|.*(begins anew))",
                           pathlib.Path(directory, "run.log").read_text())
        if step is None:
            said = bool(lines and lines[-1][1])
        else:
            said = bool(lines and lines[-1][0] == str(step) and about["restarts"] and
                        about["restarts"][-1]["step"] == step)
        if not said:
            self.silent += 1
            self.problem(trial, f"no word of a restart from step {step}: {lines[-1:]}")
