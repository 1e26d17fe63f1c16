"""A galaxy of bodies stays as it is."""

import numpy

from experiment import experiment
from rows import frames

GROUP = "Galaxies"
PARTS = {"disc": slice(12000), "bulge": slice(12000, 20000), "halo": slice(20000, None)}


def size(name, x, v):
    """The median of the distances from the centre of the disc, and the root mean square height over
    its plane."""
    disc = x[PARTS["disc"]]
    center = disc.mean(0)
    axis = numpy.cross(disc - center, v[PARTS["disc"]]).mean(0)
    y = x[PARTS[name]] - center
    height = y @ axis / numpy.linalg.norm(axis)
    return numpy.median(numpy.linalg.norm(y, axis=1)), numpy.sqrt(numpy.mean(height**2))


@experiment("galaxy-rotations", "A galaxy of 12,000, 8000 and 80,000 bodies in disc, bulge and "
            "halo for two rotations, in five frames", GROUP, long=True)
def galaxy_rotations(bench):
    bench.run("galaxy-rotations", timeout=900)
    _, x, v = frames("out.run/trajectory.xyz")
    for name in PARTS:
        radius, height = numpy.array([size(name, *frame) for frame in zip(x, v)]).T
        bench.below(f"{name}: largest relative change of its half-mass radius",
                    numpy.max(abs(radius / radius[0] - 1)), 0.03, "equilibrium")
        if name == "disc":
            bench.below("disc: largest relative change of its root mean square height",
                        numpy.max(abs(height / height[0] - 1)), 0.1,
                        "equilibrium, but for the heat of the encounters with bodies of the halo")
