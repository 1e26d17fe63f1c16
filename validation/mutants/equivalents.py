"""Faults that change nothing a test could see: the file, the faulty line, and the reason."""

EQUIVALENT = [
]
