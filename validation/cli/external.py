"""External fields at rest, as a user meets them: orbits with known answers, the same forces and
orbits as galpy, what is kept and what is judged, the same bytes however a run is cut up, and what
is refused."""

import json
import math
import pathlib
import re

import numpy

import tap
from rows import HEAD, budget_sums, columns, write_bodies


# Circular orbits in the plane z = 0: the keys of each field, and v^2 / R and kappa^2 at R, with
# G = 1; closed forms of the potentials in src/external/field.h.
RADIUS = 1.3


def nfw_mass(x):
    return math.log1p(x) - x / (1 + x)


def plummer_omega2(R, b=0.6, M=2.0):
    return M / (R * R + b * b)**1.5


FIELDS = {
    "point-mass": ("mass = 2.0;", lambda R: 2 / R**3),
    "plummer": ("mass = 2.0; scale_radius = 0.6;", plummer_omega2),
    "hernquist": ("mass = 2.0; scale_radius = 0.6;", lambda R: 2 / (R * (R + 0.6)**2)),
    "nfw": ("mass = 2.0; scale_radius = 0.6;", lambda R: 2 * nfw_mass(R / 0.6) / R**3),
    "miyamoto-nagai": ("mass = 2.0; a = 0.5; b = 0.3;",
                       lambda R: plummer_omega2(R, 0.8)),
    "logarithmic": ("speed = 1.1; core_radius = 0.4; flattening = 0.8;",
                    lambda R: 1.21 / (R * R + 0.16)),
    "harmonic": ("frequencies = [1.2, 1.2, 0.7];", lambda R: 1.44),
}
CENTER = (0.5, -0.25, 0.125)


def config(fields, file="bodies.csv", integrator="gauss-radau", step=0.01, end=1.0, rest=""):
    every = "diagnostics = ( { type = \"conservation\"; every = 10; } );"
    return f"""
name = "field";
bodies = {{ initial = "file"; file = "{file}"; }};
external = ( {fields} );
time = {{ integrator = "{integrator}"; step = {step!r}; end = {end!r}; }};
{every if "diagnostics" not in rest else ""}
{rest}
"""


def field(kind, center=CENTER, keys=None):
    keys = FIELDS[kind][0] if keys is None else keys
    return f'{{ type = "{kind}"; {keys} center = [{", ".join(map(repr, center))}]; }}'


def go(directory, text, *arguments, status=0):
    pathlib.Path("run.cfg").write_text(text)
    result = tap.run("run", "run.cfg", "-q", "-o", directory, *arguments)
    assert result.returncode == status, (arguments, result)
    return result


def about(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def frames(directory, width):
    """The numbers of every frame of its trajectory, without the species."""
    found = []
    lines = pathlib.Path(directory, "trajectory.xyz").read_text().splitlines()
    while lines:
        count = int(lines[0])
        rows = [line.split()[-width:] for line in lines[2:2 + count]]
        found.append(numpy.array(rows, float))
        lines = lines[2 + count:]
    return numpy.array(found)


def xyz(columns_, every):
    return f'outputs = ( {{ type = "xyz"; columns = "{columns_}"; every = {every}; }} );'


def on_circle(kind):
    """A body of mass 0.7 on the circle, and its angular frequency."""
    omega = math.sqrt(FIELDS[kind][1](RADIUS))
    x, y, z = CENTER
    return [0.7, x + RADIUS, y, z, 0.0, RADIUS * omega, 0.0], omega


def test_circles_close():
    """a circular orbit in each field: radius to 1e-12, and back at its start after a period"""
    for kind in FIELDS:
        body, omega = on_circle(kind)
        write_bodies([body])
        period = 2 * math.pi / omega
        for integrator in ("gauss-radau", "yoshida6"):
            go(f"circle-{kind}", config(field(kind), integrator=integrator, step=period / 1000,
                                        end=period, rest=xyz("pos velo", 10)), "--force")
            moved = frames(f"circle-{kind}", 6)[:, 0, :3] - CENTER
            radius = numpy.sqrt((moved**2).sum(axis=1))
            assert abs(radius / RADIUS - 1).max() < 1e-12, (kind, integrator, radius)
            # 16 nested roundings of a step, and the phase of 6th order: (2 pi / 1000)^6 = 6e-14
            assert numpy.abs(moved[-1] - moved[0]).max() < 2e-11, (kind, integrator, moved[-1])


def epicyclic2(omega2, R):
    """kappa^2 = R d(Omega^2)/dR + 4 Omega^2, by differences whose error is 1e-10."""
    h = 1e-3
    slope = (8 * (omega2(R + h) - omega2(R - h)) - omega2(R + 2 * h) + omega2(R - 2 * h)) / 12 / h
    return R * slope + 4 * omega2(R)


def test_epicycles():
    """the radial frequency of an orbit next to the circle; an amplitude of 1e-4 of the radius
    changes it by the square of that"""
    for kind in FIELDS:
        body, omega = on_circle(kind)
        body[1] += 1e-4 * RADIUS
        body[5] *= RADIUS / (RADIUS + 1e-4 * RADIUS)  # with the angular momentum of the circle
        kappa = math.sqrt(epicyclic2(FIELDS[kind][1], RADIUS))
        period = 2 * math.pi / kappa
        write_bodies([body])
        go(f"epicycle-{kind}", config(field(kind), step=period / 1000, end=period,
                                      rest=xyz("pos velo", 1)))
        found = frames(f"epicycle-{kind}", 6)[:, 0]
        d, v = found[:, :3] - CENTER, found[:, 3:]
        out = (d * v).sum(axis=1)
        # out goes through 0 at half a period, from below to above after a whole one.
        turn = numpy.flatnonzero((out[1:-1] < 0) & (out[2:] >= 0))
        at = 499 + numpy.interp(0, [out[499], out[501]], [0, 2]) if out[499] < 0 else None
        assert at is not None and abs(at - 500) < 0.02 and len(turn) <= 1, (kind, at, turn)


def test_where_fields_cancel():
    """a body at rest near the middle of two point masses: x = 1e-16 cosh(w t), w^2 = 4 G M / d^3,
    whose first accelerations are roundings of what cancels"""
    fields = ", ".join(field("point-mass", (x, 0.0, 0.0), "mass = 1.0;") for x in (-0.7, 0.7))
    write_bodies([[0.0, 1e-16, 0.0, 0.0, 0.0, 0.0, 0.0]])
    wanted = 1e-16 * math.cosh(5 * math.sqrt(4 / 0.7**3))
    for integrator in ("gauss-radau", "hermite4"):
        go(integrator, config(fields, "bodies.csv", integrator, 0.05, 5.0, xyz("pos", 100)))
        x = frames(integrator, 3)[-1, 0, 0]
        assert abs(x / wanted - 1) < 0.1, (integrator, x, wanted)


def galpy_of(kind):
    """The potential of FIELDS in galpy, which knows neither G nor centres."""
    potential = tap.need("galpy.potential").potential
    return {
        "point-mass": lambda: potential.KeplerPotential(amp=2.0),
        "plummer": lambda: potential.PlummerPotential(amp=2.0, b=0.6),
        # its amp is twice the mass
        "hernquist": lambda: potential.HernquistPotential(amp=4.0, a=0.6),
        "nfw": lambda: potential.NFWPotential(amp=2.0, a=0.6),
        "miyamoto-nagai": lambda: potential.MiyamotoNagaiPotential(amp=2.0, a=0.5, b=0.3),
        "logarithmic": lambda: potential.LogarithmicHaloPotential(amp=1.21, core=0.4, q=0.8),
        "harmonic": None,
    }[kind]


def test_forces_are_galpys():
    """accelerations at 50 places within 0.01 and 100 of the centre, to 1e-10"""
    tap.need("galpy")
    random = numpy.random.default_rng(5)
    distance = 10**random.uniform(-2, 2, 50)
    direction = random.normal(size=(50, 3))
    d = distance[:, None] * direction / numpy.linalg.norm(direction, axis=1)[:, None]
    # far from one another and light: their own attraction is below 1e-20
    write_bodies([[1e-30, *(row + CENTER), 0, 0, 0] for row in d])
    for kind in FIELDS:
        make = galpy_of(kind)
        if not make:
            continue
        go(f"galpy-{kind}", config(field(kind), integrator="velocity-verlet", step=1e-9, end=1e-9,
                                   rest=xyz("pos force", 1)))
        found = frames(f"galpy-{kind}", 6)[0]
        d = found[:, :3] - CENTER
        R, z = numpy.hypot(d[:, 0], d[:, 1]), d[:, 2]
        one = make()
        radial = numpy.array([one.Rforce(r, h) for r, h in zip(R, z)], float)
        along = numpy.array([one.zforce(r, h) for r, h in zip(R, z)], float)
        theirs = numpy.stack([radial * d[:, 0] / R, radial * d[:, 1] / R, along], axis=1)
        ours = found[:, 3:] / 1e-30
        off = numpy.linalg.norm(ours - theirs, axis=1) / numpy.linalg.norm(theirs, axis=1)
        assert off.max() < 1e-10, (kind, off)


CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 150; seed = 7; };
physics = { softening = 0.1; };
external = (
  { type = "miyamoto-nagai"; mass = 4.0; a = 2.0; b = 0.5; center = [5.0, 0.0, 0.0]; },
  { type = "logarithmic"; speed = 1.0; core_radius = 1.0; center = [5.0, 0.0, 3.0]; }
);
time = { integrator = "yoshida6"; step = 0.01; end = 0.8; };
compute = { backend = "openmp"; threads = 2; };
diagnostics = ( { type = "conservation"; every = 4; } );
outputs = ( { type = "xyz"; every = 8; columns = "mass pos velo force local_energy"; } );
checkpoint = { every_steps = 25; };
"""


def motion(directory):
    return pathlib.Path(directory, "trajectory.xyz").read_bytes()


def test_what_the_fields_keep():
    """E and, about the common axis of both fields, L; not P, and not the other components"""
    go("kept", CLUSTER)
    rows = columns("kept/conservation.csv")
    assert about("kept")["verdict"] == "none"
    # The energy in the fields tells nothing of the time in which bodies cross their own cluster.
    assert about("kept")["time_scales"]["crossing"] is None, about("kept")["time_scales"]
    assert abs(rows["relative_energy_error"]).max() < 1e-8, rows["relative_energy_error"]
    L = {axis: rows[f"angular_momentum_{axis}"] for axis in "xyz"}
    assert abs(L["z"] - L["z"][0]).max() < 1e-12 * abs(L["z"]).max() + 1e-13, L["z"]
    assert abs(L["x"] - L["x"][0]).max() > 1e-3 and abs(L["y"] - L["y"][0]).max() > 1e-3, L
    for axis in "xz":
        P = rows[f"momentum_{axis}"]
        assert abs(P - P[0]).max() > 1e-2, (axis, P)
    # The energy is that in the frame of the fields.
    assert (rows["internal_energy"] == rows["energy"]).all()
    # L about the first centre: the bodies start about the origin, at rest there.
    first = frames("kept", 11)[0]
    m, x, v, phi = first[:, 0], first[:, 1:4], first[:, 4:7], first[:, 10]
    about_center = (m[:, None] * numpy.cross(x - [5, 0, 0], v)).sum(axis=0)
    for k, axis in enumerate("xyz"):
        assert abs(L[axis][0] - about_center[k]) < 1e-13, axis
    # U and W against sums of their own: pairs, and the fields by their formulas.
    pairs = virial = 0.0
    for i in range(len(m)):
        r2 = ((x[i + 1:] - x[i])**2).sum(axis=1)
        pairs -= (m[i] * m[i + 1:] / numpy.sqrt(r2 + 0.01)).sum()
        virial -= (m[i] * m[i + 1:] * r2 / (r2 + 0.01)**1.5).sum()
    d = x - [5, 0, 0]
    B = numpy.sqrt(d[:, 2]**2 + 0.25)
    s = numpy.sqrt(d[:, 0]**2 + d[:, 1]**2 + (2 + B)**2)
    disc = -4 / s
    disc_a = -4 / s[:, None]**3 * d * numpy.stack([B / B, B / B, (2 + B) / B], axis=1)
    e = x - [5, 0, 3]
    r2 = 1 + (e**2).sum(axis=1)
    halo, halo_a = 0.5 * numpy.log(r2), -e / r2[:, None]
    U = pairs + (m * (disc + halo)).sum()
    W = virial + (m[:, None] * d * (disc_a + halo_a)).sum()
    assert abs(rows["potential"][0] / U - 1) < 1e-12, (rows["potential"][0], U)
    assert abs(rows["virial"][0] / W - 1) < 1e-12, (rows["virial"][0], W)
    a = first[:, 7:10] / m[:, None]
    assert numpy.abs((m[:, None] * a).sum(axis=0) -
                     (m[:, None] * (disc_a + halo_a)).sum(axis=0)).max() < 1e-12
    own = phi / m - disc - halo
    assert abs(0.5 * (m * own).sum() / pairs - 1) < 1e-12


def captions(directory):
    """{title: sentences} of its page."""
    assert tap.run("report", directory).returncode == 0
    page = pathlib.Path(directory, "report.html").read_text()
    found = re.findall(r"<figcaption.*?</figcaption>", page, re.DOTALL)
    texts = [" ".join(re.sub(r"<[^>]+>", " ", text).split()) for text in found]
    return {title: text for text in texts for title in
            ("Energy error", "Energies", "Momentum", "Angular momentum") if text.startswith(title)}


def test_what_is_judged():
    """run.json names what is kept, and a report judges the components that are; a run that is
    wrong reads so"""
    z = "keep its component along z alone"
    round_off = "Only round-off may change it"
    wrong = "which is an error of the integration"
    shifted = CLUSTER.replace("center = [5.0, 0.0, 3.0]", "center = [5.0, 0.5, 3.0]")
    sphere = CLUSTER[:CLUSTER.index("external")] + """
external = ( { type = "plummer"; mass = 1.0; scale_radius = 1.0; center = [1.0, 0.0, 0.0]; } );
""" + CLUSTER[CLUSTER.index("time ="):]
    down = sphere.replace('{ type = "plummer"; mass = 1.0; scale_radius = 1.0;',
                          '{ type = "uniform"; acceleration = [0.0, 0.0, -1.0];')
    coarse = ("-P", "time.integrator=rk4", "-P", "time.step=0.2", "-P", "diagnostics.0.every=1")
    for name, text, keys, kept, momentum, angular in (
            ("z", CLUSTER, (), ("none", "z"), ["fields change it"], [z, round_off]),
            ("coarse", CLUSTER, coarse, ("none", "z"), ["fields change it"], [z, wrong]),
            ("shifted", shifted, (), ("none", "none"), ["fields change it"], ["fields change it"]),
            ("sphere", sphere, (), ("none", "xyz"), ["fields change it"], [round_off]),
            ("down", down, (), ("xy", "z"), ["along x and y alone", round_off], [z, round_off])):
        go(name, text, "-P", "bodies.count=30", *keys, status=1 if name == "coarse" else 0)
        told = about(name)["external"]
        assert (told["kept_momentum"], told["kept_angular_momentum"]) == kept, (name, told)
        words = captions(name)
        for title, wanted in (("Momentum", momentum), ("Angular momentum", angular)):
            assert all(part in words[title] for part in wanted), (name, words)
            assert (wrong in words[title]) == (wrong in wanted), (name, words)
        assert "In external fields it is the whole energy" in words["Energy error"], words
        assert "Their sum" in words["Energies"] and "centre of mass" not in words["Energies"]
    none = CLUSTER[:CLUSTER.index("external")] + CLUSTER[CLUSTER.index("time ="):]
    go("alone", none, "-P", "bodies.count=30")
    assert "external" not in about("alone")
    assert "fields" not in " ".join(captions("alone").values())


def test_a_bad_run_without_mass():
    """bodies without mass that lose their angular momentum read so; names of axes that no run
    writes are not shown"""
    pathlib.Path("massless.csv").write_text(HEAD + "".join(
        f"{k},0,{k},0,0,0,{0.9 / k},0\n" for k in (1, 2, 3)))
    go("massless", """
name = "massless";
bodies = { initial = "file"; file = "massless.csv"; };
external = ( { type = "miyamoto-nagai"; mass = 2.0; a = 0.5; b = 0.3; } );
time = { integrator = "rk4"; step = 0.4; end = 20.0; };
diagnostics = ( { type = "conservation"; every = 1; } );
""", status=1)
    words = captions("massless")["Angular momentum"]
    assert "It changed by" in words and "which is an error of the integration" in words, words
    share = float(re.search(r"changed by ([\d.]+) ?%", words)[1])
    assert share > 0.1, words
    for hostile in ("<b>bold</b>", "z" * 4000, "zz\n!touch x", "xyzz"):
        path = pathlib.Path("massless/run.json")
        told = json.loads(path.read_text())
        told["external"]["kept_angular_momentum"] = hostile
        path.write_text(json.dumps(told))
        words = captions("massless")["Angular momentum"]
        assert "fields change it" in words and "along" not in words, words


def test_the_same_bytes_however_it_is_run():
    """threads, cadences, restarts; by every kind of integrator, kernel and method"""
    tap.not_sanitized()
    variants = ({}, {"integrator": "hermite4", "step": 0.05}, {"method": "fmm"},
                {"integrator": "gauss-radau"}, {"integrator": "rk4"}, {"kernel": "symmetric"})
    for k, variant in enumerate(tap.first(variants, 3)):
        keys = [word for key, value in variant.items() for word in
                ("-P", f"{'time' if key in ('integrator', 'step') else 'compute'}.{key}={value}")]
        if "hermite4" in keys or "time.step=0.05" in keys:
            keys += ["-P", "checkpoint.every_steps=4", "-P", "outputs.0.every=2"]
        go(f"whole{k}", CLUSTER, *keys)
        go(f"threads{k}", CLUSTER, *keys, "-P", "compute.threads=3", "-P", "diagnostics.0.every=3")
        go(f"half{k}", CLUSTER, *keys, "-P", "time.end=0.4")
        go(f"half{k}", CLUSTER, *keys, "--restart", "-P", "compute.threads=1")
        for other in (f"threads{k}", f"half{k}"):
            assert motion(other) == motion(f"whole{k}"), (variant, other)
    result = tap.run("verify", "half0", "-P", "compute.threads=1")
    assert result.returncode == 0 and "the same bits" in result.stdout, result


def test_backends_and_kernels_agree():
    """positions after 0.1 by the reference and by every kernel, within rounding"""
    short = ("-P", "time.end=0.16", "-P", "compute.threads=1")
    go("serial", CLUSTER, *short, "-P", "compute.backend=serial")
    here = frames("serial", 11)[-1]
    for kernel in ("reference", "plain", "symmetric"):
        go(kernel, CLUSTER, *short, "-P", f"compute.kernel={kernel}")
        there = frames(kernel, 11)[-1]
        assert numpy.abs(there[:, :7] - here[:, :7]).max() < 1e-12, kernel


def test_systems_of_an_ensemble():
    """each as if it were alone, though systems of few bodies else go by lanes"""
    few = ("-P", "bodies.count=12", "-P", "compute.threads=1")
    go("all", CLUSTER, *few, "-P", "ensemble.systems=20")
    go("one", CLUSTER, *few, "-P", "bodies.seed=10")
    rows = pathlib.Path("all/conservation.csv").read_text().split("\n")
    fourth = [row[2:] for row in rows if row.startswith("4,")]
    assert fourth == pathlib.Path("one/conservation.csv").read_text().split("\n")[1:-1]


def test_another_field_is_refused_at_a_restart():
    go("run", CLUSTER, "-P", "time.end=0.4")
    for change in ("external.0.mass=4.5", "external.1.center=[5.0,0.0,3.5]"):
        result = go("run", CLUSTER, "--restart", "-P", change, status=78)
        key = change.split("=")[0]
        assert key in result.stderr, result.stderr
    none = CLUSTER[:CLUSTER.index("external")] + CLUSTER[CLUSTER.index("time ="):]
    go("none", none, "-P", "time.end=0.4")
    assert "external" in go("none", CLUSTER, "--restart", status=78).stderr
    fewer = CLUSTER.replace(CLUSTER[CLUSTER.index(",\n  { type = \"log"):CLUSTER.index("\n);")], "")
    result = go("run", fewer, "--restart", status=78)
    assert "external" in result.stderr, result.stderr


def test_test_bodies_alone():
    """bodies without mass move in a field by themselves; their energy is watched"""
    rows = []
    for k in range(20):
        body, omega = on_circle("plummer")
        angle = 0.3 * k
        x, y = RADIUS * math.cos(angle), RADIUS * math.sin(angle)
        rows.append([0.0, CENTER[0] + x, CENTER[1] + y, CENTER[2],
                     -0.9 * omega * y, 0.9 * omega * x, 0.1])
    write_bodies(rows)
    # hermite4 is of 4th order, and its errors add up
    for integrator, most in (("gauss-radau", 1e-13), ("hermite4", 1e-9), ("yoshida6", 1e-12)):
        go("test", config(field("plummer"), integrator=integrator, end=5.0), "--force")
        found = columns("test/conservation.csv")
        assert 0 < found["test_energy_error"][-1] < most, (integrator, found["test_energy_error"])
        # Sums over bodies that have no mass count each as of mass 1.
        d = numpy.array(rows)[:, 1:4] - CENTER
        phi = -2 / numpy.sqrt((d**2).sum(axis=1) + 0.36)
        v2 = (numpy.array(rows)[:, 4:]**2).sum(axis=1)
        assert abs(found["kinetic"][0] / (0.5 * v2.sum()) - 1) < 1e-14
        assert abs(found["potential"][0] / phi.sum() - 1) < 1e-14
        assert abs(found["energy_error"][-1]) < most, (integrator, found["energy_error"])
    shown = tap.run("check", "run.cfg")
    assert shown.returncode == 0, shown
    refused = tap.run("check", "run.cfg", "-P", "trust.shadow=true")
    assert refused.returncode == 78, refused
    assert "trust.shadow=true: measures by the extent of the masses" in refused.stderr, refused


def test_a_step_too_long_for_a_field():
    """fails by the energy, with mass and without; no pair of bodies is blamed"""
    for mass in (1.0, 0.0):
        write_bodies([[mass, 1.0, 0.0, 0.0, 0.0, 0.1, 0.0]])
        text = config('{ type = "point-mass"; mass = 1.0; }', integrator="velocity-verlet",
                      step=0.05, end=6.0)
        pathlib.Path("run.cfg").write_text(text)
        result = tap.run("run", "run.cfg", "-o", "long", "--force")
        said = " ".join((result.stdout + result.stderr).split())
        assert result.returncode == 1 and "verdict failed" in said, said
        assert "the energy jumped by" in said, said
        assert "fastest pair: none, for no two bodies attract each other" in said, said
        assert "; no two bodies attract each other; the energy is off" in said, said
        assert "nan" not in said, said


def test_what_goes_with_fields():
    """a chosen step, shadows, the budget of the energy, a sweep over a key of a field"""
    asked = CLUSTER.replace('integrator = "yoshida6"; step = 0.01;', "energy_error = 1e-7;")
    asked = asked.replace("every = 4", "every = 50").replace("every = 8", "every = 100")
    asked = asked.replace("every_steps = 25;", "")
    go("asked", asked, "-P", "bodies.count=30")
    rows = columns("asked/conservation.csv")
    assert abs(rows["relative_energy_error"]).max() < 1e-7
    go("measured", CLUSTER + "trust = { shadow = true; };\nenergy_budget = { measure = true; "
       "every = 20; };\n", "-P", "bodies.count=30")
    change, parts, error = budget_sums("measured")
    assert abs(change - error) < 1e-12 and abs(parts - change) < 1e-12, (change, parts, error)
    go("sweep", CLUSTER + 'sweep = ( { key = "external.0.mass"; values = [1.0, 2.0]; } );\n',
       "-P", "bodies.count=10")
    assert len(pathlib.Path("sweep/study.csv").read_text().splitlines()) == 3


def test_what_is_refused():
    """with its place, before anything is written"""
    write_bodies([[1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
    good = '{ type = "plummer"; mass = 1.0; scale_radius = 0.5; }'
    for fields, arguments, words in (
            ('{ type = "plummer"; scale_radius = 0.5; }', (),
             "run.cfg:4: external.0.mass: must be given"),
            ('{ type = "plummer"; mass = 1.0; scale_radius = -0.5; }', (),
             "run.cfg:4: external.0.scale_radius = -0.5: must be greater than 0"),
            ('{ type = "plummr"; mass = 1.0; }', (), "did you mean plummer?"),
            ('{ type = "point-mass"; mass = 1.0; scale_radius = 1.0; }', (),
             "external.0.scale_radius"),
            ('{ type = "harmonic"; frequencies = [1.0, 2.0]; }', (), "external.0.frequencies"),
            ('{ type = "harmonic"; frequencies = [1.0, -2.0, 1.0]; }', (),
             "external.0.frequencies"),
            ('{ type = "point-mass"; mass = 1.0; center = [1.0, 0.0, 0.0]; }', (),
             "body 1 is at (1, 0, 0), where an external field is infinite"),
            (good, ("-P", "physics.boundary=periodic", "-P", "physics.box_length=9"),
             "run.cfg:4: external.0: a periodic box has no place for fields"),
            (good, ("-P", "bodies.virial_ratio=1"), "bodies.virial_ratio=1: counts the attraction"),
    ):
        for command in ("check", "run"):
            text = config(fields)
            pathlib.Path("run.cfg").write_text(text)
            rest = () if command == "check" else ("-o", "bad")
            result = tap.run(command, "run.cfg", *arguments, *rest)
            status = 65 if "infinite" in words else 78
            assert result.returncode == status and words in result.stderr, (fields, result)
            assert not pathlib.Path("bad").exists()
    for kind, words in (("escapers", "is for a cluster alone"),
                        ("orbit", "compares with two bodies alone")):
        text = config(good, rest=f'diagnostics = ( {{ type = "{kind}"; every = 10; }} );')
        pathlib.Path("run.cfg").write_text(text)
        result = tap.run("check", "run.cfg")
        assert result.returncode == 78 and words in result.stderr, result
        assert "diagnostics.0.type" in result.stderr, result


tap.main()
