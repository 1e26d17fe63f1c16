"""Runs shared among ranks: the same bytes as one process alone, whatever the number of ranks."""

import json
import pathlib
import re
import shutil

import job
import tap


def compare(config, *overrides, ranks=(1, 2, 3, 4, 5), names=None):
    """Runs config without mpirun and with it, and compares the bytes."""
    keys = [word for override in overrides for word in ("-P", override)]
    job.mpirun()
    job.finish(0, "run", config, "-q", "--force", "-o", "alone", *keys)
    for count in ranks:
        job.finish(count, "run", config, "-q", "--force", "-o", "shared", *keys)
        job.same_files("alone", "shared", names)


def test_one_system_on_1_to_5_ranks():
    """one system on 1 to 5 ranks, by the kernel of one's own accord: the bytes of one process"""
    compare(job.write(job.PLUMMER))
    about = json.loads(pathlib.Path("shared/run.json").read_text())
    assert about["compute"]["ranks"] == 5 and about["compute"]["backend"] == "openmp", about
    assert about["compute"]["kernel"] == "symmetric", about
    assert json.loads(pathlib.Path("alone/run.json").read_text())["compute"]["ranks"] == 1


def test_every_kind_of_integrator():
    """integrators that start with a force, a kick or a drift, on 3 ranks"""
    config = job.write(job.PLUMMER)
    for integrator in ("euler", "leapfrog-dkd", "yoshida4"):
        # Bits are compared here, also those of a method whose energy drifts.
        compare(config, f'time.integrator="{integrator}"', 'watch.on_jump="warn"', ranks=(3,))


def test_a_list_of_stages():
    """a list of the config on 3 ranks, which divide bodies or systems, and the row of that list"""
    words = '["drift 0.5", "force", "kick 1", "drift 0.5"]'
    text = job.PLUMMER.replace('"velocity-verlet"', '"leapfrog-dkd"')
    for systems in (1, 3):
        many = f"ensemble = {{ systems = {systems}; }};"
        compare(job.write(text + many), ranks=(3,))
        shutil.copytree("shared", "row", dirs_exist_ok=True)
        compare(job.write(text.replace('"leapfrog-dkd"', f'"stages"; stages = {words}') + many),
                ranks=(3,))
        job.same_files("row", "shared")


def test_precisions():
    """mixed and single precision, by Newton's third law and without it, on 2 to 5 ranks"""
    config = job.write(job.PLUMMER)
    for precision in ("mixed", "single"):
        compare(config, f'compute.precision="{precision}"', "bodies.count=517", ranks=(2, 4, 5))
        compare(config, f'compute.precision="{precision}"', 'compute.kernel="plain"', ranks=(3,))


def test_the_plain_kernel():
    """double precision without Newton's third law, on 2 ranks"""
    compare(job.write(job.PLUMMER), 'compute.kernel="plain"', ranks=(2,))


def test_more_rounds_than_ranks_keep():
    """17 tiles on 2 ranks: sums go from the first rank to the last and back"""
    compare(job.write(job.PLUMMER), "bodies.count=8300", "time.end=0.02",
            'compute.precision="single"', "diagnostics.0.every=2", "diagnostics.1.every=2",
            "outputs.0.every=2", ranks=(2,))


def test_the_serial_backend():
    """the reference backend on 3 ranks"""
    compare(job.write(job.PLUMMER), 'compute.backend="serial"', 'compute.kernel="auto"',
            ranks=(3,))


def test_a_periodic_box():
    """minimum images on 3 ranks"""
    config = job.PLUMMER.replace("softening", 'boundary = "periodic"; box_length = 5.0; softening')
    compare(job.write(config.replace("lagrangian-radii", "virial")), ranks=(3,))


def test_threads_within_ranks():
    """two ranks of three threads"""
    compare(job.write(job.PLUMMER), "compute.threads=3", ranks=(2,))


def test_more_ranks_than_bodies():
    """two bodies on 4 ranks"""
    compare(job.write("""
        name = "pair";
        bodies = { initial = "two-body"; semi_major_axis = 1.0; eccentricity = 0.5; };
        time = { step = 0.01; end = 0.5; };
        diagnostics = ( { type = "conservation"; every = 7; }, { type = "orbit"; every = 5; } );
        outputs = ( { type = "xyz"; every = 10; digits = 17; } );"""), ranks=(4,))


ENSEMBLE = """
name = "ensemble";
ensemble = { systems = 7; };
bodies = { initial = "plummer"; count = 50; seed = 3; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 0.2; };
diagnostics = ( { type = "conservation"; every = 5; },
                { type = "radial-distribution"; every = 10; r_max = 4.0; bins = 20; } );
outputs = ( { type = "xyz"; every = 10; digits = 17; } );
"""


def test_an_ensemble_by_systems():
    """7 systems on 2, 3 and 4 ranks, which divide them with a remainder"""
    compare(job.write(ENSEMBLE), ranks=(2, 3, 4))


def test_an_ensemble_by_bodies():
    """2 systems on 3 ranks, which divide the bodies of each"""
    for kernel in ("plain", "symmetric"):
        compare(job.write(ENSEMBLE), "ensemble.systems=2", f'compute.kernel="{kernel}"', ranks=(3,))
    compare(job.write(ENSEMBLE), "ensemble.systems=2", "bodies.count=301", "time.end=0.05",
            "compute.threads=2", ranks=(3, 5))


# Close passages of triples, with steps of their own and a shadow that goes along.
TRIPLES = """
name = "triples";
bodies = { initial = "plummer"; count = 3; seed = 7; };
time = { integrator = "gauss-radau"; step = 0.125; end = 8.0; };
trust = { shadow = true; };
diagnostics = ( { type = "conservation"; every = 1; }, { type = "own-steps"; every = 4; } );
outputs = ( { type = "xyz"; every = 8; } );
checkpoint = { every_steps = 16; };
ensemble = { systems = 5; };
"""


def own_steps(directory):
    return json.loads(pathlib.Path(directory, "run.json").read_text())["own_steps"]


def test_steps_of_their_own():
    """integrators that choose their steps: systems divided, or one that all ranks share"""
    config = job.write(TRIPLES)
    for integrator, *accuracy in (("gauss-radau", "time.accuracy=1e-8"),
                                  ("hermite4", "time.eta=0.01"),
                                  ("block-leapfrog", "time.eta=0.05", "physics.softening=0.02")):
        keys = (f'time.integrator="{integrator}"', *accuracy)
        compare(config, *keys, ranks=(2, 3))
        assert own_steps("alone") == own_steps("shared"), integrator
        compare(config, *keys, "ensemble.systems=1", "bodies.count=40", "time.end=1.0", ranks=(2,))
        assert own_steps("alone") == own_steps("shared"), integrator


def test_steps_of_their_own_go_on():
    """begun by two ranks, continued by three, by one process, and verified"""
    config = job.write(TRIPLES)
    for integrator in ("gauss-radau", "hermite4"):
        keys = ("-P", f"time.integrator={integrator}")
        job.finish(0, "run", config, "-q", "--force", "-o", "alone", *keys)
        job.finish(2, "run", config, "-q", "--force", "-o", "parts", *keys, "-P", "time.end=2.5")
        job.finish(3, "run", config, "-q", "--restart", "-o", "parts", *keys, "-P", "time.end=5.5")
        job.finish(0, "run", config, "-q", "--restart", "-o", "parts", *keys)
        job.same_files("alone", "parts")
        assert own_steps("alone") == own_steps("parts"), integrator
        job.finish(2, "verify", "parts")


def test_a_collision_on_any_rank_is_named_as_alone():
    """system and pair of one process, where the systems of another rank cannot go on"""
    pathlib.Path("fall.csv").write_text("m,x,y,z,vx,vy,vz\n1,-0.5,0,0,0,0,0\n1,0.5,0,0,0,0,0\n")
    for integrator in ("gauss-radau", "hermite4"):
        for start in ('initial = "file"; file = "fall.csv";',
                      'initial = "cold-sphere"; count = 2; seed = 3;'):
            config = job.write(TRIPLES.replace('initial = "plummer"; count = 3; seed = 7;', start))
            told = []
            for ranks in (0, 2):
                result = job.run(ranks, "run", config, "-q", "--force", "-o", f"stuck{ranks}", "-P",
                                 f"time.integrator={integrator}", "-P", "ensemble.systems=4", "-P",
                                 "trust.shadow=false")
                assert result.returncode == 70, result
                told.append([line for line in result.stderr.splitlines() if "system " in line])
            assert told[0] and told[0][0] in told[1][0], told
            assert own_steps("stuck0")["stuck_at"] == own_steps("stuck2")["stuck_at"]


# Fields of which none keeps what another one does, about a centre that is not the origin.
FIELDS = """
external = ( { type = "nfw"; mass = 3.0; scale_radius = 0.8; center = [0.5, -0.25, 0.125]; },
             { type = "miyamoto-nagai"; mass = 2.0; a = 0.5; b = 0.3; },
             { type = "uniform"; acceleration = [0.0, 0.1, -0.2]; } );
"""


def test_external_fields():
    """of one system on 1 to 4 ranks, of an ensemble by systems and by bodies; of every kind of
    backend, method and integrator"""
    compare(job.write(job.PLUMMER + FIELDS), ranks=(1, 2, 3, 4))
    config = job.write(job.PLUMMER + FIELDS)
    for keys in (('compute.backend="serial"',), ('compute.method="fmm"',),
                 ('compute.precision="mixed"', "compute.threads=2"), ('time.integrator="rk4"',)):
        compare(config, *keys, ranks=(3,))
    compare(job.write(ENSEMBLE + FIELDS), ranks=(2, 3))
    compare(job.write(ENSEMBLE + FIELDS), "ensemble.systems=2", ranks=(3,))
    pathlib.Path("massless.csv").write_text("m,x,y,z,vx,vy,vz\n" + "".join(
        f"0,{1 + k / 7},{k % 5},0.5,0.1,{k / 40},-0.2\n" for k in range(37)))
    massless = job.PLUMMER.replace('"plummer"; count = 300; seed = 7;',
                                   '"file"; file = "massless.csv";')
    assert "massless" in massless
    compare(job.write(massless + FIELDS), ranks=(3,))


def test_external_fields_with_steps_of_their_own():
    """by systems and by bodies, with shadows; begun by two ranks, continued by one process"""
    config = job.write(TRIPLES + FIELDS)
    for integrator in ("gauss-radau", "hermite4"):
        keys = (f'time.integrator="{integrator}"',)
        compare(config, *keys, ranks=(2,))
        compare(config, *keys, "ensemble.systems=1", "bodies.count=40", "time.end=1.0", ranks=(2,))
    job.finish(2, "run", config, "-q", "--force", "-o", "parts", "-P", "time.end=2.5")
    job.finish(0, "run", config, "-q", "--restart", "-o", "parts")
    job.finish(0, "run", config, "-q", "--force", "-o", "alone")
    job.same_files("alone", "parts")
    job.finish(3, "verify", "parts")


def test_a_rotating_frame():
    """with fields and without, by bodies and by systems"""
    turning = job.PLUMMER.replace("softening = 0.05;", "softening = 0.05; rotation = 0.7;")
    for fields in ("", FIELDS):
        config = job.write(turning + fields)
        compare(config, ranks=(1, 2, 3, 4))
        for keys in (('time.integrator="yoshida6"', 'compute.backend="serial"'),
                     ('compute.method="fmm"', "compute.threads=2"),
                     ('time.integrator="block-leapfrog"', ), ('time.integrator="hermite4"', ),
                     ('time.integrator="gauss-radau"', )):
            compare(config, *keys, ranks=(3,))
    compare(job.write(ENSEMBLE + FIELDS), "physics.rotation=0.7", ranks=(2, 3))
    compare(job.write(ENSEMBLE + FIELDS), "physics.rotation=0.7", 'time.integrator="hermite4"',
            ranks=(2, 3))


def test_check_estimates_for_all_ranks():
    """orrery check under mpirun says who would compute"""
    result = job.finish(2, "check", job.write(job.PLUMMER))
    assert "2 ranks of 1 thread" in result.stdout, result.stdout
    assert result.stdout.count("# estimate") == 1, result.stdout


def forces_need(result):
    """What orrery check says that force kernels take, in bytes."""
    number, prefix = re.search(r"forces ([\d.]+) (.?)B", result.stdout).groups()
    return float(number) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[prefix]


def test_check_counts_what_ranks_keep():
    """ranks that divide a system keep eight rounds of sums more than one process"""
    job.mpirun()
    words = ("check", job.write(job.PLUMMER), "-P", "bodies.count=50000")
    more = forces_need(job.finish(2, *words)) - forces_need(job.finish(0, *words))
    assert abs(more - 8 * 24 * 50000) < 0.1e6, more  # printed with three digits


def test_the_summary_is_printed_once():
    """one summary, by rank 0"""
    result = job.finish(3, "run", job.write(job.PLUMMER))
    assert result.stdout.count("verdict") == 1 and "3 ranks of 1 thread" in result.stdout, result


tap.main()
