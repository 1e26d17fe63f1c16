"""CSV files as DataFrames: columns without their units, which are kept beside them."""

import collections.abc
import html
import io
import re

import pandas

from .error import Error

# A column, as the program names it.
TITLE = re.compile(r"[A-Za-z0-9][\w.-]*( \[[\w ^*/().+-]*\])?", re.ASCII)
# The same numbers to the last bit: later versions of pandas always read them so.
VERSION = tuple(int(word) for word in pandas.__version__.split(".")[:2])
EXACT = {"float_precision": "round_trip"} if VERSION < (3, 1) else {}
TEXT = ("member", "verdict", "file")  # columns whose cells stay text, whatever they look like


def read_table(folder, name):
    """A DataFrame of a file; its `attrs["units"]` has the unit of every column, "1" for none."""
    path = f"{folder.path}/{name}"
    with folder.open(name) as file:
        content = file.read()
    content = content[:content.rfind(b"\n") + 1]  # a run at work may be within a row
    try:
        titles = pandas.read_csv(io.BytesIO(content), header=None, nrows=1, dtype=str).iloc[0]
        strange = [title for title in titles if not TITLE.fullmatch(str(title))]
        if strange:
            raise ValueError(f"{strange[0]!r} is no column of a run")
        pairs = [title.rstrip("]").partition(" [")[::2] for title in titles]
        names = [name for name, _ in pairs]
        table = pandas.read_csv(io.BytesIO(content), header=None, names=names, skiprows=1,
                                index_col=False, **EXACT,
                                dtype={name: str for name in TEXT if name in names})
    except (ValueError, IndexError, pandas.errors.ParserError) as error:
        raise Error(f"{path}: {error}") from None
    table.attrs["units"] = {name: unit or "1" for name, unit in pairs}
    return table


class Tables(collections.abc.Mapping):
    """The tables of a run by their names, without ".csv". A table is read when it is asked for."""

    def __init__(self, folder, files):
        self._folder = folder
        self._names = [name[:-4] for name in files
                       if name.endswith(".csv") and folder.kind(name)]
        self._read = {}

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(f"{name!r}; there are {', '.join(self._names) or 'no tables'}")
        if name not in self._read:
            self._read[name] = read_table(self._folder, name + ".csv")
        return self._read[name]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return f"<tables: {', '.join(self._names)}>"

    def _repr_html_(self):
        return "<p>tables: " + html.escape(", ".join(self._names)) + "</p>"
