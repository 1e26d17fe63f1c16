"""Plants the faults of rows/*.py one at a time and demands that the tests find them.

A row is the file, its original text, the faulty text, and the tests of which one has to fail. The
original text must be in the file exactly once. A fifth item says why a fault cannot be found, or
need not be. A test may be a pattern: cli/report*.py. The rows of src/NAME/ stand in rows/NAME.py,
those of src/NAME/PART/ in rows/NAME-PART.py.

`make check-mutants` runs it: all rows, or with MUTANTS=15 a sample of that size, chosen by
MUTANTS_SEED, or with MUTANTS='src/force unit/trust' the rows whose file or tests contain one of the
words, or with LOT=SEED COUNT=40 faults that lot.py draws; MUTANTS=15 and LOT=SEED together plant
both in one build. The tree is distributed into a folder of
its own, built there, and copied for each of
MUTANTS_JOBS workers (default: one for each core). Each named test must pass there without a fault
first. A row then has its fault written into the file, the program or the unit test made anew, and
its tests run until one fails: the fault is found, or it has survived. All rows must be found to
95 %, and what survives have its reason there; a sample must not contradict that.
"""

import collections
import concurrent.futures
import glob
import math
import os
import queue
import random
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import lot

LEAST_FOUND = 0.95
LEAST_OF_A_LOT = 0.85
FEW = 40  # fewer than these tell too little of the share: what survives is listed
CONTROL_SECONDS = 300
Row = collections.namedtuple("Row", "file original faulty tests reason")
Outcome = collections.namedtuple("Outcome", "row verdict detail seconds")
FOUND, SURVIVED, BROKEN = "found", "survived", "error in the list"


def room(file):
    """The name, in rows/, of the list that a file's faults stand in."""
    folder = os.path.dirname(file)
    return folder.removeprefix("src/").replace("/", "-") + ".py"


def named(source, words):
    """The tests that words name: those of a pattern in its place, the shortest name first; the
    pattern itself where nothing fits it."""
    home, found = os.path.join(source, "validation"), []
    for word in words.split():
        fits = glob.glob(os.path.join(home, word)) if "*" in word else []
        fits = [os.path.relpath(path, home) for path in fits]
        found += sorted(fits, key=lambda name: (len(name), name)) or [word]
    return found


def lists(source):
    """Each list of the tree by its name, in the order of names."""
    paths = sorted(glob.glob(os.path.join(source, "validation", "mutants", "rows", "*.py")))
    return {os.path.basename(path): [Row(*row[:3], named(source, row[3]),
                                         row[4] if len(row) > 4 else "")
                                     for row in runpy.run_path(path)["ROWS"]] for path in paths}


def rows(source):
    """The rows of all lists."""
    return [row for part in lists(source).values() for row in part]


def title(row):
    """A row on one line, without the lines that only say where it is."""
    same = os.path.commonprefix([row.original, row.faulty]).rpartition("\n")[0]
    original, faulty = (" ".join(text.removeprefix(same).split())[:60]
                        for text in (row.original, row.faulty))
    return f"{row.file}: {original} -> {faulty or 'nothing'}"


def chosen(all_rows, wish, seed):
    """The rows that MUTANTS asks for."""
    if not wish:
        return all_rows
    if wish.isdigit():
        sound = [row for row in all_rows if not row.reason]
        return random.Random(seed).sample(sound, min(int(wish), len(sound)))
    words = wish.split()
    return [row for row in all_rows
            if any(word in name for word in words for name in [row.file, *row.tests])]


def rotten(source):
    """What is wrong with the lists themselves, whichever rows are chosen."""
    texts, there = {}, {}
    for name, part in lists(source).items():
        for row in part:
            if room(row.file) != name:
                yield f"{title(row)}: stands in {name}, not in {room(row.file)}"
            if row.file not in texts:
                try:
                    with open(os.path.join(source, row.file), encoding="utf-8") as file:
                        texts[row.file] = file.read()
                except OSError as error:
                    yield f"{title(row)}: {error.strerror}"
                    continue
            count = texts[row.file].count(row.original)
            if count != 1:
                yield f"{title(row)}: the original text is there {count} times, not once"
            if row.faulty == row.original:
                yield f"{title(row)}: changes nothing"
            for test in row.tests:
                if test not in there:
                    path = os.path.join(source, "validation", test)
                    there[test] = os.path.exists(path if test.endswith(".py") else path + ".c")
                if not there[test]:
                    yield f"{title(row)}: there is no test {test}"


def target(test):
    """What make must make for a test."""
    if not test.endswith(".py"):
        return [f"validation/{test}"]
    return ["orrery", "validation/gpu/orrery"] if test.startswith("gpu/") else ["orrery"]


def targets(tests):
    """What make must make for tests."""
    wanted = {name for test in tests for name in target(test)}
    if any(test.startswith("faults/") for test in tests):
        wanted |= {f"validation/faults/shim-{name}.so" for name in ("calls", "exec", "memory")}
    return ["liborrery.a", "orrery", *sorted(wanted)]


def make(tree, targets, jobs=1):
    """Makes targets in a tree; the compiler's words where that fails."""
    made = subprocess.run([os.environ.get("MAKE", "make"), "-s", f"-j{jobs}", *targets], cwd=tree,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return made.stderr[-2000:] if made.returncode else None


def build(source, work, jobs, targets, flags=""):
    """Distributes the tree into `work`, configures as it is configured itself, and builds it."""
    tree = os.path.join(work, "tree-0")
    build_folder = os.getcwd()
    subprocess.run([os.environ.get("MAKE", "make"), "-s", "distdir", f"distdir={tree}"],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    subprocess.run(["chmod", "-R", "u+w", tree], check=True)
    options = subprocess.run(["./config.status", "--config"], check=True, capture_output=True,
                             text=True, cwd=build_folder).stdout
    options = [option for option in shlex.split(options)
               if option.startswith(("CC=", "CXX=", "PYTHON=", "LDFLAGS=", "CPPFLAGS=", "--with-"))]
    wrong = "-Werror=incompatible-pointer-types -Werror=int-conversion"
    subprocess.run(["./configure", "-q", *options, f"CFLAGS=-O1 {wrong} {flags}",
                    f"CXXFLAGS=-O1 {flags}"],
                   check=True, cwd=tree, stdin=subprocess.DEVNULL)
    complaint = make(tree, targets, jobs)
    if complaint:
        sys.exit(f"mutants: the tree does not build:\n{complaint}")
    return tree


def environment(tree, folder):
    """That of `make check`, in another tree; the tests are thorough."""
    own = {"ORRERY": f"{tree}/orrery", "ORRERY_SOURCE": tree, "ORRERY_BUILD": tree,
           "PYTHONPATH": f"{tree}/validation", "TMPDIR": folder, "ORRERY_THOROUGH": "1"}
    return {**os.environ, **own}


def fast_folder():
    """Where tests write: in memory if that can be, since many of them wait for the disk."""
    memory = "/dev/shm"
    return memory if "TMPDIR" not in os.environ and os.access(memory, os.W_OK) else None


def try_test(tree, test, seconds):
    """Runs one test until its first failure: why it failed, None where it passed, and whether it
    tried anything at all."""
    path = f"./validation/{test}"
    command = [sys.executable, path] if test.endswith(".py") else [path]
    failure, tried = None, False
    with tempfile.TemporaryDirectory(prefix="orrery-mutant-", dir=fast_folder(),
                                     ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(command, cwd=tree, env=environment(tree, folder), text=True,
                                   errors="replace", stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        late = []
        timer = threading.Timer(
            seconds, lambda: (late.append(True), end(process)))
        timer.start()
        for line in process.stdout:
            tried = tried or (line.startswith("ok") and "# SKIP" not in line)
            if line.startswith("not ok"):
                failure = line.strip()
                break
        timer.cancel()
        if failure:
            end(process)
        process.stdout.close()
        status = process.wait()
        end(process)
    if not failure and late:
        failure = f"no end within {seconds:.0f} s"
    if not failure and status not in (0, 77):
        failure = f"exit status {status}"
    return failure, tried


def end(process):
    """Ends a test and all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def on_workers(trees, items, work):
    """Runs work(tree, item) for all items, each in a tree that nobody else uses; yields results."""
    free = queue.Queue()
    for tree in trees:
        free.put(tree)

    def with_tree(item):
        tree = free.get()
        try:
            return work(tree, item)
        finally:
            free.put(tree)

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        jobs = [pool.submit(with_tree, item) for item in items]
        for job in concurrent.futures.as_completed(jobs):
            yield job.result()


def control(trees, tests):
    """The seconds that each test takes without a fault; one that fails twice then says nothing."""
    def run(tree, test):
        start = time.monotonic()
        told = try_test(tree, test, CONTROL_SECONDS)
        if told[0]:  # a busy machine can make a test too late
            told = try_test(tree, test, CONTROL_SECONDS)
        return test, told, time.monotonic() - start

    seconds, bad = {}, []
    for test, (failure, tried), took in on_workers(trees, tests, run):
        seconds[test] = took if tried else None
        if failure:
            bad.append(f"{test} fails without any fault: {failure}")
    if bad:
        sys.exit("mutants: " + "\nmutants: ".join(bad))
    for test in sorted(test for test in tests if seconds[test] is None):
        print(f"{test}: skips itself here, and finds nothing")
    return seconds


def fails_anyway(tree, test, seconds):
    """Why a test that nobody tried without a fault fails there too."""
    if test in seconds:
        return None
    start = time.monotonic()
    failure = make(tree, target(test)) or try_test(tree, test, CONTROL_SECONDS)[0]
    if not failure:
        seconds[test] = time.monotonic() - start
    return failure


def plant(tree, row, seconds):
    """Plants one fault, asks its tests, and takes it out again."""
    start = time.monotonic()
    path = os.path.join(tree, row.file)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(row.original, row.faulty))
    verdict, detail = SURVIVED, row.reason
    try:
        for test in row.tests:
            complaint = make(tree, target(test))
            if complaint:
                verdict, detail = BROKEN, f"does not compile: {complaint}"
                break
            failure, _ = try_test(tree, test, 60 + 5 * (seconds.get(test) or 30))
            if failure:
                verdict, detail = FOUND, f"{test}: {failure}"
                break
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    if verdict == FOUND and fails_anyway(tree, test, seconds):
        verdict, detail = BROKEN, f"fails without the fault too: {detail}"
    if verdict == FOUND and row.reason:
        verdict, detail = BROKEN, f"is said to survive, but is found by {detail}"
    return Outcome(row, verdict, detail, time.monotonic() - start)


def plant_all(trees, wanted, seconds):
    """Plants all rows; those of one file stay together, since it is then compiled less often."""
    groups = collections.defaultdict(list)
    for row in wanted:
        groups[row.file].append(row)

    def work(tree, group):
        outcomes = []
        for row in group:
            outcomes.append(plant(tree, row, seconds))
            last = outcomes[-1]
            print(f"{last.verdict}: {title(row)} ({last.detail or 'no reason known'};"
                  f" {last.seconds:.0f} s)", flush=True)
        return outcomes

    costs = {file: 3 * len(group) + sum(seconds.get(test) or 1
                                        for row in group for test in row.tests)
             for file, group in groups.items()}
    ordered = [groups[file] for file in sorted(groups, key=costs.get, reverse=True)]
    return [outcome for part in on_workers(trees, ordered, work) for outcome in part]


def tolerated(planted):
    """Survivors among `planted` rows that nineteen of twenty samples stay within, where LEAST_FOUND
    of all faults are found: a sample tells no more than that."""
    within, survivors = 0.0, -1
    while within < 0.95:
        survivors += 1
        within += math.comb(planted, survivors) * (1 - LEAST_FOUND)**survivors \
            * LEAST_FOUND**(planted - survivors)
    return survivors


def score(outcomes, sample, drawn):
    """Prints the score by floor and what has survived; True where it is good enough. Drawn faults
    that do not compile, or that are known to change nothing, do not count."""
    if drawn:
        outcomes = [o for o in outcomes if o.verdict != BROKEN and not o.row.reason]
    floors = collections.defaultdict(lambda: [0, 0])
    for outcome in outcomes:
        floor = re.sub(r"^src/", "", os.path.dirname(outcome.row.file)) or "src"
        floors[floor][0] += outcome.verdict == FOUND
        floors[floor][1] += 1
    print("\nfloor            found of planted")
    for floor, (found, planted) in sorted(floors.items()):
        print(f"{floor:<16} {found:5d} of {planted}")
    found, planted = (sum(counts[k] for counts in floors.values()) for k in range(2))
    print(f"{'all':<16} {found:5d} of {planted}: {100 * found / planted:.1f} %")
    bad = [o for o in outcomes if o.verdict == BROKEN]
    survivors = [o for o in outcomes if o.verdict == SURVIVED]
    for outcome in survivors + bad:
        print(f"{outcome.verdict}: {title(outcome.row)}: {outcome.detail or 'no reason is known'}")
    if drawn:
        return planted < FEW or found >= LEAST_OF_A_LOT * planted
    unexplained = [o for o in survivors if not o.row.reason]
    if sample:
        return not bad and len(survivors) <= tolerated(planted)
    return not bad and not unexplained and found >= LEAST_FOUND * planted


def commit(source):
    """The commit of the tree, which chooses the sample."""
    told = subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], capture_output=True,
                          text=True)
    return told.stdout.strip() or "unknown"


def main():
    source = os.path.abspath(os.environ.get("ORRERY_SOURCE", "."))
    wish = os.environ.get("MUTANTS", "")
    seed = os.environ.get("MUTANTS_SEED") or commit(source)
    jobs = int(os.environ.get("MUTANTS_JOBS") or len(os.sched_getaffinity(0)))
    complaints = list(rotten(source))
    if complaints:
        sys.exit("mutants: " + "\nmutants: ".join(complaints))
    all_rows = rows(source)
    drawn = os.environ.get("LOT")
    sample = wish.isdigit()
    parts = []  # rows, and whether they are drawn
    if sample or not drawn:
        parts.append((chosen(all_rows, wish, seed), False))
    if drawn:
        count = int(os.environ.get("COUNT") or 40)
        words = [] if sample else wish.split()
        parts.append((lot.draw(source, drawn, count, all_rows, Row, words), True))
    for wanted, of_lot in parts:
        if not wanted:
            sys.exit(f"mutants: no row has {wish!r} in its file or tests")
        print(f"mutants: {len(wanted)} faults, drawn by {drawn}" if of_lot else
              f"mutants: {len(wanted)} of {len(all_rows)} faults"
              + (f", chosen by {seed}" if sample else ""), flush=True)
    tests, of_rows = (sorted({test for wanted, of_lot in parts if not of_lot or both
                              for row in wanted for test in row.tests}) for both in (True, False))
    start = time.monotonic()
    work = os.path.abspath("mutants.work")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    try:
        trees = [build(source, work, jobs, targets(tests))]
        for k in range(1, jobs):
            trees.append(os.path.join(work, f"tree-{k}"))
            subprocess.run(["cp", "-a", trees[0], trees[-1]], check=True)
        print(f"mutants: built, {time.monotonic() - start:.0f} s", flush=True)
        seconds = {}  # those of a lot are tried when they find something
        if of_rows:
            seconds = control(trees, of_rows)
            print(f"mutants: {len(of_rows)} tests pass without a fault,"
                  f" {time.monotonic() - start:.0f} s", flush=True)
        good = all([score(plant_all(trees, wanted, seconds), sample, of_lot)
                    for wanted, of_lot in parts])
        print(f"mutants: {time.monotonic() - start:.0f} s")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
