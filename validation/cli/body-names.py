"""Names of bodies: in the config, in files of bodies, after a restart, and on the page."""

import json
import pathlib
import re
import shutil

import tap
from reports import keys_of, read

ORBITS = """
name = "named"; bodies = { initial = "two-body"; names = [ "Alpha", "Beta" ]; };
time = { step = 0.01; end = 0.4; };
diagnostics = ( { type = "conservation"; every = 5; } );
outputs = ( { type = "xyz"; every = 10; } );
"""
TABLE = "m,x,y,z,vx,vy,vz,{}\n1,0,0,0,0,0,0,{}\n1,1,0,0,0,0,0,{}\n1,3,0,0,0,0,0,{}\n"


def run(path, *options, status=0, text=ORBITS):
    pathlib.Path(f"{path}.cfg").write_text(text)
    result = tap.run("run", f"{path}.cfg", "-q", "-o", path, *options)
    assert result.returncode == status, (result.returncode, result.stderr)
    return result.stderr


def species(path):
    """The first word of each body's line, frame by frame."""
    lines = iter(pathlib.Path(path).read_text().splitlines())
    frames = []
    for count in lines:
        next(lines)
        frames.append([next(lines).split()[0] for _ in range(int(count))])
    return frames


def test_trajectories_and_restarts():
    """names are those of the config in every frame, of every system, also after a restart"""
    run("whole")
    assert species("whole/trajectory.xyz") == 5 * [["Alpha", "Beta"]]
    run("parted", "-P", "time.end=0.2")
    run("parted", "--restart")
    assert read("parted/trajectory.xyz") == read("whole/trajectory.xyz")
    # The record of a run is a config that means the same.
    assert tap.run("run", "parted/run.cfg", "-q", "-o", "again").returncode == 0
    assert read("again/trajectory.xyz") == read("whole/trajectory.xyz")
    assert tap.run("verify", "parted").returncode == 0
    run("some", "-P", 'bodies.names=["Alpha"]', "-P", "ensemble.systems=2",
        text=ORBITS + "ensemble = { systems = 2; };")
    assert species("some/trajectory.xyz") == 5 * [2 * ["Alpha", "X"]]


def test_names_that_are_none():
    """words of two parts, of signs that separate words, the same twice, or more than bodies"""
    for names, words in (('["a b"]', "is no name"), ('["a,b"]', "is no name"), ('["X"]', "not X"),
                         ("[1.5]", "is no name"), (f'["{32 * "a"}"]', "at most 31 bytes"),
                         ('["a", "a"]', "is there twice"),
                         ('["a", "b", "c"]', "3 names; there may be 2"),
                         (str([f"n{k}" for k in range(65)]).replace("'", '"'), "may be 64")):
        told = run("bad", "-P", f"bodies.names={names}", status=78)
        assert "bodies.names" in told and words in told, told
    assert not pathlib.Path("bad").exists()


def test_files_of_bodies():
    """species of a file name its bodies, of any kind of text; other words do not"""
    pathlib.Path("a.csv").write_text(TABLE.format("species", "Sun", "Sun", "Moon"))
    start = ORBITS.replace('initial = "two-body"; names = [ "Alpha", "Beta" ];',
                           'initial = "file"; file = "a.csv";') + "physics = { softening = 0.1; };"
    run("read", text=start)
    assert species("read/trajectory.xyz")[0] == ["Sun", "Sun", "Moon"]
    run("own", "-P", 'bodies.names=["A", "B", "C"]', text=start)
    assert species("own/trajectory.xyz")[-1] == ["A", "B", "C"]
    for words in (("two words", "b", "c"), ("", "", ""), ("X", "X", "X")):
        pathlib.Path("a.csv").write_text(TABLE.format("species", *words))
        run(f"none{len(words[0])}", text=start)
        assert species(f"none{len(words[0])}/trajectory.xyz")[0] == ["X", "X", "X"], words


def test_convert():
    """they go through XYZ and CSV and back; what takes none says so"""
    run("made")

    def convert(*arguments):
        result = tap.run("convert", *arguments)
        assert result.returncode == 0, result.stderr
        return result.stderr

    assert "species" not in convert("--all", "made/trajectory.xyz", "all.csv")
    assert [line.split(",")[3] for line in read("all.csv").splitlines()] == [
        "species"] + 5 * ["Alpha", "Beta"]
    convert("--all", "made/trajectory.xyz", "all.xyz")
    assert species("all.xyz") == 5 * [["Alpha", "Beta"]]
    convert("made/trajectory.xyz", "one.csv")
    convert("one.csv", "one.xyz")
    assert species("one.xyz") == [["Alpha", "Beta"]]
    assert "not carried over: species" in convert("one.xyz", "one.txt")
    # Systems share the species that all of them have, and no others.
    rows = "a 1 0 0 0 0 0 1 1\nb 2 0 0 0 0 0 1 1\n{} 1 1 0 0 0 0 1 2\n{} 2 1 0 0 0 0 1 2\n"
    for words, told in ((("a", "b"), False), (("b", "a"), True)):
        pathlib.Path("two.xyz").write_text(
            "4\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1:cluster:I:1\n" +
            rows.format(*words))
        assert ("species" in convert("two.xyz", "two.csv", "--force")) == told, words
        assert ("species" in read("two.csv")) != told
    # Every row of a table has the columns of its head, whatever frames differ in.
    frame = "1\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1\n{} 0 0 0 0 0 0 1\n"
    for words in (("a", "X"), ("X", "a"), ("a", "two,parts")):
        pathlib.Path("two.xyz").write_text("".join(map(frame.format, words)))
        told = convert("--all", "two.xyz", "two.csv", "--force")
        rows = read("two.csv").splitlines()
        assert len({row.count(",") for row in rows}) == 1 and len(rows) == 3, rows
        assert ("species" in told) == (words != ("a", "X")), (words, told)
    # More words than bodies can have are told, not cut; a file without any has no such column.
    many = "".join(f"{'ab'[k % 2]} {k} 0 0 0 0 0 1\n" for k in range(100))
    pathlib.Path("many.xyz").write_text("100\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1\n" +
                                        many)
    assert "not carried over: species" in convert("many.xyz", "many.csv")
    assert "species" not in read("many.csv")


def test_page():
    """paths and the player name the bodies; of a frame with systems or unnamed bodies, their ids"""
    if not shutil.which("gnuplot"):
        raise tap.Skip("gnuplot is not installed")
    run("made")
    tap.run("report", "made")
    assert keys_of("made/plots/orbits.dat")[:2] == ["Alpha", "Beta"]
    page = read("made/report.html")
    assert json.loads(re.search(r'data-groups="(.*?)"', page)[1].replace("&quot;", '"')) == [
        "Alpha", "Beta"]
    assert 'data-kind="name"' in page
    run("other", text=ORBITS.replace(' names = [ "Alpha", "Beta" ];', ""))
    tap.run("report", "other")
    assert keys_of("other/plots/orbits.dat")[:2] == ["body 1", "body 2"]
    assert 'data-kind="species"' in read("other/report.html")


tap.main()
