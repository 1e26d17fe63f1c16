"""The faults of src/; mutants.py says what a row is."""

ROWS = [
    ("src/main.c", "return prints_result || !(closed || pipe);", "return prints_result;",
     "cli/reliability.py"),
    ("src/main.c", "return prints_result || !(closed || pipe);", "return true;",
     "cli/reliability.py faults/files.py"),
    ("src/main.c", "if (fflush(stdout) == 0 && !ferror(stdout))", "if (true)",
     "cli/reliability.py cli/convert.py"),
    ("src/main.c", "return print_usage(stderr), STATUS_USAGE;",
     "return print_usage(stderr), STATUS_OK;", "cli/run.py cli/bad-config.py"),
    ("src/main.c", '"... and %zu more errors\\n", error.dropped', '"... and more errors\\n"',
     "cli/bad-config.py"),
]
