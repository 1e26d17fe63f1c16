"""The faults of src/report/templates/; mutants.py says what a row is."""

ROWS = [
    ("src/report/templates/begin.html", "default-src 'none'; ", "",
     "cli/report-player.py"),
    ("src/report/templates/player.js", "axis[first + i - bodies] : 0) + low[i]",
     "axis[first + i] : 0) + low[i]", "cli/report-player.py"),
    ("src/report/templates/player.js", "const line = Math.round(height / 2 - perLength",
     "const line = Math.round(height / 2 + perLength", "cli/report-player.py"),
    ("src/report/templates/player.js", "since += 1000 * steps / rate.value;", "since = Infinity;",
     "cli/report-player.py"),
]
