"""Faults that change nothing a test could see: the file, the line and the faulty one without their
indentation, and the reason."""

EQUIVALENT = [
    ("src/study/processes.c", "char path[STUDY_PATH_SIZE], manifest[STUDY_PATH_SIZE + 16];",
     "char path[STUDY_PATH_SIZE], manifest[STUDY_PATH_SIZE + 17];", "a byte more of room"),
    ("src/diagnostics/profile.c",
     "const bool small = fabs(half) < 1e-4; /* sinh(h) / h = 1 + h^2 / 6 + ... */",
     "const bool small = fabs(half) < 0.000101; /* sinh(h) / h = 1 + h^2 / 6 + ... */",
     "both ways are right to 1e-16 there"),
    ("src/model/kepler.c", "const double first_step = copysign(1e-3, dt), tolerance = 1e-13;",
     "const double first_step = copysign(0.00101, dt), tolerance = 1e-13;",
     "the first step of a method that chooses its steps"),
    ("src/output/stream.c", "stream->fd = -1;", "return;",
     "leaves memory unfreed: for the sanitizers"),
    ("src/space/body-tree.c", "tree->levels++;", ";",
     "only counts towards the depth from which cells are halves by number: the tree is as valid,"
     " and deeper by the levels of its trunk where bodies are almost at one point"),
    ("src/config/section.c", "assert(i < MAX_VARIANTS);", ";", "an assertion that holds"),
    ("src/integrator/gauss-radau-large.c", "if (worker->first >= worker->last)",
     "if (worker->first > worker->last)", "nothing is then copied by memcpy() of no bytes"),
    ("src/output/workplace.c", "if (work->fd >= 0)", "if (!(work->fd >= 0))",
     "leaves a descriptor open: for valgrind"),
    ("src/formats/hdf5-snapshot.c",
     "exponent <= bits && exponent_size <= bits - exponent && mantissa_size > 0 &&",
     "exponent <= bits && exponent_size <= bits - exponent && mantissa_size > 1 &&",
     "no program writes numbers with one bit of mantissa"),
]
