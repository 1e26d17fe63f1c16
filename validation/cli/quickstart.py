"""quickstart on machines that lack something; other programs stand in for the installers."""

import os
import pathlib
import re
import shutil
import stat
import subprocess

import tap

# Programs of the system that the script itself calls.
TOOLS = ("sh", "sed", "dirname", "getconf", "sort", "tr", "cat", "env", "grep", "rm", "touch")
MET = ("make", "c++", "autoconf", "automake", "gnuplot", "cc", "python3")
# What an installer brings: the modules that pkg-config then knows.
BRINGS = """#!/bin/sh
echo "$0 $*" | sed 's,.*/,,' >>"$LOG"
case "$*" in *install*) rm -f missing-* ;; esac
"""


def program(path, text="#!/bin/sh\nexit 0\n"):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def machine(missing=(), without=(), installers=("apt-get",)):
    """A folder with quickstart, and the environment of a machine that lacks these modules."""
    here = pathlib.Path.cwd()
    shutil.copy(pathlib.Path(tap.SOURCE, "quickstart"), here)
    programs = here / "bin"
    programs.mkdir()
    for name in TOOLS:
        (programs / name).symlink_to(shutil.which(name))
    for name in set(MET) - set(without):
        program(programs / name)
    program(programs / "id", "#!/bin/sh\necho 0\n")
    program(programs / "pkg-config", "#!/bin/sh\n[ ! -e missing-$2 ]\n")
    for name in installers:
        program(programs / name, BRINGS)
    for module in missing:
        pathlib.Path(f"missing-{module}").touch()
    program(here / "configure", '#!/bin/sh\necho configure >>"$LOG"\ntouch Makefile\n')
    program(here / "orrery", '#!/bin/sh\necho "orrery $1" >>"$LOG"\n')
    return {"PATH": str(programs), "LOG": str(here / "log"), "PYTHON": "false"}


def start(environment, *arguments):
    result = subprocess.run(["./quickstart", *arguments], capture_output=True, text=True,
                            env=environment, timeout=60 * tap.PATIENCE)
    log = pathlib.Path("log")
    return result, log.read_text().split("\n")[:-1] if log.exists() else []


def test_nothing_missing():
    """where nothing is missing it builds, runs the example and its report, and says what to open"""
    result, log = start(machine())
    assert result.returncode == 0, result
    assert log == ["configure", "orrery run", "orrery report"], log
    assert "report.html" in result.stdout


def test_hdf5():
    """HDF5 is among the needs, so that every output works in the first hour"""
    result, log = start(machine(missing=("hdf5", "hdf5-serial")))
    assert result.returncode == 0, result
    assert any("install libhdf5-dev" in line for line in log), log
    assert log.index("configure") > [k for k, line in enumerate(log) if "install" in line][0]
    shutil.rmtree("bin")
    for name in ("quickstart", "configure", "orrery", "log", "Makefile"):
        os.remove(name)
    # One of the two names by which pkg-config may know it is enough.
    result, log = start(machine(missing=("hdf5-serial",)))
    assert result.returncode == 0 and not [line for line in log if "install" in line], (result, log)


def test_configured_before():
    """a build that was configured without a library is configured anew when it has come"""
    environment = machine(missing=("hdf5", "hdf5-serial"))
    pathlib.Path("Makefile").touch()
    program(pathlib.Path("config.status"), '#!/bin/sh\necho "status $*" >>"$LOG"\n')
    result, log = start(environment)
    assert result.returncode == 0 and "status --recheck" in log and "configure" not in log, log


def test_homebrew():
    """with Homebrew it installs formulas by their own names, and a compiler is Xcode's"""
    result, log = start(machine(missing=("gsl", "libconfig", "libxxhash", "hdf5", "hdf5-serial"),
                                installers=("brew",)))
    assert result.returncode == 0, result
    assert "brew install gsl hdf5 libconfig xxhash" in log, log
    shutil.rmtree("bin")
    for name in ("quickstart", "configure", "orrery", "log", "Makefile"):
        os.remove(name)
    result, log = start(machine(without=("make",), installers=("brew",)))
    assert result.returncode == 1 and "xcode-select --install" in result.stderr, result
    assert not [line for line in log if line.startswith("orrery")]


def test_no_installer():
    """without an installer all that is missing is named at once, and nothing is built"""
    result, log = start(machine(missing=("gsl", "hdf5", "hdf5-serial"), without=("gnuplot",),
                                installers=()))
    assert result.returncode == 1 and log == [], (result, log)
    for package in ("gnuplot-nox", "libgsl-dev", "libhdf5-dev"):
        assert package in result.stderr, result.stderr
    result, log = start({**os.environ, "PATH": str(pathlib.Path("bin").absolute()),
                         "LOG": str(pathlib.Path("log").absolute())}, "all")
    assert result.returncode == 64 and "./quickstart check" in result.stderr, result


def test_manual():
    """getting-started names the packages of both installers, and no others"""
    script = pathlib.Path(tap.SOURCE, "quickstart").read_text()
    rows = [line.split()[:2] for line in re.search(r"LIST\n(.*?)LIST", script, re.S).group(1)
            .strip().split("\n")]
    manual = pathlib.Path(tap.SOURCE, "docs/manual/getting-started.md").read_text()
    for installer, column in (("apt install", 0), ("brew install", 1)):
        command = re.search(rf"{installer} ((?:[^\n]*\\\n)*[^\n]*)", manual)
        named = set(command.group(1).replace("\\\n", " ").split())
        assert named == {row[column] for row in rows} - {"-"}, (installer, named)


tap.main()
