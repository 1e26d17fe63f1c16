"""What the READMEs of the examples state in numbers, and what the runs say of it.

A statement is a piece of a README, word for word, in which each {} stands for a number. Its sources
are functions of the run: one that returns a number gives the next {}, which must be that number
rounded to the digits shown; one that returns a truth value must return true. One without sources is
given: a setting in other words, a year, a value of the literature. No number of a README may stand
outside of all its statements (code aside), so none can be added or changed unseen.
"""

import functools
import json
import os
import pathlib
import re
from decimal import Decimal

import numpy
import rows
import tap

FOLDER = pathlib.Path(tap.SOURCE, "examples")
NUMBER = r"([−-]?[0-9]+(?:\.[0-9]+)?(?:e[−-]?[0-9]+)?)"


class Run:
    """A run of an example, whole."""

    def __init__(self, name, directory):
        self.name, self.directory = name, directory
        self.about = json.loads(pathlib.Path(directory, "run.json").read_text(encoding="utf-8"))

    @functools.cached_property
    def bodies(self):
        """Times, positions and velocities of the trajectory."""
        return rows.frames(f"{self.directory}/trajectory.xyz")

    def __getitem__(self, names):
        """A column: run["conservation.energy_error"]."""
        file, name = names.split(".")
        return rows.columns(f"{self.directory}/{file}.csv")[name]

    @functools.lru_cache(maxsize=None)
    def variant(self, *overrides, file="run.cfg"):
        """The example with other values, whichever verdict it ends with."""
        directory = "variant" + re.sub("[^a-z0-9]+", "-", "".join(overrides))
        result = tap.run("run", FOLDER / self.name / file, "-q", "-o", directory,
                         *(word for value in overrides for word in ("-P", value)), timeout=600)
        assert result.returncode in (0, 1), result
        return Run(self.name, directory) if file == "run.cfg" else None


def slow(source):
    """A claim that takes seconds to prove: only where all examples run in full."""
    return source if os.environ.get("ORRERY_EXAMPLES") == "full" else lambda run: True


def setting(path):
    """A value of the config that was used."""
    return lambda run: functools.reduce(
        lambda value, key: value[int(key) if key.isdigit() else key], path.split("."),
        run.about["config"])


def mean_after(names, time):
    return lambda run: run[names][run[names.split(".")[0] + ".time"] > time].mean()


# --- what is measured -----------------------------------------------------------------------------

def time_of_least(names):
    return lambda run: run[names.split(".")[0] + ".time"][run[names].argmin()]


def most(names):
    return lambda run: numpy.nanmax(numpy.abs(run[names]))


def shrinks_by(percent):
    radius = f"lagrangian-radii.radius_{percent}"
    return lambda run: run[radius][0] / run[radius].min()


def unbound(run):
    """How many bodies have positive energy at the end: equal masses, G = 1, softening 0.05."""
    _, positions, velocities = run.bodies
    x, v = positions[-1], velocities[-1]
    distance = numpy.linalg.norm(x[:, None] - x[None], axis=2)
    numpy.fill_diagonal(distance, numpy.inf)
    potential = -(1 / numpy.hypot(distance, 0.05)).sum(axis=1) / len(x)
    return (0.5 * (v ** 2).sum(axis=1) + potential > 0).sum()


def orders(run):
    """The slopes of the largest energy error against the step, for each integrator of the sweep."""
    run.variant(file="sweep.cfg")
    table = pathlib.Path("variant", "study.csv").read_text(encoding="utf-8").splitlines()
    header = [title.split(" [")[0] for title in table[0].split(",")]
    errors = {}
    for line in table[1:]:
        row = dict(zip(header, line.split(",")))
        errors.setdefault(row["time.integrator"], []).append(
            (float(row["time.step"]), float(row["conservation.energy_error"])))
    return {name: numpy.array(points) for name, points in errors.items()}


def order(name):
    def slope(run):
        steps, errors = numpy.log(orders(run)[name]).T
        return numpy.polyfit(steps, errors, 1)[0]
    return slope


def gain(name, lowest, highest):
    """By how much half the step lowers the error."""
    def gained(run):
        errors = orders(run)[name][:, 1]
        return all(lowest < a / b < highest for a, b in zip(errors, errors[1:]))
    return gained


def first_jump(key):
    return lambda run: run.about["watch"]["first_jump_pair"][key]


def grows(run):
    """Does the energy of explicit Euler rise all the time?"""
    return bool((numpy.diff(run["conservation.energy"]) > 0).all())


def trusted(key):
    return lambda run: run.about["trust"][key]


def gained_trust(*overrides):
    return lambda run: (run.variant(*overrides).about["trust"]["accurate_until"] -
                        run.about["trust"]["accurate_until"])


def mean_period(planet, unit):
    """The last one, in units of so many days."""
    return lambda run: run[f"{planet}.mean_period"][-1] / unit


def within(names, lowest, highest):
    return lambda run: bool(((run[names] > lowest) & (run[names] < highest)).all())


YEAR = 365.25

# A Plummer sphere of E = -1/4: a = 3 pi / 16, M(r) = r^3 / (r^2 + a^2)^(3/2).
PLUMMER = {percent: 3 * numpy.pi / 16 / numpy.sqrt((percent / 100) ** (-2 / 3) - 1)
           for percent in (10, 25, 50, 75, 90)}


def near_model(run):
    return max(abs(run[f"lagrangian-radii.radius_{percent}"].mean() / radius - 1)
               for percent, radius in PLUMMER.items()) * 100


def virial_means(index):
    """2<K>/|<W>|, <K>/-<E>, <U>/2<E> from t = 0.5, by hand."""
    def ratio(run):
        late = run["conservation.time"] >= 0.5 - 1e-9
        kinetic, virial, potential, energy = (
            run[f"conservation.{name}"][late].mean()
            for name in ("kinetic", "virial", "potential", "energy"))
        return (2 * kinetic / abs(virial), -kinetic / energy, potential / (2 * energy))[index]
    return ratio


def tolerant(value, stated, share):
    """A number of chaotic motion, which each kernel finds a little different, within a share."""
    return stated if abs(value / stated - 1) <= share else value


def most_frequent(run, step):
    """The distance at which the density of pairs is largest: of one step, or of the last means."""
    table = run["radial-distribution.step"] == (
        run["radial-distribution.step"].max() if step is None else step)
    density = run["radial-distribution.pair_density"][table]
    if step is None:  # the mean over all frames that enter g_mean
        late = run["radial-distribution.time"] >= 3.0 - 1e-9
        density = run["radial-distribution.pair_density"][late]
        density = density.reshape(-1, table.sum()).mean(axis=0)
    return tolerant(run["radial-distribution.r"][table][density.argmax()],
                    1.3 if step == 0 else 0.13, 0.15)


def g_at(run, step, r):
    """g at a distance, between the two shells about it."""
    table = run["radial-distribution.step"] == step
    return numpy.interp(r, run["radial-distribution.r"][table],
                        run["radial-distribution.g"][table])


def in_cube(r):
    """g of a cube of side 2 against its own volume, for r <= 2: V 4 pi r^2 g is the density of the
    distance (Philip 2007): 4 pi r^2 - 6 pi r^3 / L + 8 r^4 / L^2 - r^5 / L^3 over V."""
    side = 2.0
    return (4 * numpy.pi * r ** 2 - 6 * numpy.pi * r ** 3 / side + 8 * r ** 4 / side ** 2 -
            r ** 5 / side ** 3) / (4 * numpy.pi * r ** 2)


def mean_g(run):
    last = run["radial-distribution.step"] == run["radial-distribution.step"].max()
    return run["radial-distribution.g_mean"][last]


def scatter_after(run, names, time):
    return run[names][run[names.split(".")[0] + ".time"] > time].std()


def recorded(row):
    """A number that docs/validation.md has of the experiment collapse-slope with as many bodies."""
    def read_it(run):
        text = pathlib.Path(tap.SOURCE, "docs", "validation.md").read_text(encoding="utf-8")
        section = text.split("### collapse-slope")[1].split("\n### ")[0]
        found, = re.findall(f"N = {run.about['bodies']}, [0-9]+ systems: {row}", section)
        return float(found)
    return read_it


# --- the statements -------------------------------------------------------------------------------

STATEMENTS = {
    "cold-collapse": [
        ("{} bodies at rest, uniform in a sphere of radius 1 and mass 1.", setting("bodies.count")),
        ("π/2·√(R³/2GM) = {}.", lambda run: numpy.pi / 2 * numpy.sqrt(0.5)),
        ("by about a factor of ten, to their smallest near t = {}.",
         lambda run: all(8 < shrinks_by(p)(run) < 20 for p in (10, 25, 50, 75, 90)),
         time_of_least("lagrangian-radii.radius_50")),
        ("The potential energy has its deep, narrow minimum there, and the virial ratio its peak.",
         lambda run: abs(time_of_least("conservation.potential")(run) - 1.18) < 0.05 and
         abs(run["conservation.time"][run["conservation.virial_ratio"].argmax()] - 1.18) < 0.05),
        ("2K/|W| settles near {}, not at 1.", mean_after("conservation.virial_ratio", 3.0)),
        ("But a sixth of the bodies was thrown out",
         lambda run: 0.14 < unbound(run) / len(run.bodies[1][0]) < 0.2),
        ("(`-P bodies.virial_ratio=0.2`) throws out fewer, with less speed: there it settles "
         "near {}.",
         lambda run: unbound(run.variant("bodies.virial_ratio=0.2")) < 0.75 * unbound(run),
         lambda run: mean_after("conservation.virial_ratio", 3.0)(
             run.variant("bodies.virial_ratio=0.2"))),
    ],
    "energy-conservation": [
        ("{} bodies of random masses", setting("bodies.count")),
        ("The error grows all the time; half the step halves it.",
         lambda run: grows(run.variant("time.integrator=euler")), gain("euler", 1.85, 2.1)),
        ("half the step, a quarter of the error.", gain("velocity-verlet", 3.9, 4.1)),
        ("gains a factor of 16 from half the step", gain("yoshida4", 14.5, 17.5)),
        ("are the measured orders: {}, {}, {} and {}.", *(order(name) for name in (
            "euler", "semi-implicit-euler", "velocity-verlet", "yoshida4"))),
    ],
    "figure-eight": [
        ("(Chenciner & Montgomery 2000). The period is 6.32591398 for G = m = 1.",
         lambda run: abs(run.about["time"] - 63.2591398) < 1e-9),
        ("After ten periods the three are where they began, to about 1e-6:",
         lambda run: 1e-7 < abs(run.bodies[1][-1] - run.bodies[1][0]).max() < 3e-6),
    ],
    "galaxies": [
        ("{} systems of {} bodies that know nothing of each other, in one run",
         setting("ensemble.systems"), setting("bodies.count")),
        ("climbs from 7.5 G interactions/s (28 CPU cores) to 423 (two GPUs)",),
        ("The figure has the energy error of all {}: their median, a band that holds 80 % of them",
         setting("ensemble.systems")),
        ("![energy error of {} systems]", setting("ensemble.systems")),
        ("semi-implicit Euler errs in all of them by nearly the same h/2 Σ m v·a.",
         lambda run: run["conservation-ensemble.relative_energy_error_std"][-1] <
         0.05 * abs(run["conservation-ensemble.relative_energy_error_mean"][-1])),
        ("{} × {}² per step.", setting("ensemble.systems"), setting("bodies.count")),
        ("with those of the CPU, to 1e-3.",),  # test_galaxies_against_the_reference
    ],
    "outer-solar-system": [
        ("(Applegate et al. 1986)",),
        ("that energy was conserved to 1e-6", within("conservation.energy_error", -1, 1e-6)),
        ("| Jupiter | {} | {} .. {} |", mean_period("jupiter", YEAR),
         setting("expect.1.between.0"), setting("expect.1.between.1")),
        ("| Saturn | {} | {} .. {} |", mean_period("saturn", YEAR),
         setting("expect.2.between.0"), setting("expect.2.between.1")),
        ("| Uranus | {} | {} .. {} |", mean_period("uranus", YEAR),
         setting("expect.3.between.0"), setting("expect.3.between.1")),
        ("| Neptune | {} | {} .. {} |", mean_period("neptune", YEAR),
         setting("expect.4.between.0"), setting("expect.4.between.1")),
        ("| Pluto | {} | {} .. {} |", mean_period("pluto", YEAR),
         setting("expect.5.between.0"), setting("expect.5.between.1")),
        ("three orbits of Neptune for two of Pluto",
         lambda run: abs(mean_period("pluto", YEAR)(run) / mean_period("neptune", YEAR)(run) - 1.5)
         < 0.01),
        ("Try `-P time.integrator=euler`: the energy climbs and the run fails.",
         lambda run: run.variant("time.integrator=euler").about["verdict"] == "failed"),
    ],
    "plummer-sphere": [
        ("{} stars in the standard model of a star cluster (Plummer 1911; sampled as in Aarseth, "
         "Hénon & Wielen 1974), in N-body units: G = M = 1, E = −1/4, crossing time 2√2.",
         setting("bodies.count")),
        ("the virial ratio 2K/|W| stays near 1, within the noise of {} stars",
         setting("bodies.count"), within("conservation.virial_ratio", 0.94, 1.06)),
        ("{}, {}, {}, {} and {} for 10, 25, 50, 75 and 90 % of the mass",
         *(lambda run, radius=radius: radius for radius in PLUMMER.values())),
        ("their means over the run are within 7 % of these", lambda run: near_model(run) < 7.0),
        ("the energy error stays below 1e-5", within("conservation.energy_error", -1, 1e-5)),
        ("Softening {} takes a little from the binding energy: E starts at {}.",
         setting("physics.softening"), lambda run: run["conservation.energy"][0]),
    ],
    "pythagorean": [
        ("Masses 3, 4 and 5 at rest at the corners of a 3-4-5 triangle (Burrau 1913).",),
        ("at t = {} bodies {} and {} are {} apart",
         first_jump("time"), first_jump("id_1"), first_jump("id_2"), first_jump("distance")),
        ("The energy jumps there by a hundred times its size",
         lambda run: 80 < most("conservation.energy_error")(run) < 140),
        ("the exit status is {}.", lambda run: run.about["exit_status"]),
        ("A shorter step (`-P time.step=1e-5`) gets further, to the encounter at t = 15.83, not "
         "through.",
         slow(lambda run: abs(first_jump("time")(run.variant("time.step=1e-5")) - 15.83) < 0.005)),
    ],
    "radial-distribution": [
        ("{} bodies in a box", setting("bodies.count")),
        ("the distances of the bodies at every {}th step", setting("diagnostics.1.every")),
        ("the most frequent distance of two bodies is {} at the start and {} in the mean of the "
         "frames from t = {} on.", lambda run: most_frequent(run, run["conservation.step"][0]),
         lambda run: most_frequent(run, None), setting("diagnostics.1.average_after")),
        ("So g is 1 at the start but for the edges, {} at r = 1 as a cube has it.",
         lambda run: g_at(run, 0, 1.0),
         lambda run: abs(g_at(run, 0, 1.0) - in_cube(1.0)) < 0.02),
        ("In the mean of the frames from t = {} on it falls from {} in the innermost shell to {} "
         "at r = 2.", setting("diagnostics.1.average_after"),
         lambda run: tolerant(mean_g(run)[0], 135, 0.15),
         lambda run: tolerant(mean_g(run)[-1], 0.022, 0.15)),
        ("The fit over {} < r < {} gives {} in the mean of the frames after t = 3, each of them to "
         "±{}.", setting("diagnostics.3.fit.0"), setting("diagnostics.3.fit.1"),
         lambda run: tolerant(mean_after("density-slope.density_slope", 3.0)(run), -1.93, 0.1),
         lambda run: tolerant(scatter_after(run, "density-slope.density_slope", 3.0), 0.32, 0.2)),
        ("a halo that falls like r⁻⁴.",),
        ("the slope of an isothermal sphere, r⁻².",),
        ("{} over that range, exactly −2 at {} ± {} core radii 3σ/√(4πGρ₀), where an isothermal "
         "core has it at √2, and {} ± {} in the halo",
         recorded(r"slope between 0\.04 and 0\.12, (\S+),"),
         recorded(r"b in core radii .*\| ([0-9.-]+) \| [0-9.]+ \|"),
         recorded(r"b in core radii [^|]*± ([0-9.]+)"),
         recorded(r"slope of the halo[^|]*\| ([0-9.-]+) "),
         recorded(r"slope of the halo[^|]*± ([0-9.]+)")),
    ],
    "trust": [
        ("{} stars, and two shadows of them", setting("bodies.count")),
        ("accurate until t = {}, reproducible until t = {}; e-folding time {} +- {};",
         trusted("accurate_until"), trusted("reproducible_until"), trusted("e_folding_time"),
         trusted("e_folding_time_error")),
        ("Errors grow by e in half a time unit, a fifth of a crossing time (Miller 1964; Goodman, "
         "Heggie & Hut 1993).",
         lambda run: 0.4 < trusted("e_folding_time")(run) < 0.6 and
         abs(trusted("e_folding_time")(run) / (2 * numpy.sqrt(2)) - 0.2) < 0.05),
        ("*Accurate until {}*", trusted("accurate_until")),
        ("has moved the stars by 1 % of the size of the cluster",),
        ("Half the step gives one unit more",
         lambda run: 0.5 < gained_trust("time.step=0.001")(run) < 1.5),
        ("a method of sixth order five",
         lambda run: 4.5 < gained_trust("time.integrator=yoshida6")(run) < 5.5),
        ("*Reproducible until {}*", trusted("reproducible_until")),
        ("The energy is kept to 1e-4 all the way", within("conservation.energy_error", -1, 1e-4)),
    ],
    "two-body-orbit": [
        ("(e = {}) about a heavy one, for ten periods, from apocentre.",
         setting("bodies.eccentricity"), lambda run: run["orbit.separation"][0] == 1.5 and
         abs(run["orbit.revolutions"][-1] - 10) < 0.01),
        ("Its error is almost all along the track",
         lambda run: most("orbit.along_track")(run) > 10 * most("orbit.radial")(run)),
        ("the verdict says so",
         lambda run: run.variant("time.integrator=euler").about["verdict"] == "failed"),
    ],
    "uniform-cube": [
        ("{} bodies of unit mass, uniform in [−10, 10]³, with velocities uniform in [−1, 1]³",
         setting("bodies.count")),
        ("It falls together within about two time units",
         lambda run: 1.4 < time_of_least("conservation.potential")(run) < 2.0),
        ("the energy is off by a tenth in the middle of it, and by some 5 % after it",
         lambda run: 0.08 < most("conservation.energy_error")(run) < 0.14 and
         0.03 < mean_after("conservation.relative_energy_error", 5.0)(run) < 0.07),
        ("this one may err by a fifth", lambda run: setting("watch.energy_error")(run) == 0.2),
        ("it passes without",
         lambda run: run.variant(
             "time.step=0.001", "time.integrator=velocity-verlet", "watch.energy_error=5e-3",
             "watch.energy_jump=1e-3").about["verdict"] == "held"),
    ],
    "virial": [
        ("{} bodies of random masses in a box", setting("bodies.count")),
        ("From then on the means obey the virial theorem: 2⟨K⟩ = −⟨W⟩",
         lambda run: abs(virial_means(0)(run) - run["virial.mean_virial_ratio"][-1]) < 1e-9),
        ("and so ⟨K⟩ → −E and ⟨U⟩ → 2E. Here ε = {} is a tenth of the box",
         setting("physics.softening")),
        ("2⟨K⟩/|⟨W⟩| is 1 to half a percent", lambda run: abs(virial_means(0)(run) - 1) < 5e-3),
        ("but ⟨K⟩/−⟨E⟩ and ⟨U⟩/2⟨E⟩ stay at {} and {}.", virial_means(1), virial_means(2)),
        ("they come within a few percent of 1.",
         lambda run: all(
             abs(virial_means(k)(run.variant("physics.softening=0.02", "time.step=0.0001")) - 1)
             < 0.04 for k in (0, 1, 2))),
    ],
}


# --- reading and comparing ------------------------------------------------------------------------

def shown(text):
    """A number of a README and half of the unit of its last digit."""
    number = Decimal(text.replace("−", "-"))
    return float(number), 0.5 * 10.0 ** number.as_tuple().exponent


def pattern(template):
    words = [re.escape(part).replace(r"\ ", r"\s+") for part in template.split("{}")]
    return re.compile(NUMBER.join(words))


def read(name):
    return (FOLDER / name / "README.md").read_text(encoding="utf-8")


def unchecked(name, text):
    """The words with a digit that stand in no statement, code and links aside."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    for template, *_ in STATEMENTS[name]:
        text = pattern(template).sub("", text)
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", "", text, flags=re.DOTALL)
    return [word for word in text.split() if any(c.isdigit() for c in word)]


def check_words(name, text):
    """Every statement is in the README, and every number of the README in a statement."""
    missing = [template for template, *_ in STATEMENTS[name] if not pattern(template).search(text)]
    assert not missing, (name, "no longer says", missing)
    assert not unchecked(name, text), (name, "is checked by nothing", unchecked(name, text))


def check_numbers(text, run):
    """What the README states is what the run gives; all disagreements at once."""
    wrong = []
    for template, *sources in STATEMENTS[run.name]:
        numbers = list(pattern(template).search(text).groups())
        for source in sources:
            value = source(run)
            if isinstance(value, (bool, numpy.bool_)):
                wrong += [] if value else [template]
                continue
            stated, half = shown(numbers.pop(0))
            if not abs(value - stated) <= half * (1 + 1e-9):
                wrong.append(f"{template}: states {stated:g}, the run gives {value:.8g}")
        assert not numbers, f"{template}: no source for {numbers}"
    assert not wrong, "\n".join([run.name, *wrong])
