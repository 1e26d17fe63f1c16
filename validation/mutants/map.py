"""Runs each test once in a build that counts lines, and writes which tests run which lines.

`make mutants-map` runs this script. It takes minutes, and writes the map to the file that
MUTANTS_MAP names, or to mutants.map in the build folder. lot.py reads the map: it tries a fault
that it draws with tests that run its line. For each source the map holds its hash, the lines that
can be run, and the lines that each test runs: line n is bit n of a hexadecimal number. For each
test it holds the seconds of CPU that the test took. A process that a signal or _exit() ends leaves
no counts. A test that had to be ended is left out. A second call runs only the tests that are not
in the map, and those that run a file that has changed.
"""

import collections
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import lot
import mutants

# These build or install the program anew, or read the sources: they run no line of this build.
WITHOUT_LINES = {"cli/install.py", "cli/portable.py", "cli/quickstart.py", "cli/style.py"}
MOST_SECONDS = 300


def counters(tree):
    """Returns the files of counts in a tree."""
    return [os.path.join(folder, name) for folder, _, names in os.walk(tree)
            for name in names if name.endswith(".gcda")]


def read_lines(tree, lines, run):
    """Adds the lines that gcov knows, and those that have been run, by file."""
    files = sorted(counters(tree))
    told = subprocess.run(["gcov", "--json-format", "--stdout", *files], cwd=tree,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    for text in told.stdout.splitlines():
        for part in json.loads(text)["files"] if text else []:
            name = os.path.relpath(os.path.join(tree, part["file"]), tree)
            if name.startswith(("src/", "gpu/")):
                for line in part["lines"]:
                    lines[name] |= 1 << line["line_number"]
                    run[name] |= (line["count"] > 0) << line["line_number"]
    for file in files:
        os.remove(file)


def run_test(tree, test):
    """Runs a test to its end and returns the seconds of CPU that it took, or None if it had to be
    ended."""
    path = f"./validation/{test}"
    command = [sys.executable, path] if test.endswith(".py") else [path]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(prefix="orrery-map-", dir=mutants.fast_folder(),
                                     ignore_cleanup_errors=True) as folder:
        environment = mutants.environment(tree, folder)
        del environment["ORRERY_THOROUGH"]
        process = subprocess.Popen(command, cwd=tree, stdin=subprocess.DEVNULL,
                                   env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            status = process.wait(MOST_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        mutants.end(process)
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if status not in (0, 77):
        print(f"{test}: exit status {status} in this build", flush=True)
    return round(seconds, 2) if status is not None and status >= 0 else None


def known(tree):
    """Returns the lines, the lines by tests and the seconds of an earlier map, without the tests of
    files that have changed since."""
    there = lot.read_map()
    same = {name: part for name, part in there["files"].items()
            if os.path.exists(os.path.join(tree, name))
            and lot.digest(os.path.join(tree, name)) == part["hash"]}
    changed = {test for name, part in there["files"].items() if name not in same
               for test in part["tests"]}
    seconds = {test: took for test, took in there["seconds"].items() if test not in changed}
    lines = collections.defaultdict(int)
    by_test = {test: collections.defaultdict(int) for test in seconds}
    for name, part in same.items():
        lines[name] = int(part["lines"], 16)
        for test in part["tests"].keys() & seconds.keys():
            by_test[test][name] = int(part["tests"][test], 16)
    return lines, by_test, seconds


def write(tree, lines, by_test, seconds):
    """Writes the map of all tests so far."""
    files = {name: {"hash": lot.digest(os.path.join(tree, name)), "lines": f"{lines[name]:x}",
                    "tests": {test: f"{run[name]:x}" for test, run in by_test.items()
                              if run.get(name)}}
             for name in sorted(lines)}
    with open(lot.MAP, "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds, "files": files}, file, indent=0)


def main():
    source = os.path.abspath(os.environ.get("ORRERY_SOURCE", "."))
    tests = [name.removeprefix("validation/") for name in os.environ["TESTS"].split()]
    tests = [test for test in tests if test not in WITHOUT_LINES]
    work = os.path.abspath("mutants.work")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    try:
        tree = mutants.build(source, work, len(os.sched_getaffinity(0)), ["check", "TESTS="],
                             "--coverage")
        read_lines(tree, collections.defaultdict(int), collections.defaultdict(int))
        lines, by_test, seconds = known(tree)
        for test in tests:
            if test in seconds:
                continue
            run = collections.defaultdict(int)
            took = run_test(tree, test)
            read_lines(tree, lines, run)
            if took is None:  # what it would have run is not known
                continue
            by_test[test], seconds[test] = run, took
            count = sum(bits.bit_count() for bits in run.values())
            print(f"{test}: {count} lines, {seconds[test]:.1f} s", flush=True)
            write(tree, lines, by_test, seconds)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{lot.MAP}: {sum(seconds.values()):.0f} s of CPU")


if __name__ == "__main__":
    main()
