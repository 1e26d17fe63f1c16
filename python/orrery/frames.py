"""Frames of trajectories and snapshots as numpy arrays, each read when it is asked for."""

import collections.abc
import gzip
import io
import itertools
import os
import re
import zlib

import numpy

from .error import Error

LONGEST = 100  # bytes of a line that is a number
DEFLATE = 1032  # zlib makes nothing smaller than by this factor
COUNT = re.compile(rb"\s*(\d{1,12})\s*")
PAIR = re.compile(r'(?<![\w-])([\w-]+)=(?:"([^"]*)"|(\S*))')
XYZ_NAMES = {"pos": "positions", "velo": "velocities", "mass": "masses", "id": "ids",
             "species": "species", "cluster": "systems"}
HDF5_NAMES = {"Coordinates": "positions", "Velocities": "velocities", "Masses": "masses",
              "ParticleIDs": "ids", "System": "systems"}
SNAPSHOT = re.compile(r"(.+)_(\d{3,})\.hdf5")
XYZ_TYPES = {"S": str, "R": float, "I": numpy.int64, "L": str}


class Frame:
    """The bodies at one time.

    time, step: when; step is None in a snapshot.
    positions, velocities: N x 3; masses, ids, species, systems: N; None if the file has none.
    columns: all columns of the file, by these names or by their own.
    """

    def __init__(self, time, step, columns):
        self.time, self.step, self.columns = time, step, columns

    def __getattr__(self, name):
        if name in XYZ_NAMES.values():
            return self.columns.get(name)
        raise AttributeError(name)

    def __len__(self):
        return len(next(iter(self.columns.values()), ()))

    def __repr__(self):
        return f"<frame at time {self.time}: {len(self)} bodies>"


class Frames(collections.abc.Sequence):
    """The frames of one output; a slice is a list of frames."""

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._frame(k) for k in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"frame {index} of {len(self)}")
        return self._frame(index % len(self))

    def __repr__(self):
        return f"<{len(self)} frames of {self.path}>"


class XyzFrames(Frames):
    """The whole frames of an extended XYZ file, which may be compressed; the last may be cut off.

    Compressed, it is read from its start up to the frame; going backwards begins anew.
    """

    def __init__(self, folder, name):
        self.path = f"{folder.path}/{name}"
        self._file = folder.open(name)
        if name.endswith(".gz"):
            self._file = gzip.GzipFile(fileobj=self._file)
        self._places = None

    def _index(self):
        """The beginning of each whole frame and its number of bodies."""
        places, place = [], 0
        self._file.seek(0)
        while first := self._file.readline(LONGEST):
            match = COUNT.fullmatch(first)
            if not match and (first.endswith(b"\n") or len(first) == LONGEST):
                raise Error(f"{self.path}: frame {len(places)} has no number of bodies")
            count = int(match[1]) if match else 0
            lines = 0
            for line in itertools.islice(self._file, count + 1):
                lines += line.endswith(b"\n")
            if not match or lines < count + 1:
                break
            places.append((place, count))
            place = self._file.tell()
        return places

    def __len__(self):
        if self._places is None:
            try:
                self._places = self._index()
            except (OSError, EOFError, zlib.error) as error:
                raise Error(f"{self.path}: {error}") from None
        return len(self._places)

    def _frame(self, index):
        place, count = self._places[index]
        try:
            self._file.seek(place)
            self._file.readline()
            comment = self._file.readline().decode()
            lines = list(itertools.islice(self._file, count))
            keys = {key: quoted or bare for key, quoted, bare in PAIR.findall(comment)}
            step = keys.get("Step")
            return Frame(float(keys["Time"]), None if step is None else int(step),
                         self._columns(comment, lines, count))
        except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
            raise Error(f"{self.path}: frame {index}: {error}") from None

    @staticmethod
    def _columns(comment, lines, count):
        """The columns that Properties names, as name:type:width after another."""
        words = re.search(r"Properties=(\S+)", comment)[1].split(":")
        widths = [int(width) for width in words[2::3]]
        if len(words) % 3 or not all(0 < width <= 1000 for width in widths):
            raise ValueError(f"Properties={':'.join(words)}")
        places = [sum(widths[:k]) for k in range(len(widths))]
        columns = list(zip(words[::3], words[1::3], places, widths))
        found = {}
        for kind in dict.fromkeys(words[1::3]):  # one pass for the columns of each type
            used = [place + k for _, one, place, width in columns for k in range(width)
                    if one == kind]
            cells = numpy.loadtxt(io.BytesIO(b"".join(lines)), dtype=XYZ_TYPES[kind], usecols=used,
                                  comments=None, ndmin=2)
            if cells.shape != (count, len(used)):
                raise ValueError(f"{cells.shape[0]} rows of {count}")
            for name, one, place, width in columns:
                if one == kind:
                    first = used.index(place)
                    part = cells[:, first] if width == 1 else cells[:, first:first + width]
                    found[XYZ_NAMES.get(name, name)] = numpy.ascontiguousarray(part)
        return found


class Hdf5Frames(Frames):
    """Snapshots in HDF5, a file each. h5py is needed when one of them is read."""

    def __init__(self, folder, names):
        self.path = f"{folder.path}/{names[0]} ..."
        self._folder, self._names = folder, names

    def __len__(self):
        return len(self._names)

    @staticmethod
    def _inside(group, name, kind, size=0):
        """An object of a group in a file of `size` bytes; one that would be fetched from elsewhere,
        or that the file cannot hold, is an error."""
        import h5py
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"{name} is missing, or a link, which is not followed")
        found = group[name]
        if not isinstance(found, kind):
            raise ValueError(f"{name} is of another kind")
        if kind is h5py.Dataset and (found.external or found.is_virtual):
            raise ValueError(f"{name} is kept in another file, which is not opened")
        if kind is h5py.Dataset and found.nbytes > size * (DEFLATE if found.chunks else 1):
            raise ValueError(f"{name} is larger than the file")
        return found

    def _frame(self, index):
        name = self._names[index]
        try:
            import h5py
        except ImportError:
            raise Error(f"{self._folder.path}/{name}: h5py, which reads it, is not installed") \
                from None
        try:
            with self._folder.open(name) as bytes_, h5py.File(bytes_, "r") as file:
                time = float(self._inside(file, "Header", h5py.Group).attrs["Time"])
                bodies = self._inside(file, "PartType1", h5py.Group)
                size = os.fstat(bytes_.fileno()).st_size
                columns = {HDF5_NAMES.get(key, key):
                           self._inside(bodies, key, h5py.Dataset, size)[()] for key in bodies}
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, MemoryError) as error:
            raise Error(f"{self._folder.path}/{name}: {error}") from None
        return Frame(time, None, columns)


def outputs(folder, files):
    """The frames of each output by its name: of a trajectory the file's, of snapshots theirs
    without number. The bodies at a failure (failure.xyz) come last."""
    found, numbers = {}, {}
    for name in files:
        if not folder.kind(name):
            continue
        snapshot = SNAPSHOT.fullmatch(name)
        if name.endswith((".xyz", ".xyz.gz")):
            found[name] = lambda name=name: XyzFrames(folder, name)
        elif snapshot:
            numbers.setdefault(snapshot[1], []).append((int(snapshot[2]), name))
    for prefix, names in numbers.items():
        ordered = [name for _, name in sorted(names)]
        found[prefix] = lambda ordered=ordered: Hdf5Frames(folder, ordered)
    return dict(sorted(found.items(), key=lambda item: item[0].startswith("failure.xyz")))
