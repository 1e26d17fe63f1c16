"""Damaged snapshots in HDF5: bytes changed at random, cut short. Never a crash, never a hang."""

import pathlib
import random

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
    with Row(7, "a snapshot in HDF5 with changed bytes, converted or begun from") as row:
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


tap.main()
