"""Experiments with known answers: each *.cfg beside this file states what it expects; the tests
here run it and check the outputs once more, by formulas of their own."""

import json
import os
import re

import numpy
import tap
from rows import columns, frames

FOLDER = os.path.join(tap.SOURCE, "validation", "physics")


def run(config, *overrides, output="out.run", status=0):
    """Runs a config file and returns run.json; the verdict must be the expected one."""
    options = [word for override in overrides for word in ("-P", override)]
    result = tap.run("run", config, "-q", "-o", output, "--force", *options)
    assert result.returncode == status, (config, overrides, result.returncode, result.stderr)
    with open(os.path.join(output, "run.json"), encoding="utf-8") as file:
        return json.load(file)


def run_here(name, *overrides, **options):
    return run(os.path.join(FOLDER, name + ".cfg"), *overrides, **options)


def slope(x, y):
    return numpy.polyfit(numpy.log(x), numpy.log(y), 1)[0]


def test_plummer_equilibrium():
    """Plummer sphere: Lagrangian radii within the sampling error, energy kept, virial balance"""
    assert run_here("plummer-equilibrium")["verdict"] == "held"
    radii = columns("out.run/lagrangian-radii.csv")
    a, count = 3 * numpy.pi / 16, 1024
    for percent in (10, 25, 50, 75, 90):
        f = percent / 100
        r = a / numpy.sqrt(f ** (-2 / 3) - 1)  # of M(r) = (1 + a^2/r^2)^(-3/2)
        gradient = 3 * a**2 * r**2 / (r**2 + a**2) ** 2.5
        sigma = numpy.sqrt(f * (1 - f) / count) / gradient
        measured = radii[f"radius_{percent}"]
        assert abs(measured[0] - r) < 4 * sigma, (percent, measured[0], r, sigma)
        # In 1.8 crossing times nothing relaxes; the sphere breathes by about as much again.
        assert numpy.all(abs(measured - r) < 8 * sigma), (percent, measured, r, sigma)
    energies = columns("out.run/conservation.csv")
    assert abs(energies["energy"][0] + 0.25) < 0.01  # softening 0.03 lifts U by about 1 %
    drift = energies["momentum_x"] - energies["momentum_x"][0]
    assert numpy.abs(drift).max() < 1e-13


def test_verlet_keeps_the_ellipse():
    """velocity Verlet: the two-body orbit keeps its shape and runs late, linearly in time"""
    assert run_here("kepler-verlet")["verdict"] == "held"
    times, positions, _ = frames("out.run/trajectory.xyz")
    relative = positions[:, 1] - positions[:, 0]
    assert numpy.abs(relative[:, 1]).max() == 0  # the orbit lies in the xz plane
    assert numpy.allclose(relative[0], [1.5, 0, 0], atol=1e-15)
    # Distance from the ellipse r (1 + e cos(f)) = a (1 - e^2) whose far point is on +x.
    r = numpy.hypot(relative[:, 0], relative[:, 2])
    ellipse = abs(r - 0.5 * relative[:, 0] - 0.75)
    assert ellipse.max() < 3e-3, ellipse.max()  # its apse has turned by 0.004, times e a
    orbit = columns("out.run/orbit.csv")
    late = orbit["phase_error"]
    whole = [numpy.argmin(abs(orbit["time"] - k * 2 * numpy.pi)) for k in range(1, 11)]
    assert late[whole[-1]] < -1e-3
    assert abs(slope(numpy.arange(1, 11), abs(late[whole])) - 1) < 0.1
    error = columns("out.run/conservation.csv")["relative_energy_error"]
    half = len(error) // 2
    assert abs(error[half:]).max() < 1.02 * abs(error[:half]).max()  # it does not grow


def test_euler_leaves_the_ellipse():
    """explicit Euler: energy and semi-major axis grow, the orbit spirals out"""
    assert run_here("kepler-euler")["verdict"] == "held"
    times, positions, _ = frames("out.run/trajectory.xyz")
    r = numpy.linalg.norm(positions[:, 1] - positions[:, 0], axis=1)
    assert r.max() > 2.5  # the ellipse reaches to 1.5
    axis = columns("out.run/orbit.csv")["semi_major_axis_error"]
    parts = [part.mean() for part in numpy.array_split(axis, 4)]
    assert parts == sorted(parts) and parts[0] > 0.01
    # The same steps, kick before drift, are symplectic.
    run_here("kepler-euler", "time.integrator=semi-implicit-euler", status=1)
    error = columns("out.run/conservation.csv")["relative_energy_error"]
    assert abs(error).max() < 0.05 and abs(error[-1]) < 0.05


def test_energy_error_against_step():
    """the energy error of a cluster falls with the step as the order of each method says"""
    steps = numpy.array([0.004, 0.002, 0.001])
    for integrator, order in (("euler", 1), ("semi-implicit-euler", 1), ("velocity-verlet", 2),
                              ("leapfrog-dkd", 2), ("yoshida4", 4), ("pefrl", 4)):
        worst = []
        for step in steps:
            run_here("energy-against-step", f"time.step={step}", f"time.integrator={integrator}")
            worst.append(columns("out.run/conservation.csv")["energy_error"][-1])
        # Close pairs move fast: the last term kept by the slope is not small for all of them.
        assert abs(slope(steps, worst) - order) < 0.1 * order, (integrator, worst)


def test_virial_theorem():
    """a bound random start settles to 2<K> = -<W>, K to -E and U to 2E"""
    assert run_here("virial-theorem")["verdict"] == "held"
    energies = columns("out.run/conservation.csv")
    late = energies["time"] > 6
    kinetic, virial = energies["kinetic"][late].mean(), energies["virial"][late].mean()
    assert abs(2 * kinetic / -virial - 1) < 0.07  # 1 / sqrt(300)
    # It was not in balance to begin with.
    assert abs(energies["virial_ratio"][0] - 0.5) < 1e-12


def test_free_fall():
    """a cold sphere collapses in its free-fall time"""
    assert run_here("free-fall")["verdict"] == "held"
    energies = columns("out.run/conservation.csv")
    assert energies["kinetic"][0] == 0
    # U = -3 G M^2 / 5R of a uniform sphere; 500 points miss 1/N of the pairs and sample the rest.
    assert abs(energies["potential"][0] / -0.6 - 1) < 0.03
    deepest = energies["time"][energies["potential"].argmin()]
    t_ff = numpy.pi / 2 * numpy.sqrt(1 / 2)
    # Noise of N points spreads the arrival; Aarseth, Lin & Papaloizou 1988: some percent.
    assert abs(deepest / t_ff - 1) < 0.06, deepest
    # As long as spheres of matter do not cross, each follows the cycloid of its own free fall:
    # r = cos^2(eta), t = (eta + sin(eta) cos(eta)) / sqrt(2), and U scales as 1/r.
    eta = numpy.pi / 4
    t = (eta + 0.5) / numpy.sqrt(2)
    deepening = energies["potential"] / energies["potential"][0]
    assert abs(numpy.interp(t, energies["time"], deepening) / 2 - 1) < 0.03


def relative_motion():
    """Times, distance and angle of body 2 about body 1."""
    times, positions, _ = frames("out.run/trajectory.xyz")
    relative = positions[:, 1] - positions[:, 0]
    return (times, numpy.linalg.norm(relative, axis=1),
            numpy.unwrap(numpy.arctan2(relative[:, 1], relative[:, 0])))


def test_softened_orbit():
    """a softened pair: longer period, apse that turns back, as the epicyclic theory says"""
    assert run_here("softened-orbit")["verdict"] == "held"
    times, _, angle = relative_motion()
    period = 2 * numpy.pi * (times[-1] - times[0]) / (angle[-1] - angle[0])
    assert abs(period / (2 * numpy.pi) - 1.00749066) < 1e-8, period  # (1 + 0.01)^(3/4)
    # A little faster than the circle, hence slightly eccentric, at its pericentre.
    v = (1 + 1e-4) * 1.01 ** -0.75
    write_bodies("pair.csv", [0.6, 0.4], [[-0.4, 0, 0], [0.6, 0, 0]],
                 [[0, -0.4 * v, 0], [0, 0.6 * v, 0]])
    with open(os.path.join(FOLDER, "softened-orbit.cfg"), encoding="utf-8") as file:
        text = re.sub(r"(?m)^bodies = .*$", 'bodies = { initial = "file"; file = "pair.csv"; };',
                      file.read())
    write_config("pair.cfg", text)
    run("pair.cfg")
    _, r, angle = relative_motion()
    # The angle between pericentres, from parabolas through the smallest distances.
    low = [k for k in range(1, len(r) - 1) if r[k - 1] > r[k] <= r[k + 1]]
    offset = [0.5 * (r[k - 1] - r[k + 1]) / (r[k - 1] - 2 * r[k] + r[k + 1]) for k in low]
    apse = [angle[k] + f * (angle[k + 1] - angle[k - 1]) / 2 for k, f in zip(low, offset)]
    turn = numpy.degrees(numpy.diff(apse)).mean() - 360
    assert len(apse) > 5
    # 360 / kappa, kappa^2 = (1 + 4 eps^2) / (1 + eps^2), at the mean distance 1.0002.
    assert abs(turn + 5.2303) < 5e-3, turn


def test_minimum_images_cost_an_order():
    """bodies that change images make the force jump: the energy error is of first order in dt"""
    def worst(step, physics):
        write_config("box.cfg", f"""name = "box";
            bodies = {{ initial = "uniform-cube"; count = 60; seed = 7; half_side = 0.5;
                       masses = "equal"; }};
            physics = {{ softening = 0.1; {physics} }};
            time = {{ step = {step}; end = 2.0; }};
            diagnostics = ( {{ type = "conservation"; every = 1; }} );""")
        run("box.cfg")
        return columns("out.run/conservation.csv")["energy_error"][-1]

    open_space, box = "", 'boundary = "periodic"; box_length = 1.0;'
    # Sixteen times finer: 16^2 in open space; 16 in the box, give or take a factor of 3 because
    # the errors of the jumps are of random signs.
    assert abs(worst(0.004, open_space) / worst(0.00025, open_space) / 256 - 1) < 0.1
    assert 5 < worst(0.004, box) / worst(0.00025, box) < 48


def planets_by_runge_kutta(masses, x, v, end, steps):
    """The outer planets by the classical method of fourth order; independent of the program."""
    def acceleration(x):
        d = x[None] - x[:, None]
        r2 = (d**2).sum(2)
        numpy.fill_diagonal(r2, 1)
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


def test_outer_planets():
    """the outer planets after twenty years, against an independent integration"""
    assert run_here("outer-planets")["verdict"] == "held"
    times, positions, velocities = frames("out.run/trajectory.xyz")
    assert times[-1] == 7300
    # Applegate et al. 1986
    masses = numpy.array([1.00000597682, 1 / 1047.355, 1 / 3501.6, 1 / 22869, 1 / 19314, 0])
    expected = planets_by_runge_kutta(masses, positions[0], velocities[0], 7300.0, 1825)
    # The error of four-day steps of Jupiter: 20 years x (0.0058)^4 / 120 of an orbit, some 1e-9 AU.
    assert abs(positions[-1] - expected).max() < 1e-8, abs(positions[-1] - expected).max()


def write_bodies(path, masses, x, v):
    with open(path, "w", encoding="utf-8") as file:
        file.write("m,x,y,z,vx,vy,vz\n")
        for m, position, velocity in zip(masses, x, v):
            file.write(",".join(repr(float(number)) for number in (m, *position, *velocity)) + "\n")


def write_config(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def test_there_and_back():
    """velocity Verlet from the turned end of a run finds back to its start"""
    text = """physics = { softening = 0.2; };
        time = { step = 0.01; end = 2.0; };
        outputs = ( { type = "xyz"; every = 200; } );
        """
    write_config("there.cfg", text + """name = "there";
        bodies = { initial = "uniform-cube"; count = 40; seed = 3; half_side = 1.0;
                   masses = "equal"; };
        """)
    write_config("back.cfg", text + """name = "back";
        bodies = { initial = "file"; file = "end.csv"; };""")
    run("there.cfg", output="there.run")
    _, x, v = frames("there.run/trajectory.xyz")
    write_bodies("end.csv", numpy.full(40, 1 / 40), x[-1], -v[-1])
    run("back.cfg", output="back.run")
    _, y, w = frames("back.run/trajectory.xyz")
    # 400 steps of 1e-16, amplified by encounters softened at 0.2.
    assert abs(y[-1] - x[0]).max() < 1e-12 and abs(w[-1] + v[0]).max() < 1e-12


def test_a_periodic_lattice_is_at_rest():
    """a cubic lattice in a periodic box feels no force; a body beside its place is pulled off"""
    side = (numpy.arange(5) - 2) / 5  # odd: no image is at exactly half the box
    x = numpy.array([(a, b, c) for a in side for b in side for c in side])
    write_bodies("lattice.csv", numpy.ones(125), x, numpy.zeros_like(x))
    write_config("lattice.cfg", """name = "lattice";
        bodies = { initial = "file"; file = "lattice.csv"; };
        physics = { softening = 0.0; boundary = "periodic"; box_length = 1.0; };
        time = { step = 0.001; end = 0.02; };
        diagnostics = ( { type = "conservation"; every = 20; } );
        outputs = ( { type = "xyz"; every = 20; } );""")
    run("lattice.cfg")
    _, positions, velocities = frames("out.run/trajectory.xyz")
    # The forces of 124 neighbours, up to 25 each, cancel to rounding.
    assert abs(velocities[-1]).max() < 1e-12
    energies = columns("out.run/conservation.csv")
    assert energies["potential"][0] < 0
    assert abs(energies["virial"][0] / energies["potential"][0] - 1) < 1e-13  # no softening
    x[62] += [0.01, 0, 0]
    write_bodies("lattice.csv", numpy.ones(125), x, numpy.zeros_like(x))
    run("lattice.cfg")
    _, positions, velocities = frames("out.run/trajectory.xyz")
    assert velocities[-1][62][0] > 1e-3
    assert abs(velocities[-1].sum(0)).max() < 1e-12  # momentum


tap.main()
