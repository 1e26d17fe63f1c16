"""A small frame for tests that speak TAP: functions named test_*, run in order of definition."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ORRERY = os.environ.get("ORRERY", "./orrery")
SOURCE = os.environ.get("ORRERY_SOURCE",
                        os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# How many times slower than an optimised build this one may be (sanitizers); scales time limits.
PATIENCE = float(os.environ.get("ORRERY_PATIENCE", "1"))

# Also what is slow and finds little: 1 asks for all of it, any other word, as a commit, for a
# quarter of the tests, which the word draws.
WISH = os.environ.get("ORRERY_THOROUGH", "")
current = os.path.basename(sys.argv[0])  # the test that runs, at first the script


def scratch():
    """The folder for the directories of the tests: one in memory if it has room and runs programs,
    since a disk makes them wait for a fifth of their time; None: that of TMPDIR, or the usual
    one."""
    path, least = "/dev/shm", 4 << 30
    if "TMPDIR" in os.environ or not os.access(path, os.W_OK):
        return None
    about = os.statvfs(path)
    runs_programs = not about.f_flag & getattr(os, "ST_NOEXEC", 8)
    return path if runs_programs and about.f_bavail * about.f_frsize >= least else None


class Skip(Exception):
    """Raised by a test that cannot run here; its text says why."""


def run(*arguments, **options):
    """Runs ./orrery; the result has returncode, stdout and stderr (text)."""
    return subprocess.run([ORRERY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=options.pop("timeout", 60) * PATIENCE, **options)


def gpu_kernels(third_law=True):
    """The kernels of the cuda backend, by what the program says of them; without those that use the
    third law, all have the same bits."""
    text = " ".join(run("info", "compute.kernel").stdout.split())
    rows = re.findall(r"(\w+) (?:CPUs and )?GPUs: (.*?)\.(?= |$)", text)
    assert len(rows) > 3, text
    return [name for name, help in rows if third_law or "third law" not in help]


def integrators():
    """(name, forces per step) of each integrator that the program has; None: it chooses its own
    steps."""
    rows = dict(line.split("\t") for line in run("info", "--keys").stdout.splitlines())
    for name in rows["time.integrator"].split():
        told = " ".join(run("info", name).stdout.split())
        forces = re.search(r"forces per step: (\d*)", told)
        if name != "stages":
            yield name, int(forces[1]) if forces[1] else None


def integrators_of_stages():
    """The names of the integrators whose stages the program has."""
    return [name for name, forces in integrators() if forces]


def every_diagnostic(text, every):
    """A config with the diagnostics that it does not name, by their defaults, behind the others."""
    rows = dict(line.split("\t") for line in run("info", "--keys").stdout.splitlines())
    others = [name for name in rows["diagnostics.0.type"].split() if f'"{name}"' not in text]
    begin = text.index("diagnostics = (")
    end = text.index("\n);", begin)
    return text[:end] + "".join(f',\n  {{ type = "{name}"; every = {every}; }}'
                                for name in others) + text[end:]


def need(module):
    """Imports a module, or skips the test."""
    try:
        return __import__(module)
    except ImportError:
        raise Skip(f"the python module {module} is not installed")


def is_thorough():
    """Is this test asked to be thorough? unit.h draws by the same rule, with FNV-1a as the hash."""
    number = 2166136261
    for byte in f"{WISH} {current}".encode():
        number = (number ^ byte) * 16777619 % 2**32
    return WISH == "1" or bool(WISH) and number % 4 == 0


def thorough():
    """Skips the test unless it is asked to be thorough."""
    if not is_thorough():
        raise Skip(f"ORRERY_THOROUGH={WISH} does not draw it" if WISH else
                   "ORRERY_THOROUGH is not set")


def not_sanitized():
    """Skips the test under sanitizers, which would need half a minute or more for its sums: it asks
    for numbers, and other tests run the same code with fewer of them."""
    if PATIENCE > 1:
        raise Skip("its sums are too many for sanitizers, and their code that of other tests")


def kill_once(path, *arguments):
    """Starts the program for what would take long, and kills it once it has written a file."""
    process = subprocess.Popen([ORRERY, *map(str, arguments)])
    for _ in range(3000):
        if os.path.exists(path):
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert os.path.exists(path), path


def first(cases, count):
    """All cases where this test is asked to be thorough, else the first of them."""
    return cases if is_thorough() else cases[:count]


def cpu_seconds():
    """Returns the seconds of CPU of this process and of all that it has waited for."""
    return sum(os.times()[:4])


def main(namespace=None):
    """Runs every test_* of the calling script, each in an empty directory of its own, and tells its
    cost."""
    global current
    namespace = namespace or sys.modules["__main__"].__dict__
    tests = [(name, f) for name, f in namespace.items() if name.startswith("test_") and callable(f)]
    print(f"1..{len(tests)}")
    failed = 0 if tests else 1  # another script was imported in the place of a module
    home = os.getcwd()
    # Also when the tests themselves run under nohup, or behind a shell that goes on.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, (name, test) in enumerate(tests, 1):
        current = name
        title = (test.__doc__ or name[5:].replace("_", " ")).strip().split("\n")[0].replace("#", "")
        with tempfile.TemporaryDirectory(prefix="orrery-test-", dir=scratch()) as directory:
            os.chdir(directory)
            before = cpu_seconds()
            try:
                test()
                print(f"ok {number} - {title}")
            except Skip as reason:
                print(f"ok {number} - {title} # SKIP {reason}")
            except Exception:
                failed += 1
                print(f"not ok {number} - {title}")
                for line in traceback.format_exc().splitlines():
                    print(f"# {line}")
            finally:
                os.chdir(home)
        print(f"# {cpu_seconds() - before:.1f} s of CPU", flush=True)
    sys.exit(1 if failed else 0)
