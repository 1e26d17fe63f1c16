"""The faults of src/bench/; mutants.py says what a row is."""

ROWS = [
    ("src/bench/bench.c", "return gsl_stats_min(timed->seconds",
     "return gsl_stats_max(timed->seconds", "cli/bench.py"),
    ("src/bench/bench.c", "(far && i % 2 ? FAR : 0)", "(far && i % 2 ? 1 : 0)", "cli/bench.py"),
    ("src/bench/bench.c", "if (bytes <= room.bytes)", "if (bytes > 0)", "cli/memory.py"),
    ("src/bench/bench.c", "if (!subject->bodies && check_room(plans[k].sizes[n], error))",
     "if (false)", "cli/memory.py"),
    ("src/bench/bench.c", "class_ == &backend_serial || class_ == &backend_cuda",
     "class_ != &backend_openmp", "cli/bench.py"),
    ("src/bench/bench.c", "MOST_CASES = 1024", "MOST_CASES = 256", "cli/bench.py"),
    ("src/bench/results.c", '"seconds", row->seconds,', '"seconds", row->median,', "cli/bench.py"),
    ("src/bench/results.c", '"far_error", document_number(row->far_error)',
     '"far_error", document_number(row->error)', "cli/bench.py"),
]
