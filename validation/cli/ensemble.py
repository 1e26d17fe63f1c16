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


# Diagnostics with a table at each event, in which every bin has statistics over the systems.
TABLES = ENSEMBLE.replace('{ type = "conservation"; every = 20; }', """
  { type = "conservation"; every = 20; },
  { type = "radial-distribution"; every = 50; r_max = 2.0; bins = 5; },
  { type = "density-profile"; every = 70; shells = 4; }""")


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def cells(row, without=()):
    return {key: value for key, value in row.items() if key not in without}


def test_a_member_is_as_if_it_were_alone():
    """every diagnostic of a system, and the budget of its energy, whatever the others do"""
    text = ENSEMBLE.replace("; } );\noutputs", "; }\n);\noutputs")
    text = tap.every_diagnostic(text, 20)
    text = text.replace('"orbit";', '"orbit"; primary = 3; secondary = 9;')
    config, budget = write(text), ("-P", "energy_budget.measure=true")
    assert tap.run("run", config, "-q", *budget).returncode == 0
    # Tables whose bins all systems have in common.
    common = {"density-profile.csv", "density-slope.csv", "disc-profile.csv",
              "radial-distribution.csv"}
    for member in (0, 4):
        assert tap.run("run", config, "-q", "-o", f"alone{member}", "-P", "ensemble.systems=1",
                       "-P", f"bodies.seed={7 + member}", *budget).returncode == 0
        names = {path.name for path in pathlib.Path(f"alone{member}").glob("*.csv")} - common
        assert len(names) > 9, names
        for name in names:
            alone = table(f"alone{member}/{name}")
            inside = [cells(r, ["system [1]"]) for r in table(f"ensemble.run/{name}")
                      if int(r["system [1]"]) == member + 1]
            assert alone and [cells(r) for r in alone] == inside, (member, name)


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


def statistics_of(values):
    """By python's own: mean, deviation, error of the mean, quantiles."""
    values = sorted(values)
    n = len(values)
    found = {"mean": statistics.mean(values), "std": statistics.stdev(values),
             "sem": statistics.stdev(values) / n ** 0.5, "q50": statistics.median(values)}
    # Linear between order statistics, as in GSL: position (n - 1) f.
    for name, f in (("q10", 0.1), ("q90", 0.9)):
        position = (n - 1) * f
        low = int(position)
        found[name] = values[low] + (position - low) * (values[low + 1] - values[low])
    return found


def test_statistics_over_members():
    """mean, deviation, error of the mean, median and quantiles against python's own"""
    assert tap.run("run", write(ENSEMBLE), "-q").returncode == 0
    rows = table("ensemble.run/conservation.csv")
    for line in table("ensemble.run/conservation-ensemble.csv"):
        values = [float(r["kinetic [M L^2 T^-2]"]) for r in rows
                  if r["step [1]"] == line["step [1]"]]
        assert len(values) == int(line["systems [1]"]) == 6
        for name, value in statistics_of(values).items():
            measured = float(line[f"kinetic_{name} [M L^2 T^-2]"])
            assert abs(measured - value) < 1e-12, (name, measured, value)


def check_table(name, bins, columns, kept):
    """Every bin of every event against python's own statistics over the systems that count."""
    rows = table(f"ensemble.run/{name}.csv")
    lines = table(f"ensemble.run/{name}-ensemble.csv")
    assert len(lines) * 6 == len(rows) and len(lines) % bins == 0, (len(lines), len(rows))
    shared = ["step [1]", "time [T]", "r [L]", "r_inner [L]", "r_outer [L]"]
    if name == "radial-distribution":
        shared.append("shell_volume [L^3]")
    assert list(lines[0])[:len(shared) + 2] == [*shared, "systems [1]", "left_out [1]"]
    for k, line in enumerate(lines):
        event, bin_ = divmod(k, bins)
        of_members = [rows[(event * 6 + member) * bins + bin_] for member in range(6)]
        for member, row in enumerate(of_members):
            assert row["system [1]"] == str(member + 1), row
            for key in shared:
                assert row[key] == line[key], (k, key)
        of_members = [row for member, row in enumerate(of_members) if member in kept(line)]
        assert len(of_members) == int(line["systems [1]"]) == 6 - int(line["left_out [1]"])
        for column in columns:
            title, unit = column.split(" ", 1)
            values = [float(row[column]) for row in of_members if row[column]]
            if len(values) < 2:
                continue
            for statistic, value in statistics_of(values).items():
                measured = float(line[f"{title}_{statistic} {unit}"])
                assert abs(measured - value) <= 1e-12 * max(map(abs, values)), (k, column)


def test_tables_over_members():
    """g(r) and density profiles have statistics over the systems in every bin"""
    assert tap.run("run", write(TABLES), "-q").returncode == 0
    check_table("radial-distribution", 5, ["g [1]", "pair_density [L^-1]", "pairs [1]",
                                           "g_mean [1]", "g_error [1]"], lambda line: range(6))
    check_table("density-profile", 4, ["density [M L^-3]", "bodies [1]", "plummer [M L^-3]"],
                lambda line: range(6))


def test_tables_leave_members_out():
    """members over the limit count in no bin, from the event on at which they pass it"""
    assert tap.run("run", write(TABLES), "-q", "-o", "all").returncode == 0
    last = [r for r in table("all/conservation.csv") if r["step [1]"] == "200"]
    limit = statistics.median(float(r["energy_error [1]"]) for r in last)
    assert tap.run("run", "run.cfg", "-q", "-P",
                   f"ensemble.energy_error_limit={limit}").returncode == 0
    good = {m for m in range(6) if float(last[m]["energy_error [1]"]) <= limit}
    ended = {"0": set(range(6)), "200": good}
    lines = table("ensemble.run/radial-distribution-ensemble.csv")
    assert {line["systems [1]"] for line in lines if line["step [1]"] == "200"} == {"3"}
    for name, bins in (("radial-distribution", 5), ("density-profile", 4)):
        for kind in ("", "-ensemble"):
            path = pathlib.Path("ensemble.run", f"{name}{kind}.csv")
            head, *body = path.read_text().splitlines(True)
            step = 1 if kind == "" else 0
            path.write_text(head + "".join(l for l in body if l.split(",")[step] in ended))
        column = "g [1]" if name == "radial-distribution" else "density [M L^-3]"
        check_table(name, bins, [column], lambda line: ended[line["step [1]"]])


def test_a_criterion_on_a_table():
    """every row of the statistics of a table is judged, and the worst one told"""
    expect = 'expect = ( { quantity = "radial-distribution-ensemble.g_mean"; at_most = 1.0; } );'
    assert tap.run("run", write(TABLES + expect), "-q").returncode == 1
    found = [float(row["g_mean [1]"]) for row in table(
        "ensemble.run/radial-distribution-ensemble.csv")]
    told, = json.loads(pathlib.Path("ensemble.run/run.json").read_text())["expect"]
    assert told["worst"] == max(found) and told["worst_system"] is None, told
    assert told["rows"] == len(found) and told["failures"] == sum(g > 1 for g in found) > 0, told


def test_names_of_files_over_members():
    """nothing else may have the name of a file of statistics"""
    for name in ("conservation-ensemble", "radial-distribution-ensemble"):
        for key in (f'diagnostics.2.name={name}', f'outputs.0.file={name}.csv'):
            result = tap.run("check", write(TABLES), "-P", key)
            assert result.returncode == 78 and "already" in result.stderr, (key, result)


def test_members_over_the_limit_are_left_out_and_counted():
    config = write(ENSEMBLE)
    assert tap.run("run", config, "-q", "-o", "all").returncode == 0
    last = [r for r in table("all/conservation.csv") if r["step [1]"] == "200"]
    errors = sorted(float(r["energy_error [1]"]) for r in last)
    limit = (errors[3] + errors[4]) / 2
    result = tap.run("run", config, "-P", f"ensemble.energy_error_limit={limit}")
    assert result.returncode == 0, result
    said = f"2 of 6 are left out of the statistics: their energy error is above {limit:g} "
    assert said in " ".join(result.stdout.split()), result.stdout
    end = table("ensemble.run/conservation-ensemble.csv")[-1]
    assert (end["systems [1]"], end["left_out [1]"]) == ("4", "2"), end
    for directory, count in (("all", 0), ("ensemble.run", 2)):
        about = json.loads(pathlib.Path(directory, "run.json").read_text())
        assert about["left_out"] == count, (directory, about["left_out"])
    kept = [float(r["kinetic [M L^2 T^-2]"]) for r in last if float(r["energy_error [1]"]) < limit]
    assert abs(float(end["kinetic_mean [M L^2 T^-2]"]) - statistics.mean(kept)) < 1e-12


def test_expectations_on_statistics():
    expect = 'expect = ( { quantity = "conservation-ensemble.energy_error_q90"; at_most = %s; } );'
    assert tap.run("run", write(ENSEMBLE + expect % "0.1"), "-q").returncode == 0
    assert tap.run("run", write(ENSEMBLE + expect % "1e-12"), "-q", "--force").returncode == 1


def test_the_summary_says_whose_value_it_shows():
    """the worst energy error and which system it is of, and the virial ratio of all together"""
    summary = tap.run("run", write(ENSEMBLE)).stdout
    last = [r for r in table("ensemble.run/conservation.csv") if r["step [1]"] == "200"]
    worst = max(last, key=lambda r: abs(float(r["relative_energy_error [1]"])))
    system, value = int(worst["system [1]"]), abs(float(worst["relative_energy_error [1]"]))
    said = (f"|dE| = {value:.3g} of max(|E0|, |U0|) at the last measurement, in system {system}, "
            "the worst of 6")
    assert said in " ".join(summary.split()), summary
    about = json.loads(pathlib.Path("ensemble.run/run.json").read_text())
    assert abs(about["relative_energy_error"]) == value, (about["relative_energy_error"], value)
    assert about["relative_energy_error_system"] == system
    kinetic, virial = (sum(float(r[f"{name} [M L^2 T^-2]"]) for r in last)
                       for name in ("kinetic", "virial"))
    assert f"2K/|W| = {2 * kinetic / abs(virial):.4f}," in summary, summary
    assert "of all systems together" in " ".join(summary.split()), summary
    alone = tap.run("run", "run.cfg", "--force", "-P", "ensemble.systems=1").stdout
    assert "system" not in alone, alone


def test_a_criterion_says_whose_value_it_shows():
    """the worst value and the first failure of a criterion are told with their systems"""
    assert tap.run("run", write(ENSEMBLE), "-q", "-o", "all").returncode == 0
    rows = [(float(r["time [T]"]), int(r["system [1]"]), float(r["virial_ratio [1]"]),
             float(r["energy_error [1]"])) for r in table("all/conservation.csv")]
    ratios = sorted(ratio for _, _, ratio, _ in rows)
    bound = ratios[-9]
    _, highest, ratio, _ = max(rows, key=lambda row: row[2])
    failed = [row for row in rows if row[2] > bound]
    _, largest, _, error = max(rows, key=lambda row: row[3])
    config = write(ENSEMBLE + f"""
        expect = ( {{ quantity = "virial_ratio"; at_most = {bound}; }},
                   {{ quantity = "energy_error"; at_most = 0.1; }},
                   {{ quantity = "virial_ratio_mean"; at_most = 9.0; }} );""")
    for arguments in ([], ["--restart"]):  # which finds all in the checkpoint
        result = tap.run("run", config, *arguments)
        words = " ".join(result.stdout.split())
        assert result.returncode == 1, result
        assert (f"FAILED, farthest beyond it: {ratio:.4g} in system {highest}; failed first at "
                f"t = {failed[0][0]:.4g} in system {failed[0][1]}") in words, words
        assert (f"energy_error <= 0.1: held, closest to the bound: {error:.4g} in system {largest} "
                in words), words
        statistic, = re.findall(r"virial_ratio_mean <= 9: held, closest to the bound: [\d.]+"
                                r"( in system)?", words)
        assert not statistic, words
    first, second, third = json.loads(pathlib.Path("ensemble.run/run.json").read_text())["expect"]
    assert (first["worst_system"], first["first_failure_system"]) == (highest, failed[0][1])
    assert (second["worst_system"], second["first_failure_system"]) == (largest, None)
    assert third["worst_system"] is None


def test_a_criterion_of_energy_counts_what_the_watch_sees():
    """between two rows too, and of the system that it judges"""
    expect = 'expect = ( { quantity = "energy_error"; at_most = 0.1; } );'
    config = write(ENSEMBLE + expect)
    assert tap.run("run", config, "-q", "-P", "diagnostics.0.every=200").returncode == 0
    in_rows = max(float(r["energy_error [1]"]) for r in table("ensemble.run/conservation.csv"))
    about = json.loads(pathlib.Path("ensemble.run/run.json").read_text())
    seen, (judged,) = about["watch"]["energy_error"], about["expect"]
    assert seen["system"] > 1 and seen["largest"] > 2 * in_rows, (seen, in_rows)
    assert about["largest_energy_error"] == seen["largest"], about["largest_energy_error"]
    assert (judged["worst"], judged["worst_system"]) == (seen["largest"], seen["system"]), judged


def test_the_watch_says_whose_energy_it_was():
    """an ensemble by explicit Euler: the system that was off the most, and how many were beyond"""
    result = tap.run("run", write(ENSEMBLE), "-P", "time.integrator=euler", "-P",
                     "diagnostics.0.every=50", "-P", "watch.energy_jump=0.0")
    # With 288 bodies the watch judges every 50th step.
    energies = [[float(r[f"{name} [M L^2 T^-2]"]) for name in ("energy", "potential")]
                for r in table("ensemble.run/conservation.csv")]
    off = [abs(energy - energies[k % 6][0]) / max(map(abs, energies[k % 6]))
           for k, (energy, _) in enumerate(energies)]
    largest, system = max((value, k % 6 + 1) for k, value in enumerate(off))
    watch = json.loads(pathlib.Path("ensemble.run/run.json").read_text())["watch"]["energy_error"]
    assert abs(watch["largest"] / largest - 1) < 1e-9 and watch["system"] == system, watch
    assert result.returncode == 1 and watch["systems_beyond"] == 6, watch
    # All are beyond at the first look; the first three are told of.
    assert re.findall(r"WARNING: system (\d)", result.stderr) == ["1", "2", "3"], result.stderr
    words = " ".join(result.stdout.split())
    assert (f"FAILED: the energy of system {watch['system']} is off by {watch['largest']:.3g} of "
            f"max(|E0|, |U0|) at t = {watch['time']:.4g} (limit 0.005), the worst of 6 systems"
            ) in words, words
    alone = tap.run("run", "run.cfg", "--force", "-P", "ensemble.systems=1", "-P",
                    "time.integrator=euler").stdout
    assert "FAILED" in alone and "system" not in alone, alone


def test_the_energy_budget_says_whose_error_it_was():
    """the budget of the largest error is that of the system which had it"""
    result = tap.run("run", write(ENSEMBLE), "-P", "energy_budget.measure=true")
    rows = table("ensemble.run/energy-budget.csv")
    worst = max(rows, key=lambda r: abs(float(r["energy_change [1]"])))
    value, system = float(worst["energy_change [1]"]), worst["system [1]"]
    words = " ".join(result.stdout.split())
    assert (f"of {value:.2g}, the largest of its rows (every 100 steps) in system {system}: step"
            in words), words
    about = json.loads(pathlib.Path("ensemble.run/run.json").read_text())["energy_budget"]
    assert about["system"] == int(system), about
    assert "conservation.csv conservation-ensemble.csv energy-budget.csv" in words, words


def test_frames_say_which_system():
    assert tap.run("run", write(ENSEMBLE), "-q").returncode == 0
    lines = pathlib.Path("ensemble.run/trajectory.xyz").read_text().splitlines()
    assert lines[0] == str(6 * 48) and "cluster:I:1" in lines[1]
    systems = [line.split()[-1] for line in lines[2:2 + 6 * 48]]
    assert systems == [str(s) for s in range(1, 7) for _ in range(48)]


def test_restart_gives_the_same_bytes():
    config = write(TABLES)
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    assert tap.run("run", config, "-q", "-o", "parts", "-P", "time.end=1.4").returncode == 0
    assert tap.run("run", config, "-q", "-o", "parts", "--restart").returncode == 0
    for name in ("conservation.csv", "conservation-ensemble.csv", "trajectory.xyz",
                 "radial-distribution-ensemble.csv", "density-profile-ensemble.csv"):
        whole, parts = (pathlib.Path(d, name).read_bytes() for d in ("whole", "parts"))
        assert whole == parts, name


tap.main()
