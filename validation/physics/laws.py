"""The law of force, its energies, and the order of the integrators."""

import numpy

from experiment import bodies_of, experiment, from_file, mean_and_error
from rows import columns, frames

GROUP = "Law of force and integrators"


def slope(x, y):
    return numpy.polyfit(numpy.log(x), numpy.log(y), 1)[0]


@experiment("softened-gravity", "forces and energies against plain sums in numpy", GROUP)
def softened_gravity(bench):
    def measure(precision, *, criteria):
        bench.run("softened-gravity", f"compute.precision={precision}", criteria=criteria)
        _, x, v = frames("out.run/trajectory.xyz")
        return x[0], v[1] / 0.125  # from rest, one kick of dt = 0.125 by a

    with_masses = columns_of_masses
    x, a = measure("double", criteria=True)
    m, eps = with_masses("out.run/trajectory.xyz"), 0.3
    d = x[None, :, :] - x[:, None, :]
    s2 = (d**2).sum(2) + eps**2
    expected = (m[None, :, None] * d / s2[:, :, None] ** 1.5).sum(1)
    size = numpy.sqrt((expected**2).sum(1)).mean()
    formula = "a = G Σ m r/(r²+ε²)^(3/2)"
    bench.below("acceleration, double: largest error over the mean acceleration",
                abs(a - expected).max() / size, 1e-14, formula + "; rounding of 40 terms")
    for precision, bound in (("mixed", 1e-6), ("single", 1e-5)):
        _, other = measure(precision, criteria=False)
        bench.below(f"acceleration, {precision}: largest error over the mean acceleration",
                    abs(other - expected).max() / size, bound, formula + "; fp32 pair terms")
    energies = columns("out.run/conservation.csv")
    i, j = numpy.triu_indices(len(m), 1)
    pairs, r2 = m[i] * m[j], (d[i, j] ** 2).sum(1)
    for quantity, column, plain, source in (
            ("U: relative difference from the sum over pairs", "potential",
             -(pairs / numpy.sqrt(s2[i, j])).sum(),
             "U = −G Σ m m/√(r²+ε²), with the softening of the force"),
            ("W: relative difference from the sum over pairs", "virial",
             -(pairs * r2 / s2[i, j] ** 1.5).sum(), "W = −G Σ m m r²/(r²+ε²)^(3/2)"),
            ("W: relative difference from the sum over bodies", "virial",
             (m[:, None] * x * expected).sum(), "Clausius: W = Σ m r·a")):
        bench.below(quantity, abs(energies[column][0] / plain - 1), 1e-13, source)


def columns_of_masses(path):
    """The masses in the first frame (columns species, pos, velo, mass, id)."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    return numpy.array([float(line.split()[7]) for line in lines[2:2 + int(lines[0])]])


@experiment("energy-against-step", "order of accuracy of seven integrators", GROUP)
def energy_against_step(bench):
    steps = numpy.array([0.004, 0.002, 0.001])
    for k, (integrator, order) in enumerate((
            ("euler", 1), ("semi-implicit-euler", 1), ("velocity-verlet", 2), ("leapfrog-dkd", 2),
            ("yoshida4", 4), ("pefrl", 4), ("yoshida6", 6))):
        worst = []
        for step in steps * (2.5 if order == 6 else 1):  # rounding would drown a finer one's
            bench.run("energy-against-step", f"time.step={step}", f"time.integrator={integrator}",
                      criteria=k == 0 and step == steps[0])
            energies = columns("out.run/conservation.csv")
            worst.append(energies["energy_error"][-1])
        bench.near(f"{integrator}: slope of the log of the largest energy error against log dt",
                   slope(steps, worst), order, 0.05,
                   "order of the method; the next term of the error at these steps")
        if integrator == "semi-implicit-euler":
            L = [energies[f"angular_momentum_{axis}"] for axis in "xyz"]
            bench.below("semi-implicit-euler: change of L", max(numpy.ptp(one) for one in L), 1e-13,
                        "symplectic, central forces: L is conserved to rounding")
            error = abs(energies["relative_energy_error"])
            half = len(error) // 2
            bench.below("semi-implicit-euler: largest energy error, second half over first",
                        error[half:].max() / error[:half].max(), 2, "bounded, no drift")


@experiment("there-and-back", "velocity Verlet, run back from its end with reversed velocities",
            GROUP)
def there_and_back(bench):
    bench.run("there-and-back", output="there.run")
    _, x, v = frames("there.run/trajectory.xyz")
    bodies_of("end.csv", [0.7, 0.3], x[-1], -v[-1])
    bench.run(from_file("there-and-back", "end.csv"), output="back.run", criteria=False)
    _, y, w = frames("back.run/trajectory.xyz")
    error = max(abs(y[-1] - x[0]).max(), abs(w[-1] + v[0]).max())
    bench.below("distance from the start after 2 × 10 revolutions", error, 1e-11,
                "reversible; rounding of 12 566 steps grows linearly on a regular orbit")


@experiment("periodic-lattice", "a cubic lattice in a periodic box stays at rest", GROUP)
def periodic_lattice(bench):
    side = (numpy.arange(5) - 2) / 5  # odd: no image is at exactly half the box
    x = numpy.array([(a, b, c) for a in side for b in side for c in side])
    bodies_of("lattice.csv", numpy.ones(125), x, numpy.zeros_like(x))
    bench.run(from_file("periodic-lattice", "lattice.csv"))
    _, _, velocities = frames("out.run/trajectory.xyz")
    bench.below("largest speed after 20 steps", abs(velocities[-1]).max(), 1e-12,
                "the forces of the 124 nearest images (the largest is 25) cancel to rounding")
    energies = columns("out.run/conservation.csv")
    bench.near("W/U", energies["virial"][0] / energies["potential"][0], 1, 1e-13, "ε = 0: W = U")
    x[62] += [0.01, 0, 0]
    bodies_of("lattice.csv", numpy.ones(125), x, numpy.zeros_like(x))
    bench.run(from_file("periodic-lattice", "lattice.csv"), criteria=False)
    _, _, velocities = frames("out.run/trajectory.xyz")
    bench.above("speed of a body that starts beside its lattice site", velocities[-1][62][0], 1e-3,
                "the neighbour that is nearer pulls it")
    bench.below("total momentum of that run", abs(velocities[-1].sum(0)).max(), 1e-12,
                "action = reaction")


@experiment("minimum-images", "a change of nearest image costs an order of accuracy", GROUP)
def minimum_images(bench):
    def worst(step, *box, criteria=False):
        """The largest energy error of every system, at the same times for any step."""
        bench.run("minimum-images", f"time.step={step}",
                  f"diagnostics.0.every={round(0.004 / step)}", *box, criteria=criteria)
        return columns("out.run/conservation.csv")["energy_error"][-systems:]

    systems, open_space = 16, "physics.box_length=1000"  # nobody changes images there
    error = "three standard errors of 16 systems"
    mean, off = mean_and_error(numpy.log2(worst(0.004, open_space) / worst(0.00025, open_space)))
    bench.near(f"open space: log₂ of the energy error at dt over that at dt/16, mean ± {off:.4f}",
               mean, 8, 3 * off + 0.02,
               f"second order: log₂ 16²; {error}, and the next order of the error")
    ratio = worst(0.004, criteria=True) / worst(0.00025)
    mean, off = mean_and_error(numpy.log2(ratio))
    bench.near(f"box: the same, mean ± {off:.2f}", mean, 4, 3 * off,
               f"first order, as the force jumps with random signs: log₂ 16; {error}")
