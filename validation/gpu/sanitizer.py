"""compute-sanitizer on short runs, as many as there is time for."""

import os
import pathlib
import re
import shutil
import time

from session import TAIL

# The sanitizer's tools on short runs: blocks and segments of 600 bodies, whose steps are one
# launch, a system that stays in a block and whose threads share sums, two tiles of `symmetric`.
# What shares memory between threads comes first, for there may not be time for all.
SANITIZED = [("racecheck", "blocked", "single", 600), ("racecheck", "symmetric", "double", 600),
             ("racecheck", "blocked", "double", 100), ("racecheck", "tiled", "mixed", 300),
             ("memcheck", "blocked", "mixed", 600), ("memcheck", "symmetric", "single", 600),
             ("memcheck", "blocked", "single", 100), ("memcheck", "simt", "double", 300)]
# A run may take half of the time that is left, but this number of seconds at least: one that hangs
# leaves time to the others.
LEAST = 10
# What it says as soon as it has found something, before its summary.
REPORT = re.compile(r"^=+ +(?:Error: |Warning: )?(?:Race reported|Invalid |Potential )",
                    re.MULTILINE)
SHORT = """
name = "short";
bodies = { initial = "plummer"; count = 300; seed = 7; };
physics = { softening = 0.1; };
time = { step = 0.01; end = 0.03; };
compute = { backend = "cuda"; };
diagnostics = ( { type = "conservation"; every = 2; } );
"""


def find_sanitizer():
    for path in (shutil.which("compute-sanitizer"), "/usr/local/cuda/bin/compute-sanitizer",
                 "/usr/local/cuda/compute-sanitizer/compute-sanitizer"):
        if path and os.access(path, os.X_OK):
            return path
    return None


def run(session, tools, part, seconds):
    program, end = find_sanitizer(), time.monotonic() + seconds
    if not program:
        part.update(state="not run", reason="there is no compute-sanitizer")
        return
    config = pathlib.Path(session.scratch.name, "short.cfg")
    config.write_text(SHORT)
    part.update(state="passed", tests=[])
    for tool, kernel, precision, count in SANITIZED[:2 if tools.executor else None]:
        keys = (f"compute.kernel={kernel}", f"compute.precision={precision}",
                f"bodies.count={count}")
        test = {"title": f"{tool}: {kernel}, {precision}, {count} bodies", "notes": []}
        left = end - time.monotonic()
        limit = min(left, max(LEAST, left / 2))
        status, output = session.run(
            [program, "--tool", tool, "--error-exitcode", "9", tools.orrery, "run", config, "-q",
             *[word for key in keys for word in ("-P", key)]], limit, tools.environment) \
            if left > 1 else (None, "")
        found = REPORT.search(output)
        test["result"] = "passed" if status == 0 else "failed" if status or found else "skipped"
        test["notes"] += re.findall(r"=+ ((?:ERROR|RACECHECK) SUMMARY: .*)", output)
        if status is None:
            test["notes"].append(f"cut off after {limit:.0f} s" if left > 1 else "not begun")
        part["tests"].append(test)
        if test["result"] == "failed":
            part.update(state="failed", output=output[-TAIL:])
    cut = sum(test["result"] == "skipped" for test in part["tests"])
    if cut:
        part["reason"] = f"{cut} of {len(part['tests'])} were cut off or not begun: " \
            "there was no time"
        if cut == len(part["tests"]):
            part["state"] = "cut off"
