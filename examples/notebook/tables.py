"""The tables of a run for pandas: columns without their units, which are kept beside them."""

import pandas


def read_table(path):
    """A DataFrame of NAME.csv; its `attrs["units"]` has the unit of every column, "1" for none."""
    table = pandas.read_csv(path, float_precision="round_trip")  # the same numbers, to the last bit
    titles = [title.rstrip("]").partition(" [") for title in table.columns]
    table.columns = [name for name, _, _ in titles]
    table.attrs["units"] = {name: unit or "1" for name, _, unit in titles}
    return table


def label(table, name):
    """"time [T]", for an axis."""
    unit = table.attrs["units"][name]
    return name if unit == "1" else f"{name} [{unit}]"
