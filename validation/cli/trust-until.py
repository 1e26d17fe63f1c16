"""Orbits that are asked for in the place of a step: accurate until a time, or for as long as double
precision carries them, by an integrator that is not Orrery's (scipy's DOP853)."""

import json
import os
import pathlib
import shutil
import subprocess
import time

import tap

np = tap.need("numpy")

TOLERANCE = 0.01  # trust.tolerance, by default

STARTS = {
    "pythagorean": ('initial = "pythagorean";', 0.0),
    "two-body": ('initial = "two-body"; eccentricity = 0.7;', 0.0),
    "cluster": ('initial = "plummer"; count = 16; seed = 3;', 0.01),
}


def config(start, keys, more=""):
    bodies, softening = STARTS[start]
    return (f"bodies = {{ {bodies} }};\nphysics = {{ softening = {softening}; }};\n"
            f"time = {{ {keys} }};\ntrust = {{ shadow = true; }};\ncompute = {{ threads = 1; }};\n"
            f"outputs = ( {{ type = \"xyz\"; every = 10; }} );\n{more}")


def run(text, folder, *more, code=0):
    pathlib.Path("x.cfg").write_text(text)
    result = tap.run("run", "x.cfg", "-o", folder, "--force", *more)
    assert result.returncode == code, result
    return result


def record(folder):
    return json.loads(pathlib.Path(folder, "run.json").read_text())


def judged(folder):
    row = record(folder)["findings"][0]
    assert row["name"] == "time.trust_until", row
    return row


def chosen(folder):
    choice = record(folder)["choice"]
    return choice["candidates"][choice["chosen"]]


def frames(folder):
    found = []
    with open(os.path.join(folder, "trajectory.xyz"), encoding="utf-8") as file:
        for line in file:
            count = int(line)
            file.readline()
            rows = np.array([[float(word) for word in file.readline().split()[1:8]]
                             for _ in range(count)])
            found.append((rows[:, 6], rows[:, 0:3], rows[:, 3:6]))
    return found


def distances(folder, softening, end, until):
    """Of the run from DOP853 at its frames until a time, over the size; with their times."""
    tap.need("scipy.integrate")
    from scipy import integrate
    told = frames(folder)
    m, x, v = told[0]
    times = np.linspace(0.0, end, len(told))
    times = times[times <= until * (1.0 + 1e-12)]
    count = len(m)

    def motion(_, state):
        places = state[:3 * count].reshape(count, 3)
        d = places[None] - places[:, None]
        r2 = (d * d).sum(axis=2) + softening ** 2
        np.fill_diagonal(r2, 1.0)
        weights = m[None, :] / r2 ** 1.5
        np.fill_diagonal(weights, 0.0)
        return np.concatenate([state[3 * count:], (weights[:, :, None] * d).sum(axis=1).ravel()])

    solution = integrate.solve_ivp(motion, (0.0, times[-1]), np.concatenate([x.ravel(), v.ravel()]),
                                   method="DOP853", rtol=1e-13, atol=1e-15, t_eval=times)
    size = np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean())
    places = solution.y[:3 * count].T.reshape(-1, count, 3)
    return times, np.array([np.sqrt(((frame[1] - other) ** 2).sum(axis=1).mean()) / size
                            for frame, other in zip(told, places)])


def test_what_can_be_carried():
    """the orbits are those of another integrator until the time that was asked for, within 1 %"""
    for start, until, end in (("pythagorean", 40.0, 50.0), ("two-body", 100.0, 100.0)):
        run(config(start, f"trust_until = {until}; end = {end};"), start)
        row = judged(start)
        assert record(start)["verdict"] == "held" and row["severity"] == "held", row
        assert row["bound"] == until and row["value"] >= until and row["bound_is"] == "least", row
        times, off = distances(start, 0.0, end, until)
        assert times[-1] == until and off.max() < TOLERANCE, (start, off.max())
        # What the pilots told of the time that was asked for. Its size, since the fine shadow errs
        # too; a frame may be a hundredth of the run from there.
        expected = chosen(start)["orbit_error"]
        assert expected < TOLERANCE and 0.1 < off[-1] / expected < 10.0, (start, off[-1], expected)
        # No more is done than is needed: a run with a tenth of the error costs more.
        assert expected > 1e-3 * TOLERANCE, expected


def test_pilots_leave_a_margin():
    """no run begins with what its pilots expect to be barely kept"""
    run(config("cluster", "trust_until = 10.0; end = 20.0;"), "p")
    assert chosen("p")["orbit_error"] <= 0.8 * TOLERANCE, chosen("p")
    assert record("p")["choice"]["attempts"] == [] and judged("p")["severity"] == "held"


def test_what_double_precision_does_not_carry():
    """a chaotic cluster: until when is said before, and the run is as good as that"""
    result = run(config("cluster", "trust_until = 30.0; end = 30.0;"), "c")
    carried = chosen("c")["carried_until"]
    row, trust = judged("c"), record("c")["trust"]
    assert 5.0 < carried < 25.0 and "double precision carries them until about t = " in \
        result.stderr, result
    assert abs(carried - trust["reproducible_until"]) < 0.02 * carried, (carried, trust)
    # The promise is nine tenths of that, and was kept.
    assert abs(row["bound"] - 0.9 * trust["reproducible_until"]) < 1e-9 * row["bound"], row
    assert row["severity"] == "held" and row["bound"] <= row["value"] < 30.0, row
    assert abs(row["value"] - trust["accurate_until"]) < 1e-9, (row, trust)
    words = " ".join(result.stdout.split())
    assert ("orbits accurate until t = 30; required in double precision until "
            f"t = {row['bound']:.4g}: kept until t = {row['value']:.4g}") in words, result.stdout
    if tap.is_thorough():
        times, off = distances("c", 0.01, 30.0, row["value"] * 0.9)
        assert times[-1] > 8.0 and off.max() < TOLERANCE, off.max()
    checked = tap.run("check", "x.cfg")
    words = " ".join(checked.stdout.replace("#", " ").split())
    late = "the time that a check may take is over" in words  # on a busy machine
    assert checked.returncode == 0 and (
        late or "accurate until t = 30 are asked for, within 0.01 of the size; double precision "
        "carries them until about t = " in words), checked
    assert tap.run("report", "c").returncode == 0
    page = pathlib.Path("c/report.html").read_text()
    for said in ("Orbit error against cost", "Double precision carries them until about t = ",
                 "Orbits that are accurate until t = 30 were asked for (time.trust_until)"):
        assert said in page, said
    assert "An energy error of" not in page


def test_steps_that_are_too_long():
    """an integrator and a step that miss the time fail the run, and it is said by how much"""
    text = config("two-body", "trust_until = 50.0; end = 100.0; integrator = \"velocity-verlet\"; "
                  "step = 0.02;")
    result = run(text, "f", code=1)
    row = judged("f")
    assert row["severity"] == "failure" and row["value"] < row["bound"] == 50.0, row
    assert "choice" not in record("f")
    said = record("f")["verdict_text"]
    assert said.startswith(f"failed: orbits accurate until t = {row['value']:.3g}, "
                           "time.trust_until = 50: the steps are too long; leave out "
                           "time.integrator and time.step, and they are chosen"), said
    assert "orbits accurate until t = 50: MISSED at t = " in " ".join(result.stdout.split())
    _, off = distances("f", 0.0, 100.0, 50.0)
    assert off.max() > TOLERANCE, off.max()
    # In a chaotic system it follows other orbits then, and until when roundings carry those is no
    # matter.
    text = config("cluster", "trust_until = 30.0; end = 30.0; integrator = \"velocity-verlet\"; "
                  "step = 0.01;")
    run(text, "f", code=1)
    said = record("f")["verdict_text"]
    assert "time.trust_until = 30: the steps are too long" in said and \
        judged("f")["bound"] == 30.0 and "double" not in said, said


def forget_checkpoint(folder, **changes):
    """As if the run had been killed at its start, with another setting chosen."""
    before = record(folder)
    choice = before["choice"]
    candidate = choice["candidates"][choice["chosen"]]
    candidate["setting"].update(changes)
    candidate["part"] = 0.0
    before.update(checkpointed=False, state="running", exit_status=-1)
    pathlib.Path(folder, "run.json").write_text(json.dumps(before))
    for path in pathlib.Path(folder).glob("checkpoint*"):
        path.unlink()


def data(folder):
    return [pathlib.Path(folder, name).read_bytes()
            for name in ("trust.csv", "trajectory.xyz", "run.cfg")]


def test_a_run_that_misses_begins_anew():
    """with finer steps, which is said and counted; its bytes are those of a run with these"""
    run(config("two-body", "trust_until = 8.0; end = 10.0; integrator = \"yoshida6\";"), "m", "-q")
    forget_checkpoint("m", fineness=100.0, step=0.1, times=1, over=10)
    result = tap.run("run", "x.cfg", "-o", "m", "--restart")
    assert result.returncode == 0, result
    attempts = record("m")["choice"]["attempts"]
    assert attempts and attempts[0]["setting"]["step"] == 0.1, attempts
    assert attempts[0]["orbit_error"] > TOLERANCE and attempts[0]["part"] <= 0.81, attempts
    said = pathlib.Path("m/run.log").read_text()
    assert "the orbits are no longer accurate, and would be off by" in said and \
        "the run begins anew with yoshida6, step" in said, said
    assert judged("m")["severity"] == "held"
    assert tap.run("report", "m").returncode == 0
    assert "orbits would have been off by" in pathlib.Path("m/report.html").read_text()
    shutil.copy("m/run.cfg", "echo.cfg")
    assert tap.run("run", "echo.cfg", "-o", "n", "-q").returncode == 0
    assert data("m") == data("n") and "choice" not in record("n")
    assert judged("m") == judged("n")
    assert tap.run("verify", "m").returncode == 0


def test_a_run_that_goes_on():
    """stopped and continued: the same bytes and the same judgement"""
    run(config("cluster", "trust_until = 4.0; end = 40.0;"), "whole", "-q")
    process = subprocess.Popen([tap.ORRERY, "run", "x.cfg", "-o", "part", "-q"])
    while not os.path.exists("part/trust.csv") and process.poll() is None:
        time.sleep(0.01)
    process.terminate()
    stopped = process.wait() == 75
    result = tap.run("run", "x.cfg", "-o", "part", "-q", "--restart")
    assert result.returncode == 0 and (record("part")["restarts"] or not stopped), result
    assert data("part") == data("whole") and judged("part") == judged("whole")
    assert record("part")["choice"] == record("whole")["choice"]


def test_ensembles():
    """every system is to be accurate: the one that counts is named"""
    text = config("cluster", "trust_until = 6.0; end = 6.0;", "ensemble = { systems = 3; };\n")
    run(text.replace("count = 16", "count = 6"), "e", "-q")
    row, trust = judged("e"), record("e")["trust"]
    assert row["severity"] == "held" and row["system"] in (1, 2, 3), row
    first = trust["all_accurate_until"]["first"]
    assert first is None or first >= row["bound"], (row, trust)


def test_what_is_refused():
    """a time beyond the end, two kinds of accuracy, no shadows, other precisions"""
    usual = "trust_until = 5.0; end = 10.0;"
    for text, said in (
            (config("cluster", "trust_until = 11.0; end = 10.0;"),
             "x.cfg:3: time.trust_until = 11.0: is beyond the end of the run: time.end = 10"),
            (config("cluster", "trust_until = 0.0; end = 10.0;"), "greater than 0"),
            (config("cluster", usual + " energy_error = 1e-6;"),
             "does not apply with time.energy_error: steps are chosen for one of them; to judge "
             "the energy as well, expect = ( { quantity = \"energy_error\"; at_most = 1e-06; } )"),
            (config("cluster", usual).replace("shadow = true", "shadow = false"),
             "time.trust_until = 5.0: needs the shadows that show how accurate orbits are: "
             "trust = { shadow = true; half_step = true; }"),
            (config("cluster", usual).replace("shadow = true", "shadow = true; half_step = false"),
             "needs the shadows"),
            (config("cluster", usual).replace("threads = 1", "threads = 1; precision = \"mixed\""),
             "needs compute.precision = \"double\""),
            (config("cluster", usual + " energy_error_of = \"q90\";"),
             "does not apply without time.energy_error")):
        pathlib.Path("x.cfg").write_text(text)
        result = tap.run("run", "x.cfg", "-o", "r")
        assert result.returncode == 78 and said in result.stderr, (said, result)
        assert not os.path.exists("r")


if __name__ == "__main__":
    tap.main()
