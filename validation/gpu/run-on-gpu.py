"""Whole experiments on the GPU backend: on the executor, or on a GPU where ORRERY_GPU says so."""

import collections
import json
import os
import pathlib
import re

import tap

EXECUTOR = os.path.join(os.environ.get("ORRERY_BUILD", os.getcwd()), "validation/gpu/orrery")
REAL = bool(os.environ.get("ORRERY_GPU"))

CONFIG = """
name = "gpu";
bodies = { initial = "plummer"; count = 70; seed = 7; };
physics = { softening = 0.1; };
time = { integrator = "velocity-verlet"; step = 0.0078125; end = 0.3125; };
compute = { backend = "cuda"; precision = "double"; };
diagnostics = ( { type = "conservation"; every = 8; } );
outputs = ( { type = "xyz"; every = 8; digits = 17; } );
checkpoint = { every_steps = 16; };
expect = ( { quantity = "energy_error"; at_most = 1e-3; } );
"""
STEPS = 40
FILES = ("conservation.csv", "trajectory.xyz")


def need_executor():
    if not os.path.exists(EXECUTOR):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    return EXECUTOR


def run(*arguments, config=CONFIG, **executor):
    """orrery run with the executor told to fail in some way: fail_kernel=3 and the like."""
    if REAL and executor:
        raise tap.Skip("only the executor can be told to fail")
    pathlib.Path("run.cfg").write_text(config)
    environment = {**os.environ, "ORRERY_EXECUTOR_GPU": "1"}
    for name, value in executor.items():
        environment[f"ORRERY_EXECUTOR_{name.upper()}"] = str(value)
    if not REAL:
        tap.ORRERY = need_executor()
    return tap.run("run", "run.cfg", *arguments, env=environment)


def contents(directory):
    return [pathlib.Path(directory, name).read_bytes() for name in FILES]


def about(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())


def last_energy_error(directory):
    header, *_, last = pathlib.Path(directory, "conservation.csv").read_text().splitlines()
    names = [name.split()[0] for name in header.split(",")]
    return float(last.split(",")[names.index("energy_error")])


def test_a_run_holds_what_it_expects():
    """a run on the GPU holds what it expects, and says what it ran on"""
    result = run()
    assert result.returncode == 0, result.stderr
    compute = about("gpu.run")["compute"]
    assert compute["backend"] == "cuda" and compute["kernel"] == "blocked", compute
    assert compute["device"] and compute["isa"].startswith("sm_"), compute


def test_it_agrees_with_the_serial_backend():
    """energies and positions are those of the serial backend"""
    assert run("-o", "device").returncode == 0
    assert run("-o", "host", "-P", "compute.backend=serial").returncode == 0
    # 40 steps of 70 softened bodies: rounding errors of 1e-15 a step have not grown much.
    numbers = [[float(word) for line in path.read_text().splitlines()[-70:]
                for word in line.split()[1:]]
               for path in (pathlib.Path("device/trajectory.xyz"),
                            pathlib.Path("host/trajectory.xyz"))]
    assert len(numbers[0]) == len(numbers[1]) > 70 * 6
    worst = max(abs(a - b) for a, b in zip(*numbers))
    assert 0 < worst < 1e-11, worst
    assert abs(last_energy_error("device") - last_energy_error("host")) < 1e-12


def test_a_list_of_stages():
    """a list of the config has the bytes of the row of that list, alone and in an ensemble"""
    words = '["drift 0.5", "force", "kick 1", "drift 0.5"]'
    for systems in (1, 3):
        for name, of in (("row", ("leapfrog-dkd",)),
                         ("list", ("stages", "-P", f"time.stages={words}"))):
            result = run("-q", "-o", f"{name}-{systems}", "-P", f"ensemble.systems={systems}", "-P",
                         f"time.integrator={of[0]}", *of[1:])
            assert result.returncode == 0, result.stderr
        assert contents(f"list-{systems}") == contents(f"row-{systems}"), systems


def test_columns():
    """forces and energies of a frame are numpy's, and asking changes no bit of the motion"""
    tap.need("numpy")
    import frames  # which needs it
    columns = f'columns = "{frames.COLUMNS}"; every = 8; '
    for systems in (1, 2):
        for name in ("velocity-verlet", "leapfrog-dkd", "pefrl"):
            keys = ("-q", "-P", f"time.integrator={name}", "-P", "time.end=0.125", "-P",
                    f"ensemble.systems={systems}")
            whole, few = f"all-{name}-{systems}", f"few-{name}-{systems}"
            assert run("-o", whole, *keys, config=CONFIG.replace(
                "every = 8; digits", columns + "digits")).returncode == 0
            assert run("-o", few, *keys).returncode == 0
            made = frames.check(whole, frames.Physics(0.1), systems, 70, 1 / 128)
            assert len(made) == 3
            for (_, one), (_, other) in zip(made, frames.read(few + "/trajectory.xyz")):
                for column in ("pos", "velo"):
                    assert one[column].tobytes() == other[column].tobytes(), (name, column)


def test_precisions_and_kernels():
    """every precision and kernel holds what is expected"""
    tap.not_sanitized()
    for precision in ("double", "mixed", "single"):
        for kernel in tap.gpu_kernels():
            result = run("-q", "-o", f"{precision}-{kernel}", "-P", f"compute.kernel={kernel}",
                         "-P", f"compute.precision={precision}", "-P", "time.end=0.0625")
            assert result.returncode == 0, (precision, kernel, result.stderr)
        for kernel in tap.gpu_kernels(third_law=False):
            assert contents(f"{precision}-{kernel}") == contents(f"{precision}-blocked"), (
                precision, kernel)


# What makes examples short for the executor, beside their first steps: ORRERY_THOROUGH has them
# with bodies for several blocks of threads, a device with all bodies.
MOST_BODIES = 2000 if tap.is_thorough() else 300
STEPS_OF_AN_EXAMPLE = 4


def shorter(text):
    if REAL:
        return []
    count = int(re.search(r" count = (\d+)", text)[1]) if " count =" in text else 0
    keys = [f"bodies.count={MOST_BODIES}"] if count > MOST_BODIES else []
    if "disc_count =" in text:
        keys += [f"models.{k}.{part}_count={MOST_BODIES // 4}" for k in (0, 1)
                 for part in ("disc", "halo")]
    return keys + (["ensemble.systems=2"] if "systems =" in text else [])


def run_example(path, directory, *keys):
    if not REAL:
        tap.ORRERY = need_executor()
    words = [word for key in keys for word in ("-P", key)]
    result = tap.run("run", path, "-q", "-o", directory, *words, timeout=120)
    assert result.returncode == 0, (path, result.returncode, result.stderr)


def positions_of(directory):
    """Those of the last frame."""
    lines = pathlib.Path(directory, "trajectory.xyz").read_text().splitlines()
    last = max(k for k, line in enumerate(lines) if "Properties=" in line)
    before = re.search(r"Properties=(.*?)pos:R:3", lines[last])[1]
    first = sum(int(count) for count in re.findall(r":(\d+):", before))
    return [float(word) for line in lines[last + 1:] for word in line.split()[first:first + 3]]


def test_every_example_is_that_of_the_cpu():
    """the first steps of every example of fixed steps on the GPU are those of the CPU"""
    tap.not_sanitized()
    examples = sorted(pathlib.Path(tap.SOURCE, "examples").glob("*/run.cfg"))
    compared = 0
    for path in examples:
        name = path.parent.name
        text = path.read_text()
        if re.search(r'integrator = "(gauss-radau|hermite4|block-leapfrog)"', text):
            continue  # these choose their own steps, on CPUs
        if any(words in text for words in ('method = "fmm"', "trust_until")):
            continue  # GPUs sum over all pairs, and no orbits choose their steps
        given = re.search(r"step = ([\d.e-]+);", text)
        step = float(given[1]) if given else 0.001
        keys = [] if given else [f"time.step={step}", "time.integrator=velocity-verlet"]
        keys += [f"time.end={STEPS_OF_AN_EXAMPLE * step}", "expect=()", "watch.on_jump=warn",
                 "diagnostics=()", "trust.shadow=false",
                 f'outputs=({{ type = "xyz"; every = {STEPS_OF_AN_EXAMPLE}; digits = 17; }})',
                 *shorter(text)]
        single = 'precision = "single"' in text
        numbers = []
        # A device gets all bodies; one core would take minutes to compute the same sums.
        for backend in ("cuda", "openmp" if REAL else "serial"):
            precision = [] if backend == "cuda" else ["compute.precision=double"]
            run_example(path, f"{name}-{backend}", f"compute.backend={backend}", *precision, *keys)
            numbers.append(positions_of(f"{name}-{backend}"))
        assert len(numbers[0]) == len(numbers[1]) >= 6, name
        largest = max(map(abs, numbers[1]))
        worst = max(abs(a - b) for a, b in zip(*numbers)) / largest
        print(f"# {name}: {worst:.1e}")
        # Few steps: some roundings of forces, in fp64 or in fp32.
        assert worst < (1e-6 if single else 1e-13), (name, worst)
        compared += 1
    assert compared >= 10, compared


def test_examples_of_few_bodies_hold_what_they_expect():
    """whole examples of two and three bodies on the GPU hold what they expect"""
    if not REAL:
        tap.thorough()
    for name in ("two-body-orbit", "figure-eight"):
        path = pathlib.Path(tap.SOURCE, "examples", name, "run.cfg")
        run_example(path, name, "compute.backend=cuda")
        assert about(name)["compute"]["backend"] == "cuda"


def test_restart_gives_the_same_bytes():
    """stopped and continued, the files are those of an uninterrupted run"""
    for precision in ("double", "mixed", "single"):
        options = ("-q", "-P", f"compute.precision={precision}")
        assert run("-o", f"whole-{precision}", *options).returncode == 0
        part = f"part-{precision}"
        assert run("-o", part, *options, "-P", "time.end=0.125").returncode == 0
        result = run("-o", part, *options, "--restart")
        assert result.returncode == 0, result.stderr
        assert contents(part) == contents(f"whole-{precision}"), precision


def test_shadows_leave_no_trace():
    """shadows change no bit of a run on the GPU, are the CPU's, and restart to the same bytes"""
    tap.thorough()
    # A long step parts the shadow with half of it from the run by 1 % before the end.
    keys = [word for override in ("bodies.count=16", "ensemble.systems=2", "physics.softening=0.05",
                                  "time.step=0.03", "time.end=1.2", "expect=()", "trust.every=2",
                                  "watch.on_jump=warn") for word in ("-P", override)]
    shadow = ["-P", "trust.shadow=true"]
    for directory, more in (("with", shadow), ("without", []), ("part", [
            *shadow, "-P", "time.end=0.75"]), ("part", [*shadow, "--restart"]), ("host", [
                *shadow, "-P", "compute.backend=serial"])):
        result = run("-q", "-o", directory, *keys, *more)
        assert result.returncode == 0, (directory, result.stderr)
    assert contents("with") == contents("without") == contents("part")
    tables = [pathlib.Path(name, "trust.csv").read_bytes() for name in ("with", "part")]
    assert tables[0] == tables[1]
    # The same orbits but for rounding errors, which have not grown much.
    said, other = (about(name)["trust"] for name in ("with", "host"))
    first, second = (one["all_accurate_until"] for one in (said, other))
    assert first["systems"] == 1, first  # whose shadow is let go, and the other one's is not
    assert abs(first["first"] - second["first"]) < 1e-6, (first, second)
    assert said["cost"] == other["cost"] < 3, (said["cost"], other["cost"])


def test_no_device_is_exit_69():
    """without a device: 69 for cuda and nothing written, a fallback that says so for auto"""
    result = run(devices=0)
    assert result.returncode == 69 and "GPU" in result.stderr, (result.returncode, result.stderr)
    assert not os.path.exists("gpu.run")
    result = run("-P", "compute.backend=auto", "-P", "bodies.count=1100", "-P", "time.end=0.01",
                 devices=0)
    assert result.returncode == 0, result.stderr
    compute = about("gpu.run")["compute"]
    assert compute["backend"] == "openmp" and "GPU" in compute["choice"], compute


def test_a_device_of_no_use_is_told():
    """a device that refuses: 69 and why, nothing written; auto goes on with the CPU and tells it"""
    for refusal, words in (("no_code", "no kernel image"), ("busy", "busy or unavailable")):
        result = run(**{refusal: 1})
        assert result.returncode == 69 and words in result.stderr, (refusal, result.stderr)
        assert "run.cfg:6: compute.backend" in result.stderr, result.stderr
        assert not os.path.exists("gpu.run")
        result = run("-P", "compute.backend=auto", "-P", "bodies.count=1100", "-P",
                     "time.end=0.01", "-o", refusal, **{refusal: 1})
        assert result.returncode == 0, result.stderr
        compute = about(refusal)["compute"]
        assert compute["backend"] == "openmp" and words in compute["choice"], compute
        assert words in pathlib.Path(refusal, "run.log").read_text()


def test_failed_allocations_are_exit_71():
    """a device without enough memory: 71"""
    for failure in ({"fail_allocation": 1}, {"memory": 10000}):
        result = run("--force", **failure)
        assert result.returncode == 71 and "GPU 0" in result.stderr, (failure, result.stderr)


def test_a_device_that_fails_loses_nothing():
    """a launch or a kernel that fails: 69, and --restart finishes with the same bytes"""
    assert run("-q", "-o", "whole").returncode == 0
    restarted = 0
    for failure in [{"fail_launch": n} for n in (1, 7, 20)] + \
                   [{"fail_kernel": n} for n in (2, 12, 25)]:
        directory = f"{next(iter(failure))}-{next(iter(failure.values()))}"
        result = run("-q", "-o", directory, **failure)
        assert result.returncode == 69 and "launch failure" in result.stderr, (
            failure, result.returncode, result.stderr)
        if os.path.exists(os.path.join(directory, "checkpoint.orr")):
            restarted += 1
            result = run("-q", "-o", directory, "--restart")
            assert result.returncode == 0, (failure, result.stderr)
            assert contents(directory) == contents("whole"), failure
    assert restarted >= 3, restarted


def test_devices_and_memory_change_no_bytes():
    """an ensemble on one device, on three, and through little memory: the same bytes"""
    ensemble = ("-q", "-P", "ensemble.systems=5", "-P", "time.end=0.125")
    assert run("-o", "one", *ensemble).returncode == 0
    for name, executor in (("three", {"devices": 3}), ("little", {"memory": 300000})):
        result = run("-o", name, "-P", "compute.devices=0", *ensemble, **executor)
        assert result.returncode == 0, (name, result.stderr)
        assert contents(name) == contents("one"), name


def test_a_system_has_the_bits_that_it_has_alone():
    """whatever size the others have: fp32 terms are in units of the largest of all"""
    for precision in ("double", "mixed", "single"):
        for systems in (1, 12):
            options = ("ensemble.systems", systems), ("compute.precision", precision), \
                ("bodies.count", 40), ("time.end", 0.0625), ("expect", "()")
            words = [word for key, value in options for word in ("-P", f"{key}={value}")]
            assert run("-q", "--force", "-o", f"of-{systems}", *words).returncode == 0
        bodies = []
        for directory in ("of-1", "of-12"):
            text = pathlib.Path(directory, "trajectory.xyz").read_text()
            rows = text[text.rindex("Properties="):].splitlines()[1:41]
            bodies.append([row.split()[1:7] for row in rows])
        assert bodies[0] == bodies[1], precision


def test_bench_measures_and_keeps_its_tuning():
    """bench --gpu fills its table within its time, and info shows the tuning that it keeps"""
    environment = {**os.environ, "XDG_CACHE_HOME": os.path.abspath("cache")}
    if not REAL:
        tap.thorough()
        tap.ORRERY = need_executor()
    result = tap.run("bench", "--gpu", "--largest", 64, "--seconds", 25, "-o", "bench",
                     env=environment)
    assert result.returncode == 0, result.stderr
    about = json.loads(pathlib.Path("bench/bench-gpu.json").read_text())
    rows = [row for row in about["rows"] if not row["skipped"]]
    skipped = len(about["rows"]) - len(rows)
    assert (f"{skipped} lines were skipped" in result.stdout) == (skipped > 0), result.stdout
    # 3 operations, 2 kernels in 3 precisions, and timed kernels as long as there was time.
    assert len([row for row in rows if row["part"] == "operations of the device"]) == 3
    accuracy = [row for row in rows if row["part"] == "accuracy"]
    assert len(accuracy) == 6
    for row in accuracy:
        assert 0 < row["error"] < (1e-14 if row["precision"] == "double" else 1e-6), row
    timed = [row for row in rows if row["part"] == "tiled: tile x block"]
    assert timed and all(abs(row["rate"] * row["seconds"] / row["count"]**2 - 1) < 1e-9
                         for row in timed)
    assert "measured" in tap.run("info", env=environment).stdout
    assert os.path.exists("cache/orrery/gpu-tuning.json")


def test_bench_goes_on_after_a_failure():
    """bench --gpu: a launch that is refused is exit 69 and ends its own part alone"""
    if REAL:
        raise tap.Skip("only the executor can be told to fail")
    tap.ORRERY = need_executor()
    def parts_of(folder, **environment):
        """How many rows each part of the benchmark has, and the result."""
        result = tap.run("bench", "--gpu", "--largest", 64, "--seconds", 0.01, "--forget", "-o",
                         folder, env={**os.environ, **environment})
        about = json.loads(pathlib.Path(folder, "bench-gpu.json").read_text())
        return collections.Counter(row["part"] for row in about["rows"]), result
    whole, result = parts_of("whole")
    assert result.returncode == 0 and whole["operations of the device"] == 3, (whole, result)
    assert {"accuracy", "ladder", "steps of velocity Verlet"} < set(whole), whole
    # The number of launches of the first part depends on the speed of the machine.
    for launch in ("1", "12"):
        failed, result = parts_of(f"failed{launch}", ORRERY_EXECUTOR_FAIL_LAUNCH=launch)
        assert result.returncode == 69 and "launch failure" in result.stderr, result
        short = [part for part in whole if failed[part] < whole[part]]
        assert len(short) == 1 and (launch != "1" or short == ["operations of the device"]), short
        assert not failed - whole, failed - whole


def test_bench_says_what_it_knows():
    """bench --gpu names no limit where it has none, and a cache that it cannot write at once"""
    if not REAL:
        tap.ORRERY = need_executor()
    result = tap.run("bench", "--gpu", "--largest", 64, "--seconds", 0.01, "--forget")
    assert result.returncode == 0, result.stderr
    assert re.search(r"^  fp32 multiply-add +[\d.]+ +[\d.]+$", result.stdout, re.MULTILINE), result
    for operation in ("fp64 multiply-add", r"fp32 estimate of 1/sqrt"):
        assert re.search(rf"^  {operation} +[\d.]+ +-$", result.stdout, re.MULTILINE), result.stdout
    errors = re.findall(r" (double|mixed|single) +\d+  ([\d.]+e-\d+)$", result.stdout, re.MULTILINE)
    assert len(errors) == 6, result.stdout
    for precision, error in errors:
        assert float(error) < (1e-14 if precision == "double" else 1e-6), errors
    result = tap.run("bench", "--gpu", "--largest", 64, "--seconds", 0.01,
                     env={**os.environ, "XDG_CACHE_HOME": "/dev/null/cache"})
    assert result.returncode == 73 and "/dev/null/cache" in result.stderr, result
    assert "accuracy" not in result.stdout, result.stdout
    result = tap.run("bench", "--gpu", "--device", 64)
    assert result.returncode == 69 and "there is no GPU 64: this machine has " in result.stderr, \
        result


tap.main()
