"""Bad input 1 to 5 and 11: what `orrery check` and `orrery run` say to a wrong config file."""

import os
import pathlib
import re
import shutil

import tap

BODIES = 'bodies = { initial = "uniform-cube"; count = 8; };\n'
TIME = "time = { step = 0.25; end = 1.0; };\n"
OK, USAGE, NO_INPUT, CONFIG = 0, 64, 66, 78


def write(text, name="run.cfg"):
    mode = "wb" if isinstance(text, bytes) else "w"
    with open(name, mode, **({} if "b" in mode else {"encoding": "utf-8"})) as file:
        file.write(text)


def refuse(text, *messages, status=CONFIG, arguments=()):
    """Both commands refuse the file with exactly these lines, and write nothing."""
    write(text)
    before = sorted(os.listdir("."))
    for command in ("check", "run"):
        result = tap.run(command, "run.cfg", *arguments)
        lines = result.stderr.splitlines()
        assert lines == list(messages), f"{command}: {result.stderr}"
        assert result.returncode == status, f"{command}: status {result.returncode}"
        assert result.stdout == "", f"{command}: {result.stdout}"
    assert sorted(os.listdir(".")) == before, os.listdir(".")


def accept(text, *arguments, **options):
    """`check` accepts the file; what it resolves to."""
    write(text)
    result = tap.run("check", "run.cfg", *arguments, **options)
    assert result.returncode == OK, result.stderr
    return result.stdout


def test_syntax_error():
    """1: a syntax error has its file and line"""
    refuse(BODIES + "time = {\n  step 0.25;\n};\n",
           "run.cfg:3: time.step: an equals sign is missing before '0.25'")
    refuse(BODIES + "time = { step = 0.25; end = 1.0;\n",
           "run.cfg:2: time: the '{' here is never closed by a '}'")
    refuse(BODIES + TIME + "outputs = ( { type = \"xyz\"; }, );\n",
           "run.cfg:3: outputs.1: a value is missing before ')'")


def test_unterminated_string():
    """1: an unterminated string has its file and line"""
    refuse(BODIES + TIME + '\nname = "a;\n',
           "run.cfg:4: name: a string starts here and does not end on this line")


def test_more_errors_than_fit():
    """of very many errors the first are told, and how many there are besides"""
    write(BODIES + TIME + "".join(f"quux{k:03d} = 1;\n" for k in range(400)))
    result = tap.run("check", "run.cfg")
    *told, rest = result.stderr.splitlines()
    assert result.returncode == CONFIG and len(told) > 100, result
    assert rest == f"... and {400 - len(told)} more errors", rest


def test_a_sweep_without_values():
    """2: a sweep over no values is refused, and makes no study of no runs"""
    refuse(BODIES + TIME + 'sweep = ( { key = "time.step"; values = []; } );\n',
           "run.cfg:3: sweep.0.values = []: must have at least one value")


def test_missing_include():
    """1: a missing @include has its file and line"""
    refuse(BODIES + TIME + '\n@include "gone.cfg"\n',
           'run.cfg:4: @include "gone.cfg": no such file beside this one or among the presets')


def test_an_include_that_is_no_file():
    """1: an @include of a pipe or a device is refused, and not waited for"""
    os.mkfifo("pipe.cfg")
    for name in ("pipe.cfg", "/dev/zero"):
        refuse(f'# a comment\n@include "{name}"\n',
               f'run.cfg:2: @include "{name}": is not a regular file')


def test_looping_include():
    """1: a looping @include has its file and line"""
    write('# on the second line\n@include "run.cfg"\n', "other.cfg")
    refuse('@include "other.cfg"\n', 'other.cfg:2: @include "run.cfg": includes itself')


def test_error_in_an_include():
    """1: an error in an included file has that file and line"""
    os.mkdir("part")
    write("time = {\n  step = 0;\n  end = 1.0;\n};\n", "part/time.cfg")
    refuse(BODIES + '@include "part/time.cfg"\n',
           "part/time.cfg:2: time.step = 0: must be greater than 0")


def test_misspelt_key():
    """2: a misspelt key, with the nearest known one"""
    refuse(BODIES + "time = {\n  stpe = 0.25;\n  step = 0.25;\n  end = 1.0;\n};\n",
           "run.cfg:3: time.stpe = 0.25: unknown key; did you mean time.step?")
    refuse(BODIES + TIME + "diagnostic = ();\n",
           "run.cfg:3: diagnostic = []: unknown key; did you mean diagnostics?")
    refuse(BODIES + TIME + "softening = 0.1;\n",
           "run.cfg:3: softening = 0.1: unknown key; did you mean physics.softening?")


def test_misspelt_choice():
    """2: a misspelt choice, with the nearest one and all of them"""
    refuse(BODIES + TIME + 'physics = { boundary = "periodc"; };\n',
           'run.cfg:3: physics.boundary = "periodc": must be one of open, periodic; did you mean '
           "periodic?")
    refuse(BODIES + TIME + "physics = { boundary = open; };\n",
           "run.cfg:3: physics.boundary = open: needs quotation marks; must be one of open, "
           "periodic")


def test_words_of_the_field():
    """2: what the field and other programs say instead, with the name that it has here"""
    for key, word, meant in (
            ("time.integrator", "verlet", "velocity-verlet"),
            ("time.integrator", "kdk", "velocity-verlet"),
            ("time.integrator", "dkd", "leapfrog-dkd"),
            ("time.integrator", "Forest-Ruth", "yoshida4"),
            ("compute.precision", "float", "single"),
            ("compute.precision", "FP64", "double"),
            ("compute.backend", "gpu", "cuda"),
            ("compute.backend", "CPU", "openmp"),
            ("compute.kernel", "third_law", "symmetric"),
            ("physics.boundary", "pbc", "periodic"),
            ("time.integrator", "hermite", "hermite4"),
            ("diagnostics.0.type", "rdf", "radial-distribution"),
            ("diagnostics.0.type", "energy", "conservation"),
            ("outputs.0.type", "hdf5", "gadget-hdf5")):
        write(BODIES + TIME + 'diagnostics = ( { type = "conservation"; } );\n'
              'outputs = ( { type = "xyz"; } );\n')
        result = tap.run("check", "run.cfg", "-P", f"{key}={word}")
        assert result.returncode == CONFIG and result.stderr.endswith(
            f"; did you mean {meant}?\n"), (key, word, result.stderr)
    # What is not the same thing, or one of several, is not called so.
    for word, nearest in (("whfast", "yoshida6"), ("ias15", "gauss-radau"), ("nbody6", "hermite4"),
                          ("Leapfrog", "velocity-verlet")):
        result = tap.run("check", "run.cfg", "-P", f"time.integrator={word}")
        assert f"; the nearest here is {nearest}: " in result.stderr, result.stderr
        quoted = tap.run("check", "run.cfg", "-P", f'time.integrator="{word}"')
        assert f"; the nearest here is {nearest}: " in quoted.stderr, quoted.stderr
    result = tap.run("check", "run.cfg", "-P", "outputs.0.type=lammps")
    assert "; the nearest here is xyz: " in result.stderr, result.stderr
    for key, meant in (("step", "time.step"), ("dt", "time.step"), ("time.dt", "time.step"),
                       ("tmax", "time.end"), ("eps", "physics.softening"), ("N", "bodies.count"),
                       ("nthreads", "compute.threads")):
        result = tap.run("check", "run.cfg", "-P", f"{key}=1")
        assert result.returncode == CONFIG and result.stderr == (
            f"-P {key}=1: unknown key; did you mean {meant}?\n"), result.stderr


def test_expectation_without_its_diagnostic():
    """2: an expectation on a column of a diagnostic that is off says which one to add"""
    text = BODIES + TIME + 'diagnostics = ( { type = "virial"; } );\n'
    refuse(text + 'expect = ( { quantity = "energy_error"; at_most = 1.0; } );\n',
           'run.cfg:4: expect.0.quantity = "energy_error": no diagnostic of this run has such a '
           'column; add { type = "conservation"; } to `diagnostics`, which measures it')
    refuse(text + 'expect = ( { quantity = "orbit.period"; at_most = 1.0; } );\n',
           'run.cfg:4: expect.0.quantity = "orbit.period": no diagnostic of this run has such a '
           'column; add { type = "orbit"; } to `diagnostics`, which measures it')


def test_what_is_not_here():
    """12: a missing file of bodies and a missing GPU are named with the line of the config"""
    refuse('bodies = {\n  initial = "file";\n  file = "gone.csv"; };\n' + TIME,
           f'run.cfg:3: bodies.file = "{os.getcwd()}/gone.csv": No such file or directory',
           status=NO_INPUT)
    write(BODIES + TIME + 'compute = { backend = "cuda"; };\n')
    result = tap.run("check", "run.cfg", env=dict(os.environ, CUDA_VISIBLE_DEVICES=""))
    assert result.returncode == 69 and result.stderr.startswith(
        'run.cfg:3: compute.backend = "cuda": '), result.stderr


def test_key_of_another_type():
    """2: a key that does not apply to the chosen type"""
    refuse('bodies = { initial = "plummer"; count = 8;\n  half_side = 2.0; };\n' + TIME,
           'run.cfg:2: bodies.half_side = 2.0: does not apply to initial = "plummer"; it belongs '
           "to uniform-cube")
    refuse(BODIES + TIME + "physics = { box_length = 2.0; };\n",
           'run.cfg:3: physics.box_length = 2.0: does not apply to boundary = "open"; it belongs '
           "to periodic")


def test_wrong_type():
    """3: values of the wrong type"""
    refuse(BODIES + 'time = { step = "0.25"; end = true; };\n',
           'run.cfg:2: time.step = "0.25": must be a number greater than 0',
           "run.cfg:2: time.end = true: must be a number greater than 0")
    refuse(BODIES + TIME + "physics = 1;\n",
           "run.cfg:3: physics: must be a group: physics = { ... }")


def test_steps_out_of_range():
    """3: a step of 0, below 0, NaN, infinite, or beyond a double"""
    for value, reason in (("0", "0: must be greater than 0"),
                          ("-0.25", "-0.25: must be greater than 0"),
                          ("nan", "nan: must be a number greater than 0"),
                          ("inf", "inf: must be a number greater than 0"),
                          ("1e999", "1e999: too large a number; must be a number greater than 0")):
        refuse(BODIES + f"time = {{ step = {value}; end = 1.0; }};\n",
               f"run.cfg:2: time.step = {reason}")


def test_whole_and_real_numbers():
    """3: step = 1 is 1.0; count = 1.9 is refused, count = 1e1 is 10"""
    assert "step = 1.0;" in accept(BODIES + "time = { step = 1; end = 2; };\n")
    assert "count = 10;" in accept(BODIES.replace("8", "1e1") + TIME)
    refuse(BODIES.replace("8", "1.9") + TIME,
           "run.cfg:1: bodies.count = 1.9: must be a whole number at least 1 and at most "
           "2147483647")


def test_counts_that_overflow():
    """4: counts that wrap in 32 or 64 bits, or need more memory than there is"""
    wanted = "must be a whole number at least 1 and at most 2147483647"
    refuse(BODIES.replace("8", "12345678901234567890") + TIME,
           f"run.cfg:1: bodies.count = 12345678901234567890: too large a number; {wanted}")
    refuse(BODIES.replace("8", "0x10000000000000001") + TIME,
           f"run.cfg:1: bodies.count = 0x10000000000000001: too large a number; {wanted}")
    # 2^32 + 1: 1 after a wrap.
    refuse(BODIES.replace("8", "0x100000001") + TIME,
           "run.cfg:1: bodies.count = 4294967297: must be at least 1 and at most 2147483647")


def test_count_times_size():
    """4: systems x count x size beyond SIZE_MAX, before any allocation"""
    write(BODIES.replace("8", "2000000000") + TIME + "ensemble = { systems = 1000000000; };\n")
    result = tap.run("check", "run.cfg")
    assert result.returncode == CONFIG, (result.returncode, result.stderr)
    assert result.stderr.startswith("run.cfg:"), result.stderr
    assert result.stderr.count("\n") == 1, result.stderr


def test_counts_of_none_and_one():
    """5: no body is refused, one body runs"""
    refuse(BODIES.replace("8", "0") + TIME,
           "run.cfg:1: bodies.count = 0: must be at least 1 and at most 2147483647")
    refuse('bodies = { initial = "galaxy"; disc_count = 2147483647; disc_mass = 1.0; '
           'halo_count = 1; halo_mass = 1.0; halo_scale_radius = 1.0; '
           'halo_cutoff_radius = 10.0; };\n'
           "time = { step = 0.1; end = 1.0; };\n",
           "run.cfg:1: bodies: 2147483648 bodies are more than 2147483647, the most")
    accept(BODIES.replace("8", "1") + TIME)
    result = tap.run("run", "run.cfg", "-q")
    assert result.returncode == OK, result.stderr


def test_all_errors_at_once():
    """all errors of a file come in one pass, in its order"""
    refuse('bodies = {\n  initial = "uniform-cube";\n  count = 0;\n  sed = 1;\n};\n'
           "time = { step = 1e999; };\n"
           'physics = { units = "nbdy"; };\n',
           "run.cfg:3: bodies.count = 0: must be at least 1 and at most 2147483647",
           "run.cfg:4: bodies.sed = 1: unknown key; did you mean bodies.seed?",
           "run.cfg:6: time.step = 1e999: too large a number; must be a number greater than 0",
           "run.cfg:6: time.end: must be given: a number greater than 0",
           'run.cfg:7: physics.units = "nbdy": must be one of nbody, astronomical, galactic, si, '
           "pc-msun-kms, pc-msun-myr; did you mean nbody?")


def test_overrides():
    """-P changes a key, and is named in its errors"""
    assert "step = 0.125;" in accept(BODIES + TIME, "-P", "time.step=0.125")
    assert 'integrator = "euler";' in accept(BODIES + TIME, "-P", "time.integrator=euler")
    refuse(BODIES + TIME, "-P time.step=-1: must be greater than 0",
           arguments=("-P", "time.step=-1"))
    refuse(BODIES + TIME, "-P tme.step=1: tme = { ... }: unknown key; did you mean time?",
           arguments=("-P", "tme.step=1"))
    refuse(BODIES + TIME, "-P time.step: must be key.path=value", status=USAGE,
           arguments=("-P", "time.step"))


def test_missing_file():
    """12: a config file that is missing, or a directory"""
    result = tap.run("check", "gone.cfg")
    assert (result.returncode, result.stderr) == (
        NO_INPUT, "gone.cfg: No such file or directory\n"), result.stderr
    os.mkdir("folder.cfg")
    result = tap.run("check", "folder.cfg")
    assert (result.returncode, result.stderr) == (
        NO_INPUT, "folder.cfg: Is a directory\n"), result.stderr


def test_binary_file():
    """12: bytes that are no text"""
    refuse(b"\x1f\x8b\x08\x00" + bytes(range(256)), "run.cfg:1: byte 0x1f is not text")
    refuse(BODIES.encode() + b"\x00", "run.cfg:2: byte 0x00 is not text")


def test_line_ends_and_locale():
    """11: CR LF, a BOM, tabs, no final newline and the locale change nothing"""
    text = BODIES + "time = {\n\tstep = 0.25; # a comment\n\tend = 1.0;\n};"
    expected = accept(text).split("# estimate")[0]
    assert "step = 0.25;" in expected
    assert accept(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()).split("# estimate")[0] \
        == expected
    environment = dict(os.environ, LC_ALL="de_DE.UTF-8", LC_NUMERIC="de_DE.UTF-8")
    assert accept(text, env=environment).split("# estimate")[0] == expected


def test_echo_reads_back():
    """what check prints is a config file that resolves to itself"""
    first = accept(BODIES + "time = { step = 0.1; end = 0.30000000000000004; };\n")
    assert "end = 0.30000000000000004;" in first
    assert accept(first).split("# estimate")[0] == first.split("# estimate")[0]


def test_presets():
    """presets are found in $ORRERY_DATA, and can be read"""
    presets = os.path.join(tap.SOURCE, "config")
    environment = dict(os.environ, ORRERY_DATA=presets)
    planets = 'bodies = { initial = "outer-solar-system"; };\n'
    assert 'units = "astronomical";' in accept(
        planets + TIME + '@include "solar-system.cfg"\n', env=environment)
    assert 'backend = "serial";' in accept(
        BODIES + TIME + '@include "reproducible.cfg"\n', env=environment)
    assert 'quantity = "energy_error";' in accept(
        BODIES + TIME + '@include "energy.cfg"\n', env=environment)


def test_info():
    """info shows every name, explains any of them, and fits 80 columns"""
    overview = tap.run("info").stdout
    for name in ("plummer", "velocity-verlet", "openmp", "conservation", "xyz", "checkpoint"):
        assert f"\n  {name} " in overview, name
    for arguments in ((), ("plummer",), ("physics",), ("conservation",), ("yoshida4",), ("step",)):
        result = tap.run("info", *arguments)
        assert result.returncode == OK, result.stderr
        assert max(map(len, result.stdout.splitlines())) <= 80, arguments
    assert "count" in tap.run("info", "plummer").stdout
    assert tap.run("info", "time.step").stdout.startswith("time.step\n")
    for name, words in (("tiled", "shared memory"), ("mixed", "Pair terms in fp32"),
                        ("energy_error", "conservation.energy_error, a column"),
                        ("orbit.period", "orbit.period, a column")):
        assert words in tap.run("info", name).stdout, name
    # Every key of every group and variant stands in the overview, and every name is explained.
    keys = {line.split("\t")[0].rsplit(".", 1)[-1] for line in
            tap.run("info", "--keys").stdout.splitlines()}
    words = set(overview.replace("[", " ").replace("]", " ").replace(",", " ").split())
    assert len(keys) > 60 and not keys - words, keys - words
    names = tap.run("info", "--names").stdout.split()
    assert {"tiled", "energy_error"} <= set(names)
    assert tap.run("info", *sorted(set(names))).returncode == OK
    result = tap.run("info", "plumer")
    assert result.returncode == USAGE
    assert result.stderr == "orrery info: nothing is called 'plumer'; did you mean plummer?\n"


def test_info_writes_the_reference():
    """info writes config/defaults.cfg, and a man page without complaints"""
    with open(os.path.join(tap.SOURCE, "config", "defaults.cfg"), encoding="utf-8") as file:
        assert tap.run("info", "--defaults").stdout == file.read()
    manual = tap.run("info", "--man").stdout
    assert manual.count(".TP\n") > 40
    if not shutil.which("mandoc"):
        return
    write(manual, "orrery.cfg.5")
    lint = tap.subprocess.run(["mandoc", "-Tlint", "-W", "warning", "orrery.cfg.5"],
                              capture_output=True, text=True, check=False)
    complaints = [line for line in lint.stdout.splitlines() if "missing date" not in line]
    assert not complaints, complaints


def test_all_errors_of_a_file():
    """what cannot be read takes its statement alone: all others are told in the same pass"""
    pathlib.Path("x.cfg").write_text("""bodies = { initial "two-body"; };
time.step = 0.01;
physics = { softening == 3; unitz = 3; boundary = "closed"; box 4 };
a ^ 5;
compute = { threads = 1 2; threads = -5; precision = 'double'; };
outputs = ( { type = "xyz"; every = ten; }, { type = "xyz" every = 0; } );
""")
    result = tap.run("check", "x.cfg")
    assert result.returncode == 78, result
    assert result.stderr.splitlines() == [
        "x.cfg:1: bodies.initial: an equals sign is missing before '\"two-body\"'",
        "x.cfg:2: time: an equals sign is missing before '.step'",
        "x.cfg:3: physics.softening: a value was expected before '='",
        "x.cfg:3: physics.box: an equals sign is missing before '4'",
        "x.cfg:4: a: unexpected '^'; a string needs quotation marks",
        "x.cfg:5: compute.threads: a semicolon was expected before '2'",
        "x.cfg:5: compute.threads: given twice; first at x.cfg:5",
        "x.cfg:3: physics.unitz = 3: unknown key; did you mean physics.units?",
        'x.cfg:3: physics.boundary = "closed": must be one of open, periodic',
        "x.cfg:5: compute.precision = 'double': strings have straight double quotation marks: "
        'write "double"; must be one of double, mixed, single',
        "x.cfg:6: outputs.0.every = ten: must be a whole number at least 1",
        "x.cfg:6: outputs.1.every = 0: must be at least 1"], result.stderr


def test_the_mistakes_of_the_manual():
    """each row of its table: what is written, and what is said, word by word; 64 or 78"""
    path = pathlib.Path(tap.SOURCE, "docs/manual/config-file.md")
    table = path.read_text().split("### Mistakes and their messages")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(.+?)` \| (.+) \|$", table, re.M)
    assert len(rows) >= 40, len(rows)
    pathlib.Path("orbit.cfg").write_text('bodies = { initial = "two-body"; };\n'
                                         "time = { step = 0.01; end = 1.0; };\n")
    for written, said in rows:
        if written.startswith("orrery "):
            result = tap.run(*written.split()[1:])
        else:
            base = 'bodies = { initial = "two-body"; };\n'
            base += "" if written.startswith("time") else "time = { step = 0.01; end = 1.0; };\n"
            pathlib.Path("x.cfg").write_text(base + written + "\n")
            result = tap.run("check", "x.cfg")
            said = f"x.cfg:{base.count(chr(10)) + 1}: {said}"
        names = re.escape(said).replace(re.escape(", ..., "), r", (?:[\w-]+, )+")
        assert result.returncode in (64, 78) and re.fullmatch(names + "\n", result.stderr), \
            f"the table of mistakes in {path}: {written}: {said}\nthe program says: {result.stderr}"


def test_what_looks_like_a_mistake_and_is_none():
    """without semicolons, with commas between keys, and with comments behind values"""
    for time in ("step = 0.01 end = 1.0", "step = 0.01, end = 1.0", "step : 0.01 end : 1.0",
                 "step = 1e-2 // of 2*3.14\n end = 1.0", "step = 0.01 # 0,01\n end = 1.0"):
        pathlib.Path("x.cfg").write_text('bodies = { initial = "two-body"; };\n'
                                         f"time = {{ {time} }};\n")
        result = tap.run("run", "x.cfg", "--dry-run")
        assert result.returncode == 0, (time, result)


tap.main()
