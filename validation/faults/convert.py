"""orrery convert: killed, struck by errors, pointed at what is no file, given damaged files."""

import errno
import gzip
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import time

import harness
import tap
from harness import FOREVER, Row, everything, fault, shuffled, some

FAILED = (66, 73, 74)
MEMORY = 4 << 30  # bytes of address space that a hostile file may make the program ask for
SECONDS = 20


def limited():
    if not harness.SANITIZED:  # these reserve terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def convert(*arguments, faults=None, **options):
    """With the status 124 where it takes too long."""
    command = [tap.ORRERY, "convert", *map(str, arguments)]
    try:
        return subprocess.run(command, capture_output=True, env=harness.environment(faults),
                              timeout=SECONDS * tap.PATIENCE, preexec_fn=limited,
                              start_new_session=True, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, b"", b"it hangs")


def has_hdf5():
    return pathlib.Path("input.hdf5").exists()


def make_inputs():
    """The same bodies in a file of every kind: input.xyz with all frames, the others with one."""
    harness.Experiment(harness.CONFIG.replace("end = 0.4", "end = 0.12"))
    shutil.copy("whole/trajectory.xyz", "input.xyz")
    for name in ("input.csv", "input.txt", "input.xyz.gz", "input.hdf5"):
        result = convert("input.xyz", name, *(["--all"] if name.endswith(".gz") else []))
        assert result.returncode == 0 or result.returncode == 69 and "hdf5" in name, result


# --- killed, and struck by errors -----------------------------------------------------------------

class Conversion:
    """One command, and what is in its folder before and after it. `force`: over an old file."""

    def __init__(self, source, target, *arguments, force=True):
        self.name = f"{source} to {target} {' '.join(arguments)}"
        self.arguments = ("-q", *arguments, os.path.abspath(source), f"trial/{target}")
        self.force = force
        self.old = {}
        self.begin()
        assert convert(*self.arguments).returncode == 0
        self.new = self.files()
        if force:
            self.old = {name: b"the old file of that name\n" for name in self.new}

    def begin(self):
        harness.plant("trial")
        for name, content in self.old.items():
            pathlib.Path("trial", name).write_bytes(content)

    def run(self, faults=None):
        return convert(*self.arguments, *(["--force"] if self.force else []), faults=faults)

    def files(self):
        """What is in the folder and was not planted there."""
        return {path.name: path.read_bytes() for path in pathlib.Path("trial").iterdir()
                if path.is_file() and str(path) not in harness.planted("trial")}

    def calls(self, **selection):
        self.begin()
        log = pathlib.Path("calls.log")
        log.unlink(missing_ok=True)
        result = self.run({**fault("none", **selection), "ORRERY_FAULT_LOG": "calls.log"})
        assert result.returncode == 0, result
        return log.read_text().splitlines()


def conversions():
    yield Conversion("input.xyz", "a.csv", "--all")
    yield Conversion("input.csv", "a.xyz", force=False)
    yield Conversion("input.txt", "a.xyz.gz")
    yield Conversion("input.xyz", "a.dcd", "--all")
    if has_hdf5():
        yield Conversion("input.xyz", "a.hdf5", "--all")
        yield Conversion("input.hdf5", "a.txt")
        yield Conversion("input.xyz", "a.vtkhdf", "--all")


def disturbed(row, conversion, trial, expected, faults):
    """Each file is the old one or the whole new one; a second command leaves the new ones alone."""
    conversion.begin()
    foreign = harness.planted("trial")
    result = conversion.run(faults)
    trial = f"{conversion.name}, {trial}"
    if "hdf5 to" in trial:
        # HDF5 is read in another process: it may be the one that is killed (71), and the library
        # does not say whether it was an error of the disk or of the data (65).
        expected = (*expected, 71 if -9 in expected else 65)
    row.ended(trial, result, expected)
    after = conversion.files()
    for name, content in conversion.new.items():
        if after.get(name) not in (conversion.old.get(name), content):
            row.is_wrong(trial, f"{name} is neither the old file nor the new one")
    if result.returncode == 0 and after != conversion.new:
        row.is_wrong(trial, f"success, and the folder has {sorted(after)}")
    if 0 < result.returncode < 128 and not re.search(b": |memory", result.stderr):
        row.problem(trial, f"no word of what failed: {result.stderr!r}")
    again = convert(*conversion.arguments, "--force")
    if again.returncode != 0 or conversion.files() != conversion.new:
        row.lost += 1
        row.problem(trial, f"the second command ended with {again.returncode} and left "
                    f"{sorted(conversion.files())}: {again.stderr}")
    row.untouched(trial, foreign, harness.planted("trial"))


def test_calls():
    """SIGKILL, EIO, ENOSPC at each system call: the old file or the whole new one"""
    make_inputs()
    kinds = (("killall", "convert, SIGKILL at each system call", (0, -9)),
             ("torn", "convert, SIGKILL in the middle of each write", (0, -9)),
             ("error", "convert, EIO or ENOSPC at each system call, once", (0, *FAILED)),
             ("forever", "convert, EIO or ENOSPC at a system call and at all later ones, for each "
              "call", (0, *FAILED)),
             ("full", "convert, the disk is full in the middle of a write", (0, *FAILED)))
    every = list(conversions())
    trials = [(c, nth) for c in every for nth in range(1, len(c.calls()) + 1)]
    writes = [(c, nth) for c in every for nth in range(1, len(c.calls(calls="write")) + 1)]
    for what, name, expected in kinds:
        with Row(16, name) as row:
            on_writes = what in ("torn", "full")
            for conversion, nth in some(shuffled(writes if on_writes else trials), 2):
                value = (errno.EIO, errno.ENOSPC)[nth % 2] if what not in ("killall", "torn") else 0
                disturbed(row, conversion, f"{what} {nth}", expected, fault(
                    {"forever": "error"}.get(what, what), value, nth,
                    FOREVER if what in ("forever", "full") else 1,
                    "write" if on_writes else "all"))


def test_memory():
    """each allocation of convert fails once"""
    import memory
    memory.need_memory_shim()
    make_inputs()
    with Row(16, "convert, each allocation fails once") as row:
        # libhdf5 itself does not survive a failed allocation.
        for conversion in some((c for c in conversions() if "hdf" not in c.name), 1):
            pathlib.Path("memory.log").unlink(missing_ok=True)
            conversion.begin()
            assert conversion.run(memory.failing(0, 0)).returncode == 0
            total = int(pathlib.Path("memory.log").read_text().split()[-1])
            numbers = range(1, total + 1, 1 + total // 200 if everything() else 1)
            for nth in some(numbers, 3):
                disturbed(row, conversion, f"allocation {nth} of {total}", (0, 71),
                          memory.failing(nth))


# --- what is no regular file ----------------------------------------------------------------------

def node(number):
    def make(path):
        try:
            os.mknod(path, 0o20600, os.makedev(1, number))
        except PermissionError:
            os.mkfifo(path)  # at least this is no regular file either
    return make


def bind(path):
    # Its names are short.
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.basename(path))
    server.close()
    os.chdir(here)


def link_to(target):
    def make(path):
        os.symlink(os.path.abspath(target), path)
    return make


# Nodes of our own, as those of /dev are; nothing is pointed at the real ones.
OTHERS = {"a node like null": node(3), "a node like full": node(7), "a pipe": os.mkfifo,
          "a socket": bind, "a folder": os.mkdir, "a link to a file": link_to("outside/study.csv"),
          "a link to nothing": link_to("outside/not-there-yet"),
          "a link to a folder": link_to("outside/deep"),
          "a link to a node": link_to("outside/null")}


def test_what_is_no_file():
    """convert replaces regular files only, with --force too"""
    make_inputs()
    targets = ["a.csv", "a.xyz", "a.txt.gz"] + ["a.hdf5"] * has_hdf5()
    trials = [(what, target, arguments) for target in targets for what in OTHERS
              for arguments in (("--force",), ())]
    with Row(16, "convert onto a device, pipe, socket, link or folder: 73, untouched") as row:
        for what, target, arguments in some(shuffled(trials), 4):
            harness.plant("trial")
            if "to a node" in what:
                node(3)("outside/null")
            OTHERS[what](os.path.abspath(f"trial/{target}"))
            before = harness.tree("trial"), harness.tree("outside")
            trial = f"{what} at {target} {' '.join(arguments)}"
            row.ended(trial, convert("input.xyz", f"trial/{target}", *arguments), (73,))
            row.untouched(trial, before[0], harness.tree("trial"))
            row.untouched(trial, before[1], harness.tree("outside"))


def test_standard_output():
    """convert IN -: the bytes of the file; 74 where standard output is full or closed"""
    make_inputs()
    with Row(16, "convert to standard output: whole, or 74") as row:
        ways = (("input.csv", ()), ("input.txt", ()), ("all.csv", ("--all",)),
                ("all.xyz", ("--all",)))
        for name, options in some(ways, 1):
            convert("input.xyz", name, "--force", *options)
            kind = {"csv": "csv", "txt": "plain", "xyz": "xyz"}[name.rpartition(".")[2]]
            command = ("input.xyz", "-", "--to", kind, *options)
            before = set(os.listdir("."))
            result = convert(*command)
            row.ended(name, result, (0,))
            if result.returncode == 0 and result.stdout != pathlib.Path(name).read_bytes():
                row.is_wrong(name, "standard output has not the bytes of the file")
            for way in (">/dev/full", ">&-"):
                words = " ".join(f"'{word}'" for word in (tap.ORRERY, "convert", *command))
                result = subprocess.run(["sh", "-c", f"{words} {way}"], capture_output=True,
                                        env=harness.environment())
                row.ended(f"{name} {way}", result, (74,))
            if set(os.listdir(".")) != before:
                row.problem(name, f"made {set(os.listdir('.')) - before}")


# --- damaged inputs -------------------------------------------------------------------------------

WORDS = (b"nan", b"inf", b"-1", b"1e999", b"1e-999", b"99999999999999999999", b"0x1p3", b"", b"-",
         b"4294967297", b"18446744073709551615", b"9223372036854775807", b"1,5", b"\xff\xfe", b"\0",
         b"Lattice=\"1 0 0\"", b"Properties=pos:R:3000000000", b"1e308", b"9" * 400, b"\"")


def damaged_text(content, generator):
    """A word replaced, a line gone or there twice, and so on; up to three such changes."""
    for _ in range(generator.randint(1, 3)):
        lines = content.splitlines(keepends=True) or [b""]
        at = generator.randrange(len(lines))
        way = generator.randrange(7)
        if way < 3:
            words = lines[at].replace(b",", b" , ").split(b" ")
            words[generator.randrange(len(words))] = generator.choice(WORDS)
            lines[at] = b" ".join(words).replace(b" , ", b",")
        elif way == 3:
            del lines[at]
        elif way == 4:
            lines.insert(at, lines[generator.randrange(len(lines))])
        elif way == 5:
            lines[at] = lines[at] * generator.choice((2, 50))
        else:
            return damaged_bytes(b"".join(lines), generator)
        content = b"".join(lines)
    return content


def damaged_bytes(content, generator):
    """Bits flipped, bytes cut, set or put in, at up to four places."""
    changed = bytearray(content)
    for _ in range(generator.randint(1, 4)):
        if not changed:
            break
        at = generator.randrange(len(changed))
        way = generator.randrange(6)
        if way < 2:
            changed[at] ^= 1 << generator.randrange(8)
        elif way == 2:
            changed[at:at + 8] = generator.choice((b"\xff" * 8, b"\0" * 8, b"\0\0\0\0\0\0\0\x80",
                                                   b"\xff\xff\xff\xff\0\0\0\0"))
        elif way == 3:
            del changed[at:at + generator.choice((1, 8, 512))]
        elif way == 4:
            changed[at:at] = bytes(generator.randrange(256) for _ in range(8))
        else:
            del changed[at:]
    return bytes(changed)


def damaged_gzip(content, generator):
    """The compressed bytes, or the text in them."""
    if generator.random() < 0.5:
        return damaged_bytes(content, generator)
    return gzip.compress(damaged_text(gzip.decompress(content), generator))


def read_again(row, trial, target):
    """What was read from a damaged file can be read again, with the same numbers."""
    again = convert(target, "again.csv", "--force", "-q")
    if again.returncode != 0:
        row.is_wrong(trial, f"its own output is refused with {again.returncode}: {again.stderr}")
    elif pathlib.Path(target).read_bytes() != pathlib.Path("again.csv").read_bytes():
        row.is_wrong(trial, "its own output is read as other numbers")


def test_damaged_inputs():
    """damaged files of every kind: 65 and no output, or an output that is whole"""
    make_inputs()
    kinds = {"csv": ("CSV", damaged_text), "txt": ("plain columns", damaged_text),
             "xyz": ("extended XYZ", damaged_text), "xyz.gz": ("compressed XYZ", damaged_gzip)}
    if has_hdf5():
        kinds["hdf5"] = ("HDF5", damaged_bytes)
    for number, (end, (name, damage)) in enumerate(kinds.items()):
        generator = random.Random(number)
        content = pathlib.Path(f"input.{end}").read_bytes()
        count = 200 if everything() else 2
        with Row(17, f"convert of damaged {name}: 65, or a whole file") as row:
            for k in range(count):
                pathlib.Path(f"damaged.{end}").write_bytes(damage(content, generator))
                pathlib.Path("target.csv").unlink(missing_ok=True)
                frames = ["--frame", "0"] if end.startswith("xyz") and k % 2 else []
                result = convert(f"damaged.{end}", "target.csv", "-q", *frames)
                trial = f"{end} {k}"
                row.ended(trial, result, (0, 65))
                if result.returncode not in (0, 65) and everything():
                    shutil.copy(f"damaged.{end}", f"/tmp/damaged-{k}.{end}")
                if result.returncode == 0:
                    read_again(row, trial, "target.csv")
                elif os.path.exists("target.csv"):
                    row.is_wrong(trial, "an output in spite of the error")
                left = [name for name in os.listdir(".") if ".tmp" in name]
                if left:
                    row.problem(trial, f"litter: {left}")


# --- snapshots and tables -------------------------------------------------------------------------

def snapshots():
    """An experiment with snapshots, or a skip."""
    pathlib.Path("trial.cfg").write_text(harness.CONFIG.replace(
        'outputs = (', 'outputs = ( { type = "gadget-hdf5"; every = 10; },'))
    if tap.run("run", "trial.cfg", "--dry-run", "-q").returncode == 69:
        raise tap.Skip("built without HDF5")
    return harness.Experiment(pathlib.Path("trial.cfg").read_text(),
                              files=(*harness.FILES, *(f"snapshot_{k:03}.hdf5" for k in range(5))))


def longer(path):
    path.write_bytes(path.read_bytes() + b"\0" * 16)


def shorter(path):
    os.truncate(path, path.stat().st_size // 2)


def emptied(path):
    os.truncate(path, 0)


def changed(path):
    content = bytearray(path.read_bytes())
    content[2 * len(content) // 3] ^= 1
    path.write_bytes(content)


def linked(path):
    os.replace(path, "moved")
    path.symlink_to(os.path.abspath("moved"))


def test_snapshots():
    """snapshots that were deleted or damaged before a restart: 74, nothing touched"""
    experiment = snapshots()
    harness.begin("half")
    assert experiment.run("half", "-P", "time.end=0.24").returncode == 0
    names = sorted(path.name for path in pathlib.Path("half").glob("*.hdf5"))
    assert len(names) == 4, names  # steps 0, 10, 20, 24
    damages = (pathlib.Path.unlink, shorter, changed, emptied, longer, linked)
    with Row(18, "a restart with a snapshot that is missing, cut, longer or changed: 74") as row:
        # The last one is that of the end that is no longer one.
        trials = [(name, damage) for name in names[:3] for damage in damages]
        for name, damage in some(shuffled(trials), 2):
            for arguments in ((), ("-P", "time.end=0.24"))[:2 if everything() else 1]:
                harness.begin("trial", "half")
                damage(pathlib.Path("trial", name))
                before = harness.tree("trial")
                trial = f"{name} {damage.__name__} {' '.join(arguments)}"
                result = experiment.run("trial", "--restart", *arguments)
                row.ended(trial, result, (74,))
                if name not in result.stderr:
                    row.problem(trial, f"the file is not named: {result.stderr!r}")
                row.untouched(trial, before, harness.tree("trial"))
                pathlib.Path("trial", name).unlink(missing_ok=True)
                shutil.copy(f"half/{name}", f"trial/{name}")
                row.finish(trial, experiment, "trial")


def stopped(experiment, nth):
    process = subprocess.Popen(experiment.command("trial"), stderr=subprocess.PIPE, text=True,
                               env=harness.environment(fault("signal", int(signal.SIGSTOP), nth,
                                                             1, "write", "conservation.csv")))
    while " T " not in pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2]:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


def taken_away(path):
    os.replace(path, "moved")


def another(path):
    os.replace(path, "moved")
    path.write_text("of another\n")


def test_tables_that_go():
    """an output that is removed, cut or replaced while the run goes on: 74 at its end"""
    experiment = harness.Experiment()
    writes = len(experiment.calls(calls="write", file="conservation.csv"))
    assert writes > 1, writes
    ways = (pathlib.Path.unlink, taken_away, shorter, emptied, another, linked)
    trials = [(name, way, nth) for nth in range(2, writes + 1) for name in harness.FILES
              for way in ways]
    with Row(18, "an output that is removed, cut or replaced while the run goes on: 74") as row:
        for name, way, nth in some(shuffled(trials), 2):
            harness.begin("trial")
            process = stopped(experiment, nth)
            path = pathlib.Path("trial", name)
            way(path)
            process.send_signal(signal.SIGCONT)
            process.stderr = process.communicate(timeout=60 * tap.PATIENCE)[1]
            trial = f"{name} {way.__name__} at write {nth}"
            row.ended(trial, process, (74,))
            if name not in process.stderr:
                row.problem(trial, f"the file is not named: {process.stderr!r}")
            if way is another and path.read_text() != "of another\n":
                row.foreign += 1
                row.problem(trial, "what took its place was touched")


tap.main()
