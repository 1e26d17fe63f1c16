"""Runs and studies, opened from their directories."""

import collections.abc
import html
import os

from . import frames
from .error import Error
from .folder import Folder
from .tables import Tables

# The names of the units of each system: mass, length, velocity, time (src/model/units.c).
UNITS = {
    "nbody": ("M", "L", "L T^-1", "T"),
    "astronomical": ("Msun", "AU", "AU d^-1", "d"),
    "galactic": ("1e10Msun", "kpc", "km/s", "kpc (km/s)^-1"),
    "si": ("kg", "m", "m s^-1", "s"),
    "pc-msun-kms": ("Msun", "pc", "km/s", "pc (km/s)^-1"),
    "pc-msun-myr": ("Msun", "pc", "pc Myr^-1", "Myr"),
}


def page(title, rows, *more):
    """HTML of names and values, all escaped."""
    cells = "".join(f"<tr><th>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>"
                    for name, value in rows if value not in (None, ""))
    return f"<p><b>{html.escape(str(title))}</b></p><table>{cells}</table>" + "".join(more)


class Outputs(collections.abc.Mapping):
    """The frames of each output of a run by its name; a file is opened when it is asked for."""

    def __init__(self, makers):
        self._makers, self._made = makers, {}

    def __getitem__(self, name):
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self):
        return iter(self._makers)

    def __len__(self):
        return len(self._makers)


class Run:
    """A run directory.

    path, record: the directory, and run.json as it is.
    tables: DataFrames by the names of the CSV files.
    outputs: the frames of each output by its name.
    """

    manifest, form = "run.json", "orrery run"

    def __init__(self, folder):
        self._folder, self.path = folder, folder.path
        self.record = folder.json(self.manifest, self.form)
        names = folder.files(self.record, self.manifest)
        self.tables = Tables(folder, names)
        self.outputs = Outputs(frames.outputs(folder, names))

    def _value(self, key, kind, default):
        value = self.record.get(key, default)
        return value if isinstance(value, kind) and not isinstance(value, bool) else default

    @property
    def name(self):
        return self._value("name", str, "")

    @property
    def ended(self):
        """False while the run is at work, and if it was killed."""
        return self.record.get("state") == "ended"

    @property
    def verdict(self):
        """"held", "failed", "none" (nothing was expected), "stopped", "error" or "running"."""
        return self._value("verdict", str, "") if self.ended else "running"

    @property
    def verdict_text(self):
        """Why the run failed and what to do, in one sentence; else empty."""
        return self._value("verdict_text", str, "") if self.ended else ""

    @property
    def status(self):
        """The exit status of the program, None if the run has not ended."""
        return self._value("exit_status", int, None) if self.ended else None

    @property
    def held(self):
        """Whether all that was expected held; None if that was not judged."""
        return {("held", 0): True, ("failed", 1): False}.get((self.verdict, self.status))

    @property
    def config(self):
        """Every key with the value that was used, as nested dicts and lists."""
        return self._value("config", dict, {})

    @property
    def units(self):
        """The names of the units: system, mass, length, velocity, time."""
        physics = self.config.get("physics")
        system = physics.get("units") if isinstance(physics, dict) else None
        known = UNITS.get(system, ()) if isinstance(system, str) else ()
        return {"system": system, **dict(zip(("mass", "length", "velocity", "time"), known))}

    @property
    def frames(self):
        """The frames of the first output: of a trajectory, or else of snapshots."""
        for name in self.outputs:
            if not name.startswith("failure.xyz"):
                return self.outputs[name]
        raise Error(f"{self.path}: the run wrote no trajectory and no snapshots (outputs)")

    def __repr__(self):
        return f"<run {self.path}: {self.verdict}>"

    def _repr_html_(self):
        reached = f"t = {self.record.get('time')}, step {self.record.get('step')} of " \
                  f"{self.record.get('steps')}" if self.ended else ""
        return page(f"{self.name}: {self.verdict}", [
            ("why", self.verdict_text.removeprefix("failed: ")), ("reached", reached),
            ("bodies", self.record.get("bodies")),
            ("largest energy error", self.record.get("largest_energy_error")),
            ("tables", ", ".join(self.tables)), ("outputs", ", ".join(self.outputs)),
            ("directory", self.path)])


class Runs(collections.abc.Mapping):
    """The members of a study that have begun, by their numbers as in the table: "001"."""

    def __init__(self, folder, files):
        self._folder, self._opened = folder, {}
        self._names = [name[:-1] for name in files if name.endswith("/")
                       and folder.kind(name[:-1]) == "folder"
                       and Folder(name[:-1], folder).kind(Run.manifest)]

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        if name not in self._opened:
            self._opened[name] = Run(Folder(name, self._folder))
        return self._opened[name]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)


class Study:
    """The directory of a sweep or of a convergence test.

    path, record: the directory, and study.json as it is.
    tables: DataFrames by the names of the CSV files: "study", "convergence".
    runs: the members by their numbers, each a Run.
    """

    manifest, form = "study.json", "orrery study"

    def __init__(self, folder):
        self._folder, self.path = folder, folder.path
        self.record = folder.json(self.manifest, self.form)
        names = folder.files(self.record, self.manifest)
        self.tables = Tables(folder, names)
        self.runs = Runs(folder, names)

    @property
    def table(self):
        """study.csv: a row for each member."""
        if "study" not in self.tables:
            raise Error(f"{self.path}: has no study.csv; no member has ended")
        return self.tables["study"]

    @property
    def held(self):
        """Whether every member held; None if none failed and some were not judged."""
        held = [{"held": True, "failed": False}.get(word) for word in self.table["verdict"]]
        return False if False in held else None if None in held or not held else True

    def __repr__(self):
        return f"<study {self.path}: {len(self.runs)} runs>"

    def _repr_html_(self):
        keys = self.record.get("keys")
        keys = ", ".join(map(str, keys)) if isinstance(keys, list) else ""
        table = self.table.to_html(max_rows=40, escape=True) if "study" in self.tables else ""
        return page(self.path, [("runs", len(self.runs)), ("keys", keys)], table)


def open_results(directory):
    """Opens a directory that the program has written: a Run or a Study.

    Nothing outside of the directory is opened and no links within it are followed, whatever its
    files say; what is wrong with them is an Error.
    """
    folder = Folder(directory)
    for kind in (Run, Study):
        if folder.kind(kind.manifest):
            return kind(folder)
    with folder._descriptor():
        raise Error(f"{folder.path}: is no run and no study: there is no run.json, and "
                    "no study.json")
