"""The page docs/validation.md: its own words, and the tables of the experiments between them."""

import datetime
import os
import re
import textwrap

import tap

DOCUMENT = os.path.join(tap.SOURCE, "docs", "validation.md")

HEAD = """# Validation

This page compares results of Orrery with theory. The [glossary](manual/glossary.md) has the terms,
[theory](theory.md#references) the papers. Each experiment runs the config of its name in
[validation/physics](../validation/physics), or a variation of it; its function in the Python files
there computes the rows. `outer-solar-system` is [an example](../examples/README.md). `good-runs`,
`bad-runs` and `audit*` make their own configs. `make check-physics` runs all, which takes minutes,
fails if a row does not hold, and writes this page; `make check` leaves out the *long* ones.

Measured {date} by orrery {version} ({compiler}), backend {backends}, {cores} cores: {held} of
{rows} rows held. Forces are direct sums, but for fast multipoles in `cusp-samples`
and `galaxy-rotations`.

| written | meaning |
|---|---|
| `column`, worst of n CSV rows | a criterion of `expect` in the config; *measured* is \
the value closest to its bound or farthest beyond it in the rows of the CSV file |
| ± in the column *tolerance* | largest distance from the reference: standard errors for a \
statistic, the next order of the error for an integrator, rounding for arithmetic; *source* says \
which |
| ≤, ≥ | a bound on one side, without a reference |
| empty *tolerance* | the criterion must hold, or the words must be the same |
| mean ± x | x is the standard error; the mean is in the column *measured* |
| E, K, U, W, L | energy, kinetic and potential energy, Clausius virial, angular momentum; E₀ and \
U₀ at the start |
| e, a, r, ε | eccentricity, semi-major axis or scale radius, distance, softening length |
| dt, h | the step; h in formulas with derivatives |
| ⟨x⟩ | the mean of x over an orbit or over time |
| numbers without a unit | in units with G = 1 |

"""

TAIL = """## Faults that the tests find

`make check-mutants LOT=20261129 COUNT=300` plants faults that it draws with a seed, each in one
line, and runs tests of that line (`make mutants-map` finds them). Of the 300, 42 do not compile, 24
change nothing (most are in `validation/mutants/equivalents.py`), and one needs MPI. *Before*: found
by the tests of 2026-11-28, of which each fault had a minute. *Since*: also by those written for
missed faults.

| folder | tried | found before | since |
|---|---|---|---|
| commands | 13 | 11 | 13 |
| config | 15 | 15 | 15 |
| diagnostics | 12 | 11 | 12 |
| estimate | 13 | 9 | 13 |
| force | 24 | 21 | 21 |
| formats | 14 | 12 | 14 |
| initial | 13 | 13 | 13 |
| integrator | 21 | 19 | 20 |
| report | 27 | 25 | 27 |
| run | 17 | 12 | 14 |
| study | 11 | 8 | 10 |
| others | 53 | 45 | 51 |
| all | 233 | 201 | 223 |
| `LOT=20261128` | 177 | 149 | 160 |

The ten that are still missed concern an array's end, threads that wait for one another, memory that
runs out, when a signal is obeyed, and an orbit about two bodies that was in doubt.
"""


def heading(one):
    """Returns the heading of an experiment, and the sentence below it."""
    title = textwrap.fill(one.title[0].upper() + one.title[1:] + ".", 100)
    return f"### {one.name}{' (long)' if one.long else ''}\n\n{title}\n"


def table(bench):
    lines = ["| quantity | measured | reference | tolerance | source | held |",
             "|---|---|---|---|---|---|"]
    for row in bench.rows:
        cells = (row.quantity, row.measured, row.reference, row.tolerance, row.source,
                 "yes" if row.held else "**no**")
        lines.append("| " + " | ".join(cells) + " |")
    notes = "".join("\n" + (note if note.startswith("|") else textwrap.fill(note, 100))
                    + "\n" for note in bench.notes)
    return "\n".join(lines) + "\n" + notes


def document(results):
    """Returns the page of `results`, pairs of an experiment and the bench that it has filled."""
    rows = [row for _, bench in results for row in bench.rows]
    version, compiler, options = tap.run("--version").stdout.split("\n")[:3]
    compiler = f"{compiler.split(None, 1)[1]}, {options.split(None, 1)[1].split(' -std')[0]}"
    text = HEAD.format(date=datetime.date.today().isoformat(), version=version.split()[1],
                       compiler=compiler, rows=len(rows), held=sum(row.held for row in rows),
                       cores=len(os.sched_getaffinity(0)), backends=" and ".join(
                           sorted(set().union(*(bench.backends for _, bench in results)))))
    group = None
    for one, bench in results:
        if one.group != group:
            group = one.group
            text += f"## {group}\n\n"
        text += heading(one) + "\n" + table(bench) + "\n"
    return text + TAIL


# --- the page as it is ----------------------------------------------------------------------------

def read():
    with open(DOCUMENT, encoding="utf-8") as file:
        return file.read()


def words(cells):
    """Returns the cells of a row without their numbers, which differ between machines."""
    return [re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "#", cell) for cell in cells]


def rows_of(one):
    """Returns the words of the page's rows of an experiment: quantity, tolerance and source."""
    section = read().split(heading(one), 1)[1].split("\n## ")[0].split("\n### ")[0]
    cells = (re.split(r" (?<!\\)\| ?", line[1:]) for line in section.splitlines()
             if line.startswith("|"))
    return [words((row[0].strip(), row[3].strip(), row[4].strip())) for row in cells
            if len(row) == 7]
