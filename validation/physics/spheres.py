"""Spheres with a cusp: samples of 100,000 bodies against their authors' formulas, and that they
stay as they are."""

import numpy

from cusps import Sphere, hernquist, hernquist_dispersion, jaffe, speeds
from experiment import experiment, mean_and_error
from rows import columns, frames
from starts import FAR, distance

GROUP = "Spheres with a cusp"


def sample(bench, name, *keys):
    """The radii and velocities of a sample, and a row of its virial ratio."""
    about = bench.run("cusp-samples", f"bodies.initial={name}",
                      *(f"bodies.{key}" for key in keys), criteria=name == "hernquist",
                      timeout=600)
    _, x, v = frames("out.run/trajectory.xyz")
    count = about["bodies"]
    ratio = columns("out.run/conservation.csv")["virial_ratio"][0]
    # K and W scatter by less than 1/sqrt(N) each, for all slopes here.
    bench.near(f"{name}: 2K/\\|W\\|", ratio, 1, 4 * 2 / numpy.sqrt(count),
               "virial theorem; four errors of 2/√N")
    return numpy.linalg.norm(x[0], axis=1), v[0]


def closed_form(bench, name, mass, psi, f, source):
    radius, v = sample(bench, name)
    one = "one sample in a thousand exceeds 1.95"
    bench.below(f"{name}: Kolmogorov's distance of the radii × √N", distance(mass(radius)), FAR,
                f"M(<r) of {source}; {one}")
    bench.below(f"{name}: the same of the speeds at their radii",
                distance(speeds(radius, numpy.linalg.norm(v, axis=1), psi, f)), FAR,
                f"distribution function f(E) of {source}; {one}")
    return radius, v


def by_jeans(bench, name, slopes, cutoff, *keys):
    """For the models without a closed form here: the radii, <v²> and <v⁴> of ten shells."""
    radius, v = sample(bench, name, *keys)
    sphere = Sphere(*slopes, cutoff)
    bench.below(f"{name}, {', '.join(keys)}: Kolmogorov's distance of the radii × √N",
                distance(sphere.at("mass", radius)), FAR, "the integral of the density")
    for moment, power in (("second", 2), ("fourth", 4)):
        parts = numpy.mean(v**power, axis=1) / sphere.at(moment, radius)
        bench.below(f"{name}: mean v^{power} in ten shells, largest departure in standard errors",
                    largest_departure(radius, parts), 4,
                    "Jeans's equation for isotropic velocities")


def largest_departure(radius, ratio):
    """The largest of ten shells' departures of the mean of `ratio` from 1, in standard errors."""
    shells = (ratio[shell] for shell in numpy.array_split(numpy.argsort(radius), 10))
    return max(abs(mean - 1) / off for mean, off in map(mean_and_error, shells))


@experiment("cusp-samples",
            "100,000 bodies drawn from spheres whose density rises to the centre as r^−γ", GROUP,
            long=True)
def cusp_samples(bench):
    radius, v = closed_form(bench, "hernquist", lambda r: (r / (1 + r)) ** 2,
                            lambda r: 1 / (1 + r), hernquist, "Hernquist (1990)")
    for low, high in ((0.05, 0.2), (0.5, 2), (5, 20)):
        shell = (low < radius) & (radius < high)
        ratio = numpy.mean(v[shell] ** 2, axis=1) / hernquist_dispersion(radius[shell])
        mean, off = mean_and_error(ratio)
        bench.near(f"hernquist: σ² over its formula, {low} < r/a < {high}: mean ± {off:.4f}",
                   mean, 1, 4 * off, "Hernquist 1990, eq. 10; four standard errors")
    closed_form(bench, "jaffe", lambda r: r / (1 + r), lambda r: numpy.log1p(1 / r), jaffe,
                "Jaffe (1983)")
    by_jeans(bench, "dehnen", (0.5, 4), None, "inner_slope=0.5")
    by_jeans(bench, "nfw", (1, 3), 10, "cutoff_radius=10.0")


@experiment("cusp-equilibrium", "Hernquist's sphere keeps its density for ten dynamical times "
            "√(2 r³/GM) of its half-mass radius r", GROUP, long=True)
def cusp_equilibrium(bench):
    bench.run("cusp-equilibrium", timeout=900)
    sphere, count = Sphere(1, 4, 20), 4096
    radii = columns("out.run/lagrangian-radii.csv")
    for percent in (10, 25, 50, 75):
        f = percent / 100
        reference = numpy.exp(numpy.interp(f, sphere.mass, sphere.x))
        slope = numpy.interp(f, sphere.mass, numpy.gradient(sphere.mass, numpy.exp(sphere.x)))
        off = numpy.sqrt(f * (1 - f) / count) / slope / 2
        found = radii[f"radius_{percent}"].reshape(-1, 4).mean(1)  # of the systems
        source = "the integral of the density; four errors of √(f(1−f)/N)/(dM/dr)/2, four systems"
        bench.near(f"Lagrangian radius of f = {percent} % at the start", found[0], reference,
                   4 * off, source)
        bench.near("its mean over the last five dynamical times", found[len(found) // 2:].mean(),
                   reference, 4 * off, "equilibrium; " + source)
