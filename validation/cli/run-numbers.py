"""The numbers of run.json by sums of their own: three systems that differ, with their own ids."""

import csv
import json
import pathlib
import re

import numpy

import rows
import tap

COUNT, STEP, SOFT = 6, 1 / 256, 0.1
# Mass, size and place of each: the first errs least, and the second has the most of all.
SYSTEMS = ((0.5, 0.9, 0.3), (3.0, 0.5, 2.0), (1.0, 0.7, 1.0))
CONFIG = f"""
name = "three";
bodies = {{ initial = "file"; files = ["1.csv", "2.csv", "3.csv"]; center = false; }};
physics = {{ softening = {SOFT}; }};
time = {{ step = {STEP}; end = 0.5; }};
diagnostics = ( {{ type = "conservation"; every = 1; }},
                {{ type = "close-encounters"; every = 4; }},
                {{ type = "lagrangian-radii"; every = 8; }} );
outputs = ( {{ type = "xyz"; every = 1; digits = 17; }} );
watch = {{ every = 1; energy_error = 0.31; orbit_error = 0.32; energy_drift = 0.33;
           energy_jump = 0.34; on_jump = "warn"; }};
trust = {{ shadow = true; }};
"""


def write_systems(count=COUNT):
    """Bodies of three systems, each with a motion of its own, and their ids."""
    generator = numpy.random.Generator(numpy.random.PCG64(29))
    systems, ids = [], []
    for k, (mass, size, place) in enumerate(SYSTEMS):
        m = generator.uniform(0.5, 1.5, count)
        m *= mass / m.sum()
        x = generator.normal(size=(count, 3)) * size + [place, -0.3, 0.2]
        v = generator.normal(size=(count, 3)) * 0.5 + [0.1, place, -0.4]
        ids.append([100 * (k + 1) + int(one) for one in generator.permutation(count)])
        ids[k][k], ids[k][k + 2] = 5, 11
        systems.append((m, x, v))
        lines = [",".join(map(repr, [ids[k][i], *map(float, (m[i], *x[i], *v[i]))]))
                 for i in range(count)]
        pathlib.Path(f"{k + 1}.csv").write_text("id,m,x,y,z,vx,vy,vz\n" + "\n".join(lines) + "\n")
    return systems, ids


def sums(m, x, v):
    """What conserved quantities are, by their definitions."""
    r2 = ((x[:, None] - x) ** 2).sum(2)[numpy.triu_indices(len(m), 1)]
    mm = numpy.outer(m, m)[numpy.triu_indices(len(m), 1)]
    kinetic, momentum = 0.5 * (m * (v ** 2).sum(1)).sum(), m @ v
    internal = kinetic - 0.5 * (momentum ** 2).sum() / m.sum()
    potential = -(mm / numpy.sqrt(r2 + SOFT ** 2)).sum()
    return {"mass": m.sum(), "kinetic": kinetic, "internal_kinetic": internal,
            "potential": potential, "energy": kinetic + potential,
            "internal_energy": internal + potential,
            "virial": -(mm * r2 / (r2 + SOFT ** 2) ** 1.5).sum(), "momentum": momentum,
            "angular_momentum": (m[:, None] * numpy.cross(x, v)).sum(0),
            "center": m @ x / m.sum()}


def same(told, expected, tolerance=1e-12):
    """Both have the same keys and numbers."""
    assert told.keys() == expected.keys(), told.keys() ^ expected.keys()
    for key, value in expected.items():
        assert numpy.allclose(told[key], value, rtol=tolerance, atol=tolerance), \
            (key, told[key], value)


def go(text, directory, *options):
    """Runs a config; returns its run.json."""
    pathlib.Path("run.cfg").write_text(text)
    result = tap.run("run", "run.cfg", "-q", "-o", directory, *options)
    assert result.returncode == 0, result.stderr
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def fastest_pair(systems, ids, frames):
    """The pair with the shortest time scale of all steps: sqrt((r^2 + eps^2)^(3/2) / G (m + m))."""
    shortest = None
    for time, *places in frames:
        for k, (m, x) in enumerate(zip((m for m, _, _ in systems), places)):
            for i in range(COUNT):
                for j in range(i):
                    r2 = ((x[i] - x[j]) ** 2).sum()
                    scale = numpy.sqrt((r2 + SOFT ** 2) ** 1.5 / (m[i] + m[j]))
                    if shortest is None or scale < shortest[0]:
                        shortest = scale, {"system": k + 1, "ids": {ids[k][i], ids[k][j]},
                                           "distance": numpy.sqrt(r2), "time": time}
    return shortest


def test_the_numbers_of_an_ensemble():
    """sums of the first system, errors of the worst, the sizes of numbers, legs and last rows"""
    systems, ids = write_systems()
    go(CONFIG, "three", "-P", "time.end=0.1875")
    about = go(CONFIG, "three", "--restart")
    times, x, v = rows.frames("three/trajectory.xyz")
    x, v = (all.reshape(len(times), 3, COUNT, 3) for all in (x, v))
    found = [[sums(m, x[n, k], v[n, k]) for k, (m, _, _) in enumerate(systems)]
             for n in range(len(times))]
    same(about["initial"], sums(*systems[0]))
    same(about["final"], found[-1][0])
    steps = {"systems": 3, "bodies": COUNT, "step": 128, "steps": 128, "time": 0.5,
             "final_time": 0.5, "first_step": 48, "exit_status": 0, "left_out": 0,
             "interactions": 128 * 3 * COUNT ** 2}
    same({key: about[key] for key in steps}, steps)

    errors = numpy.array([[(now["internal_energy"] - first["internal_energy"]) /
                           max(abs(first["internal_energy"]), abs(first["potential"]))
                           for now, first in zip(line, found[0])] for line in found])
    worst = abs(errors[-1]).argmax()
    assert worst > 0 and abs(about["relative_energy_error"] - errors[-1, worst]) < 1e-13, errors[-1]
    assert about["relative_energy_error_system"] == worst + 1
    step, system = numpy.unravel_index(abs(errors).argmax(), errors.shape)
    watch = about["watch"]
    for told in (about["largest_energy_error"], watch["energy_error"]["largest"]):
        assert abs(told - abs(errors[step, system])) < 1e-13, (told, errors[step, system])
    assert watch["energy_error"]["system"] == system + 1
    assert abs(watch["energy_error"]["time"] - times[step]) < 1e-12, (watch, times[step])
    same(watch["limits"], {"energy_error": 0.31, "orbit_error": 0.32, "energy_drift": 0.33,
                           "energy_jump": 0.34, "noise": watch["limits"]["noise"]})
    scale, pair = fastest_pair(systems, ids, [(times[n], *x[n]) for n in range(len(times))])
    told = watch["fastest_pair"]
    assert told.pop("bodies") == "bodies {id_1} and {id_2}".format(**told), told
    same({**told, "id_1": 0, "id_2": 0}, {
        "system": pair["system"], "id_1": 0, "id_2": 0, "distance": pair["distance"],
        "steps_per_time_scale": scale / STEP, "time": pair["time"]}, 1e-10)
    assert {told["id_1"], told["id_2"]} == pair["ids"] and pair["system"] > 1, (told, pair)

    m, x, v = (numpy.array([system[k] for system in systems]) for k in range(3))
    r, speed = numpy.linalg.norm(x, axis=2), numpy.linalg.norm(v, axis=2)
    same(about["scales"], {"length": numpy.sqrt((r ** 2).mean()),
                           "velocity": numpy.sqrt((speed ** 2).mean()),
                           "momentum": (m * speed).sum(1).max(),
                           "angular_momentum": (m * r * speed).sum(1).max()})

    spread = systems[0][1] - systems[0][1].mean(0)
    assert abs(about["trust"]["size"] / numpy.sqrt((spread ** 2).sum(1).mean()) - 1) < 1e-12

    legs = about["legs"]
    assert [(leg["first_step"], leg["last_step"]) for leg in legs] == [(0, 48), (48, 128)], legs
    for key in ("wall_seconds", "advance_seconds", "cpu_seconds"):
        assert abs(about[key] - sum(leg[key] for leg in legs)) < 1e-12, key
    assert about["wall_seconds"] >= about["advance_seconds"] > 0
    assert abs(about["interactions_per_second"] * about["advance_seconds"]
               / about["interactions"] - 1) < 1e-12
    assert len(about["diagnostics"]) == 7  # trust has no statistics
    for name, told in about["diagnostics"].items():
        with open(f"three/{name}.csv", encoding="utf-8", newline="") as file:
            head, *lines = csv.reader(file)
        keys = [title.split(" [")[0] for title in head]
        of_first = [line for line in lines if keys[0] != "system" or line[0] == "1"]
        last = dict(zip(keys, of_first[-1]))
        assert told and all((float(last[key]) if last[key] else None) == value
                            for key, value in told.items()), (name, told, last)
    written = {path.name for path in pathlib.Path("three").iterdir()}
    assert written <= set(about["files"]), written - set(about["files"])


def test_own_steps_of_an_ensemble():
    """the steps of all systems, and the smallest with its system and pair, are those of the systems
    alone"""
    write_systems()
    own = CONFIG.replace(f"step = {STEP}; end", 'integrator = "%s"; step = 0.125; end')
    names = [name for name, forces in tap.integrators() if forces is None]
    assert len(names) >= 3, names
    for integrator in names:
        text = own % integrator
        all_ = go(text, "all", "--force")
        alone = [go(text, "alone", "--force", "-P", f'bodies.files=["{k + 1}.csv"]')
                 for k in range(3)]
        told, of_each = all_["own_steps"], [one["own_steps"] for one in alone]
        assert told["steps"] == sum(one["steps"] for one in of_each) > 0, (told, of_each)
        if told["rejections"] is not None:
            rejected = sum(one["rejections"] for one in of_each)
            assert told["rejections"] == rejected < told["steps"], told
        assert told["rejections"] is not None or integrator != "gauss-radau", told
        smallest = min(range(3), key=lambda k: of_each[k]["smallest"])
        assert told["system"] == smallest + 1, (integrator, told, of_each)
        for key in ("smallest", "pair"):
            assert told[key] == of_each[smallest][key], (integrator, told, of_each)
        pulls = sum(one["interactions"] for one in alone)
        assert all_["interactions"] == pulls >= COUNT * told["steps"], (integrator, pulls, told)


def test_interactions_of_every_integrator():
    """one sum over all pairs for each force of its steps, in every system, as check foretells"""
    write_systems()
    text = CONFIG.replace("end = 0.5;", "end = 0.25;").replace("trust = { shadow = true; };", "")
    for integrator, forces in tap.integrators():
        if forces is None:
            continue
        key = ("-P", f"time.integrator={integrator}")
        expected = 64 * forces * 3 * COUNT ** 2
        assert go(text, "counted", "--force", *key)["interactions"] == expected, integrator
        told = " ".join(tap.run("check", "run.cfg", *key).stdout.replace("#", "").split())
        assert f"interactions {expected} at" in told or \
            f"interactions {expected:.3g} at" in told, (expected, told)


def test_the_summary():
    """speeds, own steps, the worst system's error and the virial ratio are those of run.json"""
    systems, _ = write_systems()
    text = CONFIG.replace("trust = { shadow = true; };", "")
    for keys in ((), ("time.integrator=hermite4", "time.step=0.125")):
        pathlib.Path("run.cfg").write_text(text)
        options = [word for key in keys for word in ("-P", key)]
        said = " ".join(tap.run("run", "run.cfg", "--force", *options).stdout.split())
        about = json.loads(pathlib.Path("three.run/run.json").read_text())
        advance = about["advance_seconds"]
        own = about["own_steps"]["steps"] if keys else about["steps"]
        speed, rate = re.search(r"; (\S+) (?:own )?steps/s and (\S+) G inter", said).groups()
        assert abs(float(speed) * advance / own - 1) < 0.01, (speed, own, advance)
        assert abs(1e9 * float(rate) / about["interactions_per_second"] - 1) < 0.01, (rate, about)
        wall = float(re.search(r"wall time +(\S+) s", said)[1])
        assert abs(wall - about["wall_seconds"]) < 0.02 + 0.01 * wall, (wall, about)
        system = about["relative_energy_error_system"]
        assert (f"|dE| = {abs(about['relative_energy_error']):.3g} of max(|E0|, |U0|) at the last "
                f"measurement, in system {system} ({system}.csv), the worst of 3") in said, said
        _, x, v = rows.frames("three.run/trajectory.xyz")
        all_ = [sums(m, x[-1, COUNT * k:COUNT * (k + 1)], v[-1, COUNT * k:COUNT * (k + 1)])
                for k, (m, _, _) in enumerate(systems)]
        K, W, U = (sum(one[key] for one in all_)
                   for key in ("internal_kinetic", "virial", "potential"))
        assert f"2K/|W| = {-2 * K / W:.4f}, -2K/U = {-2 * K / U:.4f}, of all" in said, said
        if keys:
            told = about["own_steps"]
            assert (f"own steps {told['steps']:.0f}; the smallest was {told['smallest']:.3g}, for "
                    f"bodies {told['pair'][0]} and {told['pair'][1]} of system {told['system']}"
                    ) in said, (said, told)


EVERY = """
name = "each";
bodies = { initial = "file"; files = ["1.csv", "2.csv", "3.csv"]; center = false; };
time = { step = 0.015625; end = 0.25; };
diagnostics = (
  { type = "density-profile"; every = 4; shells = 4; r_min = 0.1; r_max = 3.0; },
  { type = "density-slope"; every = 4; shells = 8; r_min = 0.1; r_max = 3.0; least_bodies = 3; },
  { type = "disc-profile"; every = 4; rings = 4; r_max = 3.0; },
  { type = "orbit"; every = 4; primary = 11; secondary = 5; },
  { type = "radial-distribution"; every = 4; r_max = 1.5; bins = 8; }
);
trust = { shadow = true; every = 4; };
energy_budget = { measure = true; every = 4; };
watch = { on_jump = "warn"; };
"""


def test_each_system_is_measured_by_its_own():
    """every row of every diagnostic is that of the system alone: its masses, its ids, its seed"""
    write_systems(40)
    text, of_one = tap.every_diagnostic(EVERY, 4), []
    about = go(text, "all")
    for k in range(3):
        of_one.append(go(text, "alone", "--force", "-P", f'bodies.files=["{k + 1}.csv"]', "-P",
                         f"trust.seed={k + 1}"))
        names = {path.name for path in pathlib.Path("alone").glob("*.csv")}
        assert len(names) > 13, names
        for name in names:
            (head, *alone), (heads, *inside) = (
                list(csv.reader(open(f"{folder}/{name}", encoding="utf-8", newline="")))
                for folder in ("alone", "all"))
            # The size of the rounding errors of trust follows from the forces of all systems.
            drop = ["rounding [1]"] if name == "trust.csv" else []
            own, alone = ([[line[n] for n, title in enumerate(titles)
                            if title in head and title not in drop] for line in lines]
                          for titles, lines in ((heads, inside), (head, alone)))
            own = [line for line, whole in zip(own, inside) if whole[0] == str(k + 1)]
            assert heads[0] == "system [1]" and own == alone != [], (name, k, own, alone)
    budget, pair = about["energy_budget"], about["watch"]["fastest_pair"]
    expected = of_one[budget["system"] - 1]["energy_budget"]
    assert budget["system"] > 1 and budget["worst_encounter"], budget
    assert {**budget, "system": 1, "text": ""} == {**expected, "text": ""}, (budget, expected)
    assert {**pair, "system": 1} == of_one[pair["system"] - 1]["watch"]["fastest_pair"], pair


ENSEMBLE = """
name = "four";
bodies = { initial = "plummer"; count = 12; seed = 7; };
physics = { softening = 0.05; };
ensemble = { systems = 4; };
time = { step = 0.01; end = 4.0; };
trust = { shadow = true; };
energy_budget = { measure = true; every = 30; };
watch = { on_jump = "warn"; };
"""


def test_what_trust_and_the_budget_sum_up():
    """the horizons of all systems by their table, and the row of the system that erred most"""
    about = go(ENSEMBLE, "four")
    table = rows.columns("four/trust.csv")
    for key in ("accurate_until", "reproducible_until", "e_folding_time"):
        last = sorted(table[key][table["step"] == 400], key=lambda t: numpy.nan_to_num(t, nan=1e9))
        known = [t for t in last if numpy.isfinite(t)]
        told = about["trust"][f"all_{key}"]
        assert told == {"systems": len(known), "first": last[0] if known else None,
                        "median": last[1] if len(known) > 1 else None}, (key, told, last)
        first = table[key][(table["step"] == 400) & (table["system"] == 1)][0]
        assert about["trust"][key] == (first if numpy.isfinite(first) else None), (key, first)
    told = about["trust"]["all_accurate_until"]
    assert told["systems"] > 1 and told["first"] != about["trust"]["accurate_until"], told
    assert about["trust"]["displacement"] == 1e-12 and about["trust"]["tolerance"] == 0.01

    budget, table = about["energy_budget"], rows.columns("four/energy-budget.csv")
    row = abs(table["energy_change"]).argmax()
    assert (budget["system"], budget["step"]) == (table["system"][row], table["step"][row]), budget
    assert budget["system"] > 1, budget
    for key in ("energy_change", "truncation", "encounters", "force_precision", "rounding", "rest"):
        assert budget[key] == table[key][row], (key, budget, table[key][row])


tap.main()
