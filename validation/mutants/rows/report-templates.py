"""The faults of src/report/templates/; mutants.py says what a row is."""

ROWS = [
    ("src/report/templates/begin.html", "default-src 'none'; ", "", "cli/report*.py"),
]
