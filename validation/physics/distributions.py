"""Distances of bodies: g(r) of a ball, of an ideal gas and in OVITO; a density of slope -2."""

import csv
import json
import os
import subprocess
import sys

import numpy

import tap
from experiment import bodies_of, experiment, from_file
from rows import columns

GROUP = "Pair distances and densities"


def ball_cumulative(s):
    """Part of the pairs in a uniform ball of radius 1 that are nearer than s: the integral of
    p(s) = 3 s^2 - 9 s^3 / 4 + 3 s^5 / 16."""
    return s**3 - 9 * s**4 / 16 + s**6 / 32


@experiment("uniform-ball", "pair density of a uniform ball; g(r) as OVITO's", GROUP)
def uniform_ball(bench):
    bench.near("integral of p(s) over 0 ≤ s ≤ 2R", ball_cumulative(2.0), 1, 1e-14, "closed form")
    bench.run("uniform-ball")
    table = columns("out.run/radial-distribution.csv")
    start = table["time"] == 0
    systems = int(table["system"].max())
    density = table["pair_density"][start].reshape(systems, -1)
    inner, outer = (table[edge][start][:density.shape[1]] for edge in ("r_inner", "r_outer"))
    expected = (ball_cumulative(outer) - ball_cumulative(inner)) / (outer - inner)
    # Pairs that share a body are not independent: the error is the scatter of the systems.
    z = (density.mean(0) - expected) / (density.std(0, ddof=1) / numpy.sqrt(systems))
    source = "p(s) = 3s²/R³ − 9s³/4R⁴ + 3s⁵/16R⁶, over each shell; standard error of 64 systems"
    bench.near("pair density of 64 balls of 256 bodies: mean square of its departure in errors",
               (z**2).mean(), 1, 0.6, source)
    bench.below("the largest of 50 departures", abs(z).max(), 4.5, source)
    bench.near("sum of the pair density", (density.mean(0) * (outer - inner)).sum(), 1, 1e-13,
               "all pairs are counted")
    check_convention(bench)
    check_ovito(bench)


def check_convention(bench):
    bench.run("uniform-ball", "ensemble.systems=1", "bodies.count=2000", criteria=False)
    table = columns("out.run/radial-distribution.csv")
    volume = 4 * numpy.pi / 3 * (table["r_outer"] ** 3 - table["r_inner"] ** 3)
    g = table["pairs"] * 2 * table["cell_volume"] / (table["bodies"] ** 2 * volume)
    counted = g > 0
    bench.below("g from raw counts, N and V: largest relative difference",
                abs(table["g"] / g - 1)[counted].max(), 1e-14,
                "2n V/(N² (4π/3)(r₂³−r₁³)): N², both orders, no correction at edges")


ASK = """
import json
from ovito.io import import_file
from ovito.modifiers import CoordinationAnalysisModifier
pipeline = import_file("out.run/trajectory.xyz")
pipeline.modifiers.append(CoordinationAnalysisModifier(cutoff=2.0, number_of_bins=50))
print(json.dumps(pipeline.compute(0).tables["coordination-rdf"].xy()[:, 1].tolist()))
"""


def check_ovito(bench):
    """The run of check_convention() once more by OVITO, where it is installed."""
    python = os.environ.get("OVITO_PYTHON", sys.executable)
    result = subprocess.run([python, "-c", ASK], capture_output=True, text=True, timeout=200,
                            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    if result.returncode:
        print("OVITO is not here: its g(r) is not compared")
        return
    theirs = numpy.array(json.loads(result.stdout.splitlines()[-1]))
    table = columns("out.run/radial-distribution.csv")
    ours = table["g"][table["time"] == 0]
    bench.below("g against OVITO's: largest relative difference",
                (abs(ours - theirs) / numpy.maximum(theirs, 1e-300))[theirs > 0].max(), 1e-12,
                "CoordinationAnalysisModifier on trajectory.xyz of the same run")


@experiment("ideal-gas", "an ideal gas in a periodic box", GROUP)
def ideal_gas(bench):
    bench.run("ideal-gas")
    table = columns("out.run/radial-distribution.csv")
    start = table["time"] == 0
    g, pairs = table["g"][start], table["pairs"][start]
    expected = pairs / g * (1 - 1 / 4000)  # counts that g = 1 - 1/N would have
    z = (pairs - expected) / numpy.sqrt(expected)
    source = "g = 1 − 1/N; pairs are independent two by two: √n"
    bench.near("g(r) − 1 + 1/N: mean square in counting errors, 60 shells to L/2", (z**2).mean(), 1,
               4 * numpy.sqrt(2 / len(z)), source)
    bench.below("the largest", abs(z).max(), 4.5, source)


@experiment("isothermal-sphere", "a singular isothermal sphere has the slope −2", GROUP)
def isothermal_sphere(bench):
    generator = numpy.random.Generator(numpy.random.PCG64(2385))
    count = 8192
    x = generator.normal(size=(count, 3))
    # M(r) = 2 sigma^2 r / G: uniform in r. M = R = 1, so sigma^2 = 1/2.
    x *= (generator.uniform(size=count) / numpy.linalg.norm(x, axis=1))[:, None]
    bodies_of("sphere.csv", numpy.full(count, 1 / count), x, numpy.zeros_like(x))
    bench.run(from_file("isothermal-sphere", "sphere.csv"))
    slope = columns("out.run/density-slope.csv")
    bench.near("slope of ln ρ", slope["density_slope"][0], -2, 4 * slope["density_slope_error"][0],
               "ρ = σ²/(2πGr²); four of the error that is stated")
    bench.near("χ² over its degrees of freedom", slope["density_slope_chi2"][0], 1,
               4 * numpy.sqrt(2 / (slope["density_slope_shells"][0] - 2)), "counting noise")
    bench.relative("σ of the fitted A/r²", slope["isothermal_dispersion"][0], numpy.sqrt(0.5),
                   4 * 0.5 / numpy.sqrt(0.95 * count), "G M/2R = σ²; four counting errors")


def slopes_along(r, density):
    """d ln rho / d ln r at every shell, by a line through five."""
    x, y = numpy.log(r), numpy.log(density)
    return numpy.array([numpy.polyfit(x[k - 2:k + 3], y[k - 2:k + 3], 1)[0]
                        for k in range(2, len(x) - 2)])


def turning_radius(r, density):
    """Where the slope of the density is -2, within 0.2 and out of the core's noise."""
    inner = (r[2:-2] > 0.02) & (r[2:-2] < 0.2)
    local = slopes_along(r, density)[inner]
    return numpy.exp(numpy.interp(2, -local, numpy.log(r[2:-2][inner])))


@experiment("collapse-slope", "density of what a collapse leaves, in eight systems", GROUP,
            long=True)
def collapse_slope(bench):
    bench.run("collapse-slope", timeout=580)
    slope = columns("out.run/density-slope.csv")
    late, systems = slope["time"] > 3.15, 8
    members = numpy.array([slope["density_slope"][late & (slope["system"] == s + 1)].mean()
                           for s in range(systems)])
    shells = columns("out.run/density-profile.csv")
    late = shells["time"] > 3.15
    r = shells["r"][late].reshape(-1, 40)[0]
    system = shells["system"][late].reshape(-1, 40)[:, 0]
    frames_of = shells["density"][late].reshape(-1, 40)
    density = numpy.array([frames_of[system == s + 1].mean(0) for s in range(systems)])
    heat = columns("out.run/velocity-dispersion.csv")
    hot = heat["time"] > 3.15
    sigma = numpy.array([heat["central_dispersion"][hot & (heat["system"] == s + 1)].mean()
                         for s in range(systems)])
    king = 3 * sigma / numpy.sqrt(4 * numpy.pi * density[:, r < 0.02].mean(1))
    # An isothermal core, 1 - 3 r^2 / 2 r0^2, and a halo of r^-4 have (1 + r^2/b^2)^-2 as their
    # simplest law, b = sqrt(4/3) r0, whose slope is -2 at b.
    turning = numpy.array([turning_radius(r, one) for one in density])
    fitted = (r > 0.04) & (r < 0.12)
    expected = numpy.array([
        numpy.polyfit(numpy.log(r[fitted]), law, 1, w=numpy.sqrt(r[fitted]**3 * numpy.exp(law)))[0]
        for law in -2 * numpy.log(1 + (r[fitted] / turning[:, None]) ** 2)])
    off = (members - expected).std(ddof=1) / numpy.sqrt(systems)
    bench.near(f"slope between 0.04 and 0.12, mean after t = 3.15 ± {off:.3f}", members.mean(),
               expected.mean(), 3 * off, "fit to (1 + r²/b²)⁻² over the same shells, with the b of "
               "each system, where its own slope is −2; three standard errors of eight systems")
    ratio = turning / king
    off = ratio.std(ddof=1) / numpy.sqrt(systems)
    bench.near(f"b in core radii 3σ/√(4πGρ₀), mean ± {off:.3f}", ratio.mean(), numpy.sqrt(4 / 3),
               3 * off, "isothermal core ρ₀(1 − 3r²/2r₀²) (King 1966) with a halo r⁻⁴: √(4/3); "
               "three standard errors of eight systems")
    halo = (r > 0.2) & (r < 0.8)
    each = [numpy.polyfit(numpy.log(r[halo]), numpy.log(one[halo]), 1)[0] for one in density]
    bench.near("slope of the halo, 0.2 to 0.8", numpy.mean(each), -4,
               4 * numpy.std(each, ddof=1) / numpy.sqrt(systems),
               "bodies thrown nearly to escape: r⁻⁴ (Jaffe 1987); four standard errors")
