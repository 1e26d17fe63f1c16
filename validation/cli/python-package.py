"""python/: the package that runs the program and reads its results, also a stranger's."""

import builtins
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings

import rows
import tap

PAIR = """
name = "pair";
bodies = { initial = "two-body"; eccentricity = 0.5; };
time = { step = 0.01; end = 1.0; };
diagnostics = ( { type = "conservation"; every = 10; } );
outputs = ( { type = "xyz"; every = 50; } );
expect = ( { quantity = "energy_error"; at_most = 1e-3; } );
"""
# A test body of v = 1e153 and a step of 1e153: 180 steps go beyond the largest double.
CRASH = """
name = "crash";
bodies = { initial = "file"; file = "b.csv"; };
time = { step = 1e153; end = 1e156; };
diagnostics = ( { type = "conservation"; every = 10; } );
outputs = ( { type = "xyz"; every = 32; } );
"""
CRASH_BODIES = "m,x,y,z,vx,vy,vz,id\n1,0,0,0,0,0,0,11\n0,1e99,0,0,1e153,0,0,12\n"
HOSTILE = '<script>alert("x")</script>&'
HDF5 = {"outputs": [{"type": "gadget-hdf5", "every": 50}]}


def package():
    """The package, as it stands in the tree."""
    for name in ("numpy", "pandas"):
        tap.need(name)
    path = os.path.join(tap.SOURCE, "python")
    if path not in sys.path:
        sys.path.insert(0, path)
    os.environ["ORRERY"] = os.path.abspath(tap.ORRERY)
    import orrery  # not by tap.need(): a package that cannot be imported is a fault
    return orrery


def write(text, name="my.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def record(directory, change=None):
    """run.json; a change is written back."""
    path = pathlib.Path(directory, "run.json")
    about = json.loads(path.read_text())
    if change:
        about.update(change)
        path.write_text(json.dumps(about))
    return about


def refused(function, *words, kind=None):
    """The Error of a call, whose text must have these words."""
    try:
        value = function()
    except (kind or sys.modules["orrery"].Error) as error:
        assert all(word in str(error) for word in words), (words, str(error))
        return error
    raise AssertionError(f"no error, but {value!r}")


def snapshots(orrery, config, **more):
    """A run with outputs of HDF5."""
    tap.need("h5py")
    try:
        return orrery.run(config, {**HDF5, **more.pop("overrides", {})}, **more)
    except orrery.Error as error:
        if "HDF5" in str(error):
            raise tap.Skip("built without HDF5")
        raise


# --- runs -----------------------------------------------------------------------------------------

def test_version():
    """the version is that of configure.ac, and the packaging takes it from there"""
    orrery = package()
    source = pathlib.Path(tap.SOURCE)
    version = re.search(r"AC_INIT\(\[Orrery\], \[([^]]+)\]", (source / "configure.ac").read_text())
    assert orrery.__version__ == version[1], (orrery.__version__, version[1])
    project = (source / "python/pyproject.toml").read_text()
    assert 'version = { attr = "orrery.version.VERSION" }' in project
    assert 'name = "orrery-results"' in project
    assert orrery.open is not builtins.open


def test_a_run_that_held():
    """verdict, status, config, table and frames are those of the files, to the last bit"""
    orrery = package()
    run = orrery.run(write(PAIR), {"time.step": 0.02, "diagnostics.0.every": 5,
                                   "time.integrator": "yoshida4", "bodies.masses": [1, 2.5]})
    assert run.path == "pair.run" and run.name == "pair"
    assert run.held is True and run.verdict == "held" and run.status == 0 and run.ended
    assert run.verdict_text == ""
    assert run.config["time"] == {"integrator": "yoshida4", "step": 0.02, "end": 1.0}
    assert run.config["bodies"]["masses"] == [1.0, 2.5]
    assert run.units == {"system": "nbody", "mass": "M", "length": "L", "velocity": "L T^-1",
                         "time": "T"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = run.tables["conservation"]
    columns = rows.columns("pair.run/conservation.csv")
    assert list(run.tables) == ["conservation"] and list(table.columns) == list(columns)
    for name, values in columns.items():
        assert table[name].to_numpy(float).tobytes() == values.tobytes() \
            or table[name].isna().all(), name
    header = pathlib.Path("pair.run/conservation.csv").read_text().split("\n")[0].split(",")
    assert [f"{name} [{unit}]" for name, unit in table.attrs["units"].items()] == header
    times, positions, velocities = rows.frames("pair.run/trajectory.xyz")
    assert len(run.frames) == len(times) == 2
    for k, frame in enumerate(run.frames):
        assert frame.time == times[k] and frame.step == 50 * k and len(frame) == 2
        assert frame.positions.tobytes() == positions[k].tobytes()
        assert frame.velocities.tobytes() == velocities[k].tobytes()
        assert frame.masses.tolist() == [1.0, 2.5] and frame.ids.tolist() == [1, 2]
        assert frame.species.tolist() == ["X", "X"] and frame.systems is None
    assert run.frames[-1].step == 50 and [frame.step for frame in run.frames[::-1]] == [50, 0]
    refused(lambda: run.frames[2], "frame 2 of 2", kind=IndexError)
    refused(lambda: run.tables["virial"], "virial", "conservation", kind=KeyError)
    page = run._repr_html_()
    assert "pair: held" in page and "t = 1.0, step 50 of 50" in page, page


def test_frames_are_read_when_they_are_asked_for():
    """opening a run reads no trajectory, and a broken frame does no harm to the others"""
    orrery = package()
    orrery.run(write(PAIR), {"outputs.0.every": 25})
    path = pathlib.Path("pair.run/trajectory.xyz")
    lines = path.read_text().splitlines(keepends=True)
    lines[6] = "X no numbers here at all\n"  # a body of the second frame, of four lines each
    path.write_text("".join(lines))
    frames = orrery.open("pair.run").frames
    assert len(frames) == 5 and [frames[k].step for k in (0, 2, 4)] == [0, 50, 100]
    refused(lambda: frames[1], "pair.run/trajectory.xyz: frame 1: ")
    path.unlink()
    run = orrery.open("pair.run")
    assert run.held and list(run.outputs) == []
    refused(lambda: run.frames, "no trajectory")


def test_a_run_that_failed():
    """a failed verdict is a result with its sentence, and no exception"""
    orrery = package()
    run = orrery.run(write(PAIR), {"expect.0.at_most": 1e-9}, output="failed")
    assert run.path == "failed" and run.held is False and run.verdict == "failed"
    assert run.status == 1
    assert run.verdict_text.startswith("failed: energy error "), run.verdict_text
    page = run._repr_html_()
    assert "pair: failed" in page and "bound 1e-09" in page, page


def test_a_run_that_expects_nothing():
    """held is None without criteria"""
    orrery = package()
    run = orrery.run(write(PAIR), {"expect": ()})
    assert run.held is None and run.verdict == "none" and run.status == 0


def test_wrong_configs():
    """the words of the program, all of them, and its exit status"""
    orrery = package()
    keys = {"time.stp": 1, "physics.softning": 0.5}
    error = refused(lambda: orrery.run(write(PAIR), keys), "time.stp", "time.step",
                    "physics.softning")
    direct = tap.run("run", "my.cfg", "-P", "time.stp=1", "-P", "physics.softning=0.5")
    assert str(error) == direct.stderr.strip() and error.status == direct.returncode == 78
    assert error.results is None and not pathlib.Path("pair.run").exists()
    assert refused(lambda: orrery.run("none.cfg"), "none.cfg").status == 66
    orrery.run("my.cfg")
    error = refused(lambda: orrery.run("my.cfg"), "holds a run already", "--force")
    assert error.status == 73 and error.results is None
    # Nor are the results of an earlier run handed out for one that did not begin.
    error = refused(lambda: orrery.run("my.cfg", {"time.step": -1.0}, output="pair.run",
                                       force=True), "time.step")
    assert error.status == 78 and error.results is None
    assert orrery.run("my.cfg", {"time.end": 0.5}, force=True).record["time"] == 0.5
    error = refused(lambda: orrery.run("my.cfg", program="./nothing"), "./nothing")
    assert error.status is None
    refused(lambda: orrery.run("my.cfg", {"time.step": object()}), kind=TypeError)


def test_where_the_program_is():
    """an argument goes before ORRERY, and that before PATH"""
    orrery = package()
    write(PAIR)
    for name in ("one", "two", "bin/orrery"):
        path = pathlib.Path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {name} >&2; exit 69\n")
        path.chmod(0o755)
    program, search = os.environ.pop("ORRERY"), os.environ["PATH"]
    try:
        os.environ["PATH"] = f"{os.path.abspath('bin')}:{search}"
        assert str(refused(lambda: orrery.run("my.cfg"))) == "bin/orrery"
        os.environ["ORRERY"] = "./one"
        assert str(refused(lambda: orrery.run("my.cfg"))) == "one"
        error = refused(lambda: orrery.run("my.cfg", program="./two"))
        assert str(error) == "two" and error.status == 69
    finally:
        os.environ["ORRERY"], os.environ["PATH"] = program, search


def test_values():
    """values of python in the language of config files, as the program reads them back"""
    orrery, numpy = package(), tap.need("numpy")
    name = 'a "b" \\ c: d'
    run = orrery.run(write(PAIR), {
        "name": name, "bodies.center": False, "bodies.masses": numpy.array([2.0, 3.0]),
        "time.end": numpy.float64(0.5), "diagnostics.0.every": numpy.int64(5),
        "expect": [{"quantity": "energy_error", "between": [0, 0.5]}]})
    config = run.config
    assert run.path == name + ".run" and config["name"] == name and run.held
    assert config["bodies"]["center"] is False and config["bodies"]["masses"] == [2.0, 3.0]
    assert config["time"]["end"] == 0.5 and config["diagnostics"][0]["every"] == 5
    assert config["expect"] == [{"quantity": "energy_error", "between": [0.0, 0.5]}]
    write(PAIR, "-odd.cfg")
    assert orrery.run("-odd.cfg", output="odd").held


def test_a_run_that_broke_off():
    """numbers beyond all bounds: an Error with the words, and what was written up to then"""
    orrery = package()
    write(CRASH_BODIES, "b.csv")
    error = refused(lambda: orrery.run(write(CRASH)), "body 12")
    assert error.status == 70 and error.results.path == "crash.run"
    run = orrery.open("crash.run")
    assert run.held is None and run.verdict == "error" and run.status == 70
    assert len(run.tables["conservation"]) > 5 and len(run.frames) > 2
    assert run.frames[0].step == 0 and list(run.outputs) == ["trajectory.xyz", "failure.xyz"]
    last = run.outputs["failure.xyz"][0]
    assert last.positions[1, 0] == float("inf") and last.columns["finite"].tolist()[1] == 0
    assert "crash: error" in run._repr_html_()


def test_a_run_that_was_stopped():
    """by a signal: status 75, the whole frames; after a restart all of it"""
    orrery = package()
    config = write(PAIR)
    long = {"time.end": 1e6, "diagnostics.0.every": 1000, "outputs.0.every": 1000}
    words = [f"{key}={value}" for key, value in long.items()]
    process = subprocess.Popen([tap.ORRERY, "run", config, "-q",
                                *(word for key in words for word in ("-P", key))],
                               stderr=subprocess.DEVNULL)
    written = [pathlib.Path("pair.run", name) for name in ("conservation.csv", "trajectory.xyz")]
    while process.poll() is None and not all(path.exists() and path.stat().st_size > 5000
                                             for path in written):
        time.sleep(0.01)
    working = orrery.open("pair.run")
    assert working.held is None and working.status is None and working.verdict == "running"
    assert not working.ended and "pair: running" in working._repr_html_()
    assert len(working.tables["conservation"]) > 1 and len(working.frames) > 1
    process.send_signal(signal.SIGINT)
    assert process.wait() == 75
    run = orrery.open("pair.run")
    assert run.held is None and run.verdict == "stopped" and run.status == 75
    step = run.record["step"]
    count = len(run.frames)
    assert 0 < count and run.frames[-1].step <= step < 1e8
    end = {**long, "time.end": (step // 1000 + 3) * 10.0}
    again = orrery.run(config, end, restart=True)
    assert again.held and again.status == 0 and again.path == "pair.run"
    steps = [frame.step for frame in again.frames]
    assert steps == [1000 * k for k in range(step // 1000 + 4)], steps[-5:]
    assert again.tables["conservation"]["step"].tolist() == steps
    assert len(steps) > count and len(again.record["legs"]) == 2
    assert orrery.run(config, end, restart=True).held  # and once more: it is done


def test_an_interrupted_call_waits_for_the_checkpoint():
    """KeyboardInterrupt: the program ends by itself, with a checkpoint"""
    package()
    write(PAIR)
    keys = {"time.end": 1e6, "diagnostics.0.every": 1000, "outputs": ()}
    code = f'import orrery; orrery.run("my.cfg", {keys})'
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True,
                               env={**os.environ,
                                    "PYTHONPATH": os.path.join(tap.SOURCE, "python")})
    while process.poll() is None and not os.path.exists("pair.run/conservation.csv"):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)  # to python alone, as a notebook does
    _, words = process.communicate(timeout=60 * tap.PATIENCE)
    assert "KeyboardInterrupt" in words, words
    assert record("pair.run")["verdict"] == "stopped", words
    assert pathlib.Path("pair.run/checkpoint.orr").exists()


def test_killed_within_a_row():
    """the last row and frame, which were cut off, are left out"""
    orrery = package()
    orrery.run(write(PAIR))
    record("pair.run", {"state": "running", "verdict": "running", "exit_status": -1})
    for name in ("conservation.csv", "trajectory.xyz"):
        path = pathlib.Path("pair.run", name)
        path.write_bytes(path.read_bytes()[:-4])
    run = orrery.open("pair.run")
    assert run.verdict == "running" and run.held is None
    assert run.tables["conservation"]["step"].tolist() == list(range(0, 100, 10))
    assert [frame.step for frame in run.frames] == [0, 50]


# --- outputs --------------------------------------------------------------------------------------

def test_units():
    """in every system of units, the names are those of the trajectory and of the tables"""
    orrery = package()
    names = tap.run("info", "physics.units").stdout.split("one of ")[1].split("; default")[0]
    names = [name.strip() for name in names.replace("\n", " ").split(",")]
    assert len(names) > 4, names
    for name in names:
        run = orrery.run(write(PAIR), {"physics.units": name, "bodies.masses": [1.0, 1.0],
                                       "bodies.semi_major_axis": 1.0, "time.step": 1e-6,
                                       "time.end": 1e-4, "expect": ()}, output=name)
        assert run.units["system"] == name
        units = run.tables["conservation"].attrs["units"]
        assert units["time"] == run.units["time"] and units["center_x"] == run.units["length"]
        comment = pathlib.Path(name, "trajectory.xyz").read_text().split("\n")[1]
        written = dict(re.findall(r'(\w+)_unit="([^"]*)"', comment))
        assert written == {} if name == "nbody" else written == \
            {key: run.units[key] for key in ("mass", "length", "velocity", "time")}, comment


def test_compressed():
    """a compressed trajectory has the same frames, in any order"""
    orrery = package()
    plain = orrery.run(write(PAIR), {"outputs.0.every": 10}, output="plain")
    packed = orrery.run("my.cfg", {"outputs.0.every": 10, "outputs.0.compress": True},
                        output="packed")
    assert list(packed.outputs) == ["trajectory.xyz.gz"] and len(packed.frames) == 11
    for k in (10, 0, 5, 4, 9):
        assert packed.frames[k].step == 10 * k
        assert packed.frames[k].positions.tobytes() == plain.frames[k].positions.tobytes()
    path = pathlib.Path("packed/trajectory.xyz.gz")
    path.write_bytes(path.read_bytes()[:-20])
    refused(lambda: len(orrery.open("packed").frames), "packed/trajectory.xyz.gz")


def test_hdf5():
    """snapshots have the bits of the trajectory; h5py is asked for when one is read"""
    orrery = package()
    plain = orrery.run(write(PAIR), output="plain")
    run = snapshots(orrery, "my.cfg")
    assert list(run.outputs) == ["snapshot"] and len(run.frames) == 3
    for one, other in zip(run.frames, plain.frames):
        assert one.time == other.time and one.step is None and one.species is None
        for name in ("positions", "velocities", "masses", "ids"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    both = snapshots(orrery, "my.cfg", output="both", overrides={"outputs": [
        {"type": "gadget-hdf5", "every": 50}, {"type": "xyz", "every": 100}]})
    assert sorted(both.outputs) == ["snapshot", "trajectory.xyz"]
    kept = {name: sys.modules.pop(name) for name in list(sys.modules)
            if name.split(".")[0] == "h5py"}
    sys.modules["h5py"] = None
    try:
        run = orrery.open("pair.run")
        assert run.held and len(run.frames) == 3
        refused(lambda: run.frames[0], "h5py")
    finally:
        del sys.modules["h5py"]
        sys.modules.update(kept)


def test_columns_of_the_user():
    """other columns of a trajectory by their own names; those that are not there are None"""
    orrery = package()
    run = orrery.run(write(PAIR), {"outputs.0.columns": "id pos forces potential_energy"}) \
        if "potential_energy" in tap.run("info", "outputs.columns").stdout else \
        orrery.run(write(PAIR), {"outputs.0.columns": "id pos"})
    frame = run.frames[0]
    assert frame.positions.shape == (2, 3) and frame.ids.tolist() == [1, 2]
    assert frame.velocities is None and frame.masses is None and frame.species is None
    refused(lambda: frame.nothing, "nothing", kind=AttributeError)


def test_ensemble():
    """tables of the systems and their statistics; the system of each body"""
    orrery = package()
    bodies = 'bodies = { initial = "plummer"; count = 5; seed = 1; };'
    config = write(re.sub("bodies = .*", bodies, PAIR))
    more = {"ensemble.systems": 3, "physics.softening": 0.1}
    run = orrery.run(config, more)
    assert list(run.tables) == ["conservation", "conservation-ensemble"]
    table = run.tables["conservation"]
    assert table["system"].tolist()[:4] == [1, 2, 3, 1] and len(table) == 33
    mean = table.groupby("step")["energy"].mean().to_numpy()
    # The order of three sums may differ.
    assert abs(mean - run.tables["conservation-ensemble"]["energy_mean"]).max() < 1e-15
    assert run.frames[0].systems.tolist() == [1] * 5 + [2] * 5 + [3] * 5
    shot = snapshots(orrery, config, overrides=more, output="shot")
    assert shot.frames[0].systems.tolist() == run.frames[0].systems.tolist()


# --- studies --------------------------------------------------------------------------------------

def test_study():
    """a sweep: the table with its members as text, and each of its runs"""
    orrery = package()
    sweep = [{"key": "time.integrator", "values": ["euler", "yoshida4"]}]
    study = orrery.run(write(PAIR), {"sweep": sweep})
    assert study.path == "pair.sweep" and list(study.runs) == ["001", "002"]
    table = study.table
    assert table["member"].tolist() == ["001", "002"]
    assert table["time.integrator"].tolist() == ["euler", "yoshida4"]
    assert table["verdict"].tolist() == ["failed", "held"] and study.held is False
    assert table.attrs["units"]["conservation.kinetic"] == "M L^2 T^-2"
    for member, energy in zip(study.runs, table["conservation.energy"]):
        run = study.runs[member]
        assert run.config["time"]["integrator"] == table["time.integrator"][int(member) - 1]
        assert run.tables["conservation"]["energy"].iloc[-1] == energy
        assert run.held is (member == "002") and len(run.frames) == 3
    page = study._repr_html_()
    assert "time.integrator" in page and "yoshida4" in page and "pair.sweep" in page, page
    path = pathlib.Path("pair.sweep/study.csv")
    whole = path.read_text()
    for first, second, held in (("failed", "stopped", False), ("none", "held", None),
                                ("held", "held", True), ("held", "failed", False)):
        path.write_text(whole.replace(",1,failed,", f",1,{first},")
                        .replace(",0,held,", f",0,{second},"))
        assert orrery.open("pair.sweep").held is held, (first, second)
    path.write_text(whole)
    again = orrery.run("my.cfg", {"sweep": sweep})  # is done, and nothing is computed
    assert again.path == "pair.sweep" and len(again.runs) == 2
    shutil.rmtree("pair.sweep/002")
    os.remove("pair.sweep/study.csv")
    part = orrery.open("pair.sweep")
    assert list(part.runs) == ["001"] and part._repr_html_()
    refused(lambda: part.table, "study.csv")
    refused(lambda: part.runs["002"], kind=KeyError)


def test_a_study_with_a_member_that_broke_off():
    """an Error with its words, and the study with the others"""
    orrery = package()
    write(CRASH_BODIES, "b.csv")
    sweep = {"sweep": [{"key": "time.end", "values": [1e154, 1e156]}]}
    error = refused(lambda: orrery.run(write(CRASH), sweep), "body 12")
    assert error.status == 70
    table = error.results.table
    assert table["exit_status"].tolist() == [0, 70], table
    assert table["verdict"].tolist() == ["none", "error"] and error.results.held is None


def test_convergence():
    """a convergence test is a study with a table of its own"""
    orrery = package()
    study = orrery.run(write(PAIR), convergence=True)
    assert study.path == "pair.convergence" and study.held is True and len(study.runs) == 3
    assert list(study.tables) == ["study", "convergence"]
    assert "order" in study.tables["convergence"].columns


# --- a stranger's directory -----------------------------------------------------------------------

def stranger():
    """A run whose files will be changed, and a secret beside it."""
    orrery = package()
    orrery.run(write(PAIR))
    write("step [1],time [T]\n0,0\n", "secret.csv")
    shutil.copy("pair.run/trajectory.xyz", "secret.xyz")
    return orrery


def test_names_that_lead_out():
    """a name in run.json with a path is an error, and nothing behind it is opened"""
    orrery = stranger()
    outside = os.path.abspath("secret.csv")
    for name in ("../secret.csv", outside, "..", ".", "", "a/../../secret.csv", "x\0.csv", 7, None,
                 ["run.json"], "../", "/"):
        record("pair.run", {"files": ["run.json", name]})
        refused(lambda: orrery.open("pair.run"), "pair.run/run.json", "is no file")
    record("pair.run", {"files": "conservation.csv"})
    refused(lambda: orrery.open("pair.run"), "files is no list")
    about = record("pair.run", {"files": ["run.json", "gone.csv", "gone.xyz", "__class__"]})
    run = orrery.open("pair.run")
    assert list(run.tables) == [] and list(run.outputs) == [] and about["files"]


def test_links_are_not_followed():
    """links, pipes and folders in the place of files"""
    orrery = stranger()
    os.remove("pair.run/conservation.csv")
    os.symlink("../secret.csv", "pair.run/conservation.csv")
    os.remove("pair.run/trajectory.xyz")
    os.symlink("../secret.xyz", "pair.run/trajectory.xyz")
    run = orrery.open("pair.run")
    refused(lambda: run.tables["conservation"], "pair.run/conservation.csv", "link")
    refused(lambda: run.frames, "pair.run/trajectory.xyz", "link")
    os.remove("pair.run/conservation.csv")
    os.mkfifo("pair.run/conservation.csv")
    run = orrery.open("pair.run")
    refused(lambda: run.tables["conservation"], "no regular file")
    os.rename("pair.run/run.json", "other.json")
    os.symlink("../other.json", "pair.run/run.json")
    refused(lambda: orrery.open("pair.run"), "pair.run/run.json", "link")
    os.symlink("pair.run", "way")  # the link that the caller names is another matter
    refused(lambda: orrery.open("way"), "way/run.json", "link")


def test_a_member_that_is_a_link():
    """a member of a study is a directory within it"""
    orrery = stranger()
    orrery.run("my.cfg", {"sweep": [{"key": "time.step", "values": [0.01, 0.005]}]})
    study = orrery.open("pair.sweep")
    shutil.rmtree("pair.sweep/002")
    os.symlink("../pair.run", "pair.sweep/002")
    refused(lambda: study.runs["002"], "pair.sweep/002")
    assert list(orrery.open("pair.sweep").runs) == ["001"]
    path = pathlib.Path("pair.sweep/study.json")
    about = json.loads(path.read_text())
    path.write_text(json.dumps({**about, "files": ["../pair.run/"]}))
    refused(lambda: orrery.open("pair.sweep"), "is no file")


def test_values_of_another_kind():
    """fields of run.json of any kind do no harm, and a page shows them as text"""
    orrery = stranger()
    about = record("pair.run")
    for key in ("name", "verdict", "verdict_text", "exit_status", "config", "time", "state",
                "bodies", "largest_energy_error"):
        for value in (None, 7, HOSTILE, [HOSTILE], {HOSTILE: 1}, True, 1e999):
            record("pair.run", {**about, key: value})
            run = orrery.open("pair.run")
            assert isinstance(run.name + run.verdict + run.verdict_text, str)
            assert isinstance(run.config, dict) and isinstance(run.units, dict)
            assert run.held is None or key not in ("verdict", "exit_status", "state"), (key, value)
            assert "<script" not in run._repr_html_() + repr(run.units), (key, value)
    record("pair.run", {**about, "verdict": "failed"})
    assert orrery.open("pair.run").held is None  # the exit status says something else
    record("pair.run", {**about, "state": "running"})
    run = orrery.open("pair.run")
    assert run.verdict == "running" and run.status is None and run.held is None
    record("pair.run", {**about, "config": {"physics": {"units": ["x"]}}})
    assert orrery.open("pair.run").units == {"system": ["x"]}
    record("pair.run", {**about, "name": "x" * (65 << 20)})
    refused(lambda: orrery.open("pair.run"), "pair.run/run.json", "larger than 64 MB")
    for text in ("", "{", "[]", '{"format": "orrery study"}', "[" * 100000, "\xff"):
        pathlib.Path("pair.run/run.json").write_text(text, encoding="latin-1")
        refused(lambda: orrery.open("pair.run"), "pair.run/run.json")
    refused(lambda: orrery.open("."), "no run.json")
    refused(lambda: orrery.open("nowhere"), "nowhere: No such file or directory")


def test_pages_are_escaped():
    """names of files and keys, and the cells of a study's table"""
    orrery = stranger()
    for name in ("<b>.csv", "<i>.xyz"):
        write("x\n", os.path.join("pair.run", name))
    about = record("pair.run")
    record("pair.run", {"files": [*about["files"], "<b>.csv", "<i>.xyz"]})
    run = orrery.open("pair.run")
    for page in (run._repr_html_(), run.tables._repr_html_()):
        assert "<b>.csv" not in page and "<i>" not in page and "&lt;b&gt;" in page, page
    orrery.run("my.cfg", {"sweep": [{"key": "time.step", "values": [0.01, 0.005]}]})
    os.rename("pair.sweep", "<u>")
    path = pathlib.Path("<u>/study.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "keys": [HOSTILE]}))
    table = pathlib.Path("<u>/study.csv")
    table.write_text(table.read_text().replace("held", "<script>"))
    page = orrery.open("<u>")._repr_html_()
    assert "<script" not in page and "<u>" not in page and "&lt;script&gt;" in page, page


def test_tables_of_another_kind():
    """a table that no run writes is an error with its name"""
    orrery = stranger()
    path = pathlib.Path("pair.run/conservation.csv")
    for content in (b"", b"no end", b"<b> [1]\n1\n", b'"step [1]\n",x\n0,0\n', b"a,a\n1,2\n",
                    b"\xff\xfe\n", b"a\n" + b'"' * 5 + b"\n", b"a\n1,2\n1,2,3\n"):
        path.write_bytes(content)
        refused(lambda: orrery.open("pair.run").tables["conservation"], "pair.run/conservation.csv")
    path.write_bytes(b"step [1],time [T]\n")
    assert len(orrery.open("pair.run").tables["conservation"]) == 0
    path.write_bytes(b"x [L]\n0.30000000000000004\n\n")  # older versions of pandas are off
    table = orrery.open("pair.run").tables["conservation"]
    assert table["x"][0] == 0.1 + 0.2 and table.attrs["units"] == {"x": "L"}
    path.write_bytes(b'member [1],text\n001,"__import__(""os"").abort()"\n')
    table = orrery.open("pair.run").tables["conservation"]
    assert table["member"][0] == "001" and table["text"][0] == '__import__("os").abort()'


def test_trajectories_of_another_kind():
    """frames that promise too much, or nothing"""
    orrery = stranger()
    path = pathlib.Path("pair.run/trajectory.xyz")
    whole = path.read_bytes()
    for content in (b"", b"2", b"999999999999\nTime=0\nX 0\n", whole[:100], b"0"):
        path.write_bytes(content)
        assert len(orrery.open("pair.run").frames) == 0, content
    for content in (b"-1\n\n", b"two\n", b"1e3\n", b"9" * 5000 + b"\n"):
        path.write_bytes(content)
        refused(lambda: len(orrery.open("pair.run").frames), "pair.run/trajectory.xyz: frame 0")
    for old, new in ((b"pos:R:3", b"pos:R:-3"), (b"pos:R:3", b"pos:R:999999999"),
                     (b"pos:R:3", b"pos:Q:3"), (b"pos:R:3", b"pos:R"), (b"Time=0", b"Time=now"),
                     (b"Properties", b"Qroperties"), (b"Time=0", b""), (b"Step=0", b"Step=x"),
                     (b"id:I:1", b"id:I:2"), (b"pbc", b"\xff")):
        path.write_bytes(whole.replace(old, new, 1))
        refused(lambda: orrery.open("pair.run").frames[0], "pair.run/trajectory.xyz: frame 0")
    # A word of a million characters: an hour if each of them begins a search for "=", now none.
    path.write_bytes(whole.replace(b"pbc", b"x" * 1000000 + b" pbc", 1))
    code = 'import orrery; print(len(orrery.open("pair.run").frames[0]))'
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          timeout=60 * tap.PATIENCE, env={**os.environ, "PYTHONPATH": str(
                              pathlib.Path(tap.SOURCE, "python"))})
    assert told.stdout == "2\n", told
    with gzip.open("pair.run/trajectory.xyz.gz", "wb") as file:
        file.write(whole)
    path.unlink()
    record("pair.run", {"files": ["trajectory.xyz.gz"]})
    assert len(orrery.open("pair.run").frames) == 3


def test_snapshots_of_another_kind():
    """links within a snapshot and data that it keeps in other files are not followed"""
    orrery = package()
    h5py, numpy = tap.need("h5py"), tap.need("numpy")
    write(PAIR)
    run = snapshots(orrery, "my.cfg")
    assert run.frames[0].positions.shape == (2, 3)
    shutil.copy("pair.run/snapshot_001.hdf5", "secret.hdf5")
    numpy.zeros(6).tofile("secret.raw")
    path, place = "pair.run/snapshot_001.hdf5", "PartType1/Coordinates"

    def virtual(file):
        layout = h5py.VirtualLayout(shape=(2, 3), dtype="f8")
        layout[:] = h5py.VirtualSource("../secret.hdf5", place, shape=(2, 3))
        file.create_virtual_dataset(place, layout)

    def link(file):
        file[place] = h5py.ExternalLink("../secret.hdf5", place)

    def soft(file):
        file[place] = h5py.SoftLink("/PartType1/Velocities")

    def external(file):
        file.create_dataset(place, shape=(2, 3), dtype="f8",
                            external=[("../secret.raw", 0, h5py.h5f.UNLIMITED)])

    def huge(file):
        file.create_dataset(place, shape=(1 << 50, 3), dtype="f8", chunks=(1024, 3))

    def large(file):  # 24 GB, of which a machine might grant the memory
        file.create_dataset(place, shape=(1 << 30, 3), dtype="f8")

    for change, words in ((link, "link"), (soft, "link"), (virtual, "another file"),
                          (external, "another file"), (huge, "larger than the file"),
                          (large, "larger than the file")):
        shutil.copy("secret.hdf5", path)
        with h5py.File(path, "r+") as file:
            del file[place]
            change(file)
        refused(lambda: orrery.open("pair.run").frames[1], path, words)
    with h5py.File(path, "w") as file:
        file["PartType1"] = h5py.ExternalLink("../secret.hdf5", "PartType1")
        file.create_group("Header").attrs["Time"] = 0.0
    refused(lambda: orrery.open("pair.run").frames[1], path, "link")
    pathlib.Path(path).write_bytes(b"no HDF5")
    refused(lambda: orrery.open("pair.run").frames[1], path)


tap.main()
