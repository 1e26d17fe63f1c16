"""Ensembles: many systems in one run, each as if it were alone, and statistics over them."""

import csv
import json
import pathlib
import re
import statistics

import tap

ENSEMBLE = """
name = "ensemble";
bodies = { initial = "plummer"; count = 48; seed = 7; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 2.0; };
diagnostics = ( { type = "conservation"; every = 20; } );
outputs = ( { type = "xyz"; every = 50; } );
checkpoint = { every_steps = 70; };
ensemble = { systems = 6; };
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def cells(row, without=()):
    return {key: value for key, value in row.items() if key not in without}


def test_a_member_is_as_if_it_were_alone():
    config = write(ENSEMBLE)
    assert tap.run("run", config, "-q").returncode == 0
    rows = table("ensemble.run/conservation.csv")
    for member in (0, 4):
        assert tap.run("run", config, "-q", "-o", f"alone{member}", "-P", "ensemble.systems=1",
                       "-P", f"bodies.seed={7 + member}").returncode == 0
        alone = table(f"alone{member}/conservation.csv")
        inside = [cells(r, ["system [1]"]) for r in rows if int(r["system [1]"]) == member + 1]
        assert [cells(r) for r in alone] == inside, member


def test_copies_are_told():
    """systems that are copies of one another are warned of, by check and by run"""
    text = ENSEMBLE.replace('initial = "plummer"', 'initial = "pythagorean"')
    text = re.sub(r"(count|seed) = \d+;", "", text)
    said = "all 6 systems are the same"
    result = tap.run("check", write(text, "copies.cfg"))
    assert result.returncode == 0 and said in result.stdout, result
    result = tap.run("run", "copies.cfg", "-q")
    assert said in result.stderr and said in pathlib.Path(
        "ensemble.run/run.log").read_text(), result
    assert said not in tap.run("check", write(ENSEMBLE)).stdout


def test_statistics_over_members():
    """mean, deviation, median and quantiles against python's own"""
    assert tap.run("run", write(ENSEMBLE), "-q").returncode == 0
    rows = table("ensemble.run/conservation.csv")
    for line in table("ensemble.run/conservation-ensemble.csv"):
        values = sorted(float(r["kinetic [M L^2 T^-2]"]) for r in rows
                        if r["step [1]"] == line["step [1]"])
        assert len(values) == int(line["members [1]"]) == 6
        expected = {"mean": statistics.mean(values), "std": statistics.stdev(values),
                    "sem": statistics.stdev(values) / len(values) ** 0.5,
                    "q50": statistics.median(values)}
        # Linear between order statistics, as in GSL: position (n - 1) f.
        for name, f in (("q10", 0.1), ("q90", 0.9)):
            position = 5 * f
            low = int(position)
            expected[name] = values[low] + (position - low) * (values[low + 1] - values[low])
        for name, value in expected.items():
            measured = float(line[f"kinetic_{name} [M L^2 T^-2]"])
            assert abs(measured - value) < 1e-12, (name, measured, value)


def test_members_over_the_limit_are_left_out_and_counted():
    config = write(ENSEMBLE)
    assert tap.run("run", config, "-q", "-o", "all").returncode == 0
    last = [r for r in table("all/conservation.csv") if r["step [1]"] == "200"]
    errors = sorted(float(r["energy_error [1]"]) for r in last)
    limit = (errors[3] + errors[4]) / 2
    assert tap.run("run", config, "-q", "-P",
                   f"ensemble.energy_error_limit={limit}").returncode == 0
    end = table("ensemble.run/conservation-ensemble.csv")[-1]
    assert (end["members [1]"], end["left_out [1]"]) == ("4", "2"), end
    kept = [float(r["kinetic [M L^2 T^-2]"]) for r in last if float(r["energy_error [1]"]) < limit]
    assert abs(float(end["kinetic_mean [M L^2 T^-2]"]) - statistics.mean(kept)) < 1e-12


def test_expectations_on_statistics():
    expect = 'expect = ( { quantity = "conservation-ensemble.energy_error_q90"; at_most = %s; } );'
    assert tap.run("run", write(ENSEMBLE + expect % "0.1"), "-q").returncode == 0
    assert tap.run("run", write(ENSEMBLE + expect % "1e-12"), "-q", "--force").returncode == 1


def test_the_summary_is_of_all_systems():
    """the summary is of all systems: the worst energy error, and the virial ratio of the whole"""
    summary = tap.run("run", write(ENSEMBLE)).stdout
    last = [r for r in table("ensemble.run/conservation.csv") if r["step [1]"] == "200"]
    worst = max(abs(float(r["relative_energy_error [1]"])) for r in last)
    said = f"|dE/E0| = {worst:.3g} at the last measurement, in the worst of 6 systems"
    assert said in " ".join(summary.split()), summary
    about = json.loads(pathlib.Path("ensemble.run/run.json").read_text())
    assert abs(about["relative_energy_error"]) == worst, (about["relative_energy_error"], worst)
    kinetic, virial = (sum(float(r[f"{name} [M L^2 T^-2]"]) for r in last)
                       for name in ("kinetic", "virial"))
    assert f"2K/|W| = {2 * kinetic / abs(virial):.4f}," in summary, summary


def test_frames_say_which_system():
    assert tap.run("run", write(ENSEMBLE), "-q").returncode == 0
    lines = pathlib.Path("ensemble.run/trajectory.xyz").read_text().splitlines()
    assert lines[0] == str(6 * 48) and "cluster:I:1" in lines[1]
    systems = [line.split()[-1] for line in lines[2:2 + 6 * 48]]
    assert systems == [str(s) for s in range(1, 7) for _ in range(48)]


def test_restart_gives_the_same_bytes():
    config = write(ENSEMBLE)
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    assert tap.run("run", config, "-q", "-o", "parts", "-P", "time.end=1.4").returncode == 0
    assert tap.run("run", config, "-q", "-o", "parts", "--restart").returncode == 0
    for name in ("conservation.csv", "conservation-ensemble.csv", "trajectory.xyz"):
        whole, parts = (pathlib.Path(d, name).read_bytes() for d in ("whole", "parts"))
        assert whole == parts, name


tap.main()
