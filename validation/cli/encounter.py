"""Two models that meet: their orbit, the planes of their discs, seeds, species and restarts."""

import math
import pathlib
import re

import tap

np = tap.need("numpy")
reports = tap.need("reports")

CONFIG = """name = "start";
bodies = {{ initial = "encounter"; {keys} }};
physics = {{ {physics} }};
models = ( {models} );
time = {{ step = 1e-6; end = 2e-6; }};
outputs = ( {{ type = "xyz"; every = 1; }} );
ensemble = {{ systems = {systems}; }};
"""
ORBIT = "pericenter = 0.5; eccentricity = 1.5; separation = 8.0;"
PAIR = "{ initial = \"plummer\"; count = 30; }, { initial = \"king\"; count = 20; mass = 0.5; }"


def go(keys=ORBIT, models=PAIR, physics="softening = 0.01;", systems=1, status=0, more=()):
    """The bodies at the start: species, m, x and v of each system; or the errors."""
    pathlib.Path("run.cfg").write_text(CONFIG.format(keys=keys, models=models, physics=physics,
                                                     systems=systems))
    done = tap.run("run", "run.cfg", "-q", "-o", "out", "--force", *more)
    assert done.returncode == status, done.stderr
    return done.stderr if status else read("out/trajectory.xyz")


def read(path):
    lines = pathlib.Path(path).read_text().splitlines()
    rows = [line.split() for line in lines[2:2 + int(lines[0])]]
    table = np.array([row[1:8] for row in rows], dtype=float)
    return [row[0] for row in rows], table[:, 6], table[:, 0:3], table[:, 3:6]


def point(name, mass, others=()):
    """A file of bodies: one of this mass at the origin, and others without mass."""
    rows = [f"{mass},0,0,0,0,0,0"] + ["0," + ",".join(f"{x:.17g}" for x in body) for body in others]
    pathlib.Path(name).write_text("m,x,y,z,vx,vy,vz\n" + "\n".join(rows) + "\n")
    return f'{{ initial = "file"; file = "{name}"; center = false; '


def test_the_orbit_is_that_of_two_points():
    """energy, angular momentum and the direction of the pericentre (Kepler) give back q, e and the
    separation, for every kind of conic; the centre of mass is at rest, and the models approach"""
    for q, e, r in ((0.5, 0.0, 0.5), (0.5, 0.6, 1.0), (0.5, 0.6, 2.0), (1.0, 1.0, 30.0),
                    (0.2, 2.5, 40.0), (3.0, 1.2, 3.0)):
        _, m, x, v = go(f"pericenter = {q}; eccentricity = {e}; separation = {r};",
                        point("a.csv", 3.0) + "}, " + point("b.csv", 1.0) + "}", "softening = 0.1;")
        assert np.allclose(m @ x, 0, atol=1e-13) and np.allclose(m @ v, 0, atol=1e-13)
        d, u = x[1] - x[0], v[1] - v[0]
        assert abs(np.linalg.norm(d) / r - 1) < 1e-14
        L = np.cross(d, u)
        assert L[2] > 0 and L[0] == L[1] == 0
        assert abs(L[2] / math.sqrt(4 * q * (1 + e)) - 1) < 1e-13
        # G M = 4; the eccentricity vector points to the pericentre of body 2
        vector = np.cross(u, L) / 4 - d / r
        assert np.allclose(vector, [e, 0, 0], atol=1e-13), (q, e, r, vector)
        assert d @ u < 1e-13 and (r in (q, q * (1 + e) / abs(1 - e or 1)) or d @ u < -0.1)


def test_the_planes_of_the_discs():
    """the spin of each disc is at i from the axis of the orbit, and the other model rises through
    the disc omega before its pericentre (Toomre & Toomre 1972)"""
    axes = ((1, 0, 0, 0, 1, 0), (0, 1, 0, -1, 0, 0), (0, 0, 1, 0, 0, 0))
    for i, omega in ((0, 0), (60, -30), (60, 90), (180, 45), (120, 200)):
        keys = f"disc_inclination = {i}; disc_argument = {omega}; }}"
        _, m, x, v = go("pericenter = 0.5; eccentricity = 1.0; separation = 5.0;",
                        point("a.csv", 1.0, axes) + keys + ", " + point("b.csv", 1.0, axes) + keys)
        for k, pericentre in ((0, 0.0), (4, math.pi)):
            ex, ey, n = x[k + 1:k + 4] - x[k]
            assert np.allclose([ex @ ey, ex @ n, ey @ n], 0, atol=1e-13)
            assert np.allclose(v[k + 1] - v[k], ey, atol=1e-13)
            assert np.allclose(v[k + 2] - v[k], -ex, atol=1e-13)
            assert np.allclose(np.cross(ex, ey), n, atol=1e-13)
            assert abs(n[2] - math.cos(math.radians(i))) < 1e-13
            # heights of the other model above the disc, where it is at its node and behind it
            angle = pericentre - math.radians(omega)
            node = np.array([math.cos(angle), math.sin(angle), 0])
            along = np.array([-math.sin(angle), math.cos(angle), 0])
            assert abs(node @ n) < 1e-13
            assert abs(along @ n - math.sin(math.radians(i))) < 1e-13


def alone(start, seed):
    """A start by itself, about its centre of mass."""
    pathlib.Path("alone.cfg").write_text(
        f"bodies = {{ {start} seed = {seed}; }};\n"
        "time = { step = 1e-6; end = 1e-6; };\noutputs = ( { type = \"xyz\"; } );\n")
    done = tap.run("run", "alone.cfg", "-q", "-o", "alone", "--force")
    assert done.returncode == 0, done.stderr
    return read("alone/trajectory.xyz")


def test_models_are_starts():
    """each model is the start that it would be alone, with the seed that follows from bodies.seed
    or that it is given; the second is turned by half a turn, so that the nodes of both discs look
    away from each other; velocities of virial_ratio are its own"""
    first, second = 'initial = "plummer"; count = 30;', 'initial = "king"; count = 20; mass = 0.5;'
    models = f"{{ {first} }}, {{ {second} }}"
    for systems, more, seeds in ((1, "", (7, 8)), (3, "", (7, 10)), (1, "seed = 99;", (7, 99))):
        species, m, x, v = go(ORBIT + " seed = 7;", models[:-1] + more + "}", systems=systems)
        assert species == (["A"] * 30 + ["B"] * 20) * systems
        for s in range(systems):
            for a, b, start, seed in ((0, 30, first, seeds[0]), (30, 50, second, seeds[1])):
                own = slice(50 * s + a, 50 * s + b)
                _, mass, place, speed = alone(start, seed + s)
                assert np.array_equal(m[own], mass)
                centre, motion = (mass @ q[own] / mass.sum() for q in (x, v))
                turn = np.array([-1, -1, 1]) if a else 1
                assert np.allclose(x[own] - centre, turn * place, atol=1e-13)
                assert np.allclose(v[own] - motion, turn * speed, atol=1e-13)
    _, m, _, v = go(models=f"{{ {first} virial_ratio = 0.0; }}, {{ {second} }}")
    assert np.allclose(v[:30], v[0]) and not np.allclose(v[30:], v[30])


def test_species():
    """species have the names that models are given, in trajectories and snapshots, also after a
    restart and with half of the systems left"""
    named = PAIR.replace("plummer\";", "plummer\"; species = \"host\";")
    assert go(models=named)[0] == ["host"] * 30 + ["B"] * 20
    names = [line.split()[0] for line in
             pathlib.Path("out/trajectory.xyz").read_text().splitlines() if len(line.split()) == 9]
    assert names == (["host"] * 30 + ["B"] * 20) * 3
    done = tap.run("run", "run.cfg", "-q", "-o", "out", "--restart", "-P", "time.end=4e-6")
    assert done.returncode == 0, done.stderr
    again = [line.split()[0] for line in
             pathlib.Path("out/trajectory.xyz").read_text().splitlines() if len(line.split()) == 9]
    assert again == (["host"] * 30 + ["B"] * 20) * 5
    whole = pathlib.Path("out/trajectory.xyz").read_bytes()
    go(models=named, more=("-P", "time.end=4e-6"))
    assert pathlib.Path("out/trajectory.xyz").read_bytes() == whole
    h5py = tap.need("h5py")
    text = CONFIG.format(keys=ORBIT, models=named, physics="softening = 0.01;", systems=2)
    pathlib.Path("run.cfg").write_text(text.replace('"xyz"', '"gadget-hdf5"'))
    done = tap.run("run", "run.cfg", "-q", "-o", "snapshots", "--force")
    assert done.returncode == 0, done.stderr
    with h5py.File(sorted(pathlib.Path("snapshots").glob("*.hdf5"))[-1]) as file:
        assert list(file["PartType1/Species"]) == ([1] * 30 + [2] * 20) * 2
        assert list(file["PartType1/ParticleIDs"]) == list(range(1, 51)) * 2


STARS = "m,x,y,z,vx,vy,vz\n1,%g,0,0,0,0.5,0\n1,-%g,0,0,0,-0.5,0\n"


def test_other_bodies_in_a_model_s_file():
    """a restart and a sweep know the bytes of the models' files, of one file and of two"""
    files = [f'{{ initial = "file"; file = "{name}.csv"; }}' for name in "bc"]
    stop = "-P", "time.end=1e-6", "-q"
    for models, changed in (([files[0], '{ initial = "plummer"; count = 9; }'], "b.csv"),
                            (files, "c.csv")):
        for name in ("b.csv", "c.csv"):
            pathlib.Path(name).write_text(STARS % (1, 1))
        text = CONFIG.format(keys=ORBIT, models=", ".join(models), physics="softening = 0.01;",
                             systems=1)
        pathlib.Path("run.cfg").write_text(text)
        assert tap.run("run", "run.cfg", "--force", "-o", "begun", *stop).returncode == 0
        again = "run", "run.cfg", "--restart", "-o", "begun", "-q"
        pathlib.Path(changed).write_text(STARS % (1, 1.5))
        result = tap.run(*again)
        assert result.returncode == 78, result
        assert "run.cfg:2: bodies: the files of its models have other bytes than when the run " \
            "began" in result.stderr, result
        pathlib.Path(changed).write_text(STARS % (1, 1))
        assert tap.run(*again).returncode == 0
        pathlib.Path("sweep.cfg").write_text(
            text + 'sweep = ( { key = "time.step"; values = [5e-7, 1e-6]; } );\n')
        study = "run", "sweep.cfg", "-o", "study"
        assert tap.run(*study, "--force", *stop).returncode == 0
        pathlib.Path(changed).write_text(STARS % (1, 1.5))
        result = tap.run(*study, *stop)
        words = "b.csv holds" if len(set(models) - set(files)) else "these files hold"
        assert result.returncode == 78, result
        assert f"study/001: models: {words} other bytes than what it ran from" in result.stderr, \
            result


def test_pictures_by_species():
    """the picture of bodies has a curve for each species, with its name; all systems have one"""
    reports.need_gnuplot()
    named = PAIR.replace("plummer\";", "plummer\"; species = \"host\";")
    _, _, positions, _ = go(models=named)
    reports.report("out")
    curves = reports.blocks("out/plots/bodies-first.dat")
    assert [len(curve) for curve in curves] == [30, 20], curves
    assert abs(np.concatenate(curves)[:, :2] - positions[:, :2]).max() < 1e-5
    script = pathlib.Path("out/plots/bodies-first.gp").read_text()
    assert re.findall(r'title "(\w+)"', script) == ["host", "B"], script
    go(models=named, systems=2)  # whose systems lie over one another, in one colour
    reports.report("out")
    assert [len(curve) for curve in reports.blocks("out/plots/bodies-first.dat")] == [100]


def test_what_cannot_be():
    """each thing that cannot be is named with its place, its key and its mend"""
    big = "{ initial = \"plummer\"; count = 2000000000; }"
    for keys, models, text in (
            ("eccentricity = 1.0; separation = 8.0;", PAIR,
             "run.cfg:2: bodies.pericenter: must be given"),
            ("pericenter = 1.0;", PAIR, "run.cfg:2: bodies.separation: must be given"),
            ("pericenter = 0.01; separation = 8.0;", PAIR, "run.cfg:2: bodies.pericenter = 0.01: "
             "is within physics.softening = 0.01, where the force is far from Kepler's"),
            ("pericenter = 1.0; separation = 0.9;", PAIR, "run.cfg:2: bodies.separation = 0.9: is "
             "less than the pericenter, 1"),
            ("pericenter = 1.0; eccentricity = -0.1; separation = 2.0;", PAIR,
             "run.cfg:2: bodies.eccentricity = -0.1: must be at least 0"),
            ("pericenter = 1.0; eccentricity = 0.5; separation = 3.1;", PAIR,
             "run.cfg:2: bodies.separation = 3.1: is beyond the apocentre of this ellipse, 3;"),
            (ORBIT + " virial_ratio = 1.0;", PAIR, "run.cfg:2: bodies.virial_ratio = 1.0: would "
             "change the orbit too; it is a key of each of the models"),
            (ORBIT, PAIR.split(", {")[0], "run.cfg:2: bodies: an encounter is one of two models"),
            (ORBIT, PAIR + ", { initial = \"plummer\"; count = 3; }", "run.cfg:4: models.2: an "
             "encounter is one of two models, models = ( { initial = ...; }, { initial = ...; } ), "
             "but there are 3"),
            (ORBIT, PAIR.replace("king", "encounter"), "models.1.initial = \"encounter\""),
            (ORBIT, PAIR.replace("count = 20;", "count = 20; species = \"two words\";"),
             "run.cfg:4: models.1.species = \"two words\": must be a word of at most 15 bytes"),
            (ORBIT, PAIR.replace("count = 20;", "count = 20; disc_inclination = 181.0;"),
             "run.cfg:4: models.1.disc_inclination = 181.0: must be "),
            (ORBIT, PAIR.replace("count = 20;", ""), "run.cfg:4: models.1.count: must be given"),
            (ORBIT, '{ initial = "file"; files = ["a.csv"]; }, ' + PAIR.split(", ")[1],
             "run.cfg:4: models.0.files"),
            (ORBIT, '{ initial = "file"; file = "none.csv"; }, ' + PAIR.split(", ")[1],
             "run.cfg:4: models.0.file = "),
            (ORBIT + " seed = 4294967295;", PAIR, "bodies.seed = 4294967295: "
             "2 seeds are taken from here on; the last one is 4294967295")):
        status = 66 if "none.csv" in models else 78
        errors = go(keys, models, status=status)
        assert text in errors, (keys, models, errors)
        assert errors.count("\n") == 1, errors
    errors = go(models=f"{big}, {big}", status=78)
    assert "run.cfg:2: bodies: 4000000000 bodies are more than 2147483647" in errors, errors
    half = big.replace("2000000000", "1000000000")
    errors = go(models=f"{half}, {half}", status=71)
    assert "run.cfg:2: bodies: 1 x 2000000000 bodies need " in errors, errors
    errors = go(ORBIT, PAIR, 'units = "galactic"; softening = 0.01;', status=78)
    assert "run.cfg:4: models.0.mass: must be given in units = \"galactic\"" in errors, errors
    pathlib.Path("run.cfg").write_text(
        'bodies = { initial = "plummer"; count = 9; };\n'
        'models = ( { initial = "figure-eight"; } );\n'
        "time = { step = 1e-6; end = 1e-6; };\n")
    done = tap.run("run", "run.cfg", "-q", "-o", "none")
    assert done.returncode == 78 and not pathlib.Path("none").exists()
    assert done.stderr.endswith('run.cfg:2: models.0: belongs to bodies.initial = "encounter", '
                                'and it is "plummer"\n'), done.stderr
    told = tap.run("info", "king").stdout + tap.run("info", "models").stdout
    assert told.count("w0") == 1 and "disc_argument" in told, told
    assert "Refused here, since it would change the orbit" in " ".join(
        tap.run("info", "encounter").stdout.split())


tap.main()
