"""Trajectories that a run writes for VMD and MDAnalysis (dcd) and for ParaView (vtkhdf): what other
programs find in them, beside trajectory.xyz of the same steps, and restarts."""

import pathlib
import os
import struct

import frames
import tap

CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 30; seed = 3; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 0.35; };
outputs = ( { type = "xyz"; every = 10; columns = "pos velo mass id"; },
            { type = "dcd"; every = 10; } );
"""
POINTS = CLUSTER.replace('"dcd"', '"vtkhdf"')
BOX = ("-P", "physics.boundary=periodic", "-P", "physics.box_length=2.5")
TWO = ("-P", "ensemble.systems=2")


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def run(*arguments, status=0):
    result = tap.run("run", *arguments)
    assert result.returncode == status, result.stderr
    return result


def need_hdf5():
    """Skips the test where the program was built without HDF5."""
    if tap.run("run", write(POINTS), "--dry-run", "-q").returncode == 69:
        raise tap.Skip("built without HDF5")


def frames_of_xyz():
    """{column: values} of each frame of the run's trajectory.xyz, the bodies of all systems."""
    return [columns for _, columns in frames.read("cluster.run/trajectory.xyz")]


def files(folder, end):
    return {p.name: p.read_bytes() for p in pathlib.Path(folder).glob("*." + end)}


def test_dcd_has_the_positions_of_each_frame():
    """head, number of bodies and axes, in open space and, of two systems, in a periodic box"""
    for more, bodies, kept in (((), 30, 4), ((*BOX, *TWO, "-P", "time.end=0.4"), 60, 5)):
        run(write(CLUSTER), "-q", "--force", *more)
        head, titles, count, *rest = frames.records("cluster.run/trajectory.dcd")
        control = struct.unpack("<9if10i", head[4:])
        # No number of frames: what is written never changes. Frames each 10 steps of 0.01.
        assert head[:4] == b"CORD" and control[:4] == (0, 0, 10, 0) and control[19] == 24, control
        assert abs(control[9] * 0.04888821 / 0.01 - 1) < 1e-7, control
        assert control[10] == bool(more) and struct.unpack("<i", count) == (bodies,)
        assert b"WRITTEN BY ORRERY" in titles
        # The last step, 35, is no multiple of 10, and the head has one distance.
        whole, each = frames_of_xyz(), 4 if more else 3
        assert len(whole) == 5 and len(rest) == kept * each, (len(whole), len(rest))
        for k, frame in enumerate(whole[:kept]):
            *cell, x, y, z = rest[each * k:each * (k + 1)]
            assert cell == ([struct.pack("<6d", 2.5, 90, 2.5, 90, 90, 2.5)] if more else [])
            for axis, content in enumerate((x, y, z)):
                assert content == frame["pos"][:, axis].astype("<f4").tobytes(), (k, axis)


def test_mdanalysis_reads_a_run():
    """MDAnalysis finds frames, times and the cell, also while a frame is being written"""
    tap.need("MDAnalysis")
    import warnings
    import MDAnalysis
    for periodic in (False, True):
        run(write(CLUSTER), "-q", "--force", *(BOX if periodic else ()))
        whole = frames_of_xyz()
        content = pathlib.Path("cluster.run/trajectory.dcd").read_bytes()
        for cut, kept in ((0, 4), (200, 3)):
            pathlib.Path("cut.dcd").write_bytes(content[:len(content) - cut])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it knows no elements
                universe = MDAnalysis.Universe.empty(30, trajectory=False)
                universe.load_new("cut.dcd")
            assert len(universe.trajectory) == kept, len(universe.trajectory)
            for k, frame in enumerate(universe.trajectory):
                assert (frame.positions == whole[k]["pos"].astype("f4")).all(), k
                assert abs(frame.time - 0.1 * k) < 1e-6, (k, frame.time)
                assert frame.dimensions is None if not periodic else \
                    list(frame.dimensions) == [2.5, 2.5, 2.5, 90, 90, 90], frame.dimensions


def test_a_restart_of_dcd_has_the_bytes_of_one_run():
    """cut at the checkpoint, whatever stands behind it: a frame that a kill has torn, say; a
    finished run goes on, also from a step between two frames"""
    config = write(CLUSTER)
    run(config, "-q", "-o", "whole", "-P", "time.end=0.7")
    whole = pathlib.Path("whole/trajectory.dcd").read_bytes()
    for end in (0.2, 0.35):
        for tail in (b"", b"\0", struct.pack("<i", 120) + bytes(77), bytes(5000)):
            run(config, "-q", "-o", "parts", "--force", "-P", f"time.end={end}")
            with open("parts/trajectory.dcd", "ab") as file:
                file.write(tail)
            run(config, "-q", "-o", "parts", "--restart", "-P", "time.end=0.7")
            assert pathlib.Path("parts/trajectory.dcd").read_bytes() == whole, (end, tail[:8])


def test_dcd_has_one_distance():
    """another cadence at a restart is refused, with the one of the file; nothing is touched"""
    config = write(CLUSTER)
    run(config, "-q", "-P", "time.end=0.2")
    before = pathlib.Path("cluster.run/trajectory.dcd").read_bytes()
    result = run(config, "--restart", "-P", "outputs.1.every=5", status=78)
    assert "outputs.1.every" in result.stderr and "a frame each 10 steps" in result.stderr, result
    assert pathlib.Path("cluster.run/trajectory.dcd").read_bytes() == before
    run(config, "-q", "--restart", "-P", "outputs.0.every=5")  # xyz may
    result = run(config, "--force", "-P", "outputs.1.every=3000000000", status=78)
    assert "integers up to 2147483647" in result.stderr, result
    for name in ("a/b", ".a", "", "-rf", "a\\nb"):
        result = run(config, "--force", "-P", f'outputs.1.file="{name}"', status=78)
        assert "must be a plain file name" in result.stderr, result
    # Nor has it the name of a file that is compressed at the end.
    result = run(write(CLUSTER), "-o", "new", "-P", 'outputs.1.file="trajectory.xyz.gz"', "-P",
                 "outputs.0.compress=true", status=78)
    assert "is a name that the run itself uses" in result.stderr and not os.path.exists("new")


def test_dcd_of_what_single_precision_does_not_reach():
    """an error with the file, the position and the body before a byte of the frame is written"""
    pathlib.Path("far.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,0,0,-4e38,0,0,0\n")
    config = write("""name = "far";
bodies = { initial = "file"; file = "far.csv"; center = false; };
physics = { softening = 1e37; };
time = { step = 0.01; end = 0.02; };
outputs = ( { type = "dcd"; every = 1; } );
""")
    result = run(config, "-q", status=65)
    assert "trajectory.dcd: position -4e+38 of body 2 at step 0" in result.stderr, result.stderr
    assert pathlib.Path("far.run/trajectory.dcd").read_bytes() == b""
    pathlib.Path("far.csv").write_text("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,0,0,-4,0,0,0\n")
    result = run(config, "-q", "--force", "-P", "time.step=1e-41", "-P", "time.end=2e-41",
                 status=65)
    assert "trajectory.dcd: step 1e-41: dcd has single precision" in result.stderr, result.stderr


def test_vtk_reads_each_file_of_a_run():
    """VTK's own reader finds time, points and data of each event, the last one too"""
    tap.need("vtkmodules.vtkIOHDF")
    need_hdf5()
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOHDF import vtkHDFReader
    result = run(write(POINTS), *BOX, *TWO)
    assert "points_000.vtkhdf ..." in result.stdout, result.stdout
    whole, names = frames_of_xyz(), sorted(files("cluster.run", "vtkhdf"))
    assert names == [f"points_{k:03}.vtkhdf" for k in range(5)]
    for k, name in enumerate(names):
        reader = vtkHDFReader()
        reader.SetFileName(f"cluster.run/{name}")
        reader.UpdateInformation()
        assert reader.GetNumberOfSteps() == 1
        reader.Update()
        found = reader.GetOutputDataObject(0)
        assert found.GetClassName() == "vtkPolyData" and found.GetNumberOfVerts() == 60
        data = {name: vtk_to_numpy(found.GetPointData().GetArray(name))
                for name in ("id", "mass", "velocity", "system")}
        points = vtk_to_numpy(found.GetPoints().GetData())
        assert (points == whole[k]["pos"]).all() and (data["velocity"] == whole[k]["velo"]).all()
        assert (data["mass"] == whole[k]["mass"]).all() and (data["id"] == whole[k]["id"]).all()
        assert list(data["system"]) == 30 * [1] + 30 * [2]
        fields = {name: found.GetFieldData().GetArray(name).GetValue(0)
                  for name in ("time", "step", "box_length")}
        step = [0, 10, 20, 30, 35][k]
        assert fields == {"time": step * 0.01, "step": step, "box_length": 2.5}, fields


def test_files_of_vtk_after_a_kill():
    """killed and restarted, they are those of an undisturbed run; --force takes those of a run
    away; one that was changed is refused"""
    need_hdf5()
    config = write(POINTS.replace("end = 0.35", "end = 9.03"))
    run(config, "-q", "-o", "whole")
    tap.kill_once("parts/points_020.vtkhdf", "run", config, "-q", "-o", "parts", "-P",
                  "time.end=4000", "-P", "checkpoint.every_steps=77")
    run(config, "-q", "-o", "parts", "--restart")
    whole = files("whole", "vtkhdf")
    assert len(whole) == 92 and files("parts", "vtkhdf") == whole
    pathlib.Path("parts/points_001.vtkhdf").write_bytes(b"another")
    result = run(config, "-q", "-o", "parts", "--restart", "-P", "time.end=10", status=74)
    assert "points_001.vtkhdf" in result.stderr, result
    run(config, "-q", "-o", "whole", "--force", "-P", "time.end=0.1")
    assert sorted(files("whole", "vtkhdf")) == ["points_000.vtkhdf", "points_001.vtkhdf"]
    result = run(config, "-o", "new", "-P", 'outputs.0.file="points_000.vtkhdf"', status=78)
    assert "is a name that the run itself uses" in result.stderr and not os.path.exists("new")


def test_a_build_without_hdf5():
    """vtkhdf is refused before anything is written, and dcd is there"""
    result = tap.run("run", write(POINTS))
    if result.returncode == 0:
        raise tap.Skip("built with HDF5")
    assert result.returncode == 69 and "without HDF5" in result.stderr, result
    assert os.listdir(".") == ["run.cfg"]
    run(write(CLUSTER), "-q")


tap.main()
