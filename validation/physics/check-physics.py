"""Runs all experiments and writes docs/validation.md: `make check-physics`.

    check-physics.py [NAME...]     only those, without writing: prints their tables
"""

import os
import sys
import tempfile
import time
import traceback

import page
from experiment import EXPERIMENTS, Bench, Row
import laws, orbits, bars, clusters, spheres, galaxies  # noqa: E401, F401
import distributions, verdicts, audit, trust  # noqa: E401, F401


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
            print(f"\n{one.name}\n\n{page.table(bench)}")
    else:
        with open(page.DOCUMENT, "w", encoding="utf-8") as file:
            file.write(page.document(results))
        print(f"written: {page.DOCUMENT}")
    sys.exit(any(not row.held for _, bench in results for row in bench.rows))


main(sys.argv[1:])
