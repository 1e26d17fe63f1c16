"""Ensembles from many files: each of bodies.files is a system, with its name in the tables."""

import csv
import json
import os
import pathlib
import random
import re
import shutil

import tap

numpy = tap.need("numpy")

EXPERIMENT = """
name = "members";
bodies = { initial = "file"; files = ["ic_*.csv"]; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 0.2; };
diagnostics = ( { type = "conservation"; every = 5; } );
outputs = ( { type = "xyz"; every = 10; } );
checkpoint = { every_steps = 7; };
"""
# In the order of their bytes, which is not that of the numbers.
NAMES = ("ic_1.csv", "ic_10.csv", "ic_2.csv")


def bodies(path, seed, count=12, header="m,x,y,z,vx,vy,vz", extra=""):
    draw = random.Random(seed)
    rows = [",".join([repr(1.0 / count), *(repr(draw.gauss(0, 0.5)) for _ in range(6))]) + extra
            for _ in range(count)]
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *rows, ""]))


def write(text=EXPERIMENT, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def three():
    for seed, name in enumerate(NAMES):
        bodies(name, 2 + seed)
    return write()


def good(*arguments):
    result = tap.run(*arguments)
    assert result.returncode == 0, result
    return result


def bad(status, *words, arguments=(), text=EXPERIMENT):
    """The run ends so, says so in one line each, and has made nothing."""
    before = sorted(os.listdir())
    result = tap.run("run", write(text), *arguments)
    assert result.returncode == status, result
    for word in words:
        assert word in result.stderr, (word, result.stderr)
    assert set(os.listdir()) - set(before) <= {"run.cfg"}, os.listdir()
    return result


def about(directory="members.run"):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def table(directory="members.run", name="conservation.csv"):
    with open(f"{directory}/{name}", newline="") as file:
        return list(csv.DictReader(file))


def test_each_file_is_a_system():
    """each file is a system with the numbers that it has alone, and its name beside them"""
    config = three()
    good("run", config, "-q")
    rows = table()
    for system, name in enumerate(NAMES, 1):
        good("run", config, "-q", "-o", f"alone{system}", "-P", f"bodies.files=[\"{name}\"]")
        inside = [row for row in rows if row["system [1]"] == str(system)]
        assert {row["file"] for row in inside} == {name}, inside
        alone = table(f"alone{system}")
        assert [dict(row, **{"system [1]": str(system)}) for row in alone] == inside
        assert len(alone) == 5
    members = about()["members"]
    assert [(m["system"], m["file"]) for m in members] == list(enumerate(NAMES, 1)), members
    assert all(m["path"] == str(pathlib.Path(m["file"]).absolute()) for m in members)
    assert len({m["hash"] for m in members}) == 3 and about()["systems"] == 3
    assert "file" not in table(name="conservation-ensemble.csv")[0]
    good("verify", "members.run")


def test_a_single_pattern():
    """one pattern needs no brackets, and ensemble.systems may say what the files say"""
    config = three()
    good("run", config, "-q", "-P", "bodies.files=ic_*.csv", "-P", "ensemble.systems=3")
    assert about()["systems"] == 3
    good("run", write(EXPERIMENT.replace('["ic_*.csv"]', '"ic_1*.csv"')), "-q", "-o", "two")
    assert [m["file"] for m in about("two")["members"]] == ["ic_1.csv", "ic_10.csv"]


def test_the_order_is_that_of_the_list():
    """several patterns keep their order; names are without the folders that all have in common"""
    for name in ("a/z/ic.csv", "a/b/ic.csv", "a/b/other.csv"):
        bodies(name, hash(name) % 99)
    config = write(EXPERIMENT.replace('["ic_*.csv"]', '["a/z/*.csv", "a/b/*.csv"]'))
    good("run", config, "-q")
    assert [m["file"] for m in about()["members"]] == ["z/ic.csv", "b/ic.csv", "b/other.csv"]


def test_names_that_look_like_patterns():
    """the folder of the config is no pattern, a file is itself, and a name in CSV is quoted"""
    folder = pathlib.Path("a[1]*")
    for seed, name in enumerate(("x[1].csv", "x1.csv", 'q,"2".csv')):
        bodies(folder / name, seed)
    config = write(EXPERIMENT.replace('"ic_*.csv"', '"x[1].csv", "q*.csv"'), str(folder / "my.cfg"))
    good("run", config, "-q")
    assert [m["file"] for m in about()["members"]] == ["x[1].csv", 'q,"2".csv']
    assert {row["file"] for row in table()} == {"x[1].csv", 'q,"2".csv'}
    good("report", "members.run")
    # The echo of the config gives the files, not the pattern, and reads back as itself.
    echo = good("check", "members.run/run.cfg").stdout
    assert pathlib.Path("members.run/run.cfg").read_text() in echo
    bodies(folder / "q3.csv", 9)
    good("run", "members.run/run.cfg", "-q", "-o", "again")
    assert pathlib.Path("again/conservation.csv").read_bytes() == \
        pathlib.Path("members.run/conservation.csv").read_bytes()


def test_ids_of_another_file():
    """a file without ids does not take those of the file before it"""
    bodies("ic_1.csv", 1, count=2, header="m,x,y,z,vx,vy,vz,id", extra=",7")
    text = pathlib.Path("ic_1.csv").read_text().split("\n")
    pathlib.Path("ic_1.csv").write_text("\n".join([*text[:2], text[2][:-1] + "8", ""]))
    bodies("ic_2.csv", 2, count=2)
    good("run", write(EXPERIMENT.replace('"xyz"; every = 10', '"xyz"; every = 20')), "-q")
    text = good("convert", "members.run/trajectory.xyz", "-", "--to", "csv", "--frame", "0").stdout
    header, *rows = csv.reader(text.splitlines())
    column = [name.split()[0] for name in header].index("id")
    assert [row[column] for row in rows] == ["7", "8", "1", "2"], text


def test_restart():
    """a restart goes on to the same bytes, from a folder that has moved too, but not as others"""
    config = three()
    good("run", config, "-q", "-o", "whole")
    good("run", config, "-q", "-P", "time.end=0.1")
    for name in NAMES:
        bodies(f"moved/{name}", NAMES.index(name) + 2)
    shutil.copytree("members.run", "others")
    good("run", config, "--restart", "-q", "-P", 'bodies.files="moved/*.csv"')
    for file in ("conservation.csv", "conservation-ensemble.csv", "trajectory.xyz"):
        assert pathlib.Path("members.run", file).read_bytes() == \
            pathlib.Path("whole", file).read_bytes(), file
    assert about()["members"] == about("whole")["members"]
    os.rename("moved/ic_2.csv", "moved/ic_20.csv")
    before = {path: path.read_bytes() for path in pathlib.Path("others").iterdir()}
    for files, words in (("moved/*.csv", ["system 3 came from ic_2.csv", "ic_20.csv"]),
                         ("ic_1*.csv", ["3 systems", "2"])):
        result = tap.run("run", config, "--restart", "-o", "others", "-P", f"bodies.files={files}")
        assert result.returncode == 78, result
        assert all(word in result.stderr for word in words), result.stderr
    assert all(path.read_bytes() == bytes_ for path, bytes_ in before.items()
               if path.suffix in (".csv", ".xyz", ".orr"))


def test_messages_name_the_file():
    """the summary and the report of several runs name the file of the system that failed"""
    three()
    bodies("ic_2.csv", 77, count=12)
    config = write(EXPERIMENT + 'expect = ( { quantity = "energy_error"; at_most = 1e-12; } );')
    result = tap.run("run", config)
    assert result.returncode == 1, result
    said = re.sub(r"\s+", " ", result.stdout)
    worst = re.search(r"in system (\d) \((ic_\d+\.csv)\), the worst of 3", said)
    assert worst and NAMES[int(worst.group(1)) - 1] == worst.group(2), said
    assert re.search(r"expect .* in system \d \(ic_\d+\.csv\)", said), said
    good("run", config, "-q", "-o", "b", "-P", "expect.0.at_most=9.0")
    good("report", "members.run", "b", "-o", "both")
    page = pathlib.Path("both/report.html").read_text()
    assert re.search(r"in system \d \(ic_\d+\.csv\)", page)


# Pairs of G M = 1 and two light bodies far away: ids of their own in no order; the second system
# has the shortest period, 2 pi / 8.
IDS = ((190, 110, 130, 170), (240, 280, 210, 270), (350, 310, 390, 330))
SEPARATIONS = (1.0, 0.25, 0.6)
THREE = """name = "three";
bodies = { initial = "file"; files = ["a.csv", "b.csv", "c.csv"]; };
time = { step = 0.05; end = 5.0; };
diagnostics = ( { type = "close-encounters"; every = 10; }, { type = "binaries"; every = 10; },
                { type = "conservation"; every = 10; } );
energy_budget = { measure = true; every = 10; };
"""
# The command, its overrides, and what it says of system 2.
STATEMENTS = (
    ("check", (), "bodies 280 and 270 in system 2 (b.csv) would orbit each other in 0.785"),
    ("run", ("time.end=0.3", "time.step=0.001"),
     "time.end is 0.38 of the shortest period, 0.785 (bodies 280 and 270)"),
    ("run", (), "of its rows (every 10 steps) in system 2: "),
    ("run", (), "(most of bodies 280 and 270)"),
    ("run", (), "at the last measurement, in system 2 (b.csv), the worst of 3"),
    ("run", ("time.integrator=hermite4",), "for bodies 280 and 270 of system 2"),
    ("run", ("time.step=0.1",), "step is too large for bodies 280 and 270 of system 2 at t = 0"),
    ("run", ("time.step=0.1",), "WARNING: system 2: the step is too large for bodies 280 and 270,"),
    ("run", ("time.step=0.1",), "the energy of system 2 is off by "),
    # 2 pi a^1.5 / 1.25: every system is looked at, whatever became of the ones before.
    ("run", ("time.step=1.25",), "system 2: at t = 0 the orbit of body 280 about body 270 "),
    ("run", ("time.step=1.25",), "orbit of body 310 about body 330 has 2.34 steps per period"),
)


def write_three():
    for s, (ids, a) in enumerate(zip(IDS, SEPARATIONS)):
        v = 0.5 / a ** 0.5
        rows = [(0.01, 20 + s, 0, 0, 0, 0.2, 0), (0.5, a / 2, 0, 0, 0, v, 0),
                (0.01, 0, -30, s, 0.15, 0, 0), (0.5, -a / 2, 0, 0, 0, -v, 0)]
        text = "id,m,x,y,z,vx,vy,vz\n" + "".join(
            f"{i}," + ",".join(map(repr, row)) + "\n" for i, row in zip(ids, rows))
        pathlib.Path(f"{'abc'[s]}.csv").write_text(text)
    pathlib.Path("three.cfg").write_text(THREE)


def test_statements_about_one_of_three_systems():
    """each names the system, the second, and its bodies by the ids that they have there"""
    write_three()
    said = {}
    for command, overrides, words in STATEMENTS:
        if (command, overrides) not in said:
            options = [word for one in overrides for word in ("-P", one)]
            options += ["--force", "-o", "out"] if command == "run" else []
            result = tap.run(command, "three.cfg", *options)
            said[command, overrides] = " ".join(
                (result.stdout + result.stderr).replace("#", " ").split())
        assert words in said[command, overrides], (words, said[command, overrides])
    assert said["run", ("time.step=0.1",)].count("WARNING: system 2: the step is") == 1
    assert tap.run("run", "three.cfg", "-q", "--force", "-o", "out").returncode == 0
    for table, names in (("close-encounters", ("nearest_id", "closest_id", "fastest_id")),
                         ("binaries", ("hardest_id",))):
        with open(f"out/{table}.csv", newline="") as file:
            for row in csv.DictReader(file):
                ids = IDS[int(row["system [1]"]) - 1]
                for name in names:
                    pair = [int(row[f"{name}_{k} [1]"]) for k in (1, 2)]
                    assert sorted(pair) == sorted((ids[1], ids[3])), (table, row)


def sums(m, x, v, eps):
    """The sums of one system, pair by pair; G = 1."""
    M = m.sum()
    P, center = m @ v, (m @ x) / M
    potential = virial = 0.0
    for i in range(len(m)):
        for k in range(i):
            r2 = ((x[i] - x[k]) ** 2).sum()
            potential -= m[i] * m[k] / (r2 + eps ** 2) ** 0.5
            virial -= m[i] * m[k] * r2 / (r2 + eps ** 2) ** 1.5
    kinetic = 0.5 * (m * (v ** 2).sum(1)).sum()
    return {"mass": M, "kinetic": kinetic, "internal_kinetic": kinetic - 0.5 * P @ P / M,
            "potential": potential, "virial": virial, "energy": kinetic + potential,
            "internal_energy": kinetic + potential - 0.5 * P @ P / M, "momentum": P,
            "angular_momentum": (m[:, None] * numpy.cross(x, v)).sum(0), "center": center}


def test_the_sums_of_run_json():
    """`initial` and `final` are the sums over the bodies of the first system in the first frame and
    in the last; interactions and steps are counted by hand"""
    write_three()
    config = THREE.replace("time =", "physics = { softening = 0.3; };\ntime =") \
        + 'outputs = ( { type = "xyz"; every = 50; columns = "id mass pos velo cluster"; } );\n'
    pathlib.Path("three.cfg").write_text(config)
    result = tap.run("run", "three.cfg", "-q", "-o", "out", "-P", "energy_budget.measure=false",
                     "-P", "time.step=0.01", "-P", "time.end=1")
    assert result.returncode == 0, result.stderr
    about = json.loads(pathlib.Path("out/run.json").read_text())
    lines = pathlib.Path("out/trajectory.xyz").read_text().splitlines()
    frames = numpy.array([line.split()[1:] if line.startswith("X ") else line.split()
                          for line in lines if len(line.split()) in (9, 10)], float)
    assert len(frames) == 3 * 12, lines[:4]
    for name, frame in (("initial", frames[:12]), ("final", frames[-12:])):
        first = frame[frame[:, 8] == 1]
        assert sorted(first[:, 0]) == sorted(IDS[0]), first
        told = about[name]
        made = sums(first[:, 1], first[:, 2:5], first[:, 5:8], 0.3)
        assert told.keys() == made.keys(), told.keys()
        for key, value in made.items():
            assert numpy.allclose(told[key], value, rtol=1e-12, atol=1e-14), (name, key, told, made)
    # 100 steps of one force evaluation, of 4^2 ordered pairs in each system.
    assert (about["steps"], about["time"], about["interactions"]) == (100, 1.0, 100 * 3 * 16), about
    rate = about["interactions"] / about["advance_seconds"]
    assert abs(about["interactions_per_second"] / rate - 1) < 1e-12
    rows = list(csv.DictReader(open("out/conservation.csv", newline="")))
    for key, unit in (("kinetic", "M L^2 T^-2"), ("potential", "M L^2 T^-2")):
        assert float(rows[-3][f"{key} [{unit}]"]) == about["final"][key], (key, rows[-3])


def test_check():
    """orrery check counts the systems and the memory of all files"""
    config = three()
    text = good("check", config).stdout + good("check", config).stderr
    assert re.search(r"3 (systems|x)|x 3", text), text
    assert "bodies.files" in good("info", "--keys").stdout
    assert "ic_*.csv" in good("info", "file").stdout


def test_sweep():
    """a sweep goes over patterns, and a member whose file has changed since is not taken as done"""
    three()
    bodies("other_1.csv", 11)
    config = write(EXPERIMENT + 'sweep = ( { key = "bodies.files"; '
                   'values = ["ic_*.csv", "other_*.csv"]; } );')
    good("run", config, "-q", "-o", "study")
    runs = sorted(pathlib.Path("study").glob("*/run.json"))
    assert [len(json.loads(run.read_text())["members"]) for run in runs] == [3, 1], runs
    good("run", config, "-q", "-o", "study")
    bodies("ic_10.csv", 12)
    result = tap.run("run", config, "-q", "-o", "study")
    assert result.returncode == 78 and "ic_10.csv holds other bytes" in result.stderr, result


def test_bad_lists():
    """what is wrong with the list is said at its key"""
    three()
    key = "run.cfg:3: bodies.files"
    files = 'files = ["ic_*.csv"];'
    bad(66, key, "nothing_*.csv: no file fits this pattern",
        text=EXPERIMENT.replace("ic_*", "nothing_*"))
    bad(66, key, "gone.csv", text=EXPERIMENT.replace("ic_*", "gone"))
    bad(78, key, "must name a file", text=EXPERIMENT.replace('"ic_*.csv"', ""))
    bad(78, key, "a list of names of files", text=EXPERIMENT.replace('"ic_*.csv"', '"ic_1.csv", 2'))
    bad(78, key, "ic_1.csv is there twice",
        text=EXPERIMENT.replace('"ic_*.csv"', '"ic_*.csv", "ic_1.csv"'))
    bad(78, key, "bodies.file is given too",
        text=EXPERIMENT.replace(files, files + ' file = "ic_1.csv";'))
    bad(78, "run.cfg:3: bodies.file", "must be given", "bodies.files",
        text=EXPERIMENT.replace(files, ""))
    bad(78, "run.cfg:9: ensemble.systems = 4", "bodies.files names 3 files",
        text=EXPERIMENT + "ensemble = { systems = 4; };")
    bad(66, "bodies.files", "ic_3", arguments=("-P", "bodies.files=ic_3*"))


def test_bad_files():
    """what is wrong with one of the files names it, and both where two differ"""
    three()
    bodies("ic_2.csv", 3, count=11)
    bad(65, "ic_2.csv: holds 11 bodies, but ", "ic_1.csv holds 12")
    three()
    text = pathlib.Path("ic_10.csv").read_text().split("\n")
    pathlib.Path("ic_10.csv").write_text("\n".join([*text[:4], "1,nan,0,0,0,0,0", *text[5:]]))
    bad(65, "ic_10.csv:5")
    three()
    bad(65, "ic_1.csv:13", "bodies.count = 7", arguments=("-P", "bodies.count=7"))
    text = pathlib.Path("ic_2.csv").read_text().split("\n")
    pathlib.Path("ic_2.csv").write_text("\n".join(
        [text[0] + ",system", *[row + f",{1 + k // 6}" for k, row in enumerate(text[1:-1])], ""]))
    bad(65, "ic_2.csv: holds 2 systems, but each of bodies.files is one")
    # Species other than those of the first file are refused, unless bodies.names has its own.
    for kinds in (("gas", "star", "gas"), ("gas", "gas", ""), ("", "", "gas")):
        for kind, name in zip(kinds, NAMES):
            bodies(name, 2, header="m,x,y,z,vx,vy,vz" + ",species" * bool(kind),
                   extra=f",{kind}" * bool(kind))
        other = "ic_10.csv" if kinds[1] == "star" else "ic_2.csv"
        bad(65, f"{other}: its species are not those of ", "ic_1.csv")
        said = good("check", write(), "-P", 'bodies.names=["Sun"]').stdout.replace("#", " ")
        assert "all 3 systems are the same: their files hold the same bodies" in " ".join(
            said.split()), said
    three()
    pathlib.Path("ic_2.csv").unlink()
    pathlib.Path("ic_2.csv").mkdir()
    bad(66, "run.cfg:3: bodies.files", "ic_2.csv", "directory")


tap.main()
