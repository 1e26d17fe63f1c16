"""A galaxy of disc, bulge and halo: each has its density, and moves as the field of all asks."""

import functools
import math
import pathlib

import starts
import tap
from cusps import Sphere, running, softened
from discs import END, enclosed, vertical
from rows import columns
from starts import FAR, distance

np = tap.need("numpy")

start = functools.partial(starts.start, physics="softening = 0.01;")
DISC = 'initial = "galaxy"; center = false; disc_count = {}; disc_mass = 2.0; ' \
    "disc_scale_length = 1.5; disc_scale_height = 0.3; "
BULGE = "bulge_count = {}; bulge_mass = 0.6; bulge_scale_radius = 0.3; "
HALO = "halo_count = {}; halo_mass = 20.0; halo_scale_radius = 5.0; halo_cutoff_radius = 40.0; "


@functools.lru_cache(maxsize=None)
def sphere(outer, cutoff):
    return Sphere(1.0, outer, cutoff)


def mass_of_bulge(r):
    return 0.6 * sphere(4, 10).at("mass", np.asarray(r) / 0.3)


def mass_of_halo(r, outer=4):
    return 20 * sphere(outer, 8).at("mass", np.asarray(r) / 5)


def disc_within(r):
    """The mass of the disc within spheres: over cylinders, what of each is between -h and h."""
    R = np.linspace(0, END, 4001)[1:] * 1.5
    surface = np.exp(-R / 1.5) * R
    surface /= surface.sum()
    h = np.sqrt(np.maximum(np.asarray(r)[:, None]**2 - R**2, 0))
    return 2 * np.tanh(h / 0.3) @ surface


def parts(counts, keys, **rest):
    m, x, v = start(keys, **rest)
    assert len(m) == sum(counts)
    ends = np.cumsum(counts)
    return [(m[a:b], x[a:b], v[a:b]) for a, b in zip([0, *ends], ends)]


def test_densities():
    """radii of each part follow its mass within r, the heights of the disc sech^2, and each has the
    mass that it is given; the halo by both profiles"""
    for profile, outer in (("hernquist", 4), ("nfw", 3)):
        keys = (DISC + BULGE + HALO).format(3000, 2000, 4000) + f'halo_profile = "{profile}";'
        (m, x, _), (mb, xb, _), (mh, xh, _) = parts((3000, 2000, 4000), keys)
        assert np.allclose(m, 2 / 3000) and np.allclose(mb, 0.6 / 2000)
        assert np.allclose(mh, 20 / 4000)
        R = np.hypot(x[:, 0], x[:, 1]) / 1.5
        assert distance(enclosed(R) / enclosed(END)) < FAR
        assert distance((1 + np.tanh(x[:, 2] / 0.3)) / 2) < FAR
        for position, mass in ((xb, lambda r: mass_of_bulge(r) / 0.6),
                               (xh, lambda r: mass_of_halo(r, outer) / 20)):
            assert distance(mass(np.linalg.norm(position, axis=1))) < FAR, profile
            assert distance((1 + position[:, 2] / np.linalg.norm(position, axis=1)) / 2) < FAR


def test_speeds_of_the_spheres():
    """<v^2> of bulge and halo in five shells by Jeans's equation, in the field of all three parts;
    four standard errors, and a hundredth, since the disc counts as a sphere that is nearly its own.
    In its own field alone the bulge would be slower by half"""
    counts = (1000, 20000, 20000)
    _, *found = parts(counts, (DISC + BULGE + HALO).format(*counts))
    r = np.geomspace(1e-3, 400, 1501)
    disc = disc_within(r)
    whole = mass_of_bulge(r) + mass_of_halo(r) + disc
    for (_, x, v), own, scale in zip(found, (mass_of_bulge(r), mass_of_halo(r)), (0.3, 5)):
        # rho r^2 dr = dM / 4 pi, so that the integral of rho M / r^2 is over dM M / r^4
        density = np.gradient(own, r) / r**2
        def dispersion(field):
            inwards = (density * field / r**2)[::-1]
            return 3 * np.maximum(-running(inwards, r[::-1])[::-1], 0) / np.maximum(density, 1e-300)
        radius, v2 = np.linalg.norm(x, axis=1), (v**2).sum(axis=1)
        for low, high in ((0.2, 0.4), (0.4, 0.8), (0.8, 1.5), (1.5, 3), (3, 6)):
            inside = (radius > low * scale) & (radius < high * scale)
            n, wanted = inside.sum(), np.interp(radius[inside], r, dispersion(whole)).mean()
            off = v2[inside].mean() / wanted - 1
            assert n > 500 and abs(off) < 4 * math.sqrt(2 / 3 / n) + 0.01, (scale, low, n, off)
            if scale < 1:
                alone = np.interp(radius[inside], r, dispersion(own)).mean()
                assert alone < 0.75 * wanted, (low, alone / wanted)


def test_speeds_in_a_softened_field():
    """<v^2> of the bulge by Jeans's equation, where softening takes much of the attraction"""
    tap.thorough()
    counts, eps = (1, 20000, 1), 0.1
    keys = (DISC + BULGE + HALO).format(*counts)
    (_, x, v) = parts(counts, keys, physics=f"softening = {eps};")[1]
    r = np.geomspace(1e-3, 400, 1501)
    own, disc = mass_of_bulge(r), disc_within(r)
    density = np.gradient(own, r) / r**2
    radius, v2 = np.linalg.norm(x, axis=1), (v**2).sum(axis=1)
    for field, right in ((softened(r, own + mass_of_halo(r) + disc, eps), True),
                         (own + mass_of_halo(r) + disc, False)):
        inwards = (density * field / r**2)[::-1]
        wanted = 3 * np.maximum(-running(inwards, r[::-1])[::-1], 0) / np.maximum(density, 1e-300)
        for low, high in ((0.02, 0.05), (0.05, 0.1), (0.1, 0.2), (0.2, 0.4), (0.4, 0.8)):
            inside = (radius > low) & (radius < high)
            n, near = inside.sum(), np.interp(radius[inside], r, wanted).mean()
            off = v2[inside].mean() / near - 1
            # four standard errors, and a hundredth, since the disc counts as a sphere
            if right or high <= eps:
                assert (abs(off) < 4 * math.sqrt(2 / 3 / n) + 0.01) == right, (right, low, off)


def test_the_disc_in_the_field_of_the_spheres():
    """with the same seed the disc has the same places with spheres as without: the square of its
    circular speed is larger by R times their softened attraction, and that of its vertical
    dispersion by the mean of z times that; alone it is the start disc to the bit"""
    eps = 0.1
    start = functools.partial(starts.start, physics=f"softening = {eps};")
    bare = DISC.format(500) + "toomre_q = 1e-5;"
    full = (DISC + BULGE + HALO).format(500, 1, 1) + "toomre_q = 1e-5;"
    m, x, v = start(bare)
    as_disc = start('initial = "disc"; center = false; count = 500; mass = 2.0; scale_length = 1.5;'
                    " scale_height = 0.3; toomre_q = 1e-5;")
    assert all(np.array_equal(a, b) for a, b in zip((m, x, v), as_disc))
    (_, y, w), *_ = parts((500, 1, 1), full, physics=f"softening = {eps};")
    assert np.array_equal(x, y)
    R = np.hypot(x[:, 0], x[:, 1])
    inside = R > 0.1
    turn = [(x[:, 0] * u[:, 1] - x[:, 1] * u[:, 0]) / R for u in (v, w)]
    at = np.geomspace(1e-3, 400, 1501)
    pulling = softened(at, mass_of_bulge(at) + mass_of_halo(at), eps)
    mass = np.interp(R, at, pulling)
    gain = (turn[1]**2 - turn[0]**2) * R / mass
    # linear between 256 radii, and of the disc's own v_c^2 at 1e-3
    assert abs(gain[inside] - 1).max() < 5e-3, abs(gain[inside] - 1).max()
    u = (np.arange(4000) + 0.5) / 4000
    z = 0.3 * np.arctanh(u)
    r = np.hypot(R[:, None], z)
    deep = (z**2 * np.interp(r, at, pulling) / r**3).mean(axis=1)
    few = np.flatnonzero(inside)[::25]
    own = 2 / 1.5 / enclosed(END) * vertical(R[few] / 1.5, 0.2, eps / 1.5)
    found, wanted = (w[few, 2] / v[few, 2])**2, 1 + deep[few] / own
    # linear between 256 radii; a mean of 4000 layers leaves out the last of them
    assert abs(found / wanted - 1).max() < 5e-3, abs(found / wanted - 1).max()


def test_the_virial_ratio():
    """2K/|W| of the whole is 1, within what a sample of a few thousand bodies scatters: 1.5 %"""
    counts = (3000, 1000, 4000)
    pathlib.Path("virial.cfg").write_text(f"""
bodies = {{ {(DISC + BULGE + HALO).format(*counts)} }};
physics = {{ softening = 0.001; }};
time = {{ step = 1e-9; end = 1e-9; }};
diagnostics = ( {{ type = "conservation"; every = 1; }} );
""")
    done = tap.run("run", "virial.cfg", "-q", "-o", "virial")
    assert done.returncode == 0, done.stderr
    ratio = columns("virial/conservation.csv")["virial_ratio"][0]
    assert abs(ratio - 1) < 0.015, ratio


def species(keys):
    """Of each body at the start; all columns of the trajectory are there."""
    pathlib.Path("species.cfg").write_text(f"""
bodies = {{ {keys} }};
physics = {{ softening = 0.01; }};
time = {{ step = 1e-9; end = 1e-9; }};
outputs = ( {{ type = "xyz"; }} );
""")
    done = tap.run("run", "species.cfg", "-q", "-o", "species", "--force")
    assert done.returncode == 0, done.stderr
    lines = pathlib.Path("species/trajectory.xyz").read_text().splitlines()
    return [line.split()[0] for line in lines[2:2 + int(lines[0])]]


def test_species():
    """bodies are named by their parts, also in an encounter, and only by those that there are"""
    every = (DISC + BULGE + HALO).format(3, 2, 4)
    assert species(every) == ["disc"] * 3 + ["bulge"] * 2 + ["halo"] * 4
    assert species((DISC + HALO).format(3, 4)) == ["disc"] * 3 + ["halo"] * 4
    model = "{ " + every + "disc_inclination = 90.0; }"
    two = 'initial = "encounter"; pericenter = 1; separation = 30; };\n' \
        f"models = ( {model}, {model} );\nensemble = {{"
    assert species(two) == [f"{who}-{part}" for who in "AB" for part, n in
                            (("disc", 3), ("bulge", 2), ("halo", 4)) for _ in range(n)]
    m, x, v = start(two)
    assert np.allclose(m @ x, 0, atol=1e-10) and np.allclose(m @ v, 0, atol=1e-10)


def test_the_same_bytes():
    """on any number of threads; seeds by systems"""
    keys = (DISC + BULGE + HALO).format(20, 10, 30) + "seed = {};"
    one, more = (start(keys.format(5), compute=f"threads = {n};") for n in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(one, more))
    _, x, _ = start(keys.format(4) + " };\nensemble = { systems = 2;")
    assert np.array_equal(x[60:], one[1]) and not np.array_equal(x[:60], one[1])


def test_it_stays_as_it_is():
    """half-mass radii of disc and halo stay within 3 % and the thickness within 12 % for a time of
    5, most of a rotation at two scale lengths; few bodies and a short time, since the bodies of the
    halo, which are heavier here, heat the disc"""
    counts = (1500, 400, 4000)
    keys = (DISC + BULGE + HALO).format(*counts).replace("center = false;", "")
    pathlib.Path("stays.cfg").write_text(f"""
bodies = {{ {keys} }};
physics = {{ softening = 0.05; }};
time = {{ step = 0.05; end = 5.0; }};
outputs = ( {{ type = "xyz"; every = 50; }} );
""")
    done = tap.run("run", "stays.cfg", "-q", "-o", "stays", timeout=300)
    assert done.returncode == 0, done.stderr
    lines = pathlib.Path("stays/trajectory.xyz").read_text().splitlines()
    rows = np.array([line.split()[1:4] for line in lines if line.split()[0] in
                     ("disc", "bulge", "halo")], dtype=float).reshape(-1, sum(counts), 3)
    assert len(rows) == 3
    rows -= np.median(rows, axis=1)[:, None]
    disc = rows[:, :counts[0]]
    half = np.median(np.hypot(disc[..., 0], disc[..., 1]), axis=1)
    height = np.sqrt(np.mean(disc[..., 2]**2, axis=1))
    halo = np.median(np.linalg.norm(rows[:, sum(counts[:2]):], axis=2), axis=1)
    assert np.all(np.abs(half / half[0] - 1) < 0.03), half
    assert np.all(np.abs(height / height[0] - 1) < 0.12), height
    assert np.all(np.abs(halo / halo[0] - 1) < 0.03), halo


def test_what_cannot_be():
    """each thing that cannot be is named with its place, its key and its mend"""
    disc = DISC.format(9)
    for keys, text in (
            ("toomre_q = 0.0;", "bodies.toomre_q = 0.0: must be greater than 0"),
            ("disc_cutoff_radius = 70.0;", "bodies.disc_cutoff_radius = 70.0: is 46.6667 times "
             "disc_scale_length; must be from 4 to 30 times"),
            (BULGE.format(5).replace("bulge_mass = 0.6;", ""),
             "bodies.bulge_mass: must be given, since bulge_count is greater than 0"),
            (BULGE.format(5).replace("bulge_scale_radius = 0.3;", ""),
             "bodies.bulge_scale_radius: must be given, since bulge_count is greater than 0"),
            (BULGE.format(0).replace("bulge_scale_radius = 0.3;", ""),
             "bodies.bulge_mass = 0.6: applies only if bulge_count is greater than 0"),
            (HALO.format(5).replace("halo_cutoff_radius = 40.0;", ""),
             "bodies.halo_cutoff_radius: must be given, since a halo without a cut-off has no "
             "edge; ten times halo_scale_radius is usual"),
            (HALO.format(5).replace("40.0", "0.04"), "bodies.halo_cutoff_radius = 0.04: is 0.008 "
             "times halo_scale_radius; must be from 0.01 to 1e+06 times"),
            (BULGE.format(5).replace("0.3;", "9e-4;"), "bodies.bulge_scale_radius = 0.0009: must "
             "be at least 0.001, a tenth of physics.softening = 0.01, which would leave nothing"),
            ('halo_profile = "nfw";',
             'bodies.halo_profile = "nfw": applies only if halo_count is greater than 0'),
            ('}; external = ( { type = "plummer"; mass = 1.0; scale_radius = 1.0; } ); '
             "ensemble = {", "bodies: a galaxy is in equilibrium only in its own field, without "
             "external fields; a disc can be in them")):
        errors = start(disc + keys, status=78)
        assert "run.cfg:2: " + text in errors, (keys, errors)
        assert errors.count("\n") == 1, errors
    errors = start(disc.replace("disc_scale_height = 0.3", "disc_scale_height = 0.8"), status=78)
    assert "bodies.disc_scale_height = 0.8: is 0.533333 times disc_scale_length; must be at " \
        "most 0.5 times, since the velocities are those of a thin disc" in errors, errors


tap.main()
