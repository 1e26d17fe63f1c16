#!/usr/bin/env python3
"""Pictures, a film and g(r) of a trajectory, through the OVITO Python module (pip install ovito).

    render.py DIR/trajectory.xyz [--color speed|energy|system] [--out FOLDER] [--frames N] [--rdf R]

Writes picture.png (the last frame), movie.mp4 (all frames) and, with --rdf R, rdf.csv, g(r) up to
the distance R. `energy` needs the columns kinetic_energy and local_energy in the trajectory,
`system` the column cluster, which ensembles have.
"""

import argparse
import os

os.environ.setdefault("OVITO_GUI_MODE", "0")  # no display is needed

import numpy
from ovito.io import import_file
from ovito.modifiers import (ColorCodingModifier, ComputePropertyModifier,
                             CoordinationAnalysisModifier)
from ovito.vis import TachyonRenderer, Viewport

# What each choice colours by: an expression of OVITO over a body's properties.
EXPRESSIONS = {
    "speed": "sqrt(Velocity.X^2 + Velocity.Y^2 + Velocity.Z^2)",
    "energy": "KineticEnergy + PotentialEnergy",
    "system": "Cluster",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trajectory")
    parser.add_argument("--color", choices=EXPRESSIONS, default="speed")
    parser.add_argument("--out", default=".", help="folder to write to")
    parser.add_argument("--frames", type=int, help="the most frames in the film")
    parser.add_argument("--rdf", type=float, help="g(r) up to this distance")
    parser.add_argument("--bins", type=int, default=200)
    parser.add_argument("--size", type=int, nargs=2, default=(800, 600))
    return parser.parse_args()


def colour(pipeline, by):
    """Colours the bodies of every frame by an expression, on the range of the last frame."""
    pipeline.modifiers.append(ComputePropertyModifier(output_property="Shown",
                                                      expressions=[EXPRESSIONS[by]]))
    shown = pipeline.compute(pipeline.source.num_frames - 1).particles["Shown"]
    low, high = numpy.percentile(shown, [2, 98])
    pipeline.modifiers.append(ColorCodingModifier(
        property="Shown", start_value=low, end_value=high if high > low else low + 1,
        gradient=ColorCodingModifier.Viridis()))


def look(pipeline):
    """A viewport that holds nine bodies of ten of the last frame."""
    data = pipeline.compute(pipeline.source.num_frames - 1)
    position = data.particles.positions[...]
    centre = numpy.median(position, axis=0)
    radius = numpy.percentile(numpy.linalg.norm(position - centre, axis=1), 90) or 1.0
    data.particles.vis.radius = 0.02 * radius
    pipeline.source.data.particles.vis.radius = 0.02 * radius
    pipeline.source.data.cell.vis.enabled = False
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
    os.makedirs(options.out, exist_ok=True)
    pipeline = import_file(options.trajectory)
    frames = pipeline.source.num_frames
    print(f"{frames} frames of {pipeline.compute(0).particles.count} bodies")
    colour(pipeline, options.color)
    view = look(pipeline)
    pipeline.add_to_scene()
    renderer = TachyonRenderer(ambient_occlusion=False, shadows=False, antialiasing_samples=4)
    size, last = tuple(options.size), frames - 1
    view.render_image(filename=os.path.join(options.out, "picture.png"), frame=last, size=size,
                      background=(0, 0, 0), renderer=renderer)
    every = -(-frames // options.frames) if options.frames else 1
    view.render_anim(filename=os.path.join(options.out, "movie.mp4"), size=size, fps=20,
                     background=(0, 0, 0), renderer=renderer, every_nth=every)
    if options.rdf:
        write_rdf(options.trajectory, options.rdf, options.bins,
                  os.path.join(options.out, "rdf.csv"))


main()
