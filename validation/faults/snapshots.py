"""Hostile files of bodies: snapshots in HDF5 with bytes changed at random, cut short, or with parts
in other files; compressed tables without an end. Never a crash, never a hang."""

import os
import pathlib
import random
import subprocess
import zlib

import harness
import tap
from harness import Row

CONFIG = """
name = "s";
bodies = { initial = "plummer"; count = 20; seed = 3; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 0.01; };
outputs = ( { type = "gadget-hdf5"; every = 1; } );
"""
# Of HDF5 1.10: bytes that made the library run over its heap, and the whole process end with it;
# and a size that asked for 4 TB.
KNOWN = ([(2351, 255), (1033, 127), (1142, 0)], [(2487, 255), (4255, 175), (4565, 121)],
         [(3676, 127)])


def edits(content):
    """Changes of bytes that mean something, most of them in what describes the numbers."""
    numbers = random.Random(20)
    used = [place for place, byte in enumerate(content) if byte]
    for _ in range(800):
        yield [(numbers.choice(used),
                numbers.choice([0, 127, 128, 255, numbers.randrange(256)]))
               for _ in range(numbers.choice([1, 1, 2, 3]))]


def test_damaged_snapshots():
    """bytes of a snapshot changed: read, or refused with 65; never a signal, never a hang"""
    pathlib.Path("s.cfg").write_text(CONFIG)
    result = tap.run("run", "s.cfg", "-q")
    if result.returncode == 69:
        raise tap.Skip("built without HDF5")
    assert result.returncode == 0, result
    whole = pathlib.Path("s.run/snapshot_000.hdf5").read_bytes()
    pathlib.Path("f.cfg").write_text('bodies = { initial = "file"; file = "m.hdf5"; };\n'
                                     'time = { step = 0.01; end = 0.01; };\n')
    with Row(7, "a snapshot in HDF5 with changed bytes: refused, or read as it stands") as row:
        for k, changes in enumerate([*KNOWN, *harness.some(edits(whole), 40)]):
            content = bytearray(whole)
            for place, value in changes:
                content[place % len(content)] = value
            pathlib.Path("m.hdf5").write_bytes(content)
            command = ("check", "f.cfg") if k % 4 == 3 else ("convert", "m.hdf5", "o.csv",
                                                             "--force", "-q")
            result = tap.run(*command)
            # Numbers that were read may well be too large for a sum: 70.
            row.ended(changes, result, (0, 65, 70) if command[0] == "check" else (0, 65))
            if result.returncode and result.stderr.count("\n") != 1:
                row.problem(changes, f"not one line: {result.stderr!r}")
    with Row(7, "a snapshot in HDF5 cut short") as row:
        for length in harness.some(range(0, len(whole), 17), 10):
            pathlib.Path("m.hdf5").write_bytes(whole[:length])
            row.ended(length, tap.run("convert", "m.hdf5", "o.csv", "--force", "-q"), (0, 65))


def leading_out(h5py, numpy, folder):
    """Snapshots of which a part lies elsewhere, behind a pipe that nobody writes to or in a file
    with the right numbers: a name of the case, what the message says, and a function that makes it.
    """
    numbers = numpy.arange(12.0).reshape(4, 3)
    sets = {"Coordinates": numbers, "Velocities": numbers, "Masses": numpy.ones(4)}

    def fill(file, without=()):
        file.create_group("Header").attrs["NumFilesPerSnapshot"] = 1
        for name in sets:
            if name not in without:
                file.create_dataset(f"PartType1/{name}", data=sets[name])

    def links(file, target, name):
        fill(file, () if name in ("Header", "PartType1") else (name,))
        if name in file:
            del file[name]
        path = name if name in ("Header", "PartType1", "Parameters") else f"PartType1/{name}"
        file[path] = h5py.ExternalLink(target, "/" + path)

    def soft(file, target, name):
        links(file, target, "Parameters")
        file.move("Parameters", "elsewhere")
        del file[f"PartType1/{name}"]
        file[f"PartType1/{name}"] = h5py.SoftLink(f"/elsewhere/{name}")

    def storage(file, target, name):
        fill(file, (name,))
        file.create_dataset(f"PartType1/{name}", sets[name].shape, "f8",
                            external=[(target, 0, sets[name].nbytes)])

    def virtual(file, target, name):
        fill(file, (name,))
        shape = sets[name].shape
        layout = h5py.VirtualLayout(shape=shape, dtype="f8")
        layout[...] = h5py.VirtualSource(target, f"PartType1/{name}", shape=shape)
        file.create_virtual_dataset(f"PartType1/{name}", layout)

    link, elsewhere = "is a link that leads out of the file", "lie in other files"
    kinds = [(links, name, link) for name in (*sets, "Header", "PartType1", "Parameters")]
    kinds += [(soft, name, link) for name in sets]
    kinds += [(make, name, elsewhere) for make in (storage, virtual) for name in sets]
    with h5py.File(f"{folder}/whole.hdf5", "w") as file:
        fill(file)
    for make, name, words in kinds:
        for target in ("pipe", "whole.hdf5"):
            def write(path, make=make, name=name, target=target):
                with h5py.File(path, "w") as file:
                    make(file, f"{folder}/{target}", name)
            yield f"{make.__name__} {name} {target}", words, write


def test_snapshots_that_lead_to_other_files():
    """external links, external storage, virtual sets: 65, and what they lead to is not opened"""
    h5py, numpy = tap.need("h5py"), tap.need("numpy")
    pathlib.Path("s.cfg").write_text(CONFIG)
    if tap.run("run", "s.cfg", "-q").returncode == 69:
        raise tap.Skip("built without HDF5")
    pathlib.Path("far").mkdir()
    os.mkfifo("far/pipe")
    cases = list(leading_out(h5py, numpy, os.path.abspath("far")))
    with Row(7, "a snapshot in HDF5 that leads to other files: 65, none opened") as row:
        for case, words, write in cases:
            write("m.hdf5")
            try:
                result = tap.run("convert", "m.hdf5", "o.csv", "--force", "-q", timeout=20)
            except subprocess.TimeoutExpired:
                result = subprocess.CompletedProcess(case, 124, "", "it hangs")
            row.ended(case, result, (65,))
            if words not in result.stderr:
                row.problem(case, f"{words!r} is not said: {result.stderr!r}")


def write_alike(path, head, block, count):
    """A gzip file of a head and of `count` equal blocks, which are compressed once: each begins
    where nothing before it is needed. Its checksum is not right: nobody reads as far as that."""
    def flushed(text):
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)
    with open(path, "wb") as file:
        file.write(b"\x1f\x8b\x08" + 7 * b"\0" + flushed(head) + count * flushed(block)
                   + zlib.compressobj(9, zlib.DEFLATED, -15).flush() + 8 * b"\0")


def test_compressed_tables_of_rows_alike():
    """megabytes of gzip that hold gigabytes of bodies: 65 for convert, check and run"""
    heads = {"p.txt": "", "t.xyz": "99999999\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1\n",
             "c.csv": "m,x,y,z,vx,vy,vz\n"}
    rows = {"p.txt": "1 0.5 0.25 0.5 0 0 0\n", "t.xyz": "A 0.5 0.25 0.5 0 0 0 1\n",
            "c.csv": "1,0.5,0.25,0.5,0,0,0\n"}
    cases = [(name, command) for name in heads for command in ("convert", "check", "run")]
    with Row(7, "a compressed table of gigabytes of rows: 65, in seconds") as row:
        for name, command in harness.some(cases, 3):
            if not os.path.exists(name + ".gz"):
                block = rows[name].encode() * ((1 << 20) // len(rows[name]))
                write_alike(name + ".gz", heads[name].encode(), block, 3 << 10)
            pathlib.Path("rows.cfg").write_text(
                f'bodies = {{ initial = "file"; file = "{name}.gz"; }};\n'
                'physics = { softening = 0.1; };\ntime = { step = 0.1; end = 1.0; };\n')
            words = {"convert": ["convert", name + ".gz", "o.xyz", "--force", "-q"]}
            try:
                result = tap.run(*words.get(command, [command, "rows.cfg"]), timeout=20)
            except subprocess.TimeoutExpired:
                result = subprocess.CompletedProcess(name, 124, "", "it hangs")
            row.ended((name, command), result, (65,))
            if "unpacks to more than 200 times its size" not in result.stderr:
                row.problem((name, command), f"not told: {result.stderr!r}")
            if os.path.exists("o.xyz") or os.path.exists("rows.run"):
                row.is_wrong((name, command), "something was written")


def test_compressed_tables_without_data():
    """kilobytes of gzip that hold a gigabyte of comments or blank lines: 65, in seconds"""
    gigabyte = 1 << 30
    frame = "1\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1\nA 0 0 0 0 0 0 1\n"
    heads = {"p.txt": "1 0 0 0 0 0 0\n1 1 0 0 0 1 0\n", "t.xyz": frame,
             "c.csv": "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n"}
    cases = [(name, begin, line) for name, head in heads.items() for begin in ("", head)
             for line in ("\n", " " * 4095 + "\n", "# " * 2047 + "#\n")
             if line[0] != "#" or name == "p.txt"]
    with Row(7, "a compressed table that unpacks to a gigabyte without rows: 65, in seconds") \
            as row:
        for name, head, line in harness.some(cases, 4):
            block = line.encode() * ((1 << 20) // len(line))
            write_alike(name + ".gz", head.encode(), block, gigabyte // len(block))
            try:
                result = tap.run("convert", name + ".gz", "o.xyz", "--force", "-q", timeout=20)
            except subprocess.TimeoutExpired:
                result = subprocess.CompletedProcess(name, 124, "", "it hangs")
            row.ended((name, head, line[:2]), result, (65,))
            if "more than 16 MiB of comments and blank lines" not in result.stderr:
                row.problem((name, head, line[:2]), f"not told: {result.stderr!r}")


tap.main()
