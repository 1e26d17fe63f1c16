"""Many bodies: Plummer's sphere, free fall and what it leaves, the virial theorem, chaos."""

import numpy

from experiment import experiment, mean_and_error
from rows import columns, frames

GROUP = "Star clusters"
A = 3 * numpy.pi / 16  # the scale of Plummer's sphere in Henon's units


def plummer_radius(f):
    return A / numpy.sqrt(f ** (-2 / 3) - 1)


def plummer_radius_error(f, count):
    """sqrt(f (1 - f) / N) / (dM/dr)"""
    r = plummer_radius(f)
    return numpy.sqrt(f * (1 - f) / count) * (r**2 + A**2) ** 2.5 / (3 * A**2 * r**2)


@experiment("plummer-model", "16384 bodies drawn from Plummer's sphere, ρ ∝ (1 + r²/a²)^(−5/2)",
            GROUP)
def plummer_model(bench):
    count = 16384
    about = bench.run("plummer-model")
    initial = about["initial"]
    bench.near("E", initial["energy"], -0.25, 1e-13, "N-body units; the sample is rescaled")
    # The sample's K (1 + k) and U (1 + u) become K (1 + 2k - 2u), U (1 + k - u) when E is rescaled;
    # k and u are near 1/sqrt(N) each, or less.
    bench.near("K", initial["kinetic"], 0.25, 4 * 0.25 * 2 / numpy.sqrt(count),
               "virial theorem; four errors of 2/√N, relative to K")
    bench.near("U", initial["potential"], -0.5, 4 * 0.5 / numpy.sqrt(count),
               "virial theorem; four errors of 1/√N, relative to U")
    bench.near("crossing time G M^(5/2)/(2\\|E\\|)^(3/2)", (2 * -initial["energy"]) ** -1.5,
               2 * numpy.sqrt(2), 1e-12, "2√2")
    radii = columns("out.run/lagrangian-radii.csv")
    given = {1: 0.12996, 10: 0.30868, 25: 0.47781, 50: 0.76857, 75: 1.2811, 90: 2.18367, 99: 7.1842}
    for percent, reference in given.items():
        bench.near(f"Lagrangian radius of f = {percent} %", radii[f"radius_{percent}"][0],
                   reference, 4 * plummer_radius_error(percent / 100, count),
                   "a/√(f^(−2/3)−1), a = 3π/16; four errors of √(f(1−f)/N)/(dM/dr)")
    shells = columns("out.run/density-profile.csv")
    inner = (shells["time"] == 0) & (shells["r_outer"] < 0.31)
    enclosed = [(1 + A**2 / shells[edge][inner] ** 2) ** -1.5 for edge in ("r_inner", "r_outer")]
    expected = (enclosed[1] - enclosed[0]).sum()  # of the mass, in the shells within 0.3
    found = shells["mass"][inner].sum()
    bench.near("central density ρ₀, from the shells within r = 0.3", 1.16804 * found / expected,
               1.16804, 4 * 1.16804 / numpy.sqrt(count * expected),
               "3/(4πa³); four errors of 1/√n, n bodies in the shells")
    heat = columns("out.run/velocity-dispersion.csv")
    r = numpy.linspace(0, heat["central_radius"][0], 1001)[1:]
    weight = r**2 * (1 + r**2 / A**2) ** -2.5
    mean = numpy.sqrt((weight / (6 * numpy.sqrt(r**2 + A**2))).sum() / weight.sum())
    centre = 1 / numpy.sqrt(6 * A)
    bodies = 0.01 * count
    bench.near("velocity dispersion of the innermost percent, extrapolated to r = 0",
               heat["central_dispersion"][0] * centre / mean, 0.53192,
               4 * 0.53192 / numpy.sqrt(6 * bodies),
               "σ² = GM/(6√(r²+a²)); four errors of 1/√(6n), n = 163 bodies")


@experiment("hermite-cluster",
            "block steps of hermite4 with the accuracy parameter η, compared with gauss-radau",
            GROUP)
def hermite_cluster(bench):
    bench.run("hermite-cluster", "time.integrator=gauss-radau", output="exact.run", criteria=False)
    _, exact, _ = frames("exact.run/trajectory.xyz")
    steps, off, energies = [], [], []
    for eta in (0.02, 0.02 / 4, 0.02 / 16):
        about = bench.run("hermite-cluster", f"time.eta={eta}", criteria=eta == 0.02)
        _, x, _ = frames("out.run/trajectory.xyz")
        steps.append(about["own_steps"]["steps"])
        off.append(numpy.sqrt(((x[-1] - exact[-1]) ** 2).mean()))
        energies.append(abs(about["relative_energy_error"]))
    bench.below("root mean square distance from gauss-radau's positions at t = 1, η = 0.02",
                off[0], 1e-5, "no theory: 25 times what was measured first")
    order = numpy.log(off[0] / off[2]) / numpy.log(steps[2] / steps[0])
    bench.near("order, from that distance and the number of steps at η = 0.02 and 0.00125",
               order, 4, 0.5, "fourth order; block steps are powers of two")
    bench.near("number of steps at η = 0.005 over that at η = 0.02", steps[1] / steps[0], 2, 0.2,
               "it grows as 1/√η")
    bench.below("energy error, η = 0.00125", energies[2], 1e-9,
                "fourth order: 1/256 of that at η = 0.02")
    mixed = bench.run("hermite-cluster", "compute.precision=mixed", criteria=False)
    _, x, _ = frames("out.run/trajectory.xyz")
    bench.below("mixed precision: the distance at η = 0.02",
                numpy.sqrt(((x[-1] - exact[-1]) ** 2).mean()),
                1e-5, "the error of the steps, not of the pair terms")
    bench.said("mixed precision: the kernel of the run", mixed["compute"]["kernel"], "hermite",
               "the kernel of this integrator")


@experiment("plummer-equilibrium", "Plummer's sphere stays in equilibrium", GROUP)
def plummer_equilibrium(bench):
    bench.run("plummer-equilibrium")
    radii = columns("out.run/lagrangian-radii.csv")
    for percent in (10, 25, 50, 75, 90):
        found = radii[f"radius_{percent}"].reshape(-1, 16)  # at every time, of every system
        mean, off = mean_and_error(found[0])
        bench.near(f"Lagrangian radius of f = {percent} % at the start, mean ± {off:.4f}", mean,
                   plummer_radius(percent / 100), 4 * off,
                   "a/√(f^(−2/3)−1), a = 3π/16; four standard errors of 16 systems")
        mean, off = mean_and_error(found[2:].mean(0) - found[0])
        bench.near(f"its average from t = 1 to 5 less that at the start, mean ± {off:.4f}", mean, 0,
                   4 * off, "equilibrium; four standard errors of 16 systems")
    energies = columns("out.run/conservation.csv")
    drift = energies["momentum_x"] - energies["momentum_x"][0]
    bench.below("change of the momentum", numpy.abs(drift).max(), 1e-13, "rounding")


def shells_fall(eps, count=200, dt=0.004, end=1.6):
    """Times and U of a uniform sphere of smooth shells of equal mass that fall from rest and pass
    through each other, softened as bodies are: the limit of many bodies."""
    def act(x):
        s, q = abs(x)[None, :], abs(x)[:, None]
        far, near = numpy.sqrt((q + s) ** 2 + eps**2), numpy.sqrt((q - s) ** 2 + eps**2)
        inverse = (far - near) / (2 * q * s)  # the mean of 1/sqrt(d^2 + eps^2) over two shells
        slope = ((q + s) / far - (q - s) / near) / (2 * q * s) - inverse / q
        return -0.5 * inverse.sum() / count**2, slope.sum(1) * numpy.sign(x) / count

    x = ((numpy.arange(count) + 0.5) / count) ** (1 / 3)
    v, energies = numpy.zeros(count), []
    U, a = act(x)
    for _ in range(round(end / dt)):
        energies.append(U)
        v += 0.5 * dt * a
        x = x + dt * v
        U, a = act(x)
        v += 0.5 * dt * a
    return dt * numpy.arange(len(energies)), numpy.array(energies)


def deepest(t, U):
    """When U is least, by a parabola through five points."""
    k = int(U.argmin())
    square, linear, _ = numpy.polyfit(t[k - 2:k + 3] - t[k], U[k - 2:k + 3], 2)
    return t[k] - linear / (2 * square)


def falls(systems):
    """Of every system: t and U."""
    energies = columns("out.run/conservation.csv")
    own = [energies["system"] == s + 1 for s in range(systems)]
    return [(energies["time"][one], energies["potential"][one]) for one in own]


@experiment("free-fall", "a cold sphere collapses in its free-fall time", GROUP)
def free_fall(bench):
    bench.run("free-fall")
    energies, few, many = columns("out.run/conservation.csv"), 125, 500
    start = energies["time"] == 0
    bench.below("K at the start", abs(energies["kinetic"][start]).max(), 0, "at rest")
    coarse = falls(20)
    bench.run("free-fall", f"bodies.count={few}", "ensemble.systems=80", criteria=False)
    coarser = falls(80)
    t, U = shells_fall(0.05)
    sharp_t, sharp_U = shells_fall(1e-3, end=0.95)
    half = (numpy.pi / 4 + 0.5) / numpy.sqrt(2)
    # Shells do not cross before the end, and each follows the cycloid of its own free fall:
    # r = cos^2(eta), t = (eta + sin(eta) cos(eta)) / sqrt(2), and U scales as 1/r.
    bench.relative("check of the theory (shells, almost no softening): U/U₀ at half the radius",
                   numpy.interp(half, sharp_t, sharp_U / sharp_U[0]), 2, 0.005, "cycloid r = cos²η")
    error = "three standard errors of the means over systems"
    start, off = mean_and_error([one[0] for _, one in coarse])
    bench.near("U at the start, mean of 20 systems of 500 bodies", start, U[0] * (1 - 1 / many),
               3 * off,
               f"−3GM²/5R with softening, times 1 − 1/N (no body attracts itself); {error}")
    # Shells that enclose f N bodies have a density that is off by 1/sqrt(f N), and arrive as much
    # too early or too late: the sphere is fully together later, by a time that goes as 1/sqrt(N).
    late, off = mean_and_error([deepest(*one) for one in coarse])
    later, wide = mean_and_error([deepest(*one) for one in coarser])
    limit, ratio = deepest(t, U), numpy.sqrt(few / many)
    bench.near(f"time of the deepest potential at N = 500, mean ± {off:.4f}", late,
               limit + ratio * (later - limit), 3 * numpy.hypot(off, ratio * wide),
               f"{limit:.4f} for smooth shells of the same softening (1.1107 without), plus half "
               f"of the delay at N = 125, {later - limit:.4f} ± {wide:.4f}; {error}")
    bench.near("the same, extrapolated from N = 125 and 500 to N → ∞",
               (late - ratio * later) / (1 - ratio), limit,
               3 * numpy.hypot(off, ratio * wide) / (1 - ratio), f"smooth shells; {error}")
    depth, off = mean_and_error([numpy.interp(half, x, y / y[0]) for x, y in coarse])
    deeper, wide = mean_and_error([numpy.interp(half, x, y / y[0]) for x, y in coarser])
    limit = numpy.interp(half, t, U / U[0])
    bench.near(f"U/U₀ when shells have half the radius, N = 500, mean ± {off:.4f}", depth,
               limit + ratio * (deeper - limit), 3 * numpy.hypot(off, ratio * wide),
               f"{limit:.4f} for smooth shells, plus half of the excess at N = 125; {error}")


def bound_part(m, x, v, eps):
    """Which bodies are bound to the others, by their energies about the bound ones' centre."""
    bound = numpy.ones(len(m), dtype=bool)
    for _ in range(30):
        d = x[:, None, :] - x[None, bound, :]
        inverse = 1 / numpy.sqrt((d**2).sum(2) + eps**2)
        phi = -(inverse * m[bound]).sum(1) + bound * m / eps
        moving = v - (m[bound] @ v[bound]) / m[bound].sum()
        now = bound & (0.5 * (moving**2).sum(1) + phi < 0)
        if (now == bound).all():
            break
        bound = now
    return bound


def remnant(m, x, v, eps):
    """2K/|W| of the bodies that are bound, and the slope of their density from 1 to 8 half-mass
    radii."""
    bound = bound_part(m, x, v, eps)
    mass, x, v = m[bound], x[bound], v[bound]
    x, v = x - numpy.median(x, axis=0), v - mass @ v / mass.sum()
    d = x[:, None, :] - x[None, :, :]
    r2 = (d**2).sum(2)
    W = -0.5 * (mass[:, None] * mass * r2 / (r2 + eps**2) ** 1.5).sum()
    r = numpy.sort(numpy.linalg.norm(x, axis=1))
    counts, edges = numpy.histogram(r, r[len(r) // 2] * numpy.geomspace(1, 8, 7))
    density, middle = counts / numpy.diff(edges**3), numpy.sqrt(edges[1:] * edges[:-1])
    slope = numpy.polyfit(numpy.log(middle), numpy.log(density), 1, w=numpy.sqrt(counts))[0]
    return (mass[:, None] * v**2).sum() / abs(W), slope


@experiment("collapse", "collapses leave remnants in equilibrium, with a halo", GROUP,
            long=True)
def collapse(bench):
    systems, eps = 8, 0.03
    bench.run("collapse", timeout=900)
    times, x, v = frames("out.run/trajectory.xyz")
    x, v = (z[times > 7].reshape(-1, systems, z.shape[1] // systems, 3) for z in (x, v))
    m = numpy.full(x.shape[2], 1 / x.shape[2])
    ratio, slope = numpy.array([[remnant(m, x[k, s], v[k, s], eps) for k in range(len(x))]
                                for s in range(systems)]).mean(1).T
    error = "three standard errors of 8 systems"
    mean, off = mean_and_error(ratio)
    bench.near(f"2K/\\|W\\| of the bound bodies after t = 7, mean ± {off:.4f}", mean, 1, 3 * off,
               f"equilibrium, 2K + W = 0; bodies that escaped are left out; {error}")
    mean, off = mean_and_error(slope)
    bench.near(f"slope of ln ρ against ln r from 1 to 8 half-mass radii, mean ± {off:.3f}", mean,
               -4, 3 * off, f"ρ ∝ r⁻⁴ of bodies that nearly escaped (Jaffe 1987); {error}")


def mean_over(values):
    """The mean over equidistant times, by trapezoids."""
    return (values.sum(0) - 0.5 * (values[0] + values[-1])) / (len(values) - 1)


def virial_means(S):
    """Returns <K>, <U> and <W> of every system over the second half of the run, its E at the start,
    and the growth rate of Q = sum m r.v meanwhile."""
    energies = columns("out.run/conservation.csv")
    times = energies["time"][::S]
    late, span = times > 6 - 1e-9, 6.0
    K, U, W = (mean_over(energies[name].reshape(-1, S)[late])
               for name in ("kinetic", "potential", "virial"))
    _, x, v = frames("out.run/trajectory.xyz")
    Q = (x * v).sum(2).reshape(3, S, -1).mean(2)  # the masses are equal, and M = 1
    return K, U, W, energies["energy"][:S], (Q[2] - Q[1]) / span


@experiment("virial-theorem", "random starts settle to 2⟨K⟩ = −⟨W⟩, and K to −E", GROUP)
def virial_theorem(bench):
    bench.run("virial-theorem")
    start = columns("out.run/conservation.csv")["virial_ratio"][:16]
    bench.below("2K/\\|W\\| at the start less 0.5, the largest of 16 systems",
                abs(start - 0.5).max(), 1e-12, "the config asks for 0.5")
    K, U, W, E, growth = virial_means(16)
    # Both sides are means over the same times; those of K and W err by dt^2 of Verlet's step.
    bench.below("2⟨K⟩ + ⟨W⟩ less the growth rate of Q = Σ m r·v, over \\|⟨W⟩\\|, the largest of 16",
                abs((2 * K + W - growth) / W).max(), 2e-4,
                "dQ/dt = 2K + W (Lagrange 1772) at every t; error of dt²")
    errors = "four standard errors of 16 systems"
    mean, off = mean_and_error(-2 * K / W)
    bench.near(f"2⟨K⟩/\\|⟨W⟩\\| from t = 6 on, mean ± {off:.4f}", mean, 1, 4 * off,
               f"Clausius 1870; {errors}")
    ratio = (W / U).mean()
    mean, off = mean_and_error(-K / E)
    bench.near(f"⟨K⟩/−E, mean ± {off:.4f}", mean, 1 / (2 / ratio - 1), 4 * off,
               f"1/(2U/W − 1), from 2K + W = 0, E = K + U and W/U = {ratio:.4f} (softening); "
               f"{errors}")
    # With softening a tenth of the box it is 2K + W that vanishes, and 2K + U does not.
    bench.run("virial-theorem", "physics.softening=0.2", criteria=False, status=1)
    K, U, W, _, _ = virial_means(16)
    mean, off = mean_and_error(-2 * K / W)
    bench.near(f"ε = 0.2: 2⟨K⟩/\\|⟨W⟩\\|, mean ± {off:.4f}", mean, 1, 4 * off,
               f"equilibrium is 2K + W = 0; {errors}")
    mean, off = mean_and_error(1 + 2 * K / U)
    bench.near(f"ε = 0.2: 1 − 2⟨K⟩/\\|⟨U⟩\\|, mean ± {off:.4f}", mean, 1 - (W / U).mean(), 4 * off,
               f"1 − W/U: 2K + U is not 0; {errors}")


def paces(times, away):
    """The e-folding time of every column, between t = 0.5 and where it is 0.03."""
    found = []
    for one in away.T:
        linear = (times >= 0.5) & (numpy.arange(len(times)) < numpy.argmax(one >= 0.03))
        found.append(1 / numpy.polyfit(times[linear], numpy.log(one[linear]), 1)[0])
    return numpy.array(found)


@experiment("chaos", "trajectories are lost in a few crossing times, statistics are not", GROUP)
def chaos(bench):
    bench.run("chaos", output="one.run")
    finer = ["time.step=0.0025", *(f"{item}.every=200" for item in (
        "diagnostics.0", "diagnostics.1", "outputs.0"))]
    bench.run("chaos", *finer, output="two.run", criteria=False)
    times, x, _ = frames("one.run/trajectory.xyz")
    _, y, _ = frames("two.run/trajectory.xyz")
    x, y = (z.reshape(len(times), 16, -1, 3) for z in (x, y))
    size = numpy.sqrt((x[0] ** 2).sum(2).mean(1))
    away = numpy.sqrt(((x - y) ** 2).sum(3).mean(2)) / size
    bench.below("distance of the runs with dt and dt/2 at t = 0.5, over the size of the system, "
                "the largest of 16", away[times == 0.5].max(), 1e-4,
                "error of dt²: they agree at first")
    mean, off = mean_and_error(paces(times, away) / (2 * numpy.sqrt(2)))
    bench.below(f"e-folding time of that distance in crossing times: mean (± {off:.4f}) plus four "
                "standard errors", mean + 4 * off, 1,
                "a crossing time or less (Goodman, Heggie & Hut 1993)")
    mean, off = mean_and_error(away[-1])
    bench.above(f"that distance after seven crossing times: mean (± {off:.3f}) less four standard "
                "errors", mean - 4 * off, 0.5,
                "√2 if nothing is left in common")
    half = [columns(f"{run}.run/lagrangian-radii.csv") for run in ("one", "two")]
    late = half[0]["time"] > 10
    one, two = (radii["radius_50"][late].reshape(-1, 16).mean(0) for radii in half)
    change, off = mean_and_error(one - two)
    bench.near(f"difference of their half-mass radii after t = 10, mean ± {off:.4f}", change, 0,
               4 * off, "statistics agree; four standard errors of 16 systems")
    statistics = columns("one.run/conservation-ensemble.csv")
    bench.said("systems left out for an energy error above 1e-3", int(statistics["left_out"][-1]),
               int((numpy.array([columns("one.run/conservation.csv")["energy_error"][s - 16]
                                 for s in range(16)]) > 1e-3).sum()),
               "as many as have such an error in conservation.csv")
