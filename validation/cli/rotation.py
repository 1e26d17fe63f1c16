"""A frame that turns about the z axis, as a user meets it: the orbits of an inertial frame turned
back, points that stand still, Jacobi's energy, the way back, the same bytes however a run is cut
up, and what is refused."""

import json
import math
import pathlib

import numpy

import tap
from rows import budget_sums, columns, frames as frames_of, write_bodies

OWN = ("gauss-radau", "hermite4", "block-leapfrog")  # choose their own steps
STAGES = ("semi-implicit-euler", "velocity-verlet", "leapfrog-dkd", "yoshida4", "pefrl", "yoshida6")
OMEGA = 0.7


def config(file="bodies.csv", rotation=OMEGA, fields="", integrator="velocity-verlet", step=0.01,
           end=1.0, every=1, rest="", softening=0.0):
    return f"""
name = "frame";
bodies = {{ initial = "file"; file = "{file}"; }};
physics = {{ rotation = {rotation!r}; softening = {softening!r}; }};
external = ( {fields} );
time = {{ integrator = "{integrator}"; step = {step!r}; end = {end!r}; }};
diagnostics = ( {{ type = "conservation"; every = {every}; }} );
outputs = ( {{ type = "xyz"; every = {every}; }} );
{rest}
"""


POINT = '{ type = "point-mass"; mass = 1.0; }'


def go(directory, text, *arguments, status=0):
    pathlib.Path("run.cfg").write_text(text)
    result = tap.run("run", "run.cfg", "-q", "--force", "-o", directory, *arguments)
    assert result.returncode == status, (arguments, result)
    return result


def frames(directory):
    """Position and velocity of every body in every frame of its trajectory."""
    return numpy.concatenate(frames_of(f"{directory}/trajectory.xyz")[1:], axis=2)


def into_frame(state, angle, omega=OMEGA):
    """Positions and velocities of an inertial frame in one that has turned by the angle:
    R(-angle) x and R(-angle) v - Omega x r."""
    c, s = math.cos(angle), math.sin(angle)
    back = numpy.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    x, v = state[:, :3] @ back.T, state[:, 3:] @ back.T
    return numpy.hstack([x, v - omega * numpy.stack([-x[:, 1], x[:, 0], 0 * x[:, 0]], axis=1)])


# Eccentric and out of the plane about a mass of 1: with and against the turning of the frame.
ORBITS = numpy.array([[1.0, 0.2, 0.1, -0.1, 0.9, 0.3], [-0.4, 1.1, 0.0, 0.8, 0.1, -0.2]])


def test_the_orbit_of_an_inertial_frame_turned_back():
    """test bodies about a point mass: by each integrator, with the error of its order"""
    end = 3.0
    write_bodies([[0.0, *row] for row in ORBITS], "inertial.csv")
    go("inertial", config("inertial.csv", 0.0, POINT, "gauss-radau", end=end, every=300))
    true = into_frame(frames("inertial")[-1], OMEGA * end)
    write_bodies([[0.0, *row] for row in into_frame(ORBITS, 0.0)])
    orders = {"euler": 1, "semi-implicit-euler": 1, "velocity-verlet": 2, "leapfrog-dkd": 2,
              "yoshida4": 4, "pefrl": 4, "yoshida6": 6}
    free = "watch = { energy_error = 0.0; energy_drift = 0.0; energy_jump = 0.0; };"
    for integrator, order in orders.items():
        # steps at which the error is that of the order, and neither rounding nor the next one
        step = {1: 0.001, 2: 0.005, 4: 0.01, 6: 0.02}[order]
        off = []
        for h in (step, step / 2):
            go("turned", config(fields=POINT, integrator=integrator, step=h, end=end,
                                every=round(end / h), rest=free))
            off.append(numpy.abs(frames("turned")[-1] - true).max())
        found = math.log2(off[0] / off[1])
        assert abs(found - order) < 0.3, (integrator, off, found)
        # The same orbit in the inertial frame has an error of the same size.
        if order > 1:
            go("still", config("inertial.csv", 0.0, POINT, integrator, step, end,
                               every=round(end / step)))
            still = numpy.abs(into_frame(frames("still")[-1], OMEGA * end) - true).max()
            assert off[0] < 10 * still, (integrator, off, still)


def reference(masses, start, end, softening):
    """Two bodies in PULLS and in the frame by scipy's DOP853, with 1e-13."""
    tap.need("scipy.integrate")
    from scipy import integrate

    def rates(_, state):
        x, v = state.reshape(2, 6)[:, :3], state.reshape(2, 6)[:, 3:]
        a = -x / numpy.linalg.norm(x, axis=1)[:, None]**3 - x * [0.3**2, 0.5**2, 0.4**2]
        a += OMEGA**2 * x * [1, 1, 0] + 2 * OMEGA * numpy.stack([v[:, 1], -v[:, 0], 0 * v[:, 0]], 1)
        d = x[1] - x[0]
        pull = d / (d @ d + softening**2)**1.5
        return numpy.hstack([v, a + [masses[1] * pull, -masses[0] * pull]]).ravel()
    solution = integrate.solve_ivp(rates, (0.0, end), start.ravel(), method="DOP853", rtol=1e-13,
                                   atol=1e-14)
    return solution.y[:, -1].reshape(2, 6)


PULLS = POINT + ', { type = "harmonic"; frequencies = [0.3, 0.5, 0.4]; }'
FREE = "watch = { energy_error = 0.0; energy_drift = 0.0; energy_jump = 0.0; };"


def test_steps_of_their_own():
    """two bodies in fields without symmetry, against another program: gauss-radau within rounding,
    the others with the error of their order, where the grid is the step of all"""
    start, masses, end, softening = into_frame(ORBITS, 0.0), (0.3, 0.2), 3.0, 0.05
    true = reference(masses, start, end, softening)
    write_bodies([[m, *row] for m, row in zip(masses, start)])

    def off(integrator, step, *keys):
        go("own", config(fields=PULLS, integrator=integrator, step=step, end=end,
                         every=round(end / step), rest=FREE, softening=softening), *keys)
        return numpy.abs(frames("own")[-1] - true).max()
    assert off("gauss-radau", 0.01) < 1e-12
    assert abs(columns("own/conservation.csv")["relative_energy_error"]).max() < 2e-15
    for integrator, order in (("hermite4", 4), ("block-leapfrog", 2)):
        errors = [off(integrator, step, "-P", "time.eta=1000") for step in (0.01, 0.005)]
        assert abs(math.log2(errors[0] / errors[1]) - order) < 0.1, (integrator, errors)
        # As with the accuracy of all, so with that of each: errors go with eta^2 and eta^2.
        errors = [off(integrator, 0.1, "-P", f"time.eta={eta}") for eta in (0.02, 0.005)]
        assert 10 < errors[0] / errors[1] < 25, (integrator, errors)


def test_a_cluster_by_steps_of_their_own():
    """in blocks that are too large to be corrected twice, and whose bodies have other steps"""
    keys = ("-P", "diagnostics.0.every=80", "-P", "bodies.count=60", "-P",
            "checkpoint.every_steps=80")

    def run(name, *own):
        go(name, CLUSTER + FREE, *keys, "-P", f"time.integrator={name}", *own)
        return frames(name)[-1]
    true = run("yoshida6", "-P", "time.step=0.0025", "-P", "outputs.0.every=320")
    assert numpy.abs(run("gauss-radau") - true).max() < 1e-11
    for name, eta in (("hermite4", 0.01), ("block-leapfrog", 0.02)):
        off = [numpy.abs(run(name, "-P", f"time.eta={factor * eta}", "-P", "time.step=0.2", "-P",
                             "outputs.0.every=4") - true).max() for factor in (1.0, 0.25)]
        assert off[0] < 1e-4 and 10 < off[0] / off[1] < 25, (name, off)


def lagrange(mu):
    """L1 to L5 of masses 1 - mu at (-mu, 0) and mu at (1 - mu, 0), by bisection and in closed
    form; separation and angular speed are 1."""
    def pull(x):
        return (x - (1 - mu) * (x + mu) / abs(x + mu)**3 -
                mu * (x - 1 + mu) / abs(x - 1 + mu)**3)
    points = []
    for low, high in ((0.0, 1 - mu - 1e-6), (1 - mu + 1e-6, 2.0), (-2.0, -mu - 1e-6)):
        rising = pull(high) > 0
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if (pull(middle) > 0) == rising else (middle, high)
        points.append((0.5 * (low + high), 0.0))
    return points + [(0.5 - mu, sign * math.sqrt(0.75)) for sign in (1, -1)]


def test_points_of_lagrange_stand_still():
    """of two fixed masses, as fields and as bodies that stand still themselves; the first three are
    unstable, so that rounding grows by exp(2.8 t) there"""
    mu = 0.02
    points = lagrange(mu)
    two = [[1 - mu, -mu, 0, 0, 0, 0, 0], [mu, 1 - mu, 0, 0, 0, 0, 0]]
    fields = ", ".join(f'{{ type = "point-mass"; mass = {m!r}; center = [{x!r}, 0.0, 0.0]; }}'
                       for m, x, *_ in two)
    at = [[0.0, x, y, 0, 0, 0, 0] for x, y in points]
    for integrator in STAGES + OWN:
        for rows, given in ((at, fields), (two + at, "")):
            write_bodies(rows)
            go("points", config(rotation=1.0, fields=given, integrator=integrator, end=5.0,
                                every=100, softening=1e-9 * (integrator == "block-leapfrog")))
            moved = numpy.abs(frames("points") - frames("points")[0]).max(axis=(0, 2))
            stable = moved[-2:] if given else numpy.append(moved[:2], moved[-2:])
            # exp(2.8 * 5) = 1.2e6 times the rounding of some sums; in 500 steps of the others
            assert moved.max() < 1e-9, (integrator, moved)
            assert stable.max() < 1e-13, (integrator, moved)


def test_a_cluster_stands_at_rest():
    """on a circular orbit about a halo, in the frame of that orbit: its centre stays within the
    recoil of its few bodies, while at half the speed it leaves"""
    text = """
name = "cluster";
bodies = { initial = "plummer"; count = 60; seed = 3; mass = 1e-3; scale_radius = 0.02;
           origin = [1.0, 0.0, 0.0]; };
physics = { softening = 0.01; rotation = ROTATION; };
external = ( { type = "logarithmic"; speed = 1.0; core_radius = 1.0; } );
time = { integrator = "velocity-verlet"; step = 0.002; end = 6.0; };
diagnostics = ( { type = "conservation"; every = 100; } );
"""
    moved = {}
    for name, rotation in (("circle", math.sqrt(0.5)), ("slow", 0.5 * math.sqrt(0.5))):
        go(name, text.replace("ROTATION", repr(rotation)))
        rows = columns(f"{name}/conservation.csv")
        moved[name] = max(abs(rows["center_x"] - 1).max(), abs(rows["center_y"]).max())
    assert moved["circle"] < 0.02 < 0.5 < moved["slow"], moved


def jacobi(state, m, rotation):
    """E_J of bodies about a point mass of 1, without their own attraction."""
    x, v = state[..., :3], state[..., 3:]
    R2 = x[..., 0]**2 + x[..., 1]**2
    return (m * (0.5 * (v**2).sum(axis=-1) - 1 / numpy.sqrt((x**2).sum(axis=-1)) -
                 0.5 * rotation**2 * R2)).sum(axis=-1)


def test_jacobis_energy():
    """is the energy of the run; its error goes by the order and does not drift in 200 periods"""
    write_bodies([[0.0, *row] for row in into_frame(ORBITS, 0.0)])
    for integrator, order in (("velocity-verlet", 2), ("leapfrog-dkd", 2), ("yoshida4", 4),
                              ("yoshida6", 6)):
        errors = []
        for step in (0.02, 0.01):
            go("short", config(fields=POINT, integrator=integrator, step=step, end=20.0, every=1))
            rows = columns("short/conservation.csv")
            errors.append(abs(rows["relative_energy_error"]).max())
        assert abs(math.log2(errors[0] / errors[1]) - order) < 0.5, (integrator, errors)
    mine = jacobi(frames("short"), 1.0, OMEGA)
    assert numpy.abs(mine / rows["energy"] - 1).max() < 1e-13
    assert (rows["energy"] == rows["internal_energy"]).all()
    go("long", config(fields=POINT, step=0.02, end=1000.0, every=5))
    error = columns("long/conservation.csv")["relative_energy_error"]
    parts = [abs(part).max() for part in numpy.array_split(error, 4)]
    assert max(parts) < 1.05 * min(parts), parts


def test_no_drift_by_rounding():
    """a free body whose velocity turns 1e6 times: its speed keeps to the rounding of a random
    walk, 1e6^(1/2) eps, not to 1e6 eps"""
    write_bodies([[0.0, 0.0, 0.0, 0.0, 0.3, 0.4, 0.0]])
    cancel = f'{{ type = "harmonic"; frequencies = [{OMEGA!r}, {OMEGA!r}, 0.0]; }}'
    go("free", config(fields=cancel, integrator="leapfrog-dkd", step=0.01, end=1e4, every=100000))
    speed = numpy.linalg.norm(frames("free")[:, 0, 3:], axis=1)
    assert abs(speed / 0.5 - 1).max() < 2e-13, speed


def test_the_way_back():
    """with velocities and the frame reversed, bodies come back to where they were"""
    rows = [[0.1 + 0.05 * k, *row] for k, row in enumerate(into_frame(ORBITS, 0.0))]
    for integrator in STAGES[1:]:
        write_bodies(rows)
        go("there", config(fields=POINT, integrator=integrator, end=4.0, every=400))
        turned = frames("there")[-1] * [1, 1, 1, -1, -1, -1]
        write_bodies([[row[0], *state] for row, state in zip(rows, turned)], "back.csv")
        go("back", config("back.csv", -OMEGA, POINT, integrator, end=4.0, every=400))
        back = frames("back")[-1] * [1, 1, 1, -1, -1, -1]
        assert numpy.abs(back - frames("there")[0]).max() < 2e-12, integrator


CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 150; seed = 7; origin = [5.0, 0.0, 0.0]; };
physics = { softening = 0.1; rotation = 0.2; };
external = ( { type = "logarithmic"; speed = 1.0; core_radius = 1.0; } );
time = { integrator = "yoshida6"; step = 0.01; end = 0.8; };
compute = { backend = "openmp"; threads = 2; };
diagnostics = ( { type = "conservation"; every = 4; } );
outputs = ( { type = "xyz"; every = 8; } );
checkpoint = { every_steps = 25; };
"""


def motion(directory):
    return pathlib.Path(directory, "trajectory.xyz").read_bytes()


def test_the_same_bytes_however_it_is_run():
    """threads, cadences, restarts, methods; and the reference within rounding"""
    variants = ((), ("-P", "compute.method=fmm"),
                ("-P", "time.integrator=hermite4", "-P", "ensemble.systems=3"),
                ("-P", "time.integrator=velocity-verlet"), ("-P", "ensemble.systems=3"),
                *(("-P", f"time.integrator={name}") for name in OWN))
    for k, keys in enumerate(tap.first(variants, 3)):
        go(f"whole{k}", CLUSTER, *keys)
        go(f"threads{k}", CLUSTER, *keys, "-P", "compute.threads=3", "-P", "diagnostics.0.every=3")
        go(f"half{k}", CLUSTER, *keys, "-P", "time.end=0.4")
        pathlib.Path("run.cfg").write_text(CLUSTER)
        result = tap.run("run", "run.cfg", "-q", "-o", f"half{k}", *keys, "--restart", "-P",
                         "compute.threads=1")
        assert result.returncode == 0, result
        for other in (f"threads{k}", f"half{k}"):
            assert motion(other) == motion(f"whole{k}"), (keys, other)
    go("serial", CLUSTER, "-P", "compute.backend=serial", "-P", "compute.threads=1")
    assert numpy.abs(frames("serial") - frames("whole0")).max() < 1e-12


def test_the_bound_mass():
    """of a cluster, and its tidal radius, are those of an inertial frame, also after a restart"""
    rows = numpy.random.default_rng(3).normal(size=(40, 6)) * [0.1, 0.1, 0.1, 0.3, 0.3, 0.3]
    rows += [2.0, 0.0, 0.1, 0.0, 0.7, 0.0]
    rows[30:, 3] += 3  # ten bodies leave
    text = config(fields='{ type = "logarithmic"; speed = 1.0; core_radius = 0.5; }',
                  integrator="gauss-radau", end=0.4, every=10, softening=0.05,
                  rest="checkpoint = { every_steps = 20; };")
    text = text.replace("diagnostics = (", 'diagnostics = ( { type = "bound-mass"; every = 10; },')
    write_bodies([[0.006, *row] for row in rows], "inertial.csv")
    write_bodies([[0.006, *row] for row in into_frame(rows, 0.0)])
    go("inertial", text.replace("bodies.csv", "inertial.csv"), "-P", "physics.rotation=0")
    go("turning", text)
    go("again", text, "-P", "time.end=0.2")
    assert tap.run("run", "run.cfg", "-q", "-o", "again", "--restart").returncode == 0
    still, turning, again = (columns(f"{name}/bound-mass.csv")
                             for name in ("inertial", "turning", "again"))
    for name in ("self_bound", "self_bound_mass", "half_mass_radius", "tidal_radius"):
        assert (turning[name] == again[name]).all(), name
        assert numpy.allclose(still[name], turning[name], rtol=1e-9, atol=0), name
    assert (still["self_bound"][1:] == 30).all() and still["tidal_radius"][-1] > 0.1, still


def test_another_frame_is_refused_at_a_restart():
    go("run", CLUSTER, "-P", "time.end=0.4")
    pathlib.Path("run.cfg").write_text(CLUSTER)
    result = tap.run("run", "run.cfg", "-o", "run", "--restart", "-P", "physics.rotation=0.3")
    assert result.returncode == 78 and "physics.rotation" in result.stderr, result


def test_what_is_said():
    """summary, check, run.json and the report name the frame, and judge Jacobi's energy; a coarse
    run fails by it"""
    pathlib.Path("run.cfg").write_text(CLUSTER)
    said = tap.run("run", "run.cfg", "--force", "-o", "said").stdout
    assert "rotates by 0.2 radians" in said and "Jacobi" in said, said
    assert "virial ratio" not in said, said
    checked = tap.run("check", "run.cfg").stdout
    assert "rotation = 0.2" in checked and "rotates by 0.2 radians" in checked, checked
    told = json.loads(pathlib.Path("said/run.json").read_text())
    assert told["config"]["physics"]["rotation"] == 0.2, told["config"]
    assert told["external"]["kept_angular_momentum"] == "none", told["external"]
    assert tap.run("report", "said").returncode == 0
    page = " ".join(pathlib.Path("said/report.html").read_text().split())
    assert "<dt>largest energy error" in page and "<dt>2K/|W|" not in page, page[:3000]
    for words in ("In the rotating frame it is Jacobi", "The rotating frame changes it",
                  "a steady state may have any ratio"):
        assert words in page, words
    assert "external fields change" not in page
    coarse = CLUSTER.replace("softening = 0.1", "softening = 0.001")
    go("coarse", coarse, "-P", "time.step=0.1", "-P", "time.integrator=velocity-verlet", "-P",
       "time.end=20", status=1)


def test_what_goes_with_it():
    """a step that is chosen, shadows, the budget of the energy"""
    asked = CLUSTER.replace('integrator = "yoshida6"; step = 0.01;', "energy_error = 1e-7;")
    asked = asked.replace("every = 4", "every = 50").replace("every = 8", "every = 100")
    asked = asked.replace("every_steps = 25;", "")
    go("asked", asked, "-P", "bodies.count=30")
    assert abs(columns("asked/conservation.csv")["relative_energy_error"]).max() < 1e-7
    go("measured", CLUSTER + "trust = { shadow = true; half_step = true; };\n"
       "energy_budget = { measure = true; every = 20; };\n", "-P", "bodies.count=30")
    _, parts, error = budget_sums("measured")
    assert abs(parts - error) < 1e-12, (parts, error)


def test_what_is_refused():
    """with its place, before anything is written"""
    write_bodies([[0.0, 1.0, 0.0, 0.0, 0.0, 0.3, 0.0]])
    cases = [
        (("-P", "time.integrator=rk4"), ("time.integrator=rk4", "Coriolis")),
        (("-P", "physics.boundary=periodic", "-P", "physics.box_length=9"),
         ("run.cfg:4: physics.rotation", "a periodic box cannot turn")),
        (("-P", "bodies.virial_ratio=1"), ("bodies.virial_ratio=1", "a rotating frame")),
        (("-P", "physics.rotation=inf"), ("physics.rotation", )),
    ]
    cases += [(("-P", f"diagnostics.0.type={kind}"), ("diagnostics.0.type", words))
              for kind, words in (("virial", "Coriolis"), ("orbit", "a field"),
                                  ("binaries", "inertial frame"),
                                  ("disc-profile", "inertial frame"), ("escapers", "alone"))]
    cases += [(("-P", f'{kind}=({{ quantity = "virial_ratio"; at_least = 0.1; }})'),
               (f"-P {kind}", "quantity", "Coriolis")) for kind in ("expect", "stop_when")]
    for arguments, words in cases:
        for command in ("check", "run"):
            pathlib.Path("run.cfg").write_text(config())
            rest = () if command == "check" else ("-o", "bad")
            result = tap.run(command, "run.cfg", *arguments, *rest)
            assert result.returncode == 78, (arguments, result)
            assert all(word in result.stderr for word in words), (arguments, result.stderr)
            assert not pathlib.Path("bad").exists()
    for start, keys in (("two-body", ""), ("figure-eight", ""), ("outer-solar-system", ""),
                        ("disc", "count = 100;"), ("galaxy", "disc_count = 100;")):
        pathlib.Path("start.cfg").write_text(f"""
bodies = {{ initial = "{start}"; {keys} }};
physics = {{ rotation = 1.0; }};
time = {{ step = 0.01; end = 1.0; }};
""")
        result = tap.run("check", "start.cfg")
        assert result.returncode == 78, (start, result)
        assert "start.cfg:2: bodies.initial" in result.stderr, result
        assert "those of an inertial frame" in result.stderr, result


tap.main()
