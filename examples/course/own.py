#!/usr/bin/env python3
"""own.py NUMBER CONFIG: a student's own values of a worksheet, from the matriculation number.

    orrery run run.cfg $(../own.py 4711 run.cfg)

It writes the options of `orrery run` to standard output, and the task in words to standard error.
The values follow from the number and the sheet alone, so that grade.py finds them again; two
numbers that follow one another have values far apart.
"""

import hashlib
import math
import pathlib
import sys


def between(share, low, high):
    """A value from low (share 0) to high (share 1) on a logarithmic scale, of three digits."""
    return float(f"{low * (high / low) ** share:.3g}")


def step_and_order(share):
    error = between(share, 1e-7, 1e-5)
    return (f"Find a step with which the largest energy error is {error:g}, or up to 8 % less.",
            {"expect.0.between": [0.92 * error, 1.002 * error]})


def a_thousand_orbits(share):
    steps = round(between(share, 520, 1120))
    error = 2 * (2 * math.pi / steps) ** 2  # of velocity Verlet for e = 0.5: worksheet 1
    return (f"Compare rk4 with velocity Verlet in {steps} steps a revolution: an error of "
            f"{error:.4g}.",
            {"expect.0.at_most": 1.04 * error, "expect.1.at_least": 0.96 * error})


def virial_equilibrium(share):
    factor = between(share, 1.05, 1.5)
    potential = -0.4585 * factor  # U0 of the sheet's cloud
    return (f"Find a start that settles at {factor:g} times U0.",
            {"expect.2.between": [1.025 * potential, 0.975 * potential]})


def gas(share):
    error = between(share, 0.015, 0.04)
    count = math.sqrt(2 * 8 / (4 * math.pi / 3 * 0.001)) / error  # of the innermost shell: 1/sqrt(n)
    return (f"Find a number of bodies that gives g to {100 * error:g} % in every shell; at most "
            f"{round(1.03 * count)} bodies.",
            {"expect.0.between": [1 - 4 * error, 1 + 4 * error],
             "expect.1.at_most": 1.025 * error, "expect.2.at_most": round(1.03 * count)})


def collapse(share):
    radius = between(share, 1.8, 3.4)
    return f"The sphere has the radius R = {radius:g}.", {"bodies.radius": radius}


def chaos(share):
    until = between(share, 7.5, 11.5)
    return (f"Find a setting with which the orbits are right until t = {until:g}, and not beyond "
            f"{until + 0.5:g}.", {"expect.0.at_least": until, "expect.0.at_most": until + 0.5})


def fast_multipoles(share):
    error = between(share, 1e-5, 9e-4)
    return (f"Find an accuracy with which the largest error is at most {error:g}, and at least "
            f"{0.3 * error:g}.", {"expect.0.at_least": 0.3 * error, "expect.0.at_most": error})


def cost_of_a_digit(share):
    # Numbers of steps that the program chooses; the next one has an error of at least 1.13 times.
    choices = (5000, 6000, 7000, 8000, 10000, 11000, 12000, 14000, 16000, 17000, 19000)
    steps = choices[int(share * len(choices))]
    error = 2 * (2 * math.pi / steps) ** 2
    return f"You have {steps} steps.", {"expect.0.between": [0.98 * error, 1.08 * error]}


# Worksheet 6 asks for one of three words, for which nobody needs a value of his own.
OWN = {
    "1-step-and-order/run.cfg": step_and_order,
    "2-a-thousand-orbits/run.cfg": a_thousand_orbits,
    "3-virial-equilibrium/run.cfg": virial_equilibrium,
    "4-pairs/gas.cfg": gas,
    "4-pairs/collapse.cfg": collapse,
    "5-chaos/run.cfg": chaos,
    "7-fast-multipoles/run.cfg": fast_multipoles,
    "8-cost-of-a-digit/run.cfg": cost_of_a_digit,
}


def text_of(value):
    """A value as the command line has it, without blanks."""
    return "[" + ",".join(map(text_of, value)) + "]" if isinstance(value, list) else f"{value:.5g}"


def share_of(number, sheet):
    """A student's share of the range of a sheet's values, from 0 to 1, by a hash."""
    digest = hashlib.sha256(f"{number} {sheet}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2 ** 32


def own_task(number, sheet):
    """The task of a student in one sentence, and the keys that it sets, as texts; both are empty for
    a sheet that is the same for all."""
    if sheet not in OWN:
        return "", {}
    sentence, values = OWN[sheet](share_of(number, sheet))
    return sentence, {key: text_of(value) for key, value in values.items()}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    sheet = "/".join(pathlib.Path(sys.argv[2]).resolve().parts[-2:])
    sentence, values = own_task(sys.argv[1], sheet)
    if not values:
        sys.exit(f"own.py: {sheet} is the same for everybody; there are {', '.join(OWN)}")
    print(f"{sys.argv[1]}, {sheet}: {sentence}", file=sys.stderr)
    print(" ".join(f"-P {key}={value}" for key, value in values.items()))


if __name__ == "__main__":
    main()
