"""Few bodies: Kepler's problem, the softened pair, figure eight, Pythagorean problem, planets."""

import os

import numpy

import tap
from experiment import bodies_of, experiment
from rows import columns, frames

GROUP = "Few bodies"
TURN = 2 * numpy.pi


def slope(x, y):
    return numpy.polyfit(numpy.log(x), numpy.log(y), 1)[0]


# --- Kepler -------------------------------------------------------------------------------------

def kepler_position(mean_anomaly, e):
    """Place on an ellipse of a = 1, x to the pericentre; Kepler's equation by Newton's method."""
    E = numpy.asarray(mean_anomaly, dtype=float)
    for _ in range(60):
        E = E - (E - e * numpy.sin(E) - mean_anomaly) / (1 - e * numpy.cos(E))
    return numpy.cos(E) - e, numpy.sqrt(1 - e * e) * numpy.sin(E)


def verlet_theory(e, r):
    """Of velocity Verlet on an ellipse of a = G M = 1 from distance r at a turning point, in units
    of dt^2: the rates of the pericentre and of the mean longitude, and the range of dE/|E0|.

    The orbit is that of H + dt^2 H2, H2 = v.U''.v/12 - a^2/24. Its mean over the orbit is
    (1 + e^2/2) / (24 eta^5), eta^2 = 1 - e^2; Hamilton's equations for Delaunay's L and G, and the
    mean energy that a start at r has, give what follows."""
    eta = numpy.sqrt(1 - e * e)

    def H2(r):
        vt2 = (1 - e * e) / r**2
        vr2 = 2 / r - 1 - vt2
        return (vt2 - 2 * vr2) / (12 * r**3) - 1 / (24 * r**4)

    mean = (1 + e * e / 2) / (24 * eta**5)
    apse = -(4 + e * e) / (16 * eta**6)
    anomaly = -3 * (H2(r) - mean) + (-4.5 / eta**5 + 2.5 / eta**3) / 24
    return apse, apse + anomaly, H2(1 - e) - H2(1 + e)


def apocentre_scale(e):
    """What energy errors are measured in from the apocentre of a = G M = 1: |U0| is more than
    |E0| = 1/2 there."""
    return 1 / (1 + e)


@experiment("kepler-1000", "a pair with e = 0.6 for a thousand revolutions, by three methods",
            GROUP)
def kepler_1000(bench):
    e, h = 0.6, TURN / 2000
    bench.run("kepler-1000")
    orbit, energies = columns("out.run/orbit.csv"), columns("out.run/conservation.csv")
    time, last = orbit["time"], orbit["time"][-1]
    apse, longitude, swing = (h * h * rate for rate in verlet_theory(e, 1 + e))
    source = "perturbation by the method's first error term, dt² H₂; the next is of dt⁴"
    bench.relative("velocity Verlet: apsidal advance per revolution (rad), "
                   "−2π (4+e²)/(16 (1−e²)³) dt²",
                   orbit["apse_turn"][-1] / last * TURN, apse * TURN, 1e-3, source)
    bench.relative("velocity Verlet: mean longitude after 1000 revolutions, less the exact (rad)",
                   (TURN / orbit["mean_period"][-1] - 1) * last, longitude * last, 1e-3, source)
    error = abs(energies["relative_energy_error"])
    half = len(error) // 2
    bench.relative("velocity Verlet: max \\|E − E₀\\|/\\|U₀\\|, at the pericentre", error.max(),
                   swing / apocentre_scale(e), 1e-3, source)
    bench.near("velocity Verlet: largest energy error, revolutions 501-1000 over 1-500",
               error[half:].max() / error[:half].max(), 1, 2e-3, "bounded: no secular term")
    # Once a revolution, at the apocentre, where the phase error has no periodic part.
    whole = abs(orbit["revolutions"] - numpy.rint(orbit["revolutions"])) < 3e-3
    whole &= time > 100 * TURN
    bench.near("velocity Verlet: exponent of the phase error's growth in t",
               slope(time[whole], abs(orbit["phase_error"][whole])), 1, 0.02,
               "linear; from the rows within 1/300 revolution of the apocentre")
    for column, bound in (("semi_major_axis_error", 8 * h * h), ("eccentricity_error", 8 * h * h)):
        bench.below(f"velocity Verlet: largest `{column}`", abs(orbit[column]).max(), bound,
                    "bounded, 8 dt²: no secular term")
    bench.below("velocity Verlet: largest distance from the plane",
                abs(orbit["out_of_plane"]).max(), 1e-12,
                "rounding; L keeps its direction")
    bench.above("velocity Verlet: largest error along the orbit over largest radial error",
                abs(orbit["along_track"]).max() / abs(orbit["radial"]).max(), 5,
                "most of the error is of the phase")
    # The reference itself: Kepler's equation solved here. Its x axis points to the apocentre.
    x, y = kepler_position(time + numpy.pi, e)
    distance = numpy.hypot(orbit["reference_x"] + x, orbit["reference_y"] + y)
    bench.below("largest distance of `orbit`'s reference from Kepler's equation, solved by Newton",
                distance.max(), 1e-10, "rounding of the mean anomaly, 6283 × 1e-16, at e = 0.6")
    symplectic_euler(bench, e, h)
    runge_kutta(bench, e, 4 * h)


def symplectic_euler(bench, e, h):
    bench.run("kepler-1000", "time.integrator=semi-implicit-euler", criteria=False, status=1)
    error = columns("out.run/conservation.csv")["relative_energy_error"]
    f = numpy.linspace(0, numpy.pi, 100001)
    # v.a = -v_r / r^2, v_r = e sin f / sqrt(p), r = p / (1 + e cos f), p = 1 - e^2
    va = (e * numpy.sin(f) / numpy.sqrt(1 - e * e) * ((1 + e * numpy.cos(f)) / (1 - e * e)) ** 2)
    bench.relative("semi-implicit Euler: max \\|E − E₀\\|/\\|U₀\\| = dt/2 max \\|v·a\\|/\\|U₀\\|",
                   abs(error).max(), 0.5 * h * va.max() / apocentre_scale(e), 0.02,
                   "H + dt/2 Σ m v·a is conserved; the next term is of dt²")
    half = len(error) // 2
    bench.near("semi-implicit Euler: largest energy error, revolutions 501-1000 over 1-500",
               abs(error[half:]).max() / abs(error[:half]).max(), 1, 0.01, "bounded")


def runge_kutta_theory(e, h):
    """The change of E a revolution of a = G M = 1: what single steps from points of the exact orbit
    add, in the mean. The terms of h^4 cancel over an orbit; those of h^5 do not."""
    def rates(x, y, vx, vy):
        r3 = numpy.hypot(x, y) ** 3
        return numpy.array([vx, vy, -x / r3, -y / r3])

    def energy(x, y, vx, vy):
        return 0.5 * (vx**2 + vy**2) - 1 / numpy.hypot(x, y)

    points = 4096
    M = numpy.arange(points) / points * TURN
    E = M.copy()
    for _ in range(60):
        E = E - (E - e * numpy.sin(E) - M) / (1 - e * numpy.cos(E))
    r, b = 1 - e * numpy.cos(E), numpy.sqrt(1 - e * e)
    state = numpy.array([numpy.cos(E) - e, b * numpy.sin(E), -numpy.sin(E) / r,
                         b * numpy.cos(E) / r])
    k1 = rates(*state)
    k2 = rates(*(state + h / 2 * k1))
    k3 = rates(*(state + h / 2 * k2))
    k4 = rates(*(state + h * k3))
    after = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return (energy(*after) - energy(*state)).mean() / h * TURN


def runge_kutta(bench, e, h):
    """With as many forces as velocity Verlet: four times its step."""
    bench.run("kepler-1000", "time.integrator=rk4", f"time.step={h!r}", "watch.on_jump=warn",
              criteria=False)
    energies = columns("out.run/conservation.csv")
    time, error = energies["time"], energies["relative_energy_error"]
    bench.relative("rk4, with as many forces as Verlet: (E − E₀)/\\|U₀\\| per revolution",
                   numpy.polyfit(time, error, 1)[0] * TURN,
                   runge_kutta_theory(e, h) / apocentre_scale(e), 0.01,
                   "mean over single steps from the exact orbit; it is of dt⁵, and the period "
                   "changes as well")
    half = len(error) // 2
    bench.near("rk4: largest energy error, revolutions 501-1000 over 1-500",
               abs(error[half:]).max() / abs(error[:half]).max(), 2, 0.05,
               "secular: it grows with time, unlike velocity Verlet's")


def euler_theory(e, h, revolutions):
    """E and the mean anomaly's lead, by explicit Euler from a = G M = 1, after a number of
    revolutions of the true orbit. In the mean over an orbit a step adds h^2 <r^-4> to E and
    multiplies L by 1 + h^2 <r^-3>; classical Runge-Kutta on these."""
    def rates(state):
        E, L, _ = state
        a = -0.5 / E
        eta = L / numpy.sqrt(a)
        return numpy.array([h * (1 + (1 - eta**2) / 2) / (a**4 * eta**5), h * L / (a * eta) ** 3,
                            (-2 * E) ** 1.5 - 1])

    state, dt = numpy.array([-0.5, numpy.sqrt(1 - e * e), 0.0]), TURN / 20
    for _ in range(20 * revolutions):
        k1 = rates(state)
        k2 = rates(state + dt / 2 * k1)
        k3 = rates(state + dt / 2 * k2)
        k4 = rates(state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


def check_euler(bench, revolutions, steps):
    e, h = 0.6, TURN / steps
    orbit, energies = columns("out.run/orbit.csv"), columns("out.run/conservation.csv")
    E, L, lead = euler_theory(e, h, revolutions)
    source = "dE/dt = h ⟨r⁻⁴⟩, dL/dt = h L ⟨r⁻³⟩ for the step h"
    bench.relative(f"(E − E₀)/\\|U₀\\| after {revolutions} revolutions of {steps} steps",
                   energies["relative_energy_error"][-1], (E + 0.5) / apocentre_scale(e), 0.02,
                   source)
    bench.relative("relative error of a", orbit["semi_major_axis_error"][-1], -0.5 / E - 1, 0.02,
                   source)
    bench.relative("mean longitude, less the exact (rad)", (TURN / orbit["mean_period"][-1] - 1)
                   * orbit["time"][-1], lead, 0.02, source + ", dλ/dt = (−2E)^(3/2)")
    return orbit


@experiment("kepler-euler-growth", "explicit Euler, e = 0.6: the error of the energy grows "
            "linearly, that of the phase quadratically", GROUP)
def kepler_euler_growth(bench):
    bench.run("kepler-euler-growth")
    orbit = check_euler(bench, 10, 1000000)
    whole = numpy.arange(2, 11) * 20  # revolutions 2 to 10; twenty rows each
    bench.near("exponent of the phase error's growth in t",
               slope(orbit["time"][whole], abs(orbit["phase_error"][whole])), 2, 0.02,
               "quadratic: the period changes linearly")
    bench.near("exponent of the growth of a",
               slope(orbit["time"][whole], orbit["semi_major_axis_error"][whole]), 1, 0.02,
               "linear while it is small")


@experiment("kepler-euler-1000", "the same for a thousand revolutions", GROUP, long=True)
def kepler_euler_1000(bench):
    bench.run("kepler-euler-growth", "time.step=6.283185307179587e-6",
              "time.end=6283.185307179587", "diagnostics.0.every=10000000",
              "diagnostics.1.every=10000000", "expect.0.at_most=1.0", criteria=False, timeout=400)
    check_euler(bench, 1000, 1000000)


@experiment("kepler-verlet", "a light body about a heavy one by velocity Verlet, from the "
            "apocentre with a velocity along z", GROUP)
def kepler_verlet(bench):
    bench.run("kepler-verlet")
    _, positions, _ = frames("out.run/trajectory.xyz")
    relative = positions[:, 1] - positions[:, 0]
    bench.below("largest distance from the xz plane", abs(relative[:, 1]).max(), 0,
                "nothing ever pulls along y")
    # Distance from the ellipse r (1 + e cos(f)) = a (1 - e^2) whose far point is on +x.
    r = numpy.hypot(relative[:, 0], relative[:, 2])
    h = 0.01
    turned = abs(verlet_theory(0.5, 1.5)[0]) * h * h * 10 * TURN
    bench.below("largest distance from the analytic ellipse",
                abs(r - 0.5 * relative[:, 0] - 0.75).max(),
                turned, "the apsidal advance of ten revolutions, times a")


@experiment("kepler-euler", "the same by explicit Euler, which leaves the ellipse", GROUP)
def kepler_euler(bench):
    bench.run("kepler-euler")
    _, positions, _ = frames("out.run/trajectory.xyz")
    r = numpy.linalg.norm(positions[:, 1] - positions[:, 0], axis=1)
    bench.above("largest distance", r.max(), 2.5, "the ellipse reaches to 1.5")
    axis = columns("out.run/orbit.csv")["semi_major_axis_error"]
    parts = [part.mean() for part in numpy.array_split(axis, 4)]
    bench.said("relative error of a, averaged over each quarter of the run", "grows"
               if parts == sorted(parts) and parts[0] > 0 else "does not grow", "grows",
               "explicit Euler adds energy at every step")


# --- the softened pair --------------------------------------------------------------------------

def relative_motion():
    """Times, separation and relative velocity of body 2, seen from body 1."""
    times, x, v = frames("out.run/trajectory.xyz")
    return times, x[:, 1] - x[:, 0], v[:, 1] - v[:, 0]


def angle_of(x):
    return numpy.unwrap(numpy.arctan2(x[:, 1], x[:, 0]))


def pericentres(times, x, v):
    """Angles at which r.v passes zero upwards, from polynomials through six frames."""
    speed, angle = (x * v).sum(1), angle_of(x)
    found = []
    for k in range(3, len(times) - 3):
        if speed[k] < 0 <= speed[k + 1]:
            near = slice(k - 2, k + 4)
            s = times[near] - times[k]
            along = numpy.polyfit(s, speed[near] / abs(speed[near]).max(), 5)
            zero = [z.real for z in numpy.roots(along)
                    if abs(z.imag) < 1e-9 and s[2] - 1e-9 <= z.real <= s[3] + 1e-9]
            found.append(angle[k] + numpy.polyval(numpy.polyfit(s, angle[near] - angle[k], 5),
                                                  zero[0]))
    return found


@experiment("softened-orbit", "a softened pair: its period on a circle, and the apsidal advance "
            "of an orbit close to that", GROUP)
def softened_orbit(bench):
    for eps, excess, given in ((0.1, 0.749066e-2, -5.230302), (0.01, 7.4999e-5, -0.053982)):
        where = (f"physics.softening={eps}",)
        bench.run("softened-orbit", *where, criteria=eps == 0.1)
        times, x, _ = relative_motion()
        turned = angle_of(x)[-1]
        measured = times[-1] / turned - 1
        exact = (1 + eps**2) ** 0.75 - 1
        bench.relative(f"ε/r = {eps}: period over Kepler's, less 1", measured, exact, 1e-6,
                       f"(1+ε²/r²)^(3/4) − 1 = {excess:.6g}")
        # A little faster than the circle, hence slightly eccentric: v up by a millionth.
        bench.run("softened-orbit", *where, "bodies.virial_ratio=1.000002", criteria=False)
        times, x, v = relative_motion()
        turns = pericentres(times, x, v)
        r = numpy.sqrt((x**2).sum(1))
        r2 = (0.5 * (r.max() + r.min())) ** 2
        kappa = numpy.sqrt((r2 + 4 * eps**2) / (r2 + eps**2))
        measured = numpy.degrees(turns[-1] - turns[0]) / (len(turns) - 1) - 360
        bench.relative(f"ε/r = {eps}: apsidal advance per radial period (degrees)", measured,
                       360 * (1 / kappa - 1), 1e-6 if eps == 0.1 else 2e-5,
                       f"radial over angular frequency: √((r²+4ε²)/(r²+ε²)) at the mean r; on the "
                       f"circle {given}"
                       + ("" if eps == 0.1 else "; rounding of 1e-6 degrees"))


@experiment("rosette", "an eccentric softened pair, compared with the reference of its `orbit` "
            "diagnostic", GROUP)
def rosette(bench):
    bench.run("rosette")
    orbit, energies = columns("out.run/orbit.csv"), columns("out.run/conservation.csv")
    x, y = kepler_position(orbit["time"], 0.6)
    distance = numpy.hypot(orbit["reference_x"] - x, orbit["reference_y"] - y)
    bench.above("largest distance of the reference from Kepler's ellipse", distance.max(), 0.5,
                "the reference is softened: softening is no error")
    L = energies["angular_momentum_z"]
    bench.below("change of L", numpy.ptp(L) / L[0], 1e-12, "central forces; rounding")
    x, y = rosette_by_runge_kutta(orbit["time"][-1], 100000)
    error = numpy.hypot(orbit["reference_x"][-1] - x, orbit["reference_y"][-1] - y)
    bench.below("distance of its end from that of a Runge-Kutta method of fourth order", error,
                1e-9, "100 000 steps of 6e-4, with an error of some 1e-10")


def rosette_by_runge_kutta(end, steps):
    """Place of the pair of rosette.cfg, by the classical method; plain numbers are fastest here."""
    def rates(x, y, vx, vy):
        pull = -(x * x + y * y + 0.01) ** -1.5
        return vx, vy, pull * x, pull * y

    state, h = (0.4, 0.0, 0.0, 2.0), end / steps  # v^2 = (1 + e) / (1 - e)
    for _ in range(steps):
        k1 = rates(*state)
        k2 = rates(*(s + h / 2 * k for s, k in zip(state, k1)))
        k3 = rates(*(s + h / 2 * k for s, k in zip(state, k2)))
        k4 = rates(*(s + h * k for s, k in zip(state, k3)))
        state = tuple(s + h / 6 * (p + 2 * q + 2 * r + t)
                      for s, p, q, r, t in zip(state, k1, k2, k3, k4))
    return state[:2]


# --- three bodies and more ----------------------------------------------------------------------

@experiment("figure-eight", "three equal masses on one curve, for a period", GROUP)
def figure_eight(bench):
    about = bench.run("figure-eight")
    source = "Chenciner & Montgomery 2000"
    bench.near("E", about["initial"]["energy"], -1.287141992, 1e-8,
               source + "; the digits that were published")
    bench.near("U", about["initial"]["potential"], -2.5, 1e-7, source)
    bench.below("L", max(map(abs, about["initial"]["angular_momentum"])), 1e-8, source + ": 0")
    times, x, _ = frames("out.run/trajectory.xyz")
    bench.near("end of the run", times[-1], 6.32591398, 1e-12, source + ": the period")
    bench.below("distance from the start after a period", abs(x[-1] - x[0]).max(), 2e-7,
                "closed to about 1e-7 by the published digits")
    third = len(times) // 3
    bench.below("distance of body 1 after a third of the period from another's start",
                min(numpy.linalg.norm(x[third, 0] - x[0, k]) for k in (1, 2)), 2e-7,
                "each follows another by a third of the period")


@experiment("pythagorean",
            "masses 3, 4, 5 from rest: with a fixed step the verdict must be *failed*", GROUP)
def pythagorean(bench):
    about = bench.run("pythagorean", status=1)
    bench.near("E", about["initial"]["energy"], -12.8166667, 1e-7,
               "−(3·4/5 + 3·5/4 + 4·5/3), Burrau 1913")
    bench.below("L", max(map(abs, about["initial"]["angular_momentum"])), 0, "at rest")
    bench.said("verdict", about["verdict"], "failed", "encounters are much faster than the step")
    bench.said("exit status", about["exit_status"], 1, "the verdict")
    with open("out.run/run.log", encoding="utf-8") as file:
        warning = "fastest pair: bodies 2 and 3" in file.read()
    bench.said("a warning names the pair", "bodies 2 and 3" if warning else "no",
               "bodies 2 and 3", "they are 0.034 apart at t = 1.88")
    bench.above("jumps of the energy that the watch saw", about["watch"]["energy_jumps"], 1,
                "at least one")


# Masses 3, 4, 5 at t = 10: by Taylor's series of order 30 with 40 digits, which agrees with the 15
# that Brutus gives for the first body (Boekholt & Portegies Zwart 2015).
PYTHAGOREAN_AT_10 = numpy.array([[0.77848041013808549, 0.14139230029008617, 0.0],
                                 [-2.0250924779781986, 0.097219384146058397, 0.0],
                                 [1.1529857362997076, -0.16261088749089842, 0.0]])


@experiment("gauss-radau-pythagorean", "the same by gauss-radau, which chooses its steps", GROUP)
def gauss_radau_pythagorean(bench):
    about = bench.run("gauss-radau-pythagorean")
    times, x, _ = frames("out.run/trajectory.xyz")
    assert times[1] == 10.0
    bench.below("largest error of a coordinate at t = 10", abs(x[1] - PYTHAGOREAN_AT_10).max(),
                1e-9, "Taylor's series with 40 digits; Boekholt & Portegies Zwart 2015")
    bench.said("verdict", about["verdict"], "held", "every encounter is followed")
    bench.said("the pair behind the smallest step", str(about["own_steps"]["pair"]), "[2, 3]",
               "they pass at a distance of 4e-4 at t = 15.83 (Szebehely & Peters 1967)")
    bench.below("smallest step", about["own_steps"]["smallest"], 1e-6,
                "about the time that the passage takes")


# Test Set for Initial Value Problems (Mazzia & Magherini 2008), problem PLEI.
PLEIADES_X = [3, 3, -1, -3, 2, -2, 2]
PLEIADES_Y = [3, -3, 2, 0, 0, -4, 4]
PLEIADES_VX = [0, 0, 0, 0, 0, 1.75, -1.5]
PLEIADES_VY = [0, 0, 0, -1.25, 1, 0, 0]
PLEIADES_END = numpy.array([
    [0.3706139143970502, 3.237284092057233, -3.222559032418324, 0.6597091455775310,
     0.3425581707156584, 1.562172101400631, -0.7003092922212495],
    [-3.943437585517392, -3.271380973972550, 5.225081843456543, -2.590612434977470,
     1.198213693392275, -0.2429682344935824, 1.091449240428980]]).T


@experiment("gauss-radau-pleiades", "the Pleiades problem (seven bodies in a plane) at t = 3",
            GROUP)
def gauss_radau_pleiades(bench):
    zeros = [0] * 7
    bodies_of("pleiades.csv", range(1, 8), zip(PLEIADES_X, PLEIADES_Y, zeros),
              zip(PLEIADES_VX, PLEIADES_VY, zeros))
    bench.run("gauss-radau-pleiades", 'bodies.file="pleiades.csv"')
    _, x, _ = frames("out.run/trajectory.xyz")
    bench.below("largest error of a coordinate at t = 3", abs(x[-1][:, :2] - PLEIADES_END).max(),
                1e-10, "Mazzia & Magherini 2008, 16 digits")


@experiment("gauss-radau-planets", "the outer planets for a thousand years", GROUP)
def gauss_radau_planets(bench):
    about = bench.run("gauss-radau-planets")
    bench.near("number of steps", about["own_steps"]["steps"], 3091, 31,
               "as many as IAS15 of REBOUND 5.2.2 takes, within a percent")


@experiment("gauss-radau-rounding", "the roundings of a million steps are a random walk", GROUP,
            long=True)
def gauss_radau_rounding(bench):
    errors = []
    for e in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        about = bench.run("gauss-radau-rounding", f"bodies.eccentricity={e}", criteria=e == 0.3)
        errors.append(columns("out.run/conservation.csv")["relative_energy_error"])
        if e == 0.3:
            bench.near("number of steps at e = 0.3", about["own_steps"]["steps"], 1e6, 1e5,
                       "a million, which `end` was chosen for")
    errors = numpy.array(errors) / numpy.std(errors, axis=1, keepdims=True)
    lags = 10 * 2 ** numpy.arange(7)
    walked = [numpy.sqrt(numpy.mean((errors[:, lag:] - errors[:, :-lag]) ** 2)) for lag in lags]
    bench.near("exponent of the growth of the energy error", slope(lags, walked), 0.5, 0.15,
               "Brouwer 1937: a random walk; rounded coefficients of the method would give 1")


def planets_by_runge_kutta(masses, x, v, end, steps):
    """The outer planets by the classical method of fourth order; independent of the program."""
    def acceleration(x):
        d = x[None, :, :] - x[:, None, :]
        r2 = (d * d).sum(2) + numpy.eye(len(x))
        return 0.01720209895**2 * (masses[None, :, None] * d / r2[:, :, None] ** 1.5).sum(1)

    h = end / steps
    for _ in range(steps):
        k1v, k1x = acceleration(x), v
        k2v, k2x = acceleration(x + h / 2 * k1x), v + h / 2 * k1v
        k3v, k3x = acceleration(x + h / 2 * k2x), v + h / 2 * k2v
        k4v, k4x = acceleration(x + h * k3x), v + h * k3v
        x = x + h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x)
        v = v + h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v)
    return x


# Applegate et al. 1986: Sun with the inner planets, Jupiter, Saturn, Uranus, Neptune, Pluto.
PLANET_MASSES = numpy.array([1.00000597682, 1 / 1047.355, 1 / 3501.6, 1 / 22869, 1 / 19314, 0])
PLANETS = numpy.array([
    [-4.06428567034226e-3, -6.08813756435987e-3, -1.66162304225834e-6,
     6.69048890636161e-6, -6.33922479583593e-6, -3.13202145590767e-9],
    [3.40546614227466, 3.62978190075864, 3.42386261766577e-2,
     -5.59797969310664e-3, 5.51815399480116e-3, -2.66711392865591e-6],
    [6.60801554403466, 6.38084674585064, -1.36145963724542e-1,
     -4.17354020307064e-3, 3.99723751748116e-3, 1.67206320571441e-5],
    [11.1636331405597, 16.0373479057256, 3.61783279369958e-1,
     -3.25884806151064e-3, 2.06438412905916e-3, -2.17699042180559e-5],
    [-30.1777243405203, 1.91155314998064, -1.53887595621042e-1,
     -2.17471785045538e-4, -3.11361111025884e-3, 3.58344705491441e-5],
    [-21.3858977531573, 32.0719104739886, 2.49245689556096,
     -1.76936577252484e-3, -2.06720938381724e-3, 6.58091931493844e-4]])


@experiment("outer-planets", "the outer planets: their start, and twenty years", GROUP)
def outer_planets(bench):
    bench.run("outer-planets")
    times, x, v = frames("out.run/trajectory.xyz")
    # The run moves the centre of mass to the origin; so is the table here.
    table = PLANETS - PLANET_MASSES @ PLANETS / PLANET_MASSES.sum()
    start = numpy.hstack([x[0], v[0]])
    bench.below("largest difference of a coordinate or velocity at the start",
                abs(start - table).max(), 1e-14, "Applegate et al. 1986, about the centre of mass")
    expected = planets_by_runge_kutta(PLANET_MASSES, x[0], v[0], times[-1], 1825)
    bench.below("largest difference of a coordinate after twenty years (AU)",
                abs(x[-1] - expected).max(), 1e-8,
                "Runge-Kutta in numpy; its four-day steps cause an error of some 1e-9")


@experiment("outer-solar-system", "the periods of the planets over a thousand years, in an example",
            GROUP)
def outer_solar_system(bench):
    bench.run(os.path.join(tap.SOURCE, "examples", "outer-solar-system", "run.cfg"))
    for planet, years in (("jupiter", 11.86), ("saturn", 29.46), ("uranus", 84.0),
                          ("neptune", 164.8), ("pluto", 248)):
        measured = columns(f"out.run/{planet}.csv")["mean_period"][-1] / 365.25
        bench.relative(f"mean period of {planet.capitalize()} (years)", measured, years, 5e-3,
                       "observed; perturbations by other planets, half a percent")
