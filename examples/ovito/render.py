#!/usr/bin/env python3
"""Pictures, a film and g(r) of a run's trajectory, through the OVITO Python module.

    render.py DIR [--color speed|energy|system] [--out FOLDER] [--frames N] [--rdf R]

DIR is a run directory, opened by the package `orrery`; --output names its trajectory if it has more
than one. Writes picture.png (the last frame), movie.mp4 (all frames) and, with --rdf R, rdf.csv, g(r) up to
the distance R. `energy` needs the columns kinetic_energy and local_energy in the trajectory,
`system` the column cluster, which ensembles have.
"""

import argparse
import os
import sys

os.environ.setdefault("OVITO_GUI_MODE", "0")  # no display is needed

import numpy
from ovito.io import import_file
from ovito.modifiers import (ColorCodingModifier, ComputePropertyModifier,
                             CoordinationAnalysisModifier)
from ovito.vis import TachyonRenderer, Viewport

import orrery

# What each choice colours by: an expression of OVITO over a body's properties.
EXPRESSIONS = {
    "speed": "sqrt(Velocity.X^2 + Velocity.Y^2 + Velocity.Z^2)",
    "energy": "KineticEnergy + PotentialEnergy",
    "system": "Cluster",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", metavar="DIR")
    parser.add_argument("--output", help="the trajectory; the first one of the run")
    parser.add_argument("--color", choices=EXPRESSIONS, default="speed")
    parser.add_argument("--out", default=".", help="folder to write to")
    parser.add_argument("--frames", type=int, help="the most frames in the film")
    parser.add_argument("--rdf", type=float, help="g(r) up to this distance")
    parser.add_argument("--bins", type=int, default=200)
    parser.add_argument("--size", type=int, nargs=2, default=(800, 600))
    return parser.parse_args()


def trajectory(run, name):
    """The frames of a trajectory of a run: of that name, or of the first one."""
    names = [one for one in run.outputs if one.endswith((".xyz", ".xyz.gz"))]
    if not names or (name and name not in names):
        raise orrery.Error(f"{run.path} has no {name or 'trajectory (outputs: xyz)'}"
                           f"{'; there are ' if names else ''}{', '.join(names)}")
    frames = run.outputs[name or names[0]]
    if not frames:
        raise orrery.Error(f"{frames.path} has no frame yet")
    return frames


def colour(pipeline, by):
    """Colours the bodies of every frame by an expression, on the range of the last frame."""
    pipeline.modifiers.append(ComputePropertyModifier(output_property="Shown",
                                                      expressions=[EXPRESSIONS[by]]))
    shown = pipeline.compute(pipeline.source.num_frames - 1).particles["Shown"]
    low, high = numpy.percentile(shown, [2, 98])
    pipeline.modifiers.append(ColorCodingModifier(
        property="Shown", start_value=low, end_value=high if high > low else low + 1,
        gradient=ColorCodingModifier.Viridis()))


def look(pipeline, position):
    """A viewport that holds nine of ten of the bodies that are at these positions."""
    centre = numpy.median(position, axis=0)
    radius = numpy.percentile(numpy.linalg.norm(position - centre, axis=1), 90) or 1.0
    data = pipeline.source.data
    data.particles.vis.radius = 0.02 * radius
    data.cell.vis.enabled = False
    direction = numpy.array([-0.5, 1.0, -0.4])
    return Viewport(type=Viewport.Type.Ortho, camera_dir=direction, camera_pos=centre,
                    fov=1.2 * radius)


def write_rdf(trajectory, cutoff, bins, path):
    pipeline = import_file(trajectory)
    pipeline.modifiers.append(CoordinationAnalysisModifier(cutoff=cutoff, number_of_bins=bins))
    table = pipeline.compute(pipeline.source.num_frames - 1).tables["coordination-rdf"].xy()
    numpy.savetxt(path, table, delimiter=",", header="r,g", comments="")


def main():
    options = arguments()
    try:
        frames = trajectory(orrery.open(options.run), options.output)
    except orrery.Error as error:
        sys.exit(f"render.py: {error}")
    os.makedirs(options.out, exist_ok=True)
    last = len(frames) - 1
    print(f"{len(frames)} frames of {len(frames[last])} bodies, up to t = {frames[last].time:g}")
    pipeline = import_file(frames.path)
    colour(pipeline, options.color)
    view = look(pipeline, frames[last].positions)
    pipeline.add_to_scene()
    renderer = TachyonRenderer(ambient_occlusion=False, shadows=False, antialiasing_samples=4)
    size = tuple(options.size)
    view.render_image(filename=os.path.join(options.out, "picture.png"), frame=last, size=size,
                      background=(0, 0, 0), renderer=renderer)
    every = -(-len(frames) // options.frames) if options.frames else 1
    view.render_anim(filename=os.path.join(options.out, "movie.mp4"), size=size, fps=20,
                     background=(0, 0, 0), renderer=renderer, every_nth=every)
    if options.rdf:
        write_rdf(frames.path, options.rdf, options.bins, os.path.join(options.out, "rdf.csv"))


main()
