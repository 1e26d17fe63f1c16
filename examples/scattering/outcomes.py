#!/usr/bin/env python3
"""Says of every system of a scattering run how it ended, and counts.

    ./outcomes.py RUN [NAMES.csv]

A binary is what is left if two bodies are bound to each other, and the third is FAR times their
semi-major axis away, recedes, and is not bound to them: with bodies 1 and 2 in it the experiment was
a flyby, else an exchange. It was an ionisation if no two of the bodies are bound, all recede from
each other, and the total energy is positive. All else is unresolved. NAMES.csv takes a row for each experiment.
"""

import csv
import math
import sys

FAR = 10.0
OUTCOMES = ("flyby", "exchange", "ionisation", "unresolved")


def last_frame(path):
    """Of every system: mass, position and velocity of its bodies, by their numbers."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    count = int(lines[0])
    systems = {}
    for line in lines[-count:]:
        _, *reals = line.split()
        numbers = [float(word) for word in reals]
        systems.setdefault(int(numbers[8]), {})[int(numbers[7])] = (
            numbers[6], numbers[0:3], numbers[3:6])
    return systems


def joined(a, b):
    """Two bodies as one, at their centre of mass."""
    mass = a[0] + b[0]
    return (mass, *([(a[0] * p + b[0] * q) / mass for p, q in zip(a[k], b[k])] for k in (1, 2)))


def relative(a, b):
    """Distance, energy per reduced mass, and whether they recede; G = 1."""
    x = [q - p for p, q in zip(a[1], b[1])]
    v = [q - p for p, q in zip(a[2], b[2])]
    distance = math.hypot(*x)
    energy = 0.5 * sum(u * u for u in v) - (a[0] + b[0]) / distance
    return distance, energy, sum(p * u for p, u in zip(x, v)) > 0


def total_energy(bodies):
    """Of three, about their centre of mass."""
    kinetic = 0.5 * sum(mass * sum(u * u for u in v) for mass, _, v in bodies.values())
    whole = joined(joined(bodies[1], bodies[2]), bodies[3])
    kinetic -= 0.5 * whole[0] * sum(u * u for u in whole[2])
    potential = sum(bodies[i][0] * bodies[j][0] / relative(bodies[i], bodies[j])[0]
                    for i, j in ((1, 2), (1, 3), (2, 3)))
    return kinetic - potential


def outcome(bodies):
    """The outcome and the semi-major axis of the binary that is left, if one is."""
    pairs = [(relative(bodies[i], bodies[j]), (i, j), k)
             for i, j, k in ((1, 2, 3), (1, 3, 2), (2, 3, 1))]
    (_, energy, _), pair, third = min(
        pairs, key=lambda each: each[0][1] * bodies[each[1][0]][0] * bodies[each[1][1]][0])
    if energy >= 0:
        free = total_energy(bodies) > 0 and all(each[0][2] for each in pairs)
        return ("ionisation" if free else "unresolved"), None
    binary = joined(bodies[pair[0]], bodies[pair[1]])
    axis = -0.5 * binary[0] / energy
    distance, escape, receding = relative(binary, bodies[third])
    if escape <= 0 or not receding or distance < FAR * axis:
        return "unresolved", axis
    return ("flyby" if pair == (1, 2) else "exchange"), axis


def main(run, table=None):
    ended = {system: outcome(bodies)
             for system, bodies in sorted(last_frame(f"{run}/trajectory.xyz").items())}
    for name in OUTCOMES:
        axes = [axis for which, axis in ended.values() if which == name and axis]
        print(f"{name:<12}{sum(which == name for which, _ in ended.values()):4}" +
              (f"   semi-major axis {min(axes):.4g} to {max(axes):.4g}" if axes else ""))
    if table:
        with open(table, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("system", "outcome", "semi_major_axis"), *(
                (system, which, "" if axis is None else f"{axis:.6g}")
                for system, (which, axis) in ended.items())])


if __name__ == "__main__":
    main(*sys.argv[1:])
