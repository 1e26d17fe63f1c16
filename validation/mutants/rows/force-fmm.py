"""The faults of src/force/fmm/; mutants.py says what a row is."""

ROWS = [
    ("src/force/fmm/fmm-tolerance.c", "pow(aim / ratio, 1 / exponent)",
     "pow(ratio / aim, 1 / exponent)", "unit/fmm"),
    ("src/force/fmm/fmm.c", "psi[at] = 2 * unit * xa;", "psi[at] = unit * xa;", "unit/fmm"),
    ("src/force/fmm/fmm.c", "a[d][s * bodies->stride + fmm->tree->index[i]]",
     "a[d][s * bodies->stride + i]", "unit/fmm"),
    ("src/force/fmm/fmm-kernel.c", "(error_there <= tolerance * its_weight)",
     "(error_there <= splat_float(100) * tolerance * its_weight)", "unit/fmm"),
    ("src/force/fmm/fmm-upward.inc", "pow(powers[order] / powers[0], 1.0 / order));", "0);",
     "unit/fmm", "leaves as large as the table's do not need it; smaller ones did"),
    ("src/force/fmm/fmm-near.inc", "(double)near->loaded + (double)(near->first",
     "(double)(near->first", "unit/fmm"),
    ("src/force/fmm/expansion.c", "row[nx] += power[0][j] * row[nx - j];",
     "row[nx] += power[1][j] * row[nx - j];", "unit/fmm"),
    ("src/force/fmm/fmm-walk.inc", "to[n] = (REAL)(moved[n] * shrink[e->degree[n]]);",
     "to[n] = (REAL)moved[n];", "unit/fmm"),
    ("src/force/fmm/fmm.h", "return !interruption_raised(fmm->base.physics.interruption) && ",
     "return ", "faults/answers.py",
     "its kind of work is tried where all are, by ORRERY_FAULTS=DIR"),
]
