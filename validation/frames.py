"""Reads trajectories, and says what their columns must be: forces, energies and motion anew by
numpy."""

import pathlib
import struct

import numpy

import rows

COLUMNS = "species pos velo mass id cluster force kinetic_energy local_energy"


class Physics:
    """Gravity between softened bodies, G = 1; in a box of side `box`, between nearest images."""

    def __init__(self, softening, box=None):
        self.softening, self.box = softening, box

    def separations(self, x):
        d = x[None] - x[:, None]
        return d - self.box * numpy.rint(d / self.box) if self.box else d

    def accelerations(self, m, x):
        d = self.separations(x)
        r2 = (d**2).sum(axis=2) + self.softening**2
        return (m[None, :, None] * d / r2[:, :, None]**1.5).sum(axis=1)

    def potentials(self, m, x):
        r = numpy.sqrt((self.separations(x)**2).sum(axis=2) + self.softening**2)
        terms = m[None] / r
        numpy.fill_diagonal(terms, 0)
        return -terms.sum(axis=1)


def read(path):
    """Of every frame of extended XYZ: what the comment line says, and {column: values}, a row for
    each body."""
    found = []
    with open(path, encoding="utf-8") as file:
        while count := file.readline():
            comment = file.readline()
            properties = comment.split("Properties=")[1].split()[0].split(":")
            table = [file.readline().split() for _ in range(int(count))]
            columns, first = {}, 0
            for name, kind, width in zip(*(properties[k::3] for k in range(3))):
                cells = [row[first:first + int(width)] for row in table]
                first += int(width)
                columns[name] = numpy.array(cells, dtype={"S": str, "I": int, "R": float}[kind])
                if width == "1":
                    columns[name] = columns[name][:, 0]
            assert all(len(row) == first for row in table), path
            found.append((comment, columns))
    return found


def records(path):
    """The records of a Fortran file, each between two copies of its length."""
    content, found = pathlib.Path(path).read_bytes(), []
    while content:
        length, = struct.unpack("<i", content[:4])
        assert content[4 + length:8 + length] == content[:4], path
        found.append(content[4:4 + length])
        content = content[8 + length:]
    return found


def step_of(comment):
    return int(comment.split("Step=")[1].split()[0])


def close(got, expected, what, tolerance=1e-12):
    """Equal but for roundings: of some hundred terms, measured by the largest value."""
    error = numpy.abs(got - expected).max() / numpy.abs(expected).max()
    assert error < tolerance, (what, error)


def check_system(columns, physics, row, what):
    """One system of a frame against pairs of its bodies, and against its row of conservation."""
    m, x, v = columns["mass"], columns["pos"], columns["velo"]
    close(columns["force"], m[:, None] * physics.accelerations(m, x), (what, "force"))
    close(columns["kinetic_energy"], 0.5 * m * (v**2).sum(axis=1), (what, "kinetic_energy"))
    close(columns["local_energy"], m * physics.potentials(m, x), (what, "local_energy"))
    close(columns["local_energy"].sum(), 2 * row["potential"], (what, "2 U"))
    close(columns["kinetic_energy"].sum(), row["kinetic"], (what, "K"))
    for k, axis in enumerate("xyz"):
        momentum = (m * v[:, k]).sum() - row[f"momentum_{axis}"]
        assert abs(momentum) < 1e-14, (what, "momentum", momentum)
        if not physics.box:  # where the centre is of bodies that were not wrapped
            center = (m * x[:, k]).sum() / m.sum() - row[f"center_{axis}"]
            assert abs(center) < 1e-13, (what, "center", center)
    assert (columns["species"] == "X").all()


def check(directory, physics, systems, count, step):
    """All frames of a run of `systems` systems against its table; the frames."""
    frames = read(f"{directory}/trajectory.xyz")
    table = rows.columns(f"{directory}/conservation.csv")
    for index, (comment, columns) in enumerate(frames):
        assert set(columns) == set(COLUMNS.split()), comment
        assert abs(float(comment.split("Time=")[1].split()[0]) - step_of(comment) * step) < 1e-14
        assert (columns["id"] == numpy.tile(numpy.arange(1, count + 1), systems)).all()
        assert (columns["cluster"] == numpy.repeat(numpy.arange(1, systems + 1), count)).all()
        assert (columns["mass"] == frames[0][1]["mass"]).all()
        if physics.box:
            half = physics.box / 2
            assert (columns["pos"] >= -half).all() and (columns["pos"] < half).all()
            assert 'pbc="T T T"' in comment and f'Lattice="{physics.box:.17g} ' in comment, comment
        for s in range(systems):
            here = table["step"] == step_of(comment)
            if "system" in table:
                here &= table["system"] == s + 1
            assert here.sum() == 1, (index, s)
            row = {name: values[here][0] for name, values in table.items()}
            own = {name: values[s * count:(s + 1) * count] for name, values in columns.items()}
            check_system(own, physics, row, (directory, index, s))
    return frames
