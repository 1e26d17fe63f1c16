"""The experiments that are short, each a test; and that docs/validation.md has their words.

What an experiment measures stands in laws.py, orbits.py, bars.py, clusters.py, spheres.py,
distributions.py, verdicts.py, audit.py and trust.py;
`make check-physics` runs the long ones too and writes the table.
"""

import os
import re

import page
import tap
from experiment import EXPERIMENTS, FOLDER, Bench
import laws, orbits, bars, clusters, spheres, galaxies  # noqa: E401, F401
import distributions, verdicts, audit, trust  # noqa: E401, F401

# Thorough.
SLOW = {"audit-sample", "bad-runs", "free-fall", "good-runs", "minimum-images",
        "plummer-equilibrium", "rosette", "uniform-ball", "virial-theorem"}
EXAMPLES = {"outer-solar-system"}  # whose configs are examples
# Of the config of another experiment.
VARIATIONS = {"kepler-euler-1000", "error-bars-all", "trust-growth", "trust-reproducible"}
WRITTEN = {"good-runs", "bad-runs", "audit", "audit-own-steps", "audit-sample"}  # by themselves


def make_test(one):
    def test():
        if one.name in SLOW:
            tap.thorough()
        bench = Bench()
        one.measure(bench)
        assert len(bench.rows) > 1
        bad = [row for row in bench.rows if not row.held]
        assert not bad, bad
        written = page.rows_of(one)
        for row in bench.rows:
            cells = page.words((row.quantity, row.tolerance, row.source))
            assert cells in written, (cells, "make check-physics")
    test.__doc__ = f"{one.name}: {one.title}"
    return test


for _one in EXPERIMENTS:
    if not _one.long:
        globals()["test_" + _one.name.replace("-", "_")] = make_test(_one)


def test_the_page_has_the_words_of_its_sources():
    """docs/validation.md is what `make check-physics` writes, but for what was measured"""
    text = page.read()
    assert text.count("\n### ") == len(EXPERIMENTS) == len({one.name for one in EXPERIMENTS})
    head = re.escape(page.HEAD)
    for field in re.findall(r"\\{\w+\\}", head):
        head = head.replace(field, r"[^\n]+")
    assert re.match(head, text), "page.HEAD: make check-physics"
    for one in EXPERIMENTS:
        assert page.heading(one) in text, f"{one.name}: make check-physics"
    assert text.endswith("\n" + page.TAIL), "page.TAIL: make check-physics"


def test_every_config_is_run():
    """every config of the folder is an experiment, and has its expectations"""
    configs = {file[:-4] for file in os.listdir(FOLDER) if file.endswith(".cfg")}
    assert configs == {one.name for one in EXPERIMENTS} - EXAMPLES - VARIATIONS - WRITTEN
    for config in configs:
        with open(os.path.join(FOLDER, config + ".cfg"), encoding="utf-8") as file:
            text = file.read()
        assert f'\nname = "{config}";\n' in text and "\nexpect = (" in text, config


tap.main()
