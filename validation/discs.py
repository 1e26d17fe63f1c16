"""The exponential disc, sech^2 in height: its own field by sums over rings; G = Rd = 1, and M = 1
without an end."""

import math

import tap

np = tap.need("numpy")

END = 8.0  # the cut-off by default, in scale lengths


def enclosed(x):
    """The part of the mass of the endless disc within x scale lengths."""
    return 1 - (1 + x) * np.exp(-x)


def differences(height):
    """Differences d of two heights of a disc sech^2(z/z0), and their weights: those of |d|/z0 have
    the density 2 (h coth h - 1) / sinh^2 h, since heights are logistic with the scale z0/2."""
    t = np.linspace(0, 5, 401)[1:]
    h, dh = t**2, 2 * t * 5 / 400
    density = np.where(h < 1e-3, 2 / 3, 2 * (h / np.tanh(h) - 1) / np.sinh(h)**2)
    return height * h, density * dh


def around(R, s, angles=400):
    """The mean surface density of an endless disc with G M = Rd = 1, over circles of the radii s
    about points at R."""
    turn = (np.arange(angles) + 0.5) * math.pi / angles
    far = np.sqrt(R**2 + s[:, None]**2 + 2 * R * s[:, None] * np.cos(turn))
    return np.exp(-far).mean(axis=1) / (2 * math.pi), \
        (np.exp(-far) * np.cos(turn)).mean(axis=1) / (2 * math.pi)


CIRCLES = np.geomspace(1e-5, 60, 1200)


def over_circles(y):
    """The integral of y 2 pi s ds by trapezia in ln s."""
    y = 2 * math.pi * CIRCLES**2 * y
    return np.sum(0.5 * (y[1:] + y[:-1]) * np.diff(np.log(CIRCLES)))


def vertical(R, height, eps):
    """sigma_z^2 = <-z a_z> with G M = Rd = 1, without any transform: the attraction of all bodies
    is added up by the distance s from R in the plane, and each pair is shared by its two bodies."""
    d, weight = differences(height)
    pull = 0.5 * (weight * d**2 / (CIRCLES[:, None]**2 + d**2 + eps**2)**1.5).sum(axis=1)
    return np.array([over_circles(pull * around(r, CIRCLES)[0]) for r in R])


def speed2(R, height, eps):
    """v_c^2 in the plane, in the same way."""
    t = np.linspace(0, 5, 401)[1:]
    z, weight = height * t**2, 2 * t * 5 / 400 / np.cosh(t**2)**2
    pull = (weight * CIRCLES[:, None] / (CIRCLES[:, None]**2 + z**2 + eps**2)**1.5).sum(axis=1)
    return np.array([-r * over_circles(pull * around(r, CIRCLES)[1]) for r in R])
