"""Writes bodies for a run, and reads what it has written: the columns of a CSV file, the frames of
a trajectory."""

import csv
import pathlib

import numpy


def columns(path):
    """{name without its unit: values}, empty cells as NaN."""
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    values = numpy.array([[float(cell or "nan") for cell in row] for row in rows])
    return {title.split(" [")[0]: values[:, k] for k, title in enumerate(header)}


def budget_sums(directory):
    """Of the last row of an energy budget: the change, the sum of its parts, and the energy error
    of the run."""
    budget = columns(f"{directory}/energy-budget.csv")
    parts = sum(budget[name][-1]
                for name in ("truncation", "encounters", "force_precision", "rest"))
    error = columns(f"{directory}/conservation.csv")["relative_energy_error"][-1]
    return budget["energy_change"][-1], parts, error


HEAD = "id,mass,x,y,z,vx,vy,vz\n"


def write_bodies(bodies, path="bodies.csv"):
    """Writes mass, position and velocity of each body into a CSV file."""
    text = "".join(f"{i + 1},{','.join(repr(float(v)) for v in row)}\n"
                   for i, row in enumerate(bodies))
    pathlib.Path(path).write_text(HEAD + text)


def frames(path):
    """Of an extended XYZ trajectory: times, and positions and velocities [frame][body][axis]."""
    times, positions, velocities = [], [], []
    with open(path, encoding="utf-8") as file:
        while count := file.readline():
            comment = file.readline()
            assert "Properties=species:S:1:pos:R:3:velo:R:3:" in comment, comment
            times.append(float(comment.split("Time=")[1].split()[0]))
            rows = [file.readline().split() for _ in range(int(count))]
            positions.append([[float(cell) for cell in row[1:4]] for row in rows])
            velocities.append([[float(cell) for cell in row[4:7]] for row in rows])
    return numpy.array(times), numpy.array(positions), numpy.array(velocities)
