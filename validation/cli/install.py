"""make install and uninstall with DESTDIR; the tarball's commit; the recipes of packages."""

import os
import pathlib
import re
import shutil
import subprocess

import tap

BUILD = os.environ.get("ORRERY_BUILD", ".")
EXPECTED = (
    "bin/orrery",
    "share/man/man1/orrery.1",
    "share/man/man5/orrery.cfg.5",
    "share/orrery/energy.cfg",
    "share/orrery/defaults.cfg",
    "share/doc/orrery/README.md",
    "share/doc/orrery/docs/manual/outputs.md",
    "share/doc/orrery/examples/plummer-sphere/run.cfg",
    "share/doc/orrery/examples/ovito/render.py",
    "share/doc/orrery/examples/course/grade.py",
    "share/bash-completion/completions/orrery",
    "share/zsh/site-functions/_orrery",
)


def make(*arguments):
    if not pathlib.Path(BUILD, "Makefile").exists():
        raise tap.Skip("no Makefile in the build directory")
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR")}
    result = subprocess.run(["make", "-s", "-C", BUILD, *arguments], capture_output=True, text=True,
                            env=environment, timeout=300 * tap.PATIENCE)
    assert result.returncode == 0, result
    return result.stdout


def source(name):
    return pathlib.Path(tap.SOURCE, name).read_text()


def test_destdir():
    """make install puts everything below DESTDIR, what is there works, uninstall removes it"""
    root = pathlib.Path("root").absolute()
    make("install", f"DESTDIR={root}", "prefix=/opt/orrery")
    prefix = root / "opt/orrery"
    files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    assert set(EXPECTED) <= files, set(EXPECTED) - files
    assert {path.name for path in root.iterdir()} == {"opt"}
    program = prefix / "bin/orrery"
    pathlib.Path("my.cfg").write_text(
        '@include "energy.cfg"\nbodies = { initial = "figure-eight"; };\n'
        "time = { step = 0.01; end = 0.1; };\n")
    result = subprocess.run([program, "run", "my.cfg", "-q"], capture_output=True, text=True,
                            env={**os.environ, "ORRERY_DATA": str(prefix / "share/orrery")})
    assert result.returncode in (0, 1), result
    assert pathlib.Path("my.run/run.json").exists(), result
    make("uninstall", f"DESTDIR={root}", "prefix=/opt/orrery")
    assert not [path for path in root.rglob("*") if path.is_file()]


def test_commit():
    """--version and run.json tell commit, compiler and options, also of a build from a tarball"""
    text = tap.run("--version").stdout
    commit = re.search(r"\((\S+)\)", text).group(1)
    kept = pathlib.Path(tap.SOURCE, ".tarball-commit")
    if kept.exists():
        assert commit == kept.read_text().strip(), (commit, kept.read_text())
    elif pathlib.Path(tap.SOURCE, ".git").exists() and shutil.which("git"):
        head = subprocess.run(["git", "-C", tap.SOURCE, "rev-parse", "HEAD"], capture_output=True,
                              text=True).stdout
        # Of a build that is not new, the commit of that time.
        assert re.fullmatch(r"[0-9a-f]{12}(-dirty)?", commit) or not head, text
    assert re.search(r"compiler +(gcc|clang|GCC)", text) and re.search(r"options +-", text), text


def test_package():
    """the recipes of packages name this version, the libraries of configure, and one package set"""
    version = re.search(r"AC_INIT\(\[Orrery\], \[([\d.]+)\]", source("configure.ac")).group(1)
    assert source("debian/changelog").startswith(f"orrery ({version})")
    wanted = set(re.findall(r"ORRERY_LIBRARY\(\[\w+\], \[[^]]*\], \[([\w.-]+)\]\)",
                            source("configure.ac")))
    assert len(wanted) >= 5
    for recipe in ("debian/control", "Containerfile"):
        missing = {package for package in wanted if package not in source(recipe)}
        assert not missing, (recipe, missing)
    # The site is a package of its own, which a build without Sphinx leaves out.
    control = source("debian/control")
    assert re.search(r"^Package: orrery-doc\n(?:\S.*\n)*Build-Profiles: <!nodoc>$", control, re.M)
    assert "python3-sphinx <!nodoc>, python3-myst-parser <!nodoc>" in control
    assert "install-html DESTDIR='$(CURDIR)/debian/orrery-doc'" in source("debian/rules")


def container():
    """The instructions of Containerfile as (word, rest), with lines that go on made one."""
    text = re.sub(r"^#.*\n", "", source("Containerfile"), flags=re.M).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.split("\n") if line.strip()]


def installed_by(line):
    """The packages that a line of apt-get installs."""
    return set(re.search(r"--no-install-recommends ([^&]*)", line).group(1).split())


def test_container_lines():
    """Containerfile builds what quickstart builds, and its image has each library of the program"""
    lines = container()
    assert [rest.split()[0] for word, rest in lines if word == "FROM"] == \
        ["docker.io/library/debian:12-slim"] * 2
    build, image = [installed_by(rest) for word, rest in lines if "apt-get" in rest]
    rows = re.search(r"LIST\n(.*?)LIST", source("quickstart"), re.S).group(1)
    needs = {line.split()[0] for line in rows.strip().split("\n")} - {"gnuplot-nox"}
    assert build == needs | {"git", "ca-certificates"}, build ^ needs
    options = set(re.findall(r"--with-[a-z0-9]+", " ".join(rest for _, rest in lines)))
    known = subprocess.run([pathlib.Path(tap.SOURCE, "configure"), "--help"], capture_output=True,
                           text=True).stdout
    assert options and all(option in known for option in options), options
    assert ("ENTRYPOINT", '["orrery"]') in lines and ("WORKDIR", "/work") in lines, lines
    system = pathlib.Path("/etc/os-release")
    if not system.exists() or 'VERSION_ID="12"' not in system.read_text() or \
            not shutil.which("objdump"):
        raise tap.Skip("the packages that libraries are in are those of Debian 12")
    needed = re.findall(r"NEEDED +(\S+)", subprocess.run(
        ["objdump", "-p", tap.ORRERY], capture_output=True, text=True).stdout)
    owners = subprocess.run(["dpkg", "-S", *[f"*/{name}" for name in needed]],
                            capture_output=True, text=True).stdout
    owners = {re.sub(r":.*", "", line) for line in owners.split("\n")
              if re.search(r"/lib/\S*linux-gnu/[^/]+$", line)}
    # What apt itself is linked to is there before; if GCC built without MPI, CUDA and sanitizers,
    # no library is left over.
    if not re.search(r"mpi|cuda|san|libomp", " ".join(needed)):
        missing = owners - image - {"libc6", "libgcc-s1", "libstdc++6"}
        assert not missing, missing
        assert image - owners - {"gnuplot-nox"} == set(), image - owners


def test_container_sources():
    """what a build leaves in the tree stays out of the container: .dockerignore is .gitignore"""
    def translated(line):
        pattern = line.lstrip("!").rstrip("/")
        pattern = pattern[1:] if pattern.startswith("/") else f"**/{pattern}"
        return "!" * line.startswith("!") + pattern

    def lines(name):
        return [line for line in source(name).split("\n") if line and not line.startswith("#")]

    if not pathlib.Path(tap.SOURCE, ".gitignore").exists():
        raise tap.Skip("no .gitignore: these are the sources of a tarball")
    assert lines(".dockerignore") == [translated(line) for line in lines(".gitignore")]
    assert "config.status" in lines(".dockerignore")


tap.main()
