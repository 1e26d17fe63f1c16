"""A trajectory that is compressed when its run has finished: bytes, restarts, other commands."""

import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import tap

CONFIG = """
name = "pair";
bodies = {{ initial = "plummer"; count = 24; seed = 3; }};
physics = {{ softening = 0.1; }};
time = {{ integrator = "velocity-verlet"; step = 0.01; end = {end}; }};
compute = {{ threads = 1; }};
diagnostics = ( {{ type = "conservation"; every = 50; }} );
outputs = ( {{ type = "xyz"; every = 10; compress = true; }} );
checkpoint = {{ every_steps = 70; }};
"""
PACKED = pathlib.Path("pair.run/trajectory.xyz.gz")
PLAIN = pathlib.Path("pair.run/trajectory.xyz")


def run(*options, end=2.0, status=0):
    pathlib.Path("pair.cfg").write_text(CONFIG.format(end=end))
    result = tap.run("run", "pair.cfg", *options)
    assert result.returncode == status, result
    return result


def reference(end=2.0, changes=()):
    """The trajectory of the same run, never compressed."""
    run("-q", "-o", "reference", "-P", "outputs.0.compress=false", *changes, end=end)
    return pathlib.Path("reference/trajectory.xyz").read_bytes()


def files():
    return json.loads(pathlib.Path("pair.run/run.json").read_text())["files"]


def check_packed(content):
    """Only the compressed file is there, it holds this content, and the manifest names it."""
    assert not PLAIN.exists() and gzip.decompress(PACKED.read_bytes()) == content
    assert "trajectory.xyz.gz" in files() and "trajectory.xyz" not in files(), files()
    assert not list(pathlib.Path("pair.run").glob("*.tmp"))


def test_bytes():
    """the compressed file holds the plain one's bytes in one stream, without a date"""
    content = reference()
    assert "trajectory.xyz.gz\n" in run().stdout
    check_packed(content)
    packed = PACKED.read_bytes()
    assert len(packed) < 0.6 * len(content)
    assert packed.count(b"\x1f\x8b\x08") == 1 and packed[4:8] == bytes(4)
    run("--force", "-q")
    assert PACKED.read_bytes() == packed


def test_readers():
    """ASE, `initial = "file"` and the report read it"""
    reference()
    run("-q")
    again = ["-q", "-P", "bodies.initial=file", "-P", "time.end=0.5", "-P", "bodies.frame=7",
             "-P", "outputs.0.compress=false"]
    trimmed = CONFIG.format(end=2.0).replace('count = 24; seed = 3;', 'file = "bodies";')
    for source, directory in ((PACKED, "one"), ("reference/trajectory.xyz", "two")):
        shutil.copy(source, "bodies")
        pathlib.Path("again.cfg").write_text(trimmed)
        result = tap.run("run", "again.cfg", *again, "-o", directory)
        assert result.returncode == 0, result
    assert (pathlib.Path("one/trajectory.xyz").read_bytes()
            == pathlib.Path("two/trajectory.xyz").read_bytes())
    if shutil.which("gnuplot"):
        result = tap.run("report", "pair.run")
        assert result.returncode == 0, result
        assert pathlib.Path("pair.run/plots/bodies-last.svg").exists() or \
            pathlib.Path("pair.run/plots/orbits.svg").exists()
    ase = tap.need("ase.io")
    frames = ase.io.read(str(PACKED), index=":", format="extxyz")
    assert len(frames) == 21 and len(frames[0]) == 24


def test_restart_after_a_stop():
    """a run that is stopped keeps plain text; its continuation ends with the same file"""
    content = reference(end=40.0)
    pathlib.Path("pair.cfg").write_text(CONFIG.format(end=40.0))
    process = subprocess.Popen([tap.ORRERY, "run", "pair.cfg", "-q"], stderr=subprocess.DEVNULL)
    for _ in range(3000):
        if PLAIN.exists() and PLAIN.stat().st_size > 0 or process.poll() is not None:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    if process.wait(60 * tap.PATIENCE) == 75:
        assert PLAIN.exists() and not PACKED.exists()
        assert {"trajectory.xyz", "trajectory.xyz.gz"} <= set(files())
    run("-q", "--restart", end=40.0)
    check_packed(content)


# A trajectory of 10 MB, which takes the better part of a second to compress.
LARGE = ("-P", "outputs.0.every=1", "-P", "checkpoint.every_steps=100000", "-P", "time.end=24")


def stop_while_it_compresses(*options, place="pair.run"):
    """SIGTERM once the compressed file is begun; tries again where it is too late."""
    temporary = pathlib.Path(place, "trajectory.xyz.gz.orrery.tmp")
    for _ in range(20):
        process = subprocess.Popen([tap.ORRERY, "run", "pair.cfg", "--force", *LARGE, *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not temporary.exists():
            time.sleep(0.001)
        process.terminate()
        errors = process.communicate(timeout=60 * tap.PATIENCE)[1]
        if pathlib.Path(place, "trajectory.xyz").exists():
            return process.returncode, errors
    raise tap.Skip("compression is too fast to be interrupted")


def test_stopped_while_it_compresses():
    """a run that is stopped while it compresses is not finished: 75, and a restart compresses"""
    pathlib.Path("pair.cfg").write_text(CONFIG.format(end=24.0))
    status, errors = stop_while_it_compresses()
    assert status == 75 and "compress" in errors and "--restart" in errors, (status, errors)
    about = json.loads(pathlib.Path("pair.run/run.json").read_text())
    assert about["exit_status"] == 75 and about["verdict"] == "stopped" and not PACKED.exists()
    content = PLAIN.read_bytes()
    result = tap.run("run", "pair.cfg", "-q", "--restart", *LARGE)
    assert result.returncode == 0, result
    check_packed(content)


def test_a_time_limit_while_it_compresses():
    """the file `stop` and the time limit end it too; the restart within the next limit goes on"""
    pathlib.Path("pair.cfg").write_text(CONFIG.format(end=24.0))
    temporary = pathlib.Path("pair.run/trajectory.xyz.gz.orrery.tmp")
    for _ in range(20):
        process = subprocess.Popen([tap.ORRERY, "run", "pair.cfg", "--force", *LARGE],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not temporary.exists():
            time.sleep(0.001)
        pathlib.Path("pair.run/stop").touch()
        errors = process.communicate(timeout=60 * tap.PATIENCE)[1]
        if PLAIN.exists():
            break
    else:
        raise tap.Skip("compression is too fast to be interrupted")
    assert process.returncode == 75 and "the file `stop` while it compressed" in errors, errors
    assert not pathlib.Path("pair.run/stop").exists() and not PACKED.exists()
    # A limit that is near when the compression begins, or over: it ends, or is given up.
    result = tap.run("run", "pair.cfg", "-q", "--restart", *LARGE, "--max-time", "1")
    assert result.returncode in (75, 0), result
    assert (result.returncode == 0) == PACKED.exists(), result
    content = PLAIN.read_bytes() if PLAIN.exists() else gzip.decompress(PACKED.read_bytes())
    assert tap.run("run", "pair.cfg", "-q", "--restart", *LARGE).returncode == 0
    check_packed(content)


def test_a_member_stopped_while_it_compresses():
    """the same of a member of a study: the same command compresses its file"""
    pathlib.Path("pair.cfg").write_text(
        CONFIG.format(end=24.0) + 'sweep = ( { key = "bodies.seed"; values = [3]; } );')
    member = pathlib.Path("pair.sweep/001")
    status, errors = stop_while_it_compresses(place=member)
    assert status == 75, (status, errors)
    result = tap.run("run", "pair.cfg", "-q", *LARGE)
    assert result.returncode == 0, result
    assert not (member / PLAIN.name).exists() and (member / PACKED.name).exists()
    assert "001,3,0," in pathlib.Path("pair.sweep/study.csv").read_text()


def test_stopped_while_it_unpacks():
    """a restart that is stopped while it unpacks: 75, every file is as it was, and it can go on"""
    tap.thorough()
    large = ("-P", "bodies.count=1000", "-P", "outputs.0.every=1")  # 30 MB
    further = (*large, "-q", "--restart", "-P", "time.end=2.1")
    run("-q", *large)
    shutil.copytree("pair.run", "before")
    temporary = PLAIN.with_name("trajectory.xyz.orrery.tmp")
    for _ in range(20):
        process = subprocess.Popen([tap.ORRERY, "run", "pair.cfg", *further], text=True,
                                   stderr=subprocess.PIPE)
        while process.poll() is None and not temporary.exists():
            time.sleep(0.001)
        process.terminate()
        errors = process.communicate(timeout=60 * tap.PATIENCE)[1]
        assert process.returncode in (75, 0), (process.returncode, errors)
        if "while it read what the run had written" in errors:
            break
        shutil.rmtree("pair.run")
        shutil.copytree("before", "pair.run")
    else:
        raise tap.Skip("unpacking is too fast to be interrupted")
    assert sorted(path.name for path in pathlib.Path("pair.run").iterdir()) == \
        sorted(path.name for path in pathlib.Path("before").iterdir())
    for path in pathlib.Path("before").iterdir():
        assert pathlib.Path("pair.run", path.name).read_bytes() == path.read_bytes(), path
    run(*further)
    check_packed(reference(2.1, large))


def test_restart_after_a_kill():
    """killed while it compresses, before and after the new file has its name"""
    content = reference()
    run("-q")
    packed = PACKED.read_bytes()
    PLAIN.write_bytes(content)  # both
    run("-q", "--restart")
    check_packed(content)
    PLAIN.write_bytes(content)  # the plain one, and a part of the other under a temporary name
    PACKED.rename("pair.run/trajectory.xyz.gz.orrery.tmp")
    os.truncate("pair.run/trajectory.xyz.gz.orrery.tmp", 100)
    run("-q", "--restart")
    check_packed(content)
    assert PACKED.read_bytes() == packed


def test_restart_goes_further():
    """a finished run goes on from its compressed file, with the bytes of a longer run"""
    content = reference(end=3.0)
    run("-q")
    run("-q", "--restart", end=3.0)
    check_packed(content)
    run("-q", "--restart", "-P", "outputs.0.compress=false", end=3.0)
    assert PLAIN.read_bytes() == content and not PACKED.exists()
    assert "trajectory.xyz.gz" not in files()
    assert tap.run("verify", "pair.run", "-q").returncode == 0


def test_damaged():
    """a damaged, changed or missing file stops a restart, which changes nothing"""
    run("-q")
    good = PACKED.read_bytes()
    bad = bytearray(good)
    bad[len(bad) // 2] ^= 1
    changed = gzip.compress(gzip.decompress(good).replace(b"X ", b"Y ", 1))
    for content in (good[:-200], bytes(bad), changed):
        PACKED.write_bytes(content)
        result = run("--restart", "-q", end=3.0, status=74)
        assert "trajectory.xyz" in result.stderr and result.stderr.count("\n") == 1, result
        assert PACKED.read_bytes() == content and not PLAIN.exists()
    PACKED.unlink()
    assert "trajectory.xyz" in run("--restart", "-q", end=3.0, status=74).stderr


def test_directory():
    """a file of others is left alone; --force removes both; .gz is no name for plain text"""
    PACKED.parent.mkdir()
    PACKED.write_text("mine")
    assert "belongs to no run" in run(status=73).stderr and PACKED.read_text() == "mine"
    PACKED.unlink()
    run("-q")
    run("--force", "-q", "-P", "outputs.0.compress=false")
    assert PLAIN.exists() and not PACKED.exists()
    run("--force", "-q")
    assert PACKED.exists() and not PLAIN.exists()
    result = run("-P", "outputs.0.file=frames.xyz.gz", "-o", "other", status=78)
    assert "compress = true" in result.stderr and not pathlib.Path("other").exists()


tap.main()
