"""One motion in two frames: what judges its energy, and what scales it, takes the motion of the
whole off."""

import json
import pathlib
import re

import numpy
import rows
import tap

E = 0.9


def write_pair(velocity, path="pair.csv"):
    """Two masses of 1/2, a = G M = 1, from apocentre."""
    half, v = 0.5 * (1 + E), 0.5 * numpy.sqrt((1 - E) / (1 + E))
    V = f"{velocity[0]!r},{{}},{velocity[2]!r}"
    pathlib.Path(path).write_text(
        "m,x,y,z,vx,vy,vz\n"
        f"0.5,{half!r},0,0,{V.format(repr(float(velocity[1] + v)))}\n"
        f"0.5,{-half!r},0,0,{V.format(repr(float(velocity[1] - v)))}\n")
    return path


def write_stars(velocity, count=100):
    """Stars of a Gaussian sphere of 1 pc in virial equilibrium."""
    G = 4.30091727e-3  # pc (km/s)^2 / Msun
    generator = numpy.random.Generator(numpy.random.PCG64(11))
    x, v = generator.normal(size=(2, count, 3))
    v -= v.mean(0)
    distance = numpy.linalg.norm(x[:, None] - x, axis=2)[numpy.triu_indices(count, 1)]
    v *= numpy.sqrt((G / distance).sum() / (v ** 2).sum())
    v += velocity
    lines = [",".join(map(repr, [1.0, *map(float, a), *map(float, b)])) for a, b in zip(x, v)]
    pathlib.Path("stars.csv").write_text("m,x,y,z,vx,vy,vz\n" + "\n".join(lines) + "\n")
    return "stars.csv"


def go(out, file, step, end, *overrides, more=""):
    pathlib.Path("run.cfg").write_text(f"""
    name = "case";
    bodies = {{ initial = "file"; file = "{file}"; center = false; }};
    time = {{ integrator = "velocity-verlet"; step = {step}; end = {end}; }};
    diagnostics = ( {{ type = "conservation"; every = 10; }}, {{ type = "virial"; every = 10; }} );
    {more}
    """)
    words = [word for one in overrides for word in ("-P", one)]
    result = tap.run("run", "run.cfg", "--force", "-o", out, *words)
    assert result.returncode in (0, 1), result.stderr
    about = json.loads(pathlib.Path(out, "run.json").read_text())
    return result, about, rows.columns(f"{out}/conservation.csv")


def test_a_fast_pair_fails_as_one_at_rest():
    """a step ten times too large fails it at 30 times its own speed, with the error that it has"""
    _, rest, _ = go("rest", write_pair((0.0, 0.0, 0.0)), 0.05, 62.8)
    result, moving, table = go("moving", write_pair((30.0, 0.0, 0.0)), 0.05, 62.8)
    assert result.returncode == 1 and rest["verdict"] == "failed", result.stdout
    seen = [about["watch"]["energy_error"]["largest"] for about in (rest, moving)]
    # Roundings of 30 part the two orbits, whose passages at the pericentre amplify them.
    assert seen[0] > 1 and 0.3 < seen[0] / seen[1] < 3, seen
    assert "the energy is off by" in moving["watch"]["text"], moving["watch"]
    # The columns by hand: E - P^2/2M, over |U0|, which is more than |E0'| at the apocentre.
    P2 = sum(table[f"momentum_{axis}"] ** 2 for axis in "xyz")
    internal = table["energy"] - 0.5 * P2
    assert abs(table["internal_energy"] - internal).max() < 1e-12
    error = (internal - internal[0]) / abs(table["potential"][0])
    assert abs(table["relative_energy_error"] - error).max() < 1e-11
    assert (table["energy_error"] == numpy.maximum.accumulate(
        abs(table["relative_energy_error"]))).all()
    assert moving["largest_energy_error"] >= table["energy_error"][-1]
    assert f"(largest {moving['largest_energy_error']:.3g}) of max(|E0|, |U0|)" in \
        " ".join(result.stdout.split()), result.stdout


def test_a_cluster_from_a_catalogue():
    """100 stars at 230 km/s, which a step of encounters scatters: failed, and trust says so"""
    result, about, table = go("fast", write_stars([230.0, 0.0, 0.0]), 0.01, 20.0,
                              "trust.shadow=true", more='physics = { units = "pc-msun-kms"; };')
    assert result.returncode == 1 and about["watch"]["energy_error"]["largest"] > 0.005, about
    assert "statistics: none" in " ".join(result.stdout.split()), result.stdout
    # As a whole it has 10^5 times the energy that its stars have about each other.
    assert (table["energy"] > 1e5 * abs(table["internal_energy"][0])).all()
    # A good run of it passes, with the error that it has at rest.
    soft = 'physics = { units = "pc-msun-kms"; softening = 0.1; };'
    errors, ratios = [], []
    for velocity in ([230.0, -20.0, 7.0], [0.0, 0.0, 0.0]):
        result, about, table = go("soft", write_stars(velocity), 0.01, 2.0, more=soft)
        assert result.returncode == 0, result.stdout
        errors.append(about["largest_energy_error"])
        ratios.append(table["virial_ratio_potential"][0])
    assert abs(errors[0] / errors[1] - 1) < 1e-3 and errors[1] > 1e-9, errors
    # In equilibrium without the softening.
    assert abs(ratios[0] / ratios[1] - 1) < 1e-9 and 1 < ratios[1] < 1.02, ratios


def test_the_virial_knows_no_frame():
    """ratios of the columns, the means and the summary; and the start that is scaled to one"""
    seen = []
    for velocity in ((0.0, 0.0, 0.0), (8.0, -4.0, 2.0)):
        result, _, table = go("virial", write_pair(velocity), 0.001, 1.0)
        means = rows.columns("virial/virial.csv")
        line = [line for line in result.stdout.splitlines() if "virial ratio" in line]
        seen.append((table["virial_ratio"][-1], means["mean_virial_ratio"][-1],
                     means["kinetic_over_energy"][-1]))
        assert f"2K/|W| = {table['virial_ratio'][-1]:.4f}" in line[0], line
    assert numpy.allclose(*seen, rtol=1e-9) and seen[0][0] < 1, seen
    # Vis viva at the apocentre: 2K/|U| = 1 - e; scaled to 1 the speed is more by 1/sqrt(1 - e).
    v = 0.5 * numpy.sqrt((1 - E) / (1 + E))
    for velocity in ((0.0, 0.0, 0.0), (8.0, -4.0, 2.0)):
        _, about, table = go("scaled", write_pair(velocity), 0.001, 0.001, "bodies.virial_ratio=1")
        assert abs(table["virial_ratio"][0] - 1) < 1e-12
        momentum = [table[f"momentum_{axis}"][0] for axis in "xyz"]
        assert numpy.allclose(momentum, velocity, atol=1e-13), momentum
        own = 0.5 * (v / numpy.sqrt(1 - E)) ** 2
        assert abs(about["initial"]["internal_kinetic"] - own) < 1e-12, about["initial"]


def test_a_body_alone_has_no_energy_to_err_in():
    """what one moving body's rounding leaves of its energy is judged by nobody"""
    pathlib.Path("one.csv").write_text("m,x,y,z,vx,vy,vz\n0.3,0,0,0,0.1,-0.7,0.3333333333333333\n")
    result, about, table = go("one", "one.csv", 0.1, 10.0)
    assert result.returncode == 0 and numpy.isnan(table["energy_error"]).all(), result.stdout
    assert about["largest_energy_error"] is None and about["verdict"] == "none"
    # The range of its profile cannot be in units of its half-mass radius, 0.
    result, _, _ = go("one", "one.csv", 0.1, 1.0, "diagnostics.1.type=density-profile")
    assert result.returncode == 0, result.stderr


BOOST = 8.0
EVERY = tap.every_diagnostic("""name = "frame";
bodies = { initial = "file"; file = "frame.csv"; center = false; };
physics = { softening = 0.05; };
time = { step = 0.0009765625; end = 0.03125; };
watch = { on_jump = "warn"; };
diagnostics = (
  { type = "density-profile"; every = 16; shells = 6; least_bodies = 3; },
  { type = "density-slope"; every = 16; shells = 8; least_bodies = 3; },
  { type = "orbit"; every = 16; primary = 11; secondary = 5; },
  { type = "radial-distribution"; every = 16; r_max = 1.5; bins = 8; },
  { type = "lagrangian-radii"; every = 16; },
  { type = "lagrangian-radii"; every = 16; center = "mass"; name = "about-mass"; }
);
""", 16)


def tables_at(velocity, place=(1.0, -2.0, 0.5)):
    """Every table of a run of 60 bodies, one of them on its way out, of which all have this motion
    from this place; the mass and the centre of mass of the start."""
    generator = numpy.random.Generator(numpy.random.PCG64(40))
    m = generator.integers(1, 9, 60) / 256
    x = 0.5 * generator.normal(size=(60, 3))
    v = 0.5 * generator.normal(size=(60, 3))
    x[7], v[7] = 4 * x[7], 6 * x[7]
    x += numpy.array(place) - (m @ x) / m.sum()
    v -= (m @ v) / m.sum()
    lines = [",".join(map(repr, [k + 1, *map(float, (m[k], *x[k], *(v[k] + velocity)))]))
             for k in range(60)]
    pathlib.Path("frame.csv").write_text("id,m,x,y,z,vx,vy,vz\n" + "\n".join(lines) + "\n")
    pathlib.Path("run.cfg").write_text(EVERY)
    result = tap.run("run", "run.cfg", "-q", "--force", "-o", "frame")
    assert result.returncode == 0, result.stderr
    found = {(path.stem, name): values for path in pathlib.Path("frame").glob("*.csv")
             for name, values in rows.columns(path).items()}
    return found, m.sum(), (m @ x) / m.sum()


def drift_periods():
    """the length of the run in dynamical times, by the size about the centre of mass"""
    about = json.loads(pathlib.Path("frame/run.json").read_text())
    return about["watch"]["energy_drift"]["periods"]


def test_every_diagnostic_in_a_moving_frame():
    """of a cluster that moves along each axis every column is that of the cluster at rest, but for
    the sums that know the frame, which are by their formulas"""
    rest, mass, center = tables_at(numpy.zeros(3))
    periods = drift_periods()
    origin, _, _ = tables_at(numpy.zeros(3), (0.0, 0.0, 0.0))
    assert periods > 0 and abs(drift_periods() / periods - 1) < 1e-9, periods
    for table in ("lagrangian-radii", "about-mass"):
        radii = [found[table, "radius_50"] for found in (origin, rest)]
        assert numpy.allclose(*radii, rtol=1e-9) and radii[0][0] > 0, (table, radii)
    times = rest["conservation", "time"]
    assert len({table for table, _ in rest}) > 11 and rest["escapers", "unbound"][0] > 0
    for axis in range(3):
        velocity = BOOST * numpy.eye(3)[axis]
        moving, _, _ = tables_at(velocity)
        assert abs(drift_periods() / periods - 1) < 1e-9, (periods, axis)
        turn = mass * numpy.cross(center, velocity)
        more = {("conservation", name): 0.5 * mass * BOOST ** 2 for name in ("kinetic", "energy")}
        for k, letter in enumerate("xyz"):
            more["conservation", f"momentum_{letter}"] = mass * velocity[k]
            more["conservation", f"angular_momentum_{letter}"] = turn[k]
            more["conservation", f"center_{letter}"] = \
                more["lagrangian-radii", f"density_center_{letter}"] = \
                more["about-mass", f"density_center_{letter}"] = \
                more["bound-mass", f"bound_center_{letter}"] = velocity[k] * times
        assert moving.keys() == rest.keys() and more.keys() <= rest.keys(), more.keys()
        for key, values in rest.items():
            # Whose force has the largest error is a matter of roundings.
            assert key == ("force-error", "worst_body") or numpy.allclose(
                values + more.get(key, 0), moving[key], rtol=1e-9, atol=1e-9, equal_nan=True), \
                (axis, key, values, moving[key])


def write_crowd():
    """The pair, a = G M = 1 and e = 0.9, among 68 light bodies at rest far away."""
    generator = numpy.random.Generator(numpy.random.PCG64(7))
    x = generator.normal(size=(68, 3))
    x *= 30 / numpy.linalg.norm(x, axis=1)[:, None]
    light = "".join(f"1e-7,{','.join(map(repr, map(float, a)))},0,0,0\n" for a in x)
    pathlib.Path("crowd.csv").write_text(
        pathlib.Path(write_pair((0.0, 0.0, 0.0))).read_text() + light)
    return "crowd.csv"


def test_passages_between_two_checks():
    """of more than 64 bodies the watch sees a bound pair at its pericentre, not every 50 steps
    alone; stopped and continued, it looks at the same steps"""
    loose = ("watch.energy_error=0.01", "watch.on_jump=warn")
    every = [f"diagnostics.{k}.every=1" for k in (0, 1)]
    step, end = 2 * numpy.pi / 950, 40.0
    _, _, table = go("rows", write_crowd(), step, end, *loose, *every)
    seen = table["energy_error"][-1]
    checks = abs(table["relative_energy_error"][::50]).max()
    result, about, _ = go("seldom", "crowd.csv", step, end, *loose,
                          *(one.replace("every=1", "every=100000") for one in every))
    largest = about["watch"]["energy_error"]["largest"]
    assert checks < 0.5 * seen, (checks, seen)  # passages at 475 + 950 k
    assert 0.97 * seen < largest <= seen, (largest, seen)
    assert about["largest_energy_error"] == largest
    for part in (3.1, 22.3):
        go("parts", "crowd.csv", step, part, *loose)
        words = ["-P", f"time.end={end!r}"]
        result = tap.run("run", "run.cfg", "-o", "parts", "-q", "--restart", *words,
                         *(word for one in loose for word in ("-P", one)))
        assert result.returncode == 0, result.stderr
        parts = json.loads(pathlib.Path("parts/run.json").read_text())
        assert parts["watch"] == about["watch"], (parts["watch"], about["watch"])


def test_a_planet_without_mass_is_judged_by_another_column():
    """the energy error of one mass is undefined, and the run says what to expect instead"""
    pathlib.Path("planet.csv").write_text(
        "m,x,y,z,vx,vy,vz\n1,0,0,0,5,0,0\n0,1,0,0,5,1.2,0\n")
    more = 'expect = ( { quantity = "%s"; at_most = 1e-3; } );'
    result, about, _ = go("planet", "planet.csv", 0.01, 10.0, more=more % "energy_error")
    said = "undefined, since E0 and U0 are 0; test_energy_error is that of bodies without mass"
    assert result.returncode == 1 and said in " ".join(result.stdout.split()), result.stdout
    assert about["expect"][0]["why_undefined"] in said, about["expect"]
    result, about, _ = go("planet", "planet.csv", 0.01, 10.0, more=more % "test_energy_error")
    assert result.returncode == 0 and about["expect"][0]["why_undefined"] == "", result.stdout


def test_encounters_from_afar():
    """two bodies on a parabola from r = 1000: |U0| is a thousandth of |U| at the pericentre, where
    the error of velocity Verlet swings by more than the limit and comes back; a step that leaves
    an error fails"""
    r, p = 1000.0, 2.0
    v, vt = numpy.sqrt(2 / r), numpy.sqrt(p) / r
    vr = -numpy.sqrt(v * v - vt * vt)
    half = [float(0.5 * one) for one in (r, vr, vt)]
    pathlib.Path("far.csv").write_text(
        "m,x,y,z,vx,vy,vz\n" + "".join(
            f"0.5,{sign * half[0]!r},0,0,{sign * half[1]!r},{sign * half[2]!r},0\n"
            for sign in (1, -1)))
    # The fall takes sqrt(2)/3 (r + p) sqrt(r - p/2) = 14900.
    every = [f"diagnostics.{k}.every=10000" for k in (0, 1)]
    result, about, table = go("far", "far.csv", 0.05, 31000.0, *every)
    seen = about["watch"]["energy_error"]["largest"]
    assert result.returncode == 0 and seen > 0.05, (result.stdout, seen)
    assert abs(table["relative_energy_error"][-1]) < 1e-5
    result, about, table = go("far", "far.csv", 0.8, 31000.0, *every)
    assert result.returncode == 1 and "is off by" in about["watch"]["text"], about["watch"]


def test_expect_takes_what_the_watch_saw():
    """rows once a period see the apocentre alone; what happened between them counts all the same"""
    period = "6.283185307179586"
    more = 'expect = ( { quantity = "energy_error"; at_most = 1e-3; } );'
    step = "0.0006283185307179586"
    strobe = ("diagnostics.0.every=10000", "diagnostics.1.every=10000",
              f"time.end={5 * float(period)!r}")
    for status, bound in ((1, "5e-4"), (0, "2e-3")):
        result, about, table = go("strobe", write_pair((0.0, 0.0, 0.0)), step, 1, *strobe,
                                  f"expect.0.at_most={bound}", more=more)
        assert result.returncode == status, result.stdout
        criterion = about["expect"][0]
        assert criterion["worst"] == about["largest_energy_error"] \
            == about["watch"]["energy_error"]["largest"], about
        assert criterion["worst"] > 5e-4 > 100 * table["energy_error"][-1], table["energy_error"]
        assert criterion["failures"] == (5 if status else 0), criterion
        # The page's tile shows what was judged, not the rows alone.
        assert tap.run("report", "strobe").returncode == 0
        page = pathlib.Path("strobe/report.html").read_text()
        tile = re.search(r"largest energy error</dt><dd>([^<]*)</dd>", page)
        assert tile and float(tile[1]) == float(f"{criterion['worst']:.4g}"), tile


tap.main()
