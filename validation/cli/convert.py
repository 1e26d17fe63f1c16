"""orrery convert: the same numbers in every format, what other programs find, what is refused."""

import gzip
import os
import pathlib
import re
import socket
import stat
import struct
import subprocess
import zipfile

import numpy

import tap
from frames import records

CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 30; masses = "salpeter"; seed = 3; };
physics = { softening = 0.2; };
time = { step = 0.01; end = 0.35; };
outputs = ( { type = "xyz"; every = 10; } );
"""
TRAJECTORY = "cluster.run/trajectory.xyz"
FRAMES = 5  # steps 0, 10, 20, 30, 35


def make(*options, name="cluster"):
    pathlib.Path("run.cfg").write_text(CLUSTER)
    result = tap.run("run", "run.cfg", "-q", "-o", f"{name}.run", *options)
    assert result.returncode == 0, result


def convert(*arguments, status=0):
    result = tap.run("convert", *arguments)
    assert result.returncode == status, result
    return result


def lost(result):
    """What the command says that it did not carry over."""
    lines = result.stderr.splitlines()
    assert len(lines) <= 1, result
    return lines[0].split("not carried over: ")[1] if lines else ""


def need_hdf5():
    result = tap.run("convert", TRAJECTORY, "probe.hdf5")
    if result.returncode == 69:
        raise tap.Skip("built without HDF5")
    assert result.returncode == 0, result


def frame_text(path, index):
    lines = pathlib.Path(path).read_text().splitlines(keepends=True)
    size = int(lines[0]) + 2
    return "".join(lines[index * size:(index + 1) * size])


def rows(text):
    """m x y z vx vy vz of the bodies of a frame."""
    table = numpy.array([line.split()[1:] for line in text.splitlines()[2:]], dtype=float)
    return table[:, [6, 0, 1, 2, 3, 4, 5]]


def test_round_trips():
    """a frame goes through every format and comes back with the same bits"""
    make()
    last = frame_text(TRAJECTORY, FRAMES - 1)
    assert lost(convert(TRAJECTORY, "a.csv")) == "time, step"
    assert lost(convert("a.csv", "b.txt")) == ""
    assert lost(convert("b.txt", "c.csv.gz")) == ""
    convert("c.csv.gz", "d.xyz", "-q")
    assert rows(pathlib.Path("d.xyz").read_text()).tobytes() == rows(last).tobytes()
    body = numpy.genfromtxt("a.csv", delimiter=",", skip_header=1)
    assert (body[:, 0] == numpy.arange(1, 31)).all() and (body[:, 1:] == rows(last)).all()
    assert (numpy.loadtxt("b.txt") == rows(last)).all()


def test_hdf5():
    """through HDF5 and back: the same frame, with its time, but for the step"""
    make()
    need_hdf5()
    assert lost(convert(TRAJECTORY, "s.hdf5")) == "step"
    assert lost(convert("s.hdf5", "back.xyz")) == ""
    last = frame_text(TRAJECTORY, FRAMES - 1)
    assert pathlib.Path("back.xyz").read_text() == last.replace(" Step=35", "")
    assert lost(convert("s.hdf5", "s.csv", "--units", "galactic")) == "time"
    assert "x [kpc]" in pathlib.Path("s.csv").read_text().splitlines()[0]


def test_frames():
    """any frame, and all of them, byte for byte; from compressed files too"""
    make()
    content = pathlib.Path(TRAJECTORY).read_bytes()
    for index in (0, 3):
        convert(TRAJECTORY, f"{index}.xyz", "--frame", index)
        assert pathlib.Path(f"{index}.xyz").read_text() == frame_text(TRAJECTORY, index)
    result = convert("--all", TRAJECTORY, "all.xyz.gz")
    assert result.stdout == "all.xyz.gz: 5 frames of 30 bodies\n"
    assert gzip.decompress(pathlib.Path("all.xyz.gz").read_bytes()) == content
    convert("-a", "all.xyz.gz", "all.xyz")
    assert pathlib.Path("all.xyz").read_bytes() == content
    convert("all.xyz.gz", "last.xyz")
    assert pathlib.Path("last.xyz").read_text() == frame_text(TRAJECTORY, FRAMES - 1)
    assert "no frame 5" in convert(TRAJECTORY, "x.xyz", "-f", 5, status=65).stderr
    need_hdf5()
    convert("--all", TRAJECTORY, "s.hdf5")
    assert len(list(pathlib.Path(".").glob("s_00?.hdf5"))) == FRAMES
    convert("s_003.hdf5", "s.xyz")
    assert rows(pathlib.Path("s.xyz").read_text()).tobytes() == \
        rows(frame_text(TRAJECTORY, 3)).tobytes()


def test_ensemble_and_box():
    """systems and the periodic box go along where the format has them"""
    make("-P", "ensemble.systems=3", "-P", "physics.boundary=periodic", "-P",
         "physics.box_length=2.5")
    content = pathlib.Path(TRAJECTORY).read_bytes()
    convert("--all", TRAJECTORY, "again.xyz")
    assert pathlib.Path("again.xyz").read_bytes() == content
    result = convert(TRAJECTORY, "a.csv")
    assert lost(result) == "time, step, periodic box" and "30 bodies x 3 systems" in result.stdout
    systems = [line.split(",")[0] for line in pathlib.Path("a.csv").read_text().splitlines()]
    assert systems == ["system [1]"] + 30 * ["1"] + 30 * ["2"] + 30 * ["3"], systems
    assert lost(convert("a.csv", "a.txt")) == "systems"
    need_hdf5()
    assert lost(convert(TRAJECTORY, "s.hdf5")) == "step"
    convert("s.hdf5", "s.xyz")
    h5py = tap.need("h5py")
    with h5py.File("s.hdf5") as file:
        assert file["Header"].attrs["BoxSize"] == 2.5
        assert (numpy.bincount(file["PartType1/System"][:])[1:] == 30).all()
    one, other = rows(frame_text(TRAJECTORY, 4)), rows(frame_text("s.xyz", 0))
    # HDF5 has the positions of [-L/2, L/2) in [0, L).
    one[:, 1:4] += 2.5 * (one[:, 1:4] < 0)
    assert numpy.abs(one - other).max() < 1e-15 * 2.5, numpy.abs(one - other).max()
    assert 'Origin="0 0 0" pbc="T T T"' in frame_text("s.xyz", 0)


def test_positions_in_a_box_stay_as_they_are():
    """a box keeps its lowest corner, 0 where none is named, and bodies their places"""
    lines = ("6 6 6 0 0 0 1", "0.25 -0.5 12 0 0 0 1")
    for name, corner in (("", (0, 0, 0)), (' Origin="3 0 -5"', (3, 0, -5)),
                         (' Origin="inf 0 0"', (0, 0, 0))):
        pathlib.Path("in.xyz").write_text(
            f'2\nLattice="10 0 0 0 10 0 0 0 10"{name} pbc="T T T" '
            "Properties=pos:R:3:velo:R:3:mass:R:1\n" + "\n".join(lines) + "\n")
        convert("in.xyz", "out.xyz", "--force")
        head, *bodies = pathlib.Path("out.xyz").read_text().splitlines()[1:]
        assert 'Origin="{} {} {}" pbc="T T T"'.format(*corner) in head, head
        assert [line[2:].rsplit(" ", 1)[0] for line in bodies] == list(lines), bodies
        convert("in.xyz", "out.dump", "--force")
        bounds = "".join(f"\n{low} {low + 10}" for low in corner)
        assert bounds in pathlib.Path("out.dump").read_text()


def test_other_programs():
    """pandas finds a table of all frames, ASE a trajectory"""
    make()
    convert("--all", TRAJECTORY, "all.csv")
    pandas = tap.need("pandas")
    table = pandas.read_csv("all.csv")
    assert list(table.columns) == ["step [1]", "time [T]", "id [1]", "m [M]", "x [L]", "y [L]",
                                   "z [L]", "vx [L T^-1]", "vy [L T^-1]", "vz [L T^-1]"]
    means = table.groupby("step [1]")["x [L]"].mean()
    assert list(means.index) == [0, 10, 20, 30, 35]
    assert (table["x [L]"][-30:].to_numpy() == rows(frame_text(TRAJECTORY, 4))[:, 1]).all()
    ase = tap.need("ase.io")
    convert("--all", TRAJECTORY, "all.xyz", "--columns", "species pos kinetic_energy")
    frames = ase.io.read("all.xyz", index=":", format="extxyz")
    assert len(frames) == FRAMES and frames[2].info["Step"] == 20


def all_rows(count):
    """m x y z vx vy vz of every frame of the trajectory, which numpy reads by itself."""
    return numpy.array([rows(frame_text(TRAJECTORY, index)) for index in range(count)])


def test_numpy():
    """numpy loads an archive: every bit of all frames, their times, steps, units and names"""
    make()
    result = convert("--all", TRAJECTORY, "all.npz", "--from-units", "astronomical")
    assert result.stdout == "all.npz: 5 frames of 30 bodies\n" and not lost(result)
    whole = all_rows(FRAMES)
    with zipfile.ZipFile("all.npz") as archive:
        assert archive.testzip() is None  # the checksums are right
    with numpy.load("all.npz", allow_pickle=False) as found:
        assert sorted(found) == ["box_length", "id", "length_unit", "mass", "mass_unit",
                                 "position", "step", "time", "time_unit", "velocity",
                                 "velocity_unit"], sorted(found)
        assert found["position"].tobytes() == whole[:, :, 1:4].tobytes()
        assert found["velocity"].tobytes() == whole[:, :, 4:].tobytes()
        assert found["mass"].tobytes() == whole[:, :, 0].tobytes()
        assert (found["id"] == numpy.arange(1, 31)).all() and found["id"].shape == (FRAMES, 30)
        assert list(found["step"]) == [0, 10, 20, 30, 35]
        assert numpy.abs(found["time"] - 0.01 * found["step"]).max() < 1e-15
        assert (found["box_length"] == 0).all()
        units = [str(found[f"{of}_unit"]) for of in ("mass", "length", "velocity", "time")]
        assert units == ["Msun", "AU", "AU d^-1", "d"], units
    convert(TRAJECTORY, "a.csv")
    convert("a.csv", "one.npz")
    with numpy.load("one.npz") as one:
        assert one["position"].shape == (1, 30, 3) and one["step"] == [-1]
        assert numpy.isnan(one["time"][0]) and str(one["length_unit"]) == "L"
    names = ["Sun", "Céres", "天王星"]
    make("-P", 'bodies.names=["' + '","'.join(names) + '"]', "-P", "ensemble.systems=2", "-P",
         "physics.boundary=periodic", "-P", "physics.box_length=2.5", "--force")
    assert not lost(convert("--all", TRAJECTORY, "box.npz"))
    with numpy.load("box.npz", allow_pickle=False) as box:
        assert (box["box_length"] == 2.5).all() and box["position"].shape == (FRAMES, 60, 3)
        assert list(box["system"]) == 30 * [1] + 30 * [2]
        assert list(box["species"]) == 2 * (names + 27 * ["X"]), box["species"][:4]
        assert box["position"].tobytes() == all_rows(FRAMES)[:, :, 1:4].tobytes()
        assert list(box["id"][0]) == 2 * list(range(1, 31))


def make_vtk():
    """all.vtkhdf of two systems in a periodic box, and m x y z vx vy vz of its frames."""
    make("-P", "ensemble.systems=2", "-P", "physics.boundary=periodic", "-P",
         "physics.box_length=2.5")
    need_hdf5()
    result = convert("--all", TRAJECTORY, "all.vtkhdf", "--from-units", "astronomical")
    assert result.stdout == "all.vtkhdf: 5 frames of 30 bodies x 2 systems\n" and not lost(result)
    return all_rows(FRAMES)


def test_vtk_layout():
    """a file for ParaView has the data sets, offsets and attributes of VTKHDF 2.0's PolyData"""
    whole = make_vtk()
    h5py = tap.need("h5py")
    with h5py.File("all.vtkhdf") as file:
        root, steps = file["VTKHDF"], file["VTKHDF/Steps"]
        assert list(root.attrs["Version"]) == [2, 0] and root.attrs["Type"] == b"PolyData"
        units = [root.attrs[f"{of}_unit"] for of in ("mass", "length", "velocity", "time")]
        assert units == [b"Msun", b"AU", b"AU d^-1", b"d"], units
        assert steps.attrs["NSteps"] == FRAMES and list(root["NumberOfPoints"]) == [60]
        assert root["Points"][:].tobytes() == whole[:, :, 1:4].tobytes()
        data = root["PointData"]
        assert sorted(data) == ["id", "mass", "system", "velocity"]
        assert data["velocity"][:].tobytes() == whole[:, :, 4:].tobytes()
        assert data["mass"][:].tobytes() == whole[:, :, 0].tobytes()
        assert list(data["id"]) == 2 * FRAMES * list(range(1, 31))
        assert list(data["system"]) == 30 * [1] + 30 * [2]
        growing = [60 * frame for frame in range(FRAMES)]
        assert list(steps["PointOffsets"]) == growing
        offsets = {name: list(steps["PointDataOffsets"][name]) for name in data}
        assert offsets == {"id": growing, "mass": growing, "velocity": growing,
                           "system": FRAMES * [0]}, offsets
        assert list(steps["PartOffsets"]) == FRAMES * [0]
        assert list(steps["NumberOfParts"]) == FRAMES * [1]
        for name in ("CellOffsets", "ConnectivityIdOffsets"):
            assert steps[name].shape == (FRAMES, 4) and not steps[name][:].any(), name
        for name, count in (("Vertices", 60), ("Lines", 0), ("Polygons", 0), ("Strips", 0)):
            cells = root[name]
            assert list(cells["NumberOfCells"]) == list(cells["NumberOfConnectivityIds"]) == [count]
            assert list(cells["Offsets"]) == list(range(count + 1)), name
            assert list(cells["Connectivity"]) == list(range(count)), name
        assert list(root["FieldData/step"]) == [0, 10, 20, 30, 35]
        assert list(root["FieldData/box_length"]) == FRAMES * [2.5]
        assert numpy.abs(steps["Values"][:] - 0.01 * root["FieldData/step"][:]).max() < 1e-15
    convert("--all", TRAJECTORY, "again.vtkhdf", "--from-units", "astronomical")
    assert pathlib.Path("again.vtkhdf").read_bytes() == pathlib.Path("all.vtkhdf").read_bytes()
    convert(TRAJECTORY, "a.csv")
    convert("a.csv", "none.vtkhdf")  # a step needs a time: that of a file without is its index
    with h5py.File("none.vtkhdf") as file:
        assert list(file["VTKHDF/Steps/Values"]) == [0]


def test_vtk_reads():
    """VTK's own reader finds points, vertices, data and steps of every time"""
    tap.need("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOHDF import vtkHDFReader
    whole = make_vtk()
    reader = vtkHDFReader()
    reader.SetFileName("all.vtkhdf")
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == FRAMES
    for frame, bodies in enumerate(whole):
        reader.SetStep(frame)
        reader.Update()
        found = reader.GetOutputDataObject(0)
        assert found.GetClassName() == "vtkPolyData"
        assert found.GetNumberOfVerts() == found.GetNumberOfCells() == 60
        assert found.GetCell(59).GetPointId(0) == 59
        data = {name: vtk_to_numpy(found.GetPointData().GetArray(name))
                for name in ("id", "mass", "velocity", "system")}
        assert vtk_to_numpy(found.GetPoints().GetData()).tobytes() == bodies[:, 1:4].tobytes()
        assert data["velocity"].tobytes() == bodies[:, 4:].tobytes()
        assert (data["mass"] == bodies[:, 0]).all()
        assert list(data["id"]) == 2 * list(range(1, 31))
        assert list(data["system"]) == 30 * [1] + 30 * [2]
        fields = found.GetFieldData()
        assert fields.GetArray("step").GetTuple(0) == ([0, 10, 20, 30, 35][frame],)
        assert fields.GetArray("box_length").GetTuple(0) == (2.5,)


EVEN = ("-P", "time.end=0.4")  # steps 0, 10, 20, 30, 40


def test_dcd_layout():
    """a file for VMD has the records of CHARMM: head, titles, number of bodies, cells and axes"""
    make("-P", "ensemble.systems=2", "-P", "physics.boundary=periodic", "-P",
         "physics.box_length=2.5", *EVEN)
    result = convert("--all", TRAJECTORY, "all.dcd", "--from-units", "galactic")
    assert result.stdout == "all.dcd: 5 frames of 30 bodies x 2 systems\n"
    assert lost(result) == ("masses, velocities, digits of positions after the seventh, systems"), \
        lost(result)
    whole, (head, titles, count, *frames) = all_rows(FRAMES), records("all.dcd")
    control = struct.unpack("<9if10i", head[4:])
    assert head[:4] == b"CORD" and control[:4] == (5, 0, 10, 50), control
    assert abs(control[9] * 0.04888821 / 0.01 - 1) < 1e-7 and control[10] == 1
    assert control[19] == 24 and not any(control[4:9]) and not any(control[11:19]), control
    lines = titles[4:84].decode().strip(), titles[84:].decode().strip()
    assert struct.unpack("<i", titles[:4]) == (2,) and len(titles) == 4 + 2 * 80
    assert lines == ("WRITTEN BY ORRERY",
                     "LENGTHS IN kpc, TIMES (AKMA: PS) IN kpc (km/s)^-1"), lines
    assert struct.unpack("<i", count) == (60,) and len(frames) == 4 * FRAMES
    for index in range(FRAMES):
        cell, *axes = frames[4 * index:4 * index + 4]
        assert struct.unpack("<6d", cell) == (2.5, 90, 2.5, 90, 90, 2.5)
        for axis, content in enumerate(axes):
            assert content == whole[index, :, 1 + axis].astype("<f4").tobytes(), (index, axis)
    convert("--all", TRAJECTORY, "again.dcd", "--from-units", "galactic")
    assert pathlib.Path("again.dcd").read_bytes() == pathlib.Path("all.dcd").read_bytes()


def test_dcd_says_what_it_loses():
    """steps at unequal distances, digits and numbers that single precision does not have"""
    make()
    usual = "masses, velocities, digits of positions after the seventh"
    assert lost(convert("--all", TRAJECTORY, "uneven.dcd")) == "time, step, " + usual
    control = struct.unpack("<9if10i", records("uneven.dcd")[0][4:])
    assert control[:4] == (5, 0, 1, 5) and control[10] == 0, control
    assert len(records("uneven.dcd")) == 3 + 3 * FRAMES
    assert lost(convert("--frame", "2", TRAJECTORY, "one.dcd")) == usual
    control = struct.unpack("<9if10i", records("one.dcd")[0][4:])
    assert control[:3] == (1, 20, 1) and abs(control[9] * 0.04888821 / 0.01 - 1) < 1e-7, control
    pathlib.Path("in.csv").write_text("id,m,x,y,z,vx,vy,vz\n1,1,0.5,0,0,0,0,0\n2,1,-8,0,0,0,0,0\n")
    assert lost(convert("in.csv", "exact.dcd")) == "masses, velocities"
    pathlib.Path("in.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,0,-4e38,0,0,0,0\n")
    refused = convert("in.csv", "far.dcd", status=65)
    assert "position -4e+38 of body 2 in frame 0: dcd has single precision" in refused.stderr
    assert not list(pathlib.Path(".").glob("far*")), "nothing is left"


def test_dcd_in_mdanalysis():
    """MDAnalysis finds the positions, the times and the cell of each frame"""
    tap.need("MDAnalysis")
    import warnings
    import MDAnalysis
    for periodic in (False, True):
        make(*EVEN, *(("-P", "physics.boundary=periodic", "-P", "physics.box_length=2.5")
                      if periodic else ()), "--force")
        convert("-q", "--force", "--all", TRAJECTORY, "all.dcd")
        whole = all_rows(FRAMES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it knows no elements
            universe = MDAnalysis.Universe.empty(30, trajectory=False)
            universe.load_new("all.dcd")
        assert len(universe.trajectory) == FRAMES and universe.trajectory.n_atoms == 30
        for index, frame in enumerate(universe.trajectory):
            assert (frame.positions == whole[index, :, 1:4].astype("f4")).all(), index
            assert abs(frame.time - 0.1 * index) < 1e-6, (index, frame.time)
            assert frame.dimensions is None if not periodic else \
                list(frame.dimensions) == [2.5, 2.5, 2.5, 90, 90, 90], frame.dimensions
    # Frames from the middle of a run keep their times.
    lines = pathlib.Path(TRAJECTORY).read_text().splitlines(keepends=True)
    pathlib.Path("rest.xyz").write_text("".join(lines[2 * 32:]))
    convert("-q", "--all", "rest.xyz", "rest.dcd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe = MDAnalysis.Universe.empty(30, trajectory=False)
        universe.load_new("rest.dcd")
    times = [frame.time for frame in universe.trajectory]
    assert len(times) == 3 and max(abs(t - e) for t, e in zip(times, (0.2, 0.3, 0.4))) < 1e-6, times


def test_dumps_in_ase():
    """ASE reads a dump of LAMMPS: frames, cells, positions, velocities; its lines are right"""
    ase = tap.need("ase.io")
    make("-P", 'bodies.names=["Sun"]')
    assert lost(convert("--all", TRAJECTORY, "all.dump")) == "names of species"
    lines = pathlib.Path("all.dump").read_text().splitlines()
    assert lines[:9] == ["ITEM: UNITS", "nbody", "ITEM: TIME", "0", "ITEM: TIMESTEP", "0",
                         "ITEM: NUMBER OF ATOMS", "30", "ITEM: BOX BOUNDS ff ff ff"], lines[:9]
    assert lines[12] == "ITEM: ATOMS type x y z vx vy vz mass id"
    assert [line.split()[0] for line in lines[13:16]] == ["1", "2", "2"]
    assert len(lines) == 2 + FRAMES * (11 + 30), len(lines)
    convert("--all", TRAJECTORY, "all.dump.gz")
    assert gzip.decompress(pathlib.Path("all.dump.gz").read_bytes()) == \
        pathlib.Path("all.dump").read_bytes()
    frames = ase.io.read("all.dump", index=":", format="lammps-dump-text")
    whole = all_rows(FRAMES)
    assert [frame.info["timestep"] for frame in frames] == [0, 10, 20, 30, 35]
    for frame, body in zip(frames, whole, strict=True):
        assert frame.get_positions().tobytes() == body[:, 1:4].tobytes()
        # ASE takes velocities for Angstrom / ps and has another unit: the ratio is one number.
        ratio = frame.get_velocities() / body[:, 4:]
        assert numpy.abs(ratio / ratio[0, 0] - 1).max() < 1e-13 and not frame.pbc.any()
    make("-P", "physics.boundary=periodic", "-P", "physics.box_length=2.5", "--force")
    convert("--all", TRAJECTORY, "box.dump")
    for frame in ase.io.read("box.dump", index=":", format="lammps-dump-text"):
        assert frame.pbc.all() and (frame.cell.lengths() == 2.5).all()
    convert(TRAJECTORY, "a.csv")
    convert("a.csv", "none.dump")  # a dump must have a step: that of a file without is 0
    assert pathlib.Path("none.dump").read_text().splitlines()[2:4] == ["ITEM: TIMESTEP", "0"]


def test_start():
    """a run from a converted file has the bits of one from the original"""
    make()
    convert(TRAJECTORY, "a.csv")
    for source in (TRAJECTORY, "a.csv"):
        pathlib.Path("again.cfg").write_text(
            CLUSTER.replace('"plummer"; count = 30; seed = 3;', f'"file"; file = "{source}";'))
        result = tap.run("run", "again.cfg", "-q", "--force", "-o", source + ".run")
        assert result.returncode == 0, result
    assert (pathlib.Path(TRAJECTORY + ".run/trajectory.xyz").read_bytes()
            == pathlib.Path("a.csv.run/trajectory.xyz").read_bytes())


def test_left_out():
    """columns that no format holds are named; ids of its own go along"""
    pathlib.Path("in.csv").write_text("id,m,x,y,z,vx,vy,vz,age [Myr],colour\n"
                                      "7,1,0.1,0,0,0,0,0,5,red\n9,1,1,0,0,0,0,0,5,red\n")
    assert lost(convert("in.csv", "out.xyz")) == "age, colour"
    assert pathlib.Path("out.xyz").read_text().splitlines()[3] == "X 1 0 0 0 0 0 1 9"
    assert "Time=" not in pathlib.Path("out.xyz").read_text()
    assert lost(convert("out.xyz", "out.txt")) == "ids"


def test_refusals():
    """what is wrong is said, and no file appears"""
    make()
    before = sorted(pathlib.Path(".").iterdir())
    for arguments, status, words in (
            ((TRAJECTORY, "out.doc"), 64, "end it in one of .csv, .xyz, .txt, .hdf5, .dump, .npz"),
            ((TRAJECTORY, "out.xyz", "--to", "pdf"), 64, "hdf5, lammps, npz, vtkhdf, dcd"),
            ((TRAJECTORY, "out.csv", "--units", "feet"), 64, "nbody"),
            ((TRAJECTORY, "out.xyz", "--columns", "species"), 64, "must have pos"),
            ((TRAJECTORY, "out.xyz", "--columns", "pos force"), 64, "orrery run"),
            ((TRAJECTORY, "out.txt", "--all"), 64, "one frame; --all needs one of csv, xyz, hdf5,"),
            ((TRAJECTORY, "out.hdf5.gz"), 64, "gzip"),
            ((TRAJECTORY, "out.npz.gz"), 64, "gzip"),
            ((TRAJECTORY, "out.xyz", "--from", "npz"), 64, "--from npz: must be one of hdf5, xyz"),
            ((TRAJECTORY, "-"), 64, "say it with --to and one of csv, xyz, plain, lammps\n"),
            ((TRAJECTORY, "out.csv", "--digits", "18"), 64, "1 to 17"),
            ((TRAJECTORY, "out.csv", "--digits", "0"), 64, "1 to 17"),
            ((TRAJECTORY, "folder/"), 64, "no name for a file"),
            ((TRAJECTORY,), 64, "missing argument"),
            (("nothing.xyz", "out.csv"), 66, "nothing.xyz"),
            ((TRAJECTORY, "nowhere/out.csv"), 73, "nowhere"),
            (("run.cfg", "out.csv"), 65, "run.cfg:2")):
        result = convert(*arguments, status=status)
        assert words in result.stderr and result.stderr.count("\n") == 1, result
        assert sorted(pathlib.Path(".").iterdir()) == before, arguments
    pathlib.Path("cut.xyz").write_bytes(pathlib.Path(TRAJECTORY).read_bytes()[:-100])
    for name in ("out.xyz", "out.npz", "out.dump", "out.dcd"):
        convert("cut.xyz", name, "--all", status=65)
        assert not list(pathlib.Path(".").glob(name + "*"))
    convert(TRAJECTORY, "out.csv")
    assert "--force" in convert(TRAJECTORY, "out.csv", status=73).stderr
    convert(TRAJECTORY, "out.csv", "--force")


def test_frames_of_other_numbers():
    """frames of more or fewer bodies than the first are no change of the file while it is read"""
    keys = "\nProperties=pos:R:3:velo:R:3:mass:R:1:cluster:I:1\n"

    def frame(*clusters):
        rows = (f"{k} 0 0 0 0 0 1 {cluster}\n" for k, cluster in enumerate(clusters))
        return f"{len(clusters)}{keys}{''.join(rows)}"

    words = "the frame has {} bodies, where {} are expected"
    for first, second, said in (((1,), (1, 1), words.format(2, 1)),
                                ((1, 1), (1,), words.format(1, 2)),
                                ((1, 1, 2, 2), (1, 1), words.format(2, 4)),
                                ((1, 1, 2, 2), (1, 1, 1, 2),
                                 "a system of this frame has more than the 2 bodies of others")):
        pathlib.Path("in.xyz").write_text(frame(*first) + frame(*second))
        assert said in convert("in.xyz", "out.xyz", "--all", status=65).stderr
        convert("in.xyz", "out.xyz", "--frame", 0, "--force")
        os.remove("out.xyz")


def test_every_format_is_described():
    """help, man page, manual and the key bodies.format name all formats of the tables"""
    def formats(option):
        said = convert("a", "b", option, "?", status=64).stderr
        return set(said.split("must be one of ")[1].strip().split(", "))

    choices = next(line for line in tap.run("info", "--keys").stdout.splitlines()
                   if line.startswith("bodies.format\t")).split("\t")[1].split()
    assert set(choices) == formats("--from") | {"auto"} and "csv" in choices, choices
    manual = pathlib.Path(tap.SOURCE, "docs/manual/running.md").read_text()
    pages = {"orrery convert --help": tap.run("convert", "--help").stdout.split("options:")[0],
             "docs/orrery.1": pathlib.Path(tap.SOURCE, "docs/orrery.1").read_text(),
             "docs/manual/running.md": manual.split("## orrery convert")[1].split("\n## ")[0]}
    for page, text in pages.items():
        missing = (formats("--from") | formats("--to")) - set(re.findall(r"\w+", text))
        assert not missing, f"{page} does not name {sorted(missing)}"
    explained = tap.run("info", "bodies.format").stdout
    assert all(f"{name}: " in explained for name in choices), explained


def test_formats_that_are_only_written():
    """the error about such a file names its format"""
    make()
    names = {"npz": "b.npz", "lammps": "b.dump", "dcd": "b.dcd", "vtkhdf": "b.vtkhdf"}
    if tap.run("convert", TRAJECTORY, "probe.hdf5").returncode == 69:
        del names["vtkhdf"]  # built without HDF5
    for name, path in names.items():
        convert(TRAJECTORY, path)
        assert f"{path}: is in the format {name}, which is only written" in \
            convert(path, "out.csv", status=65).stderr


def test_the_file_to_be_read_is_not_written():
    """OUT that is IN, by any name, is refused: other frames would be lost"""
    make()
    os.symlink(TRAJECTORY, "link.xyz")
    os.link(TRAJECTORY, "same.xyz")
    content = pathlib.Path(TRAJECTORY).read_bytes()
    for source, target in ((TRAJECTORY, TRAJECTORY), (TRAJECTORY, "cluster.run/./trajectory.xyz"),
                           ("link.xyz", TRAJECTORY), ("same.xyz", TRAJECTORY)):
        for options in ((), ("--force",), ("--all", "--force")):
            result = convert(source, target, *options, status=73)
            assert "is the file to be read" in result.stderr, result
            assert pathlib.Path(TRAJECTORY).read_bytes() == content, (source, options)


def test_a_table_of_several_frames():
    """a table of several frames is told by its times or its ids, and not read as one frame"""
    make()
    convert(TRAJECTORY, "all.csv", "--all")
    lines = pathlib.Path("all.csv").read_text().splitlines()
    assert lines[0].startswith("step [1],time [T],id [1],m"), lines[0]
    cells = [line.split(",") for line in lines]
    for name, kept in (("ids.csv", lambda row: row[2:]),
                       ("times.csv", lambda row: row[1:2] + row[3:])):
        pathlib.Path(name).write_text("".join(",".join(kept(row)) + "\n" for row in cells))
    for name, words in (("all.csv", "all.csv:32: column 2 (time) is '0.1"),
                        ("times.csv", "times.csv:32: column 1 (time) is '0.1"),
                        ("ids.csv", "ids.csv: two bodies have the id 1: number 1 and number 31")):
        result = convert(name, "out.xyz", status=65)
        assert words in result.stderr, result
        assert not pathlib.Path("out.xyz").exists()
    # Rows of one time are a frame.
    pathlib.Path("frame.csv").write_text("\n".join(lines[:31]) + "\n")
    assert "1 frame of 30 bodies" in convert("frame.csv", "out.xyz").stdout
    assert frame_text("out.xyz", 0).splitlines()[2:] == \
        frame_text(TRAJECTORY, 0).splitlines()[2:]


def nodes():
    """A folder with what is no regular file, by name; devices only where they can be made."""
    folder = pathlib.Path("nodes")
    folder.mkdir()
    os.mkfifo(folder / "fifo.csv")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "socket.csv"))
    listener.close()
    (folder / "folder.csv").mkdir()
    pathlib.Path("mine").write_text("mine")
    (folder / "link.csv").symlink_to("../mine")
    (folder / "fifo-link.csv").symlink_to("fifo.csv")
    (folder / "nowhere.csv").symlink_to("../nowhere")
    try:
        os.mknod(folder / "full.csv", stat.S_IFCHR | 0o666, os.makedev(1, 7))
    except PermissionError:
        pass
    return folder


def test_only_regular_files_are_replaced():
    """devices, pipes, sockets, folders and links stay what they are, with --force as well: 73"""
    make()
    folder = nodes()
    identity = {p.name: os.lstat(p)[:3] for p in folder.iterdir()}
    assert len(identity) >= 6
    for name in sorted(identity):
        for options in ((), ("--force",), ("--force", "--to", "hdf5")):
            result = tap.run("convert", TRAJECTORY, folder / name, *options)
            if result.returncode == 69:  # built without HDF5
                continue
            assert result.returncode == 73 and name in result.stderr, result
            assert "--force" not in result.stderr, result
            assert {p.name: os.lstat(p)[:3] for p in folder.iterdir()} == identity, name
    assert pathlib.Path("mine").read_text() == "mine" and not pathlib.Path("nowhere").exists()
    # Nor is such a thing taken for litter of its own.
    os.mkfifo(folder / "new.csv.orrery.tmp")
    convert(TRAJECTORY, folder / "new.csv")
    assert stat.S_ISFIFO(os.lstat(folder / "new.csv.orrery.tmp").st_mode)


def test_standard_output():
    """`-` is standard output: the bytes of the file, and messages elsewhere"""
    make()
    for options in (("--to", "csv"), ("--to", "xyz", "--all"), ("--to", "plain", "--frame", "1")):
        result = convert(TRAJECTORY, "-", *options)
        assert "frame" in result.stderr.splitlines()[-1], result
        convert(TRAJECTORY, "out", *options, "--force")
        assert result.stdout == pathlib.Path("out").read_text()
        assert not convert(TRAJECTORY, "-", *options, "-q").stderr
    for options, words in (((), "--to"), (("--to", "hdf5"), "hdf5"), (("--to", "npz"), "npz"),
                           (("--to", "vtkhdf"), "vtkhdf"), (("--to", "hdf5", "--all"), "hdf5")):
        result = convert(TRAJECTORY, "-", *options, status=64)
        assert words in result.stderr and not result.stdout, result
    # A file of that name has a folder in front.
    convert(TRAJECTORY, "./-", "--to", "csv")
    assert pathlib.Path("-").exists()
    with open("/dev/full", "w") as full:
        result = subprocess.run([tap.ORRERY, "convert", TRAJECTORY, "-", "--to", "csv"],
                                stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 74 and "standard output" in result.stderr, result


def test_tables_between_tabs_and_other_names():
    """tabs, by the name of the file or its first line; pos_x, vel_x, masses; MSun, parsec, kms"""
    header = ("masses [MSun]", "pos_x [parsec]", "pos_y [parsec]", "pos_z [parsec]", "vel_x [kms]",
              "vel_y [kms]", "vel_z [kms]", "name")
    rows = (("1", "0", "0.5", "0", "0", "2", "0", "a"), ("2", "1", "0", "0", "0", "1", "0", ""))
    text = "".join("\t".join(row) + "\n" for row in (header, *rows))
    plain = ("id [1],m [Msun],x [pc],y [pc],z [pc],vx [km/s],vy [km/s],vz [km/s]\n"
             "1,1,0,0.5,0,0,2,0\n2,2,1,0,0,0,1,0\n")
    for name in ("b.tsv", "b.dat", "b.csv"):
        pathlib.Path(name).write_text(text)
        result = tap.run("convert", name, "o.csv", "--force")
        assert result.returncode == 0, result
        assert pathlib.Path("o.csv").read_text() == plain, name


tap.main()
