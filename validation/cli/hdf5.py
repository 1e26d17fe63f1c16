"""Snapshots in HDF5: what other programs find in them, restarts, and files of other programs."""

import ctypes
import ctypes.util
import json
import os
import pathlib
import subprocess
import time

import numpy

import tap

CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 50; seed = 3; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 0.35; };
diagnostics = ( { type = "conservation"; every = 5; } );
outputs = ( { type = "gadget-hdf5"; every = 10; }, { type = "xyz"; every = 10; } );
"""

FROM_FILE = """
bodies = {{ initial = "file"; file = "{}"; }};
physics = {{ softening = 0.05; }};
time = {{ step = 0.01; end = 0.1; }};
diagnostics = ( {{ type = "conservation"; every = 1; }} );
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def need_hdf5():
    """Skips the test where the program was built without HDF5."""
    result = tap.run("run", write(CLUSTER), "--dry-run", "-q")
    if result.returncode == 69:
        raise tap.Skip("built without HDF5")
    assert result.returncode == 0, result.stderr


def run(*arguments):
    result = tap.run("run", *arguments)
    assert result.returncode == 0, result.stderr
    return result


def snapshots(directory):
    return sorted(p.name for p in pathlib.Path(directory).glob("*.hdf5"))


def frames(path):
    """Frames of a trajectory, each an array with a row x, y, z, vx, vy, vz, mass, id for a body."""
    lines = pathlib.Path(path).read_text().splitlines()
    found = []
    while lines:
        count = int(lines[0])
        rows = [[float(word) for word in line.split()[1:]] for line in lines[2:count + 2]]
        found.append(numpy.array(rows))
        del lines[:count + 2]
    return found


def snapshot(path):
    """The same of a snapshot, and its header."""
    h5py = tap.need("h5py")
    with h5py.File(path) as file:
        group = file["PartType1"]
        table = numpy.column_stack([group["Coordinates"], group["Velocities"], group["Masses"],
                                    group["ParticleIDs"]])
        return table, dict(file["Header"].attrs)


def test_a_build_without_hdf5_says_so():
    result = tap.run("run", write(CLUSTER))
    if result.returncode == 0:
        raise tap.Skip("built with HDF5")
    assert result.returncode == 69 and "without HDF5" in result.stderr, result
    assert os.listdir(".") == ["run.cfg"]


def test_h5py_finds_the_bodies_of_the_trajectory():
    need_hdf5()
    tap.need("h5py")
    result = run(write(CLUSTER))
    assert "snapshot_000.hdf5 ..." in result.stdout, result.stdout
    # 35 steps: 0, 10, 20, 30, and the last one.
    assert snapshots("cluster.run") == [f"snapshot_{k:03}.hdf5" for k in range(5)]
    for k, frame in enumerate(frames("cluster.run/trajectory.xyz")):
        table, header = snapshot(f"cluster.run/snapshot_{k:03}.hdf5")
        assert numpy.array_equal(table, frame)
        assert header["Time"] == [0, 10 * 0.01, 20 * 0.01, 30 * 0.01, 35 * 0.01][k]
    for name, value in {"NumPart_ThisFile": [0, 50, 0, 0, 0, 0],
                        "NumPart_Total": [0, 50, 0, 0, 0, 0],
                        "NumPart_Total_HighWord": [0] * 6, "MassTable": [0] * 6, "Redshift": 0,
                        "BoxSize": 0, "NumFilesPerSnapshot": 1, "Flag_Entropy_ICs": 0}.items():
        assert numpy.array_equal(header[name], value), name


def test_periodic_boxes_and_units():
    """in a periodic box positions are those in [0, L); units are told in cgs"""
    need_hdf5()
    h5py = tap.need("h5py")
    run(write(CLUSTER), "-P", "physics.boundary=periodic", "-P", "physics.box_length=1.5",
        "-P", "bodies.mass=1", "-P", "bodies.scale_radius=0.5890486225480862",
        "-P", "physics.units=galactic", "-P", "time.step=1e-5", "-P", "time.end=3.5e-4")
    table, header = snapshot("cluster.run/snapshot_004.hdf5")
    frame = frames("cluster.run/trajectory.xyz")[4]  # in [-L/2, L/2)
    assert header["BoxSize"] == 1.5
    assert (table[:, :3] >= 0).all() and (table[:, :3] < 1.5).all()
    difference = (table[:, :3] - frame[:, :3]) / 1.5
    # One rounding each of numbers of order 1.
    assert abs(difference - numpy.rint(difference)).max() < 1e-15
    with h5py.File("cluster.run/snapshot_004.hdf5") as file:
        units = dict(file["Units"].attrs)
    # Kiloparsec and km/s by definition; 1e10 solar masses of 1.989e33 g to its four digits.
    assert abs(units["UnitLength_in_cm"] / 3.0856775814913673e21 - 1) < 1e-15
    assert abs(units["UnitVelocity_in_cm_per_s"] / 1e5 - 1) < 1e-15
    assert abs(units["UnitMass_in_g"] / 1.989e43 - 1) < 5e-4


def test_yt_reads_a_snapshot():
    need_hdf5()
    yt = tap.need("yt")
    run(write(CLUSTER), "-q")
    yt.set_log_level(50)
    data = yt.load("cluster.run/snapshot_004.hdf5").all_data()
    frame = frames("cluster.run/trajectory.xyz")[4]
    order = numpy.argsort(data["PartType1", "ParticleIDs"])
    assert numpy.array_equal(data["PartType1", "Coordinates"][order].v, frame[:, :3])
    # Masses 1/50: their sum to rounding.
    assert abs(data["PartType1", "Masses"].sum().v - 1) < 1e-14


def test_pynbody_reads_a_snapshot():
    need_hdf5()
    pynbody = tap.need("pynbody")
    run(write(CLUSTER), "-q")
    data = pynbody.load("cluster.run/snapshot_004.hdf5")
    frame = frames("cluster.run/trajectory.xyz")[4]
    assert numpy.array_equal(data["pos"], frame[:, :3])
    assert numpy.array_equal(data["vel"], frame[:, 3:6])


def test_a_snapshot_starts_a_run_like_a_frame():
    """a run from a snapshot and one from the frame of the same step have the same bytes"""
    need_hdf5()
    run(write(CLUSTER), "-q")
    for name in ("snapshot_004.hdf5", "trajectory.xyz"):
        run(write(FROM_FILE.format("cluster.run/" + name)), "-q", "-o", name + ".run")
    left, right = (pathlib.Path(name, "conservation.csv").read_bytes()
                   for name in ("snapshot_004.hdf5.run", "trajectory.xyz.run"))
    assert left == right and len(left) > 1000


def test_ensembles_come_back():
    need_hdf5()
    config = write(CLUSTER)
    run(config, "-q", "-P", "ensemble.systems=3")
    for name in ("snapshot_000.hdf5", "snapshot_004.hdf5"):
        again = write(FROM_FILE.format("cluster.run/" + name) + "ensemble = { systems = 3; };\n"
                      + 'outputs = ( { type = "xyz"; every = 100; } );')
        run(again, "-q", "-o", name + ".run")
    first, last = (frames("cluster.run/trajectory.xyz")[k] for k in (0, 4))
    assert numpy.array_equal(frames("snapshot_000.hdf5.run/trajectory.xyz")[0], first)
    assert numpy.array_equal(frames("snapshot_004.hdf5.run/trajectory.xyz")[0], last)
    result = tap.run("run", again, "-P", "ensemble.systems=2", "-o", "no")
    assert result.returncode == 65 and "holds 3 systems" in result.stderr, result


def make_snapshot(path, types, files=1, masses=(0,) * 6, box=0.0, **options):
    """A file as another program may write it: {type: {set: values}}."""
    h5py = tap.need("h5py")
    with h5py.File(path, "w") as file:
        header = file.create_group("Header")
        header.attrs["NumFilesPerSnapshot"] = files
        header.attrs["MassTable"] = numpy.array(masses, dtype=float)
        header.attrs["BoxSize"] = numpy.array(box, dtype=float)
        for number, sets in types.items():
            group = file.create_group(f"PartType{number}")
            for name, values in sets.items():
                group.create_dataset(name, data=values, **options)


def test_snapshots_of_other_programs():
    """several types, single precision, MassTable, no ids, compressed chunks"""
    need_hdf5()
    generator = numpy.random.default_rng(5)
    vectors = generator.normal(size=(2, 7, 3)).astype(numpy.float32)
    make_snapshot("s.hdf5", {1: {"Coordinates": vectors[0][:4], "Velocities": vectors[1][:4],
                                 "Metallicity": vectors[0][:4, 0]},
                             4: {"Coordinates": vectors[0][4:], "Velocities": vectors[1][4:],
                                 "Masses": numpy.float32([2.5, 0.125, 0])}},
                  masses=(0, 0.75, 0, 0, 9.0, 0), chunks=True, compression="gzip")
    run(write(FROM_FILE.format("s.hdf5") + 'outputs = ( { type = "xyz"; every = 100; } );'), "-q",
        "-o", "out")
    frame = frames("out/trajectory.xyz")[0]
    assert numpy.array_equal(frame[:, :3], vectors[0])
    assert numpy.array_equal(frame[:, 3:6], vectors[1])
    assert list(frame[:, 6]) == [0.75] * 4 + [2.5, 0.125, 0]
    assert list(frame[:, 7]) == [1, 2, 3, 4, 5, 6, 7]
    told = tap.run("convert", "s.hdf5", "s.csv").stderr
    assert told.rstrip().endswith("not carried over: Metallicity"), told


def test_snapshots_of_swift():
    """seven types of particles; only a box of three equal sides is kept, and no body moves"""
    need_hdf5()
    positions = numpy.array([[0.5, 1.5, 2.5], [0.25, 2.75, 3.75]])
    bodies = {"Coordinates": positions, "Velocities": numpy.zeros((2, 3))}
    for box, cube in (([4.0, 4.0, 4.0], True), ([4.0], True), ([1.0, 2.0, 4.0], False),
                      ([4.0, 4.0, 2.0], False), ([0.0, 0.0, 0.0], None)):
        make_snapshot("s.hdf5", {6: bodies}, masses=[0] * 6 + [0.25], box=box)
        result = tap.run("convert", "s.hdf5", "s.xyz", "--force")
        assert result.returncode == 0, result
        assert ("periodic cell" in result.stderr) == (cube is False), (box, result)
        head = pathlib.Path("s.xyz").read_text().splitlines()[1]
        assert ('pbc="T T T"' in head) == (cube is True), (box, head)
        frame = frames("s.xyz")[0]
        assert numpy.array_equal(frame[:, :3], positions), (box, frame)
        assert not cube or 'Origin="0 0 0"' in head, head
        assert list(frame[:, 6]) == [0.25, 0.25]


def test_a_box_that_the_run_lacks():
    """a BoxSize is named where the run is in open space, or in a box of another side"""
    need_hdf5()
    bodies = {"Coordinates": numpy.eye(3), "Velocities": numpy.zeros((3, 3))}
    box = ("-P", "physics.boundary=periodic", "-P")
    for side, options, said in ((0.0, (), ""), (0.0, (*box, "physics.box_length=4.0"), ""),
                                (4.1, (*box, "physics.box_length=4.1"), ""),
                                (4.0, (), "it has a BoxSize, but the run is in open space"),
                                (4.0, (*box, "physics.box_length=2.0"),
                                 "has a side of 4, that of the run of 2 (physics.box_length)")):
        make_snapshot("s.hdf5", {1: bodies}, masses=[0, 0.25, 0, 0, 0, 0], box=numpy.float32(side))
        result = tap.run("run", write(FROM_FILE.format("s.hdf5")), "-o", "out", "--force", *options)
        assert result.returncode == 0, result
        assert said in result.stderr and ("s.hdf5: it" in result.stderr) == bool(said), result


def test_bad_snapshots_are_65():
    need_hdf5()
    h5py = tap.need("h5py")
    vectors = numpy.arange(12.0).reshape(4, 3)
    good = {"Coordinates": vectors, "Velocities": vectors, "Masses": numpy.ones(4)}
    nan = vectors.copy()
    nan[2, 1] = numpy.nan
    cases = {
        "has no group Header": None,
        "no bodies": {},
        "has no data set PartType1/Velocities": {1: {"Coordinates": vectors}},
        "has no data set PartType1/Masses": {1: {"Coordinates": vectors, "Velocities": vectors}},
        "PartType1/Coordinates does not hold 3 numbers per body":
            {1: {"Coordinates": vectors[:, :2]}},
        "PartType1/Velocities does not hold 3 numbers for each of 4 bodies":
            {1: dict(good, Velocities=vectors[:3])},
        "PartType1/Masses does not hold 1 number for each of 4":
            {1: dict(good, Masses=numpy.bytes_("1234"))},
        "PartType1/Coordinates: row 3: nan is not finite": {1: dict(good, Coordinates=nan)},
        "PartType1/Masses: row 2: -1 is negative": {1: dict(good, Masses=[1.0, -1, 1, 1])},
        "PartType1/System does not count": {1: dict(good, System=[1, 2, 1, 2])},
        "two bodies have the id 1": {1: dict(good, ParticleIDs=[1, 2, 3, 1])},
        "an id of 2^63 - 1 or more": {1: dict(good, ParticleIDs=numpy.uint64([1, 2, 3, 2**63]))},
    }
    for message, types in cases.items():
        if types is None:
            h5py.File("s.hdf5", "w").close()
        else:
            make_snapshot("s.hdf5", types)
        result = tap.run("run", write(FROM_FILE.format("s.hdf5")), "-o", "out")
        assert result.returncode == 65 and message in result.stderr, (message, result)
        assert len(result.stderr.splitlines()) == 1 and not os.path.exists("out"), result
    make_snapshot("s.hdf5", {1: good}, files=2)
    result = tap.run("run", write(FROM_FILE.format("s.hdf5")))
    assert result.returncode == 65 and "one of 2 files" in result.stderr, result
    whole = pathlib.Path("s.hdf5").read_bytes()
    for length in (8, 100, len(whole) // 2):
        pathlib.Path("s.hdf5").write_bytes(whole[:length])
        result = tap.run("run", write(FROM_FILE.format("s.hdf5")))
        assert result.returncode == 65, (length, result)
        assert len(result.stderr.splitlines()) == 1, result


# --- the run directory ----------------------------------------------------------------------------

def test_the_manifest_lists_the_snapshots():
    need_hdf5()
    config = write(CLUSTER)
    run(config, "-q")
    manifest = json.loads(pathlib.Path("cluster.run/run.json").read_text())["files"]
    assert sorted(manifest) == sorted(os.listdir("cluster.run"))
    # --force removes what the shorter run does not write anew, and nothing that is not the run's.
    pathlib.Path("cluster.run/snapshot_005.hdf5").write_text("mine")
    run(config, "-q", "--force", "-P", "time.end=0.1")
    assert snapshots("cluster.run") == ["snapshot_000.hdf5", "snapshot_001.hdf5",
                                        "snapshot_005.hdf5"]
    # A longer one would need that name.
    result = tap.run("run", config, "--force", "-P", "time.end=0.5")
    assert result.returncode == 73 and "snapshot_005.hdf5" in result.stderr, result
    assert len(snapshots("cluster.run")) == 3
    # It is not touched by a restart that goes further either.
    result = tap.run("run", config, "--restart", "-P", "time.end=0.5", "-P", "outputs.1.every=10")
    assert result.returncode == 73 and "snapshot_005.hdf5" in result.stderr, result
    assert pathlib.Path("cluster.run/snapshot_005.hdf5").read_text() == "mine"


def test_snapshots_that_were_changed_are_refused_at_restart():
    """deleted, cut, longer or with one byte flipped: 74, named, nothing touched"""
    need_hdf5()
    config = write(CLUSTER)
    run(config, "-q")
    path = pathlib.Path("cluster.run/snapshot_001.hdf5")
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:]
    for end in ("0.35", "0.5"):
        for damaged in (None, whole[:-1], whole + b"x", flipped):
            path.unlink() if damaged is None else path.write_bytes(damaged)
            before = {p.name: p.read_bytes() for p in pathlib.Path("cluster.run").iterdir()}
            result = tap.run("run", config, "--restart", "-P", f"time.end={end}")
            assert result.returncode == 74 and "snapshot_001.hdf5" in result.stderr, result
            after = {p.name: p.read_bytes() for p in pathlib.Path("cluster.run").iterdir()}
            for name in before.keys() - {"run.json", "run.log"}:
                assert after[name] == before[name], name
            path.write_bytes(whole)
    run(config, "-q", "--restart", "-P", "time.end=0.5")
    run(config, "-q", "-o", "whole", "-P", "time.end=0.5")
    for name in snapshots("whole"):
        assert pathlib.Path("whole", name).read_bytes() == pathlib.Path("cluster.run",
                                                                        name).read_bytes()


def killed(config, directory, *overrides):
    """Starts a run that would take long, and kills it in its midst."""
    tap.kill_once(pathlib.Path(directory, "snapshot_020.hdf5"), "run", config, "-q", "-o",
                  directory, *overrides)


def test_no_stale_snapshot_remains_after_a_restart():
    """killed and restarted, the snapshots are those of an undisturbed run, to the byte"""
    need_hdf5()
    config = write(CLUSTER.replace("end = 0.35", "end = 4.03"))
    run(config, "-q", "-o", "whole")
    killed(config, "parts", "-P", "time.end=4000", "-P", "checkpoint.every_steps=77")
    before = json.loads(pathlib.Path("parts/run.json").read_text())
    assert before["state"] == "running" and "snapshot_040.hdf5" in before["files"]
    run(config, "-q", "-o", "parts", "--restart")
    names = snapshots("whole")
    assert names == snapshots("parts") == [f"snapshot_{k:03}.hdf5" for k in range(42)]
    for name in names:
        assert (pathlib.Path("whole", name).read_bytes()
                == pathlib.Path("parts", name).read_bytes()), name


def test_a_restart_with_another_cadence_goes_on_counting():
    need_hdf5()
    config = write(CLUSTER)
    # Its only checkpoint is that of step 0: every snapshot is later.
    killed(config, "parts", "-P", "time.end=4000")
    run(config, "-q", "-o", "parts", "--restart", "-P", "time.end=0.6", "-P", "outputs.0.every=30")
    assert snapshots("parts") == [f"snapshot_{k:03}.hdf5" for k in range(3)]
    run(config, "-q", "-o", "parts", "--restart", "-P", "time.end=0.9", "-P", "outputs.0.every=10")
    if snapshots("parts"):
        tap.need("h5py")
        # 0, 30 and 60 are kept; 70, 80 and 90 are new.
        times = [snapshot(f"parts/snapshot_{k:03}.hdf5")[1]["Time"] for k in range(6)]
        assert numpy.allclose(times, [0, 0.3, 0.6, 0.7, 0.8, 0.9], rtol=1e-15), times
    assert len(snapshots("parts")) == 6


def test_names_and_numbers_of_snapshots():
    need_hdf5()
    config = write(CLUSTER)
    for key, value in (("outputs.0.file", "a/b"), ("outputs.0.file", ".a"),
                       ("outputs.1.file", "snapshot_000.hdf5"), ("outputs.1.file", "snapshot")):
        result = tap.run("run", config, "-P", f'{key}="{value}"')
        assert result.returncode == 78 and key in result.stderr, (key, value, result)
    result = tap.run("run", config, "-P", "time.end=1e5", "-P", "outputs.0.every=1")
    assert result.returncode == 78 and "10000001 files" in result.stderr, result


def test_a_snapshot_that_is_replaced_while_the_run_goes_on():
    """a file of the same bytes in its place is not the one that the run wrote: 74, named"""
    need_hdf5()
    config = write(CLUSTER.replace("end = 0.35", "end = 1e4"))
    process = subprocess.Popen([tap.ORRERY, "run", config, "-q"], stderr=subprocess.PIPE, text=True)
    for _ in range(3000):
        if len(snapshots("cluster.run")) > 2:
            break
        time.sleep(0.01)
    first = pathlib.Path("cluster.run", snapshots("cluster.run")[0])
    pathlib.Path("copy").write_bytes(first.read_bytes())
    os.replace("copy", first)
    process.terminate()
    errors = process.communicate(timeout=60 * tap.PATIENCE)[1]
    assert process.returncode == 74 and first.name in errors, (process.returncode, errors)


tap.main()
