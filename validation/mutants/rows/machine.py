"""The faults of src/machine/; mutants.py says what a row is."""

ROWS = [
    ("src/machine/cores.c", "if (path && !is_loader(path))",
     "if (path && (!is_loader(path) || true))", "cli/reliability.py"),
    ("src/machine/room.c", 'strncmp(end, " kB", 3) == 0 ? 1024.0',
     'strncmp(end, " kB", 3) == 0 ? 1000.0', "unit/room"),
    ("src/machine/room.c", "limit - fmax(0.0, used - (inactive > 0.0 ? inactive : 0.0))",
     "limit - fmax(0.0, used)", "unit/room"),
    ("src/machine/room.c", "least = fmin(least, look(root, group, version));",
     "least = look(root, group, version);", "unit/room"),
    ("src/machine/cores.c", "share / period : INFINITY", "period / share : INFINITY", "unit/room"),
    ("src/machine/cores.c", "ceil(cores_quota(\"\"))", "floor(cores_quota(\"\"))",
     "cli/run.py", "needs a machine whose quota of cores is not whole"),
]
