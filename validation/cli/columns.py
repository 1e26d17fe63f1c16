"""Every column of a trajectory against numpy: by itself, in HDF5, and through convert."""

import pathlib

import numpy

import frames
import tap

SYSTEMS, COUNT, STEP = 2, 30, 1 / 256
CONFIG = f"""
name = "c";
bodies = {{ initial = "plummer"; count = {COUNT}; seed = 9; }};
ensemble = {{ systems = {SYSTEMS}; }};
physics = {{ softening = 0.05; }};
time = {{ step = {STEP}; end = {7 * STEP}; }};
diagnostics = ( {{ type = "conservation"; every = 1; }} );
watch = {{ on_jump = "warn"; }};
outputs = ( {{ type = "xyz"; every = 3; digits = 17; columns = "{frames.COLUMNS}"; }} );
"""
BOX = 1.5
PERIODIC = ("physics.boundary=periodic", f"physics.box_length={BOX}")
INTEGRATORS = tap.integrators_of_stages()

WAYS = (("compute.backend=serial",), ("compute.kernel=symmetric",), ("compute.kernel=plain",))


def run(directory, *overrides, config=CONFIG):
    pathlib.Path("run.cfg").write_text(config)
    keys = [word for override in overrides for word in ("-P", override)]
    result = tap.run("run", "run.cfg", "-q", "-o", directory, *keys)
    assert result.returncode == 0, result
    return directory


def convert(source, target, *options):
    result = tap.run("convert", source, target, "-q", *options)
    if result.returncode == 69:
        raise tap.Skip("built without HDF5")
    assert result.returncode == 0, result


def test_columns_after_every_integrator():
    """forces, energies, ids and places of both sides are numpy's, whatever the integrator's end"""
    cases = [(name, ()) for name in INTEGRATORS]
    cases += [(name, way) for name in ("velocity-verlet", "leapfrog-dkd") for way in WAYS]
    for number, (name, way) in enumerate(cases):
        directory = run(f"{number}", f"time.integrator={name}", *way)
        made = frames.check(directory, frames.Physics(0.05), SYSTEMS, COUNT, STEP)
        assert [frames.step_of(comment) for comment, _ in made] == [0, 3, 6, 7]


def test_columns_in_a_box():
    """in a periodic box: the forces of nearest images, and every body inside the cell"""
    for name in ("velocity-verlet", "leapfrog-dkd", "pefrl"):
        made = frames.check(run(name, f"time.integrator={name}", *PERIODIC),
                            frames.Physics(0.05, BOX), SYSTEMS, COUNT, STEP)
        assert numpy.abs(made[0][1]["pos"]).max() > 0.95 * BOX / 2  # and some had to be wrapped


def test_what_is_written_changes_no_motion():
    """forces and potentials asked for between steps change no bit of the motion after them"""
    for name in INTEGRATORS:
        key = f"time.integrator={name}"
        all_columns = frames.read(run(name, key) + "/trajectory.xyz")
        few = run(name + "-few", key, "diagnostics=()",
                  config=CONFIG.replace(frames.COLUMNS, "pos velo"))
        for (_, one), (_, other) in zip(all_columns, frames.read(few + "/trajectory.xyz")):
            assert one["pos"].tobytes() == other["pos"].tobytes(), name
            assert one["velo"].tobytes() == other["velo"].tobytes(), name


def test_the_motion():
    """positions and velocities are those of the scheme, step by step by numpy"""
    physics = frames.Physics(0.05)

    def kdk(m, x, v):
        v = v + STEP / 2 * physics.accelerations(m, x)
        x = x + STEP * v
        return x, v + STEP / 2 * physics.accelerations(m, x)

    def dkd(m, x, v):
        x = x + STEP / 2 * v
        v = v + STEP * physics.accelerations(m, x)
        return x + STEP / 2 * v, v

    for name, step in (("velocity-verlet", kdk), ("leapfrog-dkd", dkd)):
        made = frames.read(run(name, f"time.integrator={name}", "ensemble.systems=1",
                               config=CONFIG.replace("every = 3", "every = 1"))
                           + "/trajectory.xyz")
        assert len(made) == 8
        x, v = made[0][1]["pos"], made[0][1]["velo"]
        for _, columns in made[1:]:
            x, v = step(columns["mass"], x, v)
            frames.close(columns["pos"], x, name)
            frames.close(columns["velo"], v, name)


def datasets(path):
    h5py = tap.need("h5py")
    with h5py.File(path) as file:
        group = file["PartType1"]
        return {name: group[name][:] for name in group}, dict(file["Header"].attrs)


def expect_snapshot(path, columns, time):
    sets, header = datasets(path)
    assert header["Time"] == time and list(header["NumPart_ThisFile"]) == \
        [0, SYSTEMS * COUNT, 0, 0, 0, 0], path
    for name, column in (("Coordinates", "pos"), ("Velocities", "velo"), ("Masses", "mass"),
                         ("ParticleIDs", "id"), ("System", "cluster")):
        assert sets[name].tobytes() == columns[column].tobytes(), (path, name)


def test_hdf5_holds_the_same_bits():
    """of every frame HDF5 holds the bits of the XYZ columns: from a run, and through convert"""
    convert(run("a") + "/trajectory.xyz", "probe.hdf5")
    both = CONFIG.replace("outputs = (", 'outputs = ( { type = "gadget-hdf5"; every = 3; },')
    made = frames.read(run("b", "time.integrator=leapfrog-dkd", config=both) + "/trajectory.xyz")
    assert len(made) == 4
    convert("b/trajectory.xyz", "all.hdf5", "--all")
    for k, (comment, columns) in enumerate(made):
        time = float(comment.split("Time=")[1].split()[0])
        expect_snapshot(f"b/snapshot_{k:03}.hdf5", columns, time)
        expect_snapshot(f"all_{k:03}.hdf5", columns, time)


KINDS = ("csv", "xyz", "hdf5", "txt")


def awkward(count):
    """Reals that only all 17 digits hold: random bits of any size, and the ends of the range."""
    generator = numpy.random.default_rng(4)
    ends = [0.0, -0.0, 5e-324, -2.2250738585072014e-308, 0.1, 1 / 3, 2.0**53 + 2, 1e22, 1e23,
            9007199254740993.0, numpy.nextafter(1, 2), numpy.nextafter(1, 0)]
    bits = generator.integers(0, 2**64, size=8 * 7 * count, dtype=numpy.uint64)
    reals = bits.view(numpy.float64)
    reals = reals[numpy.isfinite(reals) & (numpy.abs(reals) < 1e100)][:7 * count - len(ends)]
    table = numpy.concatenate([ends, reals]).reshape(count, 7)
    table[:, 0] = numpy.abs(table[:, 0])  # masses
    return table


def read_bodies(path):
    """m x y z vx vy vz as numpy and h5py read them."""
    if path.endswith("txt"):
        return numpy.loadtxt(path)
    if path.endswith("csv"):
        table = frames.rows.columns(path)
        return numpy.column_stack([table[name] for name in ("m", "x", "y", "z", "vx", "vy", "vz")])
    if path.endswith("xyz"):
        columns = frames.read(path)[-1][1]
        return numpy.column_stack([columns["mass"], columns["pos"], columns["velo"]])
    sets = datasets(path)[0]
    return numpy.column_stack([sets["Masses"], sets["Coordinates"], sets["Velocities"]])


def test_reals_come_back_as_the_same_bits():
    """reals of any size go through every pair of formats, and are read back as the same bits"""
    table = awkward(60)
    text = "".join(" ".join(repr(float(cell)) for cell in row) + "\n" for row in table)
    pathlib.Path("start.txt").write_text(text)
    for one in KINDS:
        convert("start.txt", f"one.{one}")
        assert read_bodies(f"one.{one}").tobytes() == table.tobytes(), one
        for other in KINDS:
            convert(f"one.{one}", f"{one}-to.{other}")
            assert read_bodies(f"{one}-to.{other}").tobytes() == table.tobytes(), (one, other)


tap.main()
