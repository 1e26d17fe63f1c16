"""What a study returns: the results of its config as it is now, or no results at all."""

import csv
import json
import math
import os
import pathlib
import shutil

import rows
import tap

PAIR = """
name = "pair";
bodies = { initial = "two-body"; eccentricity = 0.5; };
physics = { softening = 0.1; };
time = { step = 0.01; end = 1.0; };
diagnostics = ( { type = "conservation"; every = 10; } );
sweep = ( { key = "time.integrator"; values = ["velocity-verlet", "yoshida4"]; } );
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def rows_of(path):
    return {row["column"]: row for row in table(path)}


# --- a study whose config has changed -------------------------------------------------------------


def snapshot(folder):
    """Every file of a study with its bytes."""
    return {path: path.read_bytes() for path in sorted(pathlib.Path(folder).rglob("*"))
            if path.is_file()}


def modified(folder):
    """When each file was written."""
    return {path: path.stat().st_mtime_ns for path in sorted(pathlib.Path(folder).rglob("*"))
            if path.is_file()}


def test_runs_of_another_config_are_not_returned():
    """members of another config: 78 with every difference, and nothing is touched"""
    config = write(PAIR)
    assert tap.run("run", config, "-q").returncode == 0
    before = snapshot("pair.sweep")
    changes = ["physics.softening=0.25", "time.step=0.02", "time.end=0.5",
               "bodies.eccentricity=0.3", "diagnostics.0.every=5", "watch.energy_jump=0.5",
               'expect=({quantity="energy_error";at_most=1.0;})', "compute.precision=mixed"]
    for change in changes:
        result = tap.run("run", config, "-q", "-P", change)
        assert result.returncode == 78, (change, result)
        lines = result.stderr.splitlines()
        assert "--force" in lines[0], lines
        key = change.split("=")[0]
        for member in ("001", "002"):
            found = [l for l in lines if l.startswith(f"pair.sweep/{member}: {key} was ")]
            assert len(found) == 1 and " now it is " in found[0], (change, lines)
    both = tap.run("run", config, "-q", "-P", changes[0], "-P", changes[1])
    assert both.stderr.count("physics.softening was 0.1") == 2, both.stderr
    assert both.stderr.count("time.step was 0.01") == 2, both.stderr
    alone = tap.run("run", config, "-q", "-P", changes[0], "--member", 2)
    assert alone.returncode == 78, alone
    assert snapshot("pair.sweep") == before
    result = tap.run("run", config, "-q", "-P", changes[0], "--force")
    assert result.returncode == 0, result.stderr
    for member in ("001", "002"):
        about = json.loads(pathlib.Path(f"pair.sweep/{member}/run.json").read_text())
        assert about["config"]["physics"]["softening"] == 0.25, about["config"]


def test_what_changes_no_result_may_differ():
    config = write(PAIR)
    assert tap.run("run", config, "-q").returncode == 0
    before = snapshot("pair.sweep")
    result = tap.run("run", config, "-q", "-o", "pair.sweep", "-P", "compute.threads=2",
                     "-P", "checkpoint.every_steps=7", "-P", "name=other",
                     "-P", "compute.backend=serial")
    assert result.returncode == 0, result.stderr
    assert snapshot("pair.sweep") == before


def test_a_later_end_continues_every_member():
    config = write(PAIR)
    assert tap.run("run", config, "-q").returncode == 0
    assert tap.run("run", config, "-q", "-P", "time.end=2.0").returncode == 0
    assert tap.run("run", config, "-q", "-P", "time.end=2.0", "-o", "whole").returncode == 0
    for member in ("001", "002"):
        for file in ("conservation.csv", "checkpoint.orr"):
            there = pathlib.Path("pair.sweep", member, file).read_bytes()
            if file.endswith(".csv"):
                assert there == pathlib.Path("whole", member, file).read_bytes(), member
        log = pathlib.Path("pair.sweep", member, "run.log").read_text()
        assert "goes on from checkpoint.orr, step 100 of 200" in log, log
    assert (pathlib.Path("pair.sweep/study.csv").read_bytes() ==
            pathlib.Path("whole/study.csv").read_bytes())


def test_an_end_that_a_member_cannot_go_on_to_changes_nothing():
    """nor the runs of the members that could: 0.01 is the grid of gauss-radau, and no part of it"""
    config = write(PAIR.replace("yoshida4", "gauss-radau"))
    assert tap.run("run", config, "-q").returncode == 0
    before = snapshot("pair.sweep")
    result = tap.run("run", config, "-q", "-P", "time.end=1.005")
    assert result.returncode == 78 and "does not divide it" in result.stderr, result
    assert snapshot("pair.sweep") == before


def test_members_that_have_not_come_to_a_later_end_count_as_stopped():
    """what cannot be continued to the end of the others is not shown beside them as finished"""
    config, later = write(PAIR), ("-P", "time.end=2.0")
    assert tap.run("run", config, "-q").returncode == 0
    for path in pathlib.Path("pair.sweep/001").glob("checkpoint.orr*"):
        path.unlink()
    result = tap.run("run", config, *later)
    assert result.returncode == 65, result
    assert "runs 1 finished, 1 stopped" in " ".join(result.stdout.split()), result.stdout
    assert [row["verdict"] for row in table("pair.sweep/study.csv")] == ["stopped", "none"]
    result = tap.run("watch", "pair.sweep")
    assert result.returncode == 75 and "stopped 001" in result.stdout, result
    assert tap.run("report", "pair.sweep").returncode in (0, 69)  # 69: without gnuplot
    page = pathlib.Path("pair.sweep/report.html").read_text()
    assert "1 of 2 finished; of 1 nothing was expected; 1 stopped" in page, page[:4000]
    assert "at an earlier time.end, step" in page, page[:4000]
    assert tap.run("run", config, "-q", *later, "--member", 1, "--force").returncode == 0
    assert [row["verdict"] for row in table("pair.sweep/study.csv")] == ["none", "none"]
    assert tap.run("watch", "pair.sweep").returncode == 0


def test_members_that_were_begun_are_compared_too():
    """one that was stopped half-way does not go on with another step, and none is run before"""
    config = write(PAIR)
    assert tap.run("run", config, "-q").returncode == 0
    for member in ("001", "002"):
        path = pathlib.Path("pair.sweep", member, "run.json")
        about = json.loads(path.read_text())
        about.update(state="running", verdict="running", exit_status=-1)
        path.write_text(json.dumps(about))
    before = snapshot("pair.sweep")
    result = tap.run("run", config, "-q", "-P", "time.step=0.02")
    assert result.returncode == 78, result
    assert "pair.sweep/002: time.step was 0.01" in result.stderr, result.stderr
    assert snapshot("pair.sweep") == before


def test_another_grid_is_another_configuration():
    config = write(PAIR)
    assert tap.run("run", config, "-q").returncode == 0
    before = snapshot("pair.sweep")
    for grid, words in (
            ('["velocity-verlet", "euler"]',
             'pair.sweep/002: time.integrator was "yoshida4" in the study that is there, now it is '
             '"euler"'),
            ('["velocity-verlet"]', "the study that is there has 2 runs, now it has 1"),
            ('["velocity-verlet", "yoshida4", "euler"]',
             "the study that is there has 2 runs, now it has 3")):
        result = tap.run("run", write(PAIR.replace('["velocity-verlet", "yoshida4"]', grid)), "-q")
        assert result.returncode == 78 and words in result.stderr, (grid, result)
        assert "--force" in result.stderr, result.stderr
        assert snapshot("pair.sweep") == before
    # A key of the grid is told once, and what else has changed is told with it.
    other = write(PAIR.replace('"yoshida4"]', '"euler"]'))
    result = tap.run("run", other, "-q", "-P", "time.step=0.02")
    assert result.returncode == 78 and result.stderr.count("time.integrator was") == 1, result
    for member in ("001", "002"):
        assert f"pair.sweep/{member}: time.step was 0.01 when it ran" in result.stderr, result


def test_other_bodies_in_the_same_file():
    """a file of bodies that was edited is another configuration; one that has moved is not"""
    two_bodies("start.csv", 2.0)
    text = PAIR.replace('initial = "two-body"; eccentricity = 0.5;',
                        'initial = "file"; file = "start.csv";')
    assert tap.run("run", write(text), "-q").returncode == 0
    two_bodies("start.csv", 3.0)
    result = tap.run("run", "run.cfg", "-q")
    assert result.returncode == 78, result
    assert "pair.sweep/001: bodies.file: start.csv holds other bytes" in result.stderr, \
        result.stderr
    two_bodies("moved.csv", 2.0)
    result = tap.run("run", "run.cfg", "-q", "-P", "bodies.file=moved.csv")
    assert result.returncode == 0, result.stderr


def test_a_convergence_test_of_another_config_is_not_returned():
    config = write(single())
    assert tap.run("run", config, "-q", "--convergence").returncode == 0
    result = tap.run("run", config, "-q", "--convergence", "-P", "physics.softening=0.2")
    assert result.returncode == 78, result
    assert "pair.convergence/003: physics.softening was 0.1" in result.stderr, result.stderr
    result = tap.run("run", config, "-q", "--convergence", "-P", "time.step=0.02")
    assert result.returncode == 78 and "time.step was 0.01 " in result.stderr, result.stderr


# --- where files are looked for -----------------------------------------------------------------


def two_bodies(path, distance):
    path = pathlib.Path(path)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,{distance},0,0,0,0,0\n")


def test_swept_files_are_looked_for_beside_the_config():
    """a file among the values of a sweep is relative to the config file, as one outside it is"""
    for name, distance in (("near", 2.0), ("far", 4.0)):
        two_bodies(f"experiment/{name}.csv", distance)
        two_bodies(f"{name}.csv", 50.0)  # a decoy where the command runs
    config = write("""
    name = "files";
    bodies = { initial = "file"; file = "near.csv"; };
    time = { step = 0.01; end = 0.02; };
    diagnostics = ( { type = "conservation"; } );
    sweep = ( { key = "bodies.file"; values = ["near.csv", "far.csv"]; } );
    """, "experiment/run.cfg")
    result = tap.run("run", config, "-q")
    assert result.returncode == 0, result.stderr
    for member, distance in (("001", 2.0), ("002", 4.0)):
        about = json.loads(pathlib.Path(f"files.sweep/{member}/run.json").read_text())
        assert about["initial"]["potential"] == -1.0 / distance, (member, about["initial"])
    assert [r["bodies.file"] for r in table("files.sweep/study.csv")] == ["near.csv", "far.csv"]
    # Typed on the command line, they are relative to the current directory, as with any -P.
    result = tap.run("run", config, "-q", "-o", "typed", "-P",
                     'sweep=({key="bodies.file"; values=["near.csv"];})')
    assert result.returncode == 0, result.stderr
    about = json.loads(pathlib.Path("typed/001/run.json").read_text())
    assert about["initial"]["potential"] == -1.0 / 50.0, about["initial"]


def test_a_slip_among_swept_values_is_named_with_its_line():
    result = tap.run("run", write(PAIR.replace('"time.integrator"', '"time.step"')
                                  .replace('["velocity-verlet", "yoshida4"]', "[0.01, -2.5]")))
    assert result.returncode == 78 and "run.cfg:7: time.step = -2.5: must be" in result.stderr, \
        result.stderr


def test_all_slips_among_swept_values_are_named_once():
    config = write("""
        bodies = { initial = "plummer"; count = 60; };
        time = { step = 0.01; end = 1.0; };
        sweep = ( { key = "bodies.count"; values = ["a", 50.5, 60]; },
                  { key = "bodies.seed"; values = [1, 0]; } );
    """)
    for command in ("run", "check"):
        result = tap.run(command, config)
        lines = [line.split(":")[2].strip() for line in result.stderr.splitlines()]
        assert result.returncode == 78, result
        assert sorted(lines) == ['bodies.count = "a"', "bodies.count = 50.5", "bodies.seed = 0"], \
            result.stderr
    # Each of the 200 wrong counts takes a line of some 60 bytes or more, of which 8 kB are shown.
    values = ", ".join(str(k + 0.5) for k in range(200))
    config = write("bodies = { initial = \"plummer\"; count = 60; }; "
                   "time = { step = 0.01; end = 1.0; }; "
                   f"sweep = ( {{ key = \"bodies.count\"; values = [{values}]; }}, "
                   "{ key = \"bodies.seed\"; values = [1, 2, 3]; } );")
    *lines, last = tap.run("run", config).stderr.splitlines()
    assert last == f"... and {200 - len(lines)} more errors" and 50 < len(lines) < 200, last


# --- convergence --------------------------------------------------------------------------------


def single(text=PAIR):
    """The config without its sweep."""
    return text[:text.index("sweep =")]


def test_a_cadence_beyond_any_run_follows_the_step():
    """a large `every` is not shifted into a negative number: first and last steps count"""
    config = write(single())
    for every in (9223372036854775807, 4611686018427387904):
        result = tap.run("run", config, "--convergence", "-o", f"to-{every}",
                         "-P", f"diagnostics.0.every={every}")
        assert result.returncode == 0, result.stderr
        for member in ("001", "002", "003"):
            rows = table(f"to-{every}/{member}/conservation.csv")
            assert [float(r["time [T]"]) for r in rows] == [0.0, 1.0], rows


def test_cadences_follow_the_step():
    """with half the step, rows come at the same times"""
    config = write(single())
    result = tap.run("run", config, "-q", "--convergence", "-P", "diagnostics.0.every=20")
    assert result.returncode == 0, result.stderr
    times = [[float(row["time [T]"]) for row in
              table(f"pair.convergence/{member}/conservation.csv")]
             for member in ("001", "002", "003")]
    assert len(times[0]) > 2 and times[0] == times[1] == times[2], times


def test_an_error_bar_from_three_numbers():
    """value, order and bar of each column, from the ends of the three runs, computed here"""
    config = write(single())
    # First and last rows only: those of the start are equal, and drop out of the ratio.
    assert tap.run("run", config, "-q", "--convergence", "-P", "diagnostics.0.every=1000000",
                   "-P", "time.step=0.02").returncode == 0
    measured = rows_of("pair.convergence/convergence.csv")
    runs = [table(f"pair.convergence/{member}/conservation.csv")[-1]
            for member in ("001", "002", "003")]
    assert [float(row["time [T]"]) for row in runs] == [1.0, 1.0, 1.0], runs
    for name, unit in (("kinetic", "M L^2 T^-2"), ("potential", "M L^2 T^-2"),
                       ("virial", "M L^2 T^-2"), ("virial_ratio", "1")):
        h, half, quarter = (float(row[f"{name} [{unit}]"]) for row in runs)
        coarse, fine = h - half, half - quarter
        order = math.log2(abs(coarse / fine))
        ratio = 2 ** min(order, 2)  # no more than velocity-verlet has
        error = 1.5 * (abs(fine) + abs(fine - coarse / ratio)) / (ratio - 1)
        row = measured[f"conservation.{name}"]
        assert row["unit"] == unit and row["limit"] == "step", row
        assert float(row["value"]) == quarter, (row, quarter)
        assert abs(float(row["order"]) - order) < 1e-6 and abs(order - 2) < 0.1, (row, order)
        # What rounding adds, some 1e-14, shows in no more digits than these.
        assert abs(float(row["error"]) - error) < 1e-6 * error, (row, error)


def coarse(mass, **keys):
    """100 bodies of this mass on a lattice that no symmetry helps, with forces in fp32."""
    lines, size = ["m,x,y,z,vx,vy,vz"], keys.get("size", 1.0)
    for k in range(100):
        x = [size * math.sin(k * a + a) for a in (1.1, 2.3, 3.7)]
        v = [keys.get("speed", 0.0) * math.cos(k * a) for a in (1.3, 2.9, 3.1)]
        lines.append(",".join(map(repr, [mass, *x, *v])))
    pathlib.Path("lattice.csv").write_text("\n".join(lines) + "\n")
    end, precision = keys.get("end", 0.1), keys.get("precision", "mixed")
    return write(f"""
    name = "coarse";
    bodies = {{ initial = "file"; file = "lattice.csv"; }};
    physics = {{ softening = {0.5 * size}; }};
    compute = {{ precision = "{precision}"; kernel = "plain"; backend = "openmp"; }};
    time = {{ step = 0.005; end = {end}; }};
    diagnostics = ( {{ type = "conservation"; every = 2; }},
                    {{ type = "force-error"; every = 1; }},
                    {{ type = "lagrangian-radii"; every = 2; }} );
    watch = {{ energy_error = 0.0; energy_jump = 0.0; }};
    """, "coarse.cfg")


def force_error(path):
    return json.loads(pathlib.Path(path, "run.json").read_text())["force_error"]


def test_the_error_of_coarse_forces_goes_into_the_bar():
    """run.json has it as the diagnostic and a first kick show it, a restart keeps it, and what the
    bias makes of a value goes into its bar"""
    result = tap.run("run", coarse(1.0), "-q", "-o", "run")
    assert result.returncode == 0, result.stderr
    measured, rms = force_error("run"), float(table("run/force-error.csv")[0]["force_error [1]"])
    # All bodies are in either sample; sums in fp64 and long double differ by 1e-16.
    assert abs(measured["whole"] / rms - 1) < 1e-6, (measured, rms)
    # From rest: x(1/2) = x + a / 8 by the first half kick, in which only a has errors.
    result = tap.run("run", coarse(1.0, end=0.5), "-q", "-P", "time.step=0.5", "-o", "kick", "-P",
                     'outputs=({ type = "xyz"; every = 1; })')
    assert result.returncode == 0, result.stderr
    _, x, _ = rows.frames("kick/trajectory.xyz")
    d = x[0][None, :] - x[0][:, None]
    exact = (d / ((d ** 2).sum(2) + 0.25)[:, :, None] ** 1.5).sum(1)
    bias = ((8 * (x[1] - x[0]) - exact) * exact).sum() / (exact ** 2).sum()
    assert abs(measured["bias"] - bias) < 1e-13, (measured, bias)
    before = force_error("run")
    assert tap.run("run", coarse(1.0, end=0.2), "-q", "--restart", "-o", "run").returncode == 0
    assert force_error("run") == before
    assert tap.run("run", coarse(1.0, precision="double"), "-q", "-o", "double").returncode == 0
    assert force_error("double") is None
    # A bias that is a thousand times as large, in the run with the smallest step. Errors of the
    # second order are far above the roundings, in which instruction sets differ.
    path, bars, lengths = pathlib.Path("bars/003/run.json"), [], []
    for size in (1.0, 64.0):  # with G = 1 the same motion, in which lengths are 64 times as large
        study = ("run", coarse(size**3, size=size), "-q", "--convergence", "-P",
                 "time.integrator=velocity-verlet", "-o", "bars")
        for _ in range(2):
            result = tap.run(*study)
            assert result.returncode == 0, result.stderr
            measured = rows_of("bars/convergence.csv")
            bars.append(float(measured["conservation.kinetic"]["error"]))
            about = json.loads(path.read_text())
            about["force_error"]["bias"] = 1e-4
            path.write_text(json.dumps(about))
        lengths.append(float(measured["lagrangian-radii.radius_50"]["error"]) / size)
        shutil.rmtree("bars")
    # 2.5 times 1e-4 of K + |U|, some 5000, of which half a crossing has passed at the least.
    assert bars[0] < 0.1 and bars[1] > 0.1, bars
    assert abs(lengths[1] / lengths[0] - 1) < 1e-3, lengths


def test_a_bias_needs_a_dynamic_time():
    """of a run that is shorter the bar has that part of it"""
    study = ("run", coarse(1e-4, speed=0.1), "-q", "--convergence", "-P",
             "time.integrator=velocity-verlet")
    path = pathlib.Path("coarse.convergence/003/run.json")
    assert tap.run(*study).returncode == 0
    about = json.loads(path.read_text())
    about["force_error"]["bias"] = 1e-5
    path.write_text(json.dumps(about))
    assert tap.run(*study).returncode == 0
    error = float(rows_of("coarse.convergence/convergence.csv")["conservation.kinetic"]["error"])
    times = about["time"] / (about["scales"]["length"] / about["scales"]["velocity"])
    energy = about["initial"]["kinetic"] + abs(about["initial"]["potential"])
    assert times < 0.1 and 0.5 < error / (2.5e-5 * energy * times) < 2, (times, error, energy)


def test_a_finished_member_that_failed_is_left_alone():
    """its verdict stands: the same command runs nothing again, and ends with the same status"""
    config = write(PAIR + 'expect = ( { quantity = "energy_error"; at_most = 1e-6; } );')
    assert tap.run("run", config, "-q").returncode == 1
    verdicts = [row["verdict"] for row in table("pair.sweep/study.csv")]
    assert verdicts == ["failed", "held"], verdicts
    before, times = snapshot("pair.sweep"), modified("pair.sweep")
    result = tap.run("run", config)
    assert result.returncode == 1 and "verdict        failed\n" in result.stdout, result
    assert tap.run("run", config, "-q", "--member", 1).returncode == 1
    assert tap.run("run", config, "-q", "--member", 2).returncode == 0
    assert snapshot("pair.sweep") == before
    after = modified("pair.sweep")
    assert {path for path in times if times[path] != after[path]} <= {
        pathlib.Path("pair.sweep/study.csv"), pathlib.Path("pair.sweep/study.json")}
    # Another bound is another criterion: the results are not taken for its own.
    result = tap.run("run", config, "-q", "-P", "expect.0.at_most=1.0")
    assert result.returncode == 78 and "expect.0.at_most was 1e-06" in result.stderr, result


def test_a_diagnostic_more_or_less_is_another_config():
    """one more item at the end of a list, or one less: the results there are not taken for it"""
    one = '{ type = "conservation"; every = 10; }'
    two = PAIR.replace(one, one + ', { type = "virial"; every = 10; }')
    assert two != PAIR
    for first, second in ((PAIR, two), (two, PAIR)):
        assert tap.run("run", write(first), "-q", "--force").returncode == 0
        result = tap.run("run", write(second), "-q")
        assert result.returncode == 78 and "diagnostics" in result.stderr, result


def test_a_table_of_runs_that_all_went_wrong():
    """numerical failures alone: the table has their columns, and no last rows as an outcome"""
    config = write(PAIR + 'watch = { on_jump = "stop"; energy_error = 1e-9; };')
    assert tap.run("run", config, "-q").returncode == 70
    rows = table("pair.sweep/study.csv")
    assert [row["exit_status [1]"] for row in rows] == ["70", "70"], rows
    assert [row["conservation.kinetic [M L^2 T^-2]"] for row in rows] == ["", ""], rows


def test_the_table_has_the_columns_of_all_members():
    """where a sweep varies what is measured, no run's last row is left out"""
    config = pathlib.Path("run.cfg")
    config.write_text("""
        name = "grid";
        bodies = { initial = "plummer"; count = 12; };
        physics = { softening = 0.1; };
        time = { step = 0.01; end = 0.1; };
        diagnostics = ( { type = "lagrangian-radii"; every = 5; fractions = [0.5]; },
                        { type = "conservation"; every = 5; } );
        sweep = ( { key = "diagnostics.0.fractions"; values = ([0.25, 0.5], [0.125, 0.5]); },
                  { key = "diagnostics.1.type"; values = ["conservation", "virial"]; } );
    """)
    assert tap.run("run", config, "-q").returncode == 0
    with open("grid.sweep/study.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    # The first run's columns stand first, in its order; a column stands once.
    assert len(rows[0]) == len(set(rows[0])) and list(rows[0])[5].endswith(".radius_25 [L]"), rows
    for row in rows:
        about = json.loads(pathlib.Path("grid.sweep", row["member [1]"], "run.json").read_text())
        told = {f"{name}.{column}": value for name, columns in about["diagnostics"].items()
                for column, value in columns.items() if value is not None}
        found = {name.partition(" [")[0]: float(value) for name, value in list(row.items())[5:]
                 if value}
        assert found == told, (row, told)


def test_a_forced_member_beside_others():
    """--member --force makes one run anew, tells of runs of another config, refuses other grids"""
    config = write(PAIR)
    assert tap.run("run", config, "-q").returncode == 0
    result = tap.run("run", config, "-q", "--member", 1, "--force")
    assert result.returncode == 0 and not result.stderr, result
    result = tap.run("run", config, "--member", 1, "--force", "-P", "physics.softening=0.25")
    assert result.returncode == 0, result
    assert "WARNING: 1 other run was made with another configuration" in result.stderr, result
    result = tap.run("run", config, "--member", 2, "--force", "-P", "physics.softening=0.25")
    assert result.returncode == 0 and "WARNING" not in result.stderr, result
    before = snapshot("pair.sweep")
    result = tap.run("run", config, "--member", 1, "--force", "-P",
                     'sweep.0.values=["pefrl", "yoshida4"]')
    assert result.returncode == 78 and "--force without --member" in result.stderr, result
    assert snapshot("pair.sweep") == before


def test_a_run_that_ended_before_its_files_were_open():
    """its columns have no units yet; begun anew, the study has the table of one without it"""
    config = write(PAIR)
    assert tap.run("run", config, "-q", "-o", "whole").returncode == 0
    shutil.copytree("whole", "broken")
    first = pathlib.Path("broken/001")
    run = json.loads((first / "run.json").read_text())
    run.update(verdict="error", exit_status=73, checkpointed=False)
    for path in first.iterdir():
        if path.name != "run.json":
            path.unlink()
    (first / "run.json").write_text(json.dumps(run))
    result = tap.run("run", config, "-q", "-o", "broken")
    assert result.returncode == 0, result.stderr
    assert (pathlib.Path("broken/study.csv").read_text() ==
            pathlib.Path("whole/study.csv").read_text())


def test_values_that_need_quotation_marks():
    """swept names with commas, quotation marks, line ends and blanks are cells of one column"""
    names = ["a,b.csv", 'the "old" one.csv', " blank.csv", "two\nlines.csv", "back\\slash.csv",
             "tab\there.csv", '","', "plain.csv"]
    for number, name in enumerate(names):
        two_bodies(pathlib.Path(".", name), 2.0 + number)
    written = ", ".join('"' + name.replace("\\", "\\\\").replace('"', '\\"')
                        .replace("\n", "\\n").replace("\t", "\\t") + '"' for name in names)
    config = write(f"""
    name = "names";
    bodies = {{ initial = "file"; file = "plain.csv"; }};
    time = {{ step = 0.01; end = 0.02; }};
    diagnostics = ( {{ type = "conservation"; }} );
    sweep = ( {{ key = "bodies.file"; values = [{written}]; }} );
    """)
    result = tap.run("run", config, "-q")
    assert result.returncode == 0, result.stderr
    rows = table("names.sweep/study.csv")
    assert [row["bodies.file"] for row in rows] == names, [row["bodies.file"] for row in rows]
    for number, row in enumerate(rows):
        assert None not in row and None not in row.values(), row  # no cell too many or too few
        assert row["member [1]"] == f"{number + 1:03}" and row["verdict"] == "none", row
        about = json.loads(pathlib.Path(f"names.sweep/{number + 1:03}/run.json").read_text())
        assert about["initial"]["potential"] == -1.0 / (2.0 + number), (number, about["initial"])
    # Only what needs them has them.
    text = pathlib.Path("names.sweep/study.csv").read_text()
    assert '008,plain.csv,0,none,' in text and '001,"a,b.csv",0,none,' in text, text


def test_a_step_that_does_not_divide_the_end_is_refused():
    """runs that would end at different times are refused, with the nearest steps that divide"""
    config = write(single())
    result = tap.run("run", config, "--convergence", "-P", "time.step=0.0131")
    assert result.returncode == 78, result
    nearest = (repr(1.0 / 77), repr(1.0 / 76))
    assert all(f" {step}" in result.stderr for step in nearest), result.stderr
    assert not pathlib.Path("pair.convergence").exists()
    for step in nearest:
        result = tap.run("run", config, "-q", "--convergence", "-o", f"to-{step}",
                         "-P", f"time.step={step}")
        assert result.returncode == 0, result.stderr
    result = tap.run("run", config, "--convergence", "-P", "time.step=3.0")
    assert result.returncode == 78 and "longer than the whole run" in result.stderr, result


def test_rows_are_compared_at_equal_times():
    """rows belong together by their times, and the last time that all have measured counts"""
    config = write(single().replace("end = 1.0", "end = 20.0").replace(
        '"conservation"; every = 10', '"orbit"; every = 3'))
    end = 'stop_when=({quantity="separation";at_most=0.55;after=0.5;})'
    command = ("run", config, "-q", "--convergence", "-P", "time.step=0.05", "-P", end)
    assert tap.run(*command).returncode == 0
    # Of the first run, a row is lost, as after a full disk.
    path = pathlib.Path("pair.convergence/001/orbit.csv")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:4] + lines[5:]))
    assert tap.run(*command).returncode == 0
    runs = [table(f"pair.convergence/{member}/orbit.csv") for member in ("001", "002", "003")]
    times = [[round(float(row["time [T]"]), 9) for row in rows] for rows in runs]
    common = max(set(times[0]) & set(times[1]) & set(times[2]))
    assert len({t[-1] for t in times}) > 1, [t[-1] for t in times]
    row = runs[2][times[2].index(common)]
    measured = rows_of("pair.convergence/convergence.csv")["orbit.separation"]
    assert float(measured["value"]) == float(row["separation [L]"]), (measured, common)
    assert abs(float(measured["order"]) - 2) < 0.3, measured
    # Nor is a row that one run has later taken for the one that it lacks: the first run ends
    # earlier, and the second lacks its row of that time.
    kept = path.read_text().splitlines(keepends=True)[:-4]
    path.write_text("".join(kept))
    last = round(float(table(path)[-1]["time [T]"]), 9)
    path = pathlib.Path("pair.convergence/002/orbit.csv")
    lines = path.read_text().splitlines(keepends=True)
    lost = times[1].index(last)
    assert lost + 1 < len(times[1]), times
    path.write_text("".join(lines[:lost + 1] + lines[lost + 2:]))
    assert tap.run(*command).returncode == 0
    common = max(time for time in set(times[0]) & set(times[1]) & set(times[2]) if time < last)
    row = runs[2][times[2].index(common)]
    measured = rows_of("pair.convergence/convergence.csv")["orbit.separation"]
    assert float(measured["value"]) == float(row["separation [L]"]), (measured, common)


def test_no_time_is_a_quantity():
    """neither a run nor an ensemble has a row for its times or for the numbers of its systems"""
    config = write(single())
    assert tap.run("run", config, "-q", "--convergence").returncode == 0
    assert tap.run("run", config, "-q", "--convergence", "-o", "many",
                   "-P", 'bodies={initial="plummer";count=8;}',
                   "-P", "ensemble.systems=3").returncode == 0
    for folder in ("pair.convergence", "many"):
        names = rows_of(f"{folder}/convergence.csv")
        assert len(names) > 10, names
        ends = {name.split(".")[1] for name in names}
        assert not ends & {"time", "step", "system", "members", "left_out"}, ends
    assert "conservation-ensemble.energy_error_mean" in names, names


def test_a_study_without_criteria_holds_nothing():
    """the verdict of a study says "none" where that of its runs does"""
    for arguments in ((), ("--convergence", "-P", "sweep=()")):
        result = tap.run("run", write(PAIR), *arguments)
        assert result.returncode == 0 and "verdict        none\n" in result.stdout, result.stdout
    result = tap.run("run", write(PAIR + 'expect = ( { quantity = "energy_error"; at_most = 1.0; } '
                                  ');'), "-o", "with")
    assert result.returncode == 0 and "verdict        held\n" in result.stdout, result.stdout


def test_what_rounding_decides_has_no_order():
    result = tap.run("run", write(single()), "--convergence", "-P", "physics.softening=0.0")
    assert result.returncode == 0, result.stderr
    rows = rows_of("pair.convergence/convergence.csv")
    for name in ("momentum_x", "momentum_y", "momentum_z", "angular_momentum_z", "center_x"):
        row = rows[f"conservation.{name}"]
        assert (row["limit"], row["order"]) == ("rounding", ""), row
        assert 0 <= float(row["error"]) < 1e-14, row
    row = rows["conservation.kinetic"]
    assert row["limit"] == "step" and abs(float(row["order"]) - 2) < 0.1, row
    lines = [line for line in result.stdout.splitlines() if "momentum_z" in line]
    assert len(lines) == 2 and all("rounding" in line for line in lines), result.stdout


# --- what is said on the way --------------------------------------------------------------------


def test_a_member_needs_a_sweep():
    result = tap.run("run", write(single()), "--member", 3)
    assert result.returncode == 64 and "--member 3: run.cfg describes no sweep" in result.stderr, \
        result
    assert os.listdir() == ["run.cfg"]


def test_restart_if_any_begins_where_there_is_nothing():
    """--restart=if-any: the same command begins a run, and continues one that is there"""
    command = ("run", write(single()), "--restart=if-any", "-o", "there")
    assert tap.run("run", "run.cfg", "--restart", "-o", "there").returncode == 66
    first = tap.run(*command)
    assert first.returncode == 0, first
    assert "restart: there holds no run, so it begins here" in first.stderr, first.stderr
    again = tap.run(*command, "-P", "time.end=2.0")
    assert again.returncode == 0, again
    assert "restart: goes on from checkpoint.orr, step 100 of 200" in again.stderr, again.stderr
    assert "begins" not in again.stderr, again.stderr
    assert tap.run("run", "run.cfg", "-q", "-P", "time.end=2.0", "-o", "whole").returncode == 0
    assert (pathlib.Path("there/conservation.csv").read_bytes() ==
            pathlib.Path("whole/conservation.csv").read_bytes())
    result = tap.run("run", "run.cfg", "--restart=always", "-o", "there")
    assert result.returncode == 64 and "--restart=if-any" in result.stderr, result


def bodies(text, name="bodies.csv"):
    pathlib.Path(name).write_text("m,x,y,z,vx,vy,vz\n" + text)
    return write(f"""
    name = "extreme";
    bodies = {{ initial = "file"; file = "{name}"; center = false; }};
    time = {{ step = 0.1; end = 0.1; }};
    diagnostics = ( {{ type = "conservation"; }} );
    """)


def test_ratios_of_any_size_are_printed_short():
    """a virial ratio of 140 digits has an exponent, and an undefined one says so, never -nan"""
    result = tap.run("run", bodies("1,0,0,0,1e70,0,0\n1,1e5,0,0,0,1e70,0\n"))
    line = [l for l in result.stdout.splitlines() if "virial ratio" in l][0]
    assert "e+" in line and len(line) < 60, line
    result = tap.run("run", bodies("0,0,0,0,1,0,0\n1,1,0,0,0,0,0\n"), "--force")
    assert "2K/|W| = undefined" in result.stdout, result
    assert "-nan" not in result.stdout + result.stderr, result
    result = tap.run("run", bodies("1,0,0,0,0,0,0\n1,1e-160,0,0,0,0,0\n1,3e-160,1e-160,0,0,0,0\n"),
                     "--force")
    assert result.returncode == 70 and "is not finite" in result.stderr, result
    assert "-nan" not in result.stdout + result.stderr, result
    assert "-nan" not in pathlib.Path("extreme.run/run.json").read_text()


def test_the_disk_must_have_room_for_all_members():
    """each run alone would fit on the disk, all of them do not: 73, before the first is run"""
    about = os.statvfs(".")
    free = about.f_bavail * about.f_frsize
    steps = int(0.6 * free / 12000) * 10  # a frame of 100 bodies is estimated at some 12 kB
    config = write(f"""
    name = "room";
    bodies = {{ initial = "plummer"; count = 100; }};
    physics = {{ softening = 0.1; }};
    time = {{ step = 1.0; end = {float(steps)!r}; }};
    outputs = ( {{ type = "xyz"; every = 10; }} );
    sweep = ( {{ key = "bodies.seed"; values = [1, 2, 3, 4, 5, 6, 7, 8]; }} );
    """)
    result = tap.run("run", config, "-q", "--max-time", "2")
    assert result.returncode == 73 and "the runs would write" in result.stderr, result
    assert os.listdir() == ["run.cfg"]
    # A single one is not refused: it stops at its time limit.
    result = tap.run("run", config, "-q", "--max-time", "1", "--member", 2, "-o", "one")
    assert result.returncode == 75, result
    # `check` says what all of them need.
    short = ("-P", "time.end=10.0")
    lines = tap.run("check", config, *short).stdout.splitlines()
    alone = [l.split() for l in lines if l.startswith("#   disk ")][0]
    both = [l for l in lines if l.startswith("#   sweep ")][0]
    assert "8 runs, " in both, lines
    assert abs(float(both.split()[4]) - 8 * float(alone[2])) < 0.1 * float(both.split()[4]), lines


def test_the_disk_of_many_kinds_of_members():
    """a sample of 64 stands for all: 1000 runs to ends of 1 to 1000 steps write as much as as many
    runs of 500.5 steps, while the first 64 alone have a mean of 32.5 steps"""
    ends = ", ".join(repr(k / 100) for k in range(1, 1001))
    config = write(PAIR[:PAIR.index("sweep")].replace("every = 10;", "every = 1;") +
                   f'sweep = ( {{ key = "time.end"; values = [{ends}]; }} );')
    unit = {"kB": 1e3, "MB": 1e6}

    def disk(item, *more):
        lines = tap.run("check", config, *more).stdout.splitlines()
        words = [l.split() for l in lines if l.startswith(f"#   {item} ")][0]
        k = next(k for k, word in enumerate(words) if word.strip(",") in unit)
        return float(words[k - 1]) * unit[words[k].strip(",")]

    # The sample is every 619th, around the grid: its mean is 515 steps.
    mean = disk("disk", "-P", "sweep=()", "-P", "time.end=5.01")
    assert abs(disk("sweep") / (1000 * mean) - 1) < 0.05, (disk("sweep"), mean)


tap.main()
