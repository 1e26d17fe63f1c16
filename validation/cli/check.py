"""orrery check: the resolved configuration and the estimate, without computing."""

import math
import os
import pathlib
import re
import resource
import time

import tap

PAIR = """
name = "pair";
bodies = { initial = "two-body"; masses = [1.0, 1.0]; semi_major_axis = 1.0; };
time = { step = 0.1; end = 10.0; };
outputs = ( { type = "xyz"; every = 10; } );
"""


def write(text, name="run.cfg"):
    pathlib.Path(name).write_text(text)
    return name


def test_check_writes_nothing():
    for arguments in (["check", write(PAIR)], ["run", "run.cfg", "--dry-run"]):
        result = tap.run(*arguments)
        assert result.returncode == 0, result.stderr
        assert os.listdir(".") == ["run.cfg"]


def test_the_disk_is_measured_or_guessed():
    """and check says so where it cannot: here, where files may not grow"""
    def lower():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))

    def of_checkpoints(text):
        return re.search(r"checkpoints .* 2 of ([\d.e+-]+) s", text)[1]
    write(PAIR)
    text = tap.run("check", "run.cfg", preexec_fn=lower).stdout
    guessed = " ".join(text.replace("#", "").split())
    assert "the disk was not measured (File too large): its part is guessed" in guessed, guessed
    measured = {of_checkpoints(tap.run("check", "run.cfg").stdout) for _ in range(6)}
    assert measured != {of_checkpoints(text)}, measured  # which is guessed
    assert os.listdir(".") == ["run.cfg"]


def test_what_check_prints_runs():
    first = tap.run("check", write(PAIR))
    again = tap.run("check", write(first.stdout, "again.cfg"))
    assert again.returncode == 0, again.stderr
    values = [line for line in first.stdout.splitlines() if not line.startswith("#")]
    assert values == [line for line in again.stdout.splitlines() if not line.startswith("#")]


def test_what_could_not_be_judged_is_refused():
    """times without a row, and what is undefined from the start; a warning where a condition of
    stop_when could make a row there"""
    conservation = 'diagnostics = ( { type = "conservation"; every = 10; } );\n'
    row = "expect.0: the run would fail: the quantity has no row between `after` and `before`"
    for quantity, times, stop, wanted in (
            ("energy", "after = 20.0;", "",
             "expect.0.after = 20.0: the run would fail: it ends at t = 10"),
            ("energy", "after = 2.1; before = 2.9;", "", row),  # rows are at t = 0, 1, 2 ...
            ("energy", "after = 2.5;", "energy",
             "expect.0: the run would fail: stop_when ends it at t = 0, before `after`"),
            ("energy", "after = 20.0;", "kinetic",
             "expect.0.after = 20.0: the run would fail: it ends at t = 10"),
            ("test_energy_error", "after = 2.5;", "",
             'expect.0.quantity = "test_energy_error": the run would fail: the quantity is '
             "undefined at t = 0, as it is with several masses, or one in fields")):
        # The kinetic energy is at most 0.5 on this circle, and the energy is -0.5.
        condition = f'stop_when = ( {{ quantity = "{stop}"; at_most = -0.4; }} );' if stop else ""
        config = write(PAIR + conservation + condition +
                       f'expect = ( {{ quantity = "{quantity}"; at_most = 1.0; {times} }} );')
        result = tap.run("check", config)
        assert result.returncode == 78 and wanted in result.stderr, (wanted, result)
        assert tap.run("run", config, "--force").returncode == 1, wanted
    # Statistics over systems, and diagnostics with a group of their own, have no more rows.
    for quantity, trust, budget in (("conservation-ensemble.energy_mean", 1, 1),
                                    ("trust.divergence", 10, 1),
                                    ("energy-budget.truncation", 1, 10)):
        config = write(PAIR + conservation + "ensemble = { systems = 2; };\n"
                       f"trust = {{ shadow = true; every = {trust}; }};\n"
                       f"energy_budget = {{ measure = true; every = {budget}; }};\n"
                       f'expect = ( {{ quantity = "{quantity}"; at_most = 1.0; after = 2.1; }} );')
        assert tap.run("check", config).returncode == 0, quantity
        result = tap.run("check", config, "-P", "expect.0.before=2.9")
        assert result.returncode == 78 and row in result.stderr, (quantity, result)
    for times, stop, warns in (("after = 2.1; before = 2.9;", "kinetic", True),
                               ("after = 2.0; before = 2.0;", "", False),
                               ("after = 2.1; before = 3.5;", "", False),
                               ("after = 10.0;", "", False), ("before = 0.0;", "", False)):
        condition = f'stop_when = ( {{ quantity = "{stop}"; at_most = -0.4; }} );' if stop else ""
        config = write(PAIR + conservation + condition +
                       f'expect = ( {{ quantity = "energy"; at_most = 1.0; {times} }} );')
        result = tap.run("check", config)
        text = " ".join(result.stdout.replace("#", "").split())
        assert result.returncode == 0, result.stderr
        assert ("the run fails unless stop_when ends it there" in text) == warns, text
    many = 10 * '{ quantity = "energy"; at_most = 1.0; after = 2.1; before = 2.9; }, '
    config = write(PAIR + conservation + f"expect = ( {many[:-2]} );\n"
                   'stop_when = ( { quantity = "kinetic"; at_least = 9.0; } );')
    text = " ".join(tap.run("check", config).stdout.replace("#", "").split())
    assert text.count("the run fails unless stop_when ends it there") == 10, text


def test_rows_too_rare_for_an_orbit():
    """more than 12 turns from row to row are not counted: a warning, and an `every` that does"""
    config = write(PAIR.replace("end = 10.0", "end = 1000.0") +
                   'diagnostics = ( { type = "orbit"; every = 1000; } );')
    # The period is 2 pi / sqrt(2) = 4.443: 1000 steps of 0.1 are 22.5, 533 of them 11.997 turns.
    for every, words in ((1000, "every = 1000 are 22.5 turns apart"), (533, None),
                         (20000, "every = 10000 are 225 turns apart")):
        change = ("-P", f"diagnostics.0.every={every}")
        result = tap.run("check", config, *change)
        text = " ".join(result.stdout.replace("#", "").split())
        assert result.returncode == 0, result.stderr
        assert (words or "") in text and ("cannot be counted" in text) == bool(words), text
        assert ("; every = 533 would do" in text) == bool(words), text
        assert tap.run("run", config, "-q", "--force", *change).returncode == 0
        last = pathlib.Path("pair.run/orbit.csv").read_text().splitlines()[-1].split(",")
        assert (last[-1] == "") == bool(words), last  # mean_period


def test_a_run_that_fails_at_once_is_told_of():
    """the keys, and that the error is of check's trial of the run"""
    result = tap.run("check", write(PAIR), "-P", "time.step=1e200", "-P", "time.end=1e202")
    assert result.returncode == 70 and "step = 1e+200" in result.stdout, result
    assert result.stderr.startswith("run.cfg: check tried the run: system 1, body 1: "), result


def test_the_estimate_counts_frames_and_interactions():
    text = tap.run("check", write(PAIR)).stdout
    assert "11 frames" in text, text  # t = 0, 1, ... 10
    assert "2 x 1 systems" in text, text
    # 100 steps, one force each, 2^2 ordered pairs.
    assert re.search(r"interactions +400 at", text), text


def disk(config, *more):
    """What check says of the disk, in bytes: tables and frames, checkpoints."""
    text = " ".join(tap.run("check", config, *more).stdout.replace("\n#", " ").split())
    found = re.search(r"disk ([\d.e+]+) (\w*)B, \d+ frames; ([\d.e+]+) (\w*)B of it for", text)
    assert found, text
    unit = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
    whole, checkpoints = (float(found.group(k)) * unit[found.group(k + 1)] for k in (1, 3))
    return whole - checkpoints, checkpoints


def test_the_disk_space_of_checkpoints():
    """three of them count: the last two, and the one that is written beside them"""
    for keys in ("time = { step = 0.01; end = 0.05; };",
                 "time = { step = 0.01; end = 0.05; }; trust = { shadow = true; };",
                 'time = { step = 0.01; end = 0.05; integrator = "hermite4"; };',
                 'time = { step = 0.01; end = 0.05; }; ensemble = { systems = 3; };'):
        config = write(f"""name = "kept"; bodies = {{ initial = "plummer"; count = 2000; }};
            physics = {{ softening = 0.1; }}; {keys}""")
        estimate = disk(config)[1]
        assert tap.run("run", config, "-q", "--force").returncode == 0
        written = pathlib.Path("kept.run/checkpoint.orr").stat().st_size
        # The text of the config is estimated at 12 kB, of 130 kB and more.
        assert 0.9 < estimate / (3 * written) < 1.1, (keys, estimate, written)


def test_the_memory_of_the_watch_of_bodies_without_mass():
    """of a body about the only one that has a mass the watch keeps eight numbers, and checkpoints
    two copies of them"""
    said = []
    for massive in (1, 2):
        rows = [f"{1 if k < massive else 0},{k},0,0,0,0,0" for k in range(5000)]
        pathlib.Path("light.csv").write_text("\n".join(["m,x,y,z,vx,vy,vz", *rows]) + "\n")
        config = write("""bodies = { initial = "file"; file = "light.csv"; };
                          physics = { softening = 0.1; }; time = { step = 0.01; end = 0.05; };""")
        said.append(re.search(r"diagnostics\s+#?\s*([\d.]+) kB, checkpoints ([\d.]+) kB",
                              tap.run("check", config).stdout))
    more = [float(one) - float(two) for one, two in zip(*(found.groups() for found in said))]
    assert abs(more[0] - 320) < 2 and abs(more[1] - 640) < 2, more


def test_the_estimated_disk_space_is_near_the_truth():
    config = write(PAIR.replace("every = 10", "every = 1"))
    estimate = disk(config)[0]
    assert tap.run("run", config, "-q").returncode == 0
    written = pathlib.Path("pair.run/trajectory.xyz").stat().st_size
    assert 0.3 < estimate / written < 3, (estimate, written)


def test_the_disk_space_of_the_columns():
    """the numbers of the columns that were chosen count, and their digits"""
    for columns, digits in (("species pos velo mass id", 17), ("species pos velo mass id", 7),
                            ("pos", 17), ("id pos velo force kinetic_energy", 7)):
        for systems in (1, 2):
            config = write(f"""
                name = "plain"; bodies = {{ initial = "plummer"; count = 300; }};
                physics = {{ softening = 0.1; }}; time = {{ step = 0.01; end = 0.05; }};
                outputs = ( {{ type = "xyz"; columns = "{columns}"; digits = {digits}; }} );
                ensemble = {{ systems = {systems}; }};""")
            estimate = disk(config)[0]
            assert tap.run("run", config, "-q", "--force").returncode == 0
            written = pathlib.Path("plain.run/trajectory.xyz").stat().st_size
            # The masses 1/300 of one system have all digits; exponents are not foreseen.
            assert 0.85 < estimate / written < 1.2, (columns, digits, systems, estimate, written)


def test_the_disk_space_of_an_ensemble():
    """statistics over members count: of two members they are larger than the rows themselves"""
    config = write("""
        name = "two"; bodies = { initial = "plummer"; count = 200; };
        physics = { softening = 0.1; }; time = { step = 0.01; end = 0.05; };
        diagnostics = ( { type = "radial-distribution"; every = 1; r_max = 2.0; bins = 40; } );
        ensemble = { systems = 2; };""")
    estimate = disk(config)[0]
    assert tap.run("run", config, "-q").returncode == 0
    rows, statistics = (pathlib.Path(f"two.run/radial-distribution{kind}.csv").stat().st_size
                        for kind in ("", "-ensemble"))
    # Without the statistics it would be half of what is written.
    assert statistics > rows and 1 < estimate / (rows + statistics) < 2, \
        (estimate, rows, statistics)


def test_the_fastest_pair():
    """the orbital time of two bodies is Kepler's, 2 pi sqrt(a^3 / G M), and a step is proposed"""
    text = tap.run("check", write(PAIR)).stdout
    period = float(re.search(r"orbit each other in ([\d.]+):\s", text).group(1))
    assert abs(period - 2 * math.pi / math.sqrt(2)) < 0.005, period  # three digits are printed
    proposed = float(re.search(r"time\.step = ([\d.e-]+) would", text).group(1))
    assert proposed == 0.02, proposed  # 4.44 / 200 = 0.0222, one digit
    assert "would give" not in tap.run("check", "run.cfg", "-P", "time.step=0.02").stdout


def test_of_several_systems_the_fastest_pair_names_its_own():
    """by its ids: as it orbits, as it will pass and as a shortest period, which are Kepler's"""
    write("""
        bodies = { initial = "file"; files = ["a.csv", "b.csv", "c.csv"]; };
        time = { step = 0.001; end = 1.0; };""")
    for third in ("", "{}3,0.001,30,0,0,0,0.1,0\n"):
        for k, (name, x) in enumerate((("a.csv", 2.0), ("b.csv", 0.5), ("c.csv", 1.0)), 1):
            pair = f"{k}1,1,0,0,0,0,0,0\n{k}2,1,{x},0,0,0,1,0\n"
            pathlib.Path(name).write_text("id,m,x,y,z,vx,vy,vz\n" + pair + third.format(k))
        text = " ".join(tap.run("check", "run.cfg").stdout.replace("#", "").split())
        # G M = 2, r = 0.5, v = 1: a = 2/7, e = 3/4.
        assert "bodies 21 and 22 in system 2 (b.csv) will pass at 0.071" in text, text
        text = " ".join(tap.run("check", "run.cfg", "-P", "time.end=0.1").stdout.replace(
            "#", "").split())
        # 2 pi sqrt(a^3 / G M) = 0.679.
        assert "0.15 of the shortest period, 0.679 (bodies 21 and 22)" in text, text
        nearly = tap.run("check", "run.cfg", "-P", "time.end=0.65").stdout  # 0.96 of it
        assert "of the shortest period" not in nearly, nearly
        assert "bodies 21 and 22 in system 2 (b.csv) w" in text, text
    assert "in system" not in tap.run("check", write(PAIR)).stdout


# With this number of bodies the accuracy watch judges the energy every 50th step, with the others.
MEASURED = """
bodies = { initial = "plummer"; count = 100; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 1.0; };
diagnostics = ( { type = "conservation"; every = 10; },
                { type = "lagrangian-radii"; every = 5; } );
outputs = ( { type = "xyz"; every = 10; } );
checkpoint = { every_steps = 20; };
"""


def parts(*arguments):
    """the parts of the time: name -> (seconds, events, seconds each), and the whole"""
    text = tap.run("check", *arguments).stdout
    rows = re.findall(r"(\w+) ([\d.e+-]+) s: (\d+) of ([\d.e+-]+) s", text)
    total = float(re.search(r"time +about ([\d.e+-]+) s", text).group(1))
    return {name: (float(s), int(n), float(each)) for name, s, n, each in rows}, total


def test_the_time_has_its_parts():
    """steps, energies, diagnostics, outputs and checkpoints are counted, and add up"""
    found, total = parts(write(MEASURED))
    # 100 steps; energies every 10 and at 0; rows every 10 and every 5; frames every 10; checkpoints
    # every 20 steps but the last, at the start and at the end.
    counts = {name: count for name, (_, count, _) in found.items()}
    assert counts == {"steps": 100, "energies": 11, "diagnostics": 11 + 21, "outputs": 11,
                      "checkpoints": 4 + 2}, counts
    for seconds, count, each in found.values():
        assert abs(seconds - count * each) <= 0.02 * seconds, found  # three digits of each
    assert abs(sum(part[0] for part in found.values()) - total) <= 0.02 * total, (found, total)


def test_twice_as_often_is_twice_the_part():
    config = write(MEASURED)
    twice = {"energies": ("diagnostics.0.every=5", 21), "outputs": ("outputs.0.every=5", 21),
             "diagnostics": ("diagnostics.1.every=1", 11 + 101),
             "checkpoints": ("checkpoint.every_steps=10", 9 + 2)}
    for name, (override, count) in twice.items():
        found, _ = parts(config, "-P", override)
        assert found[name][1] == count, (name, found)


def test_check_refuses_what_a_run_refuses_alone():
    """a body behind those of its trial, and a collision behind the end of the run, are no errors"""
    write("""
name = "many";
bodies = { initial = "plummer"; count = 8200; };
physics = { softening = 0.05; };
time = { step = 0.001; end = 0.002; };
diagnostics = ( { type = "orbit"; primary = 1; secondary = 8200; } );
""")
    result = tap.run("check", "run.cfg")
    assert result.returncode == 0, result.stderr
    result = tap.run("check", "run.cfg", "-P", "diagnostics.0.secondary=8201")
    assert result.returncode == 78 and "8200" in result.stderr, result
    # From rest at the distance 2 with G M = 2 they meet after pi/2 sqrt(8 / 4) = 2.22.
    write("""
name = "fall";
bodies = { initial = "two-body"; masses = [1.0, 1.0]; semi_major_axis = 1.0; eccentricity = 0.9;
           true_anomaly = 180.0; virial_ratio = 0.0; };
time = { integrator = "gauss-radau"; step = 0.01; end = 1.0; };
""")
    result = tap.run("check", "run.cfg")
    assert result.returncode == 0, result.stderr


def test_a_check_ends_in_time():
    """after 10 seconds, or at its own limit, it says what it did not try, with every key; a dry run
    does the same"""
    endless = """
        bodies = { initial = "two-body"; semi_major_axis = 1e-8; };
        time = { integrator = "gauss-radau"; end = 10.0; };"""
    many = """
        bodies = { initial = "plummer"; count = 1000000; virial_ratio = 1.0; };
        physics = { softening = 0.01; };
        time = { step = 0.01; end = 1.0; };"""
    asked = """
        bodies = { initial = "plummer"; count = 400000; };
        physics = { softening = 0.05; };
        time = { energy_error = 1e-4; end = 1.0; };"""
    for text, untried in ((endless, "disk and the time that"),
                          (asked, "which setting keeps what is asked for (a run tries it for a "),
                          (many, "the bodies, which")):
        pathlib.Path("slow.cfg").write_text(text)
        # Two of them take the ten seconds, one on one thread, where the tests are thorough.
        ways = [((*way, *limit), least) for way in (("check", "slow.cfg"),
                                                    ("run", "slow.cfg", "--dry-run"))
                for limit, least in (((), 9), (("--max-time", "1"), 0.5))
                if way[0] == "run" or not limit]
        begin = {endless: 0, many: 1}.get(text, 2) if tap.is_thorough() else 2
        for arguments, least in ways[begin:1 if begin == 0 else None]:
            start = time.monotonic()
            result = tap.run(*arguments, timeout=100)
            words = " ".join(result.stdout.replace("#", " ").split())
            assert result.returncode == 0 and not result.stderr, result
            assert f"not tried {untried}" in words and "which steps suffice" in words, words
            assert ("memory" in words) == (text != asked), words
            assert "softening = 0" in words and not pathlib.Path("slow.run").exists(), words
            # 10 s, and what other work on the machine adds to them.
            assert least < time.monotonic() - start < (least + 11) * tap.PATIENCE


def test_a_cadence_of_no_end():
    """the largest cadence stands for rows at both ends alone, also where a step is chosen; 2^62
    overflows with the steps of one pilot, 4 for each of the grid"""
    config = write(PAIR.replace("1.0; };", "1.0; eccentricity = 0.5; };")
                   .replace("step = 0.1; end = 10.0", "energy_error = 1e-4; end = 60.0"))
    result = tap.run("check", config, "-P", "outputs.0.every=4611686018427387904")
    assert result.returncode == 0 and " 2 frames" in result.stdout, result


def test_a_trial_that_misses_the_bound_is_no_overflow():
    """where the shortest step that was tried misses a bound, its error is said, and no overflow"""
    pathlib.Path("order-1.cfg").write_text(
        'name = "first"; bodies = { initial = "two-body"; masses = [0.5, 0.5]; eccentricity = 0.5; '
        'true_anomaly = 180.0; };\n'
        'time = { integrator = "semi-implicit-euler"; step = 0.02; end = 6.28; };\n'
        'diagnostics = ( { type = "conservation"; every = 1; } );\n'
        'expect = ( { quantity = "energy_error"; at_most = 1e-6; } );\n')
    said = " ".join(tap.run("check", "order-1.cfg").stdout.replace("#", " ").split())
    assert "no step that was tried suffices: with time.step = " in said, said
    assert re.search(r"the energy error is [\d.e+-]+ of its limit, more than the half that is",
                     said), said
    assert "not finite" not in said, said


tap.main()
