"""examples/ovito/render.py: a picture, a film and g(r), coloured in every way that it offers."""

import os
import pathlib
import subprocess
import sys

import numpy

import tap

RENDER = pathlib.Path(tap.SOURCE, "examples/ovito/render.py")

CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 60; seed = 3; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 0.04; };
outputs = ( { type = "xyz"; every = 2;
              columns = "species pos velo mass id kinetic_energy local_energy"; } );
"""


def script(*arguments):
    """What render.py says, with the package as it stands in the tree."""
    for module in ("ovito", "pandas"):
        tap.need(module)
    environment = {**os.environ, "PYTHONPATH": os.path.join(tap.SOURCE, "python"),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, RENDER, *arguments], capture_output=True, text=True,
                          timeout=300, env=environment)


def render(*arguments):
    pathlib.Path("run.cfg").write_text(CLUSTER)
    result = tap.run("run", "run.cfg", "-q", "--force", "-P", "ensemble.systems=2")
    assert result.returncode == 0, result.stderr
    result = script("cluster.run", "--out", "out", "--size", "64", "48", *arguments)
    if result.returncode and "Vulkan" in result.stderr:
        raise tap.Skip("OVITO finds no Vulkan driver (Debian: mesa-vulkan-drivers)")
    assert result.returncode == 0, result.stderr
    assert "3 frames of 120 bodies, up to t = 0.04" in result.stdout, result.stdout


def test_picture_film_and_rdf():
    render("--rdf", "2.0", "--bins", "40")
    picture = pathlib.Path("out/picture.png").read_bytes()
    # Width and height stand behind the signature and the name of the chunk IHDR (ISO 15948).
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(picture[k:k + 4], "big") for k in (16, 20)] == [64, 48]
    assert pathlib.Path("out/movie.mp4").stat().st_size > 500
    table = numpy.genfromtxt("out/rdf.csv", delimiter=",", names=True)
    # The middles of 40 bins up to 2; a cluster is denser near a body than on the average.
    assert numpy.allclose(table["r"], (numpy.arange(40) + 0.5) * 0.05)
    assert table["g"][5:15].mean() > table["g"][-5:].mean() > 0


def test_colours():
    tap.thorough()
    pictures = []
    for color in ("speed", "energy", "system"):
        render("--color", color, "--frames", "1")
        pictures.append(pathlib.Path("out/picture.png").read_bytes())
    assert len(set(pictures)) == 3


def test_errors():
    """no run, a run without trajectory and an output that is not there are told in one line"""
    assert script(".").stderr == "render.py: .: is no run and no study: there is no run.json, " \
        "and no study.json\n"
    pathlib.Path("run.cfg").write_text(CLUSTER)
    result = tap.run("run", "run.cfg", "-q")
    assert result.returncode == 0, result.stderr
    assert script("cluster.run", "--output", "b.xyz").stderr == \
        "render.py: cluster.run has no b.xyz; there are trajectory.xyz\n"
    tap.run("run", "run.cfg", "-q", "--force", "-P", "outputs=()")
    said = script("cluster.run").stderr
    assert said == "render.py: cluster.run has no trajectory (outputs: xyz)\n", said
    assert not pathlib.Path("picture.png").exists()


tap.main()
