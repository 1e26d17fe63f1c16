"""The live view: quantities shown while a run goes, a run watched from outside, and its report."""

import contextlib
import csv
import fcntl
import html
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import threading
import time

import tap
from reports import findings_of, read

# 64 bodies, 100 steps; rows at every 20 and at every 35 steps, and at the last one.
PLUMMER = """
name = "plummer";
bodies = { initial = "plummer"; count = 64; seed = 7; mass = 1000.0; scale_radius = 1.0; };
physics = { softening = 0.05; units = "pc-msun-myr"; };
time = { step = 0.001; end = %s; };
diagnostics = ( { type = "conservation"; every = 20; },
                { type = "lagrangian-radii"; every = 35; } );
expect = ( { quantity = "energy_error"; at_most = 0.5; } );
"""


def write(end="0.1"):
    pathlib.Path("run.cfg").write_text(PLUMMER % end)
    return "run.cfg"


def table(path):
    """The rows of a CSV file by step: {name: text}; names without their units."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    names = [cell.split(" ")[0] for cell in rows[0]]
    return {int(row[names.index("step")]): dict(zip(names, row)) for row in rows[1:]}


def short(cell):
    """A cell of a CSV file as it is shown."""
    return f"{float(cell):.6g}" if cell else "nan"


def shown(words):
    """The rows of a table on standard output, up to the first empty line, as lists of words."""
    lines = words.split("\n\n")[0].splitlines()
    assert len({len(line) for line in lines}) == 1, lines  # aligned
    return [line.split() for line in lines[1:]]


def wait_until(true, *processes):
    """For a minute at most; for less where a process ends."""
    last = time.monotonic() + 60 * tap.PATIENCE
    while not true():
        assert time.monotonic() < last and all(p.poll() is None for p in processes)
        time.sleep(0.01)


def progress(directory, process):
    """(step, last) as this process has left it in the lock of its run; (0, 0) before it has."""
    try:
        lock = pathlib.Path(directory, "run.lock").read_text()
    except FileNotFoundError:
        return 0, 0
    found = re.search(rf"process {process.pid} on \S+(?: without a lock)?\n"
                      r"step +(\d+) of +(\d+)", lock)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@contextlib.contextmanager
def at_work(*options, config=None, directory="plummer.run", end="1e5"):
    """A run that has taken steps and goes on until the end of the block."""
    process = subprocess.Popen([tap.ORRERY, "run", config or write(end), "-q", "-o", directory,
                                *options], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: progress(directory, process)[0] > 0, process)
        yield process
    finally:
        process.kill()
        process.wait()


# --- orrery run --show --------------------------------------------------------------------------

def test_shown_rows_are_those_of_the_tables():
    """a row for each event, "-" where there is no measurement, and the same files as without"""
    config = write()
    assert tap.run("run", config, "-q", "-o", "plain").returncode == 0
    result = tap.run("run", config, "-o", "shown", "--show",
                     "energy_error,radius_50,conservation.test_energy_error")
    assert (result.returncode, result.stderr) == (0, ""), result
    assert result.stdout.split("\n")[0].split() == [
        "step", "time", "[Myr]", "energy_error", "radius_50", "[pc]",
        "conservation.test_energy_error"], result.stdout
    conserved, radii = (table(f"shown/{name}.csv") for name in ("conservation", "lagrangian-radii"))
    rows = shown(result.stdout)
    assert [int(row[0]) for row in rows] == sorted({*conserved, *radii}), rows
    for step, moment, error, radius, test in rows:
        by_table = conserved.get(int(step)), radii.get(int(step))
        assert abs(float(moment) - float((by_table[0] or by_table[1])["time"])) < 1e-7
        assert error == (short(by_table[0]["energy_error"]) if by_table[0] else "-")
        assert test == (short(by_table[0]["test_energy_error"]) if by_table[0] else "-")
        assert radius == (short(by_table[1]["radius_50"]) if by_table[1] else "-")
    assert "\n\nplummer: 64 bodies" in result.stdout and "verdict        held" in result.stdout
    names = {path.name for path in pathlib.Path("plain").iterdir()}
    assert names == {path.name for path in pathlib.Path("shown").iterdir()}
    for name in names - {"run.json", "run.log"}:  # these hold times of day
        assert (name.startswith("checkpoint") or  # so do these
                pathlib.Path("plain", name).read_bytes() ==
                pathlib.Path("shown", name).read_bytes()), name


def test_shown_rows_come_while_it_runs_and_after_a_restart():
    """through a pipe at once, without a word more under -q; a restart shows what comes then"""
    config = write("1e5")
    with subprocess.Popen([tap.ORRERY, "run", config, "-q", "--show", "energy_error"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        first = [process.stdout.readline().split() for _ in range(4)]
        assert process.poll() is None
        pathlib.Path("plummer.run/stop").touch()
        rest = process.stdout.read().splitlines()
    assert process.returncode == 75 and first[0] == ["step", "time", "[Myr]", "energy_error"], first
    assert [row[0] for row in first[1:]] == ["0", "20", "40"], first
    last = int(rest[-1].split()[0]) if rest else 40
    result = tap.run("run", config, "-q", "--restart", "--show", "energy_error", "-P",
                     f"time.end={0.001 * (last + 60)}")
    assert result.returncode == 0, result
    steps = [int(row[0]) for row in shown(result.stdout)]
    assert steps == [last + 20, last + 40, last + 60], (last, result.stdout)
    done = tap.run("run", config, "-q", "--restart", "--show", "energy_error", "-P",
                   f"time.end={0.001 * (last + 60)}")
    assert (done.returncode, done.stdout) == (0, ""), done  # it is done already: no event comes


def test_a_shown_row_waits_for_no_other():
    """the row of step 0 is there long before the next one comes"""
    with subprocess.Popen([tap.ORRERY, "run", write("1e5"), "-q", "--show", "energy", "-P",
                           "diagnostics.0.every=100000000"], stdout=subprocess.PIPE) as process:
        wait_until(lambda: progress("plummer.run", process)[0] > 0, process)
        there = select.select([process.stdout], [], [], 0)[0]
        process.kill()
    assert there


def test_an_ensemble_shows_means():
    config = write()
    result = tap.run("run", config, "-q", "-P", "ensemble.systems=3", "--show",
                     "virial_ratio,conservation.virial_ratio_q90,radius_50_mean")
    assert result.returncode == 0, result
    names = result.stdout.split("\n")[0].split()
    assert names == ["step", "time", "[Myr]", "virial_ratio_mean",
                     "conservation-ensemble.virial_ratio_q90", "radius_50_mean", "[pc]"], names
    conserved = table("plummer.run/conservation-ensemble.csv")
    rows = [row for row in shown(result.stdout) if row[2] != "-"]
    assert [int(row[0]) for row in rows] == list(conserved)
    for step, _, mean, q90, _ in rows:
        assert mean == short(conserved[int(step)]["virial_ratio_mean"])
        assert q90 == short(conserved[int(step)]["virial_ratio_q90"])
    words, last = watch("plummer.run", status=0), conserved[100]
    assert "conservation-ensemble step 100, time 0.1, kinetic_mean " in words, words
    assert f" virial_ratio_mean {float(last['virial_ratio_mean']):.5g}, " in words, words
    result = tap.run("watch", "plummer.run", "-q", "--show", "virial_ratio,conservation.energy_q10")
    assert result.stdout.split()[-2:] == [short(last["virial_ratio_mean"]),
                                          short(last["energy_q10"])], result


def test_unknown_quantities_are_refused_before_anything_is_written():
    """with the nearest, the diagnostic to add and all that there is; 64"""
    config = write()
    for options in ([], ["--dry-run"], ["-P", "ensemble.systems=3"]):
        result = tap.run("run", config, "--show", "enrgy_error,period,energy_error,step", *options)
        lines = result.stderr.splitlines()
        assert result.returncode == 64 and not result.stdout, result
        assert lines[0].startswith("orrery: --show enrgy_error: no diagnostic of this run has such "
                                   "a column; the nearest is energy_error"), lines
        assert lines[1].startswith("orrery: --show period: ") and '{ type = "orbit"; }' in lines[1]
        assert "--show: conservation" in lines[2] and "virial_ratio, " in lines[2], lines
        assert "radius_50" in lines[3] and len(lines) == (5 if "-P" in options else 4), lines
        assert "-P" not in options or "_q90 behind them" in lines[4], lines
        assert os.listdir() == ["run.cfg"]
    assert "no quantity beside step" in tap.run("run", config, "--show", "step,time").stderr
    result = tap.run("run", config, "--show", "radial-distribution.g", "-P",
                     'diagnostics=({ type = "radial-distribution"; })', "-P", "expect=()")
    assert result.returncode == 64 and "many rows at each event" in result.stderr, result
    result = tap.run("run", config, "--show", "energy", "-P", "expect=()", "-P",
                     'diagnostics=({ type = "conservation"; }, '
                     '{ type = "conservation"; name = "other"; })')
    assert result.returncode == 64 and "2 diagnostics have such a column" in result.stderr, result
    assert os.listdir() == ["run.cfg"]


def test_what_has_no_mean_is_not_shown_of_an_ensemble():
    text = PLUMMER.replace("count = 64", "count = 16") % "0.01"
    pathlib.Path("run.cfg").write_text("ensemble = { systems = 2; };\n" + text +
                                       "trust = { shadow = true; };\n")
    refused = tap.run("run", "run.cfg", "--show", "reproducible_until")
    assert refused.returncode == 64, refused
    assert "there are no means of it" in refused.stderr and "nearest" not in refused.stderr, refused


def test_a_study_shows_no_rows():
    config = write()
    result = tap.run("run", config, "--show", "energy", "-P", "sweep.0.key=bodies.seed", "-P",
                     "sweep.0.values=[1, 2]")
    assert result.returncode == 64 and "`orrery watch`" in result.stderr, result
    assert tap.run("run", config, "--show", "energy", "--convergence").returncode == 64
    assert os.listdir() == ["run.cfg"]


def test_a_closed_standard_output_stops_no_run():
    config = write()
    with open("/dev/full", "w") as full:
        process = subprocess.run([tap.ORRERY, "run", config, "--show", "energy"], stdout=full,
                                 stderr=subprocess.PIPE, timeout=60 * tap.PATIENCE)
    assert process.returncode == 74 and b"standard output cannot" in process.stderr, process
    assert len(table("plummer.run/conservation.csv")) == 6
    assert json.loads(pathlib.Path("plummer.run/run.json").read_text())["verdict"] == "held"


# --- the report of a run that has not ended -----------------------------------------------------

def page(directory):
    """The text of its report, made without figures."""
    result = tap.run("report", directory, "-o", "page", env={**os.environ, "PATH": "/nonexistent"})
    assert result.returncode == 69 and "without figures" in result.stderr, result
    text = pathlib.Path("page/report.html").read_text()
    text = re.sub(r"<[^>]*>", " ", text[text.index("<main>"):])
    return re.sub(" +", " ", html.unescape(text))


def outcomes():
    """Those of the findings of the last one, with their classes, by the quantity."""
    return {name: row[:2] for name, row in findings_of(read("page/report.html")).items()}


# Far beyond the end, and so in a larger unit than that of the config.
LATE = "virial_ratio >= 1e+09 after t = 90000 Myr (90 Gyr)"


def test_the_report_of_a_run_that_has_not_ended():
    """says so, how far it is and how it goes on, and judges nothing: at work, killed, stopped"""
    criteria = ["-P", "expect.1.quantity=\"virial_ratio\"", "-P", "expect.1.at_least=1e9", "-P",
                "expect.1.after=90000.0"]
    with at_work(*criteria) as process:
        reached = progress("plummer.run", process)
        words = page("plummer.run")
        seen = re.search(r"This run has not ended: process (\d+) on \S+ is at work on it, at step "
                         r"(\d+) of (\d+), [\d.]+ % of the way, as of \d{4}-\d\d-\d\dT", words)
        assert seen and int(seen[1]) == process.pid, words
        assert reached[0] <= int(seen[2]) <= progress("plummer.run", process)[0], words
        assert int(seen[3]) == reached[1], words
        assert re.search(r"plummer\s+running\s+This run", words) and "--restart" not in words, words
        judged = [outcomes()]
        process.kill()
        process.wait()
        killed = page("plummer.run")
        judged.append(outcomes())
        about = json.loads(pathlib.Path("plummer.run/run.json").read_text())
        assert about["step"] == 0 and about["relative_energy_error"] is None, about
        assert about["largest_energy_error"] is None, about
        assert about["watch"]["energy_error"]["largest"] is None, about["watch"]
        value, = (row["value"] for row in about["findings"] if row["name"] == "energy error")
        assert value is None, about["findings"]
        seen = progress("plummer.run", process)
        assert f"no process works on it; it was at step {seen[0]} of {seen[1]}," in killed, killed
        assert re.search(r"plummer\s+not finished, killed\s+This run", killed), killed
    for text, found in zip((words, killed), judged):
        assert "there is no verdict yet" in text, text
        for row in ("energy_error <= 0.5", LATE, "energy error", "energy drift",
                    "energy change within 1000 steps"):
            assert found[row] == ["quiet", "not judged yet"], (row, found)
        assert "time reached, at least" in text, text  # its process tells of it once a second
        for word in ("held", "failed", "Its limits hold"):
            assert f" {word}" not in text.split("What ran")[0], (word, text)
    command = re.search(r"orrery (run plummer.run/run.cfg -o plummer.run --restart)", killed)[1]
    with subprocess.Popen([tap.ORRERY, *command.split(), "-q"],
                          stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: progress("plummer.run", process)[0] > 20, process)
        pathlib.Path("plummer.run/stop").touch()
    assert process.returncode == 75
    words = page("plummer.run")
    assert re.search(r"stopped early\s+This run has not ended: it was stopped at step \d+ of "
                     r"100000000\. ", words) and command in words, words
    found = outcomes()
    assert found["energy error"] == ["quiet", "held so far"], found
    assert "time reached, at least" not in words, words
    assert found["energy_error <= 0.5"] == ["quiet", "held so far"], found
    assert found[LATE] == ["quiet", "not judged yet"], found
    assert "Its limits hold so far." in words and "failed" not in words.split("What ran")[0], words
    shutil.rmtree("plummer.run")
    assert tap.run("run", write(), "-q").returncode == 0
    words = page("plummer.run")
    assert outcomes()["energy error"] == ["good", "held"], outcomes()
    assert "every expectation held" in words and "Its limits hold." in words, words
    assert "has not ended" not in words and "so far" not in words.split("What ran")[0], words


# --- orrery watch -------------------------------------------------------------------------------


def test_an_error_of_the_start_alone():
    """is 0 by definition: of a run that stopped before the next row it is no value, and not 0"""
    with at_work("-P", "diagnostics.0.every=50000000") as process:
        wait_until(lambda: progress("plummer.run", process)[0] > 20, process)
        pathlib.Path("plummer.run/stop").touch()
        assert process.wait() == 75
    about = json.loads(pathlib.Path("plummer.run/run.json").read_text())
    value, = (row["value"] for row in about["findings"] if row["name"] == "energy_error")
    assert value is None and about["expect"][0]["worst"] is None, about["findings"]
    page("plummer.run")
    found = findings_of(read("page/report.html"))["energy_error <= 0.5"]
    assert found[:3] == ["quiet", "not judged yet", "not measured"], found


def watch(*arguments, status):
    """What `orrery watch` says of a directory that nobody is at work on, its lines joined."""
    result = tap.run("watch", *arguments)
    assert (result.returncode, result.stderr) == (status, ""), result
    return " ".join(result.stdout.split())


def change_json(path, **changes):
    path = pathlib.Path(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_watching_what_has_ended():
    """the verdict, the last rows and the exit status of the run; without a word under -q"""
    assert tap.run("run", write(), "-q").returncode == 0
    last = table("plummer.run/conservation.csv")[100]
    words = watch("plummer.run", status=0)
    assert words.startswith("plummer.run: every expectation held reached step 100 of 100, t = 0.1 "
                            "Myr conservation step 100, time 0.1, kinetic "), words
    assert f"energy_error {float(last['energy_error']):.5g}, " in words, words
    assert "lagrangian-radii step 100, " in words and words.endswith("verdict held, exit status 0")
    assert "to go on" not in words and "nan" not in words, words
    with open("plummer.run/conservation.csv", "a") as file:
        file.write("101,0.101,3")  # half a row
    assert watch("plummer.run", status=0) == words
    result = tap.run("watch", "plummer.run/", "-q", "--show", "radius_50,energy_error")
    assert result.stdout.split() == [
        "step", "time", "[Myr]", "radius_50", "[pc]", "energy_error", "100", "0.1",
        short(table("plummer.run/lagrangian-radii.csv")[100]["radius_50"]),
        short(last["energy_error"])], result
    assert tap.run("watch", "plummer.run", "-q").stdout == ""
    assert tap.run("run", "run.cfg", "-q", "--force", "-P", "expect.0.at_most=0.0").returncode == 1
    words = watch("plummer.run", status=1)
    assert "why energy error " in words and ", upper bound 0 (beyond it by " in words, words
    assert words.endswith("verdict failed, exit status 1"), words
    change_json("plummer.run/run.json", verdict="error", verdict_text="", exit_status=70,
                errors=["it blew up"])
    words = watch("plummer.run", status=70)
    assert "why exit status 70: it blew up" in words and "verdict error, exit" in words, words
    change_json("plummer.run/run.json", exit_status=-1)
    assert "does not say how the run ended" in tap.run("watch", "plummer.run").stderr


def test_watching_a_run_at_work():
    """rows as they come, a screen that is redrawn, Ctrl-C for the watcher alone, its status"""
    screen, terminal = os.openpty()
    environment = {**os.environ, "PATH": "/nonexistent"}
    with at_work("-P", "compute.threads=1") as process, contextlib.ExitStack() as stack:
        def begin(*options, **streams):
            command = [tap.ORRERY, "watch", "plummer.run", *options]
            watcher = stack.enter_context(subprocess.Popen(command, env=environment, **streams))
            stack.callback(watcher.kill)  # whatever fails, nobody waits for the end of the run
            return watcher

        def read_screen():
            while True:  # a terminal that nobody holds is an error to read
                try:
                    drawn.extend(os.read(screen, 1 << 16))
                except OSError:
                    return
        drawn = bytearray()
        reader = threading.Thread(target=read_screen, daemon=True)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        rows = begin("--show", "energy_error,radius_50", **pipes)
        plain = begin(**pipes)
        shown_on_terminal = begin("--report=1", stdout=terminal, stderr=terminal)
        os.close(terminal)
        reader.start()  # a screen that is full would stop who writes on it
        interrupted = begin(**pipes)
        assert rows.stdout.readline().split() == ["step", "time", "[Myr]", "energy_error",
                                                  "radius_50", "[pc]"]
        steps = [int(rows.stdout.readline().split()[0]) for _ in range(3)]
        assert steps == sorted(set(steps)), steps
        first = interrupted.stdout.readline()
        assert first == f"plummer.run: process {process.pid} on {os.uname().nodename} is at work\n"
        interrupted.send_signal(signal.SIGINT)
        assert interrupted.wait() == -signal.SIGINT
        wait_until(lambda: drawn.count(b"\033[J") > 1, process)
        seen = re.findall(rb"progress +\[[#.]{24}\] +[\d.]+ %, step (\d+) of 100000000, ", drawn)
        assert len(set(seen)) > 1 and b" left; as" in b" ".join(drawn.split()), drawn
        report = pathlib.Path("plummer.run/report.html")
        wait_until(lambda: report.exists() and "is at work on it" in report.read_text(), process)
        assert process.poll() is None
        pathlib.Path("plummer.run/stop").touch()
        assert process.wait() == 75
        reader.join(60)
        for watcher in (rows, plain):
            words = " ".join(watcher.communicate()[0].split())
            assert watcher.returncode == 75, words
            assert words.endswith("verdict stopped, exit status 75 to go on orrery run "
                                  "plummer.run/run.cfg -o plummer.run --restart"), words
            assert " why " not in words, words
        assert "process" in words and words.count("conservation step") == 2, words  # of `plain`
        assert shown_on_terminal.wait() == 75 and b"verdict        stopped" in drawn, drawn
    os.close(screen)
    assert "it was stopped at step" in report.read_text()
    about = json.loads(pathlib.Path("plummer.run/run.json").read_text())
    assert about["exit_status"] == 75 and about["step"] >= steps[-1]


def test_watching_a_killed_run():
    """says that nobody is at work, where it was, and how it goes on: 75"""
    tap.thorough()
    with at_work() as process:
        process.kill()
        process.wait()
        step, last = progress("plummer.run", process)
        words = watch("plummer.run", status=75)
    assert words.startswith("plummer.run: has not ended, and no process is at work: it was killed "
                            "reached ["), words
    assert f", step {step} of {last}, t = " in words and " left" not in words, words
    assert words.endswith("to go on orrery run plummer.run/run.cfg -o plummer.run --restart"), words
    assert "verdict" not in words, words
    assert not pathlib.Path("plummer.run/run.json").read_text().count('"ended"')
    # Whoever looks does not keep others from going on.
    assert tap.run("run", "run.cfg", "-q", "--restart", "-P",
                   f"time.end={0.001 * (step + 10)}").returncode == 0
    assert "every expectation held" in watch("plummer.run", status=0)


def test_watching_a_run_without_locks():
    """a run that takes no lock is at work while its process lives, and was killed after that"""
    with at_work("--no-lock") as process:
        watcher = subprocess.Popen([tap.ORRERY, "watch", "plummer.run"], stdout=subprocess.PIPE,
                                   text=True)
        first = watcher.stdout.readline()
        assert re.fullmatch(rf"plummer.run: process {process.pid} on \S+ without a lock is "
                            r"at work\n",
                            first), first
        process.kill()
        process.wait()
        assert "it was killed" in watcher.communicate(timeout=60 * tap.PATIENCE)[0]
    assert "it was killed" in watch("plummer.run", status=75)
    lock = pathlib.Path("plummer.run/run.lock")
    # One of another machine is judged by the age of what it has left: ten minutes.
    lock.write_text("process 12 on moon, without a lock\n")
    watcher = subprocess.Popen([tap.ORRERY, "watch", "plummer.run"], stdout=subprocess.PIPE,
                               text=True)
    assert watcher.stdout.readline() == ("plummer.run: process 12 on moon, without a lock is at "
                                         "work\n")
    os.utime(lock, (time.time() - 700, time.time() - 700))
    assert "it was killed" in watcher.communicate(timeout=60 * tap.PATIENCE)[0]
    # With a lock nobody asks for the process: the kernel knows.
    lock.write_text(f"process {os.getpid()} on {os.uname().nodename}\n")
    assert "it was killed" in watch("plummer.run", status=75)


def test_watching_a_run_without_a_step():
    """whose config leaves the step out, so that its grid has a thousand steps: the time is known"""
    text = PLUMMER.replace("step = 0.001; end = %s", 'integrator = "gauss-radau"; end = 500.0')
    pathlib.Path("run.cfg").write_text(text)
    with at_work(config="run.cfg") as process:
        process.kill()
        process.wait()
    words = watch("plummer.run", status=75)
    reached = re.search(r", step (\d+) of 1000, t = (\S+) Myr", words)
    # Steps of the grid: a thousandth of the end each.
    assert reached and float(reached[2]) == 0.5 * int(reached[1]), words
    assert not re.search(r"\bnan\b", words), words
    assert "grid 0.5 Myr" in page("plummer.run")


def test_watching_a_run_that_another_process_holds():
    """one that has ended and is verified, say, or about to be continued, is waited for"""
    assert tap.run("run", write(), "-q").returncode == 0
    with open("plummer.run/run.lock", "w") as lock:
        lock.write("process 1 on moon\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        watcher = subprocess.Popen([tap.ORRERY, "watch", "plummer.run"], stdout=subprocess.PIPE,
                                   text=True)
        assert watcher.stdout.readline() == "plummer.run: process 1 on moon is at work\n"
        rows = subprocess.Popen([tap.ORRERY, "watch", "plummer.run", "-q", "--show", "energy"],
                                stdout=subprocess.PIPE, text=True)
        assert rows.stdout.readline().split()[0] == "step"
        first = [watcher.stdout.readline() for _ in range(2)]
        assert first[0].startswith("  reached        step 100 of 100, "), first
        fcntl.flock(lock, fcntl.LOCK_UN)
    assert len(rows.communicate()[0].splitlines()) == 1  # which was not told again at the end
    words = watcher.communicate()[0]
    assert watcher.returncode == 0 and "plummer.run: every expectation held" in words, words


def test_watching_what_is_no_run():
    """66, and what was looked for; 64 for wrong usage"""
    write()
    os.mkdir("empty")
    for path in ("empty", "nowhere", "run.cfg"):
        result = tap.run("watch", path)
        assert result.returncode == 66 and not result.stdout, result
        assert result.stderr == (f"{path}: holds neither a run (run.json) nor a study "
                                 "(study.json)\n"), result
    assert tap.run("run", "run.cfg", "-q").returncode == 0
    for options in (["--report=x"], ["--report=0"], ["--show", "enrgy"], ["--show"]):
        result = tap.run("watch", "plummer.run", *options)
        assert result.returncode == 64 and not result.stdout, result
    assert tap.run("watch").returncode == 64
    json_file = pathlib.Path("plummer.run/run.json")
    run = json.loads(json_file.read_text())
    json_file.write_text("{ oops")
    assert tap.run("watch", "plummer.run").returncode == 65
    for damage, said in (({"watch": run["watch"] | {"holds": "yes"}}, "watch.holds: is no boolean"),
                         ({"steps": "many"}, "steps: is no number"),
                         ({"files": {}}, "files: is no list"),
                         ({"findings": ["a"]}, "findings: is no list of objects"),
                         ({"findings": [{}, None]}, "findings: is no list of objects"),
                         ({"findings": run["findings"] + [{"bound": "low"}]},
                          f"findings.{len(run['findings'])}.bound: is no number")):
        json_file.write_text(json.dumps(run | damage))
        result = tap.run("watch", "plummer.run")
        assert result.returncode == 65 and said in result.stderr, result


def values(document, path):
    """What stands at a path in a document: a list of none or one."""
    for key in path.split("."):
        if not isinstance(document, dict) or key not in document:
            return []
        document = document[key]
    return [document]


def test_what_is_read_of_run_json_is_written():
    """every field of the table that run.json is read by, by one of five runs"""
    path = os.path.join(tap.SOURCE, "src/output/run-fields.inc")
    text = pathlib.Path(path).read_text()
    fields = dict(re.findall(r'^FIELD\((\w+),\s+"([^"]+)", \w+\)', text, re.M))
    elements = re.findall(r'^ELEMENT\(\w+, (\w+), "([^"]+)", \w+\)', text, re.M)
    assert len(fields) > 60 and len(elements) > 30
    runs = {
        "fixed": ("trust.shadow=true", "energy_budget.measure=true"),
        "chosen": ('time.integrator="gauss-radau"', 'time.end=0.01'),
        "many": ("ensemble.systems=3", "ensemble.energy_error_limit=0.5"),
        "coarse": ("compute.precision=mixed", "diagnostics.0.name=first",
                   "outputs.0={type=\"xyz\"; file=\"path.xyz\"; every=5}"),
        "field": ("external.0={type=\"harmonic\"; frequencies=[1.0, 1.0, 2.0]}",
                  "expect.1={quantity=\"kinetic\"; at_least=0.0; after=0.0}",
                  "expect.2={quantity=\"kinetic\"; between=[0.0, 1e9]; before=1e9}"),
    }
    documents = []
    for name, keys in runs.items():
        arguments = [word for key in keys for word in ("-P", key)]
        result = tap.run("run", write(), "-q", "-o", name, *arguments)
        assert result.returncode in (0, 1), result
        documents.append(json.loads(pathlib.Path(name, "run.json").read_text()))
    missing = {path for path in fields.values() if not any(values(d, path) for d in documents)}
    # Those of runs whose bodies come from files, whose integrator is a list (cli/stages.py), that
    # are asked for an error (cli/asked.py), or that were verified.
    assert missing == {"bodies_hash", "members", "choice", "choice.asked", "choice.attempts",
                       "choice.candidates", "choice.chosen", "choice.dearer", "choice.expected",
                       "choice.pilots", "choice.trust_until", "config.time.stages",
                       "verified"}, missing
    for name, path in elements:
        found = [element for document in documents for list_ in values(document, fields[name])
                 for element in list_]
        assert fields[name] in missing or any(values(element, path) for element in found), path


def test_watching_a_study():
    """how many runs there are of each outcome, how far those at work are, why others went wrong"""
    tap.thorough()
    config = write()
    sweep = ["-P", "sweep.0.key=time.end", "-P", "compute.threads=1", "-P"]
    study = subprocess.Popen([tap.ORRERY, "run", config, "-q", "-o", "s", *sweep,
                              "sweep.0.values=[0.1, 1e5, 2e5]"], stderr=subprocess.DEVNULL)
    at_work_first = re.compile(r"step +[1-9]")
    lock = pathlib.Path("s/002/run.lock")
    wait_until(lambda: lock.exists() and at_work_first.search(lock.read_text()), study)
    with subprocess.Popen([tap.ORRERY, "watch", "s"], stdout=subprocess.PIPE, text=True) as watcher:
        first = watcher.stdout.readline()
        assert first == f"s: 3 runs, process {study.pid} on {os.uname().nodename}\n", first
        study.send_signal(signal.SIGTERM)
        assert study.wait() == 75
        words = " ".join(watcher.stdout.read().split())
    assert watcher.returncode == 75, words
    assert re.match(r"runs 1 held, [12] at work(, 1 not begun)? at work 002 \[\.{24}\] [\d.]+ %, "
                    r"step \d+ of 100000000, ", words), words
    assert re.search(r"s: 3 runs, no process is at work runs 1 held, [12] stopped(, 1 not begun)? "
                     r"stopped 002 at step \d+ of 100000000 ", words), words
    assert words.endswith("to go on the command that ran it last, once more"), words
    shutil.rmtree("s")
    result = tap.run("run", config, "-q", "-o", "s", *sweep, "sweep.0.values=[0.1, 0.2]")
    assert result.returncode == 0, result
    assert watch("s", status=0) == "s: 2 runs, no process is at work runs 2 held"
    result = tap.run("watch", "s", "--report", env={**os.environ, "PATH": "/nonexistent"})
    assert result.returncode == 69 and "s/report.html: without figures" in result.stderr, result
    assert "2 of 2 finished as expected" in pathlib.Path("s/report.html").read_text()
    assert tap.run("watch", "s", "--show", "energy").returncode == 64
    change_json("s/002/run.json", verdict="failed", exit_status=1)
    assert "runs 1 held, 1 failed" in watch("s", status=1)
    change_json("s/001/run.json", verdict="error", exit_status=70, errors=["it blew up"])
    words = watch("s", status=70)
    assert "error 001 exit status 70: it blew up" in words, words


tap.main()
