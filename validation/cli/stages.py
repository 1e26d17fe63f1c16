"""An integrator that a config spells out as a list of stages, as a user meets it: the bytes of the
integrators that have the same list, what is said of it, what is refused, and its order."""

import csv
import json
import pathlib
import re

import tap

# The lists of src/integrator/integrator.c; coefficients of the papers that it names.
W1, W0 = 1.3512071919596576340476878089715, -1.7024143839193152680953756179429
Y6 = (0.78451361047755726382, 0.23557321335935813368, -1.17767998417887100695,
      1.31518632068391121889)
XI, LAMBDA, CHI = 0.1786178958448091, -0.2123418310626054, -0.06626458266981849


def leapfrogs(*weights):
    """Leapfrogs DKD composed: neighbouring half drifts are one."""
    half = [0.0, *weights, 0.0]
    drifts = [0.5 * (half[i] + half[i + 1]) for i in range(len(weights) + 1)]
    words = [f"drift {drifts[0]!r}"]
    for weight, drift in zip(weights, drifts[1:]):
        words += ["force", f"kick {weight!r}", f"drift {drift!r}"]
    return words


ROWS = {
    "semi-implicit-euler": ["force", "kick 1", "drift 1"],
    "velocity-verlet": ["kick 0.5", "drift 1", "force", "kick 1/2"],
    "leapfrog-dkd": ["drift 0.5", "force", "kick 1.0", "drift 0.5"],
    "yoshida4": leapfrogs(W1, W0, W1),
    "pefrl": [f"drift {XI!r}", "force", f"kick {0.5 - LAMBDA!r}", f"drift {CHI!r}", "force",
              f"kick {LAMBDA!r}", f"drift {1 - 2 * (CHI + XI)!r}", "force", f"kick {LAMBDA!r}",
              f"drift {CHI!r}", "force", f"kick {0.5 - LAMBDA!r}", f"drift {XI!r}"],
    "yoshida6": leapfrogs(*Y6, *Y6[2::-1]),
}
RUTH = ["force", "kick 7/24", "drift 2/3", "force", "kick 3/4", "drift -2/3", "force",
        "kick -1/24", "drift 1"]

PLUMMER = 'bodies = { initial = "plummer"; count = 24; seed = 5; };'
SOFT = "physics = { softening = 0.3; };"
KEEP = 'checkpoint = { every_steps = 7; };'
CASES = {
    "few bodies": (PLUMMER, SOFT),
    "serial": (PLUMMER, SOFT, 'compute = { backend = "serial"; };'),
    "tiles": ('bodies = { initial = "plummer"; count = 300; };', SOFT,
              'compute = { backend = "openmp"; threads = 2; precision = "single"; };'),
    "fast multipoles": ('bodies = { initial = "plummer"; count = 300; };', SOFT,
                        'compute = { method = "fmm"; };'),
    "an ensemble": (PLUMMER, SOFT, "ensemble = { systems = 5; };"),
    "fields": (PLUMMER, SOFT, 'external = ( { type = "nfw"; mass = 5.0; scale_radius = 3.0; } );'),
    "a rotating frame": (PLUMMER, "physics = { softening = 0.3; rotation = 0.7; };"),
    "a periodic box": ('bodies = { initial = "uniform-cube"; count = 40; half_side = 0.9; };',
                       'physics = { softening = 0.3; boundary = "periodic"; box_length = 2.0; };'),
}


def spelled(words):
    return f"[{', '.join(json.dumps(word) for word in words)}]"


def config(name, time, *sections):
    """A config whose integrator is a row of the program or, if it is a list, spelled out."""
    integrator = f'integrator = "{time}"' if isinstance(time, str) else \
        f'integrator = "stages"; stages = {spelled(time)}'
    sections = sections or CASES["few bodies"]
    pathlib.Path(f"{name}.cfg").write_text("\n".join((
        f'name = "{name}"; time = {{ {integrator}; step = 0.01; end = 0.2; }};',
        'diagnostics = ( { type = "conservation"; every = 5; } );',
        'outputs = ( { type = "xyz"; every = 10; } );', KEEP, *sections)) + "\n")
    return f"{name}.cfg"


def go(command, *arguments, status=0, **options):
    result = tap.run(command, *arguments, **options)
    assert result.returncode == status, (arguments, result)
    return result


def contents(directory):
    """The tables and the trajectory of a run."""
    files = [path for path in sorted(pathlib.Path(directory).iterdir())
             if path.suffix in (".csv", ".xyz")]
    assert len(files) >= 2, files
    return [path.read_bytes() for path in files]


def test_the_bytes_of_the_rows():
    """a list has the bytes of the integrator that is made of it, with whatever forces"""
    for case, sections in CASES.items():
        for name, words in tap.first(list(ROWS.items()), 4):
            go("run", config("row", name, *sections), "-q", "--force")
            go("run", config("list", words, *sections), "-q", "--force")
            assert contents("list.run") == contents("row.run"), (case, name)
    others = [name for name in tap.integrators_of_stages() if name not in ROWS]
    assert sorted(others) == ["euler", "rk4"], others  # they cannot be spelled


def test_restart_and_verify():
    """a run that was cut in two ends with the same bytes, and only with the same list"""
    go("run", config("whole", RUTH), "-q")
    go("run", config("cut", RUTH), "-q", "-P", "time.end=0.1")
    other = config("cut", ROWS["velocity-verlet"])
    refused = go("run", other, "--restart", status=78)
    assert re.search(r"time\.stages.*-1/24.*1/2", refused.stderr, re.S), refused.stderr
    go("run", config("cut", RUTH), "-q", "--restart")
    assert contents("cut.run") == contents("whole.run")
    go("verify", "cut.run")
    # The echo of the config is a config.
    go("run", "whole.run/run.cfg", "-q", "-o", "again.run")
    assert contents("again.run") == contents("whole.run")


def test_overrides_and_sweeps():
    """the list can be set on the command line and be the values of a sweep"""
    verlet = ROWS["velocity-verlet"]
    go("run", config("typed", RUTH), "-q", "-P", f"time.stages={spelled(verlet)}")
    go("run", config("row", "velocity-verlet"), "-q", "--force")
    assert contents("typed.run") == contents("row.run")
    go("run", config("swept", RUTH, *CASES["few bodies"],
                     'sweep = ( { key = "time.stages"; values = '
                     f'[{spelled(RUTH)}, {spelled(verlet)}]; }} );'.replace("[[", "([")
                     .replace("]]", "])")), "-q")
    members = sorted(path for path in pathlib.Path("swept.sweep").iterdir() if path.is_dir())
    assert len(members) == 2, members
    assert contents(members[1]) == contents("row.run")
    assert contents(members[0]) != contents("row.run")
    with open("swept.sweep/study.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    assert "drift -2/3" in rows[0]["time.stages"] and "kick 1/2" in rows[1]["time.stages"], rows


def test_what_is_said():
    """orrery check, the summary and the page say what the stages are and can do"""
    said = " ".join(go("check", config("ruth", RUTH)).stdout.replace("#", " ").split())
    stages = ("force, kick 0.291667, drift 0.666667, force, kick 0.75, drift -0.666667, force, "
              "kick -0.0416667, drift 1")
    assert f"stages {stages}: order 3, symplectic; 3 forces per step" in said, said
    said = " ".join(go("check", config("verlet", ROWS["velocity-verlet"])).stdout
                    .replace("#", " ").split())
    assert "order 2, symplectic, reversible in time; 1 force per step" in said, said
    said = " ".join(go("run", "ruth.cfg").stdout.split())
    assert f"stages {stages}: order 3, symplectic; 3 forces per step" in said, said
    run = json.loads(pathlib.Path("ruth.run/run.json").read_text())
    assert run["config"]["time"]["stages"] == RUTH, run["config"]["time"]
    go("report", "ruth.run")
    page = pathlib.Path("ruth.run/report.html").read_text()
    assert f"integrated by stages ({stages}), a symplectic method of order 3" in page


# What is refused, and words of the reason. The good list: kick 0.5, drift 1, force, kick 0.5.
WRONG = (
    ('["kick 0.5", "drift 1", "force", "kick 0.4"]',
     "the kicks add up to 0.9; they must add up to 1"),
    ('["kick 0.5", "drift 0.75", "force", "kick 0.5"]', "the drifts add up to 0.75"),
    ('["drift 0.333", "force", "kick 1", "drift 0.666"]', "the drifts add up to 0.999"),
    ('["kick 0.5", "drift 1", "kick 0.5"]',
     'stage 3, "kick 0.5", comes after "drift 1" without a "force" between them'),
    ('["kick 1", "drift 1"]',
     'stage 1, "kick 1", comes after "drift 1" of the step before without a "force"'),
    ('["force", "kick 0.5", "drift 1", "force", "kick 0.5"]',
     'stage 1, "force", finds the forces done at the end of the step before'),
    ('["kick 0.5", "drift 1", "force", "force", "kick 0.5"]',
     'stage 4, "force", finds the positions of the last forces'),
    ('["drift 0.5", "force", "drift 0.5", "force", "kick 1"]',
     'stage 3, "drift 0.5", comes after a "force" that no kick has used'),
    ('["kick 0.5", "drift 0.5", "drift 0.5", "force", "kick 0.5"]',
     'stage 3, "drift 0.5", comes after another drift'),
    ('["drift 1", "force", "kick 0", "drift 0", "force", "kick 1"]',
     'stage 3, "kick 0", does nothing'),
    ('["kcik 0.5", "drift 1", "force", "kick 0.5"]',
     'stage 1, "kcik 0.5", is none of "kick NUMBER", "drift NUMBER" and "force"'),
    ('["kick 0.5", "drift 1", 3.5, "kick 0.5"]', 'stage 3, "3.5", is none of "kick NUMBER"'),
    ('["kick 0.5", "drift", "force", "kick 0.5"]',
     'stage 2, "drift", must have one number after its word'),
    ('["kick 0.5", "drift nan", "force", "kick 0.5"]',
     'stage 2, "drift nan", must have one number'),
    ('["kick 0.5", "drift 1/0", "force", "kick 0.5"]',
     'stage 2, "drift 1/0", must have one number'),
    (f'["kick 0.5", "drift 1.{"0" * 150}+1", "force", "kick 0.5"]', 'must have one number'),
    ('["kick 0.5", "drift 1", "force 2", "kick 0.5"]', 'stage 3, "force 2", takes no number'),
    (spelled(["kick 0.04", "drift 0.04", "force"] * 25), "has 75 stages; there may be 3 to 24"),
    ("[]", "has 0 stages"),
    ('"kick 1"', "must be a list of values"),
)


def test_what_is_refused():
    """each wrong list is refused with file, line, the stage and what to do"""
    config("good", "velocity-verlet")
    text = pathlib.Path("good.cfg").read_text()
    for stages, words in WRONG:
        wrong = text.replace('integrator = "velocity-verlet";',
                             f'integrator = "stages";\n  stages = {stages};')
        pathlib.Path("wrong.cfg").write_text(wrong)
        for command in ("check", "run"):
            refused = go(command, "wrong.cfg", status=78)
            assert refused.stderr.startswith("wrong.cfg:2: time.stages = "), refused.stderr
            assert words in refused.stderr, (words, refused.stderr)
            assert not pathlib.Path("wrong.run").exists() and not pathlib.Path("good.run").exists()
    for time, words in (('integrator = "stages"', "time.stages: must be given"),
                        ('integrator = "pefrl"; stages = ["kick 1"]', "time.stages")):
        pathlib.Path("wrong.cfg").write_text(text.replace('integrator = "velocity-verlet"', time))
        refused = go("check", "wrong.cfg", status=78)
        assert words in refused.stderr, refused.stderr


if __name__ == "__main__":
    tap.main()
