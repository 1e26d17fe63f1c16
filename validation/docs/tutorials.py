"""The tutorials: their files and lines fit the sources and compile, and their experiments hold.

The changed files are compiled by the commands of the build and linked with its library instead of
those that they change; so the test needs seconds and no second build.
"""

import concurrent.futures
import csv
import functools
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import tap

BUILD = os.environ.get("ORRERY_BUILD", ".")
PAGES = ("add-a-diagnostic", "add-an-integrator", "add-a-start")
BLOCK = re.compile(r"^```(c|cfg|diff) ?(\S*)\n(.*?)^```$", re.M | re.S)
# The number that a reader of add-an-integrator finds: 1e-4 of the energy at the pericentre, by the
# test of validation/unit/motion.c.
PASSAGE = "26"


def blocks(page):
    """The blocks of a page that are files or patches: kind, name and text."""
    text = pathlib.Path(tap.SOURCE, f"docs/tutorials/{page}.md").read_text(encoding="utf-8")
    return BLOCK.findall(text)


def insert(path, block):
    """Puts the lines of a block that begin with + behind the others, which the file has once."""
    lines = block.replace("PASSAGE", PASSAGE).splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] == " ")
    new = "".join(line[1:] for line in lines)
    text = path.read_text(encoding="utf-8")
    assert all(line[0] in " +" for line in lines) and text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def write(page, tree):
    """Writes the files of a page, and its lines into a copy of the sources; the changed files."""
    changed = []
    for kind, name, text in blocks(page):
        if kind == "diff":
            if not (tree / name).exists():  # a test, which is not compiled here
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(pathlib.Path(tap.SOURCE, name), tree / name)
            insert(tree / name, text)
        else:
            path = pathlib.Path(name) if kind == "cfg" else tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        changed += [name] if name.startswith("src/") else []
    return changed


def make(*arguments):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR")}
    result = subprocess.run(["make", "-C", BUILD, *arguments], capture_output=True, text=True,
                            env=environment)
    assert result.returncode == 0, result
    return result.stdout


# The headers with a table of rows at their end.
TABLES = ("diagnostics/diagnostic.h", "initial/initial.h")


def sources_of(tree, changed):
    """The sources to be compiled: the changed ones, and all that include a changed header. One of
    rows concerns those that use its rows; the others get a declaration more."""
    headers = [name.removeprefix("src/") for name in changed if name.endswith(".h")]
    found = {name for name in changed if name.endswith(".c")}
    for path in (tree / "src").rglob("*.c"):
        text = path.read_text(encoding="utf-8")
        if any(f'"{name}"' in text and (name not in TABLES or "_ROWS(" in text)
               for name in headers):
            found.add(str(path.relative_to(tree)))
    return sorted(found)


@functools.cache
def commands():
    """The words by which the build compiles a source, and those by which it links the program."""
    make("-s", "compile_commands.json")
    found = json.loads(pathlib.Path(BUILD, "compile_commands.json").read_text())
    line = next(line for line in make("-n", "-W", "liborrery.a", "V=1", "orrery").split("\n")
                if " -o orrery " in line)
    return next(one["arguments"] for one in found
                if one["file"].endswith("src/initial/uniform.c"))[:-1], shlex.split(line)


def build(tree, changed):
    """Compiles the changed sources without optimisation and links them, and what was compiled for
    this tree before, with the build's library."""
    arguments, words = (list(one) for one in commands())
    place = arguments.index(next(word for word in arguments if word.startswith("-I")))
    tree = tree.absolute()
    arguments[place:place] = [f"-I{tree}/src"]

    def compiled(source):
        target = tree / (source.replace("/", "-") + ".o")
        quick = [] if source in changed else ["-O0", "-w"]
        result = subprocess.run([*arguments, *quick, tree / source, "-o", target], cwd=BUILD,
                                capture_output=True, text=True)
        assert result.returncode == 0, result.stderr

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(compiled, sources_of(tree, changed)))
    words[words.index("orrery")] = str(tree / "orrery")
    library = words.index("liborrery.a")
    words[library:library] = sorted(map(str, tree.glob("*.o")))
    result = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return tree / "orrery"


def program(page):
    """The program with what the page adds; the page's configs are in the current directory."""
    if not pathlib.Path(BUILD, "Makefile").exists():
        raise tap.Skip("no Makefile in the build directory")
    tree = pathlib.Path("tree")
    shutil.copytree(pathlib.Path(tap.SOURCE, "src"), tree / "src")
    subprocess.run(["chmod", "-R", "u+w", tree], check=True)
    return build(tree, write(page, tree))


def run(orrery, *arguments):
    return subprocess.run([orrery, *arguments], capture_output=True, text=True)


def test_add_a_diagnostic():
    """the diagnostic of the tutorial is right for a pair; without the centre it is not"""
    orrery = program("add-a-diagnostic")
    described = run(orrery, "info", "inertia").stdout
    assert "rms_radius" in described and "Moment of inertia" in described, described
    result = run(orrery, "run", "inertia.cfg", "-q")
    assert result.returncode == 0, result
    with open("inertia.run/inertia.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header[2:] == ["inertia [M L^2]", "rms_radius [L]"], header
    # I = mu a^2 = 1/2; velocity Verlet moves the pair outwards by up to (Omega h)^2/2 = 1e-4.
    assert all(0 <= float(row[2]) - 0.5 < 1.1e-4 for row in rows) and len(rows) > 40, rows
    # Away from the origin the centre counts: the page names this run as its test.
    away = ("run", "inertia.cfg", "-q", "--force", "-o", "away.run", "-P", "bodies.center=false")
    assert run(orrery, *away).returncode == 0, run(orrery, *away)
    source = pathlib.Path("tree/src/diagnostics/inertia.c")
    text = source.read_text(encoding="utf-8")
    source.write_text(re.sub(r" - c->center\[\d\]", "", text), encoding="utf-8")
    wrong = build(pathlib.Path("tree"), ["src/diagnostics/inertia.c"])
    assert run(wrong, "run", "inertia.cfg", "-q", "--force").returncode == 0
    assert run(wrong, *away).returncode == 1, run(wrong, *away)
    box = run(orrery, "check", "inertia.cfg", "-P", "physics.boundary=periodic")
    assert box.returncode == 78, box


def test_add_an_integrator():
    """the method of the tutorial has the third order, and none with a wrong coefficient"""
    tap.thorough()
    orrery = program("add-an-integrator")
    assert "third order" in run(orrery, "info", "ruth3").stdout

    def factors():
        result = run(orrery, "run", "ruth3.cfg", "-q", "--force")
        assert result.returncode in (0, 1), result
        with open("ruth3.sweep/study.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        name = next(name for name in rows[0] if name.startswith("conservation.energy_error"))
        errors = [float(row[name]) for row in rows]
        return [one / next_ for one, next_ in zip(errors, errors[1:], strict=False)]

    # 2^3 up to the next power of h; the page has these factors.
    page = pathlib.Path(tap.SOURCE, "docs/tutorials/add-an-integrator.md").read_text()
    assert "falls by " + "{:.1f}, {:.1f} and {:.1f} ".format(*factors()) in page, factors()
    assert all(abs(math.log2(factor) - 3) < 0.3 for factor in factors()), factors()
    source = pathlib.Path("tree/src/integrator/integrator.c")
    text = source.read_text(encoding="utf-8")
    assert text.count("KICK(3.0 / 4)") == 1
    source.write_text(text.replace("KICK(3.0 / 4)", "KICK(2.0 / 3)"), encoding="utf-8")
    orrery = build(pathlib.Path("tree"), ["src/integrator/integrator.c"])
    assert all(abs(math.log2(factor)) < 1.6 for factor in factors()), factors()


def test_add_a_start():
    """the polygon of the tutorial turns once and comes back; one with another number of corners
    does not fit its criteria"""
    tap.thorough()
    orrery = program("add-a-start")
    assert "regular polygon" in run(orrery, "info", "polygon").stdout
    result = run(orrery, "run", "polygon.cfg", "-q")
    assert result.returncode == 0, result
    square = run(orrery, "run", "polygon.cfg", "-q", "-o", "4.run", "-P", "bodies.count=4")
    assert square.returncode == 1, square
    units = run(orrery, "check", "polygon.cfg", "-P", "physics.units=si")
    assert units.returncode == 78 and "bodies.mass" in units.stderr, units


def test_layout():
    """the sources with what the pages add have the layout that the test of style demands"""
    if not shutil.which("clang-format-14"):
        raise tap.Skip("clang-format-14 is not installed")
    paths = []
    for page in PAGES:
        tree = pathlib.Path(page)
        write(page, tree)
        shutil.copy(pathlib.Path(tap.SOURCE, ".clang-format"), tree)
        paths += tree.rglob("*.[ch]")
    result = subprocess.run(["clang-format-14", "--dry-run", "-Werror", *paths],
                            capture_output=True, text=True)
    assert len(paths) >= 6 and result.returncode == 0, result.stderr


def test_lines_that_do_not_fit_are_seen():
    """lines that are not in the sources, behind which others should stand, are an error"""
    tree = pathlib.Path("tree")
    (tree / "src/initial").mkdir(parents=True)
    (tree / "src/initial/initial.h").write_text("/* empty */\n")
    try:
        write("add-a-start", tree)
    except AssertionError:
        return
    raise AssertionError("they were inserted")


tap.main()
