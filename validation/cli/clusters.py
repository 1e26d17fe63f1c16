"""King models, masses of stars, primordial binaries and orbits by their elements, against laws
that are worked out here once more."""

import math
import pathlib
import re

import tap
from cusps import speeds
from starts import FAR, distance, start

np = tap.need("numpy")


def potential_energy(m, x):
    """By all pairs, G = 1."""
    total = 0.0
    for i in range(len(m) - 1):
        total -= m[i] * np.sum(m[i + 1:] / np.linalg.norm(x[i + 1:] - x[i], axis=1))
    return total


def king(w0):
    """Radii, depth and cumulative mass of a King model in units of r_0 and sigma, by Runge and
    Kutta's fourth order with small steps: rho = exp(W) erf(sqrt W) - sqrt(4 W/pi) (1 + 2 W/3)."""
    def density(w):
        w = max(w, 0.0)
        root = math.sqrt(w)
        return math.exp(w) * math.erf(root) - 2 * root / math.sqrt(math.pi) * (1 + 2 * w / 3)

    def slope(r, y):
        return np.array([-y[1] / r ** 2, 9 * r ** 2 * density(y[0]) / density(w0)])

    r, y = 1e-4, np.array([w0 - 1.5e-8, 3e-12])
    table = [(r, *y)]
    while y[0] > 1e-4 * w0:
        h = min(0.02 * r, 0.03 * y[0] * r ** 2 / y[1])
        k1 = slope(r, y)
        k2 = slope(r + h / 2, y + h / 2 * k1)
        k3 = slope(r + h / 2, y + h / 2 * k2)
        k4 = slope(r + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        r += h
        table.append((r, *y))
    table.append((r + y[0] * r ** 2 / y[1], 0.0, y[1]))
    return np.array(table).T


# log10 of the tidal radius over the King radius: King 1966, AJ 71, 64, as tabulated in Binney &
# Tremaine 2008, figure 4.9, to the digits that are read from there.
CONCENTRATIONS = {3: 0.672, 5: 1.029, 7: 1.528, 9: 2.120}


def test_king():
    """King models: King's concentrations and density, isotropic speeds below escape, E = -1/4"""
    for w0, concentration in tap.first(list(CONCENTRATIONS.items()), 2):
        r, depth, mass = king(w0)
        assert abs(math.log10(r[-1]) - concentration) < 0.003, (w0, math.log10(r[-1]))
        energy = np.sum(0.5 * (mass[1:] / r[1:] + mass[:-1] / r[:-1]) * np.diff(mass))
        unit = 2 * energy / mass[-1] ** 2  # r_0 in virial radii
        speed = math.sqrt(1 / (mass[-1] * unit))  # sigma for G = M = r_v = 1
        n = 4000
        bodies = f'initial = "king"; count = {n}; w0 = {w0}.0; center = false;'
        m, x, v = start(bodies + ' rescale = "none";')
        radius = np.linalg.norm(x, axis=1)
        assert distance(np.interp(radius / unit, r, mass / mass[-1])) < FAR, w0
        assert radius.max() <= r[-1] * unit * (1 + 1e-6)
        v2 = np.sum(v ** 2, axis=1) / speed ** 2
        assert np.all(v2 < 2 * np.interp(radius / unit, r, depth) + 1e-3)
        # King's f(E) = exp E - 1, energies from the edge down in sigma^2.
        assert distance(speeds(radius / unit, np.sqrt(v2),
                               lambda radii: np.maximum(np.interp(radii, r, depth), 1e-9),
                               np.expm1)) < FAR, w0
        # 2K of N bodies, |U| = 1/2: their spread is below 1/sqrt(N) of it.
        kinetic = np.sum(m * np.sum(v ** 2, axis=1)) / 2
        assert abs(kinetic / 0.25 - 1) < 5 / math.sqrt(n), (w0, kinetic)
        assert abs(np.mean(v[:, 0] ** 2) / np.mean(v[:, 2] ** 2) - 1) < 5 * math.sqrt(4 / n)
        m, x, v = start(bodies)
        total = np.sum(m * np.sum(v ** 2, axis=1)) / 2 + potential_energy(m, x)
        assert abs(total + 0.25) < 1e-12, (w0, total)


def in_any_direction(vectors):
    """Are the directions uniform on the sphere? By Archimedes each component is uniform."""
    units = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    return all(distance((1 + units[:, k]) / 2) < FAR for k in range(3))


def test_plummer_spheres_and_cubes():
    """radii, speeds, directions and masses of the other starts follow their laws"""
    n = 4000
    _, x, v = start(f'initial = "plummer"; count = {n}; mass = 3.0; scale_radius = 2.0; '
                    'cutoff = 1.0; rescale = "none"; center = false;')
    radius = np.linalg.norm(x, axis=1) / 2
    speed = np.linalg.norm(v, axis=1) / math.sqrt(3 / 2)
    # Plummer 1911: M(<r) = M (1 + a^2/r^2)^(-3/2), f(E) ~ E^(7/2).
    assert distance((1 + radius ** -2.0) ** -1.5) < FAR
    assert distance(speeds(radius, speed, lambda r: (1 + r * r) ** -0.5, lambda e: e ** 3.5)) < FAR
    assert in_any_direction(x) and in_any_direction(v)
    # M(<r_c) is the largest mass that a body encloses: the outermost ones are at r_c. Some of 4000
    # are beyond 0.998 r_c, since there are 7 on average.
    _, x, _ = start(f'initial = "plummer"; count = {n}; scale_radius = 2.0; cutoff_radius = 3.0; '
                    'rescale = "none"; center = false;')
    farthest = np.linalg.norm(x, axis=1).max()
    assert 0.998 * 3 < farthest <= 3 * (1 + 1e-12), farthest
    _, x, v = start(f'initial = "cold-sphere"; count = {n}; radius = 2.0; center = false;')
    assert distance((np.linalg.norm(x, axis=1) / 2) ** 3) < FAR and in_any_direction(x)
    assert not v.any()
    m, x, v = start(f'initial = "uniform-cube"; count = {n}; half_side = 2.0; velocity = 3.0; '
                    'masses = "random"; mass_range = [0.5, 2.0]; center = false;')
    assert distance((m - 0.5) / 1.5) < FAR
    for k in range(3):
        assert distance((x[:, k] + 2) / 4) < FAR and distance((v[:, k] + 3) / 6) < FAR, k


def test_the_concentrations_of_the_manual():
    """the tidal radii that the manual gives over King's radius are the model's, to all digits"""
    manual = pathlib.Path(tap.SOURCE, "docs/manual/initial-conditions.md").read_text()
    stated = re.search(r"over King's radius is ((?:[\d.]+ for \d+,? ?)+)", manual).group(1)
    said = re.findall(r"([\d.]+) for (\d+)", stated)
    assert len(said) >= 4, stated
    for text, w0 in said:
        concentration = king(float(w0))[0][-1]
        digits = len(text.partition(".")[2])
        # The tables of king() were seen to be right to 1e-5 of an integration with 1e-11.
        assert abs(concentration - float(text)) < 0.5 * 10 ** -digits + 1e-5 * concentration, \
            (w0, text, concentration)


def kroupa(m):
    return np.where(m < 0.5, m ** -1.3, 0.5 * m ** -2.3)


def cumulative(density, low, high):
    grid = np.geomspace(low, high, 20001)
    middle = 0.5 * (density(grid[1:]) * grid[1:] + density(grid[:-1]) * grid[:-1])
    total = np.concatenate([[0], np.cumsum(middle * np.diff(np.log(grid)))])
    return lambda m: np.interp(m, grid, total / total[-1])


def test_masses_of_stars():
    """masses follow Salpeter's and Kroupa's laws; in solar masses they are not rescaled"""
    low, high = 0.1, 50.0
    for law, density in (("salpeter", lambda m: m ** -2.35), ("kroupa", kroupa)):
        keys = f'initial = "plummer"; count = 3000; masses = "{law}"; ' \
               f'star_masses = [{low}, {high}];'
        m, x, _ = start(keys + ' rescale = "shells";')
        assert abs(np.sum(m) - 1) < 1e-13
        suns, y, _ = start(keys + ' scale_radius = 1.0; rescale = "shells";',
                           'units = "pc-msun-kms"; softening = 0.01;')
        assert suns.min() >= low and suns.max() <= high
        assert np.allclose(suns / np.sum(suns), m, rtol=1e-13)
        assert distance(cumulative(density, low, high)(suns)) < FAR, law
        given, _, _ = start(keys + ' scale_radius = 1.0; mass = 500.0; rescale = "shells";',
                            'units = "pc-msun-kms"; softening = 0.01;')
        assert abs(np.sum(given) - 500) < 1e-10
        # Heavy stars stand anywhere: the ranks of mass and radius do not go together.
        order = np.argsort(np.argsort(m)), np.argsort(np.argsort(np.linalg.norm(x, axis=1)))
        assert abs(np.corrcoef(*order)[0, 1]) < 4 / math.sqrt(len(m))


def test_the_config_that_a_run_writes():
    """run.cfg is the same experiment, whether M is what the stars weigh, given, or 1"""
    for keys, physics, total in (
            ('masses = "kroupa"; scale_radius = 1.0;', 'units = "pc-msun-myr"; softening = 0.01;',
             None),
            ('masses = "kroupa"; mass = 1.0; scale_radius = 1.0;',
             'units = "pc-msun-myr"; softening = 0.01;', 1.0),
            ('masses = "kroupa";', "softening = 0.01;", 1.0),
            ('masses = "two-components";', "softening = 0.01;", 1.0)):
        m, _, _ = start('initial = "plummer"; count = 50; ' + keys, physics)
        # The least a star of Kroupa's law weighs is 0.08 solar masses, so fifty weigh more than 4.
        assert abs(np.sum(m) - total) < 1e-13 if total else np.sum(m) > 4.0, keys
        done = tap.run("run", "out/run.cfg", "-q", "-o", "again", "--force")
        assert done.returncode == 0, done.stderr
        first, second = (pathlib.Path(name, "trajectory.xyz") for name in ("out", "again"))
        assert first.read_bytes() == second.read_bytes(), keys
        done = tap.run("run", "out/run.cfg", "-o", "out", "--restart")
        assert done.returncode == 0 and "done already" in done.stderr, done.stderr


def test_slopes_of_masses():
    """each piece of a law has its slope: the mean of ln m between two limits"""
    for law, low, high, slope in (("kroupa", 0.01, 0.08, 0.3), ("kroupa", 0.08, 0.5, 1.3),
                                  ("kroupa", 0.5, 50.0, 2.3), ("salpeter", 0.1, 50.0, 2.35)):
        m, _, _ = start(f'initial = "plummer"; count = 4000; masses = "{law}"; rescale = "none"; '
                        f'star_masses = [{low}, {high}]; scale_radius = 1.0;',
                        'units = "pc-msun-kms"; softening = 0.01;')
        grid = np.geomspace(low, high, 100001)
        weight = grid ** (1 - slope)
        mean = np.sum(np.log(grid) * weight) / np.sum(weight)
        spread = math.sqrt(np.sum(np.log(grid) ** 2 * weight) / np.sum(weight) - mean ** 2)
        error = spread / math.sqrt(len(m))
        assert abs(np.mean(np.log(m)) - mean) < 4 * error, (law, slope, np.mean(np.log(m)), mean)


def test_two_components():
    """heavy bodies are as many and as heavy as was asked, and stand anywhere"""
    m, x, v = start('initial = "king"; count = 1000; masses = "two-components"; heavy_ratio = 5.0; '
                    'heavy_fraction = 0.2;')
    heavy = m > m.min()
    assert np.sum(heavy) == 200 and abs(m[heavy][0] / m[~heavy][0] - 5) < 1e-13
    assert abs(np.sum(m) - 1) < 1e-13
    assert abs(np.mean(np.nonzero(heavy)[0]) - 500) < 5 * 1000 / math.sqrt(12 * 200)
    kinetic = np.sum(m * np.sum(v ** 2, axis=1)) / 2
    assert abs(kinetic + potential_energy(m, x) + 0.25) < 1e-12


def elements(mu, x, v):
    """a, e, cos i and mean anomaly of relative orbits."""
    r, v2 = np.linalg.norm(x, axis=1), np.sum(v ** 2, axis=1)
    a = 1 / (2 / r - v2 / mu)
    h = np.cross(x, v)
    e = np.sqrt(np.maximum(0, 1 - np.sum(h ** 2, axis=1) / (mu * a)))
    e_cos, e_sin = 1 - r / a, np.sum(x * v, axis=1) / np.sqrt(mu * a)
    return a, e, h[:, 2] / np.linalg.norm(h, axis=1), np.arctan2(e_sin, e_cos) - e_sin


def test_binaries():
    """binaries are as many as was asked; ln a, e^2, cos i and the phase are uniform; their centres
    of mass are a sample of the model"""
    keys = ('initial = "plummer"; count = 3000; masses = "kroupa"; binary_fraction = 0.5; '
            'binary_axes = [1e-5, 1e-3];')
    m, x, v = start(keys)
    pairs = 1000  # B / (B + S) = 1/2 of 2 B + S = 3000
    first, second = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    mu = m[first] + m[second]
    a, e, cos_i, phase = elements(mu, x[second] - x[first], v[second] - v[first])
    # The energy of the model sets the unit of length before binaries get theirs, so a is as given.
    assert a.min() > 1e-5 * (1 - 1e-6) and a.max() < 1e-3 * (1 + 1e-6)
    assert distance(np.log(a / 1e-5) / math.log(100)) < FAR
    assert distance(e ** 2) < FAR
    assert distance((1 + cos_i) / 2) < FAR
    assert distance((phase + math.pi) / (2 * math.pi)) < FAR
    centres = [np.concatenate([(m[first, None] * q[first] + m[second, None] * q[second])
                               / mu[:, None], q[2 * pairs:]]) for q in (x, v)]
    weights = np.concatenate([mu, m[2 * pairs:]])
    energy = np.sum(weights * np.sum(centres[1] ** 2, axis=1)) / 2
    energy += potential_energy(weights, centres[0])
    assert abs(energy + 0.25) < 1e-11, energy
    assert np.all(np.abs(weights @ centres[0]) < 1e-14)
    m, x, v = start(keys.replace("1e-5, 1e-3", "1e-4, 1e-4")
                    + ' binary_eccentricities = "circular";')
    a, e, _, _ = elements(m[first] + m[second], x[second] - x[first], v[second] - v[first])
    assert np.allclose(a, 1e-4, rtol=1e-6) and e.max() < 1e-3


def test_orbits():
    """orbits by their elements are those of pairs, and the central body comes first"""
    m, x, v = start('initial = "orbits"; central_mass = 2.0; masses = [0.5, 0.0]; center = false; '
                    'semi_major_axes = [1.0, 3.0]; eccentricities = [0.3, 0.6]; '
                    'inclinations = [60.0, 0.0]; true_anomalies = [0.0, 180.0];')
    assert list(m) == [2, 0.5, 0] and not x[0].any() and not v[0].any()
    a, e, cos_i, _ = elements(np.array([2.5, 2.0]), x[1:], v[1:])
    assert np.allclose(a, [1, 3]) and np.allclose(e, [0.3, 0.6]) and np.allclose(cos_i, [0.5, 1])
    assert np.allclose(x[1], [0.7, 0, 0]) and np.allclose(x[2], [-4.8, 0, 0])


def test_what_cannot_be():
    """each thing that cannot be is named with its key and its reason"""
    king = 'initial = "king"; count = 10; '
    orbits = 'initial = "orbits"; masses = [1.0, 1.0]; semi_major_axes = [1.0, 2.0]; '
    for keys, text in (
            (king + "w0 = 0.0;", "bodies.w0 = 0.0: "),
            (king + "star_masses = [1.0, 2.0];",
             'applies only to masses = "salpeter" and "kroupa"'),
            (king + 'masses = "kroupa"; star_masses = [2.0, 1.0];', "the smaller one first"),
            (king + "heavy_ratio = 3.0;", 'applies only to masses = "two-components"'),
            (king + "binary_fraction = 0.5;", "must be given if there are binaries"),
            (king + "binary_fraction = 0.5; binary_axes = [2.0, 1.0];", "the smaller one first"),
            (king + "binary_fraction = 0.5; binary_axes = [1.0, 2.0]; virial_ratio = 1.0;",
             "would change the velocities within the binaries too"),
            (orbits + "eccentricities = [0.5];", "has 1 values for 2 masses"),
            (orbits + "eccentricities = [0.5, 1.0];", "body 3 has a parabola"),
            (orbits + "eccentricities = [2.0, 0.0]; true_anomalies = [170.0, 0.0];",
             "body 2 is beyond the asymptote"),
            ('initial = "orbits"; masses = []; semi_major_axes = [];', "at least one body"),
            ('initial = "plummer"; count = 20; masses = "two-components"; heavy_ratio = 1e9; '
             'heavy_fraction = 0.05; center = false;', "none of 5000 samples was bound"),
            ('initial = "plummer"; count = 9; cutoff_radius = 1e-120;', "no part of the model"),
            ('initial = "plummer"; count = 9; cutoff = 1e-320;', "no part of the model"),
            (king + "mass = 1e200;", "beyond the range of numbers"),
            (king + "mass = 1e-200;", "beyond the range of numbers")):
        errors = start(keys, status=78)
        assert text in errors, (keys, errors)


tap.main()
