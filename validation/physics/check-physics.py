"""Runs all experiments and writes docs/validation.md: `make check-physics`.

    check-physics.py [NAME...]     only those, without writing: prints their tables
"""

import datetime
import os
import sys
import tempfile
import textwrap
import time
import traceback

import tap
from experiment import EXPERIMENTS, Bench, Row
import laws, orbits, bars, clusters, spheres  # noqa: E401, F401
import distributions, verdicts, audit, trust  # noqa: E401, F401

DOCUMENT = os.path.join(tap.SOURCE, "docs", "validation.md")

HEAD = """# Validation

This page compares measurements by Orrery with theory. Every experiment is a config file in
[validation/physics](../validation/physics) or an example. `make check-physics` runs all of them,
fails if one row does not hold, and writes this page. `make check` runs those that are not marked
*long*.

Measured {date} by orrery {version} ({compiler}) on 2 cores: {held} of {rows} rows held.

A tolerance for a statistic is a number of standard errors of the sample, which the source states;
for an integrator it is the next order of its error, for arithmetic the rounding of the sums.

"""

TAIL = """## Faults that the tests find

`make check-mutants LOT=4177 MUTANTS='src/accuracy src/config ...'` draws faults of one line by that
seed, on the floors below, and `make mutants-map` chooses their tests. Faults that do not compile,
and those that change nothing (`validation/mutants/equivalents.py`), are not counted. *Before* is
by the tests as they were on 2026-11-26, *since* by those that were then written for what survived
and could give a user a wrong number.

| floor | drawn | found before | since |
|---|---|---|---|
| accuracy | 14 | 7 | 11 |
| config | 1 | 1 | 1 |
| diagnostics | 6 | 5 | 6 |
| estimate | 8 | 5 | 5 |
| model | 3 | 3 | 3 |
| observation | 2 | 1 | 1 |
| output | 3 | 3 | 3 |
| run | 6 | 4 | 4 |
| study | 2 | 1 | 1 |
| all | 45 | 30 | 35 |

Of the other ten, three read past the end of an array, which is for the sanitizers; the rest concern
estimates of cost and disk, memory that runs out, the trial of kernels before a run, and the moment
at which a run ends. Of 45 places that take
a value of one system of an ensemble, 29 were found to take that of the first system, and 38 since.
"""


def measure(one):
    """Runs an experiment in an empty folder; its rows and notes."""
    bench = Bench()
    home = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="orrery-physics-") as folder:
        os.chdir(folder)
        try:
            one.measure(bench)
        except Exception:
            traceback.print_exc()
            bench.rows.append(Row("the experiment", "could not be made", "", "", "", False))
        finally:
            os.chdir(home)
    return bench


def table(bench):
    lines = ["| quantity | measured | reference | tolerance | source | held |",
             "|---|---|---|---|---|---|"]
    for row in bench.rows:
        cells = (row.quantity, row.measured, row.reference, row.tolerance, row.source,
                 "yes" if row.held else "**no**")
        lines.append("| " + " | ".join(cells) + " |")
    notes = "".join("\n" + textwrap.fill(note, 100) + "\n" for note in bench.notes)
    return "\n".join(lines) + "\n" + notes


def document(results):
    rows = [row for _, bench in results for row in bench.rows]
    version, compiler, options = tap.run("--version").stdout.split("\n")[:3]
    compiler = f"{compiler.split(None, 1)[1]}, {options.split(None, 1)[1].split(' -std')[0]}"
    text = HEAD.format(date=datetime.date.today().isoformat(), version=version.split()[1],
                       compiler=compiler, rows=len(rows),
                       held=sum(row.held for row in rows))
    group = None
    for one, bench in results:
        if one.group != group:
            group = one.group
            text += f"## {group}\n\n"
        text += f"### {one.name}{' (long)' if one.long else ''}\n\n"
        text += one.title[0].upper() + one.title[1:] + ".\n\n" + table(bench) + "\n"
    return text + TAIL


def main(names):
    results = []
    for one in EXPERIMENTS:
        if names and one.name not in names:
            continue
        began = time.monotonic()
        results.append((one, measure(one)))
        bench = results[-1][1]
        bad = [row.quantity for row in bench.rows if not row.held]
        print(f"{one.name}: {len(bench.rows)} rows, {time.monotonic() - began:.1f} s",
              *(f"\n  NOT HELD: {quantity}" for quantity in bad), flush=True)
    if names:
        for one, bench in results:
            print(f"\n{one.name}\n\n{table(bench)}")
    else:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(document(results))
        print(f"written: {DOCUMENT}")
    sys.exit(any(not row.held for _, bench in results for row in bench.rows))


main(sys.argv[1:])
