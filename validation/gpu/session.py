"""A session on a GPU: commands within a time, what they said, and results that are kept as they
come."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import traceback

import table

TAIL = 4000  # characters of the output of what failed


class CutOff(Exception):
    """The session was told to end."""


def write_whole(path, text):
    """The file is there whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    new.replace(path)


class Session:
    """`folder` gets NAME.json and NAME.md, written anew after every part and every few seconds."""

    def __init__(self, folder, name, seconds, result):
        self.folder = pathlib.Path(folder)
        self.name = name
        self.deadline = time.monotonic() + seconds
        self.result = result
        self.scratch = tempfile.TemporaryDirectory(prefix="orrery-gpu-")
        self.process = None

    def time_left(self):
        return self.deadline - time.monotonic()

    def save(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / f"{self.name}.json", json.dumps(self.result, indent=1) + "\n")
        try:
            page = table.page(self.result)
        except Exception:  # pylint: disable=broad-except
            page = f"No page could be made of {self.name}.json:\n\n{traceback.format_exc()}"
        write_whole(self.folder / f"{self.name}.md", page)

    def run(self, command, seconds, environment=None, watch=None, folder=None):
        """(exit status, output) of a command in a folder (one of its own), both outputs together;
        the status is None where it was cut off after `seconds` seconds, or when the session's time
        was over. `watch` is called every other second."""
        folder = folder or tempfile.mkdtemp(dir=self.scratch.name)
        log = pathlib.Path(folder, "output")
        end = time.monotonic() + min(seconds, self.time_left())
        with log.open("wb") as output:
            self.process = subprocess.Popen([str(word) for word in command], cwd=folder,
                                            stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.STDOUT, start_new_session=True,
                                            env={**os.environ, **(environment or {})})
        status = None
        try:
            while status is None and time.monotonic() < end:
                try:
                    status = self.process.wait(min(2, max(0.01, end - time.monotonic())))
                except subprocess.TimeoutExpired:
                    if watch:
                        watch()
        finally:
            self.stop()
        if watch:
            watch()
        return status, log.read_text(errors="replace")

    def stop(self):
        """Ends what the last command left running."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def part(self, name, title, budget, do):
        """Runs do(part, seconds), which fills part["state"]: passed, failed, cut off or not run."""
        part = self.result["parts"][name]
        if self.time_left() < 1:
            part["reason"] = "the session's time was over"
            return
        print(f"{name}: {title} ...", flush=True)
        start = time.monotonic()
        part["state"] = "cut off"  # until it has ended otherwise
        del part["reason"]
        try:
            self.save()
            do(part, min(budget, self.time_left()))
        except CutOff:
            part["reason"] = "the session was ended"
            raise
        except Exception as error:  # pylint: disable=broad-except
            # Whatever a part stumbles over, the others have their turn.
            part.update(state="failed", reason=f"{type(error).__name__}: {error}",
                        output=traceback.format_exc()[-TAIL:])
        finally:
            part["seconds"] = round(time.monotonic() - start, 1)
            self.save()
            reason = part.get("reason", "")
            print(f"{name}: {part['state']}{': ' if reason else ''}{reason}", flush=True)


# --- tests that speak TAP ----------------------------------------------------------------------

LINE = re.compile(r"^(ok|not ok) \d+(?: - | )(.*)$")


def read_tap(output):
    """Tests as [{title, result, notes}]; comments before a result are its notes."""
    tests, notes = [], []
    for line in output.splitlines():
        found = LINE.match(line)
        if found:
            title, _, skipped = found[2].partition("# SKIP")
            result = "skipped" if "# SKIP" in found[2] else \
                "passed" if found[1] == "ok" else "failed"
            tests.append({"title": (title or skipped).strip().replace("_", " "), "result": result,
                          "notes": notes + ([skipped.strip()] if title and skipped else [])})
            notes = []
        elif line.startswith("# "):
            # A failed test of tap.py explains itself after its line.
            target = tests[-1]["notes"] if tests and tests[-1]["result"] == "failed" else notes
            target.append(line[2:].strip())
    return tests


def judge(part, status, output, seconds, tests=None):
    """The state of a part from the exit status of its tests, and from these, or those that are in
    its output."""
    part["tests"] = read_tap(output) if tests is None else tests
    failed = status != 0 or any(test["result"] == "failed" for test in part["tests"])
    if status is None:
        part.update(state="cut off", reason=f"after {seconds:.0f} s")
    else:
        part["state"] = "failed" if failed else "passed"
    if failed:
        part["output"] = output[-TAIL:]
