"""Spheres with a cusp, by their authors' formulas and by Jeans's equation; G = M = a = 1."""

import math

import tap

np = tap.need("numpy")


def running(y, x):
    """The integral of y from x[0] on, by trapezia."""
    return np.concatenate([[0], np.cumsum(0.5 * (y[1:] + y[:-1]) * np.diff(x))])


def hernquist(E):
    """f(E) but for a constant: Hernquist 1990, eq. 17, q^2 = E for G = M = a = 1."""
    q = np.sqrt(E)
    return (3 * np.arcsin(q) + q * np.sqrt(1 - E) * (1 - 2 * E) * (8 * E * E - 8 * E - 3)) \
        / (1 - E) ** 2.5


def jaffe(E):
    """f(E) but for a constant: Jaffe 1983, eq. 10, by the integrals F± of exp(±y²)."""
    t = np.linspace(0, 1, 2001)[:, None]
    def mean(y):  # by trapezia
        return (np.sum(y, axis=0) - 0.5 * (y[0] + y[-1])) / (len(t) - 1)
    def plus(x):
        return np.exp(x * x) * x * mean(np.exp(-(x * t) ** 2))
    def minus(x):
        return x * mean(np.exp((x * t) ** 2 - x * x))
    root, double = np.sqrt(E), np.sqrt(2 * E)
    return minus(double) - math.sqrt(2) * (minus(root) + plus(root)) + plus(double)


def speeds(radius, speed, psi, f):
    """The part of the bodies at this radius that are slower, for each body."""
    q = np.linspace(0, 1, 401)[1:-1] ** 2  # v / v_escape; dense where they are slow
    part = np.empty(len(radius))
    grid = np.geomspace(radius.min() * 0.999, radius.max() * 1.001, 200)
    table = []
    for r in grid:
        total = running(q ** 2 * f(psi(r) * (1 - q * q)), q)
        table.append(total / total[-1])
    where = np.interp(np.log(radius), np.log(grid), np.arange(len(grid)))
    for i, w in enumerate(where):
        k, mine = min(int(w), len(grid) - 2), speed[i] / math.sqrt(2 * psi(radius[i]))
        low, high = (np.interp(mine, q, table[j]) for j in (k, k + 1))
        part[i] = low + (w - k) * (high - low)
    return part


def softened(r, mass, eps):
    """r^2 times the attraction, softened by eps, of shells with this mass within r: each has the
    potential -(sqrt((r + s)^2 + eps^2) - sqrt((r - s)^2 + eps^2)) / (2 r s)."""
    s, shells = np.sqrt(r[1:] * r[:-1]), np.diff(mass)
    potential = np.array([-((np.hypot(x + s, eps) - np.hypot(x - s, eps)) / s) @ shells / (2 * x)
                          for x in r])
    return np.gradient(potential, r) * r**2


def hernquist_dispersion(r):
    """Hernquist's radial dispersion squared: 1990, eq. 10."""
    return r * (1 + r) ** 3 * np.log1p(1 / r) \
        - r / (1 + r) * (25 + 52 * r + 42 * r ** 2 + 12 * r ** 3) / 12


class Sphere:
    """A model with G = a = 1 as a table over ln r, by the formulas of its density alone."""

    def __init__(self, inner, outer, cutoff):
        last = 50 * cutoff if cutoff else 1e10
        self.x = np.linspace(-14 * math.log(10) / (3 - inner), math.log(last), 100001)
        r = np.exp(self.x)
        rho = r ** -inner * (1 + r) ** (inner - outer) / (np.cosh(r / cutoff) if cutoff else 1)
        mass = running(rho * r ** 3, self.x) + rho[0] * r[0] ** 3 / (3 - inner)
        # Jeans: d(rho <v_r^2>)/dr = -rho M/r^2 and d(rho <v_r^4>)/dr = -3 rho <v_r^2> M/r^2.
        def outside(y):
            return np.maximum(running(y[::-1], -self.x[::-1])[::-1], 1e-300)
        second = outside(rho * mass / r)
        fourth = 3 * outside(second * mass / r)
        self.mass, total = mass / mass[-1], mass[-1]
        self.second, self.fourth = second / rho / total, fourth / rho / total ** 2
        self.energy = -0.5 * running(self.mass * rho * r * r / total, self.x)[-1]

    def at(self, name, radius):
        return np.interp(np.log(radius), self.x, getattr(self, name))
