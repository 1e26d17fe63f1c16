"""The faults of src/force/; mutants.py says what a row is."""

ROWS = [
    ("src/force/origin.c", "low->x[k] = a.x[k] < b.x[k] ? a.x[k] : b.x[k];", "low->x[k] = a.x[k];",
     "unit/kernels unit/kernel-bits"),
    ("src/force/origin.c", "origin[k] = row.x[k];", "origin[k] = x[k][0];",
     "unit/kernels unit/kernel-bits cli/escaper.py"),
    ("src/force/method.c", "rank * alone + first + count, false, NULL };",
     "rank * alone + first + 1, false, NULL };",
     "unit/force unit/backend unit/kernels unit/kernel-bits"),
    ("src/force/method.c", "exact.precision = PRECISION_DOUBLE;", ";", "unit/method"),
    ("src/force/method.c", "exact.method = &force_direct;", ";", "unit/method"),
    ("src/force/method.c", "if (!method->jerk)", "if (false)", "unit/method"),
    ("src/force/method.c", "return options->method ? options->method : &force_direct;",
     "return &force_direct;", "unit/method"),
    ("src/force/accuracy.c", "s2 = r2 + eps * eps;", "s2 = r2 + eps;",
     "unit/force unit/kernels unit/kernel-bits cli/bench.py"),
    ("src/force/accuracy.c", "sums.along += error * exact;",
     "sums.along += fabsl(error * exact);", "cli/study-results.py"),
]
