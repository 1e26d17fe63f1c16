"""The figure of the error against the cost of a run that was asked for an error."""

import json
import pathlib
import re
import shutil

import tap
from reports import (blocks, captions_of, keys_of, need_gnuplot, quick_report as report,
                     read)

CLUSTER = """bodies = { initial = "plummer"; count = 40; seed = 3; };
physics = { softening = 0.05; };
time = { %s end = 2.0; };
compute = { threads = 1; };
diagnostics = ( { type = "conservation"; every = 10; } );
"""
NAME = "error-against-cost"


def perform(keys, folder, more="", code=0):
    pathlib.Path("x.cfg").write_text(CLUSTER % keys + more)
    result = tap.run("run", "x.cfg", "-o", folder, "-q", "--force")
    assert result.returncode == code, result


def whole():
    """The run that most tests look at."""
    need_gnuplot()
    perform("energy_error = 1e-6;", "whole")


def record(folder):
    return json.loads(pathlib.Path(folder, "run.json").read_text())


def drawn(folder):
    """The curves by their names in the key, and the words below; None where it is not drawn."""
    report(folder)
    words = captions_of(read(f"{folder}/report.html")).get(NAME)
    path = f"{folder}/plots/{NAME}.dat"
    return words and dict(zip(keys_of(path), blocks(path))), words


def changed(folder, change):
    """The same of a copy whose record was changed."""
    shutil.rmtree("copy", ignore_errors=True)
    shutil.copytree(folder, "copy")
    told = record("copy")
    change(told)
    pathlib.Path("copy/run.json").write_text(json.dumps(told))
    return drawn("copy")


def test_candidates_choice_and_margin():
    """a point for each candidate, a ring and a margin at the choice, a cross for the run"""
    whole()
    curves, words = drawn("whole")
    told = record("whole")
    choice = told["choice"]
    taken = choice["candidates"][choice["chosen"]]
    cost, error = taken["cost"], taken["energy_error"]
    assert len(choice["candidates"]) == 4 and len(curves) == 8, curves.keys()
    for candidate in choice["candidates"]:
        (name,) = [key for key in curves if key.startswith(candidate["setting"]["integrator"])]
        assert curves[name].tolist() == [[candidate["cost"], candidate["energy_error"]]], name
    assert curves["chosen"].tolist() == [[cost, error]]
    assert curves["its margin"].tolist() == [[cost, error], [cost, 1e-6]]
    assert curves["reached by the run"].tolist() == [[cost, told["largest_energy_error"]]]
    bound = curves["asked for: 1e-06"]
    costs = [candidate["cost"] for candidate in choice["candidates"]]
    assert (bound[:, 1] == 1e-6).all() and bound[:, 0].tolist() == \
        [min(costs) / 1.5, max(costs) * 1.5], bound  # a half beyond what is drawn
    script = read(f"whole/plots/{NAME}.gp")
    assert re.search(r"with @ring [^\n]*chosen", script) and \
        re.search(r"with @focus [^\n]*reached by the run", script), script
    margin = f"a margin of {1e-6 / error:.2g} times"
    assert f"{taken['setting']['integrator']}, " in words and margin in words, words
    assert f"The run reached {told['largest_energy_error']:.2g}, which keeps what was asked for" \
        in words and "attempt" not in words and "not drawn" not in words, words
    report("whole", "--plot", NAME)


def test_a_run_that_missed():
    """the cross lies above the line and the words say so; attempts are points of their own"""
    whole()

    def miss(told):
        told["findings"][0].update(value=3e-5, severity="failure")
        told["choice"]["attempts"] = [{"setting": told["choice"]["candidates"][1]["setting"],
                                       "part": 0.5, "energy_error": error, "cost": cost}
                                      for error, cost in ((2e-6, 1e6), (4e-6, 2e6))]

    curves, words = changed("whole", miss)
    assert curves["reached by the run"][0, 1] == 3e-5
    assert curves["missed it and began anew"].tolist() == [[1e6, 2e-6], [2e6, 4e-6]]
    assert "The run missed what was asked for: its error is 3e-05, 30 times that." in words and \
        "which keeps" not in words and "Before, 2 attempts missed it." in words, words

    def lose(told):  # a number that is none: the energy was lost
        told["findings"][0].update(value=None, severity="failure")
        told["choice"]["attempts"] = [{"setting": told["choice"]["candidates"][1]["setting"],
                                       "part": 0.5, "energy_error": None, "cost": 1e6}]

    curves, words = changed("whole", lose)
    assert "reached by the run" not in curves and "missed it and began anew" not in curves
    assert "The error of the run is not known." in words and "Before, 1 attempt missed it." in \
        words, words


def test_a_run_that_has_not_ended():
    """what it has reached so far keeps nothing yet; of one at work nothing is known"""
    whole()
    curves, words = changed("whole", lambda told: told.update(step=500, verdict="stopped"))
    assert "reached so far" in curves and "reached by the run" not in curves, curves.keys()
    assert "The run has not come to its end, and reached" in words, words
    assert "so far keeps" in words, words

    def work(told):
        told.update(verdict="running", findings=[])

    curves, words = changed("whole", work)
    assert not any(key.startswith("reached") for key in curves), curves.keys()
    assert "The error of the run is not known before its end." in words, words


def test_candidates_without_a_place():
    """those that have no error or no cost are named with the reason; a choice of 0 has no margin"""
    whole()

    def spoil(told):
        choice = told["choice"]
        others = [c for k, c in enumerate(choice["candidates"]) if k != choice["chosen"]]
        others[0].update(why="cannot be used here", energy_error=None, cost=None, keeps=False)
        others[1].update(tried=False, energy_error=None, cost=None, keeps=False)
        others[2].update(tried=True, energy_error=None, cost=1e6, keeps=False)
        choice["candidates"][choice["chosen"]]["energy_error"] = 0.0

    choice = record("whole")["choice"]
    names = [c["setting"]["integrator"] for c in choice["candidates"]]
    taken = names.pop(choice["chosen"])
    curves, words = changed("whole", spoil)
    assert list(curves) == ["reached by the run", "asked for: 1e-06"], curves.keys()
    for name, reason in zip(names + [taken], ("it cannot be taken", "it was not tried",
                                              "it loses the energy",
                                              "an error of 0 is expected of it")):
        assert f" {name} is not drawn: {reason}." in words, (name, words)
    assert "a margin of" not in words, words


def test_nothing_to_draw():
    """no candidate has a place and nothing was reached: no figure, and a report all the same"""
    whole()

    def spoil(told):
        for candidate in told["choice"]["candidates"]:
            candidate.update(energy_error=None, cost=None)

    curves, _ = changed("whole", spoil)
    assert curves is None and NAME not in read("copy/report.html")


def test_orbits():
    """a run that is asked for orbits: until when they are accurate, kept, missed and so far"""
    need_gnuplot()
    pathlib.Path("x.cfg").write_text("""bodies = { initial = "two-body"; eccentricity = 0.5; };
time = { trust_until = 20.0; end = 30.0; };
trust = { shadow = true; };
compute = { threads = 1; };
""")
    result = tap.run("run", "x.cfg", "-o", "orbits", "-q")
    assert result.returncode == 0, result
    curves, words = drawn("orbits")
    told = record("orbits")
    taken = told["choice"]["candidates"][told["choice"]["chosen"]]
    assert curves["chosen"].tolist() == [[taken["cost"], taken["orbit_error"]]], curves
    assert (curves["asked for: 0.01"][:, 1] == 0.01).all()
    assert not any(key.startswith("reached") for key in curves), curves.keys()
    page, script = read("orbits/report.html"), read(f"orbits/plots/{NAME}.gp")
    assert "Orbit error against cost" in page and "distance over size" in script
    value = told["findings"][0]["value"]
    assert value >= 20.0 and (f"The orbits of the run are accurate until t = {value:.4g}, which "
                              "keeps what was asked for.") in words, words
    assert "Double precision" not in words and "reached" not in words, words
    assert "so far" not in words and "attempt" not in words, words

    def judge(severity="held", attempts=(), **finding):
        def change(told):
            told["findings"][0].update(severity=severity, **finding)
            told["choice"]["attempts"] = [
                {"setting": told["choice"]["candidates"][0]["setting"], "part": 0.3,
                 "orbit_error": error, "cost": cost} for error, cost in attempts]
        return change

    curves, words = changed("orbits", judge("failure", value=7.25, attempts=[(0.5, 1e5)]))
    assert "The run missed what was asked for: its orbits are accurate until t = 7.25, and not " \
        "until t = 20. Before, 1 attempt missed it." in words, words
    assert curves["missed it and began anew"].tolist() == [[1e5, 0.5]], curves
    _, words = changed("orbits", judge(value=9.5))
    assert "are accurate until t = 9.5 so far." in words and "which keeps" not in words, words
    # Double precision carries them for a tenth longer than they are due.
    _, words = changed("orbits", judge(value=14.0, bound=13.5))
    assert "accurate until t = 14, which keeps what was asked for. Double precision carries them " \
        "until about t = 15." in words, words
    _, words = changed("orbits", judge(value=None))
    assert "Until when the orbits are accurate is not known." in words, words


def test_one_candidate_and_none():
    """with a given integrator one point on a line; a run that was not asked has no such figure"""
    whole()
    perform("energy_error = 1e-4; integrator = \"pefrl\";", "one")
    curves, words = drawn("one")
    assert len(curves) == 5 and curves["asked for: 0.0001"][0, 0] < curves["chosen"][0, 0], curves
    perform("step = 0.01;", "none")
    assert drawn("none") == (None, None)
    # All was given: nothing was to be chosen, and the run is judged alone.
    perform("energy_error = 1e-12; integrator = \"velocity-verlet\"; step = 0.01;", "all", code=1)
    assert drawn("all") == (None, None)
    curves, words = changed("whole", lambda told: told["choice"].update(chosen=7))
    assert curves is None and words is None
    assert NAME not in read("copy/report.html")


def test_an_ensemble_by_nine_of_ten():
    """what was reached is the error of the system that counts, not of the worst"""
    whole()
    perform("energy_error = 1e-5; energy_error_of = \"q90\";", "many",
            "ensemble = { systems = 20; };\n")
    curves, words = drawn("many")
    value = record("many")["findings"][0]["value"]
    assert value < record("many")["largest_energy_error"], value
    assert curves["reached by the run"][0, 1] == value and f"reached {value:.2g}," in words, words
    # It is of one run, and not laid over others.
    report("whole", "many", "-o", "both")
    assert NAME not in read("both/report.html")


def test_a_sweep_over_the_error():
    """runs are named by what was varied, not by the steps that were chosen: a line for a method"""
    need_gnuplot()
    pathlib.Path("x.cfg").write_text(CLUSTER.replace("count = 40", "count = 4") %
                                     "energy_error = 1e-4;" + """sweep = (
        { key = "time.integrator"; values = ["velocity-verlet", "gauss-radau"]; },
        { key = "time.energy_error"; values = [1e-4, 1e-6, 1e-8]; } );""")
    assert tap.run("run", "x.cfg", "-o", "s", "-q").returncode == 0
    report("s")
    for x in ("energy_error", "interactions"):
        path = f"s/plots/energy_error-against-{x}.dat"
        names = [key.split(":")[0] for key in keys_of(path) if key]
        assert names == ["velocity-verlet", "gauss-radau"], (x, names)
        assert len(blocks(path)[0]) == 3, x
    asked = blocks("s/plots/energy_error-against-energy_error.dat")[0]
    assert sorted(asked[:, 0]) == [1e-8, 1e-6, 1e-4] and (asked[:, 1] <= asked[:, 0]).all(), asked
    assert not pathlib.Path("s/plots/energy_error-against-step.dat").exists()
    # Steps that were given are drawn as before.
    for run in ("001", "002", "003"):
        told = record(f"s/{run}")
        told["choice"] = {}
        pathlib.Path(f"s/{run}/run.json").write_text(json.dumps(told))
    report("s/001", "s/002", "s/003", "-o", "given")
    assert pathlib.Path("given/plots/energy_error-against-step.dat").exists()


tap.main()
