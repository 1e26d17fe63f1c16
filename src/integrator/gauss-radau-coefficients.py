#!/usr/bin/env python3
"""Writes gauss-radau-coefficients.inc: what a step of gauss-radau multiplies with.

Everything follows from the eight nodes of Gauss and Radau on [0, 1], the first of which is 0. With
their values as doubles have them all other numbers are fractions, and are computed as such; each
is rounded once, to the nearest double."""

import sys
import textwrap
from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb

NODES = TERMS = 7  # beside the start of the step
RATES = 4          # the acceleration and its first three derivatives


def legendre(n, x):
    """P_n(x) by Bonnet's recurrence."""
    before, value = Decimal(1), x
    for k in range(1, n):
        before, value = value, ((2 * k + 1) * x * value - k * before) / (k + 1)
    return value


def find_nodes():
    """The roots of P_7 + P_8 but -1, from [-1, 1] to [0, 1], as the nearest doubles."""
    getcontext().prec = 60

    def value(x):
        return legendre(NODES, x) + legendre(NODES + 1, x)

    grid = [Decimal(k) / 500 - 1 for k in range(1, 1001)]
    roots = []
    for low, high in zip(grid, grid[1:]):
        if value(low) * value(high) < 0:
            while high - low > Decimal(10) ** -40:
                middle = (low + high) / 2
                if value(low) * value(middle) > 0:
                    low = middle
                else:
                    high = middle
            roots.append(float((low + 1) / 2))
    assert len(roots) == NODES, roots
    return roots


def polynomial(k, node):
    """Coefficients of h^0 ... h^7 of h (h - h_1) ... (h - h_(k-1)), over its value at node k."""
    power, value = [Fraction(1)] + [Fraction(0)] * TERMS, Fraction(1)
    for m in range(k):
        power = [(power[j - 1] if j else 0) - node[m] * power[j] for j in range(TERMS + 1)]
        value *= node[k] - node[m]
    return [p / value for p in power]


def evaluate(power, order, h):
    """The derivative of this order of a polynomial, or its integral from 0 of order -order."""
    total = Fraction(0)
    for j, factor in enumerate(power):
        if j >= order:
            for d in range(order):
                factor *= j - d
            for d in range(1, 1 - order):
                factor /= j + d
            total += factor * h ** (j - order)
    return total


def weights(node, order):
    """What the values at the nodes, less that at the start, count in the integral of this order of
    the polynomial through them, up to h = 1."""
    result = []
    for n in range(1, NODES + 1):
        power, value = [Fraction(1)] + [Fraction(0)] * TERMS, Fraction(1)
        for m in range(NODES + 1):
            if m != n:
                power = [(power[j - 1] if j else 0) - node[m] * power[j] for j in range(TERMS + 1)]
                value *= node[n] - node[m]
        result.append(evaluate(power, -order, Fraction(1)) / value)
    return result


def table():
    nodes = find_nodes()
    node = [Fraction(0)] + [Fraction(h) for h in nodes]
    newton = [polynomial(k, node) for k in range(1, TERMS + 1)]
    # g_k of b_j: h^(j+1) is interpolated by Newton's divided differences.
    back = [[Fraction(0)] * TERMS for _ in range(TERMS)]
    for j in range(TERMS):
        left = [h ** (j + 1) for h in node]
        for k in range(TERMS):
            back[k][j] = left[k + 1] - sum(back[i][j] * evaluate(newton[i], 0, node[k + 1])
                                           for i in range(k))
    rows = {
        "h": nodes,
        "basis": [[evaluate(newton[k], 0, node[n]) if k + 1 < n else 0 for k in range(TERMS)]
                  for n in range(1, NODES + 1)],
        "speed": [[evaluate(newton[k], -1, node[n]) for k in range(TERMS)]
                  for n in range(1, NODES + 1)],
        "path": [[evaluate(newton[k], -2, node[n]) for k in range(TERMS)]
                 for n in range(1, NODES + 1)],
        "end": [[evaluate(newton[k], order, Fraction(1)) for k in range(TERMS)]
                for order in range(RATES)],
    }
    for name, order in (("in_v", 1), ("in_x", 2)):
        exact = weights(node, order)
        rows[name] = exact
        rows[name + "_low"] = [value - Fraction(float(value)) for value in exact]
    rows["c"] = [[newton[k][j + 1] for k in range(TERMS)] for j in range(TERMS)]
    rows["d"] = back
    rows["binomial"] = [[comb(k + 1, j + 1) for k in range(TERMS)] for j in range(TERMS)]
    return rows


def text_of(value):
    """The shortest text that reads as the nearest double."""
    short = f"{float(value):.16g}"
    return short if float(short) == float(value) else f"{float(value):.17g}"


def main():
    lines = ["/* Made by gauss-radau-coefficients.py. */"]
    for name, rows in table().items():
        lines.append(f".{name} = {{")
        for row in rows if isinstance(rows[0], list) else [rows]:
            words = ", ".join(map(text_of, row))
            if row is not rows:
                words = "{ " + words + " }"
            lines += textwrap.wrap(words + ",", 100, initial_indent=4 * " ",
                                   subsequent_indent=6 * " ")
        lines.append("},")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
