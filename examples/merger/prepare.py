#!/usr/bin/env python3
"""Draws two Plummer spheres that fall towards each other, for `bodies.file`.

    ./prepare.py [COUNT [SEED]] > bodies.csv

COUNT is the number of bodies of each sphere. G = 1; each sphere has the mass 1 and the scale radius 1
(Aarseth, Henon & Wielen 1974). Their centres are on the parabola of two points of mass 1.
"""

import math
import random
import sys

SCALE = 1.0
PERICENTRE = 0.5   # of the parabola; about half a scale radius, so that the spheres meet nearly head-on
DISTANCE = 6.0     # of the centres at the start
MOST = 0.999       # the mass within which bodies are drawn, as `cutoff` of the initial plummer


def direction(chance, length):
    """A vector of that length, of any direction with the same chance."""
    z, angle = chance.uniform(-1.0, 1.0), chance.uniform(0.0, 2.0 * math.pi)
    across = math.sqrt(1.0 - z * z)
    return [length * across * math.cos(angle), length * across * math.sin(angle), length * z]


def speed_over_escape(chance):
    """x with the density x^2 (1 - x^2)^(7/2), whose largest value is 0.092."""
    while True:
        x = chance.random()
        if 0.1 * chance.random() < x * x * (1.0 - x * x) ** 3.5:
            return x


def sphere(chance, count):
    """Positions and velocities of the bodies about the centre of their mass, which is at rest."""
    bodies = []
    for _ in range(count):
        radius = SCALE / math.sqrt(chance.uniform(0.0, MOST) ** (-2.0 / 3.0) - 1.0)
        escape = math.sqrt(2.0) * (radius * radius + SCALE * SCALE) ** -0.25
        bodies.append(direction(chance, radius) +
                      direction(chance, escape * speed_over_escape(chance)))
    mean = [math.fsum(axis) / count for axis in zip(*bodies)]
    return [[value - middle for value, middle in zip(body, mean)] for body in bodies]


def orbit():
    """Position and velocity of the second centre relative to the first, on its way in: of points of
    the mass 2 together the parabola has v^2 = 4 / r and the angular momentum sqrt(4 q)."""
    across = math.sqrt(4.0 * PERICENTRE) / DISTANCE
    inwards = math.sqrt(4.0 / DISTANCE - across * across)
    return [DISTANCE, 0.0, 0.0, -inwards, across, 0.0]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500000
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print("mass,x,y,z,vx,vy,vz")
    for side in (-0.5, 0.5):
        center = [side * value for value in orbit()]
        for body in sphere(chance, count):
            print(",".join(f"{value:.9g}" for value in
                           [1.0 / count] + [a + b for a, b in zip(body, center)]))


main()
