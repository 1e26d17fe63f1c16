"""The tables of a run for pandas: columns without their units, which are kept beside them."""

import re

import pandas

TITLE = re.compile(r"[A-Za-z0-9][\w.-]*( \[[\w ^*/().+-]*\])?", re.ASCII)  # as a run writes it


def read_table(path):
    """A DataFrame of NAME.csv; its `attrs["units"]` has the unit of every column, "1" for none."""
    table = pandas.read_csv(path, float_precision="round_trip")  # the same numbers, to the last bit
    strange = [title for title in table.columns if not TITLE.fullmatch(title)]
    if strange:
        raise ValueError(f"{path}: {strange[0]!r} is no column of a run")
    titles = [title.rstrip("]").partition(" [") for title in table.columns]
    table.columns = [name for name, _, _ in titles]
    table.attrs["units"] = {name: unit or "1" for name, _, unit in titles}
    return table


def label(table, name):
    """"time [T]", for an axis."""
    unit = table.attrs["units"][name]
    return name if unit == "1" else f"{name} [{unit}]"
