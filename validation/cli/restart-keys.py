"""Every key of a config, changed alone before a restart: another experiment is refused with the key
and both values, what only observes or computes goes on."""

import fnmatch
import json
import pathlib
import shutil

import tap

PLUMMER = 'name = "one"; bodies = { initial = "plummer"; count = 16; };'
SOFT = "physics = { softening = 0.1; };"
STEPS = "time = { step = 0.001; end = 0.002; };"
MIXED = 'masses = "two-components"; binary_fraction = 0.25; binary_axes = [0.001, 0.002]; ' \
    'count = 16; center = false; mass = 1.0; '
# The first one has no default in N-body units, and is tried with other units too.
MODELS = ('"orbits"; central_mass = 1.0; masses = [0.1, 0.2]; semi_major_axes = [1.0, 2.0]; '
          'eccentricities = [0.1, 0.2]; inclinations = [1.0, 2.0]; ascending_nodes = [1.0, 2.0]; '
          'arguments_of_pericenter = [1.0, 2.0]; true_anomalies = [1.0, 2.0];',
          '"cold-sphere"; count = 8; virial_ratio = 1.0;', '"disc"; count = 16;',
          '"galaxy"; disc_count = 8; disc_cutoff_radius = 8.0; bulge_count = 8; '
          'bulge_mass = 0.5; bulge_scale_radius = 0.3; '
          'bulge_cutoff_radius = 2.0; halo_count = 8; halo_mass = 5.0; halo_scale_radius = 3.0; '
          'halo_cutoff_radius = 30.0; halo_profile = "nfw";',
          '"dehnen"; inner_slope = 0.5;' + MIXED, '"figure-eight";',
          '"hernquist"; cutoff_radius = 9.0;' + MIXED, '"jaffe"; cutoff_radius = 2.5;' + MIXED,
          '"king"; w0 = 3.0;' + MIXED, '"nfw"; cutoff_radius = 9.0;' + MIXED,
          '"plummer"; cutoff_radius = 9.0;' + MIXED,
          '"plummer"; count = 8; masses = "kroupa";', '"pythagorean";',
          '"two-body"; names = ["a", "b"]; origin = [1.0, 2.0, 3.0]; '
          'origin_velocity = [1.0, 2.0, 3.0];',
          '"uniform-cube"; count = 8; masses = "equal";',
          '"uniform-cube"; count = 8; half_side = 1.0; masses = "random";',
          '"file"; file = "bodies.csv"; file_units = "nbody";')
DIAGNOSTICS = """diagnostics = (
  { type = "conservation"; name = "own"; every = 2; }, { type = "binaries"; every = 2; },
  { type = "bound-mass"; every = 2; }, { type = "close-encounters"; every = 2; },
  { type = "disc-profile"; every = 2; rings = 4; r_max = 3.0; }, { type = "escapers"; every = 2; },
  { type = "density-profile"; every = 2; shells = 2; r_min = 0.1; r_max = 3.0; fit = [0.0, 9.0]; },
  { type = "density-slope"; every = 2; shells = 8; r_min = 0.1; r_max = 3.0; fit = [0.0, 9.0];
    least_bodies = 3; },
  { type = "force-error"; every = 2; count = 4; }, { type = "lagrangian-radii"; every = 2; },
  { type = "orbit"; every = 2; primary = 1; secondary = 2; },
  { type = "radial-distribution"; every = 2; r_max = 1.0; cell_volume = 1.0; },
  { type = "velocity-dispersion"; every = 2; }, { type = "virial"; every = 2; });
"""
FIELDS = """external = (
  { type = "plummer"; mass = 1.0; scale_radius = 1.0; }, { type = "point-mass"; mass = 1.0; },
  { type = "hernquist"; mass = 1.0; scale_radius = 1.0; },
  { type = "nfw"; mass = 1.0; scale_radius = 1.0; },
  { type = "miyamoto-nagai"; mass = 1.0; a = 1.0; b = 1.0; },
  { type = "logarithmic"; speed = 1.0; core_radius = 1.0; flattening = 0.9; },
  { type = "harmonic"; frequencies = [1.0, 2.0, 3.0]; },
  { type = "uniform"; acceleration = [1.0, 2.0, 3.0]; });
"""
JUDGED = """outputs = ( { type = "xyz"; every = 2; } );
expect = ( { quantity = "kinetic"; at_most = 1e9; }, { quantity = "kinetic"; at_least = 0.0; },
  { quantity = "kinetic"; between = [0.0, 1e9]; after = 0.0; before = 1.0; } );
stop_when = ( { quantity = "kinetic"; at_most = -1e9; }, { quantity = "kinetic"; at_least = 1e9; },
  { quantity = "kinetic"; between = [-2e9, -1e9]; after = 0.0; before = 1.0; } );
checkpoint = { every_steps = 2; };
watch = { energy_drift = 1.0; orbit_error = 1.0; };
energy_budget = { measure = true; every = 2; angle = 1.0; };
ensemble = { systems = 2; energy_error_limit = 1.0; };
trust = { shadow = true; };
"""
CONSERVATION = 'diagnostics = ( { type = "conservation"; every = 2; } );\n'
ENCOUNTER = ('bodies = { initial = "encounter"; pericenter = 0.5; separation = 8.0; };', """
models = (
  { initial = "plummer"; count = 16; seed = 3; species = "a"; virial_ratio = 1.0;
    disc_inclination = 10.0; disc_argument = 20.0; },
  { initial = "king"; count = 8; w0 = 3.0; seed = 4; virial_ratio = 1.0; });""", SOFT, STEPS)
# The sections of a config.
CASES = (
    (PLUMMER, SOFT, STEPS, JUDGED, CONSERVATION),
    (PLUMMER, SOFT, STEPS, DIAGNOSTICS), (PLUMMER, SOFT, STEPS, FIELDS),
    (PLUMMER, SOFT, 'time = { energy_error = 1e-2; energy_error_of = "worst"; '
     'work_limit = 1e9; end = 0.002; };', JUDGED, CONSERVATION),
    ('bodies = { initial = "two-body"; };', "trust = { shadow = true; };",
     "time = { trust_until = 0.5; end = 1.0; };"),
    ('bodies = { initial = "two-body"; names = ["a", "b"]; };', SOFT, STEPS,
     'diagnostics = ( { type = "bound-mass"; every = 2; species = "a"; } );'),
    (PLUMMER, "", 'time = { integrator = "gauss-radau"; step = 0.001; end = 0.002; };'),
    (PLUMMER, "", 'time = { integrator = "hermite4"; step = 0.001; end = 0.002; };'),
    (PLUMMER, SOFT, 'time = { integrator = "stages"; stages = ["force", "kick 1", "drift 1"]; '
     'step = 0.001; end = 0.002; };'),
    ('bodies = { initial = "uniform-cube"; count = 8; };', 'physics = { boundary = "periodic"; '
     'box_length = 3.0; gravitational_constant = 2.0; softening = 0.1; };', STEPS),
)
# What may change before a restart. All other keys make another experiment.
MAY_CHANGE = ("name", "outputs.*.compress", "checkpoint.*", "compute.backend", "compute.threads",
              "compute.devices", "compute.stream", "compute.kernel", "compute.isa",
              "diagnostics.*.every", "outputs.*.every", "watch.*", "stop_when.*", "time.end",
              "time.work_limit")
# Other values where the rule of other() finds none that the rest of the config allows.
OTHERS = {"name": "other", "bodies.cutoff": 0.99, "bodies.initial": "cold-sphere",
          "expect.0.quantity": "potential", "stop_when.0.quantity": "potential",
          "external.0.type": "hernquist", "outputs.0.columns": "id pos", "outputs.0.digits": 9,
          "outputs.0.file": "other", "diagnostics.0.name": "other", "diagnostics.0.species": "b",
          "models.0.species": "other", "bodies.names": ["b", "a"], "time.end": 0.003,
          "time.stages": ["drift 1", "force", "kick 1"]}
# They change with other keys only, with a file or a build with HDF5 or CUDA, or are of a study.
NOT_ALONE = {"bodies.file", "bodies.files", "bodies.format", "compute.stream", "outputs.0.type",
             "physics.boundary", "sweep.0.key", "sweep.0.values"}


def write(text, path="run.cfg"):
    pathlib.Path(path).write_text(text)
    return path


def leaves(value, path=""):
    """(path, value) of every key of a resolved config."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for k, inner in enumerate(value):
            yield from leaves(inner, f"{path}.{k}")
    else:
        yield path, value


def choices():
    """The values of each key that is one of several, the number of a group's member left out."""
    rows = [row.split("\t") for row in tap.run("info", "--keys").stdout.splitlines()]
    return {key: values.split() for key, values in rows if values}


def text_of(value):
    """A value as -P takes it."""
    return json.dumps(value) if isinstance(value, (list, str)) else str(value).lower() \
        if isinstance(value, bool) else repr(value)


def other(path, value, of):
    """Another valid value, or None where there is no rule."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        rest = [choice for choice in of.get(of_any(path), ()) if choice != value]
        return rest[0] if rest else None
    if isinstance(value, list):
        return [other("", value[0], of), *value[1:]] if value and not isinstance(value[0], str) \
            else None
    if isinstance(value, int):
        return value + 1
    return 1.01 * value if value else 0.01


def of_any(path):
    """The key of the first member of a group, for one of any."""
    return ".".join("0" if part.isdigit() else part for part in path.split("."))


def change_each(text, of, tried, may_change=MAY_CHANGE, keys="*"):
    """Continues a run with each of its keys changed that has not been tried yet."""
    write("m,x,y,z,vx,vy,vz\n1,1,0,0,0,0.5,0\n1,-1,0,0,0,-0.5,0\n", "bodies.csv")
    result = tap.run("run", write(text), "-q", "-o", "base", "--force")
    assert result.returncode in (0, 1), (text, result.stderr)
    about = json.loads(pathlib.Path("base/run.json").read_text())
    for path, value in leaves(about["config"]):
        new = OTHERS.get(of_any(path), other(path, value, of))
        if path in tried or new in (None, value) or of_any(path) in NOT_ALONE \
                or not fnmatch.fnmatch(path, keys):
            continue
        may = any(fnmatch.fnmatch(path, pattern) for pattern in may_change)
        directory = "again" if may else "base"  # a refusal writes nothing
        if may:
            shutil.copytree("base", "again", dirs_exist_ok=True)
        result = tap.run("run", "run.cfg", "-q", "-o", directory, "--restart", "-P",
                         f"{path}={text_of(new)}")
        refused = f"{path} was " in result.stderr and "when the run began, now" in result.stderr
        assert not (may and refused), (path, value, new, result.stderr)
        assert may or result.returncode == 78, (path, value, new, result)
        if refused or result.returncode in (0, 1):
            tried.add(path)


def test_each_key_alone():
    """every key of the tables, changed alone: the restart goes on or is refused, as its kind is"""
    of, tried = choices(), set()
    listed = {model.split('"')[1] for model in MODELS} | {"encounter", "outer-solar-system"}
    assert listed == set(of["bodies.initial"]), f"MODELS: {listed ^ set(of['bodies.initial'])}"
    starts = [(f"bodies = {{ initial = {model} }};", SOFT, STEPS) for model in MODELS]
    for case in (*CASES, *tap.first([*starts, ENCOUNTER], 1)):
        change_each("\n".join(case), of, tried)
    # Far forces differ by more than rounding: who sums them may not change.
    few = [pattern for pattern in MAY_CHANGE if pattern not in
           ("compute.backend", "compute.kernel", "compute.isa")]
    fmm = set()
    change_each("\n".join((PLUMMER, SOFT, STEPS, 'compute = { method = "fmm"; };')), of, fmm, few,
                "compute.*")
    tried |= fmm
    rows = {row.split("\t")[0] for row in tap.run("info", "--keys").stdout.splitlines()}
    missing = rows - {of_any(path) for path in tried} - NOT_ALONE
    # The keys of a model are those of bodies.
    missing -= {path.replace("bodies.", "models.0.") for path in tried | NOT_ALONE}
    if not tap.is_thorough():
        missing = {key for key in missing if not key.startswith(("bodies.", "models."))}
    assert not missing, sorted(missing)


tap.main()
