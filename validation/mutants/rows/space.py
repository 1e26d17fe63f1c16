"""The faults of src/space/; mutants.py says what a row is."""

ROWS = [
    ("src/space/point-tree.c", "children[0].last = children[1].first = middle;",
     "children[0].last = middle, children[1].first = middle + 1;", "unit/pairs"),
    ("src/space/point-tree.h", "gap2 += gap > 0.0 ? gap * gap : 0.0;", "gap2 += gap * gap;",
     "unit/neighbours"),
]
