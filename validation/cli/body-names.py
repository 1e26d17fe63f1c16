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


def said(path, *options, text=ORBITS, status=1):
    """Everything that a run tells of itself: console, run.json, run.log and page."""
    pathlib.Path(f"{path}.cfg").write_text(text)
    result = tap.run("run", f"{path}.cfg", "-o", path, *options)
    assert result.returncode == status, result
    page = ""
    if shutil.which("gnuplot"):
        report = tap.run("report", path)
        assert report.returncode == 0, report
        page = re.sub(r"(?s)<(script|svg).*?</\1>", "", read(f"{path}/report.html"))
    about = json.loads(read(f"{path}/run.json"))
    sentences = " ".join(f"{row['whose']} {row['sentence']}" for row in about["findings"])
    told = " ".join(f"{result.stdout} {result.stderr}".split())
    return {"console": told, "findings": sentences, "watch": about["watch"]["text"],
            "error": about.get("error") or "", "log": " ".join(read(f"{path}/run.log").split()),
            "page": " ".join(page.split())}


def nowhere(places, *words):
    for place, text in places.items():
        for word in words:
            assert word not in text, (place, word, text)


# Two bodies of equal mass, close together, and a light one far out: the step is too long for all.
THREE = """
name = "three"; bodies = { initial = "file"; file = "three.csv"; center = false; %s };
time = { step = 1.0; end = 50.0; };
diagnostics = ( { type = "conservation"; every = 5; } ); outputs = ( { type = "xyz"; every = 5; } );
"""
NAMES = 'names = [ "Alpha", "Beta", "Gamma" ];'
PLACES = ("m,x,y,z,vx,vy,vz\n0.5,0.5,0,0,0,0.5,0\n0.5,-0.5,0,0,0,-0.5,0\n"
          "{},{},0,0,0,{},0\n")


def test_messages():
    """what the watch finds, says and draws names bodies, some of them, or tells their ids"""
    pathlib.Path("three.csv").write_text(PLACES.format(1e-6, 10, 0.316))
    named = said("three", text=THREE % NAMES)
    assert "the step is too large for Alpha and Beta, 1 apart" in named["console"], named
    assert "fastest pair: Alpha and Beta" in named["log"] or "for Alpha and Beta" in named["log"]
    assert "for Alpha and Beta at t =" in named["watch"], named
    assert "Alpha and Beta" in named["findings"], named
    assert not named["page"] or \
        "The fastest pair of the whole run: Alpha and Beta" in named["page"], named["page"]
    nowhere(named, "bodies 1", "bodies 2", "body 1", "body 2", "body 3")
    some = said("some-named", text=THREE % 'names = [ "Alpha" ];')
    assert "for Alpha and body 2" in some["watch"], some
    none = said("unnamed", text=THREE % "")
    assert "for bodies 1 and 2" in none["watch"], none
    # A word for several bodies is the name of none.
    pathlib.Path("three.csv").write_text(
        "\n".join(line + (",star" if k else ",species") for k, line in enumerate(
            PLACES.format(1e-6, 10, 0.316).splitlines())) + "\n")
    assert "for bodies 1 and 2" in said("stars", text=THREE % "")["watch"]


def test_orbits_and_single_bodies():
    """the orbit of a light body, a body without mass, own steps, and bodies at one place"""
    # Alpha is as heavy as the Sun beside Beta, about which Gamma has six steps of its period.
    pathlib.Path("three.csv").write_text(
        "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1e-3,1,0,0,0,1,0\n1e-9,1.01,0,0,0,1.316,0\n")
    moon = said("moon", "-P", "time.step=0.03125", "-P", "time.end=20", text=THREE % NAMES)
    assert "the orbit of Gamma about Beta" in moon["watch"], moon["watch"]
    assert "Gamma about Beta" in moon["findings"] and "Gamma about Beta" in moon["console"]
    nowhere(moon, "bodies 1", "bodies 2", "body 1", "body 2", "body 3")
    pathlib.Path("three.csv").write_text(
        "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n0,1,0,0,0,1.3,0\n0,3,0,0,0,0.5,0\n")
    test = said("test", text=THREE % NAMES)
    assert "specific energy of Beta" in test["watch"] or "about Alpha" in test["watch"], test
    nowhere(test, "test body 2", "test body 3", "body 1", "body 2", "body 3")
    own = said("own", "-P", "time.integrator=\"gauss-radau\"", "-P", "time.end=1", status=0,
               text=THREE % NAMES)
    assert re.search(r"the smallest was \S+, for (Alpha|Beta|Gamma)", own["console"]), own
    pathlib.Path("three.csv").write_text(PLACES.format(1e-6, 0.5, 0.5))
    told = run("coincident", text=THREE % NAMES, status=65)
    assert "bodies 1 and 3 are both" in told or "Alpha and Gamma are both" in told, told
    check = tap.run("check", "coincident.cfg")
    assert check.returncode == 65, check
    pathlib.Path("three.csv").write_text(PLACES.format(1e-6, 10, 0.316))
    check = tap.run("check", "coincident.cfg")
    assert "Alpha and Beta would orbit" in " ".join(check.stdout.split()), check.stdout


def test_hostile_names():
    """names that are markup, commands or escapes are words on the page and in figures"""
    pathlib.Path("three.csv").write_text(PLACES.format(1e-6, 10, 0.316))
    names = '<u>A</u>', "`touch${IFS}x`", "{/*9'\u00e9&amp;}"
    told = said("hostile", text=THREE % ('names = [ "' + '", "'.join(names) + '" ];'))
    assert f"for {names[0]} and {names[1]} at t =" in told["watch"], told
    if told["page"]:
        assert "The fastest pair of the whole run: &lt;u&gt;A&lt;/u&gt; and `touch" in told["page"]
        assert "<u>" not in read("hostile/report.html") and not pathlib.Path("x").exists()
        assert keys_of("hostile/plots/orbits.dat")[:3] == list(names)
    # Bytes that are no text name nothing: a page and run.json are UTF-8.
    bytes_ = PLACES.format(1e-6, 10, 0.316).encode().splitlines()
    words = [b"species", b"C\xe9res", b"b", b"c"]
    pathlib.Path("three.csv").write_bytes(
        b"\n".join(line + b"," + word for line, word in zip(bytes_, words)) + b"\n")
    assert "for bodies 1 and 2" in said("latin", text=THREE % "")["watch"]


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
