"""The frame of the experiments: what was measured beside what was expected, as rows of a table.

An experiment is a function on a `Bench`, named after its config file and registered with
`@experiment`. It runs the config and states its numbers: bench.near(...), bench.below(...).
"""

import json
import math
import os
from dataclasses import dataclass

import numpy

import tap

FOLDER = os.path.join(tap.SOURCE, "validation", "physics")
EXPERIMENTS = []


@dataclass
class Row:
    quantity: str
    measured: str
    reference: str
    tolerance: str
    source: str
    held: bool


@dataclass
class Experiment:
    name: str
    title: str
    group: str
    long: bool
    measure: callable


def experiment(name, title, group, long=False):
    """Registers a function as the experiment `name`; a long one is left out of `make check`."""
    def register(measure):
        EXPERIMENTS.append(Experiment(name, title, group, long, measure))
        return measure
    return register


def number(value, error=None):
    """A number with the digits that an error leaves it, or with three."""
    if value == 0:
        return "0"
    if not error or error >= abs(value):
        return f"{value:.3g}"
    digits = max(2, math.floor(math.log10(abs(value))) - math.floor(math.log10(error)) + 2)
    return f"{value:.{min(digits, 15)}g}"


def mean_and_error(values):
    """The mean over the systems, and its standard error."""
    return numpy.mean(values), numpy.std(values, ddof=1) / numpy.sqrt(len(values))


class Bench:
    """Runs configs in the present folder and collects rows."""

    def __init__(self):
        self.rows, self.notes, self.backends = [], [], set()

    def run(self, name, *overrides, output="out.run", status=0, criteria=True, timeout=120):
        """Runs a config of this folder, or the path of one; returns run.json. Its criteria become
        rows, the first time."""
        config = name if name.endswith(".cfg") else os.path.join(FOLDER, name + ".cfg")
        options = [word for override in overrides for word in ("-P", override)]
        result = tap.run("run", config, "-q", "-o", output, "--force", *options, timeout=timeout)
        assert result.returncode == status, (config, overrides, result.returncode, result.stderr)
        with open(os.path.join(output, "run.json"), encoding="utf-8") as file:
            about = json.load(file)
        self.backends.add(about["compute"]["backend"])
        for criterion in about["expect"] if criteria and not status else []:
            quantity = f"`{criterion['quantity']}`, worst of {criterion['rows']} CSV rows"
            self.rows.append(Row(quantity, number(criterion["worst"]),
                                 f"`{criterion['criterion']}`", "", "`expect` of the config",
                                 criterion["holds"]))
        return about

    def near(self, quantity, measured, reference, tolerance, source):
        held = bool(abs(measured - reference) <= tolerance)
        self.rows.append(Row(quantity, number(measured, tolerance), number(reference, tolerance),
                             "± " + number(tolerance), source, held))

    def relative(self, quantity, measured, reference, tolerance, source):
        self.near(quantity, measured, reference, tolerance * abs(reference), source)

    def below(self, quantity, measured, bound, source):
        self.rows.append(Row(quantity, number(measured), "", "≤ " + number(bound), source,
                             bool(measured <= bound)))

    def above(self, quantity, measured, bound, source):
        self.rows.append(Row(quantity, number(measured), "", "≥ " + number(bound), source,
                             bool(measured >= bound)))

    def note(self, text):
        """A paragraph below the table: what it does not show."""
        self.notes.append(text)

    def said(self, quantity, measured, reference, source):
        """Words: they must be the same."""
        self.rows.append(Row(quantity, str(measured), str(reference), "", source,
                             measured == reference))


def bodies_of(path, masses, x, v):
    """Writes bodies as CSV that `initial = "file"` reads."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("m,x,y,z,vx,vy,vz\n")
        for m, position, velocity in zip(masses, x, v):
            file.write(",".join(repr(float(cell)) for cell in (m, *position, *velocity)) + "\n")


def from_file(name, csv):
    """A copy of a config of this folder whose bodies come from a file; returns its path."""
    with open(os.path.join(FOLDER, name + ".cfg"), encoding="utf-8") as file:
        head, rest = file.read().split("bodies = {", 1)
    path = f"{name}-from-file.cfg"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{head}bodies = {{ initial = "file"; file = "{csv}"; }};'
                   + rest.split("};", 1)[1])
    return path
