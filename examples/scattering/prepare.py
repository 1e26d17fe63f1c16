#!/usr/bin/env python3
"""Draws experiments of a binary and a single body, one system of the ensemble each.

    ./prepare.py SPEED [COUNT [SEED]] > bodies.csv

SPEED is that of the single body at infinity, in units of the critical speed. Three bodies of mass 1,
G = 1; the binary (bodies 1 and 2) is circular with a semi-major axis of 1.
"""

import math
import random
import sys

NEAREST = 2.0  # pericentre of the widest approach, in semi-major axes, of two points with the masses
START = 30.0   # distance at which the approach begins
CRITICAL = math.sqrt(1.5)  # the speed at infinity for which the total energy is 0


def direction(chance):
    """A vector of length 1, of any direction with the same chance."""
    z, angle = chance.uniform(-1.0, 1.0), chance.uniform(0.0, 2.0 * math.pi)
    return [math.sqrt(1.0 - z * z) * math.cos(angle), math.sqrt(1.0 - z * z) * math.sin(angle), z]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def experiment(chance, speed):
    """Positions and velocities of the three, about their centre of mass."""
    # The binary: its phase is that of a vector normal to the axis of its orbit.
    axis, other = direction(chance), direction(chance)
    first = cross(axis, other)
    length = math.hypot(*first)
    first = [x / length for x in first]
    second = cross(axis, first)
    half, orbital = 0.5, 0.5 * math.sqrt(2.0)  # each from the centre of the binary; G M / a = 2

    # The single body: equal areas of the impact parameter, up to that which focusing takes to
    # NEAREST; then along the hyperbola of the two points to START. The total mass is 3.
    widest = NEAREST * math.sqrt(1.0 + 6.0 / (NEAREST * speed ** 2))
    impact = widest * math.sqrt(chance.random())
    tangential = impact * speed / START
    radial = -math.sqrt(speed ** 2 + 6.0 / START - tangential ** 2)

    def share(mass, k):
        return (mass * START * (k == 0), mass * (radial * (k == 0) + tangential * (k == 1)))

    rows = []
    for sign, mass in ((1.0, -1.0 / 3.0), (-1.0, -1.0 / 3.0), (0.0, 2.0 / 3.0)):
        moved = [share(mass, k) for k in range(3)]
        rows.append([moved[k][0] + sign * half * first[k] for k in range(3)] +
                    [moved[k][1] + sign * orbital * second[k] for k in range(3)])
    return rows


def main(speed, count=100, seed=1983):
    chance = random.Random(int(seed))
    print("system,mass,x,y,z,vx,vy,vz")
    for system in range(int(count)):
        for row in experiment(chance, float(speed) * CRITICAL):
            print(f"{system + 1},1," + ",".join(f"{number:.12g}" for number in row))


main(*sys.argv[1:])
