"""Forces by fast multipoles in whole runs: the accuracy that was asked for, energies, the same
bytes whatever the threads and the cadence and after a restart, and what is refused."""

import json
import re

import numpy

import tap

CONFIG = """
bodies = { initial = "plummer"; count = 3000; seed = 7; };
physics = { softening = 0.02; };
time = { step = 0.01; end = 0.1; };
compute = { method = "fmm"; accuracy = 1e-4; threads = 2; };
diagnostics = ( { type = "conservation"; every = 5; },
                { type = "force-error"; every = 5; count = 300; } );
outputs = ( { type = "xyz"; every = 5; } );
"""


def run(name, *options, config=CONFIG, status=0):
    with open("fmm.cfg", "w") as file:
        file.write(config)
    result = tap.run("run", "fmm.cfg", "-q", "-o", name, *options)
    assert result.returncode == status, result.stderr
    return result


def read(name):
    with open(name, "rb") as file:
        return file.read()


def table(name):
    return numpy.genfromtxt(name, delimiter=",", skip_header=1)


def test_accuracy():
    """force-error: a run keeps the accuracy that it asks for, and direct sums keep theirs"""
    run("asked")
    errors = table("asked/force-error.csv")[:, 2]
    assert len(errors) == 3 and (errors < 1e-4).all() and (errors > 1e-7).all(), errors
    run("direct", config=CONFIG.replace('method = "fmm"; accuracy = 1e-4; ', ""))
    # Direct sums in double: 1e-15, and the roundings of 3000 terms.
    assert (table("direct/force-error.csv")[:, 2] < 1e-13).all()


def test_bodies_are_chosen_by_their_ids():
    """the worst of 300 is among the 300 least hashes (SplitMix64's finalizer, by hand)"""
    def mixed(number):
        number = (number + 0x9e3779b97f4a7c15) % 2**64
        number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9 % 2**64
        number = (number ^ number >> 27) * 0x94d049bb133111eb % 2**64
        return number ^ number >> 31

    run("chosen", "-P", "time.step=0.005")
    worst = {int(body) for body in table("chosen/force-error.csv")[:, 4]}
    least = sorted(range(1, 3001), key=mixed)[:300]
    assert len(worst) > 1 and worst <= set(least), worst


def test_energy():
    """energies by expansions are those of direct sums, as far as the accuracy says"""
    run("energies")
    run("sums", config=CONFIG.replace('method = "fmm"; accuracy = 1e-4; ', ""))
    for column in (2, 3, 4):
        mine, sums = table("energies/conservation.csv")[:, column], \
            table("sums/conservation.csv")[:, column]
        assert numpy.allclose(mine, sums, rtol=1e-5), column


def test_virial_ratio():
    """a start with a virial ratio takes its energies from the method of the run"""
    run("ratio", "-P", "bodies.virial_ratio=0.5")
    names = open("ratio/conservation.csv").readline().split(",")
    at = [name.split(" ")[0] for name in names].index("virial_ratio")
    ratio = table("ratio/conservation.csv")[0, at]
    # Roundings of 3000 terms. All pairs would be another sum: off by some 1e-7.
    assert abs(ratio / 0.5 - 1) < 1e-11, ratio


def test_same_bytes():
    """threads and the cadence of diagnostics change no byte"""
    run("one", "-P", "compute.threads=1")
    run("three", "-P", "compute.threads=3")
    run("often", "-P", "diagnostics.0.every=1")
    whole = read("one/trajectory.xyz")
    assert read("three/trajectory.xyz") == whole
    assert read("often/trajectory.xyz") == whole


def test_restart():
    """a run that was stopped goes on to the same bytes, and is verified"""
    run("whole")
    run("parts", "-P", "time.end=0.05")
    run("parts", "--restart", "-P", "time.end=0.1")
    for name in ("trajectory.xyz", "conservation.csv", "force-error.csv"):
        assert read(f"parts/{name}") == read(f"whole/{name}"), name
    assert tap.run("verify", "parts").returncode == 0


def test_record():
    """run.json says the method, its accuracy and the arithmetic that it took"""
    run("record")
    with open("record/run.json") as file:
        compute = json.load(file)["compute"]
    assert compute["method"] == "fmm" and compute["accuracy"] == 1e-4
    assert compute["kernel"] == "fmm" and compute["precision"] == "single"


def test_audit():
    """every run is audited at its start and its end, and tells so; direct sums are not"""
    run("plain", config=CONFIG.replace("""diagnostics = ( { type = "conservation"; every = 5; },
                { type = "force-error"; every = 5; count = 300; } );""", ""))
    with open("plain/run.json") as file:
        whole = json.load(file)
    audit = whole["watch"]["force_error"]
    assert audit["asked"] == 1e-4 and 1e-7 < audit["largest"] < 1e-4, audit
    assert audit["time"] in (0.0, 0.1) and whole["watch"]["holds"] is True, whole["watch"]
    assert 0 < audit["uncertainty"] < 0.3 * audit["largest"], audit
    words = f"force error {audit['largest']:.2g} +- {audit['uncertainty']:.1g} (asked 0.0001)"
    assert words.replace("e-0", "e-") in whole["judged"].replace("e-0", "e-"), whole["judged"]
    # The same bodies as those of the diagnostic, where it compares as many at the same steps.
    run("told", config=CONFIG.replace("every = 5; count = 300", "every = 10; count = 256"))
    assert table("told/force-error.csv")[:, 2].max() == audit["largest"]
    run("direct", config=CONFIG.replace('method = "fmm"; accuracy = 1e-4; ', ""))
    with open("direct/run.json") as file:
        assert json.load(file)["watch"]["force_error"] is None


def test_serial():
    """the serial backend has a plain form: accuracy, energies, restarts, no periodic box"""
    serial = ("-P", "compute.backend=serial", "-P", "compute.threads=1", "-P", "bodies.count=800")
    run("plain-form", *serial)
    errors = table("plain-form/force-error.csv")[:, 2]
    # Direct sums would have 1e-15.
    assert (errors < 1e-4).all() and (errors > 1e-9).all(), errors
    run("fast-form", "-P", "bodies.count=800")
    for column in (2, 3, 4):
        assert numpy.allclose(table("plain-form/conservation.csv")[:, column],
                              table("fast-form/conservation.csv")[:, column], rtol=1e-5), column
    run("plain-parts", *serial, "-P", "time.end=0.05")
    run("plain-parts", *serial, "--restart", "-P", "time.end=0.1")
    assert read("plain-parts/trajectory.xyz") == read("plain-form/trajectory.xyz")
    with open("plain-form/run.json") as file:
        whole = json.load(file)
    assert whole["compute"]["method"] == "fmm" and whole["compute"]["kernel"] == "fmm"
    assert whole["watch"]["force_error"]["asked"] == 1e-4, whole["watch"]
    said = run("plain-refused", *serial, "-P", "physics.boundary=periodic", "-P",
               "physics.box_length=20", status=78).stderr
    assert "open space" in said, said


def test_restart_compares_the_accuracy():
    """a restart with another accuracy is another experiment"""
    run("first", "-P", "time.end=0.05")
    said = run("first", "--restart", "-P", "compute.accuracy=1e-3", status=78).stderr
    assert "compute.accuracy" in said, said


def test_check_names_the_faster_method():
    """fmm for many bodies, with its time; direct sums for few; nothing where fmm is refused"""
    def said(*keys):
        with open("fmm.cfg", "w") as file:
            file.write(CONFIG)
        result = tap.run("check", "fmm.cfg", *[word for key in keys for word in ("-P", key)])
        assert result.returncode == 0, result.stderr
        lines = result.stdout.split("\n#   method ")[1:]
        # Up to the next name; longer lines are broken.
        return [" ".join(re.split(r"\n#   \S|\n(?!#)", text)[0].replace("#", " ").split())
                for text in lines]
    assert said("bodies.count=2000") == [
        'compute.method = "direct" is exact and no slower for so few bodies']
    assert said("bodies.count=30000") == []
    many = said("bodies.count=60000", "compute.method=direct")
    assert len(many) == 1 and re.fullmatch(
        "with a force error of 0.0001 the steps would take about [0-9.e+-]+ s: compute = { "
        'method = "fmm"; accuracy = 0.0001; }', many[0]), many
    for keys in tap.first((
            ["bodies.count=2000"],
            ["bodies.count=60000", "physics.boundary=periodic", "physics.box_length=100"],
            ["bodies.count=60000", "compute.backend=serial"]), 2):
        assert said("compute.method=direct", *keys) == [], keys


def test_refused():
    """what does not go with it is refused, with the reason"""
    for option, words in (
            ("compute.accuracy=1e-9", "at least 1e-08"),
            ("compute.accuracy=0.1", "at most 0.01"),
            ("compute.precision=single", 'does not apply to method = "fmm"'),
            ("compute.kernel=plain", 'does not apply to method = "fmm"'),
            ("trust.shadow=true", "shadows do not show"),
            ("time.integrator=hermite4", 'block-leapfrog takes "fmm"'),
            ("time.integrator=gauss-radau", "sums over all pairs")):
        said = run("refused", "-P", option, status=78).stderr
        assert words in said, (option, said)
    said = run("refused", "-P", "physics.boundary=periodic", "-P", "physics.box_length=20",
               status=78).stderr
    assert "open space" in said, said
    said = run("refused", status=78,
               config=CONFIG.replace('"fmm"; accuracy = 1e-4', '"direct"; accuracy = 1e-3')).stderr
    assert "it belongs to fmm" in said, said


tap.main()
