"""The faults of src/simulation/; mutants.py says what a row is."""

ROWS = [
    ("src/simulation/simulation.c", "copy->step /= changes->refinement;", "", "unit/simulation"),
    ("src/simulation/simulation.c", "copy->options.refinement = changes->refinement;", "",
     "unit/simulation"),
    ("src/simulation/simulation.c", "copy->options.force = *changes->force;", "",
     "unit/simulation"),
    ("src/simulation/simulation.c",
     "bodies_copy_system(bodies, s, from->bodies, changes->which ? changes->which[s] : s);",
     "bodies_copy_system(bodies, s, from->bodies, s);", "unit/simulation"),
    ("src/simulation/simulation.c", "from->backend && count == from->bodies->count", "false",
     "unit/simulation"),
    ("src/simulation/simulation.c", "if (!anew || !anew[s])", "if (true)", "unit/simulation"),
    ("src/simulation/simulation.c", "from ? from[s] : s);\n    stop(before);",
     "s);\n    stop(before);", "unit/simulation"),
    ("src/simulation/simulation.c", "simulation->first[s] = simulation->first[which[s]];", "",
     "unit/simulation"),
    ("src/simulation/simulation.c", "                                 .steps = from->steps };",
     "                                 .steps = 0 };", "unit/simulation"),
    ("src/simulation/simulation.c", "if (status != STATUS_STOPPED)", "if (true)",
     "unit/simulation"),
]
