"""Spheres with a cusp: dehnen, hernquist, jaffe and nfw against their authors' formulas and against
Jeans's equation, which knows nothing of a distribution function."""

import functools
import math

import starts
import tap
from cusps import Sphere, hernquist, jaffe, running, softened, speeds
from starts import FAR, distance

np = tap.need("numpy")

start = functools.partial(starts.start, physics="softening = 0.001;")
COUNT = 4000


def test_the_published_distribution_functions():
    """radii follow M(<r), and speeds at every radius f(E), of Hernquist 1990 and Jaffe 1983, in the
    units that mass and scale_radius make"""
    for name, mass, psi, f in tap.first((
            ("hernquist", lambda r: (r / (1 + r)) ** 2, lambda r: 1 / (1 + r), hernquist),
            ("jaffe", lambda r: r / (1 + r), lambda r: np.log1p(1 / r), jaffe)), 1):
        m, x, v = start(f'initial = "{name}"; count = {COUNT}; mass = 3.0; scale_radius = 2.0;')
        assert np.allclose(m, 3 / COUNT, rtol=1e-14)
        radius = np.linalg.norm(x, axis=1) / 2
        speed = np.linalg.norm(v, axis=1) / math.sqrt(3 / 2)
        assert distance(mass(radius)) < FAR, name
        assert np.all(speed < np.sqrt(2 * psi(radius)))
        assert distance(speeds(radius, speed, psi, f)) < FAR, name
        for u in (x[:, 2] / np.linalg.norm(x, axis=1), v[:, 0] / np.linalg.norm(v, axis=1),
                  np.sum(x * v, axis=1) / (4 * radius * speed * math.sqrt(3 / 8))):
            assert distance((1 + np.clip(u, -1, 1)) / 2) < FAR, name


MODELS = [
    ('initial = "dehnen"; inner_slope = 0.0;', 0, 4, None),
    ('initial = "dehnen"; inner_slope = 1.5;', 1.5, 4, None),
    ('initial = "dehnen"; inner_slope = 2.25;', 2.25, 4, None),
    ('initial = "nfw"; cutoff_radius = 10.0;', 1, 3, 10),
    ('initial = "hernquist"; cutoff_radius = 3.0;', 1, 4, 3),
    ('initial = "dehnen"; inner_slope = 0.5; cutoff_radius = 0.01;', 0.5, 4, 0.01),
    ('initial = "nfw"; cutoff_radius = 1e6;', 1, 3, 1e6),
]


def test_masses_and_moments():
    """radii follow the mass within r, and <v²> and <v⁴> in five shells Jeans's equation, for any
    slope and cut-off"""
    for keys, inner, outer, cutoff in tap.first(MODELS, 5):
        sphere = Sphere(inner, outer, cutoff)
        m, x, v = start(keys + f" count = {COUNT};")
        radius = np.linalg.norm(x, axis=1)
        assert distance(sphere.at("mass", radius)) < FAR, keys
        order = np.argsort(radius)
        for name, power in (("second", 2), ("fourth", 4)):
            moment = np.mean(v ** power, axis=1) / sphere.at(name, radius)
            for shell in np.array_split(order, 5):
                error = np.std(moment[shell]) / math.sqrt(len(shell))
                assert abs(np.mean(moment[shell]) - 1) < 4 * error < 0.4, (keys, name)


def test_softened_attraction():
    """<v²> in five shells by Jeans's equation in the softened attraction, for any slope, and for a
    softening that is no part of the scale radius as well as for a small one; in the attraction
    without softening bodies near the centre would be faster"""
    for keys, slope, eps in tap.first((('"jaffe"', 2, 0.125), ('"hernquist"', 1, 0.125),
                                       ('"dehnen"; inner_slope = 2.4', 2.4, 0.125),
                                       ('"dehnen"; inner_slope = 0.0', 0, 1.0),
                                       ('"dehnen"; inner_slope = 2.25', 2.25, 0.01)), 3):
        _, x, v = start(f"initial = {keys}; count = {COUNT};", physics=f"softening = {eps};")
        r = np.geomspace(1e-5, 1e8, 2001)
        mass, density = (r / (1 + r))**(3 - slope), r**-slope * (1 + r)**(slope - 4)
        radius = np.linalg.norm(x, axis=1)
        assert distance((radius / (1 + radius))**(3 - slope)) < FAR, keys
        for field, right in ((softened(r, mass, eps), True), (mass, False)):
            inwards = (density * field / r**2)[::-1]
            wanted = np.maximum(-running(inwards, r[::-1])[::-1], 0) / density
            ratio = np.mean(v**2, axis=1) / np.interp(radius, r, wanted)
            for number, shell in enumerate(np.array_split(np.argsort(radius), 5)):
                # four standard errors, and a hundredth for the sums over shells
                near = abs(np.mean(ratio[shell]) - 1) < \
                    4 * np.std(ratio[shell]) / math.sqrt(len(shell)) + 0.01
                assert near == right or not right and number > 0, (keys, number, right)


def test_energies():
    """E is that of the model, -G M² / (4 (5 - 2 gamma) a), where the sample is rescaled to it, and
    else within its noise; and so is that of a model with a cut-off"""
    for keys, energy in (('initial = "hernquist";', -1 / 12), ('initial = "jaffe";', -1 / 4),
                         ('initial = "dehnen"; inner_slope = 0.0;', -1 / 20),
                         ('initial = "nfw"; cutoff_radius = 10.0;', Sphere(1, 3, 10).energy)):
        for rescale in ("pairs", "none"):
            m, x, v = start(keys + f' count = 1000; rescale = "{rescale}";',
                            physics="softening = 0.0;")
            kinetic, potential = 0.5 * np.sum(v ** 2, axis=1), np.zeros(len(m))
            for i in range(len(m)):
                d = np.linalg.norm(x - x[i], axis=1)
                d[i] = math.inf
                potential[i] = -np.sum(m / d)
            total = np.sum(m * (kinetic + 0.5 * potential))
            noise = np.std(kinetic + potential) / math.sqrt(len(m))
            assert noise < 0.2 * abs(energy), noise
            tolerance = 1e-5 * abs(energy) if rescale == "pairs" else 5 * noise
            assert abs(total - energy) < tolerance, (keys, rescale, total, energy, noise)


def test_cases_of_one():
    """hernquist and jaffe are dehnen with their slopes, to the bit, on one thread and on more, and
    with star masses as clusters have them"""
    keys = ' count = 200; masses = "kroupa"; binary_fraction = 0.2; binary_axes = [1e-5, 1e-4];'
    plain = start('initial = "jaffe"; count = 200;')
    same = start('initial = "jaffe"; count = 200; rescale = "none"; center = false;')
    assert all(np.array_equal(a, b) for a, b in zip(plain, same))
    for name, slope in (("hernquist", 1.0), ("jaffe", 2.0)):
        one = start(f'initial = "{name}";' + keys, compute="threads = 1;")
        other = start(f'initial = "dehnen"; inner_slope = {slope};' + keys, compute="threads = 3;")
        assert all(np.array_equal(a, b) for a, b in zip(one, other)), name
        assert abs(np.sum(one[0]) - 1) < 1e-13


def test_the_centre():
    """with a cut-off the centre of mass may be moved to the origin"""
    m, x, v = start('initial = "nfw"; cutoff_radius = 5.0; count = 500; center = true;')
    assert np.all(np.abs(m @ x) < 1e-14) and np.all(np.abs(m @ v) < 1e-14)


def test_what_cannot_be():
    """each thing that cannot be is named with its place, its key and its mend"""
    for keys, text in (
            ('initial = "nfw";', "run.cfg:2: bodies.cutoff_radius: must be given, since the mass "
             "of the endless sphere is infinite; ten times scale_radius is near the edge"),
            ('initial = "dehnen";', "run.cfg:2: bodies.inner_slope: must be given: "),
            ('initial = "dehnen"; inner_slope = 2.5;', "at least 0 and less than 2.5"),
            ('initial = "dehnen"; inner_slope = -0.1;', "at least 0 and less than 2.5"),
            ('initial = "hernquist"; inner_slope = 1.0;', "it belongs to dehnen"),
            ('initial = "hernquist"; cutoff_radius = 1e-3; scale_radius = 2.0;',
             "bodies.cutoff_radius = 0.001: is 0.0005 times scale_radius; must be from 0.01 to"),
            ('initial = "nfw"; cutoff_radius = 1.1e6;', "must be from 0.01 to 1e+06 times"),
            ('initial = "jaffe"; scale_radius = 1e-200; cutoff_radius = 1e200;', "is inf times"),
            ('initial = "jaffe"; center = true;', "run.cfg:2: bodies.center = true: without "
             "cutoff_radius a few bodies far away decide where the centre of mass is"),
            ('initial = "hernquist"; heavy_ratio = 3.0;', 'applies only to masses = "two-'),
            ('initial = "jaffe"; scale_radius = 9e-5;', "run.cfg:2: bodies.scale_radius = 9e-05: "
             "must be at least 0.0001, a tenth of physics.softening = 0.001"),
            ('initial = "halo";', "the nearest here is nfw: a halo of dark matter")):
        errors = start(keys + " count = 9;", status=78)
        assert text in errors, (keys, errors)
        assert errors.count("\n") == 1, errors


tap.main()
