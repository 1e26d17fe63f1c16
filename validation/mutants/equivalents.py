"""Faults that change nothing a test could see: the file, the line and the faulty one without their
indentation, and the reason."""

EQUIVALENT = [
    ("src/output/stream.c", "stream->fd = -1;", "return;",
     "leaves memory unfreed: for the sanitizers"),
    ("src/space/body-tree.c", "tree->levels++;", ";",
     "only counts towards the depth from which cells are halves by number: the tree is as valid,"
     " and deeper by the levels of its trunk where bodies are almost at one point"),
]
