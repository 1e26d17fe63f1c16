"""The faults of gpu/bench/; mutants.py says what a row is."""

ROWS = [
    ("gpu/bench/gpu-bench.c", "part < GPU_BENCH_PARTS; part++",
     "part < GPU_BENCH_PARTS && !status; part++", "gpu/run-on-gpu.py"),
    ("gpu/bench/gpu-bench.c", "if (options->store)", "if (false)", "gpu/run-on-gpu.py"),
]
